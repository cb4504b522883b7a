//! Records replaced in a file: lengths of lists, of headers and of blocks are adjusted, all other octets stay.

use super::carve::{FileFraming, Prefix, Used};
use super::ts32297::FileHeader;
use super::{Framing, Part, RecordReader};
use std::collections::BTreeMap;
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};

/// A record that takes the place of another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replacement {
    /// Octets of the record in the file.
    pub length: u64,
    /// The octets of the new record.
    pub octets: Vec<u8>,
}

impl Replacement {
    fn grows(&self) -> i64 {
        self.octets.len() as i64 - self.length as i64
    }
}

/// Octets of the file that others take the place of.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Patch {
    length: u64,
    octets: Vec<u8>,
}

/// Copies a record file with some records replaced; `records` has them by the offset of their first octet. Lengths of elements
/// around the records, of headers in front of them, of files of TS 32.297 and of blocks are adjusted. In blocks, filler after
/// the record gives or takes the room.
///
/// ```
/// use std::collections::BTreeMap;
/// use std::io::Cursor;
/// use tercet_records::{FileFraming, Framing, Identifiers, Prefix, Replacement, replace_records};
/// let mut framing = Framing::concatenated(Identifiers::any());
/// framing.file = FileFraming::Prefix(Prefix { width: 2, little: false, inclusive: false, more: 0, grouped: false });
/// let file = [0, 3, 0x02, 1, 5, 0, 3, 0x02, 1, 6];
/// let records = BTreeMap::from([(2, Replacement { length: 3, octets: vec![2, 2, 1, 0] })]);
/// let mut out = Vec::new();
/// replace_records(&mut Cursor::new(file), &framing, &records, &mut out)?;
/// assert_eq!(out, [0, 4, 2, 2, 1, 0, 0, 3, 2, 1, 6]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Those of the input and the output; [`io::ErrorKind::InvalidInput`] if a new record does not fit its header or block.
pub fn replace_records<R: Read + Seek>(
    input: &mut R,
    framing: &Framing,
    records: &BTreeMap<u64, Replacement>,
    out: &mut dyn Write,
) -> io::Result<()> {
    input.rewind()?;
    let mut patches: BTreeMap<u64, Patch> = BTreeMap::new();
    let is_block = matches!(framing.file, FileFraming::Blocks { .. });
    if !is_block {
        patches.extend(
            records
                .iter()
                .map(|(at, record)| (*at, Patch { length: record.length, octets: record.octets.clone() })),
        );
    }
    match &framing.file {
        FileFraming::Plain if framing.wrappers.is_empty() => {}
        FileFraming::Plain => wrappers(input, framing, records, &mut patches)?,
        FileFraming::Prefix(prefix) => prefixes(input, *prefix, records, &mut patches)?,
        FileFraming::Ts32297 => ts32297(input, records, &mut patches)?,
        FileFraming::Blocks { size, header, used } => {
            let block = Block { size: (*size).into(), header: (*header).into(), used: *used };
            blocks(input, framing, block, records, &mut patches)?;
        }
    }
    copy(input, &patches, out)
}

fn copy(
    input: &mut (impl Read + Seek),
    patches: &BTreeMap<u64, Patch>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut at = 0;
    input.rewind()?;
    for (offset, patch) in patches {
        let gap = offset.checked_sub(at).ok_or_else(|| refused("two changes are of the same bytes"))?;
        if io::copy(&mut input.by_ref().take(gap), out)? < gap {
            return Err(refused(format!("the file ends before the record at offset {offset}")));
        }
        out.write_all(&patch.octets)?;
        at = offset + patch.length;
        input.seek(SeekFrom::Start(at))?;
    }
    io::copy(input, out).map(drop)
}

fn refused(text: impl Into<String>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, text.into())
}

/// How many octets the records in a range grow by.
fn grows(records: &BTreeMap<u64, Replacement>, range: std::ops::Range<u64>) -> i64 {
    records.range(range).map(|(_, record)| record.grows()).sum()
}

fn added(length: u64, grows: i64) -> u64 {
    length.saturating_add_signed(grows)
}

/// An element around records, of a definite length unless `end` is absent.
struct Wrapper {
    /// The offset of the length octets.
    at: u64,
    octets: Vec<u8>,
    length: u64,
    end: Option<u64>,
    grows: i64,
}

