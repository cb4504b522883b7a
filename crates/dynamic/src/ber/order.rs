//! Encoding: the order in which components and elements stand.

use super::encode::Engine;
use crate::fault::Fault;
use tercet_plan::ber::{NONE, NodeCode};
use tercet_runtime::ber::{Reader, Rules};

impl Engine<'_> {
    /// Brings the components of a SEQUENCE into the order of the type.
    #[cold]
    pub(super) fn reorder(&mut self) {
        self.sort_by(|number, _, _| number);
    }

    /// Brings the components of a SET into the order of DER (X.690 10.3), or of CER, in which an untagged CHOICE stands
    /// where the least of its tags belongs (9.3). BER leaves them as they are.
    pub(super) fn sort_set(&mut self, code: &NodeCode) {
        if self.rules == Rules::Ber {
            return;
        }
        let (program, rules) = (self.program, self.rules);
        self.sort_by(|number, is_known, element| {
            let tag = Reader::new(element, Rules::Ber).read_header().map_or(0, |header| header.tag.bits());
            if is_known && rules == Rules::Cer { program.least_tag(code, number, tag) } else { tag }
        });
    }

    /// Brings the elements of a SET OF into the order of DER and CER (11.6).
    pub(super) fn sort_set_of(&mut self) -> Result<(), Fault> {
        if self.rules == Rules::Ber {
            return Ok(());
        }
        let from = self.level.contents;
        let sorted = &mut self.state.writer;
        sorted.clear();
        let end = sorted.mark();
        sorted.push(self.out.since(from));
        sorted.sort_set_of(end)?;
        self.out.rewind(from);
        self.out.push(sorted.finish());
        Ok(())
    }

    /// Sorts what is in a value by keys made from the number of the component, whether it is one that the schema knows
    /// (the number is then its own, not that of the one before which it was found), and its octets.
    fn sort_by(&mut self, key: impl Fn(u32, bool, &[u8]) -> u32) {
        let from = self.level.contents;
        let written = self.out.since(from);
        let total = from + written.len();
        let mut begun = from;
        let mut before = NONE;
        let mut parts: Vec<(u32, &[u8])> = Vec::new();
        for &(number, end) in self.order.get(self.level.order..).unwrap_or_default() {
            let octets = written.get(total - end..total - begun).unwrap_or_default();
            if !octets.is_empty() {
                parts.push((key(number, number != before, octets), octets));
            }
            begun = end;
            before = number;
        }
        parts.reverse();
        if parts.is_sorted_by_key(|(key, _)| *key) {
            return;
        }
        parts.sort_by_key(|(key, _)| *key);
        let sorted = parts.iter().flat_map(|(_, octets)| octets.iter().copied()).collect::<Vec<_>>();
        self.out.rewind(from);
        self.out.push(&sorted);
    }
}
