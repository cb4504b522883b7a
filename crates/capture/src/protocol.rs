//! Which protocols there are, and by what their messages are found.

use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

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
    /// Ports of TCP.
    #[serde(default)]
    pub tcp: Vec<u16>,
    /// Subsystem numbers of SCCP.
    #[serde(default)]
    pub ssn: Vec<u8>,
    /// Ethertypes.
    #[serde(default)]
    pub ethertype: Vec<u16>,
    /// Ports of the Basic Transport Protocol, and the variant of each.
    #[serde(default, deserialize_with = "ports")]
    pub btp: Vec<(u16, String)>,
    /// The text that has its modules: `3GPP TS 36.413`.
    pub specification: String,
    /// The module of the type of its messages.
    pub module: Option<String>,
    /// The type of its messages; `None` if they are text.
    #[serde(rename = "type")]
    pub type_name: Option<String>,
    /// The encoding rules: `aper`, `ber`.
    pub rules: Option<String>,
    /// Types of messages where there are several: the channels of RRC, the tags of Kerberos.
    #[serde(default, deserialize_with = "variants")]
    pub variants: Vec<Arc<Variant>>,
}

/// One of the types of a protocol.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Variant {
    /// Its name: the channel of RRC, `dl-dcch`; of a rule, the type.
    pub name: String,
    /// The module of the type, if it is not that of the protocol.
    pub module: Option<String>,
    /// The type.
    pub type_name: String,
    /// Encoding rules that a rule of a user gives.
    pub rules: Option<String>,
}

impl Variant {
    /// Returns the variant of `Type` or `Module.Type`.
    pub(crate) fn new(name: &str, type_name: &str) -> Self {
        let (module, type_name) = match type_name.split_once('.') {
            Some((module, type_name)) => (Some(module.to_owned()), type_name),
            None => (None, type_name),
        };
        Self { name: name.to_owned(), module, type_name: type_name.to_owned(), rules: None }
    }
}

impl Protocol {
    /// Returns the variant of a name.
    pub fn variant(&self, name: &str) -> Option<&Arc<Variant>> {
        self.variants.iter().find(|variant| variant.name == name)
    }
}

fn variants<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Vec<Arc<Variant>>, D::Error> {
    let table = BTreeMap::<String, String>::deserialize(from)?;
    Ok(table.iter().map(|(name, type_name)| Arc::new(Variant::new(name, type_name))).collect())
}

fn ports<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Vec<(u16, String)>, D::Error> {
    let table = BTreeMap::<String, String>::deserialize(from)?;
    let port = |text: &str| text.parse().map_err(serde::de::Error::custom);
    table.into_iter().map(|(text, name)| Ok((port(&text)?, name))).collect()
}

#[derive(Deserialize)]
struct Table {
    protocol: Vec<Protocol>,
}

static TABLE: LazyLock<Vec<Protocol>> = LazyLock::new(|| {
    let table: Table = toml::from_str(include_str!("protocols.toml")).expect("a table that tests have read");
    table.protocol
});

/// What a message is: its protocol, and which of its types if that is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Target {
    pub(crate) protocol: &'static Protocol,
    pub(crate) variant: Option<Arc<Variant>>,
}

impl Target {
    /// Returns the target of a protocol of the table and one of its variants.
    pub(crate) fn of(name: &str, variant: &str) -> Option<Self> {
        let protocol = protocol(name)?;
        Some(Self { protocol, variant: protocol.variant(variant).cloned() })
    }
}

impl From<&'static Protocol> for Target {
    fn from(protocol: &'static Protocol) -> Self {
        Self { protocol, variant: None }
    }
}

/// Payload protocol identifiers that carry other protocols, or messages that are not in ASN.1: their ports decide nothing.
pub(crate) const OTHER_PPIDS: [u32; 20] =
    [1, 2, 3, 4, 5, 6, 8, 9, 10, 11, 12, 13, 46, 47, 50, 51, 52, 53, 54, 55];

