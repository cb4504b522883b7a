//! The tape: a decoded value as one flat, reusable array of 16-byte entries that point into the input.
//!
//! Entries are in pre-order; [`Token::Open`] and [`Token::Close`] know each other's index, so that a value is skipped
//! in one step forwards and an encoder that writes backwards can walk the tape backwards without recursion.

use crate::event::{Leaf, Mark, Marked, Sink};
use crate::{Error, ErrorKind, Limits, path};
use tercet_plan::{FieldId, NodeId, Rules, Shape};

/// The kind of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Tag {
    /// `a`: index of the close; `b`: extension additions of a sender that has fewer, plus one.
    Open,
    Close,
    /// `a`, `b`: offset and length in the input.
    Input,
    /// `a`, `b`: offset and length in the scratch octets.
    Made,
    /// `a`, `b`: low and high half of the number.
    Int,
    /// `a`: index of the constant.
    Default,
    /// An unknown addition, with `a` and `b` as for `Input` and no field; `node` is the number of the addition.
    UnknownInput,
    /// An unknown addition, with `a` and `b` as for `Made` and no field; `node` is the number of the addition.
    UnknownMade,
    /// `a`: number of the addition.
    Addition,
}

/// An entry in its stored form.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    /// Tag in the top four bits, field below.
    head: u32,
    node: u32,
    a: u32,
    b: u32,
}

const FIELD_BITS: u32 = 28;
const FIELD_MASK: u32 = (1 << FIELD_BITS) - 1;

impl Entry {
    #[inline]
    fn new(tag: Tag, field: FieldId, node: NodeId, a: u32, b: u32) -> Self {
        Self { head: (tag as u32) << FIELD_BITS | field.0 & FIELD_MASK, node: node.0, a, b }
    }

    #[inline(always)]
    pub(crate) fn tag(self) -> Tag {
        match self.head >> FIELD_BITS {
            0 => Tag::Open,
            1 => Tag::Close,
            2 => Tag::Input,
            3 => Tag::Made,
            4 => Tag::Int,
            5 => Tag::Default,
            6 => Tag::UnknownInput,
            7 => Tag::UnknownMade,
            _ => Tag::Addition,
        }
    }

    #[inline(always)]
    pub(crate) fn field(self) -> FieldId {
        let field = self.head & FIELD_MASK;
        if field == FIELD_MASK { FieldId::ROOT } else { FieldId(field) }
    }
}

impl Entry {
    /// Returns the number of a [`Tag::Int`].
    #[inline(always)]
    pub(crate) fn number(self) -> i64 {
        (u64::from(self.b) << 32 | u64::from(self.a)).cast_signed()
    }

    /// Returns the index of the close of a [`Tag::Open`].
    #[inline(always)]
    pub(crate) const fn close(self) -> usize {
        self.a as usize
    }

    /// Returns the index of the field, greater than that of any field if there is none.
    #[inline(always)]
    pub(crate) const fn place(self) -> usize {
        (self.head & FIELD_MASK) as usize
    }

    #[inline(always)]
    pub(crate) const fn node(self) -> NodeId {
        NodeId(self.node)
    }

    /// Returns whether the entry is, or begins, the value of a known field.
    #[inline(always)]
    pub(crate) fn is_value(self) -> bool {
        matches!(self.tag(), Tag::Open | Tag::Input | Tag::Made | Tag::Int | Tag::Addition)
    }

    /// Returns the index after the value that begins at an index.
    #[inline(always)]
    pub(crate) fn behind(self, index: usize) -> usize {
        if self.tag() == Tag::Open { self.close() + 1 } else { index + 1 }
    }
}

/// An entry of a tape.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Token<'a> {
    /// The begin of a value with parts; its end is at index `close`.
    Open {
        /// Component, alternative or element of the enclosing value.
        field: FieldId,
        /// The type.
        node: NodeId,
        /// Index of its close.
        close: usize,
    },
    /// The end of a value with parts; its begin is at index `open`.
    Close {
        /// Component, alternative or element of the enclosing value.
        field: FieldId,
        /// The type.
        node: NodeId,
        /// Index of its open.
        open: usize,
    },
    /// A primitive value.
    Leaf {
        /// Component, alternative or element of the enclosing value.
        field: FieldId,
        /// The type.
        node: NodeId,
        /// The value.
        leaf: Leaf<'a>,
    },
    /// An absent component with a DEFAULT.
    Default {
        /// Component, alternative or element of the enclosing value.
        field: FieldId,
        /// The type.
        node: NodeId,
        /// Index into `Shape::defaults`.
        constant: u32,
    },
    /// An unknown extension addition.
    Unknown {
        /// Number among the additions, from 0; `u32::MAX` in rules that identify additions by their tags.
        addition: u32,
        /// Its complete encoding.
        leaf: Leaf<'a>,
    },
}

