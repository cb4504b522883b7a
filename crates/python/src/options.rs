//! Keyword arguments that say how to decode.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use tercet::TransferSyntax;
use tercet::dynamic::{Options, Unknown};

/// Options for a transfer syntax from `**options`.
pub(crate) fn of(syntax: TransferSyntax, keywords: Option<&Bound<'_, PyDict>>) -> PyResult<Options> {
    let Some(keywords) = keywords else { return Ok(lenient(syntax)) };
    let strict = match keywords.get_item("strict")? {
        Some(value) => value.extract()?,
        None => false,
    };
    let mut options = if strict { syntax.strict() } else { lenient(syntax) };
    for (name, value) in keywords {
        match &*name.extract::<String>()? {
            "strict" => {}
            "defaults" => options.fill_defaults = value.extract()?,
            "unknown" => options.unknown = unknown(&value.extract::<String>()?)?,
            "open_types" => {
                options.resolve_tables = value.extract()?;
                options.decode_containing = options.resolve_tables;
            }
            "constraints" => options.check_constraints = value.extract()?,
            "max_depth" => options.limits.depth = value.extract()?,
            "max_elements" => options.limits.elements = limit(&value)?,
            "max_size" => options.limits.size = limit(&value)?,
            other => {
                return Err(PyTypeError::new_err(format!("there is no option `{other}`")));
            }
        }
    }
    Ok(options)
}

/// Without keyword arguments.
pub(crate) fn lenient(syntax: TransferSyntax) -> Options {
    let mut options = Options::default();
    options.rules = syntax.plan_rules();
    options
}

fn unknown(policy: &str) -> PyResult<Unknown> {
    Ok(match policy {
        "error" => Unknown::Error,
        "extensible" => Unknown::Extensible,
        "keep" => Unknown::Keep,
        _ => return Err(PyValueError::new_err("unknown: `error`, `extensible` or `keep` expected")),
    })
}

/// None is no limit.
fn limit(value: &Bound<'_, PyAny>) -> PyResult<u64> {
    Ok(value.extract::<Option<u64>>()?.unwrap_or(u64::MAX))
}
