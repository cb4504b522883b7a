//! Tables, which codecs follow where small ones are chosen.

use super::Per;
use crate::rust::per_forms::{size, whole};
use crate::rust::values::string_kind;
use crate::types::Repr;
use tercet_plan::per::{Addition, Code, Integer, IntegerForm, Member};
use tercet_plan::{Kind, NodeId};

impl Per<'_, '_> {
    /// How a value is encoded.
    pub(super) fn form(&self, node: NodeId) -> String {
        let node = self.p.types.same(node);
        let kind = self.p.types.shape.node(node).kind;
        let tabled = self.p.types.is_tabled(node);
        match (self.p.types.repr(node), self.code(node)) {
            (Repr::Integer { .. } | Repr::Big, Code::Integer(integer)) => self.integer_form(integer),
            (Repr::FixedBits(_) | Repr::Bits, Code::BitString(form, named)) => {
                format!("per::Form::String({}, {named})", size(form))
            }
            (Repr::FixedOctets(_) | Repr::Octets, Code::OctetString(form)) => {
                format!("per::Form::String({}, false)", size(form))
            }
            (Repr::Text, Code::Characters(form, index)) => {
                let time = match kind {
                    Kind::UtcTime => "Utc",
                    Kind::GeneralizedTime => "Generalized",
                    _ => "No",
                };
                let (size, alphabet) = (size(form), self.alphabet(index));
                format!(
                    "per::Form::Characters(&per::Characters {{ size: {size}, alphabet: &{alphabet}, time: per::Time::{time} }})"
                )
            }
            (Repr::Text, Code::Time(index)) => format!("per::Form::Time(&{})", self.time(node, index)),
            (Repr::Text, Code::Contents) => match string_kind(kind) {
                Some(kind) => format!("per::Form::OtherString(StringKind::{kind:?})"),
                None => "per::Form::Straight".into(),
            },
            (Repr::Contained(inside), Code::OctetsContaining(form) | Code::BitsContaining(form, _)) => {
                let bits = kind == Kind::BitString;
                format!("per::Form::Containing({}, &{}, {bits})", size(form), self.form(inside))
            }
            (Repr::Enumerated, Code::Enumerated(code)) => match self.plain_items(node, code) {
                Some(items) => items,
                None => format!("per::Form::Enumerated(&{})", self.table_name(node)),
            },
            (Repr::Struct, Code::Sequence(_)) if tabled => {
                format!("per::Form::Sequence(&{})", self.table_name(node))
            }
            (Repr::Choice, Code::Choice(_)) if tabled => {
                format!("per::Form::Choice(&{})", self.table_name(node))
            }
            (Repr::List, Code::SequenceOf(..)) => format!("per::Form::List(&{})", self.table_name(node)),
            (Repr::Boolean | Repr::Null | Repr::Real | Repr::Float, _) => "per::Form::Plain".into(),
            (Repr::Oid | Repr::RelativeOid | Repr::Any, _) => "per::Form::Plain".into(),
            _ => "per::Form::Straight".into(),
        }
    }

    fn integer_form(&self, integer: Integer) -> String {
        let extensible = integer.extensible;
        match integer.form {
            IntegerForm::Constrained { lo, span, whole: form } => {
                format!("per::Form::Integer({}, {lo}, {span}, {extensible})", whole(form))
            }
            IntegerForm::SemiConstrained(lo) => format!("per::Form::SemiConstrained({lo}, {extensible})"),
            IntegerForm::Unconstrained => format!("per::Form::Unconstrained({extensible})"),
            IntegerForm::Large(index) => {
                let large = &self.program.large[index as usize];
                let span =
                    large.span.as_ref().map_or_else(|| "None".into(), |span| format!("Some(&{span:?})"));
                format!("per::Form::Large(&{:?}, {span}, {extensible})", large.lo)
            }
        }
    }

    /// The form of an enumeration without extension whose items are declared in order.
    fn plain_items(&self, node: NodeId, code: u32) -> Option<String> {
        let enumerated = &self.program.enumerations[code as usize];
        let items = self.p.types.shape.items_of(node).iter().map(|item| item.value);
        let plain = !enumerated.extensible && items.eq(enumerated.root.iter().copied());
        plain.then(|| format!("per::Form::Items({}, {})", whole(enumerated.whole), enumerated.root.len()))
    }

