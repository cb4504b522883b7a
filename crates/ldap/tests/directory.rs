//! The directory in memory by itself: who may read what, who may bind as whom, and the file of its socket.

mod common;

use common::{ROOT, SECRET, people};
use tercet_ldap::controls::{Assertion, PostRead, PostReadEntry, Sort, VirtualListView, VlvTarget};
use tercet_ldap::directory::Directory;
use tercet_ldap::extended::PasswordModify;
use tercet_ldap::ldif::{ModificationKind, RecordModification};
use tercet_ldap::sasl::Mechanism;
use tercet_ldap::{Client, ErrorKind, Result, ResultCode, Scope, Search};

fn code(error: &tercet_ldap::Error) -> ResultCode {
    error.result().unwrap_or_else(|| panic!("{error:?}")).code
}

async fn names(client: &Client, filter: &str) -> Vec<String> {
    let search = Search::new(ROOT).filter(filter).unwrap();
    let (entries, _) = client.search_all(search).await.unwrap();
    entries.iter().map(|entry| entry.dn().to_owned()).collect()
}

#[tokio::test]
async fn passwords_are_read_by_the_root_user_alone() {
    let directory = Directory::new().with_root(ROOT, SECRET);
    directory.load(people(2).as_slice()).unwrap();
    let server = directory.listen("127.0.0.1:0").await.unwrap();
    let client = Client::connect(&server.url()).await.unwrap();
    let ada = "uid=ada,o=test";
    let own = || Search::new(ada).scope(Scope::Base);
    for user in ["", ada] {
        if !user.is_empty() {
            client.bind(user, "engine").await.unwrap();
        }
        for attributes in [&[][..], &["*"], &["userPassword"], &["2.5.4.35"], &["*", "+"]] {
            let (found, _) = client.search_all(own().attributes(attributes)).await.unwrap();
            assert_eq!(found[0].values("userPassword").count(), 0, "{user} {attributes:?}");
        }
        let (found, _) = client.search_all(own().types_only(true)).await.unwrap();
        assert!(found[0].attributes().all(|attribute| attribute.name() != "userPassword"));
        for filter in [
            "(userPassword=*)",
            "(USERPASSWORD=engine)",
            "(userPassword=e*)",
            "(userPassword>=a)",
            "(2.5.4.35=engine)",
        ] {
            assert!(names(&client, filter).await.is_empty(), "{filter}");
        }
        let error = client.compare(ada, "userPassword", b"engine").await.unwrap_err();
        assert_eq!(code(&error), ResultCode::INSUFFICIENT_ACCESS_RIGHTS);
        let asserted = client.with(&[&Assertion("(userPassword=engine)".parse().unwrap())]);
        let error = asserted.search_all(own()).await.unwrap_err();
        assert_eq!(code(&error), ResultCode::ASSERTION_FAILED);
        let view = VirtualListView {
            before: 0,
            after: 0,
            target: VlvTarget::Value(b"engine".to_vec()),
            context: None,
        };
        let sort = Sort { keys: vec!["userPassword".parse().unwrap()], critical: true };
        let error = client.search_all(Search::new(ROOT).control(&sort).control(&view)).await.unwrap_err();
        assert_eq!(code(&error), ResultCode::INSUFFICIENT_ACCESS_RIGHTS);
    }
    client.bind(ROOT, SECRET).await.unwrap();
    let (found, _) = client.search_all(own()).await.unwrap();
    assert_eq!(found[0].text("userPassword"), Some("engine"));
    assert_eq!(names(&client, "(userPassword=engine)").await, [ada]);

    // Who may write without a root user still cannot read.
    let directory = Directory::new();
    directory.load(people(0).as_slice()).unwrap();
    let server = directory.listen("127.0.0.1:0").await.unwrap();
    let client = Client::connect(&server.url()).await.unwrap();
    let asked = client.with(&[&PostRead(Vec::new())]);
    let attribute = "userPassword".to_owned();
    let values = vec![b"other".to_vec()];
    let change = RecordModification { kind: ModificationKind::Replace, attribute, values };
    let result = asked.modify(ada, &[change]).await.unwrap();
    let after = result.control::<PostReadEntry>().unwrap().unwrap().0;
    assert!(after.attributes.iter().all(|(name, _)| name != "userPassword"), "{after:?}");
    client.bind(ada, "other").await.unwrap();
}

#[tokio::test]
async fn a_certificate_can_be_made() {
    use base64::Engine as _;
    let hosts = ["localhost".to_owned(), "127.0.0.1".to_owned()];
    let (directory, certificate) = Directory::new().with_own_certificate(&hosts).unwrap();
    assert_eq!(certificate.sha256().len(), 64);
    let server = directory.listen_tls("0.0.0.0:0").await.unwrap();
    let pem = base64::engine::general_purpose::STANDARD.encode(&certificate.der);
    let pem = format!("-----BEGIN CERTIFICATE-----\n{pem}\n-----END CERTIFICATE-----\n");
    let port = server.address().unwrap().port();
    for (host, is_named) in [("localhost", true), ("127.0.0.1", true), ("127.0.0.2", false)] {
        let mut config = tercet_ldap::Config::new(&format!("ldaps://{host}:{port}")).unwrap();
        config.tls.roots = tercet_ldap::TrustedRoots::Pem(pem.clone().into_bytes());
        match Client::connect_with(&config).await {
            Ok(client) => assert!(is_named && client.who_am_i().await.unwrap().is_empty(), "{host}"),
            Err(error) => assert!(!is_named, "{host}: {error}"),
        }
    }
    // Another one is not trusted.
    let (other, _) = Directory::new().with_own_certificate(&hosts).unwrap();
    let server = other.listen_tls("127.0.0.1:0").await.unwrap();
    let mut config = tercet_ldap::Config::new(&server.url()).unwrap();
    config.tls.roots = tercet_ldap::TrustedRoots::Pem(pem.into_bytes());
    assert_eq!(Client::connect_with(&config).await.unwrap_err().kind(), ErrorKind::Tls);
}

