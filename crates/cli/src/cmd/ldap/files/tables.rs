//! `tercet ldap ldif to-json`, `to-csv`, `from-json` and `from-csv`.

use super::super::rows;
use super::{Sink, entries, lines};
use crate::exit::{Exit, Failure, Outcome};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use clap::Args;
use csv_core::{ReadRecordResult, Reader as CsvReader};
use serde_json::{Map, Value};
use std::io::Read as _;
use std::path::PathBuf;
use tercet_ldap::ldif::{Change, Record};

type Attributes = Vec<(String, Vec<Vec<u8>>)>;

/// Print the entries of a file as JSON lines: `dn`, and a list of values for each attribute
#[derive(Args, Debug)]
pub struct ToJson {
    /// The file; `-` for standard input
    file: PathBuf,
}

/// Print the entries of a file as a table
///
/// Several values of an attribute are a line each within their cell. A value that is not text, or has line breaks, is
/// `:: BASE64`, as in LDIF.
#[derive(Args, Debug)]
pub struct ToCsv {
    /// The file; `-` for standard input, if attributes are given
    file: PathBuf,

    /// The columns; all attributes of the file if not given
    attributes: Vec<String>,

    /// Put an apostrophe in front of texts that a spreadsheet would take for a formula
    #[arg(long)]
    guard_formulas: bool,
}

/// Print the entries of a file with JSON lines as LDIF
#[derive(Args, Debug)]
pub struct FromJson {
    /// The file; `-` for standard input
    file: PathBuf,
}

/// Print the entries of a table as LDIF; its first line names `dn` and the attributes
#[derive(Args, Debug)]
pub struct FromCsv {
    /// The file; `-` for standard input
    file: PathBuf,
}

/// The attributes of an entry.
fn attributes(record: &Record) -> &[(String, Vec<Vec<u8>>)] {
    match &record.change {
        Change::Add(attributes) => attributes,
        _ => &[],
    }
}

impl ToJson {
    pub fn run(&self) -> Outcome {
        let mut sink = Sink::stdout(&[&self.file])?;
        for record in entries(&self.file)? {
            let record = record?;
            let attributes = attributes(&record).iter();
            let named = attributes.map(|(name, values)| (name.clone(), values.iter().map(Vec::as_slice)));
            rows::object(&mut sink.out, &record.dn, named);
            sink.flush_if_full()?;
        }
        sink.finish()?;
        Ok(Exit::Good)
    }
}

impl ToCsv {
    pub fn run(&self) -> Outcome {
        let mut sink = Sink::stdout(&[&self.file])?;
        let mut columns = self.attributes.clone();
        let mut kept = Vec::new();
        if columns.is_empty() {
            for record in entries(&self.file)? {
                let record = record?;
                for (name, _) in attributes(&record) {
                    if !columns.iter().any(|known| known.eq_ignore_ascii_case(name)) {
                        columns.push(name.clone());
                    }
                }
                kept.push(record);
            }
        }
        // The first column is the name of the entry.
        columns.retain(|name| !name.eq_ignore_ascii_case("dn"));
        rows::csv_head(&mut sink.out, &columns);
        if self.attributes.is_empty() {
            kept.iter().try_for_each(|record| self.row(&mut sink, record, &columns))?;
        } else {
            for record in entries(&self.file)? {
                self.row(&mut sink, &record?, &columns)?;
            }
        }
        sink.finish()?;
        Ok(Exit::Good)
    }

    fn row(&self, sink: &mut Sink, record: &Record, columns: &[String]) -> Outcome<()> {
        rows::cell(&mut sink.out, &record.dn, self.guard_formulas);
        for column in columns {
            sink.out.push(b',');
            let found = attributes(record).iter().find(|(name, _)| name.eq_ignore_ascii_case(column));
            let values: Vec<String> =
                found.into_iter().flat_map(|(_, values)| values).map(|value| cell_value(value)).collect();
            rows::cell(&mut sink.out, &values.join("\n"), self.guard_formulas);
        }
        sink.out.push(b'\n');
        sink.flush_if_full()
    }
}

