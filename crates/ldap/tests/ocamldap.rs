//! What OCamldap has, one test a module of it, on every server at hand: the directory in memory, slapd, 389 Directory Server and
//! Active Directory. The last two are those that `TERCET_LDAP_389` and `TERCET_LDAP_AD` name: `URL|BASE|DN|PASSWORD`. Each test works
//! below an entry of its own, which it deletes.

mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use common::{SECRET, Slapd};
use tercet_ldap::directory::Directory;
use tercet_ldap::entry::{Generators, Repair, Repaired, Service, Services, Violation};
use tercet_ldap::ldif::{Change, ModificationKind, Reader, Record, RecordModification, Style};
use tercet_ldap::server::{Answer, Context, Entries, Handler, Search as Asked, Server};
use tercet_ldap::transaction::{Engine, Locks, Options, Transaction};
use tercet_ldap::{Client, Config, Dn, Draft, ErrorKind, ResultCode, Search, Url, escape_filter_value};

const LIMIT: Duration = Duration::from_secs(120);

/// A server.
struct Peer {
    name: &'static str,
    url: String,
    dn: String,
    password: String,
    /// The entry that the test works below.
    base: String,
    _slapd: Option<Slapd>,
    _serve: Option<tercet_ldap::directory::Server>,
}

impl Peer {
    fn is_ad(&self) -> bool {
        self.name == "ad"
    }

    async fn client(&self) -> Client {
        let mut config = Config::new(&self.url).unwrap();
        config.allow_plain_passwords = true;
        let client = Client::connect_with(&config).await.unwrap();
        client.bind(&self.dn, &self.password).await.unwrap();
        client
    }

    /// A person below the entry of the test.
    fn person(&self, name: &str) -> Draft {
        let class = if self.is_ad() { "user" } else { "inetOrgPerson" };
        let mut person = Draft::new(
            format!("cn={name},{}", self.base),
            [
                ("objectClass", vec!["top", "person", "organizationalPerson", class]),
                ("cn", vec![name]),
                ("sn", vec!["Smith"]),
            ],
        );
        if self.is_ad() {
            let number = UNIQUE.fetch_add(1, Ordering::Relaxed);
            person.set("sAMAccountName", [format!("t{}x{number}", std::process::id())]);
        }
        person
    }

    async fn add(&self, client: &Client, draft: &Draft) {
        let attributes: Vec<(&str, &[Vec<u8>])> = draft.attributes().collect();
        client.add(draft.dn(), &attributes).await.unwrap();
    }

    async fn read(&self, client: &Client, name: &str) -> Draft {
        let search = Search::new(format!("cn={name},{}", self.base)).scope(tercet_ldap::Scope::Base);
        Draft::from(&client.search_all(search).await.unwrap().0[0])
    }

    /// Deletes what the test has left.
    async fn clear(&self) {
        let client = self.client().await;
        let search = Search::new(&self.base).attributes(&["1.1"]);
        let Ok((entries, _)) = client.search_all(search).await else { return };
        let mut names: Vec<Dn> = entries.iter().map(|entry| entry.dn().parse().unwrap()).collect();
        names.sort_by_key(|dn| std::cmp::Reverse(dn.rdns().len()));
        for dn in names {
            client.delete(&dn.to_string()).await.unwrap();
        }
    }
}

static UNIQUE: AtomicUsize = AtomicUsize::new(0);

