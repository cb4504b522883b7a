//! What differs between two versions of a type, in the words of the notation.

use super::reading::{constant_text, join, key_texts};
use super::{Change, ChangeKind, Location, Side, ber, per};
use std::collections::{HashMap, HashSet};
use tercet_model::ir::{Component, TypeId, TypeKind};
use tercet_schema::plan::constraint::RestrictionId;
use tercet_schema::plan::shape::{Field, Item, Place, Presence, Shape, Table};
use tercet_schema::plan::{Code, FieldId, Kind, NodeId};
use tercet_syntax::Span;

/// Characters of a text that is shown.
const SHOWN: usize = 120;

/// Types inside one another that are compared without a name between.
const DEPTH: u32 = 100;

/// Two versions of one named type.
pub(super) struct Versions<'a> {
    pub(super) old: &'a Side<'a>,
    pub(super) new: &'a Side<'a>,
    pub(super) changes: Vec<Change>,
}

/// A place in a type: a component, an element, or the type itself.
#[derive(Clone, Copy)]
struct At {
    field: Option<FieldId>,
    node: NodeId,
    /// The place of the component, or of the type around.
    span: Option<Span>,
}

impl<'a> Versions<'a> {
    /// Compares a named type, whose roots have these nodes.
    pub(super) fn compare(&mut self, types: (TypeId, TypeId), nodes: (NodeId, NodeId)) {
        let (old, new) = (self.old.model(), self.new.model());
        let (one, other) = (old.ty(types.0), new.ty(types.1));
        let spans = (Some(one.span), Some(other.span));
        let at = |node, span| At { field: None, node, span };
        let places = (at(nodes.0, spans.0), at(nodes.1, spans.1));
        let tags = (self.old.entry_tags(nodes.0), self.new.entry_tags(nodes.1));
        if tags.0 != tags.1 && !(tags.0.is_empty() && tags.1.is_empty()) {
            self.push("", ChangeKind::Tag, places, (ber::tags_text(&tags.0), ber::tags_text(&tags.1)));
        }
        // Of another named type the changes are its own.
        if let (TypeKind::Reference(to), TypeKind::Reference(other_to)) = (&one.kind, &other.kind) {
            let names = (old.ty(*to).name.as_ref(), new.ty(*other_to).name.as_ref());
            if let (Some(name), Some(other)) = names {
                let (name, other) = (self.old.renamed(&name.name), other.name.to_string());
                if name != other {
                    self.push("", ChangeKind::Type, places, (name, other));
                }
                let written = |side: &Side<'_>, id: TypeId| {
                    let constraints = side.model().ty(id).constraints.iter();
                    constraints.map(|it| side.text(it.span)).collect::<Vec<_>>().join(" ")
                };
                let texts = (written(self.old, types.0), written(self.new, types.1));
                if texts.0 != texts.1 {
                    self.constraint("", places, texts);
                }
                return;
            }
        }
        self.restrictions("", places, true);
        self.nodes("", places, 0);
    }

    fn shapes(&self) -> (&'a Shape, &'a Shape) {
        (&self.old.plan.shape, &self.new.plan.shape)
    }

    fn push(&mut self, path: &str, kind: ChangeKind, at: (At, At), texts: (String, String)) {
        let some = |text: String| (!text.is_empty()).then_some(text);
        let is_visible = self.is_visible(at);
        self.changes.push(Change {
            path: path.to_owned(),
            kind,
            old: some(texts.0),
            new: some(texts.1),
            old_place: at.0.span.and_then(|span| self.old.place(span)),
            new_place: at.1.span.and_then(|span| self.new.place(span)),
            is_per_visible: is_visible,
        });
    }

    fn constraint(&mut self, path: &str, at: (At, At), texts: (String, String)) {
        self.push(path, ChangeKind::Constraint, at, texts);
    }

    fn is_visible(&self, at: (At, At)) -> bool {
        per::is_visible(self.old.packed, self.new.packed, (at.0.node, at.1.node))
    }

    /// Compares constraints: those that are written here, and the bounds that they come to.
    fn restrictions(&mut self, path: &str, at: (At, At), is_own: bool) {
        let texts = |side: &Side<'_>, at: At| {
            let shape = &side.plan.shape;
            let all = &shape.restrictions;
            let mut ids: Vec<RestrictionId> = at.field.map_or(&[][..], |id| all.of_field(id)).to_vec();
            if is_own {
                ids.extend(all.of_node(at.node));
                let roots = shape.roots.iter().zip(&all.roots).filter(|(root, _)| root.node == at.node);
                if at.field.is_none() {
                    ids.extend(roots.flat_map(|(_, ids)| ids.iter().copied()).take(16));
                }
            }
            ids.sort_unstable();
            ids.dedup();
            let text = |id: &RestrictionId| {
                let span = all.get(*id).span;
                side.text(Span::new(span.0, span.1))
            };
            ids.iter().map(text).collect::<Vec<_>>().join(" ")
        };
        let texts = (texts(self.old, at.0), texts(self.new, at.1));
        let bounds = |side: &'a Side<'_>, at: At| {
            let shape = &side.plan.shape;
            let index = shape.node(at.node).constraint?;
            shape.constraints.get(index as usize)
        };
        let effective = (bounds(self.old, at.0), bounds(self.new, at.1));
        // A table is compared by its rows.
        if self.shapes().0.node(at.0.node).kind == Kind::Open {
            return;
        }
        if texts.0 == texts.1 && (effective.0 == effective.1 || !is_own && texts.0.is_empty()) {
            return;
        }
        let shown = |text: String, bounds: Option<&tercet_schema::plan::shape::Constraint>, is_same: bool| {
            match bounds {
                Some(bounds) if is_same => bounds_text(bounds),
                _ => text,
            }
        };
        let is_same = texts.0 == texts.1;
        let texts = (shown(texts.0, effective.0, is_same), shown(texts.1, effective.1, is_same));
        self.constraint(path, at, texts);
    }

    /// Compares two types without a name between.
    fn nodes(&mut self, path: &str, at: (At, At), depth: u32) {
        let (from, to) = self.shapes();
        let (one, other) = (from.node(at.0.node), to.node(at.1.node));
        if depth > DEPTH {
            return;
        }
        if one.kind != other.kind {
            let names = (one.kind.name().to_owned(), other.kind.name().to_owned());
            self.push(path, ChangeKind::Type, at, names);
            return;
        }
        if one.extensible != other.extensible {
            let text = |extensible| if extensible { "...".to_owned() } else { String::new() };
            self.push(path, ChangeKind::ExtensionMarker, at, (text(one.extensible), text(other.extensible)));
        }
        match one.kind {
            Kind::Sequence | Kind::Set | Kind::Choice => self.components(path, at, depth),
            Kind::SequenceOf | Kind::SetOf => {
                let element = |shape: &Shape, node| shape.fields_of(node).next().map(|(id, _)| id);
                if let (Some(one), Some(other)) = (element(from, at.0.node), element(to, at.1.node)) {
                    let path = join(path, "[]");
                    self.component(&path, (one, other), (at.0.span, at.1.span), depth);
                }
            }
            Kind::Enumerated | Kind::Integer | Kind::BitString => self.items(path, at),
            Kind::Open => self.table(path, at),
            _ => {}
        }
        if one.containing.is_some() || other.containing.is_some() {
            self.containing(path, at, depth);
        }
    }

    fn containing(&mut self, path: &str, at: (At, At), depth: u32) {
        let (from, to) = self.shapes();
        let inner = (from.node(at.0.node).containing, to.node(at.1.node).containing);
        let name = |shape: &Shape, node: Option<NodeId>| {
            let node = node.map(|node| shape.node(node));
            node.map_or_else(String::new, |node| {
                format!("CONTAINING {}", node.name.map_or_else(|| node.kind.name(), |name| shape.name(name)))
            })
        };
        let names = (name(from, inner.0), name(to, inner.1));
        match inner {
            _ if names.0 != names.1 => self.push(path, ChangeKind::Contents, at, names),
            (Some(one), Some(other)) if from.node(one).name.is_none() => {
                let at = (At { field: None, node: one, ..at.0 }, At { field: None, node: other, ..at.1 });
                self.nodes(&join(path, "CONTAINING"), at, depth + 1);
            }
            _ => {}
        }
    }

    /// Compares a component, alternative or element with the one of its name.
    fn component(
        &mut self,
        path: &str,
        ids: (FieldId, FieldId),
        spans: (Option<Span>, Option<Span>),
        depth: u32,
    ) {
        let (from, to) = self.shapes();
        let (one, other) = (from.field(ids.0), to.field(ids.1));
        let at = (
            At { field: Some(ids.0), node: one.node, span: spans.0 },
            At { field: Some(ids.1), node: other.node, span: spans.1 },
        );
        let tags = (self.old.field_tags(ids.0), self.new.field_tags(ids.1));
        let names = (self.old.type_of(one), self.new.type_of(other));
        let name = |name: &Option<String>, shape: &Shape, field: &Field| {
            name.clone().unwrap_or_else(|| shape.node(field.node).kind.name().to_owned())
        };
        let is_same_type = match &names {
            (Some(one), Some(other)) => self.old.renamed(one) == *other,
            (None, None) => true,
            _ => false,
        };
        if !is_same_type {
            self.push(path, ChangeKind::Type, at, (name(&names.0, from, one), name(&names.1, to, other)));
        }
        // With another type another tag of its own goes without saying.
        let is_own_tag = |tags: &[u32]| tags.iter().all(|tag| tag >> 30 == 0);
        if tags.0 != tags.1 && !(is_own_tag(&tags.0) && is_own_tag(&tags.1)) {
            self.push(path, ChangeKind::Tag, at, (ber::tags_text(&tags.0), ber::tags_text(&tags.1)));
        }
        let presence = |shape: &Shape, field: &Field| match field.presence {
            Presence::Mandatory => (0, "mandatory".to_owned()),
            Presence::Optional => (1, "OPTIONAL".to_owned()),
            Presence::Default(index) => {
                let value = shape.defaults.get(index as usize).map(|it| constant_text(shape, it));
                (2, format!("DEFAULT {}", value.unwrap_or_default()))
            }
        };
        let presences = (presence(from, one), presence(to, other));
        if presences.0 != presences.1 {
            let kind = if presences.0.0 == 2 && presences.1.0 == 2 {
                ChangeKind::Default
            } else {
                ChangeKind::Presence
            };
            self.push(path, kind, at, (presences.0.1, presences.1.1));
        }
        let place = |place| match place {
            Place::Root => "extension root",
            Place::Addition(_) => "extension addition",
            Place::Group(_) => "version bracket",
        };
        if place(one.place) != place(other.place) {
            self.push(
                path,
                ChangeKind::Moved,
                at,
                (place(one.place).to_owned(), place(other.place).to_owned()),
            );
        }
        let is_inline = names.0.is_none() && names.1.is_none();
        if is_inline {
            self.restrictions(path, at, true);
            self.nodes(path, at, depth + 1);
        } else if is_same_type {
            self.restrictions(path, at, false);
        } else if names.0.is_none() || names.1.is_none() {
            // The constraint may have got a name.
            self.restrictions(path, at, true);
        }
    }

    fn components(&mut self, path: &str, at: (At, At), depth: u32) {
        let (from, to) = self.shapes();
        let (olds, news) = (self.old.fields(at.0.node), self.new.fields(at.1.node));
        let new_index: HashMap<&str, usize> =
            news.iter().enumerate().map(|(index, (id, _))| (to.name(to.field(*id).name), index)).collect();
        let old_names: HashSet<&str> = olds.iter().map(|(id, _)| from.name(from.field(*id).name)).collect();
        let common: Vec<(usize, usize)> = olds
            .iter()
            .enumerate()
            .filter_map(|(index, (id, _))| Some((index, *new_index.get(from.name(from.field(*id).name))?)))
            .collect();
        let kept = ascending(&common.iter().map(|(_, new)| *new).collect::<Vec<_>>());
        let mut renamed = HashSet::new();
        let noun = from.node(at.0.node).kind == Kind::Choice;
        for (index, (id, component)) in olds.iter().enumerate() {
            let name = from.name(from.field(*id).name);
            let path = join(path, name);
            let span = component.map(|it| it.span).or(at.0.span);
            let Some(&found) = new_index.get(name) else {
                let here = At { field: Some(*id), node: from.field(*id).node, span };
                // At the same place, the same but for its name.
                let same = news.get(index).filter(|(other, _)| {
                    !old_names.contains(to.name(to.field(*other).name))
                        && self.old.rest_of(*id, *component) == self.new.rest_of(*other, news[index].1)
                });
                if let Some((other, new)) = same {
                    renamed.insert(*other);
                    let there =
                        At { field: Some(*other), node: to.field(*other).node, span: new.map(|it| it.span) };
                    let new_name = to.name(to.field(*other).name).to_owned();
                    self.push(&path, ChangeKind::Renamed, (here, there), (name.to_owned(), new_name));
                } else {
                    let kind =
                        if noun { ChangeKind::AlternativeRemoved } else { ChangeKind::ComponentRemoved };
                    let text = self.old.component_text(*id, *component);
                    self.push(
                        &path,
                        kind,
                        (here, At { field: None, span: None, ..at.1 }),
                        (text, String::new()),
                    );
                }
                continue;
            };
            let (other, new) = &news[found];
            let spans = (span, new.map(|it| it.span).or(at.1.span));
            if let Some(position) = common.iter().position(|(old, _)| *old == index)
                && !kept.contains(&position)
            {
                let before =
                    |fields: &[(FieldId, Option<&Component>)], index: usize, shape: &Shape| match index {
                        0 => "first".to_owned(),
                        _ => format!("after `{}`", shape.name(shape.field(fields[index - 1].0).name)),
                    };
                let places = (
                    At { field: Some(*id), node: from.field(*id).node, span: spans.0 },
                    At { field: Some(*other), node: to.field(*other).node, span: spans.1 },
                );
                let texts = (before(&olds, index, from), before(&news, found, to));
                self.push(&path, ChangeKind::Moved, places, texts);
            }
            self.component(&path, (*id, *other), spans, depth);
        }
        for (id, component) in &news {
            let name = to.name(to.field(*id).name);
            if old_names.contains(name) || renamed.contains(id) {
                continue;
            }
            let kind = if noun { ChangeKind::AlternativeAdded } else { ChangeKind::ComponentAdded };
            let there = At { field: Some(*id), node: to.field(*id).node, span: component.map(|it| it.span) };
            let text = self.new.component_text(*id, *component);
            let here = At { field: None, span: None, ..at.0 };
            self.push(&join(path, name), kind, (here, there), (String::new(), text));
        }
    }

    fn items(&mut self, path: &str, at: (At, At)) {
        let (from, to) = self.shapes();
        let (olds, news) = (from.items_of(at.0.node), to.items_of(at.1.node));
        let find = |shape: &Shape, items: &[Item], name: &str| {
            items.iter().find(|it| shape.name(it.name) == name).copied()
        };
        let text = |shape: &Shape, item: &Item| {
            let marker = if item.addition { " after ..." } else { "" };
            format!("{}({}){marker}", shape.name(item.name), item.value)
        };
        let mut renamed = HashSet::new();
        for item in olds {
            let name = from.name(item.name);
            match find(to, news, name) {
                Some(other) if (other.value, other.addition) == (item.value, item.addition) => {}
                Some(other) => {
                    let texts = (text(from, item), text(to, &other));
                    self.push(&join(path, name), ChangeKind::ItemChanged, at, texts);
                }
                None => {
                    let new = news
                        .iter()
                        .find(|it| it.value == item.value && find(from, olds, to.name(it.name)).is_none());
                    match new {
                        Some(new) => {
                            renamed.insert(new.value);
                            let texts = (name.to_owned(), to.name(new.name).to_owned());
                            self.push(&join(path, name), ChangeKind::Renamed, at, texts);
                        }
                        None => self.push(
                            &join(path, name),
                            ChangeKind::ItemRemoved,
                            at,
                            (text(from, item), String::new()),
                        ),
                    }
                }
            }
        }
        for item in news {
            let name = to.name(item.name);
            if find(from, olds, name).is_none() && !renamed.contains(&item.value) {
                self.push(&join(path, name), ChangeKind::ItemAdded, at, (String::new(), text(to, item)));
            }
        }
    }

    fn table(&mut self, path: &str, at: (At, At)) {
        let table = |shape: &'a Shape, node: NodeId| {
            let table = shape.node(node).table.as_ref()?;
            shape.tables.get(table.table as usize)
        };
        let (from, to) = self.shapes();
        let (old, new) = (table(from, at.0.node), table(to, at.1.node));
        let name = |shape: &Shape, table: Option<&Table>| {
            let name = table.and_then(|table| table.name);
            name.map_or_else(String::new, |name| shape.name(name).to_owned())
        };
        let (Some(old), Some(new)) = (old, new) else {
            if old.is_some() || new.is_some() {
                self.push(path, ChangeKind::Table, at, (name(from, old), name(to, new)));
            }
            return;
        };
        if old.extensible != new.extensible {
            let text = |extensible| if extensible { "...".to_owned() } else { String::new() };
            self.push(path, ChangeKind::ExtensionMarker, at, (text(old.extensible), text(new.extensible)));
        }
        let rows = |shape: &Shape, table: &Table| -> HashMap<Vec<String>, (String, NodeId)> {
            let row_name = |row: &tercet_schema::plan::shape::Row| {
                let node = shape.node(row.node);
                row.type_name
                    .or(node.name)
                    .map_or_else(|| node.kind.name(), |name| shape.name(name))
                    .to_owned()
            };
            table.rows.iter().map(|row| (key_texts(shape, &row.keys), (row_name(row), row.node))).collect()
        };
        let (olds, news) = (rows(from, old), rows(to, new));
        let mut keys: Vec<&Vec<String>> = olds.keys().chain(news.keys()).collect();
        keys.sort();
        keys.dedup();
        for key in keys {
            let path = join(path, &format!("({})", key.join(", ")));
            match (olds.get(key), news.get(key)) {
                (Some((one, _)), Some((other, _))) if self.old.renamed(one) == *other => {}
                (Some((one, _)), Some((other, _))) => {
                    self.push(&path, ChangeKind::Type, at, (one.clone(), other.clone()));
                }
                (Some((one, _)), None) => {
                    self.push(&path, ChangeKind::ObjectRemoved, at, (one.clone(), String::new()))
                }
                (None, Some((other, _))) => {
                    self.push(&path, ChangeKind::ObjectAdded, at, (String::new(), other.clone()))
                }
                (None, None) => {}
            }
        }
    }
}

