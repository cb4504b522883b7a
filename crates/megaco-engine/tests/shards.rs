//! Drivers that share their addresses, on loopback sockets: a request runs once, whichever driver its copies come to.

use std::collections::HashMap;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream, UdpSocket};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use tercet_megaco::List;
use tercet_megaco::model::TransactionResult;
use tercet_megaco::model::{ActionRequest, ErrorDescriptor, IntoOwned, MessageBody, Transaction};
use tercet_megaco::text::{read_message, read_mid};
use tercet_megaco_engine::driver::{Driver, Tls, Url};
use tercet_megaco_engine::{Engine, Event, Items, Limits, Outcome, ReplyOptions, RequestOptions, UserId};

const PATIENCE: Duration = Duration::from_secs(30);

/// What a test asks a driver for.
enum Ask {
    /// Send a request to the peer of this URL. The answer is the octets of the reply.
    Request(Url, Sender<Vec<u8>>),
    /// End, with the requests that have been executed: the remote mids and the ids.
    End(Sender<Vec<(String, u32)>>),
}

/// Drivers in threads that answer each request by error 501.
struct Team {
    address: SocketAddr,
    asks: Vec<tokio::sync::mpsc::UnboundedSender<Ask>>,
    threads: Vec<JoinHandle<()>>,
}

impl Team {
    fn start(count: usize, url: &str) -> Self {
        let mut users = Vec::new();
        let engines = (0..count).map(|seed| {
            let mut engine = Engine::new(seed as u64, Limits::default());
            let mut items = Items::default();
            items.set("encoding", "compact").unwrap();
            users.push(engine.add_user(read_mid(b"<a>").unwrap(), items).unwrap());
            engine
        });
        let drivers = Driver::shards(engines.collect::<Vec<_>>());
        let mut url: Url = url.parse().unwrap();
        let (mut asks, mut threads) = (Vec::new(), Vec::new());
        let (listening, addresses) = channel();
        for (driver, user) in drivers.into_iter().zip(users) {
            let (ask, asked) = tokio::sync::mpsc::unbounded_channel();
            let (url_of_driver, listening) = (url.clone(), listening.clone());
            threads.push(std::thread::spawn(move || {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
                runtime.block_on(serve(driver, user, url_of_driver, &listening, asked));
            }));
            asks.push(ask);
            // The others listen where the first one does.
            let address: SocketAddr = addresses.recv_timeout(PATIENCE).unwrap();
            url.port = address.port();
        }
        let address = SocketAddr::new(url.host.parse().unwrap(), url.port);
        Self { address, asks, threads }
    }

    /// Ends the drivers. Returns what each has executed.
    fn end(self) -> Vec<Vec<(String, u32)>> {
        let ended: Vec<Receiver<_>> = self
            .asks
            .iter()
            .map(|ask| {
                let (sender, receiver) = channel();
                ask.send(Ask::End(sender)).unwrap();
                receiver
            })
            .collect();
        let executed = ended.into_iter().map(|executed| executed.recv_timeout(PATIENCE).unwrap()).collect();
        self.threads.into_iter().for_each(|thread| thread.join().unwrap());
        executed
    }
}

fn audit() -> List<ActionRequest<'static>> {
    let message = read_message(b"!/1 x T=1{C=-{AV=root{AT{}}}}").unwrap().into_owned();
    match message.mess.message_body {
        MessageBody::Transactions(List::One(Transaction::TransactionRequest(request))) => request.actions,
        _ => panic!("not a request"),
    }
}

async fn serve(
    mut driver: Driver,
    user: UserId,
    url: Url,
    listening: &Sender<SocketAddr>,
    mut asked: tokio::sync::mpsc::UnboundedReceiver<Ask>,
) {
    let address = driver.listen(user, &url, &Tls::default()).await.unwrap();
    listening.send(address).unwrap();
    let (mut executed, mut waiting) = (Vec::new(), HashMap::new());
    loop {
        while let Some(event) = driver.engine.poll_event() {
            match event {
                Event::Requests { conn, requests, .. } => {
                    let mid = driver.engine.remote_mid(conn).unwrap().to_string();
                    for request in &requests {
                        executed.push((mid.clone(), request.transaction));
                        let error = ErrorDescriptor { error_code: 501, error_text: None };
                        let (now, result) = (driver.now(), TransactionResult::TransactionError(error));
                        driver.engine.reply(now, request.token, result, &ReplyOptions::default()).unwrap();
                    }
                }
                Event::Result { request, outcome: Outcome::Reply(replies), .. } => {
                    let answer: Sender<Vec<u8>> = waiting.remove(&request).unwrap();
                    answer.send(replies[0].message.octets().to_vec()).unwrap();
                }
                _ => {}
            }
        }
        driver.flush().await;
        tokio::select! {
            () = driver.wait(None) => {}
            ask = asked.recv() => match ask {
                Some(Ask::Request(url, answer)) => {
                    let route = driver.open(user, &url, &Tls::default()).await.unwrap();
                    let now = driver.now();
                    let conn = driver.engine.connect(now, user, None, route).unwrap();
                    let options = RequestOptions::default();
                    let requests = driver.engine.request(now, conn, [audit()], &options).unwrap();
                    waiting.insert(requests[0].0, answer);
                }
                Some(Ask::End(answer)) => {
                    answer.send(executed).unwrap();
                    return driver.shutdown().await;
                }
                None => return,
            },
        }
    }
}

