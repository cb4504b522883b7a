//! Decoding: an explicit stack of frames over a cursor of octets.
//!
//! Preambles and bitmaps are not copied: a frame remembers where they stand in the input. Under CANONICAL-OER each
//! choice that BASIC-OER leaves to the sender is checked where it is read (clause 31); see [`super::canonical`].

use super::encode::EncodeState;
use super::frame::{Frame, What};
use crate::event::{Leaf, Sink};
use crate::keys::Registers;
use crate::{Error, Options, Part, Tape, Unknown, path};
use tercet_plan::oer::{Addition, Code, Member, Program};
use tercet_plan::shape::Presence;
use tercet_plan::{FieldId, NodeId, Shape};
use tercet_runtime::ber::{Rules, Writer, decode_bit_string};
use tercet_runtime::oer::Reader;
use tercet_runtime::{Error as Fault, ErrorKind};

/// Elements of no octets in one value: they cost nothing to announce, so they are counted.
const EMPTY_ELEMENTS: usize = 65_536;

/// What a decoder keeps from value to value.
#[derive(Debug, Default)]
pub(crate) struct DecodeState {
    pub(super) frames: Vec<Frame>,
    pub(super) registers: Registers,
    pub(super) made: Vec<u8>,
    pub(super) normal: Writer,
    /// For reading what is in strings ahead.
    pub(super) trial: Option<Box<Self>>,
    /// For the encodings of DEFAULTs.
    pub(super) default: Option<Box<DefaultState>>,
}

/// What writes a DEFAULT.
#[derive(Debug, Default)]
pub(super) struct DefaultState {
    pub(super) tape: Tape,
    pub(super) encoder: EncodeState,
    pub(super) octets: Vec<u8>,
}

pub(super) type Result<T> = std::result::Result<T, Fault>;

/// Decodes one value of `root` from the front of the input: the octets taken.
pub(crate) fn decode(
    state: &mut DecodeState,
    shape: &Shape,
    program: &Program,
    root: NodeId,
    input: &[u8],
    sink: &mut impl Sink,
    options: &Options,
) -> std::result::Result<usize, Error> {
    state.frames.clear();
    state.registers.begin(shape);
    let mut engine = Engine::new(state, shape, program, input, sink, options);
    match engine.value(FieldId::ROOT, root).and_then(|()| engine.run()) {
        Ok(octets) => Ok(octets),
        Err(fault) => {
            let values = engine.state.frames.iter().filter_map(Frame::value);
            let path = path::of_begun(shape, values, engine.at, root);
            let error = Error::from(fault.shifted(options.base_offset)).with_path(path);
            Err(if fault.kind() == ErrorKind::NotCanonical { error.with_detail(engine.why) } else { error })
        }
    }
}

pub(super) struct Engine<'a, S> {
    pub(super) state: &'a mut DecodeState,
    pub(super) shape: &'a Shape,
    pub(super) program: &'a Program,
    pub(super) reader: Reader<'a>,
    pub(super) sink: &'a mut S,
    pub(super) options: &'a Options,
    /// Values that may still come.
    pub(super) left: u64,
    /// Events of parts that may have no octets, and those among them of elements that had none.
    pub(super) said: usize,
    pub(super) empty: usize,
    /// The register of a CHOICE that is a key, and the alternatives taken so far, the outermost first.
    pub(super) pending_key: Option<(u16, Vec<FieldId>)>,
    /// The field being read, for the path of an error.
    pub(super) at: FieldId,
    /// What is not canonical.
    pub(super) why: &'static str,
}

impl<'a, S: Sink> Engine<'a, S> {
    pub(super) fn new(
        state: &'a mut DecodeState,
        shape: &'a Shape,
        program: &'a Program,
        input: &'a [u8],
        sink: &'a mut S,
        options: &'a Options,
    ) -> Self {
        Self {
            state,
            shape,
            program,
            reader: Reader::new(input),
            sink,
            options,
            left: options.limits.elements,
            said: 0,
            empty: 0,
            pending_key: None,
            at: FieldId::ROOT,
            why: "",
        }
    }

