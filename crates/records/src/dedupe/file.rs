//! The records of earlier runs, on the disk: what has been added since lately in one file, all others sorted in another beside it.
//!
//! What is added for an output reaches the disk before the output has its name, and counts for all outputs but itself. So a
//! run that is killed leaves nothing wrong: an output that is not there is made again, as if it had not been added.
//!
//! The first file has a line at its begin and then additions, the last of which may be cut; the sorted one is there whole or not at all.

use super::Digest;
use crate::output::Output;
use sha2::{Digest as _, Sha256};
use std::collections::{HashMap, HashSet};
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::ops::{Deref, DerefMut};
use std::path::{Path, PathBuf};

/// Records that are held in memory at least before they go to the sorted file: of 24 octets each.
const RECENT: usize = 1 << 20;
/// The part of the sorted file that they are at least, so that it is not written too often.
const SHARE: u64 = 16;
/// Entries of the sorted file that are read at once.
const BLOCK: u64 = 256;
/// Octets of an entry: a digest, and the output whose row the record is.
const ENTRY: usize = 24;
/// What the files begin with.
const MAGIC: &str = "tercet dedupe 3 ";
/// What those of earlier versions begin with.
const EARLIER_MAGIC: &str = "tercet dedupe 2 ";

/// An output, by a digest of its name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Owner(u64);

impl Owner {
    /// An output that is like no other.
    pub(super) const NOBODY: Self = Self(0);

    pub(super) fn of(output: &str) -> Self {
        Self(first(Sha256::digest(output).as_slice()).max(1))
    }
}

/// A file that is this run's. It is unlocked before it is closed: a process that another thread is about to start has it open too,
/// for a moment.
#[derive(Debug)]
struct Locked(File);

impl Drop for Locked {
    fn drop(&mut self) {
        _ = self.0.unlock();
    }
}

impl Deref for Locked {
    type Target = File;
    fn deref(&self) -> &File {
        &self.0
    }
}

impl DerefMut for Locked {
    fn deref_mut(&mut self) -> &mut File {
        &mut self.0
    }
}

/// Records of earlier outputs.
#[derive(Debug)]
pub(super) struct StateFile {
    path: PathBuf,
    heading: String,
    additions: Locked,
    /// Where the last addition ends.
    end: u64,
    /// What they hold.
    recent: HashMap<Digest, Owner>,
    /// The outputs that they are of: what the sorted file has of these is out of date.
    owners: HashSet<Owner>,
    sorted: Option<Sorted>,
    most: usize,
}

impl StateFile {
    /// Opens or begins the files; `meaning` is what digests depend on, `earlier` what an earlier version called the same.
    pub(super) fn open(path: &Path, meaning: &str, earlier: Option<&str>) -> io::Result<Self> {
        let mut file = Self::begin(path, meaning, earlier).map_err(|error| named(path, &error))?;
        file.sorted = Sorted::open(&beside(path), &file.heading)?;
        Ok(file)
    }

