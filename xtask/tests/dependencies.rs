//! Which crate may depend on which: the last column of the code map in ARCHITECTURE.md, checked against Cargo.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use serde_json::Value;

/// Crates by their short names, each with those that it depends on.
type Layers = BTreeMap<String, BTreeSet<String>>;

/// Reads the code map: rows `crates/NAME` and `xtask`.
fn code_map(text: &str) -> Layers {
    let mut layers = Layers::new();
    for row in text.lines() {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let [_, path, .., uses, _] = cells[..] else { continue };
        let path = path.trim_matches('`');
        let own_folder = || ["bench/floor", "xtask"].contains(&path).then_some(path);
        if let Some(name) = path.strip_prefix("crates/").or_else(own_folder) {
            let name = name.rsplit('/').next().unwrap_or(name);
            let uses = uses.split(", ").filter(|&it| it != "–").map(crate_name).collect();
            layers.insert(crate_name(name), uses);
        }
    }
    layers
}

/// Returns the short name of a crate: that of its folder. The package of `crates/cli` is `tercet`.
fn crate_name(name: &str) -> String {
    let name = name.strip_prefix("tercet-").unwrap_or(name);
    if name == "tercet" { "cli".to_owned() } else { name.to_owned() }
}

/// Asks Cargo for the crates of the workspace and their dependencies, without those of tests.
fn workspace() -> Layers {
    let arguments = ["metadata", "--no-deps", "--offline", "--format-version", "1"];
    let output = Command::new(env!("CARGO")).args(arguments).output().expect("cargo");
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("JSON of cargo metadata");
    let is_built = |it: &&Value| it["path"].is_string() && it["kind"] != "dev";
    let name = |it: &Value| crate_name(it["name"].as_str().unwrap_or_default());
    let packages = metadata["packages"].as_array().expect("packages");
    let dependencies = |it: &Value| it["dependencies"].as_array().cloned().unwrap_or_default();
    packages
        .iter()
        .map(|it| (name(it), dependencies(it).iter().filter(is_built).map(name).collect()))
        .collect()
}

/// Returns all crates that a crate uses, directly or not.
fn all_below<'l>(layers: &'l Layers, name: &'l str) -> BTreeSet<&'l str> {
    let mut below = BTreeSet::new();
    let mut open = vec![name];
    while let Some(next) = open.pop() {
        let uses = layers.get(next).into_iter().flatten().map(String::as_str);
        open.extend(uses.filter(|it| below.insert(*it)));
    }
    below
}

/// Returns each difference between the code map and the workspace.
fn differences(map: &Layers, workspace: &Layers) -> Vec<String> {
    let mut found = Vec::new();
    for (name, uses) in workspace {
        let Some(row) = map.get(name) else {
            found.push(format!("`{name}` is not in the code map"));
            continue;
        };
        let allowed = all_below(map, name);
        let unknown = uses.iter().filter(|it| !allowed.contains(it.as_str()));
        found.extend(
            unknown.map(|it| format!("`{name}` depends on `{it}`, which the code map does not have")),
        );
        let unused = row.difference(uses);
        found.extend(unused.map(|it| format!("`{name}` does not depend on `{it}` of the code map")));
    }
    let gone = map.keys().filter(|name| !workspace.contains_key(*name));
    found.extend(gone.map(|name| format!("`{name}` of the code map is not in the workspace")));
    found
}

#[test]
fn crates_depend_on_what_the_code_map_says() {
    let mut workspace = workspace();
    // The row of `examples` has more than crates of the workspace.
    workspace.remove("make-demo");
    let found = differences(&code_map(include_str!("../../ARCHITECTURE.md")), &workspace);
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn invariants_of_layers_hold() {
    let workspace = workspace();
    let below = |name| Vec::from_iter(all_below(&workspace, name));
    for name in ["runtime", "suggest", "printable", "testing"] {
        assert_eq!(below(name), [""; 0], "{name}");
    }
    assert_eq!(below("syntax"), ["printable"]);
    for name in ["ldap", "megaco"] {
        assert_eq!(below(name), ["runtime"], "{name}");
    }
    // The plan names the nearest encoding rules for an unknown name.
    assert_eq!(below("plan"), ["runtime", "suggest"]);
    // Engine and records do not see the compiler.
    assert_eq!(below("dynamic"), ["plan", "runtime", "suggest"]);
    for name in ["columns", "records"] {
        let below = below(name);
        assert!(
            ["model", "lower", "codegen", "syntax"].iter().all(|it| !below.contains(it)),
            "{name}: {below:?}"
        );
    }
    assert!(workspace.values().all(|uses| !uses.contains("python")));
}

#[test]
fn differences_are_found() {
    let check = |row: &str, uses: &[&str], expected: &[&str]| {
        let map = code_map(&format!("| `crates/a` | – | – |\n| `crates/b` | x | a |\n{row}"));
        let own = |uses: &[&str]| uses.iter().map(|&it| it.to_owned()).collect();
        let crates = [("a", own(&[])), ("b", own(&["a"])), ("c", own(uses))];
        let workspace = crates.map(|(name, uses)| (name.to_owned(), uses)).into();
        assert_eq!(differences(&map, &workspace), expected);
    };
    check("| `crates/c` | x | b |", &["a", "b"], &[]);
    check("| `crates/c` | x | a |", &["a", "b"], &["`c` depends on `b`, which the code map does not have"]);
    check("| `crates/c` | x | a, b |", &["b"], &["`c` does not depend on `a` of the code map"]);
    check("", &[], &["`c` is not in the code map"]);
    check(
        "| `crates/c` | x | – |\n| `crates/d` | x | – |",
        &[],
        &["`d` of the code map is not in the workspace"],
    );
}
