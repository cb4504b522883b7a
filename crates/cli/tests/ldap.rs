//! `tercet ldap search` beside ldapsearch, octet for octet, on the data sets of the large corpora, from a real slapd; and
//! `tercet ldap` with `tercet ldap serve`.
#![cfg(unix)]

#[path = "common/serve.rs"]
mod serve;

use serve::{Serve, tercet};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A server of its own folder.
struct Slapd {
    child: Child,
    url: String,
    _folder: tempfile::TempDir,
}

impl Slapd {
    fn start(ldif: &[u8]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        let config = path.join("slapd.conf");
        std::fs::write(&config, CONFIG.replace("FOLDER", &path.display().to_string())).unwrap();
        std::fs::write(path.join("in.ldif"), ldif).unwrap();
        let mut add = Command::new(tercet_testing::find_program("slapd").unwrap());
        add.args(["-T", "add", "-q", "-f"]).arg(&config).arg("-l").arg(path.join("in.ldif"));
        assert!(add.status().unwrap().success());
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let url = format!("ldap://127.0.0.1:{port}");
        let mut server = Command::new(tercet_testing::find_program("slapd").unwrap());
        server.args(["-d", "0", "-h", &url, "-f"]).arg(&config).stdout(Stdio::null()).stderr(Stdio::null());
        let slapd = Self { child: server.spawn().unwrap(), url, _folder: folder };
        let begin = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(begin.elapsed() < Duration::from_secs(30), "slapd does not start");
            std::thread::sleep(Duration::from_millis(20));
        }
        slapd
    }

    /// What ldapsearch and we print with these arguments.
    fn both(&self, words: &[&str]) -> [Vec<u8>; 2] {
        let common = ["-x", "-H", &self.url, "-D", "o=test", "-w", "secret", "-b", "o=test"];
        let run = |command: &mut Command| command.args(common).args(words).output().unwrap().stdout;
        let mut tercet = Command::new(env!("CARGO_BIN_EXE_tercet"));
        [run(&mut Command::new("ldapsearch")), run(tercet.args(["ldap", "search"]))]
    }
}

impl Drop for Slapd {
    fn drop(&mut self) {
        _ = self.child.kill();
        _ = self.child.wait();
    }
}

/// Returns whether the server and the tools exist; reports a skip if they do not.
fn is_there() -> bool {
    tercet_testing::programs("slapd", ["slapd"]).is_some()
        && tercet_testing::programs("ldap-utils", ["ldapsearch"]).is_some()
}

const CONFIG: &str = "\
include /etc/ldap/schema/core.schema
include /etc/ldap/schema/cosine.schema
include /etc/ldap/schema/inetorgperson.schema
modulepath /usr/lib/ldap
moduleload back_mdb
moduleload deref
moduleload syncprov
moduleload sssvlv
pidfile FOLDER/pid
argsfile FOLDER/args
loglevel none
sizelimit unlimited
timelimit unlimited
database mdb
suffix \"o=test\"
rootdn \"o=test\"
rootpw secret
directory FOLDER
maxsize 2147483648
envflags nosync
overlay deref
overlay syncprov
overlay sssvlv
";

/// People who name each other.
const STAFF: &str = "\
dn: o=test
objectClass: organization
o: test

dn: uid=ada,o=test
objectClass: inetOrgPerson
uid: ada
cn: Ada
sn: L
manager: uid=bob,o=test
manager: uid=nobody,o=test

dn: uid=bob,o=test
objectClass: inetOrgPerson
uid: bob
cn: Bob
sn:: TMO2dmU=
mail: b@example.net
mail: bob@example.net
";

#[test]
fn searches_print_what_ldapsearch_prints() {
    let Some(generator) = tercet_testing::corpora("ldap/gen_ldif.py").filter(|_| is_there()) else { return };
    for (profile, count) in [("people", "68400"), ("small", "5000"), ("blob", "60"), ("group", "40")] {
        compare(&generator, profile, count);
    }
}

