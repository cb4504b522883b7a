//! The type of a file that nobody has named: candidates are tried on the first records.

use crate::exit::{Failure, Outcome};
use crate::inputs::Input;
use crate::term;
use std::io::Read;
use tercet::Schema;
use tercet::dynamic::{Decoder, Discard, Options};
use tercet::plan::Rules;
use tercet::records::{Framing, Identifiers, Part, RecordReader};

/// Octets looked at.
const SAMPLE: u64 = 1 << 20;
/// Records tried.
const RECORDS: usize = 64;

/// The full name of the type that decodes most of the first records, from those that no other type refers to.
pub fn discover(schema: &Schema, input: &Input, options: &Options) -> Outcome<String> {
    let candidates = schema.outermost();
    if let [(name, _)] = &candidates[..] {
        return Ok(name.clone());
    }
    let say = "say which one it is with `--type`";
    if *input == Input::Stdin {
        return Err(Failure::usage(format_args!(
            "standard input cannot be tried on {} types; {say}",
            candidates.len()
        )));
    }
    let mut sample = Vec::new();
    input.open()?.take(SAMPLE).read_to_end(&mut sample)?;
    let records = cut(&sample);
    if records.is_empty() {
        return Err(Failure::input(format_args!(
            "{}: there is nothing that looks like BER; {say}",
            input.name()
        )));
    }
    let mut ranked = Vec::new();
    for (name, _) in candidates {
        let Ok(plan) = schema.plan(Rules::Ber, &[&name]) else { continue };
        let Some(root) = plan.root(&name) else { continue };
        let mut decoder = Decoder::new();
        let fits = |octets: &&Vec<u8>| {
            decoder
                .decode(&plan, root, octets, &mut Discard, options)
                .is_ok_and(|length| length == octets.len())
        };
        let count = records.iter().filter(fits).count();
        if count > 0 {
            ranked.push((count, name));
        }
    }
    ranked.sort_by_key(|(count, _)| std::cmp::Reverse(*count));
    match &ranked[..] {
        [] => Err(Failure::input(format_args!("{}: no type fits the first records; {say}", input.name()))),
        [(count, name), (next, other), ..] if count == next => Err(Failure::usage(format_args!(
            "`{name}` and `{other}` fit {count} of the first {} records alike; {say}",
            records.len()
        ))),
        [(count, name), ..] => {
            term::say(format_args!("type `{name}`: fits {count} of the first {} records", records.len()));
            Ok(name.clone())
        }
    }
}

/// The first complete elements.
fn cut(sample: &[u8]) -> Vec<Vec<u8>> {
    let mut reader = RecordReader::new(sample, Framing::concatenated(Identifiers::any()));
    let mut records = Vec::new();
    while let Ok(Some(item)) = reader.next(&mut |_| true) {
        if item.part == Part::Record {
            records.push(item.octets.to_vec());
        }
        if records.len() == RECORDS {
            break;
        }
    }
    records
}
