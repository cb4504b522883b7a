//! Events to a value.

use super::{Bits, Content, Value};
use crate::constant::say_constant;
use crate::event::{Leaf, Sink};
use crate::leaf::{Scalar, scalar};
use crate::tape::View;
use num_bigint::BigInt;
use tercet_plan::{FieldId, Kind, NodeId, Shape};
use tercet_runtime::ber::{Rules, Writer};
use tercet_runtime::types::Real;

impl Value {
    /// The value on a tape; nothing if the tape is empty or was left in the middle of a value.
    pub fn from_view(shape: &Shape, view: View<'_>) -> Option<Self> {
        let mut builder = Builder::new(shape);
        view.replay(&mut builder);
        builder.take()
    }
}

/// A sink that makes a [`Value`].
#[derive(Debug)]
pub struct Builder<'s> {
    shape: &'s Shape,
    /// The values that are open, the outermost first.
    open: Vec<Frame>,
    done: Option<Value>,
}

#[derive(Debug)]
struct Frame {
    field: FieldId,
    /// The type of the content that came last.
    content: NodeId,
    parts: Parts,
}

#[derive(Debug)]
enum Parts {
    Named(Vec<(String, Value)>),
    Listed(Vec<Value>),
}

impl<'s> Builder<'s> {
    /// A builder of values of a shape.
    pub fn new(shape: &'s Shape) -> Self {
        Self { shape, open: Vec::new(), done: None }
    }

    /// The value that has ended last; what a failed decode has left is forgotten.
    pub fn take(&mut self) -> Option<Value> {
        self.open.clear();
        self.done.take()
    }

    fn put(&mut self, field: FieldId, node: NodeId, value: Value) {
        let Some(frame) = self.open.last_mut() else {
            self.done = Some(value);
            return;
        };
        frame.content = node;
        match &mut frame.parts {
            Parts::Listed(elements) => elements.push(value),
            Parts::Named(members) => {
                let name =
                    self.shape.fields.get(field.index()).map_or("...", |field| self.shape.name(field.name));
                members.push((name.to_owned(), value));
            }
        }
    }
}

impl Sink for Builder<'_> {
    fn leaf(&mut self, field: FieldId, node: NodeId, leaf: Leaf<'_>) {
        let value = owned(scalar(self.shape, node, leaf));
        self.put(field, node, value);
    }

    fn open(&mut self, field: FieldId, node: NodeId) {
        let parts = match self.shape.node(node).kind {
            Kind::Sequence | Kind::Set | Kind::Choice => Parts::Named(Vec::new()),
            _ => Parts::Listed(Vec::new()),
        };
        self.open.push(Frame { field, content: node, parts });
    }

    fn close(&mut self, _: FieldId, node: NodeId) {
        let Some(Frame { field, content, parts }) = self.open.pop() else { return };
        let value = match (self.shape.node(node).kind, parts) {
            (Kind::Set, Parts::Named(members)) => Value::Set(members),
            (Kind::Choice, Parts::Named(mut members)) => match members.pop() {
                Some((name, value)) => Value::Choice(name, Box::new(value)),
                None => Value::Raw(Vec::new()),
            },
            (_, Parts::Named(members)) => Value::Sequence(members),
            (Kind::SetOf, Parts::Listed(elements)) => Value::SetOf(elements),
            (Kind::SequenceOf, Parts::Listed(elements)) => Value::SequenceOf(elements),
            (kind, Parts::Listed(mut elements)) => match elements.pop() {
                Some(value) if kind == Kind::Open => Value::Open(Content {
                    type_name: self.shape.content_name(node, content).to_owned(),
                    node: Some(content),
                    value: Box::new(value),
                }),
                Some(value) => Value::Containing(Box::new(value)),
                None => Value::Raw(Vec::new()),
            },
        };
        self.put(field, node, value);
    }

    fn absent(&mut self, field: FieldId, node: NodeId, constant: u32) {
        let shape = self.shape;
        say_constant(shape, field, node, constant, self);
    }

    fn unknown(&mut self, addition: u32, leaf: Leaf<'_>) {
        let encoding = leaf.contents().unwrap_or_default().to_vec();
        self.put(FieldId::ROOT, NodeId(u32::MAX), Value::Unknown { addition, encoding });
    }
}

fn owned(scalar: Scalar<'_>) -> Value {
    match scalar {
        Scalar::Boolean(value) => Value::Boolean(value),
        Scalar::Integer(number) => Value::Integer(number),
        Scalar::BigInteger(octets) => Value::BigInteger(BigInt::from_signed_bytes_be(octets)),
        Scalar::Enumerated(number, name) => Value::Enumerated(number, name.map(str::to_owned)),
        Scalar::Addition(number) => Value::Addition(number),
        Scalar::Real(real) => owned_real(&real),
        Scalar::BitString(bits) => Value::BitString(Bits::new(bits.bytes(), bits.len())),
        Scalar::OctetString(octets) => Value::OctetString(octets.to_vec()),
        Scalar::Null => Value::Null,
        Scalar::ObjectIdentifier(oid) => Value::ObjectIdentifier(oid.to_owned()),
        Scalar::RelativeOid(oid) => Value::RelativeOid(oid.to_owned()),
        Scalar::Text(text) => Value::Text(text.into_owned()),
        Scalar::Time(text) => Value::Time(text.into_owned()),
        Scalar::Open(octets) => Value::Encoding(octets.to_vec()),
        Scalar::Raw(octets) => Value::Raw(octets.to_vec()),
    }
}

fn owned_real(real: &Real<'_>) -> Value {
    match real {
        Real::Binary(binary) if !crate::text::is_exact_f64(binary) => {}
        // Base 10 has its own values (X.680 21.3).
        Real::Decimal(_) => {}
        _ => return Value::Real(real.to_f64()),
    }
    let mut writer = Writer::new(Rules::Der);
    writer.push_real(real);
    Value::ExactReal(writer.into_vec())
}
