//! Paths of columns with `*` in them.

use crate::layout::{Layout, ROOT, What};
use arrow_schema::DataType;
use std::fmt;
use tercet_dynamic::text::join_path;
use tercet_dynamic::{NodeId, Shape};
use tercet_plan::Kind;

/// Paths that patterns may stand for altogether.
const PATHS: usize = 20_000;
/// Components that are looked at for them.
const LOOKS: usize = 1_000_000;
/// Components inside one another on a path.
const STEPS: usize = 48;

/// Why the paths of a pattern cannot be told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PatternError {
    /// No column matches the pattern.
    NoColumn(String),
    /// More than 20,000 columns match the patterns, or finding them takes too long.
    TooMany(String),
}

impl fmt::Display for PatternError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoColumn(pattern) => write!(f, "unknown column `{pattern}`: no column matches it"),
            Self::TooMany(pattern) => write!(f, "`{pattern}` matches too many columns"),
        }
    }
}

impl std::error::Error for PatternError {}

/// The paths of the components of a type that patterns stand for, in the order of the patterns and of the type: in a name, `*`
/// is any characters; `**` is any number of names. What has no `*` stays as it is.
///
/// # Errors
/// When there is nothing of a pattern, or too much.
pub fn expand(shape: &Shape, root: NodeId, patterns: &[String]) -> Result<Vec<String>, PatternError> {
    let mut search = Search { shape, path: Vec::new(), inside: Vec::new(), found: Vec::new(), looks: 0 };
    for pattern in patterns {
        if !pattern.contains('*') {
            search.found.push(pattern.clone());
            continue;
        }
        let clean = pattern.replace("[]", "");
        let before = search.found.len();
        search.below(root, &clean.split('.').collect::<Vec<_>>());
        if search.found.len() > PATHS || search.looks > LOOKS {
            return Err(PatternError::TooMany(pattern.clone()));
        }
        if search.found.len() == before {
            return Err(PatternError::NoColumn(pattern.clone()));
        }
    }
    Ok(search.found)
}

/// A column of values, by the path that [`crate::Options::columns`] has for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnPath {
    /// The names of the components, with dots between them.
    pub path: String,
    /// Its type; that of elements, if it is inside of lists.
    pub data_type: DataType,
    /// Lists around it.
    pub lists: u32,
}

impl Layout {
    /// The columns of values, by their paths; what is inside of structs and lists is a column of its own here.
    pub fn leaves(&self) -> Vec<ColumnPath> {
        let mut found = Vec::new();
        self.each_path(&mut |path, data_type, lists| {
            // The offset beside a time comes with it, and has no path.
            if !matches!(data_type, DataType::Struct(_) | DataType::Int16) {
                found.push(ColumnPath { path: path.to_owned(), data_type: data_type.clone(), lists });
            }
        });
        found
    }

    /// The paths of all columns, those with parts included.
    pub(crate) fn paths(&self) -> Vec<String> {
        let mut found = Vec::new();
        self.each_path(&mut |path, _, _| found.push(path.to_owned()));
        found
    }

    /// Calls `each` with the path, the type and the number of lists around of each column of the components.
    fn each_path(&self, each: &mut dyn FnMut(&str, &DataType, u32)) {
        let keys = self.options.keys.names().len() + self.options.elements.len();
        // Columns inside of columns wait here, the next one last: nesting has no bound that the stack would know of.
        let fields = self.nested().fields().iter().skip(keys);
        let mut waiting: Vec<(String, &DataType, u32)> =
            fields.map(|field| (field.name().clone(), field.data_type(), 0)).collect();
        waiting.reverse();
        while let Some((path, mut data_type, mut lists)) = waiting.pop() {
            while let DataType::List(element) = data_type {
                data_type = element.data_type();
                lists += 1;
            }
            each(&path, data_type, lists);
            if let DataType::Struct(fields) = data_type {
                let inner = fields.iter().rev();
                waiting.extend(inner.map(|field| (join_path(&path, field.name()), field.data_type(), lists)));
            }
        }
    }

