//! Child tables: rows of records without some of their lists, and rows of the elements of each of these lists. A component
//! that is no list may have a table too, with a row for each record that has it.
//!
//! In the row around it, a component has the number of its rows in its place, so that nothing is lost: absent and empty are
//! two things, and an alternative of a CHOICE keeps its name. Rows of a table tell the record and their index in each list
//! around them, so that rows of lists inside one another find each other too.

use crate::SettingError;
use crate::reshape::{Copies, Reshape, component, is_list, list_name, parts, say_moved, say_part};
use std::sync::Arc;
use tercet_dynamic::{FieldId, Leaf, NodeId, Shape, Sink, Tape, Token, View, say_constant};
use tercet_plan::Kind;
use tercet_plan::shape::{Constraint, Node, Presence};

/// Tables beside that of the records.
const TABLES: usize = 256;
/// Components on the way to a list.
const STEPS: usize = 64;
/// What the number of the elements of a list is at most.
const COUNT: i128 = u32::MAX as i128;

/// What is done with a row: its table, which none is for that of the records, its value, its index in each list.
type Each<'e, E> = dyn FnMut(Option<usize>, &Tape, &[Option<u64>]) -> Result<(), E> + 'e;

/// How records become rows of several tables.
#[derive(Clone, Debug)]
pub struct Children {
    shape: Arc<Shape>,
    tables: Vec<ChildTable>,
    /// Values on the way to lists; the first is the record.
    ways: Vec<Way>,
    /// The type of the number of rows.
    count: NodeId,
    copies: Copies,
    /// The fields of records that lead to the elements.
    leading: Vec<FieldId>,
}

/// The table of a list, or of a component with parts.
#[derive(Clone, Debug)]
pub struct ChildTable {
    path: String,
    /// Whether its rows are elements.
    is_list: bool,
    root: NodeId,
    lists: Vec<String>,
    /// The way through an element or the component, if there is something inside that has a table.
    way: Option<usize>,
}

/// A value on the way to a list.
#[derive(Clone, Debug)]
struct Way {
    /// Its type in the shape of records.
    of: NodeId,
    /// Its type in the shape of rows.
    node: NodeId,
    /// What its fields are moved by.
    shift: u32,
    /// The parts that are otherwise than in records, by their fields there.
    parts: Vec<(FieldId, Part)>,
}

#[derive(Clone, Copy, Debug)]
enum Part {
    /// A list is inside.
    Way(usize),
    /// It is the list of a table.
    Table(usize),
}

impl ChildTable {
    /// The path of the list or component, from the record on.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The type of its rows.
    pub fn root(&self) -> NodeId {
        self.root
    }

    /// The names of the lists on the way, and of its own if it is one, which rows tell an index of each.
    pub fn lists(&self) -> &[String] {
        &self.lists
    }
}

impl Children {
    /// Tables of the lists and components at paths that begin at a type, and of the lists on the way to them.
    ///
    /// # Errors
    /// When there is nothing with parts at a path, or there are too many.
    pub fn new(records: &Arc<Shape>, root: NodeId, paths: &[String]) -> Result<Self, SettingError> {
        let mut maker = Maker::new(records, root);
        let mut paths: Vec<String> = paths.iter().map(|path| path.replace("[]", "")).collect();
        // A component comes before what is inside of it.
        paths.sort_by_key(|path| path.split('.').count());
        paths.iter().try_for_each(|path| maker.path(path))?;
        Ok(maker.finish())
    }

    /// The paths of the lists of a type that are not inside of other lists.
    ///
    /// # Errors
    /// When there is none, or there are too many.
    pub fn lists_of(records: &Shape, root: NodeId) -> Result<Vec<String>, SettingError> {
        let mut paths = Vec::new();
        outermost(records, root, &mut Vec::new(), &mut Vec::new(), &mut paths);
        match paths.len() {
            0 => Err("the records have no lists".into()),
            count if count > TABLES => {
                Err(format!("the records have more than {TABLES} lists: name the ones to write").into())
            }
            _ => Ok(paths),
        }
    }

