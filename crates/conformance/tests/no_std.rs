//! Generated code and the runtime without a standard library and with addresses of 32 bits: built, since some faults only
//! appear when code is made (an index that the compiler can compute, as of an octet of a `usize`).

use std::fs;
use std::path::Path;
use std::process::Command;

/// Whether the compiler has the core library for a target.
fn is_installed(target: &str) -> bool {
    let mut command = Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
    let found = command.args(["--print", "target-libdir", "--target", target]).output().unwrap();
    Path::new(String::from_utf8_lossy(&found.stdout).trim()).is_dir()
}

/// Builds the runtime and generated files as a crate without a standard library.
fn build(target: &str, files: &[&str]) {
    let repository = tercet_conformance::corpora::repository();
    let directory = tempfile::tempdir().unwrap();
    let mut text = String::from("#![no_std]\n#![forbid(unsafe_code)]\n#![deny(warnings)]\n");
    for generated in tercet_conformance::generated::ALL
        .iter()
        .filter(|it| files.iter().any(|file| it.file.ends_with(file)))
    {
        let file = generated.path();
        let name = file.file_stem().unwrap().to_string_lossy();
        text += &format!("#[path = {file:?}]\npub mod {name};\n");
    }
    let manifest = format!(
        "[package]\nname = \"bare\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[workspace]\n\n\
         [dependencies]\n\
         tercet-runtime = {{ path = {:?}, features = [\"arena\", \"serde\"] }}\n",
        repository.join("crates/runtime")
    );
    fs::create_dir(directory.path().join("src")).unwrap();
    fs::write(directory.path().join("src/lib.rs"), text).unwrap();
    fs::write(directory.path().join("Cargo.toml"), manifest).unwrap();
    let mut command = Command::new(env!("CARGO"));
    command.args(["build", "--quiet", "--offline"]).current_dir(directory.path());
    command.env("CARGO_TARGET_DIR", Path::new(env!("CARGO_TARGET_TMPDIR")).join("no_std").join(target));
    if is_installed(target) {
        command.args(["--target", target]);
    } else {
        tercet_testing::skip_in_part("target", &format!("no {target}: built for this machine instead"));
    }
    let built = command.output().unwrap();
    assert!(built.status.success(), "{target}: {}", String::from_utf8_lossy(&built.stderr));
}

/// A microcontroller with 32 bits and no operating system.
#[test]
#[ignore = "builds crates: `make test-builds`"]
fn generated_code_needs_no_standard_library() {
    build("thumbv7em-none-eabi", &[".rs"]);
}

#[test]
#[ignore = "builds crates: `make test-builds`"]
fn generated_code_builds_for_browsers() {
    build("wasm32-unknown-unknown", &["demo.rs", "small.rs"]);
}

/// `make test-32` runs the tests of the runtime and the engine there.
#[test]
#[ignore = "builds crates: `make test-builds`"]
fn generated_code_builds_for_32_bits() {
    build("i686-unknown-linux-gnu", &["demo.rs", "small.rs"]);
}
