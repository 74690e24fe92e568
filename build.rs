//! The scenarios are part of the program: a file that is added or removed makes it anew.
//! A hash of the sources tells builds of one version apart.

use std::path::{Path, PathBuf};
use std::{fs, io};

/// What people measure and test with, which decides nothing.
const BESIDE: [&str; 2] = ["benches", "fuzz"];

fn main() -> io::Result<()> {
    println!("cargo:rerun-if-changed=scenarios");
    let mut hash = Fnv(0xcbf2_9ce4_8422_2325);
    for source in sources()? {
        println!("cargo:rerun-if-changed={}", source.display());
        take_in(&source, &mut hash)?;
    }
    println!("cargo:rustc-env=HAGGLE_BUILD={:016x}", hash.0);
    Ok(())
}

/// Whatever decides what a run comes to: our own crates, and the versions of all others.
fn sources() -> io::Result<Vec<PathBuf>> {
    let folders =
        fs::read_dir(".")?.map(|entry| entry.map(|entry| PathBuf::from(entry.file_name())));
    let folders = folders.collect::<io::Result<Vec<PathBuf>>>()?.into_iter();
    let crates = folders.filter(|folder| {
        folder.join("Cargo.toml").is_file()
            && !BESIDE.iter().any(|beside| folder == Path::new(beside))
    });
    let mut sources: Vec<PathBuf> = crates.map(|folder| folder.join("src")).collect();
    sources.extend(["Cargo.lock", "src"].map(PathBuf::from));
    sources.sort();
    Ok(sources)
}

/// Takes in a file, or all files of a folder in the order of their names.
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
