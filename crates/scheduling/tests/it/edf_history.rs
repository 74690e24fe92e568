//! The earliest-deadline-first queue: random histories against the obvious version, and invariants.

use haggle_model::{Span, Time};
use haggle_scheduling::{
    Award, BagRequest, Bargainer, Batch, Edf, EdfConfig, Fractions, Late, LocalScheduler, Offer,
    Order, Replan, Request, Slot,
};
use haggle_testing::at;
use proptest::prelude::*;

use crate::edf::{bag, edf};
use crate::obvious_edf::ObviousEdf;
use crate::replay::{TestJob, replay};

/// One event at a provider.
#[derive(Clone, Copy, Debug)]
enum Event {
    Job {
        processors: u32,
        deadline: Option<i64>,
    },
    /// `awarded` in percent of one of the offers; 0 = none.
    Bag {
        tasks: u32,
        deadline: Option<i64>,
        choice: usize,
        awarded: u32,
    },
    /// A bag that is placed in the published slots.
    Slots {
        tasks: u32,
        slack: i64,
    },
    Withdraw {
        slot: u32,
    },
}

#[derive(Clone, Copy, Debug)]
struct Happening {
    gap: i64,
    span: i64,
    /// Run time in percent of the span, at most all of it.
    run: i64,
    event: Event,
    /// True if the whole plan is examined from now on until the next event.
    looks: bool,
}

fn happening() -> impl Strategy<Value = Happening> {
    let deadline = prop_oneof![1 => Just(None), 8 => (0_i64..60).prop_map(Some)];
    let event = prop_oneof![
        6 => (1_u32..=5, deadline.clone())
            .prop_map(|(processors, deadline)| Event::Job { processors, deadline }),
        4 => (1_u32..=12, deadline, 0_usize..5, prop_oneof![Just(0), Just(100), 1_u32..100])
            .prop_map(|(tasks, deadline, choice, awarded)| {
                Event::Bag { tasks, deadline, choice, awarded }
            }),
        1 => (1_u32..=8, 0_i64..40).prop_map(|(tasks, slack)| Event::Slots { tasks, slack }),
        1 => (0_u32..30).prop_map(|slot| Event::Withdraw { slot }),
    ];
    let run = prop_oneof![2 => Just(100_i64), 1 => 1_i64..=100];
    (0_i64..8, 1_i64..12, run, event, any::<bool>())
        .prop_map(|(gap, span, run, event, looks)| Happening { gap, span, run, event, looks })
}

/// A queue and its obvious version, with the same input. All of their answers are compared.
struct Pair {
    fast: Edf,
    obvious: ObviousEdf,
    /// By slot: run time of a unit, planned span, promise.
    accepted: Vec<(i64, i64, Option<Time>)>,
    /// Processors of rigid jobs, by slot.
    widths: Vec<u32>,
    /// (end, slot, tasks or `None` for a rigid job, planned end)
    running: Vec<(Time, Slot, u32, Option<Time>)>,
    used: u32,
    processors: u32,
    now: Time,
    looks: bool,
}

impl Pair {
    fn new(processors: u32, config: &EdfConfig) -> Pair {
        Pair {
            fast: Edf::new(processors, config.clone()),
            obvious: ObviousEdf::new(processors, config.clone()),
            accepted: Vec::new(),
            widths: Vec::new(),
            running: Vec::new(),
            used: 0,
            processors,
            now: Time::ZERO,
            looks: true,
        }
    }

