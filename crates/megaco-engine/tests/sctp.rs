//! Associations of SCTP on loopback sockets.

use std::net::{SocketAddr, UdpSocket};
use std::time::Duration;

use tercet_megaco::model::{ErrorDescriptor, TransactionResult};
use tercet_megaco::text::{read_message, read_mid};
use tercet_megaco_engine::driver::{Driver, Note, StreamLimits, Tls, Url};
use tercet_megaco_engine::{
    ConnId, Engine, Event, Items, Limits, Outcome, Period, ReplyOptions, RequestOptions, Transport, UserId,
};

/// A driver whose user has a name.
fn driver(mid: &str, encoding: &str) -> (Driver, UserId) {
    let mut engine = Engine::new(1, Limits::default());
    let mut items = Items::default();
    items.set("encoding", encoding).unwrap();
    items.set("protocol_version", "3").unwrap();
    let user = engine.add_user(read_mid(mid.as_bytes()).unwrap(), items).unwrap();
    (Driver::new(engine), user)
}

/// A controller at a port of its own. Returns the URL for peers.
async fn listening(driver: &mut Driver, user: UserId) -> Url {
    let url: Url = "sctp://127.0.0.1:0?udp=0".parse().unwrap();
    let url = driver.listen_url(user, &url, &Tls::default()).await.unwrap();
    assert_eq!((url.transport, url.port), (Transport::Sctp, url.udp));
    url
}

