//! Numbers with names: named numbers, named bits, enumeration items (X.680 §19, §20, §22).

use super::Resolver;
use super::lookup::Scope;
use super::types::BuiltIn;
use crate::ir::{self, Value};
use crate::names::Names;
use num_bigint::BigInt;
use rustc_hash::{FxHashMap, FxHashSet};
use smol_str::SmolStr;
use tercet_syntax::Diagnostic;
use tercet_syntax::ast;

impl<'a> Resolver<'a> {
    /// The named numbers of an INTEGER or the named bits of a BIT STRING.
    pub(super) fn named_numbers(
        &mut self,
        scope: &Scope<'a>,
        items: &'a [ast::NamedNumber],
        bits: bool,
    ) -> Vec<ir::NamedNumber> {
        let mut names = std::mem::take(&mut self.names);
        names.begin();
        let mut numbers = FxHashSet::default();
        let mut out = Vec::with_capacity(items.len());
        let span = items.first().map_or_else(Default::default, |item| item.name.span);
        if !self.spend(items.len() as u64, span) {
            return out;
        }
        for item in items {
            let Some(value) = self.item_number(scope, &item.value) else { continue };
            if bits && value.sign() == num_bigint::Sign::Minus {
                // X.680 §22.4: bits are counted from zero.
                self.report(Diagnostic::error("E0256", item.value.span, "a bit has no negative number"));
                continue;
            }
            self.check_item(&item.name, &mut names);
            if !numbers.insert(value.clone()) {
                // X.680 §19.4, §22.5: each number shall be different.
                let finding = self
                    .slip("E0254", item.value.span, format!("the number {value} has a name already"))
                    .label("both names are kept");
                self.report(finding);
            }
            out.push(ir::NamedNumber { name: item.name.text.clone(), value });
        }
        self.names = names;
        out
    }

    fn item_number(&mut self, scope: &Scope<'a>, value: &'a ast::Value) -> Option<BigInt> {
        if let ast::ValueKind::Integer(digits) = &value.kind
            && let Ok(number) = digits.parse::<i64>()
        {
            return Some(number.into());
        }
        let governor = self.type_of(BuiltIn::Integer);
        match self.value(scope, value, governor) {
            Value::Integer(number) => Some(number),
            Value::Error => None,
            _ => {
                self.report(Diagnostic::error("E0203", value.span, "a number is needed here"));
                None
            }
        }
    }

    fn check_item(&mut self, name: &'a ast::Ident, names: &mut Names<'a>) {
        if let Some(first) = names.meet(&name.text, name.span) {
            // X.680 §19.5, §20.2, §22.6: identifiers shall differ.
            let finding = self
                .slip("E0253", name.span, format!("`{}` is named twice", name.text))
                .label("both are kept")
                .also(first, "first here");
            self.report(finding);
        }
    }

    /// ENUMERATED with all its numbers.
    pub(super) fn enumeration(&mut self, scope: &Scope<'a>, tree: &'a ast::Enumeration) -> ir::Enumeration {
        let mut names = std::mem::take(&mut self.names);
        names.begin();
        let root = self.written_items(scope, &tree.root, &mut names);
        let mut used: FxHashSet<i64> = root.iter().filter_map(|(_, number)| *number).collect();
        if used.len() < root.iter().filter(|(_, number)| number.is_some()).count() {
            self.report_same_numbers(&tree.root, &root);
        }
        // X.680 §20.3: items without a number get successive ones from 0 on, but for those that are taken.
        let mut next = 0i64;
        let mut numbered = Vec::with_capacity(root.len());
        for (name, number) in root {
            let number = number.unwrap_or_else(|| {
                while used.contains(&next) {
                    next += 1;
                }
                next += 1;
                next - 1
            });
            numbered.push((name, number));
        }

        // §20.6: an additional item gets the smallest number that is not in the root and above all additions so far.
        let mut additions: Vec<(SmolStr, i64)> = Vec::new();
        if let Some(items) = &tree.additional
            && !items.is_empty()
        {
            used.extend(numbered.iter().map(|(_, number)| *number));
            let written = self.written_items(scope, items, &mut names);
            let mut above: Option<i64> = None;
            for ((name, number), item) in written.into_iter().zip(items) {
                let number = match number {
                    Some(number) => {
                        // §20.4–20.5: additional numbers are new and ascend.
                        if used.contains(&number) || above.is_some_and(|last| number <= last) {
                            let text = format!("`{name}` needs a number above those before it");
                            let finding = self.slip("E0255", item.name.span, text).label("kept as it is");
                            self.report(finding);
                        }
                        number
                    }
                    None => {
                        let mut number = above.map_or(0, |last| last.saturating_add(1));
                        while used.contains(&number) && number < i64::MAX {
                            number += 1;
                        }
                        number
                    }
                };
                above = Some(above.map_or(number, |last| last.max(number)));
                used.insert(number);
                additions.push((name, number));
            }
        }
        self.names = names;
        // X.680 §13.4: EXTENSIBILITY IMPLIED puts `...` at the end of the enumerations of a module as well.
        let extensible = tree.additional.is_some() || self.extensibility_implied(scope);
        ir::Enumeration { root: numbered, additions, extensible }
    }

    fn written_items(
        &mut self,
        scope: &Scope<'a>,
        items: &'a [ast::EnumItem],
        names: &mut Names<'a>,
    ) -> Vec<(SmolStr, Option<i64>)> {
        let mut out = Vec::with_capacity(items.len());
        let span = items.first().map_or_else(Default::default, |item| item.name.span);
        if !self.spend(items.len() as u64, span) {
            return out;
        }
        for item in items {
            self.check_item(&item.name, names);
            let number = match &item.value {
                None => None,
                Some(value) => match self.item_number(scope, value).map(|n| i64::try_from(&n)) {
                    Some(Ok(number)) => Some(number),
                    Some(Err(_)) => {
                        self.report(
                            Diagnostic::error("E0257", value.span, "enumeration numbers have 64 bits here")
                                .label("out of range"),
                        );
                        None
                    }
                    None => None,
                },
            };
            out.push((item.name.text.clone(), number));
        }
        out
    }

    fn report_same_numbers(&mut self, trees: &'a [ast::EnumItem], items: &[(SmolStr, Option<i64>)]) {
        let mut seen = FxHashMap::default();
        for (tree, (_, number)) in trees.iter().zip(items) {
            let Some(number) = number else { continue };
            if let Some(first) = seen.insert(*number, tree.name.span) {
                let text = format!("`{}` has the number {number} of another item", tree.name.text);
                let finding = self
                    .slip("L0402", tree.name.span, text)
                    .label("both are kept; decoding gives the first")
                    .also(first, "the other one");
                self.report(finding);
            }
        }
    }

    /// Whether the module says EXTENSIBILITY IMPLIED (X.680 §13.4).
    pub(super) fn extensibility_implied(&self, scope: &Scope<'a>) -> bool {
        self.modules.get(scope.module.index()).is_some_and(|m| m.extensibility_implied)
    }
}
