//! Names of the arcs of object identifiers (X.660, X.680 clause 32).

use crate::Snapshot;
use std::collections::HashMap;
use tercet_model::ir::Value;
use tercet_schema::dynamic::oids::well_known;
use tercet_syntax::ast::{AssignmentKind, Braced, Module, ValueKind};
use tercet_syntax::{Span, TokenKind};

/// Arcs of the identifiers that are shown. A chain of definitions may have many more.
const MOST_ARCS: usize = 64;

/// An object identifier in braces.
struct Written<'s> {
    module: &'s Module,
    braced: Braced,
    arcs: Vec<u128>,
}

/// One component between the braces: a name, a number, or both.
struct Component<'s> {
    name: Option<&'s str>,
    is_numbered: bool,
    span: Span,
}

impl Snapshot {
    /// Returns what is known about the object identifier in braces that a position is in: the arcs up to the component there.
    pub(crate) fn oid_at(&self, at: u32) -> Option<(Span, Vec<u128>)> {
        let holds = |span: Span| span.lo <= at && at <= span.hi;
        let found = self.written_oids().find(|it| holds(it.braced.span))?;
        let components = self.components_of(&found);
        let index = components.iter().position(|it| holds(it.span))?;
        // The first component may be a reference to several arcs.
        let after = components.len() - 1 - index;
        let arcs = found.arcs.get(..found.arcs.len().checked_sub(after)?)?;
        Some((components[index].span, arcs.to_vec()))
    }

    /// Returns arcs with their names, and the names of the whole: those of value references, and one that is known everywhere.
    pub(crate) fn oid_facts(&self, arcs: &[u128]) -> Vec<String> {
        if arcs.is_empty() || arcs.len() > MOST_ARCS {
            return Vec::new();
        }
        let dotted = |arcs: &[u128]| arcs.iter().map(u128::to_string).collect::<Vec<_>>().join(".");
        let names = self.arc_names();
        let mut parts = Vec::new();
        for length in 1..=arcs.len() {
            let (prefix, number) = (&arcs[..length], arcs[length - 1]);
            let name = root_name(prefix).or_else(|| names.get(prefix).copied());
            parts.push(name.map_or_else(|| number.to_string(), |name| format!("{name}({number})")));
        }
        let mut facts = vec![format!("Object identifier `{}`: `{}`", dotted(arcs), parts.join(" "))];
        let known = self.references_to(arcs).into_iter();
        let mut known: Vec<String> = known.chain(well_known(&dotted(arcs)).map(str::to_owned)).collect();
        known.sort();
        known.dedup();
        if !known.is_empty() {
            facts.push(format!("Names: `{}`", known.join("`, `")));
        }
        facts
    }

    /// The value references that stand for an object identifier.
    fn references_to(&self, arcs: &[u128]) -> Vec<String> {
        let modules = &self.schema().model().modules;
        let is_it = |value: &Value| match value {
            Value::Oid(known) => known.len() == arcs.len() && known.to_vec() == arcs,
            _ => false,
        };
        let values = modules.iter().flat_map(|module| &module.values);
        values.filter(|(_, _, value)| is_it(value)).map(|(name, ..)| name.to_string()).collect()
    }

    /// All object identifiers in braces whose arcs are known: of values and of modules.
    fn written_oids(&self) -> impl Iterator<Item = Written<'_>> {
        let model = &self.schema().model().modules;
        let pairs = self.schema().modules().iter().filter_map(move |module| {
            Some((module, model.iter().find(|it| it.span == module.span && it.name == module.name.text)?))
        });
        pairs.flat_map(|(module, known)| {
            let own = module.oid.zip(known.oid.clone());
            let own = own.map(|(braced, arcs)| Written { module, braced, arcs });
            let values: HashMap<&str, &Value> =
                known.values.iter().map(|(name, _, value)| (name.as_str(), value)).collect();
            let values = module.assignments.iter().filter_map(move |it| match &it.kind {
                AssignmentKind::Value { value, .. } => {
                    let ValueKind::Braced(braced) = value.kind else { return None };
                    match values.get(it.name.text.as_str())? {
                        Value::Oid(arcs) if arcs.len() <= MOST_ARCS => {
                            Some(Written { module, braced, arcs: arcs.to_vec() })
                        }
                        _ => None,
                    }
                }
                _ => None,
            });
            own.into_iter().chain(values)
        })
    }

    fn components_of(&self, written: &Written<'_>) -> Vec<Component<'_>> {
        let tokens = &written.module.tokens;
        let inside = written.braced.first as usize + 1..(written.braced.end as usize).saturating_sub(1);
        let mut found: Vec<Component<'_>> = Vec::new();
        let mut is_in_parentheses = false;
        for token in tokens.get(inside).unwrap_or_default() {
            match token.kind {
                TokenKind::OpenParen => is_in_parentheses = true,
                TokenKind::CloseParen => {
                    is_in_parentheses = false;
                    if let Some(last) = found.last_mut() {
                        (last.is_numbered, last.span) = (true, last.span.to(token.span));
                    }
                }
                _ if is_in_parentheses => {}
                TokenKind::Lower => {
                    let name = Some(self.text(token.span));
                    found.push(Component { name, is_numbered: false, span: token.span });
                }
                TokenKind::Number => {
                    found.push(Component { name: None, is_numbered: true, span: token.span });
                }
                _ => {}
            }
        }
        found
    }

    /// The names that are written for arcs, by the arcs up to them; the first of several counts.
    fn arc_names(&self) -> HashMap<Vec<u128>, &str> {
        let mut names = HashMap::new();
        for written in self.written_oids() {
            let components = self.components_of(&written);
            // From the end, as the first component may stand for several arcs; then it is a value reference and names no arc.
            let is_reference = components.len() != written.arcs.len();
            for (from_end, component) in components.iter().rev().enumerate() {
                let is_first = from_end + 1 == components.len();
                let length = written.arcs.len().saturating_sub(from_end);
                if let Some(name) = component.name
                    && (component.is_numbered || is_first && !is_reference)
                {
                    names.entry(written.arcs[..length].to_vec()).or_insert(name);
                }
            }
        }
        names
    }
}

/// The names that X.660 gives to the first arcs.
fn root_name(arcs: &[u128]) -> Option<&'static str> {
    Some(match arcs {
        [0] => "itu-t",
        [1] => "iso",
        [2] => "joint-iso-itu-t",
        [0, 0] => "recommendation",
        [0, 2] => "administration",
        [0, 3] => "network-operator",
        [0, 4] | [1, 3] => "identified-organization",
        [1, 0] => "standard",
        [1, 2] => "member-body",
        _ => return None,
    })
}
