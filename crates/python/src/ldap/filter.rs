//! `tercet.ldap.Filter`.

use super::{arguments, error};
use crate::error::ours;
use pyo3::prelude::*;
use pyo3::types::PyString;
use tercet_ldap::{Dn, Error, ErrorKind, Evaluation, Filter as Inner, escape_filter_value};

/// Filters inside one another, as many as the text of a filter may have.
const DEPTH: usize = 80;

/// A filter of searches (RFC 4515).
///
/// Raises ParseError.
#[pyclass(frozen, eq, hash, module = "tercet.ldap")]
#[derive(PartialEq, Eq, Hash)]
pub(crate) struct Filter(Inner<'static>);

impl Filter {
    fn checked(py: Python<'_>, filter: Inner<'static>) -> PyResult<Self> {
        if depth(&filter) > DEPTH {
            let message = format!("filter: more than {DEPTH} inside one another");
            return Err(error::raise(py, &Error::new(ErrorKind::Limit, message)));
        }
        Ok(Self(filter))
    }

    /// A test of an attribute. The attribute is checked and the value escaped, so that neither becomes anything else.
    fn item(py: Python<'_>, attribute: &str, test: &str) -> PyResult<Self> {
        let fits = |octet: u8| octet.is_ascii_alphanumeric() || b"-.;_".contains(&octet);
        if attribute.is_empty() || !attribute.bytes().all(fits) {
            return Err(crate::error::argument(format!(
                "`{attribute:.100}` is not an attribute description"
            )));
        }
        Self::new(py, &format!("({attribute}{test})"))
    }
}

/// How many filters are inside one another. Each part was checked before, so that this does not go deep.
fn depth(filter: &Inner<'_>) -> usize {
    match filter {
        Inner::And(list) | Inner::Or(list) => 1 + list.iter().map(depth).max().unwrap_or_default(),
        Inner::Not(filter) => 1 + depth(filter),
        _ => 1,
    }
}

fn escaped(value: &Bound<'_, PyAny>) -> PyResult<String> {
    Ok(escape_filter_value(&ours(arguments::value(value))?))
}

/// Escapes a value for the text of a filter. Text from users has to go through this before it becomes part of
/// one; `Filter.equal` does it by itself.
#[pyfunction]
pub(crate) fn escape_filter(value: &Bound<'_, PyAny>) -> PyResult<String> {
    escaped(value)
}

#[pymethods]
impl Filter {
    #[new]
    fn new(py: Python<'_>, text: &str) -> PyResult<Self> {
        text.parse().map(Self).map_err(|fault| error::raise(py, &fault))
    }

    /// Entries in which an attribute has this value, which needs no escapes.
    #[staticmethod]
    fn equal(attribute: &str, value: &Bound<'_, PyAny>) -> PyResult<Self> {
        Self::item(value.py(), attribute, &format!("={}", escaped(value)?))
    }

    /// Entries in which an attribute has this value or a greater one.
    #[staticmethod]
    fn at_least(attribute: &str, value: &Bound<'_, PyAny>) -> PyResult<Self> {
        Self::item(value.py(), attribute, &format!(">={}", escaped(value)?))
    }

    /// Entries in which an attribute has this value or a lesser one.
    #[staticmethod]
    fn at_most(attribute: &str, value: &Bound<'_, PyAny>) -> PyResult<Self> {
        Self::item(value.py(), attribute, &format!("<={}", escaped(value)?))
    }

    /// Entries that have an attribute.
    #[staticmethod]
    fn present(py: Python<'_>, attribute: &str) -> PyResult<Self> {
        Self::item(py, attribute, "=*")
    }

    /// Reports whether the filter selects an entry.
    fn matches(&self, entry: &Bound<'_, PyAny>) -> PyResult<bool> {
        let (dn, attributes) = ours(arguments::content(entry))?;
        let dn: Dn = dn.parse().map_err(|fault| error::raise(entry.py(), &fault))?;
        let values = |name: &str| {
            let found = attributes.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
            found.map(|(_, values)| values.iter().map(Vec::as_slice).collect())
        };
        Ok(self.0.evaluate(&dn, &values) == Evaluation::True)
    }

    fn __and__(&self, py: Python<'_>, other: PyRef<'_, Self>) -> PyResult<Self> {
        let mut all = match &self.0 {
            Inner::And(all) => all.clone(),
            one => vec![one.clone()],
        };
        all.push(other.0.clone());
        Self::checked(py, Inner::And(all))
    }

    fn __or__(&self, py: Python<'_>, other: PyRef<'_, Self>) -> PyResult<Self> {
        let mut all = match &self.0 {
            Inner::Or(all) => all.clone(),
            one => vec![one.clone()],
        };
        all.push(other.0.clone());
        Self::checked(py, Inner::Or(all))
    }

    fn __invert__(&self, py: Python<'_>) -> PyResult<Self> {
        match &self.0 {
            Inner::Not(inner) => Ok(Self((**inner).clone())),
            other => Self::checked(py, Inner::Not(Box::new(other.clone()))),
        }
    }

    fn __str__(&self) -> String {
        self.0.to_string()
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("Filter({})", PyString::new(py, &self.0.to_string()).repr()?))
    }
}
