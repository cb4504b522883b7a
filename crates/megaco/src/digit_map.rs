//! Digit maps (H.248.1 7.1.14): what digits, in which time, make a number.
//!
//! A map is parsed once and then fed with digits as they come. Nothing here reads a clock: times are given, in
//! milliseconds from any point.

use std::borrow::Cow;
use std::fmt;

use crate::model::DigitMapValue;
use crate::{Error, Result};

/// A digit map.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DigitMap {
    strings: Vec<Vec<Element>>,
    start: u64,
    short: u64,
    long: u64,
    duration: u64,
}

/// Waiting times that hold where the map says none, in milliseconds: start and long timers of 16 s, a short one of 4 s,
/// long digits from 1 s.
const DEFAULTS: [u64; 4] = [16_000, 4_000, 16_000, 1_000];

/// One place of a string.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Element {
    /// Letters that fit, by their index in [`LETTERS`].
    letters: u32,
    /// Whether the digit has to be held down (`Z`).
    is_long: bool,
    /// Whether it may come any number of times, none included (`.`).
    repeats: bool,
    /// The timer that is set before it, if the map says one.
    timer: Option<Timer>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Timer {
    Start,
    Short,
    Long,
}

/// What a digit can be.
const LETTERS: &[u8; 23] = b"0123456789abcdefghijk*#";

/// The bit of a letter. `*` and `#` are what text maps write for E and F.
fn bit(letter: u8) -> Option<u32> {
    let letter = letter.to_ascii_lowercase();
    LETTERS.iter().position(|&known| known == letter).map(|index| 1 << index)
}

/// How an evaluation ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// One string is complete and no other can be (method UM).
    Unambiguous,
    /// A string is complete, and the time for another is over (method FM).
    Full,
    /// A string was complete before a digit that fits nowhere, which is the letter here (method FM, with an extra event).
    FullWithExtra(u8),
    /// No string is complete, and the time is over or a digit fits nowhere (method PM).
    Partial,
}

impl DigitMap {
    /// Parses the map of a message.
    ///
    /// # Errors
    /// The text is no digit map; the place is that in the text.
    pub fn new(value: &DigitMapValue<'_>) -> Result<Self> {
        let seconds =
            |timer: Option<u8>, default: u64| timer.map_or(default, |timer| u64::from(timer) * 1000);
        Ok(Self {
            strings: Parser { text: &value.digit_map_body, at: 0 }.map()?,
            start: seconds(value.start_timer, DEFAULTS[0]),
            short: seconds(value.short_timer, DEFAULTS[1]),
            long: seconds(value.long_timer, DEFAULTS[2]),
            duration: value.duration_timer.map_or(DEFAULTS[3], |tenths| u64::from(tenths) * 100),
        })
    }

    /// Begins to collect digits. The start timer runs from now.
    pub fn begin(&self, now: u64) -> Evaluation<'_> {
        let states = (0..self.strings.len()).map(|string| (string, 0)).collect();
        let mut evaluation =
            Evaluation { map: Cow::Borrowed(self), states, digits: Vec::new(), deadline: now };
        evaluation.states = evaluation.closed();
        let timer = evaluation.stated_timer().unwrap_or(Timer::Start);
        evaluation.deadline = now + self.time(timer);
        evaluation
    }

    /// How long a digit has to be held down to be long, in milliseconds.
    pub const fn long_digit(&self) -> u64 {
        self.duration
    }

    const fn time(&self, timer: Timer) -> u64 {
        match timer {
            Timer::Start => self.start,
            Timer::Short => self.short,
            Timer::Long => self.long,
        }
    }
}

impl fmt::Display for DigitMap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, string) in self.strings.iter().enumerate() {
            f.write_str(if index == 0 { "(" } else { "|" })?;
            for element in string {
                match element.timer {
                    Some(Timer::Start) => f.write_str("T")?,
                    Some(Timer::Short) => f.write_str("S")?,
                    Some(Timer::Long) => f.write_str("L")?,
                    None => {}
                }
                f.write_str(if element.is_long { "Z" } else { "" })?;
                let letters: String = (0..LETTERS.len())
                    .filter(|index| element.letters >> index & 1 == 1)
                    .map(|index| char::from(LETTERS[index]))
                    .collect();
                match letters.len() {
                    1 => f.write_str(&letters)?,
                    _ if element.letters == 0x3ff => f.write_str("x")?,
                    _ => write!(f, "[{letters}]")?,
                }
                f.write_str(if element.repeats { "." } else { "" })?;
            }
        }
        f.write_str(")")
    }
}

