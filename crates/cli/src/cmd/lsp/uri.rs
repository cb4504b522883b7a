//! Paths as URIs with the scheme `file` (RFC 8089), and back.

use std::path::{Path, PathBuf};

/// Returns the URI of a path.
pub(super) fn of_path(path: &Path) -> String {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let text = path.to_string_lossy().replace('\\', "/");
    let mut uri = String::from(if text.starts_with('/') { "file://" } else { "file:///" });
    for octet in text.bytes() {
        match octet {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'/' | b'-' | b'.' | b'_' | b'~' => {
                uri.push(char::from(octet));
            }
            octet => uri += &format!("%{octet:02X}"),
        }
    }
    uri
}

/// Returns the path of a URI; none for other schemes.
pub(super) fn to_path(uri: &str) -> Option<PathBuf> {
    let rest = uri.strip_prefix("file://")?;
    // The host is that of this machine.
    let path = &rest[rest.find('/')?..];
    let mut octets = Vec::with_capacity(path.len());
    let mut bytes = path.bytes();
    while let Some(octet) = bytes.next() {
        let octet = match octet {
            b'%' => {
                let digits = [bytes.next()?, bytes.next()?];
                u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?
            }
            octet => octet,
        };
        octets.push(octet);
    }
    let text = String::from_utf8(octets).ok()?;
    // `/C:/x` of Windows.
    let is_drive = text.as_bytes().get(2) == Some(&b':') && cfg!(windows);
    Some(PathBuf::from(if is_drive { &text[1..] } else { &text }))
}

/// Returns the URI as this program writes it: editors escape other characters.
pub(super) fn normal(uri: &str) -> String {
    to_path(uri).map_or_else(|| uri.to_owned(), |path| of_path(&path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_come_back() {
        let path = Path::new("/tmp/über alles/a+b.asn");
        let uri = of_path(path);
        assert_eq!(uri, "file:///tmp/%C3%BCber%20alles/a%2Bb.asn");
        assert_eq!(to_path(&uri).as_deref(), Some(path));
        assert_eq!(normal("file:///tmp/%c3%bcber%20alles/a+b.asn"), uri);
        assert_eq!(to_path("untitled:1"), None);
        assert_eq!(to_path("file:///%zz"), None);
    }
}
