//! LDIF from RFC 2849, the borders of folding, and round trips.

use proptest::prelude::*;

use super::*;
use crate::error::ErrorKind;
use crate::proto::Control;

fn read(text: &str) -> crate::Result<Vec<Record>> {
    Reader::new(text.as_bytes()).collect()
}

/// The kinds of records that the examples of RFC 2849 show, in words of our own.
#[test]
fn kinds_of_records() {
    let records = read(
        "version: 1\n# a comment\n that goes on\ndn: cn=Ada, o=test\nobjectclass: person\ncn:Ada\ncn:  Ada K\n ing\nsn:: TMO2dmU=\n\n\
         dn: cn=b,o=test\nchangetype: delete\n\n\n\
         dn: cn=c,o=test\ncontrol: 1.2.840.113556.1.4.805 true\ncontrol: 1.2.3 false:: AAE=\nchangetype: modify\nadd: mail\nmail: c@d\nmail: e@f\n-\n\
         delete: fax\n-\nreplace: l\n-\nincrement: n\nn: 1\n\n\
         dn: cn=d,o=test\r\nchangetype: modrdn\r\nnewrdn: cn=e\r\ndeleteoldrdn: 1\r\nnewsuperior: o=x\r\n\r\n\
         dn:\nchangetype: add\nobjectClass: top",
    )
    .unwrap();
    assert_eq!(records.len(), 5);
    let Change::Add(attributes) = &records[0].change else { panic!() };
    assert_eq!(attributes[1], ("cn".to_owned(), vec![b"Ada".to_vec(), b"Ada King".to_vec()]));
    assert_eq!(attributes[2].1, ["Löve".as_bytes()]);
    assert_eq!((&records[1].change, records[1].is_change), (&Change::Delete, true));
    let Change::Modify(modifications) = &records[2].change else { panic!() };
    let kinds: Vec<_> = modifications.iter().map(|one| (one.kind.word(), one.values.len())).collect();
    assert_eq!(kinds, [("add", 2), ("delete", 0), ("replace", 0), ("increment", 1)]);
    assert_eq!(records[2].controls[0], Control::new("1.2.840.113556.1.4.805").with_criticality(true));
    assert_eq!(records[2].controls[1].value.as_deref(), Some(&[0, 1][..]));
    let expected = Change::ModifyDn {
        new_rdn: "cn=e".to_owned(),
        delete_old_rdn: true,
        new_superior: Some("o=x".to_owned()),
    };
    assert_eq!(records[3].change, expected);
    assert_eq!(records[4].dn, "");
}

/// Values of an attribute come together, wherever they stand and however many other attributes there are.
#[test]
fn attributes_that_come_again() {
    for count in [2, 15, 16, 17, 40] {
        let lines: String = (0..count).chain(0..count).map(|i| format!("a{i}: {i}\nx: {i}\n")).collect();
        let record = read(&format!("dn: o=a\n{}", lines.replacen("a0", "A0", 1))).unwrap().remove(0);
        let Change::Add(attributes) = record.change else { panic!() };
        assert_eq!(attributes.len(), count + 1);
        assert_eq!(attributes[0], ("A0".to_owned(), vec![b"0".to_vec(); 2]));
        assert_eq!(attributes[1].1.len(), 2 * count);
        assert!(attributes[2..].iter().all(|(_, values)| values.len() == 2), "{attributes:?}");
    }
}

#[test]
fn faults_have_their_line() {
    for (text, line) in [
        ("version: 2\n", "line 1"),
        ("cn: x\n", "line 1"),
        ("dn: o=x\nno colon\n", "line 2"),
        ("dn: o=x\ncn:: !!\n", "line 2"),
        ("dn: o=x\ncn:< file:///etc/hostname\n", "line 2"),
        ("dn: o=x\ncn:< http://x/\n", "line 2"),
        ("dn: o=x\nchangetype: grow\n", "line 2"),
        ("dn: o=x\nchangetype: delete\ncn: x\n", "line 3"),
        ("dn: o=x\nchangetype: modify\nadd: a\nb: c\n", "line 4"),
        ("dn: o=x\nchangetype: modrdn\nnewrdn: o=y\ndeleteoldrdn: 2\n", "line 4"),
    ] {
        let error = read(text).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Syntax, "{text}");
        assert!(error.to_string().contains(line), "{text}: {error}");
    }
    let options = ReaderOptions { line: 100, ..ReaderOptions::default() };
    let text = format!("dn: o=x\ncn: {}", " y\n".repeat(100));
    assert_eq!(Reader::with_options(text.as_bytes(), options).record().unwrap_err().kind(), ErrorKind::Limit);
}

/// Lines of 78 columns, as ldapsearch of OpenLDAP 2.5 has them.
#[test]
fn folding() {
    let line = |wrap: Option<usize>, value: &[u8]| {
        let mut out = Vec::new();
        Style { wrap }.value(&mut out, b"description", value);
        String::from_utf8(out).unwrap()
    };
    let widths = |text: String| text.lines().map(str::len).collect::<Vec<_>>();
    assert_eq!(widths(line(Some(78), &[b'a'; 65])), [78]);
    assert_eq!(widths(line(Some(78), &[b'a'; 66])), [78, 2]);
    assert_eq!(widths(line(Some(78), &[b'a'; 65 + 77 + 1])), [78, 78, 2]);
    assert_eq!(widths(line(Some(20), &[b'a'; 30])), [20, 20, 5]);
    assert_eq!(widths(line(None, &[b'a'; 1000])), [1013]);
    assert_eq!(widths(line(Some(78), &[0; 48])), [78]);
    assert_eq!(widths(line(Some(78), &[0; 49])), [78, 5]);
    assert_eq!(widths(line(Some(2), b"ab")), [13, 2, 2]);
    assert_eq!(line(Some(78), b""), "description:\n");
}

