//! Co-allocation from its definition: lists of bookings, where every time is tried one by one.

use std::collections::BTreeMap;

use haggle_scheduling::coallocation::{CoallocationPolicy, FillRule, RemapRule};

/// A job of a world. A job without a home is spread if necessary.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Job {
    pub(crate) home: Option<usize>,
    pub(crate) arrival: i64,
    pub(crate) processors: u32,
    pub(crate) estimate: i64,
    pub(crate) actual: i64,
    pub(crate) overhead: i64,
}

impl Job {
    pub(crate) fn lasts(&self, time: i64, parts: usize) -> i64 {
        if parts > 1 { (time * (100 + self.overhead) + 99) / 100 } else { time }
    }
}

/// Outcome of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Story {
    pub(crate) promised: i64,
    pub(crate) start: i64,
    pub(crate) end: i64,
    pub(crate) parts: BTreeMap<usize, u32>,
}

/// Rules of a world.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules {
    pub(crate) moves: CoallocationPolicy,
    pub(crate) fill: FillRule,
    pub(crate) choice: RemapRule,
    pub(crate) rounds: u32,
}

#[derive(Clone, Debug)]
struct Booking {
    start: i64,
    end: i64,
    parts: BTreeMap<usize, u32>,
    running: bool,
    turn: usize,
}

/// Machines and their bookings.
pub(crate) struct Obvious<'a> {
    sizes: &'a [u32],
    jobs: &'a [Job],
    rules: Rules,
    booked: BTreeMap<usize, Booking>,
    turn: usize,
}

