//! Options of which records become rows.

use crate::exit::{Failure, Outcome};
use clap::Args;
use std::sync::Arc;
use tercet::dynamic::{NodeId, Shape};
use tercet::records::{Condition, Explode, Filter};

/// Which records become rows.
#[derive(Args, Clone, Debug, Default)]
pub struct RowsArgs {
    /// Leave out records unless a component compares so: `PATH=VALUE`, `!=`, `<`, `<=`, `>`, `>=`, or `PATH in (A, B)`, with
    /// values as they are shown; `choice=NAME` is the alternative; all conditions have to be met if there are several
    #[arg(long = "where", id = "where", value_name = "CONDITION")]
    pub conditions: Vec<Condition>,

    /// A row for each element of this list, with what stands around it repeated, and a column with the number of the element
    /// named after the list; a record without elements is one row
    #[arg(long, value_name = "PATH")]
    pub explode: Option<String>,
}

impl RowsArgs {
    /// The rows asked for, of records of a shape.
    pub fn explode(&self, shape: &Arc<Shape>, record: NodeId) -> Outcome<Option<Explode>> {
        let explode = |path| Explode::new(shape, record, path).map_err(Failure::usage);
        self.explode.as_deref().map(explode).transpose()
    }

    /// The filter asked for, on values of a shape.
    pub fn filter(&self, shape: &Shape, record: NodeId) -> Outcome<Option<Filter>> {
        if self.conditions.is_empty() {
            return Ok(None);
        }
        Filter::new(shape, record, &self.conditions).map(Some).map_err(Failure::usage)
    }
}
