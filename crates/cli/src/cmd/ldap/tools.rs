//! `tercet ldap compare`, `passwd`, `whoami` and `url`.

use super::connection::{Connection, ask};
use super::failure;
use crate::exit::{Exit, Failure, Outcome};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use clap::Args;
use std::io::{self, Write as _};
use tercet_ldap::Scope;
use tercet_ldap::extended::PasswordModify;

/// Check whether an entry has a value: exit code 0 and `TRUE`, or 2 and `FALSE`
#[derive(Args, Debug)]
pub struct Compare {
    #[command(flatten)]
    connection: Connection,

    /// The name
    dn: String,

    /// `ATTRIBUTE:VALUE`, or `ATTRIBUTE::VALUE` in base64
    assertion: String,
}

impl Compare {
    pub async fn run(&self) -> Outcome {
        let fault = || Failure::usage("ATTRIBUTE:VALUE expected");
        let (attribute, value) = self.assertion.split_once(':').ok_or_else(fault)?;
        let value = match value.strip_prefix(':') {
            Some(text) => STANDARD.decode(text).map_err(Failure::usage)?,
            None => value.as_bytes().to_vec(),
        };
        let client = self.connection.open().await?;
        let equal =
            client.compare(&self.dn, attribute, &value).await.map_err(|error| failure(&self.dn, &error))?;
        writeln!(io::stdout(), "{}", if equal { "TRUE" } else { "FALSE" })?;
        Ok(if equal { Exit::Good } else { Exit::Rejected })
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

    /// The new password; without it the server makes one up
    #[arg(short = 's', value_name = "PASSWORD")]
    new: Option<String>,

    /// Ask for the new password
    #[arg(short = 'S', conflicts_with = "new")]
    ask: bool,

    /// Whose password; that of the user who is bound if not given
    user: Option<String>,
}

impl Passwd {
    pub async fn run(&self) -> Outcome {
        let new = if self.ask { Some(ask("New password: ")?) } else { self.new.clone() };
        let client = self.connection.open().await?;
        let request = PasswordModify {
            user: self.user.clone(),
            old: self.old.clone().map(String::into_bytes),
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
}

impl Whoami {
    pub async fn run(&self) -> Outcome {
        let client = self.connection.open().await?;
        let identity = client.who_am_i().await.map_err(|error| failure("", &error))?;
        writeln!(
            io::stdout(),
            "{}",
            if identity.is_empty() { "anonymous".into() } else { tercet_printable::printable(&identity) }
        )?;
        Ok(Exit::Good)
    }
}

/// Take an LDAP URL apart, or put one together
#[derive(Args, Debug)]
pub struct Url {
    /// The URL to take apart
    #[arg(short = 'H', value_name = "URI")]
    uri: Option<String>,

    /// The host
    #[arg(long, default_value = "")]
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
            writeln!(out, "{url}")?;
            return Ok(Exit::Good);
        };
        let url: tercet_ldap::Url = text.parse().map_err(|error| failure("", &error))?;
        writeln!(out, "scheme: {}", url.scheme)?;
        if !url.host.is_empty() {
            writeln!(out, "host: {}", url.host)?;
        }
        writeln!(out, "port: {}", url.effective_port())?;
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
