//! Which nodes have one type in a program.
//!
//! Nodes of one type assignment have one. So have the types without a name of their own, instances of parameterized types
//! and those written inside of others, that are called and made the same: specifications of protocols have thousands.

use crate::types::{Origin, Repr};
use std::collections::{BTreeSet, HashMap};
use std::fmt::Write;
use tercet_lower::Lowering;
use tercet_plan::shape::{Key, Presence, Shape};
use tercet_plan::{Code, FieldId, Kind, NodeId, ber, oer, per};

/// For each node the one that stands for all of its type, and the nodes that stand for types of several places.
pub(crate) fn same(
    lowering: &Lowering,
    shape: &Shape,
    reprs: &[Repr],
    origins: &[Origin],
) -> (Vec<NodeId>, BTreeSet<NodeId>) {
    let sorting = Sorting { lowering, shape, reprs, origins, used: used_registers(shape) };
    let mut first = HashMap::new();
    let mut same: Vec<NodeId> = (0..shape.nodes.len()).map(|i| NodeId(i as u32)).collect();
    // Nodes that differ only in the tags they have where they stand alone.
    for (at, node) in shape.nodes.iter().enumerate() {
        if let Some(ty) = lowering.types[at].filter(|_| node.kind.is_constructed()) {
            same[at] = *first.entry((ty, node.kind)).or_insert(same[at]);
        }
    }
    sorting.enumerations(&mut same);
    let classes = sorting.classes(&same);
    let mut first = HashMap::new();
    let mut shared = BTreeSet::new();
    for at in 0..same.len() {
        if same[at].index() == at && sorting.may_share(same[at]) {
            let own = same[at];
            let other = *first.entry(classes[at]).or_insert(own);
            same[at] = other;
            if other != own {
                shared.insert(other);
            }
        }
    }
    for at in 0..same.len() {
        same[at] = same[same[at].index()];
    }
    (same, shared)
}

/// The registers that tables with rows look into; other keys select nothing.
pub(crate) fn used_registers(shape: &Shape) -> BTreeSet<u16> {
    let tables = shape.nodes.iter().filter_map(|node| node.table.as_ref());
    let with_rows = tables.filter(|table| !shape.tables[table.table as usize].rows.is_empty());
    with_rows.flat_map(|table| table.keys.iter().copied()).collect()
}

/// What an enumeration of few items is called after them: `ENUMERATED {on, off}` is `on-off`.
pub(crate) fn called_by_items(shape: &Shape, id: NodeId) -> Option<String> {
    let items = shape.items_of(id);
    if shape.node(id).kind != Kind::Enumerated || shape.node(id).extensible || items.is_empty() {
        return None;
    }
    let names: Vec<&str> = items.iter().map(|item| shape.name(item.name)).collect();
    let name = names.join("-");
    (names.len() <= MOST_ITEMS && name.len() <= LONGEST_NAME).then_some(name)
}

/// Items of an enumeration that is called after them.
const MOST_ITEMS: usize = 4;

/// Characters of such a name.
const LONGEST_NAME: usize = 30;

struct Sorting<'m> {
    lowering: &'m Lowering,
    shape: &'m Shape,
    reprs: &'m [Repr],
    origins: &'m [Origin],
    used: BTreeSet<u16>,
}

