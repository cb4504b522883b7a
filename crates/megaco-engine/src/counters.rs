//! Counters, of each connection and of the engine.

macro_rules! counters {
    ($($name:ident: $help:literal;)*) => {
        /// Counters. Those of the engine count what has no connection too.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        #[non_exhaustive]
        pub struct Counters {
            $(#[doc = $help] pub $name: u64,)*
        }

        impl Counters {
            /// All counters with their names.
            pub fn iter(&self) -> impl Iterator<Item = (&'static str, u64)> + use<> {
                [$((stringify!($name), self.$name)),*].into_iter()
            }

            /// The counters that the Megaco MIB has, with their names there.
            pub const fn of_mib(&self) -> [(&'static str, u64); 6] {
                [
                    ("NumInMessages", self.in_messages),
                    ("NumInOctets", self.in_octets),
                    ("NumOutMessages", self.out_messages),
                    ("NumOutOctets", self.out_octets),
                    ("NumErrors", self.errors),
                    ("NumTimerRecovery", self.timer_recovery),
                ]
            }

            /// Adds the counters of another one.
            pub const fn merge(&mut self, other: &Self) {
                $(self.$name += other.$name;)*
            }

            /// What each counter counts, by its name.
            pub const HELP: &'static [(&'static str, &'static str)] = &[$((stringify!($name), $help)),*];
        }
    };
}

counters! {
    in_messages: "Messages received (NumInMessages)";
    in_octets: "Bytes received (NumInOctets)";
    out_messages: "Messages sent (NumOutMessages)";
    out_octets: "Bytes sent (NumOutOctets)";
    errors: "Messages received that are faulty (NumErrors)";
    timer_recovery: "Requests and replies sent again because of a timer (NumTimerRecovery)";
    requests_sent: "Requests sent, each once";
    requests_received: "Requests received, each once";
    results_ok: "Requests that ended with a reply";
    results_failed: "Requests that ended otherwise";
    replies_sent: "Replies sent, each once";
    replies_resent: "Replies sent again to a repeated request";
    duplicates: "Requests received again";
    pendings_sent: "Pendings sent";
    pendings_received: "Pendings received";
    acks_sent: "Acknowledged replies";
    acks_received: "Acknowledgements received of replies that were remembered";
    segments_sent: "Segments sent, each once";
    segments_received: "Segments received, each once";
    unexpected: "Replies, Pendings and acknowledgements of nothing that is known";
    aborted: "Requests aborted by the limit of Pendings or of execution";
    dropped: "Requests dropped: a limit was reached, or the connection is not accepted yet";
    message_errors_sent: "Errors of whole messages sent";
    message_errors_received: "Errors of whole messages received";
    send_failures: "Messages that the transport did not take";
}
