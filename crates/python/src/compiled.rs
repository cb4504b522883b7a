//! A type of a schema made ready for some transfer syntaxes, shared by all that use it.

use crate::error;
use crate::interrupt::interruptible;
use crate::objects::{self, Looks, Names};
use crate::octets::{Held, Input};
use crate::rendering::{Asked, Shown};
use crate::schema::OtherTags;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use tercet::dynamic::validate::{Validator, Violation};
use tercet::dynamic::{Decoder, Encoder, NodeId, Options, Plan, Shape, Tape, View};
use tercet::{CodecError, Rules, Schema, TapeCodec, check_trailing};

/// Octets from which on the interpreter is released: to give it back and to get it again costs more than it brings for
/// a record.
const LARGE: usize = 1 << 14;
/// Octets of memory of a tape from which on it is encoded on a thread, so that the user can interrupt.
const HUGE: usize = 1 << 21;
/// Octets of memory that a state may keep for the next value.
const KEPT: usize = 1 << 22;
/// States that are kept: as many as threads decode at the same time, within reason.
const STATES: usize = 16;

/// Plans of one type over one shape, and memory for their engines.
pub(crate) struct Compiled {
    syntaxes: Vec<Rules>,
    plans: Vec<Plan>,
    pub(crate) root: NodeId,
    names: PyOnceLock<Arc<Names>>,
    shown: Mutex<HashMap<String, Arc<Shown>>>,
    #[expect(clippy::vec_box, reason = "they are large and move twice at every value")]
    states: Mutex<Vec<Box<State>>>,
}

/// What a decode or encode works in.
#[derive(Debug, Default)]
pub(crate) struct State {
    decoder: Decoder,
    encoder: Encoder,
    pub(crate) tape: Tape,
    pub(crate) out: Vec<u8>,
}

impl Compiled {
    /// Makes the plans of a type.
    pub(crate) fn new(
        py: Python<'_>,
        schema: &Arc<Schema>,
        name: &str,
        syntaxes: &[Rules],
    ) -> PyResult<Self> {
        let (schema, asked, rules) = (Arc::clone(schema), name.to_owned(), syntaxes.to_vec());
        let plans = interruptible(py, move || schema.plans_for(&rules, &[&asked]))?;
        let plans = plans.map_err(|it| error::plan(py, &it))?;
        let root = plans.first().and_then(|plan| plan.root(name));
        let Some(root) = root else {
            return Err(error::schema(py, &format!("the plan has no type `{name}`"), |_| Ok(())));
        };
        let (names, shown, states) = (PyOnceLock::new(), Mutex::default(), Mutex::default());
        Ok(Self { syntaxes: syntaxes.to_vec(), plans, root, names, shown, states })
    }

    /// What values look like.
    pub(crate) fn shape(&self) -> &Arc<Shape> {
        &self.plans[0].shape
    }

    /// The plan of the first transfer syntax.
    pub(crate) fn plan(&self) -> &Plan {
        &self.plans[0]
    }

    /// The transfer syntax at an index, 0 for the only one.
    pub(crate) fn syntax(&self, which: usize) -> Rules {
        self.syntaxes[which]
    }

    /// The names of the shape as Python has them.
    pub(crate) fn names(&self, py: Python<'_>) -> &Arc<Names> {
        self.names.get_or_init(py, || Arc::new(Names::new(py, self.shape())))
    }