/// A value as a line of a cell.
fn cell_value(value: &[u8]) -> String {
    match std::str::from_utf8(value) {
        Ok(text) if !text.is_empty() && !text.contains(['\n', '\r']) && !text.starts_with("::") => {
            text.to_owned()
        }
        _ => format!(":: {}", STANDARD.encode(value)),
    }
}

fn record(dn: String, attributes: Attributes) -> Record {
    Record { dn, controls: Vec::new(), change: Change::Add(attributes), is_change: false }
}

impl FromJson {
    pub fn run(&self) -> Outcome {
        let mut sink = Sink::stdout(&[&self.file])?;
        for (number, line) in lines(&self.file)?.enumerate() {
            let line = line?;
            if line.trim().is_empty() {
                continue;
            }
            let fault = |message: String| {
                Failure::usage(format_args!("{}: line {}: {message}", self.file.display(), number + 1))
            };
            let object: Map<String, Value> =
                serde_json::from_str(&line).map_err(|error| fault(error.to_string()))?;
            sink.record(&of_object(object).map_err(fault)?)?;
        }
        sink.finish()?;
        Ok(Exit::Good)
    }
}

/// The entry of an object: texts, numbers and truth values, lists of them, and `{"base64": …}`.
fn of_object(object: Map<String, Value>) -> Result<Record, String> {
    let (mut dn, mut attributes) = (None, Attributes::new());
    for (name, value) in object {
        if name.eq_ignore_ascii_case("dn") {
            dn = value.as_str().map(str::to_owned);
            continue;
        }
        let values = match value {
            Value::Array(values) => values,
            Value::Null => Vec::new(),
            value => vec![value],
        };
        let values: Vec<Vec<u8>> =
            values.into_iter().map(|value| octets(&name, value)).collect::<Result<_, _>>()?;
        if !values.is_empty() {
            attributes.push((name, values));
        }
    }
    let dn = dn.ok_or_else(|| "`dn` is missing".to_owned())?;
    Ok(record(dn, attributes))
}

fn octets(name: &str, value: Value) -> Result<Vec<u8>, String> {
    match value {
        Value::String(text) => Ok(text.into_bytes()),
        Value::Number(number) => Ok(number.to_string().into_bytes()),
        Value::Bool(value) => Ok(if value { b"TRUE".to_vec() } else { b"FALSE".to_vec() }),
        Value::Object(object) if object.len() == 1 => match object.get("base64").and_then(Value::as_str) {
            Some(text) => STANDARD.decode(text).map_err(|error| format!("`{name}`: base64: {error}")),
            None => Err(format!("`{name}`: a value is an object other than {{\"base64\": …}}")),
        },
        _ => Err(format!("`{name}`: a text, or {{\"base64\": …}}, expected")),
    }
}