/// All servers, each with an entry for the test.
async fn peers(test: &str) -> Vec<Peer> {
    let root = "dn: o=test\nobjectClass: organization\no: test\n\n";
    let (dn, password, url) = ("o=test".to_owned(), SECRET.to_owned(), String::new());
    let peer = |name| Peer {
        name,
        url: url.clone(),
        dn: dn.clone(),
        password: password.clone(),
        base: "o=test".to_owned(),
        _slapd: None,
        _serve: None,
    };
    let directory = Directory::new().with_root("o=test", SECRET);
    directory.load(root.as_bytes()).unwrap();
    let serve = directory.listen("127.0.0.1:0").await.unwrap();
    let mut peers = vec![Peer { url: serve.url(), _serve: Some(serve), ..peer("serve") }];
    if let Some(slapd) = Slapd::start(root.as_bytes()) {
        peers.push(Peer { url: slapd.url(), _slapd: Some(slapd), ..peer("slapd") });
    }
    for (name, need, variable) in [("389", "389-ds", "TERCET_LDAP_389"), ("ad", "samba", "TERCET_LDAP_AD")] {
        let Ok(text) = std::env::var(variable) else {
            tercet_testing::skip_in_part(need, &format!("no server in {variable}"));
            continue;
        };
        let parts: Vec<&str> = text.split('|').collect();
        let [url, base, dn, password] = parts[..] else {
            panic!("{variable}: URL|BASE|DN|PASSWORD expected")
        };
        let [url, base, dn, password] = [url, base, dn, password].map(str::to_owned);
        peers.push(Peer { url, base, dn, password, ..peer(name) });
    }
    for peer in &mut peers {
        let name = format!("t-{test}-{}", std::process::id());
        peer.base = format!("ou={name},{}", peer.base);
        let client = peer.client().await;
        let attributes: &[(&str, &[&str])] = &[("objectClass", &["organizationalUnit"]), ("ou", &[&name])];
        client.add(&peer.base, attributes).await.unwrap();
    }
    peers
}

fn change(kind: ModificationKind, attribute: &str, values: &[&str]) -> RecordModification {
    let values = values.iter().map(|value| value.as_bytes().to_vec()).collect();
    RecordModification { kind, attribute: attribute.to_owned(), values }
}

/// `ldapcon`: a list of servers, tried in order; an operation on a connection that has ended says so instead of being sent again.
#[tokio::test]
async fn ldapcon() {
    for peer in peers("ldapcon").await {
        let gone = Directory::new().listen("127.0.0.1:0").await.unwrap();
        let url = gone.url();
        drop(gone);
        let mut config = Config::new(&format!("{url} {}", peer.url)).unwrap();
        config.allow_plain_passwords = true;
        let setup = (peer.dn.clone(), peer.password.clone());
        let pool = tercet_ldap::Pool::new(config, 1, move |client| {
            let (dn, password) = setup.clone();
            async move { client.bind(&dn, &password).await.map(drop) }
        });
        let base = peer.base.clone();
        let search = || {
            let base = base.clone();
            pool.run(move |client| {
                let base = base.clone();
                async move { client.search_all(Search::new(base)).await }
            })
        };
        assert_eq!(search().await.unwrap().0.len(), 1, "{}", peer.name);
        // The connection ends: the next search binds again.
        pool.get().await.unwrap().close();
        assert_eq!(search().await.unwrap().0.len(), 1, "{}", peer.name);
        let client = peer.client().await;
        client.close();
        assert_eq!(client.delete(&peer.base).await.unwrap_err().kind(), ErrorKind::Closed, "{}", peer.name);
        // A renaming keeps its new superior.
        let client = peer.client().await;
        peer.add(&client, &peer.person("moved")).await;
        let below = format!("ou=below,{}", peer.base);
        client
            .add(&below, &[("objectClass", &["organizationalUnit"][..]), ("ou", &["below"])])
            .await
            .unwrap();
        client.modify_dn(&format!("cn=moved,{}", peer.base), "cn=there", true, Some(&below)).await.unwrap();
        let search = Search::new(&below).filter("(cn=there)").unwrap();
        assert_eq!(client.search_all(search).await.unwrap().0.len(), 1, "{}", peer.name);
        peer.clear().await;
    }
}

