//! What the lines of a session description say (RFC 8866 clause 5, RFC 4566).

use std::io::Write;

use super::words::{Fault, Wild, Words, digits, wild};
use crate::octets::Str;

/// What a line says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Field<'a> {
    /// `v=`
    Version(Wild<u32>),
    /// `o=`
    Origin(Origin<'a>),
    /// `s=`
    Name(Str<'a>),
    /// `i=`
    Information(Str<'a>),
    /// `u=`
    Uri(Str<'a>),
    /// `e=`
    Email(Str<'a>),
    /// `p=`
    Phone(Str<'a>),
    /// `c=`
    Connection(Connection<'a>),
    /// `b=`
    Bandwidth(Bandwidth<'a>),
    /// `t=`
    Time(Time),
    /// `r=`
    Repeat(Repeat),
    /// `z=`: when the clocks change, and by how much.
    Zones(Vec<(u64, Span)>),
    /// `k=`
    Key(Key<'a>),
    /// `a=`
    Attribute(Attribute<'a>),
    /// `m=`
    Media(Media<'a>),
    /// A line of another name, or one of these that is not as it should be; that is told.
    Other {
        /// What stands before the `=`.
        name: Str<'a>,
        /// What stands behind it.
        value: Str<'a>,
        /// What is wrong, if the name is known.
        fault: Option<Fault>,
    },
}

/// Who described the session (RFC 8866 5.2).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are those of the standard")]
pub struct Origin<'a> {
    pub username: Str<'a>,
    pub session_id: Str<'a>,
    pub session_version: Str<'a>,
    pub network: Str<'a>,
    pub family: Str<'a>,
    pub address: Str<'a>,
}

/// Where media go (RFC 8866 5.7). The address is `$` if the gateway chooses it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Connection<'a> {
    /// `IN`
    pub network: Str<'a>,
    /// `IP4`, `IP6`
    pub family: Str<'a>,
    /// The address.
    pub address: Str<'a>,
    /// How far a multicast goes, and of how many addresses it is.
    pub scope: Vec<u32>,
}

impl<'a> Connection<'a> {
    /// An address of the Internet: family `IP6` if it has a colon, or `IP4`.
    pub fn internet(address: &'a str) -> Self {
        let family = if address.contains(':') { "IP6" } else { "IP4" };
        Self { network: "IN".into(), family: family.into(), address: address.into(), scope: Vec::new() }
    }
}

/// How much goes there (RFC 8866 5.8).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bandwidth<'a> {
    /// `AS`, `CT`, …
    pub kind: Str<'a>,
    /// In kilobits a second, for most kinds.
    pub value: Wild<u64>,
}

/// When a session begins and ends (RFC 8866 5.9), in seconds since 1900; 0 for no bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub struct Time {
    pub start: Wild<u64>,
    pub stop: Wild<u64>,
}

/// A number with a unit (RFC 8866 5.10): `d`, `h`, `m` or `s`; none is seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub struct Span {
    pub number: i64,
    pub unit: Option<u8>,
}

impl Span {
    /// The span in seconds; `None` if that is more than a number has room for.
    pub fn seconds(self) -> Option<i64> {
        let unit = match self.unit {
            Some(b'd') => 86_400,
            Some(b'h') => 3600,
            Some(b'm') => 60,
            _ => 1,
        };
        self.number.checked_mul(unit)
    }
}

/// How often a session is (RFC 8866 5.10).
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are those of the standard")]
pub struct Repeat {
    pub interval: Span,
    pub duration: Span,
    pub offsets: Vec<Span>,
}

/// A key (RFC 4566 5.12).
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub struct Key<'a> {
    pub method: Str<'a>,
    pub key: Option<Str<'a>>,
}

/// A medium (RFC 8866 5.14).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Media<'a> {
    /// `audio`, `video`, …
    pub kind: Str<'a>,
    /// Where it goes.
    pub port: Wild<u32>,
    /// Of how many ports it is.
    pub ports: Option<u32>,
    /// `RTP/AVP`, …
    pub protocol: Str<'a>,
    /// Formats: of RTP the payload types.
    pub formats: Vec<Str<'a>>,
}

impl<'a> Media<'a> {
    /// A medium over RTP.
    pub fn rtp(kind: &'a str, port: impl Into<Wild<u32>>, payloads: &[&'a str]) -> Self {
        let formats = payloads.iter().map(|payload| Str::from(*payload)).collect();
        Self { kind: kind.into(), port: port.into(), ports: None, protocol: "RTP/AVP".into(), formats }
    }
}

/// Attributes (RFC 8866 6).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Attribute<'a> {
    /// `rtpmap`: what a payload type is.
    RtpMap {
        /// The payload type.
        payload: Wild<u8>,
        /// Its encoding.
        encoding: Str<'a>,
        /// Ticks a second.
        clock: Wild<u32>,
        /// Of audio the number of channels.
        parameters: Option<Str<'a>>,
    },
    /// `fmtp`: parameters of a format.
    Fmtp {
        /// The format.
        format: Str<'a>,
        /// Its parameters.
        parameters: Str<'a>,
    },
    /// `ptime`: milliseconds of media in a packet.
    Ptime(Wild<u32>),
    /// `maxptime`: the most of these.
    MaxPtime(Wild<u32>),
    /// `quality`: 0 to 10.
    Quality(Wild<u8>),
    /// `sendrecv`, `sendonly`, `recvonly` or `inactive`.
    Direction(Direction),
    /// `cat`, `keywds`, `tool`, `orient`, `type`, `charset`, `sdplang`, `lang`, `framerate`, and all others that have a
    /// value.
    Value {
        /// The name.
        name: Str<'a>,
        /// What stands behind the colon.
        value: Str<'a>,
    },
    /// An attribute without a value.
    Flag(Str<'a>),
}

/// Where media flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Direction {
    SendReceive,
    SendOnly,
    ReceiveOnly,
    Inactive,
}

impl Direction {
    /// Its name as an attribute.
    pub fn name(self) -> &'static str {
        DIRECTIONS.iter().find(|known| known.1 == self).map_or("", |known| known.0)
    }
}

