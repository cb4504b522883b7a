//! What the tests share: a real slapd of one's own, certificates, a server that plays a script.
#![allow(dead_code, unreachable_pub, reason = "each test uses a part")]

pub mod kdc;

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// A slapd on loopback with a directory of its own; it ends with the test.
pub struct Slapd {
    pub port: u16,
    pub tls_port: u16,
    pub folder: tempfile::TempDir,
    child: Child,
}

pub const ROOT: &str = "o=test";
pub const SECRET: &str = "secret";

/// Half of its threads may work for one connection, searches that go on among them.
const CONFIG: &str = "\
include    /etc/ldap/schema/core.schema
include    /etc/ldap/schema/cosine.schema
include    /etc/ldap/schema/inetorgperson.schema
modulepath /usr/lib/ldap
moduleload back_mdb
moduleload sssvlv
moduleload syncprov
moduleload deref
pidfile    FOLDER/pid
argsfile   FOLDER/args
loglevel   none
threads    16
sizelimit  unlimited
timelimit  unlimited
conn_max_pending 5000
conn_max_pending_auth 5000
allow      bind_v2
sasl-secprops none
authz-policy to
authz-regexp \"uid=([^,]*),cn=.*,cn=auth\" \"uid=$1,o=test\"
authz-regexp \"gidNumber=.*,cn=peercred,cn=external,cn=auth\" \"uid=local,o=test\"
TLS
database   mdb
suffix     \"o=test\"
rootdn     \"o=test\"
rootpw     secret
directory  FOLDER/data
maxsize    2147483648
envflags   nosync
index      objectClass eq
index      uid eq
access to attrs=userPassword by self write by anonymous auth by * read
access to * by * write
overlay    sssvlv
overlay    syncprov
overlay    deref
syncprov-checkpoint 1 1
";

const TLS: &str = "\
TLSCACertificateFile FOLDER/ca.pem
TLSCertificateFile FOLDER/server.pem
TLSCertificateKeyFile FOLDER/server.key
";

impl Slapd {
    /// Starts one with these entries; reports a skip if there is no slapd on this machine.
    pub fn start(ldif: &[u8]) -> Option<Self> {
        Self::start_with(ldif, None)
    }

    /// The same with a certificate of this kind.
    pub fn start_with(ldif: &[u8], certificates: Option<&Certificates>) -> Option<Self> {
        Self::start_as(ldif, certificates, ["", ""], &[])
    }

    /// The same with more lines of settings, of the server and of the database, in this environment.
    pub fn start_as(
        ldif: &[u8],
        certificates: Option<&Certificates>,
        [settings, overlays]: [&str; 2],
        environment: &[(&str, PathBuf)],
    ) -> Option<Self> {
        let [slapd] = tercet_testing::programs("slapd", ["slapd"])?;
        if !Path::new("/usr/lib/ldap").exists() {
            tercet_testing::skip("slapd", "no modules of slapd in /usr/lib/ldap");
            return None;
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        std::fs::create_dir(path.join("data")).unwrap();
        let tls = if certificates.is_some() { TLS } else { "" };
        let mut config = CONFIG.replace("TLS\n", &format!("{tls}{settings}")) + overlays;
        if let Some(certificates) = certificates {
            std::fs::write(path.join("ca.pem"), &certificates.ca).unwrap();
            std::fs::write(path.join("server.pem"), &certificates.certificate).unwrap();
            std::fs::write(path.join("server.key"), &certificates.key).unwrap();
        }
        config = config.replace("FOLDER", &path.display().to_string());
        std::fs::write(path.join("slapd.conf"), config).unwrap();
        let mut load = Command::new(&slapd)
            .args(["-T", "add", "-q", "-f"])
            .arg(path.join("slapd.conf"))
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        load.stdin.take().unwrap().write_all(ldif).unwrap();
        assert!(load.wait().unwrap().success(), "slapadd");
        let (port, tls_port) = (free_port(), free_port());
        let socket = path.join("socket").display().to_string().replace('/', "%2f");
        let tls =
            if certificates.is_some() { format!("ldaps://127.0.0.1:{tls_port}/") } else { String::new() };
        let child = Command::new(slapd)
            .args(["-d", "0", "-f"])
            .arg(path.join("slapd.conf"))
            .args(["-h", &format!("ldap://127.0.0.1:{port}/ ldapi://{socket} {tls}")])
            .envs(environment.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let slapd = Self { port, tls_port, folder, child };
        let begin = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(begin.elapsed() < Duration::from_secs(30), "slapd does not start");
            std::thread::sleep(Duration::from_millis(20));
        }
        Some(slapd)
    }

    pub fn url(&self) -> String {
        format!("ldap://127.0.0.1:{}", self.port)
    }

    pub fn local_url(&self) -> String {
        format!("ldapi://{}", self.folder.path().join("socket").display().to_string().replace('/', "%2f"))
    }

    /// Ends it at once, as a crash does.
    pub fn kill(&mut self) {
        _ = self.child.kill();
        _ = self.child.wait();
    }
}

impl Drop for Slapd {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Stands between a client and a server, and keeps all that goes either way.
pub struct Proxy {
    pub url: String,
    seen: Arc<Mutex<Vec<u8>>>,
}

impl Proxy {
    /// Takes one connection, for the server with this URL.
    pub fn start(url: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let own = format!("ldap://{}", listener.local_addr().unwrap());
        let seen = Arc::<Mutex<Vec<u8>>>::default();
        let (server, kept) = (url.trim_start_matches("ldap://").to_owned(), Arc::clone(&seen));
        std::thread::spawn(move || {
            let (client, _) = listener.accept().unwrap();
            let server = TcpStream::connect(server).unwrap();
            let back = (server.try_clone().unwrap(), client.try_clone().unwrap());
            let also = Arc::clone(&kept);
            std::thread::spawn(move || pass(back.0, back.1, &also));
            pass(client, server, &kept);
        });
        Self { url: own, seen }
    }

