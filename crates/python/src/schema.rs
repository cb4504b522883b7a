//! `tercet.Schema`.

use crate::codec::{self, Codec};
use crate::compiled::{Compiled, Meant};
use crate::error::Argument;
use crate::files::{Feed, Outlet};
use crate::interrupt::interruptible;
use crate::objects::Looks;
use crate::octets::Input;
use crate::shown::{self, Shown};
use crate::{error, options};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyString, PyType};
use std::collections::HashMap;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use tercet::dynamic::{Limits, Tape, sample};
use tercet::model::Tagging;
use tercet::syntax::{Diagnostic, Severity, SourceMap, render};
use tercet::{Listener, Rules, SchemaOptions};

/// Types that have been made ready, by name.
type Types = HashMap<String, Arc<Meant>>;

/// Specifications, ready to decode and encode. Many threads may use one schema at the same time.
///
/// A schema can be pickled: it is read again from the same paths or text, with the same options.
#[pyclass(frozen, module = "tercet")]
pub(crate) struct Schema {
    schema: Arc<tercet::Schema>,
    heard: Heard,
    tagging: Tagging,
    others: Option<Arc<OtherTags>>,
    compiled: RwLock<HashMap<Vec<Rules>, Types>>,
    last: Mutex<Option<Last>>,
    /// The class method that has made it, its argument and its keyword arguments.
    made: (&'static str, Py<PyAny>, Py<PyDict>),
}

/// What was asked for last. Who decodes many values asks with the same objects, which are faster to compare than texts
/// are to find.
struct Last {
    name: Py<PyString>,
    rules: Py<PyString>,
    meant: Arc<Meant>,
}

/// Where specifications come from.
#[derive(Clone, Debug)]
enum Texts {
    Paths(Vec<PathBuf>),
    Text { name: String, text: String },
}

impl Texts {
    fn read(&self, options: &SchemaOptions) -> io::Result<tercet::Schema> {
        match self {
            Self::Paths(paths) => tercet::Schema::load(paths, options),
            Self::Text { name, text } => {
                let mut sources = SourceMap::new();
                sources.add(name, text);
                Ok(tercet::Schema::from_sources(sources, options))
            }
        }
    }
}

/// The same specifications with other tags, which data may show to be meant. They are read when they are needed first.
pub(crate) struct OtherTags {
    texts: Texts,
    options: SchemaOptions,
    read: Mutex<Vec<Arc<tercet::Schema>>>,
}

impl OtherTags {
    const TAGGINGS: [Tagging; 2] = [Tagging::ImplicitExceptChoice, Tagging::Explicit];

    /// With implicit tags, and with explicit ones.
    pub(crate) fn get(&self, py: Python<'_>) -> PyResult<Vec<Arc<tercet::Schema>>> {
        let known = self.read.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if !known.is_empty() {
            return Ok(known);
        }
        let mut all = Vec::new();
        for tagging in Self::TAGGINGS {
            let (texts, options) = (self.texts.clone(), SchemaOptions { tagging, ..self.options.clone() });
            let schema = interruptible(py, move || texts.read(&options))?.map_err(error::io)?;
            all.push(Arc::new(schema));
        }
        self.read.lock().unwrap_or_else(PoisonError::into_inner).clone_from(&all);
        Ok(all)
    }
}

/// How specifications are read, in the words of Python.
struct Reading {
    options: SchemaOptions,
    /// Whether tags are to be found out by data.
    auto_tags: bool,
    allow_errors: bool,
}

impl Reading {
    fn new(
        strict: bool,
        aliases: Option<HashMap<String, String>>,
        tags: &str,
        allow_errors: bool,
        allow_missing: bool,
    ) -> PyResult<Self> {
        let tagging = match tags {
            "auto" | "as-written" => Tagging::AsWritten,
            "implicit" => Tagging::ImplicitExceptChoice,
            "explicit" => Tagging::Explicit,
            other => {
                return Err(options::one_of("tags", other, &["as-written", "auto", "implicit", "explicit"]));
            }
        };
        let aliases = aliases.unwrap_or_default().into_iter().collect();
        let options = SchemaOptions { strict, aliases, tagging, allow_missing, ..SchemaOptions::default() };
        Ok(Self { options, auto_tags: tags == "auto", allow_errors })
    }

