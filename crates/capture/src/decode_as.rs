//! Rules of users, and the search for the protocol of a message.

use crate::protocol::{OTHER_PPIDS, Protocol, Target, Variant, protocol, protocols};
use std::str::FromStr;
use std::sync::Arc;

/// By what a rule finds messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Field {
    /// The payload protocol identifier of SCTP: `sctp.ppid`.
    SctpPpid,
    /// A port of SCTP: `sctp.port`.
    SctpPort,
    /// A port of TCP: `tcp.port`.
    TcpPort,
    /// A port of UDP: `udp.port`.
    UdpPort,
    /// An Ethertype: `ethertype`.
    EtherType,
    /// A link type: `dlt`.
    LinkType,
    /// A subsystem number of SCCP: `sccp.ssn`.
    SccpSsn,
    /// A service indicator of MTP: `m3ua.si`.
    ServiceIndicator,
    /// A port of the Basic Transport Protocol: `btp.port`.
    BtpPort,
    /// A type of GSMTAP: `gsmtap.type`.
    GsmtapType,
    /// A record format of GTP′: `gtpp.format`.
    GtpPrimeFormat,
}

impl Field {
    const ALL: [(&'static str, Self); 11] = [
        ("sctp.ppid", Self::SctpPpid),
        ("sctp.port", Self::SctpPort),
        ("tcp.port", Self::TcpPort),
        ("udp.port", Self::UdpPort),
        ("ethertype", Self::EtherType),
        ("dlt", Self::LinkType),
        ("sccp.ssn", Self::SccpSsn),
        ("m3ua.si", Self::ServiceIndicator),
        ("btp.port", Self::BtpPort),
        ("gsmtap.type", Self::GsmtapType),
        ("gtpp.format", Self::GtpPrimeFormat),
    ];
}

/// Encoding rules that a rule may name.
const RULES: [&str; 7] = ["ber", "der", "cer", "aper", "uper", "oer", "coer"];

/// A rule of a user, which wins over the table: `sctp.port==5000-5010=s1ap`, `dlt==147=lte-rrc.dl-dcch`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecodeAs {
    field: Field,
    /// First and last value of each range.
    values: Vec<(u32, u32)>,
    target: Target,
}

impl FromStr for DecodeAs {
    type Err = String;

    /// Reads `FIELD==VALUE[,VALUE|A-B]=PROTOCOL[.TYPE][:RULES]`, or `tshark`'s spelling `FIELD==VALUE,PROTOCOL`.
    fn from_str(text: &str) -> Result<Self, String> {
        let form = "FIELD==VALUE[,VALUE|A-B]=PROTOCOL[.TYPE][:RULES] expected";
        let (field, rest) = text.split_once("==").ok_or(form)?;
        let (values, name) = rest.rsplit_once('=').or_else(|| rest.rsplit_once(',')).ok_or(form)?;
        let Some(&(_, field)) = Field::ALL.iter().find(|(word, _)| *word == field) else {
            return Err(tercet_suggest::unknown("field", field, Field::ALL.iter().map(|(word, _)| *word)));
        };
        let number = |text: &str| {
            let digits = text.strip_prefix("0x");
            let number = digits.map_or_else(|| text.parse(), |digits| u32::from_str_radix(digits, 16));
            number.map_err(|_| format!("`{text}` is not a number"))
        };
        let values = values.split(',').map(|range| {
            let (first, last) = range.split_once('-').unwrap_or((range, range));
            Ok((number(first)?, number(last)?))
        });
        Ok(Self { field, values: values.collect::<Result<_, String>>()?, target: target(name)? })
    }
}

/// Reads `PROTOCOL[.TYPE][:RULES]`; TYPE is a variant of the protocol, `Type` or `Module.Type`.
fn target(text: &str) -> Result<Target, String> {
    let (text, rules) = text.split_once(':').map_or((text, None), |(text, rules)| (text, Some(rules)));
    let (name, type_name) = text.split_once('.').map_or((text, None), |(name, rest)| (name, Some(rest)));
    let Some(protocol) = protocol(name) else {
        return Err(tercet_suggest::unknown("protocol", name, protocols().iter().map(|it| &*it.name)));
    };
    if let Some(rules) = rules
        && !RULES.contains(&rules)
    {
        return Err(tercet_suggest::unknown("encoding rules", rules, RULES));
    }
    let variant = match type_name {
        Some(type_name) => match protocol.variant(type_name) {
            Some(known) => Variant::clone(known),
            // Types begin with capital letters: a name that does not is a misspelt variant.
            None if type_name.starts_with(|it: char| it.is_ascii_uppercase()) => {
                Variant::new(type_name, type_name)
            }
            None => {
                let known = protocol.variants.iter().map(|it| &*it.name);
                return Err(tercet_suggest::unknown("type", type_name, known));
            }
        },
        None if rules.is_none() => return Ok(protocol.into()),
        None => Variant { type_name: protocol.type_name.clone().unwrap_or_default(), ..Variant::default() },
    };
    let variant = Variant { rules: rules.map(str::to_owned), ..variant };
    Ok(Target { protocol, variant: Some(Arc::new(variant)) })
}

/// The rules of a user and the table.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lookup {
    pub(crate) rules: Vec<DecodeAs>,
}

