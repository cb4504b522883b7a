//! What a table was made of: with this it is made again, in another process too.

use pyo3::prelude::*;
use pyo3::types::PyDict;

/// A function of the package and its arguments.
pub(crate) struct Made {
    function: &'static str,
    paths: Py<PyAny>,
    schema: Py<PyAny>,
    type_name: String,
    keywords: Py<PyDict>,
}

impl Made {
    pub(crate) fn new(
        function: &'static str,
        (paths, schema): (&Bound<'_, PyAny>, &Bound<'_, PyAny>),
        type_name: &str,
        keywords: &Bound<'_, PyDict>,
    ) -> Self {
        let (paths, schema, keywords) =
            (paths.clone().unbind(), schema.clone().unbind(), keywords.clone().unbind());
        Self { function, paths, schema, type_name: type_name.to_owned(), keywords }
    }

    /// What `pickle` makes it again of.
    pub(crate) fn reduced<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
        let Self { function, paths, schema, type_name, keywords } = self;
        let parts = (*function, paths, schema, type_name, keywords).into_pyobject(py)?;
        Ok((py.import("tercet._pickle")?.getattr("reading")?, parts.into_any()))
    }
}
