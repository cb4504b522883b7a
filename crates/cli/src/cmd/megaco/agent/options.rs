//! Options that gateways and controllers share: items of the engine, and what the simulator does.

use super::super::registry::RegistryArgs;
use super::record::Record;
use crate::exit::{Failure, Outcome};
use clap::{Args, ValueEnum};
use std::net::SocketAddr;
use std::path::PathBuf;
use tercet::records::Guard;
use tercet_megaco::binary::Binary;
use tercet_megaco::model::MId;
use tercet_megaco::text::read_mid;
use tercet_megaco_engine::driver::{Tls, Url};
use tercet_megaco_engine::{AckMode, Encode, Items, Limit, Period, Timer, Window, help};

#[derive(Args, Clone, Debug)]
pub(super) struct EngineArgs {
    /// Message identifier: <NAME>, [IP]:PORT or a device name
    #[arg(long, value_name = "TEXT")]
    mid: Option<String>,

    /// Encoding of messages: compact, pretty, ber, per or etf; a controller answers as it is asked by default
    #[arg(long, value_name = "ENCODING")]
    encoding: Option<Encode>,

    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u8).range(1..=3), help = help("max_version"))]
    h248_version: u8,

    /// File for events, `-` for standard output
    #[arg(long, value_name = "FILE", default_value = "-")]
    pub(super) events: PathBuf,

    /// Print events for messages too: recv and send
    #[arg(long)]
    pub(super) trace: bool,

    #[arg(long, value_name = "TIMER", help = help("request_timer"))]
    request_timer: Option<Timer>,

    #[arg(long, value_name = "TIMER", help = help("long_request_timer"))]
    long_request_timer: Option<Timer>,

    #[arg(long, value_name = "TIMER", help = help("reply_timer"))]
    reply_timer: Option<Timer>,

    #[arg(long, value_name = "TIMER", help = help("pending_timer"))]
    pending_timer: Option<Timer>,

    #[arg(long, value_name = "TIMER", help = help("segment_recv_timer"))]
    segment_timer: Option<Timer>,

    #[arg(long, value_name = "N", help = help("sent_pending_limit"))]
    sent_pending_limit: Option<Limit>,

    #[arg(long, value_name = "N", help = help("recv_pending_limit"))]
    recv_pending_limit: Option<Limit>,

    #[arg(long, help = help("long_request_resend"))]
    long_request_resend: bool,

    #[arg(long, help = help("auto_ack"))]
    auto_ack: bool,

    /// Gather up to N acknowledgements and send them as ranges; implies --auto-ack
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    batch_acks: Option<u32>,

    /// Gather up to N requests
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    batch_requests: Option<u32>,

    #[arg(long, value_name = "BYTES", help = help("trans_req_maxsize"))]
    batch_size: Option<u32>,

    /// Longest wait of what is gathered; 50ms by default if something is
    #[arg(long, value_name = "TIME")]
    batch_timer: Option<Period>,

    /// Segments of a reply that may wait for their acknowledgement: none, N or all (version 3)
    #[arg(long, value_name = "WINDOW")]
    segment: Option<Window>,

    #[arg(long, value_name = "BYTES", help = help("max_pdu_size"))]
    max_pdu: Option<Limit>,

    /// Acknowledgement of replies
    #[arg(long, value_name = "MODE", default_value = "discard")]
    reply_ack: ReplyAck,

    /// How long each request takes, but for ServiceChange
    #[arg(long, value_name = "TIME", default_value = "0")]
    pub(super) work: Period,

    /// Work on the requests of a message at the same time
    #[arg(long)]
    pub(super) threaded: bool,

    /// Close a stream if a message takes longer from its first byte to its last
    #[arg(long, value_name = "TIME", default_value = "10s")]
    pub(super) idle_frame_timeout: Period,

    /// Physical terminations, line1 and so on
    #[arg(long, value_name = "N", default_value_t = 4)]
    pub(super) terminations: u32,

    /// Certificates to show (PEM)
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_cert: Option<PathBuf>,

    /// Their key (PEM)
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,

    /// Who signs certificates of peers (PEM); a listener then requires a certificate of each peer
    #[arg(long, value_name = "FILE")]
    tls_ca: Option<PathBuf>,

    /// Serve all counters for Prometheus at http://IP:PORT/metrics; port 0 takes any
    #[arg(long, value_name = "IP:PORT")]
    pub(super) metrics: Option<SocketAddr>,

    /// Write the messages that are received and sent to a capture file (pcap); those of TLS without their encryption, those of
    /// SCTP without UDP
    #[arg(long, value_name = "FILE")]
    write_pcap: Option<PathBuf>,

    /// Send a copy of each message to Homer (HEP version 3): udp://HOST:PORT
    #[arg(long, value_name = "URL")]
    hep: Option<Url>,

    #[command(flatten)]
    registry: RegistryArgs,

    /// Seed of all that is random
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
}

