//! Messages made from the grammar, against Erlang's megaco: what we encode it has to decode to the same term, and what it
//! encodes we have to decode to the same value, for each codec.
//!
//! The test needs `escript` and the megaco application, and is skipped without. `TERCET_OTP_MESSAGES` is how many
//! messages there are, `TERCET_OTP_SEED` which; `peers/megaco/run` makes many.
#![expect(clippy::print_stderr, reason = "a test talks to people")]

mod grammar;
mod known;

use std::collections::{BTreeMap, HashMap};
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use grammar::{Dice, Grammar};
use known::{FORM, KNOWN, Known};
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
        tercet_testing::skip("erlang", "no Erlang with its application megaco");
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
        tally.exchange(&mut peer, &text, &message);
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

/// A codec and a direction, with what does not agree there.
type Findings = Vec<(&'static str, &'static str, Option<String>)>;

impl Tally {
    fn exchange(&mut self, peer: &mut Peer, text: &str, message: &MegacoMessage<'_>) {
        let (findings, same) = compare(peer, text, message);
        for codec in same {
            *self.same_octets.entry(codec).or_default() += 1;
        }
        let mut asked = HashMap::new();
        for (codec, way, finding) in findings {
            let Some(finding) = finding else {
                *self.agreed.entry(format!("{codec} {way}")).or_default() += 1;
                continue;
            };
            match explain(peer, &mut asked, codec, way, (text, message)) {
                Some(reasons) => {
                    for known in reasons {
                        *self.explained.entry(format!("{codec} {way}: {}", known.reason)).or_default() += 1;
                    }
                }
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
}

/// Asks OTP about a message, and codecs that write the same octets.
fn compare(peer: &mut Peer, text: &str, message: &MegacoMessage<'_>) -> (Findings, Vec<&'static str>) {
    let ours: Vec<Result<Vec<u8>, String>> = CODECS.iter().map(|codec| encode(codec, message)).collect();
    let answer = peer.ask(text.as_bytes(), &ours);
    let term = ours[4].as_deref().unwrap_or_default();
    let (mut findings, mut same) = (Findings::new(), Vec::new());
    // The text itself, then what we made of it.
    for (codec, (good, said)) in std::iter::once(&"text").chain(&CODECS).zip(&answer) {
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
        findings.push((codec, "ours to OTP", finding));
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
            same.push(*codec);
        }
        findings.push((codec, "OTP to us", finding));
    }
    (findings, same)
}

/// The differences that are known without which OTP and we agree: one if that is enough, or as few as there can be.
fn explain(
    peer: &mut Peer,
    asked: &mut HashMap<String, Findings>,
    codec: &str,
    way: &str,
    (original, message): (&str, &MegacoMessage<'_>),
) -> Option<Vec<&'static Known>> {
    let text = String::from_utf8(encode("compact", message).ok()?).unwrap();
    let version = message.mess.version;
    let mut agrees_without = |peer: &mut Peer, all: &[&Known]| {
        let without = all.iter().fold(text.clone(), |text, known| (known.without)(&text));
        let findings = asked.entry(without).or_insert_with_key(|without| {
            let message =
                read_message(without.as_bytes()).unwrap_or_else(|error| panic!("{error}: {without}"));
            compare(peer, without, &message).0
        });
        findings.iter().any(|found| found.0 == codec && found.1 == way && found.2.is_none())
    };
    let mut all: Vec<&Known> = KNOWN.iter().filter(|known| known.holds(codec, way, version, &text)).collect();
    // Nothing that is gone explains what is not there in another form of the same message.
    if codec == "text" && agrees_without(peer, &[]) {
        let findings = compare(peer, &(FORM.without)(original), message).0;
        let agrees = findings.iter().any(|found| found.0 == codec && found.1 == way && found.2.is_none());
        return (agrees && FORM.holds(codec, way, version, original)).then(|| vec![&FORM]);
    }
    if let Some(one) = all.iter().find(|one| agrees_without(peer, &[**one])) {
        return Some(vec![one]);
    }
    if all.is_empty() || !agrees_without(peer, &all) {
        return None;
    }
    let mut index = 0;
    while index < all.len() {
        let mut fewer = all.clone();
        fewer.remove(index);
        if agrees_without(peer, &fewer) { all = fewer } else { index += 1 }
    }
    Some(all)
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
