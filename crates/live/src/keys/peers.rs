//! `peers.toml`: the peers of a node, and the messages that each may send.

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::Path;

use haggle_agents::Message;
use haggle_agents::protocol::NumberedMessage;
use haggle_config::document::{self, Entry, Node, Value};
use haggle_config::{Problem, Source, nearest};

use super::certificate::Fingerprint;
use super::error::{InvalidPeers, KeyError};
use super::files;
use super::name::NodeName;
use crate::wire::{Complaint, KINDS, Kind};

/// First lines of a new file.
const HEADER: &str = "\
# Peers of this node. A certificate with another fingerprint gets no connection.
# may-send = \"all\", or a list of kinds of messages, such as [\"offers\", \"finished\"].
";

/// Keys of a peer.
const KEYS: [&str; 3] = ["name", "fingerprint", "may-send"];

/// A node that may connect, and the messages that it may send.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Peer {
    /// Its name, as in its certificate.
    pub name: NodeName,
    /// Fingerprint of its certificate.
    pub fingerprint: Fingerprint,
    may_send: MaySend,
}

/// The kinds that a peer may send.
#[derive(Clone, Debug, PartialEq, Eq)]
enum MaySend {
    All,
    /// Their numbers.
    Kinds(BTreeSet<u16>),
}

impl Peer {
    /// A peer that may send all kinds.
    pub(super) fn trusted(name: NodeName, fingerprint: Fingerprint) -> Peer {
        Peer { name, fingerprint, may_send: MaySend::All }
    }

    /// True if the peer may send messages of the kind with this number. A numbered message has its contents besides:
    /// [`Peer::may_send_message`] checks both. A complaint belongs to the connection, so each peer may send it.
    pub fn may_send(&self, kind: u16) -> bool {
        let is_listed = match &self.may_send {
            MaySend::All => true,
            MaySend::Kinds(kinds) => kinds.contains(&kind) || is_numbered(kind),
        };
        is_listed || kind == Complaint::KIND
    }

    /// True if the peer may send all kinds.
    pub fn may_send_all(&self) -> bool {
        self.may_send == MaySend::All
    }

    /// True if the peer may send the message. A numbered message counts as its contents; its receipt may be sent by
    /// each peer.
    pub fn may_send_message(&self, message: &Message) -> bool {
        let contents = match message {
            Message::Numbered(NumberedMessage::Item { message, .. }) => message,
            message => message,
        };
        Kind::of(contents).is_some_and(|kind| self.may_send(kind.number))
    }
}

/// True if a kind is one of numbered messages, which have the kinds of their contents.
fn is_numbered(kind: u16) -> bool {
    Kind::numbered(kind).is_some_and(|kind| NUMBERED.contains(&kind.word))
}

/// Words of numbered messages.
const NUMBERED: [&str; 2] = ["item", "received"];

/// The peers of a file, and the text in which they stand.
pub(super) struct Peers {
    source: Source,
    /// Each peer with the place of its fingerprint in the text.
    listed: Vec<(Peer, Range<usize>)>,
}

impl Peers {
    /// A list without peers, for a new file at `path`.
    pub(super) fn none(path: &Path) -> Peers {
        Peers { source: Source::new(path, HEADER), listed: Vec::new() }
    }

    /// Reads the file at `path`.
    pub(super) fn read(path: &Path) -> Result<Peers, KeyError> {
        let source = Source::new(path, files::read(path)?);
        match parsed(&source.text) {
            Ok(listed) => Ok(Peers { source, listed }),
            Err(problems) => Err(KeyError::Peers(Box::new(InvalidPeers::new(source, problems)))),
        }
    }

    /// The text of the file.
    pub(super) fn text(&self) -> &str {
        &self.source.text
    }

    /// The peers.
    pub(super) fn into_peers(self) -> Vec<Peer> {
        self.listed.into_iter().map(|it| it.0).collect()
    }

