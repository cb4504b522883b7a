//! Two versions of specifications: what differs between their types, and whether each reads the encodings of the other.
//!
//! A version reads the encodings of another by some rules if its decoder takes each encoding of each value, and gives the
//! same value. Components that one version does not know are left out of the comparison, and an absent component with a
//! DEFAULT is the same as one with that value. Whether the value meets the constraints of the reader is another question:
//! only constraints that are visible to the rules make encodings unreadable.
//!
//! The verdicts follow from the plans that engines and generated code follow, never from the notation: see `reading`.
//!
//! ```
//! use tercet_ide::compare::{Options, Verdict, compare};
//! use tercet_schema::{Rules, Schema};
//! let text = |members| format!("A DEFINITIONS AUTOMATIC TAGS ::= BEGIN T ::= SEQUENCE {{ {members} }} END");
//! let old = Schema::from_text("old.asn", &text("a BOOLEAN, ..."));
//! let new = Schema::from_text("new.asn", &text("a BOOLEAN, b INTEGER OPTIONAL, ..."));
//! let found = compare(&old, &new, &Options { rules: vec![Rules::Ber, Rules::Uper], ..Options::default() }).unwrap();
//! assert_eq!(found.types[0].changes[0].path, "b");
//! // In BER the old version leaves out what it does not know; in PER there is another presence bit, which moves all that follows.
//! assert_eq!(found.verdict(Rules::Ber), Some(Verdict::WireCompatible));
//! assert_eq!(found.verdict(Rules::Uper), Some(Verdict::NotCompatible));
//! ```

mod ber;
mod changes;
mod oer;
mod per;
mod reading;
mod source;
mod text;

use changes::Versions;
use reading::{Pair, Readings, Sides};
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::fmt;
use tercet_model::Model;
use tercet_model::ir::TypeId;
use tercet_schema::plan::Plan;
use tercet_schema::{PlanError, Rules, RustOptions, Schema};

/// Reasons that are kept for a type, by each of the rules and in each direction.
const REASONS: usize = 12;

/// What is compared.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The types, as `Type` or `Module.Type`; all that both versions have if there are none.
    pub types: Vec<String>,
    /// Modules and types with another name in the new version: `(old, new)`, each `Module` or `Module.Type`.
    pub renamed: Vec<(String, String)>,
    /// The encoding rules of the verdicts.
    pub rules: Vec<Rules>,
    /// Whether generated Rust is compared.
    pub source: bool,
}

/// What was found.
#[derive(Clone, Debug, Default)]
pub struct Comparison {
    /// The encoding rules of the verdicts.
    pub rules: Vec<Rules>,
    /// The number of types that both versions have and that were compared.
    pub compared: usize,
    /// Types that differ or are affected by others that do, in the order of the old version; then those that are new.
    pub types: Vec<TypeReport>,
    /// What programs with generated Rust for the old version cannot use in that for the new one; nothing if it was not
    /// asked for.
    pub source: Option<Vec<String>>,
}

impl Comparison {
    /// Returns whether no type differs.
    pub fn is_same(&self) -> bool {
        self.types.is_empty()
    }

    /// Returns the verdict for all types that both versions have; `None` for rules that were not asked for.
    pub fn verdict(&self, rules: Rules) -> Option<Verdict> {
        if !self.rules.contains(&rules) {
            return None;
        }
        let reports =
            self.types.iter().flat_map(|report| &report.verdicts).filter(|report| report.rules == rules);
        Some(reports.fold(Verdict::WireCompatible, |all, report| all.and(report.verdict)))
    }
}

/// Which version reads the encodings of the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Each version reads the encodings of the other.
    WireCompatible,
    /// The new version reads encodings of the old one, and not the other way round.
    NewReadsOld,
    /// The old version reads encodings of the new one, and not the other way round.
    OldReadsNew,
    /// Neither version reads all encodings of the other.
    NotCompatible,
}

