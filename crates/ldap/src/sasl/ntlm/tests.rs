use super::*;
use messages::{av, unicode};

fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> =
        text.bytes().filter_map(|digit| char::from(digit).to_digit(16)).map(|digit| digit as u8).collect();
    digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect()
}

/// The challenge of MS-NLMP 4.2.4.3, of the server `Server` in the domain `Domain`.
fn challenge() -> Vec<u8> {
    hex("4e544c4d53535000 02000000 0c000c0038000000 33828ae2 0123456789abcdef 0000000000000000
         2400240044000000 060070170000000f 530065007200760065007200
         02000c0044006f006d00610069006e00 01000c00530065007200760065007200 00000000")
}

/// The answer to it there, of `User` with the password `Password` on `COMPUTER`.
fn answer() -> Vec<u8> {
    hex("4e544c4d53535000 03000000 180018006c000000 5400540084000000 0c000c0048000000 0800080054000000
         100010005c000000 10001000d8000000 358288e2 0501280a0000000f
         44006f006d00610069006e00 5500730065007200 43004f004d0050005500540045005200
         86c35097ac9cec102554764a57cccc19 aaaaaaaaaaaaaaaa
         68cd0ab851e51c96aabc927bebef6a1c 01010000000000000000000000000000 aaaaaaaaaaaaaaaa 00000000
         02000c0044006f006d00610069006e00 01000c00530065007200760065007200 0000000000000000
         c5dad2544fc9799094ce1ce90bc9d03e")
}

/// The six fields of an AUTHENTICATE_MESSAGE: responses of LM and NT, domain, user, workstation, session key.
fn fields(message: &[u8]) -> [Vec<u8>; 6] {
    std::array::from_fn(|index| {
        let field = &message[12 + 8 * index..][..8];
        let length = usize::from(u16::from_le_bytes([field[0], field[1]]));
        let at = u32::from_le_bytes(field[4..].try_into().unwrap()) as usize;
        message[at..at + length].to_vec()
    })
}

/// What chance was there.
const CHANCE: Chance = Chance { nonce: [0xAA; 8], session: [0x55; 16], time: 0 };

/// The numbers of MS-NLMP 4.2.4.1 and 4.2.4.2.
#[test]
fn published_keys_and_responses() {
    let key = keys::response_key("User", "Domain", "Password");
    assert_eq!(key, *hex("0c868a403bfd7a93a3001ef22ef02e3f"));
    // Users are the same in any case, domains are not.
    assert_eq!(key, keys::response_key("uSER", "Domain", "Password"));
    assert_ne!(key, keys::response_key("User", "DOMAIN", "Password"));
    let target = &challenge()[0x44..];
    let challenges = Challenges {
        server: hex("0123456789abcdef").try_into().unwrap(),
        client: CHANCE.nonce,
        time: CHANCE.time,
        target,
    };
    let (response, base) = challenges.response(key);
    assert_eq!(response[..16], *hex("68cd0ab851e51c96aabc927bebef6a1c"));
    assert_eq!(base, *hex("8de40ccadbc14a82f15cb0ad0de95ca3"));
    let session_key = keys::encrypted(base, CHANCE.session);
    assert_eq!(session_key, *hex("c5dad2544fc9799094ce1ce90bc9d03e"));

    // The message around them, whose response of LM is of no use here.
    let [_, nt_response, domain, user, workstation, encrypted] = fields(&answer());
    assert_eq!((&response, session_key.as_slice()), (&nt_response, encrypted.as_slice()));
    let message = Authenticate {
        nt_response: response,
        domain: unicode("Domain"),
        user: unicode("User"),
        workstation: unicode("COMPUTER"),
        session_key: session_key.to_vec(),
        flags: 0xE288_8235,
    };
    let encoded = message.encode().unwrap();
    assert_eq!(fields(&encoded), [vec![0; 24], nt_response, domain, user, workstation, encrypted]);
    assert_eq!(encoded[..12], answer()[..12]);
    assert_eq!(encoded[60..64], answer()[60..64], "flags");
}

/// The numbers of MS-NLMP 4.2.4.4.
#[test]
fn published_seal() {
    let [signing, sealing] = keys::keys_of(CHANCE.session, true);
    assert_eq!(signing, *hex("4788dc861b4782f35d43fd98fe1a2d39"));
    assert_eq!(sealing, *hex("59f600973cc4960a25480a7c196e4c58"));
    let token = seal::Direction::new(CHANCE.session, true).wrap(&unicode("Plaintext"));
    assert_eq!(token[..16], *hex("010000007fb38ec5c55d497600000000"));
    assert_eq!(token[16..], *hex("54e50165bf1936dc996020c1811b0f06fb5f"));
}

#[test]
fn published_challenge() {
    let message = challenge();
    let challenge = Challenge::decode(&message).unwrap();
    assert_eq!((challenge.flags, challenge.nonce), (0xE28A_8233, 0xEFCD_AB89_6745_2301_u64.to_le_bytes()));
    let (domain, server) = (unicode("Domain"), unicode("Server"));
    assert_eq!(challenge.target.as_deref(), Some(&[(2, &domain[..]), (1, &server[..])][..]));
    assert_eq!(challenge.timestamp(), None);
}

/// A challenge with these flags and, if any, attributes of the target.
fn challenge_with(flags: u32, target: &[(u16, &[u8])]) -> Vec<u8> {
    let mut info = Vec::new();
    for (id, value) in target {
        info.extend_from_slice(&id.to_le_bytes());
        info.extend_from_slice(&u16::try_from(value.len()).unwrap().to_le_bytes());
        info.extend_from_slice(value);
    }
    info.extend_from_slice(&[0; 4]);
    let mut message = challenge();
    message.truncate(0x30);
    message[20..24].copy_from_slice(&flags.to_le_bytes());
    message[40..42].copy_from_slice(&u16::try_from(info.len()).unwrap().to_le_bytes());
    message[44..48].copy_from_slice(&0x30_u32.to_le_bytes());
    [message, info].concat()
}

/// A mechanism that has asked already.
fn asked(mut ntlm: Ntlm, outside: u32) -> Ntlm {
    let binding = (outside > 0).then(|| ChannelBinding::ServerEndPoint(vec![7; 32]));
    ntlm.begin(&Begin { host: "h".to_owned(), strength: outside, binding, ..Begin::default() });
    ntlm.step(None).unwrap();
    ntlm
}

fn user() -> Ntlm {
    Ntlm::new("Domain\\User", "Password")
}

/// What Windows and Samba send: a time, so that a MIC is wanted, and flags of their own.
#[test]
fn answer_with_mic() {
    let time = 0x01DA_0000_1234_5678_u64;
    let target: [(u16, &[u8]); 3] =
        [(av::FLAGS, &[1, 0, 0, 0]), (2, &unicode("Domain")), (av::TIMESTAMP, &time.to_le_bytes())];
    for (outside, has_layer) in [(0, true), (128, false)] {
        let challenge = challenge_with(0xE28A_8233, &target);
        let mut ntlm = user().in_spnego();
        ntlm.begin(&Begin {
            host: "h".to_owned(),
            strength: outside,
            binding: (outside > 0).then(|| ChannelBinding::ServerEndPoint(b"digest".to_vec())),
            ..Begin::default()
        });
        let negotiate = ntlm.step(None).unwrap().unwrap();
        assert_eq!(negotiate.len(), 40);
        let mut message = ntlm.authenticate(&negotiate, &challenge, &CHANCE).unwrap();
        let [lm, response, .., session_key] = fields(&message);
        assert_eq!(lm, [0; 24]);
        // The response is about this: a header, the time, the client's challenge, the target.
        let binding = if has_layer { Key::default() } else { keys::binding(b"tls-server-end-point:digest") };
        let expected = [
            &hex("0101000000000000 785634120000da01 aaaaaaaaaaaaaaaa 00000000")[..],
            &hex("02000c0044006f006d00610069006e00 07000800785634120000da01 0600040003000000 0a001000"),
            &binding,
            &hex("09000c006c006400610070002f006800 00000000 00000000"),
        ];
        assert_eq!(response[16..], expected.concat());
        let key = keys::response_key("User", "Domain", "Password");
        let proof = keys::hmac(key, &[&challenge[24..32], &response[16..]]);
        assert_eq!(response[..16], proof);
        // The session's key is the client's choice where there is a layer.
        let base = keys::hmac(key, &[&proof]);
        let session = if has_layer { CHANCE.session } else { base };
        assert_eq!(session_key.is_empty(), !has_layer);
        if has_layer {
            assert_eq!(keys::encrypted(base, session_key.try_into().unwrap()), session);
        }
        let mic: Key = message[72..88].try_into().unwrap();
        message[72..88].fill(0);
        assert_eq!(mic, keys::hmac(session, &[&negotiate, &challenge, &message]));
        assert_eq!(Mechanism::layer(&mut ntlm).map(|layer| layer.strength()), has_layer.then_some(128));
        ntlm.finish(None).unwrap();
        assert!(ntlm.finish(Some(b"more")).is_err());
        assert!(ntlm.step(Some(&challenge)).is_err(), "a second challenge");
    }
    assert!(user().finish(None).is_err(), "success without a challenge");
}

#[test]
fn layers() {
    const ALL: u32 = 0xE28A_8233;
    const FREE: Protection = Protection::DEFAULT;
    const NONE: u32 = ALL & !(flag::SIGN | flag::SEAL);
    for (offered, protection, outside, expected) in [
        (ALL, FREE, 0, Ok(128)),
        (ALL, FREE, 128, Ok(0)),
        (ALL, FREE.at_most(256), 128, Ok(128)),
        (ALL, FREE.at_most(127), 0, Ok(1)),
        (ALL, FREE.at_most(0), 0, Ok(0)),
        (ALL, FREE.buffer(0), 0, Ok(0)),
        (ALL & !flag::SEAL, FREE, 0, Ok(1)),
        (ALL & !flag::KEYS_OF_128, FREE, 0, Ok(0)),
        (ALL & !flag::EXTENDED, FREE, 0, Ok(0)),
        (NONE, FREE, 0, Ok(0)),
        (NONE, FREE.at_least(1), 128, Ok(0)),
        (NONE, FREE.at_least(1), 0, Err("at least 1 is asked for, that of the connection would be 0")),
        (ALL & !flag::SEAL, FREE.at_least(56), 0, Err("that of the connection would be 1")),
        (ALL, FREE.at_least(129), 0, Err("that of the connection would be 128")),
        (ALL & !flag::UNICODE, FREE, 0, Err("does not speak Unicode")),
    ] {
        let mut ntlm = asked(user().in_spnego().with_protection(protection), outside);
        let answer = ntlm.step(Some(&challenge_with(offered, &[])));
        let strength = ntlm.layer.as_ref().map_or(0, Layer::strength);
        match expected {
            Ok(expected) => {
                let flags = u32::from_le_bytes(answer.unwrap().unwrap()[60..64].try_into().unwrap());
                assert_eq!(strength, expected, "{offered:x} {protection:?}");
                assert_eq!(flags & flag::SEAL != 0, expected > 1);
                assert_eq!(flags & flag::SIGN != 0, expected > 0);
                assert_eq!(flags & !offered, 0, "what the server does not have");
            }
            Err(expected) => assert!(answer.unwrap_err().to_string().contains(expected), "{expected}"),
        }
    }
    // Without SPNEGO there is none.
    let mut ntlm = asked(user(), 0);
    ntlm.step(Some(&challenge_with(ALL, &[]))).unwrap();
    assert!(ntlm.layer.is_none());
}

/// Tokens that are changed, missing, there twice or short.
#[test]
fn tokens() {
    let mut server = seal::Direction::new(CHANCE.session, false);
    let tokens: Vec<_> = ["one", "", "three"].map(|text| server.wrap(text.as_bytes())).into();
    assert!(!tokens[0].ends_with(b"one"));
    let client = || Seal::new(CHANCE.session, 128, 1000);
    let mut layer = client();
    for (token, text) in tokens.iter().zip(["one", "", "three"]) {
        assert_eq!(layer.unwrap(&mut token.clone()).unwrap(), text.as_bytes());
    }
    assert!(layer.unwrap(&mut tokens[2].clone()).is_err(), "twice");
    assert!(client().unwrap(&mut tokens[1].clone()).is_err(), "one is missing");
    for bit in 0..tokens[0].len() * 8 {
        let mut token = tokens[0].clone();
        token[bit / 8] ^= 1 << (bit % 8);
        assert!(client().unwrap(&mut token).is_err(), "bit {bit}");
    }
    for length in 0..tokens[0].len() {
        assert!(client().unwrap(&mut tokens[0][..length].to_vec()).is_err(), "{length} octets");
    }
    // One that was meant for the server.
    let mut own = client().wrap(b"one").unwrap();
    assert!(client().unwrap(&mut own).is_err());
}

/// Every challenge that is cut off or has a wrong bit gives an answer or an error that says where.
#[test]
fn malformed_challenges() {
    let target: [(u16, &[u8]); 3] = [(av::FLAGS, &[0; 4]), (av::TIMESTAMP, &[9; 8]), (2, b"D\0")];
    let whole = challenge_with(0xE28A_8233, &target);
    let step = |octets: &[u8]| asked(user(), 0).step(Some(octets));
    assert!(step(&whole).is_ok());
    for length in 0..whole.len() {
        let error = step(&whole[..length]).unwrap_err();
        assert!(error.offset().is_some_and(|at| at <= length as u64), "{length}: {error}");
    }
    let mut refused = 0;
    for bit in 0..whole.len() * 8 {
        let mut octets = whole.clone();
        octets[bit / 8] ^= 1 << (bit % 8);
        if let Err(error) = step(&octets) {
            refused += 1;
            let at = error.offset();
            let is_placed = at.is_some_and(|at| at <= octets.len() as u64);
            assert!(is_placed || error.message().contains("Unicode"), "bit {bit}: {error}");
            assert!(bit >= 96 || at == Some(if bit < 64 { 0 } else { 8 }), "bit {bit}: {error}");
        } else {
            assert!(bit >= 96, "bit {bit}");
        }
    }
    assert!(refused > 96 + 32, "{refused}");
    for (octets, at, what) in [
        (&b"NTLMSSQ\0"[..], 0, "a challenge that is none of NTLM"),
        (&b"NTLMSSP\0\x01\0\0\0"[..], 8, "message 1, not the challenge"),
        (&b"NTLMSSP\0\x02\0\0"[..], 11, "ends early"),
        (&b""[..], 0, "a challenge that is none of NTLM"),
    ] {
        let error = step(octets).unwrap_err();
        assert_eq!(error.offset(), Some(at), "{error}");
        assert!(error.message().contains(what), "{error}");
    }
    for (field, value, what) in [
        (44, u32::MAX, "target information of"),
        (44, 16, "target information of"),
        (40, 0xFFFF, "target information of 65535 bytes at 48"),
        (40, 0, "ends early"),
    ] {
        let mut octets = whole.clone();
        octets[field..field + 4].copy_from_slice(&value.to_le_bytes());
        assert!(step(&octets).unwrap_err().message().contains(what), "{what}");
    }
    // Attributes of other lengths than theirs, and one that ends behind the last.
    for (id, length) in [(av::FLAGS, 3), (av::FLAGS, 5), (av::TIMESTAMP, 7), (av::TIMESTAMP, 9)] {
        let error = step(&challenge_with(0xE28A_8233, &[(2, b"D\0"), (id, &vec![0; length])])).unwrap_err();
        assert_eq!(error.offset(), Some(0x30 + 6), "{error}");
    }
    // The largest there is has no room for what we add; more is not looked at.
    let large = vec![0; 0xFFFF - 8];
    assert_eq!(step(&challenge_with(0xE28A_8233, &[(2, &large)])).unwrap_err().kind(), ErrorKind::Limit);
    assert_eq!(step(&vec![0; CHALLENGE + 1]).unwrap_err().kind(), ErrorKind::Limit);
}

#[test]
fn names() {
    for (given, domain, user) in [("ada", "", "ada"), ("A\\ada", "A", "ada"), ("ada@a.net", "", "ada@a.net")]
    {
        let ntlm = Ntlm::new(given, "engine");
        assert_eq!((ntlm.domain.as_str(), ntlm.user.as_str()), (domain, user));
        assert!(!format!("{ntlm:?}").contains("engine"));
    }
    assert_eq!(Ntlm::new("A\\ada", "x").domain("B").domain, "B");
    assert_eq!((user().name(), user().in_spnego().name()), ("NTLM", "GSS-SPNEGO"));
    for wrong in ["", "A\\", &"x".repeat(NAME + 1)] {
        assert_eq!(Ntlm::new(wrong, "x").step(None).unwrap_err().kind(), ErrorKind::Auth);
    }
    // Letters of whose capitals there are two stay as they are.
    assert_eq!(keys::response_key("straße", "", "x"), keys::response_key("STRAßE", "", "x"));
    assert_ne!(keys::response_key("straße", "", "x"), keys::response_key("STRASSE", "", "x"));
}
