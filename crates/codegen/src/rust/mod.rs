//! The printer for Rust. It spells what [`crate::types`] and the plans say and decides nothing about encodings.

mod ber;
mod consts;
mod declare;
mod empty;
mod jer;
mod names;
mod notation;
mod oer;
mod owned;
mod parts;
mod per;
mod per_forms;
mod text;
mod values;
mod whole;

use crate::code::ber::same_tags;
use crate::code::sequence::Member;
use crate::code::{Key as StepKey, Presence as Kept};
use crate::overlay::Serde;
use crate::types::{Edge, Origin, Repr, Types};
use crate::{Config, Error};
use empty::Empties;
use names::Names;
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
    let names = Names::new(&types);
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
        printer.find_empties();
    }
    printer.roots = printer.root_types(lowering);
    declare::print(&mut printer, model, lowering, config);
    consts::print(&mut printer, model, lowering);
    owned::print(&mut printer);
    notation::print(&mut printer);
    whole::print(&mut printer);
    parts::print(&mut printer, lowering);
    empty::print(&mut printer, Printer::is_filled);
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
    let body = printer.text.finish();
    Ok(head(config.header, &body) + &body + "}\n")
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

/// What the printed text may use: module, names.
const USES: &[(&str, &[&str])] = &[
    ("core", &["fmt"]),
    ("alloc::boxed", &["Box"]),
    ("alloc::vec", &["Vec"]),
    (
        "tercet_runtime::codec",
        &[
            "Contained",
            "Key",
            "Notation",
            "SequenceOf",
            "UnknownAdditions",
            "UnknownAlternative",
            "at",
            "ber",
            "oer",
            "parts",
            "per",
        ],
    ),
    ("tercet_runtime::text", &["StringKind"]),
    (
        "tercet_runtime::types",
        &[
            "BitString",
            "ExactReal",
            "FixedBits",
            "Integer",
            "ObjectIdentifier",
            "Octets",
            "RelativeObjectIdentifier",
            "Text",
            "TimeType",
        ],
    ),
    ("tercet_runtime", &["Error", "ErrorKind", "Result", "Tag", "codec"]),
];

/// Octets of memory of a value that PER reads where it stands, rather than moving it there two or three times: context
/// setups of NGAP are decoded in 34 % less time by it, reports of NR RRC in 33 %. With 64 the latter is 8 % slower.
const FILLED: usize = 40;

/// What is said of code that nobody wrote by hand.
const ALLOWED: &str = "clippy::all, clippy::nursery, clippy::pedantic, clippy::restriction, dead_code, missing_docs, \
    unreachable_pub, \
    unused_qualifications, unused_variables";

/// The first lines: what the text is, and what it uses. All of it stands in a module of its own, since `include!` takes no
/// inner attributes.
fn head(header: &str, body: &str) -> String {
    let mut text = Text::default();
    for line in header.lines() {
        text.line(format!("// {line}").trim_end());
    }
    text.line("");
    text.line("#[allow(unreachable_pub, unused_imports)]");
    text.line("pub use code::*;");
    text.line("");
    text.line(format!("#[allow({ALLOWED})]"));
    text.line("#[rustfmt::skip]");
    text.line("mod code {");
    text.line("extern crate alloc;");
    text.line("");
    let code = body.lines().filter(|line| !line.trim_start().starts_with("//")).map(without_literals);
    let code: Vec<String> = code.collect();
    let words: HashSet<&str> = code.iter().flat_map(|line| type_names(line)).collect();
    // A component may have the name of a module.
    let is_used = |name: &str| {
        let is_path =
            |line: &String| line.contains(&format!("{name}::")) || line.contains(&format!("{name}!"));
        words.contains(name) && (name.starts_with(|c: char| c.is_uppercase()) || code.iter().any(is_path))
    };
    for (module, names) in USES {
        let used: Vec<&str> = names.iter().copied().filter(|name| is_used(name)).collect();
        match used[..] {
            [] => {}
            [name] => text.line(format!("use {module}::{name};")),
            _ => text.line(format!("use {module}::{{{}}};", used.join(", "))),
        }
    }
    text.finish()
}

/// A line of code without what stands in string literals.
fn without_literals(line: &str) -> String {
    line.replace("\\\"", "").split('"').step_by(2).collect::<Vec<_>>().join("\"\"")
}

