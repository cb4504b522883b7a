//! Transactions with locks and a journal, on the directory in memory and on a real slapd.

mod common;

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use common::{ROOT, SECRET, Slapd};
use tercet_ldap::directory::{Directory, Server};
use tercet_ldap::ldif::{ModificationKind, RecordModification};
use tercet_ldap::transaction::{Engine, Locks, Options, Recovered, State, Transaction, pending, recover};
use tercet_ldap::{Client, ErrorKind, ResultCode, Scope, Search};

/// Accounts with 100 each.
fn bank(accounts: usize) -> String {
    let mut text = String::from(
        "dn: o=test\nobjectClass: organization\no: test\n\ndn: ou=locks,o=test\nobjectClass: organizationalUnit\nou: locks\n\n",
    );
    for index in 0..accounts {
        text += &format!(
            "dn: uid=a{index},o=test\nobjectClass: inetOrgPerson\nuid: a{index}\ncn: a{index}\nsn: a\nemployeeNumber: 100\ndescription: first\ndescription: second\n\n"
        );
    }
    text
}

async fn directory(accounts: usize) -> Server {
    let directory = Directory::new();
    directory.load(bank(accounts).as_bytes()).unwrap();
    directory.listen("127.0.0.1:0").await.unwrap()
}

fn options(journal: &Path) -> Options {
    let options = Options::new().engine(Engine::Advisory).locks("ou=locks,o=test").journal(journal);
    options.lease(Duration::from_secs(1)).lock_wait(Duration::from_secs(60))
}

fn number(draft: &tercet_ldap::Draft) -> i64 {
    let value = draft.values("employeeNumber").next().unwrap().to_vec();
    String::from_utf8(value).unwrap().parse().unwrap()
}

/// All entries but locks, as text.
async fn dump(client: &Client) -> Vec<String> {
    let (entries, _) =
        client.search_all(Search::new(ROOT).filter("(!(cn=tercet-*))").unwrap()).await.unwrap();
    let mut all: Vec<String> = entries
        .iter()
        .map(|entry| {
            let mut attributes: Vec<String> = entry
                .attributes()
                .map(|attribute| {
                    let mut values: Vec<_> =
                        attribute.values().map(|value| String::from_utf8_lossy(value).into_owned()).collect();
                    values.sort();
                    format!("{}={values:?}", attribute.name())
                })
                .collect();
            attributes.sort();
            format!("{} {attributes:?}", entry.dn())
        })
        .collect();
    all.sort();
    all
}

async fn locks(client: &Client) -> usize {
    let search = Search::new("ou=locks,o=test").scope(Scope::One);
    client.search_all(search).await.unwrap().0.len()
}

fn change(kind: ModificationKind, attribute: &str, values: &[&str]) -> RecordModification {
    let values = values.iter().map(|value| value.as_bytes().to_vec()).collect();
    RecordModification { kind, attribute: attribute.to_owned(), values }
}

/// Moves money between accounts in an order that changes, so that locks are asked for in any order.
async fn transfers(url: String, journal: std::path::PathBuf, count: usize, seed: usize) {
    let client = Client::connect(&url).await.unwrap();
    client.bind(ROOT, SECRET).await.ok();
    let mut state = seed;
    let mut random = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    for _ in 0..count {
        let from = random(10);
        let to = (from + 1 + random(9)) % 10;
        // An entry that had to be given up for the order of locks may have changed: begin again.
        loop {
            let mut transaction = Transaction::begin(&client, options(&journal)).await.unwrap();
            let Ok(mut payer) = transaction.read(&format!("uid=a{from},o=test")).await else { continue };
            let Ok(mut payee) = transaction.read(&format!("uid=a{to},o=test")).await else { continue };
            payer.set("employeeNumber", [(number(&payer) - 7).to_string()]);
            payee.set("employeeNumber", [(number(&payee) + 7).to_string()]);
            transaction.update(&payer);
            transaction.update(&payee);
            if transaction.commit().await.is_ok() {
                break;
            }
        }
    }
}

