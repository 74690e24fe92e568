//! Jobs whose parts start together on several providers: what each part waited for, and where they were booked.

use haggle_results::reader::BookingRow;
use serde::Serialize;

use super::spent::{Ledger, Part, micros, seconds};
use super::supply::{Market, Supply};

/// A place at which a job was booked.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Booked {
    /// When.
    pub time: f64,
    /// The provider with idle processors that had asked to have the job moved; `None` = its first place.
    pub asked_by: Option<String>,
    /// Planned start.
    pub start: f64,
    /// Planned completion; `None` = without a limit.
    pub finish: Option<f64>,
    /// Who was to give how many processors.
    pub parts: Vec<(String, i64)>,
}

/// The places of a job, in order of time.
pub(super) fn bookings(job: i64, rows: &[BookingRow]) -> Vec<Booked> {
    let own = Vec::from_iter(rows.iter().filter(|row| row.job == job));
    let place = |rows: &[&BookingRow]| Booked {
        time: rows[0].time,
        asked_by: rows[0].asked_by.clone(),
        start: rows[0].start,
        finish: rows[0].finish,
        parts: rows.iter().map(|row| (row.holder.clone(), row.processors)).collect(),
    };
    own.chunk_by(|a, b| a.number == b.number).map(place).collect()
}

/// How long too few processors were free for a part, or its provider could not start it.
#[derive(Clone, Copy, Default)]
pub(super) struct Short {
    time: i64,
    /// Until when it was so last.
    until: Option<i64>,
}

impl Short {
    /// How long, s.
    pub(super) fn time(self) -> f64 {
        seconds(self.time)
    }

    /// Until when last; `None` = never.
    pub(super) fn until(self) -> Option<f64> {
        self.until.map(seconds)
    }
}

/// Tells what a job waited for up to an instant: all of its parts, at these providers, have to have room at
/// once.
pub(super) fn tell(
    ledger: &mut Ledger,
    market: &Market,
    parts: &[(&str, i64)],
    (ready, until): (Option<f64>, i64),
) -> Vec<Short> {
    let supply = |&(provider, need): &(&str, i64)| market.supply(need, std::iter::once(provider));
    let mut supplies: Vec<Supply<'_>> = parts.iter().map(supply).collect();
    let mut short = vec![Short::default(); parts.len()];
    let until = until.min(ledger.left());
    ledger.until(until.min(ready.map_or(0, micros)), Part::NotReady);
    while ledger.told() < until && !supplies.is_empty() {
        let from = ledger.told();
        supplies.iter_mut().for_each(|it| it.seek(from));
        let next = supplies[0].next().map_or(until, |next| next.min(until));
        let reasons = Vec::from_iter(supplies.iter().map(|it| it.part(Part::Order)));
        for (short, _) in short.iter_mut().zip(&reasons).filter(|(_, it)| **it != Part::Order) {
            short.time += next - from;
            short.until = Some(next);
        }
        ledger.until(next, worst(&reasons));
    }
    short
}

/// Why a job does not start whose parts do not for these reasons: because others run, if that is one.
fn worst(reasons: &[Part]) -> Part {
    let order = [Part::Busy, Part::Maintenance, Part::Down, Part::SchedulerDown];
    order.into_iter().find(|it| reasons.contains(it)).unwrap_or(Part::Order)
}
