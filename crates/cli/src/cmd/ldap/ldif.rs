//! Entries as ldapsearch prints them.

use crate::exit::{Failure, Outcome};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use std::collections::hash_map::RandomState;
use std::fs::OpenOptions;
use std::hash::BuildHasher as _;
use std::io::{self, Write as _};
use std::path::PathBuf;
use tercet_ldap::controls::{
    Dereferenced, PagedResults, Referent, SortResult, SyncChange, SyncDone, SyncInfo, SyncState, VlvResult,
};
use tercet_ldap::ldif::Style;
use tercet_ldap::proto::{Attribute, Control, Intermediate, Reference, ResponseControl as _};
use tercet_ldap::{Dn, Entry, LdapResult};

/// How much is said beside the entries: all, or less with each `-L`.
#[derive(Debug, Default)]
pub struct Ldif {
    pub level: u8,
    pub style: Style,
    /// Whether the name is printed as people read it too.
    pub friendly: bool,
    /// Where values go that are not printed.
    pub files: Option<ValueFiles>,
}

/// Files for values (`-t`).
#[derive(Debug)]
pub struct ValueFiles {
    /// Whether all values go to files, not only those that are not printable.
    pub all: bool,
    /// The folder.
    pub folder: PathBuf,
    /// What stands before the names of the files.
    pub prefix: String,
    /// The first error of a file.
    pub error: Option<io::Error>,
}

impl ValueFiles {
    /// Writes a value to a new file that only the user can read, and returns its URL.
    fn write(&mut self, name: &str, value: &[u8]) -> Option<String> {
        let is_plain = |character: char| character.is_ascii_alphanumeric() || "-.".contains(character);
        let name: String = name.chars().map(|one| if is_plain(one) { one } else { '_' }).collect();
        let random = RandomState::new();
        for number in 0..100 {
            let file = format!("ldapsearch-{name}-{:06x}", random.hash_one(number) & 0xFF_FFFF);
            let mut options = OpenOptions::new();
            options.write(true).create_new(true);
            #[cfg(unix)]
            std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
            match options.open(self.folder.join(&file)).and_then(|mut file| file.write_all(value)) {
                Ok(()) => return Some(format!("{}{file}", self.prefix)),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => {
                    self.error.get_or_insert(error);
                    return None;
                }
            }
        }
        self.error.get_or_insert_with(|| io::Error::from(io::ErrorKind::AlreadyExists));
        None
    }

    /// Prints an attribute.
    fn attribute(&mut self, style: Style, out: &mut Vec<u8>, attribute: &Attribute<'_>) {
        let name = attribute.name();
        for value in attribute.values() {
            // LDIF writes the others in base64 (RFC 2849).
            let is_text = value.iter().all(|octet| is_printable(*octet))
                && !value.first().is_some_and(|first| b" :<".contains(first))
                && !value.ends_with(b" ");
            if !self.all && is_text {
                style.value(out, name.as_bytes(), value);
            } else if let Some(url) = self.write(&name, value) {
                out.extend_from_slice(format!("{name}:< {url}\n").as_bytes());
            }
        }
    }
}

impl Ldif {
    pub fn begin(&self, out: &mut Vec<u8>, lines: &[String]) {
        match self.level {
            0 => out.extend_from_slice(b"# extended LDIF\n"),
            1 | 2 => out.extend_from_slice(b"version: 1\n\n"),
            _ => {}
        }
        if self.level < 2 {
            out.extend_from_slice(b"#\n");
            for line in lines {
                out.extend_from_slice(format!("# {line}\n").as_bytes());
            }
            out.extend_from_slice(b"#\n\n");
        }
    }

    #[inline]
    pub fn entry(&mut self, out: &mut Vec<u8>, entry: &Entry) {
        if self.level < 2 {
            let dn = entry.dn();
            let friendly = dn.parse::<Dn>().map_or_else(|_| dn.to_owned(), |dn| dn.friendly());
            self.style.comment(out, friendly.as_bytes());
        }
        let begin = out.len();
        if self.friendly || self.files.is_some() {
            self.entry_in_parts(out, entry);
        } else {
            self.style.entry(out, entry);
        }
        if entry.has_controls() {
            self.entry_controls(out, begin, entry);
        }
    }