impl Obvious<'_> {
    /// Outcomes of all jobs, which are in the order of their arrival.
    pub(crate) fn run(sizes: &[u32], jobs: &[Job], rules: Rules) -> BTreeMap<usize, Story> {
        let mut world = Obvious { sizes, jobs, rules, booked: BTreeMap::new(), turn: 0 };
        let mut stories: BTreeMap<usize, Story> = BTreeMap::new();
        let mut now = 0;
        while now <= jobs.last().map_or(0, |job| job.arrival) || !world.booked.is_empty() {
            world.end(now, &mut stories);
            world.start(now);
            for (id, job) in jobs.iter().enumerate().filter(|(_, job)| job.arrival == now) {
                if let Some(completion) = world.arrive(now, id, job) {
                    let story =
                        Story { promised: completion, start: 0, end: 0, parts: BTreeMap::new() };
                    stories.insert(id, story);
                }
            }
            world.start(now);
            now += 1;
        }
        stories
    }

    fn free(&self, place: usize, time: i64, without: Option<usize>) -> u32 {
        let at = |(&id, it): (&usize, &Booking)| {
            let counts = Some(id) != without && it.start <= time && time < it.end;
            if counts { it.parts.get(&place).copied().unwrap_or(0) } else { 0 }
        };
        let used: u32 = self.booked.iter().map(at).sum();
        self.sizes[place].checked_sub(used).expect("never more than there are")
    }

    fn min_free(&self, place: usize, (start, end): (i64, i64), without: Option<usize>) -> u32 {
        (start..end).map(|time| self.free(place, time, without)).min().expect("never empty")
    }

    fn horizon(&self) -> i64 {
        self.booked.values().map(|it| it.end).max().unwrap_or(0)
    }

    fn arrive(&mut self, now: i64, id: usize, job: &Job) -> Option<i64> {
        let booking = match job.home {
            Some(home) => {
                let fits = |&start: &i64| {
                    self.min_free(home, (start, start + job.estimate), None) >= job.processors
                };
                let start = (now..=self.horizon().max(now)).find(fits)?;
                let parts = BTreeMap::from([(home, job.processors)]);
                Booking { start, end: start + job.estimate, parts, running: false, turn: 0 }
            }
            None => {
                let turn = self.turn;
                self.turn = (turn + 1) % self.sizes.len();
                self.common(now, id, turn)?
            }
        };
        let end = booking.end;
        self.booked.insert(id, booking);
        Some(end)
    }

    fn alone(&self, start: i64, id: usize, turn: usize) -> Option<Booking> {
        let job = &self.jobs[id];
        let places = (0..self.sizes.len()).map(|it| (turn + it) % self.sizes.len());
        let end = start + job.estimate;
        let mut fitting =
            places.filter(|&place| self.min_free(place, (start, end), Some(id)) >= job.processors);
        let parts = BTreeMap::from([(fitting.next()?, job.processors)]);
        Some(Booking { start, end, parts, running: false, turn })
    }

    fn common(&self, now: i64, id: usize, turn: usize) -> Option<Booking> {
        let job = &self.jobs[id];
        let places = (0..self.sizes.len()).map(|it| (turn + it) % self.sizes.len());
        (now..=self.horizon().max(now)).find_map(|start| {
            if let Some(alone) = self.alone(start, id, turn) {
                return Some(alone);
            }
            let end = start + job.lasts(job.estimate, 2);
            let mut room: Vec<(usize, u32)> = places
                .clone()
                .map(|place| (place, self.min_free(place, (start, end), Some(id))))
                .collect();
            if self.rules.fill == FillRule::LargestFirst {
                room.sort_by_key(|&(_, free)| u32::MAX - free);
            }
            let mut parts = BTreeMap::new();
            for (place, free) in room {
                let part = free.min(job.processors - parts.values().sum::<u32>());
                if part > 0 {
                    parts.insert(place, part);
                }
            }
            let enough = parts.values().sum::<u32>() == job.processors;
            enough.then_some(Booking { start, end, parts, running: false, turn })
        })
    }

    fn start(&mut self, now: i64) {
        self.booked.values_mut().filter(|it| it.start <= now).for_each(|it| it.running = true);
    }

    fn end(&mut self, now: i64, stories: &mut BTreeMap<usize, Story>) {
        let mut early: BTreeMap<usize, ()> = BTreeMap::new();
        let jobs = self.jobs;
        self.booked.retain(|&id, it| {
            let actual = jobs[id].lasts(jobs[id].actual, it.parts.len());
            let ends = it.running && it.start + actual == now;
            if ends {
                let story = stories.get_mut(&id).expect("it was promised something");
                (story.start, story.end, story.parts) = (it.start, now, it.parts.clone());
                if now < it.end {
                    early.extend(it.parts.keys().map(|&place| (place, ())));
                }
            }
            !ends
        });
        for place in early.into_keys() {
            self.algorithm_3(now, place);
        }
    }

    fn algorithm_3(&mut self, now: i64, place: usize) {
        self.compress(now, place);
        let mut altered = BTreeMap::new();
        for _ in 0..self.rules.rounds {
            let mut progress = false;
            if self.free(place, now, None) == 0 || self.rules.moves == CoallocationPolicy::Rigid {
                break;
            }
            for id in self.waiting(|it| it.parts.len() > 1 && it.parts.contains_key(&place)) {
                let current = self.booked[&id].clone();
                let has_moved_away =
                    current.parts.len() == 1 || !current.parts.contains_key(&place);
                if !has_moved_away && let Some(better) = self.better(now, id) {
                    altered.extend(current.parts.keys().map(|&it| (it, ())));
                    altered.extend(better.parts.keys().map(|&it| (it, ())));
                    self.booked.insert(id, better);
                    progress = true;
                }
            }
            if !progress {
                break;
            }
        }
        altered.into_keys().for_each(|it| self.compress(now, it));
    }

    fn waiting(&self, wanted: impl Fn(&Booking) -> bool) -> Vec<usize> {
        let waiting = self.booked.iter().filter(|(_, it)| !it.running && wanted(it));
        let mut waiting: Vec<usize> = waiting.map(|(&id, _)| id).collect();
        waiting.sort_by_key(|&id| (self.booked[&id].start, self.jobs[id].arrival, id));
        waiting
    }

    fn compress(&mut self, now: i64, place: usize) {
        for id in self.waiting(|it| it.parts.keys().eq([&place])) {
            let Job { processors, estimate, .. } = self.jobs[id];
            let fits = |&start: &i64| {
                self.min_free(place, (start, start + estimate), Some(id)) >= processors
            };
            let start = (now..=self.booked[&id].start).find(fits).expect("its present place");
            let booking = self.booked.get_mut(&id).expect("it waits");
            (booking.start, booking.end) = (start, start + estimate);
        }
    }

    fn better(&self, now: i64, id: usize) -> Option<Booking> {
        let current = &self.booked[&id];
        let lasts = current.end - current.start;
        let shifted = (now..current.start).find(|&start| {
            let room = |(&place, &part): (&usize, &u32)| {
                self.min_free(place, (start, start + lasts), Some(id)) >= part
            };
            current.parts.iter().all(room)
        });
        let shifted = shifted.map(|start| Booking { start, end: start + lasts, ..current.clone() });
        let remaps = self.rules.moves == CoallocationPolicy::ShiftRemap;
        let remapped = if remaps { self.common(now, id, current.turn) } else { None };
        let alone = if remaps && self.rules.choice == RemapRule::EarliestCompletion {
            (now..=self.horizon()).find_map(|start| self.alone(start, id, current.turn))
        } else {
            None
        };
        let mut best = current.clone();
        for other in [shifted, remapped, alone].into_iter().flatten() {
            if (other.end, other.parts.len()) < (best.end, best.parts.len()) {
                best = other;
            }
        }
        let moved = (best.end, best.parts.len()) < (current.end, current.parts.len());
        moved.then_some(best)
    }
}
