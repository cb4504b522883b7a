//! Options that say which server, and as whom.

use super::failure;
use super::sasl::Sasl;
use crate::exit::{Failure, Outcome};
use crate::term;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use clap::Args;
use std::io::{self, BufRead as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tercet_ldap::proto::Control;
use tercet_ldap::{Cldap, Client, Config, KeepAlive, Referrals, StartTls, TrustedRoots, Url, controls};

#[derive(Args, Clone, Debug)]
pub struct Connection {
    /// LDAP URLs of servers, tried in order
    ///
    /// `ldap:///dc=…` is for the servers of a domain, `cldap://…` for a search by datagrams. The default is `LDAPURI` of the
    /// environment or `URI` of ldap.conf.
    #[arg(short = 'H', value_name = "URI")]
    uri: Option<String>,

    /// Bind by name and password, as is the default without -Y
    #[arg(short = 'x')]
    simple: bool,

    /// The name to bind as
    #[arg(short = 'D', value_name = "DN", default_value = "")]
    bind_dn: String,

    /// The password
    #[arg(short = 'w', value_name = "PASSWORD", conflicts_with_all = ["prompt", "password_file"])]
    password: Option<String>,

    /// Ask for the password
    #[arg(short = 'W', conflicts_with = "password_file")]
    prompt: bool,

    /// The password is the content of a file
    #[arg(short = 'y', value_name = "FILE")]
    password_file: Option<PathBuf>,

    #[command(flatten)]
    sasl: Sasl,

    /// Require StartTLS, whether given once or twice
    #[arg(short = 'Z', action = clap::ArgAction::Count)]
    start_tls: u8,

    /// Trust only servers that these certificates (PEM) have signed
    ///
    /// The default is `LDAPTLS_CACERT` of the environment or `TLS_CACERT` of ldap.conf.
    #[arg(long, value_name = "FILE")]
    ca: Option<PathBuf>,

    /// Accept any certificate of the server: an attacker in between can read and change everything
    #[arg(long)]
    insecure: bool,

    /// Allow a password on a connection without encryption to another host
    #[arg(long)]
    plain_password: bool,

    /// Follow referrals, anonymously
    #[arg(short = 'C')]
    chase: bool,

    /// Print the server's URL to standard error
    #[arg(short = 'v')]
    verbose: bool,

    /// Accepted for scripts of OpenLDAP's tools, without effect
    #[arg(short = 'd', value_name = "LEVEL", allow_negative_numbers = true)]
    debug: Option<i64>,

    /// The version of the protocol: 3
    #[arg(short = 'P', id = "ldap-version", value_name = "VERSION", default_value_t = 3, value_parser = clap::value_parser!(u8).range(3..=3))]
    protocol: u8,

    /// Ask for the password that SASL needs, if none is given
    #[arg(short = 'I')]
    interactive: bool,

    /// Controls, such as `assert=(cn=a)`
    ///
    /// `[!]NAME[=VALUE]` of assert, authzid, manageDSAit, noop, ppolicy, postread, preread, relax,
    /// sessiontracking, treeDelete, or an object identifier, whose value is `:TEXT`, `::BASE64` or `:<file:///PATH`
    #[arg(short = 'e', value_name = "[!]EXTENSION")]
    extensions: Vec<String>,

    /// Options: `nettimeout=SECONDS`, `keepalive=IDLE:PROBES:INTERVAL|no`, `ldif-wrap=WIDTH|no`
    #[arg(short = 'o', value_name = "OPTION=VALUE")]
    options: Vec<String>,
}

impl Connection {
    /// Connects and binds.
    pub async fn open(&self) -> Outcome<Client> {
        let config = self.config()?.located().await.map_err(|error| failure("", &error))?;
        if self.verbose {
            let urls: Vec<String> = config.urls.iter().map(ToString::to_string).collect();
            term::say(format_args!("connecting to {}", urls.join(" ")));
        }
        let client = Client::connect_with(&config).await.map_err(|error| failure("", &error))?;
        let password = || Ok(self.password()?.unwrap_or_default());
        let is_tls =
            config.start_tls == StartTls::Required || config.urls.iter().all(|url| url.scheme == "ldaps");
        let mechanism = if self.simple { None } else { self.sasl.mechanism(password, is_tls)? };
        let bound = match mechanism {
            Some(mechanism) => client.bind_sasl(mechanism).await,
            None => client.bind(&self.bind_dn, &password()?).await,
        };
        bound.map_err(|error| failure("bind", &error))?;
        let controls = self.controls()?;
        let controls: Vec<&dyn tercet_ldap::proto::RequestControl> =
            controls.iter().map(|control| control as &dyn tercet_ldap::proto::RequestControl).collect();
        Ok(client.with(&controls))
    }

    /// Connects and binds; servers and bind name are those given here unless there are options for them.
    pub async fn open_as(&self, uris: &[String], bind_dn: &str) -> Outcome<Client> {
        let mut own = self.clone();
        if own.uri.is_none() && !uris.is_empty() {
            own.uri = Some(uris.join(" "));
        }
        let has_password = own.password.is_some() || own.prompt || own.password_file.is_some();
        if own.bind_dn.is_empty() && has_password {
            bind_dn.clone_into(&mut own.bind_dn);
        }
        own.open().await
    }

    /// Connects to the server of a URL, and binds.
    pub async fn open_at(&self, url: &Url) -> Outcome<Client> {
        let own = Self { uri: Some(url.server().to_string()), ..self.clone() };
        own.open().await
    }

    /// Whether more is to be printed.
    pub const fn is_verbose(&self) -> bool {
        self.verbose
    }

    /// Whether a password is asked for.
    pub const fn asks(&self) -> bool {
        self.prompt
    }

    /// The name and the password of a simple bind; no password if it is asked for.
    pub fn credentials(&self) -> Outcome<(String, String)> {
        let password = if self.prompt { None } else { self.password()? };
        Ok((self.bind_dn.clone(), password.unwrap_or_default()))
    }

    /// The name to bind as.
    pub fn bind_dn(&self) -> &str {
        &self.bind_dn
    }

    /// Servers that are searched by datagrams, if the URLs are those of such.
    pub fn datagrams(&self) -> Outcome<Option<Cldap>> {
        let config = self.config()?;
        if config.urls.iter().all(|url| url.scheme != "cldap") {
            return Ok(None);
        }
        let has_password = self.password.is_some() || self.prompt || self.password_file.is_some();
        let binds = !self.bind_dn.is_empty() || has_password || self.sasl.is_asked_for();
        if binds || self.start_tls > 0 {
            return Err(Failure::usage("-H cldap: there is no bind and no StartTLS without a connection"));
        }
        let mut servers = Cldap::for_urls(config.urls).map_err(|error| failure("-H", &error))?;
        if let Some(timeout) = config.operation_timeout {
            servers.timeout = timeout / servers.tries;
        }
        Ok(Some(servers))
    }

    /// Where lines of LDIF are folded.
    pub fn wrap(&self) -> Outcome<Option<usize>> {
        wrap(&self.options)
    }

    fn option(&self, name: &str) -> Option<&str> {
        option(&self.options, name)
    }

    pub fn config(&self) -> Outcome<Config> {
        for option in &self.options {
            let name = option.split('=').next().unwrap_or_default();
            if !matches!(name, "keepalive" | "ldif-wrap" | "ldif_wrap" | "nettimeout") {
                return Err(Failure::usage(format_args!(
                    "-o {option}: keepalive, ldif-wrap or nettimeout expected"
                )));
            }
        }
        let uri = self.uri.clone().or_else(|| super::conf::setting("URI"));
        let uri = uri.unwrap_or_else(|| "ldap://localhost".to_owned());
        let mut config = Config::new(&uri).map_err(|error| failure("-H", &error))?;
        if self.start_tls > 0 {
            config.start_tls = StartTls::Required;
        }
        let ca = self.ca.clone().or_else(|| super::conf::setting("TLS_CACERT").map(PathBuf::from));
        if let Some(path) = &ca {
            let text = std::fs::read(path).map_err(|error| Failure::io(path.display(), &error))?;
            config.tls.roots = TrustedRoots::Pem(text);
        }
        if self.insecure {
            config.tls.roots = TrustedRoots::AnyCertificate;
        }
        config.allow_plain_passwords = self.plain_password;
        config.referrals = self.chase.then(Referrals::default);
        config.keep_alive = self.keep_alive(config.keep_alive)?;
        config.operation_timeout = None;
        let timeout = super::conf::setting("NETWORK_TIMEOUT");
        if let Some(seconds) = self.option("nettimeout").or(timeout.as_deref()) {
            let seconds = seconds.parse().map_err(|_| Failure::usage("-o nettimeout: seconds expected"))?;
            config.connect_timeout = Duration::from_secs(seconds);
            config.operation_timeout = Some(config.connect_timeout);
        }
        Ok(config)
    }

    /// What `-o keepalive` says, else ldap.conf, else the default.
    fn keep_alive(&self, default: Option<KeepAlive>) -> Outcome<Option<KeepAlive>> {
        if let Some(option) = self.option("keepalive") {
            return keep_alive(option).ok_or_else(|| {
                Failure::usage(format_args!("-o keepalive={option}: IDLE:PROBES:INTERVAL or `no` expected"))
            });
        }
        let settings =
            ["IDLE", "PROBES", "INTERVAL"].map(|name| super::conf::setting(&format!("KEEPALIVE_{name}")));
        if settings.iter().all(Option::is_none) {
            return Ok(default);
        }
        let text = settings.map(Option::unwrap_or_default).join(":");
        keep_alive(&text).ok_or_else(|| {
            Failure::usage(format_args!("KEEPALIVE_IDLE, _PROBES, _INTERVAL: numbers expected, not {text}"))
        })
    }

    fn password(&self) -> Outcome<Option<String>> {
        if let Some(password) = &self.password {
            return Ok(Some(password.clone()));
        }
        if let Some(path) = &self.password_file {
            return password_of_file(path).map(Some);
        }
        let asks = self.prompt || (self.interactive && self.sasl.is_asked_for());
        if asks { ask("Enter LDAP Password: ").map(Some) } else { Ok(None) }
    }

    /// The controls of `-e`.
    pub fn controls(&self) -> Outcome<Vec<Control>> {
        self.extensions.iter().map(|text| control(text)).collect()
    }
}

/// Reads a password: the whole file, a line break at its end included, as OpenLDAP's tools take it.
pub fn password_of_file(path: &Path) -> Outcome<String> {
    std::fs::read_to_string(path).map_err(|error| Failure::io(path.display(), &error))
}

/// The value of the last option with a name.
fn option<'o>(options: &'o [String], name: &str) -> Option<&'o str> {
    let mut all = options.iter().rev().map(|option| option.split_once('=').unwrap_or((option, "")));
    all.find(|(known, _)| *known == name).map(|(_, value)| value)
}

