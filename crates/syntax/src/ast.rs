//! The syntax tree of X.680–X.683 (02/2021) and of the 1988 notation still in use.
//!
//! What the grammar alone cannot decide is kept undecided: text in braces whose meaning hangs on its governor (a
//! SEQUENCE value, an OID value, a defined-syntax object …) is a [`Braced`] slice of the module's tokens, which
//! [`crate::Cursor`] reads again once the governor is known.

use crate::source::Span;
use crate::token::Token;
use smol_str::SmolStr;

/// A name with its place. Case tells its kind: references to types, classes and sets begin with a capital letter.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Ident {
    /// The characters.
    pub text: SmolStr,
    /// Where it stands.
    pub span: Span,
}

impl Ident {
    /// Whether it begins with a capital letter.
    pub fn is_upper(&self) -> bool {
        self.text.starts_with(|c: char| c.is_ascii_uppercase())
    }
}

/// A slice of [`Module::tokens`], the outer braces included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Braced {
    /// Index of the opening brace.
    pub first: u32,
    /// Index one past the closing brace.
    pub end: u32,
    /// The text from brace to brace.
    pub span: Span,
}

/// ModuleDefinition (X.680 §13).
#[derive(Clone, Debug)]
pub struct Module {
    /// The module reference; for a header-less list of assignments (vendor leniency) made from the file's name.
    pub name: Ident,
    /// The definitive identifier, as written.
    pub oid: Option<Braced>,
    /// The default tagging environment.
    pub tags: TagDefault,
    /// `EXTENSIBILITY IMPLIED`.
    pub extensibility_implied: bool,
    /// Encoding reference default (`XER INSTRUCTIONS` …), if any.
    pub encoding_reference: Option<Ident>,
    /// EXPORTS: `None` where the clause is absent or says ALL.
    pub exports: Option<Vec<Ident>>,
    /// IMPORTS, one entry for each FROM.
    pub imports: Vec<Import>,
    /// The assignments in order.
    pub assignments: Vec<Assignment>,
    /// The ENCODING-CONTROL sections, unread.
    pub encoding_control: Vec<EncodingControl>,
    /// All tokens of the module but comments; [`Braced`] points here.
    pub tokens: Vec<Token>,
    /// From the name to END.
    pub span: Span,
}

/// EncodingControlSection (X.680 §54).
#[derive(Clone, Debug)]
pub struct EncodingControl {
    /// `XER`, `PER` …
    pub reference: Ident,
    /// Its tokens from ENCODING-CONTROL on; there are no braces around them.
    pub body: Braced,
}

/// TagDefault (X.680 §13.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum TagDefault {
    /// `EXPLICIT TAGS`, also when nothing is said.
    #[default]
    Explicit,
    /// `IMPLICIT TAGS`.
    Implicit,
    /// `AUTOMATIC TAGS`.
    Automatic,
}

/// SymbolsFromModule (X.680 §13.1).
#[derive(Clone, Debug)]
pub struct Import {
    /// The symbols; `Foo{}` is written here as `Foo`.
    pub symbols: Vec<Ident>,
    /// The module.
    pub module: Ident,
    /// AssignedIdentifier: an OID value or a reference to one.
    pub oid: Option<Braced>,
    /// SelectionOption: which other object identifiers the module may have.
    pub selection: Option<Selection>,
    /// From the first symbol to the end.
    pub span: Span,
}

/// Which versions of a module an import takes beside the one it names (X.680 §13.15).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Selection {
    /// WITH SUCCESSORS: later ones too, whose last arc is greater.
    Successors,
    /// WITH DESCENDANTS: those below it too.
    Descendants,
}

/// An assignment of any kind (X.680 §16, X.681 §9–12, X.683 §8).
#[derive(Clone, Debug)]
pub struct Assignment {
    /// The name being defined.
    pub name: Ident,
    /// Dummy parameters (X.683 §8.3), empty when not parameterized.
    pub parameters: Vec<Parameter>,
    /// What is assigned.
    pub kind: AssignmentKind,
    /// The whole of it.
    pub span: Span,
}

/// What an assignment assigns.
#[derive(Clone, Debug)]
pub enum AssignmentKind {
    /// `Name ::= Type`. When the right side is a bare reference, it may turn out to be an object class.
    Type(Type),
    /// `name Type ::= value`. When the governor is a class, an object assignment.
    Value {
        /// The governor.
        governor: Type,
        /// The value or object.
        value: Value,
    },
    /// `Name Type ::= { … }`: a value set, or an object set when the governor is a class.
    Set {
        /// The governor.
        governor: Type,
        /// The elements.
        set: ElementSet,
    },
    /// `NAME ::= CLASS { … }`.
    Class(ObjectClass),
    /// `NAME MACRO ::= BEGIN … END` (1988): kept as text, never expanded.
    Macro,
}

