//! Python bindings: a thin layer over the crate `tercet`, whose typed face is the package in `python/tercet`.
//!
//! Values are decoded to a tape without Python, and Python objects are made of the tape; large inputs are decoded with
//! the interpreter released. No code here is unsafe; what PyO3 generates is.

mod bits;
mod captures;
mod codec;
mod compiled;
mod detect;
mod encode;
mod error;
mod files;
mod interrupt;
mod lazy;
mod ldap;
mod megaco;
mod objects;
mod octets;
mod options;
mod rendering;
mod reused;
mod schema;
mod shown;
mod times;

/// The compiled half of the package `tercet`.
#[pyo3::pymodule(gil_used = false)]
mod _tercet {
    use pyo3::prelude::*;

    #[pymodule_export]
    use crate::bits::BitString;
    #[pymodule_export]
    use crate::captures::{Capture, CaptureMessage, CaptureMessages, capture};
    #[pymodule_export]
    use crate::codec::Codec;
    #[pymodule_export]
    use crate::detect::detect;
    #[pymodule_export]
    use crate::files::{
        ArrowSchema, Batch, Batches, HeldTable, Record, Records, Table, TableBatches, Tables, doctor, expand,
        iter_records, read, read_tables, split_key, splits,
    };
    #[pymodule_export]
    use crate::lazy::LazyDict;
    #[pymodule_export]
    use crate::ldap::_ldap;
    #[pymodule_export]
    use crate::megaco::_megaco;
    #[pymodule_export]
    use crate::options::unknown;
    #[pymodule_export]
    use crate::schema::Schema;
    #[pymodule_export]
    use crate::shown::Shown;

    #[pymodule_export]
    #[expect(non_upper_case_globals, reason = "Python's own name for it")]
    const __version__: &str = env!("CARGO_PKG_VERSION");

    /// The packages inside of this one import their compiled halves as modules of their own.
    #[pymodule_init]
    fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
        let modules = module.py().import("sys")?.getattr("modules")?;
        modules.set_item("tercet.ldap._ldap", module.getattr("_ldap")?)?;
        modules.set_item("tercet.megaco._megaco", module.getattr("_megaco")?)
    }
}
