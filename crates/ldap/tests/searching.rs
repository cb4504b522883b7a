//! Searches of the directory in memory: indexes find what the filter finds, pages and levels, limits, and much that is asked at once.

mod common;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use common::{ROOT, people};
use tercet_ldap::directory::{Directory, IndexSpec};
use tercet_ldap::ldif::{ModificationKind, Reader, RecordModification};
use tercet_ldap::{Client, Dn, Evaluation, Filter, ResultCode, Scope, Search};

fn code(error: &tercet_ldap::Error) -> ResultCode {
    error.result().unwrap_or_else(|| panic!("{error:?}")).code
}

/// Entries on two levels, with values that share parts, cases, spaces and options.
fn mixed() -> String {
    let mut text = String::from("dn: o=test\nobjectClass: organization\no: test\n\n");
    let words =
        ["Ada", "ada  LOVELACE", "Grace Hopper", "Alan", "a", "", "Bob L\u{f8}v", "hop", "Hopper Grace"];
    for (index, word) in words.iter().cycle().take(300).enumerate() {
        let above = if index % 7 == 0 { "o=test" } else { "ou=Sub,o=test" };
        if index == 1 {
            text += "dn: ou=Sub,o=test\nobjectClass: organizationalUnit\nou: Sub\n\n";
        }
        _ = write!(
            text,
            "dn: uid=u{index},{above}\nobjectClass: inetOrgPerson\nobjectClass: top\nuid: u{index}\n"
        );
        if !word.is_empty() {
            _ = write!(text, "cn: {word}\ncn;lang-de: {word} {}\nsn: {}\n", index % 10, index % 50);
        }
        if index % 3 == 0 {
            _ = write!(
                text,
                "uidNumber: {}\nmember: uid=u{}, ou=sub, o=test\n",
                index as i64 - 100,
                index % 20
            );
        }
        if index % 5 == 0 {
            text += "mail: Shared@Example.net\n";
        }
        text.push('\n');
    }
    text += "dn: ou=far,o=test\nobjectClass: referral\nobjectClass: extensibleObject\nou: far\nref: ldap://far/o=x\n";
    text
}

const FILTERS: &[&str] = &[
    "(uid=u7)",
    "(UID=U7)",
    "(uid=nobody)",
    "(cn=ada lovelace)",
    "(cn=ADA   lovelace)",
    "(cn=ada*)",
    "(cn=*hop*)",
    "(cn=*race)",
    "(cn=h*p*r*ace)",
    "(cn=a*)",
    "(cn=*l\u{f8}v*)",
    "(cn=*zzz*)",
    "(cn;lang-de=ada 0)",
    "(cn;lang-de=*lovelace*)",
    "(cn=*)",
    "(mail=shared@example.net)",
    "(mail=*)",
    "(member=uid=u3,ou=Sub,o=Test)",
    "(member=*)",
    "(uidNumber=0050)",
    "(uidNumber>=100)",
    "(uidNumber<=-50)",
    "(uidNumber>=-5)",
    "(objectClass=organization)",
    "(objectClass=inetOrgPerson)",
    "(&(objectClass=inetOrgPerson)(uid=u9))",
    "(&(mail=*)(cn=*grace*))",
    "(|(uid=u1)(uid=u2)(cn=alan))",
    "(|(uid=u1)(description=x))",
    "(|)",
    "(&)",
    "(!(uid=u1))",
    "(&(uid=u1)(!(uid=u1)))",
    "(!(cn=*))",
    "(cn~=alan)",
    "(sn>=40)",
    "(ou:dn:=sub)",
    "(uidNumber:1.2.840.113556.1.4.803:=4)",
    "(cn:caseExactMatch:=Alan)",
    "(cn:1.2.3:=x)",
    "(!(cn:1.2.3:=x))",
];

