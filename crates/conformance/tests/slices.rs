//! Generated types whose strings are slices of the input, and those in an arena: they are what types that borrow are, and say the
//! same of faults.

mod leaves {
    include!(concat!(env!("OUT_DIR"), "/leaves.rs"));
}
mod leaf_slices {
    include!(concat!(env!("OUT_DIR"), "/leaves_slices.rs"));
}
mod slices {
    include!(concat!(env!("OUT_DIR"), "/slices.rs"));
}
mod leaves_in_arena {
    include!(concat!(env!("OUT_DIR"), "/leaves_arena.rs"));
}
mod in_arena {
    include!(concat!(env!("OUT_DIR"), "/arena.rs"));
}
#[path = "generated/zoo.rs"]
#[rustfmt::skip]
mod zoo;

use tercet::Schema;
use tercet::dynamic::{Encoder, Tape, sample};
use tercet::plan::Rules;
use tercet::runtime::codec::{Ber, Cer, Decode, DecodeIn, Der, Encode, Fault, StrictBer};
use tercet::runtime::{Arena, ErrorKind};
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

fn made<'a, T: Decode<'a, R> + Encodable, R>(octets: &'a [u8]) -> Result<Made, Fault> {
    T::decode(octets).map(|(value, _)| shown(&value))
}

/// The same of a type in an arena.
fn made_in<'a, T: DecodeIn<'a, R> + Encodable, R>(arena: &'a Arena, octets: &'a [u8]) -> Result<Made, Fault> {
    T::decode_in(arena, octets).map(|(value, _)| shown(&value))
}

/// What is shown, and can be encoded by all rules here.
trait Encodable: Encode<Ber> + Encode<Der> + Encode<Cer> + std::fmt::Debug {}

impl<T: Encode<Ber> + Encode<Der> + Encode<Cer> + std::fmt::Debug> Encodable for T {}

