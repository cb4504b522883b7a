//! `tercet.BitString`.

use crate::error::{self, Argument};
use crate::octets;
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString, PyTuple, PyType};
use std::sync::Arc;
use tercet::dynamic::value::Bits;
use tercet::runtime::types::BitStr;

/// The names of bits, by position.
pub(crate) type BitNames = Arc<[(usize, Py<PyString>)]>;

/// What `pickle` makes one again from: the class and its arguments.
type Reduced<'py> = (Bound<'py, PyType>, (Bound<'py, PyBytes>, usize));

/// A BIT STRING: a sequence of bits.
///
/// >>> bits = BitString(b"\xa0", 3)
/// >>> str(bits), len(bits), bits[0]
/// ('101', 3, True)
#[pyclass(frozen, sequence, module = "tercet", eq, hash)]
#[derive(Debug)]
pub(crate) struct BitString {
    bits: Bits,
    names: Option<BitNames>,
}

impl BitString {
    pub(crate) fn decoded(bits: BitStr<'_>, names: Option<&BitNames>) -> Self {
        Self { bits: Bits::new(bits.bytes(), bits.len()), names: names.cloned() }
    }

    pub(crate) fn bits(&self) -> &Bits {
        &self.bits
    }
}

impl PartialEq for BitString {
    fn eq(&self, other: &Self) -> bool {
        self.bits == other.bits
    }
}

impl std::hash::Hash for BitString {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.bits.hash(state);
    }
}

#[pymethods]
impl BitString {
    #[new]
    #[pyo3(signature = (octets, length = Argument(None)), text_signature = "(octets, length=None)")]
    fn new(octets: &Bound<'_, PyAny>, length: Argument<Option<usize>>) -> PyResult<Self> {
        let octets = octets::of(octets)?;
        let length = length.0.unwrap_or(octets.len() * 8);
        if length.div_ceil(8) != octets.len() {
            let text = format!("{} bytes for {length} bits", octets.len());
            return Err(error::argument(text));
        }
        Ok(Self { bits: Bits::new(octets.into_owned(), length), names: None })
    }

    /// Makes a bit string of the digits `0` and `1`.
    #[classmethod]
    fn from_digits(_class: &Bound<'_, PyType>, digits: Argument<String>) -> PyResult<Self> {
        let digits = digits.0;
        let mut octets = vec![0u8; digits.len().div_ceil(8)];
        for (at, digit) in digits.bytes().enumerate() {
            match digit {
                b'0' => {}
                b'1' => octets[at / 8] |= 0x80 >> (at % 8),
                _ => return Err(error::argument("digits other than `0` and `1`")),
            }
        }
        Ok(Self { bits: Bits::new(octets, digits.len()), names: None })
    }

    /// The bits, the first in the highest place of the first byte; the last byte is filled with zeros.
    #[getter]
    fn octets<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, self.bits.octets())
    }

    /// The names of the bits that are one, of a decoded value whose type names bits.
    #[getter]
    fn names<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let names = self.names.as_deref().unwrap_or_default();
        let set = names.iter().filter(|(at, _)| self.bits.get(*at) == Some(true));
        PyTuple::new(py, set.map(|(_, name)| name.bind(py)).collect::<Vec<_>>())
    }

    fn __len__(&self) -> usize {
        self.bits.len()
    }

    fn __getitem__(&self, index: isize) -> PyResult<bool> {
        let length = self.bits.len();
        let at = if index < 0 { length.checked_add_signed(index) } else { usize::try_from(index).ok() };
        at.and_then(|at| self.bits.get(at)).ok_or_else(|| PyIndexError::new_err("no such bit"))
    }

    fn __str__(&self) -> String {
        (0..self.bits.len()).map(|at| if self.bits.get(at) == Some(true) { '1' } else { '0' }).collect()
    }

    fn __repr__(&self) -> String {
        format!("BitString.from_digits('{}')", self.__str__())
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Reduced<'py>> {
        let this = slf.get();
        Ok((slf.get_type(), (this.octets(slf.py()), this.bits.len())))
    }
}
