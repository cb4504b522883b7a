//! File framing: what stands around and between the octets of records, taken out before records are looked for.
//!
//! Block headers stand inside of records where records cross blocks, so that framing of this kind is a reader of its own:
//! it hands on the octets that belong to records and fillers, counts the others, and knows where in the file each octet
//! stood.

use super::format::{RecordFormat, Told};
use super::ts32297::{FILE_HEADER, FileHeader, NOT_KNOWN};
use crate::sequence::Sequence;
use std::collections::VecDeque;
use std::fmt;
use std::io::{ErrorKind, Read, Result};

/// What stands around and between records, other than elements and filler.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum FileFraming {
    /// Nothing.
    #[default]
    Plain,
    /// Blocks of a fixed size.
    Blocks {
        /// Octets of a block, its header included.
        size: u32,
        /// Octets of a block's header.
        header: u16,
        /// Whether the first two octets of the header tell how many octets are used, with or without the header: the
        /// rest of the block is passed over, whatever it is.
        used: Used,
    },
    /// A length in front of each record.
    Prefix(Prefix),
    /// 3GPP TS 32.297: a header in front of the file and of each record.
    Ts32297,
}

/// What the header of a block tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Used {
    /// Nothing that is looked at.
    Unknown,
    /// The number of octets in use behind the header.
    Behind,
    /// The number of octets in use, the header included.
    WithHeader,
}

/// A length in front of each record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prefix {
    /// Its octets: 2 or 4.
    pub width: u8,
    /// Whether the lowest octet comes first.
    pub little: bool,
    /// Whether it counts itself.
    pub inclusive: bool,
    /// Octets behind it that have no meaning: two in record descriptor words.
    pub more: u8,
    /// Whether groups of records have such a prefix too, as blocks on mainframes have.
    pub grouped: bool,
}

impl Prefix {
    /// IBM's record descriptor word: 16 bits, the highest octet first, itself included, and two octets.
    pub const RDW: Self = Self { width: 2, little: false, inclusive: true, more: 2, grouped: false };
    /// The same in blocks with a descriptor word each.
    pub const BDW: Self = Self { grouped: true, ..Self::RDW };

    pub(super) const fn size(self) -> usize {
        self.width as usize + self.more as usize
    }

    /// The number of octets behind the prefix; nothing if it cannot be one.
    pub(super) fn payload(self, octets: &[u8]) -> Option<u64> {
        let value = match (self.width, octets) {
            (2, &[a, b, ..]) if self.little => u64::from(u16::from_le_bytes([a, b])),
            (2, &[a, b, ..]) => u64::from(u16::from_be_bytes([a, b])),
            (4, &[a, b, c, d, ..]) if self.little => u64::from(u32::from_le_bytes([a, b, c, d])),
            (4, &[a, b, c, d, ..]) => u64::from(u32::from_be_bytes([a, b, c, d])),
            _ => return None,
        };
        let descriptor = self.more == 0 || octets.get(2..4) == Some(&[0, 0]);
        let payload = if self.inclusive { value.checked_sub(self.size() as u64)? } else { value };
        (descriptor && payload > 0).then_some(payload)
    }
}

impl FileFraming {
    /// Whether it tells where records end, so that these need not be in BER.
    pub const fn has_lengths(&self) -> bool {
        matches!(self, Self::Prefix(_) | Self::Ts32297)
    }
}

impl fmt::Display for FileFraming {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Plain => f.write_str("plain"),
            Self::Ts32297 => f.write_str("ts32297"),
            Self::Blocks { size, header: 0, .. } => write!(f, "block:{size}"),
            Self::Blocks { size, header, used } => {
                write!(f, "block:{size}:{header}")?;
                f.write_str(match used {
                    Used::Unknown => "",
                    Used::Behind => ":used",
                    Used::WithHeader => ":used-incl",
                })
            }
            Self::Prefix(Prefix::RDW) => f.write_str("rdw"),
            Self::Prefix(Prefix::BDW) => f.write_str("bdw"),
            Self::Prefix(prefix) => {
                let order = if prefix.little { "le" } else { "be" };
                let inclusive = if prefix.inclusive { "-incl" } else { "" };
                write!(f, "u{}{order}{inclusive}", prefix.width * 8)
            }
        }
    }
}

