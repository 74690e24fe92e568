//! Jobs on several machines: worked cases, and random worlds against the definition.

use std::collections::{BTreeMap, BTreeSet};

use haggle_model::{Span, Time};
use haggle_scheduling::coallocation::{
    Allocation, CoallocationPolicy, Demand, FillRule, FreeTimes, News, NoImprovement, Put,
    RemapRule, Rounds, Search, Stretch, Together, earliest_common_start, improve, shift,
    with_overhead,
};
use haggle_scheduling::{
    Compression, Interval, LocalQueue, Order, Policy, Request, SchedulerConfig, Scheduling, Slot,
};
use haggle_testing::{at_micros, micros};
use proptest::prelude::*;

use crate::obvious_coallocation::{Job, Obvious, Rules, Story};

fn slot(id: usize) -> Slot {
    Slot(id as u32)
}

const QUEUE: SchedulerConfig = SchedulerConfig {
    policy: Policy::Conservative,
    order: Order::Arrival,
    compression: Compression::ByStart,
    depth: None,
    window: None,
};

/// A job that is on several machines, or was when it arrived.
#[derive(Clone, Debug)]
struct External {
    current: Allocation,
    turn: usize,
    runs: bool,
    /// Result of the last search for a better place, and the number of changes before it.
    no_improvement: Option<(u64, NoImprovement)>,
}

/// Machines, driven by the definition: ends, Algorithm 3 at each machine with an early end, starts, arrivals, starts.
struct World<'a> {
    jobs: &'a [Job],
    sizes: &'a [u32],
    rules: Rules,
    machines: Vec<LocalQueue>,
    external: BTreeMap<usize, External>,
    /// Free times, put together from their changes.
    known: Together,
    news: News,
    /// End and planned end of running jobs, with their machines.
    running: BTreeMap<usize, (i64, i64, i64, BTreeMap<usize, u32>)>,
    stories: BTreeMap<usize, Story>,
    turn: usize,
}

