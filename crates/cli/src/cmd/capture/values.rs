//! `tercet decode` and `tercet validate` on captures: the messages one by one, in the order of their frames.

use super::reading::{Message, Reader, ReadingArgs};
use super::rows::Source;
use crate::exit::{Exit, Failure, Outcome};
use crate::term;
use std::collections::{BTreeSet, HashMap};
use std::io::Write;
use tercet::captures::Specification;
use tercet::dynamic::View;
use tercet::records::conversion::FormOptions;
use tercet::records::{Format, Origin, Shown};
use tercet_capture::{Pdu, protocol_and_type};

/// Takes the value of a message as far as it was read, with its specification.
pub type Take<'a> = &'a mut dyn FnMut(&Pdu<'_>, &Specification, View<'_>) -> Outcome<()>;

/// Counts of messages.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    pub values: u64,
    pub faults: u64,
}

impl Source {
    /// Reads the messages of all protocols that are asked for and that the specifications decode. With `reports`, faults
    /// and deviations are reported on standard error.
    pub fn values(&self, limit: Option<u64>, reports: bool, take: Take<'_>) -> Outcome<(Exit, Counts)> {
        let names = self.capture.protocol.iter();
        let protocols = names
            .map(|name| Ok(&*protocol_and_type(name).map_err(Failure::usage)?.0.name))
            .collect::<Outcome<Vec<_>>>()?;
        let reading: ReadingArgs = self.reading(protocols)?;
        let mut values = Values {
            source: self,
            limit: limit.unwrap_or(u64::MAX),
            reports,
            take,
            counts: Counts::default(),
            skipped: BTreeSet::new(),
        };
        let exit = reading.read(false, &mut values)?;
        let Values { counts, skipped, .. } = values;
        if counts.values + counts.faults == 0 && exit < Exit::Failed {
            let text = match skipped.is_empty() {
                true => "no message of a known protocol".to_owned(),
                false => {
                    let names: Vec<_> = skipped.into_iter().collect();
                    format!(
                        "no message that the specifications decode; there are messages of {}",
                        names.join(", ")
                    )
                }
            };
            return Err(Failure::usage(format_args!(
                "{text}\nhelp: `tercet capture stat` counts the messages of each protocol"
            )));
        }
        Ok((exit, counts))
    }
}

/// Hands values on.
struct Values<'v> {
    source: &'v Source,
    limit: u64,
    reports: bool,
    take: Take<'v>,
    counts: Counts,
    /// Protocols whose messages the specifications do not decode.
    skipped: BTreeSet<&'static str>,
}

impl Reader for Values<'_> {
    fn message(&mut self, message: Message<'_>) -> Outcome<()> {
        let Message { pdu, decoded, value, file } = message;
        let named = &self.source.capture.protocol;
        // `lte-rrc.dl-dcch` is one type of several.
        let is_named = |name: &String| match name.split_once('.') {
            None => true,
            Some((_, of)) => pdu.variant.as_ref().is_some_and(|it| it.name == of),
        };
        if self.is_done() || !named.is_empty() && !named.iter().any(is_named) {
            return Ok(());
        }
        let Some(decoded) = decoded.filter(|it| it.used.is_some()) else {
            self.skipped.insert(&pdu.protocol.name);
            return Ok(());
        };
        let [module, of, _] = decoded.used.as_deref().map_or([""; 3], |it| it.each_ref().map(String::as_str));
        let is_type = |name: &String| name == of || *name == format!("{module}.{of}");
        if !self.source.type_name.as_ref().is_none_or(is_type) {
            self.skipped.insert(&pdu.protocol.name);
            return Ok(());
        }
        let place = match file {
            Some(file) => format!("{}: frame {}", tercet_printable::printable(file), pdu.frame),
            None => format!("frame {}", pdu.frame),
        };
        if self.reports {
            for warning in &decoded.warnings {
                term::warning(format_args!("{place}: {}: {}", warning.path, warning.message));
            }
        }
        match &decoded.fault {
            None => self.counts.values += 1,
            Some(fault) => {
                self.counts.faults += 1;
                let path = if fault.path.is_empty() { String::new() } else { format!("{}: ", fault.path) };
                let at = fault.offset.map(|at| format!(" (at byte {at})")).unwrap_or_default();
                term::error(format_args!("{place}: {path}{}{at}", fault.message));
            }
        }
        match value {
            Some((specification, view)) => (self.take)(pdu, specification, view),
            None => Ok(()),
        }
    }

    fn is_done(&self) -> bool {
        self.counts.values + self.counts.faults >= self.limit
    }
}

/// Prints the values of messages, each as a value of its own type.
pub fn print(
    source: &Source,
    format: Format,
    form: &FormOptions,
    limit: Option<u64>,
    out: &mut dyn Write,
) -> Outcome {
    if format == Format::CSV {
        return Err(Failure::usage(
            "messages of different types have different columns\nhelp: `tercet convert` writes those of one protocol",
        ));
    }
    // What texts begin with depends on the type: one value is a document of its own, as of record files.
    let mut names: HashMap<String, ()> = HashMap::new();
    let (mut text, mut index) = (Vec::new(), 0);
    let mut take = |pdu: &Pdu<'_>, specification: &Specification, view: View<'_>| {
        let Specification { plan, root, type_name, .. } = specification;
        let shown = Shown::from(plan);
        if names.insert(type_name.clone(), ()).is_none() {
            form.check_columns(format, shown, *root)?;
        }
        text.clear();
        let mut writer = format.writer(form, shown, *root);
        let origin = Origin { input: "", index, offset: 0, octets: pdu.octets, elements: &[] };
        index += 1;
        if let Err(error) = writer.record(view, &origin, &mut text) {
            term::warning(format_args!("frame {}: {error}", pdu.frame));
            return Ok(());
        }
        out.write_all(&text)?;
        Ok(())
    };
    let (exit, _) = source.values(limit, true, &mut take)?;
    out.flush()?;
    Ok(exit)
}
