//! Identity of nodes: a private authority, certificates, and the list of peers of each node.
//!
//! ```text
//! folder of an authority
//!   authority.crt       certificate of the authority
//!   authority.key       its key; it signs certificates, and no node needs it
//!   north/              folder of the node `north`, which its owner gets
//!     node.crt          certificate of the node
//!     node.key          its key
//!     authority.crt     authorities whose certificates the node accepts
//!     peers.toml        peers of the node, and the messages that each may send
//! ```
//!
//! Two nodes connect by TLS 1.3, and each proves that it has the key of its certificate. A node accepts a certificate
//! if an authority has signed it, it is valid now, and `peers.toml` has its fingerprint under its name. Sessions are
//! never resumed, so each connection passes these checks.
//!
//! Keys are random. They are no part of the results of a run.
//!
//! | file | contents |
//! |---|---|
//! | `name.rs` | names of nodes, which are also names of folders |
//! | `certificate.rs` | facts of a certificate, its fingerprint |
//! | `authority.rs` | the authority, which issues certificates |
//! | `peers.rs` | `peers.toml`: peers and the messages that each may send |
//! | `folder.rs` | files of an authority and its nodes: begin, add, list |
//! | `files.rs` | reading and writing of files, of which some are private |
//! | `identity.rs` | a node with its key: it accepts connections and makes them |
//! | `verifier.rs` | the checks of a handshake |
//! | `error.rs` | reasons why a folder or a peer is refused |

mod authority;
mod certificate;
mod error;
mod files;
mod folder;
mod identity;
mod name;
mod peers;
#[cfg(test)]
mod tests;
mod verifier;

pub use certificate::{Certificate, Fingerprint, NoFingerprint};
pub use error::{InvalidPeers, KeyError, Refusal};
pub use files::Existing;
pub use folder::{Changes, Listing, add, equip, init, list};
pub use identity::{Identity, certificate_of};
pub use name::{BadName, NodeName};
pub use peers::{Peer, entry};
