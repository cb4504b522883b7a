//! Sizes by OER in octets (X.696).

use super::ber::definite;
use super::contents::{contents, integer, units, unsigned};
use super::{Span, UNBOUNDED, rows, solve};
use tercet_plan::oer::{
    Addition, Code, Integer, Member, Program, Real, Sequence, Time, TimeStep, UNTAGGED, VARIABLE,
};
use tercet_plan::{NodeId, Rules, Shape};

pub(super) struct Measure<'a> {
    pub(super) shape: &'a Shape,
    pub(super) program: &'a Program,
}

impl Measure<'_> {
    /// The octets of the values of each node.
    pub(super) fn values(&self) -> Vec<Span> {
        solve(self.shape, Span::NONE, Span::endless, |id, known| self.measure(id, known))
    }

    fn measure(&self, id: NodeId, known: &[Span]) -> Span {
        let shape = self.shape;
        let of = |node: NodeId| known.get(node.index()).copied().unwrap_or(Span::NONE);
        let Some(code) = self.program.nodes.get(id.index()) else { return Span::NONE };
        match *code {
            Code::Boolean => Span::exactly(1),
            Code::Null => Span::ZERO,
            Code::Integer(Integer::Unsigned(octets) | Integer::Signed(octets)) => {
                Span::exactly(octets.into())
            }
            Code::Integer(Integer::UnsignedVariable) => counted(unsigned(shape, id)),
            Code::Integer(Integer::SignedVariable) => counted(integer(shape, id)),
            Code::Enumerated => {
                let is_short = |value: i64| (0..128).contains(&value);
                let long = contents(shape, id, Rules::Ber);
                let items = shape.items_of(id).iter();
                items.fold(Span::NONE, |all, item| {
                    all.or(if is_short(item.value) { Span::exactly(1) } else { Span::new(2, 1 + long.most) })
                })
            }
            Code::Real(Real::Binary32) => Span::exactly(4),
            Code::Real(Real::Binary64) => Span::exactly(8),
            Code::Real(Real::Contents) => counted(contents(shape, id, Rules::Der)),
            Code::BitString(VARIABLE, _) => counted(contents(shape, id, Rules::Der)),
            Code::BitString(bits, _) => Span::exactly(u64::from(bits).div_ceil(8)),
            Code::OctetString(VARIABLE) => counted(units(shape, id)),
            Code::Contents(VARIABLE) => counted(contents(shape, id, Rules::Der)),
            Code::OctetString(octets) | Code::Contents(octets) => Span::exactly(octets.into()),
            Code::BitsContaining(size, _) | Code::OctetsContaining(size) => {
                let inside = shape.node(id).containing.map_or(Span::NONE, of);
                let unused = Span::exactly(u64::from(matches!(code, Code::BitsContaining(..))));
                if size == VARIABLE { counted(unused.then(inside)) } else { inside }
            }
            Code::Time(index) => self.program.times.get(index as usize).map_or(Span::NONE, time),
            Code::Sequence(index) => {
                let sequence = self.program.sequences.get(index as usize);
                sequence.map_or(Span::NONE, |sequence| self.sequence(id, sequence, known))
            }
            Code::SequenceOf => {
                let (count, first) = (units(shape, id), shape.node(id).first as usize);
                let element = shape.fields.get(first).map_or(Span::NONE, |field| of(field.node));
                let quantity = |count: u64| u64::from(u64::BITS - count.max(1).leading_zeros()).div_ceil(8);
                counted(count.map(quantity)).then(element.repeated(count))
            }
            Code::Choice(index) => {
                let choice = self.program.choices.get(index as usize);
                let alternatives = choice.map_or(&[][..], |choice| &choice.alternatives);
                let fields = shape.fields_of(id).zip(alternatives);
                fields.fold(Span::NONE, |all, ((_, field), alternative)| {
                    let value = of(field.node);
                    let value = if alternative.addition { counted(value) } else { value };
                    all.or(Span::exactly(tag(alternative.tag)).then(value))
                })
            }
            Code::Predefined(_) => counted(Span::new(0, UNBOUNDED)),
            Code::Open => {
                let mut rows = rows(shape, id).map(of).peekable();
                // Of other content nothing is known.
                let content = match rows.peek() {
                    None => Span::new(0, UNBOUNDED),
                    Some(_) => rows.fold(Span::NONE, Span::or),
                };
                counted(content)
            }
        }
    }

    /// The preamble, the root, and the additions (§16).
    fn sequence(&self, id: NodeId, sequence: &Sequence, known: &[Span]) -> Span {
        let preamble = u64::from(sequence.optional) + u64::from(sequence.extensible);
        let root = self.members(id, preamble, &sequence.root, known);
        let count = sequence.additions.len() as u64;
        let bitmap = Span::exactly(definite(1 + count.div_ceil(8)));
        let additions = sequence.additions.iter().fold(bitmap, |sum, addition| {
            let value = match addition {
                Addition::Single(number) => self.field(id, *number, known),
                Addition::Group { optional, members } => {
                    self.members(id, u64::from(*optional), members, known)
                }
            };
            sum.then(counted(value).or(Span::ZERO))
        });
        root.then(if count == 0 { Span::ZERO } else { additions.or(Span::ZERO) })
    }

    fn members(&self, id: NodeId, preamble_bits: u64, members: &[Member], known: &[Span]) -> Span {
        members.iter().fold(Span::exactly(preamble_bits.div_ceil(8)), |sum, member| {
            let value = self.field(id, member.field, known);
            sum.then(if member.optional { value.or(Span::ZERO) } else { value })
        })
    }

    fn field(&self, id: NodeId, number: u32, known: &[Span]) -> Span {
        let field = self.shape.fields.get((self.shape.node(id).first + number) as usize);
        field.and_then(|field| known.get(field.node.index())).copied().unwrap_or(Span::NONE)
    }
}

/// The octets of a tag (§8.7): none for an untagged CHOICE.
fn tag(tag: u32) -> u64 {
    let number = tag & 0x1FFF_FFFF;
    match number {
        _ if tag == UNTAGGED => 0,
        0..63 => 1,
        _ => 1 + u64::from(u32::BITS - number.leading_zeros()).div_ceil(7),
    }
}

/// A length determinant (§8.6) and its octets.
fn counted(octets: Span) -> Span {
    octets.map(definite)
}

fn time(time: &Time) -> Span {
    match time {
        // A SEQUENCE of optional numbers.
        Time::Duration => Span::new(2, UNBOUNDED),
        Time::Point(steps) => steps.iter().fold(Span::ZERO, |sum, step| {
            sum.then(match step {
                TimeStep::Number(_, Integer::Unsigned(octets) | Integer::Signed(octets)) => {
                    Span::exactly(u64::from(*octets))
                }
                TimeStep::Number(..) => counted(Span::new(1, 8)),
                TimeStep::Difference => Span::exactly(2),
                TimeStep::Always(..) | TimeStep::Utc => Span::ZERO,
            })
        }),
    }
}
