//! Some components of values, for sinks that have no columns.

use crate::layout::{Layout, Options, ROOT, What};
use tercet_dynamic::{Leaf, Marked, Place, Sink, say_constant};
use tercet_plan::{FieldId, NodeId, Rules, Shape};

/// The components of a type that have these columns: [`Selection::sink`] lets another sink hear nothing else.
#[derive(Debug)]
pub struct Selection<'s> {
    shape: &'s Shape,
    layout: Layout,
    /// Places that have begun.
    open: Vec<u32>,
    /// How many values are open that are heard as a whole, and that are not heard.
    whole: u32,
    skipped: u32,
}

impl<'s> Selection<'s> {
    /// The components of these paths, in values of a type.
    pub fn new(shape: &'s Shape, root: NodeId, columns: &[String]) -> Self {
        let options = Options { columns: columns.to_vec(), ..Options::default() };
        let layout = Layout::new(shape, root, &options);
        Self { shape, layout, open: Vec::new(), whole: 0, skipped: 0 }
    }

    /// A sink for the events of one value, in front of another.
    pub fn sink<'a, S: Sink>(&'a mut self, inner: &'a mut S) -> Selected<'a, 's, S> {
        self.open.clear();
        (self.whole, self.skipped) = (0, 0);
        Selected { selection: self, inner }
    }

    /// What to do with a part of the value that has begun last.
    fn what(&self, field: FieldId) -> (u32, What) {
        let Some(&around) = self.open.last() else { return (ROOT, self.layout.what(ROOT)) };
        let place = self.layout.child(around, field).unwrap_or(u32::MAX);
        (place, self.layout.what(place))
    }

    /// Whether the name of the alternative is wanted, if the value that has begun last is a CHOICE.
    fn is_named(&self) -> bool {
        self.open.last().is_some_and(|around| self.layout.what(*around) == What::Choice(true))
    }

    fn hears_leaf(&self, field: FieldId) -> bool {
        self.skipped == 0 && (self.whole > 0 || self.what(field).1 != What::Skip || self.is_named())
    }
}

/// Hears a value and has another sink hear the components selected.
#[derive(Debug)]
pub struct Selected<'a, 's, S> {
    selection: &'a mut Selection<'s>,
    inner: &'a mut S,
}

impl<S: Sink> Sink for Selected<'_, '_, S> {
    fn begin(&mut self, rules: Rules) {
        self.inner.begin(rules);
    }

    fn leaf(&mut self, field: FieldId, node: NodeId, leaf: Leaf<'_>) {
        if self.selection.hears_leaf(field) {
            self.inner.leaf(field, node, leaf);
        }
    }

    fn marked(&mut self, field: FieldId, node: NodeId, leaf: Leaf<'_>, marked: &Marked) {
        if self.selection.hears_leaf(field) {
            self.inner.marked(field, node, leaf, marked);
        }
    }

    fn open(&mut self, field: FieldId, node: NodeId) {
        let selection = &mut *self.selection;
        if selection.skipped > 0 {
            selection.skipped += 1;
            return;
        }
        if selection.whole > 0 {
            selection.whole += 1;
        } else {
            match selection.what(field) {
                // The name of an alternative is heard with nothing inside.
                (place, What::Skip) if selection.is_named() => selection.open.push(place),
                (_, What::Skip) => {
                    selection.skipped = 1;
                    return;
                }
                (place, What::Group | What::Choice(_) | What::List) => selection.open.push(place),
                _ => selection.whole = 1,
            }
        }
        self.inner.open(field, node);
    }

    fn close(&mut self, field: FieldId, node: NodeId) {
        let selection = &mut *self.selection;
        if selection.skipped > 0 {
            selection.skipped -= 1;
            return;
        }
        if selection.whole > 0 {
            selection.whole -= 1;
        } else {
            selection.open.pop();
        }
        self.inner.close(field, node);
    }

    fn absent(&mut self, field: FieldId, node: NodeId, constant: u32) {
        if !self.selection.hears_leaf(field) {
            return;
        }
        // A DEFAULT with parts may have some that are not selected.
        let has_parts = matches!(self.selection.what(field).1, What::Group | What::Choice(_) | What::List);
        if self.selection.whole == 0 && has_parts {
            return say_constant(self.selection.shape, field, node, constant, self);
        }
        self.inner.absent(field, node, constant);
    }

    fn unknown(&mut self, addition: u32, leaf: Leaf<'_>) {
        if self.selection.whole > 0 {
            self.inner.unknown(addition, leaf);
        }
    }

    fn earlier(&mut self, additions: u32) {
        if self.selection.whole > 0 {
            self.inner.earlier(additions);
        }
    }

    fn wants(&self, field: FieldId) -> bool {
        self.selection.hears_leaf(field) && self.inner.wants(field)
    }

    #[inline(always)]
    fn wants_places(&self) -> bool {
        self.inner.wants_places()
    }

    /// Passes on the places of the components selected, and of the values around them.
    fn place(&mut self, field: FieldId, node: NodeId, place: Place) {
        let is_heard = match field {
            FieldId::BEGUN => self.selection.skipped == 0,
            field => self.selection.hears_leaf(field),
        };
        if is_heard {
            self.inner.place(field, node, place);
        }
    }
}