/// Digits being collected.
#[derive(Clone, Debug)]
pub struct Evaluation<'m> {
    map: Cow<'m, DigitMap>,
    /// Strings that still fit, and the place in each that comes next.
    states: Vec<(usize, usize)>,
    digits: Vec<u8>,
    deadline: u64,
}

impl Evaluation<'_> {
    /// Returns the evaluation with a map of its own.
    pub fn into_owned(self) -> Evaluation<'static> {
        let Self { map, states, digits, deadline } = self;
        Evaluation { map: Cow::Owned(map.into_owned()), states, digits, deadline }
    }

    /// The digits so far.
    pub fn digits(&self) -> &[u8] {
        &self.digits
    }

    /// When the time for the next digit is over.
    pub const fn deadline(&self) -> u64 {
        self.deadline
    }

    /// A digit; `held` is how long it was held down, in milliseconds.
    pub fn digit(&mut self, now: u64, letter: u8, held: u64) -> Option<Outcome> {
        if let Some(outcome) = self.time(now) {
            return Some(outcome);
        }
        let was_complete = self.is_complete();
        let is_long = held >= self.map.duration;
        let fits = |element: &Element| {
            bit(letter).is_some_and(|bit| element.letters & bit != 0) && (!element.is_long || is_long)
        };
        let mut next = Vec::new();
        for &(string, place) in &self.states {
            match self.map.strings[string].get(place) {
                Some(element) if fits(element) && element.repeats => next.push((string, place)),
                Some(element) if fits(element) => next.push((string, place + 1)),
                _ => {}
            }
        }
        if next.is_empty() {
            return Some(if was_complete { Outcome::FullWithExtra(letter) } else { Outcome::Partial });
        }
        self.digits.push(letter);
        self.states = next;
        self.states = self.closed();
        if self.is_complete() && !self.can_go_on() {
            return Some(Outcome::Unambiguous);
        }
        let unstated = if self.is_complete() { Timer::Short } else { Timer::Long };
        let timer = self.stated_timer().unwrap_or(unstated);
        self.deadline = now + self.map.time(timer);
        None
    }

    /// The clock: what has become of the digits if the time for the next one is over.
    pub fn time(&self, now: u64) -> Option<Outcome> {
        (now >= self.deadline).then(|| if self.is_complete() { Outcome::Full } else { Outcome::Partial })
    }

    /// The states, and those behind elements that need not come.
    fn closed(&self) -> Vec<(usize, usize)> {
        let mut states = Vec::new();
        for &(string, mut place) in &self.states {
            loop {
                if !states.contains(&(string, place)) {
                    states.push((string, place));
                }
                match self.map.strings[string].get(place) {
                    Some(element) if element.repeats => place += 1,
                    _ => break,
                }
            }
        }
        states
    }

    fn is_complete(&self) -> bool {
        self.states.iter().any(|&(string, place)| place == self.map.strings[string].len())
    }

    fn can_go_on(&self) -> bool {
        self.states.iter().any(|&(string, place)| place < self.map.strings[string].len())
    }

    /// The timer that a string sets for its next digit.
    fn stated_timer(&self) -> Option<Timer> {
        self.states.iter().find_map(|&(string, place)| self.map.strings[string].get(place)?.timer)
    }
}

struct Parser<'t> {
    text: &'t [u8],
    at: usize,
}

