//! Finds specifications by the module and the type of a protocol.

use crate::files;
use crate::gaps::Listener;
use crate::schema::{Schema, SchemaOptions};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{env, fs, io};
use tercet_capture::{Protocol, Variant};
use tercet_dynamic::{NodeId, Plan, Rules};

/// The variable of the environment that lists folders of specifications.
pub const SCHEMAS_VARIABLE: &str = "TERCET_SCHEMAS";

/// The specification of a protocol, ready to decode.
#[derive(Debug)]
pub struct Specification {
    /// Where it was found: a directory, or a file.
    pub place: PathBuf,
    /// The module.
    pub module: String,
    /// The type of messages.
    pub type_name: String,
    /// The encoding rules.
    pub rules: Rules,
    /// The plan.
    pub plan: Plan,
    /// The type of messages in the plan.
    pub root: NodeId,
}

/// Files of specifications, by directory.
#[derive(Clone, Debug)]
pub struct Specifications {
    folders: Arc<BTreeMap<PathBuf, Vec<(PathBuf, String)>>>,
    options: SchemaOptions,
}

impl Specifications {
    /// Reads the texts of all specifications in files and directories; without paths, those in the directories that the
    /// variable TERCET_SCHEMAS lists. The options apply to each.
    ///
    /// # Errors
    /// When one cannot be read.
    pub fn find(paths: &[PathBuf], options: SchemaOptions) -> io::Result<Self> {
        let mut paths = paths.to_vec();
        if paths.is_empty() {
            let listed = env::var_os(SCHEMAS_VARIABLE);
            paths.extend(listed.iter().flat_map(env::split_paths).filter(|it| it != Path::new("")));
        }
        let mut folders = BTreeMap::<PathBuf, Vec<_>>::new();
        for path in files::specifications(&paths)? {
            let octets = fs::read(&path).map_err(|error| files::named(&path, &error))?;
            let text = String::from_utf8_lossy(&octets).into_owned();
            let folder = path.parent().unwrap_or_else(|| Path::new("")).to_owned();
            folders.entry(folder).or_default().push((path, text));
        }
        Ok(Self { folders: Arc::new(folders), options })
    }

    /// Returns the specifications of a protocol, or of one of its types: one for each directory with a file that has the
    /// module, in the order of names; and why one is not used.
    pub fn of(&self, protocol: &Protocol, variant: Option<&Variant>) -> (Vec<Specification>, Vec<String>) {
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

    /// Returns the texts.
    pub(super) fn texts(&self) -> impl Iterator<Item = &str> {
        self.folders.values().flatten().map(|(_, text)| &**text)
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
        for (folder, files) in &*self.folders {
            let mut refused_here = Vec::new();
            let before = found.len();
            for (path, text) in files {
                let fits = if module.is_empty() { assigns(text, type_name) } else { defines(text, module) };
                if !fits {
                    continue;
                }
                // A file may have all modules of a specification; if it lacks some, the others are beside it.
                let beside: Vec<_> = files.iter().map(|(path, _)| path.clone()).collect();
                // Q.773 alone can be read without the operations that it imports, but not decode them.
                let alone = match type_name == "TCMessage" && files.len() > 1 {
                    true => Err(String::new()),
                    false => self.load(std::slice::from_ref(path), module, type_name, rules),
                };
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
        let options = SchemaOptions { listener: Listener::default(), ..self.options.clone() };
        let schema = Schema::load(files, &options).map_err(|error| error.to_string())?;
        if schema.has_errors() {
            return Err("the specification has errors; `tercet check` shows them".to_owned());
        }
        let name = if module.is_empty() { type_name.to_owned() } else { format!("{module}.{type_name}") };
        // The messages of Q.773 have sets of operations as parameters: any others are taken too.
        let is_bare = type_name != "TCMessage" || schema.plan_for(rules, &[&name]).is_ok();
        let name = if is_bare { name } else { format!("{name} {{{{...}}, {{...}}}}") };
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
