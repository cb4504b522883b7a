//! What a domain controller says of itself: the attribute `Netlogon` of the root DSE (MS-ADTS 6.3.3), asked for by datagrams.

use std::net::{Ipv4Addr, SocketAddrV4};

use crate::error::{Error, ErrorKind, Result};

/// NETLOGON_SAM_LOGON_RESPONSE_EX (MS-ADTS 6.3.1.9).
///
/// ```no_run
/// # async fn example() -> tercet_ldap::Result<()> {
/// use tercet_ldap::{Cldap, Netlogon};
///
/// let answer = Cldap::new("cldap://dc.example.net")?.search(&Netlogon::search("example.net")).await?;
/// for entry in &answer.entries {
///     let told = Netlogon::of_entry(entry)?;
///     println!("{} in {}, nearest site {}", told.host, told.domain, told.client_site);
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Netlogon {
    /// What kind of answer it is (6.3.1.3): 23 is good, 24 says that the server takes no logons now, 25 that it does not know the
    /// user.
    pub operation: u16,
    /// What the server is (DS_FLAG, 6.3.1.2).
    pub flags: u32,
    /// The GUID of the domain, in its usual form.
    pub domain_guid: String,
    /// The name of the forest in the DNS.
    pub forest: String,
    /// The name of the domain in the DNS.
    pub domain: String,
    /// The name of the server in the DNS.
    pub host: String,
    /// The NetBIOS name of the domain.
    pub netbios_domain: String,
    /// The NetBIOS name of the server.
    pub netbios_host: String,
    /// The user who was asked for, if any was.
    pub user: String,
    /// The site of the server.
    pub site: String,
    /// The site of who asked; empty if there is none.
    pub client_site: String,
    /// The address of the server, if it tells.
    pub address: Option<SocketAddrV4>,
    /// The site that is the next nearest, if the server tells.
    pub next_site: Option<String>,
    /// Options of the form (NETLOGON_NT_VERSION, 6.3.1.1).
    pub version: u32,
}

/// Options of NETLOGON_NT_VERSION.
const V5_EX: u32 = 0x04;
const WITH_IP: u32 = 0x08;
const WITH_CLOSEST_SITE: u32 = 0x10;
/// What is asked for: the form above, with all that is in it but the address.
#[cfg(feature = "client")]
const ASKED: u32 = 0x02 | V5_EX | WITH_CLOSEST_SITE;
/// Octets of the version and two tokens at the end.
const END: usize = 8;
/// LmNtToken and Lm20Token.
const TOKENS: [u8; 4] = [0xFF; 4];
/// Octets of a name (RFC 1035 3.1).
const NAME: usize = 255;

impl Netlogon {
    /// Its name.
    pub const ATTRIBUTE: &str = "Netlogon";

