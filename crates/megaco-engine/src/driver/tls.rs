//! TLS by rustls.

use std::fmt;
use std::sync::Arc;

use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use tokio_rustls::rustls::server::WebPkiClientVerifier;
use tokio_rustls::rustls::{ClientConfig, RootCertStore, ServerConfig};
use tokio_rustls::{TlsAcceptor, TlsConnector};

/// Certificates of TLS, all as PEM.
#[derive(Clone, Default)]
pub struct Tls {
    /// The certificates that we show.
    pub certificates: Vec<u8>,
    /// Their key.
    pub key: Vec<u8>,
    /// Who signs the certificates of peers. A listener asks for certificates only if this is not empty.
    pub roots: Vec<u8>,
    /// The name that a server's certificate must have, if it is not the host of the URL.
    pub server_name: Option<String>,
}

/// TLS cannot be set up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsError(String);

impl fmt::Display for TlsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TLS: {}", self.0)
    }
}

impl std::error::Error for TlsError {}

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tls").field("server_name", &self.server_name).finish_non_exhaustive()
    }
}

fn fault(error: impl fmt::Display) -> TlsError {
    TlsError(error.to_string())
}

type Result<T> = std::result::Result<T, TlsError>;

impl Tls {
    pub(super) fn acceptor(&self) -> Result<TlsAcceptor> {
        if self.certificates.is_empty() || self.key.is_empty() {
            return Err(fault("a listener requires a certificate and its key"));
        }
        let provider = Arc::new(ring::default_provider());
        let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .map_err(fault)?;
        let builder = if self.roots.is_empty() {
            builder.with_no_client_auth()
        } else {
            let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(self.store()?), provider);
            builder.with_client_cert_verifier(verifier.build().map_err(fault)?)
        };
        let config = builder.with_single_cert(self.chain()?, self.private_key()?).map_err(fault)?;
        Ok(TlsAcceptor::from(Arc::new(config)))
    }

    pub(super) fn connector(&self) -> Result<TlsConnector> {
        if self.roots.is_empty() {
            return Err(fault("certificates of trusted signers are required"));
        }
        let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(fault)?
            .with_root_certificates(self.store()?);
        let config = if self.certificates.is_empty() {
            builder.with_no_client_auth()
        } else {
            builder.with_client_auth_cert(self.chain()?, self.private_key()?).map_err(fault)?
        };
        Ok(TlsConnector::from(Arc::new(config)))
    }

    pub(super) fn server_name(&self, host: &str) -> Result<ServerName<'static>> {
        let name = self.server_name.as_deref().unwrap_or(host).trim_matches(['[', ']']);
        ServerName::try_from(name.to_owned())
            .map_err(|_| fault(format_args!("`{name:.200}` is not the name of a server")))
    }

    fn chain(&self) -> Result<Vec<CertificateDer<'static>>> {
        let certificates: std::result::Result<Vec<_>, _> =
            CertificateDer::pem_slice_iter(&self.certificates).collect();
        certificates.map_err(fault)
    }

    fn private_key(&self) -> Result<PrivateKeyDer<'static>> {
        PrivateKeyDer::from_pem_slice(&self.key).map_err(fault)
    }

    fn store(&self) -> Result<RootCertStore> {
        let mut store = RootCertStore::empty();
        for certificate in CertificateDer::pem_slice_iter(&self.roots) {
            store.add(certificate.map_err(fault)?).map_err(fault)?;
        }
        if store.is_empty() {
            return Err(fault("there is not a certificate among the trusted ones"));
        }
        Ok(store)
    }
}
