//! What types that are taken apart have of their parts: `Clone`, `PartialEq`, `Default`, `Debug`, `into_owned`.

use super::Printer;
use super::imports::{CODEC, FMT, NOTATION, PARTS};
use crate::types::Repr;
use tercet_plan::NodeId;

pub(super) fn print(p: &mut Printer<'_>) {
    let items: Vec<NodeId> = p.types.nodes().filter(|node| p.is_item(*node)).collect();
    // What has codecs of its own shows what is in it by its notation.
    let mixed = p.roots.iter().any(|root| root.wraps) || items.iter().any(|node| !p.is_apart(*node));
    for node in items {
        if p.is_apart(node) {
            p.text.line("");
            one(p, node, mixed);
        }
    }
}

fn one(p: &mut Printer<'_>, node: NodeId, mixed: bool) {
    let (plain, name) = (p.names.ty(node), format!("{}{}", p.names.ty(node), p.lifetime(node, "'_")));
    let mut lines = vec![(
        format!("{FMT}::Debug"),
        format!("fn fmt(&self, f: &mut {FMT}::Formatter<'_>) -> {FMT}::Result {{ {PARTS}::debug(self, f) }}"),
    )];
    if p.types.repr(node) != Repr::Enumerated {
        lines.push(("Clone".to_owned(), format!("fn clone(&self) -> Self {{ {PARTS}::clone(self) }}")));
        lines.push((
            "PartialEq".to_owned(),
            format!("fn eq(&self, other: &Self) -> bool {{ {PARTS}::equal(self, other) }}"),
        ));
    }
    if p.is_sparse(node) {
        lines.push(("Default".to_owned(), "fn default() -> Self { Self::EMPTY }".to_owned()));
    }
    if mixed {
        let line = format!(
            "fn notation(&self, p: &mut {CODEC}::Printer<'_, '_>) -> {FMT}::Result {{ p.value(self) }}"
        );
        lines.push((NOTATION.to_string(), line));
    }
    let owned = p.types.borrows(node).then(|| {
        format!("#[must_use] pub fn into_owned(self) -> {plain}<'static> {{ {PARTS}::owned(&self) }}")
    });
    for (what, line) in lines {
        p.text.open(format!("impl {what} for {name} {{"));
        p.text.line(line);
        p.text.close("}");
    }
    if let Some(owned) = owned {
        p.text.open(format!("impl {name} {{"));
        p.text.doc("Returns the value without borrows.");
        p.text.line(owned);
        p.text.close("}");
    }
}
