//! A value to a tape, for encoding.

use super::{Content, Value};
use crate::contents;
use crate::event::{Leaf, Sink};
use crate::tape::Tape;
use crate::text::integer_octets;
use crate::{Error, ErrorKind};
use std::borrow::Cow;
use tercet_plan::{FieldId, Kind, NodeId, Shape};
use tercet_runtime::ber::{Rules, Writer};

/// Levels of values inside one another.
const MAX_DEPTH: u16 = 1_000;

impl Value {
    /// Puts this value of type `root` onto a tape, which is cleared first. Components may be in any order; the
    /// tape has them in that of the type, as the encoder wants. What is missing, the encoder will tell.
    ///
    /// # Errors
    /// [`ErrorKind::ValueMismatch`] with the path of what is no value of its type, [`ErrorKind::DuplicateComponent`],
    /// [`ErrorKind::DepthLimit`].
    pub fn to_tape(&self, shape: &Shape, root: NodeId, tape: &mut Tape) -> Result<(), Error> {
        tape.clear();
        Put { shape, tape, path: Vec::new() }.value(FieldId::ROOT, root, self)
    }
}

struct Put<'a> {
    shape: &'a Shape,
    tape: &'a mut Tape,
    path: Vec<Step<'a>>,
}

enum Step<'a> {
    Name(&'a str),
    Index(usize),
}

impl<'a> Put<'a> {
    fn value(&mut self, field: FieldId, node: NodeId, value: &'a Value) -> Result<(), Error> {
        if self.path.len() >= usize::from(MAX_DEPTH) {
            return Err(self.error(ErrorKind::DepthLimit, ""));
        }
        let it = self.shape.node(node);
        match (it.kind, value) {
            (Kind::Sequence | Kind::Set, Value::Sequence(members) | Value::Set(members)) => {
                self.members(field, node, members)
            }
            (Kind::SequenceOf | Kind::SetOf, Value::SequenceOf(elements) | Value::SetOf(elements)) => {
                let Some((id, element)) = self.shape.fields_of(node).next() else { return Ok(()) };
                let element = element.node;
                self.tape.open(field, node);
                for (index, value) in elements.iter().enumerate() {
                    self.inside(Step::Index(index), id, element, value)?;
                }
                self.tape.close(field, node);
                Ok(())
            }
            (Kind::Choice, Value::Choice(name, value)) => {
                self.tape.open(field, node);
                if let Value::Unknown { addition, encoding } = &**value {
                    self.tape.unknown(*addition, Leaf::Made(encoding));
                } else {
                    let shape = self.shape;
                    let found = shape.fields_of(node).find(|(_, field)| shape.name(field.name) == name);
                    let Some((id, alternative)) = found else {
                        return Err(self.error(ErrorKind::ValueMismatch, &format!("no alternative `{name}`")));
                    };
                    self.inside(Step::Name(name), id, alternative.node, value)?;
                }
                self.tape.close(field, node);
                Ok(())
            }
            (Kind::OctetString | Kind::BitString, Value::Containing(value)) => match it.containing {
                Some(inner) => self.content(field, node, inner, value),
                None => Err(self.error(ErrorKind::ValueMismatch, "a type without CONTAINING")),
            },
            (Kind::Open, Value::Open(content)) => match self.content_type(node, content) {
                Some(inner) => self.content(field, node, inner, &content.value),
                None => {
                    let detail = format!("no type `{}`", content.type_name);
                    Err(self.error(ErrorKind::ValueMismatch, &detail))
                }
            },
            (Kind::Enumerated, Value::Addition(number)) => {
                self.tape.leaf(field, node, Leaf::Addition(*number));
                Ok(())
            }
            _ => {
                let contents = self.contents(node, value)?;
                self.tape.leaf(field, node, Leaf::Made(&contents));
                Ok(())
            }
        }
    }

    fn inside(
        &mut self,
        step: Step<'a>,
        field: FieldId,
        node: NodeId,
        value: &'a Value,
    ) -> Result<(), Error> {
        self.path.push(step);
        self.value(field, node, value)?;
        self.path.pop();
        Ok(())
    }

    fn content(
        &mut self,
        field: FieldId,
        node: NodeId,
        inner: NodeId,
        value: &'a Value,
    ) -> Result<(), Error> {
        self.tape.open(field, node);
        self.path.push(Step::Name("content"));
        self.value(FieldId::ROOT, inner, value)?;
        self.path.pop();
        self.tape.close(field, node);
        Ok(())
    }

