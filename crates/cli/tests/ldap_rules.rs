//! `tercet ldap acl-test`, the rules of `tercet ldap serve`, and `tercet ldap proxy`.
#![cfg(unix)]

#[path = "common/serve.rs"]
mod serve;

use serve::{Serve, tercet};
use std::io::BufRead as _;
use std::process::{Child, Command, Stdio};

const STAFF: &str = "\
dn: o=test
objectClass: organization
o: test

dn: uid=ada,o=test
objectClass: account
uid: ada
mail: ada@example.net
userPassword: engine

dn: uid=bob,o=test
objectClass: account
uid: bob
mail: bob@example.net
userPassword: bob

dn: cn=admins,o=test
objectClass: groupOfNames
cn: admins
member: uid=bob,o=test
";

const RULES: &str = "\
# who may do what
allow auth to o=test.sub by anonymous
allow write to o=test.sub attr=mail by self
allow read,write,add,delete to o=test.sub by group=cn=admins,o=test
deny read to o=test.sub attr=mail by users
allow read to o=test.sub by users
";

#[test]
fn which_rule_decides_is_printed() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("rules"), RULES).unwrap();
    std::fs::write(folder.path().join("staff.ldif"), STAFF).unwrap();
    let run = |words: &[&str]| tercet(folder.path(), &[&["acl-test", "rules"], words].concat());
    let (ada, bob) = ("uid=ada,o=test", "uid=bob,o=test");
    for (words, code, printed) in [
        (
            vec!["--as", ada, "--on", ada, "--attr", "mail", "--right", "write"],
            0,
            "allow line 3: allow write to o=test.sub attr=mail by self\n",
        ),
        (
            vec!["--as", ada, "--on", bob, "--attr", "mail"],
            2,
            "deny line 5: deny read to o=test.sub attr=mail by users\n",
        ),
        (vec!["--as", ada, "--on", bob], 0, "allow line 6: allow read to o=test.sub by users\n"),
        (vec!["--on", bob, "--right", "auth"], 0, "allow line 2: allow auth to o=test.sub by anonymous\n"),
        (vec!["--on", bob], 2, "deny: no rule matches\n"),
        (vec!["--as", bob, "--on", ada, "--right", "delete"], 2, "deny: no rule matches\n"),
        (
            vec!["--as", bob, "--on", ada, "--right", "delete", "--ldif", "staff.ldif"],
            0,
            "allow line 4: allow read,write,add,delete to o=test.sub by group=cn=admins,o=test\n",
        ),
    ] {
        let (found, out, err) = run(&words);
        assert_eq!((found, out.as_str()), (code, printed), "{words:?} {err}");
    }
    for words in [
        &["--as", "ada", "--on", bob][..],
        &["--as", ada, "--on", "bob"],
        &["--on", bob, "--right", "eat"],
        &["--as", ada],
    ] {
        assert_eq!(run(words).0, 1, "{words:?}");
    }
    std::fs::write(
        folder.path().join("rules"),
        "allow read to o=test by users\nallow read to o=test by me\n",
    )
    .unwrap();
    let (code, _, err) = run(&["--on", bob]);
    assert_eq!(code, 1);
    assert!(err.contains("rules: line 2: unknown user `me`"), "{err}");
}

#[test]
fn servers_follow_rules() {
    let rules = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(rules.path(), RULES).unwrap();
    let root = ["-D", "cn=root,o=test", "-w", "secret"];
    let acl =
        ["--acl", rules.path().to_str().unwrap(), "--unique", "mail", "--integrity", "member", "--member-of"];
    let server = Serve::start(STAFF, &[&root[..], &acl].concat());
    let search = |words: &[&str]| {
        let output = server.run(&[&["search", "-b", "o=test", "-LLL"], words].concat());
        String::from_utf8(output.stdout).unwrap()
    };
    let ada = ["-D", "uid=ada,o=test", "-w", "engine"];
    let bob = ["-D", "uid=bob,o=test", "-w", "bob"];
    assert_eq!(search(&["(uid=*)", "uid"]), "");
    let found = search(&[&ada[..], &["(uid=*)", "uid", "mail", "memberOf"]].concat());
    assert_eq!(
        found,
        "dn: uid=ada,o=test\nuid: ada\n\ndn: uid=bob,o=test\nuid: bob\nmemberOf: cn=admins,o=test\n\n"
    );
    let change = |words: &[&str], text: &str| {
        std::fs::write(server.folder.path().join("change"), text).unwrap();
        server.run(&[&["modify", "--ldap-exit", "-f", "change"], words].concat()).status.code().unwrap()
    };
    let mail = |uid: &str, value: &str| {
        format!("dn: uid={uid},o=test\nchangetype: modify\nreplace: mail\nmail: {value}\n")
    };
    assert_eq!(change(&ada, &mail("ada", "a@example.net")), 0);
    assert_eq!(change(&ada, &mail("bob", "a@example.net")), 50);
    assert_eq!(change(&bob, &mail("bob", "a@example.net")), 19, "the mail of another one");
    assert_eq!(change(&ada, "dn: uid=bob,o=test\nchangetype: delete\n"), 50);
    assert_eq!(
        change(&root, "dn: uid=bob,o=test\nchangetype: modrdn\nnewrdn: uid=rob\ndeleteoldrdn: 1\n"),
        0
    );
    assert!(search(&[&root[..], &["(cn=admins)", "member"]].concat()).contains("member: uid=rob,o=test"));
}

