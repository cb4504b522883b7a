//! Messages of a packet capture as an input.

use crate::source::Source;
use std::fmt;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use tercet_schema::Rules;

/// Messages of a capture that are listed.
const MOST_MESSAGES: usize = 500_000;

/// Where a message of a packet capture comes from, and how it is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Captured {
    /// The frame that completes the message, from 1.
    pub frame: u64,
    /// The time of the frame, in UTC.
    pub time: String,
    /// The sender.
    pub source: String,
    /// The receiver.
    pub destination: String,
    /// The protocol.
    pub protocol: String,
    /// Type and rules, if the message is not text.
    pub way: Option<(String, Rules)>,
}

/// The messages of a capture, in the order of their bytes.
#[derive(Debug, Default)]
pub(crate) struct Messages {
    list: Vec<Listed>,
    /// Types and rules, each once.
    pub(crate) ways: Vec<(String, Rules)>,
    /// Protocols, each once.
    pub(crate) protocols: Vec<String>,
}

#[derive(Debug)]
struct Listed {
    frame: u64,
    time: Box<str>,
    source: Box<str>,
    destination: Box<str>,
    protocol: u16,
    way: Option<u16>,
    offset: u64,
    length: u32,
}

/// A message as a row of the list has it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shown<'m> {
    pub(crate) frame: u64,
    pub(crate) time: &'m str,
    pub(crate) source: &'m str,
    pub(crate) destination: &'m str,
    pub(crate) protocol: &'m str,
    /// The number of type and rules in [`Messages::ways`].
    pub(crate) way: Option<usize>,
}

impl Messages {
    pub(crate) fn message(&self, number: u64) -> Option<Shown<'_>> {
        let it = self.list.get(usize::try_from(number).ok()?)?;
        Some(Shown {
            frame: it.frame,
            time: &it.time,
            source: &it.source,
            destination: &it.destination,
            protocol: self.protocols.get(usize::from(it.protocol)).map_or("", String::as_str),
            way: it.way.map(usize::from),
        })
    }

    /// Returns offsets and lengths.
    pub(crate) fn places(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.list.iter().map(|it| (it.offset, it.length.into()))
    }
}

/// Collects the messages of a packet capture: their bytes go to a temporary file.
pub struct CaptureBuilder {
    file: BufWriter<File>,
    length: u64,
    messages: Messages,
}

impl fmt::Debug for CaptureBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CaptureBuilder").field("messages", &self.messages.list.len()).finish_non_exhaustive()
    }
}

impl CaptureBuilder {
    /// Begins an input.
    ///
    /// # Errors
    /// The temporary file cannot be made.
    pub fn new() -> io::Result<Self> {
        let file = BufWriter::new(tempfile::tempfile()?);
        Ok(Self { file, length: 0, messages: Messages::default() })
    }

    /// Adds a message; returns `false` when no more are listed.
    ///
    /// # Errors
    /// Those of the temporary file.
    pub fn push(&mut self, from: &Captured, octets: &[u8]) -> io::Result<bool> {
        let Ok(length) = u32::try_from(octets.len()) else { return Ok(true) };
        if self.messages.list.len() >= MOST_MESSAGES {
            return Ok(false);
        }
        self.file.write_all(octets)?;
        let Messages { list, ways, protocols } = &mut self.messages;
        let way = from.way.as_ref().map(|way| number_of(ways, way));
        list.push(Listed {
            frame: from.frame,
            time: from.time.as_str().into(),
            source: from.source.as_str().into(),
            destination: from.destination.as_str().into(),
            protocol: number_of(protocols, &from.protocol),
            way,
            offset: self.length,
            length,
        });
        self.length += u64::from(length);
        Ok(true)
    }

    /// Ends the input; `name` is that of the capture.
    ///
    /// # Errors
    /// Those of the temporary file.
    pub fn finish(self, name: &str) -> io::Result<Source> {
        let file = self.file.into_inner().map_err(io::IntoInnerError::into_error)?;
        Source::of_messages(name, file, self.messages)
    }
}

/// Returns the number of a value in a list, which it is added to if it is not there.
fn number_of<T: Clone + PartialEq>(list: &mut Vec<T>, value: &T) -> u16 {
    let found = list.iter().position(|known| known == value).unwrap_or_else(|| {
        list.push(value.clone());
        list.len() - 1
    });
    u16::try_from(found).unwrap_or(u16::MAX)
}
