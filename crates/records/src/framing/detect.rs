//! Finds out which framing a file has: candidates are made from its first octets, and the one wins by which most of them
//! are records that decode.
//!
//! What a candidate passes over as header, filler or block header may not be elements: these are records that do not
//! decode, and are to be rejected. Framings that pass over octets by nothing but the trial's own word (`skip`, other
//! filler) are taken only where plain records fail for the most part.

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
/// Octets without a record after which a candidate is given up.
const HOPELESS: u64 = 1 << 17;
/// Records between which a header is looked for.
const PAIRS: usize = 16;
/// Headers of records that are tried.
const GAPS: usize = 4;
/// Places that are tried as the begin of the second block.
const PLACES: usize = 4;
/// Outermost elements that are looked into for lists of records, elements inside one another, elements in all, and kinds of
/// lists that are found.
const OUTERMOST: usize = 16;
const LISTS: usize = 4;
const DEEP: usize = 6;
const ELEMENTS: usize = 4096;
/// Octets up to which elements are too short to be told from others.
const EMPTY: usize = 3;
/// Octets of white space: they begin no element that a file could have.
const WHITE: [u8; 3] = [0x20, 0x0D, 0x0A];

/// Tells whether octets are records.
pub trait Decodes {
    /// Whether octets are one record by some encoding rules.
    fn decodes(&mut self, format: RecordFormat, octets: &[u8]) -> bool;

    /// Whether the record that decoded last has values that are kept although they break the rules of their type.
    fn is_marked(&self) -> bool {
        false
    }

    /// Whether octets are the begin of a record whose rest is not there: they decode to their end.
    fn begins(&mut self, _: RecordFormat, _: &[u8]) -> bool {
        false
    }

    /// Counts octets that a trial has looked at; returns whether more trials are allowed.
    fn spend(&mut self, _octets: u64) -> bool {
        true
    }
}

impl<F: FnMut(RecordFormat, &[u8]) -> bool> Decodes for F {
    fn decodes(&mut self, format: RecordFormat, octets: &[u8]) -> bool {
        self(format, octets)
    }
}

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
    /// Octets of records behind those that were decoded.
    pub walked: u64,
    /// Of the octets that are passed over: those that are elements. They count as bad too.
    pub hidden: u64,
    /// Of the records that decode: those with values that are kept although they break the rules of their type.
    pub marked: u64,
    /// Outermost elements around records.
    wrappers: u64,
    /// Of the elements that do not decode: those of kinds that are not known.
    others: u64,
    /// Control records.
    controls: u64,
    /// Octets of headers that tell nothing.
    carved: u64,
}

impl Score {
    /// Whether everything is in order and there are records.
    pub fn is_perfect(&self) -> bool {
        self.records > 0 && self.bad == 0 && self.marked == 0
    }

    /// The octets of [`Score::decoded`], of which records with marked values count half.
    pub fn weighed(&self) -> u64 {
        let (decoded, records) = (u128::from(self.decoded()), u128::from(self.records.max(1)));
        u64::try_from(decoded - decoded * u128::from(self.marked.min(self.records)) / (2 * records))
            .unwrap_or(u64::MAX)
    }

    /// Octets of records that decode, if those behind the ones that were decoded do so in the same share.
    pub fn decoded(&self) -> u64 {
        let (good, all) = (u128::from(self.good), u128::from(self.records + self.failed));
        let walked = u128::from(self.walked) * u128::from(self.records) / all.max(1);
        u64::try_from(good + walked).unwrap_or(u64::MAX)
    }

