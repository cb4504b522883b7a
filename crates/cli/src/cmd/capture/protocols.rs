//! `tercet capture protocols`.

use super::specifications::SpecificationArgs;
use crate::exit::{Exit, Outcome};
use crate::term;
use clap::Args;
use std::io::Write as _;
use tercet_capture::{Protocol, protocols};

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
            ["protocol", "PPID", "SCTP", "TCP", "UDP", "other", "type", "rules", "specification", "found"];
        let mut rows = vec![heads.map(str::to_owned)];
        for protocol in protocols() {
            let (found, refused) = specifications.of(protocol, None);
            let found: Vec<_> = found.iter().map(|it| it.place.display().to_string()).collect();
            refused.iter().for_each(term::warning);
            rows.push([
                protocol.name.clone(),
                numbers(&protocol.ppid),
                numbers(&protocol.sctp),
                numbers(&protocol.tcp),
                numbers(&protocol.udp),
                others(protocol),
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

/// Prints what else messages are found by.
fn others(protocol: &Protocol) -> String {
    let mut found = Vec::new();
    if !protocol.ssn.is_empty() {
        found.push(format!("SSN {}", ranges(&protocol.ssn)));
    }
    found.extend(protocol.ethertype.iter().map(|it| format!("Ethertype {it:04x}")));
    if let (Some((first, _)), Some((last, _))) = (protocol.btp.first(), protocol.btp.last()) {
        found.push(format!("BTP {first}-{last}"));
    }
    found.extend(match &*protocol.name {
        "lte-rrc" | "umts-rrc" | "nr-rrc" => Some("GSMTAP, exported".to_owned()),
        "x509" => Some("TLS".to_owned()),
        _ => None,
    });
    if found.is_empty() { "-".to_owned() } else { found.join(", ") }
}

/// Prints numbers, those that follow each other as a range.
fn ranges(numbers: &[u8]) -> String {
    let mut parts: Vec<(u8, u8)> = Vec::new();
    for &number in numbers {
        match parts.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            _ => parts.push((number, number)),
        }
    }
    let part =
        |&(first, last): &(u8, u8)| if first == last { first.to_string() } else { format!("{first}-{last}") };
    parts.iter().map(part).collect::<Vec<_>>().join(",")
}

/// Prints numbers in a cell.
fn numbers<T: ToString>(numbers: &[T]) -> String {
    if numbers.is_empty() {
        return "-".to_owned();
    }
    numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
}
