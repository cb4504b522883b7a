//! The parameters of a parameterized definition (X.683 §8.3) while its actual parameters are written.

use crate::Snapshot;
use tercet_syntax::{FileId, Span, TokenKind};

/// A parameterized definition whose actual parameters are being written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    /// Its name with the parameters, as they are written.
    pub label: String,
    /// The parameters, each with its governor.
    pub parameters: Vec<String>,
    /// The one that is being written, from 0.
    pub active: usize,
}

impl Snapshot {
    /// Returns the definition whose actual parameters a position is in.
    pub fn signature(&self, file: FileId, at: u32) -> Option<Signature> {
        let lexed = self.lexed(file);
        let before = lexed.tokens.partition_point(|token| token.span.hi <= at);
        let tokens = &lexed.tokens[..before];
        // Back to the brace that is open here, counting commas on the way.
        let (mut depth, mut active, mut open) = (0usize, 0, None);
        for (index, token) in tokens.iter().enumerate().rev() {
            match token.kind {
                TokenKind::CloseBrace | TokenKind::CloseParen | TokenKind::CloseBracket => depth += 1,
                TokenKind::OpenBrace if depth == 0 => {
                    open = Some(index);
                    break;
                }
                TokenKind::OpenBrace | TokenKind::OpenParen | TokenKind::OpenBracket => {
                    depth = depth.saturating_sub(1);
                }
                TokenKind::Comma if depth == 0 => active += 1,
                TokenKind::Assign => break,
                _ => {}
            }
        }
        let name = tokens.get(open?.checked_sub(1)?)?;
        let name = self.text(name.span);
        let modules = self.schema().modules();
        let module = modules.iter().find(|module| module.span.lo <= at && at <= module.span.hi);
        let home = module.into_iter().chain(modules).flat_map(|module| &module.assignments);
        let found = home.into_iter().find(|it| it.name.text == name && !it.parameters.is_empty())?;
        let parameters: Vec<String> = found
            .parameters
            .iter()
            .map(|parameter| {
                let from = parameter.governor.as_ref().map_or(parameter.name.span, |governor| governor.span);
                self.text(Span::new(from.lo, parameter.name.span.hi)).to_owned()
            })
            .collect();
        let label = format!("{name}{{{}}}", parameters.join(", "));
        Some(Signature { label, parameters, active })
    }
}
