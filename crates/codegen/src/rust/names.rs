//! Rust names for ASN.1 names: the one place where they are made.

use crate::types::{Origin, Repr, Types};
use std::collections::{HashMap, HashSet};
use tercet_plan::{FieldId, NameId, NodeId};

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

/// A component's name: `iE-Extensions` is `i_e_extensions`.
pub(crate) fn snake(name: &str) -> String {
    let mut out = words(name).collect::<Vec<_>>().join("_").to_lowercase();
    if out.starts_with(|c: char| c.is_ascii_digit()) {
        out.insert(0, '_');
    }
    match out.as_str() {
        "self" | "super" | "crate" | "_" | "" => out + "_",
        word if KEYWORDS.contains(&word) => format!("r#{out}"),
        _ => out,
    }
}

const KEYWORDS: &[&str] = &[
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "do", "dyn", "else",
    "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let", "loop", "macro",
    "match", "mod", "move", "mut", "override", "priv", "pub", "ref", "return", "static", "struct", "trait",
    "true", "try", "type", "typeof", "unsafe", "unsized", "use", "virtual", "where", "while", "yield",
];

/// Whether a name has to be written with `r#`.
pub(crate) fn is_keyword(name: &str) -> bool {
    KEYWORDS.contains(&name) || ["self", "Self", "super", "crate"].contains(&name)
}

/// Type names that the printed text uses for other things.
const TAKEN: &[&str] = &[
    "Self",
    "Box",
    "Vec",
    "Option",
    "Some",
    "None",
    "Ok",
    "Err",
    "Result",
    "Error",
    "ErrorKind",
    "String",
    "Tag",
    "Integer",
    "Octets",
    "Text",
    "BitString",
    "FixedBits",
    "ObjectIdentifier",
    "RelativeObjectIdentifier",
    "Contained",
    "UnknownAlternative",
    "Key",
    "Notation",
    "SequenceOf",
    "UnknownAdditions",
    "ber",
    "oer",
    "per",
    "fmt",
    "codec",
];

/// The words of a name: at hyphens, and where a capital begins one (`PDUSessionID`: `PDU`, `Session`, `ID`).
fn words(name: &str) -> impl Iterator<Item = &str> {
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
pub(crate) struct Scope(HashSet<String>, HashMap<String, u32>);

impl Scope {
    /// The name, with a number behind it if it has been given before.
    pub(crate) fn unique(&mut self, name: String) -> String {
        if self.0.insert(name.clone()) {
            return name;
        }
        // Thousands of rows may have one name: each search goes on where the last one ended.
        let number = self.1.entry(name.clone()).or_insert(2);
        loop {
            let other = format!("{name}{number}");
            *number += 1;
            if self.0.insert(other.clone()) {
                return other;
            }
        }
    }
}

/// The names of everything in a shape.
#[derive(Debug)]
pub(crate) struct Names {
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
    pub(crate) fn new(types: &Types<'_>) -> Self {
        let mut names = Self {
            types: HashMap::new(),
            fields: vec![String::new(); types.shape.fields.len()],
            additions: HashMap::new(),
            items: HashMap::new(),
            rows: HashMap::new(),
            aliases: HashMap::new(),
        };
        let mut scope = Scope(TAKEN.iter().map(|name| (*name).to_owned()).collect(), HashMap::new());
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
            let mut wanted = upper_camel(name);
            if !arguments.is_empty() {
                wanted += &upper_camel(arguments);
            }
            if scope.0.contains(&wanted) && !TAKEN.contains(&wanted.as_str()) {
                wanted = upper_camel(module) + &wanted;
            }
            names.types.insert(node, scope.unique(wanted));
        }
        for root in types.aliases() {
            let said = types.shape.name(root.name);
            let (module, name) = said.rsplit_once('.').unwrap_or(("", said));
            let mut wanted = upper_camel(name);
            if scope.0.contains(&wanted) && !TAKEN.contains(&wanted.as_str()) {
                wanted = upper_camel(module) + &wanted;
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
                self.made_up(types, parent, depth + 1) + &upper_camel(name)
            }
            Origin::Named(_, name, _) | Origin::Shared(name) => upper_camel(name),
            _ => "Associated".into(),
        }
    }

    fn parts(&mut self, types: &Types<'_>, node: NodeId) {
        let shape = types.shape;
        match types.repr(node) {
            Repr::Struct => {
                let mut scope = Scope::default();
                for (id, field) in shape.fields_of(node) {
                    let chosen = types.choices.fields.get(&id).cloned();
                    let name = chosen.unwrap_or_else(|| snake(shape.name(field.name)));
                    self.fields[id.index()] = scope.unique(name);
                }
                if types.keeps_additions(node) {
                    self.additions.insert(node, scope.unique("extension_additions".into()));
                }
            }
            Repr::Choice => {
                let mut scope = Scope(["Unknown".to_owned()].into(), HashMap::new());
                for (id, field) in shape.fields_of(node) {
                    let chosen = types.choices.fields.get(&id).cloned();
                    let name = chosen.unwrap_or_else(|| upper_camel(shape.name(field.name)));
                    self.fields[id.index()] = scope.unique(name);
                }
            }
            Repr::Enumerated => {
                let mut scope =
                    Scope(["Unknown".to_owned(), "UnknownAddition".to_owned()].into(), HashMap::new());
                for item in shape.items_of(node) {
                    let name = scope.unique(upper_camel(shape.name(item.name)));
                    self.items.insert((node, item.value), name);
                }
            }
            Repr::Table(table) => {
                let mut scope = Scope(["Other".to_owned()].into(), HashMap::new());
                for (number, row) in (0..).zip(&shape.tables[table as usize].rows) {
                    let inside = types.same(row.node);
                    let name = match types.origin(inside) {
                        Origin::Named(_, name, arguments) if arguments.is_empty() => upper_camel(name),
                        _ => match row.type_name.map(|name| shape.name(name)) {
                            Some(name) => upper_camel(name.rsplit('.').next().unwrap_or(name)),
                            None => upper_camel(shape.node(inside).kind.name()),
                        },
                    };
                    self.rows.insert((node, number), scope.unique(name));
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        for (name, camel, snake_case) in [
            ("AMF-UE-NGAP-ID", "AmfUeNgapId", "amf_ue_ngap_id"),
            ("iE-Extensions", "IEExtensions", "i_e_extensions"),
            ("PDUSessionID", "PduSessionId", "pdu_session_id"),
            ("type", "Type", "r#type"),
            ("self", "Self_", "self_"),
            ("rrc-Setup-r16", "RrcSetupR16", "rrc_setup_r16"),
            ("n1", "N1", "n1"),
            ("T61String", "T61String", "t61_string"),
        ] {
            assert_eq!((upper_camel(name), snake(name)), (camel.to_owned(), snake_case.to_owned()), "{name}");
        }
    }
}
