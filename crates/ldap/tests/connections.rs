//! Connections: TLS good and bad, SASL, sockets, referrals, failover, synchronization, against a real slapd.

mod common;

use common::{Certificates, ROOT, SECRET, Slapd, people};
use tercet_ldap::directory::Directory;
use tercet_ldap::sasl::{DigestMd5, External, Hash, Mechanism, Plain, Scram};
use tercet_ldap::{
    Client, Config, ErrorKind, Item, Pool, Referrals, ResultCode, Search, StartTls, TrustedRoots, blocking,
};

/// A configuration that trusts a CA.
fn trusting(url: &str, ca: &[u8]) -> Config {
    let mut config = Config::new(url).unwrap();
    config.tls.roots = TrustedRoots::Pem(ca.to_vec());
    config
}

/// What TLS has to do with one server, by StartTLS and from the first octet.
async fn tls_suite(plain: &str, tls: &str, good: &Certificates) {
    for (url, start_tls) in [(plain, StartTls::Required), (tls, StartTls::No)] {
        let mut config = trusting(url, &good.ca);
        config.start_tls = start_tls;
        let client = Client::connect_with(&config).await.unwrap();
        client.bind("uid=ada,o=test", "engine").await.unwrap();
        assert_eq!(client.who_am_i().await.unwrap(), "dn:uid=ada,o=test");

        // Nobody whom we know has signed it; not the name that we asked for.
        let mut stranger = trusting(url, &Certificates::new("127.0.0.1", false).ca);
        stranger.start_tls = start_tls;
        assert_eq!(Client::connect_with(&stranger).await.unwrap_err().kind(), ErrorKind::Tls);
        let mut system = Config::new(url).unwrap();
        system.start_tls = start_tls;
        assert_eq!(Client::connect_with(&system).await.unwrap_err().kind(), ErrorKind::Tls);
        let mut named = config.clone();
        named.tls.server_name = Some("ldap.example.net".to_owned());
        assert_eq!(Client::connect_with(&named).await.unwrap_err().kind(), ErrorKind::Tls);
        let mut anybody = stranger.clone();
        anybody.tls.roots = TrustedRoots::AnyCertificate;
        Client::connect_with(&anybody).await.unwrap();
    }
}

/// StartTLS on a connection that is in use already.
async fn start_tls_suite(url: &str, good: &Certificates) {
    let client = Client::connect_with(&trusting(url, &good.ca)).await.unwrap();
    client.search_all(Search::new("o=test")).await.unwrap();

    // Not while something is in flight, and the connection goes on then.
    let mut entries = client.search(Search::new("o=test").page_size(1)).await.unwrap();
    assert_eq!(client.start_tls().await.unwrap_err().kind(), ErrorKind::Usage);
    while entries.next().await.unwrap().is_some() {}
    assert_eq!(client.extended("1.3.6.1.4.1.1466.20037", None).await.unwrap_err().kind(), ErrorKind::Usage);

    settled().await;
    client.start_tls().await.unwrap();
    client.bind("uid=ada,o=test", "engine").await.unwrap();
    assert_eq!(client.who_am_i().await.unwrap(), "dn:uid=ada,o=test");
    client.search_all(Search::new("o=test")).await.unwrap();
    // Once is enough.
    assert_eq!(client.start_tls().await.unwrap_err().kind(), ErrorKind::Usage);
    assert!(client.compare("o=test", "o", b"test").await.unwrap());

    // A certificate that nobody trusts ends the connection, for all handles to it.
    let stranger = trusting(url, &Certificates::new("127.0.0.1", false).ca);
    let client = Client::connect_with(&stranger).await.unwrap();
    assert!(client.compare("o=test", "o", b"test").await.unwrap());
    settled().await;
    let error = client.clone().start_tls().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Tls, "{error}");
    assert!(client.is_closed());
    assert!(client.compare("o=test", "o", b"test").await.is_err());
}

/// A certificate that was good until years ago, by StartTLS and from the first octet.
async fn expired_suite(plain: &str, tls: &str, expired: &Certificates) {
    for (url, start_tls) in [(plain, StartTls::Required), (tls, StartTls::No)] {
        let mut config = trusting(url, &expired.ca);
        config.start_tls = start_tls;
        let error = Client::connect_with(&config).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Tls, "{error}");
        assert!(error.to_string().contains("certificate expired"), "{error}");
        config.tls.roots = TrustedRoots::AnyCertificate;
        Client::connect_with(&config).await.unwrap();
    }
}

