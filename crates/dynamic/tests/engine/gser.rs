//! GSER text both ways: by ASN.1 text, encoding and text, and text that is no value.

use crate::common::{hex, plan, to_hex};
use tercet_dynamic::{Options, Plan, Rules, Tape, decode, encode, gser};

/// Decodes, writes and reads again; what comes out has to be the same.
fn check(types: &str, octets: &str, text: &str) {
    let plan = plan(types);
    let octets = hex(octets);
    let mut tape = Tape::new();
    decode(&plan, root(&plan), &octets, &mut tape, &Options::default()).expect(types);
    let mut options = gser::Options::default();
    let mut out = Vec::new();
    gser::write(&plan.shape, tape.view(&octets), &mut out, &options);
    assert_eq!(String::from_utf8_lossy(&out), text, "{types}");
    assert_eq!(read(&plan, text), Ok(to_hex(&octets)), "{types}: {text}");
    options.indent = Some(2);
    let mut out = Vec::new();
    gser::write(&plan.shape, tape.view(&octets), &mut out, &options);
    assert_eq!(read(&plan, &String::from_utf8_lossy(&out)), Ok(to_hex(&octets)), "{types}");
}

fn root(plan: &Plan) -> tercet_dynamic::NodeId {
    plan.root("T").expect("a type T")
}

fn read(plan: &Plan, text: &str) -> Result<String, String> {
    let mut tape = Tape::new();
    gser::read(&plan.shape, root(plan), text.as_bytes(), &mut tape, &gser::ReadOptions::default())
        .map_err(|error| error.to_string())?;
    let mut out = Vec::new();
    encode(plan, Rules::Ber, tape.view(&[]), &mut out).map_err(|error| error.to_string())?;
    Ok(to_hex(&out))
}

fn same(types: &str, text: &str, octets: &str) {
    assert_eq!(read(&plan(types), text).as_deref(), Ok(octets), "{types}: {text}");
}

fn refuse(types: &str, text: &str, message: &str) {
    match read(&plan(types), text) {
        Ok(octets) => panic!("{types}: {text} is {octets}"),
        Err(error) => assert!(error.contains(message), "{types}: {error}"),
    }
}

#[test]
fn primitives() {
    check("T ::= BOOLEAN", "0101FF", "TRUE");
    check("T ::= INTEGER", "020900FFFFFFFFFFFFFFFF", "18446744073709551615");
    check("T ::= ENUMERATED { red, green }", "0A0101", "green");
    check("T ::= ENUMERATED { red, ... }", "0A0107", "7");
    check("T ::= NULL", "0500", "NULL");
    check("T ::= OCTET STRING", "040300FFA5", "'00FFA5'H");
    check("T ::= BIT STRING", "030205A0", "'101'B");
    check("T ::= BIT STRING { a(0), c(2) }", "030205A0", "{ a, c }");
    check("T ::= BIT STRING { a(0) }", "030205A0", "'101'B");
    check("T ::= BIT STRING { a(0), c(2) }", "030100", "{ }");
    check("T ::= OBJECT IDENTIFIER", "0603883703", "2.999.3");
    check("T ::= UTF8String", "0C076122623E26C3A9", "\"a\"\"b>&é\"");
    check("T ::= UTF8String", "0C00", "\"\"");
    check("T ::= UTCTime", "170D3236303130323033303430355A", "\"260102030405Z\"");
    for (octets, text) in [
        ("090380FF03", "15E-1"),
        ("0900", "0"),
        ("090140", "PLUS-INFINITY"),
        ("090141", "MINUS-INFINITY"),
        ("090142", "NOT-A-NUMBER"),
        ("090143", "-0"),
        ("09058210000001", "{ mantissa 1, base 2, exponent 1048576 }"),
    ] {
        check("T ::= REAL", octets, text);
    }
    same("T ::= INTEGER { low(3) }", "low", "020103");
    same("T ::= BIT STRING", "'A'H", "030204A0");
    same("T ::= REAL", "0.15E1", "090380FF03");
    refuse("T ::= REAL", "{ mantissa 1, base 2 }", "mantissa, base and exponent");
    refuse("T ::= BOOLEAN", "true", "TRUE or FALSE");
    refuse("T ::= INTEGER", "low", "no item `low`");
    refuse("T ::= OCTET STRING", "'0'H", "pairs of hexadecimal");
    refuse("T ::= NULL", "NULL NULL", "text after the value");
}

