//! Values as JSON text and back: type, BER, text.

use crate::common::{again, hex, plan, to_hex};
use std::sync::Arc;
use tercet_dynamic::json::{self, JsonWriter, OpenTypes, Options};
use tercet_dynamic::text::Octets;
use tercet_dynamic::{Plan, Rules, Tape, Unknown, decode, encode};
use tercet_plan::Kind;
use tercet_plan::shape::{Key, Row, Table, TableRef};

/// The text of an encoding.
fn text_of(plan: &Plan, input: &[u8], options: &Options) -> String {
    let mut decoding = tercet_dynamic::Options::default();
    decoding.unknown = Unknown::Keep;
    let mut writer = JsonWriter::new(&plan.shape, options.clone());
    let root = plan.root("T").expect("a type T");
    if let Err(error) = decode(plan, root, input, &mut writer, &decoding) {
        return error.to_string();
    }
    let direct = String::from_utf8(writer.text().to_vec()).expect("UTF-8");
    let mut tape = Tape::new();
    decode(plan, root, input, &mut tape, &decoding).expect("again");
    let mut replayed = Vec::new();
    json::write(&plan.shape, tape.view(input), &mut replayed, options);
    assert_eq!(direct.as_bytes(), replayed);
    direct
}

/// Reads a text and encodes it, or gives the error.
fn octets_of(plan: &Plan, text: &str, options: &Options) -> Result<Vec<u8>, String> {
    let mut tape = Tape::new();
    let root = plan.root("T").expect("a type T");
    json::read(&plan.shape, root, text.as_bytes(), &mut tape, options).map_err(|error| error.to_string())?;
    let mut out = Vec::new();
    encode(plan, Rules::Ber, tape.view(&[]), &mut out).map_err(|error| format!("encode: {error}"))?;
    Ok(out)
}

/// Each case: BER and its text; the text gives the same BER again.
fn check_with(plan: &Plan, options: &Options, cases: &[(&str, &str)]) {
    for (octets, text) in cases {
        assert_eq!(text_of(plan, &hex(octets), options), *text, "{octets}");
        let back = octets_of(plan, text, options).map(|o| to_hex(&o));
        assert_eq!(
            back,
            again(plan, "T", &hex(octets), Rules::Ber).map(|o| to_hex(&o)).map_err(|e| e.to_string()),
            "{text}"
        );
    }
}

fn check(body: &str, cases: &[(&str, &str)]) {
    check_with(&plan(body), &Options::default(), cases);
}

/// Each case: text and the octets that it gives, or the error.
fn check_read(body: &str, cases: &[(&str, &str)]) {
    let plan = plan(body);
    for (text, expect) in cases {
        let got =
            octets_of(&plan, text, &Options::default()).map_or_else(|error| error, |octets| to_hex(&octets));
        assert_eq!(got, *expect, "{text}");
    }
}

