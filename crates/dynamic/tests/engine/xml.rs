//! XML text both ways: by ASN.1 text, encoding and XML, and text that is no value.

use crate::common::{hex, plan, to_hex};
use tercet_dynamic::{Options, Plan, Rules, Tape, decode, encode, xml};

/// Decodes, writes and reads again; what comes out has to be the same.
fn check(types: &str, octets: &str, text: &str) {
    let plan = plan(types);
    let octets = hex(octets);
    let mut tape = Tape::new();
    decode(&plan, root(&plan), &octets, &mut tape, &Options::default()).expect(types);
    let mut out = Vec::new();
    xml::write(&plan.shape, tape.view(&octets), &mut out, &xml::Options::default());
    assert_eq!(String::from_utf8_lossy(&out), text, "{types}");
    assert_eq!(read(&plan, text), Ok(to_hex(&octets)), "{types}: {text}");
    let mut options = xml::Options::default();
    options.indent = Some(2);
    let mut out = Vec::new();
    xml::write(&plan.shape, tape.view(&octets), &mut out, &options);
    assert_eq!(read(&plan, &String::from_utf8_lossy(&out)), Ok(to_hex(&octets)), "{types}");
}

fn root(plan: &Plan) -> tercet_dynamic::NodeId {
    plan.root("T").expect("a type T")
}

/// The encoding of a text, or what is wrong with it.
fn read(plan: &Plan, text: &str) -> Result<String, String> {
    let mut tape = Tape::new();
    xml::read(&plan.shape, root(plan), text.as_bytes(), &mut tape, &xml::ReadOptions::default())
        .map_err(|error| error.to_string())?;
    let mut out = Vec::new();
    encode(plan, Rules::Ber, tape.view(&[]), &mut out).map_err(|error| error.to_string())?;
    Ok(to_hex(&out))
}

/// Another text of the same value.
fn same(types: &str, text: &str, octets: &str) {
    assert_eq!(read(&plan(types), text).as_deref(), Ok(octets), "{types}: {text}");
}

/// Text that is refused, and a part of the message.
fn refuse(types: &str, text: &str, message: &str) {
    match read(&plan(types), text) {
        Ok(octets) => panic!("{types}: {text} is {octets}"),
        Err(error) => assert!(error.contains(message), "{types}: {error}"),
    }
}

#[test]
fn version_brackets() {
    // X.680 25.13.
    let group = "T ::= SEQUENCE { i INTEGER, ..., [[ a NULL, b NULL OPTIONAL ]] }";
    same(group, "<T><i>1</i></T>", "3003800101");
    let (text, message) =
        ("<T><i>1</i><b/></T>", "T.a: this mandatory component is missing (line 1, column 1)");
    refuse(group, text, message);
    let plan = plan(group);
    let options = xml::ReadOptions::default();
    let read = xml::extended::read(&plan.shape, root(&plan), text.as_bytes(), &mut Tape::new(), &options);
    assert_eq!(read.map_err(|error| error.to_string()), Err(message.to_owned()));
}

#[test]
fn primitives() {
    check("T ::= BOOLEAN", "0101FF", "<T><true/></T>");
    check("T ::= INTEGER", "020900FFFFFFFFFFFFFFFF", "<T>18446744073709551615</T>");
    check("T ::= INTEGER", "0207DFFFFFFFFFFFFF", "<T>-9007199254740993</T>");
    check("T ::= ENUMERATED { red, green }", "0A0101", "<T><green/></T>");
    check("T ::= ENUMERATED { red, ... }", "0A0107", "<T>7</T>");
    check("T ::= NULL", "0500", "<T/>");
    check("T ::= OCTET STRING", "040300FFA5", "<T>00FFA5</T>");
    check("T ::= OCTET STRING", "0400", "<T/>");
    check("T ::= BIT STRING", "030205A0", "<T>101</T>");
    check("T ::= OBJECT IDENTIFIER", "0603883703", "<T>2.999.3</T>");
    check("T ::= REAL", "090380FF03", "<T>1.5</T>");
    check("T ::= REAL", "0900", "<T>0</T>");
    for (octets, text) in [("40", "<PLUS-INFINITY/>"), ("41", "<MINUS-INFINITY/>"), ("42", "<NOT-A-NUMBER/>")]
    {
        check("T ::= REAL", &format!("0901{octets}"), &format!("<T>{text}</T>"));
    }
    check("T ::= REAL", "090143", "<T>-0</T>");
    check("T ::= UTCTime", "170D3236303130323033303430355A", "<T>260102030405Z</T>");
    same("T ::= INTEGER { low(3) }", "<T> <low/> </T>", "020103");
    same("T ::= BIT STRING { a(0), c(2) }", "<T><a/><c/></T>", "030205A0");
    same("T ::= BIT STRING", "<T> 10\n 1 </T>", "030205A0");
    same("T ::= OCTET STRING", "<T> 00 fF\n</T>", "040200FF");
    same("T ::= BOOLEAN", "<T>\n <true /></T>", "0101FF");
}

