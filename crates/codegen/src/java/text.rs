//! Lines of Java with indentation, and text that can be no code.

use std::fmt::Write as _;

/// Text that grows line by line.
#[derive(Debug, Default)]
pub(super) struct Text {
    out: String,
    depth: usize,
}

impl Text {
    /// Text at a depth.
    pub(super) fn at(depth: usize) -> Self {
        Self { out: String::new(), depth }
    }

    /// A line at the current depth.
    pub(super) fn line(&mut self, line: impl AsRef<str>) {
        let line = line.as_ref();
        if !line.is_empty() {
            self.out.extend(std::iter::repeat_n("    ", self.depth));
            self.out += line;
        }
        self.out.push('\n');
    }

    /// A line that ends with a brace, what stands inside it follows.
    pub(super) fn open(&mut self, line: impl AsRef<str>) {
        self.line(line);
        self.depth += 1;
    }

    /// Ends it.
    pub(super) fn close(&mut self, line: impl AsRef<str>) {
        self.depth = self.depth.saturating_sub(1);
        self.line(line);
    }

    /// A closing brace and what follows it, such as an `else`.
    pub(super) fn reopen(&mut self, line: impl AsRef<str>) {
        self.close(line);
        self.depth += 1;
    }

    /// Text that has its indentation.
    pub(super) fn append(&mut self, text: &str) {
        self.out += text;
    }

    /// Whether there is any line.
    pub(super) const fn has_lines(&self) -> bool {
        !self.out.is_empty()
    }

    /// A comment for Javadoc.
    pub(super) fn doc(&mut self, lines: &[String]) {
        match lines {
            [line] => self.line(format!("/** {line} */")),
            _ => {
                self.line("/**");
                for line in lines {
                    self.line(if line.is_empty() { " *".into() } else { format!(" * {line}") });
                }
                self.line(" */");
            }
        }
    }

    pub(super) fn finish(self) -> String {
        self.out
    }
}

/// A printer of lines.
pub(super) trait Lines {
    /// The text that grows.
    fn text(&mut self) -> &mut Text;

    fn line(&mut self, line: impl AsRef<str>) {
        self.text().line(line);
    }

    fn open(&mut self, line: impl AsRef<str>) {
        self.text().open(line);
    }

    fn close(&mut self, line: impl AsRef<str>) {
        self.text().close(line);
    }

    fn reopen(&mut self, line: impl AsRef<str>) {
        self.text().reopen(line);
    }

    /// Ends `try`, and adds to the path of a fault.
    fn caught(&mut self, fault: &str) {
        self.reopen("} catch (Asn1Exception fault) {");
        self.line(format!("throw {fault};"));
        self.close("}");
    }

    /// The body of a method that has been opened: a fault gets the name of the component with the number `at`.
    fn guarded(&mut self, body: impl FnOnce(&mut Self)) {
        self.line("int at = -1;");
        self.open("try {");
        body(self);
        self.caught("fault.in(PLACE, at)");
        self.close("}");
    }
}

/// Text of others inside of a comment: neither the end of it, nor a tag, nor an escape of a character, which Java reads in
/// comments too.
pub(super) fn comment(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\t' => out.push(' '),
            '<' | '>' | '&' | '@' | '\\' | '*' | '/' | '{' | '}' => {
                _ = write!(out, "&#{};", u32::from(character))
            }
            ' '..='~' => out.push(character),
            _ => _ = write!(out, "&#{};", u32::from(character)),
        }
    }
    out
}

/// A literal of a text.
pub(super) fn literal(text: &str) -> String {
    let mut out = String::from("\"");
    for unit in text.encode_utf16() {
        match u8::try_from(unit) {
            Ok(b'"') => out += "\\\"",
            Ok(b'\\') => out += "\\\\",
            Ok(octet @ b' '..=b'~') => out.push(char::from(octet)),
            Ok(octet) if octet < 0x80 => _ = write!(out, "\\{octet:03o}"),
            _ => _ = write!(out, "\\u{unit:04x}"),
        }
    }
    out + "\""
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_of_others_is_no_code() {
        assert_eq!(
            comment("a */ \\u002a/ {@code <b>}"),
            "a &#42;&#47; &#92;u002a&#47; &#123;&#64;code &#60;b&#62;&#125;"
        );
        assert_eq!(literal("\"\\\n\u{7f}\u{e9}\u{1F600}"), "\"\\\"\\\\\\012\\177\\u00e9\\ud83d\\ude00\"");
    }
}
