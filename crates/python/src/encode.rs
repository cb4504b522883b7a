//! Python objects to a tape, led by the type: the way back from [`crate::objects`].

use crate::bits::BitString;
use crate::compiled::Compiled;
use crate::lazy::LazyDict;
use crate::objects::{Names, decimal_class, marked_class, real_class, unknown_class};
use crate::{error, octets, times};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::{
    PyAnyMethods, PyBool, PyBytes, PyDict, PyFloat, PyFrozenSet, PyInt, PyList, PySet, PyString, PyTuple,
};
use std::borrow::Cow;
use std::cell::Cell;
use tercet::CodecError;
use tercet::dynamic::contents::{fault_of, of_bit_names, of_bits, of_decimal_real, of_item, of_text};
use tercet::dynamic::source::{Alternative, Content, Driver, Found, InPath, Memory, Primitive, Source};
use tercet::dynamic::{Error, ErrorKind, FieldId, Leaf, Limits, NodeId, Shape, Sink, Tape, source};
use tercet::plan::Kind;
use tercet::plan::shape::{Place, Presence};
use tercet::runtime::ber::{Rules, Writer};
use tercet::runtime::types::{Base, Binary, Real};

/// Parts after which it is asked whether the user has interrupted.
const SIGNALS: usize = 1 << 14;

/// Puts a value of the compiled type onto a tape, which is cleared first.
pub(crate) fn put(
    py: Python<'_>,
    compiled: &Compiled,
    value: Bound<'_, PyAny>,
    limits: &Limits,
    tape: &mut Tape,
) -> PyResult<()> {
    let (names, shape) = (compiled.names(py), compiled.shape());
    let objects = Objects { py, names, shape, parts: Cell::new(0) };
    let name = shape.node(compiled.root).name.map(|name| shape.name(name)).unwrap_or_default();
    Driver::read(&objects, &mut Memory::new(shape), compiled.root, value, tape, limits.depth).map_err(
        |fault| match fault.inside(name) {
            Fault::Python(error) => error,
            Fault::Value(error) => error::encode(py, &CodecError::Octets(error.shortened())),
        },
    )?;
    tape.within(limits.depth);
    Ok(())
}

/// Why a value cannot be put onto the tape.
enum Fault {
    /// An exception of Python's.
    Python(PyErr),
    /// What is wrong with the value at the place that is at hand.
    Value(Error),
}

impl From<PyErr> for Fault {
    fn from(error: PyErr) -> Self {
        Self::Python(error)
    }
}

impl InPath for Fault {
    fn inside(self, name: &str) -> Self {
        match self {
            Self::Value(error) if !name.is_empty() => Self::Value(error.inside(name)),
            other => other,
        }
    }

    fn inside_element(self, index: usize) -> Self {
        match self {
            Self::Value(error) => Self::Value(error.inside_element(index)),
            other => other,
        }
    }
}

type Done<T> = Result<T, Fault>;

fn mismatch<T>(detail: impl Into<String>) -> Done<T> {
    Err(Fault::Value(Error::new(ErrorKind::ValueMismatch, 0).with_detail(detail)))
}

/// Python objects as a source of values.
struct Objects<'a, 'py> {
    py: Python<'py>,
    names: &'a Names,
    shape: &'a Shape,
    /// Values that were read.
    parts: Cell<usize>,
}

/// The elements of a `list` or `tuple`, and the index of the next one.
#[derive(Debug)]
struct Elements<'py>(Bound<'py, PyAny>, usize);

