//! A specification as pages of HTML: a page for each module, with each definition as it is written, its names as links, and for each
//! type its tags, effective constraints, components, sizes and users.
//!
//! Pages need no scripts; one filters the list of all types where scripts run. Everything that comes from a text is escaped.

mod html;

use crate::{Colour, Coloured, Definition, Kind, Snapshot};
use html::{Page, escaped};
use std::collections::HashMap;
use std::fmt::Write as _;
use tercet_model::constraints::Visibility;
use tercet_model::ir::{Component, Presence, TypeId, TypeKind, Value};
use tercet_model::keyword;
use tercet_schema::Rules;
use tercet_schema::dynamic::sizes::{Sizes, all_sizes};
use tercet_syntax::Span;
use tercet_syntax::ast::{AssignmentKind, Module, TagDefault};

/// Users of a definition that are listed.
const USERS: usize = 200;
/// Users that are shown without a click.
const FEW_USERS: usize = 8;
/// Characters of a DEFAULT that are shown.
const DEFAULT: usize = 60;

/// The style sheet.
const STYLE: &str = include_str!("style.css");
/// Filters the list of all types.
const SEARCH: &str = include_str!("search.js");

/// What pages have.
#[derive(Clone, Debug)]
pub struct Options {
    /// The title of the first page.
    pub title: String,
    /// The encoding rules whose sizes are shown.
    pub rules: Vec<Rules>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            title: "ASN.1 modules".to_owned(),
            rules: vec![Rules::Ber, Rules::Aper, Rules::Uper, Rules::Oer],
        }
    }
}

/// Makes the pages, and hands over each with its file name. No more than one page is in memory.
///
/// # Errors
/// Those of `write`.
pub fn pages<E>(
    snapshot: &Snapshot,
    options: &Options,
    mut write: impl FnMut(&str, &str) -> Result<(), E>,
) -> Result<(), E> {
    let site = Site::new(snapshot, options);
    write("style.css", STYLE)?;
    write("search.js", SEARCH)?;
    write("index.html", &site.index())?;
    write("types.html", &site.types())?;
    for number in 0..snapshot.schema().modules().len() {
        write(&site.files[number], &site.module(number))?;
    }
    Ok(())
}

struct Site<'a> {
    snapshot: &'a Snapshot,
    options: &'a Options,
    /// The file of each module.
    files: Vec<String>,
    /// The assignments, in the order of the text.
    assignments: Vec<&'a Definition>,
    /// The sizes of each type by each of the rules.
    sizes: HashMap<TypeId, Vec<Option<Sizes>>>,
}

impl<'a> Site<'a> {
    fn new(snapshot: &'a Snapshot, options: &'a Options) -> Self {
        let mut used = HashMap::new();
        let files = snapshot.schema().modules().iter().map(|module| {
            let name: String = module
                .name
                .text
                .chars()
                .map(|it| if it.is_ascii_alphanumeric() { it } else { '-' })
                .collect();
            // Two releases may be in one folder. Names that differ in their letters' case are one name on some systems.
            let count = used.entry(name.to_lowercase()).or_insert(0);
            *count += 1;
            let reserved = matches!(name.as_str(), "index" | "types") || *count > 1;
            if reserved { format!("{name}-{count}.html") } else { format!("{name}.html") }
        });
        let assignments = snapshot.definitions().iter().filter(|it| it.depth == 1 && it.kind != Kind::Module);
        Self {
            snapshot,
            options,
            files: files.collect(),
            assignments: assignments.collect(),
            sizes: sizes(snapshot, options),
        }
    }

