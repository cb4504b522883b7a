//! Keep-alive of TCP: whether the other end of a connection without traffic is still there.

use std::time::Duration;

use socket2::{SockRef, TcpKeepalive};
use tokio::net::TcpStream;

use crate::error::{Error, ErrorKind, Result};

/// When a connection on which nothing happens is probed; whoever stands between keeps it open then, and its end is noticed
/// though nothing is sent. `None` leaves a number to the operating system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct KeepAlive {
    /// The time without traffic before the first probe; whole seconds, at least one.
    pub idle: Option<Duration>,
    /// The time between probes that nobody answers; whole seconds, at least one.
    pub interval: Option<Duration>,
    /// Probes without an answer that end the connection.
    pub probes: Option<u32>,
}

impl Default for KeepAlive {
    /// After a minute, four times, every 15 s: two minutes until the end.
    fn default() -> Self {
        Self::after(Duration::from_secs(60)).with_interval(Duration::from_secs(15)).with_probes(4)
    }
}

impl KeepAlive {
    /// What the operating system does.
    pub const SYSTEM: Self = Self { idle: None, interval: None, probes: None };

    /// Probes after this time, the rest as the operating system does.
    ///
    /// ```
    /// # fn main() -> tercet_ldap::Result<()> {
    /// use std::time::Duration;
    /// use tercet_ldap::{Config, KeepAlive};
    ///
    /// let mut config = Config::new("ldaps://ldap.example.net")?;
    /// config.keep_alive = Some(KeepAlive::after(Duration::from_secs(300)).with_probes(3));
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub const fn after(idle: Duration) -> Self {
        Self { idle: Some(idle), ..Self::SYSTEM }
    }

    /// The same with this time between probes.
    #[must_use]
    pub const fn with_interval(self, interval: Duration) -> Self {
        Self { interval: Some(interval), ..self }
    }

    /// The same with this number of probes.
    #[must_use]
    pub const fn with_probes(self, probes: u32) -> Self {
        Self { probes: Some(probes), ..self }
    }

    /// Asks the operating system for it.
    pub(super) fn apply(self, stream: &TcpStream) -> Result<()> {
        let refused = |error| Error::new(ErrorKind::Usage, format!("{self:?}: {error}"));
        let socket = SockRef::from(stream);
        socket.set_keepalive(true).map_err(refused)?;
        if self == Self::SYSTEM {
            return Ok(());
        }
        socket.set_tcp_keepalive(&self.settings()).map_err(refused)
    }

    fn settings(self) -> TcpKeepalive {
        let mut settings = TcpKeepalive::new();
        if let Some(idle) = self.idle {
            settings = settings.with_time(at_least_a_second(idle));
        }
        // Other systems have no such numbers for each connection.
        #[cfg(any(
            target_os = "linux",
            target_os = "android",
            target_os = "macos",
            target_os = "freebsd",
            windows
        ))]
        {
            if let Some(interval) = self.interval {
                settings = settings.with_interval(at_least_a_second(interval));
            }
            if let Some(probes) = self.probes {
                settings = settings.with_retries(probes);
            }
        }
        settings
    }
}

/// Parts of a second are cut by the operating system, which takes no zero.
fn at_least_a_second(time: Duration) -> Duration {
    time.max(Duration::from_secs(1))
}
