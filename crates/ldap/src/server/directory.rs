//! The embedded directory as a handler.

use super::{Answer, Context, Entries, Handler, Request};
use crate::directory::{Directory, Handled};
use crate::proto::element::{Elements, tag};
use crate::proto::{Entry, Extended, Framer, Limits, Reply, ResultCode};

use bytes::{Bytes, BytesMut};

/// Answers requests of all kinds, with the rules, limits and the access log of the directory.
impl Handler for Directory {
    async fn handle(&self, cx: &Context, request: Request<'_>, out: &mut Entries) -> Answer {
        let handled = cx.extension(|| Handled::new(self, cx.peer()));
        let is_search = matches!(request, Request::Search(_));
        match handled.answer(cx, is_search, out).await {
            Ok((last, identity)) => match answer(last) {
                Some(answer) => Answer { identity: identity.or(answer.identity), ..answer },
                None => Answer::new(ResultCode::OTHER).with_message("no answer of the directory"),
            },
            Err(error) => error.into(),
        }
    }

    fn supported_controls(&self) -> Vec<String> {
        Self::controls()
    }

    fn root_dse(&self) -> Vec<(String, Vec<String>)> {
        self.root()
    }
}

/// Reads the last message of an answer.
fn answer(message: Vec<u8>) -> Option<Answer> {
    let limits = Limits { message: usize::MAX, ..Limits::default() };
    let incoming = Framer::new(limits).next(&mut BytesMut::from(&*message)).ok()??;
    Some(match Reply::read(&incoming, &limits).ok()? {
        Reply::Done(result) => result.into(),
        Reply::Bind(result, credentials) => Answer { credentials, ..result.into() },
        Reply::Extended(Extended { result, name, value }) => Answer { name, value, ..result.into() },
        _ => return None,
    })
}

/// Sends whole messages, all that the directory answers before the last one.
///
/// # Errors
/// No more is sent.
pub(crate) async fn send(out: &mut Entries, octets: &[u8]) -> Result<(), super::Stopped> {
    let mut messages = Elements::new(octets, 0);
    let mut begin = 0;
    let (mut unchanged, mut count) = (0, 0);
    while let Ok(Some((_, contents))) = messages.next() {
        let end = octets.len() - messages.rest().len();
        let mut parts = Elements::new(contents, 0);
        _ = parts.next();
        let is_entry = parts.rest().first() == Some(&tag::SEARCH_ENTRY);
        if is_entry && out.is_changing() {
            out.send(octets.get(unchanged..begin).unwrap_or_default()).await?;
            let message = Bytes::copy_from_slice(octets.get(begin..end).unwrap_or_default());
            if let Ok(entry) = Entry::new(message) {
                out.forward(&entry).await?;
            }
            unchanged = end;
        } else if is_entry {
            count += 1;
        }
        begin = end;
    }
    out.add_sent(count);
    match octets.get(unchanged..).unwrap_or_default() {
        [] => Ok(()),
        rest => out.send(rest).await,
    }
}

/// Returns where the last message begins.
pub(crate) fn last(octets: &[u8]) -> usize {
    let mut messages = Elements::new(octets, 0);
    let mut last = 0;
    loop {
        let begin = octets.len() - messages.rest().len();
        match messages.next() {
            Ok(Some(_)) => last = begin,
            _ => return last,
        }
    }
}
