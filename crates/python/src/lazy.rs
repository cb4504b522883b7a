//! `tercet.LazyDict`: a SEQUENCE or SET on a tape, whose components become Python objects when they are asked for.

use crate::objects::{Builder, Looks, Names};
use crate::octets::Held;
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyIterator, PyList, PyString, PyType};
use std::sync::Arc;
use tercet::dynamic::{FieldId, Shape, Tape, Token, View};

/// A decoded value, kept for those who look into it.
#[derive(Debug)]
pub(crate) struct Kept {
    names: Arc<Names>,
    shape: Arc<Shape>,
    tape: Tape,
    octets: Held,
    /// Where the value begins in the octets.
    begin: usize,
    looks: Looks,
}

impl Kept {
    pub(crate) fn new(
        (names, shape): (&Arc<Names>, &Arc<Shape>),
        tape: Tape,
        (octets, begin): (Held, usize),
        looks: Looks,
    ) -> Arc<Self> {
        Arc::new(Self { names: Arc::clone(names), shape: Arc::clone(shape), tape, octets, begin, looks })
    }

    fn view(&self) -> View<'_> {
        self.tape.view(self.octets.get(self.begin..).unwrap_or_default())
    }

    fn builder<'a, 'py>(&'a self, py: Python<'py>) -> Builder<'a, 'py> {
        Builder { py, names: &self.names, shape: &self.shape, looks: self.looks, lazy: None }
    }

    /// The value as a whole.
    pub(crate) fn value<'py>(self: &Arc<Self>, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.part(py, 0)
    }

    /// A part of the value.
    fn part<'py>(self: &Arc<Self>, py: Python<'py>, index: usize) -> PyResult<Bound<'py, PyAny>> {
        Builder { lazy: Some(self), ..self.builder(py) }.build(self.view(), index)
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        self.names.reused.give(std::mem::take(&mut self.tape));
    }
}

/// The components of a SEQUENCE or SET by their names: a mapping that makes the value of a component each time it is
/// asked for.
///
/// `dict(it)` makes those of one level, `to_dict()` those inside of them too.
#[pyclass(frozen, mapping, module = "tercet")]
pub(crate) struct LazyDict {
    kept: Arc<Kept>,
    /// The entry of the tape that begins the value.
    open: usize,
}

/// A part of a value, with its name.
enum Part {
    Component(FieldId),
    /// An extension addition that the schema does not know.
    Unknown,
}

impl LazyDict {
    pub(crate) const fn new(kept: Arc<Kept>, open: usize) -> Self {
        Self { kept, open }
    }

    /// The parts of this level, and where they are on the tape.
    fn parts(&self) -> impl Iterator<Item = (Part, usize)> + '_ {
        let view = self.kept.view();
        let mut next = self.open + 1;
        std::iter::from_fn(move || {
            let index = next;
            next = view.skip(index);
            match view.token(index) {
                Token::Open { field, .. } | Token::Leaf { field, .. } | Token::Default { field, .. } => {
                    Some((Part::Component(field), index))
                }
                Token::Unknown { .. } => Some((Part::Unknown, index)),
                Token::Close { .. } => None,
            }
        })
    }

    /// The part of a name: the first of several.
    fn find(&self, key: &Bound<'_, PyAny>) -> PyResult<Option<(Part, usize)>> {
        let Ok(key) = key.cast::<PyString>() else { return Ok(None) };
        // Names in a program are the very objects of ours nearly always, as both are interned.
        if let Some(found) = self.parts().find(|(part, _)| key.is(self.name(part))) {
            return Ok(Some(found));
        }
        for found in self.parts() {
            if key.as_any().eq(self.name(&found.0))? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    fn value<'py>(&self, py: Python<'py>, (part, index): (Part, usize)) -> PyResult<Bound<'py, PyAny>> {
        if let Part::Component(_) = part {
            return self.kept.part(py, index);
        }
        let list = PyList::empty(py);
        for (part, index) in self.parts() {
            if matches!(part, Part::Unknown) {
                list.append(self.kept.builder(py).build(self.kept.view(), index)?)?;
            }
        }
        Ok(list.into_any())
    }

    /// The parts that are components, and the first of the unknown additions, which are one list.
    fn named(&self) -> impl Iterator<Item = (Part, usize)> + '_ {
        let mut has_more = false;
        self.parts().filter(move |(part, _)| match part {
            Part::Component(_) => true,
            Part::Unknown => !std::mem::replace(&mut has_more, true),
        })
    }

    fn name(&self, part: &Part) -> &Py<PyString> {
        match part {
            Part::Component(field) => self.kept.names.field(*field),
            Part::Unknown => &self.kept.names.more,
        }
    }

    /// The value with all that is inside of it.
    pub(crate) fn dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.kept.builder(py).build(self.kept.view(), self.open)
    }
}

#[pymethods]
impl LazyDict {
    fn __getitem__<'py>(&self, key: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        match self.find(key)? {
            Some(found) => self.value(key.py(), found),
            None => Err(PyKeyError::new_err(key.clone().unbind())),
        }
    }

    fn __contains__(&self, key: &Bound<'_, PyAny>) -> PyResult<bool> {
        Ok(self.find(key)?.is_some())
    }

    fn __len__(&self) -> usize {
        self.named().count()
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyIterator>> {
        self.keys(py)?.try_iter()
    }

    /// The value of a component, or the default if it is absent.
    #[pyo3(signature = (key, default = None), text_signature = "($self, key, default=None)")]
    fn get<'py>(
        &self,
        key: &Bound<'py, PyAny>,
        default: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        match self.find(key)? {
            Some(found) => self.value(key.py(), found).map(Some),
            None => Ok(default),
        }
    }

    /// The names of the components that are there.
    fn keys<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let list = PyList::empty(py);
        for (part, _) in self.named() {
            list.append(self.name(&part))?;
        }
        Ok(list)
    }

    /// The values of the components.
    fn values<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let list = PyList::empty(py);
        for found in self.named() {
            list.append(self.value(py, found)?)?;
        }
        Ok(list)
    }

    /// The components as pairs of name and value.
    fn items<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let list = PyList::empty(py);
        for (part, index) in self.named() {
            let name = self.name(&part).clone_ref(py);
            list.append((name, self.value(py, (part, index))?))?;
        }
        Ok(list)
    }

    /// Makes the `dict` that decoding without `lazy` makes.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.dict(py)
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> PyResult<bool> {
        let py = other.py();
        static MAPPING: PyOnceLock<Py<PyType>> = PyOnceLock::new();
        let dict = self.dict(py)?;
        if let Ok(other) = other.cast::<Self>() {
            return dict.eq(other.get().dict(py)?);
        }
        if other.is_instance_of::<PyDict>() {
            return dict.eq(other);
        }
        if !other.is_instance(MAPPING.import(py, "collections.abc", "Mapping")?)? {
            return Ok(false);
        }
        dict.eq(py.get_type::<PyDict>().call1((other,))?)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("<tercet.LazyDict {}>", self.dict(py)?.repr()?.to_cow()?))
    }

    /// Another process gets the whole `dict`.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyType>, (Bound<'py, PyAny>,))> {
        Ok((py.get_type::<PyDict>(), (self.dict(py)?,)))
    }
}
