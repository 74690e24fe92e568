//! Speed of reading and writing logs. The log is made here, in memory, so that the benchmark needs no external file.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use haggle_workloads::cleaning::{CleanJobs, SharedReport};
use haggle_workloads::lublin::{LublinParameters, generate};
use haggle_workloads::rules::Rules;
use haggle_workloads::swf::{Malformed, SwfHeader, SwfReader, SwfRecord, SwfWriter};

/// As many jobs as the CTC log has in a measurement, few in a test run.
fn jobs() -> u64 {
    // `cargo bench -- --test` runs each once.
    let arguments: Vec<String> = std::env::args().collect();
    let given = |name: &str| arguments.iter().any(|argument| argument == name);
    if given("--bench") && !given("--test") { 77_222 } else { 500 }
}

fn log() -> Vec<u8> {
    let parameters = LublinParameters { jobs: jobs(), ..LublinParameters::default() };
    let jobs = generate(&parameters, 1, "bench").expect("good parameters");
    let records = jobs.map(|job| SwfRecord::from_job(&job.expect("the model has no errors")));
    let mut writer = SwfWriter::new(Vec::new(), &SwfHeader::default()).expect("memory takes it");
    for record in records {
        writer.write(&record).expect("memory takes it");
    }
    writer.finish().expect("memory takes it")
}

fn reader(log: &[u8]) -> SwfReader<&[u8]> {
    SwfReader::new(log, "bench", Malformed::Refuse).expect("just written")
}

/// Checksum of all records, so that a faster wrong version is detected.
fn checksum(log: &[u8]) -> i64 {
    reader(log).fold(0_i64, |sum, record| {
        let record = record.expect("just written");
        let times = record.submit.as_micros() ^ record.run_time.as_micros();
        sum.wrapping_mul(31).wrapping_add(times ^ i64::from(record.requested_processors))
    })
}

fn swf(criterion: &mut Criterion) {
    let log = log();
    eprintln!("checksum of the log read: {:016x}", checksum(&log));
    let mut group = criterion.benchmark_group("swf");
    group.throughput(Throughput::Bytes(log.len() as u64));
    group.bench_function("read records", |bencher| bencher.iter(|| checksum(black_box(&log))));
    group.bench_function("read jobs", |bencher| {
        bencher.iter(|| {
            let report = SharedReport::default();
            CleanJobs::new(reader(black_box(&log)), Rules::default(), report).count()
        });
    });
    let records: Vec<SwfRecord> =
        reader(&log).map(|record| record.expect("just written")).collect();
    group.bench_function("write records", |bencher| {
        bencher.iter(|| {
            let out = Vec::with_capacity(log.len());
            let mut writer = SwfWriter::new(out, &SwfHeader::default()).expect("memory takes it");
            for record in black_box(&records) {
                writer.write(record).expect("memory takes it");
            }
            writer.finish().expect("memory takes it").len()
        });
    });
    group.finish();
}

criterion_group!(benches, swf);
criterion_main!(benches);
