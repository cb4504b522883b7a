//! The printer for Rust. It spells what [`crate::types`] and the plans say and decides nothing about encodings.

mod ber;
mod consts;
mod declare;
mod empty;
mod imports;
mod jer;
mod names;
mod notation;
mod oer;
mod owned;
mod parts;
mod per;
mod per_forms;
mod slices;
mod text;
mod values;
mod whole;

use crate::code::ber::same_tags;
use crate::code::sequence::Member;
use crate::code::{Key as StepKey, Presence as Kept};
use crate::names::Names;
use crate::overlay::Serde;
use crate::types::{Edge, Origin, Repr, Types};
use crate::{Config, Error};
use empty::Empties;
use imports::Imports;
use imports::{
    AT, BER, BIT_STRING, BOX, CODEC, CONTAINED, ERROR, ERROR_KIND, EXACT_REAL, FIXED_BITS, INTEGER, KEY,
    OBJECT_IDENTIFIER, OCTETS, RELATIVE_OBJECT_IDENTIFIER, SEQUENCE_OF, TEXT, TYPES, UNKNOWN_ADDITIONS, VEC,
};
pub(crate) use names::is_keyword;
use std::collections::HashSet;
use tercet_lower::Lowering;
use tercet_model::Model;
use tercet_plan::shape::{Place, Presence};
use tercet_plan::{Code, FieldId, NodeId};
use text::Text;

pub(crate) fn print(model: &Model, lowering: &Lowering, config: &Config<'_>) -> Result<String, Error> {
    let Some(plan) = lowering.plans.first() else { return Ok(String::new()) };
    let types = Types::new(model, lowering, &plan.shape, config.overlay)?;
    slices::check(&types, lowering, config)?;
    let names = Names::new(&types, &names::STYLE);
    // The numbers of items are needed where they are written or read, or are keys.
    let serde = config.overlay.serde;
    let numbered = serde != Serde::None
        || lowering.plans.iter().any(|plan| matches!(plan.code, Code::Ber(_) | Code::Oer(_)));
    let keys = plan.shape.fields.iter().filter(|field| types.is_key(field));
    let key_types = keys.map(|field| types.same(field.node)).collect();
    let mut printer = Printer {
        types,
        names,
        text: Text::default(),
        numbered,
        key_types,
        hash: config.hash || config.overlay.hash,
        roots: Vec::new(),
        apart: Vec::new(),
        empties: Empties::default(),
        defaults: values::Defaults::default(),
    };
    if lowering.plans.iter().any(|plan| matches!(plan.code, Code::Per(_))) {
        printer.apart = printer.types.taken_apart();
    }
    printer.find_empties();
    printer.roots = printer.root_types(lowering);
    declare::print(&mut printer, model, lowering, config);
    consts::print(&mut printer, model, lowering);
    owned::print(&mut printer);
    notation::print(&mut printer);
    whole::print(&mut printer);
    parts::print(&mut printer, lowering);
    if lowering.plans.iter().any(|plan| matches!(plan.code, Code::Per(_))) {
        empty::print(&mut printer, Printer::is_filled);
    }
    let mut printed = Vec::new();
    for (plan, _) in lowering.plans.iter().zip(config.rules) {
        match &plan.code {
            Code::Ber(program) if !printed.contains(&"ber") => {
                printed.push("ber");
                ber::print(&mut printer, program);
            }
            Code::Per(program) => {
                let which = if program.aligned { "aper" } else { "uper" };
                if !printed.contains(&which) {
                    printed.push(which);
                    per::print(&mut printer, program);
                }
            }
            Code::Oer(program) if !printed.contains(&"oer") => {
                printed.push("oer");
                oer::print(&mut printer, program);
            }
            _ => {}
        }
    }
    if serde != Serde::None {
        jer::print(&mut printer, serde);
    }
    let (body, imports) = printer.text.finish();
    Ok(head(config.header, &imports) + &body + "}\n")
}

/// What the parts of the printer share.
struct Printer<'m> {
    types: Types<'m>,
    names: Names,
    text: Text,
    /// Whether all enumerations have their numbers.
    numbered: bool,
    /// The types of components that select a row of a table.
    key_types: HashSet<NodeId>,
    /// Whether types have `Eq` and `Hash`.
    hash: bool,
    /// The types that have codecs.
    roots: Vec<RootType>,
    /// The types that are shown, compared and copied part by part.
    apart: Vec<bool>,
    /// What values are before they are read into.
    empties: Empties,
    /// Expressions of DEFAULTs made already.
    defaults: values::Defaults,
}

