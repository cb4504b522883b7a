//! Every operation, against a real slapd and against the directory in memory.

mod common;

use std::io::Read as _;
use std::net::{IpAddr, TcpListener, UdpSocket};
use std::thread::JoinHandle;
use std::time::Duration;

use common::{ROOT, SECRET, Slapd, people};
use tercet_ldap::controls::{
    Assertion, Dereference, Dereferenced, MatchedValues, PagedResults, PostRead, PostReadEntry, PreRead,
    PreReadEntry, ProxiedAuthorization, SessionTracking, Sort, SortResult, Sync, Transaction,
};
use tercet_ldap::directory::Directory;
use tercet_ldap::extended::PasswordModify;
use tercet_ldap::ldif::{ModificationKind, RecordModification};
use tercet_ldap::sasl::Plain;
use tercet_ldap::{Client, Config, ErrorKind, ResultCode, Scope, Search};

fn change(kind: ModificationKind, attribute: &str, values: &[&str]) -> RecordModification {
    let values = values.iter().map(|value| value.as_bytes().to_vec()).collect();
    RecordModification { kind, attribute: attribute.to_owned(), values }
}

fn code(error: &tercet_ldap::Error) -> ResultCode {
    error.result().unwrap_or_else(|| panic!("{error:?}")).code
}

