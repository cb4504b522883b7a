//! The same runner, which counts its allocations.

use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};
use std::alloc::System;

#[global_allocator]
static COUNTING: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

fn main() {
    tercet_bench::main(|| {
        let stats = COUNTING.stats();
        stats.allocations + stats.reallocations
    });
}