impl Sorting<'_> {
    /// Whether a node's type is called by what it is rather than by a name of its own.
    fn may_share(&self, node: NodeId) -> bool {
        let printed = matches!(
            self.reprs[node.index()],
            Repr::Struct | Repr::Choice | Repr::Enumerated | Repr::Table(_) | Repr::List
        );
        printed && !self.has_name(node) && !self.shape.roots.iter().any(|root| root.node == node)
    }

    fn has_name(&self, node: NodeId) -> bool {
        matches!(&self.origins[node.index()], Origin::Named(_, _, arguments) if arguments.is_empty())
    }

    /// Enumerations without a name that have the items of one with a name: a reference with a constraint.
    fn enumerations(&self, same: &mut [NodeId]) {
        let enumerations =
            self.shape.nodes.iter().enumerate().filter(|(_, node)| node.kind == Kind::Enumerated);
        let all: Vec<(NodeId, String)> = enumerations
            .map(|(at, _)| NodeId(at as u32))
            .map(|node| {
                let mut said = String::new();
                self.inside(node, &mut said);
                (node, said)
            })
            .collect();
        let mut named: HashMap<&str, Option<NodeId>> = HashMap::new();
        for (node, said) in all.iter().filter(|(node, _)| self.has_name(*node)) {
            // Two names for the same items leave it open which is meant.
            let known = named.entry(said).or_insert(Some(*node));
            *known = known.filter(|known| self.origins[known.index()] == self.origins[node.index()]);
        }
        for (node, said) in all.iter().filter(|(node, _)| self.may_share(*node)) {
            if let Some(Some(other)) = named.get(said.as_str()) {
                same[node.index()] = *other;
            }
        }
    }

    /// A number for each node, the same for nodes that are made the same, all the way down: what they are says a first
    /// number, and then what their parts are, until no more of them differ.
    fn classes(&self, same: &[NodeId]) -> Vec<usize> {
        let nodes: Vec<NodeId> = (0..self.shape.nodes.len()).map(|i| NodeId(i as u32)).collect();
        let mut numbers = HashMap::new();
        let mut number = |said: String| {
            let next = numbers.len();
            *numbers.entry(said).or_insert(next)
        };
        let mut classes: Vec<usize> =
            nodes.iter().map(|node| number(self.said(same[node.index()]))).collect();
        let parts: Vec<Vec<NodeId>> = nodes.iter().map(|node| self.parts(same[node.index()])).collect();
        let mut count = numbers.len();
        loop {
            let mut numbers = HashMap::new();
            let refined: Vec<usize> = nodes
                .iter()
                .map(|node| {
                    let parts = parts[node.index()].iter().map(|part| classes[part.index()]);
                    let key: Vec<usize> = std::iter::once(classes[node.index()]).chain(parts).collect();
                    let next = numbers.len();
                    *numbers.entry(key).or_insert(next)
                })
                .collect();
            classes = refined;
            if numbers.len() == count {
                return classes;
            }
            count = numbers.len();
        }
    }

    /// The nodes inside.
    fn parts(&self, id: NodeId) -> Vec<NodeId> {
        let node = self.shape.node(id);
        let fields = self.shape.fields_of(id).map(|(_, field)| field.node);
        let rows = node.table.iter().flat_map(|table| &self.shape.tables[table.table as usize].rows);
        fields.chain(rows.map(|row| row.node)).chain(node.containing).collect()
    }

    /// All that the printed text of a type has in it, but for its parts.
    fn said(&self, id: NodeId) -> String {
        let mut out = String::new();
        match &self.origins[id.index()] {
            Origin::Named(module, name, arguments) if arguments.is_empty() => {
                _ = write!(out, "{module}.{name} ");
                // Of constructed types nothing more can differ.
                if self.shape.node(id).kind.is_constructed() {
                    return out;
                }
            }
            Origin::Named(module, name, _) => _ = write!(out, "{module}.{name}{{}} "),
            // What few items call is one type wherever it stands: specifications have hundreds of `ENUMERATED {true}`.
            Origin::Inside(..) if called_by_items(self.shape, id).is_some() => {}
            Origin::Inside(_, name) | Origin::Shared(name) => _ = write!(out, "{name} "),
            Origin::Associated => {}
        }
        self.inside(id, &mut out);
        out
    }

    fn inside(&self, id: NodeId, out: &mut String) {
        let shape = self.shape;
        let node = shape.node(id);
        let constraint = node.constraint.map(|at| &shape.constraints[at as usize]);
        _ = write!(out, "{:?} {} {constraint:?}", node.kind, node.extensible);
        for item in shape.items_of(id) {
            _ = write!(out, " {}={}", shape.name(item.name), item.value);
        }
        for (at, field) in shape.fields_of(id) {
            let default = match field.presence {
                Presence::Default(constant) => shape.defaults.get(constant as usize),
                _ => None,
            };
            let presence = std::mem::discriminant(&field.presence);
            let key = field.key.filter(|key| self.used.contains(key));
            // An element is called by its type.
            let is_list = matches!(node.kind, Kind::SequenceOf | Kind::SetOf);
            let name = if is_list { "" } else { shape.name(field.name) };
            _ = write!(out, " {name} {presence:?} {default:?} {:?} {key:?}", field.place);
            self.tags(Some(at), field.node, out);
        }
        if let Some(table) = &node.table {
            let rows = &shape.tables[table.table as usize].rows;
            if !rows.is_empty() {
                _ = write!(out, " {:?}", table.keys);
            }
            for row in rows {
                let keys: &[Key] = &row.keys;
                _ = write!(out, " {keys:?} {:?}", row.type_name);
                self.tags(None, row.node, out);
            }
        }
        if let Some(inside) = node.containing {
            self.tags(None, inside, out);
        }
        for plan in &self.lowering.plans {
            match &plan.code {
                Code::Per(program) => said_in_per(program, id, out),
                Code::Oer(program) => said_in_oer(program, id, out),
                _ => {}
            }
        }
    }

    /// The tags of a component, or of a node that stands without one.
    fn tags(&self, field: Option<FieldId>, node: NodeId, out: &mut String) {
        for plan in &self.lowering.plans {
            if let Code::Ber(program) = &plan.code {
                let slot: Option<&ber::Slot> = match field {
                    Some(field) => program.slots.get(field.index()),
                    None => program.slots.get(program.nodes[node.index()].entry as usize),
                };
                if let Some(slot) = slot {
                    _ = write!(out, " {} {} {:?}", slot.tag, slot.flags, program.chain(slot));
                }
            }
        }
    }
}

