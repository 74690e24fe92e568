//! `haggle live keys`: files, fingerprints and refusals. Keys are random, so none is on record.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use haggle_live::keys::Identity;

use crate::command::{Folder, refused, stderr_of, stdout_of, succeeds, unwrapped};

fn prepared() -> (Folder, String) {
    let folder = Folder::with(&[]);
    let shown = succeeds(&folder, &["live", "keys", "init", "keys", "--node", "north", "south"]);
    (folder, shown)
}

#[test]
fn keys_are_made_and_listed() {
    let (folder, made) = prepared();
    let mut files = folder.names_in("keys/north");
    files.sort();
    assert_eq!(files, ["authority.crt", "node.crt", "node.key", "peers.toml"]);
    let mode = fs::metadata(folder.path().join("keys/north/node.key")).expect("it is there");
    assert_eq!(mode.permissions().mode() & 0o777, 0o600);
    let listed = succeeds(&folder, &["live", "keys", "show", "keys"]);
    for node in ["north", "south"] {
        let identity = Identity::load(&folder.path().join("keys").join(node));
        let certificate = identity.expect("it can be read").certificate().clone();
        let (day, print) = (certificate.last_day(), certificate.fingerprint);
        let row = |shown: &str| {
            let cells = shown.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
            cells.into_iter().any(|it| it == [node, &day.to_string(), &print.to_string()])
        };
        assert!(row(&made) && row(&listed), "{made}{listed}");
    }
    // The entries of all nodes are a list of peers.
    let entries = succeeds(&folder, &["live", "keys", "show", "keys", "--peers"]);
    fs::write(folder.path().join("keys/north/peers.toml"), stdout_of(&entries))
        .expect("it can be written");
    let identity = Identity::load(&folder.path().join("keys/north")).expect("it can be read");
    assert_eq!(identity.peers().len(), 2);
}

#[test]
fn mistakes_have_their_exit_codes() {
    let (folder, _) = prepared();
    for (arguments, code, message) in [
        (&["init", "keys", "--node", "west"][..], 4, "`keys/authority.crt` exists already"),
        (&["add", "keys", "north"], 4, "`keys/north` exists already"),
        (&["add", "keys", "../north"], 2, "a name has only letters"),
        (&["add", "keys", "west", "--days", "0"], 2, "--days"),
        (&["add", "keys", "west", "--days", "9999"], 2, "add --days with at most 3649"),
        (&["add", "elsewhere", "west"], 3, "cannot read `elsewhere/authority.crt`"),
        (&["show", "elsewhere"], 3, "cannot read `elsewhere/authority.crt`"),
    ] {
        let shown = folder.haggle(&[&["live", "keys"], arguments].concat());
        assert!(shown.starts_with(&format!("exit code: {code}\n")), "{shown}");
        assert!(unwrapped(stderr_of(&shown)).contains(message), "{shown}");
    }
}

#[test]
fn a_mistake_in_a_list_is_shown_at_its_place() {
    let (folder, _) = prepared();
    let path = folder.path().join("keys/south/peers.toml");
    let list = fs::read_to_string(&path).expect("it is there");
    fs::write(&path, list.replace("\"all\"", "[\"offer\"]")).expect("it can be written");
    let shown = refused(&folder, &["live", "keys", "add", "keys", "west"]);
    assert!(shown.starts_with("exit code: 3\n"), "{shown}");
    let errors = stderr_of(&shown);
    for part in [
        "keys/south/peers.toml:7:13",
        "no kind of messages is \"offer\"",
        "did you mean \"offers\"?",
    ] {
        assert!(errors.contains(part), "{shown}");
    }
    assert!(!folder.path().join("keys/west").exists());
}