#[test]
fn structures() {
    let point = "T ::= SEQUENCE { x INTEGER, y BOOLEAN OPTIONAL, z INTEGER DEFAULT 5 }";
    check(point, "30068001018101FF", "{ x 1, y TRUE }");
    check("T ::= SEQUENCE {}", "3000", "{ }");
    check("T ::= CHOICE { a INTEGER, b NULL }", "8100", "b:NULL");
    check("T ::= CHOICE { a CHOICE { b NULL } }", "A0028000", "a:b:NULL");
    check("T ::= SEQUENCE OF INTEGER", "3006020101020102", "{ 1, 2 }");
    check("T ::= SEQUENCE OF SEQUENCE OF NULL", "3006300030020500", "{ { }, { NULL } }");
    same("T ::= SET { a INTEGER, b INTEGER }", "{b 2,a 1}", "3106800101810102");
    same("T ::= SEQUENCE { a INTEGER, ... }", "{ a 1, b { c { 1, 2 } } }", "3003800101");
    refuse(point, "{ y TRUE }", "T.x: this mandatory component is missing");
    refuse(point, "{ x 1, x 1 }", "`x` is there twice");
    refuse(point, "{ y TRUE, x 1 }", "not at its place");
    refuse(point, "{ x 1, w 2 }", "no component `w`");
    refuse(point, "{ x 1 2 }", "T.x: `,` or `}` expected");
    refuse(point, "{ x 1, }", "a comma without an item");
    refuse(point, "{ x one }", "T.x: no item `one` in this INTEGER (line 1, column 5)");
    refuse("T ::= SEQUENCE OF NULL", "{ NULL, NULL x }", "T[1]: `,` or `}` expected");
    refuse("T ::= CHOICE { a NULL }", "b:NULL", "no alternative `b`");
}

#[test]
fn contents() {
    check("T ::= OCTET STRING (CONTAINING A) A ::= INTEGER", "0403020105", "CONTAINING 5");
    same("T ::= OCTET STRING (CONTAINING A) A ::= INTEGER", "'020105'H", "0403020105");
    let open = "K ::= CLASS { &id INTEGER UNIQUE, &Type } WITH SYNTAX { &id IS &Type }
        Set K ::= { { 1 IS INTEGER } | { 2 IS Flags } }
        Flags ::= SEQUENCE OF BOOLEAN
        T ::= SEQUENCE { id K.&id({Set}), value K.&Type({Set}{@id}) }";
    check(open, "3008800101A103020105", "{ id 1, value 5 }");
    check(open, "300A800102A10530030101FF", "{ id 2, value { TRUE } }");
    check(open, "3008800103A103020105", "{ id 3, value '020105'H }");
    refuse(open, "{ id 3, value 5 }", "T.value: the type of this value is not known");
    let flag = "K ::= CLASS { &id BOOLEAN UNIQUE, &Type } WITH SYNTAX { &id IS &Type }
        Set K ::= { { TRUE IS INTEGER } | { FALSE IS NULL } }
        T ::= SEQUENCE { id K.&id({Set}), value K.&Type({Set}{@id}) }";
    check(flag, "30088001FFA103020105", "{ id TRUE, value 5 }");
    check(flag, "3007800100A1020500", "{ id FALSE, value NULL }");
}

/// RFC 3641 3.3.
#[test]
fn choice_of_strings() {
    let types = "T ::= DirectoryString
        DirectoryString ::= CHOICE { printable PrintableString, utf8 UTF8String }";
    let plan = plan(types);
    same(types, "\"abc\"", "8003616263");
    same(types, "\"é\"", "8102C3A9");
    same(types, "utf8:\"abc\"", "8103616263");
    let octets = hex("8103616263");
    let mut tape = Tape::new();
    decode(&plan, root(&plan), &octets, &mut tape, &Options::default()).expect(types);
    let mut options = gser::Options::default();
    options.choices_of_strings.push("DirectoryString".into());
    let mut out = Vec::new();
    gser::write(&plan.shape, tape.view(&octets), &mut out, &options);
    assert_eq!(String::from_utf8_lossy(&out), "\"abc\"");
    refuse("T ::= CHOICE { a UTF8String, n INTEGER }", "\"abc\"", "the chosen alternative");
}

