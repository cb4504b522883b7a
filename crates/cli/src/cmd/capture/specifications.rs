//! Finds specifications by the module and the type of a protocol.

use crate::args::{CacheArgs, ReadingArgs};
use crate::exit::{Failure, Outcome};
use clap::Args;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{env, fs};
use tercet::dynamic::{NodeId, Plan};
use tercet::{Rules, Schema, files};
use tercet_capture::Protocol;

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
    /// Returns the specifications of a protocol: one for each directory with a file that has its module, in the order of
    /// names; and why one is not used.
    pub(super) fn of(&self, protocol: &Protocol) -> (Vec<Specification>, Vec<String>) {
        let (mut found, mut refused) = (Vec::new(), Vec::new());
        let (Some(module), Some(type_name), Some(rules)) =
            (&protocol.module, &protocol.type_name, &protocol.rules)
        else {
            return (found, refused);
        };
        let Ok(rules) = rules.parse::<Rules>() else { return (found, refused) };
        for (folder, files) in &self.folders {
            for (path, _) in files.iter().filter(|(_, text)| defines(text, module)) {
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
                        module: module.clone(),
                        type_name: type_name.clone(),
                        rules,
                        plan,
                        root,
                    }),
                    Err(error) => refused.push(format!("{}: {error}", tercet_printable::path(path))),
                }
            }
        }
        (found, refused)
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
        let name = format!("{module}.{type_name}");
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
        let mut rest = text[at + module.len()..].trim_start();
        if rest.starts_with('{') {
            rest = rest.split_once('}').map_or("", |(_, rest)| rest).trim_start();
        }
        rest.starts_with("DEFINITIONS")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_of_modules_are_found() {
        assert!(defines("-- x\nA-B DEFINITIONS ::= BEGIN END", "A-B"));
        assert!(defines("A-B\n{ itu-t (0)\n 1 }\nDEFINITIONS", "A-B"));
        assert!(!defines("C-A-B DEFINITIONS ::= BEGIN IMPORTS x FROM A-B ; END", "A-B"));
        assert!(!defines("A-B-C DEFINITIONS", "A-B"));
        assert!(!defines("A-B {", "A-B"));
    }
}
