//! Pairs in OER: components stand at their place, alternatives are found by their tags.

use super::ber::{items, tag_text};
use super::reading::{Pair, Sides, Step};
use tercet_schema::plan::FieldId;
use tercet_schema::plan::oer::{Addition, Choice, Code, Member, Program, Sequence, Size, VARIABLE};

pub(super) fn step(sides: &Sides<'_>, writer: &Program, reader: &Program, pair: Pair) -> Step {
    let mut step = Step::default();
    let (Some(before), Some(after)) = (writer.nodes.get(pair.0.index()), reader.nodes.get(pair.1.index()))
    else {
        return step;
    };
    if !sides.kinds(pair, &mut step) {
        return step;
    }
    let members = Members { sides, programs: (writer, reader), pair };
    match (*before, *after) {
        (Code::Enumerated, Code::Enumerated) => items(sides, pair, &mut step),
        (
            Code::BitString(from, named) | Code::BitsContaining(from, named),
            Code::BitString(to, also) | Code::BitsContaining(to, also),
        ) => {
            sizes(from, to, &mut step);
            if also && !named && sides.rules.is_canonical() {
                step.fault("", "zero bits at the end are not allowed for named bits");
            }
        }
        (
            Code::OctetString(from) | Code::OctetsContaining(from),
            Code::OctetString(to) | Code::OctetsContaining(to),
        )
        | (Code::Contents(from), Code::Contents(to)) => sizes(from, to, &mut step),
        (Code::Integer(from), Code::Integer(to)) => {
            if from != to {
                step.fault("", "the number has another width or sign");
            }
        }
        (Code::Real(from), Code::Real(to)) => {
            if from != to {
                step.fault("", "the number has another form");
            }
        }
        (Code::Time(from), Code::Time(to)) => {
            if writer.times[from as usize] != reader.times[to as usize] {
                step.fault("", "the time has another form");
            }
        }
        (Code::Sequence(from), Code::Sequence(to)) => {
            members.sequences(&writer.sequences[from as usize], &reader.sequences[to as usize], &mut step);
        }
        (Code::SequenceOf, Code::SequenceOf) => {
            let (shape, other) = sides.shapes();
            let element = |shape: &tercet_schema::plan::Shape, node| {
                shape.fields_of(node).next().map(|(_, field)| field.node)
            };
            if let (Some(from), Some(to)) = (element(shape, pair.0), element(other, pair.1)) {
                step.part("[]", (from, to));
            }
        }
        (Code::Choice(from), Code::Choice(to)) => {
            members.choices(&writer.choices[from as usize], &reader.choices[to as usize], &mut step);
        }
        (Code::Predefined(from), Code::Predefined(to)) => {
            let (shape, other) = sides.shapes();
            let text = |shape: &tercet_schema::plan::Shape, index: u32| {
                shape.defaults.get(index as usize).map(|it| super::reading::constant_text(shape, it))
            };
            if text(shape, from) != text(other, to) {
                step.fault("", "the identification that is not written is another one");
            }
        }
        (from, to) if std::mem::discriminant(&from) == std::mem::discriminant(&to) => {}
        _ => step.fault("", "the encoding has another form"),
    }
    sides.contents(pair, &mut step);
    step
}

fn sizes(from: Size, to: Size, step: &mut Step) {
    let text = |size| match size {
        VARIABLE => "a length".to_owned(),
        size => format!("a fixed size of {size}"),
    };
    if from != to {
        step.fault("", format!("{} is not {}", text(from), text(to)));
    }
}

struct Members<'a, 's> {
    sides: &'a Sides<'s>,
    programs: (&'a Program, &'a Program),
    pair: Pair,
}

impl Members<'_, '_> {
    fn name_of(&self, number: u32) -> &str {
        let shape = self.sides.shapes().0;
        shape.name(shape.field(FieldId(shape.node(self.pair.0).first + number)).name)
    }

    fn name_in_reader(&self, number: u32) -> &str {
        let shape = self.sides.shapes().1;
        shape.name(shape.field(FieldId(shape.node(self.pair.1).first + number)).name)
    }

    fn field(&self, from: u32, to: u32, has_absence: bool, step: &mut Step) {
        let (name, other) = (self.name_of(from), self.name_in_reader(to));
        if !self.sides.is_same_field(self.pair, (name, other)) {
            step.fault(name, format!("is read as `{other}`"));
            return;
        }
        let (writer, reader) = self.sides.shapes();
        let one = writer.field(FieldId(writer.node(self.pair.0).first + from));
        let another = reader.field(FieldId(reader.node(self.pair.1).first + to));
        if has_absence {
            self.sides.absence(one.presence, another.presence, name, step);
        }
        step.part(name, (one.node, another.node));
    }

    /// The members without NULLs that the other side does not know: they have no octets.
    fn with_octets(&self, members: &[Member], is_writer: bool) -> Vec<Member> {
        let (writer, reader) = self.sides.shapes();
        let (shape, node, program) = match is_writer {
            true => (writer, self.pair.0, self.programs.0),
            false => (reader, self.pair.1, self.programs.1),
        };
        let (other, other_node) = if is_writer { (reader, self.pair.1) } else { (writer, self.pair.0) };
        let keeps = |member: &&Member| {
            let field = shape.field(FieldId(shape.node(node).first + member.field));
            let is_null = matches!(program.nodes.get(field.node.index()), Some(Code::Null));
            member.optional || !is_null || Sides::has_field(other, other_node, shape.name(field.name))
        };
        members.iter().filter(keeps).copied().collect()
    }

