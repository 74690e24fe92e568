//! One time-shared resource: the jobs with a slot on it, the speed of those that compute, and the
//! end of the next job (Chtepen 2011, section 2.2 and equation 5.1).
//!
//! A job [`reserve`](TimeShared::reserve)s a slot and [`start`](TimeShared::start)s to compute once its
//! input has arrived. It may [`pause`](TimeShared::pause) to write a checkpoint and
//! [`resume`](TimeShared::resume). It gives its slot back when it has been computed or is
//! [`release`](TimeShared::release)d. A paused job holds its share but makes no progress. If it then moves
//! to another resource, it may [`vacate`](TimeShared::vacate) its slot at once for another job.
//!
//! Every resource has a clock of its own, on which each job computes at a constant rate. With equal shares
//! the clock shows the work of a hypothetical job that has always been there, V = ∫ avail/n dt; with
//! reserved shares it shows the time. So a job's end on that clock is known at its start and does not
//! change when other jobs come and go.
//!
//! **Rounding.** Work is counted exactly. A job's end is rounded up to the next microsecond, and unused
//! work in the rest of that microsecond is not counted. Above 22 jobs an equal share may not be a whole
//! number of [`Work`]'s parts; then less than one part per job is carried over to the next change.

use haggle_model::{JobId, Span, Time};

use haggle_model::work::{EffectiveSpeed, Fraction, Speed, Work, span_of};
use litemap::LiteMap;
use serde::{Deserialize, Serialize};

/// Division of a resource's capacity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Sharing {
    /// All computing jobs have the same share, v = (capacity − background)/n.
    Equal {
        /// Jobs that may hold a slot at the same time.
        slots: u32,
    },
    /// Each job has its requested share of the capacity.
    Reserved {
        /// Jobs that may hold a slot at the same time; `None` = any number.
        slots: Option<u32>,
    },
}

/// A share of a resource's capacity, in hundredths of a percent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Share(pub u32);

impl Share {
    /// The whole resource.
    pub const WHOLE: Share = Share(10_000);

    /// A share of `percent` percent.
    pub const fn from_percent(percent: u32) -> Share {
        Share(percent * 100)
    }
}

/// Parts per million in a hundredth of a percent.
const SHARE_PPM: u128 = 100;

impl From<Share> for Fraction {
    fn from(share: Share) -> Fraction {
        Fraction::from_ppm(share.0 * SHARE_PPM as u32)
    }
}

/// Reason why a resource refuses a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// It is down.
    Down,
    /// It has no free slot, or too little free capacity.
    Full,
    /// The job has a slot there already.
    Present,
}

/// Statistics of a resource.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Time with at least one job that computes or writes a checkpoint.
    pub busy: Span,
    /// Time in which no further job would have been accepted, for lack of slots or capacity.
    pub full: Span,
    /// Σ time in which jobs held a slot.
    pub held: Span,
    /// Σ time × share reserved, microseconds × parts per million.
    pub reserved: u128,
    /// Work done, for jobs that were lost as well.
    pub processed: Work,
}

/// A time-shared resource.
///
/// Calls come in order of time. Before time passes [`TimeShared::next_completion`], the caller must take
/// the ended jobs with [`TimeShared::take_completed`].
///
/// ```
/// use haggle_model::{JobId, Time};
/// use haggle_grids::{Share, Sharing, Speed, TimeShared, Work};
///
/// let mut resource = TimeShared::new(Speed::from_mips(2), Sharing::Equal { slots: 2 });
/// for (second, job) in [(0, JobId(0)), (1, JobId(1))] {
///     let now = Time::from_secs(second);
///     let length = Work::from_mi(6);
///     resource.reserve(now, job, length, Work::ZERO, Share::WHOLE).expect("two slots");
///     resource.start(now, job);
/// }
/// // One second at 2 MIPS, then four at 1 MIPS.
/// assert_eq!(resource.next_completion(), Some(Time::from_secs(5)));
/// ```
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TimeShared {
    capacity: Speed,
    background: Speed,
    sharing: Sharing,
    up: bool,
    now: Time,
    clock: Clock,
    jobs: LiteMap<JobId, Held>,
    /// Computing jobs, by the clock's reading at their end.
    ends: LiteMap<(u128, JobId), ()>,
    /// Number of jobs that compute or are paused.
    sharers: u32,
    /// Number of paused jobs whose slots are free.
    vacating: u32,
    /// Sum of the requested shares of all jobs with a slot.
    reserved: u64,
    /// Sum of the rates of all computing jobs.
    rates: u128,
    usage: Usage,
}