/// What both servers do, by one client.
async fn suite(url: &str) {
    let client = Client::connect(url).await.unwrap();
    assert_eq!(client.who_am_i().await.unwrap(), "");
    assert_eq!(code(&client.bind(ROOT, "wrong").await.unwrap_err()), ResultCode::INVALID_CREDENTIALS);
    assert_eq!(client.bind(ROOT, "").await.unwrap_err().kind(), ErrorKind::Usage);
    client.bind(ROOT, SECRET).await.unwrap();
    assert_eq!(client.who_am_i().await.unwrap(), "dn:o=test");

    // Add, compare, modify, increment, rename, delete.
    let dn = "uid=new,o=test";
    let values: &[(&str, &[&str])] =
        &[("objectClass", &["inetOrgPerson"]), ("uid", &["new"]), ("cn", &["New"]), ("sn", &["One"])];
    client.add(dn, values).await.unwrap();
    assert_eq!(code(&client.add(dn, values).await.unwrap_err()), ResultCode::ENTRY_ALREADY_EXISTS);
    assert!(client.compare(dn, "cn", b"NEW").await.unwrap());
    assert!(!client.compare(dn, "cn", b"old").await.unwrap());
    let asked = client.with(&[&PreRead(vec!["sn".to_owned()]), &PostRead(vec!["sn".to_owned()])]);
    let result = asked.modify(dn, &[change(ModificationKind::Replace, "sn", &["Two"])]).await.unwrap();
    let before = result.control::<PreReadEntry>().unwrap().unwrap().0;
    let after = result.control::<PostReadEntry>().unwrap().unwrap().0;
    assert_eq!(before.attributes, [("sn".to_owned(), vec![b"One".to_vec()])]);
    assert_eq!(after.attributes, [("sn".to_owned(), vec![b"Two".to_vec()])]);
    let refused = client.with(&[&Assertion("(sn=One)".parse().unwrap())]);
    let error = refused.modify(dn, &[change(ModificationKind::Delete, "sn", &[])]).await.unwrap_err();
    assert_eq!(code(&error), ResultCode::ASSERTION_FAILED);
    let changes = [
        change(ModificationKind::Add, "mail", &["a@b", "c@d"]),
        change(ModificationKind::Delete, "mail", &["A@B"]),
    ];
    client.modify(dn, &changes).await.unwrap();
    let number = [
        change(ModificationKind::Add, "objectClass", &["extensibleObject"]),
        change(ModificationKind::Add, "uidNumber", &["41"]),
    ];
    client.modify(dn, &number).await.unwrap();
    client.modify(dn, &[change(ModificationKind::Increment, "uidNumber", &["2"])]).await.unwrap();
    for wrong in [&["1", "5"][..], &[]] {
        let error = client.modify(dn, &[change(ModificationKind::Increment, "uidNumber", wrong)]).await;
        assert_eq!(error.unwrap_err().result().unwrap().code, ResultCode::PROTOCOL_ERROR);
    }
    assert!(client.compare(dn, "uidNumber", b"43").await.unwrap());
    client.modify_dn(dn, "uid=newer", true, None).await.unwrap();
    let (entries, _) = client.search_all(Search::new("uid=newer,o=test").scope(Scope::Base)).await.unwrap();
    assert_eq!(entries[0].values("mail").collect::<Vec<_>>(), [b"c@d"]);
    assert_eq!(entries[0].text("UID"), Some("newer"));
    let error = client.search_all(Search::new(dn)).await.unwrap_err();
    assert_eq!(
        (code(&error), error.result().unwrap().matched_dn.as_str()),
        (ResultCode::NO_SUCH_OBJECT, "o=test")
    );
    assert_eq!(code(&client.delete("o=test").await.unwrap_err()), ResultCode::NOT_ALLOWED_ON_NON_LEAF);
    client.delete("uid=newer,o=test").await.unwrap();

    // Search: attributes, types, limits, pages, order, values that match.
    let people = || Search::new("o=test").filter("(uid=p*)").unwrap();
    let (all, _) = client.search_all(people()).await.unwrap();
    assert_eq!(all.len(), 1000);
    let error = client.search_all(people().size_limit(10)).await.unwrap_err();
    assert_eq!(code(&error), ResultCode::SIZE_LIMIT_EXCEEDED);
    let (pages, result) = client.search_all(people().page_size(77)).await.unwrap();
    assert_eq!(pages.len(), 1000);
    assert!(result.control::<PagedResults>().unwrap().unwrap().cookie.is_empty());
    let key = "-sn:caseIgnoreOrderingMatch".parse().unwrap();
    let sort = Sort { keys: vec![key], critical: true };
    let (sorted, result) = client.search_all(people().control(&sort)).await.unwrap();
    assert_eq!(result.control::<SortResult>().unwrap().unwrap().code, ResultCode::SUCCESS);
    let names: Vec<&str> = sorted.iter().map(|entry| entry.text("sn").unwrap()).collect();
    assert!(names.is_sorted_by(|a, b| a >= b));
    let ada = || Search::new("uid=ada,o=test");
    let values = MatchedValues(vec!["(mail=countess*)".parse().unwrap()]);
    let (found, _) = client.search_all(ada().attributes(&["mail"]).control(&values)).await.unwrap();
    assert_eq!(found[0].values("mail").collect::<Vec<_>>(), [b"countess@example.net"]);
    let (found, _) = client.search_all(ada().types_only(true).attributes(&["cn", "mail"])).await.unwrap();
    assert_eq!(found[0].attributes().map(|attribute| attribute.values().count()).sum::<usize>(), 0);
    assert_eq!(found[0].attributes().count(), 2);
    let (found, _) = client.search_all(Search::new("").scope(Scope::Base).attributes(&["+"])).await.unwrap();
    assert_eq!(found[0].text("namingContexts"), Some("o=test"));

    // Passwords, and a critical control that nobody knows.
    let generated = client
        .modify_password(&PasswordModify {
            user: Some("uid=ada,o=test".to_owned()),
            ..PasswordModify::default()
        })
        .await
        .unwrap();
    let password = String::from_utf8(generated.unwrap()).unwrap();
    let other = Client::connect(url).await.unwrap();
    other.bind("uid=ada,o=test", &password).await.unwrap();
    let new = PasswordModify { user: None, old: Some(password.into_bytes()), new: Some(b"engine".to_vec()) };
    assert_eq!(other.modify_password(&new).await.unwrap(), None);
    other.bind("uid=ada,o=test", "engine").await.unwrap();
    let unknown = tercet_ldap::Control::new("1.2.3.4.5").with_criticality(true);
    let error = client.with(&[&unknown]).compare("o=test", "o", b"test").await.unwrap_err();
    assert_eq!(code(&error), ResultCode::UNAVAILABLE_CRITICAL_EXTENSION);

    // A thousand operations in flight on one connection.
    let mut tasks = Vec::new();
    for index in 0..1000 {
        let client = client.clone();
        tasks.push(tokio::spawn(async move {
            let search = Search::new("o=test").filter(&format!("(uid=p{index:05})")).unwrap();
            let (found, _) = client.search_all(search).await.unwrap();
            (found.len(), found[0].text("cn").unwrap() == format!("Person {index}"))
        }));
    }
    for task in tasks {
        assert_eq!(task.await.unwrap(), (1, true));
    }

    // What is dropped is abandoned, and the connection goes on.
    let mut entries = client.search(people()).await.unwrap();
    assert!(entries.next().await.unwrap().is_some());
    drop(entries);
    assert!(client.compare("o=test", "o", b"test").await.unwrap());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn slapd_does_all() {
    let Some(slapd) = Slapd::start(&people(1000)) else { return };
    suite(&slapd.url()).await;
}

#[tokio::test]
async fn the_directory_in_memory_does_all() {
    let directory = Directory::new().with_root(ROOT, SECRET);
    directory.load(people(1000).as_slice()).unwrap();
    let server = directory.listen("127.0.0.1:0").await.unwrap();
    suite(&server.url()).await;
}

/// Entries that others name, in one search.
#[tokio::test]
async fn slapd_follows_names() {
    let Some(slapd) = Slapd::start(&people(2)) else { return };
    let client = Client::connect(&slapd.url()).await.unwrap();
    client.bind(ROOT, SECRET).await.unwrap();
    let names = ["uid=ada,o=test", "uid=local,o=test"];
    client.modify("uid=p00001,o=test", &[change(ModificationKind::Add, "manager", &names)]).await.unwrap();
    let wanted = Dereference::default().with("manager", &["mail", "sn"]).with("seeAlso", &["cn"]);
    let search = Search::new("uid=p00001,o=test").attributes(&["cn"]);
    let tracked = SessionTracking { identifier: "ada".to_owned(), ..SessionTracking::default() };
    let (found, _) = client.search_all(search.control(&wanted).control(&tracked)).await.unwrap();
    let controls = found[0].controls().unwrap();
    let told = tercet_ldap::proto::control::find::<Dereferenced>(&controls).unwrap().unwrap().0;
    let told: Vec<_> =
        told.iter().map(|one| (one.attribute.as_str(), one.dn.as_str(), one.attributes.len())).collect();
    assert_eq!(told, [("manager", names[0], 2), ("manager", names[1], 1)]);
}

/// Nothing of a transaction is there before its end, and nothing of one that is given up afterwards.
#[tokio::test]
async fn slapd_does_transactions() {
    let Some(slapd) = Slapd::start(&people(2)) else { return };
    let client = Client::connect(&slapd.url()).await.unwrap();
    client.bind(ROOT, SECRET).await.unwrap();
    for (commits, surname) in [(false, "0000"), (true, "Changed")] {
        let transaction = client.start_transaction().await.unwrap();
        let inside = client.with(&[&Transaction(transaction.clone())]);
        let changes = [change(ModificationKind::Replace, "sn", &["Changed"])];
        inside.modify("uid=p00000,o=test", &changes).await.unwrap();
        inside.delete("uid=p00001,o=test").await.unwrap();
        assert!(client.compare("uid=p00000,o=test", "sn", b"0000").await.unwrap());
        client.end_transaction(&transaction, commits).await.unwrap();
        assert!(client.compare("uid=p00000,o=test", "sn", surname.as_bytes()).await.unwrap());
        assert_eq!(client.compare("uid=p00001,o=test", "cn", b"Person 1").await.is_err(), commits);
    }
}

#[tokio::test]
async fn slapd_as_somebody_else() {
    let Some(slapd) = Slapd::start(&people(0)) else { return };
    let client = Client::connect(&slapd.url()).await.unwrap();
    client.bind(ROOT, SECRET).await.unwrap();
    let proxied = client.with(&[&ProxiedAuthorization("dn:uid=ada,o=test".to_owned())]);
    assert_eq!(proxied.who_am_i().await.unwrap(), "dn:uid=ada,o=test");
}

#[test]
fn without_async() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let directory = Directory::new();
    directory.load(people(10).as_slice()).unwrap();
    let server = runtime.block_on(directory.listen("127.0.0.1:0")).unwrap();
    let client = tercet_ldap::blocking::Client::connect(&server.url()).unwrap();
    client.bind("uid=ada,o=test", "engine").unwrap();
    assert_eq!(client.who_am_i().unwrap(), "dn:uid=ada,o=test");
    let entries = client.search(Search::new("o=test")).unwrap();
    assert_eq!(entries.map(Result::unwrap).count(), 13);
    let (entries, result) = client.search_all(Search::new("o=test").filter("(uid=p*)").unwrap()).unwrap();
    assert_eq!((entries.len(), result.code), (10, ResultCode::SUCCESS));

    // A search that goes on until it is canceled, and one for which there is not as much time.
    let persistent =
        Search::new("uid=ada,o=test").control(&Sync { persist: true, cookie: None, reload_hint: false });
    let mut entries = client.search(persistent.clone()).unwrap();
    assert_eq!(entries.next().unwrap().unwrap().dn(), "uid=ada,o=test");
    client.cancel(entries.id()).unwrap();
    assert_eq!(code(&entries.next().unwrap().unwrap_err()), ResultCode::CANCELED);
    let hasty = client.with_timeout(Some(Duration::from_millis(100)));
    let mut entries = hasty.search(persistent).unwrap();
    entries.next().unwrap().unwrap();
    assert_eq!(entries.next().unwrap().unwrap_err().kind(), ErrorKind::Timeout);
    assert!(!client.is_closed());
    hasty.close();
    assert!(client.is_closed() && client.who_am_i().is_err());
}

