//! A type of a schema made ready for some transfer syntaxes, shared by all that use it.

use crate::error;
use crate::objects::{self, Names};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use std::sync::{Mutex, PoisonError};
use tercet::dynamic::{Decoder, Encoder, NodeId, Options, Plan, Shape, Tape, View};
use tercet::{Codec, CodecError, Schema, TransferSyntax, trailing};

/// Octets from which on the interpreter is released: to give it back and to get it again costs more than it brings for
/// a record.
const LARGE: usize = 1 << 14;
/// Octets of memory that a state may keep for the next value.
const KEPT: usize = 1 << 22;
/// States that are kept: as many as threads decode at the same time, within reason.
const STATES: usize = 16;

/// Plans of one type over one shape, and memory for their engines.
pub(crate) struct Compiled {
    syntaxes: Vec<TransferSyntax>,
    plans: Vec<Plan>,
    pub(crate) root: NodeId,
    names: PyOnceLock<Names>,
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
        schema: &Schema,
        name: &str,
        syntaxes: &[TransferSyntax],
    ) -> PyResult<Self> {
        let plans = py.detach(|| schema.plans_for(syntaxes, &[name])).map_err(|it| error::plan(py, &it))?;
        let root = plans.first().and_then(|plan| plan.root(name));
        let Some(root) = root else {
            return Err(error::schema(py, &format!("the plan has no type `{name}`"), |_| Ok(())));
        };
        let (names, states) = (PyOnceLock::new(), Mutex::default());
        Ok(Self { syntaxes: syntaxes.to_vec(), plans, root, names, states })
    }

    /// What values look like.
    pub(crate) fn shape(&self) -> &Shape {
        &self.plans[0].shape
    }

    /// The transfer syntax at an index, 0 for the only one.
    pub(crate) fn syntax(&self, which: usize) -> TransferSyntax {
        self.syntaxes[which]
    }

    /// The names of the shape as Python has them.
    pub(crate) fn names(&self, py: Python<'_>) -> &Names {
        self.names.get_or_init(py, || Names::new(py, self.shape()))
    }

    /// The value on a tape.
    pub(crate) fn build<'py>(&self, py: Python<'py>, view: View<'_>) -> PyResult<Bound<'py, PyAny>> {
        objects::build(py, self.names(py), self.shape(), view)
    }

    /// Works in a state that nobody else uses.
    pub(crate) fn with_state<T>(&self, work: impl FnOnce(&mut State) -> T) -> T {
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

    /// Decodes the first value of an input to the tape of the state; the answer is its length.
    pub(crate) fn read(
        &self,
        py: Python<'_>,
        which: usize,
        input: &[u8],
        state: &mut State,
        options: &Options,
    ) -> PyResult<usize> {
        let done = released(py, input.len(), || self.read_released(which, input, state, options));
        done.map_err(|fault| error::decode(py, &fault))
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
            return Codec::new(syntax, plan).read(self.root, input, &mut state.tape, options);
        }
        Ok(state.decoder.decode(plan, self.root, input, &mut state.tape, options)?)
    }

    /// The same for an input that has to be one value and nothing more.
    pub(crate) fn read_all(
        &self,
        py: Python<'_>,
        which: usize,
        input: &[u8],
        state: &mut State,
        options: &Options,
    ) -> PyResult<()> {
        let length = self.read(py, which, input, state, options)?;
        if length < input.len() {
            let fault = trailing(&self.plans[which], self.root, options.base_offset + length as u64);
            return Err(error::decode(py, &fault.into()));
        }
        Ok(())
    }

    /// Encodes the tape of the state, read from an input, into its octets.
    pub(crate) fn write(
        &self,
        py: Python<'_>,
        which: usize,
        input: &[u8],
        state: &mut State,
    ) -> PyResult<()> {
        let (syntax, plan) = (self.syntaxes[which], &self.plans[which]);
        let State { encoder, tape, out, .. } = state;
        out.clear();
        let value: View<'_> = tape.view(input);
        let done = released(py, value.len() * size_of::<u64>(), || match syntax.rules() {
            Some(rules) => encoder.encode(plan, rules, value, out).map_err(CodecError::from),
            None => Codec::new(syntax, plan).write(value, out),
        });
        done.map_err(|fault| error::encode(py, &fault))
    }
}

/// Works without the interpreter if there is much to do.
fn released<T: Send>(py: Python<'_>, size: usize, work: impl FnOnce() -> T + Send) -> T {
    if size < LARGE { work() } else { py.detach(work) }
}
