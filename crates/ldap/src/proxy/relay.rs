//! One connection of a client, and its connection to a server.

use bytes::BytesMut;
use tercet_runtime::types::Octets;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, ReadHalf, WriteHalf, split};
use tokio::sync::Mutex;

use super::{Context, Flow, Proxy, Upstream};
use crate::client::Io;
use crate::directory::notice;
use crate::error::{Error, ErrorKind, Result};
use crate::extended::START_TLS;
use crate::generated::{AuthenticationChoice, BindRequest, ProtocolOp};
use crate::proto::{self, Framer, LdapResult, Limits, ResultCode};

/// Octets of a message at most, and octets that are read at a time.
const MESSAGE: usize = 16 << 20;
const READ: usize = 64 << 10;

fn limits() -> Limits {
    Limits { message: MESSAGE, ..Limits::default() }
}

type Writer = Mutex<WriteHalf<Box<dyn Io>>>;

/// Relays messages until one of the connections ends.
pub(super) async fn relay(proxy: &Proxy, context: Context, client: Box<dyn Io>) {
    let (from_client, to_client) = split(client);
    let to_client = Mutex::new(to_client);
    let opened = match proxy.upstream().await {
        Ok(upstream) => own_account(proxy, upstream).await,
        Err(error) => Err(error),
    };
    let ended = match opened {
        Err(error) => {
            let refused = unavailable(proxy, &error);
            refuse(proxy, &context, from_client, &to_client, refused).await
        }
        Ok(Upstream { io, count }) => {
            let (from_server, to_server) = split(io);
            let ended = tokio::select! {
                ended = requests(proxy, &context, from_client, to_server, &to_client) => ended,
                ended = answers(proxy, &context, from_server, &to_client) => ended,
            };
            drop(count);
            ended
        }
    };
    let mut to_client = to_client.lock().await;
    if let Err(error) = ended
        && let Ok(octets) = notice(&error, code(&error))
    {
        // The client may have gone.
        _ = to_client.write_all(&octets).await;
    }
    _ = to_client.shutdown().await;
}

/// Reports that no server can be used, and returns the result for the client.
fn unavailable(proxy: &Proxy, error: &Error) -> LdapResult {
    if let Some(failed) = &proxy.failed {
        failed(error);
    }
    // Clients are not told the addresses of servers.
    let message = match error.kind() {
        ErrorKind::Auth => REFUSED,
        _ => "the proxy cannot reach a server",
    };
    LdapResult::new(ResultCode::UNAVAILABLE).with_message(message)
}

const REFUSED: &str = "the server refuses the account of the proxy";

/// Answers the first request with a result, and ends the connection: a later one may find a server.
async fn refuse(
    proxy: &Proxy,
    context: &Context,
    mut from: ReadHalf<Box<dyn Io>>,
    client: &Writer,
    result: LdapResult,
) -> Result<()> {
    let framer = Framer::new(limits());
    let mut input = BytesMut::new();
    loop {
        while let Some(incoming) = framer.next(&mut input)? {
            let answer = match request(proxy, context, &incoming.octets) {
                Passed::Close => return Ok(()),
                Passed::Answered(octets) => octets,
                Passed::On(octets) => match refusal(proxy, context, &octets, &result)? {
                    Some(octets) => {
                        client.lock().await.write_all(&octets).await?;
                        return Err(Error::new(ErrorKind::Closed, result.message));
                    }
                    // Unbind and Abandon have no answer.
                    None => continue,
                },
            };
            client.lock().await.write_all(&answer).await?;
        }
        client.lock().await.flush().await?;
        input.reserve(READ);
        if from.read_buf(&mut input).await? == 0 {
            return Ok(());
        }
    }
}

