//! Names in requests: attribute types by each of their names, with the types derived from them, and classes with those derived from them
//! (RFC 4512 2.5, 3.3).

use tercet_ldap::controls::{Sort, SortResult};
use tercet_ldap::directory::{Acl, Directory, PasswordRules, Server};
use tercet_ldap::ldif::{ModificationKind, RecordModification};
use tercet_ldap::{Client, Result, ResultCode, Scope, Search};

const TREE: &str = "dn: o=test\nobjectClass: organization\no: test\n\n\
dn: uid=ada,o=test\nobjectClass: inetOrgPerson\nuid: ada\ncommonName: Ada\nsurname: Lovelace\n\
structuralObjectClass: inetOrgPerson\ncreatorsName: cn=x\nentryUUID: 1\ntelephoneNumber: 1\n\n";

async fn serving(directory: Directory) -> (Server, Client) {
    directory.load(TREE.as_bytes()).unwrap();
    let server = directory.listen("127.0.0.1:0").await.unwrap();
    let client = Client::connect(&server.url()).await.unwrap();
    (server, client)
}

async fn count(client: &Client, filter: &str) -> usize {
    let search = Search::new("o=test").filter(filter).unwrap();
    client.search_all(search).await.unwrap().0.len()
}

fn code<T: std::fmt::Debug>(done: Result<T>) -> ResultCode {
    let error = done.unwrap_err();
    error.result().unwrap_or_else(|| panic!("{error:?}")).code
}

#[tokio::test]
async fn classes_are_inherited() {
    let (_server, client) = serving(Directory::new()).await;
    for (filter, expected) in [
        ("(objectClass=person)", 1),
        ("(objectClass=organizationalPerson)", 1),
        ("(2.5.4.0=2.5.6.6)", 1),
        ("(objectClass=top)", 2),
        ("(&(objectClass=person)(uid=ada))", 1),
        ("(objectClass=organization)", 1),
        ("(objectClass=device)", 0),
        ("(objectClass=unheard)", 0),
        ("(!(objectClass=person))", 1),
    ] {
        assert_eq!(count(&client, filter).await, expected, "{filter}");
    }
    assert!(client.compare("uid=ada,o=test", "objectClass", b"person").await.unwrap());
    assert!(!client.compare("uid=ada,o=test", "objectClass", b"device").await.unwrap());
}

#[tokio::test]
async fn attributes_have_several_names() {
    let (_server, client) = serving(Directory::new()).await;
    for filter in
        ["(cn=Ada)", "(commonName=ada)", "(2.5.4.3=ada)", "(name=lovelace)", "(name=*a*)", "(userid=ada)"]
    {
        assert_eq!(count(&client, filter).await, 1, "{filter}");
    }
    let found = async |names: &[&str]| {
        let search = Search::new("userid=ADA,organizationName=test").scope(Scope::Base).attributes(names);
        let (entries, _) = client.search_all(search).await.unwrap();
        entries[0].attributes().map(|attribute| attribute.name().to_string()).collect::<Vec<String>>()
    };
    assert_eq!(found(&["2.5.4.3"]).await, ["cn"]);
    assert_eq!(found(&["commonName", "surname"]).await, ["cn", "sn"]);
    assert_eq!(found(&["name"]).await, ["cn", "sn"]);
    assert!(client.compare("uid=ada,0.9.2342.19200300.100.1.25=x", "cn", b"x").await.is_err());
    assert!(client.compare("uid=ada,2.5.4.10=test", "commonName", b"ada").await.unwrap());
    // A value that is there by another name, and a value of the name.
    let change = |kind, attribute: &str, value: &str| RecordModification {
        kind,
        attribute: attribute.to_owned(),
        values: vec![value.as_bytes().to_vec()],
    };
    let ada = "uid=ada,o=test";
    let added = client.modify(ada, &[change(ModificationKind::Add, "2.5.4.3", "Ada")]).await;
    assert_eq!(code(added), ResultCode::ATTRIBUTE_OR_VALUE_EXISTS);
    let deleted = client.modify(ada, &[change(ModificationKind::Delete, "userid", "ada")]).await;
    assert_eq!(code(deleted), ResultCode::NOT_ALLOWED_ON_RDN);
    client.modify(ada, &[change(ModificationKind::Replace, "commonName", "Countess")]).await.unwrap();
    assert_eq!(count(&client, "(cn=countess)").await, 1);
    assert_eq!(count(&client, "(cn=ada)").await, 0);
}

/// What servers keep themselves cannot be given, and what was loaded of another server is not shown with attributes of users.
#[tokio::test]
async fn attributes_of_the_directory_are_its_own() {
    let (_server, client) = serving(Directory::new()).await;
    for name in
        ["createTimestamp", "entryUUID", "2.5.18.3", "structuralObjectClass", "hasSubordinates", "entryDN"]
    {
        let attributes: &[(&str, &[&str])] =
            &[("objectClass", &["device"]), ("cn", &["x"]), (name, &["20260101000000Z"])];
        let added = client.add("cn=x,o=test", attributes).await;
        assert_eq!(code(added), ResultCode::CONSTRAINT_VIOLATION, "{name}");
    }
    let ada = || Search::new("uid=ada,o=test").scope(Scope::Base);
    let (entries, _) = client.search_all(ada()).await.unwrap();
    assert!(entries[0].attributes().all(|attribute| {
        ["objectClass", "uid", "cn", "sn", "telephoneNumber"].contains(&&*attribute.name())
    }));
    let (entries, _) = client.search_all(ada().attributes(&["*", "+"])).await.unwrap();
    let mut names: Vec<String> =
        entries[0].attributes().map(|attribute| attribute.name().to_ascii_lowercase()).collect();
    assert!(names.contains(&"creatorsname".to_owned()));
    names.sort_unstable();
    let all = names.len();
    names.dedup();
    assert_eq!(names.len(), all, "an attribute comes once: {names:?}");
}

