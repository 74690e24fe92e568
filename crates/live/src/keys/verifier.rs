//! The checks of a handshake.

use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::verify_server_cert_signed_by_trust_anchor;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::{
    CertificateError, DigitallySignedStruct, DistinguishedName, Error, OtherError,
    PeerIncompatible, RootCertStore, SignatureScheme,
};

use super::certificate::Certificate;
use super::error::Refusal;
use super::name::NodeName;
use super::peers::Peer;

/// Accepts the certificates of listed peers.
#[derive(Debug)]
pub(super) struct Verifier {
    pub(super) provider: Arc<CryptoProvider>,
    /// Authorities that may sign certificates.
    pub(super) authorities: RootCertStore,
    pub(super) peers: Vec<Peer>,
}

impl Verifier {
    /// Checks that an authority has signed a certificate, and that it is valid at `now`.
    ///
    /// # Errors
    /// Errors of TLS, so that the other side gets the alert for its mistake.
    pub(super) fn signed(&self, der: &CertificateDer<'_>, now: UnixTime) -> Result<(), Error> {
        let parsed = ParsedCertificate::try_from(der)?;
        let algorithms = self.provider.signature_verification_algorithms.all;
        verify_server_cert_signed_by_trust_anchor(&parsed, &self.authorities, &[], now, algorithms)
    }

    /// The peer that has this certificate.
    pub(super) fn peer(&self, der: &CertificateDer<'_>) -> Result<&Peer, Refusal> {
        let facts = Certificate::of(der);
        let bad = || Refusal::Tls(CertificateError::BadEncoding.into());
        let Certificate { name, fingerprint: found, .. } = facts.ok_or_else(bad)?;
        let name = name.ok_or(Refusal::Nameless(found))?;
        // The name decides nothing alone: it only gives the reason of a refusal.
        match self.peers.iter().find(|it| it.fingerprint == found) {
            Some(peer) if peer.name == name => Ok(peer),
            Some(peer) => Err(Refusal::OtherName { name, listed: peer.name.clone() }),
            None => Err(match self.peers.iter().find(|it| it.name == name) {
                Some(peer) => Refusal::OtherFingerprint { name, found, listed: peer.fingerprint },
                None => Refusal::Unlisted { name, fingerprint: found },
            }),
        }
    }

    fn check(&self, der: &CertificateDer<'_>, now: UnixTime) -> Result<&Peer, Error> {
        self.signed(der, now)?;
        self.peer(der).map_err(as_tls)
    }

    fn signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        rustls::crypto::verify_tls13_signature(message, cert, signed, algorithms)
    }

    fn schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

/// A reason of this crate, as one of TLS.
fn as_tls(refusal: Refusal) -> Error {
    CertificateError::Other(OtherError(Arc::new(refusal))).into()
}

/// The reason why a signature of an older version is refused.
fn older() -> Error {
    PeerIncompatible::Tls12NotOffered.into()
}

impl ClientCertVerifier for Verifier {
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        // A stranger learns no names of authorities.
        &[]
    }

    fn verify_client_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        now: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        self.check(end_entity, now).map(|_| ClientCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Err(older())
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.signature(message, cert, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.schemes()
    }
}

/// Accepts the certificate of one peer: the node that is called.
#[derive(Debug)]
pub(super) struct Called {
    pub(super) verifier: Arc<Verifier>,
    pub(super) name: NodeName,
}

impl ServerCertVerifier for Called {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let peer = self.verifier.check(end_entity, now)?;
        if peer.name == self.name {
            return Ok(ServerCertVerified::assertion());
        }
        let (expected, found) = (self.name.clone(), peer.name.clone());
        Err(as_tls(Refusal::Unexpected { expected, found }))
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Err(older())
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.verifier.signature(message, cert, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.verifier.schemes()
    }
}
