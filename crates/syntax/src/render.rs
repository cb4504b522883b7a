//! Diagnostics for people, in the form that rustc made familiar, and as JSON for programs.

use crate::diagnostic::{Diagnostic, Severity};
use crate::fix::{Edit, Fix};
use crate::source::{FileId, SourceMap, Span};
use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use serde_json::{Value, json};
use tercet_printable::{misleads, printable, printable_lines};

/// Renders a finding with its source lines. The text ends without a line end.
///
/// # Example
/// ```
/// use tercet_syntax::{Diagnostic, SourceMap, Span, render};
/// let mut map = SourceMap::new();
/// map.add("a.asn", "A ::= INTEGR\n");
/// let text = render(&map, &Diagnostic::error("E0001", Span::new(6, 12), "no such type"), false);
/// assert!(text.starts_with("error[E0001]: no such type\n --> a.asn:1:7"));
/// ```
pub fn render(map: &SourceMap, diagnostic: &Diagnostic, color: bool) -> String {
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let code = diagnostic.shown_code();
    let title = level.primary_title(printable_lines(&diagnostic.message));
    let mut group = Group::with_title(title.id(code.as_ref()));
    if map.files().len() > 0 {
        for excerpt in excerpts(map, diagnostic) {
            group = group.element(excerpt.snippet(map));
        }
    }
    if let Some(help) = &diagnostic.help {
        group = group.element(Level::HELP.message(printable_lines(help)));
    }
    if let Some(note) = &diagnostic.note {
        group = group.element(Level::NOTE.message(printable_lines(note)));
    }
    let renderer = if color { Renderer::styled() } else { Renderer::plain() };
    // The renderer shows most control characters of the source as pictures; what is left takes one place too. Where there is
    // colour, the escapes are its own.
    let shown = |c: char| if misleads(c) && !matches!(c, '\n' | '\u{1b}') { '\u{fffd}' } else { c };
    let text = renderer.render(&[group]);
    if text.chars().any(|c| shown(c) != c) { text.chars().map(shown).collect() } else { text }
}

/// A finding as a JSON object on one line: `code`, `severity`, `message`, `file`, `line`, `column`, `end_line`,
/// `end_column`, `label`, `labels`, `help`, `note`, `fixes`. Columns count characters from 1. A fix has a `title`, `certain`
/// and `edits`, each with its place and the new `text`.
pub fn render_json(map: &SourceMap, diagnostic: &Diagnostic) -> String {
    let mut object = place(map, diagnostic.primary.span);
    let labels: Vec<Value> = diagnostic
        .secondary
        .iter()
        .map(|label| {
            let mut object = place(map, label.span);
            object["text"] = json!(label.text);
            object
        })
        .collect();
    let severity = match diagnostic.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    };
    let mut result = json!({
        "code": diagnostic.shown_code(),
        "severity": severity,
        "message": diagnostic.message,
    });
    if let (Some(all), Some(place)) = (result.as_object_mut(), object.as_object_mut()) {
        all.append(place);
        all.insert("label".into(), json!(diagnostic.primary.text));
        all.insert("labels".into(), json!(labels));
        all.insert("help".into(), json!(diagnostic.help));
        all.insert("note".into(), json!(diagnostic.note));
        all.insert("fixes".into(), diagnostic.fixes.iter().map(|fix| fix_json(map, fix)).collect());
    }
    result.to_string()
}

fn fix_json(map: &SourceMap, fix: &Fix) -> Value {
    let edit = |edit: &Edit| {
        let mut object = place(map, edit.span);
        object["text"] = json!(edit.text);
        object
    };
    let edits: Vec<Value> = fix.edits.iter().map(edit).collect();
    json!({ "title": fix.title, "certain": fix.is_certain, "edits": edits })
}

fn place(map: &SourceMap, span: Span) -> Value {
    if map.files().len() == 0 {
        return json!({});
    }
    let file = map.file(map.file_of(span.lo));
    let (from, to) = (map.line_column(span.lo), map.line_column(span.hi.max(span.lo)));
    json!({
        "file": file.name,
        "line": from.line,
        "column": from.column,
        "end_line": to.line,
        "end_column": to.column,
    })
}

/// The labels that fall into one file; the file of the primary label comes first.
struct Excerpt<'a> {
    file: FileId,
    labels: Vec<(AnnotationKind, Span, &'a str)>,
}

fn excerpts<'a>(map: &SourceMap, diagnostic: &'a Diagnostic) -> Vec<Excerpt<'a>> {
    let primary = std::iter::once((AnnotationKind::Primary, &diagnostic.primary));
    let secondary = diagnostic.secondary.iter().map(|label| (AnnotationKind::Context, label));
    let mut excerpts: Vec<Excerpt<'_>> = Vec::new();
    for (kind, label) in primary.chain(secondary) {
        let file = map.file_of(label.span.lo);
        let entry = (kind, label.span, label.text.as_str());
        match excerpts.iter_mut().find(|e| e.file == file) {
            Some(excerpt) => excerpt.labels.push(entry),
            None => excerpts.push(Excerpt { file, labels: vec![entry] }),
        }
    }
    excerpts
}

impl<'a> Excerpt<'a> {
    /// Only the lines from the first label to the last are handed on: a specification may have megabytes.
    fn snippet(self, map: &'a SourceMap) -> Snippet<'a, annotate_snippets::Annotation<'a>> {
        let file = map.file(self.file);
        let ranges: Vec<_> = self.labels.iter().map(|(_, span, _)| map.range(*span)).collect();
        let lo = ranges.iter().map(|r| r.start).min().unwrap_or(0);
        let hi = ranges.iter().map(|r| r.end).max().unwrap_or(0);
        let from = file.text[..floor(&file.text, lo)].rfind('\n').map_or(0, |at| at + 1);
        let to = file.text[ceil(&file.text, hi)..]
            .find('\n')
            .map_or(file.text.len(), |n| ceil(&file.text, hi) + n);
        let line = map.line_column(file.start + from as u32).line;
        let mut snippet = Snippet::source(&file.text[from..to]).line_start(line).path(printable(&file.name));
        for ((kind, _, text), range) in self.labels.into_iter().zip(ranges) {
            let range = floor(&file.text, range.start) - from..ceil(&file.text, range.end) - from;
            let annotation = kind.span(range);
            snippet = snippet.annotation(if text.is_empty() {
                annotation
            } else {
                annotation.label(printable(text))
            });
        }
        snippet
    }
}

fn floor(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

fn ceil(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at += 1;
    }
    at
}
