//! The growing buffers of one column.

use crate::layout::{DIGITS, PLACES, What};
use arrow_array::types::Decimal128Type;
use arrow_array::{
    ArrayRef, BinaryArray, BooleanArray, Date32Array, Decimal128Array, Float64Array, Int16Array, Int64Array,
    PrimitiveArray, StringArray, Time64MicrosecondArray, TimestampMicrosecondArray,
};
use arrow_buffer::{BooleanBufferBuilder, Buffer, NullBuffer, NullBufferBuilder, OffsetBuffer, ScalarBuffer};
use arrow_schema::ArrowError;
use std::sync::Arc;
use tercet_dynamic::leaf::Scalar;
use tercet_dynamic::text::{Octets, push_scalar};
use tercet_runtime::types::Real;

/// A column as far as it has come. What is absent is not appended at once: the next value, or the end of the batch, pads
/// with all nulls that are due, so that a row costs what it has and not what it might have.
#[derive(Debug)]
pub(crate) struct Store {
    pub(crate) nulls: NullBufferBuilder,
    pub(crate) len: usize,
    pub(crate) values: Values,
}

#[derive(Debug)]
pub(crate) enum Values {
    /// A struct: its parts have their own stores; a CHOICE has the alternative's name here.
    Group(Option<Texts>),
    List(Vec<i32>),
    Boolean(BooleanBufferBuilder),
    Int64(Vec<i64>),
    Decimal(Vec<i128>),
    Float64(Vec<f64>),
    Binary(Texts),
    Text(Texts),
    /// Microseconds, and minutes if there is a column of them; what could not be read is null in both.
    Timestamp(Vec<i64>, Option<Vec<i16>>),
    Date(Vec<i32>),
    TimeOfDay(Vec<i64>),
    Amount(Vec<i128>),
    None,
}

/// Texts one behind the other.
#[derive(Debug)]
pub(crate) struct Texts {
    pub(crate) octets: Vec<u8>,
    offsets: Vec<i32>,
    /// Nulls of the names of alternatives, which a CHOICE may lack that is there.
    nulls: NullBufferBuilder,
}

impl Texts {
    fn new() -> Self {
        Self { octets: Vec::new(), offsets: vec![0], nulls: NullBufferBuilder::new(0) }
    }

    /// Appends a text; whether all texts together are still short enough.
    #[inline]
    pub(crate) fn push(&mut self, text: &[u8]) -> bool {
        self.octets.extend_from_slice(text);
        self.end()
    }

    /// Ends a text that has been appended to `octets`; whether all texts together are still short enough.
    #[inline]
    pub(crate) fn end(&mut self) -> bool {
        let end = i32::try_from(self.octets.len());
        if end.is_err() {
            self.octets.truncate(self.last() as usize);
        }
        self.offsets.push(end.unwrap_or_else(|_| self.last()));
        end.is_ok()
    }

    fn last(&self) -> i32 {
        self.offsets.last().copied().unwrap_or(0)
    }

    fn pad(&mut self, count: usize) {
        let last = self.last();
        self.offsets.resize(self.offsets.len() + count, last);
    }

    /// Appends the name of an alternative.
    pub(crate) fn name(&mut self, name: &str) {
        self.push(name.as_bytes());
        self.nulls.append_non_null();
    }

    /// Appends nulls up to a length.
    pub(crate) fn pad_names(&mut self, len: usize) {
        let count = (len + 1).saturating_sub(self.offsets.len());
        self.pad(count);
        self.nulls.append_n_nulls(count);
    }

    pub(crate) fn names(mut self) -> Result<ArrayRef, ArrowError> {
        let nulls = self.nulls.finish();
        self.strings(nulls)
    }

    fn strings(self, nulls: Option<NullBuffer>) -> Result<ArrayRef, ArrowError> {
        let offsets = OffsetBuffer::new(ScalarBuffer::from(self.offsets));
        Ok(Arc::new(StringArray::try_new(offsets, Buffer::from_vec(self.octets), nulls)?))
    }

    fn binaries(self, nulls: Option<NullBuffer>) -> Result<ArrayRef, ArrowError> {
        let offsets = OffsetBuffer::new(ScalarBuffer::from(self.offsets));
        Ok(Arc::new(BinaryArray::try_new(offsets, Buffer::from_vec(self.octets), nulls)?))
    }
}

impl Values {
    /// Appends a value of a column without a type of its own for it; whether it fits.
    pub(crate) fn append(&mut self, value: &Scalar<'_>, octets: Octets) -> bool {
        match self {
            Self::Boolean(values) => {
                values.append(!matches!(value, Scalar::Boolean(false)));
                true
            }
            Self::Decimal(values) => {
                let number = match value {
                    Scalar::Integer(number) => Some((*number).into()),
                    Scalar::BigInteger(octets) => decimal(octets),
                    _ => None,
                };
                values.push(number.unwrap_or(0));
                number.is_some()
            }
            Self::Float64(values) => {
                let number = match value {
                    Scalar::Real(real) => in_f64_range(real),
                    _ => Some(0.0),
                };
                values.push(number.unwrap_or(0.0));
                number.is_some()
            }
            Self::Text(texts) => {
                push_scalar(&mut texts.octets, value, octets);
                texts.end()
            }
            _ => true,
        }
    }
}

