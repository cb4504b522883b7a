//! The shape of values, whatever the encoding rules: the part of a plan that sinks and sources see.
//!
//! A [`Shape`] is a graph of [`Node`]s (types, references and tags stripped) whose edges are [`Field`]s (components,
//! alternatives, elements). Records are small and plain; names are in a side table. All plans lowered from the same
//! roots share one shape, so that a tape written by the BER engine can be read by the PER encoder.

use crate::constraint::Constraints;
use crate::instructions::Instructions;
use tercet_runtime::text::StringKind;
use tercet_runtime::types::TimeType;

/// A type of [`Shape::nodes`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(pub u32);

/// A component, alternative or element of [`Shape::fields`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FieldId(pub u32);

/// A name of [`Shape::names`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NameId(pub u32);

/// Returns whether a name means the type `Module.Type`: `Module.Type`, or `Type` alone. Blanks in actual parameters do not count.
///
/// ```
/// use tercet_plan::shape::is_same_name;
/// assert!(is_same_name("M.T", "T") && is_same_name("M.T", "M.T") && !is_same_name("M.T", "M"));
/// assert!(is_same_name("M.T {a, 5}", "T{a,5}") && !is_same_name("M.T {a.b}", "b}"));
/// ```
pub fn is_same_name(full: &str, name: &str) -> bool {
    let parts = |text: &'_ str| text.find('{').unwrap_or(text.len());
    let ((base, arguments), (asked, given)) = (full.split_at(parts(full)), name.split_at(parts(name)));
    let (base, asked) = (base.trim_end(), asked.trim_end());
    let plain = |text: &'_ str| text.chars().filter(|c| !c.is_whitespace()).collect::<String>();
    (base == asked || base.rsplit('.').next() == Some(asked))
        && (arguments == given || !given.is_empty() && plain(arguments) == plain(given))
}

impl NodeId {
    /// The index into [`Shape::nodes`].
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl FieldId {
    /// No field: the outermost value.
    pub const ROOT: Self = Self(u32::MAX);
    /// No field: the value that has begun last, of parts of its encoding after its first component.
    pub const BEGUN: Self = Self(u32::MAX - 1);
    /// The index into [`Shape::fields`].
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// The kinds of value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
#[expect(missing_docs, reason = "the standard's own names")]
pub enum Kind {
    Boolean,
    Integer,
    Enumerated,
    Real,
    BitString,
    OctetString,
    Null,
    ObjectIdentifier,
    RelativeOid,
    OidIri,
    RelativeOidIri,
    Utf8String,
    NumericString,
    PrintableString,
    TeletexString,
    VideotexString,
    Ia5String,
    GraphicString,
    VisibleString,
    GeneralString,
    UniversalString,
    BmpString,
    ObjectDescriptor,
    UtcTime,
    GeneralizedTime,
    Time,
    Date,
    TimeOfDay,
    DateTime,
    Duration,
    Sequence,
    Set,
    SequenceOf,
    SetOf,
    Choice,
    /// An open type or ANY: its value is a complete encoding; [`Node::table`] may tell of what.
    Open,
}

impl Kind {
    /// All kinds whose values have no parts, and that no table decides.
    pub const LEAVES: &[Self] = &[
        Self::Boolean,
        Self::Integer,
        Self::Enumerated,
        Self::Real,
        Self::BitString,
        Self::OctetString,
        Self::Null,
        Self::ObjectIdentifier,
        Self::RelativeOid,
        Self::OidIri,
        Self::RelativeOidIri,
        Self::Utf8String,
        Self::NumericString,
        Self::PrintableString,
        Self::TeletexString,
        Self::VideotexString,
        Self::Ia5String,
        Self::GraphicString,
        Self::VisibleString,
        Self::GeneralString,
        Self::UniversalString,
        Self::BmpString,
        Self::ObjectDescriptor,
        Self::UtcTime,
        Self::GeneralizedTime,
        Self::Time,
        Self::Date,
        Self::TimeOfDay,
        Self::DateTime,
        Self::Duration,
    ];

    /// Returns whether values have fields: SEQUENCE, SET, SEQUENCE OF, SET OF, CHOICE.
    pub const fn is_constructed(self) -> bool {
        matches!(self, Self::Sequence | Self::Set | Self::SequenceOf | Self::SetOf | Self::Choice)
    }

    /// Returns the name in the standard (X.680 §17.2).
    pub const fn name(self) -> &'static str {
        match self {
            Self::Boolean => "BOOLEAN",
            Self::Integer => "INTEGER",
            Self::Enumerated => "ENUMERATED",
            Self::Real => "REAL",
            Self::BitString => "BIT STRING",
            Self::OctetString => "OCTET STRING",
            Self::Null => "NULL",
            Self::ObjectIdentifier => "OBJECT IDENTIFIER",
            Self::RelativeOid => "RELATIVE-OID",
            Self::OidIri => "OID-IRI",
            Self::RelativeOidIri => "RELATIVE-OID-IRI",
            Self::Utf8String => "UTF8String",
            Self::NumericString => "NumericString",
            Self::PrintableString => "PrintableString",
            Self::TeletexString => "TeletexString",
            Self::VideotexString => "VideotexString",
            Self::Ia5String => "IA5String",
            Self::GraphicString => "GraphicString",
            Self::VisibleString => "VisibleString",
            Self::GeneralString => "GeneralString",
            Self::UniversalString => "UniversalString",
            Self::BmpString => "BMPString",
            Self::ObjectDescriptor => "ObjectDescriptor",
            Self::UtcTime => "UTCTime",
            Self::GeneralizedTime => "GeneralizedTime",
            Self::Time => "TIME",
            Self::Date => "DATE",
            Self::TimeOfDay => "TIME-OF-DAY",
            Self::DateTime => "DATE-TIME",
            Self::Duration => "DURATION",
            Self::Sequence => "SEQUENCE",
            Self::Set => "SET",
            Self::SequenceOf => "SEQUENCE OF",
            Self::SetOf => "SET OF",
            Self::Choice => "CHOICE",
            Self::Open => "ANY",
        }
    }

    /// Returns whether it is a character string type (X.680 §41, ObjectDescriptor included).
    pub const fn is_text(self) -> bool {
        matches!(
            self,
            Self::Utf8String
                | Self::NumericString
                | Self::PrintableString
                | Self::TeletexString
                | Self::VideotexString
                | Self::Ia5String
                | Self::GraphicString
                | Self::VisibleString
                | Self::GeneralString
                | Self::UniversalString
                | Self::BmpString
                | Self::ObjectDescriptor
        )
    }

    /// Returns the runtime's name of a character string type, OID-IRI and RELATIVE-OID-IRI included.
    pub const fn string_kind(self) -> Option<StringKind> {
        Some(match self {
            Self::Utf8String => StringKind::Utf8,
            Self::NumericString => StringKind::Numeric,
            Self::PrintableString => StringKind::Printable,
            Self::TeletexString => StringKind::Teletex,
            Self::VideotexString => StringKind::Videotex,
            Self::Ia5String => StringKind::Ia5,
            Self::GraphicString | Self::ObjectDescriptor => StringKind::Graphic,
            Self::VisibleString => StringKind::Visible,
            Self::GeneralString => StringKind::General,
            Self::UniversalString => StringKind::Universal,
            Self::BmpString => StringKind::Bmp,
            Self::OidIri => StringKind::OidIri,
            Self::RelativeOidIri => StringKind::RelativeOidIri,
            _ => return None,
        })
    }

    /// Returns the type with a runtime's name: the first of those that [`Kind::string_kind`] gives it.
    pub fn of_string(kind: StringKind) -> Self {
        let found = Self::LEAVES.iter().find(|leaf| leaf.string_kind() == Some(kind));
        found.copied().unwrap_or(Self::GraphicString)
    }

    /// Returns the runtime's name of a time type of X.680 clause 38; UTCTime and GeneralizedTime are not among them.
    pub const fn time_type(self) -> Option<TimeType> {
        Some(match self {
            Self::Time => TimeType::Time,
            Self::Date => TimeType::Date,
            Self::TimeOfDay => TimeType::TimeOfDay,
            Self::DateTime => TimeType::DateTime,
            Self::Duration => TimeType::Duration,
            _ => return None,
        })
    }

    /// Returns whether an encoding in BER may be constructed: strings, and the times that are VisibleStrings (X.690 8.25).
    /// OID-IRI and the later time types are primitive (8.21, 8.22, 8.26).
    pub const fn may_be_segmented(self) -> bool {
        match self.string_kind() {
            Some(string) => string.may_be_segmented(),
            None => {
                matches!(self, Self::OctetString | Self::BitString | Self::UtcTime | Self::GeneralizedTime)
            }
        }
    }
}

/// A type. Its fields are `fields[first .. first + count]`; a SEQUENCE OF and SET OF has one, its element.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// The kind.
    pub kind: Kind,
    /// `true` if `...` is there.
    pub extensible: bool,
    /// First field.
    pub first: u32,
    /// Number of fields.
    pub count: u32,
    /// Number of fields before the second part of the extension root (X.680 §25.1); all without one.
    pub second_root: u32,
    /// Named numbers, enumeration items or named bits: `items[item_first .. item_first + item_count]`.
    pub item_first: u32,
    /// Their number.
    pub item_count: u32,
    /// The type reference that people know it by; the innermost alias for shared nodes.
    pub name: Option<NameId>,
    /// CONTAINING: the type inside an OCTET STRING or BIT STRING.
    pub containing: Option<NodeId>,
    /// For an open type: how to find out what is inside.
    pub table: Option<TableRef>,
    /// Constraints for validation and rules with visible constraints: index into [`Shape::constraints`].
    pub constraint: Option<u32>,
}

impl Node {
    /// Returns a type of a kind without fields, items, name and constraint.
    pub const fn blank(kind: Kind) -> Self {
        Self {
            kind,
            extensible: false,
            first: 0,
            count: 0,
            second_root: 0,
            item_first: 0,
            item_count: 0,
            name: None,
            containing: None,
            table: None,
            constraint: None,
        }
    }
}

/// A component, alternative or element.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// Its identifier; for an element, the element's name or the type's.
    pub name: NameId,
    /// The type.
    pub node: NodeId,
    /// The node it belongs to.
    pub parent: NodeId,
    /// `true` if it may be absent.
    pub presence: Presence,
    /// Root, addition or group member.
    pub place: Place,
    /// References passed on the way from the field to its node, outermost first: what renderers go by.
    pub aliases: Vec<NameId>,
    /// If this field's value is the key of a table: the register it goes to while decoding.
    pub key: Option<u16>,
}