/// Acknowledgement of replies.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum ReplyAck {
    /// Only after a Pending
    Discard,
    /// Always, and report it
    Handle,
    /// Only after a Pending, and report it
    Pending,
    /// Only after a Pending; report any
    Sloppy,
}

impl EngineArgs {
    /// The items of the engine.
    pub(super) fn items(&self, encoding: &str) -> Outcome<Items> {
        let mut items = Items::default();
        items.set("encoding", encoding).map_err(Failure::usage)?;
        if let Some(encoding) = self.encoding {
            items.encoding = encoding;
        }
        items.max_version = self.h248_version;
        let timers = [
            (&mut items.request_timer, self.request_timer),
            (&mut items.long_request_timer, self.long_request_timer),
            (&mut items.reply_timer, self.reply_timer),
            (&mut items.pending_timer, self.pending_timer),
            (&mut items.segment_recv_timer, self.segment_timer),
        ];
        for (item, given) in timers {
            *item = given.unwrap_or(*item);
        }
        items.sent_pending_limit = self.sent_pending_limit.unwrap_or(items.sent_pending_limit);
        items.recv_pending_limit = self.recv_pending_limit.unwrap_or(items.recv_pending_limit);
        items.long_request_resend = self.long_request_resend;
        items.auto_ack = self.auto_ack || self.batch_acks.is_some();
        items.trans_ack = self.batch_acks.is_some();
        items.trans_ack_maxcount = self.batch_acks.unwrap_or(items.trans_ack_maxcount);
        items.trans_req = self.batch_requests.is_some();
        items.trans_req_maxcount = self.batch_requests.unwrap_or(items.trans_req_maxcount);
        items.trans_req_maxsize = self.batch_size.unwrap_or(items.trans_req_maxsize);
        let gathers = items.trans_ack || items.trans_req;
        let wait = Period::millis(if gathers { 50 } else { 0 });
        items.trans_timer = self.batch_timer.unwrap_or(wait);
        items.segment_send = self.segment.unwrap_or(items.segment_send);
        items.max_pdu_size = self.max_pdu.unwrap_or(items.max_pdu_size);
        items.segment_reply_ind = true;
        items.check().map_err(Failure::usage)?;
        Ok(items)
    }

    pub(super) fn mid(&self, default: &'static str) -> Outcome<MId<'_>> {
        let text = self.mid.as_deref().unwrap_or(default);
        read_mid(text.as_bytes()).map_err(|error| {
            Failure::usage(format_args!("bad message identifier `{text}`: expected {}", error.what))
        })
    }

    pub(super) fn ack_mode(&self) -> AckMode {
        match self.reply_ack {
            ReplyAck::Discard => AckMode::Discard,
            ReplyAck::Handle => AckMode::Handle,
            ReplyAck::Pending => AckMode::Pending,
            ReplyAck::Sloppy => AckMode::Sloppy,
        }
    }

    pub(super) fn tls(&self) -> Outcome<Tls> {
        let read = |path: &Option<PathBuf>| match path {
            None => Ok(Vec::new()),
            Some(path) => std::fs::read(path).map_err(|error| Failure::io(path.display(), &error)),
        };
        Ok(Tls {
            certificates: read(&self.tls_cert)?,
            key: read(&self.tls_key)?,
            roots: read(&self.tls_ca)?,
            server_name: None,
        })
    }

    /// What the binary encodings know beside the modules, if there is a file of it.
    pub(super) fn registry(&self) -> Outcome<Option<Binary>> {
        self.registry.registry.is_some().then(|| self.registry.read()).transpose()
    }

    /// Refuses to write a file that is read.
    pub(super) fn guard(&self) -> Outcome<()> {
        let mut guard = Guard::default();
        let read = [
            ("registry", &self.registry.registry),
            ("certificate", &self.tls_cert),
            ("key", &self.tls_key),
            ("list of certificates", &self.tls_ca),
        ];
        for (noun, path) in read {
            path.as_ref().map_or(Ok(()), |path| guard.reads(noun, path))?;
        }
        if self.events.as_os_str() != "-" {
            guard.writes("`--events`", &self.events)?;
        }
        self.write_pcap.as_ref().map_or(Ok(()), |path| guard.writes("`--write-pcap`", path))?;
        Ok(())
    }

    /// What messages are copied to.
    pub(super) fn record(&self) -> Outcome<Record> {
        Record::open(self.write_pcap.as_deref(), self.hep.as_ref())
    }

    /// The seed, or another one in every run.
    pub(super) fn seed(&self) -> u64 {
        use std::hash::{BuildHasher, RandomState};
        self.seed.unwrap_or_else(|| RandomState::new().hash_one(std::process::id()))
    }
}
