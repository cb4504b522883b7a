//! Rows of the elements of a list, with what stands around it repeated.
//!
//! The rows have a shape of their own, in which the lists on the way are their elements.

use crate::SettingError;
use crate::reshape::{Copies, Reshape, component, is_list, list_name, parts, say_moved, say_part};
use std::sync::Arc;
use tercet_dynamic::{FieldId, NodeId, Shape, Sink, Tape, Token, View};

/// Lists inside one another that one path may pass.
const LEVELS: usize = 16;

/// How records become rows.
#[derive(Clone, Debug)]
pub struct Explode {
    shape: Arc<Shape>,
    root: NodeId,
    steps: Vec<Step>,
    /// Names of the lists on the way.
    lists: Vec<String>,
    copies: Copies,
    /// What the fields of the outermost type are moved by.
    shift: u32,
}

/// A component on the way.
#[derive(Clone, Copy, Debug)]
struct Step {
    /// The component in the shape of records.
    field: FieldId,
    /// Its value, or its elements, in the shape of rows.
    node: NodeId,
    /// Lists around the value.
    lists: usize,
    /// What the fields of the value are moved by.
    shift: u32,
}

impl Explode {
    /// Rows of the list at a path that begins at a type.
    ///
    /// # Errors
    /// When there is no list.
    pub fn new(records: &Arc<Shape>, root: NodeId, path: &str) -> Result<Self, SettingError> {
        let mut rows = Reshape::new(records);
        let (new_root, shift) = rows.copy(root);
        let (mut around, mut around_copy) = (root, new_root);
        let (mut steps, mut lists) = (Vec::new(), Vec::new());
        let clean = path.replace("[]", "");
        let mut names = clean.split('.').peekable();
        while let Some(name) = names.next() {
            let (field, mut node) = component(records, around, name, path)?;
            let mut count = 0;
            while let Some((_, element)) = records.fields_of(node).next().filter(|_| is_list(records, node)) {
                node = element.node;
                count += 1;
                lists.push(list_name(&lists, name));
                if lists.len() > LEVELS {
                    return Err(format!("there are too many lists on the way to `{path}`").into());
                }
            }
            let last = names.peek().is_none();
            let (copy_node, shift) = if last { (node, 0) } else { rows.copy(node) };
            let at = rows.shape.node(around_copy).first + (field.0 - records.node(around).first);
            rows.shape.fields[at as usize].node = copy_node;
            steps.push(Step { field, node: copy_node, lists: count, shift });
            (around, around_copy) = (node, copy_node);
        }
        if steps.last().is_none_or(|step| step.lists == 0) {
            return Err(format!("`{path}` is not a SEQUENCE OF or SET OF").into());
        }
        let (shape, copies) = rows.finish();
        Ok(Self { shape: Arc::new(shape), root: new_root, steps, lists, copies, shift })
    }

    /// The shape of rows.
    pub fn shape(&self) -> &Arc<Shape> {
        &self.shape
    }

    /// The type of rows.
    pub fn root(&self) -> NodeId {
        self.root
    }

    /// The names of the lists that the path passes, which rows tell an index of each.
    pub fn lists(&self) -> &[String] {
        &self.lists
    }

    /// Which fields of records have to be decoded, if these fields of rows have to be.
    pub fn wanted(&self, rows: &[bool]) -> Vec<bool> {
        let mut wanted = self.copies.wanted(rows);
        for step in &self.steps {
            wanted[step.field.index()] = true;
            let mut node = self.shape.fields[step.field.index()].node;
            for _ in 0..step.lists {
                let Some((element, it)) = self.shape.fields_of(node).next() else { break };
                wanted[element.index()] = true;
                node = it.node;
            }
        }
        wanted
    }

    /// Says the rows of a record: each is written to the tape, with the index of the element of each list.
    ///
    /// # Errors
    /// Those of what is done with a row.
    pub(crate) fn rows<E>(
        &self,
        record: View<'_>,
        tape: &mut Tape,
        mut each: impl FnMut(&Tape, &[Option<u64>]) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut row = Row { elements: [0; LEVELS], indices: [None; LEVELS] };
        self.list(record, 0, 0, 0, &mut row, &mut |row| {
            tape.clear();
            if let Some(rules) = record.rules() {
                tape.begin(rules);
            }
            self.say(record, 0, (FieldId::ROOT, self.root, self.shift), (0, 0), row, tape);
            each(tape, &row.indices[..self.lists.len()])
        })
    }

    /// Goes through the elements of the lists behind a step, inside of a value.
    fn list<E>(
        &self,
        view: View<'_>,
        value: usize,
        step: usize,
        level: usize,
        row: &mut Row,
        each: &mut dyn FnMut(&Row) -> Result<(), E>,
    ) -> Result<(), E> {
        let Some(at) = self.steps.get(step) else { return each(row) };
        let Some(part) = parts(view, value).find(|part| is_of(view, *part, at.field)) else {
            return each(row);
        };
        self.elements(view, part, step, level, at.lists, row, each)
    }

    /// Goes through the elements of a list with so many lists inside one another.
    #[expect(clippy::too_many_arguments, reason = "where it is, of two recursions into one another")]
    fn elements<E>(
        &self,
        view: View<'_>,
        value: usize,
        step: usize,
        level: usize,
        lists: usize,
        row: &mut Row,
        each: &mut dyn FnMut(&Row) -> Result<(), E>,
    ) -> Result<(), E> {
        if lists == 0 {
            return self.list(view, value, step + 1, level, row, each);
        }
        let mut count = 0;
        for element in parts(view, value) {
            row.elements[level] = element;
            row.indices[level] = Some(count);
            count += 1;
            self.elements(view, element, step, level + 1, lists - 1, row, each)?;
            row.indices[level] = None;
        }
        if count == 0 { each(row) } else { Ok(()) }
    }

    /// Says the value at an index, which is on the way: as a field of rows, with its own fields moved.
    fn say(
        &self,
        view: View<'_>,
        value: usize,
        (field, node, shift): (FieldId, NodeId, u32),
        (step, level): (usize, usize),
        row: &Row,
        tape: &mut Tape,
    ) {
        let Token::Open { .. } = view.token(value) else {
            return say_part(view, value, field, node, tape);
        };
        if step == self.steps.len() {
            return say_part(view, value, field, node, tape);
        }
        tape.open(field, node);
        let at = &self.steps[step];
        for part in parts(view, value) {
            match view.token(part) {
                Token::Open { field, .. } | Token::Leaf { field, .. } if field == at.field => {
                    let mut inner = part;
                    let mut here = true;
                    for list in level..level + at.lists {
                        here &= row.indices[list].is_some();
                        inner = row.elements[list];
                    }
                    if here {
                        let inner_as = (FieldId(field.0 + shift), at.node, at.shift);
                        self.say(view, inner, inner_as, (step + 1, level + at.lists), row, tape);
                    }
                }
                Token::Default { field, .. } if field == at.field => {}
                _ => say_moved(view, part, shift, tape),
            }
        }
        tape.close(field, node);
    }
}

/// The elements that a row is of.
struct Row {
    elements: [usize; LEVELS],
    indices: [Option<u64>; LEVELS],
}

fn is_of(view: View<'_>, index: usize, wanted: FieldId) -> bool {
    matches!(view.token(index), Token::Open { field, .. } | Token::Leaf { field, .. } if field == wanted)
}
