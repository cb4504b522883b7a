//! Kerberos (SASL GSSAPI) with a real KDC and a real slapd.
//!
//! Where the KDC is and which tickets there are, the environment says, which a process cannot change safely for itself: the tests
//! run this program once more, with the environment and the name of the test that is to talk to the server.
#![cfg(feature = "gssapi")]

mod common;

use std::path::PathBuf;
use std::process::Command;

use common::kdc::Kdc;
use common::{Certificates, Proxy, Slapd, people};
use tercet_ldap::extended::PasswordModify;
use tercet_ldap::sasl::{Begin, ChannelBinding, Gssapi, Kerberos, Layer, Mechanism, Protection};
use tercet_ldap::{Client, Config, Entry, Error, ErrorKind, Result, Search, TrustedRoots, blocking};

/// Where the server is, in the environment of those who talk to it.
const SERVER: &str = "TERCET_TEST_SERVER";

/// The URL of the server, for the tests inside.
fn server() -> Option<String> {
    std::env::var(SERVER).ok()
}

/// Runs a test of this program as somebody who has these tickets.
fn inside(test: &str, url: &str, kdc: &Kdc, more: &[(&str, PathBuf)]) {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", test, "--include-ignored", "--nocapture"])
        .envs(kdc.environment())
        .env(SERVER, url)
        .env("RUST_BACKTRACE", "0");
    command.envs(more.iter().map(|(name, value)| (name, value)));
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && text.contains("1 passed"), "{test}: {text}");
}

/// A slapd that knows the KDC, with more lines of settings.
fn slapd(kdc: &Kdc, ldif: &[u8], certificates: Option<&Certificates>, settings: &str) -> Slapd {
    let settings = format!("sasl-host localhost\nsasl-realm EXAMPLE.NET\n{settings}\n");
    Slapd::start_as(ldif, certificates, [&settings, ""], &kdc.environment()).unwrap()
}

/// People, of whom `ada` may be `local` too.
fn directory(count: usize) -> Vec<u8> {
    let text = String::from_utf8(people(count)).unwrap();
    let may = "userPassword: engine\nauthzTo: dn.exact:uid=local,o=test\n";
    text.replacen("userPassword: engine\n", may, 1).into_bytes()
}

/// With the name that the service has in the realm; slapd listens on 127.0.0.1.
fn named(slapd: &Slapd) -> String {
    slapd.url().replace("127.0.0.1", "localhost")
}

#[test]
fn slapd_and_kdc() {
    let Some(kdc) = Kdc::start() else { return };
    if Slapd::start(&people(0)).is_none() {
        return;
    }
    let ticket = ("KRB5CCNAME", kdc.ticket("ticket", "10m"));

    let any = slapd(&kdc, &directory(5000), None, "");
    let tickets = std::slice::from_ref(&ticket);
    inside("who_one_is", &named(&any), &kdc, tickets);
    inside("without_async", &named(&any), &kdc, tickets);
    inside("layers_on_the_wire", &named(&any), &kdc, tickets);
    inside("many_entries_through_a_layer", &named(&any), &kdc, tickets);
    inside("second_bind", &named(&any), &kdc, tickets);
    inside("services_that_are_not_there", &named(&any), &kdc, tickets);
    inside("no_ticket", &named(&any), &kdc, &[]);
    let brief = kdc.ticket("brief", "1s");
    std::thread::sleep(std::time::Duration::from_secs(2));
    inside("expired_ticket", &named(&any), &kdc, &[("KRB5CCNAME", brief)]);

    // Servers that have one layer and no other.
    for (test, properties) in [
        ("server_without_layers", "maxssf=0"),
        ("server_with_integrity", "minssf=1,maxssf=1"),
        ("server_with_confidentiality", "minssf=56"),
    ] {
        let one = slapd(&kdc, &directory(10), None, &format!("sasl-secprops {properties}"));
        inside(test, &named(&one), &kdc, tickets);
    }
    // Small buffers both ways.
    let small = slapd(&kdc, &directory(10), None, "sasl-secprops minssf=56,maxbufsize=4096");
    inside("small_buffers", &named(&small), &kdc, tickets);

    let certificates = Certificates::new("localhost", false);
    let tls = slapd(&kdc, &directory(10), Some(&certificates), "sasl-cbinding tls-endpoint");
    let ca = ("TERCET_TEST_CA", tls.folder.path().join("ca.pem"));
    inside("under_tls", &format!("ldaps://localhost:{}", tls.tls_port), &kdc, &[ticket, ca]);
}

