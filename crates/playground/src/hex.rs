//! Bytes as hexadecimal digits, and back.

/// Returns the digits of bytes, with a space between two bytes.
pub(crate) fn spelled(octets: &[u8]) -> String {
    let digit = |value: u8| char::from_digit(value.into(), 16).unwrap_or('0').to_ascii_uppercase();
    let mut text = String::with_capacity(octets.len() * 3);
    for octet in octets {
        if !text.is_empty() {
            text.push(' ');
        }
        text.extend([digit(octet >> 4), digit(octet & 15)]);
    }
    text
}

/// Reads hexadecimal digits. White space, commas, colons, semicolons and `0x` count for nothing.
///
/// # Errors
/// The first character that is not a digit, or a digit that is left over.
pub(crate) fn read(text: &str) -> Result<Vec<u8>, String> {
    let mut octets = Vec::with_capacity(text.len() / 2);
    let mut first = None;
    let mut characters = text.chars().enumerate().peekable();
    while let Some((at, character)) = characters.next() {
        if character == '0'
            && first.is_none()
            && characters.peek().is_some_and(|(_, it)| matches!(it, 'x' | 'X'))
        {
            characters.next();
            continue;
        }
        if character.is_whitespace() || matches!(character, ',' | ':' | ';') {
            continue;
        }
        let Some(digit) = character.to_digit(16) else {
            return Err(format!(
                "`{}` at character {} is not a hexadecimal digit",
                character.escape_debug(),
                at + 1
            ));
        };
        first = match first {
            None => Some(digit as u8),
            Some(high) => {
                octets.push(high << 4 | digit as u8);
                None
            }
        };
    }
    match first {
        None => Ok(octets),
        Some(_) => Err("an odd number of hexadecimal digits".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_read_in_many_forms() {
        for text in ["300a0F", "30 0A 0f", "0x30, 0x0A,0x0F;", "30:0a:0f\n", " 3 00A 0F"] {
            assert_eq!(read(text).as_deref(), Ok(&[0x30, 0x0A, 0x0F][..]), "{text}");
        }
        assert_eq!(read(""), Ok(vec![]));
        assert_eq!(read("300").unwrap_err(), "an odd number of hexadecimal digits");
        assert_eq!(read("30 0g").unwrap_err(), "`g` at character 5 is not a hexadecimal digit");
    }

    #[test]
    fn what_is_spelled_is_read() {
        let octets: Vec<u8> = (0..=255).collect();
        assert_eq!(read(&spelled(&octets)), Ok(octets));
        assert_eq!(spelled(&[0x30, 0x0A]), "30 0A");
    }
}
