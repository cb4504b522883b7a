//! ldap3 for Rust: HOST PORT discard|ldif. Its entries come one by one; it has no writer of LDIF, so a short one stands here.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use ldap3::{LdapConn, Scope, SearchEntry};
use std::io::{BufWriter, Write, stdout};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [host, port, work] = arguments.as_slice() else { return Err("HOST PORT discard|ldif".into()) };
    let mut connection = LdapConn::new(&format!("ldap://{host}:{port}"))?;
    connection.simple_bind("", "")?.success()?;
    let mut entries = connection.streaming_search("o=test", Scope::Subtree, "(objectClass=*)", vec!["*"])?;
    let mut out = BufWriter::with_capacity(1 << 16, stdout());
    let mut count = 0;
    while let Some(entry) = entries.next()? {
        count += 1;
        if work == "ldif" {
            let entry = SearchEntry::construct(entry);
            line(&mut out, "dn", entry.dn.as_bytes())?;
            for (name, values) in &entry.attrs {
                values.iter().try_for_each(|value| line(&mut out, name, value.as_bytes()))?;
            }
            for (name, values) in &entry.bin_attrs {
                values.iter().try_for_each(|value| line(&mut out, name, value))?;
            }
            out.write_all(b"\n")?;
        }
    }
    entries.result().success()?;
    if work == "discard" {
        writeln!(out, "{count}")?;
    }
    Ok(out.flush()?)
}

fn line(out: &mut impl Write, name: &str, value: &[u8]) -> std::io::Result<()> {
    let plain = value.iter().all(|&octet| octet.is_ascii() && !matches!(octet, 0 | b'\n' | b'\r'))
        && !matches!(value.first(), Some(b' ' | b':' | b'<'))
        && value.last() != Some(&b' ');
    if plain {
        write!(out, "{name}: ")?;
        out.write_all(value)?;
        out.write_all(b"\n")
    } else {
        writeln!(out, "{name}:: {}", STANDARD.encode(value))
    }
}
