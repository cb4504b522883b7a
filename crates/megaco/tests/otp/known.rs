//! What OTP and we are known to understand differently.
//!
//! Nothing is explained by how a finding reads. Each difference says which part of a message it is about, and what the
//! message is without: it explains a finding only if there is none once the part is gone. The texts here are those that our
//! compact printer writes: one form for each thing.

use std::ops::RangeInclusive;

/// A difference.
pub(crate) struct Known {
    codecs: &'static [&'static str],
    /// `ours to OTP`, `OTP to us`, or both.
    ways: &'static str,
    versions: RangeInclusive<u8>,
    pub(crate) reason: &'static str,
    /// The text without what it is about.
    pub(crate) without: fn(&str) -> String,
}

impl Known {
    /// Whether a text has what it is about.
    pub(crate) fn holds(&self, codec: &str, way: &str, version: u8, text: &str) -> bool {
        self.codecs.contains(&codec)
            && (self.ways.is_empty() || self.ways == way)
            && self.versions.contains(&version)
            && (self.without)(text) != text
    }
}

const BINARY: &[&str] = &["ber", "per"];
const TEXT: &[&str] = &["text", "pretty", "compact"];
const SHORT: &[&str] = &["etf-mc", "etf-mc-zlib"];

const fn known(
    codecs: &'static [&'static str],
    ways: &'static str,
    versions: RangeInclusive<u8>,
    reason: &'static str,
    without: fn(&str) -> String,
) -> Known {
    Known { codecs, ways, versions, reason, without }
}

/// Each of these was looked into; none is a message that we read or write against H.248.1.
pub(crate) const KNOWN: &[Known] = &[
    known(BINARY, "", 1..=3, "OTP has no addresses of IP version 6 in binary", |text| {
        each(text, "[2001:", "]", |_| "[192.0.2.1]".to_owned())
    }),
    known(
        SHORT,
        "ours to OTP",
        1..=3,
        "OTP cannot read its own megaco_compressed with an authentication header",
        |text| each(text, "AU=", "\n", |_| String::new()),
    ),
    known(BINARY, "", 2..=3, "OTP leaves the stream of a topology out in binary", without_streams),
    known(TEXT, "OTP to us", 2..=3, "OTP writes the stream of a topology as a bare number", without_streams),
    known(TEXT, "ours to OTP", 2..=2, "OTP of version 2 reads one triple of a topology alone", |text| {
        each(text, "TP{", "}", |topology| {
            let parts: Vec<&str> = topology.trim_end_matches('}').split(',').collect();
            let has_stream = parts.get(3).is_some_and(|part| part.starts_with("ST="));
            parts[..parts.len().min(3 + usize::from(has_stream))].join(",") + "}"
        })
    }),
    known(
        TEXT,
        "ours to OTP",
        2..=3,
        "OTP reads one part of a termination state in an audit",
        one_part_of_a_state,
    ),
    known(
        TEXT,
        "OTP to us",
        2..=3,
        "OTP cannot write an audit of ServiceStates and Buffer",
        one_part_of_a_state,
    ),
    known(
        TEXT,
        "",
        1..=3,
        "OTP keeps the hexadecimal digits of an MTP address when it reads, and the octets when it writes",
        |text| each(text, "MTP{", "}", |_| "<device>".to_owned()),
    ),
    known(
        TEXT,
        "",
        1..=3,
        "OTP writes a zero too many next to octets below 16 in an authentication header",
        |text| {
            each(text, "AU=", "\n", |header| {
                let parts = header.split("0x").enumerate().map(|(index, part)| {
                    let digit = |(place, digit)| if place % 2 == 0 && digit == '0' { '1' } else { digit };
                    if index == 0 { part.to_owned() } else { part.chars().enumerate().map(digit).collect() }
                });
                parts.collect::<Vec<_>>().join("0x")
            })
        },
    ),
    known(TEXT, "OTP to us", 1..=3, "OTP leaves out what follows EmergencyOff", without_emergency_off),
    known(TEXT, "ours to OTP", 1..=1, "OTP of version 1 has no EmergencyOff", without_emergency_off),
    known(TEXT, "ours to OTP", 1..=1, "OTP of version 1 stumbles over every context audit", |text| {
        each(text, "CA{", "}", |_| "S=root".to_owned())
    }),
    known(TEXT, "ours to OTP", 1..=3, "OTP reads no device as the address of a change of service", |text| {
        let mut parts = text.split("AD=");
        let first = parts.next().unwrap().to_owned();
        parts.fold(first, |text, part| {
            let name = part.split([',', '}']).next().unwrap();
            let is_device =
                name.starts_with(|letter: char| letter.is_ascii_alphabetic()) && !name.contains('{');
            text + "AD=" + if is_device { "1" } else { name } + &part[name.len()..]
        })
    }),
    known(
        BINARY,
        "",
        1..=2,
        "OTP of versions 1 and 2 has no empty descriptors in binary: it wants tokens where it has a record",
        |text| bare(text, &["MX", "MD", "M", "DM", "SA", "OE", "PG"], "SG"),
    ),
    known(BINARY, "", 1..=1, "OTP of version 1 has no events without a request id in binary", |text| {
        bare(text, &["E"], "SG")
    }),
    known(TEXT, "OTP to us", 3..=3, "OTP writes nothing between a segment and what follows", last_segment),
    known(TEXT, "ours to OTP", 3..=3, "OTP reads nothing behind a segment", last_segment),
    known(
        TEXT,
        "ours to OTP",
        1..=3,
        "OTP takes the error of a context audit for its terminations",
        |text| each(text, "AV=C{ER=", "}}", |_| "AV=C{root}".to_owned()),
    ),
    known(
        TEXT,
        "OTP to us",
        1..=3,
        "OTP takes embedded signals that are none for no word of signals",
        |text| text.replace("EM{SG,", "EM{SG{cg/dt},").replace("EM{SG}", "EM{SG{cg/dt}}"),
    ),
    known(
        TEXT,
        "OTP to us",
        1..=3,
        "OTP writes one of KeepActive, a digit map and signals of embedded events",
        |text| {
            each(text, "DM", "EM{SG", |found| {
                let is_value = found.starts_with("DM=") && !found.contains(['{', '}']);
                if is_value { "EM{SG".to_owned() } else { found.to_owned() }
            })
            .replace("KA,DM", "DM")
            .replace("KA,EM{SG", "EM{SG")
        },
    ),
];

