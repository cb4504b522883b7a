//! PER against the worked examples of X.691 Annex A, and what the clauses say about single points.

#![allow(clippy::needless_range_loop, reason = "the number of the rules tells more than the plan")]

use tercet_dynamic::{Decoder, Encoder, Error, ErrorKind, Options, Plan, Rules, Tape};

const ALL: [Rules; 5] = [Rules::Der, Rules::Aper, Rules::Uper, Rules::CanonicalAper, Rules::CanonicalUper];

/// Plans for DER and the four variants of PER over one shape.
fn plans(text: &str) -> Vec<Plan> {
    let mut map = tercet_syntax::SourceMap::new();
    let file = map.add("test.asn", text);
    let (modules, found) = tercet_syntax::parse(&map, file, &tercet_syntax::ParseOptions::default());
    assert!(found.iter().all(|d| d.severity != tercet_syntax::Severity::Error), "{found:?}\n{text}");
    let (model, found) = tercet_model::resolve(&map, &modules, &tercet_model::Options::default());
    assert!(found.iter().all(|d| d.severity != tercet_syntax::Severity::Error), "{found:?}\n{text}");
    tercet_lower::plans(&model, &ALL, &tercet_lower::all_roots(&model)).0
}

fn body(text: &str) -> Vec<Plan> {
    plans(&format!("M DEFINITIONS AUTOMATIC TAGS ::= BEGIN {text} END"))
}

fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u32> = text.chars().filter_map(|c| c.to_digit(16)).collect();
    digits.chunks(2).map(|pair| (pair[0] * 16 + pair[1]) as u8).collect()
}

fn to_hex(octets: &[u8]) -> String {
    octets.iter().map(|octet| format!("{octet:02x}")).collect()
}

fn transcode(from: usize, to: usize, plans: &[Plan], root: &str, input: &[u8]) -> Result<Vec<u8>, Error> {
    let mut tape = Tape::new();
    let node = plans[from].root(root).unwrap();
    let taken = Decoder::new().decode(&plans[from], node, input, &mut tape, &options(ALL[from]))?;
    assert_eq!(taken, input.len(), "{root} {:?} {}", ALL[from], to_hex(input));
    let mut out = Vec::new();
    Encoder::new().encode(&plans[to], ALL[to], tape.view(input), &mut out)?;
    Ok(out)
}

fn options(rules: Rules) -> Options {
    let mut options = Options::default();
    options.rules = rules;
    options
}

/// One value in DER and in both variants: each becomes each.
fn check(plans: &[Plan], root: &str, der: &str, aper: &str, uper: &str) {
    let forms = [hex(der), hex(aper), hex(uper), hex(aper), hex(uper)];
    for (from, input) in forms.iter().enumerate() {
        for (to, expected) in forms.iter().enumerate() {
            let got = transcode(from, to, plans, root, input);
            let got = got.unwrap_or_else(|e| panic!("{root} {:?} to {:?}: {e}", ALL[from], ALL[to]));
            assert_eq!(to_hex(&got), to_hex(expected), "{root} {:?} to {:?}", ALL[from], ALL[to]);
        }
    }
}

fn error(plans: &[Plan], rules: usize, root: &str, input: &str) -> Error {
    transcode(rules, rules, plans, root, &hex(input)).expect_err(input)
}

const PERSON: &str = "60818561101a044a6f686e1a01501a05536d697468420133a00a1a084469726563746f72a10a43083139373130393137a21261\
    101a044d6172791a01541a05536d697468a342311f61111a0552616c70681a01541a05536d697468a00a43083139353731313131311f61111a\
    05537573616e1a01421a054a6f6e6573a00a43083139353930373137";

/// X.691 A.1: no constraints; 94 and 84 octets.
const PERSON_1: &str = "M DEFINITIONS ::= BEGIN
    PersonnelRecord ::= [APPLICATION 0] IMPLICIT SET {
      name Name, title [0] VisibleString, number EmployeeNumber, dateOfHire [1] Date, nameOfSpouse [2] Name,
      children [3] IMPLICIT SEQUENCE OF ChildInformation DEFAULT {} }
    ChildInformation ::= SET { name Name, dateOfBirth [0] Date }
    Name ::= [APPLICATION 1] IMPLICIT SEQUENCE {
      givenName VisibleString, initial VisibleString, familyName VisibleString }
    EmployeeNumber ::= [APPLICATION 2] IMPLICIT INTEGER
    Date ::= [APPLICATION 3] IMPLICIT VisibleString
    END";
const PERSON_1_ALIGNED: &str = "80044a6f686e015005536d6974680133084469726563746f72083139373130393137044d617279015405536d69746802\
    0552616c7068015405536d69746808313935373131313105537573616e0142054a6f6e6573083139353930373137";
const PERSON_1_UNALIGNED: &str = "824adfa3700d005a7b74f4d0026611134f2cb8fa6fe410c5cb762c1cb16e09370f2f20350169edd3d340102d2c3b38\
    6801a80b4f6e9e9a0218b96add8b162c4169f5e787700c20595bf765e610c5cb572c1bb16e";

/// X.691 A.2: subtype constraints; 74 and 61 octets.
const PERSON_2: &str = r#"M DEFINITIONS ::= BEGIN
    PersonnelRecord ::= [APPLICATION 0] IMPLICIT SET {
      name Name, title [0] VisibleString, number EmployeeNumber, dateOfHire [1] Date, nameOfSpouse [2] Name,
      children [3] IMPLICIT SEQUENCE OF ChildInformation DEFAULT {} }
    ChildInformation ::= SET { name Name, dateOfBirth [0] Date }
    Name ::= [APPLICATION 1] IMPLICIT SEQUENCE {
      givenName NameString, initial NameString (SIZE(1)), familyName NameString }
    EmployeeNumber ::= [APPLICATION 2] IMPLICIT INTEGER
    Date ::= [APPLICATION 3] IMPLICIT VisibleString (FROM("0".."9") ^ SIZE(8))
    NameString ::= VisibleString (FROM("a".."z" | "A".."Z" | "-.") ^ SIZE(1..64))
    END"#;