impl<'a> Side<'a> {
    /// The fields of a node, each with its component in the model.
    fn fields(&self, node: NodeId) -> Vec<(FieldId, Option<&'a Component>)> {
        let shape = &self.plan.shape;
        let model = self.model();
        let list = self.types.get(node.index()).copied().flatten().map(|ty| &model.ty(model.base(ty)).kind);
        let list = match list {
            Some(TypeKind::Sequence(list) | TypeKind::Set(list) | TypeKind::Choice(list)) => &list.list[..],
            _ => &[],
        };
        let find = |name: &str, number: usize| {
            let same = list.get(number).filter(|it| it.name == name);
            same.or_else(|| list.iter().find(|it| it.name == name))
        };
        shape
            .fields_of(node)
            .enumerate()
            .map(|(number, (id, field))| (id, find(shape.name(field.name), number)))
            .collect()
    }

    fn field_tags(&self, id: FieldId) -> Vec<u32> {
        match &self.plan.code {
            Code::Ber(program) => {
                program.slots.get(id.index()).map(|slot| ber::tags(program, slot)).unwrap_or_default()
            }
            _ => Vec::new(),
        }
    }

    fn entry_tags(&self, node: NodeId) -> Vec<u32> {
        match &self.plan.code {
            Code::Ber(program) => {
                ber::entry(program, node).map(|slot| ber::tags(program, slot)).unwrap_or_default()
            }
            _ => Vec::new(),
        }
    }

