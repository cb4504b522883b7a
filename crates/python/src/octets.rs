//! Octets and text that come from Python.

use crate::error;
use pyo3::prelude::*;
use pyo3::pybacked::{PyBackedBytes, PyBackedStr};
use pyo3::types::{PyBytes, PyMemoryView, PyString};
use std::borrow::Cow;
use std::ops::Deref;
use std::sync::Arc;

/// Octets from which on they are decoded on a thread, so that the user can interrupt: a thread costs less than a
/// hundredth of what these octets cost.
const HUGE: usize = 1 << 20;

/// The octets of a bytes-like object. Only `bytes` are borrowed: anything else may change while the interpreter is
/// released, and is copied.
pub(crate) fn of<'a>(object: &'a Bound<'_, PyAny>) -> PyResult<Cow<'a, [u8]>> {
    if let Ok(bytes) = object.cast::<PyBytes>() {
        return Ok(Cow::Borrowed(bytes.as_bytes()));
    }
    let copy = PyMemoryView::from(object).and_then(|view| view.call_method0("tobytes"));
    let copy = copy.map_err(error::of_python)?;
    Ok(Cow::Owned(copy.cast::<PyBytes>()?.as_bytes().to_vec()))
}

/// Octets that threads may keep.
#[derive(Debug)]
pub(crate) enum Held {
    Bytes(PyBackedBytes),
    Text(PyBackedStr),
    Copy(Vec<u8>),
}

impl Held {
    /// Those of a bytes-like object.
    pub(crate) fn of(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        if let Ok(bytes) = object.cast::<PyBytes>() {
            return Ok(Self::Bytes(bytes.clone().into()));
        }
        Ok(Self::Copy(of(object)?.into_owned()))
    }

    /// Those of what was decoded, which may be text.
    pub(crate) fn of_input(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        match object.cast::<PyString>() {
            Ok(text) => Ok(Self::Text(PyBackedStr::try_from(text.clone())?)),
            Err(_) => Self::of(object),
        }
    }
}

impl Deref for Held {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Bytes(bytes) => bytes,
            Self::Text(text) => text.as_bytes(),
            Self::Copy(copy) => copy,
        }
    }
}

/// An input to decode.
pub(crate) enum Input<'a> {
    Small(Cow<'a, [u8]>),
    /// One that a thread decodes.
    Huge(Arc<Held>),
}

impl<'a> Input<'a> {
    /// The octets of a bytes-like object, and of a `str` in UTF-8 where the input is text.
    #[inline]
    pub(crate) fn of(object: &'a Bound<'_, PyAny>, text: bool) -> PyResult<Self> {
        if text && let Ok(string) = object.cast::<PyString>() {
            let characters = string.to_cow().map_err(error::of_python)?;
            return Ok(match characters {
                _ if characters.len() >= HUGE => {
                    Self::Huge(Arc::new(Held::Text(PyBackedStr::try_from(string.clone())?)))
                }
                Cow::Borrowed(text) => Self::Small(Cow::Borrowed(text.as_bytes())),
                Cow::Owned(text) => Self::Small(Cow::Owned(text.into_bytes())),
            });
        }
        let octets = of(object)?;
        if octets.len() < HUGE {
            return Ok(Self::Small(octets));
        }
        Ok(Self::Huge(Arc::new(match octets {
            Cow::Borrowed(_) => Held::of(object)?,
            Cow::Owned(copy) => Held::Copy(copy),
        })))
    }
}

impl Deref for Input<'_> {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        match self {
            Self::Small(octets) => octets,
            Self::Huge(held) => held,
        }
    }
}
