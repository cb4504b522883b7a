//! A run of `tercet convert`: from inputs to outputs that are there whole or not at all.

use crate::cmd::convert::{Convert, header_path};
use crate::exit::{Exit, Failure, Outcome};
use crate::inputs::Input;
use crate::interrupt::OnInterrupt;
use crate::job::Job;
use crate::manifest::{self, Manifest};
use crate::many::{self, Capped};
use crate::report::Report;
use crate::term;
use crate::watch;
use indicatif::{ProgressBar, ProgressStyle};
use std::cell::Cell;
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::io::{self, IsTerminal, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::slice;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};
use tercet::records::{
    Converter, Dedupe, Format, Guard, Output, Overwrite, RejectFile, RowWriter, Summary, Targets,
    reject_path, sweep,
};

/// A run: its options, what it reads and writes, and its progress bar.
pub struct Run<'a> {
    convert: &'a Convert,
    job: &'a Job,
    bar: ProgressBar,
    dedupe: Option<Dedupe>,
    /// The files that are read and written besides inputs and outputs.
    guard: Guard,
    /// The list of marked values until it is complete, if it is asked for.
    marks: Mutex<Option<Output>>,
}

/// Appends whole lines to the list of marked values: threads write in turn.
struct MarkLines<'r>(&'r Mutex<Option<Output>>);