const PERSON_2_ALIGNED: &str = "864a6f686e5010536d6974680133084469726563746f72197109170c4d6172795410536d697468021052616c70685410\
    536d6974681957111110537573616e42104a6f6e657319590717";
const PERSON_2_UNALIGNED: &str = "865d51d2888a5125f180998444d3cb2e3e9bf90cb8848b867396e8a88a5125f181089b93d71aa2294497c632ae2222\
    22985ce521885d54c170cac838b8";

/// X.691 A.3: extension markers; 80 and 62 octets.
const PERSON_3: &str = r#"M DEFINITIONS ::= BEGIN
    PersonnelRecord ::= [APPLICATION 0] IMPLICIT SET {
      name Name, title [0] VisibleString, number EmployeeNumber, dateOfHire [1] Date, nameOfSpouse [2] Name,
      children [3] IMPLICIT SEQUENCE (SIZE(2, ...)) OF ChildInformation OPTIONAL, ... }
    ChildInformation ::= SET { name Name, dateOfBirth [0] Date, ...,
      sex [1] IMPLICIT ENUMERATED {male(1), female(2), unknown(3)} OPTIONAL }
    Name ::= [APPLICATION 1] IMPLICIT SEQUENCE {
      givenName NameString, initial NameString (SIZE(1)), familyName NameString, ... }
    EmployeeNumber ::= [APPLICATION 2] IMPLICIT INTEGER (0..9999, ...)
    Date ::= [APPLICATION 3] IMPLICIT VisibleString (FROM("0".."9") ^ SIZE(8, ..., 9..20))
    NameString ::= VisibleString (FROM("a".."z" | "A".."Z" | "-.") ^ SIZE(1..64, ...))
    END"#;
const PERSON_3_ALIGNED: &str = "40c04a6f686e5008536d697468000033084469726563746f720019710917034d6172795408536d697468010052616c70\
    685408536d69746800195711110200537573616e42084a6f6e65730019590717";
const PERSON_3_UNALIGNED: &str = "40cbaa3a5108a5125f180330889a7965c7d37f20cb8848b819ce5ba2a114a24be30113727ae3542294497c61957111\
    1022985ce521842eaa60b832b20e2e";

#[test]
fn annex_a() {
    for (text, aligned, unaligned, octets) in [
        (PERSON_1, PERSON_1_ALIGNED, PERSON_1_UNALIGNED, (94, 84)),
        (PERSON_2, PERSON_2_ALIGNED, PERSON_2_UNALIGNED, (74, 61)),
        (PERSON_3, PERSON_3_ALIGNED, PERSON_3_UNALIGNED, (80, 62)),
    ] {
        assert_eq!((hex(aligned).len(), hex(unaligned).len()), octets);
        check(&plans(text), "PersonnelRecord", PERSON, aligned, unaligned);
    }
}

#[test]
fn whole_numbers() {
    let plans = body(
        "A ::= INTEGER (3..6) B ::= SEQUENCE { b BOOLEAN, v INTEGER (0..255) } C ::= INTEGER (0..65536)
         D ::= INTEGER (5..MAX) E ::= INTEGER (MIN..5) F ::= INTEGER (0..7, ...) G ::= INTEGER (0..18446744073709551615)
         H ::= INTEGER (-170141183460469231731687303715884105728..170141183460469231731687303715884105727)",
    );
    check(&plans, "A", "020105", "80", "80");
    check(&plans, "B", "30068001ff810101", "8001", "8080");
    check(&plans, "C", "020300ffff", "40ffff", "7fff80");
    check(&plans, "C", "0203010000", "80010000", "800000");
    check(&plans, "D", "02020084", "017f", "017f");
    check(&plans, "E", "0201ff", "01ff", "01ff");
    check(&plans, "F", "020107", "70", "70");
    check(&plans, "F", "020108", "800108", "808400");
    check(&plans, "G", "020900ffffffffffffffff", "e0ffffffffffffffff", "ffffffffffffffff");
    let zeros = "00".repeat(15);
    check(&plans, "H", "020100", &format!("f080{zeros}"), &format!("80{zeros}"));
    let outside = transcode(0, 1, &plans, "A", &hex("020107")).unwrap_err();
    assert_eq!((outside.path(), outside.kind()), ("A", ErrorKind::ConstraintViolated));
}

/// X.691 23.2 and 21.1: by tag, whatever the text says.
#[test]
fn order_of_tags() {
    let plans = plans(
        "M DEFINITIONS IMPLICIT TAGS ::= BEGIN
         C ::= CHOICE { c [2] NULL, a [0] NULL, b [1] NULL, p [PRIVATE 0] NULL, q [APPLICATION 5] NULL, u NULL }
         U ::= CHOICE { x V, y [0] NULL } V ::= CHOICE { p [5] NULL, q [APPLICATION 1] NULL }
         S ::= SET { c [2] BOOLEAN, a [0] BOOLEAN OPTIONAL, b BOOLEAN DEFAULT FALSE }
         END",
    );
    check(&plans, "C", "0500", "00", "00");
    check(&plans, "C", "4500", "20", "20");
    check(&plans, "C", "8000", "40", "40");
    check(&plans, "C", "c000", "a0", "a0");
    check(&plans, "U", "4100", "00", "00");
    check(&plans, "U", "8000", "80", "80");
    // The presence bits are those of the sorted components: b, a.
    check(&plans, "S", "31068001ff8201ff", "70", "70");
    check(&plans, "S", "31060101ff820100", "a0", "a0");
}

