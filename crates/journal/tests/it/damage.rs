//! Damage is refused with its place and a remedy; torn ends are cut.

use std::collections::BTreeMap;

use haggle_journal::testing::{Disk, Loss, seal};
use haggle_journal::{Damage, Error, Journal, RECORD_MAX, Reader, Record};
use proptest::prelude::*;

const FIRST: &str = "00000000000000000001.log";
const HEAD: usize = 32 + "north".len() + 4;
const RECORD: usize = 25 + 100;

/// A disk with `batches` of so many synced records of 100 bytes each.
fn disk(batches: &[usize], segment_bytes: u64) -> Disk {
    let disk = Disk::new(1);
    let (mut journal, _) =
        Journal::open(disk.folder(), "north", segment_bytes).expect("an empty folder");
    for records in batches {
        for _ in 0..*records {
            journal.append(7, &[b'x'; 100]).expect("memory takes it");
        }
        journal.sync().expect("memory takes it");
    }
    disk.restart(Loss::Process);
    disk
}

fn open(disk: &Disk) -> Result<(u64, Option<(u64, u64)>), Error> {
    disk.restart(Loss::Process);
    let (_, recovered) = Journal::open(disk.folder(), "north", 1 << 20)?;
    let cut = recovered.cut.map(|cut| (cut.offset, cut.number));
    let records: Vec<Record> = recovered.records.collect::<Result<_, Error>>()?;
    Ok((records.len() as u64, cut))
}

fn refusal(disk: &Disk) -> String {
    open(disk).expect_err("it is damaged").to_string()
}