    /// Reads what has begun to its end; the answer is the number of octets.
    pub(super) fn run(&mut self) -> Result<usize> {
        while let Some(frame) = self.state.frames.last().copied() {
            match frame.what {
                What::Members => self.members(frame)?,
                What::Additions => self.additions(frame)?,
                What::Group => self.group(frame)?,
                What::List => self.list(frame)?,
                What::Choice | What::Open => self.end(&frame),
                What::Wrapper => {
                    self.state.frames.pop();
                    self.leave_wrapper(&frame)?;
                }
            }
        }
        Ok(self.reader.position())
    }

    /// Reads or begins a value.
    pub(super) fn value(&mut self, field: FieldId, node: NodeId) -> Result<()> {
        let (mut field, mut node) = (field, node);
        loop {
            self.at = field;
            let Some(&code) = self.program.nodes.get(node.index()) else {
                return Err(self.fault(ErrorKind::Unsupported));
            };
            let next = match code {
                Code::Sequence(code) => return self.sequence(field, node, code),
                Code::SequenceOf => return self.begin_list(field, node),
                Code::Choice(code) => self.choice(field, node, code)?,
                Code::Open => self.open_type(field, node)?,
                Code::OctetsContaining(size) => self.octets_containing(field, node, size)?,
                Code::BitsContaining(size, _) => self.bits_containing(field, node, size)?,
                code => return self.leaf(field, node, code),
            };
            match next {
                Some(inner) => (field, node) = inner,
                None => return Ok(()),
            }
        }
    }

    /// That there may be a frame more.
    fn deeper(&self) -> Result<()> {
        let limit = usize::from(self.options.limits.depth.min(1000));
        if self.state.frames.len() >= limit { self.deepest(limit) } else { Ok(()) }
    }

    /// Counts the values among the frames: those of extensions are no level of their own.
    #[cold]
    #[inline(never)]
    fn deepest(&self, limit: usize) -> Result<()> {
        if self.values() >= limit { Err(self.fault(ErrorKind::DepthLimit)) } else { Ok(()) }
    }

    fn values(&self) -> usize {
        self.state.frames.iter().filter(|frame| frame.is_value()).count()
    }

    /// How many values may still begin.
    pub(super) fn levels_left(&self) -> u16 {
        self.options.limits.depth.min(1000).saturating_sub(self.values() as u16)
    }

    pub(super) fn push(&mut self, frame: Frame) -> Result<()> {
        if frame.is_value() {
            self.deeper()?;
        }
        self.state.frames.push(frame);
        Ok(())
    }

    pub(super) fn fault(&self, kind: ErrorKind) -> Fault {
        self.reader.error(kind)
    }

    /// One more value; elements have a limit.
    #[inline]
    pub(super) fn count(&mut self) -> Result<()> {
        match self.left.checked_sub(1) {
            Some(left) => self.left = left,
            None => return Err(self.fault(ErrorKind::LimitExceeded)),
        }
        self.said += 1;
        Ok(())
    }

    pub(super) fn replace(&mut self, frame: Frame) {
        if let Some(top) = self.state.frames.last_mut() {
            *top = frame;
        }
    }

    pub(super) fn end(&mut self, frame: &Frame) {
        self.state.frames.pop();
        self.sink.close(frame.field, frame.node);
    }

    // SEQUENCE and SET (§16, §18)

    fn sequence(&mut self, field: FieldId, node: NodeId, code: u32) -> Result<()> {
        let sequence = &self.program.sequences[code as usize];
        self.deeper()?;
        self.state.registers.enter(&sequence.scopes, &sequence.keys);
        self.pending_key = None;
        self.count()?;
        let mut frame = Frame::new(What::Members, field, node, code);
        frame.bits = self.preamble(usize::from(sequence.extensible), sequence.optional)?;
        self.place_from((field, node), Part::Preamble, frame.bits / 8);
        if sequence.extensible {
            frame.more = self.bit_at(frame.bits);
            frame.bits += 1;
        }
        self.sink.open(field, node);
        self.push(frame)
    }

