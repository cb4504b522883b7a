//! Rules of access and rules for passwords as layers: around a handler that knows nothing of them, and around a directory.
#![cfg(feature = "directory")]

use std::sync::{Arc, Mutex, MutexGuard};

use tercet_ldap::controls::{PasswordPolicyRequest, PreRead};
use tercet_ldap::directory::Directory;
use tercet_ldap::extended::{PASSWORD_MODIFY, PasswordModify};
use tercet_ldap::ldif::{ModificationKind, RecordModification};
use tercet_ldap::server::{
    Acl, Add, Answer, Bind, Compare, Context, Delete, Entries, Extended, Handler, Listening, Modify,
    PasswordPolicy, Rename, Search as Asked, Server,
};
use tercet_ldap::{Client, Draft, Error, Result, ResultCode, Scope, Search};

/// Entries in a list, that anybody may read and change.
#[derive(Clone, Default)]
struct List(Arc<Mutex<Vec<Draft>>>);

impl List {
    fn locked(&self) -> MutexGuard<'_, Vec<Draft>> {
        self.0.lock().unwrap()
    }

    fn changed(&self, dn: &str, change: impl FnOnce(&mut Draft) -> Result<()>) -> Answer {
        match self.locked().iter_mut().find(|entry| entry.dn().eq_ignore_ascii_case(dn)) {
            Some(entry) => change(entry).map_or_else(Answer::from, |()| Answer::success()),
            None => Answer::new(ResultCode::NO_SUCH_OBJECT).with_matched_dn("o=test"),
        }
    }
}

impl Handler for List {
    async fn bind(&self, _: &Context, request: Bind<'_>) -> Answer {
        let password = request.password().unwrap_or_default();
        let is_right = request.is_anonymous()
            || self.locked().iter().any(|entry| {
                entry.dn().eq_ignore_ascii_case(request.dn)
                    && entry.values("userPassword").any(|one| one == password)
            });
        if is_right { Answer::success() } else { Answer::new(ResultCode::INVALID_CREDENTIALS) }
    }

    async fn search(&self, _: &Context, request: Asked<'_>, out: &mut Entries) -> Answer {
        let all = self.locked().clone();
        for entry in all.iter().filter(|entry| request.matches(entry)) {
            if out.entry(entry).await.is_err() {
                break;
            }
        }
        Answer::success()
    }

    async fn add(&self, _: &Context, request: Add<'_>) -> Answer {
        self.locked().push(request.entry());
        Answer::success()
    }

    async fn modify(&self, _: &Context, request: Modify<'_>) -> Answer {
        self.changed(request.dn, |entry| entry.apply(&request.modifications()?))
    }

    async fn delete(&self, _: &Context, request: Delete<'_>) -> Answer {
        self.locked().retain(|entry| !entry.dn().eq_ignore_ascii_case(request.dn));
        Answer::success()
    }

    async fn rename(&self, _: &Context, request: Rename<'_>) -> Answer {
        let name = format!("{},{}", request.new_rdn, request.new_superior.unwrap_or("o=test"));
        self.changed(request.dn, |entry| {
            *entry =
                Draft::new(name, entry.attributes().map(|(name, values)| (name.to_owned(), values.to_vec())));
            Ok(())
        })
    }

    async fn compare(&self, _: &Context, request: Compare<'_>) -> Answer {
        let is_equal = self.locked().iter().any(|entry| {
            entry.dn().eq_ignore_ascii_case(request.dn) && entry.has_value(request.attribute, request.value)
        });
        Answer::compared(is_equal)
    }

    async fn extended(&self, cx: &Context, request: Extended<'_>) -> Answer {
        if request.name != PASSWORD_MODIFY {
            return Answer::success();
        }
        let asked = PasswordModify::read(request.value.unwrap_or_default()).unwrap();
        let dn = asked.user.unwrap_or_else(|| cx.identity().to_string());
        let (generated, new) = match asked.new {
            Some(new) => (None, new),
            None => (Some(PasswordModify::answer(b"generated-one")), b"generated-one".to_vec()),
        };
        let answer = self.changed(&dn, |entry| {
            entry.set("userPassword", [new]);
            Ok(())
        });
        Answer { value: generated, ..answer }
    }

