//! What is read: files, directories, globs, splits; octets, file objects of Python, and URLs by `fsspec`.

use crate::error;
use crate::interrupt::interruptible;
use crate::octets::Held;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyMemoryView, PyString};
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, Cursor, Read, Seek, SeekFrom};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tercet::records::{Framing, Split, inputs};

/// Octets that a file object is asked for at once.
const CHUNK: usize = 1 << 20;

/// What is read, or a split of it with its own framing.
#[derive(Clone)]
pub(crate) struct Input {
    name: String,
    pub(crate) content: Content,
    pub(crate) split: Option<(Split, Option<Framing>)>,
}

/// Where its octets are.
#[derive(Clone)]
pub(crate) enum Content {
    File(PathBuf),
    Octets(Arc<Held>),
    Object(Arc<Object>),
    Url(String),
}

/// A file object.
pub(crate) struct Object {
    object: Py<PyAny>,
    /// Where it was; nothing if it cannot go back there.
    start: Option<u64>,
    begun: AtomicBool,
}

impl Input {
    fn new(content: Content) -> Self {
        let name = match &content {
            Content::File(path) => path.display().to_string(),
            Content::Octets(_) => "<bytes>".to_owned(),
            Content::Object(object) => object.name(),
            Content::Url(url) => url.clone(),
        };
        Self { name, content, split: None }
    }

    /// What to call it.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Whether it can be read twice.
    pub(crate) fn is_read_again(&self) -> bool {
        match &self.content {
            Content::File(path) => fs::metadata(path).is_ok_and(|it| it.is_file()),
            Content::Object(object) => object.start.is_some(),
            Content::Octets(_) | Content::Url(_) => true,
        }
    }

    /// Its octets from the begin.
    pub(crate) fn open(&self) -> io::Result<Box<dyn Read + Send>> {
        Ok(match &self.content {
            Content::File(path) => Box::new(File::open(path)?),
            Content::Octets(octets) => Box::new(Cursor::new(Octets(Arc::clone(octets)))),
            Content::Object(object) => Box::new(object.open()?),
            Content::Url(url) => {
                let opened = with_python(|py| {
                    let open = py.import("tercet._urls")?.getattr("open")?;
                    Ok(open.call1((url,))?.unbind())
                })?;
                Box::new(Reader { object: opened, is_ours: true })
            }
        })
    }

    /// The octets of a split of it.
    pub(crate) fn open_at(&self, split: &Split) -> io::Result<Box<dyn Read + Send>> {
        let length = split.end.map_or(u64::MAX, |end| end.saturating_sub(split.start));
        if let Content::File(path) = &self.content {
            let mut file = File::open(path)?;
            file.seek(SeekFrom::Start(split.start))?;
            return Ok(Box::new(file.take(length)));
        }
        Err(io::Error::new(io::ErrorKind::InvalidInput, "only files can be read from the middle"))
    }
}

struct Octets(Arc<Held>);

