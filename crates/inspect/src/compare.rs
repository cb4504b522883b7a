//! Two values side by side: which parts belong together, and where they differ.

use crate::answers::{cut, hex};
use crate::message::Message;
use crate::query::Query;
use crate::tree::{Node, Piece, Tree};
use crate::workbench::Workbench;
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use tercet_schema::dynamic::Value as Abstract;
use tercet_schema::dynamic::diff::{Step, align};

/// Lines of one answer.
const MOST_LINES: usize = 50_000;
/// Parts of a value that are compared.
const MOST_NODES: usize = 500_000;
/// Characters of a value in a line.
const CHARACTERS: usize = 200;
/// Bytes of a part in a line.
const OCTETS: usize = 24;

/// A line: a part of one value, of the other, or of both.
#[derive(Clone, Copy, Debug)]
struct Line {
    level: u16,
    left: Option<u32>,
    right: Option<u32>,
    /// Whether something in it differs.
    differs: bool,
}

impl Workbench {
    /// Compares the value that a question names with the one that it names by `with-file`, `with-record`, `with-row`,
    /// `with-type` and `with-rules`.
    pub(crate) fn compare(&self, query: &Query) -> Result<Value, String> {
        let (left_row, left) = self.message(query)?;
        let (right_row, right) = self.message(&query.other("with-"))?;
        for message in [&left, &right] {
            if message.tree.nodes.len() > MOST_NODES {
                return Err(format!("{} parts: at most {MOST_NODES} are compared", message.tree.nodes.len()));
            }
        }
        let (mut lines, differences) = compared(&left.tree, &right.tree);
        let is_cut = lines.len() > MOST_LINES;
        lines.truncate(MOST_LINES);
        let (left_pieces, right_pieces) = (pieces_of(&left.tree), pieces_of(&right.tree));
        let mut different_octets = 0;
        let listed: Vec<Value> = lines
            .iter()
            .map(|line| {
                let (a, b) = (side(&left, line.left, &left_pieces), side(&right, line.right, &right_pieces));
                let octets =
                    |side: &Option<(Map<String, Value>, Vec<u8>)>| side.as_ref().map(|side| side.1.clone());
                let differs = octets(&a) != octets(&b);
                different_octets += u64::from(differs);
                let state = match (line.left, line.right) {
                    (Some(_), None) => "removed",
                    (None, Some(_)) => "added",
                    _ if !line.differs => "same",
                    (Some(x), Some(y)) if is_leaf(&left.tree, x) || is_leaf(&right.tree, y) => "changed",
                    _ => "inside",
                };
                json!({
                    "level": line.level, "state": state, "octets": differs,
                    "left": a.map(|side| side.0), "right": b.map(|side| side.0),
                })
            })
            .collect();
        let about = |message: &Message, row: &crate::rows::Row| {
            json!({
                "record": row.kind.is_record().then_some(row.record), "row": row.number,
                "type": message.view.as_deref().map(|view| view.type_name.as_str()),
                "rules": message.view.as_deref().map(|view| view.rules.name()),
                "length": message.octets.len(), "offset": message.offset,
            })
        };
        Ok(json!({
            "differences": differences, "octets": different_octets, "cut": is_cut,
            "left": about(&left, &left_row), "right": about(&right, &right_row), "lines": listed,
        }))
    }
}

fn is_leaf(tree: &Tree, index: u32) -> bool {
    tree.nodes.get(index as usize).is_none_or(|node| node.children == 0)
}

/// The parts of the encoding of each node itself.
fn pieces_of(tree: &Tree) -> HashMap<u32, Vec<Piece>> {
    let mut found: HashMap<u32, Vec<Piece>> = HashMap::new();
    for piece in &tree.pieces {
        found.entry(piece.node).or_default().push(*piece);
    }
    found
}

/// One side of a line, and its bytes.
fn side(
    message: &Message,
    index: Option<u32>,
    pieces: &HashMap<u32, Vec<Piece>>,
) -> Option<(Map<String, Value>, Vec<u8>)> {
    let index = index?;
    let node = message.tree.nodes.get(index as usize)?;
    let mut line = Map::new();
    line.insert("node".to_owned(), index.into());
    line.insert("name".to_owned(), (*node.name).into());
    line.insert("path".to_owned(), message.tree.path(index).into());
    if let Some(value) = node.shown.as_ref().or(node.value.as_ref()) {
        line.insert("value".to_owned(), cut(value, CHARACTERS).into());
    }
    line.insert("type".to_owned(), (*node.type_name).into());
    let own = pieces.get(&index).map_or(&[][..], Vec::as_slice);
    let mut octets = Vec::new();
    for piece in own {
        let (from, to) = ((piece.at / 8) as usize, (piece.at + piece.bits).div_ceil(8) as usize);
        octets.extend_from_slice(message.octets.get(from..to.min(message.octets.len())).unwrap_or_default());
    }
    if let Some(first) = own.first() {
        line.insert("bit".to_owned(), (first.at + message.offset * 8).into());
        let more = if octets.len() > OCTETS { "…" } else { "" };
        line.insert("hex".to_owned(), format!("{}{more}", hex(&octets[..octets.len().min(OCTETS)])).into());
    }
    Some((line, octets))
}

