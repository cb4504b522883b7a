//! `cargo conformance truth-captures`: packet captures against the messages that they are known to contain.
//!
//! Beside a capture `FILE` is `FILE.truth.jsonl`, an object a line: `protocol`, `octets` (hexadecimal), and `frame`. Each
//! line is a check, and so are each message that no line has, the order of messages, and the balance of packets. Lines with
//! `optional` may be absent. Lines with `after_gap` (after bytes that the capture lacks) may be absent one in ten. Lines
//! with `sasl` are buffers of a security layer, which are no messages.

use std::collections::{HashMap, VecDeque};
use std::fs::File;
use std::io::{BufReader, Read, Write};
use std::path::{Path, PathBuf};

use serde_json::Value;
use tercet_capture::{Capture, DecodeAs, Event, Options};

use crate::exceptions::Exceptions;
use crate::{Tally, corpora};

/// The end of the names of files with truth.
const SUFFIX: &str = ".truth.jsonl";

/// Which captures are compared, and how they are read.
#[derive(clap::Args, Clone, Debug)]
pub struct Arguments {
    /// Folders with captures, and FILE.truth.jsonl beside each
    #[arg(required = true, value_name = "DIR")]
    pub folders: Vec<PathBuf>,
    /// Compare messages of these protocols only
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub protocol: Vec<String>,
    /// Rule for all captures: FIELD==VALUE=PROTOCOL; a capture called `tcp-h245-decode-as-30000` has its rule in its name
    #[arg(long, value_name = "RULE")]
    pub decode_as: Vec<DecodeAs>,
}

/// A line of truth.
struct Line {
    key: Key,
    frame: Option<u64>,
    partial: bool,
    optional: bool,
    after_gap: bool,
    found: bool,
}

/// Protocol and octets.
type Key = (String, String);

/// Runs the task.
///
/// # Errors
/// A folder or a file cannot be read, or has no truth.
pub fn run(options: &Arguments, out: &mut impl Write) -> Result<Tally, String> {
    let mut paths = Vec::new();
    // Captures are those with truth beside them.
    let path_of = |folder: &Path, name: &str| name.strip_suffix(SUFFIX).map(|name| folder.join(name));
    options.folders.iter().try_for_each(|folder| find(folder, &path_of, &mut paths))?;
    paths.sort();
    if paths.is_empty() {
        return Err(format!("no files *{SUFFIX} in {}", options.folders[0].display()));
    }
    let exceptions = Exceptions::load(&corpora::repository().join("tests/capture-exceptions.toml"))?;
    let mut runner = Runner {
        options,
        exceptions,
        out,
        tally: Tally::default(),
        after_gap: 0,
        after_gap_found: 0,
        additional: 0,
        found: 0,
    };
    for path in &paths {
        runner.compare(path)?;
    }
    let Runner { mut tally, after_gap, after_gap_found, additional, found, out, .. } = runner;
    if additional > 0 {
        let _ = writeln!(out, "additional: {additional} messages, {found} found");
        tally.count(additional * 100 <= found);
    }
    if after_gap > 0 {
        let _ = writeln!(out, "after gaps: {after_gap_found} of {after_gap} found");
        tally.count(after_gap_found * 10 >= after_gap * 9);
    }
    Ok(tally)
}

/// Collects what `path_of` makes of the names of files, in a folder and all below it.
pub(crate) fn find(
    folder: &Path,
    path_of: &impl Fn(&Path, &str) -> Option<PathBuf>,
    paths: &mut Vec<PathBuf>,
) -> Result<(), String> {
    let named = |error: std::io::Error| format!("{}: {error}", folder.display());
    for entry in std::fs::read_dir(folder).map_err(named)? {
        let entry = entry.map_err(named)?;
        if entry.file_type().map_err(named)?.is_dir() {
            find(&entry.path(), path_of, paths)?;
        } else {
            paths.extend(path_of(folder, &entry.file_name().to_string_lossy()));
        }
    }
    Ok(())
}

struct Runner<'a, W> {
    options: &'a Arguments,
    exceptions: Exceptions,
    out: &'a mut W,
    tally: Tally,
    after_gap: usize,
    after_gap_found: usize,
    /// Messages that truth of a dissector does not have, and those that it has.
    additional: usize,
    found: usize,
}

