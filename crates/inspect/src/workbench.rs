//! The inputs, the specifications, and what has been made of them.

use crate::edits::Edits;
use crate::matches::{Matches, Test, Wanted};
use crate::message::{MOST_OCTETS, Message};
use crate::query::Query;
use crate::rows::{Row, Rows};
use crate::source::{Source, UNPACKED};
use crate::texts::Texts;
use crate::view::{Given, View};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock};
use std::time::Duration;
use tercet_schema::dynamic::Options;
use tercet_schema::runtime::dump::dump;
use tercet_schema::{Candidate, Detector, Doctor, GivenFraming, Rules, Schema};

/// Plans and indexes that are kept.
const MOST_VIEWS: usize = 128;
/// Values that are kept.
const MOST_MESSAGES: usize = 4;
/// Filters that are kept.
const MOST_FILTERS: usize = 4;
/// Inputs, with those that are pasted.
const MOST_SOURCES: usize = 1000;
/// Bytes that types and rules are tried on.
const SAMPLE: usize = 1 << 20;
/// How long an answer waits for the index.
pub(crate) const WAIT: Duration = Duration::from_millis(1500);

/// What a [`Workbench`] starts with.
#[derive(Debug, Default)]
pub struct Setup {
    /// The inputs.
    pub sources: Vec<Arc<Source>>,
    /// The specifications; without them, elements of BER are shown.
    pub schema: Option<Arc<Schema>>,
    /// The type of values; found by trial unless given.
    pub type_name: Option<String>,
    /// The encoding rules; found by trial unless given.
    pub rules: Option<Rules>,
    /// The list inside of the type whose elements are the records.
    pub records: Option<String>,
    /// What is given of the framing of records.
    pub framing: Option<GivenFraming>,
    /// Whether records can be changed, and new files written.
    pub is_editable: bool,
}

/// The inputs and specifications that somebody looks at. It answers questions in JSON.
#[derive(Debug)]
pub struct Workbench {
    sources: RwLock<Vec<Arc<Source>>>,
    pub(crate) schema: Option<Arc<Schema>>,
    given: Given,
    /// The type and the rules unless a question names others.
    pub(crate) initial: Option<(String, Rules)>,
    views: Mutex<HashMap<(String, Rules), Arc<View>>>,
    rows: Mutex<HashMap<Key, Arc<Rows>>>,
    messages: Mutex<Vec<(Key, u64, Arc<Message>)>>,
    texts: OnceLock<Option<Texts>>,
    pub(crate) is_editable: bool,
    pub(crate) edits: Arc<Edits>,
    matches: Mutex<Vec<(Key, Wanted, Arc<Matches>)>>,
}

/// An input, and how it is read.
type Key = (usize, Option<(String, Rules)>);

impl Workbench {
    /// Makes a workbench; where type or rules are not given, the ones that fit the first input best are taken.
    ///
    /// # Errors
    /// There is no input; the type is unknown; nothing fits.
    pub fn new(setup: Setup) -> Result<Self, String> {
        let Setup { sources, schema, type_name, rules, records, framing, is_editable } = setup;
        let first = sources.first().ok_or("there is no input")?;
        let given = Given { records, framing };
        let initial = match &schema {
            None => None,
            Some(schema) if first.captured().is_some() => {
                of_messages(schema, first, type_name, rules, &given)
            }
            Some(schema) => {
                let sample = first.read_at(0, SAMPLE).map_err(|error| error.to_string())?;
                let is_whole = first.length() <= SAMPLE as u64;
                Some(settled(schema, &sample, is_whole, type_name, rules, &given)?)
            }
        };
        let bench = Self {
            sources: RwLock::new(sources),
            schema,
            given,
            initial,
            views: Mutex::default(),
            rows: Mutex::default(),
            messages: Mutex::default(),
            texts: OnceLock::new(),
            is_editable,
            edits: Arc::default(),
            matches: Mutex::default(),
        };
        bench.view(bench.initial.as_ref())?;
        Ok(bench)
    }

    /// Returns the type and the rules that inputs are read by unless a question names others.
    pub fn initial(&self) -> Option<(&str, Rules)> {
        self.initial.as_ref().map(|(type_name, rules)| (type_name.as_str(), *rules))
    }

    /// Returns the number of inputs.
    pub fn inputs(&self) -> usize {
        self.sources().len()
    }

