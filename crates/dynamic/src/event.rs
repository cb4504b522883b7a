//! Events: what a decoder reports to a sink.
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

use crate::{Error, Place};
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
    /// X.690 contents octets that are not in the input: joined segments, strings of rules that are not octet-aligned.
    Made(&'a [u8]),
    /// BOOLEAN (0, 1), INTEGER and ENUMERATED of rules that do not have X.690 contents octets.
    Int(i64),
    /// ENUMERATED in PER: an item of a later version of the type, by its number among the additions, from 0.
    Addition(u32),
}

impl<'a> Leaf<'a> {
    /// Returns the contents octets, or `None` for [`Leaf::Int`] and [`Leaf::Addition`].
    pub fn contents(self) -> Option<&'a [u8]> {
        match self {
            Self::Input { contents, .. } | Self::Made(contents) => Some(contents),
            Self::Int(_) | Self::Addition(_) => None,
        }
    }
}

/// The reason why a value is marked: see [`Sink::marked`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Marked {
    /// The error that strict decoding reports; with the path of the value where a decoder reports the event.
    pub error: Error,
    /// Absolute offset of the contents octets, or of the element if the value is in segments.
    pub offset: u64,
}

/// Receives the events of a decode. `field` is the component, alternative or element of the enclosing value
/// ([`FieldId::ROOT`] for the outermost value and for content), `node` its type.
pub trait Sink {
    /// Receives the rules of the encoding before its value. The octets of unresolved open types and of unknown additions are
    /// in these rules.
    #[inline]
    fn begin(&mut self, _rules: Rules) {}

    /// Receives the depth limit of the decoder ([`crate::Limits::depth`]): no more values are inside one another.
    #[inline]
    fn within(&mut self, _depth: u16) {}

    /// Receives a primitive value.
    fn leaf(&mut self, field: FieldId, node: NodeId, leaf: Leaf<'_>);

    /// Receives a character string or time that is kept although its contents octets are not of its type, in BER unless
    /// [`crate::Options::strict_values`] is set. By default a sink treats it as any other value: [`crate::leaf::scalar`]
    /// shows it as far as it has characters.
    #[cold]
    fn marked(&mut self, field: FieldId, node: NodeId, leaf: Leaf<'_>, _marked: &Marked) {
        self.leaf(field, node, leaf);
    }

    /// Receives the begin of a SEQUENCE, SET, SEQUENCE OF, SET OF, CHOICE, resolved open type, or string with decoded
    /// content.
    fn open(&mut self, field: FieldId, node: NodeId);

    /// Receives the end of the value that began last and has not ended.
    fn close(&mut self, field: FieldId, node: NodeId);

    /// Receives an absent component that has a DEFAULT: `constant` is an index into `Shape::defaults`.
    fn absent(&mut self, field: FieldId, node: NodeId, constant: u32);

    /// Receives an unknown extension addition: its number among the additions, from 0, or `u32::MAX` in rules that identify
    /// additions by their tags, and its complete encoding in the rules of the value. An addition without octets only shows
    /// how many additions the type of the sender has.
    fn unknown(&mut self, addition: u32, leaf: Leaf<'_>);

    /// Receives the number of extension additions that the type of the sender has, if it is smaller than that of the plan's
    /// type: for the SEQUENCE or SET that is open, in rules that count additions.
    #[inline]
    fn earlier(&mut self, _additions: u32) {}

    /// Returns whether the sink wants the value of a field. If not, the decoder skips the value and checks only its lengths.
    #[inline]
    fn wants(&self, _field: FieldId) -> bool {
        true
    }

    /// Returns whether the sink receives places ([`Sink::place`]). A sink that does not, as by default, costs nothing: the
    /// decoder is compiled without them for it.
    #[inline(always)]
    fn wants_places(&self) -> bool {
        false
    }

    /// Receives the place of a part of an encoding, in the order of the input, if the sink wants places. The part is one of
    /// the value in `field` of the enclosing value. Contents come before the event of a value without components, all else
    /// of a value before the event of its begin. All places of a value together are its encoding, each bit once.
    ///
    /// Parts that come later have [`FieldId::BEGUN`] and the type of the value that has begun last and has not ended: the
    /// length of a resolved open type, a bitmap of extension additions, the length of a further fragment of a list, padding
    /// before the end of an open type. The end-of-contents octets of a value come before its end, those of a tag around it
    /// after; so does the padding of an extension addition.
    ///
    /// The parts of an unknown extension addition have [`FieldId::ROOT`] and the type of the value around it.
    ///
    /// The content of a string in segments, and of an open type in fragments, has events without places: its octets are
    /// those of the segments. A value that the sink does not want is contents as a whole in PER.
    ///
    /// In canonical PER, too, a sink that wants places hears a value before it is known to be canonical.
    #[cold]
    fn place(&mut self, _field: FieldId, _node: NodeId, _place: Place) {}

    /// Returns the current place in the events, if the sink can forget events after it ([`Sink::take_back`]). Then the decoder
    /// reads the contents of a string once, without a trial.
    #[inline]
    fn mark(&self) -> Option<Mark> {
        None
    }

    /// Forgets the events since a mark.
    #[inline]
    fn take_back(&mut self, _mark: Mark) {}
}

/// A place in the events of a sink ([`Sink::mark`]). The sink chooses the meaning of the numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mark {
    /// Number of events.
    pub entries: usize,
    /// Number of octets.
    pub octets: usize,
    /// Any other number.
    pub open: u32,
}

/// A sink that ignores all events: decoding into it validates.
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

/// A sink that passes events on and marks contents octets as not part of the input: they were joined from pieces of it.
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
