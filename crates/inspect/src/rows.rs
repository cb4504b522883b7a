//! The index of an input: where its records, headers, fillers and rejects are. A thread builds it while somebody looks.

use crate::source::Source;
use crate::view::View;
use std::collections::HashMap;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};
use tercet_schema::TapeCodec;
use tercet_schema::dynamic::{Options, Rules, Tape};
use tercet_schema::records::{
    FileFraming, Framing, Identifiers, Part, RecordFormat, RecordReader, Used, detect,
};
use tercet_schema::runtime::dump::dump;

/// Rows between two places that the index can be read from.
const STRIDE: u64 = 256;
/// Rows of an input: some 200 MB of index.
const MOST_ROWS: u64 = 64 << 20;
/// Bytes that framings are tried on.
const SAMPLE: usize = 1 << 20;
/// Bytes of an input whose values have no identifiers and lengths to walk along.
const MOST_WHOLE: usize = 256 << 20;
/// Rejects whose reasons are kept.
const MOST_REASONS: usize = 100_000;
/// Rows that are found before the list is told of them.
const BATCH: usize = 2048;

/// The kind of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum RowKind {
    Record,
    RecordUper,
    RecordAper,
    RecordXer,
    Filler,
    Wrapper,
    Opaque,
    Header,
    Trailer,
    Rejected,
}

impl RowKind {
    const ALL: [Self; 10] = [
        Self::Record,
        Self::RecordUper,
        Self::RecordAper,
        Self::RecordXer,
        Self::Filler,
        Self::Wrapper,
        Self::Opaque,
        Self::Header,
        Self::Trailer,
        Self::Rejected,
    ];

    fn of(part: Part) -> Self {
        match part {
            Part::Record | Part::RecordIn(RecordFormat::Ber) => Self::Record,
            Part::RecordIn(RecordFormat::Uper) => Self::RecordUper,
            Part::RecordIn(RecordFormat::Aper) => Self::RecordAper,
            Part::RecordIn(RecordFormat::Xer) => Self::RecordXer,
            Part::Filler => Self::Filler,
            Part::Wrapper => Self::Wrapper,
            Part::Opaque => Self::Opaque,
            Part::Header => Self::Header,
            Part::Trailer => Self::Trailer,
            Part::Rejected { .. } => Self::Rejected,
        }
    }

    /// Returns the word for people.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Record | Self::RecordUper | Self::RecordAper | Self::RecordXer => "record",
            Self::Filler => "filler",
            Self::Wrapper => "list",
            Self::Opaque => "framing",
            Self::Header => "header",
            Self::Trailer => "trailer",
            Self::Rejected => "rejected",
        }
    }

    /// Reports whether the row is a record.
    pub(crate) fn is_record(self) -> bool {
        self.name() == "record"
    }

    /// Returns the rules of the record, where the file says that they are not those of the others.
    pub(crate) fn rules(self) -> Option<Rules> {
        match self {
            Self::RecordUper => Some(Rules::Uper),
            Self::RecordAper => Some(Rules::Aper),
            Self::RecordXer => Some(Rules::Xer),
            _ => None,
        }
    }
}

/// A row: a record, or what is beside records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) number: u64,
    /// The number of the record, from 0; of other rows the number of records before.
    pub(crate) record: u64,
    pub(crate) kind: RowKind,
    /// Absolute offset of the first byte.
    pub(crate) offset: u64,
    pub(crate) length: u64,
}

/// How far the index is.
#[derive(Clone, Debug)]
pub(crate) struct Progress {
    pub(crate) rows: u64,
    pub(crate) records: u64,
    /// Bytes that have been looked at.
    pub(crate) offset: u64,
    pub(crate) complete: bool,
    pub(crate) problem: Option<String>,
    pub(crate) framing: String,
}

/// A row takes a byte for its kind and two numbers of a byte for seven bits; every so many rows there is a place to begin at.
#[derive(Debug, Default)]
struct Store {
    rows: Vec<u8>,
    places: Vec<Place>,
    end: Place,
    count: u64,
    reasons: HashMap<u64, String>,
    problem: Option<String>,
    framing: String,
    complete: bool,
}

#[derive(Clone, Copy, Debug, Default)]
struct Place {
    /// The offset in the input that the next row is counted from.
    offset: u64,
    /// The position in the bytes of the index.
    at: usize,
    records: u64,
}