    /// Returns the inputs.
    pub(crate) fn sources(&self) -> Vec<Arc<Source>> {
        self.sources.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Adds text that spells bytes (hexadecimal in many forms, base64, PEM, arrays), or bytes as they are, to the inputs.
    pub(crate) fn paste(&self, text: &[u8]) -> Result<Value, String> {
        if text.trim_ascii().is_empty() {
            return Err("there is no text".to_owned());
        }
        let joined = self.initial.as_ref().is_none_or(|(_, rules)| rules.delimits());
        let read = |hex: bool| Source::read("pasted", text, hex, joined).map_err(|error| error.to_string());
        let mut found = read(false)?;
        // A few digits may be anything: as text of people they are hexadecimal.
        if found.iter().any(|source| source.note() == UNPACKED) {
            if let Ok(digits) = read(true) {
                found = digits;
            } else if let Some(octets) = short_base64(text) {
                found = vec![Arc::new(Source::of_octets("pasted".to_owned(), octets, "base64"))];
            }
        }
        let mut sources = self.sources.write().unwrap_or_else(PoisonError::into_inner);
        if sources.len() + found.len() > MOST_SOURCES {
            return Err(format!("there are {} inputs: no more can be added", sources.len()));
        }
        let first = sources.len();
        sources.extend(found);
        Ok(json!({ "file": first, "files": sources.len() - first }))
    }

    /// Returns the way to read that a question names.
    pub(crate) fn way(&self, query: &Query) -> Result<Option<(String, Rules)>, String> {
        let Some((type_name, rules)) = &self.initial else { return Ok(None) };
        if query.text("rules") == Some("none") {
            return Ok(None);
        }
        let type_name = query.text("type").unwrap_or(type_name).to_owned();
        let rules = match query.text("rules") {
            None => *rules,
            Some(name) => name.parse::<Rules>().map_err(|error| error.to_string())?,
        };
        Ok(Some((type_name, rules)))
    }

    /// Returns the plan of a type and rules.
    pub(crate) fn view(&self, way: Option<&(String, Rules)>) -> Result<Option<Arc<View>>, String> {
        let (Some((type_name, rules)), Some(schema)) = (way, &self.schema) else { return Ok(None) };
        if let Some(found) = locked(&self.views).get(&(type_name.clone(), *rules)) {
            return Ok(Some(Arc::clone(found)));
        }
        let view = Arc::new(View::new(schema, type_name, *rules, &self.given)?);
        let mut views = locked(&self.views);
        if views.len() >= MOST_VIEWS {
            views.clear();
        }
        views.insert((type_name.clone(), *rules), Arc::clone(&view));
        Ok(Some(view))
    }

    /// Returns the input that a question names.
    pub(crate) fn source(&self, query: &Query) -> Result<(usize, Arc<Source>), String> {
        let number = query.number("file", 0)?;
        let index = usize::try_from(number).unwrap_or(usize::MAX);
        let source = self.sources().get(index).cloned().ok_or_else(|| format!("no input {number}"))?;
        Ok((index, source))
    }

    /// Returns the index of the input that a question names.
    pub(crate) fn rows(&self, query: &Query) -> Result<(Arc<Rows>, Option<Arc<View>>), String> {
        let (index, source) = self.source(query)?;
        let way = self.way(query)?;
        let view = self.view(way.as_ref())?;
        let mut rows = locked(&self.rows);
        let key = (index, way);
        if let Some(found) = rows.get(&key) {
            return Ok((Arc::clone(found), view));
        }
        if rows.len() >= MOST_VIEWS {
            rows.values().for_each(|rows| rows.stop());
            rows.clear();
        }
        let started = Rows::start(&source, view.clone());
        rows.insert(key, Arc::clone(&started));
        Ok((started, view))
    }

    /// Returns how the messages of a capture are read, by the numbers of their types: nothing for other inputs, and where a
    /// question names type or rules itself. Types that the specifications do not have are shown as elements.
    pub(crate) fn views_of(&self, query: &Query, source: &Source) -> Option<Vec<Option<Arc<View>>>> {
        let messages = source.captured()?;
        if query.text("type").is_some() || query.text("rules").is_some_and(|rules| rules == "none") {
            return None;
        }
        let initial = self.initial.as_ref();
        if query.text("rules").is_some_and(|rules| initial.is_none_or(|(_, own)| own.name() != rules)) {
            return None;
        }
        Some(messages.ways.iter().map(|way| self.view(Some(way)).ok().flatten()).collect())
    }

    /// Returns the rows that the filter of a question keeps; nothing if it has none.
    pub(crate) fn matches(&self, query: &Query) -> Result<Option<Arc<Matches>>, String> {
        let own =
            |name: &str| query.text(name).map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned);
        let (condition, problem) = (own("where"), own("problem"));
        let wanted = Wanted { condition, problem, holds: own("holds"), protocol: own("protocol") };
        if wanted.is_all() {
            return Ok(None);
        }
        let (rows, view) = self.rows(query)?;
        let (file, source) = self.source(query)?;
        let key = (file, self.way(query)?);
        let mut matches = locked(&self.matches);
        if let Some((.., found)) = matches.iter().find(|(known, it, _)| (known, it) == (&key, &wanted)) {
            return Ok(Some(Arc::clone(found)));
        }
        let views = self.views_of(query, &source).unwrap_or_else(|| vec![view]);
        let test = Test::new(&wanted, views)?;
        if matches.len() >= MOST_FILTERS {
            let (.., oldest) = matches.remove(0);
            oldest.stop();
        }
        let started = Matches::start(test, (file, &source), &rows, &self.edits);
        matches.push((key, wanted, Arc::clone(&started)));
        Ok(Some(started))
    }

