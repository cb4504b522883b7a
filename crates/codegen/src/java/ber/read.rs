//! Reading: each element is told its tag.

mod choice;

use super::{Ber, Position, tag_text};
use crate::code::ber::{
    Attempt, Begins, Check, End, Guard, List, Member, Next, Order, Primitive, Struct, Unknown, Value,
};
use crate::code::{Key, Presence};
use crate::java::Number;
use crate::java::parts::PARTS;
use crate::java::text::Lines;
use crate::java::text::literal;
use crate::java::values::long;
use std::collections::HashMap;
use std::ops::Range;
use tercet_plan::{FieldId, NodeId};
use tercet_runtime::types::TimeType;

/// The expression of a component that has been read, for the keys of those behind it.
type Held<'h> = &'h dyn Fn(FieldId) -> String;

impl Ber<'_, '_> {
    /// The lines that read a value with all its tags, and assign it.
    pub(super) fn read(&mut self, value: &Value, target: &str, held: Held<'_>, at: &Position) {
        let mut levels = Vec::new();
        for (number, tag) in value.around.iter().enumerate() {
            levels.push(self.variable("level"));
            self.line(format!("long {} = r.enter({});", levels[number], tag_text(*tag)));
            if let (0, Position::Required(component)) = (number, at) {
                self.line(format!("at = {component};"));
            }
        }
        let call = self.call(value, held);
        self.line(format!("{target}{call};"));
        levels.iter().rev().for_each(|level| self.line(format!("r.leave({level});")));
    }

    /// The call that reads a value with the innermost tag.
    fn call(&self, value: &Value, held: Held<'_>) -> String {
        let node = value.node;
        let tag = value.tag.map_or_else(|| "0".into(), tag_text);
        let plain = |method: &str| format!("r.{method}({tag})");
        let keys = || self.p.keys(&value.keys, held);
        let inside = match &value.primitive {
            Primitive::Boolean => plain("bool"),
            Primitive::Null => plain("nothing"),
            Primitive::Integer { .. } => match self.p.number(node) {
                Number::Int(least, most) => format!("r.integer({tag}, {least}, {most})"),
                Number::Long(i64::MIN, i64::MAX) => plain("integer"),
                Number::Long(least, most) => format!("r.integer({tag}, {}, {})", long(least), long(most)),
                Number::Unsigned => plain("unsigned"),
                Number::Big => plain("bigInteger"),
            },
            Primitive::BigInteger => plain("bigInteger"),
            Primitive::Real => plain("real"),
            Primitive::Float => plain("doubleReal"),
            Primitive::FixedBits(bits, true) => format!("r.namedBits({tag}, {bits})"),
            Primitive::FixedBits(bits, false) => format!("r.bits({tag}, {bits})"),
            Primitive::NamedBits(least, most) => {
                let most = i64::try_from(*most).unwrap_or(i64::MAX);
                format!("r.namedBits({tag}, {}, {})", (*least).min(i32::MAX as usize), long(most))
            }
            Primitive::BitString => plain("bits"),
            Primitive::FixedOctets(octets) => format!("r.octets({tag}, {octets})"),
            Primitive::OctetString => plain("octets"),
            Primitive::ObjectIdentifier => plain("oid"),
            Primitive::RelativeOid => plain("relativeOid"),
            Primitive::Any => "r.any()".into(),
            Primitive::UtcTime => plain("utcTime"),
            Primitive::GeneralizedTime => plain("generalizedTime"),
            Primitive::Time(time) => format!("r.time({tag}, {})", time_number(*time)),
            Primitive::Text(kind) => format!("r.text({tag}, {})", *kind as u32),
            Primitive::Enumerated => format!("{}.readBer(r, {tag})", self.p.codec(node)),
            Primitive::Untagged => format!("{}.readBer(r{})", self.p.codec(node), keys()),
            Primitive::Contained(..) | Primitive::Struct | Primitive::List => {
                format!("{}.readBer(r, {tag}{})", self.p.codec(node), keys())
            }
        };
        if self.p.types.is_newtype(node) {
            format!("new {}({inside})", self.p.names.ty(self.p.types.same(node)))
        } else {
            inside
        }
    }

