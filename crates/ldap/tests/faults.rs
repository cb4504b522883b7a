//! Servers that are broken or malicious: an error in time for each, and memory bounded.

mod common;

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::time::Duration;

use tercet_ldap::sasl::{Hash, Scram};
use tercet_ldap::{Client, Config, ErrorKind, Search, StartTls};

/// A server that reads each request and answers the first with the first of some octets, and so on; it stays silent
/// then, or closes.
fn script(answers: Vec<Vec<u8>>, closes: bool) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("ldap://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        let Ok((mut stream, _)) = listener.accept() else { return };
        let mut request = [0; 4096];
        for answer in answers {
            if stream.read(&mut request).unwrap_or(0) == 0 || stream.write_all(&answer).is_err() {
                return;
            }
        }
        if !closes {
            // Until the client goes.
            while stream.read(&mut request).unwrap_or(0) > 0 {}
        }
    });
    url
}

fn tlv(tag: u8, contents: &[u8]) -> Vec<u8> {
    let mut out = vec![tag, 0x84];
    out.extend_from_slice(&u32::try_from(contents.len()).unwrap().to_be_bytes());
    out.extend_from_slice(contents);
    out
}

/// A message for the first search of a connection.
fn message(operation: &[u8]) -> Vec<u8> {
    tlv(0x30, &[&[2, 1, 1], operation].concat())
}

fn nested(tag: u8, depth: usize) -> Vec<u8> {
    let mut out = Vec::new();
    for level in (1..=depth).rev() {
        out.extend_from_slice(&[tag, 0x84]);
        out.extend_from_slice(&u32::try_from((level - 1) * 6).unwrap().to_be_bytes());
    }
    out
}

async fn search(url: &str) -> tercet_ldap::Result<usize> {
    search_within(url, Duration::from_secs(60)).await
}

async fn search_within(url: &str, timeout: Duration) -> tercet_ldap::Result<usize> {
    let mut config = Config::new(url)?;
    config.operation_timeout = Some(timeout);
    let client = Client::connect_with(&config).await?;
    let mut entries = client.search(Search::new("o=test")).await?;
    let mut count = 0;
    while let Some(entry) = entries.next().await? {
        count += entry.attributes().map(|attribute| attribute.values().count()).sum::<usize>();
    }
    Ok(count)
}

const DONE: &[u8] = &[0x65, 7, 0x0A, 1, 0, 4, 0, 4, 0];

