//! Records in other rules than BER: their plans, made when the first such record comes.

use crate::SettingError;
use crate::fit::Known;
use crate::framing::partial::{Closed, closed};
use crate::framing::{Decodes, RecordFormat};
use std::cell::Cell;
use std::fmt;
use std::sync::{Arc, OnceLock};
use tercet_dynamic::{
    Decoder, Discard, Error, ErrorKind, NodeId, Options, Plan, ReadError, Rules, Sink, Tape,
};
use tercet_dynamic::{Unknown, xml};

type Make = dyn Fn(Rules) -> Result<Plan, SettingError> + Send + Sync;

/// Makes the plans for records that are not in BER, each when it is needed first.
#[derive(Clone)]
pub struct OtherRules(Arc<Inner>);

struct Inner {
    make: Box<Make>,
    uper: OnceLock<Result<Plan, SettingError>>,
    aper: OnceLock<Result<Plan, SettingError>>,
}

impl fmt::Debug for OtherRules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OtherRules").finish_non_exhaustive()
    }
}

impl OtherRules {
    /// `make` makes a plan of the types that the plan for BER has, in the same order: both have one shape.
    pub fn new(make: impl Fn(Rules) -> Result<Plan, SettingError> + Send + Sync + 'static) -> Self {
        Self(Arc::new(Inner { make: Box::new(make), uper: OnceLock::new(), aper: OnceLock::new() }))
    }

    /// The plan for records in a format, where that for BER is `ber`; this one for BER, and for XER, which wants the shape.
    pub(crate) fn plan<'p>(&'p self, format: RecordFormat, ber: &'p Plan) -> Result<&'p Plan, SettingError> {
        let Some(rules) = format.plan_rules() else { return Ok(ber) };
        let Inner { make, uper, aper } = &*self.0;
        let made = if rules == Rules::Uper { uper } else { aper };
        let made = made.get_or_init(|| {
            let plan = make(rules)?;
            let same = plan.shape == ber.shape;
            same.then_some(plan).ok_or_else(|| format!("the plan for {format} has another shape").into())
        });
        made.as_ref().map_err(Clone::clone)
    }
}

/// Finds the plan for a format; without [`OtherRules`] there is that for BER alone.
pub(crate) fn plan_for<'p>(
    others: Option<&'p OtherRules>,
    format: RecordFormat,
    ber: &'p Plan,
    at: u64,
) -> Result<&'p Plan, Error> {
    let found = match others {
        Some(others) => others.plan(format, ber),
        None if format.plan_rules().is_some() => Err(format!("there is no plan for {format}").into()),
        None => Ok(ber),
    };
    found.map_err(|detail| Error::new(ErrorKind::Unsupported, at).with_detail(detail))
}

/// Says the value of a record in XER to a sink, as a decoder does.
pub(crate) fn say_xml(
    plan: &Plan,
    node: NodeId,
    text: &[u8],
    sink: &mut impl Sink,
    options: &Options,
) -> Result<(), Error> {
    let mut reading = xml::ReadOptions::default();
    reading.ignore_unknown = options.unknown == Unknown::Keep;
    reading.depth = options.limits.depth;
    let mut tape = Tape::new();
    let failed = |error: ReadError| {
        let at = options.base_offset + error.offset() as u64;
        let detail = format!("{} (line {}, column {})", error.message(), error.line(), error.column());
        Error::new(ErrorKind::XmlValue, at).with_path(error.path()).with_detail(detail)
    };
    xml::read(&plan.shape, node, text, &mut tape, &reading).map_err(failed)?;
    tape.view(&[]).replay_wanted(sink);
    Ok(())
}

/// Decodes records to see whether they do.
#[derive(Debug)]
pub struct Check<'p> {
    plan: &'p Plan,
    others: Option<&'p OtherRules>,
    record: NodeId,
    options: Options,
    decoder: Decoder,
    marked: bool,
    budget: Option<&'p Cell<u64>>,
}

/// Octets that trying a record costs beside those that are read.
const TRIAL: u64 = 64;

impl<'p> Check<'p> {
    /// A check of records of a type.
    pub fn new(plan: &'p Plan, others: Option<&'p OtherRules>, record: NodeId, options: &Options) -> Self {
        let (options, decoder) = (options.clone(), Decoder::new());
        Self { plan, others, record, options, decoder, marked: false, budget: None }
    }

    /// Sets how many octets the trials may read. The number decreases; at 0, no further record decodes.
    #[must_use]
    pub fn within(self, budget: &'p Cell<u64>) -> Self {
        Self { budget: Some(budget), ..self }
    }
}

impl Check<'_> {
    /// Of the octets of a record in BER, those in values that the type tells something about, and all.
    pub(crate) fn known(&mut self, octets: &[u8]) -> (u64, u64) {
        let mut known = Known::new(&self.plan.shape);
        // As far as it decodes.
        _ = self.decoder.decode(self.plan, self.record, octets, &mut known, &self.options);
        (known.known, known.known + known.unknown)
    }
}

impl Decodes for Check<'_> {
    fn decodes(&mut self, format: RecordFormat, octets: &[u8]) -> bool {
        self.marked = false;
        if !self.spend(TRIAL) {
            return false;
        }
        let Ok(plan) = plan_for(self.others, format, self.plan, 0) else { return false };
        if format == RecordFormat::Xer {
            self.spend(octets.len() as u64);
            return say_xml(plan, self.record, octets, &mut Discard, &self.options).is_ok();
        }
        let decoded = self.decoder.decode(plan, self.record, octets, &mut Discard, &self.options);
        self.spend(match &decoded {
            Ok(length) => *length as u64,
            Err(error) => error.offset().saturating_sub(self.options.base_offset),
        });
        self.marked = format == RecordFormat::Ber && self.decoder.marked() > 0;
        decoded.is_ok_and(|length| length == octets.len())
    }

    fn is_marked(&self) -> bool {
        self.marked
    }

    fn begins(&mut self, format: RecordFormat, octets: &[u8]) -> bool {
        if format != RecordFormat::Ber {
            return false;
        }
        let Some(Closed { octets, end }) = closed(octets) else { return false };
        match self.decoder.decode(self.plan, self.record, &octets, &mut Discard, &self.options) {
            Ok(length) => length == octets.len(),
            // What is missing is behind the octets that are there.
            Err(error) => error.offset() >= end + self.options.base_offset,
        }
    }

    fn spend(&mut self, octets: u64) -> bool {
        let Some(budget) = self.budget else { return true };
        budget.set(budget.get().saturating_sub(octets));
        budget.get() > 0
    }
}
