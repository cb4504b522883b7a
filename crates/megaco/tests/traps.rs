//! What trips implementations of H.248.1 up, each with its own test. The messages are of our own writing.

use tercet_megaco::Str;
use tercet_megaco::binary::{BadTermination, Binary, Levels, Rules};
use tercet_megaco::codec::{Codec, Encoding, decode_any};
use tercet_megaco::etf::{self, Term};
use tercet_megaco::model::{MId, MegacoMessage, MessageBody, Transaction};
use tercet_megaco::text::{Layout, read_message, read_version_and_mid, write_message};

/// A message around a command of a request.
fn request(version: u8, command: &str) -> String {
    format!("MEGACO/{version} <mg.example> T=1{{C=7{{{command}}}}}")
}

/// Vendors that text has no name for are refused there, and kept in all other encodings; data that only look like a value
/// of the text are too.
#[test]
fn trap_13_vendors_without_a_name() {
    for (identifier, data) in [
        (r#"{"object":[1,3,6,1,4,1,99999]}"#, "v"),
        (
            r#"{"h221NonStandard":{"t35CountryCode1":1,"t35CountryCode2":2,"t35Extension":3,"manufacturerCode":4}}"#,
            "v",
        ),
        (r#"{"experimental":"Y-vendor"}"#, "v"),
        (r#"{"experimental":"X-vendor"}"#, "=plain"),
        (r#"{"experimental":"X-vendor"}"#, "=[ 1 ]"),
        (r#"{"experimental":"X-vendor"}"#, ">"),
    ] {
        let mut json = Vec::new();
        let text = request(1, "SC=root{SV{MT=RS,RE=901,X-vendor=here}}");
        Encoding::Json.encode(&read_message(text.as_bytes()).unwrap(), &mut json).unwrap();
        let json = String::from_utf8(json).unwrap().replace(r#"{"experimental":"X-vendor"}"#, identifier);
        let json = json.replace("here", data);
        let message = decode_any(json.as_bytes()).unwrap();
        for (name, encoding) in Encoding::ALL {
            let mut out = Vec::new();
            let written = encoding.encode(&message, &mut out);
            assert_eq!(written.is_ok(), !matches!(*name, "pretty" | "compact"), "{name} {identifier} {data}");
            assert!(written.is_err() || encoding.decode(&out).unwrap() == message, "{name}");
        }
    }
}

/// A message around a reply to a command.
fn reply(version: u8, command: &str) -> String {
    format!("!/{version} [192.0.2.1]:2944\nP=1{{C=7{{{command}}}}}")
}

fn accepts(text: &str) {
    accepts_octets(text.as_bytes());
}

/// What is accepted is written and read again in every layout, and is the same.
fn accepts_octets(text: &[u8]) {
    let message = match read_message(text) {
        Ok(message) => message,
        Err(error) => panic!("{}: {error}", text.escape_ascii()),
    };
    for layout in [Layout::Pretty, Layout::Compact] {
        let mut again = Vec::new();
        write_message(&message, layout, &mut again)
            .unwrap_or_else(|error| panic!("{}: {error}", text.escape_ascii()));
        let value = read_message(&again).unwrap_or_else(|error| panic!("{}: {error}", again.escape_ascii()));
        assert_eq!(value, message, "{}", again.escape_ascii());
    }
}

fn rejects(text: &str) {
    rejects_octets(text.as_bytes());
}

fn rejects_octets(text: &[u8]) {
    assert!(read_message(text).is_err(), "{}", text.escape_ascii());
}

fn compact(text: &str) -> String {
    let mut out = Vec::new();
    write_message(&read_message(text.as_bytes()).unwrap(), Layout::Compact, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn trap_01_header() {
    for header in ["MEGACO/1", "megaco/1", "MeGaCo/01", "!/1", "!/2", "!/03"] {
        accepts(&format!("{header} mg1 PN=1{{}}"));
    }
    for header in ["MEGACO/0", "!/4", "!/99", "!/100", "MEGCAO/1", "MEGACO", "!1", "", " ", "!/1"] {
        rejects(&format!("{header} PN=1{{}}"));
    }
    rejects("");
}

#[test]
fn trap_02_separators_and_comments() {
    for separator in ["\n", "\r", "\r\n", "\t", " ", " ; a \"comment\" {\r\n"] {
        accepts(&format!("!/1{separator}[192.0.2.1]{separator}PN=1{{}}"));
    }
    accepts("; before it all: \"quotes\"\n!/1 <a.example>:2944 PN=1{}");
    accepts("!/1 [192.0.2.1]PN=1{}");
    for tail in ["PN=1{}x", "PN=1{}\0", "PN=1{},PN=2{}", "PN=1{}}", "PN=1{};\0\nq"] {
        rejects(&format!("!/1 [192.0.2.1] {tail}"));
    }
    accepts("!/1 [192.0.2.1] PN=1{}PN=2{} ; the end");
}

#[test]
fn trap_03_missing_transaction_id() {
    for text in ["!/1 a T{C=-{S=t}}", "!/1 a T={C=-{S=t}}"] {
        let message = read_message(text.as_bytes()).unwrap();
        for (_, encoding) in Encoding::ALL {
            if !matches!(encoding, Encoding::Json | Encoding::Etf { .. }) {
                assert!(encoding.encode(&message, &mut Vec::new()).is_err(), "{encoding:?}");
            }
        }
    }
}

#[test]
fn trap_04_numbers_of_32_bits() {
    accepts("!/1 a PN=4294967295{}");
    rejects("!/1 a PN=4294967296{}");
    rejects("!/1 a PN=-1{}");
    for context in ["1", "4294967293", "-", "*", "$"] {
        accepts(&format!("!/1 a T=1{{C={context}{{S=t}}}}"));
    }
    for context in ["0", "4294967294", "4294967295", "x"] {
        rejects(&format!("!/1 a T=1{{C={context}{{S=t}}}}"));
    }
}

#[test]
fn trap_05_senders() {
    let long = "a".repeat(64);
    for sender in [
        "[192.0.2.1]",
        "[192.0.2.001]:55555",
        "[2001:DB8::1]:2944",
        "[::]",
        "[::1]",
        "[1:2:3:4:5:6:7:8]",
        "[1::8]",
        "[1:2:3::]",
        "[::FFFF:192.0.2.1]",
        "[1:2:3:4:5:6:192.0.2.1]",
        "<mg.example>",
        "<mg.example>:0",
        "MTP{1234}",
        "MTP{ 12345678 }",
        "device/1@mg.example",
        &long,
    ] {
        accepts(&format!("!/1 {sender} PN=1{{}}"));
    }
    for sender in [
        "[192.0.2.256]",
        "[192.0.2]",
        "[192.0.2.1]:65536",
        "[1::2::3]",
        "[1:2:3]",
        "[12345::]",
        "[]",
        "<>",
        "MTP{123}",
        "MTP{123456789}",
        "MTP{xyzw}",
        &format!("<{long}a>"),
        &format!("{long}a"),
    ] {
        rejects(&format!("!/1 {sender} PN=1{{}}"));
    }
    assert_eq!(compact("!/1 [2001:0db8:0:0:1:0:0:1] PN=1{}"), "!/1 [2001:DB8::1:0:0:1]\nPN=1{}");
}

#[test]
fn trap_06_authentication_header() {
    let ad = "0123456789abcdefABCDEF01";
    accepts(&format!("Authentication=0x0a0B0c0D:0x00000001:0x{ad}\n!/1 a PN=1{{}}"));
    accepts(&format!("au = 0x0a0B0c0D : 0x00000001 : 0X{} MEGACO/1 a PN=1{{}}", ad.repeat(2)));
    for header in [
        format!("0x0a0b0c0:0x00000001:0x{ad}"),
        format!("0x0a0b0c0d:00000001:0x{ad}"),
        format!("0x0a0b0c0d:0x00000001:0x{}", &ad[1..]),
        format!("0x0a0b0c0d:0x00000001:0x{}0", ad.repeat(3)),
        format!("0x0a0b0c0g:0x00000001:0x{ad}"),
    ] {
        rejects(&format!("AU={header} !/1 a PN=1{{}}"));
    }
}

#[test]
fn trap_07_keywords_as_values_and_no_time_stamps() {
    accepts(&request(1, "MF=Add{M{O{al/mode=Media,tdmc/ec=T,nt/jit=sr}}}"));
    accepts(&request(1, "MF=Context{E=1{al/on{em=e,strict=state}}}"));
    // 17 characters with a T in the middle that are no time.
    accepts(&request(1, "N=t{OE=1{abcdefghTijklm/on}}"));
    accepts(&request(1, "N=t{OE=1{20260101T12000000:al/on}}"));
    rejects(&request(1, "N=t{OE=1{2026010xT12000000:al/on}}"));
}

#[test]
fn trap_08_case() {
    assert_eq!(
        compact(&request(1, "MODIFY=A4/B5{MEDIA{LocalControl{TDMC/EC=ON,nt/jit=\"Quoted Text\"}}}")),
        "!/1 <mg.example>\nT=1{C=7{MF=a4/b5{M{O{tdmc/ec=ON,nt/jit=\"Quoted Text\"}}}}}"
    );
}

#[test]
fn trap_09_local_and_remote() {
    for sdp in [
        "",
        " \r\n ",
        "v=0\r\nc=IN IP4 $\r\nm=audio $ RTP/AVP 0\r\nv=0\r\nm=audio 9 RTP/AVP 4\r\n",
        "\nv=0\nm=audio 9 RTP/AVP 0 ; no comment\na=x:\"y\"\n",
        "v=0\na",
        "v=0\na=\nv=\n",
        "m=audio 9 RTP/AVP 0",
        "v=0\na=fmtp:97 {x\\}",
    ] {
        accepts(&request(1, &format!("A=${{M{{L{{{sdp}}},R{{{sdp}}}}}}}")));
    }
    rejects(&request(1, "A=${M{L{=0}}}"));
    rejects(&request(1, "A=${M{L{v=0}"));
    let text = compact(&request(1, "A=${M{L{v=0\nm=a}}}"));
    assert!(text.contains("L{\nv=0\r\nm=a\r\n}"), "{text}");
}

#[test]
fn trap_10_quoted_strings() {
    accepts(&request(1, "MF=t{M{O{nt/jit=\"\"}}}"));
    accepts(&request(1, "MF=t{M{O{nt/jit=\"a;b{c}, d=[e]\"}}}"));
    rejects_octets(b"!/1 a ER=400{\"\xe9\"}");
    rejects_octets("!/1 a ER=400{\"\u{e9}\"}".as_bytes());
    rejects("!/1 a ER=400{\"a\nb\"}");
    rejects("!/1 a ER=400{\"open}");
}

#[test]
fn trap_11_long_messages() {
    for count in [10, 400, 600] {
        let commands = vec![
            "MF=a1/b2/c3{E=2222{al/of{strict=state},al/on},SG{cg/rt{DR=100}},M{O{MO=SR,nt/jit=40}}}";
            count
        ];
        accepts(&request(2, &commands.join(",")));
    }
}

#[test]
fn trap_12_observed_event_without_time() {
    accepts(&request(1, "N=t{OE=1{al/on}}"));
    accepts(&request(1, "N=t{OE=*{al/on{ST=2,strict=state},20260101T12000000 : dd/ce{ds=\"123\",Meth=UM}}}"));
}

#[test]
fn trap_13_service_change() {
    let change = |parms: &str| request(1, &format!("SC=root{{SV{{{parms}}}}}"));
    assert!(compact(&change("MT=RS,RE=901")).contains("RE=\"901\""));
    accepts(&change("MT=RS,RE=\"901 Cold Boot\",AD=2944,V=3,PF=ResGW/1,DL=7,20260101T12000000"));
    accepts(&change("RE=902,MT=FL,MG=<mgc.example>:2944"));
    accepts(&change("MT=RS,RE=901,AD=[192.0.2.7]:2945"));
    // A parameter of a vendor is kept, whatever its value, and in every encoding if its name has at most 8 characters.
    for (parameter, written, data) in [
        ("X-Private=1", "X-Private=1", "1"),
        ("X+a = \"Two Words\"", "X+a=\"Two Words\"", "Two Words"),
        ("x-abcdef=\"\"", "x-abcdef=\"\"", ""),
        ("X-ab > 5", "X-ab>5", ">5"),
        ("X-ab=\">5\"", "X-ab=\">5\"", "=\">5\""),
        ("X-ab={ 1, \"b c\" }", "X-ab={1,\"b c\"}", "={1,\"b c\"}"),
        ("X-ab=[1:2]", "X-ab=[1:2]", "=[1:2]"),
    ] {
        let text = change(&format!("MT=RS,RE=901,{parameter}"));
        accepts(&text);
        assert!(compact(&text).contains(&format!("RE=\"901\",{written}}}")), "{}", compact(&text));
        let message = read_message(text.as_bytes()).unwrap();
        assert!(format!("{message:?}").contains(&format!("{:?}", Str::from(data))), "{message:?}");
        for (_, encoding) in Encoding::ALL {
            let mut out = Vec::new();
            if matches!(encoding, Encoding::Ber | Encoding::Per) && parameter.starts_with("X-Private") {
                assert!(encoding.encode(&message, &mut out).is_err());
                continue;
            }
            encoding.encode(&message, &mut out).unwrap();
            assert_eq!(encoding.decode(&out).unwrap(), message, "{encoding:?}");
        }
    }
    for parms in [
        "MT=RS",
        "RE=901",
        "MT=RS,RE=901,AD=1,MG=a",
        "MT=RS,RE=901,MG=a,AD=1",
        "MT=X-New,RE=901",
        "MT=RS,MT=FO,RE=901",
        "MT=RS,RE=901,X-a=1,X-b=2",
        "MT=RS,RE=901,X-a",
        "MT=RS,RE=901,X-=1",
        "MT=RS,RE=901,Y-a=1",
    ] {
        rejects(&change(parms));
    }
    accepts(&reply(1, "SC=root"));
    accepts(&reply(1, "SC=root{SV{V=1,MG=a,PF=p/1,20260101T12000000}}"));
    accepts(&reply(1, "SC=root{ER=402{\"Unauthorized\"}}"));
}

#[test]
fn trap_14_local_control() {
    accepts(&request(
        1,
        "A=${M{O{MO=SR,RG=ON,RV=OFF,tdmc/gain>2,nt/jit=[1:40],tdmc/ec={on,off},al/x=[1,2]}}}",
    ));
    rejects(&request(1, "A=${M{O{MO=SR,MO=SO}}}"));
    rejects(&request(1, "A=${M{O{}}}"));
    rejects(&request(1, "A=${M{O{tdmc/gain}}}"));
}

#[test]
fn trap_15_empty_things() {
    accepts(&request(1, "AV=t{AT{}}"));
    accepts(&request(1, "AV=t"));
    accepts(&request(1, "A=t{M{}}"));
    accepts(&request(1, "A=t{E,SG}"));
    accepts(&request(1, "A=t{EB}"));
    accepts(&request(1, "A=t{SG{}}"));
    accepts(&request(3, "A=t{SA}"));
    accepts("!/1 a P=1{C=1}");
    accepts("!/1 a P=1{C=1,C=2}");
    accepts("!/1 a T=1{C=1{CA{TP,EG,PR}}}");
    rejects("!/1 a T=1{C=1{CA{TP},CA{EG}}}");
    rejects("!/1 a T=1{}");
}

#[test]
fn trap_16_events_signals_and_topology() {
    accepts(&request(
        1,
        "MF=t{E=1{al/on{EM{SG{cg/dt},E=2{al/of,dd/ce{DM=plan,KA}}},KA},al/of{EM{E=3{al/on}}}}}",
    ));
    accepts(&request(1, "MF=t{EB{al/on{ST=1,strict=state},al/of}}"));
    accepts(&request(1, "MF=t{SG{SL=7{cg/dt,cg/rt{SY=TO,DR=20,NC={TO,IBE,IBS,OR},KA,ST=3}}}}"));
    accepts(&request(3, "MF=[t1,t2]{SG{cg/dt{SPADI=EX,SPARQ=9,SPAIS=5,NC={IR}}}}"));
    accepts("!/1 a T=1{C=1{TP{a,b,BW,a,c,IS}}}");
    accepts("!/2 a T=1{C=1{TP{a,b,BW,ST=1,a,c,OW}}}");
    accepts("!/3 a T=1{C=1{TP{a,b,OWE,c,d,OWB}}}");
    rejects("!/1 a T=1{C=1{TP{a,b}}}");
    rejects("!/1 a T=1{C=1{TP{a,b,BW,ST=1}}}");
    accepts(&request(1, "O-S=*,W-S=t/*,O-W-AV=*{AT{M}},o-w-n=t{OE=1{al/on}}"));
    accepts(&reply(2, "S=t{M,DM,SA{nt/os=7,nt/dur},PG{al-1,g-2},E,SG{cg/dt},ER=430{}}"));
    accepts(&reply(1, "AV=C{a,b},AC=C{ER=443{}}"));
}

#[test]
fn trap_17_digit_maps_in_messages() {
    for map in ["=plan1", "=plan1{(1xx|2x.)}", "={T:16,S:4,L:12,(1xx)}", "={ ( [0-9ef].s | 00 ) }", "{1xx}"] {
        accepts(&request(1, &format!("MF=t{{DM{map}}}")));
    }
    accepts(&request(2, "MF=t{DM=p{Z:7,Zx1}}"));
    let text = compact(&request(1, "MF=t{DM={T:5,(1xx)   \r\n }}"));
    assert!(text.contains("DM={T:5,(1xx)}"), "{text}");
    for map in ["=", "", "={}", "={ }"] {
        rejects(&request(1, &format!("MF=t{{DM{map}}}")));
    }
}

#[test]
fn trap_18_modems_and_versions() {
    let text = compact(&request(1, "MF=t{MD=V18,MD[V22,V90]{al/x=1}}"));
    assert!(text.contains("{MD=V18,MD[V22,V90]{al/x=1}}"), "{text}");
    for version in [2, 3] {
        assert!(!compact(&request(version, "MF=t{MD=V18,E}")).contains("MD"));
        let mut message = read_message(b"!/1 a T=1{C=1{MF=t{MD=V18}}}").unwrap();
        message.mess.version = version;
        assert!(write_message(&message, Layout::Pretty, &mut Vec::new()).is_err());
        assert!(write_message(&message, Layout::Compact, &mut Vec::new()).is_err());
    }
    rejects(&request(1, "AV=t{AT{M{O{MO}}}}"));
    for parts in [
        "M{TS{SI}}",
        "M{TS{BF}}",
        "M{ST=1{O{MO}}}",
        "M{O{RV,RG,tdmc/gain}}",
        "E=1{al/on}",
        "E{al/on}",
        "EB{al/on}",
        "EB{al/on{ST=1}}",
        "SG{cg/dt}",
        "SG{SL=3{cg/dt}}",
        "SG{}",
        "DM=plan",
        "SA{nt/os}",
        "PG{al-1}",
        "M,E,SG{cg/dt}",
    ] {
        accepts(&request(2, &format!("AV=t{{AT{{{parts}}}}}")));
    }
    accepts(&request(3, "AV=t{AT{M{ST=1{O{MO=SR,nt/jit=7}}}}}"));
    accepts(&request(3, "AV=[a,b]{AT{M{TS{SI=IV}}}}"));
    for body in ["SM=1/2/END", "SM=1/2", "P=1/2/END{C=1}", "P=1/2/&{C=1}", "T=1{C=1{IEPS=ON,PR=16,EG,E-}}"] {
        let is_wrong = body.contains("E-");
        let three = format!("!/3 a {}", body.replace(",E-", ",S=t"));
        accepts(&three);
        assert!(is_wrong || read_message(three.replace("!/3", "!/2").as_bytes()).is_err(), "{three}");
    }
    accepts("!/3 a T=1{C=1{CT{al/x=1,al/y=2},S=t}}");
    accepts("!/3 a T=1{C=*{CT{CLT={1,2,-}},S=t}}");
    rejects("!/3 a T=1{C=1{CT{},S=t}}");
    accepts("!/3 a T=1{C=1{CA{CT{al/x,al/y=3},EGV=EGO,PR=3,IEPS=ON,ORLgc}}}");
    accepts(&request(3, "MF=t{E=1{al/on{NBIN,RSE},al/of{NBRN{EM{SG{cg/dt}}}},al/fl{NBNN}}}"));
    accepts(&request(3, "SC=t{SV{MT=RS,RE=901,SIC,M,E}}"));
}

fn binary(text: &str, rules: Rules, binary: &Binary) -> Vec<u8> {
    let mut out = Vec::new();
    let message = read_message(text.as_bytes()).unwrap();
    binary.encode(&message, rules, &mut out).unwrap_or_else(|error| panic!("{text}: {error}"));
    let again = binary.decode(&out, rules).unwrap_or_else(|error| panic!("{text}: {error}: {out:02x?}"));
    assert_eq!(again, message, "{text}");
    out
}

#[test]
fn trap_19_versions_in_binary_and_audit_tokens_as_a_set() {
    let standard = Binary::standard();
    for version in 1..=3 {
        for rules in [Rules::Ber, Rules::Per] {
            binary(&request(version, "AV=root{AT{M,E,SG}}"), rules, standard);
            binary(&request(version, "MF=root{E=1{al/on{EM{SG{cg/dt},E=2{al/of}}}}}"), rules, standard);
            binary(&format!("!/{version} a T=1{{C=1{{TP{{root,root,IS}}}}}}"), rules, standard);
        }
    }
    // Events without a request id, which the module of version 1 has not: request 0 for no events.
    for version in 1..=3 {
        for rules in [Rules::Ber, Rules::Per] {
            let none = binary(&request(version, "A=root{E}"), rules, standard);
            binary(&request(version, "A=root{E=1{al/on{EM{SG{cg/dt}}}}}"), rules, standard);
            binary(&reply(version, "S=root{E,EB,SG}"), rules, standard);
            let id = none.windows(5).any(|octets| octets == [0xa3, 0x05, 0x80, 0x01, 0x00]);
            assert_eq!(id, rules == Rules::Ber && version == 1, "{version} {none:02x?}");
        }
    }
    // A set: the order in which it is written makes no difference.
    let a = binary(&request(2, "AV=root{AT{M,E,SG}}"), Rules::Ber, standard);
    let b = binary(&request(2, "AV=root{AT{SG,M,E}}"), Rules::Ber, standard);
    assert_eq!(a, b);
    // What version 2 brought is refused in version 1.
    let mut message = read_message(b"!/2 a T=1{C=1{TP{root,root,IS,ST=1}}}").unwrap();
    message.mess.version = 1;
    assert!(standard.encode(&message, Rules::Ber, &mut Vec::new()).is_err());
    assert!(standard.encode(&message, Rules::Per, &mut Vec::new()).is_err());
}

#[test]
fn trap_20_values_strict_and_as_otp() {
    let text = request(1, "MF=root{M{O{tdmc/gain=2}}}");
    let raw = binary(&text, Rules::Ber, Binary::standard());
    assert!(raw.windows(3).any(|octets| octets == [0x04, 0x01, b'2']), "{raw:02x?}");
    let strict = Binary { strict: true, ..Binary::default() };
    let wrapped = binary(&text, Rules::Ber, &strict);
    assert!(wrapped.windows(5).any(|octets| octets == [0x04, 0x03, 0x16, 0x01, b'2']), "{wrapped:02x?}");
    let reason = request(1, "SC=root{SV{MT=RS,RE=\"901 Cold Boot\"}}");
    let wrapped = binary(&reason, Rules::Ber, &strict);
    assert!(wrapped.windows(5).any(|octets| octets == [0x04, 0x0f, 0x16, 0x0d, b'9']), "{wrapped:02x?}");
}

#[test]
fn trap_21_every_text_goes_to_binary() {
    let standard = Binary::standard();
    for rules in [Rules::Ber, Rules::Per] {
        // Names that the module writes in upper and lower case, after folding; IPv6; packages by number.
        binary(&request(3, "N=root{OE=1{g/cause{Generalcause=NR,FAILURECAUSE=x}}}"), rules, standard);
        binary(&request(3, "MF=root{M{TS{root/MGCMaxPDUSize=1,ROOT/mgmaxpdusize=2}}}"), rules, standard);
        binary("!/1 [2001:DB8::1]:2944 PN=1{}", rules, standard);
        binary(&request(1, "MF=root{M{O{0x8123/0x0007=on}},SG{0x8123/0x0001{0x0003=4}}}"), rules, standard);
    }
    // Unknown numbers become names that are numbers.
    let octets = binary(&request(1, "MF=root{M{O{0x8123/0x0007=on}}}"), Rules::Ber, standard);
    assert!(octets.windows(4).any(|octets| octets == [0x81, 0x23, 0, 7]));
    let text = request(1, "MF=root{M{O{mine/own=on}}}");
    let unknown = read_message(text.as_bytes()).unwrap();
    assert!(standard.encode(&unknown, Rules::Ber, &mut Vec::new()).is_err());
    let mut private = Binary::default();
    private.packages.add(tercet_megaco::packages::Package::new("mine", 0x8001).with(
        tercet_megaco::packages::Item::Property,
        "own",
        1,
        &[],
    ));
    binary(&request(1, "MF=root{M{O{mine/own=on}}}"), Rules::Ber, &private);
}

#[test]
fn trap_22_wildcards_of_terminations() {
    let standard = Binary::standard();
    for name in [
        "*",
        "$",
        "root",
        "11110000/*",
        "11110000/$",
        "11110000/10101010/*",
        "1*/00001111/00000000",
        "1111$",
        "11111111/0*/*",
    ] {
        binary(&request(1, &format!("S={name}")), Rules::Ber, standard);
    }
    // All: one octet of wildcard, bit 23, this level and those below.
    let all = binary(&request(1, "S=*"), Rules::Ber, standard);
    assert!(all.windows(3).any(|octets| octets == [0x04, 0x01, 0xd7]), "{all:02x?}");
    // Names that are no bits are their characters.
    for name in [
        "a4444",
        "abc",
        "line/7",
        "line/*",
        "$x$",
        "a*/b$",
        "*/1",
        "x/*/y",
        "ab*",
        "*ab",
        "a*b",
        "*/a*",
        "12345678",
        "line1234",
        "line12345",
        "a4444/1/2-3",
        "line/*/*",
        "line/1/$/22",
        "line/1234/*",
        "*/line/1/2$",
    ] {
        for rules in [Rules::Ber, Rules::Per] {
            let text = request(1, &format!("S={name}"));
            let message = read_message(text.as_bytes()).unwrap();
            let mut out = Vec::new();
            standard.encode(&message, rules, &mut out).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(standard.decode(&out, rules).unwrap(), message, "{name}");
        }
    }
    // 64 bits have no room for more.
    for name in ["line/1/2/345", "line^12345"] {
        let text = request(1, &format!("S={name}"));
        let message = read_message(text.as_bytes()).unwrap();
        let error = standard.encode(&message, Rules::Ber, &mut Vec::new()).unwrap_err();
        assert!(error.what.contains("of at most 8 characters"), "{error}");
    }
    let levels = Binary { levels: Levels(vec![4, 4, 8]), ..Binary::default() };
    binary(&request(1, "S=1010/0101/11110000"), Rules::Per, &levels);
    binary(&request(1, "S=1010/$"), Rules::Per, &levels);
}

/// Names that have no octets of their own get them from a table.
#[test]
fn terminations_with_configured_ids() {
    let mut configured = Binary::default();
    let entries: [(&str, &[u8], &[u8]); 4] = [
        ("subscriber/line/0001", &[], &[0x10, 0, 0, 1]),
        ("Subscriber/line/*", &[0xdf], &[0x10, 0, 0, 0]),
        ("subscriber/line/$", &[0x5f], &[0x10, 0, 0, 0]),
        // It would be its characters.
        ("line1", &[], &[7]),
    ];
    for (name, wildcards, id) in entries {
        configured.provisioned.add_with_wildcards(name, wildcards, id).unwrap();
    }
    for rules in [Rules::Ber, Rules::Per] {
        for (name, wildcards, id) in entries {
            binary(&request(1, &format!("S={name}")), rules, &configured);
            if rules == Rules::Ber {
                let octets = binary(&request(1, &format!("S={name}")), rules, &configured);
                assert!(octets.windows(id.len()).any(|octets| octets == id), "{name}");
                assert!(octets.windows(wildcards.len().max(1)).any(|octets| octets.starts_with(wildcards)));
            }
        }
        // Others are as they are without a table.
        for name in ["line2", "10110100/00000000/00000001", "root", "line/12345"] {
            let octets = binary(&request(1, &format!("S={name}")), rules, &configured);
            assert_eq!(octets, binary(&request(1, &format!("S={name}")), rules, Binary::standard()));
        }
    }
    let table = &mut configured.provisioned;
    for (name, id, fault) in [
        ("a b", &[1][..], BadTermination::Name),
        ("", &[1], BadTermination::Name),
        ("x", &[], BadTermination::Length),
        ("x", &[0; 9], BadTermination::Length),
        ("LINE1", &[9], BadTermination::NameTaken),
        ("x", &[7], BadTermination::IdTaken),
    ] {
        assert_eq!(table.add(name, id), Err(fault), "{name}");
    }
}

#[test]
fn trap_23_compressed_terms_with_an_authentication_header() {
    for version in 1..=3 {
        let text = format!("AU=0x00000001:0x00000002:0x000102030405060708090a0b !/{version} a PN=1{{}}");
        let message = read_message(text.as_bytes()).unwrap();
        let mut out = Vec::new();
        etf::write_short_message(&message, &mut out).unwrap();
        assert_eq!(etf::read_short_message(&out).unwrap(), message);
        assert_eq!(decode_any(&out).unwrap(), message);
        assert_eq!(decode_any(&etf::deflate(&out)).unwrap(), message);
    }
}

#[test]
fn version_and_sender_of_a_term_that_is_wrong_later() {
    let message = read_message(b"AU=0x00000001:0x00000002:0x000102030405060708090a0b !/2 mg1 T=1{C=1{S=t}}");
    let message = message.unwrap();
    // In the plain term the name of a record, in the short one the tag of a request for that of an error.
    for (name, from, to) in [
        ("etf", &b"ActionRequest"[..], &b"ActionRequesT"[..]),
        ("etf-mc", &[104, 3, 97, 55], &[104, 3, 97, 71]),
    ] {
        let (plain, zlib) =
            (Encoding::named(name).unwrap(), Encoding::named(&format!("{name}-zlib")).unwrap());
        let mut term = Vec::new();
        plain.encode(&message, &mut term).unwrap();
        let at = term.windows(from.len()).position(|octets| octets == from).unwrap();
        term[at..at + to.len()].copy_from_slice(to);
        for (encoding, term) in [(plain, term.clone()), (zlib, etf::deflate(&term))] {
            assert!(encoding.decode(&term).is_err(), "{encoding:?}");
            let (version, m_id) = encoding.decode_version_and_mid(&term).unwrap();
            assert_eq!((version, m_id), (2, MId::DeviceName("mg1".into())));
        }
    }
}

/// A compressor of a user's own: it knows one long word.
#[derive(Debug)]
struct Brief;

impl etf::Compressor for Brief {
    fn compress(&self, term: &[u8], out: &mut Vec<u8>) -> tercet_megaco::Result<()> {
        exchange(Term::read(term)?, b"asn1_NOVALUE", b"-").write(out);
        Ok(())
    }

    fn decompress(&self, term: &[u8], out: &mut Vec<u8>) -> tercet_megaco::Result<()> {
        exchange(Term::read(term)?, b"-", b"asn1_NOVALUE").write(out);
        Ok(())
    }
}

fn exchange<'a>(term: Term<'a>, from: &[u8], to: &'a [u8]) -> Term<'a> {
    let all = |terms: Vec<Term<'a>>| terms.into_iter().map(|term| exchange(term, from, to)).collect();
    match term {
        Term::Atom(name) if *name == *from => Term::Atom(to.into()),
        Term::Tuple(elements) => Term::Tuple(all(elements)),
        Term::List(elements) => Term::List(all(elements)),
        other => other,
    }
}

#[test]
fn a_user_brings_a_compressor() {
    let message = read_message(b"!/2 a T=1{C=1{MF=t{SG{al/ri}},S=t{AT{}}}}").unwrap();
    let (mut plain, mut brief) = (Vec::new(), Vec::new());
    etf::write_message(&message, &mut plain).unwrap();
    etf::write_compressed_message(&message, &Brief, &mut brief).unwrap();
    assert!(brief.len() < plain.len(), "{} {}", brief.len(), plain.len());
    assert_eq!(etf::read_compressed_message(&brief, &Brief).unwrap(), message);
    assert_eq!(etf::read_compressed_message(&etf::deflate(&brief), &Brief).unwrap(), message);
}

#[test]
fn version_and_sender_of_a_message_that_is_wrong_later() {
    let (version, m_id) = read_version_and_mid(b"!/2 <mg.example>:2944 T=1{C=1{nonsense}}").unwrap();
    assert_eq!(version, 2);
    assert!(
        matches!(m_id, MId::DomainName(name) if name.name == "mg.example" && name.port_number == Some(2944))
    );
}

#[test]
fn errors_say_where() {
    let text = b"MEGACO/1 [192.0.2.1]\nT=1{\n  C=1{\n    MF=t{Q}}}";
    let error = read_message(text).unwrap_err();
    assert_eq!(error.line_and_column(text), (4, 10));
    assert_eq!(error.what, "a descriptor");
    assert_eq!(error.source_line(text), b"    MF=t{Q}}}");
}

/// Every prefix, every flipped bit, and random octets give a value or an error.
#[test]
fn hostile_octets() {
    let messages: [&[u8]; 3] = [
        b"AU=0x00000001:0x00000002:0x000102030405060708090a0b !/3 [2001:DB8::1]:5 T=1{C=1{PR=3,MF=[a,b]{M{ST=1{O{MO=SR,nt/jit=[1:2]},L{v=0\na=b}}},E=1{al/on{EM{SG{cg/dt},E=2{al/of}}}},SG{SL=1{cg/dt{NC={TO}}}},DM=p{T:5,(1x.)}}}}",
        b"!/2 MTP{1234} P=1{C=1{S=t{M,SA{nt/os=1},PG{al-1},EB{al/on}},AV=C{a,b}}}K{1,2-3}PN=4{}",
        b"!/1 <a.b> T=1{C=-{SC=root{SV{MT=RS,RE=901,AD=5,V=1,20260101T12000000}},N=t{OE=1{20260101T12000000:al/on{strict=state}}}}}",
    ];
    for text in messages {
        let message = read_message(text).unwrap();
        for (_, encoding) in Encoding::ALL {
            let mut octets = Vec::new();
            // A name without a number cannot go to binary.
            if encoding.encode(&message, &mut octets).is_err() {
                continue;
            }
            for length in 0..octets.len() {
                _ = decode_any(&octets[..length]);
            }
            for bit in 0..octets.len() * 8 {
                octets[bit / 8] ^= 1 << (bit % 8);
                _ = decode_any(&octets);
                _ = encoding.decode(&octets);
                octets[bit / 8] ^= 1 << (bit % 8);
            }
        }
    }
    let mut state = 1u64;
    for length in 0..2000 {
        let octets: Vec<u8> = (0..length % 97)
            .map(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (state >> 56) as u8
            })
            .collect();
        for (_, encoding) in Encoding::ALL {
            _ = encoding.decode(&octets);
        }
    }
}

/// Braces in braces, and messages of 5 MB, take no more stack or time than their length.
#[test]
fn bombs() {
    let deep = "E=1{al/on{EM{".repeat(200_000);
    rejects(&request(1, &format!("MF=t{{{deep}")));
    rejects(&format!("!/1 a {}", "{".repeat(1_000_000)));
    rejects(&format!("!/1 a T=1{{C=1{{MF=t{{{}", "M{".repeat(500_000)));
    let long = request(1, &vec!["S=a/b/c"; 600_000].join(","));
    assert!(long.len() > 4_500_000);
    assert!(matches!(
        read_message(long.as_bytes()).unwrap(),
        MegacoMessage { mess, .. } if matches!(&mess.message_body, MessageBody::Transactions(all) if matches!(&all[0], Transaction::TransactionRequest(request) if request.actions[0].command_requests.len() == 600_000))
    ));
    let spaces = format!("!/1 a PN=1{{{}}}", " ".repeat(5_000_000));
    accepts(&spaces);
    let deep = [131, 104, 1].repeat(100_000);
    assert!(decode_any(&deep).is_err());
    assert!(decode_any("[".repeat(100_000).as_bytes()).is_err());
    assert!(decode_any("{\"a\":".repeat(100_000).as_bytes()).is_err());
}

#[test]
fn what_a_damaged_message_begins_with() {
    use tercet_megaco::codec::{Codec, Opening};

    for (text, expected) in [
        ("T=1{C=-{S=a}}", Opening::Request),
        ("PN=1{}", Opening::Pending),
        ("P=1{C=-{S=a}}", Opening::Reply),
        ("K{1}", Opening::Ack),
        ("SM=1/1", Opening::Segment),
        ("ER=400{}", Opening::Error),
    ] {
        let text = format!("!/3 [192.0.2.1]:2944 {text}");
        let cut = &text.as_bytes()[..text.len() - 1];
        assert_eq!(Encoding::Compact.opening(cut), Some(expected), "{text}");
        let message = Encoding::Compact.decode(text.as_bytes()).unwrap();
        let mut ber = Vec::new();
        Encoding::Ber.encode(&message, &mut ber).unwrap();
        assert_eq!(Encoding::Ber.opening(&ber[..ber.len() - 1]), Some(expected), "{text}");
    }
    assert_eq!(Encoding::Compact.opening(b"!/1 mg X"), None);
    assert_eq!(Encoding::Ber.opening(&[0x30, 0x80, 0xa1]), None);
}

#[test]
fn a_sender_alone() {
    for text in ["<mg.example>", "<mg.example>:2944", "[192.0.2.1]:55", "[2001:DB8::1]", "mg/1", "mtp{0a0b}"]
    {
        let mid = tercet_megaco::text::read_mid(text.as_bytes()).unwrap();
        let mut out = Vec::new();
        tercet_megaco::text::write_mid(&mid, &mut out).unwrap();
        assert!(out.eq_ignore_ascii_case(text.as_bytes()), "{text}: {}", out.escape_ascii());
    }
    for text in ["", "[192.0.2.1", "<mg", "mg mg"] {
        assert!(tercet_megaco::text::read_mid(text.as_bytes()).is_err(), "{text}");
    }
}
