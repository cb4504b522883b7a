//! Finds specifications by the module and the type of a protocol.

use crate::args::{CacheArgs, ReadingArgs};
use crate::exit::{Failure, Outcome};
use clap::Args;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{env, fs};
use tercet::dynamic::{NodeId, Plan};
use tercet::{Rules, Schema, files};
use tercet_capture::{Protocol, Variant};

/// The variable with folders of specifications.
const VARIABLE: &str = "TERCET_SCHEMAS";

/// Where specifications are.
#[derive(Args, Clone, Debug)]
pub(super) struct SpecificationArgs {
    /// Specification file, or a directory of them for any number of protocols; may be given several times. Without it,
    /// the paths in TERCET_SCHEMAS
    #[arg(short, long = "schema", value_name = "PATH")]
    schema: Vec<PathBuf>,

    #[command(flatten)]
    cache: CacheArgs,
}

/// The specification of a protocol, ready to decode.
#[derive(Debug)]
pub(super) struct Specification {
    /// Where it was found: a directory, or a file.
    pub(super) place: PathBuf,
    pub(super) module: String,
    pub(super) type_name: String,
    pub(super) rules: Rules,
    pub(super) plan: Plan,
    pub(super) root: NodeId,
}

/// Files of specifications, by directory.
#[derive(Debug)]
pub(super) struct Specifications {
    folders: BTreeMap<PathBuf, Vec<(PathBuf, String)>>,
    cache: CacheArgs,
}

impl SpecificationArgs {
    /// Returns the arguments of other commands: without paths, those of the variable.
    pub(super) fn new(schema: Vec<PathBuf>, cache: CacheArgs) -> Self {
        Self { schema, cache }
    }

    /// Reads the texts of all specifications.
    pub(super) fn find(&self) -> Outcome<Specifications> {
        let mut paths = self.schema.clone();
        if paths.is_empty() {
            paths.extend(
                env::var_os(VARIABLE).iter().flat_map(env::split_paths).filter(|it| it != Path::new("")),
            );
        }
        let mut folders = BTreeMap::<PathBuf, Vec<_>>::new();
        for path in files::specifications(&paths)? {
            let octets = fs::read(&path).map_err(|error| Failure::io(path.display(), &error))?;
            let text = String::from_utf8_lossy(&octets).into_owned();
            let folder = path.parent().unwrap_or_else(|| Path::new("")).to_owned();
            folders.entry(folder).or_default().push((path, text));
        }
        Ok(Specifications { folders, cache: self.cache.clone() })
    }
}

impl Specifications {
    /// Returns the specifications of a protocol, or of one of its types: one for each directory with a file that has the
    /// module, in the order of names; and why one is not used.
    pub(super) fn of(
        &self,
        protocol: &Protocol,
        variant: Option<&Variant>,
    ) -> (Vec<Specification>, Vec<String>) {
        let (mut found, mut refused) = (Vec::new(), Vec::new());
        let module = variant.and_then(|it| it.module.as_ref()).or(protocol.module.as_ref());
        let type_name = variant.map(|it| &it.type_name).or(protocol.type_name.as_ref());
        let rules = variant.and_then(|it| it.rules.as_ref()).or(protocol.rules.as_ref());
        let (Some(module), Some(type_name), Some(rules)) = (module, type_name, rules) else {
            return (found, refused);
        };
        let Ok(rules) = rules.parse::<Rules>() else { return (found, refused) };
        self.load_all(module, type_name, rules, &mut found, &mut refused);
        // Types of variants have names of their own: any module may have them.
        if found.is_empty() && variant.is_some() {
            self.load_all("", type_name, rules, &mut found, &mut refused);
        }
        (found, refused)
    }