#[test]
fn servers_keep_rules_for_passwords() {
    let rules = tempfile::NamedTempFile::new().unwrap();
    let text =
        "dn: cn=default,o=test\npwdLockout: TRUE\npwdMaxFailure: 2\npwdCheckQuality: 1\npwdMinLength: 5\n";
    std::fs::write(rules.path(), text).unwrap();
    let policy = rules.path().to_str().unwrap();
    let server = Serve::start(STAFF, &["--password-policy", policy, "-D", "cn=root,o=test", "-w", "secret"]);
    let bind = |password: &str| {
        let words = ["whoami", "--ldap-exit", "-D", "uid=ada,o=test", "-w", password];
        server.run(&words).status.code().unwrap()
    };
    let passwd = |password: &str| {
        let words = ["passwd", "--ldap-exit", "-D", "uid=ada,o=test", "-w", "engine", "-s", password];
        server.run(&words).status.code().unwrap()
    };
    assert_eq!((passwd("tiny"), passwd("engine"), bind("engine")), (19, 0, 0));
    assert_eq!((bind("wrong"), bind("wrong"), bind("engine")), (49, 49, 49), "it is locked");
    std::fs::write(rules.path(), "dn: cn=default,o=test\npwdMaxFailure: many\n").unwrap();
    let (code, _, err) = tercet(server.folder.path(), &["serve", "--password-policy", policy]);
    assert!(code == 1 && err.contains("pwdMaxFailure: `many` is not a number"), "{err}");
}

/// `tercet ldap proxy`, and its URL.
struct Proxied {
    child: Child,
    url: String,
}

impl Proxied {
    fn start(server: &Serve, words: &[&str]) -> Self {
        let to = ["--to", &server.url];
        let to = if words.contains(&"--to") { &[][..] } else { &to[..] };
        let child = Command::new(env!("CARGO_BIN_EXE_tercet"))
            .args(["ldap", "proxy", "--listen", "127.0.0.1:0"])
            .args(to)
            .args(words)
            .current_dir(server.folder.path())
            .stderr(Stdio::piped())
            .stdout(Stdio::null())
            .spawn();
        let mut child = child.unwrap();
        let mut lines = std::io::BufReader::new(child.stderr.take().unwrap()).lines();
        let line = lines.next().unwrap().unwrap();
        let url = line.strip_prefix("proxy at ").unwrap_or_else(|| panic!("{line}")).to_owned();
        Self { child, url }
    }

    fn run(&self, server: &Serve, words: &[&str]) -> (i32, String) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tercet"));
        command.args(["ldap", words[0], "--ldap-exit", "-H", &self.url]).args(&words[1..]);
        let output =
            command.current_dir(server.folder.path()).env("HOME", server.folder.path()).output().unwrap();
        (output.status.code().unwrap(), String::from_utf8(output.stdout).unwrap())
    }
}

impl Drop for Proxied {
    fn drop(&mut self) {
        _ = self.child.kill();
        _ = self.child.wait();
    }
}

#[test]
fn proxies_log_and_answer() {
    let server = Serve::start(STAFF, &["-D", "cn=root,o=test", "-w", "secret"]);
    let folder = server.folder.path();
    let rules = "{\"op\":\"delete\",\"code\":51,\"message\":\"later\"}\n\n{\"op\":\"compare\",\"dn\":\"o=test\",\"close\":true}\n";
    std::fs::write(folder.join("answers"), rules).unwrap();
    std::fs::write(folder.join("password"), "secret").unwrap();
    // By a connection to the server for each client, and by shared ones.
    for mode in ["--balance=first", "--pool"] {
        proxy_logs_and_answers(&server, mode);
        std::fs::remove_file(folder.join("log")).unwrap();
    }

    let proxy = Proxied::start(
        &server,
        &["--as", "cn=root,o=test", "-y", "password", "--log", "log2", "--show-passwords"],
    );
    assert_eq!(proxy.run(&server, &["whoami"]).1, "dn:cn=root,o=test\n");
    assert_eq!(proxy.run(&server, &["whoami", "-D", "uid=ada,o=test", "-w", "wrong"]).0, 49);
    assert!(std::fs::read_to_string(folder.join("log2")).unwrap().contains("\"password\":\"wrong\""));
    for (words, message) in [
        (&["--to", "o=test"][..], "--to"),
        (&["--to", "ldap://a", "--balance", "srv"], "--balance srv"),
        (&["--to", "ldap://a", "--map", "o=a", "b"], "--map"),
        (&["--to", "ldap://a", "--octets"], "--log"),
        (&["--to", "ldap://a", "--as", "o=a"], "-y"),
        (&["--to", "ldap://a", "--proxied"], "--as"),
        (&[], "--to"),
    ] {
        let (code, _, err) = tercet(folder, &[&["proxy", "--listen", "127.0.0.1:0"], words].concat());
        assert_eq!(code, 1, "{words:?} {err}");
        assert!(err.contains(message), "{words:?} {err}");
    }
    std::fs::write(folder.join("answers"), "{\"op\":\"delete\"}\n").unwrap();
    let (code, _, err) = tercet(folder, &["proxy", "--to", "ldap://a", "--answer", "answers"]);
    assert!(code == 1 && err.contains("answers: line 1: `code`"), "{err}");
}