impl Parser<'_> {
    const fn error(&self, what: &'static str) -> Error {
        Error { at: self.at, what }
    }

    fn skip(&mut self) {
        while self.text.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
    }

    fn accept(&mut self, octet: u8) -> bool {
        self.skip();
        let here = self.text.get(self.at) == Some(&octet);
        self.at += usize::from(here);
        here
    }

    /// `digitString` or `LWSP "(" digitStringList ")" LWSP`.
    fn map(mut self) -> Result<Vec<Vec<Element>>> {
        let is_list = self.accept(b'(');
        let mut strings = vec![self.string()?];
        while is_list && self.accept(b'|') {
            strings.push(self.string()?);
        }
        if is_list && !self.accept(b')') {
            return Err(self.error("`|` or `)`"));
        }
        self.skip();
        if self.at < self.text.len() {
            return Err(self.error("the end of the digit map"));
        }
        Ok(strings)
    }

    fn string(&mut self) -> Result<Vec<Element>> {
        const WHAT: &str = "a digit, a letter from A to K, `x`, `[`, or a timer";
        let mut string = Vec::new();
        let (mut timer, mut is_long) = (None, false);
        loop {
            self.skip();
            let letters = match self.text.get(self.at).map(u8::to_ascii_lowercase) {
                Some(b't') => {
                    timer = Some(Timer::Start);
                    self.at += 1;
                    continue;
                }
                Some(b's') => {
                    timer = Some(Timer::Short);
                    self.at += 1;
                    continue;
                }
                Some(b'l') => {
                    timer = Some(Timer::Long);
                    self.at += 1;
                    continue;
                }
                Some(b'z') => {
                    is_long = true;
                    self.at += 1;
                    continue;
                }
                Some(b'x') => 0x3ff,
                Some(b'[') => self.range()?,
                Some(letter) => match bit(letter) {
                    Some(bit) => bit,
                    None => break,
                },
                None => break,
            };
            self.at += 1;
            let repeats = self.text.get(self.at) == Some(&b'.');
            self.at += usize::from(repeats);
            string.push(Element { letters, is_long, repeats, timer: timer.take() });
            is_long = false;
        }
        // A timer at the end says how long to wait for nothing more.
        if string.is_empty() { Err(self.error(WHAT)) } else { Ok(string) }
    }

    /// `[` has not been read; stands before `]` afterwards.
    fn range(&mut self) -> Result<u32> {
        const WHAT: &str = "digits, letters and ranges of digits, and `]`";
        let mut letters = 0;
        self.at += 1;
        loop {
            let first = *self.text.get(self.at).ok_or_else(|| self.error(WHAT))?;
            if first == b']' {
                return if letters == 0 { Err(self.error(WHAT)) } else { Ok(letters) };
            }
            let mut last = first;
            if self.text.get(self.at + 1) == Some(&b'-') {
                last = *self.text.get(self.at + 2).ok_or_else(|| self.error(WHAT))?;
                if !first.is_ascii_digit() || !last.is_ascii_digit() || last < first {
                    return Err(self.error("a range from a digit to a greater one"));
                }
                self.at += 2;
            }
            for letter in first..=last {
                letters |= bit(letter).ok_or_else(|| self.error(WHAT))?;
            }
            self.at += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Str;

    fn map(body: &str) -> DigitMap {
        DigitMap::new(&DigitMapValue { digit_map_body: Str::from(body), ..DigitMapValue::default() }).unwrap()
    }

    /// Digits one second apart, and what comes of them; a `~` lets a minute go by.
    fn evaluate(map: &DigitMap, digits: &str) -> (Option<Outcome>, String) {
        let mut evaluation = map.begin(0);
        let mut now = 0;
        for digit in digits.bytes() {
            let outcome = if digit == b'~' {
                now += 60_000;
                evaluation.time(now)
            } else {
                now += 1000;
                evaluation.digit(now, digit, if digit == b'9' { 2000 } else { 100 })
            };
            if outcome.is_some() {
                return (outcome, String::from_utf8_lossy(evaluation.digits()).into_owned());
            }
        }
        (None, String::from_utf8_lossy(evaluation.digits()).into_owned())
    }

    #[test]
    fn trap_17_digit_maps() {
        let plan = map("(0| 00|[1-7]xxx|8xxxxxxx|fxxxxxxx|exx|91xxxxxxxxxx|9011x.)");
        for (digits, outcome, collected) in [
            ("1234", Some(Outcome::Unambiguous), "1234"),
            ("0~", Some(Outcome::Full), "0"),
            ("00", Some(Outcome::Unambiguous), "00"),
            ("12~", Some(Outcome::Partial), "12"),
            ("01", Some(Outcome::FullWithExtra(b'1')), "0"),
            ("e12", Some(Outcome::Unambiguous), "e12"),
            ("9012", Some(Outcome::Partial), "901"),
            ("90113~", Some(Outcome::Full), "90113"),
            ("~", Some(Outcome::Partial), ""),
            ("81", None, "81"),
        ] {
            assert_eq!(evaluate(&plan, digits), (outcome, collected.to_owned()), "{digits}");
        }
        assert_eq!(evaluate(&map("[0-9ef]"), "e").0, Some(Outcome::Unambiguous));
        assert_eq!(evaluate(&map("Z91"), "91").0, Some(Outcome::Unambiguous));
        assert_eq!(evaluate(&map("Z11"), "11").0, Some(Outcome::Partial));
        assert_eq!(map("( 1x.|s2[1-3] ) ").to_string(), "(1x.|S2[123])");
    }

    #[test]
    fn what_is_no_digit_map() {
        for (text, at) in
            [("", 0), ("(1", 2), ("(1|", 3), ("1)", 1), ("[", 1), ("[]", 1), ("[5-1]", 1), ("q", 0)]
        {
            let value = DigitMapValue { digit_map_body: Str::from(text), ..DigitMapValue::default() };
            assert_eq!(DigitMap::new(&value).unwrap_err().at, at, "{text}");
        }
    }
}
