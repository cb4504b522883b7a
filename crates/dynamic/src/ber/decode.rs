//! Decoding: the loops over the elements of a SEQUENCE, SET and list, and the stack around them.
//!
//! Primitive components are read in place, in the loop of the value they are part of; everything else goes through [`super::contents`], which pushes frames. The stack is data, so that input cannot exhaust the thread's.

use super::frame::{Checks, Frame, FrameKind, Pending, Register};
use super::head::{Head, canonical_head, head, long_head};
use super::{check, rules_of};
use crate::event::{Leaf, Sink};
use crate::{Error, Options, Unknown};
use tercet_plan::ber::{NONE, NodeCode, Program, Slot, flags, node_flags};
use tercet_plan::shape::Presence;
use tercet_plan::{FieldId, Kind, NodeId, Rules, Shape};
use tercet_runtime::ber::Reader;
use tercet_runtime::{Error as Fault, ErrorKind};

/// Memory that a decoder keeps from value to value.
#[derive(Debug, Default)]
pub(crate) struct DecodeState {
    pub(super) frames: Vec<Frame>,
    pub(super) registers: Vec<Option<Register>>,
    /// The registers of the values around, while `registers` holds other keys.
    pub(super) saved: Vec<Option<Register>>,
    /// The segments of a constructed string, joined.
    pub(super) joined: Vec<u8>,
    /// Words for SETs of more than 64 components.
    pub(super) bits: Vec<u64>,
    /// The state of the strict checks of the frames around the current one; empty in a fast decode.
    pub(super) outer_checks: Vec<Checks>,
    /// Decodes the contents of a string for a trial, before the sink hears of them.
    pub(super) trial: Option<Box<Self>>,
    /// Number of segmented strings around, whose contents are being read.
    pub(super) joins: u8,
    /// Path of the innermost segmented string.
    pub(super) around: String,
    /// Number of values that are kept although they break the rules of their type.
    pub(super) marked: u64,
}

impl DecodeState {
    /// Returns the number of values of the last input that were kept although they break the rules of their type.
    pub(crate) fn marked(&self) -> u64 {
        self.marked
    }
}

pub(super) type Result<T> = std::result::Result<T, Fault>;

/// Decodes one value of `root` from the front of the input.
pub(crate) fn decode(
    state: &mut DecodeState,
    shape: &Shape,
    program: &Program,
    root: NodeId,
    input: &[u8],
    sink: &mut impl Sink,
    options: &Options,
) -> std::result::Result<usize, Error> {
    let entry = program.nodes.get(root.index()).map_or(NONE, |code| code.entry);
    if entry == NONE {
        return Err(Error::new(ErrorKind::ValueMismatch, options.base_offset)
            .with_detail("the plan was not made for this type as a root"));
    }
    state.marked = 0;
    let mut engine = Engine::new(state, shape, program, entry, input, sink, options);
    let result = engine.run().map_err(|fault| engine.explain(fault));
    engine.finish();
    result
}

pub(super) struct Engine<'a, S> {
    pub(super) shape: &'a Shape,
    pub(super) program: &'a Program,
    pub(super) options: &'a Options,
    pub(super) input: &'a [u8],
    pub(super) sink: &'a mut S,
    pub(super) state: &'a mut DecodeState,
    /// The stack, the root's frame first; the last one is current.
    pub(super) frames: Vec<Frame>,
    /// End of the contents of the current frame.
    end: usize,
    pub(super) checks: Checks,
    pub(super) pos: usize,
    /// Number of constructed elements that may still be entered.
    pub(super) depth: u16,
    /// Number of elements that may still come.
    remaining_elements: u64,
    /// `true` if the fast path does not check enough: the rules are DER or CER, or an option requires more.
    pub(super) strict: bool,
    /// `true` if the fast path may read headers: those that it reads have the form of DER.
    fast: bool,
    /// `true` if the fast path of CER may read headers: constructed ones have an indefinite length.
    fast_cer: bool,
    /// Mask of the slot flags that decide; a slot has the fast path if [`flags::PLAIN`] alone remains.
    fast_flags: u8,
    /// The key that the alternative being read is.
    pub(super) pending_key: Option<Pending>,
    /// The slot being read, for the path of an error.
    pub(super) at_slot: u32,
    pub(super) detail: Option<Detail>,
}

