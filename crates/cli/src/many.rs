//! Many inputs to one output on several threads: each takes some that follow on each other, what they make is put together
//! in the order of the inputs.

use crate::exit::{Failure, Outcome};
use crate::inputs::Input;
use crate::run::{Converted, Run};
use std::cell::Cell;
use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::mpsc::{channel, sync_channel};
use std::thread;
use tercet::records::{Converter, RejectFile, Targets, WrittenPart};

/// Chunks for each thread that are begun before the first of them is written.
const AHEAD: usize = 4;
/// Inputs of a chunk.
const INPUTS: usize = 256;
/// Octets that inputs of a chunk have together at least, where there are as many: a renderer is made for each chunk.
pub const OCTETS: usize = 1 << 18;
/// Octets of the inputs of a chunk, unpacked, beyond which they are no small ones after all.
const MOST: u64 = 64 << 20;

/// Inputs that follow on each other.
pub struct Chunk<'i> {
    inputs: &'i [Input],
    /// Whether they are small enough that what they make is kept in memory.
    small: bool,
}

/// What has become of a chunk.
#[derive(Default)]
struct Done {
    rows: Vec<u8>,
    part: Option<WrittenPart>,
    header: Vec<u8>,
    rejects: Option<RejectFile>,
    /// Lines of the list of marked values.
    marks: Vec<u8>,
    converted: Vec<Converted>,
    failure: Option<Failure>,
    /// Whether it has turned out to be too large to be kept.
    too_large: bool,
}

/// Chunks of about so many octets; a larger input, and one whose size is not known, is one of its own.
pub fn chunks(inputs: &[Input], octets: u64) -> Vec<Chunk<'_>> {
    let mut chunks = Vec::new();
    let (mut begin, mut sum) = (0, 0);
    for (index, input) in inputs.iter().enumerate() {
        let size = input.size().filter(|size| *size <= octets);
        let full = index - begin == INPUTS || size.is_none_or(|size| sum + size > octets);
        if full && begin < index {
            chunks.push(Chunk { inputs: &inputs[begin..index], small: true });
            (begin, sum) = (index, 0);
        }
        match size {
            Some(size) => sum += size,
            None => {
                chunks.push(Chunk { inputs: &inputs[index..=index], small: false });
                begin = index + 1;
            }
        }
    }
    if begin < inputs.len() {
        chunks.push(Chunk { inputs: &inputs[begin..], small: true });
    }
    chunks
}

