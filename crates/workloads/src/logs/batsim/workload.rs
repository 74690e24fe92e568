//! Writes the JSON workload: each run time is the delay of a profile.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use super::super::notes::{NoteKind, Notes};
use super::super::writer::{LogWriter, note_lost};
use crate::swf::{SwfHeader, SwfRecord, UNKNOWN_SPAN};
use haggle_model::Span;

/// Version of the format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BatsimVersion {
    /// Batsim 4, and those before it.
    Four,
    /// Batsim 5.
    Five,
}

/// Writes jobs, and behind them the profiles.
pub struct BatsimWorkload<W> {
    out: W,
    version: BatsimVersion,
    ids: Ids,
    profiles: BTreeSet<Delay>,
    widest: i32,
    is_first: bool,
    notes: Notes,
}

/// A profile.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Delay {
    time: Span,
    fails: bool,
}

impl Delay {
    fn name(self) -> String {
        let end = if self.fails { "-failed" } else { "" };
        format!("delay{}{end}", self.time)
    }
}

impl<W: Write> BatsimWorkload<W> {
    /// Begins the text.
    pub fn new(mut out: W, version: BatsimVersion) -> io::Result<BatsimWorkload<W>> {
        out.write_all(b"{\n\"jobs\": [")?;
        Ok(BatsimWorkload {
            out,
            version,
            ids: Ids::default(),
            profiles: BTreeSet::new(),
            widest: 0,
            is_first: true,
            notes: Notes::default(),
        })
    }

    /// Writes the profiles and the size of the machine, and returns the facts about values that were dropped or
    /// changed. Without a size in the header, it is that of the largest job.
    pub fn finish(mut self, header: &SwfHeader) -> io::Result<Notes> {
        self.out.write_all(b"\n],\n\"profiles\": {")?;
        let kind = match self.version {
            BatsimVersion::Four => "delay",
            BatsimVersion::Five => "DelayProfile",
        };
        for (at, profile) in self.profiles.iter().enumerate() {
            let comma = if at == 0 { "" } else { "," };
            let (name, time) = (profile.name(), profile.time);
            let ret = if profile.fails { ", \"ret\": 1" } else { "" };
            write!(
                self.out,
                "{comma}\n\"{name}\": {{\"type\": \"{kind}\", \"delay\": {time}{ret}}}"
            )?;
        }
        let size = header.machine_size().unwrap_or_else(|| {
            self.notes.count(NoteKind::Guessed, "size of the machine: that of the largest job");
            self.widest.unsigned_abs()
        });
        write!(self.out, "\n}},\n\"nb_res\": {size}\n}}\n")?;
        self.out.flush()?;
        Ok(self.notes)
    }
}

impl<W: Write> LogWriter for BatsimWorkload<W> {
    fn write(&mut self, record: &SwfRecord, further: &[String]) -> io::Result<bool> {
        if record.run_time <= Span::ZERO {
            let fact = "job without a run time above 0, which Batsim refuses";
            self.notes.count(NoteKind::Dropped, fact);
            return Ok(false);
        }
        note_lost(&mut self.notes, record, further);
        if record.wait != UNKNOWN_SPAN {
            self.notes.count(NoteKind::Dropped, "waiting time");
        }
        if ![0, 1].contains(&record.status) {
            self.notes.count(NoteKind::Changed, "status that is not 0 or 1: completed");
        }
        let delay = Delay { time: record.run_time, fails: record.status == 0 };
        self.profiles.insert(delay);
        self.widest = self.widest.max(record.requested_processors);
        let comma = if self.is_first { "" } else { "," };
        self.is_first = false;
        write!(self.out, "{comma}\n{{\"id\": ")?;
        match self.ids.repetition(record.number) {
            0 => write!(self.out, "{}", record.number)?,
            repetition => {
                let fact = "one more job of this number: an id of its own, which is a text";
                self.notes.count(NoteKind::Changed, fact);
                write!(self.out, "\"{}.{repetition}\"", record.number)?;
            }
        }
        let submit = record.submit - haggle_model::Time::ZERO;
        let (processors, profile) = (record.requested_processors, delay.name());
        write!(
            self.out,
            ", \"subtime\": {submit}, \"res\": {processors}, \"profile\": \"{profile}\""
        )?;
        // A job without a limit has no such member.
        if record.requested_time > Span::ZERO {
            write!(self.out, ", \"walltime\": {}", record.requested_time)?;
        }
        self.out.write_all(b"}")?;
        Ok(true)
    }
}

/// The numbers of jobs that were written. Numbers of a log mostly follow each other, so ranges need little memory.
#[derive(Default)]
struct Ids {
    /// The last number of each range by its first one.
    ranges: BTreeMap<i64, i64>,
    repetitions: BTreeMap<i64, u64>,
}

impl Ids {
    /// How often the number was there before.
    fn repetition(&mut self, number: i64) -> u64 {
        if self.insert(number) {
            return 0;
        }
        let repetitions = self.repetitions.entry(number).or_default();
        *repetitions += 1;
        *repetitions
    }

    /// Adds a number; `false` if it is there.
    fn insert(&mut self, number: i64) -> bool {
        let below = self.ranges.range(..=number).next_back().map(|(&first, &last)| (first, last));
        let first = match below {
            Some((_, last)) if last >= number => return false,
            Some((first, last)) if last + 1 == number => first,
            _ => number,
        };
        let above = number.checked_add(1).and_then(|above| self.ranges.remove(&above));
        self.ranges.insert(first, above.unwrap_or(number));
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_repeat_are_found_in_any_order() {
        let mut ids = Ids::default();
        let found = [4, 2, 3, 3, 1, 4, 3, i64::MAX, i64::MAX].map(|number| ids.repetition(number));
        assert_eq!(found, [0, 0, 0, 1, 0, 1, 2, 0, 1]);
        assert_eq!(ids.ranges, BTreeMap::from([(1, 4), (i64::MAX, i64::MAX)]));
    }
}
