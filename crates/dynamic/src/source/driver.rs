//! The driver: reads the values of a [`Source`] by their types, with a stack of its own.

use super::{Alternative, Content, Fault, Found, InPath, Notes, Source};
use crate::event::Sink;
use crate::keys::{self, Registers};
use crate::tape::Tape;
use rustc_hash::FxHashMap;
use tercet_plan::shape::{Field, Key, Place, Presence};
use tercet_plan::{FieldId, Kind, NodeId, Shape};

/// From so many fields on names are looked up by hashing.
const MANY_FIELDS: u32 = 12;

/// So many fields are compared with a name before that.
const NEAR_FIELDS: usize = 2;

/// CHOICEs inside one another in a key.
const MAX_KEY_DEPTH: u8 = 8;

/// What is kept from value to value of a shape.
#[derive(Debug)]
pub struct Memory<'s> {
    shape: &'s Shape,
    /// Fields by name, of nodes with many, once they were met.
    names: FxHashMap<NodeId, FxHashMap<&'s str, usize>>,
    /// What the tables of open types are looked up with.
    registers: Registers,
}

impl<'s> Memory<'s> {
    /// Makes the memory for values of a shape.
    pub fn new(shape: &'s Shape) -> Self {
        Self { shape, names: FxHashMap::default(), registers: Registers::default() }
    }

    pub(crate) const fn shape(&self) -> &'s Shape {
        self.shape
    }

    /// Forgets the keys of the value before.
    pub(crate) fn begin(&mut self) {
        self.registers.begin(self.shape);
    }

    /// Keeps a key for the open types that it decides about.
    pub(crate) fn set_key(&mut self, register: u16, key: Option<Key>) {
        match key {
            Some(key) => self.registers.set(self.shape, register, key, []),
            None => self.registers.forget(register),
        }
    }

    /// Returns the type in an open type that the keys select.
    pub(crate) fn selected(&self, open: NodeId) -> Option<NodeId> {
        let table = self.shape.node(open).table.as_ref()?;
        keys::row(self.shape, table, &self.registers).0
    }

    /// Returns the position of a component or alternative by its name; `probably` is the position to try first.
    #[inline]
    pub(super) fn position<S: Source>(
        &mut self,
        source: &S,
        node: NodeId,
        name: &str,
        probably: usize,
    ) -> Option<usize> {
        let shape = self.shape;
        let it = shape.node(node);
        let is_it = |index: usize| source.name_of(shape, FieldId(it.first + index as u32)) == name;
        let count = it.count as usize;
        // Most documents have the components in the order of the type, with a few absent.
        if let Some(index) = (probably..count).take(NEAR_FIELDS).find(|index| is_it(*index)) {
            return Some(index);
        }
        if it.count < MANY_FIELDS {
            return (0..count).find(|index| is_it(*index));
        }
        let names = self.names.entry(node).or_insert_with(|| {
            let fields = shape.fields_of(node).enumerate();
            fields.map(|(index, (id, _))| (source.name_of(shape, id), index)).collect()
        });
        names.get(name).copied()
    }
}

/// Returns whether an absent component must be there: one of the root, or one of a version bracket of which any other
/// component is present (X.680 25.13).
pub(crate) fn is_missing(absent: &Field, is_present: impl Fn(Place) -> bool) -> bool {
    absent.presence == Presence::Mandatory
        && match absent.place {
            Place::Root => true,
            Place::Addition(_) => false,
            Place::Group(_) => is_present(absent.place),
        }
}

/// Reads one document; `notes` receives the places of its values ([`Notes`]).
#[derive(Debug)]
pub struct Driver<'a, 's, S: Source, N = ()> {
    source: &'a S,
    memory: &'a mut Memory<'s>,
    tape: &'a mut Tape,
    /// The values with parts that have begun, the outermost first.
    frames: Vec<Frame<S>>,
    /// Places of the components of the SEQUENCEs and SETs among them.
    slots: Vec<Option<S::At>>,
    /// Values that may be inside one another.
    depth: usize,
    notes: N,
}

/// A value with parts that has begun.
#[derive(Debug)]
struct Frame<S: Source> {
    field: FieldId,
    node: NodeId,
    parts: Parts<S>,
}

