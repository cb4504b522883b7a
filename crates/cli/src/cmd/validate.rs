//! `tercet validate`.

#[cfg(feature = "capture")]
use crate::args::{CaptureArgs, CaptureFraming};
use crate::args::{SchemaArgs, Syntax};
#[cfg(feature = "capture")]
use crate::cmd::capture::{Source, not_applied, refuse_others};
use crate::exit::{Exit, Failure, Outcome};
use crate::inputs::{InputArgs, SpellingArgs};
use crate::rendering::if_asked;
use crate::term;
use crate::values::{Fault, Values, pieces, root, shown_plan};
use clap::{Args, ValueEnum};
use serde_json::json;
use std::io::{self, BufWriter, Write};
#[cfg(feature = "capture")]
use tercet::captures::{Specification, capture::Pdu};
#[cfg(feature = "capture")]
use tercet::dynamic::View;
use tercet::dynamic::validate::{Validator, Violation, fault_inside};
use tercet::dynamic::{Error, Options, Token};
use tercet::plan::constraint::Element;
use tercet::records::conversion::RenderingOptions;
use tercet::records::conversion::UnknownPolicy;
use tercet::{Place, Rules};

/// Check values against all constraints of their type
#[derive(Args, Debug)]
#[command(after_help = "\
Every constraint of X.680 and X.682 counts: value sets, ranges, sizes, alphabets, patterns, inner subtyping, information
object sets. CONSTRAINED BY is for people and is not checked.

Examples:
  tercet validate -s schemas/personnel -t PersonnelRecord record.ber
  tercet validate -s a.asn -t A --rules jer values.jsonl
  tercet validate -s a.asn -t A --rules der --strict-rules certificate.der --format json")]
pub struct Validate {
    #[command(flatten)]
    input: InputArgs,

    #[command(flatten)]
    schema: SchemaArgs,

    /// The type, as `Type` or `Module.Type`; of packet captures any that the specifications decode
    #[arg(short, long = "type", value_name = "TYPE")]
    type_name: Option<String>,

    /// Kind of the input
    #[arg(long, value_enum, default_value_t = Syntax::default())]
    rules: Syntax,

    /// Report everything that the standard forbids, such as encodings longer than necessary
    #[arg(long)]
    strict_rules: bool,

    #[command(flatten)]
    spelling: SpellingArgs,

    /// Handling of components that the schema does not define
    #[arg(long, value_enum, default_value_t = UnknownPolicy::Extensible, value_name = "POLICY")]
    unknown: UnknownPolicy,

    #[command(flatten)]
    rendering: RenderingOptions,

    #[cfg(feature = "capture")]
    #[command(flatten)]
    capture: CaptureArgs,

    /// How values are framed
    #[cfg(feature = "capture")]
    #[arg(long, value_enum, default_value_t, value_name = "FRAMING")]
    framing: CaptureFraming,

    /// How violations are reported
    #[arg(short, long, value_enum, default_value_t = Form::Text)]
    format: Form,

    /// Print nothing: the exit code is the answer
    #[arg(short, long)]
    quiet: bool,
}

/// How findings are told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Form {
    /// Lines for people
    #[default]
    Text,
    /// A JSON object in each line
    Json,
}