    /// Components one behind the other, of the root or of a version bracket, after a preamble of presence bits and so many more.
    fn row(&self, from: &[Member], to: &[Member], more: usize, step: &mut Step) {
        let (mut from, mut to) = (self.with_octets(from, true), self.with_octets(to, false));
        self.drop_padding(&mut from, &mut to, more);
        let (from, to) = (&from[..], &to[..]);
        let optional = |members: &[Member]| members.iter().filter(|member| member.optional).count();
        if optional(from) != optional(to) {
            step.fault("", format!("{} presence bits are not {}", optional(from), optional(to)));
        }
        for (one, other) in from.iter().zip(to) {
            if one.optional != other.optional {
                let text = if one.optional { "has a presence bit" } else { "has no presence bit" };
                step.fault(self.name_of(one.field), text);
            }
            self.field(one.field, other.field, true, step);
        }
        for extra in from.iter().skip(to.len()) {
            step.fault(self.name_of(extra.field), "is not expected");
        }
        for extra in to.iter().skip(from.len()) {
            step.fault(self.name_in_reader(extra.field), "is expected, and does not come");
        }
    }

    /// Drops the components whose presence bits are padding of the other's preamble (§16.2.3): zero bits say that those of the
    /// reader are absent. A reader of basic OER ignores those of the writer, and a NULL has no octets.
    fn drop_padding(&self, from: &mut Vec<Member>, to: &mut Vec<Member>, more: usize) {
        let optional = |members: &[Member]| {
            members.iter().filter(|member| member.optional).map(|member| member.field).collect::<Vec<_>>()
        };
        let (one, other) = (optional(from), optional(to));
        let octets = |bits: usize| (bits + more).div_ceil(8);
        if octets(one.len()) != octets(other.len()) {
            return;
        }
        let common = one.len().min(other.len());
        let is_same = |at: usize| self.name_of(one[at]) == self.name_in_reader(other[at]);
        if !(0..common).all(is_same) {
            return;
        }
        to.retain(|member| !other[common..].contains(&member.field));
        let shape = self.sides.shapes().0;
        let is_null = |member: &Member| {
            let field = shape.field(FieldId(shape.node(self.pair.0).first + member.field));
            matches!(self.programs.0.nodes.get(field.node.index()), Some(Code::Null))
        };
        if !self.sides.rules.is_canonical() {
            from.retain(|member| !(one[common..].contains(&member.field) && is_null(member)));
        }
    }

    fn sequences(&self, from: &Sequence, to: &Sequence, step: &mut Step) {
        if from.extensible != to.extensible {
            let text = |extensible| if extensible { "an extension bit" } else { "no extension bit" };
            step.fault("", format!("{} is not {}", text(from.extensible), text(to.extensible)));
        }
        self.row(&from.root, &to.root, usize::from(from.extensible), step);
        for (one, other) in from.additions.iter().zip(&to.additions) {
            match (one, other) {
                (Addition::Single(one), Addition::Single(other)) => self.field(*one, *other, true, step),
                (Addition::Group { members, .. }, Addition::Group { members: others, .. }) => {
                    self.row(members, others, 0, step);
                }
                (addition, _) => {
                    let name = addition.fields().next().map_or("", |field| self.name_of(field));
                    step.fault(name, "a component is not a version bracket");
                }
            }
        }
        let reader = self.sides.shapes().1;
        for number in from.additions.iter().skip(to.additions.len()).flat_map(Addition::fields) {
            let name = self.name_of(number);
            if Sides::has_field(reader, self.pair.1, name) {
                step.fault(name, "is skipped as unknown");
            }
        }
    }

    fn choices(&self, from: &Choice, to: &Choice, step: &mut Step) {
        let reader = self.sides.shapes().1;
        for (tag, number) in &from.tags {
            let Some(alternative) = from.alternatives.get(*number as usize) else { continue };
            let name = self.name_of(*number);
            match to.find(*tag) {
                Some(found) => {
                    let addition = to.alternatives.get(found as usize).is_some_and(|it| it.addition);
                    if addition == alternative.addition {
                        self.field(*number, found, false, step);
                    } else {
                        let text = if addition {
                            "is read with a length, as an extension addition"
                        } else {
                            "has a length, as an extension addition"
                        };
                        step.fault(name, text);
                    }
                }
                None if !to.extensible => {
                    step.fault(name, format!("{} is unknown, and there is no `...`", tag_text(*tag)));
                }
                None if !alternative.addition => {
                    step.fault(
                        name,
                        format!("{} is unknown, and has no length to skip it by", tag_text(*tag)),
                    );
                }
                None if Sides::has_field(reader, self.pair.1, name) => {
                    step.fault(name, "is skipped as unknown")
                }
                None => {}
            }
        }
    }
}
