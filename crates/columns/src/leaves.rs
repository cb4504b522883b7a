//! Values of a leaf, written to a column of a Parquet file.

use crate::levels::Levels;
use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Decimal128Type, Float64Type, Int16Type, Int64Type, Time64MicrosecondType,
    TimestampMicrosecondType,
};
use arrow_array::{Array, ArrayRef, ArrowPrimitiveType};
use arrow_buffer::Buffer;
use arrow_schema::DataType;
use bytes::Bytes;
use parquet::column::writer::{ColumnWriter, ColumnWriterImpl};
use parquet::data_type::{ByteArray, DataType as ParquetType, FixedLenByteArray};
use parquet::errors::ParquetError;

/// Writes the values at some indices of an array, with the levels of all.
///
/// # Errors
/// Those of Parquet: none are known, but for a type that no column of ours has.
pub(crate) fn write(
    writer: &mut ColumnWriter<'_>,
    array: &ArrayRef,
    present: &[usize],
    levels: &Levels,
) -> Result<(), ParquetError> {
    match (writer, array.data_type()) {
        (ColumnWriter::BoolColumnWriter(writer), DataType::Boolean) => {
            let values = array.as_boolean().values();
            batch(writer, present.iter().map(|index| values.value(*index)), levels)
        }
        (ColumnWriter::Int32ColumnWriter(writer), DataType::Int16) => {
            batch(writer, numbers::<Int16Type>(array, present).map(i32::from), levels)
        }
        (ColumnWriter::Int32ColumnWriter(writer), DataType::Date32) => {
            batch(writer, numbers::<Date32Type>(array, present), levels)
        }
        (ColumnWriter::Int64ColumnWriter(writer), DataType::Int64) => {
            batch(writer, numbers::<Int64Type>(array, present), levels)
        }
        (ColumnWriter::Int64ColumnWriter(writer), DataType::Time64(_)) => {
            batch(writer, numbers::<Time64MicrosecondType>(array, present), levels)
        }
        (ColumnWriter::Int64ColumnWriter(writer), DataType::Timestamp(..)) => {
            batch(writer, numbers::<TimestampMicrosecondType>(array, present), levels)
        }
        (ColumnWriter::DoubleColumnWriter(writer), DataType::Float64) => {
            batch(writer, numbers::<Float64Type>(array, present), levels)
        }
        (ColumnWriter::FixedLenByteArrayColumnWriter(writer), DataType::Decimal128(..)) => {
            let octets = |number: i128| FixedLenByteArray::from(number.to_be_bytes().to_vec());
            batch(writer, numbers::<Decimal128Type>(array, present).map(octets), levels)
        }
        (ColumnWriter::ByteArrayColumnWriter(writer), DataType::Utf8) => {
            let texts = array.as_string::<i32>();
            batch(writer, texts_of(texts.values(), texts.value_offsets(), present), levels)
        }
        (ColumnWriter::ByteArrayColumnWriter(writer), DataType::Binary) => {
            let texts = array.as_binary::<i32>();
            batch(writer, texts_of(texts.values(), texts.value_offsets(), present), levels)
        }
        (_, other) => Err(ParquetError::NYI(format!("columns of {other}"))),
    }
}

fn numbers<T: ArrowPrimitiveType>(
    array: &ArrayRef,
    present: &[usize],
) -> impl ExactSizeIterator<Item = T::Native> {
    let values = array.as_primitive::<T>().values();
    present.iter().map(|index| values[*index])
}

/// Texts without copies of their octets.
fn texts_of(octets: &Buffer, offsets: &[i32], present: &[usize]) -> impl ExactSizeIterator<Item = ByteArray> {
    let octets = Bytes::from_owner(octets.clone());
    present.iter().map(move |&index| {
        ByteArray::from(octets.slice(offsets[index] as usize..offsets[index + 1] as usize))
    })
}

fn batch<T: ParquetType>(
    writer: &mut ColumnWriterImpl<'_, T>,
    values: impl ExactSizeIterator<Item = T::T>,
    levels: &Levels,
) -> Result<(), ParquetError> {
    let values: Vec<T::T> = values.collect();
    writer.write_batch(&values, Some(&levels.definition), levels.repetition.as_deref())?;
    Ok(())
}
