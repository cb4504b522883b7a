//! The typed form of a set of modules: every name bound, every parameter instantiated, every constant folded.
//!
//! Things live in arenas of [`Model`] and refer to each other by index, so that recursion needs no pointers.

use crate::arcs::Arcs;
use crate::instructions::Instructions;
use crate::unresolved::{Twice, Unresolved};
use num_bigint::BigInt;
use rustc_hash::FxHashMap;
use smol_str::SmolStr;
use tercet_syntax::Span;
pub use tercet_syntax::ast::{PresenceConstraint, StringKind, TagClass, TagDefault, TagMode, UsefulTime};

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub u32);
        impl $name {
            /// The index into its arena.
            pub const fn index(self) -> usize { self.0 as usize }
        }
    )*};
}

ids! {
    /// A module of [`Model::modules`].
    ModuleId
    /// A type of [`Model::types`].
    TypeId
    /// A class of [`Model::classes`].
    ClassId
    /// An object of [`Model::objects`].
    ObjectId
    /// An object set of [`Model::object_sets`].
    ObjectSetId
}

/// All that was resolved.
#[derive(Debug, Default)]
pub struct Model {
    /// Modules in the order given.
    pub modules: Vec<Module>,
    /// Types, named and anonymous.
    pub types: Vec<Type>,
    /// Information object classes.
    pub classes: Vec<Class>,
    /// Information objects.
    pub objects: Vec<Object>,
    /// Information object sets.
    pub object_sets: Vec<ObjectSet>,
    /// Encoding instructions.
    pub instructions: Instructions,
    /// Parts of associated types that constraints speak of.
    pub associated: Associated,
    /// References that lead to nothing, in the order of the text: see [`Model::gaps`].
    pub unresolved: Vec<Unresolved>,
    /// Uses of names in the order of the text, if [`crate::Options::occurrences`] asks for them.
    pub occurrences: Vec<Occurrence>,
    /// Modules that were given more than once, with different texts.
    pub twice: Vec<Twice>,
}

/// The use of a name: a reference, an identifier of a component, item or named number, a field of a class, a dummy
/// reference, the name of a module. A name in a parameterized definition may stand for something else in each instance; then
/// it occurs more than once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Occurrence {
    /// Where it is used.
    pub at: Span,
    /// The name in the definition of what it stands for.
    pub definition: Span,
}

/// Types within those that EMBEDDED PDV and CHARACTER STRING are associated with (X.680 §36.5, §44.5).
#[derive(Clone, Copy, Debug, Default)]
pub struct Associated {
    /// The CHOICE that tells the abstract and the transfer syntax.
    pub identification: Option<TypeId>,
    /// Its alternative `syntaxes`.
    pub syntaxes: Option<TypeId>,
    /// Its alternative `context-negotiation`.
    pub negotiation: Option<TypeId>,
}

/// A module and what it defines; parameterized definitions appear only as instances among [`Model::types`].
#[derive(Debug)]
pub struct Module {
    /// The module reference.
    pub name: SmolStr,
    /// Its definitive OID, where it could be computed.
    pub oid: Option<Vec<u128>>,
    /// Its tagging environment.
    pub tags: TagDefault,
    /// Defined types (value sets too: the governor with the set as constraint), in order.
    pub types: Vec<(SmolStr, TypeId)>,
    /// Defined values with their governors, in order.
    pub values: Vec<(SmolStr, TypeId, Value)>,
    /// Defined classes.
    pub classes: Vec<(SmolStr, ClassId)>,
    /// Defined objects.
    pub objects: Vec<(SmolStr, ObjectId)>,
    /// Defined object sets.
    pub object_sets: Vec<(SmolStr, ObjectSetId)>,
    /// Where it stands.
    pub span: Span,
}

/// A type: the notation at one place, its references bound.
#[derive(Clone, Debug)]
pub struct Type {
    /// What it is.
    pub kind: TypeKind,
    /// Tags written (or given by automatic tagging) at this place, from the outside in. The mode is decided:
    /// IMPLICIT on an untagged CHOICE or open type has become EXPLICIT (X.680 §31.2.7).
    pub tags: Vec<Tag>,
    /// Constraints written at this place, in order (serial application).
    pub constraints: Vec<Constraint>,
    /// Set for the right side of a type assignment.
    pub name: Option<TypeName>,
    /// The module it is written in.
    pub module: ModuleId,
    /// Where it is written.
    pub span: Span,
}

/// The name of a type assignment.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TypeName {
    /// The type reference.
    pub name: SmolStr,
    /// For an instance of a parameterized type, the actual parameters as written; empty otherwise.
    pub arguments: SmolStr,
}

/// A tag with its decided mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Tag {
    /// The class.
    pub class: TagClass,
    /// The number.
    pub number: u32,
    /// Whether it replaces or wraps.
    pub mode: TagMode,
}