/// A decoded value. Reuse one for many records: [`Tape::clear`] keeps the memory.
///
/// The offsets are relative to the input given to the decoder, which must be given again to read the tape
/// ([`Tape::view`]); an input is at most 4 GiB − 1 octets.
#[derive(Clone, Debug, Default)]
pub struct Tape {
    entries: Vec<Entry>,
    scratch: Vec<u8>,
    /// Index of the innermost open entry without a close, plus one; `a` of such an entry has the index of the next one around.
    open: u32,
    rules: Option<Rules>,
    /// Greatest number of values inside one another, if known.
    within: Option<u16>,
    /// Leaves whose contents octets are not of their type, by their index. Most tapes have none.
    marks: Vec<MarkedLeaf>,
}

/// A [`Marked`] leaf without its path, which follows from the index.
#[derive(Clone, Copy, Debug)]
struct MarkedLeaf {
    index: usize,
    kind: ErrorKind,
    at: u64,
    offset: u64,
}

impl Tape {
    /// Makes an empty tape.
    pub fn new() -> Self {
        Self::default()
    }

    /// Forgets the value and keeps the memory.
    pub fn clear(&mut self) {
        self.entries.clear();
        self.scratch.clear();
        self.open = 0;
        self.rules = None;
        self.within = None;
        self.marks.clear();
    }

    /// Returns the number of entries.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns whether there is no entry.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Makes a value of what was read before a fault: ends the values that have begun, and drops those at the end that
    /// have nothing inside yet. Returns `false` if nothing was read.
    ///
    /// Components after the fault are absent, mandatory ones too: such a value is for people to look at.
    pub fn finish_partial(&mut self) -> bool {
        while let Some(index) = (self.open as usize).checked_sub(1)
            && let Some(entry) = self.entries.get(index).copied()
        {
            if index + 1 == self.entries.len() {
                self.entries.pop();
                self.open = entry.a;
            } else {
                self.close(entry.field(), entry.node());
            }
        }
        !self.entries.is_empty()
    }

    /// Makes a value of what was read before the octet `end` of the input, as [`Tape::finish_partial`] does.
    pub fn finish_partial_before(&mut self, end: usize) -> bool {
        let is_beyond = |entry: &Entry| {
            matches!(entry.tag(), Tag::Input | Tag::UnknownInput)
                && (entry.a as usize + entry.b as usize) > end
        };
        if let Some(first) = self.entries.iter().position(is_beyond) {
            self.entries.truncate(first);
            self.open = 0;
            // What was closed behind that is open again.
            let mut around = Vec::new();
            for index in 0..self.entries.len() {
                match self.entries[index].tag() {
                    Tag::Open => {
                        around.push(self.open);
                        self.open = index as u32 + 1;
                    }
                    Tag::Close => self.open = around.pop().unwrap_or(0),
                    _ => {}
                }
            }
            let mut open = self.open;
            while let (Some(index), Some(outer)) = ((open as usize).checked_sub(1), around.pop()) {
                self.entries[index].a = outer;
                open = outer;
            }
        }
        self.finish_partial()
    }

    /// Returns the first entry that is inside more than `limit` values with parts.
    pub(crate) fn deeper_than(&self, limit: u16) -> Option<usize> {
        let mut depth = 0_usize;
        self.entries.iter().position(|entry| match entry.tag() {
            Tag::Open => {
                depth += 1;
                depth > usize::from(limit)
            }
            Tag::Close => {
                depth = depth.saturating_sub(1);
                false
            }
            _ => false,
        })
    }

    /// Returns the octets of memory held.
    pub fn memory(&self) -> usize {
        self.entries.capacity() * size_of::<Entry>() + self.scratch.capacity()
    }

    /// Returns the tape together with the input it was decoded from. A tape built from a [`crate::Value`] or from text needs
    /// no input: give `&[]`.
    pub fn view<'a>(&'a self, input: &'a [u8]) -> View<'a> {
        View { tape: self, input }
    }

