//! The proxy: what clients see through it, which server they get, and what layers do.

mod common;

use std::sync::{Arc, Mutex};

use common::{ROOT, SECRET, people};
use tercet_ldap::directory::{Directory, Server};
use tercet_ldap::extended::PasswordModify;
use tercet_ldap::ldif::{ModificationKind, RecordModification};
use tercet_ldap::proto::{Limits, decode};
use tercet_ldap::proxy::{Balance, Context, Flow, Layer, MapNames, Proxy, ReadOnly};
use tercet_ldap::{Client, Config, ResultCode, Scope, Search};

fn code(result: tercet_ldap::Result<impl Sized>) -> ResultCode {
    result.err().map_or(ResultCode::SUCCESS, |error| error.result().unwrap_or_else(|| panic!("{error}")).code)
}

async fn directory(count: usize) -> Server {
    let directory = Directory::new().with_root(ROOT, SECRET);
    directory.load(people(count).as_slice()).unwrap();
    directory.listen("127.0.0.1:0").await.unwrap()
}

fn proxy(servers: &[&Server]) -> Proxy {
    let urls: Vec<String> = servers.iter().map(|server| server.url()).collect();
    Proxy::new(Config::new(&urls.join(" ")).unwrap())
}

async fn count(client: &Client) -> usize {
    client.search_all(Search::new("o=test").page_size(100)).await.unwrap().0.len()
}

