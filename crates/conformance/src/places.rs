//! The places of the parts of encodings: each bit of a value is one part, and a fault ends them where it ends the value.

use tercet_dynamic::trace::Trace;
use tercet_dynamic::{Decoder, Discard, Error, NodeId, Options, Plan};

/// Checks the places of the parts of an encoding against its decoding without places.
///
/// # Errors
/// Parts with a gap or an overlap, other ends, and other faults, as text.
pub fn check(plan: &Plan, root: NodeId, octets: &[u8], options: &Options) -> Result<usize, String> {
    let (mut parts, mut end, mut wrong) = (0, 0, None);
    let mut trace = Trace::new(&plan.shape, octets, |step| {
        if step.place.at != end && wrong.is_none() {
            wrong = Some(format!("after bit {end}: {step:?}"));
        }
        (parts, end) = (parts + 1, step.place.end());
    });
    let mut decoder = Decoder::new();
    let traced = decoder.decode(plan, root, octets, &mut trace, options);
    trace.finish();
    drop(trace);
    if let Some(wrong) = wrong {
        return Err(wrong);
    }
    let read = decoder.decode(plan, root, octets, &mut Discard, options);
    let said = |outcome: &Result<usize, Error>| match outcome {
        Ok(length) => format!("{length} octets"),
        Err(error) => error.to_string(),
    };
    if said(&traced) != said(&read) {
        return Err(format!("with places {}, without {}", said(&traced), said(&read)));
    }
    match traced {
        Ok(length) if end != 8 * length as u64 => Err(format!("parts end at bit {end} of {length} octets")),
        Err(_) if end > 8 * octets.len() as u64 => Err(format!("parts end at bit {end}, behind the input")),
        _ => Ok(parts),
    }
}