/// The kinds of type.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "the standard's own names")]
pub enum TypeKind {
    /// A reference to a named type (or an instance of a parameterized one).
    Reference(TypeId),
    Boolean,
    Integer(Vec<NamedNumber>),
    Enumerated(Enumeration),
    Real,
    /// With named bits, in the order written.
    BitString(Vec<NamedNumber>),
    OctetString,
    Null,
    Sequence(Components),
    Set(Components),
    SequenceOf(Option<SmolStr>, TypeId),
    SetOf(Option<SmolStr>, TypeId),
    Choice(Components),
    ObjectIdentifier,
    RelativeOid,
    OidIri,
    RelativeOidIri,
    EmbeddedPdv,
    External,
    Time,
    UsefulTime(UsefulTime),
    CharacterString(StringKind),
    UnrestrictedCharacterString,
    GeneralizedTime,
    UtcTime,
    ObjectDescriptor,
    /// An open type: a type field of a class (its table constraint, if any, is among the constraints), or ANY.
    Open(Option<(ClassId, SmolStr)>),
    /// ANY DEFINED BY a component.
    AnyDefinedBy(SmolStr),
    /// INSTANCE OF a class (X.681 Annex C).
    InstanceOf(ClassId),
    /// Something that has been reported; nothing more is said about it.
    Error,
}

/// A named number or bit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedNumber {
    /// The identifier.
    pub name: SmolStr,
    /// The number.
    pub value: BigInt,
}

/// An ENUMERATED with all numbers assigned (X.680 §20.3–20.6), in the order written.
#[derive(Clone, Debug, Default)]
pub struct Enumeration {
    /// Root items.
    pub root: Vec<(SmolStr, i64)>,
    /// Additional items.
    pub additions: Vec<(SmolStr, i64)>,
    /// Whether `...` is there.
    pub extensible: bool,
}

/// Components of a SEQUENCE or SET, alternatives of a CHOICE: COMPONENTS OF expanded, in textual order.
#[derive(Clone, Debug, Default)]
pub struct Components {
    /// The components.
    pub list: Vec<Component>,
    /// Whether `...` is there (also by EXTENSIBILITY IMPLIED).
    pub extensible: bool,
    /// How many of them stand before the second part of the extension root (X.680 §25.1); all without one.
    pub second_root: usize,
}

/// A component or alternative.
#[derive(Clone, Debug)]
pub struct Component {
    /// The identifier.
    pub name: SmolStr,
    /// The type.
    pub ty: TypeId,
    /// Whether it may be left out.
    pub presence: Presence,
    /// Where it belongs.
    pub place: Place,
    /// Where it is written.
    pub span: Span,
}

/// Presence of a component.
#[derive(Clone, Debug)]
pub enum Presence {
    /// It must be there.
    Mandatory,
    /// OPTIONAL.
    Optional,
    /// DEFAULT.
    Default(Value),
}

/// The part of a component list that a component belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Place {
    /// Before the first ellipsis, or after the second: the extension root.
    Root,
    /// The n-th extension addition (from 0, a version bracket counts as one).
    Addition(u32),
    /// Inside the version bracket that is the n-th extension addition.
    Group(u32),
}

/// A value with its notation understood.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// BOOLEAN.
    Boolean(bool),
    /// INTEGER.
    Integer(BigInt),
    /// ENUMERATED, by name and number.
    Enumerated(SmolStr, i64),
    /// REAL.
    Real(Real),
    /// BIT STRING: octets, first bit highest, and the number of bits.
    BitString(Vec<u8>, u64),
    /// OCTET STRING.
    OctetString(Vec<u8>),
    /// NULL.
    Null,
    /// OBJECT IDENTIFIER and RELATIVE-OID.
    Oid(Arcs),
    /// Character strings, OID-IRI and all time types.
    Text(String),
    /// SEQUENCE OF, SET OF.
    List(Vec<Self>),
    /// SEQUENCE, SET.
    Struct(Vec<(SmolStr, Self)>),
    /// CHOICE.
    Choice(SmolStr, Box<Self>),
    /// Open type.
    Open(TypeId, Box<Self>),
    /// CONTAINING.
    Containing(Box<Self>),
    /// A value that could not be understood; reported.
    Error,
}

/// A REAL value (X.680 §21.6): `mantissa × base^exponent`, base 2 or 10, or a special value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Real {
    /// A number; zero has mantissa 0.
    Finite {
        /// The mantissa with its sign.
        mantissa: BigInt,
        /// 2 or 10.
        base: u8,
        /// The exponent.
        exponent: i64,
    },
    /// −0.
    MinusZero,
    /// PLUS-INFINITY.
    PlusInfinity,
    /// MINUS-INFINITY.
    MinusInfinity,
    /// NOT-A-NUMBER.
    NotANumber,
}

/// A constraint with its references bound.
#[derive(Clone, Debug)]
pub struct Constraint {
    /// What it says.
    pub kind: ConstraintKind,
    /// Whether it depends on a parameter's value: not PER-visible (X.691 §10.3.11 NOTE, §3.7.25).
    pub variable: bool,
    /// Where it is written.
    pub span: Span,
}