    /// The keyword arguments that say so.
    fn keywords<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let keywords = PyDict::new(py);
        keywords.set_item("strict", self.options.strict)?;
        let aliases = PyDict::new(py);
        for (name, other) in &self.options.aliases {
            aliases.set_item(name, other)?;
        }
        keywords.set_item("aliases", aliases)?;
        let tags = if self.auto_tags { "auto" } else { word(self.options.tagging) };
        keywords.set_item("tags", tags)?;
        keywords.set_item("allow_errors", self.allow_errors)?;
        keywords.set_item("allow_missing", self.options.allow_missing)?;
        Ok(keywords)
    }
}

impl Schema {
    /// The type in these transfer syntaxes, made ready once.
    pub(crate) fn compiled(&self, py: Python<'_>, name: &str, syntaxes: &[Rules]) -> PyResult<Arc<Meant>> {
        {
            let known = self.compiled.read().unwrap_or_else(PoisonError::into_inner);
            if let Some(found) = known.get(syntaxes).and_then(|types| types.get(name)) {
                return Ok(Arc::clone(found));
            }
        }
        let compiled = Arc::new(Compiled::new(py, &self.schema, name, syntaxes)?);
        self.heard.warn(py)?;
        let made = Arc::new(Meant::new(compiled, self.others.as_ref(), name));
        let mut known = self.compiled.write().unwrap_or_else(PoisonError::into_inner);
        let types = known.entry(syntaxes.to_vec()).or_default();
        Ok(Arc::clone(types.entry(name.to_owned()).or_insert(made)))
    }

    /// The type in one transfer syntax, both as Python named them.
    fn named(&self, name: &Bound<'_, PyString>, rules: &Bound<'_, PyString>) -> PyResult<Arc<Meant>> {
        if let Some(last) = &*self.last.lock().unwrap_or_else(PoisonError::into_inner)
            && name.is(&last.name)
            && rules.is(&last.rules)
        {
            return Ok(Arc::clone(&last.meant));
        }
        let text = name.to_cow().map_err(error::of_python)?;
        let meant =
            self.compiled(name.py(), &text, &[syntax(&rules.to_cow().map_err(error::of_python)?)?])?;
        let (name, rules) = (name.clone().unbind(), rules.clone().unbind());
        let last = Last { name, rules, meant: Arc::clone(&meant) };
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(last);
        Ok(meant)
    }

