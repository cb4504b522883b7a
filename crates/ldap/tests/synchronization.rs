//! Content synchronization (RFC 4533) and list views: a copy that follows a server has what the server has, against a real
//! slapd and against the directory in memory.

mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use std::process::{Command, Stdio};
use std::time::Duration;

use common::{ROOT, SECRET, Slapd, people};
use tercet_ldap::controls::SyncChange::{Add, Delete, Modify, Present};
use tercet_ldap::controls::{
    Sort, Sync, SyncChange, SyncDone, SyncInfo, SyncState, VirtualListView, VlvResult, VlvTarget,
};
use tercet_ldap::directory::Directory;
use tercet_ldap::ldif::{ModificationKind, RecordModification};
use tercet_ldap::proto::{Entry, Intermediate};
use tercet_ldap::{Client, Entries, ErrorKind, Item, LdapResult, ResultCode, Search};

/// What a client keeps of a directory: names and surnames by `entryUUID`.
#[derive(Debug, Default)]
struct Copy {
    entries: BTreeMap<Vec<u8>, (String, String)>,
    /// What the refresh has told of.
    present: BTreeSet<Vec<u8>>,
    cookie: Option<Vec<u8>>,
    states: Vec<SyncChange>,
}

fn content(entry: &Entry) -> (String, String) {
    (entry.dn().to_lowercase(), entry.text("sn").unwrap_or_default().to_owned())
}

impl Copy {
    fn keep(&mut self, cookie: Option<Vec<u8>>) {
        self.cookie = cookie.or_else(|| self.cookie.take());
    }

    fn entry(&mut self, entry: &Entry) {
        let state = SyncState::of(entry).unwrap().unwrap();
        match state.state {
            Delete => {
                assert_eq!(entry.attributes().count(), 0);
                self.entries.remove(&state.uuid);
            }
            Present => assert!(self.entries.contains_key(&state.uuid)),
            Add | Modify => {
                self.entries.insert(state.uuid.clone(), content(entry));
            }
        }
        self.present.insert(state.uuid);
        self.states.push(state.state);
        self.keep(state.cookie);
    }

    /// Whether the refresh has ended.
    fn intermediate(&mut self, response: &Intermediate) -> bool {
        assert_eq!(response.name.as_deref(), Some(SyncInfo::OID));
        match SyncInfo::read(response.value.as_deref().unwrap()).unwrap() {
            SyncInfo::NewCookie(cookie) => self.keep(Some(cookie)),
            SyncInfo::RefreshDelete(cookie, done) => {
                self.keep(cookie);
                return done;
            }
            SyncInfo::RefreshPresent(cookie, done) => {
                self.keep(cookie);
                self.forget();
                return done;
            }
            SyncInfo::IdSet(cookie, deletes, ids) => {
                self.keep(cookie);
                for id in ids {
                    if deletes {
                        self.entries.remove(&id);
                    } else {
                        self.present.insert(id);
                    }
                }
            }
        }
        false
    }

    fn forget(&mut self) {
        let present = std::mem::take(&mut self.present);
        self.entries.retain(|uuid, _| present.contains(uuid));
    }

    /// A synchronization that ends.
    async fn refresh(&mut self, client: &Client) -> tercet_ldap::Result<LdapResult> {
        self.present.clear();
        self.states.clear();
        let sync = Sync { cookie: self.cookie.clone(), ..Sync::default() };
        let mut items = client.search(Search::new("o=test").control(&sync)).await?;
        while let Some(item) = items.next_item().await? {
            match item {
                Item::Entry(entry) => self.entry(&entry),
                Item::Intermediate(response) => assert!(!self.intermediate(&response)),
                _ => panic!("a reference"),
            }
        }
        let result = items.result().unwrap().clone();
        let done = result.control::<SyncDone>()?.unwrap();
        self.keep(done.cookie);
        if !done.refresh_deletes {
            self.forget();
        }
        Ok(result)
    }

    /// Takes what a search that goes on brings, until the copy is what it has to be.
    async fn follow(&mut self, items: &mut Entries, wanted: impl Fn(&Self, bool) -> bool) {
        let mut refreshed = false;
        let follow = async {
            while !wanted(self, refreshed) {
                match items.next_item().await.unwrap() {
                    Some(Item::Entry(entry)) => self.entry(&entry),
                    Some(Item::Intermediate(response)) => refreshed |= self.intermediate(&response),
                    other => panic!("{other:?}"),
                }
            }
        };
        let in_time = tokio::time::timeout(Duration::from_secs(20), follow).await;
        assert!(in_time.is_ok(), "the copy does not follow: {self:?}");
    }
}

