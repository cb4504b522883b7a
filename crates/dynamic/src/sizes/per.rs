//! Sizes by PER in bits (X.691).

use super::contents::{contents, units};
use super::grid::Grid;
use super::{Span, UNBOUNDED, rows, solve};
use num_bigint::BigUint;
use tercet_plan::per::{
    Addition, Alphabet, Code, Integer, IntegerForm, Member, Program, Sequence, Size, TimePart, TimeStep,
    Whole,
};
use tercet_plan::{NodeId, Rules, Shape};

pub(super) struct Measure<'a, const N: usize> {
    pub(super) shape: &'a Shape,
    pub(super) program: &'a Program,
}

/// Where general length determinants begin to count fragments (§11.9.3.8).
const FRAGMENT: u64 = 16 * 1024;

impl<const N: usize> Measure<'_, N> {
    /// The bits of complete values of each node.
    pub(super) fn values(&self) -> Vec<Span> {
        let known = solve(self.shape, Grid::NONE, Grid::endless, |id, known| self.measure(id, known));
        known.iter().map(Grid::span).collect()
    }

    fn measure(&self, id: NodeId, known: &[Grid<N>]) -> Grid<N> {
        let (shape, program) = (self.shape, self.program);
        let of = |node: NodeId| known.get(node.index()).copied().unwrap_or(Grid::NONE);
        let Some(code) = program.nodes.get(id.index()) else { return Grid::NONE };
        match *code {
            Code::Boolean => Grid::bits(1),
            Code::Null => Grid::nothing(),
            Code::Integer(integer) => self.integer(integer),
            Code::Enumerated(index) => {
                let Some(enumerated) = program.enumerations.get(index as usize) else { return Grid::NONE };
                let extension = Grid::bits(enumerated.extensible.into());
                let root = whole(enumerated.whole);
                let added = small_numbers(enumerated.additions.len());
                extension.then(&if enumerated.root.is_empty() { added } else { root.or(&added) })
            }
            Code::BitString(size, _) => string(&size, units(shape, id), 1, size.is_fixed() && size.hi <= 16),
            Code::OctetString(size) => string(&size, units(shape, id), 8, is_short(&size)),
            Code::BitsContaining(size, _) => {
                let bits = complete(&self.content(id, known)).times(8);
                string(&size, bits, 1, size.is_fixed() && size.hi <= 16)
            }
            Code::OctetsContaining(size) => {
                string(&size, complete(&self.content(id, known)), 8, is_short(&size))
            }
            Code::Characters(size, alphabet) => {
                let alphabet = program.alphabets.get(alphabet as usize);
                let character = |alphabet: &Alphabet| {
                    string(&size, units(shape, id), alphabet.bits.into(), alphabet.unaligned)
                };
                alphabet.map_or(Grid::NONE, character)
            }
            // One form in the canonical rules (§31).
            Code::Contents if program.canonical => counted(contents(shape, id, Rules::Der)),
            Code::Contents => counted(contents(shape, id, Rules::Ber)),
            Code::Sequence(index) => {
                let sequence = program.sequences.get(index as usize);
                sequence.map_or(Grid::NONE, |sequence| self.sequence(id, sequence, known))
            }
            Code::SequenceOf(size, element) => {
                let element = shape.fields.get(element as usize).map_or(Grid::NONE, |field| of(field.node));
                sized(&size, units(shape, id), &element, true)
            }
            Code::Choice(index) => {
                let Some(choice) = program.choices.get(index as usize) else { return Grid::NONE };
                let value = |number: &u32| self.field(id, *number, known);
                let alternatives = choice.root.iter().map(value);
                let alternatives = alternatives.fold(Grid::NONE, |all, value| all.or(&value));
                let added = choice.additions.iter().map(value);
                let added = added.fold(Grid::NONE, |all, value| all.or(&counted(complete(&value))));
                let root = whole(choice.whole).then(&alternatives);
                let added = small_numbers(choice.additions.len()).then(&added);
                Grid::bits(choice.extensible.into()).then(&root.or(&added))
            }
            Code::Predefined(_) => counted(Span::new(0, UNBOUNDED)),
            Code::Open => {
                let mut rows = rows(shape, id).map(of).peekable();
                // Of other content nothing is known.
                let content = match rows.peek() {
                    None => Span::new(1, UNBOUNDED),
                    Some(_) => complete(&rows.fold(Grid::NONE, |all, row| all.or(&row))),
                };
                counted(content)
            }
            Code::Time(index) => {
                let parts = program.times.get(index as usize).map(|time| &*time.parts);
                let parts = parts.unwrap_or_default().iter();
                parts.fold(Grid::nothing(), |sum, part| sum.then(&self.time(part)))
            }
            Code::Unsupported => Grid::NONE,
        }
    }

    /// What is in a string with CONTAINING.
    fn content(&self, id: NodeId, known: &[Grid<N>]) -> Grid<N> {
        let inside = self.shape.node(id).containing;
        inside.and_then(|node| known.get(node.index())).copied().unwrap_or(Grid::NONE)
    }

    /// §13.
    fn integer(&self, integer: Integer) -> Grid<N> {
        let root = match integer.form {
            IntegerForm::Constrained { whole: form, .. } => whole(form),
            IntegerForm::SemiConstrained(_) | IntegerForm::Unconstrained => counted(Span::new(1, UNBOUNDED)),
            IntegerForm::Large(index) => {
                let span = self.program.large.get(index as usize).and_then(|large| large.span.as_ref());
                let bits = span.map(|span| BigUint::from_bytes_be(span).bits());
                match bits {
                    None => counted(Span::new(1, UNBOUNDED)),
                    Some(bits) if self.program.aligned => octets_behind_width(bits.div_ceil(8)),
                    Some(bits) => Grid::bits(bits),
                }
            }
        };
        Grid::bits(integer.extensible.into()).then(&root)
    }

    fn field(&self, id: NodeId, number: u32, known: &[Grid<N>]) -> Grid<N> {
        let field = self.shape.fields.get((self.shape.node(id).first + number) as usize);
        field.and_then(|field| known.get(field.node.index())).copied().unwrap_or(Grid::NONE)
    }

    /// §19, §21.
    fn sequence(&self, id: NodeId, sequence: &Sequence, known: &[Grid<N>]) -> Grid<N> {
        let presence = u64::from(sequence.extensible) + u64::from(sequence.optional);
        let root = self.members(id, presence, &sequence.root, known);
        let count = sequence.additions.len() as u64;
        if count == 0 {
            return root;
        }
        let length = if count <= 64 {
            Grid::bits(7)
        } else {
            Grid::bits(1).then(&general(if count < 128 { 1 } else { 2 }))
        };
        let bitmap = length.then(&Grid::bits(count));
        let additions = sequence.additions.iter().fold(bitmap, |sum, addition| {
            let value = match addition {
                Addition::Single(number) => self.field(id, *number, known),
                Addition::Group { optional, members, .. } => {
                    self.members(id, u64::from(*optional), members, known)
                }
            };
            sum.then(&counted(complete(&value)).or_nothing())
        });
        root.then(&additions.or_nothing())
    }

    fn members(&self, id: NodeId, presence: u64, members: &[Member], known: &[Grid<N>]) -> Grid<N> {
        members.iter().fold(Grid::bits(presence), |sum, member| {
            let value = self.field(id, member.field, known);
            sum.then(&if member.optional { value.or_nothing() } else { value })
        })
    }

    /// §32.
    fn time(&self, part: &TimePart) -> Grid<N> {
        let steps = match part {
            TimePart::Point(steps) | TimePart::Duration(steps) => steps,
            TimePart::Recurrence(integer, _) => {
                return Grid::bits(1).then(&self.integer(*integer).or_nothing());
            }
        };
        let mut optional = Vec::new();
        steps.iter().fold(Grid::nothing(), |sum, step| {
            sum.then(&match step {
                TimeStep::Presence(unit) => {
                    optional.push(*unit);
                    Grid::bits(1)
                }
                TimeStep::Number(unit, integer) if optional.contains(unit) => {
                    self.integer(*integer).or_nothing()
                }
                TimeStep::Number(_, integer) => self.integer(*integer),
                TimeStep::Ranges(_, ranges) => {
                    let ranges = ranges.iter().map(|range| self.integer(*range));
                    Grid::bits(2).then(&ranges.fold(Grid::NONE, |all, range| all.or(&range)))
                }
                TimeStep::Always(..) | TimeStep::Utc => Grid::nothing(),
            })
        })
    }
}

