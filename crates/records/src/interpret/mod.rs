//! Renderers: octets that are numbers, times or places shown as such, in every output.
//!
//! A rendering is a shape of its own, in which rendered components have other types, and a [`Sink`] that says values of
//! the first shape in terms of the second: writers need to know nothing of it. Which component is rendered how is told by
//! a [`Profile`]: names of types, and names of components where the type says too little.

mod kinds;
mod named;
mod profile;
mod reverse;
mod tables;
#[cfg(test)]
mod tests;

pub use kinds::RenderKind;
pub use profile::Profile;
pub(crate) use tables::wide;
pub use tables::{CodeRule, TableRules, Tables};

use crate::SettingError;
use crate::marks::RecordMarks;
use kinds::{Member, Parts, form};
use profile::assigned;
use std::sync::Arc;
use tercet_dynamic::leaf::{Scalar, scalar};
use tercet_dynamic::text::{Octets, push_octets};
use tercet_dynamic::{FieldId, Leaf, Mark, Marked, NodeId, Rules, Shape, Sink, Tape, View, say_constant};
use tercet_plan::Kind;
use tercet_plan::shape::{Constraint, Field, Node, Place, Presence};

/// How the values of a shape are shown.
#[derive(Clone, Debug)]
pub struct Interpretation {
    /// The shape that values are decoded by.
    decoded: Arc<Shape>,
    /// The same with the types that are shown: for writers, not for decoders.
    shape: Arc<Shape>,
    /// What becomes of each field of the first.
    actions: Vec<Option<Action>>,
    leaves: Leaves,
    /// Where codes are explained, and the fields with local times that wait for an offset.
    tables: TableRules,
    local: Vec<bool>,
    /// Fields that are shown with the help of others.
    helped: Vec<(usize, usize)>,
}

/// What a rendering keeps from value to value.
#[derive(Clone, Debug, Default)]
pub struct Scratch {
    text: Vec<u8>,
    /// A local time that waits for its offset.
    local: Vec<u8>,
    tables: Tables,
    /// Values of the record at hand that break the rules of their type.
    pub(crate) marks: RecordMarks,
}

#[derive(Clone, Copy, Debug)]
struct Action {
    kind: RenderKind,
    form: Form,
    node: NodeId,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Text,
    Number,
    Group,
}

/// The types of what is shown.
#[derive(Clone, Copy, Debug)]
pub struct Leaves {
    /// Characters.
    pub text: NodeId,
    /// A number.
    pub number: NodeId,
    /// Characters that are a date and time with the offset from UTC: `2026-11-01T08:00:17+01:00`.
    pub timestamp: NodeId,
    /// Characters that are a date: `2026-11-01`.
    pub date: NodeId,
    /// Characters that are a time of day: `08:00:17`, or with tenths of a second.
    pub time: NodeId,
    /// Characters that are an amount: `0.12345`.
    pub amount: NodeId,
}

impl Interpretation {
    /// The rendering of values by a profile and then by rules of the same form as [`Profile::components`]; `root` is where
    /// paths begin.
    ///
    /// # Errors
    /// When one of these rules concerns nothing.
    pub fn new(
        decoded: &Arc<Shape>,
        root: NodeId,
        profile: &Profile,
        rules: &[(String, RenderKind)],
    ) -> Result<Self, SettingError> {
        let mut shape = Shape::clone(decoded);
        let mut text = || add_node(&mut shape, Kind::Utf8String);
        let (text, timestamp, date, time, amount) = (text(), text(), text(), text(), text());
        let number = add_node(&mut shape, Kind::Integer);
        // A number of octets is one of 64 bits or not shown: its column needs no more.
        let bounds = (Some(i64::MIN.into()), Some(i64::MAX.into()));
        shape.nodes[number.index()].constraint = Some(shape.constraints.len() as u32);
        shape.constraints.push(Constraint { integer: Some(bounds), ..Constraint::default() });
        let leaves = Leaves { text, number, timestamp, date, time, amount };
        let mut local = vec![false; decoded.fields.len()];
        let mut helped = Vec::new();
        let mut made: Vec<(RenderKind, NodeId)> = Vec::new();
        let mut actions = vec![None; decoded.fields.len()];
        for (index, kind) in assigned(decoded, root, profile, rules)? {
            let member = form(kind);
            let form = match member {
                Member::Group(_) => Form::Group,
                Member::Number => Form::Number,
                _ => Form::Text,
            };
            let known = made.iter().find(|(known, _)| *known == kind).map(|(_, node)| *node);
            let node = known.unwrap_or_else(|| {
                let node = leaves.node_of(&mut shape, member);
                made.push((kind, node));
                node
            });
            shape.fields[index].node = node;
            if let Some(name) = resolved_name(decoded, index, kind, &profile.tables) {
                shape.fields[index].name = shape.add_name(name);
            }
            if let RenderKind::Moment(rule) = kind
                && let Some(time) =
                    beside(decoded, index, profile.tables.codes[usize::from(rule)].time.as_deref())
            {
                local[time] = true;
                helped.push((index, time));
            }
            actions[index] = Some(Action { kind, form, node });
        }
        let (decoded, shape) = (Arc::clone(decoded), Arc::new(shape));
        Ok(Self { decoded, shape, actions, leaves, tables: profile.tables.clone(), local, helped })
    }