    /// Gives a peer of this name its new fingerprint. True if the list has the name.
    pub(super) fn renew(&mut self, name: &NodeName, fingerprint: Fingerprint) -> bool {
        let Some(at) = self.listed.iter().position(|(peer, _)| peer.name == *name) else {
            return false;
        };
        if self.listed[at].0.fingerprint != fingerprint {
            // The rest of the text stays: comments, and the kinds that the owner permits.
            let mut text = self.source.text.to_string();
            text.replace_range(self.listed[at].1.clone(), &format!("\"{fingerprint}\""));
            self.change(text);
        }
        true
    }

    /// Adds a peer that may send all kinds.
    pub(super) fn append(&mut self, name: &NodeName, fingerprint: Fingerprint) {
        let text = self.source.text.trim_end();
        self.change(format!("{text}\n\n{}", entry(name, fingerprint)));
    }

    fn change(&mut self, text: String) {
        // Names and fingerprints have no character with a meaning in TOML.
        self.listed = parsed(&text).expect("a list with headers can get further peers");
        self.source = Source::new(&self.source.path, text);
    }
}

/// A peer that may send all kinds, as lines of `peers.toml`.
pub fn entry(name: &NodeName, fingerprint: Fingerprint) -> String {
    format!("[[peer]]\nname = \"{name}\"\nfingerprint = \"{fingerprint}\"\nmay-send = \"all\"\n")
}

/// The peers in a text, or all of its mistakes.
fn parsed(text: &str) -> Result<Vec<(Peer, Range<usize>)>, Vec<Problem>> {
    let root = document::parse(text)?;
    let mut reading = Reading { text, problems: Vec::new(), listed: Vec::new() };
    reading.root(&root);
    if reading.problems.is_empty() { Ok(reading.listed) } else { Err(reading.problems) }
}

/// Peers and mistakes found so far.
struct Reading<'t> {
    text: &'t str,
    problems: Vec<Problem>,
    listed: Vec<(Peer, Range<usize>)>,
}

