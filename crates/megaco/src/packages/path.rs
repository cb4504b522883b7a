//! Where in a message something stands.

use std::fmt;

use crate::model::{CONTEXT_ALL, CONTEXT_CHOOSE, CONTEXT_NULL, TerminationId};

/// A step of the way to something in a message.
#[derive(Clone, Copy, Debug)]
pub(super) enum Step<'m> {
    /// A transaction or reply, with its id if it has one.
    Transaction(&'static str, Option<u32>),
    Context(u32),
    Command(&'static str, &'m [TerminationId<'m>]),
    Descriptor(&'static str),
    /// What has a number: a stream, a list of signals.
    Numbered(&'static str, u32),
    Name(&'m [u8]),
}

impl fmt::Display for Step<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Transaction(name, None) | Self::Descriptor(name) => f.write_str(name),
            Self::Transaction(name, Some(id)) | Self::Numbered(name, id) => write!(f, "{name}={id}"),
            Self::Context(CONTEXT_NULL) => f.write_str("Context=-"),
            Self::Context(CONTEXT_CHOOSE) => f.write_str("Context=$"),
            Self::Context(CONTEXT_ALL) => f.write_str("Context=*"),
            Self::Context(id) => write!(f, "Context={id}"),
            Self::Command(name, terminations) => {
                let more = if terminations.len() > 1 { ",…" } else { "" };
                let first = terminations.first().map_or(&b""[..], |first| &first.0);
                write!(f, "{name}={}{more}", Shown(first))
            }
            Self::Name(name) => Shown(name).fmt(f),
        }
    }
}

/// The steps, with blanks between them.
pub(super) fn path(steps: &[Step<'_>]) -> String {
    let mut path = String::new();
    for step in steps {
        if !path.is_empty() {
            path.push(' ');
        }
        path.push_str(&step.to_string());
    }
    path
}

/// Octets as a person reads them, of a long string only the begin: what is told of a message does not grow with the
/// square of its size.
pub(super) struct Shown<'a>(pub(super) &'a [u8]);

const MOST: usize = 64;

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let begin = &self.0[..self.0.len().min(MOST)];
        write!(f, "{}{}", begin.escape_ascii(), if begin.len() < self.0.len() { "…" } else { "" })
    }
}
