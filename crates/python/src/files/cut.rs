//! `tercet.splits`: files cut into stretches that can be read by themselves.

use super::failure::Failure;
use super::given::FRAMING;
use super::input::{Content, Input};
use super::source::Source;
use crate::error::{self, Argument};
use crate::interrupt::interruptible;
use crate::options::DECODE;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyTuple};
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Seek};
use std::sync::Arc;
use tercet::RecordPlan;
use tercet::records::conversion::Fingerprint;
use tercet::records::{Check, Framing, Interpretation, Split, inputs};

/// Cuts files into splits, by reading them.
#[pyfunction]
#[pyo3(
    signature = (paths, schema, r#type, *, size = Argument(64 << 20), **options),
    text_signature = "(paths, schema, type, *, size=67108864, **options)"
)]
pub(crate) fn splits<'py>(
    paths: &Bound<'py, PyAny>,
    schema: &Bound<'py, PyAny>,
    r#type: Argument<String>,
    size: Argument<u64>,
    options: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyList>> {
    let (py, Argument(size)) = (paths.py(), size);
    let source = Arc::new(Source::new(paths, schema, &r#type.0, options)?);
    let class = py.import("tercet._values")?.getattr("Split")?;
    let list = PyList::empty(py);
    for (at, input) in source.inputs.iter().enumerate() {
        let file: OsString = match &input.content {
            Content::File(path) => path.clone().into(),
            Content::Url(url) => url.into(),
            Content::Octets(_) | Content::Object(_) => {
                let text =
                    format!("{}: only files and URLs have splits, which others can read", input.name());
                return Err(error::argument(text));
            }
        };
        let cutting = Arc::clone(&source);
        let done = interruptible(py, move || cut(&cutting, &cutting.inputs[at], size))?;
        let (framing, splits) =
            done.map_err(|error| Failure::io(input.name(), &error)).map_err(|failure| failure.raise(py))?;
        let told = Some(framing.to_string()).filter(|_| framing.spelt() != source.settings.framing.spelt());
        let filler = PyBytes::new(py, &framing.filler);
        for Split { start, end, first, around } in splits {
            let around = PyTuple::new(py, around)?;
            list.append(class.call1((&file, start, end, first, &told, &filler, around))?)?;
        }
    }
    Ok(list)
}

/// Returns a key of all that the splits of a file depend on besides the file.
#[pyfunction]
#[pyo3(signature = (schema, r#type, **options))]
pub(crate) fn split_key(
    schema: &Bound<'_, PyAny>,
    r#type: Argument<String>,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<String> {
    // There need not be any file.
    let none = PyList::empty(schema.py());
    let keywords = options.map_or_else(|| Ok(PyDict::new(schema.py())), |options| options.copy())?;
    keywords.set_item("allow_empty", true)?;
    let source = Source::new(none.as_any(), schema, &r#type.0, Some(&keywords))?;
    let mut fingerprint = Fingerprint::default();
    for name in DECODE.iter().chain(&FRAMING) {
        if let Some(value) = keywords.get_item(name)? {
            fingerprint.add(name, &value.repr()?.to_string());
        }
    }
    let tables = source.prepared.rendering.as_ref().is_some_and(Interpretation::has_tables);
    fingerprint.add("tables", &tables.to_string());
    fingerprint.add("plan", &source.plan.plan.dump());
    Ok(fingerprint.finish())
}

/// The splits of one file: one, if it is small or compressed.
fn cut(source: &Source, input: &Input, size: u64) -> io::Result<(Framing, Vec<Split>)> {
    let given = &source.settings.framing;
    // What only streams is one split.
    let Content::File(path) = &input.content else { return Ok((given.clone(), vec![Split::default()])) };
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    // Where records are shown by tables that stand before them, they cannot be read alone.
    let tables = source.prepared.rendering.as_ref().is_some_and(Interpretation::has_tables);
    if length <= size || tables || inputs::is_packed(&mut file)? {
        return Ok((given.clone(), vec![Split::default()]));
    }
    file.rewind()?;
    let RecordPlan { plan, others, record, .. } = &source.plan;
    let mut check = Check::new(plan, Some(others), *record, &source.settings.options);
    tercet::records::splits(file, given, source.settings.detect, size, &mut check)
}
