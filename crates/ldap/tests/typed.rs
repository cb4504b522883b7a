//! Entries as structs.
#![cfg(feature = "serde")]

use std::collections::BTreeMap;

use tercet_ldap::directory::Directory;
use tercet_ldap::{Client, Entry, Search, from_entry};

#[derive(Debug, PartialEq, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
enum Status {
    Active,
    Gone,
}

#[derive(Debug, PartialEq, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
struct Account {
    dn: String,
    uid: String,
    uid_number: u64,
    mail: Vec<String>,
    title: Option<String>,
    locked: bool,
    status: Status,
    #[serde(default)]
    absent: Vec<i32>,
}

async fn entry() -> Entry {
    let directory = Directory::new();
    let ldif = "dn: uid=a,o=test\nobjectClass: account\nuid: a\nUIDNUMBER: 18446744073709551615\nmail: a@b\nmail: c@d\nlocked: TRUE\nstatus: gone\n";
    directory.load(ldif.as_bytes()).unwrap();
    let server = directory.listen("127.0.0.1:0").await.unwrap();
    let client = Client::connect(&server.url()).await.unwrap();
    client.search_all(Search::new("uid=a,o=test")).await.unwrap().0.remove(0)
}

#[tokio::test]
async fn structs_and_maps() {
    let entry = entry().await;
    let account: Account = from_entry(&entry).unwrap();
    let expected = Account {
        dn: "uid=a,o=test".to_owned(),
        uid: "a".to_owned(),
        uid_number: u64::MAX,
        mail: vec!["a@b".to_owned(), "c@d".to_owned()],
        title: None,
        locked: true,
        status: Status::Gone,
        absent: Vec::new(),
    };
    assert_eq!(account, expected);
    let map: BTreeMap<String, serde_json::Value> = from_entry(&entry).unwrap();
    assert_eq!(map["mail"], serde_json::json!(["a@b", "c@d"]));
    assert_eq!(map["dn"], "uid=a,o=test");
}

#[tokio::test]
async fn faults_name_entry_and_attribute() {
    #[derive(Debug, serde::Deserialize)]
    #[expect(dead_code, reason = "what is wrong is never read")]
    struct One {
        mail: String,
    }
    #[derive(Debug, serde::Deserialize)]
    #[expect(dead_code, reason = "what is wrong is never read")]
    struct Small {
        #[serde(rename = "uidNumber")]
        number: u8,
    }
    #[derive(Debug, serde::Deserialize)]
    #[expect(dead_code, reason = "what is wrong is never read")]
    struct More {
        sn: String,
    }
    let entry = entry().await;
    let told = [
        from_entry::<One>(&entry).unwrap_err().to_string(),
        from_entry::<Small>(&entry).unwrap_err().to_string(),
        from_entry::<More>(&entry).unwrap_err().to_string(),
    ];
    assert_eq!(
        told,
        [
            "uid=a,o=test: mail: 2 values for a field of one",
            "uid=a,o=test: uidNumber: \"18446744073709551615\" is not a number of this type",
            "uid=a,o=test: missing field `sn`",
        ]
    );
}
