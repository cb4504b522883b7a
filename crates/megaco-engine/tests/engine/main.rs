//! The engine against a peer that the tests play. Tests `otp_NUMBER_…` are about faults that Erlang/OTP's megaco application had
//! under these ticket numbers; they check the right behaviour.

mod gathering;
mod harness;
mod hostile;
mod identifiers;
mod messages;
mod model;
mod requester;
mod responder;
mod segments;

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