    pub(super) fn contained_reader(&mut self, node: NodeId, is_bits: bool, inside: &Value) {
        let ty = self.p.content(node, true, "");
        let keys = self.p.key_parameters(node);
        self.open(format!("static {ty} readBer(BerReader r, int tag{keys}) throws Asn1Exception {{"));
        self.line(format!("BitString string = r.containing(tag, {is_bits});"));
        self.line("BerReader inner = r.inside(string);");
        self.open("if (inner != null) {");
        self.open("try {");
        // The string with a value inside is a level itself.
        self.line("inner.beginValue();");
        self.line(format!("{} value = inside(inner{});", self.p.ty(inside.node), self.p.same_keys(node)));
        self.open("if (inner.isFinished()) {");
        self.line("return Contained.of(value);");
        self.close("}");
        self.text.reopen("} catch (Asn1Exception fault) {");
        self.line("r.checkDepth(fault);");
        self.close("}");
        self.close("}");
        self.line("return Contained.ofBits(string);");
        self.close("}");
        self.line("");
        let ty = self.p.ty(inside.node);
        self.open(format!("private static {ty} inside(BerReader r{keys}) throws Asn1Exception {{"));
        let registers: Vec<u16> = self.p.types.keys(node).iter().copied().collect();
        let keys = registers.into_iter().map(Key::Parameter).collect();
        let inside = Value { keys, ..inside.clone() };
        self.read(&inside, &format!("{ty} value = "), &|_| String::new(), &Position::Nothing);
        self.line("return value;");
        self.close("}");
    }

    pub(super) fn enumerated(&mut self, node: NodeId) {
        let (name, codec) = (self.p.names.ty(node).to_owned(), self.p.codec(node));
        self.open(format!("static {name} readBer(BerReader r, int tag) throws Asn1Exception {{"));
        if self.p.types.shape.node(node).extensible {
            self.line(format!("return {name}.of(r.integer(tag));"));
        } else {
            self.line("int start = r.position();");
            self.line(format!("{name} item = {name}.of(r.enumerated(tag));"));
            self.open("if (item == null) {");
            self.line("throw r.unknownEnumeration(start);");
            self.close("}");
            self.line("return item;");
        }
        self.close("}");
        let number = self.p.enumeration_method(node);
        self.text.append(&number);
        self.finish(&codec);
    }

    // SEQUENCE and SET

    pub(super) fn struct_reader(&mut self, node: NodeId, code: &Struct<'_>) {
        let name = self.p.names.ty(node).to_owned();
        let keys = self.p.key_parameters(node);
        let is_record = self.p.is_record(node);
        self.open(format!("static {name} readBer(BerReader r, int tag{keys}) throws Asn1Exception {{"));
        self.line("int at = -1;");
        self.open("try {");
        if code.counted {
            self.line("r.beginValue();");
        }
        self.line("long level = r.enter(tag);");
        if !is_record {
            self.line(format!("{name} value = new {name}();"));
        }
        match &code.order {
            Order::InOrder => self.read_in_order(node, code, is_record),
            Order::ByTag(attempts) => self.read_by_tag(node, code, attempts, is_record),
        }
        self.line(match code.end {
            End::Read => "r.leave(level);",
            End::Skip => "r.leaveExtensible(level, PLACE);",
            End::Nothing => "r.leave(level, PLACE);",
        });
        if code.counted {
            self.line("r.endValue();");
        }
        if is_record {
            let mut parts: Vec<String> =
                code.members.iter().map(|member| self.p.place_of(member.field, true)).collect();
            parts.extend(self.p.names.additions(node).map(|_| "unknown".to_owned()));
            self.line(format!("return new {name}({});", parts.join(", ")));
        } else {
            self.line("return value;");
        }
        self.caught_reading(code);
        self.close("}");
        self.parts(node, code, &name);
    }

