//! What a crate of ours needs before it is published.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

#[test]
fn every_crate_has_what_a_registry_shows() {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--no-deps", "--offline"])
        .current_dir(tercet_testing::repository())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    let mut published = 0;
    for package in metadata["packages"].as_array().unwrap() {
        // `publish = false` is an empty list of registries.
        if package["publish"].as_array().is_some_and(Vec::is_empty) {
            continue;
        }
        published += 1;
        let name = package["name"].as_str().unwrap();
        for field in ["description", "license", "repository", "rust_version"] {
            assert!(package[field].as_str().is_some_and(|text| !text.is_empty()), "{name} has no {field}");
        }
        for field in ["categories", "keywords"] {
            let count = package[field].as_array().unwrap().len();
            assert!((1..=5).contains(&count), "{name} has {count} {field}, 1 to 5 are allowed");
        }
        let manifest = Path::new(package["manifest_path"].as_str().unwrap());
        let readme = manifest.with_file_name(package["readme"].as_str().unwrap_or("none"));
        assert!(readme.is_file(), "{name} has no readme");
        assert!(package["metadata"]["docs"]["rs"].is_object(), "{name} does not tell docs.rs its features");
        // A dependency without a version cannot be published, one for tests alone is left out.
        for dependency in package["dependencies"].as_array().unwrap() {
            let is_bare = dependency["req"] == "*" && dependency["kind"] != "dev";
            assert!(!is_bare, "{name}: the dependency {} has no version", dependency["name"]);
        }
    }
    assert!(published >= 16, "{published} crates are published");
}