    #[inline(always)]
    fn put(&mut self, known: Tag, made: Tag, field: FieldId, node: NodeId, leaf: Leaf<'_>) {
        let entry = match leaf {
            Leaf::Input { at, contents } => Entry::new(known, field, node, at as u32, contents.len() as u32),
            Leaf::Made(octets) => {
                let at = self.scratch.len() as u32;
                self.scratch.extend_from_slice(octets);
                Entry::new(made, field, node, at, octets.len() as u32)
            }
            Leaf::Int(number) => Entry::new(Tag::Int, field, node, number as u32, (number >> 32) as u32),
            Leaf::Addition(number) => Entry::new(Tag::Addition, field, node, number, 0),
        };
        self.entries.push(entry);
    }
}

impl Sink for Tape {
    #[inline]
    fn begin(&mut self, rules: Rules) {
        self.rules = Some(rules);
    }

    fn within(&mut self, depth: u16) {
        self.within = Some(depth);
    }

    #[inline(always)]
    fn leaf(&mut self, field: FieldId, node: NodeId, leaf: Leaf<'_>) {
        self.put(Tag::Input, Tag::Made, field, node, leaf);
    }

    fn marked(&mut self, field: FieldId, node: NodeId, leaf: Leaf<'_>, marked: &Marked) {
        let (kind, at) = (marked.error.kind(), marked.error.offset());
        self.marks.push(MarkedLeaf { index: self.entries.len(), kind, at, offset: marked.offset });
        self.leaf(field, node, leaf);
    }

    #[inline(always)]
    fn open(&mut self, field: FieldId, node: NodeId) {
        self.entries.push(Entry::new(Tag::Open, field, node, self.open, 0));
        self.open = self.entries.len() as u32;
    }

    #[inline(always)]
    fn close(&mut self, field: FieldId, node: NodeId) {
        let at = self.entries.len() as u32;
        let open = self.open.wrapping_sub(1);
        if let Some(entry) = self.entries.get_mut(open as usize) {
            self.open = std::mem::replace(&mut entry.a, at);
            self.entries.push(Entry::new(Tag::Close, field, node, open, 0));
        }
    }

    #[inline]
    fn absent(&mut self, field: FieldId, node: NodeId, constant: u32) {
        self.entries.push(Entry::new(Tag::Default, field, node, constant, 0));
    }

    fn mark(&self) -> Option<Mark> {
        Some(Mark { entries: self.entries.len(), octets: self.scratch.len(), open: self.open })
    }

    fn take_back(&mut self, mark: Mark) {
        self.entries.truncate(mark.entries);
        self.scratch.truncate(mark.octets);
        self.marks.truncate(self.marks.partition_point(|marked| marked.index < mark.entries));
        self.open = mark.open;
    }

    fn unknown(&mut self, addition: u32, leaf: Leaf<'_>) {
        self.put(Tag::UnknownInput, Tag::UnknownMade, FieldId::ROOT, NodeId(addition), leaf);
    }

    fn earlier(&mut self, additions: u32) {
        if let Some(entry) = self.entries.get_mut(self.open.wrapping_sub(1) as usize) {
            entry.b = additions.saturating_add(1);
        }
    }
}

/// An entry of one of the frequent kinds; smaller than a [`Token`].
#[derive(Clone, Copy, Debug)]
pub(crate) enum Common {
    /// A leaf in the input.
    Input { field: FieldId, at: usize, length: usize },
    /// The begin of a value with parts.
    Open,
    /// The end of a value with parts.
    Close { field: FieldId, node: NodeId, open: u32 },
    /// Any other entry.
    Other,
}

/// A tape with its input.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    tape: &'a Tape,
    input: &'a [u8],
}

impl<'a> View<'a> {
    /// Returns the number of entries.
    pub fn len(self) -> usize {
        self.tape.entries.len()
    }

    /// Returns whether there is no entry.
    pub fn is_empty(self) -> bool {
        self.tape.entries.is_empty()
    }

