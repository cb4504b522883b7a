//! Values made up: valid ones of any type, the borders of its constraints first.
//!
//! Each place where something can be chosen (an alternative, a presence, a size, a number) goes through its borders as
//! often as it is met, and chooses at random behind them: few samples meet every alternative and every end of a range.
//! The same seed gives the same samples, everywhere.
//!
//! ```
//! # use tercet_dynamic::{sample, Tape, Value};
//! # let mut map = tercet_syntax::SourceMap::new();
//! # let file = map.add("a.asn", "A DEFINITIONS AUTOMATIC TAGS ::= BEGIN
//! #   Dice ::= SEQUENCE { eyes INTEGER (1..6), thrower UTF8String (SIZE (2..3)) OPTIONAL } END");
//! # let (modules, _) = tercet_syntax::parse(&map, file, &tercet_syntax::ParseOptions::default());
//! # let (model, _) = tercet_model::resolve(&map, &modules, &tercet_model::Options::default());
//! # let plan = tercet_lower::plan(&model, tercet_plan::Rules::Ber, &tercet_lower::all_roots(&model)).0;
//! # let shape = &plan.shape;
//! # let dice = plan.root("Dice").unwrap();
//! // Dice ::= SEQUENCE { eyes INTEGER (1..6), thrower UTF8String (SIZE (2..3)) OPTIONAL }
//! let mut sampler = sample::Sampler::new(shape, sample::Options::default());
//! let mut tape = Tape::new();
//! sampler.sample(dice, &mut tape)?;
//! let value = Value::from_view(shape, tape.view(&[])).unwrap();
//! assert_eq!(value.get("eyes").and_then(Value::as_i64), Some(1));
//! # Ok::<(), tercet_dynamic::Error>(())
//! ```

mod demand;
mod heights;
mod leaves;
mod random;
mod strings;

use crate::constant::say;
use crate::event::{Leaf, Sink};
use crate::tape::{Tape, Token};
use crate::text::integer_octets;
use crate::validate::{Checker, Patterns, Validator, of_root};
use crate::{Error, ErrorKind, Limits};
use demand::{Demand, Wanted};
use heights::{INFINITE, MOST, heights, weights};
use random::Random;
use std::collections::HashMap;
use tercet_plan::constraint::{Element, RestrictionId};
use tercet_plan::shape::{Key, Place, Presence, Row, TableRef};
use tercet_plan::{FieldId, Kind, NodeId, Shape};

/// How samples are made.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    /// What the choices follow from; 1 unless told.
    pub seed: u64,
    /// Levels of values inside one another from which on only the shortest way to an end is taken; 24 unless told.
    pub depth: u16,
    /// Values in a sample from which on only what has to be there is; 500 unless told.
    pub elements: usize,
    /// Whether strings and lists may be as long as the borders of PER's fragments (16K and 64K); not unless told.
    pub large: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { seed: 1, depth: 24, elements: 500, large: false }
    }
}

/// Samples that are tried before it is said that there is none.
const ATTEMPTS: usize = 20;
/// Levels that no sample goes beyond, and that the engines do not either.
const DEEPEST: u32 = 900;
/// The complete encoding that stands for the content of an open type of which nothing is known: a NULL in BER.
const UNKNOWN_CONTENT: [u8; 2] = [5, 0];

/// Makes samples of the types of a shape.
#[derive(Debug)]
pub struct Sampler<'s> {
    shape: &'s Shape,
    options: Options,
    random: Random,
    heights: Vec<u32>,
    /// Octets and elements that values hold at least.
    weights: Vec<u64>,
    /// Those of the sample that is being made, beside what is on the tape.
    octets: u64,
    /// Whether the sample that is being made became too large.
    too_large: bool,
    /// Nodes that can hold nothing but open types for which there is no row.
    barren: Vec<bool>,
    /// The tables that are asked by each register.
    asked: Vec<Vec<&'s TableRef>>,
    /// How often each place has been met.
    visits: HashMap<Site, usize>,
    registers: Vec<Option<Key>>,
    tape: Tape,
    /// A leaf, to be tried.
    probe: Tape,
    patterns: Patterns,
    validator: Validator,
}

