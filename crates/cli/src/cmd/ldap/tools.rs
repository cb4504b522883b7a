//! `tercet ldap compare`, `passwd`, `whoami` and `url`.

use super::connection::{Connection, ask, password_of_file};
use super::failure;
use crate::exit::{Exit, Failure, Outcome};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use clap::{ArgAction, Args};
use std::io::{self, Write as _};
use std::path::PathBuf;
use tercet_ldap::extended::PasswordModify;
use tercet_ldap::{Error, Scope};
use tercet_printable::printable;

/// Check whether an entry has a value: exit code 0 and `TRUE`, or 2 and `FALSE`
#[derive(Args, Debug)]
pub struct Compare {
    #[command(flatten)]
    connection: Connection,

    /// Show what would be done
    #[arg(short = 'n')]
    dry: bool,

    /// Print nothing: the exit code is the answer
    #[arg(short = 'z')]
    quiet: bool,

    /// The name
    dn: String,

    /// `ATTRIBUTE:VALUE`, or `ATTRIBUTE::VALUE` in base64
    assertion: String,
}

impl Compare {
    /// Whether no comparison is made.
    pub const fn is_dry(&self) -> bool {
        self.dry
    }

    pub async fn run(&self) -> Outcome {
        let fault = || Failure::usage("ATTRIBUTE:VALUE expected");
        let (attribute, value) = self.assertion.split_once(':').ok_or_else(fault)?;
        let value = match value.strip_prefix(':') {
            Some(text) => STANDARD.decode(text).map_err(Failure::usage)?,
            None => value.as_bytes().to_vec(),
        };
        if self.dry {
            let (name, dn) = (printable(attribute), printable(&self.dn));
            writeln!(io::stdout(), "!comparing {name} of entry \"{dn}\"")?;
            return Ok(Exit::Good);
        }
        let client = self.connection.open().await?;
        let equal = match client.compare(&self.dn, attribute, &value).await {
            Ok(equal) => equal,
            Err(error) => return Err(self.undefined(&error)?),
        };
        if !self.quiet {
            writeln!(io::stdout(), "{}", if equal { "TRUE" } else { "FALSE" })?;
        }
        Ok(if equal { Exit::Good } else { Exit::Rejected })
    }

    /// Prints a result that is an error as ldapcompare does, and returns the failure.
    fn undefined(&self, error: &Error) -> Outcome<Failure> {
        let failed = failure(&self.dn, error);
        let Some(result) = error.result() else { return Ok(failed) };
        if !self.quiet {
            let mut out = io::stdout();
            writeln!(out, "Compare Result: {}", result.code)?;
            if !result.message.is_empty() {
                writeln!(out, "Additional info: {}", printable(&result.message))?;
            }
            if !result.matched_dn.is_empty() {
                writeln!(out, "Matched DN: {}", printable(&result.matched_dn))?;
            }
            writeln!(out, "UNDEFINED")?;
        }
        Ok(Failure { message: String::new(), ..failed })
    }
}

/// Change a password
#[derive(Args, Debug)]
pub struct Passwd {
    #[command(flatten)]
    connection: Connection,

    /// The password until now
    #[arg(short = 'a', value_name = "PASSWORD")]
    old: Option<String>,

    /// Ask for the password until now
    #[arg(short = 'A', conflicts_with = "old")]
    ask_old: bool,

    /// The password until now is the content of a file
    #[arg(short = 't', value_name = "FILE", conflicts_with_all = ["old", "ask_old"])]
    old_file: Option<PathBuf>,

    /// The new password; without it the server makes one up
    #[arg(short = 's', value_name = "PASSWORD")]
    new: Option<String>,

    /// Ask for the new password
    #[arg(short = 'S', conflicts_with = "new")]
    ask: bool,

    /// The new password is the content of a file
    #[arg(short = 'T', value_name = "FILE", conflicts_with_all = ["new", "ask"])]
    new_file: Option<PathBuf>,

    /// Show what would be done
    #[arg(short = 'n')]
    dry: bool,

    /// Whose password; that of the user who is bound if not given
    user: Option<String>,
}