    /// The end of `try`, which says in which component a fault is.
    fn caught_reading(&mut self, code: &Struct<'_>) {
        self.text.reopen("} catch (Asn1Exception fault) {");
        let extensible = code.unknown != Unknown::Refuse;
        if !code.is_by_tag() && code.members.iter().any(|member| member.presence == Presence::Required) {
            self.line(format!("throw r.fault(fault, at, {extensible}, PLACE);"));
        } else {
            self.line("throw fault.in(PLACE, at);");
        }
        self.close("}");
    }

    /// The methods that read some of many components.
    fn parts(&mut self, node: NodeId, code: &Struct<'_>, name: &str) {
        if self.p.is_record(node) || code.members.len() <= PARTS {
            return;
        }
        let keys = self.p.key_parameters(node);
        for (part, numbers) in ranges(code, PARTS).into_iter().enumerate() {
            self.line("");
            match &code.order {
                Order::InOrder => {
                    self.open(format!(
                        "private static void read{part}(BerReader r, {name} value{keys}) throws Asn1Exception {{"
                    ));
                    self.line("int at = -1;");
                    self.open("try {");
                    numbers.for_each(|number| self.component(code, number, false));
                    self.caught_reading(code);
                }
                Order::ByTag(attempts) => {
                    self.open(format!(
                        "private static int read{part}(BerReader r, int tag, {name} value, int last{keys}) throws Asn1Exception {{"
                    ));
                    self.line("int at = -1;");
                    self.open("try {");
                    self.open("switch (tag) {");
                    for attempt in attempts.iter().filter(|attempt| numbers.contains(&attempt.member)) {
                        self.attempt(code, *attempt, false, "return last;");
                    }
                    self.line("default:");
                    self.line("    return -1;");
                    self.close("}");
                    self.caught_reading(code);
                }
            }
            self.close("}");
        }
    }

    fn read_in_order(&mut self, node: NodeId, code: &Struct<'_>, is_record: bool) {
        let keeps = code.unknown == Unknown::Keep;
        let many = !is_record && code.members.len() > PARTS;
        for number in 0..code.members.len() {
            if Some(number) == code.second_root {
                // Elements in front of the second root.
                let behind = self.is_any_of(&code.members[number..], "next");
                self.line("at = -1;");
                if keeps {
                    self.line("UnknownAdditions unknown = UnknownAdditions.NONE;");
                }
                self.open("for (int next = r.peekTag(); next != 0; next = r.peekTag()) {");
                self.open(format!("if ({behind}) {{"));
                self.line("break;");
                self.close("}");
                self.line(if keeps { "unknown = unknown.next(r, PLACE);" } else { "r.passUnknown(PLACE);" });
                self.close("}");
            }
            if !many {
                self.component(code, number, is_record);
            } else if let Some(part) = ranges(code, PARTS).iter().position(|range| range.start == number) {
                self.line(format!("read{part}(r, value{});", self.p.same_keys(node)));
            }
        }
        self.line("at = -1;");
        if let Some(name) = self.p.names.additions(node).map(str::to_owned) {
            let rest = "UnknownAdditions.rest(r, PLACE)";
            match (is_record, code.second_root) {
                (true, None) => self.line(format!("UnknownAdditions unknown = {rest};")),
                (true, Some(_)) => {}
                (false, None) => self.line(format!("value.{name} = {rest};")),
                (false, Some(_)) => self.line(format!("value.{name} = unknown;")),
            }
        }
    }

