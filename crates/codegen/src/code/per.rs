//! The steps of PER, aligned and unaligned, basic and canonical (X.691).

mod build;
mod tables;

pub(crate) use tables::{Bounds, CheckedTime, Form, Leaf, Tables};

use super::sequence::{self, Sequence};
use super::{Key, Table};
use tercet_plan::NodeId;
use tercet_plan::per::{Alphabet, Large, Size, TimePart, Whole};
use tercet_runtime::text::StringKind;
use tercet_runtime::types::TimeType;

/// The codecs of a program.
#[derive(Clone, Debug)]
pub(crate) struct Code<'m> {
    /// Whether fields are aligned to octets.
    pub(crate) aligned: bool,
    /// The alphabets of strings, by their numbers.
    pub(crate) alphabets: Vec<Alphabet>,
    /// The forms of times that values have, each once.
    pub(crate) times: Vec<TimeForm>,
    /// The codecs of the declared types and of lists that do not follow tables, in the order of the nodes.
    pub(crate) bodies: Vec<(NodeId, Body<'m>)>,
    /// The values of the roots that were asked for, in their order.
    pub(crate) roots: Vec<Value>,
    /// What codecs that follow tables follow.
    pub(crate) tables: Tables,
}

/// The form of a time, called by the number of the first type that has it.
#[derive(Clone, Debug)]
pub(crate) struct TimeForm {
    pub(crate) node: NodeId,
    pub(crate) kind: TimeType,
    pub(crate) parts: Box<[TimePart]>,
}

/// The codec of a type.
#[derive(Clone, Debug)]
pub(crate) enum Body<'m> {
    Struct(Struct<'m>),
    Choice(Choice<'m>),
    Enumerated(Enumerated),
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
    /// By the tables of the program.
    Tabled(Form),
    Boolean,
    Null,
    Integer(MachineInteger),
    BigInteger(Integer),
    /// A REAL as it was encoded.
    Real,
    /// A REAL as the nearest floating-point number.
    Float,
    /// A BIT STRING of a fixed number of bits, for which no size is written.
    FixedBits(u32),
    /// A BIT STRING of a fixed number of bits, for which a size is written, and whether its bits have names.
    SizedBits(u32, Size, bool),
    /// A BIT STRING, and whether its bits have names: zero bits at the end mean nothing then.
    BitString(Size, bool),
    /// An OCTET STRING of a fixed number of octets, for which no size is written.
    FixedOctets(u32),
    /// An OCTET STRING of a fixed number of octets, for which a size is written.
    SizedOctets(Size),
    OctetString(Size),
    ObjectIdentifier,
    RelativeOid,
    /// The octets of an open type.
    Any,
    /// A known-multiplier string: its size and the number of its alphabet.
    Characters(Size, u32),
    /// The same for UTCTime.
    UtcTime(Size, u32),
    /// The same for GeneralizedTime.
    GeneralizedTime(Size, u32),
    /// Another string.
    Text(StringKind),
    /// A time type: the node that one of [`Code::times`] is called by.
    Time(NodeId),
    /// A string with a value inside: whether it is a BIT STRING, its size, and the value.
    Contained(bool, Size, Box<Value>),
    /// The codec of a SEQUENCE, SET, CHOICE, ENUMERATED or open type.
    Declared,
    /// The codec of a SEQUENCE OF or SET OF.
    List,
    /// The rules have no codec for the type here.
    Unsupported,
}

/// An INTEGER.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Integer {
    /// Whether a bit in front says that the value is outside of the root.
    pub(crate) extensible: bool,
    /// The form of the root.
    pub(crate) form: IntegerForm,
}

/// The form of an INTEGER's root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum IntegerForm {
    /// The difference to `lo`, which is at most `span`.
    Constrained {
        lo: i64,
        span: u64,
        whole: Whole,
    },
    SemiConstrained(i64),
    Unconstrained,
    /// Bounds of more than 64 bits.
    Large(Large),
}

/// An INTEGER that a machine has a type for.
#[derive(Clone, Debug)]
pub(crate) struct MachineInteger {
    pub(crate) integer: Integer,
    pub(crate) signed: bool,
    pub(crate) bits: u8,
    /// Whether all numbers of a constrained root fit the machine's type.
    pub(crate) fits: bool,
}

/// A SEQUENCE or SET.
pub(crate) type Struct<'m> = Sequence<'m, Value>;
/// A component or an alternative.
pub(crate) type Member<'m> = sequence::Member<'m, Value>;
/// Components with presence bits.
pub(crate) type Members<'m> = sequence::Members<'m, Value>;
/// An extension addition.
pub(crate) type Addition<'m> = sequence::Addition<'m, Value>;

/// A CHOICE.
#[derive(Clone, Debug)]
pub(crate) struct Choice<'m> {
    /// Whether a value counts against the limit of values inside one another.
    pub(crate) counted: bool,
    /// How the number of an alternative of the root is written.
    pub(crate) whole: Whole,
    /// Whether there is an extension bit.
    pub(crate) extensible: bool,
    /// The alternatives of the root in the order of their numbers.
    pub(crate) root: Vec<Member<'m>>,
    /// The additions in the order of their numbers, each in an open type.
    pub(crate) additions: Vec<Member<'m>>,
}

/// An ENUMERATED.
#[derive(Clone, Debug)]
pub(crate) struct Enumerated {
    /// How the number of an item of the root is written.
    pub(crate) whole: Whole,
    /// Whether there is an extension bit.
    pub(crate) extensible: bool,
    /// The values of the items of the root in the order of their numbers.
    pub(crate) root: Vec<i64>,
    /// The same for the additions.
    pub(crate) additions: Vec<i64>,
    /// Whether the values are the numbers that are written.
    pub(crate) is_numbered: bool,
}

/// A SEQUENCE OF or SET OF.
#[derive(Clone, Debug)]
pub(crate) struct List {
    /// Whether a value counts against the limit of values inside one another.
    pub(crate) counted: bool,
    /// Whether it is a SET OF, whose elements are sorted in canonical PER.
    pub(crate) set: bool,
    pub(crate) size: Size,
    pub(crate) element: Value,
}
