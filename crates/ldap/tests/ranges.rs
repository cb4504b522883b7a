//! Values that a server returns in ranges come whole, from a server as Active Directory is one; entries are deleted with all
//! below them on a server without treeDelete.

mod common;

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};

use tercet_ldap::proto::{Entry, decode, encode};
use tercet_ldap::{Client, ErrorKind, Scope, Search};

/// What the server does when it is asked for a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Manner {
    /// Returns at most three values, as Active Directory returns 1,500.
    Pages,
    /// Returns the first range again and again.
    Stands,
    /// Returns an entry without values.
    Forgets,
}

/// Number of values of the attribute `member` in all.
const MEMBERS: usize = 8;

fn element(identifier: u8, contents: &[u8]) -> Vec<u8> {
    let length = u16::try_from(contents.len()).unwrap().to_be_bytes();
    [&[identifier, 0x82, length[0], length[1]], contents].concat()
}

fn attribute(name: &str, values: &[String]) -> Vec<u8> {
    let values: Vec<u8> = values.iter().flat_map(|value| element(4, value.as_bytes())).collect();
    element(0x30, &[element(4, name.as_bytes()), element(0x31, &values)].concat())
}

fn message(id: u8, operation: Vec<u8>) -> Vec<u8> {
    element(0x30, &[vec![2, 1, id], operation].concat())
}

/// Serves groups `CN=g0` to `CN=g2` and, between them, entries without ranges.
fn serve(manner: Manner) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("ldap://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut octets = Vec::new();
        let mut part = [0; 4096];
        while let Ok(count @ 1..) = stream.read(&mut part) {
            octets.extend_from_slice(&part[..count]);
            while octets.len() >= 2 && octets.len() >= 2 + usize::from(octets[1]) {
                let request: Vec<u8> = octets.drain(..2 + usize::from(octets[1])).collect();
                answer(&mut stream, &request, manner);
            }
        }
    });
    url
}

fn answer(stream: &mut TcpStream, request: &[u8], manner: Manner) {
    let id = request[4];
    let text = String::from_utf8_lossy(request).into_owned();
    let asked =
        text.split("range=").nth(1).and_then(|rest| rest.split('-').next()).map(|n| n.parse().unwrap());
    let range = |first: usize| {
        let end = (first + 3).min(MEMBERS);
        let last = if end == MEMBERS { "*".to_owned() } else { (end - 1).to_string() };
        let values: Vec<String> = (first..end).map(|n| format!("CN=u{n}")).collect();
        attribute(&format!("member;range={first}-{last}"), &values)
    };
    let entry = |dn: &str, attributes: Vec<Vec<u8>>| {
        let list = element(0x30, &attributes.concat());
        message(id, element(0x64, &[element(4, dn.as_bytes()), list].concat()))
    };
    let mut out = Vec::new();
    match (asked, manner) {
        (None, _) => {
            for n in 0..3 {
                let members = attribute("member", &[]);
                out.extend(entry(
                    &format!("CN=g{n}"),
                    vec![attribute("cn", &[format!("g{n}")]), members, range(0)],
                ));
                out.extend(entry(
                    &format!("CN=p{n}"),
                    vec![attribute("telephoneNumber;x-1", &["1".to_owned()])],
                ));
            }
        }
        (Some(first), Manner::Pages) => out.extend(entry("CN=g", vec![range(first)])),
        (Some(_), Manner::Stands) => {
            let again = attribute(&format!("member;range={}-2", asked.unwrap()), &["CN=u0".to_owned()]);
            out.extend(entry("CN=g", vec![again]));
        }
        (Some(_), Manner::Forgets) => out.extend(entry("CN=g", Vec::new())),
    }
    out.extend(message(id, element(0x65, &[10, 1, 0, 4, 0, 4, 0])));
    stream.write_all(&out).unwrap();
}

fn members(entry: &Entry) -> Vec<String> {
    entry.values("member").map(|value| String::from_utf8(value.to_vec()).unwrap()).collect()
}

