//! `tercet.ldap.Draft`, `Schema`, `SchemaDraft`, `Generators` and `Services`: entries that are changed before the server hears of it.

use super::{answers, arguments, error, session};
use crate::error::ours;
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyString};
use std::sync::{Arc, Mutex, PoisonError};
use tercet_ldap::entry::{self, Repair, Repaired, Violation, ready};
use tercet_ldap::{Error, ErrorKind};

/// A draft with a schema, or without.
enum Kind {
    Plain(tercet_ldap::Draft),
    Checked(entry::SchemaDraft),
}

/// An entry as it was read, and as it is to be: a mapping from attribute descriptions, compared without
/// case, to lists of values.
///
/// It is made of a name and attributes, or of an entry that a search has found. Changes are recorded:
/// `changes` has those that `modify` takes.
///
/// Raises KeyError for attributes that the entry does not have.
#[pyclass(mapping, subclass, module = "tercet.ldap")]
pub(crate) struct Draft(Kind);

impl Draft {
    pub(super) fn get_ref(&self) -> &tercet_ldap::Draft {
        match &self.0 {
            Kind::Plain(draft) => draft,
            Kind::Checked(draft) => draft,
        }
    }

    fn get_mut(&mut self) -> &mut tercet_ldap::Draft {
        match &mut self.0 {
            Kind::Plain(draft) => draft,
            Kind::Checked(draft) => draft,
        }
    }

    pub(super) fn of(draft: tercet_ldap::Draft) -> Self {
        Self(Kind::Plain(draft))
    }
}

fn changes(py: Python<'_>, all: &[tercet_ldap::ldif::RecordModification]) -> PyResult<Py<PyList>> {
    let all = all.iter().map(|one| answers::modification(py, one)).collect::<PyResult<Vec<_>>>()?;
    Ok(PyList::new(py, all)?.unbind())
}

#[pymethods]
impl Draft {
    #[new]
    #[pyo3(signature = (dn, attributes = None, /))]
    fn new(dn: &Bound<'_, PyAny>, attributes: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        let (dn, attributes) = match attributes {
            Some(attributes) => {
                (ours(dn.extract::<arguments::Name>())?.0, ours(arguments::attributes(attributes))?)
            }
            None if dn.is_instance_of::<PyString>() => (ours(dn.extract::<arguments::Name>())?.0, Vec::new()),
            None => ours(arguments::content(dn))?,
        };
        Ok(Self::of(tercet_ldap::Draft::new(dn, attributes)))
    }

    /// The name of the entry.
    #[getter]
    fn dn(&self) -> &str {
        self.get_ref().dn()
    }

    fn __getitem__<'py>(&self, py: Python<'py>, attribute: &str) -> PyResult<Bound<'py, PyList>> {
        if !self.get_ref().has(attribute) {
            return Err(PyKeyError::new_err(attribute.to_owned()));
        }
        PyList::new(py, self.get_ref().values(attribute).map(|value| PyBytes::new(py, value)))
    }

    fn __setitem__(&mut self, attribute: &str, values: &Bound<'_, PyAny>) -> PyResult<()> {
        self.get_mut().set(attribute, ours(arguments::values(values))?);
        Ok(())
    }

    fn __delitem__(&mut self, attribute: &str) -> PyResult<()> {
        if !self.get_ref().has(attribute) {
            return Err(PyKeyError::new_err(attribute.to_owned()));
        }
        self.get_mut().remove(attribute);
        Ok(())
    }

    fn __contains__(&self, attribute: &Bound<'_, PyAny>) -> PyResult<bool> {
        // As with any mapping, what can be no key is none.
        let Ok(attribute) = attribute.cast::<PyString>() else { return Ok(false) };
        Ok(self.get_ref().has(&attribute.to_cow()?))
    }

    fn __len__(&self) -> usize {
        self.get_ref().attributes().count()
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let names: Vec<&str> = self.get_ref().attributes().map(|(name, _)| name).collect();
        Ok(PyList::new(py, names)?.try_iter()?.into_any())
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.extract::<PyRef<'_, Self>>().is_ok_and(|other| self.get_ref() == other.get_ref())
    }

    fn __repr__(&self) -> String {
        format!("Draft({:?}, {} attributes)", self.get_ref().dn(), self.get_ref().attributes().count())
    }

    /// Adds a value, if it is not there.
    fn add(&mut self, attribute: &str, value: &Bound<'_, PyAny>) -> PyResult<()> {
        self.get_mut().add(attribute, ours(arguments::value(value))?);
        Ok(())
    }

    /// Removes a value, if it is there.
    fn remove(&mut self, attribute: &str, value: &Bound<'_, PyAny>) -> PyResult<()> {
        self.get_mut().remove_value(attribute, ours(arguments::value(value))?);
        Ok(())
    }

    /// Reports whether an attribute has a value, compared by the rule of the attribute.
    fn has_value(&self, attribute: &str, value: &Bound<'_, PyAny>) -> PyResult<bool> {
        Ok(self.get_ref().has_value(attribute, ours(arguments::value(value))?))
    }

    /// Goes back to the entry as it was read.
    fn undo(&mut self) {
        self.get_mut().undo();
    }

    /// The modifications from the entry as it was read to the entry as it is to be, as `modify` takes them.
    fn changes(&self, py: Python<'_>) -> PyResult<Py<PyList>> {
        changes(py, &self.get_ref().modifications())
    }

    /// The modifications from this entry, as it is to be, to another.
    fn diff(&self, py: Python<'_>, to: PyRef<'_, Self>) -> PyResult<Py<PyList>> {
        changes(py, &self.get_ref().diff(to.get_ref()))
    }

    /// Makes modifications as a server does: in their order, all or none. With a schema, the rules of the
    /// schema are kept too.
    ///
    /// Raises ResultError with the code of the server and the number of the modification.
    fn apply(&mut self, py: Python<'_>, modifications: &Bound<'_, PyAny>) -> PyResult<()> {
        let modifications = ours(arguments::modifications(modifications))?;
        let done = match &mut self.0 {
            Kind::Plain(draft) => draft.apply(&modifications),
            Kind::Checked(draft) => draft.apply(&modifications),
        };
        done.map_err(|fault| error::raise(py, &fault))
    }
}

