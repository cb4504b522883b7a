//! A program that answers each line with one.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

/// How long the answers to one question may take before the program is ended.
const PATIENCE: Duration = Duration::from_secs(900);

/// A program that is started when it is first asked, and again when it has ended.
pub(crate) struct Dialogue {
    command: Command,
    running: Option<Running>,
}

struct Running {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Dialogue {
    pub(crate) fn new(mut command: Command) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        Self { command, running: None }
    }

    /// Returns the answers to lines: fewer than those if the program ended, or had to be.
    pub(crate) fn ask(&mut self, lines: &str) -> Result<Vec<String>, String> {
        let told = |error: std::io::Error| error.to_string();
        let mut running = match self.running.take() {
            Some(running) => running,
            None => {
                let mut child = self.command.spawn().map_err(told)?;
                let input = child.stdin.take().ok_or("no input")?;
                let output = BufReader::new(child.stdout.take().ok_or("no output")?);
                Running { child, input, output }
            }
        };
        let count = lines.lines().count();
        let answers = running.ask(lines, count);
        if answers.len() == count {
            self.running = Some(running);
        } else {
            running.end();
        }
        Ok(answers)
    }
}

impl Running {
    fn ask(&mut self, lines: &str, count: usize) -> Vec<String> {
        let Self { child, input, output } = self;
        let (done, is_done) = mpsc::channel::<()>();
        std::thread::scope(|scope| {
            scope.spawn(move || {
                // An empty line asks for the answers so far. A program that has ended is told by what it does not answer.
                _ = input
                    .write_all(lines.as_bytes())
                    .and_then(|()| input.write_all(b"\n"))
                    .and_then(|()| input.flush());
            });
            scope.spawn(move || {
                if is_done.recv_timeout(PATIENCE) == Err(mpsc::RecvTimeoutError::Timeout) {
                    _ = child.kill();
                }
            });
            let mut answers = Vec::with_capacity(count);
            let mut line = Vec::new();
            while answers.len() < count {
                line.clear();
                match output.read_until(b'\n', &mut line) {
                    Ok(1..) if line.ends_with(b"\n") => {
                        answers.push(String::from_utf8_lossy(&line[..line.len() - 1]).into_owned());
                    }
                    _ => break,
                }
            }
            drop(done);
            answers
        })
    }

    fn end(mut self) {
        _ = self.child.kill();
        _ = self.child.wait();
    }
}

impl Drop for Dialogue {
    fn drop(&mut self) {
        if let Some(Running { mut child, input, .. }) = self.running.take() {
            // The end of its input ends the program.
            drop(input);
            _ = child.wait();
        }
    }
}
