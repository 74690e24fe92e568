//! How many processors, or slots of a grid's resources, were free when.

use std::collections::BTreeMap;

use haggle_results::reader::OutageRow;

use super::spent::{Ledger, Part, micros, seconds};

/// More than anybody can hold: the slots of a resource that has no limit.
pub(super) const NO_LIMIT: i64 = i64::MAX / 4;

/// Where a job could have started, and what others held there, and what was down.
pub(super) struct Supply {
    /// What the job needs at one place.
    need: i64,
    places: Vec<Place>,
    by_name: BTreeMap<String, usize>,
    changes: Vec<Change>,
    /// Changes that have been taken in.
    seen: usize,
    /// Places with enough free.
    with_room: usize,
    /// Places with enough free if nothing were down.
    with_room_if_up: usize,
}

#[derive(Clone, Copy, Default)]
struct Place {
    /// A processor there is so many units of what is counted.
    unit: i64,
    free: i64,
    down: i64,
}

/// At an instant, so much more is held and down at a place.
struct Change {
    at: i64,
    place: usize,
    held: i64,
    down: i64,
}

impl Supply {
    /// `places` are names, what there is, and how many of it a processor is.
    pub(super) fn new(need: i64, places: Vec<(String, i64, i64)>) -> Supply {
        let place =
            |&(_, capacity, unit): &(String, i64, i64)| Place { unit, free: capacity, down: 0 };
        let filled: Vec<Place> = places.iter().map(place).collect();
        let with_room = filled.iter().filter(|it| it.free >= need).count();
        Supply {
            need,
            by_name: (0..).zip(places).map(|(at, (name, ..))| (name, at)).collect(),
            places: filled,
            changes: Vec::new(),
            seen: 0,
            with_room,
            with_room_if_up: with_room,
        }
    }

    /// Somebody held so much of a place; nothing, if it is another one.
    pub(super) fn held(&mut self, place: &str, (from, until): (f64, f64), units: i64) {
        if let Some(&place) = self.by_name.get(place) {
            let (from, until) = (micros(from), micros(until));
            self.changes.push(Change { at: from, place, held: units, down: 0 });
            self.changes.push(Change { at: until, place, held: -units, down: 0 });
        }
    }

    /// Processors of a place were down.
    pub(super) fn down(&mut self, outage: &OutageRow) {
        let Some(&place) = self.by_name.get(&outage.provider) else { return };
        let down = (outage.last - outage.first + 1) * self.places[place].unit;
        let at = micros(outage.failed);
        self.changes.push(Change { at, place, held: 0, down });
        if let Some(restored) = outage.restored {
            self.changes.push(Change { at: micros(restored), place, held: 0, down: -down });
        }
    }

    /// To be called when all is known, and before anything is asked.
    pub(super) fn settled(mut self) -> Supply {
        self.changes.sort_by_key(|change| change.at);
        self
    }

    /// Takes in what changes up to an instant. Time only goes forward.
    fn seek(&mut self, time: i64) {
        while let Some(change) = self.changes.get(self.seen).filter(|it| it.at <= time) {
            let place = &mut self.places[change.place];
            let before = (place.free >= self.need, place.free + place.down >= self.need);
            place.free -= change.held + change.down;
            place.down += change.down;
            let after = (place.free >= self.need, place.free + place.down >= self.need);
            count(&mut self.with_room, before.0, after.0);
            count(&mut self.with_room_if_up, before.1, after.1);
            self.seen += 1;
        }
    }

    /// Why the job does not start now, `with_room` being the reason where it could.
    fn part(&self, with_room: Part) -> Part {
        match (self.with_room, self.with_room_if_up) {
            (0, 0) => Part::Busy,
            (0, _) => Part::Down,
            _ => with_room,
        }
    }
}

fn count(number: &mut usize, before: bool, after: bool) {
    *number = *number + usize::from(after) - usize::from(before);
}

/// A job that waits for processors: what that was for, and how many were free.
pub(super) struct Waiting {
    supply: Supply,
    /// Earliest start its user allows.
    ready: Option<i64>,
    /// Why it waits where it could start.
    with_room: Part,
    /// From when until when it waited.
    pub(super) stretches: Vec<(f64, f64)>,
    /// How many processors were free, if there is but one place.
    pub(super) free: Free,
}

impl Waiting {
    pub(super) fn new(supply: Supply, ready: Option<f64>, with_room: Part) -> Waiting {
        let (ready, free) = (ready.map(micros), Free::default());
        Waiting { supply, ready, with_room, stretches: Vec::new(), free }
    }

    /// It waited from where the ledger is until then.
    pub(super) fn until(&mut self, ledger: &mut Ledger, until: i64) {
        let until = until.min(ledger.left());
        if let Some(ready) = self.ready {
            ledger.until(until.min(ready), Part::NotReady);
        }
        let from = ledger.told();
        if from >= until {
            return;
        }
        self.stretches.push((seconds(from), seconds(until)));
        self.supply.seek(from);
        while ledger.told() < until {
            let from = ledger.told();
            let change = self.supply.changes.get(self.supply.seen);
            let next = change.map_or(until, |change| change.at.min(until));
            ledger.until(next, self.supply.part(self.with_room));
            if let [only] = self.supply.places[..] {
                self.free.see((from, next), only.free, only.free >= self.supply.need);
            }
            self.supply.seek(next);
        }
    }
}

/// How many processors were free while a job waited.
#[derive(Default)]
pub(super) struct Free {
    /// Fewest and most.
    pub(super) range: Option<(i64, i64)>,
    /// Free processors × microseconds.
    area: i128,
    time: i64,
    /// Microseconds with enough of them.
    enough: i64,
    /// When there began to be enough, and until when there were.
    stretch: Option<(i64, i64)>,
    longest: Option<(i64, i64)>,
}

impl Free {
    fn see(&mut self, (from, until): (i64, i64), free: i64, enough: bool) {
        let (low, high) = self.range.unwrap_or((free, free));
        self.range = Some((low.min(free), high.max(free)));
        self.area += i128::from(free) * i128::from(until - from);
        self.time += until - from;
        if !enough {
            return;
        }
        self.enough += until - from;
        let since = self.stretch.filter(|stretch| stretch.1 == from).map_or(from, |it| it.0);
        self.stretch = Some((since, until));
        if self.longest.is_none_or(|(a, b)| until - since > b - a) {
            self.longest = self.stretch;
        }
    }

    /// Mean over time.
    pub(super) fn mean(&self) -> f64 {
        if self.time == 0 { 0.0 } else { self.area as f64 / self.time as f64 }
    }

    /// How long there were enough, s.
    pub(super) fn enough(&self) -> f64 {
        seconds(self.enough)
    }

    /// The longest stretch with enough of them, s.
    pub(super) fn longest(&self) -> Option<(f64, f64)> {
        self.longest.map(|(from, until)| (seconds(from), seconds(until)))
    }
}
