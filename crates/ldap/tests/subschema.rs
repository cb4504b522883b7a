//! The schema of a directory: what `cn=subschema` publishes, files that add to it, and entries that it refuses.

mod common;

use common::people;
use tercet_ldap::directory::{Directory, Server};
use tercet_ldap::ldif::{ModificationKind, RecordModification};
use tercet_ldap::schema::{SUBSCHEMA_ATTRIBUTES, Schema};
use tercet_ldap::{Client, Result, ResultCode, Scope, Search};

async fn serve(directory: Directory) -> (Server, Client) {
    directory.load(people(1).as_slice()).unwrap();
    let server = directory.listen("127.0.0.1:0").await.unwrap();
    let client = Client::connect(&server.url()).await.unwrap();
    (server, client)
}

/// As tools find it: by `subschemaSubentry`, and a filter that selects subschema entries.
async fn schema(client: &Client) -> Schema {
    let dse = Search::new("").scope(Scope::Base).attributes(&["subschemaSubentry"]);
    let (dse, _) = client.search_all(dse).await.unwrap();
    let name = dse[0].text("subschemaSubentry").unwrap();
    let own = Search::new("uid=ada,o=test").scope(Scope::Base).attributes(&["subschemaSubentry"]);
    assert_eq!(client.search_all(own).await.unwrap().0[0].text("subschemaSubentry"), Some(name));
    let search = Search::new(name).scope(Scope::Base).filter("(objectClass=subschema)").unwrap();
    let (plain, _) = client.search_all(search.clone()).await.unwrap();
    let names: Vec<_> = plain[0].attributes().map(|one| one.name().into_owned()).collect();
    assert_eq!(names, ["objectClass", "cn"], "the other ones are asked for by name");
    let (found, _) = client.search_all(search.attributes(&SUBSCHEMA_ATTRIBUTES)).await.unwrap();
    Schema::of_entry(&found[0]).unwrap()
}

#[tokio::test]
async fn the_standard_schema_is_whole() {
    let (_server, client) = serve(Directory::new()).await;
    let schema = schema(&client).await;
    assert!(schema.attribute_types.len() > 150 && schema.object_classes.len() >= 50);
    for class in &schema.object_classes {
        for name in class.must().iter().chain(class.may()) {
            assert!(schema.attribute_type(name).is_some(), "{name} of {}", class.name());
        }
        assert!(class.superiors().iter().all(|name| schema.object_class(name).is_some()), "{class}");
    }
    for attribute in &schema.attribute_types {
        assert!(attribute.superiors().iter().all(|name| schema.attribute_type(name).is_some()));
        let rules = ["EQUALITY", "ORDERING", "SUBSTR"].iter().flat_map(|word| attribute.values(word));
        for rule in rules.filter(|rule| *rule != "certificateExactMatch") {
            assert!(schema.matching_rules.iter().any(|one| one.name() == rule), "{rule}");
        }
        if let Some((oid, _)) = attribute.syntax() {
            assert!(schema.syntaxes.iter().any(|one| one.oid == oid), "{oid} of {}", attribute.name());
        }
    }
    let mut oids: Vec<&str> = schema.attribute_types.iter().map(|one| one.oid.as_str()).collect();
    oids.sort_unstable();
    oids.dedup();
    assert_eq!(oids.len(), schema.attribute_types.len());
}

#[tokio::test]
async fn files_add_to_the_schema() {
    let file = "# own\nobjectIdentifier own 1.3.6.1.4.1.99999\nobjectIdentifier ownAttribute own:1\n\n\
                attributetype ( ownAttribute:7 NAME 'rank'\n  EQUALITY integerMatch\n\
                \tSYNTAX 1.3.6.1.4.1.1466.115.121.1.27{10} SINGLE-VALUE )\n\
                objectclass (own:2.1 NAME 'soldier' SUP top AUXILIARY MUST rank )\n";
    let config = "dn: cn=own,cn=schema,cn=config\nobjectClass: olcSchemaConfig\ncn: own\n\
                  olcAttributeTypes: {0}( 1.3.6.1.4.1.99999.1.7 NAME 'rank' SYNTAX 1.3.6.1.4.1.1466.115.121.1.27{10} )\n\
                  olcObjectClasses: {0}( 1.3.6.1.4.1.99999.2.1 NAME 'soldier' SUP top AUXILIARY MUST rank )\n";
    for text in [file, config] {
        let (_server, client) = serve(Directory::new().with_schema(text).unwrap()).await;
        let schema = schema(&client).await;
        let rank = schema.attribute_type("rank").unwrap();
        assert_eq!((rank.oid.as_str(), rank.syntax().unwrap().1), ("1.3.6.1.4.1.99999.1.7", Some(10)));
        assert_eq!(schema.object_class("soldier").unwrap().oid, "1.3.6.1.4.1.99999.2.1");
        assert!(schema.object_class("inetOrgPerson").is_some());
    }
    for (text, message) in [
        ("attributetype ( 1.2 NAME 'a'", "line 1"),
        ("\n\nsurprise ( 1.2 )", "line 3: unknown word `surprise`"),
        ("objectidentifier a", "line 1: objectidentifier"),
        ("# nothing\n", "no descriptions"),
        ("dn: o=test\no: test\n", "no descriptions"),
    ] {
        let error = Directory::new().with_schema(text).unwrap_err();
        assert!(error.message().contains(message), "{error}");
    }
}

