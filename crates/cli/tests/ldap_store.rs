//! `tercet ldap serve --data`: what was answered is on disk, whatever happens to the process.
#![cfg(unix)]

#[path = "common/serve.rs"]
mod serve;

use serve::{Serve, tercet};
use std::io::{Read as _, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

const ROOT: &str = "dn: o=test\nobjectClass: organization\no: test\n";

/// A server whose entries are in a folder beside its own.
fn serve(data: &Path, words: &[&str]) -> Serve {
    Serve::start(ROOT, &[&["--data", data.to_str().unwrap()], words].concat())
}

fn export(data: &Path) -> String {
    let (code, out, err) = tercet(data, &["store", "--data", ".", "export"]);
    assert_eq!(code, 0, "{err}");
    out
}

fn end(serve: &Serve) {
    let killed = Command::new("kill").arg(serve.child.id().to_string()).status().unwrap();
    assert!(killed.success());
    // The lock of the file goes with the process.
    while Command::new("kill")
        .args(["-0", &serve.child.id().to_string()])
        .stderr(Stdio::null())
        .status()
        .unwrap()
        .success()
        && !is_zombie(serve.child.id())
    {
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// A process that has ended, and whose parent has not asked for it yet.
fn is_zombie(id: u32) -> bool {
    let state = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
    state.rsplit(')').next().is_none_or(|rest| rest.trim_start().starts_with('Z'))
}

#[test]
fn entries_survive_the_process() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    for durability in ["group", "each", "none"] {
        let server = serve(&data, &["--durability", durability]);
        let add = format!("dn: cn={durability},o=test\nobjectClass: device\ncn: {durability}\n");
        std::fs::write(server.folder.path().join("add"), add).unwrap();
        let added = server.run(&["add", "-f", "add"]);
        assert!(added.status.success(), "{}", String::from_utf8_lossy(&added.stderr));
        if durability == "each" {
            assert!(server.run(&["modrdn", "-r", "cn=group,o=test", "cn=renamed"]).status.success());
            assert!(server.run(&["passwd", "-s", "secret", "cn=each,o=test"]).status.success());
            // Nobody else may use the folder meanwhile.
            let (code, _, err) = tercet(&data, &["store", "--data", ".", "check"]);
            assert!(code == 4 && err.contains("another process uses the directory"), "{err}");
        }
        end(&server);
    }
    let (code, out, _) = tercet(&data, &["store", "--data", ".", "check"]);
    assert_eq!((code, out.as_str()), (0, "4 entries, 0 faults\n"));
    let out = export(&data);
    assert!(out.starts_with("dn: o=test\nobjectClass: organization\no: test\n\n"), "{out}");
    assert!(out.contains("dn: cn=renamed,o=test\nobjectClass: device\ncn: renamed\n\n"), "{out}");
    assert!(out.contains("userPassword:: ") && out.contains("dn: cn=none,o=test\n"), "{out}");
    // The password is checked, and a directory that is not to be changed refuses.
    let server = serve(&data, &["--read-only"]);
    assert!(server.run(&["whoami", "-D", "cn=each,o=test", "-w", "secret"]).status.success());
    let refused = server.run(&["delete", "cn=each,o=test"]);
    assert!(String::from_utf8_lossy(&refused.stderr).contains("Server is unwilling to perform (53)"));
    end(&server);
}

#[test]
fn stores_are_filled_exported_and_compacted() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let run = |words: &[&str]| tercet(folder.path(), &[&["store", "--data", "d"], words].concat());
    let many: String =
        (0..200).map(|n| format!("dn: cn={n},o=test\nobjectClass: device\ncn: {n}\n\n")).collect();
    std::fs::write(at("in"), format!("{ROOT}\n{many}")).unwrap();
    assert_eq!(run(&["check"]).0, 1, "there is no folder");
    assert_eq!(run(&["import", "in"]), (0, String::new(), "201 records\n".to_owned()));
    // All or nothing.
    std::fs::write(at("bad"), "dn: cn=new,o=test\ncn: new\n\ndn: cn=0,o=test\ncn: 0\n").unwrap();
    let (code, _, err) = run(&["import", "bad"]);
    assert!(code == 1 && err.contains("cn=0,o=test: Already exists (68)"), "{code} {err}");
    assert_eq!(run(&["check"]).1, "201 entries, 0 faults\n");
    std::fs::write(at("out"), run(&["export"]).1).unwrap();
    assert_eq!(tercet(folder.path(), &["diff", "in", "out"]).0, 0);
    assert_eq!(run(&["compact"]).0, 0);
    assert_eq!(run(&["index", "description:eq,sub"]).0, 0);
    assert_eq!(run(&["index", "description:foo"]).0, 1);
    assert_eq!(run(&["check"]).1, "201 entries, 0 faults\n");
    std::fs::write(at("d/entries.redb"), "text").unwrap();
    let (code, _, err) = run(&["check"]);
    assert!(code == 4 && err.contains("entries.redb"), "{err}");
}

#[test]
fn cookies_survive_the_process() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let state = folder.path().join("state").display().to_string();
    let follow = ["follow", "-b", "o=test", "--once", "--cookie", &state];
    let server = serve(&data, &[]);
    let first = server.run(&follow);
    assert_eq!(String::from_utf8(first.stdout).unwrap().lines().count(), 1);
    end(&server);
    let server = serve(&data, &[]);
    let again = server.run(&follow);
    assert_eq!((again.status.code(), again.stdout.len()), (Some(0), 0));
    end(&server);
}