/// Presence of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    /// Mandatory.
    Mandatory,
    /// OPTIONAL.
    Optional,
    /// DEFAULT: index into [`Shape::defaults`].
    Default(u32),
}

/// The part of a component list that a field belongs to (X.680 §25.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The extension root.
    Root,
    /// The n-th extension addition.
    Addition(u32),
    /// Inside the version bracket that is the n-th addition.
    Group(u32),
}

/// A named number, enumeration item or named bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Item {
    /// Its number (named numbers beyond 64 bits have no item).
    pub value: i64,
    /// Its name.
    pub name: NameId,
    /// `true` for an item after `...`.
    pub addition: bool,
}

/// The table of an open type, and the registers that hold the keys of the content (X.682 §10).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableRef {
    /// Index into [`Shape::tables`].
    pub table: u32,
    /// Key registers, in the table's key order; empty for a simple table constraint.
    pub keys: Vec<u16>,
}

/// An information object set reduced to keys and one type field.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// The object set's name.
    pub name: Option<NameId>,
    /// `true` if the set is extensible: an unknown key is then no error.
    pub extensible: bool,
    /// Rows, sorted by keys, each key set once.
    pub rows: Vec<Row>,
}

/// A row of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The key values.
    pub keys: Vec<Key>,
    /// The type.
    pub node: NodeId,
    /// Its name as `Module.Type`, for output that names the type.
    pub type_name: Option<NameId>,
}

