//! The program that answers for generated code.

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use tercet::Rules;

use super::{FOREIGN, RULES};
use crate::corpora::repository;

/// A crate with the text, built; all share one target folder, so that the runtime is built once.
pub(super) fn build(name: &str, text: &str, roots: &[String], jer: bool) -> Result<PathBuf, String> {
    let told = |error: std::io::Error| error.to_string();
    let target = repository().join("target/equal");
    let name: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    let name = format!("equal_{}", name.to_lowercase());
    let directory = target.join("crates").join(&name);
    fs::create_dir_all(directory.join("src")).map_err(told)?;
    let (features, more) = if jer {
        (
            ", features = [\"serde\"]",
            "serde_json = { version = \"1\", features = [\"arbitrary_precision\"] }\n",
        )
    } else {
        ("", "")
    };
    let manifest = format!(
        "[package]\nname = {name:?}\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[workspace]\n\n[dependencies]\n\
         tercet-runtime = {{ path = {:?}{features} }}\n{more}\n[profile.dev]\ndebug = 0\n\n\
         [profile.dev.package.tercet-runtime]\nopt-level = 2\n",
        repository().join("crates/runtime")
    );
    // The versions of the workspace, which are at hand without a network.
    fs::copy(repository().join("Cargo.lock"), directory.join("Cargo.lock")).map_err(told)?;
    fs::write(directory.join("Cargo.toml"), manifest).map_err(told)?;
    fs::write(directory.join("src/generated.rs"), text).map_err(told)?;
    fs::write(directory.join("src/main.rs"), main(text, roots, jer)?).map_err(told)?;
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(["build", "--quiet", "--offline"]).current_dir(&directory).env("CARGO_TARGET_DIR", &target);
    let built = command.output().map_err(told)?;
    if !built.status.success() {
        let said = String::from_utf8_lossy(&built.stderr);
        let errors: Vec<&str> = said.lines().filter(|line| line.starts_with("error")).collect();
        return Err(format!("does not compile: {} errors\n{said}", errors.len()));
    }
    Ok(target.join("debug").join(name))
}

/// A program that reads and writes again what it is told.
fn main(text: &str, roots: &[String], jer: bool) -> Result<String, String> {
    let mut arms = String::new();
    for (number, root) in roots.iter().enumerate() {
        let ty = rust_type(text, root).ok_or_else(|| format!("{root} has no type"))?;
        _ = writeln!(arms, "            {number} => again::<generated::{ty}>(rules, octets),");
    }
    let rules: String = RULES
        .iter()
        .enumerate()
        .map(|(number, (syntax, ty))| {
            let same = match syntax {
                Rules::Der if jer => format!("one::<T, {ty}, {ty}>(octets) + &jer::<T>(octets)"),
                _ => format!("one::<T, {ty}, {ty}>(octets)"),
            };
            let foreign = FOREIGN + number;
            format!("        {number} => {same},\n        {foreign} => one::<T, Ber, {ty}>(octets),\n")
        })
        .collect();
    let mut bounds: Vec<String> =
        RULES.iter().map(|(_, ty)| format!("Decode<'a, {ty}> + Encode<{ty}>")).collect();
    if jer {
        bounds.push("jer::Serialize + for<'de> jer::Deserialize<'de>".into());
    }
    let more = if jer { JER } else { "" };
    Ok(format!(
        r#"mod generated;
use std::io::BufRead;
use tercet_runtime::codec::*;

fn one<'a, T: Decode<'a, R> + Encode<W>, R, W>(octets: &'a [u8]) -> String {{
    let (value, rest) = match T::decode(octets) {{
        Ok(read) => read,
        Err(fault) => return said("read", fault),
    }};
    match value.encode() {{
        Ok(again) if value.encoded_len() != Ok(again.len()) => {{
            format!("length {{}} counted as {{:?}}", again.len(), value.encoded_len())
        }}
        Ok(again) => {{
            let digits: String = again.iter().map(|octet| format!("{{octet:02x}}")).collect();
            format!("ok {{}} {{digits}}", octets.len() - rest.len())
        }}
        Err(fault) => said("write", fault),
    }}
}}

{more}
fn said(what: &str, fault: Fault) -> String {{
    let (kind, bit) = (fault.kind().name(), fault.bit().unwrap_or(0));
    format!("{{what}} {{kind}} {{}} {{bit}} {{}}", fault.at(), fault.path())
}}

fn again<'a, T: {}>(rules: usize, octets: &'a [u8]) -> String {{
    match rules {{
{rules}        _ => String::new(),
    }}
}}

fn main() {{
    for line in std::io::stdin().lock().lines() {{
        let line = line.unwrap();
        if line.is_empty() {{
            continue;
        }}
        let mut words = line.split(' ');
        let mut number = || words.next().unwrap().parse::<usize>().unwrap();
        let (root, rules) = (number(), number());
        let digits = words.next().unwrap().as_bytes();
        let digit = |octet: u8| (octet as char).to_digit(16).unwrap() as u8;
        let octets: Vec<u8> = digits.chunks(2).map(|pair| digit(pair[0]) << 4 | digit(pair[1])).collect();
        let octets = &octets[..];
        let answer = match root {{
{arms}            _ => String::new(),
        }};
        println!("{{answer}}");
    }}
}}
"#,
        bounds.join(" + ")
    ))
}

/// The part of the program that makes JSON of a value and a value of that again: both as one text in hexadecimal.
const JER: &str = r#"
fn jer<'a, T: Decode<'a, Der> + Encode<Der> + jer::Serialize + for<'de> jer::Deserialize<'de>>(octets: &'a [u8]) -> String {
    let Ok((value, _)) = T::decode(octets) else { return String::new() };
    let again = |text: String| {
        let read = serde_json::from_str::<T>(&text).map_err(|error| format!("! {error} in {text}"))?;
        match read.encode() {
            Ok(again) if again == value.encode().unwrap_or_default() => Ok(text),
            Ok(again) => Err(format!("! {text} is read as {again:02x?}")),
            Err(error) => Err(format!("! {text}: {error}")),
        }
    };
    let text = match serde_json::to_string(&value) {
        Ok(text) => again(text).unwrap_or_else(|error| error),
        Err(error) => format!("! {error}"),
    };
    text.bytes().fold(String::from(" "), |digits, octet| digits + &format!("{octet:02x}"))
}
"#;

/// The name of a root's type, with `'_` if it borrows: the declaration behind its documentation.
fn rust_type(text: &str, root: &str) -> Option<String> {
    let said = format!("/// `{root}`");
    let declared = text.lines().skip_while(|line| *line != said).find_map(|line| {
        ["pub struct ", "pub enum ", "pub type "].iter().find_map(|said| line.strip_prefix(said))
    })?;
    let end = declared.find(|c: char| !c.is_alphanumeric() && c != '_')?;
    let lifetime = if declared[end..].starts_with("<'a>") { "<'_>" } else { "" };
    Some(format!("{}{lifetime}", &declared[..end]))
}
