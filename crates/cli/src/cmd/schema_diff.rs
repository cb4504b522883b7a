//! `tercet schema-diff`.

use crate::args::{ReadingArgs, Syntax};
use crate::cmd::validate::Form;
use crate::exit::{Exit, Failure, Outcome};
use crate::term;
use clap::{Args, ValueEnum};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use tercet::{Rules, Schema, SchemaOptions};
use tercet_ide::compare::{
    Change, ChangeKind, Comparison, Location, Options, Reason, Status, TypeReport, Verdict, compare,
};

/// Reasons that are printed for a type and some rules.
const REASONS: usize = 4;

/// Names that are printed of a list.
const NAMES: usize = 5;

/// Compare two versions of specifications: changes, and which version reads the encodings of the other
#[derive(Args, Debug)]
#[command(after_help = "\
A version reads the other if it takes each encoding of each value and gives the same value; components that it does not know are
skipped where the type has `...`. The verdicts follow from the compiled plans, for each of the encoding rules:
  wire-compatible  each version reads the other
  new-reads-old    only the new version reads the other
  old-reads-new    only the old version reads the other
  not-compatible   neither

Exit codes: 0 the same, or all of --require hold; 1 different, or one of --require does not hold; 3 a specification has errors.

Examples:
  tercet schema-diff old.asn new.asn
  tercet schema-diff v17/ v18/ --type NGAP-PDU --rules aper
  tercet schema-diff old/ new/ --require new-reads-old --rules ber,der
  tercet schema-diff TAP-0311.asn TAP-0312.asn --format json")]
pub struct SchemaDiff {
    /// Specification of the old version, or a directory of them
    #[arg(value_name = "OLD")]
    old: PathBuf,

    /// Specification of the new version, or a directory of them
    #[arg(value_name = "NEW")]
    new: PathBuf,

    /// Compare this type and all that it uses; all types unless given; may be repeated
    #[arg(short, long = "type", value_name = "TYPE")]
    types: Vec<String>,

    /// Encoding rules of the verdicts; all but EXER unless given
    #[arg(long, value_enum, value_delimiter = ',')]
    rules: Vec<Syntax>,

    /// The module or type OLD has the name NEW in the new version; two single modules match whatever their names
    #[arg(long, value_name = "OLD=NEW")]
    renamed: Vec<String>,

    /// Exit with 0 if this holds for all types and rules; may be repeated
    #[arg(long, value_enum, value_delimiter = ',', value_name = "VERDICT")]
    require: Vec<Requirement>,

    #[command(flatten)]
    reading: ReadingArgs,

    /// Use the specifications even if they have errors
    #[arg(long)]
    allow_errors: bool,

    /// How differences are reported
    #[arg(short, long, value_enum, default_value_t = Form::Text)]
    format: Form,

    /// Print nothing: the exit code is the answer
    #[arg(short, long)]
    quiet: bool,
}

/// A condition on the verdicts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Requirement {
    /// Each version reads encodings of the other
    WireCompatible,
    /// The new version reads encodings of the old one
    NewReadsOld,
    /// The old version reads encodings of the new one
    OldReadsNew,
    /// Programs with generated Rust of the old version compile with that of the new one
    SourceCompatible,
}

impl SchemaDiff {
    pub fn run(&self) -> Outcome {
        let (old, new) = (self.load(&self.old)?, self.load(&self.new)?);
        let found = compare(&old, &new, &self.options()?).map_err(Failure::usage)?;
        if !self.quiet {
            match self.format {
                Form::Text => term::report().write_all(self.text(&found).as_bytes())?,
                Form::Json => {
                    let text = serde_json::to_string_pretty(&self.json(&found)).unwrap_or_default();
                    writeln!(term::stdout(term::Quotes::HoldText), "{text}")?;
                }
            }
        }
        let holds = match &self.require[..] {
            [] => found.is_same(),
            all => all.iter().all(|requirement| requirement.holds(&found)),
        };
        Ok(if holds { Exit::Good } else { Exit::Usage })
    }

    fn load(&self, path: &std::path::Path) -> Outcome<Schema> {
        let options = SchemaOptions { allow_missing: true, ..self.reading.options() };
        let schema = Schema::load(&[path.to_owned()], &options)?;
        if schema.has_errors() && !self.allow_errors {
            for diagnostic in schema.diagnostics().iter().filter(|it| it.is_error()) {
                term::say_diagnostic(&tercet::syntax::render(&schema.sources, diagnostic, term::colour()));
            }
            let name = tercet_printable::path(path);
            let hint = "`--allow-errors` uses what could be understood";
            return Err(Failure::input(format_args!("{name}: the specification has errors ({hint})")));
        }
        Ok(schema)
    }

