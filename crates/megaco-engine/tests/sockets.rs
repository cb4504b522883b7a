//! The driver on loopback sockets: datagrams, streams that are cut and glued anywhere, TLS.

use std::io::{Read, Write};
use std::net::{TcpStream, UdpSocket};
use std::time::Duration;

use tercet_megaco::model::{ErrorDescriptor, TransactionResult};
use tercet_megaco::text::read_mid;
use tercet_megaco_engine::driver::{Driver, Note, StreamLimits, Tls, Url};
use tercet_megaco_engine::{
    Engine, Event, Items, Limits, Outcome, Period, ReplyOptions, RequestOptions, UserId,
};

/// A driver whose user is `<a>`.
fn driver() -> (Driver, UserId) {
    let mut engine = Engine::new(1, Limits::default());
    let mut items = Items::default();
    items.set("encoding", "compact").unwrap();
    let user = engine.add_user(read_mid(b"<a>").unwrap(), items).unwrap();
    (Driver::new(engine), user)
}

/// Answers every request by error 501, until the condition holds.
async fn serve(driver: &mut Driver, mut until: impl FnMut(Option<&Event>, &[Note]) -> bool) {
    let all = async {
        loop {
            let notes = driver.take_notes();
            let mut is_done = until(None, &notes);
            while let Some(event) = driver.engine.poll_event() {
                is_done |= until(Some(&event), &[]);
                if let Event::Requests { requests, .. } = event {
                    for request in &requests {
                        let error = ErrorDescriptor { error_code: 501, error_text: None };
                        let now = driver.now();
                        let result = TransactionResult::TransactionError(error);
                        driver.engine.reply(now, request.token, result, &ReplyOptions::default()).unwrap();
                    }
                }
            }
            driver.flush().await;
            if is_done {
                return;
            }
            driver.wait(None).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), all).await.unwrap();
}

fn run<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap()
        .block_on(future)
}

/// Runs what a peer does on a thread beside the driver.
fn beside(peer: impl FnOnce() + Send + 'static) -> tokio::task::JoinHandle<()> {
    tokio::task::spawn_blocking(peer)
}

#[test]
fn datagrams_are_answered() {
    run(async {
        let (mut driver, user) = driver();
        let url: Url = "udp://127.0.0.1:0".parse().unwrap();
        let address = driver.listen(user, &url, &Tls::default()).await.unwrap();
        let peer = beside(move || {
            let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
            socket.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
            for id in 1..=20 {
                socket.send_to(format!("!/1 <b> T={id}{{C=-{{S=a}}}}").as_bytes(), address).unwrap();
                let mut buffer = [0; 1000];
                let length = socket.recv(&mut buffer).unwrap();
                let expected = format!("!/1 <a>\nP={id}{{ER=501{{}}}}");
                assert_eq!(
                    buffer[..length].escape_ascii().to_string(),
                    expected.as_bytes().escape_ascii().to_string()
                );
            }
        });
        let mut count = 0;
        serve(&mut driver, |event, _| {
            count += usize::from(matches!(event, Some(Event::Requests { .. })));
            count == 20
        })
        .await;
        peer.await.unwrap();
    });
}

/// TPKT frames cut at every place and glued together; an empty one means nothing.
#[test]
fn frames_are_cut_and_glued() {
    run(async {
        let (mut driver, user) = driver();
        let url: Url = "tcp://127.0.0.1:0".parse().unwrap();
        let address = driver.listen(user, &url, &Tls::default()).await.unwrap();
        let peer = beside(move || {
            let mut stream = TcpStream::connect(address).unwrap();
            stream.set_nodelay(true).unwrap();
            stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
            let frame = |id: u32| {
                let message = format!("!/1 <b> T={id}{{C=-{{S=a}}}}");
                let mut frame = vec![3, 0, 0, message.len() as u8 + 4];
                frame.extend_from_slice(message.as_bytes());
                frame
            };
            for octet in frame(1) {
                stream.write_all(&[octet]).unwrap();
            }
            let mut glued = frame(2);
            glued.extend([3, 0, 0, 4]);
            glued.extend(frame(3));
            stream.write_all(&glued).unwrap();
            for id in 1..=3 {
                let mut header = [0; 4];
                stream.read_exact(&mut header).unwrap();
                let mut body = vec![0; usize::from(header[3]) - 4];
                stream.read_exact(&mut body).unwrap();
                assert_eq!(String::from_utf8(body).unwrap(), format!("!/1 <a>\nP={id}{{ER=501{{}}}}"));
            }
        });
        let mut count = 0;
        serve(&mut driver, |event, _| {
            count += usize::from(matches!(event, Some(Event::Requests { .. })));
            count == 3
        })
        .await;
        peer.await.unwrap();
    });
}