    /// The search for it, by the name that a domain has in the DNS.
    #[cfg(feature = "client")]
    #[must_use]
    pub fn search(domain: &str) -> crate::Search {
        use crate::generated::{AttributeValueAssertion, Filter};
        use tercet_runtime::types::Octets;
        let is = |name: &'static str, value: &[u8]| {
            Filter::EqualityMatch(AttributeValueAssertion {
                attribute_desc: Octets::borrowed(name.as_bytes()),
                assertion_value: Octets::copied(value),
            })
        };
        let filter = vec![is("DnsDomain", domain.as_bytes()), is("NtVer", &ASKED.to_le_bytes())];
        let search = crate::Search::new("").scope(crate::Scope::Base).attributes(&[Self::ATTRIBUTE]);
        search.filter_as(Filter::And(filter))
    }

    /// What stands in an entry.
    ///
    /// # Errors
    /// There is none, or as [`Netlogon::decode`].
    pub fn of_entry(entry: &crate::Entry) -> Result<Self> {
        let value = entry.values(Self::ATTRIBUTE).next();
        Self::decode(value.ok_or_else(|| Error::new(ErrorKind::Protocol, "an entry without Netlogon"))?)
    }

    /// Reads a value.
    ///
    /// # Errors
    /// It ends early, is of an older form, or has a name that is none; with the offset.
    pub fn decode(value: &[u8]) -> Result<Self> {
        // What there is, the end tells.
        let end = value.len().checked_sub(END).ok_or_else(|| fault("it ends early", value.len()))?;
        let mut last = Reader { value, end: value.len(), at: end };
        let version = u32::from_le_bytes(last.take()?);
        if last.take()? != TOKENS {
            return Err(fault("it does not end in LmNtToken and Lm20Token", end + 4));
        }
        let mut reader = Reader { value, end, at: 0 };
        let operation = u16::from_le_bytes(reader.take()?);
        if version & V5_EX == 0 || !matches!(operation, 23..=25) {
            return Err(fault(format_args!("operation {operation} of version {version:#x}"), 0));
        }
        let [_, _] = reader.take()?;
        let flags = u32::from_le_bytes(reader.take()?);
        let domain_guid = guid(reader.take()?);
        let mut name = || reader.name();
        let (forest, domain, host) = (name()?, name()?, name()?);
        let (netbios_domain, netbios_host, user) = (name()?, name()?, name()?);
        let (site, client_site) = (name()?, name()?);
        let address = if version & WITH_IP == 0 { None } else { reader.address()? };
        let next_site = if version & WITH_CLOSEST_SITE == 0 { None } else { Some(reader.name()?) };
        if reader.at != end {
            return Err(fault("bytes after its last part", reader.at));
        }
        Ok(Self {
            operation,
            flags,
            domain_guid,
            forest,
            domain,
            host,
            netbios_domain,
            netbios_host,
            user,
            site,
            client_site,
            address,
            next_site,
            version,
        })
    }
}

/// GUIDs have their first three parts little-endian (MS-DTYP 2.3.4).
fn guid([a, b, c, d, e, f, g, h, rest @ ..]: [u8; 16]) -> String {
    let (first, second) = (u32::from_le_bytes([a, b, c, d]), u16::from_le_bytes([e, f]));
    let third = u16::from_le_bytes([g, h]);
    let [i, j, node @ ..] = rest;
    let node: String = node.iter().map(|octet| format!("{octet:02x}")).collect();
    format!("{first:08x}-{second:04x}-{third:04x}-{i:02x}{j:02x}-{node}")
}

struct Reader<'v> {
    value: &'v [u8],
    /// Where what is read has to end.
    end: usize,
    at: usize,
}

impl Reader<'_> {
    fn take<const N: usize>(&mut self) -> Result<[u8; N]> {
        let octets = self.value.get(self.at..self.end).and_then(<[u8]>::first_chunk);
        let octets = *octets.ok_or_else(|| fault("it ends early", self.end))?;
        self.at += N;
        Ok(octets)
    }

    /// A name of labels, whose end may stand further in front (RFC 1035 4.1.4). Every reference has to lead further back than
    /// the last, so that there is an end.
    fn name(&mut self) -> Result<String> {
        let mut name = String::new();
        let mut at = self.at;
        let mut first = self.at;
        let mut has_jumped = false;
        loop {
            let octet = *self
                .value
                .get(at)
                .filter(|_| at < self.end)
                .ok_or_else(|| fault("a name without an end", at))?;
            match octet {
                0 => {
                    if !has_jumped {
                        self.at = at + 1;
                    }
                    return Ok(name);
                }
                1..0x40 => {
                    let label = self.value.get(at + 1..at + 1 + usize::from(octet));
                    let label = label.filter(|_| at + 1 + usize::from(octet) <= self.end);
                    let label = label.and_then(|label| std::str::from_utf8(label).ok());
                    let label = label.ok_or_else(|| fault("a label that ends early or is not UTF-8", at))?;
                    if !name.is_empty() {
                        name.push('.');
                    }
                    name.push_str(label);
                    if name.len() > NAME {
                        return Err(fault(format_args!("a name of more than {NAME} bytes"), first));
                    }
                    at += 1 + label.len();
                }
                0xC0.. => {
                    let low = *self
                        .value
                        .get(at + 1)
                        .filter(|_| at + 1 < self.end)
                        .ok_or_else(|| fault("a name without an end", at))?;
                    if !has_jumped {
                        self.at = at + 2;
                        has_jumped = true;
                    }
                    let target = usize::from(octet & 0x3F) << 8 | usize::from(low);
                    if target >= first {
                        return Err(fault("a name that does not refer back", at));
                    }
                    (at, first) = (target, target);
                }
                _ => return Err(fault(format_args!("a label that begins with {octet:02X}"), at)),
            }
        }
    }

    /// DcSockAddr: a size, and `sockaddr_in`. Nothing of a size that is none.
    fn address(&mut self) -> Result<Option<SocketAddrV4>> {
        let [size] = self.take()?;
        if size != 16 {
            return Err(fault(format_args!("an address of {size} bytes"), self.at - 1));
        }
        let [_, _, high, low, a, b, c, d, _, _, _, _, _, _, _, _] = self.take()?;
        let address = Ipv4Addr::new(a, b, c, d);
        Ok((!address.is_unspecified()).then(|| SocketAddrV4::new(address, u16::from_be_bytes([high, low]))))
    }
}

