//! Options of which records become rows.

use crate::exit::{Failure, Outcome};
use crate::render::Shown;
use clap::Args;
use std::ops::RangeInclusive;
use std::sync::Arc;
use tercet::dynamic::{NodeId, Shape};
use tercet::records::{Children, Condition, Explode, Figures, Filter, Sequence, circle_of};

/// Which records become rows.
#[derive(Args, Clone, Debug, Default)]
pub struct RowsArgs {
    /// Keep only the records that match, such as `duration >= 60`
    ///
    /// `duration >= 60 and choice in (moCall, mtCall)`, for example. Comparisons are `=`, `!=`, `<`, `<=`, `>`, `>=`, `in (A, B)`, `like 'A%'`, `is null` and `is not null`, joined with `and`,
    /// `or`, `not` and parentheses. Values are compared as they are shown. `choice=NAME` is the alternative. An absent component
    /// never matches, except with `is null`. `LIST.x > 5` holds if one element of the list meets it, `LIST[0].x > 5` if the first
    /// does. If the option is given several times, a record must match all conditions.
    #[arg(long = "where", id = "where", value_name = "CONDITION")]
    pub conditions: Vec<Condition>,

    /// Add up this component, and report its least and greatest value
    ///
    /// A path, or a name for components of that name wherever they are. Records that `--where` does not keep do not count.
    #[arg(long, value_name = "PATH", value_delimiter = ',')]
    pub total: Vec<String>,

    /// Report missing and repeated numbers of this component
    ///
    /// Over all inputs, between the least and the greatest number. `recordNumber=0..9999` is for numbers that begin again.
    #[arg(long, value_name = "PATH[=FIRST..LAST]", value_delimiter = ',')]
    pub sequence: Vec<String>,

    /// Range of the sequence numbers of files of 3GPP TS 32.297, if it is less than 32 bits
    #[arg(long, value_name = "FIRST..LAST", value_parser = circle_of)]
    file_sequence: Option<RangeInclusive<i64>>,

    /// Make a row of each element of this list
    ///
    /// The other components are repeated, and a column named after the list has the number of the element. A record without
    /// elements is one row.
    #[arg(long, value_name = "PATH")]
    pub explode: Option<String>,

    /// Write a separate table for each of these lists or components
    ///
    /// Each table is a file beside that of the records; lists around them have tables too. Its rows have the file and the number
    /// of their record and their index in each list. The records have the number of rows instead of the list.
    #[arg(long, value_name = "PATH", value_delimiter = ',', conflicts_with = "explode")]
    pub child: Vec<String>,

    /// Write a separate table for each list that is not inside of another list
    #[arg(long, conflicts_with = "explode")]
    pub children: bool,

    /// Write a separate table for each alternative, where records are a CHOICE
    #[arg(long, conflicts_with = "explode")]
    pub by_type: bool,
}

impl RowsArgs {
    /// Whether child tables are asked for.
    pub fn has_children(&self) -> bool {
        self.children || !self.child.is_empty()
    }

    /// The option that asks for child tables.
    pub fn option_of_children(&self) -> &'static str {
        match (self.child.is_empty(), self.children) {
            (false, _) => "--child",
            (true, true) => "--children",
            (true, false) => "--by-type",
        }
    }

    /// The rows asked for, of records of a shape.
    pub fn explode(&self, shape: &Arc<Shape>, record: NodeId) -> Outcome<Option<Explode>> {
        let explode = |path| Explode::new(shape, record, path).map_err(Failure::usage);
        self.explode.as_deref().map(explode).transpose()
    }

    /// The child tables asked for, of records of a shape.
    pub fn children(&self, shape: &Arc<Shape>, record: NodeId) -> Outcome<Option<Children>> {
        let mut paths = self.child.clone();
        if self.children {
            paths.extend(Children::lists_of(shape, record).map_err(Failure::usage)?);
        }
        if self.by_type {
            paths.extend(Children::alternatives_of(shape, record).map_err(Failure::usage)?);
        }
        if paths.is_empty() {
            return Ok(None);
        }
        Children::new(shape, record, &paths).map(Some).map_err(Failure::usage)
    }

    /// The sums, ranges and sequences asked for, of values of a shape.
    pub fn figures(&self, shape: &Shape, record: NodeId) -> Outcome<Figures> {
        Figures::new(shape, record, &self.total, &self.sequence).map_err(Failure::usage)
    }

    /// Files of 3GPP TS 32.297, none yet.
    pub fn file_numbers(&self) -> Sequence {
        // All ones are not a number.
        Sequence::around(self.file_sequence.clone().unwrap_or_else(|| 0..=u32::MAX.into()))
    }

    /// The filter asked for, on values of a shape.
    pub fn filter(&self, shown: Shown<'_>, record: NodeId) -> Outcome<Option<Filter>> {
        if self.conditions.is_empty() {
            return Ok(None);
        }
        Filter::new(shown.shape(), shown.leaves, record, &self.conditions).map(Some).map_err(Failure::usage)
    }
}
