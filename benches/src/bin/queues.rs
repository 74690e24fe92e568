//! One queue at its limits: feeds a scheduler with jobs and prints a hash of its decisions.
//!
//! ```text
//! queues POLICY at-once|LOAD JOBS
//! queues POLICY LOG PROCESSORS
//! queues replan at-once 4000      4,000 jobs submitted in one instant
//! queues by-start 0.9 1000000     so many at a load of 0.9
//! queues easy ctc.swf 338         a log in Standard Workload Format
//! ```
//!
//! Requested times are one to five times the run times. The policies are `fcfs`, `easy`, the four compressions of
//! conservative backfilling, `edf`, `edf-strict`, and `bags-` with one of the five rules of rescheduling. With
//! `shares` before the last seven (`shares-edf`, `shares-bags-local`), the jobs are bags.
//!
//! The program reads no clock; measure it from outside (`time`, `valgrind`). The hash covers every start and every
//! promise: a faster queue must not change it.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program")]

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::process::ExitCode;

use haggle_benches::Numbers;
use haggle_model::{Span, Time};
use haggle_scheduling::{
    Award, BagRequest, Compression, EdfConfig, Fractions, Late, LocalScheduler, Order, Policy,
    Request, ReschedulingRule, SchedulerConfig, Scheduling, Shares, Slot,
};

/// Processors of the machine for drawn jobs.
const PROCESSORS: u32 = 256;

/// Number of instants, each drawn with the same probability. If some were drawn more often, the queue would grow
/// there at any load.
const INSTANTS: u64 = 1 << 31;

/// A job, or a bag of `size` tasks.
struct Work {
    arrival: Time,
    size: u32,
    run: Span,
    span: Span,
}

fn works(count: u32, load: Option<f64>, shares: bool) -> Vec<Work> {
    let doublings = if shares { 5 } else { 9 };
    let mut numbers = Numbers(5);
    let mut works: Vec<Work> = (0..count)
        .map(|_| {
            let run = numbers.magnitude(30_000_000, 10) as i64;
            let size = u32::min(numbers.magnitude(1, doublings) as u32, PROCESSORS);
            let span = run + run / 256 * numbers.below(1_024) as i64;
            Work {
                arrival: Time::from_secs(numbers.below(INSTANTS) as i64),
                size,
                run: Span::from_micros(run),
                span: Span::from_micros(span),
            }
        })
        .collect();
    let area: f64 = works.iter().map(|it| it.run.as_secs_f64() * f64::from(it.size)).sum();
    let scale = load.map_or(0.0, |load| area / f64::from(PROCESSORS) / load / INSTANTS as f64);
    for work in &mut works {
        work.arrival = Time::from_micros((work.arrival.as_micros() as f64 * scale) as i64);
    }
    works.sort_by_key(|work| work.arrival);
    works
}

/// Jobs of a log that ran and had a requested time. Run times are cut to the requested time.
fn log(path: &str) -> Option<Vec<Work>> {
    let text = std::fs::read_to_string(path).ok()?;
    let lines = text.lines().filter(|line| !line.starts_with(';'));
    let job = |line: &str| {
        let field = |number| line.split_whitespace().nth(number)?.parse::<i64>().ok();
        let (size, run, span) = (field(4)?, field(3)?, field(8)?);
        (size > 0 && run > 0 && span > 0).then_some(Work {
            arrival: Time::from_secs(field(1)?),
            size: u32::try_from(size).ok()?,
            run: Span::from_secs(run.min(span)),
            span: Span::from_secs(span),
        })
    };
    Some(lines.filter_map(job).collect())
}

fn policy(name: &str) -> Option<Scheduling> {
    let order = Order::Arrival;
    let queue = |policy, compression| {
        Some(Scheduling::Queue(SchedulerConfig {
            policy,
            order,
            compression,
            depth: None,
            window: None,
        }))
    };
    if let Some(&compression) = Compression::ALL.iter().find(|it| it.name() == name) {
        return queue(Policy::Conservative, compression);
    }
    if let Some(rule) = name.strip_prefix("bags-") {
        let rule = *ReschedulingRule::ALL.iter().find(|it| it.name() == rule)?;
        let fractions = Fractions::default();
        return Some(Scheduling::Bags {
            rescheduling: rule.into(),
            fractions,
            shares: Shares::Tasks,
        });
    }
    let edf = |mode| Some(Scheduling::Edf(EdfConfig { mode, ..EdfConfig::default() }));
    match name {
        "fcfs" => queue(Policy::Fcfs, Compression::None),
        "easy" => queue(Policy::Easy, Compression::None),
        "edf" => edf(Late::Repair),
        "edf-strict" => edf(Late::Strict),
        _ => None,
    }
}

