//! `tercet.Schema`.

use crate::codec::{self, Codec};
use crate::compiled::Compiled;
use crate::{error, octets, options};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyString, PyType};
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use tercet::dynamic::validate::Validator;
use tercet::dynamic::{Tape, sample};
use tercet::model::Tagging;
use tercet::syntax::{Diagnostic, Severity, SourceMap, render};
use tercet::{SchemaOptions, TransferSyntax};

/// Types that have been made ready, by name.
type Types = HashMap<String, Arc<Compiled>>;

/// Specifications read and resolved, with what has been made ready of them.
#[pyclass(frozen, module = "tercet")]
pub(crate) struct Schema {
    schema: Arc<tercet::Schema>,
    compiled: RwLock<HashMap<Vec<TransferSyntax>, Types>>,
    last: Mutex<Option<Last>>,
}

/// What was asked for last. Who decodes many values asks with the same objects, which are faster to compare than texts
/// are to find.
struct Last {
    name: Py<PyString>,
    rules: Py<PyString>,
    compiled: Arc<Compiled>,
}

impl Schema {
    /// The type in these transfer syntaxes, made ready once.
    pub(crate) fn compiled(
        &self,
        py: Python<'_>,
        name: &str,
        syntaxes: &[TransferSyntax],
    ) -> PyResult<Arc<Compiled>> {
        {
            let known = self.compiled.read().unwrap_or_else(PoisonError::into_inner);
            if let Some(found) = known.get(syntaxes).and_then(|types| types.get(name)) {
                return Ok(Arc::clone(found));
            }
        }
        let made = Arc::new(Compiled::new(py, &self.schema, name, syntaxes)?);
        let mut known = self.compiled.write().unwrap_or_else(PoisonError::into_inner);
        let types = known.entry(syntaxes.to_vec()).or_default();
        Ok(Arc::clone(types.entry(name.to_owned()).or_insert(made)))
    }

    /// The type in one transfer syntax, both as Python named them.
    fn named(&self, name: &Bound<'_, PyString>, rules: &Bound<'_, PyString>) -> PyResult<Arc<Compiled>> {
        if let Some(last) = &*self.last.lock().unwrap_or_else(PoisonError::into_inner)
            && name.is(&last.name)
            && rules.is(&last.rules)
        {
            return Ok(Arc::clone(&last.compiled));
        }
        let compiled = self.compiled(name.py(), &name.to_cow()?, &[syntax(&rules.to_cow()?)?])?;
        let (name, rules) = (name.clone().unbind(), rules.clone().unbind());
        let last = Last { name, rules, compiled: Arc::clone(&compiled) };
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(last);
        Ok(compiled)
    }

    /// A `tercet.Schema`, or one read from paths.
    pub(crate) fn of(object: &Bound<'_, PyAny>) -> PyResult<Arc<tercet::Schema>> {
        if let Ok(schema) = object.cast::<Self>() {
            return Ok(Arc::clone(&schema.get().schema));
        }
        let loaded = Self::read(object, &SchemaOptions::default(), false)?;
        Ok(loaded.schema)
    }

    fn read(paths: &Bound<'_, PyAny>, options: &SchemaOptions, allow_errors: bool) -> PyResult<Self> {
        let py = paths.py();
        let paths: Vec<PathBuf> = match paths.extract::<PathBuf>() {
            Ok(path) => vec![path],
            Err(_) => paths.extract()?,
        };
        let schema = py.detach(|| tercet::Schema::load(&paths, options))?;
        Self::checked(py, schema, allow_errors)
    }

    fn checked(py: Python<'_>, schema: tercet::Schema, allow_errors: bool) -> PyResult<Self> {
        if schema.has_errors() && !allow_errors {
            let errors = schema.diagnostics.iter().filter(|it| it.is_error());
            let text = errors.map(|it| render(&schema.sources, it, false)).collect::<Vec<_>>().join("\n");
            return Err(error::schema(py, &text, |with| {
                with.set_item("diagnostics", diagnostics(py, &schema)?)
            }));
        }
        Ok(Self { schema: Arc::new(schema), compiled: RwLock::default(), last: Mutex::default() })
    }
}

