//! What a run has done, as a text file that Prometheus' node exporter collects.

use crate::exit::{Failure, Outcome};
use crate::report::{Totals, now};
use std::fmt::Write as _;
use std::fs;
use std::io::Write;
use std::path::Path;
use tercet::records::Output;

const LAST_SUCCESS: &str = "tercet_last_success_timestamp_seconds";

/// Writes the file, whole or not at all. The time of the last success stays that of an earlier run until this one has one.
pub fn write(path: &Path, totals: &Totals) -> Outcome<()> {
    let text = text(totals, &earlier(path)?);
    let mut output = Output::create(path)?;
    output.write_all(text.as_bytes())?;
    Ok(output.commit()?)
}

/// What an earlier run has written; a file of something else is not replaced.
pub fn earlier(path: &Path) -> Outcome<String> {
    let is_file = fs::metadata(path).is_ok_and(|found| found.is_file());
    let octets = if is_file {
        fs::read(path).map_err(|error| Failure::io(path.display(), &error))?
    } else {
        Vec::new()
    };
    match String::from_utf8(octets) {
        Ok(text) if text.is_empty() || text.starts_with("# HELP tercet_") => Ok(text),
        _ => Err(Failure::usage(format_args!(
            "refusing to overwrite `{}`: not metrics of an earlier run\nhelp: name another file with `--prometheus`",
            tercet_printable::path(path)
        ))),
    }
}

fn text(totals: &Totals, earlier: &str) -> String {
    let mut text = String::new();
    let mut metric = |name: &str, kind: &str, help: &str, values: &[(&str, String)]| {
        // Writing to memory does not fail.
        _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}");
        for (labels, value) in values {
            _ = writeln!(text, "{name}{labels} {value}");
        }
    };
    let one = |value: u64| [("", value.to_string())];
    metric(
        "tercet_records_total",
        "counter",
        "Records read, rejected ones not included.",
        &one(totals.records),
    );
    metric(
        "tercet_rejects_total",
        "counter",
        "Damaged places and records that do not decode.",
        &one(totals.rejects),
    );
    metric("tercet_read_octets_total", "counter", "Bytes of inputs.", &one(totals.balance.read));
    metric(
        "tercet_rejected_octets_total",
        "counter",
        "Bytes outside of records and fillers that were rejected.",
        &one(totals.balance.rejected),
    );
    let [good, rejected, failed] = totals.inputs.map(|count| count.to_string());
    metric(
        "tercet_inputs_total",
        "counter",
        "Inputs by what came of them.",
        &[
            (r#"{result="good"}"#, good),
            (r#"{result="rejects"}"#, rejected),
            (r#"{result="failed"}"#, failed),
        ],
    );
    let seconds = [("", format!("{:.6}", totals.seconds))];
    metric("tercet_conversion_seconds_total", "counter", "Time spent on inputs.", &seconds);
    metric("tercet_last_run_timestamp_seconds", "gauge", "When this was written.", &one(now()));
    let before = || earlier.lines().find_map(|line| line.strip_prefix(LAST_SUCCESS)?.trim().parse().ok());
    if let Some(success) = totals.last_success.or_else(before) {
        metric(LAST_SUCCESS, "gauge", "When an input was converted last that had not failed.", &one(success));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_success_is_kept() {
        let mut totals = Totals { records: 7, ..Totals::default() };
        let earlier = text(&Totals { last_success: Some(1_700_000_000), ..Totals::default() }, "");
        let now = text(&totals, &earlier);
        assert!(
            now.contains("\ntercet_records_total 7\n") && now.contains("{result=\"failed\"} 0\n"),
            "{now}"
        );
        assert!(now.contains("\ntercet_last_success_timestamp_seconds 1700000000\n"), "{now}");
        totals.last_success = Some(5);
        assert!(text(&totals, &now).contains("\ntercet_last_success_timestamp_seconds 5\n"));
    }
}
