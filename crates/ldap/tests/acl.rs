//! Rules of access: which one decides, and what a server with rules does.

mod common;

use common::{ROOT, SECRET, people};
use tercet_ldap::controls::Assertion;
use tercet_ldap::directory::{Acl, Directory, Requester, Right};
use tercet_ldap::extended::PasswordModify;
use tercet_ldap::ldif::{ModificationKind, Reader, Record, RecordModification};
use tercet_ldap::{Client, Result, ResultCode, Scope, Search};

const RULES: &str = "\
# the directory of a school
deny read,search,compare to o=test.sub attr=userPassword by users
allow write to o=test.sub attr=mail,userPassword by self
allow auth to o=test.sub by anonymous
allow read to ou=people,o=test.one filter=(&(objectClass=person)(!(cn=secret))) by users
allow read to o=test by anyone
allow read,write,add,delete to ou=people,o=test.children by group=cn=admins,o=test
allow read to \"ou=Two Words,o=test\".sub attr=cn by peer=192.0.2.0/24
allow read to ou=net,o=test.sub by peer=2001:db8::/32
allow read to ou=tls,o=test.sub by tls
allow search to .sub attr=uid by uid=ada,ou=people,o=test
";

const ENTRIES: &str = "\
dn: cn=admins,o=test
objectClass: groupOfNames
cn: admins
member: uid=eve, ou=People, o=test

dn: uid=ada,ou=people,o=test
objectClass: person
cn: ada

dn: uid=bob,ou=people,o=test
objectClass: person
cn: secret
";

#[test]
fn the_first_rule_that_matches_decides() {
    let acl: Acl = RULES.parse().unwrap();
    let entries: Vec<Record> = Reader::new(ENTRIES.as_bytes()).collect::<Result<_>>().unwrap();
    let ada = "uid=ada,ou=people,o=test";
    let eve = "uid=eve,ou=people,o=test";
    for (who, on, attribute, right, line) in [
        (ada, ada, Some("userPassword"), "read", -2),
        (ada, ada, Some("2.5.4.35"), "read", -2),
        (ada, ada, Some("userPassword;x-y"), "write", 3),
        (ada, "uid=bob,ou=people,o=test", Some("mail"), "write", 0),
        (ada, ada, None, "write", 0),
        ("", ada, None, "auth", 4),
        ("", ada, Some("userPassword"), "auth", 4),
        (ada, ada, None, "auth", 0),
        (ada, "UID=Ada, OU=People,O=Test", Some("cn"), "read", 5),
        (ada, ada, Some("cn"), "search", 5),
        (ada, ada, Some("cn"), "compare", 5),
        (ada, "uid=bob,ou=people,o=test", Some("cn"), "read", 0),
        ("", "o=test", None, "read", 6),
        ("", "ou=people,o=test", None, "read", 0),
        (eve, "uid=new,ou=people,o=test", None, "add", 7),
        (eve, "ou=people,o=test", None, "add", 0),
        (ada, "uid=new,ou=people,o=test", None, "add", 0),
        (ada, "o=other", Some("uid"), "search", 11),
        (ada, "", Some("uid"), "search", 11),
        (eve, "o=other", Some("uid"), "search", 0),
    ] {
        let who = Requester::new(who).unwrap();
        let right = right.parse().unwrap();
        let decision = acl.decide(&who, on, right, attribute, &entries).unwrap();
        let found = decision.rule.map_or(0, |(line, _)| i32::try_from(line).unwrap());
        assert_eq!(
            if decision.is_allowed { found } else { -found },
            line,
            "{who:?} {right:?} {on} {attribute:?}"
        );
    }
    let with = |peer: &str, is_tls: bool| Requester::new("").unwrap().at(peer.parse().ok(), is_tls);
    for (who, on, attribute, is_allowed) in [
        (with("192.0.2.77", false), "cn=x,ou=two words,o=test", Some("cn"), true),
        (with("::ffff:192.0.2.77", false), "cn=x,ou=two words,o=test", Some("cn"), true),
        (with("192.0.3.77", false), "cn=x,ou=two words,o=test", Some("cn"), false),
        (with("192.0.2.77", false), "cn=x,ou=two words,o=test", Some("sn"), false),
        (with("2001:db8:1::1", false), "ou=net,o=test", None, true),
        (with("2001:db9::1", false), "ou=net,o=test", None, false),
        (with("192.0.2.77", true), "ou=tls,o=test", None, true),
        (with("192.0.2.77", false), "ou=tls,o=test", None, false),
    ] {
        let decision = acl.decide(&who, on, Right::Read, attribute, &entries).unwrap();
        assert_eq!(decision.is_allowed, is_allowed, "{who:?} {on}");
    }
}