/// The kinds of constraint.
#[derive(Clone, Debug)]
pub enum ConstraintKind {
    /// A subtype constraint.
    Subtype(ElementSet),
    /// CONTAINING, ENCODED BY.
    Contents {
        /// The type inside.
        containing: Option<TypeId>,
        /// The rules' OID.
        encoded_by: Option<Vec<u128>>,
    },
    /// CONSTRAINED BY: for people.
    UserDefined,
    /// A table constraint; with relations, a component relation constraint.
    Table {
        /// The object set.
        set: ObjectSetId,
        /// Where the key components are.
        relations: Vec<Relation>,
    },
}

/// An AtNotation (X.682 §10.7).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Relation {
    /// 0: from the outermost SEQUENCE, SET or CHOICE of the type notation; n: n levels up, 1 the innermost.
    pub level: u32,
    /// Component names.
    pub path: Vec<SmolStr>,
}

/// A set with extension marker.
#[derive(Clone, Debug)]
pub struct ElementSet {
    /// The root.
    pub root: Element,
    /// Whether `...` follows.
    pub extensible: bool,
    /// What follows `...`.
    pub additional: Option<Box<Element>>,
}

/// Set arithmetic.
#[derive(Clone, Debug)]
pub enum Element {
    /// Nothing is excluded (an element that could not be understood, or `ALL`).
    All,
    /// `a | b`.
    Union(Vec<Self>),
    /// `a ^ b`.
    Intersection(Vec<Self>),
    /// `a EXCEPT b`; `ALL EXCEPT b` has `All` as its first.
    Except(Box<Self>, Box<Self>),
    /// One value.
    Value(Value),
    /// A range of integers, reals, or characters (as one-character [`Value::Text`]).
    Range(Bound, Bound),
    /// Contained subtype.
    Type(TypeId),
    /// SIZE.
    Size(Box<ElementSet>),
    /// FROM.
    Alphabet(Box<ElementSet>),
    /// PATTERN.
    Pattern(String),
    /// SETTINGS.
    Settings(String),
    /// WITH COMPONENT.
    WithComponent(Box<Constraint>),
    /// WITH COMPONENTS.
    WithComponents {
        /// Whether `...` stands first.
        partial: bool,
        /// The named ones.
        components: Vec<ComponentConstraint>,
    },
}

/// One component in WITH COMPONENTS.
#[derive(Clone, Debug)]
pub struct ComponentConstraint {
    /// The component.
    pub name: SmolStr,
    /// Its value constraint.
    pub constraint: Option<Box<Constraint>>,
    /// PRESENT, ABSENT, OPTIONAL.
    pub presence: Option<PresenceConstraint>,
}

/// An end of a range; open ends of integers have been closed.
#[derive(Clone, Debug, PartialEq)]
pub enum Bound {
    /// MIN.
    Min,
    /// MAX.
    Max,
    /// A value that belongs to the range.
    Closed(Value),
    /// A value that does not (REAL only).
    Open(Value),
}

/// An information object class.
#[derive(Clone, Debug)]
pub struct Class {
    /// Its name, where it has one.
    pub name: SmolStr,
    /// Fields in order.
    pub fields: Vec<ClassField>,
    /// Where it is written.
    pub span: Span,
}

/// A field of a class.
#[derive(Clone, Debug)]
pub struct ClassField {
    /// The name with its `&`.
    pub name: SmolStr,
    /// What kind of thing it holds.
    pub kind: ClassFieldKind,
    /// UNIQUE.
    pub unique: bool,
    /// OPTIONAL or DEFAULT.
    pub optional: bool,
    /// DEFAULT.
    pub default: Option<Setting>,
}

/// The kinds of class field.
#[derive(Clone, Debug)]
pub enum ClassFieldKind {
    /// A type.
    Type,
    /// A value of a fixed type.
    Value(TypeId),
    /// A value whose type is in another field.
    VariableValue(Vec<SmolStr>),
    /// A value set of a fixed type.
    ValueSet(TypeId),
    /// A value set whose type is in another field.
    VariableValueSet(Vec<SmolStr>),
    /// An object.
    Object(ClassId),
    /// An object set.
    ObjectSet(ClassId),
}

/// An information object.
#[derive(Clone, Debug)]
pub struct Object {
    /// Its name, where it has one.
    pub name: Option<SmolStr>,
    /// Its class.
    pub class: ClassId,
    /// Field settings by field name with its `&`; defaults filled in.
    pub settings: FxHashMap<SmolStr, Setting>,
    /// Where it is written.
    pub span: Span,
}

/// What a field is set to.
#[derive(Clone, Debug)]
pub enum Setting {
    /// A type.
    Type(TypeId),
    /// A value with its governor.
    Value(TypeId, Value),
    /// A value set: the governor constrained.
    ValueSet(TypeId),
    /// An object.
    Object(ObjectId),
    /// An object set.
    ObjectSet(ObjectSetId),
}

/// An information object set.
#[derive(Clone, Debug, Default)]
pub struct ObjectSet {
    /// Its name, where it has one.
    pub name: Option<SmolStr>,
    /// The objects, each once, in order.
    pub objects: Vec<ObjectId>,
    /// Whether `...` is there.
    pub extensible: bool,
    /// Where it is written.
    pub span: Span,
}