    /// A SEQUENCE or SET ends, and with it its keys.
    fn end_sequence(&mut self, frame: &Frame) {
        let scopes = self.program.sequences[frame.code as usize].scopes.len();
        self.state.registers.leave(scopes);
        self.end(frame);
    }

    /// Steps over a preamble, which fills up whole octets (§16.2.4); the answer is where its bits are.
    fn preamble(&mut self, before: usize, optional: u32) -> Result<usize> {
        let (start, bits) = (self.reader, before + optional as usize);
        let octets = self.reader.take(bits.div_ceil(8))?;
        if self.program.canonical {
            self.check_padding(&start, octets, octets.len() * 8 - bits)?;
        }
        Ok(start.position() * 8)
    }

    /// Goes on with the root members.
    fn members(&mut self, mut frame: Frame) -> Result<()> {
        let program = self.program;
        let sequence = &program.sequences[frame.code as usize];
        if self.each(&mut frame, &sequence.root)? {
            return Ok(());
        }
        if frame.more {
            self.begin_additions(&mut frame)?;
            self.replace(frame);
        } else {
            self.absent_additions(&frame, &sequence.additions);
            self.end_sequence(&frame);
        }
        Ok(())
    }

    /// Reads members until one has begun that needs a frame of its own (`true`) or all are read.
    fn each(&mut self, frame: &mut Frame, members: &[Member]) -> Result<bool> {
        let program = self.program;
        let first = self.shape.node(frame.node).first;
        if program.canonical
            && let Some(last) = frame.cursor.checked_sub(1).and_then(|last| members.get(last as usize))
        {
            // What needed a frame of its own is complete now.
            self.check_default(FieldId(first + last.field), frame.begun)?;
        }
        while let Some(member) = members.get(frame.cursor as usize) {
            frame.cursor += 1;
            frame.begun = self.reader.position();
            let id = FieldId(first + member.field);
            if member.optional {
                let there = self.bit_at(frame.bits);
                frame.bits += 1;
                if !there {
                    self.absent(id);
                    continue;
                }
            }
            self.at = id;
            let node = self.shape.field(id).node;
            let code = program.nodes[node.index()];
            if code.is_framed() {
                self.replace(*frame);
                self.value(id, node)?;
                return Ok(true);
            }
            self.leaf(id, node, code)?;
            if program.canonical {
                self.check_default(id, frame.begun)?;
            }
        }
        Ok(false)
    }

    /// A bit that has been passed over.
    pub(super) fn bit_at(&self, at: usize) -> bool {
        let octet = self.reader.octets(at >> 3, (at >> 3) + 1).first().copied().unwrap_or_default();
        octet << (at & 7) & 0x80 != 0
    }

    fn absent(&mut self, id: FieldId) {
        if self.options.fill_defaults
            && let field = self.shape.field(id)
            && let Presence::Default(constant) = field.presence
        {
            self.sink.absent(id, field.node, constant);
        }
    }

    // Extension additions (§16.4, §16.5)

    fn begin_additions(&mut self, frame: &mut Frame) -> Result<()> {
        self.at = FieldId::BEGUN;
        let owner = (FieldId::BEGUN, frame.node);
        let length = self.length_of(owner)?;
        let start = self.reader;
        let octets = self.reader.take(length)?;
        self.place_from(owner, Part::Bitmap, start.position());
        let rules = if self.program.canonical { Rules::Der } else { Rules::Ber };
        let bitmap = decode_bit_string(octets, start.position() as u64, rules)?;
        if self.program.canonical && !bitmap.iter().any(|bit| bit) {
            return Err(self.not_canonical(&start, "no addition is present (X.696 16.2.2)"));
        }
        frame.what = What::Additions;
        frame.cursor = 0;
        frame.count = u32::try_from(bitmap.len()).map_err(|_| start.error(ErrorKind::LimitExceeded))?;
        frame.bits = (start.position() + 1) * 8;
        if (frame.count as usize) < self.program.sequences[frame.code as usize].additions.len() {
            self.sink.earlier(frame.count);
        }
        Ok(())
    }

