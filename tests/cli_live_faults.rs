//! Nodes of live mode over a network that delays, drops, doubles, reorders and cuts, and beside strangers.

use std::fs;
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::{sleep, spawn};
use std::time::Duration;

use haggle::model::random::{Stream, stream};
use rand::RngExt;

use crate::cli_live::SCENARIO;
use crate::cli_live_nodes::{start, until};
use crate::command::{Folder, json_of, signal, stdout_of, succeeds};

/// A proxy before a node. It draws the fate of each piece of data by seed.
///
/// TLS notices each change of the bytes, so a piece that is dropped, doubled, changed or in a wrong place ends the connection,
/// as a cut does, but at another point of the program.
struct Proxy {
    faults: Arc<AtomicU64>,
}

impl Proxy {
    /// Forwards connections from one port to another one.
    fn start(from: u16, to: u16, seed: u64) -> Proxy {
        let faults = Arc::new(AtomicU64::new(0));
        let listener = TcpListener::bind(("127.0.0.1", from)).expect("the port is free");
        let count = Arc::clone(&faults);
        spawn(move || {
            for (number, inward) in (0_u64..).zip(listener.incoming().flatten()) {
                let Ok(outward) = TcpStream::connect(("127.0.0.1", to)) else { continue };
                for (way, from, to) in [(0, &inward, &outward), (1, &outward, &inward)] {
                    let (Ok(from), Ok(to)) = (from.try_clone(), to.try_clone()) else { continue };
                    let dice = stream(seed, &format!("{number} {way}"), "proxy");
                    let count = Arc::clone(&count);
                    spawn(move || {
                        // Every error is the end of the connection.
                        let _ = forward(&from, &to, dice, &count);
                        let _ = from.shutdown(Shutdown::Both);
                        let _ = to.shutdown(Shutdown::Both);
                    });
                }
            }
        });
        Proxy { faults }
    }
}

fn forward(
    mut from: &TcpStream,
    mut to: &TcpStream,
    mut dice: Stream,
    faults: &AtomicU64,
) -> io::Result<()> {
    let mut piece = [0; 4_096];
    let mut kept: Option<Vec<u8>> = None;
    loop {
        let count = from.read(&mut piece)?;
        if count == 0 {
            return Ok(());
        }
        sleep(Duration::from_micros(dice.random_range(0..4_000)));
        let piece = &mut piece[..count];
        let fault = dice.random_range(0..300);
        if fault < 5 {
            faults.fetch_add(1, Ordering::Relaxed);
        }
        match fault {
            0 => return Ok(()),
            1 => continue,
            2 => to.write_all(piece)?,
            3 => piece[count / 2] ^= 0x40,
            4 => {
                kept = Some(piece.to_vec());
                continue;
            }
            _ => {}
        }
        to.write_all(piece)?;
        if let Some(kept) = kept.take() {
            to.write_all(&kept)?;
        }
    }
}

#[test]
fn a_bad_network_only_delays() {
    let folder = Folder::with(&[("pair.toml", SCENARIO)]);
    let init = ["live", "init", "pair.toml", "--scale", "5000", "-o", "nodes"];
    succeeds(&folder, &[&init[..], &["--port", "21800", "--status-port", "21850"]].concat());
    let names = ["users", "north", "east", "broker"];
    // Each node reaches all others over proxies.
    let facts: toml::Table = folder.read("nodes/live.toml").parse().expect("it is TOML");
    let port = |name: &str| -> u16 {
        let nodes = facts["node"].as_array().expect("nodes");
        let node = nodes.iter().find(|it| it["name"].as_str() == Some(name)).expect("it is there");
        let address = node["address"].as_str().expect("an address");
        address.rsplit_once(':').and_then(|it| it.1.parse().ok()).expect("a port")
    };
    let proxies =
        Vec::from_iter(names.map(|it| Proxy::start(port(it) + 20, port(it), u64::from(port(it)))));
    for own in names {
        let path = format!("nodes/{own}/node.toml");
        let others = names.iter().filter(|it| **it != own);
        let addresses = others.map(|it| format!("{it} = \"127.0.0.1:{}\"\n", port(it) + 20));
        let addresses: String = addresses.collect();
        let settings = folder.read(&path) + "\n[addresses]\n" + addresses.as_str();
        fs::write(folder.path().join(path), settings).expect("it can be written");
    }
    let mut nodes = Vec::from_iter(names.map(|it| start(&folder, it)));
    until("some jobs are over", || {
        let status = json_of(&succeeds(&folder, &["live", "status", "nodes", "--json"]));
        let over = |it: &serde_json::Value| it["status"]["progress"]["over"].as_u64().unwrap_or(0);
        status.as_array().is_some_and(|all| all.iter().map(over).sum::<u64>() > 5)
    });
    // A node stands still for a while, and strangers send garbage and come again and again.
    signal(nodes[1].child(), "STOP");
    for round in 0..200_u32 {
        if let Ok(mut stranger) = TcpStream::connect(("127.0.0.1", port("broker"))) {
            let _ = stranger.write_all(&round.to_le_bytes().repeat(500));
        }
    }
    sleep(Duration::from_secs(2));
    signal(nodes[1].child(), "CONT");
    for node in nodes {
        let said = node.ended();
        assert!(said.starts_with("exit code: 0"), "{said}");
    }
    let faults: u64 = proxies.iter().map(|it| it.faults.load(Ordering::Relaxed)).sum();
    assert!(faults > 5, "{faults} faults");
    succeeds(&folder, &["live", "results", "nodes", "--check", "--no-figures"]);
    let verified = succeeds(&folder, &["live", "verify", "nodes"]);
    let said = stdout_of(&verified);
    assert!(said.contains("0 restarts") && said.contains("the same"), "{said}");
}