#[test]
fn characters() {
    check("T ::= UTF8String", "0C07613C623E26C3A9", "<T>a&lt;b&gt;&amp;é</T>");
    check("T ::= UTF8String", "0C0400410D1B", "<T><nul/>A&#xD;<esc/></T>");
    check("T ::= IA5String", "16042020610A", "<T>  a\n</T>");
    same("T ::= UTF8String", "<T>&#x41;<![CDATA[<b>]]><!-- c -->&quot;\r\n</T>", "0C06413C623E220A");
}

#[test]
fn structures() {
    let point = "T ::= SEQUENCE { x INTEGER, y BOOLEAN OPTIONAL, z INTEGER DEFAULT 5 }";
    check(point, "30068001018101FF", "<T><x>1</x><y><true/></y></T>");
    same(point, "<?xml version=\"1.0\"?><T xmlns:a='b'>\n<x>1</x>\n<z>4</z></T>", "3006800101820104");
    check("T ::= SEQUENCE {}", "3000", "<T/>");
    check("T ::= CHOICE { a INTEGER, b NULL }", "8100", "<T><b/></T>");
    check("T ::= SEQUENCE OF INTEGER", "3006020101020102", "<T><INTEGER>1</INTEGER><INTEGER>2</INTEGER></T>");
    check("T ::= SEQUENCE OF name OCTET STRING", "3003040101", "<T><name>01</name></T>");
    check("T ::= SEQUENCE OF A A ::= NULL", "300405000500", "<T><A/><A/></T>");
    check("T ::= SEQUENCE OF OCTET STRING", "3003040101", "<T><OCTET_STRING>01</OCTET_STRING></T>");
    check("T ::= SEQUENCE OF SEQUENCE OF INTEGER", "30023000", "<T><SEQUENCE_OF/></T>");
    check("T ::= SET { a INTEGER, b INTEGER }", "3106800101810102", "<T><a>1</a><b>2</b></T>");
    same("T ::= SET { a INTEGER, b INTEGER }", "<T><b>2</b><a>1</a></T>", "3106800101810102");
    same("T ::= SEQUENCE { a INTEGER, ... }", "<T><a>1</a><b><c/>2</b></T>", "3003800101");
}

/// X.680 Table 5.
#[test]
fn value_lists() {
    check("T ::= SEQUENCE OF BOOLEAN", "30060101FF010100", "<T><true/><false/></T>");
    check("T ::= SET OF B B ::= BOOLEAN", "31030101FF", "<T><true/></T>");
    check("T ::= SEQUENCE OF ENUMERATED { red, green }", "30060A01010A0100", "<T><green/><red/></T>");
    let choices = "T ::= SEQUENCE OF C C ::= CHOICE { a INTEGER, b NULL }";
    check(choices, "30058001018100", "<T><a>1</a><b/></T>");
    same(choices, "<T><C><a>1</a></C> <b/></T>", "30058001018100");
    check("T ::= SEQUENCE OF flag BOOLEAN", "30030101FF", "<T><flag><true/></flag></T>");
}

#[test]
fn contents() {
    check("T ::= OCTET STRING (CONTAINING A) A ::= INTEGER", "0403020105", "<T><A>5</A></T>");
    same("T ::= OCTET STRING (CONTAINING A) A ::= INTEGER", "<T>020105</T>", "0403020105");
    let open = "K ::= CLASS { &id INTEGER UNIQUE, &Type } WITH SYNTAX { &id IS &Type }
        Set K ::= { { 1 IS Number } | { 2 IS Flags } }
        Number ::= INTEGER
        Flags ::= SEQUENCE OF BOOLEAN
        T ::= SEQUENCE { id K.&id({Set}), value K.&Type({Set}{@id}) }";
    check(open, "3008800101A103020105", "<T><id>1</id><value><Number>5</Number></value></T>");
    check(open, "300A800102A10530030101FF", "<T><id>2</id><value><Flags><true/></Flags></value></T>");
    check(open, "3008800103A103020105", "<T><id>3</id><value>020105</value></T>");
    refuse(open, "<T><id>1</id><value><Other>5</Other></value></T>", "no type `Other`");
    let flag = "K ::= CLASS { &id BOOLEAN UNIQUE, &Type } WITH SYNTAX { &id IS &Type }
        Set K ::= { { TRUE IS Number } } Number ::= INTEGER
        T ::= SEQUENCE { id K.&id({Set}), value K.&Type({Set}{@id}) }";
    check(flag, "30088001FFA103020105", "<T><id><true/></id><value><Number>5</Number></value></T>");
}

