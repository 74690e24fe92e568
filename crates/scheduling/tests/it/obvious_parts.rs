//! Queues of jobs around parts, from their definitions: lists of bookings, where every tick is tried one by one.
//!
//! All waiting jobs have planned starts, except under EASY: there only the first job has one. Parts are held beside
//! them, and reservations are granted beside them.

use haggle_model::reservation::Remedy;
use haggle_scheduling::{Compression, Killed, Overlap, Policy, SchedulerConfig, Slot};

/// Start of a job that has no planned start.
pub(crate) const NEVER: i64 = i64::MAX / 4;

/// Processors from `start` until `end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) start: i64,
    pub(crate) end: i64,
    pub(crate) processors: u32,
}

impl Place {
    pub(crate) fn at(&self, time: i64) -> u32 {
        if self.start <= time && time < self.end { self.processors } else { 0 }
    }

    fn from(self, now: i64) -> Place {
        Place { start: self.start.max(now), ..self }
    }
}

/// A part that waits, and its other place if it is about to move.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    pub(crate) slot: Slot,
    pub(crate) own: Place,
    pub(crate) to: Option<Place>,
    /// It is a job of its own, and may move up.
    pub(crate) single: bool,
    /// It is a reservation.
    pub(crate) asked: Option<Asked>,
    number: u32,
}

/// The request of a reservation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asked {
    pub(crate) ready: i64,
    pub(crate) deadline: i64,
    pub(crate) remedy: Remedy,
}

/// The fate of a reservation that has lost its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    Moved(i64),
    Postponed(i64),
    Out,
}

impl Part {
    fn at(&self, time: i64) -> u32 {
        self.own.at(time).max(self.to.map_or(0, |to| to.at(time)))
    }

    /// Planned times from `now` on.
    fn times(&self, now: i64) -> impl Iterator<Item = i64> {
        let places = [Some(self.own), self.to].into_iter().flatten();
        places.flat_map(move |place| place.start.max(now)..place.end)
    }
}

#[derive(Clone, Debug)]
struct Job {
    slot: Slot,
    processors: u32,
    span: i64,
    rank: (u8, u32),
    start: i64,
    /// It cannot start before.
    ready: i64,
}

impl Job {
    fn place(&self) -> Place {
        Place { start: self.start, end: self.start + self.span, processors: self.processors }
    }
}

#[derive(Clone, Debug)]
struct Window {
    number: u32,
    place: Place,
    wanted: u32,
    has_begun: bool,
}

/// The queue.
#[derive(Clone, Debug)]
pub(crate) struct ObviousParts {
    capacity: u32,
    config: SchedulerConfig,
    /// Under `replan`, the reservations must be made again.
    outdated: bool,
    /// Processors have been given back since single parts moved up.
    pub(crate) given_back: bool,
    pub(crate) down: u32,
    pub(crate) running: Vec<(Slot, Place)>,
    pub(crate) parts: Vec<Part>,
    jobs: Vec<Job>,
    windows: Vec<Window>,
    count: u32,
}

impl ObviousParts {
    pub(crate) fn new(capacity: u32, config: SchedulerConfig) -> ObviousParts {
        ObviousParts {
            capacity,
            config,
            outdated: false,
            given_back: false,
            down: 0,
            running: Vec::new(),
            parts: Vec::new(),
            jobs: Vec::new(),
            windows: Vec::new(),
            count: 0,
        }
    }

    fn number(&mut self) -> u32 {
        self.count += 1;
        self.count
    }

    /// Processors that nothing uses or needs at this time.
    pub(crate) fn free(&self, time: i64) -> u32 {
        let running = self.running.iter().map(|it| it.1.at(time));
        let parts = self.parts.iter().map(|it| it.at(time));
        let jobs = self.jobs.iter().map(|it| it.place().at(time));
        let windows = self.windows.iter().map(|it| it.place.at(time));
        let taken = running.chain(parts).chain(jobs).chain(windows).sum::<u32>() + self.down;
        self.capacity.checked_sub(taken).expect("no processor is booked twice")
    }

    pub(crate) fn in_use(&self) -> u32 {
        let running = self.running.iter().map(|it| it.1.processors);
        let closed = self.windows.iter().filter(|it| it.has_begun).map(|it| it.place.processors);
        running.chain(closed).sum::<u32>() + self.down
    }

