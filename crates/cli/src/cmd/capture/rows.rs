//! Rows of messages of one type, for all commands that read records.

use super::reading::{Message, Reader, ReadingArgs};
use super::specifications::SpecificationArgs;
use super::threads::{Made, Render, Rendering};
use crate::args::{CaptureArgs, SchemaArgs};
use crate::exit::{Exit, Failure, Outcome};
use crate::inputs::Input;
use crate::term;
use std::collections::BTreeMap;
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tercet::captures::{Decoded, Envelope, Form, Specification, Specifications, missing};
use tercet::dynamic::Tape;
use tercet::records::conversion::{FormOptions, InputOptions, changed};
use tercet::records::{Format, Origin, Prepared, RowWriter, WrittenPart};
use tercet_capture::{Capture, DecodeAs, Event, Options, Variant, protocol_and_type};

/// Bytes that are collected before they are written.
const FLUSH: usize = 1 << 18;

/// Returns whether an input is a capture.
pub fn is_capture(input: &Input) -> bool {
    // What comes once is not looked at before it is read.
    !matches!(input, Input::Stdin)
        && input.sample(4).is_ok_and(|begin| tercet_capture::file::is_capture(&begin))
}

/// Returns whether inputs are captures: by the framing, if it is given, or by their first bytes.
pub fn are_captures(inputs: &[Input], given: Option<bool>) -> Outcome<bool> {
    if let Some(is_given) = given {
        return Ok(is_given);
    }
    let Some(first) = inputs.iter().find(|input| is_capture(input)) else { return Ok(false) };
    match inputs.iter().find(|input| !is_capture(input)) {
        None => Ok(true),
        Some(other) => Err(Failure::usage(format_args!(
            "{} is a packet capture, {} is not\nhelp: read them one after the other",
            first.shown(),
            other.shown()
        ))),
    }
}

/// Refuses options of a group that do not apply to captures: those that are not among `applied`.
pub fn refuse_others<T: serde::Serialize + Default>(options: &T, applied: &[&str]) -> Outcome<()> {
    match changed(options)?.keys().find(|key| !applied.contains(&key.as_str())) {
        None => Ok(()),
        Some(key) => Err(not_applied(key)),
    }
}

/// Returns the failure for an option that does not apply to captures.
pub fn not_applied(option: &str) -> Failure {
    Failure::usage(format_args!("`--{option}` does not apply to packet captures"))
}

/// Captures, and what their messages are read by.
#[derive(Clone, Debug)]
pub struct Source {
    pub input: InputOptions,
    pub schema: SchemaArgs,
    pub capture: CaptureArgs,
    /// The type of the messages, if it is given.
    pub type_name: Option<String>,
    pub conditions: Vec<String>,
    /// The form of values in rows.
    pub form: Form,
}

impl Source {
    /// Returns the options of specifications.
    fn specifications(&self) -> Outcome<SpecificationArgs> {
        refuse_others(&self.schema, &["schema"])?;
        refuse_others(&self.schema.reading, &["strict"])?;
        Ok(SpecificationArgs::new(self.schema.schema.clone(), self.schema.cache.clone()))
    }

    /// Reads the texts of all specifications.
    pub(super) fn find(&self) -> Outcome<Specifications> {
        self.specifications()?.find()
    }

    /// Returns the options of reading messages of protocols, or of all.
    pub(super) fn reading(&self, protocols: Vec<&'static str>) -> Outcome<ReadingArgs> {
        ReadingArgs::of_records(self, self.specifications()?, protocols)
    }

    /// Returns the messages of each type that is asked for, or else that the captures have and the specifications
    /// decode.
    pub fn messages(&self, inputs: &[Input]) -> Outcome<Vec<Messages>> {
        let specifications = self.find()?;
        let mut found = Vec::new();
        let names = match self.capture.protocol.is_empty() {
            false => self.capture.protocol.clone(),
            true => self.names(inputs)?,
        };
        for name in names {
            let (protocol, variant) = protocol_and_type(&name).map_err(Failure::usage)?;
            let (of, refused) = specifications.of(protocol, variant.as_deref());
            let of: Vec<_> = of.into_iter().filter(|it| self.is_type(it)).collect();
            match of.into_iter().next() {
                Some(specification) => {
                    let envelope =
                        Envelope::new(&specification.plan.shape, specification.root, protocol, self.form);
                    let reading = self.reading(vec![&protocol.name])?;
                    found.push(Messages { name, variant, specification, envelope, reading });
                }
                // Of protocols that are found, those without a specification are not asked for.
                None if self.capture.protocol.is_empty() => {}
                None => {
                    refused.iter().for_each(term::warning);
                    return Err(Failure::usage(missing(protocol, variant.as_deref())));
                }
            }
        }
        if found.is_empty() {
            return Err(Failure::usage(
                "no message that the specifications decode\n\
                 help: `tercet capture stat` counts the messages of each protocol, `tercet capture protocols` lists their \
                 specifications",
            ));
        }
        Ok(found)
    }

