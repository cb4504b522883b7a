//! Which protocols there are, and by what their messages are found.

use serde::Deserialize;
use std::str::FromStr;
use std::sync::LazyLock;

/// A protocol whose messages are in ASN.1.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Protocol {
    /// Its name, in lower case: `s1ap`.
    pub name: String,
    /// Payload protocol identifiers of SCTP.
    #[serde(default)]
    pub ppid: Vec<u32>,
    /// Ports of SCTP, for messages without a known payload protocol identifier.
    #[serde(default)]
    pub sctp: Vec<u16>,
    /// Ports of UDP.
    #[serde(default)]
    pub udp: Vec<u16>,
    /// The text that has its modules: `3GPP TS 36.413`.
    pub specification: String,
    /// The module of the type of its messages.
    pub module: Option<String>,
    /// The type of its messages; `None` if they are text.
    #[serde(rename = "type")]
    pub type_name: Option<String>,
    /// The encoding rules: `aper`, `ber`.
    pub rules: Option<String>,
}

#[derive(Deserialize)]
struct Table {
    protocol: Vec<Protocol>,
}

static TABLE: LazyLock<Vec<Protocol>> = LazyLock::new(|| {
    let table: Table = toml::from_str(include_str!("protocols.toml")).expect("a table that tests have read");
    table.protocol
});

/// Payload protocol identifiers that carry other protocols, or messages that are not in ASN.1: their ports decide nothing.
const OTHER_PPIDS: [u32; 21] = [1, 2, 3, 4, 5, 6, 8, 9, 10, 11, 12, 13, 42, 46, 47, 50, 51, 52, 53, 54, 55];

/// Returns all protocols, in the order of the table.
pub fn protocols() -> &'static [Protocol] {
    &TABLE
}

/// Returns the protocol of a name.
pub fn protocol(name: &str) -> Option<&'static Protocol> {
    protocols().iter().find(|protocol| protocol.name == name)
}

/// By what a rule finds messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Field {
    /// The payload protocol identifier of SCTP: `sctp.ppid`.
    SctpPpid,
    /// A port of SCTP: `sctp.port`.
    SctpPort,
    /// A port of UDP: `udp.port`.
    UdpPort,
}

impl Field {
    const ALL: [(&'static str, Self); 3] =
        [("sctp.ppid", Self::SctpPpid), ("sctp.port", Self::SctpPort), ("udp.port", Self::UdpPort)];
}

/// A rule of a user, which wins over the table: `sctp.port==5000-5010=s1ap`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecodeAs {
    field: Field,
    /// First and last value of each range.
    values: Vec<(u32, u32)>,
    protocol: &'static str,
}

impl FromStr for DecodeAs {
    type Err = String;

    /// Reads `FIELD==VALUE[,VALUE|A-B]=PROTOCOL`, or `tshark`'s spelling `FIELD==VALUE,PROTOCOL`.
    fn from_str(text: &str) -> Result<Self, String> {
        let form = "FIELD==VALUE[,VALUE|A-B]=PROTOCOL expected";
        let (field, rest) = text.split_once("==").ok_or(form)?;
        let (values, name) = rest.rsplit_once('=').or_else(|| rest.rsplit_once(',')).ok_or(form)?;
        let Some(&(_, field)) = Field::ALL.iter().find(|(word, _)| *word == field) else {
            return Err(tercet_suggest::unknown("field", field, Field::ALL.iter().map(|(word, _)| *word)));
        };
        let Some(protocol) = protocol(name) else {
            return Err(tercet_suggest::unknown("protocol", name, protocols().iter().map(|it| &*it.name)));
        };
        let number = |text: &str| text.parse::<u32>().map_err(|_| format!("`{text}` is not a number"));
        let values = values.split(',').map(|range| {
            let (first, last) = range.split_once('-').unwrap_or((range, range));
            Ok((number(first)?, number(last)?))
        });
        Ok(Self { field, values: values.collect::<Result<_, String>>()?, protocol: &protocol.name })
    }
}

/// The rules of a user and the table.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lookup {
    pub(crate) rules: Vec<DecodeAs>,
}

impl Lookup {
    /// Returns the protocol of a message of SCTP: rules first, then the identifier, then the ports, the receiver's first.
    pub(crate) fn sctp(&self, ppid: u32, source: u16, destination: u16) -> Option<&'static Protocol> {
        let ports = [destination, source];
        self.rule(Field::SctpPpid, ppid)
            .or_else(|| ports.iter().find_map(|&port| self.rule(Field::SctpPort, port.into())))
            .or_else(|| protocols().iter().find(|it| it.ppid.contains(&ppid)))
            .or_else(|| {
                let ports = ports.iter().filter(|_| !OTHER_PPIDS.contains(&ppid));
                ports.into_iter().find_map(|port| protocols().iter().find(|it| it.sctp.contains(port)))
            })
    }

    /// Returns the protocol of a datagram of UDP.
    pub(crate) fn udp(&self, source: u16, destination: u16) -> Option<&'static Protocol> {
        let ports = [destination, source];
        let rule = ports.iter().find_map(|&port| self.rule(Field::UdpPort, port.into()));
        rule.or_else(|| ports.iter().find_map(|port| protocols().iter().find(|it| it.udp.contains(port))))
    }

    /// Returns the protocol that the last rule for a value names.
    fn rule(&self, field: Field, value: u32) -> Option<&'static Protocol> {
        let matches = |rule: &&DecodeAs| {
            rule.field == field && rule.values.iter().any(|(first, last)| (first..=last).contains(&&value))
        };
        self.rules.iter().rev().find(matches).and_then(|rule| protocol(rule.protocol))
    }
}

/// Returns the protocol by the first octet where one name on the network has two: H.248 in text and in BER.
pub(crate) fn by_contents(found: &'static Protocol, octets: &[u8]) -> &'static Protocol {
    let is_text = found.name == "h248" && octets.first().is_some_and(|&first| first != 0x30);
    protocol("h248-text").filter(|_| is_text).unwrap_or(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn the_table_has_each_name_and_number_once() {
        let (mut names, mut ppids, mut ports) = (HashSet::new(), HashSet::new(), HashSet::new());
        for protocol in protocols() {
            assert!(names.insert(&protocol.name), "{}", protocol.name);
            assert_eq!(protocol.type_name.is_some(), protocol.rules.is_some(), "{}", protocol.name);
            for ppid in &protocol.ppid {
                assert!(ppids.insert(ppid) && !OTHER_PPIDS.contains(ppid), "{ppid}");
            }
            for port in &protocol.sctp {
                assert!(ports.insert(port), "{port}");
            }
        }
    }

    #[test]
    fn rules_are_read_and_the_last_one_wins() {
        let rules = ["sctp.port==5000-5002,6000=s1ap", "sctp.port==5001,ngap", "sctp.ppid==99=x2ap"];
        let lookup = Lookup { rules: rules.iter().map(|rule| rule.parse().unwrap()).collect() };
        let name = |ppid, port| lookup.sctp(ppid, 1, port).map(|found| &*found.name);
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
}