impl Write for MarkLines<'_> {
    fn write(&mut self, lines: &[u8]) -> io::Result<usize> {
        self.write_all(lines).map(|()| lines.len())
    }

    fn write_all(&mut self, lines: &[u8]) -> io::Result<()> {
        let mut marks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        marks.as_mut().map_or(Ok(()), |marks| marks.write_all(lines))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// An input that has been converted.
pub struct Converted {
    pub name: String,
    pub summary: Summary,
    pub time: Duration,
    pub rejects: Option<PathBuf>,
    /// The SHA-256 of the file that it is or is in, if it is asked for.
    pub sha256: Option<String>,
    /// Octets of the input that a limit has left unread, if that is known.
    pub rest: Option<u64>,
}

impl<'a> Run<'a> {
    pub fn new(
        convert: &'a Convert,
        job: &'a Job,
        inputs: &[Input],
        dedupe: Option<Dedupe>,
        guard: Guard,
    ) -> Outcome<Self> {
        let marks = Mutex::new(convert.conversion.output.marks.as_ref().map(Output::create).transpose()?);
        Ok(Self { convert, job, bar: bar(convert.run.quiet, inputs), dedupe, guard, marks })
    }

    /// Gives the complete list of marked values its name.
    pub fn commit_marks(&self) -> Outcome<()> {
        let marks = self.marks.lock().unwrap_or_else(PoisonError::into_inner).take();
        Ok(marks.map_or(Ok(()), Output::commit)?)
    }

    /// Returns whether marked values are listed.
    pub fn lists_marks(&self) -> bool {
        self.convert.conversion.output.marks.is_some()
    }

    /// Returns the flag that a signal sets to stop the run.
    pub fn stop(&self) -> &AtomicBool {
        &self.job.stop
    }

    /// Opens the manifest of the output directory, if it is asked for.
    pub fn manifest(&self) -> Outcome<Option<Manifest>> {
        let convert = self.convert;
        match convert.output() {
            Some(dir) if convert.run.resume || convert.run.watch => {
                std::fs::create_dir_all(dir).map_err(|error| Failure::io(dir.display(), &error))?;
                let manifest = Manifest::open(dir, convert.fingerprint()?)?;
                if let Some(warning) = manifest.warning() {
                    term::warning(warning);
                }
                Ok(Some(manifest))
            }
            _ => Ok(None),
        }
    }

    /// Converts each input to a file in the output directory: several at a time, reported in their order. Returns the inputs
    /// that have failed and are tried again later: none unless directories are watched.
    pub fn each(
        &self,
        converter: Converter<'a>,
        inputs: &[Input],
        manifest: Option<&Manifest>,
        report: &mut Report<'_>,
    ) -> Outcome<Vec<Input>> {
        let convert = self.convert;
        let dir = convert.output().unwrap_or_else(|| Path::new("."));
        std::fs::create_dir_all(dir).map_err(|error| Failure::io(dir.display(), &error))?;
        sweep(dir);
        let mut failed = Vec::new();
        let mut work = Vec::new();
        let mut guard = self.guard.clone();
        for (input, output) in inputs.iter().zip(self.outputs(dir, inputs)?) {
            let children = self.children(&output);
            match self.claim(&mut guard, input, &output, &children) {
                // Others can be converted all the same, and this one once somebody has looked.
                Err(refused) if convert.run.watch => {
                    self.bar.suspend(|| report.failed(&refused.to_string()));
                    failed.push(input.clone());
                    continue;
                }
                claimed => claimed?,
            }
            if let Some(line) = manifest.and_then(|manifest| manifest.done(input, &output, &children)) {
                report.done_before(line);
            } else if convert.run.skip_existing
                && output.exists()
                && children.iter().all(|path| path.exists())
            {
                report.passed_over();
            } else {
                work.push((input, output));
            }
        }
        // Which of two records comes first is told by the order of inputs: each is read by all threads then.
        let threads = if self.dedupe.is_some() { 1 } else { convert.jobs().min(work.len()) };
        if threads < 2 {
            let mut converter = convert.workers(self.job, converter);
            for (input, output) in &work {
                if self.job.stopped() {
                    break;
                }
                let result = self.one(&mut converter, input, output, manifest);
                self.settle(input, result, report, &mut failed)?;
            }
            return Ok(failed);
        }
        let (next, (send, results)) = (AtomicUsize::new(0), channel());
        thread::scope(|scope| {
            for _ in 0..threads {
                let (work, next, manifest, send) = (&work, &next, manifest, send.clone());
                let mut converter = converter.fork();
                scope.spawn(move || {
                    while !self.job.stopped() {
                        let index = next.fetch_add(1, Ordering::Relaxed);
                        let Some((input, output)) = work.get(index) else { return };
                        let result = self.one(&mut converter, input, output, manifest);
                        if result.is_err() && !convert.run.watch {
                            next.store(work.len(), Ordering::Relaxed);
                        }
                        // Who no longer listens has met a failure.
                        _ = send.send((index, result));
                    }
                });
            }
            drop(send);
            let (mut early, mut at) = (BTreeMap::new(), 0);
            for (index, result) in results {
                early.insert(index, result);
                while let Some(result) = early.remove(&at) {
                    let (input, _) = &work[at];
                    at += 1;
                    self.settle(input, result, report, &mut failed)?;
                }
            }
            Ok(failed)
        })
    }

    /// Reports a converted input, or keeps one that has failed for later.
    fn settle(
        &self,
        input: &Input,
        result: Outcome<Option<Vec<Converted>>>,
        report: &mut Report<'_>,
        failed: &mut Vec<Input>,
    ) -> Outcome<()> {
        match result {
            Ok(Some(converted)) => self.tell(converted, report),
            // It is tried again later.
            Ok(None) => {
                if !self.convert.run.quiet {
                    let name = input.shown();
                    self.bar.suspend(|| {
                        term::say(format_args!("{name}: ends inside a record; waiting for the rest"));
                    });
                }
                failed.push(input.clone());
            }
            Err(failure) if self.convert.run.watch && matches!(failure.exit, Exit::Io | Exit::Failed) => {
                self.bar.suspend(|| report.failed(&failure.message));
                failed.push(input.clone());
            }
            Err(failure) => return Err(failure),
        }
        Ok(())
    }

    /// Returns the outputs of inputs in a directory.
    fn outputs(&self, dir: &Path, inputs: &[Input]) -> Outcome<Vec<PathBuf>> {
        let mut taken = HashMap::new();
        let name = |input: &Input| {
            let mut name = match input {
                Input::Stdin | Input::Octets(..) => "stdin".into(),
                Input::File(path) => path.file_name().unwrap_or_default().to_os_string(),
            };
            name.push(format!(".{}", self.convert.format().suffix()));
            dir.join(name)
        };
        let outputs: Vec<PathBuf> = inputs.iter().map(name).collect();
        for (input, output) in inputs.iter().zip(&outputs) {
            for output in std::iter::once(output.clone()).chain(self.children(output)) {
                let text = tercet_printable::path(&output);
                if let Some(other) = taken.insert(output, input) {
                    let (one, other) = (other.shown(), input.shown());
                    return Err(Failure::usage(format_args!(
                        "`{one}` and `{other}` would both become `{text}`"
                    )));
                }
            }
        }
        Ok(outputs)
    }

    /// Adds an input and its outputs to the files that are read and written.
    fn claim(
        &self,
        guard: &mut Guard,
        input: &Input,
        output: &Path,
        children: &[PathBuf],
    ) -> Result<(), Overwrite> {
        if let (Input::File(path), true) = (input, self.convert.run.watch) {
            guard.reads("input", path)?;
        }
        guard.writes(&format!("the output of `{}`", input.shown()), output)?;
        for path in children {
            guard.writes(&format!("a child table of `{}`", input.shown()), path)?;
        }
        if self.convert.has_header() && self.convert.conversion.output.header.is_none() {
            guard.writes(&format!("the header file of `{}`", input.shown()), &header_path(output))?;
        }
        if self.convert.conversion.output.rejects.is_none() && !self.convert.conversion.output.skip_rejects {
            let option = format!("the reject file of `{}`", input.shown());
            RejectFile::guard(guard, &option, &reject_path(output))?;
        }
        Ok(())
    }

    /// Returns the files of the child tables of an output.
    fn children(&self, output: &Path) -> Vec<PathBuf> {
        self.job.prepared.table_paths(output)
    }

    /// Converts an input to a file, and adds it to the manifest. Returns `None` if directories are watched and the input is
    /// still being written: the output then has no name.
    fn one(
        &self,
        converter: &mut Converter<'_>,
        input: &Input,
        output: &Path,
        manifest: Option<&Manifest>,
    ) -> Outcome<Option<Vec<Converted>>> {
        let (mut converted, cut) = (Vec::new(), Cell::new(false));
        self.begin(Some(&output.display().to_string()));
        let mut tell = |it: Converted| {
            cut.set(it.summary.cut);
            converted.push(it);
        };
        let waits =
            || self.convert.run.watch && cut.get() && !watch::is_settled(input, self.convert.run.interval.0);
        if !self.to_file(converter, slice::from_ref(input), output, &mut tell, &waits)? {
            return Ok(None);
        }
        if let Some(manifest) = manifest {
            let sha256 = converted.iter().find_map(|it| it.sha256.as_deref());
            let summaries = converted.iter().map(|it| &it.summary);
            let children = self.children(output);
            manifest
                .add(input, output, &children, summaries, sha256)
                .map_err(|error| Failure::io(manifest::NAME, &error))?;
        }
        Ok(Some(converted))
    }

    fn tell(&self, converted: impl IntoIterator<Item = Converted>, report: &mut Report<'_>) {
        for it in converted {
            self.bar.suspend(|| report.input(it));
        }
    }

    /// Converts all inputs to one output.
    pub fn together(
        &self,
        converter: &mut Converter<'_>,
        inputs: &[Input],
        report: &mut Report<'_>,
    ) -> Outcome<()> {
        let convert = self.convert;
        let mut tell = |converted| self.tell([converted], report);
        self.begin(self.name(inputs).as_deref());
        if let Some(path) = convert.output() {
            sweep(path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or_else(|| Path::new(".")));
            return self.to_file(converter, inputs, path, &mut tell, &|| false).map(drop);
        }
        let outputs = &convert.conversion.output;
        let mut rejects = outputs.rejects.as_ref().map(RejectFile::new).transpose()?;
        let mut header = outputs.header.as_ref().map(Output::create).transpose()?;
        let mut out = term::stdout(term::quotes(convert.format()));
        let (header_out, rejects_out) = (header.as_mut(), rejects.as_mut());
        let files = Files { out: &mut out, children: &mut [], header: header_out, rejects: rejects_out };
        self.inputs(converter, inputs, files, &mut tell)?;
        out.flush()?;
        self.keep_records()?;
        commit(header, rejects)
    }

    /// Returns the identity of an output of these inputs, which lasts as long as they do not change, or `None` if one of them
    /// can be read only once.
    fn name(&self, inputs: &[Input]) -> Option<String> {
        // Files of earlier versions have the output in this form.
        let mut name = format!("{:?}", self.convert.output());
        for input in inputs {
            write!(name, "\n{} {}", input.name(), manifest::state(input)?).ok()?;
        }
        Some(name)
    }

    /// Begins the records of an output, which may be duplicates.
    fn begin(&self, output: Option<&str>) {
        if let Some(dedupe) = &self.dedupe {
            dedupe.begin(output);
        }
    }

    /// Keeps the records of the output, to detect duplicates in later ones.
    fn keep_records(&self) -> io::Result<()> {
        self.dedupe.as_ref().map_or(Ok(()), Dedupe::commit)
    }

    /// Converts inputs to an output, which gets its name unless it `waits` for more input. Returns whether it did.
    fn to_file(
        &self,
        converter: &mut Converter<'_>,
        inputs: &[Input],
        path: &Path,
        tell: &mut dyn FnMut(Converted),
        waits: &dyn Fn() -> bool,
    ) -> Outcome<bool> {
        let convert = self.convert;
        let outputs = &convert.conversion.output;
        let mut rejects = match &outputs.rejects {
            _ if outputs.skip_rejects => RejectFile::without_octets(path),
            Some(path) => RejectFile::new(path)?,
            None => RejectFile::beside(path)?,
        };
        let header = convert.has_header().then(|| match &outputs.header {
            Some(path) => Output::create(path),
            None => Output::create_derived(header_path(path)),
        });
        let mut header = header.transpose()?;
        // In a directory, the name is none that somebody has given.
        let mut output =
            if convert.one_for_each() { Output::create_derived(path)? } else { Output::create(path)? };
        let children = self.children(path).into_iter().map(Output::create_derived);
        let mut children = children.collect::<io::Result<Vec<_>>>()?;
        let (header_out, rejects_out) = (header.as_mut(), Some(&mut rejects));
        let files =
            Files { out: &mut output, children: &mut children, header: header_out, rejects: rejects_out };
        self.inputs(converter, inputs, files, tell)?;
        if waits() {
            return Ok(false);
        }
        // That of the records gets its name last: where it is, the others are.
        children.push(output);
        Output::commit_all(children, || self.keep_records())?;
        commit(header, Some(rejects))?;
        Ok(true)
    }

    fn inputs(
        &self,
        converter: &mut Converter<'_>,
        inputs: &[Input],
        files: Files<'_>,
        tell: &mut dyn FnMut(Converted),
    ) -> Outcome<()> {
        let Files { out, children, header, rejects } = files;
        let convert = self.convert;
        let mut render = self.job.prepared.writer(&convert.conversion.form(), convert.format(), children);
        let mut header_render = header.is_some().then(|| self.header_renderer());
        let mut text = Vec::new();
        render.begin(&mut text);
        out.write_all(&text)?;
        let header = match (&mut header_render, header) {
            (Some(render), Some(out)) => Some((&mut **render as &mut dyn RowWriter, out as &mut dyn Write)),
            _ => None,
        };
        let mut lines = MarkLines(&self.marks);
        let marks = self.lists_marks().then_some(&mut lines as &mut dyn Write);
        let mut targets = Targets { render: &mut *render, out, header, rejects, marks };
        converter.set_limit(convert.limit());
        if inputs.len() > 1 && self.threads() > 1 && self.dedupe.is_none() && convert.limit().is_none() {
            let octets = many::OCTETS.max(*self.convert.format().batch().start());
            let chunks = many::chunks(inputs, octets as u64);
            self.chunks(converter, &chunks, &mut targets, tell)?;
        } else {
            for (index, input) in inputs.iter().enumerate() {
                self.input(converter, input, &mut targets, None, tell)?;
                if self.interrupted()? {
                    break;
                }
                let after = inputs.len() - index - 1;
                if converter.is_at_limit() && after > 0 {
                    if !convert.run.quiet {
                        let inputs = term::count(after as u64, "input");
                        self.bar.suspend(|| term::say(format_args!("stopped by --limit: {inputs} not read")));
                    }
                    break;
                }
            }
        }
        let mut text = Vec::new();
        render.end(&mut text).map_err(|error| Failure {
            exit: Exit::Io,
            message: error.to_string(),
            ldap: None,
        })?;
        out.write_all(&text)?;
        Ok(())
    }

    /// Converts an input, or the files in it. It fails once no octets are `left` to be read.
    pub fn input(
        &self,
        converter: &mut Converter<'_>,
        input: &Input,
        targets: &mut Targets<'_>,
        left: Option<&Cell<u64>>,
        tell: &mut dyn FnMut(Converted),
    ) -> Outcome<()> {
        let sha256 = self.convert.run.hash_inputs.then(|| input.sha256()).transpose()?.flatten();
        input.each(self.convert.run.quiet, &mut |name, reader| {
            let begin = Instant::now();
            let reader = Capped { input: self.bar.wrap_read(reader), left };
            let mut progress = |summary: &Summary| {
                self.bar.set_message(term::count(summary.records, "record"));
                ControlFlow::Continue(())
            };
            let summary = converter.run(name, reader, &mut targets.reborrow(), &mut progress);
            let summary = summary.map_err(|error| Failure::io(name, &error))?;
            let rejects = targets.rejects.as_deref().and_then(|rejects| Some(rejects.path()?.to_owned()));
            let sha256 = sha256.clone();
            let time = begin.elapsed();
            let rest = input.rest(name, &summary);
            tell(Converted { name: name.to_owned(), summary, time, rejects, sha256, rest });
            Ok(!self.job.stopped() && !converter.is_at_limit())
        })
    }

    /// Returns whether a signal has stopped the run.
    ///
    /// # Errors
    /// When the output is then removed.
    pub fn interrupted(&self) -> Outcome<bool> {
        let stopped = self.job.stopped();
        if stopped && self.convert.run.on_interrupt == OnInterrupt::Remove {
            let removed = if self.convert.output().is_some() { "; the output is removed" } else { "" };
            self.bar.finish_and_clear();
            return Err(Failure::interrupted(format_args!("interrupted{removed}")));
        }
        Ok(stopped)
    }

    /// Returns the number of threads that may be used.
    pub fn threads(&self) -> usize {
        self.convert.jobs()
    }

    fn header_renderer(&self) -> Box<dyn RowWriter + Send + '_> {
        let job = self.job;
        // Columns are those of records.
        let form = self.convert.conversion.form().with_columns(Vec::new());
        Format::JSONL.writer(&form, job.shown(), job.outer.unwrap_or(job.record))
    }

    /// Makes writers of rows that another writer takes over, and of the components around them.
    pub fn part_renderers(&self) -> (Box<dyn RowWriter + Send + '_>, Box<dyn RowWriter + Send + '_>) {
        let form = self.convert.conversion.form();
        (self.job.prepared.part_writer(&form, self.convert.format()), self.header_renderer())
    }
}

/// The files of an output.
struct Files<'t> {
    out: &'t mut dyn Write,
    children: &'t mut [Output],
    header: Option<&'t mut Output>,
    rejects: Option<&'t mut RejectFile>,
}

impl Drop for Run<'_> {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// Makes a progress bar, which is hidden unless standard error is a terminal.
fn bar(quiet: bool, inputs: &[Input]) -> ProgressBar {
    if quiet || !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let size = inputs.iter().map(Input::size).sum::<Option<u64>>();
    let bar = size.map_or_else(ProgressBar::new_spinner, ProgressBar::new);
    let template = if size.is_some() {
        "{bar:30} {bytes}/{total_bytes} {bytes_per_sec} eta {eta}  {msg}"
    } else {
        "{spinner} {bytes} {bytes_per_sec}  {msg}"
    };
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

fn commit(header: Option<Output>, rejects: Option<RejectFile>) -> Outcome<()> {
    if let Some(header) = header {
        header.commit()?;
    }
    rejects.map_or(Ok(()), RejectFile::commit)?;
    Ok(())
}
