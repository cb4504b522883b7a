//! How much an engine remembers, and how long replies take.

use std::time::Duration;

macro_rules! gauges {
    ($($name:ident, $long:literal: $help:literal;)*) => {
        /// How much an engine remembers.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        #[non_exhaustive]
        pub struct Gauges {
            $(#[doc = concat!($help, ".")] pub $name: usize,)*
        }

        impl Gauges {
            /// All gauges: a name, what it measures, and its value.
            pub fn iter(&self) -> impl Iterator<Item = (&'static str, &'static str, usize)> + use<> {
                [$(($long, $help, self.$name)),*].into_iter()
            }

            /// Adds those of another engine.
            pub const fn merge(&mut self, other: &Self) {
                $(self.$name += other.$name;)*
            }
        }
    };
}

gauges! {
    connections, "live_connections":
        "Connections, with those that have ended but are remembered because of their transactions";
    requests, "live_requests": "Requests of ours that wait";
    replies, "live_replies": "Requests of peers that are executed or remembered";
    reply_octets, "live_reply_bytes": "Bytes of the replies that are remembered";
    timers, "live_timers": "Timers that run";
}

/// Upper limits of the buckets, in milliseconds.
const LIMITS: [u64; 14] = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 30_000];

/// How long requests of ours took from their first sending to their reply.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Latencies {
    buckets: [u64; LIMITS.len() + 1],
    sum: Duration,
}

impl Latencies {
    pub(super) fn add(&mut self, latency: Duration) {
        let place = LIMITS.partition_point(|&limit| Duration::from_millis(limit) < latency);
        self.buckets[place] += 1;
        self.sum = self.sum.saturating_add(latency);
    }

    /// Adds those of another engine.
    pub fn merge(&mut self, other: &Self) {
        for (count, more) in self.buckets.iter_mut().zip(other.buckets) {
            *count += more;
        }
        self.sum = self.sum.saturating_add(other.sum);
    }

    /// Returns the upper limit of each bucket and how many replies are in it; the last one has no limit.
    pub fn buckets(&self) -> impl Iterator<Item = (Option<Duration>, u64)> + '_ {
        let limits = LIMITS.iter().map(|&limit| Some(Duration::from_millis(limit))).chain([None]);
        limits.zip(self.buckets.iter().copied())
    }

    /// Returns the sum of all.
    pub const fn sum(&self) -> Duration {
        self.sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn latencies_are_counted_in_their_bucket() {
        let mut latencies = Latencies::default();
        for millis in [0, 1, 2, 3, 40_000] {
            latencies.add(Duration::from_millis(millis));
        }
        let counts: Vec<u64> = latencies.buckets().map(|bucket| bucket.1).collect();
        assert_eq!(counts, [2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
        assert_eq!(latencies.sum(), Duration::from_millis(40_006));
    }
}
