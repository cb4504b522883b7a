//! Whether encodings of one version of a type are read by another version: decided pair by pair of their nodes.
//!
//! A pair is a node of the writer's plan and one of the reader's that stand at the same place of an encoding. Each family of
//! rules decides a pair by what the two plans say about it, and names the pairs of its parts. A type is read if no pair that
//! can be reached has a fault; types that contain themselves reach the same pair again.

use super::{ber, oer, per, text};
use std::collections::{HashMap, HashSet, VecDeque};
use tercet_schema::plan::shape::{Constant, Key, Presence, Shape};
use tercet_schema::plan::{Code, Kind, NodeId, Plan, Rules};

/// A node of the writer, and the one of the reader that reads it.
pub(super) type Pair = (NodeId, NodeId);

/// Why a value is not read, or not read as the same value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fault {
    /// The component, alternative or item, if it is not the whole value.
    pub(super) component: String,
    /// What is wrong.
    pub(super) text: String,
}

/// What a pair comes to: its own faults, and the pairs of its parts with the steps to them.
#[derive(Clone, Debug, Default)]
pub(super) struct Step {
    pub(super) faults: Vec<Fault>,
    pub(super) parts: Vec<(String, Pair)>,
}

impl Step {
    pub(super) fn fault(&mut self, component: &str, text: impl Into<String>) {
        let fault = Fault { component: component.to_owned(), text: text.into() };
        if !self.faults.contains(&fault) {
            self.faults.push(fault);
        }
    }

    pub(super) fn part(&mut self, step: &str, pair: Pair) {
        if !self.parts.iter().any(|(_, known)| *known == pair) {
            self.parts.push((step.to_owned(), pair));
        }
    }
}

/// The two plans for one of the rules, the writer's and the reader's.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sides<'a> {
    pub(super) writer: &'a Plan,
    pub(super) reader: &'a Plan,
    pub(super) rules: Rules,
}

impl<'a> Sides<'a> {
    pub(super) fn shapes(&self) -> (&'a Shape, &'a Shape) {
        (&self.writer.shape, &self.reader.shape)
    }

    /// What the rules say about a pair.
    fn step(&self, pair: Pair) -> Step {
        match (&self.writer.code, &self.reader.code) {
            _ if self.rules.is_text() => text::step(self, pair),
            (Code::Ber(writer), Code::Ber(reader)) => ber::step(self, writer, reader, pair),
            (Code::Per(writer), Code::Per(reader)) => per::step(self, writer, reader, pair),
            (Code::Oer(writer), Code::Oer(reader)) => oer::step(self, writer, reader, pair),
            _ => Step::default(),
        }
    }

    /// What the rules say about values that no component leads to, beside their pair: tags, and names of elements.
    fn outermost(&self, pair: Pair) -> Option<Fault> {
        let text = match (&self.writer.code, &self.reader.code) {
            _ if self.rules.is_text() => text::outermost(self, pair),
            (Code::Ber(writer), Code::Ber(reader)) => ber::outermost(writer, reader, pair),
            _ => None,
        };
        text.map(|text| Fault { component: String::new(), text })
    }

    /// Whether a name of the writer and one of the reader mean the same: they are the same, or each has taken the place of the
    /// other, which only rules with names in them can see.
    pub(super) fn is_same(
        &self,
        names: (&str, &str),
        writer_has: impl Fn(&str) -> bool,
        reader_has: impl Fn(&str) -> bool,
    ) -> bool {
        names.0 == names.1 || !reader_has(names.0) && !writer_has(names.1)
    }

    pub(super) fn has_field(shape: &Shape, node: NodeId, name: &str) -> bool {
        shape.fields_of(node).any(|(_, field)| shape.name(field.name) == name)
    }

    pub(super) fn has_item(shape: &Shape, node: NodeId, name: &str) -> bool {
        shape.items_of(node).iter().any(|item| shape.name(item.name) == name)
    }

    /// Whether components at the same place mean the same, by their names.
    pub(super) fn is_same_field(&self, (w, r): Pair, names: (&str, &str)) -> bool {
        let (writer, reader) = self.shapes();
        self.is_same(names, |name| Self::has_field(writer, w, name), |name| Self::has_field(reader, r, name))
    }

    /// Whether items with the same number or index mean the same, by their names.
    pub(super) fn is_same_item(&self, (w, r): Pair, names: (&str, &str)) -> bool {
        let (writer, reader) = self.shapes();
        self.is_same(names, |name| Self::has_item(writer, w, name), |name| Self::has_item(reader, r, name))
    }