    /// Forgets what was made of a record that has changed.
    pub(crate) fn forget(&self, file: usize, row: u64) {
        locked(&self.messages).retain(|((known, _), number, _)| (*known, *number) != (file, row));
        locked(&self.matches).retain(|((known, _), _, matches)| {
            let is_other = *known != file;
            if !is_other {
                matches.stop();
            }
            is_other
        });
    }

    /// Returns the row that a question names, by `row`, `record` or `offset`.
    pub(crate) fn row(&self, query: &Query, rows: &Rows) -> Result<Row, String> {
        let found = if query.text("row").is_some() {
            rows.range(query.number("row", 0)?, 1, WAIT).first().copied()
        } else if query.text("offset").is_some() {
            rows.at_offset(query.number("offset", 0)?, WAIT)
        } else {
            rows.record(query.number("record", 0)?, WAIT)
        };
        found.ok_or_else(|| "no such record, as far as the input has been read".to_owned())
    }

    /// Returns the value that a question names, with its row.
    pub(crate) fn message(&self, query: &Query) -> Result<(Row, Arc<Message>), String> {
        let (rows, view) = self.rows(query)?;
        let row = self.row(query, &rows)?;
        let (index, source) = self.source(query)?;
        let key = (index, self.way(query)?);
        let mut messages = locked(&self.messages);
        if let Some((_, _, found)) =
            messages.iter().find(|(known, number, _)| (known, *number) == (&key, row.number))
        {
            return Ok((row, Arc::clone(found)));
        }
        if row.length > MOST_OCTETS as u64 {
            return Err(format!("{} bytes: at most {MOST_OCTETS} can be looked at", row.length));
        }
        let octets = match self.edits.octets(index, row.offset) {
            Some(octets) => octets.to_vec(),
            None => rows.octets_of(&source, &row, MOST_OCTETS).map_err(|error| error.to_string())?,
        };
        // What is no record is shown as elements.
        let view = match (row.kind.rules(), &view) {
            (Some(rules), Some(view)) => self.view(Some(&(view.type_name.clone(), rules)))?,
            _ if !row.kind.is_record() && row.kind != crate::rows::RowKind::Rejected => None,
            _ => match self.views_of(query, &source) {
                Some(views) => source
                    .captured()
                    .and_then(|messages| views.get(messages.message(row.number)?.way?).cloned())
                    .flatten(),
                None => view,
            },
        };
        let message = Arc::new(Message::new(view, octets, row.offset));
        if messages.len() >= MOST_MESSAGES {
            messages.remove(0);
        }
        messages.push((key, row.number, Arc::clone(&message)));
        Ok((row, message))
    }

    /// Returns a number that tells specifications apart, for addresses: 64 bits in hexadecimal.
    pub(crate) fn schema_hash(&self) -> Option<String> {
        let schema = self.schema.as_ref()?;
        // FNV-1a: the same on every machine.
        let mut hash = 0xCBF2_9CE4_8422_2325_u64;
        for (_, file) in schema.sources.files() {
            for octet in file.text.bytes() {
                hash = (hash ^ u64::from(octet)).wrapping_mul(0x0100_0000_01B3);
            }
        }
        Some(format!("{hash:016x}"))
    }

    /// Returns the texts of the specifications; nothing for a plan file.
    pub(crate) fn texts(&self) -> Option<&Texts> {
        self.texts.get_or_init(|| self.schema.as_ref().and_then(|schema| Texts::new(schema))).as_ref()
    }

