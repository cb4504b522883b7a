//! Options of how octets that are numbers, times and places are shown.

use crate::exit::{Failure, Outcome};
use clap::Args;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tercet::dynamic::{NodeId, Shape};
use tercet::records::{Profile, RenderKind, Rendering};

/// What is rendered how.
#[derive(Args, Clone, Debug, Default)]
pub struct RenderingArgs {
    /// How bytes that are numbers, times and places are shown
    #[arg(long, value_name = "auto|none|PATH=KIND", value_parser = rule, long_help = render_help())]
    pub render: Vec<Rule>,

    /// Profile of `--render auto`: a name, or a TOML file
    #[arg(long, value_name = "NAME|FILE", long_help = profile_help())]
    pub profile: Option<PathBuf>,
}

/// Returns the help of `--render`, with the kinds that there are.
fn render_help() -> String {
    format!(
        "How bytes that are numbers, times and places are shown\n\n`auto`: by the profile that fits the specification. `none`: as \
         bytes. `PATH=KIND`: those of one component (a name, a path from the record on, or `Type.component`) as {}. May be given \
         several times.",
        listed(RenderKind::known().map(|(name, _)| name), "or")
    )
}

/// Returns the help of `--profile`, with the profiles that there are.
fn profile_help() -> String {
    let names = Profile::shipped().iter().map(|profile| profile.name.as_str());
    format!(
        "Profile of `--render auto`: a name, or a TOML file\n\nThe profiles are {}.",
        listed(names, "and")
    )
}

/// Returns names as a sentence lists them.
pub fn listed<'a>(names: impl Iterator<Item = &'a str>, last: &str) -> String {
    let mut names: Vec<String> = names.map(|name| format!("`{name}`")).collect();
    let end = names.pop().unwrap_or_default();
    if names.is_empty() { end } else { format!("{} {last} {end}", names.join(", ")) }
}

/// One `--render`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rule {
    /// By a profile.
    Auto,
    /// By the other rules alone.
    None,
    /// The octets at a path.
    Path(String, RenderKind),
}

fn rule(text: &str) -> Result<Rule, String> {
    match (text, text.split_once('=')) {
        ("auto", _) => Ok(Rule::Auto),
        ("none", _) => Ok(Rule::None),
        (_, Some((path, kind))) => Ok(Rule::Path(path.to_owned(), kind.parse()?)),
        _ => Err("`auto`, `none` or PATH=KIND expected".to_owned()),
    }
}

impl RenderingArgs {
    /// Whether nothing has been said.
    pub fn is_default(&self) -> bool {
        self.render.is_empty() && self.profile.is_none()
    }

    /// The profile named, or the one that fits.
    pub fn profile(&self, shape: &Shape) -> Outcome<Profile> {
        self.profile.as_deref().map_or_else(|| Ok(Profile::of(shape)), named)
    }

    /// The rendering, if the command line asks for one: commands whose output other tools read show bytes as they are by
    /// default.
    pub fn if_asked(&self, shape: &Arc<Shape>, root: NodeId) -> Outcome<Option<Rendering>> {
        if self.is_default() {
            return Ok(None);
        }
        self.rendering(&self.profile(shape)?, shape, root)
    }

    /// The rendering asked for; none if nothing is to be shown otherwise than it is.
    pub fn rendering(
        &self,
        profile: &Profile,
        shape: &Arc<Shape>,
        record: NodeId,
    ) -> Outcome<Option<Rendering>> {
        let mut rules = Vec::new();
        for rule in &self.render {
            if let Rule::Path(path, kind) = rule {
                rules.push((path.clone(), *kind));
            }
        }
        let none = self.render.contains(&Rule::None);
        if none && self.profile.is_some() {
            return Err(Failure::usage("`--render none` takes no profile"));
        }
        if none && rules.is_empty() {
            return Ok(None);
        }
        let nothing = Profile::default();
        let profile = if none { &nothing } else { profile };
        Rendering::new(shape, record, profile, &rules).map(Some).map_err(Failure::usage)
    }
}

/// The profile of a name, or in a file.
fn named(name: &Path) -> Outcome<Profile> {
    Profile::named(name).map_err(|error| match error.kind() {
        io::ErrorKind::InvalidInput => Failure::usage(error),
        _ => Failure::from(error),
    })
}