/// Parameter (X.683 §8.3).
#[derive(Clone, Debug)]
pub struct Parameter {
    /// The governor: a type or class, possibly another dummy.
    pub governor: Option<Type>,
    /// The dummy reference.
    pub name: Ident,
}

/// ActualParameter (X.683 §9.5).
#[derive(Clone, Debug)]
pub enum ActualParameter {
    /// A type, a class, or a reference in capitals that may name a set.
    Type(Type),
    /// A value or an object.
    Value(Value),
    /// `{ … }`: a value set, an object set, or a braced value or object.
    Braced(Braced),
}

/// A type where it is written: prefix, kind and the constraints behind it.
#[derive(Clone, Debug)]
pub struct Type {
    /// Tags from the outside in, as `[1] EXPLICIT`.
    pub tags: Vec<TagPrefix>,
    /// Encoding prefixes such as `[XER:ATTRIBUTE]`, as written.
    pub encoding: Vec<EncodingPrefix>,
    /// What it is.
    pub kind: TypeKind,
    /// Constraints in order (serial application, X.680 §49.8). For `SEQUENCE SIZE (…) OF`, they constrain the list.
    pub constraints: Vec<Constraint>,
    /// The whole of it.
    pub span: Span,
}

/// TypePrefix, tag form (X.680 §31.2).
#[derive(Clone, Debug)]
pub struct TagPrefix {
    /// The class.
    pub class: TagClass,
    /// The number: a literal or a reference.
    pub number: Value,
    /// `IMPLICIT`, `EXPLICIT` or what the module says.
    pub mode: Option<TagMode>,
    /// The prefix with its keyword.
    pub span: Span,
}

/// Tag classes (X.680 §8.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TagClass {
    /// UNIVERSAL.
    Universal,
    /// APPLICATION.
    Application,
    /// Context-specific.
    Context,
    /// PRIVATE.
    Private,
}

/// How a tag is applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TagMode {
    /// Replaces the tag of the type.
    Implicit,
    /// Wraps the type.
    Explicit,
}

/// TypePrefix, encoding form (X.680 §31.3): the octets between the brackets stay text for X.693 and X.697.
#[derive(Clone, Debug)]
pub struct EncodingPrefix {
    /// `XER`, `JER`, `PER` …; `None` when the module default applies.
    pub reference: Option<Ident>,
    /// The instruction's tokens, brackets included.
    pub text: Braced,
}

/// The kinds of type notation (X.680 §17).
#[derive(Clone, Debug)]
pub enum TypeKind {
    /// BOOLEAN (§18).
    Boolean,
    /// INTEGER with named numbers (§19).
    Integer(Vec<NamedNumber>),
    /// ENUMERATED (§20).
    Enumerated(Enumeration),
    /// REAL (§21).
    Real,
    /// BIT STRING with named bits (§22).
    BitString(Vec<NamedNumber>),
    /// OCTET STRING (§23).
    OctetString,
    /// NULL (§24).
    Null,
    /// SEQUENCE (§25).
    Sequence(Box<ComponentList>),
    /// SET (§27).
    Set(Box<ComponentList>),
    /// SEQUENCE OF (§26); the element may have a name.
    SequenceOf(Option<Ident>, Box<Type>),
    /// SET OF (§28).
    SetOf(Option<Ident>, Box<Type>),
    /// CHOICE (§29).
    Choice(Box<ComponentList>),
    /// `identifier < Type` (§30).
    Selection(Ident, Box<Type>),
    /// OBJECT IDENTIFIER (§32).
    ObjectIdentifier,
    /// RELATIVE-OID (§33).
    RelativeOid,
    /// OID-IRI (§34).
    OidIri,
    /// RELATIVE-OID-IRI (§35).
    RelativeOidIri,
    /// EMBEDDED PDV (§36).
    EmbeddedPdv,
    /// EXTERNAL (§37).
    External,
    /// TIME (§38).
    Time,
    /// DATE, TIME-OF-DAY, DATE-TIME, DURATION (§38.4).
    UsefulTime(UsefulTime),
    /// The restricted character string types (§41).
    CharacterString(StringKind),
    /// CHARACTER STRING (§44).
    UnrestrictedCharacterString,
    /// GeneralizedTime (§46).
    GeneralizedTime,
    /// UTCTime (§47).
    UtcTime,
    /// ObjectDescriptor (§48).
    ObjectDescriptor,
    /// A reference, possibly with actual parameters and a module (§14, X.683 §9).
    Reference(Reference),
    /// `CLASS.&field.&Field` (X.681 §14): an object class field type.
    ClassField {
        /// The class.
        class: Box<Reference>,
        /// The field names, each with its `&`.
        path: Vec<Ident>,
    },
    /// `Objects.&Field` or `object.&Field` where the base is an object or object set (X.681 §15).
    FromObject {
        /// The object or object set.
        base: Box<Reference>,
        /// The field names, each with its `&`.
        path: Vec<Ident>,
    },
    /// INSTANCE OF (X.681 Annex C).
    InstanceOf(Reference),
    /// ANY, ANY DEFINED BY (X.208).
    Any(Option<Ident>),
    /// A use of a MACRO (1988): its name and the tokens it took.
    MacroUse(Ident, Braced),
}

