//! `tercet inspect`: filters, comparisons, changes, exports, captures; asked as its page asks.

#![cfg(feature = "inspect")]

#[path = "common/inspector.rs"]
mod inspector;

use inspector::{Inspector, demo, file, root};
use serde_json::Value;

/// The rows of a question once the search is complete.
fn complete(inspector: &Inspector, question: &str) -> Value {
    loop {
        let answer = inspector.ask(question);
        if answer["complete"] == true {
            return answer;
        }
        std::thread::yield_now();
    }
}

/// The records that a filter keeps.
fn kept(inspector: &Inspector, filter: &str) -> Vec<u64> {
    let answer = complete(inspector, &format!("records?{filter}"));
    let rows = answer["rows"].as_array().unwrap();
    assert_eq!(answer["total"].as_u64(), Some(rows.len() as u64));
    rows.iter().map(|row| row["record"].as_u64().unwrap()).collect()
}

#[test]
fn records_are_filtered() {
    let inspector = demo();
    let all = complete(&inspector, "records")["rows"].as_array().unwrap().clone();
    let of = |label: &str| -> Vec<u64> {
        all.iter().filter(|row| row["label"] == label).map(|row| row["record"].as_u64().unwrap()).collect()
    };
    assert_eq!(kept(&inspector, "where=choice%3DmoCall"), of("moCall"));
    let position = inspector.ask("position?record=5&where=choice%3DmoCall")["position"].as_u64().unwrap();
    assert_eq!(of("moCall")[position as usize], 5);
    let both = kept(&inspector, "where=choice%3DmoCall+and+duration+%3E+100");
    assert!(!both.is_empty() && both.len() < of("moCall").len() && both.contains(&5), "{both:?}");
    // The bytes of a text, those in hexadecimal, the digits of a number as they are encoded.
    assert!(kept(&inspector, "holds=msc02").contains(&5));
    assert_eq!(kept(&inspector, "holds=msc02"), kept(&inspector, "holds=4D+53+43+30+32"));
    assert_eq!(kept(&inspector, "holds=%2B4917006386"), [0]);
    assert_eq!(kept(&inspector, "problem=any"), [0; 0]);
    let reason = inspector.refused("records?where=duratio+%3E+1");
    assert!(reason.contains("did you mean `duration`?"), "{reason}");
    assert!(inspector.refused("records?problem=bad").contains("bad"));
}

#[test]
fn values_are_compared() {
    let inspector = demo();
    let same = inspector.ask("compare?record=5&with-record=5");
    assert_eq!((&same["differences"], &same["octets"]), (&0.into(), &0.into()));
    let other = inspector.ask("compare?record=5&with-record=7");
    assert_eq!((&other["differences"], &other["right"]["record"]), (&11.into(), &7.into()));
    let lines = other["lines"].as_array().unwrap();
    let duration = lines.iter().find(|line| line["left"]["name"] == "duration").unwrap();
    assert_eq!((&duration["state"], &duration["left"]["value"]), (&"changed".into(), &"1779".into()));
    let identity = lines.iter().find(|line| line["right"]["name"] == "servedIMEI").unwrap();
    assert_eq!((&identity["state"], &identity["left"]), (&"added".into(), &Value::Null));
    assert!(!inspector.refused("compare?record=5&with-record=99").is_empty());
}

#[test]
fn records_are_changed_and_saved() {
    let (folder, path) = file("calls.ber", &std::fs::read(root().join("examples/calls.ber")).unwrap());
    let words = ["--no-open", "--edit", "-s", "schemas/demo", "-t", "CallRecord", "--rules", "ber", &path];
    let inspector = Inspector::new(&words);
    let duration = "record=5&path=CallRecord.moCall.duration";
    let value = || inspector.ask(&format!("explain?{duration}"))["value"].as_str().unwrap().to_owned();
    // A change is tried first: what it would do, with the constraint.
    let tried = inspector.act(&format!("edit?{duration}&op=set&try=1"), "604801");
    assert_eq!(tried["problems"][0]["path"], "CallRecord.moCall.duration");
    assert_eq!(value(), "1779");
    assert_eq!(inspector.act(&format!("edit?{duration}&op=set"), "60")["undo"], 1);
    assert_eq!(value(), "60");
    inspector.act("edit?record=5&op=remove&path=CallRecord.moCall.answerTime", "");
    inspector.act("edit?record=5&op=undo", "");
    assert_eq!(inspector.act("edit?record=5&op=undo", "")["edited"], 0);
    assert_eq!(value(), "1779");
    assert_eq!(inspector.act("edit?record=5&op=redo", "")["edited"], 1);
    let fields = inspector.ask("fields?record=5&path=CallRecord.moCall.supplementary");
    let (add, removes) = (fields["add"][0]["path"].as_str().unwrap(), &fields["canRemove"]);
    assert_eq!((add, removes), ("CallRecord.moCall.supplementary[2]", &true.into()));
    let sample = inspector.ask(&format!("sample?record=5&path={add}"))["json"].as_str().unwrap().to_owned();
    inspector.act(&format!("edit?record=5&op=set&path={add}"), &sample);
    assert_eq!(inspector.ask("message?record=5")["problems"], serde_json::json!([]));
    // The list shows it, and filters find it.
    assert_eq!(inspector.ask("records?from=5&count=1")["rows"][0]["edited"], true);
    assert!(kept(&inspector, "where=duration+%3D+60").contains(&5));
    // Bytes by hand.
    inspector.act("edit?record=0&op=octets&from=3&count=1", "7f");
    assert_eq!(inspector.ask("message?record=0")["problems"][0]["kind"], "fault");
    inspector.act("edit?record=0&op=revert", "");
    let to = folder.path().join("new.ber");
    let saved = inspector.act(&format!("save?to={}", to.display()), "");
    assert_eq!(saved["records"], 1);
    let (old, new) = (std::fs::read(&path).unwrap(), std::fs::read(&to).unwrap());
    assert_eq!((&new[..278], &new[new.len() - 500..]), (&old[..278], &old[old.len() - 500..]));
    // Nothing is replaced.
    let again = inspector.post(&format!("{}api/save?to={path}", inspector.base), "", "");
    assert_eq!((again.status, std::fs::read(&path).unwrap()), (422, old));
    // Another page may never change anything; without the option, nobody may.
    let question = format!("{}api/edit?{duration}&op=set", inspector.base);
    assert_eq!(inspector.post(&question, "Origin: http://example.net\r\n", "1").status, 403);
    let refused = demo();
    let answer = refused.post(&format!("{}api/edit?{duration}&op=set", refused.base), "", "1");
    assert!(answer.status == 422 && answer.body.contains("--edit"), "{}", answer.body);
}

