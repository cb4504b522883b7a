//! Schemas of Avro (.avsc), of the columns that `convert` gives: structs as records, absent values as null.

use super::{Table, own, word};
use serde_json::{Map, Value, json};
use std::collections::HashSet;
use tercet_schema::columns::DataType;

pub(super) fn text(tables: &[Table]) -> String {
    let mut used = HashSet::new();
    let records: Vec<Value> = tables
        .iter()
        .map(|(name, schema)| {
            let namespace = name.split_once('.').map(|(module, _)| word(module));
            let mut record = record(
                &word(own(name)),
                schema.fields().iter().map(|it| (it.name().as_str(), it.data_type())),
                &mut used,
            );
            if let (Some(namespace), Value::Object(record)) = (namespace, &mut record) {
                record.insert("namespace".into(), namespace.into());
            }
            record
        })
        .collect();
    let whole = match records.len() {
        1 => records.into_iter().next().unwrap_or_default(),
        _ => records.into(),
    };
    serde_json::to_string_pretty(&whole).unwrap_or_default() + "\n"
}

fn record<'a>(
    name: &str,
    fields: impl Iterator<Item = (&'a str, &'a DataType)>,
    used: &mut HashSet<String>,
) -> Value {
    let unique = |base: &str, used: &mut HashSet<String>| {
        let (mut name, mut number) = (base.to_owned(), 2);
        while !used.insert(name.clone()) {
            name = format!("{base}_{number}");
            number += 1;
        }
        name
    };
    let name = unique(name, used);
    let mut members = HashSet::new();
    let mut list = Vec::new();
    for (own_name, column) in fields {
        let member = unique(&word(own_name), &mut members);
        let data_type = data_type(&format!("{name}_{member}"), column, used);
        let mut object = Map::new();
        object.insert("name".into(), member.as_str().into());
        object.insert("type".into(), json!(["null", data_type]));
        object.insert("default".into(), Value::Null);
        if member != own_name {
            object.insert("doc".into(), format!("`{own_name}` in ASN.1").into());
        }
        list.push(Value::Object(object));
    }
    json!({"type": "record", "name": name, "fields": list})
}

fn data_type(path: &str, data_type: &DataType, used: &mut HashSet<String>) -> Value {
    match data_type {
        DataType::Boolean => "boolean".into(),
        DataType::Int16 => "int".into(),
        DataType::Int64 => "long".into(),
        DataType::Float64 => "double".into(),
        DataType::Binary => "bytes".into(),
        DataType::Decimal128(digits, places) => {
            json!({"type": "bytes", "logicalType": "decimal", "precision": digits, "scale": places})
        }
        DataType::Date32 => json!({"type": "int", "logicalType": "date"}),
        DataType::Time64(_) => json!({"type": "long", "logicalType": "time-micros"}),
        DataType::Timestamp(..) => json!({"type": "long", "logicalType": "timestamp-micros"}),
        DataType::Struct(fields) => {
            record(path, fields.iter().map(|it| (it.name().as_str(), it.data_type())), used)
        }
        DataType::List(element) => {
            let items = self::data_type(&format!("{path}_item"), element.data_type(), used);
            json!({"type": "array", "items": ["null", items]})
        }
        _ => "string".into(),
    }
}
