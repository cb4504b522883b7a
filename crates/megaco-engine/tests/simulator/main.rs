//! Engines in a simulated network: loss, reordering, duplication, corruption, partitions, clocks that jump, restarts. Everything
//! follows from a seed. To run one seed again, with its trace:
//!
//! ```sh
//! TERCET_SEED=17 cargo test -p tercet-megaco-engine --test simulator -- --nocapture replay
//! ```

mod network;
mod plan;
mod world;

use plan::Plan;
use world::World;

const SEEDS: u64 = 1000;

fn run(seeds: impl Iterator<Item = u64>) {
    for seed in seeds {
        if let Err(fault) = World::new(Plan::of(seed), false).run() {
            panic!(
                "{fault}\nto run it again: TERCET_SEED={seed} cargo test -p tercet-megaco-engine --test simulator -- \
                 --nocapture replay"
            );
        }
    }
}

#[test]
fn seeds_part_one() {
    run((0..SEEDS).step_by(2));
}

#[test]
fn seeds_part_two() {
    run((1..SEEDS).step_by(2));
}

/// The same seed gives the same trace, octet for octet.
#[test]
fn a_seed_is_deterministic() {
    for seed in 0..20 {
        let trace = || {
            let mut world = World::new(Plan::of(seed), true);
            world.run().unwrap();
            world.trace
        };
        let first = trace();
        assert!(!first.is_empty());
        assert_eq!(first, trace(), "seed {seed}");
    }
}

/// The seeds meet what they are for.
#[test]
fn seeds_cover_the_faults_of_networks() {
    let mut sum = world::Totals::default();
    for seed in 0..60 {
        let mut world = World::new(Plan::of(seed), false);
        world.run().unwrap();
        sum.add(&world.totals());
    }
    let world::Totals {
        ok,
        failed,
        lost,
        doubled,
        corrupted,
        restarts,
        resent,
        pendings,
        segments,
        aborted,
        acks,
    } = sum;
    for (number, what) in [
        (ok, "replies"),
        (failed, "failures"),
        (lost, "lost messages"),
        (doubled, "doubled messages"),
        (corrupted, "corrupted messages"),
        (restarts, "restarts"),
        (resent, "resends"),
        (pendings, "Pendings"),
        (segments, "segments"),
        (aborted, "aborted requests"),
        (acks, "acknowledgements"),
    ] {
        assert!(number > 0, "no {what}: {sum:?}");
    }
}

/// Runs the seed of `TERCET_SEED` and prints its trace.
#[test]
#[expect(clippy::print_stdout, reason = "the trace of a seed is for a reader")]
fn replay() {
    let Some(seed) = std::env::var("TERCET_SEED").ok().and_then(|seed| seed.parse().ok()) else { return };
    let mut world = World::new(Plan::of(seed), true);
    println!("{:#?}", world.plan);
    let outcome = world.run();
    for line in &world.trace {
        println!("{line}");
    }
    outcome.unwrap();
}
