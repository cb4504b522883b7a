//! Messages inside of messages: each octet string that carries one is decoded by the specification of the protocol inside.

#![cfg(feature = "captures")]

use serde_json::{Value, json};
use std::fs;
use tercet_schema::captures::capture::{Capture, Event, Options};
use tercet_schema::captures::{Decoder, DecoderOptions, Specifications, object};
use tercet_schema::dynamic::{Options as ReadOptions, Tape};
use tercet_schema::{Rules, Schema, SchemaOptions, TapeCodec};

/// Specifications that have the modules and types of the real ones, and little in them.
const SPECIFICATIONS: &str = "
S1AP-PDU-Descriptions DEFINITIONS AUTOMATIC TAGS ::= BEGIN
  IMPORTS HandoverType, Source-ToTarget-TransparentContainer FROM S1AP-IEs;
  S1AP-PDU ::= SEQUENCE { lppa LPPa-PDU OPTIONAL, nas NAS-PDU OPTIONAL, capability UERadioCapability OPTIONAL,
    type HandoverType OPTIONAL, container Source-ToTarget-TransparentContainer OPTIONAL }
  LPPa-PDU ::= OCTET STRING
  NAS-PDU ::= OCTET STRING
  UERadioCapability ::= OCTET STRING
END
S1AP-IEs DEFINITIONS AUTOMATIC TAGS ::= BEGIN
  HandoverType ::= ENUMERATED { intralte, ltetoutran, ... }
  Source-ToTarget-TransparentContainer ::= OCTET STRING
  SourceeNB-ToTargeteNB-TransparentContainer ::= SEQUENCE { rRC-Container RRC-Container, other OCTET STRING }
  RRC-Container ::= OCTET STRING
END
NGAP-PDU-Descriptions DEFINITIONS AUTOMATIC TAGS ::= BEGIN
  IMPORTS HandoverType, SourceToTarget-TransparentContainer, TargetToSource-TransparentContainer FROM NGAP-IEs;
  NGAP-PDU ::= SEQUENCE { type HandoverType, source SourceToTarget-TransparentContainer OPTIONAL,
    target TargetToSource-TransparentContainer OPTIONAL }
END
NGAP-IEs DEFINITIONS AUTOMATIC TAGS ::= BEGIN
  HandoverType ::= ENUMERATED { intra5gs, fivegs-to-eps, ... }
  SourceToTarget-TransparentContainer ::= OCTET STRING
  TargetToSource-TransparentContainer ::= OCTET STRING
  SourceNGRANNode-ToTargetNGRANNode-TransparentContainer ::= SEQUENCE { rRCContainer RRCContainer, cell INTEGER (0..255) }
  TargetNGRANNode-ToSourceNGRANNode-TransparentContainer ::= SEQUENCE { rRCContainer RRCContainer }
  RRCContainer ::= OCTET STRING
END
X2AP-PDU-Descriptions DEFINITIONS AUTOMATIC TAGS ::= BEGIN
  X2AP-PDU ::= SEQUENCE { context UE-ContextInformation OPTIONAL,
    target TargeteNBtoSource-eNBTransparentContainer OPTIONAL,
    toSecondary MeNBtoSgNBContainer OPTIONAL, toMaster SgNBtoMeNBContainer OPTIONAL }
  UE-ContextInformation ::= SEQUENCE { rRC-Context RRC-Context }
  RRC-Context ::= OCTET STRING
  TargeteNBtoSource-eNBTransparentContainer ::= OCTET STRING
  MeNBtoSgNBContainer ::= OCTET STRING
  SgNBtoMeNBContainer ::= OCTET STRING
END
XnAP-PDU-Descriptions DEFINITIONS AUTOMATIC TAGS ::= BEGIN
  XnAP-PDU ::= SEQUENCE { context SEQUENCE { rrc-Context OCTET STRING } OPTIONAL,
    target Target2SourceNG-RANnodeTranspContainer OPTIONAL,
    toSecondary MN-to-SN-Container OPTIONAL, toMaster SN-to-MN-Container OPTIONAL }
  Target2SourceNG-RANnodeTranspContainer ::= OCTET STRING
  MN-to-SN-Container ::= OCTET STRING
  SN-to-MN-Container ::= OCTET STRING