#[test]
fn transactions_without_async() {
    let Some(slapd) = Slapd::start(&people(1)) else { return };
    let client = tercet_ldap::blocking::Client::connect(&slapd.url()).unwrap();
    client.bind(ROOT, SECRET).unwrap();
    for commits in [false, true] {
        let transaction = client.start_transaction().unwrap();
        client.with(&[&Transaction(transaction.clone())]).delete("uid=p00000,o=test").unwrap();
        // As above, one more round: slapd 2.5 still has its hands on the operation when its answer is here already, and
        // crashes now and then if the transaction ends at once.
        assert!(client.compare("uid=p00000,o=test", "cn", b"Person 0").unwrap());
        client.end_transaction(&transaction, commits).unwrap();
        assert_eq!(client.compare("uid=p00000,o=test", "cn", b"Person 0").is_err(), commits);
    }
}

/// A server that says nothing, and all that it is sent until the connection ends.
fn silent(address: IpAddr) -> (String, JoinHandle<Vec<u8>>) {
    let listener = TcpListener::bind((address, 0)).unwrap();
    let url = format!("ldap://{}", listener.local_addr().unwrap());
    let all = std::thread::spawn(move || {
        let mut sent = Vec::new();
        listener.accept().unwrap().0.read_to_end(&mut sent).unwrap();
        sent
    });
    (url, all)
}