/// The same for a form that a text has, and the compact one has not.
pub(crate) const FORM: Known = known(
    TEXT,
    "ours to OTP",
    2..=2,
    "OTP of version 2 reads EmergencyOff in its short form alone",
    |text| {
        let mut out = text.to_owned();
        while let Some(at) = out.to_ascii_lowercase().find("emergencyoff") {
            out.replace_range(at..at + "emergencyoff".len(), "EGO");
        }
        out
    },
);

fn without_streams(text: &str) -> String {
    each(text, "TP{", "}", |topology| {
        let parts = topology.trim_end_matches('}').split(',').filter(|part| !part.starts_with("ST="));
        parts.collect::<Vec<_>>().join(",") + "}"
    })
}

fn one_part_of_a_state(text: &str) -> String {
    text.replace("TS{SI,BF}", "TS{SI}").replace("TS{BF,SI}", "TS{SI}")
}

fn without_emergency_off(text: &str) -> String {
    bare(text, &["EGO"], "EG")
}

/// The text up to its first segment.
fn last_segment(text: &str) -> String {
    let end = text.find("\nSM=").and_then(|at| Some(at + 1 + text[at + 1..].find('\n')?));
    text[..end.unwrap_or(text.len())].to_owned()
}

/// Exchanges each piece from an opening string to the next closing one.
fn each(text: &str, open: &str, close: &str, exchange: impl Fn(&str) -> String) -> String {
    let (mut out, mut rest) = (String::new(), text);
    while let Some(start) = rest.find(open) {
        let Some(length) = rest[start + open.len()..].find(close) else { break };
        let end = start + open.len() + length + close.len();
        out += &rest[..start];
        out += &exchange(&rest[start..end]);
        rest = &rest[end..];
    }
    out + rest
}

/// Exchanges words that stand alone, outside of what audits ask for.
fn bare(text: &str, words: &[&str], to: &str) -> String {
    let (mut out, mut rest) = (String::new(), text);
    let mut before = ' ';
    while let Some(first) = rest.chars().next() {
        let word = rest.find(['{', '}', ',', '=']).unwrap_or(rest.len());
        let (length, new) = if rest.starts_with("AT{") {
            let length = 2 + block(&rest[2..]);
            (length, &rest[..length])
        } else if matches!(before, '{' | ',')
            && words.contains(&&rest[..word])
            && rest[word..].starts_with([',', '}'])
        {
            (word, to)
        } else if first == '"' {
            let length = 2 + rest[1..].find('"').unwrap();
            (length, &rest[..length])
        } else {
            (first.len_utf8(), &rest[..first.len_utf8()])
        };
        before = rest[..length].chars().next_back().unwrap();
        out += new;
        rest = &rest[length..];
    }
    out
}

/// How long a text in braces is.
fn block(text: &str) -> usize {
    let (mut depth, mut quoted) = (0, false);
    let end = text.find(|letter| {
        quoted ^= letter == '"';
        match letter {
            '{' if !quoted => depth += 1,
            '}' if !quoted => depth -= 1,
            _ => {}
        }
        depth == 0
    });
    end.unwrap() + 1
}
