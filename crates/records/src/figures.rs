//! What chosen components come to over the records: sums, the least and the greatest, and numbers that are missing or twice.

use crate::SettingError;
use crate::component::{Component, is_element};
use crate::filter::FilterError;
use crate::sequence::Sequence;
use std::cmp::Ordering;
use std::fmt;
use std::ops::RangeInclusive;
use tercet_dynamic::leaf::{Scalar, scalar};
use tercet_dynamic::{FieldId, NodeId, Shape, Token, View};

/// What chosen components come to.
#[derive(Clone, Debug, Default)]
pub struct Figures {
    figures: Vec<(Component, Figure)>,
    /// Where the walk over a record is.
    path: Vec<FieldId>,
}

/// What a component comes to.
#[derive(Clone, Debug)]
pub struct Figure {
    /// Its path, as it was asked for.
    pub path: String,
    /// What is asked of it.
    pub kind: FigureKind,
}

/// What is asked of a component.
#[derive(Clone, Debug)]
pub enum FigureKind {
    /// Its sum and its range.
    Total(Total),
    /// Which of its numbers are there.
    Sequence(Sequence),
}

/// Sum and range of the values of a component.
#[derive(Clone, Debug, Default)]
pub struct Total {
    /// How many values there are.
    pub count: u64,
    /// Their sum, if they are numbers.
    pub sum: Option<Amount>,
    /// The least: of numbers by value, of texts and times by their characters.
    pub least: Option<Extreme>,
    /// The greatest.
    pub greatest: Option<Extreme>,
}

/// A number with decimal places.
#[derive(Clone, Copy, Debug, Default)]
pub struct Amount {
    units: i128,
    places: u32,
}

/// A value at the end of a range.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Extreme {
    /// A number.
    Number(Amount),
    /// A text or a time.
    Text(String),
}

/// Decimal places beyond which a text is none of a number.
const MOST_PLACES: usize = 18;

impl Figures {
    /// What to add up and which sequences to look at in values of a type: paths from the record, or names of components
    /// wherever they are. Behind that of a sequence may stand where it begins again: `recordNumber=0..9999`.
    ///
    /// # Errors
    /// When the type has no such component, or it is no single value; when a sequence begins again nowhere.
    pub fn new(
        shape: &Shape,
        root: NodeId,
        totals: &[String],
        sequences: &[String],
    ) -> Result<Self, FilterError> {
        let total = |path: &String| Ok((path.clone(), FigureKind::Total(Total::default())));
        let asked = totals.iter().map(total).chain(sequences.iter().map(|text| sequence(text)));
        let figure = |asked: Result<(String, FigureKind), FilterError>| {
            let (path, kind) = asked?;
            let component = Component::new(shape, root, &path).map_err(FilterError::new)?;
            Ok((component, Figure { path, kind }))
        };
        Ok(Self { figures: asked.map(figure).collect::<Result<_, _>>()?, path: Vec::new() })
    }

    /// The figures, in the order in which they were asked for.
    pub fn iter(&self) -> impl Iterator<Item = &Figure> {
        self.figures.iter().map(|(_, figure)| figure)
    }

    /// Whether nothing was asked for.
    pub fn is_empty(&self) -> bool {
        self.figures.is_empty()
    }

    /// Adds what other records come to: those of the same figures.
    pub fn merge(&mut self, other: &Self) {
        if self.is_empty() {
            self.figures.clone_from(&other.figures);
            return;
        }
        for ((_, figure), (_, other)) in self.figures.iter_mut().zip(&other.figures) {
            match (&mut figure.kind, &other.kind) {
                (FigureKind::Total(total), FigureKind::Total(other)) => total.merge(other),
                (FigureKind::Sequence(sequence), FigureKind::Sequence(other)) => sequence.merge(other),
                _ => {}
            }
        }
    }

