//! Options of which records become rows.

use crate::exit::{Failure, Outcome};
use clap::Args;
use std::ops::RangeInclusive;
use std::sync::Arc;
use tercet::dynamic::{NodeId, Shape};
use tercet::records::{Children, Condition, Explode, Figures, Filter, Sequence, circle_of};

/// Which records become rows.
#[derive(Args, Clone, Debug, Default)]
pub struct RowsArgs {
    /// Leave out records unless a component compares so: `PATH=VALUE`, `!=`, `<`, `<=`, `>`, `>=`, or `PATH in (A, B)`, with
    /// values as they are shown; `choice=NAME` is the alternative; all conditions have to be met if there are several
    #[arg(long = "where", id = "where", value_name = "CONDITION")]
    pub conditions: Vec<Condition>,

    /// Add up this component over the records that become rows, and tell its least and greatest value: a path, or a name for
    /// components of that name wherever they are
    #[arg(long, value_name = "PATH", value_delimiter = ',')]
    pub total: Vec<String>,

    /// Tell which numbers of this component are missing between the least and the greatest, and which there are more than once,
    /// over all inputs; with where they begin again: `recordNumber=0..9999`
    #[arg(long, value_name = "PATH[=FIRST..LAST]", value_delimiter = ',')]
    pub sequence: Vec<String>,

    /// Where the sequence numbers of files of 3GPP TS 32.297 begin again, if that is before the end of 32 bits
    #[arg(long, value_name = "FIRST..LAST", value_parser = circle_of)]
    file_sequence: Option<RangeInclusive<i64>>,

    /// A row for each element of this list, with what stands around it repeated, and a column with the number of the element
    /// named after the list; a record without elements is one row
    #[arg(long, value_name = "PATH")]
    pub explode: Option<String>,

    /// A table of its own for each of these lists or components and for the lists around them, in a file beside that of the
    /// records; its rows have the file and the number of their record and their index in each list, and the records have the
    /// number of its rows in place of it
    #[arg(long, value_name = "PATH", value_delimiter = ',', conflicts_with = "explode")]
    pub child: Vec<String>,

    /// The same for all lists that are not inside of other lists
    #[arg(long, conflicts_with = "explode")]
    pub children: bool,

    /// The same for each alternative, where the records are a CHOICE: a file for each type of record
    #[arg(long, conflicts_with = "explode")]
    pub by_type: bool,
}

impl RowsArgs {
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
    pub fn filter(&self, shape: &Shape, record: NodeId) -> Outcome<Option<Filter>> {
        if self.conditions.is_empty() {
            return Ok(None);
        }
        Filter::new(shape, record, &self.conditions).map(Some).map_err(Failure::usage)
    }
}