    fn value(&self) -> i128 {
        i128::from(self.weighed()) - i128::from(self.bad) - i128::from(self.carved)
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
pub fn score(framing: &Framing, sample: &[u8], whole: bool, decodes: &mut dyn Decodes) -> Score {
    let mut reader = RecordReader::new(sample, framing.clone());
    if !whole {
        reader = reader.of_sample();
    }
    let mut score = Score::default();
    let mut last = 0;
    // Headers that are passed over, and those that are elements: one of many may look like one by chance.
    let (mut passed, mut passed_elements, mut hidden) = (0_u64, 0_u64, 0);
    while let Ok(Some(item)) = reader.next_by(decodes) {
        let (length, depth) = (item.octets.len() as u64, item.depth);
        let mut rejected = None;
        match item.part {
            Part::Record | Part::RecordIn(_) => {
                let format = item.part.record().unwrap_or_default();
                if score.records + score.failed >= RECORDS {
                    // Later ones are walked over only: what stands behind the last has to fit too.
                    score.walked += length;
                } else if decodes.decodes(format, item.octets) {
                    score.records += 1;
                    score.good += length;
                    score.marked += u64::from(decodes.is_marked());
                } else {
                    score.failed += 1;
                    rejected = Some(true);
                }
            }
            Part::Rejected { reason, .. } => {
                let is_kin = item.octets.first().is_some_and(|octet| framing.records.is_kin(*octet));
                score.others += u64::from(reason == Reason::Identifier && is_kin);
                rejected = Some(false).filter(|_| reason != Reason::WrapperOpen || whole)
            }
            // Elements outside of the wrappers are no members of anything, and records beside the list are lost.
            Part::Header | Part::Trailer
                if depth == 0
                    || framing.records.matches(item.octets)
                        && decodes.decodes(RecordFormat::Ber, item.octets) =>
            {
                score.hidden += length;
            }
            Part::Opaque if framing.controls.is_empty() => {
                let begins = framing.file == FileFraming::Plain
                    && usize::try_from(item.offset).is_ok_and(|at| {
                        begins_element(framing, sample, at, whole)
                            || hides_element(framing, sample, at, item.octets.len())
                    });
                passed += 1;
                if begins || extent::are_elements(item.octets) {
                    passed_elements += 1;
                    hidden += length;
                }
            }
            Part::Opaque => score.controls += 1,
            Part::Wrapper if depth == 0 && item.octets != [0, 0] => score.wrappers += 1,
            _ => {}
        }
        match rejected {
            Some(true) => reader.reject(),
            // What is larger than records may be, or than the sample, is what it is by any framing.
            Some(false) if reader.large => {}
            Some(false) if reader.begun => {
                score.records += 1;
                score.good += length;
            }
            Some(false) => score.bad += length,
            None => {}
        }
        last = reader.position();
        // Nothing has come of many octets: the rest is the same.
        if score.records == 0 && score.bad > HOPELESS {
            score.bad += (sample.len() as u64).saturating_sub(last);
            break;
        }
    }
    decodes.spend(last);
    // A length in front of a record that is none makes the rest of the file a single stretch.
    if !reader.carvings().faults.is_empty() {
        score.bad += (sample.len() as u64).saturating_sub(last);
    }
    if 2 * passed_elements >= passed {
        score.hidden += hidden;
    }
    score.bad += score.hidden;
    let is_told = matches!(framing.file, FileFraming::Blocks { used, .. } if used != Used::Unknown);
    if !is_told && !framing.file.has_lengths() {
        score.carved = reader.carvings().headers;
    }
    score
}

/// The framing that makes most of the first octets of a file. It is the one given, if that makes records of all.
pub fn detect(given: &Framing, sample: &[u8], whole: bool, decodes: &mut dyn Decodes) -> Option<Detected> {
    let plain = score(given, sample, whole, decodes);
    let mut best = (plain.records > 0).then(|| Detected { framing: given.clone(), score: plain });
    if plain.is_perfect() || !given.wrappers.is_empty() {
        return best;
    }
    let stretches = stretches(given, sample, whole, decodes);
    // Elements one behind the other from the first octet to the last: those that are no records are to be rejected.
    if best.is_some() && stretches.iter().all(|stretch| stretch.1 != Some(false)) {
        return best;
    }
    let are_elements = are_all_elements(given, sample, whole);
    let mut candidates = Vec::new();
    Maker { given, sample, candidates: &mut candidates }.all(decodes);
    for framing in candidates {
        if !decodes.spend(0) {
            break;
        }
        let score = score(&framing, sample, whole, decodes);
        let better = best.as_ref().is_none_or(|best| score.value() > best.score.value());
        if score.records > 0 && (is_certain(&framing, given, sample, whole) || score.controls > 1) {
            return Some(Detected { framing, score });
        }
        if score.records > 0
            && better
            && !(are_elements && takes_out(&framing, given))
            && is_admissible(&framing, given, &score, &plain, &stretches, sample, whole)
        {
            best = Some(Detected { framing, score });
            if score.is_perfect() {
                break;
            }
        }
    }
    best
}

/// Whether a framing says itself that it is the one: lengths that lead from record to record up to the end.
fn is_certain(framing: &Framing, given: &Framing, sample: &[u8], whole: bool) -> bool {
    match framing.file {
        FileFraming::Ts32297 => true,
        FileFraming::Prefix(prefix) => {
            let Lengths { seen, alike, exact, end } = Lengths::of(prefix, given, sample);
            let rest = sample.get(end..);
            let ends = match rest {
                Some(rest) => rest.iter().all(|octet| matches!(octet, 0 | 0xFF)),
                None => !whole,
            };
            (ends || seen == RECORDS) && seen == alike && exact > 0
        }
        FileFraming::Blocks { size, header, used } if used != Used::Unknown => {
            let (exact, other) = blocks_in_use(size, header, used, given, sample);
            exact > 1 && other == 0
        }
        FileFraming::Plain | FileFraming::Blocks { .. } => false,
    }
}

/// Whether the first octets are constructed elements one behind the other, with nothing but filler between.
fn are_all_elements(given: &Framing, sample: &[u8], whole: bool) -> bool {
    let mut at = 0;
    while let Some(rest) = sample.get(at..).filter(|rest| !rest.is_empty()) {
        if given.filler.contains(&rest[0]) {
            at += 1;
            continue;
        }
        if !extent::head(rest).is_ok_and(|head| head.constructed) {
            return false;
        }
        match Extent::default().advance(rest, usize::MAX) {
            Step::Complete(length) => at += length,
            Step::Need(_) => return !whole && at > 0,
            Step::Fault(_) => return false,
        }
    }
    at > 0
}

/// Whether a framing takes octets for something else than elements and the filler that is given, by no length in front of
/// records.
fn takes_out(framing: &Framing, given: &Framing) -> bool {
    matches!(framing.file, FileFraming::Blocks { .. })
        || framing.passes_over_more_than(given)
        || !framing.controls.is_empty()
}

/// Whether a framing may be taken without having been asked for: nothing is lost by it that plain records would show.
fn is_admissible(
    framing: &Framing,
    given: &Framing,
    score: &Score,
    plain: &Score,
    stretches: &[(u64, Option<bool>)],
    sample: &[u8],
    whole: bool,
) -> bool {
    if !framing.wrappers.is_empty() {
        // Elements that hold one record each are records of a kind that is not known.
        let elements = score.records + score.failed + score.others;
        return score.hidden == 0 && (score.wrappers < 2 || elements >= 2 * score.wrappers);
    }
    match framing.file {
        FileFraming::Prefix(prefix) if given.rules.is_none_or(|rules| rules == RecordFormat::Ber) => {
            let lengths = Lengths::of(prefix, given, sample);
            let overruns = whole && lengths.end > sample.len();
            return !overruns && 2 * lengths.exact > lengths.seen;
        }
        FileFraming::Blocks { size, header, used } if header > 0 => {
            return !has_elements_as_headers(size, header, given, sample, stretches)
                && (used == Used::Unknown || {
                    let (exact, other) = blocks_in_use(size, header, used, given, sample);
                    exact > other || other == 0
                });
        }
        _ => {}
    }
    if !framing.passes_over_more_than(given) {
        return true;
    }
    let known = |octet: &u8| given.filler.contains(octet) || WHITE.contains(octet);
    let added: Vec<u8> = framing.filler.iter().copied().filter(|octet| !known(octet)).collect();
    let fails = 2 * plain.records <= score.records;
    let is_white =
        framing.skip == given.skip && framing.record_header == given.record_header && added.is_empty();
    (fails || is_white) && score.hidden == 0 && !begins_elements(&added, framing, sample, whole)
}

/// What lengths in front of records come to.
struct Lengths {
    /// Lengths that were looked at.
    seen: u64,
    /// Those in front of what begins like records.
    alike: u64,
    /// Those of elements that look like records.
    exact: u64,
    /// The octet behind the last.
    end: usize,
}

impl Lengths {
    fn of(prefix: Prefix, given: &Framing, sample: &[u8]) -> Self {
        let mut found = Self { seen: 0, alike: 0, exact: 0, end: 0 };
        let mut group = 0;
        while found.seen < RECORDS
            && let Some(payload) = prefix.payload(sample.get(found.end..).unwrap_or_default())
        {
            let begin = found.end + prefix.size();
            if prefix.grouped && group <= found.end {
                group = begin.saturating_add(usize::try_from(payload).unwrap_or(usize::MAX));
                found.end = begin;
                continue;
            }
            let octets = sample.get(begin..).unwrap_or_default();
            let length = usize::try_from(payload).unwrap_or(usize::MAX);
            let fits = match octets.get(..length) {
                Some(octets) => extent::are_elements(octets),
                None => {
                    let head = extent::head(octets).ok();
                    head.and_then(|head| Some(head.length? + head.size as u64)) == Some(payload)
                }
            };
            let kin = octets.first().is_some_and(|first| given.records.is_kin(*first));
            let alike = kin || given.records.matches(octets);
            found.alike += u64::from(alike);
            found.exact += u64::from(fits && alike);
            found.seen += 1;
            found.end = begin.saturating_add(length);
        }
        found
    }
}

/// What plain records make of the first octets: where each stretch begins and whether it is an element, a record or not;
/// nothing is said of filler.
fn stretches(
    given: &Framing,
    sample: &[u8],
    whole: bool,
    decodes: &mut dyn Decodes,
) -> Vec<(u64, Option<bool>)> {
    let mut reader = RecordReader::new(sample, given.clone());
    if !whole {
        reader = reader.of_sample();
    }
    let mut stretches = Vec::new();
    while let Ok(Some(item)) = reader.next_by(decodes) {
        let kind = match item.part {
            Part::Record if !decodes.decodes(RecordFormat::Ber, item.octets) => {
                reader.reject();
                continue;
            }
            Part::Record => Some(true),
            // What goes on behind the sample is no element yet.
            Part::Rejected { reason: Reason::Truncated, .. } if !whole => None,
            Part::Rejected { .. } => {
                let kin = item.octets.first().is_some_and(|octet| given.records.is_kin(*octet));
                Some(kin && item.octets.len() > 2 && extent::are_elements(item.octets))
            }
            _ => None,
        };
        stretches.push((item.offset, kind));
        if kind == Some(false) {
            // Elements may stand behind octets that are none.
            let places = 0..item.octets.len().min(HEADER + 1);
            let mut elements = places.filter(|at| given.records.is_kin(item.octets[*at]));
            let found = elements.find(|at| extent::are_elements(&item.octets[*at..]));
            stretches.extend(found.map(|at| (item.offset + at as u64, Some(true))));
        }
    }
    stretches
}

/// Whether what stands where blocks begin are elements, or parts of elements, where it is not filler for the most part.
fn has_elements_as_headers(
    size: u32,
    header: u16,
    given: &Framing,
    sample: &[u8],
    stretches: &[(u64, Option<bool>)],
) -> bool {
    let (mut headers, mut elements) = (0_usize, 0_usize);
    for at in (0..sample.len()).step_by(size.max(1) as usize) {
        let Some(octets) = sample.get(at..at + usize::from(header)) else { break };
        if octets.iter().all(|octet| given.filler.contains(octet)) {
            continue;
        }
        let kind_at = |at: usize| {
            let behind = stretches.partition_point(|stretch| stretch.0 <= at as u64);
            // A record with a header in its contents ends too early: octets that are no element follow.
            let sound = stretches.get(behind).is_none_or(|next| next.1 != Some(false));
            stretches.get(behind.saturating_sub(1)).and_then(|stretch| stretch.1).filter(|_| sound)
        };
        let inside = (at..at + octets.len()).filter_map(kind_at).any(|is_element| is_element);
        let ends = |at: usize| given.records.is_kin(octets[at]) && extent::are_elements(&octets[at..]);
        let ends = (1..octets.len().saturating_sub(3)).any(ends);
        headers += 1;
        let begins =
            begins_element(given, sample, at, true) || hides_element(given, sample, at, octets.len());
        elements += usize::from(inside || ends || begins || extent::are_elements(octets));
    }
    // One or two headers may be anything.
    2 * elements >= headers || headers - elements < 3
}

/// Of how many blocks elements say that the header is right about how much is used, and of how many they say that it is not.
/// Elements go on in the next block if a block is full; they end where the use of another one does.
fn blocks_in_use(size: u32, header: u16, used: Used, given: &Framing, sample: &[u8]) -> (usize, usize) {
    let header = usize::from(header);
    let (mut exact, mut other) = (0_usize, 0_usize);
    // What elements are looked for in, and where blocks end there that are full or not.
    let (mut joined, mut ends) = (Vec::with_capacity(sample.len()), Vec::new());
    for block in sample.chunks(size.max(1) as usize) {
        let Some(told) = block.get(..2).filter(|_| block.len() > header) else { break };
        let told = usize::from(u16::from_be_bytes([told[0], told[1]]));
        let end = if used == Used::Behind { told.saturating_add(header) } else { told };
        let Some(octets) = block.get(header..end) else {
            // The sample may end inside of the block.
            other += usize::from(end > size as usize || block.len() == size as usize);
            break;
        };
        if octets.is_empty() {
            other += usize::from(!block[header..].iter().all(|octet| given.filler.contains(octet)));
            continue;
        }
        joined.extend_from_slice(octets);
        ends.push((joined.len(), end == size as usize));
    }
    let (mut at, mut ends) = (0, ends.into_iter().peekable());
    while let Some((end, is_full)) = ends.peek().copied() {
        if at < end {
            let Some(length) = alike(given, &joined, at) else { break };
            at += length;
        }
        if at >= end {
            ends.next();
            let goes_on = is_full && ends.peek().is_some();
            exact += usize::from(if goes_on { at > end } else { at == end });
            other += usize::from(!is_full && at > end);
        }
    }
    (exact, other + ends.filter(|end| !end.1).count())
}

/// The length of an element at a place that looks like a record, whether it decodes or not.
fn alike(given: &Framing, octets: &[u8], at: usize) -> Option<usize> {
    let rest = octets.get(at..).filter(|rest| !rest.is_empty())?;
    if !given.records.matches(rest) && !given.records.is_kin(rest[0]) {
        return None;
    }
    match Extent::default().advance(rest, given.record_limit) {
        Step::Complete(length) => Some(length),
        _ => None,
    }
}

/// Whether an element begins at a place, and behind it a record, filler, or nothing.
fn begins_element(framing: &Framing, sample: &[u8], at: usize, whole: bool) -> bool {
    let rest = sample.get(at..).unwrap_or_default();
    let Step::Complete(length) = Extent::default().advance(rest, framing.record_limit) else { return false };
    let next = &rest[length..];
    let follows = |octet: &u8| {
        framing.records.matches(next) || framing.records.is_kin(*octet) || framing.filler.contains(octet)
    };
    next.first().map_or(whole, follows)
}

/// Whether an element that looks like a record and holds elements begins among octets that would be passed over.
fn hides_element(framing: &Framing, sample: &[u8], at: usize, length: usize) -> bool {
    let mut places = at..at + length.min(FIRST);
    places.any(|place| sound(framing, sample, place).is_some_and(|length| length > EMPTY))
}

/// The length of a constructed element at a place that looks like a record and holds elements.
fn sound(given: &Framing, sample: &[u8], at: usize) -> Option<usize> {
    let length = alike(given, sample, at)?;
    let octets = &sample[at..at + length];
    let head = extent::head(octets).ok().filter(|head| head.constructed)?;
    // The search for the end of an indefinite length has been through the elements.
    (head.length.is_none() || extent::are_elements(&octets[head.size..])).then_some(length)
}

/// Whether octets that would be filler begin elements, behind which records or filler stand, in half of the places or more.
fn begins_elements(added: &[u8], framing: &Framing, sample: &[u8], whole: bool) -> bool {
    let (mut seen, mut elements, mut filler) = (0_u64, 0_u64, false);
    let mut reader = RecordReader::new(sample, framing.clone());
    while let Ok(Some(item)) = reader.next(&mut |_| true) {
        let starts = !std::mem::replace(&mut filler, item.part == Part::Filler);
        let Some(place) = item.octets.iter().position(|octet| added.contains(octet)) else { continue };
        if item.part != Part::Filler || !starts {
            continue;
        }
        seen += 1;
        let at = usize::try_from(item.offset).map_or(usize::MAX, |at| at.saturating_add(place));
        elements += u64::from(begins_element(framing, sample, at, whole));
    }
    2 * elements >= seen && seen > 0
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
    decodes: &mut dyn Decodes,
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
    fn all(&mut self, decodes: &mut dyn Decodes) {
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
        let filler = [0x00, 0xFF].into_iter().chain(WHITE).filter(|octet| !self.given.records.begins(*octet));
        self.candidates.push(Framing { filler: filler.collect(), ..self.given.clone() });
        if CONTROLS.iter().any(|signature| self.sample.starts_with(signature)) {
            let controls = CONTROLS.iter().map(|signature| signature.to_vec()).collect();
            self.candidates.push(Framing { controls, ..self.given.clone() });
        }
        self.full_blocks();
        // Elements around the records would do as headers that are skipped, where the sample does not show their end.
        let mut lists = Vec::new();
        self.inside((0, self.sample.len()), &mut Vec::new(), &mut { ELEMENTS }, &mut lists, decodes);
        for around in lists {
            let ids = |octets: &Vec<u8>| {
                let mut ids = Identifiers::none();
                ids.add_octets(octets);
                ids
            };
            let wrappers = around.iter().map(ids).collect();
            self.candidates.push(Framing { wrappers, ..self.given.clone() });
        }
        if let Some((begin, end)) = self.first(decodes) {
            // A record of a kind that is not known may stand before it, or around it.
            let first = self.first_alike(begin, 0).unwrap_or(begin);
            self.headers(begin, end, decodes);
            // Blocks begin with a header: behind it elements stand that may be damaged, one behind the other.
            let mut places = vec![first];
            while let Some(before) =
                self.before(places[places.len() - 1], 0).filter(|_| places.len() < PLACES * HEADER)
            {
                places.push(before);
            }
            places.push(begin);
            places.retain(|place| (2..=HEADER).contains(place));
            places.sort_unstable();
            places.dedup();
            for header in places.into_iter().take(PLACES) {
                self.blocks(header, decodes);
            }
            self.filler(begin);
        }
    }

    fn file(&mut self, file: FileFraming, plausible: bool) {
        if plausible {
            self.candidates.push(Framing { file, ..self.given.clone() });
        }
    }

    /// The length of the record at a place.
    fn record(&self, at: usize, decodes: &mut dyn Decodes) -> Option<usize> {
        let rest = self.sample.get(at..).filter(|rest| self.given.records.matches(rest))?;
        match Extent::default().advance(rest, self.given.record_limit) {
            Step::Complete(length) => decodes.decodes(RecordFormat::Ber, &rest[..length]).then_some(length),
            _ => None,
        }
    }

    /// The first place where a record decodes.
    fn first(&self, decodes: &mut dyn Decodes) -> Option<(usize, usize)> {
        (0..FIRST.min(self.sample.len())).find_map(|at| Some((at, at + self.record(at, decodes)?)))
    }

    /// The first place before another one where a constructed element looks like a record, holds elements, and has one like
    /// it behind it and a header of that length.
    fn first_alike(&self, before: usize, gap: usize) -> Option<usize> {
        (0..before).find(|&at| {
            let sound = sound(self.given, self.sample, at);
            sound.is_some_and(|length| at + length >= before && self.alike(at + length + gap).is_some())
        })
    }

    /// Headers of the file and of each record: what stands between two records that decode stands in front of each, or between
    /// one and what looks like one.
    fn headers(&mut self, begin: usize, mut end: usize, decodes: &mut dyn Decodes) {
        let mut at = begin;
        let mut gaps = Vec::new();
        for _ in 0..PAIRS {
            let places = 0..=HEADER.min(at);
            let alike = places.clone().find(|gap| self.is_sound(end + gap));
            gaps.extend(alike);
            gaps.extend(places.clone().find(|gap| self.record(end + gap, decodes).is_some()));
            let next = (end..end.saturating_add(FIRST).min(self.sample.len()))
                .find_map(|at| Some((at, at + self.record(at, decodes)?)));
            let Some(next) = next else { break };
            (at, end) = next;
        }
        gaps.sort_unstable();
        gaps.dedup();
        for gap in gaps.into_iter().take(GAPS) {
            // Records in front of the first that decodes are no header.
            let mut first = self.first_alike(begin, gap).unwrap_or(begin);
            while let Some(before) = self.before(first, gap) {
                first = before;
            }
            if first >= gap && (first > gap || gap > 0) {
                let skip = (first - gap) as u64;
                self.candidates.push(Framing { skip, record_header: gap, ..self.given.clone() });
            }
        }
    }

    /// Whether a constructed element at a place looks like a record and holds elements.
    fn is_sound(&self, at: usize) -> bool {
        sound(self.given, self.sample, at).is_some()
    }

    /// Where the element begins that ends so many octets in front of a record and looks like one: the place before which
    /// octets are most like those before the record.
    fn before(&self, record: usize, gap: usize) -> Option<usize> {
        let end = record.checked_sub(gap)?;
        let header = &self.sample[end..record];
        let places = (gap..end).filter(|&at| {
            let rest = &self.sample[at..];
            let looks = self.given.records.matches(rest) || self.given.records.is_kin(rest[0]);
            looks && Extent::default().advance(&rest[..end - at], usize::MAX) == Step::Complete(end - at)
        });
        let alike = |at: &usize| {
            let other = &self.sample[at - gap..*at];
            let same = other.iter().zip(header).filter(|(one, other)| one == other).count();
            (same, std::cmp::Reverse(*at))
        };
        places.max_by_key(alike)
    }

    fn alike(&self, at: usize) -> Option<usize> {
        alike(self.given, self.sample, at)
    }

    /// Blocks the first of which is full and tells how long it is, if elements say so of others too.
    fn full_blocks(&mut self) {
        let Some(two) = self.sample.get(..2) else { return };
        let told = usize::from(u16::from_be_bytes([two[0], two[1]]));
        for header in (2..=HEADER).step_by(2) {
            for (size, used) in [(told + header, Used::Behind), (told, Used::WithHeader)] {
                if size < 4 * header || size >= self.sample.len() {
                    continue;
                }
                if let (Ok(of_block), Ok(of_header)) = (u32::try_from(size), u16::try_from(header))
                    && let (2.., 0) = blocks_in_use(of_block, of_header, used, self.given, self.sample)
                {
                    self.push_block(size, header, used);
                }
            }
        }
    }

    /// Blocks with headers of a length.
    fn blocks(&mut self, header: usize, decodes: &mut dyn Decodes) {
        let (mut at, mut before) = (header, header);
        while let Some(length) = self.alike(at) {
            before = at;
            at += length;
        }
        // Records within blocks: the next one stands behind the header of the next block. It may be damaged.
        let places = (at + 1..(at + BLOCK).min(self.sample.len())).filter(|&next| {
            let length = self.alike(next);
            let follows = |length: usize| self.sample.get(next + length).is_none_or(|octet| *octet == 0);
            length.is_some_and(|length| follows(length) || self.alike(next + length).is_some())
        });
        for next in places.take(PLACES).collect::<Vec<_>>() {
            self.block(next - header, header);
        }
        let next =
            (at + 1..(at + BLOCK).min(self.sample.len())).find(|&next| self.record(next, decodes).is_some());
        if let Some(next) = next {
            self.block(next - header, header);
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
    fn crossed(&self, at: usize, header: usize, decodes: &mut dyn Decodes) -> Vec<usize> {
        let Some(Ok(head)) = self.sample.get(at..).map(extent::head) else { return Vec::new() };
        let Some(length) = head.length.and_then(|length| usize::try_from(length).ok()) else {
            return Vec::new();
        };
        let length = length.saturating_add(head.size);
        if length > BLOCK || at + length + header > self.sample.len() {
            return Vec::new();
        }
        // Behind it a record stands, which may be damaged, or the blocks end.
        let behind = at + length + header;
        let ends = self.sample.get(behind).is_none_or(|octet| self.given.filler.contains(octet));
        if !ends && self.alike(behind).is_none() {
            return Vec::new();
        }
        let mut joined = Vec::with_capacity(length);
        let sizes = (at + 1..at + length).filter(|&size| {
            joined.clear();
            joined.extend_from_slice(&self.sample[at..size]);
            joined.extend_from_slice(&self.sample[size + header..at + length + header]);
            decodes.decodes(RecordFormat::Ber, &joined)
        });
        sizes.take(SIZES).collect()
    }

    fn block(&mut self, size: usize, header: usize) {
        let count =
            |at: usize| self.sample.get(at..at + 2).map(|two| usize::from(two[0]) << 8 | usize::from(two[1]));
        // Forms by what the first block tells may have been made before.
        let is_known = |framing: &Framing| match framing.file {
            FileFraming::Blocks { size: of_block, header: of_header, used: Used::Unknown } => {
                (of_block as usize, usize::from(of_header)) == (size, header)
            }
            _ => false,
        };
        // Headers are a small part of blocks.
        if size < 4 * header || self.candidates.iter().any(is_known) {
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
            self.push_block(size, header, used);
        }
    }

    fn push_block(&mut self, size: usize, header: usize, used: Used) {
        if let (Ok(size), Ok(header)) = (u32::try_from(size), u16::try_from(header)) {
            self.file(FileFraming::Blocks { size, header, used }, true);
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
        // What begins as records do, but for the number of the tag, is a record of a kind that is not known.
        for octet in octets.into_iter().flatten().filter(|octet| !self.given.records.is_kin(**octet)) {
            if !filler.contains(octet) {
                filler.push(*octet);
            }
        }
        self.candidates.push(Framing { filler, ..self.given.clone() });
    }

    /// Records inside of elements: looks for a record among the elements at a place, then inside of them. Elements beside
    /// records hold no list.
    fn inside(
        &self,
        (begin, end): (usize, usize),
        around: &mut Vec<Vec<u8>>,
        left: &mut usize,
        found: &mut Vec<Vec<Vec<u8>>>,
        decodes: &mut dyn Decodes,
    ) {
        let mut inner = Vec::new();
        let mut at = begin;
        while at < end && *left > 0 && (!around.is_empty() || inner.len() < OUTERMOST) {
            if around.is_empty() && self.given.filler.contains(&self.sample[at]) {
                at += 1;
                continue;
            }
            *left -= 1;
            if !around.is_empty() && self.record(at, decodes).is_some() {
                if !found.contains(around) {
                    found.push(around.clone());
                }
                return;
            }
            let rest = &self.sample[at..end];
            let Ok(head) = extent::head(rest) else { break };
            let length = head.length.and_then(|length| usize::try_from(length).ok());
            let next = match (length, Extent::default().advance(rest, self.given.record_limit)) {
                (Some(length), _) => (at + head.size).saturating_add(length).min(end),
                (None, Step::Complete(length)) => at + length,
                _ => end,
            };
            if head.constructed {
                inner.push((at, at + head.size, next));
            }
            at = next;
        }
        for (at, begin, end) in inner {
            if around.len() == DEEP || found.len() == LISTS {
                return;
            }
            let rest = &self.sample[at..];
            around.push(rest[..extent::identifier(rest)].to_vec());
            self.inside((begin, end), around, left, found, decodes);
            around.pop();
        }
    }
}
