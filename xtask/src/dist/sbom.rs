//! What the command is made of, as a CycloneDX 1.6 document.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use super::{Commit, text};

/// The packages that a package is built from, with their licences and who uses whom.
///
/// # Errors
/// `cargo metadata` fails.
pub(super) fn cyclone_dx(root: &Path, package: &str, commit: &Commit) -> Result<Vec<u8>, String> {
    let metadata = text(
        Command::new("cargo").args(["metadata", "--format-version", "1", "--locked"]).current_dir(root),
    )?;
    let metadata = serde_json::from_str(&metadata).map_err(|error| format!("cargo metadata: {error}"))?;
    let document =
        document(&metadata, package, commit).ok_or("cargo metadata: not in the form that is known")?;
    serde_json::to_vec_pretty(&document).map_err(|error| error.to_string())
}

fn document(metadata: &Value, package: &str, commit: &Commit) -> Option<Value> {
    let packages: BTreeMap<&str, &Value> = metadata["packages"]
        .as_array()?
        .iter()
        .filter_map(|package| Some((package["id"].as_str()?, package)))
        .collect();
    let nodes: BTreeMap<&str, &Value> = metadata["resolve"]["nodes"]
        .as_array()?
        .iter()
        .filter_map(|node| Some((node["id"].as_str()?, node)))
        .collect();
    let (root, _) = packages.iter().find(|(_, found)| found["name"] == package)?;

    // Not those that only tests use.
    let mut reached = BTreeSet::from([*root]);
    let mut open = vec![*root];
    let mut dependencies = Vec::new();
    while let Some(id) = open.pop() {
        let mut used = BTreeSet::new();
        for dependency in nodes.get(id)?["deps"].as_array()? {
            if dependency["dep_kinds"].as_array()?.iter().any(|kind| kind["kind"] != "dev") {
                used.insert(dependency["pkg"].as_str()?);
            }
        }
        open.extend(used.iter().filter(|id| reached.insert(id)));
        let used: Option<Vec<String>> = used.iter().map(|id| url(packages.get(id)?)).collect();
        dependencies.push((url(packages.get(id)?)?, used?));
    }
    dependencies.sort();

    let component = |id: &str| {
        let package = packages.get(id)?;
        let reference = url(package)?;
        let mut component = json!({
            "type": if id == *root { "application" } else { "library" },
            "bom-ref": reference,
            "purl": reference,
            "name": package["name"],
            "version": package["version"],
        });
        if let Some(licence) = package["license"].as_str() {
            // Some write a slash where SPDX has OR.
            component["licenses"] = json!([{ "expression": licence.replace('/', " OR ") }]);
        }
        Some(component)
    };
    let libraries: Option<Vec<Value>> =
        reached.iter().filter(|id| *id != root).map(|id| component(id)).collect();
    let dependencies: Vec<Value> =
        dependencies.iter().map(|(reference, used)| json!({ "ref": reference, "dependsOn": used })).collect();
    Some(json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": { "timestamp": commit.date, "component": component(root)? },
        "components": libraries?,
        "dependencies": dependencies,
    }))
}

/// The package URL.
fn url(package: &Value) -> Option<String> {
    Some(format!("pkg:cargo/{}@{}", package["name"].as_str()?, package["version"].as_str()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_document_has_what_the_command_is_built_from() {
        let package = |name: &str, licence: &str| json!({ "id": name, "name": name, "version": "1.0.0", "license": licence });
        let used = |name: &str, kind: Value| json!({ "pkg": name, "dep_kinds": [{ "kind": kind }] });
        let metadata = json!({
            "packages": [package("command", "MIT"), package("library", "MIT/Apache-2.0"), package("for-tests", "MIT")],
            "resolve": { "nodes": [
                { "id": "command", "deps": [used("library", Value::Null), used("for-tests", json!("dev"))] },
                { "id": "library", "deps": [] },
                { "id": "for-tests", "deps": [] },
            ]},
        });
        let document = document(&metadata, "command", &Commit::default()).unwrap();
        assert_eq!(document["metadata"]["component"]["purl"], "pkg:cargo/command@1.0.0");
        assert_eq!(document["components"].as_array().unwrap().len(), 1);
        assert_eq!(document["components"][0]["licenses"][0]["expression"], "MIT OR Apache-2.0");
        assert_eq!(
            document["dependencies"][0],
            json!({ "ref": "pkg:cargo/command@1.0.0", "dependsOn": ["pkg:cargo/library@1.0.0"] })
        );
    }
}