/// Returns the answer to a request with a result, taken through the layers; `None` if the request has no answer.
fn refusal(proxy: &Proxy, context: &Context, octets: &[u8], result: &LdapResult) -> Result<Option<Vec<u8>>> {
    let message = proto::decode(octets, &limits())?;
    let answer = super::answer(&message, result)?;
    Ok(answer.and_then(|answer| match answered(proxy, context, &answer, proxy.layers.len()) {
        Passed::Answered(octets) => Some(octets),
        _ => None,
    }))
}

/// The result code of a notice of disconnection.
fn code(error: &Error) -> ResultCode {
    match error.kind() {
        ErrorKind::Protocol | ErrorKind::Limit => ResultCode::PROTOCOL_ERROR,
        _ => ResultCode::UNAVAILABLE,
    }
}

/// Binds by the proxy's own account, if it has one.
async fn own_account(proxy: &Proxy, mut upstream: Upstream) -> Result<Upstream> {
    let Some((dn, password)) = &proxy.account else { return Ok(upstream) };
    let request = BindRequest {
        version: 3,
        name: Octets::borrowed(dn.as_bytes()),
        authentication: AuthenticationChoice::Simple(Octets::borrowed(password.as_bytes())),
    };
    let mut octets = Vec::new();
    proto::encode(1, ProtocolOp::BindRequest(request), &[], &mut octets)?;
    let answer = ask(&mut upstream.io, &octets).await?;
    let answer = proto::decode(&answer, &limits())?;
    match &answer.protocol_op {
        ProtocolOp::BindResponse(bind) if bind.result_code.number() == 0 => Ok(upstream),
        ProtocolOp::BindResponse(bind) => {
            let code = u32::try_from(bind.result_code.number()).map_or(ResultCode::OTHER, ResultCode);
            Err(Error::new(ErrorKind::Auth, format!("{REFUSED}: {code}")))
        }
        _ => Err(Error::new(ErrorKind::Protocol, "another answer than to a bind request")),
    }
}

/// Sends a request, and reads one message.
async fn ask(io: &mut Box<dyn Io>, request: &[u8]) -> Result<Vec<u8>> {
    io.write_all(request).await?;
    io.flush().await?;
    let mut input = BytesMut::new();
    let framer = Framer::new(limits());
    loop {
        if let Some(incoming) = framer.next(&mut input)? {
            return Ok(incoming.octets.to_vec());
        }
        if io.read_buf(&mut input).await? == 0 {
            return Err(Error::new(ErrorKind::Closed, "the server has closed the connection"));
        }
    }
}

/// What has become of a request.
enum Passed {
    On(Vec<u8>),
    Answered(Vec<u8>),
    Close,
}

/// Takes a request through the layers.
fn request(proxy: &Proxy, context: &Context, octets: &[u8]) -> Passed {
    let mut octets = octets.to_vec();
    for (at, layer) in proxy.layers.iter().enumerate() {
        match layer.request(context, &octets) {
            Flow::Pass => {}
            Flow::Replace(other) => octets = other,
            Flow::Answer(answer) => return answered(proxy, context, &answer, at),
            Flow::Close => return Passed::Close,
        }
    }
    match start_tls(&octets) {
        Some(answer) => answered(proxy, context, &answer, proxy.layers.len()),
        None => Passed::On(octets),
    }
}

/// Takes answers through the layers before one.
fn answered(proxy: &Proxy, context: &Context, octets: &[u8], layers: usize) -> Passed {
    let mut out = Vec::with_capacity(octets.len());
    let mut rest = octets;
    let framer = Framer::new(limits());
    while !rest.is_empty() {
        let size = framer.needed(rest).unwrap_or(rest.len()).clamp(1, rest.len());
        let (message, after) = rest.split_at(size);
        rest = after;
        let mut message = message.to_vec();
        for layer in proxy.layers.iter().take(layers).rev() {
            match layer.response(context, &message) {
                Flow::Pass => {}
                Flow::Replace(other) | Flow::Answer(other) => message = other,
                Flow::Close => return Passed::Close,
            }
        }
        out.extend_from_slice(&message);
    }
    Passed::Answered(out)
}

