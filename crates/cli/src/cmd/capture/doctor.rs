//! `tercet doctor` on captures: their protocols, and the commands that read them.

use super::rows::Source;
use crate::exit::{Exit, Failure, Outcome};
use crate::inputs::Input;
use crate::{shell, term};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use tercet_capture::{Capture, Event, Options, protocol};

/// Prints what captures have, and the commands that read them.
pub fn diagnose(source: &Source, inputs: &[Input]) -> Outcome {
    let specifications = source.find()?;
    let mut out = term::report();
    let mut counts: BTreeMap<&'static str, u64> = BTreeMap::new();
    let mut varied: BTreeSet<&str> = BTreeSet::new();
    let mut exit = Exit::Good;
    for input in inputs {
        let mut of_input: BTreeMap<&'static str, u64> = BTreeMap::new();
        let mut capture = Capture::new(input.open()?, Options::default());
        let mut count = |event: Event<'_>| {
            if let Event::Pdu(pdu) = event {
                *of_input.entry(&pdu.protocol.name).or_default() += 1;
                if pdu.variant.is_some() {
                    varied.insert(&pdu.protocol.name);
                }
            }
        };
        while capture.read_packet(&mut count).map_err(|error| Failure::io(input.name(), &error))? {}
        let balance = capture.balance();
        let parts = of_input.iter().map(|(name, count)| format!("{name} ({count})"));
        let parts = match of_input.is_empty() {
            true => "no messages of known protocols".to_owned(),
            false => parts.collect::<Vec<_>>().join(", "),
        };
        writeln!(
            out,
            "{}: a packet capture of {}: {parts}",
            input.shown(),
            term::count(balance.packets, "packet")
        )?;
        if balance.packets == 0 && balance.faults > 0 {
            exit = Exit::Io;
        }
        for (name, count) in of_input {
            *counts.entry(name).or_default() += count;
        }
    }
    let words =
        |inputs: &[Input]| inputs.iter().map(|it| shell::path(&it.name())).collect::<Vec<_>>().join(" ");
    let given: String = source
        .schema
        .schema
        .iter()
        .map(|path| format!(" -s {}", shell::path(&path.display().to_string())))
        .collect();
    let files = words(inputs);
    if counts.is_empty() {
        if exit == Exit::Good {
            writeln!(out, "\ntercet capture stat {files}")?;
        }
        return Ok(exit);
    }
    writeln!(out, "\ntercet capture list{given} {files}")?;
    for name in counts.keys() {
        let Some(protocol) = protocol(name) else { continue };
        if protocol.type_name.is_none() {
            writeln!(out, "tercet megaco decode {files}")?;
            continue;
        }
        let is_found = !specifications.of(protocol, None).0.is_empty();
        let (given, note) = match is_found {
            true => (given.clone(), String::new()),
            false => (" -s SPECIFICATIONS".to_owned(), format!("   # {}", protocol.specification)),
        };
        // The types of some protocols have different columns: each has a file.
        let to = match varied.contains(name) {
            false => format!("{name}.parquet"),
            true => "out/ -f parquet".to_owned(),
        };
        writeln!(out, "tercet convert{given} --protocol {name} {files} -o {to}{note}")?;
    }
    Ok(exit)
}
