//! Names in a language for ASN.1 names: the one place where they are made. How a word is spelled is the [`Style`] of the
//! language.

use crate::types::{Origin, Repr, Types};
use std::collections::{HashMap, HashSet};
use tercet_plan::{FieldId, NameId, NodeId};

/// How names are spelled in a language, and which it has for other things.
#[derive(Debug)]
pub(crate) struct Style {
    /// Type names that the printed text uses for other things.
    pub(crate) taken: &'static [&'static str],
    /// Spells the name of a type.
    pub(crate) ty: fn(&str) -> String,
    /// Spells the name of a component.
    pub(crate) component: fn(&str) -> String,
    /// Names of components that are not possible.
    pub(crate) taken_components: &'static [&'static str],
    /// Spells the name of an alternative or a row.
    pub(crate) alternative: fn(&str) -> String,
    /// Names of alternatives and rows that are not possible.
    pub(crate) taken_alternatives: &'static [&'static str],
    /// The name for a row that no key selects.
    pub(crate) other_row: &'static str,
    /// Spells the name of an item of an ENUMERATED.
    pub(crate) item: fn(&str) -> String,
    /// Names of items that are not possible.
    pub(crate) taken_items: &'static [&'static str],
    /// The name of the member for extension additions that are not known.
    pub(crate) additions: &'static str,
    /// Whether each type has a file: names that differ in case alone are not possible, nor those with this behind them. An
    /// alternative cannot have the name of its type then either.
    pub(crate) file_suffix: Option<&'static str>,
}

/// A type's name: `AMF-UE-NGAP-ID` is `AmfUeNgapId`.
pub(crate) fn upper_camel(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for word in words(name) {
        let mut characters = word.chars();
        if let Some(first) = characters.next() {
            out.extend(first.to_uppercase());
            out.extend(characters.flat_map(char::to_lowercase));
        }
    }
    if out.starts_with(|c: char| c.is_ascii_digit()) {
        out.insert(0, 'N');
    }
    match out.as_str() {
        "" => "Unnamed".into(),
        "Self" => "Self_".into(),
        _ => out,
    }
}

/// The words of a name: at hyphens, and where a capital begins one (`PDUSessionID`: `PDU`, `Session`, `ID`).
pub(crate) fn words(name: &str) -> impl Iterator<Item = &str> {
    name.split(|c: char| !c.is_ascii_alphanumeric())
        .flat_map(|part| {
            let octets = part.as_bytes();
            let mut starts = vec![0];
            for i in 1..octets.len() {
                let (before, here) = (octets[i - 1], octets[i]);
                let next_lower = octets.get(i + 1).is_some_and(u8::is_ascii_lowercase);
                if here.is_ascii_uppercase() && (!before.is_ascii_uppercase() || next_lower) {
                    starts.push(i);
                }
            }
            starts.push(octets.len());
            starts.windows(2).map(|pair| &part[pair[0]..pair[1]]).collect::<Vec<_>>()
        })
        .filter(|word| !word.is_empty())
}

/// Names that are all different.
#[derive(Debug, Default)]
pub(crate) struct Scope {
    taken: HashSet<String>,
    numbers: HashMap<String, u32>,
    file_suffix: Option<&'static str>,
}

impl Scope {
    /// A scope in which some names are taken.
    fn with(taken: &[&str], file_suffix: Option<&'static str>) -> Self {
        let mut scope = Self { file_suffix, ..Self::default() };
        for name in taken {
            scope.take(name);
        }
        scope
    }

    /// Takes a name, unless it is taken.
    fn take(&mut self, name: &str) -> bool {
        let Some(suffix) = self.file_suffix else { return self.taken.insert(name.to_owned()) };
        let (name, file) = (name.to_lowercase(), format!("{name}{suffix}").to_lowercase());
        if self.taken.contains(&name) || self.taken.contains(&file) {
            return false;
        }
        self.taken.extend([name, file]);
        true
    }

    /// Whether a name has been given.
    fn has(&self, name: &str) -> bool {
        match self.file_suffix {
            Some(_) => self.taken.contains(&name.to_lowercase()),
            None => self.taken.contains(name),
        }
    }

    /// The name, with a number behind it if it has been given before.
    pub(crate) fn unique(&mut self, name: String) -> String {
        if self.take(&name) {
            return name;
        }
        // Thousands of rows may have one name: each search goes on where the last one ended.
        let mut number = self.numbers.get(&name).copied().unwrap_or(2);
        loop {
            let other = format!("{name}{number}");
            number += 1;
            if self.take(&other) {
                self.numbers.insert(name, number);
                return other;
            }
        }
    }
}

/// The names of everything in a shape.
#[derive(Debug)]
pub(crate) struct Names {
    style: &'static Style,
    /// For nodes that have a type of their own.
    types: HashMap<NodeId, String>,
    /// Components and alternatives.
    fields: Vec<String>,
    /// The members for extension additions that are not known.
    additions: HashMap<NodeId, String>,
    /// Enumeration items by node and number.
    items: HashMap<(NodeId, i64), String>,
    /// Rows by open type and number.
    rows: HashMap<(NodeId, u32), String>,
    /// Roots that have the type of another name.
    aliases: HashMap<NameId, String>,
}

