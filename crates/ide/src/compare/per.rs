//! Pairs in PER: everything stands at its place, and widths follow from bounds.

use super::reading::{Pair, Sides, Step};
use tercet_schema::plan::per::{
    Addition, Alphabet, Choice, Code, Enumerated, Integer, IntegerForm, Member, Program, Sequence, Size,
    Whole,
};
use tercet_schema::plan::{FieldId, Kind, NodeId};

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
        (Code::Boolean, Code::Boolean) | (Code::Null, Code::Null) | (Code::Contents, Code::Contents) => {}
        (Code::Integer(from), Code::Integer(to)) => {
            if let Some(text) = integer(writer, reader, from, to) {
                step.fault("", text);
            }
        }
        (Code::Enumerated(from), Code::Enumerated(to)) => {
            let tables = (&writer.enumerations[from as usize], &reader.enumerations[to as usize]);
            members.items(tables.0, tables.1, &mut step);
        }
        (Code::BitString(from, named), Code::BitString(to, also))
        | (Code::BitsContaining(from, named), Code::BitString(to, also))
        | (Code::BitsContaining(from, named), Code::BitsContaining(to, also)) => {
            sizes(&from, &to, &mut step);
            if also && !named && sides.rules.is_canonical() {
                step.fault("", "zero bits at the end are not allowed for named bits");
            }
        }
        (Code::BitString(from, _), Code::BitsContaining(to, _)) => sizes(&from, &to, &mut step),
        (
            Code::OctetString(from) | Code::OctetsContaining(from),
            Code::OctetString(to) | Code::OctetsContaining(to),
        ) => sizes(&from, &to, &mut step),
        (Code::Characters(from, alphabet), Code::Characters(to, other)) => {
            sizes(&from, &to, &mut step);
            let (alphabet, other) = (&writer.alphabets[alphabet as usize], &reader.alphabets[other as usize]);
            if let Some(text) = alphabets(alphabet, other) {
                step.fault("", text);
            }
            let (from_shape, to_shape) = sides.shapes();
            if from.extensible && from_shape.node(pair.0).kind != to_shape.node(pair.1).kind {
                step.fault("", "longer strings have the characters of another type");
            }
        }
        (Code::Characters(size, alphabet), Code::Contents) if has_octets(writer, &size, alphabet) => {}
        (Code::Sequence(from), Code::Sequence(to)) => {
            members.sequences(&writer.sequences[from as usize], &reader.sequences[to as usize], &mut step);
        }
        (Code::SequenceOf(from, element), Code::SequenceOf(to, other)) => {
            sizes(&from, &to, &mut step);
            let (shape, other_shape) = sides.shapes();
            step.part("[]", (shape.field(FieldId(element)).node, other_shape.field(FieldId(other)).node));
        }
        (Code::Choice(from), Code::Choice(to)) => {
            members.choices(&writer.choices[from as usize], &reader.choices[to as usize], &mut step);
        }
        (Code::Open, Code::Open) | (Code::Unsupported, Code::Unsupported) => {}
        (Code::Time(from), Code::Time(to)) => {
            if writer.times[from as usize] != reader.times[to as usize] {
                step.fault("", "the time has another form");
            }
        }
        (Code::Predefined(from), Code::Predefined(to)) => {
            let (shape, other) = sides.shapes();
            let text = |shape: &tercet_schema::plan::Shape, index: u32| {
                shape.defaults.get(index as usize).map(|it| super::reading::constant_text(shape, it))
            };
            if text(shape, from) != text(other, to) {
                step.fault("", "the identification that is not written is another one");
            }
            members.children(&mut step);
        }
        _ => step.fault("", "the encoding has another form"),
    }
    sides.contents(pair, &mut step);
    step
}

/// The bits of a whole number as text.
fn width(whole: Whole) -> String {
    match whole {
        Whole::Nothing => "no bits".to_owned(),
        Whole::Bits(1) => "1 bit".to_owned(),
        Whole::Bits(bits) => format!("{bits} bits"),
        Whole::Octet => "an octet".to_owned(),
        Whole::TwoOctets => "two octets".to_owned(),
        Whole::Octets(_, most) => format!("up to {most} octets"),
    }
}