    /// The name of the type of a component, if it is a reference.
    fn type_of(&self, field: &Field) -> Option<String> {
        field.aliases.first().map(|name| self.plan.shape.name(*name).to_owned())
    }

    /// A component as it is written, with the tags that it has on the wire.
    fn component_text(&self, id: FieldId, component: Option<&Component>) -> String {
        let tags = self.field_tags(id);
        let tags = if tags.iter().all(|tag| tag >> 30 == 0) {
            String::new()
        } else {
            format!("{} ", ber::tags_text(&tags))
        };
        format!("{tags}{}", self.rest_of(id, component))
    }

    /// What is written after the name of a component.
    fn rest_of(&self, id: FieldId, component: Option<&Component>) -> String {
        let shape = &self.plan.shape;
        let field = shape.field(id);
        let name = self.type_of(field).unwrap_or_else(|| shape.node(field.node).kind.name().to_owned());
        let presence = match field.presence {
            Presence::Mandatory => String::new(),
            Presence::Optional => " OPTIONAL".to_owned(),
            Presence::Default(index) => {
                format!(
                    " DEFAULT {}",
                    shape.defaults.get(index as usize).map(|it| constant_text(shape, it)).unwrap_or_default()
                )
            }
        };
        let constraints = component.map(|it| &self.model().ty(it.ty).constraints[..]).unwrap_or_default();
        let constraints: String = constraints.iter().map(|it| format!(" {}", self.text(it.span))).collect();
        format!("{name}{constraints}{presence}")
    }