    fn supported_controls(&self) -> Vec<String> {
        vec!["1.3.6.1.1.13.1".to_owned(), "2.16.840.1.113730.3.4.2".to_owned()]
    }
}

const PEOPLE: &str = "\
dn: o=test
objectClass: organization
o: test

dn: cn=admins,o=test
objectClass: groupOfNames
cn: admins
member: UID=Eve, o=test

dn: uid=ada,o=test
objectClass: inetOrgPerson
uid: ada
cn: Ada
sn: Lovelace
mail: ada@example.net
employeeNumber: 7
userPassword: engine-one

dn: uid=eve,o=test
objectClass: inetOrgPerson
uid: eve
cn: Eve
sn: V
employeeNumber: 8
employeeType: secret
userPassword: garden-one
";

fn list() -> List {
    let mut all = Vec::new();
    for record in tercet_ldap::ldif::Reader::new(PEOPLE.as_bytes()) {
        let record = record.unwrap();
        let tercet_ldap::ldif::Change::Add(attributes) = record.change else { panic!("content expected") };
        all.push(Draft::new(record.dn, attributes));
    }
    List(Arc::new(Mutex::new(all)))
}

async fn connected(server: &Listening, dn: &str, password: &str) -> Client {
    let client = Client::connect(&server.url()).await.unwrap();
    if !dn.is_empty() {
        client.bind(dn, password).await.unwrap();
    }
    client
}

async fn found(client: &Client, filter: &str, attributes: &[&str]) -> Vec<String> {
    let search = Search::new("o=test").filter(filter).unwrap().attributes(attributes);
    let (entries, _) = client.search_all(search).await.unwrap();
    let shown = |entry: &tercet_ldap::Entry| {
        let names: Vec<String> = entry.attributes().map(|attribute| attribute.name().into_owned()).collect();
        format!("{}: {}", entry.dn(), names.join(" "))
    };
    entries.iter().map(shown).collect()
}

fn code<T>(done: Result<T>) -> u32 {
    match done {
        Ok(_) => 0,
        Err(error) => error.result().unwrap_or_else(|| panic!("{error}")).code.0,
    }
}

async fn password(
    client: &Client,
    user: Option<&str>,
    old: Option<&str>,
    new: Option<&str>,
) -> Result<Option<Vec<u8>>> {
    let octets = |text: &str| text.as_bytes().to_vec();
    let request =
        PasswordModify { user: user.map(str::to_owned), old: old.map(octets), new: new.map(octets) };
    client.modify_password(&request).await
}

fn replace(attribute: &str, value: &str) -> RecordModification {
    let values = vec![value.as_bytes().to_vec()];
    RecordModification { kind: ModificationKind::Replace, attribute: attribute.to_owned(), values }
}

const RULES: &str = "\
allow auth to .sub by anonymous
deny read,search,compare to .sub attr=employeeNumber by uid=ada,o=test
deny read,write to .sub filter=(employeeType=secret) by uid=ada,o=test
allow write to .sub attr=mail,userPassword by self
allow read,write,add,delete to .sub by group=cn=admins,o=test
allow read to .sub attr=uid,cn,sn,mail by users
allow read to o=test by anyone
";

const ADA: &str = "uid=ada,o=test";
const EVE: &str = "uid=eve,o=test";