    /// The names of the alternatives of a CHOICE that have parts.
    ///
    /// # Errors
    /// When the type is no CHOICE, or none has.
    pub fn alternatives_of(records: &Shape, root: NodeId) -> Result<Vec<String>, SettingError> {
        if records.node(root).kind != Kind::Choice {
            return Err("the records are of one type, not of the alternatives of a CHOICE".into());
        }
        let fields = records.fields_of(root).filter(|(_, field)| has_parts(records, field.node));
        let names: Vec<_> = fields.map(|(_, field)| records.name(field.name).to_owned()).collect();
        if names.is_empty() { Err("no alternative of the records has parts".into()) } else { Ok(names) }
    }

    /// The shape of the rows of all tables.
    pub fn shape(&self) -> &Arc<Shape> {
        &self.shape
    }

    /// The type of the rows of records.
    pub fn root(&self) -> NodeId {
        self.ways[0].node
    }

    /// The tables beside that of the records.
    pub fn tables(&self) -> &[ChildTable] {
        &self.tables
    }

    /// Which fields of records have to be decoded, if these fields of rows have to be.
    pub fn wanted(&self, rows: &[bool]) -> Vec<bool> {
        let mut wanted = self.copies.wanted(rows);
        for field in &self.leading {
            wanted[field.index()] = true;
        }
        wanted
    }

    /// For each table the columns of these paths, which begin at the record, those of the records first. A table that no
    /// path goes into has all columns; the path of a list or component is the number of its rows.
    pub fn columns(&self, paths: &[String]) -> Vec<Vec<String>> {
        let mut columns = vec![Vec::new(); self.tables.len() + 1];
        for path in paths {
            let clean = path.replace("[]", "");
            let inside = |table: &ChildTable| {
                let rest = clean.strip_prefix(&table.path)?.strip_prefix('.')?;
                Some((table.path.len(), rest.to_owned()))
            };
            let tables = self.tables.iter().enumerate();
            let found = tables.filter_map(|(index, table)| Some((inside(table)?, index))).max();
            match found {
                Some(((_, rest), index)) => columns[index + 1].push(rest),
                None => columns[0].push(clean),
            }
        }
        columns
    }

    /// Says the rows of a record: each is written to the tape, with its table, which none is for that of the records, and the
    /// index of the element of each list.
    ///
    /// # Errors
    /// Those of what is done with a row.
    pub(crate) fn rows<E>(
        &self,
        record: View<'_>,
        tape: &mut Tape,
        mut each: impl FnMut(Option<usize>, &Tape, &[Option<u64>]) -> Result<(), E>,
    ) -> Result<(), E> {
        begin(record, tape);
        self.say(record, 0, FieldId::ROOT, Some(0), tape);
        each(None, tape, &[])?;
        self.lists(record, 0, 0, &mut Vec::new(), tape, &mut each)
    }

