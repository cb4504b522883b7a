//! The types of specifications in the languages of other tools: JSON Schema, Avro, Arrow, SQL and Python.
//!
//! ```
//! use tercet_ide::export;
//! use tercet_schema::{Rules, Schema};
//! let schema = Schema::from_text("a.asn", "A DEFINITIONS ::= BEGIN Age ::= INTEGER (0..150) END");
//! let plan = schema.plan(Rules::Ber, &["Age"]).unwrap();
//! assert!(export::json_schema(&plan).contains(r#""maximum": 150"#));
//! ```

#[cfg(feature = "columns")]
mod arrow;
#[cfg(feature = "columns")]
mod avro;
mod json_schema;
mod python;
#[cfg(feature = "columns")]
mod sql;

use std::collections::{HashMap, HashSet};
use tercet_schema::plan::shape::Constraint;
use tercet_schema::plan::{Kind, NodeId, Plan, Shape};

/// The columns of a type: its name as `Module.Type`, and what they are.
#[cfg(feature = "columns")]
pub type Table = (String, tercet_schema::columns::SchemaRef);

/// Returns a JSON Schema (2020-12) of the values of the roots of a plan in JER.
pub fn json_schema(plan: &Plan) -> String {
    json_schema::text(plan, &roots(plan))
}

/// Returns Python types of the values of the roots of a plan, as `tercet.Schema.decode` returns them.
pub fn python(plan: &Plan) -> String {
    python::text(plan, &roots(plan))
}

/// Returns schemas of Avro (`.avsc`) for tables.
#[cfg(feature = "columns")]
pub fn avro(tables: &[Table]) -> String {
    avro::text(tables)
}

/// Returns schemas of Arrow for tables, in the JSON of Arrow's integration tests.
#[cfg(feature = "columns")]
pub fn arrow(tables: &[Table]) -> String {
    arrow::text(tables)
}

/// Returns a CREATE TABLE for each of some tables without structs.
#[cfg(feature = "columns")]
pub fn sql(tables: &[Table]) -> String {
    sql::text(tables)
}

/// The roots of a plan by their names.
fn roots(plan: &Plan) -> Vec<(String, NodeId)> {
    plan.shape.roots.iter().map(|root| (plan.shape.name(root.name).to_owned(), root.node)).collect()
}

/// A name without its module.
fn own(name: &str) -> &str {
    let end = name.find('{').unwrap_or(name.len());
    name[..end].rsplit('.').next().unwrap_or(name).trim()
}

/// A name of letters, digits and low lines.
fn word(name: &str) -> String {
    let text: String = name.chars().map(|it| if it.is_ascii_alphanumeric() { it } else { '_' }).collect();
    let text = text.trim_end_matches('_').to_owned();
    if text.starts_with(|first: char| first.is_ascii_digit()) { format!("_{text}") } else { text }
}

/// Definitions that types refer to by name.
struct Names {
    /// The nodes with a definition, in the order in which they are met from the roots.
    order: Vec<NodeId>,
    names: HashMap<NodeId, String>,
}

impl Names {
    /// Gives names to the nodes that can be reached: those with a name of their own, and with `all_structs` every SEQUENCE, SET
    /// and CHOICE.
    fn new(
        shape: &Shape,
        roots: &[(String, NodeId)],
        all_structs: bool,
        spelled: fn(&str) -> String,
    ) -> Self {
        let mut names = Self { order: Vec::new(), names: HashMap::new() };
        let mut used = HashSet::new();
        let mut seen = HashSet::new();
        let mut waiting: Vec<(NodeId, String)> =
            roots.iter().rev().map(|(name, node)| (*node, spelled(own(name)))).collect();
        let given: HashSet<NodeId> = roots.iter().map(|(_, node)| *node).collect();
        while let Some((id, path)) = waiting.pop() {
            if !seen.insert(id) {
                continue;
            }
            let node = shape.node(id);
            let own_name = node.name.map(|name| spelled(own(shape.name(name))));
            let is_struct = matches!(node.kind, Kind::Sequence | Kind::Set | Kind::Choice);
            let is_worth = node.kind.is_constructed() || node.kind == Kind::Enumerated;
            let mut here = path.clone();
            if given.contains(&id) || is_worth && own_name.is_some() || all_structs && is_struct {
                let base = if given.contains(&id) { path } else { own_name.unwrap_or(path) };
                let mut name = base.clone();
                let mut number = 2;
                while !used.insert(name.clone()) {
                    name = format!("{base}_{number}");
                    number += 1;
                }
                here.clone_from(&name);
                names.names.insert(id, name);
                names.order.push(id);
            }
            let mut parts: Vec<(NodeId, String)> = Vec::new();
            for (_, field) in shape.fields_of(id) {
                parts.push((field.node, format!("{here}_{}", spelled(shape.name(field.name)))));
            }
            if let Some(inner) = node.containing {
                parts.push((inner, format!("{here}_content")));
            }
            for row in rows(shape, id) {
                parts.push((row, format!("{here}_content")));
            }
            waiting.extend(parts.into_iter().rev());
        }
        names
    }

    fn get(&self, node: NodeId) -> Option<&str> {
        self.names.get(&node).map(String::as_str)
    }
}

/// The types in the table of an open type.
fn rows(shape: &Shape, node: NodeId) -> impl Iterator<Item = NodeId> {
    let table = shape.node(node).table.as_ref().and_then(|table| shape.tables.get(table.table as usize));
    table.into_iter().flat_map(|table| table.rows.iter().map(|row| row.node))
}

/// The bounds of a node's values, if no others are allowed.
fn bounds(shape: &Shape, node: NodeId) -> Option<&Constraint> {
    let constraint = shape.constraints.get(shape.node(node).constraint? as usize)?;
    (!constraint.extensible).then_some(constraint)
}
