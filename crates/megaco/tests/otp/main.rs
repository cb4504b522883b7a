//! Messages made from the grammar, against Erlang's megaco: what we encode it has to decode to the same term, and what it
//! encodes we have to decode to the same value, for each codec.
//!
//! The test needs `escript` and the megaco application, and says that it skips without. `TERCET_OTP_MESSAGES` is how many
//! messages there are, `TERCET_OTP_SEED` which; `peers/megaco/run` makes many.
#![expect(clippy::print_stderr, reason = "a test talks to people")]

mod grammar;

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use grammar::{Dice, Grammar};
use tercet_megaco::codec::{Codec, Encoding, decode_any};
use tercet_megaco::model::MegacoMessage;
use tercet_megaco::text::read_message;

const CODECS: [&str; 8] = ["pretty", "compact", "ber", "per", "etf", "etf-mc", "etf-zlib", "etf-mc-zlib"];

/// What OTP made of a message: the parts of an answer, each with whether it is no refusal.
type Answer = Vec<(bool, Vec<u8>)>;

#[test]
fn otp_and_we_understand_each_other() {
    let setting = |name: &str, default: u64| {
        std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(default)
    };
    let (count, seed) = (setting("TERCET_OTP_MESSAGES", 300), setting("TERCET_OTP_SEED", 1));
    let Some(mut peer) = Peer::start() else {
        eprintln!("skipped: there is no Erlang with its megaco application here");
        return;
    };
    let grammar = Grammar::parse(include_str!("messages.grammar"));
    let mut dice = Dice(seed);
    let mut tally = Tally::default();
    for index in 0..count {
        let version = 1 + dice.below(3) as u8;
        let text = grammar.message(version, &mut dice);
        let message = read_message(text.as_bytes())
            .unwrap_or_else(|error| panic!("message {index} is refused: {error}\n{text}"));
        let ours: Vec<Result<Vec<u8>, String>> = CODECS.iter().map(|codec| encode(codec, &message)).collect();
        let answer = peer.ask(text.as_bytes(), &ours);
        tally.compare(&text, &message, &ours, &answer);
    }
    eprintln!("{count} messages, seed {seed}\n{tally}");
    let open: usize = tally.open.values().map(|found| found.0).sum();
    assert_eq!(open, 0, "disagreements that nothing explains");
}

fn encode(codec: &str, message: &MegacoMessage<'_>) -> Result<Vec<u8>, String> {
    let mut out = Vec::new();
    Encoding::named(codec).unwrap().encode(message, &mut out).map(|()| out).map_err(|error| error.to_string())
}

struct Peer(Child);

impl Peer {
    /// `None` if there is no Erlang, or one without megaco.
    fn start() -> Option<Self> {
        let probe = "case code:which(megaco) of non_existing -> halt(1); _ -> halt(0) end.";
        let probed = Command::new("erl").args(["-noshell", "-eval", probe]).output().ok()?;
        if !probed.status.success() {
            return None;
        }
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../peers/megaco/peer.escript");
        let child = Command::new("escript").arg(script).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        child.ok().map(Self)
    }

    fn ask(&mut self, text: &[u8], encoded: &[Result<Vec<u8>, String>]) -> Answer {
        let mut frame = Vec::new();
        let parts = encoded.iter().map(|part| part.as_deref().unwrap_or_default());
        for part in std::iter::once(text).chain(parts) {
            frame.extend_from_slice(&(part.len() as u32).to_be_bytes());
            frame.extend_from_slice(part);
        }
        let input = self.0.stdin.as_mut().unwrap();
        input.write_all(&(frame.len() as u32).to_be_bytes()).unwrap();
        input.write_all(&frame).unwrap();
        input.flush().unwrap();
        let output = self.0.stdout.as_mut().unwrap();
        let mut number = [0; 4];
        output.read_exact(&mut number).unwrap();
        let mut frame = vec![0; u32::from_be_bytes(number) as usize];
        output.read_exact(&mut frame).unwrap();
        let mut rest = &frame[..];
        let mut answer = Answer::new();
        while let [good, a, b, c, d, after @ ..] = rest {
            let length = u32::from_be_bytes([*a, *b, *c, *d]) as usize;
            answer.push((*good == b'1', after[..length].to_vec()));
            rest = &after[length..];
        }
        assert_eq!(answer.len(), 1 + 2 * CODECS.len());
        answer
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        _ = self.0.wait();
    }
}

