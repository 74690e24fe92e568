//! Handshakes and their refusals, files of keys, lists of peers.
//!
//! Keys are random, so no test has them on record.

use std::fs;
use std::num::NonZeroU16;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::sync::Arc;

use haggle_agents::Message;
use haggle_agents::protocol::{NumberedMessage, ReallocationMessage};
use rustls::client::WantsClientCert;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, UnixTime};
use rustls::{ClientConfig, ConfigBuilder, HandshakeKind};
use tempfile::TempDir;
use time::{Duration, OffsetDateTime};
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};
use tokio_rustls::TlsConnector;

use super::authority::{Authority, Issued};
use super::certificate::now;
use super::folder::{AUTHORITY, AUTHORITY_KEY, NODE, NODE_KEY, PEERS};
use super::peers::{Peer, Peers};
use super::*;
use crate::wire::{Complaint, KINDS};

const YEAR: NonZeroU16 = NonZeroU16::new(365).expect("it is not zero");

fn name(text: &str) -> NodeName {
    text.parse().expect("it is a name")
}

fn names<const N: usize>(texts: [&str; N]) -> Vec<NodeName> {
    texts.map(name).into()
}

fn folder() -> TempDir {
    TempDir::new().expect("it can be made")
}

/// A folder with an authority and its nodes.
fn keys<const N: usize>(nodes: [&str; N]) -> TempDir {
    let folder = folder();
    init(folder.path(), &names(nodes), YEAR, Existing::Keep).expect("keys can be made");
    folder
}

fn load(folder: &TempDir, node: &str) -> Identity {
    Identity::load(&folder.path().join(node)).expect("the identity can be read")
}

fn refused(folder: &TempDir, node: &str) -> String {
    let path = folder.path();
    let error = Identity::load(&path.join(node)).expect_err("it is refused");
    error.to_string().replace(&path.display().to_string(), "DIR")
}

fn text(folder: &TempDir, file: &str) -> String {
    fs::read_to_string(folder.path().join(file)).expect("it can be read")
}

fn put(folder: &TempDir, file: &str, text: &str) {
    fs::write(folder.path().join(file), text).expect("it can be written");
}

/// Both ends of a handshake: that of `north`, which `south` calls.
async fn handshake(north: &Identity, south: &Identity, called: &str) -> [Option<String>; 2] {
    let (one, other) = duplex(1 << 16);
    let said = |refusal: Refusal| refusal.to_string();
    let (accepted, connected) =
        tokio::join!(async { north.accept(one).await.map(|_| ()).map_err(said) }, async {
            south.connect(called, other).await.map(|_| ()).map_err(said)
        });
    [accepted.err(), connected.err()]
}

const NO_ERROR: [Option<String>; 2] = [None, None];

/// Text at the caller after a refusal.
fn by_peer(reason: &str) -> Option<String> {
    Some(format!("the other side refuses the certificate of this node: {reason}"))
}

#[tokio::test]
async fn two_nodes_know_each_other_after_a_handshake() {
    let folder = keys(["north", "south"]);
    let (north, south) = (load(&folder, "north"), load(&folder, "south"));
    for _ in 0..2 {
        let (one, other) = duplex(1 << 16);
        let (accepted, connected) = tokio::join!(north.accept(one), south.connect("north", other));
        let (mut accepted, peer) = accepted.expect("it is accepted");
        assert_eq!(peer.name.as_str(), "south");
        let (mut connected, peer) = connected.expect("it is connected");
        assert_eq!(peer.name.as_str(), "north");
        for stream in [&accepted, &connected] {
            let session = stream.get_ref().1;
            assert_eq!(session.protocol_version(), Some(rustls::ProtocolVersion::TLSv1_3));
            assert_eq!(session.handshake_kind(), Some(HandshakeKind::Full));
        }
        connected.write_all(b"a frame").await.expect("it can be sent");
        connected.flush().await.expect("it can be sent");
        let mut received = [0; 7];
        accepted.read_exact(&mut received).await.expect("it arrives");
        assert_eq!(&received, b"a frame");
    }
}