/// `ldapentry`: changes that are recorded, compared by the rule of their attribute, and sent as the difference.
#[tokio::test]
async fn ldapentry() {
    for peer in peers("ldapentry").await {
        let client = peer.client().await;
        peer.add(&client, &peer.person("ada")).await;
        let mut ada = peer.read(&client, "ada").await;
        assert!(ada.modifications().is_empty());
        // The rule of the attribute does not know case: the value is there.
        ada.add("sn", "SMITH");
        assert!(ada.modifications().is_empty(), "{}: {:?}", peer.name, ada.modifications());
        ada.apply(&[
            change(ModificationKind::Add, "telephoneNumber", &["1"]),
            change(ModificationKind::Replace, "sn", &["King"]),
        ])
        .unwrap();
        ada.add("description", "first");
        client.modify(ada.dn(), &ada.modifications()).await.unwrap();
        let now = peer.read(&client, "ada").await;
        assert!(now.has_value("sn", "King") && now.has_value("telephoneNumber", "1"), "{}", peer.name);
        let is_of_server =
            |one: &RecordModification| ["uSNChanged", "whenChanged"].contains(&&*one.attribute);
        let rest: Vec<_> = now.diff(&ada).into_iter().filter(|one| !is_of_server(one)).collect();
        assert!(rest.is_empty(), "{}: {rest:?}", peer.name);
        // All or nothing.
        let wrong =
            [change(ModificationKind::Add, "l", &["here"]), change(ModificationKind::Delete, "title", &[])];
        assert_eq!(ada.apply(&wrong).unwrap_err().result().unwrap().code, ResultCode::NO_SUCH_ATTRIBUTE);
        assert!(!ada.has("l"));
        peer.clear().await;
    }
}

/// `scldapentry`: what the server's schema allows and requires, and repairs that say what they do.
#[tokio::test]
async fn scldapentry() {
    for peer in peers("scldapentry").await {
        let client = peer.client().await;
        let schema = Arc::new(client.schema().await.unwrap());
        let mut person = peer.person("ada");
        person.remove("cn");
        let mut person = person.with_schema(Arc::clone(&schema));
        if !peer.is_ad() {
            assert!(person.is_missing("cn") && person.is_allowed("mail"), "{}", peer.name);
            let missing = |one: &Violation| matches!(one, Violation::MissingAttribute { .. });
            assert!(person.check().iter().any(missing), "{}: {:?}", peer.name, person.check());
        }
        person.set("cn", ["ada"]);
        person.set("noSuchAttribute", ["x"]);
        let names: Vec<String> = person.illegal().into_iter().map(|one| one.name).collect();
        assert!(
            names.iter().any(|name| name.eq_ignore_ascii_case("noSuchAttribute")),
            "{}: {names:?}",
            peer.name
        );
        // No class allows it: it stays, and that is reported.
        let plan = person.plan(Repair::Optimistic).unwrap();
        let stays = |one: &Repaired| matches!(one, Repaired::NotRepaired { .. });
        assert!(plan.iter().any(stays), "{}: {plan:?}", peer.name);
        let done = person.repair(Repair::Pessimistic).unwrap();
        let dropped = |one: &Repaired| matches!(one, Repaired::AttributeDropped { attribute, .. } if attribute == "noSuchAttribute");
        assert!(done.iter().any(dropped), "{}: {done:?}", peer.name);
        let again = person.repair(Repair::Pessimistic).unwrap();
        assert!(again.is_empty(), "{}: twice is once: {again:?} after {done:?}", peer.name);
        let person = person.into_draft();
        peer.add(&client, &person).await;
        peer.clear().await;
    }
}

/// `ldapaccount`: attributes that are generated, and services that are added and removed as differences.
#[tokio::test]
async fn ldapaccount() {
    for peer in peers("ldapaccount").await {
        let client = peer.client().await;
        let mut generators = Generators::new();
        generators.add("description", &["cn", "title"], |draft| {
            let text = |name: &str| String::from_utf8_lossy(draft.values(name).next().unwrap()).into_owned();
            Ok(vec![format!("{} {}", text("title"), text("cn")).into_bytes()])
        });
        generators.add("title", &["sn"], |_| Ok(vec![b"Dr".to_vec()]));
        let mut services = Services::new(generators);
        services.add(Service::new("office").value("l", "here"));
        services.add(
            Service::new("staff").value("telephoneNumber", "7").generate("description").depends("office"),
        );
        let mut ada = peer.person("ada");
        assert_eq!(services.add_service(&mut ada, "staff").unwrap(), ["office", "staff"]);
        assert!(services.add_service(&mut ada, "staff").unwrap().is_empty(), "twice is once");
        peer.add(&client, &ada).await;
        let mut now = peer.read(&client, "ada").await;
        assert!(now.has_value("description", "Dr ada") && now.has_value("l", "here"), "{}", peer.name);
        assert!(services.has_service(&now, "staff").unwrap());
        // Removing takes what depends on it.
        assert_eq!(services.remove_service(&mut now, "office").unwrap(), ["staff", "office"]);
        client.modify(now.dn(), &now.modifications()).await.unwrap();
        let now = peer.read(&client, "ada").await;
        assert!(!now.has("telephoneNumber") && !now.has("l"), "{}", peer.name);
        peer.clear().await;
    }
}