/// Whether numbers are written in the same bits; that of octets needs a length of the same width.
fn is_same_whole(one: Whole, other: Whole) -> bool {
    match (one, other) {
        (Whole::Octets(width, _), Whole::Octets(other, _)) => width == other,
        _ => one == other,
    }
}

const fn marker(extensible: bool) -> &'static str {
    if extensible { "an extension bit" } else { "no extension bit" }
}

fn markers(one: bool, other: bool) -> Option<String> {
    (one != other).then(|| format!("{} is not {}", marker(one), marker(other)))
}

fn integer(writer: &Program, reader: &Program, from: Integer, to: Integer) -> Option<String> {
    if let Some(text) = markers(from.extensible, to.extensible) {
        return Some(text);
    }
    match (from.form, to.form) {
        (
            IntegerForm::Constrained { lo, span, whole },
            IntegerForm::Constrained { lo: low, span: most, whole: other },
        ) => {
            if !is_same_whole(whole, other) {
                Some(format!("{} are not {}", width(whole), width(other)))
            } else if lo != low {
                Some(format!("numbers are counted from {lo}, not from {low}"))
            } else if span > most {
                Some(format!(
                    "greatest number is {}, not {}",
                    i128::from(lo) + i128::from(span),
                    i128::from(low) + i128::from(most)
                ))
            } else {
                None
            }
        }
        (IntegerForm::SemiConstrained(lo), IntegerForm::SemiConstrained(low)) => {
            (lo != low).then(|| format!("numbers are counted from {lo}, not from {low}"))
        }
        (IntegerForm::Unconstrained, IntegerForm::Unconstrained) => None,
        (IntegerForm::Large(one), IntegerForm::Large(other)) => (writer.large.get(one as usize)
            != reader.large.get(other as usize))
        .then(|| "bounds differ".to_owned()),
        _ => Some("the number has another form".to_owned()),
    }
}

fn size_text(size: &Size) -> String {
    match size.whole {
        Some(Whole::Nothing) => "no length".to_owned(),
        Some(whole) => format!("a length of {}", width(whole)),
        None => "a general length".to_owned(),
    }
}

/// Compares sizes. One that is outside of an extensible size is written as a general length, which any reader takes.
fn sizes(from: &Size, to: &Size, step: &mut Step) {
    let is_same = match (from.whole, to.whole) {
        (None, None) => true,
        (Some(one), Some(other)) => is_same_whole(one, other),
        _ => false,
    };
    let text = if let Some(text) = markers(from.extensible, to.extensible) {
        text
    } else if !is_same {
        format!("{} is not {}", size_text(from), size_text(to))
    } else if from.whole.is_some() && from.lo != to.lo {
        format!("sizes are counted from {}, not from {}", from.lo, to.lo)
    } else if from.whole.is_some() && from.hi > to.hi {
        format!("greatest size is {}, not {}", from.hi, to.hi)
    } else {
        return;
    };
    step.fault("", text);
}

fn alphabets(from: &Alphabet, to: &Alphabet) -> Option<String> {
    if from.bits != to.bits {
        return Some(format!("characters of {} bits are not of {} bits", from.bits, to.bits));
    }
    if from.unaligned != to.unaligned {
        return Some("strings are aligned differently".to_owned());
    }
    for range in &from.ranges {
        let holds = to.ranges.iter().any(|other| other.lo <= range.lo && range.hi <= other.hi);
        // Ranges that touch may be written as two.
        let holds = holds || (range.lo..=range.hi).take(4096).all(|it| to.code(it).is_some());
        let codes = |alphabet: &Alphabet| (alphabet.code(range.lo), alphabet.code(range.hi));
        if !holds || codes(from) != codes(to) {
            return Some("characters have other numbers, or are not permitted".to_owned());
        }
    }
    None
}

/// Whether characters are written as octets with a general length, as other strings are.
fn has_octets(program: &Program, size: &Size, alphabet: u32) -> bool {
    let alphabet = &program.alphabets[alphabet as usize];
    let is_octet = alphabet.octets == 1 && alphabet.bits == 8 && !alphabet.indexed && !alphabet.unaligned;
    program.aligned && is_octet && size.whole.is_none() && !size.extensible
}