fn proxy_logs_and_answers(server: &Serve, mode: &str) {
    let folder = server.folder.path();
    let proxy = Proxied::start(server, &["--log", "log", "--answer", "answers", mode]);
    let bound = ["-D", "cn=root,o=test", "-w", "secret"];
    let (code, out) = proxy.run(
        server,
        &[&["search"][..], &bound, &["-b", "o=test", "-LLL", "(uid=ada)", "uid", "userPassword"]].concat(),
    );
    assert_eq!((code, out.as_str()), (0, "dn: uid=ada,o=test\nuid: ada\nuserPassword:: ZW5naW5l\n\n"));
    assert_eq!(proxy.run(server, &[&["delete"][..], &bound, &["uid=ada,o=test"]].concat()).0, 51);
    assert_eq!(proxy.run(server, &["compare", "o=test", "o:test"]).0, 255);
    assert_eq!(proxy.run(server, &["compare", "uid=ada,o=test", "uid:ada"]).0, 6);
    drop(proxy);
    let log = std::fs::read_to_string(folder.join("log")).unwrap();
    let lines: Vec<serde_json::Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(!log.contains("secret") && !log.contains("engine"), "{log}");
    let of = |line: &serde_json::Value| {
        let text = |name: &str| line[name].as_str().unwrap_or_default().to_owned();
        (line["conn"].as_u64().unwrap(), text("from"), text("op"))
    };
    let owned = |conn, from: &str, op: &str| (conn, from.to_owned(), op.to_owned());
    let expected = [
        owned(1, "client", "bind"),
        owned(1, "server", "bindResponse"),
        owned(1, "client", "search"),
        owned(1, "server", "searchEntry"),
        owned(1, "server", "searchDone"),
        owned(2, "client", "bind"),
        owned(2, "server", "bindResponse"),
        owned(2, "client", "delete"),
        owned(2, "server", "deleteResponse"),
    ];
    let found: Vec<_> = lines.iter().map(of).filter(|(_, _, op)| op != "unbind").collect();
    assert_eq!(found.get(..9).unwrap(), expected);
    let refused = lines.iter().find(|line| line["op"] == "deleteResponse").unwrap();
    assert_eq!((refused["code"].as_u64(), refused["message"].as_str()), (Some(51), Some("later")));
    let members: Vec<&String> = refused.as_object().unwrap().keys().collect();
    assert_eq!(members, ["t", "conn", "from", "id", "op", "code", "message", "controls"]);
}

/// With shared connections, a server that ends is replaced by another one.
#[test]
fn proxies_share_connections() {
    let [one, other] = [(); 2].map(|()| Serve::start(STAFF, &["-D", "cn=root,o=test", "-w", "secret"]));
    std::fs::write(other.folder.path().join("password"), "secret").unwrap();
    let words = [
        "--to",
        &one.url,
        &other.url,
        "--pool",
        "--map",
        "dc=test",
        "o=test",
        "--read-only",
        "--rate",
        "1000",
    ];
    let proxy = Proxied::start(&other, &words);
    let search = ["search", "-b", "dc=test", "-LLL", "(uid=ada)", "uid"];
    let expected = (0, "dn: uid=ada,dc=test\nuid: ada\n\n".to_owned());
    assert_eq!(proxy.run(&other, &search), expected);
    drop(one);
    assert_eq!(proxy.run(&other, &search), expected);
    let bound = ["-D", "uid=ada,dc=test", "-w", "engine"];
    assert_eq!(proxy.run(&other, &[&["whoami"][..], &bound].concat()).1, "dn:uid=ada,dc=test\n");
    assert_eq!(proxy.run(&other, &["delete", "uid=ada,dc=test"]).0, 53);
    // With the rights of an account, which may read passwords.
    let account = ["--pool", "--as", "cn=root,o=test", "-y", "password"];
    let proxy = Proxied::start(&other, &account);
    let [_, found] =
        [0, 1].map(|_| proxy.run(&other, &["search", "-b", "o=test", "-LLL", "(uid=ada)", "userPassword"]));
    assert_eq!(found, (0, "dn: uid=ada,o=test\nuserPassword:: ZW5naW5l\n\n".to_owned()));
    assert_eq!(proxy.run(&other, &["whoami", "-D", "uid=ada,o=test", "-w", "wrong"]).0, 49);
}
