//! Between the model and the generated types.

macro_rules! mapped_record {
    ($($all:tt)*) => {};
}

macro_rules! mapped_choice {
    ($($all:tt)*) => {};
}

macro_rules! mapped_atoms {
    ($($all:tt)*) => {};
}

pub(crate) use {mapped_atoms, mapped_choice, mapped_record};