    fn compare(&mut self) {
        assert_eq!(self.fast.queue_length(), self.obvious.queue_length());
        assert_eq!(self.fast.next_start(), self.obvious.next_start());
        assert_eq!(self.fast.stats().repairs, self.obvious.stats.repairs);
        if !self.looks {
            return;
        }
        assert_eq!(self.fast.free_slots(self.now), self.obvious.free_slots(self.now));
        for slot in (0..self.accepted.len() as u32).map(Slot) {
            assert_eq!(self.fast.planned(slot), self.obvious.planned(slot), "{slot:?}");
            assert_eq!(self.fast.latest_completion(slot), self.obvious.latest_completion(slot));
            let (_, _, promise) = self.accepted[slot.index()];
            if let (Some(promise), Some(latest)) = (promise, self.fast.latest_completion(slot)) {
                assert!(latest <= promise, "I1: a promise is broken by the plan");
            }
        }
    }

    fn starts(&mut self) {
        let (mut jobs, mut tasks) = (Vec::new(), Vec::new());
        self.fast.start_due(self.now, &mut jobs);
        self.fast.tasks_due(self.now, &mut tasks);
        let (mut other_jobs, mut other_tasks) = (Vec::new(), Vec::new());
        self.obvious.start_due(self.now, &mut other_jobs);
        self.obvious.tasks_due(self.now, &mut other_tasks);
        assert_eq!((&jobs, &tasks), (&other_jobs, &other_tasks));
        for slot in jobs {
            let (run, ..) = self.accepted[slot.index()];
            let width = self.widths[slot.index()];
            self.used += width;
            let end = self.now + Span::from_micros(run);
            self.running.push((end, slot, width, None));
        }
        for (slot, count) in tasks {
            let (run, span, _) = self.accepted[slot.index()];
            self.used += count;
            let planned = self.now + Span::from_micros(span);
            // Half of the tasks take their full time.
            let full = count / 2;
            if full > 0 {
                self.running.push((planned, slot, full, Some(planned)));
            }
            let end = self.now + Span::from_micros(run);
            self.running.push((end, slot, count - full, Some(planned)));
        }
        assert!(self.used <= self.processors, "more in use than there are");
        self.compare();
    }

    fn ends(&mut self) {
        self.running.sort_unstable();
        while let Some(&(end, slot, processors, planned)) = self.running.first()
            && end == self.now
        {
            self.running.remove(0);
            self.used -= processors;
            match planned {
                None => {
                    self.fast.finished(end, slot);
                    self.obvious.finished(end, slot);
                }
                Some(planned) => {
                    self.fast.tasks_finished(end, slot, processors, planned);
                    self.obvious.tasks_finished(end, slot, processors, planned);
                }
            }
            let (_, _, promise) = self.accepted[slot.index()];
            assert!(promise.is_none_or(|promise| end <= promise), "I1: a promise is broken");
        }
    }

    /// The next end or planned start.
    fn next(&self) -> Option<Time> {
        let ends = self.running.iter().map(|&(end, ..)| end);
        ends.chain(self.fast.next_start()).min()
    }

    fn advance(&mut self, until: Time) {
        while let Some(next) = self.next().filter(|&next| next < until) {
            self.now = next;
            self.ends();
            self.starts();
        }
        self.now = until;
        self.ends();
    }

