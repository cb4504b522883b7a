//! Gaps in the specifications that a plan would silently inherit: names without a definition, and modules given twice.

use crate::cache::Question;
use crate::{PlanError, Schema};
use std::collections::HashSet;
use std::fmt;
use std::iter;
use std::sync::{Arc, Mutex, PoisonError};
use tercet_model::ir::TypeId;
use tercet_model::{Cause, Gaps, Unresolved};
use tercet_plan::Rules;
use tercet_syntax::Span;

/// Names that a message lists.
const LISTED: usize = 5;

/// What becomes of warnings; by default they are dropped.
#[derive(Clone, Default)]
pub struct Listener(Option<Arc<Hear>>);

type Hear = dyn Fn(&str) + Send + Sync;

impl Listener {
    /// Makes a listener of a function that takes the text of a warning; lines behind the first begin with `help:`.
    pub fn new(hear: impl Fn(&str) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(hear)))
    }

    /// Whether warnings are dropped.
    pub fn is_none(&self) -> bool {
        self.0.is_none()
    }
}

impl fmt::Debug for Listener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_none() { "Listener(none)" } else { "Listener" })
    }
}

/// Gaps that have been reported, by their place.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reported(Arc<Mutex<HashSet<Span>>>);

/// A warning about gaps: their places, and its text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Warning {
    places: Vec<Span>,
    text: String,
}

impl Warning {
    /// Returns the warning as bytes: the number of places, these, the number of octets of the text, this; numbers have four
    /// octets, big-endian.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let places = self.places.iter().flat_map(|place| [place.lo, place.hi]);
        let numbers = iter::once(self.places.len() as u32).chain(places).chain([self.text.len() as u32]);
        numbers.flat_map(u32::to_be_bytes).chain(self.text.bytes()).collect()
    }

    /// Reads a warning, and returns what follows.
    pub(crate) fn split(octets: &[u8]) -> Option<(Self, &[u8])> {
        let (count, mut rest) = number(octets)?;
        let mut places = Vec::new();
        for _ in 0..count {
            let (lo, more) = number(rest)?;
            let (hi, more) = number(more)?;
            places.push(Span::new(lo, hi));
            rest = more;
        }
        let (length, rest) = number(rest)?;
        let (text, rest) = rest.split_at_checked(length as usize)?;
        Some((Self { places, text: String::from_utf8(text.to_vec()).ok()? }, rest))
    }
}

fn number(octets: &[u8]) -> Option<(u32, &[u8])> {
    octets.split_first_chunk().map(|(number, rest)| (u32::from_be_bytes(*number), rest))
}

impl Schema {
    /// Describes what some types (`Type` or `Module.Type`; without names, those that no other refers to) and all that they
    /// reach lack: names without a definition, and modules given twice. `None` if nothing is lacking.
    ///
    /// # Errors
    /// [`PlanError`] for a type that is none.
    pub fn gaps(&self, types: &[&str]) -> Result<Option<String>, PlanError> {
        if self.is_compiled() {
            return types.iter().try_for_each(|name| self.check_type(name)).map(|()| None);
        }
        self.with_roots(types, |schema, roots| {
            let gaps = schema.model().gaps(roots);
            (!gaps.is_empty()).then(|| schema.gaps_text(&gaps, false))
        })
    }

    /// Returns those of some types (`Type` or `Module.Type`) that lack something.
    pub(crate) fn lacking(&self, types: &[&str]) -> Vec<String> {
        let lacks = |name: &&&str| self.gaps(&[name]).is_ok_and(|gaps| gaps.is_some());
        let find = || types.iter().filter(lacks).map(|name| (*name).to_owned()).collect();
        if self.is_compiled() { find() } else { self.kept_names(&Question::Lacking(types), find) }
    }

    /// Refuses gaps where values of unknown types cannot be skipped, and warns of them elsewhere, once. Returns the warning
    /// about all of them.
    pub(crate) fn check_gaps(&self, rules: &[Rules], roots: &[TypeId]) -> Result<Warning, PlanError> {
        if self.options.allow_missing {
            return Ok(Warning::default());
        }
        let mut gaps = self.model().gaps(roots);
        if gaps.is_empty() {
            return Ok(Warning::default());
        }
        if rules.iter().any(|rules| is_packed(*rules)) {
            return Err(PlanError::Gaps(self.gaps_text(&gaps, true)));
        }
        let of_modules = gaps.twice.iter().filter_map(|it| it.places.first().copied());
        let places = gaps.names.iter().map(|it| it.span).chain(of_modules).collect();
        let warning = Warning { places, text: self.gaps_text(&gaps, false) };
        if !self.repeat(&warning) {
            let mut reported = self.reported.0.lock().unwrap_or_else(PoisonError::into_inner);
            gaps.names.retain(|it| reported.insert(it.span));
            gaps.twice.retain(|it| it.places.first().is_none_or(|place| reported.insert(*place)));
            self.hear(&self.gaps_text(&gaps, false));
        }
        Ok(warning)
    }

