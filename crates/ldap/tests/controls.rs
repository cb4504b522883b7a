//! Controls for which slapd needs overlays, rights or entries of its own.

mod common;

use common::{ROOT, SECRET, Slapd, people};
use tercet_ldap::controls::{DomainScope, PasswordPolicy, PasswordPolicyRequest, Relax, Subentries};
use tercet_ldap::ldif::{ModificationKind, RecordModification};
use tercet_ldap::{Client, Item, LdapResult, Result, ResultCode, Search};

fn replace(attribute: &str, value: &str) -> [RecordModification; 1] {
    let (kind, attribute) = (ModificationKind::Replace, attribute.to_owned());
    [RecordModification { kind, attribute, values: vec![value.as_bytes().to_vec()] }]
}

/// Policies, and for each a person to whom it applies.
const POLICIES: &str = "\
dn: cn=graceful,o=test
objectClass: device
objectClass: pwdPolicy
cn: graceful
pwdAttribute: userPassword
pwdMaxAge: 86400
pwdGraceAuthNLimit: 2

dn: cn=warning,o=test
objectClass: device
objectClass: pwdPolicy
cn: warning
pwdAttribute: userPassword
pwdMaxAge: 1000000
pwdExpireWarning: 2000000

dn: cn=strict,o=test
objectClass: device
objectClass: pwdPolicy
cn: strict
pwdAttribute: userPassword
pwdMustChange: TRUE
pwdCheckQuality: 2
pwdMinLength: 8

dn: uid=old,o=test
objectClass: inetOrgPerson
uid: old
cn: Old
sn: Old
userPassword: engine
pwdPolicySubentry: cn=graceful,o=test
pwdChangedTime: 20200101000000Z

dn: uid=soon,o=test
objectClass: inetOrgPerson
uid: soon
cn: Soon
sn: Soon
pwdPolicySubentry: cn=warning,o=test

dn: uid=new,o=test
objectClass: inetOrgPerson
uid: new
cn: New
sn: New
userPassword: engine
pwdPolicySubentry: cn=strict,o=test
pwdReset: TRUE

";

/// What the server says of a password beside its result.
fn policy(result: &Result<LdapResult>) -> (ResultCode, PasswordPolicy) {
    let result =
        result.as_ref().unwrap_or_else(|error| error.result().unwrap_or_else(|| panic!("{error:?}")));
    (result.code, result.control().unwrap().unwrap_or_default())
}

#[tokio::test]
async fn slapd_has_password_policies() {
    let ldif = [people(0).as_slice(), POLICIES.as_bytes()].concat();
    let settings = ["moduleload ppolicy\n", "overlay ppolicy\n"];
    let Some(slapd) = Slapd::start_as(&ldif, None, settings, &[]) else { return };
    let client = Client::connect(&slapd.url()).await.unwrap();
    let asks = client.with(&[&PasswordPolicyRequest]);

    // A password that has expired is good for two times more.
    for left in [1, 0] {
        let (code, told) = policy(&asks.bind("uid=old,o=test", "engine").await);
        assert_eq!((code, told.grace_logins, told.error), (ResultCode::SUCCESS, Some(left), None));
    }
    let (code, told) = policy(&asks.bind("uid=old,o=test", "engine").await);
    assert_eq!((code, told.error_text()), (ResultCode::INVALID_CREDENTIALS, Some("Password expired")));

    // One that expires.
    let root = Client::connect(&slapd.url()).await.unwrap();
    root.bind(ROOT, SECRET).await.unwrap();
    root.modify("uid=soon,o=test", &replace("userPassword", "engine")).await.unwrap();
    let (code, told) = policy(&asks.bind("uid=soon,o=test", "engine").await);
    assert_eq!((code, told.grace_logins, told.error), (ResultCode::SUCCESS, None, None));
    assert!(told.expires_in.is_some_and(|seconds| (900_000..=1_000_000).contains(&seconds)), "{told:?}");

    // One that somebody else has set: nothing but a change of it is done, and not one that is too short.
    let (code, told) = policy(&asks.bind("uid=new,o=test", "engine").await);
    assert_eq!((code, told.error_text()), (ResultCode::SUCCESS, Some("Password must be changed")));
    let own = "uid=new,o=test";
    let (code, told) = policy(&asks.modify(own, &replace("userPassword", "short")).await);
    assert_eq!(
        (code, told.error_text()),
        (ResultCode::CONSTRAINT_VIOLATION, Some("Password is too short for policy"))
    );
    let refused = asks.search_all(Search::new("o=test")).await.unwrap_err();
    assert_eq!(refused.result().unwrap().code, ResultCode::INSUFFICIENT_ACCESS_RIGHTS);
    asks.modify(own, &replace("userPassword", "long enough")).await.unwrap();
    let (code, told) = policy(&asks.bind(own, "long enough").await);
    assert_eq!((code, told), (ResultCode::SUCCESS, PasswordPolicy::default()));

    // Who does not ask is told nothing.
    let result = client.bind("uid=soon,o=test", "engine").await.unwrap();
    assert_eq!(result.control::<PasswordPolicy>().unwrap(), None);
}