    /// After this time no processor is given back.
    pub(crate) fn last(&self) -> i64 {
        let running = self.running.iter().map(|it| it.1.end);
        let parts = self.parts.iter().flat_map(|it| [Some(it.own), it.to]).flatten();
        let parts = parts.filter(|it| it.start < NEVER).map(|it| it.end);
        let jobs = self.jobs.iter().filter(|it| it.start < NEVER).map(|it| it.place().end);
        let windows = self.windows.iter().map(|it| it.place.end);
        running.chain(parts).chain(jobs).chain(windows).max().unwrap_or(0)
    }

    fn min_free(&self, start: i64, end: i64) -> u32 {
        (start..end).map(|time| self.free(time)).min().unwrap_or(self.capacity)
    }

    pub(crate) fn fit(&self, now: i64, processors: u32, span: i64) -> i64 {
        let mut starts = now..=self.last().max(now);
        let fit = starts.find(|&start| self.min_free(start, start + span) >= processors);
        fit.unwrap_or(NEVER)
    }

    /// The first start in a window.
    fn fit_in_window(&self, now: i64, (processors, span): (u32, i64), asked: Asked) -> Option<i64> {
        let latest = (asked.deadline - span).min(self.last().max(asked.ready).max(now));
        let mut starts = now.max(asked.ready)..=latest;
        starts.find(|&start| self.min_free(start, start + span) >= processors)
    }

    fn add_reservation(&mut self, slot: Slot, start: i64, size: (u32, i64), asked: Asked) {
        let own = Place { start, end: start + size.1, processors: size.0 };
        let number = self.number();
        self.parts.push(Part { slot, own, to: None, single: true, asked: Some(asked), number });
    }

    /// Grants a reservation beside all that is planned, at the first start in its window.
    pub(crate) fn ask(
        &mut self,
        now: i64,
        slot: Slot,
        size: (u32, i64),
        asked: Asked,
    ) -> Option<i64> {
        self.update(now);
        let start = self.fit_in_window(now, size, asked)?;
        self.add_reservation(slot, start, size, asked);
        Some(start)
    }

    /// As [`ObviousParts::ask`], of a reservation that has lost its place: jobs make way for it.
    pub(crate) fn ask_again(
        &mut self,
        now: i64,
        slot: Slot,
        size: (u32, i64),
        asked: Asked,
    ) -> Option<i64> {
        if let Some(start) = self.ask(now, slot, size, asked) {
            return Some(start);
        }
        let starts = Vec::from_iter(self.jobs.iter().map(|job| job.start));
        self.jobs.iter_mut().for_each(|job| job.start = NEVER);
        let Some(start) = self.fit_in_window(now, size, asked) else {
            self.jobs.iter_mut().zip(starts).for_each(|(job, start)| job.start = start);
            return None;
        };
        self.add_reservation(slot, start, size, asked);
        match self.keeps_reservations() {
            true => self.plan_anew(now, |_| true),
            false => self.outdated = true,
        }
        self.update(now);
        Some(start)
    }

    /// Plans these jobs again, in the order of the queue.
    fn plan_anew(&mut self, now: i64, which: impl Fn(&Job) -> bool) {
        self.jobs.sort_by_key(|job| job.rank);
        let mut planned = Vec::new();
        for (place, job) in self.jobs.iter_mut().enumerate() {
            if which(job) {
                job.start = NEVER;
                planned.push(place);
            }
        }
        for place in planned {
            let Job { processors, span, ready, .. } = self.jobs[place];
            self.jobs[place].start = self.fit(now.max(ready), processors, span);
        }
    }

    /// Reservations last until time is given back.
    fn keeps_reservations(&self) -> bool {
        self.config.policy == Policy::Conservative && self.config.compression != Compression::Replan
    }