impl AsRef<[u8]> for Octets {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

/// Calls into Python from any thread.
fn with_python<T>(work: impl FnOnce(Python<'_>) -> PyResult<T>) -> io::Result<T> {
    let done = Python::try_attach(|py| work(py).map_err(|error| io::Error::other(words(py, &error))));
    done.unwrap_or_else(|| Err(io::Error::other("the interpreter has ended")))
}

/// What an exception says.
fn words(py: Python<'_>, error: &PyErr) -> String {
    let text = error.value(py).to_string();
    if text.is_empty() { error.get_type(py).to_string() } else { text }
}

impl Object {
    fn new(object: &Bound<'_, PyAny>) -> Self {
        let is_seekable = object.call_method0("seekable").is_ok_and(|it| it.is_truthy().unwrap_or(false));
        let start = object.call_method0("tell").and_then(|at| at.extract()).ok().filter(|_| is_seekable);
        Self { object: object.clone().unbind(), start, begun: AtomicBool::new(false) }
    }

    fn name(&self) -> String {
        Python::attach(|py| {
            let name = self.object.bind(py).getattr("name").ok();
            let name = name.and_then(|name| name.extract::<String>().ok());
            name.unwrap_or_else(|| "<file object>".to_owned())
        })
    }

    fn open(&self) -> io::Result<Reader> {
        let is_begun = self.begun.swap(true, Ordering::SeqCst);
        with_python(|py| {
            match self.start {
                Some(start) => drop(self.object.call_method1(py, "seek", (start,))?),
                None if is_begun => {
                    return Err(error::argument("a file object that cannot seek is read once only"));
                }
                None => {}
            }
            Ok(Reader { object: self.object.clone_ref(py), is_ours: false })
        })
    }
}

/// Reads from a file object of Python, on any thread.
struct Reader {
    object: Py<PyAny>,
    /// Whether it is to be closed.
    is_ours: bool,
}

impl Read for Reader {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        with_python(|py| {
            let read = self.object.bind(py).call_method1("read", (room.len().min(CHUNK),))?;
            if read.is_instance_of::<PyString>() {
                return Err(error::argument(
                    "a file object in binary mode expected: open it with mode \"rb\"",
                ));
            }
            // One that does not block has nothing yet. That is not its end: what comes later would be lost.
            if read.is_none() {
                return Err(error::argument(
                    "a file object that blocks expected: its `read` has returned None",
                ));
            }
            let octets = crate::octets::of(&read)?;
            let Some(filled) = room.get_mut(..octets.len()) else {
                return Err(error::internal("the file object gave more bytes than it was asked for"));
            };
            filled.copy_from_slice(&octets);
            Ok(octets.len())
        })
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        if self.is_ours {
            // What was read counts; that it cannot be closed changes nothing.
            _ = with_python(|py| self.object.call_method0(py, "close"));
        }
    }
}

/// Returns the files of a path, directory or glob. Warns of files in directories that are skipped.
#[pyfunction]
pub(crate) fn expand(py: Python<'_>, path: error::Argument<OsString>) -> PyResult<Vec<OsString>> {
    Ok(files_of(py, &path.0)?.into_iter().map(PathBuf::into_os_string).collect())
}

fn files_of(py: Python<'_>, path: &OsStr) -> PyResult<Vec<PathBuf>> {
    let name = path.to_owned();
    let found = interruptible(py, move || inputs::expand(name))?.map_err(|error| match error.kind() {
        io::ErrorKind::InvalidInput => error::io(io::Error::new(io::ErrorKind::NotFound, error.to_string())),
        _ => error::io(error),
    })?;
    warn_of_skipped(py, &found)?;
    Ok(found.files)
}

/// Warns of files that are skipped, a warning for each kind.
fn warn_of_skipped(py: Python<'_>, found: &inputs::Expanded) -> PyResult<()> {
    for line in found.skipped_lines() {
        py.import("warnings")?.call_method1("warn", (line,))?;
    }
    Ok(())
}

/// Whether a text is a URL, as `fsspec` has them: `s3://bucket/calls.ber`, `simplecache::https://…`.
fn is_url(text: &str) -> bool {
    let is_word = |it: char| it.is_ascii_alphanumeric() || matches!(it, '+' | '.' | '-' | ':');
    text.split_once("://")
        .is_some_and(|(scheme, _)| scheme.len() > 1 && !scheme.ends_with(':') && scheme.chars().all(is_word))
}

/// Inputs, alone or several: paths, globs, directories, splits, URLs, octets, file objects. None at all is an error unless
/// that is allowed.
pub(crate) fn inputs_of(
    given: &Bound<'_, PyAny>,
    framing: Option<&Framing>,
    allow_empty: bool,
) -> PyResult<Vec<Input>> {
    let mut found = Vec::new();
    let class = given.py().import("tercet._values")?.getattr("Split")?;
    if !one(given, &class, framing, allow_empty, &mut found)? {
        let list = given.try_iter().map_err(|_| wrong(given))?;
        for input in list {
            let input = input?;
            if !one(&input, &class, framing, allow_empty, &mut found)? {
                return Err(wrong(&input));
            }
        }
    }
    if found.is_empty() && !allow_empty {
        return Err(error::argument("no input: the list is empty (`allow_empty=True` allows that)"));
    }
    Ok(found)
}

fn wrong(given: &Bound<'_, PyAny>) -> PyErr {
    let kind = given.get_type().name().map_or_else(|_| String::new(), |name| name.to_string());
    error::argument(format!(
        "paths, URLs, bytes, file objects or tercet.Split expected, alone or in a list, not {kind}"
    ))
}

/// Adds what one object stands for; whether it is no list.
fn one(
    given: &Bound<'_, PyAny>,
    class: &Bound<'_, PyAny>,
    framing: Option<&Framing>,
    allow_empty: bool,
    found: &mut Vec<Input>,
) -> PyResult<bool> {
    if given.is_instance(class)? {
        found.push(split(given, framing)?);
        return Ok(true);
    }
    if given.is_instance_of::<PyBytes>()
        || given.is_instance_of::<PyByteArray>()
        || given.is_instance_of::<PyMemoryView>()
    {
        found.push(Input::new(Content::Octets(Arc::new(Held::of(given)?))));
        return Ok(true);
    }
    let Ok(path) = given.extract::<PathBuf>() else {
        if given.hasattr("read")? {
            found.push(Input::new(Content::Object(Arc::new(Object::new(given)))));
            return Ok(true);
        }
        return Ok(false);
    };
    let is_text = given.is_instance_of::<PyString>();
    if is_text && let Some(text) = path.to_str().filter(|text| is_url(text)) {
        let expand = given.py().import("tercet._urls")?.getattr("expand")?;
        let (files, is_glob): (Vec<(String, PathBuf)>, bool) =
            expand.call1((text,)).and_then(|it| it.extract()).map_err(error::of_python)?;
        // A URL is no path, but has the separators of one.
        let files = files.into_iter().map(|(url, below)| (PathBuf::from(url), below));
        let expanded = inputs::Expanded::of_listing(files, is_glob.then_some(text));
        warn_of_skipped(given.py(), &expanded)?;
        if expanded.files.is_empty() && !allow_empty {
            let text = format!("{text}: no file {}", if is_glob { "matches" } else { "in the directory" });
            return Err(error::io(io::Error::new(io::ErrorKind::NotFound, text)));
        }
        let urls = expanded.files.into_iter().filter_map(|url| url.into_os_string().into_string().ok());
        found.extend(urls.map(|url| Input::new(Content::Url(url))));
        return Ok(true);
    }
    let is_directory = fs::metadata(&path).is_ok_and(|it| it.is_dir());
    // What is no text is a path and nothing else.
    if is_text || is_directory {
        let files = files_of(given.py(), path.as_os_str())?;
        if files.is_empty() && !allow_empty {
            let text = format!("{}: no file in the directory", path.display());
            return Err(error::io(io::Error::new(io::ErrorKind::NotFound, text)));
        }
        found.extend(files.into_iter().map(|path| Input::new(Content::File(path))));
    } else {
        found.push(Input::new(Content::File(path)));
    }
    Ok(true)
}

/// `tercet.Split`.
fn split(object: &Bound<'_, PyAny>, framing: Option<&Framing>) -> PyResult<Input> {
    let Some(given) = framing else {
        return Err(error::argument("a split is a part of a file: give the file"));
    };
    let path: PathBuf = object.getattr("file")?.extract().map_err(error::of_python)?;
    let content = match path.to_str().filter(|text| is_url(text)) {
        Some(url) => Content::Url(url.to_owned()),
        None => Content::File(path),
    };
    let input = Input::new(content);
    let split = || {
        PyResult::Ok(Split {
            start: object.getattr("start")?.extract()?,
            end: object.getattr("end")?.extract()?,
            first: object.getattr("record")?.extract()?,
            around: object.getattr("around")?.extract()?,
        })
    };
    let split = split().map_err(error::of_python)?;
    if split == Split::default() {
        return Ok(input);
    }
    let framing: Option<String> = object.getattr("framing")?.extract().map_err(error::of_python)?;
    let filler: Vec<u8> = object.getattr("filler")?.extract().map_err(error::of_python)?;
    let framing = match framing {
        Some(told) => {
            let mut framing = given.clone().with(&told).map_err(error::argument)?;
            framing.filler = filler;
            Some(framing)
        }
        None => None,
    };
    Ok(Input { split: Some((split, framing)), ..input })
}