END
NR-InterNodeDefinitions DEFINITIONS AUTOMATIC TAGS ::= BEGIN
  HandoverPreparationInformation ::= SEQUENCE { node INTEGER (0..65535) }
  HandoverCommand ::= SEQUENCE { command INTEGER (0..65535) }
  CG-ConfigInfo ::= SEQUENCE { info INTEGER (0..65535) }
  CG-Config ::= SEQUENCE { config INTEGER (0..65535) }
END
F1AP-PDU-Descriptions DEFINITIONS AUTOMATIC TAGS ::= BEGIN
  F1AP-PDU ::= SEQUENCE { code CLASS-OF-MESSAGES.&code ({Messages}), value CLASS-OF-MESSAGES.&Type ({Messages} {@code}) }
  CLASS-OF-MESSAGES ::= CLASS { &code INTEGER (0..255) UNIQUE, &Type }
  Messages CLASS-OF-MESSAGES ::= { { &code 1, &Type DLRRCMessageTransfer }
    | { &code 2, &Type InitialULRRCMessageTransfer }, ... }
  DLRRCMessageTransfer ::= SEQUENCE { bearer SRBID, container RRCContainer }
  InitialULRRCMessageTransfer ::= SEQUENCE { container RRCContainer }
  SRBID ::= INTEGER (0..3, ...)
  RRCContainer ::= OCTET STRING
END
LPPA-PDU-Descriptions DEFINITIONS AUTOMATIC TAGS ::= BEGIN LPPA-PDU ::= CHOICE { initiatingMessage INTEGER (0..255) } END
LPP-PDU-Definitions DEFINITIONS AUTOMATIC TAGS ::= BEGIN
  LPP-Message ::= SEQUENCE { body CHOICE { c1 CHOICE { requestCapabilities INTEGER (0..255), abort NULL } } }
END
EUTRA-InterNodeDefinitions DEFINITIONS AUTOMATIC TAGS ::= BEGIN
  HandoverPreparationInformation ::= SEQUENCE { cell INTEGER (0..255) }
  HandoverCommand ::= SEQUENCE { command INTEGER (0..255) }
  UERadioAccessCapabilityInformation ::= SEQUENCE { category INTEGER (0..255) }
END
NR-RRC-Definitions DEFINITIONS AUTOMATIC TAGS ::= BEGIN
  DL-DCCH-Message ::= SEQUENCE { message CHOICE { c1 CHOICE { rrcReconfiguration INTEGER (0..255), rrcResume NULL } } }
  UL-CCCH-Message ::= SEQUENCE { message CHOICE { c1 CHOICE { rrcSetupRequest INTEGER (0..255), rrcResumeRequest NULL } } }
END
RUA-PDU-Descriptions DEFINITIONS AUTOMATIC TAGS ::= BEGIN
  RUA-PDU ::= SEQUENCE { message RANAP-Message }
  RANAP-Message ::= OCTET STRING
END
RANAP-PDU-Descriptions DEFINITIONS AUTOMATIC TAGS ::= BEGIN RANAP-PDU ::= CHOICE { initiatingMessage INTEGER (0..255) } END
H323-MESSAGES DEFINITIONS AUTOMATIC TAGS ::= BEGIN
  H323-UserInformation ::= SEQUENCE { body CHOICE { setup SEQUENCE { h245Address TransportAddress OPTIONAL,
    fastStart SEQUENCE OF OCTET STRING OPTIONAL } }, h245Control SEQUENCE OF OCTET STRING OPTIONAL }
  TransportAddress ::= CHOICE { ipAddress SEQUENCE { ip OCTET STRING (SIZE (4)), port INTEGER (0..65535) } }
