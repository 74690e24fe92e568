//! A journal is damaged as the bytes say: bits flipped, bytes set, removed or added, check sums renewed. Opening it, or
//! reading it without a change, gives records or an error of one line that names a file. Without new check sums, the
//! records are a beginning of those that were written. A journal that was opened is opened again with the same records.

#![no_main]

use haggle_journal::testing::{Disk, Loss, seal};
use haggle_journal::{Error, Journal, Reader, Record};
use libfuzzer_sys::fuzz_target;

const RECORDS: u64 = 40;
const SEGMENT_BYTES: u64 = 1000;

fuzz_target!(|bytes: &[u8]| {
    let disk = journal();
    let names = Vec::from_iter(disk.contents().into_keys());
    let mut is_sealed = false;
    for change in bytes.chunks(8) {
        let [kind, file, low, high, values @ ..] = change else { break };
        let name = &names[usize::from(*file) % names.len()];
        let mut contents = disk.contents().remove(name).expect("it is never removed");
        let at = usize::from(u16::from_le_bytes([*low, *high])) % (contents.len() + 1);
        let end = (at + values.len()).min(contents.len());
        match kind % 6 {
            0 => contents[at..end].copy_from_slice(&values[..end - at]),
            1 => contents[at..].fill(0),
            2 => contents.truncate(at),
            3 => drop(contents.splice(at..at, values.iter().copied())),
            4 => drop(contents.splice(at..end, [])),
            _ => {
                seal(&mut contents);
                is_sealed = true;
            }
        }
        disk.put(name, contents);
    }
    if let Ok(reader) = Reader::open(&disk.folder()).map_err(check_error) {
        for record in reader.records {
            let Ok(record) = record.map_err(check_error) else { break };
            assert!(is_sealed || is_written(&record), "{record:?}");
        }
    }
    let Some(records) = open(&disk) else { return };
    assert!(is_sealed || records.iter().all(is_written), "{records:?}");
    disk.restart(Loss::Power);
    assert_eq!(open(&disk), Some(records), "a recovery that does not last");
});

fn open(disk: &Disk) -> Option<Vec<Record>> {
    let (_, recovered) =
        Journal::open(disk.folder(), "north", SEGMENT_BYTES).map_err(check_error).ok()?;
    Some(recovered.records.map(|record| record.expect("it was checked")).collect())
}

fn check_error(error: Error) {
    let text = error.to_string();
    assert!(text.starts_with("disk/") && !text.contains('\n'), "{text}");
}

/// A journal with several segments and two snapshots.
fn journal() -> Disk {
    let disk = Disk::new(0);
    let (mut journal, _) = Journal::open(disk.folder(), "north", SEGMENT_BYTES).expect("empty");
    for number in 1..=RECORDS {
        let (kind, payload) = written(number);
        journal.append(kind, &payload).expect("memory takes it");
        if number % 4 == 0 {
            journal.sync().expect("memory takes it");
        }
        if number % 12 == 0 {
            journal.snapshot(number, &payload).expect("memory takes it");
        }
    }
    disk.restart(Loss::Process);
    disk
}

fn written(number: u64) -> (u8, Vec<u8>) {
    (number as u8, vec![number as u8; (number * 7 % 90) as usize])
}

fn is_written(record: &Record) -> bool {
    record.number <= RECORDS && written(record.number) == (record.kind, record.payload.clone())
}
