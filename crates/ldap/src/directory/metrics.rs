//! The figures of a directory over HTTP, for Prometheus.

use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use super::Directory;
use super::server::{Server, accepted};
use crate::error::Result;

/// Bytes of a request of HTTP at most, and the time that it may take.
const REQUEST: usize = 8 << 10;
const TIME: Duration = Duration::from_secs(5);
/// Requests at one time.
const AT_ONCE: usize = 16;

impl Directory {
    /// Writes a line of JSON for each operation from now on: who asked for what, the result code, the number of entries and the time.
    /// Values and passwords are not in it.
    #[must_use]
    pub fn with_access_log(self, log: Box<dyn std::io::Write + Send>) -> Self {
        self.shared.observer.log_to(log);
        self
    }

    /// Answers `GET /metrics` at an address, `host:port`, in the text format of Prometheus.
    ///
    /// # Errors
    /// The address cannot be had.
    pub async fn listen_metrics(&self, address: &str) -> Result<Server> {
        self.shared.observer.switch_on();
        let listener = TcpListener::bind(address).await?;
        let address = listener.local_addr()?;
        let directory = self.clone();
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            let mut answers = JoinSet::new();
            loop {
                let Some((stream, _)) = accepted(listener.accept().await).await else { continue };
                while answers.try_join_next().is_some() {}
                if answers.len() < AT_ONCE {
                    let directory = directory.clone();
                    answers.spawn(async move {
                        _ = tokio::time::timeout(TIME, answer(stream, &directory)).await;
                    });
                }
            }
        });
        Ok(Server::new(address, format!("http://{address}/metrics"), tasks))
    }

    fn metrics(&self) -> String {
        #[cfg(feature = "store")]
        let commits = self.shared.keeper.as_ref().map(super::kept::Keeper::commits);
        #[cfg(not(feature = "store"))]
        let commits = None;
        self.shared.observer.metrics(self.len(), commits)
    }
}

/// Answers one request.
async fn answer(mut stream: TcpStream, directory: &Directory) -> std::io::Result<()> {
    let mut request = Vec::new();
    while !request.windows(4).any(|four| four == b"\r\n\r\n") {
        if request.len() > REQUEST || stream.read_buf(&mut request).await? == 0 {
            return Ok(());
        }
    }
    let line = request.split(|octet| *octet == b'\r').next().unwrap_or_default();
    let mut words = line.split(|octet| *octet == b' ');
    let is_asked = words.next() == Some(b"GET") && words.next() == Some(b"/metrics");
    let (status, body) = if is_asked {
        ("200 OK", directory.metrics())
    } else {
        ("404 Not Found", "see /metrics\n".to_owned())
    };
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/plain; version=0.0.4\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).await?;
    stream.write_all(body.as_bytes()).await?;
    stream.shutdown().await
}
