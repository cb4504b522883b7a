//! The records of an input that a filter keeps. A thread looks for them while somebody looks at the list.

use crate::describe::Describer;
use crate::edits::Edits;
use crate::rows::{Row, RowKind, Rows};
use crate::source::Source;
use crate::view::View;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tercet_schema::dynamic::Tape;
use tercet_schema::records::conversion::RowOptions;
use tercet_schema::records::{Condition, Filter, FilterState, Scratch, Shown};

/// Records that a filter may keep: 8 bytes each.
const MOST_MATCHES: usize = 4 << 20;
/// Rows that are taken from the index at once.
const BATCH: usize = 1024;
/// How long the thread waits for an index that is not that far.
const WAIT: Duration = Duration::from_millis(200);
/// Bytes of a record that a filter looks at.
const MOST_OCTETS: usize = 64 << 20;

/// What a filter asks for; all parts must hold.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Wanted {
    /// A condition in the language of `--where`.
    pub(crate) condition: Option<String>,
    /// A kind of problem, or `any`.
    pub(crate) problem: Option<String>,
    /// Hexadecimal digits, text or digits of a telephone number that the bytes or the values hold.
    pub(crate) holds: Option<String>,
    /// The protocol of a message of a capture.
    pub(crate) protocol: Option<String>,
}

/// The kinds of problems that can be asked for.
const PROBLEMS: [&str; 7] = ["any", "fault", "constraint", "value", "trailing", "rejected", "unreadable"];

impl Wanted {
    /// Reports whether all rows are kept.
    pub(crate) fn is_all(&self) -> bool {
        *self == Self::default()
    }
}

/// A filter for values of a type, or for the messages of a capture, which have several.
#[derive(Debug)]
pub(crate) struct Test {
    views: Vec<(Option<Arc<View>>, Option<Filter>)>,
    has_condition: bool,
    problem: Option<String>,
    needle: Option<Needle>,
    protocol: Option<String>,
}

impl Test {
    /// Makes a filter. Of several types, those that a condition does not fit have no match.
    ///
    /// # Errors
    /// The condition fits no type, with what is wrong in it.
    pub(crate) fn new(wanted: &Wanted, views: Vec<Option<Arc<View>>>) -> Result<Self, String> {
        let mut found = Vec::new();
        let mut wrong = None;
        for view in views {
            let filter = match (&wanted.condition, &view) {
                (Some(text), Some(view)) => match filter(text, view) {
                    Ok(filter) => filter,
                    Err(fault) => {
                        wrong.get_or_insert(fault);
                        None
                    }
                },
                _ => None,
            };
            found.push((view, filter));
        }
        if wanted.condition.is_some() && found.iter().all(|(_, filter)| filter.is_none()) {
            return Err(wrong.unwrap_or_else(|| "a condition requires a specification".to_owned()));
        }
        if let Some(problem) = wanted.problem.as_deref().filter(|name| !PROBLEMS.contains(name)) {
            return Err(tercet_schema::suggest::unknown("kind of problem", problem, PROBLEMS));
        }
        let needle = wanted.holds.as_deref().map(Needle::new);
        let (problem, protocol) = (wanted.problem.clone(), wanted.protocol.clone());
        Ok(Self { views: found, has_condition: wanted.condition.is_some(), problem, needle, protocol })
    }
}

fn filter(text: &str, view: &View) -> Result<Option<Filter>, String> {
    let condition: Condition = text.parse().map_err(|fault| format!("{fault}"))?;
    let options = RowOptions { conditions: vec![condition], ..RowOptions::default() };
    options.filter(shown(view), view.root).map_err(|fault| fault.to_string())
}

/// The types that conditions are about: values as they are shown.
fn shown(view: &View) -> Shown<'_> {
    view.rendering.as_ref().map_or_else(|| Shown::from(&view.plan.shape), Shown::from)
}

/// What is looked for in bytes: text, or digits that may be hexadecimal or those of a telephone number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Needle {
    /// The forms that the text may have as bytes; text is compared without regard to the case of ASCII letters.
    forms: Vec<Vec<u8>>,
    text: String,
}

impl Needle {
    pub(crate) fn new(text: &str) -> Self {
        let text = text.trim();
        let digits: String = text.chars().filter(|it| !it.is_whitespace()).collect();
        let hex = digits.strip_prefix("0x").unwrap_or(&digits);
        let mut forms = Vec::new();
        if hex.len() >= 2 && hex.len().is_multiple_of(2) && hex.bytes().all(|it| it.is_ascii_hexdigit()) {
            let octet = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
            forms.extend(hex.as_bytes().chunks(2).map(octet).collect::<Option<Vec<u8>>>());
        }
        let number = digits.strip_prefix('+').unwrap_or(&digits);
        if number.len() >= 4 && number.bytes().all(|it| it.is_ascii_digit()) {
            forms.push(tbcd(number.as_bytes()));
        }
        forms.retain(|form| !form.is_empty());
        Self { forms, text: text.to_ascii_lowercase() }
    }

