//! Events: what a decoder says and a sink hears.
//!
//! The grammar of events, the same for every encoding rule:
//!
//! ```text
//! value     = leaf | absent | open item* close
//! item      = value            a component, element, alternative (exactly one in a CHOICE), or the content of an open
//!                              type or CONTAINING (one value whose field is ROOT)
//!           | unknown          an extension addition that the schema does not know
//! ```
//!
//! Members of a SET come in the order of the encoding.

use crate::Error;
use tercet_plan::{FieldId, NodeId, Rules};

/// A primitive value as the decoder found it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Leaf<'a> {
    /// X.690 contents octets of the node's kind, a slice of the input. For an unresolved open type: the complete
    /// encoding in the rule at hand.
    Input {
        /// Offset from the begin of the input.
        at: usize,
        /// The octets.
        contents: &'a [u8],
    },
    /// The same, but made by the decoder: joined segments, strings of rules that are not octet-aligned.
    Made(&'a [u8]),
    /// BOOLEAN (0, 1), INTEGER and ENUMERATED of rules that do not have X.690 contents octets.
    Int(i64),
    /// ENUMERATED in PER: an item of a later version of the type, by its number among the additions, from 0.
    Addition(u32),
}

impl<'a> Leaf<'a> {
    /// The contents octets, unless it is an [`Leaf::Int`] or [`Leaf::Addition`].
    pub fn contents(self) -> Option<&'a [u8]> {
        match self {
            Self::Input { contents, .. } | Self::Made(contents) => Some(contents),
            Self::Int(_) | Self::Addition(_) => None,
        }
    }
}

/// Why a value is marked: see [`Sink::marked`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Marked {
    /// The error that strict decoding reports; with the path of the value where a decoder says the event.
    pub error: Error,
    /// Absolute offset of the contents octets, or of the element if the value is in segments.
    pub offset: u64,
}

/// Receives the events of a decode. `field` says which component, alternative or element of the enclosing value this
/// is ([`FieldId::ROOT`] for the outermost value and for content), `node` its type.
pub trait Sink {
    /// A value begins, in these rules: those of the octets of open types and additions that nobody could look into.
    #[inline]
    fn begin(&mut self, _rules: Rules) {}

    /// No more than `depth` values of what it hears are inside one another: the limit of the decoder
    /// ([`crate::Limits::depth`]).
    #[inline]
    fn within(&mut self, _depth: u16) {}

    /// A primitive value.
    fn leaf(&mut self, field: FieldId, node: NodeId, leaf: Leaf<'_>);

    /// A character string or time that is kept although its contents octets are not of its type, in BER unless
    /// [`crate::Options::strict_values`] is set. By default a sink hears it as any other value: [`crate::leaf::scalar`]
    /// shows it as far as it has characters.
    #[cold]
    fn marked(&mut self, field: FieldId, node: NodeId, leaf: Leaf<'_>, _marked: &Marked) {
        self.leaf(field, node, leaf);
    }

    /// A SEQUENCE, SET, SEQUENCE OF, SET OF, CHOICE, resolved open type, or string with decoded content begins.
    fn open(&mut self, field: FieldId, node: NodeId);

    /// It ends.
    fn close(&mut self, field: FieldId, node: NodeId);

    /// A component is absent and has a DEFAULT: `constant` is an index into `Shape::defaults`.
    fn absent(&mut self, field: FieldId, node: NodeId, constant: u32);

    /// An extension addition that the schema does not know: its complete encoding in the rule at hand, and which of
    /// the additions it is, from 0; `u32::MAX` in rules that tell additions by their tags. One without octets only
    /// tells that the type of the sender has so many additions.
    fn unknown(&mut self, addition: u32, leaf: Leaf<'_>);

    /// The type of the sender has so many extension additions, fewer than this one: said of the SEQUENCE or SET that is
    /// open, in rules that count additions.
    #[inline]
    fn earlier(&mut self, _additions: u32) {}

    /// Whether a field's value is wanted; if not, the decoder skips it, checking its lengths and nothing else.
    #[inline]
    fn wants(&self, _field: FieldId) -> bool {
        true
    }

    /// How far it has heard, if it can take back what it hears from now on: then what may be in a string is read once
    /// and not tried before.
    #[inline]
    fn mark(&self) -> Option<Mark> {
        None
    }

    /// Forgets what it has heard since a mark.
    #[inline]
    fn take_back(&mut self, _mark: Mark) {}
}

/// A place in what a sink has heard ([`Sink::mark`]): numbers of its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mark {
    /// Number of events.
    pub entries: usize,
    /// Number of octets.
    pub octets: usize,
    /// Whatever else.
    pub open: u32,
}

/// Hears nothing: decoding with it validates.
#[derive(Clone, Copy, Debug, Default)]
pub struct Discard;

impl Sink for Discard {
    #[inline]
    fn leaf(&mut self, _: FieldId, _: NodeId, _: Leaf<'_>) {}
    #[inline]
    fn open(&mut self, _: FieldId, _: NodeId) {}
    #[inline]
    fn close(&mut self, _: FieldId, _: NodeId) {}
    #[inline]
    fn absent(&mut self, _: FieldId, _: NodeId, _: u32) {}
    #[inline]
    fn unknown(&mut self, _: u32, _: Leaf<'_>) {}
    #[inline]
    fn mark(&self) -> Option<Mark> {
        Some(Mark::default())
    }
}

/// Says on what was decoded from octets that are not the input's, but joined from pieces of it.
pub(crate) struct Copying<'s>(pub(crate) &'s mut dyn Sink);

impl Sink for Copying<'_> {
    fn leaf(&mut self, field: FieldId, node: NodeId, leaf: Leaf<'_>) {
        self.0.leaf(field, node, made(leaf));
    }
    fn marked(&mut self, field: FieldId, node: NodeId, leaf: Leaf<'_>, marked: &Marked) {
        self.0.marked(field, node, made(leaf), marked);
    }
    fn open(&mut self, field: FieldId, node: NodeId) {
        self.0.open(field, node);
    }
    fn close(&mut self, field: FieldId, node: NodeId) {
        self.0.close(field, node);
    }
    fn absent(&mut self, field: FieldId, node: NodeId, constant: u32) {
        self.0.absent(field, node, constant);
    }
    fn unknown(&mut self, addition: u32, leaf: Leaf<'_>) {
        self.0.unknown(addition, made(leaf));
    }
    fn earlier(&mut self, additions: u32) {
        self.0.earlier(additions);
    }
    fn wants(&self, field: FieldId) -> bool {
        self.0.wants(field)
    }
    fn mark(&self) -> Option<Mark> {
        self.0.mark()
    }
    fn take_back(&mut self, mark: Mark) {
        self.0.take_back(mark);
    }
}

fn made(leaf: Leaf<'_>) -> Leaf<'_> {
    match leaf {
        Leaf::Input { contents, .. } => Leaf::Made(contents),
        other => other,
    }
}
