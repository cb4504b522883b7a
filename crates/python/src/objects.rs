//! A tape as Python objects: the mapping that `docs/guide-python.md` tells.

use crate::bits::{BitNames, BitString};
use crate::lazy::{Kept, LazyDict};
use crate::reused::Reused;
use crate::times;
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyBytes, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple, PyType};
use std::collections::HashMap;
use std::sync::Arc;
use tercet::dynamic::leaf::{Scalar, item_index, scalar, small};
use tercet::dynamic::{ErrorKind, FieldId, Leaf, NodeId, Shape, Tape, Token, View, say_constant, text};
use tercet::plan::Kind;
use tercet::records::Interpretation;
use tercet::runtime::types::{Decimal, Real};

static MARKED: PyOnceLock<Py<PyType>> = PyOnceLock::new();
static UNKNOWN: PyOnceLock<Py<PyType>> = PyOnceLock::new();
static REAL: PyOnceLock<Py<PyType>> = PyOnceLock::new();
static DECIMAL: PyOnceLock<Py<PyType>> = PyOnceLock::new();

/// Parts after which it is asked whether the user has interrupted.
const SIGNALS: usize = 1 << 16;

/// What values look like in Python, where there is a choice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Looks {
    /// Times are objects of `datetime`, if there is one for the very time.
    pub(crate) datetime: bool,
    /// Object identifiers are tuples of numbers.
    pub(crate) tuples: bool,
    /// Texts and times that break the rules of their type are the octets that came.
    pub(crate) marked_octets: bool,
    /// A SEQUENCE or SET is a mapping that makes the values of its components when they are asked for.
    pub(crate) lazy: bool,
}

/// `tercet.Marked`.
pub(crate) fn marked_class(py: Python<'_>) -> PyResult<&Bound<'_, PyType>> {
    MARKED.import(py, "tercet._values", "Marked")
}

/// `tercet.Unknown`.
pub(crate) fn unknown_class(py: Python<'_>) -> PyResult<&Bound<'_, PyType>> {
    UNKNOWN.import(py, "tercet._values", "Unknown")
}

/// `tercet.Real`.
pub(crate) fn real_class(py: Python<'_>) -> PyResult<&Bound<'_, PyType>> {
    REAL.import(py, "tercet._values", "Real")
}

/// `decimal.Decimal`.
pub(crate) fn decimal_class(py: Python<'_>) -> PyResult<&Bound<'_, PyType>> {
    DECIMAL.import(py, "decimal", "Decimal")
}

/// The names of a shape as Python strings, each made once.
#[derive(Debug)]
pub(crate) struct Names {
    forms: Vec<Form>,
    /// By field.
    fields: Vec<Py<PyString>>,
    /// By item.
    items: Vec<Py<PyString>>,
    bits: HashMap<NodeId, BitNames>,
    /// Of what is inside of open types, by table and type.
    contents: HashMap<(u32, NodeId), Py<PyString>>,
    pub(crate) reused: Reused,
    /// `...`: where extension additions are that the schema does not know.
    pub(crate) more: Py<PyString>,
}

/// What a node looks like, decided once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Octets,
    Integer,
    Enumerated,
    Ascii,
    Time(times::Form),
    Bits,
    Dict,
    List,
    Choice,
    Other,
}

impl Names {
    pub(crate) fn new(py: Python<'_>, shape: &Shape) -> Self {
        let all: Vec<Py<PyString>> =
            shape.names().map(|(_, name)| PyString::intern(py, name).unbind()).collect();
        let name = |id: tercet::plan::NameId| match all.get(id.0 as usize) {
            Some(name) => name.clone_ref(py),
            None => PyString::intern(py, "").unbind(),
        };
        let mut bits = HashMap::new();
        for index in 0..shape.nodes.len() as u32 {
            let node = NodeId(index);
            let items = shape.items_of(node);
            if shape.node(node).kind == Kind::BitString && !items.is_empty() {
                let named =
                    items.iter().filter_map(|it| Some((usize::try_from(it.value).ok()?, name(it.name))));
                bits.insert(node, named.collect::<Arc<[_]>>());
            }
        }
        let mut contents = HashMap::new();
        for (index, node) in (0..).zip(&shape.nodes) {
            let Some(table) = &node.table else { continue };
            let rows = shape.tables.get(table.table as usize).map_or(&[][..], |table| &table.rows);
            for row in rows {
                contents.entry((table.table, row.node)).or_insert_with(|| {
                    PyString::intern(py, shape.content_name(NodeId(index), row.node)).unbind()
                });
            }
        }
        Self {
            forms: shape.nodes.iter().map(|node| form(node.kind)).collect(),
            fields: shape.fields.iter().map(|field| name(field.name)).collect(),
            items: shape.items.iter().map(|item| name(item.name)).collect(),
            bits,
            contents,
            reused: Reused::default(),
            more: PyString::intern(py, "...").unbind(),
        }
    }

    /// Those of a shape that is shown by a rendering: what it shows as times is text for its shape.
    pub(crate) fn shown(py: Python<'_>, shape: &Shape, rendering: Option<&Interpretation>) -> Self {
        let mut names = Self::new(py, shape);
        if let Some(leaves) = rendering.map(Interpretation::leaves) {
            let times = [
                (leaves.timestamp, times::Form::DateTime),
                (leaves.date, times::Form::Date),
                (leaves.time, times::Form::TimeOfDay),
            ];
            for (node, form) in times {
                if let Some(known) = names.forms.get_mut(node.index()) {
                    *known = Form::Time(form);
                }
            }
        }
        names
    }

    /// The name of what is inside of an open type or of a string with CONTAINING.
    fn content<'py>(
        &self,
        py: Python<'py>,
        shape: &Shape,
        around: NodeId,
        inside: NodeId,
    ) -> Bound<'py, PyString> {
        let table = shape.node(around).table.as_ref();
        match table.and_then(|table| self.contents.get(&(table.table, inside))) {
            Some(name) => name.bind(py).clone(),
            None => PyString::intern(py, shape.content_name(around, inside)),
        }
    }

    /// The name of a component or alternative.
    pub(crate) fn field(&self, field: FieldId) -> &Py<PyString> {
        self.fields.get(field.index()).unwrap_or(&self.more)
    }
}

fn form(kind: Kind) -> Form {
    match kind {
        Kind::OctetString | Kind::Open => Form::Octets,
        Kind::Integer => Form::Integer,
        Kind::Enumerated => Form::Enumerated,
        Kind::BitString => Form::Bits,
        Kind::Sequence | Kind::Set => Form::Dict,
        Kind::SequenceOf | Kind::SetOf => Form::List,
        Kind::Choice => Form::Choice,
        Kind::Utf8String
        | Kind::NumericString
        | Kind::PrintableString
        | Kind::Ia5String
        | Kind::VisibleString => Form::Ascii,
        _ => times::Form::of(kind).map_or(Form::Other, Form::Time),
    }
}

/// A value with parts that has begun.
struct Frame<'py> {
    field: FieldId,
    parts: Parts<'py>,
}