    /// The path of a place, behind the name of the type: where a value is that does not fit.
    #[cold]
    pub(crate) fn path_of(&self, shape: &Shape, place: u32) -> String {
        let mut names = Vec::new();
        let mut at = place;
        while at != ROOT && names.len() < STEPS {
            let Some((parent, field)) = self.parent_of(at) else { break };
            let is_list = self.what(parent) == What::List;
            names.push(if is_list { "[]" } else { shape.name(shape.field(field).name) });
            at = parent;
        }
        let own = shape.node(self.root()).name.map(|name| shape.name(name)).unwrap_or_default();
        let own = own.rsplit('.').next().unwrap_or_default().to_owned();
        names
            .iter()
            .rev()
            .fold(own, |path, name| if *name == "[]" { path + name } else { join_path(&path, name) })
    }
}

struct Search<'s> {
    shape: &'s Shape,
    path: Vec<&'s str>,
    /// Types around.
    inside: Vec<NodeId>,
    found: Vec<String>,
    looks: usize,
}

impl<'s> Search<'s> {
    /// Looks for the rest of a pattern in a value of a type, or in its elements.
    fn below(&mut self, mut node: NodeId, steps: &[&str]) {
        self.looks += 1;
        let [step, rest @ ..] = steps else {
            let path = self.path.join(".");
            if !path.is_empty() && !self.found.contains(&path) {
                self.found.push(path);
            }
            return;
        };
        let shape = self.shape;
        let mut lists = 0;
        while matches!(shape.node(node).kind, Kind::SequenceOf | Kind::SetOf) && lists < STEPS {
            let Some((_, element)) = shape.fields_of(node).next() else { return };
            node = element.node;
            lists += 1;
        }
        let is_full = self.found.len() > PATHS || self.looks > LOOKS;
        if is_full || lists == STEPS || self.inside.len() == STEPS || self.inside.contains(&node) {
            return;
        }
        let any = *step == "**";
        if any {
            self.below(node, rest);
        }
        self.inside.push(node);
        let has_choice = || shape.fields_of(node).any(|(_, field)| shape.name(field.name) == "choice");
        if rest.is_empty()
            && shape.node(node).kind == Kind::Choice
            && matches(step, "choice")
            && !has_choice()
        {
            self.enter("choice", node, rest);
        }
        for (_, field) in shape.fields_of(node) {
            let name = shape.name(field.name);
            if any {
                self.enter(name, field.node, steps);
            } else if matches(step, name) {
                self.enter(name, field.node, rest);
            }
        }
        self.inside.pop();
    }

    fn enter(&mut self, name: &'s str, node: NodeId, steps: &[&str]) {
        self.path.push(name);
        self.below(node, steps);
        self.path.pop();
    }
}

/// Whether a name is of a pattern, in which `*` stands for any characters.
fn matches(pattern: &str, name: &str) -> bool {
    let Some((begin, rest)) = pattern.split_once('*') else { return pattern == name };
    let Some(mut name) = name.strip_prefix(begin) else { return false };
    let mut parts = rest.split('*').peekable();
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return name.ends_with(part);
        }
        let Some((_, behind)) = name.split_once(part) else { return false };
        name = behind;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_of_patterns() {
        for (pattern, name, is_of) in [
            ("*", "", true),
            ("*", "abc", true),
            ("a*", "abc", true),
            ("*c", "abc", true),
            ("a*c", "abc", true),
            ("a*b*c", "aXbYc", true),
            ("*b*", "abc", true),
            ("a*a", "a", false),
            ("a*bc", "abbc", true),
            ("*ab*ab", "ab", false),
            ("abc", "abc", true),
            ("b*", "abc", false),
            ("*b", "abc", false),
        ] {
            assert_eq!(matches(pattern, name), is_of, "{pattern} {name}");
        }
    }
}