END
MULTIMEDIA-SYSTEM-CONTROL DEFINITIONS AUTOMATIC TAGS ::= BEGIN
  MultimediaSystemControlMessage ::= CHOICE {
    request CHOICE { terminalCapabilitySet INTEGER (0..255), openLogicalChannel OpenLogicalChannel },
    response CHOICE { openLogicalChannelAck OpenLogicalChannelAck } }
  OpenLogicalChannel ::= SEQUENCE { forwardLogicalChannelNumber INTEGER (1..65535), application Application OPTIONAL }
  Application ::= CHOICE { t38fax NULL, speech NULL }
  OpenLogicalChannelAck ::= SEQUENCE { forwardLogicalChannelNumber INTEGER (1..65535),
    mediaChannel CHOICE { iPAddress SEQUENCE { network OCTET STRING (SIZE (4)), tsapIdentifier INTEGER (0..65535) } } }
END
T38 DEFINITIONS AUTOMATIC TAGS ::= BEGIN
  UDPTLPacket ::= SEQUENCE { seq-number INTEGER (0..65535), primary CHOICE { t30-indicator NULL, t30-data OCTET STRING } }
END
";

/// Encodes a value in JSON; octets in hexadecimal.
fn encoded(schema: &Schema, of_type: &str, rules: Rules, value: &Value) -> String {
    let plans = schema.plans(&[Rules::Jer.plan_rules(), rules], &[of_type]).unwrap();
    let root = |at: usize| plans[at].root(of_type).unwrap();
    let (text, mut tape, mut octets) = (value.to_string(), Tape::new(), Vec::new());
    let mut reader = TapeCodec::new(Rules::Jer, &plans[0]);
    reader.read(root(0), text.as_bytes(), &mut tape, &ReadOptions::default()).expect(of_type);
    TapeCodec::new(rules, &plans[1]).write(tape.view(text.as_bytes()), &mut octets).expect(of_type);
    octets.iter().map(|octet| format!("{octet:02X}")).collect()
}

/// A capture of messages that a dissector has exported.
fn exported(messages: &[(&str, &str)]) -> Vec<u8> {
    let mut file =
        vec![0xD4, 0xC3, 0xB2, 0xA1, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 0, 0, 252, 0, 0, 0];
    for (protocol, hex) in messages {
        let mut packet = [&12_u16.to_be_bytes()[..], &8_u16.to_be_bytes(), protocol.as_bytes()].concat();
        packet.resize(12, 0);
        packet.extend([0; 4]);
        packet.extend(octets(hex));
        let length = (packet.len() as u32).to_le_bytes();
        file.extend([&[0; 8][..], &length, &length, &packet].concat());
    }
    file
}