fn compare(generator: &Path, profile: &str, count: &str) {
    let ldif = Command::new("python3").arg(generator).args([profile, count]).output().unwrap();
    let slapd = Slapd::start(&ldif.stdout);
    for form in
        [&["-LLL"][..], &["-LLL", "-o", "ldif-wrap=no"], &["-L"], &[], &["-z", "3"], &["-A", "-LL", "cn"]]
    {
        let [theirs, ours] = slapd.both(form);
        assert!(ours == theirs, "{profile} {form:?}");
    }
    // Pages make one answer.
    let ([theirs, _], [_, ours]) = (slapd.both(&["-LLL"]), slapd.both(&["-LLL", "-E", "pr=500/noprompt"]));
    assert!(ours == theirs, "{profile} in pages");
}

#[test]
fn controls_print_what_ldapsearch_prints() {
    if !is_there() {
        return;
    }
    let slapd = Slapd::start(STAFF.as_bytes());
    let text = |octets: Vec<u8>| String::from_utf8(octets).unwrap();
    let words = |words: &str| slapd.both(&words.split(' ').collect::<Vec<_>>()).map(text);
    let [state, _] = words("-E sync=ro uid=none");
    let cookie = state.lines().find_map(|line| line.strip_prefix("# cookie: ")).unwrap();
    let modify = ["ldap", "modify", "-x", "-H", &slapd.url, "-D", "o=test", "-w", "secret"];
    let mut modify =
        Command::new(env!("CARGO_BIN_EXE_tercet")).args(modify).stdin(Stdio::piped()).spawn().unwrap();
    let change = b"dn: uid=bob,o=test\nchangetype: modify\nreplace: cn\ncn: B\n";
    std::io::Write::write_all(&mut modify.stdin.take().unwrap(), change).unwrap();
    assert!(modify.wait().unwrap().success());
    for control in [
        "-E deref=manager:mail,sn;seeAlso:cn",
        "-E !deref=manager:cn",
        "-E sync=ro",
        &format!("-E sync=ro/{cookie}"),
        "-e sessiontracking=ada",
        "-E sss=cn",
        "-E sss=-cn -E vlv=0/1/1/0",
        // A control by its object identifier, with its value in base64: valuesReturnFilter of (mail=b@example.net).
        "-E 1.2.826.0.1.3344810.2.3=::MBejFQQEbWFpbAQNYkBleGFtcGxlLm5ldA==",
    ] {
        for level in ["", "-L ", "-LL ", "-LLL "] {
            let [theirs, ours] = words(&format!("{level}{control} objectClass=* cn"));
            assert_eq!(ours, theirs, "{level}{control}");
        }
    }
}

#[test]
fn options_print_what_ldapsearch_prints() {
    if !is_there() {
        return;
    }
    let slapd = Slapd::start(TREE.as_bytes());
    let lines = slapd._folder.path().join("lines");
    std::fs::write(&lines, "a\nb\nnobody\n").unwrap();
    let lines = lines.display().to_string();
    for words in [
        &["-S", "sn", "(objectClass=*)", "sn"][..],
        &["-S", "", "(objectClass=*)", "1.1"],
        &["-S", "description", "-LLL", "(objectClass=*)", "description"],
        &["-u", "(cn=*)", "cn"],
        &["-u", "-A", "(cn=*)", "cn"],
        &["-n", "(cn=a)", "cn"],
        &["-f", &lines, "(cn=%s)", "cn"],
        &["-LLL", "-f", &lines, "(cn=%s)", "cn"],
        &["-c", "-LL", "-v", "-d", "0", "-P", "3", "-f", &lines, "cn=%s", "cn"],
    ] {
        let [theirs, ours] = slapd.both(words);
        assert_eq!(String::from_utf8_lossy(&ours), String::from_utf8_lossy(&theirs), "{words:?}");
    }
}

const TREE: &str = "\
dn: o=test
objectClass: organization
o: test

dn: cn=b,o=test
objectClass: person
cn: b
sn: Zed

dn: cn=a,o=test
objectClass: person
cn: a
sn: ant
sn: zz
description: x
";

