//! A value to a tape, for encoding.

use super::{Content, Value};
use crate::Error;
use crate::ErrorKind;
use crate::contents;
use crate::event::{Leaf, Sink};
use crate::source::{Alternative, Content as Inside, Driver, Fault, Found, Memory, Primitive, Source};
use crate::tape::Tape;
use crate::text::integer_octets;
use std::borrow::Cow;
use tercet_plan::{FieldId, Kind, NodeId, Shape};
use tercet_runtime::ber::{Rules, Writer};

/// Values with parts inside one another.
const MAX_DEPTH: u16 = 1_000;

type Result<T> = std::result::Result<T, Error>;

impl Value {
    /// Puts this value of type `root` onto a tape, which is cleared first. Components may be in any order; the tape has
    /// them in that of the type, as the encoder requires. What is missing, the encoder reports.
    ///
    /// # Errors
    /// [`ErrorKind::ValueMismatch`] with the path of what is not a value of its type, [`ErrorKind::DuplicateComponent`],
    /// [`ErrorKind::DepthLimit`].
    pub fn to_tape(&self, shape: &Shape, root: NodeId, tape: &mut Tape) -> Result<()> {
        Driver::read(&Tree { shape }, &mut Memory::new(shape), root, self, tape, MAX_DEPTH)
            .map_err(Error::shortened)
    }
}

/// Values in memory as a source.
#[derive(Debug)]
struct Tree<'a> {
    shape: &'a Shape,
}

impl<'a> Source for Tree<'a> {
    type At = &'a Value;
    type Elements = std::slice::Iter<'a, Value>;
    type Name = &'a str;
    type Error = Error;

    const IS_COMPLETE: bool = false;

    fn fault(&self, _: &&'a Value, fault: Fault<'_>) -> Error {
        fault.to_error()
    }

    fn components(&self, at: &&'a Value, found: &mut Found<'_, '_, Self>) -> Result<()> {
        let (Value::Sequence(members) | Value::Set(members)) = at else {
            return Err(self.mismatch(found.node));
        };
        for (name, value) in members {
            if matches!(value, Value::Unknown { .. }) {
                found.set_additions(at);
            } else if !found.put(name, at, value)? {
                return Err(Fault::NoComponent(name).to_error());
            }
        }
        Ok(())
    }

    fn elements(&self, at: &&'a Value, _: FieldId, node: NodeId) -> Result<Self::Elements> {
        match at {
            Value::SequenceOf(elements) | Value::SetOf(elements) => Ok(elements.iter()),
            _ => Err(self.mismatch(node)),
        }
    }

    fn next_element(&self, elements: &mut Self::Elements) -> Result<Option<&'a Value>> {
        Ok(elements.next())
    }

    fn alternative(&self, at: &&'a Value, _: FieldId, node: NodeId) -> Result<Alternative<Self>> {
        match at {
            Value::Choice(_, value) if matches!(**value, Value::Unknown { .. }) => {
                Ok(Alternative::Unknown(&**value))
            }
            Value::Choice(name, value) => Ok(Alternative::Named(name.as_str(), &**value, &**value)),
            _ => Err(self.mismatch(node)),
        }
    }

    fn content(&self, at: &&'a Value, open: NodeId, _: Option<NodeId>) -> Result<Inside<Self>> {
        let Value::Open(content) = at else { return Ok(Inside::Encoding(*at)) };
        match self.content_type(open, content) {
            Some(inner) => Ok(Inside::Value(inner, &*content.value, Some("content"))),
            None => Err(Fault::NoType(&content.type_name).to_error()),
        }
    }

    fn contained(&self, at: &&'a Value, _: NodeId, inner: NodeId) -> Result<Inside<Self>> {
        Ok(match at {
            Value::Containing(value) => Inside::Value(inner, &**value, Some("content")),
            _ => Inside::Encoding(*at),
        })
    }

    fn leaf<'v>(&'v self, at: &'v &'a Value, _: FieldId, node: NodeId) -> Result<Primitive<'v>> {
        let kind = self.shape.node(node).kind;
        Ok(match (kind, *at) {
            (Kind::Boolean, Value::Boolean(value)) => contents::of_boolean(*value).into(),
            (Kind::Integer, Value::Integer(number)) => integer_octets(*number).into(),
            (Kind::Integer | Kind::Enumerated, Value::BigInteger(number)) => {
                number.to_signed_bytes_be().into()
            }
            (Kind::Enumerated, Value::Enumerated(number, None)) => integer_octets(*number).into(),
            (Kind::Enumerated, Value::Enumerated(_, Some(name))) => {
                let item = contents::of_item(self.shape, node, name);
                item.ok_or_else(|| unfit(format!("no item `{name}`")))?.into()
            }
            (Kind::Enumerated, Value::Addition(number)) => Primitive::Addition(*number),
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
                contents::of_bits(bits.octets(), bits.len() as u64).map_err(unfit)?.into()
            }
            (Kind::Null, Value::Null) => Cow::Borrowed(&[][..]).into(),
            (Kind::ObjectIdentifier, Value::ObjectIdentifier(oid)) => oid.as_bytes().into(),
            (Kind::RelativeOid, Value::RelativeOid(oid)) => oid.as_bytes().into(),
            (_, Value::Text(text) | Value::Time(text))
                if !matches!(kind, Kind::ObjectIdentifier | Kind::RelativeOid) =>
            {
                let made = contents::of_text(kind, text).ok_or_else(|| self.mismatch(node))?;
                made.map_err(unfit)?.into()
            }
            (Kind::OctetString | Kind::BitString, Value::Containing(_)) => {
                return Err(unfit("a type without CONTAINING"));
            }
            _ => return Err(self.mismatch(node)),
        })
    }

    fn unknown(&self, at: &&'a Value, tape: &mut Tape) -> Result<()> {
        let members = match at {
            Value::Sequence(members) | Value::Set(members) => members.as_slice(),
            _ => &[],
        };
        for value in members.iter().map(|(_, value)| value).chain([*at]) {
            if let Value::Unknown { addition, encoding } = value {
                tape.unknown(*addition, Leaf::Made(encoding));
            }
        }
        Ok(())
    }
}

impl Tree<'_> {
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

    #[cold]
    fn mismatch(&self, node: NodeId) -> Error {
        unfit(format!("{} expected", self.shape.node(node).kind.name()))
    }
}

#[cold]
fn unfit(detail: impl Into<String>) -> Error {
    Error::new(ErrorKind::ValueMismatch, 0).with_detail(detail)
}
