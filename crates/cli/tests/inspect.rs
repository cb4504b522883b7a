//! `tercet inspect`, asked as its page asks: over HTTP.

#![cfg(feature = "inspect")]

#[path = "common/inspector.rs"]
mod inspector;

use inspector::{Inspector, demo, file, root};
use serde_json::Value;
use std::net::TcpStream;
use std::process::Command;

#[test]
fn only_the_page_itself_is_answered() {
    let inspector = demo();
    let (address, base) = (&inspector.address, &inspector.base);
    let state = format!("{base}api/state");
    assert_eq!(inspector.get(&state, "").status, 200);
    // No token, a wrong one, and one that is cut.
    for path in ["/", "/api/state", &format!("/{}/api/state", "0".repeat(32)), &state[..20]] {
        let answer = inspector.get(path, "");
        assert_eq!((answer.status, answer.body.contains("calls.ber")), (403, false), "{path}");
    }
    // Another page in the same browser.
    for field in [
        "Origin: http://example.net",
        "Origin: null",
        "Sec-Fetch-Site: cross-site",
        "Sec-Fetch-Site: same-site",
    ] {
        assert_eq!(inspector.get(&state, &format!("{field}\r\n")).status, 403, "{field}");
    }
    let own = format!("Origin: http://{address}\r\nSec-Fetch-Site: same-origin\r\n");
    assert_eq!(inspector.get(&state, &own).status, 200);
    // Another name of this machine, as in DNS rebinding; none; two.
    for host in
        ["Host: example.net\r\n", "Host: 127.0.0.1\r\n", "", &format!("Host: {address}\r\nHost: a\r\n")]
    {
        let answer = inspector.raw(&format!("GET {state} HTTP/1.1\r\n{host}Connection: close\r\n\r\n"));
        assert!(matches!(answer.status, 400 | 403), "{host}: {}", answer.status);
    }
    // Nothing is written.
    for method in ["POST", "PUT", "DELETE", "OPTIONS"] {
        let request = format!("{method} {state} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
        assert_eq!(inspector.raw(&request).status, 405, "{method}");
    }
}

#[test]
fn no_path_names_a_file() {
    let inspector = demo();
    let base = &inspector.base;
    for path in [
        "../../etc/passwd",
        "/etc/passwd",
        "..%2f..%2fetc%2fpasswd",
        "examples/calls.ber",
        "main.js/../../Cargo.toml",
    ] {
        assert_eq!(inspector.get(&format!("{base}{path}"), "").status, 404, "{path}");
    }
    for question in ["records?file=1", "records?file=/etc/passwd", "schema?text=9", "octets?record=24"] {
        let reason = inspector.refused(question);
        assert!(!reason.is_empty(), "{question}");
    }
}

#[test]
fn every_answer_is_closed_to_others() {
    let inspector = demo();
    let paths = ["", "main.js", "style.css", "api/state", "api/records?file=9", "nothing"];
    let mut heads = paths.map(|path| inspector.get(&format!("{}{path}", inspector.base), "").head).to_vec();
    heads.push(inspector.get("/", "").head);
    for head in heads {
        for field in [
            "Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self';",
            "frame-ancestors 'none'",
            "X-Content-Type-Options: nosniff",
            "Referrer-Policy: no-referrer",
            "Cache-Control: no-store",
            "Cross-Origin-Resource-Policy: same-origin",
        ] {
            assert!(head.contains(field), "{field} is missing:\n{head}");
        }
        assert!(!head.contains("Access-Control-Allow"), "{head}");
    }
}

#[test]
fn what_is_no_request_ends_the_connection_only() {
    let inspector = demo();
    for request in
        ["\0\0\0\0\r\n\r\n", "GET\r\n\r\n", "GET / HTTP/9\r\n\r\n", &format!("GET /{}", "a".repeat(40_000))]
    {
        assert!(matches!(inspector.raw(request).status, 0 | 400), "{}", &request[..10]);
    }
    // More connections than are served at one time, all of them silent.
    let silent: Vec<_> = (0..300).map(|_| TcpStream::connect(&inspector.address).unwrap()).collect();
    drop(silent);
    let mut left = 200;
    let state = format!("{}api/state", inspector.base);
    while inspector.get(&state, "").status != 200 && left > 0 {
        left -= 1;
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    assert!(left > 0, "the places of closed connections are not given back");
}

#[test]
fn records_values_and_bytes_are_linked() {
    let inspector = demo();
    let records = inspector.ask("records?count=3");
    assert_eq!((&records["total"], &records["complete"]), (&24.into(), &true.into()));
    assert_eq!(records["rows"][1]["offset"], 46);
    assert_eq!(records["rows"][1]["label"], "mtCall");
    let message = inspector.ask("message?record=5");
    assert_eq!((&message["offset"], &message["length"]), (&278.into(), &123.into()));
    assert_eq!((&message["type"], &message["rules"]), (&"CallRecord".into(), &"ber".into()));
    // From a path to the bits, the definition, and back.
    let cell = inspector.ask("explain?record=5&path=CallRecord.moCall.location.cell");
    assert_eq!((&cell["bit"], &cell["bits"]), (&(313 * 8).into(), &72.into()));
    assert_eq!(cell["shown"], "plmn 999-70, lac 4608, ci 1760");
    assert_eq!(cell["parts"][0]["clause"], "X.690 8.1.2");
    assert_eq!(cell["parts"][2]["encoding"], "99F907120006E0");
    let line = cell["location"]["line"].as_u64().unwrap();
    let text = inspector.ask(&format!("schema?text=0&from={line}&count=1"));
    let words: String =
        text["lines"][0].as_array().unwrap().iter().map(|piece| piece[1].as_str().unwrap()).collect();
    assert!(words.trim_start().starts_with("cell"), "{words}");
    let back = inspector.ask(&format!("line?record=5&text=0&line={line}"));
    assert_eq!(back["nodes"], serde_json::json!([cell["id"]]));
    let chain = inspector.ask(&format!("node?record=5&bit={}", 316 * 8));
    assert_eq!(chain["chain"].as_array().unwrap().last().unwrap()["id"], cell["id"]);
    // All bits of the record belong to one part each.
    let octets = inspector.ask("octets?record=5");
    let mut at = 278 * 8;
    for part in octets["parts"].as_array().unwrap() {
        assert_eq!(part[0].as_u64(), Some(at));
        at += part[1].as_u64().unwrap();
    }
    assert_eq!(at, (278 + 123) * 8);
    // By an offset, and by what is in it.
    assert_eq!(inspector.ask("message?offset=300")["record"], 5);
    assert_eq!(
        inspector.ask("find?record=5&text=msc02")["node"],
        inspector.ask("explain?record=5&path=CallRecord.moCall.location.exchange")["id"]
    );
}

#[test]
fn values_and_bytes_for_other_programs() {
    let inspector = demo();
    let export =
        |words: &str| inspector.ask(&format!("export?record=5&{words}"))["text"].as_str().unwrap().to_owned();
    let value: Value = serde_json::from_str(&export("as=json")).unwrap();
    assert_eq!(value["moCall"]["location"]["exchange"], "MSC02");
    assert!(export("as=xml").starts_with("<CallRecord><moCall>"));
    assert!(
        export("as=gser").contains("exchange \"MSC02\"") && export("as=value").contains("exchange \"MSC02\"")
    );
    let path = "path=CallRecord.moCall.location.exchange";
    assert_eq!(export(&format!("as=hex&{path}")), "81054D53433032");
    assert!(export(&format!("as=c&{path}")).contains("message[7] = {\n    0x81, 0x05, 0x4D"));
    assert_eq!(export("as=hex").len(), 2 * 123);
    assert!(inspector.refused("export?record=5&as=abc").contains("unknown form `abc`"));
}

#[test]
fn text_is_pasted() {
    let inspector = demo();
    let (address, base) = (&inspector.address, &inspector.base);
    let paste = |path: &str, fields: &str, text: &str| inspector.post(path, fields, text);
    let octets = std::fs::read(root().join("examples/calls.ber")).unwrap();
    let digits: String = octets[..46].iter().map(|octet| format!("{octet:02x}")).collect();
    let spaced: String = octets[..46].iter().map(|octet| format!("0x{octet:02X}, ")).collect();
    let path = format!("{base}api/paste");
    for (number, text) in [(1, &digits), (2, &spaced)] {
        let answer = paste(&path, "", text);
        assert_eq!(answer.status, 200, "{}", answer.body);
        let message = inspector.ask(&format!("message?file={number}&record=0"));
        assert_eq!(
            (&message["length"], &message["problems"]),
            (&46.into(), &serde_json::json!([])),
            "{text}"
        );
    }
    assert_eq!(inspector.ask("state")["files"].as_array().unwrap().len(), 3);
    // Only by the page itself, and only so much.
    assert_eq!(paste("/api/paste", "", &digits).status, 403);
    assert_eq!(paste(&path, "Origin: http://example.net\r\n", &digits).status, 403);
    assert_eq!(paste(&path, "", "  ").status, 422);
    let request = format!("POST {path} HTTP/1.1\r\nHost: {address}\r\nContent-Length: 99999999\r\n\r\n");
    assert_eq!(inspector.raw(&request).status, 413);
    assert_eq!(inspector.ask("state")["files"].as_array().unwrap().len(), 3);
}

#[test]
fn bits_of_packed_encodings_belong_to_their_values() {
    // A number of three bits over the border of two bytes.
    let schema = "P DEFINITIONS AUTOMATIC TAGS ::= BEGIN M ::= SEQUENCE { a INTEGER (0..31), b INTEGER (0..7), c BOOLEAN OPTIONAL } END";
    let (folder, path) = file("m.uper", &[0b1000_1010, 0b1100_0000]);
    let text = folder.path().join("p.asn");
    std::fs::write(&text, schema).unwrap();
    let inspector =
        Inspector::new(&["--no-open", "-s", text.to_str().unwrap(), "-t", "M", "--rules", "uper", &path]);
    let message = inspector.ask("message?record=0");
    assert_eq!((&message["hasBits"], &message["problems"]), (&true.into(), &serde_json::json!([])));
    let b = inspector.ask("explain?record=0&path=M.b");
    assert_eq!((&b["value"], &b["bit"], &b["bits"]), (&"5".into(), &6.into(), &3.into()));
    let a = inspector.ask("explain?record=0&path=M.a");
    assert_eq!((&a["value"], &a["bit"], &a["bits"]), (&"2".into(), &1.into(), &5.into()));
    assert_eq!(b["parts"][0]["clause"], "X.691 13");
    assert_eq!((&b["size"]["least"], &b["size"]["unit"]), (&3.into(), &"bits".into()));
}

#[test]
fn faults_and_constraints_have_their_places() {
    let mut octets = std::fs::read(root().join("examples/calls.ber")).unwrap();
    // The IMSI of record 1 gets the tag of its location.
    octets[46 + 5] = 0x85;
    let (_folder, path) = file("bad.ber", &octets);
    let inspector =
        Inspector::new(&["--no-open", "-s", "schemas/demo", "-t", "CallRecord", "--rules", "ber", &path]);
    let message = inspector.ask("message?record=1");
    let problem = &message["problems"][0];
    assert_eq!((&problem["kind"], &problem["path"]), (&"fault".into(), &"CallRecord.mtCall.location".into()));
    assert!(problem["message"].as_str().unwrap().contains("0x33"), "{problem}");
    // What was read before stays, and the rest is accounted for.
    let number = inspector.ask("explain?record=1&path=CallRecord.mtCall.recordNumber");
    assert_eq!(number["value"], "1");
    let parts = inspector.ask("octets?record=1");
    let last = parts["parts"].as_array().unwrap().last().unwrap().clone();
    assert_eq!((&last[2], &last[3]), (&"unread".into(), &problem["node"]));
    assert_eq!(inspector.ask("problem?row=0")["row"]["record"], 1);
    assert_eq!(inspector.ask("problem?row=5&direction=back")["row"]["record"], 1);
    // A value against its constraint.
    let schema = "C DEFINITIONS ::= BEGIN M ::= SEQUENCE { age INTEGER (0..9) } END";
    let (folder, path) = file("m.ber", &[0x30, 3, 2, 1, 10]);
    let text = folder.path().join("c.asn");
    std::fs::write(&text, schema).unwrap();
    let inspector =
        Inspector::new(&["--no-open", "-s", text.to_str().unwrap(), "-t", "M", "--rules", "ber", &path]);
    let problem = inspector.ask("message?record=0")["problems"][0].clone();
    assert_eq!((&problem["kind"], &problem["path"]), (&"constraint".into(), &"M.age".into()));
    assert!(problem["constraint"].as_str().unwrap().contains("(0..9)"), "{problem}");
}

#[test]
fn a_cut_record_shows_what_there_is() {
    let octets = std::fs::read(root().join("examples/calls.ber")).unwrap();
    let (_folder, path) = file("cut.ber", &octets[..30]);
    let inspector =
        Inspector::new(&["--no-open", "-s", "schemas/demo", "-t", "CallRecord", "--rules", "ber", &path]);
    let message = inspector.ask("message?row=0");
    assert_eq!(message["problems"][0]["kind"], "fault");
    let imsi = inspector.ask("explain?row=0&path=CallRecord.sms.servedIMSI");
    assert_eq!(imsi["value"], "\"99790000206572F6\"");
}

#[test]
fn values_are_text_whatever_they_hold() {
    let schema = "X DEFINITIONS ::= BEGIN M ::= UTF8String END";
    let markup = "<img src=x onerror=alert(1)></script>";
    let mut octets = vec![0x0C, markup.len() as u8];
    octets.extend(markup.as_bytes());
    let (folder, path) = file("<b>m.ber", &octets);
    let text = folder.path().join("x.asn");
    std::fs::write(&text, schema).unwrap();
    let inspector =
        Inspector::new(&["--no-open", "-s", text.to_str().unwrap(), "-t", "M", "--rules", "ber", &path]);
    let answer = inspector.get(&format!("{}api/message?record=0", inspector.base), "");
    // It is JSON, says so, and no browser may guess otherwise.
    assert!(answer.head.contains("Content-Type: application/json") && answer.head.contains("nosniff"));
    let value: Value = serde_json::from_str(&answer.body).unwrap();
    assert_eq!(value["nodes"][0]["value"], format!("\"{markup}\""));
}

#[test]
fn a_file_that_shrinks_is_a_message() {
    let octets = std::fs::read(root().join("examples/calls.ber")).unwrap();
    let (_folder, path) = file("calls.ber", &octets);
    let inspector =
        Inspector::new(&["--no-open", "-s", "schemas/demo", "-t", "CallRecord", "--rules", "ber", &path]);
    assert_eq!(inspector.ask("records?count=1")["total"], 24);
    std::fs::write(&path, &octets[..100]).unwrap();
    let reason = inspector.refused("message?record=20");
    assert!(reason.contains("the file has changed"), "{reason}");
    assert_eq!(inspector.ask("message?record=0")["length"], 46);
}

#[test]
fn type_and_rules_are_found_by_trial() {
    let inspector = Inspector::new(&["--no-open", "-s", "schemas/demo", "examples/calls.ber"]);
    let state = inspector.ask("state");
    assert_eq!((&state["type"], &state["rules"]), (&"Demo-CDR.CallRecord".into(), &"ber".into()));
    let found = inspector.ask("candidates?record=0");
    assert_eq!(
        (&found["candidates"][0]["fits"], &found["candidates"][0]["type"]),
        (&true.into(), &state["type"])
    );
    // Another type on the same bytes.
    let other = inspector.ask("message?record=0&type=ShortMessage&rules=uper");
    assert_eq!((&other["type"], &other["rules"]), (&"ShortMessage".into(), &"uper".into()));
    assert!(inspector.refused("message?record=0&rules=abc").contains("abc"));
    assert!(inspector.refused("message?record=0&type=Nothing").contains("Nothing"));
}

#[test]
fn elements_are_shown_without_a_specification() {
    let inspector = Inspector::new(&["--no-open", "examples/certificate.pem"]);
    let state = inspector.ask("state");
    assert_eq!((&state["type"], &state["files"][0]["note"]), (&Value::Null, &"PEM".into()));
    let message = inspector.ask("message?record=0");
    let nodes = message["nodes"].as_array().unwrap();
    assert_eq!((&nodes[0]["name"], &nodes[0]["type"]), (&"$".into(), &"SEQUENCE".into()));
    let has =
        |text: &str| nodes.iter().any(|node| node["value"].as_str().is_some_and(|it| it.contains(text)));
    assert!(has("ecdsa-with-SHA256") && has("Tercet Demo"), "OIDs have names");
    // Extensions are DER in OCTET STRINGs, and are opened.
    let opened =
        nodes.iter().any(|node| node["type"] == "OCTET STRING" && node["children"].as_u64() > Some(0));
    assert!(opened, "no string is opened");
}

#[test]
fn several_inputs_and_what_is_packed() {
    let octets = std::fs::read(root().join("examples/calls.ber")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let zstd = folder.path().join("calls.ber.zst");
    std::fs::write(&zstd, zstd::encode_all(&octets[..], 1).unwrap()).unwrap();
    let hex = folder.path().join("call.hex");
    let digits: String = octets[..46].iter().map(|octet| format!("{octet:02x} ")).collect();
    std::fs::write(&hex, digits).unwrap();
    let inspector = Inspector::new(&[
        "--no-open",
        "-s",
        "schemas/demo",
        "-t",
        "CallRecord",
        "--rules",
        "ber",
        "examples/calls.ber",
        zstd.to_str().unwrap(),
        hex.to_str().unwrap(),
    ]);
    for (file, records) in [(0, 24), (1, 24), (2, 1)] {
        let answer = inspector.ask(&format!("records?file={file}&count=1"));
        assert_eq!(
            (&answer["records"], &answer["rows"][0]["label"]),
            (&records.into(), &"sms".into()),
            "{file}"
        );
    }
}

#[test]
fn what_cannot_be_shown_is_an_error_of_the_command() {
    for (words, reason) in [
        (&["-t", "CallRecord", "examples/calls.ber"][..], "--schema"),
        (&["-s", "schemas/demo", "-t", "Nothing", "--rules", "ber", "examples/calls.ber"], "Nothing"),
        (&["-s", "schemas/demo", "nothing.ber"], "nothing.ber"),
    ] {
        let output = Command::new(env!("CARGO_BIN_EXE_tercet"))
            .current_dir(root())
            .args(["inspect", "--no-open"])
            .args(words)
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && text.contains(reason), "{words:?}: {text}");
    }
}