/// A place where something is chosen.
type Site = (Choice, usize, usize);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Choice {
    Presence,
    Version,
    Alternative,
    Size,
    Leaf,
    Row,
    Part,
}

impl<'s> Sampler<'s> {
    /// A sampler of the values of a shape.
    pub fn new(shape: &'s Shape, options: Options) -> Self {
        let mut asked: Vec<Vec<&TableRef>> = vec![Vec::new(); usize::from(shape.registers)];
        for table in shape.nodes.iter().filter_map(|node| node.table.as_ref()) {
            for key in &table.keys {
                if let Some(asked) = asked.get_mut(usize::from(*key))
                    && !asked.contains(&table)
                {
                    asked.push(table);
                }
            }
        }
        let weights = weights(shape);
        let mut heights = heights(shape);
        // What is too large is avoided as what does not end is: left absent, or another alternative is taken.
        for (height, weight) in heights.iter_mut().zip(&weights) {
            if *weight > MOST {
                *height = INFINITE;
            }
        }
        Self {
            shape,
            random: Random::new(options.seed),
            options,
            heights,
            weights,
            octets: 0,
            too_large: false,
            barren: barren(shape),
            asked,
            visits: HashMap::new(),
            registers: Vec::new(),
            tape: Tape::new(),
            probe: Tape::new(),
            patterns: Patterns::default(),
            validator: Validator::new(),
        }
    }

    /// Makes the next sample of a type and puts it onto a tape, which is cleared first.
    ///
    /// # Errors
    /// [`ErrorKind::ConstraintViolated`] if no value could be found that meets all constraints, with the last that was
    /// not met; [`ErrorKind::DepthLimit`] for a type without finite values; [`ErrorKind::LimitExceeded`] for one whose
    /// values are too large.
    pub fn sample(&mut self, root: NodeId, tape: &mut Tape) -> Result<(), Error> {
        let is_finite = |heights: &[u32]| heights.get(root.index()).is_some_and(|height| *height < DEEPEST);
        let is_large = self.weights.get(root.index()).is_some_and(|weight| *weight > MOST);
        if is_large && is_finite(&heights(self.shape)) {
            return Err(too_large());
        }
        if self.heights.get(root.index()).is_none_or(|height| *height >= DEEPEST) {
            return Err(Error::new(ErrorKind::DepthLimit, 0).with_detail("values of the type do not end"));
        }
        let shape = self.shape;
        let edge = of_root(shape, root);
        let mut last = None;
        for _ in 0..ATTEMPTS {
            self.tape.clear();
            self.registers.clear();
            self.registers.resize(usize::from(shape.registers), None);
            (self.octets, self.too_large) = (0, false);
            self.value(FieldId::ROOT, root, edge, &[], 0);
            if self.too_large {
                return Err(too_large());
            }
            let found = self.validator.check(shape, root, self.tape.view(&[]));
            let Some(violation) = found.into_iter().next() else {
                std::mem::swap(&mut self.tape, tape);
                if self.options.depth > Limits::default().depth {
                    tape.within(self.options.depth);
                }
                return Ok(());
            };
            last = Some(violation);
        }
        let last = last.map(|last| last.to_string()).unwrap_or_default();
        Err(Error::new(ErrorKind::ConstraintViolated, 0).with_detail(format!("no valid value found; {last}")))
    }

    /// The n-th of some borders when a place is met for the n-th time; nothing behind the last.
    fn border(&mut self, site: Site, borders: usize) -> Option<usize> {
        let visits = self.visits.entry(site).or_default();
        let turn = *visits;
        *visits += 1;
        (turn < borders).then_some(turn)
    }