impl<'py> Source for Objects<'_, 'py> {
    type At = Bound<'py, PyAny>;
    type Elements = Elements<'py>;
    type Name = PyBackedStr;
    type Error = Fault;

    const IS_COMPLETE: bool = false;

    fn fault(&self, _: &Self::At, fault: source::Fault<'_>) -> Fault {
        Fault::Value(fault.to_error())
    }

    fn components(&self, at: &Self::At, found: &mut Found<'_, '_, Self>) -> Done<()> {
        self.check_signals()?;
        let kind = self.shape.node(found.node).kind;
        let whole = at.cast::<LazyDict>().map(|lazy| lazy.get().dict(self.py));
        let whole = whole.ok().transpose()?;
        let Ok(dict) = whole.as_ref().unwrap_or(at).cast::<PyDict>() else {
            return self.wrong(kind, "dict", at);
        };
        let mut seen = 0;
        for (index, (field, _)) in self.shape.fields_of(found.node).enumerate() {
            if let Some(value) = dict.get_item(self.names.field(field))? {
                seen += 1;
                if !value.is_none() || !is_absent(self.shape, field) {
                    found.set(index, value);
                }
            }
        }
        if dict.len() > seen { self.more(dict, seen, found) } else { Ok(()) }
    }

    fn elements(&self, at: &Self::At, _: FieldId, node: NodeId) -> Done<Elements<'py>> {
        if !at.is_instance_of::<PyList>() && !at.is_instance_of::<PyTuple>() {
            return self.wrong(self.shape.node(node).kind, "list", at);
        }
        Ok(Elements(at.clone(), 0))
    }

    fn next_element(&self, elements: &mut Elements<'py>) -> Done<Option<Self::At>> {
        let Elements(list, at) = elements;
        if *at >= list.len()? {
            return Ok(None);
        }
        *at += 1;
        Ok(Some(list.get_item(*at - 1)?))
    }

    fn alternative(&self, at: &Self::At, _: FieldId, node: NodeId) -> Done<Alternative<Self>> {
        let Some((name, value)) = pair(at) else {
            return self.wrong(self.shape.node(node).kind, "tuple of name and value", at);
        };
        if name.as_any().eq(&self.names.more)? {
            self.check_unknown(&value)?;
            return Ok(Alternative::Unknown(value));
        }
        Ok(Alternative::Named(name.try_into()?, at.clone(), value))
    }

    fn content(&self, at: &Self::At, open: NodeId, selected: Option<NodeId>) -> Done<Content<Self>> {
        let Some((name, value)) = pair(at) else { return Ok(Content::Encoding(at.clone())) };
        let name = name.to_cow()?;
        match self.shape.content_named(open, &name, selected) {
            Some(inner) => Ok(Content::Value(inner, value, None)),
            None => Err(self.fault(at, source::Fault::NoType(&name))),
        }
    }

    fn contained(&self, at: &Self::At, _: NodeId, inner: NodeId) -> Done<Content<Self>> {
        Ok(match pair(at) {
            Some((_, value)) => Content::Value(inner, value, None),
            None => Content::Encoding(at.clone()),
        })
    }

    fn leaf<'v>(&'v self, at: &'v Self::At, _: FieldId, node: NodeId) -> Done<Primitive<'v>> {
        self.check_signals()?;
        self.primitive(node, at)
    }

    fn unknown(&self, at: &Self::At, tape: &mut Tape) -> Done<()> {
        if at.is_instance(unknown_class(self.py)?)? {
            let addition: Option<u32> = at.getattr("addition")?.extract()?;
            let encoding = at.getattr("encoding")?;
            tape.unknown(addition.unwrap_or(u32::MAX), Leaf::Made(&octets::of(&encoding)?));
            return Ok(());
        }
        for value in at.try_iter()? {
            let value = value?;
            self.check_unknown(&value)?;
            self.unknown(&value, tape)?;
        }
        Ok(())
    }
}

