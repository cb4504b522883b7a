//! Which octets are what: profiles, by the names of types and components.

use super::kinds::{KINDS, RenderKind};
use super::tables::{CodeRule, TableRules};
use crate::SettingError;
use crate::control_totals::ControlTotalRules;
use std::path::Path;
use std::sync::LazyLock;
use std::{fs, io};
use tercet_dynamic::{NodeId, Shape};
use tercet_plan::shape::Field;
use tercet_plan::{Kind, NameId};
use tercet_suggest::with_known;

/// What is rendered how.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Profile {
    /// What it is called.
    pub name: String,
    /// What it is for, in a few words.
    pub description: String,
    /// Types by which it is taken without being named, any of them.
    pub signs: Vec<String>,
    /// Kinds by the name of a type.
    pub types: Vec<(String, RenderKind)>,
    /// Kinds by the name of a component, or its path from the record's type on. These come before types, the last first.
    pub components: Vec<(String, RenderKind)>,
    /// What stands before the records and makes them complete.
    pub tables: TableRules,
    /// The totals that files have.
    pub control_totals: ControlTotalRules,
}

/// The profiles that come with the program; the last serves where no other does.
const SHIPPED: [&str; 5] = [
    include_str!("../../profiles/tap3.toml"),
    include_str!("../../profiles/ts32298.toml"),
    include_str!("../../profiles/msc.toml"),
    include_str!("../../profiles/scp.toml"),
    include_str!("../../profiles/common.toml"),
];

impl Profile {
    /// Reads a profile: TOML with `name`, `description`, `signs`, tables `types` and `components` of names and kinds, and
    /// `control_totals` (`audit` in older ones): `count`, the path of the number of records, and a table `totals` of paths
    /// and lists of sums.
    ///
    /// # Errors
    /// What is wrong with the text.
    pub fn parse(text: &str) -> Result<Self, SettingError> {
        let table: toml::Table = text.parse().map_err(|error: toml::de::Error| error.to_string())?;
        let mut profile = Self::default();
        for (key, value) in &table {
            match (key.as_str(), value) {
                ("name", toml::Value::String(name)) => profile.name.clone_from(name),
                ("description", toml::Value::String(text)) => profile.description.clone_from(text),
                ("signs", toml::Value::Array(signs)) => {
                    profile.signs = signs.iter().filter_map(|sign| Some(sign.as_str()?.to_owned())).collect();
                }
                ("types", toml::Value::Table(types)) => profile.types = rules(types)?,
                ("components", toml::Value::Table(components)) => profile.components = rules(components)?,
                ("tables", toml::Value::Table(tables)) => profile.tables = table_rules(tables)?,
                ("control_totals" | "audit", toml::Value::Table(totals)) => {
                    profile.control_totals = control_total_rules(totals)?;
                }
                _ => return Err(format!("a profile has no `{key}` of this kind").into()),
            }
        }
        Ok(profile)
    }

    /// Returns everything that it says, in a form that stays the same from version to version.
    pub(crate) fn text(&self) -> String {
        let kinds = |rules: &[(String, RenderKind)]| {
            let rules = rules.iter().map(|(name, kind)| format!("{name}={}", kind.name()));
            rules.collect::<Vec<_>>().join("\n")
        };
        let table = |rule: &CodeRule| {
            let optional = |text: &Option<String>| text.clone().unwrap_or_default();
            let (places, time) = (optional(&rule.places), optional(&rule.time));
            format!("{} {} {} {places} {time}", rule.code, rule.list, rule.value)
        };
        let tables: Vec<String> = self.tables.codes.iter().map(table).collect();
        let places = self.tables.places.as_deref().unwrap_or_default();
        [kinds(&self.types), kinds(&self.components), places.to_owned(), tables.join("\n")].join("\n\n")
    }

    /// Those that come with the program, read once.
    pub fn shipped() -> &'static [Self] {
        static PROFILES: LazyLock<Vec<Profile>> =
            // A test reads them all.
            LazyLock::new(|| {
                SHIPPED.iter().map(|text| Profile::parse(text).unwrap_or_default()).collect()
            });
        &PROFILES
    }

    /// The one of this name among those, or the one in the file of this name.
    ///
    /// # Errors
    /// [`io::ErrorKind::InvalidInput`] if there is none or the text is none; those of the file system.
    pub fn named(path: &Path) -> io::Result<Self> {
        if let Some(profile) = Self::shipped().iter().find(|profile| path == Path::new(&profile.name)) {
            return Ok(profile.clone());
        }
        let invalid = |text: String| io::Error::new(io::ErrorKind::InvalidInput, text);
        let name = &*tercet_printable::path(path);
        if !path.exists() {
            let known = Self::shipped().iter().map(|profile| profile.name.as_str());
            let text = format!("no profile `{name}`, and no file of that name");
            return Err(invalid(with_known(&text, name, known)));
        }
        let text = fs::read_to_string(path)
            .map_err(|error| io::Error::new(error.kind(), format!("{name}: {error}")))?;
        Self::parse(&text).map_err(|error| invalid(format!("{name}: {error}")))
    }

    /// The one among those whose signs are types of the shape.
    pub fn of(shape: &Shape) -> Self {
        let has = |sign: &String| {
            shape.nodes.iter().filter_map(|node| node.name).any(|name| last(shape.name(name)) == sign)
        };
        let fits = Self::shipped().iter().find(|profile| profile.signs.iter().any(has));
        fits.or_else(|| Self::shipped().last()).cloned().unwrap_or_default()
    }
}

