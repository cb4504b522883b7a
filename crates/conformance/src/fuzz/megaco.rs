//! Megaco: a message that was read is written by the same encoding, and read as the same.

use std::sync::LazyLock;

use tercet_megaco::codec::{Codec, Encoding};
use tercet_megaco::digit_map::DigitMap;
use tercet_megaco::model::{DigitMapValue, LocalRemoteDescriptor};
use tercet_megaco::packages::Packages;
use tercet_megaco::sdp::Sdp;

use super::told;

static PACKAGES: LazyLock<Packages> = LazyLock::new(Packages::default);

fn check(encoding: Encoding, input: &[u8]) {
    let message = match encoding.decode(input) {
        Ok(message) => message,
        Err(error) => {
            assert!(error.at <= input.len(), "{error} in {} octets", input.len());
            told(&error);
            if let Err(error) = encoding.decode_version_and_mid(input) {
                told(&error);
            }
            return;
        }
    };
    let mut written = Vec::new();
    if let Err(error) = encoding.encode(&message, &mut written) {
        // A message may be sayable in one version only, or not at all in the other encodings; the reason is told.
        return told(&error);
    }
    let again = encoding.decode(&written);
    let again = again.unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&written)));
    assert!(again == message, "{message:?} became {again:?}");
    let mut second = Vec::new();
    encoding.encode(&again, &mut second).expect("what was written before");
    assert!(second == written, "{written:02X?} became {second:02X?}");
    assert!(message.clone() == message, "a copy is equal");
    let _ = format!("{message:?}");
    // What is found is told in lines whose length does not follow that of the message.
    for finding in PACKAGES.check(&message) {
        assert!(finding.to_string().len() < 8192, "{finding}");
    }
    // Whatever the encoding, another one has the message or says why not.
    for (_, other) in Encoding::ALL {
        written.clear();
        if let Err(error) = other.encode(&message, &mut written) {
            told(&error);
        }
    }
}

pub(super) fn text(input: &[u8]) {
    check(Encoding::Pretty, input);
    check(Encoding::Compact, input);
}

pub(super) fn binary(input: &[u8]) {
    let Some((first, octets)) = input.split_first() else { return };
    check(if first % 2 == 0 { Encoding::Ber } else { Encoding::Per }, octets);
}

pub(super) fn terms(input: &[u8]) {
    let Some((first, octets)) = input.split_first() else { return };
    check(Encoding::Etf { short: first & 1 == 1, zlib: first & 2 == 2 }, octets);
}

/// Messages of our own, with most of the grammar.
const MESSAGES: &[&str] = &[
    "MEGACO/1 [124.124.124.222] Transaction = 9998 { Context = - { ServiceChange = ROOT { Services { Method = Restart, \
     ServiceChangeAddress = 55555, Profile = ResGW/1, Reason = \"901 Cold Boot\" } } } }",
    "MEGACO/1 [123.123.123.4]:55555 Reply = 9998 { Context = - { ServiceChange = ROOT { Services { \
     ServiceChangeAddress = 55555, Profile = ResGW/1 } } } }",
    "!/1 <gw.example.net>:2944 T=9999{C=-{MF=A4444{M{ST=1{O{MO=SR,RV=OFF,RG=OFF}},TS{BF=OFF,SI=IV}},E=2222{al/of}}}}",
    "MEGACO/2 MGC Transaction = 10003 { Context = $ { Topology { A1, A2, Bothway }, Add = A4444 { Media { Stream = 1 { \
     LocalControl { Mode = SendReceive, nt/jit = 40, tdmc/gain = [1:5] }, Local {\nv=0\nc=IN IP4 $\nm=audio $ RTP/AVP 4\n} } }, \
     DigitMap = dm0 { T:10, S:5, L:20, (0|00|[1-7]xxx|8xxxxxxx|Fxxxxxxx|Exx|91xxxxxxxxxx|9011x.) }, Audit { Media, Events } } } }",
    "MEGACO/3 mtp{0F2A} Transaction = 4 { Context = 7 { Priority = 3, Emergency, ContextAudit { Topology }, \
     Modify = A1 { Signals { SL = 7 { cg/dt { SignalType = OnOff, Duration = 200, NotifyCompletion = { TimeOut, IntByEvent } } } }, \
     Events = 5 { al/on { strict = state }, dd/ce { DigitMap = dm1, KeepActive }, cg/rt { Embed { Signals { cg/bt }, Events = 6 { al/fl } } } } }, \
     Subtract = * { Audit { Statistics } }, Move = b/*, AuditValue = W-x { Audit { Packages } } } }",
    "MEGACO/1 [::1] Error = 406 { \"Version not supported\" }",
    "MEGACO/2 [1.2.3.4] TransactionResponseAck { 1, 4-8 } Pending = 5 { } Reply = 6 { ImmAckRequired, Context = 1 { \
     Notify = A1, Error = 430 { \"Unknown\" } } } Transaction = 7 { Context = 1 { Notify = t1 { ObservedEvents = 1 { \
     19990729T22000001:al/of { init = false } } } } }",
    "Authentication = 0xEFCDAB89:0x12345678:0x1234567889ABCDEF76543210 MEGACO/1 [1.2.3.4] Transaction = 1 { Context = 1 { \
     Subtract = A1 } }",
];

/// The messages as the encodings have them.
static SEEDS: LazyLock<Vec<(Encoding, Vec<u8>)>> = LazyLock::new(|| {
    let mut seeds = Vec::new();
    for text in MESSAGES {
        let message =
            Encoding::Pretty.decode(text.as_bytes()).unwrap_or_else(|error| panic!("{error}: {text}"));
        for (_, encoding) in Encoding::ALL {
            let mut octets = Vec::new();
            if encoding.encode(&message, &mut octets).is_ok() {
                seeds.push((*encoding, octets));
            }
        }
    }
    seeds
});

