//! Options of SASL, and the mechanism that they ask for.

use crate::exit::{Failure, Outcome};
use clap::Args;
use tercet_ldap::sasl::{DigestMd5, External, Hash, Mechanism, OauthBearer, Plain, Protection, Scram};

#[derive(Args, Clone, Debug)]
pub struct Sasl {
    /// SASL mechanism, such as EXTERNAL or SCRAM-SHA-256
    ///
    /// EXTERNAL, PLAIN, SCRAM-SHA-1, SCRAM-SHA-256, either with -PLUS, DIGEST-MD5, OAUTHBEARER with a token as the password;
    /// GSSAPI (Kerberos), and NTLM and for Active Directory GSS-SPNEGO (NTLM too), if this program was built with them
    #[arg(short = 'Y', value_name = "MECHANISM")]
    mechanism: Option<String>,

    /// SASL authentication identity; for GSSAPI, the principal whose tickets are used, if not the default ones; for NTLM,
    /// `USER`, `DOMAIN\USER` or `USER@DOMAIN`
    #[arg(short = 'U', value_name = "USER", default_value = "")]
    sasl_user: String,

    /// The realm of that principal, or the domain of the user of NTLM
    #[arg(short = 'R', value_name = "REALM", requires = "sasl_user")]
    sasl_realm: Option<String>,

    /// SASL authorization identity
    #[arg(short = 'X', value_name = "AUTHZID", default_value = "")]
    authorization: String,

    /// SASL security properties, with commas between: `minssf=N`, `maxssf=N`, `maxbufsize=N`, `noplain`, `noanonymous`, `none`;
    /// `SASL_SECPROPS` of ldap.conf if not given
    #[arg(short = 'O', value_name = "PROPERTIES")]
    sasl_properties: Option<String>,

    /// The service's principal for GSSAPI; `ldap/HOST` with the host of the URL if not given
    #[arg(long = "service", value_name = "PRINCIPAL", conflicts_with = "canonical_host")]
    sasl_service: Option<String>,

    /// Let Kerberos ask the DNS for another name of the host, as krb5.conf has it
    #[arg(long)]
    canonical_host: bool,

    /// Do not ask the DNS for another name of the host, as is the default without `--canonical-host`
    #[arg(short = 'N', conflicts_with = "canonical_host")]
    no_canonical_host: bool,

    /// Print nothing about SASL, as is the default
    #[arg(short = 'Q')]
    sasl_quiet: bool,
}

/// What `-O` asks for.
#[derive(Debug, PartialEq, Eq)]
struct Properties {
    protection: Protection,
    no_plain: bool,
}

impl Sasl {
    /// The mechanism, with a password if it needs one, if any is asked for.
    pub fn mechanism(
        &self,
        password: impl FnOnce() -> Outcome<String>,
        is_tls: bool,
    ) -> Outcome<Option<Box<dyn Mechanism>>> {
        let Some(name) = self.mechanism.as_deref().map(str::to_ascii_uppercase) else {
            return Ok(None);
        };
        let text = self.sasl_properties.clone().or_else(|| super::conf::setting("SASL_SECPROPS"));
        let properties = properties(text.as_deref().unwrap_or_default())?;
        let mechanism: Box<dyn Mechanism> = match name.as_str() {
            "GSSAPI" => self.gssapi(properties.protection)?,
            "EXTERNAL" => Box::new(External::new(&self.authorization)),
            "NTLM" | "GSS-SPNEGO" => self.ntlm(&name, properties.protection, &password()?)?,
            name => self.with_password(name, &password()?)?,
        };
        if properties.no_plain && mechanism.shows_password() {
            return Err(Failure::usage(format_args!("-Y {name}: it shows the password, -O noplain")));
        }
        let has_layers = matches!(name.as_str(), "GSSAPI" | "GSS-SPNEGO");
        if properties.protection.min > 0 && !has_layers && !is_tls {
            let min = properties.protection.min;
            return Err(Failure::usage(format_args!("-Y {name}: it has no security layer, -O minssf={min}")));
        }
        Ok(Some(mechanism))
    }

    /// Whether a mechanism is.
    pub const fn is_asked_for(&self) -> bool {
        self.mechanism.is_some()
    }

