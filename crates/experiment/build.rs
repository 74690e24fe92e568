//! A hash of the sources tells builds of one version apart.

use std::path::{Path, PathBuf};
use std::{fs, io};

/// The folder of the workspace.
const ROOT: &str = "../..";

/// Folders in which crates are, from there.
const FOLDERS: [&str; 2] = [".", "crates"];

/// Crates without an effect on a run: they measure, test, or judge runs that are over. The root package
/// is the command, which has no effect either.
const BESIDE: [&str; 6] = ["audit", "benches", "fuzz", "script", "studies", "trial"];

fn main() -> io::Result<()> {
    let mut hash = Fnv(0xcbf2_9ce4_8422_2325);
    for source in sources()? {
        println!("cargo:rerun-if-changed={}", source.display());
        take_in(&source, &mut hash)?;
    }
    println!("cargo:rustc-env=HAGGLE_BUILD={:016x}", hash.0);
    Ok(())
}

/// The sources of results: our own crates, and the versions of all others.
fn sources() -> io::Result<Vec<PathBuf>> {
    let mut folders = Vec::new();
    for folder in FOLDERS {
        for entry in fs::read_dir(Path::new(ROOT).join(folder))? {
            folders.push(entry?.path());
        }
    }
    let crates = folders.into_iter().filter(|folder| {
        folder.join("Cargo.toml").is_file() && !BESIDE.iter().any(|beside| folder.ends_with(beside))
    });
    let mut sources: Vec<PathBuf> = crates.map(|folder| folder.join("src")).collect();
    sources.push(Path::new(ROOT).join("Cargo.lock"));
    sources.sort();
    Ok(sources)
}

/// Adds a file, or all files of a folder in the order of their names.
fn take_in(path: &Path, hash: &mut Fnv) -> io::Result<()> {
    if !path.is_dir() {
        hash.take_in(path.to_string_lossy().as_bytes());
        hash.take_in(&fs::read(path)?);
        return Ok(());
    }
    let entries = fs::read_dir(path)?.map(|entry| entry.map(|entry| entry.path()));
    let mut entries = entries.collect::<io::Result<Vec<PathBuf>>>()?;
    entries.sort();
    entries.iter().try_for_each(|entry| take_in(entry, hash))
}

/// FNV-1a, 64 bits.
struct Fnv(u64);

impl Fnv {
    fn take_in(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}