/// Octets that are no part of records, by what they were, and what the headers of files said.
#[derive(Clone, Debug, Default)]
pub struct Carvings {
    /// Octets of headers.
    pub headers: u64,
    /// Octets that blocks do not use.
    pub unused: u64,
    /// Files begun, each with a header of TS 32.297.
    pub files: u64,
    /// Records that those headers announce, if all of them do.
    pub announced: Option<u64>,
    /// Records that had a header.
    pub seen: u64,
    /// What does not agree, the first cases.
    pub faults: Vec<String>,
    /// Records by their encoding rules, in the order of [`RecordFormat::ALL`], where headers or the caller told these.
    pub formats: [u64; 4],
    /// The headers of the first files.
    pub told: Vec<FileHeader>,
    /// The sequence numbers of all files.
    pub numbers: Sequence,
}

/// Faults that are kept.
const FAULTS: usize = 5;
/// Headers of files that are kept.
const HEADERS: usize = 100;

/// A reader of what is left when file framing is taken out.
#[derive(Debug)]
pub(super) struct Carved<R> {
    input: Ahead<R>,
    kind: FileFraming,
    /// Octets to hand on before the next header.
    pass: u64,
    /// Octets to pass over before that.
    skip: u64,
    /// Octets left of a group of records, or of a file.
    group: Option<u64>,
    out: u64,
    /// Where stretches begin: here and in the file.
    stretches: VecDeque<(u64, u64)>,
    /// The rules of records, whatever headers say.
    rules: Option<RecordFormat>,
    /// Stretches that are records in other rules than BER.
    told: VecDeque<Told>,
    /// Where the octets end that lengths in front of records tell of.
    borders: VecDeque<u64>,
    /// Whether those that have been passed are kept.
    held: bool,
    pub(super) carvings: Carvings,
}

impl<R: Read> Carved<R> {
    pub(super) fn new(input: R, kind: FileFraming, rules: Option<RecordFormat>) -> Self {
        let pass = if kind == FileFraming::Plain { u64::MAX } else { 0 };
        let foreign = rules.filter(|format| *format != RecordFormat::Ber && !kind.has_lengths());
        let told = foreign.map(|format| Told { format, start: 0, end: u64::MAX });
        let carvings = Carvings { announced: Some(0), ..Carvings::default() };
        Self {
            input: Ahead { input, octets: Vec::new(), at: 0, read: 0, ended: false },
            kind,
            pass,
            skip: 0,
            group: None,
            out: 0,
            stretches: VecDeque::new(),
            rules,
            told: told.into_iter().collect(),
            borders: VecDeque::new(),
            held: false,
            carvings,
        }
    }

    /// The offset in the file of what stands at an offset here.
    pub(super) fn original(&mut self, offset: u64) -> u64 {
        if self.held {
            let behind = self.stretches.partition_point(|stretch| stretch.0 <= offset);
            let stretch = self.stretches.get(behind.saturating_sub(1));
            return stretch.map_or(offset, |(here, there)| offset - here + there);
        }
        self.forget(offset);
        self.stretches.front().map_or(offset, |(here, there)| offset - here + there)
    }

    /// Whether offsets will be asked for again.
    pub(super) fn hold(&mut self, held: bool) {
        self.held = held;
    }

    /// Offsets before this one are not asked for again.
    pub(super) fn forget(&mut self, offset: u64) {
        while self.stretches.get(1).is_some_and(|next| next.0 <= offset) {
            self.stretches.pop_front();
        }
        while self.told.front().is_some_and(|told| told.end <= offset) {
            self.told.pop_front();
        }
        while self.borders.front().is_some_and(|border| *border <= offset) {
            self.borders.pop_front();
        }
    }

    /// Where the record ends that an offset here is in, if a length in front of it tells that.
    pub(super) fn border(&self, offset: u64) -> Option<u64> {
        let behind = self.borders.partition_point(|border| *border <= offset);
        self.borders.get(behind).copied()
    }

    /// The record in other rules than BER that an offset here is in, or the next one behind it.
    #[inline]
    pub(super) fn told(&self, offset: u64) -> Option<Told> {
        let behind = self.told.partition_point(|told| told.end <= offset);
        self.told.get(behind).copied()
    }