#[tokio::test]
async fn ranges_of_values_are_put_together() {
    let client = Client::connect(&serve(Manner::Pages)).await.unwrap();
    let (entries, _) = client.search_all(Search::new("")).await.unwrap();
    let names: Vec<&str> = entries.iter().map(Entry::dn).collect();
    // Those with ranges follow the others of the page.
    assert_eq!(names, ["CN=p0", "CN=p1", "CN=p2", "CN=g0", "CN=g1", "CN=g2"]);
    let all: Vec<String> = (0..MEMBERS).map(|n| format!("CN=u{n}")).collect();
    for group in &entries[3..] {
        assert_eq!(members(group), all);
        // Neither the range nor the attribute without values is left.
        let attributes: Vec<_> = group.attributes().map(|attribute| attribute.name().into_owned()).collect();
        assert_eq!(attributes, ["cn", "member"]);
    }
}

#[tokio::test]
async fn ranges_stay_where_they_are_asked_for() {
    for search in [
        Search::new("").ranges(false),
        Search::new("").types_only(true),
        Search::new("").attributes(&["member;range=0-2"]),
    ] {
        let client = Client::connect(&serve(Manner::Pages)).await.unwrap();
        let (entries, _) = client.search_all(search).await.unwrap();
        assert!(entries.iter().any(Entry::is_ranged));
    }
}

#[tokio::test]
async fn ranges_that_do_not_advance_are_an_error() {
    for manner in [Manner::Stands, Manner::Forgets] {
        let client = Client::connect(&serve(manner)).await.unwrap();
        let mut entries = client.search(Search::new("")).await.unwrap();
        let mut whole = 0;
        let error = loop {
            match entries.next().await {
                Ok(Some(_)) => whole += 1,
                Ok(None) => panic!("{manner:?}: no error"),
                Err(error) => break error,
            }
        };
        assert_eq!((error.kind(), whole), (ErrorKind::Protocol, 3), "{manner:?}: {error}");
    }
}

#[tokio::test]
async fn a_completed_entry_is_a_message() {
    let client = Client::connect(&serve(Manner::Pages)).await.unwrap();
    let (entries, _) = client.search_all(Search::new("")).await.unwrap();
    let group = entries.last().unwrap();
    let read = decode(group.octets(), &tercet_ldap::proto::Limits::default()).unwrap();
    let mut again = Vec::new();
    encode(read.message_id, read.protocol_op, &[], &mut again).unwrap();
    assert_eq!(again, group.octets()[..]);
}

#[tokio::test]
async fn a_tree_is_deleted_children_first() {
    // The root of the database is above all limits: a user deletes.
    let user = ["cn=me,o=test", "mine"];
    let mut ldif = format!(
        "dn: o=test\nobjectClass: organization\no: test\n\n\
         dn: {}\nobjectClass: person\ncn: me\nsn: me\nuserPassword: {}\n\n",
        user[0], user[1]
    );
    let mut names = Vec::new();
    for unit in ["a", "b"] {
        names.push(format!("ou={unit},o=test"));
        for inner in 0..30 {
            names.push(format!("ou=u{inner}\\, x,ou={unit},o=test"));
            names.push(format!("ou=deep,ou=u{inner}\\, x,ou={unit},o=test"));
        }
    }
    for name in &names {
        let value = name[3..].split(",ou=").next().unwrap().split(",o=").next().unwrap().replace('\\', "");
        ldif += &format!("dn: {name}\nobjectClass: organizationalUnit\nou: {value}\n\n");
    }
    // With a limit below the number of entries, several rounds are needed.
    for limits in ["", "limits users size.soft=10 size.hard=10 size.prtotal=10\n"] {
        let Some(slapd) = common::Slapd::start_as(ldif.as_bytes(), None, ["", limits], &[]) else { return };
        let client = Client::connect(&slapd.url()).await.unwrap();
        client.bind(user[0], user[1]).await.unwrap();
        assert_eq!(client.delete_subtree("ou=a,o=test").await.unwrap(), 61);
        client.bind(common::ROOT, common::SECRET).await.unwrap();
        let (entries, _) = client.search_all(Search::new("o=test").scope(Scope::Sub)).await.unwrap();
        assert_eq!(entries.len(), 63);
        assert!(client.delete_subtree("ou=a,o=test").await.is_err());
    }
}