/// What the filter of the client's side finds in what the server has.
fn expected(entries: &[tercet_ldap::Entry], filter: &Filter<'_>) -> BTreeSet<String> {
    let found = entries.iter().filter(|entry| {
        let dn: Dn = entry.dn().parse().unwrap();
        let values = |name: &str| {
            let is_asked = |known: &str| {
                known.eq_ignore_ascii_case(name)
                    || (!name.contains(';')
                        && known.split(';').next().is_some_and(|base| base.eq_ignore_ascii_case(name)))
            };
            let mut all = entry.attributes().filter(|attribute| is_asked(&attribute.name())).peekable();
            all.peek()?;
            Some(all.flat_map(|attribute| attribute.values().collect::<Vec<_>>()).collect())
        };
        filter.evaluate(&dn, &values) == Evaluation::True
    });
    found.map(|entry| entry.dn().to_owned()).collect()
}

async fn compare_all(client: &Client, when: &str) {
    let (all, _) = client.search_all(Search::new(ROOT)).await.unwrap();
    for text in FILTERS {
        let filter: Filter<'_> = text.parse().unwrap();
        let (found, _) = client.search_all(Search::new(ROOT).filter_as(filter.clone())).await.unwrap();
        let names: BTreeSet<String> = found.iter().map(|entry| entry.dn().to_owned()).collect();
        assert_eq!(names.len(), found.len(), "{text} {when}: no entry twice");
        assert_eq!(names, expected(&all, &filter), "{text} {when}");
    }
}

fn change(kind: ModificationKind, attribute: &str, values: &[&str]) -> RecordModification {
    let values = values.iter().map(|value| value.as_bytes().to_vec()).collect();
    RecordModification { kind, attribute: attribute.to_owned(), values }
}

#[tokio::test]
async fn indexes_find_what_the_filter_finds() {
    use ModificationKind::{Add, Delete, Replace};
    let specs = ["sn:ord", "cn:eq,sub,pres", "description:eq,sub,pres,ord"]
        .map(|text| text.parse::<IndexSpec>().unwrap());
    for declared in [&[][..], &specs] {
        let directory = Directory::new();
        directory.load(mixed().as_bytes()).unwrap();
        // Indexes that are declared late have what is there.
        let directory = directory.with_indexes(declared);
        let server = directory.listen("127.0.0.1:0").await.unwrap();
        let client = Client::connect(&server.url()).await.unwrap();
        compare_all(&client, "at first").await;
        let one = "uid=u1,ou=Sub,o=test";
        for changes in [
            vec![change(Replace, "cn", &["alan", "Grace Hopper", "hopping"])],
            vec![change(Delete, "cn", &["hopping"]), change(Add, "cn;lang-de", &["grace hopper"])],
            vec![change(Add, "mail", &["a@b", "shared@example.net"]), change(Delete, "mail", &["a@b"])],
            vec![change(Replace, "mail", &[]), change(Replace, "description", &["x"])],
            vec![
                change(Replace, "uidNumber", &["4"]),
                change(Add, "member", &["uid=u3,ou=sub,o=test", "o=x"]),
            ],
            vec![
                change(Delete, "member", &["O=X"]),
                change(Replace, "cn", &["Alan"]),
                change(Replace, "CN", &["ALAN"]),
            ],
            vec![change(Replace, "objectClass", &["organization"])],
        ] {
            client.modify(one, &changes).await.unwrap();
            compare_all(&client, &format!("after {changes:?}")).await;
        }
        client.modify_dn("ou=Sub,o=test", "ou=Other", true, None).await.unwrap();
        client.modify_dn("uid=u7,o=test", "uid=v7", false, Some("ou=Other,o=test")).await.unwrap();
        compare_all(&client, "after renaming").await;
        for index in (0..300).step_by(2) {
            let above = if index % 7 == 0 && index != 7 { "o=test" } else { "ou=Other,o=test" };
            client.delete(&format!("uid=u{index},{above}")).await.unwrap();
        }
        compare_all(&client, "after deletions").await;
        let values: &[(&str, &[&str])] = &[("objectClass", &["person"]), ("cn", &["Ada"]), ("uid", &["u2"])];
        client.add("uid=u2,o=test", values).await.unwrap();
        compare_all(&client, "after an addition").await;
    }
}