/// `Ldap_mutex`: a lock with an owner and a lease, which somebody else can take over after a crash only.
#[tokio::test]
async fn ldap_mutex() {
    for peer in peers("mutex").await {
        let (first, second) = (peer.client().await, peer.client().await);
        let lease = Duration::from_secs(1);
        let (first, second) = (
            Locks::new(&first, &peer.base, lease).await.unwrap(),
            Locks::new(&second, &peer.base, lease).await.unwrap(),
        );
        let held = first.take("cn=ada", LIMIT).await.unwrap();
        let error = second.take("CN=Ada", Duration::ZERO).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Timeout, "{}", peer.name);
        first.release(held).await.unwrap();
        // A released lock is free at once.
        let held = second.take("cn=ada", Duration::ZERO).await.unwrap();
        let fence = held.fence;
        // Its owner is not heard of any more.
        let held = first.take("cn=ada", LIMIT).await.unwrap();
        assert!(held.fence > fence, "{}", peer.name);
        first.release(held).await.unwrap();
        let states = first.list().await.unwrap();
        assert!(states.iter().all(|state| state.owner.is_empty()), "{}: {states:?}", peer.name);
        peer.clear().await;
    }
}

/// `ldapadvisorytxcon`: changes of several entries that are all made or all undone.
#[tokio::test]
async fn ldapadvisorytxcon() {
    for peer in peers("tx").await {
        let folder = tempfile::tempdir().unwrap();
        let client = peer.client().await;
        for name in ["ada", "bob"] {
            peer.add(&client, &peer.person(name)).await;
        }
        let options = || {
            let options = Options::new().engine(Engine::Advisory).locks(&peer.base).journal(folder.path());
            options.lock_wait(LIMIT)
        };
        let ada = format!("cn=ada,{}", peer.base);
        let mut transaction = Transaction::begin(&client, options()).await.unwrap();
        let mut draft = transaction.read(&ada).await.unwrap();
        draft.set("sn", ["King"]);
        draft.add("telephoneNumber", "1");
        transaction.update(&draft);
        transaction.rename(format!("cn=bob,{}", peer.base), "cn=rob", true, None);
        transaction.rename(format!("cn=nobody,{}", peer.base), "cn=none", true, None);
        let aborted = transaction.commit().await.unwrap_err();
        assert!(aborted.rolled_back, "{}: {aborted}", peer.name);
        assert_eq!(
            aborted.dn.as_deref(),
            Some(&*format!("cn=nobody,{}", peer.base)),
            "{}: {aborted}",
            peer.name
        );
        let now = peer.read(&client, "ada").await;
        assert!(now.has_value("sn", "Smith") && !now.has("telephoneNumber"), "{}", peer.name);
        assert!(peer.read(&client, "bob").await.has_value("cn", "bob"), "{}", peer.name);
        let mut transaction = Transaction::begin(&client, options()).await.unwrap();
        let mut draft = transaction.read(&ada).await.unwrap();
        draft.set("sn", ["King"]);
        transaction.update(&draft);
        transaction.rename(format!("cn=bob,{}", peer.base), "cn=rob", true, None);
        transaction.commit().await.unwrap();
        assert!(peer.read(&client, "ada").await.has_value("sn", "King"), "{}", peer.name);
        assert!(peer.read(&client, "rob").await.has_value("sn", "Smith"), "{}", peer.name);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "{}: a journal is left", peer.name);
        peer.clear().await;
    }
}

