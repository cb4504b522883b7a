//! Types whose methods are cut into parts, so that none is too long for the virtual machine.

use super::text::Text;
use crate::code::sequence::Sequence;
use std::ops::Range;

/// Parts of a type that one method reads or writes at most: the compiler of the virtual machine leaves methods of more than
/// 8,000 bytes uncompiled, and a component takes up to 60.
pub(super) const PARTS: usize = 64;

/// The extension additions that methods read or write one after another, by their numbers; none if the method of their type
/// has room for them.
pub(super) fn added_parts<V>(code: &Sequence<'_, V>, is_record: bool) -> Vec<Range<usize>> {
    let sizes = code.additions.iter().map(|addition| addition.members().len());
    // A longer root has methods for its components.
    let root = Some(code.root.members.len()).filter(|count| *count <= PARTS).unwrap_or(0);
    if is_record || root + sizes.clone().sum::<usize>() <= PARTS { Vec::new() } else { ranges(sizes) }
}

/// The parts that one method reads or writes of some that have these numbers of components.
fn ranges(sizes: impl Iterator<Item = usize>) -> Vec<Range<usize>> {
    let mut ranges: Vec<Range<usize>> = Vec::new();
    let mut count = 0;
    for (at, size) in sizes.enumerate() {
        match ranges.last_mut().filter(|_| count + size <= PARTS) {
            Some(range) => range.end = at + 1,
            None => {
                ranges.push(at..at + 1);
                count = 0;
            }
        }
        count += size;
    }
    ranges
}

/// Conditions on the components of a value that would be too many for one method: the lines that make the array `into` of
/// them, and the methods that these call.
pub(super) fn conditions(
    into: &str,
    method: &str,
    class: &str,
    conditions: &[String],
) -> (Vec<String>, Vec<String>) {
    let mut lines = vec![format!("boolean[] {into} = new boolean[{}];", conditions.len())];
    let mut methods = Vec::new();
    for (part, chunk) in conditions.chunks(2 * PARTS).enumerate() {
        lines.push(format!("{method}{part}(value, {into});"));
        let mut text = Text::at(1);
        text.open(format!("private static void {method}{part}({class} value, boolean[] {into}) {{"));
        for (number, condition) in chunk.iter().enumerate() {
            text.line(format!("{into}[{}] = {condition};", 2 * PARTS * part + number));
        }
        text.close("}");
        methods.push(text.finish());
    }
    (lines, methods)
}
