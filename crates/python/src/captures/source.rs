//! What is read of which captures, and the loop over their messages.

use super::message::CaptureMessages;
use super::rows::{Reading, RowPlan};
use crate::error::{self, Argument};
use crate::files::{ArrowSchema, Failure, HeldTable, Input, Outlet, frame, inputs_of, names, schema_capsule};
use crate::interrupt::interruptible;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use std::cell::RefCell;
use std::io;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::atomic::Ordering;
use std::sync::{Arc, OnceLock};
use tercet::SchemaOptions;
use tercet::captures::capture::{DecodeAs, Event, Options, Pdu, protocol_and_type};
use tercet::captures::{
    Condition, Decoded, Decoder, DecoderOptions, Form, ReadValue, Signalling, Specifications, object,
};
use tercet::columns::FFI_ArrowArrayStream;
use tercet::records::inputs;

/// Warnings about bad packets of a capture; the last one gives the number of others.
const WARNING_LIMIT: u64 = 10;

/// Captures, and which of their messages are read.
pub(super) struct Source {
    pub(super) inputs: Vec<Input>,
    pub(super) specifications: Specifications,
    pub(super) protocols: Vec<String>,
    decode_as: Vec<DecodeAs>,
    conditions: Vec<Condition>,
    strict: bool,
    values: bool,
    pub(super) form: Form,
    memory_limit: Option<usize>,
    pub(super) columns: Vec<String>,
    pub(super) flat: bool,
    pub(super) batch_rows: usize,
}

