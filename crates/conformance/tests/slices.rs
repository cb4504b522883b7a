//! Generated types whose strings are slices of the input: they are what types that borrow are, and say the same of faults.

mod leaves {
    include!(concat!(env!("OUT_DIR"), "/leaves.rs"));
}
mod leaf_slices {
    include!(concat!(env!("OUT_DIR"), "/leaves_slices.rs"));
}
mod slices {
    include!(concat!(env!("OUT_DIR"), "/slices.rs"));
}
#[path = "generated/zoo.rs"]
#[rustfmt::skip]
mod zoo;

use tercet::Schema;
use tercet::dynamic::{Encoder, Tape, sample};
use tercet::plan::Rules;
use tercet::runtime::ErrorKind;
use tercet::runtime::codec::{Ber, Cer, Decode, Der, Encode, Fault, StrictBer};
use tercet_conformance::generated::ALL;
use tercet_schema::RustOptions;
use tercet_schema::codegen::Overlay;

/// Values of a type in BER.
fn samples(file: &str, root: &str, count: usize) -> Vec<Vec<u8>> {
    let generated = ALL.iter().find(|generated| generated.file.ends_with(file)).unwrap();
    let plans = generated.load().unwrap().plans(&[Rules::Ber], &[root]).unwrap();
    let (plan, node) = (&plans[0], plans[0].root(root).unwrap());
    let mut sampler = sample::Sampler::new(&plan.shape, sample::Options::default());
    let one = |_| {
        let (mut tape, mut out) = (Tape::new(), Vec::new());
        sampler.sample(node, &mut tape).unwrap();
        Encoder::new().encode(plan, Rules::Ber, tape.view(&[]), &mut out).unwrap();
        out
    };
    (0..count).map(one).collect()
}

/// What a type makes of octets: how its value is shown, and its encodings.
type Made = (String, [Result<Vec<u8>, Fault>; 3]);

fn made<'a, T, R>(octets: &'a [u8]) -> Result<Made, Fault>
where
    T: Decode<'a, R> + Encode<Ber> + Encode<Der> + Encode<Cer> + std::fmt::Debug,
{
    let (value, _) = T::decode(octets)?;
    let lengths: [Result<usize, Fault>; 3] = [
        Encode::<Ber>::encoded_len(&value),
        Encode::<Der>::encoded_len(&value),
        Encode::<Cer>::encoded_len(&value),
    ];
    let encodings: [Result<Vec<u8>, Fault>; 3] =
        [Encode::<Ber>::encode(&value), Encode::<Der>::encode(&value), Encode::<Cer>::encode(&value)];
    for (length, octets) in lengths.iter().zip(&encodings) {
        assert_eq!(length.as_ref().ok(), octets.as_ref().map(Vec::len).ok().as_ref());
    }
    Ok((format!("{value:?}"), encodings))
}

/// Whether both types make the same of octets, but for strings in segments, of which there is no slice.
fn agree(octets: &[u8], slice: Result<Made, Fault>, borrowed: Result<Made, Fault>) -> bool {
    if slice.as_ref().is_err_and(|fault| fault.kind() == ErrorKind::SegmentedString) {
        return false;
    }
    assert_eq!(slice, borrowed, "{octets:02X?}");
    slice.is_ok()
}

/// Reads octets as a type by all rules; returns whether that is a value of BER. What is read of BER only since it is marked
/// is an error where it would be a slice, and the same value elsewhere.
macro_rules! both {
    ($octets:expr, $slices:ty, $borrowed:ty) => {{
        let octets: &[u8] = $octets;
        agree(octets, made::<$slices, Der>(octets), made::<$borrowed, Der>(octets));
        agree(octets, made::<$slices, Cer>(octets), made::<$borrowed, Cer>(octets));
        agree(octets, made::<$slices, StrictBer>(octets), made::<$borrowed, StrictBer>(octets));
        let (slices, borrowed) = (made::<$slices, Ber>(octets), made::<$borrowed, Ber>(octets));
        let strict = made::<$borrowed, StrictBer>(octets);
        if slices == strict { strict.is_ok() } else { agree(octets, slices, borrowed) }
    }};
}

/// Values of a type, and what becomes of them with each bit turned and by each length.
macro_rules! samples_of {
    ($($name:ident: $file:literal $root:literal $count:literal, $slices:ty, $borrowed:ty;)*) => {$(
        #[test]
        fn $name() {
            for octets in samples($file, $root, $count) {
                assert!(both!(&octets, $slices, $borrowed), "{octets:02X?}");
                for bit in 0..octets.len() * 8 {
                    let mut turned = octets.clone();
                    turned[bit / 8] ^= 0x80 >> (bit % 8);
                    both!(&turned, $slices, $borrowed);
                }
                (0..octets.len()).for_each(|length| _ = both!(&octets[..length], $slices, $borrowed));
            }
        }
    )*};
}

samples_of! {
    zoo: "zoo.rs" "Zoo" 3, slices::Zoo<'_>, zoo::Zoo<'_>;
    names: "zoo.rs" "Names" 10, slices::Names<'_>, zoo::Names<'_>;
    letters: "zoo.rs" "Letter" 10, slices::Letter<'_>, zoo::Letter<'_>;
    errands: "zoo.rs" "Errand" 10, slices::Errand<'_>, zoo::Errand<'_>;
    sparse: "zoo.rs" "Sparse" 10, slices::Sparse<'_>, zoo::Sparse<'_>;
    texts: "leaves.rs" "Texts" 4, leaf_slices::Texts<'_>, leaves::Texts<'_>;
    simple_values: "leaves.rs" "Simple" 4, leaf_slices::Simple<'_>, leaves::Simple<'_>;
    marks: "leaves.rs" "Marks" 4, leaf_slices::Marks<'_>, leaves::Marks<'_>;
    times: "leaves.rs" "Times" 10, leaf_slices::Times<'_>, leaves::Times<'_>;
    reals: "leaves.rs" "Reals" 10, leaf_slices::Reals<'_>, leaves::Reals<'_>;
}