fn said_in_per(program: &per::Program, node: NodeId, out: &mut String) {
    let code = program.nodes[node.index()];
    _ = match code {
        per::Code::Enumerated(at) => write!(out, " {:?}", program.enumerations[at as usize]),
        per::Code::Choice(at) => {
            let choice = &program.choices[at as usize];
            write!(out, " {} {:?} {:?} {:?}", choice.extensible, choice.whole, choice.root, choice.additions)
        }
        per::Code::Sequence(at) => {
            let sequence = &program.sequences[at as usize];
            _ = write!(out, " {} {} {:?}", sequence.extensible, sequence.optional, sequence.root);
            for addition in &sequence.additions {
                _ = match addition {
                    per::Addition::Single(field) => write!(out, " {field}"),
                    per::Addition::Group { optional, members, .. } => write!(out, " {optional}{members:?}"),
                };
            }
            Ok(())
        }
        per::Code::SequenceOf(size, _) => write!(out, " {size:?}"),
        per::Code::Time(at) => write!(out, " {:?}", program.times[at as usize]),
        other => write!(out, " {other:?}"),
    };
}

fn said_in_oer(program: &oer::Program, node: NodeId, out: &mut String) {
    let code = program.nodes[node.index()];
    _ = match code {
        oer::Code::Choice(at) => write!(out, " {:?}", program.choices[at as usize]),
        oer::Code::Time(at) => write!(out, " {:?}", program.times[at as usize]),
        oer::Code::Sequence(at) => {
            let sequence = &program.sequences[at as usize];
            let (root, additions) = (&sequence.root, &sequence.additions);
            write!(out, " {} {} {root:?} {additions:?}", sequence.extensible, sequence.optional)
        }
        other => write!(out, " {other:?}"),
    };
}
