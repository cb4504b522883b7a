//! `tercet convert` on captures: rows of the decoded messages of a protocol.

use super::decoder::Decoded;
use super::envelope::Envelope;
use super::reading::{Message, Reader, ReadingArgs};
use super::specifications::{Specification, SpecificationArgs};
use crate::cmd::convert::Convert;
use crate::exit::{Exit, Failure, Outcome};
use crate::inputs::Input;
use crate::term;
use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;
use tercet::TapeCodec;
use tercet::dynamic::{Options, Tape};
use tercet::records::conversion::changed;
use tercet::records::{Origin, Output, Prepared, RowWriter};
use tercet_capture::{Protocol, Variant, protocol, protocols};

/// Options of `convert` that apply to captures; any other is refused.
const APPLIED: &[&str] = &[
    "inputs",
    "allow-empty",
    "schema",
    "json-style",
    "octets",
    "columns",
    "guard-formulas",
    "integers",
    "reals",
    "flat",
    "hex-octets",
    "compression",
    "where",
    "format",
    "output",
    "limit",
    "protocol",
    "decode-as",
    "jobs",
    "quiet",
];

/// Bytes that are collected before they are written.
const FLUSH: usize = 1 << 18;

/// Returns whether an input is a capture.
pub fn is_capture(input: &Input) -> bool {
    // What comes once is not looked at before it is read.
    !matches!(input, Input::Stdin)
        && input.sample(4).is_ok_and(|begin| tercet_capture::file::is_capture(&begin))
}

/// Converts the messages of captures: a file for each protocol if the output is a directory.
pub fn convert(convert: &Convert, inputs: &[Input]) -> Outcome {
    let run = &convert.run;
    if run.protocol.is_empty() {
        let name = inputs.first().map(Input::shown).unwrap_or_default();
        return Err(Failure::usage(format_args!(
            "{name}: a packet capture requires the protocol of the messages\n\
             help: `--protocol NAME`; `tercet capture stat` counts the messages of each"
        )));
    }
    let mut given = convert.conversion.changed()?;
    given.extend([changed(run)?, changed(&convert.schema)?, changed(&convert.schema.reading)?]);
    let mut keys = given.iter().flat_map(|table| table.keys().map(String::as_str));
    if let Some(key) = keys.find(|key| !APPLIED.contains(key)) {
        return Err(Failure::usage(format_args!("`--{key}` does not apply to packet captures")));
    }
    if run.protocol.len() > 1 && !convert.one_for_each() {
        return Err(Failure::usage("several protocols require a directory for their files: `-o DIR/`"));
    }
    let mut exit = Exit::Good;
    for name in &run.protocol {
        exit = exit.max(of_protocol(convert, name)?);
    }
    Ok(exit)
}

/// Returns the protocol of a name, `lte-rrc`, or of one of its types, `lte-rrc.dl-dcch`.
fn target(name: &str) -> Outcome<(&'static Protocol, Option<Arc<Variant>>)> {
    let (of, variant) = name.split_once('.').map_or((name, None), |(of, variant)| (of, Some(variant)));
    let Some(found) = protocol(of) else {
        let known = protocols().iter().map(|it| &*it.name);
        return Err(Failure::usage(tercet::suggest::unknown("protocol", of, known)));
    };
    let known = || found.variants.iter().map(|it| &*it.name);
    match variant {
        Some(variant) => match found.variant(variant) {
            Some(variant) => Ok((found, Some(Arc::clone(variant)))),
            None => Err(Failure::usage(tercet::suggest::unknown("type", variant, known()))),
        },
        None => Ok((found, None)),
    }
}