/// A type that values can begin with.
#[derive(Clone)]
struct RootType {
    /// The node that its tags are at.
    node: NodeId,
    name: String,
    /// Whether it is a struct around a value of the type that it stands for, since that is no declaration of its own or
    /// has other tags.
    wraps: bool,
    /// Whether it has a declaration beside those of the nodes.
    declares: bool,
}

/// Octets of memory of a value that is read where it stands, rather than moved there two or three times: by PER context
/// setups of NGAP are decoded in 34 % less time by it, reports of NR RRC in 33 %. With 64 the latter is 8 % slower.
const FILLED: usize = 40;

/// What is said of code that nobody wrote by hand.
const ALLOWED: &str = "clippy::all, clippy::nursery, clippy::pedantic, clippy::restriction, dead_code, missing_docs, \
    unreachable_pub, \
    unused_qualifications, unused_variables";

/// The first lines: what the text is, and what it uses. All of it stands in a module of its own, since `include!` takes no
/// inner attributes.
fn head(header: &str, imports: &Imports) -> String {
    let mut text = Text::default();
    header.lines().for_each(|line| text.comment("//", line));
    text.line("");
    text.line("#[allow(unreachable_pub, unused_imports)]");
    text.line("pub use code::*;");
    text.line("");
    text.line(format!("#[allow({ALLOWED})]"));
    text.line("#[rustfmt::skip]");
    text.line("mod code {");
    text.line("extern crate alloc;");
    text.line("");
    imports.lines().iter().for_each(|line| text.line(line));
    text.finish().0
}

impl<'m> Printer<'m> {
    /// Whether a node has a declaration of its own that is no alias.
    fn is_item(&self, node: NodeId) -> bool {
        matches!(self.types.repr(node), Repr::Struct | Repr::Choice | Repr::Enumerated | Repr::Table(_))
            || self.types.is_newtype(node)
    }

    /// Whether a type is shown, compared and copied part by part.
    fn is_apart(&self, node: NodeId) -> bool {
        matches!(self.types.repr(node), Repr::Struct | Repr::Choice | Repr::Enumerated)
            && self.apart.get(node.index()) == Some(&true)
    }

    /// The expression of a value, behind a reference, without the struct around it where it has one.
    fn inside(&self, node: NodeId, v: &str) -> String {
        if self.types.is_newtype(node) { format!("&{}.0", receiver(v)) } else { v.to_owned() }
    }

    /// `<'a>` where values borrow.
    fn lifetime(&self, node: NodeId, lifetime: &str) -> String {
        if self.types.borrows(node) { format!("<{lifetime}>") } else { String::new() }
    }

