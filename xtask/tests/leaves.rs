//! Values that have several forms, by generated code and by the plan engine: the same verdicts, octets and texts.

#[path = "generated/leaves.rs"]
#[rustfmt::skip]
mod leaves;
#[path = "generated/leaves_small.rs"]
#[rustfmt::skip]
mod small;

use tercet::Schema;
use tercet::dynamic::{Encoder, Options, Tape, decode, json, sample};
use tercet::plan::{NodeId, Plan, Rules};
use tercet::runtime::codec::{self, Decode, Encode};
use tercet::runtime::types::ExactReal;
use xtask::generated::ALL;

const RULES: [Rules; 9] = [
    Rules::Ber,
    Rules::Der,
    Rules::Cer,
    Rules::Aper,
    Rules::Uper,
    Rules::CanonicalAper,
    Rules::CanonicalUper,
    Rules::Oer,
    Rules::CanonicalOer,
];

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

/// Reads by some rules and writes by others, by generated code.
fn transcode<'a, T: Decode<'a, R> + Encode<W>, R, W>(octets: &'a [u8]) -> Outcome {
    let (value, _) = T::decode(octets).map_err(|fault| {
        (fault.kind().name(), fault.at(), fault.bit().unwrap_or(0), fault.path().to_string())
    })?;
    let written = value.encode();
    let written = written.map_err(|fault| ("", 0, 0, format!("{} {}", fault.kind().name(), fault.path())))?;
    assert_eq!(value.encoded_len(), Ok(written.len()));
    Ok(written)
}

/// A value in BER, read and written by all rules.
macro_rules! all_rules {
    ($subject:ident, $octets:expr, $ty:ty) => {{
        let octets: &[u8] = $octets;
        all_rules!(@ $subject, octets, $ty, Ber Ber, Der Der, Cer Cer, Aper Aper, Uper Uper,
            CanonicalAper CanonicalAper, CanonicalUper CanonicalUper, Oer Oer, Coer CanonicalOer);
    }};
    (@ $subject:ident, $octets:ident, $ty:ty, $($marker:ident $rules:ident),*) => {$(
        let engine = $subject.transcode($octets, Rules::Ber, Rules::$rules);
        let ours = transcode::<$ty, codec::Ber, codec::$marker>($octets);
        assert_eq!(ours, engine, "BER to {}: {:02X?}", stringify!($rules), $octets);
        // As it was written, and with each bit turned.
        if let Ok(written) = engine {
            let again = transcode::<$ty, codec::$marker, codec::Ber>(&written);
            assert_eq!(again, $subject.transcode(&written, Rules::$rules, Rules::Ber), "{:02X?}", written);
            let again = transcode::<$ty, codec::$marker, codec::$marker>(&written);
            assert_eq!(again, Ok(written), "{}", stringify!($rules));
        }
        let engine = $subject.transcode($octets, Rules::Ber, Rules::Ber);
        if matches!(Rules::$rules, Rules::Der | Rules::Cer) && engine.is_ok() {
            let engine = $subject.transcode($octets, Rules::$rules, Rules::Ber);
            let ours = transcode::<$ty, codec::$marker, codec::Ber>($octets);
            assert_eq!(ours, engine, "{}: {:02X?}", stringify!($rules), $octets);
        }
    )*};
}

/// With one bit turned after the other, in rules whose faults are told at the same place.
macro_rules! turned {
    ($subject:ident, $octets:expr, $ty:ty) => {{
        let octets: &[u8] = $octets;
        turned!(@ $subject, octets, $ty, Aper Aper, Uper Uper, Oer Oer, Coer CanonicalOer);
    }};
    (@ $subject:ident, $octets:ident, $ty:ty, $($marker:ident $rules:ident),*) => {$(
        let mut written = $subject.transcode($octets, Rules::Ber, Rules::$rules).unwrap();
        for bit in 0..written.len() * 8 {
            written[bit / 8] ^= 0x80 >> (bit % 8);
            let ours = <$ty as Decode<'_, codec::$marker>>::decode(&written).map(|(_, rest)| rest.len());
            let ours = ours.map_err(|fault| (fault.kind().name(), fault.at(), fault.bit().unwrap_or(0)));
            let mut options = Options::default();
            options.rules = Rules::$rules;
            let engine = decode($subject.plan(Rules::$rules), $subject.root, &written, &mut Tape::new(), &options);
            let engine = engine.map(|length| written.len() - length);
            let engine = engine.map_err(|error| (error.kind().name(), error.offset(), error.bit().unwrap_or(0)));
            assert_eq!(ours, engine, "{}, bit {bit} of {written:02X?}", stringify!($rules));
            written[bit / 8] ^= 0x80 >> (bit % 8);
        }
    )*};
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
