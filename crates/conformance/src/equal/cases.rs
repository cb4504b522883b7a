//! What the program and the engine both get.

use tercet::{Rules, TapeCodec};
use tercet_dynamic::{Plan, Tape, sample};
use tercet_plan::Shape;
use tercet_plan::constraint::Element;

use super::{Arguments, Outcome, RULES};
use crate::generate::Random;

/// An encoding that both get.
pub(super) struct Case {
    pub(super) root: usize,
    pub(super) rules: usize,
    pub(super) octets: Vec<u8>,
    pub(super) origin: Origin,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// A valid value.
    Valid,
    /// The same with a bit turned, or cut off.
    Damaged,
    /// A value that may break constraints, in BER, to be written by the rules.
    Foreign,
}

/// Samples of each type by each rule, whole and damaged, and values in BER that may break constraints.
pub(super) fn cases(
    plans: &[Plan],
    roots: &[String],
    settings: &Arguments,
    outcome: &mut Outcome,
) -> Vec<Case> {
    let mut cases = Vec::new();
    let mut random = Random::new(settings.seed);
    // What damages texts changes nothing for the other rules.
    let mut random_in_text = Random::new(settings.seed);
    for (number, root) in roots.iter().enumerate() {
        let Some(node) = plans[0].root(root) else { continue };
        let mut options = sample::Options::default();
        options.seed = settings.seed;
        let mut sampler = sample::Sampler::new(&plans[0].shape, options);
        let mut tape = Tape::new();
        for _ in 0..settings.count {
            if sampler.sample(node, &mut tape).is_err() {
                continue;
            }
            let printed = |(_, (syntax, _)): &(usize, &(Rules, &str))| settings.compares(*syntax);
            for (rules, (syntax, _)) in RULES.iter().enumerate().filter(printed) {
                let mut octets = Vec::new();
                if let Err(error) = TapeCodec::new(*syntax, &plans[rules]).write(tape.view(&[]), &mut octets)
                {
                    outcome.values.skipped += 1;
                    outcome.fault(&format!("{syntax}: not written by the engine"), || {
                        format!("{root}: {error}")
                    });
                    continue;
                }
                let random = if syntax.is_text() { &mut random_in_text } else { &mut random };
                for _ in 0..settings.damaged {
                    let mut damaged = octets.clone();
                    if damaged.is_empty() {
                        break;
                    }
                    let at = random.below(damaged.len() as u64) as usize;
                    if random.below(4) == 0 {
                        damaged.truncate(at);
                    } else {
                        damaged[at] ^= 1 << random.below(8);
                    }
                    cases.push(Case { root: number, rules, octets: damaged, origin: Origin::Damaged });
                }
                cases.push(Case { root: number, rules, octets, origin: Origin::Valid });
            }
        }
    }
    foreign(plans, roots, settings, &mut random, &mut cases);
    cases
}

/// Adds values in BER that may break constraints, to be written by the other rules.
///
/// Shapes of large specifications have tens of thousands of nodes, which a copy and a sampler walk over: all types
/// share those of a turn.
fn foreign(
    plans: &[Plan],
    roots: &[String],
    settings: &Arguments,
    random: &mut Random,
    cases: &mut Vec<Case>,
) {
    let mut tape = Tape::new();
    for turn in 0..settings.count as u64 {
        let shape = relaxed(&plans[0].shape, random);
        let mut options = sample::Options::default();
        options.seed = settings.seed + turn;
        let mut sampler = sample::Sampler::new(&shape, options);
        for (number, root) in roots.iter().enumerate() {
            let Some(node) = plans[0].root(root) else { continue };
            let mut octets = Vec::new();
            if sampler.sample(node, &mut tape).is_ok()
                && TapeCodec::new(Rules::Ber, &plans[0]).write(tape.view(&[]), &mut octets).is_ok()
            {
                let of =
                    |rules| Case { root: number, rules, octets: octets.clone(), origin: Origin::Foreign };
                let printed = (1..RULES.len()).filter(|rules| settings.compares(RULES[*rules].0));
                cases.extend(printed.map(of));
            }
        }
    }
}

/// A shape that some of the constraints are gone from.
fn relaxed(shape: &Shape, random: &mut Random) -> Shape {
    let mut shape = shape.clone();
    for restriction in &mut shape.restrictions.list {
        if random.below(8) == 0 {
            restriction.root = Element::All;
        }
    }
    shape
}