const DIRECTIONS: &[(&str, Direction)] = &[
    ("sendrecv", Direction::SendReceive),
    ("sendonly", Direction::SendOnly),
    ("recvonly", Direction::ReceiveOnly),
    ("inactive", Direction::Inactive),
];

impl<'a> Field<'a> {
    /// What a line of a name and a value says.
    pub fn read(name: &'a [u8], value: &'a [u8]) -> Self {
        let text = Str::borrowed(value);
        let field = match name {
            b"v" => number(value, "a version: a number").map(Self::Version),
            b"o" => origin(value).map(Self::Origin),
            b"s" => Ok(Self::Name(text.clone())),
            b"i" => Ok(Self::Information(text.clone())),
            b"u" => Ok(Self::Uri(text.clone())),
            b"e" => Ok(Self::Email(text.clone())),
            b"p" => Ok(Self::Phone(text.clone())),
            b"c" => connection(value).map(Self::Connection),
            b"b" => bandwidth(value).map(Self::Bandwidth),
            b"t" => time(value).map(Self::Time),
            b"r" => repeat(value).map(Self::Repeat),
            b"z" => zones(value).map(Self::Zones),
            b"k" => key(value).map(Self::Key),
            b"a" => attribute(value).map(Self::Attribute),
            b"m" => media(value).map(Self::Media),
            _ => return Self::Other { name: Str::borrowed(name), value: text, fault: None },
        };
        field.unwrap_or_else(|fault| Self::Other {
            name: Str::borrowed(name),
            value: text,
            fault: Some(fault),
        })
    }

    /// What stands before the `=`.
    pub fn name(&self) -> &[u8] {
        match self {
            Self::Version(_) => b"v",
            Self::Origin(_) => b"o",
            Self::Name(_) => b"s",
            Self::Information(_) => b"i",
            Self::Uri(_) => b"u",
            Self::Email(_) => b"e",
            Self::Phone(_) => b"p",
            Self::Connection(_) => b"c",
            Self::Bandwidth(_) => b"b",
            Self::Time(_) => b"t",
            Self::Repeat(_) => b"r",
            Self::Zones(_) => b"z",
            Self::Key(_) => b"k",
            Self::Attribute(_) => b"a",
            Self::Media(_) => b"m",
            Self::Other { name, .. } => name,
        }
    }

    /// Writes what stands behind the `=`.
    pub(super) fn write_value(&self, out: &mut Vec<u8>) {
        match self {
            Self::Version(version) => show(out, "", version),
            Self::Origin(origin) => {
                let first = [&origin.username, &origin.session_id, &origin.session_version];
                words(out, first.into_iter().chain([&origin.network, &origin.family, &origin.address]));
            }
            Self::Name(text)
            | Self::Information(text)
            | Self::Uri(text)
            | Self::Email(text)
            | Self::Phone(text) => out.extend_from_slice(text),
            Self::Connection(connection) => {
                words(out, [&connection.network, &connection.family, &connection.address]);
                connection.scope.iter().for_each(|number| show(out, "/", number));
            }
            Self::Bandwidth(bandwidth) => {
                out.extend_from_slice(&bandwidth.kind);
                show(out, ":", bandwidth.value);
            }
            Self::Time(time) => {
                show(out, "", time.start);
                show(out, " ", time.stop);
            }
            Self::Repeat(repeat) => {
                span(out, "", repeat.interval);
                span(out, " ", repeat.duration);
                repeat.offsets.iter().for_each(|offset| span(out, " ", *offset));
            }
            Self::Zones(zones) => {
                for (index, (time, offset)) in zones.iter().enumerate() {
                    show(out, if index == 0 { "" } else { " " }, time);
                    span(out, " ", *offset);
                }
            }
            Self::Key(key) => {
                out.extend_from_slice(&key.method);
                if let Some(key) = &key.key {
                    out.push(b':');
                    out.extend_from_slice(key);
                }
            }
            Self::Attribute(attribute) => attribute.write(out),
            Self::Media(media) => {
                out.extend_from_slice(&media.kind);
                show(out, " ", media.port);
                if let Some(ports) = media.ports {
                    show(out, "/", ports);
                }
                out.push(b' ');
                words(out, std::iter::once(&media.protocol).chain(&media.formats));
            }
            Self::Other { value, .. } => out.extend_from_slice(value),
        }
    }
}

