//! Reasons why a folder or a peer is refused. No text of them contains a key.

use std::fmt;
use std::io;
use std::path::PathBuf;

use haggle_config::problem::orderly;
use haggle_config::{Lines, Position, Problem, Source};
use rustls::{AlertDescription, CertificateError, Error as TlsError};
use time::{Date, OffsetDateTime};

use super::certificate::Fingerprint;
use super::name::NodeName;

/// Files of keys that cannot be used or made, each with its place and a remedy.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// A file cannot be read.
    #[error("cannot read `{}`: {error}", path.display())]
    Read {
        /// The file or folder.
        path: PathBuf,
        /// The reason.
        #[source]
        error: io::Error,
    },
    /// A file cannot be written.
    #[error("cannot write `{}`: {error}", path.display())]
    Write {
        /// The file or folder.
        path: PathBuf,
        /// The reason.
        #[source]
        error: io::Error,
    },
    /// A key, a certificate or a folder would be overwritten.
    #[error("`{}` exists already; name another place, or replace it with --force", .0.display())]
    Exists(PathBuf),
    /// A name stands for a folder elsewhere.
    #[error("`{}` is no folder of its own; remove it, so that nothing is written elsewhere", .0.display())]
    NoFolder(PathBuf),
    /// A node occurs twice.
    #[error("the node `{0}` is named twice; name it once")]
    Twice(NodeName),
    /// A new authority would leave a node behind.
    #[error(
        "a new authority makes the keys of the node `{name}` invalid; name this node, too, or remove `{}`",
        path.display()
    )]
    LeftBehind {
        /// The node.
        name: NodeName,
        /// Its folder.
        path: PathBuf,
    },
    /// Others can read a key.
    #[error(
        "others can read the key `{}` (mode {mode:03o}); use `chmod 600` on it, and if others may have read it, renew it",
        path.display()
    )]
    Exposed {
        /// The key.
        path: PathBuf,
        /// Its permissions.
        mode: u32,
    },
    /// A file is no certificate.
    #[error("`{}` is no certificate in PEM; restore it, or renew it", .0.display())]
    NoCertificate(PathBuf),
    /// A file is no key.
    #[error("`{}` is no private key in PEM; restore it, or renew it", .0.display())]
    NoKey(PathBuf),
    /// A certificate has no name of a node.
    #[error("the certificate `{}` has no name of a node; `haggle live keys add` makes one", .0.display())]
    Nameless(PathBuf),
    /// The folder of a node has the certificate of another one.
    #[error("the certificate `{}` is of the node `{name}`; give its folder this name", path.display())]
    Misplaced {
        /// The certificate.
        path: PathBuf,
        /// Name in the certificate.
        name: NodeName,
    },
    /// A key belongs to another certificate.
    #[error("the key `{}` does not belong to the certificate beside it; restore it, or renew both", .0.display())]
    OtherKey(PathBuf),
    /// A certificate has expired.
    #[error(
        "the certificate `{}` expired on {on}; `haggle live keys add DIR NAME --force` renews it where the key of the \
         authority is", path.display()
    )]
    Expired {
        /// The certificate.
        path: PathBuf,
        /// Its last day.
        on: Date,
    },
    /// A certificate is not valid, for another reason.
    #[error("the certificate `{}` is not valid: {reason}; check `{}` and the clock, or renew it", path.display(), authority.display())]
    Invalid {
        /// The certificate.
        path: PathBuf,
        /// The certificates of authorities.
        authority: PathBuf,
        /// The reason.
        reason: Box<Refusal>,
    },
    /// A certificate would outlive its authority.
    #[error(
        "the certificate of the authority ends on {on}; add --days with at most {left}, or make a new authority with \
         `haggle live keys init --force`"
    )]
    AuthorityEnds {
        /// Last day of the authority.
        on: Date,
        /// Whole days until then.
        left: i64,
    },
    /// A list of peers has mistakes.
    #[error(transparent)]
    Peers(Box<InvalidPeers>),
    /// Keys cannot be made.
    #[error("no key or certificate can be made: {0}")]
    Generate(#[source] rcgen::Error),
    /// TLS cannot be set up.
    #[error("TLS cannot be set up: {0}")]
    Setup(#[source] TlsError),
}

/// A list of peers with all of its mistakes; there is at least one.
#[derive(Debug, PartialEq, Eq)]
pub struct InvalidPeers {
    /// The text, and the path of its file.
    pub source: Source,
    /// Mistakes in the order of the text.
    pub problems: Vec<Problem>,
}

impl InvalidPeers {
    pub(super) fn new(source: Source, problems: Vec<Problem>) -> InvalidPeers {
        let problems = orderly(&source, problems);
        InvalidPeers { source, problems }
    }
}

/// One line a mistake: `peers.toml:3:8: …; remedy`.
impl fmt::Display for InvalidPeers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines = Lines::of(&self.source.text);
        for (index, problem) in self.problems.iter().enumerate() {
            let Position { line, column } = lines.position(problem.span.start);
            let separator = if index == 0 { "" } else { "\n" };
            let path = self.source.path.display();
            write!(f, "{separator}{path}:{line}:{column}: {}", problem.message)?;
            if let Some(help) = &problem.help {
                write!(f, "; {help}")?;
            }
        }
        Ok(())
    }
}

