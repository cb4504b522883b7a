//! `tercet ldap proxy`.

use super::messages::{self, Shown};
use super::{failure, open};
use crate::exit::{Exit, Failure, Outcome};
use crate::interrupt::{OnInterrupt, listen};
use crate::term;
use clap::{Args, ValueEnum};
use serde_json::{Map, Value};
use std::collections::HashSet;
use std::io::{BufRead as _, Write};
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};
use tercet_ldap::generated::LdapMessage;
use tercet_ldap::proto::{LdapResult, Limits, decode};
use tercet_ldap::proxy::{Balance, Context, Flow, Layer, MapNames, Proxy as Inner, ReadOnly, answer};
use tercet_ldap::server::{self, Answer, AnyHandler, Entries, Handler, Identity, Request};
use tercet_ldap::{Config, Dn, ResultCode, TrustedRoots, Url};

/// Pass messages between clients and servers, and log, change, refuse or answer them
#[derive(Args, Debug)]
#[command(after_help = "\
Each line of the log is a message: t, conn, from (client or server), id, op, the fields of the operation, and controls.

Examples:
  tercet ldap proxy --to ldap://ldap.example.net --listen 127.0.0.1:3890 --log -
  tercet ldap proxy --to ldap://a ldap://b --balance round-robin --read-only
  tercet ldap proxy --to ldap://a ldap://b --pool --as cn=proxy,o=test -y password --proxied")]
pub struct Proxy {
    /// URLs of the servers
    #[arg(long, value_name = "URL", num_args = 1.., required = true)]
    to: Vec<String>,

    /// Address to listen on; port 0 takes any, and the URL is printed on standard error
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:3890")]
    listen: String,

    /// Which server a client gets: the first one that can be reached, one after another, the one with the fewest connections,
    /// the one that answers first, or one of a domain by the DNS
    #[arg(long, value_enum, value_name = "HOW", default_value = "first")]
    balance: BalanceName,

    /// Write a line of JSON for each message to a file, or with `-` to standard output
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,

    /// Log values of attributes as hexadecimal digits
    #[arg(long, requires = "log")]
    octets: bool,

    /// Log passwords
    #[arg(long, requires = "log")]
    show_passwords: bool,

    /// Refuse all changes (unwillingToPerform)
    #[arg(long)]
    read_only: bool,

    /// Requests a second at most, of all clients together; others wait
    #[arg(long, value_name = "COUNT")]
    rate: Option<NonZeroU32>,

    /// Show clients names below FROM that are below TO on the servers, may be given several times
    #[arg(long, value_names = ["FROM", "TO"], num_args = 2, action = clap::ArgAction::Append)]
    map: Vec<String>,

    /// Answer requests by rules in JSON lines instead of passing them on
    ///
    /// A rule matches a request whose fields are those that it names, as the log shows them. `code` and `message` are the answer:
    /// `{"op":"delete","code":53,"message":"no"}`. With `"close":true`, the connection ends instead.
    #[arg(long, value_name = "FILE")]
    answer: Option<PathBuf>,

    /// Send all requests with the rights of this user; binds of clients are checked on separate connections
    #[arg(long = "as", value_name = "DN", requires = "password_file")]
    account: Option<String>,

    /// The password of that user is the content of a file
    #[arg(short = 'y', id = "password_file", value_name = "FILE", requires = "account")]
    password_file: Option<PathBuf>,

    /// Share connections to the servers: clients with the same name have one together
    ///
    /// When a connection breaks, searches without an entry so far and comparisons are asked again, of another server if there is one.
    /// SASL binds are refused, StartTLS, Cancel and Who am I? answered by the proxy.
    #[arg(long)]
    pool: bool,

    /// With --as: send requests for the client by proxied authorization (RFC 4370), over shared connections as with --pool
    #[arg(long, requires = "account")]
    proxied: bool,

    /// Trust only servers that these certificates (PEM) have signed
    #[arg(long, value_name = "FILE")]
    ca: Option<PathBuf>,

    /// Accept any certificate of the servers: an attacker in between can read and change everything
    #[arg(long, conflicts_with = "ca")]
    insecure: bool,
}

#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
enum BalanceName {
    First,
    RoundRobin,
    Fewest,
    Fastest,
    Srv,
}