/// A transfer syntax by name.
pub(crate) fn syntax(name: &str) -> PyResult<TransferSyntax> {
    name.parse().map_err(|error: tercet::UnknownSyntax| PyValueError::new_err(error.to_string()))
}

fn reading(strict: bool, aliases: Option<HashMap<String, String>>, tags: &str) -> PyResult<SchemaOptions> {
    let tagging = match tags {
        "as-written" => Tagging::AsWritten,
        "implicit" => Tagging::ImplicitExceptChoice,
        "explicit" => Tagging::Explicit,
        _ => return Err(PyValueError::new_err("tags: `as-written`, `implicit` or `explicit` expected")),
    };
    let aliases = aliases.unwrap_or_default().into_iter().collect();
    Ok(SchemaOptions { strict, aliases, tagging, ..SchemaOptions::default() })
}

fn diagnostics<'py>(py: Python<'py>, schema: &tercet::Schema) -> PyResult<Bound<'py, PyList>> {
    let class = py.import("tercet._values")?.getattr("Diagnostic")?;
    let one = |it: &Diagnostic| {
        let span = it.primary.span;
        let place = schema.sources.line_column(span.lo);
        let file = &schema.sources.file(schema.sources.file_of(span.lo)).name;
        let severity = if it.severity == Severity::Error { "error" } else { "warning" };
        let text = render(&schema.sources, it, false);
        class.call1((severity, it.code, &it.message, file, place.line, place.column, text))
    };
    PyList::new(py, schema.diagnostics.iter().map(one).collect::<PyResult<Vec<_>>>()?)
}

#[pymethods]
impl Schema {
    /// Reads files, and directories with all specifications in them.
    #[classmethod]
    #[pyo3(signature = (paths, *, strict = false, aliases = None, tags = "as-written", allow_errors = false))]
    fn load(
        class: &Bound<'_, PyType>,
        paths: &Bound<'_, PyAny>,
        strict: bool,
        aliases: Option<HashMap<String, String>>,
        tags: &str,
        allow_errors: bool,
    ) -> PyResult<Self> {
        _ = class;
        Self::read(paths, &reading(strict, aliases, tags)?, allow_errors)
    }

    /// Reads one text.
    #[classmethod]
    #[pyo3(signature = (text, *, name = "text", strict = false, aliases = None, tags = "as-written", allow_errors = false))]
    fn parse(
        class: &Bound<'_, PyType>,
        text: &str,
        name: &str,
        strict: bool,
        aliases: Option<HashMap<String, String>>,
        tags: &str,
        allow_errors: bool,
    ) -> PyResult<Self> {
        let py = class.py();
        let options = reading(strict, aliases, tags)?;
        let schema = py.detach(|| {
            let mut sources = SourceMap::new();
            sources.add(name, text);
            tercet::Schema::from_sources(sources, &options)
        });
        Self::checked(py, schema, allow_errors)
    }

    /// The named types, as `Module.Type`.
    #[getter]
    fn types(&self) -> Vec<String> {
        self.schema.names().map(|(name, _)| name).collect()
    }

    /// Those that no other type refers to.
    #[getter]
    fn outermost(&self) -> Vec<String> {
        self.schema.outermost().into_iter().map(|(name, _)| name).collect()
    }

