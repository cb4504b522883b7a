//! The three messages of NTLM (MS-NLMP 2.2.1), all numbers little-endian.

use crate::error::{Error, ErrorKind, Result};

/// Flags (2.2.2.5).
pub(super) mod flag {
    pub(crate) const UNICODE: u32 = 0x0000_0001;
    pub(crate) const REQUEST_TARGET: u32 = 0x0000_0004;
    pub(crate) const SIGN: u32 = 0x0000_0010;
    pub(crate) const SEAL: u32 = 0x0000_0020;
    pub(crate) const NTLM: u32 = 0x0000_0200;
    pub(crate) const ALWAYS_SIGN: u32 = 0x0000_8000;
    /// Session security of NTLMv2.
    pub(crate) const EXTENDED: u32 = 0x0008_0000;
    pub(crate) const TARGET_INFO: u32 = 0x0080_0000;
    pub(crate) const KEYS_OF_128: u32 = 0x2000_0000;
    pub(crate) const KEY_EXCHANGE: u32 = 0x4000_0000;
}

/// Identifiers of AV_PAIR (2.2.2.1).
pub(super) mod av {
    pub(crate) const END: u16 = 0;
    pub(crate) const FLAGS: u16 = 6;
    pub(crate) const TIMESTAMP: u16 = 7;
    pub(crate) const TARGET_NAME: u16 = 9;
    pub(crate) const CHANNEL_BINDINGS: u16 = 10;
}

/// Bit of [`av::FLAGS`]: the AUTHENTICATE_MESSAGE has a MIC.
const HAS_MIC: u32 = 2;
const SIGNATURE: &[u8] = b"NTLMSSP\0";
const CHALLENGE: u32 = 2;
/// Octets in front of the payload of a CHALLENGE_MESSAGE: with the target's information, and in the form of old that has none.
const CHALLENGE_HEADER: usize = 48;
const OLD_CHALLENGE_HEADER: usize = 32;
/// Octets in front of the payload of an AUTHENTICATE_MESSAGE, and where the MIC stands in them.
const AUTHENTICATE_HEADER: usize = 88;
const MIC: usize = 72;

/// NEGOTIATE_MESSAGE (2.2.1.1), without a domain, workstation or version.
pub(super) fn negotiate(flags: u32) -> Vec<u8> {
    [SIGNATURE, &1_u32.to_le_bytes(), &flags.to_le_bytes(), &[0; 24]].concat()
}

/// What matters of a CHALLENGE_MESSAGE (2.2.1.2).
#[derive(Debug)]
pub(super) struct Challenge<'m> {
    pub(super) flags: u32,
    pub(super) nonce: [u8; 8],
    /// AV_PAIRs of the server without their end, if it has sent any.
    pub(super) target: Option<Vec<(u16, &'m [u8])>>,
}

impl<'m> Challenge<'m> {
    pub(super) fn decode(message: &'m [u8]) -> Result<Self> {
        if !message.starts_with(SIGNATURE) {
            return Err(fault("a challenge that is none of NTLM", 0));
        }
        let kind = u32::from_le_bytes(take(message, 8)?);
        if kind != CHALLENGE {
            return Err(fault(format_args!("message {kind}, not the challenge"), 8));
        }
        if message.len() < OLD_CHALLENGE_HEADER {
            return Err(fault("a challenge that ends early", message.len()));
        }
        let flags = u32::from_le_bytes(take(message, 20)?);
        let nonce = take(message, 24)?;
        let target = if flags & flag::TARGET_INFO == 0 { None } else { Some(target(message)?) };
        Ok(Self { flags, nonce, target })
    }

    /// The time that the server tells, if it does: it wants a MIC then (3.1.5.1.2).
    pub(super) fn timestamp(&self) -> Option<u64> {
        let pairs = self.target.as_deref().unwrap_or_default();
        let value = pairs.iter().find(|(id, _)| *id == av::TIMESTAMP)?.1;
        value.try_into().ok().map(u64::from_le_bytes)
    }

    /// The server's information, with what the client adds to it (3.1.5.1.2). Empty where the server has sent none.
    pub(super) fn answer(&self, has_mic: bool, binding: [u8; 16], service: &[u8]) -> Vec<u8> {
        let Some(target) = &self.target else {
            return Vec::new();
        };
        let own = [av::FLAGS, av::TARGET_NAME, av::CHANNEL_BINDINGS];
        let flags = target.iter().find(|(id, _)| *id == av::FLAGS);
        let flags = flags.and_then(|(_, value)| (*value).try_into().ok()).map_or(0, u32::from_le_bytes);
        let flags = if has_mic { flags | HAS_MIC } else { flags & !HAS_MIC };
        let mut out = Vec::new();
        for &(id, value) in target.iter().filter(|(id, _)| !own.contains(id)) {
            put_pair(&mut out, id, value);
        }
        if flags != 0 {
            put_pair(&mut out, av::FLAGS, &flags.to_le_bytes());
        }
        put_pair(&mut out, av::CHANNEL_BINDINGS, &binding);
        put_pair(&mut out, av::TARGET_NAME, service);
        put_pair(&mut out, av::END, &[]);
        out
    }
}