    fn happen(&mut self, happening: &Happening, unit: i64) {
        let Happening { gap, span, run, event, looks } = *happening;
        self.advance(self.now + Span::from_micros(gap * unit));
        self.looks = looks;
        let slot = Slot(self.accepted.len() as u32);
        self.widths.resize(slot.index() + 1, 0);
        let span = span * unit;
        let run = (span * run / 100).max(1);
        let now = self.now;
        let deadline_in =
            |slack: Option<i64>| slack.map(|slack| now + Span::from_micros(span + slack * unit));
        let bag = |tasks, deadline| BagRequest {
            tasks,
            span: Span::from_micros(span),
            deadline,
            earliest: Time::ZERO,
        };
        match event {
            Event::Job { processors, deadline } => {
                let request = Request {
                    deadline: deadline_in(deadline),
                    ..Request::new(
                        slot,
                        processors.min(self.processors),
                        Some(Span::from_micros(span)),
                    )
                };
                let estimate = |edf: &mut dyn LocalScheduler| {
                    edf.estimate_start(now, request.processors, request.span)
                };
                if looks {
                    assert_eq!(estimate(&mut self.fast), estimate(&mut self.obvious));
                }
                self.widths[slot.index()] = request.processors;
                let promise = self.fast.submit(now, request);
                assert_eq!(promise, self.obvious.submit(now, request));
                if let Some(deadline) = request.deadline {
                    assert!(promise >= Some(deadline), "I11: no promise before the deadline");
                }
                self.accepted.push((run, span, promise));
            }
            Event::Bag { tasks, deadline, choice, awarded } => {
                let bag = bag(tasks, deadline_in(deadline));
                let offers = self.fast.offers(now, &bag);
                assert_eq!(offers, self.obvious.offers(now, &bag));
                assert_eq!(offers.last().map(|offer| offer.tasks), Some(tasks));
                let rising = |pair: &[Offer]| {
                    pair[0].tasks < pair[1].tasks && pair[0].completion < pair[1].completion
                };
                assert!(offers.windows(2).all(rising));
                if awarded > 0 {
                    let offer = offers[choice % offers.len()];
                    let tasks = (offer.tasks * awarded / 100).max(1);
                    let award = Award::Offered { tasks, offer };
                    let completion = self.fast.award(now, slot, &bag, &award);
                    assert_eq!(completion, self.obvious.award(now, slot, &bag, &award));
                    let completion = completion.expect("I2: no award fails");
                    assert!(completion <= offer.completion);
                    self.accepted.push((run, span, Some(offer.completion)));
                }
            }
            Event::Slots { tasks, slack } => {
                let mut slots = self.fast.free_slots(now);
                let mut batches = Vec::new();
                // One task a slot, in the earliest slots that are long enough.
                slots.retain(|slot| slot.start + Span::from_micros(span) <= slot.end);
                for slot in slots.iter().take(tasks as usize) {
                    batches.push(Batch { start: slot.start, tasks: 1 });
                }
                let last = batches.last().expect("there is an open slot").start;
                let deadline = last + Span::from_micros(span + slack * unit);
                let before: Vec<Vec<Batch>> =
                    (0..slot.0).map(|slot| self.fast.planned(Slot(slot)).to_vec()).collect();
                let award = Award::Placed { batches: batches.clone(), deadline };
                let bag = bag(batches.len() as u32, None);
                let completion = self.fast.award(now, slot, &bag, &award);
                assert_eq!(completion, self.obvious.award(now, slot, &bag, &award));
                assert_eq!(completion, Some(last + Span::from_micros(span)));
                assert_eq!(self.fast.planned(slot), batches);
                for (other, batches) in before.iter().enumerate() {
                    let planned = self.fast.planned(Slot(other as u32));
                    assert_eq!(
                        &planned, batches,
                        "I9: free slots are filled without moving anything"
                    );
                }
                self.accepted.push((run, span, Some(deadline)));
            }
            Event::Withdraw { slot } => {
                let slot = Slot(slot);
                assert_eq!(self.fast.withdraw(now, slot), self.obvious.withdraw(now, slot));
            }
        }
        self.starts();
    }

