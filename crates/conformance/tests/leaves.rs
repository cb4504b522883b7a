//! Values that have several forms, by generated code and by the plan engine: the same verdicts, octets and texts.

mod leaves {
    include!(concat!(env!("OUT_DIR"), "/leaves.rs"));
}
mod owned {
    include!(concat!(env!("OUT_DIR"), "/leaves_owned.rs"));
}
mod small {
    include!(concat!(env!("OUT_DIR"), "/leaves_small.rs"));
}

use tercet::Schema;
use tercet::dynamic::{Encoder, Options, Tape, decode, json, sample};
use tercet::plan::{Kind, NodeId, Plan, Rules};
use tercet::runtime::codec::{self, Decode, Encode, Fault};
use tercet::runtime::types::ExactReal;
use tercet_conformance::generated::ALL;

const RULES: [Rules; 9] = Rules::BINARY;

/// What came of a value: octets, or what is wrong and where.
type Outcome = Result<Vec<u8>, (&'static str, u64, u8, String)>;

/// What the engine makes of values.
struct Subject {
    plans: Vec<Plan>,
    root: NodeId,
}

impl Subject {
    fn new(root: &str) -> Self {
        let generated = ALL.iter().find(|generated| generated.file.ends_with("leaves.rs")).unwrap();
        let schema: Schema = generated.load().unwrap();
        let plans = schema.plans(&RULES, generated.roots).unwrap();
        let root = plans[0].root(root).unwrap();
        Self { plans, root }
    }

    fn plan(&self, rules: Rules) -> &Plan {
        &self.plans[RULES.iter().position(|known| *known == rules).unwrap()]
    }

    /// Reads by some rules and writes by others.
    fn transcode(&self, octets: &[u8], from: Rules, to: Rules) -> Outcome {
        let tape = self.read(octets, from)?;
        let mut out = Vec::new();
        let mut encoder = Encoder::new().with_foreign_octets(true);
        let written = encoder.encode(self.plan(to), to, tape.view(octets), &mut out);
        written.map_err(|error| ("", 0, 0, format!("{} {}", error.kind().name(), error.path())))?;
        Ok(out)
    }

    fn read(&self, octets: &[u8], rules: Rules) -> Result<Tape, (&'static str, u64, u8, String)> {
        let mut tape = Tape::new();
        let mut options = Options::default();
        options.rules = rules;
        let length = decode(self.plan(rules), self.root, octets, &mut tape, &options).map_err(|error| {
            (error.kind().name(), error.offset(), error.bit().unwrap_or(0), error.path().to_owned())
        })?;
        assert_eq!(length, octets.len(), "all of {octets:02X?}");
        Ok(tape)
    }

    /// As JSON, and what is read of that, in DER.
    fn json(&self, octets: &[u8]) -> (String, Vec<u8>) {
        let (mut text, mut again, mut out) = (Vec::new(), Tape::new(), Vec::new());
        let tape = self.read(octets, Rules::Der).unwrap();
        let shape = &self.plan(Rules::Der).shape;
        json::write(shape, tape.view(octets), &mut text, &json::Options::default());
        json::read(shape, self.root, &text, &mut again, &json::Options::default()).unwrap();
        let plan = self.plan(Rules::Der);
        Encoder::new().encode(plan, Rules::Der, again.view(&[]), &mut out).unwrap();
        (String::from_utf8(text).unwrap(), out)
    }

    fn samples(&self, count: usize) -> Vec<Vec<u8>> {
        let plan = self.plan(Rules::Ber);
        let mut sampler = sample::Sampler::new(&plan.shape, sample::Options::default());
        let samples = (0..count).map(|_| {
            let (mut tape, mut out) = (Tape::new(), Vec::new());
            sampler.sample(self.root, &mut tape).unwrap();
            Encoder::new().encode(plan, Rules::Ber, tape.view(&[]), &mut out).unwrap();
            out
        });
        samples.collect()
    }
}

/// A value of a generated type, which can be written by all rules.
trait Value {
    fn octets(&self, rules: Rules) -> Result<Vec<u8>, Fault>;
    fn length(&self, rules: Rules) -> Result<usize, Fault>;
}

/// A generated type: reads a value, and how many octets are behind it.
type Type = for<'a> fn(&'a [u8], Rules) -> Result<(Box<dyn Value + 'a>, usize), Fault>;

fn boxed<'a, T: Value + 'a>(read: Result<(T, &[u8]), Fault>) -> Result<(Box<dyn Value + 'a>, usize), Fault> {
    read.map(|(value, rest)| (Box::new(value) as Box<dyn Value>, rest.len()))
}

/// Functions for all rules, which are types in the runtime: what is compared by them is compiled once.
macro_rules! by_rules {
    ($($rules:ident)*) => {
        impl<T> Value for T
        where
            $(T: Encode<codec::$rules>,)*
        {
            fn octets(&self, rules: Rules) -> Result<Vec<u8>, Fault> {
                match rules {
                    $(Rules::$rules => Encode::<codec::$rules>::encode(self),)*
                    other => panic!("no codec for {other}"),
                }
            }

            fn length(&self, rules: Rules) -> Result<usize, Fault> {
                match rules {
                    $(Rules::$rules => Encode::<codec::$rules>::encoded_len(self),)*
                    other => panic!("no codec for {other}"),
                }
            }
        }

        /// The functions of a type.
        macro_rules! of {
            ($ty:ty) => {{
                fn read(octets: &[u8], rules: Rules) -> Result<(Box<dyn Value + '_>, usize), Fault> {
                    match rules {
                        $(Rules::$rules => boxed(<$ty as Decode<'_, codec::$rules>>::decode(octets)),)*
                        other => panic!("no codec for {other}"),
                    }
                }
                read as Type
            }};
        }
    };
}

by_rules!(Ber Der Cer Aper Uper CanonicalAper CanonicalUper Oer Coer);

/// Reads by some rules and writes by others, by generated code.
fn transcode(ty: Type, octets: &[u8], from: Rules, to: Rules) -> Outcome {
    let (value, _) = ty(octets, from).map_err(|fault| {
        (fault.kind().name(), fault.at(), fault.bit().unwrap_or(0), fault.path().to_string())
    })?;
    let written = value.octets(to);
    let written = written.map_err(|fault| ("", 0, 0, format!("{} {}", fault.kind().name(), fault.path())))?;
    assert_eq!(value.length(to), Ok(written.len()));
    Ok(written)
}

/// A value in BER, read and written by all rules.
fn all_rules(subject: &Subject, octets: &[u8], ty: Type) {
    for rules in RULES {
        let engine = subject.transcode(octets, Rules::Ber, rules);
        let ours = transcode(ty, octets, Rules::Ber, rules);
        assert_eq!(ours, engine, "BER to {rules}: {octets:02X?}");
        if let Ok(written) = engine {
            let again = transcode(ty, &written, rules, Rules::Ber);
            assert_eq!(again, subject.transcode(&written, rules, Rules::Ber), "{written:02X?}");
            let again = transcode(ty, &written, rules, rules);
            assert_eq!(again, Ok(written), "{rules}");
        }
        let engine = subject.transcode(octets, Rules::Ber, Rules::Ber);
        if matches!(rules, Rules::Der | Rules::Cer) && engine.is_ok() {
            let engine = subject.transcode(octets, rules, Rules::Ber);
            let ours = transcode(ty, octets, rules, Rules::Ber);
            assert_eq!(ours, engine, "{rules}: {octets:02X?}");
        }
    }
}

macro_rules! all_rules {
    ($subject:ident, $octets:expr, $ty:ty) => {
        all_rules(&$subject, $octets, of!($ty))
    };
}

/// With one bit turned after the other, in rules whose faults are told at the same place.
fn turned(subject: &Subject, octets: &[u8], ty: Type) {
    for rules in [Rules::Aper, Rules::Uper, Rules::Oer, Rules::Coer] {
        let mut written = subject.transcode(octets, Rules::Ber, rules).unwrap();
        let mut options = Options::default();
        options.rules = rules;
        for bit in 0..written.len() * 8 {
            written[bit / 8] ^= 0x80 >> (bit % 8);
            let ours = ty(&written, rules).map(|(_, rest)| rest);
            let ours = ours.map_err(|fault| (fault.kind().name(), fault.at(), fault.bit().unwrap_or(0)));
            let engine = decode(subject.plan(rules), subject.root, &written, &mut Tape::new(), &options);
            let engine = engine.map(|length| written.len() - length);
            let engine =
                engine.map_err(|error| (error.kind().name(), error.offset(), error.bit().unwrap_or(0)));
            assert_eq!(ours, engine, "{rules}, bit {bit} of {written:02X?}");
            written[bit / 8] ^= 0x80 >> (bit % 8);
        }
    }
}

macro_rules! turned {
    ($subject:ident, $octets:expr, $ty:ty) => {
        turned(&$subject, $octets, of!($ty))
    };
}

/// A value in DER as JSON, and that as a value.
macro_rules! as_json {
    ($subject:ident, $octets:expr, $ty:ty) => {{
        let octets: &[u8] = $octets;
        let (value, _) = <$ty as Decode<'_, codec::Der>>::decode(octets).unwrap();
        let (text, read) = $subject.json(octets);
        assert_eq!(serde_json::to_string(&value).unwrap(), text, "{octets:02X?}");
        let again: $ty = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error} in {text}"));
        assert_eq!(Encode::<codec::Der>::encode(&again).unwrap(), read, "{text}");
    }};
}

/// An element with a short length.
fn element(tag: u8, contents: &[u8]) -> Vec<u8> {
    let length = u8::try_from(contents.len()).unwrap();
    assert!(length < 0x80);
    [&[tag, length][..], contents].concat()
}

/// Contents octets of REAL (X.690 8.5), some of which are none.
fn reals() -> Vec<Vec<u8>> {
    let binary: [&[u8]; 40] = [
        // 8.5.2, 8.5.9: the special values, and what else begins so.
        &[],
        &[0x40],
        &[0x41],
        &[0x42],
        &[0x43],
        &[0x44],
        &[0x40, 0x00],
        &[0x7F],
        // Base 2, 8 and 16, with scaling factors 0 to 3, and the base that is reserved.
        &[0x80, 0x00, 0x01],
        &[0xC0, 0x00, 0x01],
        &[0x80, 0xFB, 0x03],
        &[0x84, 0x00, 0x03],
        &[0x88, 0x00, 0x03],
        &[0x8C, 0x00, 0x03],
        &[0x90, 0x01, 0x05],
        &[0x94, 0xFF, 0x05],
        &[0x9C, 0x7F, 0x05],
        &[0xA0, 0x01, 0x05],
        &[0xA8, 0x80, 0x05],
        &[0xEC, 0x02, 0x0C],
        &[0xB0, 0x00, 0x01],
        // Exponents in two and three octets and more, padded ones too.
        &[0x81, 0x01, 0x00, 0x01],
        &[0x81, 0x00, 0x01, 0x01],
        &[0x81, 0xFF, 0xFF, 0x01],
        &[0x82, 0x01, 0x00, 0x00, 0x01],
        &[0x82, 0xFF, 0x00, 0x00, 0x03],
        &[0x83, 0x04, 0x01, 0x00, 0x00, 0x00, 0x01],
        &[0x83, 0x02, 0x00, 0x01, 0x01],
        &[0x83, 0x01, 0x05, 0x01],
        &[0x83, 0x00, 0x01],
        &[0x83, 0x09, 0x01, 0, 0, 0, 0, 0, 0, 0, 0, 0x01],
        &[0x83],
        &[0x80, 0x00],
        &[0x80],
        // A mantissa of zero, one with zeros around it, and those that no machine has.
        &[0x80, 0x00, 0x00],
        &[0x80, 0x00, 0x00, 0x01],
        &[0x80, 0x00, 0x01, 0x00],
        &[0x80, 0x00, 0x20, 0, 0, 0, 0, 0, 0x01],
        &[0x80, 0x85, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x01],
        &[0xC1, 0x70, 0x00, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x01],
    ];
    let decimal: [&[u8]; 34] = [
        // NR1, NR2 and NR3 (ISO 6093), and what is none of them.
        b"\x011",
        b"\x01-17",
        b"\x01 +0042",
        b"\x010",
        b"\x01",
        b"\x011.0",
        b"\x01x",
        b"\x0112345678901234567890123456789",
        b"\x023.14",
        b"\x023,14",
        b"\x02-.5",
        b"\x025.",
        b"\x02  0.10",
        b"\x020.0",
        b"\x02314",
        b"\x02-0.000000000000000000000000000001",
        b"\x03314.E-2",
        b"\x03-314.E-2",
        b"\x031.E+0",
        b"\x031.E0",
        b"\x031.E-0",
        b"\x031E5",
        b"\x031.0E5",
        b"\x03+1.E5",
        b"\x0310.E5",
        b"\x0301.E5",
        b"\x031.e5",
        b"\x031.E+5",
        b"\x031.E05",
        b"\x031.E",
        b"\x031.E400",
        b"\x03-12345678901234567891.E-400",
        b"\x031.E99999999999999999999",
        b"\x041",
    ];
    binary.iter().chain(&decimal).map(|contents| contents.to_vec()).collect()
}

#[test]
fn a_real_is_written_as_the_engine_writes_it() {
    let number = Subject::new("Number");
    let single = Subject::new("Single");
    let double = Subject::new("Double");
    let mut values = 0;
    for contents in reals() {
        let octets = element(9, &contents);
        all_rules!(number, &octets, leaves::Number<'_>);
        all_rules!(number, &octets, small::Number<'_>);
        all_rules!(single, &octets, leaves::Single<'_>);
        all_rules!(double, &octets, leaves::Double<'_>);
        if let Ok(normal) = number.transcode(&octets, Rules::Ber, Rules::Der) {
            as_json!(number, &normal, leaves::Number<'_>);
            turned!(number, &octets, leaves::Number<'_>);
            turned!(number, &octets, small::Number<'_>);
            values += 1;
        }
    }
    assert!(values > 40, "{values} are values");
}

#[test]
fn a_real_of_base_10_is_a_number_in_json() {
    let decimal = Subject::new("Decimal");
    for contents in [&b"\x031.E-1"[..], b"\x0312345678901234567891.E+0", b"\x031.E400", b"", b"\x43"] {
        as_json!(decimal, &element(9, contents), leaves::Decimal<'_>);
    }
}

#[test]
fn reals_inside_of_others() {
    let subject = Subject::new("Reals");
    for octets in subject.samples(60) {
        all_rules!(subject, &octets, leaves::Reals<'_>);
        all_rules!(subject, &octets, owned::Reals);
        turned!(subject, &octets, leaves::Reals<'_>);
        turned!(subject, &octets, small::Reals<'_>);
        let der = subject.transcode(&octets, Rules::Ber, Rules::Der).unwrap();
        as_json!(subject, &der, leaves::Reals<'_>);
    }
}

#[test]
fn numbers_of_the_machine_are_chosen() {
    let value = small::Double(0.1);
    let octets = Encode::<codec::Oer>::encode(&value).unwrap();
    assert_eq!(octets, 0.1_f64.to_be_bytes());
    let (read, _) =
        <small::Double as Decode<'_, codec::Ber>>::decode(b"\x09\x05\x031.E-").unwrap_or((value, &[]));
    assert_eq!(read, small::Double(0.1));
    let (read, _) = <small::Double as Decode<'_, codec::Ber>>::decode(b"\x09\x06\x031.E-1").unwrap();
    assert_eq!(Encode::<codec::Ber>::encode(&read).unwrap()[2], 0x80, "in base 2");
    assert_eq!(leaves::PI, "3.14159".parse::<ExactReal<'_>>().unwrap());
}

/// A time in BER by its text: the useful types leave out what never varies (X.690 8.26).
fn time(tag: &[u8], contents: &str) -> Vec<u8> {
    [tag, &[u8::try_from(contents.len()).unwrap()], contents.as_bytes()].concat()
}

/// Contents octets of a type of times, some of which are none or outside of its settings.
macro_rules! times {
    ($name:ident, $root:ident, $tag:expr, $contents:expr) => {
        #[test]
        fn $name() {
            let subject = Subject::new(stringify!($root));
            let mut values = 0;
            for contents in $contents {
                let octets = time(&$tag, contents);
                all_rules!(subject, &octets, leaves::$root<'_>);
                all_rules!(subject, &octets, small::$root<'_>);
                if let Ok(der) = subject.transcode(&octets, Rules::Ber, Rules::Der) {
                    as_json!(subject, &der, leaves::$root<'_>);
                    values += 1;
                }
                let per = subject.transcode(&octets, Rules::Ber, Rules::Uper);
                if per.is_ok() && subject.transcode(&octets, Rules::Ber, Rules::Oer).is_ok() {
                    turned!(subject, &octets, leaves::$root<'_>);
                    turned!(subject, &octets, small::$root<'_>);
                }
            }
            assert!(values > 1, "{values} are values");
        }
    };
}

const TIME: [u8; 1] = [0x0E];

times!(
    dates,
    Day,
    [0x1F, 0x1F],
    ["20210228", "19490101", "20121231", "00010101", "99991231", "20210229", "2021", "2021-02-28"]
);
times!(times_of_day, Clock, [0x1F, 0x20], ["000000", "235959", "240000", "153000", "250000", "1530"]);
times!(
    moments,
    Moment,
    [0x1F, 0x21],
    ["20210228153000", "19511014240000", "00000101000000", "20211301000000"]
);
times!(
    durations,
    Lasts,
    [0x1F, 0x22],
    [
        "1Y",
        "0S",
        "T0S",
        "1Y2M3DT4H5M6S",
        "40Y",
        "3W",
        "1W2D",
        "T1.5S",
        "T1,25S",
        "1Y0M3D",
        "T123456789012345678M",
        "T0.123456789S",
        "1Y2",
        "T1.1234567890123456789S",
        "0Y",
        "31Y15M31DT31H63M63S",
        "32Y16M32DT32H64M64.1234S"
    ]
);
times!(centuries, Century, TIME, ["19C", "00C", "1985", "-19C", "100C"]);
times!(
    months,
    Month,
    TIME,
    [
        "2005-01",
        "2020-12",
        "2021-01",
        "2276-12",
        "1749-01",
        "2004-12",
        "2277-01",
        "1748-12",
        "0001-01",
        "1985",
        "1985-13",
        "1985-04-12"
    ]
);
times!(far_days, Far, TIME, ["+12345-01-01", "-12345-12-31", "1985-04-12", "+0012345-01-01", "+12345-02-30"]);
times!(weeks, Week, TIME, ["1985-W15-5", "2020-W53-7", "1985-W15", "1985-W54-1", "1985-W15-8"]);
times!(
    zoned,
    Zoned,
    TIME,
    [
        "15:27+01:00",
        "15:27+01",
        "15:27-04:30",
        "15:27+15:00",
        "15:27-15:59",
        "15:27Z",
        "15:27",
        "15:27+16",
        "24:00-00:01"
    ]
);
times!(
    exact,
    Exact,
    TIME,
    [
        "15:27:46.123Z",
        "15:27:46,123Z",
        "00:00:00.000Z",
        "23:59:60.999Z",
        "15:27:46.1234Z",
        "15:27:46Z",
        "15:27:46.123"
    ]
);
times!(
    intervals,
    Interval,
    TIME,
    ["15:27/P1Y", "00:00/PT0S", "24:00/P1Y2M3DT4H5M6.75S", "15:27/16:00", "15:27", "P1Y/15:27"]
);
times!(
    recurring,
    Again,
    TIME,
    [
        "R12/1985-04/1986-05",
        "R/1985-04/1986-05",
        "R7/1985-04/1986-05",
        "R1234567890123/2004-01/2005-01",
        "1985-04/1986-05",
        "R012/1985-04/1986-05"
    ]
);
times!(
    mixed,
    Mixed,
    TIME,
    ["1985-W15-5", "15:27:35,5", "R12/1985-04-12T23:20:30/P1M", "15:27:46+01:00", "1985-13-01"]
);

#[test]
fn times_inside_of_others() {
    let subject = Subject::new("Times");
    let value = |members: &str| {
        let plan = subject.plan(Rules::Ber);
        let (mut tape, mut out) = (Tape::new(), Vec::new());
        json::read(&plan.shape, subject.root, members.as_bytes(), &mut tape, &json::Options::default())
            .unwrap();
        Encoder::new().encode(plan, Rules::Ber, tape.view(&[]), &mut out).unwrap();
        out
    };
    for members in [
        r#"{"date":"2021-02-28","both":"2021-02-28T15:30:00","lasts":"P1Y2DT3H","all":[]}"#,
        r#"{"date":"1800-01-01","clock":"15:30:00","both":"0001-01-01T00:00:00","lasts":"PT0.5S","since":"2000-01-01",
            "month":"1985-04","zoned":"15:27+01:30","interval":"15:27/P1Y","all":["00:00/P1W","01:00/PT0S"],
            "later":"2030-12-31T23:59:59"}"#,
        r#"{"date":"1999-12-31","both":"1999-12-31T24:00:00","lasts":"P99Y","since":"1999-12-31","all":["10:10/P1M"]}"#,
    ] {
        let octets = value(members);
        all_rules!(subject, &octets, leaves::Times<'_>);
        all_rules!(subject, &octets, small::Times<'_>);
        all_rules!(subject, &octets, owned::Times);
        turned!(subject, &octets, leaves::Times<'_>);
        turned!(subject, &octets, small::Times<'_>);
        let der = subject.transcode(&octets, Rules::Ber, Rules::Der).unwrap();
        as_json!(subject, &der, leaves::Times<'_>);
    }
}

/// Contents octets of strings, most of which are of some types and not of others.
fn strings() -> Vec<Vec<u8>> {
    let contents: [&[u8]; 30] = [
        b"",
        b"abc",
        b"0 9",
        b"1-2",
        b"a*b",
        b"a@b",
        b"A'()+,-./:=?",
        b"\x00\x1F",
        b"a\x7F",
        b" ~",
        b"\xE9",
        b"\xC3\xA9",
        b"\xC0\x80",
        b"\xED\xA0\x80",
        b"\xF0\x9F\x98\x80",
        b"\xFF\x1B(",
        // BMPString, whole, cut, and half of a pair.
        b"\x20\xAC",
        b"\x20\xAC\x20",
        b"\xD8\x3D\xDE\x00",
        b"\xD8\x3D\x00a",
        // UniversalString.
        b"\x00\x01\xF6\x00",
        b"\x00\x11\x00\x00",
        b"\x00\x00\xD8\x00",
        // OID-IRI and RELATIVE-OID-IRI.
        b"/ISO/Registration-Authority/19785.CBEFF",
        b"/ISO//x",
        b"/ISO/01",
        b"2/10",
        // Times.
        b"240229120000Z",
        b"20240229120000.5Z",
        b"0000000000Z",
    ];
    contents.iter().map(|contents| contents.to_vec()).collect()
}

/// Contents octets as a type of strings, whole and in segments: taken or refused by both.
macro_rules! strings {
    ($($name:ident, $root:ident, $tag:literal;)*) => {$(
        #[test]
        fn $name() {
            let subject = Subject::new(stringify!($root));
            let (mut values, mut refused) = (0, 0);
            for contents in strings() {
                let octets = element($tag, &contents);
                all_rules!(subject, &octets, leaves::$root<'_>);
                all_rules!(subject, &octets, small::$root<'_>);
                let Ok(der) = subject.transcode(&octets, Rules::Ber, Rules::Der) else {
                    refused += 1;
                    continue;
                };
                values += 1;
                as_json!(subject, &der, leaves::$root<'_>);
                turned!(subject, &octets, leaves::$root<'_>);
                turned!(subject, &octets, small::$root<'_>);
                let segments = element($tag | 0x20, &element(4, &contents));
                all_rules!(subject, &segments, leaves::$root<'_>);
            }
            assert!(values > 0 && values + refused == strings().len(), "{values} are values");
        }
    )*};
}

strings! {
    utf8_strings, Utf8, 12;
    numeric_strings, Numeric, 18;
    printable_strings, Printable, 19;
    teletex_strings, Teletex, 20;
    videotex_strings, Videotex, 21;
    ia5_strings, Ia5, 22;
    graphic_strings, Graphic, 25;
    visible_strings, Visible, 26;
    general_strings, General, 27;
    object_descriptors, Descriptor, 7;
    utc_times, Utc, 23;
    generalized_times, Instant, 24;
}

/// The same of types whose tag has another octet, or whose values are all octets of a length.
#[test]
fn strings_of_wide_characters() {
    for (root, tag) in [("Bmp", 30_u8), ("Universal", 28)] {
        let subject = Subject::new(root);
        for contents in strings() {
            let octets = element(tag, &contents);
            if root == "Bmp" {
                all_rules!(subject, &octets, leaves::Bmp<'_>);
                all_rules!(subject, &octets, small::Bmp<'_>);
            } else {
                all_rules!(subject, &octets, leaves::Universal<'_>);
                all_rules!(subject, &octets, small::Universal<'_>);
            }
        }
    }
}

/// Generated code took any UTF-8 for an OID-IRI.
#[test]
fn an_oid_iri_is_checked_by_generated_code() {
    for (root, number) in [("Iri", 35), ("Relative", 36)] {
        let subject = Subject::new(root);
        let mut values = 0;
        for contents in strings() {
            let length = u8::try_from(contents.len()).unwrap();
            let octets = [&[0x1F, number, length][..], &contents].concat();
            // Primitive (X.690 8.21, 8.22): segments are refused.
            let inside = element(4, &contents);
            let segments = [&[0x3F, number, length + 2][..], &inside].concat();
            for octets in [&octets, &segments] {
                if root == "Iri" {
                    all_rules!(subject, octets, leaves::Iri<'_>);
                    all_rules!(subject, octets, small::Iri<'_>);
                } else {
                    all_rules!(subject, octets, leaves::Relative<'_>);
                    all_rules!(subject, octets, small::Relative<'_>);
                }
            }
            assert!(subject.transcode(&segments, Rules::Ber, Rules::Ber).is_err());
            values += usize::from(subject.transcode(&octets, Rules::Ber, Rules::Oer).is_ok());
        }
        assert!((1..strings().len()).contains(&values), "{values} are values of {root}");
    }
}

#[test]
fn strings_inside_of_others() {
    let subject = Subject::new("Texts");
    for octets in subject.samples(60) {
        all_rules!(subject, &octets, leaves::Texts<'_>);
        all_rules!(subject, &octets, owned::Texts);
        all_rules!(subject, &octets, small::Texts<'_>);
        turned!(subject, &octets, leaves::Texts<'_>);
        turned!(subject, &octets, small::Texts<'_>);
        let der = subject.transcode(&octets, Rules::Ber, Rules::Der).unwrap();
        as_json!(subject, &der, leaves::Texts<'_>);
    }
}

#[test]
fn simple_values_inside_of_others() {
    let subject = Subject::new("Simple");
    for octets in subject.samples(60) {
        all_rules!(subject, &octets, leaves::Simple<'_>);
        all_rules!(subject, &octets, owned::Simple);
        all_rules!(subject, &octets, small::Simple<'_>);
        // No turned bits: a number that its Rust type has no room for is reported before a fault behind it.
        let der = subject.transcode(&octets, Rules::Ber, Rules::Der).unwrap();
        as_json!(subject, &der, leaves::Simple<'_>);
    }
}

/// `cargo conformance equal` compares what is in this specification: no kind of leaf is missing.
#[test]
fn each_kind_of_leaf_is_in_the_specification() {
    let subject = Subject::new("Number");
    for kind in Kind::LEAVES {
        let known = subject.plans[0].shape.nodes.iter().any(|node| node.kind == *kind);
        assert!(known, "{} is missing in leaves.asn", kind.name());
    }
}

/// Contents octets of BIT STRING with more and fewer zero bits at the end than a size asks for.
fn bits() -> Vec<Vec<u8>> {
    let contents: [&[u8]; 16] = [
        &[0],
        &[0, 0],
        &[4, 0],
        &[0, 0, 0],
        &[7, 0x80],
        &[4, 0x80],
        &[0, 0x80],
        &[6, 0x40],
        &[0, 0x01],
        &[0, 0x80, 0x00],
        &[4, 0x80, 0x10],
        &[0, 0x80, 0x01],
        &[0, 0x80, 0x00, 0x00],
        &[0, 0, 0, 1],
        &[8, 0],
        &[],
    ];
    contents.iter().map(|contents| contents.to_vec()).collect()
}

/// One encoding in DER and CER, and a value that satisfies its size.
#[test]
fn named_bits_with_a_size_have_one_form_in_der() {
    for root in ["Flags", "Ranged", "Fixed", "Grown"] {
        let subject = Subject::new(root);
        let (mut forms, mut values) = (std::collections::HashSet::new(), std::collections::HashSet::new());
        for contents in bits() {
            let octets = element(3, &contents);
            match root {
                "Flags" => {
                    all_rules!(subject, &octets, leaves::Flags<'_>);
                    all_rules!(subject, &octets, small::Flags<'_>);
                }
                "Ranged" => {
                    all_rules!(subject, &octets, leaves::Ranged<'_>);
                    all_rules!(subject, &octets, small::Ranged<'_>);
                }
                "Fixed" => {
                    all_rules!(subject, &octets, leaves::Fixed);
                    all_rules!(subject, &octets, small::Fixed);
                }
                _ => {
                    all_rules!(subject, &octets, leaves::Grown<'_>);
                    all_rules!(subject, &octets, small::Grown<'_>);
                }
            }
            let Ok(der) = subject.transcode(&octets, Rules::Ber, Rules::Der) else { continue };
            let uper = subject.transcode(&octets, Rules::Ber, Rules::CanonicalUper).ok();
            assert_eq!(subject.transcode(&der, Rules::Der, Rules::Der).as_ref(), Ok(&der));
            assert_eq!(der, octets_of(&subject, &der), "{root}: what is not trimmed is refused");
            forms.insert(der);
            values.insert(uper);
        }
        assert!(forms.len() >= values.len() && values.len() > 2, "{root}: {forms:02X?}");
    }
}

/// Writes a value in DER that was read with zero bits at its end.
fn octets_of(subject: &Subject, der: &[u8]) -> Vec<u8> {
    let mut long = der.to_vec();
    if let [3, length, unused, _, ..] = &mut long[..] {
        (*length, *unused) = (*length + 1, 0);
        long.push(0);
        assert!(subject.transcode(&long, Rules::Der, Rules::Ber).is_err(), "{long:02X?}");
    }
    subject.transcode(&long, Rules::Ber, Rules::Der).unwrap()
}

#[test]
fn named_bits_inside_of_others() {
    let subject = Subject::new("Marks");
    for octets in subject.samples(60) {
        all_rules!(subject, &octets, leaves::Marks<'_>);
        all_rules!(subject, &octets, owned::Marks);
        all_rules!(subject, &octets, small::Marks<'_>);
        turned!(subject, &octets, leaves::Marks<'_>);
        turned!(subject, &octets, small::Marks<'_>);
        let der = subject.transcode(&octets, Rules::Ber, Rules::Der).unwrap();
        as_json!(subject, &der, leaves::Marks<'_>);
    }
    // The DEFAULT with a zero bit more is the DEFAULT.
    let octets = [0x30, 12, 0x80, 2, 7, 0x80, 0x81, 2, 0, 0x5A, 0x83, 2, 4, 0xC0];
    let der = subject.transcode(&octets, Rules::Ber, Rules::Der);
    assert_eq!(transcode(of!(leaves::Marks<'_>), &octets, Rules::Ber, Rules::Der), der);
    assert_eq!(der, Ok(vec![0x30, 8, 0x80, 2, 7, 0x80, 0x83, 2, 6, 0xC0]));
}
