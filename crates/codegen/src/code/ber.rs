//! The steps of BER, DER and CER (X.690).

mod build;

use super::{Key, Presence, Table};
use tercet_lower::Lowering;
use tercet_plan::ber::Slot;
use tercet_plan::{Code as Plan, FieldId, NodeId};
use tercet_runtime::text::StringKind;
use tercet_runtime::types::TimeType;

/// The codecs of a program.
#[derive(Clone, Debug)]
pub(crate) struct Code<'m> {
    /// The codecs of the declared types and of lists, in the order of the nodes.
    pub(crate) bodies: Vec<(NodeId, Body<'m>)>,
    /// The values of the roots that were asked for, in their order.
    pub(crate) roots: Vec<Value>,
}

/// The codec of a type. A header has been read, or none for those that have no tag of their own.
#[derive(Clone, Debug)]
pub(crate) enum Body<'m> {
    Struct(Struct<'m>),
    Choice(Choice<'m>),
    Table(Table<'m, Value>),
    List(List),
}

/// A value with its tags.
#[derive(Clone, Debug)]
pub(crate) struct Value {
    /// The type, by the node that stands for it.
    pub(crate) node: NodeId,
    /// The tags around the value's own, from the outside in.
    pub(crate) around: Vec<u32>,
    /// The innermost tag, or `None` for a value that begins with a tag of its own: a CHOICE or an open type.
    pub(crate) tag: Option<u32>,
    /// How the contents are read and written.
    pub(crate) primitive: Primitive,
    /// The keys that the codec of the type takes.
    pub(crate) keys: Vec<Key>,
}

/// How contents are read and written: the calls that a runtime has to have.
#[derive(Clone, Debug)]
pub(crate) enum Primitive {
    Boolean,
    Null,
    /// An INTEGER in so many bits, signed or not.
    Integer {
        signed: bool,
        bits: u8,
    },
    BigInteger,
    /// A REAL as it was encoded.
    Real,
    /// A REAL as the nearest floating-point number.
    Float,
    /// A BIT STRING of a fixed number of bits, and whether its bits have names: zero bits at the end mean nothing then.
    FixedBits(u32, bool),
    BitString,
    /// A BIT STRING with named bits, and the least and the greatest number of bits.
    NamedBits(usize, usize),
    /// An OCTET STRING of a fixed number of octets.
    FixedOctets(u32),
    OctetString,
    ObjectIdentifier,
    RelativeOid,
    /// A complete element of any type.
    Any,
    Text(StringKind),
    UtcTime,
    GeneralizedTime,
    Time(TimeType),
    /// A string with a value inside: whether it is a BIT STRING, and the value.
    Contained(bool, Box<Value>),
    Enumerated,
    /// The codec of a SEQUENCE or SET.
    Struct,
    /// The codec of a CHOICE or open type, which reads the header itself.
    Untagged,
    /// The codec of a SEQUENCE OF or SET OF.
    List,
}

/// A SEQUENCE or SET.
#[derive(Clone, Debug)]
pub(crate) struct Struct<'m> {
    /// Whether it is a SET.
    pub(crate) set: bool,
    /// Whether a value counts against the limit of values inside one another.
    pub(crate) counted: bool,
    /// The components in the order of the notation.
    pub(crate) members: Vec<Member<'m>>,
    pub(crate) order: Order,
    /// What becomes of elements that are not known.
    pub(crate) unknown: Unknown,
    /// The number of the first component behind the additions. A component read in order follows elements that begin none
    /// of the components from this number on.
    pub(crate) second_root: Option<usize>,
    pub(crate) end: End,
    /// Whether an element can be told to be that of another component, for errors.
    pub(crate) places: bool,
    /// The numbers of the components in the order in which they are written.
    pub(crate) written: Vec<usize>,
    pub(crate) sort: Sort,
}

/// A component or an alternative.
#[derive(Clone, Debug)]
pub(crate) struct Member<'m> {
    pub(crate) field: FieldId,
    /// The name in the specification.
    pub(crate) name: &'m str,
    pub(crate) presence: Presence,
    pub(crate) value: Value,
    /// How an element is known to be the component.
    pub(crate) begins: Begins,
    /// When the next element is the component, where components are read in order.
    pub(crate) next: Next,
    /// Whether others beside the component look at its value for their keys.
    pub(crate) selects: bool,
    /// The least tag that the component may begin with, where components of a SET are sorted.
    pub(crate) least_tag: u32,
}

