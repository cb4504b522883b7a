//! `tercet.ldap.Server`: requests of clients go to a handler in Python, and its answers to clients.

use super::arguments;
use super::drafts::Draft;
use super::{answers, awaitable, error, runtime};
use crate::error::ours;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyDict, PyTuple};
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tercet_ldap::server::{Answer, Authentication, Context, Entries, Handler, Listening, Request, Server};
use tercet_ldap::{LdapResult, ResultCode};
use tokio::sync::mpsc;

pyo3::create_exception!(tercet.ldap, Stopped, PyException, "The client takes no more entries of a search.");

/// Entries that may wait for their way to the client.
const WAITING: usize = 16;

/// Something that a handler sends.
enum Sent {
    Entry(Box<tercet_ldap::Draft>),
    Answer(Box<Answer>),
}

/// Where answers of a handler go.
#[pyclass(frozen, module = "tercet.ldap")]
pub(crate) struct Responder(mpsc::Sender<Sent>);

#[pymethods]
impl Responder {
    /// Sends an entry. If it has to wait for the client, an awaitable is returned.
    ///
    /// Raises Stopped.
    fn entry<'py>(&self, entry: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let py = entry.py();
        let (dn, attributes) = ours(arguments::content(entry))?;
        let draft = tercet_ldap::Draft::new(dn, attributes);
        let stopped = || Stopped::new_err("no more entries are sent");
        match self.0.try_send(Sent::Entry(Box::new(draft))) {
            Ok(()) => Ok(None),
            Err(mpsc::error::TrySendError::Closed(_)) => Err(stopped()),
            Err(mpsc::error::TrySendError::Full(sent)) => {
                let sender = self.0.clone();
                let waiting = async move { sender.send(sent).await.is_ok() };
                let awaited = awaitable::begin(py, waiting, move |py, is_sent| {
                    if is_sent { Ok(py.None().into_bound(py)) } else { Err(stopped()) }
                });
                awaited.map(Some)
            }
        }
    }

    /// Ends the request.
    #[expect(clippy::too_many_arguments, reason = "the parts of an answer")]
    fn done(
        &self,
        code: u32,
        message: String,
        matched_dn: String,
        referrals: Vec<String>,
        controls: &Bound<'_, PyAny>,
        identity: Option<String>,
        credentials: Option<Vec<u8>>,
        name: Option<String>,
        value: Option<Vec<u8>>,
    ) -> PyResult<()> {
        let controls = ours(arguments::controls(Some(controls)))?;
        let result = LdapResult { code: ResultCode(code), matched_dn, message, referrals, controls };
        let answer = Answer { identity, credentials, name, value, ..result.into() };
        let sender = self.0.clone();
        // Entries may fill the way: the answer waits behind them without the interpreter.
        match sender.try_send(Sent::Answer(Box::new(answer))) {
            Err(mpsc::error::TrySendError::Full(sent)) => {
                let runtime = runtime::background()?;
                runtime.spawn(async move { _ = sender.send(sent).await });
            }
            // A client that has gone away takes no answer.
            Ok(()) | Err(mpsc::error::TrySendError::Closed(_)) => {}
        }
        Ok(())
    }
}

/// What a server calls for each request, with the name of the operation, the parts of a context, those of the request and a responder;
/// it returns something with a method `cancel`.
struct Bridge {
    start: Py<PyAny>,
    controls: Vec<String>,
    root: Vec<(String, Vec<String>)>,
}

/// The dictionary of a connection.
struct State(Py<PyDict>);

/// Cancels the work of a handler when the request has ended.
struct Cancel(Py<PyAny>);

impl Drop for Cancel {
    fn drop(&mut self) {
        _ = Python::try_attach(|py| self.0.call_method0(py, "cancel"));
    }
}

/// The parts of a request, as the classes of `tercet.ldap._server` take them.
fn parts<'py>(py: Python<'py>, request: &Request<'_>) -> PyResult<Bound<'py, PyTuple>> {
    let octets = |octets: &[u8]| PyBytes::new(py, octets);
    match request {
        Request::Bind(bind) => match bind.authentication {
            Authentication::Sasl { mechanism, credentials } => {
                (bind.dn, py.None(), mechanism, credentials.map(octets)).into_pyobject(py)
            }
            _ => (bind.dn, bind.password().map(octets)).into_pyobject(py),
        },
        Request::Search(search) => {
            static FILTER: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
            let filter = FILTER.import(py, "tercet.ldap._ldap", "Filter")?;
            let filter = filter.call1((search.filter().to_string(),))?;
            let parts = (
                search.base,
                search.scope.word(),
                filter,
                search.attributes.clone(),
                search.size_limit,
                search.time_limit,
                search.types_only,
            );
            parts.into_pyobject(py)
        }
        Request::Add(add) => (add.dn, Bound::new(py, Draft::of(add.entry()))?).into_pyobject(py),
        Request::Modify(modify) => {
            let all = modify.modifications().map_err(|fault| error::raise(py, &fault))?;
            let all = all.iter().map(|one| answers::modification(py, one)).collect::<PyResult<Vec<_>>>()?;
            (modify.dn, all).into_pyobject(py)
        }
        Request::Delete(delete) => (delete.dn,).into_pyobject(py),
        Request::Rename(rename) => {
            (rename.dn, rename.new_rdn, rename.delete_old_rdn, rename.new_superior).into_pyobject(py)
        }
        Request::Compare(compare) => (compare.dn, compare.attribute, octets(compare.value)).into_pyobject(py),
        Request::Extended(extended) => (extended.name, extended.value.map(octets)).into_pyobject(py),
        _ => Err(crate::error::internal("a request of an unknown kind")),
    }
}

