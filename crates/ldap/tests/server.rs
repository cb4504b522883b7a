//! The server that handlers are written for: what it does itself, layers, and the handlers that come with it.

mod common;

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use common::Certificates;
use tercet_ldap::controls::Assertion;
use tercet_ldap::directory::Directory;
use tercet_ldap::ldif::{ModificationKind, RecordModification};
use tercet_ldap::proto::Control;
use tercet_ldap::proxy::Balance;
use tercet_ldap::server::{
    AccessLog, Accumulate, Add, Answer, AnyHandler, Attributes, Bind, Canned, Compare, ConcurrencyLimit,
    Context, Delete, Entries, Extended, Fault, Handler, Identity, Listening, MapDn, Metrics, Modify, Proxy,
    RateLimit, ReadOnly, Rename, RequireBind, RequireTls, Router, Search as Asked, Server, Timeout,
    Transform, Watch,
};
use tercet_ldap::{Client, Config, Draft, ErrorKind, ResultCode, Scope, Search, StartTls, TrustedRoots};
use tokio::sync::Notify;

const LIMIT: Duration = Duration::from_secs(120);

/// A handler that changes nothing of the defaults.
struct Nothing;

impl Handler for Nothing {}

/// Sends as many entries as its number, then waits if it is told so, and notes when it is dropped.
#[derive(Clone, Default)]
struct Many {
    count: usize,
    size: usize,
    waits: bool,
    sent: Arc<Notify>,
    dropped: Arc<Notify>,
}

struct Dropped(Arc<Notify>);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.notify_one();
    }
}

fn user(number: usize, size: usize) -> Draft {
    Draft::new(
        format!("uid=u{number},o=test"),
        [
            ("objectClass", vec!["account".to_owned()]),
            ("uid", vec![format!("u{number}")]),
            ("l", vec!["x".repeat(size)]),
        ],
    )
}

impl Handler for Many {
    async fn bind(&self, _: &Context, request: Bind<'_>) -> Answer {
        match request.password() {
            Some(b"secret") => Answer::success(),
            Some(b"panic") => panic!("a handler that panics"),
            Some(b"other") => Answer::success().with_identity("uid=other,o=test"),
            _ => Answer::new(ResultCode::INVALID_CREDENTIALS),
        }
    }

    async fn search(&self, _: &Context, request: Asked<'_>, out: &mut Entries) -> Answer {
        let _dropped = Dropped(Arc::clone(&self.dropped));
        for number in 0..self.count {
            let user = user(number, self.size);
            if request.matches(&user) && out.entry(&user).await.is_err() {
                return Answer::success();
            }
        }
        self.sent.notify_one();
        if self.waits {
            std::future::pending::<()>().await;
        }
        Answer::success()
    }

    async fn compare(&self, cx: &Context, request: Compare<'_>) -> Answer {
        Answer::compared(request.value == cx.identity().as_bytes())
    }

    async fn extended(&self, _: &Context, request: Extended<'_>) -> Answer {
        Answer::success().with_value(request.value.unwrap_or_default().to_vec())
    }

    fn supported_controls(&self) -> Vec<String> {
        vec!["1.2.3".to_owned()]
    }
}

async fn listen(server: Server) -> Listening {
    server.listen("127.0.0.1:0").await.unwrap()
}

async fn client(server: &Listening) -> Client {
    Client::connect(&server.url()).await.unwrap()
}

fn code<T: std::fmt::Debug>(result: Result<T, tercet_ldap::Error>) -> ResultCode {
    result.unwrap_err().result().unwrap().code
}

#[tokio::test]
async fn what_a_handler_does_not_answer_is_refused() {
    let server = listen(Server::new(Nothing)).await;
    let client = client(&server).await;
    client.bind("", "").await.unwrap();
    assert_eq!(client.who_am_i().await.unwrap(), "");
    let unwilling = ResultCode::UNWILLING_TO_PERFORM;
    assert_eq!(code(client.bind("o=test", "x").await), unwilling);
    assert_eq!(code(client.search_all(Search::new("o=test")).await), unwilling);
    assert_eq!(code(client.add("o=test", &[("o", &["test"][..])]).await), unwilling);
    assert_eq!(code(client.modify("o=test", &[]).await), unwilling);
    assert_eq!(code(client.delete("o=test").await), unwilling);
    assert_eq!(code(client.modify_dn("o=test", "o=other", true, None).await), unwilling);
    assert_eq!(code(client.compare("o=test", "o", b"test").await), unwilling);
    assert_eq!(client.extended("1.2.3", None).await.unwrap().result.code, unwilling);
    let (root, _) = client.search_all(Search::new("").scope(Scope::Base)).await.unwrap();
    assert_eq!(root[0].text("supportedLDAPVersion"), Some("3"));
}

