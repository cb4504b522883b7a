//! How bytes that are numbers, times and places are shown, as far as commands ask for it.

use crate::exit::{Failure, Outcome};
use std::io;
use std::sync::Arc;
use tercet::dynamic::{NodeId, Shape};
use tercet::records::conversion::RenderingOptions;
use tercet::records::{Interpretation, Profile};

/// Returns the profile that is named, or the one that fits.
pub fn profile(options: &RenderingOptions, shape: &Shape) -> Outcome<Profile> {
    options.profile(shape).map_err(|error| match error.kind() {
        io::ErrorKind::InvalidInput => Failure::usage(error),
        _ => Failure::from(error),
    })
}

/// Returns the rendering, if the command line asks for one: commands whose output other tools read show bytes as they are by
/// default.
pub fn if_asked(
    options: &RenderingOptions,
    shape: &Arc<Shape>,
    root: NodeId,
) -> Outcome<Option<Interpretation>> {
    if options.is_default() {
        return Ok(None);
    }
    Ok(options.rendering(&profile(options, shape)?, shape, root)?)
}