/// Streams that are silent end, before and after their first message; there are no more than allowed.
#[test]
fn accepted_streams_are_bounded() {
    run(async {
        let (mut driver, user) = driver();
        let (first, idle) = (Period::millis(300), Period::millis(200));
        driver.set_stream_limits(StreamLimits { streams: 2, first, idle, ..StreamLimits::default() });
        let url: Url = "tcp://127.0.0.1:0".parse().unwrap();
        let address = driver.listen(user, &url, &Tls::default()).await.unwrap();
        let peer = beside(move || {
            let open = || {
                let stream = TcpStream::connect(address).unwrap();
                stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
                stream
            };
            let (mut speaks, mut silent, mut third) = (open(), open(), open());
            // Accepted in their order: there is no room for the last one.
            assert!(matches!(third.read(&mut [0; 9]), Ok(0) | Err(_)));
            speaks.write_all(b"\x03\x00\x00\x19!/1 <b> T=1{C=-{S=a}}").unwrap();
            let mut reply = [0; 25];
            speaks.read_exact(&mut reply).unwrap();
            for stream in [&mut speaks, &mut silent] {
                assert!(matches!(stream.read(&mut [0; 9]), Ok(0) | Err(_)));
            }
        });
        let mut reasons = Vec::new();
        serve(&mut driver, |_, notes| {
            reasons.extend(notes.iter().filter_map(|note| match note {
                Note::Closed { reason, .. } => Some(reason.clone()),
                _ => None,
            }));
            reasons.len() >= 2
        })
        .await;
        peer.await.unwrap();
        reasons.truncate(2);
        reasons.sort();
        assert_eq!(reasons, ["no message in time", "nothing was received for long"]);
    });
}

/// A bad header closes its stream and no other (OTP-7728); so does a frame that is begun and not ended.
#[test]
fn otp_7728_bad_frames_close_their_stream() {
    run(async {
        let (mut driver, user) = driver();
        let frame = Period::millis(200);
        driver.set_stream_limits(StreamLimits { frame, ..StreamLimits::default() });
        let url: Url = "tcp://127.0.0.1:0".parse().unwrap();
        let address = driver.listen(user, &url, &Tls::default()).await.unwrap();
        let good = TcpStream::connect(address).unwrap();
        let bad: [&[u8]; 4] = [&[3, 0, 0, 3], &[2, 0, 0, 9], b"GET / HTTP/1.1\r\n\r\n", &[3, 0, 0, 50, b'!']];
        let peers = bad.map(|octets| {
            beside(move || {
                let mut stream = TcpStream::connect(address).unwrap();
                stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
                stream.write_all(octets).unwrap();
                // Closed, with or without a reset.
                assert!(matches!(stream.read(&mut [0; 9]), Ok(0) | Err(_)));
            })
        });
        let mut reasons = Vec::new();
        serve(&mut driver, |_, notes| {
            reasons.extend(notes.iter().filter_map(|note| match note {
                Note::Closed { reason, .. } => Some(reason.clone()),
                _ => None,
            }));
            reasons.len() == 4
        })
        .await;
        for peer in peers {
            peer.await.unwrap();
        }
        assert_eq!(
            reasons.iter().filter(|reason| reason.starts_with("bad TPKT header")).count(),
            3,
            "{reasons:?}"
        );
        assert!(reasons.contains(&"a message was begun and not ended in time".to_owned()));
        let peer = beside(move || {
            let mut good = good;
            good.write_all(b"\x03\x00\x00\x1a!/1 <b> T=1{C=-{S=a}}\n").unwrap();
            assert!(good.read(&mut [0; 9]).unwrap() > 0);
        });
        serve(&mut driver, |event, _| matches!(event, Some(Event::Requests { .. }))).await;
        peer.await.unwrap();
    });
}

