//! `tercet ldap ldif`, `diff` and `oid`: LDIF files without a server, and comparisons of servers.
#![cfg(unix)]

#[path = "common/serve.rs"]
mod serve;

use serve::{Serve, tercet};
use std::path::Path;

const STAFF: &str = "\
dn: uid=bob,ou=p,o=test
objectClass: account
uid: bob
mail: b@x

dn: o=test
objectClass: organization
o: test

dn: ou=p,o=test
objectClass: organizationalUnit
ou: p

dn: uid=ada,ou=p,o=test
objectClass: account
uid: ada
mail: a@x
mail: aa@x
jpegPhoto:: /9g=
manager: uid=bob,ou=p,o=test
";

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("s"), STAFF).unwrap();
    folder
}

fn dns(text: &str) -> Vec<&str> {
    text.lines().filter_map(|line| line.strip_prefix("dn: ")).collect()
}

fn ldif(folder: &Path, words: &[&str]) -> (i32, String, String) {
    tercet(folder, &[&["ldif"], words].concat())
}

#[test]
fn files_are_searched_as_servers_are() {
    let folder = folder();
    let run = |words: &[&str]| ldif(folder.path(), &[&["search"], words].concat());
    let (code, out, _) = run(&["s", "(uid=ada)", "mail"]);
    assert_eq!((code, out.as_str()), (0, "dn: uid=ada,ou=p,o=test\nmail: a@x\nmail: aa@x\n\n"));
    for (words, expected) in [
        (&["s", "objectClass=*"][..], 4),
        (&["-b", "OU=p, o=test", "s", "(objectClass=*)"], 3),
        (&["-b", "ou=p,o=test", "-s", "base", "s", "(objectClass=*)"], 1),
        (&["-b", "o=test", "-s", "one", "s", "(objectClass=*)"], 1),
        (&["-b", "o=test", "-s", "children", "s", "(objectClass=*)"], 3),
        (&["s", "s", "(uid=*)"], 4),
        (&["s", "(uid=nobody)"], 0),
    ] {
        let (code, out, err) = run(words);
        assert_eq!((code, dns(&out).len()), (0, expected), "{words:?}: {out}{err}");
    }
    assert_eq!(run(&["s", "(uid=ada"]).0, 1);
    assert_eq!(run(&["s"]).0, 1);
    assert_eq!(run(&["(uid=a)"]).0, 1);
    assert_eq!(run(&["missing", "(uid=a)"]).0, 4);
    // Compressed files are unpacked.
    let packed = zstd::encode_all(STAFF.as_bytes(), 0).unwrap();
    std::fs::write(folder.path().join("s.zst"), packed).unwrap();
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    std::io::Write::write_all(&mut gzip, STAFF.as_bytes()).unwrap();
    std::fs::write(folder.path().join("s.gz"), gzip.finish().unwrap()).unwrap();
    assert_eq!(run(&["s.zst", "s.gz", "(uid=ada)", "1.1"]).1, "dn: uid=ada,ou=p,o=test\n\n".repeat(2));
}

#[test]
fn changes_are_applied_to_files() {
    let folder = folder();
    let changes = "dn: uid=bob,ou=p,o=test\nchangetype: modify\nadd: mail\nmail: B@x\n-\n\n\
                   dn: uid=bob,ou=p,o=test\nchangetype: modify\nreplace: mail\nmail: n@x\n-\n";
    std::fs::write(folder.path().join("c"), changes).unwrap();
    let run = |words: &[&str]| ldif(folder.path(), &[&["apply"], words].concat());
    let (code, out, err) = run(&["c", "s"]);
    assert_eq!((code, out.as_str()), (3, ""), "{err}");
    assert!(err.contains("uid=bob,ou=p,o=test: Type or value exists (20)"), "{err}");
    let (code, out, err) = run(&["c", "s", "-o", "o", "--rejects", "r"]);
    assert_eq!((code, out.as_str(), err.as_str()), (2, "", "1 change refused\n"));
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    assert_eq!(read("o"), STAFF.replace("mail: b@x", "mail: n@x") + "\n");
    let rejects = read("r");
    assert!(
        rejects.starts_with("# Type or value exists (20): modification 1: mail: value exists\ndn: uid=bob")
    );
    assert_eq!(run(&["r", "s", "--lenient"]).0, 0);
    assert_eq!(run(&["c", "s", "--lenient"]).1, read("o"));
}

