//! What a seed means: how many engines, how they are configured, how bad the network is.

use tercet_megaco_engine::{AckMode, Items, Random};

#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) seed: u64,
    pub(crate) nodes: usize,
    pub(crate) requests: usize,
    /// Microseconds within which the requests are made.
    pub(crate) span: u64,
    /// Shares in a thousand.
    pub(crate) loss: u64,
    pub(crate) doubling: u64,
    pub(crate) reordering: u64,
    pub(crate) corruption: u64,
    /// Microseconds of the way.
    pub(crate) delay: u64,
    pub(crate) partitions: usize,
    pub(crate) clock_jumps: usize,
    pub(crate) restarts: usize,
    pub(crate) cancels: usize,
    /// Longest work on a request in microseconds.
    pub(crate) work: u64,
    pub(crate) ack: AckMode,
    /// Actions of a reply at most.
    pub(crate) actions: u64,
    pub(crate) items: Items,
    /// How often a request is sent at most.
    pub(crate) sendings: u32,
}

impl Plan {
    pub(crate) fn of(seed: u64) -> Self {
        let mut random = Random::new(seed);
        let mut items = Items::default();
        let mut set = |name: &str, value: &str| items.set(name, value).unwrap();
        let one_in = |random: &mut Random, of: u64| random.below(of) == 0;
        let resend = random.permille(300);
        let retries = random.below(6);
        set("encoding", ["compact", "compact", "compact", "pretty", "ber", "per"][random.below(6) as usize]);
        set(
            "request_timer",
            &format!("{}ms*{}+{}x{retries}", 100 + random.below(900), 1 + random.below(2), random.below(200)),
        );
        set("long_request_timer", &format!("{}ms*1+0x{}", 500 + random.below(3000), random.below(3)));
        set("long_request_resend", &resend.to_string());
        set("pending_timer", &format!("{}ms*1+0x{}", 50 + random.below(500), random.below(4)));
        set("reply_timer", ["5s", "30s", "2s*1+0x3", "1s*2+0x4"][random.below(4) as usize]);
        set("execution_timer", "20s");
        set("protocol_version", "3");
        if one_in(&mut random, 3) {
            set("sent_pending_limit", &(1 + random.below(3)).to_string());
        }
        if one_in(&mut random, 3) {
            set("recv_pending_limit", &(1 + random.below(3)).to_string());
        }
        if one_in(&mut random, 2) {
            set("auto_ack", "true");
            set("trans_ack", "true");
            set("trans_req", "true");
            set("trans_timer", "40ms");
            set("trans_ack_maxcount", &(1 + random.below(10)).to_string());
            set("trans_req_maxsize", &(100 + random.below(2000)).to_string());
        }
        let mut actions = 1;
        if one_in(&mut random, 3) {
            set("segment_send", ["1", "2", "all"][random.below(3) as usize]);
            set("max_pdu_size", &(120 + random.below(200)).to_string());
            set("segment_recv_timer", ["1s", "500ms*1+0x2"][random.below(2) as usize]);
            set("segment_send_timer", "700ms");
            actions = 12;
        }
        let sendings = 1 + retries as u32 + if resend { 8 } else { 0 };
        let bad = random.below(3);
        Self {
            seed,
            nodes: if one_in(&mut random, 50) { 50 } else { 2 + random.below(4) as usize },
            requests: 10 + random.below(40) as usize,
            span: 5_000_000,
            loss: bad * random.below(150),
            doubling: bad * random.below(100),
            reordering: bad * random.below(200),
            corruption: if one_in(&mut random, 4) { random.below(200) } else { 0 },
            delay: 1000 + random.below(100_000),
            partitions: random.below(3) as usize,
            clock_jumps: if one_in(&mut random, 3) { 1 + random.below(4) as usize } else { 0 },
            restarts: if one_in(&mut random, 3) { 1 + random.below(2) as usize } else { 0 },
            cancels: if one_in(&mut random, 4) { 2 } else { 0 },
            work: [0, 100_000, 2_000_000][random.below(3) as usize],
            ack: [AckMode::Discard, AckMode::Handle, AckMode::Pending, AckMode::Sloppy]
                [random.below(4) as usize],
            actions,
            items,
            sendings,
        }
    }
}
