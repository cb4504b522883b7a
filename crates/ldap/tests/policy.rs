//! Rules for passwords of a directory (draft-behera-ldap-password-policy-10).

mod common;

use std::time::Duration;

use common::{ROOT, SECRET, people};
use tercet_ldap::controls::{PasswordPolicy, PasswordPolicyRequest};
use tercet_ldap::directory::{Directory, PasswordRules, Server};
use tercet_ldap::extended::PasswordModify;
use tercet_ldap::ldif::{ModificationKind, RecordModification};
use tercet_ldap::{Client, LdapResult, Result, ResultCode, Scope, Search};

const ADA: &str = "uid=ada,o=test";

/// A server with rules, a connection of the root user, and one that asks what the rules say.
async fn serve(rules: &str) -> (Server, Client, Client) {
    let text = format!(
        "dn: cn=default,o=test\nobjectClass: pwdPolicy\ncn: default\npwdAttribute: userPassword\n{rules}"
    );
    let directory = Directory::new().with_root(ROOT, SECRET).with_password_rules(text.parse().unwrap());
    directory.load(people(0).as_slice()).unwrap();
    let server = directory.listen("127.0.0.1:0").await.unwrap();
    let root = Client::connect(&server.url()).await.unwrap();
    root.bind(ROOT, SECRET).await.unwrap();
    let client = Client::connect(&server.url()).await.unwrap().with(&[&PasswordPolicyRequest]);
    (server, root, client)
}

/// The result code, and what the rules say.
fn said(result: Result<LdapResult>) -> (ResultCode, PasswordPolicy) {
    let result = result.unwrap_or_else(|error| error.result().unwrap_or_else(|| panic!("{error}")).clone());
    (result.code, result.control::<PasswordPolicy>().unwrap().expect("the control"))
}

fn error(result: Result<LdapResult>) -> (ResultCode, Option<u8>) {
    let (code, said) = said(result);
    (code, said.error)
}

async fn new(client: &Client, user: Option<&str>, old: Option<&str>, new: &str) -> Result<()> {
    let octets = |text: &str| text.as_bytes().to_vec();
    let request =
        PasswordModify { user: user.map(str::to_owned), old: old.map(octets), new: Some(octets(new)) };
    client.modify_password(&request).await.map(drop)
}

fn refused(result: Result<()>) -> (ResultCode, Option<u8>) {
    let error = result.unwrap_err();
    let result = error.result().unwrap();
    (result.code, result.control::<PasswordPolicy>().unwrap().and_then(|said| said.error))
}

const WRONG: ResultCode = ResultCode::INVALID_CREDENTIALS;
const GOOD: (ResultCode, Option<u8>) = (ResultCode::SUCCESS, None);

#[tokio::test]
async fn wrong_passwords_lock_an_account() {
    let (_server, root, client) = serve("pwdLockout: TRUE\npwdMaxFailure: 3\npwdLockoutDuration: 1\n").await;
    for _ in 0..2 {
        assert_eq!(error(client.bind(ADA, "wrong").await), (WRONG, None));
    }
    assert_eq!(error(client.bind(ADA, "engine").await), GOOD, "it counts anew after a good one");
    for _ in 0..3 {
        assert_eq!(error(client.bind(ADA, "wrong").await), (WRONG, None));
    }
    assert_eq!(error(client.bind(ADA, "engine").await), (WRONG, Some(1)));
    let own = || Search::new(ADA).scope(Scope::Base);
    let (plain, _) = root.search_all(own()).await.unwrap();
    assert!(plain[0].attributes().all(|one| !one.name().starts_with("pwd")), "not unless asked for");
    let (asked, _) = root.search_all(own().attributes(&["+"])).await.unwrap();
    assert!(asked[0].text("pwdAccountLockedTime").is_some());
    assert_eq!(asked[0].values("pwdFailureTime").count(), 3);
    tokio::time::sleep(Duration::from_millis(2100)).await;
    assert_eq!(error(client.bind(ADA, "engine").await), GOOD);
    // The root user ends a lock, and has none.
    for _ in 0..3 {
        assert_eq!(error(client.bind(ADA, "wrong").await).0, WRONG);
        assert_eq!(error(client.bind(ROOT, "wrong").await).0, WRONG);
    }
    let attribute = "pwdAccountLockedTime".to_owned();
    let unlock = RecordModification { kind: ModificationKind::Delete, attribute, values: Vec::new() };
    root.modify(ADA, &[unlock]).await.unwrap();
    assert_eq!(error(client.bind(ADA, "engine").await), GOOD);
    assert!(client.bind(ROOT, SECRET).await.is_ok());
    // Without the control in the request there is none in the answer.
    let plain = Client::connect(&_server.url()).await.unwrap();
    assert!(plain.bind(ADA, "engine").await.unwrap().controls.is_empty());
}

