//! Columns of a batch of which nothing is there.

use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Decimal128Type, Float64Type, Int16Type, Int64Type, Time64MicrosecondType,
    TimestampMicrosecondType,
};
use arrow_array::{
    ArrayRef, BinaryArray, BooleanArray, ListArray, PrimitiveArray, StringArray, StructArray, new_null_array,
};
use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::{ArrowError, DataType};
use std::sync::Arc;

/// Columns of one length with nothing in them. A specification may have thousands of columns, most of which no record of
/// a batch has: all of them share the same octets.
pub(crate) struct Nulls {
    pub(crate) len: usize,
    nulls: NullBuffer,
    offsets: OffsetBuffer<i32>,
    /// As many as the widest kind of column takes.
    zeros: Buffer,
}

impl Nulls {
    pub(crate) fn new(len: usize) -> Self {
        let zeros = Buffer::from_vec(vec![0_i128; len + 1]);
        Self {
            len,
            nulls: NullBuffer::new_null(len),
            offsets: OffsetBuffer::new(ScalarBuffer::new(zeros.clone(), 0, len + 1)),
            zeros,
        }
    }

    pub(crate) fn column(&self, data_type: &DataType) -> Result<ArrayRef, ArrowError> {
        let nulls = Some(self.nulls.clone());
        let (zeros, offsets) = (self.zeros.clone(), self.offsets.clone());
        Ok(match data_type {
            DataType::Struct(fields) => {
                let columns = fields.iter().map(|field| self.column(field.data_type()));
                Arc::new(StructArray::try_new(fields.clone(), columns.collect::<Result<_, _>>()?, nulls)?)
            }
            DataType::List(element) => {
                let elements = Self::new(0).column(element.data_type())?;
                Arc::new(ListArray::try_new(Arc::clone(element), offsets, elements, nulls)?)
            }
            DataType::Boolean => Arc::new(BooleanArray::new(BooleanBuffer::new(zeros, 0, self.len), nulls)),
            DataType::Utf8 => Arc::new(StringArray::try_new(offsets, Buffer::default(), nulls)?),
            DataType::Binary => Arc::new(BinaryArray::try_new(offsets, Buffer::default(), nulls)?),
            DataType::Int16 => self.numbers::<Int16Type>(data_type)?,
            DataType::Int64 => self.numbers::<Int64Type>(data_type)?,
            DataType::Float64 => self.numbers::<Float64Type>(data_type)?,
            DataType::Decimal128(..) => self.numbers::<Decimal128Type>(data_type)?,
            DataType::Date32 => self.numbers::<Date32Type>(data_type)?,
            DataType::Time64(_) => self.numbers::<Time64MicrosecondType>(data_type)?,
            DataType::Timestamp(..) => self.numbers::<TimestampMicrosecondType>(data_type)?,
            other => new_null_array(other, self.len),
        })
    }

    fn numbers<T: ArrowPrimitiveType>(&self, data_type: &DataType) -> Result<ArrayRef, ArrowError> {
        let values = ScalarBuffer::new(self.zeros.clone(), 0, self.len);
        let array = PrimitiveArray::<T>::try_new(values, Some(self.nulls.clone()))?;
        Ok(Arc::new(array.with_data_type(data_type.clone())))
    }
}