    /// A `tercet.Schema`, or one read from paths.
    pub(crate) fn of<'py>(object: &Bound<'py, PyAny>) -> PyResult<Bound<'py, Self>> {
        if let Ok(schema) = object.cast::<Self>() {
            return Ok(schema.clone());
        }
        Bound::new(
            object.py(),
            Self::load_from(object, &Reading::new(false, None, "as-written", false, false)?)?,
        )
    }

    /// Gives warnings about types that have been made ready to Python.
    pub(crate) fn warn(&self, py: Python<'_>) -> PyResult<()> {
        self.heard.warn(py)
    }

    /// A `tercet.Schema`, or one read from paths, of which data shows the tags.
    pub(crate) fn of_any_tags<'py>(object: &Bound<'py, PyAny>) -> PyResult<Bound<'py, Self>> {
        if let Ok(schema) = object.cast::<Self>() {
            return Ok(schema.clone());
        }
        Bound::new(object.py(), Self::load_from(object, &Reading::new(false, None, "auto", false, false)?)?)
    }

    /// The specifications by all tags that may be meant.
    pub(crate) fn by_tags(&self, py: Python<'_>) -> PyResult<Vec<(Tagging, Arc<tercet::Schema>)>> {
        let mut all = vec![(self.tagging, Arc::clone(&self.schema))];
        if let Some(others) = &self.others {
            all.extend(OtherTags::TAGGINGS.into_iter().zip(others.get(py)?));
        }
        Ok(all)
    }

    /// The same schema by some tags, of those that may be meant.
    pub(crate) fn tagged<'py>(this: &Bound<'py, Self>, tags: Tagging) -> PyResult<Bound<'py, Self>> {
        let (py, schema) = (this.py(), this.get());
        if schema.others.is_none() {
            return Ok(this.clone());
        }
        let found = schema.by_tags(py)?.into_iter().find(|(known, _)| *known == tags);
        let Some((tagging, specification)) = found else { return Ok(this.clone()) };
        let (method, argument, keywords) = &schema.made;
        let keywords = keywords.bind(py).copy()?;
        keywords.set_item("tags", word(tagging))?;
        let made = (*method, argument.clone_ref(py), keywords.unbind());
        let (compiled, last) = (RwLock::default(), Mutex::default());
        let heard = schema.heard.clone();
        let tagged = Self { schema: specification, heard, tagging, others: None, compiled, last, made };
        Bound::new(py, tagged)
    }

    /// What the specifications say, by the tags as they are written.
    pub(crate) fn shared(&self) -> &Arc<tercet::Schema> {
        &self.schema
    }

    /// The same by other tags, if data is to show them.
    pub(crate) fn others(&self) -> Option<&Arc<OtherTags>> {
        self.others.as_ref()
    }

    fn load_from(paths: &Bound<'_, PyAny>, reading: &Reading) -> PyResult<Self> {
        let list: Vec<PathBuf> = match paths.extract::<PathBuf>() {
            Ok(path) => vec![path],
            Err(_) => paths.extract().map_err(|_| {
                let given = paths.get_type().name().map_or_else(|_| String::new(), |name| name.to_string());
                error::argument(format!("a path or a list of paths expected, not {given}"))
            })?,
        };
        if list.is_empty() {
            return Err(error::argument("no specification: the list of paths is empty"));
        }
        Self::read(paths.py(), Texts::Paths(list), reading, ("load", paths.clone().unbind()), None)
    }

    fn read(
        py: Python<'_>,
        texts: Texts,
        reading: &Reading,
        (method, argument): (&'static str, Py<PyAny>),
        name: Option<&str>,
    ) -> PyResult<Self> {
        let heard = Heard::default();
        let (source, options) = (texts.clone(), heard.by(&reading.options));
        let schema = interruptible(py, move || source.read(&options))?.map_err(error::io)?;
        if schema.has_errors() && !reading.allow_errors {
            let errors = schema.diagnostics().iter().filter(|it| it.is_error());
            let text = errors.map(|it| render(&schema.sources, it, false)).collect::<Vec<_>>().join("\n");
            return Err(error::schema(py, &text, |with| {
                with.set_item("diagnostics", diagnostics(py, &schema)?)
            }));
        }
        if schema.modules().is_empty()
            && let Texts::Paths(paths) = &texts
        {
            let paths = paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join("`, `");
            return Err(error::schema(py, &format!("no module in `{paths}`"), |_| Ok(())));
        }
        let keywords = reading.keywords(py)?;
        if let Some(name) = name {
            keywords.set_item("name", name)?;
        }
        let options = reading.options.clone();
        let others =
            reading.auto_tags.then(|| Arc::new(OtherTags { texts, options, read: Mutex::default() }));
        let (schema, made) = (Arc::new(schema), (method, argument, keywords.unbind()));
        let tagging = reading.options.tagging;
        Ok(Self { schema, heard, tagging, others, compiled: RwLock::default(), last: Mutex::default(), made })
    }
}

/// Warnings about the types of plans, made without Python's lock, until they can be given to `warnings.warn`.
#[derive(Clone, Debug, Default)]
struct Heard(Arc<Mutex<Vec<String>>>);

impl Heard {
    /// Returns the options with these warnings as their listener.
    fn by(&self, options: &SchemaOptions) -> SchemaOptions {
        let list = Arc::clone(&self.0);
        let hear =
            move |text: &str| list.lock().unwrap_or_else(PoisonError::into_inner).push(text.to_owned());
        SchemaOptions { listener: Listener::new(hear), ..options.clone() }
    }

    /// Warns in Python. A filter may make an error of it.
    fn warn(&self, py: Python<'_>) -> PyResult<()> {
        let texts = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        for text in texts {
            py.import("warnings")?.call_method1("warn", (text,))?;
        }
        Ok(())
    }
}

/// The word for the meaning of tags.
pub(crate) const fn word(tags: Tagging) -> &'static str {
    match tags {
        Tagging::AsWritten => "as-written",
        Tagging::ImplicitExceptChoice => "implicit",
        Tagging::Explicit => "explicit",
    }
}