    /// Brings the planned starts up to date, in queues that do not keep them.
    pub(crate) fn update(&mut self, now: i64) {
        match self.config.policy {
            Policy::Conservative if self.keeps_reservations() => {}
            Policy::Conservative => {
                if std::mem::take(&mut self.outdated) {
                    self.plan_anew(now, |_| true);
                }
            }
            Policy::Easy => {
                self.jobs.iter_mut().for_each(|job| job.start = NEVER);
                let first = self.jobs.iter().map(|job| job.rank).min();
                self.plan_anew(now, |job| Some(job.rank) == first);
            }
            Policy::Fcfs => {
                self.jobs.sort_by_key(|job| job.rank);
                self.jobs.iter_mut().for_each(|job| job.start = NEVER);
                let mut last = now;
                for place in 0..self.jobs.len() {
                    let Job { processors, span, ready, .. } = self.jobs[place];
                    if last < NEVER {
                        last = self.fit(last.max(ready), processors, span);
                    }
                    self.jobs[place].start = last;
                }
            }
        }
    }

    /// Start of one more job, behind all others, that cannot start before `from`.
    pub(crate) fn estimate(&self, from: i64, processors: u32, span: i64) -> i64 {
        let last = self
            .jobs
            .iter()
            .map(|job| job.start)
            .max()
            .filter(|_| self.config.policy == Policy::Fcfs);
        let from = last.map_or(from, |last| last.max(from));
        if from < NEVER { self.fit(from, processors, span) } else { NEVER }
    }

    /// Windows that have not begun take free processors. Only reservations that are kept go before windows.
    fn lay_windows(&mut self, now: i64) {
        let starts = Vec::from_iter(self.jobs.iter().map(|job| job.start));
        if !self.keeps_reservations() {
            self.jobs.iter_mut().for_each(|job| job.start = NEVER);
        }
        let kept =
            |queue: &ObviousParts| queue.windows.iter().map(|it| it.place.processors).sum::<u32>();
        let before = kept(self);
        self.lay_windows_beside_jobs(now);
        self.outdated |= kept(self) > before;
        for (job, start) in self.jobs.iter_mut().zip(starts) {
            job.start = start;
        }
    }

    fn lay_windows_beside_jobs(&mut self, now: i64) {
        for index in 0..self.windows.len() {
            let Window { place, wanted, has_begun, .. } = self.windows[index];
            let rest = place.from(now);
            if !has_begun && rest.start < rest.end {
                let free = self.min_free(rest.start, rest.end);
                self.windows[index].place.processors += free.min(wanted - place.processors);
            }
        }
    }

    /// Parts and reservations keep their places while there is room. Then reservations get other places, windows of
    /// maintenance the rest, and jobs the rest of that.
    fn change(
        &mut self,
        now: i64,
        fails: bool,
        change: impl FnOnce(&mut ObviousParts),
    ) -> (Vec<Slot>, Vec<(Slot, Fate)>) {
        let mut parts = std::mem::take(&mut self.parts);
        self.jobs.iter_mut().for_each(|job| job.start = NEVER);
        for window in self.windows.iter_mut().filter(|it| !it.has_begun) {
            window.place.processors = 0;
        }
        change(self);
        parts.sort_by_key(|part| (part.own.start, part.number));
        let (mut displaced, mut hit) = (Vec::new(), Vec::new());
        for part in parts {
            let is_late = part.own.start < now && part.asked.is_some();
            let is_planned = part.own.start < NEVER;
            let has_room = |time| part.at(time) <= self.free(time);
            if !is_late && (!is_planned || part.times(now).all(has_room)) {
                self.parts.push(part);
            } else if let Some(asked) = part.asked {
                hit.push((part, asked));
            } else {
                displaced.push(part.slot);
            }
        }
        let fates = self.place_hit(now, fails, hit);
        self.lay_windows(now);
        match self.keeps_reservations() {
            true => self.plan_anew(now, |_| true),
            false => self.outdated = true,
        }
        self.update(now);
        (displaced, fates)
    }