enum Parts<'py> {
    Dict(Bound<'py, PyDict>),
    List(Bound<'py, PyList>),
    Choice(Option<Bound<'py, PyTuple>>),
    /// What is inside of an open type or of a string with CONTAINING.
    Content(NodeId, Option<Bound<'py, PyTuple>>),
}

/// The value on a tape.
pub(crate) fn build<'py>(
    py: Python<'py>,
    names: &Names,
    shape: &Shape,
    view: View<'_>,
    looks: Looks,
) -> PyResult<Bound<'py, PyAny>> {
    Builder { py, names, shape, looks, lazy: None }.build(view, 0)
}

pub(crate) struct Builder<'a, 'py> {
    pub(crate) py: Python<'py>,
    pub(crate) names: &'a Names,
    pub(crate) shape: &'a Shape,
    pub(crate) looks: Looks,
    /// What is kept of the value, if its components are made when they are asked for.
    pub(crate) lazy: Option<&'a Arc<Kept>>,
}

impl<'py> Builder<'_, 'py> {
    /// The value that an entry of a tape begins.
    pub(crate) fn build(&self, view: View<'_>, from: usize) -> PyResult<Bound<'py, PyAny>> {
        let py = self.py;
        let mut open: Vec<Frame<'py>> = Vec::with_capacity(if self.lazy.is_some() { 0 } else { 8 });
        let mut next = from;
        while next < view.len() {
            let index = next;
            next += 1;
            if index % SIGNALS == SIGNALS - 1 {
                py.check_signals()?;
            }
            let (field, node, value) = match view.token(index) {
                Token::Open { field, node, close } => {
                    let kept = self.lazy.filter(|_| self.names.forms.get(node.index()) == Some(&Form::Dict));
                    let Some(kept) = kept else {
                        open.push(Frame { field, parts: self.open(node) });
                        continue;
                    };
                    next = close + 1;
                    (field, node, LazyDict::new(Arc::clone(kept), index).into_bound_py_any(py)?)
                }
                Token::Leaf { field, node, leaf } => {
                    let value = match view.marked(index) {
                        Some(kind) => self.marked(node, leaf, kind)?,
                        None => self.leaf(node, leaf)?,
                    };
                    (field, node, value)
                }
                Token::Close { node, .. } => {
                    let Some(Frame { field, parts }) = open.pop() else { break };
                    let value = match parts {
                        Parts::Dict(dict) => dict.into_any(),
                        Parts::List(list) => list.into_any(),
                        Parts::Choice(pair) | Parts::Content(_, pair) => pair.into_bound_py_any(py)?,
                    };
                    (field, node, value)
                }
                Token::Default { field, node, constant } => {
                    let mut tape = Tape::new();
                    say_constant(self.shape, field, node, constant, &mut tape);
                    // A constant has no absent components of its own.
                    (field, node, Self { lazy: None, ..*self }.build(tape.view(&[]), 0)?)
                }
                Token::Unknown { addition, leaf } => {
                    let Some(frame) = open.last_mut() else { return self.unknown(addition, leaf) };
                    self.add_unknown(&mut frame.parts, addition, leaf)?;
                    continue;
                }
            };
            match open.last_mut().map(|frame| &mut frame.parts) {
                None => return Ok(value),
                Some(Parts::Dict(dict)) => dict.set_item(self.names.field(field), value)?,
                Some(Parts::List(list)) => list.append(value)?,
                Some(Parts::Choice(pair)) => {
                    *pair = Some((self.names.field(field), value).into_pyobject(py)?);
                }
                Some(Parts::Content(around, pair)) => {
                    let name = self.names.content(py, self.shape, *around, node);
                    *pair = Some((name, value).into_pyobject(py)?);
                }
            }
        }
        Ok(py.None().into_bound(py))
    }

    fn open(&self, node: NodeId) -> Parts<'py> {
        match self.names.forms.get(node.index()) {
            Some(Form::Dict) => Parts::Dict(PyDict::new(self.py)),
            Some(Form::List) => Parts::List(PyList::empty(self.py)),
            Some(Form::Choice) => Parts::Choice(None),
            _ => Parts::Content(node, None),
        }
    }

    #[cold]
    fn unknown(&self, addition: u32, leaf: Leaf<'_>) -> PyResult<Bound<'py, PyAny>> {
        let contents = leaf.contents().unwrap_or_default();
        unknown(self.py, contents, (addition != u32::MAX).then_some(addition))
    }

    #[cold]
    fn add_unknown(&self, parts: &mut Parts<'py>, addition: u32, leaf: Leaf<'_>) -> PyResult<()> {
        let value = self.unknown(addition, leaf)?;
        let more = self.names.more.bind(self.py);
        match parts {
            Parts::Dict(dict) => match dict.get_item(more)? {
                Some(list) => list.cast::<PyList>()?.append(value)?,
                None => dict.set_item(more, PyList::new(self.py, [value])?)?,
            },
            Parts::Choice(pair) => *pair = Some((more, value).into_pyobject(self.py)?),
            Parts::List(_) | Parts::Content(..) => {}
        }
        Ok(())
    }

    /// A text or time that breaks the rules of its type.
    #[cold]
    fn marked(&self, node: NodeId, leaf: Leaf<'_>, kind: ErrorKind) -> PyResult<Bound<'py, PyAny>> {
        let py = self.py;
        let octets = PyBytes::new(py, leaf.contents().unwrap_or_default());
        match scalar(self.shape, node, leaf) {
            Scalar::Text(text) | Scalar::Time(text) if !self.looks.marked_octets => {
                marked_class(py)?.call1((&*text, octets, kind.name()))
            }
            _ => Ok(octets.into_any()),
        }
    }

    #[inline]
    fn leaf(&self, node: NodeId, leaf: Leaf<'_>) -> PyResult<Bound<'py, PyAny>> {
        let (py, form) = (self.py, self.names.forms.get(node.index()));
        if let Leaf::Input { contents, .. } | Leaf::Made(contents) = leaf {
            match form {
                Some(Form::Octets) => return Ok(PyBytes::new(py, contents).into_any()),
                Some(Form::Ascii) if contents.is_ascii() => {
                    return Ok(PyString::from_bytes(py, contents)?.into_any());
                }
                Some(Form::Time(form)) if contents.is_ascii() => {
                    // What is not exactly one of Python's times stays text.
                    if self.looks.datetime
                        && let Ok(text) = str::from_utf8(contents)
                        && let Some(time) = times::object(py, *form, text)?
                    {
                        return Ok(time);
                    }
                    if !matches!(form, times::Form::UtcTime | times::Form::GeneralizedTime) {
                        return self.scalar(node, scalar(self.shape, node, leaf));
                    }
                    return Ok(PyString::from_bytes(py, contents)?.into_any());
                }
                Some(Form::Integer) => {
                    if let Some(number) = small(contents) {
                        return Ok(number.into_pyobject(py)?.into_any());
                    }
                }
                Some(Form::Enumerated) => {
                    if let Some(name) = small(contents).and_then(|number| self.item(node, number)) {
                        return Ok(name);
                    }
                }
                _ => {}
            }
        }
        if let (Leaf::Int(number), Some(Form::Enumerated)) = (leaf, form)
            && let Some(name) = self.item(node, number)
        {
            return Ok(name);
        }
        self.scalar(node, scalar(self.shape, node, leaf))
    }

    /// The name of an item of an ENUMERATED.
    fn item(&self, node: NodeId, number: i64) -> Option<Bound<'py, PyAny>> {
        let item = item_index(self.shape, node, number)?;
        Some(self.names.items.get(item)?.bind(self.py).clone().into_any())
    }

    fn scalar(&self, node: NodeId, scalar: Scalar<'_>) -> PyResult<Bound<'py, PyAny>> {
        let py = self.py;
        Ok(match scalar {
            Scalar::Boolean(value) => PyBool::new(py, value).to_owned().into_any(),
            Scalar::Integer(number) | Scalar::Enumerated(number, None) => {
                number.into_pyobject(py)?.into_any()
            }
            Scalar::Enumerated(_, Some(name)) => PyString::intern(py, name).into_any(),
            Scalar::BigInteger(octets) => integer(py, octets, true)?,
            Scalar::Addition(number) => unknown(py, &[], Some(number))?,
            Scalar::Real(value) => real(py, &value)?,
            Scalar::BitString(bits) => {
                BitString::decoded(bits, self.names.bits.get(&node)).into_bound_py_any(py)?
            }
            Scalar::OctetString(octets) | Scalar::Open(octets) | Scalar::Raw(octets) => {
                PyBytes::new(py, octets).into_any()
            }
            Scalar::Null => py.None().into_bound(py),
            Scalar::ObjectIdentifier(oid) => self.arcs(&oid.to_string())?,
            Scalar::RelativeOid(oid) => self.arcs(&oid.to_string())?,
            Scalar::Time(text) => {
                let form = times::Form::of(self.shape.node(node).kind).filter(|_| self.looks.datetime);
                let time = form.map(|form| times::object(py, form, &text)).transpose()?.flatten();
                time.unwrap_or_else(|| PyString::new(py, &text).into_any())
            }
            Scalar::Text(text) => PyString::new(py, &text).into_any(),
        })
    }
}

impl<'py> Builder<'_, 'py> {
    /// An object identifier, as text or as the numbers of its arcs.
    fn arcs(&self, text: &str) -> PyResult<Bound<'py, PyAny>> {
        let py = self.py;
        if !self.looks.tuples {
            return Ok(PyString::new(py, text).into_any());
        }
        let int = py.get_type::<PyInt>();
        let arc = |arc: &str| match arc.parse::<u64>() {
            Ok(arc) => Ok(arc.into_pyobject(py)?.into_any()),
            // An arc may have any size.
            Err(_) => int.call1((arc,)),
        };
        Ok(PyTuple::new(py, text.split('.').map(arc).collect::<PyResult<Vec<_>>>()?)?.into_any())
    }
}

fn unknown<'py>(py: Python<'py>, encoding: &[u8], addition: Option<u32>) -> PyResult<Bound<'py, PyAny>> {
    unknown_class(py)?.call1((PyBytes::new(py, encoding), addition))
}

