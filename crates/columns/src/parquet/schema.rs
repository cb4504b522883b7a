//! The schema of a Parquet file, from that of Arrow.

use super::thrift::Struct;
use arrow_schema::{ArrowError, DataType, Field, Schema};

/// Physical types.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Physical {
    Boolean = 0,
    Int32 = 1,
    Int64 = 2,
    Double = 5,
    ByteArray = 6,
    /// Of 16 octets here.
    FixedLenByteArray = 7,
}

/// What stands in a file about a column.
#[derive(Debug)]
pub(crate) struct Column {
    pub(crate) physical: Physical,
    /// The names from the outermost field on.
    pub(crate) path: Vec<String>,
}

/// An element of the schema, as it stands in the file.
#[derive(Debug)]
struct Element<'a> {
    name: &'a str,
    /// Optional, or repeated.
    repetition: Repetition,
    kind: ElementKind<'a>,
}

#[derive(Clone, Copy, Debug)]
enum Repetition {
    Optional = 1,
    Repeated = 2,
}

#[derive(Debug)]
enum ElementKind<'a> {
    Group { children: usize, is_list: bool },
    Leaf(Physical, &'a DataType),
}

/// The columns of a schema, and its octets in a footer: how many elements, and these.
pub(crate) fn columns(schema: &Schema) -> Result<(Vec<Column>, usize, Vec<u8>), ArrowError> {
    let (mut columns, mut elements, mut path) = (Vec::new(), Vec::new(), Vec::new());
    for field in schema.fields() {
        add(field, &mut path, &mut columns, &mut elements)?;
    }
    let mut octets = Vec::new();
    Struct::write(&mut octets, |root| {
        root.binary(4, b"arrow_schema");
        root.i32(5, schema.fields().len() as i32);
    });
    for element in &elements {
        Struct::write(&mut octets, |out| element.write(out));
    }
    Ok((columns, elements.len() + 1, octets))
}

fn add<'a>(
    field: &'a Field,
    path: &mut Vec<&'a str>,
    columns: &mut Vec<Column>,
    elements: &mut Vec<Element<'a>>,
) -> Result<(), ArrowError> {
    let group = |name, repetition, children, is_list| Element {
        name,
        repetition,
        kind: ElementKind::Group { children, is_list },
    };
    path.push(field.name());
    match field.data_type() {
        DataType::Struct(parts) => {
            elements.push(group(field.name(), Repetition::Optional, parts.len(), false));
            parts.iter().try_for_each(|part| add(part, path, columns, elements))?;
        }
        DataType::List(item) => {
            elements.push(group(field.name(), Repetition::Optional, 1, true));
            elements.push(group("list", Repetition::Repeated, 1, false));
            path.push("list");
            add(item, path, columns, elements)?;
            path.pop();
        }
        leaf => {
            let physical = physical(leaf)?;
            columns.push(Column { physical, path: path.iter().map(|&name| name.to_owned()).collect() });
            let kind = ElementKind::Leaf(physical, leaf);
            elements.push(Element { name: field.name(), repetition: Repetition::Optional, kind });
        }
    }
    path.pop();
    Ok(())
}

fn physical(leaf: &DataType) -> Result<Physical, ArrowError> {
    Ok(match leaf {
        DataType::Boolean => Physical::Boolean,
        DataType::Int16 | DataType::Date32 => Physical::Int32,
        DataType::Int64 | DataType::Time64(_) | DataType::Timestamp(..) => Physical::Int64,
        DataType::Float64 => Physical::Double,
        DataType::Utf8 | DataType::Binary => Physical::ByteArray,
        DataType::Decimal128(..) => Physical::FixedLenByteArray,
        other => return Err(ArrowError::NotYetImplemented(format!("columns of {other}"))),
    })
}

impl Element<'_> {
    fn write(&self, out: &mut Struct<'_>) {
        if let ElementKind::Leaf(physical, _) = self.kind {
            out.i32(1, physical as i32);
            if physical == Physical::FixedLenByteArray {
                out.i32(2, 16);
            }
        }
        out.i32(3, self.repetition as i32);
        out.binary(4, self.name.as_bytes());
        match self.kind {
            ElementKind::Group { children, is_list } => {
                out.i32(5, children as i32);
                if is_list {
                    out.i32(6, 3);
                    out.inner(10, |kind| kind.inner(3, |_| {}));
                }
            }
            ElementKind::Leaf(_, leaf) => write_logical(leaf, out),
        }
    }
}

/// Writes the type of a column in the two forms that readers know: the converted type, and the logical one.
fn write_logical(leaf: &DataType, out: &mut Struct<'_>) {
    let micros = |kind: &mut Struct<'_>, is_utc| {
        kind.bool(1, is_utc);
        kind.inner(2, |unit| unit.inner(2, |_| {}));
    };
    match leaf {
        DataType::Utf8 => {
            out.i32(6, 0);
            out.inner(10, |kind| kind.inner(1, |_| {}));
        }
        DataType::Decimal128(digits, places) => {
            out.i32(6, 5);
            out.i32(7, (*places).into());
            out.i32(8, (*digits).into());
            out.inner(10, |kind| {
                kind.inner(5, |decimal| {
                    decimal.i32(1, (*places).into());
                    decimal.i32(2, (*digits).into());
                });
            });
        }
        DataType::Date32 => {
            out.i32(6, 6);
            out.inner(10, |kind| kind.inner(6, |_| {}));
        }
        // Of local time there is no converted type.
        DataType::Time64(_) => out.inner(10, |kind| kind.inner(7, |time| micros(time, false))),
        DataType::Timestamp(..) => {
            out.i32(6, 10);
            out.inner(10, |kind| kind.inner(8, |time| micros(time, true)));
        }
        DataType::Int16 => {
            out.i32(6, 16);
            out.inner(10, |kind| {
                kind.inner(10, |integer| {
                    integer.byte(1, 16);
                    integer.bool(2, true);
                });
            });
        }
        _ => {}
    }
}