/// A key: the value of a component that selects a row.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Key {
    /// INTEGER and ENUMERATED.
    Int(i64),
    /// Contents octets (X.690) of any other primitive type, OBJECT IDENTIFIER above all.
    Octets(Vec<u8>),
    /// A CHOICE of keys: the alternative and its value (`Code ::= CHOICE {local INTEGER, global OBJECT IDENTIFIER}`).
    Alternative(NameId, Box<Self>),
}

/// A value known before any input is read: a DEFAULT.
#[derive(Clone, Debug, PartialEq)]
pub enum Constant {
    /// BOOLEAN.
    Boolean(bool),
    /// INTEGER that fits, ENUMERATED.
    Int(i64),
    /// Contents octets (X.690) of any other primitive.
    Contents(Vec<u8>),
    /// SEQUENCE, SET: the fields that are given.
    Struct(Vec<(FieldId, Self)>),
    /// SEQUENCE OF, SET OF.
    List(Vec<Self>),
    /// CHOICE.
    Choice(FieldId, Box<Self>),
    /// An open type's value with its type.
    Open(NodeId, Box<Self>),
}

/// The bounds of the values of a node, from all constraints, not only those visible to a rule; the constraints themselves
/// are [`Shape::restrictions`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Constraint {
    /// INTEGER: lower bound, upper bound.
    pub integer: Option<(Option<i128>, Option<i128>)>,
    /// Number of octets, bits, characters or elements: lower and upper bound.
    pub size: Option<(u64, Option<u64>)>,
    /// Permitted characters as ranges of code points.
    pub alphabet: Option<Vec<(u32, u32)>>,
    /// REAL: the base, where only one is left (X.680 §21.5).
    pub base: Option<u8>,
    /// `true` if values outside are allowed (`...`).
    pub extensible: bool,
}

