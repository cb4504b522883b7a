//! What a run says at its end: lines for people, JSON for machines, the exit code.

use crate::exit::Exit;
use crate::figures;
use crate::run::Converted;
use crate::term;
use serde_json::{Value, json};
use std::time::{SystemTime, UNIX_EPOCH};
use tercet::dynamic::{ErrorKind, Plan};
use tercet::records::{
    Balance, Checked, Figures, FileHeader, Framing, KEEP_UNKNOWN, Marking, Marks, RecordFormat, Reject,
    Sequence, Stopped, Summary,
};

/// Components with marked values that are listed.
const MARKED: usize = 10;

/// Headers of files of an input that are told.
const FILES: usize = 3;

/// What inputs come to.
#[derive(Clone, Debug, Default)]
pub struct Totals {
    /// What chosen components come to.
    pub figures: Figures,
    /// Values that are kept although they break the rules of their type.
    pub marks: Marks,
    /// The sequence numbers of files of 3GPP TS 32.297.
    pub file_numbers: Sequence,
    /// Inputs without rejects, with rejects, and failed ones.
    pub inputs: [u64; 3],
    pub records: u64,
    pub rejects: u64,
    pub balance: Balance,
    pub seconds: f64,
    /// When an input was done last that had not failed, in seconds since 1970.
    pub last_success: Option<u64>,
}

/// Seconds since 1970.
pub fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs())
}

/// Totals over inputs.
#[derive(Debug)]
pub struct Report<'p> {
    plan: &'p Plan,
    talk: bool,
    /// What to say of each input, if it is asked for.
    files: Option<Vec<Value>>,
    pub totals: Totals,
    done_before: u64,
    passed_over: u64,
    /// What to say to the shell.
    pub exit: Exit,
}

impl<'p> Report<'p> {
    /// No input yet; with what there is to say of each for [`Report::json`].
    pub fn new(plan: &'p Plan, talk: bool, each: bool) -> Self {
        Self {
            plan,
            talk,
            files: each.then(Vec::new),
            totals: Totals::default(),
            done_before: 0,
            passed_over: 0,
            exit: Exit::Good,
        }
    }

    /// Takes note of an input that could not be read, or its output not written.
    pub fn failed(&mut self, message: &str) {
        term::error(message);
        self.totals.inputs[2] += 1;
    }