    /// Takes note of a record that is handed on next, if it is not in BER.
    fn tell(&mut self, format: RecordFormat, length: u64) {
        self.carvings.formats[format as usize] += 1;
        if format != RecordFormat::Ber {
            self.told.push_back(Told { format, start: self.out, end: self.out + length });
        }
    }

    /// Decides on what follows; whether there is anything.
    fn advance(&mut self) -> Result<bool> {
        if !self.input.ensure(1)? {
            // The group of a file that does not tell its length is endless.
            if let Some(left) = self.group.take().filter(|left| (1..=NOT_KNOWN.into()).contains(left)) {
                self.fault(format!("the input ends {left} bytes before the end that its header announces"));
            }
            return Ok(false);
        }
        match self.kind {
            FileFraming::Plain => self.pass = u64::MAX,
            FileFraming::Blocks { size, header, used } => self.block(size, header, used)?,
            FileFraming::Prefix(prefix) => self.prefix(prefix)?,
            FileFraming::Ts32297 => self.ts32297()?,
        }
        self.stretches.push_back((self.out, self.input.position()));
        Ok(true)
    }

    /// The rest of the input as it is: what cannot be framed is for the records' framing to reject.
    fn give_up(&mut self, what: &str) {
        self.fault(format!("at {}: {what}", self.input.position()));
        self.pass = u64::MAX;
    }

    fn fault(&mut self, fault: String) {
        if self.carvings.faults.len() < FAULTS {
            self.carvings.faults.push(fault);
        }
    }

    fn header(&mut self, count: usize) {
        self.input.consume(count);
        self.carvings.headers += count as u64;
    }

    fn block(&mut self, size: u32, header: u16, used: Used) -> Result<()> {
        let count = usize::from(header);
        if !self.input.ensure(count + 1)? {
            self.give_up("the input ends inside the header of a block");
            return Ok(());
        }
        let told = match self.input.octets() {
            [a, b, ..] => u32::from(u16::from_be_bytes([*a, *b])),
            _ => 0,
        };
        let room = size.saturating_sub(u32::from(header));
        let pass = match used {
            Used::Unknown => room,
            Used::Behind => told.min(room),
            Used::WithHeader => told.saturating_sub(u32::from(header)).min(room),
        };
        self.header(count);
        self.pass = pass.into();
        self.skip = (room - pass).into();
        Ok(())
    }

    fn prefix(&mut self, prefix: Prefix) -> Result<()> {
        let size = prefix.size();
        // Groups that are empty would let headers follow on headers.
        for _ in 0..2 {
            let grouped = prefix.grouped && self.group.is_none_or(|left| left == 0);
            let there = self.input.ensure(size)?;
            let Some(payload) = prefix.payload(self.input.octets()).filter(|_| there) else {
                let filler = self.input.octets().iter().all(|octet| matches!(octet, 0 | 0xFF));
                if filler {
                    self.pass = u64::MAX;
                } else {
                    self.give_up("no length of a record here");
                }
                return Ok(());
            };
            self.header(size);
            if grouped {
                self.group = Some(payload);
                continue;
            }
            self.group = self.group.map(|left| left.saturating_sub(payload + size as u64));
            self.pass = payload;
            self.borders.push_back(self.out + payload);
            if let Some(format) = self.rules {
                self.tell(format, payload);
            }
            return Ok(());
        }
        Ok(())
    }

    fn ts32297(&mut self) -> Result<()> {
        if self.group.is_none_or(|left| left == 0) && !self.file_header()? {
            return Ok(());
        }
        // TS 32.297 6.1.2: length, release and version, data format and specification, and where the release is 7 the
        // release extension.
        let extended = self.input.ensure(3)? && self.input.octets()[2] >> 5 == 7;
        let size = 4 + usize::from(extended);
        if !self.input.ensure(size)? {
            self.give_up("the input ends inside the header of a record");
            return Ok(());
        }
        let length = u64::from(u16::from_be_bytes([self.input.octets()[0], self.input.octets()[1]]));
        let format = RecordFormat::of_number(self.input.octets()[3] >> 5);
        let Some(format) = format.filter(|_| length > 0) else {
            self.give_up("no header of a record (TS 32.297 6.1.2) here");
            return Ok(());
        };
        self.header(size);
        self.carvings.seen += 1;
        self.group = self.group.map(|left| left.saturating_sub(length + size as u64));
        self.pass = length;
        self.borders.push_back(self.out + length);
        self.tell(self.rules.unwrap_or(format), length);
        Ok(())
    }

