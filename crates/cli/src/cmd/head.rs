//! `tercet head`.

#[cfg(feature = "capture")]
use crate::exit::Exit;
use crate::exit::Outcome;
#[cfg(feature = "capture")]
use crate::inputs::Input;
use crate::inputs::InputArgs;
use crate::inspect::InspectArgs;
use crate::term;
use clap::Args;
use csv_core::{ReadRecordResult, Reader};
use std::io::{self, Write as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tercet::dynamic::{Error, View};
#[cfg(feature = "capture")]
use tercet::records::Prepared;
use tercet::records::{Format, conversion::FormOptions};
use tercet::records::{Origin, RowWriter};
use tercet_printable::printable;

/// Show the first records of files as a table of what is in them
#[derive(Args, Debug)]
#[command(after_help = "\
Components that none of the records has get no column.

Examples:
  tercet head -s schemas/demo -t CallRecord -n 5 calls.ber
  tercet head -s schemas/demo -t CallRecord -n 1 --vertical calls.ber")]
pub struct Head {
    #[command(flatten)]
    input: InputArgs,

    #[command(flatten)]
    inspect: InspectArgs,

    /// Records of each input
    #[arg(short = 'n', long, value_name = "COUNT", default_value_t = 10)]
    count: u64,

    /// Characters of a line at most; as the terminal has it, or any number
    #[arg(short, long, value_name = "COUNT")]
    width: Option<usize>,

    /// Show a line for each component instead of a column
    #[arg(long, conflicts_with = "width")]
    vertical: bool,

    #[command(flatten)]
    render: FormOptions,
}

impl Head {
    pub fn run(&self) -> Outcome {
        // The table is made of CSV.
        self.render.check_format(Some(Format::CSV))?;
        let mut guard = self.inspect.guard()?;
        let inputs = self.input.expand_beside(&mut guard, false)?;
        #[cfg(feature = "capture")]
        if crate::cmd::capture::are_captures(&inputs, self.inspect.source.records.is_capture())? {
            return self.captures(&inputs);
        }
        let job = self.inspect.job(&inputs, true)?;
        let render = self.render.expanded(job.shown(), job.record)?;
        render.check_columns(Format::CSV, job.shown(), job.record)?;
        let mut render = First {
            render: Format::CSV.writer(&render, job.shown(), job.record),
            count: self.count,
            stop: Arc::clone(&job.stop),
        };
        let mut text = Vec::new();
        render.begin(&mut text);
        let exit = self.inspect.read(&job, &inputs, &mut render, &mut text, &mut |_, _| {})?;
        self.print(&text)?;
        Ok(exit)
    }

    /// Prints CSV as a table or lines.
    fn print(&self, text: &[u8]) -> Outcome<()> {
        let width = self.width.or_else(term::width).unwrap_or(usize::MAX - GAP);
        let shown = if self.vertical { lines(&rows(text)) } else { table(&rows(text), width) };
        Ok(io::stdout().lock().write_all(shown.as_bytes())?)
    }

    /// Shows the first messages of captures, those of each type in a table.
    #[cfg(feature = "capture")]
    fn captures(&self, inputs: &[Input]) -> Outcome {
        let messages = self.inspect.captures(&self.input.options)?.messages(inputs)?;
        let mut exit = Exit::Good;
        for (at, of_type) in messages.iter().enumerate() {
            let mut prepared = Prepared::new(&of_type.envelope.shape, of_type.envelope.root);
            prepared.expand_columns(&self.render)?;
            prepared.check_columns(&self.render, Format::CSV)?;
            let mut writer = Format::CSV.writer(&self.render, prepared.shown(), prepared.record);
            let mut text = Vec::new();
            exit = exit.max(of_type.read(&mut *writer, &mut text, Some(self.count), None)?.0);
            if messages.len() > 1 {
                let gap = if at > 0 { "\n" } else { "" };
                writeln!(io::stdout(), "{gap}{}", of_type.name)?;
            }
            self.print(&text)?;
        }
        Ok(exit)
    }
}

/// Renders the first records of an input, and ends it.
struct First<'a> {
    render: Box<dyn RowWriter + Send + 'a>,
    count: u64,
    stop: Arc<AtomicBool>,
}

impl RowWriter for First<'_> {
    fn begin(&mut self, out: &mut Vec<u8>) {
        self.render.begin(out);
    }

    fn record(&mut self, value: View<'_>, origin: &Origin<'_>, out: &mut Vec<u8>) -> Result<(), Error> {
        if origin.index + 1 >= self.count {
            self.stop.store(true, Ordering::SeqCst);
        }
        if origin.index < self.count { self.render.record(value, origin, out) } else { Ok(()) }
    }
}

/// Spaces between columns.
const GAP: usize = 2;

/// The cells of CSV.
fn rows(mut text: &[u8]) -> Vec<Vec<String>> {
    let mut reader = Reader::new();
    let mut rows = Vec::new();
    // A row is no longer than its text, and has fewer cells than that has octets.
    let (mut cells, mut ends) = (vec![0; text.len() + 1], vec![0; text.len() + 2]);
    loop {
        let (result, read, _, count) = reader.read_record(text, &mut cells, &mut ends);
        text = &text[read..];
        if count > 0 && !matches!(result, ReadRecordResult::End) {
            let begins = std::iter::once(0).chain(ends.iter().copied());
            let row =
                begins.zip(&ends[..count]).map(|(begin, &end)| String::from_utf8_lossy(&cells[begin..end]));
            // A cell of a table is on one line, wherever it goes.
            rows.push(row.map(|cell| printable(&cell).into_owned()).collect());
        }
        if matches!(result, ReadRecordResult::End) {
            return rows;
        }
    }
}

/// A line for each cell that is not empty, with the name of its column, and an empty line between records.
fn lines(rows: &[Vec<String>]) -> String {
    let Some((names, records)) = rows.split_first() else { return String::new() };
    let filled = |(_, cell): &(&String, &String)| !cell.is_empty();
    let cells = || records.iter().flat_map(|record| names.iter().zip(record).filter(filled));
    let width = cells().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    let mut out = String::new();
    for record in records {
        if !out.is_empty() {
            out.push('\n');
        }
        for (name, cell) in names.iter().zip(record).filter(filled) {
            out += &format!("{name:<width$}  {cell}\n");
        }
    }
    out
}

/// Columns one beside the other as far as a line goes; then the others below, with the first again.
fn table(rows: &[Vec<String>], width: usize) -> String {
    let Some((names, records)) = rows.split_first() else { return String::new() };
    let cell = |row: &[String], column: usize| row.get(column).cloned().unwrap_or_default();
    let filled =
        |column: &usize| records.iter().any(|row| row.get(*column).is_some_and(|cell| !cell.is_empty()));
    let wide = |column: usize| {
        let cells = rows.iter().map(|row| row.get(column).map_or(0, |cell| cell.chars().count()));
        cells.max().unwrap_or(0)
    };
    let columns: Vec<usize> = (0..names.len()).filter(filled).collect();
    let mut out = String::new();
    let mut rest = &columns[..];
    while !rest.is_empty() {
        let mut taken = 0;
        let mut used = 0;
        for &column in rest {
            used += wide(column) + GAP;
            if taken > 0 && used > width + GAP {
                break;
            }
            taken += 1;
        }
        let (now, later) = rest.split_at(taken);
        for row in rows {
            let line: String =
                now.iter().map(|&column| format!("{:<1$}", cell(row, column), wide(column) + GAP)).collect();
            out += line.trim_end();
            out.push('\n');
        }
        if !later.is_empty() {
            out.push('\n');
        }
        rest = later;
    }
    out
}