impl TimeShared {
    /// An idle resource that is up at time zero.
    pub fn new(capacity: Speed, sharing: Sharing) -> TimeShared {
        TimeShared {
            capacity,
            background: Speed::ZERO,
            sharing,
            up: true,
            now: Time::ZERO,
            clock: Clock::default(),
            // Most resources have one job at a time. A list starts with room for four, and a node of a tree
            // has room for eleven.
            jobs: LiteMap::with_capacity(1),
            ends: LiteMap::with_capacity(1),
            sharers: 0,
            vacating: 0,
            reserved: 0,
            rates: 0,
            usage: Usage::default(),
        }
    }

    /// Returns whether a job with this share would be accepted; with equal shares `share` does not matter.
    pub fn admits(&self, share: Share) -> Result<(), Refused> {
        let held = self.holders() as usize;
        let fits = match self.sharing {
            Sharing::Equal { slots } => held < slots as usize,
            Sharing::Reserved { slots } => {
                // Multiplied out: share / WHOLE ≤ avail / capacity, without rounding.
                let shares = u128::from(self.reserved + u64::from(share.0));
                let capacity = u128::from(self.capacity.as_micro_mips());
                let whole = u128::from(Share::WHOLE.0);
                slots.is_none_or(|slots| held < slots as usize)
                    && shares * capacity <= whole * u128::from(self.avail().as_micro_mips())
            }
        };
        match (self.up, fits) {
            (false, _) => Err(Refused::Down),
            (true, false) => Err(Refused::Full),
            (true, true) => Ok(()),
        }
    }

    /// Gives a slot to a job of `length`; `done` of it has been computed elsewhere.
    pub fn reserve(
        &mut self,
        now: Time,
        job: JobId,
        length: Work,
        done: Work,
        share: Share,
    ) -> Result<(), Refused> {
        // Statistics up to `now` belong to the state before the job.
        self.advance(now);
        self.admits(share)?;
        if self.jobs.contains_key(&job) {
            return Err(Refused::Present);
        }
        self.reserved += u64::from(share.0);
        let done = done.min(length);
        let held = Held { length, done, since: 0, share, stage: Stage::Reserved };
        make_room(&mut self.jobs);
        self.jobs.insert(job, held);
        Ok(())
    }

    /// A job that has reserved a slot begins to compute.
    ///
    /// # Panics
    /// If it has no slot, or computes already.
    pub fn start(&mut self, now: Time, job: JobId) {
        self.advance(now);
        assert_eq!(self.held(job).stage, Stage::Reserved, "{job} starts once");
        self.sharers += 1;
        self.compute(job);
    }

    /// A computing job stops to write a checkpoint. Returns its progress.
    ///
    /// # Panics
    /// If it does not compute.
    pub fn pause(&mut self, now: Time, job: JobId) -> Work {
        self.advance(now);
        self.halt(job);
        let held = self.jobs.get_mut(&job).expect("a job that computes holds a slot");
        held.stage = Stage::Paused;
        held.done
    }

    /// A paused job continues.
    ///
    /// # Panics
    /// If it is not paused.
    pub fn resume(&mut self, now: Time, job: JobId) {
        self.advance(now);
        assert_eq!(self.held(job).stage, Stage::Paused, "{job} is not paused");
        self.compute(job);
    }

    /// A paused job gives its slot back, and keeps its share until it is [`release`](TimeShared::release)d.
    /// With reserved shares, other jobs get no more than before.
    ///
    /// # Panics
    /// If it is not paused.
    pub fn vacate(&mut self, now: Time, job: JobId) {
        self.advance(now);
        assert_eq!(self.held(job).stage, Stage::Paused, "{job} is not paused");
        let held = self.jobs.get_mut(&job).expect("it was there just now");
        held.stage = Stage::Vacating;
        // The job stays a sharer, because it still writes its checkpoint.
        self.vacating += 1;
        self.reserved -= u64::from(held.share.0);
    }

    /// A job leaves before its end. Returns its progress, or `None` if it holds no slot here.
    pub fn release(&mut self, now: Time, job: JobId) -> Option<Work> {
        self.advance(now);
        self.jobs.contains_key(&job).then(|| self.leave(job))
    }

    /// Takes the jobs that have ended by now, in order of their end and number; their slots are free at
    /// once.
    pub fn take_completed(&mut self, now: Time, completed: &mut Vec<JobId>) {
        self.advance(now);
        let reading = self.clock.reading;
        while let Some((&(_, job), ())) = self.ends.first().filter(|(end, ())| end.0 <= reading) {
            self.leave(job);
            completed.push(job);
        }
    }

    /// The background load outside the grid changes.
    pub fn set_background(&mut self, now: Time, background: Speed) {
        self.advance(now);
        self.background = background;
    }