/// Entries, each of which is added and then changed in two attributes by one modification.
fn changes(round: usize, count: usize) -> String {
    let one = |n: usize| {
        format!(
            "dn: cn={round}-{n},o=test\nchangetype: add\nobjectClass: device\ncn: {round}-{n}\nl: old\nou: old\n\n\
             dn: cn={round}-{n},o=test\nchangetype: modify\nreplace: l\nl: new\n-\nreplace: ou\nou: new\n-\n\n"
        )
    };
    (0..count).map(one).collect()
}

/// The server is killed at many moments: each answered change is there, and none is half there. `TERCET_KILLS=100` for a hundred.
#[test]
fn killed_at_any_moment() {
    let kills = std::env::var("TERCET_KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(8);
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let mut answered_in_all = 0;
    for round in 0..kills {
        let mut server = serve(&data, &[]);
        let text = changes(round, 400);
        std::fs::write(folder.path().join("changes"), &text).unwrap();
        let line = folder.path().join(format!("line{round}"));
        let mut client = Command::new(env!("CARGO_BIN_EXE_tercet"))
            .args(["ldap", "modify", "-H", &server.url, "--in-flight", "8", "--resume"])
            .arg(&line)
            .arg("-f")
            .arg(folder.path().join("changes"))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_millis(60 + (round as u64 * 37) % 400));
        server.child.kill().unwrap();
        server.child.wait().unwrap();
        client.wait().unwrap();
        let reached = std::fs::read_to_string(&line).unwrap_or_default();
        let reached: usize = reached.trim().parse().unwrap_or(0);
        let lines: Vec<&str> = text.lines().take(reached).collect();
        let answered = lines.iter().filter(|line| line.starts_with("changetype: ")).count();
        answered_in_all += answered;
        let (code, out, err) = tercet(folder.path(), &["store", "--data", "data", "check"]);
        assert!(code == 0 && out.ends_with("entries, 0 faults\n"), "{round}: {out}{err}");
        let kept = export(&data);
        let entries: Vec<&str> = kept.split("\n\n").collect();
        for entry in entries.iter().filter(|entry| entry.starts_with(&format!("dn: cn={round}-"))) {
            let is_whole = ["old", "new"].iter().any(|word| {
                entry.contains(&format!("\nl: {word}")) && entry.contains(&format!("\nou: {word}"))
            });
            assert!(is_whole, "{round}: half a change: {entry}");
        }
        // The answered ones are those of the lines before the one reached.
        for n in 0..answered / 2 {
            let whole =
                format!("dn: cn={round}-{n},o=test\nobjectClass: device\ncn: {round}-{n}\nl: new\nou: new");
            assert!(kept.contains(&whole), "{round}: the answered change of {n} is lost");
        }
        if answered % 2 == 1 {
            assert!(
                kept.contains(&format!("dn: cn={round}-{},o=test\n", answered / 2)),
                "{round}: an addition is lost"
            );
        }
    }
    assert!(answered_in_all > 0, "the server was killed before it answered anything");
}

