//! Declarations: records, classes with builders, sealed interfaces and enums, with the notation that they stand for.

mod enumerated;

use super::text::{Lines, Text, comment, literal};
use super::{JavaFile, Printer};
use crate::Config;
use crate::types::{Origin, Repr};
use tercet_lower::Lowering;
use tercet_model::Model;
use tercet_model::ir::TypeId;
use tercet_plan::shape::Key;
use tercet_plan::{FieldId, NodeId};

pub(super) fn print(
    p: &Printer<'_>,
    model: &Model,
    lowering: &Lowering,
    config: &Config<'_>,
) -> Vec<JavaFile> {
    let mut files = Vec::new();
    for node in p.types.nodes().filter(|node| p.is_class(*node)) {
        let mut text = Text::default();
        text.doc(&document(p, node, model, lowering, config));
        let root = p.roots.iter().find(|root| !root.wraps && p.types.same(root.node) == node);
        let mut class = Class { p, node, text, is_root: root.is_some() };
        match p.types.repr(node) {
            Repr::Struct if p.is_record(node) => class.record(),
            Repr::Struct => class.class(),
            Repr::Choice => class.choice(),
            Repr::Enumerated => class.enumerated(),
            Repr::Table(table) => class.open_type(table),
            _ => class.wrapper(p.names.ty(node), &p.content(node, false, "")),
        }
        let root = root.map(|root| root.full_name.clone());
        files.push(JavaFile { root, ..p.file(p.names.ty(node), &class.text.finish()) });
    }
    for root in p.roots.iter().filter(|root| root.wraps) {
        let mut text = Text::default();
        text.doc(&[format!("{}.", comment(&root.full_name))]);
        let mut class = Class { p, node: root.node, text, is_root: true };
        class.wrapper(&root.name, &p.ty(root.node));
        let full_name = Some(root.full_name.clone());
        files.push(JavaFile { root: full_name, ..p.file(&root.name, &class.text.finish()) });
    }
    files
}

fn document(
    p: &Printer<'_>,
    node: NodeId,
    model: &Model,
    lowering: &Lowering,
    config: &Config<'_>,
) -> Vec<String> {
    let mut lines = vec![match p.types.origin(node) {
        Origin::Named(module, name, _) => format!("{}.", comment(&format!("{module}.{name}"))),
        Origin::Inside(parent, name) => {
            format!("{} of {{@link {}}}.", comment(name), p.names.ty(linked(p, *parent)))
        }
        Origin::Shared(name) => format!("{}, a type that several others contain.", comment(name)),
        Origin::Associated => "An associated type (X.680).".into(),
    }];
    // The notation of a parameterized type is the same for all of its instances.
    let is_plain = |ty: &TypeId| model.ty(*ty).name.as_ref().is_some_and(|name| name.arguments.is_empty());
    let ty = lowering.types[node.index()].filter(is_plain);
    if let Some(notation) = ty.and_then(|ty| (config.notation)(ty)) {
        lines.extend([String::new(), "<pre>".into()]);
        lines.extend(notation.lines().map(|line| comment(line.trim_end())));
        lines.push("</pre>".into());
    }
    lines
}

/// The nearest type around that is a class.
fn linked(p: &Printer<'_>, node: NodeId) -> NodeId {
    let mut at = p.types.same(node);
    for _ in 0..64 {
        match p.types.origin(at) {
            Origin::Inside(parent, _) if !p.is_class(at) => at = p.types.same(*parent),
            _ => break,
        }
    }
    at
}

/// A component as a class has it.
struct Component<'p> {
    id: FieldId,
    node: NodeId,
    name: &'p str,
    /// The name in the specification.
    said: &'p str,
    optional: bool,
}

struct Class<'p, 'm> {
    p: &'p Printer<'m>,
    node: NodeId,
    text: Text,
    is_root: bool,
}

impl Lines for Class<'_, '_> {
    fn text(&mut self) -> &mut Text {
        &mut self.text
    }
}

