//! `render` and `profile`: how octets with a meaning of their own are shown, in the words of the command.

use crate::error;
use crate::objects::Names;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use tercet::dynamic::{NodeId, Shape};
use tercet::records::conversion::{RenderRule, RenderingOptions};
use tercet::records::{Interpretation, Profile};

/// Decoded values as they are shown.
pub(crate) struct Shown {
    pub(crate) rendering: Interpretation,
    pub(crate) names: Arc<Names>,
}

/// What `render` and `profile` ask for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Asked(RenderingOptions);

impl Asked {
    /// From keyword arguments; nothing unless there is one of them that asks for a rendering.
    pub(crate) fn new(render: Option<&Bound<'_, PyAny>>, profile: Option<PathBuf>) -> PyResult<Option<Self>> {
        let asked = options(render, profile)?;
        let is_asked = asked.profile.is_some() || asked.render.iter().any(|rule| *rule != RenderRule::None);
        Ok(is_asked.then_some(Self(asked)))
    }

    /// Returns what makes it another rendering than others of the type.
    pub(crate) fn key(&self) -> String {
        let RenderingOptions { render, profile } = &self.0;
        let rules = render.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
        let profile = profile.as_deref().map(|path| path.display().to_string());
        [rules, profile.unwrap_or_default()].join("\n\n")
    }

    /// Returns the rendering of values of a type.
    pub(crate) fn shown(&self, py: Python<'_>, shape: &Arc<Shape>, root: NodeId) -> PyResult<Option<Shown>> {
        let rendering = self.0.rendering(&profile(&self.0, shape)?, shape, root);
        Ok(rendering.map_err(|fault| error::fault(&fault))?.map(|rendering| {
            let names = Names::shown(py, rendering.shape(), Some(&rendering));
            Shown { rendering, names: Arc::new(names) }
        }))
    }
}

/// Returns the profile that is named, or the one that fits.
pub(crate) fn profile(asked: &RenderingOptions, shape: &Shape) -> PyResult<Profile> {
    asked.profile(shape).map_err(|error| match error.kind() {
        io::ErrorKind::InvalidInput => error::argument(error.to_string()),
        _ => error::io(error),
    })
}

/// Returns how bytes with a meaning are shown. `render` may name a profile, too.
pub(crate) fn options(
    render: Option<&Bound<'_, PyAny>>,
    mut profile: Option<PathBuf>,
) -> PyResult<RenderingOptions> {
    let mut rules = Vec::new();
    for word in words(render)? {
        let is_rule = matches!(&*word, "auto" | "none") || word.contains('=');
        match is_rule || profile.is_some() {
            true => rules.push(word.parse().map_err(|text| error::argument(format!("render: {text}")))?),
            false => profile = Some(PathBuf::from(word)),
        }
    }
    Ok(RenderingOptions { render: rules, profile })
}

/// One rule, a list of rules, or a mapping from paths to kinds; None is `none`.
fn words(render: Option<&Bound<'_, PyAny>>) -> PyResult<Vec<String>> {
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
