//! `tercet.megaco`: messages of Megaco/H.248 in all encodings, digit maps, session descriptions, transactions.
//!
//! A message is JSON on its way to Python, whose own reader makes objects of it.

mod digit_map;
mod engine;
mod inbox;
mod message;
mod sdp;

/// The compiled half of `tercet.megaco`.
#[pyo3::pymodule(submodule, gil_used = false)]
pub(crate) mod _megaco {
    #[pymodule_export]
    use super::digit_map::{DigitMap, Evaluation};
    #[pymodule_export]
    use super::engine::Engine;
    #[pymodule_export]
    use super::message::{check, detect, encodings, transcode};
    #[pymodule_export]
    use super::sdp::{sdp_lines, sdp_text};
}
