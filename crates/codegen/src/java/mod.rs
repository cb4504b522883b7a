//! The printer for Java. It spells what [`crate::types`] and [`crate::code`] say and decides nothing about encodings.

mod ber;
mod declare;
mod imports;
mod jer;
mod names;
mod oer;
mod parts;
mod per;
mod presences;
mod text;
mod values;

use crate::code::{Key as StepKey, Presence as Kept, Source};
use crate::defaults::Depths;
use crate::names::Names;
use crate::types::{Repr, Types};
use crate::{Codecs, Config, Error, Overlay, OverlayError};
use imports::{IMPORTS, mentions};
use parts::PARTS;
use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap, HashSet};
use tercet_lower::Lowering;
use tercet_model::Model;
use tercet_plan::shape::{Key, Place, Presence};
use tercet_plan::{Code, FieldId, NodeId, Rules};
use text::{Text, literal};

/// A SEQUENCE or SET with more components is a class with a builder rather than a record, which has one constructor for all.
const RECORD: usize = 16;

/// The same where most components may be absent: a record is filled by a constructor, which takes longer (1.8 times for 100).
const SPARSE_RECORD: usize = 8;

/// Items of an ENUMERATED beside which a class has other constants: those of more have a class, as the code that makes the
/// constants of one has 64 KiB at most.
const ITEMS: usize = 256;

/// Returns whether a text is the name of a Java package: words between dots, none of them a keyword.
#[must_use]
pub fn is_package(name: &str) -> bool {
    let is_word = |word: &str| {
        word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && word.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
            && !names::KEYWORDS.contains(&word)
    };
    name.split('.').all(is_word)
}

/// A file of Java.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JavaFile {
    /// Its path from the folder of sources, with slashes.
    pub path: String,
    /// Its text.
    pub text: String,
    /// The name in the specification of the root whose class it has.
    pub root: Option<String>,
}

pub(crate) fn print(
    model: &Model,
    lowering: &Lowering,
    config: &Config<'_>,
    package: &str,
) -> Result<Vec<JavaFile>, Error> {
    let Some(plan) = lowering.plans.first() else { return Ok(Vec::new()) };
    // There are no codecs that follow tables.
    let overlay = Overlay { codecs: Codecs::Fast, ..config.overlay.clone() };
    if let Some(package) = overlay.nullable.as_deref().filter(|package| !is_package(package)) {
        return Err(OverlayError(format!("`nullable`: {package:?} is not a Java package")).into());
    }
    let types = Types::new(model, lowering, &plan.shape, &overlay)?;
    let names = Names::new(&types, &names::STYLE);
    let has_jer = config.rules.contains(&Rules::Jer);
    if has_jer && plan.shape.instructions.as_ref().is_some_and(|known| known.json.is_some()) {
        return Err(Error::Instructions);
    }
    let roots = root_types(&types, &names);
    let mut printer = Printer {
        types,
        names,
        package: package.to_owned(),
        nullable: overlay.nullable.clone(),
        roots,
        depths: Depths::default(),
        defaults: RefCell::default(),
        codecs: BTreeMap::new(),
        types_of_roots: BTreeMap::new(),
        printed: HashSet::new(),
        numbers_additions: has_jer || lowering.plans.iter().any(|plan| matches!(plan.code, Code::Per(_))),
    };
    let mut files = declare::print(&printer, model, lowering, config);
    let presence = printer.presence();
    // The constants of BER have more in them than those of others with the same names.
    let plans = lowering.plans.iter().zip(config.rules).filter(|(_, rules)| !rules.is_text());
    let (first, others): (Vec<_>, Vec<_>) =
        plans.map(|(plan, _)| plan).partition(|plan| matches!(plan.code, Code::Ber(_)));
    for plan in first.into_iter().chain(others) {
        match &plan.code {
            Code::Ber(program) if printer.printed.insert("ber".into()) => {
                let roots: Vec<NodeId> = printer.roots.iter().map(|root| root.node).collect();
                let source = Source { types: &printer.types, presence: &presence };
                let code = crate::code::ber::Code::new(source, program, &roots);
                ber::print(&mut printer, &code);
            }
            Code::Per(program) if printer.printed.insert(format!("per {}", program.aligned)) => {
                let roots: Vec<NodeId> = printer.roots.iter().map(|root| root.node).collect();
                let source = Source { types: &printer.types, presence: &presence };
                let code = crate::code::per::Code::new(source, program, &roots);
                per::print(&mut printer, &code);
            }
            Code::Oer(program) if printer.printed.insert("oer".into()) => {
                let roots: Vec<NodeId> = printer.roots.iter().map(|root| root.node).collect();
                let source = Source { types: &printer.types, presence: &presence };
                let code = crate::code::oer::Code::new(source, program, &roots);
                oer::print(&mut printer, &code);
            }
            Code::Ber(_) | Code::Per(_) | Code::Oer(_) => {}
            _ => return Err(Error::Rules),
        }
    }
    if has_jer {
        jer::print(&mut printer, &presence);
    }
    printer.root_codecs();
    files.extend(printer.codec_files());
    let head: String =
        config.header.lines().map(|line| format!("// {}\n", line.replace('\\', "/"))).collect();
    for file in &mut files {
        file.text.insert_str(0, &head);
    }
    Ok(files)
}

