//! `tercet ldap … -Y NTLM` beside OpenLDAP's tools, with a real slapd.
#![cfg(all(unix, feature = "ntlm"))]

#[path = "../../ldap/tests/common/mod.rs"]
mod common;

use std::process::{Command, Output};

use common::{Slapd, people};

fn tercet(words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_tercet")).arg("ldap").args(words).output().unwrap()
}

/// What is said of a command that fails with this exit code.
fn fault(words: &[&str], exit: i32) -> String {
    let output = tercet(words);
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(exit), "{text}");
    text
}

#[test]
fn tools_with_passwords() {
    let Some(slapd) = Slapd::start(&people(0)) else { return };
    let url = slapd.url();
    let who = ["whoami", "-Q", "-Y", "NTLM", "-H", &url, "-w", "engine"];
    let theirs =
        Command::new("ldapwhoami").args(&who[1..]).args(["-U", "ada"]).env("LDAPNOINIT", "1").output();
    if !theirs.is_ok_and(|theirs| theirs.stdout == b"dn:uid=ada,o=test\n") {
        tercet_testing::skip("ntlm", "OpenLDAP's tools have no NTLM");
        return;
    }
    for user in [&["-U", "ada"][..], &["-U", "EXAMPLE\\ada"], &["-U", "ada", "-R", "EXAMPLE"]] {
        let ours = tercet(&[&who[..], user].concat());
        assert_eq!(ours.stdout, b"dn:uid=ada,o=test\n", "{user:?}: {ours:?}");
    }
    let text = fault(&["whoami", "-Y", "NTLM", "-H", &url, "-U", "ada", "-w", "wrong"], 3);
    assert!(text.contains("bind: "), "{text}");
    let ada = [&who[..], &["-U", "ada"]].concat();
    let text = fault(&[&ada[..], &["-X", "u:bob"]].concat(), 1);
    assert!(text.contains("-Y NTLM: there is no other identity than the user's, -X"), "{text}");
    let text = fault(&[&ada[..], &["-O", "minssf=1"]].concat(), 1);
    assert!(text.contains("-Y NTLM: it has no security layer, -O minssf=1"), "{text}");
    let text =
        fault(&["whoami", "-Y", "GSS-SPNEGO", "-H", &url, "-U", "ada", "-w", "x", "-O", "minssf=129"], 3);
    assert!(text.contains("SASL") || text.contains("(7)"), "{text}");
}