    fn options(&self) -> Outcome<Options> {
        let renamed = |text: &String| match text.split_once('=') {
            Some((old, new)) if old.contains('.') == new.contains('.') => {
                Ok((old.to_owned(), new.to_owned()))
            }
            _ => Err(Failure::usage(format_args!(
                "`--renamed {text}`: two modules or two types expected, as in `Old=New` or `Old.T=New.U`"
            ))),
        };
        let rules = match &self.rules[..] {
            [] => Rules::ALL.into_iter().filter(|rules| *rules != Rules::Exer).collect(),
            given => given.iter().map(|syntax| syntax.0).collect::<Vec<_>>(),
        };
        if rules.contains(&Rules::Exer) {
            return Err(Failure::usage("there are no verdicts for extended XER; use `xer`"));
        }
        let is_source = self.rules.is_empty() || self.require.contains(&Requirement::SourceCompatible);
        Ok(Options {
            types: self.types.clone(),
            renamed: self.renamed.iter().map(renamed).collect::<Outcome<_>>()?,
            rules,
            source: is_source,
        })
    }

    fn text(&self, found: &Comparison) -> String {
        let colour = std::io::stdout().is_terminal() && term::colour();
        let mut text = String::new();
        for report in &found.types {
            push_type(report, colour, &mut text);
        }
        if found.is_same() {
            _ = writeln!(text, "{}: no difference", term::count(found.compared as u64, "type"));
            return text;
        }
        if !text.ends_with("\n\n") {
            text.push('\n');
        }
        let mut rows: Vec<(Verdict, Vec<Rules>)> = Vec::new();
        for rules in &found.rules {
            let Some(verdict) = found.verdict(*rules) else { continue };
            match rows.iter_mut().find(|(known, _)| *known == verdict) {
                Some((_, list)) => list.push(*rules),
                None => rows.push((verdict, vec![*rules])),
            }
        }
        for (verdict, rules) in rows {
            _ = writeln!(text, "{:<16} {}", verdict, names(&rules));
        }
        match &found.source {
            Some(faults) if faults.is_empty() => text.push_str("source-compatible generated Rust\n"),
            Some(faults) => {
                _ = writeln!(text, "{:<16} generated Rust: {}", "not-compatible", listed(faults));
            }
            None => {}
        }
        let count = |status| found.types.iter().filter(|report| report.status == status).count() as u64;
        _ = writeln!(
            text,
            "{} compared: {} changed, {} affected by others; {} added, {} removed",
            term::count(found.compared as u64, "type"),
            count(Status::Changed),
            count(Status::Affected),
            count(Status::Added),
            count(Status::Removed),
        );
        text
    }

    fn json(&self, found: &Comparison) -> Value {
        let verdicts = found.rules.iter().filter_map(|rules| Some((rules.name(), found.verdict(*rules)?)));
        let verdicts: serde_json::Map<String, Value> =
            verdicts.map(|(name, verdict)| (name.to_owned(), verdict_json(verdict))).collect();
        let source =
            found.source.as_ref().map(|faults| json!({"compatible": faults.is_empty(), "reasons": faults}));
        json!({
            "format": "tercet-schema-diff",
            "version": 1,
            "old": self.old.display().to_string(),
            "new": self.new.display().to_string(),
            "same": found.is_same(),
            "compared": found.compared,
            "verdicts": verdicts,
            "rust": source,
            "types": found.types.iter().map(type_json).collect::<Vec<_>>(),
        })
    }
}

impl Requirement {
    fn holds(self, found: &Comparison) -> bool {
        let is_gone = found.types.iter().any(|report| report.status == Status::Removed);
        let all = |test: fn(Verdict) -> bool| {
            !is_gone && found.rules.iter().filter_map(|rules| found.verdict(*rules)).all(test)
        };
        match self {
            Self::WireCompatible => all(|verdict| verdict == Verdict::WireCompatible),
            Self::NewReadsOld => all(Verdict::new_reads_old),
            Self::OldReadsNew => {
                found.rules.iter().filter_map(|rules| found.verdict(*rules)).all(Verdict::old_reads_new)
            }
            Self::SourceCompatible => found.source.as_ref().is_some_and(Vec::is_empty),
        }
    }
}

fn names(rules: &[Rules]) -> String {
    rules.iter().map(|rules| rules.name()).collect::<Vec<_>>().join(", ")
}

/// The first of some texts, and how many more there are.
fn listed(texts: &[String]) -> String {
    let mut list = texts.iter().take(NAMES).map(String::as_str).collect::<Vec<_>>().join(", ");
    if texts.len() > NAMES {
        _ = write!(list, ", and {} more", texts.len() - NAMES);
    }
    list
}

fn place_text(place: &Location) -> String {
    format!("{}:{}", place.file, place.line)
}

fn push_type(report: &TypeReport, colour: bool, text: &mut String) {
    let (bold, red, green, plain) =
        if colour { ("\x1b[1m", "\x1b[31m", "\x1b[32m", "\x1b[0m") } else { ("", "", "", "") };
    let places = [&report.old_place, &report.new_place];
    let places = places.into_iter().flatten().map(place_text).collect::<Vec<_>>().join(" -> ");
    let own = |name: &str| name.rsplit('.').next().unwrap_or(name).to_owned();
    let name = match &report.new_name {
        Some(new) if own(new) != own(&report.name) => format!("{} -> {new}", report.name),
        _ => report.name.clone(),
    };
    match report.status {
        Status::Added => _ = writeln!(text, "{green}+ {name}{plain}  {places}"),
        Status::Removed => _ = writeln!(text, "{red}- {name}{plain}  {places}"),
        Status::Changed | Status::Affected => {
            _ = writeln!(text, "{bold}{name}{plain}  {places}");
            for change in &report.changes {
                push_change(change, (red, green, plain), text);
            }
            push_verdicts(report, text);
            text.push('\n');
        }
    }
}