    /// Reads the component with this number, whether it is there or not.
    fn component(&mut self, code: &Struct<'_>, number: usize, is_record: bool) {
        let member = &code.members[number];
        let node = self.p.types.shape.field(member.field).node;
        let place = self.p.place_of(member.field, is_record);
        let ty = match (is_record, member.presence) {
            (false, _) => String::new(),
            (true, Presence::Optional) => self.p.boxed(node) + " ",
            (true, _) => self.p.ty(node) + " ",
        };
        let at = match (member.presence, member.begins) {
            (Presence::Required, Begins::Any) => Position::Any(number),
            (Presence::Required, _) => Position::Required(number),
            _ => Position::Component(number),
        };
        let condition = |this: &Self| match (member.next, member.begins) {
            (Next::Begins, Begins::Tag(tag)) => format!("r.isNext({})", tag_text(tag)),
            (Next::Begins, Begins::Choice(_)) => {
                format!("r.peekTag() != 0 && {}", this.is(member.begins, "r.peekTag()"))
            }
            (Next::Begins, Begins::Any) | (Next::More, _) => "r.hasMore()".into(),
            (Next::NotBehind, _) => {
                let behind = this.is_any_of(&code.members[number + 1..], "r.peekTag()");
                let none = if behind.is_empty() { "false".to_owned() } else { behind };
                format!("r.peekTag() != 0 && ({} || !({none}))", this.is(member.begins, "r.peekTag()"))
            }
        };
        let fails = !matches!((member.next, member.begins), (Next::Begins, Begins::Tag(_)));
        match member.presence {
            Presence::Required => {
                self.position(&at);
                self.value(member, &format!("{ty}{place} = "), is_record, &at);
            }
            presence => {
                let absent = match presence {
                    Presence::Default => self.p.default_name(member.field).unwrap_or_default(),
                    _ => "null".into(),
                };
                if is_record || presence == Presence::Default {
                    self.line(format!("{ty}{place} = {absent};"));
                }
                if fails {
                    self.line("at = -1;");
                }
                let condition = condition(self);
                self.open(format!("if ({condition}) {{"));
                self.position(&at);
                if presence == Presence::Default {
                    self.line("int start = r.position();");
                }
                self.value(member, &format!("{place} = "), is_record, &at);
                if presence == Presence::Default {
                    self.not_default(member, &place);
                }
                self.close("}");
            }
        }
    }

    fn position(&mut self, at: &Position) {
        match at {
            Position::Nothing => {}
            Position::Component(number) => self.line(format!("at = {number};")),
            Position::Required(number) => self.line(format!("at = Components.REQUIRED | {number};")),
            Position::Any(number) => self.line(format!("at = Components.ANY | {number};")),
        }
    }

    fn value(&mut self, member: &Member<'_>, target: &str, is_record: bool, at: &Position) {
        let component = |key: &Key| match key {
            Key::Component(field, _) => Some((*field, self.p.place_of(*field, is_record))),
            _ => None,
        };
        let places: HashMap<FieldId, String> = member.value.keys.iter().filter_map(component).collect();
        self.read(&member.value, target, &|field| places.get(&field).cloned().unwrap_or_default(), at);
    }

    fn not_default(&mut self, member: &Member<'_>, place: &str) {
        let equal = self.p.is_default(member.field, place).unwrap_or_else(|| "false".into());
        self.line(format!("r.notDefault({equal}, start);"));
    }

    // Components by their tags

