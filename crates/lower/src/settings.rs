//! The property settings of time types (X.680 38.2), by which PER and OER choose what numbers they write.

use std::collections::BTreeMap;
use tercet_model::ir::{ConstraintKind, Element, Model, TypeId};

/// Property settings of X.680 38.2 that hold for all values.
pub(crate) type Settings<'m> = BTreeMap<&'m str, &'m str>;

/// The settings that the constraints of a type come to; the outermost first, all of them hold.
pub(crate) fn settings(model: &Model, ty: TypeId) -> Option<Settings<'_>> {
    let mut all = Settings::new();
    for constraint in model.each_constraint(ty) {
        if let ConstraintKind::Subtype(set) = &constraint.kind
            && let Some(found) = of_element(&set.root)
        {
            all.extend(found);
        }
    }
    (!all.is_empty()).then_some(all)
}

fn of_element(element: &Element) -> Option<Settings<'_>> {
    match element {
        Element::Settings(text) => {
            Some(text.split_whitespace().filter_map(|setting| setting.split_once('=')).collect())
        }
        Element::Intersection(parts) => {
            let found: Settings<'_> = parts.iter().filter_map(of_element).flatten().collect();
            (!found.is_empty()).then_some(found)
        }
        // What differs is open, but for the year: only whether all have at most four digits and no sign counts.
        Element::Union(parts) => {
            let mut parts = parts.iter().map(of_element);
            let mut all = parts.next()??;
            for part in parts {
                let part = part?;
                let (mine, other) = (all.get("Year").copied(), part.get("Year").copied());
                all.retain(|key, value| part.get(key) == Some(value));
                if let (Some(mine), Some(other)) = (mine, other) {
                    all.insert("Year", if is_short(mine) && is_short(other) { "Basic" } else { "Any" });
                }
            }
            Some(all)
        }
        _ => None,
    }
}

/// Whether years have four digits and no sign.
pub(crate) fn is_short(year: &str) -> bool {
    matches!(year, "Basic" | "Proleptic")
}
