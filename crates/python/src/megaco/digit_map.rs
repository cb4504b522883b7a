//! Digit maps.

use crate::error;
use pyo3::prelude::*;
use tercet_megaco::digit_map::{self, Outcome};
use tercet_megaco::model::DigitMapValue;

/// A digit map (H.248.1 7.1.14): the numbers that a caller may dial, and how long the gateway waits for digits.
///
/// `body` is the map as in a message, such as `(2xxx|8xxxxxxx)`. `start`, `short` and `long` are seconds (0 to 99); by
/// default 16, 4 and 16. `duration` is how long a digit of `Z` has to be held down, in tenths of a second, by default
/// 10.
///
/// Raises DecodeError for text that is not a digit map.
#[pyclass(frozen, eq, module = "tercet.megaco")]
#[derive(PartialEq, Eq)]
pub(crate) struct DigitMap(digit_map::DigitMap);

/// How an evaluation ends: `UM`, `FM` or `PM`, and the digit that belongs to no number.
type Ended = (&'static str, Option<char>);

fn ended(outcome: Outcome) -> Ended {
    match outcome {
        Outcome::Unambiguous => ("UM", None),
        Outcome::Full => ("FM", None),
        Outcome::FullWithExtra(letter) => ("FM", Some(letter.into())),
        Outcome::Partial => ("PM", None),
    }
}

fn letter(letter: char) -> PyResult<u8> {
    u8::try_from(letter).map_err(|_| error::argument("a digit is one of `0` to `9`, `A` to `K`, `*` and `#`"))
}

#[pymethods]
impl DigitMap {
    #[new]
    #[pyo3(signature = (body, *, start = None, short = None, long = None, duration = None))]
    fn new(
        py: Python<'_>,
        body: &str,
        start: Option<u8>,
        short: Option<u8>,
        long: Option<u8>,
        duration: Option<u8>,
    ) -> PyResult<Self> {
        let value = DigitMapValue {
            digit_map_body: body.into(),
            start_timer: start,
            short_timer: short,
            long_timer: long,
            duration_timer: duration,
        };
        let map = digit_map::DigitMap::new(&value);
        map.map(Self).map_err(|error| error::megaco(py, &error, Some(body.as_bytes())))
    }

    /// How long a digit has to be held down to be a long one, in milliseconds.
    #[getter]
    fn long_digit(&self) -> u64 {
        self.0.long_digit()
    }

    /// Begins to collect digits at a time in milliseconds, from any point. The start timer runs from then.
    #[pyo3(signature = (now = 0))]
    fn begin(&self, now: u64) -> Evaluation {
        Evaluation(self.0.begin(now).into_owned())
    }

    /// Returns how the evaluation of digits without delays ends: the method and the digit that belongs to no number,
    /// as `Evaluation.digit` returns them; after the last digit the time runs out.
    fn evaluate(&self, digits: &str) -> PyResult<Ended> {
        let mut evaluation = self.0.begin(0);
        for digit in digits.chars() {
            if let Some(outcome) = evaluation.digit(0, letter(digit)?, 0) {
                return Ok(ended(outcome));
            }
        }
        Ok(ended(evaluation.time(evaluation.deadline()).unwrap_or(Outcome::Partial)))
    }

    fn __str__(&self) -> String {
        self.0.to_string()
    }

    fn __repr__(&self) -> String {
        format!("DigitMap('{}')", self.0)
    }
}

/// Digits as they come, compared with a digit map. It reads no clock: times are given, in milliseconds.
#[pyclass(module = "tercet.megaco")]
pub(crate) struct Evaluation(digit_map::Evaluation<'static>);

#[pymethods]
impl Evaluation {
    /// The digits so far.
    #[getter]
    fn digits(&self) -> String {
        self.0.digits().iter().map(|digit| char::from(*digit)).collect()
    }

    /// The time at which the wait for the next digit is over, in milliseconds.
    #[getter]
    fn deadline(&self) -> u64 {
        self.0.deadline()
    }

    /// Takes a digit, which was held down for `held` milliseconds.
    ///
    /// Returns how the evaluation ends, or nothing as long as it goes on: `UM`, one number is complete and no other can
    /// be; `FM`, a number is complete, and the time for another is over or the digit that is returned belongs to none;
    /// `PM`, no number is complete.
    #[pyo3(signature = (now, digit, held = 0))]
    fn digit(&mut self, now: u64, digit: char, held: u64) -> PyResult<Option<Ended>> {
        Ok(self.0.digit(now, letter(digit)?, held).map(ended))
    }

    /// Returns how the evaluation ends if the time for the next digit is over.
    fn time(&self, now: u64) -> Option<Ended> {
        self.0.time(now).map(ended)
    }
}
