//! What servers answer, as values of `tercet.ldap`.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyDict, PyList};
use tercet_ldap::ldif::{Change, Record, RecordModification};
use tercet_ldap::proto::{Extended, Intermediate, Reference};
use tercet_ldap::{Control, LdapResult};

static CONTROL: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
static RESULT: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
static EXTENDED: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
static REFERENCE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
static INTERMEDIATE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
static RECORD: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
static MODIFICATION: PyOnceLock<Py<PyAny>> = PyOnceLock::new();

/// Where the classes are.
pub(super) const VALUES: &str = "tercet.ldap._values";

pub(super) fn octets<'py>(py: Python<'py>, octets: Option<&[u8]>) -> Option<Bound<'py, PyBytes>> {
    octets.map(|octets| PyBytes::new(py, octets))
}

/// A list of `bytes`.
pub(super) fn values<'py>(py: Python<'py>, values: &[Vec<u8>]) -> PyResult<Bound<'py, PyList>> {
    PyList::new(py, values.iter().map(|value| PyBytes::new(py, value)))
}

/// A list of `Control`.
pub(super) fn controls<'py>(py: Python<'py>, controls: &[Control]) -> PyResult<Bound<'py, PyList>> {
    let all = controls.iter().map(|control| self::control(py, control));
    PyList::new(py, all.collect::<PyResult<Vec<_>>>()?)
}

/// A `Control`.
pub(super) fn control<'py>(py: Python<'py>, control: &Control) -> PyResult<Bound<'py, PyAny>> {
    let value = octets(py, control.value.as_deref());
    CONTROL.import(py, VALUES, "Control")?.call1((&control.oid, control.critical, value))
}

/// A `Result`.
pub(super) fn result<'py>(py: Python<'py>, result: &LdapResult) -> PyResult<Bound<'py, PyAny>> {
    let controls = controls(py, &result.controls)?;
    let class = RESULT.import(py, VALUES, "Result")?;
    class.call1((result.code.0, &result.matched_dn, &result.message, &result.referrals, controls))
}

/// The same of an operation that has ended well.
pub(super) fn done(py: Python<'_>, result: LdapResult) -> PyResult<Bound<'_, PyAny>> {
    self::result(py, &result)
}

/// An `Extended`.
pub(super) fn extended(py: Python<'_>, answer: Extended) -> PyResult<Bound<'_, PyAny>> {
    let result = result(py, &answer.result)?;
    let value = octets(py, answer.value.as_deref());
    EXTENDED.import(py, VALUES, "Extended")?.call1((result, answer.name, value))
}

/// A `Reference`.
pub(super) fn reference<'py>(py: Python<'py>, reference: &Reference) -> PyResult<Bound<'py, PyAny>> {
    let controls = controls(py, &reference.controls)?;
    REFERENCE.import(py, VALUES, "Reference")?.call1((&reference.urls, controls))
}

/// An `Intermediate`.
pub(super) fn intermediate<'py>(py: Python<'py>, response: &Intermediate) -> PyResult<Bound<'py, PyAny>> {
    let value = octets(py, response.value.as_deref());
    let controls = controls(py, &response.controls)?;
    INTERMEDIATE.import(py, VALUES, "Intermediate")?.call1((&response.name, value, controls))
}

/// A `Record` of LDIF.
pub(super) fn record<'py>(py: Python<'py>, record: &Record) -> PyResult<Bound<'py, PyAny>> {
    let with = PyDict::new(py);
    let kind = match &record.change {
        Change::Add(attributes) => {
            let dict = PyDict::new(py);
            for (name, all) in attributes {
                dict.set_item(name, values(py, all)?)?;
            }
            with.set_item("attributes", dict)?;
            "add"
        }
        Change::Delete => "delete",
        Change::Modify(modifications) => {
            let all = modifications.iter().map(|one| modification(py, one)).collect::<PyResult<Vec<_>>>()?;
            with.set_item("modifications", all)?;
            "modify"
        }
        Change::ModifyDn { new_rdn, delete_old_rdn, new_superior } => {
            with.set_item("new_rdn", new_rdn)?;
            with.set_item("delete_old", delete_old_rdn)?;
            with.set_item("superior", new_superior)?;
            "rename"
        }
    };
    with.set_item("change", record.is_change.then_some(kind))?;
    with.set_item("controls", controls(py, &record.controls)?)?;
    RECORD.import(py, VALUES, "Record")?.call((&record.dn,), Some(&with))
}

/// A `Modification`.
pub(super) fn modification<'py>(
    py: Python<'py>,
    modification: &RecordModification,
) -> PyResult<Bound<'py, PyAny>> {
    let values = values(py, &modification.values)?;
    let class = MODIFICATION.import(py, VALUES, "Modification")?;
    class.call1((modification.kind.word(), &modification.attribute, values))
}