/// An answer of HTTP.
fn http(address: &str, path: &str) -> String {
    let mut stream = std::net::TcpStream::connect(address).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn operations_are_logged_and_counted() {
    let folder = tempfile::tempdir().unwrap();
    let (data, log) = (folder.path().join("data"), folder.path().join("log"));
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let address = port.to_string();
    let words = [
        "--access-log",
        log.to_str().unwrap(),
        "--metrics",
        &address,
        "-D",
        "cn=admin,o=test",
        "-w",
        "secret",
    ];
    let server = serve(&data, &words);
    let add = "dn: cn=a,o=test\nobjectClass: device\ncn: a\nuserPassword: hidden\n";
    std::fs::write(server.folder.path().join("add"), add).unwrap();
    let root = ["-D", "cn=admin,o=test", "-w", "secret"];
    assert!(server.run(&[&["add"], &root[..], &["-f", "add"]].concat()).status.success());
    server.run(&["search", "-b", "o=test", "(&(cn=a)(userPassword=hidden))", "cn"]);
    server.run(&["search", "-b", "o=test", "(objectClass=*)", "cn", "sn"]);
    server.run(&["delete", "cn=none,o=test"]);
    let text = std::fs::read_to_string(&log).unwrap();
    let lines: Vec<serde_json::Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of = |op: &str| lines.iter().filter(|line| line["op"] == op).collect::<Vec<_>>();
    assert_eq!(of("bind").len(), 4, "{text}");
    assert!(of("bind").iter().any(|line| line["name"] == "cn=admin,o=test" && line["code"] == 0));
    let [add] = &of("add")[..] else { panic!("{text}") };
    assert_eq!(
        (&add["target"], &add["code"], &add["dn"]),
        (&"cn=a,o=test".into(), &0.into(), &"cn=admin,o=test".into())
    );
    let searches = of("search");
    let found = searches.iter().find(|line| line["filter"] == "(objectClass=*)").unwrap();
    assert_eq!(
        (&found["base"], &found["scope"], &found["entries"]),
        (&"o=test".into(), &"sub".into(), &2.into())
    );
    assert_eq!(found["attrs"], serde_json::json!(["cn", "sn"]));
    for name in ["t", "conn", "msg", "us", "peer"] {
        assert!(!found[name].is_null(), "{name}: {found}");
    }
    assert_eq!(of("delete")[0]["code"], 50);
    assert!(!text.contains("hidden") && !text.contains("secret"), "{text}");
    let metrics = http(&address, "/metrics");
    for line in [
        "tercet_ldap_operations_total{op=\"add\",code=\"0\"} 1\n",
        "tercet_ldap_operations_total{op=\"delete\",code=\"50\"} 1\n",
        "tercet_ldap_operation_seconds_count{op=\"bind\"} 4\n",
        "tercet_ldap_entries 2\n",
        "tercet_ldap_connections_total 4\n",
        "tercet_ldap_store_commits_total 2\n",
    ] {
        assert!(metrics.contains(line), "{line}: {metrics}");
    }
    assert!(metrics.starts_with("HTTP/1.1 200 OK\r\n"));
    assert!(http(&address, "/").starts_with("HTTP/1.1 404 "));
    end(&server);
}

#[test]
fn scans_are_called_unindexed() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let many: String = (0..1500).map(|n| format!("\ndn: cn={n},o=test\ncn: {n}\ntitle: t{n}\n")).collect();
    let server = Serve::start(&format!("{ROOT}{many}"), &["--access-log", log.to_str().unwrap()]);
    server.run(&["search", "-b", "o=test", "(title=t7)", "1.1"]);
    server.run(&["search", "-b", "o=test", "(cn=7)", "1.1"]);
    let text = std::fs::read_to_string(&log).unwrap();
    let searches: Vec<&str> = text.lines().filter(|line| line.contains("\"op\":\"search\"")).collect();
    assert!(searches[0].contains("\"unindexed\":true") && !searches[1].contains("unindexed"), "{text}");
}

#[test]
fn connections_are_limited_in_number_and_time() {
    let server = Serve::start(ROOT, &["--max-connections", "1", "--idle", "1"]);
    let path = server.folder.path().join("s");
    let mut first = std::os::unix::net::UnixStream::connect(&path).unwrap();
    std::thread::sleep(Duration::from_millis(100));
    // There is room for one, which is closed after a second without a request; then there is room again.
    assert!(!server.run(&["whoami"]).status.success());
    assert_eq!(first.read(&mut [0; 1]).unwrap(), 0);
    std::thread::sleep(Duration::from_millis(100));
    assert!(server.run(&["whoami"]).status.success());
}

/// KiB of memory of a process.
#[cfg(target_os = "linux")]
fn memory(process: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

/// Connections that are bound and wait take at most 16 KiB each. `TERCET_CONNECTIONS=10000` for more: `ulimit -n 20000`.
#[cfg(target_os = "linux")]
#[expect(clippy::print_stdout, reason = "a figure for people")]
#[test]
fn idle_connections_take_little_memory() {
    let count = std::env::var("TERCET_CONNECTIONS").map_or(400, |count| count.parse::<u64>().unwrap());
    let server = Serve::start(ROOT, &[]);
    let path = server.folder.path().join("s");
    let connect = || {
        let mut stream = std::os::unix::net::UnixStream::connect(&path).unwrap();
        // An anonymous bind.
        stream.write_all(b"\x30\x0c\x02\x01\x01\x60\x07\x02\x01\x03\x04\x00\x80\x00").unwrap();
        let mut answer = [0; 14];
        stream.read_exact(&mut answer).unwrap();
        assert_eq!(answer, *b"\x30\x0c\x02\x01\x01\x61\x07\x0a\x01\x00\x04\x00\x04\x00");
        stream
    };
    // What the first ones make is made once.
    let first: Vec<_> = (0..50).map(|_| connect()).collect();
    let before = memory(server.child.id());
    let waiting: Vec<_> = (0..count).map(|_| connect()).collect();
    let after = memory(server.child.id());
    let each = after.saturating_sub(before) * 1024 / count;
    println!("{count} connections: {before} KiB, then {after} KiB: {each} bytes each");
    // The allocator takes memory in pieces.
    assert!(after.saturating_sub(before) <= 16 * count + 2048, "{each} bytes each");
    drop((first, waiting));
}
