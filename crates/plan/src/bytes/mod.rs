//! Plans as bytes: what `tercet compile --plan` writes.
//!
//! # Layout
//!
//! | part | form |
//! |---|---|
//! | magic | the eight octets of [`MAGIC`] |
//! | version | two octets, big-endian: [`VERSION`] |
//! | sum | eight octets, big-endian: FNV-1a with 64 bits over all octets behind it |
//! | counts | names, nodes, fields, registers, defaults, restrictions: what ids are checked against |
//! | shape | [`Shape`] |
//! | programs | a list of [`Code`], all for this shape |
//!
//! Everything behind the sum is made of few forms, in the order of the members in `records.rs`, with nothing in between:
//!
//! - a whole number: groups of seven bits, the least first, each octet but the last with its top bit set, and no more
//!   groups than needed; one with a sign is `2n` for `n` from 0, and `-2n - 1` below it;
//! - a BOOLEAN: one octet, 0 or 1;
//! - an optional value: such an octet, then the value if it is there;
//! - a list, a text (UTF-8): the number of elements or octets, then these;
//! - a choice: the number of the alternative in one octet, then its members;
//! - a record: its members.
//!
//! A reader refuses another version: a file is made again from the specifications, which are what lasts.

mod check;
mod field;
mod records;

use crate::shape::Shape;
use crate::{Code, Plan};
use field::{Counts, Reader, Stored};
use std::fmt;
use std::sync::Arc;

/// The first octets of a plan file. Like those of PNG they do not survive a transfer as text.
pub const MAGIC: [u8; 8] = *b"\x89TERC\r\n\x1A";

/// The version of the layout.
pub const VERSION: u16 = 1;

/// Octets before what the sum is made of.
const HEADER: usize = 18;

/// Levels of nesting in constants, keys and restrictions.
const DEPTH: u32 = 32;

/// Reports why bytes are not a plan, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Error {
    /// Octets before the fault.
    pub offset: u64,
    /// What is wrong.
    pub kind: ErrorKind,
}

/// The faults of plan files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The first octets are not [`MAGIC`].
    Magic,
    /// The layout has this version, which is not [`VERSION`].
    Version(u16),
    /// The sum is not that of the contents.
    Sum,
    /// The bytes end too early.
    End,
    /// Bytes follow the last program.
    Trailing,
    /// A number does not fit its member, or has more octets than needed.
    Number,
    /// A BOOLEAN that is neither 0 nor 1, or the number of an alternative that there is not.
    Choice,
    /// A text is not UTF-8.
    Text,
    /// Nesting is too deep.
    Depth,
    /// An index, range, width or number of entries does not fit the other tables: the name of the table.
    Index(&'static str),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            ErrorKind::Magic => f.write_str("not a plan file"),
            ErrorKind::Version(version) => {
                write!(
                    f,
                    "plan file of version {version}, not {VERSION}; make it again with `tercet compile --plan`"
                )
            }
            ErrorKind::Sum => f.write_str("damaged plan file: wrong checksum"),
            ErrorKind::End => f.write_str("plan file ends too early"),
            ErrorKind::Trailing => f.write_str("bytes after the end of the plan"),
            ErrorKind::Number => f.write_str("invalid number in plan file"),
            ErrorKind::Choice => f.write_str("unknown alternative in plan file"),
            ErrorKind::Text => f.write_str("text in plan file is not UTF-8"),
            ErrorKind::Depth => f.write_str("values in plan file nested too deep"),
            ErrorKind::Index(table) => write!(f, "inconsistent table of {table} in plan file"),
        }?;
        write!(f, " at offset {:#x}", self.offset)
    }
}

impl std::error::Error for Error {}

/// Returns plans as bytes; `None` if there are none, or they do not have one shape.
pub fn write(plans: &[Plan]) -> Option<Vec<u8>> {
    let shape = &plans.first()?.shape;
    if plans.iter().any(|plan| !Arc::ptr_eq(&plan.shape, shape) && plan.shape != *shape) {
        return None;
    }
    let mut out = Vec::from(MAGIC);
    out.extend(VERSION.to_be_bytes());
    out.extend([0; 8]);
    Counts::of(shape).write(&mut out);
    shape.write(&mut out);
    (plans.len() as u32).write(&mut out);
    for plan in plans {
        plan.code.write(&mut out);
    }
    seal(&mut out);
    Some(out)
}

