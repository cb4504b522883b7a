//! Reading components by their tags: those of a SET, and so many that may be absent that to ask for each would take long.

use super::read::Held;
use super::{Ber, is_sparse, tag_text};
use crate::code::Presence;
use crate::code::ber::{Attempt, Begins, Check, Guard, Member, Order, Struct, Unknown};
use crate::rust::imports::{BER, ERROR_KIND, RESULT};
use crate::rust::{At, local};
use crate::types::Edge;
use tercet_plan::NodeId;

impl Ber<'_, '_> {
    /// Two loops: the inner one takes primitive elements in one piece by a look at the header, and leaves all others, and what is
    /// wrong, where they are; the outer one reads one of those.
    pub(super) fn read_by_tag(&mut self, node: NodeId, code: &Struct<'_>, attempts: &[Attempt]) {
        let held = held(code);
        if held == Held::Options {
            self.variables(code);
        }
        self.line("let mut last = 0_u32;");
        self.open("loop {");
        self.plain_elements(code, attempts, held);
        self.line("let Some(tag) = r.peek_tag()? else { break };");
        if held == Held::Place {
            let keys = self.passed_keys(node);
            self.line(format!("last = value.fill_ber_other(r, tag{keys}, last)?;"));
            self.close("}");
        } else {
            self.any_element(node, code, attempts, held);
            self.close("}");
            self.collect(node, code);
        }
    }

    /// The function that reads any element of a struct that is filled where it stands. It is apart so that the loop over plain
    /// elements is short: ten kinds of records of an MSC with a hundred components each do not fit into the processor's
    /// cache of instructions otherwise.
    pub(super) fn fill_other(&mut self, node: NodeId, code: &Struct<'_>, parameters: &str) {
        let Order::ByTag(attempts) = &code.order else { return };
        self.line("#[inline(never)]");
        self.open(format!("fn fill_ber_other(&mut self, {parameters}, mut last: u32) -> {RESULT}<u32> {{"));
        self.line("let value = self;");
        self.any_element(node, code, attempts, held(code));
        self.line("Ok(last)");
        self.close("}");
    }

    /// The loop over primitive elements in one piece.
    fn plain_elements(&mut self, code: &Struct<'_>, attempts: &[Attempt], held: Held) {
        let plain: Vec<(Attempt, String)> =
            attempts.iter().filter_map(|attempt| Some((*attempt, self.plain(code, *attempt)?))).collect();
        if plain.is_empty() {
            return;
        }
        if code.set {
            // In DER and CER they have an order.
            self.open(format!("if r.rules() == {BER}::Rules::Ber {{"));
        }
        self.open("while let Some((tag, c, after)) = r.next_primitive() {");
        self.open("match tag {");
        for (attempt, value) in plain {
            let member = &code.members[attempt.member];
            let place = self.place_of(member, held);
            self.open(format!("{} => {{", self.pattern(member.begins)));
            let position = attempt.member + 1;
            self.line(match attempt.check {
                Check::Sequence(0) => format!("if last >= {position} {{ break; }}"),
                Check::Sequence(least) => format!("if last >= {position} || last < {least} {{ break; }}"),
                Check::Set | Check::SetByLeastTag => format!("if {place}.is_some() {{ break; }}"),
            });
            self.line(format!("let Some(v) = {value} else {{ break }};"));
            let value = self.p.own(member.value.node, "v".into());
            let value = self.p.boxed_or_in_arena(Edge::Field(member.field), value);
            self.line(format!("{place} = Some({value});"));
            if matches!(attempt.check, Check::Sequence(_)) {
                self.line(format!("last = {BER}::at_position({position});"));
            }
            self.close("}");
        }
        self.line("_ => break,");
        self.close("}");
        self.line("r.go_on(after);");
        self.close("}");
        if code.set {
            self.close("}");
        }
    }

    /// What reads a component from contents in one piece, if that can be.
    fn plain(&self, code: &Struct<'_>, attempt: Attempt) -> Option<String> {
        let member = &code.members[attempt.member];
        let is_by_tag = attempt.guard == Guard::Nothing && matches!(member.begins, Begins::Tag(_));
        if !is_by_tag || member.presence == Presence::Default {
            return None;
        }
        self.read_contents(&member.value)
    }

    /// What reads an element with this tag, whatever it is.
    fn any_element(&mut self, node: NodeId, code: &Struct<'_>, attempts: &[Attempt], held: Held) {
        let required: Vec<String> = code
            .required()
            .map(|number| format!("({}, {:?})", number + 1, code.members[number].name))
            .collect();
        let list = if required.is_empty() { "&[]" } else { "REQUIRED" };
        if !code.set && !required.is_empty() {
            self.line(format!("const REQUIRED: {BER}::Required = &[{}];", required.join(", ")));
        }
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
    }

    /// The place of a component's value, which is an option.
    fn place_of(&self, member: &Member<'_>, held: Held) -> String {
        let name = self.p.names.field(member.field);
        if held == Held::Place { format!("value.{name}") } else { local(name) }
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
            let additions = self.p.additions_type();
            self.line(format!("let mut unknown = {additions}::NONE;"));
        }
    }

    /// The arm that takes an element as a component.
    fn attempt(&mut self, code: &Struct<'_>, attempt: Attempt, held: Held, list: &str) {
        let member = &code.members[attempt.member];
        let value =
            self.read_held(Edge::Field(member.field), &member.value, held, At::Component(member.name));
        let place = self.place_of(member, held);
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

/// Without a component that has to be there the value is filled in place.
fn held(code: &Struct<'_>) -> Held {
    if is_sparse(code) { Held::Place } else { Held::Options }
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
