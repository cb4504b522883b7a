//! Keyword arguments that say how to decode.

use crate::error;
use crate::objects::Looks;
use crate::rendering::Asked;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use tercet::Rules;
use tercet::dynamic::{Options, Trailing, Unknown};

/// Keyword arguments of all that decodes.
pub(crate) const DECODE: [&str; 10] = [
    "strict",
    "defaults",
    "constraints",
    "values",
    "unknown",
    "open_types",
    "trailing",
    "max_depth",
    "max_elements",
    "max_size",
];
/// Those of all that makes Python values.
const LOOKS: [&str; 5] = ["times", "oids", "lazy", "render", "profile"];

/// Takes those out of `**options` that say what values look like.
pub(crate) fn looks(keywords: &Bound<'_, PyDict>) -> PyResult<Looks> {
    let mut looks = Looks::default();
    if let Some(value) = take(keywords, "times")? {
        looks.datetime = match &*error::option::<String>("times", &value)? {
            "text" => false,
            "datetime" => true,
            other => return Err(one_of("times", other, &["text", "datetime"])),
        };
    }
    if let Some(value) = take(keywords, "oids")? {
        looks.tuples = match &*error::option::<String>("oids", &value)? {
            "text" => false,
            "tuple" => true,
            other => return Err(one_of("oids", other, &["text", "tuple"])),
        };
    }
    if let Some(value) = take(keywords, "lazy")? {
        looks.lazy = error::option("lazy", &value)?;
    }
    // The other values of the option are for the decoder.
    if let Some(value) = keywords.get_item("values")?
        && error::option::<String>("values", &value)? == "bytes"
    {
        looks.marked_octets = true;
        keywords.del_item("values")?;
    }
    Ok(looks)
}

/// Takes one of the keyword arguments out.
pub(crate) fn take<'py>(keywords: &Bound<'py, PyDict>, name: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
    let found = keywords.get_item(name)?;
    if found.is_some() {
        keywords.del_item(name)?;
    }
    Ok(found)
}

/// A value that is none of those that there are.
pub(crate) fn one_of(name: &str, value: &str, known: &[&str]) -> PyErr {
    let text = format!("{name}: unknown value `{value}`");
    error::argument(tercet::suggest::with_known(&text, value, known.iter().copied()))
}

/// How values are decoded, and what they look like.
pub(crate) struct Reading {
    pub(crate) options: Options,
    pub(crate) looks: Looks,
    pub(crate) asked: Option<Asked>,
}

/// That for a transfer syntax from `**options`.
pub(crate) fn of_values(syntax: Rules, keywords: Option<&Bound<'_, PyDict>>) -> PyResult<Reading> {
    let Some(keywords) = keywords.filter(|keywords| !keywords.is_empty()) else {
        return Ok(Reading { options: lenient(syntax), looks: Looks::default(), asked: None });
    };
    let keywords = keywords.copy()?;
    let looks = looks(&keywords)?;
    let render = take(&keywords, "render")?;
    let profile = take(&keywords, "profile")?.map(|it| error::option("profile", &it)).transpose()?;
    let asked = Asked::new(render.as_ref(), profile.flatten())?;
    Ok(Reading { options: read(syntax, &keywords, &LOOKS)?, looks, asked })
}

/// Options for a transfer syntax from `**options`.
pub(crate) fn of(syntax: Rules, keywords: Option<&Bound<'_, PyDict>>) -> PyResult<Options> {
    keywords.map_or_else(|| Ok(lenient(syntax)), |keywords| read(syntax, keywords, &[]))
}

/// Options for a transfer syntax from keyword arguments, of which there are `others` that have been taken out.
pub(crate) fn read(syntax: Rules, keywords: &Bound<'_, PyDict>, others: &[&str]) -> PyResult<Options> {
    let strict = match keywords.get_item("strict")? {
        Some(value) => error::option("strict", &value)?,
        None => false,
    };
    let mut options = if strict { Options::strict(syntax) } else { lenient(syntax) };
    for (name, value) in keywords {
        let name = name.extract::<String>()?;
        match &*name {
            "strict" => {}
            "defaults" => options.fill_defaults = error::option(&name, &value)?,
            "unknown" => options.unknown = unknown_policy(&error::option::<String>(&name, &value)?)?,
            "open_types" => {
                options.resolve_tables = error::option(&name, &value)?;
                options.decode_containing = options.resolve_tables;
            }
            "values" => options.strict_values = are_strict(&error::option::<String>(&name, &value)?)?,
            "constraints" => options.check_constraints = error::option(&name, &value)?,
            "trailing" => options.trailing = trailing(&error::option::<String>(&name, &value)?)?,
            "max_depth" => options.limits.depth = error::option(&name, &value)?,
            "max_elements" => options.limits.elements = limit(&name, &value)?,
            "max_size" => options.limits.size = limit(&name, &value)?,
            other => {
                let known = DECODE.iter().chain(others).copied();
                return Err(error::argument(tercet::suggest::unknown("option", other, known)));
            }
        }
    }
    Ok(options)
}

/// Without keyword arguments.
pub(crate) fn lenient(syntax: Rules) -> Options {
    let mut options = Options::default();
    options.rules = syntax.plan_rules();
    options
}

fn unknown_policy(policy: &str) -> PyResult<Unknown> {
    Ok(match policy {
        "error" => Unknown::Error,
        "extensible" => Unknown::Extensible,
        "keep" => Unknown::Keep,
        other => return Err(one_of("unknown", other, &["error", "extensible", "keep"])),
    })
}

/// Whether texts and times that break the rules of their type are errors.
fn are_strict(policy: &str) -> PyResult<bool> {
    match policy {
        "keep" => Ok(false),
        "strict" => Ok(true),
        other => Err(one_of("values", other, &["keep", "bytes", "strict"])),
    }
}

fn trailing(policy: &str) -> PyResult<Trailing> {
    let found = Trailing::ALL.into_iter().find(|known| known.name() == policy);
    found.ok_or_else(|| one_of("trailing", policy, &Trailing::ALL.map(Trailing::name)))
}

/// None is no limit.
fn limit(name: &str, value: &Bound<'_, PyAny>) -> PyResult<u64> {
    Ok(error::option::<Option<u64>>(name, value)?.unwrap_or(u64::MAX))
}

/// Describes an unknown name of a kind, with the nearest valid one: for what Python checks itself.
#[pyfunction]
pub(crate) fn unknown(kind: &str, name: &str, known: Vec<String>) -> String {
    tercet::suggest::unknown(kind, name, known.iter().map(String::as_str))
}