impl Bridge {
    /// Starts the handler on a request.
    fn start(
        &self,
        py: Python<'_>,
        cx: &Context,
        request: &Request<'_>,
        sender: mpsc::Sender<Sent>,
    ) -> PyResult<Cancel> {
        let state = cx.extension(|| State(PyDict::new(py).unbind()));
        let context = (
            cx.connection(),
            cx.peer(),
            cx.is_tls(),
            &*cx.identity(),
            cx.message_id(),
            answers::controls(py, cx.controls())?,
            state.0.bind(py),
        );
        let responder = Bound::new(py, Responder(sender))?;
        let work = self.start.call1(py, (request.name(), context, parts(py, request)?, responder))?;
        Ok(Cancel(work))
    }
}

impl Handler for Bridge {
    async fn handle(&self, cx: &Context, request: Request<'_>, out: &mut Entries) -> Answer {
        if let Request::Modify(modify) = &request
            && let Err(error) = modify.modifications()
        {
            return error.into();
        }
        let (sender, mut sent) = mpsc::channel(WAITING);
        let started = Python::try_attach(|py| {
            let started = self.start(py, cx, &request, sender);
            started.map_err(|error| error.write_unraisable(py, None)).ok()
        });
        let other = || Answer::new(ResultCode::OTHER).with_message("internal error");
        let Some(Some(_cancel)) = started else { return other() };
        while let Some(one) = sent.recv().await {
            match one {
                Sent::Answer(answer) => return *answer,
                // The server knows why no more are sent.
                Sent::Entry(entry) if out.entry(&entry).await.is_err() => return Answer::success(),
                Sent::Entry(_) => {}
            }
        }
        other()
    }

    fn supported_controls(&self) -> Vec<String> {
        self.controls.clone()
    }

    fn root_dse(&self) -> Vec<(String, Vec<String>)> {
        self.root.clone()
    }
}

/// A server that listens.
#[pyclass(frozen, module = "tercet.ldap")]
pub(crate) struct Serving {
    url: String,
    listening: Mutex<Option<Listening>>,
}

#[pymethods]
impl Serving {
    /// The URL to connect to.
    #[getter]
    fn url(&self) -> &str {
        &self.url
    }

    /// Stops; reports whether all requests ended in so many seconds.
    fn close(&self, py: Python<'_>, timeout: f64) -> PyResult<bool> {
        let listening = self.listening.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(listening) = listening else { return Ok(true) };
        let limit = duration(timeout)?;
        let runtime = runtime::background()?;
        Ok(py.detach(|| runtime.block_on(listening.shutdown(limit))))
    }
}

fn duration(seconds: f64) -> PyResult<Duration> {
    let seconds = Duration::try_from_secs_f64(seconds);
    seconds.map_err(|_| crate::error::argument("a number of seconds expected"))
}

/// Listens, and calls `start` for each request.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "called by one function alone")]
pub(crate) fn serve(
    py: Python<'_>,
    start: Py<PyAny>,
    listen: &str,
    controls: Vec<String>,
    root: HashMap<String, Vec<String>>,
    certificate: Option<&Bound<'_, PyAny>>,
    key: Option<&Bound<'_, PyAny>>,
    ldaps: bool,
    max_connections: Option<usize>,
    idle: Option<f64>,
) -> PyResult<Serving> {
    let fault = |fault: tercet_ldap::Error| error::raise(py, &fault);
    let mut root: Vec<_> = root.into_iter().collect();
    root.sort();
    let mut server = Server::new(Bridge { start, controls, root });
    let certificate = certificate.map(arguments::pem).transpose()?.flatten();
    let key = key.map(arguments::pem).transpose()?.flatten();
    server = match (certificate, key) {
        (Some(certificate), Some(key)) => server.tls(&certificate, &key).map_err(fault)?,
        (None, None) => server,
        _ => return Err(error::usage(py, "a certificate needs its key, and a key its certificate")),
    };
    if let Some(limit) = max_connections {
        server = server.max_connections(limit);
    }
    if let Some(seconds) = idle {
        server = server.idle(duration(seconds)?);
    }
    let runtime = runtime::background()?;
    let listening = py.detach(|| {
        runtime.block_on(async {
            if ldaps { server.listen_tls(listen).await } else { server.listen(listen).await }
        })
    });
    let listening = listening.map_err(fault)?;
    Ok(Serving { url: listening.url(), listening: Mutex::new(Some(listening)) })
}