impl FromCsv {
    pub fn run(&self) -> Outcome {
        let mut sink = Sink::stdout(&[&self.file])?;
        let mut text = Vec::new();
        let name = self.file.display().to_string();
        super::open(&self.file)?.read_to_end(&mut text).map_err(|error| Failure::io(&name, &error))?;
        let mut rows = rows_of(&text).enumerate();
        let fault =
            |row: usize, message: String| Failure::usage(format_args!("{name}: row {}: {message}", row + 1));
        let not_text = |row: usize| fault(row, "not UTF-8".to_owned());
        let Some((_, head)) = rows.next() else { return Ok(Exit::Good) };
        let head = head.ok_or_else(|| not_text(0))?;
        let dn_column = head.iter().position(|name| name.eq_ignore_ascii_case("dn"));
        let dn_column = dn_column.ok_or_else(|| fault(0, "no column is called `dn`".to_owned()))?;
        for (number, row) in rows {
            let row = row.ok_or_else(|| not_text(number))?;
            if row.len() != head.len() {
                let message = format!("{} cells, where the first row has {}", row.len(), head.len());
                return Err(fault(number, message));
            }
            let (mut dn, mut attributes) = (String::new(), Attributes::new());
            for (column, (name, cell)) in head.iter().zip(row).enumerate() {
                if column == dn_column {
                    dn = cell;
                    continue;
                }
                let values = cell.lines().map(|line| match line.strip_prefix("::") {
                    Some(text) => STANDARD
                        .decode(text.trim())
                        .map_err(|error| fault(number, format!("`{name}`: base64: {error}"))),
                    None => Ok(line.as_bytes().to_vec()),
                });
                let values: Vec<Vec<u8>> = values.collect::<Result<_, _>>()?;
                if !values.is_empty() {
                    attributes.push((name.clone(), values));
                }
            }
            sink.record(&record(dn, attributes))?;
        }
        sink.finish()?;
        Ok(Exit::Good)
    }
}

/// The rows of a table (RFC 4180); `None` for one that is not text.
fn rows_of(text: &[u8]) -> impl Iterator<Item = Option<Vec<String>>> {
    let text = text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(text);
    let mut reader = CsvReader::new();
    let (mut at, mut is_at_end) = (0, false);
    let (mut field, mut ends) = (vec![0; 4096], vec![0_usize; 64]);
    std::iter::from_fn(move || {
        let (mut written, mut ended) = (0, 0);
        while !is_at_end {
            let (result, read, wrote, ends_wrote) = reader.read_record(
                text.get(at..).unwrap_or_default(),
                field.get_mut(written..).unwrap_or_default(),
                ends.get_mut(ended..).unwrap_or_default(),
            );
            at += read;
            written += wrote;
            ended += ends_wrote;
            match result {
                // An empty one marks the end of the input.
                ReadRecordResult::InputEmpty => {}
                ReadRecordResult::OutputFull => field.resize(field.len() * 2, 0),
                ReadRecordResult::OutputEndsFull => ends.resize(ends.len() * 2, 0),
                ReadRecordResult::Record => {
                    let mut begin = 0;
                    let cells = ends.get(..ended).unwrap_or_default().iter().map(|end| {
                        let cell = field.get(begin..*end).unwrap_or_default();
                        begin = *end;
                        std::str::from_utf8(cell).ok().map(str::to_owned)
                    });
                    return Some(cells.collect());
                }
                ReadRecordResult::End => is_at_end = true,
            }
        }
        None
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_tables() {
        let long = "x".repeat(9000);
        let text = format!("dn,a\n\"o=a,c=b\",\"1\n2 \"\"q\"\"\"\r\n{long},y");
        let rows: Vec<_> = rows_of(text.as_bytes()).map(Option::unwrap).collect();
        assert_eq!(rows, [vec!["dn", "a"], vec!["o=a,c=b", "1\n2 \"q\""], vec![&long, "y"]]);
        assert!(rows_of(b"a\n\xFF\n").nth(1).unwrap().is_none());
    }

    #[test]
    fn values_of_objects() {
        let of = |text: &str| of_object(serde_json::from_str(text).unwrap());
        let record = of(r#"{"dn":"o=a","o":["a"],"n":5,"b":true,"x":{"base64":"/w=="},"y":null}"#).unwrap();
        let Change::Add(attributes) = record.change else { panic!() };
        let values: Vec<&[u8]> = attributes.iter().map(|(_, values)| values[0].as_slice()).collect();
        assert_eq!(values.len(), 4);
        for value in [&b"a"[..], b"5", b"TRUE", b"\xFF"] {
            assert!(values.contains(&value));
        }
        assert!(of(r#"{"o":"a"}"#).is_err() && of(r#"{"dn":"a","o":[[1]]}"#).is_err());
    }
}
