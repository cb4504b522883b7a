//! The documentation as a whole: links, words, the table of contents, pages that are made from the program.

mod language;
mod links;
mod reference;