impl std::error::Error for InvalidPeers {}

/// Reason why a connection has ended in its handshake. Its text is for logs: it has names, fingerprints and days.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Refusal {
    /// The list has no peer of this name.
    #[error("`{name}` is not in peers.toml; its certificate has {fingerprint}")]
    Unlisted {
        /// Name in the certificate.
        name: NodeName,
        /// Fingerprint of the certificate.
        fingerprint: Fingerprint,
    },
    /// The list has another fingerprint for this name.
    #[error("the certificate of `{name}` has {found}, but peers.toml has {listed}")]
    OtherFingerprint {
        /// Name in the certificate.
        name: NodeName,
        /// Fingerprint of the certificate.
        found: Fingerprint,
        /// Fingerprint in the list.
        listed: Fingerprint,
    },
    /// The list has this fingerprint under another name.
    #[error("the certificate of `{name}` stands in peers.toml as `{listed}`")]
    OtherName {
        /// Name in the certificate.
        name: NodeName,
        /// Name in the list.
        listed: NodeName,
    },
    /// Another node answers at the address.
    #[error("`{found}` answers in place of `{expected}`")]
    Unexpected {
        /// The node that was called.
        expected: NodeName,
        /// The node that answers.
        found: NodeName,
    },
    /// The node that was called is not in the list.
    #[error("{0:?} is not in peers.toml, so it is not called")]
    NotCalled(String),
    /// The certificate has no name of a node.
    #[error("the certificate has no name of a node; it has {0}")]
    Nameless(Fingerprint),
    /// None of the authorities has signed the certificate.
    #[error("no authority of authority.crt has signed the certificate")]
    Stranger,
    /// The certificate has expired.
    #[error("the certificate expired on {0}")]
    Expired(Date),
    /// The certificate is not valid yet.
    #[error("the certificate is valid from {0} on")]
    NotYet(Date),
    /// The other side has shown no certificate.
    #[error("the other side has no certificate")]
    NoCertificate,
    /// The other side has refused this node.
    #[error("the other side refuses the certificate of this node: {}", by_peer(*.0))]
    ByPeer(AlertDescription),
    /// The other side does not use TLS as this node does, or the connection was disturbed.
    #[error("no handshake: {0}")]
    Tls(TlsError),
    /// The connection has ended.
    #[error("the connection ended in the handshake: {0}")]
    Ended(io::ErrorKind),
}

/// Reason of the other side in words.
fn by_peer(alert: AlertDescription) -> String {
    match alert {
        AlertDescription::CertificateExpired => {
            "it has expired, or is not valid yet by the clock there".to_owned()
        }
        AlertDescription::UnknownCA | AlertDescription::DecryptError => {
            "it is of another authority".to_owned()
        }
        AlertDescription::CertificateUnknown => "it is not in peers.toml there".to_owned(),
        other => format!("{other:?}"),
    }
}

impl From<TlsError> for Refusal {
    fn from(error: TlsError) -> Refusal {
        let day = |time: rustls::pki_types::UnixTime| {
            let seconds = i64::try_from(time.as_secs()).ok();
            let time = seconds.and_then(|it| OffsetDateTime::from_unix_timestamp(it).ok());
            time.map(OffsetDateTime::date)
        };
        match &error {
            TlsError::InvalidCertificate(invalid) => match invalid {
                CertificateError::ExpiredContext { not_after, .. } => {
                    day(*not_after).map_or(Refusal::Tls(error), Refusal::Expired)
                }
                CertificateError::NotValidYetContext { not_before, .. } => {
                    day(*not_before).map_or(Refusal::Tls(error), Refusal::NotYet)
                }
                CertificateError::UnknownIssuer | CertificateError::BadSignature => {
                    Refusal::Stranger
                }
                // The verifier of this crate gives its own reason.
                CertificateError::Other(other) => match other.0.downcast_ref::<Refusal>() {
                    Some(refusal) => refusal.clone(),
                    None => Refusal::Tls(error),
                },
                _ => Refusal::Tls(error),
            },
            TlsError::NoCertificatesPresented => Refusal::NoCertificate,
            TlsError::AlertReceived(
                alert @ (AlertDescription::CertificateExpired
                | AlertDescription::UnknownCA
                | AlertDescription::DecryptError
                | AlertDescription::CertificateUnknown
                | AlertDescription::CertificateRequired
                | AlertDescription::BadCertificate),
            ) => Refusal::ByPeer(*alert),
            _ => Refusal::Tls(error),
        }
    }
}

impl From<io::Error> for Refusal {
    fn from(error: io::Error) -> Refusal {
        let inner = error.get_ref().and_then(|it| it.downcast_ref::<TlsError>());
        inner.map_or_else(|| Refusal::Ended(error.kind()), |inner| inner.clone().into())
    }
}