    /// What has gone either way.
    pub fn seen(&self) -> Vec<u8> {
        self.seen.lock().unwrap().clone()
    }
}

fn pass(mut from: TcpStream, mut to: TcpStream, seen: &Mutex<Vec<u8>>) {
    let mut octets = [0; 4096];
    while let Ok(count @ 1..) = from.read(&mut octets) {
        seen.lock().unwrap().extend_from_slice(&octets[..count]);
        if to.write_all(&octets[..count]).is_err() {
            break;
        }
    }
    _ = to.shutdown(std::net::Shutdown::Write);
}

pub fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// A CA, and a certificate that it has signed.
pub struct Certificates {
    pub ca: Vec<u8>,
    pub certificate: Vec<u8>,
    pub key: Vec<u8>,
}

impl Certificates {
    /// For a host; `expired` years ago.
    pub fn new(host: &str, expired: bool) -> Self {
        use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair, date_time_ymd};
        let mut ca = CertificateParams::new(Vec::new()).unwrap();
        ca.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        ca.distinguished_name.push(rcgen::DnType::CommonName, "Test CA");
        let ca = CertifiedIssuer::self_signed(ca, KeyPair::generate().unwrap()).unwrap();
        let mut params = CertificateParams::new(vec![host.to_owned()]).unwrap();
        if expired {
            params.not_before = date_time_ymd(2001, 1, 1);
            params.not_after = date_time_ymd(2002, 1, 1);
        }
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &ca).unwrap();
        Self {
            ca: ca.pem().into_bytes(),
            certificate: certificate.pem().into_bytes(),
            key: key.serialize_pem().into_bytes(),
        }
    }
}

/// A few entries: a person who may bind, and others.
pub fn people(count: usize) -> Vec<u8> {
    let mut text = String::from(
        "dn: o=test\nobjectClass: organization\no: test\n\n\
         dn: uid=ada,o=test\nobjectClass: inetOrgPerson\nuid: ada\ncn: Ada Lovelace\nsn: Lovelace\nuserPassword: engine\n\
         mail: ada@example.net\nmail: countess@example.net\n\n\
         dn: uid=local,o=test\nobjectClass: inetOrgPerson\nuid: local\ncn: Local User\nsn: User\n\n",
    );
    for index in 0..count {
        text += &format!(
            "dn: uid=p{index:05},o=test\nobjectClass: inetOrgPerson\nuid: p{index:05}\ncn: Person {index}\nsn: {:04}\n\n",
            (index * 7919) % 10_000
        );
    }
    text.into_bytes()
}
