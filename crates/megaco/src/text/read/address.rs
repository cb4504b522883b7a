//! Senders and addresses: every form of `mId`.

use crate::model::{DomainName, Ip4Address, Ip6Address, MId, ServiceChangeAddress, TerminationId};
use crate::octets::{Name, Str};
use crate::text::scan::{Scanner, number};
use crate::{Error, Result};

const LONGEST_NAME: usize = 64;

/// Octets of pairs of hexadecimal digits; a single digit at the end is an octet of its own.
pub(super) fn hex_octets(digits: &[u8]) -> Option<Vec<u8>> {
    digits
        .chunks(2)
        .map(|pair| {
            pair.iter().try_fold(0, |octet, &digit| Some(octet << 4 | (digit as char).to_digit(16)? as u8))
        })
        .collect()
}

impl<'a> Scanner<'a> {
    /// `(domainAddress / domainName) [":" portNumber] / mtpAddress / deviceName`.
    pub(super) fn m_id(&mut self) -> Result<MId<'a>> {
        match self.peek() {
            b'[' => self.ip_address(),
            b'<' => {
                self.at += 1;
                let start = self.at;
                let name = self.bare_word("a domain name")?;
                if name.len() > LONGEST_NAME {
                    return Err(Error::new(start, "a domain name of at most 64 characters"));
                }
                if self.peek() != b'>' {
                    return Err(self.error("`>`"));
                }
                self.at += 1;
                let port_number = self.port()?;
                Ok(MId::DomainName(DomainName { name: Name::borrowed(name), port_number }))
            }
            _ => {
                let start = self.at;
                let word = self.word("the sender: `[`, `<`, MTP or a device name")?;
                if word.eq_ignore_ascii_case(b"mtp") && self.peek() == b'{' {
                    return self.mtp_address().map(MId::MtpAddress);
                }
                if word.len() > LONGEST_NAME {
                    return Err(Error::new(start, "a device name of at most 64 characters"));
                }
                Ok(MId::DeviceName(Name::borrowed(word)))
            }
        }
    }

    /// The address of a ServiceChange: a port alone, or as [`Self::m_id`].
    pub(super) fn service_change_address(&mut self) -> Result<ServiceChangeAddress<'a>> {
        let rest = &self.text[self.at..];
        if rest.first().is_some_and(u8::is_ascii_digit) {
            let before = *self;
            let word = self.word("a port or an address")?;
            if word.iter().all(u8::is_ascii_digit) {
                let port = number(word, 0xffff).ok_or_else(|| before.error("a port: a number of 16 bits"))?;
                return Ok(ServiceChangeAddress::PortNumber(port as u16));
            }
            *self = before;
        }
        Ok(match self.m_id()? {
            MId::Ip4Address(address) => ServiceChangeAddress::Ip4Address(address),
            MId::Ip6Address(address) => ServiceChangeAddress::Ip6Address(address),
            MId::DomainName(name) => ServiceChangeAddress::DomainName(name),
            MId::DeviceName(name) => ServiceChangeAddress::DeviceName(name),
            MId::MtpAddress(address) => ServiceChangeAddress::MtpAddress(address),
        })
    }

    fn ip_address(&mut self) -> Result<MId<'a>> {
        const WHAT: &str = "an IP address and `]`";
        let start = self.at + 1;
        let rest = &self.text[start..];
        if let Some((address, length)) = ip4(rest) {
            self.at = start + length;
            self.bracket(WHAT)?;
            let port_number = self.port()?;
            return Ok(MId::Ip4Address(Ip4Address { address, port_number }));
        }
        // The longest is an address of version 6 that ends in one of version 4.
        let end = rest.iter().take(46).position(|&octet| octet == b']');
        let end = end.ok_or_else(|| Error::new(start, WHAT))?;
        let text = std::str::from_utf8(&rest[..end]).ok();
        let address = text.and_then(|text| text.parse::<std::net::Ipv6Addr>().ok());
        let address = address.ok_or_else(|| Error::new(start, "an IP address of version 4 or 6"))?.octets();
        self.at = start + end;
        self.bracket(WHAT)?;
        let port_number = self.port()?;
        Ok(MId::Ip6Address(Ip6Address { address, port_number }))
    }

    /// The bracket behind an address.
    fn bracket(&mut self, what: &'static str) -> Result<()> {
        if self.peek() != b']' {
            return Err(self.error(what));
        }
        self.at += 1;
        Ok(())
    }

    /// `[":" portNumber]` and the white space behind.
    fn port(&mut self) -> Result<Option<u16>> {
        let mut port = None;
        if self.peek() == b':' {
            self.at += 1;
            port = Some(self.uint16("a port: a number of 16 bits")?);
        }
        self.skip();
        Ok(port)
    }

    /// `LBRKT 4*8 (HEXDIG) RBRKT`.
    fn mtp_address(&mut self) -> Result<Str<'a>> {
        const WHAT: &str = "4 to 8 hexadecimal digits";
        self.open()?;
        let start = self.at;
        let digits = self.word(WHAT)?;
        let octets = if (4..=8).contains(&digits.len()) { hex_octets(digits) } else { None };
        let octets = octets.ok_or_else(|| Error::new(start, WHAT))?;
        self.close()?;
        Ok(Str::from(octets))
    }

    pub(super) fn termination_id(&mut self) -> Result<TerminationId<'a>> {
        self.word("a termination id").map(|name| TerminationId(Name::borrowed(name)))
    }
}

/// `V4hex DOT V4hex DOT V4hex DOT V4hex`, each of one to three digits, and how long it is.
fn ip4(text: &[u8]) -> Option<([u8; 4], usize)> {
    let mut address = [0; 4];
    let mut at = 0;
    for (index, octet) in address.iter_mut().enumerate() {
        if index > 0 {
            if text.get(at) != Some(&b'.') {
                return None;
            }
            at += 1;
        }
        let (start, mut number) = (at, 0u16);
        while let Some(digit @ b'0'..=b'9') = text.get(at).filter(|_| at < start + 3) {
            number = number * 10 + u16::from(digit - b'0');
            at += 1;
        }
        *octet = u8::try_from(number).ok().filter(|_| at > start)?;
    }
    Some((address, at))
}