impl Passwd {
    pub async fn run(&self) -> Outcome {
        if self.dry {
            let user = self.user.as_deref().unwrap_or_else(|| self.connection.bind_dn());
            writeln!(io::stdout(), "!changing password of \"{}\"", printable(user))?;
            return Ok(Exit::Good);
        }
        let old = match &self.old_file {
            Some(path) => Some(password_of_file(path)?),
            None if self.ask_old => Some(ask("Old password: ")?),
            None => self.old.clone(),
        };
        let new = match &self.new_file {
            Some(path) => Some(password_of_file(path)?),
            None if self.ask => Some(ask("New password: ")?),
            None => self.new.clone(),
        };
        let client = self.connection.open().await?;
        let request = PasswordModify {
            user: self.user.clone(),
            old: old.map(String::into_bytes),
            new: new.map(String::into_bytes),
        };
        let generated = client.modify_password(&request).await.map_err(|error| failure("", &error))?;
        if let Some(password) = generated {
            writeln!(io::stdout(), "New password: {}", String::from_utf8_lossy(&password))?;
        }
        Ok(Exit::Good)
    }
}

/// Print who the server takes the user for
#[derive(Args, Debug)]
pub struct Whoami {
    #[command(flatten)]
    connection: Connection,

    /// Show what would be done
    #[arg(short = 'n')]
    dry: bool,
}

impl Whoami {
    pub async fn run(&self) -> Outcome {
        if self.dry {
            writeln!(io::stdout(), "!asking who \"{}\" is", printable(self.connection.bind_dn()))?;
            return Ok(Exit::Good);
        }
        let client = self.connection.open().await?;
        let identity = client.who_am_i().await.map_err(|error| failure("", &error))?;
        writeln!(
            io::stdout(),
            "{}",
            if identity.is_empty() { "anonymous".into() } else { printable(&identity) }
        )?;
        Ok(Exit::Good)
    }
}

/// Take an LDAP URL apart, or put one together
#[derive(Args, Debug)]
#[command(disable_help_flag = true)]
pub struct Url {
    /// Print help
    #[arg(long, action = ArgAction::Help)]
    help: Option<bool>,

    /// The URL to take apart
    #[arg(short = 'H', value_name = "URI")]
    uri: Option<String>,

    /// The host
    #[arg(short = 'h', long, default_value = "")]
    host: String,

    /// The port
    #[arg(short = 'p', value_name = "PORT")]
    port: Option<u16>,

    /// ldap, ldaps, ldapi or cldap
    #[arg(short = 'S', value_name = "SCHEME", default_value = "ldap")]
    scheme: String,

    /// The base
    #[arg(short = 'b', value_name = "BASE", default_value = "")]
    base: String,

    /// Attributes
    #[arg(short = 'a', value_name = "ATTRIBUTES", value_delimiter = ',')]
    attributes: Vec<String>,

    /// The scope
    #[arg(short = 's', value_name = "SCOPE", value_parser = |text: &str| text.parse::<Scope>())]
    scope: Option<Scope>,

    /// The filter
    #[arg(short = 'f', value_name = "FILTER")]
    filter: Option<String>,

    /// Extensions
    #[arg(short = 'E', value_name = "EXTENSION")]
    extensions: Vec<String>,
}

impl Url {
    pub fn run(&self) -> Outcome {
        let mut out = io::stdout();
        let Some(text) = &self.uri else {
            let url = tercet_ldap::Url {
                scheme: self.scheme.clone(),
                host: self.host.clone(),
                port: self.port,
                dn: self.base.clone(),
                attributes: self.attributes.clone(),
                scope: self.scope,
                filter: self.filter.clone(),
                extensions: self.extensions.clone(),
            };
            let text = url.to_string();
            // As ldapurl prints it: nothing after the server, no slash.
            let is_server = url.server().to_string() == text;
            let text = if is_server { text.trim_end_matches('/') } else { &text };
            writeln!(out, "{text}")?;
            return Ok(Exit::Good);
        };
        let url: tercet_ldap::Url = text.parse().map_err(|error| failure("", &error))?;
        writeln!(out, "scheme: {}", url.scheme)?;
        if !url.host.is_empty() {
            writeln!(out, "host: {}", url.host)?;
        }
        // A socket has no port.
        if url.scheme != "ldapi" {
            writeln!(out, "port: {}", url.effective_port())?;
        }
        if !url.dn.is_empty() {
            writeln!(out, "dn: {}", url.dn)?;
        }
        for name in &url.attributes {
            writeln!(out, "selector: {name}")?;
        }
        writeln!(out, "scope: {}", url.scope.unwrap_or(Scope::Base).word())?;
        if let Some(filter) = &url.filter {
            writeln!(out, "filter: {filter}")?;
        }
        for extension in &url.extensions {
            writeln!(out, "extension: {extension}")?;
        }
        Ok(Exit::Good)
    }
}