/// Whether values of a node have no bits.
fn is_empty(program: &Program, node: NodeId) -> bool {
    match program.nodes.get(node.index()) {
        Some(Code::Null) => true,
        Some(Code::Integer(Integer {
            extensible: false,
            form: IntegerForm::Constrained { whole: Whole::Nothing, .. },
        })) => true,
        Some(Code::Enumerated(index)) => {
            let enumerated = &program.enumerations[*index as usize];
            !enumerated.extensible && enumerated.whole == Whole::Nothing
        }
        _ => false,
    }
}

struct Members<'a, 's> {
    sides: &'a Sides<'s>,
    programs: (&'a Program, &'a Program),
    pair: Pair,
}

impl Members<'_, '_> {
    /// The names of two components, each by its number within the node, and the pair of their nodes.
    fn fields(&self, from: u32, to: u32) -> (&str, &str, Pair, (FieldId, FieldId)) {
        let (writer, reader) = self.sides.shapes();
        let ids =
            (FieldId(writer.node(self.pair.0).first + from), FieldId(reader.node(self.pair.1).first + to));
        let (one, other) = (writer.field(ids.0), reader.field(ids.1));
        (writer.name(one.name), reader.name(other.name), (one.node, other.node), ids)
    }

    fn field(&self, from: u32, to: u32, has_absence: bool, step: &mut Step) {
        let (name, other, pair, ids) = self.fields(from, to);
        if !self.sides.is_same_field(self.pair, (name, other)) {
            step.fault(name, format!("is read as `{other}`"));
            return;
        }
        if has_absence {
            let (writer, reader) = self.sides.shapes();
            self.sides.absence(writer.field(ids.0).presence, reader.field(ids.1).presence, name, step);
        }
        step.part(name, pair);
    }

    /// All components by position.
    fn children(&self, step: &mut Step) {
        let (writer, reader) = self.sides.shapes();
        let counts = (writer.node(self.pair.0).count, reader.node(self.pair.1).count);
        for number in 0..counts.0.min(counts.1) {
            self.field(number, number, true, step);
        }
    }

    fn name_of(&self, number: u32) -> &str {
        let shape = self.sides.shapes().0;
        shape.name(shape.field(FieldId(shape.node(self.pair.0).first + number)).name)
    }

    fn name_in_reader(&self, number: u32) -> &str {
        let shape = self.sides.shapes().1;
        shape.name(shape.field(FieldId(shape.node(self.pair.1).first + number)).name)
    }