impl World<'_> {
    fn run(sizes: &[u32], jobs: &[Job], rules: Rules) -> BTreeMap<usize, Story> {
        World::new(sizes, jobs, rules).until(i64::MAX).stories
    }

    fn new<'a>(sizes: &'a [u32], jobs: &'a [Job], rules: Rules) -> World<'a> {
        let machines =
            sizes.iter().map(|&size| *Scheduling::from(QUEUE).around_parts().build(size)).collect();
        let (external, running, stories) = Default::default();
        let (known, news) = (Together::nothing(sizes.len()), News::default());
        let mut world = World {
            jobs,
            sizes,
            rules,
            machines,
            external,
            known,
            news,
            running,
            stories,
            turn: 0,
        };
        world.hear(0, (at_micros(0), Time::FOREVER));
        world
    }

    fn until(mut self, end: i64) -> Self {
        let mut now = 0;
        let last = self.jobs.last().map_or(0, |job| job.arrival);
        while now <= end && (now <= last || self.is_busy()) {
            self.end(now);
            self.start(now);
            for (id, job) in self.jobs.iter().enumerate().filter(|(_, job)| job.arrival == now) {
                self.arrive(now, id, job);
            }
            self.start(now);
            now += 1;
        }
        self
    }

    fn is_busy(&self) -> bool {
        !self.running.is_empty() || self.machines.iter().any(|it| it.next_start().is_some())
    }

    fn arrive(&mut self, now: i64, id: usize, job: &Job) {
        let completion = match job.home {
            Some(home) if job.processors <= self.sizes[home] => self.queue(now, home, id, job),
            Some(_) => return,
            None => {
                let turn = self.turn;
                self.turn = (turn + 1) % self.machines.len();
                let free = self.free_times(now, None).into();
                let demand = demand(now, job);
                let found =
                    earliest_common_start(&free, &demand, turn, self.rules.fill, at_micros(now));
                self.hear(now, Default::default());
                let fill = self.rules.fill;
                let again = earliest_common_start(&self.known, &demand, turn, fill, at_micros(now));
                assert_eq!(again, found);
                let Some(current) = found else { return };
                let completion = current.completion();
                if let &[(place, _)] = &current.parts[..] {
                    assert_eq!(self.queue(now, place, id, job), completion.as_micros());
                } else {
                    for (place, part) in intervals(&current) {
                        assert!(self.machines[place].parts().hold(at_micros(now), slot(id), part));
                    }
                    self.external
                        .insert(id, External { current, turn, runs: false, no_improvement: None });
                }
                completion.as_micros()
            }
        };
        let story = Story { promised: completion, start: 0, end: 0, parts: BTreeMap::new() };
        self.stories.insert(id, story);
    }

    fn queue(&mut self, now: i64, place: usize, id: usize, job: &Job) -> i64 {
        let promise = self.machines[place].submit(at_micros(now), request(id, job));
        promise.expect("everybody has a limit").as_micros()
    }

    fn free_times(&mut self, now: i64, without: Option<usize>) -> Vec<FreeTimes> {
        let without = without.map(slot);
        self.machines.iter_mut().map(|it| it.parts().free_times(at_micros(now), without)).collect()
    }

    fn start(&mut self, now: i64) {
        let mut parts: BTreeMap<usize, BTreeMap<usize, u32>> = BTreeMap::new();
        for (place, machine) in self.machines.iter_mut().enumerate() {
            let mut started = Vec::new();
            machine.start_due(at_micros(now), &mut started);
            for Slot(id) in started {
                let id = id as usize;
                let processors = match self.external.get_mut(&id) {
                    Some(external) => {
                        external.runs = true;
                        assert_eq!(external.current.start, at_micros(now));
                        external.current.at(place)
                    }
                    None => self.jobs[id].processors,
                };
                parts.entry(id).or_default().insert(place, processors);
            }
        }
        for (id, parts) in parts {
            let job = &self.jobs[id];
            let whole: u32 = parts.values().sum();
            assert_eq!(whole, job.processors, "all parts start together");
            let end = now + job.lasts(job.actual, parts.len());
            let planned = now + job.lasts(job.estimate, parts.len());
            self.running.insert(id, (now, end, planned, parts));
        }
    }

    fn end(&mut self, now: i64) {
        let mut early = BTreeSet::new();
        for (id, (start, end, planned, parts)) in std::mem::take(&mut self.running) {
            if end > now {
                self.running.insert(id, (start, end, planned, parts));
                continue;
            }
            for &place in parts.keys() {
                self.machines[place].finished(at_micros(now), slot(id));
                if now < planned {
                    early.insert(place);
                }
            }
            self.external.remove(&id);
            let story = self.stories.get_mut(&id).expect("it was promised something");
            assert!(now <= story.promised, "no promise is broken");
            (story.start, story.end, story.parts) = (start, now, parts);
        }
        for place in early {
            self.algorithm_3(now, place);
        }
    }

    fn algorithm_3(&mut self, now: i64, place: usize) {
        self.machines[place].parts().compress(at_micros(now));
        let mut rounds = Rounds::new(self.rules.rounds);
        let mut altered = BTreeSet::new();
        loop {
            let (machine, external) = (&mut self.machines[place], &self.external);
            let asks = self.rules.moves != CoallocationPolicy::Rigid;
            let next = rounds.next(
                || asks && machine.parts().is_idle(at_micros(now)),
                || waiting(external, place),
            );
            let Some(id) = next else { break };
            let asked = self.external.get(&id).filter(|it| it.current.at(place) > 0);
            let Some(External { current, turn, no_improvement, .. }) = asked.cloned() else {
                continue;
            };
            let Rules { moves, fill, choice, .. } = self.rules;
            let what = (&demand(0, &self.jobs[id]), &current);
            let search = Search { moves, first: turn, fill, choice };
            let better = self.look(now, id, search, what, no_improvement);
            if let Some(better) = better {
                altered.extend(current.parts.iter().chain(&better.parts).map(|&(it, _)| it));
                self.rearrange(now, id, &current, better);
                rounds.moved();
            }
        }
        altered.into_iter().for_each(|place| self.machines[place].parts().compress(at_micros(now)));
    }

    /// Searches for a better place in all free times, and in the changes since the last search. Both must find the
    /// same.
    fn look(
        &mut self,
        now: i64,
        id: usize,
        search: Search,
        what: (&Demand, &Allocation),
        no_improvement: Option<(u64, NoImprovement)>,
    ) -> Option<Allocation> {
        let free = self.free_times(now, Some(id));
        let all = Together::from(free.clone());
        let better = improve(search, &all, what, None, at_micros(now)).ok();
        self.hear(now, Default::default());
        let own =
            self.machines.iter_mut().map(|it| it.parts().free_around(at_micros(now), slot(id)));
        let own: Vec<Stretch> = own.collect();
        let put: Vec<Put> =
            own.iter().enumerate().map(|(place, own)| self.known.lift(place, own)).collect();
        for (place, free) in free.iter().enumerate() {
            let known = self.known.free_times(place);
            let later = known.steps().iter().filter(|&&(step, _)| step > at_micros(now));
            assert_eq!(Vec::from_iter(later), Vec::from_iter(&free.steps()[1..]), "after {now}");
            assert_eq!(known.min_free(at_micros(now), at_micros(now + 1)), free.steps()[0].1);
        }
        let heard = self.news.count();
        let changed = no_improvement.as_ref().and_then(|(heard, _)| self.news.since(*heard));
        let since = no_improvement.as_ref().map(|(_, no_improvement)| no_improvement);
        if since.is_some_and(|it| it.holds(what, changed, at_micros(now))) {
            assert_eq!(better, None);
        }
        let again = improve(search, &self.known, what, since.zip(changed), at_micros(now));
        put.iter().rev().for_each(|put| self.known.take_back(put));
        let external = self.external.get_mut(&id).expect("it waits");
        external.no_improvement = again.as_ref().err().map(|it| (heard, it.clone()));
        assert_eq!(again.ok(), better);
        better
    }

    /// Records the changes of free times, or all that is free in this stretch if it is not empty.
    fn hear(&mut self, now: i64, (begin, end): (Time, Time)) {
        self.known.forget_before(at_micros(now));
        for (place, machine) in self.machines.iter_mut().enumerate() {
            let changed = machine.parts().take_changed(at_micros(now)).unwrap_or_default();
            let (from, until) = if begin < end { (begin, end) } else { changed };
            let changed = machine.parts().free_during(at_micros(now), from, until);
            self.known.put(place, &changed);
            if let Some((begin, end)) = changed.bounds() {
                self.news.add(begin, end);
            }
        }
    }

    fn rearrange(&mut self, now: i64, id: usize, current: &Allocation, better: Allocation) {
        for (place, part) in intervals(&better) {
            let machine = &mut self.machines[place];
            let done = if current.at(place) > 0 {
                machine.parts().prepare(at_micros(now), slot(id), part)
            } else {
                machine.parts().hold(at_micros(now), slot(id), part)
            };
            assert!(done, "what was free is");
        }
        for &(place, _) in &current.parts {
            let machine = &mut self.machines[place];
            let done = if better.at(place) > 0 {
                machine.parts().settle(at_micros(now), slot(id))
            } else {
                machine.withdraw(at_micros(now), slot(id))
            };
            assert!(done, "it had a part there");
        }
        if let &[(place, _)] = &better.parts[..] {
            self.machines[place].parts().turn_into_job(request(id, &self.jobs[id]));
            self.external.remove(&id);
        } else if let Some(external) = self.external.get_mut(&id) {
            (external.current, external.no_improvement) = (better, None);
        }
    }
}