#[tokio::test]
async fn scopes_pages_and_referrals() {
    let directory = Directory::new();
    directory.load(mixed().as_bytes()).unwrap();
    let server = directory.listen("127.0.0.1:0").await.unwrap();
    let client = Client::connect(&server.url()).await.unwrap();
    let count = async |search: Search| client.search_all(search).await.unwrap().0.len();
    // 43 of the people are below o=test itself; the referral is no entry.
    for (scope, filter, expected) in [
        (Scope::Base, "(objectClass=*)", 1),
        (Scope::One, "(objectClass=*)", 44),
        (Scope::One, "(uid=*)", 43),
        (Scope::One, "(uid=u7)", 1),
        (Scope::One, "(uid=u8)", 0),
        (Scope::Children, "(objectClass=*)", 301),
        (Scope::Sub, "(objectClass=*)", 302),
        (Scope::Sub, "(uid=u8)", 1),
        (Scope::Base, "(uid=u8)", 0),
    ] {
        let search = || Search::new(ROOT).scope(scope).filter(filter).unwrap();
        assert_eq!(count(search()).await, expected, "{scope:?} {filter}");
        for size in [1, 7, 300, 1000] {
            assert_eq!(
                count(search().page_size(size)).await,
                expected,
                "{scope:?} {filter} in pages of {size}"
            );
        }
    }
    // A referral is found whatever the filter says, with and without an index.
    for filter in ["(uid=u7)", "(description=x)", "(|)"] {
        let mut entries = client.search(Search::new(ROOT).filter(filter).unwrap()).await.unwrap();
        let mut references = 0;
        while let Some(item) = entries.next_item().await.unwrap() {
            references += usize::from(matches!(item, tercet_ldap::Item::Reference(_)));
        }
        assert_eq!(references, 1, "{filter}");
    }
}

/// Pages go on behind the last entry, also when that and others have gone meanwhile.
#[tokio::test]
async fn pages_of_a_directory_that_changes() {
    use tercet_ldap::controls::PagedResults;
    let directory = Directory::new();
    directory.load(people(100).as_slice()).unwrap();
    let server = directory.listen("127.0.0.1:0").await.unwrap();
    let client = Client::connect(&server.url()).await.unwrap();
    let mut cookie = Vec::new();
    let mut seen = BTreeSet::new();
    loop {
        let paged = PagedResults { size: 10, cookie, critical: true };
        let search = Search::new(ROOT).filter("(uid=p*)").unwrap().control(&paged);
        let (entries, result) = client.search_all(search).await.unwrap();
        for entry in &entries {
            assert!(seen.insert(entry.dn().to_owned()), "{} twice", entry.dn());
        }
        if let Some(last) = entries.last() {
            client.delete(last.dn()).await.unwrap();
        }
        cookie = result.control::<PagedResults>().unwrap().unwrap().cookie;
        if cookie.is_empty() {
            break;
        }
    }
    assert_eq!(seen.len(), 100);
    for cookie in [&b"x"[..], b"n1234567", b"k"] {
        let paged = PagedResults { size: 10, cookie: cookie.to_vec(), critical: true };
        let error = client.search_all(Search::new(ROOT).control(&paged)).await.unwrap_err();
        assert_eq!(code(&error), ResultCode::UNWILLING_TO_PERFORM);
    }
}

