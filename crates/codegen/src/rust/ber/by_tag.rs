//! Reading components by their tags: those of a SET, and so many that may be absent that to ask for each would take long.

use super::read::Held;
use super::{Ber, is_sparse, tag_text};
use crate::code::Presence;
use crate::code::ber::{Attempt, Check, Guard, Member, Struct, Unknown};
use crate::rust::imports::{BER, ERROR_KIND, UNKNOWN_ADDITIONS};
use crate::rust::{At, local};
use crate::types::Edge;
use tercet_plan::NodeId;

impl Ber<'_, '_> {
    pub(super) fn read_by_tag(&mut self, node: NodeId, code: &Struct<'_>, attempts: &[Attempt]) {
        // Without a component that has to be there the value is filled in place.
        let held = if is_sparse(code) { Held::Place } else { Held::Options };
        if held == Held::Options {
            self.variables(code);
        }
        let required: Vec<String> = code
            .required()
            .map(|number| format!("({}, {:?})", number + 1, code.members[number].name))
            .collect();
        let list = if required.is_empty() { "&[]" } else { "REQUIRED" };
        if !code.set && !required.is_empty() {
            self.line(format!("const REQUIRED: {BER}::Required = &[{}];", required.join(", ")));
        }
        self.line("let mut last = 0_u32;");
        self.open("while let Some(tag) = r.peek_tag()? {");
        self.open("match tag.bits() {");
        for attempt in attempts {
            self.attempt(code, *attempt, held, list);
        }
        if code.unknown == Unknown::Refuse {
            self.line(format!("_ => return Err({BER}::unexpected(r)),"));
        } else {
            let member = match self.p.names.additions(node) {
                Some(name) if held == Held::Place => format!("value.{name}"),
                _ => "unknown".into(),
            };
            let unknown = Self::unknown(code, &member);
            let order = if code.set {
                format!("{BER}::in_set(false, &mut last, tag, \"\", r)?")
            } else {
                let additions = code.second_root.unwrap_or(code.members.len());
                format!("{BER}::in_additions(&mut last, {additions}, {list}, r)?")
            };
            self.line(format!("_ => {{ {order}; {unknown}; }}"));
        }
        self.close("}");
        self.close("}");
        if held == Held::Options {
            self.collect(node, code);
        }
    }

    /// A variable for each component, and one for unknown elements.
    fn variables(&mut self, code: &Struct<'_>) {
        for member in &code.members {
            let node = self.p.types.shape.field(member.field).node;
            let held = self.p.held(Edge::Field(member.field), node, "'_");
            let local = local(self.p.names.field(member.field));
            self.line(format!("let mut {local}: Option<{held}> = None;"));
        }
        if code.unknown == Unknown::Keep {
            self.line(format!("let mut unknown = {UNKNOWN_ADDITIONS}::NONE;"));
        }
    }

    /// The arm that takes an element as a component.
    fn attempt(&mut self, code: &Struct<'_>, attempt: Attempt, held: Held, list: &str) {
        let member = &code.members[attempt.member];
        let value =
            self.read_held(Edge::Field(member.field), &member.value, held, At::Component(member.name));
        let place = match held {
            Held::Place => format!("value.{}", self.p.names.field(member.field)),
            _ => local(self.p.names.field(member.field)),
        };
        let pattern = match attempt.guard {
            Guard::Nothing => self.pattern(member.begins),
            Guard::Absent => format!("_ if {place}.is_none() || {}", self.is(member.begins)),
            Guard::NotPassed => format!("{} if last <= {}", self.pattern(member.begins), attempt.member),
        };
        self.open(format!("{pattern} => {{"));
        self.line(check(attempt, member, &place, list));
        if member.presence == Presence::Default {
            self.line("let s = r.position();");
            self.line(format!("let v = {value};"));
            let checked = self.not_default(member);
            self.line(format!("{checked};"));
            self.line(format!("{place} = Some(v);"));
        } else {
            self.line(format!("{place} = Some({value});"));
        }
        self.close("}");
    }

    /// The value of the variables.
    fn collect(&mut self, node: NodeId, code: &Struct<'_>) {
        let mut members = Vec::new();
        for member in &code.members {
            let name = self.p.names.field(member.field);
            let local = local(name);
            members.push(match member.presence {
                Presence::Optional => format!("{name}: {local},"),
                Presence::Default => {
                    let default = self.p.default_value(member.field).unwrap_or_default();
                    format!("{name}: match {local} {{ Some(v) => v, None => {default} }},")
                }
                Presence::Required => {
                    let missing = format!("{local}.ok_or_else(|| r.error({ERROR_KIND}::MissingComponent))");
                    format!("{name}: {},", At::Component(member.name).value(missing))
                }
            });
        }
        members.extend(self.p.names.additions(node).map(|name| format!("{name}: unknown,")));
        self.value(&members);
    }
}

/// The line that checks that an element may stand where it does.
fn check(attempt: Attempt, member: &Member<'_>, place: &str, list: &str) -> String {
    let name = member.name;
    let tag = match attempt.check {
        Check::Sequence(least) => {
            let position = attempt.member + 1;
            return format!("{BER}::in_order(&mut last, ({position}, {name:?}), {least}, {list}, r)?;");
        }
        Check::Set => "tag".to_owned(),
        Check::SetByLeastTag => format!("{BER}::set_key(tag, {}, r)", tag_text(member.least_tag)),
    };
    format!("{BER}::in_set({place}.is_some(), &mut last, {tag}, {name:?}, r)?;")
}
