//! ASN.1 text to syntax tree (X.680–X.683, 02/2021), and nothing else: no names are bound, no file is read.
//!
//! [`parse`] never fails: it returns what it understood together with [`Diagnostic`]s.

pub mod ast;
mod codes;
mod cursor;
mod diagnostic;
mod dump;
mod fmt;
mod grammar;
mod lexer;
mod parser;
mod render;
mod source;
mod token;

pub use codes::CODES;
pub use cursor::{Cursor, FieldSetting, OidComponent};
pub use diagnostic::{Diagnostic, Label, Severity};
pub use dump::{dump_ast, dump_ast_bare, dump_tokens};
pub use fmt::format;
pub use lexer::{Comment, Lexed, lex};
pub use parser::{ParseOptions, Parsed, parse};
pub use render::{render, render_json};
pub use source::{FileId, LineColumn, SourceFile, SourceMap, Span};
pub use token::{Keyword, Token, TokenKind};