/// A schema: the attribute types and object classes of a server.
#[pyclass(frozen, module = "tercet.ldap")]
pub(crate) struct Schema(Arc<tercet_ldap::schema::Schema>);

#[pymethods]
impl Schema {
    /// Reads a schema from LDIF: subschema entries, or the schema partition of Active Directory.
    ///
    /// Raises ParseError.
    #[staticmethod]
    fn read(py: Python<'_>, text: &str) -> PyResult<Self> {
        let schema = tercet_ldap::schema::Schema::read(text.as_bytes());
        schema.map(|schema| Self(Arc::new(schema))).map_err(|fault| error::raise(py, &fault))
    }

    /// Reads the schema of a server; with asyncio, the call is awaited.
    ///
    /// Raises ResultError, ParseError.
    #[staticmethod]
    fn of<'py>(py: Python<'py>, connection: PyRef<'py, session::Session>) -> PyResult<Bound<'py, PyAny>> {
        let (client, mode) = connection.parts();
        let found = async move { client.schema().await };
        mode.run(py, found, |py, schema| Ok(Bound::new(py, Self(Arc::new(schema)))?.into_any()))
    }

    /// The names of the attribute types.
    #[getter]
    fn attribute_types(&self) -> Vec<String> {
        self.0.attribute_types.iter().map(|one| one.name().to_owned()).collect()
    }

    /// The names of the object classes.
    #[getter]
    fn object_classes(&self) -> Vec<String> {
        self.0.object_classes.iter().map(|one| one.name().to_owned()).collect()
    }

    fn __repr__(&self) -> String {
        let (types, classes) = (self.0.attribute_types.len(), self.0.object_classes.len());
        format!("Schema({types} attribute types, {classes} object classes)")
    }
}

/// A draft that is checked and repaired by a schema. Values are compared by the rules of the schema. The
/// draft that is given stays as it is.
#[pyclass(extends = Draft, module = "tercet.ldap")]
pub(crate) struct SchemaDraft;

fn checked<'a>(this: &'a PyRef<'_, SchemaDraft>) -> PyResult<&'a entry::SchemaDraft> {
    match &this.as_super().0 {
        Kind::Checked(draft) => Ok(draft),
        Kind::Plain(_) => Err(crate::error::internal("a draft lost its schema")),
    }
}

fn named(list: Vec<entry::AttributeRef>) -> Vec<String> {
    list.into_iter().map(|attribute| attribute.name).collect()
}

fn mode(word: &str) -> PyResult<Repair> {
    match word {
        "optimistic" => Ok(Repair::Optimistic),
        "pessimistic" => Ok(Repair::Pessimistic),
        _ => Err(crate::error::argument("`optimistic` or `pessimistic` expected")),
    }
}

fn texts(all: &[Repaired]) -> Vec<String> {
    all.iter().map(ToString::to_string).collect()
}

#[pymethods]
impl SchemaDraft {
    #[new]
    fn new(draft: PyRef<'_, Draft>, schema: PyRef<'_, Schema>) -> PyClassInitializer<Self> {
        let draft = draft.get_ref().clone().with_schema(Arc::clone(&schema.0));
        PyClassInitializer::from(Draft(Kind::Checked(draft))).add_subclass(Self)
    }