fn seeds(first: impl Fn(Encoding) -> Option<&'static [u8]>) -> Vec<Vec<u8>> {
    let seed = |(encoding, octets): &(Encoding, Vec<u8>)| Some([first(*encoding)?, octets].concat());
    SEEDS.iter().filter_map(seed).collect()
}

pub(super) fn text_seeds() -> Vec<Vec<u8>> {
    seeds(|encoding| matches!(encoding, Encoding::Pretty | Encoding::Compact).then_some(&[][..]))
}

pub(super) fn binary_seeds() -> Vec<Vec<u8>> {
    seeds(|encoding| match encoding {
        Encoding::Ber => Some(&[0][..]),
        Encoding::Per => Some(&[1]),
        _ => None,
    })
}

pub(super) fn term_seeds() -> Vec<Vec<u8>> {
    seeds(|encoding| match encoding {
        Encoding::Etf { short: false, zlib: false } => Some(&[0][..]),
        Encoding::Etf { short: true, zlib: false } => Some(&[1]),
        Encoding::Etf { short: false, zlib: true } => Some(&[2]),
        Encoding::Etf { short: true, zlib: true } => Some(&[3]),
        _ => None,
    })
}

/// A map and digits: what is parsed is printed and parsed as the same, and evaluation ends in few steps.
pub(super) fn digit_map(input: &[u8]) {
    let (body, digits) = input.split_at(input.iter().position(|octet| *octet == 0).unwrap_or(input.len()));
    let Ok(text) = std::str::from_utf8(body) else { return };
    let mut value = DigitMapValue { digit_map_body: text.into(), ..DigitMapValue::default() };
    let map = match DigitMap::new(&value) {
        Ok(map) => map,
        Err(error) => return told(&error),
    };
    let text = map.to_string();
    value.digit_map_body = text.as_str().into();
    match DigitMap::new(&value) {
        Ok(again) => assert!(again.to_string() == text, "{text} became {again}"),
        Err(error) => panic!("{text}: {error}"),
    }
    let mut evaluation = map.begin(0);
    let mut now = 0;
    for digit in digits {
        now += u64::from(*digit) * 10;
        if evaluation.digit(now, *digit, u64::from(digit % 3) * 1000).is_some() {
            break;
        }
        assert!(evaluation.deadline() >= now, "time goes forward");
    }
}

pub(super) fn digit_map_seeds() -> Vec<Vec<u8>> {
    [
        "(0|00|[1-7]xxx|8xxxxxxx|Fxxxxxxx|Exx|91xxxxxxxxxx|9011x.)\x0091123",
        "(T1S2L3Z4.|[0-9a-kS].)\x001234",
        "x.\x000",
        "S0|L[2-46]x.|E\x0041",
    ]
    .map(|text| text.as_bytes().to_vec())
    .into()
}

/// What is read is written octet for octet; the fields alone make lines that say the same; the places of what is wrong
/// are in the text; a descriptor has the same lines.
pub(super) fn sdp(input: &[u8]) {
    let sdp = Sdp::read(input);
    assert!(sdp.to_text().as_deref() == Ok(input), "{sdp:?}");
    for error in sdp.faults() {
        assert!(error.at <= input.len(), "{error} in {} octets", input.len());
        told(&error);
    }
    let fields = sdp.sessions.iter().flat_map(|session| session.fields().cloned());
    let made: Sdp<'_> = fields.collect();
    match made.to_text() {
        Ok(text) => {
            assert!(Sdp::read(&text).sessions == sdp.sessions, "{} from {sdp:?}", text.escape_ascii())
        }
        // Octets that no line can have.
        Err(error) => assert!(input.contains(&0), "{error} from {sdp:?}"),
    }
    for section in sdp.sessions.iter().flat_map(|session| session.media()) {
        _ = (section.connection(), section.attributes().count());
    }
    let descriptor = LocalRemoteDescriptor::Text(input.into());
    let groups = LocalRemoteDescriptor::Groups(descriptor.groups());
    match groups.sdp() {
        Ok(same) => assert!(same.sessions == sdp.sessions, "{same:?} is not {sdp:?}"),
        Err(error) => told(&error),
    }
}

pub(super) fn sdp_seeds() -> Vec<Vec<u8>> {
    [
        "v=0\r\no=- 2890844526 2890842807 IN IP4 192.0.2.5\r\ns=-\r\nc=IN IP4 233.252.0.17/127/3\r\nb=AS:128\r\nt=1 2\r\n\
         r=7d 1h 0 25h\r\nz=2882844526 -1h 2898848070 0\r\nk=clear:secret\r\na=recvonly\r\nm=audio 49170/2 RTP/AVP 0 97\r\n\
         a=rtpmap:97 L16/8000/2\r\na=fmtp:97 a=1\r\na=ptime:20\r\na=quality:10\r\na=own\r\n",
        "\nv=0\nc=IN IP4 $\nm=audio $ RTP/AVP $\n\nv=0\nm=video $/2 RTP/AVP 31\na=maxptime:$",
        "v=$\r\nc=IN IP6 FF15::101/3\r\nb=X-own:$\r\nno line\r\nm=image 54111 TCP t38\r\ni=a fax\r\nq=unknown\r\n",
    ]
    .map(|text| text.as_bytes().to_vec())
    .into()
}