#[test]
fn primitive_values() {
    check("T ::= BOOLEAN", &[("01 01 FF", "true"), ("01 01 00", "false")]);
    check("T ::= NULL", &[("05 00", "null")]);
    check(
        "T ::= INTEGER { one(1) }",
        &[
            ("02 01 01", "1"),
            ("02 01 80", "-128"),
            ("02 08 80 00 00 00 00 00 00 00", "-9223372036854775808"),
            ("02 09 00 FF FF FF FF FF FF FF FF", "18446744073709551615"),
            ("02 09 FF 00 00 00 00 00 00 00 00", "-18446744073709551616"),
            (
                "02 11 01 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00",
                "340282366920938463463374607431768211456",
            ),
        ],
    );
    check(
        "T ::= ENUMERATED { a, b(5), ... }",
        &[("0A 01 00", "\"a\""), ("0A 01 05", "\"b\""), ("0A 01 07", "7")],
    );
    check("T ::= OCTET STRING", &[("04 00", "\"\""), ("04 03 00 AB FF", "\"00ABFF\"")]);
    check("T ::= BIT STRING (SIZE (12))", &[("03 03 04 AB C0", "\"ABC0\"")]);
    // Where the size may be another, values tell theirs (X.697 7.2.2 g).
    check(
        "T ::= BIT STRING (SIZE (2, ...))",
        &[
            ("03 02 06 C0", "{\"value\":\"C0\",\"length\":2}"),
            ("03 02 05 E0", "{\"value\":\"E0\",\"length\":3}"),
        ],
    );
    check(
        "T ::= BIT STRING { a(0) }",
        &[
            ("03 03 04 AB C0", "{\"value\":\"ABC0\",\"length\":12}"),
            ("03 01 00", "{\"value\":\"\",\"length\":0}"),
        ],
    );
    check("T ::= OBJECT IDENTIFIER", &[("06 03 88 37 03", "\"2.999.3\"")]);
    check("T ::= RELATIVE-OID", &[("0D 02 87 67", "\"999\"")]);
    check(
        "T ::= REAL",
        &[
            ("09 00", "0"),
            ("09 01 43", "\"-0\""),
            ("09 01 40", "\"INF\""),
            ("09 01 41", "\"-INF\""),
            ("09 01 42", "\"NaN\""),
            ("09 03 80 01 05", "10.0"),
            ("09 03 C0 FF 01", "-0.5"),
        ],
    );
    let decimal = hex("09 06 03 31 35 2E 45 31");
    assert_eq!(text_of(&plan("T ::= REAL"), &decimal, &Options::default()), "{\"base10Value\":150.0}");
    let mut numbers = Options::default();
    numbers.decimals_as_numbers = true;
    assert_eq!(text_of(&plan("T ::= REAL"), &decimal, &numbers), "150.0");
    // Exact beyond an f64, and then decimal for ever: 2^-60 + 1.
    let real = plan("T ::= REAL");
    let text = text_of(&real, &hex("09 0A 80 C4 10 00 00 00 00 00 00 01"), &Options::default());
    assert_eq!(text, "1000000000000000000867361737988403547205962240695953369140625e-60");
    let decimal = octets_of(&real, &text, &Options::default()).expect("decimal");
    assert_eq!(text_of(&real, &decimal, &numbers), text);
    check(
        "T ::= UTF8String",
        &[
            ("0C 00", "\"\""),
            ("0C 04 61 62 63 64", "\"abcd\""),
            ("0C 09 61 22 5C 0A 0D 09 00 1F 7F", "\"a\\\"\\\\\\n\\r\\t\\u0000\\u001f\u{7f}\""),
            ("0C 06 C3 A9 F0 9F 98 80", "\"é😀\""),
        ],
    );
    check("T ::= BMPString", &[("1E 04 00 E9 20 AC", "\"é€\"")]);
    check(
        "T ::= GeneralizedTime",
        &[("18 0F 32 30 32 31 30 32 32 38 31 32 30 30 30 30 5A", "\"20210228120000Z\"")],
    );
    check("T ::= UTCTime", &[("17 0B 32 31 30 32 32 38 31 32 30 30 5A", "\"2102281200Z\"")]);
    check("T ::= DATE", &[("1F 1F 08 32 30 32 31 30 32 32 38", "\"2021-02-28\"")]);
}

#[test]
fn constructed_values() {
    let t = "T ::= SEQUENCE { a INTEGER, b BOOLEAN OPTIONAL, c SET OF C, d T OPTIONAL } C ::= CHOICE { x NULL, y INTEGER }";
    check(
        t,
        &[
            ("30 05 80 01 05 A2 00", "{\"a\":5,\"c\":[]}"),
            (
                "30 0D 80 01 05 81 01 FF A2 05 80 00 81 01 03",
                "{\"a\":5,\"b\":true,\"c\":[{\"x\":null},{\"y\":3}]}",
            ),
            ("30 0C 80 01 05 A2 00 A3 05 80 01 06 A2 00", "{\"a\":5,\"c\":[],\"d\":{\"a\":6,\"c\":[]}}"),
        ],
    );
    let mut options = Options::default();
    options.indent = Some(2);
    check_with(
        &plan(t),
        &options,
        &[(
            "30 0D 80 01 05 81 01 FF A2 05 80 00 81 01 03",
            "{\n  \"a\": 5,\n  \"b\": true,\n  \"c\": [\n    {\n      \"x\": null\n    },\n    {\n      \"y\": 3\n    }\n  ]\n}",
        )],
    );
}