    /// Returns whether a specification has the type that is given.
    fn is_type(&self, specification: &Specification) -> bool {
        let Specification { module, type_name, .. } = specification;
        let is_it = |name: &String| name == type_name || *name == format!("{module}.{type_name}");
        self.type_name.as_ref().is_none_or(is_it)
    }

    /// Returns the protocols that captures have, with the types of those that have several.
    fn names(&self, inputs: &[Input]) -> Outcome<Vec<String>> {
        if inputs.contains(&Input::Stdin) {
            return Err(Failure::usage(
                "standard input: a packet capture requires the protocol of the messages: `--protocol NAME`",
            ));
        }
        let mut counts: BTreeMap<String, u64> = BTreeMap::new();
        for input in inputs {
            let mut options = Options::default();
            options.decode_as = rules(&self.capture.decode_as)?;
            let mut capture = Capture::new(input.open()?, options);
            let mut count = |event: Event<'_>| {
                if let Event::Pdu(pdu) = event {
                    let protocol = &pdu.protocol.name;
                    let variant = pdu.variant.as_ref().filter(|it| pdu.protocol.variant(&it.name).is_some());
                    let name =
                        variant.map_or_else(|| protocol.clone(), |it| format!("{protocol}.{}", it.name));
                    *counts.entry(name).or_default() += 1;
                }
            };
            while capture.read_packet(&mut count).map_err(|error| Failure::io(input.name(), &error))? {}
        }
        Ok(counts.into_keys().collect())
    }
}

/// Reads rules for messages that the table of protocols does not find.
pub fn rules(texts: &[String]) -> Outcome<Vec<DecodeAs>> {
    let rule = |text: &String| {
        text.parse::<DecodeAs>().map_err(|error| Failure::usage(format_args!("`{text}`: {error}")))
    };
    texts.iter().map(rule).collect()
}

/// The messages of one type, as rows.
#[derive(Debug)]
pub struct Messages {
    /// The protocol, and its type if it has several.
    pub name: String,
    variant: Option<Arc<Variant>>,
    specification: Specification,
    /// The type of the rows.
    pub envelope: Envelope,
    reading: ReadingArgs,
}

impl Messages {
    /// Reads the messages for a writer of rows: all, or as many as the limit, until a flag is set. Returns how many rows
    /// there are.
    pub fn read(
        &self,
        writer: &mut dyn RowWriter,
        target: &mut dyn Write,
        limit: Option<u64>,
        stop: Option<&AtomicBool>,
    ) -> Outcome<(Exit, u64)> {
        let mut rows = Rows {
            maker: RowMaker { of: self, row: Tape::new() },
            writer,
            out: Vec::new(),
            target,
            count: 0,
            limit: limit.unwrap_or(u64::MAX),
            stop,
        };
        rows.writer.begin(&mut rows.out);
        let exit = self.reading.read(false, &mut rows)?;
        rows.writer.end(&mut rows.out)?;
        rows.flush(0)?;
        Ok((exit, rows.count))
    }

