//! `tercet.doctor`: how record files are to be read, by trial.

use super::failure::Failure;
use super::given::{FRAMING, options_of};
use super::input::{Input, inputs_of};
use super::plan::samples;
use crate::error::{self, Argument};
use crate::interrupt::interruptible;
use crate::options;
use crate::schema::Schema;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use std::io;
use std::sync::Arc;
use tercet::records::conversion::RecordOptions;
use tercet::records::{Guess, SettingError, guess};
use tercet::{Doctor, Rules, Way};

/// Finds out how to read record files: types, the meaning of tags, framings and lists inside of values are tried on
/// their first bytes. Returns a diagnosis for each file, with the ways to read it. The best way comes first.
///
/// Without a schema, it only identifies the files. A schema that is given by its paths, or was read with
/// `tags="auto"`, is tried with all tags. `type`, `records` and the options of `read` narrow the search.
///
/// Raises SchemaError, OSError.
#[pyfunction]
#[pyo3(
    signature = (paths, schema = None, r#type = Argument(None), *, records = Argument(None), most = Argument(5), **options),
    text_signature = "(paths, schema=None, type=None, *, records=None, most=5, **options)"
)]
pub(crate) fn doctor<'py>(
    paths: &Bound<'py, PyAny>,
    schema: Option<&Bound<'py, PyAny>>,
    r#type: Argument<Option<String>>,
    records: Argument<Option<String>>,
    most: Argument<usize>,
    options: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyList>> {
    let py = paths.py();
    let keywords = options.map_or_else(|| Ok(PyDict::new(py)), |options| options.copy())?;
    let told = keywords.copy()?;
    let framing: RecordOptions =
        options_of(&keywords, &FRAMING[1..])?.take().map_err(|fault| error::fault(&fault))?;
    let given = framing.given_framing().map_err(|fault| error::fault(&fault))?;
    let decoding = options::read(Rules::default(), &keywords, &FRAMING[1..])?;
    let schema = schema.map(Schema::of_any_tags).transpose()?;
    let doctor = match &schema {
        Some(schema) => {
            let schemas = schema.get().by_tags(py)?;
            let (type_name, most) = (r#type.0, most.0);
            if let Some(name) = &type_name {
                // A type that there is by no tags is a fault of the call.
                schema.get().shared().find(name).map_err(|fault| error::plan(py, &fault))?;
            }
            Some(Doctor { schemas, type_name, records: records.0, given, options: decoding, most })
        }
        None => None,
    };
    let (doctor, list) = (doctor.map(Arc::new), PyList::empty(py));
    let values = py.import("tercet._values")?;
    for input in inputs_of(paths, None, false)? {
        if !input.is_read_again() {
            return Err(error::argument(format!("{}: this input can be read once only", input.name())));
        }
        let (source, doctor) = (input.clone(), doctor.clone());
        let found = interruptible(py, move || diagnoses(&source, doctor.as_deref()))?;
        let found = found.map_err(|error| Failure::io(input.name(), &error).raise(py))?;
        for Diagnosis { name, guess, ways, length } in found {
            let ways = ways.map_err(error::argument)?;
            let way = |way: &Way| {
                let options = told.copy()?;
                let framing = way.fit.framing.spelt();
                // With a list, the framing is the way to it.
                match &way.records {
                    Some(path) => options.set_item("records", path)?,
                    None if framing != "plain" => options.set_item("framing", framing)?,
                    None => {}
                }
                if way.keep {
                    options.set_item("unknown", "keep")?;
                }
                let schema = schema.as_ref().map(|schema| Schema::tagged(schema, way.tags)).transpose()?;
                let share = way.fit.octets as f64 / length.max(1) as f64;
                let tags = crate::schema::word(way.tags);
                let class = values.getattr("Way")?;
                class.call1((&way.type_name, tags, options, way.fit.records, way.fit.tried, share, schema))
            };
            let ways = PyList::new(py, ways.iter().map(way).collect::<PyResult<Vec<_>>>()?)?;
            let parts = (name, input.name(), guess.kind, guess.records, ways);
            list.append(values.getattr("Diagnosis")?.call1(parts)?)?;
        }
    }
    Ok(list)
}

/// What a file is.
struct Diagnosis {
    name: String,
    guess: Guess,
    ways: Result<Vec<Way>, SettingError>,
    /// Bytes that were looked at.
    length: usize,
}

/// Those of the files that an input consists of: of the one that it is, or of those in an archive.
fn diagnoses(input: &Input, doctor: Option<&Doctor>) -> io::Result<Vec<Diagnosis>> {
    let samples = samples(input, usize::MAX)?;
    let diagnosis = |(name, sample, whole): (String, Vec<u8>, bool)| {
        let guess = guess(&sample, whole);
        let ways = match doctor.filter(|_| guess.records) {
            Some(doctor) => doctor.ways(&sample, whole).map(|ways| {
                let listed = |way: Way| doctor.with_list(&way, &sample, whole);
                ways.into_iter().take(doctor.most).map(listed).collect()
            }),
            None => Ok(Vec::new()),
        };
        Diagnosis { name, guess, ways, length: sample.len() }
    };
    Ok(samples.into_iter().map(diagnosis).collect())
}