fn kerberos(protection: Protection) -> Box<dyn Mechanism> {
    Box::new(Gssapi::new(Kerberos::new(), "").with_protection(protection))
}

async fn bound(url: &str, protection: Protection) -> Result<Client> {
    let client = Client::connect(url).await?;
    client.bind_sasl(kerberos(protection)).await?;
    Ok(client)
}

async fn refused(url: &str, mechanism: Gssapi) -> Error {
    let client = Client::connect(url).await.unwrap();
    client.bind_sasl(Box::new(mechanism)).await.unwrap_err()
}

const ADA: &str = "dn:uid=ada,o=test";
const ANY: Protection = Protection::DEFAULT;

#[tokio::test]
#[ignore = "slapd_and_kdc runs it with tickets"]
async fn who_one_is() {
    let Some(url) = server() else { return };
    assert_eq!(bound(&url, ANY).await.unwrap().who_am_i().await.unwrap(), ADA);
    for (kerberos, authorization, expected) in [
        (Kerberos::new().user("ada"), "", ADA),
        (Kerberos::new().user("ada@EXAMPLE.NET"), "u:ada", ADA),
        (Kerberos::new().service("ldap/localhost@EXAMPLE.NET"), "dn:uid=local,o=test", "dn:uid=local,o=test"),
        (Kerberos::new().canonicalized(), "u:local", "dn:uid=local,o=test"),
    ] {
        let client = Client::connect(&url).await.unwrap();
        let mechanism = Gssapi::new(kerberos, authorization);
        client.bind_sasl(Box::new(mechanism)).await.unwrap();
        assert_eq!(client.who_am_i().await.unwrap(), expected);
    }
    // Whom one may not be.
    let error = refused(&url, Gssapi::new(Kerberos::new(), "dn:uid=p00001,o=test")).await;
    assert_eq!(error.kind(), ErrorKind::Result, "{error}");
    let error = refused(&url, Gssapi::new(Kerberos::new().user("bob"), "")).await;
    assert_eq!(error.kind(), ErrorKind::Auth, "{error}");
    assert!(error.message().contains("; `kinit` gets a ticket"), "{error}");
}

#[test]
#[ignore = "slapd_and_kdc runs it with tickets"]
fn without_async() {
    let Some(url) = server() else { return };
    let client = blocking::Client::connect(&url).unwrap();
    client.bind_sasl(kerberos(ANY.at_least(56))).unwrap();
    assert_eq!(client.who_am_i().unwrap(), ADA);
    assert_eq!(client.search(Search::new("o=test")).unwrap().count(), 5003);
}

/// What somebody in between sees, by the strength that is asked for.
#[tokio::test]
#[ignore = "slapd_and_kdc runs it with tickets"]
async fn layers_on_the_wire() {
    let Some(url) = server() else { return };
    for (strength, is_seen) in [(0, true), (1, true), (56, false), (256, false)] {
        // `maxssf=56` is less than what the keys of the realm have.
        let protection = if strength == 56 { ANY.at_least(56) } else { ANY.at_most(strength) };
        let proxy = Proxy::start(&url);
        let client = bound(&proxy.url.replace("127.0.0.1", "localhost"), protection).await.unwrap();
        let found = client.search_all(Search::new("uid=ada,o=test")).await.unwrap();
        assert_eq!(found.0.len(), 1, "{strength}");
        client.compare("uid=ada,o=test", "sn", b"Lovelace").await.unwrap();
        let seen = proxy.seen();
        let contains = |text: &[u8]| seen.windows(text.len()).any(|window| window == text);
        assert_eq!(contains(b"countess@example.net"), is_seen, "{strength}");
        assert!(contains(b"GSSAPI"), "{strength}");
    }
}

fn text(entries: &[Entry]) -> Vec<String> {
    entries
        .iter()
        .map(|entry| format!("{} {:?} {:?}", entry.dn(), entry.text("cn"), entry.text("mail")))
        .collect()
}