impl Validate {
    pub fn run(&self) -> Outcome {
        let inputs = self.input.expand()?;
        #[cfg(feature = "capture")]
        if crate::cmd::capture::are_captures(&inputs, self.framing.is_capture())? {
            return self.captures();
        }
        let type_name = self.type_name.as_ref().ok_or_else(|| Failure::usage("`--type TYPE` is required"))?;
        let schema = self.schema.load_for_good()?;
        let syntax: Rules = self.rules.0;
        let plan = schema.plan_for(syntax, &[type_name]).map_err(Failure::usage)?;
        let root = root(&plan, type_name)?;
        let mut options = if self.strict_rules { Options::strict(syntax) } else { Options::default() };
        // Constraints are told below, all of them and with their text.
        options.check_constraints = false;
        options.strict_values = true;
        options.unknown = self.unknown.policy();
        let mut validator = Validator::new();
        let rendering = if_asked(&self.rendering, &plan.shape, root)?;
        let text = rendering.as_ref().filter(|_| syntax.is_text());
        let shown = text.map(|rendering| (rendering, shown_plan(&plan, rendering)));
        let mut values = Values::new(&plan, root, syntax, options.clone())
            .with_rendering(shown.as_ref().map(|(rendering, plan)| (*rendering, plan)));
        let mut out = BufWriter::new(term::report());
        let (mut faults, mut invalid) = (0u64, 0u64);
        for input in inputs {
            for piece in pieces(&input, syntax, self.spelling.quiet(self.quiet))? {
                let several = |index: u64| if index == 0 { String::new() } else { format!("[{index}]") };
                let mut index = 0;
                let done = values.each(&piece, |view, origin| {
                    let found = validator.check(&plan.shape, root, view);
                    invalid += u64::from(!found.is_empty());
                    for violation in found.iter().filter(|_| !self.quiet) {
                        let name = format!("{}{}", piece.name, several(index));
                        options.base_offset = origin.offset;
                        let inside = (!syntax.is_text())
                            .then(|| fault_inside(&plan, view, violation.token, &options))
                            .flatten();
                        let shown = match (&rendering, view.token(violation.token)) {
                            (Some(rendering), Token::Leaf { field, leaf, .. }) => {
                                rendering.text_of(field, leaf)
                            }
                            _ => None,
                        };
                        let notes = (inside.as_ref(), shown.as_deref());
                        let place = violation.span.and_then(|span| schema.place(span));
                        self.tell(&mut out, place, &name, origin.offset, violation, notes)
                            .map_err(|error| Fault(error.to_string()))?;
                    }
                    index += 1;
                    Ok(())
                });
                if let Err(Fault(message)) = done {
                    out.flush()?;
                    term::error(message);
                    faults += 1;
                }
            }
        }
        out.flush()?;
        let ignored =
            plan.shape.restrictions.list.iter().filter(|it| it.root == Element::UserDefined).count();
        Ok(self.conclude(values.count, invalid, faults, ignored))
    }

    /// Checks the messages of captures.
    #[cfg(feature = "capture")]
    fn captures(&self) -> Outcome {
        let given = [
            ("rules", self.rules != Syntax::default()),
            ("hex", self.spelling.hex),
            ("strict-rules", self.strict_rules),
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
        let mut out = BufWriter::new(term::report());
        let (mut validator, mut invalid) = (Validator::new(), 0u64);
        let mut take = |pdu: &Pdu<'_>, specification: &Specification, view: View<'_>| {
            let found = validator.check(&specification.plan.shape, specification.root, view);
            invalid += u64::from(!found.is_empty());
            for violation in found.iter().filter(|_| !self.quiet) {
                self.tell(&mut out, None, &format!("frame {}", pdu.frame), 0, violation, (None, None))?;
            }
            Ok(())
        };
        let (exit, counts) = source.values(None, false, &mut take)?;
        out.flush()?;
        Ok(exit.max(self.conclude(counts.values, invalid, counts.faults, 0)))
    }

    /// Prints the counts.
    fn conclude(&self, count: u64, invalid: u64, faults: u64, ignored: usize) -> Exit {
        if !self.quiet {
            let what = match (count, invalid) {
                (0, _) => "there is no value".to_owned(),
                (all, 0) => format!("{}, all valid", term::count(all, "value")),
                (all, bad) => format!("{}, {bad} not valid", term::count(all, "value")),
            };
            let note = if ignored == 0 {
                String::new()
            } else {
                let (are, s) = if ignored == 1 { ("is", "") } else { ("are", "s") };
                format!("; {ignored} constraint{s} CONSTRAINED BY {are} for people and not checked")
            };
            term::say(format_args!("{what}{note}"));
        }
        match (faults + invalid, count.saturating_sub(invalid)) {
            (0, _) => Exit::Good,
            (_, 0) => Exit::Failed,
            _ => Exit::Rejected,
        }
    }

    fn tell(
        &self,
        out: &mut impl Write,
        place: Option<Place>,
        name: &str,
        offset: u64,
        violation: &Violation,
        (inside, shown): (Option<&Error>, Option<&str>),
    ) -> io::Result<()> {
        if self.format == Form::Json {
            let mut line = json!({
                "input": name,
                "offset": offset,
                "path": violation.path,
                "value": violation.value,
                "message": violation.message,
                "constraint": violation.constraint,
                "file": place.as_ref().map(|place| &place.file),
                "line": place.as_ref().map(|place| place.line),
                "source": place.as_ref().map(|place| &place.text),
                "inside": inside.map(Error::to_string),
            });
            if let Some(shown) = shown {
                line["shown"] = shown.into();
            }
            return writeln!(out, "{line}");
        }
        writeln!(out, "{name}: {violation}")?;
        if let Some(shown) = shown {
            writeln!(out, "  shown as {shown}")?;
        }
        if let Some(fault) = inside {
            writeln!(out, "  {fault}")?;
        }
        match place {
            Some(place) => writeln!(out, "  {}:{}: {}", place.file, place.line, place.text),
            None => Ok(()),
        }
    }
}