impl Proxy {
    pub async fn run(&self) -> Outcome {
        let read = |path: &Path| std::fs::read(path).map_err(|error| Failure::io(path.display(), &error));
        let mut urls = Vec::new();
        for text in &self.to {
            let url: Url = text.parse().map_err(|error| failure("--to", &error))?;
            if url.scheme == "cldap" {
                return Err(Failure::usage(format_args!("--to {text}: not with datagrams")));
            }
            urls.push(url);
        }
        let is_of_domain = |url: &Url| url.domain().is_some();
        if self.balance == BalanceName::Srv && !urls.iter().all(is_of_domain) {
            let message =
                "--balance srv: `--to` requires the URL of a domain, such as ldap:///dc=example,dc=net";
            return Err(Failure::usage(message));
        }
        let mut config = Config::for_urls(urls);
        if self.insecure {
            config.tls.roots = TrustedRoots::AnyCertificate;
        } else if let Some(path) = &self.ca {
            config.tls.roots = TrustedRoots::Pem(read(path)?);
        }
        let config = config.located().await.map_err(|error| failure("--to", &error))?;
        let parts = Parts {
            log: match &self.log {
                None => None,
                Some(path) => {
                    let shown = Shown { octets: self.octets, passwords: self.show_passwords };
                    Some(Log { shown, out: Mutex::new(super::serve::log(path)?) })
                }
            },
            answers: self.answer.as_deref().map(Answers::read).transpose()?,
            names: self.names()?,
            account: match (&self.account, &self.password_file) {
                (Some(dn), Some(path)) => {
                    Some((dn.clone(), String::from_utf8(read(path)?).map_err(Failure::usage)?))
                }
                _ => None,
            },
        };
        if self.pool || self.proxied {
            self.shared(&config, parts).await
        } else {
            self.relay(config, parts).await
        }
    }

    fn names(&self) -> Outcome<Vec<(Dn, Dn)>> {
        let dn = |text: &String| text.parse().map_err(|error| failure("--map", &error));
        let pairs = self.map.chunks_exact(2).map(|pair| match pair {
            [from, to] => Ok((dn(from)?, dn(to)?)),
            _ => Err(Failure::usage("--map: two names expected")),
        });
        pairs.collect()
    }

    const fn balanced(&self) -> Balance {
        match self.balance {
            BalanceName::First | BalanceName::Srv => Balance::First,
            BalanceName::RoundRobin => Balance::RoundRobin,
            BalanceName::Fewest => Balance::Fewest,
            BalanceName::Fastest => Balance::Fastest,
        }
    }

    /// Gives each client a connection to a server.
    async fn relay(&self, config: Config, parts: Parts) -> Outcome {
        let told = Mutex::new(HashSet::new());
        let mut proxy =
            Inner::new(config).rate(self.rate).balance(self.balanced()).on_failure(move |error| {
                let message = error.to_string();
                // Each reason is printed once: clients try again and again.
                if told.lock().unwrap_or_else(PoisonError::into_inner).insert(message.clone()) {
                    term::say(format_args!("proxy: {message}"));
                }
            });
        if let Some(log) = parts.log {
            proxy = proxy.layer(log);
        }
        if let Some(answers) = parts.answers {
            proxy = proxy.layer(answers);
        }
        if self.read_only {
            proxy = proxy.layer(ReadOnly);
        }
        for (from, to) in parts.names {
            proxy = proxy.layer(MapNames::new(from, to));
        }
        if let Some((dn, password)) = parts.account {
            proxy = proxy.account(dn, password);
        }
        let server = proxy.listen(&self.listen).await.map_err(|error| failure(&self.listen, &error))?;
        interrupted(&server.url()).await?;
        drop(server);
        Ok(Exit::Good)
    }

    /// Answers requests over connections that clients share.
    async fn shared(&self, config: &Config, parts: Parts) -> Outcome {
        let identity = match parts.account {
            None => Identity::Client,
            Some((dn, password)) if self.proxied => Identity::Proxied { dn, password },
            Some((dn, password)) => Identity::Account { dn, password },
        };
        let proxy = server::Proxy::new(config).balance(self.balanced()).identity(identity);
        // The root DSE is that of the servers.
        let mut server = server::Server::new(proxy).root_dse(false);
        if let Some(log) = parts.log {
            server = server.watch(log);
        }
        if let Some(answers) = parts.answers {
            server = server.layer(answers);
        }
        if self.read_only {
            server = server.layer(server::ReadOnly);
        }
        if let Some(rate) = self.rate {
            server = server.layer(server::RateLimit::new(rate));
        }
        for (from, to) in parts.names {
            server = server.layer(server::MapDn::new(from, to));
        }
        let server = server.listen(&self.listen).await.map_err(|error| failure(&self.listen, &error))?;
        interrupted(&server.url()).await?;
        server.shutdown(STOP).await;
        Ok(Exit::Good)
    }
}

/// Time for requests that run when the proxy stops.
const STOP: Duration = Duration::from_secs(5);

/// What options name, read.
struct Parts {
    log: Option<Log>,
    answers: Option<Answers>,
    names: Vec<(Dn, Dn)>,
    account: Option<(String, String)>,
}

