//! Reservations from the definition: every attempt and every search begins from scratch, on a plain list of bookings,
//! and moved jobs are put back one by one.

use std::cmp::Reverse;

use haggle_model::Time;
use haggle_scheduling::reservations::{AfterAnchor, Criterion};

use crate::obvious::{Booked, ObviousProfile};

pub(crate) const FOREVER: i64 = Time::FOREVER.as_micros();

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Job {
    pub(crate) slot: u32,
    pub(crate) id: u64,
    pub(crate) submitted: i64,
    pub(crate) processors: u32,
    pub(crate) span: i64,
    pub(crate) ready: Option<i64>,
    pub(crate) deadline: i64,
    pub(crate) fix_at: Option<u32>,
    pub(crate) start: i64,
}

impl Job {
    fn from(&self, now: i64) -> i64 {
        self.ready.unwrap_or(now).max(now)
    }

    pub(crate) fn latest(&self) -> i64 {
        if self.deadline < FOREVER { self.deadline - self.span } else { FOREVER }
    }

    fn booked(&self) -> Booked {
        Booked { start: self.start, end: self.start + self.span, processors: self.processors }
    }
}

/// Another interval: distance, completion, processors and start, nearest first.
pub(crate) type Other = (i64, i64, u32, i64);

/// Processors, and the time on them.
pub(crate) type Size = (u32, i64);

#[derive(Clone, Debug)]
pub(crate) struct ObviousReservations {
    pub(crate) capacity: u32,
    pub(crate) criterion: Criterion,
    pub(crate) threshold: Option<u32>,
    pub(crate) after: AfterAnchor,
    pub(crate) running: Vec<Job>,
    pub(crate) waiting: Vec<Job>,
    pub(crate) asked: u64,
}

impl ObviousReservations {
    fn first_fit(&self, now: i64, job: &Job, others: &[Job]) -> Option<i64> {
        let booked = self.running.iter().chain(others).map(Job::booked).collect();
        let profile = ObviousProfile { capacity: self.capacity, booked };
        let start = profile.earliest_fit(job.processors, job.span, job.from(now))?;
        (start <= job.latest()).then_some(start)
    }

    fn sort(&self, list: &mut [Job], now: i64, draw: &mut dyn FnMut(usize) -> usize) {
        list.sort_by_key(|job| (job.submitted, job.id));
        match self.criterion {
            Criterion::Fifo => {}
            Criterion::Shuffle => {
                for last in (1..list.len()).rev() {
                    list.swap(draw(last + 1), last);
                }
            }
            Criterion::Bjf => list.sort_by_key(|job| Reverse(job.span * i64::from(job.processors))),
            Criterion::Lff => list.sort_by_key(|job| job.latest() - job.from(now)),
            Criterion::Edf => list.sort_by_key(|job| job.deadline),
        }
        list.sort_by_key(|job| (job.deadline >= FOREVER).then_some((job.submitted, job.id)));
    }

    /// Places all jobs from `k` on. Returns the job that finds no place, if any.
    fn pass(&self, now: i64, list: &mut [Job], k: usize) -> Option<usize> {
        for i in k..list.len() {
            match self.first_fit(now, &list[i], &list[..i]) {
                Some(start) => list[i].start = start,
                None => return Some(i),
            }
        }
        None
    }

    /// A job without a window takes the first place that all others leave free.
    pub(crate) fn submit(&mut self, now: i64, job: Job) {
        let start = self.first_fit(now, &job, &self.waiting).expect("there is room some time");
        self.waiting.push(Job { id: self.asked, start, ..job });
        self.asked += 1;
    }

    /// Start and the alternative taken, if any.
    pub(crate) fn ask(
        &mut self,
        now: i64,
        job: Job,
        sizes: &[Size],
        accepts: Option<u32>,
        draw: &mut dyn FnMut(usize) -> usize,
    ) -> Option<(i64, Option<Other>)> {
        let mut first = None;
        let threshold = self.threshold.min(accepts);
        let id = self.attempts(now, job, sizes, threshold, draw, &mut |option, list| {
            first = Some((option, list.to_vec()));
            true
        });
        let (option, list) = first?;
        self.waiting = list;
        Some((self.start_of(id), option))
    }

    /// Alternatives, nearest first, each with the plan in which it was found.
    pub(crate) fn offers(
        &mut self,
        now: i64,
        job: Job,
        sizes: &[Size],
        most: usize,
        draw: &mut dyn FnMut(usize) -> usize,
    ) -> Vec<(Other, Vec<Job>)> {
        let mut found: Vec<(Other, Vec<Job>)> = Vec::new();
        if self.threshold.is_none() {
            return found;
        }
        self.attempts(now, job, sizes, self.threshold, draw, &mut |option, list| {
            if let Some(option) = option.filter(|it| found.iter().all(|(other, _)| other != it)) {
                found.push((option, list.to_vec()));
            }
            found.len() >= most
        });
        found.sort_by_key(|&(option, _)| option);
        found
    }

    fn start_of(&self, id: u64) -> i64 {
        self.waiting.iter().find(|other| other.id == id).expect("it waits").start
    }

