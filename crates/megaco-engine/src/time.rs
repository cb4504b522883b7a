//! Moments, and timers as users write them.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// A moment: microseconds since an origin that the driver chooses. The engine reads no clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(u64);

impl Time {
    /// The moment so many microseconds after the origin.
    pub const fn from_micros(micros: u64) -> Self {
        Self(micros)
    }

    /// The moment so many milliseconds after the origin.
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis.saturating_mul(1000))
    }

    /// Microseconds since the origin.
    pub const fn as_micros(self) -> u64 {
        self.0
    }

    /// Milliseconds since the origin, rounded down.
    pub const fn as_millis(self) -> u64 {
        self.0 / 1000
    }

    /// Seconds since the origin.
    pub const fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e6
    }

    /// The time from an earlier moment to this one; zero if that one is later.
    pub const fn since(self, earlier: Self) -> Duration {
        Duration::from_micros(self.0.saturating_sub(earlier.0))
    }

    /// The moment so much later.
    #[must_use]
    pub fn after(self, delay: Duration) -> Self {
        Self(self.0.saturating_add(u64::try_from(delay.as_micros()).unwrap_or(u64::MAX)))
    }
}

/// A period in milliseconds, or no end.
///
/// Written `500ms`, `7s` or `inf`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Period(Option<u32>);

impl Period {
    /// A period without an end.
    pub const INFINITE: Self = Self(None);

    /// A period of so many milliseconds.
    pub const fn millis(millis: u32) -> Self {
        Self(Some(millis))
    }

    /// Milliseconds, or `None` without an end.
    pub const fn as_millis(self) -> Option<u32> {
        self.0
    }
}

/// How often a timer is started again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Retries {
    /// So many times: a request is sent again as often, and ends one expiry later.
    Times(u32),
    /// For ever.
    Infinite,
    /// Never by itself: the timer ends at its first expiry, but each Pending starts it again with the next period.
    Restartable,
}

/// A timer: a period, or periods that grow.
///
/// Written `TIME` or `TIME*FACTOR+INCRxRETRIES`: the first period, what each is multiplied with and what is added to it for
/// the next (milliseconds, may be negative), and how often (a number, `inf` or `restartable`). `300ms*2+0x3` expires after
/// 300, 900, 2100 and 4500 ms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Timer {
    /// One period.
    Plain(Period),
    /// Periods that grow: each is that before it times `factor` plus `increment`, and never negative.
    Incremental {
        /// The first period in milliseconds.
        wait: u32,
        /// What a period is multiplied with for the next.
        factor: u32,
        /// Milliseconds that are added then.
        increment: i32,
        /// How often there is a next one.
        retries: Retries,
    },
}

impl Timer {
    /// A timer of one period of so many milliseconds.
    pub const fn millis(millis: u32) -> Self {
        Self::Plain(Period::millis(millis))
    }

    /// The first period.
    pub(crate) const fn start(self) -> Running {
        match self {
            Self::Plain(Period(wait)) => Running { timer: self, wait, expiries_left: 0 },
            Self::Incremental { wait, retries, .. } => {
                let expiries_left = match retries {
                    Retries::Times(times) => times,
                    Retries::Infinite | Retries::Restartable => u32::MAX,
                };
                Running { timer: self, wait: Some(wait), expiries_left }
            }
        }
    }

    /// The time from the start to the end if nothing else happens, in milliseconds; `None` without an end.
    pub fn total_millis(self) -> Option<u64> {
        let mut running = self.start();
        let mut total = 0_u64;
        // A timer of very many retries has no end that matters; 64 periods of one millisecond or more are all that doubling needs.
        for _ in 0..=4096 {
            total = total.saturating_add(u64::from(running.wait?));
            match running.expire() {
                Some(next) => running = next,
                None => return Some(total),
            }
        }
        None
    }
}

/// A timer that runs: the period of now and how many follow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Running {
    timer: Timer,
    /// The period of now in milliseconds; `None` without an end.
    pub(crate) wait: Option<u32>,
    expiries_left: u32,
}

impl Running {
    /// The next period after an expiry; `None` if it was the last one.
    pub(crate) fn expire(self) -> Option<Self> {
        match self.timer {
            Timer::Incremental { retries: Retries::Restartable, .. } => None,
            _ => self.next(),
        }
    }

    /// The next period after a Pending; `None` if this is the last one, which a Pending does not start again.
    pub(crate) fn restart(self) -> Option<Self> {
        self.next()
    }

    fn next(self) -> Option<Self> {
        let Timer::Incremental { factor, increment, retries, .. } = self.timer else { return None };
        let wait = i64::from(self.wait?).saturating_mul(i64::from(factor)).saturating_add(increment.into());
        let wait = Some(u32::try_from(wait.max(0)).unwrap_or(u32::MAX));
        let expiries_left = match retries {
            Retries::Times(_) => self.expiries_left.checked_sub(1)?,
            Retries::Infinite | Retries::Restartable => self.expiries_left,
        };
        Some(Self { wait, expiries_left, ..self })
    }

    /// The time from now to the end if nothing else happens, in milliseconds; `None` without an end or one far away.
    pub(crate) fn remaining_millis(mut self) -> Option<u64> {
        let mut total = 0_u64;
        for _ in 0..=64 {
            total = total.saturating_add(u64::from(self.wait?));
            match self.expire() {
                Some(next) => self = next,
                None => return Some(total),
            }
        }
        None
    }
}