/// The damage of a disk with its place: offset and number of the record.
fn place(disk: &Disk) -> (u64, u64, Damage) {
    match open(disk) {
        Err(Error::Damaged { offset, number, damage, .. }) => (offset, number, damage),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_file_that_ends_anywhere_behind_its_head_is_cut_behind_the_last_whole_record() {
    let whole = disk(&[1, 1, 1], 1 << 20).contents()[FIRST].clone();
    for length in 0..whole.len() {
        let disk = disk(&[], 1 << 20);
        disk.put(FIRST, whole[..length].to_vec());
        let Some(records) = length.checked_sub(HEAD) else {
            assert_eq!(place(&disk), (0, 1, Damage::FileHead));
            continue;
        };
        let kept = (records / RECORD) as u64;
        let offset = HEAD as u64 + kept * RECORD as u64;
        let cut = (length as u64 != offset).then_some((offset, kept + 1));
        assert_eq!(open(&disk).expect("torn"), (kept, cut), "{length}");
        assert_eq!(open(&disk).expect("cut before"), (kept, None), "{length}");
    }
}

#[test]
fn a_flipped_bit_anywhere_is_refused_with_its_record_even_in_the_last_one() {
    let length = disk(&[1, 1, 1], 1 << 20).contents()[FIRST].len();
    for bit in 0..length * 8 {
        let disk = disk(&[1, 1, 1], 1 << 20);
        disk.flip(FIRST, bit);
        let record = (bit / 8).checked_sub(HEAD).map(|byte| byte / RECORD);
        let (offset, number, _) = place(&disk);
        let due = record.map_or((0, 1), |it| (HEAD + it * RECORD, it + 1));
        assert_eq!((offset as usize, number as usize), due, "{bit}");
    }
}

#[test]
fn sectors_of_zeros_up_to_the_end_are_cut() {
    for from in 1..5 {
        let disk = disk(&[20], 1 << 20);
        disk.zero(FIRST, from * 512..usize::MAX);
        let kept = (from * 512 - HEAD) / RECORD;
        let offset = HEAD + kept * RECORD;
        let due = (kept as u64, Some((offset as u64, kept as u64 + 1)));
        assert_eq!(open(&disk).expect("torn"), due, "{from}");
    }
    // A file may also have its new length before any new byte.
    let disk = disk(&[2], 1 << 20);
    let mut bytes = disk.contents()[FIRST].clone();
    let offset = bytes.len() as u64;
    bytes.resize(5000, 0);
    disk.put(FIRST, bytes);
    assert_eq!(open(&disk).expect("torn"), (2, Some((offset, 3))));
}

#[test]
fn a_hole_before_a_later_batch_is_refused_and_one_within_the_last_batch_is_cut() {
    let hole = 1024..1536;
    let broken = (hole.start - HEAD) / RECORD;
    let offset = (HEAD + broken * RECORD) as u64;
    let one_batch = disk(&[20], 1 << 20);
    one_batch.zero(FIRST, hole.clone());
    let due = (broken as u64, Some((offset, broken as u64 + 1)));
    assert_eq!(open(&one_batch).expect("torn"), due);
    let two_batches = disk(&[19, 1], 1 << 20);
    two_batches.zero(FIRST, hole);
    assert_eq!(place(&two_batches), (offset, broken as u64 + 1, Damage::Before(20)));
    assert_eq!(
        refusal(&two_batches),
        format!(
            "disk/{FIRST}: byte {offset}: record {}: it is damaged, but record 20 behind it was \
             written after it was durable; restore the file from a copy of the journal, or lose \
             this record and all later ones: remove later files, and cut this one to {offset} bytes",
            broken + 1
        )
    );
}

#[test]
fn other_bytes_at_the_end_are_refused() {
    let disk = disk(&[2], 1 << 20);
    let mut bytes = disk.contents()[FIRST].clone();
    let offset = bytes.len() as u64;
    bytes.extend([b'g'; 40]);
    disk.put(FIRST, bytes);
    assert_eq!(place(&disk), (offset, 3, Damage::Head));
}

#[test]
fn a_segment_before_the_last_one_must_be_whole() {
    for length in [HEAD + RECORD - 1, HEAD + RECORD + 30] {
        let disk = disk(&[1, 1, 1], 1);
        assert_eq!(disk.contents().len(), 3);
        let mut bytes = disk.contents()[FIRST].clone();
        bytes.resize(length, 0);
        disk.put(FIRST, bytes);
        let (offset, number) = if length < HEAD + RECORD { (HEAD, 1) } else { (HEAD + RECORD, 2) };
        let (found_offset, found_number, _) = place(&disk);
        assert_eq!((found_offset, found_number), (offset as u64, number));
    }
}

#[test]
fn missing_and_doubled_segments_are_refused() {
    let second = "00000000000000000002.log";
    let missing = disk(&[1, 1, 1], 1);
    missing.take(second);
    assert_eq!(
        refusal(&missing),
        "disk/00000000000000000003.log: begins with record 3, but record 2 is due; \
         restore the missing files from a copy of the journal"
    );
    let begins_late = disk(&[1, 1, 1], 1);
    begins_late.take(FIRST);
    let text = refusal(&begins_late);
    assert!(text.contains("begins with record 2, but record 1 is due"), "{text}");
    let doubled = disk(&[1, 1, 1], 1);
    doubled.put(second, doubled.contents()[FIRST].clone());
    assert_eq!(place(&doubled), (0, 2, Damage::FileNumber(1)));
    let twice = disk(&[2], 1 << 20);
    let mut bytes = twice.contents()[FIRST].clone();
    bytes.extend_from_within(HEAD + RECORD..);
    twice.put(FIRST, bytes);
    assert_eq!(place(&twice), ((HEAD + 2 * RECORD) as u64, 3, Damage::Number(2)));
}

#[test]
fn foreign_keys_newer_formats_and_long_records_are_refused() {
    let disk = disk(&[1], 1 << 20);
    let error = Journal::open(disk.folder(), "south", 1).map(drop).expect_err("foreign");
    assert_eq!(
        error.to_string(),
        format!(
            "disk/{FIRST}: journal of \"north\", not of \"south\"; name the folder of \"south\""
        )
    );
    let altered = |at: usize, byte: u8| {
        let mut bytes = disk.contents()[FIRST].clone();
        bytes[at] = byte;
        seal(&mut bytes);
        let altered = Disk::new(2);
        altered.put(FIRST, bytes);
        altered
    };
    assert_eq!(
        refusal(&altered(8, 2)),
        format!(
            "disk/{FIRST}: format 2 of a newer version, this version reads 1; \
             use the version that wrote it"
        )
    );
    let length = u32::from_le_bytes([100, 0, 0, 5]);
    assert_eq!(place(&altered(HEAD + 23, 5)), (HEAD as u64, 1, Damage::Length(length)));
    assert_eq!(place(&altered(HEAD + 8, 9)), (HEAD as u64, 1, Damage::Number(9)));
}

#[test]
fn a_payload_cannot_look_like_a_later_record() {
    // A stranger has seen a journal, and sends its bytes. The record with them is torn.
    let seen = disk(&[1, 1, 1, 1, 1], 1 << 20).contents()[FIRST].clone();
    let disk = Disk::new(99);
    let (mut journal, _) = Journal::open(disk.folder(), "north", 1 << 20).expect("empty");
    journal.append(1, &seen[HEAD..]).expect("memory takes it");
    journal.sync().expect("memory takes it");
    let mut bytes = disk.contents()[FIRST].clone();
    bytes.pop();
    disk.put(FIRST, bytes);
    assert_eq!(open(&disk).expect("torn"), (0, Some((HEAD as u64, 1))));
}

#[test]
fn a_damaged_snapshot_is_replaced_by_the_older_one_and_put_aside() {
    let disk = Disk::new(3);
    let (mut journal, _) = Journal::open(disk.folder(), "north", 200).expect("an empty folder");
    for number in 1..=30_u8 {
        journal.append(1, &[number; 50]).expect("memory takes it");
        if number.is_multiple_of(10) {
            journal.snapshot(u64::from(number), &[number; 1000]).expect("memory takes it");
        }
    }
    disk.restart(Loss::Process);
    let files = disk.contents();
    let snapshots = files.keys().filter(|name| name.ends_with(".snapshot")).count();
    assert_eq!(snapshots, 2);
    let first = files.keys().find(|name| name.ends_with(".log")).expect("there are segments");
    assert!(first.as_str() > "00000000000000000015.log", "old segments are removed: {first}");

    let newest = "00000000000000000030.snapshot";
    disk.flip(newest, 3000);
    let error = Reader::open(&disk.folder()).expect("the older one is whole").records.count();
    assert_eq!(error, 10);
    let (_, recovered) = Journal::open(disk.folder(), "north", 200).expect("the older one");
    assert_eq!(recovered.snapshot.expect("the older one").number, 20);
    assert_eq!(recovered.records.count(), 10);
    assert!(recovered.damaged[0].to_string().contains(newest), "{:?}", recovered.damaged);
    assert!(disk.contents().contains_key("00000000000000000030.snapshot.damaged"));

    let older = "00000000000000000020.snapshot";
    disk.restart(Loss::Process);
    disk.flip(older, 3000);
    let error = Reader::open(&disk.folder()).map(drop);
    assert!(error.is_err(), "no records lead to the older one");
    let text = refusal(&disk);
    assert!(text.starts_with(&format!("disk/{older}: byte ")), "{text}");
    assert!(disk.contents().contains_key(older), "refused, so unchanged");
}

#[test]
fn records_that_a_snapshot_has_seen_must_be_there() {
    let disk = disk(&[3], 1 << 20);
    let (mut journal, _) = Journal::open(disk.folder(), "north", 1 << 20).expect("whole");
    journal.append(1, b"x").expect("memory takes it");
    journal.snapshot(4, b"state").expect("memory takes it");
    disk.take("00000000000000000004.log");
    assert_eq!(
        refusal(&disk),
        "disk/: record 4 is missing; restore the missing files from a copy of the journal"
    );
}

#[test]
fn records_before_a_damaged_snapshot_must_be_there_too() {
    let disk = disk(&[3], 200);
    let (mut journal, _) = Journal::open(disk.folder(), "north", 200).expect("whole");
    journal.append(1, b"x").expect("memory takes it");
    journal.snapshot(4, b"state").expect("memory takes it");
    disk.flip("00000000000000000004.snapshot", 500);
    assert_eq!(open(&disk).expect("all records are there"), (4, None));
    disk.take("00000000000000000004.snapshot.damaged");
    disk.put("00000000000000000005.snapshot", b"damaged".to_vec());
    let text = refusal(&disk);
    assert!(text.starts_with("disk/00000000000000000005.snapshot: byte 0: record 5: "), "{text}");
}

#[test]
fn one_process_writes_a_journal_and_each_has_a_later_incarnation() {
    let disk = Disk::new(4);
    let (first, recovered) = Journal::open(disk.folder(), "north", 1).expect("an empty folder");
    assert_eq!(recovered.incarnation, 1);
    let error = Journal::open(disk.folder(), "north", 1).map(drop).expect_err("it is open");
    assert_eq!(error.to_string(), "disk/lock: another process writes this journal; end it first");
    drop(first);
    let (_, recovered) = Journal::open(disk.folder(), "north", 1).expect("it was closed");
    assert_eq!(recovered.incarnation, 2);
}

#[test]
fn a_failed_sync_is_never_repeated_and_its_records_are_not_recovered() {
    for seed in 0..50 {
        let disk = Disk::new(seed);
        let (mut journal, _) = Journal::open(disk.folder(), "north", 1 << 20).expect("empty");
        journal.append(1, b"durable").expect("memory takes it");
        journal.sync().expect("memory takes it");
        disk.fail_sync_after(0);
        journal.append(1, &[b'x'; 3000]).expect("memory takes it");
        assert!(matches!(journal.sync(), Err(Error::Storage { action: "sync", .. })));
        assert!(matches!(journal.sync(), Err(Error::Poisoned { .. })));
        // The next process must not take bytes in memory for bytes of the disk: power may go at any time.
        let (recovered, _) = open(&disk).expect("torn at most");
        disk.restart(Loss::Power);
        assert_eq!(open(&disk).expect("torn at most").0, recovered, "{seed}");
    }
}

#[test]
fn misuse_is_refused_and_the_journal_goes_on() {
    let disk = Disk::new(5);
    let (mut journal, _) = Journal::open(disk.folder(), "north", 1).expect("an empty folder");
    let long = vec![0; RECORD_MAX + 1];
    assert!(matches!(journal.append(1, &long), Err(Error::RecordSize(_))));
    assert!(matches!(journal.snapshot(1, b""), Err(Error::SnapshotNumber { .. })));
    assert_eq!(journal.append(1, &long[1..]).expect("the largest"), 1);
    journal.sync().expect("memory takes it");
    assert_eq!(open(&disk).expect("whole").0, 1);
    for key in [String::new(), "k".repeat(256)] {
        assert!(matches!(Journal::open(disk.folder(), &key, 1), Err(Error::Key(_))));
    }
}

/// A change of a file.
#[derive(Clone, Debug)]
enum Change {
    Flip(usize),
    Zero(usize, usize),
    Cut(usize),
    Insert(usize, Vec<u8>),
    Seal,
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        any::<usize>().prop_map(Change::Flip),
        (any::<usize>(), 0..2000_usize).prop_map(|(at, count)| Change::Zero(at, count)),
        any::<usize>().prop_map(Change::Cut),
        (any::<usize>(), proptest::collection::vec(any::<u8>(), 0..60))
            .prop_map(|(at, bytes)| Change::Insert(at, bytes)),
        Just(Change::Seal),
    ]
}

impl Change {
    fn apply(&self, bytes: &mut Vec<u8>) {
        let length = bytes.len();
        match self {
            Change::Flip(bit) if length > 0 => bytes[bit / 8 % length] ^= 1 << (bit % 8),
            Change::Zero(at, count) if length > 0 => {
                let at = at % length;
                bytes[at..(at + count).min(length)].fill(0);
            }
            Change::Cut(at) => bytes.truncate(at % (length + 1)),
            Change::Insert(at, new) => {
                let at = at % (length + 1);
                bytes.splice(at..at, new.iter().copied());
            }
            Change::Seal => seal(bytes),
            Change::Flip(_) | Change::Zero(..) => {}
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    /// Without new check sums, a journal that still opens has a beginning of the records that were written.
    #[test]
    fn any_damage_is_refused_or_leaves_a_beginning(
        changes in proptest::collection::vec((any::<usize>(), change()), 1..5),
    ) {
        let disk = Disk::new(6);
        let (mut journal, _) = Journal::open(disk.folder(), "north", 1000).expect("empty");
        let mut written = BTreeMap::new();
        for number in 1..=40_u64 {
            let payload = vec![number as u8; (number * 7 % 90) as usize];
            journal.append(1, &payload).expect("memory takes it");
            written.insert(number, payload);
            if number % 4 == 0 {
                journal.sync().expect("memory takes it");
            }
            if number % 12 == 0 {
                journal.snapshot(number, &number.to_le_bytes()).expect("memory takes it");
            }
        }
        disk.restart(Loss::Process);
        let names: Vec<String> = disk.contents().into_keys().collect();
        let mut is_sealed = false;
        for (file, change) in &changes {
            let name = &names[file % names.len()];
            let mut bytes = disk.contents()[name].clone();
            change.apply(&mut bytes);
            disk.put(name, bytes);
            is_sealed |= matches!(change, Change::Seal);
        }
        match Journal::open(disk.folder(), "north", 1000) {
            Err(error) => prop_assert!(!error.to_string().contains('\n'), "{error}"),
            Ok((_, recovered)) => {
                for record in recovered.records {
                    let record = record.expect("it was checked");
                    prop_assert!(is_sealed || written.get(&record.number) == Some(&record.payload));
                }
            }
        }
    }
}
