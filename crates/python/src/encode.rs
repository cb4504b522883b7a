//! Python objects to a tape, led by the type: the way back from [`crate::objects`].

use crate::bits::BitString;
use crate::compiled::Compiled;
use crate::objects::{Names, decimal_class, marked_class, real_class, unknown_class};
use crate::{error, octets, times};
use pyo3::prelude::*;
use pyo3::types::{
    PyAnyMethods, PyBool, PyBytes, PyDict, PyFloat, PyFrozenSet, PyInt, PyList, PySet, PyString, PyTuple,
};
use std::borrow::Cow;
use tercet::CodecError;
use tercet::dynamic::contents::{
    fault_of, key_of, of_bits, of_decimal_real, of_item, of_named_bits, of_text,
};
use tercet::dynamic::{Error, ErrorKind, FieldId, Leaf, Limits, Marked, NodeId, Shape, Sink, Tape, Token};
use tercet::plan::Kind;
use tercet::plan::shape::{Key, Place, Presence};
use tercet::runtime::ber::{Rules, Writer};
use tercet::runtime::types::{Base, Binary, Real};

/// Parts after which it is asked whether the user has interrupted.
const SIGNALS: usize = 1 << 14;
/// Named bits may be anywhere; behind so many there is no name in any specification.
const MAX_NAMED_BIT: u64 = 1 << 20;

/// Puts a value of the compiled type onto a tape, which is cleared first.
pub(crate) fn put(
    py: Python<'_>,
    compiled: &Compiled,
    value: Bound<'_, PyAny>,
    limits: &Limits,
    tape: &mut Tape,
) -> PyResult<()> {
    tape.clear();
    tape.within(limits.depth);
    let (names, shape, depth) = (compiled.names(py), compiled.shape(), usize::from(limits.depth.min(1000)));
    let mut put = Put { py, names, shape, tape, open: Vec::new(), depth };
    put.run(compiled.root, value).map_err(|fault| match fault {
        Fault::Python(error) => error,
        Fault::Value(kind, detail) => {
            let path = put.path(compiled.root);
            let error = Error::new(kind, 0).with_path(path).with_detail(detail);
            error::encode(py, &CodecError::Octets(error))
        }
    })
}

/// Why a value cannot be put onto the tape.
enum Fault {
    /// An exception of Python's.
    Python(PyErr),
    /// What is wrong with the value at the place that is at hand.
    Value(ErrorKind, String),
}

impl From<PyErr> for Fault {
    fn from(error: PyErr) -> Self {
        Self::Python(error)
    }
}

type Done<T> = Result<T, Fault>;

fn mismatch<T>(detail: impl Into<String>) -> Done<T> {
    Err(Fault::Value(ErrorKind::ValueMismatch, detail.into()))
}

struct Put<'a, 'py> {
    py: Python<'py>,
    names: &'a Names,
    shape: &'a Shape,
    tape: &'a mut Tape,
    open: Vec<Frame<'py>>,
    /// How many values may be inside one another.
    depth: usize,
}

/// A value with parts that has begun.
struct Frame<'py> {
    field: FieldId,
    node: NodeId,
    parts: Parts<'py>,
}

enum Parts<'py> {
    /// A `dict`, the number of the next component, and how many there were.
    Members(Bound<'py, PyDict>, u32, usize),
    /// A `list` or `tuple`, and the index of the next element.
    Elements(Bound<'py, PyAny>, usize),
    /// A CHOICE whose alternative has begun.
    Alternative(FieldId),
    /// An open type or a string with CONTAINING whose content has begun.
    Content,
}

/// A part that comes next.
type Part<'py> = (FieldId, NodeId, Bound<'py, PyAny>);

