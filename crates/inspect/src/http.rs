//! As much of HTTP/1.1 (RFC 9112) as one page on this machine needs: requests, which `httparse` reads, and answers with a length.

use std::io::{self, BufRead, Read, Write};

/// Bytes of the head of a request.
const MOST_HEAD: u64 = 16 << 10;
/// Fields of the head of a request.
const MOST_FIELDS: usize = 100;

/// A request, as far as it is looked at.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Request {
    pub(crate) method: String,
    /// The path, without what follows `?`.
    pub(crate) path: String,
    pub(crate) query: String,
    pub(crate) host: Option<String>,
    pub(crate) origin: Option<String>,
    /// Where a browser says that the request comes from (`Sec-Fetch-Site`).
    pub(crate) site: Option<String>,
    /// Whether another request may follow.
    pub(crate) keep_alive: bool,
    /// Bytes of the body that follows.
    pub(crate) length: usize,
    /// Whether a body follows whose end is not told: none of it is read.
    pub(crate) has_chunks: bool,
}

impl Request {
    /// Reads the head of a request; `None` at the end of the connection.
    pub(crate) fn read(stream: &mut impl BufRead) -> io::Result<Option<Self>> {
        let Some(head) = head(stream)? else { return Ok(None) };
        let mut fields = [httparse::EMPTY_HEADER; MOST_FIELDS];
        let mut parsed = httparse::Request::new(&mut fields);
        match parsed.parse(&head) {
            Ok(httparse::Status::Complete(_)) => {}
            Ok(httparse::Status::Partial) => return Err(bad("the head of the request ends early")),
            Err(error) => return Err(bad(&format!("not a request: {error}"))),
        }
        let (Some(method), Some(target), Some(version)) = (parsed.method, parsed.path, parsed.version) else {
            return Err(bad("the request has no method or no path"));
        };
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let mut request = Self {
            method: method.to_owned(),
            path: path.to_owned(),
            query: query.to_owned(),
            keep_alive: version == 1,
            ..Self::default()
        };
        for field in parsed.headers {
            let value = std::str::from_utf8(field.value).map_err(|_| bad("a field is not UTF-8"))?;
            request.field(field.name, value.trim())?;
        }
        Ok(Some(request))
    }

    /// Reads the body, which has at most so many bytes.
    pub(crate) fn body(&self, stream: &mut impl BufRead, most: usize) -> io::Result<Option<Vec<u8>>> {
        if self.length > most || self.has_chunks {
            return Ok(None);
        }
        let mut body = Vec::new();
        stream.take(self.length as u64).read_to_end(&mut body)?;
        if body.len() < self.length { Err(bad("the body ends early")) } else { Ok(Some(body)) }
    }

    fn field(&mut self, name: &str, value: &str) -> io::Result<()> {
        let place = match name.to_ascii_lowercase().as_str() {
            "host" => &mut self.host,
            "origin" => &mut self.origin,
            "sec-fetch-site" => &mut self.site,
            "connection" => {
                self.keep_alive &= !value.eq_ignore_ascii_case("close");
                return Ok(());
            }
            "content-length" => {
                self.length = value.parse().map_err(|_| bad("the length of the body is not a number"))?;
                return Ok(());
            }
            "transfer-encoding" => {
                self.has_chunks = true;
                return Ok(());
            }
            _ => return Ok(()),
        };
        // Two hosts are a trick.
        if place.is_some() {
            return Err(bad("a field is there twice"));
        }
        *place = Some(value.to_owned());
        Ok(())
    }
}

/// Reads the bytes of a head, the empty line at its end included; `None` at the end of the stream.
fn head(stream: &mut impl BufRead) -> io::Result<Option<Vec<u8>>> {
    let mut stream = stream.take(MOST_HEAD);
    let mut head = Vec::new();
    loop {
        let begin = head.len();
        if stream.read_until(b'\n', &mut head)? == 0 {
            return match head.is_empty() {
                true => Ok(None),
                false => Err(bad("the head is longer than 16 KiB, or ends early")),
            };
        }
        if matches!(&head[begin..], b"\r\n" | b"\n") {
            // An empty line may be left from the request before (RFC 9112 2.2).
            match begin {
                0 => head.clear(),
                _ => return Ok(Some(head)),
            }
        }
    }
}

fn bad(text: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, text)
}

/// An answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: &'static str,
    pub(crate) media_type: &'static str,
    pub(crate) body: Vec<u8>,
}

/// What every answer has: the page may load its own files and ask its own server, nothing else; nobody may frame it, and no
/// copy is kept.
const FIELDS: &str = "\
Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
base-uri 'none'; form-action 'none'; frame-ancestors 'none'\r\n\
X-Content-Type-Options: nosniff\r\n\
X-Frame-Options: DENY\r\n\
Referrer-Policy: no-referrer\r\n\
Cross-Origin-Resource-Policy: same-origin\r\n\
Cross-Origin-Opener-Policy: same-origin\r\n\
Cache-Control: no-store\r\n";

impl Answer {
    /// Returns an answer of text for people.
    pub(crate) fn text(status: &'static str, text: &str) -> Self {
        Self { status, media_type: "text/plain; charset=utf-8", body: format!("{text}\n").into_bytes() }
    }

    /// Writes the answer; without its body for HEAD.
    pub(crate) fn write(&self, out: &mut impl Write, keep_alive: bool, is_head: bool) -> io::Result<()> {
        let connection = if keep_alive { "keep-alive" } else { "close" };
        let (status, length) = (self.status, self.body.len());
        let media_type = self.media_type;
        let mut octets = format!(
            "HTTP/1.1 {status}\r\nContent-Type: {media_type}\r\nContent-Length: {length}\r\n{FIELDS}Connection: {connection}\r\n\r\n"
        )
        .into_bytes();
        if !is_head {
            octets.extend_from_slice(&self.body);
        }
        out.write_all(&octets)?;
        out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> io::Result<Option<Request>> {
        Request::read(&mut text.as_bytes())
    }

    #[test]
    fn a_request_is_read() {
        let request = read("GET /a/b?c=1 HTTP/1.1\r\nHost: 127.0.0.1:80\r\nOrigin: http://x\r\nA: b\r\n\r\n");
        let request = request.expect("a request").expect("not the end");
        assert_eq!(
            (request.method.as_str(), request.path.as_str(), request.query.as_str()),
            ("GET", "/a/b", "c=1")
        );
        assert_eq!(
            (request.host.as_deref(), request.origin.as_deref()),
            (Some("127.0.0.1:80"), Some("http://x"))
        );
        assert!(request.keep_alive && request.length == 0);
        assert_eq!(read("").expect("the end"), None);
    }

    #[test]
    fn what_is_no_request_is_refused() {
        for text in [
            "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
            "GET / HTTP/2\r\n\r\n",
            "GET /\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: a",
            "GET / HTTP/1.1\r\nHost\r\n\r\n",
            &format!("GET /{} HTTP/1.1\r\n\r\n", "x".repeat(20_000)),
            &format!("GET / HTTP/1.1\r\n{}\r\n", "A: b\r\n".repeat(200)),
        ] {
            assert!(read(text).is_err(), "{}", &text[..text.len().min(60)]);
        }
    }
}