/// Converts the messages of a protocol.
fn of_protocol(convert: &Convert, name: &str) -> Outcome {
    let conversion = &convert.conversion;
    let (protocol, variant) = target(name)?;
    let sources = SpecificationArgs::new(convert.schema.schema.clone(), convert.schema.cache.clone());
    let (found, refused) = sources.find()?.of(protocol, variant.as_deref());
    refused.iter().for_each(term::warning);
    let Some(specification) = found.into_iter().next() else {
        return Err(Failure::usage(super::decoder::missing(protocol, variant.as_deref())));
    };
    let envelope = Envelope::new(&specification.plan.shape, specification.root, protocol);
    let (form, format) = (conversion.form(), convert.format());
    let mut prepared = Prepared::new(&envelope.shape, envelope.root);
    prepared.expand_columns(&form)?;
    prepared.check_columns(&form, format)?;
    let path = match convert.output() {
        Some(directory) if convert.one_for_each() => {
            fs::create_dir_all(directory).map_err(|error| Failure::io(directory.display(), &error))?;
            let suffix = format.info().suffixes.first().copied().unwrap_or_default();
            Some(directory.join(format!("{name}.{suffix}")))
        }
        other => other.map(PathBuf::from),
    };
    let mut output: Box<dyn Write> = Box::new(io::sink());
    let mut file = match &path {
        Some(path) => Some(Output::create(path)?),
        None => {
            output = Box::new(term::stdout(term::quotes(format)));
            None
        }
    };
    let conditions: Vec<String> = conversion.rows.conditions.iter().map(ToString::to_string).collect();
    let reading = ReadingArgs::of_conversion(
        conversion.input.clone(),
        sources,
        &protocol.name,
        &convert.run.decode_as,
        &conditions,
    )?;
    let mut rows = Rows {
        specification: &specification,
        envelope: &envelope,
        variant,
        writer: format.writer(&form, prepared.shown(), prepared.record),
        out: Vec::new(),
        target: file.as_mut().map_or(&mut *output, |file| file as &mut dyn Write),
        value: Tape::new(),
        row: Tape::new(),
        options: Options::default(),
        count: 0,
        limit: convert.limit(),
    };
    rows.writer.begin(&mut rows.out);
    let exit = reading.read(false, &mut rows)?;
    rows.writer.end(&mut rows.out)?;
    rows.flush(0)?;
    let count = rows.count;
    drop(rows);
    output.flush()?;
    if let Some(file) = file {
        file.commit()?;
    }
    if !convert.run.quiet {
        let to = path.map(|path| format!(" in {}", path.display())).unwrap_or_default();
        term::say(format_args!("{name}: {}{to}", term::count(count, "message")));
    }
    Ok(exit)
}

/// Writes rows.
struct Rows<'r> {
    specification: &'r Specification,
    envelope: &'r Envelope,
    variant: Option<Arc<Variant>>,
    writer: Box<dyn RowWriter + Send + 'r>,
    out: Vec<u8>,
    target: &'r mut dyn Write,
    value: Tape,
    row: Tape,
    options: Options,
    count: u64,
    limit: Option<u64>,
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
        let Message { pdu, decoded, file } = message;
        // Types of other variants have other columns.
        if self.variant.is_some() && pdu.variant != self.variant
            || self.limit.is_some_and(|limit| self.count >= limit)
        {
            return Ok(());
        }
        let decoded = decoded.unwrap_or_else(Decoded::default);
        let Specification { plan, root, rules, .. } = self.specification;
        let mut codec = TapeCodec::new(*rules, plan);
        let read = codec.read(*root, pdu.octets, &mut self.value, &self.options);
        // What was read before a fault is kept.
        let readable = match &read {
            Ok(_) => true,
            Err(error) => codec.finish_partial(*root, pdu.octets, &mut self.value, &self.options, error),
        };
        let value = readable.then(|| self.value.view(pdu.octets));
        self.envelope.row(pdu, &decoded, value, &mut self.row);
        let origin = Origin {
            input: file.unwrap_or_default(),
            index: self.count,
            offset: 0,
            octets: pdu.octets,
            elements: &[],
        };
        let before = self.out.len();
        if let Err(error) = self.writer.record(self.row.view(pdu.octets), &origin, &mut self.out) {
            self.out.truncate(before);
            self.writer.drop_record();
            term::warning(format_args!("frame {}: {error}", pdu.frame));
            return Ok(());
        }
        self.count += 1;
        self.flush(FLUSH)
    }
}

/// Refuses captures where records are read, and names what reads them.
pub fn refuse(inputs: &[Input]) -> Outcome<()> {
    match inputs.iter().find(|input| is_capture(input)) {
        None => Ok(()),
        Some(input) => {
            let name = input.shown();
            Err(Failure::usage(format_args!(
                "{name}: a packet capture\n\
                 help: `tercet capture list {name}` lists its messages, `tercet capture show` shows them, \
                 `tercet convert --protocol NAME` converts them"
            )))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn protocols_and_types_are_named() {
        assert_eq!(target("s1ap").unwrap().0.name, "s1ap");
        let (found, variant) = target("lte-rrc.dl-dcch").unwrap();
        assert_eq!((&*found.name, &*variant.unwrap().type_name), ("lte-rrc", "DL-DCCH-Message"));
        assert!(target("s1pa").unwrap_err().message.contains("s1ap"));
        assert!(target("lte-rrc.dl-dchc").unwrap_err().message.contains("dl-dcch"));
    }
}
