//! Transfer syntax and type of an input that nobody has named.

use crate::exit::{Failure, Outcome};
use crate::inputs::{Input, SpellingArgs};
use crate::term;
use std::fmt::Write;
use tercet::records::inputs::{Spelling, blocks};
use tercet::{Candidate, Detector, Rules, Schema, detect};

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
    syntax: Option<Rules>,
    type_name: Option<&str>,
    spelling: SpellingArgs,
    told: Told,
) -> Outcome<(Rules, String)> {
    let Some(input) = inputs.first_mut() else { return Err(Failure::usage("there is no input")) };
    let octets = input.read()?;
    let name = input.name();
    let sample = match sample(schema, &name, &octets, syntax, type_name, spelling)? {
        Some(spelled) => spelled,
        None => octets.clone(),
    };
    if *input == Input::Stdin {
        *input = Input::Octets(name.clone(), octets);
    }
    let mut detector = Detector::new(schema, &Vec::from_iter(type_name), syntax).map_err(Failure::usage)?;
    let found = detector.run(&sample);
    if detector.untried() > 0 && told != Told::Nothing {
        term::say(format_args!(
            "{name}: {} not tried, as the others took too long; `--type` or `--rules` narrows the search",
            term::count(detector.untried() as u64, "candidate")
        ));
    }
    let Some(best) = found.first().filter(|best| best.fits()) else {
        if sample.is_empty() {
            return Err(Failure::input(format_args!("{name}: there are no bytes")));
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

/// The first value of a text that spells octets, if the input is one: text that is a value itself is none.
fn sample(
    schema: &Schema,
    name: &str,
    octets: &[u8],
    syntax: Option<Rules>,
    type_name: Option<&str>,
    spelling: SpellingArgs,
) -> Outcome<Option<Vec<u8>>> {
    if spelling.binary || syntax.is_some_and(Rules::is_text) {
        return Ok(None);
    }
    let form = match spelling.hex {
        true => Spelling::of_hex(octets),
        false => match Spelling::of(octets, true) {
            Some(form) => form,
            None => return Ok(None),
        },
    };
    if !spelling.hex && syntax.is_none() && form != Spelling::Pem {
        let found = detect(schema, octets, &Vec::from_iter(type_name), None).map_err(Failure::usage)?;
        if found.first().is_some_and(|best| best.fits() && best.syntax.is_text()) {
            return Ok(None);
        }
    }
    let blocks = blocks(octets, form, false);
    let blocks = blocks.map_err(|error| Failure::usage(format_args!("{name}: {error}")))?;
    Ok(Some(blocks.into_iter().next().map(|block| block.octets).unwrap_or_default()))
}

fn ranking(found: &[Candidate]) -> String {
    let mut text = String::new();
    for (i, candidate) in found.iter().take(TOLD).enumerate() {
        let Candidate { syntax, type_name, octets, values, elements, violations, unknown, .. } = candidate;
        _ = write!(text, "{:>3}  {syntax:<5} {type_name}: ", i + 1);
        let mut said = vec![term::count(*octets as u64, "byte")];
        match &candidate.error {
            Some(error) => said.push(format!("then {error}")),
            None => {
                said.extend((*values > 1).then(|| format!("{values} values")));
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