impl<W: Write> Runner<'_, W> {
    fn compare(&mut self, path: &Path) -> Result<(), String> {
        let (mut lines, is_dissected) = self.truth(path)?;
        let mut options = Options::default();
        options.decode_as.clone_from(&self.options.decode_as);
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        options.decode_as.extend(rule_in_name(&name));
        let mut open: HashMap<Key, VecDeque<usize>> = HashMap::new();
        for (at, line) in lines.iter().enumerate() {
            open.entry(line.key.clone()).or_default().push_back(at);
        }
        let mut capture = Capture::new(open_file(path)?, options);
        let (mut unknown, mut order) = (Vec::new(), Vec::new());
        let wanted = &self.options.protocol;
        let mut sink = |event: Event<'_>| {
            let Event::Pdu(pdu) = event else { return };
            if !wanted.is_empty() && !wanted.contains(&pdu.protocol.name) {
                return;
            }
            let octets: String = pdu.octets.iter().map(|octet| format!("{octet:02x}")).collect();
            let key = (pdu.protocol.name.clone(), octets);
            let candidates = open.entry(key.clone()).or_default();
            // The same octets may come several times: the line of this frame, or one without a frame.
            let fits = |line: &Line| {
                line.frame.is_none_or(|frame| frame == pdu.frame) && (pdu.partial || !line.partial)
            };
            match candidates.iter().position(|&at| fits(&lines[at])).and_then(|at| candidates.remove(at)) {
                Some(at) => {
                    lines[at].found = true;
                    if !lines[at].after_gap && !lines[at].optional {
                        order.push(at);
                    }
                }
                None => unknown.push((pdu.frame, key)),
            }
        };
        let read = |error| format!("{}: {error}", path.display());
        while capture.read_packet(&mut sink).map_err(read)? {}
        let balance = capture.balance();
        self.check(&name, "balance", balance.holds(), || {
            format!("packets are not counted once: {balance:?}")
        });
        let in_order = order.is_sorted();
        self.check(&name, "order", in_order, || "messages are not in the order of their frames".to_owned());
        // A dissector that calls another one may show a message twice, one after the other.
        for at in 1..lines.len() {
            let same = lines[at].key == lines[at - 1].key && lines[at].frame == lines[at - 1].frame;
            lines[at].found |= is_dissected && same && lines[at - 1].found;
        }
        for line in &lines {
            let frame = line.frame.map_or_else(|| "-".to_owned(), |frame| frame.to_string());
            if line.after_gap {
                self.after_gap += 1;
                self.after_gap_found += usize::from(line.found);
            } else if !line.optional || line.found {
                let partial = if line.partial { ", partial" } else { "" };
                self.check(&name, &line.key.0, line.found, || {
                    format!("frame {frame}: not found{partial}: {}", brief(&line.key.1))
                });
            }
        }
        self.found += lines.iter().filter(|line| line.found && is_dissected).count();
        for (frame, (protocol, octets)) in unknown {
            if is_dissected {
                let known = self.exceptions.find(&name, &format!("{protocol} additional"));
                self.additional += usize::from(known.is_none());
                if let Some(why) = known {
                    self.tally.skipped += 1;
                    let _ = writeln!(self.out, "skipped {name} {protocol}: frame {frame}: {why}");
                    continue;
                }
                let _ = writeln!(self.out, "additional {name} {protocol}: frame {frame}: {}", brief(&octets));
                continue;
            }
            self.check(&name, &protocol, false, || {
                format!("frame {frame}: not in the truth: {}", brief(&octets))
            });
        }
        Ok(())
    }

    /// Reads the truth of a capture, and whether it comes from a dissector.
    fn truth(&self, path: &Path) -> Result<(Vec<Line>, bool), String> {
        let truth = PathBuf::from(format!("{}{SUFFIX}", path.display()));
        let (mut lines, mut is_dissected) = (Vec::new(), true);
        for (at, text) in corpora::read_text(&truth)?.lines().enumerate() {
            let wrong = |what: &str| format!("{}:{}: {what}", truth.display(), at + 1);
            let line: Value = serde_json::from_str(text).map_err(|error| wrong(&error.to_string()))?;
            let text = |key: &str| line[key].as_str().map(str::to_owned);
            let (Some(protocol), Some(octets)) = (text("protocol"), text("octets")) else {
                return Err(wrong("`protocol` or `octets` is missing"));
            };
            is_dissected &= line["layer"].is_string();
            let is_wanted = self.options.protocol.is_empty() || self.options.protocol.contains(&protocol);
            if !is_wanted || line["sasl"] == true {
                continue;
            }
            lines.push(Line {
                key: (protocol, octets),
                frame: line["frame"].as_u64(),
                partial: line["partial"] == true,
                optional: line["optional"] == true,
                after_gap: line["after_gap"] == true,
                found: false,
            });
        }
        Ok((lines, is_dissected))
    }

    fn check(&mut self, name: &str, what: &str, good: bool, reason: impl FnOnce() -> String) {
        if !good && let Some(why) = self.exceptions.find(name, what) {
            self.tally.skipped += 1;
            let _ = writeln!(self.out, "skipped {name} {what}: {why}");
            return;
        }
        self.tally.count(good);
        if !good {
            let _ = writeln!(self.out, "FAIL {name} {what}: {}", reason());
        }
    }
}

/// Returns the begin of long octets.
fn brief(octets: &str) -> String {
    match octets.get(..64) {
        Some(begin) if octets.len() > 64 => format!("{begin}… ({} bytes)", octets.len() / 2),
        _ => octets.to_owned(),
    }
}

/// Returns the rule that a name has: `TRANSPORT-PROTOCOL-decode-as-PORT`.
pub(crate) fn rule_in_name(name: &str) -> Option<DecodeAs> {
    let (begin, port) = name.split_once("-decode-as-")?;
    let (transport, protocol) = begin.split_once('-')?;
    let port = port.split('.').next()?;
    format!("{transport}.port=={port}={protocol}").parse().ok()
}

/// Opens a capture, decompressed by the end of its name.
pub(crate) fn open_file(path: &Path) -> Result<Box<dyn Read>, String> {
    let named = |error: std::io::Error| format!("{}: {error}", path.display());
    let file = BufReader::new(File::open(path).map_err(named)?);
    Ok(match path.extension().and_then(|it| it.to_str()) {
        Some("gz") => Box::new(flate2::read::MultiGzDecoder::new(file)),
        Some("zst") => Box::new(zstd::Decoder::new(file).map_err(named)?),
        _ => Box::new(file),
    })
}