/// A type that values can begin with.
#[derive(Clone)]
struct RootType {
    /// The node that its tags are at.
    node: NodeId,
    name: String,
    /// The full name in the specification.
    full_name: String,
    /// Whether it is a record around a value of the type that it stands for, since that is no class of its own.
    wraps: bool,
}

/// The types that have codecs: each root, by its own name, and those that have the type of another name.
fn root_types(types: &Types<'_>, names: &Names) -> Vec<RootType> {
    let shape = types.shape;
    let full = |node| {
        let root = shape.roots.iter().find(|root| root.node == node);
        root.map_or_else(String::new, |root| shape.name(root.name).to_owned())
    };
    let own = types.roots().into_iter().map(|node| RootType {
        node,
        name: names.ty(types.same(node)).to_owned(),
        full_name: full(node),
        wraps: !is_class(types, types.same(node)),
    });
    let mut roots: Vec<RootType> = own.collect();
    let named: HashSet<String> = roots.iter().map(|root| root.full_name.clone()).collect();
    let others = types.aliases().filter(|root| !named.contains(shape.name(root.name)));
    roots.extend(others.map(|root| RootType {
        node: root.node,
        name: names.alias(root.name).to_owned(),
        full_name: shape.name(root.name).to_owned(),
        wraps: true,
    }));
    roots
}

/// Whether a node has a class of its own.
fn is_class(types: &Types<'_>, node: NodeId) -> bool {
    matches!(types.repr(node), Repr::Struct | Repr::Choice | Repr::Enumerated | Repr::Table(_))
        || types.is_newtype(node)
}

/// What the parts of the printer share.
struct Printer<'m> {
    types: Types<'m>,
    names: Names,
    package: String,
    /// The package of the annotation `Nullable`, if it is not the one of the runtime.
    nullable: Option<String>,
    roots: Vec<RootType>,
    depths: Depths,
    /// Expressions of DEFAULTs made already.
    defaults: RefCell<HashMap<FieldId, Option<String>>>,
    /// What is printed of codecs, by the name of their class.
    codecs: BTreeMap<String, String>,
    /// Methods of the types of roots.
    types_of_roots: BTreeMap<String, String>,
    /// Constants and helpers that a codec has, whatever the rules; and rules.
    printed: HashSet<String>,
    /// Whether rules number the extension additions of an ENUMERATED, so that one of a later version comes without its value.
    numbers_additions: bool,
}

/// How an INTEGER is kept.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Number {
    /// `int`, between these.
    Int(i64, i64),
    /// `long`, between these.
    Long(i64, i64),
    /// `BigInteger` of 64 bits without a sign.
    Unsigned,
    /// `BigInteger`.
    Big,
}

impl<'m> Printer<'m> {
    fn is_class(&self, node: NodeId) -> bool {
        is_class(&self.types, node)
    }

    /// How the values of an INTEGER are kept.
    fn number(&self, node: NodeId) -> Number {
        let Repr::Integer { signed, bits } = self.types.repr(node) else { return Number::Big };
        let shape = self.types.shape;
        let range = shape.node(node).constraint.and_then(|c| shape.constraints.get(c as usize));
        let highest = range.and_then(|c| c.integer).and_then(|(_, most)| most);
        match (signed, bits) {
            (false, 64) if highest.is_some_and(|most| most <= i128::from(i64::MAX)) => {
                Number::Long(0, i64::MAX)
            }
            (false, 64) => Number::Unsigned,
            (true, 64) => Number::Long(i64::MIN, i64::MAX),
            (false, 32) => Number::Long(0, i64::from(u32::MAX)),
            (false, _) => Number::Int(0, (1 << bits) - 1),
            (true, _) => Number::Int(-1 << (bits - 1), (1 << (bits - 1)) - 1),
        }
    }