#[test]
fn unknown_additions_are_kept_when_asked_for() {
    let plan = plan("T ::= SEQUENCE { a INTEGER, ..., c C OPTIONAL } C ::= CHOICE { x NULL, ... }");
    let input = "30 0A 80 01 05 85 01 07 A1 02 89 00";
    assert_eq!(text_of(&plan, &hex(input), &Options::default()), "{\"a\":5,\"c\":{\"...\":[\"8900\"]}}");
    let mut options = Options::default();
    options.unknown = true;
    assert_eq!(
        text_of(&plan, &hex(input), &options),
        "{\"a\":5,\"c\":{\"...\":[\"8900\"]},\"...\":[\"850107\"]}"
    );
    let text = "{\"a\":5,\"...\":[\"850107\",\"8900\"]}";
    assert_eq!(octets_of(&plan, text, &options).map(|o| to_hex(&o)).as_deref(), Ok("30088001058501078900"));
}

#[test]
fn defaults() {
    let plan = plan(
        "T ::= SEQUENCE { a INTEGER DEFAULT 7, b S DEFAULT { x {1, 2}, y TRUE } } S ::= SEQUENCE { x SEQUENCE OF INTEGER, y BOOLEAN }",
    );
    let mut decoding = tercet_dynamic::Options::default();
    decoding.fill_defaults = true;
    let mut writer = JsonWriter::new(&plan.shape, Options::default());
    decode(&plan, plan.root("T").expect("T"), &[0x30, 0], &mut writer, &decoding).expect("decodes");
    assert_eq!(String::from_utf8_lossy(writer.text()), "{\"a\":7,\"b\":{\"x\":[1,2],\"y\":true}}");
}

#[test]
fn reading_fills_defaults_when_asked() {
    let plan = plan("T ::= SEQUENCE { a INTEGER DEFAULT 7, b NULL }");
    let root = plan.root("T").expect("T");
    for (fill, expect) in [(false, "{\"b\":null}"), (true, "{\"a\":7,\"b\":null}")] {
        let mut options = Options::default();
        options.fill_defaults = fill;
        let mut tape = Tape::new();
        json::read(&plan.shape, root, b"{\"b\":null}", &mut tape, &options).expect("reads");
        let mut text = Vec::new();
        json::write(&plan.shape, tape.view(&[]), &mut text, &options);
        assert_eq!(String::from_utf8_lossy(&text), expect);
    }
}

#[test]
fn open_types_with_a_flag_as_key() {
    check(
        "K ::= CLASS { &id BOOLEAN UNIQUE, &Type }
         Set K ::= { { &id TRUE, &Type INTEGER } | { &id FALSE, &Type NULL } }
         T ::= SEQUENCE { id K.&id({Set}), value K.&Type({Set}{@id}) }",
        &[
            ("30 08 80 01 FF A1 03 02 01 05", "{\"id\":true,\"value\":5}"),
            ("30 07 80 01 00 A1 02 05 00", "{\"id\":false,\"value\":null}"),
        ],
    );
}

#[test]
fn containing_and_open_types() {
    let mut plan = plan(
        "T ::= SEQUENCE { a OCTET STRING (CONTAINING INTEGER) OPTIONAL, m SEQUENCE { v ANY, k INTEGER } OPTIONAL }
         Flag ::= BOOLEAN
         Octets ::= OCTET STRING",
    );
    // As `v K.&Type({Set}{@k}), k K.&id({Set})` with Set ::= { 1 Flag | 3 Octets }.
    let mut shape = (*plan.shape).clone();
    let row = |key, name: &str| Row {
        keys: vec![Key::Int(key)],
        node: shape.root(name).expect("a root"),
        type_name: shape.roots.iter().map(|root| root.name).find(|id| shape.name(*id).ends_with(name)),
    };
    let rows = vec![row(1, "Flag"), row(3, "Octets")];
    shape.tables.push(Table { name: None, extensible: true, rows });
    shape.registers = 1;
    let open = shape.nodes.iter_mut().find(|node| node.kind == Kind::Open).expect("an open type");
    open.table = Some(TableRef { table: 0, keys: vec![0] });
    let key = shape.fields.iter().position(|field| shape.name(field.name) == "k").expect("k");
    shape.fields[key].key = Some(0);
    plan.shape = Arc::new(shape);
    let cases = [
        ("30 05 80 03 02 01 05", "{\"a\":{\"containing\":5}}"),
        ("30 04 80 02 02 01", "{\"a\":\"0201\"}"),
        // The key stands behind the open type, which is no matter for the reader.
        ("30 0A A1 08 A0 03 01 01 FF 81 01 01", "{\"m\":{\"v\":true,\"k\":1}}"),
        ("30 0A A1 08 A0 03 01 01 FF 81 01 09", "{\"m\":{\"v\":\"0101FF\",\"k\":9}}"),
    ];
    for (octets, text) in cases {
        if text_of(&plan, &hex(octets), &Options::default()) == text {
            check_with(&plan, &Options::default(), &[(octets, text)]);
        }
        let back = octets_of(&plan, text, &Options::default()).map(|o| to_hex(&o));
        assert_eq!(back.as_deref(), Ok(octets.replace(' ', "").as_str()), "{text}");
    }
    let mut options = Options::default();
    options.open_types = OpenTypes::Tagged;
    let text = "{\"m\":{\"v\":{\"$type\":\"M.Flag\",\"$value\":true},\"k\":1}}";
    let back = octets_of(&plan, text, &options).map(|o| to_hex(&o));
    assert_eq!(back.as_deref(), Ok("300AA108A0030101FF810101"));
}