/// Where options say that lines of LDIF are folded.
pub fn wrap(options: &[String]) -> Outcome<Option<usize>> {
    match option(options, "ldif-wrap").or_else(|| option(options, "ldif_wrap")) {
        None => Ok(Some(78)),
        Some("no" | "0") => Ok(None),
        Some(width) => match width.parse() {
            Ok(width) if width > 1 => Ok(Some(width)),
            _ => Err(Failure::usage(format_args!("-o ldif-wrap={width}: a width above 1 or `no` expected"))),
        },
    }
}

/// `IDLE:PROBES:INTERVAL` with times in seconds, or `no`; what is nothing or 0 is left to the operating system.
fn keep_alive(text: &str) -> Option<Option<KeepAlive>> {
    if text == "no" {
        return Some(None);
    }
    let number = |text: &str| if text.is_empty() { Some(0) } else { text.parse::<u32>().ok() };
    let numbers: Vec<u32> = text.split(':').map(number).collect::<Option<_>>()?;
    let &[idle, probes, interval] = &*numbers else { return None };
    let seconds = |count: u32| (count > 0).then(|| Duration::from_secs(count.into()));
    let mut keep_alive = KeepAlive::SYSTEM;
    keep_alive.idle = seconds(idle);
    keep_alive.probes = (probes > 0).then_some(probes);
    keep_alive.interval = seconds(interval);
    Some(Some(keep_alive))
}