/// An integer of any size.
fn integer<'py>(py: Python<'py>, octets: &[u8], signed: bool) -> PyResult<Bound<'py, PyAny>> {
    let with = PyDict::new(py);
    with.set_item("signed", signed)?;
    py.get_type::<PyInt>().call_method("from_bytes", (PyBytes::new(py, octets), "big"), Some(&with))
}

/// A `float` where it is the very value, a `Decimal` for base 10, else the parts of the value.
fn real<'py>(py: Python<'py>, real: &Real<'_>) -> PyResult<Bound<'py, PyAny>> {
    match real {
        Real::Binary(binary) if !text::is_exact_f64(binary) => {
            let mantissa = integer(py, binary.mantissa, false)?;
            let mantissa = if binary.negative { mantissa.neg()? } else { mantissa };
            real_class(py)?.call1((mantissa, 2, binary.exponent2()))
        }
        Real::Decimal(decimal) => decimal_value(py, decimal),
        _ => Ok(PyFloat::new(py, real.to_f64()).into_any()),
    }
}

fn decimal_value<'py>(py: Python<'py>, decimal: &Decimal<'_>) -> PyResult<Bound<'py, PyAny>> {
    let plain = decimal.text.trim().replace(',', ".");
    if let Ok(value) = decimal_class(py)?.call1((&plain,)) {
        return Ok(value);
    }
    // An exponent beyond those of Python.
    let (negative, digits, exponent) = text::decimal_parts(&plain).unwrap_or_default();
    let mantissa = py.get_type::<PyInt>().call1((format!("{}{digits}", if negative { "-" } else { "" }),))?;
    real_class(py)?.call1((mantissa, 10, exponent))
}