/// X.691 30.5: indices where the characters do not fit, alignment from 16 bits on.
#[test]
fn alphabets() {
    let plans = body(
        r#"N ::= NumericString (SIZE(2)) (FROM("0".."9")) L ::= IA5String (SIZE(0..3)) (FROM("a".."p"))
           B ::= SEQUENCE { f BOOLEAN, v BMPString (SIZE(2)) (FROM("a".."z")) } X ::= NumericString (SIZE(1..255))"#,
    );
    check(&plans, "N", "12023237", "27", "27");
    // 10, then a = 0 and c = 2 in four bits each.
    check(&plans, "L", "16026163", "8080", "8080");
    check(&plans, "X", "120131", "0020", "0020");
    check(&plans, "B", "30098001ff8104006100 7a", "b0bd00", "8320");
}

/// X.691 16.11, 17.8: nothing is aligned where nothing follows.
#[test]
fn empty_strings() {
    let plans = body(
        "O ::= SEQUENCE { b BOOLEAN, o OCTET STRING (SIZE(0..2)), c BOOLEAN }
        N ::= BIT STRING { a(0), b(1), c(9) } M ::= BIT STRING { a(0) } (SIZE(4..8))",
    );
    check(&plans, "O", "30088001ff81008201ff", "90", "90");
    check(&plans, "O", "30098001ff8101aa8201ff", "a0aa80", "b550");
    // Trailing zero bits mean nothing; a size asks for as many as it needs.
    check(&plans, "N", "03020640", "0240", "0240");
    check(&plans, "M", "03020480", "0080", "10");
}

/// Values of a later version are kept and written again as they were.
#[test]
fn later_versions() {
    let old = body(
        "S ::= SEQUENCE { a BOOLEAN, ..., b BOOLEAN } C ::= CHOICE { a NULL, ... } E ::= ENUMERATED { a, ... }",
    );
    let new = body(
        "S ::= SEQUENCE { a BOOLEAN, ..., b BOOLEAN, c OCTET STRING, [[ d NULL, e INTEGER OPTIONAL ]], f NULL OPTIONAL }
         C ::= CHOICE { a NULL, ..., b BOOLEAN, c OCTET STRING } E ::= ENUMERATED { a, ..., b, c }",
    );
    for rules in 1..5 {
        for (root, der) in [
            ("S", "300f8001ff8101ff820201028300840107"),
            ("S", "30068001ff8101ff"),
            ("S", "300a8001ff8101ff82020102"),
            ("C", "8101ff"),
            ("C", "82020102"),
            ("E", "0a0102"),
        ] {
            let encoded = transcode(0, rules, &new, root, &hex(der)).unwrap();
            let again = transcode(rules, rules, &old, root, &encoded).unwrap();
            assert_eq!(to_hex(&again), to_hex(&encoded), "{root} {:?} {der}", ALL[rules]);
        }
    }
}

/// A sender of an earlier version is canonical too; its values are written again as they were.
#[test]
fn earlier_versions() {
    let versions = [
        "S ::= SEQUENCE { a BOOLEAN, ..., b BOOLEAN }",
        "S ::= SEQUENCE { a BOOLEAN, ..., b BOOLEAN, c INTEGER (0..7) OPTIONAL }",
        "S ::= SEQUENCE { a BOOLEAN, ..., b BOOLEAN, c INTEGER (0..7) OPTIONAL,
           [[ d SET OF SEQUENCE { x S OPTIONAL, ..., y NULL, z NULL } OPTIONAL ]], e BOOLEAN DEFAULT TRUE }",
    ]
    .map(|text| body(&format!("{text} L ::= SET OF S O ::= OCTET STRING (CONTAINING S)")));
    // The first version that has the components, and the value.
    for (first, root, der) in [
        (0, "S", "3003800100"),
        (0, "S", "30068001ff8101ff"),
        (1, "S", "30098001ff8101ff820103"),
        (2, "S", "30148001ff8101ffa30c300aa0068001008101008100"),
        (0, "L", "31103006800100810100 30068001ff8101ff"),
        (1, "L", "31133006800100810100 30098001ff8101ff820103"),
        (0, "O", "040830068001ff810100"),
    ] {
        for (rules, from) in (1..5).flat_map(|rules| (first..3).map(move |from| (rules, from))) {
            let encoded = transcode(0, rules, &versions[from], root, &hex(der)).unwrap();
            for (to, plans) in versions.iter().enumerate() {
                let what = format!("{root} {der} {:?} {from} to {to}", ALL[rules]);
                let again = transcode(rules, rules, plans, root, &encoded);
                let again = again.unwrap_or_else(|error| panic!("{what}: {error}"));
                assert_eq!(to_hex(&again), to_hex(&encoded), "{what}");
            }
        }
    }
    // The extension bit tells that an addition is there (19.1).
    assert_eq!(error(&versions[1], 4, "S", "c000").kind(), ErrorKind::NotCanonical);
    assert_eq!(to_hex(&transcode(2, 2, &versions[1], "S", &hex("c000")).unwrap()), "40");
}

/// A plan for other rules is told, and not used: it would write another form.
#[test]
fn plans_serve_their_own_rules() {
    let plans = body("B ::= BOOLEAN");
    let input = hex("0101ff");
    let mut tape = Tape::new();
    Decoder::new()
        .decode(&plans[0], plans[0].root("B").unwrap(), &input, &mut tape, &options(ALL[0]))
        .unwrap();
    let encode = |plan: &Plan, rules| Encoder::new().encode(plan, rules, tape.view(&input), &mut Vec::new());
    for (plan, own) in plans.iter().zip(ALL) {
        for rules in ALL {
            let error = encode(plan, rules).err().map(|error| error.kind());
            assert_eq!(error, (rules != own).then_some(ErrorKind::Unsupported), "{own:?} {rules:?}");
        }
    }
    for rules in [Rules::Ber, Rules::Cer] {
        assert_eq!(encode(&plans[0], rules), Ok(()), "{rules:?}");
    }
}