impl Reading<'_> {
    fn root(&mut self, root: &Node) {
        let Value::Table(entries) = &root.value else { return };
        const HELP: &str = "write each peer under [[peer]]";
        for Entry { key, key_span, node } in entries {
            match (&**key, &node.value) {
                // A list in brackets could not get further peers behind it.
                ("peer", Value::Array(peers)) if peers.iter().any(|it| self.is_header(it)) => {
                    peers.iter().for_each(|peer| self.peer(peer));
                }
                ("peer", _) => self.report(key_span, "`peer` is not written in one line", HELP),
                _ => self.report(key_span, &format!("a list of peers has no key `{key}`"), HELP),
            }
        }
    }

    /// True if a node begins with a header, not in a list in brackets.
    fn is_header(&self, node: &Node) -> bool {
        self.text[node.span.clone()].starts_with("[[")
    }

    fn peer(&mut self, node: &Node) {
        let Value::Table(entries) = &node.value else { return };
        for entry in entries {
            if !KEYS.contains(&&*entry.key) {
                let help = match nearest(&entry.key, KEYS) {
                    Some(meant) => format!("did you mean `{meant}`?"),
                    None => format!("a peer has `{}`", KEYS.join("`, `")),
                };
                self.report(&entry.key_span, &format!("a peer has no key `{}`", entry.key), &help);
            }
        }
        let name = self.key(node, "name").and_then(|it| self.name(it));
        let fingerprint = self.key(node, "fingerprint").and_then(|it| self.fingerprint(it));
        let may_send = self.key(node, "may-send").and_then(|it| self.may_send(it));
        if let (Some(name), Some((fingerprint, span)), Some(may_send)) =
            (name, fingerprint, may_send)
        {
            self.listed.push((Peer { name, fingerprint, may_send }, span));
        }
    }

    fn key<'n>(&mut self, peer: &'n Node, key: &str) -> Option<&'n Node> {
        let found = peer.get(key);
        if found.is_none() {
            let help = match key {
                "name" => "add name = \"…\", the name in its certificate",
                "fingerprint" => {
                    "add fingerprint = \"sha256:…\"; `haggle live keys show` prints it"
                }
                _ => "add may-send = \"all\", or a list of kinds",
            };
            self.report(&peer.span, &format!("the peer has no `{key}`"), help);
        }
        found
    }

    fn name(&mut self, node: &Node) -> Option<NodeName> {
        const HELP: &str =
            "write the name in its certificate, as `haggle live keys show` prints it";
        let name = match self.string(node, "name", HELP)?.parse::<NodeName>() {
            Ok(name) => name,
            Err(bad) => return self.wrong(&node.span, &bad.to_string(), HELP),
        };
        if self.listed.iter().any(|(peer, _)| peer.name == name) {
            let message = format!("the peer \"{name}\" is listed twice");
            return self.wrong(&node.span, &message, "keep one of the two");
        }
        Some(name)
    }

    fn fingerprint(&mut self, node: &Node) -> Option<(Fingerprint, Range<usize>)> {
        const HELP: &str = "write it as `haggle live keys show` prints it";
        let fingerprint = match self.string(node, "fingerprint", HELP)?.parse::<Fingerprint>() {
            Ok(fingerprint) => fingerprint,
            Err(bad) => return self.wrong(&node.span, &bad.to_string(), HELP),
        };
        if let Some((other, _)) = self.listed.iter().find(|it| it.0.fingerprint == fingerprint) {
            let message = format!("the peer \"{}\" has the same fingerprint", other.name);
            return self.wrong(&node.span, &message, "each node has a certificate of its own");
        }
        Some((fingerprint, node.span.clone()))
    }

    fn may_send(&mut self, node: &Node) -> Option<MaySend> {
        const HELP: &str = "write \"all\", or a list of kinds such as [\"offers\", \"finished\"]";
        match &node.value {
            Value::String(word) if word == "all" => Some(MaySend::All),
            Value::Array(words) => {
                let mut kinds = BTreeSet::new();
                for word in words {
                    let kind = self.kind(word)?;
                    if !kinds.insert(kind.number) {
                        let message = format!("the kind \"{}\" is listed twice", kind.word);
                        return self.wrong(&word.span, &message, "keep one of the two");
                    }
                }
                Some(MaySend::Kinds(kinds))
            }
            _ => self.wrong(&node.span, "`may-send` must be \"all\" or a list of kinds", HELP),
        }
    }

    fn kind(&mut self, node: &Node) -> Option<&'static Kind> {
        const HELP: &str = "docs/internals/wire.md lists the kinds of messages";
        let word = self.string(node, "may-send", HELP)?;
        if NUMBERED.contains(&word) {
            let message = format!("\"{word}\" cannot be listed");
            let help = "list the kinds of the contents; a receipt is always permitted";
            return self.wrong(&node.span, &message, help);
        }
        let found = KINDS.iter().find(|kind| kind.word == word);
        if found.is_none() {
            let help = match nearest(word, KINDS.iter().map(|kind| kind.word)) {
                Some(meant) => format!("did you mean \"{meant}\"?"),
                None => HELP.to_owned(),
            };
            self.report(&node.span, &format!("no kind of messages is \"{word}\""), &help);
        }
        found
    }

    fn string<'n>(&mut self, node: &'n Node, key: &str, help: &str) -> Option<&'n str> {
        let text = node.text();
        if text.is_none() {
            let message = format!("`{key}` must have strings, not {}", node.kind());
            self.report(&node.span, &message, help);
        }
        text
    }

    /// Reports a mistake in place of a value.
    fn wrong<T>(&mut self, span: &Range<usize>, message: &str, help: &str) -> Option<T> {
        self.report(span, message, help);
        None
    }

    fn report(&mut self, span: &Range<usize>, message: &str, help: &str) {
        let (message, help) = (message.to_owned(), Some(help.to_owned()));
        self.problems.push(Problem { message, span: span.clone(), label: "here".to_owned(), help });
    }
}
