//! Numbers of bits by where in an octet they begin and end: what alignment makes of a size.

use super::{Span, UNBOUNDED};

/// The bits from each place in an octet where a value may begin (row) to each where it may end (column). PER without
/// alignment has one place, with alignment eight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Grid<const N: usize>([[Span; N]; N]);

impl<const N: usize> Grid<N> {
    /// No value.
    pub(super) const NONE: Self = Self([[Span::NONE; N]; N]);

    /// Values without bits.
    pub(super) fn nothing() -> Self {
        Self::bits(0)
    }

    /// A field of so many bits.
    pub(super) fn bits(count: u64) -> Self {
        let mut grid = Self::NONE;
        for (place, row) in grid.0.iter_mut().enumerate() {
            row[(place + (count % N as u64) as usize) % N] = Span::exactly(count);
        }
        grid
    }

    /// Padding up to the next octet.
    pub(super) fn align() -> Self {
        let mut grid = Self::NONE;
        for (place, row) in grid.0.iter_mut().enumerate() {
            row[0] = Span::exactly(((N - place) % N) as u64);
        }
        grid
    }

    /// Whole octets.
    pub(super) fn octets(count: Span) -> Self {
        let mut grid = Self::NONE;
        for (place, row) in grid.0.iter_mut().enumerate() {
            row[place] = count.times(8);
        }
        grid
    }

    /// One value behind another.
    pub(super) fn then(&self, next: &Self) -> Self {
        let mut grid = Self::NONE;
        for (row, first) in grid.0.iter_mut().zip(&self.0) {
            for (between, first) in first.iter().enumerate().filter(|(_, first)| !first.is_none()) {
                for (end, next) in next.0[between].iter().enumerate() {
                    row[end] = row[end].or(first.then(*next));
                }
            }
        }
        grid
    }

    /// One value or another.
    pub(super) fn or(&self, other: &Self) -> Self {
        let mut grid = *self;
        for (row, other) in grid.0.iter_mut().zip(&other.0) {
            for (span, other) in row.iter_mut().zip(other) {
                *span = span.or(*other);
            }
        }
        grid
    }

    /// A value or nothing.
    pub(super) fn or_nothing(&self) -> Self {
        self.or(&Self::nothing())
    }

    /// Any number of values in a span, one behind the other.
    pub(super) fn repeated(&self, count: Span) -> Self {
        if count.is_none() {
            return Self::NONE;
        }
        let more = match count.most {
            // After N rounds every end has been met that there is.
            UNBOUNDED => self.or_nothing().power(N as u64).unless_empty_endless(),
            most => self.or_nothing().power(most - count.least),
        };
        self.power(count.least).then(&more)
    }

    /// As many values as the exponent says.
    fn power(&self, mut exponent: u64) -> Self {
        let (mut result, mut square) = (Self::nothing(), *self);
        while exponent > 0 {
            if exponent & 1 != 0 {
                result = result.then(&square);
            }
            exponent >>= 1;
            if exponent > 0 {
                square = square.then(&square);
            }
        }
        result
    }

    /// Without upper bounds, unless nothing has any bits.
    fn unless_empty_endless(&self) -> Self {
        if self.0.iter().flatten().all(|span| span.is_none() || span.most == 0) {
            *self
        } else {
            self.endless()
        }
    }

    /// Without upper bounds.
    pub(super) fn endless(mut self) -> Self {
        for span in self.0.iter_mut().flatten() {
            *span = span.endless();
        }
        self
    }

    /// The bits of what begins at an octet.
    pub(super) fn span(&self) -> Span {
        self.0[0].iter().fold(Span::NONE, |all, span| all.or(*span))
    }
}

#[cfg(test)]
mod tests {
    use super::{Grid, Span, UNBOUNDED};

    #[test]
    fn padding_depends_on_the_place() {
        let field = Grid::<8>::bits(3).then(&Grid::align()).then(&Grid::bits(8));
        assert_eq!(field.span(), Span::exactly(16));
        let behind = Grid::<8>::bits(5).or(&Grid::bits(7)).then(&field);
        assert_eq!(behind.span(), Span::new(16, 24));
        assert_eq!(Grid::<1>::bits(3).then(&Grid::align()).then(&Grid::bits(8)).span(), Span::exactly(11));
    }

    #[test]
    fn repetitions() {
        let element = Grid::<8>::bits(3).then(&Grid::align());
        assert_eq!(element.repeated(Span::new(0, 3)).span(), Span::new(0, 24));
        assert_eq!(element.repeated(Span::new(2, 1 << 40)).span(), Span::new(16, 8 << 40));
        assert_eq!(element.repeated(Span::new(1, UNBOUNDED)).span(), Span::new(8, UNBOUNDED));
        assert_eq!(Grid::<8>::nothing().repeated(Span::new(1, UNBOUNDED)).span(), Span::exactly(0));
        assert_eq!(Grid::<8>::NONE.repeated(Span::new(0, 4)).span(), Span::exactly(0));
    }
}
