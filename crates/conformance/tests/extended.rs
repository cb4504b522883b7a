//! Extended XER by the encoding instructions of a published specification: the common alerting protocol (X.1303).

use tercet_conformance::corpora;
use tercet_conformance::engine::Specification;
use tercet_plan::Rules;

const ALERT: &str = concat!(
    "<cap:alert xmlns:cap=\"urn:oasis:names:tc:emergency:cap:1.1\"><cap:identifier>A-1</cap:identifier>",
    "<cap:sender>office@example.org</cap:sender><cap:sent>2026-01-02T03:04:05+01:00</cap:sent>",
    "<cap:status>Actual</cap:status><cap:msgType>Alert</cap:msgType><cap:scope>Public</cap:scope>",
    "<cap:code>one</cap:code><cap:code>two</cap:code><cap:info><cap:language/><cap:category>CBRNE</cap:category>",
    "<cap:event>flood</cap:event><cap:urgency>Future</cap:urgency><cap:severity>Minor</cap:severity>",
    "<cap:certainty>Likely</cap:certainty><cap:eventCode><cap:valueName>a</cap:valueName>",
    "<cap:value>b</cap:value></cap:eventCode></cap:info></cap:alert>"
);

#[test]
fn alerts() {
    let file = "asn1/specs/itu-db/x1303/itu-t_x_x1303_2007_CAP-1-1.asn1";
    let Some(file) = tercet_testing::corpora(file) else { return };
    let text = corpora::read_text(&file).expect("a file");
    // A pretty-printer has lost the ends of lines that end comments between these two.
    let (before, rest) = text.split_once("\nString ::=").expect("a type String");
    let (_, behind) = rest.split_once("\nLanguage ::=").expect("a type Language");
    let strings = "\nString ::= UTF8String\nIdentifierString ::= String\nLanguage ::=";
    let text = [before, strings, behind].concat();
    let specification = Specification::from_text("cap.asn", &text).expect("a specification");
    let mut alert = specification.root("Alert").expect("the type");
    let value = alert.read_text(Rules::Exer, ALERT).expect("an alert");
    assert_eq!(value["status"], "actual");
    assert_eq!(value["code-list"], serde_json::json!(["one", "two"]));
    assert_eq!(value["info-list"][0]["language"], "en-US");
    assert_eq!(value["info-list"][0]["category-list"][0], "cBRNE");
    assert_eq!(alert.write_text(Rules::Exer, &value).as_deref(), Ok(ALERT));
    for end in 0..ALERT.len() {
        assert!(alert.read_text(Rules::Exer, &ALERT[..end]).is_err());
    }
}