#[test]
fn a_word_in_parentheses_is_a_filter() {
    if !is_there() {
        return;
    }
    let slapd = Slapd::start(STAFF.as_bytes());
    // RFC 4526: all entries, and none.
    for filter in ["(&)", "(|)", "(uid=ada)", "(!(uid=ada))"] {
        let [theirs, ours] = slapd.both(&["-LLL", filter, "cn"]);
        assert_eq!(String::from_utf8(ours), String::from_utf8(theirs), "{filter}");
    }
    for wrong in ["(cn", "(", "(cn)", "(&(cn=a)"] {
        let words = ["ldap", "search", "-x", "-H", &slapd.url, "-b", "o=test", wrong];
        let output = Command::new(env!("CARGO_BIN_EXE_tercet")).args(words).output().unwrap();
        assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0), "{wrong}");
    }
}

#[test]
fn a_subtree_is_deleted_with_and_without_the_control() {
    if !is_there() {
        return;
    }
    let slapd = Slapd::start(STAFF.as_bytes());
    let words = ["ldap", "delete", "-r", "-x", "-H", &slapd.url, "-D", "o=test", "-w", "secret", "o=test"];
    let output = Command::new(env!("CARGO_BIN_EXE_tercet")).args(words).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let [theirs, ours] = slapd.both(&["-LLL"]);
    assert!(theirs.is_empty() && ours.is_empty());
}

#[test]
fn the_current_folder_does_not_choose_the_server() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("ldaprc"), "URI ldap://a.invalid.\nBASE o=here\n").unwrap();
    let home = tempfile::tempdir().unwrap();
    let serve = Serve::start(STAFF, &[]);
    let base = |asked: Option<&str>| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tercet"));
        command.args(["ldap", "search", "-H", &serve.url, "-s", "base"]);
        command.current_dir(folder.path()).env("HOME", home.path());
        for name in ["LDAPRC", "LDAPCONF", "LDAPBASE", "LDAPURI", "LDAPNOINIT"] {
            command.env_remove(name);
        }
        if let Some(name) = asked {
            command.env("LDAPRC", name);
        }
        String::from_utf8(command.output().unwrap().stdout).unwrap()
    };
    assert!(!base(None).contains("o=here"));
    assert!(base(Some("ldaprc")).contains("# base <o=here>"));
}

#[test]
fn a_signal_removes_the_socket_and_a_stale_one_is_replaced() {
    let mut serve = Serve::start(STAFF, &[]);
    let socket = serve.folder.path().join("s");
    assert!(serve.run(&["whoami"]).status.success());
    serve.child.kill().unwrap();
    serve.child.wait().unwrap();
    assert!(socket.exists());
    let again = Command::new(env!("CARGO_BIN_EXE_tercet"))
        .args(["ldap", "serve", "--listen", "127.0.0.1:0", "--socket"])
        .arg(&socket)
        .stderr(Stdio::piped())
        .spawn();
    serve.child = again.unwrap();
    let mut lines = std::io::BufRead::lines(std::io::BufReader::new(serve.child.stderr.take().unwrap()));
    assert!(lines.any(|line| line.unwrap().contains("also at")));
    assert!(serve.run(&["whoami"]).status.success());
    let kill = Command::new("kill").arg(serve.child.id().to_string()).status().unwrap();
    assert!(kill.success() && serve.child.wait().unwrap().success());
    assert!(!socket.exists());
}

#[test]
fn passwords_are_for_the_root_user() {
    let ldif = STAFF.replace("cn: Ada\n", "cn: Ada\nuserPassword: engine\n");
    let serve = Serve::start(&ldif, &["-D", "o=test", "-w", "secret"]);
    let text = |words: &[&str]| String::from_utf8(serve.run(words).stdout).unwrap();
    let search = ["search", "-b", "o=test", "-LLL", "(uid=ada)"];
    let all = text(&search);
    assert!(all.contains("cn: Ada") && !all.contains("userPassword"), "{all}");
    let root = [&search[..1], &["-D", "o=test", "-w", "secret"], &search[1..]].concat();
    assert!(text(&root).contains("userPassword:: ZW5naW5l\n"));
    let passwd = ["passwd", "-D", "o=test", "-w", "secret", "-s", "new", "uid=ada,o=test"];
    assert!(serve.run(&passwd).status.success());
    // `{ARGON2}$argon2id`
    assert!(text(&root).contains("userPassword:: e0FSR09OMn0kYXJnb24yaWQk"));
    assert_eq!(text(&["whoami", "-D", "uid=ada,o=test", "-w", "new"]), "dn:uid=ada,o=test\n");
}