#[tokio::test]
async fn rules_of_access_around_a_handler() {
    let list = list();
    let rules: Acl = RULES.parse().unwrap();
    let server = Server::new(list.clone()).layer(rules).listen("127.0.0.1:0").await.unwrap();
    let anyone = connected(&server, "", "").await;
    assert_eq!(found(&anyone, "(objectClass=*)", &[]).await, ["o=test: objectClass o"]);
    let ada = connected(&server, ADA, "engine-one").await;
    // What is asked for, of what may be read; the filter of a rule hides an entry.
    assert_eq!(found(&ada, "(uid=*)", &["cn", "employeeNumber"]).await, ["uid=ada,o=test: cn"]);
    assert_eq!(found(&ada, "(uid=*)", &["1.1"]).await, ["uid=ada,o=test: "]);
    // What may not be searched for is not found, nor by its opposite.
    for filter in ["(employeeNumber=7)", "(!(employeeNumber=8))", "(|(employeeNumber=7)(uid=none))"] {
        assert_eq!(found(&ada, filter, &[]).await, [""; 0], "{filter}");
    }
    assert_eq!(found(&ada, "(|(employeeNumber=8)(uid=ada))", &["uid"]).await, ["uid=ada,o=test: uid"]);
    assert!(ada.compare(ADA, "cn", b"Ada").await.unwrap());
    assert_eq!(code(ada.compare(ADA, "employeeNumber", b"7").await), 50);
    assert_eq!(code(ada.modify(ADA, &[replace("mail", "a@x")]).await), 0);
    assert_eq!(code(ada.modify(ADA, &[replace("mail", "a@x"), replace("sn", "x")]).await), 50);
    assert_eq!(code(ada.modify(EVE, &[replace("mail", "a@x")]).await), 50);
    assert_eq!(code(ada.delete(ADA).await), 50);
    assert_eq!(code(ada.add("uid=new,o=test", &[("uid", &["new"][..])]).await), 50);
    assert_eq!(code(ada.modify_dn(ADA, "uid=x", true, None).await), 50);
    assert_eq!(code(password(&ada, Some(EVE), None, Some("x")).await), 50);
    assert_eq!(code(password(&ada, None, None, Some("engine-two")).await), 0);
    assert_eq!(ada.extended("1.2.3", None).await.unwrap().result.code.0, 50);
    // The name of what is not there is hidden with the entry; that of a visible one is not.
    let error = ada.modify("uid=none,o=test", &[replace("mail", "x")]).await.unwrap_err();
    assert_eq!((error.result().unwrap().code.0, error.result().unwrap().matched_dn.as_str()), (50, ""));
    // Controls that would show values are not known.
    let with = ada.with(&[&PreRead(vec!["employeeNumber".to_owned()])]);
    assert_eq!(code(with.modify(ADA, &[replace("mail", "b@x")]).await), 12);
    let eve = connected(&server, EVE, "garden-one").await;
    assert_eq!(found(&eve, "(employeeNumber=8)", &["employeeType"]).await, ["uid=eve,o=test: employeeType"]);
    assert_eq!(
        code(eve.add("uid=new,o=test", &[("objectClass", &["account"][..]), ("uid", &["new"])]).await),
        0
    );
    assert_eq!(code(eve.modify_dn("uid=new,o=test", "uid=old", true, None).await), 0);
    assert_eq!(code(eve.delete("uid=old,o=test").await), 0);
    assert_eq!(code(eve.modify("uid=none,o=test", &[replace("mail", "x")]).await), 32);
    assert_eq!(list.locked().len(), 4);
    // Nobody may bind as an entry but by a rule, and a filter that denies counts for an entry that nobody sees.
    let rules = "deny auth to .sub filter=(employeeType=secret) by anyone\nallow auth to .sub by anonymous\n";
    let server = Server::new(list).layer(rules.parse::<Acl>().unwrap()).listen("127.0.0.1:0").await.unwrap();
    let client = connected(&server, ADA, "engine-two").await;
    assert_eq!(code(client.bind(EVE, "garden-one").await), 49);
    assert_eq!(code(client.bind("uid=none,o=test", "garden-one").await), 49);
}

#[tokio::test]
async fn size_limits_count_what_is_shown() {
    let rules: Acl = "allow read to .sub attr=uid by anyone".parse().unwrap();
    let list = list();
    for number in 0..5 {
        let dn = format!("cn=c{number},o=test");
        list.locked().insert(0, Draft::new(dn, [("objectClass", ["device"]), ("cn", ["c"])]));
    }
    let server = Server::new(list).layer(rules).listen("127.0.0.1:0").await.unwrap();
    let client = connected(&server, "", "").await;
    let search = Search::new("o=test").size_limit(2).scope(Scope::Sub);
    assert_eq!(client.search_all(search.clone()).await.unwrap().0.len(), 2);
    assert_eq!(code(client.search_all(search.size_limit(1)).await), 4);
}

