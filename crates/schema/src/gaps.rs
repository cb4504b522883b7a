//! Gaps in the specifications that a plan would silently inherit: names without a definition, and modules given twice.

use crate::{PlanError, Schema};
use std::collections::HashSet;
use std::fmt;
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
            let gaps = schema.model.gaps(roots);
            (!gaps.is_empty()).then(|| schema.gaps_text(&gaps, false))
        })
    }

    /// Refuses gaps where values of unknown types cannot be skipped, and warns of them elsewhere, once.
    pub(crate) fn check_gaps(&self, rules: &[Rules], roots: &[TypeId]) -> Result<(), PlanError> {
        if self.options.allow_missing {
            return Ok(());
        }
        let mut gaps = self.model.gaps(roots);
        if gaps.is_empty() {
            return Ok(());
        }
        if rules.iter().any(|rules| is_packed(*rules)) {
            return Err(PlanError::Gaps(self.gaps_text(&gaps, true)));
        }
        let mut reported = self.reported.0.lock().unwrap_or_else(PoisonError::into_inner);
        gaps.names.retain(|it| reported.insert(it.span));
        gaps.twice.retain(|it| it.places.first().is_none_or(|place| reported.insert(*place)));
        if let (Some(hear), false) = (&self.options.listener.0, gaps.is_empty()) {
            hear(&self.gaps_text(&gaps, false));
        }
        Ok(())
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
