//! Session descriptions: what lines say, what is wrong with them, and that nothing gets lost.

use tercet_megaco::codec::{Codec, Encoding};
use tercet_megaco::model::{LocalRemoteDescriptor, MegacoMessage};
use tercet_megaco::sdp::{Attribute, Connection, Direction, Field, Media, Sdp, Span, Wild};

/// A session description with all there is, and some that is not.
const FULL: &str = "v=0\r\no=- 2890844526 2890842807 IN IP4 192.0.2.5\r\ns=-\r\ni=A seminar\r\nu=http://example.com/\r\n\
    e=j.doe@example.com (Jane Doe)\r\np=+44 000\r\nc=IN IP4 233.252.0.17/127/3\r\nb=AS:128\r\nt=2873397496 2873404696\r\n\
    r=7d 1h 0 25h\r\nz=2882844526 -1h 2898848070 0\r\nk=clear:secret\r\nx=unknown\r\na=cat:a.b\r\na=recvonly\r\n\
    m=audio 49170/2 RTP/AVP 0 97\r\na=rtpmap:97 L16/8000/2\r\na=fmtp:97 a=1; b=2\r\na=ptime:20\r\na=maxptime:$\r\n\
    a=quality:10\r\na=framerate:29.97\r\na=inactive\r\na=own\r\nm=video $ RTP/AVP $\r\nc=IN IP6 $\r\n";

fn field(line: &str) -> Field<'_> {
    let sdp = Sdp::read(line.as_bytes());
    sdp.sessions[0].entries[0].clone().into_field()
}

#[test]
fn every_line_has_its_type_and_is_written_again() {
    let sdp = Sdp::read(FULL.as_bytes());
    sdp.check().unwrap();
    assert_eq!(sdp.to_text().unwrap(), FULL.as_bytes());
    // The same from the fields alone, none of which is only known as text, but the line that nobody knows.
    let fields: Vec<Field<'_>> = sdp.sessions[0].fields().cloned().collect();
    assert_eq!(fields.iter().filter(|field| matches!(field, Field::Other { .. })).count(), 1);
    let again: Sdp<'_> = fields.into_iter().collect();
    assert_eq!(again.to_text().unwrap(), FULL.as_bytes());
    assert_eq!(again, sdp);

    let session = &sdp.sessions[0];
    assert_eq!(session.connection().unwrap().scope, [127, 3]);
    let media: Vec<_> = session.media().collect();
    assert_eq!(media.len(), 2);
    assert_eq!((media[0].media.port, media[0].media.ports), (Wild::Is(49170), Some(2)));
    assert_eq!(media[0].attributes().count(), 8);
    assert!(media[0].attributes().any(|found| *found == Attribute::Ptime(Wild::Is(20))));
    assert!(media[0].attributes().any(|found| *found == Attribute::Direction(Direction::Inactive)));
    assert!(media[0].connection().is_none());
    assert_eq!((media[1].media.port, media[1].media.formats[0].to_vec()), (Wild::Choose, b"$".to_vec()));
    assert_eq!(media[1].connection().unwrap().address, "$");
    assert_eq!(Span { number: -2, unit: Some(b'h') }.seconds(), Some(-7200));
    assert_eq!(Span { number: i64::MAX, unit: Some(b'd') }.seconds(), None);
}

#[test]
fn texts_are_written_octet_for_octet() {
    for text in [
        "",
        " \r\n\t",
        "\n\n v=0\rm=audio  9\tRTP/AVP 0 ;x\n\n  a\na=\nv=\n=\nlong=1\n",
        "m=audio 9 RTP/AVP 0",
        "v=0\nv=0\r\n\r\nv=0",
        "v=0\n\u{0}\u{ff}a=\u{e9}:\u{e9}\n",
        "c=IN IP4 1.2.3.4/ \no=a b c d e\nr=1\nz=\nk=\nb=AS\nt=0\na=rtpmap:\na=fmtp:1\n",
    ] {
        assert_eq!(Sdp::read(text.as_bytes()).to_text().unwrap(), text.as_bytes(), "{text:?}");
    }
}

#[test]
fn sessions_begin_with_their_version() {
    let sdp = Sdp::read(b"v=0\nm=audio 1 RTP/AVP 0\nv=0\nm=audio 1 RTP/AVP 4\nm=audio 3 RTP/AVP 4\n");
    assert_eq!(sdp.sessions.iter().map(|session| session.media().count()).collect::<Vec<_>>(), [1, 2]);
    // The first may do without.
    assert_eq!(Sdp::read(b"m=audio 1 RTP/AVP 0\nv=0\n").sessions.len(), 2);
}