#[test]
fn what_needs_base64() {
    for (value, safe) in [
        ("plain", true),
        ("#hash", true),
        ("in side", true),
        (" begin", false),
        ("end ", false),
        (":colon", false),
        ("<less", false),
        ("\u{7f}", false),
        ("tab\tinside", false),
        ("Löve", false),
        ("", true),
        ("-", true),
    ] {
        let mut out = Vec::new();
        Style::default().value(&mut out, b"cn", value.as_bytes());
        assert_eq!(!out.starts_with(b"cn:: "), safe, "{value:?}");
    }
    for (name, safe) in
        [("userPassword", false), ("2.5.4.35", false), ("a;binary", false), ("a;lang-de", true)]
    {
        let mut out = Vec::new();
        Style::default().value(&mut out, name.as_bytes(), b"x");
        assert_eq!(!out.windows(2).any(|two| two == b"::"), safe, "{name}");
    }
}

/// RFC 2849: `control:` takes the value as text, base64 or the content of a file.
#[test]
fn values_of_controls() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("value");
    std::fs::write(&path, b"\x30\x00").unwrap();
    let url = format!("file://{}", path.display());
    let read = |line: &str, read_files: bool| -> crate::Result<Control> {
        let text = format!("dn: o=x\ncontrol: {line}\nchangetype: delete\n");
        let options = ReaderOptions { read_files, ..ReaderOptions::default() };
        let record = Reader::with_options(text.as_bytes(), options).record()?.unwrap();
        Ok(record.controls.into_iter().next().unwrap())
    };
    for (line, critical, value) in [
        ("1.2.3".to_owned(), false, None),
        ("1.2.3 true".to_owned(), true, None),
        ("1.2.3 true: text".to_owned(), true, Some(&b"text"[..])),
        ("1.2.3:: MAA=".to_owned(), false, Some(b"\x30\x00")),
        (format!("1.2.3 true:< {url}"), true, Some(b"\x30\x00")),
        (format!("1.2.3:<{url}"), false, Some(b"\x30\x00")),
    ] {
        let control = read(&line, true).unwrap_or_else(|error| panic!("{line}: {error}"));
        assert_eq!((control.critical, control.value.as_deref()), (critical, value), "{line}");
    }
    // As for attributes: not unless files may be read, and no other URLs.
    assert!(read(&format!("1.2.3:< {url}"), false).unwrap_err().message().contains("not read"));
    assert!(read("1.2.3:< http://x/y", true).is_err());
    assert!(read("1.2.3:< file:///does/not/exist", true).is_err());
}

fn records() -> impl Strategy<Value = Record> {
    let value = || proptest::collection::vec(any::<u8>(), 0..100);
    let name = || {
        "[a-z][a-z0-9-]{0,5}(;[a-z]{1,3})?".prop_filter("no word of LDIF", |name| {
            !matches!(name.as_str(), "dn" | "control" | "version") && !name.starts_with("change")
        })
    };
    let kind = prop_oneof![
        Just(ModificationKind::Add),
        Just(ModificationKind::Delete),
        Just(ModificationKind::Replace),
        Just(ModificationKind::Increment)
    ];
    let modification = (kind, name(), proptest::collection::vec(value(), 0..3))
        .prop_map(|(kind, attribute, values)| RecordModification { kind, attribute, values });
    let change = prop_oneof![
        proptest::collection::btree_map(name(), proptest::collection::vec(value(), 1..3), 1..4)
            .prop_map(|attributes| Change::Add(attributes.into_iter().collect())),
        Just(Change::Delete),
        proptest::collection::vec(modification, 1..4).prop_map(Change::Modify),
        ("\\PC{1,20}", any::<bool>(), proptest::option::of("\\PC{0,20}")).prop_map(
            |(new_rdn, delete_old_rdn, new_superior)| {
                Change::ModifyDn { new_rdn, delete_old_rdn, new_superior }
            }
        ),
    ];
    let control = ("[0-9]\\.[0-9.]{1,8}", any::<bool>(), proptest::option::of(value()))
        .prop_map(|(oid, critical, value)| Control { oid, critical, value });
    ("\\PC{0,100}", proptest::collection::vec(control, 0..3), change)
        .prop_map(|(dn, controls, change)| Record { dn, controls, change, is_change: true })
}

proptest! {
    #[test]
    fn round_trip(records in proptest::collection::vec(records(), 0..4), wrap in proptest::option::of(2_usize..100)) {
        let mut out = Vec::new();
        records.iter().for_each(|record| Style { wrap }.record(&mut out, record));
        let again: Vec<Record> = Reader::new(out.as_slice()).collect::<crate::Result<_>>().unwrap();
        prop_assert_eq!(again, records, "{}", String::from_utf8_lossy(&out));
    }

    #[test]
    fn never_panics(text in "(dn|version|changetype|add|-|control|newrdn)?[: <#\n\r a-z0-9.=-]{0,60}") {
        _ = read(&text);
    }
}
