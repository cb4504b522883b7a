//! Reading components one after the other, each with a look at the next tag where it may be absent.

use super::read::{Held, place_function};
use super::{Ber, tag_pattern};
use crate::code::Presence;
use crate::code::ber::{Begins, Member, Next, Struct, Unknown};
use crate::rust::imports::TAG;
use crate::rust::{At, local};
use crate::types::Edge;
use tercet_plan::NodeId;

impl Ber<'_, '_> {
    pub(super) fn read_in_order(&mut self, node: NodeId, code: &Struct<'_>) {
        // Components that select a row of a table have a variable of their own, since others look at them.
        let has_variables = code.second_root.is_some() || code.members.iter().any(|member| member.selects);
        let mut members = Vec::new();
        for (number, member) in code.members.iter().enumerate() {
            if Some(number) == code.second_root {
                self.additions(code, number);
            }
            let value = self.component(code, number);
            let name = self.p.names.field(member.field).to_owned();
            if has_variables {
                self.line(format!("let {} = {value};", local(&name)));
                members.push(format!("{name}: {},", local(&name)));
            } else {
                members.push(format!("{name}: {value},"));
            }
        }
        if let Some(name) = self.p.names.additions(node) {
            let rest = match code.second_root {
                Some(_) => "unknown".to_owned(),
                None => format!("{}::rest_ber(r, {})?", self.p.additions_type(), place_function(code)),
            };
            members.push(format!("{name}: {rest},"));
        }
        self.value(&members);
    }

    /// Reads the elements in front of the second root, whose first component has this number.
    fn additions(&mut self, code: &Struct<'_>, second: usize) {
        let behind = self.is_any_of(&code.members[second..]);
        if code.unknown == Unknown::Keep {
            let additions = self.p.additions_type();
            self.line(format!("let mut unknown = {additions}::NONE;"));
        }
        self.open(format!("while r.peek_tag()?.is_some_and(|tag| !({behind})) {{"));
        self.line(format!("{};", Self::unknown(code, "unknown")));
        self.close("}");
    }

    /// The condition that an element with `tag` is one of several components.
    fn is_any_of(&self, members: &[Member<'_>]) -> String {
        members.iter().map(|member| self.is(member.begins)).collect::<Vec<_>>().join(" || ")
    }

    /// Where the component with this number is, for errors.
    pub(super) fn at<'m>(code: &Struct<'m>, number: usize) -> At<'m> {
        let member = &code.members[number];
        if member.is_placed() {
            At::Mandatory(member.name, number, code.unknown != Unknown::Refuse)
        } else {
            At::Component(member.name)
        }
    }

    /// The condition that the component with this number, which may be absent, is there.
    pub(super) fn next(&self, code: &Struct<'_>, number: usize) -> String {
        let member = &code.members[number];
        match member.next {
            Next::Begins => self.is_next(member.begins),
            Next::More => "r.has_more()?".into(),
            Next::NotBehind => {
                let (is, behind) = (self.is(member.begins), self.is_any_of(&code.members[number + 1..]));
                format!("r.peek_tag()?.is_some_and(|tag| {is} || !({behind}))")
            }
        }
    }

    /// The expression of the component with this number, whether it is there or not.
    fn component(&self, code: &Struct<'_>, number: usize) -> String {
        let member = &code.members[number];
        let at = Self::at(code, number);
        let value = self.read_held(Edge::Field(member.field), &member.value, Held::Values, at);
        match member.presence {
            Presence::Required => value,
            Presence::Optional => {
                format!("if {} {{ Some({value}) }} else {{ None }}", self.next(code, number))
            }
            Presence::Default => {
                let (next, checked) = (self.next(code, number), self.not_default(member));
                let default = self.p.default_value(member.field).unwrap_or_default();
                format!(
                    "if {next} {{ let s = r.position(); let v = {value}; {checked}; v }} else {{ {default} }}"
                )
            }
        }
    }

    /// The function that finds a component by a tag, for errors.
    pub(super) fn place(&mut self, code: &Struct<'_>) {
        if !code.places {
            return;
        }
        self.line("");
        self.open(format!("fn place(tag: {TAG}, from: usize) -> Option<(usize, &'static str)> {{"));
        self.open("Some(match tag.bits() {");
        for (number, member) in code.members.iter().enumerate() {
            let pattern = match member.begins {
                Begins::Tag(tag) => format!("{} if from <= {number}", tag_pattern(tag)),
                Begins::Choice(node) => {
                    format!("_ if from <= {number} && {}(tag)", self.takes_function(node))
                }
                Begins::Any => continue,
            };
            self.line(format!("{pattern} => ({number}, {:?}),", member.name));
        }
        self.line("_ => return None,");
        self.close("})");
        self.close("}");
    }
}