#[tokio::test]
#[ignore = "slapd_and_kdc runs it with tickets"]
async fn many_entries_through_a_layer() {
    let Some(url) = server() else { return };
    let plain = Client::connect(&url).await.unwrap();
    let (expected, _) = plain.search_all(Search::new("o=test")).await.unwrap();
    assert_eq!(expected.len(), 5003);
    for protection in [ANY.at_least(56), ANY.at_most(1), ANY.at_least(56).buffer(5000)] {
        let client = bound(&url, protection).await.unwrap();
        let (entries, _) = client.search_all(Search::new("o=test")).await.unwrap();
        assert!(text(&entries) == text(&expected), "{protection:?}");
        // Streamed, with others in flight, and paged.
        let mut stream = client.search(Search::new("o=test").page_size(500)).await.unwrap();
        let mut count = 0;
        while let Some(entry) = stream.next().await.unwrap() {
            count += 1;
            if count % 1000 == 0 {
                assert!(client.compare(entry.dn(), "objectClass", b"inetOrgPerson").await.unwrap());
            }
        }
        assert_eq!(count, 5003);
    }
    // Several tokens of ours, as one value is larger than a token.
    let client = bound(&url, ANY.at_least(56)).await.unwrap();
    let value = "x".repeat(300_000);
    client
        .add(
            "uid=large,o=test",
            &[
                ("objectClass", &["inetOrgPerson"]),
                ("uid", &["large"]),
                ("cn", &["Large"]),
                ("sn", &["Large"]),
                ("description", &[&value]),
            ],
        )
        .await
        .unwrap();
    let (entries, _) = client.search_all(Search::new("uid=large,o=test")).await.unwrap();
    assert_eq!(entries[0].text("description"), Some(value.as_str()));
    client.delete("uid=large,o=test").await.unwrap();
}

/// A layer goes on when somebody else binds over it; there is no other in it, and no TLS.
#[tokio::test]
#[ignore = "slapd_and_kdc runs it with tickets"]
async fn second_bind() {
    let Some(url) = server() else { return };
    let client = bound(&url, ANY.at_least(56)).await.unwrap();
    assert_eq!(client.start_tls().await.unwrap_err().kind(), ErrorKind::Usage);
    client.bind("uid=ada,o=test", "engine").await.unwrap();
    assert_eq!(client.who_am_i().await.unwrap(), ADA);
    client.bind_sasl(kerberos(ANY)).await.unwrap();
    assert_eq!(client.who_am_i().await.unwrap(), ADA);
    let error = client.bind_sasl(kerberos(ANY.at_most(256))).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Usage, "{error}");
    // Under encryption, passwords may go.
    let wanted = PasswordModify { new: Some(b"engine".to_vec()), ..PasswordModify::default() };
    let client = bound(&url, ANY).await.unwrap();
    client.modify_password(&wanted).await.unwrap();
}

#[tokio::test]
#[ignore = "slapd_and_kdc runs it with tickets"]
async fn services_that_are_not_there() {
    let Some(url) = server() else { return };
    let error = refused(&url, Gssapi::new(Kerberos::new().service("ldap/nowhere@EXAMPLE.NET"), "")).await;
    assert_eq!(error.kind(), ErrorKind::Auth);
    assert!(error.message().contains("ldap/nowhere@EXAMPLE.NET not found in Kerberos database"), "{error}");
    assert!(!error.message().contains("kinit"), "{error}");
    // One that is somebody else: slapd has no key for its tickets.
    let other = Kerberos::new().service("ldap/other.example.net@EXAMPLE.NET");
    let error = refused(&url, Gssapi::new(other, "")).await;
    assert_eq!(error.kind(), ErrorKind::Result, "{error}");
    // The host that one asks for is the one that is meant, whatever the DNS calls it.
    let error = refused(&url.replace("localhost", "127.0.0.1"), Gssapi::new(Kerberos::new(), "")).await;
    assert!(error.message().contains("ldap/127.0.0.1@"), "{error}");
    let error = refused(&url, Gssapi::new(Kerberos::new().user("@@"), "")).await;
    assert_eq!(error.kind(), ErrorKind::Auth, "{error}");
}

#[tokio::test]
#[ignore = "slapd_and_kdc runs it with tickets"]
async fn no_ticket() {
    let Some(url) = server() else { return };
    let error = refused(&url, Gssapi::new(Kerberos::new(), "")).await;
    assert_eq!(error.kind(), ErrorKind::Auth);
    assert!(error.message().starts_with("SASL: GSSAPI: No credentials were supplied"), "{error}");
    assert!(error.message().contains("no-tickets"), "{error}");
    assert!(error.message().ends_with("; `kinit` gets a ticket"), "{error}");
}

#[tokio::test]
#[ignore = "slapd_and_kdc runs it with tickets"]
async fn expired_ticket() {
    let Some(url) = server() else { return };
    let error = refused(&url, Gssapi::new(Kerberos::new(), "")).await;
    assert_eq!(error.kind(), ErrorKind::Auth);
    assert!(error.message().contains("expired"), "{error}");
    assert!(error.message().ends_with("; `kinit` gets a ticket"), "{error}");
}