    /// Whether a component may be absent, and there is no DEFAULT to fill in.
    fn is_option(&self, field: FieldId) -> bool {
        let known = self.types.shape.field(field);
        (known.presence != Presence::Mandatory || known.place != Place::Root)
            && self.default_value(field).is_none()
    }

    /// The presence of each field, by what has an expression in Java.
    fn presence(&self) -> Vec<Kept> {
        let kept = |field: FieldId| match self.default_value(field) {
            _ if self.is_option(field) => Kept::Optional,
            Some(_) => Kept::Default,
            None => Kept::Required,
        };
        (0..self.types.shape.fields.len() as u32).map(|field| kept(FieldId(field))).collect()
    }

    /// Whether a SEQUENCE or SET is a record; else it is a class with a builder, whose codec fills it.
    fn is_record(&self, node: NodeId) -> bool {
        let fields = || self.types.shape.fields_of(node);
        let count = fields().count();
        let options = fields().filter(|(id, _)| self.is_option(*id)).count();
        count <= RECORD && (count <= SPARSE_RECORD || options * 2 <= count)
    }

    /// The type of a node's values.
    fn ty(&self, node: NodeId) -> String {
        self.spelled(node, false, "")
    }

    /// The same as a class, also of numbers.
    fn boxed(&self, node: NodeId) -> String {
        self.spelled(node, true, "")
    }

    /// Whether values are no objects.
    fn is_primitive(&self, node: NodeId) -> bool {
        self.ty(node) != self.boxed(node)
    }

    fn spelled(&self, node: NodeId, boxed: bool, qualifier: &str) -> String {
        let node = self.types.same(node);
        if self.is_class(node) {
            return format!("{qualifier}{}", self.names.ty(node));
        }
        self.content(node, boxed, qualifier)
    }

    /// The type inside of a record around it, where it has one.
    fn content(&self, node: NodeId, boxed: bool, qualifier: &str) -> String {
        let pick = |primitive: &str, class: &str| if boxed { class.to_owned() } else { primitive.to_owned() };
        match self.types.repr(node) {
            Repr::Boolean => pick("boolean", "Boolean"),
            Repr::Null => "Null".into(),
            Repr::Integer { .. } | Repr::Big => match self.number(node) {
                Number::Int(..) => pick("int", "Integer"),
                Number::Long(..) => pick("long", "Long"),
                Number::Unsigned | Number::Big => "BigInteger".into(),
            },
            Repr::Real => "Asn1Real".into(),
            Repr::Float => pick("double", "Double"),
            Repr::FixedBits(_) | Repr::Bits => "BitString".into(),
            Repr::FixedOctets(_) | Repr::Octets | Repr::Any => "Octets".into(),
            Repr::Oid => "ObjectIdentifier".into(),
            Repr::RelativeOid => "RelativeObjectIdentifier".into(),
            Repr::Text => "String".into(),
            Repr::Contained(inside) => format!("Contained<{}>", self.spelled(inside, true, qualifier)),
            Repr::List => format!("List<{}>", self.spelled(self.types.element(node), true, qualifier)),
            Repr::Enumerated | Repr::Struct | Repr::Choice | Repr::Table(_) => {
                format!("{qualifier}{}", self.names.ty(node))
            }
        }
    }

    /// The codec of a node.
    fn codec(&self, node: NodeId) -> String {
        format!("{}Codec", self.names.ty(self.types.same(node)))
    }

    /// Adds text to a codec.
    fn add(&mut self, codec: &str, text: &str) {
        let body = self.codecs.entry(codec.to_owned()).or_default();
        if !body.is_empty() {
            body.push('\n');
        }
        body.push_str(text);
    }

    /// The parameters that a method takes for keys of tables around, each behind a comma.
    fn key_parameters(&self, node: NodeId) -> String {
        self.types.keys(node).iter().map(|key| format!(", TableKey k{key}")).collect()
    }

    /// The arguments of a method that gets the keys of the method around it.
    fn same_keys(&self, node: NodeId) -> String {
        self.types.keys(node).iter().map(|key| format!(", k{key}")).collect()
    }

