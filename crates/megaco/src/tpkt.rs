//! TPKT: messages in a stream of TCP, each behind its length (RFC 1006, clause 6; H.248.1 annex D.2).

use crate::{Error, Result};

/// The version of the protocol.
const VERSION: u8 = 3;
/// Octets before a message: version, reserved, and how many octets there are with these.
const HEADER: usize = 4;

/// The message that a stream begins with, and how many octets it takes with its header; `None` if not all of it is
/// there yet. The octet that is reserved may have any value.
///
/// # Errors
/// The stream begins with no such header, or a length without room for a message. What follows cannot be found then.
pub fn take_frame(stream: &[u8]) -> Result<Option<(&[u8], usize)>> {
    match *stream {
        [] => Ok(None),
        [VERSION, _, high, low, ..] => {
            let length = usize::from(u16::from_be_bytes([high, low]));
            if length <= HEADER {
                return Err(Error::new(2, "a length of more than the 4 bytes of a header"));
            }
            Ok(stream.get(HEADER..length).map(|message| (message, length)))
        }
        [VERSION, ..] => Ok(None),
        _ => Err(Error::new(0, "a header of TPKT: the byte 3")),
    }
}

/// Writes a message with its header.
///
/// # Errors
/// The message is empty or has more than 65,531 octets.
pub fn write_frame(message: &[u8], out: &mut Vec<u8>) -> Result<()> {
    let Ok(length @ 5..) = u16::try_from(message.len().saturating_add(HEADER)) else {
        return Err(Error::new(out.len(), "a message of 1 to 65,531 bytes"));
    };
    let [high, low] = length.to_be_bytes();
    out.extend_from_slice(&[VERSION, 0, high, low]);
    out.extend_from_slice(message);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_is_cut_where_its_headers_say() {
        let mut stream = Vec::new();
        write_frame(b"!/1 a", &mut stream).unwrap();
        write_frame(&[7; 65_531], &mut stream).unwrap();
        assert_eq!(stream[..4], [3, 0, 0, 9]);
        assert_eq!(take_frame(&stream), Ok(Some((&b"!/1 a"[..], 9))));
        assert_eq!(take_frame(&stream[9..]).unwrap().unwrap().1, 65_535);
        for cut in 0..9 {
            assert_eq!(take_frame(&stream[..cut]), Ok(None), "{cut}");
        }
        assert!(write_frame(&[7; 65_532], &mut stream).is_err());
        assert!(write_frame(b"", &mut stream).is_err());
        for bad in [&b"\x03\x00\x00\x04"[..], b"\x03\x00\x00\x00!", b"\x00", b"GET / HTTP/1.0"] {
            assert!(take_frame(bad).is_err(), "{bad:?}");
        }
    }
}
