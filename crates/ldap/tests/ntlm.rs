//! NTLM with a real slapd: Cyrus SASL's own under the name of NTLM, and gss-ntlmssp behind GSS-SPNEGO.
#![cfg(feature = "ntlm")]

mod common;

use std::path::Path;

use common::{Certificates, Proxy, Slapd, people};
use tercet_ldap::sasl::{Begin, ChannelBinding, Mechanism, Ntlm, Protection};
use tercet_ldap::{Client, Config, ErrorKind, Result, Search, TrustedRoots};

const ADA: &str = "dn:uid=ada,o=test";
const ANY: Protection = Protection::DEFAULT;

async fn bound(config: &Config, mechanism: Ntlm) -> Result<Client> {
    let client = Client::connect_with(config).await?;
    client.bind_sasl(Box::new(mechanism)).await?;
    Ok(client)
}

/// What a server offers.
async fn offers(url: &str, mechanism: &str) -> bool {
    let client = Client::connect(url).await.unwrap();
    let search = Search::new("").scope(tercet_ldap::Scope::Base).attributes(&["supportedSASLMechanisms"]);
    let (entries, _) = client.search_all(search).await.unwrap();
    entries[0].values("supportedSASLMechanisms").any(|name| name == mechanism.as_bytes())
}

#[tokio::test]
async fn cyrus_sasl() {
    let Some(slapd) = Slapd::start(&people(0)) else { return };
    if !offers(&slapd.url(), "NTLM").await {
        tercet_testing::skip("ntlm", "slapd has no NTLM");
        return;
    }
    for user in ["ada", "EXAMPLE\\ada"] {
        let proxy = Proxy::start(&slapd.url());
        let config = Config::new(&proxy.url).unwrap();
        let client = bound(&config, Ntlm::new(user, "engine").workstation("BENCH")).await.unwrap();
        assert_eq!(client.who_am_i().await.unwrap(), ADA, "{user}");
        let seen = proxy.seen();
        let contains = |text: &str| seen.windows(text.len()).any(|window| window == text.as_bytes());
        assert!(contains("NTLMSSP\0\x03") && contains("B\0E\0N\0C\0H\0"));
        assert!(!contains("engine") && !contains("e\0n\0g\0i\0n\0e\0"), "the password is never sent");
    }
    let config = Config::new(&slapd.url()).unwrap();
    for (user, password) in [("ada", "Engine"), ("ada", ""), ("nobody", "engine")] {
        let error = bound(&config, Ntlm::new(user, password)).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Result, "{user}: {error}");
    }
    // It has no layer, and cannot be asked for one.
    let mechanism = Ntlm::new("ada", "engine").with_protection(ANY.at_least(1));
    assert_eq!(bound(&config, mechanism).await.unwrap_err().kind(), ErrorKind::Auth);
}

/// As slapd calls a user of gss-ntlmssp.
const EXAMPLE_ADA: &str = "dn:uid=example\\5Cada,o=test";

fn user() -> Ntlm {
    Ntlm::new("EXAMPLE\\ada", "engine").in_spnego()
}

/// A slapd whose GSS-SPNEGO knows NTLM; reports a skip where there is none.
fn slapd(certificates: Option<&Certificates>, settings: &str) -> Option<(Slapd, tempfile::TempDir)> {
    if !Path::new("/etc/gss/mech.d/mech.ntlmssp.conf").exists() {
        tercet_testing::skip("ntlm", "no gss-ntlmssp");
        return None;
    }
    let folder = tempfile::tempdir().unwrap();
    let users = folder.path().join("users");
    std::fs::write(&users, "EXAMPLE:ada:engine\nEXAMPLE:bob:hers\n").unwrap();
    let settings = format!("sasl-host localhost\nsasl-realm EXAMPLE\n{settings}\n");
    let slapd = Slapd::start_as(&people(3000), certificates, [&settings, ""], &[("NTLM_USER_FILE", users)])?;
    Some((slapd, folder))
}

