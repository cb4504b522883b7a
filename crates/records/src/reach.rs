//! Which components have to be decoded for the sake of others inside of them.

use tercet_dynamic::Shape;

/// Marks fields, and those on the way to them, as wanted.
pub(crate) fn want(shape: &Shape, fields: impl Iterator<Item = usize>, wanted: &mut [bool]) {
    let mut leads = vec![false; shape.nodes.len()];
    for index in fields {
        wanted[index] = true;
        leads[shape.fields[index].parent.index()] = true;
    }
    loop {
        let mut more = false;
        for (index, field) in shape.fields.iter().enumerate() {
            let inside = |node: tercet_dynamic::NodeId| {
                leads[node.index()]
                    || shape.node(node).containing.is_some_and(|content| leads[content.index()])
            };
            if inside(field.node) && !wanted.get(index).is_none_or(|wanted| *wanted) {
                wanted[index] = true;
                more = true;
            }
            if inside(field.node) && !leads[field.parent.index()] {
                leads[field.parent.index()] = true;
                more = true;
            }
        }
        if !more {
            return;
        }
    }
}