    fn additions(&mut self, mut frame: Frame) -> Result<()> {
        let program = self.program;
        let additions = &program.sequences[frame.code as usize].additions;
        if program.canonical
            && let Some(Addition::Single(field)) =
                frame.cursor.checked_sub(1).and_then(|last| additions.get(last as usize))
        {
            let id = FieldId(self.shape.node(frame.node).first + field);
            self.check_default(id, frame.begun)?;
        }
        while frame.cursor < frame.count {
            let number = frame.cursor;
            frame.cursor += 1;
            frame.begun = self.reader.position();
            let known = additions.get(number as usize);
            if !self.bit_at(frame.bits + number as usize) {
                self.absent_additions(&frame, known.map(std::slice::from_ref).unwrap_or_default());
                continue;
            }
            self.at = FieldId::BEGUN;
            match known {
                None => self.unknown(frame.node, number)?,
                Some(Addition::Single(field)) => {
                    let id = FieldId(self.shape.node(frame.node).first + field);
                    let node = self.shape.field(id).node;
                    self.at = id;
                    let length = self.length_of((id, node))?;
                    frame.begun = self.reader.position();
                    self.replace(frame);
                    self.begin_wrapper(id, node, length)?;
                    return self.value(id, node);
                }
                Some(Addition::Group { optional, .. }) => {
                    self.replace(frame);
                    let owner = (FieldId::BEGUN, frame.node);
                    let length = self.length_of(owner)?;
                    self.begin_wrapper(FieldId::BEGUN, frame.node, length)?;
                    let mut group = Frame::new(What::Group, frame.field, frame.node, frame.code);
                    group.addition = number;
                    group.bits = self.preamble(0, *optional)?;
                    self.place_from(owner, Part::Preamble, group.bits / 8);
                    return self.push(group);
                }
            }
        }
        if frame.count as usize > additions.len()
            && !self.bit_at(frame.bits + frame.count as usize - 1)
            && self.options.unknown != Unknown::Error
        {
            // Nothing but the length of the bitmap, so that it can be written again.
            self.sink.unknown(frame.count - 1, Leaf::Made(&[]));
        }
        let told = (frame.count as usize).min(additions.len());
        self.absent_additions(&frame, &additions[told..]);
        self.end_sequence(&frame);
        Ok(())
    }

    fn absent_additions(&mut self, frame: &Frame, additions: &[Addition]) {
        if !self.options.fill_defaults {
            return;
        }
        let first = self.shape.node(frame.node).first;
        for addition in additions {
            if let Addition::Single(field) = addition {
                self.absent(FieldId(first + field));
            }
        }
    }

    fn group(&mut self, mut frame: Frame) -> Result<()> {
        let program = self.program;
        let additions = &program.sequences[frame.code as usize].additions;
        if program.canonical && frame.cursor == 0 {
            self.check_bracket(&frame, additions.get(frame.addition as usize))?;
        }
        if let Some(Addition::Group { members, .. }) = additions.get(frame.addition as usize)
            && self.each(&mut frame, members)?
        {
            return Ok(());
        }
        self.state.frames.pop();
        Ok(())
    }

    /// An addition that the schema does not know.
    fn unknown(&mut self, around: NodeId, number: u32) -> Result<()> {
        if self.options.unknown == Unknown::Error {
            return Err(self.fault(ErrorKind::UnexpectedElement));
        }
        let owner = (FieldId::ROOT, around);
        let length = self.length_of(owner)?;
        let at = self.reader.position();
        let contents = self.reader.take(length)?;
        self.place_from(owner, Part::Contents, at);
        self.sink.unknown(number, Leaf::Input { at, contents });
        Ok(())
    }

    // Lists (§17, §19)