    fn table_name(&self, node: NodeId) -> String {
        format!("{}_{}", self.rules, self.function(node)).to_uppercase()
    }

    /// The table of a type.
    pub(super) fn table(&mut self, node: NodeId) {
        let name = self.table_name(node);
        match self.code(node) {
            Code::Enumerated(code) if self.plain_items(node, code).is_none() => {
                self.enumerated_table(node, &name, code);
            }
            Code::Sequence(code) => self.sequence_table(node, &name, code),
            Code::Choice(code) => self.choice_table(node, &name, code),
            Code::SequenceOf(form, _) => {
                let element = self.form(self.p.types.element(node));
                let set = self.p.types.shape.node(node).kind == Kind::SetOf;
                let recursive = self.p.types.is_recursive(node);
                self.line("");
                self.line(format!(
                    "static {name}: per::List = per::List {{ size: {}, set: {set}, recursive: {recursive}, element: {element} }};",
                    size(form)
                ));
            }
            _ => {}
        }
    }

    fn enumerated_table(&mut self, node: NodeId, name: &str, code: u32) {
        let enumerated = &self.program.enumerations[code as usize];
        let items = self.p.types.shape.items_of(node);
        let place = |value: &i64| items.iter().position(|item| item.value == *value).unwrap_or(items.len());
        let places = |values: &[i64]| {
            values.iter().map(|value| place(value).to_string()).collect::<Vec<_>>().join(", ")
        };
        let line = format!(
            "static {name}: per::Enumerated = per::Enumerated {{ whole: {}, extensible: {}, root: &[{}], additions: &[{}] }};",
            whole(enumerated.whole),
            enumerated.extensible,
            places(&enumerated.root),
            places(&enumerated.additions)
        );
        self.line("");
        self.line(line);
    }

    fn member(&self, node: NodeId, member: &Member) -> String {
        let id = self.member_field(node, member.field);
        let form = self.form(self.p.types.shape.field(id).node);
        let Member { field, optional } = member;
        format!("per::Member {{ number: {field}, optional: {optional}, form: {form} }},")
    }

    fn sequence_table(&mut self, node: NodeId, name: &str, code: u32) {
        let program = self.program;
        let sequence = &program.sequences[code as usize];
        let unknown = match self.p.names.additions(node) {
            Some(_) => format!("Some({})", self.p.types.shape.node(node).count),
            None => "None".into(),
        };
        let recursive = self.p.types.is_recursive(node);
        self.line("");
        self.open(format!("static {name}: per::Sequence = per::Sequence {{"));
        self.line(format!(
            "extensible: {}, unknown: {unknown}, recursive: {recursive},",
            sequence.extensible
        ));
        self.members("root", node, &sequence.root);
        if sequence.additions.is_empty() {
            self.line("additions: &[],");
        } else {
            self.open("additions: &[");
            for addition in &sequence.additions {
                match addition {
                    Addition::Single(field) => {
                        let member = Member { field: *field, optional: true };
                        self.open("per::Addition {");
                        self.line("group: false,");
                        self.members("members", node, &[member]);
                        self.close("},");
                    }
                    Addition::Group { members, .. } => {
                        self.open("per::Addition {");
                        self.line("group: true,");
                        self.members("members", node, members);
                        self.close("},");
                    }
                }
            }
            self.close("],");
        }
        self.close("};");
    }

    fn members(&mut self, name: &str, node: NodeId, members: &[Member]) {
        if members.is_empty() {
            return self.line(format!("{name}: &[],"));
        }
        self.open(format!("{name}: &["));
        for member in members {
            let line = self.member(node, member);
            self.line(line);
        }
        self.close("],");
    }

    fn choice_table(&mut self, node: NodeId, name: &str, code: u32) {
        let program = self.program;
        let choice = &program.choices[code as usize];
        let recursive = self.p.types.is_recursive(node);
        self.line("");
        self.open(format!("static {name}: per::Choice = per::Choice {{"));
        self.line(format!(
            "whole: {}, extensible: {}, recursive: {recursive},",
            whole(choice.whole),
            choice.extensible
        ));
        for (name, alternatives) in [("root", &choice.root), ("additions", &choice.additions)] {
            let members = alternatives.iter().map(|field| Member { field: *field, optional: false });
            self.members(name, node, &members.collect::<Vec<_>>());
        }
        self.close("};");
    }
}