    fn drain(&mut self) {
        while let Some(next) = self.next() {
            self.now = next;
            self.ends();
            self.starts();
        }
        assert_eq!(self.fast.queue_length(), 0, "everything is run in the end");
        assert_eq!(self.used, 0);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// I1, I2, I9 and I11 on the way.
    #[test]
    fn random_histories_are_those_of_the_obvious_version(
        happenings in prop::collection::vec(happening(), 1..40),
        processors in 1_u32..=6,
        strict in any::<bool>(),
        pinned in any::<bool>(),
        most_are_undated in any::<bool>(),
        unit in prop_oneof![3 => Just(1_000_000_i64), 1 => Just(300_001)],
    ) {
        let mode = if strict { Late::Strict } else { Late::Repair };
        let config = EdfConfig { mode, pinned, ..EdfConfig::default() };
        let mut pair = Pair::new(processors, &config);
        for happening in &happenings {
            let mut happening = *happening;
            if let Event::Job { deadline, .. } = &mut happening.event {
                *deadline = deadline.filter(|it| !most_are_undated || it % 4 == 0);
            }
            pair.happen(&happening, unit);
        }
        pair.drain();
    }

    /// The search goes from the wish in whole steps. It ends there, or after the last step before the promise failed;
    /// times between steps may have been possible.
    #[test]
    fn the_promise_is_the_earliest_that_was_found(
        happenings in prop::collection::vec(happening(), 1..20),
        processors in 1_u32..=6,
        width in 1_u32..=6,
        span in 1_i64..20,
    ) {
        let config = EdfConfig::default();
        let mut pair = Pair::new(processors, &config);
        for happening in &happenings {
            pair.happen(happening, 1_000_000);
        }
        let now = pair.now;
        let request = |deadline| Request { deadline: Some(deadline), ..Request::new(Slot(99), width.min(processors), Some(Span::from_secs(span))) };
        let wished = now + Span::from_secs(span);
        let promise = pair.fast.clone().submit(now, request(wished)).expect("it has a deadline");
        prop_assert!(promise >= wished);
        prop_assert_eq!(pair.fast.clone().submit(now, request(promise)), Some(promise));
        if promise > wished {
            let before = (promise - wished - Span::TICK).as_micros();
            let earlier = wished + Span::from_secs(before / 1_000_000);
            let refused = pair.fast.clone().submit(now, request(earlier)).expect("a deadline");
            prop_assert!(refused > earlier);
        }
    }

    /// Without deadlines there are no promises, and the queue is conservative backfilling that plans anew after every
    /// early end.
    #[test]
    fn without_deadlines_it_is_conservative_backfilling(
        jobs in prop::collection::vec((0_i64..6, 1_i64..20, 1_i64..=20, 1_u32..=4), 1..60),
    ) {
        let mut submit = 0;
        let job = |&(gap, requested, run, processors): &(i64, i64, i64, u32)| {
            submit += gap;
            TestJob::new(submit, requested, run, processors)
        };
        let jobs: Vec<TestJob> = jobs.iter().map(job).collect();
        let edf = replay(&mut edf(4), 4, &jobs);
        let mut anew = Replan::new(4, Order::Arrival);
        prop_assert_eq!(edf.starts, replay(&mut anew, 4, &jobs).starts);
        prop_assert!(edf.promises.iter().all(Option::is_none));
    }

    /// I8: all times shifted, everything shifted.
    #[test]
    fn shifting_all_times_shifts_the_offers(
        jobs in prop::collection::vec((1_u32..=4, 1_i64..10, 0_i64..30), 0..12),
        tasks in 1_u32..=16,
        span in 1_i64..8,
        slack in 0_i64..20,
        shift in 0_i64..1_000_000,
        finer in any::<bool>(),
    ) {
        let fractions = if finer { (1..=20).map(|a| (a, 20)).collect() } else { vec![(1, 2)] };
        let config = EdfConfig { fractions: Fractions::new(fractions), ..EdfConfig::default() };
        let offers_at = |origin: i64| {
            let mut edf = Edf::new(4, config.clone());
            for (slot, &(processors, span, slack)) in jobs.iter().enumerate() {
                let request = Request { deadline: Some(at(origin + span + slack)), ..Request::new(Slot(slot as u32), processors, Some(Span::from_secs(span))) };
                edf.submit(at(origin), request);
            }
            edf.start_due(at(origin), &mut Vec::new());
            let bag = bag(tasks, span, origin + span + slack);
            let offers = edf.offers(at(origin), &bag);
            offers.iter().map(|o| (o.tasks, o.completion - at(origin))).collect::<Vec<_>>()
        };
        prop_assert_eq!(offers_at(0), offers_at(shift));
    }
}
