//! Several threads for one input: the reader's thread cuts the stream and writes the rows, others decode and render. It
//! does so too while it would wait, if batches are small.
//!
//! Records go to the threads in batches, their rows come back in order. Where a batch turns out to hold a record that
//! does not decode, it and all behind it count as not read: the reader goes back to its begin, and the converter goes on
//! one record after the other, as it does with one thread. So damage has one way to be dealt with, and the rows do not
//! depend on the number of threads.

use crate::balance::Balance;
use crate::control_totals::Totals;
use crate::convert::{Converter, Stopped, Summary, Targets};
use crate::dedupe::Dedupe;
use crate::figures::Figures;
use crate::framing::{Item, Mark, Part, RecordFormat, RecordReader};
use crate::rows::{Rows, Tally};
use crate::run::Run;
use crate::writer::{MakeWriter, Origin, RowWriter, WrittenPart};
use std::collections::VecDeque;
use std::io::{self, Read};
use std::ops::{ControlFlow, Range, RangeInclusive};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, Scope};

/// Batches for each thread that the reader is ahead of the writer, if they are small.
const AHEAD: usize = 4;
/// Octets of batches for each thread that it is ahead otherwise, but for one batch.
const AHEAD_OCTETS: usize = 1 << 22;
/// The part of what has been read already that a batch may have: of long inputs, batches are large and not so many.
const SHARE: u64 = 8;

/// The threads that a converter may use.
pub(crate) struct Workers<'p> {
    pub(crate) count: usize,
    /// Octets of a batch, in short inputs and in long ones.
    pub(crate) batch: RangeInclusive<usize>,
    pub(crate) make: MakeWriter<'p>,
}

impl std::fmt::Debug for Workers<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Workers").field("count", &self.count).finish_non_exhaustive()
    }
}

impl Workers<'_> {
    /// Octets of a batch behind so many of the input.
    fn batch(&self, read: u64) -> usize {
        let wanted = usize::try_from(read / SHARE).unwrap_or(usize::MAX);
        wanted.clamp(*self.batch.start(), *self.batch.end())
    }

    /// Batches that may be under way.
    fn most(&self) -> usize {
        self.count * (AHEAD_OCTETS / self.batch.end()).clamp(1, AHEAD)
    }

    /// Whether a batch takes so little time that the threads have enough others meanwhile.
    fn are_small(&self) -> bool {
        self.count * AHEAD == self.most()
    }
}

/// A record of a batch.
struct Place {
    /// Where it is in the batch.
    range: Range<usize>,
    /// Where it is in the file.
    offset: u64,
    format: RecordFormat,
}

/// Records that follow on each other, with filler and what framing passes over between them.
struct Batch {
    mark: Mark,
    /// The number of its first record.
    first: u64,
    octets: Vec<u8>,
    /// Where its records are, here and in the file.
    records: Vec<Place>,
    balance: Balance,
}

impl Batch {
    fn new(mark: Mark, first: u64, spare: &mut Spare) -> Self {
        let (octets, records) = spare.inputs.pop().unwrap_or_default();
        Self { mark, first, octets, records, balance: Balance::default() }
    }

    fn add(&mut self, item: &Item<'_>) {
        let begin = self.octets.len();
        self.octets.extend_from_slice(item.octets);
        self.balance.add(item.part, item.octets.len());
        if let Some(format) = item.part.record() {
            self.records.push(Place { range: begin..self.octets.len(), offset: item.offset, format });
        }
    }
}

/// The memory of batches that are done with, for others: fresh memory has to be cleared by the system, page by page.
#[derive(Default)]
struct Spare {
    inputs: Vec<(Vec<u8>, Vec<Place>)>,
    rows: Vec<Vec<u8>>,
}

impl Spare {
    fn keep(&mut self, batch: Arc<Batch>, mut rows: Vec<u8>) {
        // A thread may not have let go of it yet.
        if let Some(Batch { mut octets, mut records, .. }) = Arc::into_inner(batch) {
            octets.clear();
            records.clear();
            self.inputs.push((octets, records));
        }
        rows.clear();
        self.rows.push(rows);
    }
}

/// What has become of a batch.
#[derive(Default)]
struct Done {
    rows: Vec<u8>,
    /// Rows that the renderer gives in another form.
    part: Option<WrittenPart>,
    tally: Tally,
    totals: Option<Totals>,
    figures: Figures,
    /// Whether all records have decoded.
    whole: bool,
}

/// Sends what has become of a batch, if it were that its thread ended.
struct Answer<'a> {
    to: &'a Sender<(usize, Done)>,
    number: usize,
    done: Done,
}

impl Drop for Answer<'_> {
    fn drop(&mut self) {
        // Nobody listens any more once a batch before this one has failed.
        _ = self.to.send((self.number, std::mem::take(&mut self.done)));
    }
}

/// A batch with its number and memory for its rows.
type Work = (usize, Arc<Batch>, Vec<u8>);

/// What a thread decodes and renders with.
struct Worker<'p> {
    name: &'p str,
    rows: Rows<'p>,
    render: Box<dyn RowWriter + Send + 'p>,
}