    /// Components one behind the other, of the root or of a version bracket.
    fn row(&self, from: &[Member], to: &[Member], step: &mut Step) {
        let (from, to) = (self.with_bits(from, true), self.with_bits(to, false));
        let (from, to) = (&from[..], &to[..]);
        let optional = |members: &[Member]| members.iter().filter(|member| member.optional).count();
        if optional(from) != optional(to) {
            let (one, other) = (optional(from), optional(to));
            step.fault("", format!("{one} presence bits are not {other}"));
        }
        for (one, other) in from.iter().zip(to) {
            let name = self.name_of(one.field);
            if one.optional != other.optional {
                let text = if one.optional { "has a presence bit" } else { "has no presence bit" };
                step.fault(name, text);
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

    /// The members without those that the other side does not know and that have no bits.
    fn with_bits(&self, members: &[Member], is_writer: bool) -> Vec<Member> {
        let (writer, reader) = self.sides.shapes();
        let (shape, node, program) = match is_writer {
            true => (writer, self.pair.0, self.programs.0),
            false => (reader, self.pair.1, self.programs.1),
        };
        let (other, other_node) = if is_writer { (reader, self.pair.1) } else { (writer, self.pair.0) };
        let keeps = |member: &&Member| {
            let field = shape.field(FieldId(shape.node(node).first + member.field));
            let is_known = Sides::has_field(other, other_node, shape.name(field.name));
            member.optional || is_known || !is_empty(program, field.node)
        };
        members.iter().filter(keeps).copied().collect()
    }

    fn sequences(&self, from: &Sequence, to: &Sequence, step: &mut Step) {
        if let Some(text) = markers(from.extensible, to.extensible) {
            step.fault("", text);
        }
        self.row(&from.root, &to.root, step);
        for (one, other) in from.additions.iter().zip(&to.additions) {
            match (one, other) {
                (Addition::Single(one), Addition::Single(other)) => self.field(*one, *other, true, step),
                (Addition::Group { members, .. }, Addition::Group { members: others, .. }) => {
                    self.row(members, others, step);
                }
                (Addition::Single(one), _) => {
                    step.fault(self.name_of(*one), "is read as a version bracket");
                }
                (Addition::Group { members, .. }, _) => {
                    let name = members.first().map_or("", |member| self.name_of(member.field));
                    step.fault(name, "a version bracket is read as a component");
                }
            }
        }
        self.moved(from.additions.iter().skip(to.additions.len()).flat_map(numbers), step);
    }

    /// Reports components of the writer that the reader skips as unknown, and knows elsewhere.
    fn moved(&self, skipped: impl Iterator<Item = u32>, step: &mut Step) {
        let reader = self.sides.shapes().1;
        for number in skipped {
            let name = self.name_of(number);
            if Sides::has_field(reader, self.pair.1, name) {
                step.fault(name, "is skipped as unknown");
            }
        }
    }

    fn choices(&self, from: &Choice, to: &Choice, step: &mut Step) {
        if let Some(text) = markers(from.extensible, to.extensible) {
            step.fault("", text);
        }
        if !is_same_whole(from.whole, to.whole) {
            step.fault("", format!("an index of {} is not of {}", width(from.whole), width(to.whole)));
        }
        for (index, one) in from.root.iter().enumerate() {
            match to.root.get(index) {
                Some(other) => self.field(*one, *other, false, step),
                None => step.fault(self.name_of(*one), format!("index {index} is unknown")),
            }
        }
        for (one, other) in from.additions.iter().zip(&to.additions) {
            self.field(*one, *other, false, step);
        }
        self.moved(from.additions.iter().skip(to.additions.len()).copied(), step);
    }

    fn items(&self, from: &Enumerated, to: &Enumerated, step: &mut Step) {
        if let Some(text) = markers(from.extensible, to.extensible) {
            step.fault("", text);
        }
        if !is_same_whole(from.whole, to.whole) {
            step.fault("", format!("an index of {} is not of {}", width(from.whole), width(to.whole)));
        }
        let (writer, reader) = self.sides.shapes();
        let name = |value| writer.item_name(self.pair.0, value).unwrap_or_default();
        let other_name = |value| reader.item_name(self.pair.1, value).unwrap_or_default();
        let mut compare = |list: &[i64], others: &[i64], is_open: bool| {
            for (index, value) in list.iter().enumerate() {
                let name = name(*value);
                match others.get(index) {
                    Some(other) => {
                        let other = other_name(*other);
                        if !self.sides.is_same_item(self.pair, (name, other)) {
                            step.fault(name, format!("is read as `{other}`"));
                        }
                    }
                    None if !is_open => step.fault(name, format!("index {index} is unknown")),
                    None if Sides::has_item(reader, self.pair.1, name) => {
                        step.fault(name, "is read as an unknown item")
                    }
                    None => {}
                }
            }
        };
        compare(&from.root, &to.root, false);
        compare(&from.additions, &to.additions, to.extensible);
    }
}

/// The numbers of the fields of an addition.
fn numbers(addition: &Addition) -> Vec<u32> {
    match addition {
        Addition::Single(field) => vec![*field],
        Addition::Group { members, .. } => members.iter().map(|member| member.field).collect(),
    }
}

/// Whether a constraint is visible to PER: the two nodes have another form.
pub(super) fn is_visible(
    writer: &tercet_schema::plan::Plan,
    reader: &tercet_schema::plan::Plan,
    pair: Pair,
) -> bool {
    let sides = |from, to| Sides { writer: from, reader: to, rules: tercet_schema::plan::Rules::Uper };
    let (tercet_schema::plan::Code::Per(one), tercet_schema::plan::Code::Per(other)) =
        (&writer.code, &reader.code)
    else {
        return false;
    };
    let kind = |plan: &tercet_schema::plan::Plan, node| plan.shape.node(node).kind;
    if kind(writer, pair.0) == Kind::Open {
        return false;
    }
    !step(&sides(writer, reader), one, other, pair).faults.is_empty()
        || !step(&sides(reader, writer), other, one, (pair.1, pair.0)).faults.is_empty()
}
