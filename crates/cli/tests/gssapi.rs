//! `tercet ldap … -Y GSSAPI` beside OpenLDAP's tools, with a real KDC and a real slapd.
#![cfg(all(unix, feature = "gssapi"))]

#[path = "../../ldap/tests/common/mod.rs"]
mod common;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use common::kdc::Kdc;
use common::{Slapd, people};

/// Runs `tercet ldap` with tickets.
fn tercet(kdc: &Kdc, tickets: &Path, words: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tercet"));
    command.arg("ldap").args(words).envs(kdc.environment()).env("KRB5CCNAME", tickets).output().unwrap()
}

/// What is said of a command that fails with this exit code.
fn fault(output: &Output, exit: i32) -> String {
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(exit), "{text}");
    text
}

#[test]
fn tools_with_tickets() {
    let Some(kdc) = Kdc::start() else { return };
    let settings = "sasl-host localhost\nsasl-realm EXAMPLE.NET\nsasl-secprops minssf=56\n";
    let Some(slapd) = Slapd::start_as(&people(2000), None, [settings, ""], &kdc.environment()) else {
        return;
    };
    let url = slapd.url().replace("127.0.0.1", "localhost");
    let tickets = kdc.ticket("ticket", "10m");

    // The same words, and the same octets of LDIF, of all entries and of one.
    for words in [
        &["-LLL"][..],
        &["-LLL", "-o", "ldif-wrap=no"],
        &["-O", "minssf=56", "-s", "base"],
        &["-U", "ada", "-R", "EXAMPLE.NET", "(uid=ada)", "mail"],
    ] {
        let common = ["-Q", "-N", "-Y", "GSSAPI", "-H", &url, "-b", "o=test"];
        let ours = tercet(&kdc, &tickets, &[&["search"][..], &common, words].concat());
        assert!(ours.status.success(), "{words:?}: {}", String::from_utf8_lossy(&ours.stderr));
        let environment: Vec<(&str, PathBuf)> = kdc.environment();
        let mut theirs = Command::new("ldapsearch");
        theirs.args(common).args(words).envs(environment).env("KRB5CCNAME", &tickets).env("LDAPNOINIT", "1");
        let theirs = theirs.output().unwrap();
        assert!(theirs.status.success(), "{words:?}: {}", String::from_utf8_lossy(&theirs.stderr));
        assert!(ours.stdout == theirs.stdout, "{words:?}");
        assert!(ours.stderr.is_empty());
    }

    let who = |tickets: &Path, words: &[&str]| {
        tercet(&kdc, tickets, &[&["whoami", "-Y", "GSSAPI", "-H", &url][..], words].concat())
    };
    assert_eq!(who(&tickets, &[]).stdout, b"dn:uid=ada,o=test\n");
    assert_eq!(who(&tickets, &["--service", "ldap/localhost"]).stdout, b"dn:uid=ada,o=test\n");
    assert_eq!(who(&tickets, &["--canonical-host"]).stdout, b"dn:uid=ada,o=test\n");
    assert_eq!(
        who(&tickets, &["-X", "u:ada", "-O", "minssf=128,maxbufsize=8192"]).stdout,
        b"dn:uid=ada,o=test\n"
    );

    let text = fault(&who(&tickets, &["-O", "maxssf=1"]), 3);
    assert!(text.contains("the server requires confidentiality"), "{text}");
    let text = fault(&who(&tickets, &["-X", "dn:uid=local,o=test"]), 3);
    assert!(text.contains("(49)") || text.contains("(50)") || text.contains("not authorized"), "{text}");
    let text = fault(&who(Path::new("/nowhere"), &[]), 3);
    assert!(text.contains("/nowhere") && text.contains("; `kinit` gets a ticket"), "{text}");
    let text = fault(&who(&tickets, &["--service", "ldap/nowhere"]), 3);
    assert!(text.contains("ldap/nowhere@EXAMPLE.NET not found in Kerberos database"), "{text}");
    let text = fault(&who(&tickets, &["-O", "maxssf"]), 1);
    assert!(text.contains("-O maxssf: a number expected"), "{text}");
    let text = fault(&tercet(&kdc, &tickets, &["whoami", "-Y", "PLAIN", "-O", "noplain", "-H", &url]), 1);
    assert!(text.contains("-O noplain"), "{text}");
    let text =
        fault(&tercet(&kdc, &tickets, &["whoami", "-Y", "SCRAM-SHA-256", "-O", "minssf=1", "-H", &url]), 1);
    assert!(text.contains("-O minssf=1"), "{text}");
}
