//! The runner of the plan engine.

fn main() {
    tercet_bench::main();
}
