//! Character strings: of the characters that a type has and a constraint permits, of a size, or after a pattern.

use super::demand::Demand;
use super::{Choice, Sampler};
use crate::validate::Tree;
use tercet_plan::Kind;
use tercet_plan::constraint::Element;

/// Repetitions behind the least that a pattern is given.
const MORE: u32 = 3;
/// Characters of a text made after a pattern.
const LONGEST: usize = 2_000;

impl<'s> Sampler<'s> {
    /// The text of a string or time.
    pub(super) fn text_of(&mut self, site: super::Site, kind: Kind, demand: &Demand<'s>) -> String {
        let mut alphabet: Option<&'s [(u32, u32)]> = None;
        let (mut pattern, mut settings) = (None, None);
        for element in &demand.all {
            match element {
                Element::Alphabet(ranges) if alphabet.is_none_or(|known| ranges.len() < known.len()) => {
                    alphabet = Some(ranges);
                }
                Element::Pattern(text) => pattern = self.patterns.get(text),
                Element::Settings(text) => settings = Some(&**text),
                _ => {}
            }
        }
        match kind {
            Kind::UtcTime
            | Kind::GeneralizedTime
            | Kind::Time
            | Kind::Date
            | Kind::TimeOfDay
            | Kind::DateTime
            | Kind::Duration => return self.time(site, kind, settings),
            Kind::OidIri => return self.pick_text(site, &["/ISO/Registration-Authority", "/2/999", "/ISO"]),
            Kind::RelativeOidIri => return self.pick_text(site, &["Registration-Authority", "3/5", "a"]),
            _ => {}
        }
        if let Some(pattern) = pattern {
            let mut text = String::new();
            self.walk(pattern.tree(), kind, &mut text);
            return text;
        }
        let size = self.size((Choice::Size, site.1, site.2), demand, self.longest(), 12);
        let ranges = alphabet.unwrap_or_else(|| usual(kind));
        // The ends of each range once, then any.
        let ends = match self.border(site, 2 * ranges.len().min(8)) {
            Some(turn) => ranges.get(turn / 2).map(|(low, high)| if turn % 2 == 0 { *low } else { *high }),
            None => None,
        };
        let mut text = String::with_capacity(size as usize);
        for place in 0..size {
            let c = ends.filter(|_| place == 0).and_then(char::from_u32);
            text.push(c.unwrap_or_else(|| self.character(ranges)));
        }
        text
    }

    fn pick_text(&mut self, site: super::Site, all: &[&str]) -> String {
        let chosen = match self.border(site, all.len()) {
            Some(turn) => all.get(turn),
            None => self.random.pick(all),
        };
        chosen.map_or_else(String::new, |text| (*text).to_owned())
    }

    fn character(&mut self, ranges: &[(u32, u32)]) -> char {
        for _ in 0..20 {
            let Some((low, high)) = self.random.pick(ranges).copied() else { break };
            // Most ranges without an end mean letters, not what stands in far planes.
            let high = if low < 0x7E && high > 0x2FFF { 0x17F } else { high };
            let code = self.random.between(u64::from(low), u64::from(high.max(low))) as u32;
            if let Some(c) = char::from_u32(code) {
                return c;
            }
        }
        ranges.first().and_then(|(low, _)| char::from_u32(*low)).unwrap_or('a')
    }

    /// A text that a pattern matches.
    fn walk(&mut self, tree: &Tree, kind: Kind, out: &mut String) {
        if out.len() > LONGEST {
            return;
        }
        match tree {
            Tree::Boundary => {}
            Tree::Class(ranges) => {
                // What the type has, if the class has some of it.
                let both: Vec<(u32, u32)> = usual(kind)
                    .iter()
                    .flat_map(|(low, high)| ranges.iter().map(|(from, to)| (*low.max(from), *high.min(to))))
                    .filter(|(low, high)| low <= high)
                    .collect();
                let c = self.character(if both.is_empty() { ranges } else { &both });
                out.push(c);
            }
            Tree::Concat(parts) => parts.iter().for_each(|part| self.walk(part, kind, out)),
            Tree::Alternatives(parts) => {
                if let Some(part) = self.random.pick(parts) {
                    self.walk(part, kind, out);
                }
            }
            Tree::Repeat(part, least, most) => {
                let most = most.unwrap_or(u32::MAX).min(least.saturating_add(MORE));
                for _ in 0..self.random.between(u64::from(*least), u64::from(most)) {
                    self.walk(part, kind, out);
                    if out.len() > LONGEST {
                        return;
                    }
                }
            }
        }
    }
}

/// Characters that a type has: those that texts mostly consist of, and the first and last of the others.
fn usual(kind: Kind) -> &'static [(u32, u32)] {
    const LETTERS: (u32, u32) = (0x20, 0x7E);
    match kind {
        Kind::NumericString => &[(0x30, 0x39), (0x20, 0x20)],
        Kind::PrintableString => &[
            (0x41, 0x5A),
            (0x61, 0x7A),
            (0x30, 0x39),
            (0x27, 0x29),
            (0x2B, 0x2F),
            (0x3A, 0x3A),
            (0x3D, 0x3D),
        ],
        Kind::Ia5String => &[LETTERS, (0x61, 0x7A), (0x09, 0x0A), (0x7F, 0x7F)],
        Kind::Utf8String => &[LETTERS, (0x61, 0x7A), (0xC0, 0x17F), (0x20AC, 0x20AC), (0x1_F600, 0x1_F64F)],
        Kind::BmpString => &[LETTERS, (0x61, 0x7A), (0xC0, 0x17F), (0x4E00, 0x9FFF), (0xFFFD, 0xFFFD)],
        Kind::UniversalString => &[LETTERS, (0x61, 0x7A), (0xC0, 0x17F), (0x1_F600, 0x1_F64F)],
        _ => &[LETTERS],
    }
}