#[test]
fn wrong_values() {
    let point = "T ::= SEQUENCE { x INTEGER, y BOOLEAN OPTIONAL }";
    refuse(point, "<T><y><true/></y></T>", "T.x: this mandatory component is missing");
    refuse(point, "<T><x>1</x><x>1</x></T>", "`x` is there twice");
    refuse(point, "<T><y><true/></y><x>1</x></T>", "not at its place");
    refuse(point, "<T><x>1</x><z/></T>", "no component `z`");
    refuse(point, "<T><x>1</x> text </T>", "characters between");
    refuse(point, "<T>\n<x>one</x></T>", "T.x: a decimal integer expected (line 2, column 1)");
    refuse(point, "<U><x>1</x></U>", "the outermost element is `U`, not `T`");
    refuse("T ::= CHOICE { a NULL, b NULL }", "<T><a/><b/></T>", "one element");
    refuse("T ::= CHOICE { a NULL, b NULL }", "<T><c/></T>", "no alternative `c`");
    refuse("T ::= OCTET STRING", "<T>0</T>", "pairs of hexadecimal");
    refuse("T ::= BIT STRING", "<T>12</T>", "0 and 1");
    refuse("T ::= ENUMERATED { a }", "<T><b/></T>", "no item `b`");
    refuse("T ::= NULL", "<T>x</T>", "nothing expected");
    refuse("T ::= SEQUENCE OF INTEGER", "<T><INT>1</INT></T>", "T[0]: `INTEGER` expected");
    refuse("T ::= IA5String", "<T>é</T>", "T: ");
    refuse("T ::= INTEGER", "<T a='1'>5</T>", "an attribute `a`");
}

#[test]
fn hostile_text() {
    let string = "T ::= UTF8String";
    refuse(string, "<!DOCTYPE T [<!ENTITY a 'b'>]><T>&a;</T>", "DOCTYPE");
    refuse(string, "<T>&a;</T>", "entity `a`");
    for reference in ["&#0;", "&#xD800;", "&#18446744073709551616;", "&#1;", "&#-1;"] {
        refuse(string, &format!("<T>{reference}</T>"), "");
    }
    refuse(string, "<T>\u{1}</T>", "control character");
    refuse(string, "<T><wow/></T>", "`wow` is not a control character");
    refuse(string, "<T>a</T><T>b</T>", "a second outermost element");
    refuse(string, "<T>a</T>b", "outside of the element");
    refuse(string, "", "no element");
    refuse(string, "<T>a", "");
    refuse(string, "<T>a</U>", "well-formed");
    refuse(string, "<?xml version='1.0' encoding='UTF-16'?><T/>", "encoding");
    let tree = "T ::= SEQUENCE { t T OPTIONAL }";
    let deep = format!("<T>{}{}</T>", "<t>".repeat(100_000), "</t>".repeat(100_000));
    refuse(tree, &deep, "values are nested deeper");
    refuse(tree, &"<T>".repeat(100_000), "values are nested deeper than the limit");
    let names: String = (0..20_000).map(|i| format!(" xmlns:a{i}='b'")).collect();
    refuse(tree, &format!("<T{names}/>"), "more than 100 attributes");
    let unknown: String = (0..100_000).map(|i| format!("<a{i}/>")).collect();
    same("T ::= SEQUENCE { ... }", &format!("<T>{unknown}</T>"), "3000");
    let items = "<true/>x".repeat(50_000);
    refuse("T ::= SEQUENCE OF BOOLEAN", &format!("<T>{items}</T>"), "characters");
    refuse("T ::= REAL", "<T>1e99999999999999999999</T>", "exponent");
    let pieces = "a&amp;<!-- -->".repeat(50_000);
    assert!(read(&plan(string), &format!("<T>{pieces}</T>")).is_ok());
}

