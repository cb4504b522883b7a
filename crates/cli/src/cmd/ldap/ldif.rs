//! Entries as ldapsearch prints them.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use tercet_ldap::controls::{PagedResults, SortResult, VlvResult};
use tercet_ldap::ldif::Style;
use tercet_ldap::proto::{Reference, ResponseControl as _};
use tercet_ldap::{Dn, Entry, LdapResult};

/// How much is said beside the entries: all, or less with each `-L`.
#[derive(Clone, Copy, Debug)]
pub struct Ldif {
    pub level: u8,
    pub style: Style,
}

impl Ldif {
    pub fn begin(self, out: &mut Vec<u8>, lines: &[String]) {
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
    pub fn entry(self, out: &mut Vec<u8>, entry: &Entry) {
        if self.level < 2 {
            let dn = entry.dn();
            let friendly = dn.parse::<Dn>().map_or_else(|_| dn.to_owned(), |dn| dn.friendly());
            self.style.comment(out, friendly.as_bytes());
        }
        self.style.entry(out, entry);
    }

    pub fn reference(self, out: &mut Vec<u8>, reference: &Reference) {
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

    pub fn end(self, out: &mut Vec<u8>, id: u32, result: &LdapResult, counts: Counts) {
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
            self.controls(out, result);
        }
        out.extend_from_slice(format!("\n# numResponses: {}\n", counts.responses).as_bytes());
        for (name, count) in [("Entries", counts.entries), ("References", counts.references)] {
            if count > 0 {
                out.extend_from_slice(format!("# num{name}: {count}\n").as_bytes());
            }
        }
    }

    fn controls(self, out: &mut Vec<u8>, result: &LdapResult) {
        for control in &result.controls {
            let mut line = format!("{} {}", control.oid, control.critical);
            if let Some(value) = &control.value {
                line.push(' ');
                STANDARD.encode_string(value, &mut line);
            }
            self.style.value(out, b"control", line.as_bytes());
            let value = control.value.as_deref().unwrap_or_default();
            if let Some(line) = explain(&control.oid, value) {
                out.extend_from_slice(line.as_bytes());
            }
        }
    }
}

/// What a control says, in a line of its own.
fn explain(oid: &str, value: &[u8]) -> Option<String> {
    match oid {
        PagedResults::OID => {
            let paged = PagedResults::read(value).ok()?;
            Some(format!("pagedresults: cookie={}\n", STANDARD.encode(&paged.cookie)))
        }
        SortResult::OID => {
            let sort = SortResult::read(value).ok()?;
            let attribute = sort.attribute.map(|name| format!(" {name}")).unwrap_or_default();
            Some(format!("sortResult: ({}) {}{attribute}\n", sort.code.0, sort.code.text()))
        }
        VlvResult::OID => {
            let vlv = VlvResult::read(value).ok()?;
            let context = STANDARD.encode(vlv.context.unwrap_or_default());
            let (position, count, code) = (vlv.position, vlv.count, vlv.code);
            Some(format!(
                "vlvResult: pos={position} count={count} context={context} ({}) {}\n",
                code.0,
                code.text()
            ))
        }
        _ => None,
    }
}

/// What a search has brought.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    pub responses: u64,
    pub entries: u64,
    pub references: u64,
}