    /// A number of octets or elements that is about to be made; 0 where the sample would become too large.
    fn within_limits(&mut self, count: u64) -> u64 {
        self.octets = self.octets.saturating_add(count);
        self.too_large |= self.octets > MOST;
        if self.too_large { 0 } else { count }
    }

    /// Whether there are enough values already.
    fn is_full(&self) -> bool {
        self.tape.len() >= self.options.elements
    }

    /// Whether a value of a node may begin at a depth.
    fn has_room(&self, node: NodeId, depth: u32) -> bool {
        let height = self.heights.get(node.index()).copied().unwrap_or(INFINITE);
        depth.saturating_add(height) <= u32::from(self.options.depth)
    }

    /// A value of a node that meets its restrictions, those of the edge to it, and more elements.
    fn value(
        &mut self,
        field: FieldId,
        node: NodeId,
        edge: &[RestrictionId],
        more: &[&'s Element],
        depth: u32,
    ) {
        let shape = self.shape;
        let mut demand = Demand::of(shape.node(node).kind);
        let own = shape.restrictions.of_node(node);
        self.gather_restrictions(own, edge, &mut demand);
        for element in more {
            self.gather(element, &mut demand, 0);
        }
        let key = shape.fields.get(field.index()).and_then(|field| field.key);
        if let Some(key) = key
            && self.key(field, node, key, &demand, depth)
        {
            return;
        }
        if let Some(constant) = self.given(&demand) {
            let begin = self.tape.len();
            say(shape, field, node, constant, &mut self.tape);
            self.remember(begin);
            return;
        }
        match shape.node(node).kind {
            Kind::Sequence | Kind::Set => self.members(field, node, &demand, depth),
            Kind::SequenceOf | Kind::SetOf => self.elements(field, node, &demand, depth),
            Kind::Choice => self.alternative(field, node, &demand, depth),
            Kind::Open => self.open(field, node, depth),
            Kind::OctetString | Kind::BitString if shape.node(node).containing.is_some() => {
                let Some(inside) = shape.node(node).containing else { return };
                self.tape.open(field, node);
                let edge = shape.restrictions.of_contents(node);
                self.value(FieldId::ROOT, inside, edge, &[], depth + 1);
                self.tape.close(field, node);
            }
            _ => {
                let contents = if self.too_large { Vec::new() } else { self.leaf(field, node, &demand) };
                self.tape.leaf(field, node, Leaf::Made(&contents));
                if let Some(register) = key.and_then(|key| self.registers.get_mut(usize::from(key))) {
                    *register = crate::contents::key_of(shape.node(node).kind, &contents);
                }
            }
        }
    }

    fn checker(&self) -> Checker<'_> {
        Checker {
            shape: self.shape,
            view: self.probe.view(&[]),
            registers: &self.registers,
            patterns: &self.patterns,
        }
    }

    /// Whether contents octets are a value that is wanted.
    fn fits(&mut self, node: NodeId, contents: &[u8], demand: &Demand<'s>) -> bool {
        self.probe.clear();
        self.probe.leaf(FieldId::ROOT, node, Leaf::Made(contents));
        let checker = self.checker();
        demand
            .all
            .iter()
            .all(|element| matches!(element, Element::Contents(..)) || checker.admits(element, 0, 0))
    }

    // Constructed values

