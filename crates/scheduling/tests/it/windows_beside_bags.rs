//! Random worlds of windows, parts, bags and jobs in one queue whose work ends in time: all promises are kept, and no
//! processor is used twice.

use std::collections::BTreeMap;

use haggle_model::reservation::Remedy;
use haggle_model::{Span, Time};
use haggle_scheduling::reservations::{Reserve, Window};
use haggle_scheduling::{
    Award, BagRequest, EdfConfig, Fractions, Interval, LocalQueue, Request, ReschedulingConfig,
    ReschedulingRule, Scheduling, Shares, Slot,
};
use haggle_testing::at_micros;
use proptest::prelude::*;

const CAPACITY: u32 = 6;

/// Processors or tasks, planned time, time of the run, and the times of a kind of work.
#[derive(Clone, Copy, Debug)]
enum Event {
    /// A job, with the time until its deadline.
    Submit(u32, i64, i64, Option<i64>),
    /// A reservation: time until its window, freedom.
    Ask(u32, i64, i64, (i64, i64)),
    /// A bag.
    Bag(u32, i64, i64),
    /// A part: time until its start.
    Hold(u32, i64, i64, i64),
}

fn event() -> impl Strategy<Value = Event> {
    let (processors, time) = (1..=CAPACITY, 1_i64..12);
    prop_oneof![
        3 => (processors.clone(), time.clone(), time.clone(), prop::option::of(0_i64..40))
            .prop_map(|(it, span, run, deadline)| Event::Submit(it, span, run, deadline)),
        3 => (processors.clone(), time.clone(), time.clone(), (0_i64..15, 0_i64..12))
            .prop_map(|(it, span, run, window)| Event::Ask(it, span, run, window)),
        3 => (1_u32..14, time.clone(), time.clone())
            .prop_map(|(tasks, span, run)| Event::Bag(tasks, span, run)),
        2 => (processors, time.clone(), time, 0_i64..20)
            .prop_map(|(it, span, run, lead)| Event::Hold(it, span, run, lead)),
    ]
}

/// Work that has been accepted.
#[derive(Clone, Copy, Debug)]
struct Work {
    processors: u32,
    span: i64,
    run: i64,
    /// Tasks that are not over; one for other work.
    left: u32,
    /// First and last start that are promised.
    starts: (i64, i64),
    /// Promised completion.
    promise: i64,
}

struct World {
    queue: Box<LocalQueue>,
    backfills: bool,
    now: i64,
    work: BTreeMap<Slot, Work>,
    /// Slot, processors, end and planned end; true for tasks of bags.
    running: Vec<(Slot, u32, i64, i64, bool)>,
}

impl World {
    fn used(&self) -> u32 {
        self.running.iter().map(|it| it.1).sum()
    }

    fn ends(&mut self) {
        let now = self.now;
        let ended: Vec<_> = self.running.extract_if(.., |it| it.2 == now).collect();
        for (slot, processors, _, planned, are_tasks) in ended {
            let work = self.work.get_mut(&slot).expect("it runs");
            work.left -= if are_tasks { processors } else { 1 };
            if work.left == 0 {
                assert!(now <= work.promise, "{slot:?} is late at {now}: {work:?}");
                self.work.remove(&slot);
            }
            match are_tasks {
                true => {
                    let bags = self.queue.bags();
                    bags.tasks_finished(at_micros(now), slot, processors, at_micros(planned));
                }
                false => self.queue.finished(at_micros(now), slot),
            }
        }
        if self.queue.bags().wants_rescheduling() {
            self.queue.bags().reschedule(at_micros(now));
        }
        self.queue.parts().compress(at_micros(now));
    }