    /// Reads the header of a file (TS 32.297 6.1.1); whether there was one and records follow.
    fn file_header(&mut self) -> Result<bool> {
        self.input.ensure(FILE_HEADER + 2 * usize::from(u16::MAX))?;
        let Some(header) = FileHeader::read(self.input.octets()) else {
            if self.carvings.files > 0 && matches!(self.input.octets().first(), Some(0 | 0xFF)) {
                self.pass = u64::MAX;
            } else {
                self.give_up("no header of a file (TS 32.297 6.1.1) here");
            }
            return Ok(false);
        };
        self.header(header.length as usize);
        self.carvings.files += 1;
        if let Some(number) = header.sequence {
            self.carvings.numbers.add(number.into());
        }
        self.carvings.announced = match (self.carvings.announced, header.records) {
            (Some(sum), Some(records)) => Some(sum + u64::from(records)),
            _ => None,
        };
        self.group = Some(match header.file {
            Some(length) => u64::from(length) - u64::from(header.length),
            None => u64::MAX,
        });
        if self.carvings.told.len() < HEADERS {
            self.carvings.told.push(header);
        }
        if self.group == Some(0) || !self.input.ensure(1)? {
            self.pass = 0;
            return Ok(false);
        }
        Ok(true)
    }
}

impl<R: Read> Read for Carved<R> {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        if self.kind == FileFraming::Plain {
            return self.input.input.read(buffer);
        }
        let mut filled = 0;
        while filled < buffer.len() {
            if self.pass > 0 {
                let want = usize::try_from(self.pass)
                    .map_or(buffer.len() - filled, |n| n.min(buffer.len() - filled));
                let count = self.input.take(&mut buffer[filled..filled + want])?;
                if count == 0 {
                    break;
                }
                filled += count;
                self.out += count as u64;
                self.pass -= if self.pass == u64::MAX { 0 } else { count as u64 };
            } else if self.skip > 0 {
                let count = self.input.pass_over(self.skip)?;
                if count == 0 {
                    break;
                }
                self.skip -= count;
                self.carvings.unused += count;
            } else if !self.advance()? {
                break;
            }
        }
        Ok(filled)
    }
}

/// An input with some octets read ahead.
#[derive(Debug)]
struct Ahead<R> {
    input: R,
    octets: Vec<u8>,
    at: usize,
    /// Octets consumed.
    read: u64,
    ended: bool,
}

impl<R: Read> Ahead<R> {
    fn octets(&self) -> &[u8] {
        &self.octets[self.at..]
    }

    fn position(&self) -> u64 {
        self.read
    }

    fn consume(&mut self, count: usize) {
        self.at += count;
        self.read += count as u64;
    }

    /// Reads until `count` octets are there; tells whether they are.
    fn ensure(&mut self, count: usize) -> Result<bool> {
        while self.octets.len() - self.at < count && !self.ended {
            self.octets.drain(..self.at);
            self.at = 0;
            let end = self.octets.len();
            let more = self.octets.capacity().clamp(1 << 14, 1 << 18);
            self.octets.resize(end + more, 0);
            match self.input.read(&mut self.octets[end..]) {
                Ok(n) => {
                    self.ended = n == 0;
                    self.octets.truncate(end + n);
                }
                Err(error) => {
                    self.octets.truncate(end);
                    if error.kind() != ErrorKind::Interrupted {
                        return Err(error);
                    }
                }
            }
        }
        Ok(self.octets.len() - self.at >= count)
    }

    fn take(&mut self, buffer: &mut [u8]) -> Result<usize> {
        self.ensure(1)?;
        let count = buffer.len().min(self.octets().len());
        buffer[..count].copy_from_slice(&self.octets()[..count]);
        self.consume(count);
        Ok(count)
    }

    fn pass_over(&mut self, count: u64) -> Result<u64> {
        self.ensure(1)?;
        let there = self.octets().len();
        let count = usize::try_from(count).map_or(there, |count| count.min(there));
        self.consume(count);
        Ok(count as u64)
    }
}
