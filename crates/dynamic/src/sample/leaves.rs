//! Primitive values: numbers, enumerations, octets, times, identifiers.

use super::demand::Demand;
use super::{Choice, Sampler};
use crate::contents;
use crate::text::integer_octets;
use crate::validate::TIMES;
use num_bigint::BigInt;
use tercet_plan::constraint::{Element, Number};
use tercet_plan::{FieldId, Kind, NodeId};
use tercet_runtime::ber::{Rules, Writer, decode_real};

/// Values that are tried before one is taken that does not meet everything.
const TRIES: usize = 60;
/// Named numbers that are borders.
const NAMED: usize = 16;

impl<'s> Sampler<'s> {
    /// Contents octets of a primitive type that meet a demand, if such are found.
    pub(super) fn leaf(&mut self, field: FieldId, node: NodeId, demand: &Demand<'s>) -> Vec<u8> {
        let site = (Choice::Leaf, field.index(), node.index());
        let kind = self.shape.node(node).kind;
        let mut contents = Vec::new();
        for _ in 0..TRIES {
            contents = match kind {
                Kind::Null => Vec::new(),
                Kind::Boolean => {
                    let value = match self.border(site, 2) {
                        Some(turn) => turn == 0,
                        None => self.random.one_in(2),
                    };
                    contents::of_boolean(value).to_vec()
                }
                Kind::Integer => self.integer(site, node, demand),
                Kind::Enumerated => self.enumerated(site, node),
                Kind::Real => self.real(site, demand),
                Kind::OctetString => {
                    let size = self.size(site, demand, self.longest(), 12);
                    (0..size).map(|_| self.random.bits() as u8).collect()
                }
                Kind::BitString => self.bits(site, node, demand),
                Kind::ObjectIdentifier | Kind::RelativeOid => self.oid(site, kind),
                Kind::Open => super::UNKNOWN_CONTENT.to_vec(),
                _ => {
                    let text = self.text_of(site, kind, demand);
                    match contents::of_text(kind, &text) {
                        Some(Ok(made)) => made.into_owned(),
                        _ => continue,
                    }
                }
            };
            if self.too_large || demand.all.is_empty() || self.fits(node, &contents, demand) {
                return contents;
            }
        }
        contents
    }

    /// The most bytes or characters of a string whose type has no bound.
    pub(super) fn longest(&self) -> u64 {
        if self.options.large { 70_000 } else { 300 }
    }

    fn integer(&mut self, site: super::Site, node: NodeId, demand: &Demand<'s>) -> Vec<u8> {
        let ranges: Vec<&'s [(Option<Number>, Option<Number>)]> = demand
            .all
            .iter()
            .filter_map(|element| match element {
                Element::Integers(ranges) => Some(ranges.as_slice()),
                _ => None,
            })
            .collect();
        let mut borders: Vec<Vec<u8>> = Vec::new();
        let step =
            |number: &Number, by: i8| (BigInt::from_signed_bytes_be(&number.0) + by).to_signed_bytes_be();
        for (low, high) in ranges.iter().flat_map(|ranges| ranges.iter()).take(100) {
            borders.extend(low.iter().map(|low| low.0.to_vec()));
            borders.extend(high.iter().map(|high| high.0.to_vec()));
            borders.extend(low.iter().map(|low| step(low, 1)));
            borders.extend(high.iter().map(|high| step(high, -1)));
        }
        borders.extend(self.shape.items_of(node).iter().take(NAMED).map(|item| integer_octets(item.value)));
        let usual = [0, 1, -1, 127, 128, 255, 256, -128, -129, 32_767, 65_535, 65_536, i64::MAX, i64::MIN];
        borders.extend(usual.map(integer_octets));
        if ranges.is_empty() {
            let beyond: [BigInt; 3] =
                [BigInt::from(i64::MAX) + 1, BigInt::from(i64::MIN) - 1, BigInt::from(1) << 64];
            borders.extend(beyond.map(|number| number.to_signed_bytes_be()));
        }
        let mut seen: Vec<Vec<u8>> = Vec::new();
        for border in borders {
            if !seen.contains(&border) && self.fits(node, &border, demand) {
                seen.push(border);
            }
        }
        if let Some(turn) = self.border(site, seen.len())
            && let Some(border) = seen.get(turn)
        {
            return border.clone();
        }
        let mut range = vec![(None, None)];
        for ranges in ranges {
            range = both(&range, ranges);
        }
        let width = self.random.below(62) as u32;
        let near = i128::from(self.random.bits() >> width);
        let number = match self.random.pick(&range).copied() {
            Some((Some(low), Some(high))) => self.random.wide(low, high),
            Some((Some(low), None)) => low.saturating_add(near),
            Some((None, Some(high))) => high.saturating_sub(near),
            _ => near - i128::from(self.random.bits() >> width),
        };
        BigInt::from(number).to_signed_bytes_be()
    }