    /// The value on a tape.
    pub(crate) fn build<'py>(
        &self,
        py: Python<'py>,
        view: View<'_>,
        looks: Looks,
    ) -> PyResult<Bound<'py, PyAny>> {
        objects::build(py, self.names(py), self.shape(), view, looks)
    }

    /// How values are shown if that is asked for, made once.
    pub(crate) fn shown(&self, py: Python<'_>, asked: &Asked) -> PyResult<Option<Arc<Shown>>> {
        let key = asked.key();
        if let Some(known) = self.shown.lock().unwrap_or_else(PoisonError::into_inner).get(&key) {
            return Ok(Some(Arc::clone(known)));
        }
        let Some(made) = asked.shown(py, &self.plans[0].shape, self.root)?.map(Arc::new) else {
            return Ok(None);
        };
        self.shown.lock().unwrap_or_else(PoisonError::into_inner).insert(key, Arc::clone(&made));
        Ok(Some(made))
    }

    /// Works in a state that nobody else uses.
    pub(crate) fn with_state<T>(&self, work: impl FnOnce(&mut Box<State>) -> T) -> T {
        let mut state = self.states.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default();
        let done = work(&mut state);
        if state.tape.memory() + state.out.capacity() <= KEPT {
            let mut states = self.states.lock().unwrap_or_else(PoisonError::into_inner);
            if states.len() < STATES {
                states.push(state);
            }
        }
        done
    }

    /// Decodes the first value behind an offset of an input to the tape of the state; the answer is its length.
    pub(crate) fn read(
        self: &Arc<Self>,
        py: Python<'_>,
        which: usize,
        (input, offset): (&Input<'_>, usize),
        state: &mut Box<State>,
        options: &Options,
    ) -> PyResult<usize> {
        let done = match input {
            Input::Small(input) => {
                let rest = &input[offset..];
                released(py, rest.len(), || self.read_released(which, rest, state, options))
            }
            Input::Huge(input) => {
                let (compiled, input, options) = (Arc::clone(self), Arc::clone(input), options.clone());
                let mut moved = std::mem::take(state);
                let work =
                    move || (compiled.read_released(which, &input[offset..], &mut moved, &options), moved);
                let (done, moved) = interruptible(py, work)?;
                *state = moved;
                done
            }
        };
        done.map_err(|fault| {
            let error = error::decode(py, &fault);
            let rest: &[u8] = match input {
                Input::Small(input) => &input[offset..],
                Input::Huge(input) => &input[offset..],
            };
            let mut codec = TapeCodec::new(self.syntaxes[which], &self.plans[which]);
            if codec.finish_partial(self.root, rest, &mut state.tape, options, &fault) {
                // An error in making objects of it is not the one to report.
                let partial = self.build(py, state.tape.view(rest), Looks::default());
                _ = partial.and_then(|partial| error.value(py).setattr("partial", partial));
            }
            error
        })
    }

    fn read_released(
        &self,
        which: usize,
        input: &[u8],
        state: &mut State,
        options: &Options,
    ) -> Result<usize, CodecError> {
        let (syntax, plan) = (self.syntaxes[which], &self.plans[which]);
        state.tape.clear();
        if syntax.is_text() {
            return TapeCodec::new(syntax, plan).read(self.root, input, &mut state.tape, options);
        }
        Ok(state.decoder.decode(plan, self.root, input, &mut state.tape, options)?)
    }

    /// Decodes an input that has to be one value and nothing more.
    pub(crate) fn read_all(
        self: &Arc<Self>,
        py: Python<'_>,
        which: usize,
        input: &Input<'_>,
        state: &mut Box<State>,
        options: &Options,
    ) -> PyResult<()> {
        let length = self.read(py, which, (input, 0), state, options)?;
        let (rest, at) = (&input[length..], options.base_offset + length as u64);
        check_trailing(&self.plans[which], self.root, rest, at, options.trailing)
            .map_err(|fault| error::decode(py, &fault.into()))
    }

    /// The constraints that the value on the tape of the state, read from an input, does not meet.
    pub(crate) fn violations(
        self: &Arc<Self>,
        py: Python<'_>,
        input: &Input<'_>,
        state: &mut Box<State>,
    ) -> PyResult<Vec<Violation>> {
        let check = |compiled: &Self, state: &State, input: &[u8]| {
            Validator::new().check(compiled.shape(), compiled.root, state.tape.view(input))
        };
        let Input::Huge(input) = input else { return Ok(py.detach(|| check(self, state, input))) };
        let (compiled, input, moved) = (Arc::clone(self), Arc::clone(input), std::mem::take(state));
        let (found, moved) = interruptible(py, move || (check(&compiled, &moved, &input), moved))?;
        *state = moved;
        Ok(found)
    }

    /// Encodes the tape of the state, read from an input if there is one, into its octets.
    pub(crate) fn write(
        self: &Arc<Self>,
        py: Python<'_>,
        which: usize,
        input: Option<&Input<'_>>,
        state: &mut Box<State>,
    ) -> PyResult<()> {
        let octets: &[u8] = input.map_or(&[], |input| input);
        let size = state.tape.view(octets).len() * size_of::<u64>();
        let is_huge = matches!(input, Some(Input::Huge(_))) || size.max(state.tape.memory()) >= HUGE;
        let done = if is_huge {
            let held: Arc<Held> = match input {
                Some(Input::Huge(input)) => Arc::clone(input),
                Some(Input::Small(input)) => Arc::new(Held::Copy(input.to_vec())),
                None => Arc::new(Held::Copy(Vec::new())),
            };
            let (compiled, mut moved) = (Arc::clone(self), std::mem::take(state));
            let work = move || (compiled.write_released(which, &held, &mut moved), moved);
            let (done, moved) = interruptible(py, work)?;
            *state = moved;
            done
        } else {
            released(py, size, || self.write_released(which, octets, state))
        };
        done.map_err(|fault| error::encode(py, &fault))
    }

    fn write_released(&self, which: usize, input: &[u8], state: &mut State) -> Result<(), CodecError> {
        let (syntax, plan) = (self.syntaxes[which], &self.plans[which]);
        let State { encoder, tape, out, .. } = state;
        out.clear();
        let value: View<'_> = tape.view(input);
        match syntax.binary() {
            Some(rules) => encoder.encode(plan, rules, value, out).map_err(CodecError::from),
            None => TapeCodec::new(syntax, plan).write(value, out),
        }
    }
}

