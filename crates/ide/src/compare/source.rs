//! Whether a program that uses generated types still compiles with those of another version: by comparing what the generator
//! prints for the two.

use std::collections::BTreeMap;

/// A type of generated Rust.
#[derive(Debug, Default, PartialEq, Eq)]
struct Item {
    /// `struct Call<'a>`, or all of an alias or constant.
    head: String,
    members: Vec<String>,
    /// `true` if users cannot rely on there being no other member.
    is_open: bool,
}

/// What of some generated Rust a user can name and the other does not have in the same form, a line for each.
pub(super) fn faults(old: &str, new: &str) -> Vec<String> {
    let (olds, news) = (items(old), items(new));
    let mut faults = Vec::new();
    for (name, old) in &olds {
        let Some(new) = news.get(name) else {
            faults.push(format!("`{name}` is removed"));
            continue;
        };
        if old.head != new.head {
            faults.push(format!("`{}` is `{}`", old.head, new.head));
            continue;
        }
        let own = |member: &String| {
            member.split([':', '(']).next().unwrap_or_default().trim().trim_start_matches("pub ").to_owned()
        };
        let known: BTreeMap<String, &String> =
            new.members.iter().map(|member| (own(member), member)).collect();
        let before: BTreeMap<String, &String> =
            old.members.iter().map(|member| (own(member), member)).collect();
        for (member, text) in &before {
            match known.get(member) {
                None => faults.push(format!("`{name}::{member}` is removed")),
                Some(other) if other != text => {
                    let plain = |text: &str| text.trim_start_matches("pub ").to_owned();
                    faults.push(format!("`{name}`: `{}` is `{}`", plain(text), plain(other)));
                }
                Some(_) => {}
            }
        }
        let is_open = old.is_open && new.is_open;
        for member in known.keys().filter(|member| !is_open && !before.contains_key(*member)) {
            faults.push(format!("`{name}::{member}` is new"));
        }
        if !old.is_open && new.is_open {
            faults.push(format!("`{name}` may get more members"));
        }
    }
    faults
}

/// The public types, aliases and constants of generated Rust by name.
fn items(text: &str) -> BTreeMap<String, Item> {
    let mut all = BTreeMap::new();
    let mut is_open = false;
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if line.starts_with("#[non_exhaustive]") {
            is_open = true;
            continue;
        }
        if line.starts_with("#[") || line.starts_with("///") {
            continue;
        }
        let was_open = std::mem::take(&mut is_open);
        let kinds = ["struct ", "enum ", "type ", "const "];
        let Some(rest) = line.strip_prefix("pub ") else { continue };
        let Some(kind) = kinds.iter().find(|kind| rest.starts_with(**kind)) else { continue };
        let name: String =
            rest[kind.len()..].chars().take_while(|it| it.is_alphanumeric() || *it == '_').collect();
        let mut item = Item { is_open: was_open, ..Item::default() };
        match *kind {
            "type " => item.head = rest.trim_end_matches(';').to_owned(),
            "const " => item.head = rest.split('=').next().unwrap_or_default().trim().to_owned(),
            _ => {
                let mut whole = rest.to_owned();
                let depth = |text: &str| {
                    text.matches(['{', '(']).count() as i64 - text.matches(['}', ')']).count() as i64
                };
                while depth(&whole) > 0 {
                    let Some(line) = lines.next() else { break };
                    // Comments have braces too.
                    let line = line.trim();
                    if !line.starts_with("//") && !line.starts_with("#[") {
                        whole.push_str(line);
                    }
                }
                let begin = whole.find(['{', '(']).unwrap_or(whole.len());
                item.head = whole[..begin].trim().trim_end_matches(';').to_owned();
                let end = whole.rfind(['}', ')']).unwrap_or(whole.len()).max(begin);
                item.members = split(whole.get(begin + 1..end).unwrap_or_default());
            }
        }
        all.insert(name, item);
    }
    all
}

/// The parts between commas that are in no brackets.
fn split(text: &str) -> Vec<String> {
    let (mut parts, mut depth, mut from) = (Vec::new(), 0, 0);
    for (at, character) in text.char_indices() {
        match character {
            '<' | '(' | '[' | '{' => depth += 1,
            '>' | ')' | ']' | '}' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(text[from..at].trim().to_owned());
                from = at + 1;
            }
            _ => {}
        }
    }
    parts.push(text[from..].trim().to_owned());
    parts.retain(|part| !part.is_empty());
    parts
}

#[cfg(test)]
mod tests {
    use super::faults;

    const OLD: &str = "pub struct Call<'a> {\n    pub a: u8,\n    /// {\n    pub b: Vec<(u8, u8)>,\n}\n\
        #[non_exhaustive]\npub enum Cause {\n    Busy, Other,\n    Unknown(i64),\n}\npub type Number = u16;\n";

    #[test]
    fn the_same_is_compatible() {
        assert_eq!(faults(OLD, OLD), [""; 0]);
        assert_eq!(faults(OLD, &OLD.replace("Other,", "Other, Third,")), [""; 0]);
    }

    #[test]
    fn what_users_name_counts() {
        assert_eq!(faults(OLD, &OLD.replace("u16", "u32")), ["`type Number = u16` is `type Number = u32`"]);
        assert_eq!(faults(OLD, &OLD.replace("pub a: u8,", "pub a: u16,")), ["`Call`: `a: u8` is `a: u16`"]);
        assert_eq!(faults(OLD, &OLD.replace("pub a: u8,", "pub a: u8, pub c: u8,")), ["`Call::c` is new"]);
        assert_eq!(faults(OLD, &OLD.replace("Busy, ", "")), ["`Cause::Busy` is removed"]);
        assert_eq!(faults(OLD, &OLD.replace("pub type Number = u16;\n", "")), ["`Number` is removed"]);
    }
}