#[tokio::test]
async fn identities_in_memory_know_each_other() {
    let all = Identity::pretend(&names(["a", "b", "c"])).expect("keys can be made");
    for (one, other) in [(0, 1), (1, 2), (2, 0)] {
        let called = all[one].name().as_str();
        assert_eq!(handshake(&all[one], &all[other], called).await, NO_ERROR);
    }
}

#[tokio::test]
async fn a_stranger_gets_no_connection() {
    let folder = keys(["north", "south"]);
    // A stranger that knows all names, and the fingerprints of all nodes.
    let strange = keys(["north", "south"]);
    put(&strange, "south/peers.toml", &text(&folder, "south/peers.toml"));
    let (north, stranger) = (load(&folder, "north"), load(&strange, "south"));
    let no_authority = "no authority of authority.crt has signed the certificate";
    let [_, found] = handshake(&north, &stranger, "north").await;
    assert_eq!(found.as_deref(), Some(no_authority), "the caller refuses, too");
    // Even one that takes the certificate of the node on trust.
    put(&strange, "south/authority.crt", &(text(&strange, AUTHORITY) + &text(&folder, AUTHORITY)));
    let stranger = load(&strange, "south");
    let found = handshake(&north, &stranger, "north").await;
    assert_eq!(found, [Some(no_authority.to_owned()), by_peer("it is of another authority")]);
}

/// The settings of a client of other software, which trusts `north` and has no certificate yet.
fn client(folder: &TempDir) -> ConfigBuilder<ClientConfig, WantsClientCert> {
    let mut authorities = rustls::RootCertStore::empty();
    let root = CertificateDer::from_pem_slice(text(folder, AUTHORITY).as_bytes());
    authorities.add(root.expect("a certificate")).expect("an authority");
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let peers = load(folder, "south").peers().to_vec();
    let verifier = verifier::Verifier { provider: Arc::clone(&provider), authorities, peers };
    let called = verifier::Called { verifier: verifier.into(), name: name("north") };
    ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&rustls::version::TLS13])
        .expect("TLS 1.3 is there")
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(called))
}

#[tokio::test]
async fn no_client_can_resume_a_session() {
    let folder = keys(["north", "south"]);
    let north = load(&folder, "north");
    let certificate = CertificateDer::from_pem_slice(text(&folder, "south/node.crt").as_bytes());
    let key = PrivateKeyDer::from_pem_slice(text(&folder, "south/node.key").as_bytes());
    let (chain, key) = (vec![certificate.expect("a certificate")], key.expect("a key"));
    let config = client(&folder).with_client_auth_cert(chain, key).expect("they fit");
    let connector = TlsConnector::from(Arc::new(config));
    for _ in 0..2 {
        let (one, other) = duplex(1 << 16);
        let call = async {
            let called = "node".try_into().expect("a name");
            let mut stream = connector.connect(called, other).await.expect("it is connected");
            stream.read_u8().await.expect("it is accepted");
            stream.get_ref().1.handshake_kind()
        };
        let (accepted, kind) = tokio::join!(north.accept(one), call);
        accepted.expect("it is accepted");
        assert_eq!(kind, Some(HandshakeKind::Full));
    }
}

#[tokio::test]
async fn a_node_without_a_certificate_gets_no_connection() {
    let folder = keys(["north", "south"]);
    let north = load(&folder, "north");
    let config = client(&folder).with_no_client_auth();
    let connector = TlsConnector::from(Arc::new(config));
    let (one, other) = duplex(1 << 16);
    let call = async {
        let mut stream = connector.connect("node".try_into().expect("a name"), other).await?;
        stream.read_u8().await
    };
    let (accepted, called) = tokio::join!(north.accept(one), call);
    let found = accepted.err().map(|it| it.to_string());
    assert_eq!(found.as_deref(), Some("the other side has no certificate"));
    called.expect_err("nothing arrives");
}

#[tokio::test]
async fn bytes_that_are_no_handshake_end_the_connection() {
    let folder = keys(["north", "south"]);
    let north = load(&folder, "north");
    for bytes in [&b"GET / HTTP/1.1\r\n\r\n"[..], b"", &[0x16, 3, 1, 0xff, 0xff, 0]] {
        let (one, mut other): (DuplexStream, DuplexStream) = duplex(1 << 16);
        other.write_all(bytes).await.expect("it can be sent");
        other.shutdown().await.expect("it can be closed");
        north.accept(one).await.map(|_| ()).expect_err("it is no handshake");
    }
}