impl Worker<'_> {
    fn work(&mut self, number: usize, batch: &Batch, done: &mut Done) {
        let Some(repeated) = self.repeated(number, batch) else { return };
        let Self { name, rows, render } = self;
        done.tally = rows.tally();
        _ = rows.take_totals();
        _ = rows.steps.figures.take();
        for (index, &Place { ref range, offset, format }) in (batch.first..).zip(&batch.records) {
            let octets = &batch.octets[range.clone()];
            rows.repeated = repeated.get((index - batch.first) as usize).copied();
            let origin = Origin { input: name, index, offset, octets, elements: &[] };
            let mut record = |rows: &mut Rows<'_>| {
                rows.record(octets, origin, &mut **render, &mut done.rows, &mut done.tally)
            };
            let error = match format {
                RecordFormat::Ber => record(rows),
                _ => rows.by(format, offset, record),
            };
            if error.is_err() {
                return;
            }
        }
        let Ok(part) = render.part() else { return };
        done.part = part;
        done.totals = rows.take_totals();
        done.figures = rows.steps.figures.take();
        done.whole = true;
    }

    /// Which records of a batch have been there before, if that is asked: all are known before the first becomes rows, as those
    /// of the next batch wait for it. Nothing if a record does not decode.
    fn repeated(&mut self, number: usize, batch: &Batch) -> Option<Vec<bool>> {
        let Some(dedupe) = &self.rows.steps.dedupe else { return Some(Vec::new()) };
        let turn = dedupe.turn(number);
        let mut digests = Vec::with_capacity(batch.records.len());
        for &Place { ref range, offset, format } in &batch.records {
            let octets = &batch.octets[range.clone()];
            digests.push(self.rows.by(format, offset, |rows| rows.digest(octets, offset)).ok()?);
        }
        Some(turn.take(&digests))
    }
}

/// Threads at work, and the batches that they have.
struct Pool<'p> {
    batches: SyncSender<Work>,
    waiting: Arc<Mutex<Receiver<Work>>>,
    done: Receiver<(usize, Done)>,
    /// Batches whose rows are not written yet, the first of them with this number.
    under_way: VecDeque<(Arc<Batch>, Option<Done>)>,
    first: usize,
    most: usize,
    spare: Spare,
    /// What the reader's thread works with, if batches are small.
    own: Option<Worker<'p>>,
}

impl<'p> Pool<'p> {
    fn start(scope: &'p Scope<'p, '_>, workers: &'p Workers<'_>, rows: &Rows<'p>, name: &'p str) -> Self {
        let most = workers.most();
        let (batches, waiting) = sync_channel::<Work>(most);
        let waiting = Arc::new(Mutex::new(waiting));
        let (answers, done) = channel();
        let worker = || Worker { name, rows: rows.fork(), render: (workers.make)() };
        let own = workers.are_small().then(worker);
        for _ in usize::from(own.is_some())..workers.count {
            let (waiting, answers, mut worker) = (Arc::clone(&waiting), answers.clone(), worker());
            scope.spawn(move || {
                loop {
                    let next = waiting.lock().unwrap_or_else(PoisonError::into_inner).recv();
                    let Ok((number, batch, memory)) = next else { return };
                    let done = Done { rows: memory, ..Done::default() };
                    let mut answer = Answer { to: &answers, number, done };
                    worker.work(number, &batch, &mut answer.done);
                }
            });
        }
        Self {
            batches,
            waiting,
            done,
            under_way: VecDeque::new(),
            first: 0,
            most,
            spare: Spare::default(),
            own,
        }
    }

    fn give(&mut self, batch: Batch) {
        let batch = Arc::new(batch);
        let number = self.first + self.under_way.len();
        self.under_way.push_back((Arc::clone(&batch), None));
        // The threads live as long as the pool; if all had panicked, the batches would be failed ones.
        _ = self.batches.send((number, batch, self.spare.rows.pop().unwrap_or_default()));
    }

    /// The next batch in order, once it is done; nothing if none is under way.
    fn next(&mut self) -> Option<(Arc<Batch>, Done)> {
        while self.under_way.front()?.1.is_none() {
            let answer = self.done.try_recv().ok().or_else(|| self.work()).or_else(|| self.done.recv().ok());
            let Some((number, done)) = answer else { break };
            if let Some(place) = self.under_way.get_mut(number - self.first) {
                place.1 = Some(done);
            }
        }
        let (batch, done) = self.under_way.pop_front()?;
        self.first += 1;
        Some((batch, done.unwrap_or_default()))
    }

    /// Takes a batch that no thread has begun with. (MSC to CSV on two processors: 1.92 times as
    /// fast as on one, 1.72 where the reader waits; 60 waits in place of 3,300 in 200 MB.)
    fn work(&mut self) -> Option<(usize, Done)> {
        let own = self.own.as_mut()?;
        // A thread that waits has the lock, and there is nothing to take.
        let (number, batch, memory) = self.waiting.try_lock().ok()?.try_recv().ok()?;
        let mut done = Done { rows: memory, ..Done::default() };
        own.work(number, &batch, &mut done);
        Some((number, done))
    }
}

