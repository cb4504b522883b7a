//! `tercet.Report`: what came of reading files.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use std::collections::BTreeMap;
use std::io::{self, Write};
use tercet::RecordPlan;
use tercet::dynamic::FieldId;
use tercet::records::{Balance, Checked, FileHeader, Marks, Summary};

/// Places and faults that are kept.
const KEPT: usize = 100;

/// A rejected place.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    file: String,
    offset: u64,
    length: u64,
    reason: String,
    kind: &'static str,
    path: String,
}

impl Found {
    /// Where it is and why.
    pub(crate) fn text(&self) -> String {
        let Self { offset, reason, path, .. } = self;
        let path = if path.is_empty() { String::new() } else { format!(" ({path})") };
        format!("byte {offset}: {reason}{path}")
    }
}

/// Totals over inputs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Totals {
    inputs: u64,
    records: u64,
    pub(crate) rows: u64,
    left_out: u64,
    /// Rows of child tables by their paths.
    tables: BTreeMap<String, u64>,
    pub(crate) rejects: u64,
    balance: Balance,
    by_type: BTreeMap<u32, u64>,
    framings: Vec<(String, String)>,
    faults: Vec<String>,
    control_totals: Vec<(String, Checked)>,
    marks: Marks,
    /// Lines about the first marked values.
    marked: Vec<u8>,
    pub(crate) found: Vec<Found>,
    pub(crate) complete: bool,
}

impl Totals {
    /// Octets that were read.
    pub(crate) fn read(&self) -> u64 {
        self.balance.read
    }

    /// Room for the lines about marked values of another input.
    pub(crate) fn marked_lines(&self) -> MarkedLines {
        MarkedLines {
            text: Vec::new(),
            room: KEPT - self.marked.iter().filter(|it| **it == b'\n').count().min(KEPT),
        }
    }

    /// Adds the lines about marked values of an input.
    pub(crate) fn add_marked(&mut self, lines: &MarkedLines) {
        self.marked.extend_from_slice(&lines.text);
    }

    /// Takes note of an input, but for its rows.
    pub(crate) fn add(&mut self, name: &str, summary: &Summary) {
        self.inputs += 1;
        self.records += summary.records;
        self.left_out += summary.left_out;
        for (table, rows) in &summary.tables {
            *self.tables.entry(table.clone()).or_default() += rows;
        }
        self.rejects += summary.rejects;
        self.balance.merge(&summary.balance);
        self.marks.merge(&summary.marks);
        for &(FieldId(field), count) in &summary.by_type {
            *self.by_type.entry(field).or_default() += count;
        }
        if let Some(framing) = summary.framing.as_ref().filter(|_| self.framings.len() < KEPT) {
            self.framings.push((name.to_owned(), framing.spelt()));
        }
        let control_totals =
            summary.control_totals.iter().take(KEPT.saturating_sub(self.control_totals.len()));
        self.control_totals.extend(control_totals.map(|checked| (name.to_owned(), checked.clone())));
        let carvings = &summary.carvings;
        let miscount = carvings.announced.filter(|&told| carvings.files > 0 && told != carvings.seen);
        let miscount =
            miscount.map(|told| format!("headers announce {told} records, there are {}", carvings.seen));
        let troubles: Vec<String> = carvings.told.iter().flat_map(FileHeader::troubles).collect();
        for fault in carvings
            .faults
            .iter()
            .chain(&miscount)
            .chain(&troubles)
            .take(KEPT.saturating_sub(self.faults.len()))
        {
            self.faults.push(format!("{name}: {fault}"));
        }
        for reject in summary.samples.iter().take(KEPT.saturating_sub(self.found.len())) {
            let error = reject.error.as_ref();
            self.found.push(Found {
                file: name.to_owned(),
                offset: reject.offset,
                length: reject.length,
                reason: reject.message(),
                kind: error.map_or("framing", |error| error.kind().name()),
                path: error.map(|error| error.path().to_owned()).unwrap_or_default(),
            });
        }
    }

    /// The same in Python.
    pub(crate) fn to_python<'py>(&self, py: Python<'py>, plan: &RecordPlan) -> PyResult<Bound<'py, PyAny>> {
        let shape = &plan.plan.shape;
        let mut by_type: BTreeMap<&str, u64> = BTreeMap::new();
        for (&field, count) in &self.by_type {
            *by_type.entry(shape.name(shape.field(FieldId(field)).name)).or_default() += count;
        }
        let framings = PyDict::new(py);
        for (name, framing) in &self.framings {
            framings.set_item(name, framing)?;
        }
        let values = py.import("tercet._values")?;
        let Balance { read, records, filler, headers, rejected } = self.balance;
        let balance = values.getattr("Balance")?.call1((read, records, filler, headers, rejected))?;
        let class = values.getattr("Total")?;
        let total = |(name, it): &(String, Checked)| {
            class.call1((name, &it.path, it.announced, it.seen, &it.sum, it.agrees()))
        };
        let control_totals =
            PyList::new(py, self.control_totals.iter().map(total).collect::<PyResult<Vec<_>>>()?)?;
        let tables = PyDict::new(py);
        tables.set_item("tables", &self.tables)?;
        let marks = PyDict::new(py);
        for (path, marking) in self.marks.by_path() {
            marks.set_item(path, marking.count)?;
        }
        tables.set_item("marks", marks)?;
        let marked = String::from_utf8_lossy(&self.marked);
        tables.set_item("first_marks", values.getattr("marks_of_lines")?.call1((marked,))?)?;
        let first = (
            self.complete,
            self.inputs,
            self.records,
            self.rejects,
            by_type,
            balance,
            rejects(py, &self.found)?,
            &self.faults,
            framings,
            self.rows,
            self.left_out,
            control_totals,
        );
        values.getattr("Report")?.call(first, Some(&tables))
    }
}

/// Keeps the first lines about marked values.
pub(crate) struct MarkedLines {
    text: Vec<u8>,
    room: usize,
}

impl Write for MarkedLines {
    fn write(&mut self, octets: &[u8]) -> io::Result<usize> {
        for line in octets.split_inclusive(|octet| *octet == b'\n').take(self.room) {
            self.text.extend_from_slice(line);
            self.room -= 1;
        }
        Ok(octets.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A list of `tercet.Reject`.
pub(crate) fn rejects<'py>(py: Python<'py>, found: &[Found]) -> PyResult<Bound<'py, PyList>> {
    let class = py.import("tercet._values")?.getattr("Reject")?;
    let one = |it: &Found| class.call1((&it.file, it.offset, it.length, &it.reason, it.kind, &it.path));
    PyList::new(py, found.iter().map(one).collect::<PyResult<Vec<_>>>()?)
}