#[tokio::test]
async fn a_node_that_is_not_listed_gets_no_connection() {
    let folder = keys(["north", "south", "west"]);
    put(&folder, "north/peers.toml", "# south was removed\n");
    let (north, south) = (load(&folder, "north"), load(&folder, "south"));
    let found = handshake(&north, &south, "north").await;
    let reason = format!(
        "`south` is not in peers.toml; its certificate has {}",
        south.certificate().fingerprint
    );
    assert_eq!(found, [Some(reason), by_peer("it is not in peers.toml there")]);
    // It is not called, either.
    let (one, _other) = duplex(1 << 16);
    let found = north.connect("south", one).await.map(|_| ()).expect_err("it is not called");
    assert_eq!(found.to_string(), "\"south\" is not in peers.toml, so it is not called");
}

#[tokio::test]
async fn a_fingerprint_with_another_digit_is_refused() {
    let folder = keys(["north", "south"]);
    let list = text(&folder, "north/peers.toml");
    let at = list.find("sha256:").expect("it has a fingerprint") + 70;
    let other = if &list[at..=at] == "0" { "1" } else { "0" };
    let mut changed = list.clone();
    changed.replace_range(at..=at, other);
    put(&folder, "north/peers.toml", &changed);
    let (north, south) = (load(&folder, "north"), load(&folder, "south"));
    let [found, said] = handshake(&north, &south, "north").await;
    let (is, listed) = (south.certificate().fingerprint, north.peers()[0].fingerprint);
    assert_ne!(is, listed);
    let reason = format!("the certificate of `south` has {is}, but peers.toml has {listed}");
    assert_eq!([found, said], [Some(reason), by_peer("it is not in peers.toml there")]);
    // The same from the other side: `north` calls.
    let [found, said] = handshake(&south, &north, "south").await;
    assert_eq!(found.as_deref(), by_peer("it is not in peers.toml there").as_deref());
    assert!(said.is_some_and(|it| it.starts_with("the certificate of `south` has sha256:")));
}

#[tokio::test]
async fn a_certificate_counts_under_its_own_name_alone() {
    let folder = keys(["north", "south"]);
    let list = text(&folder, "north/peers.toml").replace("\"south\"", "\"west\"");
    put(&folder, "north/peers.toml", &list);
    let (north, south) = (load(&folder, "north"), load(&folder, "south"));
    let [found, _] = handshake(&north, &south, "north").await;
    let reason = "the certificate of `south` stands in peers.toml as `west`";
    assert_eq!(found.as_deref(), Some(reason));
}

#[tokio::test]
async fn another_node_at_the_address_gets_no_connection() {
    let folder = keys(["north", "south", "west"]);
    let (north, west) = (load(&folder, "north"), load(&folder, "west"));
    let [found, said] = handshake(&west, &north, "south").await;
    assert_eq!(said.as_deref(), Some("`west` answers in place of `south`"));
    assert!(found.is_some(), "the node that answers has no connection");
}

#[tokio::test]
async fn certificates_out_of_their_time_are_refused() {
    let (authority, _) = Authority::generate(YEAR).expect("it can be made");
    let day = |days| now() + Duration::days(days);
    let knows = |of: &Issued| {
        let known = of.certificate.clone();
        vec![Peer::trusted(known.name.expect("it has one"), known.fingerprint)]
    };
    let north_keys = authority.issue(&name("north"), YEAR).expect("it can be made");
    for (from, until, reason, on) in
        [(-9, -2, "the certificate expired on", -2), (2, 9, "the certificate is valid from", 2)]
    {
        let south_keys = authority.issue_between(&name("south"), (day(from), day(until)));
        let south_keys = south_keys.expect("it can be made");
        let south = |at: OffsetDateTime| {
            let since = at.unix_timestamp().try_into().expect("it is after 1970");
            let at = UnixTime::since_unix_epoch(std::time::Duration::from_secs(since));
            Identity::in_memory(&authority, &south_keys, knows(&north_keys), at)
        };
        let own = south(now()).expect_err("its own node refuses it").to_string();
        assert!(own.contains(&day(on).date().to_string()), "{own}");
        // A node that was started while its certificate was valid.
        let south = south(day(from + 1)).expect("it was valid");
        let peers = knows(&south_keys);
        let north = Identity::in_memory(&authority, &north_keys, peers, UnixTime::now());
        let north = north.expect("it is valid");
        let expected =
            Some(format!("{reason} {}{}", day(on).date(), if on > 0 { " on" } else { "" }));
        let by = by_peer("it has expired, or is not valid yet by the clock there");
        assert_eq!(handshake(&north, &south, "north").await, [expected.clone(), by]);
        let [found, said] = handshake(&south, &north, "south").await;
        assert_eq!(said, expected);
        assert!(found.is_some());
    }
}

