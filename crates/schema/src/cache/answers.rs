//! Questions about specifications, and their answers as bytes.

use super::{Key, PlanCache};
use crate::gaps::Warning;
use crate::{PlanError, Schema};
use std::sync::atomic::{AtomicU32, Ordering};
use tercet_plan::{Plan, Rules, bytes};

/// Entries that one schema writes at most: a search over thousands of types must not push out everything else.
const WRITTEN: u32 = 64;

/// A question whose answer is kept. Answers that are errors or "no" are not.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Question<'q> {
    /// Whether the specifications have no errors.
    Sound,
    /// Whether there is one type of a name.
    Defined(&'q str),
    /// Whether all encoding instructions of types are supported.
    ExtendedXer(&'q [&'q str]),
    /// The types that no other refers to.
    Outermost,
    /// The types that are messages.
    Messages,
    /// Those of some types that lack something.
    Lacking(&'q [&'q str]),
    /// Plans for rules and types.
    Plans(&'q [Rules], &'q [&'q str]),
    /// Plans for trials.
    Trials(&'q [Rules], &'q [&'q str]),
}

impl Question<'_> {
    fn key(&self, mut key: Key) -> [u8; 32] {
        let (kind, rules, types): (u8, &[Rules], &[&str]) = match self {
            Self::Sound => (0, &[], &[]),
            Self::Defined(name) => (1, &[], &[name]),
            Self::ExtendedXer(types) => (2, &[], types),
            Self::Outermost => (3, &[], &[]),
            Self::Messages => (4, &[], &[]),
            Self::Lacking(types) => (5, &[], types),
            Self::Plans(rules, types) => (6, rules, types),
            Self::Trials(rules, types) => (7, rules, types),
        };
        key.add(&[kind]);
        key.add_all(rules.iter().map(|rules| rules.label().as_bytes()));
        key.add_all(types.iter().map(|name| name.as_bytes()));
        key.digest()
    }
}

/// The entries about one set of specifications.
#[derive(Debug)]
pub(crate) struct Entries {
    cache: PlanCache,
    /// Digest of texts and options.
    key: Key,
    written: AtomicU32,
}

impl Entries {
    pub(super) fn new(cache: PlanCache, key: Key) -> Self {
        Self { cache, key, written: AtomicU32::new(0) }
    }

    fn read(&self, question: &Question<'_>) -> Option<Vec<u8>> {
        self.cache.read(&question.key(self.key.clone()))
    }

    fn write(&self, question: &Question<'_>, answer: &[u8]) {
        if self.written.fetch_add(1, Ordering::Relaxed) < WRITTEN {
            self.cache.write(&question.key(self.key.clone()), answer);
        }
    }
}

impl Schema {
    fn kept(&self, question: &Question<'_>) -> Option<Vec<u8>> {
        self.entries.as_ref()?.read(question)
    }

    fn keep(&self, question: &Question<'_>, answer: impl FnOnce() -> Option<Vec<u8>>) {
        if let Some(entries) = &self.entries
            && let Some(answer) = answer()
        {
            entries.write(question, &answer);
        }
    }

    /// Returns whether something is so, by the cache or by `find`.
    pub(crate) fn holds(&self, question: &Question<'_>, find: impl FnOnce() -> bool) -> bool {
        if self.kept(question).is_some() {
            return true;
        }
        let found = find();
        self.keep(question, || found.then(Vec::new));
        found
    }

    /// Returns names, by the cache or by `find`.
    pub(crate) fn kept_names(
        &self,
        question: &Question<'_>,
        find: impl FnOnce() -> Vec<String>,
    ) -> Vec<String> {
        if let Some(kept) = self.kept(question)
            && let Ok(text) = String::from_utf8(kept)
        {
            return text.lines().map(str::to_owned).collect();
        }
        let found = find();
        let is_whole = found.iter().all(|name| !name.is_empty() && !name.contains(['\n', '\r']));
        self.keep(question, || is_whole.then(|| found.join("\n").into_bytes()));
        found
    }

    /// Returns plans, by the cache or by `make`, which has reported the warning that it returns.
    pub(crate) fn kept_plans(
        &self,
        question: &Question<'_>,
        make: impl FnOnce() -> Result<(Vec<Plan>, Warning), PlanError>,
    ) -> Result<Vec<Plan>, PlanError> {
        if let Some(kept) = self.kept(question)
            && let Some((warning, octets)) = Warning::split(&kept)
            && let Ok(plans) = bytes::read(octets)
            && self.repeat(&warning)
        {
            return Ok(plans);
        }
        let (plans, warning) = make()?;
        self.keep(question, || {
            let octets = bytes::write(&plans)?;
            // What cannot be read again, or becomes another plan, is not kept.
            (bytes::read(&octets).ok()? == plans).then(|| [warning.to_bytes(), octets].concat())
        });
        Ok(plans)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Detector, Listener, Rules, SchemaOptions};
    use std::fs;
    use std::path::{Path, PathBuf};
    use std::sync::{Arc, Mutex};
    use tempfile::TempDir;

    const TEXT: &str = "M DEFINITIONS AUTOMATIC TAGS ::= BEGIN
        Call ::= SEQUENCE { a INTEGER (0..7) DEFAULT 3, b Text OPTIONAL }
        Text ::= UTF8String
        CallPDU ::= CHOICE { call Call, none NULL }
        Half ::= SEQUENCE { a Missing }
        Gap ::= SEQUENCE { a Half, b Absent }
        P {INTEGER : m} ::= SEQUENCE { a INTEGER (0..m) }
        END";

    struct Bench {
        dir: TempDir,
        options: SchemaOptions,
        heard: Arc<Mutex<Vec<String>>>,
    }

    impl Bench {
        fn new() -> Self {
            let dir = tempfile::tempdir().unwrap();
            fs::write(dir.path().join("m.asn"), TEXT).unwrap();
            let heard = Arc::<Mutex<Vec<String>>>::default();
            let to = Arc::clone(&heard);
            let listener = Listener::new(move |text| to.lock().unwrap().push(text.to_owned()));
            let cache = Some(PlanCache::new(dir.path().join("cache")));
            Self { dir, options: SchemaOptions { cache, listener, ..SchemaOptions::default() }, heard }
        }

        fn path(&self) -> PathBuf {
            self.dir.path().join("m.asn")
        }

        fn load(&self) -> Schema {
            Schema::load(&[self.path()], &self.options).unwrap()
        }

        /// What a question comes to in a run of its own, with what was heard: not cached, then by a run that fills the cache,
        /// then by one that finds the answer there. The last need not parse, unless it says so.
        fn check<T: PartialEq + std::fmt::Debug>(&self, is_kept: bool, ask: impl Fn(&Schema) -> T) {
            let run = |options: &SchemaOptions| {
                let schema = Schema::load(&[self.path()], options).unwrap();
                let found = (ask(&schema), std::mem::take(&mut *self.heard.lock().unwrap()));
                (found, schema.is_resolved())
            };
            let plain = run(&SchemaOptions { cache: None, ..self.options.clone() });
            assert_eq!(run(&self.options), (plain.0, true));
            let (plain, _) = run(&SchemaOptions { cache: None, ..self.options.clone() });
            assert_eq!(run(&self.options), (plain, !is_kept));
        }

        fn entries(&self) -> Vec<PathBuf> {
            let entries = fs::read_dir(self.dir.path().join("cache"));
            entries.into_iter().flatten().map(|entry| entry.unwrap().path()).collect()
        }
    }

    #[test]
    fn warm_answers_are_those_of_the_compiler_and_need_no_parsing() {
        Bench::new().check(true, Schema::has_errors);
        Bench::new().check(true, Schema::outermost_names);
        Bench::new().check(true, Schema::messages);
        Bench::new().check(true, |schema| schema.check_type("Call"));
        Bench::new().check(false, |schema| schema.check_type("Cal"));
        let bench = Bench::new();
        for rules in [Rules::Ber, Rules::Cer, Rules::Aper, Rules::CanonicalUper, Rules::Oer] {
            for name in ["Call", "M.CallPDU", "P {7}"] {
                bench.check(true, |schema| schema.plan(rules, &[name]));
            }
        }
        bench.check(true, |schema| schema.plans(&[Rules::Ber, Rules::Der], &["Call"]));
        bench.check(true, |schema| schema.plans(&[Rules::Uper, Rules::Ber], &["Call", "Text"]));
        bench.check(true, |schema| schema.plan(Rules::Ber, &[]));
        // Errors come from the compiler.
        for name in ["Cal", "P", "Call {7}", "N.Call"] {
            bench.check(false, |schema| schema.plan(Rules::Ber, &[name]));
        }
        bench.check(true, |schema| schema.plan_for(Rules::Exer, &["Text"]));
        bench.check(true, |schema| {
            let found = Detector::new(schema, &[], None).map(|detector| detector.types().to_vec());
            (found, schema.lacking(&["Gap", "Call"]))
        });
    }

    #[test]
    fn warnings_are_repeated_once() {
        let bench = Bench::new();
        bench.check(true, |schema| schema.plan(Rules::Ber, &["Gap"]));
        bench.check(true, |schema| (0..2).map(|_| schema.plan(Rules::Der, &["Half"])).collect::<Vec<_>>());
        assert!(bench.load().plan(Rules::Ber, &["Gap"]).is_ok());
        let heard = std::mem::take(&mut *bench.heard.lock().unwrap());
        assert!(
            heard.len() == 1 && heard[0].starts_with("names without a definition: `Missing`"),
            "{heard:?}"
        );
        bench.check(false, |schema| schema.plan(Rules::Uper, &["Gap"]));
        // All of the second has been reported with the first; of the third a part.
        let both =
            |schema: &Schema, names: [&str; 2]| names.map(|name| schema.plan(Rules::Ber, &[name]).is_ok());
        bench.check(true, |schema| both(schema, ["Gap", "Half"]));
        bench.check(false, |schema| both(schema, ["Half", "Gap"]));
    }

    #[test]
    fn answers_belong_to_texts_names_and_options() {
        let bench = Bench::new();
        let is_cold = |paths: &[&Path], options: &SchemaOptions| {
            let paths: Vec<PathBuf> = paths.iter().map(|path| (*path).to_owned()).collect();
            let schema = Schema::load(&paths, options).unwrap();
            assert!(schema.plan(Rules::Ber, &["Call"]).is_ok());
            schema.is_resolved()
        };
        let (path, other) = (bench.path(), bench.dir.path().join("n.asn"));
        let base = &bench.options;
        fs::copy(&path, &other).unwrap();
        assert!(is_cold(&[&path], base) && !is_cold(&[&path], base));
        assert!(is_cold(&[&other], base));
        fs::write(&other, "N DEFINITIONS ::= BEGIN A ::= NULL END").unwrap();
        assert!(is_cold(&[&path, &other], base) && is_cold(&[&other, &path], base));
        for options in [
            SchemaOptions { strict: true, ..base.clone() },
            SchemaOptions { aliases: vec![("A".into(), "B".into())], ..base.clone() },
            SchemaOptions { tagging: tercet_model::Tagging::Explicit, ..base.clone() },
            SchemaOptions { tagging: tercet_model::Tagging::ImplicitExceptChoice, ..base.clone() },
            SchemaOptions { duplicates: tercet_model::Duplicates::First, ..base.clone() },
            SchemaOptions { faults_are_errors: true, ..base.clone() },
            SchemaOptions { allow_missing: true, ..base.clone() },
        ] {
            assert!(is_cold(&[&path], &options), "{options:?}");
            assert!(!is_cold(&[&path], &options), "{options:?}");
        }
        assert!(!is_cold(&[&path], base));
        fs::write(&path, TEXT.replace("0..7", "0..8")).unwrap();
        assert!(is_cold(&[&path], base));
    }

    #[test]
    fn damaged_entries_are_worked_out_again() {
        let bench = Bench::new();
        let plan = bench.load().plan(Rules::Ber, &["Call"]);
        let entries = bench.entries();
        let whole = fs::read(&entries[0]).unwrap();
        for at in (0..whole.len()).step_by(7) {
            let mut octets = whole.clone();
            octets[at] ^= 1;
            fs::write(&entries[0], octets).unwrap();
            let schema = bench.load();
            assert_eq!(schema.plan(Rules::Ber, &["Call"]), plan);
            assert!(schema.is_resolved(), "{at}");
        }
        // The last of them has written it again.
        assert_eq!(fs::read(&entries[0]).unwrap(), whole);
        // An entry that is whole and holds something else.
        let (key, cache) = (whole[9..41].try_into().unwrap(), bench.options.cache.as_ref().unwrap());
        for contents in [&b""[..], &[0; 8], &[0xFF; 40], b"\0\0\0\0\0\0\0\x03abcdef"] {
            cache.write(&key, contents);
            assert_eq!(bench.load().plan(Rules::Ber, &["Call"]), plan);
            assert!(bench.heard.lock().unwrap().is_empty());
        }
        assert_eq!(bench.entries(), entries);
    }

    #[test]
    fn a_search_writes_a_bounded_number_of_entries() {
        let bench = Bench::new();
        let types: String = (0..2 * WRITTEN).map(|at| format!("T{at} ::= NULL ")).collect();
        fs::write(bench.path(), format!("M DEFINITIONS ::= BEGIN {types} END")).unwrap();
        let schema = bench.load();
        for at in 0..2 * WRITTEN {
            assert!(schema.plan(Rules::Ber, &[&format!("T{at}")]).is_ok());
        }
        assert_eq!(bench.entries().len(), WRITTEN as usize);
    }
}