/// Answers of the control: the error, seconds before the end, logins that are left.
async fn bound(client: &Client, dn: &str, password: &str) -> (u32, Option<u8>, Option<u32>) {
    let with = client.with(&[&PasswordPolicyRequest]);
    let result = match with.bind(dn, password).await {
        Ok(result) => result,
        Err(error) => error.result().unwrap_or_else(|| panic!("{error}")).clone(),
    };
    let policy: Option<tercet_ldap::controls::PasswordPolicy> = result.control().unwrap();
    let policy = policy.unwrap_or_default();
    (result.code.0, policy.error, policy.grace_logins)
}

const POLICY: &str = "\
dn: cn=policy
objectClass: pwdPolicy
pwdLockout: TRUE
pwdMaxFailure: 3
pwdMinLength: 8
pwdCheckQuality: 1
pwdInHistory: 2
pwdMustChange: TRUE
";

#[tokio::test]
async fn rules_for_passwords_around_a_handler() {
    let list = list();
    let policy = PasswordPolicy::new(POLICY.parse().unwrap());
    let server = Server::new(list.clone()).layer(policy.clone()).listen("127.0.0.1:0").await.unwrap();
    let client = connected(&server, "", "").await;
    // Locked after three wrong ones, on whatever connection; a right one in between begins anew.
    for password in ["wrong", "wrong", "engine-one", "wrong", "wrong"] {
        let expected = if password == "wrong" { 49 } else { 0 };
        assert_eq!(bound(&client, ADA, password).await, (expected, None, None));
    }
    let other = connected(&server, "", "").await;
    assert_eq!(bound(&other, "UID=Ada,O=Test", "wrong").await.0, 49);
    assert_eq!(bound(&client, ADA, "engine-one").await, (49, Some(1), None));
    assert_eq!(code(client.bind(ADA, "engine-one").await), 49);
    // Somebody else sets another password, which frees the account and has to be changed.
    let eve = connected(&server, EVE, "garden-one").await;
    assert_eq!(code(eve.modify(ADA, &[replace("userPassword", "short")]).await), 19);
    assert_eq!(code(eve.modify(ADA, &[replace("userPassword", "long enough")]).await), 0);
    assert_eq!(bound(&client, ADA, "long enough").await, (0, Some(2), None));
    assert_eq!(code(client.search_all(Search::new("o=test")).await), 50);
    assert_eq!(code(client.modify(ADA, &[replace("mail", "x")]).await), 50);
    assert_eq!(code(password(&client, Some(EVE), None, Some("difference-engine")).await), 50);
    assert_eq!(code(password(&client, None, None, Some("difference-engine")).await), 0);
    assert_eq!(code(client.modify(ADA, &[replace("mail", "x")]).await), 0);
    // Two earlier ones may not come again: the third may.
    for (new, expected) in [
        ("long enough", 19),
        ("difference-engine", 19),
        ("analytical-one", 0),
        ("long enough", 19),
        ("analytical-two", 0),
        ("long enough", 0),
    ] {
        assert_eq!(code(client.modify(ADA, &[replace("userPassword", new)]).await), expected, "{new}");
    }
    // One that the handler makes up is not known before.
    assert_eq!(password(&client, None, None, None).await.unwrap().as_deref(), Some(&b"generated-one"[..]));
    assert_eq!(bound(&client, ADA, "generated-one").await, (0, None, None));
    let short: &[(&str, &[&str])] = &[("uid", &["new"]), ("userPassword", &["short"])];
    assert_eq!(code(eve.add("uid=new,o=test", short).await), 19);
    // The state goes with the entry.
    let renamed = eve.modify_dn(ADA, "uid=augusta", true, None).await;
    assert_eq!(code(renamed), 0);
    for _ in 0..3 {
        assert_eq!(bound(&client, "uid=augusta,o=test", "wrong").await.0, 49);
    }
    assert_eq!(bound(&client, "uid=augusta,o=test", "generated-one").await, (49, Some(1), None));
    assert_eq!(code(eve.delete("uid=augusta,o=test").await), 0);
    // Clones share what is kept, and a server without the layer knows nothing of it.
    let again = Server::new(list).layer(policy).listen("127.0.0.1:0").await.unwrap();
    let client = connected(&again, "", "").await;
    for _ in 0..3 {
        assert_eq!(bound(&client, EVE, "wrong").await.0, 49);
    }
    assert_eq!(bound(&connected(&server, "", "").await, EVE, "garden-one").await, (49, Some(1), None));
}