impl<'py> Objects<'_, 'py> {
    fn check_signals(&self) -> Done<()> {
        let parts = self.parts.get() + 1;
        self.parts.set(parts);
        if parts.is_multiple_of(SIGNALS) {
            self.py.check_signals()?;
        }
        Ok(())
    }

    /// What a `dict` has beside the components.
    #[cold]
    fn more(&self, dict: &Bound<'py, PyDict>, mut seen: usize, found: &mut Found<'_, '_, Self>) -> Done<()> {
        if let Some(list) = dict.get_item(&self.names.more)? {
            seen += 1;
            found.set_additions(list);
        }
        if dict.len() == seen {
            return Ok(());
        }
        for key in dict.keys() {
            let is_it = |(field, _): (FieldId, _)| key.eq(self.names.field(field)).unwrap_or(false);
            if !self.shape.fields_of(found.node).any(is_it) && !key.eq(&self.names.more)? {
                return match key.cast::<PyString>() {
                    Ok(name) => Err(self.fault(&key, source::Fault::NoComponent(&name.to_string_lossy()))),
                    Err(_) => mismatch(format!("no component of type {}", type_of(&key))),
                };
            }
        }
        Ok(())
    }

    fn check_unknown(&self, value: &Bound<'py, PyAny>) -> Done<()> {
        if value.is_instance(unknown_class(self.py)?)? {
            return Ok(());
        }
        mismatch(format!("tercet.Unknown expected, not {}", type_of(value)))
    }

    fn primitive<'v>(&self, node: NodeId, value: &'v Bound<'py, PyAny>) -> Done<Primitive<'v>> {
        let kind = self.shape.node(node).kind;
        Ok(match kind {
            Kind::Boolean => {
                let Ok(value) = value.cast::<PyBool>() else { return self.wrong(kind, "bool", value) };
                Primitive::Int(i64::from(value.is_true()))
            }
            Kind::Integer | Kind::Enumerated => {
                if let Some(number) = number(value) {
                    return Ok(Primitive::Int(number));
                }
                match value.cast::<PyString>() {
                    Ok(name) => {
                        let name = characters(name)?;
                        let item = of_item(self.shape, node, &name);
                        let Some(item) = item else { return mismatch(format!("no item `{}`", cut(&name))) };
                        item.into()
                    }
                    Err(_) if is_integer(value) => big(value)?.into(),
                    Err(_) if kind == Kind::Enumerated && value.is_instance(unknown_class(self.py)?)? => {
                        let addition: Option<u32> = value.getattr("addition")?.extract()?;
                        let Some(addition) = addition else { return mismatch("an item without number") };
                        Primitive::Addition(addition)
                    }
                    Err(_) if kind == Kind::Integer => return self.wrong(kind, "int", value),
                    Err(_) => return self.wrong(kind, "str", value),
                }
            }
            Kind::Real => real(self.py, value)?.into(),
            Kind::OctetString | Kind::Open => octets_of(kind, value)?.into(),
            Kind::BitString => self.bits(node, value)?.into(),
            Kind::Null => {
                if !value.is_none() {
                    return self.wrong(kind, "None", value);
                }
                Cow::Borrowed(&[][..]).into()
            }
            _ => {
                if let Some(octets) = octets_that_came(kind, value)? {
                    return Ok(match fault_of(kind, &octets) {
                        None => octets.into(),
                        // Only BER writes them: it is the encoder that knows.
                        Some(fault) => Primitive::Marked(octets.into(), fault),
                    });
                }
                let text = match (value.cast::<PyString>(), kind) {
                    (Ok(string), _) => characters(string)?,
                    (Err(_), Kind::ObjectIdentifier | Kind::RelativeOid) => self.arcs(kind, value)?.into(),
                    _ => match times::Form::of(kind) {
                        Some(form) => times::text(form, value)?.or_else(mismatch)?.into(),
                        None => return self.wrong(kind, "str", value),
                    },
                };
                let made = match text {
                    Cow::Borrowed(text) => of_text(kind, text),
                    Cow::Owned(text) => {
                        of_text(kind, &text).map(|made| made.map(|it| it.into_owned().into()))
                    }
                };
                match made {
                    Some(made) => made.or_else(mismatch)?.into(),
                    None => return self.wrong(kind, "something else", value),
                }
            }
        })
    }

    /// The text of an object identifier that is a tuple or list of numbers.
    fn arcs(&self, kind: Kind, value: &Bound<'_, PyAny>) -> Done<String> {
        if !value.is_instance_of::<PyTuple>() && !value.is_instance_of::<PyList>() {
            return self.wrong(kind, "str or tuple of int", value);
        }
        let mut text = String::new();
        for arc in value.try_iter()? {
            let arc = arc?;
            if !is_integer(&arc) || arc.lt(0)? {
                return self.wrong(kind, "tuple of int", &arc);
            }
            let dot = if text.is_empty() { "" } else { "." };
            match number(&arc) {
                Some(arc) => text += &format!("{dot}{arc}"),
                None => text += &format!("{dot}{}", arc.call_method0("__index__")?.str()?.to_cow()?),
            }
        }
        Ok(text)
    }

    /// A [`BitString`], octets with the number of bits, or the names of bits that are one.
    fn bits(&self, node: NodeId, value: &Bound<'py, PyAny>) -> Done<Vec<u8>> {
        if let Ok(bits) = value.cast::<BitString>() {
            let bits = bits.get().bits();
            return of_bits(bits.octets(), bits.len() as u64).or_else(mismatch);
        }
        if let Ok((octets, length)) = value.extract::<(Bound<'py, PyAny>, u64)>()
            && value.is_instance_of::<PyTuple>()
        {
            return of_bits(&octets_of(Kind::BitString, &octets)?, length).or_else(mismatch);
        }
        let items = self.shape.items_of(node);
        let is_set = value.is_instance_of::<PySet>() || value.is_instance_of::<PyFrozenSet>();
        if items.is_empty() || !is_set {
            return self.wrong(Kind::BitString, "tercet.BitString", value);
        }
        let mut names = Vec::new();
        for name in value.try_iter()? {
            let name = name?;
            let Ok(text) = name.cast::<PyString>() else { return self.wrong(Kind::BitString, "str", &name) };
            names.push(characters(text)?.into_owned());
        }
        of_bit_names(self.shape, node, names.iter()).or_else(mismatch)
    }

    #[cold]
    fn wrong<T>(&self, kind: Kind, expected: &str, value: &Bound<'_, PyAny>) -> Done<T> {
        mismatch(format!("{expected} expected for {}, not {}", kind.name(), type_of(value)))
    }
}