    /// The attributes that the object classes require or allow, sorted.
    fn allowed(this: PyRef<'_, Self>) -> PyResult<Vec<String>> {
        Ok(named(checked(&this)?.allowed()))
    }

    /// The attributes that the object classes require and the entry lacks, sorted.
    fn missing(this: PyRef<'_, Self>) -> PyResult<Vec<String>> {
        Ok(named(checked(&this)?.missing()))
    }

    /// The attributes of the entry, sorted.
    fn present(this: PyRef<'_, Self>) -> PyResult<Vec<String>> {
        Ok(named(checked(&this)?.present()))
    }

    /// The attributes of the entry that its object classes do not allow, sorted.
    fn illegal(this: PyRef<'_, Self>) -> PyResult<Vec<String>> {
        Ok(named(checked(&this)?.illegal()))
    }

    /// Reports whether the object classes require or allow an attribute.
    fn is_allowed(this: PyRef<'_, Self>, attribute: &str) -> PyResult<bool> {
        Ok(checked(&this)?.is_allowed(attribute))
    }

    /// Reports whether the object classes require an attribute that the entry lacks.
    fn is_missing(this: PyRef<'_, Self>, attribute: &str) -> PyResult<bool> {
        Ok(checked(&this)?.is_missing(attribute))
    }

    /// The rules of the schema that the entry breaks, one text each; empty if there are none.
    fn check(this: PyRef<'_, Self>) -> PyResult<Vec<String>> {
        Ok(checked(&this)?.check().iter().map(Violation::to_string).collect())
    }

    /// Repairs the entry, and returns what was done and why. `optimistic` adds object classes that allow
    /// its attributes, `pessimistic` drops object classes without their superior, and attributes that are
    /// not allowed.
    fn repair(mut this: PyRefMut<'_, Self>, py: Python<'_>, mode: &str) -> PyResult<Vec<String>> {
        let mode = self::mode(mode)?;
        match &mut this.as_super().0 {
            Kind::Checked(draft) => {
                draft.repair(mode).map(|all| texts(&all)).map_err(|fault| error::raise(py, &fault))
            }
            Kind::Plain(_) => Err(crate::error::internal("a draft lost its schema")),
        }
    }

    /// Returns what `repair` would do, without doing it.
    fn plan(this: PyRef<'_, Self>, py: Python<'_>, mode: &str) -> PyResult<Vec<String>> {
        let planned = checked(&this)?.plan(self::mode(mode)?);
        planned.map(|all| texts(&all)).map_err(|fault| error::raise(py, &fault))
    }
}

/// What a generator in Python has raised, until it can be raised again.
type Raised = Arc<Mutex<Option<PyErr>>>;

/// Generators of attributes. Each requires attributes, which may be generated themselves; they run in an
/// order in which all that is required is there.
#[pyclass(module = "tercet.ldap")]
#[derive(Default)]
pub(crate) struct Generators {
    generators: entry::Generators,
    raised: Raised,
}

/// The exception of a generator, or that of an error.
fn raised(py: Python<'_>, raised: &Raised, fault: &Error) -> PyErr {
    let own = raised.lock().unwrap_or_else(PoisonError::into_inner).take();
    own.unwrap_or_else(|| error::raise(py, fault))
}

#[pymethods]
impl Generators {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    /// Adds the generator of an attribute: the attributes that it requires, and a function that returns the
    /// values for a draft.
    fn add(&mut self, attribute: &str, requires: Vec<String>, make: Py<PyAny>) {
        let requires: Vec<&str> = requires.iter().map(String::as_str).collect();
        let raised = Arc::clone(&self.raised);
        self.generators.add(attribute, &requires, move |draft| {
            Python::attach(|py| {
                let made = Bound::new(py, Draft::of(draft.clone()))
                    .and_then(|draft| make.bind(py).call1((draft,)))
                    .and_then(|made| arguments::values(&made));
                made.map_err(|fault| {
                    *raised.lock().unwrap_or_else(PoisonError::into_inner) = Some(fault);
                    Error::new(ErrorKind::Usage, "an exception")
                })
            })
        });
    }

    /// Adds a generator that makes the value of another attribute with a text before and after it, as a
    /// home directory.
    #[pyo3(signature = (attribute, source, before = "", after = ""))]
    fn add_from_attribute(&mut self, attribute: &str, source: &str, before: &str, after: &str) {
        self.generators.add(attribute, &[source], ready::from_attribute(source, before, after));
    }

    /// Adds a generator that makes a login name: the first letter of one attribute and another attribute,
    /// in letters of ASCII.
    #[pyo3(signature = (attribute = "uid", given = "givenName", family = "sn"))]
    fn add_login_name(&mut self, attribute: &str, given: &str, family: &str) {
        self.generators.add(attribute, &[given, family], ready::login_name(given, family));
    }

