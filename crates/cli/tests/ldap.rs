//! `tercet ldap search` beside ldapsearch, octet for octet, on the data sets of `../shared`, from a real slapd.
#![cfg(unix)]
#![expect(clippy::print_stderr, reason = "a test talks to people")]

use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

struct Slapd(Child);

impl Drop for Slapd {
    fn drop(&mut self) {
        _ = self.0.kill();
        _ = self.0.wait();
    }
}

const CONFIG: &str = "\
include /etc/ldap/schema/core.schema
include /etc/ldap/schema/cosine.schema
include /etc/ldap/schema/inetorgperson.schema
modulepath /usr/lib/ldap
moduleload back_mdb
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
";

#[test]
fn searches_print_what_ldapsearch_prints() {
    let generator = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpora/ldap/gen_ldif.py");
    if !generator.exists()
        || !Path::new("/usr/sbin/slapd").exists()
        || !Path::new("/usr/bin/ldapsearch").exists()
    {
        eprintln!("skipped: ../shared, slapd or ldapsearch is not there");
        return;
    }
    for (profile, count) in [("people", "68400"), ("small", "5000"), ("blob", "60"), ("group", "40")] {
        compare(&generator, profile, count);
    }
}

fn compare(generator: &Path, profile: &str, count: &str) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let config = path.join("slapd.conf");
    std::fs::write(&config, CONFIG.replace("FOLDER", &path.display().to_string())).unwrap();
    let ldif = Command::new("python3").arg(generator).args([profile, count]).output().unwrap();
    std::fs::write(path.join("in.ldif"), &ldif.stdout).unwrap();
    let mut add = Command::new("/usr/sbin/slapd");
    add.args(["-T", "add", "-q", "-f"]).arg(&config).arg("-l").arg(path.join("in.ldif"));
    assert!(add.status().unwrap().success());
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let url = format!("ldap://127.0.0.1:{port}");
    let mut server = Command::new("/usr/sbin/slapd");
    server.args(["-d", "0", "-h", &url, "-f"]).arg(&config).stdout(Stdio::null()).stderr(Stdio::null());
    let _slapd = Slapd(server.spawn().unwrap());
    let begin = Instant::now();
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        assert!(begin.elapsed() < Duration::from_secs(30), "slapd does not start");
        std::thread::sleep(Duration::from_millis(20));
    }
    let common = ["-x", "-H", &url, "-D", "o=test", "-w", "secret", "-b", "o=test"];
    for form in
        [&["-LLL"][..], &["-LLL", "-o", "ldif-wrap=no"], &["-L"], &[], &["-z", "3"], &["-A", "-LL", "cn"]]
    {
        let run = |mut command: Command| command.args(common).args(form).output().unwrap().stdout;
        let theirs = run(Command::new("ldapsearch"));
        let mut tercet = Command::new(env!("CARGO_BIN_EXE_tercet"));
        tercet.args(["ldap", "search"]);
        assert!(run(tercet) == theirs, "{profile} {form:?}");
    }
    // Pages make one answer.
    let mut tercet = Command::new(env!("CARGO_BIN_EXE_tercet"));
    tercet.args(["ldap", "search", "-E", "pr=500", "-LLL"]).args(common);
    let theirs = Command::new("ldapsearch").args(common).arg("-LLL").output().unwrap().stdout;
    assert!(tercet.output().unwrap().stdout == theirs, "{profile} in pages");
}
