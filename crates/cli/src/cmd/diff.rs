//! `tercet diff`.

use crate::args::{SchemaArgs, SyntaxOrAuto};
use crate::auto::{self, Told};
use crate::cmd::validate::Form;
use crate::exit::{Exit, Failure, Outcome};
use crate::inputs::{Input, SpellingArgs};
use crate::term;
use crate::values::{Fault, Values, pieces, root};
use clap::Args;
use serde_json::json;
use std::ffi::OsString;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::PathBuf;
use tercet::dynamic::diff::{self, Difference};
use tercet::dynamic::{NodeId, Options, Plan, Tape};
use tercet::{Rules, Schema};
use tercet_printable::printable;

/// Compare two encodings by value
#[derive(Args, Debug)]
#[command(after_help = "\
The values count, not their bytes: the sides may be in different transfer syntaxes, the members of a SET in any order, and a
component that is absent is the same as its DEFAULT. Of several values the first is compared with the first, and so on.

Exit codes: 0 the same, 1 different, 3 one of them is not a value.

Examples:
  tercet diff -s a.asn -t A old.ber new.ber
  tercet diff -s a.asn -t A --rules-a ber --rules-b uper a.ber a.uper
  tercet diff -s a.asn -t A --rules-b json a.ber a.json -q
  tercet diff -s a.asn --rules auto before after")]
pub struct Diff {
    /// One file; `-` is standard input
    #[arg(value_name = "A")]
    a: OsString,

    /// The other
    #[arg(value_name = "B")]
    b: OsString,

    #[command(flatten)]
    schema: SchemaArgs,

    /// The type, as `Type` or `Module.Type`; the one that fits A best unless given
    #[arg(short, long = "type", value_name = "TYPE")]
    type_name: Option<String>,

    /// Encoding rules of both
    #[arg(long, value_enum, default_value_t = SyntaxOrAuto::default())]
    rules: SyntaxOrAuto,

    /// Encoding rules of A, if they differ from `--rules`
    #[arg(long, value_enum, value_name = "RULES")]
    rules_a: Option<SyntaxOrAuto>,

    /// Encoding rules of B, if they differ from `--rules`
    #[arg(long, value_enum, value_name = "RULES")]
    rules_b: Option<SyntaxOrAuto>,

    #[command(flatten)]
    spelling: SpellingArgs,

    /// How differences are reported
    #[arg(short, long, value_enum, default_value_t = Form::Text)]
    format: Form,

    /// Print nothing: the exit code is the answer
    #[arg(short, long)]
    quiet: bool,
}

impl Diff {
    pub fn run(&self) -> Outcome {
        let schema = self.schema.load_for_good()?;
        let [mut first, mut second] = [&self.a, &self.b].map(|file| match file {
            file if file == "-" => Input::Stdin,
            file => Input::File(PathBuf::from(file)),
        });
        let (rules_a, rules_b) = (self.rules_a.unwrap_or(self.rules), self.rules_b.unwrap_or(self.rules));
        let (a, name) = self.side(&schema, &mut first, rules_a, self.type_name.as_deref())?;
        let (b, name) = self.side(&schema, &mut second, rules_b, Some(&name))?;
        let sides = [a, b];
        let plans = schema.plans_for(&sides, &[&name]).map_err(Failure::usage)?;
        let [a, b] = &plans[..] else { return Err(Failure::usage("there is no plan")) };
        let root = root(a, &name)?;
        let before = self.values(a, root, sides[0], &first)?;
        let after = self.values(b, root, sides[1], &second)?;
        let several = before.len() > 1 || after.len() > 1;
        let mut out = BufWriter::new(io::stdout().lock());
        let mut count = 0;
        for index in 0..before.len().max(after.len()) {
            let name = if several { format!("{index}: ") } else { String::new() };
            let found = match (before.get(index), after.get(index)) {
                (Some((x, tape)), Some((y, other))) => {
                    diff::compare(&a.shape, root, tape.view(x), other.view(y))
                }
                (one, _) => {
                    count += 1;
                    if !self.quiet {
                        let (file, sign) = if one.is_some() { (&first, '-') } else { (&second, '+') };
                        let file = file.name();
                        match self.format {
                            Form::Text => writeln!(out, "{sign} {name}only in {}", printable(&file))?,
                            Form::Json => writeln!(out, "{}", json!({"index": index, "only_in": file}))?,
                        }
                    }
                    continue;
                }
            };
            count += found.len();
            for difference in found.iter().filter(|_| !self.quiet) {
                self.tell(&mut out, index, &name, difference)?;
            }
        }
        out.flush()?;
        Ok(if count == 0 { Exit::Good } else { Exit::Usage })
    }

    /// What a side is, and its type.
    fn side(
        &self,
        schema: &Schema,
        input: &mut Input,
        rules: SyntaxOrAuto,
        name: Option<&str>,
    ) -> Outcome<(Rules, String)> {
        match (rules.0, name) {
            (Some(syntax), Some(name)) => Ok((syntax, name.to_owned())),
            (syntax, name) => {
                let told = if self.quiet { Told::Nothing } else { Told::Best };
                auto::find(schema, std::slice::from_mut(input), syntax, name, self.spelling, told)
            }
        }
    }

    /// The values of a side with the octets that their tapes point into.
    fn values(
        &self,
        plan: &Plan,
        root: NodeId,
        syntax: Rules,
        input: &Input,
    ) -> Outcome<Vec<(Vec<u8>, Tape)>> {
        let mut options = Options::default();
        options.limits.depth = 200;
        let mut values = Values::new(plan, root, syntax, options);
        let mut all = Vec::new();
        for piece in pieces(input, syntax, self.spelling.quiet(self.quiet))? {
            values
                .each(&piece, |view, _| {
                    let mut tape = Tape::new();
                    view.replay(&mut tape);
                    all.push((view.octets().to_vec(), tape));
                    Ok(())
                })
                .map_err(|fault: Fault| Failure::input(fault.0))?;
        }
        Ok(all)
    }

    fn tell(&self, out: &mut impl Write, index: usize, name: &str, it: &Difference) -> io::Result<()> {
        let text = |value: &Option<tercet::dynamic::Value>| value.as_ref().map(ToString::to_string);
        let (before, after) = (text(&it.before), text(&it.after));
        if self.format == Form::Json {
            return writeln!(
                out,
                "{}",
                json!({"index": index, "path": it.path, "before": before, "after": after})
            );
        }
        let colour = term::colour() && io::stdout().is_terminal();
        let (red, green, plain) = if colour { ("\x1b[31m", "\x1b[32m", "\x1b[0m") } else { ("", "", "") };
        let shown = |text: Option<String>| text.map(|text| printable(&text).into_owned());
        let (path, before, after) = (printable(&it.path), shown(before), shown(after));
        match (before, after) {
            (Some(before), Some(after)) => {
                writeln!(out, "{red}- {name}{path}: {before}{plain}")?;
                writeln!(out, "{green}+ {name}{path}: {after}{plain}")
            }
            (Some(before), None) => writeln!(out, "{red}- {name}{path}: {before}{plain}"),
            (None, Some(after)) => writeln!(out, "{green}+ {name}{path}: {after}{plain}"),
            (None, None) => Ok(()),
        }
    }
}
