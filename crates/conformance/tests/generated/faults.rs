//! Values that cannot be encoded: generated code says what is wrong and on which path, as the plan engine does.

use super::{Subject, zoo};
use tercet::dynamic::{Error, Options, Tape, decode, encode};
use tercet::plan::Rules;
use tercet::runtime::ErrorKind;
use tercet::runtime::codec::{self, Contained, Encode, Fault};

/// A value with all that the cases below break.
pub(super) fn whole() -> zoo::Zoo<'static> {
    let subject = Subject::new("zoo.rs", "Zoo", 1);
    let octets = subject.encode(&subject.values[0], Rules::Der);
    let mut value = <zoo::Zoo<'_> as codec::Decode<'_, codec::Der>>::decode(&octets).unwrap().0.into_owned();
    let animal = zoo::Animal { name: "Bo".into(), legs: 4, kind: zoo::Shape::Circle(1) };
    value.self_ = vec!["a".into(), "b".into()];
    value.children = Some(vec![animal.clone(), animal.clone(), animal.clone()]);
    value.bag = vec![7, 1, 5];
    value.inside = Contained::Value(animal);
    value.inside_bits = Some(Contained::Value(zoo::Shape::Spot(())));
    value.message.code = 2;
    value.message.value = zoo::MessageValue::Names(vec!["a".into()]);
    value
}

/// What the engine says when it encodes a value that it has read in BER, whose encoding rests on no constraint.
fn engine(subject: &Subject, value: &zoo::Zoo<'_>, rules: Rules) -> Result<(), Error> {
    let octets = Encode::<codec::Ber>::encode(value).unwrap();
    let mut tape = Tape::new();
    decode(subject.plan(Rules::Ber), subject.root, &octets, &mut tape, &Options::default()).unwrap();
    encode(subject.plan(rules), rules, tape.view(&octets), &mut Vec::new())
}

/// Encodes behind octets, which have to stay; the length has to be refused for the same reason.
fn written<R>(value: &zoo::Zoo<'_>) -> Result<(), Fault>
where
    for<'a> zoo::Zoo<'a>: Encode<R>,
{
    let mut out = vec![1, 2, 3];
    let written = Encode::<R>::encode_into(value, &mut out);
    assert_eq!(&out[..3], [1, 2, 3]);
    if let Err(fault) = &written {
        assert_eq!(out.len(), 3, "{fault}");
        assert_eq!(Encode::<R>::encoded_len(value).as_ref(), Err(fault));
    }
    written
}

fn line() -> zoo::Shape<'static> {
    zoo::Shape::Line(zoo::ShapeLine { a: 3, b: 16 })
}

#[test]
fn a_value_that_breaks_a_constraint_tells_its_path() {
    type Break = fn(&mut zoo::Zoo<'_>);
    let cases: &[(&str, Break)] = &[
        ("Zoo.small", |zoo| zoo.small = 8),
        ("Zoo.negative", |zoo| zoo.negative = -6),
        ("Zoo.wider", |zoo| zoo.wider = (-2_i64).into()),
        ("Zoo.semi", |zoo| zoo.semi = 2_i64.into()),
        ("Zoo.late", |zoo| (zoo.late, zoo.later) = (None, Some(1))),
        ("Zoo.self[1]", |zoo| zoo.self_[1] = "123456789".into()),
        ("Zoo.type.line.b", |zoo| zoo.r#type = Some(line())),
        ("Zoo.children", |zoo| {
            let five = zoo.children.iter().flatten().cycle().take(5).cloned().collect();
            zoo.children = Some(five);
        }),
        ("Zoo.children[2].name", |zoo| zoo.children.as_mut().unwrap()[2].name = "".into()),
        ("Zoo.children[1].kind.line.b", |zoo| zoo.children.as_mut().unwrap()[1].kind = line()),
        ("Zoo.bag[1]", |zoo| zoo.bag[1] = 1001),
        ("Zoo.text.numeric", |zoo| zoo.text.numeric = "1234567".into()),
        ("Zoo.text.letters", |zoo| zoo.text.letters = "abg".into()),
        ("Zoo.text.bmp", |zoo| zoo.text.bmp = "four".into()),
        ("Zoo.inside.legs", |zoo| {
            if let Contained::Value(animal) = &mut zoo.inside {
                animal.legs = 1001;
            }
        }),
        ("Zoo.insideBits.line.b", |zoo| zoo.inside_bits = Some(Contained::Value(line()))),
        ("Zoo.message.value[0]", |zoo| {
            zoo.message.value = zoo::MessageValue::Names(vec!["".into()]);
        }),
    ];
    let subject = Subject::new("zoo.rs", "Zoo", 0);
    let mut faults = 0;
    for (path, breaks) in cases {
        let mut value = whole();
        breaks(&mut value);
        let all = [
            (Rules::Aper, written::<codec::Aper>(&value)),
            (Rules::Uper, written::<codec::Uper>(&value)),
            (Rules::CanonicalAper, written::<codec::CanonicalAper>(&value)),
            (Rules::CanonicalUper, written::<codec::CanonicalUper>(&value)),
            (Rules::Oer, written::<codec::Oer>(&value)),
            (Rules::Coer, written::<codec::Coer>(&value)),
        ];
        for (rules, ours) in all {
            let theirs = engine(&subject, &value, rules);
            let theirs = theirs.map_err(|error| (error.kind(), error.path().to_owned()));
            let ours = ours.map_err(|fault| (fault.kind(), fault.path().to_string()));
            assert_eq!(ours, theirs, "{rules:?} {path}");
            if let Err((_, said)) = ours {
                assert_eq!(said, *path, "{rules:?}");
                faults += 1;
            } else {
                assert!(matches!(rules, Rules::Oer | Rules::Coer), "{rules:?} {path}");
            }
        }
    }
    assert!(faults > 4 * cases.len());
}

#[test]
fn text_that_is_no_time_tells_its_path() {
    let mut value = whole();
    value.when.utc = "noon".into();
    for fault in [
        written::<codec::Ber>(&value),
        written::<codec::Cer>(&value),
        written::<codec::Uper>(&value),
        written::<codec::Oer>(&value),
    ] {
        let fault = fault.unwrap_err();
        assert_eq!(
            (fault.kind(), fault.path().to_string()),
            (ErrorKind::UtcTimeSyntax, "Zoo.when.utc".into())
        );
    }
}