/// Hash of all starts and promises.
struct Hash(u64);

impl Hash {
    fn add(&mut self, number: i64) {
        self.0 = (self.0 ^ number as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29);
    }
}

/// Replays the work in the order of a provider: ends, arrivals, starts.
fn replay(queue: &mut dyn LocalScheduler, works: &[Work], shares: bool) -> Hash {
    let shares = shares && queue.capabilities().bags.is_ok();
    let mut running: BinaryHeap<Reverse<(Time, Slot, u32, Time)>> = BinaryHeap::new();
    let mut coming = (0_u32..).zip(works).peekable();
    // Slots are reused, as at a provider.
    let (mut slots, mut numbers): (Vec<Slot>, Vec<u32>) = (Vec::new(), Vec::new());
    let mut left: Vec<u32> = works.iter().map(|it| if shares { it.size } else { 1 }).collect();
    let (mut jobs, mut tasks) = (Vec::new(), Vec::new());
    let mut hash = Hash(0);
    loop {
        let arrival = coming.peek().map(|(_, work)| work.arrival);
        let end = running.peek().map(|&Reverse((end, ..))| end);
        let Some(now) = [arrival, end, queue.next_start()].into_iter().flatten().min() else {
            return hash;
        };
        while let Some(&Reverse((end, slot, count, planned_end))) = running.peek()
            && end == now
        {
            running.pop();
            match shares {
                true => queue.bags().tasks_finished(now, slot, count, planned_end),
                false => queue.finished(now, slot),
            }
            let number = numbers[slot.index()] as usize;
            left[number] -= count;
            if left[number] == 0 {
                slots.push(slot);
            }
        }
        while let Some((number, work)) = coming.next_if(|(_, work)| work.arrival == now) {
            let slot = slots.pop().unwrap_or(Slot(numbers.len() as u32));
            numbers.resize(numbers.len().max(slot.index() + 1), number);
            numbers[slot.index()] = number;
            let promise = arrive(queue, now, slot, work, shares);
            hash.add(promise.map_or(-1, Time::as_micros));
        }
        queue.start_due(now, &mut jobs);
        queue.bags().tasks_due(now, &mut tasks);
        for (slot, count) in jobs.drain(..).map(|slot| (slot, 1)).chain(tasks.drain(..)) {
            let number = numbers[slot.index()];
            let work = &works[number as usize];
            running.push(Reverse((now + work.run, slot, count, now + work.span)));
            hash.add(now.as_micros());
            hash.add(i64::from(number) << 32 | i64::from(count));
        }
    }
}

/// A rigid job, or a share that takes the whole of its offer.
fn arrive(
    queue: &mut dyn LocalScheduler,
    now: Time,
    slot: Slot,
    work: &Work,
    share: bool,
) -> Option<Time> {
    if !share {
        let request = Request {
            deadline: Some(now + work.span),
            ..Request::new(slot, work.size, Some(work.span))
        };
        return queue.submit(now, request);
    }
    let queue = queue.bags();
    let bag = BagRequest { tasks: work.size, span: work.span, deadline: None, earliest: now };
    let offer = *queue.offers(now, &bag).last().expect("one for the whole bag");
    let award = Award::Offered { tasks: offer.tasks, offer };
    let completion = queue.award(now, slot, &bag, &award).expect("as offered");
    queue.bag_expected(slot, completion + Span::from_secs(i64::from(slot.0 % 7) * 1_000));
    Some(completion)
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let run = || {
        let [name, load, count] = &arguments[..] else { return None };
        let (shares, name) =
            name.strip_prefix("shares-").map_or((false, &name[..]), |name| (true, name));
        let scheduling = policy(name)?;
        let number = count.parse().ok()?;
        let (works, processors) = match load.parse() {
            Ok(load) => (works(number, Some(load), shares), PROCESSORS),
            Err(_) if load == "at-once" => (works(number, None, shares), PROCESSORS),
            Err(_) => (log(load)?, number),
        };
        Some(replay(&mut **scheduling.build(processors), &works, shares))
    };
    let Some(Hash(hash)) = run() else {
        eprintln!("usage: queues POLICY at-once|LOAD JOBS, or queues POLICY LOG PROCESSORS");
        return ExitCode::from(2);
    };
    println!("{hash:016x}");
    ExitCode::SUCCESS
}
