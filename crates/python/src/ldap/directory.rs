//! `tercet.ldap.Directory`: a directory in memory for tests.

use super::{arguments, error, runtime};
use crate::error::ours;
use crate::interrupt::interruptible;
use crate::octets::Held;
use pyo3::prelude::*;
use pyo3::types::{PyAny, PyString};
use std::fs::File;
use std::io::BufReader;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use tercet_ldap::Result;
use tercet_ldap::directory::Server;

/// A directory in memory that listens on this host until it is closed, for tests.
///
/// It has no schema, and lets anybody write unless there is a root user. LDIF is given as `str` or `bytes`, or as the
/// `Path` of a file. `root` is the name and password of the one user who may write then. With a certificate and its key
/// there is StartTLS, or TLS at once with `ldaps`. `socket` is the path of a local socket to listen on instead of
/// `listen`. With `cldap`, searches by datagrams are answered and nothing else.
///
/// Raises ParseError, UsageError, OSError.
#[pyclass(frozen, module = "tercet.ldap")]
pub(crate) struct Directory {
    directory: tercet_ldap::directory::Directory,
    server: Mutex<Option<Server>>,
    url: String,
}

#[pymethods]
impl Directory {
    #[new]
    #[pyo3(signature = (ldif = None, *, root = None, certificate = None, key = None, ldaps = false,
                        listen = "127.0.0.1:0", socket = None, cldap = false))]
    #[expect(clippy::too_many_arguments, reason = "keyword arguments")]
    fn new(
        py: Python<'_>,
        ldif: Option<&Bound<'_, PyAny>>,
        root: Option<(String, String)>,
        certificate: Option<&Bound<'_, PyAny>>,
        key: Option<&Bound<'_, PyAny>>,
        ldaps: bool,
        listen: &str,
        socket: Option<PathBuf>,
        cldap: bool,
    ) -> PyResult<Self> {
        let fault = |fault: tercet_ldap::Error| error::raise(py, &fault);
        let mut directory = tercet_ldap::directory::Directory::new();
        if let Some((dn, password)) = root {
            directory = directory.with_root(&dn, &password);
        }
        let certificate = certificate.map(arguments::pem).transpose()?.flatten();
        let key = key.map(arguments::pem).transpose()?.flatten();
        directory = match (certificate, key) {
            (Some(certificate), Some(key)) => directory.with_tls(&certificate, &key).map_err(fault)?,
            (None, None) => directory,
            _ => return Err(error::usage(py, "a certificate needs its key, and a key its certificate")),
        };
        if let Some(ldif) = ldif {
            load(&directory, ldif)?;
        }
        let runtime = runtime::background()?;
        let listening = directory.clone();
        let server = py.detach(|| {
            runtime.block_on(async {
                match socket {
                    Some(path) => local(&listening, &path),
                    None if cldap => listening.listen_datagrams(listen).await,
                    None if ldaps => listening.listen_tls(listen).await,
                    None => listening.listen(listen).await,
                }
            })
        });
        let server = server.map_err(fault)?;
        Ok(Self { directory, url: server.url(), server: Mutex::new(Some(server)) })
    }

    /// The URL to connect to.
    #[getter]
    fn url(&self) -> &str {
        &self.url
    }

    /// Takes in more LDIF, content and changes; gives the number of records.
    fn load(&self, ldif: &Bound<'_, PyAny>) -> PyResult<u64> {
        load(&self.directory, ldif)
    }

    /// Stops; connections to it end.
    fn close(&self) {
        self.server.lock().unwrap_or_else(PoisonError::into_inner).take();
    }

    fn __len__(&self) -> usize {
        self.directory.len()
    }

    fn __bool__(&self) -> bool {
        // An empty directory is one all the same.
        true
    }

    fn __enter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __exit__(&self, _kind: &Bound<'_, PyAny>, _value: &Bound<'_, PyAny>, _trace: &Bound<'_, PyAny>) {
        self.close();
    }

    fn __repr__(&self) -> String {
        format!("Directory({}, {} entries)", self.url, self.directory.len())
    }
}

#[cfg(unix)]
fn local(directory: &tercet_ldap::directory::Directory, path: &std::path::Path) -> Result<Server> {
    directory.listen_local(path)
}

#[cfg(not(unix))]
fn local(_: &tercet_ldap::directory::Directory, _: &std::path::Path) -> Result<Server> {
    Err(tercet_ldap::Error::new(tercet_ldap::ErrorKind::Usage, "ldapi needs sockets of Unix"))
}

/// Loads LDIF: `str` and `bytes` are it, a `Path` is that of a file with it.
fn load(directory: &tercet_ldap::directory::Directory, ldif: &Bound<'_, PyAny>) -> PyResult<u64> {
    let (py, directory) = (ldif.py(), directory.clone());
    let loaded = if let Ok(text) = ldif.cast::<PyString>() {
        let text = ours(text.to_cow().map(std::borrow::Cow::into_owned))?;
        interruptible(py, move || directory.load(text.as_bytes()))?
    } else if ldif.hasattr("__fspath__")? {
        let path: PathBuf = ours(ldif.extract())?;
        let named =
            |error: std::io::Error| std::io::Error::new(error.kind(), format!("{}: {error}", path.display()));
        let file = File::open(&path).map_err(named).map_err(crate::error::io)?;
        interruptible(py, move || directory.load(BufReader::new(file)))?
    } else {
        let octets = Held::of(ldif)
            .map_err(|_| crate::error::argument("LDIF is `str`, `bytes`, or a `Path` of a file with it"))?;
        interruptible(py, move || directory.load(&*octets))?
    };
    loaded.map_err(|fault| error::raise(py, &fault))
}