#[derive(Debug)]
enum Parts<S: Source> {
    Components {
        /// Slot of the first one.
        base: usize,
        /// The number of the next one.
        next: u32,
        /// Keys among them, which are read before the components that they decide about.
        keys: Vec<(u16, Option<Key>)>,
        additions: Option<S::At>,
    },
    Elements {
        elements: S::Elements,
        /// Number of those that have begun.
        begun: usize,
        element: (FieldId, NodeId),
    },
    /// A CHOICE whose alternative has begun.
    Alternative(Option<FieldId>),
    /// An open type or a string with CONTAINING whose content has begun, and the step to it in paths.
    Content(Option<S::Name>),
}

/// A value that comes next.
type Next<S> = (<S as Source>::At, FieldId, NodeId);

impl<'a, 's, S: Source> Driver<'a, 's, S> {
    /// Reads a value of type `root` onto a tape, which is cleared first. No more than `depth`, or 1,000, values with parts
    /// may be inside one another.
    ///
    /// # Errors
    /// The first fault, with its path from the outermost value, without the name of that. The tape is then worth nothing.
    pub fn read(
        source: &'a S,
        memory: &'a mut Memory<'s>,
        root: NodeId,
        at: S::At,
        tape: &'a mut Tape,
        depth: u16,
    ) -> Result<(), S::Error> {
        Self::read_noted(source, memory, root, at, tape, depth, ())
    }
}

impl<'a, 's, S: Source, N: Notes> Driver<'a, 's, S, N> {
    /// Reads a value as [`Driver::read`] does, and notes where the values on the tape are in the document.
    ///
    /// # Errors
    /// See [`Driver::read`]. What was noted is of the entries that the tape has.
    pub fn read_noted(
        source: &'a S,
        memory: &'a mut Memory<'s>,
        root: NodeId,
        at: S::At,
        tape: &'a mut Tape,
        depth: u16,
        notes: N,
    ) -> Result<(), S::Error> {
        tape.clear();
        memory.begin();
        let depth = usize::from(depth.min(1000));
        let mut driver = Self {
            source,
            memory,
            tape,
            frames: Vec::with_capacity(16),
            slots: Vec::with_capacity(64),
            depth,
            notes,
        };
        driver.run((at, FieldId::ROOT, root))
    }

    /// Reads a value with all its parts.
    fn run(&mut self, value: Next<S>) -> Result<(), S::Error> {
        let base = self.frames.len();
        self.parts(value, base).map_err(|error| self.in_path(error, base))
    }

    fn parts(&mut self, value: Next<S>, base: usize) -> Result<(), S::Error> {
        let mut next = Some(value);
        loop {
            next = match next {
                Some((at, field, node)) => self.value(at, field, node)?,
                None if self.frames.len() == base => return Ok(()),
                None => self.next()?,
            };
        }
    }

    /// Puts a leaf, or begins a value with parts; returns its part if it has just one.
    fn value(&mut self, at: S::At, field: FieldId, node: NodeId) -> Result<Option<Next<S>>, S::Error> {
        let it = self.memory.shape.node(node);
        match it.kind {
            Kind::Sequence | Kind::Set => self.components(&at, field, node)?,
            Kind::SequenceOf | Kind::SetOf => {
                let Some((id, element)) = self.memory.shape.fields_of(node).next() else {
                    return Err(self.source.fault(&at, Fault::NoElement));
                };
                let elements = self.source.elements(&at, field, node)?;
                let parts = Parts::Elements { elements, begun: 0, element: (id, element.node) };
                self.begin(&at, field, node, parts)?;
            }
            Kind::Choice => return self.alternative(&at, field, node),
            Kind::Open => {
                let content = self.source.content(&at, node, self.memory.selected(node))?;
                return self.content(&at, field, node, content);
            }
            Kind::OctetString | Kind::BitString => {
                let Some(inner) = it.containing else { return self.leaf(&at, field, node).map(|()| None) };
                let content = self.source.contained(&at, node, inner)?;
                return self.content(&at, field, node, content);
            }
            _ => self.leaf(&at, field, node)?,
        }
        Ok(None)
    }

    /// Begins an open type or a string with CONTAINING, or puts its octets; returns the content.
    fn content(
        &mut self,
        at: &S::At,
        field: FieldId,
        node: NodeId,
        content: Content<S>,
    ) -> Result<Option<Next<S>>, S::Error> {
        match content {
            Content::Value(inner, value, step) => {
                self.begin(at, field, node, Parts::Content(step))?;
                return Ok(Some((value, FieldId::ROOT, inner)));
            }
            Content::Either(inner, value) => {
                let mark = self.tape.mark();
                self.begin(at, field, node, Parts::Content(None))?;
                if self.attempt(&value, FieldId::ROOT, inner).is_err() {
                    self.frames.pop();
                    if let Some(mark) = mark {
                        self.tape.take_back(mark);
                    }
                    self.leaf(&value, field, node)?;
                }
            }
            Content::Encoding(value) => self.leaf(&value, field, node)?,
        }
        Ok(None)
    }

