//! Framing in words: what `--framing` takes and what detection says.

use super::carve::{FileFraming, Prefix, Used};
use super::{Framing, Identifiers, Reason, RecordFormat};
use crate::SettingError;
use std::fmt;
use std::str::FromStr;

/// Control records of some switches: file description, list description, list trailer, file trailer.
pub(super) const CONTROLS: [&[u8]; 4] = [b"FD", b"LD", b"LT", b"FT"];

/// The framing of packet captures, which other crates read.
pub(crate) const CAPTURE: &str = "capture";

/// Framings as `--framing` takes them, each with what is around the records. Messages and the reference list these.
pub const FRAMINGS: [(&str, &str); 15] = [
    ("plain", "nothing but filler"),
    (
        "block:2048",
        "blocks of so many bytes, filled up at their end. `block:2048:4`: blocks with a header of 4 bytes, which may be inside a \
         record. `block:2048:4:used`, `block:2048:4:used-incl`: the first two bytes of the header are the number of bytes in use, \
         without or with the header",
    ),
    ("u16be", "before each record, its length in 2 bytes, the high byte first"),
    ("u16le", "before each record, its length in 2 bytes, the low byte first"),
    ("u32be", "before each record, its length in 4 bytes, the high byte first"),
    ("u32le", "before each record, its length in 4 bytes, the low byte first"),
    ("u16be-incl", "as `u16be`; the length counts its own 2 bytes. `u16le-incl` is the same for `u16le`"),
    ("u32be-incl", "as `u32be`; the length counts its own 4 bytes. `u32le-incl` is the same for `u32le`"),
    ("rdw", "record descriptor words of mainframes"),
    ("bdw", "block descriptor words of mainframes, with record descriptor words inside"),
    (
        "ts32297",
        "file and record headers of 3GPP TS 32.297. The number of records is checked, and each record is read by the encoding \
         rules in its header",
    ),
    ("skip:59:5:0", "a file header, a header of each record, and a trailer of the file, of so many bytes"),
    ("controls:FD,LD", "control records that begin with these letters, between records"),
    ("inside:30,A1", "elements with these identifier octets, in hexadecimal, around the records"),
    (
        CAPTURE,
        "packets of a capture (pcap, pcapng): the records are the messages of its protocols. In Python: `tercet.capture`",
    ),
];

impl fmt::Display for Framing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.wrappers.is_empty() {
            f.write_str("inside:")?;
            for (i, wrapper) in self.wrappers.iter().enumerate() {
                f.write_str(if i > 0 { "," } else { "" })?;
                if let Some(octets) = wrapper.octets().next() {
                    octets.iter().try_for_each(|octet| write!(f, "{octet:02X}"))?;
                }
            }
            return Ok(());
        }
        if !self.controls.is_empty() {
            let names: Vec<_> = self.controls.iter().map(|octets| String::from_utf8_lossy(octets)).collect();
            return write!(f, "controls:{}", names.join(","));
        }
        if self.skip > 0 || self.record_header > 0 || self.trailer > 0 {
            return write!(f, "skip:{}:{}:{}", self.skip, self.record_header, self.trailer);
        }
        self.file.fmt(f)
    }
}

impl Framing {
    /// Whether it passes over octets that the other does not and that nothing but its own word tells apart from records:
    /// headers and trailers of a fixed length, other filler.
    pub fn passes_over_more_than(&self, other: &Self) -> bool {
        (self.skip, self.record_header, self.trailer) != (other.skip, other.record_header, other.trailer)
            || self.filler.iter().any(|octet| !other.filler.contains(octet))
    }

    /// The whole of it in the words of the command line, filler and rules included.
    pub fn spelt(&self) -> String {
        let mut spelt = self.to_string();
        if self.filler != [0x00, 0xFF] {
            let filler: String = self.filler.iter().map(|octet| format!("{octet:02X}")).collect();
            spelt += &format!(" --filler {filler}");
        }
        if let Some(rules) = self.rules {
            spelt += &format!(" --rules {}", rules.name().to_ascii_lowercase());
        }
        spelt
    }

