//! Speed of a journal on the disk of the temporary folder, with records of 200 bytes: appending and syncing by the
//! records of a batch, and recovery. Sizes are printed beside the times.
//!
//! A sync costs what the disk needs for it, so the first figures say more about the disk than about the journal.

#![expect(clippy::print_stdout, reason = "sizes stand beside the times")]

use std::fs;
use std::hint::black_box;
use std::path::Path;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use haggle_journal::{FileSystem, Journal, Network, SEGMENT_BYTES};

const BYTES: usize = 200;

/// A million records in a measurement, few in a test run.
fn records() -> u64 {
    // `cargo bench -- --test` runs each once.
    let arguments: Vec<String> = std::env::args().collect();
    let given = |name: &str| arguments.iter().any(|argument| argument == name);
    if given("--bench") && !given("--test") { 1_000_000 } else { 1000 }
}

fn open(folder: &Path) -> (Journal<FileSystem>, u64) {
    let folder = FileSystem::open(folder, Network::Allow).expect("a folder");
    let (journal, recovered) = Journal::open(folder, "bench", SEGMENT_BYTES).expect("whole");
    let records = recovered.records.map(|record| record.expect("whole").payload[0]);
    (journal, records.fold(0, |sum, byte| sum + u64::from(byte)))
}

/// Appends records, and syncs after each `batch` of them.
fn append(journal: &mut Journal<FileSystem>, records: u64, batch: u64) {
    for record in 1..=records {
        journal.append(1, &[record as u8; BYTES]).expect("there is room");
        if record % batch == 0 {
            journal.sync().expect("the disk works");
        }
    }
    journal.sync().expect("the disk works");
}

fn size(folder: &Path) -> u64 {
    let files = fs::read_dir(folder).expect("a folder");
    files.map(|file| file.and_then(|file| file.metadata()).expect("a file").len()).sum()
}

fn journal(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("journal");
    group.sample_size(10);
    for batch in [1, 10, 100, 1000] {
        let folder = tempfile::tempdir().expect("a folder");
        let (mut journal, _) = open(folder.path());
        group.throughput(Throughput::Elements(batch));
        let id = BenchmarkId::new("append and sync, records a batch", batch);
        group.bench_function(id, |bencher| bencher.iter(|| append(&mut journal, batch, batch)));
    }
    let folder = tempfile::tempdir().expect("a folder");
    let count = records();
    append(&mut open(folder.path()).0, count, 1000);
    let (bytes, (_, checksum)) = (size(folder.path()), open(folder.path()));
    println!("{count} records of {BYTES} bytes: {bytes} bytes, checksum {checksum}");
    group.throughput(Throughput::Elements(count));
    group.bench_function(BenchmarkId::new("recover records", count), |bencher| {
        bencher.iter(|| black_box(open(folder.path()).1));
    });

    // The same records with a snapshot after every tenth of them.
    let folder = tempfile::tempdir().expect("a folder");
    let (mut journal, _) = open(folder.path());
    for tenth in 1..=10 {
        append(&mut journal, count / 10, 1000);
        journal.snapshot(tenth * (count / 10), &[1; 100_000]).expect("there is room");
    }
    append(&mut journal, count / 20, 1000);
    drop(journal);
    println!("with ten snapshots of 100000 bytes: {} bytes", size(folder.path()));
    group.throughput(Throughput::Elements(count / 20));
    group.bench_function(BenchmarkId::new("recover behind a snapshot", count / 20), |bencher| {
        bencher.iter(|| black_box(open(folder.path()).1));
    });
    group.finish();
}

criterion_group!(benches, journal);
criterion_main!(benches);