/// What a server has.
async fn all(client: &Client, filter: &str) -> BTreeMap<Vec<u8>, (String, String)> {
    let search = Search::new("o=test").filter(filter).unwrap().attributes(&["*", "entryUUID"]);
    let (entries, _) = client.search_all(search).await.unwrap();
    let uuid = |entry: &Entry| {
        let digits = entry.text("entryUUID").unwrap().replace('-', "");
        u128::from_str_radix(&digits, 16).unwrap().to_be_bytes().to_vec()
    };
    entries.iter().map(|entry| (uuid(entry), content(entry))).collect()
}

fn surname(value: &str) -> [RecordModification; 1] {
    let (kind, attribute) = (ModificationKind::Replace, "sn".to_owned());
    [RecordModification { kind, attribute, values: vec![value.as_bytes().to_vec()] }]
}

async fn add(client: &Client, name: &str) {
    let values: &[(&str, &[&str])] =
        &[("objectClass", &["inetOrgPerson"]), ("cn", &["New"]), ("sn", &["New"])];
    client.add(&format!("uid={name},o=test"), values).await.unwrap();
}

async fn sync_suite(url: &str) {
    let client = Client::connect(url).await.unwrap();
    let writer = Client::connect(url).await.unwrap();
    writer.bind(ROOT, SECRET).await.unwrap();

    // All there is, nothing twice, and then what has changed.
    let mut copy = Copy::default();
    copy.refresh(&client).await.unwrap();
    assert_eq!(copy.states, [Add].repeat(8));
    assert_eq!(copy.entries, all(&client, "(objectClass=*)").await);
    copy.refresh(&client).await.unwrap();
    assert_eq!((copy.states.len(), copy.entries.len()), (0, 8));
    writer.modify("uid=p00003,o=test", &surname("Changed")).await.unwrap();
    writer.delete("uid=p00001,o=test").await.unwrap();
    writer.modify_dn("uid=p00002,o=test", "uid=renamed", true, None).await.unwrap();
    add(&writer, "added").await;
    add(&writer, "shortlived").await;
    writer.delete("uid=shortlived,o=test").await.unwrap();
    copy.refresh(&client).await.unwrap();
    assert_eq!(copy.entries, all(&client, "(objectClass=*)").await);
    assert_eq!(copy.entries.len(), 8);

    // Changes as they happen: entries come into what is searched for, and leave it.
    let before = all(&client, "(objectClass=*)").await;
    writer.delete("uid=added,o=test").await.unwrap();
    let sync = Sync { persist: true, cookie: copy.cookie.clone(), reload_hint: false };
    let search = Search::new("o=test").control(&sync).timeout(None);
    let mut items = client.search(search).await.unwrap();
    copy.present.clear();
    copy.follow(&mut items, |_, refreshed| refreshed).await;
    assert_eq!(copy.entries.len(), before.len() - 1);
    copy.states.clear();
    add(&writer, "later").await;
    copy.follow(&mut items, |copy, _| copy.entries.len() == before.len()).await;
    writer.modify("uid=later,o=test", &surname("Last")).await.unwrap();
    copy.follow(&mut items, |copy, _| copy.entries.values().any(|(_, sn)| sn == "Last")).await;
    writer.modify_dn("uid=later,o=test", "uid=latest", true, None).await.unwrap();
    copy.follow(&mut items, |copy, _| copy.entries.values().any(|(dn, _)| dn == "uid=latest,o=test")).await;
    writer.delete("uid=latest,o=test").await.unwrap();
    copy.follow(&mut items, |copy, _| copy.entries.len() == before.len() - 1).await;
    assert_eq!(copy.states, [Add, Modify, Modify, Delete]);
    assert_eq!(copy.entries, all(&client, "(objectClass=*)").await);

    // Another search of the same connection, for a part.
    let sync = Sync { persist: true, ..Sync::default() };
    let part = Search::new("o=test").filter("(sn=In)").unwrap().control(&sync).timeout(None);
    let mut part = client.search(part).await.unwrap();
    let mut inside = Copy::default();
    inside.follow(&mut part, |_, refreshed| refreshed).await;
    assert_eq!(inside.entries.len(), 0);
    writer.modify("uid=p00003,o=test", &surname("Out")).await.unwrap();
    writer.modify("uid=p00004,o=test", &surname("In")).await.unwrap();
    inside.follow(&mut part, |copy, _| copy.entries.len() == 1).await;
    assert_eq!(inside.entries, all(&client, "(sn=In)").await);
    writer.modify("uid=p00004,o=test", &surname("Out")).await.unwrap();
    inside.follow(&mut part, |copy, _| copy.entries.is_empty()).await;
    assert_eq!(inside.states, [Add, Delete]);

    // They go on until they are canceled or abandoned; nothing else has ended meanwhile.
    drop(part);
    client.cancel(items.id()).await.unwrap();
    let error = loop {
        match items.next_item().await {
            Ok(Some(_)) => {}
            Ok(None) => panic!("a canceled search that succeeds"),
            Err(error) => break error,
        }
    };
    assert_eq!(error.result().unwrap().code, ResultCode::CANCELED);
    assert!(client.compare("o=test", "o", b"test").await.unwrap());
    assert_eq!(client.cancel(items.id()).await.unwrap_err().kind(), ErrorKind::Result);
}