    /// The lifetime of a node's own parts.
    fn own_lifetime<'l>(&self, node: NodeId, lifetime: &'l str) -> &'l str {
        if self.types.is_owned(node) { "'static" } else { lifetime }
    }

    /// The expression of a node's own part that was just read, without a borrow where that is chosen, in the struct around it
    /// where it has one.
    fn own(&self, node: NodeId, value: String) -> String {
        let borrows = matches!(
            self.types.repr(node),
            Repr::Big
                | Repr::Real
                | Repr::Bits
                | Repr::Octets
                | Repr::Oid
                | Repr::RelativeOid
                | Repr::Text
                | Repr::Any
        );
        let value = match self.types.repr(node) {
            _ if !self.types.is_owned(node) => value,
            Repr::Contained(_) => value + ".map_owned(|v| v)",
            _ if borrows => value + ".into_owned()",
            _ => value,
        };
        if self.types.is_newtype(node) {
            format!("{}({value})", self.names.ty(self.types.same(node)))
        } else {
            value
        }
    }

    /// What ends the borrow of a part that no type is known for, where that is chosen.
    fn ended(&self, node: NodeId) -> &'static str {
        if self.types.is_owned(node) { ".into_owned()" } else { "" }
    }

    /// The types that have codecs: each root by its own name, if it is no other name for a type and its tags.
    fn root_types(&self, lowering: &Lowering) -> Vec<RootType> {
        let own = self.types.roots().into_iter().map(|node| RootType {
            node,
            name: self.names.ty(self.types.same(node)).to_owned(),
            wraps: self.is_wrapped(self.types.same(node)),
            declares: false,
        });
        let mut roots: Vec<RootType> = own.collect();
        for root in self.types.aliases() {
            let is_same = |known: &&RootType| self.types.same(known.node) == self.types.same(root.node);
            let first = roots.iter().find(is_same).map(|first| first.node);
            if first.is_some_and(|first| !same_tags(lowering, first, root.node)) {
                let name = self.names.alias(root.name).to_owned();
                roots.push(RootType { node: root.node, name, wraps: true, declares: true });
            }
        }
        roots
    }

    /// Whether a node is a root without a declaration of its own otherwise.
    fn is_wrapped(&self, node: NodeId) -> bool {
        !self.is_item(node) && self.types.shape.roots.iter().any(|root| self.types.same(root.node) == node)
    }

    /// Whether a component is an option: it may be absent, and there is no DEFAULT to fill in. Extension additions may
    /// always be absent.
    fn is_option(&self, field: FieldId) -> bool {
        let known = self.types.shape.field(field);
        (known.presence != Presence::Mandatory || known.place != Place::Root)
            && self.default_value(field).is_none()
    }

    /// Returns the presence of each field, by what has an expression in Rust.
    fn presence(&self) -> Vec<Kept> {
        let kept = |field: FieldId| match self.default_value(field) {
            _ if self.is_option(field) => Kept::Optional,
            Some(_) => Kept::Default,
            None => Kept::Required,
        };
        (0..self.types.shape.fields.len() as u32).map(|field| kept(FieldId(field))).collect()
    }

    /// The expression of a component that is absent.
    fn absent<V>(&self, member: &Member<'_, V>) -> String {
        match member.presence {
            Kept::Optional => None,
            _ => self.default_value(member.field),
        }
        .unwrap_or_else(|| "None".into())
    }

    /// The condition that a component is there to be written.
    fn there<V>(&self, member: &Member<'_, V>) -> String {
        let name = self.names.field(member.field);
        if member.presence == Kept::Optional {
            return format!("self.{name}.is_some()");
        }
        match self.is_default(member.field, &format!("self.{name}")) {
            Some(equal) => format!("!({equal})"),
            None => "true".into(),
        }
    }

    /// The constant that the codecs of a root have for its name.
    fn name_const(&self, root: NodeId) -> String {
        let name = self.types.shape.type_name(root).unwrap_or_default();
        format!("const NAME: &'static str = {name:?};")
    }

    /// Whether values of a type may be read where they stand, rather than moved there: see [`FILLED`].
    fn is_filled(&self, node: NodeId) -> bool {
        let node = self.types.same(node);
        !self.types.choices.small
            && matches!(self.types.repr(node), Repr::Struct | Repr::Choice | Repr::Table(_))
            && self.empties.is_constant(node)
            && self.types.size(node) >= FILLED
    }

    /// Whether a node is a struct all of whose components may be absent, so that it has a `Default`.
    fn is_sparse(&self, node: NodeId) -> bool {
        self.types.repr(node) == Repr::Struct
            && self.types.shape.fields_of(node).all(|(id, _)| self.is_option(id))
    }

    /// A node's type with a lifetime.
    fn ty(&self, node: NodeId, lifetime: &str) -> String {
        let node = self.types.same(node);
        let named = matches!(self.types.origin(node), Origin::Named(..));
        if (!self.is_wrapped(node) && named) || self.types.is_newtype(node) {
            return format!("{}{}", self.names.ty(node), self.lifetime(node, lifetime));
        }
        self.spelled(node, lifetime)
    }

    /// The same without a name where it is not a declaration of its own.
    fn spelled(&self, node: NodeId, around: &str) -> String {
        let lifetime = self.own_lifetime(node, around);
        if let Some(slice) = self.slice(node, lifetime) {
            return slice;
        }
        match self.types.repr(node) {
            Repr::Boolean => "bool".into(),
            Repr::Null => "()".into(),
            Repr::Integer { signed, bits } => format!("{}{bits}", if signed { "i" } else { "u" }),
            Repr::Big => format!("{INTEGER}<{lifetime}>"),
            Repr::Real => format!("{EXACT_REAL}<{lifetime}>"),
            Repr::Float => "f64".into(),
            Repr::FixedBits(bits) => format!("{FIXED_BITS}<{bits}>"),
            Repr::Bits => format!("{BIT_STRING}<{lifetime}>"),
            Repr::FixedOctets(octets) => format!("[u8; {octets}]"),
            Repr::Octets | Repr::Any => self.octets(node, around),
            Repr::Oid => format!("{OBJECT_IDENTIFIER}<{lifetime}>"),
            Repr::RelativeOid => format!("{RELATIVE_OBJECT_IDENTIFIER}<{lifetime}>"),
            Repr::Text => format!("{TEXT}<{lifetime}>"),
            Repr::Contained(inside) => {
                let inside = self.held(Edge::Content(node), inside, around);
                format!("{CONTAINED}<{lifetime}, {inside}>")
            }
            Repr::Enumerated | Repr::Struct | Repr::Choice | Repr::Table(_) => {
                format!("{}{}", self.names.ty(node), self.lifetime(node, around))
            }
            Repr::List => self.list(node, &self.ty(self.types.element(node), around), around),
        }
    }

    /// The type of octets that nothing more is known of, as a node keeps its own parts.
    fn octets(&self, node: NodeId, lifetime: &str) -> String {
        if self.types.keeps_slices(node) {
            return slices::octets(lifetime);
        }
        format!("{OCTETS}<{}>", self.own_lifetime(node, lifetime))
    }

    /// The name of the codec of a list, behind the word for what it does and the rules.
    fn list_function(&self, node: NodeId) -> String {
        names::snake(self.names.ty(self.types.same(node))).trim_start_matches("r#").to_owned()
    }

    /// The type of a list of elements of a type.
    fn list(&self, node: NodeId, element: &str, lifetime: &str) -> String {
        if self.types.is_lazy(node) {
            format!("{SEQUENCE_OF}<{lifetime}, {element}>")
        } else if self.types.is_list_in_arena(node) {
            format!("{TYPES}::ListRef<{lifetime}, {element}>")
        } else if self.types.is_inline(node) {
            format!("{TYPES}::List<{element}>")
        } else {
            format!("{VEC}<{element}>")
        }
    }

    /// The same in a box where it has one.
    fn held(&self, edge: Edge, node: NodeId, lifetime: &str) -> String {
        let ty = self.ty(node, lifetime);
        if self.types.is_in_arena(edge) {
            format!("&{lifetime} {ty}")
        } else if self.types.is_boxed(edge) {
            format!("{BOX}<{ty}>")
        } else {
            ty
        }
    }

    /// An expression in a box where it has one.
    fn boxed(&self, edge: Edge, value: String) -> String {
        if self.types.is_boxed(edge) { format!("{BOX}::new({value})") } else { value }
    }

    /// The same of a constant: what is in the arena else is nowhere.
    fn boxed_constant(&self, edge: Edge, value: String) -> String {
        if self.types.is_in_arena(edge) { format!("const {{ &{value} }}") } else { self.boxed(edge, value) }
    }

    /// The same of what is read, which may be in the arena.
    fn boxed_or_in_arena(&self, edge: Edge, value: String) -> String {
        if self.types.is_in_arena(edge) {
            format!("{{ let v = {value}; {BER}::in_arena(r, v)? }}")
        } else {
            self.boxed(edge, value)
        }
    }

    /// The type of extension additions that are not known, without its lifetime.
    fn additions_type(&self) -> String {
        if self.types.choices.arena {
            format!("{CODEC}::UnknownElements")
        } else {
            UNKNOWN_ADDITIONS.to_string()
        }
    }

    /// The parameters that a function takes for keys of tables around, each behind a comma.
    fn key_parameters(&self, node: NodeId) -> String {
        self.types.keys(node).iter().map(|key| format!(", k{key}: {KEY}<'_>")).collect()
    }

    /// The arguments for the keys of a value, each behind a comma: `component` is the expression of a component as a key.
    fn keys(&self, keys: &[StepKey], component: impl Fn(FieldId, &[FieldId]) -> Option<String>) -> String {
        let key = |key: &StepKey| match key {
            StepKey::Component(field, way) => {
                format!(", {}", component(*field, way).unwrap_or_else(|| format!("{KEY}::None")))
            }
            StepKey::Parameter(register) => format!(", k{register}"),
            StepKey::Nothing => format!(", {KEY}::None"),
        };
        keys.iter().map(key).collect()
    }

    /// The same where components are in variables of their types.
    fn local_keys(&self, keys: &[StepKey]) -> String {
        self.keys(keys, |field, way| self.local_key(field, way))
    }

    /// What is inside of a struct as a key: `value` is an expression of the struct.
    fn inner_key(&self, way: &[FieldId], value: &str) -> Option<String> {
        let node = self.types.shape.field(*way.last()?).node;
        let names: String = way.iter().map(|id| format!(".{}", self.names.field(*id))).collect();
        self.as_key(node, &format!("(&{value}{names})"))
    }

    /// What the local variable for a component is as a key, or what is in it.
    fn local_key(&self, id: FieldId, way: &[FieldId]) -> Option<String> {
        let node = self.types.shape.field(id).node;
        let local = local(self.names.field(id));
        if !way.is_empty() {
            return self.inner_key(way, &local);
        }
        let boxed = self.types.is_boxed(Edge::Field(id));
        if self.is_option(id) {
            let value = self.as_key(node, if boxed { "(&**v)" } else { "v" })?;
            Some(format!("match &{local} {{ Some(v) => {value}, None => {KEY}::None }}"))
        } else {
            self.as_key(node, &if boxed { format!("(&*{local})") } else { format!("(&{local})") })
        }
    }

    /// What a component's value is as a key: `value` is an expression of its type, behind a reference.
    fn as_key(&self, node: NodeId, value: &str) -> Option<String> {
        Some(match self.types.repr(node) {
            Repr::Integer { .. } => format!("{KEY}::Int(*{value} as i64)"),
            Repr::Enumerated => format!("{KEY}::Int({value}.number())"),
            Repr::Big => format!("{value}.try_into().map_or({KEY}::None, {KEY}::Int)"),
            Repr::Oid | Repr::RelativeOid | Repr::Real => format!("{KEY}::Octets({value}.as_bytes())"),
            Repr::Octets => format!("{KEY}::Octets({value})"),
            Repr::Text => format!("{KEY}::Octets({value}.as_bytes())"),
            _ => return None,
        })
    }
}