impl Verdict {
    const fn of(new_reads_old: bool, old_reads_new: bool) -> Self {
        match (new_reads_old, old_reads_new) {
            (true, true) => Self::WireCompatible,
            (true, false) => Self::NewReadsOld,
            (false, true) => Self::OldReadsNew,
            (false, false) => Self::NotCompatible,
        }
    }

    /// Returns whether the new version reads encodings of the old one.
    pub const fn new_reads_old(self) -> bool {
        matches!(self, Self::WireCompatible | Self::NewReadsOld)
    }

    /// Returns whether the old version reads encodings of the new one.
    pub const fn old_reads_new(self) -> bool {
        matches!(self, Self::WireCompatible | Self::OldReadsNew)
    }

    /// Returns the verdict for two types together.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self::of(self.new_reads_old() && other.new_reads_old(), self.old_reads_new() && other.old_reads_new())
    }

    /// Returns the name in reports: `new-reads-old`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::WireCompatible => "wire-compatible",
            Self::NewReadsOld => "new-reads-old",
            Self::OldReadsNew => "old-reads-new",
            Self::NotCompatible => "not-compatible",
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A type of which something is to be said.
#[derive(Clone, Debug)]
pub struct TypeReport {
    /// `Module.Type` in the old version; in the new one for a type that is new.
    pub name: String,
    /// The name in the new version, if it is another one.
    pub new_name: Option<String>,
    /// Why it is listed.
    pub status: Status,
    /// Where the old version has it.
    pub old_place: Option<Location>,
    /// Where the new version has it.
    pub new_place: Option<Location>,
    /// What differs in its own notation.
    pub changes: Vec<Change>,
    /// A verdict for each of the rules; none for types that one version does not have.
    pub verdicts: Vec<RuleReport>,
}

/// Why a type is listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Only the new version has it.
    Added,
    /// Only the old version has it.
    Removed,
    /// Its notation differs.
    Changed,
    /// Its notation is the same, and a type that it uses is not read.
    Affected,
}

impl Status {
    /// Returns the name in reports: `changed`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Removed => "removed",
            Self::Changed => "changed",
            Self::Affected => "affected",
        }
    }
}

/// A place in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// The name of the file.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
}

/// A difference between two versions of a type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The way to it from the type: `parties[].number`; empty for the type itself.
    pub path: String,
    /// The kind of difference.
    pub kind: ChangeKind,
    /// What the old version has.
    pub old: Option<String>,
    /// What the new version has.
    pub new: Option<String>,
    /// Where the old version has it, or would.
    pub old_place: Option<Location>,
    /// Where the new version has it, or would.
    pub new_place: Option<Location>,
    /// Whether the forms of the two in unaligned PER differ, as they do by PER-visible constraints.
    pub is_per_visible: bool,
}

/// The kinds of difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names of reports")]
pub enum ChangeKind {
    ComponentAdded,
    ComponentRemoved,
    AlternativeAdded,
    AlternativeRemoved,
    ItemAdded,
    ItemRemoved,
    ItemChanged,
    ObjectAdded,
    ObjectRemoved,
    Renamed,
    Moved,
    Type,
    Tag,
    Presence,
    Default,
    Constraint,
    ExtensionMarker,
    Contents,
    Table,
}

impl ChangeKind {
    /// Returns the name in reports: `component-added`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ComponentAdded => "component-added",
            Self::ComponentRemoved => "component-removed",
            Self::AlternativeAdded => "alternative-added",
            Self::AlternativeRemoved => "alternative-removed",
            Self::ItemAdded => "item-added",
            Self::ItemRemoved => "item-removed",
            Self::ItemChanged => "item-changed",
            Self::ObjectAdded => "object-added",
            Self::ObjectRemoved => "object-removed",
            Self::Renamed => "renamed",
            Self::Moved => "moved",
            Self::Type => "type",
            Self::Tag => "tag",
            Self::Presence => "presence",
            Self::Default => "default",
            Self::Constraint => "constraint",
            Self::ExtensionMarker => "extension-marker",
            Self::Contents => "contents",
            Self::Table => "table",
        }
    }
}

