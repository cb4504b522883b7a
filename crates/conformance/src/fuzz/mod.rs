//! Fuzz targets: what holds for every octet string at every public entry. Each target is a function that panics if it
//! does not hold; the folder `fuzz/` hands them to libFuzzer, and `cargo conformance fuzz` runs them over seeds of our own
//! with random damage, for machines that have none.

use std::cell::RefCell;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::generate::Random;
use crate::{Tally, hex};

mod captures;
mod files;
mod ldap;
mod megaco;
mod mutate;
mod plans;
mod typed;
mod values;

pub use mutate::each_damage;
pub(crate) use typed::read_names;

/// Stack of what runs a target (promise 6).
const STACK: usize = 256 << 10;
/// Octets of an error's text (promise 13).
const MESSAGE: usize = 512;
/// How long one input may take, of no more than a few thousand octets, with checks of a debug build.
const PATIENCE: Duration = Duration::from_secs(2);
/// Octets of an input that damage makes.
const LONGEST: usize = 4096;

/// An entry of the product with what holds for it.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Its name, also the name of its program in `fuzz/`.
    pub name: &'static str,
    /// What it reads.
    pub about: &'static str,
    /// Panics if something does not hold.
    pub run: fn(&[u8]),
    /// Inputs to begin with.
    pub seeds: fn() -> Vec<Vec<u8>>,
}

/// A line of the table below.
const fn target_of(
    name: &'static str,
    about: &'static str,
    run: fn(&[u8]),
    seeds: fn() -> Vec<Vec<u8>>,
) -> Target {
    Target { name, about, run, seeds }
}

/// All of them.
pub const TARGETS: &[Target] = &[
    target_of("ber", "values in BER", values::ber, values::ber_seeds),
    target_of("der", "values in DER", values::der, values::der_seeds),
    target_of("cer", "values in CER", values::cer, values::cer_seeds),
    target_of("aper", "values in aligned PER", values::aper, values::aper_seeds),
    target_of("uper", "values in unaligned PER", values::uper, values::uper_seeds),
    target_of(
        "canonical_aper",
        "values in canonical aligned PER",
        values::canonical_aper,
        values::canonical_aper_seeds,
    ),
    target_of(
        "canonical_uper",
        "values in canonical unaligned PER",
        values::canonical_uper,
        values::canonical_uper_seeds,
    ),
    target_of("oer", "values in OER", values::oer, values::oer_seeds),
    target_of("coer", "values in canonical OER", values::coer, values::coer_seeds),
    target_of("xer", "values in XER", values::xer, values::xer_seeds),
    target_of("cxer", "values in canonical XER", values::cxer, values::cxer_seeds),
    target_of("jer", "values in JER", values::jer, values::jer_seeds),
    target_of("gser", "values in GSER", values::gser, values::gser_seeds),
    target_of("typed_ber", "generated BER, DER, CER", typed::ber, typed::ber_seeds),
    target_of("typed_per", "generated PER", typed::per, typed::per_seeds),
    target_of("typed_oer", "generated OER", typed::oer, typed::oer_seeds),
    target_of("dump", "elements without a schema", files::dump, values::ber_seeds),
    target_of("asn1", "ASN.1 source text", files::asn1, files::asn1_seeds),
    target_of("plan", "plan files", plans::plan, plans::plan_seeds),
    target_of("records", "record files", files::records, files::record_seeds),
    target_of("capture", "packet captures", captures::capture, captures::capture_seeds),
    target_of("h248_text", "Megaco text", megaco::text, megaco::text_seeds),
    target_of("h248_binary", "Megaco BER and PER", megaco::binary, megaco::binary_seeds),
    target_of("h248_terms", "Megaco as Erlang terms", megaco::terms, megaco::term_seeds),
    target_of("digit_map", "digit maps", megaco::digit_map, megaco::digit_map_seeds),
    target_of("sdp", "session descriptions", megaco::sdp, megaco::sdp_seeds),
    target_of("ldap_message", "LDAP messages", ldap::message, ldap::message_seeds),
    target_of("ldap_ldif", "LDIF", ldap::ldif, ldap::ldif_seeds),
    target_of("ldap_filter", "LDAP filters", ldap::filter, ldap::filter_seeds),
    target_of("ldap_dn", "distinguished names", ldap::dn, ldap::dn_seeds),
    target_of("ldap_url", "LDAP URLs", ldap::url, ldap::url_seeds),
    target_of("ldap_schema", "LDAP schema", ldap::schema, ldap::schema_seeds),
    target_of(
        "ldap_netlogon",
        "what domain controllers say of themselves",
        ldap::netlogon,
        ldap::netlogon_seeds,
    ),
];

/// The target of a name.
pub fn target(name: &str) -> Option<&'static Target> {
    TARGETS.iter().find(|target| target.name == name)
}

/// An error's text is short, whatever the input.
fn told(error: &dyn std::fmt::Display) {
    let text = error.to_string();
    assert!(!text.is_empty() && text.len() <= MESSAGE, "an error of {} octets: {text}", text.len());
}

