//! Ctrl-C and the signal to terminate: outputs in the making are removed or completed, never left behind.

use crate::exit::{Exit, Outcome};
use clap::ValueEnum;
use serde::{Deserialize, Serialize};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;
use std::process;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// What becomes of outputs when a signal says to stop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OnInterrupt {
    /// Remove those that are not complete
    #[default]
    Remove,
    /// Complete them with the records so far; a second signal removes them
    Finish,
}

/// Time that a run has to reach the next record; one that waits for its input never does.
const GRACE: Duration = Duration::from_millis(500);

/// How often the signals that came are looked at.
const TICK: Duration = Duration::from_millis(100);

/// Begins to listen; the flag is set by the first signal, the second ends the process at once.
///
/// A hangup is left alone, so that `nohup` goes on to mean what it says.
pub fn listen(policy: OnInterrupt) -> Outcome<Arc<AtomicBool>> {
    let (heard, fresh) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
    for signal in [SIGINT, SIGTERM] {
        for flag in [&heard, &fresh] {
            flag::register(signal, Arc::clone(flag))?;
        }
    }
    thread::spawn(move || {
        let mut since = None;
        loop {
            thread::sleep(TICK);
            let again = fresh.swap(false, Ordering::SeqCst);
            match since {
                None if again => since = Some(Instant::now()),
                Some(_) if again => leave(),
                Some(first) if policy == OnInterrupt::Remove && first.elapsed() > GRACE => leave(),
                _ => {}
            }
        }
    });
    Ok(heard)
}

/// Removes what is not complete and ends the process.
fn leave() -> ! {
    tercet::records::abandon();
    process::exit(i32::from(Exit::Interrupted as u8))
}
