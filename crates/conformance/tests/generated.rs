//! Generated code: that what is committed is current, and that it does what the plan engine does.

mod choices {
    include!(concat!(env!("OUT_DIR"), "/choices.rs"));
}
mod demo {
    include!(concat!(env!("OUT_DIR"), "/demo.rs"));
}
#[path = "generated/faults.rs"]
mod faults;
#[path = "generated/personnel.rs"]
#[rustfmt::skip]
mod personnel;
mod small {
    include!(concat!(env!("OUT_DIR"), "/small.rs"));
}
#[path = "generated/zoo.rs"]
#[rustfmt::skip]
mod zoo;

use std::fs;
use tercet::Schema;
use tercet::dynamic::{Discard, Error, Options, Tape, Value, decode, encode, json, sample};
use tercet::plan::{NodeId, Plan, Rules};
use tercet::runtime::ErrorKind;
use tercet::runtime::codec;
use tercet::runtime::types::FixedBits;
use tercet_conformance::generated::{ALL, Generated};

#[test]
fn generated_code_is_current() {
    tercet_conformance::generated::run(true).unwrap();
}

fn generated(file: &str) -> (Schema, Generated) {
    let generated = *ALL.iter().find(|generated| generated.file.ends_with(file)).unwrap();
    (generated.load().unwrap(), generated)
}

/// A type under test: plans, and values of it by each of the rules.
struct Subject {
    plans: Vec<Plan>,
    root: NodeId,
    values: Vec<Tape>,
}

impl Subject {
    fn new(file: &str, root: &str, count: usize) -> Self {
        let (schema, generated) = generated(file);
        let rules = [
            Rules::Ber,
            Rules::Aper,
            Rules::Uper,
            Rules::CanonicalAper,
            Rules::CanonicalUper,
            Rules::Oer,
            Rules::Coer,
        ];
        let plans = schema.plans(&rules, generated.roots).unwrap();
        let node = plans[0].root(root).unwrap();
        let mut sampler = sample::Sampler::new(&plans[0].shape, sample::Options::default());
        let values = (0..count).map(|_| {
            let mut tape = Tape::new();
            sampler.sample(node, &mut tape).unwrap();
            tape
        });
        let values = values.collect();
        Self { plans, root: node, values }
    }

    fn plan(&self, rules: Rules) -> &Plan {
        match rules {
            Rules::Aper => &self.plans[1],
            Rules::Uper => &self.plans[2],
            Rules::CanonicalAper => &self.plans[3],
            Rules::CanonicalUper => &self.plans[4],
            Rules::Oer => &self.plans[5],
            Rules::Coer => &self.plans[6],
            _ => &self.plans[0],
        }
    }

    fn encode(&self, value: &Tape, rules: Rules) -> Vec<u8> {
        let mut out = Vec::new();
        encode(self.plan(rules), rules, value.view(&[]), &mut out).unwrap();
        out
    }

    /// What the engine says else of octets than generated code, if anything.
    fn difference(&self, octets: &[u8], rules: Rules, ours: Result<(), codec::Fault>) -> Option<String> {
        let mut options = Options::default();
        options.rules = rules;
        options.strict_enumerations = true;
        let theirs = decode(self.plan(rules), self.root, octets, &mut Discard, &options);
        let ours = ours.map_err(|error| (error.kind(), error.at(), error.bit(), error.path().to_string()));
        let theirs = theirs
            .map(drop)
            .map_err(|error| (error.kind(), error.offset(), error.bit(), error.path().to_owned()));
        // What is too large for a type in Rust is none of the engine's concern.
        let has_elements = matches!(rules, Rules::Ber | Rules::Der | Rules::Cer);
        let is_own = ours.as_ref().is_err_and(|(kind, ..)| match kind {
            ErrorKind::IntegerRange => true,
            kind => *kind == ErrorKind::ConstraintViolated && has_elements,
        });
        (ours != theirs && !is_own)
            .then(|| format!("{rules:?} {octets:02x?}: {ours:?}, the engine {theirs:?}"))
    }

    /// What the engine makes of octets: the value in DER, or what is wrong.
    fn decode(&self, octets: &[u8], rules: Rules) -> Result<Vec<u8>, Error> {
        let mut tape = Tape::new();
        let mut options = Options::default();
        options.rules = rules;
        decode(self.plan(rules), self.root, octets, &mut tape, &options)?;
        let mut out = Vec::new();
        encode(self.plan(Rules::Der), Rules::Der, tape.view(octets), &mut out)?;
        Ok(out)
    }
}

