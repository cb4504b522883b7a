//! Information object classes, objects and object sets (X.681).

mod classes;
mod definition;
mod fields;
mod sets;
mod settings;
mod syntax;
#[cfg(test)]
mod tests;
mod unique;

pub(crate) use unique::check;
