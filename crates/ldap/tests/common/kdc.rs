//! A KDC of MIT Kerberos of one's own: a realm with a user, and the service that a slapd on this host is.

use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::free_port;

/// A KDC on loopback with a realm of its own; it ends with the test.
pub struct Kdc {
    folder: tempfile::TempDir,
    child: Child,
}

/// The user, whose keys are in a file, and the service.
const PRINCIPALS: [(&str, &str); 3] =
    [("ada", "users"), ("ldap/localhost", "services"), ("ldap/other.example.net", "elsewhere")];

const CLIENTS: &str = "\
[libdefaults]
default_realm = EXAMPLE.NET
dns_lookup_kdc = false
dns_lookup_realm = false
dns_canonicalize_hostname = false
rdns = false
udp_preference_limit = 1
[realms]
EXAMPLE.NET = {
  kdc = 127.0.0.1:PORT
}
";

const SERVER: &str = "\
[kdcdefaults]
kdc_listen = \"\"
kdc_tcp_listen = 127.0.0.1:PORT
[realms]
EXAMPLE.NET = {
  database_name = FOLDER/principals
  key_stash_file = FOLDER/stash
  max_life = 1h
}
[logging]
kdc = FILE:FOLDER/log
";

impl Kdc {
    /// Starts one; reports a skip if the programs are not on this machine.
    pub fn start() -> Option<Self> {
        let programs = ["krb5kdc", "kdb5_util", "kadmin.local", "kinit"];
        let [kdc, create, admin, _] = &tercet_testing::programs("krb5", programs)?;
        let modules = Path::new("/usr/lib").join(format!("{}-linux-gnu/sasl2", std::env::consts::ARCH));
        if !modules.join("libgssapiv2.so").exists() {
            tercet_testing::skip("krb5", "no GSSAPI for slapd (libgssapiv2.so)");
            return None;
        }
        let folder = tempfile::tempdir().unwrap();
        let port = free_port();
        for (name, text) in [("krb5.conf", CLIENTS), ("kdc.conf", SERVER)] {
            let text = text.replace("PORT", &port.to_string());
            let text = text.replace("FOLDER", &folder.path().display().to_string());
            std::fs::write(folder.path().join(name), text).unwrap();
        }
        let run = |program: &Path, words: &[&str]| {
            let output =
                with_environment(&mut Command::new(program), folder.path()).args(words).output().unwrap();
            assert!(
                output.status.success(),
                "{program:?} {words:?}: {}",
                String::from_utf8_lossy(&output.stderr)
            );
        };
        run(create, &["create", "-s", "-P", "master", "-r", "EXAMPLE.NET"]);
        for (principal, keys) in PRINCIPALS {
            run(admin, &["-q", &format!("addprinc -randkey {principal}")]);
            let keys = folder.path().join(keys);
            run(admin, &["-q", &format!("ktadd -k {} {principal}", keys.display())]);
        }
        let child = with_environment(&mut Command::new(kdc), folder.path())
            .arg("-n")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let kdc = Self { folder, child };
        let begin = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(begin.elapsed() < Duration::from_secs(30), "the KDC does not start");
            std::thread::sleep(Duration::from_millis(20));
        }
        Some(kdc)
    }

    /// What programs need to know of the realm, and where its tickets are.
    pub fn environment(&self) -> Vec<(&'static str, PathBuf)> {
        environment(self.folder.path())
    }

    /// Gets a ticket for the user, of a lifetime such as `10m`, into a file that is `KRB5CCNAME` then.
    pub fn ticket(&self, name: &str, lifetime: &str) -> PathBuf {
        let path = self.folder.path().join(name);
        let mut kinit = Command::new("kinit");
        kinit.args(["-l", lifetime, "-k", "-t"]).arg(self.folder.path().join("users")).arg("-c").arg(&path);
        let output = with_environment(kinit.arg("ada"), self.folder.path()).output().unwrap();
        assert!(output.status.success(), "kinit: {}", String::from_utf8_lossy(&output.stderr));
        path
    }
}

impl Drop for Kdc {
    fn drop(&mut self) {
        _ = self.child.kill();
        _ = self.child.wait();
    }
}

fn environment(folder: &Path) -> Vec<(&'static str, PathBuf)> {
    vec![
        ("KRB5_CONFIG", folder.join("krb5.conf")),
        ("KRB5_KDC_PROFILE", folder.join("kdc.conf")),
        ("KRB5_KTNAME", folder.join("services")),
        ("KRB5CCNAME", folder.join("no-tickets")),
        ("KRB5RCACHEDIR", folder.to_path_buf()),
    ]
}

fn with_environment<'c>(command: &'c mut Command, folder: &Path) -> &'c mut Command {
    command.envs(environment(folder))
}
