//! What is wrong with a value to encode, before its path is known.

use crate::tape::View;
use crate::{Error, ErrorKind};
use tercet_plan::{FieldId, Shape};

/// What is wrong, and with which component.
#[derive(Debug)]
pub(crate) struct Fault {
    pub(crate) kind: ErrorKind,
    pub(crate) field: Option<FieldId>,
}

impl From<ErrorKind> for Fault {
    #[cold]
    fn from(kind: ErrorKind) -> Self {
        Self { kind, field: None }
    }
}

impl From<tercet_runtime::Error> for Fault {
    #[cold]
    fn from(error: tercet_runtime::Error) -> Self {
        error.kind().into()
    }
}

impl Fault {
    /// The error, with the path of the value at an index of the tape.
    #[cold]
    pub(crate) fn explain(&self, shape: &Shape, value: View<'_>, at: usize) -> Error {
        let mut path = crate::path::of_tape(shape, value, at);
        let error = Error::new(self.kind, 0);
        match self.field.and_then(|field| shape.fields.get(field.index())) {
            Some(field) => {
                let name = shape.name(field.name);
                if !path.is_empty() {
                    path.push('.');
                }
                path.push_str(name);
                error.with_path(path).with_detail(format!("`{name}`"))
            }
            None => error.with_path(path),
        }
    }
}