#[test]
fn faults_are_listed_with_their_places() {
    let folder = folder();
    assert_eq!(ldif(folder.path(), &["check", "s"]), (0, "0 faults in 4 records\n".into(), String::new()));
    let bad = format!("{STAFF}\ndn: uid=x\nuid: y\nl\n\ndn: O=Test\no: test\n");
    std::fs::write(folder.path().join("b"), bad).unwrap();
    let (code, out, _) = ldif(folder.path(), &["check", "b"]);
    assert_eq!(
        (code, out.as_str()),
        (2, "24:2: `:` expected\n26:1: the name comes twice\n2 faults in 6 records\n")
    );
    let (_, out, _) = ldif(folder.path(), &["check", "s", "b"]);
    assert!(out.contains("b:24:2: `:` expected\n") && out.contains("b:1:1: the name comes twice\n"), "{out}");
    let schema = "dn: cn=s\nobjectClasses: ( 2.5.6.0 NAME 'top' ABSTRACT MUST objectClass )\n\
                  objectClasses: ( 1.2 NAME 'account' SUP top STRUCTURAL MUST uid )\n\
                  attributeTypes: ( 2.5.4.0 NAME 'objectClass' )\nattributeTypes: ( 1.3 NAME 'uid' )\n\
                  attributeTypes: ( 1.4 NAME 'mail' )\n";
    std::fs::write(folder.path().join("schema"), schema).unwrap();
    std::fs::write(folder.path().join("one"), "dn: uid=a\nobjectClass: account\nuid: a\nmail: b\n").unwrap();
    let (code, out, _) = ldif(folder.path(), &["check", "--schema", "schema", "one"]);
    assert_eq!(code, 2);
    assert!(out.starts_with("4:1: attribute `mail` is not allowed"), "{out}");
}

#[test]
fn files_are_sorted_and_split() {
    let folder = folder();
    let (code, out, _) = ldif(folder.path(), &["sort", "s"]);
    assert_eq!(code, 0);
    assert_eq!(dns(&out), ["o=test", "ou=p,o=test", "uid=ada,ou=p,o=test", "uid=bob,ou=p,o=test"]);
    let (_, out, _) = ldif(folder.path(), &["sort", "s", "--by", "jpegPhoto"]);
    assert_eq!(dns(&out)[2..], ["uid=ada,ou=p,o=test", "uid=bob,ou=p,o=test"]);
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap_or_default();
    for words in [
        &["s", "-n", "2", "-o", "p", "--by", "round"][..],
        &["-n", "2", "-o", "p", "--by", "filter", "(uid=bob)", "s"],
        &["s", "-o", "p", "--by", "filter", "(uid=bob)"],
    ] {
        let (code, _, err) = ldif(folder.path(), &[&["split"], words].concat());
        assert_eq!(code, 0, "{err}");
        assert_eq!(dns(&read("p.1")), ["uid=bob,ou=p,o=test", "o=test", "ou=p,o=test"], "{words:?}");
        assert_eq!(dns(&read("p.2")), ["o=test", "ou=p,o=test", "uid=ada,ou=p,o=test"], "{words:?}");
        assert_eq!(read("p.3"), "");
        std::fs::remove_file(folder.path().join("p.1")).unwrap();
        std::fs::remove_file(folder.path().join("p.2")).unwrap();
    }
    assert_eq!(ldif(folder.path(), &["split", "s", "-n", "3", "-o", "p"]).0, 0);
    assert_eq!(["p.1", "p.2", "p.3"].iter().map(|name| dns(&read(name)).len()).sum::<usize>(), 8);
    for wrong in
        [&["s", "-o", "p"][..], &["s", "-n", "2", "-o", "p", "--by", "name"], &["-n", "2", "-o", "p"]]
    {
        assert_eq!(ldif(folder.path(), &[&["split"], wrong].concat()).0, 1, "{wrong:?}");
    }
}

