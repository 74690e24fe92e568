//! Free processors, or free slots of a grid's resources, over time.

use std::collections::{BTreeMap, BTreeSet};

use haggle_model::{Span, Time};
use haggle_results::reader::{CrashRow, MaintenanceRow, OutageRow};

use super::spent::{Ledger, Part, micros, seconds};

/// Slots of a resource without a limit: more than can ever be held.
pub(super) const NO_LIMIT: i64 = i64::MAX / 4;

/// All places where jobs may start, with their held and unavailable processors over time.
#[derive(Default)]
pub(super) struct Market {
    by_name: BTreeMap<String, usize>,
    /// Size of each place, and the size of one processor.
    sizes: Vec<(i64, i64)>,
    /// Changes in order of time.
    changes: Vec<Change>,
}

/// Change at an instant of the held, down and closed processors of a place, or of its scheduler.
struct Change {
    at: i64,
    place: usize,
    held: i64,
    /// Processors down, except those that are closed anyway.
    down: i64,
    /// Processors in maintenance.
    closed: i64,
    /// Crashes of schedulers, less restarts.
    crashed: i64,
}

impl Change {
    fn at(at: f64, place: usize) -> Change {
        Change { at: micros(at), place, held: 0, down: 0, closed: 0, crashed: 0 }
    }
}

impl Market {
    /// `places` are names, sizes, and the size of one processor. `held` has the place, start, end
    /// and amount of each use.
    pub(super) fn new<'a>(
        places: impl Iterator<Item = (String, i64, i64)>,
        held: impl Iterator<Item = (&'a str, f64, f64, i64)>,
        outages: &[OutageRow],
        crashes: &[CrashRow],
        maintenance: &[MaintenanceRow],
    ) -> Market {
        let (mut by_name, mut sizes) = (BTreeMap::new(), Vec::new());
        for (name, size, unit) in places {
            by_name.insert(name, sizes.len());
            sizes.push((size, unit));
        }
        let mut changes = Vec::new();
        for (place, from, until, held) in held {
            let Some(&place) = by_name.get(place) else { continue };
            changes.push(Change { held, ..Change::at(from, place) });
            changes.push(Change { held: -held, ..Change::at(until, place) });
        }
        for outage in outages {
            let Some(&place) = by_name.get(&outage.provider) else { continue };
            let down = (outage.last - outage.first + 1) * sizes[place].1;
            changes.push(Change { down, ..Change::at(outage.failed, place) });
            if let Some(restored) = outage.restored {
                changes.push(Change { down: -down, ..Change::at(restored, place) });
            }
        }
        for window in maintenance {
            let Some((&place, (first, last))) =
                by_name.get(&window.provider).zip(window.interval())
            else {
                continue;
            };
            let closed = last - first + 1;
            changes.push(Change { closed, ..Change::at(window.start, place) });
            changes.push(Change { closed: -closed, ..Change::at(window.end, place) });
            // A processor that fails while it is closed is missing only once.
            for outage in outages.iter().filter(|it| it.provider == window.provider) {
                let both = outage.last.min(last) - outage.first.max(first) + 1;
                let from = outage.failed.max(window.start);
                let until = outage.restored.map_or(window.end, |it| it.min(window.end));
                if both > 0 && from < until {
                    changes.push(Change { down: -both, ..Change::at(from, place) });
                    changes.push(Change { down: both, ..Change::at(until, place) });
                }
            }
        }
        for crash in crashes {
            let Some(&place) = by_name.get(&crash.actor) else { continue };
            changes.push(Change { crashed: 1, ..Change::at(crash.crash, place) });
            if let Some(restart) = crash.restart {
                changes.push(Change { crashed: -1, ..Change::at(restart, place) });
            }
        }
        // Stable: changes of one instant are applied together, so their order does not matter.
        changes.sort_by_key(|change| change.at);
        Market { by_name, sizes, changes }
    }

