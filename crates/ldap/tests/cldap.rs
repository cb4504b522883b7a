//! Searches by datagrams: with the directory in memory, and with servers that lose, delay, forge and never stop.

mod common;

use std::net::UdpSocket;
use std::time::{Duration, Instant};

use common::people;
use tercet_ldap::controls::Sync;
use tercet_ldap::directory::Directory;
use tercet_ldap::proto::{self, Limits, ResultCode};
use tercet_ldap::{Cldap, Client, ErrorKind, Netlogon, Scope, Search, blocking};

/// A server that answers the request of a number, and the message ID of each until then, with datagrams.
fn script(answers: impl Fn(usize, &[u8], &[u32]) -> Vec<Vec<u8>> + Send + 'static) -> Cldap {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let mut servers = Cldap::new(&format!("cldap://{}", socket.local_addr().unwrap())).unwrap();
    servers.timeout = Duration::from_millis(300);
    std::thread::spawn(move || {
        let mut octets = [0; 65_536];
        let mut ids = Vec::new();
        while let Ok((size, from)) = socket.recv_from(&mut octets) {
            let request = &octets[..size];
            ids.push(proto::decode(request, &Limits::default()).unwrap().message_id);
            for answer in answers(ids.len(), request, &ids) {
                _ = socket.send_to(&answer, from);
                // Not faster than it is taken, as sockets throw away what they have no room for.
                std::thread::sleep(Duration::from_micros(50));
            }
        }
    });
    servers
}

fn tlv(tag: u8, contents: &[u8]) -> Vec<u8> {
    [&[tag, 0x82][..], &u16::try_from(contents.len()).unwrap().to_be_bytes(), contents].concat()
}

fn message(id: u32, operation: &[u8]) -> Vec<u8> {
    tlv(0x30, &[&[2, 4][..], &id.to_be_bytes(), operation].concat())
}

/// An entry `o=x` with a value of `cn`.
fn entry(id: u32, value: &[u8]) -> Vec<u8> {
    let attribute = tlv(0x30, &[&tlv(4, b"cn")[..], &tlv(0x31, &tlv(4, value))].concat());
    message(id, &tlv(0x64, &[&tlv(4, b"o=x")[..], &tlv(0x30, &attribute)].concat()))
}

fn done(id: u32) -> Vec<u8> {
    message(id, &[0x65, 7, 0x0A, 1, 0, 4, 0, 4, 0])
}

fn base(dn: &str) -> Search {
    Search::new(dn).scope(Scope::Base)
}

async fn directory(count: usize) -> (tercet_ldap::directory::Server, Cldap) {
    let directory = Directory::new();
    directory.load(people(count).as_slice()).unwrap();
    let server = directory.listen_datagrams("127.0.0.1:0").await.unwrap();
    let servers = Cldap::new(&server.url()).unwrap();
    (server, servers)
}

#[tokio::test]
async fn with_the_directory() {
    let (server, mut servers) = directory(2000).await;
    let answer = servers.search(&base("uid=ada,o=test").attributes(&["mail"])).await.unwrap();
    let [entry] = answer.entries.as_slice() else { panic!("{answer:?}") };
    assert_eq!((entry.dn(), entry.text("mail")), ("uid=ada,o=test", Some("ada@example.net")));
    assert_eq!((entry.text("cn"), answer.result.code), (None, ResultCode::SUCCESS));
    assert_eq!((Some(answer.server), answer.ignored), (server.address(), 0));
    // Results that are no success, and searches without an entry.
    let answer = servers.search(&base("uid=nobody,o=test")).await.unwrap();
    assert_eq!((answer.entries.len(), answer.result.code), (0, ResultCode::NO_SUCH_OBJECT));
    assert_eq!(answer.result.matched_dn, "o=test");
    let answer = servers.search(&base("o=test").filter("(o=other)").unwrap()).await.unwrap();
    assert_eq!((answer.entries.len(), answer.result.code), (0, ResultCode::SUCCESS));
    let [root] = &servers.search(&base("").attributes(&["+"])).await.unwrap().entries[..] else { panic!() };
    assert!(root.values("namingContexts").any(|name| name == b"o=test"));
    // Many entries fit into a datagram, but not all.
    let few = Search::new("o=test").filter("(uid=p0000*)").unwrap();
    assert_eq!(servers.search(&few).await.unwrap().entries.len(), 10);
    let answer = servers.search(&Search::new("o=test")).await.unwrap();
    assert_eq!((answer.entries.len(), answer.result.code), (0, ResultCode::RESULTS_TOO_LARGE));
    // A search that goes on has no answer.
    servers.timeout = Duration::from_millis(100);
    let persistent = base("o=test").control(&Sync { persist: true, cookie: None, reload_hint: false });
    assert_eq!(servers.search(&persistent).await.unwrap_err().kind(), ErrorKind::Timeout);
}

