//! Messages in batches on several threads. What they become comes back in the order of the capture.

use super::reading::{Consumer, Message, ReadingArgs, decode};
use crate::exit::{Failure, Outcome};
use crate::term;
use std::collections::VecDeque;
use std::ops::RangeInclusive;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Scope;
use tercet::captures::{Decoder, Signalled, Signalling};
use tercet::records::WrittenPart;
use tercet_capture::{Batch, Pdu};

/// The most messages of a batch.
const MESSAGES: usize = 1 << 12;
/// Batches for each thread that the reader is ahead of the writer.
const AHEAD: usize = 2;
/// The part of what has been read that a batch may have: those of long captures are large, where the format asks for it.
const SHARE: usize = 8;

/// What messages have become.
#[derive(Default)]
pub(super) struct Made {
    /// Text, or octets of another format.
    pub(super) out: Vec<u8>,
    /// Rows that a format keeps until its end.
    pub(super) part: Option<WrittenPart>,
    /// Warnings about messages.
    pub(super) warnings: Vec<String>,
    /// The number of rows.
    pub(super) count: u64,
}

/// Makes text or rows of messages, on a thread.
pub(super) trait Render: Send {
    /// Appends what a message becomes.
    fn message(&mut self, message: Message<'_>, made: &mut Made) -> Outcome<()>;

    /// Takes the rows that it keeps.
    fn part(&mut self) -> Outcome<Option<WrittenPart>> {
        Ok(None)
    }
}

/// How messages are rendered, and where what they become goes.
pub(super) struct Rendering<'r> {
    /// The most threads that decode.
    pub(super) jobs: usize,
    /// Octets of messages of a batch, in short captures and in long ones.
    pub(super) batch: RangeInclusive<usize>,
    /// Makes what a thread renders with.
    pub(super) make: &'r (dyn Fn() -> Box<dyn Render + 'r> + Sync),
    /// Takes what a batch has become.
    pub(super) take: &'r mut dyn FnMut(&mut Made) -> Outcome<()>,
}

/// Messages with the name of their file, and what is to be reported after them.
#[derive(Default)]
struct Work {
    batch: Batch,
    file: Option<String>,
    faults: Vec<String>,
}

/// What has become of a batch.
struct Done {
    work: Work,
    made: Made,
    notices: Vec<String>,
    undecoded: u64,
    outcome: Outcome<()>,
}

/// What a thread works with.
struct Worker<'s> {
    arguments: &'s ReadingArgs,
    decoder: Option<Decoder>,
    render: Box<dyn Render + 's>,
}

impl Worker<'_> {
    /// Decodes and renders a batch.
    fn work(&mut self, work: &Work, done: &mut Done) {
        let Self { arguments, decoder, render } = self;
        let Done { made, undecoded, outcome, .. } = done;
        for pdu in work.batch.pdus() {
            let mut act = |message: Message<'_>| render.message(message, made);
            let read =
                decode(arguments, decoder.as_mut(), &pdu, work.file.as_deref(), true, undecoded, &mut act);
            if let Err(failure) = read {
                *outcome = Err(failure);
                return;
            }
        }
        match render.part() {
            Ok(part) => made.part = part,
            Err(failure) => *outcome = Err(failure),
        }
        done.notices = decoder.as_mut().map(Decoder::take_notices).unwrap_or_default();
    }

    fn done(&mut self, work: Work, made: Made) -> Done {
        let mut done =
            Done { work: Work::default(), made, notices: Vec::new(), undecoded: 0, outcome: Ok(()) };
        self.work(&work, &mut done);
        done.work = work;
        done
    }
}

/// Sends what has become of a batch; a failure if its thread has ended before.
struct Answer<'a> {
    to: &'a Sender<(usize, Done)>,
    number: usize,
    done: Option<Done>,
}

impl Drop for Answer<'_> {
    fn drop(&mut self) {
        let failed = || Done {
            work: Work::default(),
            made: Made::default(),
            notices: Vec::new(),
            undecoded: 0,
            outcome: Err(Failure::input("a thread that decodes messages has ended")),
        };
        // The reader has gone after a failure.
        _ = self.to.send((self.number, self.done.take().unwrap_or_else(failed)));
    }
}

/// Threads, and the batches that they have.
struct Threads {
    batches: SyncSender<(usize, Work, Made)>,
    done: Receiver<(usize, Done)>,
}

/// Collects messages into batches and gives them to threads.
pub(super) struct Pool<'s, 'e, 'r> {
    scope: &'s Scope<'s, 'e>,
    arguments: &'s ReadingArgs,
    rendering: Rendering<'r>,
    /// Decodes signalling while the capture is read; the threads' decoders are its forks.
    decoder: Option<Decoder>,
    threads: Option<Threads>,
    own: Worker<'s>,
    work: Work,
    /// What has become of the batches that are not written yet, the first of them with this number.
    under_way: VecDeque<Option<Done>>,
    first: usize,
    /// Octets of messages so far.
    read: usize,
    undecoded: u64,
    spare: Vec<(Work, Made)>,
}