    /// Reservations without room get other places in their windows, and then others get places behind theirs.
    fn place_hit(&mut self, now: i64, fails: bool, hit: Vec<(Part, Asked)>) -> Vec<(Slot, Fate)> {
        let (mut fates, mut late, mut out) = (Vec::new(), Vec::new(), Vec::new());
        let place = |part: Part, start: i64, asked: Asked| {
            let own = Place { start, end: start + (part.own.end - part.own.start), ..part.own };
            Part { own, asked: Some(asked), ..part }
        };
        for (part, asked) in hit {
            let size = (part.own.processors, part.own.end - part.own.start);
            let seeks = !fails || asked.remedy != Remedy::Revoke;
            match self.fit_in_window(now, size, asked).filter(|_| seeks) {
                Some(start) => {
                    fates.push((part.slot, Fate::Moved(start)));
                    self.parts.push(place(part, start, asked));
                }
                None if asked.remedy == Remedy::Postpone => late.push((part, asked)),
                None => out.push((part.slot, Fate::Out)),
            }
        }
        for (part, asked) in late {
            let span = part.own.end - part.own.start;
            let start = self.fit(now.max(asked.ready), part.own.processors, span);
            fates.push((part.slot, Fate::Postponed(start)));
            self.parts.push(place(part, start, Asked { deadline: start + span, ..asked }));
        }
        fates.extend(out);
        fates
    }

    pub(crate) fn failed(
        &mut self,
        now: i64,
        processors: u32,
        killed: &[Killed],
    ) -> (Vec<Slot>, Vec<(Slot, Fate)>) {
        self.change(now, true, |queue| {
            queue.running.retain(|it| killed.iter().all(|killed| killed.slot != it.0));
            queue.down += processors;
        })
    }

    pub(crate) fn overran(
        &mut self,
        now: i64,
        slot: Slot,
        end: i64,
    ) -> (Vec<Slot>, Vec<(Slot, Fate)>) {
        self.change(now, false, |queue| {
            let running = queue.running.iter_mut().find(|it| it.0 == slot);
            running.expect("it runs").1.end = end;
        })
    }

    pub(crate) fn restored(&mut self, now: i64, processors: u32) {
        self.down -= processors;
        self.outdated = true;
        self.lay_windows(now);
    }

    pub(crate) fn finished(&mut self, now: i64, slot: Slot) {
        let planned = self.running.iter().find(|it| it.0 == slot).expect("it runs").1.end;
        self.running.retain(|it| it.0 != slot);
        self.outdated |= now < planned;
        self.lay_windows(now);
    }

    pub(crate) fn submit(
        &mut self,
        now: i64,
        slot: Slot,
        job: (u32, i64),
        ready: i64,
        ahead: bool,
    ) {
        self.outdated |= ahead;
        self.update(now);
        let (processors, span) = job;
        let rank = (u8::from(!ahead), self.number());
        if ahead {
            self.jobs.iter_mut().for_each(|job| job.start = NEVER);
        }
        let start = match self.config.policy {
            Policy::Conservative => self.fit(now.max(ready), processors, span),
            _ => NEVER,
        };
        self.jobs.push(Job { slot, processors, span, rank, start, ready });
        if ahead {
            self.plan_anew(now, |job| job.rank != rank);
        }
        self.update(now);
    }

    pub(crate) fn hold(&mut self, now: i64, slot: Slot, own: Place) -> bool {
        self.update(now);
        let has_room = now <= own.start
            && own.start < own.end
            && own.processors <= self.min_free(own.start, own.end);
        if has_room {
            let number = self.number();
            self.parts.push(Part { slot, own, to: None, single: false, asked: None, number });
        }
        has_room
    }

    /// A part ends earlier. It counts as held last.
    pub(crate) fn shorten(&mut self, slot: Slot, end: i64) {
        let number = self.number();
        let part = self.part_mut(slot).expect("it waits");
        (part.own.end, part.number) = (end, number);
        self.outdated = true;
    }

    pub(crate) fn part(&self, slot: Slot) -> Option<&Part> {
        self.parts.iter().find(|it| it.slot == slot)
    }

    fn part_mut(&mut self, slot: Slot) -> Option<&mut Part> {
        self.parts.iter_mut().find(|it| it.slot == slot)
    }

    pub(crate) fn prepare(&mut self, now: i64, slot: Slot, to: Place) -> bool {
        self.update(now);
        let Some(part) = self.part(slot).cloned() else { return false };
        let moved = Part { to: Some(to), ..part.clone() };
        let fits = |time| moved.at(time) <= self.free(time) + part.at(time);
        let has_room = part.to.is_none() && now <= to.start && moved.times(now).all(fits);
        if has_room {
            self.part_mut(slot).expect("it waits").to = Some(to);
        }
        has_room
    }

