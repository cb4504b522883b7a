//! The pages of `tercet doc`: every link leads somewhere, and nothing of a specification becomes markup.
#![cfg(unix)]

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::Path;
use std::process::Command;

const TERCET: &str = env!("CARGO_BIN_EXE_tercet");

const HOSTILE: &str = r#"Hostile DEFINITIONS AUTOMATIC TAGS ::= BEGIN
-- <script>alert("1")</script> & 'more'
Name ::= UTF8String (PATTERN "<b onclick='x'>") -- <i>
name-of Name ::= "</pre><script>alert(2)</script>"
/* </section>
   <img src=x onerror=alert(3)> */
Other ::= SEQUENCE { a Name DEFAULT "<u>", b Missing OPTIONAL }
Box {Item} ::= SEQUENCE OF Item
Boxes ::= SEQUENCE { names Box {Name}, self Boxes OPTIONAL }
END
"#;

fn pages(words: &[&str], dir: &Path) -> HashMap<String, String> {
    let output =
        Command::new(TERCET).arg("doc").args(words).args(["-o", "site"]).current_dir(dir).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let files = fs::read_dir(dir.join("site")).unwrap().map(|entry| entry.unwrap().path());
    files
        .map(|path| {
            (path.file_name().unwrap().to_string_lossy().into_owned(), fs::read_to_string(path).unwrap())
        })
        .collect()
}

/// The values of an attribute.
fn attributes<'a>(page: &'a str, name: &str) -> Vec<&'a str> {
    let mark = format!(" {name}=\"");
    page.split(&mark).skip(1).map(|rest| rest.split('"').next().unwrap()).collect()
}

fn check_links(pages: &HashMap<String, String>) -> usize {
    let anchors: HashMap<&str, HashSet<&str>> = pages
        .iter()
        .map(|(name, page)| (name.as_str(), attributes(page, "id").into_iter().collect()))
        .collect();
    let mut count = 0;
    for (name, page) in pages.iter().filter(|(name, _)| name.ends_with(".html")) {
        for link in attributes(page, "href").into_iter().chain(attributes(page, "src")) {
            let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
            let file = if file.is_empty() { name } else { file };
            assert!(pages.contains_key(file), "{name}: {link}");
            assert!(anchor.is_empty() || anchors[file].contains(anchor), "{name}: {link}");
            count += 1;
        }
        let tags = |mark: &str| page.matches(mark).count();
        for tag in ["section", "table", "pre", "ul", "details", "nav", "main"] {
            assert_eq!(tags(&format!("<{tag}")), tags(&format!("</{tag}>")), "{name}: {tag}");
        }
    }
    count
}

#[test]
fn links_lead_somewhere() {
    let dir = tempfile::tempdir().unwrap();
    let schemas = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schemas");
    let pages = pages(&[schemas.to_str().unwrap()], dir.path());
    assert!(check_links(&pages) > 3000);
    let calls = &pages["Demo-CDR.html"];
    let section =
        calls.split("<section id=\"CallRecord\">").nth(1).unwrap().split("</section>").next().unwrap();
    for text in ["CHOICE", "<td><code>moCall</code></td>", "[0]", "aligned PER", "no limit", " bits</span>"] {
        assert!(section.contains(text), "{text}: {section}");
    }
    // A type that others use lists them.
    assert!(calls.contains("<summary>Used by "));
    assert!(pages["types.html"].contains("Demo-CDR.html#CallRecord"));
}

#[test]
fn texts_are_no_markup() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("a.asn"), HOSTILE).unwrap();
    // Two modules of one name have pages of their own.
    fs::write(dir.path().join("b.asn"), HOSTILE).unwrap();
    let pages = pages(&["a.asn", "b.asn", "--title", "<b>T</b>"], dir.path());
    check_links(&pages);
    assert!(pages.contains_key("Hostile.html") && pages.contains_key("Hostile-2.html"), "{:?}", pages.keys());
    for (name, page) in pages.iter().filter(|(name, _)| name.ends_with(".html")) {
        for text in ["<script>", "<img", "<b", "<i>", "<u>", "onclick='"] {
            assert!(!page.replace("<body", "").contains(text), "{name}: {text}");
        }
    }
    assert!(pages["index.html"].contains("&lt;b&gt;T&lt;/b&gt;"));
    assert!(
        pages["Hostile.html"]
            .contains("&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt; &amp; &#39;more&#39;")
    );
}

#[test]
fn large_folders_have_pages() {
    let Some(corpora) = tercet_testing::corpora("asn1/specs/3gpp/3GPP_NR_RRC_38331") else { return };
    let dir = tempfile::tempdir().unwrap();
    let pages = pages(&[corpora.to_str().unwrap(), "--rules", "uper"], dir.path());
    assert!(check_links(&pages) > 20_000);
}

#[test]
fn a_specification_is_not_overwritten() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("site")).unwrap();
    fs::write(dir.path().join("site/index.html"), HOSTILE).unwrap();
    let mut command = Command::new(TERCET);
    let output =
        command.args(["doc", "site/index.html", "-o", "site"]).current_dir(dir.path()).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("refusing to overwrite"));
    assert_eq!(fs::read_to_string(dir.path().join("site/index.html")).unwrap(), HOSTILE);
}
