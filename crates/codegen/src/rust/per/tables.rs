//! Tables, which codecs follow where small ones are chosen.

use super::Per;
use crate::rust::per_forms::{size, whole};
use crate::types::Repr;
use std::cell::RefCell;
use std::collections::HashMap;
use tercet_plan::per::{Addition, Code, Integer, IntegerForm, Member};
use tercet_plan::{Kind, NodeId};

/// The lists of a program's tables, and the numbers of types in them.
#[derive(Default)]
pub(super) struct Tables {
    numbers: HashMap<NodeId, usize>,
    sequences: Rows,
    choices: Rows,
    lists: Rows,
    enumerations: Rows,
    members: Rows,
    additions: Rows,
    bounds: RefCell<Distinct>,
    leaves: RefCell<Distinct>,
}

/// Rows, some of them comments.
#[derive(Default)]
struct Rows {
    lines: Vec<String>,
    count: usize,
}

/// Rows that stand once each.
#[derive(Default)]
struct Distinct {
    lines: Vec<String>,
    numbers: HashMap<String, usize>,
}

impl Rows {
    /// The row of a type, under its number and name.
    fn push_type(&mut self, name: &str, line: String) {
        self.lines.push(format!("// {}: {name}", self.count));
        self.push(line);
    }

    fn push(&mut self, line: String) {
        self.lines.push(line);
        self.count += 1;
    }
}

impl Distinct {
    fn number(&mut self, line: String) -> usize {
        let next = self.lines.len();
        *self.numbers.entry(line).or_insert_with_key(|line| {
            self.lines.push(format!("{line},"));
            next
        })
    }
}

impl Per<'_, '_> {
    /// How a value is encoded.
    pub(super) fn form(&self, node: NodeId) -> String {
        let node = self.p.types.same(node);
        let tabled = self.p.types.is_tabled(node);
        let numbered = |form: &str| format!("per::Form::{form}({})", self.tables.numbers[&node]);
        match (self.p.types.repr(node), self.code(node)) {
            (Repr::Integer { .. } | Repr::Big, Code::Integer(integer)) => self.integer_form(integer),
            (Repr::Enumerated, Code::Enumerated(code)) => match self.plain_items(node, code) {
                Some(bounds) => format!("per::Form::Items({bounds})"),
                None => numbered("Enumerated"),
            },
            (Repr::Struct, Code::Sequence(_)) if tabled => numbered("Sequence"),
            (Repr::Choice, Code::Choice(_)) if tabled => numbered("Choice"),
            (Repr::List, Code::SequenceOf(..)) if tabled => numbered("List"),
            (Repr::Boolean | Repr::Null | Repr::Real | Repr::Float, _) => "per::Form::Plain".into(),
            (Repr::Oid | Repr::RelativeOid | Repr::Any, _) => "per::Form::Plain".into(),
            _ => self.leaf(node).map_or_else(|| "per::Form::Straight".into(), |leaf| self.leaf_form(leaf)),
        }
    }

    fn leaf_form(&self, leaf: String) -> String {
        format!("per::Form::Leaf({})", self.tables.leaves.borrow_mut().number(leaf))
    }

    fn leaf(&self, node: NodeId) -> Option<String> {
        let kind = self.p.types.shape.node(node).kind;
        Some(match (self.p.types.repr(node), self.code(node)) {
            (Repr::FixedBits(_) | Repr::Bits, Code::BitString(form, named)) => {
                format!("per::Leaf::String({}, {named})", size(form))
            }
            (Repr::FixedOctets(_) | Repr::Octets, Code::OctetString(form)) => {
                format!("per::Leaf::String({}, false)", size(form))
            }
            (Repr::Text, Code::Characters(form, index)) => {
                let time = match kind {
                    Kind::UtcTime => "Utc",
                    Kind::GeneralizedTime => "Generalized",
                    _ => "No",
                };
                let (size, alphabet) = (size(form), self.alphabet(index));
                format!(
                    "per::Leaf::Characters(per::Characters {{ size: {size}, alphabet: &<{alphabet} as per::Letters>::ALPHABET, time: per::Time::{time} }})"
                )
            }
            (Repr::Text, Code::Time(index)) => format!("per::Leaf::Time(&{})", self.time(node, index)),
            (Repr::Text, Code::Contents) => {
                format!("per::Leaf::OtherString(StringKind::{:?})", kind.string_kind()?)
            }
            (Repr::Contained(inside), Code::OctetsContaining(form) | Code::BitsContaining(form, _)) => {
                let (size, inside) = (size(form), self.form(inside));
                format!("per::Leaf::Containing({size}, {inside}, {})", kind == Kind::BitString)
            }
            _ => return None,
        })
    }