/// A server without free file descriptors does not end, and answers again when there are some.
#[test]
fn connections_beyond_the_limit_do_not_end_the_server() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("s");
    let mut child = Command::new("sh")
        .args(["-c", "ulimit -n 40; exec \"$0\" ldap serve --listen 127.0.0.1:0 --socket \"$1\""])
        .arg(env!("CARGO_BIN_EXE_tercet"))
        .arg(&socket)
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = std::io::BufRead::lines(std::io::BufReader::new(child.stderr.take().unwrap()));
    assert!(lines.any(|line| line.unwrap().contains("also at")));
    let many: Vec<_> =
        (0..60).filter_map(|_| std::os::unix::net::UnixStream::connect(&socket).ok()).collect();
    assert!(many.len() > 40, "{}", many.len());
    std::thread::sleep(Duration::from_millis(200));
    assert!(child.try_wait().unwrap().is_none());
    drop(many);
    let url = format!("ldapi://{}", socket.display().to_string().replace('/', "%2f"));
    let who =
        Command::new(env!("CARGO_BIN_EXE_tercet")).args(["ldap", "whoami", "-H", &url]).output().unwrap();
    _ = child.kill();
    _ = child.wait();
    assert!(who.status.success(), "{}", String::from_utf8_lossy(&who.stderr));
}

#[test]
fn tls_without_a_certificate_makes_one() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_tercet"))
        .args(["ldap", "serve", "--tls", "--listen", "127.0.0.1:0"])
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = std::io::BufRead::lines(std::io::BufReader::new(child.stderr.take().unwrap()));
    let lines: Vec<String> = lines.take(2).map(|line| line.unwrap()).collect();
    let hash = lines[0].strip_prefix("certificate with SHA-256 ").unwrap();
    assert!(hash.len() == 64 && hash.bytes().all(|digit| digit.is_ascii_hexdigit()), "{hash}");
    let (_, url) = lines[1].split_once(" at ").unwrap();
    assert!(url.starts_with("ldaps://"), "{url}");
    let whoami = |words: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tercet"));
        command.args(["ldap", "whoami", "-H", url]).args(words).output().unwrap()
    };
    let (trusting, doubting) = (whoami(&["--insecure"]), whoami(&[]));
    _ = child.kill();
    _ = child.wait();
    assert!(trusting.status.success(), "{}", String::from_utf8_lossy(&trusting.stderr));
    let errors = String::from_utf8_lossy(&doubting.stderr);
    assert!(!doubting.status.success() && errors.contains("certificate"), "{errors}");
}

