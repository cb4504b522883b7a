//! How well a type and a framing fit the first octets of a file, to choose between several.

use crate::framing::partial::closed;
use crate::framing::{Decodes, Framing, Part, RecordFormat, RecordReader, are_elements, detect, score};
use crate::other_rules::Check;
use std::cell::Cell;
use tercet_dynamic::{Leaf, Shape, Sink};
use tercet_plan::{FieldId, Kind, NodeId};

/// Records that are looked into.
const RECORDS: u64 = 64;

/// What reading the first octets of a file by a type comes to.
#[derive(Clone, Debug)]
pub struct Fit {
    /// Records that decode.
    pub records: u64,
    /// Records that were tried.
    pub tried: u64,
    /// Octets of records that decode, those behind the ones that were tried included in the same share.
    pub octets: u64,
    /// Of the records that decode: those with values that are kept although they break the rules of their type.
    pub marked: u64,
    /// These octets, of which records with such values count half.
    weighed: u64,
    /// Of 1,000 octets of records, those in values that the type tells something about: not those of open types and of
    /// components that it does not know.
    pub known: u64,
    /// The framing.
    pub framing: Framing,
    /// Whether that framing passes over octets that nothing confirms.
    pub guessed: bool,
}

impl Fit {
    /// Whether there were records and all of them decoded, without marked values.
    pub fn is_perfect(&self) -> bool {
        self.tried > 0 && self.records == self.tried && self.marked == 0
    }

    /// What types are ranked by: the octets that decode, less where the type would accept others as well, and where values
    /// are marked.
    pub fn weight(&self) -> u64 {
        // A type that says nothing of its contents fits everything.
        self.weighed.saturating_mul(self.known + 1)
    }
}

/// Octets that the trials of all types of a specification may read together: some seconds at most.
const WORK: u64 = 1 << 28;

/// The work that trials of several types may take together: each has its share, and what earlier ones have left of theirs.
#[derive(Debug)]
pub struct Budget {
    remaining: u64,
    trials: u64,
}

impl Budget {
    /// Returns the budget of so many trials.
    pub fn of(trials: usize) -> Self {
        Self { remaining: WORK, trials: trials as u64 }
    }

    /// Runs a trial with its share: the octets for [`Check::within`].
    pub fn share<T>(&mut self, trial: impl FnOnce(&Cell<u64>) -> T) -> T {
        let share = self.remaining / self.trials.max(1);
        let octets = Cell::new(share);
        let result = trial(&octets);
        self.remaining -= share - octets.get();
        self.trials = self.trials.saturating_sub(1);
        result
    }
}

/// Reads the first octets of a file by a type, in the framing given or, with `trial`, in the one that fits best; nothing
/// if no record decodes. `whole` tells whether these are all octets of the file.
pub fn fit(check: &mut Check<'_>, given: &Framing, trial: bool, sample: &[u8], whole: bool) -> Option<Fit> {
    let (framing, score) = if trial {
        let found = detect(given, sample, whole, check)?;
        (found.framing, found.score)
    } else {
        (given.clone(), score(given, sample, whole, check))
    };
    let known = known(check, &framing, sample);
    (score.records > 0).then(|| Fit {
        records: score.records,
        tried: score.records + score.failed,
        octets: score.decoded(),
        marked: score.marked,
        weighed: score.weighed(),
        known,
        guessed: framing.passes_over_more_than(given),
        framing,
    })
}

/// Of 1,000 octets of the first records, those that the type tells something about.
fn known(check: &mut Check<'_>, framing: &Framing, sample: &[u8]) -> u64 {
    let mut reader = RecordReader::new(sample, framing.clone());
    let (mut records, mut known, mut all) = (0, 0, 0);
    while records < RECORDS {
        let mut decodes = |octets: &[u8]| check.decodes(RecordFormat::Ber, octets);
        let Ok(Some(item)) = reader.next(&mut decodes) else { break };
        let octets = match item.part {
            Part::RecordIn(_) => return 1000,
            Part::Record => item.octets.to_vec(),
            Part::Rejected { .. } if records == 0 => match closed(item.octets) {
                Some(closed) => closed.octets,
                None => continue,
            },
            _ => continue,
        };
        records += 1;
        let (of_record, octets) = check.known(&octets);
        known += of_record;
        all += octets;
    }
    1000 * known / std::cmp::max(all, 1)
}

/// Counts the octets of values by whether the type tells something about them.
pub(crate) struct Known<'s> {
    shape: &'s Shape,
    pub(crate) known: u64,
    pub(crate) unknown: u64,
}

impl<'s> Known<'s> {
    pub(crate) fn new(shape: &'s Shape) -> Self {
        Self { shape, known: 0, unknown: 0 }
    }
}

impl Sink for Known<'_> {
    fn leaf(&mut self, field: FieldId, node: NodeId, leaf: Leaf<'_>) {
        let contents = leaf.contents().unwrap_or(&[0]);
        let node = self.shape.node(node);
        // Octets that are elements are of a type that this one does not tell; so are those of a record that is nothing else.
        let opaque = match node.kind {
            Kind::Open => true,
            Kind::OctetString | Kind::BitString => {
                field == FieldId::ROOT || contents.len() > 3 && are_elements(contents)
            }
            _ => false,
        };
        let count = contents.len() as u64 + 1;
        if opaque { self.unknown += count } else { self.known += count }
    }

    fn open(&mut self, _: FieldId, _: NodeId) {}

    fn close(&mut self, _: FieldId, _: NodeId) {}

    fn absent(&mut self, _: FieldId, _: NodeId, _: u32) {}

    fn unknown(&mut self, _: u32, leaf: Leaf<'_>) {
        self.unknown += leaf.contents().map_or(0, <[u8]>::len) as u64 + 1;
    }
}
