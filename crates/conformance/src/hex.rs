//! Octets as hexadecimal text.

use std::fmt::Write as _;

/// Octets from hexadecimal text; white space between octets is ignored.
///
/// # Errors
/// The text has something else, or half an octet.
pub fn parse(text: &str) -> Result<Vec<u8>, String> {
    let digits: Vec<u8> = text.bytes().filter(|b| !b.is_ascii_whitespace()).collect();
    if !digits.len().is_multiple_of(2) {
        return Err(format!("half an octet in {text:?}"));
    }
    digits
        .chunks_exact(2)
        .map(|pair| {
            let digit = |b: u8| char::from(b).to_digit(16);
            match (digit(pair[0]), digit(pair[1])) {
                (Some(high), Some(low)) => Ok((high << 4 | low) as u8),
                _ => Err(format!("not hexadecimal: {text:?}")),
            }
        })
        .collect()
}

/// Hexadecimal text of octets.
pub fn show(octets: &[u8]) -> String {
    octets.iter().fold(String::with_capacity(octets.len() * 2), |mut text, octet| {
        let _ = write!(text, "{octet:02x}");
        text
    })
}

/// The same for messages: a long text is cut, and its length said.
pub fn brief(octets: &[u8]) -> String {
    const LONG: usize = 60;
    if octets.len() <= LONG {
        show(octets)
    } else {
        format!("{}… ({} octets)", show(&octets[..LONG]), octets.len())
    }
}
