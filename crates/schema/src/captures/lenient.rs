//! Plans that read what peers send: characters outside of alphabets, numbers outside of ranges.

use tercet_plan::Plan;
use tercet_plan::per::{Code, IntegerForm, Range, Whole};

/// Returns a plan of PER that also reads the characters and numbers that constraints exclude but the bits of the encoding
/// can express; `None` if there are no such constraints, or for other rules, which read them anyway.
pub(super) fn lenient(plan: &Plan) -> Option<Plan> {
    let tercet_plan::Code::Per(program) = &plan.code else { return None };
    let mut program = program.clone();
    let mut is_wider = false;
    for alphabet in &mut program.alphabets {
        // Characters that are written as numbers among the permitted ones have no others.
        if alphabet.indexed || alphabet.bits == 0 || alphabet.bits > 8 || alphabet.octets != 1 {
            continue;
        }
        let hi = (1 << alphabet.bits) - 1;
        alphabet.ranges = Box::new([Range { lo: 0, hi, number: 0 }]);
        alphabet.ascii = if hi < 127 { (1 << (hi + 1)) - 1 } else { u128::MAX };
        (alphabet.table, alphabet.codes) = (None, None);
        is_wider = true;
    }
    for code in &mut program.nodes {
        let Code::Integer(integer) = code else { continue };
        let IntegerForm::Constrained { lo, span, whole } = &mut integer.form else { continue };
        let most = match whole {
            Whole::Bits(width) if *width < 63 => (1_u64 << *width) - 1,
            Whole::Octet => 0xFF,
            Whole::TwoOctets => 0xFFFF,
            _ => continue,
        };
        if *span < most && lo.checked_add_unsigned(most).is_some() {
            *span = most;
            is_wider = true;
        }
    }
    if !is_wider {
        return None;
    }
    program.derive(&plan.shape);
    Some(Plan { shape: plan.shape.clone(), code: tercet_plan::Code::Per(program) })
}
