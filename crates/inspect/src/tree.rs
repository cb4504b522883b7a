//! The tree of a value, and the parts of its encoding: which bits belong to which node.

use tercet_schema::dynamic::json::{self, JsonWriter};
use tercet_schema::dynamic::{FieldId, Leaf, Marked, NodeId, Part, Place, Shape, Sink, say_constant};
use tercet_schema::plan::Kind;

/// No parent.
pub(crate) const NONE: u32 = u32::MAX;

/// What is special about a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum State {
    #[default]
    Plain,
    /// It is absent and has a DEFAULT, which is its value.
    Default,
    /// The specification does not know it.
    Unknown,
    /// Its bytes were read, its value was not: the fault is in it.
    Broken,
}

impl State {
    /// Returns the word for the page.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Plain => "",
            Self::Default => "default",
            Self::Unknown => "unknown",
            Self::Broken => "broken",
        }
    }
}

/// A value, or a component, alternative or element of one.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) parent: u32,
    /// The step from the parent: a name, or `[3]`.
    pub(crate) name: Box<str>,
    /// The name of the type, or its kind.
    pub(crate) type_name: Box<str>,
    pub(crate) kind: &'static str,
    /// The type in the plan; `None` without a specification.
    pub(crate) node: Option<NodeId>,
    /// The value, of one without components.
    pub(crate) value: Option<Box<str>>,
    /// What the value means, if it is not what it looks like: digits, a time, a place.
    pub(crate) shown: Option<Box<str>>,
    pub(crate) children: u32,
    /// The first bit and the bit after the last, of all parts of it and what is inside.
    pub(crate) at: u64,
    pub(crate) end: u64,
    pub(crate) state: State,
}

impl Node {
    /// Reports whether any bit belongs to it.
    pub(crate) fn has_bits(&self) -> bool {
        self.at < self.end
    }
}

/// A part of an encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    pub(crate) at: u64,
    pub(crate) bits: u64,
    /// The part; `None` for bits that were not read.
    pub(crate) part: Option<Part>,
    pub(crate) node: u32,
}

/// The nodes of a value in the order of the encoding, each after its parent, and the parts in the order of the input.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tree {
    pub(crate) nodes: Vec<Node>,
    pub(crate) pieces: Vec<Piece>,
    /// The node of each entry of a tape of the same value; empty if there is none.
    pub(crate) events: Vec<u32>,
}

impl Tree {
    /// Adds a node; returns its number.
    pub(crate) fn add(&mut self, node: Node) -> u32 {
        if let Some(parent) = self.nodes.get_mut(node.parent as usize) {
            parent.children += 1;
        }
        self.nodes.push(node);
        self.nodes.len() as u32 - 1
    }

    /// Extends the bits of nodes to those of what is inside, once all parts are known.
    pub(crate) fn finish(&mut self) {
        for piece in &self.pieces {
            if let Some(node) = self.nodes.get_mut(piece.node as usize)
                && piece.part.is_some()
            {
                extend(node, piece.at, piece.at + piece.bits);
            }
        }
        for index in (1..self.nodes.len()).rev() {
            let Node { parent, at, end, .. } = self.nodes[index];
            if at < end
                && let Some(parent) = self.nodes.get_mut(parent as usize)
            {
                extend(parent, at, end);
            }
        }
    }

    /// Returns the path of a node as errors have it: `CallEvent.parties[2].number`.
    pub(crate) fn path(&self, index: u32) -> String {
        let mut steps = Vec::new();
        let mut at = index;
        while let Some(node) = self.nodes.get(at as usize) {
            steps.push(&*node.name);
            at = node.parent;
        }
        let mut path = String::new();
        for step in steps.into_iter().rev() {
            if !path.is_empty() && !step.starts_with('[') {
                path.push('.');
            }
            path.push_str(step);
        }
        path
    }

    /// Returns the node with a path, or the one that the longest part of the path leads to.
    pub(crate) fn find(&self, path: &str) -> Option<u32> {
        let root = self.nodes.first()?;
        let mut rest = path.strip_prefix(&*root.name)?;
        if !rest.is_empty() && !rest.starts_with(['.', '[']) {
            return None;
        }
        let mut at = 0;
        // Children follow their parent, so that one walk finds all steps.
        for (index, node) in self.nodes.iter().enumerate().skip(1) {
            if rest.is_empty() {
                break;
            }
            if node.parent != at {
                continue;
            }
            let step = rest.strip_prefix('.').unwrap_or(rest);
            if let Some(after) = step.strip_prefix(&*node.name)
                && (after.is_empty() || after.starts_with(['.', '[']))
            {
                (at, rest) = (index as u32, after);
            }
        }
        Some(at)
    }