/// Returns all protocols, in the order of the table.
pub fn protocols() -> &'static [Protocol] {
    &TABLE
}

/// Returns the protocol of a name.
pub fn protocol(name: &str) -> Option<&'static Protocol> {
    protocols().iter().find(|protocol| protocol.name == name)
}

/// Returns the protocol of a name, `lte-rrc`, or of one of its types, `lte-rrc.dl-dcch`.
///
/// # Errors
/// The text names what is unknown, and the nearest known name.
pub fn protocol_and_type(name: &str) -> Result<(&'static Protocol, Option<Arc<Variant>>), String> {
    let (of, variant) = name.split_once('.').map_or((name, None), |(of, variant)| (of, Some(variant)));
    let found = protocol(of)
        .ok_or_else(|| tercet_suggest::unknown("protocol", of, protocols().iter().map(|it| &*it.name)))?;
    let Some(variant) = variant else { return Ok((found, None)) };
    match found.variant(variant) {
        Some(variant) => Ok((found, Some(Arc::clone(variant)))),
        None => {
            let known = found.variants.iter().map(|it| &*it.name);
            Err(tercet_suggest::unknown("type", variant, known))
        }
    }
}

/// Returns the protocol by the first octet where one name on the network has two: H.248 in text and in BER.
pub(crate) fn by_contents(found: Target, octets: &[u8]) -> Target {
    let first = octets.first().copied().unwrap_or(0);
    match &*found.protocol.name {
        "h248" if first != 0x30 => protocol("h248-text").map_or(found, Target::from),
        "kerberos" if found.variant.is_none() => {
            // The tag of the application is the type of the message (RFC 4120 §5.10).
            let name = format!("{}", first & 0x1F);
            Target { variant: found.protocol.variant(&name).cloned(), ..found }
        }
        // Version 3 has another type (RFC 3412 §6).
        "snmp" if found.variant.is_none() && snmp_version(octets) == Some(3) => {
            Target { variant: found.protocol.variant("v3").cloned(), ..found }
        }
        _ => found,
    }
}

/// Returns the version that a message of SNMP begins with.
fn snmp_version(octets: &[u8]) -> Option<u8> {
    let header = crate::ber::header(octets)?;
    match octets.get(header.length..)? {
        [2, 1, version, ..] => Some(*version),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn protocols_and_types_are_named() {
        assert_eq!(protocol_and_type("s1ap").unwrap().0.name, "s1ap");
        let (found, variant) = protocol_and_type("lte-rrc.dl-dcch").unwrap();
        assert_eq!((&*found.name, &*variant.unwrap().type_name), ("lte-rrc", "DL-DCCH-Message"));
        assert!(protocol_and_type("s1pa").unwrap_err().contains("s1ap"));
        assert!(protocol_and_type("lte-rrc.dl-dchc").unwrap_err().contains("dl-dcch"));
    }

    #[test]
    fn the_table_has_each_name_and_number_once() {
        let (mut names, mut ppids, mut ports) = (HashSet::new(), HashSet::new(), HashSet::new());
        for protocol in protocols() {
            assert!(names.insert(&protocol.name), "{}", protocol.name);
            assert_eq!(protocol.type_name.is_some(), protocol.rules.is_some(), "{}", protocol.name);
            for ppid in &protocol.ppid {
                assert!(ppids.insert(ppid) && !OTHER_PPIDS.contains(ppid), "{ppid}");
            }
            for (transport, numbers) in
                [("sctp", &protocol.sctp), ("udp", &protocol.udp), ("tcp", &protocol.tcp)]
            {
                for port in numbers {
                    assert!(ports.insert((transport, port)), "{transport} {port}");
                }
            }
            for (port, variant) in &protocol.btp {
                assert!(protocol.variant(variant).is_some(), "{port}");
            }
        }
    }
}