    /// What there is to say about the specifications.
    #[getter]
    fn diagnostics<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        diagnostics(py, &self.schema)
    }

    /// A type in a transfer syntax, to decode and encode many values.
    #[pyo3(signature = (r#type, rules = "ber", **options))]
    fn codec(
        &self,
        py: Python<'_>,
        r#type: &str,
        rules: &str,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Codec> {
        let syntax = syntax(rules)?;
        let compiled = self.compiled(py, r#type, &[syntax])?;
        Ok(Codec { compiled, options: options::of(syntax, options)?, type_name: r#type.to_owned() })
    }

    /// Decodes an input that is one value.
    #[pyo3(signature = (r#type, rules, data, **options))]
    fn decode<'py>(
        &self,
        r#type: &Bound<'py, PyString>,
        rules: &Bound<'py, PyString>,
        data: &Bound<'py, PyAny>,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let compiled = self.named(r#type, rules)?;
        let options = options::of(compiled.syntax(0), options)?;
        codec::decode(data, &compiled, &options)
    }

    /// Encodes a value.
    fn encode<'py>(
        &self,
        r#type: &Bound<'py, PyString>,
        rules: &Bound<'py, PyString>,
        value: Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        codec::encode(value, &*self.named(r#type, rules)?)
    }

    /// Writes a value of one transfer syntax in another.
    #[pyo3(signature = (r#type, from_rules, to_rules, data, **options))]
    fn transcode<'py>(
        &self,
        r#type: &str,
        from_rules: &str,
        to_rules: &str,
        data: &Bound<'py, PyAny>,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let py = data.py();
        let (from, to) = (syntax(from_rules)?, syntax(to_rules)?);
        let options = options::of(from, options)?;
        let compiled = self.compiled(py, r#type, &[from, to])?;
        let input = octets::of_input(data, from.is_text())?;
        compiled.with_state(|state| {
            compiled.read_all(py, 0, &input, state, &options)?;
            compiled.write(py, 1, &input, state)?;
            Ok(PyBytes::new(py, &state.out))
        })
    }

    /// The constraints that a value does not meet.
    #[pyo3(signature = (r#type, rules, data, **options))]
    fn validate<'py>(
        &self,
        r#type: &str,
        rules: &str,
        data: &Bound<'py, PyAny>,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyList>> {
        let py = data.py();
        let syntax = syntax(rules)?;
        let mut options = options::of(syntax, options)?;
        // They are told below, all of them and with their text.
        options.check_constraints = false;
        let compiled = self.compiled(py, r#type, &[syntax])?;
        let input = octets::of_input(data, syntax.is_text())?;
        let found = compiled.with_state(|state| {
            compiled.read_all(py, 0, &input, state, &options)?;
            let view = state.tape.view(&input);
            PyResult::Ok(py.detach(|| Validator::new().check(compiled.shape(), compiled.root, view)))
        })?;
        let class = py.import("tercet._values")?.getattr("Violation")?;
        let violations = found.iter().map(|it| {
            let place = it.span.and_then(|span| self.schema.place(span));
            let (file, line) = place.map_or((None, None), |place| (Some(place.file), Some(place.line)));
            class.call1((&it.path, &it.value, &it.message, &it.constraint, file, line))
        });
        PyList::new(py, violations.collect::<PyResult<Vec<_>>>()?)
    }

    /// Valid values made up, the borders of the type first.
    #[pyo3(signature = (r#type, count = 1, *, rules = None, seed = 1, depth = 24, elements = 500, large = false))]
    #[expect(clippy::too_many_arguments, reason = "keyword arguments")]
    fn sample<'py>(
        &self,
        py: Python<'py>,
        r#type: &str,
        count: usize,
        rules: Option<&str>,
        seed: u64,
        depth: u16,
        elements: usize,
        large: bool,
    ) -> PyResult<Bound<'py, PyList>> {
        let wanted = rules.map(syntax).transpose()?;
        let compiled = self.compiled(py, r#type, &[wanted.unwrap_or_default()])?;
        let mut options = sample::Options::default();
        (options.seed, options.depth, options.elements, options.large) = (seed, depth, elements, large);
        let mut sampler = sample::Sampler::new(compiled.shape(), options);
        let samples = PyList::empty(py);
        let mut tape = Tape::new();
        for _ in 0..count {
            py.check_signals()?;
            let done = py.detach(|| sampler.sample(compiled.root, &mut tape));
            done.map_err(|fault| error::encode(py, &fault.into()))?;
            if wanted.is_none() {
                samples.append(compiled.build(py, tape.view(&[]))?)?;
                continue;
            }
            compiled.with_state(|state| {
                std::mem::swap(&mut state.tape, &mut tape);
                let done = compiled.write(py, 0, &[], state);
                std::mem::swap(&mut state.tape, &mut tape);
                done.and_then(|()| samples.append(PyBytes::new(py, &state.out)))
            })?;
        }
        Ok(samples)
    }

    fn __repr__<'py>(&self, py: Python<'py>) -> Bound<'py, PyString> {
        let modules = self.schema.model.modules.iter().map(|module| module.name.as_str());
        PyString::new(py, &format!("<tercet.Schema {}>", modules.collect::<Vec<_>>().join(", ")))
    }
}