/// A rule that denies reading denies finding out by filters.
#[tokio::test]
async fn what_must_not_be_read_is_not_found() {
    let rules = "deny read to o=test.sub attr=2.5.4.20 by anyone\nallow read to * by anyone\n";
    let directory = Directory::new().with_acl(rules.parse::<Acl>().unwrap());
    let (_server, client) = serving(directory).await;
    assert_eq!(count(&client, "(telephoneNumber=*)").await, 0);
    assert_eq!(count(&client, "(telephoneNumber=1)").await, 0);
    assert_eq!(count(&client, "(uid=ada)").await, 1);
}

/// A rule is about an attribute, whichever of its names a request or the rule has.
#[tokio::test]
async fn other_names_are_no_way_around_rules() {
    let schema = "attributetype ( 1.3.6.1.4.1.32473.1 NAME ( 'alias' 'nick' ) SUP name )\n";
    let rules = "deny write,compare to * attr=cn,nick by anyone\nallow read,write,compare to * by anyone\n";
    let acl = || rules.parse::<Acl>().unwrap();
    let before = Directory::new().with_schema(schema).unwrap().with_acl(acl());
    let behind = Directory::new().with_acl(acl()).with_schema(schema).unwrap();
    for directory in [before, behind] {
        let directory = directory.with_member_of().unwrap().with_password_rules(PasswordRules::default());
        let (_server, client) = serving(directory).await;
        let ada = "uid=ada,o=test";
        let change = |attribute: &str| RecordModification {
            kind: ModificationKind::Add,
            attribute: attribute.to_owned(),
            values: vec![b"x".to_vec()],
        };
        for name in ["cn", "commonName", "2.5.4.3", "alias", "nick", "1.3.6.1.4.1.32473.1"] {
            let written = client.modify(ada, &[change(name)]).await;
            assert_eq!(code(written), ResultCode::INSUFFICIENT_ACCESS_RIGHTS, "{name}");
            let compared = client.compare(ada, name, b"Ada").await;
            assert_eq!(code(compared), ResultCode::INSUFFICIENT_ACCESS_RIGHTS, "{name}");
        }
        // `name` means `cn` and `sn`, of which one may be compared.
        assert!(!client.compare(ada, "name", b"Ada").await.unwrap());
        assert!(client.compare(ada, "name", b"Lovelace").await.unwrap());
        // What the directory and the rules for passwords keep has object identifiers too.
        for name in
            ["memberOf", "1.2.840.113556.1.2.102", "pwdAccountLockedTime", "1.3.6.1.4.1.42.2.27.8.1.17"]
        {
            let written = client.modify(ada, &[change(name)]).await;
            assert_eq!(code(written), ResultCode::CONSTRAINT_VIOLATION, "{name}");
        }
    }
}

/// Types and classes of a schema of one's own.
#[tokio::test]
async fn a_schema_of_its_own() {
    let schema = "attributetype ( 1.3.6.1.4.1.32473.1 NAME ( 'alias' 'nick' ) SUP name )\n\
        attributetype ( 1.3.6.1.4.1.32473.3 NAME 'size' EQUALITY integerMatch SYNTAX 1.3.6.1.4.1.1466.115.121.1.27 )\n\
        attributetype ( 1.3.6.1.4.1.32473.4 NAME 'code' EQUALITY caseExactMatch SYNTAX 1.3.6.1.4.1.1466.115.121.1.15 )\n\
        objectclass ( 1.3.6.1.4.1.32473.2 NAME 'star' SUP inetOrgPerson STRUCTURAL MAY ( alias $ size $ code ) )\n";
    let indexes = ["size:eq,ord".parse().unwrap(), "1.3.6.1.4.1.32473.4:eq".parse().unwrap()];
    let directory = Directory::new().with_schema(schema).unwrap().with_indexes(&indexes);
    let (_server, client) = serving(directory).await;
    let attributes: &[(&str, &[&str])] = &[
        ("objectClass", &["star"]),
        ("cn", &["x"]),
        ("sn", &["x"]),
        ("nick", &["Bright"]),
        ("size", &["10"]),
        ("code", &["Ab", "AB"]),
    ];
    client.add("cn=x,o=test", attributes).await.unwrap();
    for filter in ["(objectClass=person)", "(objectClass=star)"] {
        assert!(count(&client, filter).await >= 1, "{filter}");
    }
    assert_eq!(count(&client, "(code=ab)").await, 0);
    for filter in [
        "(size>=9)",
        "(size=10)",
        "(code=Ab)",
        "(alias=bright)",
        "(nick=bright)",
        "(1.3.6.1.4.1.32473.1=bright)",
        "(name=bright)",
    ] {
        assert_eq!(count(&client, filter).await, 1, "{filter}");
    }
}

/// What cannot be sorted by is said in the answer (RFC 2891 1.2).
#[tokio::test]
async fn sorting_by_what_is_not_known() {
    let (_server, client) = serving(Directory::new()).await;
    for (key, expected) in [
        ("commonName", ResultCode::SUCCESS),
        ("description", ResultCode::SUCCESS),
        ("nosuch", ResultCode::NO_SUCH_ATTRIBUTE),
        ("uid:nosuchrule", ResultCode::INAPPROPRIATE_MATCHING),
    ] {
        let sort = Sort { keys: vec![key.parse().unwrap()], critical: false };
        let (entries, result) = client.with(&[&sort]).search_all(Search::new("o=test")).await.unwrap();
        assert_eq!(entries.len(), 2, "{key}");
        assert_eq!(result.control::<SortResult>().unwrap().unwrap().code, expected, "{key}");
    }
}