    /// The shape of what is shown: for writers, not for decoders.
    pub fn shape(&self) -> &Arc<Shape> {
        &self.shape
    }

    /// Its types.
    pub fn leaves(&self) -> Leaves {
        self.leaves
    }

    /// Adds to the fields that are to be decoded what showing them takes.
    pub(crate) fn complete(&self, wanted: &mut [bool]) {
        for &(field, help) in &self.helped {
            wanted[help] |= wanted[field];
        }
    }

    /// Whether codes and amounts are explained by what stands before the records.
    pub fn has_tables(&self) -> bool {
        self.tables != TableRules::default()
    }

    /// Writes a decoded value, as it is shown, to a tape, which is cleared first: a value of [`Interpretation::shape`], over the
    /// same input. What explains its codes stands in the value itself.
    pub fn show(&self, value: View<'_>, shown: &mut Tape, scratch: &mut Scratch) {
        shown.clear();
        value.replay(&mut Rendered::new(&self.decoded, Some(self), None, shown, scratch));
        if self.has_tables() {
            self.read_tables(shown.view(value.octets()), scratch);
            shown.clear();
            value.replay(&mut Rendered::new(&self.decoded, Some(self), None, shown, scratch));
        }
    }

    /// Reads what stands before the records.
    pub fn read_tables(&self, before: View<'_>, scratch: &mut Scratch) {
        scratch.tables = Tables::read(&self.tables, &self.shape, before);
    }
}

impl Leaves {
    fn node_of(self, shape: &mut Shape, member: Member) -> NodeId {
        match member {
            Member::Text => self.text,
            Member::Number => self.number,
            Member::Timestamp => self.timestamp,
            Member::Date => self.date,
            Member::Time => self.time,
            Member::Amount => self.amount,
            Member::Group(members) => {
                let nodes: Vec<NodeId> =
                    members.iter().map(|(_, member)| self.node_of(shape, *member)).collect();
                let parent = add_node(shape, Kind::Sequence);
                for ((name, _), node) in members.iter().zip(nodes) {
                    let name = shape.add_name(name);
                    let (presence, place) = (Presence::Optional, Place::Root);
                    shape.fields.push(Field {
                        name,
                        node,
                        parent,
                        presence,
                        place,
                        aliases: Vec::new(),
                        key: None,
                    });
                }
                shape.nodes[parent.index()].count = members.len() as u32;
                parent
            }
        }
    }
}

/// What a component is called that shows what its code stands for, unless something beside it has that name.
fn resolved_name<'r>(
    shape: &Shape,
    index: usize,
    kind: RenderKind,
    rules: &'r TableRules,
) -> Option<&'r str> {
    let name = match kind {
        RenderKind::Code(rule) => rules.codes.get(usize::from(rule))?.value.as_str(),
        RenderKind::Moment(_) => "timestamp",
        _ => return None,
    };
    beside(shape, index, Some(name)).is_none().then_some(name)
}

/// The field of a name in the same SEQUENCE or SET.
fn beside(shape: &Shape, index: usize, name: Option<&str>) -> Option<usize> {
    let mut fields = shape.fields_of(shape.fields.get(index)?.parent);
    fields.find(|(_, field)| Some(shape.name(field.name)) == name).map(|(id, _)| id.index())
}

fn add_node(shape: &mut Shape, kind: Kind) -> NodeId {
    let first = shape.fields.len() as u32;
    shape.nodes.push(Node { first, ..Node::blank(kind) });
    NodeId(shape.nodes.len() as u32 - 1)
}

/// Hears values as they are decoded and says them as they are shown.
#[derive(Debug)]
pub(crate) struct Rendered<'a, S> {
    /// The shape that values are decoded by.
    shape: &'a Shape,
    /// Nothing, if they are shown as they are.
    rendering: Option<&'a Interpretation>,
    /// What becomes of each field.
    actions: &'a [Option<Action>],
    /// For each field of the shape whether it is wanted; all, if there is no answer.
    wanted: &'a [bool],
    sink: &'a mut S,
    scratch: &'a mut Scratch,
    /// The field heard last of those that the outermost CHOICEs lead to, and whether there may be more.
    alternative: FieldId,
    in_choice: bool,
}

