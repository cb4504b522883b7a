//! Lists side by side: which elements belong together, which have come and which have gone.

use crate::Value;

/// Cells of the table that finds the longest common part; larger lists are aligned by their equal ends alone.
const CELLS: usize = 4_000_000;

/// A step through two lists; numbers are indices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// These elements belong together.
    Both(usize, usize),
    /// An element of the first list only.
    Before(usize),
    /// An element of the second list only.
    After(usize),
}

/// Aligns two lists: equal elements in their order as many as can be, and those between them one by one, as far as there
/// are as many on both sides.
pub fn align(before: &[Value], after: &[Value]) -> Vec<Step> {
    let begin = before.iter().zip(after).take_while(|(a, b)| a == b).count();
    let (a, b) = (&before[begin..], &after[begin..]);
    let end = a.iter().rev().zip(b.iter().rev()).take_while(|(a, b)| a == b).count();
    let (a, b) = (&a[..a.len() - end], &b[..b.len() - end]);
    let mut steps: Vec<Step> = (0..begin).map(|at| Step::Both(at, at)).collect();
    let (mut i, mut j) = (0, 0);
    for (x, y) in common(a, b).into_iter().chain([(a.len(), b.len())]) {
        gap(&mut steps, a, b, (i, x), (j, y), begin);
        if x < a.len() && y < b.len() {
            steps.push(Step::Both(begin + x, begin + y));
        }
        (i, j) = (x + 1, y + 1);
    }
    let (a, b) = (before.len() - end, after.len() - end);
    steps.extend((0..end).map(|at| Step::Both(a + at, b + at)));
    steps
}

/// What stands between two pairs of equal elements: of one length, changed one by one; else those most alike, in order.
fn gap(
    steps: &mut Vec<Step>,
    a: &[Value],
    b: &[Value],
    (i, x): (usize, usize),
    (j, y): (usize, usize),
    begin: usize,
) {
    let (i, j) = (i.min(x), j.min(y));
    let pairs = (x - i).min(y - j);
    // The shorter side is laid where its first element finds the most alike of the longer.
    let spare = (x - i).max(y - j) - pairs;
    let shift = (0..=spare.min(32))
        .max_by_key(|shift| {
            let score: usize = (0..pairs.min(32))
                .map(|at| {
                    if x - i < y - j {
                        alike(&a[i + at], &b[j + at + shift])
                    } else {
                        alike(&a[i + at + shift], &b[j + at])
                    }
                })
                .sum();
            (score, std::cmp::Reverse(*shift))
        })
        .unwrap_or(0);
    let (a_first, b_first) = if x - i < y - j { (0, shift) } else { (shift, 0) };
    steps.extend((i..i + a_first).map(|at| Step::Before(begin + at)));
    steps.extend((j..j + b_first).map(|at| Step::After(begin + at)));
    steps.extend((0..pairs).map(|at| Step::Both(begin + i + a_first + at, begin + j + b_first + at)));
    steps.extend((i + a_first + pairs..x).map(|at| Step::Before(begin + at)));
    steps.extend((j + b_first + pairs..y).map(|at| Step::After(begin + at)));
}

/// How much two values have in common, not looking deep.
fn alike(a: &Value, b: &Value) -> usize {
    match (a, b) {
        (Value::Sequence(a) | Value::Set(a), Value::Sequence(b) | Value::Set(b)) => {
            let same =
                |(name, value): &&(String, Value)| b.iter().any(|(other, it)| name == other && value == it);
            1 + a.iter().filter(same).count()
        }
        (Value::Choice(a, x), Value::Choice(b, y)) if a == b => 1 + alike(x, y),
        _ => usize::from(std::mem::discriminant(a) == std::mem::discriminant(b)),
    }
}

/// The longest common subsequence as pairs of indices.
fn common(a: &[Value], b: &[Value]) -> Vec<(usize, usize)> {
    if a.is_empty() || b.is_empty() || a.len().saturating_mul(b.len()) > CELLS {
        return Vec::new();
    }
    // Equal values get equal numbers, so that they are compared in depth once only.
    let mut numbers = std::collections::HashMap::new();
    let mut number = |value| {
        let next = numbers.len();
        *numbers.entry(value).or_insert(next)
    };
    let a: Vec<usize> = a.iter().map(&mut number).collect();
    let b: Vec<usize> = b.iter().map(&mut number).collect();
    let width = b.len() + 1;
    let mut lengths = vec![0u32; (a.len() + 1) * width];
    for i in (0..a.len()).rev() {
        for j in (0..b.len()).rev() {
            lengths[i * width + j] = if a[i] == b[j] {
                lengths[(i + 1) * width + j + 1] + 1
            } else {
                lengths[(i + 1) * width + j].max(lengths[i * width + j + 1])
            };
        }
    }
    let (mut i, mut j, mut pairs) = (0, 0, Vec::new());
    while i < a.len() && j < b.len() {
        if a[i] == b[j] {
            pairs.push((i, j));
            (i, j) = (i + 1, j + 1);
        } else if lengths[(i + 1) * width + j] >= lengths[i * width + j + 1] {
            i += 1;
        } else {
            j += 1;
        }
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `=` for elements that belong together and are equal, `~` if they are not, `-` gone, `+` come.
    fn steps(before: &[i64], after: &[i64]) -> String {
        let list = |numbers: &[i64]| numbers.iter().map(|number| Value::Integer(*number)).collect::<Vec<_>>();
        let (a, b) = (list(before), list(after));
        let steps = align(&a, &b);
        let (gone, come): (Vec<_>, Vec<_>) = (
            steps
                .iter()
                .filter_map(
                    |step| if let Step::Both(x, _) | Step::Before(x) = step { Some(*x) } else { None },
                )
                .collect(),
            steps
                .iter()
                .filter_map(|step| if let Step::Both(_, y) | Step::After(y) = step { Some(*y) } else { None })
                .collect(),
        );
        assert_eq!(gone, (0..a.len()).collect::<Vec<_>>());
        assert_eq!(come, (0..b.len()).collect::<Vec<_>>());
        let sign = |step| match step {
            Step::Both(x, y) if a[x] == b[y] => '=',
            Step::Both(..) => '~',
            Step::Before(_) => '-',
            Step::After(_) => '+',
        };
        steps.into_iter().map(sign).collect()
    }

    #[test]
    fn lists_are_laid_side_by_side() {
        for (before, after, want) in [
            (&[1, 2, 3][..], &[1, 2, 3][..], "==="),
            (&[1, 2, 3], &[1, 9, 2, 3], "=+=="),
            (&[1, 9, 2, 3], &[1, 2, 3], "=-=="),
            (&[1, 2, 3], &[1, 7, 3], "=~="),
            (&[1, 2, 3], &[2, 3, 4], "-==+"),
            (&[], &[1, 2], "++"),
            (&[1, 2], &[], "--"),
            (&[1, 2], &[3, 4], "~~"),
            (&[5, 1, 2, 6], &[7, 1, 2], "~==-"),
        ] {
            assert_eq!(steps(before, after), want, "{before:?} {after:?}");
        }
    }
}