    fn read_by_tag(&mut self, node: NodeId, code: &Struct<'_>, attempts: &[Attempt], is_record: bool) {
        if is_record {
            for member in &code.members {
                let ty = self.p.boxed(self.p.types.shape.field(member.field).node);
                self.line(format!("{ty} {} = null;", self.p.place_of(member.field, true)));
            }
            if code.unknown == Unknown::Keep {
                self.line("UnknownAdditions unknown = UnknownAdditions.NONE;");
            }
        }
        self.line("int last = 0;");
        let many = !is_record && code.members.len() > PARTS;
        self.open("for (int next = r.peekTag(); next != 0; next = r.peekTag()) {");
        if many {
            self.open("switch (next) {");
            for (part, numbers) in ranges(code, PARTS).into_iter().enumerate() {
                let tags: Vec<String> = attempts
                    .iter()
                    .filter(|attempt| numbers.contains(&attempt.member))
                    .filter_map(|attempt| match code.members[attempt.member].begins {
                        Begins::Tag(tag) => Some(tag_text(tag)),
                        _ => None,
                    })
                    .collect();
                for tags in tags.chunks(4) {
                    self.line(format!("case {}:", tags.join(", ")));
                }
                if !tags.is_empty() {
                    self.text.open("{");
                    self.line(format!(
                        "int taken = read{part}(r, next, value, last{});",
                        self.p.same_keys(node)
                    ));
                    self.open("if (taken != -1) {");
                    self.line("last = taken;");
                    self.line("continue;");
                    self.close("}");
                    self.line("break;");
                    self.close("}");
                }
            }
            self.line("default:");
            self.close("}");
        } else {
            self.open("switch (next) {");
            for attempt in attempts {
                self.attempt(code, *attempt, is_record, "at = -1;\ncontinue;");
            }
            self.line("default:");
            self.close("}");
        }
        for attempt in attempts {
            self.other_attempt(code, *attempt, is_record);
        }
        self.unknown(node, code, is_record);
        self.close("}");
        self.collect(code, is_record);
    }

    /// What becomes of an element that is none of the components.
    fn unknown(&mut self, node: NodeId, code: &Struct<'_>, is_record: bool) {
        if code.unknown == Unknown::Refuse {
            return self.line("throw r.unexpected();");
        }
        if code.set {
            self.line("last = r.inSet(false, last, next, \"\");");
        } else {
            let additions = code.second_root.unwrap_or(code.members.len());
            let required = required(code);
            self.line(format!("last = r.inAdditions(last, {additions}, {required}, PLACE);"));
        }
        let member = match self.p.names.additions(node) {
            Some(name) if !is_record => format!("value.{name}"),
            _ => "unknown".into(),
        };
        self.line(match code.unknown {
            Unknown::Keep => format!("{member} = {member}.next(r, Components.NONE);"),
            _ => "r.passUnknown(Components.NONE);".into(),
        });
    }

    /// The case that takes an element as a component with a tag of its own.
    fn attempt(&mut self, code: &Struct<'_>, attempt: Attempt, is_record: bool, end: &str) {
        let member = &code.members[attempt.member];
        let Begins::Tag(tag) = member.begins else { return };
        let place = self.p.place_of(member.field, is_record);
        let guard = match attempt.guard {
            Guard::NotPassed => Some(format!("last <= {}", attempt.member)),
            Guard::Nothing | Guard::Absent => None,
        };
        self.open(format!("case {}: {{", tag_text(tag)));
        if let Some(guard) = &guard {
            self.open(format!("if ({guard}) {{"));
        }
        self.taken(code, attempt, member, &place, is_record, &tag_text(tag));
        end.lines().for_each(|line| self.line(line));
        if guard.is_some() {
            self.close("}");
            self.line(if end.contains("return") { "return -1;" } else { "break;" });
        }
        self.close("}");
    }

    /// The condition that takes an element as a component without a tag of its own.
    fn other_attempt(&mut self, code: &Struct<'_>, attempt: Attempt, is_record: bool) {
        let member = &code.members[attempt.member];
        if matches!(member.begins, Begins::Tag(_)) {
            return;
        }
        let place = self.p.place_of(member.field, is_record);
        let is = self.is(member.begins, "next");
        let guard = match attempt.guard {
            Guard::Nothing => is,
            Guard::Absent => format!("{place} == null || {is}"),
            Guard::NotPassed => format!("last <= {} && {is}", attempt.member),
        };
        self.open(format!("if ({guard}) {{"));
        self.taken(code, attempt, member, &place, is_record, "next");
        self.line("at = -1;");
        self.line("continue;");
        self.close("}");
    }