/// Whoever has sent something belongs to one driver, and all drivers have the same number of remote entities.
#[track_caller]
fn each_once(executed: &[Vec<(String, u32)>], remotes: usize) {
    let mut all: Vec<&(String, u32)> = executed.iter().flatten().collect();
    let count = all.len();
    all.sort_unstable();
    all.dedup();
    assert_eq!((all.len(), count), (remotes, remotes), "{executed:?}");
    for of_driver in executed {
        assert_eq!(of_driver.len(), remotes / executed.len(), "{executed:?}");
    }
}

/// Each remote entity repeats its request from many ports, which the system spreads over the drivers: all get the one reply.
#[test]
fn datagrams_of_many_ports_run_once() {
    let team = Team::start(3, "udp://127.0.0.1:0");
    for remote in 0..12 {
        let message = format!("!/1 <b{remote}> T=7{{C=-{{S=a}}}}");
        // Names are the same in either case.
        let again = message.replace("<b", "<B");
        for port in 0..10 {
            let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
            socket.set_read_timeout(Some(PATIENCE)).unwrap();
            let text = if port % 2 == 0 { &message } else { &again };
            socket.send_to(text.as_bytes(), team.address).unwrap();
            let mut buffer = [0; 1000];
            let (length, from) = socket.recv_from(&mut buffer).unwrap();
            assert_eq!(from, team.address);
            assert_eq!(&buffer[..length], b"!/1 <a>\nP=7{ER=501{}}");
        }
    }
    each_once(&team.end(), 12);
}

/// A stream that many remote entities share, and streams of their own: answers take the stream of the request.
#[test]
fn frames_of_many_streams_run_once() {
    let team = Team::start(3, "tcp://127.0.0.1:0");
    let connect = || {
        let stream = TcpStream::connect(team.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream
    };
    let exchange = |stream: &mut TcpStream, remote: usize| {
        let message = format!("!/1 <b{remote}> T=7{{C=-{{S=a}}}}");
        let mut frame = vec![3, 0, 0, message.len() as u8 + 4];
        frame.extend_from_slice(message.as_bytes());
        stream.write_all(&frame).unwrap();
        let mut reply = [0; 25];
        stream.read_exact(&mut reply).unwrap();
        assert_eq!(&reply[4..], b"!/1 <a>\nP=7{ER=501{}}");
    };
    let mut shared = connect();
    (0..12).for_each(|remote| exchange(&mut shared, remote));
    for remote in 0..12 {
        for _ in 0..4 {
            exchange(&mut connect(), remote);
        }
    }
    each_once(&team.end(), 12);
}

/// Who answers a request belongs to the driver that has sent it, though nothing was known of it before.
#[test]
fn replies_come_to_who_asked() {
    let team = Team::start(2, "udp://127.0.0.1:0");
    for (number, ask) in team.asks.iter().enumerate().chain(team.asks.iter().enumerate()) {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        socket.set_read_timeout(Some(PATIENCE)).unwrap();
        let url = format!("udp://{}", socket.local_addr().unwrap()).parse().unwrap();
        let (answer, answered) = channel();
        ask.send(Ask::Request(url, answer)).unwrap();
        let mut buffer = [0; 1000];
        let (length, from) = socket.recv_from(&mut buffer).unwrap();
        let text = String::from_utf8_lossy(&buffer[..length]).into_owned();
        let id = text.split_once("T=").unwrap().1.split_once('{').unwrap().0;
        let name = format!("<b{number}p{}>", socket.local_addr().unwrap().port());
        // A request of the peer comes before its reply.
        socket.send_to(format!("!/1 {name} T=7{{C=-{{S=a}}}}").as_bytes(), from).unwrap();
        let length = socket.recv(&mut buffer).unwrap();
        assert_eq!(&buffer[..length], b"!/1 <a>\nP=7{ER=501{}}");
        let reply = format!("!/1 {name} P={id}{{C=-{{AV=root}}}}");
        socket.send_to(reply.as_bytes(), from).unwrap();
        assert_eq!(answered.recv_timeout(PATIENCE).unwrap(), reply.as_bytes());
    }
    for executed in team.end() {
        assert_eq!(executed.len(), 2, "{executed:?}");
    }
}

/// A port that another program has is not shared with it.
#[test]
fn a_port_is_not_shared_with_others() {
    for transport in ["udp", "tcp"] {
        let team = Team::start(2, &format!("{transport}://127.0.0.1:0"));
        let url: Url = format!("{transport}://{}", team.address).parse().unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            for mut driver in Driver::shards((0..2).map(|seed| Engine::new(seed, Limits::default()))) {
                let user = driver.engine.add_user(read_mid(b"<c>").unwrap(), Items::default()).unwrap();
                assert!(driver.listen(user, &url, &Tls::default()).await.is_err());
            }
        });
        team.end();
    }
}

/// A source gets no more errors in a second because its messages go to several drivers: 50, whatever senders it names.
#[test]
fn errors_have_one_limit() {
    let team = Team::start(3, "udp://127.0.0.1:0");
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.set_read_timeout(Some(Duration::from_millis(500))).unwrap();
    for number in 0..600 {
        socket.send_to(format!("!/1 <b{number}> T=7{{C=-{{S=}}}}").as_bytes(), team.address).unwrap();
    }
    let mut buffer = [0; 1000];
    let count = std::iter::from_fn(|| socket.recv(&mut buffer).ok()).count();
    // They may come in two seconds.
    assert!((50..=100).contains(&count), "{count}");
    team.end();
}
