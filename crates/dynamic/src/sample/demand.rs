//! What a value has to be like: restrictions with their unions decided, one part of each.

use super::{Choice, Sampler};
use tercet_plan::Kind;
use tercet_plan::NameId;
use tercet_plan::constraint::{Components, Element, Presence, Restriction, RestrictionId};
use tercet_plan::shape::Constant;

/// Elements inside one another that are followed.
const DEPTH: u16 = 100;

/// Elements that all have to be met, none of them a union.
#[derive(Debug, Default)]
pub(super) struct Demand<'s> {
    pub(super) all: Vec<&'s Element>,
    /// WITH COMPONENT: for each element of a list.
    pub(super) elements: Vec<&'s Element>,
    /// WITH COMPONENTS.
    components: Vec<&'s Components>,
    sizes: Option<Vec<(u64, Option<u64>)>>,
    /// Whether the value is a CHOICE: a component that is named need not be there.
    is_choice: bool,
}

/// Whether a component has to be there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    Present,
    Absent,
    Free,
}

/// What is wanted of a component.
#[derive(Debug)]
pub(super) struct Component<'s> {
    pub(super) presence: Wanted,
    pub(super) values: Vec<&'s Element>,
}

impl<'s> Demand<'s> {
    /// Nothing is wanted yet of a value of this kind.
    pub(super) fn of(kind: Kind) -> Self {
        Self { is_choice: kind == Kind::Choice, ..Self::default() }
    }

    /// The sizes that are wanted, as disjoint ranges.
    pub(super) fn sizes(&self) -> Vec<(u64, Option<u64>)> {
        self.sizes.clone().unwrap_or_else(|| vec![(0, None)])
    }

    /// Whether a REAL has to be a number of base 10 (X.680 §21.5).
    pub(super) fn wants_base_10(&self, shape: &tercet_plan::Shape) -> bool {
        let ten = |number: &Option<tercet_plan::constraint::Number>| {
            number.as_ref().is_some_and(|number| *number.0 == [10])
        };
        self.components.iter().flat_map(|components| &components.list).any(|part| {
            shape.name(part.name) == "base"
                && matches!(&part.value, Some(Restriction { root: Element::Integers(ranges), .. })
                    if ranges.iter().all(|(low, high)| ten(low) && ten(high)))
        })
    }

    /// What is wanted of a component (X.680 §51.8).
    pub(super) fn of_component(&self, name: NameId) -> Component<'s> {
        let mut wanted = Component { presence: Wanted::Free, values: Vec::new() };
        for components in &self.components {
            let part = components.list.iter().find(|part| part.name == name);
            let presence = match part.map(|part| part.presence) {
                None if components.partial => Wanted::Free,
                None | Some(Some(Presence::Absent)) => Wanted::Absent,
                Some(Some(Presence::Present)) => Wanted::Present,
                Some(None) if !components.partial && !self.is_choice => Wanted::Present,
                Some(_) => Wanted::Free,
            };
            if wanted.presence == Wanted::Free || presence == Wanted::Absent {
                wanted.presence = presence;
            }
            if let Some(Restriction { root, extensible: false, .. }) =
                part.and_then(|part| part.value.as_ref())
            {
                wanted.values.push(root);
            }
        }
        wanted
    }

    fn meet_sizes(&mut self, ranges: &[(u64, Option<u64>)]) {
        let known = self.sizes();
        let mut both = Vec::new();
        for (low, high) in &known {
            for (from, to) in ranges {
                let low = *low.max(from);
                let high = match (high, to) {
                    (Some(a), Some(b)) => Some(*a.min(b)),
                    (a, b) => a.or(*b),
                };
                if high.is_none_or(|high| low <= high) {
                    both.push((low, high));
                }
            }
        }
        both.sort_unstable();
        self.sizes = Some(if both.is_empty() { known } else { both });
    }
}

impl<'s> Sampler<'s> {
    /// The restrictions of a node and of the edge to it; of the last, what stands behind `...` takes its turn.
    pub(super) fn gather_restrictions(
        &mut self,
        node: &'s [RestrictionId],
        edge: &[RestrictionId],
        demand: &mut Demand<'s>,
    ) {
        let list = &self.shape.restrictions;
        let mut ids = node.iter().chain(edge).copied().peekable();
        while let Some(id) = ids.next() {
            let restriction = list.get(id);
            if let (None, true, Some(additions)) =
                (ids.peek(), restriction.extensible, &restriction.additions)
            {
                let behind = match self.border((Choice::Part, id.0 as usize, 0), 6) {
                    Some(turn) => turn % 3 == 2,
                    None => self.random.one_in(4),
                };
                self.gather(if behind { additions } else { &restriction.root }, demand, 0);
            } else {
                self.gather(&restriction.root, demand, 0);
            }
        }
    }

