//! Repairing an entry by its schema, after a change of its attributes or of its object classes.

use std::cmp::Ordering;
use std::fmt;

use super::schema_draft::{SchemaDraft, is_structural};
use crate::dn::Dn;
use crate::error::Result;
use crate::schema::Description;

/// What gives way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Repair {
    /// The attributes stay: an auxiliary class is added for each that no class allows, then the classes from which classes are
    /// derived. For what has been added to an entry.
    Optimistic,
    /// The classes stay: those without the class from which they are derived are dropped, then the attributes that no class allows.
    /// For what has been taken from an entry.
    Pessimistic,
}

/// What a repair has done, or could not do.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Repaired {
    /// An auxiliary class was added that allows an attribute.
    ClassForAttribute {
        /// The class.
        class: String,
        /// The attribute.
        attribute: String,
    },
    /// A class was added because another is derived from it.
    Superior {
        /// The class that was added.
        class: String,
        /// The class that is derived from it.
        of: String,
    },
    /// A class was dropped because it is derived from another that the entry does not have.
    ClassDropped {
        /// The class.
        class: String,
        /// The class that is missing.
        superior: String,
    },
    /// An attribute was dropped because no class allows it.
    AttributeDropped {
        /// The attribute.
        attribute: String,
        /// Number of its values.
        count: usize,
    },
    /// An attribute that no class allows stays.
    NotRepaired {
        /// The attribute.
        attribute: String,
        /// Why.
        reason: String,
    },
}

impl fmt::Display for Repaired {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ClassForAttribute { class, attribute } => {
                write!(f, "object class `{class}` added: it allows `{attribute}`")
            }
            Self::Superior { class, of } => {
                write!(f, "object class `{class}` added: `{of}` is derived from it")
            }
            Self::ClassDropped { class, superior } => {
                write!(f, "object class `{class}` dropped: its superior `{superior}` is missing")
            }
            Self::AttributeDropped { attribute, count } => {
                let values = if *count == 1 { "value" } else { "values" };
                write!(f, "attribute `{attribute}` dropped with {count} {values}: no object class allows it")
            }
            Self::NotRepaired { attribute, reason } => {
                write!(f, "attribute `{attribute}` not repaired: {reason}")
            }
        }
    }
}

pub(super) fn repair(draft: &mut SchemaDraft, mode: Repair) -> Result<Vec<Repaired>> {
    let mut done = Vec::new();
    match mode {
        Repair::Optimistic => {
            add_classes(draft, &mut done);
            add_superiors(draft, &mut done);
        }
        Repair::Pessimistic => {
            drop_classes(draft, &mut done);
            drop_attributes(draft, &mut done);
        }
    }
    Ok(done)
}

/// Adds, for each attribute that no class allows, the auxiliary class that allows it and requires the fewest attributes more.
fn add_classes(draft: &mut SchemaDraft, done: &mut Vec<Repaired>) {
    for attribute in draft.illegal() {
        // A class that was added for another attribute may allow this one too.
        if draft.is_allowed(&attribute.name) {
            continue;
        }
        match class_for(draft, &attribute.name) {
            Ok(class) => {
                draft.add("objectClass", &class);
                done.push(Repaired::ClassForAttribute { class, attribute: attribute.name });
            }
            Err(reason) => {
                let reason = reason.to_owned();
                done.push(Repaired::NotRepaired { attribute: attribute.name, reason });
            }
        }
    }
}

fn class_for(draft: &SchemaDraft, attribute: &str) -> std::result::Result<String, &'static str> {
    let schema = draft.schema();
    if schema.attribute_type(attribute).is_none() {
        return Err("the schema does not have it");
    }
    let key = draft.key(attribute);
    let classes = draft.classes();
    let content_rule = draft.content_rule(&classes);
    let allows = |class: &&Description| {
        let chain = draft.chain(class);
        chain.iter().any(|one| one.must().iter().chain(one.may()).any(|name| draft.key(name) == key))
    };
    let is_permitted = |class: &&Description| {
        content_rule.is_none_or(|rule| {
            let auxiliary = rule.values("AUX").iter();
            auxiliary.filter_map(|name| schema.object_class(name)).any(|one| one.oid == class.oid)
        })
    };
    let present = draft.keys();
    let new_must = |class: &Description| {
        let chain = draft.chain(class);
        let must = chain.iter().flat_map(|one| one.must()).map(|name| draft.key(name));
        let mut new: Vec<String> = must.filter(|key| !present.contains_key(key)).collect();
        new.sort_unstable();
        new.dedup();
        new.len()
    };
    let allowing: Vec<&Description> = schema.object_classes.iter().filter(allows).collect();
    let auxiliary = allowing.iter().copied().filter(|class| class.has("AUXILIARY"));
    let best = auxiliary
        .clone()
        .filter(is_permitted)
        .min_by(|a, b| new_must(a).cmp(&new_must(b)).then_with(|| by_oid(&a.oid, &b.oid)));
    match best {
        Some(class) if draft.has_value("objectClass", class.name()) => Err("a DIT content rule forbids it"),
        Some(class) => Ok(class.name().to_owned()),
        None if auxiliary.count() > 0 => Err("the DIT content rule has no auxiliary class that allows it"),
        None if allowing.is_empty() => Err("no object class allows it"),
        None => Err("only structural object classes allow it"),
    }
}

