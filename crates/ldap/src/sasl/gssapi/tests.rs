use super::*;

/// A context whose tokens are the message behind `c` or `i`, and which is established by the token `ok`.
#[derive(Debug, Default)]
struct Plain {
    /// What it can do in the end.
    abilities: GssAbilities,
    /// Whether its last step has a token of its own.
    speaks_last: bool,
    seen: std::sync::Arc<std::sync::Mutex<Vec<String>>>,
}

const ALL: GssAbilities = GssAbilities { mutual: true, integrity: true, confidentiality: true };

impl GssContext for Plain {
    fn begin(&mut self, host: &str, binding: Option<&[u8]>) -> Result<()> {
        let binding = String::from_utf8_lossy(binding.unwrap_or_default()).into_owned();
        self.seen.lock().unwrap().extend([host.to_owned(), binding]);
        Ok(())
    }

    fn step(&mut self, token: Option<&[u8]>) -> Result<GssStep> {
        match token {
            None => Ok(GssStep { token: b"hello".to_vec(), established: None }),
            Some(b"more") => Ok(GssStep { token: b"again".to_vec(), established: None }),
            Some(b"ok") => {
                let token = if self.speaks_last { b"last".to_vec() } else { Vec::new() };
                Ok(GssStep { token, established: Some(self.abilities) })
            }
            Some(_) => Err(auth("GSSAPI: no token")),
        }
    }

    fn wrap(&mut self, confidential: bool, message: &[u8]) -> Result<Vec<u8>> {
        Ok([if confidential { b"c" } else { b"i" }, message].concat())
    }

    fn unwrap(&mut self, token: &mut [u8]) -> Result<Vec<u8>> {
        // As those of Kerberos begin, or ours.
        let message = token.strip_prefix(&[5, 4]).or_else(|| token.strip_prefix(b"c"));
        message
            .or_else(|| token.strip_prefix(b"i"))
            .map(<[u8]>::to_vec)
            .ok_or_else(|| auth("GSSAPI: no token"))
    }
}

/// One that has got as far as the offer of layers.
fn established(abilities: GssAbilities, protection: Protection, outside: u32) -> Gssapi {
    let context = Plain { abilities, ..Plain::default() };
    let mut mechanism = Gssapi::new(context, "u:bob").with_protection(protection);
    mechanism.begin(&Begin { host: "h".to_owned(), strength: outside, ..Begin::default() });
    assert_eq!(mechanism.step(None).unwrap().unwrap(), b"hello");
    assert_eq!(mechanism.step(Some(b"ok")).unwrap().unwrap(), b"", "an empty response");
    mechanism
}

/// An offer of layers, in a token as Kerberos has them.
fn offer(bits: u8, size: u32) -> Vec<u8> {
    let [_, size @ ..] = size.to_be_bytes();
    [&[5, 4, bits], size.as_slice()].concat()
}

#[test]
fn exchange_to_its_end() {
    let seen = std::sync::Arc::default();
    let context = Plain { abilities: ALL, speaks_last: true, seen: std::sync::Arc::clone(&seen) };
    let mut mechanism = Gssapi::new(context, "dn:o=test");
    let binding = Some(ChannelBinding::ServerEndPoint(b"digest".to_vec()));
    mechanism.begin(&Begin { host: "ldap.example.net".to_owned(), binding, ..Begin::default() });
    assert_eq!(mechanism.name(), "GSSAPI");
    assert_eq!(mechanism.step(None).unwrap().unwrap(), b"hello");
    assert_eq!(mechanism.step(Some(b"more")).unwrap().unwrap(), b"again");
    assert!(mechanism.finish(None).is_err(), "success before the server has shown who it is");
    assert_eq!(mechanism.step(Some(b"ok")).unwrap().unwrap(), b"last");
    assert!(mechanism.layer().is_none());
    assert_eq!(*seen.lock().unwrap(), ["ldap.example.net", "tls-server-end-point:digest"]);
    assert_eq!(mechanism.step(Some(&offer(7, 4096))).unwrap().unwrap(), b"i\x04\xFF\xFF\xFFdn:o=test");
    let mut layer = mechanism.layer().unwrap();
    assert!(mechanism.finish(Some(b"x")).is_err());
    mechanism.finish(Some(b"")).unwrap();
    assert!(mechanism.step(Some(b"")).is_err(), "a challenge after the end");

    assert_eq!(layer.strength(), 128);
    assert_eq!(layer.largest_token(), 0xFF_FFFF);
    assert_eq!(layer.largest_buffer(), 4096 - AROUND);
    assert_eq!(layer.wrap(b"abc").unwrap(), b"cabc");
    assert_eq!(layer.unwrap(&mut b"cxyz".to_vec()).unwrap(), b"xyz");
    assert!(layer.unwrap(&mut [b'?']).is_err());
    assert_eq!(layer.wrap(&[0; 4096]).unwrap_err().kind(), ErrorKind::Limit);
}