    /// Takes note of an input.
    pub fn input(&mut self, converted: Converted) {
        let Converted { name, summary, time, rejects, sha256, rest } = converted;
        let (name, raw) = (&*tercet_printable::printable(&name), &*name);
        let exit = verdict(&summary);
        let seconds = time.as_secs_f64();
        if self.talk {
            term::say(format_args!(
                "{name}: {}, {} in {seconds:.2} s ({:.0} MB/s)",
                term::count(summary.records, "record"),
                term::count(summary.balance.read, "byte"),
                summary.balance.read as f64 / 1e6 / seconds.max(1e-9),
            ));
            if let Some(framing) = &summary.framing {
                term::say(format_args!("  framing found by trial: --framing {}", framing.spelt()));
            }
            summary
                .carvings
                .told
                .iter()
                .take(FILES)
                .for_each(|file| term::say(format_args!("  {}", told(file))));
            if let Some(line) = formats_line(summary.carvings.formats) {
                term::say(format_args!("  {line}"));
            }
            if summary.left_out > 0 {
                term::say(format_args!("  {:>12} skipped by --where", term::grouped(summary.left_out)));
            }
            if summary.repeated > 0 {
                term::say(format_args!("  {:>12} skipped by --dedupe", term::grouped(summary.repeated)));
            }
            if summary.rows != summary.records - summary.left_out - summary.repeated {
                term::say(format_args!("  {:>12} rows", term::grouped(summary.rows)));
            }
            for (table, rows) in &summary.tables {
                term::say(format_args!("  {:>12} rows of {table}", term::grouped(*rows)));
            }
            for (kind, count) in self.by_type(&summary) {
                term::say(format_args!("  {:>12} {kind}", term::grouped(count)));
            }
            figures::lines(&summary.figures).for_each(|line| term::say(format_args!("  {line}")));
            marks_lines(&summary.marks).for_each(|line| term::say(format_args!("  {line}")));
            term::say(format_args!("  {}", summary.balance));
            if summary.stopped == Some(Stopped::Limit) {
                term::say(format_args!("  {}", not_read(rest)));
            }
        }
        warn_of_guess(name, &summary);
        for fault in &summary.carvings.faults {
            term::warning(format_args!("{name}: {fault}"));
        }
        for trouble in summary.carvings.told.iter().flat_map(FileHeader::troubles) {
            term::warning(format_args!("{name}: by the header of the file, {trouble}"));
        }
        if let Some(fault) = miscount(&summary) {
            term::warning(format_args!("{name}: {fault}"));
        }
        self.control_totals(name, &summary);
        for reject in &summary.samples {
            term::warning(format_args!("{name}: {}", describe(reject)));
        }
        let more = summary.rejects - summary.samples.len() as u64;
        if more > 0 {
            term::warning(format_args!("{name}: {} more", term::count(more, "damaged place")));
        }
        say_help(&summary);
        if summary.rejects > 0
            && let Some(path) = &rejects
        {
            term::say(format_args!(
                "  rejected bytes are in {}, the reasons beside it",
                tercet_printable::path(path)
            ));
        }
        if let Some(error) = &summary.header_error {
            term::warning(format_args!("{name}: the element around the records does not decode: {error}"));
        }
        self.failure(name, &summary);
        if !summary.balance.adds_up() {
            term::error(format_args!("{name}: the bytes do not add up: {}", summary.balance));
        }
        let totals = &mut self.totals;
        totals.records += summary.records;
        totals.rejects += summary.rejects;
        totals.balance.merge(&summary.balance);
        totals.seconds += seconds;
        totals.figures.merge(&summary.figures);
        totals.marks.merge(&summary.marks);
        totals.file_numbers.merge(&summary.carvings.numbers);
        let result = match exit {
            Exit::Good => 0,
            Exit::Rejected => 1,
            _ => 2,
        };
        totals.inputs[result] += 1;
        if result < 2 {
            totals.last_success = Some(now());
        }
        self.exit = self.exit.max(exit);
        if self.files.is_some() {
            let mut file = self.file(raw, &summary, seconds, exit);
            if let Some(sha256) = sha256 {
                file["sha256"] = sha256.into();
            }
            self.files.get_or_insert_default().push(file);
        }
    }

    /// Says what came of the totals that stand around the records.
    fn control_totals(&self, name: &str, summary: &Summary) {
        let number = |number: i128| match u64::try_from(number) {
            Ok(number) => term::grouped(number),
            Err(_) => number.to_string(),
        };
        let leaf = |path: &str| path.rsplit('.').next().unwrap_or(path).to_owned();
        let agree = summary.control_totals.iter().filter(|checked| checked.agrees());
        let agree: Vec<String> =
            agree.map(|checked| format!("{} {}", leaf(&checked.path), number(checked.announced))).collect();
        if self.talk && !agree.is_empty() {
            term::say(format_args!("  totals that agree: {}", agree.join(", ")));
        }
        for checked in &summary.control_totals {
            let (path, announced) = (&checked.path, number(checked.announced));
            let sum = checked.sum.as_deref().unwrap_or("the number of records");
            if !checked.agrees() {
                let seen = number(checked.seen);
                term::warning(format_args!("{name}: `{path}` is {announced}, {sum} comes to {seen}"));
            } else if self.talk && !checked.usual {
                term::say(format_args!("  {} is the sum of {sum}, not the usual one", leaf(path)));
            }
        }
    }