/// Lines of two trees, and the number of differences.
fn compared(left: &Tree, right: &Tree) -> (Vec<Line>, u64) {
    let mut numbers = HashMap::new();
    let (a, b) = (values(left, &mut numbers), values(right, &mut numbers));
    let mut lines: Vec<Line> = Vec::new();
    let mut differences = 0;
    // Pairs that are still to be listed, the next one last.
    let root = |tree: &Tree| (!tree.nodes.is_empty()).then_some(0);
    let mut open = vec![(0_u16, root(left), root(right))];
    // The level from which on all is in a part that is on one side only.
    let mut alone = u16::MAX;
    while let Some((level, x, y)) = open.pop() {
        if level <= alone {
            alone = u16::MAX;
        }
        let (Some(x), Some(y)) = (x, y) else {
            lines.push(Line { level, left: x, right: y, differs: true });
            if alone == u16::MAX {
                // A part with all that is in it is one difference.
                differences += 1;
                alone = level;
            }
            let (tree, index) = if x.is_some() { (left, x) } else { (right, y) };
            let mut children: Vec<u32> = tree.children(index.unwrap_or(0)).map(|(child, _)| child).collect();
            children.reverse();
            let of_side = |child| {
                if x.is_some() { (level + 1, Some(child), None) } else { (level + 1, None, Some(child)) }
            };
            open.extend(children.into_iter().map(of_side));
            continue;
        };
        let differs = a[x as usize] != b[y as usize];
        lines.push(Line { level, left: Some(x), right: Some(y), differs });
        let (p, q) = (&left.nodes[x as usize], &right.nodes[y as usize]);
        if p.children == 0 || q.children == 0 {
            differences += u64::from(differs);
        }
        let mut pairs = pairs(left, right, (x, p), (y, q), (&a, &b));
        pairs.reverse();
        open.extend(pairs.into_iter().map(|(x, y)| (level + 1, x, y)));
    }
    (lines, differences)
}

/// Which components of two values belong together, in order.
fn pairs(
    left: &Tree,
    right: &Tree,
    (x, p): (u32, &Node),
    (y, q): (u32, &Node),
    (a, b): (&[Abstract], &[Abstract]),
) -> Vec<(Option<u32>, Option<u32>)> {
    let ours: Vec<u32> = left.children(x).map(|(index, _)| index).collect();
    let theirs: Vec<u32> = right.children(y).map(|(index, _)| index).collect();
    if !is_list(p) || !is_list(q) {
        return by_name(left, right, &ours, &theirs);
    }
    let values = |all: &[Abstract], indices: &[u32]| -> Vec<Abstract> {
        indices.iter().map(|index| all.get(*index as usize).cloned().unwrap_or(Abstract::Null)).collect()
    };
    let (a, b) = (values(a, &ours), values(b, &theirs));
    let pair = |step| match step {
        Step::Both(x, y) => (ours.get(x).copied(), theirs.get(y).copied()),
        Step::Before(x) => (ours.get(x).copied(), None),
        Step::After(y) => (None, theirs.get(y).copied()),
    };
    if p.kind == "SET OF" {
        return unordered(&a, &b).into_iter().map(pair).collect();
    }
    align(&a, &b).into_iter().map(pair).collect()
}

/// Components by their names: those of the first in their order, each of the second alone after the one that it follows.
fn by_name(left: &Tree, right: &Tree, ours: &[u32], theirs: &[u32]) -> Vec<(Option<u32>, Option<u32>)> {
    let name = |tree: &'_ Tree, index: u32| tree.nodes[index as usize].name.clone();
    let mut places: HashMap<Box<str>, usize> =
        theirs.iter().enumerate().map(|(at, index)| (name(right, *index), at)).collect();
    let mut found = Vec::with_capacity(ours.len().max(theirs.len()));
    let mut alone = vec![true; theirs.len()];
    for index in ours {
        let at = places.remove(&name(left, *index));
        if let Some(at) = at {
            alone[at] = false;
        }
        found.push((Some(*index), at));
    }
    let mut listed = Vec::with_capacity(found.len());
    let mut next = 0;
    for (ours, at) in found {
        // What comes before it on the other side, and is there only.
        if let Some(at) = at.filter(|at| *at >= next) {
            listed.extend((next..at).filter(|at| alone[*at]).map(|at| (None, Some(theirs[at]))));
            next = at + 1;
        }
        listed.push((ours, at.map(|at| theirs[at])));
    }
    listed.extend((next..theirs.len()).filter(|at| alone[*at]).map(|at| (None, Some(theirs[at]))));
    listed
}

