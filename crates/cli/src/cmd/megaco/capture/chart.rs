//! Sequence charts: an arrow for each message, as text or for Mermaid.

use crate::exit::Outcome;
use crate::term;
use clap::ValueEnum;
use std::collections::{HashMap, VecDeque};
use std::io::{BufWriter, Write};
use tercet_capture::Endpoint;
use tercet_printable::{Quotes, printable};

/// Forms of a chart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Form {
    /// A line for each message
    Text,
    /// A sequence diagram of Mermaid
    Mermaid,
    /// No chart
    None,
}

/// A message.
pub(super) struct Arrow {
    /// Seconds after the first message.
    pub(super) seconds: f64,
    pub(super) from: String,
    pub(super) to: Endpoint,
    pub(super) label: String,
    /// It answers, and nothing else.
    pub(super) is_reply: bool,
}

/// The names of addresses, where they are known.
type Names<'n> = &'n dyn Fn(Endpoint) -> Option<String>;

/// Draws arrows in their order.
pub(super) struct Chart {
    form: Form,
    out: BufWriter<Box<dyn Write>>,
    /// Arrows to somebody who has not sent anything yet, and those after them.
    waiting: VecDeque<Arrow>,
    /// Participants in the order in which they appear.
    names: HashMap<String, usize>,
    /// The width of names.
    width: usize,
}

/// The width of labels; longer ones lengthen their arrow.
const LABEL: usize = 44;
/// Arrows that wait for the name of their receiver.
const WAITING: usize = 1000;

impl Chart {
    pub(super) fn new(form: Form) -> Self {
        let out = BufWriter::new(term::stdout(Quotes::Ignored));
        Self { form, out, waiting: VecDeque::new(), names: HashMap::new(), width: 10 }
    }

    /// Adds an arrow, and draws those whose receivers have names.
    pub(super) fn draw(&mut self, arrow: Arrow, names: Names<'_>) -> Outcome<()> {
        if self.form == Form::None {
            return Ok(());
        }
        self.waiting.push_back(arrow);
        while let Some(first) = self.waiting.front() {
            let name = names(first.to);
            if name.is_none() && self.waiting.len() <= WAITING {
                break;
            }
            self.draw_first(name)?;
        }
        Ok(())
    }

    fn draw_first(&mut self, to: Option<String>) -> Outcome<()> {
        let Some(Arrow { seconds, from, to: address, label, is_reply }) = self.waiting.pop_front() else {
            return Ok(());
        };
        let (to, label) = (to.unwrap_or_else(|| address.to_string()), printable(&label).to_string());
        let (to, from) = (printable(&to).to_string(), printable(&from).to_string());
        let is_mermaid = self.form == Form::Mermaid;
        if is_mermaid && self.names.is_empty() {
            writeln!(self.out, "sequenceDiagram")?;
        }
        let mut numbers = [0; 2];
        for (number, name) in numbers.iter_mut().zip([&from, &to]) {
            let known = self.names.len();
            *number = *self.names.entry(name.clone()).or_insert(known);
            if is_mermaid && *number == known {
                writeln!(self.out, "    participant p{number} as {}", escaped(name))?;
            }
        }
        let [from_number, to_number] = numbers;
        if is_mermaid {
            let line = if is_reply { "-->>" } else { "->>" };
            let label = escaped(&label);
            writeln!(self.out, "    p{from_number}{line}p{to_number}: {seconds:.6} {label}")?;
            return Ok(());
        }
        self.width = self.width.max(from.chars().count()).max(to.chars().count()).min(40);
        let (width, label) = (self.width, format!(" {label} "));
        // The participant that was there first is always left, so that arrows of both ways differ.
        if from_number <= to_number {
            writeln!(self.out, "{seconds:>12.6}  {from:<width$} --{label:-<LABEL$}-> {to}")?;
        } else {
            writeln!(self.out, "{seconds:>12.6}  {to:<width$} <-{label:-<LABEL$}-- {from}")?;
        }
        Ok(())
    }

    /// Ends the chart with lines about the whole.
    pub(super) fn end(&mut self, lines: &[String], names: Names<'_>) -> Outcome<()> {
        while let Some(first) = self.waiting.front() {
            let name = names(first.to);
            self.draw_first(name)?;
        }
        for line in lines {
            match self.form {
                Form::None => {}
                Form::Text => writeln!(self.out, "{line}")?,
                Form::Mermaid => writeln!(self.out, "%% {line}")?,
            }
        }
        Ok(self.out.flush()?)
    }
}

/// Returns text as Mermaid takes it: what it reads as its own notation has the number of its character.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '#' | ';' | '<' | '>' | '%' | '&' | '"' => {
                escaped.push_str(&format!("#{};", u32::from(character)));
            }
            character if character.is_control() => escaped.push(' '),
            character => escaped.push(character),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_for_mermaid() {
        assert_eq!(escaped("<mg>; 5%\n#"), "#60;mg#62;#59; 5#37; #35;");
    }
}