impl Attribute<'_> {
    fn write(&self, out: &mut Vec<u8>) {
        match self {
            Self::RtpMap { payload, encoding, clock, parameters } => {
                show(out, "rtpmap:", payload);
                out.push(b' ');
                out.extend_from_slice(encoding);
                show(out, "/", clock);
                if let Some(parameters) = parameters {
                    out.push(b'/');
                    out.extend_from_slice(parameters);
                }
            }
            Self::Fmtp { format, parameters } => {
                out.extend_from_slice(b"fmtp:");
                words(out, [format, parameters]);
            }
            Self::Ptime(time) => show(out, "ptime:", time),
            Self::MaxPtime(time) => show(out, "maxptime:", time),
            Self::Quality(quality) => show(out, "quality:", quality),
            Self::Direction(direction) => {
                let known = DIRECTIONS.iter().find(|known| known.1 == *direction);
                out.extend_from_slice(known.map_or("", |known| known.0).as_bytes());
            }
            Self::Value { name, value } => {
                out.extend_from_slice(name);
                out.push(b':');
                out.extend_from_slice(value);
            }
            Self::Flag(name) => out.extend_from_slice(name),
        }
    }
}

fn show(out: &mut Vec<u8>, before: &str, value: impl std::fmt::Display) {
    // Writing to a vector does not fail.
    _ = write!(out, "{before}{value}");
}

fn span(out: &mut Vec<u8>, before: &str, span: Span) {
    show(out, before, span.number);
    out.extend(span.unit);
}

fn words<'w>(out: &mut Vec<u8>, words: impl IntoIterator<Item = &'w Str<'w>>) {
    for (index, word) in words.into_iter().enumerate() {
        if index > 0 {
            out.push(b' ');
        }
        out.extend_from_slice(word);
    }
}

fn number<T: std::str::FromStr>(value: &[u8], what: &'static str) -> Result<Wild<T>, Fault> {
    let mut words = Words::new(value);
    let number = words.number(what)?;
    words.end(number)
}

fn origin(value: &[u8]) -> Result<Origin<'_>, Fault> {
    let mut words = Words::new(value);
    let mut next = |what| words.word(what).map(Str::borrowed);
    let origin = Origin {
        username: next("the name of a user, or `-`")?,
        session_id: next("the id of the session")?,
        session_version: next("the version of the session")?,
        network: next("a kind of network")?,
        family: next("a kind of address")?,
        address: next("an address")?,
    };
    words.end(origin)
}

fn connection(value: &[u8]) -> Result<Connection<'_>, Fault> {
    const SCOPE: &str = "`/` and a number after the address";
    let mut words = Words::new(value);
    let network = words.word("a kind of network")?.into();
    let family = words.word("a kind of address")?.into();
    let word = words.word("an address")?;
    let mut parts = word.split(|&octet| octet == b'/');
    let address = parts.next().unwrap_or_default().into();
    let scope: Option<Vec<u32>> = parts.map(digits).collect();
    let scope = scope.filter(|scope| scope.len() <= 2).ok_or_else(|| words.wrong(SCOPE))?;
    words.end(Connection { network, family, address, scope })
}

fn bandwidth(value: &[u8]) -> Result<Bandwidth<'_>, Fault> {
    let mut words = Words::new(value);
    let kind = words.until(b':', "a kind of bandwidth and `:`")?.into();
    let value = words.number("how much: a number")?;
    words.end(Bandwidth { kind, value })
}

fn time(value: &[u8]) -> Result<Time, Fault> {
    let mut words = Words::new(value);
    let start = words.number("when the session begins: a number")?;
    let stop = words.number("when the session ends: a number")?;
    words.end(Time { start, stop })
}