    fn enumerated(&mut self, site: super::Site, node: NodeId) -> Vec<u8> {
        let items = self.shape.items_of(node);
        let chosen = match self.border(site, items.len()) {
            Some(turn) => items.get(turn),
            None => self.random.pick(items),
        };
        integer_octets(chosen.map_or(0, |item| item.value))
    }

    fn real(&mut self, site: super::Site, demand: &Demand<'s>) -> Vec<u8> {
        let mut borders = vec![0.0, 1.0, -1.0, 0.5, 1e10, -0.0, f64::INFINITY, f64::NEG_INFINITY, 0.1];
        let mut ends = (f64::MIN / 4.0, f64::MAX / 4.0);
        let mut decimal = false;
        for element in &demand.all {
            if let Element::Reals(low, high) = element {
                let end = |end: &Option<(Box<[u8]>, bool)>| {
                    decode_real(&end.as_ref()?.0, 0, Rules::Ber).ok().map(|real| real.to_f64())
                };
                let (low, high) = (end(low), end(high));
                borders.splice(0..0, low.into_iter().chain(high));
                ends = (low.unwrap_or(ends.0), high.unwrap_or(ends.1));
            }
        }
        if demand.wants_base_10(self.shape) {
            decimal = true;
            borders.retain(|value| value.is_finite() && value.to_bits() != (-0.0f64).to_bits());
        }
        let number = match self.border(site, borders.len()) {
            Some(turn) => borders.get(turn).copied().unwrap_or(0.0),
            None => {
                let part = self.random.below(1 << 20) as f64 / f64::from(1 << 20);
                let near = self.random.below(2_000_000) as f64 / 1_000.0 - 1_000.0;
                if near >= ends.0 && near <= ends.1 { near } else { ends.0 + (ends.1 - ends.0) * part }
            }
        };
        let mut writer = Writer::new(Rules::Der);
        if decimal && number != 0.0 {
            // A number of its base; one that is out of form is not taken.
            _ = writer.push_decimal_text(&format!("{number:e}"));
        } else {
            writer.push_f64(number);
        }
        writer.into_vec()
    }

    fn bits(&mut self, site: super::Site, node: NodeId, demand: &Demand<'s>) -> Vec<u8> {
        let named = self.shape.items_of(node);
        if !named.is_empty() {
            let least = demand.sizes().first().map_or(0, |(low, _)| *low);
            let octets = self.within_limits(least.div_ceil(8));
            let least = if octets == 0 { 0 } else { least as usize };
            // Zeros behind the last one do not count (X.680 §22.7).
            let all: Vec<u64> = named.iter().filter_map(|item| u64::try_from(item.value).ok()).collect();
            let chosen: Vec<u64> = match self.border(site, all.len() + 2) {
                Some(0) => Vec::new(),
                Some(1) => all,
                Some(turn) => all.get(turn - 2).copied().into_iter().collect(),
                None => all.into_iter().filter(|_| self.random.one_in(2)).collect(),
            };
            return contents::of_named_bits(&chosen, least);
        }
        let size = self.size(site, demand, self.longest(), 20);
        let mut contents = vec![(size.wrapping_neg() % 8) as u8];
        contents.extend((0..size.div_ceil(8)).map(|_| self.random.bits() as u8));
        let unused = u32::from(contents[0]);
        if let Some(last) = contents.last_mut().filter(|_| size > 0) {
            *last = *last >> unused << unused;
        }
        contents
    }