    /// The arguments for the keys of a value, each behind a comma: `component` is the expression of a component, which may
    /// be absent.
    fn keys(&self, keys: &[StepKey], component: impl Fn(FieldId) -> String) -> String {
        let key = |key: &StepKey| match key {
            StepKey::Component(field, way) => {
                let node = |field: FieldId| self.types.shape.field(field).node;
                let value = component(*field);
                let last = *way.last().unwrap_or(field);
                let path: String = way.iter().map(|id| format!(".{}()", self.names.field(*id))).collect();
                let is_enumerated = self.types.repr(node(last)) == Repr::Enumerated;
                let number = if is_enumerated { ".number()" } else { "" };
                let key = format!("TableKey.of({value}{path}{number})");
                // A component that is not there is null, and has nothing inside.
                if is_enumerated || !way.is_empty() {
                    format!(", {value} == null ? TableKey.NONE : {key}")
                } else {
                    format!(", {key}")
                }
            }
            StepKey::Parameter(register) => format!(", k{register}"),
            StepKey::Nothing => ", TableKey.NONE".into(),
        };
        keys.iter().map(key).collect()
    }

    /// The expression of the number of an ENUMERATED's value: one of a later version may have come without it.
    fn enumeration(&self, node: NodeId, v: &str) -> String {
        let extensible = self.types.shape.node(self.types.same(node)).extensible;
        if extensible && self.numbers_additions {
            format!("{}.number({v})", self.codec(node))
        } else {
            format!("{v}.number()")
        }
    }

    /// The method that returns it, unless it is printed.
    fn enumeration_method(&mut self, node: NodeId) -> String {
        let mut text = Text::at(1);
        let extensible = self.types.shape.node(node).extensible && self.numbers_additions;
        if extensible && self.printed.insert(format!("number {}", node.0)) {
            let name = self.names.ty(node);
            text.line("");
            text.open(format!("static long number({name} value) throws Asn1Exception {{"));
            text.open(format!("if (value instanceof {name}.UnknownAddition) {{"));
            text.line("throw Asn1Exception.at(ErrorKind.UNKNOWN_ENUMERATION, 0);");
            text.close("}");
            text.line("return value.number();");
            text.close("}");
        }
        text.finish()
    }

    /// The constants that a codec has whatever the rules, unless they are printed.
    fn declared(&mut self, node: NodeId) -> String {
        if !matches!(self.types.repr(node), Repr::Struct | Repr::Choice) {
            return String::new();
        }
        let mut text = Text::at(1);
        if self.printed.insert(format!("place {}", node.0)) {
            text.line(format!(
                "static final Components PLACE = new Components({});",
                self.component_names(node)
            ));
            text.line("");
        }
        text.append(&self.default_constants(node));
        text.finish()
    }

    /// The lines before a SEQUENCE or SET is read whose components have presence bits: a variable for each component, or an
    /// object, with the values that absent components have.
    fn declared_variables(
        &self,
        node: NodeId,
        presence: &HashMap<FieldId, Kept>,
        is_record: bool,
    ) -> Vec<String> {
        let mut lines = Vec::new();
        let name = self.names.ty(self.types.same(node));
        if !is_record {
            lines.push(format!("{name} value = new {name}();"));
        }
        for (id, field) in self.types.shape.fields_of(node) {
            let presence = presence.get(&id).copied().unwrap_or(Kept::Optional);
            let field_name = self.names.field(id);
            let default = || self.default_name(id).unwrap_or_default();
            match (is_record, presence) {
                (false, Kept::Default) => lines.push(format!("value.{field_name} = {};", default())),
                (false, _) => {}
                (true, Kept::Optional) => {
                    lines.push(format!("{} _{field_name} = null;", self.boxed(field.node)));
                }
                (true, Kept::Default) => {
                    lines.push(format!("{} _{field_name} = {};", self.ty(field.node), default()));
                }
                (true, Kept::Required) => {
                    let ty = self.ty(field.node);
                    let zero = match &*ty {
                        "boolean" => "false",
                        "int" | "long" | "double" => "0",
                        _ => "null",
                    };
                    lines.push(format!("{ty} _{field_name} = {zero};"));
                }
            }
        }
        if is_record && self.names.additions(node).is_some() {
            lines.push("UnknownAdditions unknown = UnknownAdditions.NONE;".into());
        }
        lines
    }

