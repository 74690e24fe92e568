//! The knowledge of a provider: its machine, its work, and its promises.
//!
//! The end of an attempt and its outcome belong to the machine, which knows the program. A glimpse has the
//! planned end only.

use std::collections::BTreeMap;

use haggle_model::Time;
use haggle_scheduling::{LocalQueue, Request, Slot};

use super::Services;
use crate::glimpse::{Census, Glimpse, Stage, Work, known};
use crate::provider::core::{Core, Piece};

impl Services {
    /// The machine, the work and the promises of the provider.
    pub(in crate::provider) fn glimpse(&self, core: &Core, now: Time) -> Glimpse {
        let mut queue = core.scheduler.clone();
        let (mut running, mut waiting, mut others) = (Vec::new(), Vec::new(), Vec::new());
        let mut promises = Vec::new();
        for (slot, piece) in core.pieces.iter() {
            for mut work in works(piece) {
                if work.stage == Stage::Waiting && core.able.starts {
                    work.start =
                        queue.starts().planned_start(now, slot).and_then(known).or(work.start);
                }
                if let (Piece::Job(held), None, Some(start)) = (piece, work.end, work.start) {
                    work.end = held.planned_end(start, &core.config);
                }
                match work.stage {
                    Stage::Running | Stage::Occupying => running.push(work),
                    Stage::Waiting => waiting.push((slot, work)),
                    _ => others.push(work),
                }
            }
            promises.extend(piece.promises());
        }
        running.sort_by_key(|work: &Work| (work.start, work.job));
        others.sort_by_key(|work: &Work| work.job);
        let waiting = in_order(core, &queue, waiting);
        promises.extend(self.windows.promises(core));
        promises.extend(self.bargains.iter().flat_map(|it| it.promises()));
        promises.extend(self.transactions.iter().flat_map(|it| it.promises()));
        let held = self.bargains.iter().flat_map(|it| it.held());
        let jobs = running.into_iter().chain(waiting).chain(others).chain(held).collect();
        Glimpse { machine: Some(core.machine.glimpse()), jobs, promises, facts: Vec::new() }
    }
}

impl Services {
    /// The machine, and the jobs that run there.
    pub(in crate::provider) fn census(&self, core: &Core) -> Census {
        let works = core.pieces.iter().flat_map(|(_, piece)| works(piece));
        let running = works.filter(|work| work.stage == Stage::Running).map(|work| work.job);
        Census::new(core.machine.glimpse(), running)
    }
}

/// The rows of a piece.
fn works(piece: &Piece) -> Vec<Work> {
    match piece {
        Piece::Job(held) => vec![held.glimpse()],
        Piece::Expected(expected) => vec![expected.glimpse()],
        Piece::Share(share) => share.glimpse(),
        Piece::Part(part) => vec![part.glimpse()],
        Piece::Booking(booking) => vec![booking.glimpse()],
        // The call for offers has them.
        Piece::Held => Vec::new(),
    }
}

/// Waiting work in the order of the queue.
fn in_order(core: &Core, queue: &LocalQueue, mut waiting: Vec<(Slot, Work)>) -> Vec<Work> {
    waiting.sort_by_key(|(slot, work)| (work.since, *slot));
    let request = |(slot, work): &(Slot, Work)| match core.pieces.at(*slot) {
        Some(Piece::Job(held)) => held.queued_request(*slot, &core.config),
        _ => Request::new(*slot, work.processors, None),
    };
    let mut requests = Vec::from_iter(waiting.iter().map(request));
    queue.sort(&mut requests);
    let places = requests.iter().zip(0_usize..).map(|(request, place)| (request.slot, place));
    let places = BTreeMap::from_iter(places);
    waiting.sort_by_key(|(slot, _)| places.get(slot).copied());
    waiting.into_iter().map(|(_, work)| work).collect()
}
