//! A node with its key: it accepts connections and makes them.

use std::fmt;
use std::num::NonZeroU16;
use std::path::Path;
use std::sync::Arc;

use rustls::client::Resumption;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::server::NoServerSessionStorage;
use rustls::version::TLS13;
use rustls::{ClientConfig, Error as TlsError, InconsistentKeys, RootCertStore, ServerConfig};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio_rustls::{TlsAcceptor, TlsConnector, TlsStream};

use super::authority::{Authority, Issued};
use super::certificate::Certificate;
use super::error::{KeyError, Refusal};
use super::files;
use super::folder::{AUTHORITY, NODE, NODE_KEY, PEERS, certificate};
use super::name::NodeName;
use super::peers::{Peer, Peers};
use super::verifier::{Called, Verifier};

/// Days of identities in memory; a run on one machine is shorter.
const DAYS_IN_MEMORY: NonZeroU16 = NonZeroU16::new(3650).expect("it is not zero");

/// First byte of a connection. The node that was called sends it after all checks.
const ACCEPTED: u8 = 1;

/// A node with its key and its peers.
///
/// Connections are made by [`Identity::connect`] and taken by [`Identity::accept`]. The caller bounds the time of both:
/// a stranger may open a connection and send nothing.
pub struct Identity {
    name: NodeName,
    certificate: Certificate,
    verifier: Arc<Verifier>,
    accepts: TlsAcceptor,
    /// It is complete but for the node that is called.
    calls: ClientConfig,
}

/// The certificate in the folder of a node.
///
/// # Errors
/// If it is missing or damaged.
pub fn certificate_of(folder: &Path) -> Result<Certificate, KeyError> {
    certificate(&folder.join(NODE)).map(|it| it.1)
}

impl Identity {
    /// Reads the identity in the folder of a node.
    ///
    /// # Errors
    /// If a file is missing or damaged, others can read the key, the certificate is not valid now, or the list of peers
    /// has mistakes.
    pub fn load(folder: &Path) -> Result<Identity, KeyError> {
        let (path, authority) = (folder.join(NODE), folder.join(AUTHORITY));
        let (der, _) = certificate(&path)?;
        let key_path = folder.join(NODE_KEY);
        let key = files::read_private(&key_path)?;
        let key = PrivateKeyDer::from_pem_slice(key.as_bytes());
        let key = key.map_err(|_| KeyError::NoKey(key_path.clone()))?;
        let authorities = authorities(&authority)?;
        let peers = Peers::read(&folder.join(PEERS))?.into_peers();
        Identity::of(der, key, authorities, peers, UnixTime::now())
            .map_err(|it| it.at(&path, &key_path, &authority))
    }

    /// Makes identities in memory, for a run on one machine. Each lists all others, and they may send it all kinds.
    ///
    /// # Errors
    /// If the system has no random numbers.
    pub fn pretend(names: &[NodeName]) -> Result<Vec<Identity>, KeyError> {
        let (authority, _) = Authority::generate(DAYS_IN_MEMORY)?;
        let issued = names.iter().map(|name| authority.issue(name, DAYS_IN_MEMORY));
        let issued = issued.collect::<Result<Vec<Issued>, _>>()?;
        let of = |one: &Issued| {
            let others = issued.iter().filter(|it| it.certificate != one.certificate);
            let others = others.filter_map(|it| {
                Some(Peer::trusted(it.certificate.name.clone()?, it.certificate.fingerprint))
            });
            Identity::in_memory(&authority, one, others.collect(), UnixTime::now())
        };
        issued.iter().map(of).collect()
    }

    /// An identity from the texts of its files, whose certificate must be valid at `now`.
    pub(super) fn in_memory(
        authority: &Authority,
        issued: &Issued,
        peers: Vec<Peer>,
        now: UnixTime,
    ) -> Result<Identity, KeyError> {
        let nowhere = Path::new("(memory)");
        let none = |_| KeyError::NoCertificate(nowhere.to_owned());
        let der = CertificateDer::from_pem_slice(issued.certificate_pem.as_bytes());
        let key = PrivateKeyDer::from_pem_slice(issued.key_pem.as_bytes());
        let root = CertificateDer::from_pem_slice(authority.certificate_pem.as_bytes());
        let mut authorities = RootCertStore::empty();
        authorities.add(root.map_err(none)?).map_err(KeyError::Setup)?;
        Identity::of(der.map_err(none)?, key.map_err(none)?, authorities, peers, now)
            .map_err(|it| it.at(nowhere, nowhere, nowhere))
    }

