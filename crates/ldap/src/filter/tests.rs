//! Filters from RFC 4515 and others, and round trips.

use proptest::prelude::*;

use super::Evaluation;
use crate::dn::Dn;
use crate::generated::{AttributeValueAssertion, Filter, MatchingRuleAssertion, Substring, SubstringFilter};

/// The examples of RFC 4515 clause 4, printed as they came.
#[test]
fn examples() {
    for text in [
        "(cn=Babs Jensen)",
        "(!(cn=Tim Howes))",
        "(&(objectClass=Person)(|(sn=Jensen)(cn=Babs J*)))",
        "(o=univ*of*mich*)",
        "(seeAlso=)",
        "(cn:caseExactMatch:=Fred Flintstone)",
        "(cn:=Betty Rubble)",
        "(sn:dn:2.4.6.8.10:=Barney Rubble)",
        "(o:dn:=Ace Industry)",
        "(:1.2.3:=Wilma Flintstone)",
        "(:DN:2.4.6.8.10:=Dino)",
        "(o=Parens R Us \\28for all your parenthetical needs\\29)",
        "(cn=*\\2a*)",
        "(filename=C:\\5cMyFile)",
        "(bin=\\00\\00\\00\\04)",
        "(sn=Lu\u{10d}i\u{107})",
        "(1.3.6.1.4.1.1466.0=\\04\\02\\48\\69)",
        "(&)",
        "(|)",
        "(a>=5)",
        "(a<=5)",
        "(a~=5)",
        "(cn=*)",
    ] {
        let filter: Filter<'_> = text.parse().unwrap_or_else(|error| panic!("{text}: {error}"));
        let printed = filter.to_string();
        assert_eq!(printed.parse::<Filter<'_>>().unwrap(), filter, "{text}");
        if !text.contains("DN") && !text.contains("\\48") {
            assert_eq!(printed, text);
        }
    }
}

#[test]
fn faults() {
    let deep = "(!".repeat(100_000);
    let wide = format!("(|{})", "(cn=a)".repeat(100_000));
    assert!(wide.parse::<Filter<'_>>().is_ok());
    for text in [
        "",
        "(",
        "()",
        "(a)(b",
        "a\\",
        "(a=\\zz)",
        "(a=\\0)",
        "(cn=a",
        "(cn=a))",
        "(uid=*)(uid=*))(|(uid=*",
        "(cn<a)",
        "(c n=a)",
        "(=a)",
        "(!)",
        "(!(a=b)(c=d))",
        "(a=**)",
        "(a>=*)",
        "(:=a)",
        "(a:b:c:=d)",
        "(a=(b))",
        "(a=\0)",
        &deep,
    ] {
        assert!(text.parse::<Filter<'_>>().is_err(), "{text:.40}");
    }
}

#[test]
fn evaluation() {
    let dn: Dn = "uid=ada,ou=People,o=test".parse().unwrap();
    let attributes: &[(&str, &[&str])] = &[
        ("cn", &["Ada Lovelace"]),
        ("uidNumber", &["1010"]),
        ("member", &["CN=B,o=test"]),
        ("flags", &["6"]),
    ];
    let values = |name: &str| {
        let found = attributes.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, values)| values.iter().map(|value| value.as_bytes()).collect())
    };
    for (text, expected) in [
        ("(cn=ada  lovelace)", Evaluation::True),
        ("(cn=ada*love*)", Evaluation::True),
        ("(cn=*x*)", Evaluation::False),
        ("(uidNumber>=99)", Evaluation::True),
        ("(uidNumber<=99)", Evaluation::False),
        ("(member=cn=b, o=TEST)", Evaluation::True),
        ("(!(sn=*))", Evaluation::True),
        ("(&(cn=*)(|(sn=*)(uidNumber=1010)))", Evaluation::True),
        ("(&)", Evaluation::True),
        ("(|)", Evaluation::False),
        ("(ou:dn:=people)", Evaluation::True),
        ("(ou:=people)", Evaluation::False),
        ("(cn:caseExactMatch:=ada lovelace)", Evaluation::False),
        ("(flags:1.2.840.113556.1.4.803:=2)", Evaluation::True),
        ("(flags:1.2.840.113556.1.4.803:=3)", Evaluation::False),
        ("(flags:1.2.840.113556.1.4.804:=3)", Evaluation::True),
        ("(cn:1.2.3.4:=x)", Evaluation::Undefined),
        ("(!(cn:1.2.3.4:=x))", Evaluation::Undefined),
        ("(|(cn=*)(cn:1.2.3.4:=x))", Evaluation::True),
        ("(&(cn=*)(cn:1.2.3.4:=x))", Evaluation::Undefined),
    ] {
        let filter: Filter<'_> = text.parse().unwrap();
        assert_eq!(filter.evaluate(&dn, &values), expected, "{text}");
    }
}

fn octets() -> impl Strategy<Value = tercet_runtime::types::Octets<'static>> {
    proptest::collection::vec(any::<u8>(), 1..8).prop_map(Into::into)
}

fn name() -> impl Strategy<Value = tercet_runtime::types::Octets<'static>> {
    "[a-zA-Z][a-zA-Z0-9;-]{0,6}"
        .prop_filter("a word of its own", |name| !name.eq_ignore_ascii_case("dn"))
        .prop_map(|name| name.into_bytes().into())
}

fn filters() -> impl Strategy<Value = Filter<'static>> {
    let assertion = || {
        (name(), proptest::collection::vec(any::<u8>(), 0..8)).prop_map(|(attribute_desc, value)| {
            AttributeValueAssertion { attribute_desc, assertion_value: value.into() }
        })
    };
    let parts = (
        proptest::option::of(octets()),
        proptest::collection::vec(octets(), 0..3),
        proptest::option::of(octets()),
    );
    let substrings =
        (name(), parts).prop_filter_map("one part at least", |(r#type, (initial, any, last))| {
            let mut substrings: Vec<_> = initial.into_iter().map(Substring::Initial).collect();
            substrings.extend(any.into_iter().map(Substring::Any));
            substrings.extend(last.into_iter().map(Substring::Final));
            (!substrings.is_empty()).then_some(SubstringFilter { r#type, substrings })
        });
    let extensible = (proptest::option::of(name()), proptest::option::of(name()), octets(), any::<bool>())
        .prop_filter_map("attribute or rule", |(matching_rule, r#type, match_value, dn_attributes)| {
            let named = matching_rule.is_some() || r#type.is_some();
            named.then_some(MatchingRuleAssertion { matching_rule, r#type, match_value, dn_attributes })
        });
    let leaf = prop_oneof![
        assertion().prop_map(Filter::EqualityMatch),
        assertion().prop_map(Filter::GreaterOrEqual),
        assertion().prop_map(Filter::LessOrEqual),
        assertion().prop_map(Filter::ApproxMatch),
        name().prop_map(Filter::Present),
        substrings.prop_map(Filter::Substrings),
        extensible.prop_map(Filter::ExtensibleMatch),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Filter::And),
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Filter::Or),
            inner.prop_map(|filter| Filter::Not(Box::new(filter))),
        ]
    })
}

proptest! {
    #[test]
    fn round_trip(filter in filters()) {
        let text = filter.to_string();
        prop_assert_eq!(text.parse::<Filter<'_>>().unwrap(), filter, "{}", text);
    }

    #[test]
    fn never_panics(text in "[()&|!=*\\\\a-c<>~:;0-9 ]{0,40}") {
        _ = text.parse::<Filter<'_>>();
    }
}