    /// Compares the kinds of a pair. Returns whether the rest of the pair is worth a look.
    pub(super) fn kinds(&self, (w, r): Pair, step: &mut Step) -> bool {
        let (writer, reader) = self.shapes();
        let kinds = (writer.node(w).kind, reader.node(r).kind);
        if kinds.0 == kinds.1 {
            return true;
        }
        // The elements are the same; only canonical rules have an order for them.
        let is_list = |kind| matches!(kind, Kind::SequenceOf | Kind::SetOf);
        if is_list(kinds.0) && is_list(kinds.1) {
            let element = writer.fields_of(w).next().map(|(_, field)| writer.node(field.node).kind);
            let has_order = element != Some(Kind::Null) && writer.sizes(w).1 > 1;
            if !self.rules.is_canonical() || kinds.1 == Kind::SequenceOf || !has_order {
                return true;
            }
        }
        if is_within(kinds.0, kinds.1) {
            return true;
        }
        step.fault("", format!("{} is not {}", kinds.0.name(), kinds.1.name()));
        false
    }

    /// Compares what an absent component means.
    pub(super) fn absence(&self, writer: Presence, reader: Presence, name: &str, step: &mut Step) {
        let (w, r) = self.shapes();
        let default = |shape: &Shape, presence| match presence {
            Presence::Default(index) => shape.defaults.get(index as usize).map(|it| constant_text(shape, it)),
            _ => None,
        };
        let (before, after) = (default(w, writer), default(r, reader));
        match (writer, reader) {
            (Presence::Mandatory, _) | (_, Presence::Mandatory) => {}
            _ if before == after => {}
            (Presence::Default(_), Presence::Default(_)) => step.fault(name, "absent means another DEFAULT"),
            (Presence::Default(_), _) => step.fault(name, "absent meant the DEFAULT, and is read as absent"),
            _ => step.fault(name, "absent is read as the DEFAULT"),
        }
    }

    /// Compares what strings contain, and what tables say about an open type.
    pub(super) fn contents(&self, (w, r): Pair, step: &mut Step) {
        let (writer, reader) = self.shapes();
        let (before, after) = (writer.node(w), reader.node(r));
        match (before.containing, after.containing) {
            (Some(writer), Some(reader)) => {
                self.separate("CONTAINING", (writer, reader), step);
            }
            (None, Some(_)) => step.fault("", "any contents are not a value of the type in CONTAINING"),
            (Some(_), None) if self.rules.is_text() => {
                step.fault("", "contents are written as a value, not as octets")
            }
            _ => {}
        }
        if before.kind != Kind::Open || after.kind != Kind::Open {
            return;
        }
        let table = |shape: &'a Shape, node: &tercet_schema::plan::Node| {
            node.table.as_ref().and_then(|table| shape.tables.get(table.table as usize))
        };
        let Some(to) = table(reader, after) else { return };
        let Some(from) = table(writer, before) else {
            if !to.rows.is_empty() {
                step.fault("", "any content is not one of the types in the object set");
            }
            return;
        };
        let known: HashMap<Vec<String>, NodeId> =
            to.rows.iter().map(|row| (key_texts(reader, &row.keys), row.node)).collect();
        for row in &from.rows {
            let key = key_texts(writer, &row.keys);
            let name = format!("({})", key.join(", "));
            match known.get(&key) {
                Some(other) => {
                    let pair = (row.node, *other);
                    if self.rules.is_text()
                        && let Some(text) = text::content_names(self, (w, r), pair)
                    {
                        step.fault(&name, text);
                    }
                    self.separate(&name, pair, step);
                }
                None if self.rules.is_text() => step.fault(&name, "the type is unknown, and text needs it"),
                None if to.extensible => {}
                None => step.fault(&name, "the object set without `...` has no such object"),
            }
        }
    }

    /// A part with a complete encoding of its own.
    fn separate(&self, name: &str, pair: Pair, step: &mut Step) {
        if let (Code::Ber(writer), Code::Ber(reader)) = (&self.writer.code, &self.reader.code)
            && !self.rules.is_text()
            && let Some(text) = ber::outermost(writer, reader, pair)
        {
            step.fault(name, text);
        }
        step.part(name, pair);
    }
}

/// Whether every string of one kind is one of the other with the same characters in the same octets.
fn is_within(kind: Kind, other: Kind) -> bool {
    let rank = |kind| match kind {
        Kind::NumericString => Some(0),
        Kind::PrintableString => Some(1),
        Kind::VisibleString => Some(2),
        Kind::Ia5String => Some(3),
        Kind::Utf8String => Some(4),
        _ => None,
    };
    matches!((rank(kind), rank(other)), (Some(kind), Some(other)) if kind < other)
}

/// Keys as text that does not depend on a shape.
pub(super) fn key_texts(shape: &Shape, keys: &[Key]) -> Vec<String> {
    keys.iter().map(|key| key_text(shape, key)).collect()
}

fn key_text(shape: &Shape, key: &Key) -> String {
    match key {
        Key::Int(number) => number.to_string(),
        Key::Octets(octets) => match shape.oid_name(octets) {
            // The name alone may be given to another value in the other version.
            Some(name) => format!("{name} '{}'H", hex(octets)),
            None => format!("'{}'H", hex(octets)),
        },
        Key::Alternative(name, key) => format!("{} : {}", shape.name(*name), key_text(shape, key)),
    }
}