    /// The assignment around a place.
    fn around(&self, at: u32) -> Option<&'a Definition> {
        let behind = self.assignments.partition_point(|it| it.whole.lo <= at);
        self.assignments[..behind].last().copied().filter(|it| at <= it.whole.hi)
    }

    /// The address of the assignment around a definition, or of its module.
    fn address(&self, definition: Span) -> Option<String> {
        if let Some(it) = self.around(definition.lo) {
            return Some(format!("{}#{}", self.files.get(it.module)?, self.anchor(it)));
        }
        let module = self.snapshot.definition(definition).filter(|it| it.kind == Kind::Module)?;
        self.files.get(module.module).cloned()
    }

    fn anchor(&self, definition: &Definition) -> String {
        escaped(self.snapshot.text(definition.name)).into_owned()
    }

    fn of_module(&self, number: usize) -> impl Iterator<Item = &'a Definition> {
        self.assignments.iter().copied().filter(move |it| it.module == number)
    }

    fn index(&self) -> String {
        let mut page = Page::new(&self.options.title);
        page.push("<nav><ul><li><a href=\"types.html\">All types</a></li></ul></nav><main>");
        page.heading(&self.options.title);
        page.push("<table><thead><tr><th>Module</th><th>Object identifier</th><th>Tags</th><th>Types</th><th>Other definitions</th></tr></thead><tbody>");
        for (number, module) in self.snapshot.schema().modules().iter().enumerate() {
            let types = self.of_module(number).filter(|it| it.kind == Kind::Type).count();
            let others = self.of_module(number).count() - types;
            page.push(&format!(
                "<tr><td><a href=\"{}\">{}</a></td><td><code>{}</code></td><td>{}</td><td class=\"n\">{types}</td><td class=\"n\">{others}</td></tr>",
                self.files[number],
                escaped(&module.name.text),
                escaped(&self.oid(module)),
                tag_default(module.tags),
            ));
        }
        page.push("</tbody></table></main>");
        page.finish()
    }

    /// The object identifier of a module as it is written, on one line.
    fn oid(&self, module: &Module) -> String {
        let text = module.oid.as_ref().map_or("", |oid| self.snapshot.text(oid.span));
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    fn types(&self) -> String {
        let mut page = Page::new("All types");
        page.push("<nav><ul><li><a href=\"index.html\">All modules</a></li></ul></nav><main>");
        page.heading("All types");
        page.push(
            "<input id=\"search\" type=\"search\" placeholder=\"Name\" aria-label=\"Name of a type\" hidden>",
        );
        let mut all: Vec<&Definition> =
            self.assignments.iter().copied().filter(|it| it.kind == Kind::Type).collect();
        all.sort_by_key(|it| self.snapshot.text(it.name).to_lowercase());
        page.push("<ul id=\"types\" class=\"uses\">");
        for it in all {
            let module =
                self.snapshot.schema().modules().get(it.module).map_or("", |module| &module.name.text);
            page.push(&format!(
                "<li><a href=\"{}#{}\">{}</a> <span class=\"dim\">{}</span></li>\n",
                self.files[it.module],
                self.anchor(it),
                escaped(self.snapshot.text(it.name)),
                escaped(module),
            ));
        }
        page.push("</ul><script src=\"search.js\" defer></script></main>");
        page.finish()
    }

    fn module(&self, number: usize) -> String {
        let module = &self.snapshot.schema().modules()[number];
        let name = &module.name.text;
        let mut page = Page::new(name);
        self.contents(number, name, &mut page);
        page.push("<main>");
        page.heading(name);
        let file = self.snapshot.sources().file(self.snapshot.sources().file_of(module.span.lo));
        let file_name = file.name.rsplit(['/', '\\']).next().unwrap_or(&file.name);
        page.push(&format!(
            "<p class=\"meta\"><code>{}</code> {} TAGS{} · <code>{}</code></p>",
            escaped(&self.oid(module)),
            tag_default(module.tags),
            if module.extensibility_implied { " EXTENSIBILITY IMPLIED" } else { "" },
            escaped(file_name),
        ));
        let colours = self.snapshot.colours(self.snapshot.sources().file_of(module.span.lo));
        push_comment(&self.comments(module.span.lo, &colours), &mut page);
        self.imports(module, &mut page);
        for it in self.of_module(number) {
            self.definition(module, it, &colours, &mut page);
        }
        page.push("</main>");
        page.finish()
    }

    /// The list of definitions beside the text.
    fn contents(&self, number: usize, name: &str, page: &mut Page) {
        page.push("<nav><ul><li><a href=\"index.html\">All modules</a></li><li><a href=\"types.html\">All types</a></li></ul>");
        page.push(&format!("<strong>{}</strong>", escaped(name)));
        for (heading, kinds) in [
            ("Types", &[Kind::Type][..]),
            ("Values", &[Kind::Value]),
            ("Sets", &[Kind::Set]),
            ("Classes", &[Kind::Class, Kind::Macro]),
        ] {
            let mut list = self.of_module(number).filter(|it| kinds.contains(&it.kind)).peekable();
            if list.peek().is_none() {
                continue;
            }
            page.push(&format!("<h2>{heading}</h2><ul>"));
            for it in list {
                page.push(&format!(
                    "<li><a href=\"#{}\">{}</a></li>",
                    self.anchor(it),
                    escaped(self.snapshot.text(it.name))
                ));
            }
            page.push("</ul>");
        }
        page.push("</nav>");
    }

    fn imports(&self, module: &Module, page: &mut Page) {
        if module.imports.is_empty() {
            return;
        }
        page.push("<details><summary>Imports</summary><table><tbody>");
        for import in &module.imports {
            let link = |span: Span| {
                let definition = self.snapshot.name_at(span.lo).filter(|name| name.span == span);
                let address = definition.and_then(|name| self.address(name.definition));
                linked(self.snapshot.text(span), address.as_deref())
            };
            let symbols: Vec<String> = import.symbols.iter().map(|symbol| link(symbol.span)).collect();
            page.push(&format!(
                "<tr><td>{}</td><td>{}</td></tr>",
                link(import.module.span),
                symbols.join(", ")
            ));
        }
        page.push("</tbody></table></details>");
    }

    /// The comments in front of a place, without their marks.
    fn comments(&self, at: u32, colours: &[Coloured]) -> Vec<String> {
        let before = &colours[..colours.partition_point(|it| it.span.lo < at)];
        let comments = before.iter().rev().take_while(|it| it.colour == Colour::Comment);
        self.snapshot.near_comments(comments.map(|it| it.span), at)
    }

    fn definition(&self, module: &Module, it: &Definition, colours: &[Coloured], page: &mut Page) {
        let name = self.snapshot.text(it.name);
        let assignment = it.assignment.and_then(|at| module.assignments.get(at));
        let is_parameterized = assignment.is_some_and(|it| !it.parameters.is_empty());
        let ty = if it.kind == Kind::Type && !is_parameterized { self.type_of(it, name) } else { None };
        let kind = match (it.kind, ty) {
            (_, Some(ty)) => {
                keyword(&self.snapshot.schema().model().ty(self.snapshot.schema().model().base(ty)).kind)
            }
            (Kind::Type, None) => "parameterized type",
            (Kind::Value, _) => "value",
            (Kind::Set, _) => "set",
            (Kind::Class, _) => "CLASS",
            _ => "MACRO",
        };
        let anchor = self.anchor(it);
        page.push(&format!(
            "<section id=\"{anchor}\"><h2><a href=\"#{anchor}\">{}</a><span class=\"kind\">{kind}</span></h2>",
            escaped(name)
        ));
        push_comment(&self.comments(it.whole.lo, colours), page);
        page.push("<pre>");
        self.source(it.whole, colours, page);
        page.push("</pre>");
        if let Some(ty) = ty {
            self.facts(ty, page);
        }
        if it.kind == Kind::Value
            && let Some(AssignmentKind::Value { .. }) = assignment.map(|it| &it.kind)
        {
            self.value(module, name, page);
        }
        self.users(it, page);
        page.push("</section>\n");
    }

    fn type_of(&self, it: &Definition, name: &str) -> Option<TypeId> {
        let model = self.snapshot.schema().model();
        // Modules of the model and of the texts are in the same order.
        let module = model
            .modules
            .get(it.module)
            .filter(|module| module.types.iter().any(|(known, _)| known == name))?;
        module.types.iter().find(|(known, _)| known == name).map(|(_, id)| *id)
    }

    /// A text with its names as links.
    fn source(&self, whole: Span, colours: &[Coloured], page: &mut Page) {
        let occurrences = &self.snapshot.schema().model().occurrences;
        let mut at = whole.lo;
        let first = colours.partition_point(|it| it.span.lo < whole.lo);
        for it in colours[first..].iter().take_while(|it| it.span.hi <= whole.hi) {
            if it.span.lo < at {
                continue;
            }
            page.push(&escaped(self.snapshot.text(Span::new(at, it.span.lo))));
            let text = escaped(self.snapshot.text(it.span));
            at = it.span.hi;
            match it.colour {
                Colour::Keyword => page.push(&format!("<span class=\"w\">{text}</span>")),
                Colour::Comment => page.push(&format!("<span class=\"c\">{text}</span>")),
                Colour::String | Colour::Number => page.push(&format!("<span class=\"s\">{text}</span>")),
                Colour::Name(_) if it.is_definition => page.push(&format!("<span class=\"d\">{text}</span>")),
                Colour::Name(_) => {
                    let used = occurrences.binary_search_by_key(&it.span, |used| used.at).ok();
                    let address = used.and_then(|index| self.address(occurrences[index].definition));
                    match address {
                        Some(address) => page.push(&format!("<a href=\"{address}\">{text}</a>")),
                        None => page.push(&text),
                    }
                }
            }
        }
        page.push(&escaped(self.snapshot.text(Span::new(at, whole.hi))));
    }

    /// What the model knows of a type: tags, constraint, components, sizes.
    fn facts(&self, ty: TypeId, page: &mut Page) {
        let model = self.snapshot.schema().model();
        let mut rows = String::new();
        let tags = self.tags(ty);
        if !tags.is_empty() {
            rows.push_str(&format!("<tr><th>Tags</th><td><code>{}</code></td></tr>", escaped(&tags)));
        }
        let constraint = crate::hover::shown_constraint(&model.effective(ty, Visibility::All));
        if !constraint.is_empty() {
            rows.push_str(&format!(
                "<tr><th>Effective constraint</th><td><code>{}</code></td></tr>",
                escaped(&constraint)
            ));
        }
        if !rows.is_empty() {
            page.push(&format!("<table><tbody>{rows}</tbody></table>"));
        }
        if let TypeKind::Sequence(list) | TypeKind::Set(list) | TypeKind::Choice(list) =
            &model.ty(model.base(ty)).kind
            && !list.list.is_empty()
            && matches!(model.ty(ty).kind, TypeKind::Sequence(_) | TypeKind::Set(_) | TypeKind::Choice(_))
        {
            page.push("<table><thead><tr><th>Name</th><th>Type</th><th>Tags</th><th>Presence</th><th>Effective constraint</th></tr></thead><tbody>");
            for component in &list.list {
                self.component(component, page);
            }
            page.push("</tbody></table>");
        }
        self.sizes(ty, page);
    }

    fn component(&self, component: &Component, page: &mut Page) {
        let model = self.snapshot.schema().model();
        let written = model.ty(component.ty);
        let ty = match &written.kind {
            TypeKind::SequenceOf(_, element) | TypeKind::SetOf(_, element) => {
                format!("{} {}", keyword(&written.kind), self.type_name(*element))
            }
            _ => self.type_name(component.ty),
        };
        let presence = match &component.presence {
            Presence::Mandatory => String::new(),
            Presence::Optional => "OPTIONAL".to_owned(),
            Presence::Default(value) => {
                let text: String = model.notation(value).to_string().chars().take(DEFAULT).collect();
                format!("DEFAULT <code>{}</code>", escaped(&text))
            }
        };
        let addition = match component.place {
            tercet_model::ir::Place::Root => "",
            _ => " <span class=\"dim\">after ...</span>",
        };
        let constraint = crate::hover::shown_constraint(&model.effective(component.ty, Visibility::All));
        page.push(&format!(
            "<tr><td><code>{}</code>{addition}</td><td>{ty}</td><td><code>{}</code></td><td>{presence}</td><td><code>{}</code></td></tr>",
            escaped(&component.name),
            escaped(&self.tags(component.ty)),
            escaped(&constraint),
        ));
    }

    /// The name of a type as a link, or its keyword.
    fn type_name(&self, ty: TypeId) -> String {
        let model = self.snapshot.schema().model();
        let written = model.ty(ty);
        let TypeKind::Reference(to) = written.kind else {
            return escaped(keyword(&written.kind)).into_owned();
        };
        let named = model.ty(to);
        let name = named.name.as_ref().map_or_else(|| keyword(&named.kind), |name| &name.name);
        linked(name, self.address(named.span).as_deref())
    }

    fn tags(&self, ty: TypeId) -> String {
        let tags = self.snapshot.schema().model().tags(ty);
        tags.iter()
            .map(|(class, number)| crate::hover::shown_tag(*class, *number))
            .collect::<Vec<_>>()
            .join(" ")
    }

    fn sizes(&self, ty: TypeId, page: &mut Page) {
        let Some(sizes) = self.sizes.get(&ty) else { return };
        page.push("<table><thead><tr><th>Size</th>");
        for rules in &self.options.rules {
            page.push(&format!("<th>{}</th>", escaped(rules.label())));
        }
        page.push("</tr></thead><tbody>");
        for (label, most) in [("least", false), ("most", true)] {
            page.push(&format!("<tr><td>{label}</td>"));
            for (rules, sizes) in self.options.rules.iter().zip(sizes) {
                let has_bits = matches!(rules.basic(), Rules::Aper | Rules::Uper);
                let text = match sizes {
                    None => "none".to_owned(),
                    Some(sizes) if most => {
                        sizes.most.map_or_else(|| "no limit".to_owned(), |bits| size(bits, has_bits))
                    }
                    Some(sizes) => size(sizes.least, has_bits),
                };
                page.push(&format!("<td class=\"n\">{text}</td>"));
            }
            page.push("</tr>");
        }
        page.push("</tbody></table>");
    }

    fn value(&self, module: &Module, name: &str, page: &mut Page) {
        let model = self.snapshot.schema().model();
        let values = model.modules.iter().filter(|it| it.name == module.name.text).flat_map(|it| &it.values);
        let found = values.into_iter().find(|(known, ..)| known == name);
        if let Some((_, _, value)) = found.filter(|(_, _, value)| !matches!(value, Value::Error)) {
            let text: String = model.notation(value).to_string().chars().take(200).collect();
            page.push(&format!("<p class=\"meta\">Value <code>{}</code></p>", escaped(&text)));
        }
    }

    /// The assignments in which a definition is used.
    fn users(&self, it: &Definition, page: &mut Page) {
        let mut users: Vec<&Definition> = self
            .snapshot
            .uses(it.name)
            .iter()
            .filter_map(|used| self.around(used.at.lo))
            .filter(|user| user.name != it.name)
            .collect();
        users.dedup_by_key(|user| user.name);
        if users.is_empty() {
            return;
        }
        let open = if users.len() <= FEW_USERS { " open" } else { "" };
        page.push(&format!("<details{open}><summary>Used by {}</summary><ul class=\"uses\">", users.len()));
        for user in users.iter().take(USERS) {
            let name = escaped(self.snapshot.text(user.name));
            let module = match user.module == it.module {
                true => String::new(),
                false => {
                    let module = self.snapshot.schema().modules().get(user.module);
                    format!(
                        " <span class=\"dim\">{}</span>",
                        escaped(module.map_or("", |module| &module.name.text))
                    )
                }
            };
            let file = if user.module == it.module { "" } else { self.files[user.module].as_str() };
            page.push(&format!("<li><a href=\"{file}#{name}\">{name}</a>{module}</li>"));
        }
        if users.len() > USERS {
            page.push(&format!("<li class=\"dim\">and {} more</li>", users.len() - USERS));
        }
        page.push("</ul></details>");
    }
}

