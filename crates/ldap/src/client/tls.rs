//! TLS by rustls: what is trusted, and what a channel is bound to.

use std::sync::Arc;

use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use tokio_rustls::rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use tokio_rustls::rustls::{self, ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};

use crate::error::{Error, ErrorKind, Result};

/// What TLS trusts and shows.
#[derive(Clone, Default)]
pub struct Tls {
    /// Who signs servers that are trusted.
    pub roots: TrustedRoots,
    /// Certificates and key of the client, as PEM.
    pub client: Option<(Vec<u8>, Vec<u8>)>,
    /// The name that the server's certificate has to have, if it is not the host of the URL.
    pub server_name: Option<String>,
}

impl std::fmt::Debug for Tls {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tls")
            .field("roots", &self.roots)
            .field("server_name", &self.server_name)
            .finish_non_exhaustive()
    }
}

/// Who signs servers that are trusted.
#[derive(Clone, Default)]
pub enum TrustedRoots {
    /// Those of the operating system.
    #[default]
    System,
    /// Those in this text in PEM, and no other.
    Pem(Vec<u8>),
    /// Nobody has to: any certificate is taken, so that anybody in between can read and change all. For tests.
    AnyCertificate,
}

impl std::fmt::Debug for TrustedRoots {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::System => "System",
            Self::Pem(_) => "Pem",
            Self::AnyCertificate => "AnyCertificate",
        })
    }
}

fn fault(message: impl std::fmt::Display) -> Error {
    Error::new(ErrorKind::Tls, format!("TLS: {message}"))
}

impl Tls {
    pub(super) fn connector(&self) -> Result<TlsConnector> {
        let provider = Arc::new(ring::default_provider());
        let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .map_err(fault)?;
        let builder = match &self.roots {
            TrustedRoots::AnyCertificate => {
                builder.dangerous().with_custom_certificate_verifier(Arc::new(Anybody(provider)))
            }
            TrustedRoots::System => {
                let mut store = RootCertStore::empty();
                store.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
                builder.with_root_certificates(store)
            }
            TrustedRoots::Pem(pem) => {
                let mut store = RootCertStore::empty();
                for certificate in CertificateDer::pem_slice_iter(pem) {
                    store.add(certificate.map_err(fault)?).map_err(fault)?;
                }
                if store.is_empty() {
                    return Err(fault("no certificate in the text of trusted ones"));
                }
                builder.with_root_certificates(store)
            }
        };
        let config = match &self.client {
            None => builder.with_no_client_auth(),
            Some((certificates, key)) => {
                let certificates =
                    CertificateDer::pem_slice_iter(certificates).collect::<std::result::Result<_, _>>();
                let key = PrivateKeyDer::from_pem_slice(key).map_err(fault)?;
                builder.with_client_auth_cert(certificates.map_err(fault)?, key).map_err(fault)?
            }
        };
        Ok(TlsConnector::from(Arc::new(config)))
    }

    pub(super) fn server_name(&self, host: &str) -> Result<ServerName<'static>> {
        let name = self.server_name.as_deref().unwrap_or(if host.is_empty() { "localhost" } else { host });
        ServerName::try_from(name.to_owned())
            .map_err(|_| fault(format_args!("`{name:.200}` is not the name of a server")))
    }
}

/// What a channel is bound to, `tls-server-end-point` (RFC 5929 clause 4): the digest of the server's certificate.
pub(super) fn end_point(session: &rustls::ClientConnection) -> Option<Vec<u8>> {
    let certificate = session.peer_certificates()?.first()?;
    let octets: &[u8] = certificate.as_ref();
    // Certificate ::= SEQUENCE { tbsCertificate, signatureAlgorithm SEQUENCE { OBJECT IDENTIFIER, … }, … }
    let mut outer = crate::proto::element::Elements::new(octets, 0);
    let mut parts = crate::proto::element::Elements::new(outer.next().ok()??.1, 0);
    parts.next().ok()?;
    let (_, algorithm) = parts.next().ok()??;
    let (_, identifier) = crate::proto::element::Elements::new(algorithm, 0).next().ok()??;
    // The digest of the signature, but SHA-256 in place of MD5 and SHA-1; without one of its own, none is defined.
    let digest = match identifier {
        [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 1, 12] | [0x2A, 0x86, 0x48, 0xCE, 0x3D, 4, 3, 3] => {
            &::ring::digest::SHA384
        }
        [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 1, 13] | [0x2A, 0x86, 0x48, 0xCE, 0x3D, 4, 3, 4] => {
            &::ring::digest::SHA512
        }
        [0x2B, 0x65, 0x70 | 0x71] | [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 1, 10] => return None,
        _ => &::ring::digest::SHA256,
    };
    Some(::ring::digest::digest(digest, octets).as_ref().to_vec())
}

/// Takes any certificate; signatures are still checked.
#[derive(Debug)]
struct Anybody(Arc<CryptoProvider>);

impl ServerCertVerifier for Anybody {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> std::result::Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, certificate, signature, &self.0.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, certificate, signature, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