    #[inline]
    fn leaf(&mut self, at: &S::At, field: FieldId, node: NodeId) -> Result<(), S::Error> {
        let leaf = self.source.leaf(at, field, node)?;
        self.notes.note(self.source, at, self.tape.len(), 1);
        leaf.put(field, node, self.tape);
        Ok(())
    }

    /// Puts extension additions that the type does not know.
    fn unknown(&mut self, at: &S::At) -> Result<(), S::Error> {
        let before = self.tape.len();
        self.source.unknown(at, self.tape)?;
        self.notes.note(self.source, at, before, self.tape.len() - before);
        Ok(())
    }

    fn begin(&mut self, at: &S::At, field: FieldId, node: NodeId, parts: Parts<S>) -> Result<(), S::Error> {
        if self.frames.len() >= self.depth {
            return Err(self.source.fault(at, Fault::TooDeep));
        }
        self.notes.note(self.source, at, self.tape.len(), 1);
        self.tape.open(field, node);
        self.frames.push(Frame { field, node, parts });
        Ok(())
    }

    /// Begins a SEQUENCE or SET.
    fn components(&mut self, at: &S::At, field: FieldId, node: NodeId) -> Result<(), S::Error> {
        let shape = self.memory.shape;
        let base = self.slots.len();
        self.slots.resize_with(base + shape.node(node).count as usize, || None);
        let (source, slots) = (self.source, &mut self.slots[base..]);
        let memory = &mut *self.memory;
        let mut found = Found { source, memory, field, node, slots, next: 0, additions: None };
        source.components(at, &mut found)?;
        let additions = found.additions;
        let mut keys = Vec::new();
        for ((_, component), slot) in shape.fields_of(node).zip(base..) {
            if S::IS_COMPLETE && self.slots[slot].is_none() {
                let found = || shape.fields_of(node).zip(&self.slots[base..]);
                let is_present = |place| found().any(|((_, it), slot)| it.place == place && slot.is_some());
                if is_missing(component, is_present) {
                    return Err(self.source.fault(at, Fault::Missing).inside(shape.name(component.name)));
                }
            }
            if let Some(register) = component.key {
                let value = self.slots[slot].clone();
                keys.push((register, value.and_then(|value| self.key(&value, component.node, 0))));
            }
        }
        self.begin(at, field, node, Parts::Components { base, next: 0, keys, additions })
    }

    /// Returns the key that a value is.
    fn key(&mut self, at: &S::At, node: NodeId, depth: u8) -> Option<Key> {
        let shape = self.memory.shape;
        let kind = shape.node(node).kind;
        if kind == Kind::Choice && depth < MAX_KEY_DEPTH {
            let (id, value) = match self.source.alternative(at, FieldId::ROOT, node).ok()? {
                Alternative::Named(name, _, value) => (self.named(node, &name)?, value),
                Alternative::Known(id, value) => (id, value),
                Alternative::Unknown(_) | Alternative::Any(_) => return None,
            };
            let alternative = shape.field(id);
            let inner = self.key(&value, alternative.node, depth + 1)?;
            return Some(Key::Alternative(alternative.name, Box::new(inner)));
        }
        if kind.is_constructed() || kind == Kind::Open {
            return None;
        }
        self.source.leaf(at, FieldId::ROOT, node).ok()?.key(kind)
    }

    fn named(&mut self, node: NodeId, name: &str) -> Option<FieldId> {
        let index = self.memory.position(self.source, node, name, 0)?;
        Some(FieldId(self.memory.shape.node(node).first + index as u32))
    }

