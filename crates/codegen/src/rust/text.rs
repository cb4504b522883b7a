//! Lines of source text with indentation.

use super::imports::Imports;

/// Columns of a line.
const WIDTH: usize = 110;

/// Columns of an arm that is one expression.
const LONGEST_ARM: usize = 150;

/// Text that grows line by line.
#[derive(Debug, Default)]
pub(crate) struct Text {
    out: String,
    depth: usize,
    /// Where the lines begin that the open blocks begin with.
    blocks: Vec<usize>,
    imports: Imports,
}

impl Text {
    /// A line at the current depth; one that is too long is broken at its largest block.
    pub(crate) fn line(&mut self, line: impl AsRef<str>) {
        let line = self.imports.spell(line.as_ref());
        self.spelled(&line);
    }

    fn spelled(&mut self, line: &str) {
        if self.depth * 4 + line.len() > WIDTH
            && !line.starts_with("//")
            && let Some((head, inside, tail)) = largest_block(line)
        {
            self.open_whole(head);
            for piece in pieces(inside) {
                self.spelled(&piece);
            }
            self.depth -= 1;
            self.spelled(tail);
            return;
        }
        self.whole(line);
    }

    /// Short parts, each with what ends it, as many in a line as fit.
    pub(crate) fn fill(&mut self, parts: impl IntoIterator<Item = String>) {
        let mut line = String::new();
        for part in parts {
            let part = self.imports.spell(&part);
            if !line.is_empty() && self.depth * 4 + line.len() + part.len() >= WIDTH {
                self.whole(&line);
                line.clear();
            }
            if !line.is_empty() {
                line.push(' ');
            }
            line += &part;
        }
        if !line.is_empty() {
            self.whole(&line);
        }
    }

    fn open_whole(&mut self, line: &str) {
        self.whole(line);
        self.depth += 1;
    }

    fn whole(&mut self, line: &str) {
        if !line.is_empty() {
            for _ in 0..self.depth {
                self.out.push_str("    ");
            }
            self.out.push_str(line);
        }
        self.out.push('\n');
    }

    /// A line that ends with a brace, what stands inside it follows.
    pub(crate) fn open(&mut self, line: impl AsRef<str>) {
        self.blocks.push(self.out.len());
        self.line(line);
        self.depth += 1;
    }

    /// Ends it; a block of one short line, and an arm of few, becomes one line.
    pub(crate) fn close(&mut self, line: impl AsRef<str>) {
        self.depth = self.depth.saturating_sub(1);
        let start = self.blocks.pop().unwrap_or(self.out.len());
        match self.joined(start, line.as_ref()) {
            Some(joined) => {
                self.out.truncate(start);
                self.whole(&joined);
            }
            None => self.line(line),
        }
    }

    /// The block from `start` on as one line.
    fn joined(&self, start: usize, end: &str) -> Option<String> {
        let mut lines = self.out.get(start..)?.lines().map(str::trim);
        let head = lines.next()?;
        let inside: Vec<&str> = lines.collect();
        let is_arm = head.ends_with("=> {");
        let most = if is_arm { 3 } else { 1 };
        let plain = !inside.iter().any(|line| line.is_empty() || line.starts_with("//"));
        if head.starts_with('}') || inside.is_empty() || inside.len() > most || !plain {
            return None;
        }
        if let [one] = inside[..]
            && let (Some(value), true) = (one.strip_suffix(';'), is_arm)
            && !one.contains("{ ")
            && !one.starts_with("let ")
        {
            let joined = format!("{}{value},", head.strip_suffix('{').unwrap_or(head));
            return (self.depth * 4 + joined.len() <= LONGEST_ARM).then_some(joined);
        }
        let inside = inside.join(" ");
        let joined = format!("{head} {} {end}", inside.strip_suffix(',').unwrap_or(&inside));
        (self.depth * 4 + joined.len() <= WIDTH).then_some(joined)
    }

    /// Ends it and begins what holds otherwise.
    pub(crate) fn otherwise(&mut self) {
        self.depth = self.depth.saturating_sub(1);
        self.blocks.pop();
        self.open("} else {");
    }