fn rules(table: &toml::Table) -> Result<Vec<(String, RenderKind)>, SettingError> {
    let rule = |(name, kind): (&String, &toml::Value)| {
        Ok((name.clone(), kind.as_str().ok_or_else(|| format!("`{name}` is not a string"))?.parse()?))
    };
    table.iter().map(rule).collect()
}

fn table_rules(table: &toml::Table) -> Result<TableRules, SettingError> {
    let mut rules = TableRules::default();
    for (key, value) in table {
        match (key.as_str(), value) {
            ("places", toml::Value::String(name)) => rules.places = Some(name.clone()),
            (code, toml::Value::Table(it)) => {
                let text = |name: &str| it.get(name).and_then(toml::Value::as_str).map(str::to_owned);
                let (Some(list), Some(value)) = (text("list"), text("value")) else {
                    return Err(format!("the table of `{code}` needs `list` and `value`").into());
                };
                let (places, time) = (text("places"), text("time"));
                rules.codes.push(CodeRule { code: code.to_owned(), list, value, places, time });
            }
            _ => return Err(format!("`tables` has no `{key}` of this kind").into()),
        }
    }
    if rules.codes.len() > usize::from(u8::MAX) {
        return Err("there are too many tables".into());
    }
    Ok(rules)
}

fn control_total_rules(table: &toml::Table) -> Result<ControlTotalRules, SettingError> {
    let mut rules = ControlTotalRules::default();
    for (key, value) in table {
        match (key.as_str(), value) {
            ("count", toml::Value::String(path)) => rules.count = Some(path.clone()),
            ("totals", toml::Value::Table(totals)) => {
                for (path, sums) in totals {
                    let sums = sums.as_array().ok_or_else(|| format!("`{path}` is not a list of sums"))?;
                    let sum = |sum: &toml::Value| sum.as_str().unwrap_or_default().parse();
                    rules.totals.push((path.clone(), sums.iter().map(sum).collect::<Result<_, _>>()?));
                }
            }
            _ => return Err(format!("`control_totals` has no `{key}` of this kind").into()),
        }
    }
    Ok(rules)
}

impl std::str::FromStr for RenderKind {
    type Err = SettingError;

    fn from_str(text: &str) -> Result<Self, SettingError> {
        let found = KINDS.iter().find(|(name, ..)| *name == text).map(|(_, kind, _)| *kind);
        found.ok_or_else(|| {
            tercet_suggest::unknown("rendering", text, Self::known().map(|(name, _)| name)).into()
        })
    }
}

/// The name without its module.
fn last(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}