/// A search that finds nothing in a group of many members, for very long.
fn costly() -> (String, String) {
    let mut ldif = String::from(
        "dn: o=test\nobjectClass: organization\no: test\n\ndn: cn=g,o=test\ncn: g\nobjectClass: groupOfNames\n",
    );
    (0..20_000).for_each(|index| _ = writeln!(ldif, "description: value number {index} of very many"));
    let parts: String = (0..3000).map(|index| format!("(description=*{index}x*y*z*)")).collect();
    (ldif, format!("(|{parts})"))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_costly_search_ends_in_time_and_holds_up_nobody() {
    let (ldif, filter) = costly();
    let directory = Directory::new().with_time_limit(Some(Duration::from_secs(3)));
    directory.load(ldif.as_bytes()).unwrap();
    let server = directory.listen("127.0.0.1:0").await.unwrap();
    let is_over = Arc::new(AtomicBool::new(false));
    let mut tasks = Vec::new();
    for _ in 0..8 {
        let client = Client::connect(&server.url()).await.unwrap();
        let search = Search::new(ROOT).filter(&filter).unwrap();
        let is_over = Arc::clone(&is_over);
        tasks.push(tokio::spawn(async move {
            let error = client.search_all(search).await.unwrap_err();
            is_over.store(true, Ordering::SeqCst);
            code(&error)
        }));
    }
    // Others read and write meanwhile.
    let other = Client::connect(&server.url()).await.unwrap();
    for index in 0..20 {
        other
            .modify("o=test", &[change(ModificationKind::Replace, "l", &[&index.to_string()])])
            .await
            .unwrap();
        let (found, _) = other.search_all(Search::new(ROOT).scope(Scope::Base)).await.unwrap();
        assert_eq!(found[0].text("l"), Some(index.to_string().as_str()));
    }
    assert!(!is_over.load(Ordering::SeqCst), "the others were not held up");
    for task in tasks {
        assert_eq!(task.await.unwrap(), ResultCode::TIME_LIMIT_EXCEEDED);
    }
    // The limit of the request counts too.
    let error = other.search_all(Search::new(ROOT).filter(&filter).unwrap().time_limit(1)).await.unwrap_err();
    assert_eq!(code(&error), ResultCode::TIME_LIMIT_EXCEEDED);
}

#[tokio::test]
async fn limits_of_the_directory() {
    let directory = Directory::new().with_size_limit(Some(10));
    directory.load(people(100).as_slice()).unwrap();
    let server = directory.listen("127.0.0.1:0").await.unwrap();
    let client = Client::connect(&server.url()).await.unwrap();
    for asked in [0, 50] {
        let error = client.search_all(Search::new(ROOT).size_limit(asked)).await.unwrap_err();
        assert_eq!(code(&error), ResultCode::SIZE_LIMIT_EXCEEDED);
    }
    let (found, _) = client.search_all(Search::new(ROOT).filter("(uid=p0000*)").unwrap()).await.unwrap();
    assert_eq!(found.len(), 10);
}

/// Octets of this process that are in memory.
#[cfg(target_os = "linux")]
fn resident() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<usize>().unwrap() << 10
}

/// 300 searches for everything at once, by a client that does not read: their answers are 300 times the directory.
#[cfg(target_os = "linux")]
#[test]
fn answers_wait_for_the_client() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let (server, size) = runtime.block_on(async {
        let directory = Directory::new();
        let ldif = people(2000);
        directory.load(ldif.as_slice()).unwrap();
        (directory.listen("127.0.0.1:0").await.unwrap(), ldif.len())
    });
    let mut stream = TcpStream::connect(server.address().unwrap()).unwrap();
    let request = |id: u16| {
        let id = id.to_be_bytes();
        let search = b"\x63\x25\x04\x06o=test\x0A\x01\x02\x0A\x01\x00\x02\x01\x00\x02\x01\x00\x01\x01\x00\x87\x0BobjectClass\x30\x00";
        let search = [&search[..1], &[u8::try_from(search.len() - 2).unwrap()], &search[2..]].concat();
        [&[0x30, u8::try_from(search.len() + 4).unwrap(), 2, 2, id[0], id[1]], search.as_slice()].concat()
    };
    let before = resident();
    for id in 1000..1300 {
        stream.write_all(&request(id)).unwrap();
    }
    // Another client is answered while the answers wait.
    runtime.block_on(async {
        let client = Client::connect(&server.url()).await.unwrap();
        for _ in 0..50 {
            let (found, _) =
                client.search_all(Search::new(ROOT).filter("(uid=p00007)").unwrap()).await.unwrap();
            assert_eq!(found.len(), 1);
        }
    });
    let grown = resident().saturating_sub(before);
    assert!(grown < 100 * size, "{grown} octets more for answers of {} octets", 300 * size);
    // All of them come.
    let mut results = 0;
    let mut last = [0; 14];
    let mut octets = vec![0; 1 << 20];
    let mut buffered = Vec::new();
    while results < 300 {
        let count = stream.read(&mut octets).unwrap();
        assert!(count > 0, "{results} results before the end: {last:?}");
        buffered.extend_from_slice(&octets[..count]);
        // SearchResultDone with success: no entry has these octets.
        let done = [0x65, 7, 0x0A, 1, 0, 4, 0, 4, 0];
        results += buffered.windows(done.len()).filter(|window| *window == done).count();
        let kept = buffered.len().saturating_sub(done.len() - 1);
        last.copy_from_slice(&buffered[buffered.len() - 14..]);
        buffered.drain(..kept);
    }
    assert_eq!(results, 300);
}