/// The verdict for a type by some rules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleReport {
    /// The rules.
    pub rules: Rules,
    /// Which version reads the other.
    pub verdict: Verdict,
    /// Why not, for each direction that fails.
    pub reasons: Vec<Reason>,
}

/// Why a version does not read the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    /// `true` if the new version reads what the old one has written; `false` for the other direction.
    pub is_new_reading: bool,
    /// The way to it from the type.
    pub path: String,
    /// What the reader makes of what is written.
    pub text: String,
}

/// One of the two versions.
struct Side<'a> {
    schema: &'a Schema,
    /// The plan for BER, whose shape and tags changes are found in.
    plan: &'a Plan,
    /// The plan for unaligned PER.
    packed: &'a Plan,
    /// For each node the type that it was made for.
    types: &'a [Option<TypeId>],
    /// Names of types of the old version that the new one calls otherwise, without modules.
    renamed: &'a HashMap<String, String>,
}

impl<'a> Side<'a> {
    fn model(&self) -> &'a Model {
        self.schema.model()
    }

    /// The name in the new version of a type of the old one.
    fn renamed(&self, name: &str) -> String {
        self.renamed.get(name).cloned().unwrap_or_else(|| name.to_owned())
    }
}

/// Types of the same name in both versions.
struct Common<'a> {
    names: Vec<(&'a str, &'a str)>,
    ids: Vec<(TypeId, TypeId)>,
}