fn element(tag: u8, contents: &[u8]) -> Vec<u8> {
    [&[tag, u8::try_from(contents.len()).unwrap()][..], contents].concat()
}

/// Contents octets as types of strings, in one piece and in segments.
macro_rules! strings {
    ($($name:ident: $root:ident $tag:literal;)*) => {$(
        #[test]
        fn $name() {
            let contents: [&[u8]; 9] = [
                b"", b"a", b"12 3", b"a*b@c", "\u{e9}t\u{e9}".as_bytes(), &[0xE9, 0x80], b"991231235959Z", b"19991231235959Z",
                b"20000101000000.5-0100",
            ];
            let mut values = 0;
            for contents in contents {
                let octets = element($tag, contents);
                values += usize::from(both!(&octets, leaf_slices::$root<'_>, leaves::$root<'_>));
                // One segment is one piece.
                let one = element($tag | 0x20, &element(4, contents));
                both!(&one, leaf_slices::$root<'_>, leaves::$root<'_>);
                let (head, tail) = contents.split_at(contents.len() / 2);
                if head.is_empty() || !contents.is_ascii() {
                    continue;
                }
                let two = element($tag | 0x20, &[element(4, head), element(4, tail)].concat());
                let fault = leaf_slices::$root::decode_ber(&two);
                if leaves::$root::decode_ber(&two).is_ok() {
                    let fault = fault.unwrap_err();
                    assert_eq!((fault.kind(), fault.at()), (ErrorKind::SegmentedString, 0));
                }
            }
            assert!((1..9).contains(&values), "{values} are values");
        }
    )*};
}

/// `decode` in BER, whatever the type.
trait DecodeBer<'a>: Sized {
    fn decode_ber(octets: &'a [u8]) -> Result<Self, Fault>;
}

impl<'a, T: Decode<'a, StrictBer>> DecodeBer<'a> for T {
    fn decode_ber(octets: &'a [u8]) -> Result<Self, Fault> {
        T::decode(octets).map(|(value, _)| value)
    }
}

strings! {
    utf8_strings: Utf8 12;
    numeric_strings: Numeric 18;
    printable_strings: Printable 19;
    ia5_strings: Ia5 22;
    visible_strings: Visible 26;
    utc_times: Utc 23;
    generalized_times: Instant 24;
}

#[test]
fn only_ber_der_and_cer_have_slices() {
    let schema = Schema::from_text("a.asn", "A DEFINITIONS ::= BEGIN S ::= SEQUENCE { o OCTET STRING } END");
    let overlay = Overlay::from_toml("strings = 'slices'").unwrap();
    let options = RustOptions { overlay, ..RustOptions::default() };
    for rules in [Rules::Aper, Rules::Uper, Rules::Oer] {
        let refused = schema.rust(&[Rules::Ber, rules], &["S"], &options).unwrap_err();
        assert!(refused.to_string().contains("only BER, DER and CER"), "{refused}");
    }
    let text = schema.rust(&[Rules::Der], &["S"], &options).unwrap();
    assert!(text.contains("pub o: &'a [u8] }") && !text.contains("into_owned"), "{text}");
}

#[test]
fn only_short_elements_are_in_place() {
    let text = "A DEFINITIONS ::= BEGIN
        T ::= SEQUENCE { few SEQUENCE OF OCTET STRING, kept Kept, wide SEQUENCE OF Wide, tree Tree }
        Kept ::= SET OF INTEGER (0..9)
        Wide ::= SEQUENCE { a OCTET STRING, b OCTET STRING, c OCTET STRING }
        Tree ::= SEQUENCE { twigs SEQUENCE OF Tree OPTIONAL }
    END";
    let schema = Schema::from_text("a.asn", text);
    let printed = |overlay: &str, rules: &[Rules]| {
        let overlay = Overlay::from_toml(overlay).unwrap();
        schema.rust(rules, &["T"], &RustOptions { overlay, ..RustOptions::default() })
    };
    let every = "strings = 'slices'\nlists = 'inline'\n";
    let text = printed(&format!("{every}[types.Kept]\nlists = 'vec'"), &[Rules::Der]).unwrap();
    for line in [
        "pub few: types::List<&'a [u8]>,",
        "pub type Kept = Vec<u8>;",
        "pub wide: Vec<Wide<'a>>,",
        "pub twigs: Option<Vec<Tree>>",
    ] {
        assert!(text.contains(line), "{line}: {text}");
    }
    let text = printed("[fields.'T.wide']\nlists = 'inline'", &[Rules::Ber]).unwrap();
    assert!(text.contains("pub wide: types::List<Wide<'a>>,") && text.contains("pub few: Vec<"), "{text}");
    let refused = |overlay: &str, rules: &[Rules]| printed(overlay, rules).unwrap_err().to_string();
    assert!(refused("lists = 'inline'", &[Rules::Ber, Rules::Uper]).contains("only BER, DER and CER"));
    assert!(refused("lists = 'inline'\nserde = 'always'", &[Rules::Ber]).contains("only BER, DER and CER"));
    let wrong = refused("[types.Wide]\nlists = 'inline'", &[Rules::Ber]);
    assert!(wrong.contains("`Wide` is not a list"), "{wrong}");
    let within =
        refused("[types.'Tree']\nrename = 'Bush'\n[fields.'Tree.twigs']\nlists = 'inline'", &[Rules::Ber]);
    assert!(within.contains("contain itself"), "{within}");
}