    /// Supply for a job that needs so much at one of these places.
    pub(super) fn supply<'a>(
        &self,
        need: i64,
        places: impl Iterator<Item = &'a str>,
    ) -> Supply<'_> {
        let chosen = places.filter_map(|place| self.by_name.get(place).copied()).collect();
        Supply::new(self, need, chosen)
    }

    /// Supply at any place.
    pub(super) fn supply_anywhere(&self, need: i64) -> Supply<'_> {
        Supply::new(self, need, (0..self.sizes.len()).collect())
    }
}

/// Places where a job could have started, and the free processors there at successive instants.
pub(super) struct Supply<'a> {
    market: &'a Market,
    /// Need of the job at one place.
    need: i64,
    /// Levels by place; `None` where the job cannot start.
    levels: Vec<Option<Level>>,
    /// The place, if there is only one.
    only: Option<usize>,
    /// Number of changes that have been applied.
    seen: usize,
    /// Places with enough free processors whose scheduler is up.
    can_start: usize,
    /// Places with enough free processors.
    with_room: usize,
    /// Places with enough free processors if none were down.
    with_room_if_up: usize,
    /// Places with enough free processors if none were in maintenance.
    with_room_if_open: usize,
    /// Places with enough free processors if none were down or in maintenance.
    with_room_if_both: usize,
}

#[derive(Clone, Copy)]
struct Level {
    free: i64,
    down: i64,
    closed: i64,
    crashed: i64,
}

impl<'a> Supply<'a> {
    fn new(market: &'a Market, need: i64, places: BTreeSet<usize>) -> Supply<'a> {
        let mut levels = vec![None; market.sizes.len()];
        for &place in &places {
            let free = market.sizes[place].0;
            levels[place] = Some(Level { free, down: 0, closed: 0, crashed: 0 });
        }
        let with_room = places.iter().filter(|&&place| market.sizes[place].0 >= need).count();
        let only = places.first().copied().filter(|_| places.len() == 1);
        Supply {
            market,
            need,
            levels,
            only,
            seen: 0,
            can_start: with_room,
            with_room,
            with_room_if_up: with_room,
            with_room_if_open: with_room,
            with_room_if_both: with_room,
        }
    }

    /// Time of the next change.
    pub(super) fn next(&self) -> Option<i64> {
        self.market.changes.get(self.seen).map(|change| change.at)
    }

    /// Applies all changes up to an instant, which must not be earlier than the last one.
    pub(super) fn seek(&mut self, time: i64) {
        while let Some(change) = self.market.changes.get(self.seen).filter(|it| it.at <= time) {
            self.seen += 1;
            // The job cannot start at that place.
            let Some(place) = &mut self.levels[change.place] else { continue };
            let before = place.offers(self.need);
            place.free -= change.held + change.down + change.closed;
            place.down += change.down;
            place.closed += change.closed;
            place.crashed += change.crashed;
            let after = place.offers(self.need);
            let counts = [
                &mut self.can_start,
                &mut self.with_room,
                &mut self.with_room_if_up,
                &mut self.with_room_if_open,
                &mut self.with_room_if_both,
            ];
            for (count, (before, after)) in counts.into_iter().zip(before.into_iter().zip(after)) {
                // Added first, because the count is unsigned.
                *count = *count + usize::from(after) - usize::from(before);
            }
        }
    }

    /// Reason why the job does not start now; `can_start` is the reason if it could.
    pub(super) fn part(&self, can_start: Part) -> Part {
        match (self.can_start, self.with_room) {
            // Maintenance precedes outages, so it counts if the end of either would give room.
            (0, 0) if self.with_room_if_open > 0 => Part::Maintenance,
            (0, 0) if self.with_room_if_up > 0 => Part::Down,
            (0, 0) if self.with_room_if_both > 0 => Part::Maintenance,
            (0, 0) => Part::Busy,
            // There is room, so only a scheduler that is down can be the reason.
            (0, _) => Part::SchedulerDown,
            _ => can_start,
        }
    }
}

impl Level {
    /// True if, in order: a job with this need could start here; it has room; it would have room
    /// with nothing down, with nothing closed, and with neither.
    fn offers(self, need: i64) -> [bool; 5] {
        let has_room = self.free >= need;
        let if_up = self.free + self.down >= need;
        let if_open = self.free + self.closed >= need;
        let if_both = self.free + self.down + self.closed >= need;
        [has_room && self.crashed == 0, has_room, if_up, if_open, if_both]
    }
}

/// A job that waits for processors: parts of its wait, and the free processors.
pub(super) struct Waiting<'a> {
    supply: Supply<'a>,
    /// Earliest start its user allows.
    ready: Option<i64>,
    /// Time at which its data arrive.
    data: Option<i64>,
    /// Start that its log has recorded, before which its provider does not start it.
    recorded: Option<i64>,
    /// Reason of the wait while it could start.
    can_start: Part,
    /// Time between the passes of the scheduler, if it decides at multiples of it.
    interval: Option<Span>,
    /// Intervals in which it could not start because a window of maintenance was too near; in any
    /// order.
    windows: Vec<(i64, i64)>,
    /// Intervals in which a resource of nodes was missing, in order.
    nodes: Vec<(i64, i64, Part)>,
    /// Intervals in which a limit kept it from its start, in order.
    limits: Vec<(i64, i64, Part)>,
    /// Intervals in which it waited.
    pub(super) stretches: Vec<(f64, f64)>,
    /// Free processors, if there is only one place.
    pub(super) free: Free,
}

