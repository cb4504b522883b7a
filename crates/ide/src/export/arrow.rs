//! Schemas of Arrow in JSON, as Arrow's integration tests have them, of the columns that `convert` gives.

use super::Table;
use serde_json::{Value, json};
use tercet_schema::columns::DataType;

pub(super) fn text(tables: &[Table]) -> String {
    let schemas = tables.iter().map(|(name, schema)| {
        let fields: Vec<Value> =
            schema.fields().iter().map(|it| field(it.name(), it.data_type(), it.is_nullable())).collect();
        json!({"schema": {"fields": fields, "metadata": [{"key": "asn1.type", "value": name}]}})
    });
    let mut schemas: Vec<Value> = schemas.collect();
    let whole = if schemas.len() == 1 { schemas.remove(0) } else { schemas.into() };
    serde_json::to_string_pretty(&whole).unwrap_or_default() + "\n"
}

fn field(name: &str, column: &DataType, nullable: bool) -> Value {
    let children: Vec<Value> = match column {
        DataType::Struct(fields) => {
            fields.iter().map(|it| field(it.name(), it.data_type(), it.is_nullable())).collect()
        }
        DataType::List(element) => vec![field(element.name(), element.data_type(), element.is_nullable())],
        _ => Vec::new(),
    };
    json!({"name": name, "nullable": nullable, "type": data_type(column), "children": children})
}

fn data_type(data_type: &DataType) -> Value {
    match data_type {
        DataType::Boolean => json!({"name": "bool"}),
        DataType::Int16 => json!({"name": "int", "bitWidth": 16, "isSigned": true}),
        DataType::Int64 => json!({"name": "int", "bitWidth": 64, "isSigned": true}),
        DataType::Float64 => json!({"name": "floatingpoint", "precision": "DOUBLE"}),
        DataType::Binary => json!({"name": "binary"}),
        DataType::Decimal128(digits, places) => {
            json!({"name": "decimal", "precision": digits, "scale": places, "bitWidth": 128})
        }
        DataType::Date32 => json!({"name": "date", "unit": "DAY"}),
        DataType::Time64(_) => json!({"name": "time", "unit": "MICROSECOND", "bitWidth": 64}),
        DataType::Timestamp(_, zone) => {
            json!({"name": "timestamp", "unit": "MICROSECOND", "timezone": zone.as_deref()})
        }
        DataType::Struct(_) => json!({"name": "struct"}),
        DataType::List(_) => json!({"name": "list"}),
        _ => json!({"name": "utf8"}),
    }
}