/// `Ldap_funserver`: a server of functions. A search that waits holds up nobody, and what is sent in between is for others.
#[tokio::test]
async fn ldap_funserver() {
    /// Passes searches on to a peer, and waits for a word in the middle of one.
    struct Meta {
        client: Client,
        begun: Arc<tokio::sync::Notify>,
        goes_on: Arc<tokio::sync::Notify>,
    }
    impl Handler for Meta {
        async fn search(&self, _: &Context, request: Asked<'_>, out: &mut Entries) -> Answer {
            let found = match self.client.search_all(Search::new(request.base)).await {
                Ok((found, _)) => found,
                Err(error) => return error.into(),
            };
            for entry in &found {
                if out.entry(&Draft::from(entry)).await.is_err() {
                    break;
                }
            }
            if request.time_limit == 0 {
                self.begun.notify_one();
                self.goes_on.notified().await;
            }
            Answer::success()
        }
    }
    for peer in peers("funserver").await {
        let (begun, goes_on) = (Arc::default(), Arc::default());
        let meta =
            Meta { client: peer.client().await, begun: Arc::clone(&begun), goes_on: Arc::clone(&goes_on) };
        let server = Server::new(meta).listen("127.0.0.1:0").await.unwrap();
        let client = Client::connect(&server.url()).await.unwrap();
        let waiting = tokio::spawn({
            let (client, base) = (client.clone(), peer.base.clone());
            async move { client.search_all(Search::new(base)).await }
        });
        begun.notified().await;
        let search = Search::new(&peer.base).time_limit(100);
        assert_eq!(client.search_all(search).await.unwrap().0.len(), 1, "{}", peer.name);
        let missing = Search::new(format!("ou=missing,{}", peer.base)).time_limit(100);
        let error = client.search_all(missing).await.unwrap_err();
        assert_eq!(error.result().unwrap().code, ResultCode::NO_SUCH_OBJECT, "{}", peer.name);
        goes_on.notify_one();
        assert_eq!(waiting.await.unwrap().unwrap().0.len(), 1, "{}", peer.name);
        peer.clear().await;
    }
}

/// `Ldap_schemaparser`: the server's schema by names and object identifiers, with matching rules and superiors.
#[tokio::test]
async fn ldap_schemaparser() {
    for peer in peers("schema").await {
        let schema = peer.client().await.schema().await.unwrap();
        let sn = schema.attribute_type("SURNAME").or_else(|| schema.attribute_type("sn")).unwrap();
        assert_eq!(sn.oid, "2.5.4.4", "{}", peer.name);
        assert_eq!(schema.attribute_type("2.5.4.4").unwrap().oid, sn.oid, "{}", peer.name);
        let person = schema.object_class("person").unwrap();
        assert_eq!(person.oid, "2.5.6.6", "{}", peer.name);
        peer.clear().await;
    }
}

/// `Ldap_dn`: names with characters that have to be escaped come back as they were.
#[tokio::test]
async fn ldap_dn() {
    for peer in peers("dn").await {
        let client = peer.client().await;
        let name = "Smith, \"A\" + #1";
        let dn = peer.base.parse::<Dn>().unwrap().child(tercet_ldap::Rdn::new("cn", name));
        let person = peer.person(name);
        let person =
            Draft::new(dn.to_string(), person.attributes().map(|(name, values)| (name, values.to_vec())));
        peer.add(&client, &person).await;
        let (found, _) = client.search_all(Search::new(dn.to_string())).await.unwrap();
        assert_eq!(found[0].dn().parse::<Dn>().unwrap(), dn, "{}", peer.name);
        assert_eq!(found[0].text("cn"), Some(name), "{}", peer.name);
        peer.clear().await;
    }
}

