//! The items of configuration: names, types, defaults and descriptions in one table. The documentation and the options of the
//! command are made from it.

use std::fmt;
use std::str::FromStr;

use tercet_megaco::codec::Encoding;
use tercet_suggest::unknown;

use crate::time::{Period, Timer};

/// A number that bounds something, or no bound.
///
/// Written as a number or `inf`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Limit(Option<u32>);

impl Limit {
    /// No bound.
    pub const INFINITE: Self = Self(None);

    /// At most so many.
    pub const fn of(limit: u32) -> Self {
        Self(Some(limit))
    }

    /// The number, or `None` without a bound.
    pub const fn get(self) -> Option<u32> {
        self.0
    }

    /// Returns whether a number is above the bound.
    pub(crate) fn is_passed_by(self, number: u32) -> bool {
        self.0.is_some_and(|limit| number > limit)
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            None => f.write_str("inf"),
            Some(limit) => limit.fmt(f),
        }
    }
}

impl FromStr for Limit {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "inf" | "infinity" => Ok(Self::INFINITE),
            _ => text.parse().map(Self::of).map_err(|_| "expected a number below 2^32, or `inf`"),
        }
    }
}

/// How many segments of a reply may be on their way without an acknowledgement.
///
/// Written `none` (replies are not segmented), as a number, or `all`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Window {
    /// Replies are not segmented.
    None,
    /// So many segments; at least one.
    Segments(u32),
    /// All segments at once.
    All,
}

impl fmt::Display for Window {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("none"),
            Self::Segments(count) => count.fmt(f),
            Self::All => f.write_str("all"),
        }
    }
}

impl FromStr for Window {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "none" => Ok(Self::None),
            "all" | "inf" | "infinity" => Ok(Self::All),
            _ => match text.parse() {
                Ok(count @ 1..) => Ok(Self::Segments(count)),
                _ => Err("expected `none`, a number above 0, or `all`"),
            },
        }
    }
}

/// The encoding of what is sent: one of ours, or that of the peer's last message.
///
/// Written as the name of an encoding, or `auto`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encode {
    /// As the peer does; compact text until it has sent something.
    Auto,
    /// This one.
    As(Encoding),
}

impl fmt::Display for Encode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Auto => "auto",
            Self::As(encoding) => encoding.name(),
        })
    }
}

impl FromStr for Encode {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "auto" => Ok(Self::Auto),
            _ => match Encoding::named(text) {
                Some(encoding) if encoding != Encoding::Json => Ok(Self::As(encoding)),
                _ => Err("expected auto, pretty, compact, ber, per, etf, etf-mc, etf-zlib or etf-mc-zlib"),
            },
        }
    }
}

/// One item of configuration.
#[derive(Clone, Copy, Debug)]
pub struct Item {
    /// The name, that of OTP's megaco application if it has the item.
    pub name: &'static str,
    /// The default as text.
    pub default: &'static str,
    /// The option of the command that sets the item, or an empty string.
    pub option: &'static str,
    /// What the item does, in one sentence without a period at its end.
    pub help: &'static str,
}

/// A name or a value that an item does not have. Nothing has been changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadItem(String);

impl fmt::Display for BadItem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for BadItem {}