/// X.691 11.9.3.8: the octets of a length in fragments.
fn in_fragments(octets: &[u8], unit: usize) -> Vec<u8> {
    let (mut out, mut rest) = (Vec::new(), octets);
    loop {
        let count = rest.len() / unit;
        let now = match count {
            0..128 => {
                out.push(count as u8);
                count
            }
            128..16384 => {
                out.extend([0x80 | (count >> 8) as u8, count as u8]);
                count
            }
            _ => {
                let blocks = (count / 16384).min(4);
                out.push(0xc0 | blocks as u8);
                blocks * 16384
            }
        };
        let (fragment, behind) = rest.split_at(now * unit);
        out.extend(fragment);
        rest = behind;
        if count < 16384 {
            return out;
        }
    }
}

#[test]
fn fragments() {
    let plans = body(
        "O ::= OCTET STRING I ::= IA5String L ::= SEQUENCE OF INTEGER (0..255) N ::= INTEGER B ::= BMPString
         S ::= SEQUENCE { ..., o OCTET STRING }",
    );
    for count in [0, 1, 127, 128, 16383, 16384, 16385, 32768, 49152, 65535, 65536, 65537, 81920, 147_461] {
        let octets: Vec<u8> = (0..count).map(|i| (i % 121) as u8 + 1).collect();
        let der = |tag: u8, contents: &[u8]| {
            let length = contents.len() as u32;
            [&[tag, 0x84][..], &length.to_be_bytes(), contents].concat()
        };
        let items: Vec<u8> = octets.iter().flat_map(|octet| [2, 1, *octet]).collect();
        let pairs: Vec<u8> = octets.iter().flat_map(|octet| [0, *octet]).collect();
        let inner = in_fragments(&octets, 1);
        let outer = [&[0x80, 0x80][..], &in_fragments(&inner, 1)].concat();
        for (root, ber, expected) in [
            ("O", der(4, &octets), in_fragments(&octets, 1)),
            ("I", der(22, &octets), in_fragments(&octets, 1)),
            ("L", der(48, &items), in_fragments(&octets, 1)),
            ("B", der(30, &pairs), in_fragments(&pairs, 2)),
            (
                "N",
                der(2, if count == 0 { &[1] } else { &octets }),
                in_fragments(if count == 0 { &[1] } else { &octets }, 1),
            ),
            ("S", der(48, &der(0x80, &octets)), outer),
        ] {
            let mut tape = Tape::new();
            let node = plans[0].root(root).unwrap();
            Decoder::new().decode(&plans[0], node, &ber, &mut tape, &Options::default()).unwrap();
            for rules in 1..5 {
                let mut out = Vec::new();
                Encoder::new().encode(&plans[rules], ALL[rules], tape.view(&ber), &mut out).unwrap();
                if rules == 1 || root == "O" {
                    assert!(out == expected, "{root} {count} {:?}", ALL[rules]);
                }
                let again = transcode(rules, rules, &plans, root, &out).unwrap();
                assert!(again == out, "{root} {count} {:?}", ALL[rules]);
            }
        }
    }
}

/// The place of a fault in an open type of 16K octets or more is that in the input, whatever stands between its fragments,
/// and the path goes into it.
#[test]
fn faults_in_fragments() {
    let plans = body(
        "T ::= SEQUENCE { ..., a SEQUENCE { o OCTET STRING (SIZE (40000)), t UTF8String, n INTEGER (0..9) } }
         U ::= SEQUENCE { b BOOLEAN, t UTF8String }
         L ::= SEQUENCE { b BOOLEAN, t UTF8String (SIZE (20000)) }",
    );
    let der = |tag: u8, contents: &[u8]| {
        [&[tag, 0x84][..], &(contents.len() as u32).to_be_bytes(), contents].concat()
    };
    let long = [&[b'-'; 19_995][..], b"verse"].concat();
    let members = [der(0x80, &[7; 40000]), der(0x81, b"verse"), der(0x82, &[5])].concat();
    for (root, ber, path) in [
        ("T", der(48, &der(0xa0, &members)), "T.a"),
        ("U", der(48, &[der(0x80, &[0xff]), der(0x81, b"verse")].concat()), "U"),
        ("L", der(48, &[der(0x80, &[0xff]), der(0x81, &long)].concat()), "L"),
    ] {
        for rules in [1, 2] {
            let node = plans[0].root(root).unwrap();
            let (mut tape, mut octets) = (Tape::new(), Vec::new());
            Decoder::new().decode(&plans[0], node, &ber, &mut tape, &Options::default()).unwrap();
            Encoder::new().encode(&plans[rules], ALL[rules], tape.view(&ber), &mut octets).unwrap();
            let verse = find_bits(&octets, b"verse");
            let fault = |bit: usize, mask: u8| {
                let mut octets = octets.clone();
                octets[bit / 8] ^= mask >> (bit % 8);
                if let Some(next) = octets.get_mut(bit / 8 + 1) {
                    *next ^= (u16::from(mask) << (8 - bit % 8)) as u8;
                }
                let node = plans[rules].root(root).unwrap();
                let read = Decoder::new().decode(
                    &plans[rules],
                    node,
                    &octets,
                    &mut tape.clone(),
                    &options(ALL[rules]),
                );
                let error = read.unwrap_err();
                let place = error.offset() as usize * 8 + usize::from(error.bit().unwrap());
                (place, error.path().to_owned())
            };
            // No UTF-8 from the third letter on.
            assert_eq!(fault(verse + 16, 0x80), (verse + 16, format!("{path}.t")), "{root} {:?}", ALL[rules]);
            if root == "T" {
                assert_eq!(fault(verse + 40, 0xa0), (verse + 40, format!("{path}.n")), "{:?}", ALL[rules]);
            }
        }
    }
}