    /// Returns the children of a node.
    pub(crate) fn children(&self, parent: u32) -> impl Iterator<Item = (u32, &Node)> {
        let after = (parent as usize).saturating_add(1).min(self.nodes.len());
        let count = self.nodes.get(parent as usize).map_or(0, |node| node.children as usize);
        let later = self.nodes[after..].iter().enumerate();
        let own = later.filter(move |(_, node)| node.parent == parent).take(count);
        own.map(move |(index, node)| ((index + after) as u32, node))
    }

    /// Returns the innermost node that a bit belongs to.
    pub(crate) fn node_at(&self, bit: u64) -> Option<u32> {
        let after = self.pieces.partition_point(|piece| piece.at <= bit);
        let before = self.pieces[..after].iter().rev();
        before.take(64).find(|piece| bit < piece.at + piece.bits).map(|piece| piece.node)
    }
}

fn extend(node: &mut Node, at: u64, end: u64) {
    if node.has_bits() {
        (node.at, node.end) = (node.at.min(at), node.end.max(end));
    } else {
        (node.at, node.end) = (at, end);
    }
}

/// What a [`Builder`] has made.
#[derive(Debug)]
pub(crate) struct Built {
    pub(crate) tree: Tree,
    /// Values that are kept although they break the rules of their type, with the reason.
    pub(crate) marked: Vec<(u32, String)>,
}

/// The sink that makes the tree. A value of an open type and the open type are one node; so are a string and its content.
#[derive(Debug)]
pub(crate) struct Builder<'s> {
    shape: &'s Shape,
    pub(crate) tree: Tree,
    values: JsonWriter<'s>,
    open: Vec<Open>,
    /// Parts of a value whose event comes next.
    waiting: Vec<u32>,
    /// What these parts belong to.
    waits: Option<(FieldId, NodeId)>,
    has_part: bool,
    /// The node of each event: those of a tape are the same.
    pub(crate) events: Vec<u32>,
    /// Values that are kept although they break the rules of their type.
    pub(crate) marked: Vec<(u32, String)>,
}

#[derive(Clone, Copy, Debug)]
struct Open {
    index: u32,
    field: FieldId,
    /// The number of elements that have begun, if this is a list.
    elements: Option<u32>,
    /// The child that has ended last.
    last: u32,
}

impl<'s> Builder<'s> {
    pub(crate) fn new(shape: &'s Shape) -> Self {
        Self {
            shape,
            tree: Tree::default(),
            values: JsonWriter::new(shape, json::Options::default()),
            open: Vec::new(),
            waiting: Vec::new(),
            waits: None,
            has_part: false,
            events: Vec::new(),
            marked: Vec::new(),
        }
    }

    /// Ends the tree: parts that no value came of become those of a broken one.
    pub(crate) fn finish(mut self) -> Built {
        if let Some((field, node)) = self.waits.filter(|_| !self.waiting.is_empty()) {
            let index = self.add(field, node, None);
            if let Some(node) = self.tree.nodes.get_mut(index as usize) {
                node.state = State::Broken;
            }
        }
        self.tree.finish();
        self.tree.events = self.events;
        Built { tree: self.tree, marked: self.marked }
    }

    fn kind(&self, node: NodeId) -> Kind {
        self.shape.nodes.get(node.index()).map_or(Kind::Open, |node| node.kind)
    }

    /// Begins a value; returns its node.
    fn add(&mut self, field: FieldId, node: NodeId, value: Option<Box<str>>) -> u32 {
        let kind = self.kind(node);
        let type_name = self.shape.type_name(node).unwrap_or_else(|| kind.name()).into();
        let around = self.open.last().copied();
        let index = match around {
            // The content of an open type or of a string.
            Some(Open { index, .. }) if field == FieldId::ROOT && self.is_content(index) => {
                let own = &mut self.tree.nodes[index as usize];
                (own.type_name, own.kind, own.node) = (type_name, kind.name(), Some(node));
                if value.is_some() {
                    own.value = value;
                }
                index
            }
            _ => {
                let name = self.step(field, node);
                let parent = around.map_or(NONE, |around| around.index);
                let state = State::Plain;
                let kind = kind.name();
                let node = Node {
                    parent,
                    name,
                    type_name,
                    kind,
                    node: Some(node),
                    value,
                    shown: None,
                    children: 0,
                    at: 0,
                    end: 0,
                    state,
                };
                self.tree.add(node)
            }
        };
        for piece in self.waiting.drain(..) {
            self.tree.pieces[piece as usize].node = index;
        }
        self.waits = None;
        self.has_part = false;
        index
    }

    /// Reports whether what comes next in a node is its content: it is no list and has no components.
    fn is_content(&self, index: u32) -> bool {
        let node = self.tree.nodes.get(index as usize).and_then(|node| node.node);
        !node.is_some_and(|node| self.kind(node).is_constructed())
    }

