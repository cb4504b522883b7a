//! What stands in a cell of a batch as text for people.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Decimal128Type, Float64Type, Int32Type, Int64Type, Time64MicrosecondType,
    TimestampMicrosecondType, UInt32Type, UInt64Type,
};
use arrow_array::{Array, RecordBatch};
use arrow_schema::{DataType, FieldRef};
use std::fmt::Write as _;

/// The name of the type of a column, as Arrow's libraries write it: `list<item: int64>`.
pub fn type_name(data_type: &DataType) -> String {
    let inside = |fields: &[FieldRef]| {
        let one = |field: &FieldRef| format!("{}: {}", field.name(), type_name(field.data_type()));
        fields.iter().map(one).collect::<Vec<_>>().join(", ")
    };
    match data_type {
        DataType::Boolean => "bool".to_owned(),
        DataType::Int32 => "int32".to_owned(),
        DataType::Int64 => "int64".to_owned(),
        DataType::UInt32 => "uint32".to_owned(),
        DataType::UInt64 => "uint64".to_owned(),
        DataType::Float64 => "double".to_owned(),
        DataType::Decimal128(digits, places) => format!("decimal128({digits}, {places})"),
        DataType::Utf8 => "string".to_owned(),
        DataType::Binary => "binary".to_owned(),
        DataType::FixedSizeBinary(size) => format!("fixed_size_binary[{size}]"),
        DataType::Timestamp(_, Some(zone)) => format!("timestamp[us, tz={zone}]"),
        DataType::Timestamp(_, None) => "timestamp[us]".to_owned(),
        DataType::Date32 => "date32[day]".to_owned(),
        DataType::Time64(_) => "time64[us]".to_owned(),
        DataType::List(item) => format!("list<{}>", inside(std::slice::from_ref(item))),
        DataType::Struct(fields) => format!("struct<{}>", inside(fields)),
        other => other.to_string(),
    }
}

/// Characters after which the text of a cell is cut.
const MOST: usize = 200;
/// Cells inside one another that are shown.
const DEPTH: u8 = 16;

/// The text of a cell, cut if it is long; nothing if the cell is null. Structs are `{name: value, …}` without what is null,
/// lists `[value, …]`, binary is in hexadecimal.
pub fn cell(batch: &RecordBatch, column: usize, row: usize) -> Option<String> {
    let array = batch.columns().get(column).filter(|array| row < array.len() && !array.is_null(row))?;
    let mut out = String::new();
    push(&**array, row, &mut out, DEPTH);
    if let Some((at, _)) = out.char_indices().nth(MOST) {
        out.truncate(at);
        out.push('…');
    }
    Some(out)
}

fn push(array: &dyn Array, row: usize, out: &mut String, depth: u8) {
    // More than is shown need not be made.
    if out.len() > 4 * MOST || depth == 0 {
        return;
    }
    if array.is_null(row) {
        out.push_str("null");
        return;
    }
    _ = match array.data_type() {
        DataType::Boolean => write!(out, "{}", array.as_boolean().value(row)),
        DataType::Int32 => write!(out, "{}", array.as_primitive::<Int32Type>().value(row)),
        DataType::Int64 => write!(out, "{}", array.as_primitive::<Int64Type>().value(row)),
        DataType::UInt32 => write!(out, "{}", array.as_primitive::<UInt32Type>().value(row)),
        DataType::UInt64 => write!(out, "{}", array.as_primitive::<UInt64Type>().value(row)),
        DataType::Float64 => write!(out, "{}", array.as_primitive::<Float64Type>().value(row)),
        DataType::Decimal128(..) => {
            out.write_str(&array.as_primitive::<Decimal128Type>().value_as_string(row))
        }
        DataType::Utf8 => out.write_str(cut(array.as_string::<i32>().value(row))),
        DataType::Binary => hexadecimal(array.as_binary::<i32>().value(row), out),
        DataType::FixedSizeBinary(_) => hexadecimal(array.as_fixed_size_binary().value(row), out),
        DataType::Timestamp(..) => {
            shown(array.as_primitive::<TimestampMicrosecondType>().value_as_datetime(row), "Z", out)
        }
        DataType::Date32 => shown(array.as_primitive::<Date32Type>().value_as_date(row), "", out),
        DataType::Time64(_) => {
            shown(array.as_primitive::<Time64MicrosecondType>().value_as_time(row), "", out)
        }
        DataType::List(_) => {
            let items = array.as_list::<i32>().value(row);
            out.push('[');
            for item in 0..items.len() {
                if item > 0 {
                    out.push_str(", ");
                }
                push(&*items, item, out, depth - 1);
                if out.len() > 4 * MOST {
                    break;
                }
            }
            out.write_str("]")
        }
        DataType::Struct(fields) => {
            out.push('{');
            let mut first = true;
            for (field, member) in fields.iter().zip(array.as_struct().columns()) {
                if member.is_null(row) {
                    continue;
                }
                if !first {
                    out.push_str(", ");
                }
                first = false;
                _ = write!(out, "{}: ", field.name());
                push(&**member, row, out, depth - 1);
            }
            out.write_str("}")
        }
        other => write!(out, "<{other}>"),
    };
}

fn shown(value: Option<impl std::fmt::Display>, zone: &str, out: &mut String) -> std::fmt::Result {
    value.map_or(Ok(()), |value| write!(out, "{value}{zone}"))
}

fn cut(text: &str) -> &str {
    text.char_indices().nth(MOST + 1).map_or(text, |(at, _)| &text[..at])
}

fn hexadecimal(octets: &[u8], out: &mut String) -> std::fmt::Result {
    octets.iter().take(MOST).try_for_each(|octet| write!(out, "{octet:02x}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::{ArrayRef, BinaryArray, Int64Array, StringArray, StructArray};
    use arrow_schema::{Field, Fields};
    use std::sync::Arc;

    #[test]
    fn cells_are_text_for_people() {
        let number: ArrayRef = Arc::new(Int64Array::from(vec![Some(5), None]));
        let octets: ArrayRef = Arc::new(BinaryArray::from(vec![Some(&b"\x00\xff"[..]), None]));
        let long: ArrayRef = Arc::new(StringArray::from(vec!["é".repeat(1000), String::new()]));
        let fields: Fields =
            vec![Field::new("a", DataType::Int64, true), Field::new("b", DataType::Binary, true)].into();
        let both: ArrayRef =
            Arc::new(StructArray::new(fields, vec![Arc::clone(&number), Arc::clone(&octets)], None));
        let columns = [("n", number), ("o", octets), ("s", both), ("l", long)];
        let batch = RecordBatch::try_from_iter_with_nullable(columns.map(|(n, c)| (n, c, true))).unwrap();
        let texts = |row| [0, 1, 2].map(|column| cell(&batch, column, row));
        assert_eq!(texts(0), ["5", "00ff", "{a: 5, b: 00ff}"].map(|it| Some(it.to_owned())));
        assert_eq!(texts(1), [None, None, Some("{}".to_owned())]);
        assert_eq!(cell(&batch, 3, 0).unwrap().chars().count(), MOST + 1);
        let types = [0, 1, 2].map(|column| type_name(batch.schema().field(column).data_type()));
        assert_eq!(types, ["int64", "binary", "struct<a: int64, b: binary>"]);
        assert_eq!((cell(&batch, 0, 2), cell(&batch, 9, 0)), (None, None));
    }
}
