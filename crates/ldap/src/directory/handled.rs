//! The directory inside a server of [`crate::server`].

use tokio::sync::Mutex;

use super::Directory;
use super::controls;
use super::operations::Session;
use super::output::Output;
use crate::error::Result;
use crate::proto::Limits;
use crate::server::{Context, Entries};

/// What the directory keeps of a connection.
pub(crate) struct Handled(Mutex<Session>);

impl Handled {
    pub(crate) fn new(directory: &Directory, peer: &str) -> Self {
        Self(Mutex::new(Session::new(directory.clone(), None, false).from(peer)))
    }

    /// Answers a message; returns the last message of the answer, and who is bound. Searches run at the same time, other requests one
    /// after another.
    ///
    /// # Errors
    /// The message is malformed, or no more is sent.
    pub(crate) async fn answer(
        &self,
        cx: &Context,
        is_search: bool,
        out: &mut Entries,
    ) -> Result<(Vec<u8>, Option<String>)> {
        // The server has checked the size.
        let limits = Limits { message: usize::MAX, ..Limits::default() };
        let mut output = Output::handler(out);
        if is_search {
            let mut session = self.0.lock().await.sibling().with_tls(cx.is_tls());
            session.observed(cx.message(), &limits, &mut output).await?;
            let mut changes = session.changes();
            while session.listens() {
                output.flush().await?;
                if changes.changed().await.is_err() {
                    break;
                }
                session.report(&mut output).await?;
            }
            return Ok((output.last().await?, None));
        }
        let mut session = self.0.lock().await;
        session.set_tls(cx.is_tls());
        session.observed(cx.message(), &limits, &mut output).await?;
        let user = session.user().to_owned();
        Ok((output.last().await?, Some(user)))
    }
}

impl Directory {
    /// Returns the controls that the directory knows.
    pub(crate) fn controls() -> Vec<String> {
        controls::SUPPORTED.iter().map(|oid| (*oid).to_owned()).collect()
    }

    /// Returns attributes of the root DSE.
    pub(crate) fn root(&self) -> Vec<(String, Vec<String>)> {
        let list = |values: &[&str]| values.iter().map(|value| (*value).to_owned()).collect::<Vec<_>>();
        let contexts = self.read().roots().iter().map(|stored| stored.name().to_owned()).collect::<Vec<_>>();
        vec![
            ("namingContexts".to_owned(), contexts),
            ("supportedExtension".to_owned(), list(&[crate::extended::PASSWORD_MODIFY])),
            ("supportedSASLMechanisms".to_owned(), list(&["PLAIN"])),
            ("subschemaSubentry".to_owned(), list(&[super::subschema::NAME])),
            ("vendorName".to_owned(), list(&["Tercet"])),
        ]
    }
}
