//! `tercet.ldap.Dn` and `tercet.ldap.Url`.

use super::arguments::{self, Name};
use super::error;
use crate::error::ours;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};
use std::hash::{Hash as _, Hasher as _};
use tercet_ldap::{Ava, Rdn};

/// A distinguished name (RFC 4514). Two ways to write a name are the same name.
///
/// Raises ParseError.
#[pyclass(frozen, module = "tercet.ldap")]
pub(crate) struct Dn(pub(super) tercet_ldap::Dn);

#[pymethods]
impl Dn {
    #[new]
    #[pyo3(signature = (text = ""))]
    fn new(py: Python<'_>, text: &str) -> PyResult<Self> {
        text.parse().map(Self).map_err(|fault| error::raise(py, &fault))
    }

    /// The RDNs, the leaf first; each as pairs of attribute and value.
    #[getter]
    fn rdns<'py>(&self, py: Python<'py>) -> Vec<Vec<(String, Bound<'py, PyBytes>)>> {
        let pair = |ava: &Ava| (ava.attribute().to_owned(), PyBytes::new(py, ava.value()));
        self.0.rdns().iter().map(|rdn| rdn.avas().iter().map(pair).collect()).collect()
    }

    /// The name above; None above the root.
    #[getter]
    fn parent(&self) -> Option<Self> {
        self.0.parent().map(Self)
    }

    /// The name of what has this attribute and value below this name; the value needs no escapes.
    fn child(&self, attribute: &str, value: &Bound<'_, PyAny>) -> PyResult<Self> {
        Ok(Self(self.0.child(Rdn::new(attribute, ours(arguments::value(value))?))))
    }

    /// Reports whether this name is below another, or the same.
    fn is_within(&self, py: Python<'_>, base: Name) -> PyResult<bool> {
        Ok(self.0.is_within(&Self::new(py, &base.0)?.0))
    }

    /// The text that all ways to write this name have in common.
    fn normalized(&self) -> String {
        self.0.normalized()
    }

    /// The number of RDNs.
    fn __len__(&self) -> usize {
        self.0.rdns().len()
    }

    fn __bool__(&self) -> bool {
        // The name of the root is one all the same.
        true
    }

    fn __str__(&self) -> String {
        self.0.to_string()
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("Dn({})", PyString::new(py, &self.0.to_string()).repr()?))
    }

    fn __eq__(&self, other: PyRef<'_, Self>) -> bool {
        self.0 == other.0
    }

    fn __hash__(&self) -> u64 {
        let mut hasher = std::hash::DefaultHasher::new();
        self.0.normalized().hash(&mut hasher);
        hasher.finish()
    }
}

/// An LDAP URL (RFC 4516).
///
/// Raises ParseError.
#[pyclass(frozen, eq, module = "tercet.ldap")]
#[derive(PartialEq)]
pub(crate) struct Url(tercet_ldap::Url);

#[pymethods]
impl Url {
    #[new]
    fn new(py: Python<'_>, text: &str) -> PyResult<Self> {
        text.parse().map(Self).map_err(|fault| error::raise(py, &fault))
    }

    /// A URL of its parts, which need no escapes.
    #[staticmethod]
    #[pyo3(
        signature = (*, scheme = "ldap", host = "", port = None, dn = Name(String::new()), attributes = None,
            scope = None, filter = None, extensions = None),
        text_signature = "(*, scheme='ldap', host='', port=None, dn='', attributes=None, scope=None, filter=None, extensions=None)"
    )]
    #[expect(clippy::too_many_arguments, reason = "keyword arguments")]
    fn of(
        py: Python<'_>,
        scheme: &str,
        host: &str,
        port: Option<u16>,
        dn: Name,
        attributes: Option<Vec<String>>,
        scope: Option<&str>,
        filter: Option<&Bound<'_, PyAny>>,
        extensions: Option<Vec<String>>,
    ) -> PyResult<Self> {
        let scope = scope.map(str::parse).transpose().map_err(|fault| error::raise(py, &fault))?;
        let url = tercet_ldap::Url {
            scheme: scheme.to_owned(),
            host: host.to_owned(),
            port,
            dn: dn.0,
            attributes: attributes.unwrap_or_default(),
            scope,
            filter: filter.map(|filter| PyResult::Ok(filter.str()?.to_cow()?.into_owned())).transpose()?,
            extensions: extensions.unwrap_or_default(),
        };
        // What is no URL is told here, and not where it is used.
        Self::new(py, &url.to_string())
    }

    /// The scheme: `ldap`, `ldaps`, `ldapi` or `cldap`.
    #[getter]
    fn scheme(&self) -> &str {
        &self.0.scheme
    }

    /// The host; of `ldapi` the path of a socket.
    #[getter]
    fn host(&self) -> &str {
        &self.0.host
    }

    /// The port, if it is given.
    #[getter]
    fn port(&self) -> Option<u16> {
        self.0.port
    }

    /// The distinguished name.
    #[getter]
    fn dn(&self) -> &str {
        &self.0.dn
    }

    /// The attributes, if any are given.
    #[getter]
    fn attributes(&self) -> Vec<String> {
        self.0.attributes.clone()
    }

    /// The scope, if it is given.
    #[getter]
    fn scope(&self) -> Option<&'static str> {
        self.0.scope.map(tercet_ldap::Scope::word)
    }

    /// The filter, if it is given.
    #[getter]
    fn filter(&self) -> Option<&str> {
        self.0.filter.as_deref()
    }

    /// Extensions as they stand there, with `!` if critical.
    #[getter]
    fn extensions(&self) -> Vec<String> {
        self.0.extensions.clone()
    }

    fn __str__(&self) -> String {
        self.0.to_string()
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("Url({})", PyString::new(py, &self.0.to_string()).repr()?))
    }

    fn __hash__(&self) -> u64 {
        let mut hasher = std::hash::DefaultHasher::new();
        self.0.to_string().hash(&mut hasher);
        hasher.finish()
    }
}