#[test]
fn octet_strings_that_carry_messages_are_decoded() {
    let schema = Schema::from_text("all.asn", SPECIFICATIONS);
    assert!(!schema.has_errors(), "{}", schema.render(false));
    let make = |of_type: &str, rules, value| encoded(&schema, of_type, rules, &value);
    let (aper, uper) = (Rules::Aper, Rules::Uper);
    let lppa = make("LPPA-PDU", aper, json!({"initiatingMessage": 7}));
    let lpp = make("LPP-Message", uper, json!({"body": {"c1": {"requestCapabilities": 9}}}));
    let nas = format!("076801{:04X}{lpp}", lpp.len() / 2);
    let capability =
        make("EUTRA-InterNodeDefinitions.UERadioAccessCapabilityInformation", uper, json!({"category": 5}));
    let preparation =
        make("EUTRA-InterNodeDefinitions.HandoverPreparationInformation", uper, json!({"cell": 3}));
    let container = make(
        "SourceeNB-ToTargeteNB-TransparentContainer",
        aper,
        json!({"rRC-Container": preparation, "other": "FF"}),
    );
    let dcch = make("DL-DCCH-Message", uper, json!({"message": {"c1": {"rrcReconfiguration": 1}}}));
    let pdcp = format!("0001{dcch}DEADBEEF");
    let ccch = make("UL-CCCH-Message", uper, json!({"message": {"c1": {"rrcSetupRequest": 2}}}));
    let ranap = make("RANAP-PDU", aper, json!({"initiatingMessage": 1}));
    let h245 = make("MultimediaSystemControlMessage", aper, json!({"request": {"terminalCapabilitySet": 4}}));
    let channel = make("OpenLogicalChannel", aper, json!({"forwardLogicalChannelNumber": 101}));
    let command = make("EUTRA-InterNodeDefinitions.HandoverCommand", uper, json!({"command": 4}));
    let of_nr = |name: &str, value| make(&format!("NR-InterNodeDefinitions.{name}"), uper, value);
    let nr_preparation = of_nr("HandoverPreparationInformation", json!({"node": 1000}));
    let nr_command = of_nr("HandoverCommand", json!({"command": 2000}));
    let info = of_nr("CG-ConfigInfo", json!({"info": 3000}));
    let config = of_nr("CG-Config", json!({"config": 4000}));
    let source = make(
        "SourceNGRANNode-ToTargetNGRANNode-TransparentContainer",
        aper,
        json!({"rRCContainer": nr_preparation, "cell": 9}),
    );
    let target = make(
        "TargetNGRANNode-ToSourceNGRANNode-TransparentContainer",
        aper,
        json!({"rRCContainer": nr_command}),
    );
    let s1ap = |value| make("S1AP-PDU", aper, value);
    let ngap = |value| make("NGAP-PDU", aper, value);
    let x2ap = |value| make("X2AP-PDU", aper, value);
    let xnap = |value| make("XnAP-PDU", aper, value);
    let f1ap = |code: u8, value: Value| make("F1AP-PDU", aper, json!({"code": code, "value": value}));
    type Found<'a> = (&'a str, Option<&'a str>, &'a str);
    let cases: Vec<(&str, String, Vec<Found<'_>>)> = vec![
        ("s1ap", s1ap(json!({"lppa": lppa})), vec![("lppa", None, &lppa)]),
        ("s1ap", s1ap(json!({"nas": nas})), vec![("lpp", Some("requestCapabilities"), &lpp)]),
        // Nothing is said of what is encrypted.
        ("s1ap", s1ap(json!({"nas": "2711223344550768"})), vec![]),
        (
            "s1ap",
            s1ap(json!({"capability": capability})),
            vec![("lte-rrc", Some("UERadioAccessCapabilityInformation"), &capability)],
        ),
        (
            "s1ap",
            s1ap(json!({"type": "intralte", "container": container})),
            vec![
                ("s1ap", Some("SourceeNB-ToTargeteNB-TransparentContainer"), &container),
                ("lte-rrc", Some("HandoverPreparationInformation"), &preparation),
            ],
        ),
        // Another system has another container.
        ("s1ap", s1ap(json!({"type": "ltetoutran", "container": container})), vec![]),
        (
            "ngap",
            ngap(json!({"type": "intra5gs", "source": source})),
            vec![
                ("ngap", Some("SourceNGRANNode-ToTargetNGRANNode-TransparentContainer"), &source),
                ("nr-rrc", Some("HandoverPreparationInformation"), &nr_preparation),
            ],
        ),
        (
            "ngap",
            ngap(json!({"type": "intra5gs", "target": target})),
            vec![
                ("ngap", Some("TargetNGRANNode-ToSourceNGRANNode-TransparentContainer"), &target),
                ("nr-rrc", Some("HandoverCommand"), &nr_command),
            ],
        ),
        ("ngap", ngap(json!({"type": "fivegs-to-eps", "source": source})), vec![]),
        (
            "x2ap",
            x2ap(json!({"context": {"rRC-Context": preparation}})),
            vec![("lte-rrc", Some("HandoverPreparationInformation"), &preparation)],
        ),
        ("x2ap", x2ap(json!({"target": command})), vec![("lte-rrc", Some("HandoverCommand"), &command)]),
        (
            "x2ap",
            x2ap(json!({"toSecondary": info, "toMaster": config})),
            vec![("nr-rrc", Some("CG-ConfigInfo"), &info), ("nr-rrc", Some("CG-Config"), &config)],
        ),
        (
            "xnap",
            xnap(json!({"context": {"rrc-Context": nr_preparation}})),
            vec![("nr-rrc", Some("HandoverPreparationInformation"), &nr_preparation)],
        ),
        ("xnap", xnap(json!({"target": nr_command})), vec![("nr-rrc", Some("HandoverCommand"), &nr_command)]),
        (
            "xnap",
            xnap(json!({"toSecondary": info, "toMaster": config})),
            vec![("nr-rrc", Some("CG-ConfigInfo"), &info), ("nr-rrc", Some("CG-Config"), &config)],
        ),
        (
            "f1ap",
            f1ap(1, json!({"bearer": 1, "container": pdcp})),
            vec![("nr-rrc", Some("rrcReconfiguration"), &dcch)],
        ),
        ("f1ap", f1ap(2, json!({"container": ccch})), vec![("nr-rrc", Some("rrcSetupRequest"), &ccch)]),
        ("rua", make("RUA-PDU", aper, json!({"message": ranap})), vec![("ranap", None, &ranap)]),
        (
            "h225",
            make(
                "H323-UserInformation",
                aper,
                json!({"body": {"setup": {"fastStart": [channel]}}, "h245Control": [h245]}),
            ),
            vec![
                ("h245", Some("openLogicalChannel"), &channel),
                ("h245", Some("request.terminalCapabilitySet"), &h245),
            ],
        ),
    ];
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("all.asn");
    fs::write(&path, SPECIFICATIONS).unwrap();
    let specifications = Specifications::find(&[path], SchemaOptions::default()).unwrap();
    let mut decoder = Decoder::new(specifications, DecoderOptions::default());
    let messages: Vec<_> = cases.iter().map(|(protocol, hex, _)| (*protocol, &**hex)).collect();
    let file = exported(&messages);
    let mut capture = Capture::new(&file[..], Options::default());
    let mut lines = Vec::new();
    let mut sink = |event: Event<'_>| match event {
        Event::Pdu(pdu) => lines.push(Value::from(object(&pdu, Some(&decoder.decode(&pdu)), None))),
        other => panic!("{other:?}"),
    };
    while capture.read_packet(&mut sink).unwrap() {}
    assert_eq!(lines.len(), cases.len());
    for (line, (protocol, hex, expected)) in lines.iter().zip(&cases) {
        assert_eq!((&line["protocol"], &line["error"]), (&json!(protocol), &Value::Null), "{hex}: {line}");
        // Those inside of one that is inside come after it.
        let mut found = Vec::new();
        let mut waiting: Vec<&Value> = line["inner"].as_array().into_iter().flatten().collect();
        while !waiting.is_empty() {
            let inner = waiting.remove(0);
            assert_eq!(inner["error"], Value::Null, "{line}");
            found.push((inner["protocol"].clone(), inner["message"].clone(), inner["octets"].clone()));
            waiting.extend(inner["inner"].as_array().into_iter().flatten());
        }
        let expected: Vec<_> = expected
            .iter()
            .map(|(protocol, message, octets)| {
                (json!(protocol), json!(message), json!(octets.to_lowercase()))
            })
            .collect();
        assert_eq!(found, expected, "{line}");
    }
}