macro_rules! items {
    ($($name:ident: $ty:ty = $default:literal, $option:literal, $help:literal;)*) => {
        /// The configuration of a user, which is the default for its connections, or of one connection.
        #[derive(Clone, Debug, PartialEq, Eq)]
        #[non_exhaustive]
        pub struct Items {
            $(#[doc = concat!($help, ". Default: `", $default, "`.")] pub $name: $ty,)*
        }

        /// All items in alphabetical groups: timers, limits, gathering, segments, encoding, connections.
        pub const ITEMS: &[Item] = &[
            $(Item { name: stringify!($name), default: $default, option: $option, help: $help },)*
        ];

        impl Default for Items {
            fn default() -> Self {
                Self { $($name: default_of::<$ty>($default),)* }
            }
        }

        impl Items {
            /// Returns the value of an item as text.
            pub fn value(&self, name: &str) -> Option<String> {
                match name {
                    $(stringify!($name) => Some(self.$name.to_string()),)*
                    _ => None,
                }
            }

            /// Sets an item from text.
            ///
            /// # Errors
            /// Unknown item, or a value that the item does not have. Nothing has been changed then.
            pub fn set(&mut self, name: &str, value: &str) -> Result<(), BadItem> {
                match name {
                    $(stringify!($name) => {
                        self.$name = value.parse::<$ty>().map_err(|error| {
                            BadItem(format!("bad value `{value}` of item `{name}`: {}", Expected(&error)))
                        })?;
                    })*
                    _ => return Err(BadItem(unknown("item", name, ITEMS.iter().map(|item| item.name)))),
                }
                Ok(())
            }
        }
    };
}

items! {
    request_timer: Timer = "7s*2+0xinf", "--request-timer",
        "Wait for a reply; each expiry but the last sends the request again, the last one ends it";
    long_request_timer: Timer = "60s", "--long-request-timer",
        "Wait for a reply after a Pending";
    long_request_resend: bool = "false", "--long-request-resend",
        "Send requests again after a Pending too";
    request_keep_alive: Period = "0ms", "",
        "Deliver further replies to a request, numbered, for so long after the first";
    pending_timer: Timer = "30s", "--pending-timer",
        "Send a Pending when a request has not been answered for so long; an incremental timer repeats it";
    reply_timer: Timer = "30s", "--reply-timer",
        "Remember a reply for so long (LONG-TIMER); if an acknowledgement is expected, intermediate expiries send the reply again";
    execution_timer: Period = "300s", "",
        "Answer a request with error 510 if the user has not answered it for so long";
    segment_recv_timer: Timer = "10s", "--segment-timer",
        "Wait for missing segments of a reply after its last one";
    segment_send_timer: Period = "5s", "",
        "Send segments again that have not been acknowledged for so long";
    idle_timer: Period = "inf", "",
        "Report a connection on which nothing has arrived for so long";
    unproven_timer: Period = "300s", "",
        "End a connection that a datagram began when nothing has arrived for so long, unless its peer has registered or answered";
    sent_pending_limit: Limit = "inf", "--sent-pending-limit",
        "Pendings to send for a request; the one beyond the limit aborts the request with error 506";
    recv_pending_limit: Limit = "inf", "--recv-pending-limit",
        "Pendings to accept for a request; the one beyond the limit ends it";
    min_trans_id: u32 = "1", "",
        "Lowest transaction id";
    max_trans_id: u32 = "4294967295", "",
        "Highest transaction id; the lowest one follows";
    max_requests: u32 = "1000000", "",
        "Requests of one connection that wait for a reply";
    max_replies: u32 = "1000000", "",
        "Requests of one connection that are executed or remembered; further ones are dropped";
    max_segments: u32 = "1024", "",
        "Segments of one reply; more end the request";
    max_segment_octets: u32 = "4194304", "",
        "Bytes of all segments of one reply; more end the request";
    auto_ack: bool = "false", "--auto-ack",
        "Acknowledge every reply";
    trans_ack: bool = "false", "",
        "Gather acknowledgements, and send them as ranges";
    trans_ack_maxcount: u32 = "10", "--batch-acks",
        "Acknowledgements to gather";
    trans_req: bool = "false", "",
        "Gather requests";
    trans_req_maxcount: u32 = "10", "--batch-requests",
        "Requests to gather";
    trans_req_maxsize: u32 = "2048", "--batch-size",
        "Bytes of a message of gathered requests";
    trans_timer: Period = "0ms", "--batch-timer",
        "Longest wait of what is gathered; 0 never gathers";
    segment_send: Window = "none", "--segment",
        "Segments of a reply that may wait for their acknowledgement";
    max_pdu_size: Limit = "inf", "--max-pdu",
        "Largest message in bytes";
    segment_reply_ind: bool = "false", "",
        "Report each acknowledgement of a segment";
    encoding: Encode = "pretty", "--encoding",
        "Encoding of messages";
    protocol_version: u8 = "1", "",
        "Version of messages before one is negotiated";
    max_version: u8 = "3", "--h248-version",
        "Highest version";
    strict_version: bool = "true", "",
        "Answer requests in another version than the negotiated one with error 406";
    connect_by: ConnectBy = "any", "",
        "Which first message of a peer makes a connection";
    confirm_connect: bool = "false", "",
        "Wait for the user to accept a new connection";
    wrong_mid: WrongMid = "ignore", "",
        "Handling of a request whose reply comes from another sender";
}

/// Which first message of a peer makes a connection.
///
/// Written `any` or `registration`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ConnectBy {
    /// Any that holds a request.
    Any,
    /// One that registers: a ServiceChange on ROOT. Other requests are answered with error 504.
    Registration,
}

