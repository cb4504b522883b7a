//! What names mean: attribute types by any of their names, with those derived from them, and object classes likewise.

use std::borrow::Cow;

use super::{DERIVED, Description, Places, Schema};
use crate::matching::Rule;

impl Places {
    /// Finds for each description those that are derived from it, over any number of steps.
    pub(super) fn derived(list: &[Description], find: impl Fn(&str) -> Option<usize>) -> Vec<Vec<usize>> {
        let mut derived = vec![Vec::new(); list.len()];
        for place in 0..list.len() {
            let mut above = vec![place];
            let mut next = 0;
            while let Some(at) = above.get(next).copied() {
                next += 1;
                let superiors = list.get(at).into_iter().flat_map(|one| one.superiors());
                for superior in superiors.filter_map(|name| find(name)) {
                    // Descriptions may be derived from one another in a circle.
                    if !above.contains(&superior) && above.len() < DERIVED {
                        above.push(superior);
                    }
                }
            }
            for at in above.into_iter().skip(1) {
                if let Some(list) = derived.get_mut(at) {
                    list.push(place);
                }
            }
        }
        derived
    }
}

/// The name of an attribute description, and its options with the sign before them.
fn parts(description: &str) -> (&str, &str) {
    let end = description.find(';').unwrap_or(description.len());
    description.split_at(end)
}

impl Schema {
    /// An attribute description by the usual name of its type (RFC 4512 2.5); as it is if the type is not known.
    pub(crate) fn usual<'d>(&self, description: &'d str) -> Cow<'d, str> {
        let (name, options) = parts(description);
        match self.attribute_type(name).map(Description::name) {
            Some(usual) if !usual.eq_ignore_ascii_case(name) => Cow::Owned(format!("{usual}{options}")),
            _ => Cow::Borrowed(description),
        }
    }

    /// The attribute descriptions that one stands for: the type by its usual name, and the types derived from it (RFC 4512 2.5.1).
    pub(crate) fn described(&self, description: &str) -> Vec<String> {
        let (name, options) = parts(description);
        let places = self.places();
        let Some(place) = places.attribute_types.get(&name.to_ascii_lowercase()).copied() else {
            return vec![description.to_owned()];
        };
        let mut all = vec![self.usual(description).into_owned()];
        let derived = places.subtypes.get(place).into_iter().flatten();
        let derived = derived.filter_map(|place| self.attribute_types.get(*place));
        all.extend(derived.map(|one| format!("{}{options}", one.name())));
        all
    }

    /// The rule by which a directory compares values of an attribute: that of the schema, and for the usual attributes and those that are
    /// not known [`Rule::of_attribute`].
    pub(crate) fn matching(&self, description: &str) -> Rule {
        let usual = Rule::of_attribute(description);
        if usual != Rule::CaseIgnore {
            return usual;
        }
        let (name, _) = parts(description);
        let places = self.places();
        let place = places.attribute_types.get(&name.to_ascii_lowercase());
        let Some(kept) = place.and_then(|place| places.rules.get(*place)) else { return usual };
        *kept.get_or_init(|| match self.rule(name) {
            // Texts of UUIDs have letters of either case.
            Rule::Octets if self.inherited(name, "EQUALITY").is_some_and(is_of_uuids) => usual,
            rule => rule,
        })
    }

    /// The values of objectClass of entries that belong to a class: its names and object identifier, and those of classes derived from
    /// it (RFC 4512 3.3). `None` for `top`, to which all entries belong.
    pub(crate) fn classes(&self, class: &str) -> Option<Vec<String>> {
        let places = self.places();
        let Some(place) = places.object_classes.get(&class.to_ascii_lowercase()).copied() else {
            return Some(vec![class.to_owned()]);
        };
        if self.object_classes.get(place).is_some_and(|one| one.oid == TOP) {
            return None;
        }
        let derived = places.subclasses.get(place).into_iter().flatten();
        let all =
            [place].into_iter().chain(derived.copied()).filter_map(|place| self.object_classes.get(place));
        Some(all.flat_map(|one| one.names().iter().chain([&one.oid])).cloned().collect())
    }
}

/// Whether a rule is uuidMatch (RFC 4530 2.2).
fn is_of_uuids(rule: &str) -> bool {
    rule.eq_ignore_ascii_case("uuidMatch") || rule == "1.3.6.1.1.16.2"
}

/// The object identifier of `top`.
const TOP: &str = "2.5.6.0";