/// What was found.
#[derive(Default)]
struct Tally {
    /// Checks that agree, by codec and direction.
    agreed: BTreeMap<String, usize>,
    /// Of what OTP encodes, how much is octet for octet what we encode.
    same_octets: BTreeMap<&'static str, usize>,
    explained: BTreeMap<String, usize>,
    open: BTreeMap<String, (usize, String)>,
}

impl Tally {
    fn compare(
        &mut self,
        text: &str,
        message: &MegacoMessage<'_>,
        ours: &[Result<Vec<u8>, String>],
        answer: &Answer,
    ) {
        let term = ours[4].as_deref().unwrap_or_default();
        // The text itself, then what we made of it.
        for (codec, (good, said)) in std::iter::once(&"text").chain(&CODECS).zip(answer) {
            let refused =
                CODECS.iter().position(|other| other == codec).and_then(|index| ours[index].as_ref().err());
            let finding = match (refused, good) {
                (Some(error), _) => Some(format!("we cannot encode: {error}")),
                (None, false) => Some(format!("OTP refuses: {}", String::from_utf8_lossy(said))),
                (None, true) if said != term => match decode_any(said) {
                    Ok(theirs) if theirs == *message => None,
                    Ok(theirs) => Some(format!("OTP decodes otherwise: {}", difference(message, &theirs))),
                    Err(error) => {
                        let near = said.get(error.at.saturating_sub(40)..).unwrap_or_default();
                        let near = near[..near.len().min(80)].escape_ascii();
                        Some(format!("OTP decodes to no message: {error} in {near}"))
                    }
                },
                (None, true) => None,
            };
            self.note(codec, "ours to OTP", finding, text);
        }
        for (index, (codec, (good, said))) in CODECS.iter().zip(&answer[1 + CODECS.len()..]).enumerate() {
            let finding = if *good {
                let decoded = Encoding::named(codec).unwrap().decode(said);
                match decoded {
                    Ok(theirs) if theirs == *message => None,
                    Ok(theirs) => Some(format!("we decode otherwise: {}", difference(message, &theirs))),
                    Err(error) => Some(format!("we refuse: {error}: {}", said.escape_ascii())),
                }
            } else {
                Some(format!("OTP cannot encode: {}", String::from_utf8_lossy(said)))
            };
            if ours[index].as_ref().is_ok_and(|octets| octets == said) {
                *self.same_octets.entry(codec).or_default() += 1;
            }
            self.note(codec, "OTP to us", finding, text);
        }
    }

    fn note(&mut self, codec: &str, way: &str, finding: Option<String>, text: &str) {
        let Some(finding) = finding else {
            *self.agreed.entry(format!("{codec} {way}")).or_default() += 1;
            return;
        };
        match explain(codec, &finding, text) {
            Some(reason) => *self.explained.entry(format!("{codec} {way}: {reason}")).or_default() += 1,
            None => {
                let kind: String = finding.chars().take(60).collect();
                let found = self.open.entry(format!("{codec} {way}: {kind}")).or_default();
                found.0 += 1;
                if found.1.is_empty() || found.1.len() > finding.len() + text.len() {
                    found.1 = format!("{finding}\n{text}");
                }
            }
        }
    }
}

impl std::fmt::Display for Tally {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (what, count) in &self.agreed {
            writeln!(f, "agreed    {count:>6} {what}")?;
        }
        for (what, count) in &self.same_octets {
            writeln!(f, "same      {count:>6} {what}: octets of OTP and ours")?;
        }
        for (what, count) in &self.explained {
            writeln!(f, "explained {count:>6} {what}")?;
        }
        for (what, (count, example)) in &self.open {
            writeln!(f, "OPEN      {count:>6} {what}\n{example}\n")?;
        }
        Ok(())
    }
}

/// Where two values begin to differ, as they are shown in lower case and without the forms that text alone has.
fn difference(a: &MegacoMessage<'_>, b: &MegacoMessage<'_>) -> String {
    let show = |message: &MegacoMessage<'_>| {
        let mut term = Vec::new();
        _ = Encoding::named("etf").unwrap().encode(message, &mut term);
        format!("{:?}", decode_any(&term)).to_ascii_lowercase()
    };
    let (a, b) = (show(a), show(b));
    if a == b {
        return "in upper and lower case".to_owned();
    }
    let same = a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
    let part =
        |text: &str, from: usize| text.get(from..(same + 60).min(text.len())).unwrap_or_default().to_owned();
    format!("{} / {}", part(&a, same.saturating_sub(30)), part(&b, same))
}