impl<'a, S: Sink> Rendered<'a, S> {
    /// A sink in front of another.
    pub(crate) fn new(
        shape: &'a Shape,
        rendering: Option<&'a Interpretation>,
        wanted: Option<&'a [bool]>,
        sink: &'a mut S,
        scratch: &'a mut Scratch,
    ) -> Self {
        let actions = rendering.map_or(&[][..], |rendering| &rendering.actions);
        let wanted = wanted.unwrap_or_default();
        scratch.marks.clear();
        Self { shape, rendering, actions, wanted, sink, scratch, alternative: FieldId::ROOT, in_choice: true }
    }

    /// The alternative of the innermost of the CHOICEs that the value begins with.
    pub(crate) fn alternative(&self) -> Option<FieldId> {
        Some(self.alternative).filter(|field| *field != FieldId::ROOT)
    }

    /// Says a value that is shown otherwise than it is.
    #[inline(never)]
    fn acted(&mut self, action: Action, field: FieldId, node: NodeId, leaf: Leaf<'_>) {
        let is_of_octets = self.shape.node(node).kind == Kind::OctetString;
        if !is_of_octets && !action.kind.is_of_integers() {
            return self.named(action, field, node, leaf);
        }
        match leaf.contents() {
            Some(octets) => self.shown(action, field, octets),
            None => self.sink.leaf(field, node, leaf),
        }
    }

    fn shown(&mut self, action: Action, field: FieldId, octets: &[u8]) {
        let Some(rendering) = self.rendering else { return };
        let Scratch { text, local, tables, .. } = &mut *self.scratch;
        match action.form {
            Form::Text => {
                text.clear();
                let done = match action.kind {
                    RenderKind::Amount => {
                        wide(octets).map(|number| tables::push_amount(number, tables.places, text))
                    }
                    RenderKind::Code(rule) => wide(octets).map(|code| {
                        match i64::try_from(code).ok().and_then(|code| tables.value(rule, code)) {
                            Some(value) => text.extend_from_slice(value.as_bytes()),
                            None => tables::push_amount(code, None, text),
                        }
                    }),
                    RenderKind::Moment(rule) => wide(octets).map(|code| {
                        let offset = i64::try_from(code).ok().and_then(|code| tables.value(rule, code));
                        if tables::push_time(local, offset, text).is_none() {
                            tables::push_amount(code, None, text);
                        }
                    }),
                    kind => kinds::push_text(kind, octets, text),
                };
                if done.is_none() {
                    text.clear();
                    push_octets(text, octets, Octets::UpperHex);
                }
                if rendering.local[field.index()] {
                    local.clone_from(text);
                }
                self.sink.leaf(field, action.node, Leaf::Made(text));
            }
            // What is no number of 63 bits is left out where only a number can stand.
            Form::Number => {
                if let Some(number) = kinds::number_of(action.kind, octets) {
                    self.sink.leaf(field, action.node, Leaf::Int(number));
                }
            }
            Form::Group => {
                self.sink.open(field, action.node);
                // A place may turn out to be none when some of it has been said.
                let known = action.kind != RenderKind::Location
                    || kinds::parts(action.kind, octets, text, &mut Nothing).is_some();
                let shape = &*rendering.shape;
                let open = [(field, action.node); 2];
                let mut group = Group { rendering, sink: self.sink, open, depth: 0 };
                if !known || kinds::parts(action.kind, octets, text, &mut group).is_none() {
                    text.clear();
                    push_octets(text, octets, Octets::UpperHex);
                    group.text(shape.node(action.node).count - 1, text);
                }
                self.sink.close(field, action.node);
            }
        }
    }

    /// Says a value that is no octets.
    fn named(&mut self, action: Action, field: FieldId, node: NodeId, leaf: Leaf<'_>) {
        let value = scalar(self.shape, node, leaf);
        let text = &mut self.scratch.text;
        match action.form {
            Form::Text => {
                text.clear();
                if named::push_text(action.kind, self.shape, node, &value, text).is_none() {
                    text.clear();
                    if let Scalar::Time(time) = &value {
                        text.extend_from_slice(time.as_bytes());
                    }
                }
                self.sink.leaf(field, action.node, Leaf::Made(text));
            }
            Form::Number => {
                if let Some(number) = named::number(&value) {
                    self.sink.leaf(field, action.node, Leaf::Int(number));
                }
            }
            Form::Group => {
                let Some(rendering) = self.rendering else { return };
                self.sink.open(field, action.node);
                let open = [(field, action.node); 2];
                let mut group = Group { rendering, sink: self.sink, open, depth: 0 };
                if let Some(number) = named::number(&value) {
                    group.number(0, number);
                }
                if let Some(name) = named::name(self.shape, node, &value) {
                    group.text(1, name.as_bytes());
                }
                self.sink.close(field, action.node);
            }
        }
    }
}