/// TIME's named subsets (X.680 §38.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UsefulTime {
    /// DATE.
    Date,
    /// TIME-OF-DAY.
    TimeOfDay,
    /// DATE-TIME.
    DateTime,
    /// DURATION.
    Duration,
}

/// Restricted character string types (X.680 §41.1, Table 8).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the standard's own names")]
pub enum StringKind {
    Bmp,
    General,
    Graphic,
    Ia5,
    Iso646,
    Numeric,
    Printable,
    Teletex,
    T61,
    Universal,
    Utf8,
    Videotex,
    Visible,
}

/// A reference to something defined elsewhere (X.680 §14).
#[derive(Clone, Debug)]
pub struct Reference {
    /// `Module.` in front; few references have it.
    pub module: Option<Box<Ident>>,
    /// The name.
    pub name: Ident,
    /// Actual parameters, `None` without braces.
    pub parameters: Option<Vec<ActualParameter>>,
    /// The whole of it.
    pub span: Span,
}

/// NamedNumber, NamedBit (X.680 §19.1, §22.1).
#[derive(Clone, Debug)]
pub struct NamedNumber {
    /// The identifier.
    pub name: Ident,
    /// A number or a reference to one.
    pub value: Value,
}

/// ENUMERATED's items (X.680 §20.1).
#[derive(Clone, Debug)]
pub struct Enumeration {
    /// The root items.
    pub root: Vec<EnumItem>,
    /// `None` without `...`.
    pub additional: Option<Vec<EnumItem>>,
    /// `! exception` after the ellipsis.
    pub exception: Option<Box<Exception>>,
}

/// One item of an enumeration.
#[derive(Clone, Debug)]
pub struct EnumItem {
    /// The identifier.
    pub name: Ident,
    /// Its number, where written.
    pub value: Option<Box<Value>>,
}

/// The components of a SEQUENCE or SET, the alternatives of a CHOICE (X.680 §25.1, §29.1).
#[derive(Clone, Debug, Default)]
pub struct ComponentList {
    /// The first root part.
    pub root: Vec<Component>,
    /// `Some` when there is an ellipsis.
    pub extension: Option<Extension>,
    /// The root part after the second ellipsis.
    pub second_root: Vec<Component>,
}

/// What follows `...`.
#[derive(Clone, Debug, Default)]
pub struct Extension {
    /// The ellipsis.
    pub span: Span,
    /// `! exception`.
    pub exception: Option<Box<Exception>>,
    /// The additions in order.
    pub additions: Vec<Addition>,
    /// Whether a second ellipsis closes the additions.
    pub closed: bool,
}

/// An extension addition, alone or in version brackets.
#[derive(Clone, Debug)]
pub enum Addition {
    /// One component.
    Single(Component),
    /// `[[ n: … ]]`.
    Group {
        /// The version number.
        version: Option<u32>,
        /// The components.
        components: Vec<Component>,
        /// From bracket to bracket.
        span: Span,
    },
}

/// ComponentType, or an alternative of a CHOICE.
#[derive(Clone, Debug)]
pub enum Component {
    /// A named component.
    Named {
        /// The identifier; empty text for the 1988 notation's unnamed components.
        name: Ident,
        /// The type.
        ty: Type,
        /// OPTIONAL or DEFAULT.
        presence: Presence,
    },
    /// COMPONENTS OF (X.680 §25.5).
    ComponentsOf(Type),
}