    /// A text of the specification on one line, cut where it is long.
    pub(super) fn text(&self, span: Span) -> String {
        let text = self.schema.sources.text(span).split_whitespace().collect::<Vec<_>>().join(" ");
        match text.char_indices().nth(SHOWN) {
            Some((end, _)) => format!("{}…", &text[..end]),
            None => text,
        }
    }

    /// Where a text is written.
    pub(super) fn place(&self, span: Span) -> Option<Location> {
        let sources = &self.schema.sources;
        if sources.text(span).is_empty() {
            return None;
        }
        let file = sources.file(sources.file_of(span.lo)).name.clone();
        let at = sources.line_column(span.lo);
        Some(Location { file, line: at.line, column: at.column })
    }
}

/// Bounds as they are written in the notation.
fn bounds_text(bounds: &tercet_schema::plan::shape::Constraint) -> String {
    let mut parts = Vec::new();
    let dots = if bounds.extensible { ", ..." } else { "" };
    let range = |lo: String, hi: String| if lo == hi { lo } else { format!("{lo}..{hi}") };
    if let Some((lo, hi)) = bounds.integer {
        let text =
            |bound: Option<i128>, none: &str| bound.map_or_else(|| none.to_owned(), |it| it.to_string());
        parts.push(format!("({}{dots})", range(text(lo, "MIN"), text(hi, "MAX"))));
    }
    if let Some((lo, hi)) = bounds.size {
        let hi = hi.map_or_else(|| "MAX".to_owned(), |hi| hi.to_string());
        parts.push(format!("(SIZE ({}{dots}))", range(lo.to_string(), hi)));
    }
    if let Some(ranges) = &bounds.alphabet {
        let character =
            |code: u32| char::from_u32(code).map_or_else(|| code.to_string(), |it| format!("{it:?}"));
        let ranges = ranges.iter().take(8).map(|(lo, hi)| range(character(*lo), character(*hi)));
        parts.push(format!("(FROM ({}))", ranges.collect::<Vec<_>>().join(" | ")));
    }
    parts.join(" ")
}

/// The positions of the longest ascending part of some numbers.
fn ascending(numbers: &[usize]) -> HashSet<usize> {
    // The last position of the best part of each length, and for each position the one before it.
    let (mut ends, mut before): (Vec<usize>, Vec<Option<usize>>) = (Vec::new(), vec![None; numbers.len()]);
    for (position, number) in numbers.iter().enumerate() {
        let at = ends.partition_point(|end| numbers[*end] < *number);
        before[position] = at.checked_sub(1).map(|at| ends[at]);
        if at == ends.len() { ends.push(position) } else { ends[at] = position }
    }
    let mut kept = HashSet::new();
    let mut next = ends.last().copied();
    while let Some(position) = next {
        kept.insert(position);
        next = before[position];
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::ascending;
    use std::collections::HashSet;

    #[test]
    fn one_that_moved_is_not_kept() {
        assert_eq!(ascending(&[0, 3, 1, 2]), HashSet::from([0, 2, 3]));
        assert_eq!(ascending(&[]), HashSet::new());
    }
}
