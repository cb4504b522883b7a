//! Help fits a screen, has its options in groups, and is in plain language.
#![cfg(unix)]

use std::process::Command;

const TERCET: &str = env!("CARGO_BIN_EXE_tercet");

/// Lines of a screen.
const SCREEN: usize = 50;

/// Phrases that plain language does not have, with what is around them.
const FORBIDDEN: [&str; 26] = [
    " is no ",
    " are no ",
    " wants ",
    " want a",
    " behind ",
    "nobody",
    " tells ",
    " told",
    " says",
    " said",
    "Say ",
    "; say ",
    "in place of",
    "unless told",
    "mended",
    "eave out",
    "eaves out",
    "Leave ",
    " stands",
    " stand ",
    "of its own",
    "of their own",
    "given up",
    "pass over",
    "passed over",
    "has it so",
];

fn help(command: &[String], option: &str) -> String {
    let output = Command::new(TERCET).args(command).arg(option).env("COLUMNS", "100").output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{command:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// The command and all commands within it.
fn commands(command: Vec<String>, out: &mut Vec<Vec<String>>) {
    let text = help(&command, "--help");
    let list = text.split_once("\nCommands:\n").map_or("", |(_, rest)| rest);
    let names = list.lines().take_while(|line| !line.is_empty());
    // What goes on in the next line is further to the right.
    let names = names.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    for name in names.filter_map(|line| line.split_whitespace().next()).filter(|name| *name != "help") {
        commands([&command[..], &[name.to_owned()]].concat(), out);
    }
    out.push(command);
}

fn all() -> Vec<Vec<String>> {
    let mut found = Vec::new();
    commands(Vec::new(), &mut found);
    assert!(found.len() > 30, "{found:?}");
    found
}

#[test]
fn short_help_fits_a_screen() {
    let long = |command: &Vec<String>| help(command, "-h").lines().count();
    // `-h` of `ldapurl` is the host, as in OpenLDAP.
    let has_short = |command: &Vec<String>| *command != ["ldap", "url"];
    let long: Vec<_> = all().into_iter().filter(has_short).map(|command| (long(&command), command)).collect();
    let too_long: Vec<_> = long.iter().filter(|(lines, _)| *lines > SCREEN).collect();
    assert!(too_long.is_empty(), "{too_long:#?}");
}

#[test]
fn help_is_in_plain_language() {
    let mut found = Vec::new();
    for command in all() {
        for line in help(&command, "--help").lines() {
            let padded = format!(" {line} ");
            let phrases = FORBIDDEN.iter().filter(|phrase| padded.contains(**phrase));
            found.extend(
                phrases.map(|phrase| format!("{}: `{phrase}` in {}", command.join(" "), line.trim())),
            );
        }
    }
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn options_of_long_lists_are_in_groups() {
    for command in all() {
        let text = help(&command, "--help");
        if !text.contains("\nSpecification:\n") && !text.contains("\nConnection:\n") {
            continue;
        }
        let rest = text.split_once("\nOptions:\n").map_or("", |(_, rest)| rest);
        let options = rest.lines().take_while(|line| line.is_empty() || line.starts_with(' '));
        let named = |line: &&str| line.trim_start().starts_with('-') && line.starts_with("  ");
        let ungrouped: Vec<_> = options.filter(named).filter(|line| !line.contains("- ")).collect();
        assert!(ungrouped.len() <= 8, "give these a group in src/help.rs: {command:?} {ungrouped:#?}");
    }
}

#[test]
fn short_help_says_where_the_rest_is() {
    let (short, long) = (help(&["convert".to_owned()], "-h"), help(&["convert".to_owned()], "--help"));
    assert!(short.contains("`--help` lists all options") && !long.contains("`--help` lists all options"));
    assert!(!short.contains("--record-limit") && long.contains("--record-limit"));
    for heading in ["Specification", "Input", "Output", "Values", "Columns", "Rows", "Rejects"] {
        assert!(short.contains(&format!("\n{heading}:\n")), "{heading}: {short}");
    }
    // What is for files with columns alone is not listed where there are none.
    for command in ["decode", "head", "cat"] {
        assert!(!help(&[command.to_owned()], "--help").contains("--compression"), "{command}");
    }
}