/// The same without async.
fn start_tls_blocking(url: &str, good: &Certificates) {
    let client = blocking::Client::connect_with(&trusting(url, &good.ca)).unwrap();
    client.compare("o=test", "o", b"test").unwrap();
    client.start_tls().unwrap();
    client.bind("uid=ada,o=test", "engine").unwrap();
    assert_eq!(client.who_am_i().unwrap(), "dn:uid=ada,o=test");
}

/// Leaves slapd the time to forget operations that it has answered: it refuses StartTLS while it still knows one.
async fn settled() {
    tokio::time::sleep(std::time::Duration::from_millis(300)).await;
}

#[tokio::test]
async fn tls_of_slapd() {
    let good = Certificates::new("127.0.0.1", false);
    let Some(slapd) = Slapd::start_with(&people(0), Some(&good)) else { return };
    tls_suite(&slapd.url(), &format!("ldaps://127.0.0.1:{}", slapd.tls_port), &good).await;
    start_tls_suite(&slapd.url(), &good).await;
    tokio::task::spawn_blocking(move || start_tls_blocking(&slapd.url(), &good)).await.unwrap();
}

#[tokio::test]
async fn expired_certificate_of_slapd() {
    let expired = Certificates::new("127.0.0.1", true);
    let Some(slapd) = Slapd::start_with(&people(0), Some(&expired)) else { return };
    expired_suite(&slapd.url(), &format!("ldaps://127.0.0.1:{}", slapd.tls_port), &expired).await;
}

#[tokio::test]
async fn tls_of_the_directory_in_memory() {
    let good = Certificates::new("127.0.0.1", false);
    let directory = Directory::new().with_tls(&good.certificate, &good.key).unwrap();
    directory.load(people(0).as_slice()).unwrap();
    let plain = directory.listen("127.0.0.1:0").await.unwrap();
    let tls = directory.listen_tls("127.0.0.1:0").await.unwrap();
    tls_suite(&plain.url(), &tls.url(), &good).await;
    start_tls_suite(&plain.url(), &good).await;
    let client = Client::connect_with(&trusting(&tls.url(), &good.ca)).await.unwrap();
    assert_eq!(client.start_tls().await.unwrap_err().kind(), ErrorKind::Usage);
    let url = plain.url();
    tokio::task::spawn_blocking(move || start_tls_blocking(&url, &good)).await.unwrap();

    let expired = Certificates::new("127.0.0.1", true);
    let directory = Directory::new().with_tls(&expired.certificate, &expired.key).unwrap();
    let plain = directory.listen("127.0.0.1:0").await.unwrap();
    let tls = directory.listen_tls("127.0.0.1:0").await.unwrap();
    expired_suite(&plain.url(), &tls.url(), &expired).await;

    // A server without StartTLS is no reason to go on in the clear.
    let directory = Directory::new();
    let server = directory.listen("127.0.0.1:0").await.unwrap();
    let mut config = Config::new(&server.url()).unwrap();
    let client = Client::connect_with(&config).await.unwrap();
    assert_eq!(client.start_tls().await.unwrap_err().kind(), ErrorKind::Result);
    assert!(client.is_closed());
    config.start_tls = StartTls::Required;
    assert!(Client::connect_with(&config).await.is_err());
}

/// The certificate of a client says who it is; without one, there is no connection.
#[tokio::test]
async fn client_certificates() {
    let good = Certificates::new("127.0.0.1", false);
    let settings = "TLSVerifyClient demand\n";
    let Some(slapd) = Slapd::start_as(&people(0), Some(&good), [settings, ""], &[]) else { return };
    for (url, start_tls) in
        [(slapd.url(), StartTls::Required), (format!("ldaps://127.0.0.1:{}", slapd.tls_port), StartTls::No)]
    {
        let mut config = trusting(&url, &good.ca);
        config.start_tls = start_tls;
        let without = async { Client::connect_with(&config).await?.who_am_i().await };
        assert!(without.await.is_err());
        config.tls.client = Some((good.certificate.clone(), good.key.clone()));
        let client = Client::connect_with(&config).await.unwrap();
        client.bind_sasl(Box::new(External::new(""))).await.unwrap();
        assert_eq!(client.who_am_i().await.unwrap(), "dn:cn=rcgen self signed cert");
    }
}

