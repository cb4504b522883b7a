//! `tercet.Codec`: one type in one transfer syntax.

use crate::compiled::Compiled;
use crate::{encode, octets};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::sync::Arc;
use tercet::dynamic::Options;

/// One type in one transfer syntax.
#[pyclass(frozen, module = "tercet")]
pub(crate) struct Codec {
    pub(crate) compiled: Arc<Compiled>,
    pub(crate) options: Options,
    pub(crate) type_name: String,
}

/// Decodes an input that is one value.
pub(crate) fn decode<'py>(
    data: &Bound<'py, PyAny>,
    compiled: &Compiled,
    options: &Options,
) -> PyResult<Bound<'py, PyAny>> {
    let py = data.py();
    let input = octets::of_input(data, compiled.syntax(0).is_text())?;
    compiled.with_state(|state| {
        compiled.read_all(py, 0, &input, state, options)?;
        compiled.build(py, state.tape.view(&input))
    })
}

/// Encodes a value.
pub(crate) fn encode<'py>(value: Bound<'py, PyAny>, compiled: &Compiled) -> PyResult<Bound<'py, PyBytes>> {
    let py = value.py();
    compiled.with_state(|state| {
        encode::put(py, compiled, value, &mut state.tape)?;
        compiled.write(py, 0, &[], state)?;
        Ok(PyBytes::new(py, &state.out))
    })
}

#[pymethods]
impl Codec {
    /// The type, as it was asked for.
    #[getter(r#type)]
    fn type_name(&self) -> &str {
        &self.type_name
    }

    /// The name of the transfer syntax.
    #[getter]
    fn rules(&self) -> &'static str {
        self.compiled.syntax(0).name()
    }

    /// Decodes an input that is one value.
    fn decode<'py>(&self, data: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        decode(data, &self.compiled, &self.options)
    }

    /// Decodes the value that begins at an offset, and tells where it ends.
    #[pyo3(signature = (data, offset = 0))]
    fn decode_from<'py>(
        &self,
        data: &Bound<'py, PyAny>,
        offset: usize,
    ) -> PyResult<(Bound<'py, PyAny>, usize)> {
        let (py, compiled) = (data.py(), &*self.compiled);
        let input = octets::of_input(data, compiled.syntax(0).is_text())?;
        let Some(rest) = input.get(offset..) else {
            return Err(PyValueError::new_err(format!("{} octets have no offset {offset}", input.len())));
        };
        let mut options = self.options.clone();
        options.base_offset = offset as u64;
        compiled.with_state(|state| {
            let length = compiled.read(py, 0, rest, state, &options)?;
            Ok((compiled.build(py, state.tape.view(rest))?, offset + length))
        })
    }

    /// Encodes a value.
    fn encode<'py>(&self, value: Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
        encode(value, &self.compiled)
    }

    fn __repr__(&self) -> String {
        format!("<tercet.Codec {} {}>", self.type_name, self.rules())
    }
}