    /// Loads the specifications that have a module, or, without a name of a module, the type.
    fn load_all(
        &self,
        module: &str,
        type_name: &str,
        rules: Rules,
        found: &mut Vec<Specification>,
        refused: &mut Vec<String>,
    ) {
        for (folder, files) in &self.folders {
            let mut refused_here = Vec::new();
            let before = found.len();
            for (path, text) in files {
                let fits = if module.is_empty() { assigns(text, type_name) } else { defines(text, module) };
                if !fits {
                    continue;
                }
                // A file may have all modules of a specification; if it lacks some, the others are beside it.
                let beside: Vec<_> = files.iter().map(|(path, _)| path.clone()).collect();
                let alone = self.load(std::slice::from_ref(path), module, type_name, rules);
                let loaded = match alone {
                    Ok(loaded) => Ok((path, loaded)),
                    Err(_) => self.load(&beside, module, type_name, rules).map(|loaded| (folder, loaded)),
                };
                match loaded {
                    Ok((place, (plan, root))) => found.push(Specification {
                        place: place.clone(),
                        module: module.to_owned(),
                        type_name: type_name.to_owned(),
                        rules,
                        plan,
                        root,
                    }),
                    Err(error) => refused_here.push(format!("{}: {error}", tercet_printable::path(path))),
                }
            }
            if found.len() == before {
                refused.extend(refused_here);
            }
        }
    }

    fn load(
        &self,
        files: &[PathBuf],
        module: &str,
        type_name: &str,
        rules: Rules,
    ) -> Result<(Plan, NodeId), String> {
        // Gaps are errors of the plan: warnings about files that are tried would only disturb.
        let options = ReadingArgs::default().options();
        let options =
            tercet::SchemaOptions { listener: tercet::Listener::default(), ..self.cache.with(options) };
        let schema = Schema::load(files, &options).map_err(|error| error.to_string())?;
        if schema.has_errors() {
            return Err("the specification has errors; `tercet check` shows them".to_owned());
        }
        let name = if module.is_empty() { type_name.to_owned() } else { format!("{module}.{type_name}") };
        let plan = schema.plan_for(rules, &[&name]).map_err(|error| error.to_string())?;
        let root = plan.root(&name).ok_or_else(|| format!("no type `{name}`"))?;
        Ok((plan, root))
    }
}

/// Returns whether a text has the header of a module: its name, perhaps an object identifier, `DEFINITIONS`.
fn defines(text: &str, module: &str) -> bool {
    text.match_indices(module).any(|(at, _)| {
        let is_part = |it: char| it.is_alphanumeric() || it == '-' || it == '_';
        if text[..at].ends_with(is_part) {
            return false;
        }
        let mut rest = skip_comments(&text[at + module.len()..]);
        if rest.starts_with('{') {
            rest = skip_comments(rest.split_once('}').map_or("", |(_, rest)| rest));
        }
        rest.starts_with("DEFINITIONS")
    })
}

/// Returns what follows white space and comments of `--`, which end with the line or another `--`.
fn skip_comments(mut text: &str) -> &str {
    loop {
        text = text.trim_start();
        let Some(comment) = text.strip_prefix("--") else { return text };
        let line = comment.find('\n').unwrap_or(comment.len());
        let end = comment[..line].find("--").map_or(line, |at| at + 2);
        text = &comment[end..];
    }
}

/// Returns whether a text assigns a type.
fn assigns(text: &str, type_name: &str) -> bool {
    text.lines().any(|line| {
        let rest = line.trim_start().strip_prefix(type_name);
        rest.is_some_and(|rest| rest.trim_start().starts_with("::="))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_of_modules_are_found() {
        assert!(defines("-- x\nA-B DEFINITIONS ::= BEGIN END", "A-B"));
        assert!(defines("A-B\n{ itu-t (0)\n 1 }\nDEFINITIONS", "A-B"));
        assert!(defines("A-B {1 2} -- an arc -- -- and\n-- more\nDEFINITIONS", "A-B"));
        assert!(!defines("C-A-B DEFINITIONS ::= BEGIN IMPORTS x FROM A-B ; END", "A-B"));
        assert!(!defines("A-B-C DEFINITIONS", "A-B"));
        assert!(!defines("A-B {", "A-B"));
        assert!(assigns("X ::= INTEGER\n  A-B   ::= NULL", "A-B") && !assigns("A-BC ::= NULL", "A-B"));
    }
}