/// The bit at which these octets stand.
fn find_bits(octets: &[u8], wanted: &[u8]) -> usize {
    let octet = |at: usize| u16::from(octets.get(at).copied().unwrap_or(0));
    let at = |bit: usize| ((octet(bit / 8) << 8 | octet(bit / 8 + 1)) << (bit % 8) >> 8) as u8;
    let mut bits = 0..=octets.len() * 8 - 8 * wanted.len();
    bits.find(|bit| wanted.iter().enumerate().all(|(index, octet)| at(bit + 8 * index) == *octet)).unwrap()
}

/// There is one canonical encoding.
#[test]
fn canonical() {
    let plans = body(
        "D ::= SEQUENCE { a SEQUENCE OF INTEGER DEFAULT {1}, b BOOLEAN } S ::= SET OF INTEGER (0..255) P ::= BOOLEAN
         N ::= SET OF SET OF OCTET STRING",
    );
    assert_eq!(to_hex(&transcode(2, 4, &plans, "D", &hex("808080c0")).unwrap()), "40");
    assert_eq!(to_hex(&transcode(2, 2, &plans, "D", &hex("808080c0")).unwrap()), "808080c0");
    assert_eq!(error(&plans, 4, "D", "808080c0").kind(), ErrorKind::NotCanonical);
    assert_eq!(to_hex(&transcode(2, 4, &plans, "S", &hex("03050203")).unwrap()), "03020305");
    assert_eq!(error(&plans, 3, "S", "03050203").kind(), ErrorKind::NotCanonical);
    let padded = error(&plans, 4, "P", "c0");
    assert_eq!((padded.kind(), padded.offset(), padded.bit()), (ErrorKind::NotCanonical, 0, Some(1)));
    let nested = hex("02 02 01ff 0100 01 00");
    assert_eq!(to_hex(&transcode(1, 3, &plans, "N", &nested).unwrap()), "02010002010001ff");
}

/// Every prefix and every flipped bit is a value or an error inside of the input, on a small stack.
#[test]
fn damage() {
    let work = || {
        for (text, aligned, unaligned) in [
            (PERSON_1, PERSON_1_ALIGNED, PERSON_1_UNALIGNED),
            (PERSON_2, PERSON_2_ALIGNED, PERSON_2_UNALIGNED),
            (PERSON_3, PERSON_3_ALIGNED, PERSON_3_UNALIGNED),
        ] {
            let plans = plans(text);
            for (rules, input) in [(1, aligned), (2, unaligned), (3, aligned), (4, unaligned)] {
                let input = hex(input);
                for length in 0..input.len() {
                    probe(&plans, rules, &input[..length], true);
                }
                for bit in 0..input.len() * 8 {
                    let mut input = input.clone();
                    input[bit / 8] ^= 0x80 >> (bit % 8);
                    probe(&plans, rules, &input, false);
                }
            }
        }
    };
    std::thread::Builder::new().stack_size(256 << 10).spawn(work).unwrap().join().unwrap();
}

fn probe(plans: &[Plan], rules: usize, input: &[u8], short: bool) {
    let mut tape = Tape::new();
    let node = plans[rules].root("PersonnelRecord").unwrap();
    match Decoder::new().decode(&plans[rules], node, input, &mut tape, &options(ALL[rules])) {
        Ok(_) => {
            let mut out = Vec::new();
            let _ = Encoder::new().encode(&plans[rules], ALL[rules], tape.view(input), &mut out);
        }
        Err(error) => {
            assert!(error.offset() <= input.len() as u64, "{error}");
            assert!(!error.path().is_empty(), "{error}");
            assert!(!short || error.missing().is_some() && error.bit().is_some(), "{error}");
        }
    }
}

#[test]
fn limits() {
    let plans = body(
        "R ::= SEQUENCE { r R OPTIONAL } Z ::= SEQUENCE OF NULL Q ::= SEQUENCE OF SEQUENCE { a NULL, b NULL }
         T ::= SEQUENCE OF SEQUENCE { a INTEGER (0..255) }",
    );
    for rules in [1, 2] {
        // Two bits for each level would be cheap.
        let deep = vec![0xff; 10_000];
        let error = transcode(rules, rules, &plans, "R", &deep).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::DepthLimit);
        for root in ["Z", "Q"] {
            let error = transcode(rules, rules, &plans, root, &[0xc4; 10_000]).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::LimitExceeded);
        }
        let many = in_fragments(&vec![7; 70_000], 1);
        assert!(transcode(rules, rules, &plans, "T", &many).unwrap() == many);
    }
}