    /// Tries types and rules on the row that a question names; the best comes first.
    pub(crate) fn candidates(&self, query: &Query) -> Result<Vec<Candidate>, String> {
        let Some(schema) = &self.schema else { return Ok(Vec::new()) };
        let (rows, _) = self.rows(query)?;
        let (_, source) = self.source(query)?;
        let sample = match self.row(query, &rows) {
            Ok(row) => rows.octets_of(&source, &row, SAMPLE),
            Err(_) => source.read_at(0, SAMPLE),
        };
        let sample = sample.map_err(|error| error.to_string())?;
        let mut detector = Detector::new(schema, &[], None).map_err(|error| error.to_string())?;
        Ok(detector.run(&sample))
    }
}

/// Reads a text of base64 that is so short that it may be anything: its bytes must be elements.
fn short_base64(text: &[u8]) -> Option<Vec<u8>> {
    let letters: Vec<u8> = text.iter().copied().filter(|it| !it.is_ascii_whitespace()).collect();
    let end = letters.iter().rposition(|it| *it != b'=')? + 1;
    let (mut octets, mut bits, mut count) = (Vec::new(), 0_u32, 0);
    for letter in &letters[..end] {
        let digit = match letter {
            b'A'..=b'Z' => letter - b'A',
            b'a'..=b'z' => letter - b'a' + 26,
            b'0'..=b'9' => letter - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => return None,
        };
        (bits, count) = (bits << 6 | u32::from(digit), count + 6);
        if count >= 8 {
            count -= 8;
            octets.push((bits >> count) as u8);
        }
    }
    (!octets.is_empty() && dump(&octets).all(|line| line.is_ok())).then_some(octets)
}

/// Returns type and rules of the messages of a capture: those that are given, or the first that the specifications have.
fn of_messages(
    schema: &Arc<Schema>,
    source: &Source,
    type_name: Option<String>,
    rules: Option<Rules>,
    given: &Given,
) -> Option<(String, Rules)> {
    let ways = source.captured().map_or(&[][..], |messages| &messages.ways);
    let known = || ways.iter().find(|(name, rules)| View::new(schema, name, *rules, given).is_ok()).cloned();
    match (type_name, rules) {
        (Some(name), Some(rules)) => Some((name, rules)),
        (Some(name), None) => {
            let is_same = |way: &&(String, Rules)| way.0 == name || way.0.ends_with(&format!(".{name}"));
            let rules = ways.iter().find(is_same).map_or(Rules::Ber, |(_, rules)| *rules);
            Some((name, rules))
        }
        _ => known(),
    }
}

/// Locks what no panic can leave in a bad state.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Finds type and rules where they are not given.
fn settled(
    schema: &Arc<Schema>,
    sample: &[u8],
    is_whole: bool,
    type_name: Option<String>,
    rules: Option<Rules>,
    given: &Given,
) -> Result<(String, Rules), String> {
    if let (Some(type_name), Some(rules)) = (&type_name, rules) {
        return Ok((type_name.clone(), rules));
    }
    let types = Vec::from_iter(type_name.as_deref());
    let found = if is_whole && given.records.is_none() {
        let mut detector = Detector::new(schema, &types, rules).map_err(|error| error.to_string())?;
        detector.run(sample)
    } else {
        Vec::new()
    };
    if let Some(best) = found.first().filter(|best| best.fits()) {
        // Of several records, the next may be against the rules of a subset.
        let is_subset = rules.is_none() && best.values > 1 && best.syntax.has_elements();
        let rules = if is_subset { Rules::Ber } else { best.syntax };
        return Ok((best.type_name.clone(), rules));
    }
    if rules.is_none_or(Rules::has_elements) {
        let doctor = Doctor {
            schemas: vec![(tercet_schema::SchemaOptions::default().tagging, Arc::clone(schema))],
            type_name: type_name.clone(),
            records: given.records.clone(),
            given: given.framing.clone().unwrap_or_default(),
            options: Options::default(),
            most: 8,
        };
        let ways = doctor.ways(sample, is_whole).map_err(|error| error.to_string())?;
        if let Some(way) = ways.into_iter().next() {
            return Ok((way.type_name, rules.unwrap_or(Rules::Ber)));
        }
    }
    let best = found.into_iter().next();
    match (type_name, best) {
        (_, Some(best)) => Ok((best.type_name, rules.unwrap_or(best.syntax))),
        (Some(type_name), None) => Ok((type_name, rules.unwrap_or(Rules::Ber))),
        (None, None) => Err("no type fits the first input; name one with `--type`".to_owned()),
    }
}