#[cold]
fn fault(message: impl std::fmt::Display, at: usize) -> Error {
    Error::at(ErrorKind::Protocol, format!("Netlogon: {message}"), at as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Labels, and at the end nothing more or a reference to an offset.
    fn name(labels: &[&str], reference: Option<u16>) -> Vec<u8> {
        let mut out = Vec::new();
        for label in labels {
            out.push(u8::try_from(label.len()).unwrap());
            out.extend_from_slice(label.as_bytes());
        }
        match reference {
            None => out.push(0),
            Some(at) => out.extend_from_slice(&(0xC000 | at).to_be_bytes()),
        }
        out
    }

    const GUID: [u8; 16] =
        [0x33, 0x22, 0x11, 0, 0x55, 0x44, 0x77, 0x66, 0x88, 0x99, 0xAA, 0xBB, 0xCC, 0xDD, 0xEE, 0xFF];

    /// The value that a server in `site` of `example.net` gives; names stand at 24 and behind.
    fn value(version: u32, names: &[Vec<u8>], more: &[u8]) -> Vec<u8> {
        let begin = [&23_u16.to_le_bytes()[..], &[0, 0], &0x1FD_u32.to_le_bytes(), &GUID].concat();
        let end = [&version.to_le_bytes()[..], &[0xFF; 4]].concat();
        [&begin, &names.concat(), more, &end].concat()
    }

    fn names() -> Vec<Vec<u8>> {
        vec![
            name(&["example", "net"], None),
            name(&[], Some(24)),
            name(&["dc"], Some(24)),
            name(&["EXAMPLE"], None),
            name(&["DC"], None),
            name(&[], None),
            name(&["site"], None),
            name(&[], Some(58)),
        ]
    }

    #[test]
    fn names_and_references() {
        let address = [&[16, 2, 0, 1, 0x85, 192, 0, 2, 7][..], &[0; 8]].concat();
        let more = [address, name(&["next"], None)].concat();
        for (version, more, address, next) in [
            (6, &[][..], None, None),
            (0x0E, &more[..17], Some("192.0.2.7:389"), None),
            (0x16, &more[17..], None, Some("next")),
            (0x1E, &more[..], Some("192.0.2.7:389"), Some("next")),
        ] {
            let value = value(version, &names(), more);
            assert_eq!(value[58], 4, "the site stands there");
            let told = Netlogon::decode(&value).unwrap();
            let expected = Netlogon {
                operation: 23,
                flags: 0x1FD,
                domain_guid: "00112233-4455-6677-8899-aabbccddeeff".to_owned(),
                forest: "example.net".to_owned(),
                domain: "example.net".to_owned(),
                host: "dc.example.net".to_owned(),
                netbios_domain: "EXAMPLE".to_owned(),
                netbios_host: "DC".to_owned(),
                user: String::new(),
                site: "site".to_owned(),
                client_site: "site".to_owned(),
                address: address.map(|address| address.parse().unwrap()),
                next_site: next.map(str::to_owned),
                version,
            };
            assert_eq!(told, expected);
            // Each part is needed.
            for length in 0..value.len() {
                let error = Netlogon::decode(&value[..length]).unwrap_err();
                assert!(error.offset().is_some_and(|at| at <= length as u64), "{length}: {error}");
            }
            for bit in 0..value.len() * 8 {
                let mut value = value.clone();
                value[bit / 8] ^= 1 << (bit % 8);
                if let Err(error) = Netlogon::decode(&value) {
                    assert!(error.offset().is_some_and(|at| at <= value.len() as u64), "{bit}: {error}");
                }
            }
        }
    }

    /// What Samba 4.17 says of a domain controller `vm`, with its address and without.
    #[test]
    fn of_samba() {
        use base64::Engine as _;
        const WITHOUT: &str = "FwAAAJ0RAACht6OPvwhJSpwnQDukW6i4B2V4YW1wbGUDbmV0AMAYAnZtwBgHRVhBTVBMRQACVk0AABdEZWZhdWx0\
                               LUZpcnN0LVNpdGUtTmFtZQDAOgUAAAD/////";
        const WITH: &str = "FwAAAJ0RAACht6OPvwhJSpwnQDukW6i4B2V4YW1wbGUDbmV0AMAYAnZtwBgHRVhBTVBMRQACVk0AABdEZWZhdWx0\
                            LUZpcnN0LVNpdGUtTmFtZQDAOhACAAAAfwAAAQAAAAAAAAAADQAAAP////8=";
        for (text, version, address) in [(WITHOUT, 5, None), (WITH, 13, Some("127.0.0.1:0"))] {
            let value = base64::engine::general_purpose::STANDARD.decode(text).unwrap();
            let told = Netlogon::decode(&value).unwrap();
            assert_eq!((told.version, told.flags), (version, 0x119D));
            assert_eq!(told.domain_guid, "8fa3b7a1-08bf-4a49-9c27-403ba45ba8b8");
            assert_eq!((told.forest.as_str(), told.domain.as_str()), ("example.net", "example.net"));
            assert_eq!((told.host.as_str(), told.netbios_host.as_str()), ("vm.example.net", "VM"));
            assert_eq!((told.netbios_domain.as_str(), told.user.as_str()), ("EXAMPLE", ""));
            assert_eq!(told.site, "Default-First-Site-Name");
            assert_eq!(told.client_site, told.site);
            assert_eq!(told.address.map(|address| address.to_string()).as_deref(), address);
        }
    }

    #[test]
    fn names_that_are_none() {
        let with = |first: Vec<u8>| {
            let mut names = names();
            names[0] = first;
            Netlogon::decode(&value(6, &names, &[])).unwrap_err()
        };
        let long = "x".repeat(63);
        let labels = [long.as_str(); 5];
        for (first, at, what) in [
            (name(&[], Some(24)), 24, "does not refer back"),
            (name(&["a"], Some(24)), 26, "does not refer back"),
            (name(&[], Some(0x3FFF)), 24, "does not refer back"),
            (name(&[], Some(8)), 8, ""),
            (vec![0x80, 0], 24, "a label that begins with 80"),
            (vec![2, 0xFF, 0xFF, 0], 24, "not UTF-8"),
            (name(&labels, None), 24, "more than 255 bytes"),
        ] {
            let error = with(first);
            assert!(error.message().contains(what), "{error}");
            assert!(what.is_empty() || error.offset() == Some(at), "{error}");
        }
        for (version, operation) in [(2, 23), (6, 19), (6, 0)] {
            let mut octets = value(version, &names(), &[]);
            octets[0] = operation;
            assert_eq!(Netlogon::decode(&octets).unwrap_err().offset(), Some(0));
        }
        let error = Netlogon::decode(&value(6, &names(), b"x")).unwrap_err();
        assert!(error.message().contains("after its last part"), "{error}");
        let error = Netlogon::decode(&value(0x0E, &names(), &[28; 29])).unwrap_err();
        assert!(error.message().contains("an address of 28 bytes"), "{error}");
    }
}