fn push_change(change: &Change, (red, green, plain): (&str, &str, &str), text: &mut String) {
    let noun = match change.kind {
        ChangeKind::Tag => "tag ",
        ChangeKind::Presence => "presence ",
        ChangeKind::ExtensionMarker => "extension marker ",
        ChangeKind::Renamed => "renamed ",
        ChangeKind::Moved => "moved ",
        _ => "",
    };
    let path = if change.path.is_empty() { String::new() } else { format!("{}: ", change.path) };
    let line = |place: &Option<Location>| {
        place.as_ref().map_or_else(String::new, |it| format!("  line {}", it.line))
    };
    match (&change.old, &change.new) {
        (Some(old), None) => {
            _ = writeln!(text, "  {red}- {path}{noun}{old}{plain}{}", line(&change.old_place));
        }
        (None, Some(new)) => {
            _ = writeln!(text, "  {green}+ {path}{noun}{new}{plain}{}", line(&change.new_place));
        }
        (old, new) => {
            let (old, new) = (old.as_deref().unwrap_or("none"), new.as_deref().unwrap_or("none"));
            let visible = match change.kind {
                ChangeKind::Constraint if change.is_per_visible => "  (PER-visible)",
                ChangeKind::Constraint => "  (not PER-visible)",
                _ => "",
            };
            let places = match (&change.old_place, &change.new_place) {
                (Some(old), Some(new)) if old.line != new.line => {
                    format!("  line {} -> {}", old.line, new.line)
                }
                (_, place) => line(place),
            };
            _ = writeln!(text, "  ~ {path}{noun}{red}{old}{plain} -> {green}{new}{plain}{visible}{places}");
        }
    }
}

/// Rules with the same verdict for the same reasons stand together.
fn push_verdicts(report: &TypeReport, text: &mut String) {
    let mut groups: Vec<(Verdict, &[Reason], Vec<Rules>)> = Vec::new();
    for it in &report.verdicts {
        match groups
            .iter_mut()
            .find(|(verdict, reasons, _)| (*verdict, *reasons) == (it.verdict, &it.reasons))
        {
            Some((.., rules)) => rules.push(it.rules),
            None => groups.push((it.verdict, &it.reasons, vec![it.rules])),
        }
    }
    for (verdict, reasons, rules) in groups {
        _ = writeln!(text, "  {:<16} {}", verdict, names(&rules));
        for (is_new, label) in [(true, "new reading old"), (false, "old reading new")] {
            let of_side: Vec<&Reason> = reasons.iter().filter(|it| it.is_new_reading == is_new).collect();
            for reason in of_side.iter().take(REASONS) {
                let path = if reason.path.is_empty() { String::new() } else { format!("{}: ", reason.path) };
                _ = writeln!(text, "      {label}: {path}{}", reason.text);
            }
            if of_side.len() > REASONS {
                _ = writeln!(text, "      {label}: and {} more", of_side.len() - REASONS);
            }
        }
    }
}

fn verdict_json(verdict: Verdict) -> Value {
    json!({
        "verdict": verdict.name(),
        "new_reads_old": verdict.new_reads_old(),
        "old_reads_new": verdict.old_reads_new(),
    })
}

fn place_json(place: &Option<Location>) -> Value {
    place.as_ref().map_or(Value::Null, |it| json!({"file": it.file, "line": it.line, "column": it.column}))
}

fn type_json(report: &TypeReport) -> Value {
    let change = |it: &Change| {
        json!({
            "path": it.path,
            "kind": it.kind.name(),
            "old": it.old,
            "new": it.new,
            "old_place": place_json(&it.old_place),
            "new_place": place_json(&it.new_place),
            "per_visible": it.is_per_visible,
        })
    };
    let verdict = |it: &tercet_ide::compare::RuleReport| {
        let reason = |it: &Reason| {
            let direction = if it.is_new_reading { "new-reads-old" } else { "old-reads-new" };
            json!({"direction": direction, "path": it.path, "text": it.text})
        };
        let mut object = verdict_json(it.verdict);
        object["reasons"] = it.reasons.iter().map(reason).collect::<Vec<_>>().into();
        (it.rules.name().to_owned(), object)
    };
    json!({
        "name": report.name,
        "new_name": report.new_name.as_ref().unwrap_or(&report.name),
        "status": report.status.name(),
        "old_place": place_json(&report.old_place),
        "new_place": place_json(&report.new_place),
        "changes": report.changes.iter().map(change).collect::<Vec<_>>(),
        "verdicts": report.verdicts.iter().map(verdict).collect::<serde_json::Map<_, _>>(),
    })
}
