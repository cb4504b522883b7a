//! The page of diagnostics is made from the code.

#[test]
fn the_page_of_diagnostics_is_current() {
    xtask::codes::run(true).unwrap();
}