    fn members(&mut self, field: FieldId, node: NodeId, demand: &Demand<'s>, depth: u32) {
        let shape = self.shape;
        let scopes = shape.restrictions.scopes_of(node);
        let take = |register: &u16, registers: &mut [Option<Key>]| {
            registers.get_mut(usize::from(*register)).and_then(Option::take)
        };
        let saved: Vec<_> = scopes.iter().map(|(_, it)| take(it, &mut self.registers)).collect();
        self.tape.open(field, node);
        let version = self.version(node, demand, depth);
        for (id, part) in shape.fields_of(node) {
            let wanted = demand.of_component(part.name);
            let present = match part.place {
                Place::Addition(at) | Place::Group(at) if at >= version => false,
                _ => self.is_present(id, &wanted, depth),
            };
            if present {
                let edge = shape.restrictions.of_field(id);
                self.value(id, part.node, edge, &wanted.values, depth + 1);
            }
        }
        self.tape.close(field, node);
        for ((_, register), key) in scopes.iter().zip(saved) {
            if let Some(register) = self.registers.get_mut(usize::from(*register)) {
                *register = key;
            }
        }
    }

    /// How many of the extension additions the sender knows: those behind are absent.
    fn version(&mut self, node: NodeId, demand: &Demand<'s>, depth: u32) -> u32 {
        let shape = self.shape;
        let (mut all, mut least) = (0, 0);
        for (_, part) in shape.fields_of(node) {
            let (Place::Addition(at) | Place::Group(at)) = part.place else { continue };
            let wanted = demand.of_component(part.name);
            if wanted.presence == Wanted::Present {
                least = least.max(at + 1);
            }
            let needed = part.presence == Presence::Mandatory;
            let fits = self.has_room(part.node, depth + 1) && wanted.presence != Wanted::Absent;
            if needed && !fits && all <= at {
                break;
            }
            all = all.max(at + 1);
        }
        if self.is_full() {
            return least;
        }
        match self.border((Choice::Version, node.index(), 0), 2) {
            Some(0) => all.max(least),
            Some(_) => least,
            None => self.random.between(u64::from(least), u64::from(all.max(least))) as u32,
        }
    }

    fn is_present(&mut self, id: FieldId, wanted: &demand::Component<'s>, depth: u32) -> bool {
        let part = self.shape.field(id);
        match wanted.presence {
            Wanted::Present => return true,
            Wanted::Absent => return part.presence == Presence::Mandatory && part.place == Place::Root,
            Wanted::Free => {}
        }
        if part.presence == Presence::Mandatory {
            return true;
        }
        let barren = self.barren.get(part.node.index()).copied().unwrap_or(false);
        if barren || self.is_full() || !self.has_room(part.node, depth + 1) {
            return false;
        }
        match self.border((Choice::Presence, id.index(), 0), 2) {
            Some(turn) => turn == 0,
            None => self.random.one_in(2),
        }
    }

    fn elements(&mut self, field: FieldId, node: NodeId, demand: &Demand<'s>, depth: u32) {
        let shape = self.shape;
        let Some((id, element)) = shape.fields_of(node).next() else { return };
        let inner = element.node;
        let room =
            self.has_room(inner, depth + 1) && !self.barren.get(inner.index()).copied().unwrap_or(false);
        let count = if room && !self.is_full() {
            let most = self.options.elements.saturating_sub(self.tape.len()) as u64;
            let small = self.heights.get(inner.index()).is_some_and(|height| *height <= 1);
            let most = if self.options.large && small { most.max(65_536) } else { most.min(24) };
            self.size((Choice::Size, field.index(), node.index()), demand, most, 3)
        } else {
            let least = demand.sizes().first().map_or(0, |(low, _)| *low);
            self.within_limits(least)
        };
        self.tape.open(field, node);
        let edge = shape.restrictions.of_field(id);
        for _ in 0..count {
            if self.too_large || self.tape.len() as u64 > MOST {
                self.too_large = true;
                break;
            }
            self.value(id, inner, edge, &demand.elements, depth + 1);
        }
        self.tape.close(field, node);
    }