#[tokio::test]
async fn passwords_that_are_too_old() {
    let list = list();
    list.changed(ADA, |entry| {
        entry.set("pwdChangedTime", ["20200101000000Z"]);
        Ok(())
    });
    let rules = "dn: cn=policy\npwdMaxAge: 86400\npwdGraceAuthNLimit: 1\n".parse().unwrap();
    let layer = PasswordPolicy::new(rules);
    let inside = Server::new(list).layer(layer.clone()).listen("127.0.0.1:0").await.unwrap();
    let client = connected(&inside, "", "").await;
    assert_eq!(bound(&client, ADA, "engine-one").await, (0, None, Some(0)));
    assert_eq!(bound(&client, ADA, "engine-one").await, (49, Some(0), None));
    assert_eq!(client.who_am_i().await.unwrap(), "");
    assert_eq!(bound(&client, EVE, "garden-one").await, (0, None, None));
    // A handler that keeps who is bound by itself does not keep a bind that the layer refuses.
    let root = "cn=root,o=test";
    let directory = Directory::new().with_root(root, "secret");
    directory.load(PEOPLE.as_bytes()).unwrap();
    directory
        .load(
            "dn: cn=root,o=test\nobjectClass: person\ncn: root\nsn: r\npwdChangedTime: 20200101000000Z\n"
                .as_bytes(),
        )
        .unwrap();
    let around = Server::new(directory).layer(layer).listen("127.0.0.1:0").await.unwrap();
    let client = connected(&around, "", "").await;
    assert_eq!(code(client.bind(root, "secret").await), 0);
    assert_eq!(code(client.modify(ADA, &[replace("mail", "x")]).await), 0);
    assert_eq!(code(client.bind(root, "secret").await), 49);
    assert_eq!(code(client.modify(ADA, &[replace("mail", "y")]).await), 50);
}

#[tokio::test]
async fn both_around_a_directory() {
    let directory = Directory::new();
    directory.load(PEOPLE.as_bytes()).unwrap();
    let rules: Acl = RULES.parse().unwrap();
    let policy = PasswordPolicy::new(POLICY.parse().unwrap());
    let server = Server::new(directory).layer(policy).layer(rules).listen("127.0.0.1:0").await.unwrap();
    let ada = connected(&server, ADA, "engine-one").await;
    assert_eq!(found(&ada, "(uid=*)", &["cn", "employeeNumber"]).await, ["uid=ada,o=test: cn"]);
    assert_eq!(found(&ada, "(employeeNumber=7)", &[]).await, [""; 0]);
    assert_eq!(code(ada.modify(ADA, &[replace("userPassword", "short")]).await), 19);
    assert_eq!(code(password(&ada, None, Some("engine-one"), Some("engine-two")).await), 0);
    for _ in 0..3 {
        assert_eq!(bound(&ada, ADA, "engine-one").await.0, 49);
    }
    assert_eq!(bound(&ada, ADA, "engine-two").await, (49, Some(1), None));
    let error: Error = ada.search_all(Search::new("uid=none,o=test")).await.unwrap_err();
    assert_eq!((error.result().unwrap().code.0, error.result().unwrap().matched_dn.as_str()), (32, "o=test"));
}
