//! A conversion that is bound to the type of records.

use super::{FormOptions, OptionFault};
use crate::children::Children;
use crate::control_totals::ControlTotalRules;
use crate::explode::Explode;
use crate::figures::Figures;
use crate::filter::Filter;
use crate::formats::{self, Format, Shown};
use crate::interpret::Interpretation;
use crate::output::Output;
use crate::writer::RowWriter;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tercet_dynamic::{NodeId, Shape};

/// What a conversion comes to for records of a type.
#[derive(Clone, Debug)]
pub struct Prepared {
    shape: Arc<Shape>,
    /// The type of records.
    pub record: NodeId,
    /// How bytes are shown, if otherwise than they are.
    pub rendering: Option<Interpretation>,
    /// How records become rows, if they are several each.
    pub explode: Option<Explode>,
    /// How records become rows of several tables, if they do.
    pub children: Option<Children>,
    /// The columns that are asked for; all if there are none.
    pub columns: Vec<String>,
    /// The totals that files have.
    pub control_totals: ControlTotalRules,
    /// Which records become rows.
    pub filter: Option<Filter>,
    /// The sums, ranges and sequences that are asked for.
    pub figures: Figures,
}

impl Prepared {
    /// Returns a conversion of records of a type as they are.
    pub fn new(shape: &Arc<Shape>, record: NodeId) -> Self {
        Self {
            shape: Arc::clone(shape),
            record,
            rendering: None,
            explode: None,
            children: None,
            columns: Vec::new(),
            control_totals: ControlTotalRules::default(),
            filter: None,
            figures: Figures::default(),
        }
    }

    /// Returns the values that are read, as they are shown.
    pub fn shown(&self) -> Shown<'_> {
        self.rendering.as_ref().map_or_else(|| Shown::from(&self.shape), Shown::from)
    }

    /// Returns the rows of records that are written, and their type.
    pub fn rows(&self) -> (Shown<'_>, NodeId) {
        match (&self.explode, &self.children) {
            (Some(explode), _) => (self.shown().exploded(explode), explode.root()),
            (None, Some(children)) => (self.shown().with_children(children), children.root()),
            (None, None) => (self.shown(), self.record),
        }
    }

    /// Finds the columns of a form, which may be patterns.
    ///
    /// # Errors
    /// When a pattern matches nothing.
    pub fn expand_columns(&mut self, form: &FormOptions) -> Result<(), OptionFault> {
        self.columns = form.expanded(self.shown(), self.record)?.columns;
        Ok(())
    }

    /// Checks that the rows of all tables have the columns of a form.
    ///
    /// # Errors
    /// When a column is unknown, or two have one name.
    pub fn check_columns(&self, form: &FormOptions, format: Format) -> Result<(), OptionFault> {
        formats::tables(self, form).iter().try_for_each(|table| table.check_columns(format))
    }

    /// Returns where child tables go, beside the output of the records.
    pub fn table_paths(&self, output: &Path) -> Vec<PathBuf> {
        formats::paths(self.children.as_ref(), output)
    }

    /// Returns the fields of records that have to be decoded for the rows, or `None` for all.
    pub fn fields(&self, form: &FormOptions, format: Format) -> Option<Vec<bool>> {
        formats::fields(self, form, format)
    }

    /// Makes what writes the rows; child tables have outputs in the order of [`Children::tables`].
    pub fn writer<'o>(
        &'o self,
        form: &FormOptions,
        format: Format,
        outputs: &'o mut [Output],
    ) -> Box<dyn RowWriter + Send + 'o> {
        formats::writer(self, form, format, outputs)
    }

    /// Makes what writes the rows on another thread: a writer of [`Prepared::writer`] takes them over.
    pub fn part_writer(&self, form: &FormOptions, format: Format) -> Box<dyn RowWriter + Send + '_> {
        formats::part_writer(self, form, format)
    }
}
