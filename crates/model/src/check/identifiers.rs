//! Identifiers of components shall differ (X.680 §25.11, §27.3, §29.3).

use super::Checker;
use crate::ir::Components;

impl<'m> Checker<'m> {
    pub(super) fn identifiers(&mut self, components: &'m Components) {
        if components.list.len() < 2 {
            return;
        }
        self.names.begin();
        for component in &components.list {
            if let Some(first) = self.names.meet(&component.name, component.span) {
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
