//! The runner whose times count.

fn main() {
    tercet_bench::main(|| 0);
}