impl<'p> Class<'p, '_> {
    fn method(&mut self, head: impl AsRef<str>, body: impl AsRef<str>) {
        self.line("");
        self.open(head);
        self.line(body);
        self.close("}");
    }

    fn components(&self) -> Vec<Component<'p>> {
        let p = self.p;
        let shape = p.types.shape;
        let component = |(id, field): (FieldId, &tercet_plan::shape::Field)| Component {
            id,
            node: field.node,
            name: p.names.field(id),
            said: shape.name(field.name),
            optional: p.is_option(id),
        };
        shape.fields_of(self.node).map(component).collect()
    }

    /// The declared type of a component.
    fn held(&self, component: &Component<'_>) -> String {
        if component.optional {
            format!("@Nullable {}", self.p.boxed(component.node))
        } else {
            self.p.ty(component.node)
        }
    }

    fn is_list(&self, node: NodeId) -> bool {
        self.p.types.repr(node) == Repr::List && !self.p.is_class(self.p.types.same(node))
    }

    /// What a component's value is checked and kept as, given its expression; nothing for those kept as they are.
    fn checked(&self, component: &Component<'_>, value: &str) -> Option<String> {
        let name = component.name;
        match (self.is_list(component.node), component.optional) {
            (true, true) => Some(format!("Lists.copyOrNull({value}, {})", literal(name))),
            (true, false) => Some(format!("Lists.copy({value}, {})", literal(name))),
            (false, true) => None,
            (false, false) if self.p.is_primitive(component.node) => None,
            (false, false) => Some(format!("Objects.requireNonNull({value}, {})", literal(name))),
        }
    }

    /// What a root has: its type, and methods that call it.
    fn type_of_root(&mut self, name: &str) {
        if !self.is_root {
            return;
        }
        self.line("");
        self.text.doc(&["Decodes and encodes values.".into()]);
        self.line(format!("public static final Asn1Type<{name}> TYPE = {name}Codec.TYPE;"));
        self.root_methods(name, "public ");
    }

    fn root_methods(&mut self, name: &str, public: &str) {
        let modifier = if public.is_empty() { "default " } else { public };
        self.line("");
        let decodes = format!(
            "Decodes a value, which takes the whole input: see {{@link Asn1Type#decode({}, byte[])}}.",
            "Rules"
        );
        self.text.doc(&[
            decodes,
            String::new(),
            "@param rules the encoding rules".into(),
            "@param input the encoding".into(),
            "@return the value".into(),
            "@throws Asn1Exception if the input is not an encoding of a value".into(),
        ]);
        self.open(format!("{public}static {name} decode(Rules rules, byte[] input) throws Asn1Exception {{"));
        self.line("return TYPE.decode(rules, input);");
        self.close("}");
        self.line("");
        self.text.doc(&[
            "Encodes the value.".into(),
            String::new(),
            "@param rules the encoding rules".into(),
            "@return the encoding".into(),
            "@throws Asn1Exception if the value cannot be encoded by the rules".into(),
        ]);
        self.open(format!("{modifier}byte[] encode(Rules rules) throws Asn1Exception {{"));
        self.line("return TYPE.encode(rules, this);");
        self.close("}");
    }

    /// The name of a component in the specification, for Javadoc.
    fn parameter(component: &Component<'_>) -> String {
        let optional = if component.optional { ", or null if it is absent" } else { "" };
        format!("@param {} {}{optional}", component.name, comment(component.said))
    }

    fn record(&mut self) {
        let p = self.p;
        let name = p.names.ty(self.node).to_owned();
        let components = self.components();
        let additions = p.names.additions(self.node);
        let mut parts: Vec<String> = components
            .iter()
            .map(|component| format!("{} {}", self.held(component), component.name))
            .collect();
        parts.extend(additions.map(|name| format!("UnknownAdditions {name}")));
        self.header(&name, &parts);
        self.text.doc(&["Checks that what is required is there.".into()]);
        self.open(format!("public {name} {{"));
        for component in &components {
            if let Some(value) = self.checked(component, component.name) {
                let keeps = self.is_list(component.node);
                self.line(if keeps { format!("{} = {value};", component.name) } else { format!("{value};") });
            }
        }
        if let Some(name) = additions {
            self.line(format!("Objects.requireNonNull({name}, {});", literal(name)));
        }
        self.close("}");
        if let Some(unknown) = additions {
            self.line("");
            let mut doc = vec!["Makes a value without additions of later versions.".into(), String::new()];
            doc.extend(components.iter().map(Self::parameter));
            self.text.doc(&doc);
            let own = parts.len() - 1;
            self.open(format!("public {name}({}) {{", parts[..own].join(", ")));
            let mut names: Vec<&str> = components.iter().map(|component| component.name).collect();
            names.push("UnknownAdditions.NONE");
            _ = unknown;
            self.line(format!("this({});", names.join(", ")));
            self.close("}");
        }
        self.type_of_root(&name);
        self.close("}");
    }

    /// The first lines of a record.
    fn header(&mut self, name: &str, parts: &[String]) {
        let one = format!("public record {name}({}) implements Asn1Value {{", parts.join(", "));
        if one.len() <= 110 {
            return self.open(one);
        }
        self.line(format!("public record {name}("));
        for (at, part) in parts.iter().enumerate() {
            self.line(format!("        {part}{}", if at + 1 < parts.len() { "," } else { ")" }));
        }
        self.open("        implements Asn1Value {");
    }

    fn wrapper(&mut self, name: &str, ty: &str) {
        let is_list = ty.starts_with("List<");
        let is_primitive = ["boolean", "int", "long", "double"].contains(&ty);
        self.open(format!("public record {name}({ty} value) implements Asn1Value {{"));
        if !is_primitive {
            self.text.doc(&["Requires a value.".into()]);
            self.open(format!("public {name} {{"));
            self.line(if is_list {
                "value = Lists.copy(value, \"value\");"
            } else {
                "Objects.requireNonNull(value, \"value\");"
            });
            self.close("}");
        }
        self.type_of_root(name);
        self.close("}");
    }

    fn class(&mut self) {
        let p = self.p;
        let name = p.names.ty(self.node).to_owned();
        let components = self.components();
        let additions = p.names.additions(self.node).map(str::to_owned);
        let mut fields: Vec<String> = components.iter().map(|component| component.name.to_owned()).collect();
        fields.extend(additions.clone());
        self.open(format!("public final class {name} implements Asn1Value {{"));
        // What the decoder of this package fills, and nothing changes then.
        for component in &components {
            self.line(format!("@Nullable {} {};", p.boxed(component.node), component.name));
        }
        if let Some(name) = &additions {
            self.line(format!("UnknownAdditions {name} = UnknownAdditions.NONE;"));
        }
        self.method(format!("{name}() {{"), "// Filled by the decoder or the builder.");
        self.line("");
        self.open(format!("private {name}({name} other) {{"));
        fields.iter().for_each(|field| self.line(format!("this.{field} = other.{field};")));
        self.close("}");
        for component in &components {
            self.line("");
            let optional = if component.optional { "; null if it is absent" } else { "" };
            self.text.doc(&[
                format!("Returns {}{optional}.", comment(component.said)),
                String::new(),
                "@return the component".into(),
            ]);
            self.open(format!("public {} {}() {{", self.held(component), component.name));
            self.line(format!("return {};", component.name));
            self.close("}");
        }
        if let Some(name) = &additions {
            self.line("");
            self.text.doc(&[
                "Returns the extension additions of later versions.".into(),
                String::new(),
                "@return the additions".into(),
            ]);
            self.open(format!("public UnknownAdditions {name}() {{"));
            self.line(format!("return {name};"));
            self.close("}");
        }
        self.builders(&name);
        self.method("private Object[] all() {", format!("return new Object[] {{{}}};", fields.join(", ")));
        self.line("");
        self.line("@Override");
        self.open("public boolean equals(@Nullable Object other) {");
        self.line(format!("return other instanceof {name} value && Arrays.equals(all(), value.all());"));
        self.close("}");
        self.line("");
        self.line("@Override");
        self.open("public int hashCode() {");
        self.line("return Arrays.hashCode(all());");
        self.close("}");
        self.line("");
        self.text.doc(&["Returns the components that are there.".into()]);
        self.line("@Override");
        self.open("public String toString() {");
        self.line(format!("return {name}Codec.PLACE.show({}, all());", literal(&name)));
        self.close("}");
        self.type_of_root(&name);
        self.builder(&name, &components, additions.as_deref());
        self.close("}");
    }

    fn builders(&mut self, name: &str) {
        self.line("");
        self.text.doc(&[
            "Returns a builder without components.".into(),
            String::new(),
            "@return the builder".into(),
        ]);
        self.open("public static Builder builder() {");
        self.line(format!("return new Builder(new {name}());"));
        self.close("}");
        self.line("");
        self.text.doc(&[
            "Returns a builder with the components of this value.".into(),
            String::new(),
            "@return the builder".into(),
        ]);
        self.open("public Builder toBuilder() {");
        self.line(format!("return new Builder(new {name}(this));"));
        self.close("}");
        self.line("");
        self.text.doc(&[
            "Returns this value with other components.".into(),
            String::new(),
            "@param change sets them".into(),
            "@return the value".into(),
        ]);
        self.open(format!("public {name} with(Consumer<Builder> change) {{"));
        self.line("Builder builder = toBuilder();");
        self.line("change.accept(builder);");
        self.line("return builder.build();");
        self.close("}");
    }

    fn builder(&mut self, name: &str, components: &[Component<'_>], additions: Option<&str>) {
        self.line("");
        self.text.doc(&[format!("Makes values of {{@link {name}}}.")]);
        self.open("public static final class Builder {");
        self.line(format!("private {name} value;"));
        self.line("");
        self.open(format!("Builder({name} value) {{"));
        self.line("this.value = value;");
        self.close("}");
        for component in components {
            self.line("");
            let absent = if component.optional { "; null if it is absent" } else { "" };
            self.text.doc(&[
                format!("Sets {}{absent}.", comment(component.said)),
                String::new(),
                format!("@param {} the component", component.name),
                "@return this builder".into(),
            ]);
            let field = component.name;
            self.open(format!("public Builder {field}({} {field}) {{", self.held(component)));
            let checked = self.checked(component, field).unwrap_or_else(|| field.to_owned());
            self.line(format!("this.value.{field} = {checked};"));
            self.line("return this;");
            self.close("}");
        }
        if let Some(field) = additions {
            self.line("");
            self.text.doc(&[
                "Sets the extension additions of later versions.".into(),
                String::new(),
                format!("@param {field} the additions"),
                "@return this builder".into(),
            ]);
            self.open(format!("public Builder {field}(UnknownAdditions {field}) {{"));
            self.line(format!("this.value.{field} = Objects.requireNonNull({field}, {});", literal(field)));
            self.line("return this;");
            self.close("}");
        }
        self.line("");
        self.text.doc(&[
            "Returns the value. The builder may go on then, and does not change it.".into(),
            String::new(),
            "@return the value".into(),
            "@throws NullPointerException if a component is absent that is required".into(),
        ]);
        self.open(format!("public {name} build() {{"));
        for component in components {
            let field = component.name;
            if let Some(default) = self.p.default_value(component.id) {
                self.open(format!("if (value.{field} == null) {{"));
                self.line(format!("value.{field} = {default};"));
                self.close("}");
            } else if !component.optional {
                self.line(format!("Objects.requireNonNull(value.{field}, {});", literal(field)));
            }
        }
        self.line(format!("{name} built = value;"));
        self.line(format!("value = new {name}(built);"));
        self.line("return built;");
        self.close("}");
        self.close("}");
    }

    fn interface(&mut self, name: &str) {
        self.open(format!("public sealed interface {name} extends Asn1Value {{"));
        if self.is_root {
            self.text.doc(&["Decodes and encodes values.".into()]);
            self.line(format!("Asn1Type<{name}> TYPE = {name}Codec.TYPE;"));
            self.line("");
        }
        self.text.doc(&[
            "Returns the number of the chosen alternative in the specification.".into(),
            String::new(),
            "@return the number from 0, or -1 for one that is not known".into(),
        ]);
        self.line("int alternative();");
        if self.is_root {
            self.root_methods(name, "");
        }
    }

    /// A record for an alternative or a row.
    fn alternative(&mut self, name: &str, node: NodeId, number: usize, doc: &str, around: &str) {
        let p = self.p;
        let ty = p.spelled(node, false, &format!("{}.", p.package));
        self.line("");
        self.text.doc(&[doc.to_owned(), String::new(), "@param value the value".into()]);
        self.open(format!("record {name}({ty} value) implements {around} {{"));
        if !p.is_primitive(node) {
            self.text.doc(&["Requires a value.".into()]);
            self.open(format!("public {name} {{"));
            self.line(if self.is_list(node) {
                "value = Lists.copy(value, \"value\");"
            } else {
                "Objects.requireNonNull(value, \"value\");"
            });
            self.close("}");
            self.line("");
        }
        if p.types.repr(node) == Repr::Null {
            self.text.doc(&["Makes the value.".into()]);
            self.open(format!("public {name}() {{"));
            self.line("this(Null.NULL);");
            self.close("}");
            self.line("");
        }
        self.number(number as i64);
        self.close("}");
    }

    fn number(&mut self, number: i64) {
        self.line("@Override");
        self.open("public int alternative() {");
        self.line(format!("return {number};"));
        self.close("}");
    }

    fn choice(&mut self) {
        let p = self.p;
        let name = p.names.ty(self.node).to_owned();
        self.interface(&name);
        let shape = p.types.shape;
        for (number, (id, field)) in shape.fields_of(self.node).enumerate() {
            let doc = format!("{}.", comment(shape.name(field.name)));
            self.alternative(p.names.field(id), field.node, number, &doc, &name);
        }
        if shape.node(self.node).extensible {
            self.unknown(&name, "An alternative of a later version.", "UnknownAlternative");
        }
        self.close("}");
    }

    fn unknown(&mut self, around: &str, doc: &str, ty: &str) {
        self.line("");
        self.text.doc(&[doc.to_owned(), String::new(), "@param value what is known of it".into()]);
        self.open(format!("record Unknown({ty} value) implements {around} {{"));
        self.text.doc(&["Requires a value.".into()]);
        self.open("public Unknown {");
        self.line("Objects.requireNonNull(value, \"value\");");
        self.close("}");
        self.line("");
        self.number(-1);
        self.close("}");
    }

    fn open_type(&mut self, table: u32) {
        let p = self.p;
        let name = p.names.ty(self.node).to_owned();
        self.interface(&name);
        for (number, row) in (0..).zip(&p.types.shape.tables[table as usize].rows) {
            let keys: Vec<String> = row.keys.iter().map(key_text).collect();
            let keys = if keys.is_empty() { "every value".into() } else { keys.join(", ") };
            let doc = format!("For {}.", comment(&keys));
            self.alternative(p.names.row(self.node, number), row.node, number as usize, &doc, &name);
        }
        self.unknown(&name, "A complete encoding for which the table has no row.", "Octets");
        self.close("}");
    }
}

/// A key for people.
fn key_text(key: &Key) -> String {
    match key {
        Key::Int(number) => number.to_string(),
        Key::Octets(octets) => match tercet_runtime::types::OidRef::new(octets, 0) {
            Ok(oid) => oid.to_string(),
            Err(_) => format!("{octets:02X?}"),
        },
        Key::Alternative(_, inside) => key_text(inside),
    }
}
