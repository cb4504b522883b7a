//! What there is to say about modules: of single names at once, of the whole when it is asked for.

use crate::check;
use crate::ir::Model;
use crate::options::Options;
use rustc_hash::FxHashSet;
use tercet_syntax::{Diagnostic, Span};

/// The findings of [`crate::bind`]. Mistakes that only the whole shows are not looked for yet: whoever has bytes to decode
/// needs none of them, since lenient reading makes warnings of them all.
#[derive(Clone, Debug, Default)]
pub struct Findings {
    diagnostics: Vec<Diagnostic>,
    reported: FxHashSet<(Span, &'static str)>,
}

impl Findings {
    /// Takes a diagnostic. The same code at the same place is said once.
    pub(crate) fn report(&mut self, diagnostic: Diagnostic) {
        if self.reported.insert((diagnostic.primary.span, diagnostic.code)) {
            self.diagnostics.push(diagnostic);
        }
    }

    /// Returns the findings so far, in no order. No error is missing if the modules were read leniently.
    pub fn so_far(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    /// Looks for mistakes that only the whole shows, and returns all findings in the order of the text. The model and the
    /// options are those that [`crate::bind`] gave and took.
    #[must_use]
    pub fn complete(mut self, model: &Model, options: &Options) -> Vec<Diagnostic> {
        let found = check::check(model, options);
        debug_assert!(
            !options.lenient || !found.iter().any(Diagnostic::is_error),
            "errors that come too late"
        );
        found.into_iter().for_each(|finding| self.report(finding));
        self.diagnostics.sort_by_key(|diagnostic| diagnostic.primary.span);
        self.diagnostics
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tercet_syntax::{ParseOptions, SourceMap, parse};

    #[test]
    fn checks_of_the_whole_wait_until_they_are_asked_for() {
        let mut map = SourceMap::new();
        let id = map.add("a.asn", "A DEFINITIONS ::= BEGIN S ::= SEQUENCE { a NULL, a [0] Missing } END");
        let (modules, _) = parse(&map, id, &ParseOptions::default());
        for lenient in [true, false] {
            let options = Options { lenient, ..Options::default() };
            let (model, findings) = crate::bind(&map, &modules, &options);
            let codes = |list: &[Diagnostic]| list.iter().map(|it| it.code).collect::<Vec<_>>();
            assert_eq!(codes(findings.so_far()), ["E0201"]);
            let all = findings.complete(&model, &options);
            assert_eq!(codes(&all), ["E0263", "E0201"]);
            assert!(all.iter().all(|it| it.is_error() != lenient));
            assert_eq!(all, crate::resolve(&map, &modules, &options).1);
        }
    }
}