    /// The fields that have to be decoded.
    pub(crate) fn fields(&self) -> impl Iterator<Item = usize> + '_ {
        self.figures.iter().flat_map(|(component, _)| component.fields())
    }

    /// Whether a component is a part of something rendered: no field below this number.
    pub(crate) fn is_of_parts(&self, fields: usize) -> bool {
        self.figures.iter().any(|(component, _)| component.is_of_parts(fields))
    }

    /// Takes note of a record; texts of the type of amounts are numbers, decimal places or not.
    pub(crate) fn record(&mut self, shape: &Shape, amount: Option<NodeId>, view: View<'_>) {
        self.path.clear();
        for index in 0..view.len() {
            match view.token(index) {
                Token::Open { field, .. } => {
                    self.path.push(if is_element(shape, field) { FieldId::ROOT } else { field });
                }
                Token::Close { .. } => _ = self.path.pop(),
                Token::Leaf { field, node, leaf } => {
                    for (component, figure) in &mut self.figures {
                        if component.is_at(shape, &self.path, field) {
                            figure.kind.take(&scalar(shape, node, leaf), amount == Some(node));
                        }
                    }
                }
                _ => {}
            }
        }
    }

    /// What there is so far; it begins anew.
    pub(crate) fn take(&mut self) -> Self {
        let taken = self.clone();
        for (_, figure) in &mut self.figures {
            figure.kind = match &figure.kind {
                FigureKind::Total(_) => FigureKind::Total(Total::default()),
                FigureKind::Sequence(sequence) => FigureKind::Sequence(sequence.emptied()),
            };
        }
        taken
    }
}

/// Reads `PATH` or `PATH=FIRST..LAST`.
fn sequence(text: &str) -> Result<(String, FigureKind), FilterError> {
    let (path, sequence) = match text.split_once('=') {
        None => (text, Sequence::default()),
        Some((path, circle)) => {
            (path, Sequence::around(circle_of(circle).map_err(|error| FilterError::new(error.to_string()))?))
        }
    };
    Ok((path.to_owned(), FigureKind::Sequence(sequence)))
}

/// Reads `FIRST..LAST`: numbers of which the first follows behind the last.
///
/// # Errors
/// When it is none.
pub fn circle_of(text: &str) -> Result<RangeInclusive<i64>, SettingError> {
    let numbers =
        text.split_once("..").and_then(|(first, last)| Some(first.parse().ok()?..=last.parse().ok()?));
    let wrong = || format!("`{text}` is not a range `FIRST..LAST`, such as `0..9999`").into();
    numbers.filter(|circle| circle.start() < circle.end()).ok_or_else(wrong)
}

impl FigureKind {
    fn take(&mut self, value: &Scalar<'_>, is_amount: bool) {
        match self {
            Self::Total(total) => total.take(value, is_amount),
            Self::Sequence(sequence) => match value {
                Scalar::Integer(number) => sequence.add(*number),
                Scalar::Text(text) => match text.parse() {
                    Ok(number) => sequence.add(number),
                    Err(_) => sequence.pass_over(),
                },
                _ => sequence.pass_over(),
            },
        }
    }
}

impl Total {
    fn take(&mut self, value: &Scalar<'_>, is_amount: bool) {
        self.count += 1;
        let amount = match value {
            Scalar::Integer(number) | Scalar::Enumerated(number, _) => Amount::from(*number),
            Scalar::Text(text) | Scalar::Time(text) => match Amount::of_decimal(text, is_amount) {
                Some(amount) => amount,
                None => return self.reach(Extreme::Text(text.to_string())),
            },
            _ => return,
        };
        self.sum = Some(self.sum.unwrap_or_default().plus(amount));
        self.reach(Extreme::Number(amount));
    }

    fn reach(&mut self, value: Extreme) {
        for (end, wanted) in [(&mut self.least, Ordering::Less), (&mut self.greatest, Ordering::Greater)] {
            if end.as_ref().is_none_or(|end| value.order(end).unwrap_or(wanted) == wanted) {
                *end = Some(value.clone());
            }
        }
    }

    fn merge(&mut self, other: &Self) {
        self.count += other.count;
        self.sum = match (self.sum, other.sum) {
            (Some(sum), Some(more)) => Some(sum.plus(more)),
            (one, other) => one.or(other),
        };
        for value in [&other.least, &other.greatest].into_iter().flatten() {
            self.reach(value.clone());
        }
    }
}

impl Extreme {
    /// Numbers by value, texts by characters; values of two kinds have no order.
    fn order(&self, other: &Self) -> Option<Ordering> {
        match (self, other) {
            (Self::Number(one), Self::Number(other)) => Some(one.cmp(other)),
            (Self::Text(one), Self::Text(other)) => Some(one.cmp(other)),
            _ => None,
        }
    }
}

