//! Stretches of a file that can be read by themselves, by as many workers as there are.

use crate::framing::{Decodes, FileFraming, Framing, Part, RecordFormat, RecordReader, Used, detect_in};
use std::io::{self, Cursor, Read};

/// A stretch of a file that begins where a record does. The splits of a file follow on each other without a gap, and what
/// is read of one does not depend on the others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Split {
    /// Absolute offset of its first octet.
    pub start: u64,
    /// Absolute offset of the octet behind it; nothing if it is the last of its file.
    pub end: Option<u64>,
    /// Elements before it that look like records: what the numbers of its own begin with.
    pub first: u64,
    /// Absolute offsets of the ends of the elements around its begin, from the outside in; nothing for an indefinite
    /// length.
    pub around: Vec<Option<u64>>,
}

/// Cuts a file into splits of `size` octets or somewhat more, by the lengths of its elements; `decodes` is asked about
/// the records that splits begin with. With `trial`, the framing is found by trial as [`crate::Converter`] does; the
/// framing is given back with the splits. Framings whose headers belong together give one split.
///
/// # Errors
/// Those of the input.
pub fn splits(
    mut input: impl Read,
    given: &Framing,
    trial: bool,
    size: u64,
    decodes: &mut dyn Decodes,
) -> io::Result<(Framing, Vec<Split>)> {
    let (sample, found) = if trial { detect_in(given, &mut input, decodes)? } else { (Vec::new(), None) };
    let mut framing = found.unwrap_or_else(|| given.clone());
    let mut splits = vec![Split::default()];
    match framing.file {
        FileFraming::Plain => {}
        // Blocks without headers are where they are for the file system's sake.
        FileFraming::Blocks { header: 0, used: Used::Unknown, .. } => framing.file = FileFraming::Plain,
        _ => return Ok((framing, splits)),
    }
    let mut reader = RecordReader::new(Cursor::new(sample).chain(input), framing.clone());
    let (mut start, mut count, mut damaged) = (0, 0, false);
    let mut decodes = |octets: &[u8]| decodes.decodes(RecordFormat::Ber, octets);
    while let Some(item) = reader.next(&mut decodes)? {
        let header = if item.depth == 0 { framing.record_header as u64 } else { 0 };
        let begin = item.offset.saturating_sub(header);
        match item.part {
            Part::Record => {
                // Behind damage the reader may be wrong.
                if begin >= start + size.max(1) && !damaged && decodes(item.octets) {
                    start = begin;
                    let around = reader.around();
                    if let Some(last) = splits.last_mut() {
                        last.end = Some(begin);
                    }
                    splits.push(Split { start, end: None, first: count, around });
                }
                count += 1;
                damaged = false;
            }
            Part::Rejected { .. } => damaged = true,
            _ => {}
        }
    }
    Ok((framing, splits))
}
