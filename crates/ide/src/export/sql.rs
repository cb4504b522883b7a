//! CREATE TABLE, of the columns that `convert --flat` gives: a table for each type, a column for each component.

use super::{Table, own};
use std::collections::HashSet;
use std::fmt::Write as _;
use tercet_schema::columns::DataType;

pub(super) fn text(tables: &[Table]) -> String {
    let mut text = String::new();
    let mut used = HashSet::new();
    for (name, schema) in tables {
        if !text.is_empty() {
            text.push('\n');
        }
        // Two modules may have types of one name.
        let table = if used.insert(own(name).to_lowercase()) { own(name) } else { name };
        _ = write!(text, "CREATE TABLE {} (", quoted(table));
        for (index, field) in schema.fields().iter().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            _ = write!(text, "{comma}\n    {} {}", quoted(field.name()), data_type(field.data_type()));
        }
        text.push_str("\n);\n");
    }
    text
}

/// A name in quotes, as standard SQL has them: names of components have capital letters, hyphens and dots.
fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// The name of a type in standard SQL, as DuckDB and PostgreSQL have it.
fn data_type(data_type: &DataType) -> String {
    match data_type {
        DataType::Boolean => "BOOLEAN".to_owned(),
        DataType::Int16 => "SMALLINT".to_owned(),
        DataType::Int64 => "BIGINT".to_owned(),
        DataType::Float64 => "DOUBLE PRECISION".to_owned(),
        DataType::Binary => "BYTEA".to_owned(),
        DataType::Decimal128(digits, places) => format!("DECIMAL({digits}, {places})"),
        DataType::Date32 => "DATE".to_owned(),
        DataType::Time64(_) => "TIME".to_owned(),
        DataType::Timestamp(..) => "TIMESTAMP WITH TIME ZONE".to_owned(),
        // Lists are JSON text in these columns.
        _ => "TEXT".to_owned(),
    }
}
