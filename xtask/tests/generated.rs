//! Generated code: that what is committed is current, and that it does what the plan engine does.

#[path = "generated/demo.rs"]
#[rustfmt::skip]
mod demo;
#[path = "generated/personnel.rs"]
#[rustfmt::skip]
mod personnel;
#[path = "generated/zoo.rs"]
#[rustfmt::skip]
mod zoo;

use tercet::Schema;
use tercet::dynamic::{Discard, Error, Options, Tape, decode, encode, sample};
use tercet::plan::{NodeId, Plan, Rules};
use tercet::runtime::codec;
use xtask::generated::{ALL, Generated};

#[test]
fn generated_code_is_current() {
    xtask::generated::run(true).unwrap();
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
        let rules = [Rules::Ber, Rules::Aper, Rules::Uper, Rules::CanonicalAper, Rules::CanonicalUper];
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
            _ => &self.plans[0],
        }
    }

    fn encode(&self, value: &Tape, rules: Rules) -> Vec<u8> {
        let mut out = Vec::new();
        encode(self.plan(rules), rules, value.view(&[]), &mut out).unwrap();
        out
    }

    /// Whether the engine takes octets for a value.
    fn accepts(&self, octets: &[u8], rules: Rules) -> bool {
        let mut options = Options::default();
        options.rules = rules;
        decode(self.plan(rules), self.root, octets, &mut Discard, &options).is_ok()
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
                equal!(@ subject, value, $ty, Ber Rules::Ber, false; Der Rules::Der, true; Aper Rules::Aper, false;
                    CanonicalAper Rules::CanonicalAper, true; Uper Rules::Uper, false; CanonicalUper Rules::CanonicalUper, true);
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

/// Flips each bit of some values in PER, where generated code and the engine have to agree on what is a value.
macro_rules! flipped {
    ($name:ident, $file:literal, $root:literal, $ty:ty) => {
        #[test]
        fn $name() {
            let subject = Subject::new($file, $root, 12);
            for value in &subject.values {
                flipped!(@ subject, value, $ty, Aper Rules::Aper; Uper Rules::Uper);
            }
        }
    };
    (@ $subject:ident, $value:ident, $ty:ty, $($marker:ident $rules:path);*) => {$(
        let mut octets = $subject.encode($value, $rules);
        for bit in 0..octets.len() * 8 {
            octets[bit / 8] ^= 0x80 >> (bit % 8);
            let ours = <$ty as codec::Decode<'_, codec::$marker>>::decode(&octets);
            let theirs = $subject.accepts(&octets, $rules);
            assert_eq!(ours.is_ok(), theirs, "{:?} bit {bit} {octets:02x?}: {ours:?}", $rules);
            octets[bit / 8] ^= 0x80 >> (bit % 8);
        }
    )*};
}

flipped!(flipped_personnel_record, "personnel.rs", "PersonnelRecord", personnel::PersonnelRecord<'_>);
flipped!(flipped_demo_record, "demo.rs", "CallRecord", demo::CallRecord<'_>);
flipped!(flipped_zoo, "zoo.rs", "Zoo", zoo::Zoo<'_>);

equal!(personnel_record, "personnel.rs", "PersonnelRecord", personnel::PersonnelRecord<'_>, 200);
equal!(demo_record, "demo.rs", "CallRecord", demo::CallRecord<'_>, 200);
equal!(zoo, "zoo.rs", "Zoo", zoo::Zoo<'_>, 200);
equal!(tree, "zoo.rs", "Tree", zoo::Tree, 100);
equal!(names, "zoo.rs", "Names", zoo::Names<'_>, 100);