    fn begin(path: &Path, meaning: &str, earlier: Option<&str>) -> io::Result<Self> {
        // A pipe would be waited for.
        if std::fs::metadata(path).is_ok_and(|found| !found.is_file()) {
            return Err(io::Error::other("not a file"));
        }
        let additions = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?;
        match additions.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(io::Error::other("another run has this file")),
            Err(TryLockError::Error(error)) => return Err(error),
        }
        let mut additions = Locked(additions);
        let heading = |magic: &str, meaning: &str| {
            format!("{magic}{:016x}\n", first(Sha256::digest(meaning).as_slice()))
        };
        let earlier = earlier.map(|meaning| heading(EARLIER_MAGIC, meaning));
        let mut heading = heading(MAGIC, meaning);
        let mut found = Vec::new();
        (&mut *additions).take(heading.len() as u64).read_to_end(&mut found)?;
        // The digests of a file that an earlier version has begun are the same, and it stays that file.
        if let Some(earlier) = earlier.filter(|earlier| earlier.as_bytes() == found) {
            heading = earlier;
        }
        if !heading.as_bytes().starts_with(&found) {
            return Err(foreign(&found));
        }
        if found.len() < heading.len() {
            additions.set_len(0)?;
            additions.rewind()?;
            additions.write_all(heading.as_bytes())?;
        }
        let (recent, owners) = (HashMap::new(), HashSet::new());
        let path = path.to_owned();
        let mut file = Self { path, heading, additions, end: 0, recent, owners, sorted: None, most: RECENT };
        file.read_additions()?;
        Ok(file)
    }

    /// Reads what has been added, but for an addition that is cut at the end.
    fn read_additions(&mut self) -> io::Result<()> {
        let length = self.additions.metadata()?.len();
        self.end = self.heading.len() as u64;
        self.additions.seek(SeekFrom::Start(self.end))?;
        let mut input = BufReader::new(self.additions.try_clone()?);
        while let Some((owner, digests, size)) = addition(&mut input, length - self.end)? {
            self.take(owner, digests);
            self.end += size;
        }
        Ok(())
    }

    /// Replaces what there is of an output.
    fn take(&mut self, owner: Owner, digests: impl IntoIterator<Item = Digest>) {
        if owner != Owner::NOBODY && !self.owners.insert(owner) {
            self.recent.retain(|_, known| *known != owner);
        }
        self.recent.extend(digests.into_iter().map(|digest| (digest, owner)));
    }

    /// Whether another output has a record.
    pub(super) fn has(&mut self, digest: &Digest, owner: Owner) -> io::Result<bool> {
        let is_other = |known: Owner| known != owner || known == Owner::NOBODY;
        if self.recent.get(digest).is_some_and(|known| is_other(*known)) {
            return Ok(true);
        }
        let Some(sorted) = &mut self.sorted else { return Ok(false) };
        let found = sorted.find(digest).map_err(|error| named(&beside(&self.path), &error))?;
        Ok(found.is_some_and(|known| is_other(known) && !self.owners.contains(&known)))
    }

    /// Adds the records of an output.
    pub(super) fn add(&mut self, owner: Owner, digests: HashSet<Digest>) -> io::Result<()> {
        let mut octets = Vec::with_capacity(24 + 16 * digests.len());
        octets.extend_from_slice(&owner.0.to_be_bytes());
        octets.extend_from_slice(&(digests.len() as u64).to_be_bytes());
        octets.extend(digests.iter().flatten());
        let sum = first(Sha256::digest(&octets).as_slice());
        octets.extend_from_slice(&sum.to_be_bytes());
        self.append(&octets).map_err(|error| named(&self.path, &error))?;
        self.take(owner, digests);
        let count = self.sorted.as_ref().map_or(0, |sorted| sorted.count);
        if self.recent.len() >= self.most && self.recent.len() as u64 >= count / SHARE {
            self.merge()?;
        }
        Ok(())
    }

    /// Writes an addition in place of what a failure has left behind the last one.
    fn append(&mut self, octets: &[u8]) -> io::Result<()> {
        self.additions.set_len(self.end)?;
        self.additions.seek(SeekFrom::Start(self.end))?;
        self.additions.write_all(octets)?;
        self.additions.sync_data()?;
        self.end += octets.len() as u64;
        Ok(())
    }

    /// Moves all that has been added to the sorted file.
    fn merge(&mut self) -> io::Result<()> {
        let path = beside(&self.path);
        let entry = |(digest, owner): (&Digest, &Owner)| (*digest, *owner);
        let mut fresh: Vec<(Digest, Owner)> = self.recent.iter().map(entry).collect();
        fresh.sort_unstable();
        let old = Sorted::open(&path, &self.heading)?.map(Sorted::entries).into_iter().flatten();
        let mut writer = Writer::create(&path, &self.heading)?;
        let mut fresh = fresh.into_iter().peekable();
        for entry in old {
            let entry: (Digest, Owner) = entry.map_err(|error| named(&path, &error))?;
            if self.owners.contains(&entry.1) {
                continue;
            }
            while let Some(before) = fresh.next_if(|before| before.0 < entry.0) {
                writer.add(before)?;
            }
            if fresh.peek().is_none_or(|next| next.0 != entry.0) {
                writer.add(entry)?;
            }
        }
        fresh.try_for_each(|entry| writer.add(entry))?;
        writer.finish()?;
        self.sorted = Sorted::open(&path, &self.heading)?;
        self.owners.clear();
        self.recent.clear();
        // If it is not emptied, what is added twice is there once.
        self.end = self.heading.len() as u64;
        self.additions.set_len(self.end).map_err(|error| named(&self.path, &error))
    }
}

