//! `docs/diagnostics.md`: every code that the compiler gives, from the crates that give them.

use std::fmt::Write as _;
use std::fs;

use crate::corpora::repository;

/// The page as it should be.
pub fn page() -> String {
    let mut page = String::from(
        "# Diagnostics\n\n<!-- Made by `cargo xtask codes`; do not edit. -->\n\n\
         The findings of `tercet check`, by code. `E` is an error, `W` a warning. `L` is a slip of notation: a warning, and an\n\
         error with `--strict`. Where other commands, or `--lenient`, work around an error, it is a warning with `W` in place\n\
         of `E`: `W0201` is E0201. A code never changes its meaning.\n\n\
         | code | meaning |\n|---|---|\n",
    );
    for (code, meaning) in tercet::syntax::CODES {
        let _ = writeln!(page, "| {code} | {} |", cell(meaning));
    }
    for (code, title, meaning) in tercet::model::CODES {
        let _ = writeln!(page, "| {code} | **{}.** {} |", cell(title), cell(meaning));
    }
    page
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

/// Writes the page; with `check`, says instead whether it is current.
///
/// # Errors
/// The page cannot be written, or is not current.
pub fn run(check: bool) -> Result<(), String> {
    let path = repository().join("docs/diagnostics.md");
    let page = page();
    if fs::read_to_string(&path).is_ok_and(|text| text == page) {
        return Ok(());
    }
    if check {
        return Err("docs/diagnostics.md is not current: run `cargo xtask codes`".into());
    }
    fs::write(&path, page).map_err(|error| format!("{}: {error}", path.display()))
}