    /// Reads all messages, and makes rows of them on several threads. Returns how many rows there are.
    pub(super) fn convert(
        &self,
        made_by: &Writing<'_>,
        jobs: usize,
        target: &mut dyn Write,
    ) -> Outcome<(Exit, u64)> {
        let Writing { format, form, prepared } = made_by;
        let mut writer = format.writer(form, prepared.shown(), prepared.record);
        let (mut out, mut count) = (Vec::new(), 0);
        writer.begin(&mut out);
        let mut take = |made: &mut Made| -> Outcome<()> {
            out.append(&mut made.out);
            if let Some(part) = made.part.take() {
                writer.join(part, &mut out)?;
            }
            count += made.count;
            if out.len() > FLUSH {
                target.write_all(&out)?;
                out.clear();
            }
            Ok(())
        };
        let make = || -> Box<dyn Render + '_> {
            let writer = format.part_writer(form, prepared.shown(), prepared.record);
            Box::new(Part { maker: RowMaker { of: self, row: Tape::new() }, writer })
        };
        let rendering = Rendering { jobs, batch: format.batch(), make: &make, take: &mut take };
        let exit = self.reading.render(rendering)?;
        writer.end(&mut out)?;
        target.write_all(&out)?;
        Ok((exit, count))
    }
}

/// How rows are written.
pub(super) struct Writing<'w> {
    pub(super) format: Format,
    pub(super) form: &'w FormOptions,
    pub(super) prepared: &'w Prepared,
}

/// Makes rows of messages.
struct RowMaker<'r> {
    of: &'r Messages,
    row: Tape,
}

impl RowMaker<'_> {
    /// Appends the row of a message of the right type; returns whether there is one. `index` is its number.
    fn write(
        &mut self,
        message: &Message<'_>,
        index: u64,
        writer: &mut dyn RowWriter,
        out: &mut Vec<u8>,
        warn: &mut dyn FnMut(String),
    ) -> bool {
        let Message { pdu, decoded, value, file } = message;
        // Types of other variants have other columns.
        if self.of.variant.is_some() && pdu.variant != self.of.variant {
            return false;
        }
        let Specification { place, module, type_name, .. } = &self.of.specification;
        let value = match value {
            // Several specifications of a protocol may differ: rows have the columns of the first.
            Some((by, view)) if by.place == *place && by.type_name == *type_name => Some(*view),
            Some((by, _)) => {
                warn(format!(
                    "frame {}: the row has no value: {} decodes it, whose columns differ from those of {module} in {}",
                    pdu.frame,
                    by.place.display(),
                    place.display()
                ));
                None
            }
            None => None,
        };
        let none = Decoded::default();
        self.of.envelope.row(pdu, decoded.unwrap_or(&none), value, &mut self.row);
        let origin =
            Origin { input: file.unwrap_or_default(), index, offset: 0, octets: pdu.octets, elements: &[] };
        writer.begin_record(out);
        let before = out.len();
        if let Err(error) = writer.record(self.row.view(pdu.octets), &origin, out) {
            out.truncate(before);
            writer.drop_record();
            warn(format!("frame {}: {error}", pdu.frame));
            return false;
        }
        true
    }
}

/// Makes rows on a thread.
struct Part<'r> {
    maker: RowMaker<'r>,
    writer: Box<dyn RowWriter + Send + 'r>,
}

impl Render for Part<'_> {
    fn message(&mut self, message: Message<'_>, made: &mut Made) -> Outcome<()> {
        let Made { out, warnings, count, .. } = made;
        let mut warn = |text| warnings.push(text);
        *count += u64::from(self.maker.write(&message, *count, &mut *self.writer, out, &mut warn));
        Ok(())
    }

    fn part(&mut self) -> Outcome<Option<WrittenPart>> {
        Ok(self.writer.part()?)
    }
}

/// Writes rows one by one.
struct Rows<'r> {
    maker: RowMaker<'r>,
    writer: &'r mut dyn RowWriter,
    out: Vec<u8>,
    target: &'r mut dyn Write,
    count: u64,
    limit: u64,
    stop: Option<&'r AtomicBool>,
}

impl Rows<'_> {
    fn flush(&mut self, least: usize) -> Outcome<()> {
        if self.out.len() > least {
            self.target.write_all(&self.out)?;
            self.out.clear();
        }
        Ok(())
    }
}

impl Reader for Rows<'_> {
    fn message(&mut self, message: Message<'_>) -> Outcome<()> {
        if self.is_done() {
            return Ok(());
        }
        let Self { maker, writer, out, count, .. } = self;
        *count +=
            u64::from(maker.write(&message, *count, &mut **writer, out, &mut |text| term::warning(text)));
        self.flush(FLUSH)
    }

    fn is_done(&self) -> bool {
        self.count >= self.limit || self.stop.is_some_and(|stop| stop.load(Ordering::Relaxed))
    }
}
