//! Identifiers of components shall differ (X.680 §25.11, §27.3, §29.3).

use super::Checker;
use crate::ir::Components;
use rustc_hash::FxHashMap;
use tercet_syntax::Span;

impl Checker<'_> {
    pub(super) fn identifiers(&mut self, components: &Components) {
        if components.list.len() < 2 {
            return;
        }
        let mut seen: FxHashMap<&str, Span> = FxHashMap::default();
        seen.reserve(components.list.len());
        for component in &components.list {
            if let Some(first) = seen.insert(&component.name, component.span) {
                let finding = self
                    .slip(
                        "E0263",
                        component.span,
                        format!("a component `{}` is there already", component.name),
                    )
                    .label("both are kept")
                    .also(first, "the other one");
                self.out.push(finding);
            }
        }
    }
}