#[tokio::test]
async fn entries_are_checked_by_the_schema() {
    let (_server, client) = serve(Directory::new().with_schema_check()).await;
    let code = |result: Result<tercet_ldap::LdapResult>| {
        result.map_or_else(
            |error| error.result().unwrap_or_else(|| panic!("{error}")).code,
            |result| result.code,
        )
    };
    let person: (&str, &[&str]) = ("objectClass", &["inetOrgPerson", "organizationalPerson", "person"]);
    for (attributes, expected) in [
        (vec![person, ("uid", &["x"]), ("cn", &["x"]), ("sn", &["x"])], ResultCode::SUCCESS),
        (vec![person, ("uid", &["x"]), ("cn", &["x"])], ResultCode::OBJECT_CLASS_VIOLATION),
        (
            vec![person, ("uid", &["x"]), ("cn", &["x"]), ("sn", &["x"]), ("uidNumber", &["1"])],
            ResultCode::OBJECT_CLASS_VIOLATION,
        ),
        (
            vec![person, ("uid", &["x"]), ("cn", &["x"]), ("sn", &["x"]), ("nonsense", &["1"])],
            ResultCode::UNDEFINED_ATTRIBUTE_TYPE,
        ),
        (
            vec![person, ("uid", &["x"]), ("cn", &["x"]), ("sn", &["x"]), ("displayName", &["a", "b"])],
            ResultCode::CONSTRAINT_VIOLATION,
        ),
        (vec![("objectClass", &["nothing"]), ("uid", &["x"])], ResultCode::OBJECT_CLASS_VIOLATION),
        (vec![("objectClass", &["uidObject"]), ("uid", &["x"])], ResultCode::OBJECT_CLASS_VIOLATION),
    ] {
        let answer = client.add("uid=x,o=test", &attributes).await;
        assert_eq!(code(answer), expected, "{attributes:?}");
        _ = client.delete("uid=x,o=test").await;
    }
    let change = |kind, attribute: &str, values: &[&str]| RecordModification {
        kind,
        attribute: attribute.to_owned(),
        values: values.iter().map(|value| value.as_bytes().to_vec()).collect(),
    };
    let removed = client.modify("uid=ada,o=test", &[change(ModificationKind::Delete, "sn", &[])]).await;
    let message = removed.as_ref().unwrap_err().to_string();
    assert!(message.contains("missing attribute `sn`, required by object class `person`"), "{message}");
    assert_eq!(code(removed), ResultCode::OBJECT_CLASS_VIOLATION);
    let both = [
        change(ModificationKind::Add, "objectClass", &["posixAccount"]),
        change(ModificationKind::Add, "uidNumber", &["x"]),
        change(ModificationKind::Add, "gidNumber", &["1"]),
        change(ModificationKind::Add, "homeDirectory", &["/home/ada"]),
    ];
    assert_eq!(code(client.modify("uid=ada,o=test", &both).await), ResultCode::INVALID_ATTRIBUTE_SYNTAX);
    let both = [&both[..1], &[change(ModificationKind::Add, "uidNumber", &["1000"])], &both[2..]].concat();
    client.modify("uid=ada,o=test", &both).await.unwrap();
    let renamed = client.modify_dn("uid=ada,o=test", "sn=Lovelace", true, None).await;
    assert_eq!(code(renamed), ResultCode::OBJECT_CLASS_VIOLATION, "posixAccount requires uid");
}