impl Run<'_> {
    /// Converts inputs in chunks, small ones on several threads, others on this one.
    pub fn chunks(
        &self,
        converter: &mut Converter<'_>,
        chunks: &[Chunk<'_>],
        targets: &mut Targets<'_>,
        tell: &mut dyn FnMut(Converted),
    ) -> Outcome<()> {
        let threads = self.threads();
        let (send, work) = sync_channel::<usize>(threads * AHEAD);
        let (work, (answers, results)) = (Mutex::new(work), channel());
        thread::scope(|scope| {
            // Dropped before the scope ends, however that is: threads that wait then end.
            let send = send;
            for _ in 0..threads {
                let (mut converter, answers, work) = (converter.fork(), answers.clone(), &work);
                scope.spawn(move || {
                    loop {
                        let next = work.lock().unwrap_or_else(PoisonError::into_inner).recv();
                        let Ok(index) = next else { return };
                        let done = self.keep(&mut converter, chunks[index].inputs);
                        if answers.send((index, done)).is_err() {
                            return;
                        }
                    }
                });
            }
            drop(answers);
            let (mut given, mut early) = (0, BTreeMap::new());
            for (index, chunk) in chunks.iter().enumerate() {
                while given < chunks.len().min(index + threads * AHEAD) {
                    if chunks[given].small && send.send(given).is_err() {
                        break;
                    }
                    given += 1;
                }
                let mut done = None;
                while chunk.small && done.is_none() {
                    done = early.remove(&index);
                    if done.is_none() {
                        let (other, result) = results.recv().map_err(|_| Failure::from(died()))?;
                        early.insert(other, result);
                    }
                }
                match done.filter(|done: &Done| !done.too_large) {
                    Some(done) => self.take_over(done, targets, tell)?,
                    None => {
                        for input in chunk.inputs {
                            self.input(converter, input, targets, None, tell)?;
                        }
                    }
                }
                if self.interrupted()? {
                    break;
                }
            }
            Ok(())
        })
    }

    /// Converts inputs in memory.
    fn keep(&self, converter: &mut Converter<'_>, inputs: &[Input]) -> Done {
        let mut done = Done::default();
        let (mut render, mut header_render) = self.part_renderers();
        let mut rejects = RejectFile::in_memory();
        let mut targets = Targets {
            render: &mut *render,
            out: &mut done.rows,
            header: Some((&mut *header_render, &mut done.header)),
            rejects: Some(&mut rejects),
            marks: self.lists_marks().then_some(&mut done.marks as &mut dyn Write),
        };
        let converted = &mut done.converted;
        let left = Cell::new(MOST);
        let result = inputs.iter().try_for_each(|input| {
            self.input(converter, input, &mut targets, Some(&left), &mut |it| converted.push(it))
        });
        let result = result.and_then(|()| Ok(render.part()?));
        match result {
            Ok(part) => done.part = part,
            Err(failure) => {
                done.too_large = left.get() == 0;
                done.failure = Some(failure);
            }
        }
        done.rejects = Some(rejects);
        done
    }

    /// Writes what has become of a chunk.
    fn take_over(
        &self,
        done: Done,
        targets: &mut Targets<'_>,
        tell: &mut dyn FnMut(Converted),
    ) -> Outcome<()> {
        if let Some(failure) = done.failure {
            return Err(failure);
        }
        let mut rows = done.rows;
        if let Some(part) = done.part {
            targets.render.join(part, &mut rows)?;
        }
        targets.out.write_all(&rows)?;
        if let Some((_, header)) = &mut targets.header {
            header.write_all(&done.header)?;
        }
        if let (Some(rejects), Some(kept)) = (&mut targets.rejects, done.rejects) {
            rejects.append(kept)?;
        }
        if let Some(marks) = &mut targets.marks {
            marks.write_all(&done.marks)?;
        }
        let path: Option<PathBuf> =
            targets.rejects.as_ref().and_then(|rejects| Some(rejects.path()?.to_owned()));
        for converted in done.converted {
            tell(Converted { rejects: path.clone(), ..converted });
        }
        Ok(())
    }
}

fn died() -> io::Error {
    io::Error::other("a thread has ended early")
}

/// A reader that fails behind so many octets, if there is a limit.
pub struct Capped<'l, R> {
    pub input: R,
    pub left: Option<&'l Cell<u64>>,
}

impl<R: Read> Read for Capped<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.input.read(buffer)?;
        if let Some(left) = self.left {
            left.set(left.get().saturating_sub(count as u64));
            if left.get() == 0 {
                return Err(io::Error::other("too large to be kept in memory"));
            }
        }
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_inputs_go_together() -> io::Result<()> {
        let folder = tempfile::tempdir()?;
        let mut inputs = Vec::new();
        for (index, size) in [3, 3, 3, 11, 5, 5, 10, 0, 1].into_iter().enumerate() {
            let path = folder.path().join(index.to_string());
            std::fs::write(&path, vec![0; size])?;
            inputs.push(Input::File(path));
        }
        inputs.insert(5, Input::Stdin);
        let made: Vec<(usize, bool)> =
            chunks(&inputs, 10).iter().map(|chunk| (chunk.inputs.len(), chunk.small)).collect();
        assert_eq!(made, [(3, true), (1, false), (1, true), (1, false), (1, true), (2, true), (1, true)]);
        Ok(())
    }
}
