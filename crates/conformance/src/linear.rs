//! `cargo conformance linear`: what reading costs grows with the input and not faster, in instructions and in memory.
//!
//! Each family of inputs is read at one size and at eight times that size by a process of its own under callgrind, whose
//! counts are the same on a busy machine. Instructions an octet must not grow by more than a quarter, and there is a most
//! of them, and of octets of heap for an octet of input (promises 5 and 7).

use std::any::type_name_of_val;
use std::io::Write;
use std::process::Command;

use peak_alloc::PeakAlloc;

use crate::Tally;

mod families;

use families::{FAMILIES, Family};

/// Tells the octets of heap that the allocator of `main.rs` counts.
const HEAP: PeakAlloc = PeakAlloc;

/// Size of the smaller inputs, in what a family counts.
const SMALL: usize = 4_000;
/// How often as large the larger ones are.
const GROWTH: usize = 8;
/// By how much instructions an octet may grow: eight times the input may cost ten times as much.
const FACTOR: f64 = 10.0 / 8.0;
/// Instructions an octet that are hardly more than copying, or looking at each character: what else is done does not count
/// there.
const COPYING: f64 = 14.0;
/// Stack of what reads.
const STACK: usize = 256 << 10;

/// What one reading has cost.
struct Cost {
    /// Octets of the input, as they are without compression.
    input: usize,
    instructions: u64,
    /// Octets of heap at the highest.
    heap: usize,
    /// Why it was refused.
    refused: Option<String>,
}

impl Cost {
    fn an_octet(&self) -> f64 {
        self.instructions as f64 / self.input as f64
    }
}

/// Which families are run.
#[derive(clap::Args, Clone, Debug)]
pub struct Arguments {
    /// Families, by the beginnings of their names; without, all
    #[arg(value_name = "FAMILY")]
    families: Vec<String>,
}

/// Runs the families whose names begin with one of the words; one line for each. Without valgrind it says so and checks
/// nothing.
///
/// # Errors
/// What is said cannot be written.
pub fn run(Arguments { families }: &Arguments, out: &mut impl Write) -> Result<Tally, String> {
    let mut tally = Tally::default();
    let mut say = |text: &str| writeln!(out, "{text}").map_err(|error| error.to_string());
    if Command::new("valgrind").arg("--version").output().is_err() {
        say("linear: skipped, as valgrind is not installed")?;
        tally.skipped = FAMILIES.len();
        return Ok(tally);
    }
    say(&format!("{:<28} {:>8} {:>10} {:>7} {:>10}", "family", "octets", "instr/oct", "growth", "heap/oct"))?;
    let chosen = |family: &&Family| {
        families.is_empty() || families.iter().any(|word| family.name.starts_with(word.as_str()))
    };
    for family in FAMILIES.iter().filter(chosen) {
        let both = observe(family, SMALL).and_then(|few| Ok((few, observe(family, SMALL * GROWTH)?)));
        let (few, many) = match both {
            Ok(both) => both,
            Err(why) => {
                say(&format!("{:<28} **no count: {why}**", family.name))?;
                tally.failed += 1;
                continue;
            }
        };
        let growth = many.an_octet() / few.an_octet();
        let heap = many.heap as f64 / many.input as f64;
        let faults = judge(family, &few, &many);
        say(&format!(
            "{:<28} {:>8} {:>10.1} {:>6.2}x {heap:>10.1} {}{}",
            family.name,
            many.input,
            many.an_octet(),
            growth,
            many.refused.as_deref().map_or(String::new(), |why| format!("refused: {why} ")),
            faults.iter().map(|fault| format!("**{fault}** ")).collect::<String>(),
        ))?;
        tally.count(faults.is_empty());
    }
    Ok(tally)
}

fn judge(family: &Family, few: &Cost, many: &Cost) -> Vec<String> {
    let ((instructions, heap), (free, room)) = (family.entry.most(), family.entry.free());
    let mut faults = Vec::new();
    if many.an_octet() > few.an_octet().max(COPYING) * FACTOR {
        faults.push("it grows faster than its input".to_owned());
    }
    if many.instructions.saturating_sub(free) as f64 > instructions * many.input as f64 {
        faults.push(format!("more than {instructions} instructions an octet"));
    }
    if many.heap > room + heap * many.input {
        faults.push(format!("more than {heap} octets of heap an octet"));
    }
    if few.refused.is_some() != many.refused.is_some() {
        faults.push("one size is refused, the other not".to_owned());
    }
    faults
}