/// A part becomes a job of the queue itself. The queue tries it at once wherever there is room, without waiting for
/// the end of another job.
#[test]
fn a_part_that_becomes_a_job_is_tried_everywhere() {
    let mut queue = Scheduling::from(QUEUE).around_parts().build(4);
    let part = Interval { start: at_micros(10), span: micros(5), processors: 2 };
    assert!(queue.parts().hold(at_micros(0), slot(0), part));
    let own = Job { home: None, arrival: 0, processors: 2, estimate: 5, actual: 5, overhead: 0 };
    queue.parts().compress(at_micros(0));
    assert_eq!(queue.next_start(), Some(at_micros(10)), "a part stays where it is");
    queue.parts().turn_into_job(request(0, &own));
    queue.parts().compress(at_micros(0));
    assert_eq!(queue.next_start(), Some(at_micros(0)));
}

/// Waiting jobs with a part here, in the order of requests for moves. Numbers are in the order of arrival.
fn waiting(external: &BTreeMap<usize, External>, place: usize) -> Vec<usize> {
    let waiting = external.iter().filter(|(_, it)| !it.runs && it.current.at(place) > 0);
    let mut waiting: Vec<usize> = waiting.map(|(&id, _)| id).collect();
    waiting.sort_by_key(|id| (external[id].current.start, *id));
    waiting
}

