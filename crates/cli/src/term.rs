//! Talking to people: standard error, and whether somebody is there.

use std::fmt;
use std::io::{self, IsTerminal, Write};
use tercet::records::Format;
pub use tercet_printable::Quotes;
use tercet_printable::{Escaping, printable, printable_lines};

/// Whether messages may have colour.
pub fn colour() -> bool {
    io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

/// Characters of a line of standard output, if that is a terminal.
pub fn width() -> Option<usize> {
    let size = terminal_size::terminal_size_of(io::stdout());
    size.map(|(width, _)| usize::from(width.0))
}

/// Prints lines on standard error; what could mislead a terminal as escapes. Nothing can be done if nobody listens.
pub fn say(lines: impl fmt::Display) {
    _ = writeln!(io::stderr(), "{}", printable_lines(&lines.to_string()));
}

/// Prints text that ends with a line end and has no colour.
pub fn say_text(text: &str) {
    _ = io::stderr().write_all(printable_lines(text).as_bytes());
}

/// Prints a diagnostic, which has been made for people and may have colour.
pub fn say_diagnostic(text: &str) {
    _ = writeln!(io::stderr(), "{text}");
}

/// Returns what quotes hold in an output format.
pub fn quotes(format: Format) -> Quotes {
    if format.info().quotes_text { Quotes::HoldText } else { Quotes::Ignored }
}

/// Standard output: what could mislead a terminal is shown as escapes if it is one, and stays what it is in files and pipes.
pub fn stdout(quotes: Quotes) -> Box<dyn Write> {
    let out = io::stdout();
    if out.is_terminal() { Box::new(Escaping::new(out.lock(), quotes)) } else { Box::new(out.lock()) }
}

/// Standard output for a report, which is for people wherever it goes: always with escapes.
pub fn report() -> impl Write {
    Escaping::new(io::stdout().lock(), Quotes::Ignored)
}

/// Says an error.
pub fn error(message: impl fmt::Display) {
    label("error", "31", message);
}

/// Says a warning.
pub fn warning(message: impl fmt::Display) {
    label("warning", "33", message);
}

fn label(label: &str, code: &str, message: impl fmt::Display) {
    let (begin, end) = if colour() { (format!("\x1b[1;{code}m"), "\x1b[0m") } else { (String::new(), "") };
    let message = message.to_string();
    _ = writeln!(io::stderr(), "{begin}{label}{end}: {}", printable_lines(&message));
}

/// A number with its thousands apart: `1,234,567`.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A number with its noun: `1 record`, `2 records`.
pub fn count(number: u64, noun: &str) -> String {
    format!("{} {noun}{}", grouped(number), if number == 1 { "" } else { "s" })
}

/// A text in quotes; no character of it controls the terminal.
pub fn quoted(text: &str) -> String {
    let text = text.replace('\\', "\\\\").replace('"', "\\\"");
    format!("\"{}\"", printable(&text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoted_text_controls_no_terminal() {
        assert_eq!(quoted("a\"\\ü\n\u{1b}[2J\u{9b}"), "\"a\\\"\\\\ü\\n\\x1b[2J\\x9b\"");
    }

    #[test]
    fn thousands_are_apart() {
        for (number, text) in [(0, "0"), (999, "999"), (1000, "1,000"), (1_234_567, "1,234,567")] {
            assert_eq!(grouped(number), text);
        }
        assert_eq!((count(1, "record"), count(2, "record")), ("1 record".into(), "2 records".into()));
    }
}
