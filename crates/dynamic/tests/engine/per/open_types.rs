//! Open types and the keys in front of them.

use super::{ALL, body, error, hex, options, plans, to_hex, transcode};
use tercet_dynamic::{Decoder, Encoder, ErrorKind, Tape};

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
