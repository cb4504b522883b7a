//! The header of a file of 3GPP TS 32.297, clause 6.1.1.

/// "Not known" in the fields of a header.
pub(super) const NOT_KNOWN: u32 = u32::MAX;
/// Octets of a header without its parts of variable length.
pub(super) const FILE_HEADER: usize = 50;
/// Reasons for the closure of a file from this one on are errors.
const FIRST_ERROR: u8 = 128;

/// What the header of a file tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileHeader {
    /// Octets of the file, if known.
    pub file: Option<u32>,
    /// Octets of the header.
    pub length: u32,
    /// Records, if known.
    pub records: Option<u32>,
    /// The file's sequence number, if known.
    pub sequence: Option<u32>,
    /// Why the file was closed.
    pub closure: u8,
    /// The lost CDR indicator.
    pub lost: u8,
    /// The address of the node that made the file.
    pub node: [u8; 20],
    opened: u32,
    appended: u32,
}

impl FileHeader {
    /// Reads a header; nothing if it is none.
    pub(crate) fn read(octets: &[u8]) -> Option<Self> {
        let word = |at: usize| Some(u32::from_be_bytes(*octets.get(at..)?.first_chunk()?));
        let half = |at: usize| Some(usize::from(u16::from_be_bytes(*octets.get(at..)?.first_chunk()?)));
        let (file, length, records) = (word(0)?, word(4)?, word(18)?);
        let filter = half(48)?;
        let extension = half(FILE_HEADER + filter)?;
        // Both releases have an octet more where they are 7.
        let releases =
            [8, 9].iter().filter(|at| octets.get(**at).is_some_and(|octet| octet >> 5 == 7)).count();
        let least = FILE_HEADER + 2 + filter + extension;
        let fits =
            length as usize == least + releases || length as usize == least + 2 || length as usize == least;
        let whole = file == NOT_KNOWN || file >= length;
        if !fits || !whole || octets.len() < length as usize {
            return None;
        }
        let known = |number: u32| (number != NOT_KNOWN).then_some(number);
        Some(Self {
            file: known(file),
            length,
            records: known(records),
            sequence: known(word(22)?),
            closure: *octets.get(26)?,
            lost: *octets.get(47)?,
            node: *octets.get(27..)?.first_chunk()?,
            opened: word(10)?,
            appended: word(14)?,
        })
    }

    /// When the file was opened: `11-22T10:30+01:00`, as headers have no year.
    pub fn opened(&self) -> Option<String> {
        time(self.opened)
    }

    /// When its last record was appended.
    pub fn appended(&self) -> Option<String> {
        time(self.appended)
    }

    /// The reason for its closure in words.
    pub fn closure_name(&self) -> &'static str {
        match self.closure {
            0 => "normal",
            1 => "size of the file",
            2 => "time that it was open",
            3 => "number of records",
            4 => "manual intervention",
            5 => "other release, version or encoding of records",
            128 => "error",
            129 => "error of the file system",
            130 => "no storage left",
            131 => "error of the file's integrity",
            6..FIRST_ERROR => "normal, for a reason that is not known here",
            _ => "error that is not known here",
        }
    }

    /// What it tells of that has gone wrong: records lost, a closure by an error.
    pub fn troubles(&self) -> Vec<String> {
        let mut troubles = Vec::new();
        let (calculated, count) = (self.lost & 0x80 != 0, self.lost & 0x7F);
        let or_more = if count == 0x7F { " or more" } else { "" };
        match (calculated, count) {
            (false, 0) => {}
            (true, 0) => troubles.push("an unknown number of records has been lost".to_owned()),
            (true, _) => troubles.push(format!("{count}{or_more} records have been lost")),
            (false, _) => {
                troubles.push(format!("{count}{or_more} records have been lost, and perhaps others"))
            }
        }
        if self.closure >= FIRST_ERROR {
            troubles.push(format!(
                "the file was closed by an error: {} ({})",
                self.closure,
                self.closure_name()
            ));
        }
        troubles
    }
}

/// Month, day, hour, minute, sign, hour and minute of the offset from UTC, of 4, 5, 5, 6, 1, 5, 6 bits.
fn time(word: u32) -> Option<String> {
    let bits = |from: u32, count: u32| word >> from & ((1 << count) - 1);
    let (month, day, hour, minute) = (bits(28, 4), bits(23, 5), bits(18, 5), bits(12, 6));
    let (sign, hours, minutes) = (if bits(11, 1) == 1 { '+' } else { '-' }, bits(6, 5), bits(0, 6));
    let is_time =
        (1..=12).contains(&month) && day > 0 && hour < 24 && minute < 60 && hours < 24 && minutes < 60;
    is_time.then(|| format!("{month:02}-{day:02}T{hour:02}:{minute:02}{sign}{hours:02}:{minutes:02}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header() -> Vec<u8> {
        let mut octets = vec![0; 52];
        octets[..8].copy_from_slice(&[0, 0, 0, 52, 0, 0, 0, 52]);
        octets
    }

    #[test]
    fn times_are_read_bit_by_bit() {
        // April 28, 17:18, 8 hours ahead; January 2, 03:04, six and a half hours behind.
        let april = 4 << 28 | 28 << 23 | 17 << 18 | 18 << 12 | 1 << 11 | 8 << 6;
        assert_eq!(time(april).as_deref(), Some("04-28T17:18+08:00"));
        assert_eq!(
            time(1 << 28 | 2 << 23 | 3 << 18 | 4 << 12 | 6 << 6 | 30).as_deref(),
            Some("01-02T03:04-06:30")
        );
        assert_eq!(time(0), None);
        assert_eq!(time(NOT_KNOWN), None);
    }

    #[test]
    fn what_headers_tell() {
        let mut octets = header();
        octets[18..26].copy_from_slice(&[0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 1, 2]);
        let header = FileHeader::read(&octets).unwrap();
        assert_eq!((header.records, header.sequence, header.closure_name()), (None, Some(258), "normal"));
        assert!(header.troubles().is_empty());
        for (lost, closure, expected) in [
            (0x80, 3, &["an unknown number of records has been lost"][..]),
            (0x83, 3, &["3 records have been lost"]),
            (0x7F, 0, &["127 or more records have been lost, and perhaps others"]),
            (0, 130, &["the file was closed by an error: 130 (no storage left)"]),
            (
                1,
                200,
                &[
                    "1 records have been lost, and perhaps others",
                    "the file was closed by an error: 200 (error that is not known here)",
                ],
            ),
        ] {
            (octets[47], octets[26]) = (lost, closure);
            assert_eq!(FileHeader::read(&octets).unwrap().troubles(), expected);
        }
        octets[7] = 53;
        assert_eq!(FileHeader::read(&octets), None);
    }
}