#[test]
fn what_is_wrong_is_told_with_its_place() {
    for (line, column, what) in [
        ("v=x", 3, "a version"),
        ("v=0 1", 5, "the end of the line"),
        ("o=- 1 2 IN IP4", 15, "an address"),
        ("c=IN IP4 ", 10, "an address"),
        ("c=IN IP4 1.2.3.4/x", 10, "`/` and a number"),
        ("c=IN IP4 1.2.3.4/1/2/3", 10, "`/` and a number"),
        ("b=AS 64", 3, "a kind of bandwidth"),
        ("b=AS:x", 6, "how much"),
        ("t=0", 4, "when the session ends"),
        ("t=0 99999999999999999999", 5, "when the session ends"),
        ("r=7d 1h", 8, "a time"),
        ("r=7d 1w 0", 6, "a time"),
        ("z=1 -1h x 0", 9, "a time: a number"),
        ("k=:x", 3, "a method"),
        ("a=:x", 3, "the name of an attribute"),
        ("a", 2, "the name of an attribute"),
        ("a=ptime:soon", 9, "milliseconds"),
        ("a=rtpmap:97", 12, "an encoding"),
        ("a=rtpmap:97 L16/x", 17, "`/` and ticks"),
        ("a=fmtp:97 ", 11, "parameters"),
        ("m=audio", 8, "a port"),
        ("m=audio 1/x RTP/AVP 0", 9, "a port"),
        ("m=audio 1 RTP/AVP", 18, "a format"),
    ] {
        let text = format!("\nv=0\r\n{line}\r\ns=-\n");
        let sdp = Sdp::read(text.as_bytes());
        let error = sdp.check().unwrap_err();
        assert_eq!(error.line_and_column(text.as_bytes()), (3, column), "{line}: {error}");
        assert!(error.what.starts_with(what), "{line}: {error}");
        assert_eq!(error.source_line(text.as_bytes()), line.as_bytes());
        assert_eq!(sdp.faults().count(), 1);
        assert!(matches!(field(line), Field::Other { fault: Some(_), .. }));
    }
    for line in ["x=1", "long=2", "=", "rtpmap:97"] {
        assert!(matches!(field(line), Field::Other { fault: None, .. }), "{line}");
        Sdp::read(line.as_bytes()).check().unwrap();
    }
}

#[test]
fn a_field_that_somebody_made_has_to_say_what_it_is() {
    let bad = [
        Field::Name("two\nlines".into()),
        Field::Name("\r".into()),
        Field::Media(Media::rtp("audio video", 1, &["0"])),
        Field::Media(Media::rtp("audio", 1, &[])),
        Field::Connection(Connection { scope: vec![1, 2, 3], ..Connection::internet("::1") }),
        Field::Attribute(Attribute::Flag("ptime:20".into())),
        Field::Attribute(Attribute::Value { name: "ptime".into(), value: "20".into() }),
        Field::Other { name: "m".into(), value: "audio 1 RTP/AVP 0".into(), fault: None },
        Field::Other { name: " x".into(), value: "1".into(), fault: None },
    ];
    for field in bad {
        let sdp: Sdp<'_> = [Field::Version(0.into()), field.clone()].into_iter().collect();
        assert_eq!(sdp.to_text().unwrap_err().at, 5, "{field:?}");
    }
    // A line is added behind one that has no end.
    let mut sdp = Sdp::read(b"v=0\nm=audio $ RTP/AVP 0");
    sdp.sessions[0].push(Field::Attribute(Attribute::Ptime(20.into())));
    assert_eq!(sdp.to_text().unwrap(), b"v=0\nm=audio $ RTP/AVP 0\r\na=ptime:20\r\n");
}

/// The Local descriptor of a message with one.
fn local<'m>(message: &'m MegacoMessage<'_>) -> LocalRemoteDescriptor<'m> {
    use tercet_megaco::model::{AmmDescriptor, Command, MediaStreams, MessageBody, Transaction};
    let MessageBody::Transactions(transactions) = &message.mess.message_body else { panic!() };
    let Transaction::TransactionRequest(request) = &transactions[0] else { panic!() };
    let Command::AddReq(add) = &request.actions[0].command_requests[0].command else { panic!() };
    let AmmDescriptor::MediaDescriptor(media) = &add.descriptors[0] else { panic!() };
    let Some(MediaStreams::OneStream(stream)) = &media.streams else { panic!() };
    stream.local_descriptor.clone().unwrap()
}

#[test]
fn descriptors_of_messages_are_parsed_from_every_encoding() {
    let text = "!/2 a T=1{C=${A=${M{L{\nv=0\nc=IN IP4 $\nm=audio $ RTP/AVP 0\na=fmtp:97 {x\\}\nv=0\nm=audio $ RTP/AVP 4\n}}}}}";
    let message = Encoding::Pretty.decode(text.as_bytes()).unwrap();
    for (name, encoding) in Encoding::ALL {
        let mut octets = Vec::new();
        encoding.encode(&message, &mut octets).unwrap();
        let message = encoding.decode(&octets).unwrap();
        let local = local(&message);
        let sdp = local.sdp().unwrap();
        sdp.check().unwrap();
        assert_eq!(sdp.sessions.len(), 2, "{name}");
        let media: Vec<_> = sdp.sessions.iter().flat_map(|session| session.media()).collect();
        assert_eq!(media[0].media.formats, ["0"], "{name}");
        let parameters = media[0].attributes().next().unwrap();
        assert_eq!(*parameters, Attribute::Fmtp { format: "97".into(), parameters: "{x}".into() }, "{name}");
        // And back: the descriptor is the same.
        assert_eq!(LocalRemoteDescriptor::try_from(&sdp).unwrap(), local, "{name}");
    }
}