/// Reads the messages of packet captures (pcap, pcapng), compressed or not, and decodes them.
///
/// Iteration gives each message with its frame, time, addresses, name, identifiers and value. With one `protocol`, the
/// messages are also a table: `pyarrow.table(it)`, `polars.DataFrame(it)`, `duckdb.sql("FROM it")`.
///
/// `schema` names files and directories of specifications, by default those in the variable TERCET_SCHEMAS; each
/// protocol has its own, which is found by its module. `protocol` chooses protocols, or one type of theirs:
/// `lte-rrc.dl-dcch`. `where` is a condition on the attributes of messages and on `value`:
/// `"message like 'Initial%' and ids.amf = 17"`. `decode_as` has rules for messages on other ports:
/// `"sctp.port==5000=ngap"`. With `strict`, deviations from a specification are errors; by default they are warnings of
/// the message. Without `values`, messages are named but have no value. `numbers` shows constants as numbers instead of
/// their names, `ies="list"` information elements as the list of the specification. `memory_limit` is the number of
/// bytes that may wait for missing fragments. `columns`, `flat` and `batch_rows` are those of `read`, for tables.
///
/// Raises SchemaError, OSError; ArgumentError for unknown protocols.
#[pyfunction]
#[pyo3(
    signature = (paths, schema = Argument(None), *, protocol = Argument(None), r#where = Argument(None), decode_as = Argument(None),
        strict = Argument(false), values = Argument(true), numbers = Argument(false), ies = Argument("map".to_owned()),
        memory_limit = Argument(None), columns = Argument(None), flat = Argument(false), batch_rows = Argument(65_536)),
    text_signature = "(paths, schema=None, *, protocol=None, where=None, decode_as=None, strict=False, values=True, \
        numbers=False, ies='map', memory_limit=None, columns=None, flat=False, batch_rows=65536)"
)]
#[expect(clippy::too_many_arguments, reason = "keyword arguments")]
pub(crate) fn capture(
    paths: &Bound<'_, PyAny>,
    schema: Argument<Option<Several<PathBuf>>>,
    protocol: Argument<Option<Several<String>>>,
    r#where: Argument<Option<Several<String>>>,
    decode_as: Argument<Option<Several<String>>>,
    strict: Argument<bool>,
    values: Argument<bool>,
    numbers: Argument<bool>,
    ies: Argument<String>,
    memory_limit: Argument<Option<usize>>,
    columns: Argument<Option<Vec<String>>>,
    flat: Argument<bool>,
    batch_rows: Argument<usize>,
) -> PyResult<Capture> {
    let inputs = inputs_of(paths, None, false)?;
    let protocols = protocol.0.map_or_else(Vec::new, Several::into);
    for name in &protocols {
        protocol_and_type(name).map_err(error::argument)?;
    }
    let lists = match &*ies.0 {
        "map" => false,
        "list" => true,
        other => return Err(crate::options::one_of("ies", other, &["map", "list"])),
    };
    let schemas: Vec<PathBuf> = schema.0.map_or_else(Vec::new, Several::into);
    let found = interruptible(paths.py(), move || Specifications::find(&schemas, SchemaOptions::default()))?;
    let source = Source {
        inputs,
        specifications: found.map_err(error::io)?,
        protocols,
        decode_as: parsed("decode_as", decode_as.0)?,
        conditions: parsed("where", r#where.0)?,
        strict: strict.0,
        values: values.0,
        form: Form { lists, numbers: numbers.0 },
        memory_limit: memory_limit.0,
        columns: columns.0.unwrap_or_default(),
        flat: flat.0,
        batch_rows: batch_rows.0.max(1),
    };
    Ok(Capture { source: Arc::new(source), rows: OnceLock::new() })
}

/// One, or a list.
#[derive(FromPyObject)]
pub(crate) enum Several<T> {
    One(T),
    All(Vec<T>),
}

impl<T> From<Several<T>> for Vec<T> {
    fn from(given: Several<T>) -> Self {
        match given {
            Several::One(one) => vec![one],
            Several::All(all) => all,
        }
    }
}

/// Reads texts of an argument.
fn parsed<T: FromStr>(name: &str, given: Option<Several<String>>) -> PyResult<Vec<T>>
where
    T::Err: std::fmt::Display,
{
    let texts: Vec<String> = given.map_or_else(Vec::new, Several::into);
    let one =
        |text: &String| text.parse().map_err(|fault| error::argument(format!("{name}: `{text}`: {fault}")));
    texts.iter().map(one).collect()
}

/// Takes a message, what is decoded of it, and the name of its capture.
pub(super) type Act<'a> =
    &'a mut dyn FnMut(&Pdu<'_>, &Decoded, Option<ReadValue<'_>>, &str) -> Result<(), Failure>;

impl Source {
    /// Calls `act` for each message; `values` asks for values as JSON.
    pub(super) fn run<T>(&self, values: bool, outlet: &Outlet<T>, act: Act<'_>) -> Result<(), Failure> {
        let mut options = DecoderOptions::default();
        let needs_values = values && self.values || self.conditions.iter().any(Condition::needs_values);
        options.form = needs_values.then_some(self.form);
        options.strict = self.strict;
        let mut decoder = Decoder::new(self.specifications.clone(), options);
        for input in &self.inputs {
            let name = input.name();
            let named = |error: io::Error| Failure::io(name, &error);
            let unpacked = inputs::unpack(input.open().map_err(named)?).map_err(named)?;
            let mut options = Options::default();
            options.decode_as.clone_from(&self.decode_as);
            options.memory_limit = self.memory_limit.unwrap_or(options.memory_limit);
            let mut capture = tercet::captures::capture::Capture::new(unpacked, options);
            let (mut done, mut faults, mut last) = (Ok(()), 0u64, None);
            let sockets = RefCell::new(Vec::new());
            let mut sink = |event: Event<'_>| match event {
                Event::Pdu(pdu) => {
                    let is_wanted = self.is_wanted(&pdu);
                    if done.is_err() || !is_wanted && !Signalling::is_of(pdu.protocol) {
                        return;
                    }
                    let decoded = decoder.decode_with(&pdu, &mut |decoded, value| {
                        if is_wanted && self.holds(&pdu, decoded) {
                            done = act(&pdu, decoded, value, name);
                        }
                    });
                    sockets.borrow_mut().extend(decoded.sockets);
                    decoder.take_notices().into_iter().for_each(|notice| outlet.warn(notice));
                }
                Event::Fault(fault) => {
                    faults += 1;
                    if faults <= WARNING_LIMIT {
                        outlet.warn(format!("{name}: {fault}"));
                    }
                    last = Some(fault.to_string());
                }
                _ => {}
            };
            while !outlet.stop().load(Ordering::Relaxed) && capture.read_packet(&mut sink).map_err(named)? {
                for (transport, socket, protocol) in sockets.take() {
                    capture.expect_messages(transport, socket, protocol);
                }
            }
            done?;
            if faults > WARNING_LIMIT {
                outlet.warn(format!("{name}: {} more faults", faults - WARNING_LIMIT));
            }
            // Without a packet there is nothing that was a capture.
            if let Some(fault) = last.filter(|_| capture.balance().packets == 0) {
                return Err(named(io::Error::new(io::ErrorKind::InvalidData, fault)));
            }
        }
        Ok(())
    }

    /// Returns whether a message may be read, as far as is known before it is decoded.
    fn is_wanted(&self, pdu: &Pdu<'_>) -> bool {
        let is_named = |name: &String| match name.split_once('.') {
            None => *name == pdu.protocol.name,
            Some((of, variant)) => {
                of == pdu.protocol.name && pdu.variant.as_ref().is_some_and(|it| it.name == variant)
            }
        };
        if !self.protocols.is_empty() && !self.protocols.iter().any(is_named) {
            return false;
        }
        if self.conditions.is_empty() {
            return true;
        }
        let line = object(pdu, None, None).into();
        self.conditions.iter().all(|condition| condition.may_hold(&line))
    }

    /// Returns whether a message meets the conditions.
    fn holds(&self, pdu: &Pdu<'_>, decoded: &Decoded) -> bool {
        if self.conditions.is_empty() {
            return true;
        }
        let mut line = object(pdu, Some(decoded), None);
        if let Some(value) = decoded.value.clone() {
            line.insert("value".to_owned(), value);
        }
        let line = line.into();
        self.conditions.iter().all(|condition| condition.holds(&line))
    }
}

