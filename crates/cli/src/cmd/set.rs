//! `tercet set`.

use crate::args::{SchemaArgs, Syntax};
use crate::exit::{Exit, Failure, Outcome};
use crate::job::Job;
use crate::term;
use clap::Args;
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::PathBuf;
use std::sync::Arc;
use tercet::Rules;
use tercet::dynamic::validate::Validator;
use tercet::dynamic::{NodeId, Options, Plan, Tape};
use tercet::edit::{Change, EditError};
use tercet::records::{Output, RecordReader};
use tercet::suggest;
use tercet::{TapeCodec, check_trailing};
use tercet_printable::path;

/// Change components of a value in a file; lengths are adjusted, the rest stays as it is
#[derive(Args, Debug)]
#[command(after_help = "\
VALUE is JSON (X.697), and a text needs no quotes. An absent component is added, another alternative of a CHOICE replaces the one
that is there, and the number after the last element of a list adds an element. The file is replaced as a whole or not at all.

Examples:
  tercet set -s schemas/demo -t CallRecord -n 5 moCall.duration=60 calls.ber
  tercet set -s a.asn -t A --rules uper name=Falk 'ports[0]=80' message.uper -o other.uper
  tercet set -s a.asn -t A --remove comment message.ber")]
pub struct Set {
    /// Changes as `PATH=VALUE`, then the file
    #[arg(required = true, num_args = 1.., value_name = "PATH=VALUE… FILE")]
    words: Vec<String>,

    #[command(flatten)]
    schema: SchemaArgs,

    /// The type, as `Type` or `Module.Type`
    #[arg(short, long = "type", value_name = "TYPE")]
    type_name: String,

    /// Encoding rules of the file
    #[arg(long, value_enum, default_value_t = Syntax::default())]
    rules: Syntax,

    /// The number of the record in a file of several, from 0
    #[arg(short, long, value_name = "NUMBER")]
    number: Option<u64>,

    /// Remove the component or element at this path, after the changes; may be repeated
    #[arg(long, value_name = "PATH")]
    remove: Vec<String>,

