//! Messages of packet captures, decoded by specifications: names, identifiers, values, rows, conditions.
//!
//! [`tercet_capture`] finds the messages; a [`Decoder`] reads each by the specification of its protocol, which
//! [`Specifications`] finds by the names of module and type.
//!
//! ```
//! use tercet_schema::captures::{Decoder, DecoderOptions, Specifications, object};
//! use tercet_schema::captures::capture::{Capture, Event, Options};
//!
//! # fn main() -> std::io::Result<()> {
//! # let path = std::env::temp_dir().join(format!("tercet-captures-{}.pcap", std::process::id()));
//! # std::fs::write(&path, [&[0xD4, 0xC3, 0xB2, 0xA1, 2, 0, 4, 0][..], &[0; 8], &[0xFF, 0xFF, 0, 0, 1, 0, 0, 0]].concat())?;
//! let specifications = Specifications::find(&[], tercet_schema::SchemaOptions::default())?;
//! let mut decoder = Decoder::new(specifications, DecoderOptions::default());
//! let mut capture = Capture::new(std::fs::File::open(&path)?, Options::default());
//! let mut print = |event: Event<'_>| {
//!     if let Event::Pdu(pdu) = event {
//!         let decoded = decoder.decode(&pdu);
//!         println!("{}", serde_json::Value::from(object(&pdu, Some(&decoded), None)));
//!     }
//! };
//! while capture.read_packet(&mut print)? {}
//! # std::fs::remove_file(&path)
//! # }
//! ```

mod conditions;
mod decoder;
mod envelope;
mod h248;
mod identifiers;
mod inner;
mod lenient;
mod line;
mod named;
mod names;
mod operations;
mod signalled;
mod specifications;
mod value;

pub use conditions::{Comparison, Condition, Literal};
pub use decoder::{Decoded, Decoder, DecoderOptions, Fault, ReadValue, Warning, missing};
pub use envelope::Envelope;
pub use identifiers::Identifiers;
pub use inner::Inner;
pub use line::{object, push_line, write};
pub use signalled::{Signalled, Signalling};
pub use specifications::{SCHEMAS_VARIABLE, Specification, Specifications};
pub use tercet_capture as capture;
pub use value::{Form, value};