/// A string of units of some bits, which begins at an octet unless it is short (§16, §17, §30.5).
fn string<const N: usize>(size: &Size, count: Span, unit: u64, is_short: bool) -> Grid<N> {
    sized(size, count, &Grid::bits(unit), is_short)
}

/// Units behind their number, if that is written (§11.9.4).
fn sized<const N: usize>(size: &Size, count: Span, unit: &Grid<N>, is_in_place: bool) -> Grid<N> {
    let root = Span::new(size.lo.into(), if size.hi == u32::MAX { UNBOUNDED } else { size.hi.into() });
    let count = Span::new(count.least.max(root.least), count.most.min(root.most));
    let units = |least: u64, most: u64| {
        let (least, most) = (count.least.max(least), count.most.min(most));
        if least > most {
            return Grid::NONE;
        }
        let some = Span::new(least.max(1), most);
        let begin = if is_in_place { Grid::nothing() } else { Grid::align() };
        let some = if some.is_none() { Grid::NONE } else { begin.then(&unit.repeated(some)) };
        if least == 0 { some.or_nothing() } else { some }
    };
    let sized = match size.whole {
        Some(form) => whole(form).then(&units(0, UNBOUNDED)),
        None => {
            let short = general(1).then(&units(0, 127));
            let long = general(2).then(&units(128, FRAGMENT - 1));
            // Four fragments of 16K at most have one length octet, what is behind them one or two more.
            let lengths = |count: u64| count / (4 * FRAGMENT);
            let least = lengths(count.least.max(FRAGMENT));
            let most = if count.most == UNBOUNDED { UNBOUNDED } else { lengths(count.most) + 3 };
            let fragments = Grid::align().then(&Grid::octets(Span::new(1 + least, most)));
            short.or(&long).or(&fragments.then(&units(FRAGMENT, UNBOUNDED)))
        }
    };
    Grid::bits(size.extensible.into()).then(&sized)
}