/// Adjusts the lengths of elements around records.
fn wrappers(
    input: &mut (impl Read + Seek),
    framing: &Framing,
    records: &BTreeMap<u64, Replacement>,
    patches: &mut BTreeMap<u64, Patch>,
) -> io::Result<()> {
    let mut reader = RecordReader::new(BufReader::new(input), framing.clone());
    let mut open: Vec<Wrapper> = Vec::new();
    while let Some(item) = reader.next(&mut |_: &[u8]| true)? {
        while open.last().is_some_and(|it| it.end.is_some_and(|end| end <= item.offset)) {
            close(&mut open, patches);
        }
        if item.part == Part::Wrapper {
            match item.octets {
                [0, 0] => close(&mut open, patches),
                octets => open.extend(wrapper(item.offset, octets)),
            }
        } else if let (Some(around), Some(record)) = (open.last_mut(), records.get(&item.offset)) {
            around.grows += record.grows();
        }
    }
    while !open.is_empty() {
        close(&mut open, patches);
    }
    Ok(())
}

/// Reads the identifier and length octets of an element.
fn wrapper(offset: u64, octets: &[u8]) -> Option<Wrapper> {
    let first = *octets.first()?;
    let mut identifier = 1;
    if first & 0x1F == 0x1F {
        identifier += octets[1..].iter().position(|octet| octet & 0x80 == 0)? + 1;
    }
    let length = octets.get(identifier..)?;
    let number = match length.split_first()? {
        (0x80, _) => None,
        (short @ 0..=0x7F, _) => Some(u64::from(*short)),
        (_, more) => Some(more.iter().fold(0, |sum, octet| sum << 8 | u64::from(*octet))),
    };
    let end = number.map(|number| offset + octets.len() as u64 + number);
    let (at, octets) = (offset + identifier as u64, length.to_vec());
    Some(Wrapper { at, octets, length: number.unwrap_or(0), end, grows: 0 })
}

/// Ends the innermost element: its length octets, and what it grows the one around it by.
fn close(open: &mut Vec<Wrapper>, patches: &mut BTreeMap<u64, Patch>) {
    let Some(Wrapper { at, octets, length, end, mut grows }) = open.pop() else { return };
    if grows != 0 && end.is_some() {
        let new = length_octets(added(length, grows), octets.len());
        grows += new.len() as i64 - octets.len() as i64;
        patches.insert(at, Patch { length: octets.len() as u64, octets: new });
    }
    if let Some(around) = open.last_mut() {
        around.grows += grows;
    }
}

/// Length octets (X.690 8.1.3), in as many octets as before if the number fits.
fn length_octets(length: u64, width: usize) -> Vec<u8> {
    if width == 1 && length < 0x80 {
        return vec![length as u8];
    }
    let octets = length.to_be_bytes();
    let least = 8 - (length.leading_zeros() / 8).min(7) as usize;
    let count = least.max(width.saturating_sub(1)).min(8);
    let mut out = vec![0x80 | count as u8];
    out.extend_from_slice(&octets[8 - count..]);
    out
}

/// Reads octets at a place as far as they are there.
fn read_at(input: &mut (impl Read + Seek), at: u64, count: u64) -> io::Result<Vec<u8>> {
    input.seek(SeekFrom::Start(at))?;
    let mut octets = Vec::new();
    input.by_ref().take(count).read_to_end(&mut octets)?;
    Ok(octets)
}

/// A length in front of a record or of a group of them.
fn prefixed(
    at: u64,
    prefix: Prefix,
    payload: u64,
    grows: i64,
    patches: &mut BTreeMap<u64, Patch>,
) -> io::Result<()> {
    if grows == 0 {
        return Ok(());
    }
    let own = if prefix.inclusive { prefix.size() as u64 } else { 0 };
    let value = added(payload, grows) + own;
    let octets = match (prefix.width, prefix.little) {
        (2, little) => u16::try_from(value)
            .map(|value| if little { value.to_le_bytes() } else { value.to_be_bytes() }.to_vec()),
        (_, little) => u32::try_from(value)
            .map(|value| if little { value.to_le_bytes() } else { value.to_be_bytes() }.to_vec()),
    };
    let octets = octets.map_err(|_| {
        refused(format!("{value} bytes do not fit the length of {} bytes at offset {at}", prefix.width))
    })?;
    patches.insert(at, Patch { length: prefix.width.into(), octets });
    Ok(())
}

