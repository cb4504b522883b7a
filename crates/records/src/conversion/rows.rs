//! Options of which records become rows.

use super::given::OptionFault;
use super::words::NumberRange;
use crate::children::Children;
use crate::explode::Explode;
use crate::figures::Figures;
use crate::filter::{Condition, Filter};
use crate::formats::Shown;
use crate::sequence::Sequence;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use tercet_dynamic::{NodeId, Shape};

/// Which records become rows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct RowOptions {
    /// Keep only the records that match, such as `duration >= 60`
    ///
    /// `duration >= 60 and choice in (moCall, mtCall)`, for example. Comparisons are `=`, `!=`, `<`, `<=`, `>`, `>=`, `in (A, B)`, `like 'A%'`, `is null` and `is not null`, joined with `and`,
    /// `or`, `not` and parentheses. Values are compared as they are shown. `choice=NAME` is the alternative. An absent component
    /// never matches, except with `is null`. `LIST.x > 5` holds if one element of the list meets it, `LIST[0].x > 5` if the first
    /// does. If the option is given several times, a record must match all conditions.
    #[cfg_attr(feature = "clap", arg(long = "where", id = "where", value_name = "CONDITION"))]
    #[serde(rename = "where")]
    pub conditions: Vec<Condition>,

    /// Add up this component, and report its least and greatest value
    ///
    /// A path, or a name for components of that name wherever they are. Records that `--where` does not keep do not count.
    #[cfg_attr(feature = "clap", arg(long, value_name = "PATH", value_delimiter = ','))]
    pub total: Vec<String>,

    /// Report missing and repeated numbers of this component
    ///
    /// Over all inputs, between the least and the greatest number. `recordNumber=0..9999` is for numbers that begin again.
    #[cfg_attr(feature = "clap", arg(long, value_name = "PATH[=FIRST..LAST]", value_delimiter = ','))]
    pub sequence: Vec<String>,

    /// Range of the sequence numbers of files of 3GPP TS 32.297, if it is less than 32 bits
    #[cfg_attr(feature = "clap", arg(long, value_name = "FIRST..LAST"))]
    pub file_sequence: Option<NumberRange>,

    /// Make a row of each element of this list
    ///
    /// The other components are repeated, and a column named after the list has the number of the element. A record without
    /// elements is one row.
    #[cfg_attr(feature = "clap", arg(long, value_name = "PATH"))]
    pub explode: Option<String>,

    /// Write a separate table for each of these lists or components
    ///
    /// Each table is a file beside that of the records; lists around them have tables too. Its rows have the file and the number
    /// of their record and their index in each list. The records have the number of rows instead of the list.
    #[cfg_attr(feature = "clap", arg(long, value_name = "PATH", value_delimiter = ','))]
    pub child: Vec<String>,

    /// Write a separate table for each list that is not inside of another list
    #[cfg_attr(feature = "clap", arg(long))]
    pub children: bool,

    /// Write a separate table for each alternative, where records are a CHOICE
    #[cfg_attr(feature = "clap", arg(long))]
    pub by_type: bool,
}

impl RowOptions {
    /// Returns whether rows of several tables are asked for.
    pub fn has_children(&self) -> bool {
        !self.child.is_empty() || self.children || self.by_type
    }

    /// Returns the key of the option that asks for child tables.
    pub fn key_of_children(&self) -> &'static str {
        match (self.child.is_empty(), self.children) {
            (false, _) => "child",
            (true, true) => "children",
            (true, false) => "by-type",
        }
    }

    /// Checks that options go together.
    ///
    /// # Errors
    /// When rows are asked for in two ways.
    pub fn check(&self) -> Result<(), OptionFault> {
        match self.explode.is_some() && self.has_children() {
            true => Err(OptionFault::about(format!(
                "`{{explode}}` cannot be used with `{{{}}}`: they are two ways to make rows of a list",
                self.key_of_children()
            ))),
            false => Ok(()),
        }
    }

    /// Returns how each record becomes a row for each element of a list, if that is asked for.
    ///
    /// # Errors
    /// When the path leads to no list.
    pub fn explode(&self, shape: &Arc<Shape>, record: NodeId) -> Result<Option<Explode>, OptionFault> {
        let explode = |path| Explode::new(shape, record, path).map_err(OptionFault::from);
        self.explode.as_deref().map(explode).transpose()
    }

    /// Returns the child tables that are asked for.
    ///
    /// # Errors
    /// When a path leads to no list or component.
    pub fn children(&self, shape: &Arc<Shape>, record: NodeId) -> Result<Option<Children>, OptionFault> {
        let mut paths = self.child.clone();
        if self.children {
            paths.extend(Children::lists_of(shape, record)?);
        }
        if self.by_type {
            paths.extend(Children::alternatives_of(shape, record)?);
        }
        match paths.is_empty() {
            true => Ok(None),
            false => Ok(Some(Children::new(shape, record, &paths)?)),
        }
    }

    /// Returns the sums, ranges and sequences that are asked for.
    ///
    /// # Errors
    /// When there is no such component.
    pub fn figures(&self, shape: &Shape, record: NodeId) -> Result<Figures, OptionFault> {
        Figures::new(shape, record, &self.total, &self.sequence)
            .map_err(|fault| OptionFault::new(fault.to_string()))
    }

    /// Returns an empty sequence for the numbers of files of 3GPP TS 32.297.
    pub fn file_numbers(&self) -> Sequence {
        // All ones are not a number.
        let range = self.file_sequence.as_ref().map(|range| range.0.clone());
        Sequence::around(range.unwrap_or_else(|| 0..=u32::MAX.into()))
    }

    /// Returns the filter that is asked for, on values as they are shown.
    ///
    /// # Errors
    /// When a condition does not fit the type.
    pub fn filter(&self, shown: Shown<'_>, record: NodeId) -> Result<Option<Filter>, OptionFault> {
        if self.conditions.is_empty() {
            return Ok(None);
        }
        let filter = Filter::new(shown.shape(), shown.leaves, record, &self.conditions);
        filter.map(Some).map_err(|fault| OptionFault::new(fault.to_string()))
    }
}
