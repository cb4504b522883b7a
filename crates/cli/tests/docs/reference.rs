//! Pages that are made from the program: commands, diagnostics, framings, renderings, profiles.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

use tercet::records::{FRAMINGS, Profile, RenderKind};

/// The first line of a page after its title.
const MADE: &str = "<!-- Made by `BLESS=1 cargo test -p tercet --test cli`; do not edit. -->";

#[test]
fn pages_made_from_the_program_are_current() {
    let pages = [
        ("commands", commands()),
        ("diagnostics", diagnostics()),
        ("framings", framings()),
        ("renderings", renderings()),
        ("profiles", profiles()),
    ];
    let folder = Path::new(crate::MANIFEST).join("../../docs/reference");
    let mut stale = Vec::new();
    for (name, page) in pages {
        let path = folder.join(name).with_extension("md");
        if fs::read_to_string(&path).is_ok_and(|text| text == page) {
            continue;
        }
        if std::env::var_os("BLESS").is_some() {
            fs::write(&path, page).unwrap();
        } else {
            stale.push(name);
        }
    }
    assert!(stale.is_empty(), "stale in docs/reference (BLESS=1 writes them): {stale:?}");
}

fn tercet(arguments: &[&str]) -> String {
    let mut command = Command::new(crate::TERCET);
    let output = command.args(arguments).env("COLUMNS", "100").env("NO_COLOR", "1").output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn commands() -> String {
    let mut page = format!(
        "# Commands\n\n{MADE}\n\nThe help of each command: `tercet COMMAND --help`. `-h` shows the options that are used most.\n"
    );
    command(&[], &mut page);
    page
}

/// Appends the help of a command and of the commands within it.
fn command(names: &[&str], page: &mut String) {
    let help = tercet(&[names, &["--help"]].concat());
    let title = [&["tercet"], names].concat().join(" ");
    _ = writeln!(
        page,
        "\n{} {title}\n\n```text\n{}\n```",
        "##".to_owned() + &"#".repeat(names.len().min(1)),
        help.trim_end()
    );
    let list = help.split_once("\nCommands:\n").map_or("", |(_, rest)| rest);
    let lines = list.lines().take_while(|line| !line.is_empty());
    // What goes on in the next line is further to the right.
    let lines = lines.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    for name in lines.filter_map(|line| line.split_whitespace().next()).filter(|name| *name != "help") {
        command(&[names, &[name]].concat(), page);
    }
}

fn diagnostics() -> String {
    let mut page = format!(
        "# Diagnostics\n\n{MADE}\n\nThe findings of `tercet check`, by code. `E` is an error, `W` a warning. `L` is a slip of notation: a \
         warning, and an error with `--strict`. Where other commands, or `--lenient`, work around an error, it is a warning with \
         `W` instead of `E`: `W0201` is E0201. A code never changes its meaning.\n\n| code | meaning |\n|---|---|\n"
    );
    for (code, meaning) in tercet::syntax::CODES {
        _ = writeln!(page, "| {code} | {} |", cell(meaning));
    }
    for (code, title, meaning) in tercet::model::CODES {
        _ = writeln!(page, "| {code} | **{}.** {} |", cell(title), cell(meaning));
    }
    page
}

fn framings() -> String {
    let mut page = format!(
        "# Framings\n\n{MADE}\n\nWhat `--framing` takes, and `framing=` in Python. `auto`, the default, tries them on the first bytes of each \
         input.\n\n| framing | bytes around the records |\n|---|---|\n"
    );
    for (name, meaning) in FRAMINGS {
        _ = writeln!(page, "| `{name}` | {} |", cell(meaning));
    }
    page += "\n[Converting record files](../guide-convert.md#framing) explains the trial, and what no framing may lose.\n";
    page
}

/// A type for each kind, and values by DER that are shown as it.
const EXAMPLES: &str = "Examples DEFINITIONS AUTOMATIC TAGS ::= BEGIN
Bytes ::= SEQUENCE { v OCTET STRING }
Named ::= SEQUENCE { v ENUMERATED { normalRelease (0), timeLimit (16) } }
Bits ::= SEQUENCE { v BIT STRING { roaming (0), prepaid (1), ipv6 (2) } }
END
";

/// Bytes for an example of a kind; nothing for those that take another type or a header.
fn example(kind: &str) -> Option<(&'static str, &'static str)> {
    let bytes = match kind {
        "octets" | "base64" => "00A1",
        "tbcd" => "62021132547698F0",
        "bcd" => "1234567F",
        "text" => "45555230",
        "number" | "number-le" => "0105",
        "address" | "digits" => "91947100366808",
        "address-nibbles" => "11947100366808",
        "isup" => "8310947100360F",
        "timestamp" => "2611010000172B0100",
        "date-bcd" => "20261101",
        "date" => "1A0B01",
        "time" | "seconds" => "080011",
        "timezone" => "40",
        "plmn" => "99F907",
        "cell" => "99F907120BB337",
        "location" => "0199F907120BB337",
        "ip" => "C0000201",
        "cause" => "8290",
        "name" | "both" => return Some(("Named", "10")),
        "flags" => return Some(("Bits", "06C0")),
        _ => return None,
    };
    Some(("Bytes", bytes))
}

fn renderings() -> String {
    let mut page = format!(
        "# Renderings\n\n{MADE}\n\nA rendering is the meaning of bytes in telephony. `--render PATH=KIND` takes these kinds, a [profile](profiles.md) maps names of \
         types and components to them, and `render=` takes them in Python. The examples show the bytes of a value, and what \
         `tercet decode --render` prints of it.\n\n| kind | meaning | bytes | shown as |\n|---|---|---|---|\n"
    );
    let folder = tempfile::tempdir().unwrap();
    let (schema, input) = (folder.path().join("examples.asn"), folder.path().join("value"));
    fs::write(&schema, EXAMPLES).unwrap();
    for (kind, meaning) in RenderKind::known() {
        let (mut bytes, mut shown) = (String::new(), String::new());
        if let Some((name, hex)) = example(kind) {
            let length = hex.len() / 2;
            fs::write(&input, format!("30{:02X}80{length:02X}{hex}", length + 2)).unwrap();
            let paths = (schema.to_str().unwrap(), input.to_str().unwrap());
            let rule = format!("v={kind}");
            let printed = tercet(&[
                "decode", "-s", paths.0, "-t", name, "--rules", "der", "--hex", "-f", "jsonl", "--render",
                &rule, paths.1,
            ]);
            let value = printed.trim_end().strip_prefix("{\"v\":").and_then(|rest| rest.strip_suffix('}'));
            (bytes, shown) = (format!("`{hex}`"), format!("`{}`", value.unwrap()));
        }
        _ = writeln!(page, "| `{kind}` | {} | {bytes} | {shown} |", cell(meaning));
    }
    page += "\nBytes that are not of the kind are shown in hexadecimal, in the member `raw` of what has members.\n\
             [Converting record files](../guide-convert.md#numbers-times-and-places) has the rules.\n";
    page
}

fn profiles() -> String {
    let mut page = format!(
        "# Profiles\n\n{MADE}\n\nWhich types and components have which [rendering](renderings.md). `--profile NAME` takes one of these or a file; \
         without it, the first one that fits the specification is taken: the first that knows a type in it.\n"
    );
    for profile in Profile::shipped() {
        _ = writeln!(page, "\n## {}\n\nFor {}.", profile.name, profile.description);
        let signs: Vec<String> = profile.signs.iter().map(|sign| format!("`{sign}`")).collect();
        page += &match signs.is_empty() {
            true => "Taken if no other fits.\n\n".to_owned(),
            false => format!("Taken if the specification has one of the types {}.\n\n", signs.join(", ")),
        };
        page += "| type or component | rendering |\n|---|---|\n";
        for (name, kind) in profile.types.iter().chain(&profile.components) {
            _ = writeln!(page, "| `{name}` | `{}` |", kind.name());
        }
        for rule in &profile.tables.codes {
            _ = writeln!(
                page,
                "| `{}` | `{}` of the element with this code in `{}` of the header |",
                rule.code, rule.value, rule.list
            );
        }
        if let Some(count) = &profile.control_totals.count {
            let totals = profile.control_totals.totals.iter().map(|(path, _)| path);
            let paths: Vec<String> =
                std::iter::once(count).chain(totals).map(|path| format!("`{path}`")).collect();
            _ = writeln!(
                page,
                "\nThese totals of a file are compared with its records: {}.",
                paths.join(", ")
            );
        }
    }
    page
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}