async fn sum(client: &Client) -> i64 {
    let search = Search::new(ROOT).filter("(employeeNumber=*)").unwrap();
    let (entries, _) = client.search_all(search).await.unwrap();
    entries.iter().map(|entry| entry.text("employeeNumber").unwrap().parse::<i64>().unwrap()).sum()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn transfers_keep_the_sum() {
    let folder = tempfile::tempdir().unwrap();
    let server = directory(10).await;
    let slapd = Slapd::start(bank(10).as_bytes());
    for url in [Some(server.url()), slapd.as_ref().map(Slapd::url)].into_iter().flatten() {
        let tasks: Vec<_> = (1..=2)
            .map(|seed| tokio::spawn(transfers(url.clone(), folder.path().to_owned(), 40, seed)))
            .collect();
        for task in tasks {
            task.await.unwrap();
        }
        let client = Client::connect(&url).await.unwrap();
        client.bind(ROOT, SECRET).await.ok();
        assert_eq!(sum(&client).await, 1000, "{url}");
        assert_eq!(locks(&client).await, 0, "{url}");
        assert!(pending(folder.path()).unwrap().is_empty());
    }
}

#[tokio::test]
async fn all_or_none() {
    let folder = tempfile::tempdir().unwrap();
    let server = directory(3).await;
    let client = Client::connect(&server.url()).await.unwrap();
    let before = dump(&client).await;
    let options = || options(folder.path()).allow_irreversible(true);
    let fill = |transaction: &mut Transaction| {
        transaction
            .add("uid=new,o=test", &[("objectClass", &["person"][..]), ("sn", &["x"]), ("cn", &["x"])]);
        transaction.rename("uid=a0,o=test", "uid=b0", true, None);
        transaction.rename("uid=a1,o=test", "uid=b1", false, Some("uid=a2,o=test"));
        transaction.delete("uid=new,o=test");
    };
    // The last change is refused: all before it are undone.
    for bad in [0, 1] {
        let mut transaction = Transaction::begin(&client, options()).await.unwrap();
        let mut draft = transaction.read("uid=a2,o=test").await.unwrap();
        draft.add("mail", "a@b");
        draft.remove("employeeNumber");
        draft.remove_value("description", "first");
        transaction.update(&draft);
        fill(&mut transaction);
        match bad {
            0 => transaction.delete("uid=nobody,o=test"),
            _ => transaction.add("uid=a2,o=test", &[("sn", &["x"])]),
        }
        let aborted = transaction.commit().await.unwrap_err();
        assert!(
            aborted.rolled_back && aborted.conflicts.is_empty() && aborted.journal.is_none(),
            "{aborted:?}"
        );
        let code = if bad == 0 { ResultCode::NO_SUCH_OBJECT } else { ResultCode::ENTRY_ALREADY_EXISTS };
        assert_eq!(aborted.cause.result().unwrap().code, code);
        assert!(aborted.to_string().contains("operation 6, uid="), "{aborted}");
        assert_eq!(dump(&client).await, before);
        assert_eq!(locks(&client).await, 0);
        assert!(pending(folder.path()).unwrap().is_empty());
    }
    let mut transaction = Transaction::begin(&client, options()).await.unwrap();
    fill(&mut transaction);
    transaction.commit().await.unwrap();
    let after = dump(&client).await;
    assert!(after.iter().any(|entry| entry.starts_with("uid=b1,uid=a2,o=test ")), "{after:?}");
    assert_eq!((after.len(), locks(&client).await), (before.len(), 0));
}

#[tokio::test]
async fn what_cannot_be_undone_is_said_before() {
    let folder = tempfile::tempdir().unwrap();
    let server = directory(2).await;
    let client = Client::connect(&server.url()).await.unwrap();
    let before = dump(&client).await;
    for which in 0..2 {
        let mut transaction = Transaction::begin(&client, options(folder.path())).await.unwrap();
        let mut draft = transaction.read("uid=a1,o=test").await.unwrap();
        draft.set("sn", ["changed"]);
        transaction.update(&draft);
        if which == 0 {
            transaction.delete("uid=a0,o=test");
        } else {
            draft.set("userPassword", ["secret"]);
            transaction.update(&draft);
        }
        let aborted = transaction.commit().await.unwrap_err();
        assert_eq!(aborted.cause.kind(), ErrorKind::Usage);
        assert!(aborted.cause.message().starts_with("irreversible: uid=a"), "{aborted}");
        assert!(aborted.rolled_back);
        assert_eq!((dump(&client).await, locks(&client).await), (before.clone(), 0));
    }
    let without = Options::new().engine(Engine::Auto);
    assert_eq!(Transaction::begin(&client, without).await.unwrap_err().kind(), ErrorKind::Usage);
    let server_only = options(folder.path()).engine(Engine::Server);
    assert_eq!(Transaction::begin(&client, server_only).await.unwrap_err().kind(), ErrorKind::Usage);
}

#[tokio::test]
async fn locks_are_kept_and_taken_over() {
    let server = directory(1).await;
    let client = Client::connect(&server.url()).await.unwrap();
    let base = "ou=locks,o=test";
    let second = Duration::from_secs(1);
    let one = Locks::new(&client, base, second).await.unwrap();
    let other = Locks::new(&client, base, second).await.unwrap();
    let mut held = one.take("UID=a0, O=test", Duration::ZERO).await.unwrap();
    assert_eq!((held.name.as_str(), held.fence), ("uid=a0,o=test", 1));
    let busy = other.take("uid=a0,o=test", Duration::ZERO).await.unwrap_err();
    assert_eq!(busy.kind(), ErrorKind::Timeout);
    assert!(busy.message().contains(&format!("process {}", std::process::id())), "{busy}");
    assert_eq!(other.list().await.unwrap()[0].name, "uid=a0,o=test");
    // Who renews keeps it, however long the other waits.
    let waiting = {
        let other = other.clone();
        tokio::spawn(async move { other.take("uid=a0,o=test", 3 * second).await })
    };
    for _ in 0..12 {
        tokio::time::sleep(second / 4).await;
        one.keep(&mut held).await.unwrap();
    }
    assert_eq!(waiting.await.unwrap().unwrap_err().kind(), ErrorKind::Timeout);
    // Who does not loses it after a lease, and notices.
    let taken = other.take("uid=a0,o=test", 30 * second).await.unwrap();
    assert_eq!(taken.fence, 2);
    assert_eq!(one.renew(&mut held).await.unwrap_err().kind(), ErrorKind::Timeout);
    one.release(held).await.unwrap();
    assert_eq!(locks(&client).await, 1, "the lock of another is left alone");
    other.release(taken).await.unwrap();
    assert_eq!(locks(&client).await, 0);
    // A lock that is broken is lost too; any name can be locked.
    let mut held = one.take("nightly", Duration::ZERO).await.unwrap();
    assert_eq!(other.break_lock("nightly").await.unwrap().unwrap().pid, u64::from(std::process::id()));
    assert!(one.renew(&mut held).await.is_err());
    assert!(other.break_lock("nightly").await.unwrap().is_none());
}

/// A transaction that was given up before its end changes nothing, and frees its locks.
#[tokio::test]
async fn dropped_transactions() {
    let folder = tempfile::tempdir().unwrap();
    let server = directory(2).await;
    let client = Client::connect(&server.url()).await.unwrap();
    let before = dump(&client).await;
    let mut transaction = Transaction::begin(&client, options(folder.path())).await.unwrap();
    let mut draft = transaction.read("uid=a1,o=test").await.unwrap();
    draft.set("sn", ["changed"]);
    transaction.update(&draft);
    assert_eq!(locks(&client).await, 1);
    transaction.rollback().await.unwrap();
    assert_eq!(locks(&client).await, 0);
    let mut transaction = Transaction::begin(&client, options(folder.path())).await.unwrap();
    transaction.read("uid=a1,o=test").await.unwrap();
    drop(transaction);
    // Its runtime frees the lock; somebody who waits gets it in any case.
    let locks = Locks::new(&client, "ou=locks,o=test", Duration::from_secs(1)).await.unwrap();
    locks.take("uid=a1,o=test", Duration::from_secs(30)).await.unwrap();
    assert_eq!(dump(&client).await, before);
}

/// What somebody else does in the middle of a transaction.
#[derive(Clone, Copy, Debug)]
enum Other {
    /// Changes an attribute that the transaction has changed.
    Same,
    /// Changes another attribute.
    Another,
    /// Deletes the entry.
    Delete,
}

/// Stands between a client and a server. After a number of requests to change entries it does something else: with `Some`, that of
/// another client, then the next change is refused as by a full disk; with `None`, it passes the request on and drops the answer.
fn interfere(server: &str, after: usize, other: Option<Other>) -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("ldap://{}", listener.local_addr().unwrap());
    let server = server.trim_start_matches("ldap://").to_owned();
    let seen = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&seen);
    std::thread::spawn(move || {
        let (mut client, _) = listener.accept().unwrap();
        let mut server_stream = TcpStream::connect(&server).unwrap();
        let mut octets = vec![0; 1 << 16];
        loop {
            let Ok(read @ 1..) = client.read(&mut octets) else { return };
            let request = octets[..read].to_vec();
            // One request at a time: 30 length 02 01 id operation.
            let header = if request[1] & 0x80 == 0 { 2 } else { 2 + usize::from(request[1] & 0x7F) };
            let operation = request[header + 2 + usize::from(request[header + 1])];
            let is_lock = request.windows(7).any(|window| window == b"tercet-");
            let is_change = matches!(operation, 0x66 | 0x68 | 0x4A | 0x6C) && !is_lock;
            if is_change && count.fetch_add(1, Ordering::SeqCst) == after {
                match other {
                    None => {
                        server_stream.write_all(&request).unwrap();
                        _ = server_stream.read(&mut octets);
                        return;
                    }
                    Some(other) => {
                        let runtime =
                            tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
                        runtime.block_on(act(&format!("ldap://{server}"), other));
                        // busy (51) to whatever was asked.
                        let id = &request[header..header + 2 + usize::from(request[header + 1])];
                        let mut answer = vec![0x30, u8::try_from(id.len() + 9).unwrap()];
                        answer.extend_from_slice(id);
                        let response = if operation == 0x4A { 0x6B } else { operation + 1 };
                        answer.extend_from_slice(&[response, 7, 0x0A, 1, 51, 4, 0, 4, 0]);
                        client.write_all(&answer).unwrap();
                        continue;
                    }
                }
            }
            server_stream.write_all(&request).unwrap();
            let mut answer = Vec::new();
            loop {
                let read = server_stream.read(&mut octets).unwrap();
                answer.extend_from_slice(&octets[..read]);
                // Until an answer that ends its operation; answers of this test are short.
                if ends(&answer) {
                    break;
                }
            }
            client.write_all(&answer).unwrap();
        }
    });
    (url, seen)
}

