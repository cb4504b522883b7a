//! `tercet ldap serve`.

use super::{failure, open};
use crate::exit::{Exit, Failure, Outcome};
use crate::interrupt::OnInterrupt;
use crate::term;
use clap::Args;
use std::io::Read as _;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tercet_ldap::directory::{Directory, Durability, IndexSpec};

/// Serve a directory, in memory or kept on disk
#[derive(Args, Debug)]
#[command(after_help = "\
Without --data, entries come from LDIF and changes are lost when the command ends.

Examples:
  tercet ldap serve --ldif people.ldif --listen 127.0.0.1:3890 -D cn=admin,o=test -w secret
  tercet ldap serve --data directory --ldif people.ldif -D cn=admin,o=test -w secret")]
pub struct Serve {
    /// Keep the entries in this folder; it is made if it does not exist
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,

    /// When changes are answered: `group` when they are on disk, several by one sync; `each` by a sync each; `none` at once
    #[arg(long, value_name = "WHEN", requires = "data", default_value = "group", value_parser = |text: &str| text.parse::<Durability>())]
    durability: Durability,

    /// Refuse all changes
    #[arg(long)]
    read_only: bool,

    /// Entries to begin with; skipped if the folder of --data has entries
    #[arg(long, value_name = "FILE")]
    ldif: Vec<PathBuf>,

    /// Address to listen on, may be given several times; port 0 takes any, and the URL is printed on standard error
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:3890")]
    listen: Vec<String>,

    /// A socket of Unix to listen on too; a stale one is replaced
    #[arg(long, value_name = "PATH")]
    socket: Option<PathBuf>,

    /// Address to answer searches by datagrams on too; port 0 takes any
    #[arg(long, value_name = "HOST:PORT")]
    cldap: Option<String>,

    /// Certificates for StartTLS (PEM)
    #[arg(long, value_name = "FILE", requires = "key")]
    certificate: Option<PathBuf>,

    /// Their key (PEM)
    #[arg(long, value_name = "FILE", requires = "certificate")]
    key: Option<PathBuf>,

    /// TLS from the first byte (ldaps); without --certificate, by a certificate made for this run
    ///
    /// The certificate is for localhost and the hosts of --listen. Its SHA-256 is printed on standard error.
    #[arg(long)]
    tls: bool,

    /// An index besides those of every directory: eq, sub, pres and ord, such as `cn:eq,sub`
    #[arg(long, value_name = "ATTR:KIND[,KIND]", value_parser = |text: &str| text.parse::<IndexSpec>())]
    index: Vec<IndexSpec>,

    /// Rules of access, which `acl-test` checks; what no rule allows is denied to all but the root user
    #[arg(long, value_name = "FILE")]
    acl: Option<PathBuf>,

    /// Rules for passwords: LDIF of an entry with `pwdMinLength`, `pwdMaxFailure` and other attributes of pwdPolicy
    #[arg(long, value_name = "FILE")]
    password_policy: Option<PathBuf>,

    /// Add attribute types and object classes to those of `cn=subschema`: LDIF, or a file of OpenLDAP (.schema)
    #[arg(long, value_name = "FILE")]
    schema: Vec<PathBuf>,

    /// Refuse entries that the schema does not allow
    #[arg(long, value_enum, value_name = "WHEN", default_value = "off")]
    schema_check: Switch,

    /// An attribute of which two entries must not have the same value, may be given several times
    #[arg(long, value_name = "ATTRIBUTE")]
    unique: Vec<String>,

    /// An attribute with names: its values change and go with the entries that they name, may be given several times
    #[arg(long, value_name = "ATTRIBUTE")]
    integrity: Vec<String>,

    /// Keep `memberOf` in the entries that groups name by `member` or `uniqueMember`
    #[arg(long)]
    member_of: bool,

    /// Entries that a search returns at most; no limit by default
    #[arg(long, value_name = "COUNT")]
    size_limit: Option<usize>,

    /// Seconds that a search takes at most; 0 for no limit
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    time_limit: u64,

    /// Write a line of JSON for each operation to a file, or with `-` to standard output
    #[arg(long, value_name = "FILE")]
    access_log: Option<PathBuf>,

    /// Answer `GET /metrics` at an address, in the format of Prometheus
    #[arg(long, value_name = "HOST:PORT")]
    metrics: Option<String>,

    /// Connections at one time; others are closed at once
    #[arg(long, value_name = "COUNT")]
    max_connections: Option<usize>,

    /// Close connections on which no request comes for so many seconds
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
    idle: Option<u64>,

    /// Threads that answer requests; as many as the machine has cores by default
    #[arg(long, value_name = "COUNT")]
    workers: Option<NonZeroUsize>,

    /// The one user who may write and read `userPassword`; without, all may write
    #[arg(short = 'D', value_name = "DN", requires = "password")]
    root: Option<String>,

    /// Password of that user
    #[arg(short = 'w', value_name = "PASSWORD")]
    password: Option<String>,
}

#[derive(clap::ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
enum Switch {
    On,
    Off,
}

impl Serve {
    /// Returns the number of threads.
    pub fn workers(&self) -> usize {
        let cores = std::thread::available_parallelism();
        self.workers.or_else(|| cores.ok()).map_or(1, NonZeroUsize::get)
    }