#[tokio::test]
async fn new_passwords_are_checked() {
    let rules = "pwdCheckQuality: 2\npwdMinLength: 6\npwdInHistory: 2\npwdSafeModify: TRUE\n";
    let (_server, root, client) = serve(rules).await;
    assert_eq!(error(client.bind(ADA, "engine").await), GOOD);
    let constraint = ResultCode::CONSTRAINT_VIOLATION;
    let denied = ResultCode::INSUFFICIENT_ACCESS_RIGHTS;
    assert_eq!(refused(new(&client, None, Some("engine"), "short").await), (constraint, Some(6)));
    assert_eq!(
        refused(new(&client, None, Some("engine"), "{SSHA}AAAAAAAAAAAAAAAA").await),
        (constraint, Some(5))
    );
    assert_eq!(refused(new(&client, None, None, "difference").await), (denied, Some(4)));
    assert_eq!(refused(new(&client, None, Some("engine"), "engine").await), (constraint, Some(8)));
    new(&client, None, Some("engine"), "difference").await.unwrap();
    assert_eq!(refused(new(&client, None, Some("difference"), "engine").await), (constraint, Some(8)));
    for (old, next) in
        [("difference", "notes-1843"), ("notes-1843", "sketch-1842"), ("sketch-1842", "engine")]
    {
        new(&client, None, Some(old), next).await.unwrap();
    }
    // A change of the entry is checked as well, and what is kept is a hash.
    let change = |value: &str| {
        let attribute = "userPassword".to_owned();
        let values = vec![value.as_bytes().to_vec()];
        RecordModification { kind: ModificationKind::Replace, attribute, values }
    };
    assert_eq!(
        error(root.with(&[&PasswordPolicyRequest]).modify(ADA, &[change("short")]).await),
        (constraint, Some(6))
    );
    root.modify(ADA, &[change("by the root user")]).await.unwrap();
    let (found, _) = root.search_all(Search::new(ADA).attributes(&["*", "+"])).await.unwrap();
    assert!(found[0].text("userPassword").unwrap().starts_with("{ARGON2}$argon2id$"));
    assert!(found[0].text("pwdChangedTime").is_some());
    assert_eq!(error(client.bind(ADA, "by the root user").await), GOOD);
    let person: &[&str] = &["account"];
    let added = root
        .add("uid=eve,o=test", &[("objectClass", person), ("uid", &["eve"]), ("userPassword", &["tiny"])])
        .await;
    assert_eq!(added.unwrap_err().result().unwrap().code, constraint);
    root.add(
        "uid=eve,o=test",
        &[("objectClass", person), ("uid", &["eve"]), ("userPassword", &["long enough"])],
    )
    .await
    .unwrap();
    assert_eq!(error(client.bind("uid=eve,o=test", "long enough").await), GOOD);
}

#[tokio::test]
async fn passwords_expire_and_are_reset() {
    let (_server, root, client) =
        serve("pwdMaxAge: 2\npwdExpireWarning: 60\npwdGraceAuthNLimit: 1\npwdMustChange: TRUE\n").await;
    new(&root, Some(ADA), None, "by the root user").await.unwrap();
    assert_eq!(error(client.bind(ADA, "by the root user").await), (ResultCode::SUCCESS, Some(2)));
    let refused = client.search_all(Search::new(ADA)).await.unwrap_err();
    assert_eq!(refused.result().unwrap().code, ResultCode::INSUFFICIENT_ACCESS_RIGHTS);
    let refused = client.delete(ADA).await.unwrap_err();
    assert_eq!(refused.result().unwrap().code, ResultCode::INSUFFICIENT_ACCESS_RIGHTS);
    new(&client, None, None, "difference").await.unwrap();
    assert_eq!(client.search_all(Search::new(ADA)).await.unwrap().0.len(), 1);
    let (code, warned) = said(client.bind(ADA, "difference").await);
    assert!(
        code == ResultCode::SUCCESS && warned.expires_in.is_some_and(|seconds| seconds <= 2),
        "{warned:?}"
    );
    tokio::time::sleep(Duration::from_millis(3100)).await;
    let (code, warned) = said(client.bind(ADA, "difference").await);
    assert_eq!((code, warned.grace_logins), (ResultCode::SUCCESS, Some(0)));
    assert_eq!(error(client.bind(ADA, "difference").await), (WRONG, Some(0)));
}

#[test]
fn malformed_rules_are_refused() {
    for (text, message) in [
        ("", "no entry"),
        ("dn: o=a\npwdMinLength: x\n", "pwdMinLength: `x` is not a number"),
        ("dn: o=a\npwdLockout: yes\n", "pwdLockout: `yes` is not TRUE or FALSE"),
        ("dn: o=a\npwdMinSize: 5\n", "unknown attribute `pwdMinSize`"),
        ("dn: o=a\nchangetype: delete\n", "not a change"),
    ] {
        let error = text.parse::<PasswordRules>().unwrap_err();
        assert!(error.message().contains(message), "{error}");
    }
}