fn certificates() -> (Tls, Tls, Tls) {
    use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
    let ca_key = KeyPair::generate().unwrap();
    let mut ca = CertificateParams::new(Vec::new()).unwrap();
    ca.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let ca_certificate = ca.self_signed(&ca_key).unwrap();
    let issuer = Issuer::new(ca, ca_key);
    let signed = |name: &str| {
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        let certificate = params.signed_by(&key, &issuer).unwrap();
        Tls {
            certificates: certificate.pem().into_bytes(),
            key: key.serialize_pem().into_bytes(),
            roots: ca_certificate.pem().into_bytes(),
            server_name: Some("mgc.example".to_owned()),
        }
    };
    let roots = ca_certificate.pem().into_bytes();
    let without = Tls { roots, server_name: Some("mgc.example".to_owned()), ..Tls::default() };
    (signed("mgc.example"), signed("mg.example"), without)
}

/// Mutual authentication: a gateway with a certificate of the same signer talks, one without does not.
#[test]
fn tls_with_certificates_on_both_sides() {
    run(async {
        let (server_tls, client_tls, no_certificate) = certificates();
        let (mut server, user) = driver();
        let url: Url = "tls://127.0.0.1:0".parse().unwrap();
        assert!(server.listen(user, &url, &no_certificate).await.is_err());
        let address = server.listen(user, &url, &server_tls).await.unwrap();
        let url: Url = format!("tls://{address}").parse().unwrap();
        let server = tokio::spawn(async move {
            serve(&mut server, |event, _| matches!(event, Some(Event::Requests { .. }))).await;
            server
        });

        let mut engine = Engine::new(2, Limits::default());
        let user = engine.add_user(read_mid(b"<b>").unwrap(), Items::default()).unwrap();
        let mut client = Driver::new(engine);
        let mut wrong = client_tls.clone();
        wrong.server_name = Some("other.example".to_owned());
        assert!(client.open(user, &url, &wrong).await.is_err());
        assert!(client.open(user, &url, &Tls::default()).await.is_err());

        let route = client.open(user, &url, &client_tls).await.unwrap();
        let now = client.now();
        let conn = client.engine.connect(now, user, None, route).unwrap();
        let message = tercet_megaco::text::read_message(b"!/1 <b> T=1{C=-{S=a}}").unwrap();
        let tercet_megaco::model::MessageBody::Transactions(transactions) = message.mess.message_body else {
            panic!()
        };
        let tercet_megaco::List::One(tercet_megaco::model::Transaction::TransactionRequest(request)) =
            transactions
        else {
            panic!()
        };
        client.engine.request(now, conn, vec![request.actions], &RequestOptions::default()).unwrap();
        client.flush().await;
        serve(&mut client, |event, _| {
            matches!(event, Some(Event::Result { outcome: Outcome::Error { code: 501, .. }, .. }))
        })
        .await;
        server.await.unwrap().shutdown().await;

        // Without a certificate the stream ends at the latest when the server has seen that.
        let (mut server, user) = driver();
        let url: Url = "tls://127.0.0.1:0".parse().unwrap();
        let address = server.listen(user, &url, &server_tls).await.unwrap();
        let url: Url = format!("tls://{address}").parse().unwrap();
        let (mut other, user) = driver();
        _ = other.open(user, &url, &no_certificate).await;
        serve(&mut server, |_, notes| {
            notes
                .iter()
                .any(|note| matches!(note, Note::Closed { reason, .. } if reason.starts_with("TLS: ")))
        })
        .await;
    });
}