    fn taken(
        &mut self,
        code: &Struct<'_>,
        attempt: Attempt,
        member: &Member<'_>,
        place: &str,
        is_record: bool,
        tag: &str,
    ) {
        let name = literal(member.name);
        self.line(match attempt.check {
            Check::Sequence(least) => {
                format!("last = r.inOrder(last, {}, {least}, {}, PLACE);", attempt.member + 1, required(code))
            }
            Check::Set => format!("last = r.inSet({place} != null, last, {tag}, {name});"),
            Check::SetByLeastTag => {
                let least = tag_text(member.least_tag);
                format!("last = r.inSet({place} != null, last, r.setKey({tag}, {least}), {name});")
            }
        });
        self.line(format!("at = {};", attempt.member));
        if member.presence == Presence::Default {
            self.line("int start = r.position();");
        }
        self.value(member, &format!("{place} = "), is_record, &Position::Component(attempt.member));
        if member.presence == Presence::Default {
            self.not_default(member, place);
        }
    }

    /// Checks that what has to be there is, and fills in DEFAULTs.
    fn collect(&mut self, code: &Struct<'_>, is_record: bool) {
        for member in &code.members {
            let place = self.p.place_of(member.field, is_record);
            let line = match member.presence {
                Presence::Optional => continue,
                Presence::Default => {
                    format!("{place} = {};", self.p.default_name(member.field).unwrap_or_default())
                }
                Presence::Required => {
                    format!("throw r.missing({});", literal(member.name))
                }
            };
            self.open(format!("if ({place} == null) {{"));
            self.line(line);
            self.close("}");
        }
    }

    // CHOICE, open types, lists

    pub(super) fn list_reader(&mut self, node: NodeId, code: &List) {
        let ty = self.p.content(node, false, "");
        let keys = self.p.key_parameters(node);
        self.open(format!("static {ty} readBer(BerReader r, int tag{keys}) throws Asn1Exception {{"));
        self.line("int at = -1;");
        self.open("try {");
        if code.counted {
            self.line("r.beginValue();");
        }
        self.line("long level = r.enter(tag);");
        self.line("Object[] elements = new Object[r.elements()];");
        self.line("int count = 0;");
        if code.set {
            self.line("int previous = -1;");
        }
        self.open("while (r.hasElement()) {");
        self.line("at = count;");
        if code.set {
            self.line("int start = r.position();");
        }
        self.line("elements = Lists.room(elements, count);");
        self.read(&code.element, "elements[count++] = ", &|_| String::new(), &Position::Nothing);
        if code.set {
            self.line("previous = r.inSetOf(previous, start);");
        }
        self.line("at = -1;");
        self.close("}");
        self.line("r.leave(level);");
        if code.counted {
            self.line("r.endValue();");
        }
        self.line("return Lists.of(elements, count);");
        self.caught("fault.inElement(at)");
        self.close("}");
    }
}

/// The numbers of the components that one method reads or writes, so many at most.
pub(super) fn ranges(code: &Struct<'_>, most: usize) -> Vec<Range<usize>> {
    let count = code.members.len();
    let second = code.second_root.filter(|_| !code.set).unwrap_or(count);
    let parts = |all: Range<usize>| {
        let end = all.end;
        all.step_by(most).map(move |first| first..(first + most).min(end))
    };
    parts(0..second).chain(parts(second..count)).collect()
}

/// The positions of the components of a SEQUENCE that have to be there.
fn required(code: &Struct<'_>) -> String {
    let numbers: Vec<String> = code.required().map(|number| (number + 1).to_string()).collect();
    if numbers.is_empty() { "Components.OPTIONAL".into() } else { "REQUIRED".into() }
}

/// The universal number of a time type.
pub(in crate::java) fn time_number(time: TimeType) -> u32 {
    time.tag().number()
}