/// The order of object identifiers by their numbers.
fn by_oid(a: &str, b: &str) -> Ordering {
    let arcs = |oid: &str| -> Vec<(usize, String)> {
        let arcs = oid.split('.').map(|arc| arc.trim_start_matches('0'));
        arcs.map(|arc| (arc.len(), arc.to_owned())).collect()
    };
    arcs(a).cmp(&arcs(b)).then_with(|| a.cmp(b))
}

/// Adds the classes from which classes of the entry are derived; `top` is the server's to add.
fn add_superiors(draft: &mut SchemaDraft, done: &mut Vec<Repaired>) {
    // Each round adds a class, and the schema has so many.
    for _ in 0..=draft.schema().object_classes.len() {
        let classes = draft.classes();
        let missing = classes.listed.iter().find_map(|class| {
            let superior = draft.missing_superiors(&classes, class).into_iter().next()?;
            Some((superior, class.name().to_owned()))
        });
        let Some((superior, of)) = missing else { return };
        // A second structural chain is worse than an entry that says so itself.
        let leaves = draft.structural_leaves(&classes);
        let is_foreign = is_structural(superior)
            && !leaves.iter().any(|leaf| draft.chain(leaf).iter().any(|one| one.oid == superior.oid));
        if is_foreign && !leaves.is_empty() {
            return;
        }
        let class = superior.name().to_owned();
        draft.add("objectClass", &class);
        done.push(Repaired::Superior { class, of });
    }
}

/// Drops classes whose superior the entry does not have, until none is left.
fn drop_classes(draft: &mut SchemaDraft, done: &mut Vec<Repaired>) {
    loop {
        let classes = draft.classes();
        let orphan = classes.listed.iter().find_map(|class| {
            let superior = draft.missing_superiors(&classes, class).into_iter().next()?;
            Some(((*class).clone(), superior.name().to_owned()))
        });
        let Some((class, superior)) = orphan else { return };
        let values: Vec<Vec<u8>> = draft.values("objectClass").map(<[u8]>::to_vec).collect();
        let is_other = |value: &Vec<u8>| {
            let name = String::from_utf8_lossy(value);
            draft.schema().object_class(name.trim()).is_none_or(|one| one.oid != class.oid)
        };
        let kept: Vec<Vec<u8>> = values.iter().filter(|value| is_other(value)).cloned().collect();
        // Under another name of the attribute there would be no end.
        if kept.len() == values.len() {
            return;
        }
        draft.set("objectClass", kept);
        done.push(Repaired::ClassDropped { class: class.name().to_owned(), superior });
    }
}

/// Drops attributes that no class allows.
fn drop_attributes(draft: &mut SchemaDraft, done: &mut Vec<Repaired>) {
    let name: Dn = draft.dn().parse().unwrap_or_default();
    let named: Vec<String> = name
        .rdns()
        .first()
        .into_iter()
        .flat_map(|rdn| rdn.avas())
        .map(|ava| draft.key(ava.attribute()))
        .collect();
    for attribute in draft.illegal() {
        let key = draft.key(&attribute.name);
        if named.contains(&key) {
            let reason = "the name of the entry has it".to_owned();
            done.push(Repaired::NotRepaired { attribute: attribute.name, reason });
            continue;
        }
        let descriptions: Vec<String> = draft
            .attributes()
            .map(|(name, _)| name.to_owned())
            .filter(|name| draft.key(name) == key)
            .collect();
        let mut count = 0;
        for description in descriptions {
            count += draft.values(&description).count();
            draft.remove(&description);
        }
        done.push(Repaired::AttributeDropped { attribute: attribute.name, count });
    }
}