#[tokio::test]
async fn malicious_answers() {
    use ErrorKind::{Closed, Limit, Protocol, Timeout};
    let entry =
        |attributes: &[u8]| message(&tlv(0x64, &[&[4, 3][..], b"o=x", &tlv(0x30, attributes)].concat()));
    let cases: Vec<(&str, Vec<u8>, ErrorKind)> = vec![
        ("empty message", vec![0x30, 0], Protocol),
        ("only an id", vec![0x30, 3, 2, 1, 1], Protocol),
        ("no id", [&[0x30, 9][..], DONE].concat(), Protocol),
        ("indefinite length", vec![0x30, 0x80, 2, 1, 1, 0x65, 0, 0, 0], Protocol),
        (
            "controls nested 100,000 deep",
            tlv(0x30, &[&[2, 1, 1], DONE, &tlv(0xA0, &nested(0x30, 100_000))].concat()),
            Limit,
        ),
        ("attributes nested 100,000 deep", entry(&nested(0x30, 100_000)), Protocol),
        ("attributes nested 2,000,000 deep", entry(&nested(0x30, 2_000_000)), Protocol),
        ("512 MB", vec![0x30, 0x84, 0x20, 0, 0, 0, 2, 1, 1], Limit),
        ("4 GB", vec![0x30, 0x84, 0xFF, 0xFF, 0xFF, 0xFF], Limit),
        ("nine octets of length", vec![0x30, 0x89, 1, 0, 0, 0, 0, 0, 0, 0, 0], Protocol),
        ("a length of FF", vec![0x30, 0xFF], Protocol),
        ("inner length of 512 MB", vec![0x30, 0x0B, 2, 1, 1, 0x65, 0x84, 0x20, 0, 0, 0, 0, 0], Protocol),
        (
            "messageID of nine octets",
            [&[0x30, 20, 2, 9, 1, 1, 1, 1, 1, 1, 1, 1, 1][..], DONE].concat(),
            Protocol,
        ),
        ("a high tag", vec![0x30, 6, 2, 1, 1, 0x7F, 0x65, 0], Protocol),
        ("entry without attributes", message(&[0x64, 5, 4, 3, b'o', b'=', b'x']), Protocol),
        ("attribute without values", entry(&[0x30, 4, 4, 2, b'c', b'n']), Protocol),
        ("attribute type that is no string", entry(&[0x30, 5, 2, 1, 1, 0x31, 0]), Protocol),
        ("empty done", message(&[0x65, 0]), Protocol),
        ("UTF-8 that is none", message(&[0x65, 9, 0x0A, 1, 0, 4, 0, 4, 2, 0xC3, 0x28]), Protocol),
        ("NUL in a name", message(&[0x64, 7, 4, 3, b'o', 0, b'x', 0x30, 0]), Protocol),
        ("a name that is not UTF-8", message(&[0x64, 6, 4, 2, 0xC3, 0x28, 0x30, 0]), Protocol),
        ("inside a message", entry(&[])[..10].to_vec(), Closed),
        ("an operation that nobody knows", message(&[0x7E, 0]), Protocol),
        ("an answer of another operation", message(&[0x69, 7, 0x0A, 1, 0, 4, 0, 4, 0]), Protocol),
        ("HTTP", b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec(), Protocol),
        ("silence", Vec::new(), Timeout),
        (
            "notice of disconnection",
            tlv(
                0x30,
                &[
                    &[2, 1, 0][..],
                    &tlv(
                        0x78,
                        &[&[0x0A, 1, 52, 4, 0, 4, 3][..], b"bye", &[0x8A, 22], b"1.3.6.1.4.1.1466.20036"]
                            .concat(),
                    ),
                ]
                .concat(),
            ),
            Closed,
        ),
    ];
    for (name, answer, kind) in cases {
        let closes = name == "inside a message";
        let timeout = Duration::from_millis(if kind == Timeout { 500 } else { 60_000 });
        let error = search_within(&script(vec![answer], closes), timeout).await.expect_err(name);
        assert_eq!(error.kind(), kind, "{name}: {error:?}");
        assert!(error.to_string().len() < 512, "{name}");
    }
    // Messages of nobody are passed over.
    let foreign = [&[0x30, 12, 2, 1, 99][..], DONE, &message(DONE)].concat();
    assert_eq!(search(&script(vec![foreign], false)).await.unwrap(), 0);
    // A value may have any octets.
    let odd = [entry(&[0x30, 8, 4, 1, b'a', 0x31, 3, 4, 1, 0]), message(DONE)].concat();
    assert_eq!(search(&script(vec![odd], false)).await.unwrap(), 1);
}

/// One entry with 500,000 values is one view, walked in place.
#[tokio::test]
async fn many_values() {
    let mut values = Vec::new();
    for index in 0..500_000_u32 {
        values.extend_from_slice(&[4, 26]);
        values.extend_from_slice(format!("value {index:020}").as_bytes());
    }
    let attribute = tlv(0x30, &[&[4, 1, b'm'][..], &tlv(0x31, &values)].concat());
    let entry = message(&tlv(0x64, &[&[4, 0][..], &tlv(0x30, &attribute)].concat()));
    assert_eq!(search(&script(vec![[entry, message(DONE)].concat()], false)).await.unwrap(), 500_000);
}

/// Octets behind the answer to StartTLS would be read as protected ones later.
#[tokio::test]
async fn injection_into_starttls() {
    let granted = tlv(0x30, &[&[2, 1, 1][..], &tlv(0x78, &[0x0A, 1, 0, 4, 0, 4, 0])].concat());
    for (name, answer) in [
        ("injected", [granted.clone(), tlv(0x30, &[&[2, 1, 2], DONE].concat())].concat()),
        ("plain text goes on", [granted.clone(), b"x".to_vec()].concat()),
        ("refused", tlv(0x30, &[&[2, 1, 1][..], &tlv(0x78, &[0x0A, 1, 2, 4, 0, 4, 0])].concat())),
        ("no handshake", granted),
    ] {
        let mut config = Config::new(&script(vec![answer], true)).unwrap();
        config.start_tls = StartTls::Required;
        config.connect_timeout = Duration::from_secs(5);
        let error = Client::connect_with(&config).await.expect_err(name);
        let kinds = [ErrorKind::Protocol, ErrorKind::Result, ErrorKind::Tls, ErrorKind::Timeout];
        assert!(kinds.contains(&error.kind()), "{name}: {error:?}");
    }
}