/// Without a way that is asked for, the root DSE decides.
#[test]
fn follow_takes_what_the_server_has() {
    let serve = Serve::start(STAFF, &[]);
    let followed = serve.run(&["follow", "-b", "o=test", "--once"]);
    let lines = String::from_utf8(followed.stdout).unwrap();
    assert_eq!(lines.matches(r#""change":"add""#).count(), 3, "{lines}");
    assert!(lines.contains(r#""uuid":"#), "{lines}");
}

#[test]
fn serve_takes_limits_and_indexes() {
    let words = ["--index", "description:eq,sub", "--size-limit", "1", "--time-limit", "0", "--workers", "1"];
    let serve = Serve::start(STAFF, &words);
    let search = serve.run(&["search", "-b", "o=test", "-LLL", "(objectClass=*)", "1.1"]);
    assert_eq!(search.status.code(), Some(3));
    assert!(String::from_utf8_lossy(&search.stderr).contains("Size limit exceeded (4)"));
    let wrong = Command::new(env!("CARGO_BIN_EXE_tercet"))
        .args(["ldap", "serve", "--index", "cn:foo"])
        .output()
        .unwrap();
    assert_eq!(wrong.status.code(), Some(1));
    assert!(
        String::from_utf8_lossy(&wrong.stderr)
            .contains("unknown kind of index `foo`; known: eq, sub, pres, ord")
    );
}

/// A change of two entries.
const BOTH: &str = "\
dn: uid=ada,o=test
changetype: modify
replace: sn
sn: King
-

dn: uid=bob,o=test
changetype: modify
delete: mail
mail: b@example.net
-
add: title
title: T
-
";

/// The options of a transaction.
fn atomic(journal: &str) -> [&str; 9] {
    ["--atomic=advisory", "--locks", "o=test", "--journal", journal, "--lease", "1", "--lock-wait", "30"]
}

impl Serve {
    /// All entries, each with its attributes and values in the order of the alphabet.
    fn state(&self) -> String {
        let found = self.run(&["search", "-b", "o=test", "-LLL", "(objectClass=*)"]).stdout;
        let found = String::from_utf8(found).unwrap();
        let sorted = found.split("\n\n").map(|entry| {
            let mut lines: Vec<&str> = entry.lines().collect();
            lines.sort_unstable();
            lines.join("\n")
        });
        sorted.collect::<Vec<_>>().join("\n\n")
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.folder.path().join(name), text).unwrap();
    }
}

#[test]
fn atomic_changes_are_all_made_or_none() {
    let serve = Serve::start(STAFF, &[]);
    let before = serve.state();
    serve.write("both", BOTH);
    serve.write("bad", &format!("{BOTH}\ndn: uid=nobody,o=test\nchangetype: delete\n"));
    let modify =
        |file: &str, more: &[&str]| serve.run(&[&["modify", "-f", file], &atomic("j")[..], more].concat());
    let refused = modify("bad", &[]);
    assert_eq!(refused.status.code(), Some(1), "a deletion is irreversible");
    assert!(String::from_utf8_lossy(&refused.stderr).contains("irreversible: uid=nobody,o=test"));
    let refused = modify("bad", &["--allow-irreversible"]);
    assert_eq!((refused.status.code(), refused.stdout.len()), (Some(3), 0));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("No such object (32)"));
    assert_eq!(serve.state(), before);
    let made = modify("both", &[]);
    assert_eq!(made.status.code(), Some(0), "{}", String::from_utf8_lossy(&made.stderr));
    assert_eq!(String::from_utf8_lossy(&made.stdout).matches("modifying entry").count(), 2);
    assert!(serve.state().contains("title: T") && serve.state().contains("sn: King"));
    assert_eq!(std::fs::read_dir(serve.folder.path().join("j")).unwrap().count(), 0);
    let without = serve.run(&["modify", "--atomic", "-f", "both"]);
    assert_eq!(without.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&without.stderr).contains("--locks DN --journal DIR"));
}

/// The process dies after each line of its journal: recovery leads to the state before or after, never between.
#[test]
fn killed_in_the_middle() {
    let serve = Serve::start(STAFF, &[]);
    serve.write("both", BOTH);
    let before = serve.state();
    // begin, intent and result of either change, commit
    for line in 1..=6 {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tercet"));
        command.args(["ldap", "modify", "-H", &serve.url, "-f", "both"]).args(atomic("j"));
        command.current_dir(serve.folder.path()).env("TERCET_TEST_CRASH_AT_LINE", line.to_string());
        let killed = command.output().unwrap();
        assert_eq!(killed.status.code(), None, "{line}: {}", String::from_utf8_lossy(&killed.stderr));
        let list = serve.run(&["recover", "--journal", "j", "--list"]);
        let list = String::from_utf8(list.stdout).unwrap();
        let columns: Vec<&str> = list.trim_end().split('\t').collect();
        let state = if line == 1 { "open" } else { "committing" };
        let operations = format!("{} operations", (line / 2).min(2));
        assert_eq!((columns[0].len(), &columns[1..3]), (36, &[state, &*operations][..]), "{list}");
        assert!(columns[3].starts_with("ldapi://"), "{list}");
        let dry = serve.run(&["recover", "--journal", "j", "--dry-run"]);
        assert_eq!(String::from_utf8(dry.stdout).unwrap(), list);
        let recovered = serve.run(&["recover", "--journal", "j"]);
        assert_eq!(recovered.status.code(), Some(0), "{}", String::from_utf8_lossy(&recovered.stderr));
        assert!(serve.run(&["recover", "--journal", "j", "--list"]).stdout.is_empty());
        if line < 6 {
            assert_eq!(serve.state(), before, "{line}");
        } else {
            assert!(serve.state().contains("title: T") && serve.state().contains("sn: King"));
        }
    }
}

#[test]
fn locks_of_the_command() {
    let serve = Serve::start(STAFF, &[]);
    let lock = |words: &[&str]| serve.run(&[&["lock", "--locks", "o=test", "--lease", "1"], words].concat());
    let code = lock(&["nightly", "--", "sh", "-c", "exit 7"]);
    assert_eq!(code.status.code(), Some(7), "{}", String::from_utf8_lossy(&code.stderr));
    assert!(lock(&["--list"]).stdout.is_empty());
    // Held for longer than a lease, it stays held.
    let mut holder = Command::new(env!("CARGO_BIN_EXE_tercet"))
        .args([
            "ldap",
            "lock",
            "-H",
            &serve.url,
            "--locks",
            "o=test",
            "--lease",
            "1",
            "nightly",
            "--",
            "sh",
            "-c",
            "echo held; sleep 60",
        ])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    std::io::BufRead::read_line(&mut std::io::BufReader::new(holder.stdout.take().unwrap()), &mut line)
        .unwrap();
    let busy = lock(&["--wait", "3", "nightly", "--", "true"]);
    assert_eq!(busy.status.code(), Some(75), "{}", String::from_utf8_lossy(&busy.stderr));
    let list = String::from_utf8(lock(&["--list"]).stdout).unwrap();
    assert!(list.contains("\"for\":\"nightly\"") && list.lines().count() == 1, "{list}");
    // Nobody renews it any more: it is free after a lease.
    holder.kill().unwrap();
    holder.wait().unwrap();
    assert_eq!(lock(&["--wait", "60", "nightly", "--", "true"]).status.code(), Some(0));
    assert_eq!(lock(&["--break", "nightly"]).status.code(), Some(3));
    assert_eq!(serve.run(&["lock", "--locks", "o=test", "nightly"]).status.code(), Some(1));
}

#[test]
fn texts_of_ldap() {
    let folder = tempfile::tempdir().unwrap();
    let run = |words: &[&str]| {
        let (code, out, _) = tercet(folder.path(), words);
        (code, out)
    };
    std::fs::write(folder.path().join("staff.ldif"), STAFF).unwrap();
    for (words, code, out) in [
        (&["dn", "normalize", "CN=Ada  L , O=Test"][..], 0, "cn=ada l,o=test\n"),
        (&["dn", "parent", "cn=a\\,b,o=x"], 0, "o=x\n"),
        (&["dn", "rdn", "cn=a\\,b,o=x"], 0, "cn=a\\,b\n"),
        (&["dn", "within", "cn=a,O=x", "o=X"], 0, "TRUE\n"),
        (&["dn", "within", "o=x", "cn=a,o=x"], 2, "FALSE\n"),
        (&["dn", "within", "o=x"], 0, "TRUE\n"),
        (&["dn", "compare", "CN=A,o=x", "cn=a, O=X"], 0, "TRUE\n"),
        (&["dn", "compare", "cn=a", "cn=b"], 2, "FALSE\n"),
        (&["dn", "normalize", "cn"], 1, ""),
        (&["dn", "parent", ""], 1, ""),
        (&["filter", "(&(a=b)(!(c=d)))", "--indent"], 0, "(&\n  (a=b)\n  (!\n    (c=d)\n  )\n)\n"),
        (&["filter", "a=b"], 0, "(a=b)\n"),
        (&["filter", "--simplify", "(&(&(a=b))(!(!(c=d)))(a=b))"], 0, "(&(a=b)(c=d))\n"),
        (&["filter", "--simplify", "(|(&(a=b)))"], 0, "(a=b)\n"),
        (
            &["filter", "--json", "(|(a=b)(!(c=*)))"],
            0,
            "{\"or\":[{\"item\":\"(a=b)\"},{\"not\":{\"item\":\"(c=*)\"}}]}\n",
        ),
        (&["filter", "--match", "staff.ldif", "(uid=*)"], 0, "uid=ada,o=test\nuid=bob,o=test\n"),
        (&["filter", "--match", "staff.ldif", "(sn=nobody)"], 0, ""),
        (&["filter", "(a=b"], 1, ""),
        (&["code", "49"], 0, "49 invalidCredentials: Invalid credentials\n"),
        (&["code", "NOSUCHOBJECT"], 0, "32 noSuchObject: No such object\n"),
        (&["code", "9999"], 1, ""),
    ] {
        assert_eq!(run(words), (code, out.to_owned()), "{words:?}");
    }
}

const SCHEMA: &str = "\
dn: cn=subschema
attributeTypes: ( 2.5.4.0 NAME 'objectClass' )
attributeTypes: ( 2.5.4.3 NAME 'cn' )
attributeTypes: ( 2.5.4.4 NAME 'sn' )
attributeTypes: ( 1.9.1 NAME 'color' SINGLE-VALUE )
objectClasses: ( 2.5.6.0 NAME 'top' ABSTRACT MUST objectClass )
objectClasses: ( 2.5.6.6 NAME 'person' SUP top STRUCTURAL MUST ( sn $ cn ) )
objectClasses: ( 1.9.2 NAME 'colored' SUP top AUXILIARY MAY color )
";

#[test]
fn schemas_of_files() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("s", SCHEMA);
    write("t", &SCHEMA.replace("MAY color", "MAY ( color $ cn )"));
    write("bad", "dn: cn=a,o=x\nobjectClass: person\ncn: a\ncolor: red\ncolor: blue\n");
    write("good", "dn: cn=a,o=x\nobjectClass: person\ncn: a\nsn: b\n");
    let run = |words: &[&str]| tercet(folder.path(), &[&["schema"], words].concat());
    let (code, out, _) = run(&["class", "PERSON", "--from", "s"]);
    assert_eq!((code, out.as_str()), (0, "( 2.5.6.6 NAME 'person' SUP top STRUCTURAL MUST ( sn $ cn ) )\n"));
    assert_eq!(run(&["attribute", "2.5.4.3", "--from", "s"]).1, "( 2.5.4.3 NAME 'cn' )\n");
    assert_eq!(run(&["class", "ghost", "--from", "s"]).0, 1);
    assert_eq!(run(&["show", "--from", "s"]).1.lines().count(), 7);
    let (code, out, _) = run(&["diff", "s", "t"]);
    assert_eq!((code, out.lines().count()), (2, 2), "{out}");
    assert!(out.starts_with("- objectClasses: ( 1.9.2 ") && out.contains("\n+ objectClasses: ( 1.9.2 "));
    assert_eq!(run(&["diff", "s", "s"]), (0, String::new(), String::new()));
    let (code, out, _) = run(&["check", "bad", "--from", "s"]);
    assert_eq!(code, 2);
    assert_eq!(
        out,
        "cn=a,o=x: missing attribute `sn`, required by object class `person`\n\
         cn=a,o=x: attribute `color` is not allowed by any object class of the entry\n\
         cn=a,o=x: attribute `color` has 2 values, but allows one\n"
    );
    assert_eq!(run(&["check", "good", "--from", "s"]), (0, String::new(), String::new()));
    let said = "cn=a,o=x: object class `colored` added: it allows `color`\n";
    let (code, out, err) = run(&["repair", "bad", "--from", "s", "--mode", "optimistic"]);
    assert_eq!(
        (code, out.as_str(), err.as_str()),
        (
            0,
            "dn: cn=a,o=x\nobjectClass: person\nobjectClass: colored\ncn: a\ncolor: red\ncolor: blue\n\n",
            said
        )
    );
    let planned = run(&["repair", "bad", "--from", "s", "--mode", "optimistic", "--plan"]);
    assert_eq!(planned, (0, String::new(), said.to_owned()));
    let (code, out, _) = run(&["repair", "bad", "--from", "s", "--mode", "pessimistic"]);
    assert_eq!((code, out.as_str()), (0, "dn: cn=a,o=x\nobjectClass: person\ncn: a\n\n"));
}