    /// The resource fails: appends the progress of each job, by number, and forgets all jobs.
    pub fn fail(&mut self, now: Time, lost: &mut Vec<(JobId, Work)>) {
        self.advance(now);
        // From the first on, because each job that leaves changes the list.
        while let Some(&job) = self.jobs.keys().next() {
            let done = self.leave(job);
            lost.push((job, done));
        }
        self.up = false;
    }

    /// The resource works again, without jobs.
    pub fn restore(&mut self, now: Time) {
        self.advance(now);
        self.up = true;
    }

    /// End of the next job if nothing changes before.
    #[inline]
    pub fn next_completion(&self) -> Option<Time> {
        let (&(end, _), ()) = self.ends.first()?;
        // The reading may be beyond the end by the rest of its microsecond.
        let left = end.saturating_sub(self.clock.reading);
        let wait = match self.sharing {
            Sharing::Equal { .. } => self.clock.until(left, self.rate(), self.sharers)?,
            Sharing::Reserved { .. } => left,
        };
        // A job without a share never ends.
        Some(self.now + span_of(wait)).filter(|&end| end < self.now + Span::FOREVER)
    }

    /// Advances the time without other events, not beyond [`TimeShared::next_completion`].
    pub fn advance(&mut self, now: Time) {
        debug_assert!(now >= self.now, "time runs forwards");
        debug_assert!(
            self.next_completion().is_none_or(|end| now <= end),
            "an end was passed over"
        );
        // Several calls at one instant are common, and the first has done the work.
        let span = now - self.now;
        if span <= Span::ZERO {
            return;
        }
        self.usage.held += Span::from_micros(span.as_micros() * i64::from(self.holders()));
        self.usage.reserved += span.as_micros() as u128 * u128::from(self.reserved) * SHARE_PPM;
        if self.sharers > 0 {
            self.usage.busy += span;
        }
        // A resource is full if it would not accept even the smallest share.
        if self.admits(Share(1)) == Err(Refused::Full) {
            self.usage.full += span;
        }
        let micros = span.as_micros() as u128;
        let before = self.clock.reading;
        match self.sharing {
            Sharing::Equal { .. } => self.clock.run(micros, self.rate(), self.sharers),
            Sharing::Reserved { .. } => self.clock.reading += micros,
        }
        // Includes work after the end of a job; `halt` takes it off again.
        self.usage.processed += Work::from_parts((self.clock.reading - before) * self.rates);
        self.now = now;
    }

    /// Progress of a job by now, or `None` if it holds no slot here.
    pub fn progress(&mut self, now: Time, job: JobId) -> Option<Work> {
        self.advance(now);
        let held = self.jobs.get(&job)?;
        Some(held.progress(self.clock.reading, self.rate_of(held.share)))
    }

    /// The statistics up to now.
    pub fn usage(&mut self, now: Time) -> Usage {
        self.advance(now);
        self.usage
    }

    /// The jobs that hold a slot, by number.
    pub fn jobs(&self) -> impl Iterator<Item = JobId> {
        self.jobs.keys().copied()
    }

    /// Jobs that hold a slot, n_res.
    pub fn holders(&self) -> u32 {
        self.jobs.len() as u32 - self.vacating
    }

    /// Jobs that compute or write a checkpoint, n_run.
    pub fn sharers(&self) -> u32 {
        self.sharers
    }

    /// Division of its capacity.
    pub fn sharing(&self) -> Sharing {
        self.sharing
    }

    /// Returns whether it works.
    pub fn is_up(&self) -> bool {
        self.up
    }

    /// Returns whether the work of each job in a microsecond is a whole number of parts, so that any division of
    /// time gives the same result.
    pub fn shares_are_whole(&self) -> bool {
        match self.sharing {
            Sharing::Equal { .. } => {
                let sharers = u128::from(self.sharers.max(1));
                self.clock.carry == 0 && self.rate().is_multiple_of(sharers)
            }
            Sharing::Reserved { .. } => true,
        }
    }

    /// The speed of all jobs together, which the background load leaves.
    pub fn avail(&self) -> Speed {
        self.capacity.saturating_sub(self.background)
    }

    /// Parts of work per microsecond that equal shares divide.
    fn rate(&self) -> u128 {
        u128::from(self.avail().as_micro_mips()) * Work::PER_MICRO
    }

    /// Parts of work of a job with this share per step of the clock.
    fn rate_of(&self, share: Share) -> u128 {
        match self.sharing {
            // The clock itself shows the work of each job.
            Sharing::Equal { .. } => 1,
            Sharing::Reserved { .. } => {
                // Divided first: a microsecond of work has a whole number of parts for each share.
                let part = Work::PER_MICRO / u128::from(Share::WHOLE.0);
                u128::from(self.capacity.as_micro_mips()) * u128::from(share.0) * part
            }
        }
    }

    fn held(&self, job: JobId) -> &Held {
        self.jobs.get(&job).unwrap_or_else(|| panic!("{job} holds no slot here"))
    }