    /// Reports a warning, unless all of it has been reported. Returns `false`, and reports nothing, if a part of it has been.
    pub(crate) fn repeat(&self, warning: &Warning) -> bool {
        let mut reported = self.reported.0.lock().unwrap_or_else(PoisonError::into_inner);
        match warning.places.iter().filter(|place| reported.contains(place)).count() {
            0 if !warning.text.is_empty() => {
                reported.extend(&warning.places);
                self.hear(&warning.text);
                true
            }
            known => known == warning.places.len(),
        }
    }

    fn hear(&self, text: &str) {
        if let Some(hear) = &self.options.listener.0 {
            hear(text);
        }
    }

    fn gaps_text(&self, gaps: &Gaps<'_>, packed: bool) -> String {
        let mut lines = Vec::new();
        if !gaps.names.is_empty() {
            lines.push(format!("names without a definition: {}", self.names_text(&gaps.names)));
        }
        for twice in &gaps.twice {
            let places: Vec<String> = twice.places.iter().map(|place| self.place_text(*place)).collect();
            let (used, others) = places.split_first().map_or(("", &[][..]), |(a, b)| (a.as_str(), b));
            let others = others.join(", ");
            let line = format!("module `{}` is given twice: {used} is used, {others} is not", twice.name);
            lines.push(line);
        }
        let mut modules: Vec<&str> = Vec::new();
        for it in &gaps.names {
            if let Cause::NoModule(module) = &it.cause
                && !modules.contains(&module.as_str())
            {
                modules.push(module);
            }
        }
        let help = match (modules.as_slice(), gaps.names.is_empty()) {
            (_, true) => "give one of the files only".to_owned(),
            ([], false) => "`tercet check` shows each of them".to_owned(),
            (modules, false) => format!("give the specification of {}", quoted(modules.iter().copied())),
        };
        let why = match packed {
            true => "values of unknown types have no known length in PER and OER",
            false => "values of unknown types are kept as bytes, where their tags allow it",
        };
        let why = if gaps.names.is_empty() { String::new() } else { format!("; {why}") };
        lines.push(format!("help: {help}, or allow gaps with `--allow-missing` (`allow_missing`){why}"));
        lines.join("\n")
    }

    fn names_text(&self, names: &[&Unresolved]) -> String {
        let mut known = HashSet::new();
        let unique: Vec<_> = names.iter().filter(|it| known.insert((&it.name, &it.cause))).collect();
        let mut text = unique.iter().take(LISTED).map(|it| self.name_text(it)).collect::<Vec<_>>().join(", ");
        if unique.len() > LISTED {
            text += &format!(", and {} more", unique.len() - LISTED);
        }
        text
    }

    fn name_text(&self, it: &Unresolved) -> String {
        let name = &it.name;
        match &it.cause {
            Cause::Unknown => format!("`{name}` ({})", self.place_text(it.span)),
            Cause::NoModule(module) => format!("`{name}` (module `{module}` is not given)"),
            Cause::NotDefined(module) => format!("`{name}` (not in module `{module}`)"),
            Cause::NoParameters => format!("`{name}` (without parameters, {})", self.place_text(it.span)),
        }
    }

    fn place_text(&self, span: Span) -> String {
        let file = &self.sources.file(self.sources.file_of(span.lo)).name;
        format!("{file}:{}", self.sources.line_column(span.lo).line)
    }
}

fn quoted<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let mut names: Vec<String> = names.map(|name| format!("`{name}`")).collect();
    let more = names.len().saturating_sub(LISTED);
    names.truncate(LISTED);
    let more = if more > 0 { format!(" and {more} more modules") } else { String::new() };
    format!("module{} {}{more}", if names.len() > 1 { "s" } else { "" }, names.join(", "))
}

/// Whether the rules write values without tags and lengths around them.
pub(crate) const fn is_packed(rules: Rules) -> bool {
    !matches!(rules, Rules::Ber | Rules::Der | Rules::Cer)
}
