//! The guide to servers: its Rust is the text between the marks `// guide` and `// end` here, and runs.
#![cfg(feature = "directory")]
#![expect(clippy::print_stdout, reason = "examples print what they find")]

use std::fs;
use std::path::Path;

use tercet_ldap::Result;

// guide
use tercet_ldap::Draft;
use tercet_ldap::ResultCode;
use tercet_ldap::server::{Answer, Bind, Context, Entries, Handler, Search, Server};

/// The users of a passwd file.
struct Passwd {
    users: Vec<Draft>,
}

impl Passwd {
    fn read(text: &str) -> Self {
        let user = |line: &str| {
            let fields: Vec<&str> = line.split(':').collect();
            let [name, _, uid, gid, gecos, home, ..] = fields[..] else { return None };
            let attributes = [
                ("objectClass", "posixAccount"),
                ("uid", name),
                ("cn", gecos),
                ("uidNumber", uid),
                ("gidNumber", gid),
                ("homeDirectory", home),
            ];
            let dn = format!("uid={name},o=passwd");
            Some(Draft::new(dn, attributes.map(|(attribute, value)| (attribute, [value]))))
        };
        Self { users: text.lines().filter_map(user).collect() }
    }
}

impl Handler for Passwd {
    async fn bind(&self, _: &Context, request: Bind<'_>) -> Answer {
        // A real server asks what knows the passwords.
        match (request.dn, request.password()) {
            ("", Some([])) | ("uid=ada,o=passwd", Some(b"engine")) => Answer::success(),
            _ => Answer::new(ResultCode::INVALID_CREDENTIALS),
        }
    }

    async fn search(&self, _: &Context, request: Search<'_>, out: &mut Entries) -> Answer {
        for user in self.users.iter().filter(|user| request.matches(user)) {
            // Waits while the client does not read.
            if out.entry(user).await.is_err() {
                break;
            }
        }
        Answer::success()
    }

    fn root_dse(&self) -> Vec<(String, Vec<String>)> {
        vec![("namingContexts".to_owned(), vec!["o=passwd".to_owned()])]
    }
}
// end

#[tokio::test]
async fn the_passwd_file_is_a_directory() -> Result<()> {
    // guide
    let text = "root:x:0:0:root:/root:/bin/sh\nada:x:1000:1000:Ada Lovelace:/home/ada:/bin/sh\n";
    let server = Server::new(Passwd::read(text)).listen("127.0.0.1:0").await?;

    let client = tercet_ldap::Client::connect(&server.url()).await?;
    client.bind("uid=ada,o=passwd", "engine").await?;
    let search = tercet_ldap::Search::new("o=passwd").filter("(uidNumber=1000)")?;
    let (entries, _) = client.search_all(search).await?;
    assert_eq!(entries[0].text("homeDirectory"), Some("/home/ada"));

    server.shutdown(std::time::Duration::from_secs(10)).await;
    // end
    Ok(())
}

#[tokio::test]
async fn layers_go_around() -> Result<()> {
    let file = std::io::sink();
    // guide
    use std::num::NonZeroU32;
    use tercet_ldap::directory::Directory;
    use tercet_ldap::server::{AccessLog, Attributes, RateLimit, ReadOnly, RequireBind};

    let directory = Directory::new();
    directory.load("dn: o=test\nobjectClass: organization\no: test\npostalCode: 1\n".as_bytes())?;
    let server = Server::new(directory)
        .layer(AccessLog::new(file))
        .layer(RateLimit::new(NonZeroU32::new(1000).unwrap()))
        .layer(ReadOnly)
        .layer(RequireBind)
        .layer(Attributes::new().hide("postalCode"))
        .listen("127.0.0.1:0")
        .await?;
    // end
    let client = tercet_ldap::Client::connect(&server.url()).await?;
    let error = client.search_all(tercet_ldap::Search::new("o=test")).await.unwrap_err();
    assert_eq!(error.result().unwrap().code, ResultCode::INSUFFICIENT_ACCESS_RIGHTS);
    Ok(())
}