    /// The names of the components in the specification, as literals.
    fn component_names(&self, node: NodeId) -> String {
        let shape = self.types.shape;
        let names: Vec<String> =
            shape.fields_of(node).map(|(_, field)| literal(shape.name(field.name))).collect();
        names.join(", ")
    }

    /// The constants of DEFAULTs, unless they are printed.
    fn default_constants(&mut self, node: NodeId) -> String {
        let mut text = Text::at(1);
        if self.types.repr(node) == Repr::Struct && self.printed.insert(format!("defaults {}", node.0)) {
            for (id, field) in self.types.shape.fields_of(node).filter(|(id, _)| self.is_kept(*id)) {
                if let (Some(name), Some(value)) = (self.default_name(id), self.default_value(id)) {
                    text.line(format!("static final {} {name} = {value};", self.ty(field.node)));
                }
            }
            if text.has_lines() {
                text.line("");
            }
        }
        text.finish()
    }

    /// The rows of a table by their keys, unless they are printed.
    fn rows_of(&mut self, node: NodeId, rows: &[(u32, Option<&[Key]>)]) -> String {
        let mut text = Text::at(1);
        if !self.printed.insert(format!("rows {}", node.0)) {
            return String::new();
        }
        text.line("private static final TableRows ROWS = new TableRows();");
        text.line("");
        let mut adds = Vec::new();
        for (number, keys) in rows {
            let keys: Option<Vec<String>> = keys.map(|keys| keys.iter().filter_map(Self::key).collect());
            if let Some(keys) = keys {
                let keys: String = keys.iter().map(|key| format!(", {key}")).collect();
                adds.push(format!("ROWS.add({number}{keys});"));
            }
        }
        let chunks: Vec<&[String]> = adds.chunks(4 * PARTS).collect();
        text.open("static {");
        (0..chunks.len()).for_each(|number| text.line(format!("rows{number}();")));
        text.close("}");
        for (number, chunk) in chunks.iter().enumerate() {
            text.line("");
            text.open(format!("private static void rows{number}() {{"));
            chunk.iter().for_each(|line| text.line(line));
            text.close("}");
        }
        text.line("");
        text.finish()
    }

    /// Makes the types of the roots, whose methods have been printed.
    fn root_codecs(&mut self) {
        for root in self.roots.clone() {
            let methods = self.types_of_roots.remove(&root.name).unwrap_or_default();
            let shape = self.types.shape;
            let name = shape.type_name(root.node).unwrap_or_default();
            // Paths in texts begin with the type that a name stands for.
            let own = shape.node(root.node).name.map_or("", |name| shape.name(name));
            let text_name = if own == name { String::new() } else { format!(", {}", literal(own)) };
            let mut text = Text::at(1);
            text.open(format!(
                "static final Asn1Type<{0}> TYPE = new Asn1Type<{0}>({1}{text_name}) {{",
                root.name,
                literal(name)
            ));
            text.append(&methods);
            if self.types.repr(root.node) == Repr::Choice && shape.node(self.types.same(root.node)).extensible
            {
                let value = if root.wraps { "value.value()" } else { "value" };
                text.line("");
                text.line("@Override");
                text.open(format!("public boolean isKnown({} value) {{", root.name));
                text.line(format!("return {value}.alternative() >= 0;"));
                text.close("}");
            }
            text.close("};");
            self.add(&format!("{}Codec", root.name), &text.finish());
        }
    }

    fn codec_files(&self) -> Vec<JavaFile> {
        let class = |(name, body): (&String, &String)| {
            let mut text = Text::default();
            text.line(format!("final class {name} {{"));
            text.line(format!("    private {name}() {{}}"));
            text.line("");
            text.append(body);
            text.line("}");
            self.file(name, &text.finish())
        };
        self.codecs.iter().map(class).collect()
    }

    /// A file with a class.
    fn file(&self, name: &str, text: &str) -> JavaFile {
        let mut imports: Vec<String> = Vec::new();
        for (path, class) in IMPORTS {
            if mentions(text, class) {
                let path =
                    self.nullable.as_ref().filter(|_| *class == "Nullable").map_or(*path, String::as_str);
                imports.push(format!("import {path}.{class};\n"));
            }
        }
        imports.sort();
        let imports = imports.concat();
        let gap = if imports.is_empty() { "" } else { "\n" };
        JavaFile {
            path: format!("{}/{name}.java", self.package.replace('.', "/")),
            root: None,
            text: format!("package {};\n\n{imports}{gap}{text}", self.package),
        }
    }
}