/// The next addition and its number of octets, of those that are left; nothing if it is cut.
fn addition(input: &mut impl Read, left: u64) -> io::Result<Option<(Owner, Vec<Digest>, u64)>> {
    let mut head = [0; 16];
    if left < 24 {
        return Ok(None);
    }
    input.read_exact(&mut head)?;
    let (owner, count) = (first(&head), first(&head[8..]));
    let Some(size) = count.checked_mul(16).and_then(|size| size.checked_add(24)).filter(|size| *size <= left)
    else {
        return Ok(None);
    };
    let mut hash = Sha256::new_with_prefix(head);
    let mut digests = Vec::new();
    for _ in 0..count {
        let mut digest = Digest::default();
        input.read_exact(&mut digest)?;
        hash.update(digest);
        digests.push(digest);
    }
    let mut sum = [0; 8];
    input.read_exact(&mut sum)?;
    if first(hash.finalize().as_slice()) == u64::from_be_bytes(sum) {
        return Ok(Some((Owner(owner), digests, size)));
    }
    // The system may have given a file that was cut its length, and not its octets.
    if size == left { Ok(None) } else { Err(damaged()) }
}

/// All records but those of late, in the order of their digests: entries; the first digest and a sum of each block of them; the number
/// of entries; a sum of all this but the entries. A block is checked when it is read.
#[derive(Debug)]
struct Sorted {
    file: File,
    begin: u64,
    count: u64,
    blocks: Vec<Block>,
    octets: Vec<u8>,
}

/// What is known of a block: its first digest, and a sum of its entries.
type Block = (Digest, [u8; 8]);
/// Octets of that.
const BLOCK_OCTETS: usize = 24;

/// A short sum of octets, against damage.
fn sum(octets: &[u8]) -> [u8; 8] {
    first(Sha256::digest(octets).as_slice()).to_be_bytes()
}