    /// Returns the entry at an index below [`View::len`].
    #[inline]
    pub fn token(self, index: usize) -> Token<'a> {
        let entry = self.tape.entries[index];
        let (field, node) = (entry.field(), NodeId(entry.node));
        let (a, b) = (entry.a as usize, entry.b as usize);
        match entry.tag() {
            Tag::Open => Token::Open { field, node, close: a },
            Tag::Close => Token::Close { field, node, open: a },
            Tag::Input => Token::Leaf { field, node, leaf: self.input(a, b) },
            Tag::Made => Token::Leaf { field, node, leaf: self.made(a, b) },
            Tag::Int => Token::Leaf { field, node, leaf: Leaf::Int(entry.number()) },
            Tag::Default => Token::Default { field, node, constant: entry.a },
            Tag::UnknownInput => Token::Unknown { addition: entry.node, leaf: self.input(a, b) },
            Tag::UnknownMade => Token::Unknown { addition: entry.node, leaf: self.made(a, b) },
            Tag::Addition => Token::Leaf { field, node, leaf: Leaf::Addition(entry.a) },
        }
    }

    /// Returns the entry at an index, if it is of a frequent kind.
    #[inline(always)]
    pub(crate) fn common(self, index: usize) -> Common {
        let entry = self.tape.entries[index];
        let (field, node) = (entry.field(), NodeId(entry.node));
        let (at, length) = (entry.a as usize, entry.b as usize);
        match entry.tag() {
            Tag::Input if at + length <= self.input.len() => Common::Input { field, at, length },
            Tag::Open => Common::Open,
            Tag::Close => Common::Close { field, node, open: entry.a },
            _ => Common::Other,
        }
    }

    /// Returns the entry at an index in its stored form.
    #[inline(always)]
    pub(crate) fn entry(self, index: usize) -> Entry {
        self.tape.entries[index]
    }

    /// Returns the leaf at an index, or `None` for another entry.
    #[inline(always)]
    pub(crate) fn leaf(self, index: usize) -> Option<Leaf<'a>> {
        let entry = self.tape.entries[index];
        let (a, b) = (entry.a as usize, entry.b as usize);
        Some(match entry.tag() {
            Tag::Input => self.input(a, b),
            Tag::Made => self.made(a, b),
            Tag::Int => Leaf::Int(entry.number()),
            Tag::Addition => Leaf::Addition(entry.a),
            _ => return None,
        })
    }

    /// Returns all entries in their stored form.
    #[inline(always)]
    pub(crate) fn entries(self) -> &'a [Entry] {
        &self.tape.entries
    }

    /// Copies the tape, to be read with the same input.
    pub fn to_tape(self) -> Tape {
        self.tape.clone()
    }

    /// Returns the number of leaves that are kept although their contents octets are not of their type ([`Sink::marked`]).
    #[inline]
    pub fn marks(self) -> usize {
        self.tape.marks.len()
    }

    /// Returns why the leaf at an index is marked, or `None` for other entries.
    #[inline]
    pub fn marked(self, index: usize) -> Option<ErrorKind> {
        if self.tape.marks.is_empty() { None } else { self.find_mark(index) }
    }

    #[cold]
    fn find_mark(self, index: usize) -> Option<ErrorKind> {
        let at = self.tape.marks.binary_search_by_key(&index, |marked| marked.index).ok()?;
        self.tape.marks.get(at).map(|marked| marked.kind)
    }

    /// Refuses a value with more values inside one another than [`crate::Limits::depth`] allows by default, as decoders
    /// do. For a value that a decoder has read, the limit of that decoder applies, and nothing is counted.
    ///
    /// # Errors
    /// [`ErrorKind::DepthLimit`] with the path.
    #[inline]
    pub fn check_depth(self, shape: &Shape) -> Result<(), Error> {
        if self.tape.within.is_some() { Ok(()) } else { self.count_depth(shape) }
    }

    #[cold]
    fn count_depth(self, shape: &Shape) -> Result<(), Error> {
        match self.tape.deeper_than(Limits::default().depth) {
            Some(index) => {
                Err(Error::new(ErrorKind::DepthLimit, 0).with_path(path::of_tape(shape, self, index)))
            }
            None => Ok(()),
        }
    }

    /// Returns the rules that the value was decoded from, or `None` for a value that was made.
    pub fn rules(self) -> Option<Rules> {
        self.tape.rules
    }

    /// Returns the number of extension additions that the type of the sender has, if it is smaller than that of the plan's type;
    /// by the index of the open.
    pub(crate) fn earlier(self, open: usize) -> Option<u32> {
        let entry = self.tape.entries[open];
        if entry.tag() == Tag::Open { entry.b.checked_sub(1) } else { None }
    }

    /// Returns the input.
    pub fn octets(self) -> &'a [u8] {
        self.input
    }

    /// Returns the index of the entry after the value at `index`.
    #[inline]
    pub fn skip(self, index: usize) -> usize {
        match self.tape.entries[index] {
            entry if entry.tag() == Tag::Open => entry.a as usize + 1,
            _ => index + 1,
        }
    }

    /// Returns all entries in order.
    pub fn tokens(self) -> impl DoubleEndedIterator<Item = Token<'a>> + ExactSizeIterator {
        (0..self.len()).map(move |i| self.token(i))
    }

    /// Replays the events into another sink.
    pub fn replay(self, sink: &mut impl Sink) {
        if let Some(rules) = self.tape.rules {
            sink.begin(rules);
        }
        if let Some(depth) = self.tape.within {
            sink.within(depth);
        }
        self.say(0..self.len(), sink);
    }

    /// Replays the events that the sink wants ([`Sink::wants`]), as a decoder reports them.
    pub fn replay_wanted(self, sink: &mut impl Sink) {
        if let Some(rules) = self.tape.rules {
            sink.begin(rules);
        }
        if let Some(depth) = self.tape.within {
            sink.within(depth);
        }
        let mut index = 0;
        while index < self.len() {
            let next = match self.token(index) {
                Token::Open { field, .. } | Token::Leaf { field, .. }
                    if field != FieldId::ROOT && !sink.wants(field) =>
                {
                    self.skip(index)
                }
                _ => {
                    self.say(index..index + 1, sink);
                    index + 1
                }
            };
            index = next;
        }
    }

    /// Replays the events of the value at an index into another sink.
    pub fn replay_part(self, index: usize, sink: &mut impl Sink) {
        self.say(index..self.skip(index), sink);
    }

    #[inline]
    fn say(self, indices: std::ops::Range<usize>, sink: &mut impl Sink) {
        if !self.tape.marks.is_empty() {
            return self.say_marked(indices, sink);
        }
        self.say_plain(indices, sink);
    }

    /// Reports an entry as [`View::say`] does, marked leaves as marked.
    #[cold]
    fn say_marked(self, indices: std::ops::Range<usize>, sink: &mut impl Sink) {
        let mut from = indices.start;
        let first = self.tape.marks.partition_point(|marked| marked.index < from);
        let within = self.tape.marks.iter().skip(first).take_while(|marked| marked.index < indices.end);
        for &MarkedLeaf { index, kind, at, offset } in within {
            self.say_plain(from..index, sink);
            if let Token::Leaf { field, node, leaf } = self.token(index) {
                sink.marked(field, node, leaf, &Marked { error: Error::new(kind, at), offset });
            }
            from = index + 1;
        }
        self.say_plain(from..indices.end, sink);
    }

    #[inline]
    fn say_plain(self, indices: std::ops::Range<usize>, sink: &mut impl Sink) {
        for entry in self.tape.entries.get(indices).unwrap_or_default() {
            let (field, node) = (entry.field(), entry.node());
            let (a, b) = (entry.a as usize, entry.b as usize);
            match entry.tag() {
                Tag::Open => {
                    sink.open(field, node);
                    if let Some(additions) = entry.b.checked_sub(1) {
                        sink.earlier(additions);
                    }
                }
                Tag::Close => sink.close(field, node),
                Tag::Input => sink.leaf(field, node, self.input(a, b)),
                Tag::Made => sink.leaf(field, node, self.made(a, b)),
                Tag::Int => sink.leaf(field, node, Leaf::Int(entry.number())),
                Tag::Addition => sink.leaf(field, node, Leaf::Addition(entry.a)),
                Tag::Default => sink.absent(field, node, entry.a),
                Tag::UnknownInput => sink.unknown(entry.node, self.input(a, b)),
                Tag::UnknownMade => sink.unknown(entry.node, self.made(a, b)),
            }
        }
    }

    /// Returns an empty slice for a range outside of the input: a tape read with another input than its own.
    fn input(self, at: usize, len: usize) -> Leaf<'a> {
        Leaf::Input { at, contents: self.input.get(at..at + len).unwrap_or_default() }
    }

    fn made(self, at: usize, len: usize) -> Leaf<'a> {
        Leaf::Made(&self.tape.scratch[at..at + len])
    }
}
