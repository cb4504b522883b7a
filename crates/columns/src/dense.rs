//! Rows as record batches of Arrow, whose arrays have a place for what is absent.

use crate::builder::{Builder, Rows};
use crate::flat::flat_columns;
use crate::layout::{DIGITS, PLACES, ROOT, What};
use crate::nulls::Nulls;
use crate::store::{Names, Store, Texts, Values};
use arrow_array::types::Decimal128Type;
use arrow_array::{
    ArrayRef, BinaryArray, BooleanArray, Date32Array, Decimal128Array, Float64Array, Int16Array, Int64Array,
    ListArray, PrimitiveArray, RecordBatch, RecordBatchOptions, StringArray, StructArray,
    Time64MicrosecondArray, TimestampMicrosecondArray,
};
use arrow_buffer::{
    ArrowNativeType, BooleanBuffer, BooleanBufferBuilder, Buffer, NullBuffer, OffsetBuffer, ScalarBuffer,
};
use arrow_schema::{ArrowError, DataType};
use std::sync::Arc;

impl Builder<'_> {
    /// The rows so far as a batch; the builder begins anew.
    ///
    /// # Errors
    /// Those of Arrow; none are known.
    pub fn finish(&mut self) -> Result<RecordBatch, ArrowError> {
        let mut rows = self.take();
        let count = rows.count;
        let nulls = Nulls::new(count);
        let before = std::mem::take(&mut rows.before).into_iter().map(|store| store.leaf(count));
        let mut columns = before.collect::<Result<Vec<_>, _>>()?;
        let schema = Arc::clone(self.layout().nested());
        let mut types = schema.fields().iter().skip(columns.len()).map(|f| f.data_type());
        match self.layout().what(ROOT) {
            What::Group | What::Choice(_) => self.parts(&mut rows, ROOT, types, &nulls, &mut columns)?,
            _ => {
                if let Some(data_type) = types.next() {
                    columns.push(self.column(&mut rows, ROOT, data_type, &nulls)?);
                }
            }
        }
        let options = RecordBatchOptions::new().with_row_count(Some(count));
        if self.layout().options.flat {
            columns = flat_columns(&columns);
        }
        let batch = RecordBatch::try_new_with_options(self.schema(), columns, &options)?;
        if rows.dropped.is_empty() {
            return Ok(batch);
        }
        let mut keep = vec![true; count];
        for row in rows.dropped {
            keep[row] = false;
        }
        arrow_select::filter::filter_record_batch(&batch, &BooleanArray::from(keep))
    }

    /// The columns of the parts of a place, each of the length of null ones.
    fn parts<'t>(
        &self,
        rows: &mut Rows,
        place: u32,
        mut types: impl Iterator<Item = &'t DataType>,
        nulls: &Nulls,
        columns: &mut Vec<ArrayRef>,
    ) -> Result<(), ArrowError> {
        if let Values::Group(Some(names)) = &rows.stores[place as usize].values {
            columns.push(names.array(|field| self.alternative(field), nulls.len)?);
            types.next();
        }
        for part in self.layout().parts(place) {
            let Some(data_type) = types.next() else { break };
            let minutes = rows.stores[part as usize].minutes(nulls.len)?;
            columns.push(self.column(rows, part, data_type, nulls)?);
            if let Some(minutes) = minutes {
                columns.push(minutes);
                types.next();
            }
        }
        Ok(())
    }

    /// The column of a place, of the length of null ones.
    fn column(
        &self,
        rows: &mut Rows,
        place: u32,
        data_type: &DataType,
        nulls: &Nulls,
    ) -> Result<ArrayRef, ArrowError> {
        let store = &mut rows.stores[place as usize];
        if store.at.is_empty() {
            return nulls.column(data_type);
        }
        match (&mut store.values, data_type) {
            (Values::Group(_), DataType::Struct(fields)) => {
                let here = validity(&store.at, nulls.len);
                let mut columns = Vec::with_capacity(fields.len());
                self.parts(rows, place, fields.iter().map(|field| field.data_type()), nulls, &mut columns)?;
                Ok(Arc::new(StructArray::try_new(fields.clone(), columns, here)?))
            }
            (Values::List(ends), DataType::List(element)) => {
                let offsets = offsets(&store.at, ends, nulls.len);
                let here = validity(&store.at, nulls.len);
                let Some(part) = self.layout().parts(place).next() else {
                    return Err(ArrowError::InvalidArgumentError("a list without elements".to_owned()));
                };
                let count = rows.stores[part as usize].len;
                let values = self.column(rows, part, element.data_type(), &Nulls::new(count))?;
                Ok(Arc::new(ListArray::try_new(Arc::clone(element), offsets, values, here)?))
            }
            _ => std::mem::replace(store, Store::of(Values::None)).leaf(nulls.len),
        }
    }
}