    pub async fn run(&self) -> Outcome {
        let read = |path: &PathBuf| std::fs::read(path).map_err(|error| Failure::io(path.display(), &error));
        let limit = (self.time_limit > 0).then(|| Duration::from_secs(self.time_limit));
        let directory = match &self.data {
            Some(folder) => {
                Directory::open(folder, self.durability).map_err(|error| failure("--data", &error))?
            }
            None => Directory::new(),
        };
        let mut directory = directory.with_time_limit(limit).with_size_limit(self.size_limit);
        if self.read_only {
            directory = directory.read_only();
        }
        directory = directory
            .with_max_connections(self.max_connections)
            .with_idle_limit(self.idle.map(Duration::from_secs));
        if let Some(path) = &self.access_log {
            directory = directory.with_access_log(log(path)?);
        }
        if let Some(path) = &self.password_policy {
            let name = path.display().to_string();
            let mut text = String::new();
            open(path)?.read_to_string(&mut text).map_err(|error| Failure::io(&name, &error))?;
            directory = directory.with_password_rules(text.parse().map_err(|error| failure(&name, &error))?);
        }
        for path in &self.schema {
            let name = path.display().to_string();
            let mut text = Vec::new();
            open(path)?.read_to_end(&mut text).map_err(|error| Failure::io(&name, &error))?;
            let text =
                String::from_utf8(text).map_err(|error| Failure::input(format_args!("{name}: {error}")))?;
            directory = directory.with_schema(&text).map_err(|error| failure(&name, &error))?;
        }
        if self.schema_check == Switch::On {
            directory = directory.with_schema_check();
        }
        if let Some(path) = &self.acl {
            directory = directory.with_acl(super::acl::read(path)?);
        }
        if !self.index.is_empty() {
            directory = directory.with_indexes(&self.index);
        }
        if let (Some(root), Some(password)) = (&self.root, &self.password) {
            directory = directory.with_root(root, password);
        }
        if let (Some(certificate), Some(key)) = (&self.certificate, &self.key) {
            directory =
                directory.with_tls(&read(certificate)?, &read(key)?).map_err(|error| failure("", &error))?;
        }
        if self.tls && self.certificate.is_none() {
            let mut hosts = ["localhost", "127.0.0.1", "::1"].map(str::to_owned).to_vec();
            let of = |address: &String| Some(address.rsplit_once(':')?.0.trim_matches(['[', ']']).to_owned());
            hosts.extend(self.listen.iter().filter_map(of).filter(|host| !host.is_empty()));
            hosts.sort_unstable();
            hosts.dedup();
            let made = directory.with_own_certificate(&hosts).map_err(|error| failure("--tls", &error))?;
            directory = made.0;
            term::say(format_args!("certificate with SHA-256 {}", made.1.sha256()));
        }
        if self.data.is_some() && !directory.is_empty() {
            for path in &self.ldif {
                term::say(format_args!("{}: skipped, the directory has entries", path.display()));
            }
        } else {
            for path in &self.ldif {
                let loaded = directory.import(open(path)?).await;
                loaded.map_err(|error| failure(&path.display().to_string(), &error))?;
            }
        }
        directory = directory.with_unique(&self.unique).map_err(|error| failure("--unique", &error))?;
        directory =
            directory.with_integrity(&self.integrity).map_err(|error| failure("--integrity", &error))?;
        if self.member_of {
            directory = directory.with_member_of().map_err(|error| failure("--member-of", &error))?;
        }
        let mut servers = Vec::new();
        if let Some(address) = &self.metrics {
            let metrics =
                directory.listen_metrics(address).await.map_err(|error| failure("--metrics", &error))?;
            term::say(format_args!("metrics at {}", metrics.url()));
            servers.push(metrics);
        }
        let first = servers.len();
        for address in &self.listen {
            let server =
                if self.tls { directory.listen_tls(address).await } else { directory.listen(address).await };
            servers.push(server.map_err(|error| failure(address, &error))?);
        }
        let local = self.socket.as_ref().map(|path| directory.listen_local(path));
        let local = local.transpose().map_err(|error| failure("--socket", &error))?;
        let datagrams = match &self.cldap {
            Some(address) => directory.listen_datagrams(address).await.map(Some),
            None => Ok(None),
        };
        let datagrams = datagrams.map_err(|error| failure("--cldap", &error))?;
        for server in servers.iter().skip(first) {
            term::say(format_args!("{} entries at {}", term::grouped(directory.len() as u64), server.url()));
        }
        for other in local.iter().chain(&datagrams) {
            term::say(format_args!("also at {}", other.url()));
        }
        // The first signal ends the command in good order: the file of the Unix socket is removed with `local`.
        let stop = crate::interrupt::listen(OnInterrupt::Finish)?;
        heard(&stop).await;
        drop((servers, local, datagrams));
        Ok(Exit::Good)
    }
}

/// Opens the access log; lines are added to those of an earlier run.
pub(super) fn log(path: &Path) -> Outcome<Box<dyn std::io::Write + Send>> {
    if path.as_os_str() == "-" {
        return Ok(Box::new(std::io::stdout()));
    }
    let mut options = std::fs::OpenOptions::new();
    options.append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(path).map_err(|error| Failure::io(path.display(), &error))?;
    Ok(Box::new(file))
}

/// Waits for a signal.
async fn heard(stop: &AtomicBool) {
    while !stop.load(Ordering::Relaxed) {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}