#[tokio::test]
async fn sasl_with_slapd() {
    let Some(slapd) = Slapd::start(&people(0)) else { return };
    let mechanisms = |password: &str| -> Vec<Box<dyn Mechanism>> {
        vec![
            Box::new(Plain::new("", "ada", password)),
            Box::new(Scram::new(Hash::Sha1, "", "ada", password)),
            Box::new(Scram::new(Hash::Sha256, "", "ada", password)),
            Box::new(DigestMd5::new("", "ada", password)),
        ]
    };
    for mechanism in mechanisms("engine") {
        let name = mechanism.name();
        let client = Client::connect(&slapd.url()).await.unwrap();
        match client.bind_sasl(mechanism).await {
            Ok(_) => assert_eq!(client.who_am_i().await.unwrap(), "dn:uid=ada,o=test", "{name}"),
            // The mechanisms are a package of their own.
            Err(error)
                if error
                    .result()
                    .is_some_and(|result| result.code == ResultCode::AUTH_METHOD_NOT_SUPPORTED) => {}
            Err(error) => panic!("{name}: {error:?}"),
        }
    }
    for mechanism in mechanisms("wrong") {
        let client = Client::connect(&slapd.url()).await.unwrap();
        assert!(client.bind_sasl(mechanism).await.is_err());
    }
    let client = Client::connect(&slapd.local_url()).await.unwrap();
    client.bind_sasl(Box::new(External::new(""))).await.unwrap();
    assert_eq!(client.who_am_i().await.unwrap(), "dn:uid=local,o=test");
}

/// Where the other server's part is, and what the other server has of it.
const FAR: &str = "dn: o=test\nobjectClass: organization\no: test\n\n\
                   dn: ou=far,o=test\nobjectClass: organizationalUnit\nou: far\n\n\
                   dn: uid=x,ou=far,o=test\nobjectClass: account\nuid: x\n";

fn near(far: &str) -> String {
    format!(
        "dn: o=test\nobjectClass: organization\no: test\n\n\
         dn: ou=far,o=test\nobjectClass: referral\nobjectClass: extensibleObject\nou: far\nref: {far}/ou=far,o=test\n"
    )
}

async fn referral_suite(here: &str, there: &str) {
    let client = Client::connect(here).await.unwrap();
    let mut items = client.search(Search::new("o=test")).await.unwrap();
    assert!(matches!(items.next_item().await.unwrap(), Some(Item::Entry(_))));
    let Some(Item::Reference(reference)) = items.next_item().await.unwrap() else { panic!("a reference") };
    let [url] = &*reference.urls else { panic!("{reference:?}") };
    // slapd adds the scope.
    assert!(url.starts_with(&format!("{there}/ou=far,o=test")), "{url}");
    assert!(items.next_item().await.unwrap().is_none());

    let mut config = Config::new(here).unwrap();
    config.referrals = Some(Referrals::default());
    let client = Client::connect_with(&config).await.unwrap();
    for (base, expected) in [
        ("o=test", &["o=test", "ou=far,o=test", "uid=x,ou=far,o=test"][..]),
        ("ou=far,o=test", &["ou=far,o=test", "uid=x,ou=far,o=test"]),
    ] {
        let (entries, _) = client.search_all(Search::new(base)).await.unwrap();
        assert_eq!(entries.iter().map(|entry| entry.dn()).collect::<Vec<_>>(), expected);
    }

    // A host that is not allowed, too many behind one another, too many in all.
    let host = Referrals { hosts: vec!["ldap.example.net".to_owned()], ..Referrals::default() };
    for limits in
        [host, Referrals { hops: 0, ..Referrals::default() }, Referrals { total: 0, ..Referrals::default() }]
    {
        config.referrals = Some(limits);
        let client = Client::connect_with(&config).await.unwrap();
        assert_eq!(client.search_all(Search::new("o=test")).await.unwrap_err().kind(), ErrorKind::Limit);
    }

    // Servers that refer to each other.
    for (one, other) in [(here, there), (there, here)] {
        let writer = Client::connect(one).await.unwrap();
        writer.bind(ROOT, SECRET).await.unwrap();
        let url = format!("{other}/ou=circle,o=test");
        let values: &[(&str, &[&str])] = &[
            ("objectClass", &["referral", "extensibleObject"]),
            ("ou", &["circle"]),
            ("ref", &[url.as_str()]),
        ];
        writer.add("ou=circle,o=test", values).await.unwrap();
    }
    let error = client.search_all(Search::new("ou=circle,o=test")).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Limit, "{error}");
}

