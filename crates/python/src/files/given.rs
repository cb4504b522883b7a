//! Keyword arguments as the options of a conversion.

use super::plan::option;
use super::source::Picked;
use super::tables::RECORDS;
use crate::{error, octets, options, rendering};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyString};
use std::path::PathBuf;
use tercet::records::conversion::{Given, Names, OptionSet};
use tercet::records::{ChildTable, Children, Conversion};

/// Options of what records are and how they are framed.
pub(super) const FRAMING: [&str; 5] = ["records", "framing", "rules", "filler", "record_limit"];
/// Keyword arguments that are options of a conversion, under the names that these have.
const OPTIONS: [&str; 12] = [
    "records",
    "framing",
    "rules",
    "filler",
    "record_limit",
    "where",
    "explode",
    "child",
    "by_type",
    "max_rejects",
    "max_reject_ratio",
    "allow_empty",
];
/// Those that are read apart: Python gives them in forms of its own.
const OTHERS: [&str; 7] = ["render", "profile", "children", "table", "rejects", "times", "oids"];

/// Which tables the arguments ask for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Asked {
    /// The only one: records, or the elements of a list.
    Only,
    /// The elements of the last list, or the component, that there is a table of.
    Child,
    /// All, or the one of this name.
    Several(Option<String>),
}

impl Asked {
    /// Returns which of the tables that there are rows are of.
    pub(super) fn table(&self, children: Option<&Children>) -> PyResult<Picked> {
        let tables = children.map_or(&[][..], Children::tables);
        let name = match self {
            Self::Only => return Ok(Picked::All),
            // The lists on the way to it have tables too, before its own.
            Self::Child => return Ok(tables.len().checked_sub(1).map_or(Picked::Records, Picked::Child)),
            Self::Several(name) => name.as_deref().unwrap_or(RECORDS),
        };
        match tables.iter().position(|table| table.path() == name) {
            Some(table) => Ok(Picked::Child(table)),
            None if name == RECORDS => Ok(Picked::Records),
            None => {
                let known: Vec<&str> = tables.iter().map(ChildTable::path).collect();
                let known = known.join("`, `");
                Err(error::argument(format!("there is no table `{name}`; there is `{RECORDS}`, `{known}`")))
            }
        }
    }
}

/// The names of all options of files.
pub(super) fn names() -> Vec<&'static str> {
    OPTIONS.into_iter().chain(OTHERS).chain(["columns"]).collect()
}

/// Takes keyword arguments with these names out, as options.
pub(super) fn options_of(keywords: &Bound<'_, PyDict>, names: &[&str]) -> PyResult<OptionSet> {
    let mut set = OptionSet::new(Names::Keyword);
    for name in names {
        let Some(value) = options::take(keywords, name)? else { continue };
        let given = match *name {
            "filler" => Given::Text(octets::of(&value)?.iter().map(|octet| format!("{octet:02X}")).collect()),
            "rules" => match given(name, &value)? {
                Given::Text(rules) => Given::Text(rules.to_ascii_lowercase()),
                other => other,
            },
            // None is any number.
            "max_rejects" if value.is_none() => Given::Text("none".to_owned()),
            _ => given(name, &value)?,
        };
        if given != Given::Nothing {
            set.insert(name, given);
        }
    }
    Ok(set)
}

/// Takes the options of a conversion out of keyword arguments.
pub(super) fn conversion(keywords: &Bound<'_, PyDict>) -> PyResult<(Conversion, Asked)> {
    let mut set = options_of(keywords, &OPTIONS)?;
    let children = options::take(keywords, "children")?.filter(|children| !children.is_none());
    let by_type = set.get("by-type") == Some(&Given::Flag(true));
    let table = option::<Option<String>>(keywords, "table")?.flatten();
    let asked = if children.is_some() || by_type {
        if set.get("explode").is_some() || set.get("child").is_some() {
            return Err(error::argument("`explode` and `child` are for one table"));
        }
        several(children.as_ref(), by_type, &mut set)?;
        Asked::Several(table)
    } else if table.is_some() {
        return Err(error::argument("`table` requires `children` or `by_type`, which make several tables"));
    } else if set.get("child").is_some() {
        Asked::Child
    } else {
        Asked::Only
    };
    let mut conversion = Conversion::take(&mut set).map_err(|fault| error::fault(&fault))?;
    let profile = option::<Option<PathBuf>>(keywords, "profile")?.flatten();
    conversion.rendering = rendering::options(options::take(keywords, "render")?.as_ref(), profile)?;
    conversion.output.rejects = option::<Option<PathBuf>>(keywords, "rejects")?.flatten();
    for path in &mut conversion.rows.child {
        *path = path.replace("[]", "");
    }
    Ok((conversion, asked))
}

/// Adds the tables that `children` and `by_type` ask for: all lists that are not inside of others, if nothing is said.
fn several(children: Option<&Bound<'_, PyAny>>, by_type: bool, set: &mut OptionSet) -> PyResult<()> {
    set.insert("by_type", Given::Flag(by_type));
    let all = match children.filter(|children| !children.is_none()) {
        None => !by_type,
        Some(children) => match children.cast::<PyBool>() {
            Ok(all) => all.is_true(),
            Err(_) => {
                let paths = children.extract().map(|path: String| vec![path]).or_else(|_| children.extract());
                let paths: Vec<String> =
                    paths.map_err(|_| error::argument("children: a path, paths or a bool expected"))?;
                set.insert("child", Given::List(paths.iter().cloned().map(Given::Text).collect()));
                if !paths.is_empty() {
                    return Ok(());
                }
                false
            }
        },
    };
    set.insert("children", Given::Flag(all));
    match all || by_type {
        true => Ok(()),
        false => Err(error::argument("no children: `tercet.read` reads the records alone")),
    }
}

/// Returns the value of a keyword argument, before its type is known.
fn given(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Given> {
    Ok(match () {
        () if value.is_none() => Given::Nothing,
        () if value.is_instance_of::<PyBool>() => Given::Flag(value.extract()?),
        () if value.is_instance_of::<PyInt>() => Given::Number(error::option(name, value)?),
        () if value.is_instance_of::<PyFloat>() => Given::Share(value.extract()?),
        () if value.is_instance_of::<PyString>() => Given::Text(error::option(name, value)?),
        () => {
            let values: Vec<String> = error::option(name, value)?;
            Given::List(values.into_iter().map(Given::Text).collect())
        }
    })
}