/// Compares two versions of specifications.
///
/// # Errors
/// [`PlanError`] for a name of [`Options::types`] that the versions do not both have.
pub fn compare(old: &Schema, new: &Schema, options: &Options) -> Result<Comparison, PlanError> {
    let (olds, news): (Vec<_>, Vec<_>) = (old.names().collect(), new.names().collect());
    let renaming = Renaming::new(old, new, &options.renamed);
    // Of several modules with one name, the first is compared with the first, and so on.
    let mut news_by_name: HashMap<&str, VecDeque<TypeId>> = HashMap::new();
    for (name, id) in &news {
        news_by_name.entry(name).or_default().push_back(*id);
    }
    let mapped: Vec<String> = olds.iter().map(|(name, _)| renaming.of(name)).collect();
    let chosen = options.types.iter().map(|name| old.find(name)).collect::<Result<HashSet<_>, _>>()?;
    for name in &options.types {
        let id = old.find(name)?;
        let at = olds.iter().position(|(_, it)| *it == id);
        if let Some(at) = at.filter(|at| !news_by_name.contains_key(&*mapped[*at])) {
            new.find(&mapped[at])?;
        }
    }
    let mut common = Common { names: Vec::new(), ids: Vec::new() };
    let mut removed = Vec::new();
    for ((name, id), mapped) in olds.iter().zip(&mapped) {
        match news_by_name.get_mut(&**mapped).and_then(VecDeque::pop_front) {
            Some(other) => {
                common.names.push((name, mapped));
                common.ids.push((*id, other));
            }
            None => removed.push((name, *id)),
        }
    }
    let types: HashMap<String, String> =
        common.names.iter().map(|(old, new)| (own(old), own(new))).filter(|(old, new)| old != new).collect();
    let rules: Vec<Rules> =
        [Rules::Ber, Rules::Uper].into_iter().chain(options.rules.iter().map(|it| it.plan_rules())).collect();
    let (from, to): (Vec<TypeId>, Vec<TypeId>) = common.ids.iter().copied().unzip();
    let from = tercet_schema::lower::lower(old.model(), &rules, &from);
    let to = tercet_schema::lower::lower(new.model(), &rules, &to);
    let none = HashMap::new();
    let old_side = Side {
        schema: old,
        plan: &from.plans[0],
        packed: &from.plans[1],
        types: &from.types,
        renamed: &types,
    };
    let new_side =
        Side { schema: new, plan: &to.plans[0], packed: &to.plans[1], types: &to.types, renamed: &none };
    let pairs = pairs(&common, &from.plans[0], &to.plans[0]);
    let mut reports: Vec<TypeReport> = Vec::new();
    for (index, pair) in pairs.iter().enumerate() {
        let mut versions = Versions { old: &old_side, new: &new_side, changes: Vec::new() };
        if let Some(pair) = pair {
            versions.compare(common.ids[index], *pair);
        }
        let (name, other) = common.names[index];
        let is_changed = !versions.changes.is_empty() || own(name) != own(other);
        reports.push(TypeReport {
            name: name.to_owned(),
            new_name: (name != other).then(|| other.to_owned()),
            status: if is_changed { Status::Changed } else { Status::Affected },
            old_place: old_side.place(old.model().ty(common.ids[index].0).span),
            new_place: new_side.place(new.model().ty(common.ids[index].1).span),
            changes: versions.changes,
            verdicts: Vec::new(),
        });
    }
    for (at, rules) in options.rules.iter().enumerate() {
        let (from, to) = (&from.plans[at + 2], &to.plans[at + 2]);
        verdicts(*rules, (from, to), &pairs, &common, &mut reports);
    }
    let is_chosen = |index: usize| chosen.is_empty() || chosen.contains(&common.ids[index].0);
    // With a type come all that it uses.
    let all = Sides { writer: &from.plans[0], reader: &to.plans[0], rules: Rules::Ber };
    let given = || (0..pairs.len()).filter(|index| is_chosen(*index)).filter_map(|index| pairs[index]);
    let used = Readings::new(&all, given()).reachable(given());
    let is_chosen = |index: usize| is_chosen(index) || pairs[index].is_some_and(|pair| used.contains(&pair));
    let compared = (0..reports.len()).filter(|index| is_chosen(*index)).count();
    let mut types: Vec<TypeReport> = Vec::new();
    for (index, report) in reports.into_iter().enumerate() {
        let is_affected = report.verdicts.iter().any(|it| it.verdict != Verdict::WireCompatible);
        if is_chosen(index) && (report.status == Status::Changed || is_affected) {
            types.push(report);
        }
    }
    if chosen.is_empty() {
        let known: HashSet<&str> = mapped.iter().map(|name| &**name).collect();
        types.extend(removed.iter().map(|(name, id)| single(name, Status::Removed, &old_side, *id)));
        let added = news.iter().filter(|(name, _)| !known.contains(&**name));
        types.extend(added.map(|(name, id)| single(name, Status::Added, &new_side, *id)));
    }
    let source = options.source.then(|| source_faults(old, new, options));
    Ok(Comparison { rules: options.rules.clone(), compared, types, source })
}

/// A type that one version has.
fn single(name: &str, status: Status, side: &Side<'_>, id: TypeId) -> TypeReport {
    let place = side.place(side.model().ty(id).span);
    let (old_place, new_place) = if status == Status::Removed { (place, None) } else { (None, place) };
    TypeReport {
        name: name.to_owned(),
        new_name: None,
        status,
        old_place,
        new_place,
        changes: Vec::new(),
        verdicts: Vec::new(),
    }
}

/// The nodes of the types that both versions have: roots are in the order of the types that were asked for.
fn pairs(common: &Common<'_>, old: &Plan, new: &Plan) -> Vec<Option<Pair>> {
    let node = |plan: &Plan, index: usize| plan.shape.roots.get(index).map(|root| root.node);
    (0..common.names.len()).map(|index| node(old, index).zip(node(new, index))).collect()
}