impl<'s, 'e, 'r: 's> Pool<'s, 'e, 'r> {
    pub(super) fn new(
        scope: &'s Scope<'s, 'e>,
        arguments: &'s ReadingArgs,
        decoder: Option<Decoder>,
        rendering: Rendering<'r>,
    ) -> Self {
        let own =
            Worker { arguments, decoder: decoder.as_ref().map(Decoder::fork), render: (rendering.make)() };
        Self {
            scope,
            arguments,
            rendering,
            decoder,
            threads: None,
            own,
            work: Work::default(),
            under_way: VecDeque::new(),
            first: 0,
            read: 0,
            undecoded: 0,
            spare: Vec::new(),
        }
    }

    /// Starts the threads: captures of one batch do without.
    fn start(&mut self) -> &Threads {
        let (scope, arguments, jobs) = (self.scope, self.arguments, self.rendering.jobs);
        let (decoder, make) = (&self.decoder, self.rendering.make);
        self.threads.get_or_insert_with(|| {
            let (batches, waiting) = sync_channel::<(usize, Work, Made)>(jobs * AHEAD);
            let waiting = Arc::new(Mutex::new(waiting));
            let (answers, done) = channel();
            for _ in 0..jobs {
                let (waiting, answers) = (Arc::clone(&waiting), answers.clone());
                let decoder = decoder.as_ref().map(Decoder::fork);
                let mut worker = Worker { arguments, decoder, render: make() };
                scope.spawn(move || {
                    loop {
                        let next = waiting.lock().unwrap_or_else(PoisonError::into_inner).recv();
                        let Ok((number, work, made)) = next else { return };
                        let mut answer = Answer { to: &answers, number, done: None };
                        answer.done = Some(worker.done(work, made));
                    }
                });
            }
            Threads { batches, done }
        })
    }

    /// Gives the batch at hand away; the last one of a file is decoded here if there is no other.
    fn give(&mut self, is_last: bool) -> Outcome<()> {
        let (spare, made) = self.spare.pop().unwrap_or_default();
        let work = std::mem::replace(&mut self.work, spare);
        let is_alone = is_last && self.under_way.is_empty() && self.threads.is_none();
        if self.rendering.jobs <= 1 || is_alone {
            let done = self.own.done(work, made);
            return self.take(done);
        }
        let number = self.first + self.under_way.len();
        self.under_way.push_back(None);
        let sent = self.start().batches.send((number, work, made));
        sent.map_err(|_| Failure::input("the threads that decode messages have ended"))?;
        let most = self.rendering.jobs * AHEAD;
        while self.under_way.len() > most {
            self.wait()?;
        }
        Ok(())
    }

    /// Takes what the first batch under way has become, and waits for it.
    fn wait(&mut self) -> Outcome<()> {
        while matches!(self.under_way.front(), Some(None))
            && let Some(threads) = &self.threads
        {
            let (number, done) = threads
                .done
                .recv()
                .map_err(|_| Failure::input("the threads that decode messages have ended"))?;
            self.under_way[number - self.first] = Some(done);
        }
        let Some(Some(done)) = self.under_way.pop_front() else { return Ok(()) };
        self.first += 1;
        self.take(done)
    }

    /// Reports what has become of a batch and hands it on.
    fn take(&mut self, done: Done) -> Outcome<()> {
        let Done { mut work, mut made, notices, undecoded, outcome } = done;
        super::reading::say_notices(notices);
        made.warnings.drain(..).for_each(term::warning);
        self.undecoded += undecoded;
        (self.rendering.take)(&mut made)?;
        work.faults.drain(..).for_each(term::warning);
        work.batch.clear();
        made.out.clear();
        self.spare.push((work, Made { out: made.out, ..Made::default() }));
        outcome
    }
}

impl<'r: 's, 's> Consumer for Pool<'s, '_, 'r> {
    fn decodes(&self) -> bool {
        self.decoder.is_some()
    }

    fn pdu(&mut self, pdu: &Pdu<'_>, file: Option<&str>, is_wanted: bool) -> Outcome<Vec<Signalled>> {
        // What signalling announces has to be known before the next packet.
        let mut sockets = Vec::new();
        if Signalling::is_of(pdu.protocol)
            && let Some(decoder) = &mut self.decoder
        {
            sockets = decoder.decode(pdu).sockets;
        }
        if is_wanted {
            if self.work.batch.is_empty() {
                self.work.file = file.map(str::to_owned);
            }
            self.work.batch.add(pdu);
            self.read += pdu.octets.len();
            let (least, most) = self.rendering.batch.clone().into_inner();
            let enough = (self.read / SHARE).clamp(least, most);
            if self.work.batch.octets() >= enough
                || self.work.batch.len() >= MESSAGES.max(MESSAGES * (most >> 20))
            {
                self.give(false)?;
            }
        }
        Ok(sockets)
    }

    fn fault(&mut self, text: String) {
        // Reported after the messages before it.
        if self.work.batch.is_empty() && self.under_way.is_empty() {
            term::warning(text);
        } else {
            self.work.faults.push(text);
        }
    }

    fn finish(&mut self) -> Outcome<u64> {
        if !self.work.batch.is_empty() || !self.work.faults.is_empty() {
            self.give(true)?;
        }
        while !self.under_way.is_empty() {
            self.wait()?;
        }
        // What only signalling has asked for.
        if let Some(decoder) = &mut self.decoder {
            super::reading::say_notices(decoder.take_notices());
        }
        Ok(std::mem::take(&mut self.undecoded))
    }

    fn is_done(&self) -> bool {
        false
    }
}