impl Lookup {
    /// Returns the protocol of a message of SCTP: rules first, then the identifier, then the ports, the receiver's first.
    pub(crate) fn sctp(&self, ppid: u32, source: u16, destination: u16) -> Option<Target> {
        let ports = [destination, source];
        self.rule(Field::SctpPpid, ppid)
            .or_else(|| ports.iter().find_map(|&port| self.rule(Field::SctpPort, port.into())))
            .or_else(|| find(|it| it.ppid.contains(&ppid)))
            .or_else(|| {
                let ports = ports.iter().filter(|_| !OTHER_PPIDS.contains(&ppid));
                ports.into_iter().find_map(|port| find(|it| it.sctp.contains(port)))
            })
    }

    /// Returns the protocol of a datagram of UDP.
    pub(crate) fn udp(&self, source: u16, destination: u16) -> Option<Target> {
        let ports = [destination, source];
        let rule = ports.iter().find_map(|&port| self.rule(Field::UdpPort, port.into()));
        rule.or_else(|| ports.iter().find_map(|port| find(|it| it.udp.contains(port))))
    }

    /// Returns the protocol of a connection of TCP.
    pub(crate) fn tcp(&self, source: u16, destination: u16) -> Option<Target> {
        let ports = [destination, source];
        let rule = ports.iter().find_map(|&port| self.rule(Field::TcpPort, port.into()));
        rule.or_else(|| ports.iter().find_map(|port| find(|it| it.tcp.contains(port))))
    }

    /// Returns the protocol of a frame of Ethernet.
    pub(crate) fn ether_type(&self, ether_type: u16) -> Option<Target> {
        self.rule(Field::EtherType, ether_type.into())
            .or_else(|| find(|it| it.ethertype.contains(&ether_type)))
    }

    /// Returns the protocol above SCCP.
    pub(crate) fn ssn(&self, ssn: u8) -> Option<Target> {
        self.rule(Field::SccpSsn, ssn.into()).or_else(|| find(|it| it.ssn.contains(&ssn)))
    }

    /// Returns the protocol of a message of intelligent transport systems.
    pub(crate) fn btp(&self, port: u16) -> Option<Target> {
        self.rule(Field::BtpPort, port.into()).or_else(|| {
            let of = |it: &'static Protocol| {
                let (_, variant) = it.btp.iter().find(|(number, _)| *number == port)?;
                Target::of(&it.name, variant)
            };
            protocols().iter().find_map(of)
        })
    }

    /// Returns the protocol that the last rule for a value names.
    pub(crate) fn rule(&self, field: Field, value: u32) -> Option<Target> {
        let matches = |rule: &&DecodeAs| {
            rule.field == field && rule.values.iter().any(|(first, last)| (first..=last).contains(&&value))
        };
        self.rules.iter().rev().find(matches).map(|rule| rule.target.clone())
    }
}

/// Returns the first protocol of the table that has a property.
fn find(has: impl Fn(&Protocol) -> bool) -> Option<Target> {
    protocols().iter().find(|it| has(it)).map(Target::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_read_and_the_last_one_wins() {
        let rules = ["sctp.port==5000-5002,6000=s1ap", "sctp.port==5001,ngap", "sctp.ppid==0x63=x2ap"];
        let lookup = Lookup { rules: rules.iter().map(|rule| rule.parse().unwrap()).collect() };
        let name = |ppid, port| lookup.sctp(ppid, 1, port).map(|found| &*found.protocol.name);
        assert_eq!(name(0, 5000), Some("s1ap"));
        assert_eq!(name(0, 6000), Some("s1ap"));
        assert_eq!(name(60, 5001), Some("ngap"));
        assert_eq!(name(99, 5001), Some("x2ap"));
        assert_eq!(name(18, 1), Some("s1ap"));
        assert_eq!(name(0, 38412), Some("ngap"));
        assert_eq!(name(3, 38412), None, "M3UA on any port is M3UA");
        assert!("sctp.prt==1=s1ap".parse::<DecodeAs>().unwrap_err().contains("sctp.port"));
        assert!("sctp.port==1=s1pa".parse::<DecodeAs>().unwrap_err().contains("s1ap"));
        assert_eq!("sctp.port==x=s1ap".parse::<DecodeAs>().unwrap_err(), "`x` is not a number");
        assert!("sctp.port".parse::<DecodeAs>().unwrap_err().starts_with("FIELD=="));
    }

    #[test]
    fn rules_name_types_and_encoding_rules() {
        let variant = |rule: &str| {
            let variant = rule.parse::<DecodeAs>().unwrap().target.variant.unwrap();
            (variant.module.clone(), variant.type_name.clone(), variant.rules.clone())
        };
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(variant("dlt==147=lte-rrc.dl-dcch"), (None, "DL-DCCH-Message".into(), None));
        assert_eq!(
            variant("gtpp.format==1=gtpp.CDRs.CallRecord:der"),
            (some("CDRs"), "CallRecord".into(), some("der"))
        );
        assert_eq!(variant("tcp.port==1=ldap:der"), (None, "LDAPMessage".into(), some("der")));
        assert!("dlt==147=lte-rrc.dl-dchc".parse::<DecodeAs>().unwrap_err().contains("dl-dcch"));
        assert!("dlt==147=lte-rrc:upper".parse::<DecodeAs>().unwrap_err().contains("uper"));
    }
}
