//! The byte balance: every octet read is accounted for.

use crate::framing::Part;
use std::fmt;

/// Octets by what they were.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Balance {
    /// Octets read.
    pub read: u64,
    /// Octets of records that were converted.
    pub records: u64,
    /// Octets between records.
    pub filler: u64,
    /// Octets of wrappers, headers and trailers.
    pub headers: u64,
    /// Octets of what was rejected.
    pub rejected: u64,
}

impl Balance {
    /// Accounts for a part of a file.
    #[inline]
    pub fn add(&mut self, part: Part, length: usize) {
        let length = length as u64;
        self.read += length;
        match part {
            Part::Record | Part::RecordIn(_) => self.records += length,
            Part::Filler => self.filler += length,
            Part::Wrapper | Part::Opaque | Part::Header | Part::Trailer => self.headers += length,
            Part::Rejected { .. } => self.rejected += length,
        }
    }

    /// Accounts for what was taken out between records.
    pub fn add_carvings(&mut self, headers: u64, unused: u64) {
        self.read += headers + unused;
        self.headers += headers;
        self.filler += unused;
    }

    /// Accounts for another file.
    pub fn merge(&mut self, other: &Self) {
        self.read += other.read;
        self.records += other.records;
        self.filler += other.filler;
        self.headers += other.headers;
        self.rejected += other.rejected;
    }

    /// Whether the parts add up to what was read.
    pub fn adds_up(&self) -> bool {
        self.read == self.records + self.filler + self.headers + self.rejected
    }
}

impl fmt::Display for Balance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { read, records, filler, headers, rejected } = self;
        write!(
            f,
            "{read} bytes read = {records} records + {filler} filler + {headers} headers + {rejected} rejected"
        )
    }
}