const SPECIAL: &str = "\
dn: ou=far,o=test
objectClass: referral
objectClass: extensibleObject
ou: far
ref: ldap://ldap.example.net/ou=far,o=test

dn: cn=rules,o=test
objectClass: subentry
objectClass: extensibleObject
cn: rules
subtreeSpecification: {}

";

/// Entries and references that a search finds, in the order of their names.
async fn found(client: &Client) -> (Vec<String>, usize) {
    let (mut names, mut references) = (Vec::new(), 0);
    let mut items = client.search(Search::new("o=test")).await.unwrap();
    while let Some(item) = items.next_item().await.unwrap() {
        match item {
            Item::Entry(entry) => names.push(entry.dn().to_owned()),
            Item::Reference(_) => references += 1,
            other => panic!("{other:?}"),
        }
    }
    names.sort();
    (names, references)
}

#[tokio::test]
async fn slapd_shows_what_is_hidden() {
    let ldif = [people(0).as_slice(), SPECIAL.as_bytes()].concat();
    let Some(slapd) = Slapd::start(&ldif) else { return };
    let client = Client::connect(&slapd.url()).await.unwrap();
    let usual: Vec<String> = ["o=test", "uid=ada,o=test", "uid=local,o=test"].map(str::to_owned).into();
    assert_eq!(found(&client).await, (usual.clone(), 1));

    // No other domains.
    assert_eq!(found(&client.with(&[&DomainScope])).await, (usual.clone(), 0));

    // Subentries alone, or what is none.
    let (names, _) = found(&client.with(&[&Subentries(true)])).await;
    assert_eq!(names, ["cn=rules,o=test"]);
    let (names, _) = found(&client.with(&[&Subentries(false)])).await;
    assert_eq!(names, usual);
}

/// What only the server may write, those who manage it may too if they say so.
#[tokio::test]
async fn slapd_relaxes_rules() {
    let Some(slapd) = Slapd::start(&people(0)) else { return };
    let client = Client::connect(&slapd.url()).await.unwrap();
    client.bind(ROOT, SECRET).await.unwrap();
    let (dn, time) = ("uid=ada,o=test", "18431210000000Z");
    let change = replace("createTimestamp", time);
    let error = client.modify(dn, &change).await.unwrap_err();
    assert_eq!(error.result().unwrap().code, ResultCode::CONSTRAINT_VIOLATION);
    client.with(&[&Relax]).modify(dn, &change).await.unwrap();
    let (entries, _) = client.search_all(Search::new(dn).attributes(&["createTimestamp"])).await.unwrap();
    assert_eq!(entries[0].text("createTimestamp"), Some(time));

    client.bind(dn, "engine").await.unwrap();
    let error = client.with(&[&Relax]).modify(dn, &change).await.unwrap_err();
    assert_eq!(error.result().unwrap().code, ResultCode::INSUFFICIENT_ACCESS_RIGHTS);
}