#[test]
fn keys_that_are_choices() {
    let types = "T ::= SEQUENCE { id K.&id({Set}), value K.&Type({Set}{@id}) }
        K ::= CLASS { &id Id UNIQUE, &Type }
        Id ::= CHOICE { a CHOICE { x INTEGER, y OBJECT IDENTIFIER }, b INTEGER }
        Set K ::= { { &id a : x : 1, &Type BOOLEAN } | { &id b : 1, &Type NULL } }";
    same(types, "{ id a:x:1, value TRUE }", "300CA005A003800101A1030101FF");
    same(types, "{ id b:1, value NULL }", "3009A003810101A1020500");
    refuse(types, "{ id a:x:2, value TRUE }", "T.value: the type of this value is not known");
}

#[test]
fn presence_and_places() {
    let group = "T ::= SEQUENCE { i INTEGER, ..., [[ a NULL, b NULL OPTIONAL ]] }";
    same(group, "{ i 1 }", "3003800101");
    // X.680 25.13.
    refuse(group, "{ i 1, b NULL }", "T.a: this mandatory component is missing (line 1, column 1)");
    let list = "T ::= SEQUENCE OF SEQUENCE { b BIT STRING { x(0) } }";
    refuse(list, "{ { b { x } }, { b { y } } }", "T[1].b: no bit `y` in this BIT STRING (line 1, column 20)");
    refuse(list, "{ { b { x x } } }", "T[0].b: the name of a bit expected (line 1, column 7)");
    refuse(list, "{ { b { x } 5 } }", "T[0].b: `,` or `}` expected (line 1, column 13)");
    refuse(list, "{ { b { x } }, }", "T[0]: a comma without an item after it (line 1, column 14)");
    refuse(list, "{ } 5", "text after the value (line 1, column 5)");
    refuse(list, "{ }, { }", "text after the value (line 1, column 4)");
    let deep = format!("{}{{}}{}", "{ n ".repeat(70), "}".repeat(70));
    let message = "values are nested deeper than the limit (line 1, column 257)";
    refuse("T ::= SEQUENCE { n T OPTIONAL }", &deep, message);
}

/// Whatever the text: a value or an error, also on a small stack.
#[test]
fn hostile_text() {
    let tree =
        "T ::= SEQUENCE { t T OPTIONAL, c C OPTIONAL, s SEQUENCE OF T OPTIONAL, u UTF8String OPTIONAL }
        C ::= CHOICE { c C, n NULL }";
    let deep = |begin: &str, end: &str| begin.repeat(200_000) + &end.repeat(200_000);
    refuse(tree, &deep("{ t ", " }"), "values are nested deeper than the limit");
    refuse(tree, &format!("{{ c {}n:NULL }}", deep("c:", "")), "values are nested deeper than the limit");
    refuse(tree, "{ u \"abc", "a string without end");
    refuse(tree, "{ u 'AB", "without end");
    refuse(tree, "{ u 'AB'X }", "`H` or `B`");
    refuse(tree, "}", "a brace that was not opened");
    refuse(tree, "{ t {}", "a brace that is not closed");
    refuse(tree, "", "`{` expected");
    refuse(tree, "{ u \u{1} }", "begins no value");
    refuse("T ::= REAL", "1E99999999999999999999", "exponent");
    let plan = plan(tree);
    let text = "{ t { u \"a\"\"b\" }, c c:n:NULL, s { { }, { t { } } }, u \"é\" }";
    assert!(read(&plan, text).is_ok());
    let try_all = move || {
        for end in 0..text.len() {
            if let Some(short) = text.get(..end) {
                assert!(read(&plan, short).is_err(), "{short}");
            }
        }
        for at in 0..text.len() {
            for octet in 0..=255 {
                let mut changed = text.as_bytes().to_vec();
                changed[at] = octet;
                let mut tape = Tape::new();
                let options = gser::ReadOptions::default();
                let _ = gser::read(&plan.shape, root(&plan), &changed, &mut tape, &options);
            }
        }
        let deepest = format!("{}{}", "{ t ".repeat(63) + "{", "} ".repeat(64));
        assert!(read(&plan, &deepest).is_ok());
    };
    let thread = std::thread::Builder::new().stack_size(256 << 10).spawn(try_all).expect("a thread");
    thread.join().expect("no panic and no overflow");
}
