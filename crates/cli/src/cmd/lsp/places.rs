//! Spans of a snapshot as ranges of the protocol.

use lsp_server::{ErrorCode, ResponseError};
use serde_json::{Value, json};
use std::collections::HashMap;
use tercet::syntax::{Edit, FileId, Span};
use tercet_ide::{Columns, Lines, Near, Snapshot};

/// A snapshot with the lines of its texts.
#[derive(Debug)]
pub(super) struct World {
    pub(super) snapshot: Snapshot,
    lines: Vec<Lines>,
    files: HashMap<String, FileId>,
    /// What columns count.
    pub(super) columns: Columns,
    /// Whether the snapshot has all texts.
    pub(super) is_whole: bool,
}

/// What a request asks about: a text and a position in it.
#[derive(Clone, Copy, Debug)]
pub(super) struct At {
    pub(super) file: FileId,
    pub(super) position: u32,
}

/// The answer to a request that cannot be answered.
pub(super) fn refused(message: impl ToString) -> ResponseError {
    ResponseError { code: ErrorCode::RequestFailed as i32, message: message.to_string(), data: None }
}

fn invalid(what: &str) -> ResponseError {
    ResponseError { code: ErrorCode::InvalidParams as i32, message: format!("`{what}` expected"), data: None }
}

/// A line and a column.
pub(super) fn line_column(position: &Value) -> Option<(u32, u32)> {
    let number = |name: &str| u32::try_from(position.get(name)?.as_u64()?).ok();
    Some((number("line")?, number("character")?))
}

impl World {
    pub(super) fn new(Near { snapshot, is_whole }: Near, columns: Columns) -> Self {
        let lines = snapshot.sources().files().map(|(_, file)| Lines::with_columns(&file.text, columns));
        let lines = lines.collect();
        let files = snapshot.sources().files().map(|(id, file)| (file.name.clone(), id)).collect();
        Self { snapshot, lines, files, columns, is_whole }
    }

    /// The text that a request is about.
    pub(super) fn file(&self, params: &Value) -> Result<FileId, ResponseError> {
        let uri = params.pointer("/textDocument/uri").and_then(Value::as_str);
        let uri = uri.ok_or_else(|| invalid("textDocument"))?;
        let known = self.files.get(&super::uri::normal(uri)).copied();
        known.ok_or_else(|| refused("the document is not open"))
    }

    /// The position that a request is about.
    pub(super) fn at(&self, params: &Value) -> Result<At, ResponseError> {
        let file = self.file(params)?;
        let position = params.get("position").and_then(line_column).ok_or_else(|| invalid("position"))?;
        Ok(At { file, position: self.position(file, position) })
    }

    /// The part of a text that a request is about; all of it if it names none.
    pub(super) fn span(&self, file: FileId, params: &Value) -> Span {
        let end = |name: &str| {
            params.pointer(name).and_then(line_column).map(|position| self.position(file, position))
        };
        let source = self.snapshot.sources().file(file);
        let whole = Span::new(source.start, source.start + source.text.len() as u32);
        match (end("/range/start"), end("/range/end")) {
            (Some(lo), Some(hi)) => Span::new(lo, hi.max(lo)),
            _ => whole,
        }
    }

    pub(super) fn position(&self, file: FileId, (line, column): (u32, u32)) -> u32 {
        let source = self.snapshot.sources().file(file);
        source.start + self.lines[file.0 as usize].offset(&source.text, line, column) as u32
    }

    /// Line and column of a position.
    pub(super) fn line_column(&self, at: u32) -> (u32, u32) {
        let id = self.snapshot.sources().file_of(at);
        let source = self.snapshot.sources().file(id);
        self.lines[id.0 as usize].line_column(&source.text, at.saturating_sub(source.start) as usize)
    }

    pub(super) fn shown_position(&self, at: u32) -> Value {
        let (line, character) = self.line_column(at);
        json!({ "line": line, "character": character })
    }

    pub(super) fn range(&self, span: Span) -> Value {
        // A span never leaves the text that it begins in.
        let id = self.snapshot.sources().file_of(span.lo);
        let source = self.snapshot.sources().file(id);
        let hi = span.hi.clamp(span.lo, source.start + source.text.len() as u32);
        json!({ "start": self.shown_position(span.lo), "end": self.shown_position(hi) })
    }

    pub(super) fn uri(&self, span: Span) -> &str {
        let sources = self.snapshot.sources();
        &sources.file(sources.file_of(span.lo)).name
    }

    pub(super) fn location(&self, span: Span) -> Value {
        json!({ "uri": self.uri(span), "range": self.range(span) })
    }

    /// Changes of texts as the protocol has them.
    pub(super) fn workspace_edit<'e>(&self, edits: impl IntoIterator<Item = &'e Edit>) -> Value {
        let mut changes = serde_json::Map::new();
        for edit in edits {
            let list = changes.entry(self.uri(edit.span)).or_insert_with(|| json!([]));
            if let Value::Array(list) = list {
                list.push(json!({ "range": self.range(edit.span), "newText": edit.text }));
            }
        }
        json!({ "changes": changes })
    }
}
