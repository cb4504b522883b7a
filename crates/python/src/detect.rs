//! `tercet.detect`: what data is, by trial.

use crate::error::{self, Argument};
use crate::interrupt::interruptible;
use crate::octets::{Held, Input};
use crate::schema::{self, Schema};
use pyo3::prelude::*;
use pyo3::types::PyList;
use std::sync::Arc;
use tercet::{Candidate, Detector};

/// Finds out the encoding rules and the type of data: all of them are tried. The candidate that fits best comes
/// first.
///
/// `type` and `rules` narrow the search to one of them. If data fits several types equally well, their candidates have
/// the same numbers.
///
/// Raises ArgumentError for empty data, SchemaError for an unknown type.
#[pyfunction]
#[pyo3(
    signature = (data, schema, r#type = Argument(None), rules = Argument(None)),
    text_signature = "(data, schema, type=None, rules=None)"
)]
pub(crate) fn detect<'py>(
    data: &Bound<'py, PyAny>,
    schema: &Bound<'py, PyAny>,
    r#type: Argument<Option<String>>,
    rules: Argument<Option<String>>,
) -> PyResult<Bound<'py, PyList>> {
    let py = data.py();
    let held = match Input::of(data, true)? {
        Input::Huge(held) => held,
        Input::Small(octets) => Arc::new(Held::Copy(octets.into_owned())),
    };
    if held.is_empty() {
        return Err(error::argument("no data: 0 bytes"));
    }
    let syntax = rules.0.filter(|rules| rules != "auto").as_deref().map(schema::syntax).transpose()?;
    let specification = Arc::clone(Schema::of(schema)?.get().shared());
    let types = r#type.0;
    let found = interruptible(py, move || {
        let names = Vec::from_iter(types.as_deref());
        let mut detector = Detector::new(&specification, &names, syntax)?;
        let found = detector.run(&held);
        Ok((found, detector.untried()))
    })?;
    let (found, untried) = found.map_err(|fault| error::plan(py, &fault))?;
    if untried > 0 {
        let text = format!("{untried} pairs of rules and type were not tried: give `type` or `rules`");
        py.import("warnings")?.call_method1("warn", (text,))?;
    }
    let class = py.import("tercet._values")?.getattr("Candidate")?;
    let one = |it: &Candidate| {
        let Candidate { type_name, error, octets, again, values, violations, unknown, elements, .. } = it;
        let fits = it.fits();
        class.call1((
            it.syntax.name(),
            type_name,
            fits,
            error,
            octets,
            values,
            again,
            violations,
            unknown,
            elements,
        ))
    };
    PyList::new(py, found.iter().map(one).collect::<PyResult<Vec<_>>>()?)
}