impl Sorted {
    /// Opens the file, if it is there.
    fn open(path: &Path, heading: &str) -> io::Result<Option<Self>> {
        let file = match File::open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(named(path, &error)),
        };
        Self::read(file, heading).map(Some).map_err(|error| named(path, &error))
    }

    fn read(mut file: File, heading: &str) -> io::Result<Self> {
        let mut found = Vec::new();
        (&mut file).take(heading.len() as u64).read_to_end(&mut found)?;
        if found != heading.as_bytes() {
            return Err(foreign(&found));
        }
        let (begin, length) = (heading.len() as u64, file.metadata()?.len());
        let end = length.checked_sub(16).filter(|end| *end >= begin).ok_or_else(damaged)?;
        file.seek(SeekFrom::Start(end))?;
        let (mut count, mut known) = ([0; 8], [0; 8]);
        file.read_exact(&mut count)?;
        file.read_exact(&mut known)?;
        let mut index = heading.as_bytes().to_vec();
        let (count_octets, count) = (count, u64::from_be_bytes(count));
        let entries = count.checked_mul(ENTRY as u64).and_then(|size| size.checked_add(begin));
        let blocks = count.div_ceil(BLOCK);
        let blocks_end =
            entries.and_then(|entries| entries.checked_add(blocks.checked_mul(BLOCK_OCTETS as u64)?));
        let entries = entries.filter(|_| blocks_end == Some(end)).ok_or_else(damaged)?;
        file.seek(SeekFrom::Start(entries))?;
        let mut octets = Vec::new();
        (&mut file).take(end - entries).read_to_end(&mut octets)?;
        index.extend_from_slice(&octets);
        index.extend_from_slice(&count_octets);
        if sum(&index) != known {
            return Err(damaged());
        }
        let block = |octets: &[u8; BLOCK_OCTETS]| -> Block {
            let (digest, sum) = octets.split_at(16);
            (digest.try_into().unwrap_or_default(), sum.try_into().unwrap_or_default())
        };
        let blocks = octets.as_chunks::<BLOCK_OCTETS>().0.iter().map(block).collect();
        Ok(Self { file, begin, count, blocks, octets: Vec::new() })
    }

    fn find(&mut self, digest: &Digest) -> io::Result<Option<Owner>> {
        let Some(block) = self.blocks.partition_point(|(first, _)| first <= digest).checked_sub(1) else {
            return Ok(None);
        };
        self.block(block)?;
        let (entries, _) = self.octets.as_chunks::<ENTRY>();
        let found = entries.binary_search_by(|entry| entry[..16].cmp(digest)).ok();
        Ok(found.map(|at| Owner(first(&entries[at][16..]))))
    }

    /// Reads the entries of a block.
    fn block(&mut self, block: usize) -> io::Result<()> {
        let first_entry = block as u64 * BLOCK;
        let size = BLOCK.min(self.count - first_entry) as usize * ENTRY;
        self.octets.resize(size, 0);
        self.file.seek(SeekFrom::Start(self.begin + first_entry * ENTRY as u64))?;
        self.file.read_exact(&mut self.octets)?;
        if sum(&self.octets) == self.blocks[block].1 { Ok(()) } else { Err(damaged()) }
    }

    /// All entries in order.
    fn entries(mut self) -> impl Iterator<Item = io::Result<(Digest, Owner)>> {
        let (count, mut block) = (self.blocks.len(), 0);
        let mut next = move || -> io::Result<Vec<(Digest, Owner)>> {
            self.block(block)?;
            block += 1;
            let entry = |entry: &[u8; ENTRY]| {
                let mut digest = Digest::default();
                digest.copy_from_slice(&entry[..16]);
                (digest, Owner(first(&entry[16..])))
            };
            Ok(self.octets.as_chunks::<ENTRY>().0.iter().map(entry).collect())
        };
        (0..count).flat_map(move |_| match next() {
            Ok(entries) => entries.into_iter().map(Ok).collect::<Vec<_>>(),
            Err(error) => vec![Err(error)],
        })
    }
}

/// Writes a sorted file.
struct Writer {
    output: BufWriter<Output>,
    count: u64,
    heading: String,
    /// The blocks before the one that is being written, as octets.
    blocks: Vec<u8>,
    /// The entries of that one.
    block: Vec<u8>,
}

impl Writer {
    fn create(path: &Path, heading: &str) -> io::Result<Self> {
        let mut output = BufWriter::new(Output::create_derived(path)?);
        output.write_all(heading.as_bytes())?;
        Ok(Self { output, count: 0, heading: heading.to_owned(), blocks: Vec::new(), block: Vec::new() })
    }

    fn add(&mut self, (digest, owner): (Digest, Owner)) -> io::Result<()> {
        if self.count.is_multiple_of(BLOCK) {
            self.end_block()?;
        }
        self.count += 1;
        self.block.extend_from_slice(&digest);
        self.block.extend_from_slice(&owner.0.to_be_bytes());
        Ok(())
    }

    fn end_block(&mut self) -> io::Result<()> {
        if let Some(digest) = self.block.get(..16) {
            self.blocks.extend_from_slice(digest);
            self.blocks.extend_from_slice(&sum(&self.block));
            self.output.write_all(&self.block)?;
            self.block.clear();
        }
        Ok(())
    }

