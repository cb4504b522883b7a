//! `tercet decode`.

mod traced;

#[cfg(feature = "capture")]
use crate::args::{CaptureArgs, CaptureFraming};
use crate::args::{SchemaArgs, SyntaxOrAuto, writes_stdout};
use crate::auto::{self, Told};
#[cfg(feature = "capture")]
use crate::cmd::capture::{Source, not_applied, refuse_others};
use crate::exit::{Exit, Failure, Outcome};
use crate::inputs::{Input, InputArgs, InputPart, SpellingArgs};
use crate::job::Job;
use crate::rendering::if_asked;
use crate::report::{describe, marks_lines, not_read, say_help, verdict};
use crate::term;
use crate::trace::TraceForm;
use crate::values::{Fault, Piece, Values, pieces, root};
use clap::Args;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::num::NonZeroU64;
use std::ops::ControlFlow;
use std::path::PathBuf;
use tercet::dynamic::{Options, Plan, Tape, Trailing};
use tercet::records::conversion::RenderingOptions;
use tercet::records::conversion::{UnknownPolicy, ValuesPolicy};
use tercet::records::{Converter, Origin, Output, RejectFile, Scratch, Settings, Stopped, Targets};
use tercet::records::{Format, Shown, conversion::FormOptions};
use tercet::{Rules, Schema};

/// Decode values and show them
#[derive(Args, Debug)]
#[command(after_help = "\
An input holds one value or several one after the other; by PER, whose values have no end mark, it
holds one, or with `--hex` one in each line. `tercet convert` is for large files: it keeps rejects apart and accounts for every byte.

By PER bytes may follow a value: transport blocks are filled up. The value is shown then, with a warning. A value that
breaks off is shown on a terminal with what was decoded before the fault, and the error after it.

Examples:
  tercet decode -s schemas/personnel -t PersonnelRecord record.ber
  echo '30 80 04 06 01 02 03 04' | tercet decode -s a.asn -t A --hex --format xml
  tercet decode -s a.asn -t A --rules uper --format value message.uper")]
pub struct Decode {
    #[command(flatten)]
    input: InputArgs,

    #[command(flatten)]
    schema: SchemaArgs,

    /// The type, as `Type` or `Module.Type`; the one that fits the first input best unless given
    #[arg(short, long = "type", value_name = "TYPE")]
    type_name: Option<String>,

    /// Encoding rules of the input
    #[arg(long, value_enum, default_value_t = SyntaxOrAuto::default())]
    rules: SyntaxOrAuto,

    /// List what else the input could be, and why it is less likely
    #[arg(long)]
    explain: bool,

    /// Output format
    #[arg(short, long, value_enum, default_value_t = Format::JSON)]
    format: Format,

    /// Print the parts of the encoding instead of the value: a line for each tag, length, presence bit, contents … with
    /// offset, bits, clause, path and value
    #[arg(long, value_enum, value_name = "FORM", num_args = 0..=1, require_equals = true,
        default_missing_value = "text", conflicts_with_all = ["format", "marks", "partial", "defaults", "FormOptions", "RenderingOptions"])]
    trace: Option<TraceForm>,

    #[command(flatten)]
    render: FormOptions,

    #[command(flatten)]
    rendering: RenderingOptions,

    #[command(flatten)]
    spelling: SpellingArgs,

    #[cfg(feature = "capture")]
    #[command(flatten)]
    capture: CaptureArgs,

    /// How values are framed
    #[cfg(feature = "capture")]
    #[arg(long, value_enum, default_value_t, value_name = "FRAMING")]
    framing: CaptureFraming,

    /// Handling of components that the schema does not define
    #[arg(long, value_enum, default_value_t = UnknownPolicy::Extensible, value_name = "POLICY")]
    unknown: UnknownPolicy,

    /// Handling of texts and times that break the rules of their type in BER
    #[arg(long, value_enum, default_value_t = ValuesPolicy::Keep, value_name = "POLICY")]
    values: ValuesPolicy,

    /// Write a line of JSON to this file for each marked value: a text or time that is kept although it breaks the rules of
    /// its type
    #[arg(long, value_name = "FILE")]
    marks: Option<PathBuf>,

    /// Show components that are absent and have a DEFAULT
    #[arg(long)]
    defaults: bool,

    /// Stop after COUNT values
    #[arg(short = 'n', long, value_name = "COUNT")]
    limit: Option<NonZeroU64>,

    /// Bytes allowed after a value in rules without an end mark (PER); by default the value is shown with a
    /// warning, and the exit code is 2 if the bytes are not all zeros
    #[arg(long, value_enum, value_name = "POLICY")]
    trailing: Option<TrailingArg>,

    /// When to show the part of a value that was decoded before a fault
    #[arg(long, value_enum, value_name = "WHEN", num_args = 0..=1, require_equals = true,
        default_value_t = Partial::Auto, default_missing_value = "always")]
    partial: Partial,
}

