//! `tercet sample`.

use crate::args::{OutputArg, SchemaArgs, Syntax};
use crate::cmd::transcode::{ONE_VALUE, To, Unwritten, Writer};
use crate::exit::{Exit, Failure, Outcome};
use crate::term;
use crate::values::{root, unfit};
use clap::Args;
use std::io::{self, BufWriter, IsTerminal, Write};
use tercet::Rules;
use tercet::dynamic::{Tape, sample};
use tercet::records::{Format, conversion::FormOptions};
use tercet::records::{Origin, Output};

/// Make up valid values of a type
#[derive(Args, Debug)]
#[command(after_help = "\
The first samples go through the borders of the type: the ends of ranges and sizes, every enumeration item, every
alternative, every OPTIONAL present and absent, every row of an object set. The other samples are random. A seed gives the same samples each time.

Examples:
  tercet sample -s schemas/personnel PersonnelRecord
  tercet sample -s a.asn A --count 100 --format jsonl
  tercet sample -s a.asn A --rules uper --hex --seed 7")]
pub struct Sample {
    /// The type, as `Type` or `Module.Type`
    #[arg(value_name = "TYPE", required_unless_present = "named")]
    type_name: Option<String>,

    /// The same, as other commands take it
    #[arg(short = 't', long = "type", value_name = "TYPE", conflicts_with = "type_name")]
    named: Option<String>,

    #[command(flatten)]
    schema: SchemaArgs,

    /// How many
    #[arg(short = 'n', long, default_value_t = 1)]
    count: u64,

    /// Seed of the random choices
    #[arg(long, default_value_t = 1)]
    seed: u64,

    /// Encode them by these rules
    #[arg(long, value_enum, value_name = "RULES", conflicts_with = "format")]
    rules: Option<Syntax>,

    /// Show them in this format; by the suffix of the output file, or json
    #[arg(short, long, value_enum)]
    format: Option<Format>,

    #[command(flatten)]
    render: FormOptions,

    /// Write hexadecimal text, a line for each value
    #[arg(long, requires = "rules")]
    hex: bool,

    /// Levels from which on only the shortest way to an end is taken
    #[arg(long, value_name = "LEVELS", default_value_t = sample::Options::default().depth)]
    max_depth: u16,

    /// Values in a sample from which on only what has to be there is
    #[arg(long, value_name = "VALUES", default_value_t = sample::Options::default().elements)]
    max_elements: usize,

    /// Let strings and lists be as long as the borders of PER's fragments, 16K and 64K
    #[arg(long)]
    large: bool,

    #[command(flatten)]
    output: OutputArg,
}

impl Sample {
    /// What is written: what is asked for, or what the suffix of the output stands for.
    fn to(&self) -> Outcome<To> {
        let rules = self.rules.map(|rules| To::Rules(rules.0));
        let option = if self.rules.is_some() { "--rules" } else { "--format" };
        let (given, default) = (rules.or_else(|| self.format.map(To::Text)), To::Text(Format::JSON));
        match self.output.file().filter(|_| !self.hex) {
            Some(path) => To::of_output(path, given, Some(option), default),
            None => Ok(given.unwrap_or(default)),
        }
    }

    pub fn run(&self) -> Outcome {
        self.output.guard(&self.schema)?;
        let to = self.to()?;
        let (syntax, format) = match to {
            To::Rules(syntax) => (Some(syntax), None),
            To::Text(format) => (None, Some(format)),
        };
        self.render.check_format(format)?;
        let binary = syntax.is_some_and(|syntax| !syntax.is_text()) && !self.hex;
        let is_columnar = format.is_some_and(|format| format.is_columnar());
        if self.output.file().is_none() && (binary || is_columnar) && io::stdout().is_terminal() {
            return Err(Failure::usage(
                "refusing to write binary output to a terminal; use `-o FILE` or `--hex`",
            ));
        }
        if binary && self.count > 1 && syntax.is_some_and(|syntax| !syntax.delimits()) {
            return Err(Failure::usage(ONE_VALUE));
        }
        let schema = self.schema.load_for_good()?;
        let syntax = syntax.unwrap_or(Rules::Ber);
        let type_name = self.type_name.as_ref().or(self.named.as_ref()).map_or("", String::as_str);
        let plan = schema.plan_for(syntax, &[type_name]).map_err(Failure::usage)?;
        let root = root(&plan, type_name)?;
        let mut options = sample::Options::default();
        options.seed = self.seed;
        options.depth = self.max_depth;
        options.elements = self.max_elements;
        options.large = self.large;
        let mut sampler = sample::Sampler::new(&plan.shape, options);
        let render = self.render.expanded(&plan, root)?;
        if let Some(format) = format {
            render.check_columns(format, &plan, root)?;
        }
        let mut writer = Writer::new(to, self.hex, &render, (&plan, &plan), root);
        let mut file = self.output.file().map(Output::create).transpose()?;
        let mut stdout = BufWriter::new(term::stdout(to.quotes()));
        let (mut tape, mut text) = (Tape::new(), Vec::new());
        // One value of XML is a document of its own.
        let framed = self.count > 1 || format != Some(Format::XML);
        if framed {
            writer.begin(&mut text);
        }
        let mut failed = 0;
        for index in 0..self.count {
            let origin = Origin { input: "", index, offset: 0, octets: &[], elements: &[] };
            let done = sampler.sample(root, &mut tape).map_err(|error| unfit(&error));
            let done = done.and_then(|()| match writer.value(tape.view(&[]), &origin, &mut text) {
                Err(Unwritten::Value(message)) => Err(message),
                _ => Ok(()),
            });
            if let Err(message) = done {
                term::error(format_args!("sample {}: {message}", index + 1));
                failed += 1;
            }
            if framed && index + 1 == self.count {
                writer.end(&mut text)?;
            }
            match &mut file {
                Some(file) => file.write_all(&text)?,
                None => stdout.write_all(&text)?,
            }
            text.clear();
        }
        stdout.flush()?;
        file.map_or(Ok(()), Output::commit)?;
        Ok(match failed {
            0 => Exit::Good,
            failed if failed == self.count => Exit::Failed,
            _ => Exit::Rejected,
        })
    }
}
