//! What holds between entries of a directory: unique values, names in values, `memberOf`.

mod common;

use tercet_ldap::directory::{Directory, Server};
use tercet_ldap::ldif::{ModificationKind, RecordModification};
use tercet_ldap::{Client, ResultCode, Scope, Search};

const STAFF: &str = "\
dn: o=test
objectClass: organization
o: test

dn: cn=early,o=test
objectClass: groupOfNames
cn: early
member: uid=ada,o=test
member: UID=Eve, O=Test

dn: uid=ada,o=test
objectClass: account
uid: ada
mail: ada@example.net

dn: uid=bob,o=test
objectClass: account
uid: bob
";

fn code(result: tercet_ldap::Result<impl Sized>) -> ResultCode {
    result.err().map_or(ResultCode::SUCCESS, |error| error.result().unwrap_or_else(|| panic!("{error}")).code)
}

fn change(kind: ModificationKind, attribute: &str, values: &[&str]) -> RecordModification {
    let values = values.iter().map(|value| value.as_bytes().to_vec()).collect();
    RecordModification { kind, attribute: attribute.to_owned(), values }
}

async fn serve(directory: Directory) -> (Server, Client) {
    let server = directory.listen("127.0.0.1:0").await.unwrap();
    let client = Client::connect(&server.url()).await.unwrap();
    (server, client)
}

async fn values(client: &Client, dn: &str, attribute: &str) -> Vec<String> {
    let (found, _) = client.search_all(Search::new(dn).scope(Scope::Base)).await.unwrap();
    let text = |value: &[u8]| String::from_utf8(value.to_vec()).unwrap();
    found[0].values(attribute).map(text).collect()
}

#[tokio::test]
async fn unique_values_are_in_one_entry() {
    let directory = Directory::new().with_unique(&["mail".to_owned(), "employeeNumber".to_owned()]).unwrap();
    directory.load(STAFF.as_bytes()).unwrap();
    let (_server, client) = serve(directory).await;
    let used = [change(ModificationKind::Add, "mail", &["ADA@example.net"])];
    assert_eq!(code(client.modify("uid=bob,o=test", &used).await), ResultCode::CONSTRAINT_VIOLATION);
    assert!(values(&client, "uid=bob,o=test", "mail").await.is_empty());
    let added = client.add("uid=eve,o=test", &[("uid", &["eve"]), ("mail", &["ada@example.net"])]).await;
    assert_eq!(code(added), ResultCode::CONSTRAINT_VIOLATION);
    // An entry may keep its own, and one that is free may be used.
    let own = [change(ModificationKind::Replace, "mail", &["ada@example.net", "a@example.net"])];
    client.modify("uid=ada,o=test", &own).await.unwrap();
    client
        .modify("uid=ada,o=test", &[change(ModificationKind::Replace, "mail", &["a@example.net"])])
        .await
        .unwrap();
    client.modify("uid=bob,o=test", &used).await.unwrap();
    client
        .modify("uid=bob,o=test", &[change(ModificationKind::Add, "employeeNumber", &["1"])])
        .await
        .unwrap();
    let renamed = client.modify_dn("uid=ada,o=test", "employeeNumber=1", false, None).await;
    assert_eq!(code(renamed), ResultCode::CONSTRAINT_VIOLATION);
    assert!(Directory::new().with_unique(&["a b".to_owned()]).is_err());
}

#[tokio::test]
async fn names_follow_their_entries() {
    let directory = Directory::new().with_integrity(&["member".to_owned(), "owner".to_owned()]).unwrap();
    directory.load(STAFF.as_bytes()).unwrap();
    let (_server, client) = serve(directory).await;
    client.modify_dn("uid=ada,o=test", "uid=lovelace", true, None).await.unwrap();
    let group = "cn=early,o=test";
    assert_eq!(values(&client, group, "member").await, ["uid=lovelace,o=test", "UID=Eve, O=Test"]);
    client.modify(group, &[change(ModificationKind::Add, "owner", &["uid=lovelace,o=test"])]).await.unwrap();
    client.delete("uid=lovelace,o=test").await.unwrap();
    assert_eq!(values(&client, group, "member").await, ["UID=Eve, O=Test"]);
    assert!(values(&client, group, "owner").await.is_empty());
}

#[tokio::test]
async fn entries_have_the_groups_that_name_them() {
    let directory = Directory::new();
    directory.load(STAFF.as_bytes()).unwrap();
    let (_server, client) = serve(directory.with_member_of().unwrap()).await;
    let of = async |name: &str| values(&client, name, "memberOf").await;
    let (ada, bob, early) = ("uid=ada,o=test", "uid=bob,o=test", "cn=early,o=test");
    assert_eq!(of(ada).await, [early]);
    assert!(of(bob).await.is_empty());
    client.add("uid=eve,o=test", &[("objectClass", &["account"]), ("uid", &["eve"])]).await.unwrap();
    assert_eq!(of("uid=eve,o=test").await, [early], "the group was there first");
    client
        .add(
            "cn=late,o=test",
            &[("objectClass", &["groupOfUniqueNames"]), ("cn", &["late"]), ("uniqueMember", &[ada, bob])],
        )
        .await
        .unwrap();
    assert_eq!(of(ada).await, [early, "cn=late,o=test"]);
    client.modify(early, &[change(ModificationKind::Delete, "member", &[ada])]).await.unwrap();
    client.modify(early, &[change(ModificationKind::Add, "member", &[bob])]).await.unwrap();
    assert_eq!(of(ada).await, ["cn=late,o=test"]);
    assert_eq!(of(bob).await, [early, "cn=late,o=test"]);
    client.modify_dn("cn=late,o=test", "cn=later", true, None).await.unwrap();
    assert_eq!(of(ada).await, ["cn=later,o=test"]);
    client.modify_dn(ada, "uid=lovelace", true, None).await.unwrap();
    assert!(of("uid=lovelace,o=test").await.is_empty(), "the group names the entry that has gone");
    client.delete("cn=later,o=test").await.unwrap();
    assert_eq!(of(bob).await, [early]);
    let written = client.modify(bob, &[change(ModificationKind::Replace, "memberOf", &[ada])]).await;
    assert_eq!(code(written), ResultCode::CONSTRAINT_VIOLATION);
}