/// Elements of sets: equal ones belong together, wherever they are.
fn unordered(a: &[Abstract], b: &[Abstract]) -> Vec<Step> {
    let mut places: HashMap<&Abstract, Vec<usize>> = HashMap::new();
    for (at, value) in b.iter().enumerate().rev() {
        places.entry(value).or_default().push(at);
    }
    let mut steps = Vec::new();
    for (at, value) in a.iter().enumerate() {
        steps.push(match places.get_mut(value).and_then(Vec::pop) {
            Some(other) => Step::Both(at, other),
            None => Step::Before(at),
        });
    }
    let mut rest: Vec<usize> = places.into_values().flatten().collect();
    rest.sort_unstable();
    steps.extend(rest.into_iter().map(Step::After));
    steps
}

/// Each node as a value of its own: what is shown, or the numbers of its components by name. Equal values are those of equal
/// trees, whatever rules they came by.
fn values(tree: &Tree, numbers: &mut HashMap<Abstract, i64>) -> Vec<Abstract> {
    let nodes = &tree.nodes;
    let mut found: Vec<Abstract> = vec![Abstract::Null; nodes.len()];
    let mut members: Vec<Vec<(String, Abstract)>> = vec![Vec::new(); nodes.len()];
    for index in (0..nodes.len()).rev() {
        let node = &nodes[index];
        let mut own = std::mem::take(&mut members[index]);
        own.reverse();
        let value = match &node.value {
            Some(value) if own.is_empty() => Abstract::Text(value.to_string()),
            _ if is_list(node) => Abstract::SequenceOf(own.into_iter().map(|(_, value)| value).collect()),
            _ if node.kind == "SET" => Abstract::Set(own),
            _ => Abstract::Sequence(own),
        };
        let next = numbers.len() as i64;
        let number = *numbers.entry(value.clone()).or_insert(next);
        if let Some(around) = members.get_mut(node.parent as usize) {
            around.push((node.name.to_string(), Abstract::Integer(number)));
        }
        found[index] = value;
    }
    found
}

/// Reports whether the components of a node are elements of a list, which have no names.
fn is_list(node: &Node) -> bool {
    node.kind.ends_with(" OF") || node.kind == "constructed"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::{NONE, State};

    /// A list of numbers in a sequence with a name.
    fn tree(name: &str, numbers: &[u8]) -> Tree {
        let node = |parent, name: &str, kind, value: Option<String>| Node {
            parent,
            name: name.into(),
            type_name: "".into(),
            kind,
            node: None,
            value: value.map(Into::into),
            shown: None,
            children: 0,
            at: 0,
            end: 0,
            state: State::Plain,
        };
        let mut tree = Tree::default();
        tree.add(node(NONE, "A", "SEQUENCE", None));
        tree.add(node(0, name, "INTEGER", Some("1".to_owned())));
        tree.add(node(0, "list", "SEQUENCE OF", None));
        for (at, number) in numbers.iter().enumerate() {
            tree.add(node(2, &format!("[{at}]"), "INTEGER", Some(number.to_string())));
        }
        tree
    }

    fn lines(left: &Tree, right: &Tree) -> (Vec<String>, u64) {
        let (lines, differences) = compared(left, right);
        let name = |tree: &Tree, index: Option<u32>| index.map_or_else(|| "-".to_owned(), |at| tree.path(at));
        let text = |line: &Line| {
            let sign = if line.differs { "!" } else { "" };
            format!("{sign}{} {}", name(left, line.left), name(right, line.right))
        };
        (lines.iter().map(text).collect(), differences)
    }

    #[test]
    fn lists_are_aligned() {
        let (found, differences) = lines(&tree("a", &[1, 2, 3]), &tree("a", &[1, 9, 2, 3]));
        let expected = [
            "!A A",
            "A.a A.a",
            "!A.list A.list",
            "A.list[0] A.list[0]",
            "!- A.list[1]",
            "A.list[1] A.list[2]",
        ];
        assert_eq!((&found[..6], differences), (&expected.map(str::to_owned)[..], 1));
    }

    #[test]
    fn components_belong_together_by_name() {
        let (found, differences) = lines(&tree("a", &[]), &tree("b", &[]));
        assert_eq!(
            (&found[1..], differences),
            (&["!A.a -", "!- A.b", "A.list A.list"].map(str::to_owned)[..], 2)
        );
        assert_eq!(lines(&tree("a", &[1]), &tree("a", &[1])).1, 0);
        // All that is inside of one part is one difference.
        let alone = Tree::default();
        assert_eq!(lines(&alone, &tree("a", &[1, 2])).1, 1);
    }
}
