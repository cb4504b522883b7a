//! ASN.1 text to syntax tree (X.680–X.683, 02/2021), and nothing else: no names are bound, no file is read.
//!
//! [`parse`] never fails: it returns what it understood together with [`Diagnostic`]s. The 1988 notation (X.208: ANY,
//! unnamed components, macros) is read too. Deviations found in vendors' specifications are warnings, each with its own
//! code (see [`CODES`]), and errors when [`ParseOptions::lenient`] is off.
//!
//! What stands in braces often hangs on its governor; it stays a slice of tokens that a [`Cursor`] reads later.
//!
//! # Example
//! ```
//! use tercet_syntax::{ParseOptions, SourceMap, format, parse, render};
//!
//! let mut map = SourceMap::new();
//! let file = map.add("a.asn", "M DEFINITIONS ::= BEGIN A ::= SEQUENCE{a_b INTEGER} B ::= SET OF END");
//! let (modules, diagnostics) = parse(&map, file, &ParseOptions::default());
//! assert_eq!(modules[0].assignments.len(), 1);
//! assert!(render(&map, &diagnostics[0], false).starts_with("warning[L0101]: `_` is not allowed in names"));
//! assert!(render(&map, &diagnostics[1], false).starts_with("error[E0101]: expected a type, found `END`"));
//!
//! let file = map.add("b.asn", "M DEFINITIONS ::= BEGIN A ::= SET{a NULL} END");
//! assert_eq!(format(&map, file)?, "M DEFINITIONS ::=\nBEGIN\n\nA ::= SET {\n    a NULL\n}\n\nEND\n");
//! # Ok::<(), Vec<tercet_syntax::Diagnostic>>(())
//! ```

pub mod ast;
mod codes;
mod cursor;
mod diagnostic;
mod dump;
mod fix;
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
pub use fix::{Edit, Fix, fixed};
pub use fmt::format;
pub use lexer::{Comment, Lexed, lex};
pub use parser::{ParseOptions, Parsed, parse};
pub use render::{render, render_json};
pub use source::{FileId, LineColumn, SourceFile, SourceMap, Span, utf_16};
pub use token::{Keyword, Token, TokenKind};