    fn alternative(&mut self, field: FieldId, node: NodeId, demand: &Demand<'s>, depth: u32) {
        let shape = self.shape;
        let all = || shape.fields_of(node);
        let required = all().find(|(_, part)| demand.of_component(part.name).presence == Wanted::Present);
        let allowed: Vec<FieldId> = match required {
            Some((id, _)) => vec![id],
            None => {
                let free = |name| demand.of_component(name).presence != Wanted::Absent;
                all().filter(|(_, part)| free(part.name)).map(|(id, _)| id).collect()
            }
        };
        let node_of = |id: FieldId| shape.field(id).node;
        let fitting: Vec<FieldId> = match self.is_full() {
            true => Vec::new(),
            false => {
                let fits = |id: &FieldId| self.has_room(node_of(*id), depth + 1);
                allowed.iter().copied().filter(fits).collect()
            }
        };
        let shortest =
            || allowed.iter().copied().min_by_key(|id| self.heights.get(node_of(*id).index()).copied());
        let chosen = match fitting.len() {
            0 => shortest(),
            count => match self.border((Choice::Alternative, field.index(), node.index()), count) {
                Some(turn) => fitting.get(turn).copied(),
                None => self.random.pick(&fitting).copied(),
            },
        };
        let Some(id) = chosen else {
            // A CHOICE without alternatives has no values; this one will not be valid.
            self.tape.leaf(field, node, Leaf::Made(&[]));
            return;
        };
        let wanted = demand.of_component(shape.field(id).name);
        self.tape.open(field, node);
        self.value(id, node_of(id), shape.restrictions.of_field(id), &wanted.values, depth + 1);
        self.tape.close(field, node);
    }

    // Tables

    /// The content of an open type: of the row that the keys select.
    fn open(&mut self, field: FieldId, node: NodeId, depth: u32) {
        let shape = self.shape;
        let table = shape.node(node).table.as_ref();
        let found = table.and_then(|table| {
            let rows = &shape.tables.get(table.table as usize)?.rows;
            if table.keys.is_empty() {
                return (rows.len() == 1).then_some((table.table, 0));
            }
            let known = |key: &u16| self.registers.get(usize::from(*key)).and_then(Option::as_ref);
            let at =
                rows.iter().position(|row| row.keys.iter().map(Some).eq(table.keys.iter().map(known)))?;
            Some((table.table, at))
        });
        let Some((table, at)) = found else {
            self.tape.leaf(field, node, Leaf::Made(&UNKNOWN_CONTENT));
            return;
        };
        let inside = shape.tables[table as usize].rows[at].node;
        self.tape.open(field, node);
        self.value(FieldId::ROOT, inside, shape.restrictions.of_row(table, at), &[], depth + 1);
        self.tape.close(field, node);
    }

