//! OpenLDAP's own tools against the directory in memory.

mod common;

use std::path::Path;
use std::process::{Command, Stdio};

use common::{Certificates, ROOT, SECRET, people};
use tercet_ldap::directory::Directory;

/// A tool, and where the server is.
struct Tools {
    url: String,
    folder: tempfile::TempDir,
}

impl Tools {
    /// Runs one as the root, with this on its standard input; its exit code and its output.
    fn run(&self, tool: &str, words: &[&str], input: &str) -> (i32, String) {
        let bound = ["-x", "-D", ROOT, "-w", SECRET, "-H", &self.url];
        self.run_as(tool, &[&bound, words].concat(), input)
    }

    fn run_as(&self, tool: &str, words: &[&str], input: &str) -> (i32, String) {
        let path = self.folder.path().join("input");
        std::fs::write(&path, input).unwrap();
        let output = Command::new(Path::new("/usr/bin").join(tool))
            .args(words)
            .env("LDAPTLS_CACERT", self.folder.path().join("ca.pem"))
            .stdin(Stdio::from(std::fs::File::open(path).unwrap()))
            .output()
            .unwrap();
        let text = [output.stdout, output.stderr].concat();
        (output.status.code().unwrap_or(-1), String::from_utf8(text).unwrap())
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tools_of_openldap() {
    let tools = ["ldapsearch", "ldapadd", "ldappasswd"];
    if tercet_testing::programs("ldap-utils", tools).is_none() {
        return;
    }
    let certificates = Certificates::new("127.0.0.1", false);
    let directory = Directory::new().with_root(ROOT, SECRET);
    let directory = directory.with_tls(&certificates.certificate, &certificates.key).unwrap();
    directory.load(people(1000).as_slice()).unwrap();
    let server = directory.listen("127.0.0.1:0").await.unwrap();
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("ca.pem"), &certificates.ca).unwrap();
    let tools = Tools { url: server.url(), folder };
    tokio::task::spawn_blocking(move || use_all(&tools)).await.unwrap();
}

fn use_all(tools: &Tools) {
    let search = |words: &[&str]| tools.run("ldapsearch", &[&["-LLL", "-b", ROOT], words].concat(), "");

    // Add, and each kind of change.
    let new = "dn: uid=new,o=test\nobjectClass: inetOrgPerson\nuid: new\ncn: New\nsn: One\n\n";
    assert_eq!(tools.run("ldapadd", &[], new), (0, "adding new entry \"uid=new,o=test\"\n\n".to_owned()));
    assert_eq!(tools.run("ldapadd", &[], new).0, 68);
    let change = "dn: uid=new,o=test\nchangetype: modify\nadd: mail\nmail: a@b\nmail: c@d\n-\n\
                  delete: mail\nmail: a@b\n-\nreplace: sn\nsn: Two\n-\n\n";
    assert_eq!(tools.run("ldapmodify", &[], change).0, 0);
    let found = "dn: uid=new,o=test\nmail: c@d\nsn: Two\n\n".to_owned();
    assert_eq!(search(&["(uid=new)", "mail", "sn"]), (0, found));
    assert_eq!(tools.run("ldapmodrdn", &["-r", "uid=new,o=test", "uid=newer"], "").0, 0);
    assert_eq!(tools.run("ldapcompare", &["uid=newer,o=test", "sn:TWO"], ""), (6, "TRUE\n".to_owned()));
    assert_eq!(tools.run("ldapcompare", &["uid=newer,o=test", "sn:One"], ""), (5, "FALSE\n".to_owned()));
    assert_eq!(tools.run("ldapdelete", &["uid=newer,o=test"], ""), (0, String::new()));
    assert_eq!(tools.run("ldapdelete", &["uid=newer,o=test"], "").0, 32);

    // All, in pages, sorted; limits.
    let (code, all) = search(&["(uid=p*)", "uid"]);
    assert_eq!((code, all.matches("dn: ").count()), (0, 1000));
    let (code, pages) = search(&["-E", "pr=77/noprompt", "(uid=p*)", "uid"]);
    assert_eq!((code, pages.matches("dn: ").count()), (0, 1000));
    let lines = |text: &str, name: &str| -> Vec<String> {
        text.lines().filter_map(|line| line.strip_prefix(name)).map(str::to_owned).collect()
    };
    let (code, sorted) = search(&["-E", "!sss=-sn:caseIgnoreOrderingMatch", "(uid=p*)", "sn"]);
    let names = lines(&sorted, "sn: ");
    assert_eq!((code, names.len()), (0, 1000));
    assert!(names.is_sorted_by(|a, b| a >= b));
    assert_eq!(search(&["-z", "10", "(uid=p*)"]).0, 4);
    let (code, part) = search(&["-E", "!mv=(mail=countess*)", "(uid=ada)", "mail"]);
    assert_eq!((code, lines(&part, "mail: ")), (0, vec!["countess@example.net".to_owned()]));
    assert_eq!(search(&["-e", "!assert=(sn=Lovelace)", "-s", "base", "-b", "uid=ada,o=test"]).0, 0);
    assert_eq!(search(&["-e", "!assert=(sn=King)", "-s", "base", "-b", "uid=ada,o=test"]).0, 122);
    let (code, synchronized) = search(&["-E", "sync=ro", "(uid=ada)", "cn"]);
    assert_eq!((code, lines(&synchronized, "cn: ")), (0, vec!["Ada Lovelace".to_owned()]));

    // Who one is, and passwords; over TLS too.
    assert_eq!(tools.run("ldapwhoami", &[], ""), (0, "dn:o=test\n".to_owned()));
    assert_eq!(tools.run("ldappasswd", &["-s", "difference", "uid=ada,o=test"], ""), (0, String::new()));
    let ada = ["-x", "-D", "uid=ada,o=test", "-H", &tools.url, "-w"];
    let who = |words: &[&str]| tools.run_as("ldapwhoami", &[&ada, words].concat(), "");
    assert_eq!(who(&["difference"]), (0, "dn:uid=ada,o=test\n".to_owned()));
    assert_eq!(who(&["difference", "-ZZ"]), (0, "dn:uid=ada,o=test\n".to_owned()));
    assert_eq!(who(&["engine"]).0, 49);
    let (code, made_up) = tools.run("ldappasswd", &["uid=ada,o=test"], "");
    let password = made_up.strip_prefix("New password: ").unwrap().trim_end().to_owned();
    assert_eq!((code, who(&[&password])), (0, (0, "dn:uid=ada,o=test\n".to_owned())));
    let plain = ["-Q", "-Y", "PLAIN", "-U", "ada", "-w", &password, "-ZZ", "-H", &tools.url];
    let (code, text) = tools.run_as("ldapwhoami", &plain, "");
    // The mechanism is a package of its own.
    assert!(text == "dn:uid=ada,o=test\n" || (code != 0 && text.contains("No worthy mechs")), "{text}");
}
