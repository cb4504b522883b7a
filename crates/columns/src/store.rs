//! The values of one column as they come: those that are there, and where they are.

use crate::layout::What;
use tercet_dynamic::leaf::Scalar;
use tercet_dynamic::text::{Octets, push_scalar};
use tercet_runtime::types::Real;

/// A column as far as it has come. What is absent takes nothing: a value has its index, so that a row costs what it has and
/// not what it might have.
#[derive(Debug)]
pub(crate) struct Store {
    /// The indices of what is there, in ascending order: rows, or elements of the list around.
    pub(crate) at: Vec<u32>,
    /// One more than the last index that is taken; what is taken and not in `at` is null.
    pub(crate) len: usize,
    pub(crate) values: Values,
}

/// The values at the indices of a store, one after the other.
#[derive(Debug)]
pub(crate) enum Values {
    /// A struct: its parts have their own stores; a CHOICE has the alternatives here.
    Group(Option<Names>),
    /// Where each list ends among the elements of all.
    List(Vec<u32>),
    Boolean(Vec<bool>),
    Int64(Vec<i64>),
    Decimal(Vec<i128>),
    Float64(Vec<f64>),
    Binary(Texts),
    Text(Texts),
    /// Microseconds, and minutes if there is a column of them.
    Timestamp(Vec<i64>, Option<Vec<i16>>),
    Date(Vec<i32>),
    TimeOfDay(Vec<i64>),
    Amount(Vec<i128>),
    None,
}

/// Texts one behind the other.
#[derive(Debug, Default)]
pub(crate) struct Texts {
    pub(crate) octets: Vec<u8>,
    /// Where each ends.
    pub(crate) ends: Vec<u32>,
}

/// The alternatives of a CHOICE: it may be there and have none.
#[derive(Debug, Default)]
pub(crate) struct Names {
    pub(crate) at: Vec<u32>,
    /// The numbers of the alternatives.
    pub(crate) alternatives: Vec<u32>,
}

impl Texts {
    /// Appends a text; whether all texts together are still short enough.
    #[inline]
    pub(crate) fn push(&mut self, text: &[u8]) -> bool {
        self.octets.extend_from_slice(text);
        self.end()
    }

    /// Ends a text that has been appended to `octets`; whether all texts together are still short enough.
    #[inline]
    pub(crate) fn end(&mut self) -> bool {
        // Offsets are numbers of 31 bits in Arrow.
        let fits = i32::try_from(self.octets.len()).is_ok();
        if !fits {
            self.octets.truncate(self.ends.last().map_or(0, |end| *end as usize));
        }
        self.ends.push(self.octets.len() as u32);
        fits
    }

    /// All texts.
    #[cfg(feature = "files")]
    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        let mut start = 0;
        self.ends
            .iter()
            .map(move |&end| &self.octets[std::mem::replace(&mut start, end as usize)..end as usize])
    }
}

impl Names {
    /// Takes note of the alternative of a CHOICE at an index.
    pub(crate) fn push(&mut self, at: u32, alternative: u32) {
        if self.at.last() != Some(&at) {
            self.at.push(at);
            self.alternatives.push(alternative);
        }
    }
}

impl Values {
    /// Appends a value of a column without a type of its own for it; whether it fits.
    pub(crate) fn append(&mut self, value: &Scalar<'_>, octets: Octets) -> bool {
        match self {
            Self::Boolean(values) => {
                values.push(!matches!(value, Scalar::Boolean(false)));
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
                values.extend(number);
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
            What::Choice(true) => Values::Group(Some(Names::default())),
            What::List => Values::List(Vec::new()),
            What::Present | What::Boolean => Values::Boolean(Vec::new()),
            What::Int64 => Values::Int64(Vec::new()),
            What::Decimal => Values::Decimal(Vec::new()),
            What::Float64 => Values::Float64(Vec::new()),
            What::Binary => Values::Binary(Texts::default()),
            What::Json | What::Text => Values::Text(Texts::default()),
            What::Timestamp(offset) => Values::Timestamp(Vec::new(), offset.then(Vec::new)),
            What::Date => Values::Date(Vec::new()),
            What::TimeOfDay => Values::TimeOfDay(Vec::new()),
            What::Amount => Values::Amount(Vec::new()),
        };
        Self::of(values)
    }

    /// An empty store of values.
    pub(crate) fn of(values: Values) -> Self {
        Self { at: Vec::new(), len: 0, values }
    }

    /// Takes the index before a length; whether it was free.
    #[inline]
    pub(crate) fn take(&mut self, len: usize) -> bool {
        let is_free = self.len < len;
        self.len = self.len.max(len);
        is_free
    }

    /// Takes note that a value is there, at the index that was taken last.
    #[inline]
    pub(crate) fn present(&mut self) {
        // A batch has far fewer than 4 G rows or elements.
        self.at.push((self.len - 1) as u32);
    }
}