/// Which targets are run, over which inputs.
#[derive(clap::Args, Clone, Debug)]
pub struct Arguments {
    /// Damaged seeds for each target
    #[arg(long, default_value_t = 20_000)]
    pub runs: u64,
    /// Number that the damage follows from
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Run each truncation, flipped bit and border octet of the seeds instead
    #[arg(long)]
    pub sweep: bool,
    /// Run all inputs of up to so many bits instead
    #[arg(long, value_name = "BITS")]
    pub exhaust: Option<u32>,
    /// Write the seeds for libFuzzer and run nothing
    #[arg(long, value_name = "DIR")]
    pub seeds: Option<PathBuf>,
    /// Run one input again
    #[arg(long, value_name = "FILE")]
    pub input: Option<PathBuf>,
    /// The targets; without, all
    #[arg(value_name = "TARGET", value_parser = named)]
    pub targets: Vec<&'static Target>,
}

fn named(name: &str) -> Result<&'static Target, String> {
    target(name).ok_or_else(|| {
        format!("known: {}", TARGETS.iter().map(|target| target.name).collect::<Vec<_>>().join(", "))
    })
}

/// Runs targets: over their seeds, and over what damage makes of them; one line for each target.
///
/// # Errors
/// A folder cannot be written, or a file cannot be read.
pub fn run(settings: &Arguments, out: &mut (impl Write + Send)) -> Result<Tally, String> {
    let targets: Vec<&Target> = match settings.targets[..] {
        [] => TARGETS.iter().collect(),
        ref named => named.to_vec(),
    };
    std::panic::set_hook(Box::new(|panic| SAID.replace(panic.to_string()).clear()));
    let outcome = std::thread::scope(|scope| {
        let work =
            || targets.iter().try_fold(Tally::default(), |tally, target| work(target, settings, tally, out));
        let thread = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work);
        thread.map_err(|error| error.to_string())?.join().map_err(|_| "the seeds panic".to_owned())?
    });
    drop(std::panic::take_hook());
    outcome
}

fn work(
    target: &Target,
    settings: &Arguments,
    mut tally: Tally,
    out: &mut impl Write,
) -> Result<Tally, String> {
    let seeds = (target.seeds)();
    if let Some(folder) = &settings.seeds {
        write_seeds(&folder.join(target.name), &seeds).map_err(|error| error.to_string())?;
        return Ok(tally);
    }
    let began = Instant::now();
    let mut faults = Faults { target, count: 0, first: None };
    let mut count = 0_u64;
    let mut try_it = |octets: &[u8]| {
        count += 1;
        faults.check(octets);
    };
    if let Some(file) = &settings.input {
        try_it(&std::fs::read(file).map_err(|error| format!("{}: {error}", file.display()))?);
    } else if let Some(bits) = settings.exhaust {
        mutate::all(bits, &mut try_it);
    } else {
        seeds.iter().for_each(|seed| try_it(seed));
        if settings.sweep {
            seeds.iter().for_each(|seed| each_damage(seed, &mut try_it));
        } else {
            let mut random = Random::new(settings.seed);
            (0..settings.runs).for_each(|_| try_it(&mutate::damaged(&mut random, &seeds, LONGEST)));
        }
    }
    let Faults { count: wrong, first, .. } = faults;
    let seconds = began.elapsed().as_secs_f64();
    let _ = writeln!(out, "{:<16} {count:>10} inputs, {wrong} faults, {seconds:.1} s", target.name);
    if let Some((what, octets)) = first {
        let _ = writeln!(out, "    {what}\n    {}", hex::show(&octets));
        tally.failed += 1;
    } else {
        tally.passed += 1;
    }
    Ok(tally)
}

thread_local! {
    /// What the last panic of this thread said, and where.
    static SAID: RefCell<String> = const { RefCell::new(String::new()) };
}

/// What did not hold.
struct Faults<'t> {
    target: &'t Target,
    count: u64,
    /// What was said, and the shortest input for it.
    first: Option<(String, Vec<u8>)>,
}

impl Faults<'_> {
    fn check(&mut self, octets: &[u8]) {
        let began = Instant::now();
        let outcome = catch_unwind(AssertUnwindSafe(|| (self.target.run)(octets)));
        let what = match outcome {
            Ok(()) if began.elapsed() < PATIENCE => return,
            Ok(()) => format!("it took {:.1} s", began.elapsed().as_secs_f64()),
            Err(_) => SAID.take(),
        };
        self.count += 1;
        if self.first.as_ref().is_none_or(|(_, known)| known.len() > octets.len()) {
            self.first = Some((what, octets.to_vec()));
        }
    }
}

/// Seeds as libFuzzer reads them, one in a file.
fn write_seeds(folder: &Path, seeds: &[Vec<u8>]) -> std::io::Result<()> {
    std::fs::create_dir_all(folder)?;
    for (i, seed) in seeds.iter().enumerate() {
        std::fs::write(folder.join(format!("seed-{i:05}")), seed)?;
    }
    Ok(())
}
