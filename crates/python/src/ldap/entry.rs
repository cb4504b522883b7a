//! `tercet.ldap.Entry`.

use super::{answers, error};
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyString};
use tercet_ldap::ldif::Style;
use tercet_ldap::proto::{Attribute, Values};

/// An entry: attribute descriptions, compared without case, with their values.
///
/// It is a view of what was received, and safe to keep; `compact` those that are few of many, as a view keeps all that
/// was received with it, up to 256 KiB.
#[pyclass(frozen, mapping, module = "tercet.ldap")]
pub(crate) struct Entry(pub(super) tercet_ldap::Entry);

impl Entry {
    fn find(&self, name: &str) -> Option<Attribute<'_>> {
        let name = name.as_bytes();
        self.0.attributes().find(|attribute| attribute.description().eq_ignore_ascii_case(name))
    }
}

/// A list of `bytes`.
fn values<'py>(py: Python<'py>, values: Values<'_>) -> PyResult<Bound<'py, PyList>> {
    let list = PyList::empty(py);
    for value in values {
        list.append(PyBytes::new(py, value))?;
    }
    Ok(list)
}

fn name<'py>(py: Python<'py>, attribute: &Attribute<'_>) -> Bound<'py, PyString> {
    PyString::new(py, &attribute.name())
}

#[pymethods]
impl Entry {
    /// The name of the entry.
    #[getter]
    fn dn(&self) -> &str {
        self.0.dn()
    }

    /// The controls that came with the entry.
    #[getter]
    fn controls<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let controls = self.0.controls().map_err(|fault| error::raise(py, &fault))?;
        answers::controls(py, &controls)
    }

    fn __getitem__<'py>(&self, py: Python<'py>, attribute: &str) -> PyResult<Bound<'py, PyList>> {
        let found = self.find(attribute).ok_or_else(|| PyKeyError::new_err(attribute.to_owned()))?;
        values(py, found.values())
    }

    #[pyo3(signature = (attribute, default = None))]
    fn get<'py>(
        &self,
        py: Python<'py>,
        attribute: &str,
        default: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        match self.find(attribute) {
            Some(found) => Ok(Some(values(py, found.values())?.into_any())),
            None => Ok(default),
        }
    }

    /// The first value of an attribute as text; None if there is none.
    ///
    /// Raises UnicodeDecodeError.
    fn text<'py>(&self, py: Python<'py>, attribute: &str) -> PyResult<Option<Bound<'py, PyString>>> {
        let first = self.find(attribute).and_then(|found| found.values().next());
        first.map(|value| PyString::from_bytes(py, value)).transpose()
    }

    /// The values of an attribute as text; empty if there is none.
    fn texts<'py>(&self, py: Python<'py>, attribute: &str) -> PyResult<Bound<'py, PyList>> {
        let list = PyList::empty(py);
        for value in self.0.values(attribute) {
            list.append(PyString::from_bytes(py, value)?)?;
        }
        Ok(list)
    }

    fn __contains__(&self, attribute: &Bound<'_, PyAny>) -> PyResult<bool> {
        // As with any mapping, what can be no key is none.
        let Ok(attribute) = attribute.cast::<PyString>() else { return Ok(false) };
        Ok(self.find(&attribute.to_cow()?).is_some())
    }

    fn __len__(&self) -> usize {
        self.0.attributes().count()
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(self.keys(py)?.try_iter()?.into_any())
    }

    /// The attribute descriptions, in the order in which they came.
    fn keys<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let list = PyList::empty(py);
        for attribute in self.0.attributes() {
            list.append(name(py, &attribute))?;
        }
        Ok(list)
    }

    /// The values of all attributes.
    fn values<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let list = PyList::empty(py);
        for attribute in self.0.attributes() {
            list.append(values(py, attribute.values())?)?;
        }
        Ok(list)
    }

    /// Attribute descriptions with their values.
    fn items<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let list = PyList::empty(py);
        for attribute in self.0.attributes() {
            list.append((name(py, &attribute), values(py, attribute.values())?))?;
        }
        Ok(list)
    }

    /// All attributes as a `dict`.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        for attribute in self.0.attributes() {
            dict.set_item(name(py, &attribute), values(py, attribute.values())?)?;
        }
        Ok(dict)
    }

    /// The entry as LDIF with the empty line after it, folded after so many columns; None folds nothing.
    #[pyo3(signature = (*, wrap = Some(78)), text_signature = "($self, *, wrap=78)")]
    fn ldif<'py>(&self, py: Python<'py>, wrap: Option<usize>) -> Bound<'py, PyBytes> {
        let mut out = Vec::with_capacity(self.0.octets().len() + 64);
        Style { wrap }.entry(&mut out, &self.0);
        PyBytes::new(py, &out)
    }

    /// A copy of the entry in separate memory.
    fn compact(&self) -> Self {
        Self(self.0.compact())
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("Entry({}, {})", PyString::new(py, self.0.dn()).repr()?, self.to_dict(py)?.repr()?))
    }
}
