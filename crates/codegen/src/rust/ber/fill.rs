//! Reading components one after the other into a value that stands where it will stay.
//!
//! What a function returns through memory is copied, in words of another size than it was written by, and the processor waits
//! for each such word: certificates are decoded in two thirds of the time without.

use super::read::{Held, place_function};
use super::{Ber, Filled, tag_text};
use crate::code::Presence;
use crate::code::ber::{List, Member, Order, Primitive, Struct, Value};
use crate::rust::At;
use crate::rust::imports::{BER, BOX, PARTS, RESULT, TAG};
use crate::types::Edge;
use tercet_plan::NodeId;

impl Ber<'_, '_> {
    /// Whether a struct that is read in order can be filled: components that others look at have variables of their own.
    pub(super) fn may_be_filled(&self, node: NodeId, code: &Struct<'_>) -> bool {
        matches!(code.order, Order::InOrder)
            && code.second_root.is_none()
            && !code.members.iter().any(|member| member.selects)
            && self.p.is_filled(node)
    }

    /// The functions around that which fills a struct, whose first line is printed last.
    pub(super) fn filling(&mut self, parameters: &str, node: NodeId, filled: Filled) {
        let empty = match filled {
            Filled::ByTag => "Self::default()",
            Filled::InOrder => "Self::EMPTY",
        };
        self.make_and_fill(node, "read_ber", parameters, "Self", &format!("mut value = {empty}"));
        if self.boxed.contains(&node) && self.p.types.may_be_in_arena(node) {
            // A type that borrows nothing itself is in an arena, too.
            let (function, parameters) = match self.p.types.borrows(node) {
                true => ("read_ber_boxed", parameters.to_owned()),
                false => ("read_ber_boxed<'a>", parameters.replace("<'_>", "<'a>")),
            };
            let value = format!("value = {BER}::empty_in_arena(r, {empty})?");
            self.make_and_fill(node, function, &parameters, "&'a Self", &value);
        } else if self.boxed.contains(&node) {
            let value = match filled {
                Filled::ByTag => format!("mut value = {BOX}::<Self>::default()"),
                Filled::InOrder => format!("mut value = {BOX}::new({empty})"),
            };
            self.make_and_fill(node, "read_ber_boxed", parameters, &format!("{BOX}<Self>"), &value);
        }
        if filled == Filled::ByTag {
            // With those of several alternatives in one function the reader would not be in a register.
            self.line("#[inline(never)]");
        }
        self.open(format!("fn fill_ber(&mut self, {parameters}) -> {RESULT}<()> {{"));
        self.line("let value = self;");
    }

    /// A function that fills a struct which it makes first.
    fn make_and_fill(&mut self, node: NodeId, function: &str, parameters: &str, ty: &str, value: &str) {
        let keys = self.passed_keys(node);
        self.open(format!("fn {function}({parameters}) -> {RESULT}<{ty}> {{"));
        self.line(format!("let {value};"));
        self.line(format!("value.fill_ber(r, tag{keys})?;"));
        self.line("Ok(value)");
        self.close("}");
    }

    pub(super) fn fill_in_order(&mut self, node: NodeId, code: &Struct<'_>) {
        for number in 0..code.members.len() {
            let statement = self.fill_component(code, number);
            self.line(statement);
        }
        if let Some(name) = self.p.names.additions(node) {
            let place = place_function(code);
            let additions = self.p.additions_type();
            let line = format!("{PARTS}::put(&mut value.{name}, {additions}::rest_ber(r, {place})?);");
            self.line(line);
        }
    }

    /// The statement that reads the component with this number if it is there.
    fn fill_component(&self, code: &Struct<'_>, number: usize) -> String {
        let member = &code.members[number];
        let at = Self::at(code, number);
        let place = format!("value.{}", self.p.names.field(member.field));
        match member.presence {
            Presence::Required => self.fill_member(member, &place, at),
            Presence::Optional => {
                let next = self.next(code, number);
                format!("if {next} {{ {} }}", self.fill_member(member, &place, at))
            }
            Presence::Default => {
                let (next, checked) = (self.next(code, number), self.not_default(member));
                let value = self.read_held(Edge::Field(member.field), &member.value, Held::Values, at);
                format!(
                    "if {next} {{ let s = r.position(); let v = {value}; {checked}; {PARTS}::put(&mut {place}, v); }}"
                )
            }
        }
    }

