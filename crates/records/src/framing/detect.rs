//! Which framing a file has: candidates are made from its first octets, and the one wins by which most of them are
//! records that decode.

use super::carve::{FileFraming, Prefix, Used};
use super::extent::{self, Extent, Step};
use super::spell::CONTROLS;
use super::ts32297::FileHeader;
use super::{Framing, Identifiers, Part, Reason, RecordFormat, RecordReader};
use std::io::{Read, Result};

/// Octets in front of the first record that are looked through.
const FIRST: usize = 4096;
/// The largest header in front of a record or block that is looked for.
const HEADER: usize = 64;
/// The largest block whose size is looked for.
const BLOCK: usize = 1 << 17;
/// Sizes of blocks that are tried for one border.
const SIZES: usize = 64;
/// Records that are decoded for one candidate.
const RECORDS: u64 = 500;

/// Tells whether octets are a record by some encoding rules.
pub type Decodes<'d> = &'d mut dyn FnMut(RecordFormat, &[u8]) -> bool;

/// What a framing makes of some octets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Score {
    /// Records that decode.
    pub records: u64,
    /// Elements that do not.
    pub failed: u64,
    /// Octets of records that decode.
    pub good: u64,
    /// Octets that are no record or do not decode.
    pub bad: u64,
}

impl Score {
    /// Whether everything is in order and there are records.
    pub fn is_perfect(&self) -> bool {
        self.records > 0 && self.bad == 0
    }

    fn value(&self) -> i128 {
        i128::from(self.good) - i128::from(self.bad)
    }
}

/// A framing found by trial.
#[derive(Clone, Debug)]
pub struct Detected {
    /// The framing.
    pub framing: Framing,
    /// What it makes of the first octets.
    pub score: Score,
}

/// What a framing makes of the first octets of a file; `whole` tells whether these are all. `decodes` tells whether an
/// element decodes as a record.
pub fn score(framing: &Framing, sample: &[u8], whole: bool, decodes: Decodes<'_>) -> Score {
    let mut reader = RecordReader::new(sample, framing.clone());
    let mut score = Score::default();
    let mut last = 0;
    // Nothing is decoded twice: candidates behind damage are counted when they come.
    while let Ok(Some(item)) = reader.next(&mut |_| true) {
        let length = item.octets.len() as u64;
        match item.part {
            Part::Record | Part::RecordIn(_) => {
                let format = item.part.record().unwrap_or_default();
                if score.records + score.failed >= RECORDS {
                    // Later ones are walked over only: what stands behind the last has to fit too.
                } else if decodes(format, item.octets) {
                    score.records += 1;
                    score.good += length;
                } else {
                    score.failed += 1;
                    score.bad += length;
                }
            }
            // The sample ends inside of a record.
            Part::Rejected { reason: Reason::Truncated, .. } if !whole => {}
            Part::Rejected { reason: Reason::WrapperOpen, .. } if !whole => {}
            Part::Rejected { .. } => score.bad += length,
            _ => {}
        }
        last = reader.position();
    }
    // A length in front of a record that is none makes the rest of the file a single stretch.
    if !reader.carvings().faults.is_empty() {
        score.bad += (sample.len() as u64).saturating_sub(last);
    }
    score
}

/// The framing that makes most of the first octets of a file. It is the one given, if that makes records of all.
pub fn detect(given: &Framing, sample: &[u8], whole: bool, decodes: Decodes<'_>) -> Option<Detected> {
    let mut best: Option<Detected> = None;
    let mut try_it = |framing: Framing, decodes: Decodes<'_>| {
        let score = score(&framing, sample, whole, decodes);
        if score.records > 0 && best.as_ref().is_none_or(|best| score.value() > best.score.value()) {
            best = Some(Detected { framing, score });
        }
        best.as_ref().is_some_and(|best| best.score.is_perfect())
    };
    if try_it(given.clone(), decodes) || !given.wrappers.is_empty() {
        return best;
    }
    let mut candidates = Vec::new();
    Maker { given, sample, candidates: &mut candidates }.all(decodes);
    for framing in candidates {
        if try_it(framing, decodes) {
            break;
        }
    }
    best
}

/// Octets that framings are tried on.
const SAMPLE: u64 = 1 << 20;

