//! The scripts of `hostile/gen/ldap_faults.jsonl` in the large corpora, played by the server that comes with them: each has
//! its outcome, within the time that the client was given.

mod common;

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tercet_ldap::sasl::{Hash, Scram};
use tercet_ldap::{Client, Config, Dn, Error, ErrorKind, Filter, Referrals, Search, StartTls};

/// What the client has to say.
enum Outcome {
    /// This many entries, and success.
    Entries(usize),
    /// An error of one of these kinds.
    Error(&'static [ErrorKind]),
}

use ErrorKind::{Auth, Closed, Io, Limit, Protocol, Result, Timeout, Tls};
use Outcome::Entries;

const ENDED: Outcome = Outcome::Error(&[Closed, Io]);
const MALFORMED: Outcome = Outcome::Error(&[Protocol]);

/// The scripts of certificates are not in the list: the server leaves them to tests with certificates, which
/// `connections.rs` has.
const CASES: &[(&str, Outcome)] = &[
    ("accept-close", ENDED),
    ("http-banner", MALFORMED),
    ("bind-close", ENDED),
    ("bind-wrongtype", MALFORMED),
    ("scram-iter-2e31", Outcome::Error(&[Auth, Limit])),
    ("scram-badsig", Outcome::Error(&[Auth])),
    ("search-close", ENDED),
    ("search-rst", ENDED),
    ("search-half-entry", ENDED),
    ("search-trickle", Entries(1)),
    ("search-coalesced", Entries(50)),
    ("search-split-every", Entries(1)),
    ("frame-2e63", Outcome::Error(&[Limit, Protocol])),
    ("frame-100M-drip", Outcome::Error(&[Limit])),
    ("frame-indef", MALFORMED),
    ("frame-zero", MALFORMED),
    ("garbage", MALFORMED),
    ("wrong-type", MALFORMED),
    ("unknown-id", Entries(1)),
    ("other-op-id", Entries(1)),
    ("id-zero-non-notice", MALFORMED),
    ("notice-disconnect", ENDED),
    ("notice-ad", ENDED),
    ("endless-entries", Outcome::Error(&[Timeout])),
    ("endless-intermediate", Outcome::Error(&[Timeout])),
    ("referral-self", Outcome::Error(&[Result])),
    ("referral-20000", Outcome::Error(&[Result])),
    ("starttls-refused", Outcome::Error(&[Result])),
    ("starttls-then-plain", Outcome::Error(&[Protocol, Tls])),
    ("starttls-close", Outcome::Error(&[Closed, Io, Tls])),
    ("starttls-wrong-oid", Outcome::Error(&[Protocol, Tls, Timeout])),
    ("starttls-silence", Outcome::Error(&[Timeout])),
    ("tcp-window-zero", Outcome::Error(&[Timeout, Limit])),
];

/// For one operation.
const DEADLINE: Duration = Duration::from_secs(2);

struct Server {
    child: Child,
    url: String,
}

impl Server {
    fn start(program: &Path, cases: &Path, name: &str) -> Self {
        let port = common::free_port();
        let mut child = Command::new("python3")
            .arg(program)
            .arg(cases)
            .args([name, &port.to_string()])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut ready = [0; 5];
        std::io::Read::read_exact(child.stdout.as_mut().unwrap(), &mut ready).unwrap();
        Self { child, url: format!("ldap://127.0.0.1:{port}") }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        _ = self.child.kill();
        _ = self.child.wait();
    }
}

/// What a user does, as the script supposes; gives the number of entries.
async fn play(name: &str, url: &str) -> tercet_ldap::Result<usize> {
    let mut config = Config::new(url)?;
    // The one entry of the trickle takes its server 1.6 seconds, and more on a busy machine.
    config.operation_timeout = Some(if name == "search-trickle" { DEADLINE * 5 } else { DEADLINE });
    config.connect_timeout = DEADLINE;
    if name.starts_with("starttls") {
        config.start_tls = StartTls::Required;
    }
    let client = Client::connect_with(&config).await?;
    if name.starts_with("scram") {
        client.bind_sasl(Box::new(Scram::new(Hash::Sha256, "", "u", "p"))).await?;
        return Ok(0);
    }
    if name == "tcp-window-zero" {
        return pipeline(&client).await;
    }
    client.bind("cn=a", "x").await?;
    let mut entries = client.search(Search::new("dc=x")).await?;
    let mut count = 0;
    let begin = Instant::now();
    while entries.next().await?.is_some() {
        count += 1;
        // A reader that is slower than the server, so that what is not read yet has to wait in the network.
        if count % 1000 == 0 && begin.elapsed() > DEADLINE {
            return Err(Error::new(Timeout, "enough"));
        }
    }
    Ok(count)
}

/// More than the network takes of requests to a server that does not read.
async fn pipeline(client: &Client) -> tercet_ldap::Result<usize> {
    let value = vec![b'x'; 1 << 20];
    let calls: Vec<_> = (0..100)
        .map(|_| {
            let (client, value) = (client.clone(), value.clone());
            tokio::spawn(async move { client.compare("dc=x", "cn", &value).await })
        })
        .collect();
    let mut last = Ok(0);
    for call in calls {
        last = call.await.unwrap().map(usize::from);
        assert!(last.is_err());
    }
    last
}

fn server() -> Option<(PathBuf, PathBuf)> {
    let cases = tercet_testing::corpora("hostile/gen/ldap_faults.jsonl")?;
    let program = tercet_testing::corpora("../tools/ldap_fault_server.py")?;
    Some((program, cases))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scripts() {
    let Some((program, cases)) = server() else { return };
    for (name, outcome) in CASES {
        let server = Server::start(&program, &cases, name);
        let begin = Instant::now();
        let got = play(name, &server.url).await;
        let elapsed = begin.elapsed();
        match (outcome, &got) {
            (Entries(expected), Ok(count)) => assert_eq!(count, expected, "{name}"),
            (Outcome::Error(kinds), Err(error)) => {
                assert!(kinds.contains(&error.kind()), "{name}: {error:?}");
                assert!(error.to_string().len() <= 512, "{name}");
            }
            _ => panic!("{name}: {got:?}"),
        }
        // A bind and a search have a deadline each; the trickle is as slow as its server.
        assert!(elapsed < DEADLINE * 5 + Duration::from_secs(5), "{name}: {elapsed:?}");
    }
}

/// Followed, referrals to where one comes from end.
#[tokio::test]
async fn a_referral_to_itself() {
    let Some((program, cases)) = server() else { return };
    let server = Server::start(&program, &cases, "referral-self");
    let mut config = Config::new(&server.url).unwrap();
    config.referrals = Some(Referrals::default());
    config.operation_timeout = Some(DEADLINE);
    let client = Client::connect_with(&config).await.unwrap();
    client.bind("cn=a", "x").await.unwrap();
    let error = client.search_all(Search::new("dc=x")).await.unwrap_err();
    assert!(matches!(error.kind(), Limit | Result), "{error:?}");
}

/// Filters and names of the corpora: taken where they are valid, and an error where they are not.
#[test]
fn strings() {
    let files = tercet_testing::all_corpora("hostile/gen/ldap_strings.jsonl");
    let text: String = files.iter().map(|file| std::fs::read_to_string(file).unwrap()).collect();
    assert!(text.lines().count() > 20);
    for line in text.lines() {
        let row: serde_json::Value = serde_json::from_str(line).unwrap();
        let (kind, string) = (row["kind"].as_str().unwrap(), row["string"].as_str().unwrap());
        let ok = match kind {
            // What does not begin as a filter is meant as a value.
            "filter" if !string.starts_with('(') => {
                format!("(cn={string})").parse::<Filter<'static>>().is_ok()
            }
            "filter" => string.parse::<Filter<'static>>().is_ok(),
            "dn" => string.parse::<Dn>().is_ok(),
            kind => panic!("{kind}"),
        };
        assert_eq!(ok, row["valid"].as_bool().unwrap(), "{kind} {}", row["name"]);
    }
}