    pub(crate) fn settle(&mut self, now: i64, slot: Slot) -> bool {
        self.outdated = true;
        let Some(part) = self.part_mut(slot) else { return false };
        let to = part.to.take().filter(|to| now <= to.start);
        part.own = to.unwrap_or(part.own);
        to.is_some()
    }

    pub(crate) fn abandon(&mut self, slot: Slot) -> bool {
        self.outdated = true;
        self.part_mut(slot).is_some_and(|part| part.to.take().is_some())
    }

    pub(crate) fn withdraw(&mut self, slot: Slot) -> bool {
        self.outdated = true;
        self.take_out(slot)
    }

    fn take_out(&mut self, slot: Slot) -> bool {
        let before = self.parts.len() + self.jobs.len();
        self.parts.retain(|it| it.slot != slot);
        self.jobs.retain(|it| it.slot != slot);
        self.parts.len() + self.jobs.len() < before
    }

    pub(crate) fn turn_into_job(&mut self, slot: Slot) {
        if !self.keeps_reservations() {
            self.part_mut(slot).expect("it waits").single = true;
            return;
        }
        let place = self.parts.iter().position(|it| it.slot == slot).expect("it waits");
        let Part { own: Place { start, end, processors }, number, .. } = self.parts.remove(place);
        self.jobs.push(Job {
            slot,
            processors,
            span: end - start,
            rank: (1, number),
            start,
            ready: 0,
        });
    }

    pub(crate) fn compress(&mut self, now: i64) {
        match self.keeps_reservations() {
            true => self.compress_jobs(now),
            false => self.update(now),
        }
        self.move_single_parts_up(now);
    }

    fn compress_jobs(&mut self, now: i64) {
        match self.config.compression {
            Compression::None => return self.plan_anew(now, |job| job.start >= NEVER),
            Compression::ByStart => self.jobs.sort_by_key(|job| (job.start, job.rank)),
            _ => self.jobs.sort_by_key(|job| job.rank),
        }
        for place in 0..self.jobs.len() {
            let Job { processors, span, ready, .. } = self.jobs[place];
            self.jobs[place].start = NEVER;
            self.jobs[place].start = self.fit(now.max(ready), processors, span);
        }
    }

    /// Each single part moves to the first place that no job, part or window needs, in the order of starts.
    fn move_single_parts_up(&mut self, now: i64) {
        if !std::mem::take(&mut self.given_back) {
            return;
        }
        let single = self.parts.iter().filter(|it| it.single);
        let mut single = Vec::from_iter(single.map(|it| (it.own.start, it.slot)));
        single.sort_unstable();
        for (_, slot) in single {
            let at = self.parts.iter().position(|it| it.slot == slot).expect("it waits");
            let part = self.parts.remove(at);
            let Place { start, end, processors } = part.own;
            let from = part.asked.map_or(now, |asked| asked.ready.max(now));
            let first = self.fit(from, processors, end - start).min(start);
            self.outdated |= first < start;
            let own = Place { start: first, end: first + (end - start), processors };
            self.parts.insert(at, Part { own, ..part });
        }
        self.update(now);
    }

    pub(crate) fn start_due(&mut self, now: i64) -> Vec<Slot> {
        // A part that is due starts at its own place.
        for part in self.parts.iter_mut().filter(|it| it.own.start <= now) {
            let moved = part.to.take().is_some();
            self.given_back |= moved;
            self.outdated |= moved;
        }
        self.update(now);
        match self.config.policy {
            Policy::Conservative => self.start_planned(now),
            policy => {
                // Parts start, and then jobs.
                let jobs = std::mem::take(&mut self.jobs);
                let mut started = self.start_planned(now);
                self.jobs = jobs;
                self.update(now);
                started.extend(self.start_jobs(now, policy));
                started
            }
        }
    }

