//! Parameters and their values.

use crate::list::List;
use crate::model::{Extra, PropertyParm, Relation, Values};
use crate::octets::{Name, Str};
use crate::text::scan::{Mark, Scanner};
use crate::{Error, Result};

impl<'a> Scanner<'a> {
    /// `pkgdName`: package and item with a slash between.
    pub(super) fn pkgd_name(&mut self) -> Result<Name<'a>> {
        let start = self.at;
        let word = self.word("package/item")?;
        check_pkgd_name(word, start)
    }

    pub(super) fn property_parm(&mut self) -> Result<PropertyParm<'a>> {
        let name = self.pkgd_name()?;
        let (value, extra_info) = self.parm_value()?;
        Ok(PropertyParm { name, value, extra_info })
    }

    /// `parmValue`.
    pub(super) fn parm_value(&mut self) -> Result<(Values<'a>, Option<Extra>)> {
        let relation = match self.mark()? {
            Mark::Equal => return self.alternative_value(),
            Mark::Unequal => Relation::UnequalTo,
            Mark::Less => Relation::SmallerThan,
            Mark::Greater => Relation::GreaterThan,
        };
        Ok((List::One(self.one_value()?), Some(Extra::Relation(relation))))
    }

    pub(super) fn one_value(&mut self) -> Result<Str<'a>> {
        self.value().map(Str::borrowed)
    }

    /// `VALUE`, `[a, b]` (all of them), `[a : b]` (a range) or `{a, b}` (one of them).
    fn alternative_value(&mut self) -> Result<(Values<'a>, Option<Extra>)> {
        let (close, all) = match self.peek() {
            b'[' => (b']', true),
            b'{' => (b'}', false),
            _ => return Ok((List::One(self.one_value()?), None)),
        };
        self.accept(self.peek());
        let mut values = List::One(self.one_value()?);
        if all && self.accept(b':') {
            values.push(self.one_value()?);
            self.expect(close, "`]`")?;
            return Ok((values, Some(Extra::Range(true))));
        }
        while self.accept(b',') {
            values.push(self.one_value()?);
        }
        self.expect(close, "`,`, or the bracket that closes")?;
        Ok((values, Some(Extra::Sublist(all))))
    }

    /// `[ value *(COMMA value) ]` or a value.
    pub(super) fn value_list(&mut self) -> Result<Values<'a>> {
        if !self.accept(b'[') {
            return Ok(List::One(self.one_value()?));
        }
        let mut values = List::One(self.one_value()?);
        while self.accept(b',') {
            values.push(self.one_value()?);
        }
        self.expect(b']', "`,` or `]`")?;
        Ok(values)
    }
}

/// A word as the name of something in a package.
pub(super) fn check_pkgd_name(word: &[u8], at: usize) -> Result<Name<'_>> {
    match memchr::memchr(b'/', word) {
        Some(slash) if slash > 0 && slash + 1 < word.len() => Ok(Name::borrowed(word)),
        _ => Err(Error::new(at, "package/item")),
    }
}