    fn integer_form(&self, integer: Integer) -> String {
        let extensible = integer.extensible;
        let leaf = match integer.form {
            IntegerForm::Constrained { lo, span, whole: form } => {
                return format!("per::Form::Integer({})", self.bounds(&whole(form), lo, span, extensible));
            }
            IntegerForm::SemiConstrained(lo) => format!("per::Leaf::SemiConstrained({lo}, {extensible})"),
            IntegerForm::Unconstrained => format!("per::Leaf::Unconstrained({extensible})"),
            IntegerForm::Large(index) => {
                let large = &self.program.large[index as usize];
                let span =
                    large.span.as_ref().map_or_else(|| "None".into(), |span| format!("Some(&{span:?})"));
                format!("per::Leaf::Large(&{:?}, {span}, {extensible})", large.lo)
            }
        };
        self.leaf_form(leaf)
    }

    fn bounds(&self, whole: &str, lo: i64, span: u64, extensible: bool) -> usize {
        let line =
            format!("per::Bounds {{ whole: {whole}, lo: {lo}, span: {span}, extensible: {extensible} }}");
        self.tables.bounds.borrow_mut().number(line)
    }

    /// The bounds of the numbers of an enumeration without extension whose items are declared in order.
    fn plain_items(&self, node: NodeId, code: u32) -> Option<usize> {
        let enumerated = &self.program.enumerations[code as usize];
        let items = self.p.types.shape.items_of(node).iter().map(|item| item.value);
        let plain = !enumerated.extensible && items.eq(enumerated.root.iter().copied());
        let span = (enumerated.root.len() as u64).checked_sub(1)?;
        plain.then(|| self.bounds(&whole(enumerated.whole), 0, span, false))
    }

    /// Gives the types numbers, in order.
    pub(super) fn number_types(&mut self) {
        let mut next = [0; 4];
        for node in self.p.types.nodes().collect::<Vec<_>>() {
            let list = match self.code(node) {
                _ if !self.p.types.is_tabled(node) => continue,
                Code::Sequence(_) => 0,
                Code::Choice(_) => 1,
                Code::SequenceOf(..) => 2,
                Code::Enumerated(code) if self.plain_items(node, code).is_none() => 3,
                _ => continue,
            };
            self.tables.numbers.insert(node, next[list]);
            next[list] += 1;
        }
    }

    /// The tables of all types.
    pub(super) fn print_tables(&mut self) {
        let tables = std::mem::take(&mut self.tables);
        let lists = [
            ("sequences", tables.sequences.lines),
            ("choices", tables.choices.lines),
            ("lists", tables.lists.lines),
            ("enumerations", tables.enumerations.lines),
            ("members", tables.members.lines),
            ("additions", tables.additions.lines),
            ("bounds", tables.bounds.into_inner().lines),
            ("leaves", tables.leaves.into_inner().lines),
        ];
        if lists.iter().all(|(_, lines)| lines.is_empty()) {
            return;
        }
        let name = self.tables_name();
        self.line("");
        self.open(format!("static {name}: per::Tables = per::Tables {{"));
        for (name, lines) in lists {
            if lines.is_empty() {
                self.line(format!("{name}: &[],"));
                continue;
            }
            self.open(format!("{name}: &["));
            lines.iter().for_each(|line| self.line(line));
            self.close("],");
        }
        self.close("};");
    }

    pub(super) fn tables_name(&self) -> String {
        format!("{}_TABLES", self.rules.to_uppercase())
    }

