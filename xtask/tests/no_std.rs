//! Generated code without a standard library: checked for a target that has none.
#![expect(clippy::print_stderr, reason = "a test talks to people")]

use std::fs;
use std::path::Path;
use std::process::Command;

/// A microcontroller with 32 bits and no operating system.
const TARGET: &str = "thumbv7em-none-eabi";

/// Whether the compiler has the core library for the target.
fn is_installed() -> bool {
    let mut command = Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
    let said = command.args(["--print", "target-libdir", "--target", TARGET]).output().unwrap();
    Path::new(String::from_utf8_lossy(&said.stdout).trim()).is_dir()
}

#[test]
fn generated_code_needs_no_standard_library() {
    let repository = xtask::corpora::repository();
    let directory = tempfile::tempdir().unwrap();
    let mut text = String::from("#![no_std]\n#![forbid(unsafe_code)]\n#![deny(warnings)]\n");
    for generated in xtask::generated::ALL {
        let file = repository.join(generated.file);
        let name = file.file_stem().unwrap().to_string_lossy();
        text += &format!("#[path = {file:?}]\npub mod {name};\n");
    }
    let manifest = format!(
        "[package]\nname = \"bare\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[workspace]\n\n\
         [dependencies]\n\
         tercet-runtime = {{ path = {:?}, features = [\"serde\"] }}\n",
        repository.join("crates/runtime")
    );
    fs::create_dir(directory.path().join("src")).unwrap();
    fs::write(directory.path().join("src/lib.rs"), text).unwrap();
    fs::write(directory.path().join("Cargo.toml"), manifest).unwrap();
    let mut command = Command::new(env!("CARGO"));
    command.args(["check", "--quiet", "--offline"]).current_dir(directory.path());
    command.env("CARGO_TARGET_DIR", Path::new(env!("CARGO_TARGET_TMPDIR")).join("no_std"));
    if is_installed() {
        command.args(["--target", TARGET]);
    } else {
        eprintln!(
            "{TARGET} is not installed (`rustup target add {TARGET}`): checked for this machine instead"
        );
    }
    let checked = command.output().unwrap();
    assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stderr));
}