#[tokio::test]
async fn names_and_passwords_are_the_handlers() {
    let server = listen(Server::new(Many::default())).await;
    let client = client(&server).await;
    client.bind("uid=ada,o=test", "secret").await.unwrap();
    assert_eq!(client.who_am_i().await.unwrap(), "dn:uid=ada,o=test");
    assert!(client.compare("o=test", "me", b"uid=ada,o=test").await.unwrap());
    client.bind("uid=ada,o=test", "other").await.unwrap();
    assert_eq!(client.who_am_i().await.unwrap(), "dn:uid=other,o=test");
    // A bind that fails makes the connection anonymous.
    assert_eq!(code(client.bind("uid=ada,o=test", "wrong").await), ResultCode::INVALID_CREDENTIALS);
    assert_eq!(client.who_am_i().await.unwrap(), "");
    // A panic ends one request.
    let error = client.bind("uid=ada,o=test", "panic").await.unwrap_err();
    assert_eq!(error.result().unwrap().code, ResultCode::OTHER);
    let answer = client.extended("1.3.6.1.4.1.1", Some(b"value")).await.unwrap();
    assert_eq!(answer.value.unwrap(), b"value");
    // A name without a password: 30 0C, message 1, bind, version 3, `o=x`, empty password.
    let mut stream = TcpStream::connect(server.address()).unwrap();
    let octets = b"\x30\x0F\x02\x01\x01\x60\x0A\x02\x01\x03\x04\x03o=x\x80\x00";
    stream.write_all(octets).unwrap();
    let mut answer = [0; 10];
    tokio::task::spawn_blocking(move || {
        stream.read_exact(&mut answer).unwrap();
        assert_eq!(answer[5..10], [0x61, answer[6], 0x0A, 0x01, 53]);
    })
    .await
    .unwrap();
}

#[tokio::test]
async fn sizes_times_and_controls_are_the_servers() {
    let many = Many { count: 10, ..Many::default() };
    let server = listen(Server::new(many)).await;
    let client = client(&server).await;
    let mut entries = client.search(Search::new("o=test").size_limit(3).attributes(&["UID"])).await.unwrap();
    let mut names = Vec::new();
    let error = loop {
        match entries.next().await {
            Ok(Some(entry)) => {
                assert_eq!(entry.attributes().count(), 1);
                names.push(entry.dn().to_owned());
            }
            Ok(None) => panic!("no error"),
            Err(error) => break error,
        }
    };
    assert_eq!(names, ["uid=u0,o=test", "uid=u1,o=test", "uid=u2,o=test"]);
    assert_eq!(error.result().unwrap().code, ResultCode::SIZE_LIMIT_EXCEEDED);
    let types = client
        .search_all(Search::new("o=test").filter("(uid=u7)").unwrap().types_only(true))
        .await
        .unwrap()
        .0;
    assert_eq!((types.len(), types[0].attributes().next().unwrap().values().count()), (1, 0));
    let critical = |oid: &str| Control::new(oid).with_criticality(true);
    let known = client.with(&[&critical("1.2.3")]);
    assert_eq!(known.search_all(Search::new("o=test")).await.unwrap().0.len(), 10);
    let unknown = client.with(&[&critical("1.2.3"), &critical("1.2.4")]);
    let error = unknown.search_all(Search::new("o=test")).await.unwrap_err();
    assert_eq!(error.result().unwrap().code, ResultCode::UNAVAILABLE_CRITICAL_EXTENSION);
    assert!(error.to_string().contains("1.2.4"), "{error}");

    let many = Many { waits: true, ..Many::default() };
    let server = listen(Server::new(many.clone())).await;
    let client = Client::connect(&server.url()).await.unwrap();
    let late = client.search_all(Search::new("o=test").time_limit(1)).await;
    assert_eq!(code(late), ResultCode::TIME_LIMIT_EXCEEDED);
    many.dropped.notified().await;
}

