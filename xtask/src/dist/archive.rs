//! Archives whose octets depend on nothing but the files and the time.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;
use tar::{Builder, EntryType, Header};

/// An archive of all files below a folder, under a new name for the folder, in the order of their names.
///
/// # Errors
/// A file cannot be read.
pub(super) fn tar(folder: &Path, name: &str, time: u64) -> Result<Vec<u8>, String> {
    let mut archive = Builder::new(Vec::new());
    for path in files(folder)? {
        let octets = fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        let below = path.strip_prefix(folder).unwrap_or(&path);
        let is_program = below == Path::new("tercet");
        append(&mut archive, &Path::new(name).join(below), &octets, is_program, time)?;
    }
    archive.into_inner().map_err(|error| error.to_string())
}

/// Adds a file that belongs to root.
///
/// # Errors
/// The name is too long for the format.
pub(super) fn append(
    archive: &mut Builder<Vec<u8>>,
    path: &Path,
    octets: &[u8],
    is_program: bool,
    time: u64,
) -> Result<(), String> {
    let mut header = Header::new_ustar();
    header.set_entry_type(EntryType::Regular);
    header.set_mode(if is_program { 0o755 } else { 0o644 });
    header.set_mtime(time);
    header.set_size(octets.len() as u64);
    archive.append_data(&mut header, path, octets).map_err(|error| format!("{}: {error}", path.display()))
}

/// The same octets compressed, with neither name nor time in the header.
///
/// # Errors
/// None but those of writing to memory.
pub(super) fn gzip(octets: &[u8]) -> Result<Vec<u8>, String> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(octets).and_then(|()| encoder.finish()).map_err(|error| error.to_string())
}

fn files(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
        for entry in fs::read_dir(&folder).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            if path.is_dir() { folders.push(path) } else { found.push(path) }
        }
    }
    found.sort();
    Ok(found)
}