fn prefixes(
    input: &mut (impl Read + Seek),
    prefix: Prefix,
    records: &BTreeMap<u64, Replacement>,
    patches: &mut BTreeMap<u64, Patch>,
) -> io::Result<()> {
    let size = prefix.size() as u64;
    let last = records.keys().next_back().copied().unwrap_or(0);
    let (mut at, mut group) = (0, None);
    while at <= last {
        let Some(payload) = prefix.payload(&read_at(input, at, size)?) else {
            return Err(refused(format!("no length of a record at offset {at}")));
        };
        let end = at + size + payload;
        let is_group = prefix.grouped && group.is_none_or(|group_end| at >= group_end);
        prefixed(at, prefix, payload, grows(records, at + size..end), patches)?;
        if is_group {
            group = Some(end);
            at += size;
        } else {
            at = end;
        }
    }
    Ok(())
}

fn ts32297(
    input: &mut (impl Read + Seek),
    records: &BTreeMap<u64, Replacement>,
    patches: &mut BTreeMap<u64, Patch>,
) -> io::Result<()> {
    let last = records.keys().next_back().copied().unwrap_or(0);
    let (mut at, mut file_end) = (0, None);
    while at <= last {
        if file_end.is_none_or(|end| at >= end) {
            let octets = read_at(input, at, 1 << 18)?;
            let header = FileHeader::read(&octets)
                .ok_or_else(|| refused(format!("no header of a file (TS 32.297 6.1.1) at offset {at}")))?;
            let end = header.file.map_or(u64::MAX, |length| at + u64::from(length));
            let grown = grows(records, at..end);
            if let Some(length) = header.file.filter(|_| grown != 0) {
                let octets = added(length.into(), grown).to_be_bytes()[4..].to_vec();
                patches.insert(at, Patch { length: 4, octets });
            }
            file_end = Some(end);
            at += u64::from(header.length);
            continue;
        }
        let octets = read_at(input, at, 4)?;
        let &[high, low, release, _] = &octets[..] else {
            return Err(refused(format!("no header of a record (TS 32.297 6.1.2) at offset {at}")));
        };
        let length = u64::from(u16::from_be_bytes([high, low]));
        let begin = at + 4 + u64::from(release >> 5 == 7);
        let grown = grows(records, begin..begin + length);
        if grown != 0 {
            let value = added(length, grown);
            let new = u16::try_from(value).map_err(|_| {
                refused(format!("{value} bytes do not fit the header of the record at offset {at}"))
            })?;
            patches.insert(at, Patch { length: 2, octets: new.to_be_bytes().to_vec() });
        }
        at = begin + length;
    }
    Ok(())
}

#[derive(Clone, Copy)]
struct Block {
    size: u64,
    header: u64,
    used: Used,
}

impl Block {
    /// Where the block of an offset begins.
    fn begin(self, offset: u64) -> u64 {
        offset - offset % self.size.max(1)
    }

    /// Where the octets in use of the block that begins at an offset end, and what its header counts beside them.
    fn end(self, begin: u64, header: &[u8]) -> (u64, u64) {
        let room = begin + self.size;
        let told = match header {
            [a, b, ..] => u64::from(u16::from_be_bytes([*a, *b])),
            _ => 0,
        };
        match self.used {
            Used::Unknown => (room, 0),
            Used::Behind => ((begin + self.header + told).min(room), 0),
            Used::WithHeader => ((begin + told).clamp(begin + self.header, room), self.header),
        }
    }
}