    /// Tries one plan after the other in which every job has a place, until `enough` accepts one. Returns the number
    /// of the new job.
    fn attempts(
        &mut self,
        now: i64,
        job: Job,
        sizes: &[Size],
        threshold: Option<u32>,
        draw: &mut dyn FnMut(usize) -> usize,
        enough: &mut dyn FnMut(Option<Other>, &[Job]) -> bool,
    ) -> u64 {
        let job = Job { id: self.asked, ..job };
        self.asked += 1;
        let saved = self.waiting.clone();
        let mut list = saved.clone();
        list.push(job);
        self.sort(&mut list, now, draw);
        let k = list.iter().position(|other| other.id == job.id).expect("there");
        let restore = |list: &mut [Job]| {
            for job in list {
                let before = saved.iter().find(|it| it.id == job.id);
                job.start = before.map_or(job.start, |it| it.start);
            }
        };
        let failed = self.pass(now, &mut list, k);
        if failed.is_none() && enough(None, &list) {
            return job.id;
        }
        restore(&mut list);
        let i = failed.unwrap_or(k);
        list.swap(i, k);
        self.second(now, &mut list, (job, sizes), i, i == k, threshold, &restore, enough);
        job.id
    }

    #[expect(clippy::too_many_arguments, reason = "as it is written down")]
    fn second(
        &self,
        now: i64,
        list: &mut [Job],
        (job, sizes): (Job, &[Size]),
        k: usize,
        original_tested: bool,
        threshold: Option<u32>,
        restore: &dyn Fn(&mut [Job]),
        enough: &mut dyn FnMut(Option<Other>, &[Job]) -> bool,
    ) {
        let mut options: Vec<Option<Other>> = Vec::new();
        if !original_tested {
            options.push(None);
        }
        if let Some(threshold) = threshold {
            let others = self.options(now, &list[..k], &job, sizes, threshold);
            options.extend(others.into_iter().map(Some));
        }
        for option in options {
            if let Some((_, completion, processors, start)) = option {
                (list[k].ready, list[k].deadline) = (Some(start), completion);
                (list[k].processors, list[k].span) = (processors, completion - start);
            }
            let failed = self.pass(now, list, k);
            if failed.is_none() && enough(option, list) {
                return;
            }
            restore(list);
            list[k] = job;
            if let Some(i) = failed.filter(|&i| i != k) {
                list.swap(i, k);
                let newcomer = (job, sizes);
                return self.second(now, list, newcomer, i, false, threshold, restore, enough);
            }
        }
    }

    /// Options for each number of processors: in the window at the first fit, unless that was requested; and outside,
    /// before and after all bookings around it.
    fn options(
        &self,
        now: i64,
        before: &[Job],
        job: &Job,
        sizes: &[Size],
        threshold: u32,
    ) -> Vec<Other> {
        let ready = job.ready.unwrap_or(job.submitted);
        let mut found: Vec<Other> = Vec::new();
        let own = (job.processors, job.span);
        for &(processors, span) in [own].iter().chain(sizes) {
            let sized = Job { processors, span, ..*job };
            let mut starts = Vec::new();
            if (processors, span) != own {
                starts.extend(self.first_fit(now, &sized, before));
            }
            let running = self.running.iter().map(|it| (it, it.start + it.span));
            let waiting = before.iter().map(|it| match self.after {
                AfterAnchor::Deadline => (it, it.deadline),
                AfterAnchor::Completion => (it, it.start + it.span),
            });
            for (anchor, after) in running.chain(waiting) {
                if anchor.start >= job.deadline || anchor.start + anchor.span <= job.from(now) {
                    continue;
                }
                let outside = |start: &i64| *start < ready || sized.latest() < *start;
                starts.extend([anchor.start - span, after].iter().filter(|it| outside(it)));
            }
            for start in starts.into_iter().filter(|&start| now <= start && start < FOREVER) {
                let distance = (ready - start).max(start + span - job.deadline).max(0);
                if distance * 100 <= i64::from(threshold) * job.span {
                    found.push((distance, start + span, processors, start));
                }
            }
        }
        found.sort();
        found.dedup();
        found
    }

    pub(crate) fn fix_due(&mut self, now: i64) {
        for job in &mut self.waiting {
            let share = |q: u32| (job.start - job.submitted).max(0) * i64::from(q) / 100;
            if job.fix_at.is_some_and(|q| job.submitted + share(q) <= now) {
                (job.ready, job.deadline) = (Some(job.start), job.start + job.span);
            }
        }
    }

    pub(crate) fn start_due(&mut self, now: i64) -> Vec<u32> {
        let mut due: Vec<Job> =
            self.waiting.iter().filter(|job| job.start <= now).copied().collect();
        due.sort_by_key(|job| (job.submitted, job.id));
        self.waiting.retain(|job| job.start > now);
        self.running.extend(&due);
        due.iter().map(|job| job.slot).collect()
    }

    /// Removes the running or waiting job of a slot, which is over or cancelled.
    pub(crate) fn leave(&mut self, slot: u32) {
        self.running.retain(|job| job.slot != slot);
        self.waiting.retain(|job| job.slot != slot);
    }

    pub(crate) fn compress(&mut self, now: i64) {
        self.waiting.sort_by_key(|job| (job.start, job.submitted, job.id));
        for place in 0..self.waiting.len() {
            let job = self.waiting[place];
            let mut others = self.waiting.clone();
            others.remove(place);
            let earlier = self.first_fit(now, &job, &others).filter(|&start| start < job.start);
            self.waiting[place].start = earlier.unwrap_or(job.start);
        }
    }
}