    /// Write the changed file here instead of replacing it
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

impl Set {
    pub fn run(&self) -> Outcome {
        let Some((file, changes)) = self.words.split_last() else {
            return Err(Failure::usage("no file"));
        };
        let mut list = Vec::new();
        for word in changes {
            let Some((path, value)) = word.split_once('=') else {
                return Err(Failure::usage(format_args!("`{word}` is not PATH=VALUE")));
            };
            list.push(Change::set(path, value));
        }
        list.extend(self.remove.iter().map(Change::remove));
        if list.is_empty() {
            return Err(Failure::usage("no change; give PATH=VALUE or `--remove PATH`, then the file"));
        }
        let file = PathBuf::from(file);
        let rules = self.rules.0;
        let schema = Arc::new(self.schema.load()?);
        let mut guard = self.schema.guard()?;
        let named = |error: io::Error| Failure::io(path(&file), &error);
        // A link stays one.
        let target = match &self.output {
            Some(output) => output.clone(),
            None => fs::canonicalize(&file).map_err(named)?,
        };
        guard.writes("the file", &target)?;
        let mut input = File::open(&file).map_err(named)?;
        let metadata = input.metadata().map_err(named)?;
        let (plan, root, place) = if rules.has_elements() {
            let job = Job::new(&schema, &self.type_name, None)?;
            let place = self.record(&job, &file)?;
            (job.plan, job.record, place)
        } else {
            if self.number.is_some_and(|number| number > 0) {
                return Err(Failure::usage(format_args!("a file in {rules} holds one value")));
            }
            let plan = schema.plan_for(rules, &[&self.type_name]).map_err(Failure::usage)?;
            let root = crate::values::root(&plan, &self.type_name)?;
            (plan, root, 0..metadata.len())
        };
        let mut record = Vec::new();
        input.seek(SeekFrom::Start(place.start)).map_err(named)?;
        (&mut input).take(place.end - place.start).read_to_end(&mut record).map_err(named)?;
        let changed = change(&plan, (root, rules), &record, &list).map_err(|fault| match fault {
            Fault::Usage(text) => Failure::usage(text),
            Fault::Input(text) => Failure::input(format_args!("{}: {text}", path(&file))),
        })?;
        for violation in &changed.violations {
            term::warning(violation);
        }
        if changed.is_rewritten {
            term::warning("the value was not in the form that Tercet writes; all of it is written anew");
        }
        let mut output = Output::create(&target)?;
        input.rewind().map_err(named)?;
        io::copy(&mut (&mut input).take(place.start), &mut output)?;
        output.write_all(&changed.octets)?;
        input.seek(SeekFrom::Start(place.end)).map_err(named)?;
        io::copy(&mut input, &mut output)?;
        output.commit()?;
        if self.output.is_none() {
            fs::set_permissions(&target, metadata.permissions()).map_err(named)?;
        }
        Ok(Exit::Good)
    }
}

impl Set {
    /// Finds the bytes of the record.
    fn record(&self, job: &Job, file: &std::path::Path) -> Outcome<std::ops::Range<u64>> {
        let named = |error: io::Error| Failure::io(path(file), &error);
        let mut reader = RecordReader::new(File::open(file).map_err(named)?, job.framing.clone());
        let (mut count, mut found) = (0, None);
        while let Some(item) = reader.next(&mut |_: &[u8]| true).map_err(named)? {
            if item.part.record().is_none() {
                continue;
            }
            if count == self.number.unwrap_or(0) {
                found = Some(item.offset..item.offset + item.octets.len() as u64);
            }
            count += 1;
            if found.is_some() && (self.number.is_some() || count > 1) {
                break;
            }
        }
        if self.number.is_none() && count > 1 {
            let text = format!("{}: several records; choose one with `--number`", path(file));
            return Err(Failure::usage(text));
        }
        let number = self.number.unwrap_or(0);
        let count = term::count(count, "record");
        found.ok_or_else(|| Failure::input(format_args!("{}: no record {number}, only {count}", path(file))))
    }
}

/// A value with its changes.
struct Changed {
    octets: Vec<u8>,
    /// Constraints that it does not meet now, but did before.
    violations: Vec<String>,
    /// Whether other bytes differ too, as the value was in another form.
    is_rewritten: bool,
}

/// Why a value is not changed.
enum Fault {
    /// The command line.
    Usage(String),
    /// The file.
    Input(String),
}

impl From<EditError> for Fault {
    fn from(error: EditError) -> Self {
        match error.unknown() {
            Some((kind, name, known)) => {
                let text = suggest::unknown(kind, name, known.iter().map(String::as_str));
                Self::Usage(format!("`{}`: {text}", error.path()))
            }
            None => Self::Usage(error.to_string()),
        }
    }
}

/// Changes a value, and reads the result to see that it is one.
fn change(
    plan: &Plan,
    (root, rules): (NodeId, Rules),
    octets: &[u8],
    changes: &[Change],
) -> Result<Changed, Fault> {
    let input = |error: &dyn std::fmt::Display| Fault::Input(error.to_string());
    let mut codec = TapeCodec::new(rules, plan);
    let (mut tape, mut options) = (Tape::new(), Options::default());
    options.rules = rules.plan_rules();
    let length = codec.read(root, octets, &mut tape, &options).map_err(|error| input(&error))?;
    check_trailing(plan, root, &octets[length..], length as u64, tercet::dynamic::Trailing::Zeros)
        .map_err(|error| input(&error))?;
    let mut before = Vec::new();
    codec.write(tape.view(octets), &mut before).map_err(|error| input(&error))?;
    let mut validator = Validator::new();
    let old = validator.check(&plan.shape, root, tape.view(octets));
    for change in changes {
        tape = change.apply(&plan.shape, root, tape.view(octets))?;
    }
    let mut after = Vec::new();
    let usage = |error: &dyn std::fmt::Display| Fault::Usage(error.to_string());
    codec.write(tape.view(octets), &mut after).map_err(|error| usage(&crate::values::unwritten(&error)))?;
    let new = validator.check(&plan.shape, root, tape.view(octets));
    let violations = new
        .iter()
        .filter(|it| !old.iter().any(|known| known.path == it.path))
        .map(ToString::to_string)
        .collect();
    let mut again = Tape::new();
    codec.read(root, &after, &mut again, &options).map_err(|error| usage(&error))?;
    Ok(Changed { octets: after, violations, is_rewritten: before != octets[..length] })
}