    /// Says the rows of the tables inside of a value.
    fn lists<E>(
        &self,
        view: View<'_>,
        value: usize,
        way: usize,
        indices: &mut Vec<Option<u64>>,
        tape: &mut Tape,
        each: &mut Each<'_, E>,
    ) -> Result<(), E> {
        for part in parts(view, value) {
            match (view.token(part), self.part(way, view.token(part))) {
                (Token::Open { .. }, Some(Part::Way(way))) => {
                    self.lists(view, part, way, indices, tape, each)?;
                }
                (Token::Open { .. }, Some(Part::Table(table))) => {
                    self.elements(view, part, table, indices, tape, each)?;
                }
                (Token::Default { field, node, constant }, Some(Part::Table(table))) => {
                    let value = self.default(field, node, constant);
                    self.elements(value.view(&[]), 0, table, indices, tape, each)?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Says the rows of a table that come of a value, and of the tables inside of them.
    fn elements<E>(
        &self,
        view: View<'_>,
        value: usize,
        table: usize,
        indices: &mut Vec<Option<u64>>,
        tape: &mut Tape,
        each: &mut Each<'_, E>,
    ) -> Result<(), E> {
        if !self.tables[table].is_list {
            return self.row(view, value, table, indices, tape, each);
        }
        for (index, element) in (0..).zip(parts(view, value)) {
            indices.push(Some(index));
            self.row(view, element, table, indices, tape, each)?;
            indices.pop();
        }
        Ok(())
    }

    /// Says a row of a table, and those of the tables inside.
    fn row<E>(
        &self,
        view: View<'_>,
        value: usize,
        table: usize,
        indices: &mut Vec<Option<u64>>,
        tape: &mut Tape,
        each: &mut Each<'_, E>,
    ) -> Result<(), E> {
        let way = self.tables[table].way;
        begin(view, tape);
        self.say(view, value, FieldId::ROOT, way, tape);
        each(Some(table), tape, indices)?;
        way.map_or(Ok(()), |way| self.lists(view, value, way, indices, tape, each))
    }

    /// Says a value as another field; with the number of their rows in place of what has a table, if it is on the way to any.
    fn say(&self, view: View<'_>, value: usize, field: FieldId, way: Option<usize>, tape: &mut Tape) {
        let (Token::Open { node, .. } | Token::Leaf { node, .. }) = view.token(value) else { return };
        let Some(index) = way else { return say_part(view, value, field, node, tape) };
        let Way { node, shift, .. } = self.ways[index];
        tape.open(field, node);
        for part in parts(view, value) {
            let token = view.token(part);
            match (token, self.part(index, token)) {
                (Token::Open { field, .. }, Some(Part::Way(way))) => {
                    self.say(view, part, FieldId(field.0.wrapping_add(shift)), Some(way), tape);
                }
                (Token::Open { field, .. }, Some(Part::Table(table))) => {
                    self.say_count(field, shift, self.count_of(table, view, part), tape);
                }
                (Token::Default { field, node, constant }, Some(Part::Table(table))) => {
                    let value = self.default(field, node, constant);
                    self.say_count(field, shift, self.count_of(table, value.view(&[]), 0), tape);
                }
                _ => say_moved(view, part, shift, tape),
            }
        }
        tape.close(field, node);
    }

    fn say_count(&self, field: FieldId, shift: u32, count: usize, tape: &mut Tape) {
        tape.leaf(FieldId(field.0.wrapping_add(shift)), self.count, Leaf::Int(count as i64));
    }

    /// The number of rows of a table that come of a value.
    fn count_of(&self, table: usize, view: View<'_>, value: usize) -> usize {
        if self.tables[table].is_list { parts(view, value).count() } else { 1 }
    }

    /// What is absent and has a DEFAULT.
    fn default(&self, field: FieldId, node: NodeId, constant: u32) -> Tape {
        let mut value = Tape::new();
        say_constant(&self.shape, field, node, constant, &mut value);
        value
    }

    fn part(&self, way: usize, token: Token<'_>) -> Option<Part> {
        let (Token::Open { field, .. } | Token::Default { field, .. }) = token else { return None };
        let parts = &self.ways[way].parts;
        parts.binary_search_by_key(&field, |(field, _)| *field).ok().map(|at| parts[at].1)
    }
}

fn begin(record: View<'_>, tape: &mut Tape) {
    tape.clear();
    if let Some(rules) = record.rules() {
        tape.begin(rules);
    }
}

/// The paths of the lists of a type that are not inside of other lists, nor of a type inside itself; one more than there may
/// be at most.
fn outermost<'s>(
    shape: &'s Shape,
    node: NodeId,
    inside: &mut Vec<NodeId>,
    path: &mut Vec<&'s str>,
    paths: &mut Vec<String>,
) {
    if paths.len() > TABLES || inside.len() >= STEPS || inside.contains(&node) {
        return;
    }
    if is_list(shape, node) {
        if !path.is_empty() {
            paths.push(path.join("."));
        }
        return;
    }
    inside.push(node);
    for (_, field) in shape.fields_of(node) {
        path.push(shape.name(field.name));
        outermost(shape, field.node, inside, path, paths);
        path.pop();
    }
    inside.pop();
}

/// Makes tables of paths.
struct Maker<'a> {
    records: &'a Shape,
    rows: Reshape,
    tables: Vec<ChildTable>,
    ways: Vec<Way>,
    /// The names of the lists around each way.
    around: Vec<Vec<String>>,
    count: NodeId,
    leading: Vec<FieldId>,
}

impl<'a> Maker<'a> {
    fn new(records: &'a Shape, root: NodeId) -> Self {
        let mut rows = Reshape::new(records);
        let count = count_node(&mut rows.shape);
        let (tables, ways, around, leading) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let mut maker = Self { records, rows, tables, ways, around, count, leading };
        maker.way(root, Vec::new());
        maker
    }

    fn finish(self) -> Children {
        let Self { rows, tables, mut ways, count, leading, .. } = self;
        ways.iter_mut().for_each(|way| way.parts.sort_by_key(|(field, _)| *field));
        let (shape, copies) = rows.finish();
        Children { shape: Arc::new(shape), tables, ways, count, copies, leading }
    }

    /// Adds the table of a path, and those of the lists that it passes.
    fn path(&mut self, path: &str) -> Result<(), SettingError> {
        if path.split('.').count() > STEPS {
            return Err(format!("`{path}` is too long").into());
        }
        let (mut way, mut end) = (0, 0);
        for name in path.split('.') {
            end += name.len() + usize::from(end > 0);
            let of = self.ways[way].of;
            let (field, node) = component(self.records, of, name, path)?;
            let known = self.ways[way].parts.iter().find(|(known, _)| *known == field);
            let part = match known {
                Some((_, part)) => *part,
                None => self.part(way, field, node, (&path[..end], end == path.len()))?,
            };
            way = match part {
                Part::Way(inner) => inner,
                Part::Table(_) if end == path.len() => return Ok(()),
                Part::Table(table) => self.way_of_rows(table),
            };
        }
        Err(format!("`{path}` is on the way to another table").into())
    }

    /// Makes a part of a value on the way a way too, or what a table is of, as which the end of a path is.
    fn part(
        &mut self,
        way: usize,
        field: FieldId,
        node: NodeId,
        (path, is_end): (&str, bool),
    ) -> Result<Part, SettingError> {
        if is_end && !has_parts(self.records, node) {
            return Err(format!("`{path}` is neither a list, nor has it components").into());
        }
        self.leading.push(field);
        let lists = self.around[way].clone();
        let (part, shown) = if is_end || is_list(self.records, node) {
            (Part::Table(self.table(node, path, lists)?), self.count)
        } else {
            let inner = self.way(node, lists);
            (Part::Way(inner), self.ways[inner].node)
        };
        let way = &mut self.ways[way];
        way.parts.push((field, part));
        let copy = &mut self.rows.shape.fields[field.0.wrapping_add(way.shift) as usize];
        copy.node = shown;
        if let (Part::Table(_), Presence::Default(_)) = (part, copy.presence) {
            copy.presence = Presence::Optional;
        }
        Ok(part)
    }

    fn way(&mut self, of: NodeId, lists: Vec<String>) -> usize {
        let (node, shift) = self.rows.copy(of);
        self.ways.push(Way { of, node, shift, parts: Vec::new() });
        self.around.push(lists);
        self.ways.len() - 1
    }

    fn table(&mut self, node: NodeId, path: &str, mut lists: Vec<String>) -> Result<usize, SettingError> {
        if self.tables.len() == TABLES {
            return Err(format!("there are more than {TABLES} tables").into());
        }
        let is_list = is_list(self.records, node);
        let mut root = node;
        if is_list {
            let name = path.rsplit('.').next().unwrap_or(path);
            lists.push(list_name(&lists, name));
            let (element, it) = self.records.fields_of(node).next().ok_or("a list without elements")?;
            self.leading.push(element);
            root = it.node;
        }
        self.tables.push(ChildTable { path: path.to_owned(), is_list, root, lists, way: None });
        Ok(self.tables.len() - 1)
    }

    /// The way through the values that the rows of a table are.
    fn way_of_rows(&mut self, table: usize) -> usize {
        let ChildTable { way, root, lists, .. } = &self.tables[table];
        if let Some(way) = way {
            return *way;
        }
        let way = self.way(*root, lists.clone());
        (self.tables[table].way, self.tables[table].root) = (Some(way), self.ways[way].node);
        way
    }
}

/// Whether a type is one of lists or of values with components or alternatives.
fn has_parts(shape: &Shape, node: NodeId) -> bool {
    shape.node(node).kind.is_constructed()
}

/// The type of the number of rows: an INTEGER of at most 32 bits.
fn count_node(shape: &mut Shape) -> NodeId {
    let constraint = Some(shape.constraints.len() as u32);
    shape.constraints.push(Constraint { integer: Some((Some(0), Some(COUNT))), ..Constraint::default() });
    let first = shape.fields.len() as u32;
    shape.nodes.push(Node { first, constraint, ..Node::blank(Kind::Integer) });
    NodeId(shape.nodes.len() as u32 - 1)
}