    /// Adds a generator that makes the `gecos` of another attribute: ASCII without colons and commas.
    #[pyo3(signature = (attribute = "gecos", source = "cn"))]
    fn add_gecos(&mut self, attribute: &str, source: &str) {
        self.generators.add(attribute, &[source], ready::gecos(source));
    }

    /// Adds a generator that makes `userPassword` of a password, by `argon2id` or `ssha512`.
    #[pyo3(signature = (password, scheme = "argon2id", attribute = "userPassword"))]
    fn add_password(&mut self, password: &str, scheme: &str, attribute: &str) -> PyResult<()> {
        match scheme {
            "argon2id" => self.generators.add(attribute, &[], ready::argon2id(password)),
            "ssha512" => self.generators.add(attribute, &[], ready::ssha512(password)),
            _ => return Err(crate::error::argument("`argon2id` or `ssha512` expected")),
        }
        Ok(())
    }

    /// Generates attributes that an entry lacks, and those that they require; attributes with values stay.
    /// Returns the names of what was generated, in this order.
    ///
    /// Raises UsageError for unknown attributes and for cycles; what a function raises.
    fn generate(
        &self,
        py: Python<'_>,
        mut draft: PyRefMut<'_, Draft>,
        attributes: Vec<String>,
    ) -> PyResult<Vec<String>> {
        let attributes: Vec<&str> = attributes.iter().map(String::as_str).collect();
        let done = self.generators.generate(draft.get_mut(), &attributes);
        done.map_err(|fault| raised(py, &self.raised, &fault))
    }
}

/// Sets of attributes that belong together, with the generators of their attributes.
#[pyclass(module = "tercet.ldap")]
pub(crate) struct Services {
    services: entry::Services,
    raised: Raised,
}

#[pymethods]
impl Services {
    #[new]
    #[pyo3(signature = (generators = None))]
    fn new(generators: Option<PyRef<'_, Generators>>) -> Self {
        match generators {
            Some(all) => Self {
                services: entry::Services::new(all.generators.clone()),
                raised: Arc::clone(&all.raised),
            },
            None => Self { services: entry::Services::default(), raised: Raised::default() },
        }
    }

    /// Adds a service: values that an entry with it has, attributes that are generated, services on which
    /// it depends.
    #[pyo3(signature = (name, values = None, *, generate = Vec::new(), depends = Vec::new()),
           text_signature = "($self, name, values=None, *, generate=[], depends=[])")]
    fn add(
        &mut self,
        name: &str,
        values: Option<&Bound<'_, PyAny>>,
        generate: Vec<String>,
        depends: Vec<String>,
    ) -> PyResult<()> {
        let mut service = entry::Service::new(name);
        if let Some(values) = values {
            for (attribute, values) in ours(arguments::attributes(values))? {
                service = values.iter().fold(service, |service, value| service.value(&attribute, value));
            }
        }
        service = generate.into_iter().fold(service, entry::Service::generate);
        self.services.add(depends.into_iter().fold(service, entry::Service::depends));
        Ok(())
    }

    /// Adds a service to an entry, and those on which it depends; twice is once. Returns the names of the
    /// services of which something was added.
    ///
    /// Raises UsageError for unknown services and for cycles.
    fn add_service(
        &self,
        py: Python<'_>,
        mut draft: PyRefMut<'_, Draft>,
        name: &str,
    ) -> PyResult<Vec<String>> {
        let done = self.services.add_service(draft.get_mut(), name);
        done.map_err(|fault| raised(py, &self.raised, &fault))
    }

    /// Removes a service from an entry, and before it those that depend on it; values that other services
    /// of the entry have stay. Returns the names of the services that were removed.
    ///
    /// Raises UsageError for unknown services and for cycles.
    fn remove_service(
        &self,
        py: Python<'_>,
        mut draft: PyRefMut<'_, Draft>,
        name: &str,
    ) -> PyResult<Vec<String>> {
        let done = self.services.remove_service(draft.get_mut(), name);
        done.map_err(|fault| raised(py, &self.raised, &fault))
    }

    /// Reports whether an entry has a service and those on which it depends.
    ///
    /// Raises UsageError for unknown services and for cycles.
    fn has_service(&self, py: Python<'_>, draft: PyRef<'_, Draft>, name: &str) -> PyResult<bool> {
        let done = self.services.has_service(draft.get_ref(), name);
        done.map_err(|fault| error::raise(py, &fault))
    }

    /// The names of the services that an entry has.
    ///
    /// Raises UsageError for cycles.
    fn services(&self, py: Python<'_>, draft: PyRef<'_, Draft>) -> PyResult<Vec<String>> {
        self.services.services(draft.get_ref()).map_err(|fault| error::raise(py, &fault))
    }
}