/// How an element is known to be a component or an alternative.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Begins {
    Tag(u32),
    /// By the tags of an untagged CHOICE.
    Choice(NodeId),
    /// Any element is one.
    Any,
}

/// When the next element is a component, where components are read in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// It begins the component.
    Begins,
    /// There is one: nothing is behind the component, which takes unknown elements.
    More,
    /// It begins the component, which takes unknown elements, or none of those behind it.
    NotBehind,
}

/// The order in which components are read.
#[derive(Clone, Debug)]
pub(crate) enum Order {
    /// One after the other; a look at the next tag tells whether one is there.
    InOrder,
    /// Each by its tag, in the order of these attempts.
    ByTag(Vec<Attempt>),
}

/// An attempt to take an element as a component, where components are read by tag.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Attempt {
    /// The number of the component.
    pub(crate) member: usize,
    pub(crate) guard: Guard,
    pub(crate) check: Check,
}

/// What has to hold for an element beside its tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Guard {
    Nothing,
    /// The component has not been there; if it has, only an element with one of its tags is taken, which is an error.
    Absent,
    /// No component behind this one has been there: later versions may add elements with the same universal tag.
    NotPassed,
}

/// What is checked of an element that is taken as a component.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Check {
    /// In a SET, that it is there once, and in the order of tags where the rules demand it.
    Set,
    /// The same of an untagged CHOICE, whose place in CER is that of its least tag.
    SetByLeastTag,
    /// In a SEQUENCE, that it follows those before it. The number of the last required one among these, from 1; 0 without.
    Sequence(u32),
}

/// What becomes of elements that are not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unknown {
    /// They are kept, and written again.
    Keep,
    Skip,
    /// They are errors.
    Refuse,
}

/// What is checked at the end of a SEQUENCE or SET.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// Nothing: all elements have been read.
    Read,
    /// Elements of later versions are skipped.
    Skip,
    /// No element is left.
    Nothing,
}

/// When the elements of a SET are sorted once they are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sort {
    Never,
    /// In DER and CER.
    Canonical,
    /// In DER.
    Der,
    /// In DER and CER if elements of later versions are there.
    Unknown,
    /// In DER, and in CER if elements of later versions are there.
    DerOrUnknown,
}

/// A CHOICE.
#[derive(Clone, Debug)]
pub(crate) struct Choice<'m> {
    /// Whether a value counts against the limit of values inside one another.
    pub(crate) counted: bool,
    /// The alternatives in the order of the notation.
    pub(crate) alternatives: Vec<Member<'m>>,
    /// The numbers of the alternatives in the order in which they are tried: one that takes any element is the last.
    pub(crate) attempts: Vec<usize>,
    pub(crate) otherwise: Otherwise,
    /// Whether a value may be an alternative that is not known.
    pub(crate) extensible: bool,
}

/// What becomes of an element that is no alternative.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Otherwise {
    /// There is none.
    Impossible,
    /// It is kept.
    Keep,
    /// It is an error.
    Refuse,
}

/// A SEQUENCE OF or SET OF.
#[derive(Clone, Debug)]
pub(crate) struct List {
    /// Whether a value counts against the limit of values inside one another.
    pub(crate) counted: bool,
    /// Whether it is a SET OF, whose elements are sorted in DER and CER.
    pub(crate) set: bool,
    pub(crate) element: Value,
}

impl Struct<'_> {
    /// Returns the numbers of the components that have to be there.
    pub(crate) fn required(&self) -> impl Iterator<Item = usize> {
        let required = |(_, member): &(usize, &Member<'_>)| member.presence == Presence::Required;
        self.members.iter().enumerate().filter(required).map(|(number, _)| number)
    }

    /// Whether components are read by their tags.
    pub(crate) const fn is_by_tag(&self) -> bool {
        matches!(self.order, Order::ByTag(_))
    }
}

impl Member<'_> {
    /// Whether the component has to be there and is known by its tag, so that the element of another may be in its place.
    pub(crate) fn is_placed(&self) -> bool {
        self.presence == Presence::Required && self.begins != Begins::Any
    }
}

/// Whether two nodes have the same tags where they stand alone.
pub(crate) fn same_tags(lowering: &Lowering, a: NodeId, b: NodeId) -> bool {
    lowering.plans.iter().all(|plan| match &plan.code {
        Plan::Ber(program) => {
            let entry = |node: NodeId| &program.slots[program.nodes[node.index()].entry as usize];
            let [a, b]: [&Slot; 2] = [a, b].map(entry);
            a.tag == b.tag && program.chain(a) == program.chain(b)
        }
        _ => true,
    })
}
