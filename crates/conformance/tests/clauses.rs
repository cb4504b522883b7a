//! The page of clauses is made from the headings of the vectors.

#[test]
fn the_page_of_clauses_is_current_and_complete() {
    tercet_conformance::clauses::run(true).unwrap();
}