impl fmt::Display for Extreme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(amount) => amount.fmt(f),
            Self::Text(text) => f.write_str(text),
        }
    }
}

impl Amount {
    /// A text with decimal places, as amounts have. Digits alone may be a telephone number, unless it is known to be an amount.
    fn of_decimal(text: &str, is_amount: bool) -> Option<Self> {
        let (whole, places) = match text.split_once('.') {
            Some((_, "")) => return None,
            Some(parts) => parts,
            None if is_amount => (text, ""),
            None => return None,
        };
        let digits = whole.strip_prefix('-').unwrap_or(whole);
        let are_digits = |text: &str| !text.is_empty() && text.bytes().all(|octet| octet.is_ascii_digit());
        if !are_digits(digits) || !places.is_empty() && !are_digits(places) || places.len() > MOST_PLACES {
            return None;
        }
        let units = format!("{whole}{places}").parse().ok()?;
        Some(Self { units, places: places.len() as u32 })
    }

    /// As many units as it has with more decimal places.
    fn with_places(self, places: u32) -> i128 {
        let more = places.saturating_sub(self.places);
        self.units.saturating_mul(10i128.saturating_pow(more))
    }

    fn plus(self, other: Self) -> Self {
        let places = self.places.max(other.places);
        Self { units: self.with_places(places).saturating_add(other.with_places(places)), places }
    }

    /// The number, if it has no decimal places and 64 bits hold it.
    pub fn integer(self) -> Option<i64> {
        i64::try_from(self.units).ok().filter(|_| self.places == 0)
    }
}

impl From<i64> for Amount {
    fn from(number: i64) -> Self {
        Self { units: number.into(), places: 0 }
    }
}

impl PartialEq for Amount {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Amount {}

impl PartialOrd for Amount {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Amount {
    fn cmp(&self, other: &Self) -> Ordering {
        let places = self.places.max(other.places);
        self.with_places(places).cmp(&other.with_places(places))
    }
}

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.places == 0 {
            return write!(f, "{}", self.units);
        }
        let sign = if self.units < 0 { "-" } else { "" };
        let one = 10u128.saturating_pow(self.places);
        let units = self.units.unsigned_abs();
        write!(f, "{sign}{}.{:0width$}", units / one, units % one, width = self.places as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn total(values: &[Scalar<'_>]) -> Total {
        let mut total = Total::default();
        values.iter().for_each(|value| total.take(value, false));
        total
    }

    fn check(values: &[Scalar<'_>], expected: &str) {
        let shown = |total: &Total| {
            let text = |it: Option<String>| it.unwrap_or_else(|| "-".to_owned());
            let ends = [&total.least, &total.greatest].map(|end| text(end.as_ref().map(Extreme::to_string)));
            format!("{} {} {} {}", total.count, text(total.sum.map(|sum| sum.to_string())), ends[0], ends[1])
        };
        assert_eq!(shown(&total(values)), expected);
        for middle in 0..=values.len() {
            let mut merged = total(&values[..middle]);
            merged.merge(&total(&values[middle..]));
            assert_eq!(shown(&merged), expected, "in two parts at {middle}");
        }
    }

    #[test]
    fn sums_and_ranges() {
        let text = |text: &'static str| Scalar::Text(text.into());
        check(&[], "0 - - -");
        check(&[Scalar::Integer(5), Scalar::Integer(-7), Scalar::Integer(9)], "3 7 -7 9");
        check(
            &[Scalar::Integer(i64::MAX), Scalar::Integer(1)],
            "2 9223372036854775808 1 9223372036854775807",
        );
        check(&[text("1.25"), text("10.5"), text("-0.05")], "3 11.70 -0.05 10.5");
        check(&[text("2026-11-02"), text("2026-11-01")], "2 - 2026-11-01 2026-11-02");
        // Telephone numbers are texts.
        check(&[text("49171"), text("4917")], "2 - 4917 49171");
        let mut amounts = Total::default();
        amounts.take(&text("12"), true);
        amounts.take(&text("5."), true);
        assert_eq!(amounts.sum.map(|sum| sum.to_string()), Some("12".to_owned()));
        check(&[Scalar::Null, Scalar::OctetString(b"a")], "2 - - -");
    }
}