fn intervals(allocation: &Allocation) -> impl Iterator<Item = (usize, Interval)> {
    let &Allocation { start, span, ref parts } = allocation;
    parts.iter().map(move |&(place, processors)| (place, Interval { start, span, processors }))
}

fn demand(now: i64, job: &Job) -> Demand {
    Demand {
        processors: job.processors,
        span: micros(job.estimate),
        overhead: job.overhead as u32,
        part_min: 1,
        parts: None,
        earliest: at_micros(now),
        deadline: None,
    }
}

fn request(id: usize, job: &Job) -> Request {
    Request::new(slot(id), job.processors, Some(micros(job.estimate)))
}

/// The free times of case M1.
fn three_providers() -> Together {
    let steps = |steps: &[(i64, u32)]| {
        FreeTimes::new(steps.iter().map(|&(time, free)| (at_micros(time), free)).collect())
            .expect("sound")
    };
    vec![steps(&[(0, 1), (10, 4)]), steps(&[(0, 0), (6, 3), (14, 4)]), steps(&[(0, 2)])].into()
}

/// Case M1: the provider whose turn it is gives processors first.
#[test]
fn the_earliest_common_start_is_filled_in_turn() {
    let free = three_providers();
    for (processors, time, lasts, start, turns) in [
        (5, 6, [6, 8], 6, [[1, 3, 1], [0, 3, 2], [1, 2, 2]]),
        (4, 4, [4, 5], 6, [[1, 3, 0], [0, 3, 1], [1, 1, 2]]),
        (3, 4, [4, 5], 0, [[1, 0, 2], [1, 0, 2], [1, 0, 2]]),
        (8, 3, [3, 4], 10, [[4, 3, 1], [3, 3, 2], [4, 2, 2]]),
    ] {
        let (span, overhead) = (micros(time), 25);
        let demand = Demand {
            processors,
            span,
            overhead,
            part_min: 1,
            parts: None,
            earliest: at_micros(0),
            deadline: None,
        };
        assert_eq!([demand.lasts(1), demand.lasts(2)].map(Span::as_micros), lasts);
        for (turn, parts) in turns.into_iter().enumerate() {
            let found = earliest_common_start(&free, &demand, turn, FillRule::InTurn, at_micros(0));
            let found = found.expect("there is always a start");
            assert_eq!(found.start, at_micros(start));
            assert_eq!([0, 1, 2].map(|place| found.at(place)), parts);
        }
    }
}

#[test]
fn the_largest_can_give_first() {
    let free = three_providers();
    let demand = Demand {
        processors: 4,
        span: micros(4),
        overhead: 25,
        part_min: 1,
        parts: None,
        earliest: at_micros(0),
        deadline: None,
    };
    for turn in 0..3 {
        let found =
            earliest_common_start(&free, &demand, turn, FillRule::LargestFirst, at_micros(0));
        let parts = found.map(|it| [0, 1, 2].map(|place| it.at(place)));
        assert_eq!(parts, Some([0, 3, 1]));
    }
}

