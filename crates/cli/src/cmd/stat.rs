//! `tercet stat`.

use crate::exit::Outcome;
use crate::inputs::InputArgs;
use crate::inspect::InspectArgs;
use crate::term;
use clap::Args;
use std::fmt::{self, Write as _};
use std::io::{self, Write as _};
use tercet::dynamic::leaf::{Scalar, scalar};
use tercet::dynamic::{Error, FieldId, Shape, Token, View};
use tercet::records::{Balance, Leaves, Origin, RowWriter};

/// Count what record files hold: types, how often components occur, how large they are
#[derive(Args, Debug)]
#[command(after_help = "\
Each line is a component: how often it occurs, in which share of the values around it, and its least and greatest number, or
number of bytes. With `--render auto`, times and numbers are those that `convert` shows.

Examples:
  tercet stat -s schemas/demo -t CallRecord calls.ber
  tercet stat -s TAP-0312.asn1 -t DataInterChange --records TransferBatch.callEventDetails CD*.dat")]
pub struct Stat {
    #[command(flatten)]
    input: InputArgs,

    #[command(flatten)]
    inspect: InspectArgs,
}

impl Stat {
    pub fn run(&self) -> Outcome {
        let mut guard = self.inspect.guard()?;
        let inputs = self.input.expand_beside(&mut guard, false)?;
        #[cfg(feature = "capture")]
        crate::cmd::capture::refuse(&inputs)?;
        let job = self.inspect.job(&inputs, false)?;
        let shape = job.shown().shape();
        let leaves = job.shown().leaves;
        let mut statistics =
            Statistics { shape, leaves, places: Vec::new(), path: Vec::new(), lengths: None };
        let mut balance = Balance::default();
        let exit =
            self.inspect.read(&job, &inputs, &mut statistics, &mut io::sink(), &mut |_, summary| {
                balance.merge(&summary.balance);
            })?;
        let mut out = term::report();
        let places = &statistics.places;
        let records = places.first().map_or(0, |root| root.count);
        writeln!(out, "{}, {}", term::count(records, "record"), balance)?;
        if let Some(range) = statistics.lengths {
            writeln!(out, "bytes of a record: {} to {}", term::grouped(range.0), term::grouped(range.1))?;
        }
        let mut text = String::new();
        if let Some(root) = places.first() {
            for &child in &root.children {
                line(shape, places, child, root.count, 0, &mut text);
            }
        }
        out.write_all(text.as_bytes())?;
        Ok(exit)
    }
}

/// Counts over all records; nothing is written.
struct Statistics<'p> {
    shape: &'p Shape,
    /// The types that a rendering has made.
    leaves: Option<Leaves>,
    /// The first is the record itself.
    places: Vec<Place>,
    path: Vec<usize>,
    lengths: Option<(u64, u64)>,
}

/// A component at a place in records.
struct Place {
    field: FieldId,
    count: u64,
    numbers: Option<(i64, i64)>,
    octets: Option<(u64, u64)>,
    /// The earliest and the latest of times that a rendering shows.
    times: Option<(String, String)>,
    children: Vec<usize>,
}

/// Adds a text to a range of texts.
fn widen(range: &mut Option<(String, String)>, text: &str) {
    match range {
        None => *range = Some((text.to_owned(), text.to_owned())),
        Some((low, _)) if text < low.as_str() => text.clone_into(low),
        Some((_, high)) if text > high.as_str() => text.clone_into(high),
        Some(_) => {}
    }
}

/// The range with one more value in it.
fn with<T: Ord + Copy>(range: Option<(T, T)>, value: T) -> Option<(T, T)> {
    Some(range.map_or((value, value), |(low, high)| (low.min(value), high.max(value))))
}

impl Statistics<'_> {
    /// The place of a component inside of the one that is open, counted.
    fn met(&mut self, field: FieldId) -> usize {
        let parent = self.path.last().copied();
        let known = match parent {
            None => (!self.places.is_empty()).then_some(0),
            Some(parent) => {
                let children = &self.places[parent].children;
                children.iter().copied().find(|child| self.places[*child].field == field)
            }
        };
        let place = known.unwrap_or_else(|| {
            let (numbers, octets, times, children) = (None, None, None, Vec::new());
            self.places.push(Place { field, count: 0, numbers, octets, times, children });
            let place = self.places.len() - 1;
            if let Some(parent) = parent {
                self.places[parent].children.push(place);
            }
            place
        });
        self.places[place].count += 1;
        place
    }
}

impl RowWriter for Statistics<'_> {
    fn record(&mut self, value: View<'_>, origin: &Origin<'_>, _: &mut Vec<u8>) -> Result<(), Error> {
        self.path.clear();
        self.lengths = with(self.lengths, origin.octets.len() as u64);
        for at in 0..value.len() {
            match value.token(at) {
                Token::Open { field, .. } => {
                    let place = self.met(field);
                    self.path.push(place);
                }
                Token::Close { .. } => _ = self.path.pop(),
                Token::Leaf { field, node, leaf } => {
                    let place = self.met(field);
                    let place = &mut self.places[place];
                    let is_time =
                        self.leaves.is_some_and(|it| [it.timestamp, it.date, it.time].contains(&node));
                    match scalar(self.shape, node, leaf) {
                        Scalar::Integer(number) => place.numbers = with(place.numbers, number),
                        Scalar::Text(text) if is_time => widen(&mut place.times, &text),
                        Scalar::Boolean(_) | Scalar::Null | Scalar::Enumerated(..) => {}
                        _ => {
                            let octets = leaf.contents().map_or(0, <[u8]>::len);
                            place.octets = with(place.octets, octets as u64);
                        }
                    }
                }
                Token::Default { .. } | Token::Unknown { .. } => {}
            }
        }
        Ok(())
    }
}

/// The line of a place and those of the places inside.
fn line(shape: &Shape, places: &[Place], at: usize, around: u64, depth: usize, out: &mut String) {
    let place = &places[at];
    let field = shape.field(place.field);
    let name = format!("{:1$}{2}", "", 2 * depth, shape.name(field.name));
    let share = place.count as f64 * 100.0 / around.max(1) as f64;
    _ = write!(out, "{name:<40} {:>12} ", term::grouped(place.count));
    // Elements may be more than lists.
    _ = if place.count > around {
        write!(out, "{:>7.1} each", share / 100.0)
    } else {
        write!(out, "{share:>10.1} %")
    };
    _ = match (place.numbers, &place.times, place.octets) {
        (Some((low, high)), ..) => writeln!(out, "  {}", range(low, high)),
        (None, Some((low, high)), _) => writeln!(out, "  {}", range(low, high)),
        (None, None, Some((low, high))) => writeln!(out, "  {} bytes", range(low, high)),
        (None, None, None) => writeln!(out),
    };
    for &child in &place.children {
        line(shape, places, child, place.count, depth + 1, out);
    }
}

fn range<T: PartialEq + fmt::Display>(low: T, high: T) -> String {
    if low == high { low.to_string() } else { format!("{low} to {high}") }
}