#[test]
fn entries_are_transformed_in_the_order_of_the_options() {
    let folder = folder();
    let run = |words: &[&str]| ldif(folder.path(), &[&["transform", "s"], words].concat());
    let steps = [
        "--keep",
        "(uid=*)",
        "--exclude",
        "jpegPhoto",
        "--redact",
        "mail",
        "--add",
        "n=1",
        "--add",
        "l=x",
        "--where",
        "(uid=ada)",
        "--sequence",
        "n=10:5",
        "--move",
        "ou=p,o=test",
        "o=new",
        "--rename",
        "uid=cn",
    ];
    let (code, out, err) = run(&steps);
    assert_eq!(code, 0, "{err}");
    assert_eq!(
        out,
        "dn: cn=bob,o=new\nobjectClass: account\ncn: bob\nmail: ***REDACTED***\nn: 10\n\n\
         dn: cn=ada,o=new\nobjectClass: account\ncn: ada\nmail: ***REDACTED1***\nmail: ***REDACTED2***\n\
         manager: cn=bob,o=new\nn: 15\nl: x\n\n"
    );
    // A step sees what those before it have done.
    assert_eq!(dns(&run(&["--rename", "uid=cn", "--drop", "(uid=*)"]).1).len(), 4);
    assert_eq!(dns(&run(&["--drop", "(uid=*)", "--rename", "uid=cn"]).1).len(), 2);
    assert_eq!(dns(&run(&["--flatten", "o=test"]).1)[3], "uid=ada,o=test");
    let scrambled = run(&["--scramble", "uid", "--seed", "5"]).1;
    assert_eq!(scrambled, run(&["--scramble", "uid", "--seed", "5"]).1);
    assert!(!scrambled.contains("ada") && !scrambled.contains("bob"), "{scrambled}");
    assert_ne!(scrambled, run(&["--scramble", "uid", "--seed", "6"]).1);
    for wrong in [&["--redact", "uid"][..], &["--where", "(a=b)"], &["--rename", "a"], &["--keep", "(a"]] {
        assert_eq!(run(wrong).0, 1, "{wrong:?}");
    }
}

#[test]
fn tables_and_objects_lead_back_to_entries() {
    let folder = folder();
    let at = |name: &str| folder.path().join(name);
    let (code, json, _) = ldif(folder.path(), &["to-json", "s"]);
    assert_eq!((code, json.lines().count()), (0, 4));
    assert!(json.contains("\"jpegPhoto\":[{\"base64\":\"/9g=\"}]"), "{json}");
    std::fs::write(at("j"), json).unwrap();
    let (_, csv, _) = ldif(folder.path(), &["to-csv", "s"]);
    assert!(csv.starts_with("dn,objectClass,uid,mail,o,ou,jpegPhoto,manager\n"), "{csv}");
    std::fs::write(at("c"), csv).unwrap();
    for words in [["from-json", "j"], ["from-csv", "c"]] {
        let (code, out, err) = ldif(folder.path(), &words);
        assert_eq!(code, 0, "{err}");
        std::fs::write(at("back"), out).unwrap();
        assert_eq!(tercet(folder.path(), &["diff", "s", "back"]).0, 0, "{words:?}");
    }
    let (_, csv, _) = ldif(folder.path(), &["to-csv", "s", "uid", "mail"]);
    assert!(csv.ends_with("\"uid=ada,ou=p,o=test\",ada,\"a@x\naa@x\"\n"), "{csv}");
    std::fs::write(at("bad"), "dn,o\no=a\n").unwrap();
    assert_eq!(ldif(folder.path(), &["from-csv", "bad"]).0, 1);
    std::fs::write(at("bad"), "{\"o\":[\"a\"]}\n").unwrap();
    assert_eq!(ldif(folder.path(), &["from-json", "bad"]).0, 1);
}