/// A provider that would leave too few processors for the next part gives fewer, or none.
#[test]
fn no_part_is_smaller_than_the_least() {
    let free = three_providers();
    let place = |processors, part_min, turn| {
        let (span, overhead) = (micros(6), 25);
        let demand = Demand {
            processors,
            span,
            overhead,
            part_min,
            parts: None,
            earliest: at_micros(0),
            deadline: None,
        };
        let found = earliest_common_start(&free, &demand, turn, FillRule::InTurn, at_micros(0))?;
        Some((found.start.as_micros(), [0, 1, 2].map(|place| found.at(place))))
    };
    assert_eq!(place(5, 1, 0), Some((6, [1, 3, 1])));
    assert_eq!(place(5, 2, 0), Some((6, [0, 3, 2])));
    assert_eq!(place(6, 3, 0), Some((10, [3, 3, 0])), "four would leave two");
    assert_eq!(place(5, 3, 0), None, "three and two");
    assert_eq!(place(4, 3, 0), Some((10, [4, 0, 0])), "alone it is no part");
}

#[test]
fn who_cannot_be_done_in_time_has_no_start() {
    let free = three_providers();
    let by = |deadline| {
        let (processors, span, overhead) = (3, micros(4), 25);
        let deadline = Some(at_micros(deadline));
        let demand = Demand {
            processors,
            span,
            overhead,
            part_min: 1,
            parts: None,
            earliest: at_micros(0),
            deadline,
        };
        earliest_common_start(&free, &demand, 0, FillRule::InTurn, at_micros(0))
    };
    assert_eq!(by(5).map(|it| it.start), Some(at_micros(0)));
    // Spread it would take until 5, but no provider has room for the whole job before 6.
    assert_eq!(by(4), None);
}

/// Case M6: percents of the time, rounded up.
#[test]
fn overhead_is_a_percentage_rounded_up() {
    let lasts = |time, percent| with_overhead(micros(time), percent).as_micros();
    assert_eq!([lasts(100, 18), lasts(100, 25)], [118, 125]);
    assert_eq!([lasts(37, 18), lasts(37, 25)], [44, 47]);
    assert_eq!(with_overhead(Span::FOREVER, 25), Span::FOREVER);
}

const X: Job = Job { home: None, arrival: 0, processors: 6, estimate: 5, actual: 5, overhead: 20 };

fn local(home: usize, arrival: i64, processors: u32, estimate: i64, actual: i64) -> Job {
    Job { home: Some(home), arrival, processors, estimate, actual, overhead: 0 }
}

fn rules(moves: CoallocationPolicy) -> Rules {
    Rules { moves, fill: FillRule::InTurn, choice: RemapRule::EarliestStart, rounds: 10 }
}

fn starts(sizes: &[u32], jobs: &[Job], moves: CoallocationPolicy) -> Vec<i64> {
    let stories = World::run(sizes, jobs, rules(moves));
    stories.values().map(|story| story.start).collect()
}

/// Case M2.
#[test]
fn a_start_shifts_to_what_an_early_end_leaves() {
    let jobs = [local(0, 0, 4, 10, 4), local(1, 0, 4, 6, 6), X];
    for (moves, start) in [
        (CoallocationPolicy::Rigid, 10),
        (CoallocationPolicy::Shift, 6),
        (CoallocationPolicy::ShiftRemap, 6),
    ] {
        assert_eq!(starts(&[4, 4], &jobs, moves), [0, 0, start], "{moves:?}");
    }
}

/// Case M3.
#[test]
fn a_job_is_remapped_to_one_machine() {
    let jobs = [
        local(0, 0, 4, 20, 5),
        local(1, 0, 4, 10, 10),
        Job { processors: 6, estimate: 10, actual: 10, ..X },
    ];
    for (moves, story) in [
        (CoallocationPolicy::Shift, (22, 10, 22, vec![(0, 4), (1, 2)])),
        (CoallocationPolicy::ShiftRemap, (22, 5, 15, vec![(0, 6)])),
    ] {
        let stories = World::run(&[8, 4], &jobs, rules(moves));
        let (promised, start, end, parts) = story;
        let parts = parts.into_iter().collect();
        assert_eq!(stories[&2], Story { promised, start, end, parts });
    }
}

/// Case M4.
#[test]
fn nobody_is_asked_where_local_jobs_take_all() {
    let jobs = [local(0, 0, 4, 10, 4), local(1, 0, 4, 6, 6), X, local(0, 1, 4, 6, 6)];
    assert_eq!(starts(&[4, 4], &jobs, CoallocationPolicy::ShiftRemap), [0, 0, 10, 4]);
}