fn blocks(
    input: &mut (impl Read + Seek),
    framing: &Framing,
    block: Block,
    records: &BTreeMap<u64, Replacement>,
    patches: &mut BTreeMap<u64, Patch>,
) -> io::Result<()> {
    let filler = filler(input, framing, block, records)?;
    let total = input.seek(SeekFrom::End(0))?;
    let mut by_block: BTreeMap<u64, Vec<(u64, &Replacement)>> = BTreeMap::new();
    for (at, record) in records {
        by_block.entry(block.begin(*at)).or_default().push((*at, record));
    }
    for (begin, changed) in by_block {
        let (end, counted) = block.end(begin, &read_at(input, begin, 2)?);
        let end = end.min(total);
        let Some((last, last_record)) = changed.last() else { continue };
        let behind = last + last_record.length;
        let grown: i64 = changed.iter().map(|(_, record)| record.grows()).sum();
        if grown == 0 && changed.iter().all(|(_, record)| record.grows() == 0) {
            for (at, record) in changed {
                in_place(input, block, at, &record.octets, patches)?;
            }
            continue;
        }
        if behind > end {
            let text = format!(
                "the record at offset {last} goes on in another block, so that its length cannot change"
            );
            return Err(refused(text));
        }
        // The octets from the first change to the end of the filler, which gives or takes the room.
        let first = changed[0].0;
        let is_counted = block.used != Used::Unknown;
        let gap = if is_counted { Some((end, end)) } else { room(&filler, behind, end, grown) };
        let at_end = || grown < 0 && filler.borders.contains(&(begin + block.size));
        let (from, to) = match gap {
            Some(gap) => gap,
            None if at_end() => (end, end),
            None => {
                let text = format!(
                    "the record at offset {last} grows by {grown} bytes, and its block has not so many bytes of filler after it"
                );
                return Err(refused(text));
            }
        };
        let mut new = Vec::new();
        let mut at = first;
        for (offset, record) in &changed {
            new.extend(read_at(input, at, offset - at)?);
            new.extend_from_slice(&record.octets);
            at = offset + record.length;
        }
        new.extend(read_at(input, at, from - at)?);
        let mut length = to - first;
        if is_counted {
            let unused = (begin + block.size).min(total) - end;
            let left = unused.checked_add_signed(-grown).ok_or_else(|| {
                refused(format!(
                    "the record at offset {last} grows by {grown} bytes; its block has {unused} unused"
                ))
            })?;
            let value = (added(end - begin - block.header, grown) + counted) as u16;
            patches.insert(begin, Patch { length: 2, octets: value.to_be_bytes().to_vec() });
            let rest = read_at(input, end, unused)?;
            let kept = rest.len().min(left as usize);
            new.extend_from_slice(&rest[rest.len() - kept..]);
            new.resize(new.len() + left as usize - kept, 0);
            length = (begin + block.size).min(total) - first;
        } else {
            let left = added(to - from, -grown) as usize;
            let octets = read_at(input, from, to - from)?;
            let kept = octets.len().min(left);
            let octet = octets.first().or_else(|| framing.filler.first()).copied().unwrap_or(0);
            new.extend_from_slice(&octets[octets.len() - kept..]);
            new.resize(new.len() + left - kept, octet);
        }
        patches.insert(first, Patch { length, octets: new });
    }
    Ok(())
}

/// Where filler is in blocks, and where parts of the file begin.
#[derive(Default)]
struct Fillers {
    /// Offset and length.
    stretches: Vec<(u64, u64)>,
    /// Ends of blocks that no record goes across.
    borders: std::collections::BTreeSet<u64>,
}

fn filler(
    input: &mut (impl Read + Seek),
    framing: &Framing,
    block: Block,
    records: &BTreeMap<u64, Replacement>,
) -> io::Result<Fillers> {
    let last = records.keys().next_back().map_or(0, |last| block.begin(*last) + block.size);
    input.rewind()?;
    let mut reader = RecordReader::new(BufReader::new(input), framing.clone());
    let mut found = Fillers::default();
    while let Some(item) = reader.next(&mut |_: &[u8]| true)? {
        if item.offset % block.size == block.header {
            found.borders.insert(item.offset - block.header);
        }
        if item.part == Part::Filler {
            found.stretches.push((item.offset, item.octets.len() as u64));
        }
        if item.offset > last {
            return Ok(found);
        }
    }
    // The end of the file is one.
    found.borders.insert(last);
    Ok(found)
}

/// The filler after an offset in a block that gives or takes the room.
fn room(filler: &Fillers, behind: u64, end: u64, grown: i64) -> Option<(u64, u64)> {
    let inside =
        |(at, length): &(u64, u64)| (*at >= behind && *at < end).then_some((*at, (at + length).min(end)));
    filler.stretches.iter().filter_map(inside).find(|(from, to)| (to - from) as i64 >= grown)
}

/// A record of the same length, which headers of blocks may be inside of.
fn in_place(
    input: &mut (impl Read + Seek),
    block: Block,
    offset: u64,
    octets: &[u8],
    patches: &mut BTreeMap<u64, Patch>,
) -> io::Result<()> {
    let (mut at, mut rest) = (offset, octets);
    while !rest.is_empty() {
        let begin = block.begin(at);
        let (end, _) = block.end(begin, &read_at(input, begin, 2)?);
        let count = usize::try_from(end.saturating_sub(at)).unwrap_or(usize::MAX).min(rest.len());
        if count > 0 {
            let (here, after) = rest.split_at(count);
            patches.insert(at, Patch { length: count as u64, octets: here.to_vec() });
            rest = after;
        }
        at = begin + block.size + block.header;
    }
    Ok(())
}