#[tokio::test]
#[ignore = "slapd_and_kdc runs it with tickets"]
async fn server_without_layers() {
    let Some(url) = server() else { return };
    assert_eq!(bound(&url, ANY).await.unwrap().who_am_i().await.unwrap(), ADA);
    assert_eq!(bound(&url, ANY.at_most(0)).await.unwrap().who_am_i().await.unwrap(), ADA);
    let error = bound(&url, ANY.at_least(1)).await.unwrap_err();
    assert!(error.message().contains("a strength of at least 1 is asked for"), "{error}");
}

#[tokio::test]
#[ignore = "slapd_and_kdc runs it with tickets"]
async fn server_with_integrity() {
    let Some(url) = server() else { return };
    assert_eq!(bound(&url, ANY).await.unwrap().who_am_i().await.unwrap(), ADA);
    assert_eq!(bound(&url, ANY.at_most(1)).await.unwrap().who_am_i().await.unwrap(), ADA);
    let error = bound(&url, ANY.at_most(0)).await.unwrap_err();
    assert!(error.message().contains("the server requires integrity"), "{error}");
    assert!(bound(&url, ANY.at_least(56)).await.is_err());
}

#[tokio::test]
#[ignore = "slapd_and_kdc runs it with tickets"]
async fn server_with_confidentiality() {
    let Some(url) = server() else { return };
    for protection in [ANY, ANY.at_least(56), ANY.at_least(128)] {
        let client = bound(&url, protection).await.unwrap();
        assert_eq!(client.who_am_i().await.unwrap(), ADA);
        assert_eq!(client.search_all(Search::new("o=test")).await.unwrap().0.len(), 13);
    }
    for max in [0, 1, 55] {
        let error = bound(&url, ANY.at_most(max)).await.unwrap_err();
        assert!(error.message().contains("the server requires confidentiality"), "{error}");
    }
}

#[tokio::test]
#[ignore = "slapd_and_kdc runs it with tickets"]
async fn small_buffers() {
    let Some(url) = server() else { return };
    let client = bound(&url, ANY.buffer(4096)).await.unwrap();
    let value = "x".repeat(50_000);
    let filter = format!("(|(uid=ada)(description={value}))");
    let (entries, _) = client.search_all(Search::new("o=test").filter(&filter).unwrap()).await.unwrap();
    assert_eq!(entries.len(), 1);
}

/// Says that the channel is another one than it is.
#[derive(Debug)]
struct Elsewhere(Gssapi);

impl Mechanism for Elsewhere {
    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn begin(&mut self, begin: &Begin) {
        let mut begin = begin.clone();
        begin.binding = Some(ChannelBinding::ServerEndPoint(vec![0; 32]));
        self.0.begin(&begin);
    }

    fn step(&mut self, challenge: Option<&[u8]>) -> Result<Option<Vec<u8>>> {
        self.0.step(challenge)
    }

    fn layer(&mut self) -> Option<Box<dyn Layer>> {
        self.0.layer()
    }

    fn finish(&mut self, last: Option<&[u8]>) -> Result<()> {
        self.0.finish(last)
    }
}

/// No layer inside TLS; the server finds out if the TLS is not the one that the client sees.
#[tokio::test]
#[ignore = "slapd_and_kdc runs it with tickets"]
async fn under_tls() {
    let Some(url) = server() else { return };
    let mut config = Config::new(&url).unwrap();
    config.tls.roots = TrustedRoots::Pem(std::fs::read(std::env::var("TERCET_TEST_CA").unwrap()).unwrap());
    let connect = || Client::connect_with(&config);
    for protection in [ANY, ANY.at_least(128), ANY.at_most(256)] {
        let client = connect().await.unwrap();
        client.bind_sasl(kerberos(protection)).await.unwrap();
        assert_eq!(client.who_am_i().await.unwrap(), ADA);
        assert_eq!(client.search_all(Search::new("o=test")).await.unwrap().0.len(), 13);
    }
    let client = connect().await.unwrap();
    let error = client.bind_sasl(kerberos(ANY.at_least(129))).await.unwrap_err();
    assert!(error.message().contains("that of the connection would be 128"), "{error}");
    let client = connect().await.unwrap();
    let elsewhere = Elsewhere(Gssapi::new(Kerberos::new(), ""));
    let error = client.bind_sasl(Box::new(elsewhere)).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Result, "{error}");
}