/// Returns the octets that hexadecimal digits are.
fn octets(hex: &str) -> Vec<u8> {
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect()
}

/// A packet of IPv4 between 10.0.0.1 and 10.0.0.2, the other way round for the answer.
fn ipv4(protocol: u8, is_answer: bool, payload: &[u8]) -> Vec<u8> {
    let (from, to) = if is_answer { (2, 1) } else { (1, 2) };
    let length = (20 + payload.len() as u16).to_be_bytes();
    let header =
        [&[0x45, 0][..], &length, &[0, 0, 0, 0, 64, protocol, 0, 0, 10, 0, 0, from, 10, 0, 0, to]].concat();
    [&header[..], payload].concat()
}

/// A packet of RFC 1006 in a segment of TCP between two ports.
fn tpkt(is_answer: bool, ports: [u16; 2], message: &[u8]) -> Vec<u8> {
    let header =
        [&ports[0].to_be_bytes()[..], &ports[1].to_be_bytes(), &[0, 0, 0, 1, 0, 0, 0, 1, 0x50, 0x18, 1, 0]];
    let length = (4 + message.len() as u16).to_be_bytes();
    ipv4(6, is_answer, &[&header.concat()[..], &[0; 4], &[3, 0], &length, message].concat())
}

/// A datagram of UDP to port 40000.
fn datagram(payload: &[u8]) -> Vec<u8> {
    let length = (8 + payload.len() as u16).to_be_bytes();
    ipv4(17, false, &[&[0x9C, 0x41, 0x9C, 0x40][..], &length, &[0, 0], payload].concat())
}

