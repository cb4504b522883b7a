//! Pairs in XER, JER and GSER: components, alternatives and items are found by their names.

use super::reading::{Pair, Sides, Step};
use std::collections::HashMap;
use tercet_schema::plan::instructions::Json;
use tercet_schema::plan::shape::{Field, Place, Presence, Shape};
use tercet_schema::plan::{FieldId, Kind, NameId, NodeId, Rules};

pub(super) fn step(sides: &Sides<'_>, pair: Pair) -> Step {
    let mut step = Step::default();
    let (from, to) = sides.shapes();
    if !sides.kinds(pair, &mut step) {
        return step;
    }
    if sides.rules == Rules::Jer && forms(from, pair.0) != forms(to, pair.1) {
        step.fault("", "encoding instructions of JER differ");
    }
    match from.node(pair.0).kind {
        Kind::Sequence | Kind::Set => components(sides, pair, &mut step),
        Kind::Choice => {
            let known: HashMap<&str, &Field> =
                to.fields_of(pair.1).map(|(id, field)| (name(sides.rules, to, id), field)).collect();
            for (id, field) in from.fields_of(pair.0) {
                let name = name(sides.rules, from, id);
                match known.get(name) {
                    Some(other) => step.part(name, (field.node, other.node)),
                    None => step.fault(name, "the alternative is unknown"),
                }
            }
        }
        Kind::SequenceOf | Kind::SetOf => {
            let element =
                |shape: &Shape, node| shape.fields_of(node).next().map(|(_, field)| (field.name, field.node));
            if let (Some((one, node)), Some((other, reader))) = (element(from, pair.0), element(to, pair.1)) {
                // Elements of XER have names (X.693 8.3.6).
                if sides.rules.basic() == Rules::Xer {
                    let names = (element_name(from, one), element_name(to, other));
                    if names.0 != names.1 {
                        step.fault("", format!("elements <{}> are not <{}>", names.0, names.1));
                    }
                }
                step.part("[]", (node, reader));
            }
        }
        Kind::Enumerated => {
            for item in from.items_of(pair.0) {
                let name = from.name(item.name);
                if !Sides::has_item(to, pair.1, name) {
                    step.fault(name, "the item is unknown");
                }
            }
        }
        Kind::BitString => bits(sides, pair, &mut step),
        _ => {}
    }
    sides.contents(pair, &mut step);
    step
}

/// Compares the name of the outermost element of XER.
pub(super) fn outermost(sides: &Sides<'_>, (w, r): Pair) -> Option<String> {
    if sides.rules.basic() != Rules::Xer {
        return None;
    }
    let (from, to) = sides.shapes();
    let (before, after) = (from.type_name(w)?, to.type_name(r)?);
    (before != after).then(|| format!("the element <{before}> is not <{after}>"))
}

/// Compares the names that the content of an open type is written with.
pub(super) fn content_names(sides: &Sides<'_>, opens: Pair, contents: Pair) -> Option<String> {
    let (from, to) = sides.shapes();
    let own = |name: &str| name.rsplit('.').next().unwrap_or(name).to_owned();
    let before = own(from.content_name(opens.0, contents.0));
    let after = own(to.content_name(opens.1, contents.1));
    (before != after).then(|| format!("`{before}` is not `{after}`"))
}

/// The name of a component: in JER that of NAME, if there is one.
fn name(rules: Rules, shape: &Shape, id: FieldId) -> &str {
    let field = shape.field(id);
    let given =
        if rules == Rules::Jer { shape.json_of(id, field.node).and_then(|json| json.name) } else { None };
    shape.name(given.unwrap_or(field.name))
}

/// What JER instructions say of a type and its components, but for names.
fn forms(shape: &Shape, node: NodeId) -> Vec<(Json, Vec<String>)> {
    let form = |id, node| {
        let json = shape.json_of(id, node).cloned().unwrap_or_default();
        let texts = json.texts.iter().map(|(value, name)| format!("{value} {}", shape.name(*name))).collect();
        (Json { name: None, texts: Vec::new(), ..json }, texts)
    };
    if shape.instructions.is_none() {
        return Vec::new();
    }
    let fields = shape.fields_of(node).map(|(id, field)| form(id, field.node));
    let all: Vec<_> = [form(FieldId::ROOT, node)].into_iter().chain(fields).collect();
    if all.iter().all(|form| *form == Default::default()) { Vec::new() } else { all }
}

fn element_name(shape: &Shape, name: NameId) -> String {
    shape.name(name).split('{').next().unwrap_or_default().trim().to_owned()
}