fn put_pair(out: &mut Vec<u8>, id: u16, value: &[u8]) {
    // Values of the server have a length of two octets, ours are shorter by far: `Ntlm` sees to it.
    let length = u16::try_from(value.len()).unwrap_or(u16::MAX);
    out.extend_from_slice(&id.to_le_bytes());
    out.extend_from_slice(&length.to_le_bytes());
    out.extend_from_slice(value);
}

/// TargetInfo: AV_PAIRs up to the one that says that there are no more.
fn target(message: &[u8]) -> Result<Vec<(u16, &[u8])>> {
    let length = usize::from(u16::from_le_bytes(take(message, 40)?));
    let begin = u32::from_le_bytes(take(message, 44)?) as usize;
    let outside = || fault(format_args!("target information of {length} bytes at {begin}"), 40);
    let end = begin.checked_add(length).ok_or_else(outside)?;
    let info = message.get(..end).filter(|_| begin >= CHALLENGE_HEADER).ok_or_else(outside)?;
    let mut pairs = Vec::new();
    let mut at = begin;
    loop {
        let id = u16::from_le_bytes(take(info, at)?);
        let length = usize::from(u16::from_le_bytes(take(info, at + 2)?));
        if id == av::END {
            return Ok(pairs);
        }
        let value = info.get(at + 4..at + 4 + length);
        let value =
            value.ok_or_else(|| fault(format_args!("attribute {id} of the target ends early"), at))?;
        if id == av::FLAGS && length != 4 || id == av::TIMESTAMP && length != 8 {
            return Err(fault(format_args!("attribute {id} of the target has {length} bytes"), at));
        }
        pairs.push((id, value));
        at += 4 + length;
    }
}

/// AUTHENTICATE_MESSAGE (2.2.1.3).
#[derive(Debug, Default)]
pub(super) struct Authenticate {
    pub(super) nt_response: Vec<u8>,
    pub(super) domain: Vec<u8>,
    pub(super) user: Vec<u8>,
    pub(super) workstation: Vec<u8>,
    pub(super) session_key: Vec<u8>,
    pub(super) flags: u32,
}

impl Authenticate {
    /// The message with a MIC of zeros. Of the response of LM, which is weak, there are zeros too.
    pub(super) fn encode(&self) -> Result<Vec<u8>> {
        let mut header = [SIGNATURE, &3_u32.to_le_bytes()].concat();
        let mut payload = Vec::new();
        let fields = [
            &[0; 24],
            self.nt_response.as_slice(),
            &self.domain,
            &self.user,
            &self.workstation,
            &self.session_key,
        ];
        for field in fields {
            let length = u16::try_from(field.len()).ok();
            let at = u32::try_from(AUTHENTICATE_HEADER + payload.len()).ok();
            let (Some(length), Some(at)) = (length, at) else {
                let message = format!("SASL: NTLM: a field of {} bytes", field.len());
                return Err(Error::new(ErrorKind::Limit, message));
            };
            header.extend_from_slice(&length.to_le_bytes());
            header.extend_from_slice(&length.to_le_bytes());
            header.extend_from_slice(&at.to_le_bytes());
            payload.extend_from_slice(field);
        }
        header.extend_from_slice(&self.flags.to_le_bytes());
        header.resize(AUTHENTICATE_HEADER, 0);
        header.append(&mut payload);
        Ok(header)
    }
}

/// Puts the MIC into an AUTHENTICATE_MESSAGE.
pub(super) fn put_mic(message: &mut [u8], mic: [u8; 16]) {
    if let Some(place) = message.get_mut(MIC..MIC + mic.len()) {
        place.copy_from_slice(&mic);
    }
}

/// Text as the messages have it: UTF-16, little-endian.
pub(super) fn unicode(text: &str) -> Vec<u8> {
    text.encode_utf16().flat_map(u16::to_le_bytes).collect()
}

fn take<const N: usize>(message: &[u8], at: usize) -> Result<[u8; N]> {
    let octets = message.get(at..).and_then(<[u8]>::first_chunk);
    octets.copied().ok_or_else(|| fault("a challenge that ends early", message.len()))
}

#[cold]
fn fault(message: impl std::fmt::Display, at: usize) -> Error {
    Error::at(ErrorKind::Auth, format!("SASL: NTLM: {message}"), at as u64)
}