#[tokio::test]
async fn new_passwords_are_kept_as_argon2id() {
    let directory = Directory::new().with_root(ROOT, SECRET);
    directory.load(people(0).as_slice()).unwrap();
    let server = directory.listen("127.0.0.1:0").await.unwrap();
    let client = Client::connect(&server.url()).await.unwrap();
    client.bind(ROOT, SECRET).await.unwrap();
    let user = Some("uid=ada,o=test".to_owned());
    let new = PasswordModify { user, old: Some(b"engine".to_vec()), new: Some(b"difference".to_vec()) };
    client.modify_password(&new).await.unwrap();
    let (found, _) = client.search_all(Search::new("uid=ada,o=test")).await.unwrap();
    let stored = found[0].text("userPassword").unwrap();
    assert!(stored.starts_with("{ARGON2}$argon2id$v=19$m=19456,t=2,p=1$"), "{stored}");
    let error = client.bind("uid=ada,o=test", "engine").await.unwrap_err();
    assert_eq!(code(&error), ResultCode::INVALID_CREDENTIALS);
    client.bind("uid=ada,o=test", "difference").await.unwrap();
}

/// A mechanism that sends these octets.
#[derive(Debug)]
struct Raw(&'static str, Vec<u8>);

impl Mechanism for Raw {
    fn name(&self) -> &'static str {
        self.0
    }

    fn step(&mut self, _: Option<&[u8]>) -> Result<Option<Vec<u8>>> {
        Ok(Some(self.1.clone()))
    }
}

#[tokio::test]
async fn plain_checks_password_and_authorization_identity() {
    // A root user without a password must not be open to all.
    let directory = Directory::new().with_root(ROOT, "");
    directory.load(people(1).as_slice()).unwrap();
    let server = directory.listen("127.0.0.1:0").await.unwrap();
    let client = Client::connect(&server.url()).await.unwrap();
    let bind = async |credentials: &str| {
        client.bind_sasl(Box::new(Raw("PLAIN", credentials.as_bytes().to_vec()))).await
    };
    for credentials in [
        "\0ada\0engine",
        "ada\0ada\0engine",
        "u:ada\0ada\0engine",
        "dn:UID=Ada, o=test\0ada\0engine",
        "\0dn:uid=ada,o=test\0engine",
    ] {
        bind(credentials).await.unwrap_or_else(|error| panic!("{credentials:?}: {error}"));
        assert_eq!(client.who_am_i().await.unwrap(), "dn:uid=ada,o=test");
    }
    for credentials in
        ["dn:o=test\0ada\0engine", "u:p00000\0ada\0engine", "nobody\0ada\0engine", "dn:?\0ada\0engine"]
    {
        let error = bind(credentials).await.unwrap_err();
        assert_eq!(code(&error), ResultCode::INSUFFICIENT_ACCESS_RIGHTS, "{credentials:?}");
        assert_eq!(client.who_am_i().await.unwrap(), "", "{credentials:?}");
    }
    for credentials in [
        "\0dn:o=test\0",
        "\0o=test\0",
        "\0ada\0",
        "\0ada",
        "ada",
        "",
        "\0\0engine",
        "\0ada\0engine\0",
        "\0ada\0wrong",
        "\0nobody\0engine",
    ] {
        let error = bind(credentials).await.unwrap_err();
        assert_eq!(code(&error), ResultCode::INVALID_CREDENTIALS, "{credentials:?}");
    }
    // The client itself does not send an empty password.
    let plain = tercet_ldap::sasl::Plain::new("", "ada", "");
    assert_eq!(client.bind_sasl(Box::new(plain)).await.unwrap_err().kind(), ErrorKind::Usage);
}

#[cfg(unix)]
#[tokio::test]
async fn external_checks_the_authorization_identity() {
    let directory = Directory::new();
    let folder = tempfile::tempdir().unwrap();
    let server = directory.listen_local(&folder.path().join("s")).unwrap();
    let client = Client::connect(&server.url()).await.unwrap();
    client.bind_sasl(Box::new(Raw("EXTERNAL", Vec::new()))).await.unwrap();
    let own = client.who_am_i().await.unwrap();
    assert!(own.contains("cn=peercred"), "{own}");
    client.bind_sasl(Box::new(Raw("EXTERNAL", own.clone().into_bytes()))).await.unwrap();
    let error = client.bind_sasl(Box::new(Raw("EXTERNAL", b"dn:o=test".to_vec()))).await.unwrap_err();
    assert_eq!(code(&error), ResultCode::INSUFFICIENT_ACCESS_RIGHTS);
    assert_eq!(client.who_am_i().await.unwrap(), "");
}

#[cfg(unix)]
#[tokio::test]
async fn a_stale_socket_is_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s");
    // As a process leaves it that was killed.
    drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
    assert!(path.exists());
    let server = Directory::new().listen_local(&path).unwrap();
    Client::connect(&server.url()).await.unwrap();
    // A socket in use, and any other file, stay.
    assert!(Directory::new().listen_local(&path).is_err());
    Client::connect(&server.url()).await.unwrap();
    let other = folder.path().join("file");
    std::fs::write(&other, "text").unwrap();
    assert!(Directory::new().listen_local(&other).is_err());
    assert_eq!(std::fs::read(&other).unwrap(), b"text");
    drop(server);
    assert!(!path.exists(), "the file goes with the server");
}
