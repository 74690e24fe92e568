//! Files of an authority and its nodes: begin, add, list.

use std::fs;
use std::num::NonZeroU16;
use std::path::{Path, PathBuf};

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;

use super::authority::{Authority, Issued};
use super::certificate::Certificate;
use super::error::KeyError;
use super::files::{self, Existing, Readers, is_there};
use super::name::NodeName;
use super::peers::Peers;

/// Certificates of authorities: that of the folder, or those that a node accepts.
pub(super) const AUTHORITY: &str = "authority.crt";
/// Key of the authority.
pub(super) const AUTHORITY_KEY: &str = "authority.key";
/// Certificate of a node.
pub(super) const NODE: &str = "node.crt";
/// Key of a node.
pub(super) const NODE_KEY: &str = "node.key";
/// Peers of a node.
pub(super) const PEERS: &str = "peers.toml";

/// Files that were made or changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changes {
    /// Nodes with new keys, and their certificates.
    pub issued: Vec<(NodeName, Certificate)>,
    /// Lists of peers that were made or changed.
    pub lists: Vec<PathBuf>,
}

/// The authority of a folder, and its nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listing {
    /// The certificate of the authority.
    pub authority: Certificate,
    /// The certificates of nodes with their names, in the order of names.
    pub nodes: Vec<(NodeName, Certificate)>,
}

/// Makes an authority and keys in a folder that has the folders of all nodes already, without keys. See [`init`].
///
/// # Errors
/// If files exist or cannot be written.
pub fn equip(folder: &Path, names: &[NodeName], days: NonZeroU16) -> Result<Changes, KeyError> {
    make(folder, names, &[], days, Existing::Keep)
}

/// Makes an authority and its nodes in a folder. Each node lists all others, and they may send it all kinds. Certificates
/// of nodes are valid for `days`, that of the authority for ten years at least.
///
/// # Errors
/// If a file exists and must stay, if a new authority leaves a node behind, or if files cannot be written.
pub fn init(
    folder: &Path,
    names: &[NodeName],
    days: NonZeroU16,
    existing: Existing,
) -> Result<Changes, KeyError> {
    for (place, name) in names.iter().enumerate() {
        if names[..place].contains(name) {
            return Err(KeyError::Twice(name.clone()));
        }
    }
    if existing == Existing::Keep {
        let nodes = names.iter().map(NodeName::as_str);
        let mut all = [AUTHORITY, AUTHORITY_KEY].into_iter().chain(nodes);
        if let Some(there) = all.find(|it| is_there(&folder.join(it))) {
            return Err(KeyError::Exists(folder.join(there)));
        }
    }
    let there = if is_there(folder) { nodes_of(folder)? } else { Vec::new() };
    if let Some((name, _)) = there.iter().find(|(name, _)| !names.contains(name)) {
        return Err(KeyError::LeftBehind { name: name.clone(), path: folder.join(name.as_str()) });
    }
    make(folder, names, &there, days, existing)
}

fn make(
    folder: &Path,
    names: &[NodeName],
    there: &[(NodeName, Certificate)],
    days: NonZeroU16,
    existing: Existing,
) -> Result<Changes, KeyError> {
    fs::create_dir_all(folder)
        .map_err(|error| KeyError::Write { path: folder.to_owned(), error })?;
    let lists = Lists::read(folder, names, there)?;
    let (authority, key) = Authority::generate(days)?;
    files::write(&folder.join(AUTHORITY_KEY), &key, Readers::Owner, existing)?;
    files::write(&folder.join(AUTHORITY), &authority.certificate_pem, Readers::All, existing)?;
    let issued = names.iter().map(|name| issue(folder, &authority, name, days, existing));
    lists.write(folder, there, issued.collect::<Result<_, _>>()?)
}

/// Adds a node to the folder of an authority, or renews one. A new node lists all others, and they list it. Of a renewed
/// node, all lists get the fingerprint that have its name; the kinds that it may send stay.
///
/// # Errors
/// If the node exists and must stay, if the folder has no authority or an expired one, or if files cannot be written.
pub fn add(
    folder: &Path,
    name: &NodeName,
    days: NonZeroU16,
    existing: Existing,
) -> Result<Changes, KeyError> {
    let authority = open(folder)?;
    if existing == Existing::Keep && is_there(&folder.join(name.as_str())) {
        return Err(KeyError::Exists(folder.join(name.as_str())));
    }
    let there = nodes_of(folder)?;
    let others = there.iter().map(|it| &it.0).filter(|it| *it != name);
    let names = Vec::from_iter(others.chain([name]).cloned());
    let lists = Lists::read(folder, &names, &there)?;
    let issued = issue(folder, &authority, name, days, existing)?;
    lists.write(folder, &there, vec![issued])
}

/// The certificates of a folder of an authority. No key is read.
///
/// # Errors
/// If a file cannot be read, or is no certificate.
pub fn list(folder: &Path) -> Result<Listing, KeyError> {
    let (_, authority) = certificate(&folder.join(AUTHORITY))?;
    Ok(Listing { authority, nodes: nodes_of(folder)? })
}