// guide
use tercet_ldap::server::{AnyHandler, Layer, Request};

/// Answers searches of the whole tree with `adminLimitExceeded`.
struct NoDumps;

struct Without {
    inner: AnyHandler,
}

impl Layer for NoDumps {
    fn layer(self: Box<Self>, inner: AnyHandler) -> AnyHandler {
        AnyHandler::new(Without { inner })
    }
}

impl Handler for Without {
    async fn handle(&self, cx: &Context, request: Request<'_>, out: &mut Entries) -> Answer {
        if let Request::Search(search) = &request
            && search.filter().to_string() == "(objectClass=*)"
        {
            println!("{} asks for all", cx.peer());
            return Answer::new(ResultCode::ADMIN_LIMIT_EXCEEDED);
        }
        self.inner.handle(cx, request, out).await
    }
}
// end

#[tokio::test]
async fn a_layer_of_the_users() -> Result<()> {
    let server = Server::new(Passwd::read("")).layer(NoDumps).listen("127.0.0.1:0").await?;
    let client = tercet_ldap::Client::connect(&server.url()).await?;
    let error = client.search_all(tercet_ldap::Search::new("o=passwd")).await.unwrap_err();
    assert_eq!(error.result().unwrap().code, ResultCode::ADMIN_LIMIT_EXCEEDED);
    Ok(())
}

#[tokio::test]
async fn a_proxy_with_an_account() -> Result<()> {
    use tercet_ldap::directory::Directory;
    let directory = Directory::new().with_root("cn=proxy,o=test", "secret");
    directory.load("dn: o=test\nobjectClass: organization\no: test\n".as_bytes())?;
    let (first, second) = (directory.listen("127.0.0.1:0").await?, directory.listen("127.0.0.1:0").await?);
    let (first, second) = (first.url(), second.url());
    let _servers = (directory.listen("127.0.0.1:0").await?, directory.listen("127.0.0.1:0").await?);
    // guide
    use tercet_ldap::Config;
    use tercet_ldap::proxy::Balance;
    use tercet_ldap::server::{Identity, Proxy, Router};

    let config = Config::new(&format!("{first} {second}"))?;
    let account = Identity::Account { dn: "cn=proxy,o=test".to_owned(), password: "secret".to_owned() };
    let proxy = Proxy::new(&config).balance(Balance::Fewest).identity(account);
    let router = Router::new().route("o=test", proxy)?.route("o=passwd", Passwd::read(""))?;
    let server = Server::new(router).listen("127.0.0.1:0").await?;
    // end
    let client = tercet_ldap::Client::connect(&server.url()).await?;
    let (root, _) = client.search_all(tercet_ldap::Search::new("").scope(tercet_ldap::Scope::Base)).await?;
    assert_eq!(root[0].values("namingContexts").count(), 2);
    let operational = tercet_ldap::Search::new("").scope(tercet_ldap::Scope::Base).attributes(&["+"]);
    let (root, _) = client.search_all(operational).await?;
    assert_eq!(root[0].values("namingContexts").count(), 2);
    Ok(())
}

#[test]
fn the_rust_of_the_guide_is_this() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let guide = fs::read_to_string(folder.join("../../docs/guide-ldap-server.md")).unwrap();
    let shown = guide.split("```rust,ignore\n").skip(1).map(|rest| rest.split("```\n").next().unwrap());
    let source = include_str!("guide_server.rs");
    let mut compiled = Vec::new();
    let mut lines = source.lines();
    while let Some(line) = lines.find(|line| line.trim() == "// guide") {
        let indent = line.len() - line.trim_start().len();
        let block = lines.by_ref().take_while(|line| line.trim() != "// end");
        compiled.push(
            block.map(|line| format!("{}\n", line.get(indent..).unwrap_or_default())).collect::<String>(),
        );
    }
    assert_eq!(shown.collect::<Vec<_>>(), compiled);
}
