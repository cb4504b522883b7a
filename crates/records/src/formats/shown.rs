//! The shape of the values that are written.

use crate::children::{ChildTable, Children};
use crate::explode::Explode;
use crate::interpret::{Interpretation, Leaves};
use std::sync::Arc;
use tercet_dynamic::{Plan, Shape};
use tercet_plan::Rules;

/// The shape of the values that are written, and which of its types a rendering has made.
#[derive(Clone, Copy, Debug)]
pub struct Shown<'p> {
    shape: &'p Arc<Shape>,
    /// The types that the rendering has made.
    pub leaves: Option<Leaves>,
    /// The lists whose elements are rows.
    pub(crate) lists: &'p [String],
    pub(crate) table: TableRole,
    /// By which value notation shows what strings contain under ENCODED BY.
    pub(crate) contents: &'p [(Rules, Plan)],
}

/// Which table rows are of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableRole {
    /// The only one.
    Only,
    /// That of the records, which has children.
    Records,
    /// A child.
    Child,
}

impl<'p> Shown<'p> {
    /// Returns rows of the elements of lists.
    pub fn exploded(self, explode: &'p Explode) -> Self {
        Self { shape: explode.shape(), lists: explode.lists(), ..self }
    }

    /// Returns the rows of records that have child tables.
    pub fn with_children(self, children: &'p Children) -> Self {
        Self { shape: children.shape(), table: TableRole::Records, ..self }
    }

    /// Returns the rows of a child table.
    pub fn child(self, children: &'p Children, table: &'p ChildTable) -> Self {
        Self { shape: children.shape(), lists: table.lists(), table: TableRole::Child, ..self }
    }

    /// Returns the values with plans for what strings contain under ENCODED BY; they have the shape of the values.
    pub fn with_contents(self, contents: &'p [(Rules, Plan)]) -> Self {
        Self { contents, ..self }
    }

    /// Returns the shape of the values.
    pub fn shape(self) -> &'p Arc<Shape> {
        self.shape
    }
}

impl<'p> From<&'p Arc<Shape>> for Shown<'p> {
    fn from(shape: &'p Arc<Shape>) -> Self {
        Self { shape, leaves: None, lists: &[], table: TableRole::Only, contents: &[] }
    }
}

impl<'p> From<&'p Plan> for Shown<'p> {
    fn from(plan: &'p Plan) -> Self {
        Self::from(&plan.shape)
    }
}

impl<'p> From<&'p Interpretation> for Shown<'p> {
    fn from(rendering: &'p Interpretation) -> Self {
        Self { leaves: Some(rendering.leaves()), ..Self::from(rendering.shape()) }
    }
}