    fn step(&mut self, field: FieldId, node: NodeId) -> Box<str> {
        if let Some(Open { elements: Some(count), .. }) = self.open.last_mut() {
            *count += 1;
            return format!("[{}]", *count - 1).into();
        }
        match self.shape.fields.get(field.index()) {
            Some(field) => self.shape.name(field.name).into(),
            None => self.shape.type_name(node).unwrap_or_else(|| self.kind(node).name()).into(),
        }
    }

    fn value_of(&mut self, node: NodeId, leaf: Leaf<'_>) -> Box<str> {
        self.values.clear();
        self.values.leaf(FieldId::ROOT, node, leaf);
        String::from_utf8_lossy(self.values.text()).into()
    }

    fn ended(&mut self, index: u32) {
        if let Some(open) = self.open.last_mut() {
            open.last = index;
        }
    }
}

impl Sink for Builder<'_> {
    fn leaf(&mut self, field: FieldId, node: NodeId, leaf: Leaf<'_>) {
        let value = self.value_of(node, leaf);
        let index = self.add(field, node, Some(value));
        self.events.push(index);
        self.ended(index);
    }

    fn marked(&mut self, field: FieldId, node: NodeId, leaf: Leaf<'_>, marked: &Marked) {
        let value = self.value_of(node, leaf);
        let index = self.add(field, node, Some(value));
        self.events.push(index);
        self.ended(index);
        self.marked.push((index, marked.error.to_string()));
    }

    fn open(&mut self, field: FieldId, node: NodeId) {
        let index = self.add(field, node, None);
        self.events.push(index);
        let elements = matches!(self.kind(node), Kind::SequenceOf | Kind::SetOf).then_some(0);
        self.open.push(Open { index, field, elements, last: NONE });
    }

    fn close(&mut self, _: FieldId, _: NodeId) {
        self.has_part = false;
        if let Some(open) = self.open.pop() {
            self.events.push(open.index);
            self.ended(open.index);
        }
    }

    fn absent(&mut self, field: FieldId, node: NodeId, constant: u32) {
        self.values.clear();
        say_constant(self.shape, FieldId::ROOT, node, constant, &mut self.values);
        let value = String::from_utf8_lossy(self.values.text()).into_owned();
        let index = self.add(field, node, Some(value.into()));
        self.events.push(index);
        self.tree.nodes[index as usize].state = State::Default;
        self.ended(index);
    }

    fn unknown(&mut self, addition: u32, leaf: Leaf<'_>) {
        // In rules that count additions, one without octets only shows how many there are.
        let contents = leaf.contents().unwrap_or_default();
        if contents.is_empty() && self.waiting.is_empty() {
            self.events.push(NONE);
            return;
        }
        let shown: String = contents.iter().take(64).map(|octet| format!("{octet:02X}")).collect();
        let cut = if contents.len() > 64 { "…" } else { "" };
        let name = match addition {
            u32::MAX => "...".to_owned(),
            number => format!("...{number}"),
        };
        let parent = self.open.last().map_or(NONE, |open| open.index);
        let node = Node {
            parent,
            name: name.into(),
            type_name: "unknown addition".into(),
            kind: "unknown",
            node: None,
            value: Some(format!("\"{shown}{cut}\"").into()),
            shown: None,
            children: 0,
            at: 0,
            end: 0,
            state: State::Unknown,
        };
        let index = self.tree.add(node);
        for piece in self.waiting.drain(..) {
            self.tree.pieces[piece as usize].node = index;
        }
        self.waits = None;
        self.has_part = false;
        self.events.push(index);
        self.ended(index);
    }

    fn wants_places(&self) -> bool {
        true
    }

    fn place(&mut self, field: FieldId, node: NodeId, place: Place) {
        let Place { part, at, bits, .. } = place;
        let around = self.open.last().copied();
        // A part without others before it ends a value that has had its events.
        let is_end = match part {
            Part::EndOfContents => !self.has_part,
            part => part == Part::EndPadding,
        };
        self.has_part = true;
        let number = self.tree.pieces.len() as u32;
        let owner = match around {
            Some(open) if field == FieldId::BEGUN => Some(open.index),
            Some(open) if is_end && part == Part::EndOfContents && open.field == field => Some(open.index),
            Some(open) if is_end && open.last != NONE => Some(open.last),
            None if is_end && !self.tree.nodes.is_empty() => Some(0),
            _ => None,
        };
        if owner.is_none() {
            self.waiting.push(number);
            self.waits = Some((field, node));
        }
        self.tree.pieces.push(Piece { at, bits, part: Some(part), node: owner.unwrap_or(0) });
    }
}
