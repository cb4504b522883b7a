//! Small crates that are built with a build script of ours, without a network: `make test-builds`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const SPECIFICATION: &str = "Rockets DEFINITIONS AUTOMATIC TAGS ::= BEGIN
Rocket ::= SEQUENCE { name UTF8String, range INTEGER (0..65535) OPTIONAL, fuel Fuel }
Fuel ::= ENUMERATED { solid, liquid, ... }
END
";

const SCRIPT: &str = r#"
fn main() -> Result<(), tercet_build::Error> {
    use tercet_build::{Rules, compile};
    compile(["specs"]).roots(["Rocket"]).rules([Rules::Der, Rules::Uper]).hash().write("rocket.rs")
}
"#;

/// Both ways to take the text in, with warnings as errors.
const MAIN: &str = r#"
#![deny(warnings)]
mod rocket { include!(concat!(env!("OUT_DIR"), "/rocket.rs")); }
mod again;
use tercet_runtime::codec::{Decode, Der, Encode, Uper};

fn main() {
    let rocket = rocket::Rocket { name: "Falk".into(), range: Some(5), fuel: rocket::Fuel::Solid };
    let der = Encode::<Der>::encode(&rocket).unwrap();
    let (again, rest) = <again::Rocket<'_> as Decode<'_, Der>>::decode(&der).unwrap();
    assert!(rest.is_empty());
    println!("{:02x?} {:02x?}", der, Encode::<Uper>::encode(&again).unwrap());
}
"#;

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// A crate beside the workspace's target folder, so that nothing is built that is there already.
fn crate_in(directory: &Path) {
    let manifest = format!(
        "[package]\nname = \"rocket\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[workspace]\n\n\
         [dependencies]\ntercet-runtime = {{ path = {:?} }}\n\n\
         [build-dependencies]\ntercet-build = {{ path = {:?} }}\n\n[profile.dev]\ndebug = 0\n",
        folder("../runtime"),
        folder("")
    );
    fs::create_dir_all(directory.join("src")).unwrap();
    fs::create_dir_all(directory.join("specs")).unwrap();
    fs::write(directory.join("Cargo.toml"), manifest).unwrap();
    fs::copy(folder("../../Cargo.lock"), directory.join("Cargo.lock")).unwrap();
    fs::write(directory.join("build.rs"), SCRIPT).unwrap();
    fs::write(directory.join("src/main.rs"), MAIN).unwrap();
    fs::write(directory.join("specs/rocket.asn"), SPECIFICATION).unwrap();
    let text = tercet_build::compile([directory.join("specs")])
        .rules([tercet_build::Rules::Der, tercet_build::Rules::Uper]);
    fs::write(directory.join("src/again.rs"), text.print().unwrap()).unwrap();
}

fn cargo(directory: &Path, target: &Path) -> Output {
    let mut command = Command::new(env!("CARGO"));
    command.args(["run", "--quiet", "--offline"]).current_dir(directory).env("CARGO_TARGET_DIR", target);
    // Both crates here have one profile, so that what they use is built once.
    command.env("CARGO_PROFILE_DEV_DEBUG", "0").output().unwrap()
}

#[test]
#[ignore = "builds crates: `make test-builds`"]
fn a_crate_is_built_with_a_script() {
    let directory = tempfile::tempdir().unwrap();
    crate_in(directory.path());
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("script");
    let built = cargo(directory.path(), &target);
    let said = String::from_utf8_lossy(&built.stderr);
    assert!(built.status.success(), "{said}");
    let out = String::from_utf8_lossy(&built.stdout);
    assert_eq!(
        out.trim(),
        "[30, 0c, 80, 04, 46, 61, 6c, 6b, 81, 01, 05, 82, 01, 00] [82, 23, 30, b6, 35, 80, 02, 80]"
    );

    // What is wrong in a specification is shown with its line.
    let wrong = SPECIFICATION.replace("range INTEGER", "range INTEGRE ::");
    fs::write(directory.path().join("specs/rocket.asn"), wrong).unwrap();
    let built = cargo(directory.path(), &target);
    let said = String::from_utf8_lossy(&built.stderr);
    assert!(!built.status.success());
    assert!(said.contains("INTEGRE") && said.contains("rocket.asn:2:"), "{said}");
}

/// The files of the example, with their texts.
fn example() -> impl Iterator<Item = (&'static str, String)> {
    let folder = folder("../../examples/build-script");
    let names = ["Cargo.toml", "build.rs", "specs/weather.asn", "src/main.rs"];
    names.into_iter().map(move |name| (name, fs::read_to_string(folder.join(name)).unwrap()))
}

fn tutorial() -> String {
    fs::read_to_string(folder("../../docs/tutorial-build-script.md")).unwrap()
}

#[test]
fn the_tutorial_shows_the_files_of_the_example() {
    for (name, text) in example() {
        assert_eq!(block(&tutorial(), &format!(" file={name}\n")), text, "{name}");
    }
}

#[test]
#[ignore = "builds crates: `make test-builds`"]
fn the_tutorial_shows_what_the_example_prints() {
    let directory = tempfile::tempdir().unwrap();
    for (name, text) in example() {
        let path = directory.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        // Where the crate is, the paths to ours are others.
        fs::write(path, text.replace("../../crates", folder("..").to_str().unwrap())).unwrap();
    }
    fs::copy(folder("../../Cargo.lock"), directory.path().join("Cargo.lock")).unwrap();
    let built = cargo(directory.path(), &Path::new(env!("CARGO_TARGET_TMPDIR")).join("script"));
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    assert_eq!(String::from_utf8_lossy(&built.stdout), block(&tutorial(), "```text\n"));
}