/// Whether a component may be left out.
#[derive(Clone, Debug)]
pub enum Presence {
    /// It must be there.
    Mandatory,
    /// OPTIONAL.
    Optional,
    /// DEFAULT with its value.
    Default(Box<Value>),
}

/// ExceptionIdentification (X.680 §53): `! 5`, `! reference`, `! Type : value`.
#[derive(Clone, Debug)]
pub struct Exception {
    /// The type, where written.
    pub ty: Option<Box<Type>>,
    /// The value.
    pub value: Value,
}

/// Constraint (X.680 §49, X.682).
#[derive(Clone, Debug)]
pub struct Constraint {
    /// What it says.
    pub kind: ConstraintKind,
    /// `! exception`.
    pub exception: Option<Box<Exception>>,
    /// From parenthesis to parenthesis.
    pub span: Span,
}

/// The kinds of constraint.
#[derive(Clone, Debug)]
pub enum ConstraintKind {
    /// A subtype constraint (X.680 §50).
    Subtype(ElementSet),
    /// `CONTAINING Type`, `ENCODED BY value`, or both (X.682 §11).
    Contents {
        /// The type inside.
        containing: Option<Box<Type>>,
        /// The rules.
        encoded_by: Option<Value>,
    },
    /// `CONSTRAINED BY { … }` (X.682 §9): told to people only.
    UserDefined(Braced),
    /// `({ObjectSet})` or `({ObjectSet}{@field, @.field})` (X.682 §10). A lone `({Set})` cannot be told from a subtype
    /// constraint by grammar; the parser chooses this form for exactly one bare reference in braces.
    Table {
        /// The object set.
        set: Reference,
        /// The `@` notations, none for a simple table constraint.
        relations: Vec<AtNotation>,
    },
}

/// AtNotation (X.682 §10.7).
#[derive(Clone, Debug)]
pub struct AtNotation {
    /// The number of dots after `@`: 0 counts from the outermost SEQUENCE, SET or CHOICE, 1 from the innermost …
    pub level: u32,
    /// The component names.
    pub path: Vec<Ident>,
    /// The whole of it.
    pub span: Span,
}

/// ElementSetSpecs, ObjectSetSpec (X.680 §50.1, X.681 §12.3).
#[derive(Clone, Debug)]
pub struct ElementSet {
    /// The root; `None` in `{...}`.
    pub root: Option<Element>,
    /// Whether `...` follows.
    pub extensible: bool,
    /// What follows `...`, if anything.
    pub additional: Option<Box<Element>>,
    /// The whole of it.
    pub span: Span,
}

/// Elements in set arithmetic (X.680 §50).
#[derive(Clone, Debug)]
pub struct Element {
    /// What it is.
    pub kind: ElementKind,
    /// Where it stands.
    pub span: Span,
}

/// The kinds of element.
#[derive(Clone, Debug)]
pub enum ElementKind {
    /// `a | b`, in order; nested unions are flat.
    Union(Vec<Element>),
    /// `a ^ b`.
    Intersection(Vec<Element>),
    /// `a EXCEPT b`.
    Except(Box<Element>, Box<Element>),
    /// `ALL EXCEPT a`.
    AllExcept(Box<Element>),
    /// A single value; in an object set, an object.
    Value(Value),
    /// `a..b`, with `<` on either side, MIN and MAX.
    Range(Endpoint, Endpoint),
    /// `Type` or `INCLUDES Type`; in an object set, an object set; also a reference to a value set.
    Type(Box<Type>),
    /// `SIZE (…)`.
    Size(Box<Constraint>),
    /// `FROM (…)`.
    Alphabet(Box<Constraint>),
    /// `PATTERN value`.
    Pattern(Value),
    /// `SETTINGS "…"`.
    Settings(Value),
    /// `WITH COMPONENT (…)`.
    WithComponent(Box<Constraint>),
    /// `WITH COMPONENTS { …, a (…) PRESENT }`.
    WithComponents {
        /// Whether `...` stands first.
        partial: bool,
        /// The named ones.
        components: Vec<ComponentConstraint>,
    },
    /// A braced group inside a set: an object in defined or default syntax, or a value in braces.
    Braced(Braced),
}

/// NamedConstraint (X.680 §51.8.5).
#[derive(Clone, Debug)]
pub struct ComponentConstraint {
    /// The component.
    pub name: Ident,
    /// Its value constraint.
    pub constraint: Option<Constraint>,
    /// PRESENT, ABSENT, OPTIONAL.
    pub presence: Option<PresenceConstraint>,
}