/// The canonical text of an encoding, and the basic one's canonical form.
fn canonical(types: &str, octets: &str, text: &str) {
    let plan = plan(types);
    let octets = hex(octets);
    let mut tape = Tape::new();
    decode(&plan, root(&plan), &octets, &mut tape, &Options::default()).expect(types);
    let mut options = xml::Options::default();
    options.variant = xml::Variant::Canonical;
    let mut out = Vec::new();
    xml::write(&plan.shape, tape.view(&octets), &mut out, &options);
    assert_eq!(String::from_utf8_lossy(&out), text, "{types}");
    assert_eq!(read_canonical(&plan, text), Ok(()), "{types}: {text}");
}

fn read_canonical(plan: &Plan, text: &str) -> Result<(), String> {
    let mut options = xml::ReadOptions::default();
    options.variant = xml::Variant::Canonical;
    xml::read(&plan.shape, root(plan), text.as_bytes(), &mut Tape::new(), &options)
        .map_err(|error| error.to_string())
}

/// A text of basic XER that is no canonical one, and the clause that it breaks.
fn not_canonical(types: &str, text: &str, clause: &str) {
    let plan = plan(types);
    assert!(read(&plan, text).is_ok(), "{types}: {text}");
    let error = read_canonical(&plan, text).expect_err(text);
    assert!(error.contains(&format!("X.693 {clause}")), "{types}: {text}: {error}");
}

#[test]
fn canonical_text() {
    canonical("T ::= REAL", "090380FF03", "<T>1.5E0</T>");
    canonical("T ::= REAL", "0903800001", "<T>1.0E0</T>");
    canonical("T ::= REAL", "0900", "<T>0</T>");
    canonical("T ::= REAL", "090140", "<T><PLUS-INFINITY/></T>");
    canonical("T ::= BIT STRING { a(0) }", "03020080", "<T>1</T>");
    canonical("T ::= BIT STRING", "03020080", "<T>10000000</T>");
    canonical(
        "T ::= SEQUENCE { a INTEGER DEFAULT 5, b INTEGER DEFAULT 6 }",
        "3006800105810105",
        "<T><b>5</b></T>",
    );
    canonical("T ::= SEQUENCE { l SET OF INTEGER DEFAULT {2, 1} }", "3008A006020101020102", "<T/>");
    let set = "T ::= SET { a [2] INTEGER, b [1] INTEGER, c [0] INTEGER OPTIONAL }";
    canonical(set, "3106820101810102", "<T><b>2</b><a>1</a></T>");
    canonical("T ::= SET OF INTEGER", "3106020102020110", "<T><INTEGER>16</INTEGER><INTEGER>2</INTEGER></T>");
    canonical("T ::= SET OF BOOLEAN", "31060101FF010100", "<T><false/><true/></T>");
    canonical("T ::= SET OF CHOICE { b NULL, a NULL }", "310480008100", "<T><a/><b/></T>");
    canonical(
        "T ::= GeneralizedTime",
        "181232303236303130323033303430352E35305A",
        "<T>20260102030405.5Z</T>",
    );
    canonical(
        "T ::= GeneralizedTime",
        "181332303236303130313030303030302B30313030",
        "<T>20251231230000Z</T>",
    );
    canonical("T ::= UTCTime", "170B323630313032303330345A", "<T>260102030400Z</T>");
    canonical("T ::= UTF8String", "0C03613C00", "<T>a&lt;<nul/></T>");
}