    /// Documentation lines.
    pub(crate) fn doc(&mut self, text: &str) {
        text.lines().for_each(|line| self.comment("///", line));
    }

    /// A comment, behind its marks: text of others, in which no name is spelled.
    pub(crate) fn comment(&mut self, marks: &str, text: &str) {
        self.whole(format!("{marks} {}", text.trim_end()).trim_end());
    }

    /// Returns the text, and what it imports.
    pub(crate) fn finish(self) -> (String, Imports) {
        (self.out, self.imports)
    }
}

/// The longest `{ … }` of a line that is not inside another: what is before, inside and behind.
fn largest_block(line: &str) -> Option<(&str, &str, &str)> {
    let mut best: Option<(usize, usize)> = None;
    let mut open = Vec::new();
    for (at, kind) in brackets(line) {
        match kind {
            '{' => open.push(at),
            '}' => {
                let start = open.pop()?;
                let block = open.is_empty() && line[start..].starts_with("{ ") && line[..at].ends_with(' ');
                if block && best.is_none_or(|(a, b)| b - a < at - start) {
                    best = Some((start, at));
                }
            }
            _ => {}
        }
    }
    let (start, end) = best?;
    let inside = line[start + 1..end].trim();
    (!inside.is_empty()).then(|| (&line[..=start], inside, &line[end..]))
}

/// The statements, arms or members of a block, each with what ends it.
fn pieces(inside: &str) -> Vec<String> {
    let mut depth = 0_usize;
    let mut ends = Vec::new();
    for (at, kind) in brackets(inside) {
        match kind {
            '{' | '(' | '[' => depth += 1,
            '}' | ')' | ']' => depth = depth.saturating_sub(1),
            ';' | ',' if depth == 0 => ends.push((at + 1, kind)),
            _ => {}
        }
    }
    let statements = ends.iter().any(|(_, kind)| *kind == ';');
    let mut out = Vec::new();
    let mut from = 0;
    for (end, kind) in ends {
        if (kind == ';') == statements {
            out.push(inside[from..end].trim().to_owned());
            from = end;
        }
    }
    let last = inside[from..].trim();
    if !last.is_empty() {
        out.push(if statements || out.is_empty() { last.to_owned() } else { format!("{last},") });
    }
    out
}

/// Brackets and separators outside of string literals.
fn brackets(line: &str) -> impl Iterator<Item = (usize, char)> + '_ {
    let mut quoted = false;
    let mut escaped = false;
    line.char_indices().filter(move |(_, c)| {
        if quoted {
            quoted = escaped || *c != '"';
            escaped = !escaped && *c == '\\';
            return false;
        }
        quoted = *c == '"';
        "{}()[];,".contains(*c)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_blocks_are_one_line() {
        let mut text = Text::default();
        text.open("match v {");
        text.open("Self::A(v) => {");
        text.line("w.bits(0, 1);");
        text.line("w.bit(*v);");
        text.close("}");
        text.open("Self::C(v) => {");
        text.line("v.write(w)?;");
        text.close("}");
        text.open("Self::B => {");
        text.open("if v {");
        text.line("a();");
        text.otherwise();
        text.line("b();");
        text.close("}");
        text.close("}");
        text.close("}");
        let expected = "match v {\n    Self::A(v) => { w.bits(0, 1); w.bit(*v); }\n    Self::C(v) => v.write(w)?,\n    Self::B => {\n        if v {\n            \
                        a();\n        } else {\n            b();\n        }\n    }\n}\n";
        assert_eq!(text.finish().0, expected);
    }

    #[test]
    fn long_lines_are_broken_at_blocks() {
        let mut text = Text::default();
        text.line(format!(
            "let v = {{ let a = f(\"{{\")?; match a {{ 1 => {}, _ => None }} }};",
            "x".repeat(100)
        ));
        let long = "x".repeat(100);
        let expected = format!(
            "let v = {{\n    let a = f(\"{{\")?;\n    match a {{\n        1 => {long},\n        _ => None,\n    }}\n}};\n"
        );
        assert_eq!(text.finish().0, expected);
    }
}
