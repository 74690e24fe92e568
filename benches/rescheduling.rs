//! Rescheduling of bags after early ends: one queue, days deep, of work that takes half of its requested time. With
//! `rush`, work arrives faster than it is done, and every end moves hundreds of batches of one task each. A checksum
//! of all starts is printed beside each time; a faster version must not change it.

#![expect(clippy::print_stdout, reason = "a checksum stands beside each time")]

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use haggle_benches::Numbers;
use haggle_model::{Span, Time};
use haggle_scheduling::coordinated::Effort;
use haggle_scheduling::{
    Award, BagRequest, Bargainer, ConservativeBags, Fractions, LocalScheduler, Offer, Request,
    ReschedulingConfig, ReschedulingRule, Slot,
};

const PROCESSORS: u32 = 300;

/// Number of shares that take fifteen days at a load of about 70 %.
const SHARES: u32 = 960;

/// Request and run time of one entry of the queue.
struct Work {
    arrival: Time,
    /// Processors of a rigid job, or tasks of a share.
    size: u32,
    job: bool,
    run: Span,
    /// Time from the completion of the share to that of the whole bag.
    later: Span,
}

impl Work {
    /// Requested time: twice the run time.
    fn span(&self) -> Span {
        self.run + self.run
    }

    /// `count` arrivals, less than `apart` seconds apart. One in `jobs` of them is a rigid job (0 = none).
    fn list(count: u32, jobs: u32, apart: u64) -> Vec<Work> {
        let mut numbers = Numbers(5);
        let mut arrival = Time::ZERO;
        let work = (0..count).map(|number| {
            arrival += Span::from_secs(numbers.below(apart) as i64);
            let size = u32::min(numbers.magnitude(1, 9) as u32, PROCESSORS);
            Work {
                arrival,
                size,
                job: jobs > 0 && number % jobs == 0,
                run: Span::from_secs(numbers.magnitude(30, 10) as i64),
                later: Span::from_secs(numbers.below(36_000) as i64),
            }
        });
        work.collect()
    }
}

/// Result of a replay.
struct Outcome {
    /// Checksum of all starts, in order.
    checksum: i64,
    effort: Effort,
}

impl std::fmt::Display for Outcome {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Outcome { checksum, effort } = self;
        let Effort { reschedules, turns, searches, moves, moved } = effort;
        write!(
            f,
            "checksum {checksum:016x}; {reschedules} reschedules looked at {turns} turns, made \
             {searches} searches and {moves} moves, of {moved} tasks"
        )
    }
}

/// Replays the work in the order of a provider: ends, arrivals, starts.
fn replay(config: ReschedulingConfig, work: &[Work]) -> Outcome {
    let mut queue = ConservativeBags::new(PROCESSORS, config, Fractions::default());
    let mut running: BinaryHeap<Reverse<(Time, Slot, u32, Time)>> = BinaryHeap::new();
    let mut coming = (0..).map(Slot).zip(work).peekable();
    let (mut jobs, mut tasks) = (Vec::new(), Vec::new());
    let mut checksum = 0_i64;
    loop {
        let arrival = coming.peek().map(|(_, work)| work.arrival);
        let end = running.peek().map(|&Reverse((end, ..))| end);
        let Some(now) = [arrival, end, queue.next_start()].into_iter().flatten().min() else {
            break;
        };
        while let Some(&Reverse((end, slot, count, planned_end))) = running.peek()
            && end == now
        {
            running.pop();
            if work[slot.index()].job {
                queue.finished(now, slot);
            } else {
                queue.tasks_finished(now, slot, count, planned_end);
            }
        }
        while let Some((slot, one)) = coming.next_if(|(_, work)| work.arrival == now) {
            arrive(&mut queue, now, slot, one);
        }
        queue.start_due(now, &mut jobs);
        queue.tasks_due(now, &mut tasks);
        for (slot, count) in jobs.drain(..).map(|slot| (slot, 1)).chain(tasks.drain(..)) {
            let work = &work[slot.index()];
            running.push(Reverse((now + work.run, slot, count, now + work.span())));
            let start = now.as_micros() ^ i64::from(slot.0) ^ (i64::from(count) << 40);
            checksum = checksum.wrapping_mul(31).wrapping_add(start);
        }
    }
    Outcome { checksum, effort: queue.effort() }
}

/// Submits a job, or awards the last offer for a share.
fn arrive(queue: &mut ConservativeBags, now: Time, slot: Slot, work: &Work) {
    let span = work.span();
    if work.job {
        let processors = work.size;
        let request = Request::new(slot, processors, Some(span));
        queue.submit(now, request);
        return;
    }
    let bag = BagRequest { tasks: work.size, span, deadline: None, earliest: now };
    let offer: Offer = *queue.offers(now, &bag).last().expect("one for the whole bag");
    let award = Award::Offered { tasks: offer.tasks, offer };
    let completion = queue.award(now, slot, &bag, &award).expect("as offered");
    queue.bag_expected(slot, completion + work.later);
}

/// Checksums by name of the replayed work, for [`SHARES`] entries.
fn expected() -> BTreeMap<&'static str, i64> {
    BTreeMap::from([])
}

fn rescheduling(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("rescheduling");
    group.sample_size(10);
    // `cargo bench -- --test` runs each once, for which few entries suffice.
    let small = !std::env::args().any(|argument| argument == "--bench");
    let count = if small { SHARES / 8 } else { SHARES };
    let lists = [
        ("shares", Work::list(count, 0, 3_100)),
        ("shares and jobs", Work::list(count, 4, 3_100)),
        ("rush", Work::list(count / 6, 0, 1_500)),
    ];
    for (name, work) in lists {
        for rule in ReschedulingRule::ALL {
            let outcome = replay(rule.into(), &work);
            let name = format!("{}, {name}", rule.name());
            println!("{name}: {outcome}");
            if let (false, Some(&checksum)) = (small, expected().get(name.as_str())) {
                assert_eq!(outcome.checksum, checksum, "other starts than there used to be");
            }
            group.bench_function(BenchmarkId::new(name, work.len()), |bencher| {
                bencher.iter(|| black_box(replay(rule.into(), &work).checksum));
            });
        }
    }
}

criterion_group!(benches, rescheduling);
criterion_main!(benches);
