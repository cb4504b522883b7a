//! Values made up for every type of a specification, written by every set of rules and read again.

use std::fmt::Write as _;
use std::path::PathBuf;

use tercet::{Rules, Schema, TapeCodec};
use tercet_dynamic::{NodeId, Options, Plan, Tape, Value, sample};

use crate::corpora::with_gaps;
use crate::tally::Tally;

/// What is made.
#[derive(clap::Args, Clone, Debug)]
pub struct Settings {
    /// Samples of each type
    #[arg(long, default_value_t = 20)]
    pub count: usize,
    /// Types of each specification, spread over all
    #[arg(long, default_value_t = 8)]
    pub types: usize,
    /// Number that the choices follow from
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Let strings be long
    #[arg(long)]
    pub large: bool,
}

/// What is made, and of which specifications.
#[derive(clap::Args, Clone, Debug)]
pub struct Arguments {
    #[command(flatten)]
    settings: Settings,
    /// Specifications, or folders of them
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
}

impl Default for Settings {
    fn default() -> Self {
        Self { count: 20, types: 8, seed: 1, large: false }
    }
}

/// What came of the samples of a specification.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// Samples that meet all constraints, and those that were asked for.
    pub made: Tally,
    /// Of those made: written and read again as the same, for each of [`SYNTAXES`].
    pub again: [Tally; SYNTAXES.len()],
    /// What went wrong, with the type.
    pub faults: Vec<String>,
}

/// The rules that samples are written by.
pub const SYNTAXES: [Rules; 9] = [
    Rules::Ber,
    Rules::Der,
    Rules::Cer,
    Rules::Aper,
    Rules::Uper,
    Rules::CanonicalUper,
    Rules::Oer,
    Rules::Jer,
    Rules::Xer,
];

/// Prints a row for each path.
///
/// # Errors
/// The arguments, or a specification that cannot be used.
pub fn run(Arguments { settings, paths }: &Arguments, out: &mut dyn std::io::Write) -> Result<Tally, String> {
    let mut text = format!("{:<28} {:>11}", "specification", "made");
    SYNTAXES.iter().for_each(|syntax| _ = write!(text, " {:>9.9}", syntax.name()));
    text.push('\n');
    let mut all = Tally::default();
    for path in paths {
        let name = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        let outcome = match of_path(path, settings) {
            Ok(outcome) => outcome,
            Err(error) => {
                _ = writeln!(text, "{name:<28.28} {}", error.lines().next().unwrap_or_default());
                continue;
            }
        };
        let made = outcome.made;
        _ = write!(text, "{name:<28.28} {:>5}/{:<5}", made.passed, made.passed + made.failed);
        for again in outcome.again {
            all.passed += again.passed;
            all.failed += again.failed;
            _ = write!(
                text,
                " {:>9}",
                if again.failed == 0 { "all".into() } else { format!("-{}", again.failed) }
            );
        }
        text.push('\n');
        let mut faults = outcome.faults;
        faults.dedup();
        faults.iter().take(6).for_each(|fault| _ = writeln!(text, "    {fault:.300}"));
        out.write_all(text.as_bytes()).map_err(|error| error.to_string())?;
        text.clear();
    }
    out.write_all(text.as_bytes()).map_err(|error| error.to_string())?;
    Ok(all)
}

/// Samples of some types of the specification in a folder.
///
/// # Errors
/// It cannot be read, or has errors.
pub fn of_path(path: &std::path::Path, settings: &Settings) -> Result<Outcome, String> {
    let schema = Schema::load(&[path.to_path_buf()], &with_gaps()).map_err(|error| error.to_string())?;
    if schema.has_errors() {
        return Err("has errors".to_owned());
    }
    let mut names: Vec<String> = schema.outermost().into_iter().map(|(name, _)| name).collect();
    let all: Vec<String> = schema.names().map(|(name, _)| name).collect();
    // Half of them types that others refer to.
    let spread = |names: &mut Vec<String>, count: usize| {
        let step = names.len().div_ceil(count.max(1)).max(1);
        *names = names.iter().step_by(step).cloned().collect();
    };
    spread(&mut names, settings.types.div_ceil(2));
    let mut others = all;
    spread(&mut others, settings.types / 2);
    names.extend(others);
    names.dedup();
    let mut outcome = Outcome::default();
    for name in names {
        of_type(&schema, &name, settings, &mut outcome)?;
    }
    Ok(outcome)
}