/// A search of `o=test`, all below, `(objectClass=*)`.
const SEARCH: &[u8] = b"\x30\x2B\x02\x01\x01\x63\x26\x04\x06o=test\x0A\x01\x02\x0A\x01\x00\x02\x01\x00\
    \x02\x01\x00\x01\x01\x00\x87\x0BobjectClass\x30\x00";

#[tokio::test]
async fn searches_end_when_nobody_waits_for_them() {
    let many = Many { waits: true, count: 2, ..Many::default() };
    let server = listen(Server::new(many.clone()).max_operations(2)).await;
    let client = client(&server).await;
    // A search that waits holds up nobody.
    let mut first = client.search(Search::new("o=test")).await.unwrap();
    first.next().await.unwrap().unwrap();
    assert_eq!(client.extended("1.3.6.1.4.1.1", Some(b"v")).await.unwrap().value.unwrap(), b"v");
    // Cancel (RFC 3909).
    let id = first.id();
    client.cancel(id).await.unwrap();
    first.next().await.unwrap().unwrap();
    assert_eq!(code(first.next().await), ResultCode::CANCELED);
    many.dropped.notified().await;
    assert_eq!(code(client.cancel(id).await), ResultCode::NO_SUCH_OPERATION);
    // Abandon.
    let mut second = client.search(Search::new("o=test")).await.unwrap();
    second.next().await.unwrap().unwrap();
    drop(second);
    many.dropped.notified().await;
    // As many as there may be.
    let mut waiting = Vec::new();
    for _ in 0..2 {
        let mut search = client.search(Search::new("o=test")).await.unwrap();
        search.next().await.unwrap().unwrap();
        waiting.push(search);
    }
    assert_eq!(code(client.search_all(Search::new("o=test")).await), ResultCode::BUSY);
    drop(waiting);
    many.dropped.notified().await;
    // A bind ends all before it.
    let mut stream = TcpStream::connect(server.address()).unwrap();
    stream.write_all(SEARCH).unwrap();
    let stream = tokio::task::spawn_blocking(move || {
        let mut begin = [0; 1];
        stream.read_exact(&mut begin).unwrap();
        stream
    });
    let mut stream = stream.await.unwrap();
    stream.write_all(b"\x30\x13\x02\x01\x02\x60\x0E\x02\x01\x03\x04\x01x\x80\x06secret").unwrap();
    many.dropped.notified().await;
    // A client that goes.
    let mut last = client.search(Search::new("o=test")).await.unwrap();
    last.next().await.unwrap().unwrap();
    client.close();
    many.dropped.notified().await;
}

#[tokio::test]
async fn a_client_that_does_not_read_is_waited_for() {
    let many = Many { count: 3000, size: 10_000, ..Many::default() };
    let server = listen(Server::new(many.clone())).await;
    let mut slow = TcpStream::connect(server.address()).unwrap();
    slow.write_all(SEARCH).unwrap();
    let mut begin = [0; 1];
    let mut slow = tokio::task::spawn_blocking(move || {
        slow.read_exact(&mut begin).unwrap();
        slow
    })
    .await
    .unwrap();
    // Some 30 MB are not written for it: the handler is somewhere in the middle, and others are served.
    let client = client(&server).await;
    let found = client.search_all(Search::new("o=test").filter("(uid=u5)").unwrap()).await.unwrap().0;
    assert_eq!(found.len(), 1);
    many.sent.notified().await;
    assert!(tokio::time::timeout(Duration::from_millis(1), many.sent.notified()).await.is_err());
    let read = tokio::task::spawn_blocking(move || {
        let (mut octets, mut total) = (vec![0; 1 << 20], 1);
        while total < 3000 * 10_000 {
            let count = slow.read(&mut octets).unwrap();
            assert!(count > 0, "the server closes the connection after {total} bytes");
            total += count;
        }
        // The rest fits the buffers of the connection, which stays open.
        slow
    });
    many.sent.notified().await;
    drop(read.await.unwrap());
}

