//! Controls (RFC 4511 4.1.11): the open traits. Those that have an RFC of their own are in [`crate::controls`].

use tercet_runtime::types::Octets;

use super::element::{Elements, tag};
use super::message::text;
use crate::error::{Error, ErrorKind, Result};
use crate::generated as asn1;

/// A control as it stands in a message.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Control {
    /// `controlType`, an object identifier in digits and dots.
    pub oid: String,
    /// `criticality`: whether the operation has to fail where the control is not known.
    pub critical: bool,
    /// `controlValue`
    pub value: Option<Vec<u8>>,
}

/// A control that goes with a request. Implement it for controls of your own.
pub trait RequestControl {
    /// The control as it stands in the message.
    fn control(&self) -> Control;
}

impl RequestControl for Control {
    fn control(&self) -> Control {
        self.clone()
    }
}

/// A control that comes with an answer.
pub trait ResponseControl: Sized {
    /// Its `controlType`.
    const OID: &'static str;

    /// Reads the value.
    ///
    /// # Errors
    /// The value is not one of the control.
    fn read(value: &[u8]) -> Result<Self>;
}

impl Control {
    /// A control without a value, not critical.
    #[must_use]
    pub fn new(oid: impl Into<String>) -> Self {
        Self { oid: oid.into(), critical: false, value: None }
    }

    /// The same with a value.
    #[must_use]
    pub fn with_value(mut self, value: impl Into<Vec<u8>>) -> Self {
        self.value = Some(value.into());
        self
    }

    /// The same with this criticality.
    #[must_use]
    pub const fn with_criticality(mut self, critical: bool) -> Self {
        self.critical = critical;
        self
    }
}

/// The first control of a kind.
///
/// # Errors
/// It is malformed, or has no value.
pub fn find<C: ResponseControl>(controls: &[Control]) -> Result<Option<C>> {
    let found = controls.iter().find(|control| control.oid == C::OID);
    found.map(|control| C::read(control.value.as_deref().unwrap_or_default())).transpose()
}

/// The controls in the contents octets of Controls.
///
/// # Errors
/// They are malformed.
pub fn read(octets: &[u8]) -> Result<Vec<Control>> {
    let mut controls = Vec::new();
    let mut elements = Elements::new(octets, 0);
    while !elements.rest().is_empty() {
        let control = elements.expect(tag::SEQUENCE, "Control")?;
        let mut parts = Elements::new(control, elements.begin(control));
        let oid = parts.expect(tag::OCTET_STRING, "controlType")?;
        let mut control = Control::new(text(oid, "controlType")?);
        while let Some((identifier, contents)) = parts.next()? {
            match identifier {
                0x01 => control.critical = contents.iter().any(|octet| *octet != 0),
                tag::OCTET_STRING => control.value = Some(contents.to_vec()),
                _ => {}
            }
        }
        controls.push(control);
    }
    Ok(controls)
}

pub(crate) fn to_asn1(control: &Control) -> asn1::Control<'_> {
    asn1::Control {
        control_type: Octets::borrowed(control.oid.as_bytes()),
        criticality: control.critical,
        control_value: control.value.as_deref().map(Octets::borrowed),
    }
}

pub(crate) fn from_asn1(control: asn1::Control<'_>) -> Result<Control> {
    Ok(Control {
        oid: text(&control.control_type, "controlType")?,
        critical: control.criticality,
        value: control.control_value.map(|value| value.to_vec()),
    })
}

/// The encoding of a control's or extended operation's value.
pub(crate) fn encoded<T: tercet_runtime::codec::Encode<tercet_runtime::codec::Ber>>(value: &T) -> Vec<u8> {
    // The generated types that are given here have no constraint that our values could break.
    value.encode().unwrap_or_default()
}

/// Reads the value of a control or extended operation.
pub(crate) fn decoded<'a, T>(value: &'a [u8], what: &str) -> Result<T>
where
    T: tercet_runtime::codec::Decode<'a, tercet_runtime::codec::Ber>,
{
    match T::decode(value) {
        Ok((value, [])) => Ok(value),
        Ok((_, rest)) => {
            let at = (value.len() - rest.len()) as u64;
            Err(Error::at(ErrorKind::Protocol, format!("{what}: bytes after the value"), at))
        }
        Err(error) => {
            Err(Error::at(ErrorKind::Protocol, format!("{what}: {}", error.kind().message()), error.at()))
        }
    }
}