/// The sizes of all types.
fn sizes(snapshot: &Snapshot, options: &Options) -> HashMap<TypeId, Vec<Option<Sizes>>> {
    let model = snapshot.schema().model();
    let roots = tercet_schema::lower::all_roots(model);
    let mut sizes: HashMap<TypeId, Vec<Option<Sizes>>> = HashMap::new();
    // One plan at a time: those of large specifications have hundreds of megabytes.
    for rules in &options.rules {
        let (plan, _) = tercet_schema::lower::plan(model, rules.plan_rules(), &roots);
        let all = all_sizes(&plan, *rules);
        for (root, id) in plan.shape.roots.iter().zip(&roots) {
            sizes.entry(*id).or_default().push(all.get(root.node.index()).copied().flatten());
        }
    }
    sizes
}

fn size(bits: u64, has_bits: bool) -> String {
    let bytes = bits.div_ceil(8).max(1);
    let unit = if bytes == 1 { "byte" } else { "bytes" };
    if has_bits {
        format!("{bytes} {unit} <span class=\"dim\">{bits} bits</span>")
    } else {
        format!("{bytes} {unit}")
    }
}

const fn tag_default(tags: TagDefault) -> &'static str {
    match tags {
        TagDefault::Explicit => "EXPLICIT",
        TagDefault::Implicit => "IMPLICIT",
        TagDefault::Automatic => "AUTOMATIC",
    }
}

fn linked(text: &str, address: Option<&str>) -> String {
    match address {
        Some(address) => format!("<a href=\"{address}\">{}</a>", escaped(text)),
        None => escaped(text).into_owned(),
    }
}

fn push_comment(lines: &[String], page: &mut Page) {
    let text = lines.iter().map(|line| escaped(line)).collect::<Vec<_>>().join("<br>");
    if !text.is_empty() {
        let mut paragraph = String::new();
        _ = write!(paragraph, "<p>{text}</p>");
        page.push(&paragraph);
    }
}