/// Prints the URL, and waits until the proxy is to stop.
async fn interrupted(url: &str) -> Outcome<()> {
    term::say(format_args!("proxy at {url}"));
    let stop = listen(OnInterrupt::Finish)?;
    while !stop.load(Ordering::Relaxed) {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    Ok(())
}

/// Seconds since 1970, as `decode` prints the times of packets.
fn now() -> String {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    format!("{}.{:06}", now.as_secs(), now.subsec_micros())
}

/// The log.
struct Log {
    shown: Shown,
    out: Mutex<Box<dyn Write + Send>>,
}

impl Log {
    fn write(&self, connection: u64, from: &str, octets: &[u8]) {
        let mut object = Map::new();
        object.insert("t".to_owned(), Value::from(now()));
        object.insert("conn".to_owned(), Value::from(connection));
        object.insert("from".to_owned(), Value::from(from));
        match decode(octets, &Limits::default()) {
            Ok(message) => object.extend(messages::fields(&message, self.shown)),
            Err(error) => {
                object.insert("op".to_owned(), Value::from("malformed"));
                object.insert("error".to_owned(), Value::from(error.to_string()));
            }
        }
        let mut line = Value::Object(object).to_string();
        line.push('\n');
        let mut out = self.out.lock().unwrap_or_else(PoisonError::into_inner);
        // A log that cannot be written does not end the proxy.
        _ = out.write_all(line.as_bytes());
        _ = out.flush();
    }
}

impl Layer for Log {
    fn request(&self, context: &Context, message: &[u8]) -> Flow {
        self.write(context.connection, "client", message);
        Flow::Pass
    }

    fn response(&self, context: &Context, message: &[u8]) -> Flow {
        self.write(context.connection, "server", message);
        Flow::Pass
    }
}

impl server::Watch for Log {
    fn received(&self, cx: &server::Context, message: &[u8]) {
        self.write(cx.connection(), "client", message);
    }

    fn sent(&self, cx: &server::Context, message: &[u8]) {
        self.write(cx.connection(), "server", message);
    }
}

/// Rules by which requests are answered.
struct Answers(Arc<Vec<Rule>>);

struct Rule {
    fields: Map<String, Value>,
    result: LdapResult,
    closes: bool,
}

impl Answers {
    fn read(path: &Path) -> Outcome<Self> {
        let mut rules = Vec::new();
        for (number, line) in open(path)?.lines().enumerate() {
            let line = line.map_err(|error| Failure::io(path.display(), &error))?;
            if line.trim().is_empty() {
                continue;
            }
            let rule = rule(&line).map_err(|message| {
                Failure::usage(format_args!("{}: line {}: {message}", path.display(), number + 1))
            })?;
            rules.push(rule);
        }
        Ok(Self(Arc::new(rules)))
    }
}

fn rule(line: &str) -> Result<Rule, String> {
    let mut fields: Map<String, Value> = serde_json::from_str(line).map_err(|error| error.to_string())?;
    let closes = fields.remove("close").is_some_and(|closes| closes == Value::Bool(true));
    let code = match fields.remove("code") {
        None if closes => 0,
        Some(Value::Number(number)) => number
            .as_u64()
            .and_then(|number| u32::try_from(number).ok())
            .ok_or("`code` is not a result code")?,
        _ => return Err("`code` with a result code, or `close`, expected".to_owned()),
    };
    let message = fields.remove("message").and_then(|text| text.as_str().map(str::to_owned));
    let result = LdapResult::new(ResultCode(code)).with_message(message.unwrap_or_default());
    Ok(Rule { fields, result, closes })
}

impl Answers {
    /// Returns the first rule that a message meets.
    fn rule(&self, message: &LdapMessage<'_>) -> Option<&Rule> {
        let shown = messages::fields(message, Shown { octets: false, passwords: true });
        self.0.iter().find(|rule| rule.fields.iter().all(|(name, value)| shown.get(name) == Some(value)))
    }
}

impl Layer for Answers {
    fn request(&self, _: &Context, octets: &[u8]) -> Flow {
        let Ok(message) = decode(octets, &Limits::default()) else { return Flow::Pass };
        let Some(rule) = self.rule(&message) else { return Flow::Pass };
        if rule.closes {
            return Flow::Close;
        }
        match answer(&message, &rule.result) {
            Ok(Some(octets)) => Flow::Answer(octets),
            _ => Flow::Pass,
        }
    }
}

/// The rules around a handler.
struct Answering {
    answers: Answers,
    inner: AnyHandler,
}

impl server::Layer for Answers {
    fn layer(self: Box<Self>, inner: AnyHandler) -> AnyHandler {
        AnyHandler::new(Answering { answers: *self, inner })
    }
}

impl Handler for Answering {
    async fn handle(&self, cx: &server::Context, request: Request<'_>, out: &mut Entries) -> Answer {
        let met = decode(cx.message(), &Limits::default()).ok();
        let met = met.as_ref().and_then(|message| self.answers.rule(message));
        let found = met.map(|rule| (rule.closes, rule.result.clone()));
        match found {
            None => self.inner.handle(cx, request, out).await,
            Some((true, _)) => {
                cx.close();
                std::future::pending().await
            }
            Some((false, result)) => result.into(),
        }
    }

    fn supported_controls(&self) -> Vec<String> {
        self.inner.supported_controls()
    }
}