/// A group that grows by one member at a time keeps its index.
#[tokio::test]
async fn large_groups_change_member_by_member() {
    let mut ldif = String::from("dn: cn=g,o=test\ncn: g\nobjectClass: groupOfNames\n");
    (0..2000).for_each(|index| _ = writeln!(ldif, "member: uid=m{index},o=test"));
    let directory = Directory::new();
    directory.load(ldif.as_bytes()).unwrap();
    assert!(Reader::new(ldif.as_bytes()).record().unwrap().is_some());
    let server = directory.listen("127.0.0.1:0").await.unwrap();
    let client = Client::connect(&server.url()).await.unwrap();
    let found = async |member: &str| {
        let filter = format!("(member={member})");
        client
            .search_all(Search::new(ROOT).scope(Scope::Sub).filter(&filter).unwrap())
            .await
            .map(|found| found.0.len())
    };
    // The base does not exist: the group is a root of its own.
    assert_eq!(code(&found("uid=m1,o=test").await.unwrap_err()), ResultCode::NO_SUCH_OBJECT);
    let found = async |member: &str| {
        let filter = format!("(member={member})");
        client.search_all(Search::new("").filter(&filter).unwrap()).await.unwrap().0.len()
    };
    let group = "cn=g,o=test";
    for index in [1, 500, 1999] {
        let member = format!("UID=M{index}, o=test");
        assert_eq!(found(&member).await, 1);
        let exists =
            client.modify(group, &[change(ModificationKind::Add, "member", &[&member])]).await.unwrap_err();
        assert_eq!(code(&exists), ResultCode::ATTRIBUTE_OR_VALUE_EXISTS);
        client.modify(group, &[change(ModificationKind::Delete, "member", &[&member])]).await.unwrap();
        assert_eq!(found(&member).await, 0);
        assert_eq!(found("uid=m7,o=test").await, 1);
        client.modify(group, &[change(ModificationKind::Add, "member", &[&member])]).await.unwrap();
        assert_eq!(found(&member).await, 1);
    }
    client.modify(group, &[change(ModificationKind::Replace, "member", &[])]).await.unwrap();
    assert_eq!(found("uid=m7,o=test").await, 0);
    assert_eq!(client.search_all(Search::new("").filter("(member=*)").unwrap()).await.unwrap().0.len(), 0);
}

/// One client after another that stops in the middle of its answers leaves nothing behind.
#[tokio::test]
async fn clients_that_go_in_the_middle() {
    let directory = Directory::new();
    directory.load(people(5000).as_slice()).unwrap();
    let server = directory.listen("127.0.0.1:0").await.unwrap();
    let done = Mutex::new(0);
    for _ in 0..20 {
        let client = Client::connect(&server.url()).await.unwrap();
        let mut entries = client.search(Search::new(ROOT)).await.unwrap();
        assert!(entries.next().await.unwrap().is_some());
        drop((entries, client));
        *done.lock().unwrap() += 1;
    }
    let client = Client::connect(&server.url()).await.unwrap();
    let (found, _) = client.search_all(Search::new(ROOT)).await.unwrap();
    assert_eq!((found.len(), *done.lock().unwrap()), (5003, 20));
}

/// As many levels as the text of a filter may have are read by a server too.
#[tokio::test]
async fn nested_filters_are_sent_and_evaluated() {
    let directory = Directory::new();
    directory.load("dn: o=test\nobjectClass: organization\no: test\n".as_bytes()).unwrap();
    let server = directory.listen("127.0.0.1:0").await.unwrap();
    let client = Client::connect(&server.url()).await.unwrap();
    for open in ["(&", "(|"] {
        for levels in [1, 40, 79] {
            let filter = format!("{}(o=test){}", open.repeat(levels), ")".repeat(levels));
            let search = Search::new("o=test").filter(&filter).unwrap();
            let found = client.search_all(search).await.unwrap_or_else(|error| panic!("{levels}: {error}"));
            assert_eq!(found.0.len(), 1, "{levels}");
        }
    }
    let too_many = format!("{}(o=test){}", "(!".repeat(81), ")".repeat(81));
    assert!(Search::new("o=test").filter(&too_many).is_err());
}