/// Asks for a password on the terminal, without showing it.
pub fn ask(prompt: &str) -> Outcome<String> {
    let mut error = io::stderr();
    write!(error, "{prompt}")?;
    error.flush()?;
    let echo = |word: &str| {
        std::process::Command::new("stty").arg(word).status().is_ok_and(|status| status.success())
    };
    let hidden = echo("-echo");
    let mut line = String::new();
    let read = io::stdin().lock().read_line(&mut line);
    if hidden {
        echo("echo");
    }
    writeln!(error)?;
    read?;
    Ok(line.trim_end_matches(['\r', '\n']).to_owned())
}

/// A control of `-e`.
pub fn control(text: &str) -> Outcome<Control> {
    use tercet_ldap::proto::RequestControl as _;
    let (critical, rest) = text.strip_prefix('!').map_or((false, text), |rest| (true, rest));
    let (name, value) = rest.split_once('=').map_or((rest, None), |(name, value)| (name, Some(value)));
    let list =
        || value.unwrap_or_default().split(',').filter(|name| !name.is_empty()).map(str::to_owned).collect();
    let control = match name.to_ascii_lowercase().as_str() {
        "assert" => {
            let filter = value.unwrap_or_default().parse();
            controls::Assertion(filter.map_err(|error| failure("-e assert", &error))?).control()
        }
        "authzid" => controls::ProxiedAuthorization(value.unwrap_or_default().to_owned()).control(),
        "managedsait" => controls::ManageDsaIt.control(),
        "noop" => controls::NoOp.control(),
        "ppolicy" => controls::PasswordPolicyRequest.control(),
        "preread" => controls::PreRead(list()).control(),
        "postread" => controls::PostRead(list()).control(),
        "relax" => controls::Relax.control(),
        "sessiontracking" => {
            let identifier = value.unwrap_or_default().to_owned();
            controls::SessionTracking { identifier, ..controls::SessionTracking::default() }.control()
        }
        "treedelete" => controls::TreeDelete.control(),
        name if name.bytes().all(|octet| octet.is_ascii_digit() || octet == b'.') && !name.is_empty() => {
            let control = Control::new(name);
            match value {
                Some(value) => control.with_value(control_value(text, value)?),
                None => control,
            }
        }
        _ => return Err(Failure::usage(format_args!("-e {text}: not a control that is known"))),
    };
    Ok(control.with_criticality(critical))
}