    /// Takes note of an input that the manifest has; what it had to say of it, its exit code says again.
    pub fn done_before(&mut self, line: &Value) {
        let exit = match line["exit"].as_u64() {
            Some(0) => Exit::Good,
            Some(2) => Exit::Rejected,
            _ => Exit::Failed,
        };
        self.done_before += 1;
        self.exit = self.exit.max(exit);
    }

    /// Takes note of an input whose output is there.
    pub fn passed_over(&mut self) {
        self.passed_over += 1;
    }

    /// Says why an input is no good as a whole.
    fn failure(&self, name: &str, summary: &Summary) {
        let read = term::count(summary.balance.read, "byte");
        match summary.stopped {
            Some(Stopped::Rejects) => {
                term::error(format_args!(
                    "{name}: more rejects than `--max-rejects` or `--max-reject-ratio` allows; given up after {read}"
                ));
            }
            Some(Stopped::NoRecord) => term::error(format_args!(
                "{name}: nothing in the first {read} decodes as a record: the type, the tags (`--tags`) or the framing \
                 is another; given up"
            )),
            Some(Stopped::Caller) => term::error(format_args!("{name}: stopped after {read}")),
            Some(Stopped::Limit) => {}
            None if summary.records == 0 && summary.balance.read > 0 => {
                let filler = summary.balance.filler == summary.balance.read;
                if filler {
                    term::error(format_args!("{name}: nothing but filler in {read}"));
                } else {
                    term::error(format_args!("{name}: no records found in {read}; run `tercet doctor FILE`"));
                }
            }
            None if summary.records == 0 => term::warning(format_args!("{name}: the input is empty")),
            None => {}
        }
    }

    /// Says the totals, if there was more than one input.
    pub fn finish(&self) {
        if self.talk && self.done_before > 0 {
            let before = term::count(self.done_before, "input");
            term::say(format_args!("{before} done by an earlier run, as the manifest has it"));
        }
        if self.talk && self.passed_over > 0 {
            term::say(format_args!(
                "{} passed over: the output is there",
                term::count(self.passed_over, "input")
            ));
        }
        let totals = &self.totals;
        if self.talk && totals.inputs.iter().sum::<u64>() > 1 {
            term::say(format_args!(
                "total: {}, {} in {:.2} s ({:.0} MB/s), {}\n  {}",
                term::count(totals.records, "record"),
                term::count(totals.balance.read, "byte"),
                totals.seconds,
                totals.balance.read as f64 / 1e6 / totals.seconds.max(1e-9),
                term::count(totals.rejects, "reject"),
                totals.balance,
            ));
            if totals.file_numbers.range().is_some() {
                let line = figures::sequence_line(&totals.file_numbers);
                term::say(format_args!("  files of 3GPP TS 32.297: {line}"));
            }
            figures::lines(&totals.figures).for_each(|line| term::say(format_args!("  {line}")));
            marks_lines(&totals.marks).for_each(|line| term::say(format_args!("  {line}")));
        }
    }

    /// The totals as JSON.
    pub fn json(&self) -> Value {
        let totals = &self.totals;
        json!({
            "records": totals.records,
            "rejects": totals.rejects,
            "octets": octets(&totals.balance),
            "seconds": totals.seconds,
            "figures": figures::json(&totals.figures),
            "marked": totals.marks.total(),
            "marks": marks_json(&totals.marks),
            "file_sequence": totals.file_numbers.range().map(|_| figures::sequence_json(&totals.file_numbers)),
            "resumed": self.done_before,
            "skipped": self.passed_over,
            "exit": self.exit as u8,
            "inputs": self.files,
        })
    }