impl fmt::Display for Period {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            None => f.write_str("inf"),
            Some(millis) if millis > 0 && millis % 1000 == 0 => write!(f, "{}s", millis / 1000),
            Some(millis) => write!(f, "{millis}ms"),
        }
    }
}

impl FromStr for Period {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        const EXPECTED: &str = "expected a time such as `500ms`, `7s` or `inf`";
        if matches!(text, "inf" | "infinity") {
            return Ok(Self::INFINITE);
        }
        let (digits, unit) = match text.strip_suffix("ms") {
            Some(digits) => (digits, 1),
            None => match text.strip_suffix('s') {
                Some(digits) => (digits, 1000),
                // Zero needs no unit.
                None if text == "0" => (text, 1),
                None => return Err(EXPECTED),
            },
        };
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let is_number = |text: &str| text.bytes().all(|octet| octet.is_ascii_digit());
        if whole.is_empty() || !is_number(whole) || !is_number(fraction) {
            return Err(EXPECTED);
        }
        let millis = digits.parse::<f64>().map_err(|_| EXPECTED)? * f64::from(unit);
        if millis > f64::from(u32::MAX) {
            return Err("a time of at most 4294967295 ms (49 days)");
        }
        Ok(Self::millis(millis.round() as u32))
    }
}

impl fmt::Display for Timer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Plain(period) => period.fmt(f),
            Self::Incremental { wait, factor, increment, retries } => {
                write!(f, "{}*{factor}{increment:+}x", Period::millis(wait))?;
                match retries {
                    Retries::Times(times) => write!(f, "{times}"),
                    Retries::Infinite => f.write_str("inf"),
                    Retries::Restartable => f.write_str("restartable"),
                }
            }
        }
    }
}

impl FromStr for Timer {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        const EXPECTED: &str =
            "expected a timer such as `7s`, `inf` or `300ms*2+0x5` (TIME*FACTOR+INCRxRETRIES)";
        let Some((wait, rest)) = text.split_once('*') else {
            return text.parse().map(Self::Plain).map_err(|_: &str| EXPECTED);
        };
        let wait = wait.parse::<Period>().ok().and_then(Period::as_millis).ok_or(EXPECTED)?;
        let (growth, retries) = rest.split_once('x').ok_or(EXPECTED)?;
        let sign = growth.find(['+', '-']).ok_or(EXPECTED)?;
        let (factor, increment) = growth.split_at(sign);
        // `+` is part of the form; what increments may be negative.
        let increment = increment.strip_prefix('+').filter(|rest| rest.starts_with('-')).unwrap_or(increment);
        Ok(Self::Incremental {
            wait,
            factor: factor.parse().map_err(|_| EXPECTED)?,
            increment: increment.parse().map_err(|_| EXPECTED)?,
            retries: match retries {
                "inf" | "infinity" => Retries::Infinite,
                "restartable" | "infinity_restartable" => Retries::Restartable,
                times => Retries::Times(times.parse().map_err(|_| EXPECTED)?),
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expiries(text: &str) -> Vec<u64> {
        let mut running = text.parse::<Timer>().unwrap().start();
        let (mut at, mut all) = (0, Vec::new());
        for _ in 0..6 {
            let Some(wait) = running.wait else { return all };
            at += u64::from(wait);
            all.push(at);
            match running.expire() {
                Some(next) => running = next,
                None => break,
            }
        }
        all
    }

    #[test]
    fn expiries_of_timers() {
        for (text, expected) in [
            ("300ms*2+0x3", &[300, 900, 2100, 4500][..]),
            ("7s", &[7000]),
            ("0", &[0]),
            ("inf", &[]),
            ("1s*1+0xinf", &[1000, 2000, 3000, 4000, 5000, 6000]),
            ("1s*2+0xrestartable", &[1000]),
            ("1s*0+100x2", &[1000, 1100, 1200]),
            ("100ms*1+0x0", &[100]),
            ("400ms*1+-200x2", &[400, 600, 600]),
            ("400ms*1-200x2", &[400, 600, 600]),
        ] {
            assert_eq!(expiries(text), expected, "{text}");
        }
    }

    /// A period that would be negative is none (OTP-6441).
    #[test]
    fn otp_6441_negative_increments() {
        assert_eq!(expiries("300ms*1-200x3"), [300, 400, 400, 400]);
        assert_eq!("300ms*1-200x3".parse::<Timer>().unwrap().to_string(), "300ms*1-200x3");
    }

    #[test]
    fn timers_as_text() {
        for text in ["7s*2+0xinf", "300ms*2+0x5", "60s", "500ms", "inf", "1s*1+10xrestartable", "0ms"] {
            assert_eq!(text.parse::<Timer>().unwrap().to_string(), text);
        }
        for text in ["", "7", "7m", "-1s", "1s*2", "1s*2+0", "1s*2x3", "1e3s", "s", "inf*2+0x3", "5000000s"] {
            assert!(text.parse::<Timer>().is_err(), "{text}");
        }
        assert_eq!("300ms*2+0x3".parse::<Timer>().unwrap().total_millis(), Some(4500));
        assert_eq!("7s*2+0xinf".parse::<Timer>().unwrap().total_millis(), None);
    }
}