/// Adds the verdicts by one of the rules.
fn verdicts(
    rules: Rules,
    (old, new): (&Plan, &Plan),
    pairs: &[Option<Pair>],
    common: &Common<'_>,
    reports: &mut [TypeReport],
) {
    let flipped = |pair: Pair| (pair.1, pair.0);
    let forward = Sides { writer: old, reader: new, rules };
    let back = Sides { writer: new, reader: old, rules };
    let forward = Readings::new(&forward, pairs.iter().flatten().copied());
    let back = Readings::new(&back, pairs.iter().flatten().map(|pair| flipped(*pair)));
    let names: HashMap<Pair, &str> = pairs
        .iter()
        .zip(&common.names)
        .filter_map(|(pair, (name, _))| Some(((*pair)?, last(name))))
        .collect();
    for (pair, report) in pairs.iter().zip(reports) {
        let Some(pair) = *pair else { continue };
        let verdict = Verdict::of(forward.reads(pair), back.reads(flipped(pair)));
        let mut reasons = Vec::new();
        let reason = |is_new_reading| move |(path, text)| Reason { is_new_reading, path, text };
        if !verdict.new_reads_old() {
            let faults = forward.faults(pair, REASONS, |part| names.get(&part).copied());
            reasons.extend(faults.into_iter().map(reason(true)));
        }
        if !verdict.old_reads_new() {
            let faults = back.faults(flipped(pair), REASONS, |part| names.get(&flipped(part)).copied());
            reasons.extend(faults.into_iter().map(reason(false)));
        }
        report.verdicts.push(RuleReport { rules, verdict, reasons });
    }
}

/// Compares generated Rust for all types, or those that were asked for.
fn source_faults(old: &Schema, new: &Schema, options: &Options) -> Vec<String> {
    let renaming = Renaming::new(old, new, &options.renamed);
    let names: Vec<String> = match &options.types[..] {
        [] => old.outermost().into_iter().map(|(name, _)| name).collect(),
        types => types.to_vec(),
    };
    let (mut olds, mut news) = (Vec::new(), Vec::new());
    let known: HashSet<String> = new.names().map(|(name, _)| name).collect();
    let mut faults = Vec::new();
    for name in &names {
        let mapped = renaming.of(name);
        if known.contains(&mapped) || new.find(&mapped).is_ok() {
            olds.push(&**name);
            news.push(mapped);
        } else {
            faults.push(format!("`{}` is removed", own(name)));
        }
    }
    if olds.is_empty() {
        return faults;
    }
    let news: Vec<&str> = news.iter().map(String::as_str).collect();
    let print = |schema: &Schema, names: &[&str]| schema.rust(&[Rules::Ber], names, &RustOptions::default());
    match (print(old, &olds), print(new, &news)) {
        (Ok(one), Ok(other)) => faults.extend(source::faults(&one, &other)),
        (one, other) => {
            let errors = [("old", one.err()), ("new", other.err())];
            faults.extend(errors.into_iter().filter_map(|(side, error)| {
                let text = error?.to_string();
                Some(format!(
                    "the {side} version has no generated Rust: {}",
                    text.lines().next().unwrap_or_default()
                ))
            }));
        }
    }
    faults
}

/// A name without its module.
fn last(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}

fn own(name: &str) -> String {
    last(name).to_owned()
}

/// Names of the old version in the new one.
struct Renaming {
    modules: BTreeMap<String, String>,
    types: BTreeMap<String, String>,
}

impl Renaming {
    /// The names that were given; two versions of one module each are versions of one module, whatever their names.
    fn new(old: &Schema, new: &Schema, given: &[(String, String)]) -> Self {
        let split = |has_dot: bool| {
            given
                .iter()
                .filter(move |(from, _)| from.contains('.') == has_dot)
                .cloned()
                .collect::<BTreeMap<_, _>>()
        };
        let (mut modules, types) = (split(false), split(true));
        if let ([one], [other]) = (&old.model().modules[..], &new.model().modules[..]) {
            modules.entry(one.name.to_string()).or_insert_with(|| other.name.to_string());
        }
        Self { modules, types }
    }

    fn of(&self, name: &str) -> String {
        if let Some(new) = self.types.get(name) {
            return new.clone();
        }
        match name.split_once('.') {
            Some((module, own)) => {
                let module = self.modules.get(module).map_or(module, String::as_str);
                format!("{module}.{own}")
            }
            None => name.to_owned(),
        }
    }
}