/// An address of this machine by which others reach it. Nothing is sent to the one that is asked for.
fn address_of_the_network() -> Option<IpAddr> {
    let socket = UdpSocket::bind("0.0.0.0:0").ok()?;
    socket.connect("192.0.2.1:389").ok()?;
    Some(socket.local_addr().ok()?.ip()).filter(|address| !address.is_loopback())
}

/// Passwords that would be shown to the network are refused before anything is sent.
#[tokio::test]
async fn passwords_stay_private() {
    let config = Config::new("ldap://127.0.0.1").unwrap();
    assert!(!config.allow_plain_passwords);
    assert!(config.referrals.is_none());
    assert!(config.operation_timeout.is_some());
    let Some(address) = address_of_the_network() else {
        tercet_testing::skip_in_part("network", "no address but loopback");
        return;
    };
    for allowed in [false, true] {
        let (url, sent) = silent(address);
        let mut config = Config::new(&url).unwrap();
        config.allow_plain_passwords = allowed;
        config.operation_timeout = Some(Duration::from_millis(100));
        let client = Client::connect_with(&config).await.unwrap();
        let expected = if allowed { ErrorKind::Timeout } else { ErrorKind::Usage };
        let error = client.bind("uid=ada,o=test", "engine").await.unwrap_err();
        assert_eq!(error.kind(), expected, "{error}");
        if !allowed {
            let error = client.bind_sasl(Box::new(Plain::new("", "ada", "engine"))).await.unwrap_err();
            assert_eq!(error.kind(), expected, "{error}");
            let change = PasswordModify { new: Some(b"engine".to_vec()), ..PasswordModify::default() };
            assert_eq!(client.modify_password(&change).await.unwrap_err().kind(), expected);
        }
        drop(client);
        let sent = tokio::task::spawn_blocking(|| sent.join().unwrap()).await.unwrap();
        assert_eq!(sent.windows(6).any(|part| part == b"engine"), allowed);
        // No more than the end of the connection.
        assert!(allowed || sent.is_empty() || sent == UNBIND, "{sent:x?}");
    }
}

/// The request with message identifier 1.
const UNBIND: [u8; 7] = [0x30, 5, 2, 1, 1, 0x42, 0];
