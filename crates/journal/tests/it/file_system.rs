//! A process that writes to the file system is killed.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

use haggle_journal::{Error, FileSystem, Journal, Network};

/// Names the folder to the process that is killed.
const FOLDER: &str = "HAGGLE_JOURNAL_TEST";

fn payload(number: u64) -> Vec<u8> {
    vec![number as u8; (number * 37 % 500) as usize]
}

/// Appends records for ever, and prints the number of the last one after each sync. It does so only in a process that
/// the test below starts.
#[test]
fn writer() {
    let Some(folder) = std::env::var_os(FOLDER) else { return };
    let folder = FileSystem::open(folder.as_ref(), Network::Refuse).expect("a local disk");
    let (mut journal, recovered) = Journal::open(folder, "north", 20_000).expect("whole");
    let mut number = recovered.snapshot.map_or(0, |it| it.number);
    number += recovered.records.count() as u64;
    loop {
        for _ in 0..=number % 7 {
            number = journal.append(1, &payload(number + 1)).expect("appended");
        }
        journal.sync().expect("synced");
        if number.is_multiple_of(5) {
            journal.snapshot(number, &number.to_le_bytes()).expect("kept");
        }
        let mut out = std::io::stdout().lock();
        writeln!(out, "durable {number}").expect("printed");
    }
}

#[test]
fn a_killed_process_loses_no_synced_record() {
    let folder = tempfile::tempdir().expect("a folder");
    let open = || FileSystem::open(folder.path(), Network::Refuse).expect("a local disk");
    let mut last = 0;
    for round in 1..=12 {
        let mut writer = Command::new(std::env::current_exe().expect("this program"))
            .args(["--exact", "file_system::writer", "--nocapture"])
            .env(FOLDER, folder.path())
            .stdout(Stdio::piped())
            .spawn()
            .expect("started");
        let output = BufReader::new(writer.stdout.take().expect("it is a pipe"));
        let numbers = output.lines().map(|line| line.expect("text"));
        let numbers = numbers.filter_map(|line| line.strip_prefix("durable ")?.parse::<u64>().ok());
        let mut durable = last;
        for number in numbers.take(round * 17) {
            durable = number;
        }
        let busy = Journal::open(open(), "north", 20_000).map(drop);
        assert!(matches!(busy, Err(Error::Busy { .. })), "{busy:?}");
        writer.kill().expect("it runs");
        writer.wait().expect("it has ended");
        let (_, recovered) = Journal::open(open(), "north", 20_000).expect("whole");
        // The writer and this test have opened it once a round each.
        assert_eq!(recovered.incarnation as usize, 2 * round);
        let mut number = recovered.snapshot.map_or(0, |it| it.number);
        for record in recovered.records {
            let record = record.expect("it was checked");
            number += 1;
            assert_eq!((record.number, record.payload), (number, payload(number)));
        }
        assert!(number >= durable && durable > last, "{number} of {durable}, {last} before");
        last = number;
    }
}
