//! The engine against a peer that the tests play. Tests `otp_NUMBER_…` are about faults that Erlang/OTP's megaco application had
//! under these ticket numbers; they check the right behaviour.

mod gathering;
mod handler;
mod harness;
mod hostile;
mod identifiers;
mod messages;
mod model;
mod requester;
mod responder;
mod segments;
mod ways;

/// The table of the guide is that of the items; `BLESS=1` writes it.
#[test]
fn the_guide_has_the_items() {
    use std::fmt::Write as _;
    let path = tercet_testing::repository().join("docs/guide-megaco-engine.md");
    let guide = std::fs::read_to_string(&path).unwrap();
    let head = "| item | default | option | |\n|---|---|---|---|\n";
    let (before, rest) = guide.split_once(head).unwrap();
    let after: String =
        rest.lines().skip_while(|line| line.starts_with('|')).map(|line| format!("{line}\n")).collect();
    let mut table = String::new();
    for item in tercet_megaco_engine::ITEMS {
        let option = if item.option.is_empty() { String::new() } else { format!("`{}`", item.option) };
        writeln!(table, "| `{}` | `{}` | {option} | {} |", item.name, item.default, item.help).unwrap();
    }
    let expected = format!("{before}{head}{table}{after}");
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, expected).unwrap();
    } else {
        assert_eq!(guide, expected);
    }
}

/// Every test that the reference names is there, and every test of a ticket is in the reference.
#[test]
fn the_reference_names_tests_that_exist() {
    fn sources(folder: &std::path::Path, out: &mut String) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                sources(&path, out);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                out.push_str(&std::fs::read_to_string(&path).unwrap());
            }
        }
    }
    let root = tercet_testing::repository();
    let mut code = String::new();
    for folder in ["crates/megaco-engine", "crates/cli/tests/gateways"] {
        sources(&root.join(folder), &mut code);
    }
    let page = std::fs::read_to_string(root.join("docs/reference/megaco-otp.md")).unwrap();
    let rows = page.lines().filter(|line| line.starts_with("| ") && !line.ends_with("| tests |"));
    let mut named = 0;
    for row in rows.filter(|row| !row.ends_with("| test |")) {
        let tests: Vec<&str> = row.rsplit('|').nth(1).unwrap().split('`').skip(1).step_by(2).collect();
        assert!(!tests.is_empty(), "{row}");
        for test in tests {
            assert!(code.contains(&format!("fn {test}(")), "{test} is not a test: {row}");
            named += 1;
        }
    }
    assert!(named > 80, "{named}");
    let tickets = code.split("fn otp_").skip(1).map(|rest| rest.split('(').next().unwrap());
    for ticket in tickets.filter(|name| name.starts_with(|first: char| first.is_ascii_digit())) {
        assert!(page.contains(&format!("`otp_{ticket}`")), "otp_{ticket} is not in the reference");
    }
}