/// Datagrams that are no search, and ones that are nothing at all, do nothing.
#[tokio::test]
async fn other_requests_of_the_directory() {
    let (server, servers) = directory(0).await;
    let socket = tokio::net::UdpSocket::bind("127.0.0.1:0").await.unwrap();
    socket.connect(server.address().unwrap()).await.unwrap();
    let delete = message(1, &[&[0x4A, 14][..], b"uid=ada,o=test"].concat());
    let bind = message(1, &[0x60, 7, 2, 1, 3, 4, 0, 0x80, 0]);
    for octets in [&delete[..], &bind, b"", b"GET / HTTP/1.1\r\n\r\n", &delete[..9], &[0x30; 60_000]] {
        socket.send(octets).await.unwrap();
        let mut answer = [0; 100];
        let answered = tokio::time::timeout(Duration::from_millis(100), socket.recv(&mut answer)).await;
        assert!(answered.is_err(), "{:02X?}", octets.get(..9));
    }
    assert_eq!(servers.search(&base("uid=ada,o=test")).await.unwrap().entries.len(), 1);
}

#[test]
fn without_async() {
    let servers = script(|_, _, ids| vec![[entry(ids[0], b"v"), done(ids[0])].concat()]);
    let answer = blocking::search_by_datagrams(&servers, &base("")).unwrap();
    assert_eq!(answer.entries[0].text("cn"), Some("v"));
}

/// Requests and answers that are lost, late, in several datagrams and there twice.
#[tokio::test]
async fn lost_and_late() {
    let second = |number: usize, _: &[u8], ids: &[u32]| {
        if number == 1 { Vec::new() } else { vec![entry(ids[1], b"v"), done(ids[1])] }
    };
    let answer = script(second).search(&base("")).await.unwrap();
    assert_eq!((answer.entries.len(), answer.entries[0].text("cn")), (1, Some("v")));
    // To the first request when the second has come, of which the entry had arrived in time.
    let late = |number: usize, _: &[u8], ids: &[u32]| {
        assert!(ids.iter().enumerate().all(|(at, id)| *id > 0 && !ids[..at].contains(id)));
        if number == 1 {
            vec![entry(ids[0], b"v")]
        } else {
            vec![done(ids[0]), entry(ids[1], b"w"), done(ids[1])]
        }
    };
    let answer = script(late).search(&base("")).await.unwrap();
    assert_eq!((answer.entries.len(), answer.entries[0].text("cn"), answer.ignored), (1, Some("v"), 0));
}

/// What somebody else sends does not end the wait, however it looks.
#[tokio::test]
async fn forged() {
    let servers = script(|_, _, ids| {
        let (id, other) = (ids[0], ids[0] ^ 1);
        let good = [entry(id, b"v"), done(id)].concat();
        let mut wrong = entry(id, b"v");
        let last = wrong.len() - 5;
        wrong[last] = 0x55;
        vec![
            Vec::new(),
            b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec(),
            vec![0; 60_000],
            [entry(other, b"w"), done(other)].concat(),
            message(0, &[0x78, 7, 0x0A, 1, 52, 4, 0, 4, 0]),
            message(id, &[0x61, 7, 0x0A, 1, 0, 4, 0, 4, 0]),
            message(id, &[0x65, 0]),
            message(id, &[0x7E, 0]),
            vec![0x30, 0x84, 0x20, 0, 0, 0],
            good[..good.len() - 1].to_vec(),
            [good.clone(), b"x".to_vec()].concat(),
            [entry(id, b"w"), entry(other, b"w")].concat(),
            wrong,
            good,
        ]
    });
    let answer = servers.search(&base("")).await.unwrap();
    assert_eq!((answer.entries.len(), answer.entries[0].text("cn")), (1, Some("v")));
    assert_eq!(answer.ignored, 13);
}