#[test]
fn an_expired_certificate_is_refused_with_a_remedy() {
    let folder = keys(["north", "south"]);
    let authority = Authority::from_pem(&text(&folder, AUTHORITY), &text(&folder, AUTHORITY_KEY));
    let until = now() - Duration::days(3);
    let old =
        authority.expect("it is one").issue_between(&name("north"), (until - Duration::DAY, until));
    let old = old.expect("it can be made");
    put(&folder, "north/node.crt", &old.certificate_pem);
    put(&folder, "north/node.key", &old.key_pem);
    let reason = format!(
        "the certificate `DIR/north/node.crt` expired on {}; `haggle live keys add DIR NAME --force` renews it where the \
         key of the authority is",
        until.date()
    );
    assert_eq!(refused(&folder, "north"), reason);
    let listing = list(folder.path()).expect("it can be read");
    let is_expired = |it: &(NodeName, Certificate)| it.1.is_expired();
    assert_eq!(listing.nodes.iter().map(is_expired).collect::<Vec<_>>(), [true, false]);
}

#[test]
fn a_node_does_not_outlive_its_authority() {
    let folder = keys(["north"]);
    let days = NonZeroU16::new(4000).expect("it is not zero");
    let found =
        add(folder.path(), &name("south"), days, Existing::Keep).expect_err("it is refused");
    let last = (now() + Duration::days(3650)).date();
    let reason = format!(
        "the certificate of the authority ends on {last}; add --days with at most 3649, or make a new authority with \
         `haggle live keys init --force`"
    );
    assert_eq!(found.to_string(), reason);
    assert!(!folder.path().join("south").exists());
    // The authority lives as long as the nodes that are made with it.
    init(self::folder().path(), &names(["a"]), days, Existing::Keep).expect("keys can be made");
}

#[test]
fn certificates_end_after_their_days() {
    let folder = keys(["north"]);
    let Listing { authority, nodes } = list(folder.path()).expect("it can be read");
    let days = |until: OffsetDateTime| ((until - now()).as_seconds_f64() / 86_400.0).round();
    assert_eq!(days(authority.valid_until), 3650.0);
    assert_eq!(days(nodes[0].1.valid_until), 365.0);
}

#[test]
fn only_the_owner_can_read_keys() {
    let folder = keys(["north", "south"]);
    let mode = |file: &str| {
        let found = fs::metadata(folder.path().join(file)).expect("it is there");
        found.permissions().mode() & 0o777
    };
    for file in [AUTHORITY_KEY, "north/node.key", "south/node.key"] {
        assert_eq!(mode(file), 0o600, "{file}");
    }
    for (file, bits) in [("node.key", 0o640), ("node.key", 0o604), ("node.key", 0o620)] {
        let path = folder.path().join("north").join(file);
        fs::set_permissions(&path, fs::Permissions::from_mode(bits)).expect("it can be changed");
        let reason = format!(
            "others can read the key `DIR/north/node.key` (mode {bits:03o}); use `chmod 600` on it, and if others may \
             have read it, renew it"
        );
        assert_eq!(refused(&folder, "north"), reason);
    }
    let path = folder.path().join(AUTHORITY_KEY);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).expect("it can be changed");
    let found = add(folder.path(), &name("west"), YEAR, Existing::Keep).expect_err("it is refused");
    assert!(matches!(found, KeyError::Exposed { mode: 0o644, .. }), "{found}");
    assert!(!folder.path().join("west").exists());
}