/// The excerpts of the guide to generated types run on its own specification.
#[test]
#[ignore = "builds crates: `make test-builds`"]
fn the_rust_of_the_guide_runs() {
    let guide = fs::read_to_string(folder("../../docs/guide-compile.md")).unwrap();
    let directory = tempfile::tempdir().unwrap();
    crate_in(directory.path());
    fs::write(directory.path().join("specs/rocket.asn"), block(&guide, "```asn1 file=rocket.asn\n")).unwrap();
    fs::create_dir(directory.path().join("arena")).unwrap();
    fs::write(directory.path().join("arena/fleet.asn"), block(&guide, "```asn1 file=fleet.asn\n")).unwrap();
    fs::write(directory.path().join("arena.toml"), block(&guide, "```toml file=arena.toml\n")).unwrap();
    let script = SCRIPT.replace("Der, Rules", "Ber, Rules").replace(".hash()", ".serde()").replace(
        ".write(\"rocket.rs\")",
        ".write(\"rocket.rs\")?;\n    compile([\"specs\", \"arena\"]).roots([\"Fleet\"]).rules([Rules::Ber])\
         .overlay(\"arena.toml\").write(\"fleet.rs\")",
    );
    fs::write(directory.path().join("build.rs"), script).unwrap();
    let manifest = fs::read_to_string(directory.path().join("Cargo.toml")).unwrap();
    let manifest = manifest
        .replace("\"rocket\"", "\"guide\"")
        .replace("[dependencies]", "[dependencies]\nserde_json = \"1\"")
        .replace("runtime\" }", "runtime\", features = [\"arena\", \"serde\"] }");
    fs::write(directory.path().join("Cargo.toml"), manifest).unwrap();
    let excerpts: Vec<_> = guide.split("```rust,ignore\n").skip(1).map(|rest| block(rest, "")).collect();
    let [traits, json, arena] = excerpts[..] else { panic!("{} excerpts", excerpts.len()) };
    let main = format!(
        "mod rocket {{ include!(concat!(env!(\"OUT_DIR\"), \"/rocket.rs\")); }}\nuse rocket::Rocket;\n\
         mod fleet {{ include!(concat!(env!(\"OUT_DIR\"), \"/fleet.rs\")); }}\nuse fleet::Fleet;\n\
         fn main() -> Result<(), Box<dyn std::error::Error>> {{\n\
         let octets = *b\"\\x30\\x09\\x80\\x04Falk\\x81\\x01\\x05rest\";\n\
         {{\n{traits}assert_eq!(rest, b\"rest\");\n\
         assert_eq!(<Rocket<'_> as Decode<'_, Uper>>::decode(&again)?.0, rocket);\n}}\n\
         {{\nlet messages = [*b\"\\x30\\x0b\\x30\\x09\\x80\\x04Falk\\x81\\x01\\x05\"];\n\
         let messages = messages.iter().map(|octets| &octets[..]);\n{arena}}}\n\
         {{\n{json}}}\nOk(())\n}}\n"
    );
    fs::write(directory.path().join("src/main.rs"), main).unwrap();
    let built = cargo(directory.path(), &Path::new(env!("CARGO_TARGET_TMPDIR")).join("script"));
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
}

/// The block of a page whose first line ends so.
fn block<'a>(page: &'a str, first: &str) -> &'a str {
    let (_, rest) = page.split_once(first).unwrap_or_else(|| panic!("no block {first:?}"));
    &rest[..rest.find("```\n").unwrap()]
}

#[test]
fn what_is_wrong_is_said() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("rocket.asn");
    let compile = || tercet_build::compile([&file]).directory(directory.path());
    assert!(compile().write("a.rs").unwrap_err().to_string().contains("rocket.asn"));
    fs::write(&file, SPECIFICATION).unwrap();
    let error = compile().roots(["Rakete"]).write("a.rs").unwrap_err();
    assert!(error.to_string().starts_with("unknown type `Rakete`"), "{error}");
    compile().write("a.rs").unwrap();
    assert!(fs::read_to_string(directory.path().join("a.rs")).unwrap().contains("pub struct Rocket<'a>"));
}

/// A type that needs a missing module is printed for BER, with a warning, but not for PER.
#[test]
fn missing_modules_are_reported() {
    let directory = std::env::temp_dir().join(format!("tercet-build-missing-{}", std::process::id()));
    fs::create_dir_all(&directory).unwrap();
    let text = "A DEFINITIONS AUTOMATIC TAGS ::= BEGIN IMPORTS T FROM B; S ::= SEQUENCE { a T } END";
    fs::write(directory.join("a.asn"), text).unwrap();
    let compile = || tercet_build::compile([directory.join("a.asn")]);
    let told = "`T` (module `B` is not given)";
    let error = compile().rules([tercet_build::Rules::Uper]).print().unwrap_err();
    assert!(error.to_string().contains(told), "{error}");
    compile().rules([tercet_build::Rules::Uper]).allow_missing().print().unwrap();
    let heard = std::sync::Arc::new(std::sync::Mutex::new(String::new()));
    let list = std::sync::Arc::clone(&heard);
    let hear = move |text: &str| list.lock().unwrap().push_str(text);
    let reading = tercet_build::SchemaOptions {
        listener: tercet_build::Listener::new(hear),
        ..tercet_build::SchemaOptions::default()
    };
    compile().reading(reading).print().unwrap();
    assert!(heard.lock().unwrap().contains(told));
    fs::remove_dir_all(&directory).unwrap();
}