impl<'py> Put<'_, 'py> {
    fn run(&mut self, root: NodeId, value: Bound<'py, PyAny>) -> Done<()> {
        let mut next = Some((FieldId::ROOT, root, value));
        let mut parts = 0;
        loop {
            parts += 1;
            if parts % SIGNALS == 0 {
                self.py.check_signals()?;
            }
            if let Some((field, node, value)) = next {
                next = self.value(field, node, &value)?;
                if next.is_some() {
                    continue;
                }
            }
            next = self.part()?;
            if next.is_none() {
                let Some(Frame { field, node, .. }) = self.open.pop() else { return Ok(()) };
                self.tape.close(field, node);
                if self.open.is_empty() {
                    return Ok(());
                }
            }
        }
    }

    /// The next part of the innermost value that has begun; nothing behind the last.
    fn part(&mut self) -> Done<Option<Part<'py>>> {
        let Some(Frame { node, parts, .. }) = self.open.last_mut() else { return Ok(None) };
        let node = self.shape.node(*node);
        match parts {
            Parts::Members(dict, next, seen) => {
                while *next < node.count {
                    let field = FieldId(node.first + *next);
                    *next += 1;
                    if let Some(value) = dict.get_item(self.names.field(field))? {
                        *seen += 1;
                        if value.is_none() && is_absent(self.shape, field) {
                            continue;
                        }
                        return Ok(Some((field, self.shape.field(field).node, value)));
                    }
                }
                let (dict, seen) = (dict.clone(), *seen);
                if dict.len() > seen {
                    self.more(&dict, seen)?;
                }
                Ok(None)
            }
            Parts::Elements(list, next) => {
                let at = *next;
                if node.count == 0 || at >= list.len()? {
                    return Ok(None);
                }
                *next += 1;
                let field = FieldId(node.first);
                Ok(Some((field, self.shape.field(field).node, list.get_item(at)?)))
            }
            Parts::Alternative(_) | Parts::Content => Ok(None),
        }
    }

    /// What a `dict` has beside the components.
    #[cold]
    fn more(&mut self, dict: &Bound<'py, PyDict>, mut seen: usize) -> Done<()> {
        if let Some(Frame { parts: Parts::Members(_, next, _), .. }) = self.open.last_mut() {
            // A fault is one of the value itself, not of its last component.
            *next = 0;
        }
        if let Some(list) = dict.get_item(&self.names.more)? {
            seen += 1;
            for value in list.try_iter()? {
                self.unknown(&value?)?;
            }
        }
        if dict.len() == seen {
            return Ok(());
        }
        let known = &self.names;
        let Some(Frame { node, .. }) = self.open.last() else { return Ok(()) };
        let node = *node;
        for key in dict.keys() {
            let is_it = |(field, _): (FieldId, _)| key.eq(known.field(field)).unwrap_or(false);
            if !self.shape.fields_of(node).any(is_it) && !key.eq(&known.more)? {
                return mismatch(format!("no component {}", short(&key)));
            }
        }
        Ok(())
    }

    fn unknown(&mut self, value: &Bound<'py, PyAny>) -> Done<()> {
        if !value.is_instance(unknown_class(self.py)?)? {
            return mismatch(format!("tercet.Unknown expected, not {}", type_of(value)));
        }
        let addition: Option<u32> = value.getattr("addition")?.extract()?;
        let encoding = value.getattr("encoding")?;
        self.tape.unknown(addition.unwrap_or(u32::MAX), Leaf::Made(&octets::of(&encoding)?));
        Ok(())
    }

    /// Puts a leaf, or begins a value with parts; then the answer is its part if it has exactly one.
    fn value(&mut self, field: FieldId, node: NodeId, value: &Bound<'py, PyAny>) -> Done<Option<Part<'py>>> {
        let shape = self.shape;
        let it = shape.node(node);
        let kind = it.kind;
        match kind {
            Kind::Sequence | Kind::Set => {
                let Ok(dict) = value.cast::<PyDict>() else { return self.wrong(kind, "dict", value) };
                self.begin(field, node, Parts::Members(dict.clone(), 0, 0))?;
            }
            Kind::SequenceOf | Kind::SetOf => {
                if !value.is_instance_of::<PyList>() && !value.is_instance_of::<PyTuple>() {
                    return self.wrong(kind, "list", value);
                }
                self.begin(field, node, Parts::Elements(value.clone(), 0))?;
            }
            Kind::Choice => {
                let Some((name, value)) = pair(value) else {
                    return self.wrong(kind, "tuple of name and value", value);
                };
                if name.as_any().eq(&self.names.more)? {
                    self.begin(field, node, Parts::Content)?;
                    self.unknown(&value)?;
                    return Ok(None);
                }
                let text = name.to_cow()?;
                let found = shape.fields_of(node).find(|(_, it)| shape.name(it.name) == text);
                let Some((alternative, it)) = found else {
                    return mismatch(format!("no alternative `{}`", cut(&text)));
                };
                self.begin(field, node, Parts::Alternative(alternative))?;
                return Ok(Some((alternative, it.node, value)));
            }
            Kind::Open => {
                let Some((name, value)) = pair(value) else {
                    let octets = octets_of(kind, value)?;
                    self.tape.leaf(field, node, Leaf::Made(&octets));
                    return Ok(None);
                };
                let name = name.to_cow()?;
                let Some(inner) = shape.content_named(node, &name, self.selected(node)) else {
                    return mismatch(format!("no type `{}`", cut(&name)));
                };
                self.begin(field, node, Parts::Content)?;
                return Ok(Some((FieldId::ROOT, inner, value)));
            }
            Kind::OctetString | Kind::BitString if it.containing.is_some() => {
                if let (Some((_, value)), Some(inner)) = (pair(value), it.containing) {
                    self.begin(field, node, Parts::Content)?;
                    return Ok(Some((FieldId::ROOT, inner, value)));
                }
                self.leaf(field, node, kind, value)?;
            }
            _ => self.leaf(field, node, kind, value)?,
        }
        Ok(None)
    }

    /// The type inside an open type by the keys that stand in the values around.
    fn selected(&self, open: NodeId) -> Option<NodeId> {
        let table = self.shape.node(open).table.as_ref()?;
        if table.keys.is_empty() {
            let rows = &self.shape.tables.get(table.table as usize)?.rows;
            return rows.first().filter(|_| rows.len() == 1).map(|row| row.node);
        }
        let keys = table.keys.iter().map(|register| self.key(*register)).collect::<Option<Vec<_>>>()?;
        self.shape.row(table.table, &keys).map(|row| row.node)
    }

    /// The key of a register: the nearest component around that goes there.
    fn key(&self, register: u16) -> Option<Key> {
        self.open.iter().rev().find_map(|frame| {
            let Parts::Members(dict, ..) = &frame.parts else { return None };
            let (field, it) = self.shape.fields_of(frame.node).find(|(_, it)| it.key == Some(register))?;
            self.key_of(it.node, &dict.get_item(self.names.field(field)).ok()??)
        })
    }

    fn key_of(&self, node: NodeId, value: &Bound<'py, PyAny>) -> Option<Key> {
        let kind = self.shape.node(node).kind;
        if kind == Kind::Choice {
            let (name, value) = pair(value)?;
            let name = name.to_cow().ok()?;
            let (_, it) = self.shape.fields_of(node).find(|(_, it)| self.shape.name(it.name) == name)?;
            // Keys are alternatives of leaves: what is deeper is the key of no row.
            let key = Some(it.node).filter(|inner| self.shape.node(*inner).kind != Kind::Choice)?;
            return Some(Key::Alternative(it.name, Box::new(self.key_of(key, &value)?)));
        }
        let mut tape = Tape::new();
        let mut put = Put { tape: &mut tape, open: Vec::new(), ..*self };
        put.leaf(FieldId::ROOT, node, kind, value).ok()?;
        match tape.view(&[]).tokens().next()? {
            Token::Leaf { leaf: Leaf::Int(number), .. } => Some(Key::Int(number)),
            Token::Leaf { leaf, .. } => key_of(kind, leaf.contents()?),
            _ => None,
        }
    }

    fn begin(&mut self, field: FieldId, node: NodeId, parts: Parts<'py>) -> Done<()> {
        if self.open.len() >= self.depth {
            return Err(Fault::Value(ErrorKind::DepthLimit, String::new()));
        }
        self.tape.open(field, node);
        self.open.push(Frame { field, node, parts });
        Ok(())
    }

    fn leaf(&mut self, field: FieldId, node: NodeId, kind: Kind, value: &Bound<'py, PyAny>) -> Done<()> {
        let text;
        let contents: Cow<'_, [u8]> = match kind {
            Kind::Boolean => {
                let Ok(value) = value.cast::<PyBool>() else { return self.wrong(kind, "bool", value) };
                self.tape.leaf(field, node, Leaf::Int(i64::from(value.is_true())));
                return Ok(());
            }
            Kind::Integer | Kind::Enumerated => {
                if let Some(number) = number(value) {
                    self.tape.leaf(field, node, Leaf::Int(number));
                    return Ok(());
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
                        self.tape.leaf(field, node, Leaf::Addition(addition));
                        return Ok(());
                    }
                    Err(_) if kind == Kind::Integer => return self.wrong(kind, "int", value),
                    Err(_) => return self.wrong(kind, "str", value),
                }
            }
            Kind::Real => real(self.py, value)?.into(),
            Kind::OctetString | Kind::Open => octets_of(kind, value)?,
            Kind::BitString => self.bits(node, value)?.into(),
            Kind::Null => {
                if !value.is_none() {
                    return self.wrong(kind, "None", value);
                }
                Cow::Borrowed(&[])
            }
            _ => {
                if let Some(octets) = octets_that_came(kind, value)? {
                    match fault_of(kind, &octets) {
                        None => self.tape.leaf(field, node, Leaf::Made(&octets)),
                        // Only BER writes them: it is the encoder that knows.
                        Some(fault) => {
                            let marked = Marked { error: Error::new(fault, 0), offset: 0 };
                            self.tape.marked(field, node, Leaf::Made(&octets), &marked);
                        }
                    }
                    return Ok(());
                }
                text = match (value.cast::<PyString>(), kind) {
                    (Ok(string), _) => characters(string)?,
                    (Err(_), Kind::ObjectIdentifier | Kind::RelativeOid) => self.arcs(kind, value)?.into(),
                    _ => match times::Form::of(kind) {
                        Some(form) => times::text(form, value)?.or_else(mismatch)?.into(),
                        None => return self.wrong(kind, "str", value),
                    },
                };
                match of_text(kind, &text) {
                    Some(Ok(contents)) => contents,
                    Some(Err(detail)) => return mismatch(detail),
                    None => return self.wrong(kind, "something else", value),
                }
            }
        };
        self.tape.leaf(field, node, Leaf::Made(&contents));
        Ok(())
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
        let mut positions = Vec::new();
        for name in value.try_iter()? {
            let name = name?;
            let Ok(text) = name.cast::<PyString>() else { return self.wrong(Kind::BitString, "str", &name) };
            let text = characters(text)?;
            let item = items.iter().find(|item| self.shape.name(item.name) == text);
            match item.and_then(|item| u64::try_from(item.value).ok()) {
                Some(position) if position < MAX_NAMED_BIT => positions.push(position),
                _ => return mismatch(format!("no bit `{}`", cut(&text))),
            }
        }
        Ok(of_named_bits(&positions, self.shape.least_size(node)))
    }

    #[cold]
    fn wrong<T>(&self, kind: Kind, expected: &str, value: &Bound<'_, PyAny>) -> Done<T> {
        mismatch(format!("{expected} expected for {}, not {}", kind.name(), type_of(value)))
    }

    /// The way to the value at hand: `CallRecord.moCall.parties[2]`.
    #[cold]
    fn path(&self, root: NodeId) -> String {
        let name = |field: FieldId| self.shape.name(self.shape.field(field).name);
        let mut path =
            self.shape.node(root).name.map(|name| self.shape.name(name)).unwrap_or_default().to_owned();
        for frame in &self.open {
            let first = self.shape.node(frame.node).first;
            match &frame.parts {
                Parts::Members(_, next, _) if *next > 0 => {
                    path.push('.');
                    path.push_str(name(FieldId(first + next - 1)));
                }
                Parts::Alternative(field) => {
                    path.push('.');
                    path.push_str(name(*field));
                }
                Parts::Elements(_, next) if *next > 0 => path.push_str(&format!("[{}]", next - 1)),
                _ => {}
            }
        }
        path
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

/// A key as it is written, cut if it is long.
fn short(key: &Bound<'_, PyAny>) -> String {
    match key.cast::<PyString>() {
        Ok(text) => format!("`{}`", cut(&text.to_string_lossy())),
        Err(_) => format!("of type {}", type_of(key)),
    }
}

fn cut(text: &str) -> &str {
    text.char_indices().nth(60).map_or(text, |(at, _)| &text[..at])
}