#[tokio::test]
async fn connections_end_in_good_order() {
    let server = listen(Server::new(Many::default())).await;
    let mut garbage = TcpStream::connect(server.address()).unwrap();
    garbage.write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
    let text = |mut stream: TcpStream| async {
        tokio::task::spawn_blocking(move || {
            let mut octets = Vec::new();
            stream.read_to_end(&mut octets).unwrap();
            String::from_utf8_lossy(&octets).into_owned()
        })
        .await
        .unwrap()
    };
    let notice = text(garbage).await;
    assert!(notice.contains("1.3.6.1.4.1.1466.20036"), "{notice}");
    // A request that runs may end, and clients are told.
    let slow = Slow::default();
    let server = listen(Server::new(slow.clone())).await;
    let running = client(&server).await;
    let search = tokio::spawn(async move { running.search_all(Search::new("o=test")).await });
    slow.begun.notified().await;
    let idle = TcpStream::connect(server.address()).unwrap();
    // Connections are taken one after another: the idle one is there when a later one is answered.
    client(&server).await.bind("", "").await.unwrap();
    let stopping = tokio::spawn(server.shutdown(LIMIT));
    let notice = text(idle).await;
    assert!(notice.contains("1.3.6.1.4.1.1466.20036"), "{notice}");
    slow.goes_on.notify_one();
    assert_eq!(search.await.unwrap().unwrap().0.len(), 1);
    assert!(stopping.await.unwrap());
}

/// Waits in the middle of a search, and for ever in a deletion.
#[derive(Clone, Default)]
struct Slow {
    begun: Arc<Notify>,
    goes_on: Arc<Notify>,
}

impl Handler for Slow {
    async fn search(&self, _: &Context, _: Asked<'_>, out: &mut Entries) -> Answer {
        self.begun.notify_one();
        self.goes_on.notified().await;
        _ = out.entry(&user(1, 1)).await;
        Answer::success()
    }

    async fn delete(&self, _: &Context, _: Delete<'_>) -> Answer {
        self.begun.notify_one();
        std::future::pending().await
    }
}

#[tokio::test]
async fn connections_are_encrypted_on_request() {
    let certificates = Certificates::new("localhost", false);
    let server = Server::new(Many { count: 1, ..Many::default() }).layer(RequireTls);
    let server = listen(server.tls(&certificates.certificate, &certificates.key).unwrap()).await;
    let url = format!("ldap://localhost:{}", server.address().port());
    let plain = Client::connect(&server.url()).await.unwrap();
    assert_eq!(code(plain.search_all(Search::new("o=test")).await), ResultCode::CONFIDENTIALITY_REQUIRED);
    let mut config = Config::new(&url).unwrap();
    config.tls.roots = TrustedRoots::Pem(certificates.ca.clone());
    config.start_tls = StartTls::Required;
    let encrypted = Client::connect_with(&config).await.unwrap();
    assert_eq!(encrypted.search_all(Search::new("o=test")).await.unwrap().0.len(), 1);
    assert!(Server::new(Nothing).tls(b"", b"").is_err());
    assert!(Server::new(Nothing).listen_tls("127.0.0.1:0").await.is_err());
    // Without a certificate there is none.
    let server = listen(Server::new(Nothing)).await;
    let client = client(&server).await;
    assert_eq!(code(client.start_tls().await), ResultCode::UNAVAILABLE);
}

fn people() -> Directory {
    let directory = Directory::new().with_root("cn=admin,o=test", "secret");
    directory.load(&*common::people(3)).unwrap();
    directory
}

fn change(kind: ModificationKind, attribute: &str, values: &[&str]) -> RecordModification {
    let values = values.iter().map(|value| value.as_bytes().to_vec()).collect();
    RecordModification { kind, attribute: attribute.to_owned(), values }
}

#[tokio::test]
async fn the_directory_is_a_handler() {
    let directory = people();
    let server = listen(Server::new(directory.clone())).await;
    let client = client(&server).await;
    client.bind("cn=admin,o=test", "secret").await.unwrap();
    assert_eq!(client.who_am_i().await.unwrap(), "dn:cn=admin,o=test");
    client.add("uid=new,o=test", &[("objectClass", &["account"][..]), ("uid", &["new"])]).await.unwrap();
    client.modify("uid=new,o=test", &[change(ModificationKind::Add, "l", &["here"])]).await.unwrap();
    assert!(client.compare("uid=new,o=test", "l", b"HERE").await.unwrap());
    client.modify_dn("uid=new,o=test", "uid=newer", true, None).await.unwrap();
    let filter: tercet_ldap::Filter<'static> = "(l=there)".parse().unwrap();
    assert_eq!(
        code(client.with(&[&Assertion(filter)]).delete("uid=newer,o=test").await),
        ResultCode::ASSERTION_FAILED
    );
    let (found, result) = client.search_all(Search::new("o=test").page_size(2)).await.unwrap();
    assert_eq!((found.len(), result.code), (7, ResultCode::SUCCESS));
    client.delete("uid=newer,o=test").await.unwrap();
    assert_eq!(code(client.delete("uid=newer,o=test").await), ResultCode::NO_SUCH_OBJECT);
    let (root, _) = client.search_all(Search::new("").scope(Scope::Base)).await.unwrap();
    assert_eq!(root[0].text("namingContexts"), Some("o=test"));
    // Another connection is anonymous, and may not write.
    let other = Client::connect(&server.url()).await.unwrap();
    assert_eq!(code(other.delete("uid=ada,o=test").await), ResultCode::INSUFFICIENT_ACCESS_RIGHTS);
    assert_eq!(directory.len(), 6);
}