/// Reads one input in a process of its own.
fn observe(family: &Family, size: usize) -> Result<Cost, String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let said = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(format!("--toggle-collect={}*", type_name_of_val(&counted)))
        .arg(program)
        .args(["linear-case", &family.name, &size.to_string()])
        .output()
        .map_err(|error| format!("valgrind: {error}"))?;
    let (answer, errors) = (String::from_utf8_lossy(&said.stdout), String::from_utf8_lossy(&said.stderr));
    let instructions = collected(&errors)?;
    let mut words = answer.trim_end().splitn(3, ' ');
    let cost = (|| {
        Some(Cost {
            instructions,
            input: words.next()?.parse().ok()?,
            heap: words.next()?.parse().ok()?,
            refused: words.next().map(str::to_owned),
        })
    })();
    cost.ok_or_else(|| format!("{answer}{}", panicked(&errors).unwrap_or_default()))
}

/// Returns the instructions that callgrind reports.
///
/// # Errors
/// There is no report, or callgrind has not found the function to count.
fn collected(report: &str) -> Result<u64, String> {
    let count = report.lines().find_map(|line| line.split_once("Collected :")?.1.trim().parse().ok());
    match count {
        Some(0) => Err("callgrind counts nothing: this program has no symbols".to_owned()),
        Some(count) => Ok(count),
        None => Err(panicked(report).unwrap_or(report).to_owned()),
    }
}

fn panicked(report: &str) -> Option<&str> {
    report.lines().find(|line| line.contains("panicked"))
}

/// Reads an input of `NAME SIZE` and tells the octets of it, those of the heap, and why it was refused, if so.
pub fn case(arguments: &[String]) -> String {
    let family = arguments.first().and_then(|name| FAMILIES.iter().find(|family| &family.name == name));
    let size = arguments.get(1).and_then(|size| size.parse().ok());
    let (Some(family), Some(size)) = (family, size) else { return "usage: --case FAMILY SIZE\n".into() };
    let work = move || {
        // What is made once, such as plans, is no cost of an input.
        _ = family.entry.read(&family.make(3));
        let input = family.make(size);
        HEAP.reset_peak_usage();
        let before = HEAP.current_usage();
        let outcome = counted(family, &input);
        let heap = HEAP.peak_usage().saturating_sub(before);
        let refused = outcome.err().map_or(String::new(), |why| format!(" {why}"));
        format!("{} {heap}{refused}\n", family.weight(size, &input))
    };
    let thread = std::thread::Builder::new().stack_size(STACK).spawn(work);
    thread.ok().and_then(|thread| thread.join().ok()).unwrap_or_default()
}

/// What callgrind counts.
#[inline(never)]
fn counted(family: &Family, input: &[u8]) -> Result<(), String> {
    family.entry.read(input)
}

#[cfg(test)]
mod tests {
    use super::{FAMILIES, Family, collected};

    #[test]
    fn no_instructions_are_no_count() {
        assert_eq!(collected("==7== Events    : Ir\n==7== Collected : 1234\n"), Ok(1234));
        assert!(collected("==7== Collected : 0").unwrap_err().contains("no symbols"));
        assert!(collected("==7== Command: conformance").is_err());
    }

    /// Counts need valgrind; that there is something to count does not.
    #[test]
    fn every_family_is_made_and_read() {
        let unlike = |family: &&Family| {
            let (few, many) = (family.make(40), family.make(400));
            let outcomes = (family.entry.read(&few).is_ok(), family.entry.read(&many).is_ok());
            few.len() >= many.len() || outcomes.0 != outcomes.1
        };
        let unlike: Vec<&str> = FAMILIES.iter().filter(unlike).map(|family| family.name.as_str()).collect();
        assert!(unlike.is_empty(), "do not grow, or are refused at one size: {unlike:?}");
    }
}
