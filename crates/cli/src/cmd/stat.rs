//! `tercet stat`.

#[cfg(feature = "capture")]
use crate::exit::Exit;
use crate::exit::Outcome;
#[cfg(feature = "capture")]
use crate::inputs::Input;
use crate::inputs::InputArgs;
use crate::inspect::InspectArgs;
use crate::term;
use clap::Args;
use std::fmt::{self, Write as _};
use std::io::{self, Write as _};
use tercet::dynamic::leaf::{Scalar, scalar};
use tercet::dynamic::{Error, FieldId, NodeId, Shape, Token, View};
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
        if crate::cmd::capture::are_captures(&inputs, self.inspect.source.records.is_capture())? {
            return self.captures(&inputs);
        }
        let job = self.inspect.job(&inputs, false)?;
        let shape = job.shown().shape();
        let leaves = job.shown().leaves;
        let mut statistics = Statistics::new(shape, leaves);
        let mut balance = Balance::default();
        let exit =
            self.inspect.read(&job, &inputs, &mut statistics, &mut io::sink(), &mut |_, summary| {
                balance.merge(&summary.balance);
            })?;
        let mut out = term::report();
        let records = statistics.places.first().map_or(0, |root| root.count);
        writeln!(out, "{}, {}", term::count(records, "record"), balance)?;
        statistics.print(&mut out)?;
        Ok(exit)
    }

    /// Counts the messages of captures, those of each type apart.
    #[cfg(feature = "capture")]
    fn captures(&self, inputs: &[Input]) -> Outcome {
        let messages = self.inspect.captures(&self.input.options)?.messages(inputs)?;
        let (mut exit, mut out) = (Exit::Good, term::report());
        for (at, of_type) in messages.iter().enumerate() {
            let mut statistics = Statistics::new(&of_type.envelope.shape, None);
            let (read, count) = of_type.read(&mut statistics, &mut io::sink(), None, None)?;
            exit = exit.max(read);
            let gap = if at > 0 { "\n" } else { "" };
            writeln!(out, "{gap}{}: {}", of_type.name, term::count(count, "message"))?;
            statistics.print(&mut out)?;
        }
        Ok(exit)
    }
}

impl<'p> Statistics<'p> {
    fn new(shape: &'p Shape, leaves: Option<Leaves>) -> Self {
        Self { shape, leaves, places: Vec::new(), path: Vec::new(), lengths: None }
    }

    /// Prints the ranges of sizes and a line for each component.
    fn print(&self, out: &mut dyn io::Write) -> Outcome<()> {
        let (statistics, places, shape) = (self, &self.places, self.shape);
        if let Some(range) = statistics.lengths {
            writeln!(out, "bytes of a record: {} to {}", term::grouped(range.0), term::grouped(range.1))?;
        }
        let mut text = String::new();
        if let Some(root) = places.first() {
            for &child in &root.children {
                line(shape, places, child, root.count, 0, &mut text);
            }
        }
        Ok(out.write_all(text.as_bytes())?)
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
    node: NodeId,
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
    fn met(&mut self, field: FieldId, node: NodeId) -> usize {
        let parent = self.path.last().copied();
        let known = match parent {
            None => (!self.places.is_empty()).then_some(0),
            Some(parent) => {
                let children = &self.places[parent].children;
                // What is inside of an open type has no field: types tell values apart.
                let is_it = |it: &Place| it.field == field && (field != FieldId::ROOT || it.node == node);
                children.iter().copied().find(|child| is_it(&self.places[*child]))
            }
        };
        let place = known.unwrap_or_else(|| {
            let (numbers, octets, times, children) = (None, None, None, Vec::new());
            self.places.push(Place { field, node, count: 0, numbers, octets, times, children });
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
                Token::Open { field, node, .. } => {
                    let place = self.met(field, node);
                    self.path.push(place);
                }
                Token::Close { .. } => _ = self.path.pop(),
                Token::Leaf { field, node, leaf } => {
                    let place = self.met(field, node);
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
    let name = match place.field {
        FieldId::ROOT => shape.type_name(place.node).unwrap_or("contents"),
        field => shape.name(shape.field(field).name),
    };
    let name = format!("{:1$}{name}", "", 2 * depth);
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