#[test]
fn traces_and_pages_for_others() {
    let inspector = demo();
    let export =
        |words: &str| inspector.ask(&format!("export?record=5&{words}"))["text"].as_str().unwrap().to_owned();
    assert!(export("as=trace").contains("X.690 8.1.3"));
    let table = export("as=markdown");
    let columns = |line: &str| line.replace("\\|", "").matches('|').count();
    assert!(table.lines().all(|line| columns(line) == 8), "{table}");
    assert_eq!(export("as=base64&path=CallRecord.moCall.recordNumber"), "gAEF\n");
    let page = export("as=html");
    assert!(page.contains("MSC02") && !page.contains("<script") && !page.contains("http"), "{page}");
    assert_eq!(page.matches("<ul>").count(), page.matches("</ul>").count());
}

/// A packet of UDP over IPv4 as a record of a capture file.
#[cfg(feature = "capture")]
fn packet(seconds: u8, message: &[u8]) -> Vec<u8> {
    let length = 28 + message.len() as u8;
    let mut octets = vec![seconds, 0, 0, 0, 0, 0, 0, 0, length, 0, 0, 0, length, 0, 0, 0];
    octets.extend([0x45, 0, 0, length, 0, 0, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
    octets.extend([0xC0, 0, 0, 161, 0, length - 20, 0, 0]);
    octets.extend(message);
    octets
}

#[test]
#[cfg(feature = "capture")]
fn messages_of_a_capture_are_listed() {
    let mut octets =
        vec![0xD4, 0xC3, 0xB2, 0xA1, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 101, 0, 0, 0];
    octets.extend(packet(1, b"\x30\x0E\x02\x01\x00\x04\x04Falk\xA0\x03\x02\x01\x05"));
    octets.extend(packet(2, b"\x30\x0E\x02\x01\x00\x04\x04Moby\xA0\x03\x02\x01\x06"));
    let (folder, path) = file("a.pcap", &octets);
    let schema =
        "RFC1157-SNMP DEFINITIONS ::= BEGIN Message ::= SEQUENCE { version INTEGER, community OCTET STRING,
        pdu CHOICE { get [0] IMPLICIT SEQUENCE { n INTEGER } } } END";
    let text = folder.path().join("snmp.asn");
    std::fs::write(&text, schema).unwrap();
    let inspector = Inspector::new(&["--no-open", "--edit", "-s", text.to_str().unwrap(), &path]);
    let state = inspector.ask("state");
    assert_eq!(
        (&state["type"], &state["files"][0]["protocols"]),
        (&"RFC1157-SNMP.Message".into(), &serde_json::json!(["snmp"]))
    );
    let records = complete(&inspector, "records");
    assert_eq!((&records["total"], &records["framing"]), (&2.into(), &"capture".into()));
    let row = &records["rows"][1];
    assert_eq!(
        (&row["frame"], &row["from"], &row["to"]),
        (&2.into(), &"10.0.0.1:49152".into(), &"10.0.0.2:161".into())
    );
    assert_eq!(row["time"], "1970-01-01T00:00:02.000000000Z");
    let get = inspector.ask("explain?record=1&path=Message.pdu.get.n");
    assert_eq!((&get["value"], &get["location"]["line"]), (&"6".into(), &1.into()));
    assert_eq!(kept(&inspector, "where=pdu.get.n+%3D+6"), [1]);
    assert_eq!(kept(&inspector, "holds=falk"), [0]);
    assert_eq!(kept(&inspector, "protocol=snmp"), [0, 1]);
    assert_eq!(kept(&inspector, "protocol=ldap"), [0; 0]);
    assert_eq!(inspector.ask("compare?record=0&with-record=1")["differences"], 2);
    // Without specifications: elements.
    let inspector = Inspector::new(&["--no-open", &path]);
    assert_eq!(inspector.ask("message?record=1")["nodes"][0]["name"], "$");
}