impl Store {
    fn push(&mut self, kind: RowKind, offset: u64, length: u64) {
        if self.count.is_multiple_of(STRIDE) {
            self.places.push(self.end);
        }
        self.rows.push(kind as u8);
        push_number(&mut self.rows, offset.wrapping_sub(self.end.offset));
        push_number(&mut self.rows, length);
        self.count += 1;
        let records = self.end.records + u64::from(kind.is_record());
        self.end = Place { offset: offset + length, at: self.rows.len(), records };
    }

    /// Reads rows from a place on.
    fn after_place(&self, index: usize) -> impl Iterator<Item = Row> + '_ {
        let mut place = self.places.get(index).copied().unwrap_or(self.end);
        let mut number = index as u64 * STRIDE;
        std::iter::from_fn(move || {
            let kind = *RowKind::ALL.get(usize::from(*self.rows.get(place.at)?))?;
            place.at += 1;
            let offset = place.offset.wrapping_add(number_at(&self.rows, &mut place.at)?);
            let length = number_at(&self.rows, &mut place.at)?;
            let row = Row { number, record: place.records, kind, offset, length };
            place.offset = offset + length;
            place.records += u64::from(kind.is_record());
            number += 1;
            Some(row)
        })
    }
}

fn push_number(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

fn number_at(octets: &[u8], at: &mut usize) -> Option<u64> {
    let (mut number, mut shift) = (0_u64, 0);
    loop {
        let octet = *octets.get(*at)?;
        *at += 1;
        number |= u64::from(octet & 0x7F).checked_shl(shift)?;
        if octet < 0x80 {
            return Some(number);
        }
        shift += 7;
    }
}

/// The index of an input.
#[derive(Debug)]
pub(crate) struct Rows {
    store: Mutex<Store>,
    changed: Condvar,
    stop: AtomicBool,
    /// The framing, once it is known; nothing for values that are no elements.
    framing: OnceLock<Framing>,
}

impl Rows {
    /// Starts the index of an input: with a view its records are values of a type, else elements.
    pub(crate) fn start(source: &Arc<Source>, view: Option<Arc<View>>) -> Arc<Self> {
        let rows = Arc::new(Self {
            store: Mutex::default(),
            changed: Condvar::new(),
            stop: AtomicBool::new(false),
            framing: OnceLock::new(),
        });
        let (builder, source) = (Arc::clone(&rows), Arc::clone(source));
        let started = std::thread::Builder::new().name("index".to_owned()).spawn(move || {
            let ended = builder.build(&source, view.as_deref());
            let mut store = builder.lock();
            store.problem = ended.err().map(|error| error.to_string());
            store.complete = true;
            drop(store);
            builder.changed.notify_all();
        });
        if let Err(error) = started {
            let mut store = rows.lock();
            (store.problem, store.complete) = (Some(error.to_string()), true);
        }
        rows
    }

    /// Ends the thread soon.
    pub(crate) fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    fn lock(&self) -> MutexGuard<'_, Store> {
        self.store.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns how far the index is; waits a moment for the first rows.
    pub(crate) fn progress(&self, wait: Duration) -> Progress {
        let store = self.lock();
        let is_empty = |store: &mut Store| store.count == 0 && !store.complete;
        let (store, _) =
            self.changed.wait_timeout_while(store, wait, is_empty).unwrap_or_else(PoisonError::into_inner);
        Progress {
            rows: store.count,
            records: store.end.records,
            offset: store.end.offset,
            complete: store.complete,
            problem: store.problem.clone(),
            framing: store.framing.clone(),
        }
    }

    /// Waits a moment for an index that is soon complete.
    pub(crate) fn settle(&self, wait: Duration) {
        drop(self.wait_for(wait, |_| false));
    }

    /// Returns rows from a number on; waits a moment for them if the index is not that far.
    pub(crate) fn range(&self, from: u64, count: usize, wait: Duration) -> Vec<Row> {
        let store = self.wait_for(wait, |store| store.count > from);
        let place = usize::try_from(from / STRIDE).unwrap_or(usize::MAX);
        if from >= store.count {
            return Vec::new();
        }
        store.after_place(place).skip((from % STRIDE) as usize).take(count).collect()
    }

    /// Returns the row of a record.
    pub(crate) fn record(&self, number: u64, wait: Duration) -> Option<Row> {
        let store = self.wait_for(wait, |store| store.end.records > number);
        let place = store.places.partition_point(|place| place.records <= number).checked_sub(1)?;
        store.after_place(place).find(|row| row.kind.is_record() && row.record == number)
    }

    /// Returns the row that holds a byte.
    pub(crate) fn at_offset(&self, offset: u64, wait: Duration) -> Option<Row> {
        let store = self.wait_for(wait, |store| store.end.offset > offset);
        let place = store.places.partition_point(|place| place.offset <= offset).checked_sub(1)?;
        store.after_place(place).find(|row| row.offset + row.length > offset)
    }

    /// Returns why the bytes of a row are rejected.
    pub(crate) fn reason(&self, number: u64) -> Option<String> {
        self.lock().reasons.get(&number).cloned()
    }

    fn wait_for(&self, wait: Duration, found: impl Fn(&Store) -> bool) -> MutexGuard<'_, Store> {
        let waits = |store: &mut Store| !store.complete && !found(store);
        self.changed.wait_timeout_while(self.lock(), wait, waits).unwrap_or_else(PoisonError::into_inner).0
    }

    fn build(&self, source: &Arc<Source>, view: Option<&View>) -> io::Result<()> {
        if let Some(messages) = source.captured() {
            self.lock().framing = "capture".to_owned();
            let mut batch = Batch::new(self);
            for (offset, length) in messages.places() {
                if !batch.push(RowKind::Record, offset, length, None)? {
                    break;
                }
            }
            return Ok(());
        }
        match view {
            Some(view) if !view.rules.has_elements() => self.build_values(source, view),
            _ => self.build_elements(source, view),
        }
    }

    /// Walks along identifiers and lengths.
    fn build_elements(&self, source: &Arc<Source>, view: Option<&View>) -> io::Result<()> {
        let framing = framing(source, view)?;
        self.lock().framing = framing.spelt();
        _ = self.framing.set(framing.clone());
        let mut check = view.map(View::check);
        let mut is_record = |octets: &[u8]| match &mut check {
            Some(check) => {
                use tercet_schema::records::Decodes;
                check.decodes(RecordFormat::Ber, octets)
            }
            None => octets.len() > 2 && dump(octets).all(|line| line.is_ok()),
        };
        let mut reader = RecordReader::new(source.reader(), framing);
        let mut batch = Batch::new(self);
        while let Some(item) = reader.next(&mut is_record)? {
            let reason = match item.part {
                Part::Rejected { reason, .. } => Some(reason.to_string()),
                _ => None,
            };
            if !batch.push(RowKind::of(item.part), item.offset, item.octets.len() as u64, reason)? {
                break;
            }
        }
        Ok(())
    }

    /// Decodes one value after the other, by rules whose values are no elements.
    fn build_values(&self, source: &Arc<Source>, view: &View) -> io::Result<()> {
        let length = usize::try_from(source.length()).unwrap_or(usize::MAX);
        if length > MOST_WHOLE {
            let text = format!(
                "{length} bytes are one value by {}: at most {MOST_WHOLE} can be looked at",
                view.rules.name()
            );
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, text));
        }
        let octets = source.read_at(0, length)?;
        let mut codec = TapeCodec::new(view.rules, &view.plan);
        let (mut tape, options) = (Tape::new(), Options::default());
        let mut batch = Batch::new(self);
        for range in codec.places(&octets) {
            let mut at = range.start;
            while at < range.end {
                let rest = &octets[at..range.end];
                let taken = match codec.read(view.root, rest, &mut tape, &options) {
                    // What follows a value without an end mark is shown with it.
                    Ok(length) if length > 0 && view.rules.delimits() => length,
                    _ => rest.len(),
                };
                if !batch.push(RowKind::Record, at as u64, taken as u64, None)? {
                    return Ok(());
                }
                at += taken;
            }
        }
        Ok(())
    }

    /// Returns the framing of the records, once it is known; nothing for values that are no elements.
    pub(crate) fn framing(&self) -> Option<Framing> {
        self.framing.get().cloned()
    }

    /// Reads the bytes of a row, at most so many.
    pub(crate) fn octets_of(&self, source: &Arc<Source>, row: &Row, most: usize) -> io::Result<Vec<u8>> {
        let length = usize::try_from(row.length).unwrap_or(usize::MAX).min(most);
        match self.framing.get().map(|framing| &framing.file) {
            Some(FileFraming::Blocks { size, header, used }) => {
                in_blocks(source, row.offset, length, ((*size).into(), (*header).into(), *used))
            }
            // A length in front of a record is not inside of it.
            _ => source.read_exact_at(row.offset, length),
        }
    }
}