/// `Ldap_filter`: values that have to be escaped are found, and the filter says here what the server says.
#[tokio::test]
async fn ldap_filter() {
    for peer in peers("filter").await {
        let client = peer.client().await;
        let mut person = peer.person("ada");
        person.set("description", ["a (b) * \\c"]);
        peer.add(&client, &person).await;
        let filter = format!("(&(description={})(!(sn=x)))", escape_filter_value(b"a (b) * \\c"));
        let (found, _) = client.search_all(Search::new(&peer.base).filter(&filter).unwrap()).await.unwrap();
        assert_eq!(found.len(), 1, "{}", peer.name);
        let parsed: tercet_ldap::Filter<'static> = filter.parse().unwrap();
        let values = |name: &str| person.has(name).then(|| person.values(name).collect::<Vec<_>>());
        let dn = person.dn().parse().unwrap();
        assert_eq!(parsed.evaluate(&dn, &values), tercet_ldap::Evaluation::True);
        peer.clear().await;
    }
}

/// `Ldap_url`: a search by a URL.
#[tokio::test]
async fn ldap_url() {
    for peer in peers("url").await {
        let client = peer.client().await;
        peer.add(&client, &peer.person("ada")).await;
        let url: Url = format!("{}/{}?sn?one?(cn=a%64a)", peer.url, peer.base).parse().unwrap();
        let (found, _) = client.search_all(Search::of_url(&url).unwrap()).await.unwrap();
        assert_eq!(
            (found.len(), found[0].text("sn"), found[0].text("cn")),
            (1, Some("Smith"), None),
            "{}",
            peer.name
        );
        peer.clear().await;
    }
}

/// `Ldif_oo`: entries to LDIF and back.
#[tokio::test]
async fn ldif_oo() {
    for peer in peers("ldif").await {
        let client = peer.client().await;
        let mut person = peer.person("ada");
        person.set("description", [" begins with a blank, ends with an umlaut: \u{fc}"]);
        peer.add(&client, &person).await;
        let (found, _) =
            client.search_all(Search::new(&peer.base).filter("(cn=ada)").unwrap()).await.unwrap();
        let mut text = Vec::new();
        Style::default().entry(&mut text, &found[0]);
        let record = Reader::new(&*text).next().unwrap().unwrap();
        let Change::Add(attributes) = record.change else { panic!() };
        assert_eq!(Draft::new(record.dn, attributes), Draft::from(&found[0]), "{}", peer.name);
        peer.clear().await;
    }
}

/// `Ldif_changerec_oo`: change records, in their order.
#[tokio::test]
async fn ldif_changerec_oo() {
    for peer in peers("changes").await {
        let client = peer.client().await;
        peer.add(&client, &peer.person("ada")).await;
        let base = &peer.base;
        let text = format!(
            "dn: cn=ada,{base}\nchangetype: modify\nreplace: sn\nsn: King\n-\nadd: l\nl: here\n-\n\n\
             dn: cn=ada,{base}\nchangetype: modrdn\nnewrdn: cn=eva\ndeleteoldrdn: 1\n\n\
             dn: ou=x,{base}\nchangetype: add\nobjectClass: organizationalUnit\nou: x\n\n\
             dn: ou=x,{base}\nchangetype: delete\n\n"
        );
        let records: Vec<Record> = Reader::new(text.as_bytes()).collect::<Result<_, _>>().unwrap();
        for record in &records {
            client.apply(record).await.unwrap();
        }
        let eva = peer.read(&client, "eva").await;
        assert!(eva.has_value("sn", "King") && eva.has_value("l", "here") && !eva.has_value("cn", "ada"));
        let mut again = Vec::new();
        records.iter().for_each(|record| Style::default().record(&mut again, record));
        let read: Vec<Record> = Reader::new(&*again).collect::<Result<_, _>>().unwrap();
        assert_eq!(read, records, "{}", peer.name);
        peer.clear().await;
    }
}

/// `Ulist`: values are a set, by the rule of their attribute.
#[tokio::test]
async fn ulist() {
    for peer in peers("ulist").await {
        let client = peer.client().await;
        let mut person = peer.person("ada");
        for value in ["one", "ONE", "  one ", "two"] {
            person.add("description", value);
        }
        assert_eq!(person.values("description").count(), 2);
        if peer.is_ad() {
            // There, the attribute has one value.
            person.remove_value("description", "Two");
        }
        peer.add(&client, &person).await;
        assert!(peer.read(&client, "ada").await.has_value("description", "One"), "{}", peer.name);
        peer.clear().await;
    }
}
