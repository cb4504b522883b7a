//! The Rust of the guide compiles: its blocks are the text between the marks `// guide` and `// end` here.
#![cfg(feature = "client")]
#![expect(clippy::print_stdout, reason = "examples print what they find")]

use std::fs;
use std::path::Path;

use tercet_ldap::{Cldap, Draft, Entry, Netlogon, Result};

#[expect(dead_code, reason = "compiled, and compared with the guide")]
async fn layer() -> Result<()> {
    use tercet_ldap::Config;
    // guide
    use tercet_ldap::proxy::{Context, Flow, Layer, Proxy};

    struct Print;

    impl Layer for Print {
        fn request(&self, context: &Context, message: &[u8]) -> Flow {
            println!("{}: {} bytes", context.peer, message.len());
            Flow::Pass
        }
    }

    let proxy = Proxy::new(Config::new("ldap://ldap.example.net")?).layer(Print);
    proxy.listen("127.0.0.1:3890").await?.wait().await;
    // end
    Ok(())
}

#[expect(dead_code, reason = "compiled, and compared with the guide")]
async fn search(password: String) -> Result<()> {
    // guide
    use tercet_ldap::{Client, Search};

    let client = Client::connect("ldaps://ldap.example.net").await?;
    client.bind("uid=me,o=test", &password).await?;
    let mut entries = client.search(Search::new("o=test").filter("(sn=L*)")?.page_size(500)).await?;
    while let Some(entry) = entries.next().await? {
        println!("{} {:?}", entry.dn(), entry.text("mail"));
    }
    // end
    Ok(())
}

#[expect(dead_code, reason = "compiled, and compared with the guide")]
async fn modify(client: tercet_ldap::Client, entry: Entry) -> Result<()> {
    // guide
    let mut draft = Draft::from(&entry);
    draft.add("mail", "me@example.net");
    draft.remove("title");
    client.modify(draft.dn(), &draft.modifications()).await?;
    // end
    Ok(())
}

#[cfg(feature = "gssapi")]
#[expect(dead_code, reason = "compiled, and compared with the guide")]
async fn kerberos(client: tercet_ldap::Client) -> Result<()> {
    // guide
    use tercet_ldap::sasl::{Gssapi, Kerberos, Protection};

    let mechanism = Gssapi::new(Kerberos::new(), "").with_protection(Protection::DEFAULT.at_least(56));
    client.bind_sasl(Box::new(mechanism)).await?;
    // end
    Ok(())
}

#[expect(dead_code, reason = "compiled, and compared with the guide")]
async fn netlogon() -> Result<()> {
    // guide
    let answer = Cldap::new("cldap://dc.example.net")?.search(&Netlogon::search("example.net")).await?;
    let netlogon = Netlogon::of_entry(&answer.entries[0])?;
    println!("{} in site {}", netlogon.host, netlogon.site);
    // end
    Ok(())
}

#[test]
fn the_rust_of_the_guide_compiles() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let guide = fs::read_to_string(folder.join("../../docs/guide-ldap.md")).unwrap();
    let shown = guide.split("```rust,ignore\n").skip(1).map(|rest| rest.split("```\n").next().unwrap());
    let compiled = include_str!("guide.rs").split("    // guide\n").skip(1).map(|rest| {
        let lines = rest.lines().take_while(|line| line.trim() != "// end");
        lines.map(|line| format!("{}\n", line.strip_prefix("    ").unwrap_or(line))).collect::<String>()
    });
    assert_eq!(shown.collect::<Vec<_>>(), compiled.take(5).collect::<Vec<_>>());
}