/// A constrained whole number (§11.5).
fn whole<const N: usize>(whole: Whole) -> Grid<N> {
    match whole {
        Whole::Nothing => Grid::nothing(),
        Whole::Bits(width) => Grid::bits(width.into()),
        Whole::Octet => Grid::align().then(&Grid::bits(8)),
        Whole::TwoOctets => Grid::align().then(&Grid::bits(16)),
        Whole::Octets(_, most) => octets_behind_width(most.into()),
    }
}

/// The number of octets in as few bits as the greatest takes, and the octets, aligned (§11.5.7.4).
fn octets_behind_width<const N: usize>(most: u64) -> Grid<N> {
    let width = Grid::bits(u64::from(u64::BITS - (most - 1).leading_zeros()));
    width.then(&Grid::align()).then(&Grid::octets(Span::new(1, most)))
}

/// A general length determinant of so many octets (§11.9.3.5).
fn general<const N: usize>(octets: u64) -> Grid<N> {
    Grid::align().then(&Grid::bits(8 * octets))
}

/// A general length determinant and its octets.
fn counted<const N: usize>(octets: Span) -> Grid<N> {
    if octets.is_none() { Grid::NONE } else { sized(&Size::ANY, octets, &Grid::bits(8), true) }
}

/// Normally small numbers below a count (§11.6).
fn small_numbers<const N: usize>(count: usize) -> Grid<N> {
    let small = if count == 0 { Grid::NONE } else { Grid::bits(7) };
    let large =
        Grid::bits(1).then(&general(1)).then(&Grid::octets(Span::new(1, if count > 256 { 8 } else { 1 })));
    if count > 64 { small.or(&large) } else { small }
}

/// The octets of a complete encoding: at least one (§11.1.3).
fn complete<const N: usize>(value: &Grid<N>) -> Span {
    value.span().map(|bits| bits.div_ceil(8).max(1))
}

/// Whether an OCTET STRING is not aligned (§17.6).
fn is_short(size: &Size) -> bool {
    size.is_fixed() && size.hi <= 2
}