/// Who sent a message, on which connection, and the message.
type Sent = (&'static str, u64, Vec<u8>);

/// Keeps the messages that it sees.
#[derive(Clone, Default)]
struct Seen(Arc<Mutex<Vec<Sent>>>);

impl Layer for Seen {
    fn request(&self, context: &Context, message: &[u8]) -> Flow {
        self.0.lock().unwrap().push(("client", context.connection, message.to_vec()));
        Flow::Pass
    }

    fn response(&self, context: &Context, message: &[u8]) -> Flow {
        self.0.lock().unwrap().push(("server", context.connection, message.to_vec()));
        Flow::Pass
    }
}

#[tokio::test]
async fn messages_pass_and_layers_see_each_of_them() {
    let server = directory(500).await;
    let seen = Seen::default();
    let through = proxy(&[&server]).layer(seen.clone()).layer(ReadOnly).listen("127.0.0.1:0").await.unwrap();
    let client = Client::connect(&through.url()).await.unwrap();
    client.bind(ROOT, SECRET).await.unwrap();
    assert_eq!(count(&client).await, 503);
    assert_eq!(client.who_am_i().await.unwrap(), format!("dn:{ROOT}"));
    let change = RecordModification {
        kind: ModificationKind::Replace,
        attribute: "sn".to_owned(),
        values: vec![b"x".to_vec()],
    };
    assert_eq!(code(client.modify("uid=ada,o=test", &[change]).await), ResultCode::UNWILLING_TO_PERFORM);
    assert_eq!(code(client.delete("uid=ada,o=test").await), ResultCode::UNWILLING_TO_PERFORM);
    // Entries that come together are messages of their own, and what a layer answers is seen by those before it.
    let seen = seen.0.lock().unwrap().clone();
    let entries = seen.iter().filter(|(from, _, octets)| {
        decode(octets, &Limits::default()).unwrap();
        *from == "server" && octets.windows(2).any(|pair| pair[0] == 0x64) && octets.len() > 40
    });
    assert!(entries.count() >= 503);
    let answers = seen.iter().filter(|(from, ..)| *from == "server").count();
    let requests = seen.iter().filter(|(from, ..)| *from == "client").count();
    // A bind, six pages, one question and two changes have an answer each.
    assert_eq!((answers, requests), (503 + 10, 10));
}

#[tokio::test]
async fn servers_are_chosen() {
    let (small, large) = (directory(1).await, directory(2).await);
    let (one, two) = (4, 5);
    for (balance, expected) in [
        (Balance::First, [one, one, one, one]),
        (Balance::RoundRobin, [one, two, one, two]),
        (Balance::Fewest, [one, two, one, two]),
    ] {
        let through = proxy(&[&small, &large]).balance(balance).listen("127.0.0.1:0").await.unwrap();
        let (mut clients, mut found) = (Vec::new(), Vec::new());
        for _ in 0..4 {
            let client = Client::connect(&through.url()).await.unwrap();
            found.push(count(&client).await);
            clients.push(client);
        }
        assert_eq!(found, expected, "{balance:?}");
    }
    let through = proxy(&[&small, &large]).balance(Balance::Fastest).listen("127.0.0.1:0").await.unwrap();
    let client = Client::connect(&through.url()).await.unwrap();
    assert!([one, two].contains(&count(&client).await));

    // One that cannot be reached is passed over; without any, clients are told.
    let gone = small.url();
    drop(small);
    for balance in [Balance::First, Balance::RoundRobin, Balance::Fewest, Balance::Fastest] {
        let config = Config::new(&format!("{gone} {}", large.url())).unwrap();
        let through = Proxy::new(config).balance(balance).listen("127.0.0.1:0").await.unwrap();
        let client = Client::connect(&through.url()).await.unwrap();
        assert_eq!(count(&client).await, two, "{balance:?}");
    }
    let through = Proxy::new(Config::new(&gone).unwrap()).listen("127.0.0.1:0").await.unwrap();
    let client = Client::connect(&through.url()).await.unwrap();
    let error = client.search_all(Search::new("o=test")).await.unwrap_err();
    assert!(error.to_string().contains("refused") || error.result().is_some(), "{error}");
    assert!(Proxy::new(Config::for_urls(Vec::new())).listen("127.0.0.1:0").await.is_err());
}

#[tokio::test]
async fn names_are_mapped() {
    let server = directory(1).await;
    let names = || MapNames::new("dc=example,dc=net".parse().unwrap(), "O=Test".parse().unwrap());
    let through = proxy(&[&server]).layer(names()).listen("127.0.0.1:0").await.unwrap();
    let client = Client::connect(&through.url()).await.unwrap();
    client.bind("DC=example, dc=net", SECRET).await.unwrap();
    assert_eq!(client.who_am_i().await.unwrap(), "dn:dc=example,dc=net");
    let ada = "uid=ada,dc=example,dc=net";
    client
        .add(
            "cn=group,dc=example,dc=net",
            &[("objectClass", &["groupOfNames"]), ("cn", &["group"]), ("member", &[ada])],
        )
        .await
        .unwrap();
    let search = Search::new("dc=example,dc=net").filter(&format!("(&(member={ada})(cn=group))")).unwrap();
    let (found, _) = client.search_all(search).await.unwrap();
    assert_eq!((found[0].dn(), found[0].text("member")), ("cn=group,dc=example,dc=net", Some(ada)));
    assert!(client.compare("cn=group,dc=example,dc=net", "member", ada.as_bytes()).await.unwrap());
    let change = PasswordModify { user: Some(ada.into()), old: None, new: Some(b"new".to_vec()) };
    client.modify_password(&change).await.unwrap();
    Client::connect(&through.url()).await.unwrap().bind(ada, "new").await.unwrap();
    client.modify_dn(ada, "uid=lovelace", true, Some("dc=example,dc=net")).await.unwrap();
    let missing = Search::new("cn=no,dc=example,dc=net").scope(Scope::Base);
    let error = client.search_all(missing).await.unwrap_err();
    assert_eq!(error.result().unwrap().matched_dn, "dc=example,dc=net");

    let direct = Client::connect(&server.url()).await.unwrap();
    let (found, _) = direct.search_all(Search::new("cn=group,o=test")).await.unwrap();
    assert_eq!(found[0].text("member"), Some("uid=ada,O=Test"));
    assert_eq!(count(&direct).await, 5);
}

#[tokio::test]
async fn requests_go_out_by_an_account_of_the_proxy() {
    let server = directory(0).await;
    let through = proxy(&[&server]).account(ROOT, SECRET).listen("127.0.0.1:0").await.unwrap();
    let client = Client::connect(&through.url()).await.unwrap();
    assert_eq!(client.who_am_i().await.unwrap(), format!("dn:{ROOT}"));
    assert_eq!(code(client.bind("uid=ada,o=test", "wrong").await), ResultCode::INVALID_CREDENTIALS);
    client.bind("uid=ada,o=test", "engine").await.unwrap();
    client.delete("uid=local,o=test").await.unwrap();
    let through = proxy(&[&server]).account(ROOT, "wrong").listen("127.0.0.1:0").await.unwrap();
    let client = Client::connect(&through.url()).await.unwrap();
    assert_eq!(code(client.who_am_i().await), ResultCode::UNAVAILABLE);
}

#[tokio::test]
async fn clients_without_a_server_are_answered() {
    let server = directory(0).await;
    let failures: Arc<Mutex<Vec<String>>> = Arc::default();
    let (seen, layer) = (Arc::clone(&failures), Seen::default());
    let fails = move |error: &tercet_ldap::Error| seen.lock().unwrap().push(error.to_string());
    let dead = Proxy::new(Config::new("ldap://127.0.0.1:1").unwrap());
    let through = dead.layer(layer.clone()).on_failure(fails.clone()).listen("127.0.0.1:0").await.unwrap();
    for _ in 0..2 {
        let client = Client::connect(&through.url()).await.unwrap();
        let error = client.bind(ROOT, SECRET).await.unwrap_err();
        let result = error.result().unwrap();
        assert_eq!(
            (result.code, &*result.message),
            (ResultCode::UNAVAILABLE, "the proxy cannot reach a server")
        );
        let client = Client::connect(&through.url()).await.unwrap();
        assert_eq!(code(client.search_all(Search::new("o=test")).await), ResultCode::UNAVAILABLE);
    }
    assert_eq!(failures.lock().unwrap().len(), 4);
    assert!(failures.lock().unwrap()[0].contains("127.0.0.1:1"), "{failures:?}");
    // Layers see requests and answers.
    assert_eq!(layer.0.lock().unwrap().iter().filter(|(from, ..)| *from == "server").count(), 4);

    let through =
        proxy(&[&server]).account(ROOT, "wrong").on_failure(fails).listen("127.0.0.1:0").await.unwrap();
    let client = Client::connect(&through.url()).await.unwrap();
    let error = client.who_am_i().await.unwrap_err();
    assert_eq!(error.result().unwrap().message, "the server refuses the account of the proxy");
    assert!(failures.lock().unwrap()[4].contains("Invalid credentials (49)"), "{failures:?}");
}

/// A layer that ends connections.
struct Closes;

impl Layer for Closes {
    fn request(&self, _: &Context, _: &[u8]) -> Flow {
        Flow::Close
    }
}

#[tokio::test]
async fn connections_end_by_layers_by_servers_and_by_garbage() {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    let server = directory(0).await;
    let through = proxy(&[&server]).layer(Closes).listen("127.0.0.1:0").await.unwrap();
    let client = Client::connect(&through.url()).await.unwrap();
    assert!(client.who_am_i().await.is_err());

    let through = proxy(&[&server]).listen("127.0.0.1:0").await.unwrap();
    let mut stream = tokio::net::TcpStream::connect(through.address().unwrap()).await.unwrap();
    stream.write_all(b"GET / HTTP/1.1\r\n\r\n").await.unwrap();
    let mut notice = Vec::new();
    stream.read_to_end(&mut notice).await.unwrap();
    assert!(notice.windows(22).any(|part| part == b"1.3.6.1.4.1.1466.20036"), "{notice:02x?}");

    let client = Client::connect(&through.url()).await.unwrap();
    assert_eq!(count(&client).await, 3);
    drop(server);
    let error = client.search_all(Search::new("o=test")).await.unwrap_err();
    assert!(error.to_string().contains("closed") || error.result().is_some(), "{error}");
}
