//! Names for a schema-less walk: which component of a type an element is, followed by tags alone.
//!
//! The walk needs no complete value, so that `tercet dump --type` also names the parts of a damaged one.

use tercet::plan::ber::{Program, Slot, UNTAGGED, flags};
use tercet::plan::{Code, FieldId, Kind, NodeId, Plan, Shape};
use tercet::runtime::Tag;

/// The state of a walk: what is known of each open element.
#[derive(Debug)]
pub struct Names<'p> {
    plan: &'p Plan,
    root: NodeId,
    levels: Vec<Level>,
}

/// What the elements inside of an open element are.
#[derive(Clone, Debug)]
enum Level {
    /// Parts of a value of this type, from this slot on if their order is fixed.
    Parts(NodeId, u32),
    /// The value of the slot, of whose inner tags this many have been passed.
    Tagged(Slot, usize),
    /// Nothing is known.
    Unknown,
}

impl<'p> Names<'p> {
    /// A walk over values of a type.
    pub fn new(plan: &'p Plan, root: NodeId) -> Self {
        Self { plan, root, levels: Vec::new() }
    }

    /// What the plan knows of values.
    pub fn shape(&self) -> &'p Shape {
        &self.plan.shape
    }

    /// The name of an element with this tag at this depth, and its type; elements are asked for in their order.
    pub fn element(&mut self, depth: usize, tag: Tag, constructed: bool) -> Option<String> {
        let Code::Ber(program) = &self.plan.code else { return None };
        self.levels.truncate(depth);
        let level = match depth.checked_sub(1).map(|outer| self.levels.get(outer)) {
            None => self.outermost(program, tag),
            Some(None | Some(Level::Unknown)) => None,
            Some(Some(Level::Parts(node, from))) => {
                let (node, from) = (*node, *from);
                let found = self.part(program, node, from, tag);
                if let Some((at, ..)) = &found
                    && self.plan.shape.node(node).kind == Kind::Sequence
                {
                    self.levels[depth - 1] = Level::Parts(node, at + 1);
                }
                found.map(|(_, name, level)| (name, level))
            }
            Some(Some(Level::Tagged(slot, passed))) => {
                let chain = program.chain(slot);
                let fits = chain.get(*passed).is_none_or(|&bits| bits == tag.bits());
                if *passed < chain.len() {
                    let inner = self.inside(program, slot, passed + 1, constructed);
                    fits.then(|| (String::new(), inner))
                } else {
                    self.part(program, slot.node, 0, tag).map(|(_, name, level)| (name, level))
                }
            }
        };
        let (name, inner) = level.unwrap_or_else(|| (String::new(), Level::Unknown));
        if constructed {
            self.levels.resize(depth, Level::Unknown);
            self.levels.push(inner);
        }
        (!name.is_empty()).then_some(name)
    }

    /// The whole value: its type's name, and the alternative if it is a CHOICE.
    fn outermost(&self, program: &Program, tag: Tag) -> Option<(String, Level)> {
        let shape = &self.plan.shape;
        let code = program.nodes.get(self.root.index())?;
        let own = shape.node(self.root).name.map(|name| shape.name(name).to_owned()).unwrap_or_default();
        match program.slots.get(code.entry as usize) {
            Some(slot) if slot.tag == tag.bits() => Some((own, self.inside(program, slot, 0, true))),
            Some(slot) if slot.tag != UNTAGGED => None,
            _ => {
                let found = self.part(program, self.root, 0, tag);
                found.map(|(_, name, level)| (format!("{own}: {name}"), level))
            }
        }
    }

    /// A component, alternative or element of a type, with the number of its slot.
    fn part(&self, program: &Program, node: NodeId, from: u32, tag: Tag) -> Option<(u32, String, Level)> {
        let code = program.nodes.get(node.index())?;
        let list = matches!(code.kind, Kind::SequenceOf | Kind::SetOf);
        let at = if list { 0 } else { program.find(code, tag.bits(), from)? };
        let slot = program.slots_of(code).get(at as usize)?;
        let (name, shown) = self.label(slot);
        if slot.tag == UNTAGGED && slot.kind == Kind::Choice {
            let found = self.part(program, slot.node, 0, tag);
            return found.map(|(_, inner, level)| (at, format!("{name}: {inner}"), level));
        }
        let name = if shown.is_empty() { name } else { format!("{name} {shown}") };
        Some((at, name, self.inside(program, slot, 0, true)))
    }

    fn label(&self, slot: &Slot) -> (String, String) {
        let shape = &self.plan.shape;
        let name = if slot.field == FieldId::ROOT { "" } else { shape.name(shape.field(slot.field).name) };
        let node = shape.node(slot.node);
        let alias = (slot.field != FieldId::ROOT)
            .then(|| shape.field(slot.field).aliases.first().copied())
            .flatten()
            .or(node.name);
        let shown = alias.map(|alias| shape.name(alias)).unwrap_or_default();
        let shown = shown.rsplit('.').next().unwrap_or_default();
        if shown == name { (name.to_owned(), String::new()) } else { (name.to_owned(), shown.to_owned()) }
    }

    /// What is inside of an element of a slot whose outermost and `passed` inner tags have been met.
    fn inside(&self, program: &Program, slot: &Slot, passed: usize, constructed: bool) -> Level {
        if !constructed {
            return Level::Unknown;
        }
        if passed < program.chain(slot).len() || slot.flags & flags::OPEN_ENDED != 0 {
            return Level::Tagged(*slot, passed);
        }
        if slot.kind.is_constructed() { Level::Parts(slot.node, 0) } else { Level::Unknown }
    }
}