/// Codecs, a part of what is found, what the message's text has, and why OTP and we differ there. The texts are in lower
/// case. Each of these was looked into; none is a message that we read or write against H.248.1.
const KNOWN: &[(&[&str], &str, &str, &str)] = &[
    (BINARY, "not_supported", "[2001:", "OTP has no addresses of IP version 6 in binary"),
    (
        &["etf-mc", "etf-mc-zlib"],
        "bad_message",
        "au",
        "OTP cannot read its own megaco_compressed with an authentication header",
    ),
    (BINARY, "", "/*", "OTP reads the wildcard of a level as one of the level before it"),
    (BINARY, "stream_id", "st", "OTP leaves the stream of a topology out in binary"),
    (TEXT, "we refuse: a direction", "t", "OTP writes the stream of a topology as a bare number"),
    (TEXT, "we refuse: two terminations", "t", "OTP writes the stream of a topology as a bare number"),
    (TEXT, "'comma'", "ts", "OTP reads one part of a termination state in an audit"),
    (TEXT, "'comma'", "terminationstate", "OTP reads one part of a termination state in an audit"),
    (TEXT, "syntax error before", "topology", "OTP of version 2 reads one triple of a topology alone"),
    (TEXT, "syntax error before", "tp", "OTP of version 2 reads one triple of a topology alone"),
    (
        TEXT,
        "",
        "mtp",
        "OTP keeps the hexadecimal digits of an MTP address when it reads, and the octets when it writes",
    ),
    (TEXT, "", "0x", "OTP writes a zero too many next to octets below 16 in an authentication header"),
    (TEXT, "\"ego\"", "ego", "OTP of version 1 reads EmergencyOffToken alone"),
    (TEXT, "emergencyoff", "emergencyoff", "OTP of version 1 reads EmergencyOffToken alone"),
    (TEXT, "emergency: some(false)", "e", "OTP leaves out what follows EmergencyOff"),
    (TEXT, "topologyaudit", "c", "OTP stumbles over a context audit behind properties of the context"),
    (TEXT, "emergencyaudit", "c", "OTP stumbles over a context audit behind properties of the context"),
    (TEXT, "priorityaudit", "c", "OTP stumbles over a context audit behind properties of the context"),
    (ALL, "indaudterminationstate", "t", "OTP cannot write an audit of ServiceStates and Buffer"),
    (
        BINARY,
        "token",
        "{",
        "OTP of versions 1 and 2 has no empty descriptors in binary: it wants tokens where it has a record",
    ),
    (
        BINARY,
        "auditdescriptor",
        "{",
        "OTP of versions 1 and 2 has no empty descriptors in binary: it wants tokens where it has a record",
    ),
    (BINARY, "integer", "e", "the module of version 1 has no events without a request id"),
    (BINARY, "request_id: none", "e", "the module of version 1 has no events without a request id"),
    (
        TEXT,
        "a transaction id, and from version 3",
        "s",
        "OTP writes nothing between a segment and what follows",
    ),
    (TEXT, "a list", "modem", "OTP reads the parameters of a modem as one, where its record wants a list"),
    (TEXT, "a list", "md", "OTP reads the parameters of a modem as one, where its record wants a list"),
    (TEXT, "segmentationcompletetoken", "s", "OTP reads nothing behind a segment"),
    (TEXT, "not_an_integer", "s", "OTP reads nothing behind a segment"),
    (TEXT, "'sep'", "s", "OTP reads nothing behind a segment"),
    (TEXT, "contextauditresult", "{", "OTP takes the error of a context audit for its terminations"),
    (
        TEXT,
        "signals_descriptor: some([])",
        "e",
        "OTP takes embedded signals that are none for no word of signals",
    ),
    (
        TEXT,
        "invalid_secondrequestedactions",
        "e",
        "OTP writes a digit map or signals of embedded events, not both",
    ),
    (TEXT, "audit_token", "signals", "OTP takes embedded signals that are none for no word of signals"),
    (TEXT, "audit_token", "sg", "OTP takes embedded signals that are none for no word of signals"),
    (ALL, "in upper and lower case", "", "OTP makes unquoted values small"),
];
const BINARY: &[&str] = &["ber", "per"];
const TEXT: &[&str] = &["text", "pretty", "compact"];
const ALL: &[&str] = &["text", "pretty", "compact", "ber", "per"];

fn explain(codec: &str, finding: &str, text: &str) -> Option<&'static str> {
    let (finding, text) = (finding.to_ascii_lowercase(), text.to_ascii_lowercase());
    let known = KNOWN.iter().find(|(codecs, found, has, _)| {
        codecs.contains(&codec) && finding.contains(found) && text.contains(has)
    });
    known.map(|known| known.3)
}
