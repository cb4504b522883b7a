//! Values that need more than a Rust primitive, one file per type of X.680.
//!
//! Most come as a borrowed view over contents octets, which costs nothing to make, and an owned form.

mod bits;
#[cfg(feature = "decimal")]
pub mod decimal;
mod exact_real;
mod fixed;
mod integer;
mod integer_ref;
mod iso;
mod list;
mod list_ref;
mod object_identifier;
mod octets;
mod oid;
mod real;
mod text_ref;
mod time;
mod units;

pub use bits::{BitStr, BitString};
pub use exact_real::ExactReal;
pub use fixed::FixedBits;
pub use integer::Integer;
pub use integer_ref::IntegerRef;
pub use iso::{Form as TimeForm, TimeType, check_duration, check_time};
pub use list::List;
pub use list_ref::ListRef;
pub use object_identifier::{ObjectIdentifier, RelativeObjectIdentifier};
pub(crate) use octets::INLINE;
pub use octets::{MarkedText, Octets, Text};
pub use oid::{Arcs, Oid, OidRef, RelativeOid, RelativeOidRef};
pub use real::{Base, Binary, Decimal, Real};
pub use text_ref::TextRef;
pub use time::{GeneralizedTime, UtcTime, Zone};
pub use units::{TimeNumbers, TimeUnit};