/// The messages of packet captures: an iterable, and with one protocol a table.
///
/// The captures are read again each time that the messages are asked for, by a thread.
#[pyclass(frozen, module = "tercet")]
pub(crate) struct Capture {
    source: Arc<Source>,
    rows: OnceLock<Arc<RowPlan>>,
}

impl Capture {
    /// Returns what rows are made of.
    fn rows(&self, py: Python<'_>) -> PyResult<Arc<RowPlan>> {
        if let Some(rows) = self.rows.get() {
            return Ok(Arc::clone(rows));
        }
        let made = Arc::new(RowPlan::new(py, &self.source)?);
        Ok(Arc::clone(self.rows.get_or_init(|| made)))
    }
}

#[pymethods]
impl Capture {
    fn __iter__(&self) -> PyResult<CaptureMessages> {
        CaptureMessages::new(&self.source)
    }

    /// The columns of the table: `pyarrow.schema(capture.schema)`.
    ///
    /// Raises SchemaError; ArgumentError unless one protocol is given.
    #[getter]
    fn schema(&self, py: Python<'_>) -> PyResult<ArrowSchema> {
        Ok(ArrowSchema { schema: Arc::clone(&self.rows(py)?.schema) })
    }

    /// The names of the columns of the table.
    ///
    /// Raises SchemaError; ArgumentError unless one protocol is given.
    #[getter]
    fn columns(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        Ok(names(&self.rows(py)?.schema).into_iter().map(str::to_owned).collect())
    }

    /// Reads all messages into memory, as a table.
    ///
    /// Raises SchemaError, OSError; ArgumentError unless one protocol is given.
    fn read(&self, py: Python<'_>) -> PyResult<HeldTable> {
        Reading::new(&self.source, self.rows(py)?).held(py)
    }

    /// Reads all messages as a table of PyArrow.
    ///
    /// Raises SchemaError, OSError; PackageError without PyArrow; ArgumentError unless one protocol is given.
    fn to_arrow<'py>(this: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        frame(this.as_any(), "to_arrow")
    }

    /// Reads all messages as a data frame of pandas.
    ///
    /// Raises SchemaError, OSError; PackageError without pandas and PyArrow; ArgumentError unless one
    /// protocol is given.
    fn to_pandas<'py>(this: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        frame(this.as_any(), "to_pandas")
    }

    /// Reads all messages as a data frame of Polars.
    ///
    /// Raises SchemaError, OSError; PackageError without Polars; ArgumentError unless one protocol is given.
    fn to_polars<'py>(this: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        frame(this.as_any(), "to_polars")
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        schema_capsule(py, &self.rows(py)?.schema)
    }

    /// The batches by Arrow's C stream interface. The schema is the one that there is, whatever is asked for.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        _ = requested_schema;
        let reading = Reading::new(&self.source, self.rows(py)?);
        PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(Box::new(reading)), c"arrow_array_stream")
    }

    fn __repr__(&self) -> String {
        let count = self.source.inputs.len();
        let protocols = match self.source.protocols.is_empty() {
            true => String::new(),
            false => format!(": {}", self.source.protocols.join(", ")),
        };
        format!("<tercet.Capture of {count} input{}{protocols}>", if count == 1 { "" } else { "s" })
    }
}