/// Runs values of a type through generated code and the engine; both have to say the same.
macro_rules! equal {
    ($name:ident, $file:literal, $root:literal, $ty:ty, $count:literal) => {
        #[test]
        fn $name() {
            let subject = Subject::new($file, $root, $count);
            for value in &subject.values {
                equal!(@ subject, value, $ty, Ber Rules::Ber, false; Der Rules::Der, true; Cer Rules::Cer, true; Aper Rules::Aper, false;
                    CanonicalAper Rules::CanonicalAper, true; Uper Rules::Uper, false; CanonicalUper Rules::CanonicalUper, true; Oer Rules::Oer, false;
                    Coer Rules::Coer, true);
            }
        }
    };
    (@ $subject:ident, $value:ident, $ty:ty, $($marker:ident $rules:path, $canonical:literal);*) => {$(
        let octets = $subject.encode($value, $rules);
        let decoded = <$ty as codec::Decode<'_, codec::$marker>>::decode(&octets);
        let (typed, rest) = decoded.unwrap_or_else(|error| panic!("{:?} {error}: {octets:02x?}", $rules));
        assert!(rest.is_empty(), "{:?}", $rules);
        let again = codec::Encode::<codec::$marker>::encode(&typed)
            .unwrap_or_else(|error| panic!("{:?} {error}: {typed:?}", $rules));
        assert_eq!(codec::Encode::<codec::$marker>::encoded_len(&typed), Ok(again.len()), "{:?} {typed:?}", $rules);
        if $canonical {
            assert_eq!(again, octets, "{:?} {typed:?}", $rules);
        } else {
            let expected = $subject.decode(&octets, $rules).unwrap();
            assert_eq!($subject.decode(&again, $rules).unwrap(), expected, "{:?}", $rules);
        }
        for length in 0..octets.len() {
            let cut = &octets[..length];
            let ours = <$ty as codec::Decode<'_, codec::$marker>>::decode(cut);
            let theirs = $subject.decode(cut, $rules);
            assert_eq!(ours.is_ok(), theirs.is_ok(), "{:?} {cut:02x?}: {ours:?} {theirs:?}", $rules);
        }
    )*};
}

/// Damages some values, in each bit and by each length: generated code and the engine say the same of what they are by then,
/// and of what is wrong: what, where and on which path.
macro_rules! damaged {
    ($name:ident, $file:literal, $root:literal, $ty:ty, $count:literal) => {
        #[test]
        fn $name() {
            let subject = Subject::new($file, $root, $count);
            let mut differences = Vec::new();
            for value in &subject.values {
                damaged!(@ subject, value, differences, $ty, Ber Rules::Ber; Der Rules::Der; Cer Rules::Cer;
                    Aper Rules::Aper; CanonicalAper Rules::CanonicalAper; Uper Rules::Uper;
                    CanonicalUper Rules::CanonicalUper; Oer Rules::Oer; Coer Rules::Coer);
            }
            let count = differences.len();
            differences.truncate(50);
            assert!(count == 0, "{count} differences, among them\n{}", differences.join("\n"));
        }
    };
    (@ $subject:ident, $value:ident, $differences:ident, $ty:ty, $($marker:ident $rules:path);*) => {$(
        let octets = $subject.encode($value, $rules);
        $differences.extend(damages(&octets).filter_map(|damaged| {
            let ours = <$ty as codec::Decode<'_, codec::$marker>>::decode(&damaged);
            $subject.difference(&damaged, $rules, ours.map(drop))
        }));
    )*};
}

/// The begins of an encoding, and all that have one other bit.
fn damages(octets: &[u8]) -> impl Iterator<Item = Vec<u8>> {
    let cut = (0..octets.len()).map(|length| octets[..length].to_vec());
    cut.chain((0..octets.len() * 8).map(|bit| {
        let mut turned = octets.to_vec();
        turned[bit / 8] ^= 0x80 >> (bit % 8);
        turned
    }))
}

