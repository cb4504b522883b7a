//! Transfer syntax and type of an input that nobody has named.

use crate::exit::{Failure, Outcome};
use crate::inputs::{Input, from_hex};
use crate::term;
use std::fmt::Write;
use tercet::{Candidate, Schema, TransferSyntax, detect};

/// Candidates that are told.
const TOLD: usize = 8;

/// What is told of what was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Told {
    Nothing,
    /// The best, and others as good.
    Best,
    /// What else it could be.
    All,
}

/// What the first input is. An input that can be read once only is replaced by what was read.
pub fn find(
    schema: &Schema,
    inputs: &mut [Input],
    syntax: Option<TransferSyntax>,
    type_name: Option<&str>,
    hex: bool,
    told: Told,
) -> Outcome<(TransferSyntax, String)> {
    let Some(input) = inputs.first_mut() else { return Err(Failure::usage("there is no input")) };
    let octets = input.read()?;
    let name = input.name();
    let sample = if hex {
        let text = String::from_utf8_lossy(&octets);
        let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
        from_hex(first).map_err(|error| Failure::usage(format_args!("{name}: {error}")))?
    } else {
        octets.clone()
    };
    if *input == Input::Stdin {
        *input = Input::Octets(name.clone(), octets);
    }
    let found = detect(schema, &sample, &Vec::from_iter(type_name), syntax).map_err(Failure::usage)?;
    let Some(best) = found.first().filter(|best| best.fits()) else {
        if sample.is_empty() {
            return Err(Failure::input(format_args!("{name}: there are no octets")));
        }
        let ranking = ranking(&found);
        return Err(Failure::input(format_args!("{name}: no transfer syntax and type fit\n{ranking}")));
    };
    if told == Told::Nothing {
        return Ok((best.syntax, best.type_name.clone()));
    }
    let rivals = found[1..].iter().filter(|other| other.is_as_good_as(best)).count();
    if told == Told::All || rivals > 0 {
        term::say_text(&ranking(&found));
    }
    if rivals > 0 {
        term::warning(format_args!(
            "{name}: {} as good; the first is taken",
            term::count(rivals as u64 + 1, "candidate")
        ));
    } else {
        term::say(format_args!("{name}: {} {}", best.syntax, best.type_name));
    }
    Ok((best.syntax, best.type_name.clone()))
}

fn ranking(found: &[Candidate]) -> String {
    let mut text = String::new();
    for (i, candidate) in found.iter().take(TOLD).enumerate() {
        let Candidate { syntax, type_name, octets, elements, violations, unknown, .. } = candidate;
        _ = write!(text, "{:>3}  {syntax:<5} {type_name}: ", i + 1);
        let mut said = vec![term::count(*octets as u64, "octet")];
        match &candidate.error {
            Some(error) => said.push(format!("then {error}")),
            None => {
                said.push(format!("{elements} elements"));
                said.extend((!candidate.again).then(|| "written otherwise".to_owned()));
                said.extend((*violations > 0).then(|| format!("{violations} constraints not met")));
                said.extend((*unknown > 0).then(|| format!("{unknown} parts of unknown type")));
            }
        }
        _ = writeln!(text, "{}", said.join(", "));
    }
    text
}
