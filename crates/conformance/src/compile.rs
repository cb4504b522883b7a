//! What compiling costs: time of each stage, memory, and how both grow with the text.

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use tercet::plan::Rules;
use tercet::syntax::{ParseOptions, SourceMap, parse};
use tercet::{files, lower, model};

/// Runs of which the quickest counts.
const RUNS: usize = 7;

/// What is compiled.
#[derive(clap::Args, Clone, Debug)]
pub struct Arguments {
    /// Specifications, or folders of them
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<String>,
}

/// Prints a row for each path, then rows for 1, 2, 4 and 8 copies of the first.
///
/// # Errors
/// A file cannot be read.
pub fn run(Arguments { paths }: &Arguments, out: &mut dyn std::io::Write) -> Result<(), String> {
    let mut text = format!(
        "{:<44} {:>8} {:>7} {:>9} {:>9} {:>9} {:>9} {:>9}\n",
        "specification", "KB", "types", "parse ms", "resolve", "lower", "sum", "peak MB"
    );
    for path in paths {
        let sources = texts(path)?;
        row(&mut text, path, &sources);
    }
    let first = texts(&paths[0])?;
    for copies in [1, 2, 4, 8] {
        let copied: Vec<_> =
            (0..copies).flat_map(|n| first.iter().map(move |(name, text)| copy(name, text, n))).collect();
        row(&mut text, &format!("{copies} x {}", paths[0]), &copied);
    }
    out.write_all(text.as_bytes()).map_err(|error| error.to_string())
}

fn texts(path: &str) -> Result<Vec<(String, Vec<u8>)>, String> {
    let files = files::specifications(&[PathBuf::from(path)]).map_err(|error| error.to_string())?;
    let read = |path: PathBuf| {
        let octets = fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        Ok((path.display().to_string(), octets))
    };
    files.into_iter().map(read).collect()
}

/// The same text with module names of its own: each gets a number where its module begins.
fn copy(name: &str, text: &[u8], number: usize) -> (String, Vec<u8>) {
    let mut map = SourceMap::new();
    let (id, _) = map.add_bytes(name, text.to_vec());
    let mut copied = map.file(id).text.clone();
    let (modules, _) = parse(&map, id, &ParseOptions::default());
    let ends = modules.iter().map(|module| map.range(module.name.span).end);
    for end in ends.rev() {
        copied.insert_str(end, &format!("-{number}"));
    }
    (format!("{name}-{number}"), copied.into_bytes())
}

fn row(text: &mut String, name: &str, sources: &[(String, Vec<u8>)]) {
    let octets: usize = sources.iter().map(|(_, octets)| octets.len()).sum();
    let mut best = [Duration::MAX; 3];
    let mut types = 0;
    for _ in 0..RUNS {
        let mut map = SourceMap::new();
        for (name, octets) in sources {
            map.add_bytes(name.clone(), octets.clone());
        }
        let start = Instant::now();
        let ids: Vec<_> = map.files().map(|(id, _)| id).collect();
        let modules: Vec<_> =
            ids.iter().flat_map(|id| parse(&map, *id, &ParseOptions::default()).0).collect();
        let parsed = start.elapsed();
        let (resolved, _) = model::resolve(&map, &modules, &model::Options::default());
        let bound = start.elapsed();
        let roots = lower::all_roots(&resolved);
        let (plan, _) = lower::plan(&resolved, Rules::Ber, &roots);
        let lowered = start.elapsed();
        for (best, time) in best.iter_mut().zip([parsed, bound - parsed, lowered - bound]) {
            *best = time.min(*best);
        }
        types = resolved.modules.iter().map(|module| module.types.len()).sum();
        drop(plan);
    }
    let ms = |time: Duration| time.as_secs_f64() * 1e3;
    let _ = writeln!(
        text,
        "{:<44} {:>8} {types:>7} {:>9.1} {:>9.1} {:>9.1} {:>9.1} {:>9}",
        shorten(name),
        octets / 1000,
        ms(best[0]),
        ms(best[1]),
        ms(best[2]),
        ms(best.iter().sum()),
        peak()
    );
}

fn shorten(name: &str) -> String {
    let kept: Vec<char> = name.chars().rev().take(44).collect();
    kept.into_iter().rev().collect()
}

/// The most memory that the process has held, where the system tells.
fn peak() -> String {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|line| line.trim().trim_end_matches("kB").trim().parse::<f64>().ok());
    kilobytes.map_or_else(|| "–".into(), |kb| format!("{:.0}", kb / 1e3))
}