fn of_type(schema: &Schema, name: &str, settings: &Settings, outcome: &mut Outcome) -> Result<(), String> {
    let rules = SYNTAXES.map(Rules::plan_rules);
    let plans = schema.plans(&rules, &[name]).map_err(|error| error.to_string())?;
    let (Some(first), Some(root)) = (plans.first(), plans.first().and_then(|plan| plan.root(name))) else {
        return Err(format!("no plan for {name}"));
    };
    let mut options = sample::Options::default();
    options.seed = settings.seed;
    options.large = settings.large;
    let mut sampler = sample::Sampler::new(&first.shape, options);
    let mut tape = Tape::new();
    let mut codecs: Vec<TapeCodec<'_>> =
        SYNTAXES.iter().zip(&plans).map(|(syntax, plan)| TapeCodec::new(*syntax, plan)).collect();
    for _ in 0..settings.count {
        if let Err(error) = sampler.sample(root, &mut tape) {
            outcome.made.failed += 1;
            outcome.faults.push(format!("{name}: {error}"));
            continue;
        }
        outcome.made.passed += 1;
        let filled = filled(first, root, &tape);
        for (codec, tally) in codecs.iter_mut().zip(&mut outcome.again) {
            match again(codec, first, root, &tape, filled.as_ref()) {
                Ok(()) => tally.passed += 1,
                Err(error) => {
                    tally.failed += 1;
                    outcome.faults.push(format!("{name} {}: {error}", codec.syntax()));
                }
            }
        }
    }
    Ok(())
}

/// The value with its defaults, by way of JER.
fn filled(plan: &Plan, root: NodeId, tape: &Tape) -> Option<Value> {
    let mut codec = TapeCodec::new(Rules::Jer, plan);
    let mut octets = Vec::new();
    codec.write(tape.view(&[]), &mut octets).ok()?;
    read(&mut codec, plan, root, &octets, true).ok()
}

fn again(
    codec: &mut TapeCodec<'_>,
    plan: &Plan,
    root: NodeId,
    tape: &Tape,
    filled: Option<&Value>,
) -> Result<(), String> {
    let mut octets = Vec::new();
    codec.write(tape.view(&[]), &mut octets).map_err(|error| format!("not written: {error}"))?;
    // These keep a default that is given: the value comes back as it was.
    let exact = matches!(codec.syntax(), Rules::Jer | Rules::Xer);
    let same = read(codec, plan, root, &octets, !exact).map_err(|error| format!("not read: {error}"))?;
    let original = if exact { Value::from_view(&plan.shape, tape.view(&[])) } else { None };
    if Some(&same) == original.as_ref().or(filled) {
        Ok(())
    } else {
        let before = original.as_ref().or(filled).map(ToString::to_string).unwrap_or_default();
        let after = same.to_string();
        let at = before.bytes().zip(after.bytes()).take_while(|(a, b)| a == b).count().saturating_sub(30);
        let part = |text: &str| text.chars().skip(at).take(80).collect::<String>();
        Err(format!("another value: {:?} became {:?}", part(&before), part(&after)))
    }
}

fn read(
    codec: &mut TapeCodec<'_>,
    plan: &Plan,
    root: NodeId,
    octets: &[u8],
    fill: bool,
) -> Result<Value, String> {
    let mut options = Options::default();
    options.fill_defaults = fill;
    options.limits.depth = 500;
    let mut tape = Tape::new();
    let length = codec.read(root, octets, &mut tape, &options).map_err(|error| error.to_string())?;
    if length < octets.len() {
        return Err(format!("{} bytes are left", octets.len() - length));
    }
    Value::from_view(&plan.shape, tape.view(octets)).ok_or_else(|| "nothing".to_owned())
}