/// The nearest `f64`; nothing for a number beyond its range, and for one other than zero that would become zero.
fn in_f64_range(real: &Real<'_>) -> Option<f64> {
    let number = real.to_f64();
    let is_zero = match real {
        Real::Binary(binary) => binary.mantissa.iter().all(|octet| *octet == 0),
        Real::Decimal(decimal) => {
            let mantissa = decimal.text.split(['e', 'E']).next().unwrap_or_default();
            !mantissa.contains(|c: char| ('1'..='9').contains(&c))
        }
        // Infinities and zeros that are meant.
        _ => return Some(number),
    };
    (number.is_finite() && (number != 0.0 || is_zero)).then_some(number)
}

/// A number of no more digits than a decimal column has.
fn decimal(octets: &[u8]) -> Option<i128> {
    if octets.len() > 16 {
        return None;
    }
    let sign = if octets.first().is_some_and(|octet| *octet > 0x7F) { -1 } else { 0 };
    let number = octets.iter().fold(sign, |value: i128, octet| value << 8 | i128::from(*octet));
    (number.unsigned_abs() < 10u128.pow(38)).then_some(number)
}

impl Store {
    pub(crate) fn new(what: What) -> Self {
        let values = match what {
            What::Skip => Values::None,
            What::Group | What::Choice(false) => Values::Group(None),
            What::Choice(true) => Values::Group(Some(Texts::new())),
            What::List => Values::List(vec![0]),
            What::Present | What::Boolean => Values::Boolean(BooleanBufferBuilder::new(0)),
            What::Int64 => Values::Int64(Vec::new()),
            What::Decimal => Values::Decimal(Vec::new()),
            What::Float64 => Values::Float64(Vec::new()),
            What::Binary => Values::Binary(Texts::new()),
            What::Json | What::Text => Values::Text(Texts::new()),
            What::Timestamp(offset) => Values::Timestamp(Vec::new(), offset.then(Vec::new)),
            What::Date => Values::Date(Vec::new()),
            What::TimeOfDay => Values::TimeOfDay(Vec::new()),
            What::Amount => Values::Amount(Vec::new()),
        };
        Self { nulls: NullBufferBuilder::new(0), len: 0, values }
    }

    /// Appends nulls up to a length.
    #[inline]
    pub(crate) fn pad(&mut self, len: usize) {
        if len > self.len {
            self.pad_with(len - self.len);
        }
    }

    fn pad_with(&mut self, count: usize) {
        let len = self.len + count;
        self.nulls.append_n_nulls(count);
        self.len = len;
        match &mut self.values {
            Values::List(offsets) => {
                let last = offsets.last().copied().unwrap_or(0);
                offsets.resize(offsets.len() + count, last);
            }
            Values::Boolean(values) => values.append_n(count, false),
            Values::Int64(values) => values.resize(len, 0),
            Values::Decimal(values) => values.resize(len, 0),
            Values::Float64(values) => values.resize(len, 0.0),
            Values::Binary(texts) | Values::Text(texts) => texts.pad(count),
            Values::Timestamp(values, offsets) => {
                values.resize(len, 0);
                if let Some(offsets) = offsets {
                    offsets.resize(len, 0);
                }
            }
            Values::Date(values) => values.resize(len, 0),
            Values::TimeOfDay(values) => values.resize(len, 0),
            Values::Amount(values) => values.resize(len, 0),
            Values::Group(_) | Values::None => {}
        }
    }

    /// Takes note of a value that is there.
    #[inline]
    pub(crate) fn present(&mut self) {
        self.nulls.append_non_null();
        self.len += 1;
    }

    /// Takes note of a value that is there and has no place in the column: null.
    #[cold]
    pub(crate) fn nulled(&mut self) {
        self.nulls.append_null();
        self.len += 1;
    }

    /// The column of offsets beside that of a timestamp, complete.
    pub(crate) fn offsets(&mut self) -> Result<Option<ArrayRef>, ArrowError> {
        let Values::Timestamp(_, offsets) = &mut self.values else { return Ok(None) };
        let Some(offsets) = offsets.take() else { return Ok(None) };
        Ok(Some(Arc::new(Int16Array::try_new(offsets.into(), self.nulls.finish_cloned())?)))
    }

    /// A column of a leaf, complete.
    pub(crate) fn leaf(mut self) -> Result<ArrayRef, ArrowError> {
        let nulls = self.nulls.finish();
        Ok(match self.values {
            Values::Boolean(mut values) => Arc::new(BooleanArray::new(values.finish(), nulls)),
            Values::Int64(values) => Arc::new(Int64Array::try_new(values.into(), nulls)?),
            Values::Decimal(values) => {
                let array: Decimal128Array = PrimitiveArray::<Decimal128Type>::try_new(values.into(), nulls)?;
                Arc::new(array.with_precision_and_scale(DIGITS, 0)?)
            }
            Values::Float64(values) => Arc::new(Float64Array::try_new(values.into(), nulls)?),
            Values::Binary(texts) => texts.binaries(nulls)?,
            Values::Text(texts) => texts.strings(nulls)?,
            Values::Timestamp(values, _) => {
                Arc::new(TimestampMicrosecondArray::try_new(values.into(), nulls)?.with_timezone("UTC"))
            }
            Values::Date(values) => Arc::new(Date32Array::try_new(values.into(), nulls)?),
            Values::TimeOfDay(values) => Arc::new(Time64MicrosecondArray::try_new(values.into(), nulls)?),
            Values::Amount(values) => {
                let array = Decimal128Array::try_new(values.into(), nulls)?;
                Arc::new(array.with_precision_and_scale(DIGITS, PLACES)?)
            }
            Values::Group(_) | Values::List(_) | Values::None => {
                return Err(ArrowError::InvalidArgumentError("not the column of a leaf".to_owned()));
            }
        })
    }
}