#[tokio::test]
async fn referrals_between_two_slapds() {
    let Some(there) = Slapd::start(FAR.as_bytes()) else { return };
    let near = near(&there.url());
    let elsewhere = format!("referral {}\n", there.url());
    let here = Slapd::start_as(near.as_bytes(), None, [&elsewhere, ""], &[]).unwrap();
    referral_suite(&here.url(), &there.url()).await;

    // What is below a referral is where that points.
    let mut config = Config::new(&here.url()).unwrap();
    let below = || Search::new("uid=x,ou=far,o=test");
    let client = Client::connect_with(&config).await.unwrap();
    let error = client.search_all(below()).await.unwrap_err();
    assert_eq!(error.result().unwrap().code, ResultCode::REFERRAL);
    config.referrals = Some(Referrals::default());
    let client = Client::connect_with(&config).await.unwrap();
    assert_eq!(client.search_all(below()).await.unwrap().0.len(), 1);

    // What this server knows nothing of, it refers to the other, which has none of it either.
    for (referrals, expected) in
        [(None, ResultCode::REFERRAL), (Some(Referrals::default()), ResultCode::NO_SUCH_OBJECT)]
    {
        config.referrals = referrals;
        let client = Client::connect_with(&config).await.unwrap();
        let error = client.search_all(Search::new("o=elsewhere")).await.unwrap_err();
        assert_eq!(error.result().unwrap().code, expected, "{error}");
    }
}

#[tokio::test]
async fn referrals_between_two_directories() {
    let [here, there] = [(); 2].map(|()| Directory::new().with_root(ROOT, SECRET));
    there.load(FAR.as_bytes()).unwrap();
    let there = there.listen("127.0.0.1:0").await.unwrap();
    here.load(near(&there.url()).as_bytes()).unwrap();
    let here = here.listen("127.0.0.1:0").await.unwrap();
    referral_suite(&here.url(), &there.url()).await;

    // A server that refers to itself.
    let itself = Directory::new();
    let server = itself.listen("127.0.0.1:0").await.unwrap();
    itself.load(format!("dn: o=me\nobjectClass: referral\nref: {}/o=me\n", server.url()).as_bytes()).unwrap();
    let mut config = Config::new(&server.url()).unwrap();
    config.referrals = Some(Referrals::default());
    let client = Client::connect_with(&config).await.unwrap();
    assert_eq!(client.search_all(Search::new("o=me")).await.unwrap_err().kind(), ErrorKind::Limit);
}

#[tokio::test]
async fn failover_in_the_middle_of_a_search() {
    let Some(mut first) = Slapd::start(&people(5000)) else { return };
    let second = Directory::new();
    second.load(people(5000).as_slice()).unwrap();
    let second = second.listen("127.0.0.1:0").await.unwrap();
    let config = Config::new(&format!("{} {}", first.url(), second.url())).unwrap();
    let pool =
        Pool::new(config, 4, |client| async move { client.bind("uid=ada,o=test", "engine").await.map(drop) });
    let client = pool.get().await.unwrap();
    let mut entries = client.search(Search::new("o=test").page_size(100)).await.unwrap();
    assert!(entries.next().await.unwrap().is_some());
    first.kill();
    let error = loop {
        match entries.next().await {
            Ok(Some(_)) => {}
            Ok(None) => panic!("the search cannot have ended"),
            Err(error) => break error,
        }
    };
    assert!(matches!(error.kind(), ErrorKind::Closed | ErrorKind::Io), "{error:?}");
    assert!(client.is_closed());
    drop((entries, client));
    let (all, _) =
        pool.run(|client| async move { client.search_all(Search::new("o=test")).await }).await.unwrap();
    assert_eq!(all.len(), 5003);
}