/// The nulls of a column of so many rows, of which those at some indices are there.
fn validity(at: &[u32], len: usize) -> Option<NullBuffer> {
    (at.len() < len).then(|| NullBuffer::new(bits(at.iter().copied(), len)))
}

fn bits(at: impl Iterator<Item = u32>, len: usize) -> BooleanBuffer {
    let mut bits = BooleanBufferBuilder::new(len);
    bits.append_n(len, false);
    at.for_each(|index| bits.set_bit(index as usize, true));
    bits.finish()
}

/// Numbers at their indices; what is absent has zeros.
fn spread<T: ArrowNativeType>(at: &[u32], values: Vec<T>, len: usize) -> ScalarBuffer<T> {
    if values.len() == len {
        return values.into();
    }
    let mut all = vec![T::default(); len];
    for (index, value) in at.iter().zip(values) {
        all[*index as usize] = value;
    }
    all.into()
}

/// The offsets of what ends at these places and stands at some indices; what is absent is empty.
fn offsets(at: &[u32], ends: &[u32], len: usize) -> OffsetBuffer<i32> {
    let mut offsets = Vec::with_capacity(len + 1);
    let mut last = 0;
    for (index, end) in at.iter().zip(ends) {
        offsets.resize(*index as usize + 1, last);
        last = *end as i32;
    }
    offsets.resize(len + 1, last);
    OffsetBuffer::new(ScalarBuffer::from(offsets))
}

impl Texts {
    fn strings(self, at: &[u32], len: usize) -> Result<ArrayRef, ArrowError> {
        let (offsets, octets) = (offsets(at, &self.ends, len), Buffer::from_vec(self.octets));
        Ok(Arc::new(StringArray::try_new(offsets, octets, validity(at, len))?))
    }
}

impl Names {
    /// The column of the names of the alternatives.
    pub(crate) fn array<'n>(
        &self,
        name: impl Fn(u32) -> &'n str,
        len: usize,
    ) -> Result<ArrayRef, ArrowError> {
        let mut texts = Texts::default();
        for alternative in &self.alternatives {
            texts.push(name(*alternative).as_bytes());
        }
        texts.strings(&self.at, len)
    }
}

impl Store {
    /// The column of offsets beside that of a timestamp.
    pub(crate) fn minutes(&mut self, len: usize) -> Result<Option<ArrayRef>, ArrowError> {
        let Values::Timestamp(_, minutes) = &mut self.values else { return Ok(None) };
        let Some(minutes) = minutes.take() else { return Ok(None) };
        let values = spread(&self.at, minutes, len);
        Ok(Some(Arc::new(Int16Array::try_new(values, validity(&self.at, len))?)))
    }

    /// A column of a leaf, of so many rows.
    pub(crate) fn leaf(self, len: usize) -> Result<ArrayRef, ArrowError> {
        let (at, nulls) = (&self.at, validity(&self.at, len));
        Ok(match self.values {
            Values::Boolean(values) if values.len() == len => {
                Arc::new(BooleanArray::new(values.into(), nulls))
            }
            Values::Boolean(values) => {
                let set = at.iter().zip(values).filter(|(_, value)| *value).map(|(index, _)| *index);
                Arc::new(BooleanArray::new(bits(set, len), nulls))
            }
            Values::Int64(values) => Arc::new(Int64Array::try_new(spread(at, values, len), nulls)?),
            Values::Decimal(values) => decimals(spread(at, values, len), nulls, 0)?,
            Values::Amount(values) => decimals(spread(at, values, len), nulls, PLACES)?,
            Values::Float64(values) => Arc::new(Float64Array::try_new(spread(at, values, len), nulls)?),
            Values::Binary(texts) => {
                let (offsets, octets) = (offsets(at, &texts.ends, len), Buffer::from_vec(texts.octets));
                Arc::new(BinaryArray::try_new(offsets, octets, nulls)?)
            }
            Values::Text(texts) => texts.strings(at, len)?,
            Values::Timestamp(values, _) => {
                let array = TimestampMicrosecondArray::try_new(spread(at, values, len), nulls)?;
                Arc::new(array.with_timezone("UTC"))
            }
            Values::Date(values) => Arc::new(Date32Array::try_new(spread(at, values, len), nulls)?),
            Values::TimeOfDay(values) => {
                Arc::new(Time64MicrosecondArray::try_new(spread(at, values, len), nulls)?)
            }
            Values::Group(_) | Values::List(_) | Values::None => {
                return Err(ArrowError::InvalidArgumentError("not the column of a leaf".to_owned()));
            }
        })
    }
}

fn decimals(
    values: ScalarBuffer<i128>,
    nulls: Option<NullBuffer>,
    places: i8,
) -> Result<ArrayRef, ArrowError> {
    let array: Decimal128Array = PrimitiveArray::<Decimal128Type>::try_new(values, nulls)?;
    Ok(Arc::new(array.with_precision_and_scale(DIGITS, places)?))
}