    /// Prints an entry with its friendly name, and values that go to files.
    #[cold]
    fn entry_in_parts(&mut self, out: &mut Vec<u8>, entry: &Entry) {
        self.style.value(out, b"dn", entry.dn_octets());
        if self.friendly {
            let friendly =
                entry.dn().parse::<Dn>().map_or_else(|_| entry.dn().to_owned(), |dn| dn.friendly());
            self.style.value(out, b"ufn", friendly.as_bytes());
        }
        for attribute in entry.attributes() {
            match &mut self.files {
                Some(files) => files.attribute(self.style, out, &attribute),
                None => {
                    let name = attribute.description();
                    attribute.values().for_each(|value| self.style.value(out, name, value));
                    if attribute.values().next().is_none() {
                        out.extend_from_slice(name);
                        out.extend_from_slice(b":\n");
                    }
                }
            }
        }
        out.push(b'\n');
    }

    /// The first error of a file for values.
    pub fn fault(&mut self) -> Outcome<()> {
        let Some(files) = &mut self.files else { return Ok(()) };
        match files.error.take() {
            Some(error) => Err(Failure::io(files.folder.display(), &error)),
            None => Ok(()),
        }
    }

    /// Controls that come with an entry stand behind its name.
    #[cold]
    fn entry_controls(&self, out: &mut Vec<u8>, begin: usize, entry: &Entry) {
        let lines = out.get(begin..).unwrap_or_default();
        let end = lines.windows(2).position(|two| two[0] == b'\n' && two[1] != b' ');
        let mut said = Vec::new();
        self.controls(&mut said, &entry.controls().unwrap_or_default());
        let place = end.map_or(out.len(), |end| begin + end + 1);
        out.splice(place..place, said);
    }

    pub fn reference(&self, out: &mut Vec<u8>, reference: &Reference) {
        if self.level < 2 {
            out.extend_from_slice(b"# search reference\n");
        }
        for url in &reference.urls {
            match self.level {
                0 => self.style.value(out, b"ref", url.as_bytes()),
                _ => self.style.comment(out, format!("ref: {url}").as_bytes()),
            }
        }
        out.push(b'\n');
    }

    pub fn end(&self, out: &mut Vec<u8>, id: u32, result: &LdapResult, counts: Counts) {
        if self.level >= 2 {
            return;
        }
        out.extend_from_slice(b"# search result\n");
        if self.level == 0 {
            out.extend_from_slice(
                format!("search: {id}\nresult: {} {}\n", result.code.0, result.code.text()).as_bytes(),
            );
            if !result.matched_dn.is_empty() {
                self.style.value(out, b"matchedDN", result.matched_dn.as_bytes());
            }
            if !result.message.is_empty() {
                self.style.value(out, b"text", result.message.as_bytes());
            }
            result.referrals.iter().for_each(|url| self.style.value(out, b"ref", url.as_bytes()));
        }
        self.controls(out, &result.controls);
        out.extend_from_slice(format!("\n# numResponses: {}\n", counts.responses).as_bytes());
        let counted = [
            ("Entries", counts.entries),
            ("Partial", counts.intermediate),
            ("References", counts.references),
        ];
        for (name, count) in counted {
            if count > 0 {
                out.extend_from_slice(format!("# num{name}: {count}\n").as_bytes());
            }
        }
    }

    /// A response between entries: what content synchronization says of its state.
    pub fn intermediate(&self, out: &mut Vec<u8>, response: &Intermediate) {
        if response.name.as_deref() != Some(SyncInfo::OID) {
            return;
        }
        let info = SyncInfo::read(response.value.as_deref().unwrap_or_default());
        let text = match (self.level, info) {
            (0, Ok(info)) => sync_info(&info),
            (0 | 1, _) => "\n".to_owned(),
            _ => String::new(),
        };
        if self.level < 2 {
            out.extend_from_slice(b"# SyncInfo Received");
        }
        out.extend_from_slice((text + "\n").as_bytes());
    }

    fn controls(&self, out: &mut Vec<u8>, controls: &[Control]) {
        for control in controls {
            let mut line = format!("{} {}", control.oid, control.critical);
            if let Some(value) = &control.value {
                line.push(' ');
                STANDARD.encode_string(value, &mut line);
            }
            if self.level < 2 {
                self.line(out, "control", &line);
            }
            // What does not read is there in base64.
            _ = self.explain(out, &control.oid, control.value.as_deref().unwrap_or_default());
        }
    }

    /// A name and a text, as a comment where LDIF is to be read by others.
    fn line(&self, out: &mut Vec<u8>, name: &str, text: &str) {
        match self.level {
            0 => self.style.value(out, name.as_bytes(), text.as_bytes()),
            _ => self.style.comment(out, format!("{name}: {text}").as_bytes()),
        }
    }