/// X.691 §32: the numbers of a time, the year in four ranges.
/// Values deeper than there are calls inside one another are read and written with frames, on a small stack.
#[test]
fn deep_values() {
    let text = "T ::= SEQUENCE { n INTEGER (0..255), next CHOICE { one T, many SEQUENCE (SIZE (1..4)) OF T, end NULL } }";
    let plans = body(text);
    let value = |levels: usize| {
        let mut bits = String::new();
        for level in 0..levels {
            bits += &format!("{:08b}", level % 256);
            bits += if level + 1 == levels { "10" } else { ["00", "0100"][level % 2] };
        }
        bits += &"0".repeat(bits.len().wrapping_neg() % 8);
        let octets = bits.as_bytes().chunks(8);
        octets.map(|octet| octet.iter().fold(0_u8, |all, bit| all << 1 | (bit - b'0'))).collect::<Vec<u8>>()
    };
    let work = move || {
        for levels in [1, 2, 20, 26, 27, 32, 40, 120, 390] {
            for rules in [2, 4] {
                let mut options = options(ALL[rules]);
                options.limits.depth = 1000;
                let (plan, input) = (&plans[rules], value(levels));
                let node = plan.root("T").unwrap();
                let mut tape = Tape::new();
                let taken = Decoder::new().decode(plan, node, &input, &mut tape, &options).unwrap();
                assert_eq!(taken, input.len());
                let mut out = Vec::new();
                Encoder::new().encode(plan, ALL[rules], tape.view(&input), &mut out).unwrap();
                assert_eq!(out, input);
                // The path leads through calls and frames alike.
                let cut = &input[..input.len() - 1];
                let error = Decoder::new().decode(plan, node, cut, &mut Tape::new(), &options).unwrap_err();
                let steps = |level: usize| [".next.one", ".next.many[0]"][level % 2];
                let path = "T".to_owned() + &(0..levels - 1).map(steps).collect::<String>();
                let path = &path[..path.len().min(380)];
                assert!(error.path().starts_with(path), "{levels}: {error}");
            }
        }
    };
    std::thread::Builder::new().stack_size(256 * 1024).spawn(work).unwrap().join().unwrap();
}

