//! `tercet.Codec`: one type in one transfer syntax.

use crate::compiled::{Compiled, Meant};
use crate::error::Argument;
use crate::lazy::Kept;
use crate::octets::{Held, Input};
use crate::options::Reading;
use crate::schema::Schema;
use crate::{encode, error, objects};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use std::sync::Arc;
use tercet::dynamic::{Limits, Tape};
use tercet::records::Scratch;

/// A type in a transfer syntax, ready for many values.
///
/// A codec can be pickled: it is made again of the pickled schema, type, rules and options.
#[pyclass(frozen, module = "tercet")]
pub(crate) struct Codec {
    meant: Arc<Meant>,
    reading: Reading,
    type_name: String,
    schema: Py<Schema>,
    keywords: Option<Py<PyDict>>,
}

impl Codec {
    pub(crate) fn new(
        schema: Py<Schema>,
        meant: Arc<Meant>,
        type_name: String,
        reading: Reading,
        keywords: Option<Py<PyDict>>,
    ) -> Self {
        Self { meant, reading, type_name, schema, keywords }
    }
}

/// Decodes an input that is one value.
pub(crate) fn decode<'py>(
    data: &Bound<'py, PyAny>,
    meant: &Meant,
    reading: &Reading,
) -> PyResult<Bound<'py, PyAny>> {
    let py = data.py();
    let input = Input::of(data, meant.current().syntax(0).is_text())?;
    meant.trial(py, |compiled| {
        compiled.with_state(|state| {
            compiled.read_all(py, 0, &input, state, &reading.options)?;
            build(compiled, (data, 0), (&mut state.tape, &input), reading)
        })
    })
}

/// The value on a tape, as it is shown if that is asked for. Its octets begin at an offset of the data.
fn build<'py>(
    compiled: &Compiled,
    (data, begin): (&Bound<'py, PyAny>, usize),
    (value, octets): (&mut Tape, &[u8]),
    reading: &Reading,
) -> PyResult<Bound<'py, PyAny>> {
    let (py, looks) = (data.py(), reading.looks);
    let asked = reading.asked.as_ref().map(|asked| compiled.shown(py, asked));
    let (names, shape, tape);
    let shown = asked.transpose()?.flatten();
    match &shown {
        None if !looks.lazy => return compiled.build(py, value.view(octets), looks),
        None => {
            (names, shape) = (compiled.names(py), compiled.shape());
            tape = names.reused.take(value);
        }
        Some(shown) => {
            (names, shape) = (&shown.names, shown.rendering.shape());
            let mut made = Tape::new();
            shown.rendering.show(value.view(octets), &mut made, &mut Scratch::default());
            tape = made;
        }
    }
    if looks.lazy {
        return Kept::new((names, shape), tape, (Held::of_input(data)?, begin), looks).value(py);
    }
    objects::build(py, names, shape, tape.view(octets), looks)
}

/// Encodes a value.
pub(crate) fn encode<'py>(
    value: Bound<'py, PyAny>,
    compiled: &Arc<Compiled>,
    limits: &Limits,
) -> PyResult<Bound<'py, PyBytes>> {
    let py = value.py();
    compiled.with_state(|state| {
        encode::put(py, compiled, value, limits, &mut state.tape)?;
        compiled.write(py, 0, None, state)?;
        Ok(PyBytes::new(py, &state.out))
    })
}

#[pymethods]
impl Codec {
    /// The name of the type, as it was given.
    #[getter(r#type)]
    fn type_name(&self) -> &str {
        &self.type_name
    }

    /// The name of the transfer syntax.
    #[getter]
    fn rules(&self) -> &'static str {
        self.meant.current().syntax(0).name()
    }

    /// Decodes data that is one value; text may be `str`.
    ///
    /// Raises DecodeError.
    fn decode<'py>(&self, data: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        decode(data, &self.meant, &self.reading)
    }

    /// Decodes the value that begins at an offset. Returns the value and the offset of its end.
    ///
    /// Raises DecodeError.
    #[pyo3(signature = (data, offset = Argument(0)), text_signature = "($self, data, offset=0)")]
    fn decode_from<'py>(
        &self,
        data: &Bound<'py, PyAny>,
        offset: Argument<usize>,
    ) -> PyResult<(Bound<'py, PyAny>, usize)> {
        let (py, Argument(offset)) = (data.py(), offset);
        let input = Input::of(data, self.meant.current().syntax(0).is_text())?;
        if offset > input.len() {
            return Err(error::argument(format!("offset {offset} is beyond the {} bytes", input.len())));
        }
        let mut options = self.reading.options.clone();
        options.base_offset = offset as u64;
        self.meant.trial(py, |compiled| {
            compiled.with_state(|state| {
                let length = compiled.read(py, 0, (&input, offset), state, &options)?;
                let value =
                    build(compiled, (data, offset), (&mut state.tape, &input[offset..]), &self.reading)?;
                Ok((value, offset + length))
            })
        })
    }

    /// Encodes a value.
    ///
    /// Raises EncodeError.
    fn encode<'py>(&self, value: Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
        encode(value, self.meant.current(), &self.reading.options.limits)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
        let options = self.keywords.as_ref().map_or_else(|| PyDict::new(py), |it| it.bind(py).clone());
        let parts = (&self.schema, &self.type_name, self.rules(), options);
        Ok((py.import("tercet._pickle")?.getattr("codec")?, parts.into_pyobject(py)?.into_any()))
    }

    fn __repr__(&self) -> String {
        format!("<tercet.Codec {} {}>", self.type_name, self.rules())
    }
}