    /// Returns the first place in bytes, with the number of bytes.
    pub(crate) fn find(&self, octets: &[u8], from: usize) -> Option<(usize, usize)> {
        let rest = octets.get(from..)?;
        let of_form = |form: &Vec<u8>| {
            rest.windows(form.len()).position(|found| found == form).map(|at| (from + at, form.len()))
        };
        let text = self.text.as_bytes();
        let of_text = (!text.is_empty())
            .then(|| rest.windows(text.len()).position(|found| found.eq_ignore_ascii_case(text)))
            .flatten();
        let found = self.forms.iter().filter_map(of_form);
        found.chain(of_text.map(|at| (from + at, text.len()))).min()
    }
}

/// Digits with the first of each pair in the low half of an octet, an odd one without its filler.
fn tbcd(digits: &[u8]) -> Vec<u8> {
    digits.chunks_exact(2).map(|pair| (pair[1] - b'0') << 4 | (pair[0] - b'0')).collect()
}

/// The rows that a filter keeps, as far as it has come.
#[derive(Debug, Default)]
struct Found {
    rows: Vec<u64>,
    /// Rows that have been looked at.
    searched: u64,
    complete: bool,
    problem: Option<String>,
}

/// The rows of an input that a filter keeps.
#[derive(Debug, Default)]
pub(crate) struct Matches {
    found: Mutex<Found>,
    changed: Condvar,
    stop: AtomicBool,
}

/// How far a filter has come.
#[derive(Clone, Debug)]
pub(crate) struct Searched {
    pub(crate) matches: u64,
    pub(crate) rows: u64,
    pub(crate) complete: bool,
    pub(crate) problem: Option<String>,
}

impl Matches {
    /// Starts to look for the records.
    pub(crate) fn start(
        test: Test,
        (file, source): (usize, &Arc<Source>),
        rows: &Arc<Rows>,
        edits: &Arc<Edits>,
    ) -> Arc<Self> {
        let matches = Arc::new(Self::default());
        let (mine, source) = (Arc::clone(&matches), Arc::clone(source));
        let (rows, edits) = (Arc::clone(rows), Arc::clone(edits));
        let started = std::thread::Builder::new().name("filter".to_owned()).spawn(move || {
            let problem = mine.search(&test, (file, &source), &rows, &edits).err();
            let mut found = mine.lock();
            found.problem = problem;
            found.complete = true;
            drop(found);
            mine.changed.notify_all();
        });
        if let Err(error) = started {
            let mut found = matches.lock();
            (found.problem, found.complete) = (Some(error.to_string()), true);
        }
        matches
    }

    /// Ends the thread soon.
    pub(crate) fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    fn lock(&self) -> MutexGuard<'_, Found> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns how far the filter has come.
    pub(crate) fn progress(&self) -> Searched {
        let found = self.lock();
        let matches = found.rows.len() as u64;
        Searched { matches, rows: found.searched, complete: found.complete, problem: found.problem.clone() }
    }

    /// Returns the numbers of the rows from a position on; waits a moment for them.
    pub(crate) fn range(&self, from: u64, count: usize, wait: Duration) -> Vec<u64> {
        let waits = |found: &mut Found| !found.complete && found.rows.len() as u64 <= from;
        let found = self
            .changed
            .wait_timeout_while(self.lock(), wait, waits)
            .unwrap_or_else(PoisonError::into_inner)
            .0;
        let from = usize::try_from(from).unwrap_or(usize::MAX);
        found.rows.iter().skip(from).take(count).copied().collect()
    }

    /// Waits a moment for a search that is soon complete.
    pub(crate) fn settle(&self, wait: Duration) {
        let waits = |found: &mut Found| !found.complete;
        drop(self.changed.wait_timeout_while(self.lock(), wait, waits));
    }

    /// Returns the position of a row, or of the next that is kept; waits a moment for the search to come that far.
    pub(crate) fn position(&self, row: u64, wait: Duration) -> u64 {
        let waits = |found: &mut Found| !found.complete && found.searched <= row;
        let found = self
            .changed
            .wait_timeout_while(self.lock(), wait, waits)
            .unwrap_or_else(PoisonError::into_inner)
            .0;
        found.rows.partition_point(|found| *found < row) as u64
    }

    fn search(
        &self,
        test: &Test,
        (file, source): (usize, &Arc<Source>),
        rows: &Rows,
        edits: &Edits,
    ) -> Result<(), String> {
        let mut looking = Looking::new(test);
        let (mut from, mut batch, mut handed) = (0, Vec::new(), Instant::now());
        loop {
            if self.stop.load(Ordering::Relaxed) {
                return Ok(());
            }
            let found = rows.range(from, BATCH, WAIT);
            if found.is_empty() {
                if rows.progress(Duration::ZERO).complete && rows.progress(Duration::ZERO).rows <= from {
                    return Ok(());
                }
                continue;
            }
            for row in &found {
                if looking.keeps((file, source), rows, row, edits) {
                    batch.push(row.number);
                }
                let is_late = handed.elapsed() > Duration::from_millis(20);
                if is_late {
                    if self.stop.load(Ordering::Relaxed) {
                        return Ok(());
                    }
                    self.hand_over(&mut batch, row.number + 1)?;
                    handed = Instant::now();
                }
            }
            from += found.len() as u64;
            self.hand_over(&mut batch, from)?;
        }
    }

