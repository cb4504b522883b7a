//! Programs of generated Java.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use tercet::codegen::JavaFile;

use super::{FOREIGN, RULES, class_file};
use crate::corpora::repository;

/// Bytes of code that a method has at most: the virtual machine compiles none above 8,000.
const LARGEST_METHOD: usize = 7_000;

/// The generated classes of a specification.
pub(crate) struct Unit {
    pub(crate) files: Vec<JavaFile>,
    /// The types that values begin with, by name.
    pub(crate) roots: Vec<String>,
}

/// Compiles the files with a program that reads and writes again what it is given. Neither has warnings. The roots of all
/// units are numbered in order.
pub(crate) fn build(name: &str, units: &[Unit]) -> Result<Command, String> {
    let told = |error: std::io::Error| error.to_string();
    let runtime = runtime()?;
    let directory = repository().join("target/equal/java").join(file_name(name));
    if directory.exists() {
        fs::remove_dir_all(&directory).map_err(told)?;
    }
    let sources = directory.join("src");
    let mut paths = Vec::new();
    let mut write = |path: &str, text: &str| {
        let path = sources.join(path);
        fs::create_dir_all(path.parent().unwrap_or(&sources))?;
        paths.push(path.clone());
        fs::write(path, text)
    };
    for file in units.iter().flat_map(|unit| &unit.files) {
        write(&file.path, &file.text).map_err(told)?;
    }
    write("Again.java", include_str!("Again.java")).map_err(told)?;
    write("Roots.java", &types(units)?).map_err(told)?;
    let classes = directory.join("classes");
    javac(&classes, &[&runtime], &paths)?;
    let methods = class_file::methods(&classes)?;
    let enums: HashSet<&str> =
        methods.iter().filter(|method| method.1 == "$values").map(|method| &*method.0).collect();
    for (class, method, size) in &methods {
        // These run once: they make the items of an enum, and the constants for them in the interface around it.
        let is_enum = enums.contains(&**class) || enums.contains(&*format!("{class}$Known"));
        let is_of_enum = is_enum && matches!(&**method, "$values" | "<clinit>");
        if *size > LARGEST_METHOD && !is_of_enum {
            return Err(format!("{class}.{method} has {size} bytes of code"));
        }
    }
    let mut command = Command::new("java");
    // Small limits: no input may take much memory or a deep stack.
    command.args(["-Xmx64m", "-Xss256k", "-XX:+UseSerialGC", "-cp"]);
    command.arg(std::env::join_paths([&classes, &runtime]).map_err(|error| error.to_string())?).arg("Again");
    Ok(command)
}

fn file_name(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect()
}

/// The classes of the runtime, compiled once for the sources that there are.
fn runtime() -> Result<PathBuf, String> {
    static COMPILED: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    COMPILED.get_or_init(compile_runtime).clone()
}

fn compile_runtime() -> Result<PathBuf, String> {
    let told = |error: std::io::Error| error.to_string();
    let sources = repository().join("bindings/java/tercet-runtime/src/main/java");
    let mut paths = Vec::new();
    let package = sources.join("io/tercet/runtime");
    for entry in fs::read_dir(&package).map_err(told)? {
        paths.push(entry.map_err(told)?.path());
    }
    paths.push(sources.join("module-info.java"));
    paths.sort();
    let mut hasher = DefaultHasher::new();
    for path in &paths {
        path.hash(&mut hasher);
        fs::read(path).map_err(told)?.hash(&mut hasher);
    }
    let folder = repository().join("target/equal/java");
    let classes = folder.join(format!("runtime-{:016x}", hasher.finish()));
    if !classes.exists() {
        // Other processes may compile it at the same time.
        let new = folder.join(format!("runtime-{}.new", std::process::id()));
        javac(&new, &[], &paths)?;
        if let Err(error) = fs::rename(&new, &classes)
            && !classes.exists()
        {
            return Err(told(error));
        }
    }
    Ok(classes)
}

fn javac(classes: &Path, libraries: &[&PathBuf], paths: &[PathBuf]) -> Result<(), String> {
    let told = |error: std::io::Error| error.to_string();
    fs::create_dir_all(classes).map_err(told)?;
    // The command line would be too long for thousands of files.
    let list = classes.join("files");
    let quoted = |path: &PathBuf| format!("\"{}\"\n", path.display().to_string().replace('\\', "\\\\"));
    fs::write(&list, paths.iter().map(quoted).collect::<String>()).map_err(told)?;
    let mut command = Command::new("javac");
    // The compiler runs once: compiling it with all optimisations costs more than it gains. There are no processors of
    // annotations to look for.
    command.args(["-J-XX:TieredStopAtLevel=1", "-proc:none"]);
    command.args(["-Xlint:all", "-Werror", "--release", "17", "-encoding", "UTF-8", "-d"]).arg(classes);
    if !libraries.is_empty() {
        command.arg("-cp").arg(std::env::join_paths(libraries).map_err(|error| error.to_string())?);
    }
    let done = command.arg(format!("@{}", list.display())).output().map_err(told)?;
    match done.status.success() {
        true => Ok(()),
        false => Err(format!("does not compile: {}", String::from_utf8_lossy(&done.stderr))),
    }
}

/// The types of the roots and the rules, by their numbers.
fn types(units: &[Unit]) -> Result<String, String> {
    let mut text = String::from(
        "import io.tercet.runtime.Asn1Type;\nimport io.tercet.runtime.Rules;\nimport java.util.List;\n\n\
         final class Roots {\n    private Roots() {}\n\n",
    );
    let rules: Vec<String> =
        tercet::codegen::JAVA_RULES.iter().map(|rules| format!("Rules.{}", java_rules(*rules))).collect();
    let numbers: Vec<String> = tercet::codegen::JAVA_RULES
        .iter()
        .filter_map(|rules| RULES.iter().position(|(known, _)| known == rules))
        .map(|number| number.to_string())
        .collect();
    _ = writeln!(text, "    static final int FOREIGN = {FOREIGN};");
    _ = writeln!(text, "    static final List<Integer> NUMBERS = List.of({});", numbers.join(", "));
    _ = writeln!(text, "    static final List<Rules> RULES = List.of({});", rules.join(", "));
    let mut types = Vec::new();
    for (unit, root) in units.iter().flat_map(|unit| unit.roots.iter().map(move |root| (unit, root))) {
        let is_it = |file: &&JavaFile| {
            let of_module = |name: &str| name.split_once('.').is_some_and(|(_, name)| name == root);
            file.root.as_ref().is_some_and(|name| name == root || of_module(name))
        };
        let file = unit.files.iter().find(is_it).ok_or_else(|| format!("{root} has no class"))?;
        let class = file.path.trim_end_matches(".java").replace('/', ".");
        types.push(format!("{class}.TYPE"));
    }
    _ = writeln!(text, "    static final List<Asn1Type<?>> TYPES = List.of({});\n}}", types.join(", "));
    Ok(text)
}

fn java_rules(rules: tercet::Rules) -> String {
    rules.name().to_uppercase().replace('-', "_")
}