/// Whether None means that a component is absent: it may be absent, and None is no value of its type.
fn is_absent(shape: &Shape, field: FieldId) -> bool {
    let it = shape.field(field);
    let may_be_absent = it.presence != Presence::Mandatory || it.place != Place::Root;
    may_be_absent && shape.node(it.node).kind != Kind::Null
}

/// A tuple of a name and something else.
fn pair<'py>(value: &Bound<'py, PyAny>) -> Option<(Bound<'py, PyString>, Bound<'py, PyAny>)> {
    let tuple = value.cast::<PyTuple>().ok().filter(|tuple| tuple.len() == 2)?;
    Some((tuple.get_item(0).ok()?.cast_into().ok()?, tuple.get_item(1).ok()?))
}

/// Whether it is an integer; what is true or false is none.
fn is_integer(value: &Bound<'_, PyAny>) -> bool {
    !value.is_instance_of::<PyBool>()
        && (value.is_instance_of::<PyInt>() || value.hasattr("__index__").unwrap_or(false))
}

/// The contents octets of a text or time: those of a `tercet.Marked`, or `bytes` as they are.
fn octets_that_came(kind: Kind, value: &Bound<'_, PyAny>) -> Done<Option<Vec<u8>>> {
    if matches!(kind, Kind::ObjectIdentifier | Kind::RelativeOid) {
        return Ok(None);
    }
    if let Ok(octets) = value.cast::<PyBytes>() {
        return Ok(Some(octets.as_bytes().to_vec()));
    }
    // A `str` that is nothing more is all that there is most of the time.
    if value.is_exact_instance_of::<PyString>() || !value.is_instance(marked_class(value.py())?)? {
        return Ok(None);
    }
    Ok(Some(value.getattr("octets")?.extract()?))
}