impl Converter<'_> {
    /// Goes on with several threads, as far as there are only records, filler and what framing passes over; the first other
    /// item is dealt with too.
    pub(crate) fn ahead<R: Read>(
        &mut self,
        run: &mut Run<'_>,
        reader: &mut RecordReader<R>,
        is_record: &mut dyn FnMut(&[u8]) -> bool,
        targets: &mut Targets<'_>,
        progress: &mut dyn FnMut(&Summary) -> ControlFlow<()>,
    ) -> io::Result<()> {
        let Some(workers) = self.workers.take() else { return Ok(()) };
        let settings = self.settings.clone();
        let name = run.name;
        reader.hold(true);
        self.rows.steps.dedupe.iter().for_each(Dedupe::begin_turns);
        let done = thread::scope(|scope| {
            let mut pool = Pool::start(scope, &workers, &self.rows, name);
            let mut index = self.index(run.summary.records);
            let mut batch = Batch::new(reader.mark(), index, &mut pool.spare);
            let mut read = run.summary.balance.read;
            let mut enough = workers.batch(read);
            loop {
                let item = reader.next(is_record)?;
                let plain = item.as_ref().filter(|item| {
                    item.part.record().is_some() || matches!(item.part, Part::Filler | Part::Opaque)
                });
                if let Some(item) = plain {
                    batch.add(item);
                    index += u64::from(item.part.record().is_some());
                    if batch.octets.len() < enough {
                        continue;
                    }
                }
                let last = plain.is_none();
                read += batch.octets.len() as u64;
                enough = workers.batch(read);
                // What is under way is waited for behind the last batch, else only as much as there is too much of.
                pool.give(batch);
                while pool.under_way.len() > if last { 0 } else { pool.most } {
                    if let Some(failed) = self.accept(&mut pool, run, targets)? {
                        reader.go_back(failed.0, &failed.1, last);
                        return Ok(());
                    }
                    run.progress(&settings, progress);
                    if self.is_stopped() {
                        run.summary.stopped = Some(Stopped::Caller);
                    }
                    if run.summary.stopped.is_some() {
                        return Ok(());
                    }
                }
                if last {
                    let Some(item) = item else { return Ok(()) };
                    if !self.step(run, &item, targets)? {
                        reader.reject();
                    }
                    return Ok(());
                }
                if let Some((oldest, _)) = pool.under_way.front() {
                    reader.release(&oldest.mark);
                }
                batch = Batch::new(reader.mark(), index, &mut pool.spare);
            }
        });
        reader.hold(false);
        self.rows.steps.dedupe.iter().for_each(Dedupe::end_turns);
        self.workers = Some(workers);
        done
    }

    /// Writes the rows of the next batch. If it has failed: where it begins, and what has been read since.
    fn accept(
        &mut self,
        pool: &mut Pool,
        run: &mut Run<'_>,
        targets: &mut Targets<'_>,
    ) -> io::Result<Option<(Mark, Vec<u8>)>> {
        let Some((batch, mut done)) = pool.next() else { return Ok(None) };
        if !done.whole {
            let mut octets = batch.octets.clone();
            for (later, _) in &pool.under_way {
                octets.extend_from_slice(&later.octets);
            }
            return Ok(Some((batch.mark.clone(), octets)));
        }
        self.rows.steps.dedupe.iter().for_each(Dedupe::accept);
        run.summary.records += batch.records.len() as u64;
        run.summary.balance.merge(&batch.balance);
        run.tally.merge(&done.tally);
        if let (Some(control_totals), Some(totals)) = (&mut self.rows.steps.control_totals, &done.totals) {
            control_totals.merge(totals);
        }
        self.rows.steps.figures.merge(&done.figures);
        if let Some(part) = done.part.take() {
            targets.render.join(part, &mut done.rows)?;
        }
        run.flush(&mut done.rows, targets)?;
        pool.spare.keep(batch, done.rows);
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_grow_with_the_input_and_those_under_way_do_not() {
        struct Nothing;
        impl RowWriter for Nothing {
            fn record(
                &mut self,
                _: tercet_dynamic::View<'_>,
                _: &Origin<'_>,
                _: &mut Vec<u8>,
            ) -> Result<(), tercet_dynamic::Error> {
                Ok(())
            }
        }
        let workers = |batch| Workers { count: 2, batch, make: Box::new(|| Box::new(Nothing)) };
        let columns = workers(4 << 20..=32 << 20);
        for (read, megabytes) in [(0, 4), (32, 4), (64, 8), (256, 32), (10_000, 32)] {
            assert_eq!(columns.batch(read << 20), megabytes << 20, "{read}");
        }
        assert_eq!(columns.most(), 2);
        let text = workers(1 << 18..=1 << 18);
        assert_eq!((text.batch(0), text.batch(u64::MAX), text.most()), (1 << 18, 1 << 18, 8));
    }
}
