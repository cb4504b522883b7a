//! Names of elements (X.680 clauses 12 and 14) and of characters that XML cannot have.

use crate::path::last;
use std::borrow::Cow;
use tercet_plan::shape::Field;
use tercet_plan::{Kind, NodeId, Shape};

/// The names of the control characters 0 to 31 (X.680 12.15.5); the three empty ones are white space in XML.
pub(super) const CONTROLS: [&str; 32] = [
    "nul", "soh", "stx", "etx", "eot", "enq", "ack", "bel", "bs", "", "", "vt", "ff", "", "so", "si", "dle",
    "dc1", "dc2", "dc3", "dc4", "nak", "syn", "etb", "can", "em", "sub", "esc", "is4", "is3", "is2", "is1",
];

/// The control character of a name.
pub(super) fn control(name: &str) -> Option<char> {
    let at = CONTROLS.iter().position(|known| *known == name && !name.is_empty())?;
    char::from_u32(at as u32)
}

/// What a type is called as an element: the reference without its parameters, low lines for spaces and hyphens of the
/// standard's own names (X.680 Table 4), and one more in front of a name that begins like XML (X.680 14.3).
pub(super) fn element_name(name: &str) -> Cow<'_, str> {
    let name = name.split('{').next().unwrap_or(name).trim_end_matches(['_', ' ']);
    let builtin =
        matches!(name, "RELATIVE-OID" | "OID-IRI" | "RELATIVE-OID-IRI" | "TIME-OF-DAY" | "DATE-TIME");
    if builtin || name.contains(' ') {
        return Cow::Owned(name.replace([' ', '-'], "_"));
    }
    if name.get(..3).is_some_and(|begin| begin.eq_ignore_ascii_case("xml")) {
        return Cow::Owned(format!("_{name}"));
    }
    Cow::Borrowed(name)
}

/// The name of an element of a SEQUENCE OF or SET OF.
pub(super) fn item_name<'a>(shape: &'a Shape, field: &Field) -> Cow<'a, str> {
    let name = shape.name(field.name);
    if is_identifier(name) { Cow::Borrowed(name) } else { element_name(name) }
}

/// Whether the elements of a list stand there without an element around each (X.680 Table 5).
pub(super) fn is_value_list(shape: &Shape, element: &Field) -> bool {
    matches!(shape.node(element.node).kind, Kind::Boolean | Kind::Enumerated | Kind::Choice)
        && !is_identifier(shape.name(element.name))
}

fn is_identifier(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_lowercase())
}

/// The name of a type that a root has.
pub(super) fn root_name(shape: &Shape, node: NodeId) -> Cow<'_, str> {
    match shape.nodes.get(node.index()) {
        Some(it) => element_name(it.name.map_or_else(|| Kind::name(it.kind), |name| shape.name(name))),
        None => Cow::Borrowed("value"),
    }
}

/// The name of the outermost element: of the root that has the type, if there is just one.
pub(super) fn outermost_name(shape: &Shape, node: NodeId) -> Cow<'_, str> {
    match shape.type_name(node) {
        Some(name) => element_name(name),
        None => root_name(shape, node),
    }
}

/// The name of a type as the content of an open type: that of the table's row, or its own.
pub(super) fn content_name(shape: &Shape, open: NodeId, content: NodeId) -> Cow<'_, str> {
    let table = shape.nodes.get(open.index()).and_then(|node| node.table.as_ref());
    let rows = table.and_then(|table| shape.tables.get(table.table as usize)).map(|table| &table.rows);
    let row = rows.and_then(|rows| rows.iter().find(|row| row.node == content && row.type_name.is_some()));
    match row.and_then(|row| row.type_name) {
        Some(name) => element_name(last(shape.name(name))),
        None => root_name(shape, content),
    }
}
