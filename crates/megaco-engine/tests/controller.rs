//! A controller and a gateway by handles. The controller is the code of the guide: the text between `// guide` and `// end`.

use std::time::Duration;

use tercet_megaco::model::TransactionResult;
use tercet_megaco_engine::driver::Handle;
use tercet_megaco_engine::{AckMode, Error, GatewayOptions, Time, VirtualGateway};
use tokio::sync::mpsc::UnboundedReceiver;

// guide
use std::net::SocketAddr;
use tercet_megaco::List;
use tercet_megaco::model::{ActionRequest, IntoOwned, MessageBody, Transaction};
use tercet_megaco::text::{read_message, read_mid};
use tercet_megaco_engine::driver::{Driver, Tls};
use tercet_megaco_engine::{
    Answers, Engine, Event, Items, Limits, Outcome, ReplyOptions, RequestOptions, registration,
};

/// The actions of a request in compact text.
fn actions(text: &str) -> tercet_megaco::Result<List<ActionRequest<'static>>> {
    let message = format!("!/3 x T=1{{{text}}}");
    match read_message(message.as_bytes())?.into_owned().mess.message_body {
        MessageBody::Transactions(List::One(Transaction::TransactionRequest(request))) => Ok(request.actions),
        _ => Ok(List::new()),
    }
}

/// Waits for a gateway, sets up a call between two terminations, and tears it down. Returns the replies.
async fn controller(
    url: &str,
    ready: impl FnOnce(SocketAddr),
) -> Result<Vec<String>, Box<dyn std::error::Error>> {
    let mut engine = Engine::new(1, Limits::default());
    let mut items = Items::default();
    items.set("encoding", "auto")?;
    let user = engine.add_user(read_mid(b"<mgc>")?, items)?;
    let (handle, mut events) = Driver::new(engine).spawn(user, Tls::default());
    ready(handle.listen(url.parse()?).await?);

    let (mut answers, mut replied) = (Answers::new(3, 0), Vec::new());
    while let Some(event) = events.recv().await {
        let Event::Requests { conn, message, requests, .. } = event else { continue };
        for request in &requests {
            let transactions = message.transactions();
            let Transaction::TransactionRequest(asked) = &transactions[request.index] else { continue };
            let result = answers.answer(&asked.actions).into_owned();
            handle.reply(request.token, result, ReplyOptions::default()).await?;
            if registration(&asked.actions).is_some() {
                let add =
                    "C=${A=line1{M{O{MO=SR}}},A=${M{O{MO=SR},L{v=0\nc=IN IP4 $\nm=audio $ RTP/AVP 8\n}}}}";
                for text in [add, "C=1{MF=line1{E=1{al/on},SG{al/ri}}}", "C=1{S=*}"] {
                    let outcome = handle.request(conn, actions(text)?, RequestOptions::default()).await?;
                    let Outcome::Reply(replies) = outcome else { return Err(format!("{outcome:?}").into()) };
                    replied.push(String::from_utf8_lossy(replies[0].message.octets()).into_owned());
                }
                return Ok(replied);
            }
        }
    }
    Ok(replied)
}
// end

fn run<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async { tokio::time::timeout(Duration::from_secs(30), future).await.unwrap() })
}

fn side(mid: &str) -> (Handle, UnboundedReceiver<Event>) {
    let mut engine = Engine::new(2, Limits::default());
    let mut items = Items::default();
    items.set("encoding", "compact").unwrap();
    let user = engine.add_user(read_mid(mid.as_bytes()).unwrap(), items).unwrap();
    Driver::new(engine).spawn(user, Tls::default())
}

/// A gateway: it registers, and executes what it is asked.
async fn gateway(url: &str) -> Vec<String> {
    let (handle, mut events) = side("<mg>");
    let conn = handle.connect(url.parse().unwrap()).await.unwrap();
    let register = actions("C=-{SC=ROOT{SV{MT=RS,RE=\"901\",V=1}}}").unwrap();
    let asking = handle.clone();
    let registered =
        tokio::spawn(async move { asking.request(conn, register, RequestOptions::default()).await.unwrap() });
    let mut gateway = VirtualGateway::new(GatewayOptions::default());
    let mut seen = Vec::new();
    while seen.len() < 3 {
        let Some(Event::Requests { message, requests, .. }) = events.recv().await else { continue };
        for request in &requests {
            let transactions = message.transactions();
            let Transaction::TransactionRequest(asked) = &transactions[request.index] else { continue };
            seen.push(String::from_utf8_lossy(message.octets()).into_owned());
            let result = gateway.execute(Time::default(), &asked.actions);
            let mut options = ReplyOptions::default();
            options.ack = AckMode::Discard;
            handle.reply(request.token, result, options).await.unwrap();
            // It is answered.
            let again = TransactionResult::ActionReplies(List::new());
            let error = handle.reply(request.token, again, ReplyOptions::default()).await;
            assert_eq!(error, Err(Error::NoSuchRequest));
        }
    }
    assert!(matches!(registered.await.unwrap(), Outcome::Reply(_)));
    assert_eq!(gateway.contexts().count(), 0);
    // What is queued is sent before the engine stops.
    handle.with(|_, _| ()).await.unwrap();
    seen
}

#[test]
fn a_controller_sets_up_a_call() {
    for scheme in ["udp", "tcp"] {
        run(async move {
            let (sender, address) = tokio::sync::oneshot::channel();
            let mgc = tokio::spawn(async move {
                let url = format!("{scheme}://127.0.0.1:0");
                let done = controller(&url, |address| sender.send(address).unwrap()).await;
                done.map_err(|error| error.to_string())
            });
            let mg =
                tokio::spawn(async move { gateway(&format!("{scheme}://{}", address.await.unwrap())).await });
            let replied = mgc.await.unwrap().unwrap();
            assert!(replied.len() == 3 && replied[0].contains("A=rtp1"), "{replied:?}");
            let seen = mg.await.unwrap();
            assert!(seen[0].contains("A=line1") && seen[2].contains("S=*"), "{seen:?}");
        });
    }
}

/// Requests end when nobody answers; errors are those of the engine.
#[test]
fn requests_by_handles_end() {
    run(async {
        let (handle, _events) = side("<a>");
        let silent = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
        let url = format!("udp://{}", silent.local_addr().unwrap()).parse().unwrap();
        let conn = handle.connect(url).await.unwrap();
        let mut options = RequestOptions::default();
        options.request_timer = Some("20ms*1+0x1".parse().unwrap());
        let ask = || actions("C=-{S=a}").unwrap();
        assert_eq!(handle.request(conn, ask(), options).await, Ok(Outcome::Timeout));
        assert_eq!(handle.with(|engine, _| engine.counters().timer_recovery).await, Some(1));
        handle.with(move |engine, now| engine.disconnect(now, conn, "user")).await.unwrap().unwrap();
        let error = handle.request(conn, ask(), options).await;
        assert_eq!(error, Err(Error::NoSuchConnection));
    });
}

#[test]
fn the_guide_has_the_controller() {
    let path = tercet_testing::repository().join("docs/guide-megaco-engine.md");
    let guide = std::fs::read_to_string(&path).unwrap();
    let (before, rest) = guide.split_once("```rust,ignore\n").unwrap();
    let (_, after) = rest.split_once("```\n").unwrap();
    let (_, code) = include_str!("controller.rs").split_once("// guide\n").unwrap();
    let (code, _) = code.split_once("// end\n").unwrap();
    let expected = format!("{before}```rust,ignore\n{code}```\n{after}");
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, expected).unwrap();
    } else {
        assert_eq!(guide, expected);
    }
}