#[test]
fn no_key_is_overwritten_unasked() {
    let folder = keys(["north", "south"]);
    let files = [
        AUTHORITY_KEY,
        AUTHORITY,
        "north/node.key",
        "north/node.crt",
        "north/authority.crt",
        "north/peers.toml",
        "south/node.key",
    ];
    let before = files.map(|file| text(&folder, file));
    let path = folder.path();
    for found in [
        init(path, &names(["north", "south"]), YEAR, Existing::Keep),
        init(path, &names(["west"]), YEAR, Existing::Keep),
        add(path, &name("north"), YEAR, Existing::Keep),
    ] {
        let found = found.expect_err("it is refused");
        assert!(matches!(found, KeyError::Exists(_)), "{found}");
    }
    // The key of the authority may have been moved to a safe place.
    fs::remove_file(path.join(AUTHORITY_KEY)).expect("it can be removed");
    let found = init(path, &names(["north"]), YEAR, Existing::Keep).expect_err("it is refused");
    assert!(matches!(found, KeyError::Exists(_)), "{found}");
    assert_eq!(&before[1..], &files.map(|file| text_or(&folder, file))[1..]);
    // On request, all of them are new.
    init(path, &names(["north", "south"]), YEAR, Existing::Replace).expect("keys can be made");
    for (file, before) in files.iter().zip(&before) {
        assert_ne!(&text(&folder, file), before, "{file}");
    }
    load(&folder, "north");
}

fn text_or(folder: &TempDir, file: &str) -> String {
    fs::read_to_string(folder.path().join(file)).unwrap_or_default()
}

#[test]
fn a_folder_has_the_name_of_its_node() {
    let folder = keys(["north", "south"]);
    let path = folder.path();
    fs::rename(path.join("north"), path.join("west")).expect("it can be renamed");
    let found = list(path).expect_err("it is refused").to_string();
    let reason =
        "the certificate `DIR/west/node.crt` is of the node `north`; give its folder this name";
    assert_eq!(found.replace(&path.display().to_string(), "DIR"), reason);
    // A node alone may lie anywhere.
    load(&folder, "west");
}

#[test]
fn a_new_authority_leaves_no_node_behind() {
    let folder = keys(["north", "south"]);
    let found = init(folder.path(), &names(["north"]), YEAR, Existing::Replace);
    let found = found.expect_err("it is refused").to_string();
    let found = found.replace(&folder.path().display().to_string(), "DIR");
    let reason = "a new authority makes the keys of the node `south` invalid; name this node, too, or remove `DIR/south`";
    assert_eq!(found, reason);
}

#[test]
fn nothing_is_written_outside_of_the_folder() {
    let (folder, outside) = (keys(["north"]), folder());
    symlink(outside.path(), folder.path().join("south")).expect("it can be made");
    for existing in [Existing::Keep, Existing::Replace] {
        add(folder.path(), &name("south"), YEAR, existing).expect_err("it is refused");
    }
    let found = fs::read_dir(outside.path()).expect("it can be read").count();
    assert_eq!(found, 0);
    assert_eq!(refused_twice(&folder), "the node `a` is named twice; name it once");
}

fn refused_twice(folder: &TempDir) -> String {
    let found = init(&folder.path().join("x"), &names(["a", "b", "a"]), YEAR, Existing::Keep);
    found.expect_err("it is refused").to_string()
}

#[tokio::test]
async fn a_node_that_is_added_later_is_listed_everywhere() {
    let folder = keys(["north", "south"]);
    let changes = add(folder.path(), &name("west"), YEAR, Existing::Keep).expect("it can be added");
    let lists = ["north", "south", "west"].map(|node| folder.path().join(node).join(PEERS));
    assert_eq!(changes.lists, lists);
    assert_eq!(handshake(&load(&folder, "west"), &load(&folder, "north"), "west").await, NO_ERROR);
    assert_eq!(handshake(&load(&folder, "south"), &load(&folder, "west"), "south").await, NO_ERROR);
}