/// The subject of an error.
#[derive(Clone, Copy, Debug)]
pub(super) enum Detail {
    Tag(u32),
    Expected(u32, u32),
    Field(FieldId),
    /// The header at the current position.
    Header,
}

impl<'a, S: Sink> Engine<'a, S> {
    pub(super) fn new(
        state: &'a mut DecodeState,
        shape: &'a Shape,
        program: &'a Program,
        entry: u32,
        input: &'a [u8],
        sink: &'a mut S,
        options: &'a Options,
    ) -> Self {
        let mut frames = std::mem::take(&mut state.frames);
        frames.clear();
        frames.push(Frame::root(entry, input.len()));
        state.bits.clear();
        state.outer_checks.clear();
        state.saved.clear();
        state.registers.clear();
        state.registers.resize(usize::from(shape.registers), None);
        // An element needs two octets of input.
        let has_options = options.strict_enumerations
            || options.strict_integers
            || options.check_constraints
            || options.limits.size < input.len() as u64
            || options.limits.elements < input.len() as u64 / 2;
        let strict = has_options || options.rules != Rules::Ber;
        Self {
            shape,
            program,
            options,
            input,
            sink,
            state,
            frames,
            end: input.len(),
            checks: Checks::default(),
            pos: 0,
            depth: options.limits.depth.min(1000),
            remaining_elements: options.limits.elements,
            strict,
            fast: !has_options && options.rules != Rules::Cer,
            fast_cer: !has_options && options.rules == Rules::Cer,
            // By DER and CER a DEFAULT is not.
            fast_flags: match options.rules {
                Rules::Ber if !has_options => flags::PLAIN,
                Rules::Der | Rules::Cer if !has_options => flags::PLAIN | flags::DEFAULT,
                _ => 0,
            },
            pending_key: None,
            at_slot: NONE,
            detail: None,
        }
    }

    /// Gives the stack back to be used again.
    pub(super) fn finish(self) {
        self.state.frames = self.frames;
    }

    pub(super) fn run(&mut self) -> Result<usize> {
        loop {
            match self.cur().kind {
                FrameKind::Set => self.set()?,
                FrameKind::Sequence => self.sequence()?,
                FrameKind::List => self.list()?,
                FrameKind::Choice | FrameKind::Open => self.close()?,
                FrameKind::Root if self.cur().done => return Ok(self.pos),
                FrameKind::Root | FrameKind::Wrap | FrameKind::Content => self.single()?,
            }
        }
    }

    // Elements

    /// Reads the next header of this level; `None` at its end, which is stepped over.
    #[inline(always)]
    pub(super) fn step(&mut self) -> Result<Option<Head>> {
        if self.fast
            && let Some(head) = head(self.input, self.pos, self.end)
        {
            return Ok(Some(head));
        }
        self.step_on()
    }

    #[inline(never)]
    fn step_on(&mut self) -> Result<Option<Head>> {
        if self.pos == self.end && !self.cur().indefinite && self.cur().kind != FrameKind::Root {
            return Ok(None);
        }
        if !self.strict {
            if let Some(head) = long_head(self.input, self.pos, self.end) {
                return Ok(Some(head));
            }
        } else if self.fast_cer
            && let Some(head) = canonical_head(self.input, self.pos, self.end)
        {
            return Ok(Some(head));
        } else if let Some(remaining) = self.remaining_elements.checked_sub(1) {
            self.remaining_elements = remaining;
        } else {
            return Err(self.fault(ErrorKind::LimitExceeded));
        }
        self.step_slowly()
    }

    #[inline(never)]
    fn step_slowly(&mut self) -> Result<Option<Head>> {
        let rest = self.input.get(self.pos..self.end).unwrap_or_default();
        if self.cur().indefinite {
            if rest.starts_with(&[0, 0]) {
                if self.sink.wants_places() {
                    self.place_end();
                }
                self.pos += 2;
                return Ok(None);
            }
            if rest.is_empty() && self.cur().bounded {
                return Err(self.fault(ErrorKind::EndOfContentsMissing));
            }
        } else if rest.is_empty() && self.cur().kind != FrameKind::Root {
            return Ok(None);
        }
        match self.reader().read_header() {
            Ok(header) => Ok(Some(header.into())),
            Err(error) => {
                self.detail = Some(Detail::Header);
                Err(self.bounded(error))
            }
        }
    }

