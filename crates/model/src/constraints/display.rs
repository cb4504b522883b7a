//! Effective constraints as text, for people and tests.

use super::effective::{Effective, IntegerRange, SizeRange};
use super::sets::CharSet;
use std::fmt;

impl fmt::Display for IntegerRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_range(f, self.lo.as_ref(), self.hi.as_ref(), "MIN", self.extensible)
    }
}

impl fmt::Display for SizeRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_range(f, Some(&self.lo), self.hi.as_ref(), "0", self.extensible)
    }
}

fn write_range<T: fmt::Display + PartialEq>(
    f: &mut fmt::Formatter<'_>,
    lo: Option<&T>,
    hi: Option<&T>,
    min: &str,
    extensible: bool,
) -> fmt::Result {
    match (lo, hi) {
        (Some(lo), Some(hi)) if lo == hi => write!(f, "{lo}")?,
        (lo, hi) => {
            match lo {
                Some(lo) => write!(f, "{lo}..")?,
                None => write!(f, "{min}..")?,
            }
            match hi {
                Some(hi) => write!(f, "{hi}")?,
                None => f.write_str("MAX")?,
            }
        }
    }
    f.write_str(if extensible { ",ext" } else { "" })
}

/// One line such as `3..6,ext` or `SIZE 1..4 FROM "0".."9"`; empty when nothing is constrained.
impl fmt::Display for Effective {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = Vec::new();
        parts.extend(self.integer.as_ref().map(ToString::to_string));
        parts.extend(self.size.as_ref().map(|size| format!("SIZE {size}")));
        parts.extend(self.alphabet.as_ref().map(|alphabet| format!("FROM {}", Characters(alphabet))));
        if let Some(real) = &self.real {
            let base = real.base.map_or_else(|| "2|10".into(), |base| base.to_string());
            parts.push(format!("REAL mantissa {} base {base} exponent {}", real.mantissa, real.exponent));
        }
        f.write_str(&parts.join(" "))
    }
}

struct Characters<'a>(&'a CharSet);

impl fmt::Display for Characters<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (n, (lo, hi)) in self.0.codes().enumerate() {
            f.write_str(if n == 0 { "" } else { "|" })?;
            write_character(f, lo)?;
            if lo != hi {
                f.write_str("..")?;
                write_character(f, hi)?;
            }
        }
        Ok(())
    }
}

fn write_character(f: &mut fmt::Formatter<'_>, code: u32) -> fmt::Result {
    match char::from_u32(code) {
        Some('"') => f.write_str("\"\"\"\""),
        Some(c) if !c.is_control() => write!(f, "\"{c}\""),
        _ => write!(f, "{{0,{},{},{}}}", code >> 16 & 0xff, code >> 8 & 0xff, code & 0xff),
    }
}