#[test]
fn times_as_numbers() {
    let plans = body(
        "D ::= DATE T ::= TIME-OF-DAY B ::= DATE-TIME P ::= DURATION
         C ::= TIME((SETTINGS \"Basic=Date Date=C Year=Basic\") | (SETTINGS \"Basic=Date Date=C Year=Proleptic\"))
         W ::= TIME(SETTINGS \"Basic=Date Date=YWD Year=L5\")
         H ::= TIME(SETTINGS \"Basic=Time Time=HF3 Local-or-UTC=Z\")
         L ::= TIME(SETTINGS \"Basic=Date-Time Date=YMD Year=Basic Time=HMSF2 Local-or-UTC=LD\")",
    );
    let tagged = |tag: u8, text: &str| {
        let mut der = if tag < 31 { vec![tag] } else { vec![0x1f, tag] };
        der.push(text.len() as u8);
        der.extend_from_slice(text.as_bytes());
        to_hex(&der)
    };
    for (text, aper, uper) in [
        ("20100615", "155c", "155c"),
        ("20201231", "3efc", "3efc"),
        ("21000615", "404f5700", "53d5c0"),
        ("22761231", "40ffbf00", "7fefc0"),
        ("18000615", "80335700", "8cd5c0"),
        ("17480520", "c00206d44980", "c081b51260"),
        ("22770704", "c00208e56180", "c082395860"),
    ] {
        check(&plans, "D", &tagged(31, text), aper, uper);
    }
    // 6, 30, 0: 5, 6 and 6 bits.
    check(&plans, "T", &tagged(32, "063000"), "33c000", "33c000");
    check(&plans, "B", &tagged(33, "20100615063000"), "155c6780", "155c6780");
    for (text, aper, uper) in [
        ("3W", "2006", "2006"),
        ("10W", "2014", "2014"),
        ("T0S", "0200", "0200"),
        ("5.0Y", "8114000000", "81140000"),
        ("T64M", "04800140", "0480a000"),
    ] {
        check(&plans, "P", &tagged(34, text), aper, uper);
    }
    check(&plans, "C", &tagged(14, "19C"), "26", "26");
    // The year with a length, then 6 and 3 bits.
    check(&plans, "W", &tagged(14, "+12345-W15-5"), "0230393a00", "0230393a00");
    // 15 and 5/10 as 500/1000: the extension bit, then 10 bits, in two octets where aligned.
    check(&plans, "H", &tagged(14, "15.500Z"), "7801f4", "79f4");
    assert_eq!(error(&plans, 2, "P", "00").kind(), ErrorKind::TimeSyntax);
    assert_eq!(error(&plans, 2, "D", "15").kind(), ErrorKind::Incomplete);
    // The 31st of June.
    assert_eq!(error(&plans, 2, "D", "157c").kind(), ErrorKind::TimeSyntax);
    let other = tagged(14, "15:27Z");
    assert_eq!(transcode(0, 2, &plans, "H", &hex(&other)).unwrap_err().kind(), ErrorKind::ConstraintViolated);
    let zone = tagged(14, "2010-06-15T10:15:30.25-04:30");
    let uper = transcode(0, 2, &plans, "L", &hex(&zone)).unwrap();
    assert_eq!(to_hex(&transcode(2, 0, &plans, "L", &uper).unwrap()), zone);
    // 15 + 17 + 11 + 1 + 1 + 4 + 6 bits.
    assert_eq!(uper.len(), 7);
}

/// The octets of an open type whose content is not known are an encoding in the rules that they came in.
#[test]
fn unknown_content_is_not_moved_between_rules() {
    let plans = plans(
        "M DEFINITIONS AUTOMATIC TAGS ::= BEGIN
         CLS ::= CLASS { &id INTEGER UNIQUE, &Type }
         S ::= SEQUENCE { id CLS.&id ({Set}), value CLS.&Type ({Set}{@id}) }
         Set CLS ::= { {&id 1, &Type BOOLEAN}, ... }
         L ::= SEQUENCE OF S
         E ::= SEQUENCE { a BOOLEAN, ... } END",
    );
    // Two elements, of which the second has a key that no row has.
    let uper = "02 0101 0180 0102 0105".replace(' ', "");
    for (to, family) in [(2, true), (4, true), (1, false), (0, false)] {
        let moved = transcode(2, to, &plans, "L", &hex(&uper));
        match moved {
            Ok(_) => assert!(family, "{:?}", ALL[to]),
            Err(error) => {
                assert!(!family, "{error}");
                assert_eq!((error.kind(), error.path()), (ErrorKind::Unsupported, "L[1].value"));
            }
        }
    }
    assert!(transcode(2, 0, &plans, "E", &hex("c0406000")).is_err());
    // Unless it is asked for.
    let (mut tape, input) = (Tape::new(), hex(&uper));
    let node = plans[2].root("L").unwrap();
    Decoder::new().decode(&plans[2], node, &input, &mut tape, &options(ALL[2])).unwrap();
    let mut out = Vec::new();
    let mut encoder = Encoder::new().with_foreign_octets(true);
    encoder.encode(&plans[1], ALL[1], tape.view(&input), &mut out).unwrap();
    assert_eq!(out, input);
}

/// Keys hold for the value that they are in: one around it has its own again behind it. A key may be a CHOICE in a
/// CHOICE.
#[test]
fn keys_hold_for_their_value() {
    let plans = plans(
        "M DEFINITIONS AUTOMATIC TAGS ::= BEGIN
         CLS ::= CLASS { &id INTEGER UNIQUE, &Type }
         Set CLS ::= { {&id 1, &Type BOOLEAN} | {&id 2, &Type INTEGER (0..255)} }
         S ::= SEQUENCE { id CLS.&id ({Set}), inner S OPTIONAL, value CLS.&Type ({Set}{@id}) }
         Code ::= CHOICE { near CHOICE { local INTEGER (0..7), other BOOLEAN }, far OBJECT IDENTIFIER }
         OP ::= CLASS { &code Code UNIQUE, &Type }
         Ops OP ::= { {&code near : local : 5, &Type BOOLEAN} | {&code far : {1 2 3}, &Type INTEGER (0..255)} }
         O ::= SEQUENCE { code OP.&code ({Ops}), value OP.&Type ({Ops}{@code}) }
         FLAG ::= CLASS { &id BOOLEAN UNIQUE, &Type }
         Flags FLAG ::= { {&id TRUE, &Type INTEGER (0..7)} | {&id FALSE, &Type NULL} }
         F ::= SEQUENCE { id FLAG.&id ({Flags}), value FLAG.&Type ({Flags}{@id}) } END",
    );
    // An open type whose content was not found would not be moved.
    for (root, der) in [
        // The inner value has the other key; the outer one still is a BOOLEAN.
        ("S", "3012800101a108800102a203020107a2030101ff"),
        ("O", "300ca005a003800105a1030101ff"),
        ("O", "300ba00481022a03a103020107"),
        ("F", "30088001ffa103020105"),
        ("F", "3007800100a1020500"),
    ] {
        for to in 1..ALL.len() {
            let per = transcode(0, to, &plans, root, &hex(der)).unwrap();
            assert_eq!(to_hex(&transcode(to, 0, &plans, root, &per).unwrap()), der, "{:?}", ALL[to]);
        }
    }
}

/// A key, a number and an open type that the key selects, with contents of any length; what is not so by the same rules.
#[test]
fn keys_in_front_of_open_types() {
    let plans = plans(
        "M DEFINITIONS AUTOMATIC TAGS ::= BEGIN
         IE ::= CLASS { &id INTEGER (0..65535) UNIQUE, &weight Weight, &Type }
         Weight ::= ENUMERATED { reject, ignore, notify }
         Set IE ::= { {&id 7, &weight reject, &Type OCTET STRING} | {&id 8, &weight ignore, &Type Field}, ... }
         Field ::= SEQUENCE { id IE.&id ({Set}), weight IE.&weight ({Set}{@id}), value IE.&Type ({Set}{@id}) }
         Kind ::= ENUMERATED { a, b, ... }
         OLD ::= CLASS { &kind Kind UNIQUE, &Type }
         Olds OLD ::= { {&kind a, &Type BOOLEAN}, ... }
         L ::= SEQUENCE OF SEQUENCE { kind OLD.&kind ({Olds}), value OLD.&Type ({Olds}{@kind}) } END",
    );
    let length = |count: usize| {
        if count < 128 { vec![count as u8] } else { (0x8000 | count as u16).to_be_bytes().to_vec() }
    };
    for count in [0, 1, 125, 126, 127, 128, 200, 5000, 16380] {
        // In both variants there is an octet boundary behind the numbers, or none at all.
        let inside = [length(count), vec![0xa5; count]].concat();
        let aper = [&[0, 7, 0x80], &length(inside.len())[..], &inside].concat();
        let shifted: Vec<u8> = {
            let octets = [length(inside.len()), inside].concat();
            let mut all = vec![0, 7];
            let mut before = 0b10;
            for octet in octets.into_iter().chain([0]) {
                all.push((before << 6 | u16::from(octet) >> 2) as u8);
                before = u16::from(octet) & 3;
            }
            all
        };
        assert_eq!(transcode(1, 1, &plans, "Field", &aper).unwrap(), aper, "{count}");
        assert_eq!(to_hex(&transcode(1, 2, &plans, "Field", &aper).unwrap()), to_hex(&shifted), "{count}");
        assert_eq!(to_hex(&transcode(2, 1, &plans, "Field", &shifted).unwrap()), to_hex(&aper), "{count}");
        for short in (0..aper.len().min(300)).map(|end| &aper[..end]) {
            assert_eq!(transcode(1, 1, &plans, "Field", short).unwrap_err().kind(), ErrorKind::Incomplete);
        }
    }
    // One inside the other, the inner one's key unknown, so that octets stay what they are.
    let nested = "00084005000940 01ff";
    assert_eq!(transcode(1, 1, &plans, "Field", &hex(nested)).unwrap(), hex(nested));
    // No such item, inside and outside; the octets of the inner value end before it does.
    for (input, at, path) in [
        ("0007c00101", 16, "Field.weight"),
        ("00084005 0009c001ff", 48, "Field.value.weight"),
        ("00084003 00098001ff", 56, "Field.value.value"),
        ("000700020201", 48, "Field.value"),
    ] {
        let error = error(&plans, 1, "Field", input);
        let bit = error.offset() * 8 + u64::from(error.bit().unwrap_or_default());
        assert_eq!((bit, error.path()), (at, path), "{input}: {error}");
    }
    // The key of the element before it is none of an element whose key is not known.
    let list = hex("02 00 01 80 80 01 ff");
    let mut tape = Tape::new();
    let node = plans[1].root("L").unwrap();
    Decoder::new().decode(&plans[1], node, &list, &mut tape, &options(ALL[1])).unwrap();
    let opens = tape.view(&list).tokens().filter(|token| matches!(token, tercet_dynamic::Token::Open { .. }));
    assert_eq!(opens.count(), 4, "the list, two elements, and what is in the first");
}

/// Strings of every length about the borders between what is read in their place and what is not.
#[test]
fn strings_of_each_length() {
    let plans = body(
        "O ::= SEQUENCE { a BOOLEAN, s OCTET STRING (SIZE(0..300)) }
         P ::= SEQUENCE { a BOOLEAN, s OCTET STRING }
         Q ::= SEQUENCE { a BOOLEAN, s OCTET STRING (SIZE(1..4, ...)) }
         B ::= SEQUENCE { a BOOLEAN, s BIT STRING (SIZE(0..300)) }
         C ::= SEQUENCE { a BOOLEAN, s BIT STRING }
         D ::= SEQUENCE { a BOOLEAN, s BIT STRING (SIZE(1..4, ...)) }",
    );
    let octets: Vec<u8> = (0..300u16).map(|at| (at * 37 + 11) as u8).collect();
    for count in (0..=20_usize).chain([55, 56, 57, 63, 64, 65, 126, 127, 128, 129, 255, 256, 300]) {
        for (root, bits) in [("O", 0), ("P", 0), ("Q", 0), ("B", 1), ("C", 1), ("D", 1)] {
            let mut contents = octets[..if bits == 1 { count.div_ceil(8) } else { count }].to_vec();
            if bits == 1 {
                let unused = count.wrapping_neg() % 8;
                if let Some(last) = contents.last_mut() {
                    *last &= 0xff << unused;
                }
                contents.insert(0, unused as u8);
            }
            let long = |length: usize| match length {
                0..128 => vec![length as u8],
                128..256 => vec![0x81, length as u8],
                _ => [&[0x82], &(length as u16).to_be_bytes()[..]].concat(),
            };
            let parts = [&[0x80, 1, 0xff, 0x81], &long(contents.len())[..], &contents].concat();
            let der = [&[0x30], &long(parts.len())[..], &parts].concat();
            for to in 1..ALL.len() {
                let per = transcode(0, to, &plans, root, &der).unwrap();
                let back = transcode(to, 0, &plans, root, &per).unwrap();
                assert_eq!(to_hex(&back), to_hex(&der), "{root} {count} {:?}", ALL[to]);
                for short in per.len().saturating_sub(10)..per.len() {
                    let cut = transcode(to, 0, &plans, root, &per[..short]).unwrap_err();
                    assert_eq!(cut.kind(), ErrorKind::Incomplete, "{root} {count} {short}");
                }
            }
        }
    }
}

/// What a sink does not want is read and checked, and not said.
#[test]
fn unwanted_components_are_read_silently() {
    struct Some<'s>(&'s tercet_dynamic::Shape, Vec<String>);
    impl tercet_dynamic::Sink for Some<'_> {
        fn leaf(
            &mut self,
            field: tercet_dynamic::FieldId,
            _: tercet_dynamic::NodeId,
            _: tercet_dynamic::Leaf<'_>,
        ) {
            let name = self.0.fields.get(field.index()).map_or("", |field| self.0.name(field.name));
            self.1.push(name.to_owned());
        }
        fn open(&mut self, _: tercet_dynamic::FieldId, _: tercet_dynamic::NodeId) {
            self.1.push("(".to_owned());
        }
        fn close(&mut self, _: tercet_dynamic::FieldId, _: tercet_dynamic::NodeId) {
            self.1.push(")".to_owned());
        }
        fn absent(&mut self, _: tercet_dynamic::FieldId, _: tercet_dynamic::NodeId, _: u32) {}
        fn unknown(&mut self, _: u32, _: tercet_dynamic::Leaf<'_>) {}
        fn wants(&self, field: tercet_dynamic::FieldId) -> bool {
            let name = self.0.fields.get(field.index()).map_or("", |field| self.0.name(field.name));
            !name.starts_with("no")
        }
    }
    let plans = body(
        "S ::= SEQUENCE { noA INTEGER (0..3), b BOOLEAN, noC SEQUENCE OF INTEGER (0..7), d SEQUENCE { noE NULL, f NULL },
           ..., noG INTEGER (0..15), h BOOLEAN }",
    );
    let der = hex("301a8001028101ffa206020101020102a3048000810084010a8501ff");
    for rules in [2, 4] {
        let plan = &plans[rules];
        let node = plan.root("S").unwrap();
        let input = transcode(0, rules, &plans, "S", &der).unwrap();
        let mut sink = Some(&plan.shape, Vec::new());
        let read = Decoder::new().decode(plan, node, &input, &mut sink, &options(ALL[rules]));
        assert_eq!(read.unwrap(), input.len());
        assert_eq!(sink.1.join(" "), "( b ( f ) h )", "{:?}", ALL[rules]);
    }
}