    /// A key that a row of a table has, so that the open types that go by it have something to hold.
    fn key(&mut self, field: FieldId, node: NodeId, key: u16, demand: &Demand<'s>, depth: u32) -> bool {
        let shape = self.shape;
        let Some(asked) = self.asked.get(usize::from(key)) else { return false };
        // Of several tables the first that has rows: a component's open types mostly share one object set.
        let mut rows: Vec<(&'s Key, u32)> = Vec::new();
        for table in asked {
            let table: &'s TableRef = table;
            let Some(found) = shape.tables.get(table.table as usize) else { continue };
            let place = table.keys.iter().position(|register| *register == key).unwrap_or(0);
            let agrees = |row: &&Row| {
                let keys = row.keys.iter().zip(&table.keys).enumerate();
                keys.into_iter().all(|(at, (own, register))| {
                    at >= place
                        || self.registers.get(usize::from(*register)).and_then(Option::as_ref) == Some(own)
                })
            };
            for row in found.rows.iter().filter(agrees) {
                if let Some(own) = row.keys.get(place) {
                    rows.push((own, self.heights.get(row.node.index()).copied().unwrap_or(INFINITE)));
                }
            }
            if !rows.is_empty() {
                break;
            }
        }
        rows.retain(|(_, height)| *height < DEEPEST);
        let deepest = u32::from(self.options.depth).saturating_sub(depth + 2);
        let least = rows.iter().map(|(_, height)| *height).min();
        if self.is_full() || rows.iter().all(|(_, height)| *height > deepest) {
            rows.retain(|(_, height)| Some(*height) == least);
        } else {
            rows.retain(|(_, height)| *height <= deepest);
        }
        let kind = shape.node(node).kind;
        let fits = |sampler: &mut Self, own: &Key| match own {
            _ if kind == Kind::Choice || demand.all.is_empty() => true,
            Key::Int(number) => sampler.fits(node, &integer_octets(*number), demand),
            Key::Octets(octets) => sampler.fits(node, octets, demand),
            Key::Alternative(..) => true,
        };
        // Rows are tried one by one: whether a key fits may take a look at every object of the set.
        let mut found = None;
        while !rows.is_empty() {
            let at = match self.border((Choice::Row, field.index(), 0), rows.len()) {
                Some(turn) => turn,
                None => self.random.below(rows.len() as u64) as usize,
            };
            let (own, _) = rows[at];
            if fits(self, own) {
                found = Some(own);
                break;
            }
            rows.remove(at);
        }
        let Some(chosen) = found else { return false };
        self.say_key(field, node, chosen);
        if let Some(register) = self.registers.get_mut(usize::from(key)) {
            *register = Some(chosen.clone());
        }
        true
    }

    fn say_key(&mut self, field: FieldId, node: NodeId, key: &Key) {
        match key {
            Key::Int(number) => self.tape.leaf(field, node, Leaf::Made(&integer_octets(*number))),
            Key::Octets(octets) => self.tape.leaf(field, node, Leaf::Made(octets)),
            Key::Alternative(name, inner) => {
                self.tape.open(field, node);
                let found = self.shape.fields_of(node).find(|(_, part)| part.name == *name);
                if let Some((id, node)) = found.map(|(id, part)| (id, part.node)) {
                    self.say_key(id, node, inner);
                }
                self.tape.close(field, node);
            }
        }
    }

    /// Keeps the keys among the values from an index on.
    fn remember(&mut self, begin: usize) {
        let view = self.tape.view(&[]);
        for at in begin..view.len() {
            let (Token::Leaf { field, .. } | Token::Open { field, .. }) = view.token(at) else { continue };
            let key = self.shape.fields.get(field.index()).and_then(|field| field.key);
            if let Some(register) = key.and_then(|key| self.registers.get_mut(usize::from(key))) {
                *register = crate::validate::key_at(self.shape, view, at);
            }
        }
    }
}

fn too_large() -> Error {
    let text = format!("each value of the type has more than {MOST} bytes or elements, the limit of samples");
    Error::new(ErrorKind::LimitExceeded, 0).with_detail(text)
}

/// Nodes whose values all hold an open type for which the object set, being empty, has no row.
fn barren(shape: &Shape) -> Vec<bool> {
    let is_empty =
        |table: &TableRef| shape.tables.get(table.table as usize).is_none_or(|table| table.rows.is_empty());
    let mut barren: Vec<bool> =
        shape.nodes.iter().map(|node| node.table.as_ref().is_some_and(is_empty)).collect();
    loop {
        let mut changed = false;
        for index in (0..shape.nodes.len()).rev() {
            let id = NodeId(index as u32);
            let of = |node: NodeId| barren.get(node.index()).copied().unwrap_or(false);
            let now = match shape.node(id).kind {
                Kind::Sequence | Kind::Set => shape.fields_of(id).any(|(_, part)| {
                    part.presence == Presence::Mandatory && part.place == Place::Root && of(part.node)
                }),
                Kind::SequenceOf | Kind::SetOf => {
                    shape.least_size(id) > 0 && shape.fields_of(id).any(|(_, part)| of(part.node))
                }
                _ => false,
            };
            if now && !barren[index] {
                barren[index] = true;
                changed = true;
            }
        }
        if !changed {
            return barren;
        }
    }
}