    fn hand_over(&self, batch: &mut Vec<u64>, searched: u64) -> Result<(), String> {
        let mut found = self.lock();
        found.rows.append(batch);
        found.searched = searched;
        let is_full = found.rows.len() >= MOST_MATCHES;
        drop(found);
        self.changed.notify_all();
        if is_full {
            return Err(format!("only the first {MOST_MATCHES} matches are listed"));
        }
        Ok(())
    }
}

/// A filter at work.
struct Looking<'t> {
    test: &'t Test,
    describers: Vec<Option<Describer>>,
    tape: Tape,
    scratch: Scratch,
    state: FilterState,
}

impl<'t> Looking<'t> {
    fn new(test: &'t Test) -> Self {
        let describers = test.views.iter().map(|(view, _)| view.clone().map(Describer::new)).collect();
        Self {
            test,
            describers,
            tape: Tape::new(),
            scratch: Scratch::default(),
            state: FilterState::default(),
        }
    }

    fn keeps(
        &mut self,
        (file, source): (usize, &Arc<Source>),
        rows: &Rows,
        row: &Row,
        edits: &Edits,
    ) -> bool {
        let Test { has_condition, problem, needle, protocol, .. } = self.test;
        let is_plain = !has_condition && problem.is_none();
        // Beside a capture, there is one type.
        let mut way = Some(0);
        if let Some(message) = source.captured().and_then(|messages| messages.message(row.number)) {
            if protocol.as_deref().is_some_and(|protocol| protocol != message.protocol) {
                return false;
            }
            way = if self.test.views.len() == 1 { Some(0) } else { message.way };
        }
        if row.kind == RowKind::Rejected {
            let is_wanted = problem.as_deref().is_none_or(|kind| matches!(kind, "any" | "rejected"));
            return !has_condition && is_wanted && self.has_needle(source, rows, row);
        }
        // What is beside records is found by its bytes only.
        if !row.kind.is_record() {
            return is_plain && needle.is_some() && self.has_needle(source, rows, row);
        }
        let octets = match edits.octets(file, row.offset) {
            Some(octets) => octets.to_vec(),
            None => match rows.octets_of(source, row, MOST_OCTETS) {
                Ok(octets) => octets,
                Err(_) => return problem.as_deref().is_some_and(|kind| matches!(kind, "any" | "unreadable")),
            },
        };
        let way = way.filter(|way| *way < self.describers.len() && row.kind.rules().is_none());
        if let Some(needle) = needle
            && needle.find(&octets, 0).is_none()
            && !self.shows(way, &octets, &needle.text)
        {
            return false;
        }
        if is_plain {
            return true;
        }
        let Some(describer) = way.and_then(|way| self.describers[way].as_mut()) else { return false };
        let found = describer.problem(&octets, problem.is_some());
        let is_wanted = match problem.as_deref() {
            None => true,
            Some("any") => found.is_some(),
            Some(kind) => found == Some(kind),
        };
        is_wanted && (!has_condition || self.meets(way, &octets))
    }

    /// Reports whether the value that was decoded last meets the condition.
    fn meets(&mut self, way: Option<usize>, octets: &[u8]) -> bool {
        let Self { test, describers, tape, scratch, state } = self;
        let found = way.and_then(|way| Some((describers.get(way)?.as_ref()?, test.views.get(way)?)));
        let Some((describer, (Some(view), Some(filter)))) = found else { return false };
        match &view.rendering {
            Some(rendering) => {
                tape.clear();
                rendering.show(describer.tape().view(octets), tape, scratch);
                filter.accepts(rendering.shape(), tape.view(octets), state)
            }
            None => filter.accepts(&view.plan.shape, describer.tape().view(octets), state),
        }
    }

    fn has_needle(&self, source: &Arc<Source>, rows: &Rows, row: &Row) -> bool {
        let Some(needle) = &self.test.needle else { return true };
        rows.octets_of(source, row, MOST_OCTETS).is_ok_and(|octets| needle.find(&octets, 0).is_some())
    }

    /// Reports whether a value of the record is shown with a text.
    fn shows(&mut self, way: Option<usize>, octets: &[u8], text: &str) -> bool {
        let Some(describer) = way.and_then(|way| self.describers[way].as_mut()) else { return false };
        _ = describer.problem(octets, false);
        describer.shows(octets, text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_found_as_hexadecimal_text_and_digits() {
        let octets = [0x91, 0x94, 0x71, 0x00, b'F', b'a', b'l', b'k'];
        let find = |text: &str| Needle::new(text).find(&octets, 0);
        assert_eq!(
            (find("71 00"), find("0x7100"), find("+491700")),
            (Some((2, 2)), Some((2, 2)), Some((1, 3)))
        );
        assert_eq!((find("falk"), find("72"), find("")), (Some((4, 4)), None, None));
        assert_eq!(Needle::new("+491700").find(&octets, 2), None);
    }
}