#[test]
fn layers() {
    let free = Protection::default();
    let some = |max| free.at_most(max);
    let cannot = GssAbilities { confidentiality: false, ..ALL };
    let bare = GssAbilities { mutual: true, ..GssAbilities::default() };
    for (protection, outside, abilities, offered, taken) in [
        (free, 0, ALL, 7, Some((4, 128))),
        (free, 0, ALL, 3, Some((2, 1))),
        (free, 0, ALL, 1, Some((1, 0))),
        (free, 0, ALL, 0xF9, Some((1, 0))),
        (free, 0, cannot, 7, Some((2, 1))),
        (free, 0, bare, 7, Some((1, 0))),
        (free, 0, bare, 6, None),
        // TLS is enough by itself, unless somebody wants more or the server does.
        (free, 128, ALL, 7, Some((1, 0))),
        (free, 128, ALL, 6, None),
        (some(1), 128, ALL, 6, Some((2, 1))),
        (free.at_least(56), 128, ALL, 7, Some((1, 0))),
        (free.at_least(256), 128, ALL, 7, None),
        (some(0), 0, ALL, 7, Some((1, 0))),
        (some(0), 0, ALL, 6, None),
        (some(1), 0, ALL, 7, Some((2, 1))),
        (some(55), 0, ALL, 7, Some((2, 1))),
        (some(127), 0, ALL, 7, Some((2, 1))),
        (some(128), 0, ALL, 7, Some((4, 128))),
        (free.at_least(1), 0, ALL, 7, Some((4, 128))),
        (free.at_least(1), 0, ALL, 1, None),
        (free.at_least(2), 0, ALL, 3, None),
        (free.at_least(129), 0, ALL, 7, None),
        (free.buffer(0), 0, ALL, 7, Some((1, 0))),
        (free.buffer(0), 0, ALL, 4, None),
    ] {
        let mut mechanism = established(abilities, protection, outside);
        let size = if offered & 6 == 0 { 0 } else { 65_536 };
        let answer = mechanism.step(Some(&offer(offered, size)));
        let what = format!("{protection:?} {outside} {offered}: {answer:?}");
        let Some((bit, strength)) = taken else {
            assert_eq!(answer.unwrap_err().kind(), ErrorKind::Auth, "{what}");
            assert!(mechanism.layer().is_none() && mechanism.finish(None).is_err(), "{what}");
            continue;
        };
        let largest: &[u8] = if bit == 1 { &[0, 0, 0] } else { &[0xFF; 3] };
        assert_eq!(answer.unwrap().unwrap(), [b"i", &[bit], largest, b"u:bob"].concat(), "{what}");
        assert_eq!(mechanism.layer().map_or(0, |layer| layer.strength()), strength, "{what}");
    }
    // A token of older encryption counts as 56.
    let mut mechanism = established(ALL, free, 0);
    mechanism.step(Some(b"i\x07\0\xFF\xFF")).unwrap();
    assert_eq!(mechanism.layer().unwrap().strength(), 56);
    let mut mechanism = established(ALL, free.buffer(0x1234), 0);
    assert_eq!(mechanism.step(Some(&offer(4, 65_536))).unwrap().unwrap(), b"i\x04\x00\x12\x34u:bob");
    assert_eq!(mechanism.layer().unwrap().largest_token(), 0x1234);
}

#[test]
fn servers_that_lie() {
    for token in [
        offer(0, 0),
        offer(0xF8, 65_536),
        // A size without a layer, a layer without a size.
        offer(1, 1),
        offer(4, 0),
        offer(6, 256),
        vec![5, 4],
        vec![5, 4, 7, 0, 0],
        [offer(7, 65_536), vec![0]].concat(),
        b"garbage".to_vec(),
        Vec::new(),
    ] {
        let mut mechanism = established(ALL, Protection::default(), 0);
        assert_eq!(mechanism.step(Some(&token)).unwrap_err().kind(), ErrorKind::Auth, "{token:?}");
        assert!(mechanism.layer().is_none(), "{token:?}");
        assert!(mechanism.finish(None).is_err() && mechanism.step(Some(b"ok")).is_err(), "{token:?}");
    }
    let begun = |abilities| {
        let mut mechanism = Gssapi::new(Plain { abilities, ..Plain::default() }, "");
        mechanism.begin(&Begin::default());
        mechanism.step(None).unwrap();
        mechanism
    };
    // It does not say who it is; it sends no token, or one without end.
    let one_sided = GssAbilities { mutual: false, ..ALL };
    assert_eq!(begun(one_sided).step(Some(b"ok")).unwrap_err().kind(), ErrorKind::Auth);
    assert_eq!(begun(ALL).step(Some(b"garbage")).unwrap_err().kind(), ErrorKind::Auth);
    assert_eq!(begun(ALL).step(Some(b"")).unwrap_err().kind(), ErrorKind::Auth);
    assert_eq!(begun(ALL).step(Some(&[0; TOKEN + 1])).unwrap_err().kind(), ErrorKind::Limit);
    assert!(begun(ALL).finish(None).is_err());
}
