//! `tercet decode --trace`.

use super::Decode;
use crate::exit::{Exit, Failure, Outcome};
use crate::inputs::Input;
use crate::term;
use crate::trace::{Lines, TraceForm};
use crate::values::{describe, pieces, root, warn_of_trailing};
use std::cell::Cell;
use std::io::{BufWriter, Write};
use std::num::NonZeroU64;
use tercet::dynamic::trace::Trace;
use tercet::dynamic::{Decoder, NodeId, Options, Plan};
use tercet::{Rules, Schema, TapeCodec, check_trailing};

impl Decode {
    /// Prints the parts of encodings, up to the first fault of each input.
    pub(super) fn trace(
        &self,
        form: TraceForm,
        schema: &Schema,
        (syntax, type_name): (Rules, &str),
        inputs: &[Input],
        mut options: Options,
    ) -> Outcome {
        if syntax == Rules::Exer {
            return Err(Failure::usage(
                "`--trace` does not follow encoding instructions of XER; use `--rules xer`",
            ));
        }
        let plan = schema.plan_for(syntax, &[type_name]).map_err(Failure::usage)?;
        let root = root(&plan, type_name)?;
        if syntax.is_text() {
            return self.trace_text(form, &plan, (syntax, root), inputs, &options);
        }
        let mut out = BufWriter::new(term::report());
        let mut decoder = Decoder::new();
        let (mut count, mut faults, mut doubtful, mut marks) = (0, 0, 0, 0);
        let limit = self.limit.map_or(u64::MAX, NonZeroU64::get);
        for input in inputs {
            let pieces = pieces(input, syntax, self.spelling)?;
            if pieces.is_empty() {
                term::warning(format_args!("{}: the input is empty", input.shown()));
            }
            for piece in pieces {
                if count >= limit {
                    break;
                }
                let lines = Lines::new(form, syntax, &piece);
                if let Some(heading) = lines.heading() {
                    writeln!(out, "{heading}")?;
                }
                let octets = &*piece.octets;
                let mut written = Ok(());
                let number = Cell::new(count);
                let mut steps = Trace::new(&plan.shape, octets, |step| {
                    marks += u64::from(step.marked.is_some());
                    if written.is_ok() {
                        written = writeln!(out, "{}", lines.of_part(step, number.get()));
                    }
                });
                let (mut at, mut fault, mut trailing) = (0, None, None);
                while at < octets.len() && count < limit && fault.is_none() && trailing.is_none() {
                    options.base_offset = at as u64;
                    match decoder.decode(&plan, root, &octets[at..], &mut steps, &options) {
                        Ok(length) => {
                            (at, count) = (at + length, count + 1);
                            // A value of no bytes is followed by nothing: this would not end.
                            trailing = (length == 0 || !syntax.delimits()).then_some(at);
                        }
                        Err(error) => fault = Some(error),
                    }
                    steps.finish();
                    number.set(count);
                }
                drop(steps);
                written?;
                if let Some(at) = trailing.filter(|at| *at < octets.len()) {
                    out.flush()?;
                    match self.trailing {
                        None => doubtful += u64::from(warn_of_trailing(&piece, at)),
                        Some(_) => {
                            let behind = &octets[at..];
                            let checked = check_trailing(&plan, root, behind, at as u64, options.trailing);
                            fault = checked.err();
                        }
                    }
                }
                if let Some(error) = fault {
                    writeln!(out, "{}", lines.of_fault(&error, number.get()))?;
                    out.flush()?;
                    term::error(format_args!("{}: {error}", piece.name));
                    faults += 1;
                }
            }
        }
        out.flush()?;
        if marks > 0 {
            term::warning(term::count(marks, "marked value"));
        }
        Ok(match (faults + doubtful, count) {
            (0, _) => Exit::Good,
            (_, 0) => Exit::Failed,
            _ => Exit::Rejected,
        })
    }

    /// Prints the parts of values in text, up to the first fault of each input.
    fn trace_text(
        &self,
        form: TraceForm,
        plan: &Plan,
        (syntax, root): (Rules, NodeId),
        inputs: &[Input],
        options: &Options,
    ) -> Outcome {
        let mut out = BufWriter::new(term::report());
        let mut codec = TapeCodec::new(syntax, plan);
        let (mut count, mut faults) = (0, 0);
        let limit = self.limit.map_or(u64::MAX, NonZeroU64::get);
        for input in inputs {
            let pieces = pieces(input, syntax, self.spelling)?;
            if pieces.is_empty() {
                term::warning(format_args!("{}: the input is empty", input.shown()));
            }
            for piece in pieces {
                let lines = Lines::new(form, syntax, &piece);
                if let Some(heading) = lines.heading() {
                    writeln!(out, "{heading}")?;
                }
                for place in codec.places(&piece.octets) {
                    if count >= limit {
                        break;
                    }
                    let (text, base) = (&piece.octets[place.clone()], place.start as u64);
                    let mut written = Ok(());
                    let read = codec.trace(root, text, options, |step| {
                        if written.is_ok() {
                            let mut step = *step;
                            step.place.at += base * 8;
                            written = writeln!(out, "{}", lines.of_part(&step, count));
                        }
                    });
                    written?;
                    if let Err(error) = read {
                        let fault = describe(&piece, place.start, &error);
                        let message = fault.strip_prefix(&format!("{}:", piece.name)).unwrap_or(&fault);
                        let offset = base + error.offset();
                        writeln!(
                            out,
                            "{}",
                            lines.of_text_fault(offset, message.trim(), &error.path(), count)
                        )?;
                        out.flush()?;
                        term::error(&fault);
                        faults += 1;
                        break;
                    }
                    count += 1;
                }
            }
        }
        out.flush()?;
        Ok(match (faults, count) {
            (0, _) => Exit::Good,
            (_, 0) => Exit::Failed,
            _ => Exit::Rejected,
        })
    }
}