/// An integer that fits.
fn number(value: &Bound<'_, PyAny>) -> Option<i64> {
    if value.is_instance_of::<PyString>() || value.is_instance_of::<PyBool>() {
        None
    } else {
        value.extract().ok()
    }
}

/// Two's complement of an integer of any size, in the fewest octets.
fn big(value: &Bound<'_, PyAny>) -> Done<Vec<u8>> {
    let value = value.call_method0("__index__")?;
    let magnitude = if value.lt(0)? { value.bitnot()? } else { value.clone() };
    let bits: usize = magnitude.call_method0("bit_length")?.extract()?;
    let with = PyDict::new(value.py());
    with.set_item("signed", true)?;
    Ok(value.call_method("to_bytes", (bits / 8 + 1, "big"), Some(&with))?.extract()?)
}

fn real(py: Python<'_>, value: &Bound<'_, PyAny>) -> Done<Vec<u8>> {
    if let Ok(number) = value.cast::<PyFloat>() {
        let mut writer = Writer::new(Rules::Der);
        writer.push_f64(number.value());
        return Ok(writer.into_vec());
    }
    if is_integer(value) {
        return binary(value, 0);
    }
    if value.is_instance(decimal_class(py)?)? {
        if value.call_method0("is_finite")?.extract()? && value.is_truthy()? {
            return of_decimal_real(&value.str()?.to_cow()?).or_else(mismatch);
        }
        // Zero and the special values have no base (X.680 21.3).
        let mut writer = Writer::new(Rules::Der);
        writer.push_f64(value.extract()?);
        return Ok(writer.into_vec());
    }
    if value.is_instance(real_class(py)?)? {
        let (mantissa, exponent) = (value.getattr("mantissa")?, value.getattr("exponent")?.extract::<i64>()?);
        return match value.getattr("base")?.extract::<u8>()? {
            2 if exponent.unsigned_abs() <= 1 << 60 => binary(&mantissa, exponent),
            10 => of_decimal_real(&format!("{}e{exponent}", mantissa.str()?.to_cow()?)).or_else(mismatch),
            _ => mismatch("base 2 or 10, and an exponent within 2**60, expected"),
        };
    }
    mismatch(format!("float expected for REAL, not {}", type_of(value)))
}

/// A REAL of base 2, exactly.
fn binary(mantissa: &Bound<'_, PyAny>, exponent: i64) -> Done<Vec<u8>> {
    let mantissa = mantissa.call_method0("__index__")?;
    let octets = big(&mantissa.abs()?)?;
    let mut writer = Writer::new(Rules::Der);
    if octets.iter().any(|octet| *octet != 0) {
        let negative = mantissa.lt(0)?;
        let real = Binary { negative, base: Base::Two, scale: 0, exponent, mantissa: &octets };
        writer.push_real(&Real::Binary(real));
    }
    Ok(writer.into_vec())
}

fn octets_of<'a>(kind: Kind, value: &'a Bound<'_, PyAny>) -> Done<Cow<'a, [u8]>> {
    octets::of(value)
        .or_else(|_| mismatch(format!("bytes expected for {}, not {}", kind.name(), type_of(value))))
}

fn characters<'a>(string: &'a Bound<'_, PyString>) -> Done<Cow<'a, str>> {
    string.to_cow().or_else(|_| mismatch("text with a surrogate that has no partner"))
}

fn type_of(value: &Bound<'_, PyAny>) -> String {
    value.get_type().name().map_or_else(|_| "something else".into(), |name| name.to_string())
}

fn cut(text: &str) -> &str {
    text.char_indices().nth(60).map_or(text, |(at, _)| &text[..at])
}
