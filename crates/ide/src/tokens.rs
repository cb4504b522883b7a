//! Colours of words.

use crate::{Kind, Snapshot};
use tercet_syntax::{FileId, Span, TokenKind};

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
        self.colours_in(file, Span::new(0, u32::MAX))
    }

    /// Returns the coloured pieces that touch a part of a text, in order.
    pub fn colours_in(&self, file: FileId, part: Span) -> Vec<Coloured> {
        let lexed = self.lexed(file);
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
        let first = lexed.tokens.partition_point(|token| token.span.hi < part.lo);
        let here = lexed.tokens[first..].iter().take_while(|token| token.span.lo <= part.hi);
        let words = here.filter_map(|token| colour(token.kind, token.span));
        let first = lexed.comments.partition_point(|comment| comment.span.hi < part.lo);
        let here = lexed.comments[first..].iter().take_while(|comment| comment.span.lo <= part.hi);
        let comments = here.map(|comment| plain(comment.span, Colour::Comment));
        let mut all: Vec<Coloured> = words.chain(comments).collect();
        all.sort_unstable_by_key(|it| it.span);
        all
    }
}