#[test]
fn sockets_that_signalling_announces_are_read() {
    let schema = Schema::from_text("all.asn", SPECIFICATIONS);
    let make = |of_type: &str, value| octets(&encoded(&schema, of_type, Rules::Aper, &value));
    let h245 = |value: Value| make("MultimediaSystemControlMessage", value);
    let setup = make(
        "H323-UserInformation",
        json!({"body": {"setup": {"h245Address": {"ipAddress": {"ip": "0A000002", "port": 30000}}}}}),
    );
    // The user-user information element of a message of Q.931.
    let element =
        [&[8, 2, 0, 1, 5, 0x7E][..], &(1 + setup.len() as u16).to_be_bytes(), &[5], &setup].concat();
    let open = |number: u16, kind: &str| {
        h245(json!({"request": {"openLogicalChannel":
            {"forwardLogicalChannelNumber": number, "application": {kind: null}}}}))
    };
    let answer = |number: u16, port: u16| {
        h245(json!({"response": {"openLogicalChannelAck": {"forwardLogicalChannelNumber": number,
            "mediaChannel": {"iPAddress": {"network": "0A000002", "tsapIdentifier": port}}}}}))
    };
    let facsimile = make("UDPTLPacket", json!({"seq-number": 1, "primary": {"t30-data": "0102"}}));
    let mut speech = facsimile.clone();
    speech[0] = 0x80;
    let packets = [
        datagram(&facsimile),
        tpkt(false, [30001, 30000], &open(7, "t38fax")),
        tpkt(false, [1025, 1720], &element),
        tpkt(false, [30001, 30000], &open(5, "t38fax")),
        tpkt(true, [30000, 30001], &answer(5, 40000)),
        datagram(&speech),
        datagram(&facsimile),
    ];
    let mut file =
        vec![0xD4, 0xC3, 0xB2, 0xA1, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 0, 0, 101, 0, 0, 0];
    for packet in &packets {
        let length = (packet.len() as u32).to_le_bytes();
        file.extend([&[0; 8][..], &length, &length, packet].concat());
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("all.asn");
    fs::write(&path, SPECIFICATIONS).unwrap();
    let specifications = Specifications::find(&[path], SchemaOptions::default()).unwrap();
    let mut decoder = Decoder::new(specifications, DecoderOptions::default());
    let mut capture = Capture::new(&file[..], Options::default());
    let mut found = Vec::new();
    loop {
        let mut sockets = Vec::new();
        let more = capture
            .read_packet(&mut |event| match event {
                Event::Pdu(pdu) => {
                    let decoded = decoder.decode(&pdu);
                    assert_eq!(decoded.fault, None, "{}", pdu.frame);
                    found.push(format!("{} {} {}", pdu.frame, pdu.protocol.name, decoded.message.unwrap()));
                    sockets.extend(decoded.sockets);
                }
                other => panic!("{other:?}"),
            })
            .unwrap();
        if !more {
            break;
        }
        for (transport, socket, protocol) in sockets {
            capture.expect_messages(transport, socket, protocol);
        }
    }
    // Nothing was known of what came before, and speech is no facsimile.
    let expected = [
        "3 h225 setup",
        "4 h245 request.openLogicalChannel",
        "5 h245 response.openLogicalChannelAck",
        "7 t38 t30-data",
    ];
    assert_eq!(found, expected);
    assert!(capture.balance().holds());
}
