//! `tercet ldap` in the place of OpenLDAP's tools: their names, exit codes and options; how changes are sent.
#![cfg(unix)]

#[path = "common/serve.rs"]
mod serve;

use serve::{Serve, tercet};
use std::process::Command;
use std::time::{Duration, Instant};

const STAFF: &str = "\
dn: o=test
objectClass: organization
o: test

dn: uid=ada,o=test
objectClass: account
uid: ada
cn: Ada
title: :d
title: <d
title:: ZCA=
jpegPhoto:: /9g=

dn: uid=bob,o=test
objectClass: account
uid: bob
";

#[test]
fn names_of_tools_by_links() {
    let serve = Serve::start(STAFF, &["-D", "cn=admin,o=test", "-w", "secret"]);
    let folder = serve.folder.path();
    let names = [
        "ldapsearch",
        "ldapadd",
        "ldapmodify",
        "ldapdelete",
        "ldapmodrdn",
        "ldapcompare",
        "ldappasswd",
        "ldapwhoami",
        "ldapurl",
    ];
    for name in names {
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_tercet"), folder.join(name)).unwrap();
    }
    std::fs::write(folder.join("new"), "dn: uid=eve,o=test\nobjectClass: account\nuid: eve\n").unwrap();
    let run = |name: &str, words: &[&str]| {
        let mut command = Command::new(folder.join(name));
        command.args(words).current_dir(folder).env("HOME", folder).env("LDAPURI", &serve.url);
        let output = command.output().unwrap();
        (output.status.code().unwrap(), String::from_utf8(output.stdout).unwrap())
    };
    let root = ["-x", "-D", "cn=admin,o=test", "-w", "secret"];
    let bound = |words: &[&'static str]| [&root[..], words].concat();
    for (name, words, code) in [
        ("ldapsearch", vec!["-x", "-b", "o=test", "-LLL", "(uid=ada)", "cn"], 0),
        ("ldapsearch", vec!["-x", "-b", "o=none", "(uid=ada)"], 32),
        ("ldapsearch", vec!["-x", "-b", "o=test", "(uid=ada"], 249),
        ("ldapsearch", vec!["-x", "-H", "ldap://127.0.0.1:1"], 255),
        ("ldapsearch", vec!["-x", "-D", "cn=admin,o=test", "-w", "bad"], 49),
        ("ldapsearch", vec!["-P", "2"], 1),
        ("ldapsearch", vec!["--unknown"], 1),
        ("ldapsearch", vec!["-x", "-b", "o=test", "-z", "1"], 4),
        ("ldapadd", bound(&["-f", "new"]), 0),
        ("ldapadd", bound(&["-f", "new"]), 68),
        ("ldapmodify", bound(&["-a", "-c", "-f", "new"]), 68),
        ("ldapcompare", bound(&["uid=ada,o=test", "cn:ADA"]), 6),
        ("ldapcompare", bound(&["uid=ada,o=test", "cn:b"]), 5),
        ("ldapcompare", bound(&["uid=none,o=test", "cn:b"]), 32),
        ("ldapmodrdn", bound(&["-r", "uid=eve,o=test", "uid=eva"]), 0),
        ("ldapdelete", bound(&["uid=eve,o=test"]), 32),
        ("ldapdelete", bound(&["uid=eva,o=test"]), 0),
        ("ldappasswd", bound(&["-s", "new", "uid=ada,o=test"]), 0),
        ("ldapwhoami", vec!["-x", "-D", "uid=ada,o=test", "-w", "new"], 0),
        ("ldapurl", vec!["-H", "ldap://a/o=x"], 0),
        ("ldapurl", vec!["-H", "foo"], 1),
        ("ldapmodify", bound(&["-f", "nofile"]), 1),
        ("ldappasswd", vec!["-x", "-s", "new", "uid=ada,o=test"], 50),
        ("ldappasswd", vec!["-x", "-D", "cn=admin,o=test", "-w", "bad", "-s", "new"], 49),
        ("ldapdelete", bound(&["-r", "-z", "5", "uid=eva,o=test"]), 32),
    ] {
        assert_eq!(run(name, &words).0, code, "{name} {words:?}");
    }
    let out = |name: &str, words: &[&str]| run(name, words).1;
    assert_eq!(out("ldapurl", &["-h", "a", "-p", "5"]), "ldap://a:5\n");
    assert!(out("ldapurl", &["--help"]).contains("--host"));
    assert_eq!(out("ldapurl", &["-H", "ldapi://%2Fs"]), "scheme: ldapi\nhost: /s\nscope: base\n");
    assert_eq!(out("ldapcompare", &bound(&["uid=ada,o=test", "cn:ADA"])), "TRUE\n");
    assert_eq!(run("ldapcompare", &bound(&["-z", "uid=ada,o=test", "cn:ADA"])), (6, String::new()));
    assert_eq!(
        out("ldapcompare", &bound(&["uid=none,o=test", "cn:b"])),
        "Compare Result: No such object (32)\nMatched DN: o=test\nUNDEFINED\n"
    );
    assert_eq!(run("ldapcompare", &bound(&["-z", "uid=none,o=test", "cn:b"])), (32, String::new()));

    // With -n, nothing is done, and no server is needed.
    let dead = ["-H", "ldap://127.0.0.1:1", "-x", "-n"];
    for (name, words, expected) in [
        ("ldapmodrdn", vec!["uid=a", "uid=b"], "!modifying rdn of entry \"uid=a\"\n\n"),
        ("ldappasswd", vec!["-s", "new", "uid=a"], "!changing password of \"uid=a\"\n"),
        ("ldapcompare", vec!["uid=a", "cn:b"], "!comparing cn of entry \"uid=a\"\n"),
        ("ldapwhoami", vec!["-D", "uid=a"], "!asking who \"uid=a\" is\n"),
    ] {
        assert_eq!(run(name, &[&dead[..], &words].concat()), (0, expected.to_owned()), "{name}");
    }

    // Passwords, renames and rejected changes in files.
    std::fs::write(folder.join("old-password"), "new").unwrap();
    std::fs::write(folder.join("new-password"), "newer").unwrap();
    let words = ["-x", "-D", "uid=ada,o=test", "-w", "new", "-t", "old-password", "-T", "new-password"];
    assert_eq!(run("ldappasswd", &words).0, 0);
    assert_eq!(run("ldapwhoami", &["-x", "-D", "uid=ada,o=test", "-w", "newer"]).0, 0);
    std::fs::write(folder.join("renames"), "uid=no,o=test\nuid=x\n\nuid=bob,o=test\nuid=rob\n").unwrap();
    assert_eq!(run("ldapmodrdn", &bound(&["-r", "-f", "renames"])).0, 32);
    assert_eq!(run("ldapsearch", &["-x", "-b", "uid=bob,o=test"]).0, 0);
    assert_eq!(run("ldapmodrdn", &bound(&["-r", "-c", "-f", "renames"])).0, 32);
    assert_eq!(run("ldapsearch", &["-x", "-b", "uid=rob,o=test"]).0, 0);
    std::fs::write(folder.join("odd"), "uid=rob,o=test\n").unwrap();
    assert_eq!(run("ldapmodrdn", &bound(&["-f", "odd"])).0, 1);
    std::fs::write(folder.join("twice"), "dn: o=test\nobjectClass: organization\no: test\n").unwrap();
    assert_eq!(run("ldapadd", &bound(&["-c", "-S", "skipped", "-f", "twice"])).0, 68);
    assert!(std::fs::read_to_string(folder.join("skipped")).unwrap().contains("dn: o=test\n"));

    let url = &serve.url;
    assert_eq!(tercet(folder, &["--ldap-exit", "search", "-H", url, "-b", "o=none"]).0, 32);
    assert_eq!(tercet(folder, &["search", "-H", url, "-b", "o=none", "--ldap-exit"]).0, 32);
    assert_eq!(tercet(folder, &["search", "-H", url, "-b", "o=none"]).0, 3);
}

#[test]
fn values_go_to_files() {
    let serve = Serve::start(STAFF, &[]);
    let folder = serve.folder.path();
    std::fs::create_dir(folder.join("values")).unwrap();
    let search = |words: &[&str]| {
        let common = ["search", "-b", "o=test", "-LLL", "-T", "values", "(uid=ada)", "cn", "jpegPhoto"];
        String::from_utf8(serve.run(&[&common[..6], words, &common[6..]].concat()).stdout).unwrap()
    };
    let out = search(&["-t"]);
    assert!(out.starts_with("dn: uid=ada,o=test\ncn: Ada\njpegPhoto:< file:///"), "{out}");
    let path = out.lines().last().map_or(out.as_str(), |_| out.trim_end().rsplit("file://").next().unwrap());
    assert_eq!(std::fs::read(path).unwrap(), b"\xFF\xD8");
    let out = search(&["-tt", "-F", "http://x/"]);
    assert!(out.contains("cn:< http://x/ldapsearch-cn-"), "{out}");
    let words = ["search", "-b", "o=test", "-LLL", "-T", "values", "-t", "(uid=ada)", "title"];
    let out = String::from_utf8(serve.run(&words).stdout).unwrap();
    assert_eq!(out.matches("title:< file:///").count(), 3, "{out}");
    let out = serve.run(&["search", "-b", "o=test", "--csv", "(uid=ada)", "dn", "cn"]).stdout;
    assert_eq!(String::from_utf8(out).unwrap(), "dn,cn\n\"uid=ada,o=test\",Ada\n");
    // The LDIF can be read again.
    std::fs::write(folder.join("again"), search(&["-t"])).unwrap();
    let (code, _, err) = tercet(folder, &["add", "-H", &serve.url, "--read-files", "-n", "-f", "again"]);
    assert_eq!(code, 0, "{err}");
    let out = serve.run(&["search", "-b", "o=test", "--jsonl-values", "(uid=ada)", "cn", "jpegPhoto"]).stdout;
    assert_eq!(
        String::from_utf8(out).unwrap(),
        "{\"dn\":\"uid=ada,o=test\",\"attribute\":\"cn\",\"value\":\"Ada\"}\n\
         {\"dn\":\"uid=ada,o=test\",\"attribute\":\"jpegPhoto\",\"value\":{\"base64\":\"/9g=\"}}\n"
    );
}

#[test]
fn deletions_are_shown_and_limited() {
    let serve = Serve::start(STAFF, &[]);
    let delete = |words: &[&str]| {
        let output = serve.run(&[&["delete"], words].concat());
        (output.status.code().unwrap(), String::from_utf8(output.stdout).unwrap())
    };
    let count = || String::from_utf8(serve.run(&["search", "-b", "o=test", "-LLL", "1.1"]).stdout).unwrap();
    let before = count();
    let (code, out) = delete(&["-r", "-n", "o=test"]);
    assert_eq!(
        (code, out.lines().count(), out.lines().last()),
        (0, 3, Some("!deleting entry \"o=test\"")),
        "{out}"
    );
    assert_eq!(delete(&["-n", "uid=ada,o=test"]).1, "!deleting entry \"uid=ada,o=test\"\n");
    assert_eq!(delete(&["-r", "--limit", "2", "o=test"]).0, 1);
    assert_eq!(delete(&["--limit", "1", "uid=ada,o=test", "uid=bob,o=test"]).0, 1);
    assert_eq!(count(), before);
    assert_eq!(delete(&["-r", "--limit", "3", "o=test"]).0, 0);
    assert_eq!(count(), "");
}

/// Entries in three levels, so that the order of their additions matters.
fn tree(count: usize) -> String {
    let mut text = String::new();
    for unit in 0..count {
        text += &format!("dn: ou={unit},o=test\nobjectClass: organizationalUnit\nou: {unit}\n\n");
        for one in 0..3 {
            text += &format!("dn: uid={one},ou={unit},o=test\nobjectClass: account\nuid: {one}\n\n");
            text += &format!(
                "dn: uid={one},ou={unit},o=test\nchangetype: modify\nadd: description\ndescription: d\n-\n\n"
            );
        }
    }
    text
}

#[test]
fn many_changes_in_flight_keep_their_order() {
    let serve = Serve::start(STAFF, &[]);
    std::fs::write(serve.folder.path().join("tree"), tree(40)).unwrap();
    let added = serve.run(&["add", "-f", "tree", "--in-flight", "16"]);
    assert_eq!(added.status.code(), Some(0), "{}", String::from_utf8_lossy(&added.stderr));
    let found = serve.run(&["search", "-b", "o=test", "-LLL", "(description=d)", "1.1"]).stdout;
    assert_eq!(String::from_utf8(found).unwrap().matches("dn: ").count(), 120);
    // Twenty changes at two hundred a second take a tenth of a second at least, whatever the machine does.
    let begin = Instant::now();
    std::fs::write(serve.folder.path().join("more"), tree(43).split_off(tree(40).len())).unwrap();
    assert!(serve.run(&["add", "-f", "more", "--rate", "200", "--in-flight", "4"]).status.success());
    assert!(begin.elapsed() > Duration::from_millis(60));
}

#[test]
fn refused_changes_are_kept_and_runs_go_on() {
    let serve = Serve::start(STAFF, &[]);
    let folder = serve.folder.path();
    let bad = "dn: uid=q,ou=none,o=test\nobjectClass: account\nuid: q\n\n";
    std::fs::write(folder.join("in"), format!("{bad}{}{bad}", tree(2))).unwrap();
    let added = serve.run(&["add", "-f", "in", "--rejects", "r", "--in-flight", "4", "--resume", "line"]);
    assert_eq!(added.status.code(), Some(2), "{}", String::from_utf8_lossy(&added.stderr));
    assert!(String::from_utf8_lossy(&added.stderr).contains("2 changes refused"));
    let rejects = std::fs::read_to_string(folder.join("r")).unwrap();
    assert_eq!(rejects.matches("# No such object (32)").count(), 2, "{rejects}");
    assert_eq!(rejects.matches("dn: uid=q,ou=none,o=test\nchangetype: add\n").count(), 2, "{rejects}");
    // All has been done: nothing is left for another run.
    let again = serve.run(&["add", "-f", "in", "--resume", "line"]);
    assert_eq!((again.status.code(), again.stdout.len()), (Some(0), 0));
    // Without a file for them, the first error ends the run; the next one begins there.
    std::fs::remove_file(folder.join("line")).unwrap();
    let text = tree(4).split_off(tree(3).len());
    std::fs::write(
        folder.join("in"),
        format!("{text}{bad}{}", text.replace("ou=3", "ou=4").replace("ou: 3", "ou: 4")),
    )
    .unwrap();
    let first = serve.run(&["add", "-f", "in", "--resume", "line"]);
    assert_eq!(first.status.code(), Some(3));
    let reached: usize = std::fs::read_to_string(folder.join("line")).unwrap().trim().parse().unwrap();
    assert_eq!(reached, text.lines().count());
    let parent = "dn: ou=none,o=test\nobjectClass: organizationalUnit\nou: none\n";
    std::fs::write(folder.join("parent"), parent).unwrap();
    assert!(serve.run(&["add", "-f", "parent"]).status.success());
    let second = serve.run(&["add", "-f", "in", "--resume", "line"]);
    assert_eq!(second.status.code(), Some(0), "{}", String::from_utf8_lossy(&second.stderr));
    assert!(String::from_utf8_lossy(&second.stdout).starts_with("adding new entry \"uid=q,"));
    std::fs::write(folder.join("line"), "text").unwrap();
    assert_eq!(serve.run(&["add", "-f", "in", "--resume", "line"]).status.code(), Some(1));
}

#[test]
fn messages_are_decoded() {
    let folder = tempfile::tempdir().unwrap();
    let unbind = "30050201034200";
    let bind = "3015020101601002010304066f3d74657374 8003616263";
    std::fs::write(folder.path().join("hex"), format!("{bind}\n{unbind}\n")).unwrap();
    let (code, out, err) = tercet(folder.path(), &["decode", "hex"]);
    assert_eq!(code, 0, "{err}");
    let expected = "{\"from\":\"client\",\"id\":1,\"op\":\"bind\",\"version\":3,\"dn\":\"o=test\",\"auth\":\"simple\",\
                    \"password\":\"***\",\"controls\":[]}\n\
                    {\"from\":\"client\",\"id\":3,\"op\":\"unbind\",\"controls\":[]}\n";
    assert_eq!(out, expected);
    assert!(tercet(folder.path(), &["decode", "--show-passwords", "hex"]).1.contains("\"password\":\"abc\""));
    // Raw bytes, as they are.
    let raw: Vec<u8> =
        (0..unbind.len()).step_by(2).map(|at| u8::from_str_radix(&unbind[at..at + 2], 16).unwrap()).collect();
    std::fs::write(folder.path().join("raw"), &raw).unwrap();
    assert_eq!(tercet(folder.path(), &["decode", "raw"]).1.lines().count(), 1);
    std::fs::write(folder.path().join("cut"), &raw[..5]).unwrap();
    let (code, out, err) = tercet(folder.path(), &["decode", "cut"]);
    assert!(code == 2 && out.is_empty() && err.contains("byte 0: an LDAP message is incomplete"), "{err}");
    // A capture: the bind in two segments, the second one first, and one of them twice.
    let bind: Vec<u8> = {
        let digits: String = bind.chars().filter(|one| !one.is_whitespace()).collect();
        (0..digits.len()).step_by(2).map(|at| u8::from_str_radix(&digits[at..at + 2], 16).unwrap()).collect()
    };
    let mut file = pcap_head();
    file.extend(packet(40000, 389, 99, 2, &[]));
    file.extend(packet(40000, 389, 105, 16, &bind[5..]));
    file.extend(packet(40000, 389, 100, 16, &bind[..5]));
    file.extend(packet(40000, 389, 100, 16, &bind[..7]));
    file.extend(packet(40000, 1389, 100, 16, &raw));
    file.extend(packet(389, 40000, 7, 16, b"\x17\x03\x03\x00\x01x"));
    std::fs::write(folder.path().join("c.pcap"), file).unwrap();
    let (code, out, err) = tercet(folder.path(), &["decode", "c.pcap"]);
    assert_eq!((code, out.lines().count()), (2, 1), "{out}{err}");
    assert!(
        out.contains("\"conn\":1") && out.contains("\"t\":\"5.000001\"") && out.contains("\"op\":\"bind\""),
        "{out}"
    );
    assert!(err.contains("frame 6: what follows in this direction is not LDAP"), "{err}");
    assert_eq!(tercet(folder.path(), &["decode", "c.pcap", "--port", "1389"]).1.lines().count(), 2);
}

fn pcap_head() -> Vec<u8> {
    let mut head = vec![0xD4, 0xC3, 0xB2, 0xA1, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0];
    head.extend(101_u32.to_le_bytes());
    head
}

/// A packet of raw IPv4 with a segment of TCP.
fn packet(from: u16, to: u16, sequence: u32, flags: u8, octets: &[u8]) -> Vec<u8> {
    let total = u16::try_from(40 + octets.len()).unwrap();
    let mut ip = vec![0x45, 0];
    ip.extend(total.to_be_bytes());
    ip.extend([0, 0, 0, 0, 64, 6, 0, 0, 127, 0, 0, 1, 127, 0, 0, 1]);
    ip.extend(from.to_be_bytes());
    ip.extend(to.to_be_bytes());
    ip.extend(sequence.to_be_bytes());
    ip.extend([0, 0, 0, 0, 0x50, flags, 0, 0, 0, 0, 0, 0]);
    ip.extend(octets);
    let mut packet = Vec::new();
    for number in [5, 1, ip.len(), ip.len()] {
        packet.extend(u32::try_from(number).unwrap().to_le_bytes());
    }
    packet.extend(ip);
    packet
}

#[test]
fn changes_are_followed_from_run_to_run() {
    for way in [&["--sync"][..], &["--poll", "1"]] {
        let serve = Serve::start(STAFF, &[]);
        let folder = serve.folder.path();
        let follow = |more: &[&str]| {
            let words =
                [&["follow", "-b", "o=test", "--once", "--cookie", "state"], way, more, &["(uid=*)", "cn"]];
            let output = serve.run(&words.concat());
            assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
            String::from_utf8(output.stdout).unwrap()
        };
        let first = follow(&[]);
        assert_eq!(first.matches("\"change\":\"add\"").count(), 2, "{way:?}: {first}");
        assert!(first.contains("\"attributes\":{\"cn\":[\"Ada\"]}"), "{first}");
        assert_eq!(follow(&[]), "", "{way:?}");
        let changes = "dn: uid=ada,o=test\nchangetype: modify\nreplace: cn\ncn: King\n-\n\n\
                       dn: uid=bob,o=test\nchangetype: delete\n\ndn: uid=eve,o=test\nchangetype: add\nuid: eve\n\
                       objectClass: account\n";
        std::fs::write(folder.join("changes"), changes).unwrap();
        assert!(serve.run(&["modify", "-f", "changes"]).status.success());
        let next = follow(&[]);
        let lines: Vec<&str> = next.lines().collect();
        assert_eq!(lines.len(), 3, "{way:?}: {next}");
        for (change, dn) in [("modify", "uid=ada"), ("delete", "uid=bob"), ("add", "uid=eve")] {
            let is_it = |line: &&&str| line.contains(&format!("\"{change}\"")) && line.contains(dn);
            assert!(lines.iter().any(|line| is_it(&line)), "{way:?}: {change} {dn}: {next}");
        }
        assert!(serve.run(&["delete", "uid=eve,o=test"]).status.success());
        assert_eq!(follow(&["--ldif"]), "dn: uid=eve,o=test\nchangetype: delete\n\n", "{way:?}");
    }
}

#[test]
fn a_search_that_goes_on_prints_changes_at_once() {
    let serve = Serve::start(STAFF, &[]);
    let mut follower = Command::new(env!("CARGO_BIN_EXE_tercet"));
    follower.args(["ldap", "follow", "-H", &serve.url, "-b", "o=test", "--cookie"]);
    follower.arg(serve.folder.path().join("state")).arg("(uid=*)").stdout(std::process::Stdio::piped());
    let mut follower = follower.spawn().unwrap();
    let mut lines = std::io::BufRead::lines(std::io::BufReader::new(follower.stdout.take().unwrap()));
    let mut next = || lines.next().unwrap().unwrap();
    assert!(next().contains("uid=ada") && next().contains("uid=bob"));
    assert!(serve.run(&["delete", "uid=bob,o=test"]).status.success());
    assert!(next().starts_with("{\"change\":\"delete\",\"dn\":\"uid=bob,o=test\""));
    assert!(serve.run(&["modrdn", "uid=ada,o=test", "uid=eva"]).status.success());
    let renamed = next();
    assert!(
        renamed.contains("\"change\":\"rename\"") && renamed.contains("\"oldDn\":\"uid=ada,o=test\""),
        "{renamed}"
    );
    // A signal ends it in good order: the state is kept.
    let killed = Command::new("kill").arg(follower.id().to_string()).status().unwrap();
    assert!(killed.success() && follower.wait().unwrap().success());
    let again = serve.run(&["follow", "-b", "o=test", "--once", "--cookie", "state", "(uid=*)"]);
    assert_eq!(String::from_utf8(again.stdout).unwrap(), "");
}

#[test]
fn operations_are_measured_and_leave_nothing() {
    let serve = Serve::start(STAFF, &["-D", "cn=admin,o=test", "-w", "secret"]);
    let bench = |words: &[&str]| {
        let common = ["bench", "-D", "cn=admin,o=test", "-w", "secret", "-b", "o=test"];
        // Those with a base of their own have it first.
        let common = if words[0] == "-b" { &common[..5] } else { &common[..] };
        let output = serve.run(&[common, words].concat());
        let text = |octets| String::from_utf8(octets).unwrap();
        (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
    };
    let (code, out, err) = bench(&["-n", "50", "-c", "2", "--in-flight", "3", "(uid=[ada,bob])"]);
    assert_eq!(code, 0, "{err}");
    assert!(out.starts_with("50 searches, 50 entries, ") && out.contains("\nms: min "), "{out}");
    for op in ["add", "modify", "delete"] {
        assert_eq!(bench(&["--op", op, "-n", "5"]).0, 1, "{op} without --writes");
        let (code, out, err) = bench(&["--op", op, "-n", "20", "-c", "2", "--writes", "--csv"]);
        assert_eq!(code, 0, "{err}");
        assert!(out.starts_with(
            "operation,count,errors,seconds,rate,entries,bytes,min_ms,p50_ms,p90_ms,p99_ms,max_ms\n"
        ));
        assert!(out.contains(&format!("\n{op},20,0,")), "{out}");
    }
    // What the warm-up does is not taken from the number of operations.
    for rate in [&[][..], &["--rate", "200"]] {
        let warm =
            [&["--op", "delete", "-n", "15", "-c", "2", "--writes", "--warm-up", "0.2"], rate].concat();
        let (code, out, err) = bench(&warm);
        assert!(code == 0 && out.starts_with("15 deletes, "), "{out}{err}");
    }
    let mixed = [
        "--op",
        "mixed=search:80,modify:15,bind:5",
        "-n",
        "200",
        "--writes",
        "--json",
        "--percentiles",
        "50,99.9",
    ];
    let (code, out, err) = bench(&mixed);
    assert_eq!(code, 0, "{err}");
    let report: serde_json::Value = serde_json::from_str(&out).unwrap();
    let count = |op: &str| report["operations"][op]["count"].as_u64().unwrap();
    assert_eq!(count("search") + count("modify") + count("bind"), 200);
    assert!(count("search") > 100 && report["operations"]["search"]["ms"]["p99.9"].is_f64());
    let (code, out, _) = bench(&["-b", "uid=ada,o=test", "--op", "compare", "-n", "10", "cn:Ada"]);
    assert!(code == 0 && out.starts_with("10 compares, "), "{out}");
    std::fs::write(serve.folder.path().join("names"), "ada\nnobody\n").unwrap();
    let duration =
        ["--duration", "0.3", "--warm-up", "0.1", "--rate", "100", "--interval", "0.1", "--values", "names"];
    let (code, out, err) = bench(&[&duration[..], &["(uid={})"]].concat());
    let made: u64 = out.split(' ').next().unwrap().parse().unwrap();
    assert!(code == 0 && made <= 40 && err.contains("/s, ms: 50 % "), "{out}{err}");
    let errors = bench(&["-b", "uid=none,o=test", "--op", "compare", "-n", "3", "cn:Ada"]);
    assert!(errors.0 == 2 && errors.1.contains("errors: 3 No such object (32)"), "{errors:?}");
    // Nothing of it is left.
    let left = serve.run(&["search", "-b", "o=test", "-LLL", "(cn=tercet-bench*)", "1.1"]);
    assert_eq!(String::from_utf8(left.stdout).unwrap(), "");
}