impl<'a> Waiting<'a> {
    pub(super) fn new(supply: Supply<'a>, ready: Option<f64>, can_start: Part) -> Waiting<'a> {
        let (ready, free) = (ready.map(micros), Free::default());
        let (windows, nodes, limits, stretches) = Default::default();
        let (data, recorded, interval) = (None, None, None);
        Waiting {
            supply,
            ready,
            data,
            recorded,
            can_start,
            interval,
            windows,
            nodes,
            limits,
            stretches,
            free,
        }
    }

    /// The same job, with data that arrive at `data`.
    pub(super) fn for_data(mut self, data: Option<f64>) -> Waiting<'a> {
        self.data = data.map(micros);
        self
    }

    /// The same job at a provider that starts it when its log says: at `start`, if the log does.
    pub(super) fn recorded(mut self, start: Option<f64>) -> Waiting<'a> {
        self.recorded = start.map(micros);
        self
    }

    /// The same job at a provider whose scheduler decides at multiples of an interval.
    pub(super) fn until_passes(mut self, interval: Option<Span>) -> Waiting<'a> {
        self.interval = interval;
        self
    }

    /// The first pass since when enough processors are free, if that is later than `now`. Its nodes lacked another
    /// resource until `lacked_until`.
    fn next_pass(&self, now: i64, lacked_until: i64) -> Option<i64> {
        // A pass that left it waiting had another reason.
        let since = self.free.stretch.filter(|stretch| stretch.1 == now).map_or(now, |it| it.0);
        let pass =
            Time::from_micros(since.max(lacked_until)).next_multiple_of(self.interval?).as_micros();
        (pass > now).then_some(pass)
    }

    /// The same job at a provider with these windows of maintenance. The job is planned to take
    /// `planned` seconds, or has no limit. It does not start if a window that leaves too few
    /// processors would begin before its end.
    pub(super) fn before_windows<'w>(
        mut self,
        planned: Option<f64>,
        windows: impl Iterator<Item = &'w MaintenanceRow>,
    ) -> Waiting<'a> {
        // With several places another one may be free of windows.
        let Some(only) = self.supply.only else { return self };
        let left = self.supply.market.sizes[only].0 - self.supply.need;
        let near = windows.filter(|it| it.outcome != "refused" && it.kept() > left).map(|it| {
            // A tick later than the last possible start.
            let last = planned.map_or(i64::MIN, |planned| micros(it.start) - micros(planned) + 1);
            // Before its announcement a window delays no start.
            (last.max(micros(it.announced)), micros(it.start))
        });
        self.windows = near.collect();
        self
    }

    /// The same job, at a provider whose nodes lack a resource in these intervals.
    pub(super) fn on_nodes(mut self, missing: Vec<(i64, i64, Part)>) -> Waiting<'a> {
        self.nodes = missing;
        self
    }

    /// The same job, which limits kept from its start in these intervals.
    pub(super) fn limited(mut self, limits: Vec<(i64, i64, Part)>) -> Waiting<'a> {
        self.limits = limits;
        self
    }

    /// The limit that keeps it from its start, if there is one, and the latest end of this answer.
    fn limit(&self, now: i64, until: i64) -> (Option<Part>, i64) {
        let next = self.limits.partition_point(|&(_, to, _)| to <= now);
        match self.limits.get(next) {
            Some(&(from, to, part)) if from <= now => (Some(part), until.min(to)),
            Some(&(from, ..)) => (None, until.min(from)),
            None => (None, until),
        }
    }

    /// Reason why it does not start although it could, and the latest end of this reason.
    fn where_it_could(&self, now: i64, until: i64) -> (Part, i64) {
        let next = self.nodes.partition_point(|&(_, to, _)| to <= now);
        let missing = self.nodes.get(next);
        if let Some(&(_, to, part)) = missing.filter(|it| it.0 <= now) {
            return (part, until.min(to));
        }
        let until = missing.map_or(until, |&(from, ..)| until.min(from));
        let lacked_until = next.checked_sub(1).map_or(i64::MIN, |last| self.nodes[last].1);
        if let Some(pass) = self.next_pass(now, lacked_until) {
            return (Part::Pass, until.min(pass));
        }
        let ahead = self.windows.iter().find(|&&(from, to)| from <= now && now < to);
        match ahead {
            Some(&(_, to)) => (Part::Maintenance, until.min(to)),
            None => {
                let later = self.windows.iter().map(|&(from, _)| from).filter(|&from| from > now);
                (self.can_start, later.fold(until, i64::min))
            }
        }
    }

    /// Fills the ledger until then: the job waited.
    pub(super) fn until(&mut self, ledger: &mut Ledger, until: i64) {
        let until = until.min(ledger.left());
        // First the user's time, then the data, then the processors: the earlier reason hides the later ones.
        if let Some(ready) = self.ready {
            ledger.until(until.min(ready), Part::NotReady);
        }
        if let Some(data) = self.data {
            ledger.until(until.min(data), Part::Transfers);
        }
        if let Some(recorded) = self.recorded {
            ledger.until(until.min(recorded), Part::Recorded);
        }
        let from = ledger.told();
        if from >= until {
            return;
        }
        self.stretches.push((seconds(from), seconds(until)));
        self.supply.seek(from);
        while ledger.told() < until {
            let from = ledger.told();
            let next = self.supply.next().map_or(until, |next| next.min(until));
            // The reason may end before the next change of the supply. With or without processors, a limit keeps the
            // job from its start.
            let (limit, next) = self.limit(from, next);
            let (can_start, next) = self.where_it_could(from, next);
            ledger.until(next, limit.unwrap_or_else(|| self.supply.part(can_start)));
            if let Some(level) = self.supply.only.and_then(|only| self.supply.levels[only]) {
                self.free.see((from, next), level.free, level.free >= self.supply.need);
            }
            self.supply.seek(next);
        }
    }
}

/// Free processors while a job waited.
#[derive(Default)]
pub(super) struct Free {
    /// Fewest and most free processors.
    pub(super) range: Option<(i64, i64)>,
    /// Free processors × microseconds.
    area: i128,
    time: i64,
    /// Microseconds with enough free processors.
    enough: i64,
    /// Start and end of the current stretch with enough free processors.
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
        // A stretch that ended here goes on.
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

    /// Time with enough free processors, s.
    pub(super) fn enough(&self) -> f64 {
        seconds(self.enough)
    }

    /// The longest stretch with enough free processors, s.
    pub(super) fn longest(&self) -> Option<(f64, f64)> {
        self.longest.map(|(from, until)| (seconds(from), seconds(until)))
    }
}