struct Nothing;

impl Parts for Nothing {
    fn text(&mut self, _: u32, _: &[u8]) {}
    fn number(&mut self, _: u32, _: i64) {}
    fn open(&mut self, _: u32) {}
    fn close(&mut self) {}
}

struct Group<'a, S> {
    rendering: &'a Interpretation,
    sink: &'a mut S,
    /// The value and the part of it that are open.
    open: [(FieldId, NodeId); 2],
    depth: usize,
}

impl<S> Group<'_, S> {
    fn member(&self, member: u32) -> FieldId {
        FieldId(self.rendering.shape.node(self.open[self.depth].1).first + member)
    }
}

impl<S: Sink> Parts for Group<'_, S> {
    fn text(&mut self, member: u32, text: &[u8]) {
        self.sink.leaf(self.member(member), self.rendering.leaves.text, Leaf::Made(text));
    }

    fn number(&mut self, member: u32, number: i64) {
        self.sink.leaf(self.member(member), self.rendering.leaves.number, Leaf::Int(number));
    }

    fn open(&mut self, member: u32) {
        let field = self.member(member);
        let node = self.rendering.shape.field(field).node;
        self.sink.open(field, node);
        self.depth = 1;
        self.open[1] = (field, node);
    }

    fn close(&mut self) {
        let (field, node) = self.open[1];
        self.sink.close(field, node);
        self.depth = 0;
    }
}

impl<S: Sink> Sink for Rendered<'_, S> {
    fn begin(&mut self, rules: Rules) {
        self.sink.begin(rules);
    }

    fn within(&mut self, depth: u16) {
        self.sink.within(depth);
    }

    /// In line, so that what is shown as it is goes on to the sink by one call.
    #[inline(always)]
    fn leaf(&mut self, field: FieldId, node: NodeId, leaf: Leaf<'_>) {
        if self.in_choice {
            (self.alternative, self.in_choice) = (field, false);
        }
        match self.actions.get(field.index()) {
            Some(Some(action)) => self.acted(*action, field, node, leaf),
            _ => self.sink.leaf(field, node, leaf),
        }
    }

    #[cold]
    fn marked(&mut self, field: FieldId, node: NodeId, leaf: Leaf<'_>, marked: &Marked) {
        self.scratch.marks.push(leaf, marked);
        if matches!(self.actions.get(field.index()), Some(Some(_))) {
            return self.leaf(field, node, leaf);
        }
        if self.in_choice {
            (self.alternative, self.in_choice) = (field, false);
        }
        self.sink.marked(field, node, leaf, marked);
    }

    #[inline]
    fn open(&mut self, field: FieldId, node: NodeId) {
        if self.in_choice {
            self.alternative = field;
            self.in_choice = self.shape.node(node).kind == Kind::Choice;
        }
        self.scratch.local.clear();
        self.sink.open(field, node);
    }

    #[inline]
    fn close(&mut self, field: FieldId, node: NodeId) {
        self.sink.close(field, node);
    }

    fn absent(&mut self, field: FieldId, node: NodeId, constant: u32) {
        if !self.wants(field) {
            return;
        }
        match self.rendering {
            Some(rendering) => say_constant(&rendering.decoded, field, node, constant, self),
            None => self.sink.absent(field, node, constant),
        }
    }

    fn unknown(&mut self, addition: u32, leaf: Leaf<'_>) {
        self.in_choice = false;
        self.sink.unknown(addition, leaf);
    }

    fn earlier(&mut self, additions: u32) {
        self.sink.earlier(additions);
    }

    #[inline]
    fn wants(&self, field: FieldId) -> bool {
        field == FieldId::ROOT || self.wanted.get(field.index()).copied().unwrap_or(true)
    }

    #[inline(always)]
    fn wants_places(&self) -> bool {
        self.sink.wants_places()
    }

    /// A place is that of the bytes, whatever they are shown as.
    fn place(&mut self, field: FieldId, node: NodeId, place: tercet_dynamic::Place) {
        self.sink.place(field, node, place);
    }

    #[inline]
    fn mark(&self) -> Option<Mark> {
        self.sink.mark()
    }

    #[inline]
    fn take_back(&mut self, mark: Mark) {
        self.sink.take_back(mark);
    }
}
