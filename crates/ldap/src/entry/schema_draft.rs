//! An entry that is checked by a schema.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use super::Draft;
use super::draft::numbered;
use super::repair::{self, Repair, Repaired};
use super::syntax;
use crate::error::Result;
use crate::ldif::RecordModification;
use crate::proto::{LdapResult, ResultCode};
use crate::schema::{Description, Schema};

/// A [`Draft`] with the schema by which it is checked and repaired. All that a draft can do, this one can.
#[derive(Clone, Debug)]
pub struct SchemaDraft {
    draft: Draft,
    schema: Arc<Schema>,
}

/// An attribute of a schema.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AttributeRef {
    /// The usual name.
    pub name: String,
    /// The object identifier; `None` if the schema does not have the attribute.
    pub oid: Option<String>,
}

impl fmt::Display for AttributeRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

/// A rule of the schema that an entry breaks.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Violation {
    /// An object class that the schema does not have.
    UnknownClass {
        /// The class.
        class: String,
    },
    /// A class without the class from which it is derived. Servers add `top` themselves, so that it may be missing.
    MissingSuperior {
        /// The class.
        class: String,
        /// The class from which it is derived.
        superior: String,
    },
    /// There is no structural object class.
    NoStructuralClass,
    /// All object classes are abstract.
    AbstractOnly,
    /// Two structural object classes of which neither is derived from the other.
    TwoStructuralChains {
        /// The first, by its name.
        class: String,
        /// The second.
        other: String,
    },
    /// An object class requires an attribute that is missing.
    MissingAttribute {
        /// The attribute.
        attribute: String,
        /// The class.
        class: String,
    },
    /// No object class allows the attribute.
    IllegalAttribute {
        /// The attribute.
        attribute: String,
    },
    /// The schema does not have the attribute.
    UnknownAttribute {
        /// The attribute.
        attribute: String,
    },
    /// An attribute with one value at most has several.
    SingleValue {
        /// The attribute.
        attribute: String,
        /// Number of its values.
        count: usize,
    },
    /// A value is not of the syntax of its attribute.
    BadSyntax {
        /// The attribute.
        attribute: String,
        /// The number of the value, from 1.
        value: usize,
        /// What is expected.
        expected: &'static str,
    },
    /// An attribute has changed that only the server changes.
    NotUserModifiable {
        /// The attribute.
        attribute: String,
    },
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownClass { class } => write!(f, "unknown object class `{class}`"),
            Self::MissingSuperior { class, superior } => {
                write!(f, "object class `{class}` requires its superior `{superior}`")
            }
            Self::NoStructuralClass => f.write_str("no structural object class"),
            Self::AbstractOnly => f.write_str("only abstract object classes"),
            Self::TwoStructuralChains { class, other } => {
                write!(
                    f,
                    "two structural object classes, `{class}` and `{other}`, neither derived from the other"
                )
            }
            Self::MissingAttribute { attribute, class } => {
                write!(f, "missing attribute `{attribute}`, required by object class `{class}`")
            }
            Self::IllegalAttribute { attribute } => {
                write!(f, "attribute `{attribute}` is not allowed by any object class of the entry")
            }
            Self::UnknownAttribute { attribute } => write!(f, "unknown attribute `{attribute}`"),
            Self::SingleValue { attribute, count } => {
                write!(f, "attribute `{attribute}` has {count} values, but allows one")
            }
            Self::BadSyntax { attribute, value, expected } => {
                write!(f, "attribute `{attribute}`, value {value}: {expected} expected")
            }
            Self::NotUserModifiable { attribute } => {
                write!(f, "attribute `{attribute}` can be changed by the server alone")
            }
        }
    }
}

impl Deref for SchemaDraft {
    type Target = Draft;

    fn deref(&self) -> &Draft {
        &self.draft
    }
}

impl DerefMut for SchemaDraft {
    fn deref_mut(&mut self) -> &mut Draft {
        &mut self.draft
    }
}