/// A transfer syntax by name.
pub(crate) fn syntax(name: &str) -> PyResult<Rules> {
    name.parse().map_err(|error: tercet::UnknownRules| error::argument(error.to_string()))
}

fn diagnostics<'py>(py: Python<'py>, schema: &tercet::Schema) -> PyResult<Bound<'py, PyList>> {
    let class = py.import("tercet._values")?.getattr("Diagnostic")?;
    let one = |it: &Diagnostic| {
        let span = it.primary.span;
        let place = schema.sources.line_column(span.lo);
        let file = &schema.sources.file(schema.sources.file_of(span.lo)).name;
        let severity = if it.severity == Severity::Error { "error" } else { "warning" };
        let text = render(&schema.sources, it, false);
        class.call1((severity, it.shown_code(), &it.message, file, place.line, place.column, text))
    };
    PyList::new(py, schema.diagnostics().iter().map(one).collect::<PyResult<Vec<_>>>()?)
}

#[pymethods]
impl Schema {
    /// Reads files, and directories with all specifications in them.
    ///
    /// `strict` takes the slips found in vendors' specifications as errors. `aliases` lets imports from a module find
    /// another: `{"TAP-03XX": "TAP-0312"}`. `tags` sets the meaning of tags where text and data differ. `allow_errors`
    /// uses what could be understood.
    ///
    /// Types that use names without a definition, or a module that was given twice with different texts, raise
    /// SchemaError in PER and OER; other rules warn once with `warnings.warn`. `allow_missing` allows both.
    ///
    /// Raises SchemaError, OSError.
    #[classmethod]
    #[pyo3(
        signature = (paths, *, strict = Argument(false), aliases = Argument(None),
            tags = Argument("as-written".to_owned()), allow_errors = Argument(false), allow_missing = Argument(false)),
        text_signature = "($cls, paths, *, strict=False, aliases=None, tags='as-written', allow_errors=False, allow_missing=False)"
    )]
    fn load(
        class: &Bound<'_, PyType>,
        paths: &Bound<'_, PyAny>,
        strict: Argument<bool>,
        aliases: Argument<Option<HashMap<String, String>>>,
        tags: Argument<String>,
        allow_errors: Argument<bool>,
        allow_missing: Argument<bool>,
    ) -> PyResult<Self> {
        _ = class;
        Self::load_from(paths, &Reading::new(strict.0, aliases.0, &tags.0, allow_errors.0, allow_missing.0)?)
    }

    /// Reads one text, as `load` does.
    #[classmethod]
    #[pyo3(
        signature = (text, *, name = Argument("text".to_owned()), strict = Argument(false), aliases = Argument(None),
            tags = Argument("as-written".to_owned()), allow_errors = Argument(false), allow_missing = Argument(false)),
        text_signature = "($cls, text, *, name='text', strict=False, aliases=None, tags='as-written', allow_errors=False, allow_missing=False)"
    )]
    #[expect(clippy::too_many_arguments, reason = "keyword arguments")]
    fn parse(
        class: &Bound<'_, PyType>,
        text: Argument<String>,
        name: Argument<String>,
        strict: Argument<bool>,
        aliases: Argument<Option<HashMap<String, String>>>,
        tags: Argument<String>,
        allow_errors: Argument<bool>,
        allow_missing: Argument<bool>,
    ) -> PyResult<Self> {
        let (py, Argument(text), Argument(name)) = (class.py(), text, name);
        let reading = Reading::new(strict.0, aliases.0, &tags.0, allow_errors.0, allow_missing.0)?;
        let argument = PyString::new(py, &text).into_any().unbind();
        Self::read(py, Texts::Text { name: name.clone(), text }, &reading, ("parse", argument), Some(&name))
    }

    /// The named types, as `Module.Type`.
    #[getter]
    fn types(&self) -> Vec<String> {
        self.schema.names().map(|(name, _)| name).collect()
    }

    /// The named types that no other refers to: those that a file may consist of.
    #[getter]
    fn outermost(&self) -> Vec<String> {
        self.schema.outermost().into_iter().map(|(name, _)| name).collect()
    }

    /// The errors and warnings about the specifications.
    #[getter]
    fn diagnostics<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        diagnostics(py, &self.schema)
    }

    /// Returns a type in a transfer syntax, ready for many values.
    ///
    /// Raises SchemaError for an unknown type.
    #[pyo3(signature = (r#type, rules = Argument("ber".to_owned()), **options), text_signature = "($self, type, rules='ber', **options)")]
    fn codec(
        this: &Bound<'_, Self>,
        r#type: Argument<String>,
        rules: Argument<String>,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Codec> {
        let (syntax, Argument(name)) = (syntax(&rules.0)?, r#type);
        let meant = this.get().compiled(this.py(), &name, &[syntax])?;
        let reading = options::of_values(syntax, options)?;
        let keywords = options.map(|options| options.copy()).transpose()?;
        Ok(Codec::new(this.clone().unbind(), meant, name, reading, keywords.map(Bound::unbind)))
    }

    /// Decodes data that is one value of a type (`Type` or `Module.Type`) by rules: `ber`, `der`, `cer`, `aper`,
    /// `uper`, `canonical-aper`, `canonical-uper`, `oer`, `coer`, `xer`, `cxer`, `exer`, `jer`, `gser`.
    ///
    /// Raises DecodeError, SchemaError for an unknown type.
    #[pyo3(signature = (r#type, rules, data, **options))]
    fn decode<'py>(
        &self,
        r#type: Argument<Bound<'py, PyString>>,
        rules: Argument<Bound<'py, PyString>>,
        data: &Bound<'py, PyAny>,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let meant = self.named(&r#type.0, &rules.0)?;
        let reading = options::of_values(meant.current().syntax(0), options)?;
        codec::decode(data, &meant, &reading)
    }

    /// Reads data that is one value of a type, part by part: the place, the meaning and the clause of each.
    /// Data that is cut or damaged is shown up to the fault.
    ///
    /// Raises SchemaError for an unknown type.
    #[pyo3(signature = (r#type, rules, data, **options))]
    fn show(
        &self,
        r#type: Argument<Bound<'_, PyString>>,
        rules: Argument<Bound<'_, PyString>>,
        data: &Bound<'_, PyAny>,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Shown> {
        let meant = self.named(&r#type.0, &rules.0)?;
        let reading = options::of_values(meant.current().syntax(0), options)?;
        shown::show(data, &meant, &r#type.0.to_string(), &reading)
    }

    /// Encodes a value; text is in UTF-8.
    ///
    /// Raises EncodeError.
    fn encode<'py>(
        &self,
        r#type: Argument<Bound<'py, PyString>>,
        rules: Argument<Bound<'py, PyString>>,
        value: Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        codec::encode(value, self.named(&r#type.0, &rules.0)?.current(), &Limits::default())
    }

    /// Converts a value from one transfer syntax to another, without making Python objects.
    #[pyo3(signature = (r#type, from_rules, to_rules, data, **options))]
    fn transcode<'py>(
        &self,
        r#type: Argument<String>,
        from_rules: Argument<String>,
        to_rules: Argument<String>,
        data: &Bound<'py, PyAny>,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let py = data.py();
        let (from, to) = (syntax(&from_rules.0)?, syntax(&to_rules.0)?);
        let options = options::of(from, options)?;
        let meant = self.compiled(py, &r#type.0, &[from, to])?;
        let input = Input::of(data, from.is_text())?;
        meant.trial(py, |compiled| {
            compiled.with_state(|state| {
                compiled.read_all(py, 0, &input, state, &options)?;
                compiled.write(py, 1, Some(&input), state)?;
                Ok(PyBytes::new(py, &state.out))
            })
        })
    }

    /// Returns the constraints that a value does not meet, in the order of its components.
    #[pyo3(signature = (r#type, rules, data, **options))]
    fn validate<'py>(
        &self,
        r#type: Argument<String>,
        rules: Argument<String>,
        data: &Bound<'py, PyAny>,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyList>> {
        let py = data.py();
        let syntax = syntax(&rules.0)?;
        let mut options = options::of(syntax, options)?;
        // They are told below, all of them and with their text.
        options.check_constraints = false;
        options.strict_values = true;
        let meant = self.compiled(py, &r#type.0, &[syntax])?;
        let input = Input::of(data, syntax.is_text())?;
        let found = meant.trial(py, |compiled| {
            compiled.with_state(|state| {
                compiled.read_all(py, 0, &input, state, &options)?;
                compiled.violations(py, &input, state)
            })
        })?;
        let class = py.import("tercet._values")?.getattr("Violation")?;
        let violations = found.iter().map(|it| {
            let place = it.span.and_then(|span| self.schema.place(span));
            let (file, line) = place.map_or((None, None), |place| (Some(place.file), Some(place.line)));
            class.call1((&it.path, &it.value, &it.message, &it.constraint, file, line))
        });
        PyList::new(py, violations.collect::<PyResult<Vec<_>>>()?)
    }

    /// Makes valid values: first the limits of the type, then random ones. With `rules`, their
    /// encodings. A seed gives the same values each time.
    #[pyo3(
        signature = (r#type, count = Argument(1), *, rules = Argument(None), seed = Argument(1), depth = Argument(24),
            elements = Argument(500), large = Argument(false)),
        text_signature = "($self, type, count=1, *, rules=None, seed=1, depth=24, elements=500, large=False)"
    )]
    #[expect(clippy::too_many_arguments, reason = "keyword arguments")]
    fn sample<'py>(
        &self,
        py: Python<'py>,
        r#type: Argument<String>,
        count: Argument<usize>,
        rules: Argument<Option<String>>,
        seed: Argument<u64>,
        depth: Argument<u16>,
        elements: Argument<usize>,
        large: Argument<bool>,
    ) -> PyResult<Bound<'py, PyList>> {
        let wanted = rules.0.as_deref().map(syntax).transpose()?;
        let meant = self.compiled(py, &r#type.0, &[wanted.unwrap_or_default()])?;
        let compiled = meant.current();
        let mut options = sample::Options::default();
        (options.seed, options.depth, options.elements, options.large) =
            (seed.0, depth.0, elements.0, large.0);
        let samples = PyList::empty(py);
        let mut feed = Samples::begin(Arc::clone(compiled), options, count.0)?;
        while let Some(tapes) = Feed::next_released(&mut feed, py)? {
            for tape in tapes {
                let mut tape = tape.map_err(|fault| error::encode(py, &fault.into()))?;
                if wanted.is_none() {
                    samples.append(compiled.build(py, tape.view(&[]), Looks::default())?)?;
                    continue;
                }
                compiled.with_state(|state| {
                    std::mem::swap(&mut state.tape, &mut tape);
                    let done = compiled.write(py, 0, None, state);
                    std::mem::swap(&mut state.tape, &mut tape);
                    done.and_then(|()| samples.append(PyBytes::new(py, &state.out)))
                })?;
            }
        }
        Ok(samples)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
        let (method, argument, options) = &self.made;
        let parts = (*method, argument, options).into_pyobject(py)?;
        Ok((py.import("tercet._pickle")?.getattr("schema")?, parts.into_any()))
    }

    fn __repr__<'py>(&self, py: Python<'py>) -> Bound<'py, PyString> {
        let modules = self.schema.model().modules.iter().map(|module| module.name.as_str());
        PyString::new(py, &format!("<tercet.Schema {}>", modules.collect::<Vec<_>>().join(", ")))
    }
}

/// Values made up by a thread.
struct Samples;

impl Samples {
    /// Values that are handed on at once.
    const TOGETHER: usize = 64;

    fn begin(
        compiled: Arc<Compiled>,
        options: sample::Options,
        count: usize,
    ) -> PyResult<Feed<Vec<Result<Tape, tercet::dynamic::Error>>>> {
        let work = move |outlet: &Outlet<_>| {
            let mut sampler = sample::Sampler::new(compiled.shape(), options);
            let mut tapes = Vec::new();
            for left in (0..count).rev() {
                let mut tape = Tape::new();
                tapes.push(sampler.sample(compiled.root, &mut tape).map(|()| tape));
                if tapes.len() == Self::TOGETHER || left == 0 || matches!(tapes.last(), Some(Err(_))) {
                    outlet.give(std::mem::take(&mut tapes));
                }
                if outlet.stop().load(Ordering::Relaxed) {
                    break;
                }
            }
            Ok(())
        };
        Feed::begin(work).map_err(error::io)
    }
}
