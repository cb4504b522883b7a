//! Session descriptions (RFC 8866, RFC 4566) as they stand in Local and Remote descriptors.
//!
//! A message keeps them as text. [`Sdp::read`] is what parses them, when somebody asks: into lines with typed fields,
//! grouped by session. Nothing gets lost: a line that is not known, or not as it should be, is there as it is, and what
//! was read is written again octet for octet.
//!
//! ```
//! use tercet_megaco::sdp::{Connection, Field, Media, Sdp, Wild};
//!
//! let sdp = Sdp::read(b"v=0\nc=IN IP4 $\nm=audio $ RTP/AVP 0\na=ptime:20\n");
//! let audio = sdp.sessions[0].media().next().unwrap();
//! assert_eq!(audio.media.port, Wild::Choose);
//! assert_eq!(sdp.sessions[0].connection().unwrap().address, "$");
//!
//! let answer: Sdp<'_> = [
//!     Field::Version(0.into()),
//!     Field::Connection(Connection::internet("192.0.2.7")),
//!     Field::Media(Media::rtp("audio", 4000, &["0"])),
//! ]
//! .into_iter()
//! .collect();
//! assert_eq!(answer.to_text()?, b"v=0\r\nc=IN IP4 192.0.2.7\r\nm=audio 4000 RTP/AVP 0\r\n");
//! # Ok::<(), tercet_megaco::Error>(())
//! ```

mod field;
mod lines;
mod words;

pub use field::{Attribute, Bandwidth, Connection, Direction, Field, Key, Media, Origin, Repeat, Span, Time};
pub use lines::{Line, Lines};
pub use words::{Fault, Wild};

use crate::octets::Str;
use crate::{Error, Result};

/// The session descriptions of a descriptor. Two are equal if their lines say the same.
#[derive(Clone, Debug, Default)]
pub struct Sdp<'a> {
    /// White space before the first line.
    before: Str<'a>,
    /// The sessions: what is wanted or offered first, and what else will do.
    pub sessions: Vec<Session<'a>>,
}

impl PartialEq for Sdp<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.sessions == other.sessions
    }
}

impl Eq for Sdp<'_> {}

/// A session: lines from one `v=` up to the next.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Session<'a> {
    /// Its lines, in order.
    pub entries: Vec<Entry<'a>>,
}

/// A line with what it says.
///
/// One that was read is written as it was; one that comes from a field is written as the standard has it.
#[derive(Clone, Debug)]
pub struct Entry<'a> {
    field: Field<'a>,
    /// The line as it was read, and its end with all white space up to the next line.
    text: Option<(Str<'a>, Str<'a>)>,
}

/// Entries that say the same are equal, however they are written.
impl PartialEq for Entry<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.field == other.field
    }
}

impl Eq for Entry<'_> {}

impl<'a> Entry<'a> {
    /// What the line says.
    pub const fn field(&self) -> &Field<'a> {
        &self.field
    }

    /// What the line says, to be changed and made a line again.
    pub fn into_field(self) -> Field<'a> {
        self.field
    }

    /// The line without its end.
    fn line(&self) -> Vec<u8> {
        let mut line = self.field.name().to_vec();
        line.push(b'=');
        self.field.write_value(&mut line);
        line
    }
}

impl<'a> From<Field<'a>> for Entry<'a> {
    fn from(field: Field<'a>) -> Self {
        Self { field, text: None }
    }
}

impl<'a> Session<'a> {
    /// What the lines say.
    pub fn fields(&self) -> impl Iterator<Item = &Field<'a>> {
        self.entries.iter().map(Entry::field)
    }

    /// Adds a line at the end.
    pub fn push(&mut self, field: Field<'a>) {
        self.entries.push(field.into());
    }

    /// The lines before the first medium.
    pub fn common(&self) -> &[Entry<'a>] {
        let end = self.entries.iter().position(|entry| matches!(entry.field, Field::Media(_)));
        &self.entries[..end.unwrap_or(self.entries.len())]
    }

    /// Where all media go that say nothing else.
    pub fn connection(&self) -> Option<&Connection<'a>> {
        find_connection(self.common())
    }

    /// The media, each with the lines that are about it.
    pub fn media(&self) -> impl Iterator<Item = Section<'_, 'a>> {
        let is_media = |entry: &Entry<'a>| matches!(entry.field, Field::Media(_));
        let mut rest = &self.entries[self.common().len()..];
        std::iter::from_fn(move || {
            let (first, after) = rest.split_first()?;
            let Field::Media(media) = &first.field else { return None };
            let length = after.iter().position(is_media).unwrap_or(after.len());
            rest = &after[length..];
            Some(Section { media, entries: &after[..length] })
        })
    }
}