/// The names in a line of code that may be those of types: not behind `::`, and no alternatives or items where these are
/// declared.
fn type_names(line: &str) -> impl Iterator<Item = &str> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    line.char_indices().filter_map(move |(at, c)| {
        let (before, behind) = line.split_at(at);
        if !is_name(c) || before.ends_with(is_name) || before.ends_with("::") {
            return None;
        }
        let name = behind.split(|c| !is_name(c)).next()?;
        let behind = &behind[name.len()..];
        let begins = before.trim().is_empty() || [", ", "] ", "{ "].iter().any(|end| before.ends_with(end));
        let is_item = begins && (behind.starts_with(',') || behind.starts_with(" ="));
        (!is_item && !behind.starts_with('(')).then_some(name)
    })
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

    /// Whether values of a type are read by PER where they stand, rather than moved there: see [`FILLED`].
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
        match self.types.repr(node) {
            Repr::Boolean => "bool".into(),
            Repr::Null => "()".into(),
            Repr::Integer { signed, bits } => format!("{}{bits}", if signed { "i" } else { "u" }),
            Repr::Big => format!("Integer<{lifetime}>"),
            Repr::Real => format!("ExactReal<{lifetime}>"),
            Repr::Float => "f64".into(),
            Repr::FixedBits(bits) => format!("FixedBits<{bits}>"),
            Repr::Bits => format!("BitString<{lifetime}>"),
            Repr::FixedOctets(octets) => format!("[u8; {octets}]"),
            Repr::Octets | Repr::Any => format!("Octets<{lifetime}>"),
            Repr::Oid => format!("ObjectIdentifier<{lifetime}>"),
            Repr::RelativeOid => format!("RelativeObjectIdentifier<{lifetime}>"),
            Repr::Text => format!("Text<{lifetime}>"),
            Repr::Contained(inside) => {
                let inside = self.held(Edge::Content(node), inside, around);
                format!("Contained<{lifetime}, {inside}>")
            }
            Repr::Enumerated | Repr::Struct | Repr::Choice | Repr::Table(_) => {
                format!("{}{}", self.names.ty(node), self.lifetime(node, around))
            }
            Repr::List => self.list(node, &self.ty(self.types.element(node), around), around),
        }
    }

    /// The name of the codec of a list, behind the word for what it does and the rules.
    fn list_function(&self, node: NodeId) -> String {
        names::snake(self.names.ty(self.types.same(node))).trim_start_matches("r#").to_owned()
    }

    /// The type of a list of elements of a type.
    fn list(&self, node: NodeId, element: &str, lifetime: &str) -> String {
        if self.types.is_lazy(node) {
            format!("SequenceOf<{lifetime}, {element}>")
        } else {
            format!("Vec<{element}>")
        }
    }

    /// The same in a box where it has one.
    fn held(&self, edge: Edge, node: NodeId, lifetime: &str) -> String {
        let ty = self.ty(node, lifetime);
        if self.types.is_boxed(edge) { format!("Box<{ty}>") } else { ty }
    }

    /// An expression in a box where it has one.
    fn boxed(&self, edge: Edge, value: String) -> String {
        if self.types.is_boxed(edge) { format!("Box::new({value})") } else { value }
    }

    /// The parameters that a function takes for keys of tables around, each behind a comma.
    fn key_parameters(&self, node: NodeId) -> String {
        self.types.keys(node).iter().map(|key| format!(", k{key}: Key<'_>")).collect()
    }

    /// The arguments for the keys of a value, each behind a comma: `component` is the expression of a component as a key.
    fn keys(&self, keys: &[StepKey], component: impl Fn(FieldId, &[FieldId]) -> Option<String>) -> String {
        let key = |key: &StepKey| match key {
            StepKey::Component(field, way) => {
                format!(", {}", component(*field, way).unwrap_or_else(|| "Key::None".into()))
            }
            StepKey::Parameter(register) => format!(", k{register}"),
            StepKey::Nothing => ", Key::None".into(),
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
            Some(format!("match &{local} {{ Some(v) => {value}, None => Key::None }}"))
        } else {
            self.as_key(node, &if boxed { format!("(&*{local})") } else { format!("(&{local})") })
        }
    }

    /// What a component's value is as a key: `value` is an expression of its type, behind a reference.
    fn as_key(&self, node: NodeId, value: &str) -> Option<String> {
        Some(match self.types.repr(node) {
            Repr::Integer { .. } => format!("Key::Int(*{value} as i64)"),
            Repr::Enumerated => format!("Key::Int({value}.number())"),
            Repr::Big => format!("{value}.try_into().map_or(Key::None, Key::Int)"),
            Repr::Oid | Repr::RelativeOid | Repr::Real => format!("Key::Octets({value}.as_bytes())"),
            Repr::Octets => format!("Key::Octets({value})"),
            Repr::Text => format!("Key::Octets({value}.as_bytes())"),
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
            Self::Component(name) => format!("at!({codec}, {name:?}, {call})"),
            Self::Mandatory(name, number, extensible) => {
                format!("at!({codec}, {name:?}, ({number}, {extensible}, Self::place), {call})")
            }
            Self::Element => format!("at!({codec}, [left.len()], {call})"),
        }
    }
}

/// The call that says that there are no codecs for a value.
const UNSUPPORTED: &str = "Err::<(), _>(Error::new(ErrorKind::Unsupported, 0))?;";
/// The call that says that a component is not there.
const MISSING: &str = "Err::<(), _>(Error::new(ErrorKind::MissingComponent, 0))?;";

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_used_where_they_are_named() {
        let used = |body: &str, name: &str| head("", body).contains(name);
        assert!(used("pub text: Text<'a>,", "Text"));
        assert!(used("let value = Box::new(v);", "Box"));
        assert!(used("fn f(tag: Tag, at: u8) {", "Tag"));
        assert!(used("_ => return Err(Error::new(ErrorKind::Unsupported, 0)),", "{Error, ErrorKind}"));
    }

    #[test]
    fn alternatives_items_and_names_in_texts_are_no_types() {
        let unused = |body: &str| assert!(!head("", body).contains("tercet_runtime"), "{body}");
        unused("    Error(Fault<'a>),");
        unused("pub enum Faults { Error = 0, Key = 1 }");
        unused("    Error, #[doc = \"`x`\"] Key,");
        unused("Self::Octets(v) => To::Octets(v),");
        unused("const NAME: &'static str = \"Text\";");
        unused("// Text");
    }
}