/// A type as it is meant: by the tags of the specification or, if these are to be found out, by the first tags that
/// data decodes with.
pub(crate) struct Meant {
    as_written: Arc<Compiled>,
    /// What data has shown.
    shown: OnceLock<Arc<Compiled>>,
    others: Option<Others>,
}

/// The type by other tags.
struct Others {
    schemas: Arc<OtherTags>,
    name: String,
    syntaxes: Vec<Rules>,
}

impl Meant {
    pub(crate) fn new(as_written: Arc<Compiled>, schemas: Option<&Arc<OtherTags>>, name: &str) -> Self {
        let others = schemas.map(|schemas| Others {
            schemas: Arc::clone(schemas),
            name: name.to_owned(),
            syntaxes: as_written.syntaxes.clone(),
        });
        Self { as_written, shown: OnceLock::new(), others }
    }

    /// The type as far as is known by now.
    #[inline]
    pub(crate) fn current(&self) -> &Arc<Compiled> {
        self.shown.get().unwrap_or(&self.as_written)
    }

    /// Decodes by the tags that are known, or by the first of all that it succeeds with.
    #[inline]
    pub(crate) fn trial<T>(
        &self,
        py: Python<'_>,
        work: impl Fn(&Arc<Compiled>) -> PyResult<T>,
    ) -> PyResult<T> {
        let Some(others) = self.others.as_ref().filter(|_| self.shown.get().is_none()) else {
            return work(self.current());
        };
        let fault = match work(&self.as_written) {
            Ok(done) => {
                // Data that fits one way is not taken for another later.
                _ = self.shown.set(Arc::clone(&self.as_written));
                return Ok(done);
            }
            Err(fault) if error::is_decode(py, &fault) => fault,
            Err(fault) => return Err(fault),
        };
        for schema in others.schemas.get(py)? {
            let Ok(compiled) = Compiled::new(py, &schema, &others.name, &others.syntaxes) else { continue };
            let compiled = Arc::new(compiled);
            match work(&compiled) {
                Ok(done) => {
                    _ = self.shown.set(compiled);
                    return Ok(done);
                }
                Err(fault) if error::is_decode(py, &fault) => {}
                Err(fault) => return Err(fault),
            }
        }
        Err(fault)
    }
}

/// Works without the interpreter if there is much to do.
fn released<T: Send>(py: Python<'_>, size: usize, work: impl FnOnce() -> T + Send) -> T {
    if size < LARGE { work() } else { py.detach(work) }
}