    fn begin_list(&mut self, field: FieldId, node: NodeId) -> Result<()> {
        self.deeper()?;
        self.count()?;
        let mut frame = Frame::new(What::List, field, node, 0);
        let start = self.reader.position();
        frame.left = self.quantity()?;
        self.place_number((field, node), Part::Quantity, start, frame.left);
        self.check_quantity(node, frame.left)?;
        self.sink.open(field, node);
        self.push(frame)
    }

    fn list(&mut self, mut frame: Frame) -> Result<()> {
        let id = FieldId(self.shape.node(frame.node).first);
        let node = self.shape.field(id).node;
        let code = self.program.nodes[node.index()];
        if frame.cursor > 0 && code.is_framed() {
            self.at = id;
            self.element_read(&frame)?;
        }
        while let Some(left) = frame.left.checked_sub(1) {
            frame.left = left;
            frame.cursor = frame.cursor.saturating_add(1);
            (frame.before, frame.begun) = (frame.begun, self.reader.position());
            frame.said = self.said;
            if code.is_framed() {
                self.replace(frame);
                return self.value(id, node);
            }
            self.at = id;
            if let Err(fault) = self.leaf(id, node, code).and_then(|()| self.element_read(&frame)) {
                self.replace(frame);
                return Err(fault);
            }
        }
        self.end(&frame);
        Ok(())
    }

    /// An element is complete: those of no octets are counted, and those of a SET OF ascend under CANONICAL-OER.
    #[inline]
    fn element_read(&mut self, frame: &Frame) -> Result<()> {
        if self.reader.position() == frame.begun {
            self.empty += self.said - frame.said;
            if self.empty > EMPTY_ELEMENTS {
                return Err(self.fault(ErrorKind::LimitExceeded));
            }
        }
        if self.program.canonical && frame.cursor > 1 { self.check_order(frame) } else { Ok(()) }
    }

    // CHOICE (§20)

    /// Begins a CHOICE: the alternative that follows, unless it has been read.
    fn choice(&mut self, field: FieldId, node: NodeId, code: u32) -> Result<Option<(FieldId, NodeId)>> {
        let program = self.program;
        let choice = &program.choices[code as usize];
        self.deeper()?;
        self.count()?;
        if let Some(key) = self.key_of(field) {
            self.pending_key = Some((key, Vec::new()));
        }
        let start = self.reader;
        let tag = self.reader.tag()?;
        let Some(number) = choice.find(tag.bits()) else {
            if !choice.extensible && self.options.unknown != Unknown::Keep
                || self.options.unknown == Unknown::Error
            {
                return Err(start.error(ErrorKind::UnknownAlternative));
            }
            // The tag, a length and octets (§20.2): all of it is needed to write it again.
            let owner = (FieldId::ROOT, node);
            self.place_from((field, node), Part::Tag, start.position());
            let tagged = self.reader.position();
            let length = self.length()?;
            let inside = self.reader.position();
            self.reader.take(length)?;
            let contents = self.reader.octets(start.position(), self.reader.position());
            self.sink.open(field, node);
            if self.sink.wants_places() {
                self.place(owner, Part::Length, tagged, inside, Some(length as u64));
                self.place_from(owner, Part::Contents, inside);
            }
            self.sink.unknown(u32::MAX, Leaf::Input { at: start.position(), contents });
            self.sink.close(field, node);
            return Ok(None);
        };
        let alternative = choice.alternatives[number as usize];
        let id = FieldId(self.shape.node(node).first + number);
        let inner = self.shape.field(id).node;
        if let Some((_, alternatives)) = &mut self.pending_key {
            alternatives.push(id);
        }
        // The tag is that of the alternative inside, which is read again.
        let is_untagged = !alternative.addition && alternative.tag == tercet_plan::oer::UNTAGGED;
        if !is_untagged {
            self.place_from((field, node), Part::Tag, start.position());
        }
        self.sink.open(field, node);
        self.push(Frame::new(What::Choice, field, node, code))?;
        if alternative.addition {
            self.at = id;
            let length = self.length_of((id, inner))?;
            self.begin_wrapper(id, inner, length)?;
        } else if is_untagged {
            self.reader = start;
        }
        Ok(Some((id, inner)))
    }
}
