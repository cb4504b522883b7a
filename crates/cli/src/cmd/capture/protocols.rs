//! `tercet capture protocols`.

use super::specifications::SpecificationArgs;
use crate::exit::{Exit, Outcome};
use crate::term;
use clap::Args;
use std::io::Write as _;
use tercet_capture::protocols;

/// List the protocols: how their messages are found, what decodes them, and which specification is found
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  tercet capture protocols
  tercet capture protocols -s specifications/")]
pub(super) struct Protocols {
    #[command(flatten)]
    specifications: SpecificationArgs,
}

impl Protocols {
    pub(super) fn run(&self) -> Outcome {
        let specifications = self.specifications.find()?;
        let heads =
            ["protocol", "PPID", "SCTP ports", "UDP ports", "type", "rules", "specification", "found"];
        let mut rows = vec![heads.map(str::to_owned)];
        for protocol in protocols() {
            let (found, refused) = specifications.of(protocol);
            let found: Vec<_> = found.iter().map(|it| it.place.display().to_string()).collect();
            refused.iter().for_each(term::warning);
            rows.push([
                protocol.name.clone(),
                numbers(&protocol.ppid),
                numbers(&protocol.sctp),
                numbers(&protocol.udp),
                protocol.type_name.clone().unwrap_or_else(|| "-".to_owned()),
                protocol.rules.clone().unwrap_or_else(|| "text".to_owned()),
                protocol.specification.clone(),
                if found.is_empty() { "-".to_owned() } else { found.join(", ") },
            ]);
        }
        let mut out = term::report();
        let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
        let widths: Vec<_> = (0..heads.len()).map(width).collect();
        for row in &rows {
            let line: String =
                row.iter().zip(&widths).map(|(cell, &width)| format!("{cell:<width$}  ")).collect();
            writeln!(out, "{}", line.trim_end())?;
        }
        Ok(Exit::Good)
    }
}

/// Prints numbers in a cell.
fn numbers<T: ToString>(numbers: &[T]) -> String {
    if numbers.is_empty() {
        return "-".to_owned();
    }
    numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
}