/// Whether the last message of an answer ends its operation.
fn ends(mut octets: &[u8]) -> bool {
    let mut last = 0;
    while octets.len() > 6 {
        let (header, length) = match octets[1] {
            length @ 0..0x80 => (2, usize::from(length)),
            count => {
                let count = usize::from(count & 0x7F);
                (
                    2 + count,
                    octets[2..2 + count].iter().fold(0, |length, octet| length << 8 | usize::from(*octet)),
                )
            }
        };
        if octets.len() < header + length {
            return false;
        }
        last = octets[header + 2 + usize::from(octets[header + 1])];
        octets = &octets[header + length..];
    }
    octets.is_empty() && last != 0x64 && last != 0x73
}

async fn act(url: &str, other: Other) {
    let client = Client::connect(url).await.unwrap();
    let dn = "uid=a0,o=test";
    match other {
        Other::Same => {
            client.modify(dn, &[change(ModificationKind::Replace, "sn", &["theirs"])]).await.unwrap()
        }
        Other::Another => {
            client.modify(dn, &[change(ModificationKind::Add, "title", &["theirs"])]).await.unwrap()
        }
        Other::Delete => client.delete(dn).await.unwrap(),
    };
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn somebody_else_changes_an_entry_in_the_middle() {
    for other in [Other::Same, Other::Another, Other::Delete] {
        let folder = tempfile::tempdir().unwrap();
        let server = directory(3).await;
        let direct = Client::connect(&server.url()).await.unwrap();
        let before = dump(&direct).await;
        let (url, _) = interfere(&server.url(), 2, Some(other));
        let client = Client::connect(&url).await.unwrap();
        let mut transaction = Transaction::begin(&client, options(folder.path())).await.unwrap();
        for index in 0..3 {
            let mut draft = transaction.read(&format!("uid=a{index},o=test")).await.unwrap();
            draft.set("sn", ["ours"]);
            draft.add("description", "third");
            transaction.update(&draft);
        }
        let aborted = transaction.commit().await.unwrap_err();
        assert_eq!(aborted.cause.result().unwrap().code, ResultCode::BUSY, "{aborted:?}");
        let after = dump(&direct).await;
        if matches!(other, Other::Another) {
            // Values of others stay, and ours go.
            assert!(aborted.rolled_back, "{aborted:?}");
            let expected: Vec<String> = before
                .iter()
                .map(|entry| {
                    if entry.starts_with("uid=a0,") {
                        entry.replace("\"uid=", "\"title=[\\\"theirs\\\"]\", \"uid=")
                    } else {
                        entry.clone()
                    }
                })
                .collect();
            assert_eq!(after, expected);
            continue;
        }
        assert!(!aborted.rolled_back, "{aborted:?}");
        assert_eq!((aborted.conflicts.len(), aborted.conflicts[0].number), (1, 1), "{aborted:?}");
        // The entry of the conflict is left alone, all others are as before.
        assert!(
            after.iter().all(|entry| entry.starts_with("uid=a0,") || before.contains(entry)),
            "{after:?}"
        );
        let left = pending(folder.path()).unwrap();
        assert_eq!((left.len(), left[0].state, left[0].operations), (1, State::Conflict, 3));
        let again = recover(&direct, &left[0].journal, Duration::from_secs(30)).await.unwrap();
        assert!(matches!(&again, Recovered::Conflicts(all) if all.len() == 1), "{again:?}");
        // When the entry is as it was, the transaction can be finished.
        match other {
            Other::Delete => {
                let values: &[(&str, &[&str])] = &[
                    ("objectClass", &["inetOrgPerson"]),
                    ("uid", &["a0"]),
                    ("cn", &["a0"]),
                    ("sn", &["a"]),
                    ("employeeNumber", &["100"]),
                    ("description", &["first", "second"]),
                ];
                direct.add("uid=a0,o=test", values).await.unwrap();
            }
            _ => {
                _ = direct
                    .modify("uid=a0,o=test", &[change(ModificationKind::Replace, "sn", &["ours"])])
                    .await
                    .unwrap()
            }
        }
        let again = recover(&direct, &left[0].journal, Duration::from_secs(30)).await.unwrap();
        assert_eq!(again, Recovered::Finished { undone: true });
        assert_eq!(dump(&direct).await, before, "{other:?}");
        assert!(pending(folder.path()).unwrap().is_empty());
    }
}

/// The connection ends after each number of requests, and before their answers: nobody knows whether they were carried out.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn connections_that_end_in_the_middle() {
    for after in 0..6 {
        let folder = tempfile::tempdir().unwrap();
        let server = directory(4).await;
        let direct = Client::connect(&server.url()).await.unwrap();
        let before = dump(&direct).await;
        let (url, seen) = interfere(&server.url(), after, None);
        let client = Client::connect(&url).await.unwrap();
        let options = options(folder.path()).allow_irreversible(true);
        let mut transaction = Transaction::begin(&client, options).await.unwrap();
        let mut draft = transaction.read("uid=a0,o=test").await.unwrap();
        draft.set("sn", ["ours"]);
        transaction.update(&draft);
        transaction
            .add("uid=new,o=test", &[("objectClass", &["person"][..]), ("sn", &["x"]), ("cn", &["x"])]);
        transaction.delete("uid=a1,o=test");
        transaction.rename("uid=a2,o=test", "uid=b2", true, None);
        transaction.rename("uid=a3,o=test", "cn=c3", false, None);
        let done = transaction.commit().await;
        if after == 5 {
            done.unwrap();
            assert_eq!(seen.load(Ordering::SeqCst), 5);
            continue;
        }
        let aborted = done.unwrap_err();
        assert!(!aborted.rolled_back && aborted.conflicts.is_empty(), "{after}: {aborted:?}");
        assert_ne!(dump(&direct).await, before, "{after}: the change was carried out");
        let left = pending(folder.path()).unwrap();
        assert_eq!((left.len(), left[0].operations, left[0].state), (1, after + 1, State::Undoing));
        let recovered = recover(&direct, &left[0].journal, Duration::from_secs(30)).await.unwrap();
        assert_eq!(recovered, Recovered::Finished { undone: true });
        assert_eq!(dump(&direct).await, before, "{after}");
        assert_eq!(locks(&direct).await, 0, "{after}");
        assert!(pending(folder.path()).unwrap().is_empty());
    }
}

#[tokio::test]
async fn transactions_of_the_server() {
    for good in [false, true] {
        // A server for each: slapd 2.5 answers 80 if a transaction that failed has changed and deleted the same entries before.
        let Some(slapd) = Slapd::start(bank(3).as_bytes()) else { return };
        let client = Client::connect(&slapd.url()).await.unwrap();
        client.bind(ROOT, SECRET).await.unwrap();
        let before = dump(&client).await;
        let mut transaction = Transaction::begin(&client, Options::new()).await.unwrap();
        assert!(transaction.is_of_server());
        let mut draft = transaction.read("uid=a0,o=test").await.unwrap();
        draft.set("sn", ["ours"]);
        transaction.update(&draft);
        transaction.delete("uid=a1,o=test");
        if !good {
            transaction.delete("uid=nobody,o=test");
        }
        let done = transaction.commit().await;
        assert_eq!(done.is_ok(), good, "{done:?}");
        assert_eq!(dump(&client).await == before, !good);
    }
}