/// Reads bytes that headers of blocks may be inside of: these are left out, as is what blocks do not use.
fn in_blocks(
    source: &Source,
    offset: u64,
    length: usize,
    (size, header, used): (u64, u64, Used),
) -> io::Result<Vec<u8>> {
    let (mut octets, mut at, size) = (Vec::new(), offset, size.max(1));
    while octets.len() < length {
        let begin = at - at % size;
        let end = match (used, source.read_at(begin, 2)?.as_slice()) {
            (Used::Behind, [a, b]) => begin + header + u64::from(u16::from_be_bytes([*a, *b])),
            (Used::WithHeader, [a, b]) => begin + u64::from(u16::from_be_bytes([*a, *b])),
            _ => begin + size,
        };
        let here = end.min(begin + size).saturating_sub(at);
        let count = usize::try_from(here).unwrap_or(usize::MAX).min(length - octets.len());
        octets.extend(source.read_exact_at(at, count)?);
        at = begin + size + header;
        if at >= source.length() && octets.len() < length {
            // Says that the file has changed.
            return source.read_exact_at(offset, length);
        }
    }
    Ok(octets)
}

/// Returns the framing of an input, found by trial where the specification does not settle it.
fn framing(source: &Source, view: Option<&View>) -> io::Result<Framing> {
    let sample = source.read_at(0, SAMPLE)?;
    let is_whole = source.length() <= SAMPLE as u64;
    let Some(view) = view else {
        let guessed = tercet_schema::records::guess(&sample, is_whole).framing;
        return Ok(guessed.unwrap_or_else(|| Framing::concatenated(Identifiers::any())));
    };
    let mut check = view.check();
    let found = match view.detects {
        true => detect(&view.framing, &sample, is_whole, &mut check).map(|found| found.framing),
        false => None,
    };
    Ok(found.unwrap_or_else(|| view.framing.clone()))
}

