//! Counters and gauges for Prometheus: a text over HTTP.

use super::crew::Totals;
use crate::exit::{Failure, Outcome};
use std::fmt::Write as _;
use std::net::SocketAddr;
use std::time::Duration;
use tercet_megaco_engine::Counters;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;

/// One who asks for the metrics.
pub(super) type Scrape = oneshot::Sender<String>;

/// How long a scrape may take.
const PATIENCE: Duration = Duration::from_secs(5);
/// The octets of a request that are read; nothing but its first line matters.
const LONGEST_REQUEST: usize = 8192;
/// Scrapes that are served at the same time.
const SCRAPES: usize = 16;

/// Listens for scrapes. Returns the address, and those who ask.
pub(super) async fn listen(address: SocketAddr) -> Outcome<(SocketAddr, mpsc::Receiver<Scrape>)> {
    let failed = |error: &std::io::Error| Failure::io(format_args!("http://{address}"), error);
    let listener = TcpListener::bind(address).await.map_err(|error| failed(&error))?;
    let local = listener.local_addr().map_err(|error| failed(&error))?;
    let (sender, receiver) = mpsc::channel(SCRAPES);
    tokio::spawn(async move {
        loop {
            let Ok((stream, _)) = listener.accept().await else {
                tokio::time::sleep(Duration::from_millis(50)).await;
                continue;
            };
            // A place in the queue bounds how many are served.
            let Ok(permit) = sender.clone().reserve_owned().await else { return };
            tokio::spawn(async move { _ = timeout(PATIENCE, serve(stream, permit)).await });
        }
    });
    Ok((local, receiver))
}

async fn serve(mut stream: TcpStream, permit: mpsc::OwnedPermit<Scrape>) -> std::io::Result<()> {
    let mut request = Vec::new();
    while !request.windows(4).any(|octets| octets == b"\r\n\r\n") && request.len() < LONGEST_REQUEST {
        if stream.read_buf(&mut request).await? == 0 {
            break;
        }
    }
    let line = request.split(|&octet| octet == b'\r').next().unwrap_or_default();
    let mut words = line.split(|&octet| octet == b' ');
    let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let path = path.split(|&octet| octet == b'?').next().unwrap_or_default();
    let (status, text) = match (method, path) {
        (b"GET" | b"HEAD", b"/metrics" | b"/") => {
            let (answer, metrics) = oneshot::channel();
            permit.send(answer);
            match metrics.await {
                Ok(text) => ("200 OK", text),
                Err(_) => ("503 Service Unavailable", String::new()),
            }
        }
        (b"GET" | b"HEAD", _) => ("404 Not Found", "metrics are at /metrics\n".to_owned()),
        _ => ("405 Method Not Allowed", String::new()),
    };
    let mut answer = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        text.len()
    );
    if method != b"HEAD" {
        answer.push_str(&text);
    }
    stream.write_all(answer.as_bytes()).await?;
    stream.shutdown().await
}

/// Every counter and gauge as Prometheus reads them.
pub(super) fn text(totals: &Totals) -> String {
    let mut text = String::new();
    for ((name, value), (_, help)) in totals.counters.iter().zip(Counters::HELP) {
        let name = format!("tercet_megaco_{name}_total");
        // Writing to memory does not fail.
        _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} counter\n{name} {value}");
    }
    for (name, help, value) in totals.gauges.iter() {
        let name = format!("tercet_megaco_{name}");
        _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} gauge\n{name} {value}");
    }
    let latencies = &totals.latencies;
    let name = "tercet_megaco_reply_seconds";
    _ = writeln!(text, "# HELP {name} Time from a request to its reply\n# TYPE {name} histogram");
    let mut count = 0;
    for (limit, of_bucket) in latencies.buckets() {
        count += of_bucket;
        let limit = limit.map_or_else(|| "+Inf".to_owned(), |limit| limit.as_secs_f64().to_string());
        _ = writeln!(text, "{name}_bucket{{le=\"{limit}\"}} {count}");
    }
    let sum = latencies.sum().as_secs_f64();
    _ = writeln!(text, "{name}_sum {sum}\n{name}_count {count}");
    text
}