#[test]
fn other_forms_are_read() {
    check_read(
        "T ::= INTEGER { one(1) }",
        &[
            ("1.0", "020101"),
            ("1e2", "020164"),
            ("-0", "020100"),
            ("\"one\"", "020101"),
            ("9007199254740993", "020720000000000001"),
            ("18446744073709551615", "020900FFFFFFFFFFFFFFFF"),
            ("1.5", "T: an integer of reasonable size expected (line 1, column 1)"),
            ("1e999999999", "T: an integer of reasonable size expected (line 1, column 1)"),
            ("01", "a number with superfluous zeros before it (line 1, column 1)"),
            ("1 1", "text after the value (line 1, column 3)"),
            ("", "a value expected, but the text ends (line 1, column 1)"),
        ],
    );
    check_read(
        "T ::= REAL",
        &[
            ("0.1", "090980C90CCCCCCCCCCCCD"),
            ("1", "0903800001"),
            ("1e999999999", "090D03312E45393939393939393939"),
            ("-0.0", "090143"),
            (
                "1e99999999999999999999",
                "T: a number, or an exponent of less than 64 bits, expected (line 1, column 1)",
            ),
            ("{\"mantissa\":-3,\"base\":2,\"exponent\":70000}", "0905C201117003"),
            ("Infinity", "a value expected (line 1, column 1)"),
            ("\"inf\"", "T: a number, INF, -INF, NaN or -0 expected (line 1, column 1)"),
        ],
    );
    check_read(
        "T ::= ENUMERATED { a, b }",
        &[("1", "0A0101"), ("\"c\"", "T: no item `c` in this ENUMERATED (line 1, column 1)")],
    );
    check_read(
        "T ::= BIT STRING",
        &[
            ("\"F0\"", "030200F0"),
            ("{\"bits\":\"f0\",\"len\":4}", "030204F0"),
            ("{\"length\":4,\"value\":\"F0\"}", "030204F0"),
            (
                "{\"value\":\"ff\",\"length\":4}",
                "T: the 4 bits after the last are not all zero (line 1, column 1)",
            ),
            ("{\"value\":\"ff\",\"length\":-1}", "T.length: a number of bits expected (line 1, column 24)"),
            ("{\"value\":\"ff\",\"length\":9}", "T: 1 bytes for 9 bits (line 1, column 1)"),
            ("{\"value\":\"ff\",\"length\":8,\"x\":1}", "T: an unexpected member `x` (line 1, column 26)"),
        ],
    );
    check_read(
        "T ::= OCTET STRING",
        &[
            ("\"abCD\"", "0402ABCD"),
            ("\"a\"", "T: pairs of hexadecimal digits expected (line 1, column 1)"),
            ("\"é\"", "T: pairs of hexadecimal digits expected (line 1, column 1)"),
        ],
    );
    check_read(
        "T ::= UTF8String",
        &[
            ("\"\\ud83d\\ude00\\/\\u00e9\"", "0C07F09F98802FC3A9"),
            ("\"\\ud83d\"", "half a surrogate pair (line 1, column 2)"),
            ("\"\\ude00\"", "half a surrogate pair (line 1, column 2)"),
            ("\"\\x\"", "an unknown escape (line 1, column 2)"),
            ("\"a\nb\"", "a control character in a string (line 1, column 3)"),
            ("\"a", "a string without end (line 1, column 1)"),
        ],
    );
    check_read(
        "T ::= SEQUENCE { i INTEGER, s SEQUENCE OF BOOLEAN OPTIONAL }",
        &[
            ("{\"s\":[true],\"i\":1}", "3008800101A1030101FF"),
            ("{\"i\":1,\"i\":2}", "T: `i` is there twice (line 1, column 8)"),
            ("{\"I\":1}", "T: no component `I` in this type (line 1, column 2)"),
            ("{}", "T.i: this mandatory component is missing (line 1, column 1)"),
            ("{\n \"i\": 1,\n \"s\": [true,\n 7]}", "T.s[1]: true or false expected (line 4, column 2)"),
            ("{\"i\":1,}", "the name of a member expected, in double quotation marks (line 1, column 8)"),
            ("[1]", "T: an object expected (line 1, column 1)"),
        ],
    );
    check_read(
        "T ::= CHOICE { a NULL, b INTEGER }",
        &[
            ("{\"a\":null,\"b\":1}", "T: a CHOICE has one alternative, a second is here (line 1, column 11)"),
            ("{}", "T: an object with one member, the chosen alternative, expected (line 1, column 1)"),
            ("{\"c\":1}", "T: no alternative `c` in this CHOICE (line 1, column 2)"),
            ("null", "T: an object with one member, the chosen alternative, expected (line 1, column 1)"),
        ],
    );
    check_read(
        "T ::= SEQUENCE { i INTEGER, ..., [[ a NULL, b NULL OPTIONAL ]] }",
        &[
            ("{\"i\":1,\"zz\":[{}]}", "3003800101"),
            ("{\"i\":1,\"zz\":1,\"zz\":1}", "T: `zz` is there twice (line 1, column 15)"),
            ("{\"i\":1,\"b\":null}", "T.a: this mandatory component is missing (line 1, column 1)"),
        ],
    );
}