/// Answers every request by error 501 with a text, until the condition holds.
async fn serve(driver: &mut Driver, text: &str, mut until: impl FnMut(Option<&Event>, &[Note]) -> bool) {
    let all = async {
        loop {
            let notes = driver.take_notes();
            let mut is_done = until(None, &notes);
            while let Some(event) = driver.engine.poll_event() {
                is_done |= until(Some(&event), &[]);
                if let Event::Requests { requests, .. } = event {
                    for request in &requests {
                        let error_text = (!text.is_empty()).then(|| text.as_bytes().to_vec().into());
                        let result = TransactionResult::TransactionError(ErrorDescriptor {
                            error_code: 501,
                            error_text,
                        });
                        let now = driver.now();
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

async fn connected(driver: &mut Driver, user: UserId, url: &Url) -> ConnId {
    let route = driver.open(user, url, &Tls::default()).await.unwrap();
    assert_eq!(route.to_string(), format!("sctp://127.0.0.1:{}", url.port));
    let now = driver.now();
    driver.engine.connect(now, user, None, route).unwrap()
}

fn request(driver: &mut Driver, conn: ConnId) {
    let message = read_message(b"!/1 <b> T=1{C=-{S=a}}").unwrap();
    let tercet_megaco::model::MessageBody::Transactions(tercet_megaco::List::One(
        tercet_megaco::model::Transaction::TransactionRequest(request),
    )) = message.mess.message_body
    else {
        panic!()
    };
    let now = driver.now();
    driver.engine.request(now, conn, vec![request.actions], &RequestOptions::default()).unwrap();
}

fn is_result(event: Option<&Event>) -> bool {
    matches!(event, Some(Event::Result { outcome: Outcome::Error { code: 501, .. }, .. }))
}

/// Why streams have ended.
fn reasons(notes: &[Note]) -> impl Iterator<Item = &str> {
    notes.iter().filter_map(|note| match note {
        Note::Closed { reason, .. } => Some(reason.as_str()),
        _ => None,
    })
}

/// Requests and replies in text and BER, one of them larger than any packet; then both hear of the end.
#[test]
fn requests_are_answered_in_every_size() {
    for encoding in ["compact", "ber"] {
        for text in ["", &"x".repeat(50_000)] {
            run(async {
                let (mut controller, user) = driver("<a>", encoding);
                let url = listening(&mut controller, user).await;
                let text = text.to_owned();
                let controller = tokio::spawn(async move {
                    let mut ends = Vec::new();
                    serve(&mut controller, &text, |_, notes| {
                        ends.extend(reasons(notes).map(str::to_owned));
                        !ends.is_empty()
                    })
                    .await;
                    ends
                });
                let (mut gateway, user) = driver("<b>", encoding);
                let conn = connected(&mut gateway, user, &url).await;
                for _ in 0..10 {
                    request(&mut gateway, conn);
                    gateway.flush().await;
                    serve(&mut gateway, "", |event, _| is_result(event)).await;
                }
                gateway.shutdown().await;
                assert_eq!(controller.await.unwrap(), ["closed by the peer"]);
            });
        }
    }
}

/// The driver that listens closes an association; many at one socket do not disturb each other.
#[test]
fn one_socket_has_many_associations() {
    run(async {
        let (mut controller, user) = driver("<a>", "compact");
        controller.set_stream_limits(StreamLimits { streams: 20, ..StreamLimits::default() });
        let url = listening(&mut controller, user).await;
        let gateways: Vec<_> = (0..21)
            .map(|number| {
                let url = url.clone();
                tokio::spawn(async move {
                    let (mut gateway, user) = driver(&format!("<b{number}>"), "compact");
                    let route = match gateway.open(user, &url, &Tls::default()).await {
                        Ok(route) => route,
                        Err(error) => return error.to_string(),
                    };
                    let now = gateway.now();
                    let conn = gateway.engine.connect(now, user, None, route).unwrap();
                    request(&mut gateway, conn);
                    gateway.flush().await;
                    let mut end = None;
                    serve(&mut gateway, "", |_, notes| {
                        end = reasons(notes).next().map(str::to_owned).or_else(|| end.take());
                        end.is_some()
                    })
                    .await;
                    end.unwrap()
                })
            })
            .collect();
        let mut routes = Vec::new();
        let mut count = 0;
        serve(&mut controller, "", |event, notes| {
            count += usize::from(matches!(event, Some(Event::Requests { .. })));
            routes.extend(notes.iter().filter_map(|note| match note {
                Note::Opened { route } => Some(*route),
                _ => None,
            }));
            count == 20
        })
        .await;
        assert_eq!(routes.len(), 20);
        for route in routes {
            controller.close(route);
        }
        let mut ended = 0;
        serve(&mut controller, "", |_, notes| {
            ended += reasons(notes).filter(|reason| *reason == "closed").count();
            ended == 20
        })
        .await;
        let mut ends = Vec::new();
        for gateway in gateways {
            ends.push(gateway.await.unwrap());
        }
        ends.sort();
        assert_eq!(ends[0], "aborted by the peer: there is no room for more associations");
        assert!(ends[1..].iter().all(|end| end == "closed by the peer"), "{ends:?}");
    });
}

/// Datagrams that are nothing, and a socket that nobody has: neither disturbs an association.
#[test]
fn garbage_and_nobody() {
    run(async {
        let (mut controller, user) = driver("<a>", "compact");
        let url = listening(&mut controller, user).await;
        let address: SocketAddr = ([127, 0, 0, 1], url.udp).into();
        let garbage = UdpSocket::bind("127.0.0.1:0").unwrap();
        let controller = tokio::spawn(async move {
            serve(&mut controller, "", |event, _| matches!(event, Some(Event::Requests { .. }))).await;
            controller
        });
        for length in [0, 1, 11, 12, 13, 40, 1000, 60_000] {
            garbage.send_to(&vec![0x55; length], address).unwrap();
        }
        let (mut gateway, user) = driver("<b>", "compact");
        let conn = connected(&mut gateway, user, &url).await;
        request(&mut gateway, conn);
        gateway.flush().await;
        serve(&mut gateway, "", |event, _| is_result(event)).await;
        let controller = controller.await.unwrap();
        // A port of SCTP that is not listened at refuses at once.
        let other = Url { port: 1, ..url.clone() };
        let refused = gateway.open(user, &other, &Tls::default()).await.unwrap_err();
        assert_eq!(refused.to_string(), "aborted by the peer");
        // The port of UDP is taken.
        let (mut second, user) = driver("<c>", "compact");
        assert!(second.listen(user, &url, &Tls::default()).await.is_err());
        controller.shutdown().await;
        serve(&mut gateway, "", |_, notes| reasons(notes).any(|reason| reason == "closed by the peer")).await;
    });
}

/// A gateway that says nothing is closed, and hears why.
#[test]
fn silent_associations_end() {
    run(async {
        let (mut controller, user) = driver("<a>", "compact");
        let first = Period::millis(200);
        controller.set_stream_limits(StreamLimits { first, ..StreamLimits::default() });
        let url = listening(&mut controller, user).await;
        let controller = tokio::spawn(async move {
            serve(&mut controller, "", |_, notes| {
                reasons(notes).any(|reason| reason == "no message in time")
            })
            .await;
        });
        let (mut gateway, user) = driver("<b>", "compact");
        connected(&mut gateway, user, &url).await;
        serve(&mut gateway, "", |_, notes| {
            reasons(notes).any(|reason| reason == "aborted by the peer: no message in time")
        })
        .await;
        controller.await.unwrap();
    });
}

/// A driver that is gone without its shutdown tells its peers.
#[test]
fn a_driver_that_is_dropped() {
    run(async {
        let (mut controller, user) = driver("<a>", "compact");
        let url = listening(&mut controller, user).await;
        let (mut gateway, gateway_user) = driver("<b>", "compact");
        let conn = connected(&mut gateway, gateway_user, &url).await;
        request(&mut gateway, conn);
        gateway.flush().await;
        serve(&mut controller, "", |event, _| matches!(event, Some(Event::Requests { .. }))).await;
        drop(gateway);
        serve(&mut controller, "", |_, notes| {
            // Its association may have shut down before its task was ended.
            reasons(notes).any(|reason| {
                ["aborted by the peer: the end of the program", "closed by the peer"].contains(&reason)
            })
        })
        .await;
    });
}

/// Drivers that share a port: each remote entity belongs to one of them, whichever has its association.
#[test]
fn drivers_share_a_port() {
    run(async {
        let mut users = Vec::new();
        let engines: Vec<Engine> = (0..2)
            .map(|seed| {
                let mut engine = Engine::new(seed, Limits::default());
                let mut items = Items::default();
                items.set("encoding", "compact").unwrap();
                users.push(engine.add_user(read_mid(b"<a>").unwrap(), items).unwrap());
                engine
            })
            .collect();
        let mut url: Url = "sctp://127.0.0.1:0?udp=0".parse().unwrap();
        let mut controllers = Vec::new();
        for (mut driver, user) in Driver::shards(engines).into_iter().zip(users) {
            url = driver.listen_url(user, &url, &Tls::default()).await.unwrap();
            controllers.push(tokio::spawn(async move {
                let mut count = 0;
                serve(&mut driver, "", |event, _| {
                    count += usize::from(matches!(event, Some(Event::Requests { .. })));
                    count == 5
                })
                .await;
                driver
            }));
        }
        for number in 0..10 {
            let (mut gateway, user) = driver(&format!("<b{number}>"), "compact");
            let conn = connected(&mut gateway, user, &url).await;
            request(&mut gateway, conn);
            gateway.flush().await;
            serve(&mut gateway, "", |event, _| is_result(event)).await;
            gateway.shutdown().await;
        }
        for controller in controllers {
            controller.await.unwrap();
        }
    });
}