#[tokio::test]
async fn layers_see_requests_in_their_order() {
    let log = Arc::new(Mutex::new(Vec::new()));
    struct Shared(Arc<Mutex<Vec<u8>>>);
    impl std::io::Write for Shared {
        fn write(&mut self, octets: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().write(octets)
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let metrics = Metrics::new();
    let seen = Accumulate::new(people());
    let server = Server::new(seen.clone())
        .layer(AccessLog::new(Shared(Arc::clone(&log))))
        .layer(metrics.clone())
        .layer(ReadOnly)
        .layer(RequireBind)
        .layer(MapDn::new("dc=example".parse().unwrap(), "o=test".parse().unwrap()))
        .layer(Attributes::new().hide("mail").rename("sn", "surname"))
        .layer(Transform::new(|entry| (entry.dn() != "uid=local,o=test").then_some(entry)))
        .layer(RateLimit::new(NonZeroU32::new(100_000).unwrap()))
        .layer(ConcurrencyLimit::new(1))
        .layer(Timeout(LIMIT));
    let server = listen(server).await;
    let client = client(&server).await;
    assert_eq!(code(client.delete("uid=ada,dc=example").await), ResultCode::UNWILLING_TO_PERFORM);
    let search = || Search::new("dc=example").filter("(mail=ada@example.net)").unwrap();
    assert_eq!(code(client.search_all(search()).await), ResultCode::INSUFFICIENT_ACCESS_RIGHTS);
    client.bind("uid=ada,dc=example", "engine").await.unwrap();
    assert_eq!(client.who_am_i().await.unwrap(), "dn:uid=ada,dc=example");
    let (found, _) = client.search_all(search()).await.unwrap();
    assert_eq!(found[0].dn(), "uid=ada,dc=example");
    assert_eq!(found[0].text("surname"), Some("Lovelace"));
    assert_eq!((found[0].text("sn"), found[0].text("mail")), (None, None));
    let (all, _) = client.search_all(Search::new("dc=example")).await.unwrap();
    assert_eq!(all.len(), 5);
    let seen: Vec<_> =
        seen.take().into_iter().map(|one| (one.operation, one.dn.unwrap(), one.code.0)).collect();
    let of_test = |name: &str| name.to_owned();
    assert_eq!(
        seen,
        [
            ("bind", of_test("uid=ada,o=test"), 0),
            ("search", of_test("o=test"), 0),
            ("search", of_test("o=test"), 0)
        ]
    );
    let log = String::from_utf8(log.lock().unwrap().clone()).unwrap();
    let lines: Vec<&str> = log.lines().collect();
    assert_eq!(lines.len(), 5, "{log}");
    assert!(lines[0].contains(r#""op":"delete","target":"uid=ada,dc=example","code":53"#), "{log}");
    assert!(
        lines[4].contains(r#""code":0,"entries":5"#) && lines[4].contains(r#""dn":"uid=ada,dc=example""#),
        "{log}"
    );
    let text = metrics.text();
    assert!(text.contains("tercet_ldap_operations_total{op=\"search\",code=\"0\"} 2\n"), "{text}");
    assert!(text.contains("tercet_ldap_operations_total{op=\"search\",code=\"50\"} 1\n"), "{text}");
}

#[tokio::test]
async fn faults_are_made_for_tests_of_clients() {
    let server = Server::new(people())
        .layer(Fault::new().code(ResultCode::BUSY).only("compare"))
        .layer(Fault::new().hang().only("delete"))
        .layer(Timeout(LIMIT));
    let server = listen(server).await;
    let client = client(&server).await;
    assert_eq!(code(client.compare("uid=ada,o=test", "sn", b"x").await), ResultCode::BUSY);
    assert_eq!(client.search_all(Search::new("o=test")).await.unwrap().0.len(), 6);
    let hanging = client.with_timeout(Some(Duration::from_millis(50))).delete("uid=ada,o=test").await;
    assert_eq!(hanging.unwrap_err().kind(), ErrorKind::Timeout);
    let server = listen(Server::new(people()).layer(Fault::new().close().only("compare"))).await;
    let client = Client::connect(&server.url()).await.unwrap();
    let ended = client.compare("uid=ada,o=test", "sn", b"x").await.unwrap_err();
    assert_eq!(ended.kind(), ErrorKind::Closed);
    let server = Server::new(people()).layer(Timeout(Duration::from_millis(50))).layer(Fault::new().hang());
    let server = listen(server).await;
    let client = Client::connect(&server.url()).await.unwrap();
    assert_eq!(code(client.search_all(Search::new("o=test")).await), ResultCode::TIME_LIMIT_EXCEEDED);
}

/// Keeps what a server receives and sends, by the identifier octets of operations.
#[derive(Clone, Default)]
struct Seen(Arc<Mutex<Vec<String>>>);

impl Seen {
    fn push(&self, from: char, message: &[u8]) {
        let header = if message[1] & 0x80 == 0 { 2 } else { 2 + usize::from(message[1] & 0x7F) };
        let operation = message[header + 2 + usize::from(message[header + 1])];
        self.0.lock().unwrap().push(format!("{from}{operation:02X}"));
    }
}

impl Watch for Seen {
    fn received(&self, _: &Context, message: &[u8]) {
        self.push('>', message);
    }

    fn sent(&self, _: &Context, message: &[u8]) {
        self.push('<', message);
    }
}

#[tokio::test]
async fn all_messages_are_seen() {
    for inner in [AnyHandler::new(people()), AnyHandler::new(Many { count: 2, ..Many::default() })] {
        let seen = Seen::default();
        let server = listen(Server::new(inner).watch(seen.clone())).await;
        let client = Client::connect(&server.url()).await.unwrap();
        client.bind("", "").await.ok();
        client.search_all(Search::new("o=test").filter("(uid=*)").unwrap().size_limit(2)).await.ok();
        client.who_am_i().await.unwrap();
        client.close();
        server.shutdown(LIMIT).await;
        let seen = seen.0.lock().unwrap();
        assert_eq!(
            seen.get(..8).unwrap(),
            [">60", "<61", ">63", "<64", "<64", "<65", ">77", "<78"],
            "{seen:?}"
        );
        // Then the client takes its leave, or the server does.
        assert!(seen[8..].iter().all(|one| matches!(&**one, ">42" | "<78")), "{seen:?}");
    }
}

#[tokio::test]
async fn the_longest_base_decides() {
    let rules = r#"{"op":"search","dn":"ou=canned,o=test","entries":[{"dn":"ou=canned,o=test","objectClass":"organizationalUnit","ou":["canned"]}]}

        {"op":"bind","code":49,"message":"not here"}
        {"code":51}"#;
    let canned = Canned::read(rules.as_bytes()).unwrap();
    let router = Router::new().route("o=test", people()).unwrap().route("ou=canned,o=test", canned).unwrap();
    let server = listen(Server::new(router)).await;
    let client = client(&server).await;
    client.bind("", "").await.unwrap();
    client.bind("uid=ada,o=test", "engine").await.unwrap();
    let error = client.bind("uid=x,ou=canned,o=test", "engine").await.unwrap_err();
    assert_eq!(error.result().unwrap().message, "not here");
    assert_eq!(code(client.delete("uid=x,ou=canned,o=test").await), ResultCode::BUSY);
    assert_eq!(code(client.delete("o=other").await), ResultCode::NO_SUCH_OBJECT);
    // A search of all is answered by both.
    let names =
        |found: Vec<tercet_ldap::Entry>| found.iter().map(|one| one.dn().to_owned()).collect::<Vec<_>>();
    let all = names(client.search_all(Search::new("o=test")).await.unwrap().0);
    assert_eq!((all.len(), all[6].as_str()), (7, "ou=canned,o=test"));
    let one = names(client.search_all(Search::new("o=test").scope(Scope::One)).await.unwrap().0);
    assert_eq!((one.len(), one[5].as_str()), (6, "ou=canned,o=test"));
    let below = names(client.search_all(Search::new("ou=canned,o=test")).await.unwrap().0);
    assert_eq!(below, ["ou=canned,o=test"]);
    for (wrong, message) in [
        ("{}\nx", "line 2"),
        (r#"{"code":-1}"#, "not a result code"),
        (r#"{"entries":[{}]}"#, "without `dn`"),
        (r#"{"what":1}"#, "`what`"),
    ] {
        let error = Canned::read(wrong.as_bytes()).unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
    }
}

/// A directory with two users, `ada` with the right to see more, and the account of a proxy.
async fn upstream() -> (Directory, tercet_ldap::directory::Server) {
    let directory = people();
    let server = directory.listen("127.0.0.1:0").await.unwrap();
    (directory, server)
}

#[tokio::test]
async fn a_proxy_asks_with_the_rights_of_its_clients() {
    let (directory, server) = upstream().await;
    let proxy = listen(Server::new(Proxy::new(&Config::new(&server.url()).unwrap()))).await;
    let admin = client(&proxy).await;
    admin.bind("cn=admin,o=test", "secret").await.unwrap();
    admin.modify("uid=ada,o=test", &[change(ModificationKind::Replace, "sn", &["King"])]).await.unwrap();
    assert!(admin.compare("uid=ada,o=test", "sn", b"king").await.unwrap());
    let nobody = client(&proxy).await;
    assert_eq!(code(nobody.delete("uid=ada,o=test").await), ResultCode::INSUFFICIENT_ACCESS_RIGHTS);
    assert_eq!(nobody.search_all(Search::new("o=test")).await.unwrap().0.len(), 6);
    assert_eq!(code(nobody.bind("cn=admin,o=test", "wrong").await), ResultCode::INVALID_CREDENTIALS);
    assert_eq!(code(nobody.delete("uid=ada,o=test").await), ResultCode::INSUFFICIENT_ACCESS_RIGHTS);
    // The rights of the proxy's account, for all.
    let (dn, password) = ("cn=admin,o=test".to_owned(), "secret".to_owned());
    let account =
        Proxy::new(&Config::new(&server.url()).unwrap()).identity(Identity::Account { dn, password });
    let proxy = listen(Server::new(account).layer(AccessLog::new(std::io::sink()))).await;
    let nobody = client(&proxy).await;
    nobody.delete("uid=p00000,o=test").await.unwrap();
    assert_eq!(code(nobody.bind("uid=ada,o=test", "wrong").await), ResultCode::INVALID_CREDENTIALS);
    nobody.bind("uid=ada,o=test", "engine").await.unwrap();
    assert_eq!(nobody.who_am_i().await.unwrap(), "dn:uid=ada,o=test");
    assert_eq!(directory.len(), 5);
}

/// The control that goes with the requests of an account which acts for others.
#[tokio::test]
async fn a_proxy_acts_for_its_clients() {
    let seen = Accumulate::new(Many { count: 1, ..Many::default() });
    struct Any(Accumulate);
    impl Handler for Any {
        async fn handle(
            &self,
            cx: &Context,
            request: tercet_ldap::server::Request<'_>,
            out: &mut Entries,
        ) -> Answer {
            self.0.handle(cx, request, out).await
        }
        fn supported_controls(&self) -> Vec<String> {
            vec!["2.16.840.1.113730.3.4.18".to_owned()]
        }
    }
    let server = listen(Server::new(Any(seen.clone()))).await;
    let (dn, password) = ("cn=proxy".to_owned(), "secret".to_owned());
    let proxy = Proxy::new(&Config::new(&server.url()).unwrap()).identity(Identity::Proxied { dn, password });
    let proxy = listen(Server::new(proxy)).await;
    let client = client(&proxy).await;
    assert_eq!(client.search_all(Search::new("o=test")).await.unwrap().0.len(), 1);
    client.bind("uid=ada,o=test", "secret").await.unwrap();
    assert_eq!(client.search_all(Search::new("o=test")).await.unwrap().0.len(), 1);
    let messages: Vec<_> = seen.take().into_iter().filter(|one| one.operation == "search").collect();
    let text = |at: usize| String::from_utf8_lossy(&messages[at].message).into_owned();
    assert_eq!(messages.len(), 2);
    assert!(text(0).contains("2.16.840.1.113730.3.4.18") && !text(0).contains("dn:"), "{}", text(0));
    assert!(text(1).contains("dn:uid=ada,o=test"), "{}", text(1));
}

/// Answers once, and closes its connections at the second request of each.
#[tokio::test]
async fn reads_go_to_another_server_when_one_ends() {
    for balance in [Balance::First, Balance::RoundRobin, Balance::Fewest, Balance::Fastest] {
        let (_first, first) = upstream().await;
        let (second, other) = upstream().await;
        let mut config = Config::new(&format!("{} {}", first.url(), other.url())).unwrap();
        config.connect_timeout = LIMIT;
        let proxy = listen(Server::new(Proxy::new(&config).balance(balance))).await;
        let client = client(&proxy).await;
        client.bind("cn=admin,o=test", "secret").await.unwrap();
        assert_eq!(client.search_all(Search::new("o=test")).await.unwrap().0.len(), 6, "{balance:?}");
        drop(first);
        assert_eq!(client.search_all(Search::new("o=test")).await.unwrap().0.len(), 6, "{balance:?}");
        assert!(client.compare("uid=ada,o=test", "sn", b"Lovelace").await.unwrap(), "{balance:?}");
        client.delete("uid=ada,o=test").await.unwrap();
        assert_eq!(second.len(), 5, "{balance:?}");
        drop(other);
        assert_eq!(code(client.search_all(Search::new("o=test")).await), ResultCode::UNAVAILABLE);
    }
}

/// A change may have been made when the connection ends: it is not sent again.
#[tokio::test]
async fn changes_are_not_sent_twice() {
    let slow = Slow::default();
    let server = listen(Server::new(slow.clone())).await;
    let proxy = listen(Server::new(Proxy::new(&Config::new(&server.url()).unwrap()))).await;
    let client = client(&proxy).await;
    let delete = tokio::spawn(async move { client.delete("o=test").await });
    slow.begun.notified().await;
    drop(server);
    let error = delete.await.unwrap().unwrap_err();
    let result = error.result().unwrap();
    assert_eq!(result.code, ResultCode::UNAVAILABLE);
    assert!(result.message.contains("may have been made"), "{error}");
}

/// All requests reach the methods of their operation.
#[tokio::test]
async fn each_operation_has_its_method() {
    #[derive(Clone, Default)]
    struct All(Arc<Mutex<Vec<String>>>);
    impl All {
        fn note(&self, text: String) -> Answer {
            self.0.lock().unwrap().push(text);
            Answer::success()
        }
    }
    impl Handler for All {
        async fn add(&self, _: &Context, request: Add<'_>) -> Answer {
            self.note(format!("add {} {:?}", request.dn, request.entry().values("o").next()))
        }
        async fn modify(&self, _: &Context, request: Modify<'_>) -> Answer {
            let changes = request.modifications().unwrap();
            self.note(format!("modify {} {} {:?}", request.dn, changes.len(), changes[0].kind))
        }
        async fn delete(&self, cx: &Context, request: Delete<'_>) -> Answer {
            self.note(format!("delete {} {}", request.dn, cx.connection()))
        }
        async fn rename(&self, _: &Context, request: Rename<'_>) -> Answer {
            self.note(format!("rename {} {} {:?}", request.dn, request.new_rdn, request.new_superior))
        }
        async fn connected(&self, cx: &Context) {
            self.note(format!("connected {}", cx.connection()));
        }
    }
    let all = All::default();
    let server = listen(Server::new(all.clone())).await;
    let client = client(&server).await;
    client.add("o=test", &[("o", &["test"][..])]).await.unwrap();
    client.modify("o=test", &[change(ModificationKind::Increment, "n", &["1"])]).await.unwrap();
    client.modify_dn("o=test", "o=other", false, Some("c=de")).await.unwrap();
    client.delete("o=test").await.unwrap();
    assert_eq!(
        *all.0.lock().unwrap(),
        [
            "connected 1",
            "add o=test Some([116, 101, 115, 116])",
            "modify o=test 1 Increment",
            "rename o=test o=other Some(\"c=de\")",
            "delete o=test 1"
        ]
    );
}