    fn happens(&mut self, event: Event) {
        let now = self.now;
        let slot = (0..).map(Slot).find(|slot| !self.work.contains_key(slot)).expect("a slot");
        let forever = i64::MAX;
        let micros = Span::from_micros;
        let as_promise =
            |it: Option<Time>| it.filter(|&it| it < Time::FOREVER).map_or(forever, Time::as_micros);
        let (processors, span, run, left, starts, promise) = match event {
            Event::Submit(processors, span, run, deadline) => {
                let deadline = deadline.map(|it| at_micros(now + it));
                let span_asked = Some(micros(span));
                let request = Request { deadline, ..Request::new(slot, processors, span_asked) };
                let promise = self.queue.submit(at_micros(now), request);
                (processors, span, run, 1, (now, forever), as_promise(promise))
            }
            Event::Ask(processors, span, run, (lead, slack)) => {
                let (ready, deadline) = (now + lead, now + lead + span + slack);
                let window =
                    Window { ready: Some(at_micros(ready)), deadline: at_micros(deadline) };
                let request = Reserve {
                    slot,
                    submitted: at_micros(now),
                    processors,
                    span: micros(span),
                    window,
                    fix_at: None,
                    accepts: None,
                    remedy: Remedy::Postpone,
                };
                let granted = self.queue.windows().ask(at_micros(now), &request, &[], &mut |_| 0);
                let Some(granted) = granted else { return };
                assert_eq!(
                    self.queue.windows().start_of(at_micros(now), slot),
                    Some(granted.start)
                );
                (processors, span, run, 1, (ready, ready + slack), deadline)
            }
            Event::Bag(tasks, span, run) => {
                let bag = BagRequest {
                    tasks,
                    span: micros(span),
                    deadline: None,
                    earliest: at_micros(now),
                };
                let offers = self.queue.bags().offers(at_micros(now), &bag);
                let offer = *offers.last().expect("an offer without a limit");
                let award = Award::Offered { tasks: offer.tasks, offer };
                let promise = self.queue.bags().award(at_micros(now), slot, &bag, &award);
                let planned = promise.expect("an offer that is new holds");
                assert!(planned <= offer.completion);
                // An EDF queue uses the time up to the offered completion.
                let promise = if self.backfills { planned } else { offer.completion };
                let promise = as_promise(Some(promise));
                (1, span, run, offer.tasks, (now, forever), promise)
            }
            Event::Hold(processors, span, run, lead) => {
                let start = now + lead;
                let place = Interval { start: at_micros(start), span: micros(span), processors };
                if !self.queue.parts().hold(at_micros(now), slot, place) {
                    return;
                }
                (processors, span, run, 1, (start, start), start + span)
            }
        };
        let run = run.min(span);
        self.work.insert(slot, Work { processors, span, run, left, starts, promise });
    }

    fn start(&mut self) {
        let now = self.now;
        let (mut started, mut tasks) = (Vec::new(), Vec::new());
        self.queue.start_due(at_micros(now), &mut started);
        self.queue.bags().tasks_due(at_micros(now), &mut tasks);
        let jobs = started.into_iter().map(|slot| (slot, 1, false));
        for (slot, count, are_tasks) in jobs.chain(tasks.into_iter().map(|(s, n)| (s, n, true))) {
            let Work { processors, span, run, starts, .. } = self.work[&slot];
            assert!(starts.0 <= now && now <= starts.1, "{slot:?} starts at {now}: {starts:?}");
            self.running.push((slot, processors * count, now + run, now + span, are_tasks));
        }
        assert!(self.used() <= CAPACITY, "at {now}");
    }

    fn run(mut self, events: &[(i64, Event)]) {
        let (mut next, mut due) = (0, 0);
        while next < events.len() || !self.work.is_empty() {
            assert!(self.now < 3_000, "some work never ends: {:?}", self.work);
            self.ends();
            self.start();
            while let Some(&(after, event)) = events.get(next)
                && due + after == self.now
            {
                self.happens(event);
                (next, due) = (next + 1, self.now);
            }
            self.start();
            self.now += 1;
        }
        assert_eq!(self.queue.queue_length(), 0);
    }
}

fn any_queue() -> impl Strategy<Value = Scheduling> {
    let bags = |rule, rebuild, shares| Scheduling::Bags {
        rescheduling: ReschedulingConfig { rebuild, ..ReschedulingConfig::from(rule) },
        fractions: Fractions::default(),
        shares,
    };
    let edf = |pinned| {
        Scheduling::Edf(EdfConfig { pinned, resolution: Span::TICK, ..EdfConfig::default() })
    };
    prop::sample::select(vec![
        edf(false),
        edf(true),
        bags(ReschedulingRule::Coordinated, false, Shares::Tasks),
        bags(ReschedulingRule::Compress, false, Shares::Tasks),
        bags(ReschedulingRule::Uncoordinated, true, Shares::Tasks),
        bags(ReschedulingRule::Coordinated, false, Shares::Blocks),
        bags(ReschedulingRule::None, false, Shares::Tasks),
    ])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(384))]

    #[test]
    fn windows_parts_bags_and_jobs_keep_their_promises_in_one_queue(
        events in prop::collection::vec((0_i64..5, event()), 1..45),
        scheduling in any_queue(),
    ) {
        let backfills = scheduling.backfills_bags();
        let queue = scheduling.around_parts().build(CAPACITY);
        let (work, running) = (BTreeMap::new(), Vec::new());
        World { queue, backfills, now: 0, work, running }.run(&events);
    }
}