/// What may follow a value.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum TrailingArg {
    /// Nothing
    Error,
    /// Zero bytes: padding
    Zeros,
    /// Anything
    Any,
}

/// When values that break off are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Partial {
    /// On a terminal
    Auto,
    Always,
    Never,
}

impl Partial {
    fn is_wanted(self) -> bool {
        match self {
            Self::Auto => io::stdout().is_terminal(),
            Self::Always => true,
            Self::Never => false,
        }
    }
}

impl Decode {
    pub fn run(&self) -> Outcome {
        if self.format.is_columnar() {
            return Err(Failure::usage("files with columns are made by `tercet convert`"));
        }
        self.render.check_format(Some(self.format))?;
        let mut guard = self.schema.guard()?;
        writes_stdout(&mut guard)?;
        if let Some(path) = &self.marks {
            guard.writes("`--marks`", path)?;
        }
        let mut inputs = self.input.expand_beside(&mut guard, false)?;
        #[cfg(feature = "capture")]
        if crate::cmd::capture::are_captures(&inputs, self.framing.is_capture())? {
            return self.captures();
        }
        let schema = self.schema.load_for_good()?;
        let (syntax, type_name) = match (self.rules.0, &self.type_name) {
            (Some(syntax), Some(name)) if !self.explain => (syntax, name.clone()),
            (syntax, name) => {
                let told = if self.explain { Told::All } else { Told::Best };
                auto::find(&schema, &mut inputs, syntax, name.as_deref(), self.spelling, told)?
            }
        };
        let mut options = Options::default();
        options.rules = syntax.plan_rules();
        options.unknown = self.unknown.policy();
        options.fill_defaults = self.defaults;
        options.strict_values = self.values.is_strict();
        options.trailing = match self.trailing {
            None | Some(TrailingArg::Error) => Trailing::Error,
            Some(TrailingArg::Zeros) => Trailing::Zeros,
            Some(TrailingArg::Any) => Trailing::Any,
        };
        if let Some(form) = self.trace {
            return self.trace(form, &schema, (syntax, &type_name), &inputs, options);
        }
        if !syntax.has_elements() {
            return self.pieces(&schema, syntax, &type_name, &inputs, options);
        }
        let job = Job::new(&schema, &type_name, None)?;
        let mut parts = Values::new(&job.plan, job.record, syntax, options.clone());
        parts.partial = true;
        let partial = self.partial.is_wanted();
        let (mut tape, mut scratch) = (Tape::new(), Scratch::default());
        let settings = Settings { options, ..Settings::new(job.framing.clone(), job.record) };
        let limit = self.limit.map(NonZeroU64::get);
        let rendering = if_asked(&self.rendering, &job.plan.shape, job.record)?;
        let contents = self.contents(&schema, &job.plan, &type_name);
        let plain = || Shown::from(&job.plan).with_contents(&contents);
        let shown = rendering.as_ref().map_or_else(plain, Shown::from);
        let mut converter =
            Converter::builder(&job.plan, settings).rendering(rendering.as_ref()).limit(limit).build();
        let render = self.render.expanded(shown, job.record)?;
        render.check_columns(self.format, shown, job.record)?;
        let mut render = self.format.writer(&render, shown, job.record);
        let mut out = BufWriter::new(term::stdout(term::quotes(self.format)));
        let mut text = Vec::new();
        // One value is a document of its own.
        let framed = self.format != Format::XML;
        if framed {
            render.begin(&mut text);
            out.write_all(&text)?;
        }
        let mut marks = self.marks.as_ref().map(Output::create).transpose()?;
        let mut exit = Exit::Good;
        for input in &inputs {
            let (mut of_input, mut records) = (Exit::Good, 0);
            for InputPart { name, octets: reader } in input.parts(self.spelling, true)? {
                let mut rejects = RejectFile::in_memory();
                let mut targets = Targets {
                    render: &mut *render,
                    out: &mut out,
                    header: None,
                    rejects: partial.then_some(&mut rejects),
                    marks: marks.as_mut().map(|marks| marks as &mut dyn Write),
                };
                let summary =
                    converter.run(&name, reader, &mut targets, &mut |_| ControlFlow::Continue(()))?;
                for (reject, octets) in rejects.take_kept() {
                    // What is wrong is reported below.
                    text.clear();
                    let piece = Piece { name: name.clone(), octets };
                    let broken = parts.each(&piece, |view, origin| {
                        let origin = Origin { offset: reject.offset, ..*origin };
                        let view = match &rendering {
                            Some(rendering) => {
                                rendering.show(view, &mut tape, &mut scratch);
                                tape.view(view.octets())
                            }
                            None => view,
                        };
                        render.record(view, &origin, &mut text).map_err(|error| Fault(error.to_string()))
                    });
                    if broken.is_err() && !text.is_empty() {
                        out.write_all(&text)?;
                        out.flush()?;
                        term::warning(format_args!(
                            "{name}: the value at offset {:#x} is shown as far as it decodes",
                            reject.offset
                        ));
                    }
                }
                for line in marks_lines(&summary.marks) {
                    term::warning(format_args!("{name}: {line}"));
                }
                for reject in &summary.samples {
                    term::error(format_args!("{name}: {}", describe(reject)));
                }
                say_help(&summary);
                if summary.stopped == Some(Stopped::Limit) {
                    // What follows is not looked at: a warning says so, as standard output does not.
                    let rest = input.rest(&name, &summary);
                    if rest != Some(0) {
                        term::warning(format_args!("{name}: {}", not_read(rest)));
                    }
                    of_input = of_input.max(verdict(&summary));
                    break;
                }
                if summary.balance.read == 0 {
                    term::warning(format_args!("{name}: the input is empty"));
                }
                of_input = of_input.max(verdict(&summary));
                records += summary.records;
            }
            // One damaged block of several is a reject, not a failed input.
            if of_input == Exit::Failed && records > 0 {
                of_input = Exit::Rejected;
            }
            exit = exit.max(of_input);
            if converter.is_at_limit() {
                break;
            }
        }
        if framed {
            text.clear();
            render.end(&mut text)?;
            out.write_all(&text)?;
        }
        out.flush()?;
        marks.map_or(Ok(()), Output::commit)?;
        Ok(exit)
    }

