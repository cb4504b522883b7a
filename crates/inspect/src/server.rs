//! The server: one page on 127.0.0.1, for whoever has the address with its token.

use crate::http::{Answer, Request};
use crate::page::asset;
use crate::workbench::Workbench;
use std::fmt;
use std::io::{self, BufRead, BufReader};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// Connections at one time.
const MOST_CONNECTIONS: usize = 64;
/// How long a connection may be silent, and how long an answer may take to be sent.
const PATIENCE: Duration = Duration::from_secs(20);
/// Bytes that are pasted at once: 16 MiB.
const MOST_PASTED: usize = 16 << 20;
/// Bytes of the token: 128 bits, in 32 digits.
const TOKEN: usize = 16;

/// Serves the page of a [`Workbench`] on 127.0.0.1.
///
/// Every request requires the token in its path and the server's own address as `Host`; one from another page (`Origin`,
/// `Sec-Fetch-Site`) is refused. Text that is pasted stays in memory. Nothing is written, and no path names a file, unless the
/// workbench is editable: then a request can write a new file.
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    token: String,
    bench: Arc<Workbench>,
}

impl fmt::Debug for Server {
    /// Without the token.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server").field("address", &self.address).finish_non_exhaustive()
    }
}

impl Server {
    /// Takes a port of 127.0.0.1, any for 0, and makes a token.
    ///
    /// # Errors
    /// The port is taken; the system has no random bytes.
    pub fn bind(bench: Workbench, port: u16) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        let address = listener.local_addr()?;
        let mut octets = [0; TOKEN];
        getrandom::fill(&mut octets).map_err(|error| io::Error::other(error.to_string()))?;
        let token = octets.iter().map(|octet| format!("{octet:02x}")).collect();
        Ok(Self { listener, address, token, bench: Arc::new(bench) })
    }

    /// Returns the address of the page, with the token.
    pub fn url(&self) -> String {
        format!("http://{}/{}/", self.address, self.token)
    }

    /// Serves until the listener fails.
    ///
    /// # Errors
    /// Those of the listener.
    pub fn run(self) -> io::Result<()> {
        let shared = Arc::new(self);
        let connections = Arc::new(AtomicUsize::new(0));
        loop {
            let stream = match shared.listener.accept() {
                Ok((stream, _)) => stream,
                Err(error) if is_passing(&error) => continue,
                // Out of file descriptors: some will be free again.
                Err(_) => {
                    std::thread::sleep(Duration::from_millis(50));
                    continue;
                }
            };
            let place = Taken::one_of(&connections);
            if place.is_none() {
                let answer = Answer::text("503 Service Unavailable", "too many connections");
                _ = stream.set_write_timeout(Some(Duration::from_millis(100)));
                _ = answer.write(&mut &stream, false, false);
                continue;
            }
            let server = Arc::clone(&shared);
            // Without a thread the connection is closed.
            _ = std::thread::Builder::new().name("page".to_owned()).spawn(move || {
                _ = server.serve(&stream);
                drop(place);
            });
        }
    }

    /// Answers the requests of a connection.
    fn serve(&self, stream: &TcpStream) -> io::Result<()> {
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        stream.set_nodelay(true)?;
        let mut reader = BufReader::new(stream);
        loop {
            let request = match Request::read(&mut reader) {
                Ok(Some(request)) => request,
                Ok(None) => return Ok(()),
                Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                    let answer = Answer::text("400 Bad Request", &error.to_string());
                    return answer.write(&mut &*stream, false, false);
                }
                Err(error) => return Err(error),
            };
            let (answer, has_rest) = match self.acted(&request, &mut reader)? {
                Some(answer) => (answer, false),
                None => (self.answer(&request), request.length > 0 || request.has_chunks),
            };
            // A body that has not been read would be taken for the next request.
            let keep_alive = request.keep_alive && !has_rest;
            answer.write(&mut &*stream, keep_alive, request.method == "HEAD")?;
            if !keep_alive {
                return Ok(());
            }
        }
    }

    /// Answers a request with a body: pasted text, or a change of a record. `None` for any other request.
    fn acted(&self, request: &Request, reader: &mut impl BufRead) -> io::Result<Option<Answer>> {
        let question = self.inside(&request.path).and_then(|name| name.strip_prefix("api/"));
        let Some(question) = question.filter(|it| ["paste", "edit", "save"].contains(it)) else {
            return Ok(None);
        };
        if request.method != "POST" || self.check(request).is_err() {
            return Ok(None);
        }
        let Some(body) = request.body(reader, MOST_PASTED)? else {
            return Ok(Some(Answer::text("413 Content Too Large", "at most 16 MiB can be sent")));
        };
        Ok(self.bench.act(question, &request.query, &body).map(json_answer))
    }

    fn answer(&self, request: &Request) -> Answer {
        if let Err(refused) = self.check(request) {
            return Answer::text("403 Forbidden", refused);
        }
        let Some(name) = self.inside(&request.path) else {
            return Answer::text(
                "403 Forbidden",
                "the address has no valid token; use the one that `tercet inspect` printed",
            );
        };
        if !matches!(request.method.as_str(), "GET" | "HEAD") {
            return Answer::text("405 Method Not Allowed", "only GET");
        }
        if let Some((_, media_type, text)) = asset(name) {
            return Answer { status: "200 OK", media_type, body: text.as_bytes().to_vec() };
        }
        let question = name.strip_prefix("api/").unwrap_or_default();
        match self.bench.answer(question, &request.query) {
            None => Answer::text("404 Not Found", "no such file of the page"),
            Some(answer) => json_answer(answer),
        }
    }

    /// Refuses what another page, or another name of this machine, asks for.
    fn check(&self, request: &Request) -> Result<(), &'static str> {
        let port = self.address.port();
        let own = [format!("127.0.0.1:{port}"), format!("localhost:{port}")];
        let Some(host) = own.iter().find(|own| request.host.as_ref() == Some(own)) else {
            return Err("the host is not this server");
        };
        if request.origin.as_ref().is_some_and(|origin| origin.strip_prefix("http://") != Some(host)) {
            return Err("the request comes from another page");
        }
        match request.site.as_deref() {
            None | Some("same-origin" | "none") => Ok(()),
            Some(_) => Err("the request comes from another page"),
        }
    }

    /// Returns what follows the token in a path.
    fn inside<'p>(&self, path: &'p str) -> Option<&'p str> {
        let (token, name) = path.strip_prefix('/')?.split_once('/')?;
        is_equal(token.as_bytes(), self.token.as_bytes()).then_some(name)
    }
}

fn json_answer(answer: Result<serde_json::Value, String>) -> Answer {
    let (status, value) = match answer {
        Ok(value) => ("200 OK", value),
        Err(message) => ("422 Unprocessable Content", serde_json::json!({ "error": message })),
    };
    Answer { status, media_type: "application/json", body: value.to_string().into_bytes() }
}

/// Compares in a time that does not depend on where the first difference is.
fn is_equal(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && a.iter().zip(b).fold(0, |found, (a, b)| found | (a ^ b)) == 0
}

/// Reports whether an error is that of one connection.
fn is_passing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::ConnectionAborted | io::ErrorKind::Interrupted)
}

/// A connection that counts.
struct Taken(Arc<AtomicUsize>);

impl Taken {
    fn one_of(count: &Arc<AtomicUsize>) -> Option<Self> {
        // Dropped again at once, and so given back, if there were too many before.
        let before = count.fetch_add(1, Ordering::AcqRel);
        let taken = Self(Arc::clone(count));
        (before < MOST_CONNECTIONS).then_some(taken)
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}