#[test]
fn wrong_rules_are_refused_with_their_line() {
    for (rule, message) in [
        ("permit read to o=test by users", "`allow` or `deny` expected instead of `permit`"),
        ("allow reed to o=test by users", "unknown right `reed`"),
        ("allow read on o=test by users", "`to` expected instead of `on`"),
        ("allow read to o=test", "`by` with a user is missing"),
        ("allow read to o=test by", "`by` with a user is missing"),
        ("allow read to test by users", "`test`"),
        ("allow read to o=test attr= by users", "names of attributes"),
        ("allow read to o=test filter=cn=a by users", "in parentheses"),
        ("allow read to o=test filter=(cn) by users", "filter"),
        ("allow read to o=test by nobody", "unknown user `nobody`"),
        ("allow read to o=test by peer=10.0.0.0/33", "`peer=10.0.0.0/33`"),
        ("allow read to \"o=test by users", "a quotation mark is missing"),
    ] {
        let error = format!("\n{rule}").parse::<Acl>().unwrap_err();
        assert!(error.message().starts_with("line 2: "), "{rule}: {error}");
        assert!(error.message().contains(message), "{rule}: {error}");
    }
}

fn code(error: &tercet_ldap::Error) -> ResultCode {
    error.result().unwrap_or_else(|| panic!("{error:?}")).code
}

async fn found(client: &Client, base: &str, filter: &str) -> Vec<String> {
    let search = Search::new(base).filter(filter).unwrap();
    let (entries, _) = client.search_all(search).await.unwrap();
    entries.iter().map(|entry| entry.dn().to_owned()).collect()
}

fn replace(attribute: &str, value: &str) -> RecordModification {
    let values = vec![value.as_bytes().to_vec()];
    RecordModification { kind: ModificationKind::Replace, attribute: attribute.to_owned(), values }
}

const ADA: &str = "uid=ada,o=test";

/// The rules of a server: all may bind, users read names, nobody but its owner reads or changes `mail`, admins do all.
async fn serve(rules: &str) -> (tercet_ldap::directory::Server, Client) {
    let directory = Directory::new().with_root(ROOT, SECRET).with_acl(rules.parse().unwrap());
    directory.load(people(3).as_slice()).unwrap();
    let more = "dn: cn=admins,o=test\nchangetype: add\nobjectClass: groupOfNames\ncn: admins\nmember: uid=p00001,o=test\n\n\
                dn: uid=p00001,o=test\nchangetype: modify\nreplace: userPassword\nuserPassword: one\n-\n\n\
                dn: uid=ada,o=test\nchangetype: modify\nreplace: mail\nmail: ada@example.net\n-\n";
    directory.load(more.as_bytes()).unwrap();
    let server = directory.listen("127.0.0.1:0").await.unwrap();
    let client = Client::connect(&server.url()).await.unwrap();
    (server, client)
}

