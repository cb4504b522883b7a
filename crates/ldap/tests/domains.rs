//! Servers of a domain (RFC 2782), told by a name server of our own on loopback.
#![cfg(feature = "srv")]

mod common;

use std::net::{SocketAddr, UdpSocket};
use std::time::{Duration, Instant};

use common::people;
use tercet_ldap::directory::Directory;
use tercet_ldap::{Client, Config, ErrorKind, Locator, Search, Url};

/// Labels, as they stand in messages of the DNS (RFC 1035 3.1).
fn name(text: &str) -> Vec<u8> {
    let labels = text.split('.').filter(|label| !label.is_empty());
    let mut out: Vec<u8> = labels
        .flat_map(|label| std::iter::once(u8::try_from(label.len()).unwrap()).chain(label.bytes()))
        .collect();
    out.push(0);
    out
}

/// An SRV record for the name that was asked for.
fn srv(priority: u16, weight: u16, port: u16, target: &str) -> Vec<u8> {
    let numbers = [priority, weight, port].map(u16::to_be_bytes).concat();
    let data = [numbers, name(target)].concat();
    let length = u16::try_from(data.len()).unwrap().to_be_bytes();
    // The name at offset 12, type SRV, class IN, a time to live.
    [&[0xC0, 12, 0, 33, 0, 1, 0, 0, 0, 60][..], &length, &data].concat()
}

/// A name server that answers each question with a code and these records.
fn name_server(answers: impl Fn(&[u8]) -> (u8, Vec<Vec<u8>>) + Send + 'static) -> SocketAddr {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let address = socket.local_addr().unwrap();
    std::thread::spawn(move || {
        let mut octets = [0; 1500];
        while let Ok((size, from)) = socket.recv_from(&mut octets) {
            let message = &octets[..size];
            let end = 12 + message[12..].iter().position(|octet| *octet == 0).unwrap() + 5;
            let (code, records) = answers(&message[12..end - 4]);
            let count = u16::try_from(records.len()).unwrap().to_be_bytes();
            let header = [&message[..2], &[0x85, 0x80 | code, 0, 1], &count, &[0; 4]].concat();
            _ = socket.send_to(&[header, message[12..end].to_vec(), records.concat()].concat(), from);
        }
    });
    address
}

fn config(url: &str) -> Config {
    Config::new(url).unwrap()
}

#[tokio::test]
async fn the_servers_of_a_domain() {
    let directory = Directory::new();
    directory.load(people(3).as_slice()).unwrap();
    let server = directory.listen("127.0.0.1:0").await.unwrap();
    let port = server.address().unwrap().port();
    let (gone, nobody) = (common::free_port(), common::free_port());
    let address = name_server(move |asked| {
        let known = asked == name("_ldap._tcp.example.net");
        let all =
            [srv(20, 0, port, "127.0.0.1"), srv(10, 5, gone, "localhost"), srv(30, 0, nobody, "localhost")];
        if known { (0, all.to_vec()) } else { (3, Vec::new()) }
    });
    let locator = Locator::with_name_server(address);
    let urls = locator.servers("ldap", "example.net").await.unwrap();
    let expected = [(gone, "localhost"), (port, "127.0.0.1"), (nobody, "localhost")]
        .map(|(port, host)| format!("ldap://{host}:{port}/"));
    assert_eq!(urls.iter().map(Url::to_string).collect::<Vec<_>>(), expected);

    // The first does not answer, so that the second is taken; hosts stay as they are.
    let located = locator.locate(config("ldap:///ou=x,dc=example,dc=net ldap://[::1]:1/dc=a")).await.unwrap();
    assert_eq!(located.urls.len(), 4);
    let client = Client::connect_with(&located).await.unwrap();
    assert_eq!(client.search_all(Search::new("o=test")).await.unwrap().0.len(), 6);

    for (url, what) in [
        ("ldap:///dc=nobody,dc=net", "nobody.net: it has none for ldap"),
        ("ldaps:///dc=example,dc=net", "example.net: it has none for ldaps"),
    ] {
        let error = locator.locate(config(url)).await.unwrap_err();
        assert_eq!(error.to_string(), format!("servers of {what}"));
    }
    // Without a domain nobody is asked.
    assert_eq!(config("ldap:///o=test").located().await.unwrap().urls[0].dn, "o=test");
}

#[tokio::test]
async fn domains_without_a_server() {
    let answers: [(u8, Vec<Vec<u8>>); 4] = [
        // There is no such service; not allowed to ask; records that end early; one for another name.
        (0, vec![srv(0, 0, 0, ".")]),
        (5, Vec::new()),
        (0, vec![srv(0, 0, 389, "localhost")[..14].to_vec()]),
        (0, vec![[&[0][..], &srv(0, 0, 389, "localhost")[2..]].concat()]),
    ];
    for answer in answers {
        let what = format!("{answer:02X?}");
        let locator = Locator::with_name_server(name_server(move |_| answer.clone()));
        let error = locator.servers("ldap", "example.net").await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Io, "{what}: {error}");
    }
    // Silence, and a domain that is none.
    let silent = UdpSocket::bind("127.0.0.1:0").unwrap();
    let locator = Locator::with_name_server(silent.local_addr().unwrap());
    let mut hasty = config("ldap:///dc=example,dc=net");
    hasty.connect_timeout = Duration::from_millis(200);
    let begin = Instant::now();
    assert_eq!(locator.locate(hasty).await.unwrap_err().kind(), ErrorKind::Timeout);
    assert!(begin.elapsed() < Duration::from_secs(5));
    assert!(locator.servers("ldap", &"x".repeat(64)).await.is_err());
}