    fn compute(&mut self, job: JobId) {
        let rate = self.rate_of(self.held(job).share);
        let held = self.jobs.get_mut(&job).expect("the caller has looked");
        (held.stage, held.since) = (Stage::Computing, self.clock.reading);
        // The end depends on `since`, which must be set before.
        let end = held.end(rate);
        self.rates += rate;
        make_room(&mut self.ends);
        self.ends.insert((end, job), ());
    }

    /// Ends a stretch of computing and keeps its progress.
    fn halt(&mut self, job: JobId) {
        let reading = self.clock.reading;
        let rate = self.rate_of(self.held(job).share);
        let held = self.jobs.get_mut(&job).expect("the caller has looked");
        assert_eq!(held.stage, Stage::Computing, "{job} does not compute");
        // The key is the end found at the start, so `done` must not have changed yet.
        self.ends.remove(&(held.end(rate), job));
        self.rates -= rate;
        // The rest of the microsecond in which the job has ended is not used.
        let given = Work::from_parts((reading - held.since) * rate);
        let taken = held.progress(reading, rate) - held.done;
        self.usage.processed -= given - taken;
        held.done += taken;
    }

    fn leave(&mut self, job: JobId) -> Work {
        let stage = self.held(job).stage;
        if stage == Stage::Computing {
            self.halt(job);
        }
        // A job without its input is no sharer yet.
        if stage != Stage::Reserved {
            self.sharers -= 1;
            // Carried work belongs to the jobs that have left, not to the next one.
            if self.sharers == 0 {
                self.clock.carry = 0;
            }
        }
        let held = self.jobs.remove(&job).expect("it was there just now");
        match stage {
            // The share was given back when the job vacated its slot.
            Stage::Vacating => self.vacating -= 1,
            _ => self.reserved -= u64::from(held.share.0),
        }
        held.done
    }
}

/// Makes room for one more entry in a short list, which begins with room for one and grows by half. By
/// default it would grow to room for four, on each of a hundred thousand resources.
pub fn make_room<K: Ord, V>(list: &mut LiteMap<K, V>) {
    let mut entries = std::mem::take(list).into_tuple_vec();
    if entries.len() == entries.capacity() {
        entries.reserve_exact(1 + entries.len() / 2);
    }
    *list = LiteMap::from_sorted_store_unchecked(entries);
}

/// A job that holds a slot, or a share without one.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Held {
    length: Work,
    /// Its progress when its stage began.
    done: Work,
    /// For a computing job: the reading of the clock when it began to compute.
    since: u128,
    share: Share,
    stage: Stage,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Stage {
    /// Its input is in transit.
    Reserved,
    /// It computes.
    Computing,
    /// It writes a checkpoint.
    Paused,
    /// It writes a checkpoint, and its slot is free.
    Vacating,
}

impl Held {
    /// The reading of the clock at which it ends if it computes at this rate.
    fn end(&self, rate: u128) -> u128 {
        let left = (self.length - self.done).as_parts();
        match (left, rate) {
            // No work is left: it ends at once, even without a share.
            (0, _) => self.since,
            // The job has no share, so it never ends.
            (_, 0) => u128::MAX,
            _ => self.since + left.div_ceil(rate),
        }
    }

    /// Its progress at a reading of the clock.
    fn progress(&self, reading: u128, rate: u128) -> Work {
        if self.stage != Stage::Computing {
            return self.done;
        }
        (self.done + Work::from_parts((reading - self.since) * rate)).min(self.length)
    }
}

/// The clock of the jobs' rates: virtual work or time.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Clock {
    reading: u128,
    /// Work that could not be divided evenly yet.
    carry: u128,
}

impl Clock {
    /// Divides `micros` of work at `rate` among `sharers`.
    fn run(&mut self, micros: u128, rate: u128, sharers: u32) {
        if sharers > 0 {
            let work = micros * rate + self.carry;
            self.reading += work / u128::from(sharers);
            self.carry = work % u128::from(sharers);
        }
    }

    /// Microseconds until the reading has grown by `left`, rounded up; `None` = never.
    fn until(&self, left: u128, rate: u128, sharers: u32) -> Option<u128> {
        match (left.saturating_mul(u128::from(sharers)).saturating_sub(self.carry), rate) {
            (0, _) => Some(0),
            (_, 0) => None,
            (work, _) => Some(work.div_ceil(rate)),
        }
    }
}

/// E or RE: time that `work` takes for a job with a share of one in `sharers` of `avail`, rounded up to the
/// next microsecond.
#[inline]
pub fn execution(work: Work, avail: Speed, sharers: u32) -> Span {
    work.at_effective(EffectiveSpeed::shared(avail, u64::from(sharers.max(1))))
}