    /// Prints the messages of captures.
    #[cfg(feature = "capture")]
    fn captures(&self) -> Outcome {
        let given = [
            ("rules", self.rules != SyntaxOrAuto::default()),
            ("explain", self.explain),
            ("trace", self.trace.is_some()),
            ("marks", self.marks.is_some()),
            ("hex", self.spelling.hex),
            ("defaults", self.defaults),
            ("trailing", self.trailing.is_some()),
        ];
        if let Some((option, _)) = given.iter().find(|(_, is_given)| *is_given) {
            return Err(not_applied(option));
        }
        refuse_others(&self.rendering, &[])?;
        let source = Source {
            input: self.input.options.clone(),
            schema: self.schema.clone(),
            capture: self.capture.clone(),
            type_name: self.type_name.clone(),
            conditions: Vec::new(),
            form: Default::default(),
        };
        let mut out = BufWriter::new(term::stdout(term::quotes(self.format)));
        crate::cmd::capture::print(
            &source,
            self.format,
            &self.render,
            self.limit.map(NonZeroU64::get),
            &mut out,
        )
    }

    /// Plans for what strings contain under ENCODED BY, which value notation alone shows.
    fn contents(&self, schema: &Schema, plan: &Plan, type_name: &str) -> Vec<(Rules, Plan)> {
        if self.format == Format::VALUE { schema.contents_plans(plan, &[type_name]) } else { Vec::new() }
    }

