//! Prints the stages of this crate for people: `tercet show --stage tokens` and `--stage ast`.

use crate::ast::Module;
use crate::lexer::Lexed;
use crate::source::{SourceMap, Span};
use crate::token::TokenKind;
use std::fmt::Write;

/// The lexical items and comments, one a line: place, kind, characters.
pub fn dump_tokens(map: &SourceMap, lexed: &Lexed) -> String {
    let mut out = String::new();
    let mut comments = lexed.comments.iter().peekable();
    for (index, token) in lexed.tokens.iter().enumerate() {
        while let Some(comment) = comments.next_if(|c| c.before as usize <= index) {
            line(map, &mut out, comment.span, "Comment");
        }
        let name = match token.kind {
            TokenKind::Word(_) => "Word".to_owned(),
            kind => format!("{kind:?}"),
        };
        line(map, &mut out, token.span, &name);
    }
    for comment in comments {
        line(map, &mut out, comment.span, "Comment");
    }
    out
}

fn line(map: &SourceMap, out: &mut String, span: Span, name: &str) {
    let at = map.line_column(span.lo);
    let place = format!("{}:{}", at.line, at.column);
    let mut text = String::new();
    for c in map.text(span).chars() {
        if c.is_control() { text.extend(c.escape_debug()) } else { text.push(c) }
    }
    // Writing to a string cannot fail.
    let _ = writeln!(out, "{place:>8} {name:<12} {text}");
}

/// The syntax tree, indented; empty parts are left out, places are `line:column`.
pub fn dump_ast(map: &SourceMap, modules: &[Module]) -> String {
    dump(Some(map), modules)
}

/// The syntax tree without places and without the indices of [`crate::ast::Braced`], to compare two texts.
pub fn dump_ast_bare(modules: &[Module]) -> String {
    dump(None, modules)
}

fn dump(map: Option<&SourceMap>, modules: &[Module]) -> String {
    let mut out = String::new();
    for module in modules {
        let head = Module {
            name: module.name.clone(),
            oid: module.oid,
            tags: module.tags,
            extensibility_implied: module.extensibility_implied,
            encoding_reference: module.encoding_reference.clone(),
            exports: module.exports.clone(),
            imports: module.imports.clone(),
            assignments: Vec::new(),
            encoding_control: module.encoding_control.clone(),
            tokens: Vec::new(),
            span: module.span,
        };
        print(map, &mut out, &format!("{head:#?}"), 0);
        for assignment in &module.assignments {
            print(map, &mut out, &format!("{assignment:#?}"), 1);
        }
    }
    out
}

/// A part of the tree as `Debug` printed it.
struct Node<'t> {
    label: &'t str,
    head: &'t str,
    /// Whether it has parts, then `parts` may still be empty.
    group: bool,
    parts: Vec<Self>,
}

fn print(map: Option<&SourceMap>, out: &mut String, debug: &str, indent: usize) {
    let mut lines = debug.lines();
    while let Some(node) = read(&mut lines) {
        if let Some(node) = node {
            write(map, out, &node, indent);
        }
    }
}

/// One node from the lines of pretty `Debug` output; the inner `None` is the end of a group.
fn read<'t>(lines: &mut std::str::Lines<'t>) -> Option<Option<Node<'t>>> {
    let line = lines.next()?.trim_start();
    if matches!(line, "}" | "}," | ")" | ")," | "]" | "],") {
        return Some(None);
    }
    let (label, rest) = match line.split_once(": ") {
        Some((label, rest)) if label.bytes().all(|b| b.is_ascii_lowercase() || b == b'_') => (label, rest),
        _ => ("", line),
    };
    let opens = rest.strip_suffix(['{', '(', '[']).filter(|head| !head.contains('"'));
    let Some(head) = opens else {
        let head = rest.strip_suffix(',').unwrap_or(rest);
        return Some(Some(Node { label, head, group: false, parts: Vec::new() }));
    };
    let mut parts = Vec::new();
    while let Some(Some(part)) = read(lines) {
        parts.push(part);
    }
    Some(Some(Node { label, head: head.trim_end(), group: true, parts }))
}

fn write(map: Option<&SourceMap>, out: &mut String, node: &Node<'_>, indent: usize) {
    // `Some(x)` and boxes say nothing that x does not.
    if node.group && node.head == "Some" && node.parts.len() == 1 {
        let inner = &node.parts[0];
        let parts = inner.parts.iter().map(Node::shallow).collect();
        let inner = Node { label: node.label, head: inner.head, group: inner.group, parts };
        return write(map, out, &inner, indent);
    }
    if !node.group && matches!(node.head, "None" | "[]" | "false") && !node.label.is_empty() {
        return;
    }
    let _ = write!(out, "{:width$}", "", width = indent * 2);
    if !node.label.is_empty() {
        let _ = write!(out, "{}: ", node.label);
    }
    if let Some(text) = inline(map, node) {
        let _ = writeln!(out, "{}", text.trim_end());
        return;
    }
    out.push_str(if node.head.is_empty() { "list" } else { node.head });
    for part in &node.parts {
        if let (true, Some(text)) = (part.label == "span", inline(map, part)) {
            let _ = write!(out, " {text}");
        }
    }
    let trimmed = out.trim_end().len();
    out.truncate(trimmed);
    out.push('\n');
    for part in node.parts.iter().filter(|p| p.label != "span") {
        write(map, out, part, indent + 1);
    }
}

impl<'t> Node<'t> {
    fn shallow(&self) -> Self {
        Node {
            label: self.label,
            head: self.head,
            group: self.group,
            parts: self.parts.iter().map(Node::shallow).collect(),
        }
    }

    fn part(&self, label: &str) -> Option<&Self> {
        self.parts.iter().find(|p| p.label == label)
    }
}

/// The parts that fit in a word: places, names, slices, scalars.
fn inline(map: Option<&SourceMap>, node: &Node<'_>) -> Option<String> {
    if !node.group {
        return Some(node.head.to_owned());
    }
    match node.head {
        "Span" => {
            let number = |label| node.part(label)?.head.parse::<u32>().ok();
            let (lo, hi) = (number("lo")?, number("hi")?);
            Some(match map {
                None => String::new(),
                Some(map) => {
                    let (lo, hi) = (map.line_column(lo), map.line_column(hi));
                    format!("@{}:{}-{}:{}", lo.line, lo.column, hi.line, hi.column)
                }
            })
        }
        "Ident" => {
            let place = inline(map, node.part("span")?)?;
            Some(format!("{} {place}", node.part("text")?.head))
        }
        "Braced" => {
            let (first, end) =
                (node.part("first")?.head.parse::<u32>().ok()?, node.part("end")?.head.parse::<u32>().ok()?);
            let place = inline(map, node.part("span")?)?;
            Some(format!("Braced {} tokens {place}", end.saturating_sub(first)))
        }
        _ => None,
    }
}
