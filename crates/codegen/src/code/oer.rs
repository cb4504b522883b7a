//! The steps of OER, basic and canonical (X.696).

mod build;

use super::sequence::{self, Sequence};
use super::{Key, Table};
use tercet_plan::NodeId;
use tercet_plan::oer::{Integer, Real, Size, TimeStep};
use tercet_runtime::text::StringKind;
use tercet_runtime::types::TimeType;

/// The codecs of a program.
#[derive(Clone, Debug)]
pub(crate) struct Code<'m> {
    /// The forms of points in time that values have, each once, with its number.
    pub(crate) times: Vec<(usize, Vec<TimeStep>)>,
    /// The codecs of the declared types and of lists, in the order of the nodes.
    pub(crate) bodies: Vec<(NodeId, Body<'m>)>,
    /// The values of the roots that were asked for, in their order.
    pub(crate) roots: Vec<Value>,
}

/// The codec of a type.
#[derive(Clone, Debug)]
pub(crate) enum Body<'m> {
    Struct(Struct<'m>),
    Choice(Choice<'m>),
    Table(Table<'m, Value>),
    List(List),
    /// A type that the rules have no codec for here, and whether its values count.
    Unsupported(bool),
}

/// A value.
#[derive(Clone, Debug)]
pub(crate) struct Value {
    /// The type, by the node that stands for it.
    pub(crate) node: NodeId,
    /// How the value is read and written.
    pub(crate) primitive: Primitive,
    /// The keys that the codec of the type takes.
    pub(crate) keys: Vec<Key>,
}

/// How a value is read and written: the calls that a runtime has to have.
#[derive(Clone, Debug)]
pub(crate) enum Primitive {
    Boolean,
    Null,
    Integer(MachineInteger),
    BigInteger(Integer),
    /// A REAL as it was encoded.
    Real(Real),
    /// A REAL as the nearest floating-point number.
    Float(Real),
    /// A BIT STRING of a fixed number of bits.
    FixedBits(u32, Size),
    BitString(Size),
    /// A BIT STRING with named bits, and the least and the greatest number of bits.
    NamedBits(Size, usize, usize),
    /// An OCTET STRING of a fixed number of octets.
    FixedOctets(u32, Size),
    OctetString(Size),
    ObjectIdentifier,
    RelativeOid,
    /// The octets of an open type.
    Any,
    Text(StringKind, Size),
    UtcTime(Size),
    GeneralizedTime(Size),
    /// A time type in the text of its value.
    Time(TimeType, Size),
    /// A point in time in numbers: one of [`Code::times`].
    Point(TimeType, usize),
    /// A duration in numbers.
    Duration(TimeType),
    /// A string with a value inside: whether it is a BIT STRING, its size, and the value.
    Contained(bool, Size, Box<Value>),
    Enumerated,
    /// The codec of a SEQUENCE, SET, CHOICE or open type.
    Declared,
    /// The codec of a SEQUENCE OF or SET OF.
    List,
    /// The rules have no codec for the type here.
    Unsupported,
}

/// An INTEGER that a machine has a type for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MachineInteger {
    pub(crate) form: Integer,
    pub(crate) signed: bool,
    pub(crate) bits: u8,
    /// Whether each number that can be read fits the machine's type.
    pub(crate) fits: bool,
}

/// A SEQUENCE or SET.
pub(crate) type Struct<'m> = Sequence<'m, Value>;
/// A component or an alternative.
pub(crate) type Member<'m> = sequence::Member<'m, Value>;
/// Components with a preamble.
pub(crate) type Members<'m> = sequence::Members<'m, Value>;

/// A CHOICE.
#[derive(Clone, Debug)]
pub(crate) struct Choice<'m> {
    /// Whether a value counts against the limit of values inside one another.
    pub(crate) counted: bool,
    /// The alternatives in the order of the notation.
    pub(crate) alternatives: Vec<Alternative<'m>>,
    pub(crate) otherwise: Otherwise,
    /// Whether a value may be an alternative that is not known.
    pub(crate) extensible: bool,
}

/// An alternative of a CHOICE.
#[derive(Clone, Debug)]
pub(crate) struct Alternative<'m> {
    pub(crate) member: Member<'m>,
    /// The tags by which the alternative is known.
    pub(crate) tags: Vec<u32>,
    /// The tag that is written.
    pub(crate) tag: Tag,
    /// Whether it is an extension addition, whose value is an open type.
    pub(crate) addition: bool,
}

/// The tag that an alternative begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tag {
    Own(u32),
    /// That of the value, an untagged CHOICE. The value of an alternative of the root has written it.
    Inside,
    /// An open type has none that is known (X.696 clause 20 asks for one).
    Unknown,
}

/// What becomes of a tag that is none of an alternative.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Otherwise {
    /// The value is kept.
    Keep,
    /// The value is of the alternative with this number, an untagged CHOICE that knows more.
    Inside(usize),
    /// It is an error.
    Refuse,
}

/// A SEQUENCE OF or SET OF.
#[derive(Clone, Debug)]
pub(crate) struct List {
    /// Whether a value counts against the limit of values inside one another.
    pub(crate) counted: bool,
    /// Whether it is a SET OF, whose elements are sorted in canonical OER.
    pub(crate) set: bool,
    pub(crate) element: Value,
}