    /// Begins a CHOICE; returns the value of its alternative.
    fn alternative(&mut self, at: &S::At, field: FieldId, node: NodeId) -> Result<Option<Next<S>>, S::Error> {
        let shape = self.memory.shape;
        let (id, value) = match self.source.alternative(at, field, node)? {
            Alternative::Named(name, place, value) => match self.named(node, &name) {
                Some(id) => (id, value),
                None => return Err(self.source.fault(&place, Fault::NoAlternative(&name))),
            },
            Alternative::Known(id, value) => (id, value),
            Alternative::Unknown(value) => {
                self.begin(at, field, node, Parts::Alternative(None))?;
                return self.unknown(&value).map(|()| None);
            }
            Alternative::Any(value) => {
                self.begin(at, field, node, Parts::Alternative(None))?;
                return self.any(&value, node).map(|()| None);
            }
        };
        let it = shape.field(id);
        if let Some(register) = it.key {
            let key = self.key(&value, it.node, 0);
            self.memory.set_key(register, key);
        }
        self.begin(at, field, node, Parts::Alternative(Some(id)))?;
        Ok(Some((value, id, it.node)))
    }

    /// Reads the first alternative that a value is one of.
    fn any(&mut self, at: &S::At, node: NodeId) -> Result<(), S::Error> {
        let shape = self.memory.shape;
        let mut only = None;
        let mut count = 0;
        for (id, alternative) in shape.fields_of(node) {
            if !self.source.may_be(at, id)? {
                continue;
            }
            match self.attempt(at, id, alternative.node) {
                Ok(()) => return Ok(()),
                Err(error) => {
                    count += 1;
                    only = Some(error.inside(shape.name(alternative.name)));
                }
            }
        }
        Err(only.filter(|_| count == 1).unwrap_or_else(|| self.source.fault(at, Fault::OfNoAlternative)))
    }

    /// Reads a value; after an error, nothing of it is on the tape.
    fn attempt(&mut self, at: &S::At, field: FieldId, node: NodeId) -> Result<(), S::Error> {
        let (mark, frames, slots) = (self.tape.mark(), self.frames.len(), self.slots.len());
        let outcome = self.run((at.clone(), field, node));
        if let (Err(_), Some(mark)) = (&outcome, mark) {
            self.tape.take_back(mark);
            self.frames.truncate(frames);
            self.slots.truncate(slots);
        }
        outcome
    }

    /// Returns the next part of the value that has begun last; ends the value after the last.
    fn next(&mut self) -> Result<Option<Next<S>>, S::Error> {
        let Some(Frame { field, node, parts }) = self.frames.last_mut() else { return Ok(None) };
        let (field, node) = (*field, *node);
        let shape = self.memory.shape;
        match parts {
            Parts::Components { base, next, keys, additions } => {
                let it = shape.node(node);
                while *next < it.count {
                    let slot = self.slots.get_mut(*base + *next as usize);
                    let id = FieldId(it.first + *next);
                    *next += 1;
                    let component = shape.field(id);
                    if let Some(value) = slot.and_then(Option::take) {
                        // Values inside one of the same type have changed them.
                        for (register, key) in keys {
                            self.memory.set_key(*register, key.clone());
                        }
                        return Ok(Some((value, id, component.node)));
                    }
                    if let Presence::Default(constant) = component.presence
                        && self.source.fills_defaults()
                    {
                        self.tape.absent(id, component.node, constant);
                    }
                }
                // A fault is one of the value itself, not of its last component.
                *next = 0;
                let (base, additions) = (*base, additions.take());
                if let Some(additions) = additions {
                    self.unknown(&additions)?;
                }
                self.slots.truncate(base);
            }
            Parts::Elements { elements, begun, element: (id, element) } => {
                *begun += 1;
                if let Some(value) = self.source.next_element(elements)? {
                    return Ok(Some((value, *id, *element)));
                }
            }
            Parts::Alternative(_) | Parts::Content(_) => {}
        }
        self.tape.close(field, node);
        self.frames.pop();
        Ok(None)
    }

    /// Adds the way from the frame at `base` to the value at hand.
    #[cold]
    fn in_path(&self, error: S::Error, base: usize) -> S::Error {
        let shape = self.memory.shape;
        let name = |field: FieldId| shape.name(shape.field(field).name);
        self.frames[base..].iter().rev().fold(error, |error, frame| match &frame.parts {
            Parts::Components { next: 0, .. } | Parts::Alternative(None) | Parts::Content(None) => error,
            Parts::Components { next, .. } => {
                error.inside(name(FieldId(shape.node(frame.node).first + next - 1)))
            }
            Parts::Elements { begun, .. } => error.inside_element(begun.saturating_sub(1)),
            Parts::Alternative(Some(field)) => error.inside(name(*field)),
            Parts::Content(Some(step)) => error.inside(step),
        })
    }
}