    fn of(
        der: CertificateDer<'static>,
        key: PrivateKeyDer<'static>,
        authorities: RootCertStore,
        peers: Vec<Peer>,
        now: UnixTime,
    ) -> Result<Identity, Unusable> {
        let certificate = Certificate::of(&der).ok_or(Unusable::NoCertificate)?;
        let name = certificate.name.clone().ok_or(Unusable::Nameless)?;
        let provider = Arc::new(ring::default_provider());
        let verifier = Verifier { provider: Arc::clone(&provider), authorities, peers };
        verifier.signed(&der, now).map_err(Unusable::Invalid)?;
        let verifier = Arc::new(verifier);
        let called = Called { verifier: Arc::clone(&verifier), name: name.clone() };
        let (chain, own_key) = (vec![der.clone()], key.clone_key());

        let server = ServerConfig::builder_with_provider(Arc::clone(&provider))
            .with_protocol_versions(&[&TLS13])?
            .with_client_cert_verifier(Arc::clone(&verifier) as _);
        let mut server = server.with_single_cert(vec![der], key)?;
        let mut calls = ClientConfig::builder_with_provider(provider)
            .with_protocol_versions(&[&TLS13])?
            .dangerous() // its own checks are stricter than those of names in the web
            .with_custom_certificate_verifier(Arc::new(called))
            .with_client_auth_cert(chain, own_key)?;
        // A resumed session would pass a certificate that has expired since.
        server.session_storage = Arc::new(NoServerSessionStorage {});
        server.send_tls13_tickets = 0;
        calls.resumption = Resumption::disabled();
        calls.enable_sni = false; // the name of a node is for the node alone
        let accepts = TlsAcceptor::from(Arc::new(server));
        Ok(Identity { name, certificate, verifier, accepts, calls })
    }

    /// The name of the node.
    pub fn name(&self) -> &NodeName {
        &self.name
    }

    /// The certificate of the node.
    pub fn certificate(&self) -> &Certificate {
        &self.certificate
    }

    /// The peers of the node.
    pub fn peers(&self) -> &[Peer] {
        &self.verifier.peers
    }

    /// Takes a connection from a peer.
    ///
    /// # Errors
    /// If the other side has no certificate of a peer that is valid now, or the connection ends.
    pub async fn accept<S>(&self, stream: S) -> Result<(TlsStream<S>, &Peer), Refusal>
    where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        let mut stream = self.accepts.accept(stream).await?;
        let shown = stream.get_ref().1.peer_certificates().and_then(<[_]>::first);
        let peer = self.verifier.peer(shown.ok_or(Refusal::NoCertificate)?)?;
        stream.write_u8(ACCEPTED).await?;
        stream.flush().await?;
        Ok((stream.into(), peer))
    }

    /// Connects to the peer of this name, over a stream to its address.
    ///
    /// # Errors
    /// If another node answers, or one without a certificate that is valid now, or if the peer refuses this node.
    pub async fn connect<S>(&self, name: &str, stream: S) -> Result<(TlsStream<S>, &Peer), Refusal>
    where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        let peer = self.peers().iter().find(|it| it.name.as_str() == name);
        let peer = peer.ok_or_else(|| Refusal::NotCalled(name.to_owned()))?;
        let called = Called { verifier: Arc::clone(&self.verifier), name: peer.name.clone() };
        let mut config = self.calls.clone();
        config.dangerous().set_certificate_verifier(Arc::new(called));
        // The verifier knows the peer; this name is never sent.
        let unused = ServerName::try_from("node").expect("it is a name of a host");
        let mut stream = TlsConnector::from(Arc::new(config)).connect(unused, stream).await?;
        // In TLS 1.3 the caller is ready before its own certificate has been checked. Without this byte, a refusal
        // would appear at some later read.
        match stream.read_u8().await? {
            ACCEPTED => Ok((stream.into(), peer)),
            _ => Err(Refusal::Ended(std::io::ErrorKind::InvalidData)),
        }
    }
}

impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Identity { name, certificate, .. } = self;
        f.debug_struct("Identity")
            .field("name", name)
            .field("certificate", certificate)
            .finish_non_exhaustive()
    }
}

/// The certificates of authorities in a file.
fn authorities(path: &Path) -> Result<RootCertStore, KeyError> {
    let text = files::read(path)?;
    let none = || KeyError::NoCertificate(path.to_owned());
    let mut authorities = RootCertStore::empty();
    for der in CertificateDer::pem_slice_iter(text.as_bytes()) {
        authorities.add(der.map_err(|_| none())?).map_err(|_| none())?;
    }
    if authorities.is_empty() { Err(none()) } else { Ok(authorities) }
}

/// Reason why files make no identity, without their paths.
enum Unusable {
    NoCertificate,
    Nameless,
    Invalid(TlsError),
    Setup(TlsError),
}

impl From<TlsError> for Unusable {
    fn from(error: TlsError) -> Unusable {
        Unusable::Setup(error)
    }
}

impl Unusable {
    /// The reason with the paths of its files.
    fn at(self, certificate: &Path, key: &Path, authority: &Path) -> KeyError {
        let path = certificate.to_owned();
        match self {
            Unusable::NoCertificate => KeyError::NoCertificate(path),
            Unusable::Nameless => KeyError::Nameless(path),
            Unusable::Invalid(error) => match Refusal::from(error) {
                Refusal::Expired(on) => KeyError::Expired { path, on },
                reason => {
                    let (authority, reason) = (authority.to_owned(), Box::new(reason));
                    KeyError::Invalid { path, authority, reason }
                }
            },
            Unusable::Setup(TlsError::InconsistentKeys(InconsistentKeys::KeyMismatch)) => {
                KeyError::OtherKey(key.to_owned())
            }
            Unusable::Setup(error) => KeyError::Setup(error),
        }
    }
}