pub(super) fn hex(octets: &[u8]) -> String {
    octets.iter().map(|octet| format!("{octet:02X}")).collect()
}

/// A constant as text that does not depend on a shape.
pub(super) fn constant_text(shape: &Shape, constant: &Constant) -> String {
    match constant {
        Constant::Boolean(value) => value.to_string(),
        Constant::Int(value) => value.to_string(),
        Constant::Contents(octets) => format!("'{}'H", hex(octets)),
        Constant::Struct(members) => {
            let member = |(id, value): &(tercet_schema::plan::FieldId, Constant)| {
                format!("{} {}", shape.name(shape.field(*id).name), constant_text(shape, value))
            };
            format!("{{{}}}", members.iter().map(member).collect::<Vec<_>>().join(", "))
        }
        Constant::List(elements) => {
            let elements = elements.iter().map(|element| constant_text(shape, element));
            format!("{{{}}}", elements.collect::<Vec<_>>().join(", "))
        }
        Constant::Choice(id, value) => {
            format!("{} : {}", shape.name(shape.field(*id).name), constant_text(shape, value))
        }
        Constant::Open(_, value) => constant_text(shape, value),
    }
}

/// What all pairs come to that can be reached from some.
#[derive(Debug, Default)]
pub(super) struct Readings {
    steps: HashMap<Pair, Step>,
    /// The outermost pairs, with the faults that only values there have.
    outermost: HashMap<Pair, Fault>,
    /// Pairs from which a fault can be reached.
    unread: HashMap<Pair, bool>,
}

impl Readings {
    /// Decides all pairs that some reach.
    pub(super) fn new(sides: &Sides<'_>, roots: impl Iterator<Item = Pair>) -> Self {
        let mut readings = Self::default();
        let mut waiting: Vec<Pair> = Vec::new();
        for root in roots {
            if let Some(fault) = sides.outermost(root) {
                readings.outermost.insert(root, fault);
            }
            waiting.push(root);
        }
        let mut users: HashMap<Pair, Vec<Pair>> = HashMap::new();
        while let Some(pair) = waiting.pop() {
            if readings.steps.contains_key(&pair) {
                continue;
            }
            let step = sides.step(pair);
            for (_, part) in &step.parts {
                users.entry(*part).or_default().push(pair);
                waiting.push(*part);
            }
            readings.steps.insert(pair, step);
        }
        let has_fault = |(_, step): &(&Pair, &Step)| !step.faults.is_empty();
        let mut waiting: Vec<Pair> = readings.steps.iter().filter(has_fault).map(|(pair, _)| *pair).collect();
        while let Some(pair) = waiting.pop() {
            if readings.unread.insert(pair, true).is_none() {
                waiting.extend(users.get(&pair).into_iter().flatten());
            }
        }
        readings
    }

    /// Whether every value of a type is read.
    pub(super) fn reads(&self, root: Pair) -> bool {
        !self.outermost.contains_key(&root) && !self.unread.contains_key(&root)
    }

    /// The faults of a type with their paths, the nearest first: those of its own pairs, and the other named types in it that are
    /// not read, by what `named` calls them.
    pub(super) fn faults<'n>(
        &self,
        root: Pair,
        most: usize,
        named: impl Fn(Pair) -> Option<&'n str>,
    ) -> Vec<(String, String)> {
        let mut found = Vec::new();
        if let Some(fault) = self.outermost.get(&root) {
            found.push((String::new(), fault.text.clone()));
        }
        let mut seen = HashSet::from([root]);
        let mut waiting = VecDeque::from([(root, String::new())]);
        while let Some((pair, path)) = waiting.pop_front() {
            let Some(step) = self.steps.get(&pair) else { continue };
            found.extend(step.faults.iter().map(|fault| (join(&path, &fault.component), fault.text.clone())));
            for (name, part) in &step.parts {
                if !self.unread.contains_key(part) || !seen.insert(*part) {
                    continue;
                }
                let path = join(&path, name);
                match named(*part) {
                    Some(name) => found.push((path, format!("`{name}` is not read"))),
                    None => waiting.push_back((*part, path)),
                }
            }
        }
        found.truncate(most);
        found
    }

    /// All pairs that can be reached from some.
    pub(super) fn reachable(&self, roots: impl Iterator<Item = Pair>) -> HashSet<Pair> {
        let mut waiting: Vec<Pair> = roots.collect();
        let mut seen = HashSet::new();
        while let Some(pair) = waiting.pop() {
            if seen.insert(pair) {
                let parts = self.steps.get(&pair).into_iter().flat_map(|step| &step.parts);
                waiting.extend(parts.map(|(_, part)| *part));
            }
        }
        seen
    }
}

pub(super) fn join(path: &str, name: &str) -> String {
    match (path.is_empty(), name.is_empty()) {
        (true, _) => name.to_owned(),
        (_, true) => path.to_owned(),
        _ if name.starts_with(['[', '(']) => format!("{path}{name}"),
        _ => format!("{path}.{name}"),
    }
}
