//! Jobs whose parts start together on several providers: the wait of each part, and the bookings.

use haggle_results::reader::BookingRow;
use serde::Serialize;

use super::spent::{Ledger, Part, micros, seconds};
use super::supply::{Market, Supply};

/// A booking of a job.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Booked {
    /// Time of the booking.
    pub time: f64,
    /// The provider with idle processors that asked for the move; `None` = its first booking.
    pub asked_by: Option<String>,
    /// Planned start.
    pub start: f64,
    /// Planned completion; `None` = no limit.
    pub finish: Option<f64>,
    /// Providers with the processors that each was to give.
    pub parts: Vec<(String, i64)>,
}

/// The bookings of a job, in order of time.
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

/// Time in which a part had too few free processors, or its provider could not start it.
#[derive(Clone, Copy, Default)]
pub(super) struct Short {
    time: i64,
    /// End of the last such time.
    until: Option<i64>,
}

impl Short {
    /// Such time, s.
    pub(super) fn time(self) -> f64 {
        seconds(self.time)
    }

    /// End of the last such time; `None` = never.
    pub(super) fn until(self) -> Option<f64> {
        self.until.map(seconds)
    }
}

/// Fills the ledger with the wait of a job up to an instant. All of its parts must have room at
/// these providers at the same time. In the intervals `lost`, parts of it ran in vain.
pub(super) fn tell(
    ledger: &mut Ledger,
    market: &Market,
    parts: &[(&str, i64)],
    (ready, until): (Option<f64>, i64),
    lost: &[(i64, i64)],
) -> Vec<Short> {
    let supply = |&(provider, need): &(&str, i64)| market.supply(need, std::iter::once(provider));
    let mut supplies: Vec<Supply<'_>> = parts.iter().map(supply).collect();
    let mut short = vec![Short::default(); parts.len()];
    let until = until.min(ledger.left());
    ledger.until(until.min(ready.map_or(0, micros)), Part::NotReady);
    let mut lost = lost.iter().copied().peekable();
    while ledger.told() < until && !supplies.is_empty() {
        let from = ledger.told();
        if let Some((_, end)) = lost.next_if(|&(start, _)| start <= from) {
            ledger.until(end.min(until), Part::Lost);
            continue;
        }
        let until = lost.peek().map_or(until, |&(start, _)| start.min(until));
        supplies.iter_mut().for_each(|it| it.seek(from));
        // All supplies follow one market, so the first one has the next change of all.
        let next = supplies[0].next().map_or(until, |next| next.min(until));
        let reasons = Vec::from_iter(supplies.iter().map(|it| it.part(Part::Order)));
        for (short, _) in short.iter_mut().zip(&reasons).filter(|(_, it)| **it != Part::Order) {
            short.time += next - from;
            short.until = Some(next);
        }
        // The job waits as long as one of its parts does.
        ledger.until(next, worst(&reasons));
    }
    short
}

/// Reason why a job of several parts does not start. Among the reasons of its parts, running jobs
/// come first.
fn worst(reasons: &[Part]) -> Part {
    let order = [Part::Busy, Part::Maintenance, Part::Down, Part::SchedulerDown];
    order.into_iter().find(|it| reasons.contains(it)).unwrap_or(Part::Order)
}