/// A part of the people sorted by a key: their numbers, and what the server says.
async fn view(
    client: &Client,
    key: &str,
    (before, after): (u32, u32),
    target: VlvTarget,
    context: Option<Vec<u8>>,
) -> (Vec<u32>, VlvResult) {
    let sort = Sort { keys: vec![key.parse().unwrap()], critical: true };
    let view = VirtualListView { before, after, target, context };
    let search = Search::new("o=test").filter("(uid=p*)").unwrap().control(&sort).control(&view);
    // slapd ends a sort after it has answered, and is busy with it until then.
    tokio::time::sleep(Duration::from_millis(50)).await;
    let (entries, result) = client.search_all(search).await.unwrap();
    let number = |entry: &Entry| entry.text("uid").unwrap().trim_start_matches('p').parse().unwrap();
    (entries.iter().map(number).collect(), result.control().unwrap().unwrap())
}

async fn view_suite(url: &str) {
    let client = Client::connect(url).await.unwrap();
    let offset = |offset, count| VlvTarget::Offset { offset, count };
    let value = |value: &str| VlvTarget::Value(value.as_bytes().to_vec());
    let cases = [
        (0, 3, offset(1, 0), vec![0, 1, 2, 3], 1),
        (1, 1, offset(50, 0), vec![48, 49, 50], 50),
        (2, 5, offset(99, 100), vec![96, 97, 98, 99], 99),
        // The last, whatever the client thinks how many there are.
        (1, 0, offset(7, 7), vec![98, 99], 100),
        // Half way down the list.
        (0, 0, offset(500, 1000), vec![49], 50),
        (1, 2, value("p00041"), vec![40, 41, 42, 43], 42),
        (0, 0, value("p000415"), vec![42], 43),
    ];
    let mut context = None;
    for (before, after, target, numbers, position) in cases {
        let what = format!("{before} {after} {target:?}");
        let key = "uid:caseIgnoreOrderingMatch";
        let (found, result) = view(&client, key, (before, after), target, context).await;
        assert_eq!(found, numbers, "{what}");
        assert_eq!((result.position, result.count), (position, 100), "{what}");
        assert_eq!(result.code, ResultCode::SUCCESS, "{what}");
        context = result.context;
    }
    let client = Client::connect(url).await.unwrap();
    let (found, result) = view(&client, "-uid:caseIgnoreOrderingMatch", (1, 1), value("p00041"), None).await;
    assert_eq!((found, result.position), (vec![42, 41, 40], 59));

    // Without an order there is no list.
    let view = VirtualListView { before: 0, after: 1, target: offset(1, 0), context: None };
    let error = client.search_all(Search::new("o=test").control(&view)).await.unwrap_err();
    assert_eq!(error.result().unwrap().code, ResultCode::VLV_ERROR);
}

#[tokio::test]
async fn slapd_synchronizes() {
    let Some(slapd) = Slapd::start(&people(5)) else { return };
    sync_suite(&slapd.url()).await;
}

#[tokio::test]
async fn slapd_shows_parts_of_lists() {
    let Some(slapd) = Slapd::start(&people(100)) else { return };
    view_suite(&slapd.url()).await;
}

/// Changes one entry by OpenLDAP's own tool.
async fn ldapmodify(url: &str, change: String) {
    let mut tool = Command::new("/usr/bin/ldapmodify");
    tool.args(["-x", "-D", ROOT, "-w", SECRET, "-H", url]).stdin(Stdio::piped()).stdout(Stdio::null());
    let run = move || {
        let mut child = tool.spawn().unwrap();
        child.stdin.take().unwrap().write_all(change.as_bytes()).unwrap();
        assert!(child.wait().unwrap().success(), "{change}");
    };
    tokio::task::spawn_blocking(run).await.unwrap();
}