fn components(sides: &Sides<'_>, pair: Pair, step: &mut Step) {
    let (from, to) = sides.shapes();
    let known: HashMap<&str, (usize, &Field)> = to
        .fields_of(pair.1)
        .enumerate()
        .map(|(at, (id, field))| (name(sides.rules, to, id), (at, field)))
        .collect();
    // Members of a SET may come in any order, but in that of their tags in canonical XER (X.693 9.2).
    let is_set = to.node(pair.1).kind == Kind::Set;
    let is_ordered = sides.rules != Rules::Jer && (!is_set || sides.rules == Rules::Cxer);
    let mut fields: Vec<(FieldId, &Field)> = from.fields_of(pair.0).collect();
    if is_set {
        fields.sort_by_key(|(id, _)| from.place_in_set(pair.0, *id));
    }
    let place = |at: usize| match is_set {
        true => to.place_in_set(pair.1, FieldId(to.node(pair.1).first + at as u32)),
        false => at as u32,
    };
    let mut last = 0;
    let mut met: HashMap<usize, Presence> = HashMap::new();
    for (id, field) in fields {
        let name = name(sides.rules, from, id);
        let Some((at, other)) = known.get(name) else {
            if !to.node(pair.1).extensible {
                step.fault(name, "is unknown, and there is no `...`");
            } else if sides.rules == Rules::Cxer {
                step.fault(name, "is unknown, and canonical XER allows nothing else");
            }
            continue;
        };
        if is_ordered && place(*at) < last {
            step.fault(name, "is expected earlier");
        }
        last = last.max(place(*at));
        met.insert(*at, if field.place == Place::Root { field.presence } else { Presence::Optional });
        sides.absence(field.presence, other.presence, name, step);
        step.part(name, (field.node, other.node));
    }
    let writer_places: HashMap<&str, Place> =
        from.fields_of(pair.0).map(|(id, field)| (name(sides.rules, from, id), field.place)).collect();
    for (at, (id, field)) in to.fields_of(pair.1).enumerate() {
        if field.presence != Presence::Mandatory {
            continue;
        }
        let own = name(sides.rules, to, id);
        let is_needed = match field.place {
            Place::Root => true,
            Place::Addition(_) => false,
            // It is needed if any other of its version bracket is there: the writer has those in one bracket too.
            Place::Group(_) => to.fields_of(pair.1).any(|(id, other)| {
                let sibling = name(sides.rules, to, id);
                other.place == field.place
                    && writer_places.get(sibling).is_some_and(|place| writer_places.get(own) != Some(place))
            }),
        };
        let is_there = match (met.get(&at), field.place) {
            (Some(Presence::Mandatory), _) => true,
            // Mandatory in the writer's bracket as well.
            (Some(_), Place::Group(_)) => from
                .fields_of(pair.0)
                .any(|(id, it)| name(sides.rules, from, id) == own && it.presence == Presence::Mandatory),
            _ => false,
        };
        if is_needed && !is_there {
            let text = if met.contains_key(&at) {
                "must be there, and may be absent"
            } else {
                "must be there, and is not known"
            };
            step.fault(own, text);
        }
    }
}

/// Compares BIT STRINGs: in JER their form depends on the size, in GSER bits are written by their names (RFC 3641 3.5).
fn bits(sides: &Sides<'_>, pair: Pair, step: &mut Step) {
    let (from, to) = sides.shapes();
    if sides.rules.basic() == Rules::Xer {
        return;
    }
    if sides.rules == Rules::Jer {
        let fixed = |shape: &Shape, node: NodeId| {
            let constraint = shape.constraints.get(shape.node(node).constraint? as usize)?;
            match constraint.size {
                Some((least, Some(most))) if least == most && !constraint.extensible => Some(least),
                _ => None,
            }
        };
        let (before, after) = (fixed(from, pair.0), fixed(to, pair.1));
        let has_names = |shape: &Shape, node| !shape.items_of(node).is_empty();
        // Zero bits at the end of named bits mean nothing.
        if before != after && before.is_some() && !(has_names(from, pair.0) && has_names(to, pair.1)) {
            step.fault("", "a fixed size, which is not written, is another one");
        }
        return;
    }
    for item in from.items_of(pair.0) {
        let name = from.name(item.name);
        let other = to.items_of(pair.1).iter().find(|other| to.name(other.name) == name);
        match other {
            Some(other) if other.value == item.value => {}
            Some(_) => step.fault(name, "the name is that of another bit"),
            None => step.fault(name, "the bit is unknown"),
        }
    }
}