damaged!(damaged_personnel_record, "personnel.rs", "PersonnelRecord", personnel::PersonnelRecord<'_>, 6);
damaged!(damaged_demo_record, "demo.rs", "CallRecord", demo::CallRecord<'_>, 10);
damaged!(damaged_zoo, "zoo.rs", "Zoo", zoo::Zoo<'_>, 6);
damaged!(damaged_sparse, "zoo.rs", "Sparse", zoo::Sparse<'_>, 20);
damaged!(damaged_maybe, "zoo.rs", "Maybe", zoo::Maybe, 30);
damaged!(damaged_mixed, "zoo.rs", "Mixed", zoo::Mixed, 20);
damaged!(damaged_letter, "zoo.rs", "Letter", zoo::Letter<'_>, 20);
damaged!(damaged_errand, "zoo.rs", "Errand", zoo::Errand<'_>, 20);
damaged!(damaged_tree, "zoo.rs", "Tree", zoo::Tree, 5);
damaged!(damaged_nest, "zoo.rs", "Nest", zoo::Nest, 5);
damaged!(damaged_nests, "zoo.rs", "Nests", zoo::Nests, 5);
damaged!(damaged_names, "zoo.rs", "Names", zoo::Names<'_>, 20);
damaged!(damaged_zoo_by_tables, "small.rs", "Zoo", small::Zoo<'_>, 4);
damaged!(damaged_sparse_by_tables, "small.rs", "Sparse", small::Sparse<'_>, 20);
damaged!(damaged_letter_by_tables, "small.rs", "Letter", small::Letter<'_>, 20);
damaged!(damaged_errand_by_tables, "small.rs", "Errand", small::Errand<'_>, 20);
damaged!(damaged_nest_by_tables, "small.rs", "Nest", small::Nest, 5);
damaged!(damaged_nests_by_tables, "small.rs", "Nests", small::Nests, 5);

equal!(personnel_record, "personnel.rs", "PersonnelRecord", personnel::PersonnelRecord<'_>, 200);
equal!(demo_record, "demo.rs", "CallRecord", demo::CallRecord<'_>, 200);
equal!(zoo, "zoo.rs", "Zoo", zoo::Zoo<'_>, 200);
equal!(zoo_of_choices, "choices.rs", "Zoo", choices::Zoo<'_>, 100);
equal!(tree, "zoo.rs", "Tree", zoo::Tree, 100);
equal!(tree_of_choices, "choices.rs", "Tree", choices::Baum, 20);
equal!(nests, "zoo.rs", "Nests", zoo::Nests, 50);
equal!(nest, "zoo.rs", "Nest", zoo::Nest, 50);
equal!(letter, "zoo.rs", "Letter", zoo::Letter<'_>, 100);
equal!(errand, "zoo.rs", "Errand", zoo::Errand<'_>, 100);
equal!(nests_of_choices, "choices.rs", "Nests", choices::Nests, 10);
equal!(sparse, "zoo.rs", "Sparse", zoo::Sparse<'_>, 100);
equal!(maybe, "zoo.rs", "Maybe", zoo::Maybe, 50);
equal!(mixed, "zoo.rs", "Mixed", zoo::Mixed, 20);
equal!(grown, "zoo.rs", "Grown", zoo::Grown, 20);
equal!(preset, "zoo.rs", "Preset", zoo::Preset, 50);
equal!(names, "zoo.rs", "Names", zoo::Names<'_>, 100);
equal!(zoo_by_tables, "small.rs", "Zoo", small::Zoo<'_>, 200);
equal!(tree_by_tables, "small.rs", "Tree", small::Tree, 100);
equal!(nests_by_tables, "small.rs", "Nests", small::Nests, 50);
equal!(nest_by_tables, "small.rs", "Nest", small::Nest, 50);
equal!(letter_by_tables, "small.rs", "Letter", small::Letter<'_>, 100);
equal!(errand_by_tables, "small.rs", "Errand", small::Errand<'_>, 100);
equal!(sparse_by_tables, "small.rs", "Sparse", small::Sparse<'_>, 100);
equal!(maybe_by_tables, "small.rs", "Maybe", small::Maybe, 50);
equal!(grown_by_tables, "small.rs", "Grown", small::Grown, 20);
equal!(preset_by_tables, "small.rs", "Preset", small::Preset, 50);
equal!(names_by_tables, "small.rs", "Names", small::Names<'_>, 100);

#[test]
fn tables_tell_the_faults_that_straight_code_tells() {
    fn fault<'a, T: codec::Decode<'a, R>, R>(octets: &'a [u8]) -> Option<codec::Fault> {
        T::decode(octets).err()
    }
    let subject = Subject::new("zoo.rs", "Zoo", 30);
    for value in &subject.values {
        for rules in [Rules::Aper, Rules::Uper] {
            let octets = subject.encode(value, rules);
            let same = |octets: &[u8]| {
                let (straight, tables) = match rules {
                    Rules::Aper => (
                        fault::<zoo::Zoo<'_>, codec::Aper>(octets),
                        fault::<small::Zoo<'_>, codec::Aper>(octets),
                    ),
                    _ => (
                        fault::<zoo::Zoo<'_>, codec::Uper>(octets),
                        fault::<small::Zoo<'_>, codec::Uper>(octets),
                    ),
                };
                assert_eq!(straight, tables, "{rules:?} {octets:02x?}");
            };
            (0..octets.len()).for_each(|length| same(&octets[..length]));
            for bit in 0..octets.len() * 8 {
                let mut turned = octets.clone();
                turned[bit / 8] ^= 0x80 >> (bit % 8);
                same(&turned);
            }
        }
    }
}

#[test]
fn a_fault_tells_its_path() {
    let read = |octets: &[u8]| {
        <personnel::PersonnelRecord<'_> as codec::Decode<'_, codec::Ber>>::decode(octets)
            .unwrap_err()
            .to_string()
    };
    let name = [0x61, 9, 0x1A, 1, b'a', 0x1A, 1, b'b', 0x1A, 1, b'c'];
    let child = [&[0x31, 18][..], &name, &[0xA0, 5, 0x43, 3, b'1', b'9', b'7']].concat();
    let record = |children: &[u8]| {
        let contents =
            [&name[..], &[0xA0, 2, 0x1A, 0, 0x42, 1, 1, 0xA1, 2, 0x43, 0, 0xA2, 11], &name, children]
                .concat();
        [&[0x60, contents.len().to_be_bytes()[7]][..], &contents].concat()
    };
    let mut second = child.clone();
    second[2 + 8] = 0x1B;
    let children = [&[0xA3, 40][..], &child, &second].concat();
    assert_eq!(
        read(&record(&children)),
        "PersonnelRecord.children[1].name: an element is not expected here (at offset 0x45)"
    );
    assert_eq!(
        read(&[0x60]),
        "PersonnelRecord: the input ends inside an element, 1 byte is missing (at offset 0x1)"
    );
}

#[test]
fn an_element_with_the_tag_of_another_type_is_told() {
    let subject = Subject::new("zoo.rs", "Nest", 0);
    for octets in [&[0x30, 2, 0x70, 0][..], &[0x30, 6, 0x30, 0, 0x30, 2, 4, 0]] {
        let ours = <zoo::Nest as codec::Decode<'_, codec::Ber>>::decode(octets).unwrap_err();
        let theirs = subject.decode(octets, Rules::Ber).unwrap_err();
        assert_eq!((ours.kind(), ours.at()), (ErrorKind::TagMismatch, octets.len() as u64 - 2));
        assert_eq!((ours.kind(), ours.at()), (theirs.kind(), theirs.offset()));
    }
}

/// What a sender of a later version adds is written again as it came.
#[test]
fn unknown_additions_are_kept() {
    let (_, generated) = generated("zoo.rs");
    let earlier =
        fs::read_to_string(tercet_conformance::corpora::repository().join(generated.schema)).unwrap();
    let later = earlier.replace(
        "    type        Shape OPTIONAL,",
        "    type        Shape OPTIONAL, newer INTEGER (0..255), newest UTF8String,",
    );
    assert_ne!(later, earlier);
    let later = Schema::from_text("later.asn", &later);
    assert!(!later.has_errors(), "{}", later.render(false));
    let rules = [Rules::Ber, Rules::Aper, Rules::Uper, Rules::Coer];
    let plans = later.plans(&rules, &["Zoo"]).unwrap();
    let root = plans[0].root("Zoo").unwrap();
    let mut sampler = sample::Sampler::new(&plans[0].shape, sample::Options::default());
    for _ in 0..100 {
        let mut tape = Tape::new();
        sampler.sample(root, &mut tape).unwrap();
        let encoded = |at: usize, rules| {
            let mut out = Vec::new();
            encode(&plans[at], rules, tape.view(&[]), &mut out).unwrap();
            out
        };
        let same = |at: usize, rules, again: &dyn Fn(&[u8]) -> Vec<u8>| {
            let octets = encoded(at, rules);
            let again = shown(&plans[at], root, &again(&octets), rules);
            assert_eq!(again.to_string(), shown(&plans[at], root, &octets, rules).to_string());
        };
        same(0, Rules::Der, &|octets| again::<zoo::Zoo<'_>, codec::Der>(octets));
        same(1, Rules::Aper, &|octets| again::<zoo::Zoo<'_>, codec::Aper>(octets));
        same(1, Rules::Aper, &|octets| again::<small::Zoo<'_>, codec::Aper>(octets));
        same(2, Rules::Uper, &|octets| again::<zoo::Zoo<'_>, codec::Uper>(octets));
        same(2, Rules::Uper, &|octets| again::<small::Zoo<'_>, codec::Uper>(octets));
        same(3, Rules::Coer, &|octets| again::<zoo::Zoo<'_>, codec::Coer>(octets));
    }
}

/// Reads a value of a later version and writes it.
fn again<'a, T: codec::Decode<'a, R> + codec::Encode<R>, R>(octets: &'a [u8]) -> Vec<u8> {
    let (value, rest) = T::decode(octets).unwrap();
    assert!(rest.is_empty());
    value.encode().unwrap()
}

/// What the engine makes of an encoding.
fn shown(plan: &Plan, root: NodeId, octets: &[u8], rules: Rules) -> Value {
    let mut tape = Tape::new();
    let mut options = Options::default();
    options.rules = rules;
    options.fill_defaults = true;
    decode(plan, root, octets, &mut tape, &options).unwrap();
    Value::from_view(&plan.shape, tape.view(octets)).unwrap()
}

/// The parts of a text in order: the components of a SET stand as they came in the engine, as declared in Rust.
fn parts(text: &str) -> Vec<&str> {
    let parts = text.split(['{', '}', ',']).map(str::trim).filter(|part| !part.is_empty());
    let mut parts: Vec<&str> = parts.collect();
    parts.sort_unstable();
    parts
}

/// `Debug` shows what the engine shows.
macro_rules! shown {
    ($name:ident, $file:literal, $root:literal, $ty:ty) => {
        #[test]
        fn $name() {
            let subject = Subject::new($file, $root, 50);
            for value in &subject.values {
                let octets = subject.encode(value, Rules::Der);
                let engine = shown(subject.plan(Rules::Der), subject.root, &octets, Rules::Der);
                let typed = <$ty as codec::Decode<'_, codec::Der>>::decode(&octets).unwrap().0;
                assert_eq!(parts(&format!("{typed:?}")), parts(&format!("{engine}")));
                assert_eq!(parts(&format!("{typed:#?}")), parts(&format!("{engine:#}")));
            }
        }
    };
}

shown!(demo_is_shown, "demo.rs", "CallRecord", demo::CallRecord<'_>);
shown!(zoo_is_shown, "zoo.rs", "Zoo", zoo::Zoo<'_>);
shown!(letter_is_shown, "zoo.rs", "Letter", zoo::Letter<'_>);
shown!(errand_is_shown, "zoo.rs", "Errand", zoo::Errand<'_>);
shown!(zoo_of_choices_is_shown, "choices.rs", "Zoo", choices::Zoo<'_>);

/// Values whose codecs follow tables look, compare and are copied as those of other code.
macro_rules! whole {
    ($name:ident, $root:literal, $small:ty, $other:ty $(, $owned:ident)?) => {
        #[test]
        fn $name() {
            let subject = Subject::new("small.rs", $root, 100);
            let octets: Vec<Vec<u8>> =
                subject.values.iter().map(|value| subject.encode(value, Rules::Aper)).collect();
            let small = |octets| <$small as codec::Decode<'_, codec::Aper>>::decode(octets).unwrap().0;
            let other = |octets| <$other as codec::Decode<'_, codec::Aper>>::decode(octets).unwrap().0;
            for (octets, next) in octets.iter().zip(octets.iter().cycle().skip(1)) {
                let (value, same) = (small(octets), other(octets));
                assert_eq!(format!("{value:?}"), format!("{same:?}"));
                assert_eq!(format!("{value:#?}"), format!("{same:#?}"));
                assert_eq!(value == small(next), same == other(next));
                assert_eq!(value, value.clone());
                $(assert_eq!(value, value.clone().$owned());)?
            }
        }
    };
}

whole!(wholes_of_zoos, "Zoo", small::Zoo<'_>, zoo::Zoo<'_>, into_owned);
whole!(wholes_of_trees, "Tree", small::Tree, zoo::Tree);
whole!(wholes_of_nests, "Nests", small::Nests, zoo::Nests);
whole!(wholes_of_sparse, "Sparse", small::Sparse<'_>, zoo::Sparse<'_>, into_owned);
whole!(wholes_of_letters, "Letter", small::Letter<'_>, zoo::Letter<'_>, into_owned);
whole!(wholes_of_errands, "Errand", small::Errand<'_>, zoo::Errand<'_>, into_owned);

#[test]
fn what_is_not_known_is_part_of_wholes() {
    let deed = |manner| small::Deed { number: 1, manner };
    let addition = deed(small::DeedManner::UnknownAddition(3));
    assert_eq!(addition.clone(), addition);
    assert_ne!(addition, deed(small::DeedManner::Slow));
    let shape = |number: u32| {
        let octets = tercet::runtime::types::Octets::borrowed(&[5, 0]);
        let unknown = codec::UnknownAlternative { addition: Some(number), octets };
        small::Shape::Unknown(Box::new(unknown))
    };
    assert_eq!(format!("{:?}", shape(7)), "/* unknown */ '0500'H");
    assert_eq!(shape(7).clone().into_owned(), shape(7));
    assert_ne!(shape(7), shape(8));
    assert_eq!(small::Sparse::default(), small::Sparse::default());
}

/// What the engine writes of a value in DER as JER, the components of a SET as they are declared.
fn jer(plan: &Plan, root: NodeId, octets: &[u8]) -> String {
    let (mut tape, mut again, mut text, mut out) = (Tape::new(), Tape::new(), Vec::new(), Vec::new());
    let mut options = Options::default();
    options.rules = Rules::Der;
    decode(plan, root, octets, &mut tape, &options).unwrap();
    let options = json::Options::default();
    json::write(&plan.shape, tape.view(octets), &mut text, &options);
    json::read(&plan.shape, root, &text, &mut again, &options).unwrap();
    json::write(&plan.shape, again.view(&[]), &mut out, &options);
    String::from_utf8(out).unwrap()
}

/// `serde_json` writes what the engine writes as JER, and reads what it reads.
macro_rules! jer {
    ($name:ident, $file:literal, $root:literal, $ty:ty) => {
        #[test]
        fn $name() {
            let subject = Subject::new($file, $root, 200);
            let plan = subject.plan(Rules::Der);
            for value in &subject.values {
                let octets = subject.encode(value, Rules::Der);
                let typed = <$ty as codec::Decode<'_, codec::Der>>::decode(&octets).unwrap().0;
                let expected = jer(plan, subject.root, &octets);
                assert_eq!(serde_json::to_string(&typed).unwrap(), expected);
                let again: $ty =
                    serde_json::from_str(&expected).unwrap_or_else(|error| panic!("{error} in {expected}"));
                assert_eq!(codec::Encode::<codec::Der>::encode(&again).unwrap(), octets, "{expected}");
                // The members of objects in another order are the same value.
                let turned = turned(serde_json::from_str(&expected).unwrap());
                let again: $ty = serde_json::from_value(turned).unwrap();
                assert_eq!(codec::Encode::<codec::Der>::encode(&again).unwrap(), octets, "{expected}");
            }
        }
    };
}

/// The members of all objects from the last to the first.
fn turned(value: serde_json::Value) -> serde_json::Value {
    match value {
        serde_json::Value::Object(members) => {
            members.into_iter().rev().map(|(name, value)| (name, turned(value))).collect()
        }
        serde_json::Value::Array(elements) => elements.into_iter().map(turned).collect(),
        other => other,
    }
}

jer!(demo_is_jer, "demo.rs", "CallRecord", demo::CallRecord<'_>);
jer!(personnel_is_jer, "personnel.rs", "PersonnelRecord", personnel::PersonnelRecord<'_>);
jer!(zoo_is_jer, "zoo.rs", "Zoo", zoo::Zoo<'_>);
jer!(tree_is_jer, "zoo.rs", "Tree", zoo::Tree);
jer!(nests_are_jer, "zoo.rs", "Nests", zoo::Nests);
jer!(names_are_jer, "zoo.rs", "Names", zoo::Names<'_>);
jer!(letter_is_jer, "zoo.rs", "Letter", zoo::Letter<'_>);
jer!(errand_is_jer, "zoo.rs", "Errand", zoo::Errand<'_>);
jer!(zoo_of_choices_is_jer, "choices.rs", "Zoo", choices::Zoo<'_>);

/// What is not known yet, and has a form all the same.
#[test]
fn jer_of_later_versions() {
    fn again<'a, T: codec::jer::Serialize + codec::jer::Deserialize<'a>>(text: &'a str) {
        let value: T = serde_json::from_str(text).unwrap_or_else(|error| panic!("{error} in {text}"));
        assert_eq!(serde_json::to_string(&value).unwrap(), text);
    }
    again::<zoo::Shape<'_>>(r#"{"...":["8905"]}"#);
    again::<zoo::Shape<'_>>(r#"{"...":[{"addition":1,"value":"05"}]}"#);
    again::<zoo::Shape<'_>>(r#"{"spot":null}"#);
    again::<zoo::Colour>("7");
    again::<zoo::Colour>(r#"{"addition":3}"#);
    again::<zoo::Colour>(r#""violet""#);
    again::<zoo::Message<'_>>(r#"{"code":77,"value":"0500"}"#);
    again::<zoo::Message<'_>>(r#"{"code":2,"value":["a","b"]}"#);
    // What could not be decoded stays octets.
    again::<zoo::Message<'_>>(r#"{"code":2,"value":"0500"}"#);
}

/// The value of a type that other crates have a form of their own for.
fn leaf<T: codec::jer::Jer>(text: &str) -> Result<T, String> {
    let tree: codec::jer::Tree<'_> = serde_json::from_str(text).unwrap();
    T::read_jer(&tree, &codec::jer::Keys::NONE).map_err(|error| error.to_string())
}

#[test]
fn jer_of_numbers() {
    for (text, number) in [
        ("0", 0.0),
        ("-1.5e3", -1500.0),
        (r#""INF""#, f64::INFINITY),
        (r#""-INF""#, f64::NEG_INFINITY),
        (r#"{"base10Value":0.1}"#, 0.1),
        (r#"{"mantissa":-3,"base":2,"exponent":-1}"#, -1.5),
        (r#"{"mantissa":25,"base":10,"exponent":-1}"#, 2.5),
    ] {
        assert_eq!(leaf::<f64>(text), Ok(number), "{text}");
    }
    assert_eq!(leaf::<f64>(r#""-0""#).map(f64::to_bits), Ok((-0.0_f64).to_bits()));
    assert!(leaf::<f64>(r#""NaN""#).unwrap().is_nan());
    for text in [r#""1""#, "null", "1e999", r#"{"mantissa":1,"base":3,"exponent":0}"#] {
        assert!(leaf::<f64>(text).is_err(), "{text}");
    }
    assert_eq!(leaf::<u8>("2.55e2"), Ok(255));
    for text in ["256", "-1", "1.5", "true", r#""1""#] {
        assert!(leaf::<u8>(text).is_err(), "{text}");
    }
    let digits = "-123456789012345678901234567890123456789012345678901234567890";
    let number: codec::jer::Tree<'_> = serde_json::from_str(digits).unwrap();
    assert_eq!(number, codec::jer::Tree::Digits(digits.into()));
    let bits = |text| leaf::<FixedBits<12>>(text).map(FixedBits::get);
    assert_eq!(bits(r#""ABC0""#), Ok(0xABC));
    assert_eq!(bits(r#"{"length":12,"value":"abc0"}"#), Ok(0xABC));
    for text in [r#""ABC1""#, r#""ABC""#, r#""AB""#, r#"{"length":11,"value":"ABC0"}"#, r#""ABCDEF""#] {
        assert!(bits(text).is_err(), "{text}");
    }
}

#[test]
fn jer_tells_what_is_wrong() {
    for (text, said) in [
        (
            r#"{"value":1,"twigs":[{"value":2},{"value":300}]}"#,
            "twigs[1].value: the number is too large for the type",
        ),
        (r#"{"value":1,"left":{}}"#, "left.value: this mandatory component is missing"),
        (r#"{"value":1,"value":2}"#, "`value` is there twice"),
        (r#"{"value":1,"middle":2}"#, "no component `middle` in this type"),
        (r#"{"value":"one"}"#, "value: an integer expected"),
        ("[]", "an object expected"),
    ] {
        assert_eq!(serde_json::from_str::<zoo::Tree>(text).unwrap_err().to_string(), said, "{text}");
    }
    let deep = r#"{"value":1,"left":"#.repeat(130) + "null" + &"}".repeat(130);
    assert!(serde_json::from_str::<zoo::Tree>(&deep).is_err());
    for text in [r#"{"circle":1,"square":true}"#, "{}", r#"{"cube":1}"#, r#"{"...":[]}"#, r#""circle""#] {
        assert!(serde_json::from_str::<zoo::Shape<'_>>(text).is_err(), "{text}");
    }
}

/// The bitmap of additions has as many bits as the sender's version of the type has additions (X.691 19.8): encodings of
/// two versions of it, by hand.
#[test]
fn canonical_values_of_earlier_versions_are_taken_and_written_again() {
    fn check<T>(of: fn(&T) -> (bool, bool))
    where
        T: for<'a> codec::Decode<'a, codec::CanonicalUper> + for<'a> codec::Decode<'a, codec::Uper>,
        T: codec::Encode<codec::CanonicalUper> + PartialEq + std::fmt::Debug,
    {
        // 1 a=1 0000000 b=1, then TRUE in an open type; the same with two bits, b=1 c=0.
        let versions = [[0xC0, 0x40, 0x60, 0x00], [0xC0, 0xC0, 0x30, 0x00]];
        let [earlier, later] = versions.map(|octets| {
            let value = <T as codec::Decode<'_, codec::CanonicalUper>>::decode(&octets).unwrap().0;
            assert_eq!(of(&value), (true, true));
            assert_eq!(codec::Encode::<codec::CanonicalUper>::encode(&value).unwrap(), octets);
            value
        });
        assert_eq!(earlier, later);
        // No addition is there, so that there has to be no bitmap.
        let empty = [0xC0, 0x00];
        assert!(<T as codec::Decode<'_, codec::Uper>>::decode(&empty).is_ok());
        let fault = <T as codec::Decode<'_, codec::CanonicalUper>>::decode(&empty).err().unwrap();
        assert_eq!(fault.kind(), ErrorKind::NotCanonical);
    }
    // The same in octets: the extension bit, a, the bitmap behind its length with the bits that it has no use for, b.
    let octets = [0x80, 0xFF, 0x02, 0x07, 0x80, 0x01, 0xFF];
    let value = <zoo::Grown as codec::Decode<'_, codec::Coer>>::decode(&octets).map(|(value, _)| value);
    assert_eq!(value.and_then(|value| codec::Encode::<codec::Coer>::encode(&value)).unwrap(), octets);
    check::<zoo::Grown>(|value| (value.a, value.b == Some(true)));
    check::<small::Grown>(|value| (value.a, value.b == Some(true)));
}

#[test]
fn lazy_lists_tell_faults_when_they_are_reached_and_checked_ones_at_once() {
    type Lazy<'a> = choices::Zoo<'a>;
    let mut octets = codec::Encode::<codec::Ber>::encode(&faults::whole()).unwrap();
    let decode = |octets: &[u8]| {
        let (value, _) = <Lazy<'_> as codec::Decode<'_, codec::StrictBer>>::decode(octets)?;
        assert_eq!(value.children.as_ref().map(|list| list.len()), Some(3));
        Ok::<_, codec::Fault>(value.self_.to_vec().map(|names| names.len()))
    };
    let place = |octets: &[u8], wanted: &[u8], turn: usize| {
        octets.windows(wanted.len()).enumerate().filter(|(_, window)| *window == wanted).nth(turn).unwrap().0
    };
    assert_eq!(decode(&octets).unwrap(), Ok(2));
    let name = place(&octets, b"\x13\x01b", 0) + 2;
    octets[name] = b'*';
    assert_eq!(decode(&octets).unwrap().unwrap_err().kind(), ErrorKind::CharacterInvalid);
    let name = place(&octets, b"\x80\x02Bo", 1) + 2;
    octets[name] |= 0x80;
    let fault = decode(&octets).unwrap_err();
    assert_eq!((fault.kind(), fault.at()), (ErrorKind::CharacterInvalid, name as u64));
    assert_eq!(fault.path().to_string(), "Zoo.children[1].name");
}

#[test]
fn texts_that_break_their_type_are_kept_in_ber_and_written_as_they_came() {
    type Lazy<'a> = choices::Zoo<'a>;
    let mut octets = codec::Encode::<codec::Ber>::encode(&faults::whole()).unwrap();
    let places = [&b"\x13\x01b"[..], b"\x80\x02Bo"]
        .map(|wanted| octets.windows(wanted.len()).position(|window| window == wanted).unwrap() + 2);
    (octets[places[0]], octets[places[1]]) = (b'*', 0xC2);
    // Lists that are decoded at once, and those that wait.
    let (zoo, _) = <zoo::Zoo<'_> as codec::Decode<'_, codec::Ber>>::decode(&octets).unwrap();
    assert_eq!(zoo.self_[1], "*");
    let child = &zoo.children.as_ref().unwrap()[0];
    assert_eq!(child.name, "Âo");
    let marked = child.name.marked().unwrap();
    assert_eq!((marked.octets(), marked.kind()), (&b"\xC2o"[..], ErrorKind::CharacterInvalid));
    assert_eq!(codec::Encode::<codec::Ber>::encode(&zoo).unwrap(), octets);
    let (lazy, _) = <Lazy<'_> as codec::Decode<'_, codec::Ber>>::decode(&octets).unwrap();
    assert_eq!(lazy.self_.to_vec().unwrap()[1], "*");
    assert_eq!(codec::Encode::<codec::Ber>::encode(&lazy).unwrap(), octets);
    // What the engine refuses to write, generated code does, on the same path.
    let plans = generated("zoo.rs").0.plans(&[Rules::Ber, Rules::Uper, Rules::Oer], &["Zoo"]).unwrap();
    let root = plans[0].root("Zoo").unwrap();
    let mut tape = Tape::new();
    decode(&plans[0], root, &octets, &mut tape, &Options::default()).unwrap();
    assert_eq!(tape.view(&octets).marks(), 2);
    for (plan, rules, fault) in [
        (0, Rules::Der, codec::Encode::<codec::Der>::encode(&zoo).unwrap_err()),
        (0, Rules::Cer, codec::Encode::<codec::Cer>::encode(&zoo).unwrap_err()),
        (1, Rules::Uper, codec::Encode::<codec::Uper>::encode(&zoo).unwrap_err()),
        (2, Rules::Oer, codec::Encode::<codec::Oer>::encode(&zoo).unwrap_err()),
    ] {
        let error = encode(&plans[plan], rules, tape.view(&octets), &mut Vec::new()).unwrap_err();
        assert_eq!((error.kind(), error.path()), (fault.kind(), &*fault.path().to_string()), "{rules:?}");
    }
    let fault = <zoo::Zoo<'_> as codec::Decode<'_, codec::StrictBer>>::decode(&octets).unwrap_err();
    assert_eq!(fault.kind(), ErrorKind::CharacterInvalid);
    for fault in [
        <zoo::Zoo<'_> as codec::Decode<'_, codec::Der>>::decode(&octets).map(drop),
        <zoo::Zoo<'_> as codec::Decode<'_, codec::Cer>>::decode(&octets).map(drop),
    ] {
        assert!(fault.is_err());
    }
}

#[test]
fn an_element_where_another_has_to_be_is_told_by_its_tag() {
    fn said<T: for<'a> codec::Decode<'a, codec::Ber>>(octets: &[u8]) -> (ErrorKind, u64, String) {
        let fault = T::decode(octets).err().unwrap();
        (fault.kind(), fault.at(), fault.path().to_string())
    }
    type Said = fn(&[u8]) -> (ErrorKind, u64, String);
    type Case<'c> = ((&'c str, Said), &'c [u8], ErrorKind, u64, &'c str);
    let tree: (&str, Said) = ("Tree", said::<zoo::Tree>);
    let nests: (&str, Said) = ("Nests", said::<zoo::Nests>);
    let letter: (&str, Said) =
        ("Letter", |octets| match <zoo::Letter<'_> as codec::Decode<'_, codec::Ber>>::decode(octets) {
            Ok(_) => panic!("{octets:02x?} is read"),
            Err(fault) => (fault.kind(), fault.at(), fault.path().to_string()),
        });
    let cases: &[Case<'_>] = &[
        (tree, &[0x31, 0x00], ErrorKind::TagMismatch, 0, "Tree"),
        (tree, &[0x30, 0x00], ErrorKind::MissingComponent, 2, "Tree.value"),
        // `left` in the place of `value`, and an element of no component.
        (tree, &[0x30, 0x02, 0xA1, 0x00], ErrorKind::MissingComponent, 2, "Tree.value"),
        (tree, &[0x30, 0x02, 0xC0, 0x00], ErrorKind::UnexpectedElement, 2, "Tree"),
        // `code` twice.
        (letter, &[0x30, 6, 0x80, 1, 1, 0x80, 1, 1], ErrorKind::UnexpectedElement, 5, "Letter.code"),
        (nests, &[0x30, 0x04, 0x30, 0x02, 0x31, 0x00], ErrorKind::TagMismatch, 4, "Nests.first[0]"),
    ];
    for ((root, said), octets, kind, at, path) in cases {
        assert_eq!(said(octets), (*kind, *at, (*path).to_owned()), "{octets:02x?}");
        let subject = Subject::new("zoo.rs", root, 0);
        let engine = subject.decode(octets, Rules::Ber).unwrap_err();
        assert_eq!((engine.kind(), engine.offset(), engine.path()), (*kind, *at, *path), "{octets:02x?}");
    }
}
