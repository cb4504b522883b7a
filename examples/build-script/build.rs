fn main() -> Result<(), tercet_build::Error> {
    use tercet_build::{Rules, compile};
    compile(["specs"]).roots(["Report"]).rules([Rules::Der, Rules::Uper]).write("weather.rs")
}
