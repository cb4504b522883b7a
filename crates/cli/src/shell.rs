//! Commands that people copy: words as a shell reads them.

use std::fmt::Write;

/// A word for a POSIX shell that stands for exactly this text.
pub fn word(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-./:=,+@%^".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// A path as an argument: one that looks like an option begins with `./`.
pub fn path(text: &str) -> String {
    if text.starts_with('-') { word(&format!("./{text}")) } else { word(text) }
}

/// Appends words to a command, each behind a space.
pub fn push(command: &mut String, words: &[String]) {
    for text in words {
        _ = write!(command, " {}", word(text));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_where_a_shell_would_read_more_in_them() {
        assert_eq!(word("a/b-c_1.ber"), "a/b-c_1.ber");
        assert_eq!(word("it's $HOME"), r"'it'\''s $HOME'");
        assert_eq!((word(""), path("-o")), ("''".to_owned(), "./-o".to_owned()));
    }
}
