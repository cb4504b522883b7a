//! What there is to know of one input while it is converted.

use crate::convert::{REJECT_LEAST, Settings, Stopped, Summary, Targets};
use crate::envelope::Envelope;
use crate::framing::{Item, Reason};
use crate::reject::Reject;
use crate::rows::Tally;
use std::io;
use std::ops::ControlFlow;

/// Rejects whose reasons a [`Summary`] keeps.
const SAMPLES: usize = 5;

/// The state of one input.
pub(crate) struct Run<'n> {
    pub(crate) name: &'n str,
    pub(crate) summary: Summary,
    pub(crate) tally: Tally,
    /// The reject whose octets are coming.
    pub(crate) open: Option<Reject>,
    pub(crate) envelope: Envelope,
    /// Whether what stands before the records has been read.
    pub(crate) tables: bool,
    pub(crate) next_progress: u64,
    /// Octets of records since something was met that is none.
    pub(crate) sound: usize,
}

impl Run<'_> {
    /// Tells how far it is, and asks whether to go on.
    pub(crate) fn progress(
        &mut self,
        settings: &Settings,
        progress: &mut dyn FnMut(&Summary) -> ControlFlow<()>,
    ) {
        self.next_progress = self.summary.balance.read + (1 << 20);
        let flow = progress(&self.summary);
        self.stop(settings, flow);
    }

    pub(crate) fn flush(&mut self, out: &mut Vec<u8>, targets: &mut Targets<'_>) -> io::Result<()> {
        self.tally.marks.flush(&mut targets.marks)?;
        targets.out.write_all(out)?;
        self.summary.written += out.len() as u64;
        out.clear();
        Ok(())
    }

    pub(crate) fn rejected(
        &mut self,
        item: &Item<'_>,
        reason: Reason,
        continued: bool,
        targets: &mut Targets<'_>,
    ) -> io::Result<()> {
        self.sound = 0;
        let fresh = self.open.as_ref().is_some_and(|open| open.length == 0 && open.offset == item.offset);
        if !continued && !fresh {
            self.close_reject(targets)?;
        }
        let offset = item.offset;
        let open =
            self.open.get_or_insert(Reject { offset, reason, error: None, length: 0, extension: false });
        if open.length == 0 {
            self.summary.rejects += 1;
        }
        open.length += item.octets.len() as u64;
        match &mut targets.rejects {
            Some(file) => file.octets(item.octets),
            None => Ok(()),
        }
    }

    /// Records that no filter has left out.
    pub(crate) fn kept(&self) -> u64 {
        self.summary.records - self.tally.left_out - self.tally.repeated
    }

    pub(crate) fn close_reject(&mut self, targets: &mut Targets<'_>) -> io::Result<()> {
        let Some(reject) = self.open.take() else { return Ok(()) };
        if let Some(file) = &mut targets.rejects {
            file.finish(self.name, &reject)?;
        }
        self.summary.cut = matches!(reject.reason, Reason::Truncated | Reason::WrapperOpen);
        if self.summary.samples.len() < SAMPLES {
            self.summary.samples.push(reject);
        }
        Ok(())
    }

    fn stop(&mut self, settings: &Settings, flow: ControlFlow<()>) {
        let Summary { records, rejects, balance, .. } = &self.summary;
        let seen = balance.rejected.max(rejects.saturating_mul(REJECT_LEAST));
        let nothing = *records == 0 && seen >= settings.give_up_after;
        if nothing {
            self.summary.stopped = Some(Stopped::NoRecord);
        } else if flow.is_break() {
            self.summary.stopped = Some(Stopped::Caller);
        }
    }
}