    /// Adds an element, one part of each union.
    pub(super) fn gather(&mut self, element: &'s Element, demand: &mut Demand<'s>, depth: u16) {
        if depth > DEPTH {
            return;
        }
        let depth = depth + 1;
        match element {
            Element::All | Element::UserDefined => {}
            Element::Union(parts) => {
                // The place in memory tells one union from another; what is chosen does not depend on it.
                let site = (Choice::Part, std::ptr::from_ref(element).addr(), 1);
                let chosen = match self.border(site, parts.len()) {
                    Some(turn) => parts.get(turn),
                    None => self.random.pick(parts),
                };
                if let Some(part) = chosen {
                    self.gather(part, demand, depth);
                }
            }
            Element::Intersection(parts) => {
                for part in parts {
                    self.gather(part, demand, depth);
                }
            }
            Element::Except(from, _) => {
                self.gather(from, demand, depth);
                demand.all.push(element);
            }
            Element::Subtype(_, ids) => {
                for id in ids {
                    self.gather(&self.shape.restrictions.get(*id).root, demand, depth);
                }
            }
            Element::Component(inner) => {
                if !inner.extensible {
                    demand.elements.push(&inner.root);
                }
            }
            Element::Components(parts) => {
                demand.components.push(parts);
                demand.all.push(element);
            }
            Element::Sizes(ranges) => {
                demand.meet_sizes(ranges);
                demand.all.push(element);
            }
            _ => demand.all.push(element),
        }
    }

    /// A constant that has to be taken: a single value, or that of an object.
    pub(super) fn given(&mut self, demand: &Demand<'s>) -> Option<&'s Constant> {
        let shape = self.shape;
        for element in &demand.all {
            match element {
                Element::Value(constant) => return Some(constant),
                Element::Object(table, keys) => {
                    let rows = &shape.restrictions.sets.get(*table as usize)?.rows;
                    let known = |key: &u16| self.registers.get(usize::from(*key)).and_then(Option::as_ref);
                    let wanted: Vec<_> = keys.iter().map(known).collect();
                    let fitting: Vec<&'s Constant> = rows
                        .iter()
                        .filter(|(own, _)| own.iter().map(Some).eq(wanted.iter().copied()))
                        .map(|(_, value)| value)
                        .collect();
                    let site = (Choice::Row, *table as usize, 1);
                    let chosen = match self.border(site, fitting.len()) {
                        Some(turn) => fitting.get(turn),
                        None => self.random.pick(&fitting),
                    };
                    if let Some(chosen) = chosen {
                        return Some(chosen);
                    }
                }
                _ => {}
            }
        }
        None
    }

    /// A size: the ends of the ranges and what is near to 0 and 128, then any that is no more than `usual` above the
    /// least; no more than `most` if that is possible.
    pub(super) fn size(&mut self, site: super::Site, demand: &Demand<'s>, most: u64, usual: u64) -> u64 {
        let ranges = demand.sizes();
        let least = ranges.first().map_or(0, |(low, _)| *low);
        let mut borders = Vec::new();
        for (low, high) in &ranges {
            borders.extend([*low, low.saturating_add(1), high.unwrap_or(*low)]);
        }
        borders.extend([2, 127, 128]);
        if self.options.large {
            borders.extend([16_383, 16_384, 65_535, 65_536]);
        }
        let fits = |size: &u64| {
            ranges.iter().any(|(low, high)| size >= low && high.is_none_or(|high| *size <= high))
        };
        borders.retain(|size| fits(size) && *size <= most);
        let mut seen = Vec::new();
        borders.retain(|size| {
            !seen.contains(size) && {
                seen.push(*size);
                true
            }
        });
        let size = match self.border(site, borders.len()) {
            Some(turn) => borders.get(turn).copied().unwrap_or(least),
            None => {
                let (low, high) = self.random.pick(&ranges).copied().unwrap_or((least, None));
                let high = high.unwrap_or(u64::MAX).min(low.saturating_add(usual)).min(most.max(low));
                if low > most { least } else { self.random.between(low, high) }
            }
        };
        self.within_limits(size)
    }
}