    /// The statement that reads a component which is there.
    fn fill_member(&self, member: &Member<'_>, place: &str, at: At<'_>) -> String {
        let (value, is_option) = (&member.value, member.presence == Presence::Optional);
        let edge = Edge::Field(member.field);
        if !self.p.types.is_boxed(edge) {
            if let Some(empty) = self.empty(value.node) {
                let place = if is_option {
                    format!("{place}.get_or_insert_with(|| {empty})")
                } else {
                    place.to_owned()
                };
                return self.around(value, at, |at| at.value(self.fill_call(&place, value))) + ";";
            }
            if let Some(call) = self.fill_contents(value, place, is_option) {
                return at.value(call) + ";";
            }
        }
        let read = self.read_held(edge, value, Held::Values, at);
        let read = if is_option { format!("Some({read})") } else { read };
        format!("{PARTS}::put(&mut {place}, {read});")
    }

    /// What a type's values are before they are filled, if they are.
    fn empty(&self, node: NodeId) -> Option<String> {
        let ty = self.p.names.ty(node);
        self.filled.get(&node).map(|filled| match filled {
            Filled::ByTag => format!("{ty}::default()"),
            Filled::InOrder => format!("{ty}::EMPTY"),
        })
    }

    /// The call that fills a struct.
    fn fill_call(&self, place: &str, value: &Value) -> String {
        let tag = value.tag.map_or_else(|| format!("{TAG}::NULL"), tag_text);
        format!("{place}.fill_ber(r, {tag}{})", self.keys(value, Held::Values))
    }

    /// The call that reads a value of several words, which borrows from the input, into its place.
    fn fill_contents(&self, value: &Value, place: &str, is_option: bool) -> Option<String> {
        let is_plain = self.p.own(value.node, "v".into()) == "v" && value.around.is_empty();
        if matches!(value.primitive, Primitive::Any) && is_plain {
            let fill = if is_option { "fill_any_option" } else { "fill_any" };
            return Some(format!("{BER}::{fill}(r, &mut {place})"));
        }
        let has_words = matches!(
            value.primitive,
            Primitive::BigInteger
                | Primitive::BitString
                | Primitive::OctetString
                | Primitive::ObjectIdentifier
                | Primitive::Text(_)
                | Primitive::UtcTime
                | Primitive::GeneralizedTime
        );
        if !is_plain || !has_words {
            return None;
        }
        let (function, more) = self.function(value)?;
        let (short, long) = if more.is_empty() {
            (format!("{BER}::contents::{function}"), format!("{BER}::{function}"))
        } else {
            (
                format!("|c| {BER}::contents::{function}(c{more})"),
                format!("|r, tag| {BER}::{function}(r, tag{more})"),
            )
        };
        let fill = if is_option { "fill_option" } else { "fill" };
        let tag = value.tag.map_or_else(|| format!("{TAG}::NULL"), tag_text);
        Some(format!("{BER}::{fill}(r, {tag}, &mut {place}, {short}, {long})"))
    }

    /// The call that reads a list whose elements are filled where they stand.
    pub(super) fn filled_list(&self, code: &List) -> Option<String> {
        let element = &code.element;
        let empty = self.empty(element.node).filter(|_| element.around.is_empty())?;
        let function = match (code.set, self.p.types.may_be_in_arena(element.node)) {
            (true, true) => "filled_arena_set_of",
            (true, false) => "filled_set_of",
            (false, true) => "filled_arena_list",
            (false, false) => "filled_list",
        };
        Some(format!("{BER}::{function}(r, tag, || {empty}, |v, r| {})", self.fill_call("v", element)))
    }
}
