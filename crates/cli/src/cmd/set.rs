//! `tercet set`.

use crate::args::{SchemaArgs, Syntax};
use crate::exit::{Exit, Failure, Outcome};
use crate::job::Job;
use crate::term;
use clap::Args;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tercet::Schema;
use tercet::dynamic::Options;
use tercet::edit::{Change, ChangeError, change_octets};
use tercet::records::conversion::RecordOptions;
use tercet::records::{
    Check, Framing, Identifiers, Output, RecordReader, Replacement, detect, replace_records,
};
use tercet::suggest;
use tercet_printable::path;

/// Change components of a value in a file; lengths are adjusted, the rest stays as it is
#[derive(Args, Debug)]
#[command(after_help = "\
VALUE is JSON (X.697), and a text needs no quotes. An absent component is added, another alternative of a CHOICE replaces the one
that is there, and the number after the last element of a list adds an element. Lengths of lists, headers and blocks around the
record are adjusted. The file is replaced as a whole or not at all.

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

    /// How records are framed, such as `plain` or `u16be`; found by trial by default
    #[arg(long, value_name = "FRAMING")]
    framing: Option<String>,

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
        let schema = self.schema.load_for_good()?;
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
        let (plan, root, place, framing) = if rules.has_elements() {
            let job = self.job(&schema, &mut input).map_err(|fault| fault.failure(&file))?;
            let place = self.record(&job, &file)?;
            (job.plan, job.record, place, job.framing)
        } else {
            if self.number.is_some_and(|number| number > 0) {
                return Err(Failure::usage(format_args!("a file in {rules} holds one value")));
            }
            if self.framing.is_some() {
                return Err(Failure::usage(format_args!(
                    "`--framing` is for records in BER, not for {rules}"
                )));
            }
            let plan = schema.plan_for(rules, &[&self.type_name]).map_err(Failure::usage)?;
            let root = crate::values::root(&plan, &self.type_name)?;
            let octets = fs::read(&file).map_err(named)?;
            let place = Place { offset: 0, length: metadata.len(), octets };
            (plan, root, place, Framing::concatenated(Identifiers::any()))
        };
        let changed = change_octets(&plan, root, rules, &place.octets, &list)
            .map_err(|error| fault(error).failure(&file))?;
        for violation in &changed.violations {
            term::warning(violation);
        }
        if changed.is_rewritten {
            term::warning("the value was not in the form that Tercet writes; all of it is written anew");
        }
        let mut output = Output::create(&target)?;
        let new = Replacement { length: place.length, octets: changed.octets };
        replace_records(&mut input, &framing, &BTreeMap::from([(place.offset, new)]), &mut output)
            .map_err(named)?;
        output.commit()?;
        if self.output.is_none() {
            fs::set_permissions(&target, metadata.permissions()).map_err(named)?;
        }
        Ok(Exit::Good)
    }
}

impl Set {
    /// Returns how the records are read: with the framing that is given, or that is found by trial.
    fn job(&self, schema: &Arc<Schema>, input: &mut File) -> Result<Job, Fault> {
        let mut job = Job::new(schema, &self.type_name, None).map_err(Fault::Other)?;
        if let Some(framing) = &self.framing {
            let given = RecordOptions { framing: framing.clone(), ..RecordOptions::default() };
            let given = given.given_framing().map_err(|error| Fault::Usage(error.to_string()))?;
            job.framing = given.framed(job.framing).map_err(|error| Fault::Usage(error.to_string()))?;
            return Ok(job);
        }
        let mut sample = Vec::new();
        input.take(SAMPLE).read_to_end(&mut sample).map_err(|error| Fault::Input(error.to_string()))?;
        let is_whole = (sample.len() as u64) < SAMPLE;
        let mut check = Check::new(&job.plan, Some(&job.others), job.record, &Options::default());
        if let Some(found) = detect(&job.framing, &sample, is_whole, &mut check) {
            job.framing = found.framing;
        }
        Ok(job)
    }

    /// Finds the record.
    fn record(&self, job: &Job, file: &Path) -> Outcome<Place> {
        let named = |error: io::Error| Failure::io(path(file), &error);
        let mut reader = RecordReader::new(File::open(file).map_err(named)?, job.framing.clone());
        let (mut count, mut found) = (0, None);
        while let Some(item) = reader.next(&mut |_: &[u8]| true).map_err(named)? {
            if item.part.record().is_none() {
                continue;
            }
            if count == self.number.unwrap_or(0) {
                let octets = item.octets.to_vec();
                found = Some(Place { offset: item.offset, length: octets.len() as u64, octets });
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

/// Bytes that framings are tried on.
const SAMPLE: u64 = 1 << 20;

/// A record in its file.
struct Place {
    offset: u64,
    length: u64,
    octets: Vec<u8>,
}

/// Why a value is not changed.
enum Fault {
    /// The command line.
    Usage(String),
    /// The file.
    Input(String),
    Other(Failure),
}

impl Fault {
    fn failure(self, file: &Path) -> Failure {
        match self {
            Self::Usage(text) => Failure::usage(text),
            Self::Input(text) => Failure::input(format_args!("{}: {text}", path(file))),
            Self::Other(failure) => failure,
        }
    }
}

fn fault(error: ChangeError) -> Fault {
    match error {
        ChangeError::Read(error) => Fault::Input(error.to_string()),
        ChangeError::Trailing(error) => Fault::Input(error.to_string()),
        ChangeError::Write(error) => Fault::Usage(crate::values::unwritten(&error)),
        ChangeError::Change(error) => Fault::Usage(match error.unknown() {
            Some((kind, name, known)) => {
                let text = suggest::unknown(kind, name, known.iter().map(String::as_str));
                format!("`{}`: {text}", error.path())
            }
            None => error.to_string(),
        }),
    }
}