/// Reads the value of a control that is named by its object identifier: `:TEXT`, `::BASE64` or `:<URL` of a file, as LDIF writes
/// values; other text is the value itself.
fn control_value(option: &str, value: &str) -> Outcome<Vec<u8>> {
    if let Some(text) = value.strip_prefix("::") {
        return STANDARD
            .decode(text.trim())
            .map_err(|error| Failure::usage(format_args!("{option}: the value is not base64: {error}")));
    }
    if let Some(url) = value.strip_prefix(":<") {
        let url = url.trim();
        let Some(path) = url.strip_prefix("file://") else {
            return Err(Failure::usage(format_args!("{option}: a URL `file:///PATH` expected after `:<`")));
        };
        return std::fs::read(path).map_err(|error| Failure::io(path, &error));
    }
    Ok(value.strip_prefix(':').unwrap_or(value).as_bytes().to_vec())
}

#[cfg(test)]
mod tests {
    use super::{Duration, KeepAlive, control, keep_alive};

    #[test]
    fn control_values_as_ldif_writes_them() {
        for (text, value) in [
            ("1.2.3", None),
            ("!1.2.3=::MAMCAQE=", Some(&[0x30, 3, 2, 1, 1][..])),
            ("1.2.3=:text", Some(b"text")),
            ("1.2.3=text", Some(b"text")),
            ("1.2.3=a=b", Some(b"a=b")),
            ("1.2.3=", Some(b"")),
        ] {
            assert_eq!(control(text).unwrap().value.as_deref(), value, "{text}");
        }
        for wrong in ["1.2.3=::?", "1.2.3=:<http://x/y", "1.2.3=:<file:///does/not/exist"] {
            assert!(control(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn keep_alive_as_ldapsearch_has_it() {
        let seconds = Duration::from_secs;
        let all = KeepAlive::after(seconds(30)).with_probes(5).with_interval(seconds(10));
        assert_eq!(keep_alive("30:5:10"), Some(Some(all)));
        assert_eq!(keep_alive("0:5:0"), Some(Some(KeepAlive::SYSTEM.with_probes(5))));
        assert_eq!(keep_alive("30::"), Some(Some(KeepAlive::after(seconds(30)))));
        assert_eq!(keep_alive("no"), Some(None));
        for wrong in ["", "30", "30:5", "30:5:10:1", "a:b:c", "-1:5:10", "99999999999:1:1"] {
            assert_eq!(keep_alive(wrong), None, "{wrong}");
        }
    }
}