/// A type that decoding can begin with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Root {
    /// `Module.Type`.
    pub name: NameId,
    /// The type.
    pub node: NodeId,
}

/// The types reachable from some roots.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Shape {
    /// Types.
    pub nodes: Vec<Node>,
    /// Components, alternatives and elements.
    pub fields: Vec<Field>,
    /// Named numbers, enumeration items (sorted by value within a node) and named bits.
    pub items: Vec<Item>,
    /// Object sets.
    pub tables: Vec<Table>,
    /// DEFAULT values.
    pub defaults: Vec<Constant>,
    /// Bounds from constraints that encoding rules use.
    pub constraints: Vec<Constraint>,
    /// The constraints themselves, for validation.
    pub restrictions: Constraints,
    /// Where decoding can begin.
    pub roots: Vec<Root>,
    /// The SETs whose components are not written in the order of their tags (X.680 §8.6), sorted by node: the place of
    /// each field in that order.
    pub set_orders: Vec<(NodeId, Box<[u32]>)>,
    /// Encoding instructions, if there are any.
    pub instructions: Option<Box<Instructions>>,
    /// Number of key registers.
    pub registers: u16,
    /// Names of the values that keys of information object sets have in the specifications, by the component that holds the
    /// key, each list by value: for people alone.
    pub value_names: Vec<(FieldId, Vec<(i64, NameId)>)>,
    /// Names of OBJECT IDENTIFIER values in the specifications, by contents octets: for people alone.
    pub oid_names: Vec<(Vec<u8>, NameId)>,
    pub(crate) names: Vec<Box<str>>,
}

impl Shape {
    /// The characters of a name.
    pub fn name(&self, id: NameId) -> &str {
        self.names.get(id.0 as usize).map_or("", |n| n)
    }

    /// Adds a name; callers that add many keep their own map to avoid doubles.
    pub fn add_name(&mut self, name: &str) -> NameId {
        self.names.push(name.into());
        NameId(self.names.len() as u32 - 1)
    }

    /// All names with their ids.
    pub fn names(&self) -> impl Iterator<Item = (NameId, &str)> {
        self.names.iter().enumerate().map(|(i, n)| (NameId(i as u32), &**n))
    }

