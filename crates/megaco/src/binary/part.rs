//! Parts of messages in BER, and what is around them.

use super::write::write;
use super::{Binary, Rules};
use crate::model::TerminationId;
use crate::parts::{Around, Part};
use crate::{Error, Result};

/// SEQUENCE and SEQUENCE OF.
pub(super) const SEQUENCE: u8 = 0x30;

/// The tag of a component that is constructed; the modules have automatic tags.
pub(super) const fn constructed(number: u8) -> u8 {
    0xa0 | number
}

/// The tag of a component that is primitive.
pub(super) const fn primitive(number: u8) -> u8 {
    0x80 | number
}

/// Writes a part as it stands in a message.
pub(crate) fn write_part(part: Part<'_, '_>, binary: &Binary, version: u8, out: &mut Vec<u8>) -> Result<()> {
    match part {
        Part::Transaction(part) => write(part, binary, version, Rules::Ber, out),
        Part::ActionRequest(part) => write(part, binary, version, Rules::Ber, out),
        Part::ActionReply(part) => write(part, binary, version, Rules::Ber, out),
        Part::CommandRequest(part) => write(part, binary, version, Rules::Ber, out),
        Part::CommandReply(part) => write(part, binary, version, Rules::Ber, out),
        Part::Descriptor(part) => write(part, binary, version, Rules::Ber, out),
    }
}

/// Writes what is around parts, and them.
pub(crate) fn join_parts<P: AsRef<[u8]>>(
    around: Around<'_>,
    parts: &[P],
    binary: &Binary,
    version: u8,
    out: &mut Vec<u8>,
) -> Result<()> {
    let parts: Vec<&[u8]> = parts.iter().map(AsRef::as_ref).collect();
    let whole = match around {
        Around::Message(m_id) => {
            let mut sender = Vec::new();
            write(m_id, binary, version, Rules::Ber, &mut sender)?;
            let version = element(primitive(0), &[&[version]])?;
            let m_id = element(constructed(1), &[&sender])?;
            let body = element(constructed(2), &[&element(constructed(1), &parts)?])?;
            element(SEQUENCE, &[&element(constructed(1), &[&version, &m_id, &body])?])?
        }
        Around::Request(id) => {
            let actions = element(constructed(1), &parts)?;
            element(constructed(0), &[&integer(id)?, &actions])?
        }
        Around::Reply { id, immediate_ack } => {
            let ack: &[u8] = if immediate_ack { &[primitive(1), 0] } else { &[] };
            let result = element(constructed(2), &[&element(constructed(1), &parts)?])?;
            element(constructed(2), &[&integer(id)?, ack, &result])?
        }
        Around::Context(id) => element(SEQUENCE, &[&integer(id)?, &element(constructed(3), &parts)?])?,
        Around::Add(termination) => command(0, termination, &parts, binary, version)?,
        Around::Move(termination) => command(1, termination, &parts, binary, version)?,
        Around::Modify(termination) => command(2, termination, &parts, binary, version)?,
    };
    out.extend_from_slice(&whole);
    Ok(())
}

/// A CommandRequest of an AmmRequest.
fn command(
    number: u8,
    termination: &TerminationId<'_>,
    parts: &[&[u8]],
    binary: &Binary,
    version: u8,
) -> Result<Vec<u8>> {
    let mut terminations = Vec::new();
    write(termination, binary, version, Rules::Ber, &mut terminations)?;
    let terminations = element(constructed(0), &[&terminations])?;
    let request = element(constructed(number), &[&terminations, &element(constructed(1), parts)?])?;
    element(SEQUENCE, &[&element(constructed(0), &[&request])?])
}

/// An element with its contents in the definite form.
fn element(tag: u8, contents: &[&[u8]]) -> Result<Vec<u8>> {
    let length: usize = contents.iter().map(|part| part.len()).sum();
    let mut out = Vec::with_capacity(length + 6);
    out.push(tag);
    match u8::try_from(length) {
        Ok(length @ 0..0x80) => out.push(length),
        _ => {
            let octets = u32::try_from(length)
                .map_err(|_| Error::new(0, "a message of less than 4 GiB"))?
                .to_be_bytes();
            let zeros = octets.iter().take_while(|octet| **octet == 0).count();
            out.push(0x84 - zeros as u8);
            out.extend_from_slice(&octets[zeros..]);
        }
    }
    contents.iter().for_each(|part| out.extend_from_slice(part));
    Ok(out)
}

/// A number as component 0.
fn integer(number: u32) -> Result<Vec<u8>> {
    let mut octets = vec![0];
    octets.extend_from_slice(&number.to_be_bytes());
    // X.690 8.3.2: the first nine bits are not all the same.
    let zeros = octets.windows(2).take_while(|pair| pair[0] == 0 && pair[1] < 0x80).count();
    element(primitive(0), &[&octets[zeros..]])
}