    /// Returns a reader at the current position, inside the current element.
    pub(super) fn reader(&self) -> Reader<'a> {
        let rest = self.input.get(self.pos..self.end).unwrap_or_default();
        let limits = tercet_runtime::Limits::DEFAULT
            .with_depth(self.depth)
            .with_element_length(self.options.limits.size);
        Reader::with_limits(rest, self.offset(self.pos), rules_of(self.options.rules), &limits)
            .within(self.cur().bounded)
    }

    /// Turns a fault of missing input into one of a bad length, where a definite length ends the input: more would not help.
    #[cold]
    pub(super) fn bounded(&self, error: Fault) -> Fault {
        if self.cur().bounded && error.kind() == ErrorKind::Incomplete {
            return Fault::new(ErrorKind::BeyondParent, error.at().min(self.offset(self.end)));
        }
        error
    }

    #[inline(always)]
    pub(super) fn cur(&self) -> &Frame {
        &self.frames[self.frames.len() - 1]
    }

    #[inline(always)]
    pub(super) fn cur_mut(&mut self) -> &mut Frame {
        let top = self.frames.len() - 1;
        &mut self.frames[top]
    }

    pub(super) fn is_strict(&self) -> bool {
        self.strict
    }

    pub(super) fn offset(&self, pos: usize) -> u64 {
        self.options.base_offset.saturating_add(pos as u64)
    }

    #[cold]
    #[inline(never)]
    pub(super) fn fault(&self, kind: ErrorKind) -> Fault {
        Fault::new(kind, self.offset(self.pos))
    }

    /// Returns the contents octets of a primitive element whose header is at `pos`.
    #[inline(always)]
    fn contents_of(&self, pos: usize, head: &Head) -> &'a [u8] {
        self.input.get(pos + head.size..pos + head.size + head.length).unwrap_or_default()
    }

    /// Reads a component of a plain type in place; `false` leaves it to the slow path.
    #[inline(always)]
    pub(super) fn fast_leaf(&mut self, slot: &Slot, head: &Head, pos: usize) -> bool {
        if slot.flags & self.fast_flags != flags::PLAIN || head.constructed || !self.sink.wants(slot.field) {
            return false;
        }
        let contents = self.contents_of(pos, head);
        if !check::is_plainly_good(slot.kind, contents)
            || (self.strict && !check::is_canonical(slot.kind, contents))
        {
            return false;
        }
        if self.sink.wants_places() {
            self.place_primitive(slot, pos, head);
        }
        self.sink.leaf(slot.field, slot.node, Leaf::Input { at: pos + head.size, contents });
        true
    }

    #[inline(always)]
    pub(super) fn code(&self) -> &'a NodeCode {
        let program: &'a Program = self.program;
        &program.nodes[self.cur().node as usize]
    }

    #[inline(always)]
    pub(super) fn slots(&self, code: &NodeCode) -> &'a [Slot] {
        let program: &'a Program = self.program;
        program.slots_of(code)
    }

    // Loops: each reads plain components until there is one for the slow path, or no more.

    fn sequence(&mut self) -> Result<()> {
        let code = self.code();
        let slots = self.slots(code);
        if self.strict {
            self.check_last(false)?;
        }
        let mut cursor = self.cur().cursor;
        loop {
            let head = match self.step() {
                Ok(Some(head)) => head,
                other => {
                    self.cur_mut().cursor = cursor;
                    return other.and_then(|_| self.close());
                }
            };
            let slot = match slots.get(cursor as usize) {
                Some(slot) if slot.tag == head.tag => slot,
                _ => {
                    let found = if code.flags & node_flags::WILD != 0 {
                        self.find_wild(code, head.tag, cursor)
                    } else {
                        self.program.find(code, head.tag, cursor)
                    };
                    let found = found.and_then(|number| Some((number, slots.get(number as usize)?)));
                    let Some((number, slot)) = found else {
                        self.cur_mut().cursor = cursor;
                        return self.unknown(head);
                    };
                    self.pass(code, cursor, number)?;
                    cursor = number;
                    slot
                }
            };
            if !self.fast_leaf(slot, &head, self.pos) {
                self.cur_mut().cursor = cursor + 1;
                return self.component(code, cursor, head);
            }
            cursor += 1;
            self.pos += head.size + head.length;
        }
    }

    /// Finds a component as [`Program::find`] does, where some take any tag. A CHOICE that may be absent takes only a tag
    /// that no other component has.
    #[cold]
    pub(super) fn find_wild(&self, code: &NodeCode, tag: u32, from: u32) -> Option<u32> {
        let exact = self.program.find(code, tag, from);
        let slots = self.slots(code);
        for (number, slot) in (from..).zip(slots.get(from as usize..)?) {
            let takes_known = slot.kind == Kind::Open || slot.flags & flags::REQUIRED != 0;
            if exact == Some(number) || slot.flags & flags::WILD != 0 && (exact.is_none() || takes_known) {
                return Some(number);
            }
            if slot.flags & flags::REQUIRED != 0 {
                break;
            }
        }
        exact
    }

    /// Passes over the components of a SEQUENCE from `from` up to `to`, which are absent.
    #[inline]
    fn pass(&mut self, code: &NodeCode, from: u32, to: u32) -> Result<()> {
        let required = if code.count <= 64 {
            // Both are below 64, or `from` is `to`.
            from < to && (code.required >> (from & 63)) & (u64::MAX >> (64 - (to - from).min(64))) != 0
        } else {
            true
        };
        if required || (self.options.fill_defaults && code.flags & node_flags::DEFAULTS != 0) {
            self.pass_slowly(code, from, to)?;
        }
        Ok(())
    }

    #[cold]
    fn pass_slowly(&mut self, code: &NodeCode, from: u32, to: u32) -> Result<()> {
        let slots = self.slots(code);
        for slot in slots.get(from as usize..to as usize).unwrap_or_default() {
            self.absent(slot)?;
        }
        Ok(())
    }

    pub(super) fn absent(&mut self, slot: &Slot) -> Result<()> {
        if slot.flags & flags::REQUIRED != 0 {
            self.detail = Some(Detail::Field(slot.field));
            return Err(self.fault(ErrorKind::MissingComponent));
        }
        if slot.flags & flags::DEFAULT != 0
            && self.options.fill_defaults
            && let Presence::Default(constant) = self.shape.field(slot.field).presence
        {
            self.sink.absent(slot.field, slot.node, constant);
        }
        Ok(())
    }

    fn list(&mut self) -> Result<()> {
        let code = self.code();
        let Some(slot) = self.slots(code).first() else { return self.close() };
        if self.strict {
            self.check_last(code.kind == Kind::SetOf)?;
        }
        let has_order = self.strict && code.kind == Kind::SetOf;
        let mut count = self.cur().cursor;
        loop {
            let head = match self.step() {
                Ok(Some(head)) => head,
                other => {
                    self.cur_mut().cursor = count;
                    return other.and_then(|_| self.close());
                }
            };
            count = count.saturating_add(1);
            if slot.tag != head.tag && slot.tag != tercet_plan::ber::UNTAGGED {
                self.cur_mut().cursor = count;
                self.at_slot = code.first;
                self.detail = Some(Detail::Expected(slot.tag, head.tag));
                return Err(self.fault(ErrorKind::TagMismatch));
            }
            if has_order || !self.fast_leaf(slot, &head, self.pos) {
                self.cur_mut().cursor = count;
                return self.component(code, 0, head);
            }
            self.pos += head.size + head.length;
        }
    }

    /// Reads a component by the slow path.
    #[inline]
    pub(super) fn component(&mut self, code: &NodeCode, number: u32, head: Head) -> Result<()> {
        if self.strict
            && (matches!(code.kind, Kind::Set | Kind::SetOf)
                || self.program.slots[(code.first + number) as usize].flags & flags::DEFAULT != 0)
        {
            self.begin_checks(code, number, &head)?;
        }
        self.value(code.first + number, head, 0)
    }

    /// Reads the element of a frame that has one value.
    fn single(&mut self) -> Result<()> {
        if self.cur().done {
            if self.cur().kind == FrameKind::Content {
                if self.pos != self.end {
                    return Err(self.fault(ErrorKind::TrailingData));
                }
            } else if self.step()?.is_some() {
                return Err(self.fault(ErrorKind::UnexpectedElement));
            }
            return self.close();
        }
        let index = self.cur().cursor_slot();
        let slot = self.program.slots[index as usize];
        let level = if self.cur().kind == FrameKind::Wrap { self.cur().cursor as usize } else { 0 };
        self.at_slot = index;
        let Some(head) = self.step()? else {
            return Err(self.at_end(self.fault(ErrorKind::MissingComponent)));
        };
        let expected = match level {
            0 => Some(slot.tag).filter(|tag| *tag != tercet_plan::ber::UNTAGGED),
            _ => self.program.chain(&slot).get(level - 1).copied(),
        };
        if let Some(expected) = expected
            && expected != head.tag
        {
            self.detail = Some(Detail::Expected(expected, head.tag));
            return Err(self.fault(ErrorKind::TagMismatch));
        }
        self.cur_mut().done = true;
        self.value(index, head, level)
    }

    // Stack

    /// Begins the contents of a constructed element whose header is at the current position.
    ///
    /// Inlined, like [`Frame::inside`] and the push, so that the frame is made in its place: built elsewhere and copied,
    /// it costs a tenth of the time of deep values.
    #[inline(always)]
    pub(super) fn enter(&mut self, head: &Head, mut frame: Frame) -> Result<()> {
        if !head.constructed {
            return Err(self.fault(ErrorKind::ConstructedExpected));
        }
        self.pos += head.size;
        frame.indefinite = head.indefinite;
        if !head.indefinite {
            frame.end = self.pos + head.length;
            frame.bounded = true;
        }
        self.push(frame);
        Ok(())
    }

    /// Takes one level of the depth limit, for a value with parts. Its tags do not count.
    #[inline(always)]
    pub(super) fn deeper(&mut self) -> Result<()> {
        self.depth = match self.depth.checked_sub(1) {
            Some(depth) => depth,
            None => return Err(self.fault(ErrorKind::DepthLimit)),
        };
        Ok(())
    }

    #[inline(always)]
    pub(super) fn push(&mut self, frame: Frame) {
        self.at_slot = NONE;
        self.end = frame.end;
        self.frames.push(frame);
        if self.strict {
            self.state.outer_checks.push(self.checks);
            self.checks = Checks::default();
        }
    }

    /// Begins a SEQUENCE, SET, SEQUENCE OF or SET OF.
    #[inline(always)]
    pub(super) fn open(&mut self, index: u32, slot: &Slot, head: &Head) -> Result<()> {
        let kind = match slot.kind {
            Kind::Sequence => FrameKind::Sequence,
            Kind::Set => FrameKind::Set,
            _ => FrameKind::List,
        };
        let code = &self.program.nodes[slot.node.index()];
        let mut frame = self.cur().inside(kind, index, slot.node.0, 0);
        if kind == FrameKind::Set && code.count > 64 {
            frame.more = self.state.bits.len() as u32;
            let words = (code.count as usize - 1) / 64;
            self.state.bits.resize(self.state.bits.len() + words, 0);
        }
        self.deeper()?;
        let at = self.pos;
        self.enter(head, frame)?;
        if self.sink.wants_places() {
            self.place_header(slot, at, head);
        }
        self.sink.open(slot.field, slot.node);
        self.pending_key = None;
        if code.flags & (node_flags::KEYS | node_flags::SCOPE) != 0 {
            self.begin_keys(slot.node, code);
        }
        Ok(())
    }

    /// Ends the value of the current frame, whose contents have been read to their end.
    pub(super) fn close(&mut self) -> Result<()> {
        let frame = *self.cur();
        match frame.kind {
            FrameKind::Sequence => {
                let code = self.code();
                self.pass(code, frame.cursor, code.count).map_err(|fault| self.at_end(fault))?;
                self.end_keys(code);
            }
            FrameKind::Set => {
                self.close_set().map_err(|fault| self.at_end(fault))?;
                self.end_keys(self.code());
            }
            FrameKind::List if self.strict => self.check_count(u64::from(frame.cursor))?,
            FrameKind::Wrap
            | FrameKind::List
            | FrameKind::Choice
            | FrameKind::Open
            | FrameKind::Content
            | FrameKind::Root => {}
        }
        if frame.kind != FrameKind::Wrap {
            let slot = &self.program.slots[frame.slot as usize];
            self.sink.close(slot.field, slot.node);
        }
        if !matches!(frame.kind, FrameKind::Wrap | FrameKind::Root) {
            self.depth += 1;
        }
        self.frames.pop();
        self.end = self.cur().end;
        if self.strict {
            self.checks = self.state.outer_checks.pop().unwrap_or_default();
        }
        Ok(())
    }

    /// Moves a fault to the end of the current value, in front of the end-of-contents octets that may have been read.
    #[cold]
    fn at_end(&self, fault: Fault) -> Fault {
        let octets = if self.cur().indefinite { 2 } else { 0 };
        Fault::new(fault.kind(), fault.at().saturating_sub(octets))
    }

    // Unknown elements

    /// Handles an element that no component from the current one on begins with.
    #[cold]
    pub(super) fn unknown(&mut self, head: Head) -> Result<()> {
        let code = self.code();
        self.detail = Some(Detail::Tag(head.tag));
        let extensible = code.flags & node_flags::EXTENSIBLE != 0;
        // A component that has been passed comes late or twice, unless it may be an addition of a later version.
        if let Some(number) = self.program.find(code, head.tag, 0)
            && !(extensible && head.tag >> 30 == 0)
        {
            self.detail = self.slots(code).get(number as usize).map(|slot| Detail::Field(slot.field));
            return Err(self.fault(ErrorKind::UnexpectedElement));
        }
        if !self.keeps_unknown(extensible) {
            return Err(self.fault(ErrorKind::UnexpectedElement));
        }
        if self.strict {
            self.take_order(code, head.tag)?;
            self.checks.unchecked = 0;
        }
        if self.options.unknown != Unknown::Keep {
            self.go_to_additions(code, head.tag)?;
        }
        self.keep_unknown()
    }

    /// Moves the cursor to the extension additions of a SEQUENCE. Elements of later versions come after the known additions
    /// (X.680 25.4), so the components in front of them are absent.
    fn go_to_additions(&mut self, code: &NodeCode, tag: u32) -> Result<()> {
        if code.kind != Kind::Sequence {
            return Ok(());
        }
        let from = self.cur().cursor;
        let is_late = from > code.second_root;
        let to = if is_late { code.count } else { code.second_root };
        let detail = self.detail.take();
        self.pass(code, from, to)?;
        self.detail = detail;
        if is_late {
            if let Some(number) = self.program.find(code, tag, 0) {
                self.detail = self.slots(code).get(number as usize).map(|slot| Detail::Field(slot.field));
            }
            return Err(self.fault(ErrorKind::UnexpectedElement));
        }
        self.cur_mut().cursor = to;
        Ok(())
    }

    pub(super) fn keeps_unknown(&self, extensible: bool) -> bool {
        match self.options.unknown {
            Unknown::Error => false,
            Unknown::Extensible => extensible,
            Unknown::Keep => true,
        }
    }

    /// Reports the current element to the sink as unknown.
    pub(super) fn keep_unknown(&mut self) -> Result<()> {
        let start = self.pos;
        let element = self.element()?;
        if self.sink.wants_places() {
            self.place_unread((FieldId::ROOT, NodeId(self.cur().node)), start);
        }
        self.sink.unknown(u32::MAX, Leaf::Input { at: start, contents: element });
        self.detail = None;
        Ok(())
    }

    /// Steps over the current element, and checks the headers inside.
    pub(super) fn element(&mut self) -> Result<&'a [u8]> {
        let mut reader = self.reader();
        let element = reader.read_header().and_then(|header| reader.skip_checked(&header));
        let element = element.map_err(|e| self.bounded(e))?;
        self.pos += element.len();
        Ok(element)
    }
}

impl Frame {
    /// Returns the slot of the value that a frame of one value waits for.
    fn cursor_slot(&self) -> u32 {
        if self.kind == FrameKind::Wrap { self.slot } else { self.cursor }
    }
}