    /// The name of the value reference that an information object has as its key, for the value of a component that holds it.
    pub fn value_name(&self, field: FieldId, value: i64) -> Option<&str> {
        let at = self.value_names.binary_search_by_key(&field, |(field, _)| *field).ok()?;
        let names = &self.value_names[at].1;
        let at = names.binary_search_by_key(&value, |(value, _)| *value).ok()?;
        Some(self.name(names[at].1))
    }

    /// The name of an OBJECT IDENTIFIER value in the specifications, by its contents octets.
    pub fn oid_name(&self, contents: &[u8]) -> Option<&str> {
        let at = self.oid_names.binary_search_by(|(known, _)| (**known).cmp(contents)).ok()?;
        Some(self.name(self.oid_names[at].1))
    }

    /// A node by its id.
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.index()]
    }

    /// Returns the name of the type of an outermost value: that of its only root, else the name of the node.
    pub fn type_name(&self, node: NodeId) -> Option<&str> {
        let mut roots = self.roots.iter().filter(|root| root.node == node);
        if let (Some(root), None) = (roots.next(), roots.next()) {
            let name = self.name(root.name);
            return Some(name.split_once('.').map_or(name, |(_, name)| name));
        }
        self.nodes.get(node.index())?.name.map(|name| self.name(name))
    }

    /// A field by its id.
    pub fn field(&self, id: FieldId) -> &Field {
        &self.fields[id.index()]
    }

    /// The fields of a node with their ids.
    pub fn fields_of(&self, id: NodeId) -> impl DoubleEndedIterator<Item = (FieldId, &Field)> {
        let node = self.node(id);
        let first = node.first as usize;
        let fields = &self.fields[first..first + node.count as usize];
        fields.iter().enumerate().map(move |(i, f)| (FieldId((first + i) as u32), f))
    }

    /// Returns the field of a node for a field of another node of the same type; the field itself if it belongs to the node.
    /// A root with separate constraints has a separate node, and so separate fields.
    pub fn own_field(&self, id: NodeId, field: FieldId) -> FieldId {
        let node = self.node(id);
        if (node.first..node.first + node.count).contains(&field.0) {
            return field;
        }
        let name = self.field(field).name;
        self.fields_of(id).find(|(_, own)| own.name == name).map_or(field, |(own, _)| own)
    }

    /// The items of a node: named numbers, enumeration items, named bits.
    #[inline]
    pub fn items_of(&self, id: NodeId) -> &[Item] {
        let node = self.node(id);
        &self.items[node.item_first as usize..(node.item_first + node.item_count) as usize]
    }

    /// The name of an enumeration item or named number.
    pub fn item_name(&self, id: NodeId, value: i64) -> Option<&str> {
        let items = self.items_of(id);
        let at = items.binary_search_by_key(&value, |item| item.value).ok()?;
        Some(self.name(items[at].name))
    }

    /// A root by `Module.Type`, or by `Type` where only one module has it.
    pub fn root(&self, name: &str) -> Option<NodeId> {
        let mut found = self.roots.iter().filter(|r| is_same_name(self.name(r.name), name));
        let first = found.next()?;
        match found.next() {
            None => Some(first.node),
            Some(_) => self.roots.iter().find(|r| self.name(r.name) == name).map(|r| r.node),
        }
    }

    /// The place of a component of a SET in the order of tags.
    pub fn place_in_set(&self, set: NodeId, field: FieldId) -> u32 {
        let number = field.0.wrapping_sub(self.node(set).first);
        let order = self.set_orders.binary_search_by_key(&set, |(node, _)| *node);
        let order = order.ok().and_then(|at| self.set_orders.get(at));
        order.and_then(|(_, places)| places.get(number as usize).copied()).unwrap_or(number)
    }

    /// The least size that the constraints of a node allow; 0 without one.
    pub fn least_size(&self, id: NodeId) -> usize {
        self.sizes(id).0
    }

    /// Returns the least and the greatest size that the constraints of a node allow.
    pub fn sizes(&self, id: NodeId) -> (usize, usize) {
        let constraint = self.node(id).constraint.and_then(|c| self.constraints.get(c as usize));
        let size = constraint.filter(|c| !c.extensible).and_then(|c| c.size);
        let (least, most) = size.unwrap_or_default();
        let bounded = |size: u64| usize::try_from(size).unwrap_or(usize::MAX);
        (bounded(least), bounded(most.unwrap_or(u64::MAX)))
    }

    /// Returns whether a node is a BIT STRING with named bits: zero bits at its end mean nothing (X.680 22.7).
    pub fn has_named_bits(&self, id: NodeId) -> bool {
        let node = self.node(id);
        node.kind == Kind::BitString && node.item_count > 0
    }

    /// The type inside an open type: the one that the keys select, or the only one that the constraint names.
    pub fn selected(&self, open: NodeId, registers: &[Option<Key>]) -> Option<NodeId> {
        let table = self.node(open).table.as_ref()?;
        if table.keys.is_empty() {
            let rows = &self.tables.get(table.table as usize)?.rows;
            return rows.first().filter(|_| rows.len() == 1).map(|row| row.node);
        }
        let keys = table.keys.iter().map(|register| registers.get(usize::from(*register))?.clone());
        let keys: Option<Vec<Key>> = keys.collect();
        self.row(table.table, &keys?).map(|row| row.node)
    }

    /// The name of what is inside an open type: as its table has it, else the type's own, else the standard's.
    pub fn content_name(&self, open: NodeId, content: NodeId) -> &str {
        let row = self.rows_of(open).iter().find(|row| row.node == content);
        let Some(node) = self.nodes.get(content.index()) else { return "" };
        let name = row.and_then(|row| row.type_name).or(node.name);
        name.map_or_else(|| node.kind.name(), |name| self.name(name))
    }

    /// The type of that name for the inside of an open type: the one that the keys select, one of its table, a root, any,
    /// or one without a name of its own.
    pub fn content_named(&self, open: NodeId, name: &str, selected: Option<NodeId>) -> Option<NodeId> {
        let is_it = |id: Option<NameId>| id.is_some_and(|id| self.name(id) == name);
        let by_name = |id: NodeId| self.nodes.get(id.index()).is_some_and(|node| is_it(node.name));
        let built_in = |id: &NodeId| {
            self.nodes.get(id.index()).is_some_and(|node| node.name.is_none() && node.kind.name() == name)
        };
        let rows = self.rows_of(open);
        selected
            .filter(|id| by_name(*id))
            .or_else(|| rows.iter().find(|row| is_it(row.type_name) || by_name(row.node)).map(|row| row.node))
            .or_else(|| self.root(name))
            .or_else(|| self.nodes.iter().position(|node| is_it(node.name)).map(|at| NodeId(at as u32)))
            .or_else(|| selected.into_iter().chain(rows.iter().map(|row| row.node)).find(built_in))
    }

    fn rows_of(&self, open: NodeId) -> &[Row] {
        let table = self.nodes.get(open.index()).and_then(|node| node.table.as_ref());
        table.and_then(|table| self.tables.get(table.table as usize)).map_or(&[], |table| &table.rows)
    }

    /// The row of a table with these keys.
    pub fn row(&self, table: u32, keys: &[Key]) -> Option<&Row> {
        let rows = &self.tables[table as usize].rows;
        rows.binary_search_by(|row| row.keys.as_slice().cmp(keys)).ok().map(|at| &rows[at])
    }
}

#[cfg(test)]
mod tests {
    use super::Kind;
    use tercet_runtime::text::StringKind;

    #[test]
    fn leaves_are_all_kinds_before_the_constructed_ones() {
        assert_eq!(Kind::LEAVES.len(), Kind::Sequence as usize);
        assert!(Kind::LEAVES.is_sorted() && Kind::LEAVES.iter().all(|kind| *kind < Kind::Sequence));
    }

    #[test]
    fn each_kind_of_strings_is_a_type() {
        for kind in StringKind::ALL {
            assert_eq!(Kind::of_string(*kind).string_kind(), Some(*kind));
        }
        assert_eq!(Kind::of_string(StringKind::Graphic), Kind::GraphicString);
    }
}