#[test]
fn bits_that_only_fill_are_written_as_zero() {
    let plan = plan("T ::= BIT STRING");
    assert_eq!(text_of(&plan, &hex("03 02 04 FF"), &Options::default()), "{\"value\":\"F0\",\"length\":4}");
}

#[test]
fn base64() {
    let mut options = Options::default();
    options.octets = Octets::Base64;
    check_with(
        &plan("T ::= OCTET STRING"),
        &options,
        &[
            ("04 00", "\"\""),
            ("04 01 FF", "\"/w==\""),
            ("04 02 FF 00", "\"/wA=\""),
            ("04 03 61 62 63", "\"YWJj\""),
        ],
    );
}

#[test]
fn deep_and_wide_texts_are_bounded() {
    let plan = plan("T ::= SEQUENCE { v INTEGER OPTIONAL, next T OPTIONAL, ... }");
    let nested = |n: usize| format!("{}{{}}{}", "{\"next\":".repeat(n), "}".repeat(n));
    let handle = std::thread::Builder::new().stack_size(256 << 10);
    let test = move || {
        assert!(octets_of(&plan, &nested(60), &Options::default()).is_ok());
        let error = octets_of(&plan, &nested(100_000), &Options::default()).expect_err("too deep");
        assert_eq!(error, "values are nested deeper than the limit (line 1, column 1089)");
        let many: Vec<String> = (0..100_000).map(|i| format!("\"u{i}\":{i}")).collect();
        assert!(octets_of(&plan, &format!("{{{}}}", many.join(",")), &Options::default()).is_ok());
        let around = |n: usize| format!("{}7{}", "{\"next\":".repeat(n), "}".repeat(n));
        let error = octets_of(&plan, &around(60), &Options::default()).expect_err("no object");
        assert_eq!(error, "T.next.next.next … next.next.next.next: an object expected (line 1, column 481)");
        let error = octets_of(&plan, &around(100), &Options::default()).expect_err("too deep");
        let message = "values are nested deeper than the limit (line 1, column 513)";
        assert_eq!(error, format!("T.next.next.next … next.next.next.next: {message}"));
    };
    handle.spawn(test).expect("thread").join().expect("no overflow");
}

#[test]
fn large_integers_take_reasonable_time() {
    let plan = plan("T ::= INTEGER");
    let mut input = vec![2, 0x83, 0x01, 0x90, 0x00];
    input.extend((0..0x19000u32).map(|i| (i * 7 + 1) as u8));
    let text = text_of(&plan, &input, &Options::default());
    assert_eq!(octets_of(&plan, &text, &Options::default()).map(|o| o == input), Ok(true));
}
