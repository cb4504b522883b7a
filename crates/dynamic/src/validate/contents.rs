//! Why the bytes of a string with CONTAINING are no encoding of what it contains.

use crate::event::{Discard, Leaf};
use crate::path::of_tape;
use crate::tape::{Token, View};
use crate::{Decoder, Error, ErrorKind, Options};
use tercet_plan::{Kind, Plan};

/// The first fault in the bytes of a string with CONTAINING (X.682 §11) that stand as they are on a tape: on the path
/// from the outermost value. Its place is that in the input, `options` telling where the value begins there, or, where
/// the octets are not those of the input, that in the octets, and its detail says so.
///
/// `None` if that is no such string, or its octets are an encoding but for the keys around them.
pub fn fault_inside(plan: &Plan, view: View<'_>, token: usize, options: &Options) -> Option<Error> {
    let shape = &plan.shape;
    let Token::Leaf { node, leaf, .. } = view.token(token) else { return None };
    let string = shape.node(node);
    let inside = string.containing?;
    let (at, octets) = match leaf {
        Leaf::Input { at, contents } => (Some(at), contents),
        leaf => (None, leaf.contents()?),
    };
    // In front of the bits is the number of those that are unused.
    let (at, octets) = match (string.kind, octets) {
        (Kind::BitString, [0, bits @ ..]) => (at.map(|at| at + 1), bits),
        (Kind::BitString, _) => return None,
        (_, octets) => (at, octets),
    };
    let mut options = options.clone();
    options.base_offset = at.map_or(0, |at| options.base_offset.saturating_add(at as u64));
    let fault = match Decoder::new().decode(plan, inside, octets, &mut Discard, &options) {
        Err(fault) => fault,
        Ok(length) if length < octets.len() => {
            Error::new(ErrorKind::TrailingData, options.base_offset.saturating_add(length as u64))
        }
        Ok(_) => return None,
    };
    let around = of_tape(shape, view, token);
    let path = fault.path().strip_prefix(shape.type_name(inside).unwrap_or_default()).unwrap_or_default();
    let dot = if path.is_empty() || path.starts_with(['.', '[']) { "" } else { "." };
    let path = format!("{around}{dot}{path}");
    let fault = fault.with_path(path);
    Some(if at.is_none() && fault.detail().is_empty() {
        fault.with_detail("counted in the bytes of the string")
    } else {
        fault
    })
}