    fn oid(&mut self, site: super::Site, kind: Kind) -> Vec<u8> {
        const ABSOLUTE: [&str; 5] = ["1.2.840.113549", "2.5.4.3", "0.0", "2.999.1", "1.3.6.1.4.1.4294967295"];
        const RELATIVE: [&str; 4] = ["0", "1.2.3", "127.128", "8571.3.2"];
        let all: &[&str] = if kind == Kind::RelativeOid { &RELATIVE } else { &ABSOLUTE };
        let text = match self.border(site, all.len()) {
            Some(turn) => all.get(turn).copied().unwrap_or("0").to_owned(),
            None => {
                let arcs: Vec<String> = (0..self.random.between(1, 5))
                    .map(|_| {
                        let width = self.random.between(8, 62) as u32;
                        (self.random.bits() >> width).to_string()
                    })
                    .collect();
                if kind == Kind::RelativeOid {
                    arcs.join(".")
                } else {
                    let first = self.random.below(3);
                    let second = self.random.below(if first < 2 { 40 } else { 2_000 });
                    format!("{first}.{second}.{}", arcs.join("."))
                }
            }
        };
        contents::of_text(kind, &text)
            .and_then(Result::ok)
            .map(std::borrow::Cow::into_owned)
            .unwrap_or_default()
    }

    /// The text of a time.
    pub(super) fn time(&mut self, site: super::Site, kind: Kind, settings: Option<&str>) -> String {
        let (years, months, days) =
            (1950 + self.random.below(100), 1 + self.random.below(12), 1 + self.random.below(28));
        let (hours, minutes, seconds) = (self.random.below(24), self.random.below(60), self.random.below(60));
        let fitting: Vec<&str> = match kind {
            Kind::UtcTime => vec!["500101000000Z", "491231235959Z", "240229120000Z"],
            Kind::GeneralizedTime => vec!["19500101000000Z", "20491231235959.5Z", "20240229120000Z"],
            Kind::Date => vec!["2024-02-29", "0000-01-01", "9999-12-31"],
            Kind::TimeOfDay => vec!["00:00:00", "23:59:59", "24:00:00"],
            Kind::DateTime => vec!["2024-02-29T12:30:45", "1999-12-31T23:59:59"],
            Kind::Duration => vec!["P1Y2M3DT4H5M6S", "P0D", "PT0.5S", "P3W"],
            _ => TIMES
                .into_iter()
                .filter(|time| settings.is_none_or(|wanted| crate::validate::agree(wanted, time)))
                .collect(),
        };
        if let Some(turn) = self.border(site, fitting.len())
            && let Some(time) = fitting.get(turn)
        {
            return (*time).to_owned();
        }
        match kind {
            Kind::UtcTime => {
                format!("{:02}{months:02}{days:02}{hours:02}{minutes:02}{seconds:02}Z", years % 100)
            }
            Kind::GeneralizedTime => {
                format!("{years}{months:02}{days:02}{hours:02}{minutes:02}{seconds:02}Z")
            }
            Kind::Date => format!("{years}-{months:02}-{days:02}"),
            Kind::TimeOfDay => format!("{hours:02}:{minutes:02}:{seconds:02}"),
            Kind::DateTime => format!("{years}-{months:02}-{days:02}T{hours:02}:{minutes:02}:{seconds:02}"),
            Kind::Duration => format!("P{months}M{days}DT{hours}H"),
            _ => self.random.pick(&fitting).map_or_else(String::new, |time| (*time).to_owned()),
        }
    }
}

/// Ranges that are looked at to find what two sets have in common.
const RANGES: usize = 200;

/// What two sets of integers have in common, as far as 128 bits hold it.
fn both(
    known: &[(Option<i128>, Option<i128>)],
    ranges: &[(Option<Number>, Option<Number>)],
) -> Vec<(Option<i128>, Option<i128>)> {
    let end = |number: &Option<Number>| {
        number.as_ref().and_then(|number| i128::try_from(BigInt::from_signed_bytes_be(&number.0)).ok())
    };
    let mut both = Vec::new();
    for (from, to) in ranges.iter().take(RANGES) {
        for (low, high) in known.iter().take(RANGES) {
            let low = (*low).max(end(from));
            let high = match (*high, end(to)) {
                (Some(a), Some(b)) => Some(a.min(b)),
                (a, b) => a.or(b),
            };
            if low.zip(high).is_none_or(|(low, high)| low <= high) {
                both.push((low, high));
            }
        }
    }
    both
}