    /// Whether records in the rules that it names can be found; `trial` tells whether other framings are tried.
    ///
    /// # Errors
    /// Why they cannot.
    pub fn check(&self, trial: bool) -> Result<(), SettingError> {
        let Some(rules) = self.rules.filter(|rules| *rules != RecordFormat::Ber) else { return Ok(()) };
        let reason = match () {
            () if !self.wrappers.is_empty() => Reason::NoList,
            () if !trial && !self.file.has_lengths() => Reason::NoLength,
            () => return Ok(()),
        };
        Err(format!("records in {rules} with the framing `{self}`: {reason}").into())
    }

    /// Returns the framing with what a text adds to it, spelled as in [`FRAMINGS`].
    ///
    /// # Errors
    /// What is wrong with the text.
    pub fn with(mut self, text: &str) -> Result<Self, SettingError> {
        let (kind, rest) = text.split_once(':').unwrap_or((text, ""));
        let mut parts = rest.split([':', ',']).filter(|part| !part.is_empty());
        match kind {
            "plain" if rest.is_empty() => self.file = FileFraming::Plain,
            "ts32297" if rest.is_empty() => self.file = FileFraming::Ts32297,
            "rdw" if rest.is_empty() => self.file = FileFraming::Prefix(Prefix::RDW),
            "bdw" if rest.is_empty() => self.file = FileFraming::Prefix(Prefix::BDW),
            "block" => {
                let size: u32 = number(parts.next().unwrap_or_default())?;
                let header: u16 = number(parts.next().unwrap_or("0"))?;
                let used = match parts.next() {
                    None => Used::Unknown,
                    Some("used") => Used::Behind,
                    Some("used-incl") => Used::WithHeader,
                    Some(other) => return Err(format!("`{other}` is neither `used` nor `used-incl`").into()),
                };
                if size <= u32::from(header) || used != Used::Unknown && header < 2 {
                    return Err("a block is larger than its header, which has a length in 2 bytes".into());
                }
                self.file = FileFraming::Blocks { size, header, used };
            }
            "skip" => {
                self.skip = number(parts.next().unwrap_or_default())?;
                self.record_header = number(parts.next().unwrap_or("0"))?;
                self.trailer = number(parts.next().unwrap_or("0"))?;
            }
            "controls" => {
                self.controls = parts.by_ref().map(|part| part.as_bytes().to_vec()).collect();
            }
            "inside" => {
                for part in parts.by_ref() {
                    let octets =
                        tercet_dynamic::text::parse_octets(part, tercet_dynamic::text::Octets::UpperHex);
                    let mut wrapper = Identifiers::none();
                    wrapper.add_octets(&octets.ok_or_else(|| format!("`{part}` is not hexadecimal"))?);
                    self.wrappers.push(wrapper);
                }
            }
            CAPTURE => {
                let text = "`capture` is for packet captures, whose messages `tercet convert` and `tercet.capture` read";
                return Err(text.to_owned().into());
            }
            _ => match prefix(kind).filter(|_| rest.is_empty()) {
                Some(prefix) => self.file = FileFraming::Prefix(prefix),
                None => {
                    return Err(
                        tercet_suggest::unknown("framing", text, FRAMINGS.map(|(name, _)| name)).into()
                    );
                }
            },
        }
        Ok(self)
    }
}

fn number<T: FromStr>(text: &str) -> Result<T, String> {
    text.parse().map_err(|_| format!("`{text}` is not a number of bytes"))
}

fn prefix(text: &str) -> Option<Prefix> {
    let (text, inclusive) = text.strip_suffix("-incl").map_or((text, false), |text| (text, true));
    let (width, little) = match text {
        "u16be" => (2, false),
        "u16le" => (2, true),
        "u32be" => (4, false),
        "u32le" => (4, true),
        _ => return None,
    };
    Some(Prefix { width, little, inclusive, more: 0, grouped: false })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn framings_are_spelled_as_they_are_listed() {
        for (name, _) in FRAMINGS.iter().filter(|(name, _)| *name != CAPTURE) {
            let framing = Framing::concatenated(Identifiers::none()).with(name);
            assert_eq!(framing.map(|framing| framing.to_string()).as_deref(), Ok(*name));
        }
    }
}
