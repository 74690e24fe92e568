//! A journal, and a plain list of the records that it must have.

use haggle_journal::testing::{Disk, DiskFolder, Loss};
use haggle_journal::{Cut, Error, Journal, Reader, Record};

/// A journal on a disk that fails, beside the truth about it.
pub(crate) struct World {
    pub(crate) disk: Disk,
    segment_bytes: u64,
    journal: Option<Journal<DiskFolder>>,
    /// All records in order. Number 1 is at place 0.
    records: Vec<(u8, Vec<u8>)>,
    /// Number of the last record that is durable.
    durable: u64,
    /// Number of the last snapshot that is durable.
    snapshot: u64,
    incarnation: u32,
    /// Records so far, lost ones included: no two are equal.
    drawn: usize,
}

/// A step of a process.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    /// A record with a payload of this size.
    Append(usize),
    Sync,
    /// A snapshot after the record this far before the last one.
    Snapshot(u64),
    /// The end of the process.
    End(Loss),
    /// The end of the process within a later operation.
    EndAfter(u64, Loss),
    FailSync(u64),
    Room(usize),
}

impl World {
    pub(crate) fn new(seed: u64, segment_bytes: u64) -> World {
        World {
            disk: Disk::new(seed),
            segment_bytes,
            journal: None,
            records: Vec::new(),
            durable: 0,
            snapshot: 0,
            incarnation: 0,
            drawn: 0,
        }
    }

    /// Does all steps, and opens the journal at the end.
    pub(crate) fn run(mut self, steps: &[Step]) -> World {
        let mut loss = Loss::Process;
        for step in steps {
            match *step {
                Step::End(end) => self.restart(end),
                Step::EndAfter(operations, end) => {
                    self.disk.end_after(operations);
                    loss = end;
                }
                Step::FailSync(syncs) => self.disk.fail_sync_after(syncs),
                Step::Room(bytes) => self.disk.leave_room(Some(bytes)),
                _ => self.work(step, loss),
            }
        }
        self.restart(loss);
        self.open().expect("a crash leaves a good journal");
        self
    }

    fn restart(&mut self, loss: Loss) {
        self.journal = None;
        self.disk.restart(loss);
    }

    /// Does a step of a process that has the journal open. After a failure the process must end.
    fn work(&mut self, step: &Step, loss: Loss) {
        if self.journal.is_none()
            && let Err(error) = self.open()
        {
            // Only the disk makes it fail, never the state that a crash has left.
            assert!(matches!(error, Error::Storage { .. }), "{error}");
            return self.restart(loss);
        }
        let done = match *step {
            Step::Append(size) => self.append(size),
            Step::Sync => self.sync(),
            Step::Snapshot(back) => self.keep(back),
            _ => unreachable!("no step of a process"),
        };
        if let Err(error) = done {
            assert!(matches!(error, Error::Storage { .. }), "{error}");
            let journal = self.journal.as_mut().expect("it was opened");
            let poisoned = [
                journal.append(0, b"x").map(drop),
                journal.sync(),
                journal.snapshot(self.snapshot, b"x"),
            ];
            for done in poisoned {
                assert!(matches!(done, Err(Error::Poisoned { .. })), "{done:?}");
            }
            self.restart(loss);
        }
    }

    fn append(&mut self, size: usize) -> Result<(), Error> {
        let (kind, payload) = self.draw(size);
        let journal = self.journal.as_mut().expect("it was opened");
        self.records.push((kind, payload.clone()));
        let number = journal.append(kind, &payload)?;
        assert_eq!(number, self.records.len() as u64);
        Ok(())
    }

    fn sync(&mut self) -> Result<(), Error> {
        self.journal.as_mut().expect("it was opened").sync()?;
        self.durable = self.records.len() as u64;
        Ok(())
    }

    fn keep(&mut self, back: u64) -> Result<(), Error> {
        let number = (self.records.len() as u64).saturating_sub(back).max(self.snapshot);
        let state = self.state(number);
        self.journal.as_mut().expect("it was opened").snapshot(number, &state)?;
        self.durable = self.records.len() as u64;
        self.snapshot = number;
        Ok(())
    }

    /// The state after a record: as with an actor, a function of the records up to it.
    fn state(&self, number: u64) -> Vec<u8> {
        let records = self.records[..number as usize].iter();
        let mut state: Vec<u8> = records.flat_map(|(kind, payload)| [*kind, payload[0]]).collect();
        state.resize(state.len() + 700, 1);
        state
    }

    /// Bytes that no other record has; some have empty sectors.
    fn draw(&mut self, size: usize) -> (u8, Vec<u8>) {
        self.drawn += 1;
        let fill = if self.drawn.is_multiple_of(3) { 0 } else { self.drawn as u8 };
        let mut payload = self.drawn.to_le_bytes().to_vec();
        payload.resize(size.max(payload.len()), fill);
        (self.drawn as u8, payload)
    }

    /// Opens the journal, and compares it with the truth.
    fn open(&mut self) -> Result<Option<Cut>, Error> {
        let (journal, recovered) = Journal::open(self.disk.folder(), "north", self.segment_bytes)?;
        assert!(recovered.incarnation > self.incarnation, "the incarnation was there before");
        self.incarnation = recovered.incarnation;
        assert!(recovered.damaged.is_empty(), "{:?}", recovered.damaged);
        let mut names = self.disk.contents().into_keys();
        assert!(names.all(|name| !name.ends_with(".new")), "a file that is not finished");
        let mut next = 1;
        if let Some(snapshot) = recovered.snapshot {
            assert!(self.state(snapshot.number) == snapshot.state, "another state");
            next = snapshot.number + 1;
        }
        assert!(next > self.snapshot, "snapshot {} is lost", self.snapshot);
        self.snapshot = next - 1;
        let end = self.compare(next, recovered.records);
        assert!(end >= self.durable, "record {} is durable, but the last is {end}", self.durable);
        self.records.truncate(end as usize);
        self.durable = end;
        self.journal = Some(journal);
        let reader = Reader::open(&self.disk.folder()).expect("it was just opened");
        let from = reader.snapshot.map_or(1, |it| it.number + 1);
        assert!(from <= next, "the reader has an older beginning");
        assert_eq!(self.compare(from, reader.records), end);
        Ok(recovered.cut)
    }

    /// Compares records from a number on, and returns the number of the last one.
    fn compare(&self, from: u64, records: impl Iterator<Item = Result<Record, Error>>) -> u64 {
        let mut next = from;
        for record in records {
            let Record { number, kind, payload } = record.expect("it was checked");
            assert_eq!(number, next);
            let truth = self.records.get(number as usize - 1);
            assert!(truth == Some(&(kind, payload)), "record {number} is another one");
            next += 1;
        }
        next - 1
    }
}