/// Reads the first octets of an input and gives them back with the framing that makes most of them, if it is another than
/// the one given.
///
/// # Errors
/// Those of the input.
pub(crate) fn detect_in(
    given: &Framing,
    input: &mut impl Read,
    decodes: Decodes<'_>,
) -> Result<(Vec<u8>, Option<Framing>)> {
    let mut sample = Vec::new();
    input.take(SAMPLE).read_to_end(&mut sample)?;
    let whole = (sample.len() as u64) < SAMPLE;
    let found = detect(given, &sample, whole, decodes).map(|found| found.framing);
    Ok((sample, found.filter(|found| found.spelt() != given.spelt())))
}

struct Maker<'a> {
    given: &'a Framing,
    sample: &'a [u8],
    candidates: &'a mut Vec<Framing>,
}

impl Maker<'_> {
    fn all(&mut self, decodes: Decodes<'_>) {
        self.file(FileFraming::Ts32297, FileHeader::read(self.sample).is_some());
        for width in [4, 2] {
            for (little, inclusive) in [(false, false), (false, true), (true, false), (true, true)] {
                let prefix = Prefix { width, little, inclusive, more: 0, grouped: false };
                self.file(FileFraming::Prefix(prefix), true);
            }
        }
        self.file(FileFraming::Prefix(Prefix::RDW), true);
        self.file(FileFraming::Prefix(Prefix::BDW), true);
        if self.given.rules.is_some_and(|format| format != RecordFormat::Ber) {
            return;
        }
        let filler =
            [0x00, 0xFF, 0x20, 0x0D, 0x0A].into_iter().filter(|octet| !self.given.records.begins(*octet));
        self.candidates.push(Framing { filler: filler.collect(), ..self.given.clone() });
        if CONTROLS.iter().any(|signature| self.sample.starts_with(signature)) {
            let controls = CONTROLS.iter().map(|signature| signature.to_vec()).collect();
            self.candidates.push(Framing { controls, ..self.given.clone() });
        }
        // Elements around the records would do as headers that are skipped, where the sample does not show their end.
        self.inside(0, self.sample.len(), &mut Vec::new(), decodes);
        if let Some((begin, end)) = self.first(decodes) {
            self.headers(begin, end, decodes);
            self.blocks(begin, decodes);
            self.filler(begin);
        }
    }

    fn file(&mut self, file: FileFraming, plausible: bool) {
        if plausible {
            self.candidates.push(Framing { file, ..self.given.clone() });
        }
    }

    /// The length of the record at a place.
    fn record(&self, at: usize, decodes: Decodes<'_>) -> Option<usize> {
        let rest = self.sample.get(at..).filter(|rest| self.given.records.matches(rest))?;
        match Extent::default().advance(rest, self.given.record_limit) {
            Step::Complete(length) => decodes(RecordFormat::Ber, &rest[..length]).then_some(length),
            _ => None,
        }
    }

    /// The first place where a record decodes.
    fn first(&self, decodes: Decodes<'_>) -> Option<(usize, usize)> {
        (0..FIRST.min(self.sample.len())).find_map(|at| Some((at, at + self.record(at, decodes)?)))
    }

    /// Headers of the file and of each record.
    fn headers(&mut self, begin: usize, end: usize, decodes: Decodes<'_>) {
        let found = (0..=HEADER.min(begin)).find(|gap| self.record(end + gap, decodes).is_some());
        if let Some(gap) = found.filter(|_| begin > 0) {
            self.candidates.push(Framing {
                skip: (begin - gap) as u64,
                record_header: gap,
                ..self.given.clone()
            });
        }
    }

    /// Blocks with headers as long as what stands in front of the first record.
    fn blocks(&mut self, header: usize, decodes: Decodes<'_>) {
        if header > HEADER {
            return;
        }
        let (mut at, mut before) = (header, header);
        while let Some(length) = self.record(at, decodes) {
            before = at;
            at += length;
        }
        // Records within blocks: the next one stands behind the header of the next block.
        let next =
            (at + 1..(at + BLOCK).min(self.sample.len())).find(|&next| self.record(next, decodes).is_some());
        if let Some(next) = next.filter(|_| header > 0) {
            self.block(next - header, header);
        }
        if header == 0 {
            return;
        }
        // Records across blocks: the one that does not decode has a header inside of it, or the one before, which may
        // decode with the header as a part of its last value.
        for at in [at, before] {
            for size in self.crossed(at, header, decodes) {
                self.block(size, header);
            }
        }
    }

    /// The sizes of blocks that make a record of what stands at a place and behind the header of the next block: more than
    /// one if the border is in contents that may be any octets.
    fn crossed(&self, at: usize, header: usize, decodes: Decodes<'_>) -> Vec<usize> {
        let Some(Ok(head)) = self.sample.get(at..).map(extent::head) else { return Vec::new() };
        let Some(length) = head.length.and_then(|length| usize::try_from(length).ok()) else {
            return Vec::new();
        };
        let length = length.saturating_add(head.size);
        if length > BLOCK || at + length + header > self.sample.len() {
            return Vec::new();
        }
        if self.record(at + length + header, decodes).is_none() {
            return Vec::new();
        }
        let mut joined = Vec::with_capacity(length);
        let sizes = (at + 1..at + length).filter(|&size| {
            joined.clear();
            joined.extend_from_slice(&self.sample[at..size]);
            joined.extend_from_slice(&self.sample[size + header..at + length + header]);
            decodes(RecordFormat::Ber, &joined)
        });
        sizes.take(SIZES).collect()
    }

    fn block(&mut self, size: usize, header: usize) {
        let count =
            |at: usize| self.sample.get(at..at + 2).map(|two| usize::from(two[0]) << 8 | usize::from(two[1]));
        let (Ok(size_), Ok(header_)) = (u32::try_from(size), u16::try_from(header)) else { return };
        if size <= header {
            return;
        }
        let mut forms = vec![Used::Unknown];
        // What the headers may tell is believed if it could be so in both of the first blocks.
        if let (Some(one), Some(two)) = (count(0), count(size)) {
            let room = size - header;
            if header >= 2 && [one, two].iter().all(|count| (1..=room).contains(count)) {
                forms.insert(0, Used::Behind);
            }
            if header >= 2 && [one, two].iter().all(|count| (header + 1..=size).contains(count)) {
                forms.insert(1, Used::WithHeader);
            }
        }
        for used in forms {
            let file = FileFraming::Blocks { size: size_, header: header_, used };
            self.candidates.push(Framing { file, ..self.given.clone() });
        }
    }

    /// Filler of another octet than those given.
    fn filler(&mut self, begin: usize) {
        let mut at = begin;
        while let Some(rest) = self.sample.get(at..).filter(|rest| self.given.records.matches(rest))
            && let Step::Complete(length) = Extent::default().advance(rest, self.given.record_limit)
        {
            at += length;
        }
        let octets = [self.sample.first(), self.sample.get(at)];
        let mut filler = self.given.filler.clone();
        for octet in octets.into_iter().flatten().filter(|octet| !self.given.records.begins(**octet)) {
            if !filler.contains(octet) {
                filler.push(*octet);
            }
        }
        self.candidates.push(Framing { filler, ..self.given.clone() });
    }

    /// Records inside of elements: looks for a record among the elements at a place, then inside of them.
    fn inside(&mut self, begin: usize, end: usize, around: &mut Vec<Vec<u8>>, decodes: Decodes<'_>) -> bool {
        let mut at = begin;
        for _ in 0..16 {
            if at >= end {
                break;
            }
            if !around.is_empty() && self.record(at, decodes).is_some() {
                let ids = |octets: &Vec<u8>| {
                    let mut ids = Identifiers::none();
                    ids.add_octets(octets);
                    ids
                };
                let wrappers = around.iter().map(ids).collect();
                self.candidates.push(Framing { wrappers, ..self.given.clone() });
                return true;
            }
            let rest = &self.sample[at..end];
            let Ok(head) = extent::head(rest) else { break };
            let length = head.length.and_then(|length| usize::try_from(length).ok());
            let stop = length.map_or(end, |length| (at + head.size).saturating_add(length).min(end));
            if head.constructed && around.len() < 6 {
                let more = rest.iter().skip(1).take_while(|octet| **octet & 0x80 != 0).count();
                let identifier = if rest[0] & 0x1F == 0x1F { 2 + more } else { 1 };
                around.push(rest.get(..identifier).unwrap_or_default().to_vec());
                if self.inside(at + head.size, stop, around, decodes) {
                    return true;
                }
                around.pop();
            }
            match (length, Extent::default().advance(rest, self.given.record_limit)) {
                (Some(_), _) => at = stop,
                (None, Step::Complete(length)) => at += length,
                _ => break,
            }
        }
        false
    }
}
