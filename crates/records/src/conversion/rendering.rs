//! Options of how bytes that are numbers, times and places are shown.

use super::given::OptionFault;
#[cfg(feature = "clap")]
use super::words::listed;
use crate::SettingError;
use crate::interpret::{Interpretation, Profile, RenderKind};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;
use tercet_dynamic::{NodeId, Shape};

/// What is rendered how.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct RenderingOptions {
    /// How bytes that are numbers, times and places are shown
    #[cfg_attr(feature = "clap", arg(long, value_name = "auto|none|PATH=KIND", long_help = render_help()))]
    pub render: Vec<RenderRule>,

    /// Profile of `--render auto`: a name, or a TOML file
    #[cfg_attr(feature = "clap", arg(long, value_name = "NAME|FILE", long_help = profile_help()))]
    pub profile: Option<PathBuf>,
}

/// Returns the help of `--render`, with the kinds that there are.
#[cfg(feature = "clap")]
fn render_help() -> String {
    format!(
        "How bytes that are numbers, times and places are shown\n\n`auto`: by the profile that fits the specification. `none`: as \
         bytes. `PATH=KIND`: those of one component (a name, a path from the record on, or `Type.component`) as {}. May be given \
         several times.",
        listed(RenderKind::known().map(|(name, _)| name), "or")
    )
}

/// Returns the help of `--profile`, with the profiles that there are.
#[cfg(feature = "clap")]
fn profile_help() -> String {
    let names = Profile::shipped().iter().map(|profile| profile.name.as_str());
    format!(
        "Profile of `--render auto`: a name, or a TOML file\n\nThe profiles are {}.",
        listed(names, "and")
    )
}

/// One rule: by a profile, not at all, or the bytes at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RenderRule {
    /// By a profile.
    Auto,
    /// By the other rules alone.
    None,
    /// The bytes at a path.
    Path(String, RenderKind),
}

impl FromStr for RenderRule {
    type Err = SettingError;

    fn from_str(text: &str) -> Result<Self, SettingError> {
        match (text, text.split_once('=')) {
            ("auto", _) => Ok(Self::Auto),
            ("none", _) => Ok(Self::None),
            (_, Some((path, kind))) => Ok(Self::Path(path.to_owned(), kind.parse()?)),
            _ => Err("`auto`, `none` or PATH=KIND expected".into()),
        }
    }
}

impl fmt::Display for RenderRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => f.write_str("auto"),
            Self::None => f.write_str("none"),
            Self::Path(path, kind) => write!(f, "{path}={}", kind.name()),
        }
    }
}

impl RenderingOptions {
    /// Returns whether nothing has been given.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// Returns the profile that is named, or the one that fits.
    ///
    /// # Errors
    /// [`io::ErrorKind::InvalidInput`] if there is no such profile or the text is none; those of the file system.
    pub fn profile(&self, shape: &Shape) -> io::Result<Profile> {
        self.profile.as_deref().map_or_else(|| Ok(Profile::of(shape)), Profile::named)
    }

    /// Returns the profile if it is a file: rows depend on what it holds.
    pub fn profile_file(&self) -> Option<&Path> {
        self.profile.as_deref().filter(|path| path.is_file())
    }

    /// Returns the rendering that is asked for, or `None` if everything is shown as it is.
    ///
    /// # Errors
    /// When a rule concerns nothing, or options contradict each other.
    pub fn rendering(
        &self,
        profile: &Profile,
        shape: &Arc<Shape>,
        record: NodeId,
    ) -> Result<Option<Interpretation>, OptionFault> {
        let mut rules = Vec::new();
        for rule in &self.render {
            if let RenderRule::Path(path, kind) = rule {
                rules.push((path.clone(), *kind));
            }
        }
        let none = self.render.contains(&RenderRule::None);
        if none && self.profile.is_some() {
            return Err(OptionFault::about("`{render} none` takes no profile"));
        }
        if none && rules.is_empty() {
            return Ok(None);
        }
        let nothing = Profile::default();
        let profile = if none { &nothing } else { profile };
        Ok(Some(Interpretation::new(shape, record, profile, &rules)?))
    }
}