/// The first certificate in a file.
pub(super) fn certificate(path: &Path) -> Result<(CertificateDer<'static>, Certificate), KeyError> {
    let text = files::read(path)?;
    let none = || KeyError::NoCertificate(path.to_owned());
    let der = CertificateDer::from_pem_slice(text.as_bytes()).map_err(|_| none())?;
    let facts = Certificate::of(&der).ok_or_else(none)?;
    Ok((der, facts))
}

/// The authority of a folder with its key.
fn open(folder: &Path) -> Result<Authority, KeyError> {
    let (certificate, key) = (folder.join(AUTHORITY), folder.join(AUTHORITY_KEY));
    let (text, key_text) = (files::read(&certificate)?, files::read_private(&key)?);
    // The file of a certificate is checked first, so the rest is the key.
    self::certificate(&certificate)?;
    Authority::from_pem(&text, &key_text).ok_or(KeyError::NoKey(key))
}

/// The nodes below a folder, in the order of their names.
fn nodes_of(folder: &Path) -> Result<Vec<(NodeName, Certificate)>, KeyError> {
    let failed = |error| KeyError::Read { path: folder.to_owned(), error };
    let mut nodes = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let name = entry.file_name().to_str().and_then(|it| it.parse::<NodeName>().ok());
        let path = entry.path().join(NODE);
        if let Some(name) = name.filter(|_| is_there(&path)) {
            let (_, facts) = certificate(&path)?;
            match facts.name.clone() {
                Some(own) if own == name => nodes.push((name, facts)),
                Some(name) => return Err(KeyError::Misplaced { path, name }),
                None => return Err(KeyError::Nameless(path)),
            }
        }
    }
    nodes.sort_by(|one, other| one.0.cmp(&other.0));
    Ok(nodes)
}

/// Makes the files of a node but its list of peers.
fn issue(
    folder: &Path,
    authority: &Authority,
    name: &NodeName,
    days: NonZeroU16,
    existing: Existing,
) -> Result<(NodeName, Certificate), KeyError> {
    let folder = folder.join(name.as_str());
    let Issued { certificate, certificate_pem, key_pem } = authority.issue(name, days)?;
    files::folder(&folder)?;
    files::write(&folder.join(NODE_KEY), &key_pem, Readers::Owner, existing)?;
    files::write(&folder.join(NODE), &certificate_pem, Readers::All, existing)?;
    let path = folder.join(AUTHORITY);
    // Authorities of other owners stay when a certificate is renewed.
    let has_it = is_there(&path) && files::read(&path)?.contains(&authority.certificate_pem);
    if !has_it {
        files::write(&path, &authority.certificate_pem, Readers::All, existing)?;
    }
    Ok((name.clone(), certificate))
}

/// The lists of peers of a folder. They are read before keys are made, so a mistake in one changes nothing.
struct Lists(Vec<(NodeName, Peers)>);

impl Lists {
    /// The lists of all nodes, and empty ones for those that have none.
    fn read(
        folder: &Path,
        names: &[NodeName],
        there: &[(NodeName, Certificate)],
    ) -> Result<Lists, KeyError> {
        let list = |name: &NodeName| {
            let path = folder.join(name.as_str()).join(PEERS);
            let peers = if is_there(&path) { Peers::read(&path)? } else { Peers::none(&path) };
            Ok((name.clone(), peers))
        };
        let mut names = Vec::from_iter(there.iter().map(|it| &it.0).chain(names));
        names.sort();
        names.dedup();
        names.into_iter().map(list).collect::<Result<_, _>>().map(Lists)
    }

    /// Lists the nodes with new keys, and writes the lists that change. A list that exists gets a node only if this
    /// node is new, because its owner may have removed the others.
    fn write(
        self,
        folder: &Path,
        there: &[(NodeName, Certificate)],
        issued: Vec<(NodeName, Certificate)>,
    ) -> Result<Changes, KeyError> {
        let mut nodes = Vec::from_iter(there.iter().map(|it| (&it.0, it.1.fingerprint, false)));
        for (name, certificate) in &issued {
            let is_new = !there.iter().any(|it| it.0 == *name);
            nodes.retain(|it| it.0 != name);
            nodes.push((name, certificate.fingerprint, is_new));
        }
        nodes.sort();
        let mut lists = Vec::new();
        for (owner, mut peers) in self.0 {
            let path = folder.join(owner.as_str()).join(PEERS);
            let (before, is_first) = (peers.text().to_owned(), !is_there(&path));
            for (name, fingerprint, is_new) in nodes.iter().filter(|it| *it.0 != owner) {
                let is_issued = issued.iter().any(|it| it.0 == **name);
                let is_listed = is_issued && peers.renew(name, *fingerprint);
                if !is_listed && (is_first || *is_new) {
                    peers.append(name, *fingerprint);
                }
            }
            if is_first || peers.text() != before {
                files::write(&path, peers.text(), Readers::All, Existing::Replace)?;
                lists.push(path);
            }
        }
        Ok(Changes { issued, lists })
    }
}
