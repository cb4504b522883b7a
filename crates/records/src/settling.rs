//! A thread that brings a file to the disk while it is being written.

use std::fs::File;
use std::io;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

/// Octets after which the disk is given what there is.
const STRETCH: usize = 64 << 20;

/// Brings the octets of a file to the disk, a stretch at a time, so that little is left to wait for at its end, and memory
/// is not filled with what has not been written yet.
#[derive(Debug, Default)]
pub(crate) struct Settling {
    /// Octets since the last stretch.
    fresh: usize,
    thread: Option<(SyncSender<()>, JoinHandle<io::Result<()>>)>,
}

impl Settling {
    /// Takes note of octets that have been written.
    pub(crate) fn written(&mut self, file: &File, count: usize) {
        self.fresh += count;
        if self.fresh < STRETCH {
            return;
        }
        self.fresh = 0;
        if self.thread.is_none() {
            // Where there are too many files or threads already, all is left to the end.
            self.thread = file.try_clone().and_then(start).ok();
        }
        if let Some((ask, _)) = &self.thread {
            // If it is still at an earlier stretch, the next takes this one along.
            _ = ask.try_send(());
        }
    }

    /// Waits for the stretch at hand.
    ///
    /// # Errors
    /// When octets did not reach the disk, which the system says once: whoever asks later is told nothing.
    pub(crate) fn end(&mut self) -> io::Result<()> {
        let Some((ask, thread)) = self.thread.take() else { return Ok(()) };
        drop(ask);
        thread
            .join()
            .unwrap_or_else(|_| Err(io::Error::other("the thread that writes to the disk has ended")))
    }
}

fn start(file: File) -> io::Result<(SyncSender<()>, JoinHandle<io::Result<()>>)> {
    let (ask, asked) = sync_channel(1);
    let settle = move || asked.iter().try_for_each(|()| file.sync_data());
    let thread = thread::Builder::new().name("settling".to_owned()).spawn(settle)?;
    Ok((ask, thread))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stretches_are_brought_to_the_disk_and_faults_are_told() -> io::Result<()> {
        let file = tempfile::tempfile()?;
        let mut settling = Settling::default();
        settling.written(&file, STRETCH - 1);
        assert!(settling.thread.is_none());
        settling.written(&file, 1);
        settling.written(&file, STRETCH);
        assert!(settling.thread.is_some());
        settling.end()?;
        settling.end()
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn what_the_disk_refuses_is_told_at_the_end() -> io::Result<()> {
        // Nothing can be brought to a disk of a pipe.
        let (_, writer) = io::pipe()?;
        let file = File::from(std::os::fd::OwnedFd::from(writer));
        let mut settling = Settling::default();
        settling.written(&file, STRETCH);
        assert!(settling.end().is_err());
        Ok(())
    }
}