/// Writes the sum of the contents into the header, if there is one: for tests that change contents.
pub fn seal(octets: &mut [u8]) {
    if let Some((header, contents)) = octets.split_at_mut_checked(HEADER) {
        header[HEADER - 8..].copy_from_slice(&sum(contents).to_be_bytes());
    }
}

/// Reads plans from bytes. They share one shape.
///
/// # Errors
/// [`Error`] for everything but what [`write`] returns: every index is one of its table, and what follows from other tables
/// is made again and compared. So plans of any bytes can be followed without a panic, in bounded time and memory.
pub fn read(octets: &[u8]) -> Result<Vec<Plan>, Error> {
    let fault = |offset: usize, kind| Error { offset: offset as u64, kind };
    let (header, contents) = octets.split_at_checked(HEADER).unwrap_or((octets, &[]));
    if !header.starts_with(&MAGIC) {
        return Err(fault(0, ErrorKind::Magic));
    }
    let &[.., high, low, _, _, _, _, _, _, _, _] = header else {
        return Err(fault(octets.len(), ErrorKind::End));
    };
    if header.len() < HEADER {
        return Err(fault(octets.len(), ErrorKind::End));
    }
    let version = u16::from_be_bytes([high, low]);
    if version != VERSION {
        return Err(fault(MAGIC.len(), ErrorKind::Version(version)));
    }
    if header[HEADER - 8..] != sum(contents).to_be_bytes() {
        return Err(fault(HEADER - 8, ErrorKind::Sum));
    }
    let mut reader = Reader::new(octets, HEADER);
    reader.counts = Counts::read(&mut reader)?;
    let at = reader.at();
    let shape = Shape::read(&mut reader)?;
    if Counts::of(&shape) != reader.counts {
        return Err(fault(HEADER, ErrorKind::Index("counts")));
    }
    check::shape(&shape).map_err(|table| fault(at, ErrorKind::Index(table)))?;
    let shape = Arc::new(shape);
    let mut plans = Vec::new();
    for _ in 0..u32::read(&mut reader)? {
        let at = reader.at();
        let code = Code::read(&mut reader)?;
        check::code(&shape, &code).map_err(|table| fault(at, ErrorKind::Index(table)))?;
        plans.push(Plan { shape: Arc::clone(&shape), code });
    }
    match (plans.is_empty(), reader.at() == octets.len()) {
        (true, _) => Err(fault(reader.at(), ErrorKind::End)),
        (_, false) => Err(fault(reader.at(), ErrorKind::Trailing)),
        (false, true) => Ok(plans),
    }
}

/// FNV-1a.
fn sum(octets: &[u8]) -> u64 {
    octets.iter().fold(0xCBF2_9CE4_8422_2325, |sum, octet| {
        (sum ^ u64::from(*octet)).wrapping_mul(0x0000_0100_0000_01B3)
    })
}

impl Counts {
    fn of(shape: &Shape) -> Self {
        let of = |length: usize| length as u32;
        Self {
            names: of(shape.names().count()),
            nodes: of(shape.nodes.len()),
            fields: of(shape.fields.len()),
            registers: shape.registers,
            defaults: of(shape.defaults.len()),
            restrictions: of(shape.restrictions.list.len()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sum_is_fnv_1a() {
        // The vectors of the draft (draft-eastlake-fnv, "FNV-1a 64").
        assert_eq!(sum(b""), 0xCBF2_9CE4_8422_2325);
        assert_eq!(sum(b"a"), 0xAF63_DC4C_8601_EC8C);
        assert_eq!(sum(b"foobar"), 0x8594_4171_F739_67E8);
    }

    #[test]
    fn headers_that_are_not_ours_are_told_apart() {
        let kind = |octets: &[u8]| read(octets).map_err(|error| (error.offset, error.kind));
        assert_eq!(kind(b"PK\x03\x04"), Err((0, ErrorKind::Magic)));
        assert_eq!(kind(&MAGIC), Err((8, ErrorKind::End)));
        let mut octets = Vec::from(MAGIC);
        octets.extend([0, 9, 0, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(kind(&octets), Err((8, ErrorKind::Version(9))));
        octets[9] = VERSION as u8;
        assert_eq!(kind(&octets), Err((10, ErrorKind::Sum)));
        seal(&mut octets);
        assert_eq!(kind(&octets), Err((18, ErrorKind::End)));
        assert_eq!(write(&[]), None);
    }
}