#[tokio::test]
async fn a_renewed_node_keeps_its_rights() {
    let folder = keys(["north", "south", "west"]);
    let list = text(&folder, "north/peers.toml");
    let list = list.replacen("may-send = \"all\"", "may-send = [\"offers\"] # no more", 1);
    put(&folder, "north/peers.toml", &list);
    // `west` has removed `south`.
    put(&folder, "west/peers.toml", "");
    put(&folder, "south/authority.crt", &(text(&folder, AUTHORITY) + &text(&keys([]), AUTHORITY)));
    let authorities = text(&folder, "south/authority.crt");
    let old = load(&folder, "south").certificate().fingerprint.to_string();
    let changes =
        add(folder.path(), &name("south"), YEAR, Existing::Replace).expect("it is renewed");
    let new = load(&folder, "south").certificate().fingerprint.to_string();
    assert_ne!(old, new);
    assert_eq!(text(&folder, "north/peers.toml"), list.replace(&old, &new));
    assert_eq!(text(&folder, "west/peers.toml"), "");
    assert_eq!(text(&folder, "south/authority.crt"), authorities);
    assert_eq!(changes.lists, [folder.path().join("north/peers.toml")]);
    assert_eq!(
        handshake(&load(&folder, "north"), &load(&folder, "south"), "north").await,
        NO_ERROR
    );
}

#[tokio::test]
async fn owners_can_keep_authorities_of_their_own() {
    let (one, other) = (keys(["north"]), keys(["south"]));
    let entry = |folder: &TempDir, node: &str| {
        let fingerprint = load(folder, node).certificate().fingerprint;
        let mut peers = Peers::none(Path::new(PEERS));
        peers.append(&name(node), fingerprint);
        peers.text().to_owned()
    };
    let (of_north, of_south) = (entry(&one, "north"), entry(&other, "south"));
    for (folder, node, list, strange) in
        [(&one, "north", &of_south, &other), (&other, "south", &of_north, &one)]
    {
        put(folder, &format!("{node}/{PEERS}"), list);
        let both = text(folder, AUTHORITY) + &text(strange, AUTHORITY);
        put(folder, &format!("{node}/{AUTHORITY}"), &both);
    }
    let (north, south) = (load(&one, "north"), load(&other, "south"));
    assert_eq!(handshake(&north, &south, "north").await, NO_ERROR);
}

#[test]
fn damaged_folders_are_refused() {
    let folder = keys(["north", "south"]);
    let whole = ["node.crt", "node.key", AUTHORITY]
        .map(|file| (file, text(&folder, &format!("north/{file}"))));
    let south = text(&folder, "south/node.key");
    for (file, damaged, reason) in [
        (NODE, "", "`DIR/north/node.crt` is no certificate in PEM; restore it, or renew it"),
        (NODE_KEY, "x", "`DIR/north/node.key` is no private key in PEM; restore it, or renew it"),
        (
            AUTHORITY,
            "x",
            "`DIR/north/authority.crt` is no certificate in PEM; restore it, or renew it",
        ),
        (
            NODE_KEY,
            &south,
            "the key `DIR/north/node.key` does not belong to the certificate beside it; restore it, or renew both",
        ),
        (
            AUTHORITY,
            &text(&keys([]), AUTHORITY),
            "the certificate `DIR/north/node.crt` is not valid: no authority of \
            authority.crt has signed the certificate; check `DIR/north/authority.crt` and the clock, or renew it",
        ),
        (
            NODE,
            &text(&folder, AUTHORITY),
            "the certificate `DIR/north/node.crt` has no name of a node; `haggle live keys add` makes one",
        ),
    ] {
        put(&folder, &format!("north/{file}"), damaged);
        assert_eq!(refused(&folder, "north"), reason);
        for (file, text) in &whole {
            put(&folder, &format!("north/{file}"), text);
        }
    }
    load(&folder, "north");
    fs::remove_file(folder.path().join("north/node.key")).expect("it can be removed");
    let reason = "cannot read `DIR/north/node.key`: No such file or directory (os error 2)";
    assert_eq!(refused(&folder, "north"), reason);
}

/// Lists of peers: the file of a new node, and each mistake with its place.
mod lists {
    use super::*;

    const PRINT: &str = "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

    fn read(text: &str) -> Result<Vec<Peer>, String> {
        let folder = folder();
        put(&folder, PEERS, text);
        let read = Peers::read(&folder.path().join(PEERS)).map(Peers::into_peers);
        let dir = format!("{}/", folder.path().display());
        read.map_err(|error| error.to_string().replace(&dir, ""))
    }