/// `["-"] 1*DIGIT ["d" / "h" / "m" / "s"]`.
fn read_span(words: &mut Words<'_>) -> Result<Span, Fault> {
    const WHAT: &str = "a time: a number, and perhaps d, h, m or s";
    let word = words.word(WHAT)?;
    let (number, unit) = match word {
        [number @ .., unit @ (b'd' | b'h' | b'm' | b's')] => (number, Some(*unit)),
        _ => (word, None),
    };
    let (is_negative, number) = match number {
        [b'-', number @ ..] => (true, number),
        _ => (false, number),
    };
    let number: i64 = digits(number).ok_or_else(|| words.wrong(WHAT))?;
    Ok(Span { number: if is_negative { -number } else { number }, unit })
}

fn repeat(value: &[u8]) -> Result<Repeat, Fault> {
    let mut words = Words::new(value);
    let interval = read_span(&mut words)?;
    let duration = read_span(&mut words)?;
    let mut offsets = vec![read_span(&mut words)?];
    while words.more() {
        offsets.push(read_span(&mut words)?);
    }
    words.end(Repeat { interval, duration, offsets })
}

fn zones(value: &[u8]) -> Result<Vec<(u64, Span)>, Fault> {
    const WHAT: &str = "a time: a number";
    let mut words = Words::new(value);
    let mut zones = Vec::new();
    loop {
        let time = digits(words.word(WHAT)?).ok_or_else(|| words.wrong(WHAT))?;
        zones.push((time, read_span(&mut words)?));
        if !words.more() {
            return words.end(zones);
        }
    }
}

fn key(value: &[u8]) -> Result<Key<'_>, Fault> {
    let (method, key) = halves(value);
    if method.is_empty() {
        return Err(Fault { at: 0, what: "a method" });
    }
    Ok(Key { method: method.into(), key: key.map(Str::borrowed) })
}

/// What stands before and behind the first colon.
fn halves(value: &[u8]) -> (&[u8], Option<&[u8]>) {
    match memchr::memchr(b':', value) {
        Some(colon) => (&value[..colon], Some(&value[colon + 1..])),
        None => (value, None),
    }
}

fn media(value: &[u8]) -> Result<Media<'_>, Fault> {
    const PORT: &str = "a port, and perhaps `/` and how many";
    let mut words = Words::new(value);
    let kind = words.word("a medium")?.into();
    let word = words.word(PORT)?;
    let (port, ports) = match memchr::memchr(b'/', word) {
        Some(slash) => (wild(&word[..slash]), digits(&word[slash + 1..]).map(Some)),
        None => (wild(word), Some(None)),
    };
    let (Some(port), Some(ports)) = (port, ports) else { return Err(words.wrong(PORT)) };
    let protocol = words.word("a protocol")?.into();
    let mut formats = vec![words.word("a format")?.into()];
    while let Some(format) = words.next() {
        formats.push(format.into());
    }
    Ok(Media { kind, port, ports, protocol, formats })
}

fn attribute(value: &[u8]) -> Result<Attribute<'_>, Fault> {
    let (name, value) = halves(value);
    if name.is_empty() {
        return Err(Fault { at: 0, what: "the name of an attribute" });
    }
    let Some(value) = value else {
        let known = DIRECTIONS.iter().find(|known| known.0.as_bytes() == name);
        return Ok(known.map_or_else(|| Attribute::Flag(name.into()), |known| Attribute::Direction(known.1)));
    };
    let read = match name {
        b"rtpmap" => rtp_map(value),
        b"fmtp" => fmtp(value),
        b"ptime" => number(value, "milliseconds").map(Attribute::Ptime),
        b"maxptime" => number(value, "milliseconds").map(Attribute::MaxPtime),
        b"quality" => number(value, "a number from 0 to 10").map(Attribute::Quality),
        _ => Ok(Attribute::Value { name: name.into(), value: value.into() }),
    };
    read.map_err(|fault| Fault { at: name.len() + 1 + fault.at, ..fault })
}

fn rtp_map(value: &[u8]) -> Result<Attribute<'_>, Fault> {
    const CLOCK: &str = "`/` and ticks a second, and perhaps `/` and more";
    let mut words = Words::new(value);
    let payload = words.number("a payload type")?;
    let encoding = words.until(b'/', "an encoding, `/` and ticks a second")?.into();
    let word = words.word(CLOCK)?;
    let (clock, parameters) = match memchr::memchr(b'/', word) {
        Some(slash) => (&word[..slash], Some(Str::borrowed(&word[slash + 1..]))),
        None => (word, None),
    };
    let clock = wild(clock).ok_or_else(|| words.wrong(CLOCK))?;
    words.end(Attribute::RtpMap { payload, encoding, clock, parameters })
}

fn fmtp(value: &[u8]) -> Result<Attribute<'_>, Fault> {
    let mut words = Words::new(value);
    let format = words.word("a format")?.into();
    let parameters = words.rest("parameters of the format")?.into();
    Ok(Attribute::Fmtp { format, parameters })
}