#[tokio::test]
async fn bounded() {
    // Silence, and a flood of what is no answer: the time is that of the tries.
    let silent = script(|_, _, _| Vec::new());
    let flood = script(|_, _, _| vec![b"x".to_vec(); 20_000]);
    for (servers, what) in [(silent, "to 3 datagrams"), (flood, "were ignored, the last as: ")] {
        let begin = Instant::now();
        let error = servers.search(&base("")).await.unwrap_err();
        let took = begin.elapsed();
        assert!(took >= Duration::from_millis(900) && took < Duration::from_secs(5), "{took:?}");
        assert_eq!(error.kind(), ErrorKind::Timeout);
        assert!(error.message().contains(what), "{error}");
    }
    // A search has a time of its own.
    let begin = Instant::now();
    let hasty = base("").timeout(Some(Duration::from_millis(150)));
    assert!(script(|_, _, _| Vec::new()).search(&hasty).await.is_err());
    assert!(begin.elapsed() < Duration::from_millis(800));
    // Entries without an end.
    let endless = script(|_, _, ids| vec![entry(ids[0], &[b'x'; 30_000]); 1000]);
    let error = endless.search(&base("")).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Limit, "{error}");
    // Nobody, and then somebody.
    let nobody = UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let (server, _) = directory(0).await;
    let servers = Cldap::new(&format!("cldap://{nobody} {}", server.url())).unwrap();
    assert_eq!(servers.search(&base("o=test")).await.unwrap().entries.len(), 1);
}

#[tokio::test]
async fn calls_that_make_no_sense() {
    for error in [
        Cldap::new("ldap://localhost").unwrap_err(),
        Cldap::new("cldap://localhost ldaps://localhost").unwrap_err(),
        Cldap::new("").unwrap().search(&base("")).await.unwrap_err(),
        Cldap::new("cldap://localhost").unwrap().search(&base("").page_size(5)).await.unwrap_err(),
        Client::connect("cldap://localhost").await.unwrap_err(),
    ] {
        assert_eq!(error.kind(), ErrorKind::Usage, "{error}");
    }
}

/// The question of MS-ADTS 6.3.3 and an answer to it.
#[tokio::test]
async fn netlogon() {
    let servers = script(|_, request, ids| {
        let contains = |octets: &[u8]| request.windows(octets.len()).any(|window| window == octets);
        if !contains(b"\x04\x09DnsDomain\x04\x0Bexample.net") || !contains(b"\x04\x05NtVer\x04\x04\x16\0\0\0")
        {
            return Vec::new();
        }
        let mut value = vec![23, 0, 0, 0, 0xFD, 1, 0, 0];
        value.extend_from_slice(&[0x11; 16]);
        value.extend_from_slice(
            b"\x07example\x03net\0\xC0\x18\x02dc\xC0\x18\x07EXAMPLE\0\x02DC\0\0\x04site\0\xC0\x3A\0",
        );
        value.extend_from_slice(&[0x16, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF]);
        let attribute = tlv(0x30, &[&tlv(4, b"netlogon")[..], &tlv(0x31, &tlv(4, &value))].concat());
        let entry = tlv(0x64, &[&tlv(4, b"")[..], &tlv(0x30, &attribute)].concat());
        vec![[message(ids[0], &entry), done(ids[0])].concat()]
    });
    let answer = servers.search(&Netlogon::search("example.net")).await.unwrap();
    let told = Netlogon::of_entry(&answer.entries[0]).unwrap();
    assert_eq!((told.domain.as_str(), told.host.as_str()), ("example.net", "dc.example.net"));
    assert_eq!((told.client_site.as_str(), told.next_site.as_deref()), ("site", Some("")));
}