/// What a call that may fail reads or writes, which is a step in the path of the fault.
#[derive(Clone, Copy)]
enum At<'n> {
    /// Nothing with a name.
    Nothing,
    Component(&'n str),
    /// A component of a SEQUENCE of BER that has to be there: with its number, and whether the type is extensible.
    Mandatory(&'n str, usize, bool),
    /// An element that is written, the last first: behind those in the iterator `left`.
    Element,
}

impl At<'_> {
    /// The same behind the first header of the component.
    const fn behind(self) -> Self {
        match self {
            Self::Mandatory(name, ..) => Self::Component(name),
            other => other,
        }
    }

    /// The expression of the value of a reader's call.
    fn value(self, call: impl AsRef<str>) -> String {
        self.of("r", call.as_ref())
    }

    /// The expression of the value of a writer's call.
    fn written(self, call: impl AsRef<str>) -> String {
        self.of("w", call.as_ref())
    }

    /// The line of a writer's call; one that cannot fail stays as it is.
    fn line(self, line: String) -> String {
        match line.strip_suffix("?;") {
            Some(call) => self.written(call) + ";",
            None => line,
        }
    }

    fn of(self, codec: &str, call: &str) -> String {
        match self {
            Self::Nothing => format!("{call}?"),
            Self::Component(name) => format!("{AT}!({codec}, {name:?}, {call})"),
            Self::Mandatory(name, number, extensible) => {
                format!("{AT}!({codec}, {name:?}, ({number}, {extensible}, Self::place), {call})")
            }
            Self::Element => format!("{AT}!({codec}, [left.len()], {call})"),
        }
    }
}

/// The call that says that there are no codecs for a value.
fn unsupported() -> String {
    format!("Err::<(), _>({ERROR}::new({ERROR_KIND}::Unsupported, 0))?;")
}

/// The call that says that a component is not there.
fn missing() -> String {
    format!("Err::<(), _>({ERROR}::new({ERROR_KIND}::MissingComponent, 0))?;")
}

/// The name of the local variable for a component.
fn local(field: &str) -> String {
    format!("f_{}", field.trim_start_matches("r#"))
}

/// The place that an expression of a reference refers to.
fn deref(v: &str) -> String {
    match v.strip_prefix('&') {
        Some(place) => place.to_owned(),
        None => format!("*{v}"),
    }
}

/// The same where a method is called on it.
fn receiver(v: &str) -> &str {
    v.trim_start_matches(['&', '*'])
}