/// What the object classes of an entry say.
pub(super) struct Classes<'s> {
    /// Classes that are listed, in their order.
    pub(super) listed: Vec<&'s Description>,
    /// Names of listed classes that the schema does not have.
    pub(super) unknown: Vec<String>,
    /// Listed classes and all from which they are derived, by object identifier.
    pub(super) all: BTreeMap<&'s str, &'s Description>,
    /// Required attributes by their key, and the class that requires them.
    pub(super) must: BTreeMap<String, (AttributeRef, String)>,
    /// Attributes that are allowed but not required, by their key.
    pub(super) may: BTreeMap<String, AttributeRef>,
    /// Attributes that a DIT content rule forbids, by their key.
    not: HashSet<String>,
    /// Whether all attributes are allowed: extensibleObject (RFC 4512 4.3).
    pub(super) allows_all: bool,
}

/// The object identifier of extensibleObject.
const EXTENSIBLE: &str = "1.3.6.1.4.1.1466.101.120.111";
/// The object identifier of top.
pub(super) const TOP: &str = "2.5.6.0";

impl SchemaDraft {
    pub(super) const fn new(draft: Draft, schema: Arc<Schema>) -> Self {
        Self { draft, schema }
    }

    /// The schema.
    #[must_use]
    pub const fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }

    /// The draft alone. It goes on to compare values by the schema.
    #[must_use]
    pub fn into_draft(self) -> Draft {
        self.draft
    }

    /// Changes the entry as a server with this schema would, all or nothing.
    ///
    /// # Errors
    /// As [`Draft::apply`]; undefinedAttributeType (17) for an attribute that the schema does not have; objectClassViolation (65) if
    /// the entry breaks the rules of its object classes afterwards, constraintViolation (19) if an attribute with one value has
    /// several, invalidAttributeSyntax (21) for values.
    pub fn apply(&mut self, modifications: &[RecordModification]) -> Result<()> {
        let refused = |number: usize, code: ResultCode, message: String| {
            Err(numbered(number, LdapResult::new(code).with_message(message)))
        };
        for (index, modification) in modifications.iter().enumerate() {
            let name = base(&modification.attribute);
            if self.schema.attribute_type(name).is_none() {
                return refused(
                    index + 1,
                    ResultCode::UNDEFINED_ATTRIBUTE_TYPE,
                    modification.attribute.clone(),
                );
            }
        }
        let before: HashSet<Violation> = self.check().into_iter().collect();
        let mut changed = self.clone();
        changed.draft.apply(modifications)?;
        // An entry that breaks a rule already may be changed in other places.
        let new = changed.check().into_iter().find(|violation| !before.contains(violation));
        let Some(violation) = new else {
            *self = changed;
            return Ok(());
        };
        let code = match violation {
            Violation::SingleValue { .. } => ResultCode::CONSTRAINT_VIOLATION,
            Violation::BadSyntax { .. } => ResultCode::INVALID_ATTRIBUTE_SYNTAX,
            Violation::NotUserModifiable { .. } => ResultCode::CONSTRAINT_VIOLATION,
            _ => ResultCode::OBJECT_CLASS_VIOLATION,
        };
        // The modification of the attribute that is named, else the last.
        let named = |one: &RecordModification| {
            violation.attribute().is_some_and(|name| self.is_same(name, &one.attribute))
        };
        let index =
            modifications.iter().rposition(named).unwrap_or_else(|| modifications.len().saturating_sub(1));
        refused(index + 1, code, violation.to_string())
    }

    /// The attributes that the object classes require or allow, sorted by name. Of extensibleObject, which allows all, nothing is
    /// listed.
    #[must_use]
    pub fn allowed(&self) -> Vec<AttributeRef> {
        let classes = self.classes();
        let must = classes.must.into_values().map(|(attribute, _)| attribute);
        sorted(must.chain(classes.may.into_values()))
    }

    /// The attributes that the object classes require and the entry lacks, sorted by name.
    #[must_use]
    pub fn missing(&self) -> Vec<AttributeRef> {
        let present = self.keys();
        let must = self.classes().must;
        let missing = must.into_iter().filter(|(key, _)| !present.contains_key(key));
        sorted(missing.map(|(_, (attribute, _))| attribute))
    }

    /// The attributes of the entry, sorted by name.
    #[must_use]
    pub fn present(&self) -> Vec<AttributeRef> {
        sorted(self.keys().into_keys().map(|key| self.reference(&key)))
    }

    /// The attributes of the entry that its object classes do not allow, sorted by name; those that the schema does not have too.
    #[must_use]
    pub fn illegal(&self) -> Vec<AttributeRef> {
        let classes = self.classes();
        let illegal = self.keys().into_keys().filter(|key| !self.is_key_allowed(&classes, key));
        sorted(illegal.map(|key| self.reference(&key)))
    }

    /// Returns whether the object classes require or allow an attribute.
    #[must_use]
    pub fn is_allowed(&self, attribute: &str) -> bool {
        self.is_key_allowed(&self.classes(), &self.key(attribute))
    }

    /// Returns whether the object classes require an attribute that the entry lacks.
    #[must_use]
    pub fn is_missing(&self, attribute: &str) -> bool {
        let key = self.key(attribute);
        self.classes().must.contains_key(&key) && !self.keys().contains_key(&key)
    }

    /// Returns the rules of the schema that the entry breaks.
    #[must_use]
    pub fn check(&self) -> Vec<Violation> {
        let classes = self.classes();
        let mut all: Vec<Violation> = Vec::new();
        all.extend(classes.unknown.iter().map(|class| Violation::UnknownClass { class: class.clone() }));
        for class in &classes.listed {
            for superior in self.missing_superiors(&classes, class) {
                let (class, superior) = (class.name().to_owned(), superior.name().to_owned());
                all.push(Violation::MissingSuperior { class, superior });
            }
        }
        self.check_structure(&classes, &mut all);
        let present = self.keys();
        for (key, (attribute, class)) in &classes.must {
            if !present.contains_key(key) {
                let (attribute, class) = (attribute.name.clone(), class.clone());
                all.push(Violation::MissingAttribute { attribute, class });
            }
        }
        for (name, values) in self.draft.attributes() {
            let attribute = name.to_owned();
            let key = self.key(name);
            let Some(kind) = self.schema.attribute_type(base(name)) else {
                all.push(Violation::UnknownAttribute { attribute });
                continue;
            };
            if !self.is_key_allowed(&classes, &key) {
                all.push(Violation::IllegalAttribute { attribute: attribute.clone() });
            }
            if kind.is_single_valued() && values.len() > 1 {
                all.push(Violation::SingleValue { attribute: attribute.clone(), count: values.len() });
            }
            if let Some(syntax) = self.schema.inherited(base(name), "SYNTAX") {
                let bad = values.iter().enumerate().filter_map(|(index, value)| {
                    let expected = syntax::fault(syntax, value)?;
                    Some(Violation::BadSyntax { attribute: attribute.clone(), value: index + 1, expected })
                });
                all.extend(bad);
            }
        }
        for attribute in self.changed_by_the_user() {
            all.push(Violation::NotUserModifiable { attribute });
        }
        all
    }

    /// Repairs the entry after a change; returns what was done and why, in the order in which it was done. Nothing else is changed,
    /// and to repair once more changes nothing.
    ///
    /// # Errors
    /// None today; the schema may become one that is asked for.
    pub fn repair(&mut self, mode: Repair) -> Result<Vec<Repaired>> {
        repair::repair(self, mode)
    }

    /// Returns what [`SchemaDraft::repair`] would do, without doing it.
    ///
    /// # Errors
    /// As [`SchemaDraft::repair`].
    pub fn plan(&self, mode: Repair) -> Result<Vec<Repaired>> {
        self.clone().repair(mode)
    }

    fn changed_by_the_user(&self) -> Vec<String> {
        let names = self.draft.current().iter().chain(self.draft.original()).map(|(name, _)| name.as_str());
        let mut found: Vec<String> = Vec::new();
        for name in names {
            let is_kept =
                self.schema.attribute_type(base(name)).is_some_and(|kind| kind.has("NO-USER-MODIFICATION"));
            if !is_kept || found.iter().any(|known| known.eq_ignore_ascii_case(name)) {
                continue;
            }
            let values = |list: &[(String, Vec<Vec<u8>>)]| {
                let found = list.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
                found.map(|(_, values)| values.clone())
            };
            if values(self.draft.current()) != values(self.draft.original()) {
                found.push(name.to_owned());
            }
        }
        found
    }

    fn check_structure(&self, classes: &Classes<'_>, all: &mut Vec<Violation>) {
        let structural: Vec<&&Description> =
            classes.listed.iter().filter(|class| is_structural(class)).collect();
        if structural.is_empty() {
            let is_abstract = |class: &&Description| class.has("ABSTRACT");
            // An unknown class may be structural.
            if !classes.unknown.is_empty() {
            } else if !classes.listed.is_empty() && classes.listed.iter().all(is_abstract) {
                all.push(Violation::AbstractOnly);
            } else {
                all.push(Violation::NoStructuralClass);
            }
        }
        let leaves = self.structural_leaves(classes);
        if let [first, others @ ..] = leaves.as_slice() {
            for other in others {
                let (class, other) = (first.name().to_owned(), other.name().to_owned());
                all.push(Violation::TwoStructuralChains { class, other });
            }
        }
    }

    /// The structural classes from which no other listed class is derived, by name.
    pub(super) fn structural_leaves<'s>(&self, classes: &Classes<'s>) -> Vec<&'s Description> {
        let structural: Vec<&Description> =
            classes.listed.iter().copied().filter(|class| is_structural(class)).collect();
        let is_derived = |class: &Description| {
            structural.iter().any(|other| {
                other.oid != class.oid && self.chain(other).iter().any(|one| one.oid == class.oid)
            })
        };
        let mut leaves: Vec<&Description> =
            structural.iter().copied().filter(|class| !is_derived(class)).collect();
        leaves.sort_by(|a, b| a.name().cmp(b.name()));
        leaves
    }

    /// A class and all from which it is derived.
    pub(super) fn chain(&self, class: &Description) -> Vec<&Description> {
        let mut chain: Vec<&Description> = Vec::new();
        let mut next: Vec<&Description> = self.schema.object_class(&class.oid).into_iter().collect();
        while let Some(class) = next.pop() {
            // Classes may be derived from one another in a circle, if a server says so.
            if chain.iter().all(|known| known.oid != class.oid) {
                chain.push(class);
                next.extend(class.superiors().iter().rev().filter_map(|name| self.schema.object_class(name)));
            }
        }
        chain
    }

    /// The classes from which a class is derived that the entry does not list, but `top`.
    pub(super) fn missing_superiors(&self, classes: &Classes<'_>, class: &Description) -> Vec<&Description> {
        let is_listed = |one: &&Description| classes.listed.iter().any(|known| known.oid == one.oid);
        let superiors = class.superiors().iter().filter_map(|name| self.schema.object_class(name));
        superiors.filter(|superior| superior.oid != TOP && !is_listed(superior)).collect()
    }

    pub(super) fn classes(&self) -> Classes<'_> {
        let mut classes = Classes {
            listed: Vec::new(),
            unknown: Vec::new(),
            all: BTreeMap::new(),
            must: BTreeMap::new(),
            may: BTreeMap::new(),
            not: HashSet::new(),
            allows_all: false,
        };
        let key = self.key("objectClass");
        let values = self.draft.attributes().filter(|(name, _)| self.key(name) == key);
        for value in values.flat_map(|(_, values)| values) {
            let name = String::from_utf8_lossy(value);
            match self.schema.object_class(name.trim()) {
                None => classes.unknown.push(name.into_owned()),
                Some(class) if classes.listed.iter().any(|known| known.oid == class.oid) => {}
                Some(class) => classes.listed.push(class),
            }
        }
        for class in classes.listed.clone() {
            for one in self.chain(class) {
                classes.all.insert(&one.oid, one);
            }
        }
        classes.allows_all = classes.all.contains_key(EXTENSIBLE);
        let mut must = BTreeMap::new();
        for class in classes.all.values() {
            for name in class.must() {
                must.entry(self.key(name)).or_insert_with(|| (self.reference(name), class.name().to_owned()));
            }
            for name in class.may() {
                classes.may.entry(self.key(name)).or_insert_with(|| self.reference(name));
            }
        }
        if let Some(rule) = self.content_rule(&classes) {
            for name in rule.must() {
                must.entry(self.key(name)).or_insert_with(|| (self.reference(name), rule.name().to_owned()));
            }
            for name in rule.may() {
                classes.may.entry(self.key(name)).or_insert_with(|| self.reference(name));
            }
            classes.not = rule.values("NOT").iter().map(|name| self.key(name)).collect();
        }
        // Nothing says more clearly what an entry is than its object classes.
        must.entry(key).or_insert_with(|| (self.reference("objectClass"), "top".to_owned()));
        classes.may.retain(|key, _| !must.contains_key(key) && !classes.not.contains(key));
        classes.must = must;
        classes
    }

    /// The DIT content rule of the structural class (RFC 4512 4.1.6).
    pub(super) fn content_rule(&self, classes: &Classes<'_>) -> Option<&Description> {
        let leaves = self.structural_leaves(classes);
        let class = leaves.first()?;
        self.schema.content_rules.iter().find(|rule| rule.oid == class.oid)
    }

    fn is_key_allowed(&self, classes: &Classes<'_>, key: &str) -> bool {
        if classes.not.contains(key) {
            return false;
        }
        let kind = self.schema.attribute_type(key);
        // Attributes that the server keeps are in any entry (RFC 4512 3.4).
        let is_operational = kind.is_some_and(|kind| {
            kind.values("USAGE").first().is_some_and(|usage| !usage.eq_ignore_ascii_case("userApplications"))
        });
        is_operational
            || (classes.allows_all && kind.is_some())
            || classes.must.contains_key(key)
            || classes.may.contains_key(key)
    }

    /// The attributes of the entry by their key, with their number of values.
    pub(super) fn keys(&self) -> HashMap<String, usize> {
        let mut keys = HashMap::new();
        for (name, values) in self.draft.attributes() {
            *keys.entry(self.key(name)).or_insert(0) += values.len();
        }
        keys
    }

    /// What an attribute is known by, whatever it is called: its object identifier; its name in lower case if it is unknown.
    pub(super) fn key(&self, attribute: &str) -> String {
        let name = base(attribute);
        self.schema.attribute_type(name).map_or_else(|| name.to_ascii_lowercase(), |kind| kind.oid.clone())
    }

    fn is_same(&self, a: &str, b: &str) -> bool {
        self.key(a) == self.key(b)
    }

    pub(super) fn reference(&self, attribute: &str) -> AttributeRef {
        match self.schema.attribute_type(base(attribute)) {
            Some(kind) => AttributeRef { name: kind.name().to_owned(), oid: Some(kind.oid.clone()) },
            None => {
                // As the entry has it.
                let known = self.draft.attributes().map(|(name, _)| base(name));
                let name =
                    known.into_iter().find(|name| name.eq_ignore_ascii_case(attribute)).unwrap_or(attribute);
                AttributeRef { name: name.to_owned(), oid: None }
            }
        }
    }
}

impl Violation {
    /// The attribute that it is about.
    #[must_use]
    pub fn attribute(&self) -> Option<&str> {
        match self {
            Self::MissingAttribute { attribute, .. }
            | Self::IllegalAttribute { attribute }
            | Self::UnknownAttribute { attribute }
            | Self::SingleValue { attribute, .. }
            | Self::BadSyntax { attribute, .. }
            | Self::NotUserModifiable { attribute } => Some(attribute),
            _ => None,
        }
    }
}

/// An attribute description without options.
pub(super) fn base(description: &str) -> &str {
    description.split(';').next().unwrap_or_default()
}

/// Structural is what is neither abstract nor auxiliary (RFC 4512 4.1.1).
pub(super) fn is_structural(class: &Description) -> bool {
    !class.has("ABSTRACT") && !class.has("AUXILIARY")
}

fn sorted(attributes: impl Iterator<Item = AttributeRef>) -> Vec<AttributeRef> {
    let mut all: Vec<AttributeRef> = attributes.collect();
    all.sort_by(|a, b| a.name.to_lowercase().cmp(&b.name.to_lowercase()).then_with(|| a.cmp(b)));
    all.dedup();
    all
}
