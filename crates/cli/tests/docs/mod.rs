//! The documentation as a whole: links, the table of contents, pages that are made from the program.

mod links;
mod reference;