/// Fields and their kinds: by the profile, what the shape does not have passed over, and then by rules, each of which has to
/// concern something.
pub(super) fn assigned(
    shape: &Shape,
    root: NodeId,
    profile: &Profile,
    rules: &[(String, RenderKind)],
) -> Result<Vec<(usize, RenderKind)>, SettingError> {
    let mut kinds: Vec<Option<RenderKind>> = vec![None; shape.fields.len()];
    for (index, field) in shape.fields.iter().enumerate() {
        let own = shape.node(field.node).name;
        let mut names = field.aliases.iter().copied().chain(own).map(|name| last(shape.name(name)));
        let kind = names.find_map(|name| Some(profile.types.iter().find(|rule| rule.0 == name)?.1));
        kinds[index] = kind.filter(|kind| takes(shape, field, *kind));
    }
    for (number, rule) in profile.tables.codes.iter().enumerate() {
        let (code, moment) = (RenderKind::Code(number as u8), RenderKind::Moment(number as u8));
        let elements = shape.fields.iter().enumerate().filter(|(_, field)| {
            let is_it = |alias: &NameId| eq_but_first(last(shape.name(*alias)), &rule.code);
            is_list(shape, field.parent) && field.aliases.iter().any(is_it) && takes(shape, field, code)
        });
        let elements: Vec<usize> = elements.map(|(index, _)| index).collect();
        for index in fields_at(shape, root, &rule.code, code).into_iter().chain(elements) {
            // In the table itself it is the code.
            let parent = shape.fields[index].parent;
            if shape.fields_of(parent).any(|(_, field)| shape.name(field.name) == rule.value) {
                continue;
            }
            let time = rule.time.as_deref();
            let timed = shape.fields_of(parent).any(|(_, field)| Some(shape.name(field.name)) == time);
            kinds[index] = Some(if timed { moment } else { code });
        }
    }
    for (path, kind) in &profile.components {
        for index in fields_at(shape, root, path, *kind) {
            kinds[index] = Some(*kind);
        }
    }
    for (path, kind) in rules {
        let fields = fields_at(shape, root, path, *kind);
        if fields.is_empty() {
            let text = format!("{} at `{path}`", kind.wants());
            let last = path.rsplit('.').next().unwrap_or(path);
            let names: Vec<&str> = shape.fields.iter().map(|field| shape.name(field.name)).collect();
            // The component may have another kind of type, and then its name is right.
            return Err(if names.contains(&last) { text } else { with_known(&text, last, names) }.into());
        }
        for index in fields {
            kinds[index] = Some(*kind);
        }
    }
    let shown = |(index, kind): (usize, Option<RenderKind>)| {
        Some((index, kind.filter(|kind| *kind != RenderKind::Octets)?))
    };
    Ok(kinds.into_iter().enumerate().filter_map(shown).collect())
}

/// Whether a type's name is a component's but for the capital letter.
fn eq_but_first(type_name: &str, component: &str) -> bool {
    let first = type_name.get(..1).zip(component.get(..1));
    first.is_some_and(|(a, b)| a.eq_ignore_ascii_case(b)) && type_name.get(1..) == component.get(1..)
}

fn is_list(shape: &Shape, node: NodeId) -> bool {
    matches!(shape.node(node).kind, Kind::SequenceOf | Kind::SetOf)
}

/// Whether a field's values are what a kind is about.
fn takes(shape: &Shape, field: &Field, kind: RenderKind) -> bool {
    kind.takes(shape.node(field.node))
}

/// The fields that a rule is about: those of a name, wherever they are, or the one at a path. A path begins at
/// the root or, with a capital letter, at a type.
fn fields_at(shape: &Shape, root: NodeId, path: &str, kind: RenderKind) -> Vec<usize> {
    let named = |name| {
        let nodes = shape.nodes.iter().enumerate();
        nodes.filter(move |(_, node)| node.name.is_some_and(|it| last(shape.name(it)) == name))
    };
    let found: Vec<usize> = match path.split_once('.') {
        None => (0..shape.fields.len()).filter(|&i| shape.name(shape.fields[i].name) == path).collect(),
        Some((name, rest)) if name.starts_with(char::is_uppercase) => {
            named(name).filter_map(|(at, _)| field_at(shape, NodeId(at as u32), rest)).collect()
        }
        Some(_) => field_at(shape, root, path).into_iter().collect(),
    };
    let taken = |index: usize| {
        let field = shape.fields.get(inside(shape, index))?;
        takes(shape, field, kind).then(|| inside(shape, index))
    };
    found.into_iter().filter_map(taken).collect()
}

/// The innermost element, if the field is a list.
fn inside(shape: &Shape, mut index: usize) -> usize {
    // Lists of themselves have no innermost element.
    for _ in 0..64 {
        let Some(field) = shape.fields.get(index) else { break };
        let list = matches!(shape.node(field.node).kind, Kind::SequenceOf | Kind::SetOf);
        match shape.fields_of(field.node).next() {
            Some((element, _)) if list => index = element.index(),
            _ => break,
        }
    }
    index
}

/// The field at the end of a path; the names of lists stand for their elements.
fn field_at(shape: &Shape, root: NodeId, path: &str) -> Option<usize> {
    let mut node = root;
    if let (Kind::SequenceOf | Kind::SetOf, Some((element, _))) =
        (shape.node(root).kind, shape.fields_of(root).next())
    {
        node = shape.fields.get(inside(shape, element.index()))?.node;
    }
    let mut found = None;
    for step in path.replace("[]", "").split('.') {
        let (id, _) = shape.fields_of(node).find(|(_, field)| shape.name(field.name) == step)?;
        found = Some(inside(shape, id.index()));
        node = shape.fields.get(found?)?.node;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shipped_profiles_are_read() {
        for text in SHIPPED {
            let profile = Profile::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
            assert!(!profile.name.is_empty() && !profile.description.is_empty() && !profile.types.is_empty());
        }
    }
}