    fn file(&self, name: &str, summary: &Summary, seconds: f64, exit: Exit) -> Value {
        let types: serde_json::Map<String, Value> =
            self.by_type(summary).into_iter().map(|(kind, count)| (kind.to_owned(), count.into())).collect();
        let children: serde_json::Map<String, Value> =
            summary.tables.iter().map(|(table, rows)| (table.clone(), (*rows).into())).collect();
        json!({
            "input": name,
            "records": summary.records,
            "rejects": summary.rejects,
            "left_out": summary.left_out,
            "repeated": summary.repeated,
            "rows": summary.rows,
            "children": children,
            "headers": summary.headers,
            "types": types,
            "octets": octets(&summary.balance),
            "written": summary.written,
            "seconds": seconds,
            "framing": summary.framing.as_ref().map(Framing::spelt),
            "guessed": summary.guessed,
            "rules": formats(summary.carvings.formats),
            "announced": summary.carvings.announced.filter(|_| summary.carvings.files > 0),
            "file_headers": summary.carvings.told.iter().map(header).collect::<Vec<_>>(),
            "control_totals": summary.control_totals.iter().map(checked).collect::<Vec<_>>(),
            "figures": figures::json(&summary.figures),
            "marked": summary.marks.total(),
            "marks": marks_json(&summary.marks),
            "complete": summary.stopped.is_none(),
            "limited": summary.stopped == Some(Stopped::Limit),
            "exit": exit as u8,
        })
    }

    fn by_type(&self, summary: &Summary) -> Vec<(&'p str, u64)> {
        let shape = &self.plan.shape;
        summary.by_type.iter().map(|&(field, count)| (shape.name(shape.field(field).name), count)).collect()
    }
}

/// A header of TS 32.297 in words.
fn told(file: &FileHeader) -> String {
    let number = file.sequence.map_or_else(|| "without a number".to_owned(), |number| number.to_string());
    let time =
        |what: &str, time: Option<String>| time.map_or_else(String::new, |time| format!(", {what} {time}"));
    let (opened, appended) = (time("opened", file.opened()), time("last record", file.appended()));
    format!(
        "file {number} of 3GPP TS 32.297{opened}{appended}, closed: {} ({})",
        file.closure,
        file.closure_name()
    )
}

fn header(file: &FileHeader) -> Value {
    let node: String = file.node.iter().map(|octet| format!("{octet:02X}")).collect();
    json!({
        "sequence": file.sequence,
        "records": file.records,
        "opened": file.opened(),
        "last_record": file.appended(),
        "closure": file.closure,
        "closure_reason": file.closure_name(),
        "lost": file.lost,
        "node": node,
    })
}

/// How many records are said to be in which rules, if any are not in BER.
fn formats_line(counts: [u64; 4]) -> Option<String> {
    let found = RecordFormat::ALL.into_iter().zip(counts).filter(|(_, count)| *count > 0);
    let found: Vec<_> = found.map(|(format, count)| format!("{} {format}", term::grouped(count))).collect();
    (counts[1..] != [0; 3]).then(|| format!("encoding rules of records: {}", found.join(", ")))
}

/// The same for machines; nothing if no header and nobody has said so.
fn formats(counts: [u64; 4]) -> Option<Value> {
    let found = RecordFormat::ALL.into_iter().zip(counts).filter(|(_, count)| *count > 0);
    let found: serde_json::Map<_, _> =
        found.map(|(format, count)| (format.to_string(), count.into())).collect();
    (!found.is_empty()).then_some(Value::Object(found))
}

/// What a header of TS 32.297 announced and is not there.
fn miscount(summary: &Summary) -> Option<String> {
    let announced = summary.carvings.announced.filter(|_| summary.carvings.files > 0)?;
    (announced != summary.carvings.seen).then(|| {
        format!(
            "the header of the file announces {}, there are {}",
            term::count(announced, "record"),
            summary.carvings.seen
        )
    })
}

fn octets(balance: &Balance) -> Value {
    json!({
        "read": balance.read,
        "records": balance.records,
        "filler": balance.filler,
        "headers": balance.headers,
        "rejected": balance.rejected,
    })
}

