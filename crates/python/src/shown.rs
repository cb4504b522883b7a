//! `tercet.Shown`: the parts of one encoding, as text and as HTML for notebooks.

use crate::compiled::{Compiled, Meant};
use crate::files::escaped;
use crate::octets::Input;
use crate::options::Reading;
use pyo3::prelude::*;
use pyo3::types::PyList;
use std::fmt::Write;
use tercet::dynamic::Part;
use tercet::{TapeCodec, check_trailing};

/// Parts that a notebook gets.
const SHOWN: usize = 500;
/// Bytes, or characters of text, of a part that are shown.
const BYTES: usize = 16;
/// Characters of a value that are shown.
const CHARACTERS: usize = 80;

/// One encoding, part by part: `Schema.show()`. Notebooks show it as a table.
#[pyclass(frozen, module = "tercet")]
pub(crate) struct Shown {
    type_name: String,
    rules: &'static str,
    /// Whether fields need not be whole bytes.
    has_bits: bool,
    parts: Vec<Line>,
    error: Option<String>,
}

/// A part.
struct Line {
    offset: u64,
    bit: u64,
    bits: u64,
    part: &'static str,
    meaning: String,
    path: String,
    type_name: String,
    value: Option<String>,
    clause: &'static str,
    encoding: String,
}

/// Reads the parts of an input that is one value.
pub(crate) fn show(
    data: &Bound<'_, PyAny>,
    meant: &Meant,
    type_name: &str,
    reading: &Reading,
) -> PyResult<Shown> {
    let compiled: &Compiled = meant.current();
    let syntax = compiled.syntax(0);
    let input = Input::of(data, syntax.is_text())?;
    let mut parts = Vec::new();
    let read =
        TapeCodec::new(syntax, compiled.plan()).trace(compiled.root, &input, &reading.options, |step| {
            let place = step.place;
            parts.push(Line {
                offset: place.at / 8,
                bit: place.at % 8,
                bits: place.bits,
                part: place.part.name(),
                meaning: step.meaning.to_owned(),
                path: step.path.to_owned(),
                type_name: step.type_name.to_owned(),
                value: step.value.map(str::to_owned),
                clause: step.clause,
                encoding: encoding(&input, place.at, place.bits, syntax.is_text()),
            });
        });
    let error = match read {
        Err(error) => Some(error.to_string()),
        Ok(length) => {
            let (rest, policy) = (&input[length..], reading.options.trailing);
            let checked = check_trailing(compiled.plan(), compiled.root, rest, length as u64, policy);
            checked.err().map(|error| error.to_string())
        }
    };
    let has_bits = !syntax.is_text() && !syntax.delimits();
    Ok(Shown { type_name: type_name.to_owned(), rules: syntax.name(), has_bits, parts, error })
}

/// The bits of a part: characters of text, else digits in hexadecimal or in binary.
fn encoding(input: &[u8], at: u64, bits: u64, is_text: bool) -> String {
    let (from, to) = ((at / 8) as usize, ((at + bits).div_ceil(8)) as usize);
    let octets = input.get(from..to.min(input.len())).unwrap_or_default();
    if is_text {
        return cut(&String::from_utf8_lossy(octets), BYTES * 2);
    }
    if at.is_multiple_of(8) && bits.is_multiple_of(8) {
        let digits: Vec<String> = octets.iter().take(BYTES).map(|octet| format!("{octet:02X}")).collect();
        return digits.join(" ") + if octets.len() > BYTES { " …" } else { "" };
    }
    let bit =
        |at: u64| octets.get(((at / 8) as usize).saturating_sub(from)).map_or(0, |it| it >> (7 - at % 8) & 1);
    let digits: String = (at..at + bits.min(32)).map(|at| char::from(b'0' + bit(at))).collect();
    digits + if bits > 32 { "…" } else { "" }
}

fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

impl Shown {
    fn place(&self, line: &Line) -> String {
        if self.has_bits { format!("{}.{}", line.offset, line.bit) } else { line.offset.to_string() }
    }
}

#[pymethods]
impl Shown {
    /// The name of the type, as it was given.
    #[getter(r#type)]
    fn type_name(&self) -> &str {
        &self.type_name
    }

    /// The name of the transfer syntax.
    #[getter]
    fn rules(&self) -> &'static str {
        self.rules
    }

    /// The fault in the data; None if it is one value.
    #[getter]
    fn error(&self) -> Option<&str> {
        self.error.as_deref()
    }

    /// The parts in the order of the data: all bits, each once, up to the first fault.
    #[getter]
    fn parts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let class = py.import("tercet._values")?.getattr("Part")?;
        let parts = self.parts.iter().map(|it| {
            class.call1((
                it.offset,
                it.bit,
                it.bits,
                it.part,
                &it.meaning,
                &it.path,
                &it.type_name,
                it.value.as_deref(),
                it.clause,
            ))
        });
        PyList::new(py, parts.collect::<PyResult<Vec<_>>>()?)
    }

    fn __str__(&self) -> String {
        let mut out = String::new();
        for line in &self.parts {
            let value = line
                .value
                .as_ref()
                .map_or_else(String::new, |value| format!(" = {}", cut(value, CHARACTERS)));
            let part = format!("{} {}", line.part, line.meaning);
            // Writing to memory does not fail.
            _ = writeln!(
                out,
                "{:>8}  {:<32} {:<24} {}{value}",
                self.place(line),
                line.encoding,
                part.trim_end(),
                line.path
            );
        }
        if let Some(error) = &self.error {
            _ = writeln!(out, "{:>8}  {error}", "!");
        }
        out
    }

    fn __repr__(&self) -> String {
        format!("<tercet.Shown {} {}: {} parts>", self.type_name, self.rules, self.parts.len())
    }

    /// Returns the parts as a table of HTML, for notebooks.
    fn _repr_html_(&self) -> String {
        let mut out = String::from("<table class=\"dataframe\">\n<thead><tr>");
        for name in [
            if self.has_bits { "bit" } else { "byte" },
            "encoding",
            "part",
            "component",
            "type",
            "value",
            "clause",
        ] {
            _ = write!(out, "<th>{name}</th>");
        }
        out.push_str("</tr></thead>\n<tbody>\n");
        for line in self.parts.iter().take(SHOWN) {
            let part = format!("{} {}", line.part, line.meaning);
            let value = cut(line.value.as_deref().unwrap_or_default(), CHARACTERS);
            let weight = if line.part == Part::Contents.name() { " style=\"font-weight: 600\"" } else { "" };
            _ = write!(
                out,
                "<tr><td>{}</td><td><code>{}</code></td>",
                self.place(line),
                escaped(&line.encoding)
            );
            for cell in [part.trim_end(), &line.path, &line.type_name] {
                _ = write!(out, "<td>{}</td>", escaped(cell));
            }
            _ = writeln!(out, "<td{weight}>{}</td><td>{}</td></tr>", escaped(&value), line.clause);
        }
        out.push_str("</tbody>\n</table>\n");
        if self.parts.len() > SHOWN {
            _ = writeln!(out, "<p>the first {SHOWN} of {} parts</p>", self.parts.len());
        }
        if let Some(error) = &self.error {
            _ = writeln!(out, "<p><strong>{}</strong></p>", escaped(error));
        }
        out
    }
}
