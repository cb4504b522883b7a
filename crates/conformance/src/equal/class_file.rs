//! Sizes of methods in class files (The Java Virtual Machine Specification, chapter 4).

use std::fs;
use std::path::Path;

/// The class, the name and the bytes of code of each method in the class files of a folder and those inside of it.
///
/// # Errors
/// A file cannot be read.
pub(super) fn methods(folder: &Path) -> Result<Vec<(String, String, usize)>, String> {
    let told = |error: std::io::Error| error.to_string();
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).map_err(told)? {
            let path = entry.map_err(told)?.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "class") {
                let octets = fs::read(&path).map_err(told)?;
                let class = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
                let methods =
                    of_class(&octets).ok_or_else(|| format!("{} is not a class", path.display()))?;
                found.extend(methods.into_iter().map(|(name, size)| (class.clone(), name, size)));
            }
        }
    }
    Ok(found)
}

/// A cursor over a class file.
struct Octets<'o>(&'o [u8]);

impl<'o> Octets<'o> {
    fn take(&mut self, count: usize) -> Option<&'o [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn number(&mut self, octets: usize) -> Option<usize> {
        Some(self.take(octets)?.iter().fold(0, |number, octet| number << 8 | usize::from(*octet)))
    }
}

/// The name and the bytes of code of each method of a class.
fn of_class(octets: &[u8]) -> Option<Vec<(String, usize)>> {
    let mut r = Octets(octets);
    r.take(8)?;
    let count = r.number(2)?;
    let mut texts = vec![&[][..]; count];
    let mut index = 1;
    while index < count {
        let tag = r.number(1)?;
        match tag {
            1 => {
                let length = r.number(2)?;
                texts[index] = r.take(length)?;
            }
            3 | 4 | 9..=12 | 17 | 18 => _ = r.take(4)?,
            5 | 6 => {
                // They take two places.
                r.take(8)?;
                index += 1;
            }
            7 | 8 | 16 | 19 | 20 => _ = r.take(2)?,
            15 => _ = r.take(3)?,
            _ => return None,
        }
        index += 1;
    }
    r.take(6)?;
    let interfaces = r.number(2)?;
    r.take(2 * interfaces)?;
    members(&mut r, &texts)?;
    members(&mut r, &texts)
}

/// Fields or methods.
fn members(r: &mut Octets<'_>, texts: &[&[u8]]) -> Option<Vec<(String, usize)>> {
    let mut found = Vec::new();
    for _ in 0..r.number(2)? {
        r.take(2)?;
        let name = String::from_utf8_lossy(texts.get(r.number(2)?)?).into_owned();
        r.take(2)?;
        for _ in 0..r.number(2)? {
            let attribute = *texts.get(r.number(2)?)?;
            let length = r.number(4)?;
            let mut body = Octets(r.take(length)?);
            if attribute == b"Code" {
                body.take(4)?;
                found.push((name.clone(), body.number(4)?));
            }
        }
    }
    Some(found)
}