/// The answer to StartTLS: the proxy itself has no certificate, and what it passed on it could not read.
fn start_tls(octets: &[u8]) -> Option<Vec<u8>> {
    let message = proto::decode(octets, &limits()).ok()?;
    let ProtocolOp::ExtendedReq(extended) = &message.protocol_op else { return None };
    if &*extended.request_name != START_TLS.as_bytes() {
        return None;
    }
    let result = LdapResult::new(ResultCode::PROTOCOL_ERROR).with_message("the proxy has no TLS");
    super::answer(&message, &result).ok()?
}

fn closed() -> Error {
    Error::new(ErrorKind::Closed, "connection closed")
}

/// Relays requests until the client ends the connection.
async fn requests(
    proxy: &Proxy,
    context: &Context,
    mut from: ReadHalf<Box<dyn Io>>,
    mut to: WriteHalf<Box<dyn Io>>,
    client: &Writer,
) -> Result<()> {
    let framer = Framer::new(limits());
    let mut input = BytesMut::new();
    // The connection on which a bind of the client is checked, if requests go out by another account.
    let mut checks: Option<Upstream> = None;
    loop {
        while let Some(incoming) = framer.next(&mut input)? {
            proxy.wait().await;
            match request(proxy, context, &incoming.octets) {
                Passed::Close => return Ok(()),
                Passed::Answered(octets) => client.lock().await.write_all(&octets).await?,
                Passed::On(octets) if proxy.account.is_some() && is_bind(&octets) => {
                    let mut check = match checks.take() {
                        Some(check) => check,
                        None => match proxy.upstream().await {
                            Ok(upstream) => upstream,
                            Err(error) => {
                                let result = unavailable(proxy, &error);
                                match refusal(proxy, context, &octets, &result)? {
                                    Some(octets) => client.lock().await.write_all(&octets).await?,
                                    None => return Ok(()),
                                }
                                continue;
                            }
                        },
                    };
                    let answer = ask(&mut check.io, &octets).await?;
                    checks = is_unfinished(&answer).then_some(check);
                    match answered(proxy, context, &answer, proxy.layers.len()) {
                        Passed::Answered(octets) => client.lock().await.write_all(&octets).await?,
                        _ => return Ok(()),
                    }
                }
                Passed::On(octets) => to.write_all(&octets).await?,
            }
            if incoming.operation == UNBIND {
                to.flush().await?;
                return Ok(());
            }
        }
        to.flush().await?;
        client.lock().await.flush().await?;
        input.reserve(READ);
        if from.read_buf(&mut input).await? == 0 {
            return Ok(());
        }
    }
}

const UNBIND: u8 = 0x42;

fn is_bind(octets: &[u8]) -> bool {
    proto::decode(octets, &limits())
        .is_ok_and(|message| matches!(message.protocol_op, ProtocolOp::BindRequest(_)))
}

/// Whether a bind goes on.
fn is_unfinished(octets: &[u8]) -> bool {
    proto::decode(octets, &limits()).is_ok_and(|message| {
        matches!(&message.protocol_op, ProtocolOp::BindResponse(bind) if bind.result_code.number() == 14)
    })
}

/// Relays answers until the server ends the connection.
async fn answers(
    proxy: &Proxy,
    context: &Context,
    mut from: ReadHalf<Box<dyn Io>>,
    client: &Writer,
) -> Result<()> {
    let framer = Framer::new(limits());
    let mut input = BytesMut::new();
    loop {
        while let Some(incoming) = framer.next(&mut input)? {
            match answered(proxy, context, &incoming.octets, proxy.layers.len()) {
                Passed::Answered(octets) => client.lock().await.write_all(&octets).await?,
                _ => return Ok(()),
            }
        }
        client.lock().await.flush().await?;
        input.reserve(READ);
        if from.read_buf(&mut input).await? == 0 {
            return Err(closed());
        }
    }
}