impl Names {
    pub(crate) fn new(types: &Types<'_>, style: &'static Style) -> Self {
        let mut names = Self {
            style,
            types: HashMap::new(),
            fields: vec![String::new(); types.shape.fields.len()],
            additions: HashMap::new(),
            items: HashMap::new(),
            rows: HashMap::new(),
            aliases: HashMap::new(),
        };
        let mut scope = Scope::with(style.taken, style.file_suffix);
        let is_taken = |name: &str| style.taken.contains(&name);
        for node in types.nodes() {
            if let Some(name) = types.choices.types.get(&node) {
                names.types.insert(node, scope.unique(name.clone()));
            }
        }
        // Names that the specification gives come before those that are made up.
        let (named, inside): (Vec<NodeId>, Vec<NodeId>) =
            types.nodes().partition(|node| matches!(types.origin(*node), Origin::Named(..)));
        for node in named {
            let Origin::Named(module, name, arguments) = types.origin(node) else { continue };
            if names.types.contains_key(&node) {
                continue;
            }
            let mut wanted = (style.ty)(name);
            if !arguments.is_empty() {
                wanted += &(style.ty)(arguments);
            }
            if scope.has(&wanted) && !is_taken(&wanted) {
                wanted = (style.ty)(module) + &wanted;
            }
            names.types.insert(node, scope.unique(wanted));
        }
        for root in types.aliases() {
            let said = types.shape.name(root.name);
            let (module, name) = said.rsplit_once('.').unwrap_or(("", said));
            let mut wanted = (style.ty)(name);
            if scope.has(&wanted) && !is_taken(&wanted) {
                wanted = (style.ty)(module) + &wanted;
            }
            names.aliases.insert(root.name, scope.unique(wanted));
        }
        for node in inside {
            let wanted = names.made_up(types, node, 0);
            names.types.insert(node, scope.unique(wanted));
        }
        for node in types.nodes() {
            names.parts(types, node);
        }
        names
    }

    /// A type's name.
    pub(crate) fn ty(&self, node: NodeId) -> &str {
        self.types.get(&node).map_or("", |name| name)
    }

    /// The name of a root that has the type of another name.
    pub(crate) fn alias(&self, root: NameId) -> &str {
        self.aliases.get(&root).map_or("", |name| name)
    }

    /// A component's or alternative's name.
    pub(crate) fn field(&self, field: FieldId) -> &str {
        &self.fields[field.index()]
    }

    /// The name of the member for extension additions that are not known, if there is one.
    pub(crate) fn additions(&self, node: NodeId) -> Option<&str> {
        self.additions.get(&node).map(String::as_str)
    }

    /// An enumeration item's name.
    pub(crate) fn item(&self, node: NodeId, value: i64) -> &str {
        self.items.get(&(node, value)).map_or("", |name| name)
    }

    /// The name of a row of a table.
    pub(crate) fn row(&self, node: NodeId, number: u32) -> &str {
        self.rows.get(&(node, number)).map_or("", |name| name)
    }

    /// The name of a type that is written inside of another, from that one's and the component's.
    fn made_up(&self, types: &Types<'_>, node: NodeId, depth: u32) -> String {
        if let Some(name) = self.types.get(&node) {
            return name.clone();
        }
        match types.origin(node) {
            Origin::Inside(parent, name) if depth < 64 => {
                let parent = types.same(*parent);
                self.made_up(types, parent, depth + 1) + &(self.style.ty)(name)
            }
            Origin::Named(_, name, _) | Origin::Shared(name) => (self.style.ty)(name),
            _ => "Associated".into(),
        }
    }

    fn parts(&mut self, types: &Types<'_>, node: NodeId) {
        let (shape, style) = (types.shape, self.style);
        // The type itself is not in the way of what is inside of it where each has a file.
        let own: Vec<&str> = style.file_suffix.iter().map(|_| self.types[&node].as_str()).collect();
        let alternatives = [style.taken_alternatives, &own[..]].concat();
        let insensitive = style.file_suffix.map(|_| "$");
        match types.repr(node) {
            Repr::Struct => {
                let mut scope = Scope::with(style.taken_components, None);
                for (id, field) in shape.fields_of(node) {
                    let chosen = types.choices.fields.get(&id).cloned();
                    let name = chosen.unwrap_or_else(|| (style.component)(shape.name(field.name)));
                    self.fields[id.index()] = scope.unique(name);
                }
                if types.keeps_additions(node) {
                    self.additions.insert(node, scope.unique(style.additions.into()));
                }
            }
            Repr::Choice => {
                let mut scope = Scope::with(&alternatives, insensitive);
                for (id, field) in shape.fields_of(node) {
                    let chosen = types.choices.fields.get(&id).cloned();
                    let name = chosen.unwrap_or_else(|| (style.alternative)(shape.name(field.name)));
                    self.fields[id.index()] = scope.unique(name);
                }
            }
            Repr::Enumerated => {
                let mut scope = Scope::with(style.taken_items, None);
                for item in shape.items_of(node) {
                    let name = scope.unique((style.item)(shape.name(item.name)));
                    self.items.insert((node, item.value), name);
                }
            }
            Repr::Table(table) => {
                let rows = [&[style.other_row], &own[..]].concat();
                let mut scope = Scope::with(&rows, insensitive);
                for (number, row) in (0..).zip(&shape.tables[table as usize].rows) {
                    let inside = types.same(row.node);
                    let name = match types.origin(inside) {
                        Origin::Named(_, name, arguments) if arguments.is_empty() => {
                            (style.alternative)(name)
                        }
                        _ => match row.type_name.map(|name| shape.name(name)) {
                            Some(name) => (style.alternative)(name.rsplit('.').next().unwrap_or(name)),
                            None => (style.alternative)(shape.node(inside).kind.name()),
                        },
                    };
                    self.rows.insert((node, number), scope.unique(name));
                }
            }
            _ => {}
        }
    }
}