fn shown(value: &impl Encodable) -> Made {
    let lengths: [Result<usize, Fault>; 3] = [
        Encode::<Ber>::encoded_len(value),
        Encode::<Der>::encoded_len(value),
        Encode::<Cer>::encoded_len(value),
    ];
    let encodings: [Result<Vec<u8>, Fault>; 3] =
        [Encode::<Ber>::encode(value), Encode::<Der>::encode(value), Encode::<Cer>::encode(value)];
    for (length, octets) in lengths.iter().zip(&encodings) {
        assert_eq!(length.as_ref().ok(), octets.as_ref().map(Vec::len).ok().as_ref());
    }
    (format!("{value:?}"), encodings)
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
/// is an error where it would be a slice or in an arena, and the same value elsewhere.
macro_rules! all {
    ($octets:expr, $slices:ty, $arena:ty, $borrowed:ty) => {{
        let octets: &[u8] = $octets;
        let arena = Arena::new();
        assert_eq!(made_in::<$arena, Der>(&arena, octets), made::<$borrowed, Der>(octets));
        assert_eq!(made_in::<$arena, Cer>(&arena, octets), made::<$borrowed, Cer>(octets));
        assert_eq!(made_in::<$arena, StrictBer>(&arena, octets), made::<$borrowed, StrictBer>(octets));
        agree(octets, made::<$slices, Der>(octets), made::<$borrowed, Der>(octets));
        agree(octets, made::<$slices, Cer>(octets), made::<$borrowed, Cer>(octets));
        agree(octets, made::<$slices, StrictBer>(octets), made::<$borrowed, StrictBer>(octets));
        let (slices, borrowed) = (made::<$slices, Ber>(octets), made::<$borrowed, Ber>(octets));
        let strict = made::<$borrowed, StrictBer>(octets);
        let in_arena = made_in::<$arena, Ber>(&arena, octets);
        assert!(in_arena == strict || in_arena == borrowed, "{in_arena:?} {octets:02X?}");
        if slices == strict { strict.is_ok() } else { agree(octets, slices, borrowed) }
    }};
}

/// Values of a type, and what becomes of them with each bit turned and by each length.
macro_rules! samples_of {
    ($($name:ident: $file:literal $root:literal $count:literal, $slices:ty, $arena:ty, $borrowed:ty;)*) => {$(
        #[test]
        fn $name() {
            for octets in samples($file, $root, $count) {
                assert!(all!(&octets, $slices, $arena, $borrowed), "{octets:02X?}");
                for bit in 0..octets.len() * 8 {
                    let mut turned = octets.clone();
                    turned[bit / 8] ^= 0x80 >> (bit % 8);
                    all!(&turned, $slices, $arena, $borrowed);
                }
                (0..octets.len()).for_each(|length| _ = all!(&octets[..length], $slices, $arena, $borrowed));
            }
        }
    )*};
}

samples_of! {
    zoo: "zoo.rs" "Zoo" 3, slices::Zoo<'_>, in_arena::Zoo<'_>, zoo::Zoo<'_>;
    names: "zoo.rs" "Names" 10, slices::Names<'_>, in_arena::Names<'_>, zoo::Names<'_>;
    letters: "zoo.rs" "Letter" 10, slices::Letter<'_>, in_arena::Letter<'_>, zoo::Letter<'_>;
    errands: "zoo.rs" "Errand" 10, slices::Errand<'_>, in_arena::Errand<'_>, zoo::Errand<'_>;
    sparse: "zoo.rs" "Sparse" 10, slices::Sparse<'_>, in_arena::Sparse<'_>, zoo::Sparse<'_>;
    texts: "leaves.rs" "Texts" 4, leaf_slices::Texts<'_>, leaves_in_arena::Texts<'_>, leaves::Texts<'_>;
    simple_values: "leaves.rs" "Simple" 4, leaf_slices::Simple<'_>, leaves_in_arena::Simple<'_>, leaves::Simple<'_>;
    marks: "leaves.rs" "Marks" 4, leaf_slices::Marks<'_>, leaves_in_arena::Marks<'_>, leaves::Marks<'_>;
    times: "leaves.rs" "Times" 10, leaf_slices::Times<'_>, leaves_in_arena::Times<'_>, leaves::Times<'_>;
    reals: "leaves.rs" "Reals" 10, leaf_slices::Reals<'_>, leaves_in_arena::Reals<'_>, leaves::Reals<'_>;
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
                values += usize::from(all!(&octets, leaf_slices::$root<'_>, leaves_in_arena::$root<'_>, leaves::$root<'_>));
                // One segment is one piece.
                let one = element($tag | 0x20, &element(4, contents));
                all!(&one, leaf_slices::$root<'_>, leaves_in_arena::$root<'_>, leaves::$root<'_>);
                let (head, tail) = contents.split_at(contents.len() / 2);
                if head.is_empty() || !contents.is_ascii() {
                    continue;
                }
                let two = element($tag | 0x20, &[element(4, head), element(4, tail)].concat());
                // In an arena the segments are joined.
                let arena = Arena::new();
                let joined = made_in::<leaves_in_arena::$root<'_>, StrictBer>(&arena, &two);
                assert_eq!(joined, made::<leaves::$root<'_>, StrictBer>(&two));
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

#[test]
fn what_has_to_be_freed_is_in_no_arena() {
    let text = "A DEFINITIONS AUTOMATIC TAGS ::= BEGIN
        T ::= SEQUENCE { few SEQUENCE OF INTEGER (0..9), reals SEQUENCE OF REAL, wide Wide OPTIONAL, either Either,
                         named Named DEFAULT {}, full SEQUENCE OF BOOLEAN DEFAULT {TRUE}, ... }
        Wide ::= SEQUENCE { a Digit, b Digit OPTIONAL, c Digit, d Digit, e Digit }
        Digit ::= INTEGER (0..9)
        Either ::= CHOICE { a OCTET STRING (CONTAINING Wide), b BMPString, ... }
        Named ::= BIT STRING { one(0) }
    END";
    let schema = Schema::from_text("a.asn", text);
    let printed = |overlay: &str, rules: &[Rules]| {
        let overlay = Overlay::from_toml(overlay).unwrap();
        schema.rust(rules, &["T"], &RustOptions { overlay, ..RustOptions::default() })
    };
    let text = printed("memory = 'arena'\nboxed-above = 2", &[Rules::Der]).unwrap();
    for line in [
        "pub few: types::ListRef<'a, u8>,",
        "pub reals: Vec<ExactReal<'a>>,",
        "pub wide: Option<&'a Wide>,",
        "pub either: Either<'a>,",
        "pub named: &'a Named<'a>,",
        "pub full: &'a types::ListRef<'a, bool>,",
        "const { &types::ListRef::new(const { &[true] }) }",
        "pub extension_additions: codec::UnknownElements<'a>,",
        "A(Box<Contained<'a, &'a Wide>>),",
        "B(&'a TextRef<'a>),",
        "Unknown(&'a [u8]),",
        "fn read_ber_boxed<'a>(r: &mut ber::Reader<'a>, tag: Tag) -> Result<&'a Self> {",
    ] {
        assert!(text.contains(line), "{line}: {text}");
    }
    for (overlay, told) in [
        ("strings = 'owned'", "do not set `strings`"),
        ("[types.Wide]\nstrings = 'borrowed'", "do not set `strings`"),
        ("lists = 'inline'", "do not set `lists`"),
        ("[fields.'T.few']\nlazy = true", "do not set `lazy`"),
        ("serde = 'always'", "only BER, DER and CER"),
    ] {
        let refused =
            printed(&format!("memory = 'arena'\n{overlay}"), &[Rules::Ber]).unwrap_err().to_string();
        assert!(refused.contains(told), "{refused}");
    }
    let refused = printed("memory = 'arena'", &[Rules::Ber, Rules::Oer]).unwrap_err().to_string();
    assert!(refused.contains("only BER, DER and CER"), "{refused}");
}

/// An arena that was cleared has room for as much again.
#[test]
fn memory_of_an_arena_is_used_again() {
    let values = samples("zoo.rs", "Zoo", 3);
    let mut arena = Arena::with_capacity(1 << 20);
    let taken = arena.octets();
    for _ in 0..100 {
        for octets in &values {
            assert!(made_in::<in_arena::Zoo<'_>, Ber>(&arena, octets).is_ok());
        }
        arena.clear();
    }
    assert_eq!(arena.octets(), taken);
}