fn checked(checked: &Checked) -> Value {
    // Beyond 64 bits JSON has no number that all readers keep.
    let number =
        |number: i128| i64::try_from(number).map_or_else(|_| Value::from(number.to_string()), Value::from);
    json!({
        "total": checked.path,
        "announced": number(checked.announced),
        "seen": number(checked.seen),
        "sum": checked.sum,
        "agrees": checked.agrees(),
    })
}

/// What a limit has left of an input, of which so many octets were not read if that is known.
pub fn not_read(rest: Option<u64>) -> String {
    match rest {
        Some(0) => "stopped by --limit at the end of the input".to_owned(),
        Some(rest) => format!("stopped by --limit: {} of the input not read", term::count(rest, "byte")),
        None => "stopped by --limit: the rest of the input is not read".to_owned(),
    }
}

/// Marked values in words: a line for each component, and one for the others.
pub fn marks_lines(marks: &Marks) -> impl Iterator<Item = String> {
    let all = marks.by_path().count();
    let line = |(path, marking): (&str, &Marking)| {
        let (message, clause) = (marking.kind.message(), marking.kind.clause());
        let clause = clause.map_or_else(String::new, |clause| format!(" ({clause})"));
        let (which, at) = (if marking.count == 1 { "" } else { "the first " }, marking.offset);
        let values = term::count(marking.count, "marked value");
        // A number without a place in its column is no fault of the value: an option keeps it.
        let help = match marking.kind {
            ErrorKind::ColumnOverflow => " and is null; `--reals text` keeps every number",
            _ => "",
        };
        format!("{values} in {path}: {message}{clause}{help}, {which}at offset {at:#x}")
    };
    let more = all.saturating_sub(MARKED);
    let others = (more > 0).then(|| {
        let count: u64 = marks.by_path().skip(MARKED).map(|(_, marking)| marking.count).sum();
        format!("{} in {}", term::count(count, "marked value"), term::count(more as u64, "other component"))
    });
    marks.by_path().take(MARKED).map(line).collect::<Vec<_>>().into_iter().chain(others)
}

/// The same for machines.
fn marks_json(marks: &Marks) -> Value {
    marks.by_path().map(|(path, marking)| (path.to_owned(), Value::from(marking.count))).collect()
}

/// Warns of a framing found by trial that skips bytes which nothing confirms to be headers or filler.
pub fn warn_of_guess(name: &str, summary: &Summary) {
    if let Some((framing, warning)) = summary.guessed_framing() {
        term::warning(format_args!(
            "{name}: {warning}\n\
             help: compare them with `tercet dump`, then confirm it with `--framing {}`",
            framing.spelt()
        ));
    }
}

/// Prints which option keeps the records that were rejected, if one does.
pub fn say_help(summary: &Summary) {
    if summary.extensions {
        term::say(format_args!("help: {KEEP_UNKNOWN}"));
    }
}

/// Describes a reject: where, how much, why. Scripts look for `octets rejected at`, so these words stay.
pub fn describe(reject: &Reject) -> String {
    let octets = term::count(reject.length, "octet");
    match &reject.error {
        Some(error) => format!("{octets} rejected at {}: {error}", reject.offset),
        None => format!("{octets} rejected at {}: {}", reject.offset, reject.reason),
    }
}

/// The exit code for an input.
pub fn verdict(summary: &Summary) -> Exit {
    if summary.stopped == Some(Stopped::Caller) {
        Exit::Interrupted
    } else if summary.stopped.is_some_and(|stopped| stopped != Stopped::Limit)
        || !summary.balance.adds_up()
        || summary.records == 0 && summary.balance.read > 0
    {
        Exit::Failed
    } else if summary.rejects > 0
        || summary.guessed
        || summary.header_error.is_some()
        || miscount(summary).is_some()
        || !summary.carvings.faults.is_empty()
        || !summary.control_totals.iter().all(Checked::agrees)
    {
        Exit::Rejected
    } else {
        Exit::Good
    }
}