/// A medium of a session.
#[derive(Clone, Copy, Debug)]
pub struct Section<'s, 'a> {
    /// The medium.
    pub media: &'s Media<'a>,
    /// The lines behind it.
    pub entries: &'s [Entry<'a>],
}

impl<'s, 'a> Section<'s, 'a> {
    /// Where it goes, if it says so itself.
    pub fn connection(&self) -> Option<&'s Connection<'a>> {
        find_connection(self.entries)
    }

    /// Its attributes.
    pub fn attributes(&self) -> impl Iterator<Item = &'s Attribute<'a>> {
        self.entries.iter().filter_map(|entry| match &entry.field {
            Field::Attribute(attribute) => Some(attribute),
            _ => None,
        })
    }
}

fn find_connection<'s, 'a>(entries: &'s [Entry<'a>]) -> Option<&'s Connection<'a>> {
    entries.iter().find_map(|entry| match &entry.field {
        Field::Connection(connection) => Some(connection),
        _ => None,
    })
}

impl<'a> Sdp<'a> {
    /// The descriptions of a text. There is no text without: [`Self::check`] tells what is not as it should be.
    pub fn read(text: &'a [u8]) -> Self {
        let mut rest = text.trim_ascii_start();
        let before = Str::borrowed(&text[..text.len() - rest.len()]);
        let mut sdp = Self { before, sessions: Vec::new() };
        while !rest.is_empty() {
            let length = memchr::memchr2(b'\r', b'\n', rest).unwrap_or(rest.len());
            let (line, after) = rest.split_at(length);
            rest = after.trim_ascii_start();
            let end = &after[..after.len() - rest.len()];
            let Line { name, value } = Line::of(line);
            let text = Some((Str::borrowed(line), Str::borrowed(end)));
            sdp.push(Entry { field: Field::read(name, value), text });
        }
        sdp
    }

    /// Adds a line; `v=` begins a session.
    pub(crate) fn push(&mut self, entry: Entry<'a>) {
        let begins = entry.field.name() == b"v";
        match self.sessions.last_mut() {
            Some(session) if !begins => session.entries.push(entry),
            _ => self.sessions.push(Session { entries: vec![entry] }),
        }
    }

    /// Whether all lines of a known name are as the standard has them.
    ///
    /// # Errors
    /// The first that is not; the place is that in the text that was read.
    pub fn check(&self) -> Result<()> {
        self.faults().next().map_or(Ok(()), Err)
    }

    /// All lines of a known name that are not as the standard has them, with the places in the text that was read.
    pub fn faults(&self) -> impl Iterator<Item = Error> {
        let mut at = self.before.len();
        self.sessions.iter().flat_map(|session| &session.entries).filter_map(move |entry| {
            let (length, end) = match &entry.text {
                Some((line, end)) => (line.len(), end.len()),
                None => (entry.line().len(), END.len()),
            };
            let start = at;
            at += length + end;
            match &entry.field {
                Field::Other { name, fault: Some(fault), .. } => {
                    // A line without `=` ends before its value.
                    Some(Error::new(start + (name.len() + 1 + fault.at).min(length), fault.what))
                }
                _ => None,
            }
        })
    }

    /// The text of the descriptions: what was read octet for octet, all else with CR LF at the end of each line.
    ///
    /// # Errors
    /// A field that somebody made does not say what it is when it is read: a word with a space in it, a line with an end
    /// in it. The place is the number of octets written until there.
    pub fn to_text(&self) -> Result<Vec<u8>> {
        let mut out = self.before.to_vec();
        let mut has_end = true;
        for entry in self.sessions.iter().flat_map(|session| &session.entries) {
            if !has_end {
                out.extend_from_slice(END);
            }
            match &entry.text {
                Some((line, end)) => {
                    out.extend_from_slice(line);
                    out.extend_from_slice(end);
                    has_end = !end.is_empty();
                }
                None => {
                    let line = entry.line();
                    let Line { name, value } = Line::of(&line);
                    let is_line = !line.iter().any(|octet| matches!(octet, b'\r' | b'\n' | 0));
                    if !is_line || Field::read(name, value) != entry.field || line.trim_ascii_start() != line
                    {
                        return Err(Error::new(out.len(), "a field that can be read again"));
                    }
                    out.extend_from_slice(&line);
                    out.extend_from_slice(END);
                    has_end = true;
                }
            }
        }
        Ok(out)
    }
}

/// The end of a line (H.248.1 and RFC 8866 5).
const END: &[u8] = b"\r\n";

impl<'a> FromIterator<Field<'a>> for Sdp<'a> {
    fn from_iter<I: IntoIterator<Item = Field<'a>>>(fields: I) -> Self {
        let mut sdp = Self::default();
        fields.into_iter().for_each(|field| sdp.push(field.into()));
        sdp
    }
}
