//! Octets and text that come from Python.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyMemoryView, PyString};
use std::borrow::Cow;

/// The octets of a bytes-like object. Only `bytes` are borrowed: anything else may change while the interpreter is
/// released, and is copied.
pub(crate) fn of<'a>(object: &'a Bound<'_, PyAny>) -> PyResult<Cow<'a, [u8]>> {
    if let Ok(bytes) = object.cast::<PyBytes>() {
        return Ok(Cow::Borrowed(bytes.as_bytes()));
    }
    let copy = PyMemoryView::from(object)?.call_method0("tobytes")?;
    Ok(Cow::Owned(copy.cast::<PyBytes>()?.as_bytes().to_vec()))
}

/// The same, and the octets of a `str` in UTF-8 where the input is text.
pub(crate) fn of_input<'a>(object: &'a Bound<'_, PyAny>, text: bool) -> PyResult<Cow<'a, [u8]>> {
    if text && let Ok(string) = object.cast::<PyString>() {
        return Ok(match string.to_cow()? {
            Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
            Cow::Owned(text) => Cow::Owned(text.into_bytes()),
        });
    }
    of(object)
}