    fn with_password(&self, name: &str, password: &str) -> Outcome<Box<dyn Mechanism>> {
        let (user, authorization) = (self.sasl_user.as_str(), self.authorization.as_str());
        let scram = |hash| Scram::new(hash, authorization, user, password);
        Ok(match name {
            "PLAIN" => Box::new(Plain::new(authorization, user, password)),
            "SCRAM-SHA-1" => Box::new(scram(Hash::Sha1)),
            "SCRAM-SHA-256" => Box::new(scram(Hash::Sha256)),
            "SCRAM-SHA-1-PLUS" => Box::new(scram(Hash::Sha1).bound()),
            "SCRAM-SHA-256-PLUS" => Box::new(scram(Hash::Sha256).bound()),
            "DIGEST-MD5" => Box::new(DigestMd5::new(authorization, user, password)),
            "OAUTHBEARER" => Box::new(OauthBearer::new(authorization, password)),
            _ => return Err(Failure::usage(format_args!("-Y {name}: not a mechanism that is known"))),
        })
    }

    #[cfg(feature = "gssapi")]
    fn gssapi(&self, protection: Protection) -> Outcome<Box<dyn Mechanism>> {
        use tercet_ldap::sasl::{Gssapi, Kerberos};
        let mut kerberos = Kerberos::new();
        if !self.sasl_user.is_empty() {
            let realm = self.sasl_realm.as_deref().map(|realm| format!("@{realm}")).unwrap_or_default();
            kerberos = kerberos.user(self.sasl_user.clone() + &realm);
        }
        if let Some(service) = &self.sasl_service {
            kerberos = kerberos.service(service);
        }
        if self.canonical_host {
            kerberos = kerberos.canonicalized();
        }
        Ok(Box::new(Gssapi::new(kerberos, &self.authorization).with_protection(protection)))
    }

    #[cfg(not(feature = "gssapi"))]
    fn gssapi(&self, _: Protection) -> Outcome<Box<dyn Mechanism>> {
        Err(Failure::usage(
            "-Y GSSAPI: this program was built without it; `cargo` has it as feature `gssapi`",
        ))
    }

    #[cfg(feature = "ntlm")]
    fn ntlm(&self, name: &str, protection: Protection, password: &str) -> Outcome<Box<dyn Mechanism>> {
        if !self.authorization.is_empty() {
            return Err(Failure::usage(format_args!(
                "-Y {name}: there is no other identity than the user's, -X"
            )));
        }
        let mut ntlm = tercet_ldap::sasl::Ntlm::new(&self.sasl_user, password).with_protection(protection);
        if let Some(domain) = &self.sasl_realm {
            ntlm = ntlm.domain(domain);
        }
        Ok(Box::new(if name == "NTLM" { ntlm } else { ntlm.in_spnego() }))
    }

    #[cfg(not(feature = "ntlm"))]
    fn ntlm(&self, name: &str, _: Protection, _: &str) -> Outcome<Box<dyn Mechanism>> {
        Err(Failure::usage(format_args!(
            "-Y {name}: this program was built without it; `cargo` has it as feature `ntlm`"
        )))
    }
}

fn properties(text: &str) -> Outcome<Properties> {
    let mut properties = Properties { protection: Protection::default(), no_plain: false };
    for word in text.split(',').map(str::trim).filter(|word| !word.is_empty()) {
        let (name, value) = word.split_once('=').unwrap_or((word, ""));
        let number = || {
            let fault = || Failure::usage(format_args!("-O {word}: a number expected"));
            value.parse::<u32>().map_err(|_| fault())
        };
        let protection = properties.protection;
        match name.to_ascii_lowercase().as_str() {
            "minssf" => properties.protection = protection.at_least(number()?),
            "maxssf" => properties.protection = protection.at_most(number()?),
            "maxbufsize" => properties.protection = protection.buffer(number()?),
            "noplain" => properties.no_plain = true,
            "none" => properties.no_plain = false,
            // There is no such mechanism here.
            "noanonymous" => {}
            _ => {
                return Err(Failure::usage(format_args!(
                    "-O {word}: minssf, maxssf, maxbufsize, noplain, noanonymous or none expected"
                )));
            }
        }
    }
    Ok(properties)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words() {
        let of = |text: &str| properties(text).ok();
        let free = Protection::default();
        assert_eq!(of(""), Some(Properties { protection: free, no_plain: false }));
        let both = free.at_least(56).at_most(256).buffer(65_536);
        let text = "noanonymous, noplain,minssf=56,maxssf=256,MAXBUFSIZE=65536";
        assert_eq!(of(text), Some(Properties { protection: both, no_plain: true }));
        assert_eq!(
            of("noplain,none,maxssf=0"),
            Some(Properties { protection: free.at_most(0), no_plain: false })
        );
        for bad in ["minssf", "minssf=", "maxssf=-1", "maxbufsize=x", "nodict", "=1"] {
            assert!(of(bad).is_none(), "{bad}");
        }
    }
}