/// Rows on their way to the index.
struct Batch<'r> {
    rows: &'r Rows,
    found: Vec<(RowKind, u64, u64, Option<String>)>,
    handed: Instant,
}

impl<'r> Batch<'r> {
    fn new(rows: &'r Rows) -> Self {
        Self { rows, found: Vec::new(), handed: Instant::now() }
    }

    /// Adds a row; `false` if nobody looks any more.
    fn push(&mut self, kind: RowKind, offset: u64, length: u64, reason: Option<String>) -> io::Result<bool> {
        self.found.push((kind, offset, length, reason));
        let is_late =
            self.found.len().is_multiple_of(64) && self.handed.elapsed() > Duration::from_millis(20);
        if self.found.len() < BATCH && !is_late {
            return Ok(true);
        }
        self.hand_over()
    }

    fn hand_over(&mut self) -> io::Result<bool> {
        let mut store = self.rows.lock();
        for (kind, offset, length, reason) in self.found.drain(..) {
            if let Some(reason) = reason.filter(|_| store.reasons.len() < MOST_REASONS) {
                let number = store.count;
                store.reasons.insert(number, reason);
            }
            store.push(kind, offset, length);
        }
        let is_full = store.count >= MOST_ROWS;
        drop(store);
        self.rows.changed.notify_all();
        self.handed = Instant::now();
        if is_full {
            return Err(io::Error::other(format!("only the first {MOST_ROWS} rows are listed")));
        }
        Ok(!self.rows.stop.load(Ordering::Relaxed))
    }
}

impl Drop for Batch<'_> {
    fn drop(&mut self) {
        // What was found before a fault is listed.
        _ = self.hand_over();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_finds_rows_by_number_record_and_offset() {
        let record = [0x30, 3, 2, 1, 5];
        let mut file = Vec::new();
        for number in 0..3000 {
            file.extend(record);
            if number % 10 == 9 {
                file.extend([0; 7]);
            }
        }
        let source = Arc::new(Source::of_octets("a".to_owned(), file, ""));
        let rows = Rows::start(&source, None);
        let wait = Duration::from_secs(30);
        let row = rows.record(2999, wait).expect("the last record");
        assert_eq!((row.kind, row.offset, row.length), (RowKind::Record, 2999 * 5 + 299 * 7, 5));
        let progress = rows.progress(wait);
        assert_eq!(rows.range(row.number, 5, wait).first(), Some(&row));
        assert_eq!(rows.at_offset(row.offset + 4, wait), Some(row));
        assert_eq!(rows.at_offset(row.offset + 5, wait).map(|row| row.kind), Some(RowKind::Filler));
        assert_eq!(rows.octets_of(&source, &row, 100).expect("in memory"), record);
        assert!(progress.records <= 3000 && rows.range(10_000, 5, wait).is_empty());
    }
}
