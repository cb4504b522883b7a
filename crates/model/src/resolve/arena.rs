//! Keeps trees that were read again from braces for as long as the run lasts.
//!
//! A list that only grows: each link is set once and never moves, so that a reference to its tree lives as long as
//! the list does, without unsafe code.

use std::cell::OnceCell;
use tercet_syntax::ast;

/// A tree of any kind. Sizes differ, but links are few.
#[derive(Debug)]
pub(super) enum Kept {
    /// The first link, which holds nothing.
    Nothing,
    Type(ast::Type),
    Value(ast::Value),
    Set(ast::ElementSet),
    Reference(ast::Reference),
    Class(ast::ObjectClass),
}

#[derive(Debug)]
struct Link {
    tree: Kept,
    next: OnceCell<Box<Self>>,
}

/// The list.
#[derive(Debug)]
pub(super) struct Arena {
    first: Link,
}

impl Default for Arena {
    fn default() -> Self {
        Self { first: Link { tree: Kept::Nothing, next: OnceCell::new() } }
    }
}

impl Drop for Arena {
    /// Link by link: the drop that the compiler derives would recurse once for each.
    fn drop(&mut self) {
        let mut next = self.first.next.take();
        while let Some(mut link) = next {
            next = link.next.take();
        }
    }
}

/// The end of the list, where trees are added.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tail<'a>(&'a Link);

impl<'a> Tail<'a> {
    pub(super) fn of(arena: &'a Arena) -> Self {
        Self(&arena.first)
    }

    pub(super) fn keep(&mut self, tree: Kept) -> &'a Kept {
        let mut tree = Some(tree);
        loop {
            let at = self.0;
            self.0 = at.next.get_or_init(|| {
                Box::new(Link { tree: tree.take().unwrap_or(Kept::Nothing), next: OnceCell::new() })
            });
            if tree.is_none() {
                return &self.0.tree;
            }
        }
    }
}
