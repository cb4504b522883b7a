//! `tercet convert` on captures: rows of the decoded messages of a protocol.

use super::rows::{Messages, Source, Writing, not_applied};
use crate::args::{CaptureArgs, Elements};
use crate::cmd::convert::Convert;
use crate::exit::{Exit, Failure, Outcome};
use crate::inputs::Input;
use crate::term;
use std::fs;
use std::io::{self, IsTerminal as _, Write};
use std::path::PathBuf;
use tercet::captures::Form;
use tercet::records::conversion::changed;
use tercet::records::{Output, Prepared};

/// Options of `convert` that apply to captures; any other is refused.
const APPLIED: &[&str] = &[
    "inputs",
    "allow-empty",
    "schema",
    "strict",
    "type",
    "framing",
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
    "ies",
    "jobs",
    "quiet",
];

/// Converts the messages of captures: a file for each protocol if the output is a directory.
pub fn convert(convert: &Convert, inputs: &[Input]) -> Outcome {
    let run = &convert.run;
    let mut given = convert.conversion.changed()?;
    given.extend([changed(run)?, changed(&convert.schema)?, changed(&convert.schema.reading)?]);
    let mut keys = given.iter().flat_map(|table| table.keys().map(String::as_str));
    if let Some(key) = keys.find(|key| !APPLIED.contains(key)) {
        return Err(not_applied(key));
    }
    let several = "several protocols require a directory for their files: `-o DIR/`";
    if run.protocol.len() > 1 && !convert.one_for_each() {
        return Err(Failure::usage(several));
    }
    if convert.format().is_columnar() && convert.output().is_none() && io::stdout().is_terminal() {
        return Err(Failure::usage("refusing to write binary output to a terminal; use `-o FILE`"));
    }
    let source = Source {
        input: convert.conversion.input.clone(),
        schema: convert.schema.clone(),
        capture: CaptureArgs { protocol: run.protocol.clone(), decode_as: run.decode_as.clone() },
        type_name: convert.conversion.records.type_name.clone(),
        conditions: convert.conversion.rows.conditions.iter().map(ToString::to_string).collect(),
        form: Form { lists: run.ies == Elements::List, numbers: run.ies == Elements::List },
    };
    let messages = source.messages(inputs)?;
    if messages.len() > 1 && !convert.one_for_each() {
        let names: Vec<_> = messages.iter().map(|it| format!("`{}`", it.name)).collect();
        return Err(Failure::usage(format_args!(
            "the capture has messages of {}\nhelp: choose one by `--protocol NAME`; {several}",
            names.join(", ")
        )));
    }
    let mut exit = Exit::Good;
    for of_type in &messages {
        exit = exit.max(write(convert, of_type)?);
    }
    Ok(exit)
}

/// Converts the messages of a type.
fn write(convert: &Convert, messages: &Messages) -> Outcome {
    let Messages { name, envelope, .. } = messages;
    let (form, format) = (convert.conversion.form(), convert.format());
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
    let target = file.as_mut().map_or(&mut *output, |file| file as &mut dyn Write);
    let (exit, count) = match convert.limit() {
        // What follows a limit need not be read.
        Some(limit) => {
            let mut writer = format.writer(&form, prepared.shown(), prepared.record);
            messages.read(&mut *writer, target, Some(limit), None)?
        }
        None => {
            let writing = Writing { format, form: &form, prepared: &prepared };
            messages.convert(&writing, convert.jobs(), target)?
        }
    };
    output.flush()?;
    if let Some(file) = file {
        // As of record files: an output has all messages, or it is not there.
        if exit == Exit::Io {
            term::say(format_args!(
                "{name}: no output, for the capture cannot be read to its end\n\
                 help: `tercet capture list` prints the messages before the damage"
            ));
            return Ok(exit);
        }
        file.commit()?;
    }
    if !convert.run.quiet {
        let to = path.map(|path| format!(" in {}", path.display())).unwrap_or_default();
        term::say(format_args!("{name}: {}{to}", term::count(count, "message")));
    }
    Ok(exit)
}