    /// The rows of a type.
    pub(super) fn table(&mut self, node: NodeId) {
        match self.code(node) {
            Code::Enumerated(code) if self.plain_items(node, code).is_none() => {
                self.enumerated_table(node, code);
            }
            Code::Sequence(code) => self.sequence_table(node, code),
            Code::Choice(code) => self.choice_table(node, code),
            Code::SequenceOf(form, _) => {
                let element = self.form(self.p.types.element(node));
                let set = self.p.types.shape.node(node).kind == Kind::SetOf;
                let counted = self.p.types.is_counted(node);
                let line = format!(
                    "per::List {{ size: {}, set: {set}, counted: {counted}, element: {element} }},",
                    size(form)
                );
                self.tables.lists.push_type(self.p.names.ty(node), line);
            }
            _ => {}
        }
    }

    fn enumerated_table(&mut self, node: NodeId, code: u32) {
        let enumerated = &self.program.enumerations[code as usize];
        let items = self.p.types.shape.items_of(node);
        let place = |value: &i64| items.iter().position(|item| item.value == *value).unwrap_or(items.len());
        let places = |values: &[i64]| {
            values.iter().map(|value| place(value).to_string()).collect::<Vec<_>>().join(", ")
        };
        let line = format!(
            "per::Enumerated {{ whole: {}, extensible: {}, root: &[{}], additions: &[{}] }},",
            whole(enumerated.whole),
            enumerated.extensible,
            places(&enumerated.root),
            places(&enumerated.additions),
        );
        self.tables.enumerations.push_type(self.p.names.ty(node), line);
    }

    fn sequence_table(&mut self, node: NodeId, code: u32) {
        let program = self.program;
        let sequence = &program.sequences[code as usize];
        let name = self.p.names.ty(node).to_owned();
        let unknown = match self.p.names.additions(node) {
            Some(_) => format!("Some({})", self.p.types.shape.node(node).count),
            None => "None".into(),
        };
        self.tables.members.lines.push(format!("// {name}"));
        let root = self.members(node, &sequence.root);
        let optional = sequence.root.iter().filter(|member| member.optional).count();
        let first = self.tables.additions.count;
        if !sequence.additions.is_empty() {
            self.tables.additions.lines.push(format!("// {name}"));
        }
        for addition in &sequence.additions {
            let (group, members) = match addition {
                Addition::Single(field) => {
                    (false, self.members(node, &[Member { field: *field, optional: true }]))
                }
                Addition::Group { members, .. } => (true, self.members(node, members)),
            };
            self.tables.additions.push(format!("per::Addition {{ group: {group}, members: {members} }},"));
        }
        let additions = format!("{first}..{}", self.tables.additions.count);
        let line = format!(
            "per::Sequence {{ extensible: {}, unknown: {unknown}, counted: {}, optional: {optional}, root: {root}, additions: {additions} }},",
            sequence.extensible,
            self.p.types.is_counted(node),
        );
        self.tables.sequences.push_type(&name, line);
    }

    /// Adds the rows of members, and tells which they are.
    fn members(&mut self, node: NodeId, members: &[Member]) -> String {
        let first = self.tables.members.count;
        for member in members {
            let id = self.member_field(node, member.field);
            let form = self.form(self.p.types.shape.field(id).node);
            let Member { field, optional } = member;
            let line = format!("per::Member {{ number: {field}, optional: {optional}, form: {form} }},");
            self.tables.members.push(line);
        }
        format!("{first}..{}", self.tables.members.count)
    }

    fn choice_table(&mut self, node: NodeId, code: u32) {
        let program = self.program;
        let choice = &program.choices[code as usize];
        let name = self.p.names.ty(node).to_owned();
        self.tables.members.lines.push(format!("// {name}"));
        let [root, additions] = [&choice.root, &choice.additions].map(|alternatives| {
            let members = alternatives.iter().map(|field| Member { field: *field, optional: false });
            self.members(node, &members.collect::<Vec<_>>())
        });
        let line = format!(
            "per::Choice {{ whole: {}, extensible: {}, counted: {}, root: {root}, additions: {additions} }},",
            whole(choice.whole),
            choice.extensible,
            self.p.types.is_counted(node),
        );
        self.tables.choices.push_type(&name, line);
    }
}