/// Case M5: LW and LV take some, X shifts, and LU moves up behind it.
#[test]
fn local_jobs_move_up_again_behind_a_shift() {
    let jobs = [
        local(0, 0, 4, 12, 4),
        local(1, 0, 4, 8, 8),
        X,
        local(0, 1, 2, 3, 3),
        local(0, 2, 4, 2, 2),
        local(1, 3, 4, 5, 5),
    ];
    let before = World::new(&[4, 4], &jobs, rules(CoallocationPolicy::Shift)).until(3).stories;
    let promised: Vec<i64> = before.values().map(|story| story.promised).collect();
    assert_eq!(promised, [12, 8, 18, 21, 23, 23]);
    assert_eq!(starts(&[4, 4], &jobs, CoallocationPolicy::Shift), [0, 0, 9, 4, 7, 15]);
}

#[test]
fn a_prepared_move_that_is_dropped_leaves_all_as_it_was() {
    let mut queue = Scheduling::from(QUEUE).around_parts().build(4);
    let part =
        |start, processors| Interval { start: at_micros(start), span: micros(5), processors };
    assert!(queue.parts().hold(at_micros(0), slot(0), part(10, 3)));
    let free = queue.parts().free_times(at_micros(0), None);
    assert!(queue.parts().prepare(at_micros(0), slot(0), part(7, 4)));
    assert!(!queue.parts().prepare(at_micros(0), slot(0), part(3, 1)), "one move at a time");
    assert!(!queue.parts().hold(at_micros(0), slot(1), part(12, 2)), "both places are kept");
    assert!(queue.parts().abandon(at_micros(0), slot(0)));
    assert_eq!(queue.parts().free_times(at_micros(0), None), free);
    assert_eq!(queue.parts().planned(slot(0)), Some(part(10, 3)));
    assert!(
        !queue.parts().settle(at_micros(0), slot(0))
            && !queue.parts().abandon(at_micros(0), slot(0))
    );
}

/// The place of the move begins at 2 s, and the move is settled at 3 s.
#[test]
fn a_move_that_is_settled_too_late_gives_its_room_to_waiting_jobs() {
    let mut queue = Scheduling::from(QUEUE).around_parts().build(4);
    let part =
        |start, processors| Interval { start: at_micros(start), span: micros(5), processors };
    assert!(queue.parts().hold(at_micros(0), slot(0), part(20, 3)));
    assert!(queue.parts().prepare(at_micros(0), slot(0), part(2, 4)));
    let job = Request::new(slot(1), 4, Some(micros(5)));
    assert_eq!(queue.submit(at_micros(0), job), Some(at_micros(12)), "from 7 to 12");
    assert!(!queue.parts().settle(at_micros(3), slot(0)), "its start is over");
    assert_eq!(queue.parts().planned(slot(0)), Some(part(20, 3)), "it keeps its place");
    queue.parts().compress(at_micros(3));
    assert_eq!(queue.next_start(), Some(at_micros(3)));
}