#[tokio::test]
async fn what_no_rule_allows_is_denied() {
    let (_server, client) = serve("allow auth to o=test.sub by anonymous\n").await;
    assert!(found(&client, "o=test", "(objectClass=*)").await.is_empty());
    client.bind(ADA, "engine").await.unwrap();
    assert!(found(&client, ADA, "(objectClass=*)").await.is_empty());
    for result in [
        client.modify(ADA, &[replace("mail", "x")]).await.map(drop),
        client.delete(ADA).await.map(drop),
        client.modify_dn(ADA, "uid=eve", true, None).await.map(drop),
        client.add("uid=new,o=test", &[("objectClass", &["account"]), ("uid", &["new"])]).await.map(drop),
        client.compare(ADA, "mail", b"x").await.map(drop),
        client
            .modify_password(&PasswordModify { new: Some(b"x".to_vec()), ..PasswordModify::default() })
            .await
            .map(drop),
    ] {
        assert_eq!(code(&result.unwrap_err()), ResultCode::INSUFFICIENT_ACCESS_RIGHTS);
    }
    let error = client.search_all(Search::new("cn=x,uid=ada,o=test")).await.unwrap_err();
    assert_eq!(error.result().unwrap().matched_dn, "", "the name of an entry that cannot be seen");
    client.bind(ROOT, SECRET).await.unwrap();
    assert!(found(&client, "o=test", "(objectClass=*)").await.len() > 3);

    // The root DSE is for all; without a rule for it, nobody binds but the root user.
    let (_server, client) = serve("allow read to o=test.sub by users\n").await;
    let (dse, _) = client.search_all(Search::new("").scope(Scope::Base)).await.unwrap();
    assert_eq!(dse.len(), 1);
    assert_eq!(code(&client.bind(ADA, "engine").await.unwrap_err()), ResultCode::INVALID_CREDENTIALS);
}

const RULES_OF_SERVER: &str = "\
allow auth to o=test.sub by anonymous
allow read,write,add,delete to o=test.sub by group=cn=admins,o=test
allow write to o=test.sub attr=mail,userPassword by self
allow read to o=test.sub attr=mail by self
deny read,search,compare to o=test.sub attr=mail by users
allow read to o=test.sub by users
";

#[tokio::test]
async fn attributes_are_read_searched_and_changed_by_the_rules() {
    let (_server, client) = serve(RULES_OF_SERVER).await;
    client.bind(ADA, "engine").await.unwrap();
    let (own, _) = client.search_all(Search::new(ADA).scope(Scope::Base)).await.unwrap();
    assert_eq!(own[0].text("mail"), Some("ada@example.net"));
    assert_eq!(own[0].values("userPassword").count(), 0, "no rule names it");
    assert_eq!(found(&client, "o=test", "(mail=*)").await, [ADA], "of others it cannot be searched for");
    assert!(
        found(&client, "o=test", "(!(mail=none))").await == [ADA],
        "what cannot be searched for is undefined"
    );
    let (others, _) = client.search_all(Search::new("uid=p00001,o=test")).await.unwrap();
    assert!(others[0].text("cn").is_some() && others[0].text("mail").is_none());
    assert_eq!(
        code(&client.compare("uid=p00001,o=test", "mail", b"x").await.unwrap_err()),
        ResultCode::INSUFFICIENT_ACCESS_RIGHTS
    );
    let asserted = client.with(&[&Assertion("(mail=p*)".parse().unwrap())]);
    let error = asserted.search_all(Search::new("uid=p00001,o=test")).await.unwrap_err();
    assert_eq!(code(&error), ResultCode::ASSERTION_FAILED);

    client.modify(ADA, &[replace("mail", "new@example.net")]).await.unwrap();
    for (dn, attribute) in [(ADA, "cn"), ("uid=p00001,o=test", "mail")] {
        let error = client.modify(dn, &[replace(attribute, "x")]).await.unwrap_err();
        assert_eq!(code(&error), ResultCode::INSUFFICIENT_ACCESS_RIGHTS, "{dn} {attribute}");
    }
    let password = PasswordModify { new: Some(b"newer".to_vec()), ..PasswordModify::default() };
    client.modify_password(&password).await.unwrap();
    client.bind(ADA, "newer").await.unwrap();

    client.bind("uid=p00001,o=test", "one").await.unwrap();
    client.modify(ADA, &[replace("cn", "Ada")]).await.unwrap();
    client.add("uid=new,o=test", &[("objectClass", &["account"]), ("uid", &["new"])]).await.unwrap();
    client.modify_dn("uid=new,o=test", "uid=newer", true, None).await.unwrap();
    client.delete("uid=newer,o=test").await.unwrap();
    assert_eq!(found(&client, "o=test", "(mail=new@example.net)").await, [ADA]);
}
