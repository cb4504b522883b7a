//! What is said of sums, ranges and sequences: a line for each for people, an object for machines.

use crate::term::grouped;
use serde_json::{Map, Value, json};
use tercet::records::{Extreme, Figure, FigureKind, Figures, SEQUENCE_SAMPLES, Sequence, Total};

/// A line for each figure.
pub fn lines(figures: &Figures) -> impl Iterator<Item = String> + '_ {
    figures.iter().map(|Figure { path, kind }| match kind {
        FigureKind::Total(total) => format!("{path}: {}", total_line(total)),
        FigureKind::Sequence(sequence) => format!("{path}: {}", sequence_line(sequence)),
    })
}

/// The figures by their paths.
pub fn json(figures: &Figures) -> Value {
    let mut paths = Map::new();
    for Figure { path, kind } in figures.iter() {
        let members = match kind {
            FigureKind::Total(total) => total_json(total),
            FigureKind::Sequence(sequence) => json!({ "sequence": sequence_json(sequence) }),
        };
        let known = paths.entry(path.clone()).or_insert_with(|| json!({}));
        if let (Value::Object(known), Value::Object(members)) = (known, members) {
            known.extend(members);
        }
    }
    Value::Object(paths)
}

fn total_line(total: &Total) -> String {
    let mut line = format!("{} values", grouped(total.count));
    if let Some(sum) = total.sum {
        line += &format!(", sum {sum}");
    }
    if let (Some(least), Some(greatest)) = (&total.least, &total.greatest) {
        line += &format!(", {least} to {greatest}");
    }
    line
}

fn total_json(total: &Total) -> Value {
    let number = |amount: tercet::records::Amount| {
        amount.integer().map_or_else(|| Value::from(amount.to_string()), Value::from)
    };
    let end = |end: &Option<Extreme>| match end {
        Some(Extreme::Number(amount)) => number(*amount),
        Some(Extreme::Text(text)) => text.as_str().into(),
        None => Value::Null,
    };
    json!({
        "values": total.count,
        "sum": total.sum.map(number),
        "min": end(&total.least),
        "max": end(&total.greatest),
    })
}

/// A sequence in words.
pub fn sequence_line(sequence: &Sequence) -> String {
    if sequence.is_none() {
        return "no sequence: more than 65,536 gaps".to_owned();
    }
    let Some(range) = sequence.range() else { return "no numbers".to_owned() };
    let gap = |gap: std::ops::RangeInclusive<i64>| match (gap.start(), gap.end()) {
        (first, last) if first == last => first.to_string(),
        (first, last) => format!("{first} to {last}"),
    };
    let mut gaps: Vec<String> = sequence.gaps().take(SEQUENCE_SAMPLES).map(gap).collect();
    if sequence.gaps().count() > gaps.len() {
        gaps.push("…".to_owned());
    }
    let mut repeated: Vec<String> = sequence.repeated().map(|number| number.to_string()).collect();
    if sequence.duplicates() > repeated.len() as u128 {
        repeated.push("…".to_owned());
    }
    let listed = |count: u128, list: &[String]| match list {
        [] => count.to_string(),
        list => format!("{count} ({})", list.join(", ")),
    };
    let mut line = format!(
        "{} to {}, missing {}, repeated {}",
        range.start(),
        range.end(),
        listed(sequence.missing(), &gaps),
        listed(sequence.duplicates(), &repeated),
    );
    if sequence.others() > 0 {
        line += &format!(", {} values are not numbers", grouped(sequence.others()));
    }
    line
}

/// The same for machines.
pub fn sequence_json(sequence: &Sequence) -> Value {
    if sequence.is_none() {
        return json!({ "gaps": null });
    }
    // Beyond 64 bits JSON has no number that all readers keep.
    let count = |count: u128| u64::try_from(count).map_or_else(|_| count.to_string().into(), Value::from);
    let gaps = sequence.gaps().take(SEQUENCE_SAMPLES).map(|gap| json!([gap.start(), gap.end()]));
    json!({
        "first": sequence.range().map(|range| *range.start()),
        "last": sequence.range().map(|range| *range.end()),
        "missing": count(sequence.missing()),
        "gaps": gaps.collect::<Vec<_>>(),
        "repeated": count(sequence.duplicates()),
        "repeats": sequence.repeated().collect::<Vec<_>>(),
        "others": sequence.others(),
    })
}