/// What becomes of a request whose reply comes from another sender.
///
/// Written `ignore` or `end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WrongMid {
    /// The reply is reported as unexpected, and the request goes on.
    Ignore,
    /// The request ends with that error, as in OTP.
    End,
}

macro_rules! words {
    ($name:ident: $($word:literal => $variant:ident),*; $expected:literal) => {
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(match self { $(Self::$variant => $word,)* })
            }
        }

        impl FromStr for $name {
            type Err = &'static str;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                match text {
                    $($word => Ok(Self::$variant),)*
                    _ => Err($expected),
                }
            }
        }
    };
}

words!(ConnectBy: "any" => Any, "registration" => Registration; "expected `any` or `registration`");
words!(WrongMid: "ignore" => Ignore, "end" => End; "expected `ignore` or `end`");

/// The value of a default, which a test parses.
fn default_of<T: FromStr>(text: &str) -> T {
    let Ok(value) = text.parse() else { unreachable!("a default that is not a value: {text}") };
    value
}

/// What was expected instead of a value.
struct Expected<E>(E);

impl<E: fmt::Display> fmt::Display for Expected<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Returns the description of an item.
///
/// # Panics
/// There is no such item.
pub fn help(name: &str) -> &'static str {
    let Some(item) = ITEMS.iter().find(|item| item.name == name) else { panic!("no item {name}") };
    item.help
}

impl Items {
    /// Checks what items say together.
    ///
    /// # Errors
    /// Two items contradict each other, or one is out of range.
    pub fn check(&self) -> Result<(), BadItem> {
        let bad = |text: &str| Err(BadItem(text.to_owned()));
        if self.min_trans_id == 0 || self.min_trans_id > self.max_trans_id {
            return bad("`min_trans_id` must be above 0 and not above `max_trans_id`");
        }
        if !(1..=3).contains(&self.protocol_version) || !(1..=3).contains(&self.max_version) {
            return bad("`protocol_version` and `max_version` must be 1, 2 or 3");
        }
        if self.protocol_version > self.max_version {
            return bad("`protocol_version` must not be above `max_version`");
        }
        Ok(())
    }

    /// Whether transactions are gathered.
    pub(crate) fn gathers(&self) -> bool {
        self.trans_timer.as_millis() != Some(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_default_is_a_value() {
        let mut items = Items::default();
        items.check().unwrap();
        for item in ITEMS {
            assert_eq!(items.value(item.name).as_deref(), Some(item.default), "{}", item.name);
            items.set(item.name, item.default).unwrap();
            assert!(items.set(item.name, "?").is_err(), "{}", item.name);
            assert!(!item.help.ends_with('.'), "{}", item.name);
        }
        assert_eq!(items, Items::default());
    }

    #[test]
    fn bad_items() {
        let mut items = Items::default();
        let error = items.set("reqest_timer", "1s").unwrap_err().to_string();
        assert!(error.contains("reqest_timer") && error.contains("request_timer"), "{error}");
        let error = items.set("request_timer", "soon").unwrap_err().to_string();
        assert!(error.contains("bad value `soon` of item `request_timer`"), "{error}");
        assert_eq!(items, Items::default());
        items.max_version = 4;
        assert!(items.check().is_err());
    }
}
