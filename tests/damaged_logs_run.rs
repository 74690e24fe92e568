//! A run of a log with any contents ends: with consistent results, or with an error. The engine,
//! not only the reader, meets excessive numbers, times before the start of the log, and lines of
//! other formats.

use std::fs;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use haggle::experiment::{self, Conduct, Unwatched};
use haggle::scenario::{Experiment, Logs, Source};
use haggle_runtime::Driver;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::command::Folder;

const LOG: &str = "\
; MaxProcs: 8
1 0 -1 60 2 -1 -1 2 90 -1 1 1 -1 -1 1 -1 -1 -1
2 10 -1 60 4 -1 -1 4 90 -1 1 2 -1 -1 1 -1 -1 -1
3 20 -1 100 8 -1 -1 8 90 -1 1 2 -1 -1 1 -1 -1 -1
4 20 -1 0 1 -1 -1 1 -1 -1 1 2 -1 -1 1 -1 -1 -1
5 40 -1 30 3 -1 -1 3 30 -1 1 2 -1 -1 1 -1 -1 -1
";

/// Values at the bounds of fields, on both sides.
const FIELDS: [&str; 14] = [
    "-1",
    "0",
    "1",
    "7",
    "9",
    "1e3",
    "0.5",
    "4294967295",
    "9223372036854775807",
    "-9e18",
    "1e300",
    "9223372036854",
    "x",
    "",
];

/// Runs a log under a policy; returns whether there were results.
fn survives(folder: &Path, log: &[u8], policy: &str, overrun: &str) -> bool {
    fs::write(folder.join("log.swf"), log).expect("it can be written");
    let scenario = format!(
        "[[workload]]\nname = \"jobs\"\nlog = \"log.swf\"\n\
         rules = {{ malformed = \"skip\", order = \"sort\", over-requested-time = \"keep\" }}\n\
         [[provider]]\nname = \"north\"\nprocessors = 8\nspeed = 0.5\n\
         policy = \"{policy}\"\noverrun = \"{overrun}\"\n\
         [[user]]\nname = \"users\"\nworkload = \"jobs\"\nsubmits-to = \"north\"\n"
    );
    let source = Source::new(folder.join("test.toml"), scenario);
    let experiment = Experiment::read(source, Logs::MustExist).unwrap_or_else(|e| panic!("{e}"));
    let run = experiment.runs().next().expect("a scenario has a run").scenario();
    let stop = AtomicBool::new(false);
    let conduct = Conduct {
        driver: Driver::Sequential,
        stop: &stop,
        watch: &Unwatched,
        check: true,
        warnings: &[],
    };
    match experiment::run(&run, folder, None, &conduct) {
        Ok(outcome) => {
            let ends = &outcome.summary.all.outcomes;
            let over = ends.completed + ends.walltime_reached + ends.cancelled + ends.rejected;
            assert_eq!(over, outcome.stats.jobs);
            true
        }
        Err(error) => {
            let text = error.to_string();
            assert!(!text.contains("bug") && !text.contains('\n'), "{text}");
            false
        }
    }
}

/// The log with a few fields, bytes or lines changed.
fn changed(random: &mut ChaCha8Rng) -> Vec<u8> {
    let mut bytes = LOG.as_bytes().to_vec();
    for _ in 0..=random.next_u32() % 4 {
        let mut below = |bound: usize| random.next_u32() as usize % bound;
        match below(4) {
            0 => {
                let at = below(bytes.len());
                bytes[at] = below(256) as u8;
            }
            1 => {
                let at = below(bytes.len());
                bytes.remove(at);
            }
            _ => {
                let mut fields: Vec<&[u8]> = bytes.split(|&byte| byte == b' ').collect();
                let at = below(fields.len());
                fields[at] = FIELDS[below(FIELDS.len())].as_bytes();
                bytes = fields.join(&b' ');
            }
        }
    }
    bytes
}

#[test]
fn changed_logs_run_or_are_refused() {
    let folder = Folder::with(&[]);
    let mut random = ChaCha8Rng::seed_from_u64(4);
    let mut results = 0;
    for round in 0..600 {
        let policy = ["fcfs", "easy", "conservative"][round % 3];
        let overrun = ["kill", "extend"][round % 2];
        let log = changed(&mut random);
        let there = std::panic::catch_unwind(|| survives(folder.path(), &log, policy, overrun));
        let there = there
            .unwrap_or_else(|_| panic!("{policy}, {overrun}:\n{}", String::from_utf8_lossy(&log)));
        results += usize::from(there);
    }
    assert!(results > 300, "only {results} of 600 logs were run");
}