/// The same on a connection that was in use before: it cannot be used any more.
#[tokio::test]
async fn injection_into_starttls_of_later() {
    let searched = message(DONE);
    let granted = |code| tlv(0x30, &[&[2, 1, 2][..], &tlv(0x78, &[0x0A, 1, code, 4, 0, 4, 0])].concat());
    for (name, answer, kind) in [
        ("injected", [granted(0), tlv(0x30, &[&[2, 1, 3], DONE].concat())].concat(), ErrorKind::Protocol),
        ("the begin of a message", [granted(0), vec![0x30]].concat(), ErrorKind::Protocol),
        ("plain text goes on", [granted(0), b"x".to_vec()].concat(), ErrorKind::Protocol),
        ("refused", granted(2), ErrorKind::Result),
        ("silence", granted(0), ErrorKind::Timeout),
    ] {
        let client = Client::connect(&script(vec![searched.clone(), answer], false)).await.unwrap();
        client.search_all(Search::new("o=test")).await.unwrap();
        let hasty = client.with_timeout(Some(Duration::from_millis(500)));
        let error =
            if kind == ErrorKind::Timeout { &hasty } else { &client }.start_tls().await.expect_err(name);
        assert_eq!(error.kind(), kind, "{name}: {error:?}");
        assert!(client.is_closed(), "{name}");
        assert_eq!(
            client.compare("o=x", "o", b"x").await.unwrap_err().kind(),
            match kind {
                ErrorKind::Protocol => kind,
                _ => ErrorKind::Closed,
            }
        );
    }
    // Who drops it has no connection any more either.
    let client = Client::connect(&script(vec![searched, granted(0)], false)).await.unwrap();
    client.search_all(Search::new("o=test")).await.unwrap();
    assert!(tokio::time::timeout(Duration::from_millis(50), client.start_tls()).await.is_err());
    assert!(client.is_closed());
}

/// Iterations without end, and a signature that is wrong though the server says success.
#[tokio::test]
async fn servers_that_lie_in_scram() {
    // The nonce is not known here, so that the first message fails whatever it says else; the mechanism's own tests
    // have the rest.
    let challenge = b"r=x,s=QQ==,i=2147483647";
    let contents = [&[0x0A, 1, 14, 4, 0, 4, 0, 0x87, 23][..], challenge].concat();
    let answer = tlv(0x30, &[&[2, 1, 1][..], &tlv(0x61, &contents)].concat());
    let client = Client::connect(&script(vec![answer], false)).await.unwrap();
    let error = client.bind_sasl(Box::new(Scram::new(Hash::Sha256, "", "u", "p"))).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Auth);
    let success = tlv(0x30, &[&[2, 1, 1][..], &tlv(0x61, &[0x0A, 1, 0, 4, 0, 4, 0])].concat());
    let client = Client::connect(&script(vec![success], false)).await.unwrap();
    let error = client.bind_sasl(Box::new(Scram::new(Hash::Sha256, "", "u", "p"))).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Auth);
}

/// An ExtendedResponse to the first operation of a connection.
fn extended(code: u8) -> Vec<u8> {
    message(&tlv(0x78, &[&[0x0A, 1, code, 4, 0, 4, 2][..], b"no"].concat()))
}

/// Samba refuses operations with an unknown critical control by an ExtendedResponse, whatever they are.
#[tokio::test]
async fn an_extended_answer_refuses_any_operation() {
    use tercet_ldap::ResultCode;
    let code = |error: tercet_ldap::Error| error.result().unwrap_or_else(|| panic!("{error:?}")).code;
    let connect = || async { Client::connect(&script(vec![extended(12)], false)).await.unwrap() };
    let refused = ResultCode::UNAVAILABLE_CRITICAL_EXTENSION;
    let client = connect().await;
    let error = client.search_all(Search::new("o=test")).await.unwrap_err();
    assert!(error.to_string().contains("no"), "{error}");
    assert_eq!(code(error), refused);
    // The connection can be used on: the server gave a valid answer.
    assert!(!client.is_closed());
    assert_eq!(code(connect().await.delete("o=test").await.unwrap_err()), refused);
    assert_eq!(code(connect().await.compare("o=test", "o", b"x").await.unwrap_err()), refused);
    assert_eq!(code(connect().await.bind("", "").await.unwrap_err()), refused);
    // Success cannot be said so.
    for operation in 0..2 {
        let client = Client::connect(&script(vec![extended(0)], false)).await.unwrap();
        let done = match operation {
            0 => client.delete("o=test").await.map(drop),
            _ => client.bind("", "").await.map(drop),
        };
        assert_eq!(done.unwrap_err().kind(), ErrorKind::Protocol);
    }
}