async fn sync_beside_ldapmodify(url: &str) {
    let client = Client::connect(url).await.unwrap();
    let sync = Sync { persist: true, ..Sync::default() };
    let mut items = client.search(Search::new("o=test").control(&sync).timeout(None)).await.unwrap();
    let mut copy = Copy::default();
    copy.follow(&mut items, |_, refreshed| refreshed).await;
    let before = copy.entries.len();
    copy.states.clear();
    let has = |copy: &Copy, dn: &str, sn: &str| {
        copy.entries.values().any(|entry| (&*entry.0, &*entry.1) == (dn, sn))
    };
    let changes: [(&str, &str, &str); 3] = [
        ("changetype: add\nobjectClass: inetOrgPerson\ncn: New\nsn: New", "uid=tool,o=test", "New"),
        ("changetype: modify\nreplace: sn\nsn: Newer", "uid=tool,o=test", "Newer"),
        ("changetype: modrdn\nnewrdn: uid=renamed\ndeleteoldrdn: 1", "uid=renamed,o=test", "Newer"),
    ];
    for (change, dn, sn) in changes {
        ldapmodify(url, format!("dn: uid=tool,o=test\n{change}\n")).await;
        copy.follow(&mut items, |copy, _| has(copy, dn, sn)).await;
    }
    ldapmodify(url, "dn: uid=renamed,o=test\nchangetype: delete\n".to_owned()).await;
    copy.follow(&mut items, |copy, _| copy.entries.len() == before).await;
    assert_eq!(copy.states, [Add, Modify, Modify, Delete]);
    assert_eq!(copy.entries, all(&client, "(objectClass=*)").await);
}

/// Returns whether the tool exists; reports a skip if it does not.
fn has_ldapmodify() -> bool {
    tercet_testing::programs("ldap-utils", ["ldapmodify"]).is_some()
}

#[tokio::test]
async fn slapd_tells_what_ldapmodify_changes() {
    if has_ldapmodify() {
        let Some(slapd) = Slapd::start(&people(5)) else { return };
        sync_beside_ldapmodify(&slapd.url()).await;
    }
}

#[tokio::test]
async fn the_directory_in_memory_tells_what_ldapmodify_changes() {
    if has_ldapmodify() {
        let server = directory(5).listen("127.0.0.1:0").await.unwrap();
        sync_beside_ldapmodify(&server.url()).await;
    }
}

fn directory(count: usize) -> Directory {
    let directory = Directory::new().with_root(ROOT, SECRET);
    directory.load(people(count).as_slice()).unwrap();
    directory
}

#[tokio::test]
async fn the_directory_in_memory_synchronizes() {
    let server = directory(5).listen("127.0.0.1:0").await.unwrap();
    sync_suite(&server.url()).await;
}

#[tokio::test]
async fn the_directory_in_memory_shows_parts_of_lists() {
    let server = directory(100).listen("127.0.0.1:0").await.unwrap();
    view_suite(&server.url()).await;
}

/// More changes than the directory remembers, a cookie of another one, and entries that other means have brought.
#[tokio::test]
async fn who_was_away_for_long() {
    let directory = directory(5);
    let server = directory.listen("127.0.0.1:0").await.unwrap();
    let client = Client::connect(&server.url()).await.unwrap();
    let mut copy = Copy::default();
    copy.refresh(&client).await.unwrap();
    let sync = Sync { persist: true, cookie: copy.cookie.clone(), reload_hint: false };
    let mut items = client.search(Search::new("o=test").control(&sync).timeout(None)).await.unwrap();
    let mut behind = Copy::default();
    behind.follow(&mut items, |_, refreshed| refreshed).await;

    let mut changes = String::from("dn: uid=p00001,o=test\nchangetype: delete\n\n");
    for number in 0..3000 {
        changes += &format!("dn: uid=p00002,o=test\nchangetype: modify\nreplace: sn\nsn: {number}\n\n");
    }
    directory.load(changes.as_bytes()).unwrap();
    copy.refresh(&client).await.unwrap();
    assert_eq!(copy.states, [Add]);
    assert_eq!(copy.entries, all(&client, "(objectClass=*)").await);
    let error = loop {
        match items.next_item().await {
            Ok(Some(_)) => {}
            Ok(None) => panic!("a search that has missed changes succeeds"),
            Err(error) => break error,
        }
    };
    assert_eq!(error.result().unwrap().code, ResultCode::SYNC_REFRESH_REQUIRED);

    for (cookie, reload_hint) in [("0000000000000000-0", false), ("x", false), ("x", true)] {
        let sync = Sync { persist: false, cookie: Some(cookie.into()), reload_hint };
        let found = client.search_all(Search::new("o=test").control(&sync)).await;
        match found {
            Ok((entries, _)) => assert_eq!((reload_hint, entries.len()), (true, 7)),
            Err(error) => {
                assert!(!reload_hint);
                assert_eq!(error.result().unwrap().code, ResultCode::SYNC_REFRESH_REQUIRED);
            }
        }
    }
}
