//! `render` and `profile`: how octets with a meaning of their own are shown, in the words of the command.

use crate::error;
use crate::objects::Names;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tercet::dynamic::{NodeId, Shape};
use tercet::records::{AuditRules, Profile, RenderKind, Rendering};

/// Decoded values as they are shown.
pub(crate) struct Shown {
    pub(crate) rendering: Rendering,
    pub(crate) names: Names,
}

/// What `render` and `profile` ask for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Asked {
    words: Vec<String>,
    profile: Option<PathBuf>,
}

impl Asked {
    /// From keyword arguments; nothing unless there is one of them that asks for a rendering.
    pub(crate) fn new(render: Option<&Bound<'_, PyAny>>, profile: Option<PathBuf>) -> PyResult<Option<Self>> {
        let words = words(render)?;
        let is_asked = profile.is_some() || words.iter().any(|word| word != "none");
        Ok(is_asked.then_some(Self { words, profile }))
    }

    /// What makes it another rendering than others of the type.
    pub(crate) fn key(&self) -> String {
        let profile = self.profile.as_deref().map(|path| path.display().to_string());
        [self.words.join("\n"), profile.unwrap_or_default()].join("\n\n")
    }

    /// The rendering of values of a type.
    pub(crate) fn shown(&self, py: Python<'_>, shape: &Arc<Shape>, root: NodeId) -> PyResult<Option<Shown>> {
        let (rendering, _) = of_words(self.words.clone(), self.profile.as_deref(), shape, root)?;
        Ok(rendering.map(|rendering| {
            let names = Names::shown(py, rendering.shape(), Some(&rendering));
            Shown { rendering, names }
        }))
    }
}

/// How octets with a meaning of their own are shown, and which totals files have: by the profile that fits unless another
/// is named, then by rules.
pub(crate) fn of(
    render: Option<&Bound<'_, PyAny>>,
    profile: Option<&Path>,
    shape: &Arc<Shape>,
    root: NodeId,
) -> PyResult<(Option<Rendering>, AuditRules)> {
    of_words(words(render)?, profile, shape, root)
}

fn of_words(
    words: Vec<String>,
    profile: Option<&Path>,
    shape: &Arc<Shape>,
    root: NodeId,
) -> PyResult<(Option<Rendering>, AuditRules)> {
    let named = |name: &Path| {
        Profile::named(name).map_err(|error| match error.kind() {
            io::ErrorKind::InvalidInput => error::argument(error.to_string()),
            _ => error::io(error),
        })
    };
    let mut chosen = profile.map(named).transpose()?;
    let (mut none, mut rules) = (false, Vec::new());
    for word in words {
        match (&*word, word.split_once('=')) {
            ("auto", _) => {}
            ("none", _) => none = true,
            (_, Some((path, kind))) => {
                rules.push((path.to_owned(), kind.parse::<RenderKind>().map_err(error::argument)?));
            }
            // A profile can be named here too.
            (name, None) if chosen.is_none() => chosen = Some(named(Path::new(name))?),
            (name, None) => return Err(error::argument(format!("render: unknown rule `{name}`"))),
        }
    }
    if none && profile.is_some() {
        return Err(error::argument("`render=\"none\"` takes no profile"));
    }
    let profile = chosen.unwrap_or_else(|| Profile::of(shape));
    if none && rules.is_empty() {
        return Ok((None, profile.audit));
    }
    let nothing = Profile::default();
    let shown = if none { &nothing } else { &profile };
    let made = Rendering::new(shape, root, shown, &rules).map_err(error::argument)?;
    Ok((Some(made), profile.audit))
}

/// One rule, a list of rules, or a mapping from paths to kinds; None is `none`.
pub(crate) fn words(render: Option<&Bound<'_, PyAny>>) -> PyResult<Vec<String>> {
    let Some(render) = render else { return Ok(Vec::new()) };
    if render.is_none() {
        return Ok(vec!["none".to_owned()]);
    }
    if let Ok(path) = render.extract::<PathBuf>() {
        return Ok(vec![path.to_string_lossy().into_owned()]);
    }
    if let Ok(rules) = render.cast::<PyDict>() {
        let rule = |(path, kind): (Bound<'_, PyAny>, Bound<'_, PyAny>)| {
            Ok(format!(
                "{}={}",
                error::option::<String>("render", &path)?,
                error::option::<String>("render", &kind)?
            ))
        };
        return rules.iter().map(rule).collect();
    }
    error::option("render", render)
}