#[test]
fn not_canonical_text() {
    not_canonical("T ::= NULL", "<T></T>", "9.1");
    not_canonical("T ::= BOOLEAN", "<T><true /></T>", "9.1");
    not_canonical("T ::= BOOLEAN", "<?xml version=\"1.0\"?><T><true/></T>", "9.1");
    not_canonical("T ::= INTEGER", "<T>1<!-- one --></T>", "9.1");
    not_canonical("T ::= INTEGER", "<T>1</T>\n", "9.1");
    not_canonical("T ::= UTF8String", "<T>&#65;</T>", "9.1");
    not_canonical("T ::= INTEGER { one(1) }", "<T><one/></T>", "clause 9");
    for text in ["1.5", "15.0E-1", "1.50E0", "1.5e0", "1.5E+0", "1.5E00"] {
        not_canonical("T ::= REAL", &format!("<T>{text}</T>"), "9.2");
    }
    not_canonical("T ::= BIT STRING { a(0) }", "<T>10</T>", "9.3");
    not_canonical("T ::= BIT STRING { a(0) }", "<T><a/></T>", "9.3");
    not_canonical("T ::= OCTET STRING", "<T>ff</T>", "9.4");
    not_canonical("T ::= SEQUENCE { a INTEGER DEFAULT 5 }", "<T><a>5</a></T>", "9.5");
    not_canonical("T ::= SET { a [2] INTEGER, b [1] INTEGER }", "<T><a>1</a><b>2</b></T>", "9.6");
    not_canonical("T ::= SET OF INTEGER", "<T><INTEGER>2</INTEGER><INTEGER>16</INTEGER></T>", "9.7");
    not_canonical("T ::= GeneralizedTime", "<T>20260102030405.50Z</T>", "9.10");
    not_canonical("T ::= GeneralizedTime", "<T>20260102030405</T>", "9.10");
    not_canonical("T ::= UTCTime", "<T>2601020304Z</T>", "9.11");
    not_canonical("T ::= UTCTime", "<T>260102030405+0100</T>", "9.11");
}

/// Extended XER: the text of an encoding and back; whatever the text, a value or an error, also on a small stack.
#[test]
fn extended_hostile_text() {
    let plan = crate::common::plan_of(
        "M DEFINITIONS XER INSTRUCTIONS AUTOMATIC TAGS ::= BEGIN
        T ::= SEQUENCE { n [ATTRIBUTE] INTEGER OPTIONAL, t T OPTIONAL, u [UNTAGGED] U OPTIONAL, l [LIST] SEQUENCE OF INTEGER
          OPTIONAL, d UTF8String OPTIONAL, ... }
        U ::= CHOICE { a [UNTAGGED] SEQUENCE { e NULL, u [UNTAGGED] U OPTIONAL }, b INTEGER, c [USE-UNION] CHOICE { i INTEGER, s UTF8String } }
        ENCODING-CONTROL XER NAMESPACE T.d AS \"urn:d\" PREFIX \"d\" GLOBAL-DEFAULTS MODIFIED-ENCODINGS
        END",
    );
    let read = move |text: &[u8]| {
        let mut tape = Tape::new();
        xml::extended::read(&plan.shape, root(&plan), text, &mut tape, &xml::ReadOptions::default())?;
        let mut out = Vec::new();
        xml::extended::write(&plan.shape, tape.view(&[]), &mut out, &xml::Options::default())
            .expect("a text");
        Ok::<_, tercet_dynamic::ReadError>(out)
    };
    let text = "<T n=\"1\" xmlns:d=\"urn:d\"><t><b>5</b></t><c>x</c><l>1 2</l><d:d>a<nul/></d:d></T>";
    let written = read(text.as_bytes()).expect(text);
    assert_eq!(read(&written).as_deref(), Ok(&written[..]));
    let refused = |text: &str, message: &str| {
        let error = read(text.as_bytes()).expect_err(message).to_string();
        assert!(error.contains(message), "{error}");
    };
    let deep = format!("<T>{}{}</T>", "<t>".repeat(100_000), "</t>".repeat(100_000));
    refused(&deep, "values are nested deeper");
    refused("<T n='1' n='2'/>", "twice");
    refused("<T x:n='1'/>", "a prefix `x`, which is not declared");
    refused("<T n='&a;'/>", "well-formed");
    refused("<T n='&#1;'/>", "control character");
    refused("<T><l>1 x</l></T>", "T.l[1]");
    let many: String = (0..200).map(|i| format!(" a{i}='b'")).collect();
    refused(&format!("<T{many}/>"), "more than 100 attributes");
    let declared: String = (0..90).map(|i| format!(" xmlns:a{i}='b'")).collect();
    assert!(read(format!("<T{declared}>{}</T>", "<a1:t/>".repeat(20_000)).as_bytes()).is_ok());
    let try_all = move || {
        for end in 0..text.len() {
            assert!(read(&text.as_bytes()[..end]).is_err());
        }
        for at in 0..text.len() {
            for octet in 0..=255 {
                let mut changed = text.as_bytes().to_vec();
                changed[at] = octet;
                let _ = read(&changed);
            }
        }
        let deepest = format!("<T>{}{}</T>", "<t>".repeat(63), "</t>".repeat(63));
        assert!(read(deepest.as_bytes()).is_ok());
    };
    let thread = std::thread::Builder::new().stack_size(1 << 20).spawn(try_all).expect("a thread");
    thread.join().expect("no panic and no overflow");
}
