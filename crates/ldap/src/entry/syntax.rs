//! Syntaxes of values (RFC 4517 clause 3.3), as far as a value can be checked without a server.

use crate::dn::Dn;

/// Returns what a value should be if it is not of a syntax; nothing for syntaxes that are not checked.
pub(super) fn fault(syntax: &str, value: &[u8]) -> Option<&'static str> {
    let oid = syntax.split('{').next().unwrap_or_default();
    let number = oid.strip_prefix("1.3.6.1.4.1.1466.115.121.1.")?;
    let text = std::str::from_utf8(value).ok();
    let is = |test: &dyn Fn(&str) -> bool| text.is_some_and(test);
    let (is_good, expected) = match number {
        "7" => (matches!(value, b"TRUE" | b"FALSE"), "`TRUE` or `FALSE`"),
        "11" => (is(&|text| text.len() == 2 && text.bytes().all(is_printable)), "a country of two letters"),
        "12" => (is(&|text| text.parse::<Dn>().is_ok()), "a distinguished name"),
        "15" => (is(&|text| !text.is_empty()), "a text in UTF-8, not empty"),
        "24" => (is(&is_time), "a time as `20260131120000Z`"),
        "26" => (value.is_ascii(), "a text in ASCII"),
        "27" => (is(&is_integer), "an integer without leading zeros"),
        "36" => {
            let is_digit = |octet: &u8| octet.is_ascii_digit() || *octet == b' ';
            (!value.is_empty() && value.iter().all(is_digit), "digits and spaces")
        }
        "38" => (is(&is_oid), "an object identifier or name"),
        "44" => (is(&|text| !text.is_empty() && text.bytes().all(is_printable)), "a printable string"),
        "50" => (is(&|text| !text.is_empty() && text.bytes().all(is_printable)), "a telephone number"),
        _ => return None,
    };
    (!is_good).then_some(expected)
}

/// PrintableCharacter (RFC 4517 3.2).
fn is_printable(octet: u8) -> bool {
    octet.is_ascii_alphanumeric() || b"'()+,-.=/:? ".contains(&octet)
}

fn is_integer(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let has_leading_zero = digits.starts_with('0') && (digits.len() > 1 || text.starts_with('-'));
    !digits.is_empty() && digits.bytes().all(|octet| octet.is_ascii_digit()) && !has_leading_zero
}

/// `numericoid` or `descr` (RFC 4512 1.4).
fn is_oid(text: &str) -> bool {
    let is_number = |arc: &str| {
        !arc.is_empty()
            && arc.bytes().all(|octet| octet.is_ascii_digit())
            && (arc == "0" || !arc.starts_with('0'))
    };
    let is_word = text.starts_with(|first: char| first.is_ascii_alphabetic())
        && text.bytes().all(|octet| octet.is_ascii_alphanumeric() || octet == b'-');
    is_word || (text.contains('.') && text.split('.').all(is_number))
}

/// GeneralizedTime (RFC 4517 3.3.13): `YYYYMMDDHH[MM[SS]][.fraction](Z|±HH[MM])`.
fn is_time(text: &str) -> bool {
    let Some(zone) = text.find(['Z', '+', '-']) else { return false };
    let (time, zone) = text.split_at(zone);
    let (whole, fraction) = match time.split_once(['.', ',']) {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (time, None),
    };
    let are_digits = |text: &str| !text.is_empty() && text.bytes().all(|octet| octet.is_ascii_digit());
    let part = |at: usize| whole.get(at..at + 2).and_then(|text| text.parse::<u32>().ok());
    let within =
        |at: usize, least: u32, most: u32| part(at).is_some_and(|value| (least..=most).contains(&value));
    let is_zone = match zone.split_at_checked(1) {
        Some(("Z", rest)) => rest.is_empty(),
        Some((_, digits)) => matches!(digits.len(), 2 | 4) && are_digits(digits),
        None => false,
    };
    is_zone
        && matches!(whole.len(), 10 | 12 | 14)
        && are_digits(whole)
        && fraction.is_none_or(are_digits)
        && within(4, 1, 12)
        && within(6, 1, 31)
        && within(8, 0, 23)
        && (whole.len() < 12 || within(10, 0, 59))
        && (whole.len() < 14 || within(12, 0, 60))
}

#[cfg(test)]
mod tests {
    use super::fault;

    #[test]
    fn values() {
        let check = |number: &str, value: &str| {
            fault(&format!("1.3.6.1.4.1.1466.115.121.1.{number}"), value.as_bytes())
        };
        for (number, good, bad) in [
            ("7", &["TRUE", "FALSE"][..], &["true", "", "1"][..]),
            ("11", &["DE"], &["DEU", "D", "ö"]),
            ("12", &["cn=a,o=b", ""], &["cn", "cn=a,"]),
            ("15{64}", &["a"], &[""]),
            (
                "24",
                &["20260131120000Z", "2026013112Z", "20260131120000.5+0100"],
                &["", "Z", "20260131Z", "20261331120000Z", "20260131120000"],
            ),
            ("27", &["0", "-1", "10"], &["", "-", "-0", "01", "1.0", "x"]),
            ("36", &["12 3"], &["", "a"]),
            ("38", &["2.5.4.3", "cn"], &["", "2", "2..5", "2.05", "a b"]),
            ("50", &["+1 555"], &["", "a_b"]),
        ] {
            for value in good {
                assert_eq!(check(number, value), None, "{number} {value:?}");
            }
            for value in bad {
                assert!(check(number, value).is_some(), "{number} {value:?}");
            }
        }
        assert_eq!(fault("1.2.3", b""), None);
    }
}
