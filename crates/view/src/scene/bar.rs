//! Bars, marks and ticks.

/// Flags of a bar.
pub mod flag {
    /// Its attempt was lost by a failure.
    pub const LOST: u8 = 1 << 4;
    /// The job still runs.
    pub const RUNNING: u8 = 1 << 5;
    /// It is planned and has not started.
    pub const PLANNED: u8 = 1 << 6;
    /// A part that was given up, because its job did not run as a whole.
    pub const GIVEN_UP: u8 = 1 << 7;
}

/// Class of a bar's job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Class {
    /// Sent by a provider's own users.
    Local = 0,
    /// Placed by a metascheduler.
    External = 1,
    /// A job of a grid.
    GridTask = 2,
    /// A part of a job on several providers.
    Part = 3,
    /// A share of a bag of tasks.
    BagShare = 4,
    /// A reservation.
    Reservation = 5,
}

/// Processors or slots that an attempt of a job held for some time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bar {
    /// Start, µs.
    pub start: i64,
    /// End, µs; not before the start.
    pub end: i64,
    /// First row.
    pub row: u32,
    /// Number of rows, at least 1.
    pub rows: u32,
    /// The job's number in the run.
    pub job: u32,
    /// Number of the attempt, from 1; later ones than 65,535 have this number.
    pub attempt: u16,
    /// [`Class`] in the low four bits, and [`flag`]s.
    pub look: u8,
    /// Colour: the number of its workload modulo 8.
    pub colour: u8,
}

impl Bar {
    /// Length, µs.
    pub fn length(&self) -> i64 {
        self.end - self.start
    }

    /// The style of the interface, without a comparison.
    pub fn style(&self) -> u32 {
        u32::from(self.look) | u32::from(self.colour) << 16
    }

    /// Sets the class.
    pub fn set_class(&mut self, class: Class) {
        self.look = self.look & 0xf0 | class as u8;
    }

    /// True if its work was lost or given up.
    pub fn is_lost(&self) -> bool {
        self.look & (flag::LOST | flag::GIVEN_UP) != 0
    }
}

/// Result of the comparison of a job with the same job of another view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Compared {
    /// Not compared.
    Not = 0,
    /// Same place and start.
    Same = 1,
    /// It starts earlier here.
    Earlier = 2,
    /// It starts later here.
    Later = 3,
    /// It runs on another provider.
    Elsewhere = 4,
    /// The other view does not have it.
    OnlyHere = 5,
}

/// Time in which rows could not be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    /// Start, µs.
    pub start: i64,
    /// End, µs.
    pub end: i64,
    /// First row.
    pub row: u32,
    /// Number of rows.
    pub rows: u32,
    /// Cause.
    pub kind: MarkKind,
}

/// Cause of a mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum MarkKind {
    /// Processors failed.
    Failure = 1,
    /// Processors were closed.
    Maintenance = 2,
    /// The actor was down.
    Crash = 3,
}

/// A promised completion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tick {
    /// The promised time, µs.
    pub time: i64,
    /// First row of the job's bar.
    pub row: u32,
    /// Number of rows.
    pub rows: u32,
    /// The job's number in the run.
    pub job: u32,
    /// Outcome.
    pub kind: TickKind,
}

/// Outcome of a promise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum TickKind {
    /// The job ended in time.
    Kept = 1,
    /// It did not.
    Broken = 2,
    /// Not known yet.
    Open = 3,
}
