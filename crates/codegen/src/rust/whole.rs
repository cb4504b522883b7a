//! What types that are taken apart have of their parts: `Clone`, `PartialEq`, `Default`, `Debug`, `into_owned`.

use super::Printer;
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
        "fmt::Debug",
        "fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result { parts::debug(self, f) }",
    )];
    if p.types.repr(node) != Repr::Enumerated {
        lines.push(("Clone", "fn clone(&self) -> Self { parts::clone(self) }"));
        lines.push(("PartialEq", "fn eq(&self, other: &Self) -> bool { parts::equal(self, other) }"));
    }
    if p.is_sparse(node) {
        lines.push(("Default", "fn default() -> Self { Self::EMPTY }"));
    }
    if mixed {
        let line = "fn notation(&self, p: &mut codec::Printer<'_, '_>) -> fmt::Result { p.seen(parts::Value::seen(self)) }";
        lines.push(("Notation", line));
    }
    let owned = p.types.borrows(node).then(|| {
        format!("#[must_use] pub fn into_owned(self) -> {plain}<'static> {{ parts::owned(&self) }}")
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