fn a_world() -> impl Strategy<Value = (Vec<u32>, Vec<Job>)> {
    let sizes = prop::collection::vec(2_u32..8, 2..4);
    let job = (prop::option::weighted(0.6, 0_usize..3), 0_i64..40, 1_u32..9, 1_i64..12, 0_u8..101);
    let jobs = prop::collection::vec((job, 0_i64..26), 1..28);
    (sizes, jobs).prop_map(|(sizes, jobs)| {
        let mut jobs = Vec::from_iter(jobs.into_iter().map(
            |((home, arrival, processors, estimate, accuracy), overhead)| {
                let home = home.map(|home| home % sizes.len());
                let actual = (estimate * i64::from(accuracy) / 100).max(1);
                Job { home, arrival, processors, estimate, actual, overhead }
            },
        ));
        jobs.sort_by_key(|job| (job.arrival, job.home.is_none()));
        (sizes, jobs)
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    /// Every job starts and ends where the definition says. On the way, the test asserts that no machine is
    /// overfilled, that all parts of a job start together, and that no promise is broken.
    #[test]
    fn a_random_world_goes_as_the_definition_says(
        (sizes, jobs) in a_world(),
        moves in prop::sample::select(CoallocationPolicy::ALL.to_vec()),
        fill in prop::sample::select(FillRule::ALL.to_vec()),
        choice in prop::sample::select(RemapRule::ALL.to_vec()),
        rounds in prop::sample::select(vec![1, 2, 10]),
    ) {
        let rules = Rules { moves, fill, choice, rounds };
        let stories = World::run(&sizes, &jobs, rules);
        prop_assert_eq!(&stories, &Obvious::run(&sizes, &jobs, rules));
        let whole: u32 = sizes.iter().sum();
        for (id, job) in jobs.iter().enumerate() {
            let fits = job.processors <= job.home.map_or(whole, |home| sizes[home]);
            prop_assert_eq!(stories.contains_key(&id), fits);
        }
    }

    /// Stretches that are put in are known. When they are taken back, the earlier ones are known again. There is a
    /// chance of a start wherever enough processors are free in total.
    #[test]
    fn what_is_put_together_is_known_and_can_be_taken_back(
        stretches in prop::collection::vec(
            (0_usize..3, 0_i64..12, prop::collection::vec(0_u32..5, 1..6), 0_i64..4), 1..12,
        ),
        (processors, time) in (1_u32..10, 1_i64..5),
    ) {
        let mut together = Together::nothing(3);
        let mut free = vec![vec![0_u32; 24]; 3];
        let known = |together: &Together| -> Vec<Vec<u32>> {
            let at_instant = |place, time| together.min_free(place, at_micros(time), at_micros(time + 1));
            (0..3).map(|place| (0..24).map(|time| at_instant(place, time)).collect()).collect()
        };
        for (place, from, steps, more) in stretches {
            let until = from + steps.len() as i64 + more;
            let course = (from..).map(at_micros).zip(steps.iter().copied()).collect();
            let stretch = Stretch::new(course, at_micros(until)).expect("sound");
            let put = together.lift(place, &stretch);
            together.take_back(&put);
            prop_assert_eq!(&known(&together), &free);
            together.put(place, &stretch);
            for time in from..until {
                let step = ((time - from) as usize).min(steps.len() - 1);
                free[place][time as usize] = steps[step];
            }
            prop_assert_eq!(&known(&together), &free);
        }
        let demand = Demand {
            processors, span: micros(time), overhead: 0, part_min: 1, parts: None, earliest: at_micros(0), deadline: None,
        };
        let found = earliest_common_start(&together, &demand, 0, FillRule::InTurn, at_micros(0));
        let room = |start: i64| -> u32 {
            let fewest = |free: &Vec<u32>| {
                (start..start + time).map(|it| free.get(it as usize).copied().unwrap_or(0)).min()
            };
            free.iter().filter_map(fewest).sum()
        };
        let obvious = (0..24).find(|&start| room(start) >= processors);
        prop_assert_eq!(found.map(|it| it.start.as_micros()), obvious);
    }

    /// A shift is the earliest start at which all parts fit.
    #[test]
    fn a_shift_is_the_first_start_that_fits(
        steps in prop::collection::vec(prop::collection::vec(0_u32..4, 1..20), 2..4),
        (time, needs) in (1_i64..6, prop::collection::vec(1_u32..4, 2..4)),
    ) {
        let free: Vec<FreeTimes> = steps.iter().map(|steps| {
            FreeTimes::new((0..).map(at_micros).zip(steps.iter().copied()).collect()).expect("sound")
        }).collect();
        let parts: Vec<(usize, u32)> = needs.into_iter().take(free.len()).enumerate().collect();
        let current = Allocation { start: at_micros(30), span: micros(time), parts };
        let fits = |&start: &i64| current.parts.iter().all(|&(place, need)| {
            free[place].min_free(at_micros(start), at_micros(start + time)) >= need
        });
        let together = Together::from(free.clone());
        let found = shift(&together, &current, at_micros(0), current.start);
        let found = found.map(|it| it.start.as_micros());
        prop_assert_eq!(found, (0..30).find(fits));
    }
}