    #[test]
    fn a_new_list_permits_all_kinds() {
        let mut peers = Peers::none(Path::new(PEERS));
        peers.append(&name("north"), PRINT.parse().expect("a fingerprint"));
        let expected = format!(
            "# Peers of this node. A certificate with another fingerprint gets no connection.\n\
             # may-send = \"all\", or a list of kinds of messages, such as [\"offers\", \"finished\"].\n\
             \n\
             [[peer]]\n\
             name = \"north\"\n\
             fingerprint = \"{PRINT}\"\n\
             may-send = \"all\"\n"
        );
        assert_eq!(peers.text(), expected);
        let all = read(&expected).expect("it is a list");
        assert!(KINDS.iter().all(|kind| all[0].may_send(kind.number)));
    }

    #[test]
    fn a_peer_may_send_the_listed_kinds() {
        let text = format!(
            "[[peer]]\nname = \"a\"\nfingerprint = \"{PRINT}\"\nmay-send = [\"offers\", \"waiting_request\"]"
        );
        let [peer] = &read(&text).expect("it is a list")[..] else { panic!("one peer") };
        let permitted = KINDS.iter().filter(|kind| peer.may_send(kind.number));
        let permitted = Vec::from_iter(permitted.map(|kind| kind.word));
        assert_eq!(permitted, ["waiting_request", "offers", "item", "received"]);
        assert!(peer.may_send(Complaint::KIND) && !peer.may_send(0x7f00));
        let numbered = |message: Message| {
            Message::from(NumberedMessage::Item { number: 1, message: message.into() })
        };
        let waiting = || Message::from(ReallocationMessage::WaitingRequest);
        let back = || Message::from(ReallocationMessage::TakeBack { jobs: Vec::new() });
        assert!(peer.may_send_message(&waiting()) && peer.may_send_message(&numbered(waiting())));
        assert!(!peer.may_send_message(&back()) && !peer.may_send_message(&numbered(back())));
        assert!(peer.may_send_message(&NumberedMessage::Received { next: 1 }.into()));
    }

    #[test]
    fn words_of_kinds_are_unique() {
        let mut words = Vec::from_iter(KINDS.iter().map(|kind| kind.word));
        words.sort_unstable();
        words.dedup();
        assert_eq!(words.len(), KINDS.len());
    }

