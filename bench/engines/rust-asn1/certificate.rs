//! X.509 certificates as structures of rust-asn1.

use asn1::{
    Asn1Read, Asn1Write, BigInt, BitString, GeneralizedTime, ObjectIdentifier, SequenceOf, SetOf, Tlv, UtcTime,
};

#[derive(Asn1Read, Asn1Write)]
struct Certificate<'a> {
    tbs_certificate: TbsCertificate<'a>,
    signature_algorithm: AlgorithmIdentifier<'a>,
    signature: BitString<'a>,
}

#[derive(Asn1Read, Asn1Write)]
struct TbsCertificate<'a> {
    #[explicit(0)]
    #[default(0)]
    version: u8,
    serial_number: BigInt<'a>,
    signature: AlgorithmIdentifier<'a>,
    issuer: Name<'a>,
    validity: Validity,
    subject: Name<'a>,
    subject_public_key_info: SubjectPublicKeyInfo<'a>,
    #[implicit(1)]
    issuer_unique_id: Option<BitString<'a>>,
    #[implicit(2)]
    subject_unique_id: Option<BitString<'a>>,
    #[explicit(3)]
    extensions: Option<SequenceOf<'a, Extension<'a>>>,
}

type Name<'a> = SequenceOf<'a, SetOf<'a, AttributeTypeAndValue<'a>>>;

#[derive(Asn1Read, Asn1Write)]
struct AttributeTypeAndValue<'a> {
    r#type: ObjectIdentifier,
    value: Tlv<'a>,
}

#[derive(Asn1Read, Asn1Write)]
struct AlgorithmIdentifier<'a> {
    algorithm: ObjectIdentifier,
    parameters: Option<Tlv<'a>>,
}

#[derive(Asn1Read, Asn1Write)]
struct Validity {
    not_before: Time,
    not_after: Time,
}

#[derive(Asn1Read, Asn1Write)]
enum Time {
    Utc(UtcTime),
    General(GeneralizedTime),
}

#[derive(Asn1Read, Asn1Write)]
struct SubjectPublicKeyInfo<'a> {
    algorithm: AlgorithmIdentifier<'a>,
    subject_public_key: BitString<'a>,
}

#[derive(Asn1Read, Asn1Write)]
struct Extension<'a> {
    extn_id: ObjectIdentifier,
    #[default(false)]
    critical: bool,
    extn_value: &'a [u8],
}

fn main() {
    rust_runner::main(
        "rust-asn1 0.24.1",
        |octets| asn1::parse_single::<Certificate>(octets).map_err(|error| error.to_string()),
        |value, out| {
            *out = asn1::write_single(value).map_err(|error| format!("{error:?}"))?;
            Ok::<(), String>(())
        },
    );
}