    /// First come, first served; under EASY, later jobs start beside the reservation of the first one.
    fn start_jobs(&mut self, now: i64, policy: Policy) -> Vec<Slot> {
        let mut started = Vec::new();
        self.jobs.sort_by_key(|job| job.rank);
        while let Some(first) = self.jobs.first().filter(|job| job.start <= now) {
            started.push(first.slot);
            self.start_job(now, 0);
            self.update(now);
        }
        let mut next = 1;
        while policy == Policy::Easy && next < self.jobs.len() {
            let Job { slot, processors, span, .. } = self.jobs[next];
            if processors <= self.min_free(now, now + span) {
                started.push(slot);
                self.start_job(now, next);
            } else {
                next += 1;
            }
        }
        started
    }

    fn start_job(&mut self, now: i64, place: usize) {
        let job = Job { start: now, ..self.jobs.remove(place) };
        self.running.push((job.slot, job.place()));
    }

    fn start_planned(&mut self, now: i64) -> Vec<Slot> {
        let parts = self.parts.iter().map(|it| (it.own.start, (0, it.number), it.slot, it.own));
        let jobs = self.jobs.iter().map(|it| {
            let (group, number) = it.rank;
            (it.start, (group + 1, number), it.slot, it.place())
        });
        let mut due = Vec::from_iter(parts.chain(jobs).filter(|it| it.0 <= now));
        due.sort_by_key(|it| (it.0, it.1));
        for &(_, _, slot, place) in &due {
            self.take_out(slot);
            self.running.push((slot, place));
        }
        due.into_iter().map(|it| it.2).collect()
    }

    pub(crate) fn next_start(&self, now: i64) -> Option<i64> {
        let parts = self.parts.iter().map(|it| it.own.start).filter(|&start| start < NEVER);
        let jobs = self.jobs.iter().map(|it| it.start).filter(|&start| start < NEVER);
        match self.config.policy {
            Policy::Conservative => parts.chain(jobs).min(),
            // Jobs start at events, and the first one when it is ready.
            Policy::Fcfs => {
                let first = self.jobs.iter().min_by_key(|job| job.rank);
                parts.chain(first.map(|it| it.ready).filter(|&ready| ready > now)).min()
            }
            Policy::Easy => parts.min(),
        }
    }

    /// The waiting jobs with their planned starts, if they have them.
    pub(crate) fn jobs(&self) -> Vec<(Slot, Option<i64>)> {
        let start = |job: &Job| Some(job.start).filter(|&start| start < NEVER);
        self.jobs.iter().map(|job| (job.slot, start(job))).collect()
    }

    pub(crate) fn announce(
        &mut self,
        now: i64,
        number: u32,
        place: Place,
        overlap: Overlap,
    ) -> bool {
        self.update(now);
        let wanted = place.processors;
        if self.config.policy != Policy::Conservative {
            self.jobs.iter_mut().for_each(|job| job.start = NEVER);
        }
        let fits = wanted <= self.min_free(place.start, place.end);
        if !fits && overlap == Overlap::Refuse {
            self.update(now);
            return false;
        }
        let window =
            Window { number, place: Place { processors: 0, ..place }, wanted, has_begun: false };
        if !fits {
            self.jobs.iter_mut().for_each(|job| job.start = NEVER);
        }
        let free = self.min_free(place.start, place.end);
        let place = Place { processors: free.min(wanted), ..place };
        self.windows.push(Window { place, ..window });
        if !fits {
            self.outdated = true;
            if self.keeps_reservations() {
                self.plan_anew(now, |_| true);
            }
        }
        self.update(now);
        true
    }

    pub(crate) fn kept(&mut self, now: i64, number: u32) -> u32 {
        let lacks = |it: &Window| !it.has_begun && it.place.processors < it.wanted;
        self.outdated |= self.windows.iter().any(lacks);
        self.lay_windows(now);
        let window = self.windows.iter().find(|it| it.number == number);
        window.map_or(0, |it| it.place.processors)
    }

    pub(crate) fn begin(&mut self, number: u32, processors: u32) {
        let window = self.windows.iter_mut().find(|it| it.number == number).expect("announced");
        self.outdated |= processors < window.place.processors;
        (window.place.processors, window.has_begun) = (processors, true);
    }

    pub(crate) fn end(&mut self, number: u32) -> u32 {
        let place = self.windows.iter().position(|it| it.number == number);
        place.map_or(0, |place| self.windows.remove(place).place.processors)
    }
}
