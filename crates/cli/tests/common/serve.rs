//! A directory of `tercet ldap serve`, and commands of `tercet ldap`.

use std::path::Path;
use std::process::{Child, Command, Stdio};

/// `tercet ldap serve` on a socket of its own folder.
pub(crate) struct Serve {
    pub(crate) child: Child,
    pub(crate) url: String,
    pub(crate) folder: tempfile::TempDir,
}

impl Serve {
    pub(crate) fn start(ldif: &str, words: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("in.ldif"), ldif).unwrap();
        let socket = folder.path().join("s");
        let url = format!("ldapi://{}", socket.display().to_string().replace('/', "%2f"));
        let child = Command::new(env!("CARGO_BIN_EXE_tercet"))
            .args(["ldap", "serve", "--listen", "127.0.0.1:0", "--ldif"])
            .arg(folder.path().join("in.ldif"))
            .arg("--socket")
            .arg(&socket)
            .args(words)
            .stderr(Stdio::piped())
            .spawn();
        let mut child = child.unwrap();
        let mut lines = std::io::BufRead::lines(std::io::BufReader::new(child.stderr.take().unwrap()));
        assert!(lines.any(|line| line.unwrap().contains("also at")), "serve does not start");
        Self { child, url, folder }
    }

    /// Runs a command of `tercet ldap` at the server.
    pub(crate) fn run(&self, words: &[&str]) -> std::process::Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tercet"));
        command.arg("ldap").arg(words[0]).args(["-H", &self.url]).args(&words[1..]);
        command.current_dir(self.folder.path()).env("HOME", self.folder.path());
        command.output().unwrap()
    }
}

impl Drop for Serve {
    fn drop(&mut self) {
        _ = self.child.kill();
        _ = self.child.wait();
    }
}

/// The exit code, standard output and standard error of a command in a folder.
pub(crate) fn tercet(folder: &Path, words: &[&str]) -> (i32, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tercet"));
    let output = command.arg("ldap").args(words).current_dir(folder).output().unwrap();
    let text = |octets| String::from_utf8(octets).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}