#[test]
fn servers_and_files_are_compared() {
    let serve = Serve::start(STAFF, &[]);
    let url = format!("{}/o=test??sub", serve.url);
    let folder = serve.folder.path();
    std::fs::write(folder.join("same"), STAFF.replace("mail: b@x", "mail: B@X")).unwrap();
    assert_eq!(tercet(folder, &["diff", &url, "same"]), (0, String::new(), String::new()));
    assert_eq!(tercet(folder, &["diff", &url, &url, "--passes", "2", "--wait", "0"]).0, 0);
    let (code, out, _) = tercet(folder, &["diff", "--octets", "same", &url]);
    let expected = "dn: uid=bob,ou=p,o=test\nchangetype: modify\ndelete: mail\nmail: B@X\n-\nadd: mail\nmail: b@x\n-\n\n";
    assert_eq!((code, out.as_str()), (2, expected));
    let other =
        STAFF.replace("uid=ada", "uid=eve").replace("uid: ada", "uid: eve").replace("mail: b@x", "l: here");
    std::fs::write(folder.join("other"), other).unwrap();
    let (code, out, _) = tercet(folder, &["diff", &url, "other"]);
    assert_eq!(
        (code, dns(&out)),
        (2, vec!["uid=eve,ou=p,o=test", "uid=bob,ou=p,o=test", "uid=ada,ou=p,o=test"])
    );
    let (code, out, _) = tercet(folder, &["diff", "--count", &url, "other"]);
    assert_eq!((code, out.as_str()), (2, "add: 1\nmodify: 1\ndelete: 1\n"));
    assert_eq!(tercet(folder, &["diff", "--quiet", &url, "other"]), (2, String::new(), String::new()));
    let (_, out, _) = tercet(folder, &["diff", "--count", "--only-missing", &url, "other"]);
    assert_eq!(out, "add: 1\nmodify: 0\ndelete: 1\n");
    for words in [
        &["diff", "--count", "--ignore", "mail", "L", "--", &url, "other"][..],
        &["diff", "--count", &url, "other", "--ignore", "mail,l"],
        &["diff", "--count", "--ignore", "mail", "l", &url, "other"],
    ] {
        assert_eq!(tercet(folder, words).1, "add: 1\nmodify: 0\ndelete: 1\n", "{words:?}");
    }
    // What is printed makes one of the other.
    let (_, changes, _) = tercet(folder, &["diff", &url, "other"]);
    std::fs::write(folder.join("changes"), changes).unwrap();
    assert!(serve.run(&["modify", "-f", "changes"]).status.success());
    assert_eq!(tercet(folder, &["diff", &url, "other"]).0, 0);
}

#[test]
fn object_identifiers_are_explained() {
    let folder = tempfile::tempdir().unwrap();
    let run = |word: &str| tercet(folder.path(), &["oid", word]);
    let paged = "1.2.840.113556.1.4.319 pagedResults: control, RFC 2696\n";
    assert_eq!(run("1.2.840.113556.1.4.319").1, paged);
    assert_eq!(run("pagedresults").1, paged);
    assert_eq!(run("2.5.4.3").1.lines().count(), 2);
    let (code, _, err) = run("pagedResluts");
    assert!(code == 1 && err.contains("did you mean `pagedResults`?"), "{err}");
}

#[test]
fn a_moved_entry_has_the_values_of_its_new_rdn() {
    let folder = folder();
    let moved = |to: &str| {
        let (code, out, err) =
            tercet(folder.path(), &["ldif", "transform", "--move", "ou=P,o=test", to, "s"]);
        assert_eq!(code, 0, "{err}");
        let entry = out.split("\n\n").find(|entry| entry.contains("organizationalUnit")).unwrap();
        entry.replace("objectClass: organizationalUnit\n", "")
    };
    assert_eq!(moved("ou=q,o=x"), "dn: ou=q,o=x\nou: q");
    assert_eq!(moved("l=a,o=x"), "dn: l=a,o=x\nl: a");
    // The RDN stays, and so do its values.
    assert_eq!(moved("ou=p,o=x"), "dn: ou=p,o=x\nou: p");
}
