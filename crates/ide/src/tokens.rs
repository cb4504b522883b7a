//! Colours of words.

use crate::{Kind, Snapshot};
use tercet_syntax::{FileId, ParseOptions, Span, TokenKind, lex};

/// What a word is coloured as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colour {
    /// A reserved word.
    Keyword,
    /// A comment.
    Comment,
    /// A number.
    Number,
    /// A character, binary or hexadecimal string.
    String,
    /// A name, by what it stands for.
    Name(Kind),
}

/// A piece of text with its colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Coloured {
    /// The piece.
    pub span: Span,
    /// Its colour.
    pub colour: Colour,
    /// Whether it is the name in a definition.
    pub is_definition: bool,
}

impl Snapshot {
    /// Returns the coloured pieces of a text, in order. Names that are not known have none.
    pub fn colours(&self, file: FileId) -> Vec<Coloured> {
        let lexed = lex(self.sources(), file, &ParseOptions { lenient: true, ..ParseOptions::default() });
        let occurrences = &self.schema().model().occurrences;
        let plain = |span, colour| Coloured { span, colour, is_definition: false };
        let colour = |kind: TokenKind, span: Span| match kind {
            TokenKind::Word(_) => Some(plain(span, Colour::Keyword)),
            TokenKind::Number | TokenKind::Real => Some(plain(span, Colour::Number)),
            TokenKind::CString | TokenKind::BString | TokenKind::HString => Some(plain(span, Colour::String)),
            TokenKind::Upper | TokenKind::Lower | TokenKind::UpperField | TokenKind::LowerField => {
                let used = occurrences.binary_search_by_key(&span, |it| it.at).ok();
                let of = used.map_or(span, |index| occurrences[index].definition);
                let kind = self.definition(of)?.kind;
                Some(Coloured { span, colour: Colour::Name(kind), is_definition: used.is_none() })
            }
            _ => None,
        };
        let words = lexed.tokens.iter().filter_map(|token| colour(token.kind, token.span));
        let comments = lexed.comments.iter().map(|comment| plain(comment.span, Colour::Comment));
        let mut all: Vec<Coloured> = words.chain(comments).collect();
        all.sort_unstable_by_key(|it| it.span);
        all
    }
}