#[tokio::test]
async fn spnego() {
    let Some((slapd, _users)) = slapd(None, "") else { return };
    let config = Config::new(&slapd.url()).unwrap();
    for mechanism in [
        user(),
        Ntlm::new("ada", "engine").domain("EXAMPLE").in_spnego(),
        Ntlm::new("EXAMPLE\\ADA", "engine").in_spnego().with_protection(ANY.at_most(1)),
        user().with_protection(ANY.at_most(0)),
        user().with_protection(ANY.at_least(128).buffer(70_000)),
    ] {
        let what = format!("{mechanism:?}");
        let client = bound(&config, mechanism).await.unwrap();
        assert_eq!(client.who_am_i().await.unwrap().to_lowercase(), EXAMPLE_ADA.to_lowercase(), "{what}");
        let (entries, _) = client.search_all(Search::new("o=test")).await.unwrap();
        assert_eq!(entries.len(), 3003);
        // Several tokens of ours, as one value is larger than a token.
        let value = "x".repeat(200_000);
        assert!(!client.compare("uid=ada,o=test", "description", value.as_bytes()).await.is_ok_and(|is| is));
        assert_eq!(client.who_am_i().await.unwrap().to_lowercase(), EXAMPLE_ADA.to_lowercase(), "{what}");
    }
    for (user, password) in
        [("EXAMPLE\\ada", "Engine"), ("EXAMPLE\\nobody", "engine"), ("OTHER\\ada", "engine")]
    {
        let error = bound(&config, Ntlm::new(user, password).in_spnego()).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Result, "{user}: {error}");
    }
}

/// What somebody in between sees, by the strength that is asked for.
#[tokio::test]
async fn layers_on_the_wire() {
    let Some((slapd, _users)) = slapd(None, "") else { return };
    for (strength, is_seen) in [(0, true), (1, false), (127, false), (128, false), (256, false)] {
        let proxy = Proxy::start(&slapd.url());
        let config = Config::new(&proxy.url).unwrap();
        let client = bound(&config, user().with_protection(ANY.at_most(strength))).await.unwrap();
        let (found, _) =
            client.search_all(Search::new("uid=ada,o=test").attributes(&["mail"])).await.unwrap();
        assert_eq!(found[0].text("mail"), Some("ada@example.net"), "{strength}");
        let seen = proxy.seen();
        let contains = |text: &[u8]| seen.windows(text.len()).any(|window| window == text);
        assert_eq!(contains(b"countess@example.net"), is_seen, "{strength}");
        assert!(contains(b"GSS-SPNEGO") && contains(b"NTLMSSP\0\x03"), "{strength}");
        assert!(!contains(b"engine") && !contains(b"e\0n\0g\0i\0n\0e\0"), "the password is never sent");
    }
}

/// Inside TLS there is no layer, and the exchange is bound to the server's certificate.
#[tokio::test]
async fn under_tls() {
    let certificates = Certificates::new("localhost", false);
    let settings = "sasl-cbinding tls-endpoint";
    let Some((slapd, _users)) = slapd(Some(&certificates), settings) else { return };
    let mut config = Config::new(&format!("ldaps://localhost:{}", slapd.tls_port)).unwrap();
    config.tls.roots = TrustedRoots::Pem(certificates.ca.clone());
    let client = bound(&config, user()).await.unwrap();
    assert_eq!(client.who_am_i().await.unwrap(), EXAMPLE_ADA);
    let error = bound(&config, user().with_protection(ANY.at_least(129))).await.unwrap_err();
    assert!(error.message().contains("that of the connection would be 128"), "{error}");
    // What is bound to another channel, as by somebody in between, is refused.
    let client = Client::connect_with(&config).await.unwrap();
    let error = client.bind_sasl(Box::new(Elsewhere(user()))).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Result, "{error}");
}

/// A mechanism that is told of another channel than that of the connection.
#[derive(Debug)]
struct Elsewhere(Ntlm);

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
}