/// PresenceConstraint (X.680 §51.8.9).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PresenceConstraint {
    /// Must be there.
    Present,
    /// Must not be there.
    Absent,
    /// May be there.
    Optional,
}

/// An end of a range (X.680 §51.4).
#[derive(Clone, Debug)]
pub struct Endpoint {
    /// MIN, MAX or a value.
    pub value: EndpointValue,
    /// `<`: the value itself is excluded.
    pub open: bool,
}

/// The value of an endpoint.
#[derive(Clone, Debug)]
pub enum EndpointValue {
    /// MIN of the parent.
    Min,
    /// MAX of the parent.
    Max,
    /// A value.
    Value(Value),
}

/// Value notation (X.680 §17.7 and the clause of each type).
#[derive(Clone, Debug)]
pub struct Value {
    /// What it is.
    pub kind: ValueKind,
    /// Where it stands.
    pub span: Span,
}

/// The kinds of value notation.
#[derive(Clone, Debug)]
pub enum ValueKind {
    /// TRUE, FALSE.
    Boolean(bool),
    /// A number with its sign, as written: `-5`.
    Integer(SmolStr),
    /// A real number with its sign, as written: `-1.5E3`.
    Real(SmolStr),
    /// PLUS-INFINITY.
    PlusInfinity,
    /// MINUS-INFINITY.
    MinusInfinity,
    /// NOT-A-NUMBER.
    NotANumber,
    /// NULL.
    Null,
    /// `"…"`: doubled quotes undone, line breaks folded as §12.14.1 says.
    String(Box<str>),
    /// `'0101'B`: digits without white space.
    Binary(Box<str>),
    /// `'0AF'H`: digits without white space.
    Hex(Box<str>),
    /// An identifier or value reference, possibly qualified or parameterized; also an enumeration item.
    Reference(Box<Reference>),
    /// `object.&field`, `Set.&field` (X.681 §15).
    FromObject {
        /// The object.
        base: Box<Reference>,
        /// The field names, each with its `&`.
        path: Vec<Ident>,
    },
    /// `{ … }`.
    Braced(Braced),
    /// `identifier : value` (CHOICE).
    Choice(Ident, Box<Value>),
    /// `Type : value` (open type, §14.8 of X.681).
    Typed(Box<Type>, Box<Value>),
    /// `CONTAINING value`.
    Containing(Box<Value>),
    /// XML value notation in an XMLValueAssignment, as written from `<` to `>`.
    Xml(Box<str>),
    /// A value whose governor is a MACRO (1988), tokens as written.
    Macro(Braced),
}

/// ObjectClassDefn (X.681 §9.3).
#[derive(Clone, Debug)]
pub struct ObjectClass {
    /// The fields in order.
    pub fields: Vec<ClassField>,
    /// WITH SYNTAX, if any.
    pub syntax: Option<Vec<SyntaxItem>>,
}

/// FieldSpec (X.681 §9.4).
#[derive(Clone, Debug)]
pub struct ClassField {
    /// The field name with its `&`.
    pub name: Ident,
    /// What kind of thing it holds.
    pub kind: FieldKind,
    /// UNIQUE.
    pub unique: bool,
    /// OPTIONAL or DEFAULT.
    pub presence: FieldPresence,
    /// The whole of it.
    pub span: Span,
}

/// The kinds of field (X.681 §9.5–9.18).
#[derive(Clone, Debug)]
pub enum FieldKind {
    /// `&Type`.
    Type,
    /// `&value Type`; with a class as governor, an object field.
    FixedValue(Type),
    /// `&value &Type`.
    VariableValue(Vec<Ident>),
    /// `&Set Type`; with a class as governor, an object set field.
    FixedSet(Type),
    /// `&Set &Type`.
    VariableSet(Vec<Ident>),
}

/// Presence of a field.
#[derive(Clone, Debug)]
pub enum FieldPresence {
    /// It must be given.
    Mandatory,
    /// OPTIONAL.
    Optional,
    /// `DEFAULT` with a type, value, object or braced set.
    Default(ActualParameter),
}

/// TokenOrGroupSpec of WITH SYNTAX (X.681 §10.5).
#[derive(Clone, Debug)]
pub enum SyntaxItem {
    /// A word in capitals, or a comma.
    Literal(SmolStr),
    /// A field name with its `&`.
    Field(Ident),
    /// `[ … ]`.
    Optional(Vec<Self>),
}