    /// What a control says.
    fn explain(&self, out: &mut Vec<u8>, oid: &str, value: &[u8]) -> tercet_ldap::Result<()> {
        match oid {
            PagedResults::OID => {
                let paged = PagedResults::read(value)?;
                self.line(out, "pagedresults", &format!("cookie={}", STANDARD.encode(&paged.cookie)));
            }
            SortResult::OID => {
                let sort = SortResult::read(value)?;
                let attribute = sort.attribute.map(|name| format!(" {name}")).unwrap_or_default();
                self.line(out, "sortResult", &format!("({}) {}{attribute}", sort.code.0, sort.code.text()));
            }
            VlvResult::OID => {
                let vlv = VlvResult::read(value)?;
                let context = STANDARD.encode(vlv.context.unwrap_or_default());
                let (position, count, code) = (vlv.position, vlv.count, vlv.code);
                let (number, text) = (code.0, code.text());
                let text = format!("pos={position} count={count} context={context} ({number}) {text}");
                self.line(out, "vlvResult", &text);
            }
            Dereferenced::OID => {
                for referent in Dereferenced::read(value)?.0 {
                    self.style.comment(out, referent_line(&referent).as_bytes());
                }
            }
            SyncState::OID if self.level == 0 => {
                let state = SyncState::read(value)?;
                let word = match state.state {
                    SyncChange::Present => "present",
                    SyncChange::Add => "added",
                    SyncChange::Modify => "modified",
                    SyncChange::Delete => "deleted",
                };
                let text = format!("# SyncState control, UUID {} {word}\n", uuid(&state.uuid));
                out.extend_from_slice((text + &cookie_line(state.cookie.as_deref())).as_bytes());
            }
            SyncDone::OID if self.level == 0 => {
                let done = SyncDone::read(value)?;
                let text = format!("# SyncDone control refreshDeletes={}\n", u8::from(done.refresh_deletes));
                out.extend_from_slice((text + &cookie_line(done.cookie.as_deref())).as_bytes());
            }
            _ => {}
        }
        Ok(())
    }
}

/// `attribute: <type=value>;…name`
fn referent_line(referent: &Referent) -> String {
    let mut line = format!("{}: ", referent.attribute);
    for (name, values) in &referent.attributes {
        for value in values {
            line += &match std::str::from_utf8(value) {
                Ok(text) if text.bytes().all(is_printable) => format!("<{name}={text}>;"),
                _ => format!("<{name}:={}>;", STANDARD.encode(value)),
            };
        }
    }
    line + &referent.dn
}

fn is_printable(octet: u8) -> bool {
    matches!(octet, b' '..=b'~')
}

pub fn uuid(octets: &[u8]) -> String {
    let digits: String = octets.iter().map(|octet| format!("{octet:02x}")).collect();
    match [0..8, 8..12, 12..16, 16..20, 20..32].map(|part| digits.get(part)) {
        [Some(a), Some(b), Some(c), Some(d), Some(e)] => [a, b, c, d, e].join("-"),
        _ => digits,
    }
}

fn cookie_line(cookie: Option<&[u8]>) -> String {
    let Some(cookie) = cookie else { return String::new() };
    match std::str::from_utf8(cookie) {
        Ok(text) if text.bytes().all(is_printable) => format!("# cookie: {text}\n"),
        _ => format!("# cookie:: {}\n", STANDARD.encode(cookie)),
    }
}

/// What there is to say behind `SyncInfo Received`.
fn sync_info(info: &SyncInfo) -> String {
    let (name, cookie, is_done) = match info {
        SyncInfo::NewCookie(cookie) => ("new cookie", Some(cookie), false),
        SyncInfo::RefreshDelete(cookie, done) => ("refresh delete", cookie.as_ref(), *done),
        SyncInfo::RefreshPresent(cookie, done) => ("refresh present", cookie.as_ref(), *done),
        SyncInfo::IdSet(cookie, ..) => ("ID Set", cookie.as_ref(), false),
    };
    let mut text = format!(": {name}\n") + &cookie_line(cookie.map(Vec::as_slice));
    if is_done {
        text += "# refresh done, switching to persist stage\n";
    }
    if let SyncInfo::IdSet(_, deletes, ids) = info {
        text += if *deletes { "# following UUIDs no longer match the search\n" } else { "" };
        text += "# syncUUIDs:\n";
        ids.iter().for_each(|id| text += &format!("#\t{}\n", uuid(id)));
    }
    text
}

/// What a search has brought.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    pub responses: u64,
    pub entries: u64,
    pub references: u64,
    pub intermediate: u64,
}