    #[test]
    fn every_mistake_has_its_place_and_a_remedy() {
        let other = PRINT.replace("sha256:b", "sha256:c");
        let peer = |name: &str, print: &str, may_send: &str| {
            format!("[[peer]]\nname = {name}\nfingerprint = {print}\nmay-send = {may_send}\n")
        };
        let good = format!("\"{PRINT}\"");
        let second = |print: &str| peer("\"b\"", &format!("\"{print}\""), "\"all\"");
        for (text, expected) in [
            (
                "peers = 1".to_owned(),
                "peers.toml:1:1: a list of peers has no key `peers`; write each peer under [[peer]]",
            ),
            (
                "peer = 1".to_owned(),
                "peers.toml:1:1: `peer` is not written in one line; write each peer under [[peer]]",
            ),
            (
                "peer = []".to_owned(),
                "peers.toml:1:1: `peer` is not written in one line; write each peer under [[peer]]",
            ),
            (
                "peer = [{ name = \"a\" }]".to_owned(),
                "peers.toml:1:1: `peer` is not written in one line; write each peer under [[peer]]",
            ),
            (
                peer("\"a\"", &good, "\"all\"") + "may_send = []",
                "peers.toml:5:1: a peer has no key `may_send`; did you mean `may-send`?",
            ),
            (
                peer("\"a\"", &good, "\"all\"") + "colour = 1",
                "peers.toml:5:1: a peer has no key `colour`; a peer has `name`, `fingerprint`, `may-send`",
            ),
            (
                "[[peer]]".to_owned(),
                "peers.toml:1:1: the peer has no `fingerprint`; add fingerprint = \"sha256:…\"; `haggle live keys show` prints it\n\
                 peers.toml:1:1: the peer has no `may-send`; add may-send = \"all\", or a list of kinds\n\
                 peers.toml:1:1: the peer has no `name`; add name = \"…\", the name in its certificate",
            ),
            (
                peer("1", "2", "3"),
                "peers.toml:2:8: `name` must have strings, not an integer; write the name in its certificate, as \
                 `haggle live keys show` prints it\n\
                 peers.toml:3:15: `fingerprint` must have strings, not an integer; write it as `haggle live keys show` \
                 prints it\n\
                 peers.toml:4:12: `may-send` must be \"all\" or a list of kinds; write \"all\", or a list of kinds such as \
                 [\"offers\", \"finished\"]",
            ),
            (
                peer("\"../a\"", &good, "\"all\""),
                "peers.toml:2:8: a name has only letters from a to z, digits, `-`, `_` and `.`, not '/'; write the name in \
                 its certificate, as `haggle live keys show` prints it",
            ),
            (
                peer("\"a\"", "\"ba:78\"", "\"none\""),
                "peers.toml:3:15: a fingerprint is `sha256:` and 64 digits of base 16; write it as `haggle live keys show` \
                 prints it\n\
                 peers.toml:4:12: `may-send` must be \"all\" or a list of kinds; write \"all\", or a list of kinds such as \
                 [\"offers\", \"finished\"]",
            ),
            (
                peer("\"a\"", &good, "[\"offer\"]"),
                "peers.toml:4:13: no kind of messages is \"offer\"; did you mean \"offers\"?",
            ),
            (
                peer("\"a\"", &good, "[\"offers\", \"spam and eggs\"]"),
                "peers.toml:4:23: no kind of messages is \"spam and eggs\"; docs/internals/wire.md lists the kinds of messages",
            ),
            (
                peer("\"a\"", &good, "[\"offers\", \"call\", \"offers\"]"),
                "peers.toml:4:31: the kind \"offers\" is listed twice; keep one of the two",
            ),
            (
                peer("\"a\"", &good, "[\"item\"]"),
                "peers.toml:4:13: \"item\" cannot be listed; list the kinds of the contents; a receipt is always permitted",
            ),
            (
                peer("\"b\"", &good, "\"all\"") + &second(&other),
                "peers.toml:6:8: the peer \"b\" is listed twice; keep one of the two",
            ),
            (
                peer("\"a\"", &good, "[]") + &second(PRINT),
                "peers.toml:7:15: the peer \"a\" has the same fingerprint; each node has a certificate of its own",
            ),
        ] {
            assert_eq!(read(&text).expect_err(&text), expected, "{text}");
        }
        assert!(
            read("[[peer]").expect_err("it is not TOML").starts_with("peers.toml:1:1: not TOML")
        );
    }

    #[test]
    fn a_mistake_in_a_list_changes_no_key() {
        let folder = keys(["north", "south"]);
        put(&folder, "south/peers.toml", "[[peer]]\n");
        let before = text(&folder, "north/node.key");
        let found = add(folder.path(), &name("north"), YEAR, Existing::Replace);
        assert!(matches!(found, Err(KeyError::Peers(_))), "{found:?}");
        assert_eq!(text(&folder, "north/node.key"), before);
    }
}

#[test]
fn no_error_and_no_debug_text_contains_a_key() {
    let folder = keys(["north", "south"]);
    let key = text(&folder, "north/node.key");
    let secret = key.lines().nth(1).expect("a line of the key");
    let damaged = key.replacen("PRIVATE KEY", "SECRET", 1);
    let shown = format!("{:?}", load(&folder, "north"));
    assert!(shown.contains("north") && !shown.contains(secret), "{shown}");
    put(&folder, "north/node.key", &damaged);
    let error = Identity::load(&folder.path().join("north")).expect_err("it is refused");
    for shown in [error.to_string(), format!("{error:?}")] {
        assert!(!shown.contains(&secret[..16]), "{shown}");
    }
}

/// Certificates are issued in later seconds than that of their authority.
#[test]
fn a_certificate_for_as_long_as_its_authority_ends_with_it() {
    let days = NonZeroU16::new(4_000).expect("it is not zero");
    let (authority, _) = Authority::generate(days).expect("random numbers");
    std::thread::sleep(std::time::Duration::from_millis(1_100));
    let issued =
        authority.issue(&"north".parse().expect("a name"), days).expect("it may be issued");
    assert_eq!(issued.certificate.valid_until, authority.certificate.valid_until);
}