    /// Values by rules whose encodings are no elements.
    fn pieces(
        &self,
        schema: &Schema,
        syntax: Rules,
        type_name: &str,
        inputs: &[Input],
        options: Options,
    ) -> Outcome {
        let plan = schema.plan_for(syntax, &[type_name]).map_err(Failure::usage)?;
        let root = root(&plan, type_name)?;
        let mut values = Values::new(&plan, root, syntax, options);
        values.partial = self.partial.is_wanted();
        values.warns_of_trailing = self.trailing.is_none();
        let rendering = if_asked(&self.rendering, &plan.shape, root)?;
        let contents = self.contents(schema, &plan, type_name);
        let plain = || Shown::from(&plan).with_contents(&contents);
        let shown = rendering.as_ref().map_or_else(plain, Shown::from);
        let (mut tape, mut scratch) = (Tape::new(), Scratch::default());
        let render = self.render.expanded(shown, root)?;
        render.check_columns(self.format, shown, root)?;
        let mut render = self.format.writer(&render, shown, root);
        let mut out = BufWriter::new(term::stdout(term::quotes(self.format)));
        let mut text = Vec::new();
        let framed = self.format != Format::XML;
        if framed {
            render.begin(&mut text);
        }
        let mut faults = 0;
        let limit = self.limit.map_or(u64::MAX, NonZeroU64::get);
        'all: for input in inputs {
            let pieces = pieces(input, syntax, self.spelling)?;
            if pieces.is_empty() {
                term::warning(format_args!("{}: the input is empty", input.shown()));
            }
            for piece in pieces {
                let mut rest = 0;
                let done = values.each(&piece, |view, origin| {
                    let view = match &rendering {
                        Some(rendering) => {
                            rendering.show(view, &mut tape, &mut scratch);
                            tape.view(view.octets())
                        }
                        None => view,
                    };
                    render.record(view, origin, &mut text).map_err(|error| Fault(error.to_string()))?;
                    rest = (piece.octets.len() - origin.octets.len()) as u64 - origin.offset;
                    // The first value has the number 0.
                    if origin.index + 1 >= limit { Err(End::Limit) } else { Ok(()) }
                });
                out.write_all(&text)?;
                text.clear();
                match done {
                    Ok(()) => {}
                    Err(End::Limit) => {
                        out.flush()?;
                        // Of other parts and inputs it is not known how much there is.
                        let rest = Some(rest).filter(|_| inputs.len() == 1 && rest > 0);
                        term::warning(format_args!("{}: {}", piece.name, not_read(rest)));
                        break 'all;
                    }
                    Err(End::Fault(message)) => {
                        out.flush()?;
                        term::error(message);
                        faults += 1;
                    }
                }
            }
        }
        if framed {
            render.end(&mut text)?;
        }
        out.write_all(&text)?;
        out.flush()?;
        Ok(match (faults + values.doubtful, values.count) {
            (0, _) => Exit::Good,
            (_, 0) => Exit::Failed,
            _ => Exit::Rejected,
        })
    }
}

/// Why the values of an input end early.
enum End {
    /// As many as were asked for have been shown.
    Limit,
    Fault(String),
}

impl From<Fault> for End {
    fn from(Fault(message): Fault) -> Self {
        Self::Fault(message)
    }
}