    fn finish(mut self) -> io::Result<()> {
        self.end_block()?;
        let index = [self.heading.as_bytes(), &self.blocks, &self.count.to_be_bytes()].concat();
        self.output.write_all(&index[self.heading.len()..])?;
        self.output.write_all(&sum(&index))?;
        self.output.into_inner().map_err(io::IntoInnerError::into_error)?.commit()
    }
}

/// Where the sorted file is.
pub(super) fn beside(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".sorted");
    name.into()
}

/// The number that octets begin with.
fn first(octets: &[u8]) -> u64 {
    octets.first_chunk().map_or(0, |octets| u64::from_be_bytes(*octets))
}

fn named(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", tercet_printable::path(path)))
}

/// What a file is that has another heading.
fn foreign(found: &[u8]) -> io::Error {
    io::Error::other(if found.starts_with(MAGIC.as_bytes()) {
        "the records in this file are known by other components, or by values that are shown otherwise"
    } else if found.starts_with(EARLIER_MAGIC.as_bytes()) {
        "an earlier version has written this file, and its values cannot be compared\nhelp: name another file, or remove this \
         one and `.sorted` beside it to begin anew"
    } else {
        "not a file that `--dedupe-file` has written"
    })
}

fn damaged() -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidData,
        "this file is damaged\nhelp: restore it and the one beside it (`.sorted`) from a copy, or remove both: \
         records of earlier runs are then no longer known",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn digest(number: u64) -> Digest {
        let mut digest = Digest::default();
        digest.copy_from_slice(&Sha256::digest(number.to_be_bytes())[..16]);
        digest
    }

    fn add(file: &mut StateFile, owner: &str, numbers: std::ops::Range<u64>) {
        file.add(Owner::of(owner), numbers.map(digest).collect()).unwrap();
    }

    /// Which of the numbers up to 5,000 outputs other than this one have.
    fn known(file: &mut StateFile, owner: &str) -> Vec<u64> {
        (0..5_000).filter(|number| file.has(&digest(*number), Owner::of(owner)).unwrap()).collect()
    }

    #[test]
    fn what_outputs_have_is_known_over_runs() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("seen");
        // Never sorted, now and then, always.
        for most in [usize::MAX, 1_500, 1] {
            let open = || StateFile { most, ..StateFile::open(&path, "a", None).unwrap() };
            let mut file = open();
            add(&mut file, "one", 0..1_000);
            add(&mut file, "two", 1_000..3_000);
            assert_eq!(known(&mut file, "three"), Vec::from_iter(0..3_000));
            assert_eq!(known(&mut file, "one"), Vec::from_iter(1_000..3_000));
            drop(file);
            let mut file = open();
            assert_eq!(known(&mut file, "two"), Vec::from_iter(0..1_000));
            // An output that is made again has what it has then.
            add(&mut file, "one", 500..700);
            assert_eq!(known(&mut file, "three"), Vec::from_iter((500..700).chain(1_000..3_000)));
            file.add(Owner::NOBODY, (4_000..4_003).map(digest).collect()).unwrap();
            add(&mut file, "two", 0..0);
            drop(file);
            let mut file = open();
            assert_eq!(known(&mut file, "three"), Vec::from_iter((500..700).chain(4_000..4_003)));
            assert_eq!(beside(&path).exists(), most != usize::MAX);
            drop(file);
            fs::remove_file(&path).unwrap();
            _ = fs::remove_file(beside(&path));
        }
    }

    #[test]
    fn an_addition_that_is_cut_has_not_been_made() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("seen");
        let mut file = StateFile::open(&path, "a", None).unwrap();
        add(&mut file, "one", 0..3);
        let before = fs::metadata(&path).unwrap().len();
        add(&mut file, "two", 3..5);
        drop(file);
        let whole = fs::read(&path).unwrap();
        for length in 0..whole.len() {
            fs::write(&path, &whole[..length]).unwrap();
            let mut file = StateFile::open(&path, "a", None).unwrap();
            let expected = if length as u64 >= before { 3 } else { 0 };
            assert_eq!(known(&mut file, "three"), Vec::from_iter(0..expected), "{length}");
            if length % 16 > 0 {
                continue;
            }
            add(&mut file, "three", 7..8);
            drop(file);
            let mut file = StateFile::open(&path, "a", None).unwrap();
            assert_eq!(known(&mut file, "four").last(), Some(&7));
        }
        // The last may have its length and not its octets; one before is damaged.
        let mut octets = whole.clone();
        *octets.last_mut().unwrap() ^= 1;
        fs::write(&path, &octets).unwrap();
        assert_eq!(known(&mut StateFile::open(&path, "a", None).unwrap(), "three"), [0, 1, 2]);
        octets = whole;
        octets[before as usize - 30] ^= 1;
        fs::write(&path, &octets).unwrap();
        assert!(
            StateFile::open(&path, "a", None)
                .unwrap_err()
                .to_string()
                .contains("this file is damaged\nhelp: ")
        );
    }

    #[test]
    fn files_of_an_earlier_version_go_on_where_digests_are_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("seen");
        let mut file = StateFile { most: 1, ..StateFile::open(&path, "[] None", None).unwrap() };
        add(&mut file, "one", 0..3);
        add(&mut file, "two", 3..5);
        drop(file);
        // As the version before has written it.
        for path in [&path, &beside(&path)] {
            let mut octets = fs::read(path).unwrap();
            octets[MAGIC.len() - 2] = b'2';
            let heading = MAGIC.len() + 17;
            if octets.len() > heading {
                // One block, the number of entries, and the sum of these with the heading.
                let (index, end) = (octets.len() - 16 - BLOCK_OCTETS, octets.len() - 8);
                let known = sum(&[&octets[..heading], &octets[index..end]].concat());
                octets[end..].copy_from_slice(&known);
            }
            fs::write(path, octets).unwrap();
        }
        let text = StateFile::open(&path, "1:0", None).unwrap_err().to_string();
        assert!(text.contains("an earlier version has written this file"), "{text}");
        let text = StateFile::open(&path, "1:0", Some("other")).unwrap_err().to_string();
        assert!(text.contains("an earlier version has written this file"), "{text}");
        for _ in 0..2 {
            let mut file = StateFile::open(&path, "1:0", Some("[] None")).unwrap();
            assert_eq!(known(&mut file, "three"), [0, 1, 2, 3, 4]);
            add(&mut file, "four", 0..1);
        }
    }

    #[test]
    fn files_of_something_else_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("seen");
        let refused = |meaning: &str| StateFile::open(&path, meaning, None).unwrap_err().to_string();
        let file = StateFile::open(&path, "a", None).unwrap();
        assert!(refused("a").ends_with("seen: another run has this file"));
        drop(file);
        assert!(refused("b").contains("known by other components"));
        let mut file = StateFile { most: 1, ..StateFile::open(&path, "a", None).unwrap() };
        add(&mut file, "one", 0..600);
        drop(file);
        let sorted = fs::read(beside(&path)).unwrap();
        for length in (0..100).chain((100..sorted.len()).step_by(499)) {
            fs::write(beside(&path), &sorted[..length]).unwrap();
            assert!(refused("a").starts_with(&beside(&path).display().to_string()), "{length}");
        }
        // Damage anywhere is found when the place is read.
        for at in (0..sorted.len()).step_by(37) {
            let mut octets = sorted.clone();
            octets[at] ^= 1;
            fs::write(beside(&path), octets).unwrap();
            let all = StateFile::open(&path, "a", None).and_then(|mut file| {
                (0..600).try_for_each(|number| file.has(&digest(number), Owner::NOBODY).map(drop))
            });
            assert!(all.is_err(), "{at}");
        }
        fs::write(&path, "number,duration\n1,2\n").unwrap();
        assert!(refused("a").ends_with("not a file that `--dedupe-file` has written"));
    }
}