    fn members(&mut self, field: FieldId, node: NodeId, members: &'a [(String, Value)]) -> Result<(), Error> {
        let shape = self.shape;
        let mut slots: Vec<Option<&'a Value>> = vec![None; shape.node(node).count as usize];
        for (name, value) in members {
            if matches!(value, Value::Unknown { .. }) {
                continue;
            }
            let index = shape.fields_of(node).position(|(_, field)| shape.name(field.name) == name);
            let Some(slot) = index.and_then(|index| slots.get_mut(index)) else {
                return Err(self.error(ErrorKind::ValueMismatch, &format!("no component `{name}`")));
            };
            if slot.replace(value).is_some() {
                return Err(self.error(ErrorKind::DuplicateComponent, name));
            }
        }
        self.tape.open(field, node);
        for ((id, component), value) in shape.fields_of(node).zip(slots) {
            if let Some(value) = value {
                self.inside(Step::Name(shape.name(component.name)), id, component.node, value)?;
            }
        }
        for (_, value) in members {
            if let Value::Unknown { addition, encoding } = value {
                self.tape.unknown(*addition, Leaf::Made(encoding));
            }
        }
        self.tape.close(field, node);
        Ok(())
    }

    /// The type inside an open type: the node if it is one of this shape's table, else by name.
    fn content_type(&self, open: NodeId, content: &Content) -> Option<NodeId> {
        let shape = self.shape;
        let name = content.type_name.as_str();
        if let Some(node) = content.node
            && let Some(it) = shape.nodes.get(node.index())
            && (name.is_empty()
                || name == shape.content_name(open, node)
                || it.name.is_some_and(|id| name == shape.name(id)))
        {
            return Some(node);
        }
        shape.content_named(open, name, None)
    }

    /// Contents octets of a primitive value.
    fn contents(&self, node: NodeId, value: &'a Value) -> Result<Cow<'a, [u8]>, Error> {
        let kind = self.shape.node(node).kind;
        Ok(match (kind, value) {
            (Kind::Boolean, Value::Boolean(value)) => contents::of_boolean(*value).into(),
            (Kind::Integer, Value::Integer(number)) => integer_octets(*number).into(),
            (Kind::Integer | Kind::Enumerated, Value::BigInteger(number)) => {
                number.to_signed_bytes_be().into()
            }
            (Kind::Enumerated, Value::Enumerated(number, None)) => integer_octets(*number).into(),
            (Kind::Enumerated, Value::Enumerated(_, Some(name))) => contents::of_item(self.shape, node, name)
                .ok_or_else(|| self.error(ErrorKind::ValueMismatch, &format!("no item `{name}`")))?
                .into(),
            (Kind::Real, Value::Real(real)) => {
                let mut writer = Writer::new(Rules::Der);
                writer.push_f64(*real);
                writer.into_vec().into()
            }
            (Kind::Real, Value::ExactReal(octets))
            | (Kind::OctetString, Value::OctetString(octets))
            | (Kind::Open, Value::Encoding(octets))
            | (_, Value::Raw(octets)) => octets.as_slice().into(),
            (Kind::BitString, Value::BitString(bits)) => {
                let made = contents::of_bits(bits.octets(), bits.len() as u64);
                made.map_err(|detail| self.error(ErrorKind::ValueMismatch, &detail))?.into()
            }
            (Kind::Null, Value::Null) => Cow::Borrowed(&[]),
            (Kind::ObjectIdentifier, Value::ObjectIdentifier(oid)) => oid.as_bytes().into(),
            (Kind::RelativeOid, Value::RelativeOid(oid)) => oid.as_bytes().into(),
            (_, Value::Text(text) | Value::Time(text))
                if !matches!(kind, Kind::ObjectIdentifier | Kind::RelativeOid) =>
            {
                let made = contents::of_text(kind, text).unwrap_or_else(|| Err(mismatch(kind)));
                made.map_err(|detail| self.error(ErrorKind::ValueMismatch, &detail))?
            }
            _ => return Err(self.error(ErrorKind::ValueMismatch, &mismatch(kind))),
        })
    }

    #[cold]
    fn error(&self, kind: ErrorKind, detail: &str) -> Error {
        let mut path = String::new();
        for step in &self.path {
            match step {
                Step::Index(index) => path.push_str(&format!("[{index}]")),
                Step::Name(name) => path = crate::text::join_path(&path, name),
            }
        }
        Error::new(kind, 0).with_path(path).with_detail(detail)
    }
}

fn mismatch(kind: Kind) -> String {
    format!("{} expected", kind.name())
}
