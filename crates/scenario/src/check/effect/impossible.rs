//! Listed jobs that are certain to be rejected: too wide for their receiver, or with a window that is too short or
//! closed.
//!
//! Only certain cases are reported. Jobs that a step may drop or change are skipped here; the run counts their
//! rejections.

use std::collections::BTreeMap;

use haggle_model::Time;
use haggle_scheduling::Profile;

use crate::check::Check;
use crate::check::names::Names;
use crate::file::{InlineJob, Maintenance, Metascheduler, Provider, Role, Step, User, Workload};
use crate::quantity::TimeSpan;
use crate::{Directory, Scenario};
use haggle_config::document::Path;

/// Receiver of jobs, with the jobs that fit there.
struct Taker<'a> {
    name: &'a str,
    kind: &'static str,
    /// Fewest processors of a job.
    least: u64,
    /// Most processors of a job.
    most: u64,
    /// Addition to `most` in messages.
    how: &'static str,
    /// Its windows, if it keeps to them.
    windows: Option<Windows>,
}

/// Room for windows.
struct Windows {
    /// Free processors, without maintenance that is known from the beginning.
    room: Profile,
    speed: f64,
}

/// Steps between a source of jobs and their receiver, with their paths.
struct Way<'a>(Vec<(Path, &'a Step)>);

/// True if a step changes neither the times nor the windows of jobs.
fn keeps_windows(step: &Step) -> bool {
    matches!(
        step,
        Step::Reservations { lead: None, flexibility: None, .. }
            | Step::Key { .. }
            | Step::RunTimesAsRequested {}
            | Step::RunTimes { .. }
            | Step::ExtendRunTimes { .. }
    )
}

impl Way<'_> {
    /// True if all jobs arrive with the widths that are listed.
    fn keeps_widths(&self) -> bool {
        self.0.iter().all(|(_, step)| {
            matches!(
                step,
                Step::Estimates { .. }
                    | Step::Deadlines { .. }
                    | Step::ReadyTimes { .. }
                    | Step::Reservations { .. }
                    | Step::Key { .. }
                    | Step::ScaleGaps { .. }
                    | Step::Shake { .. }
                    | Step::Spread { .. }
                    | Step::ScaleTimes { .. }
                    | Step::RunTimesAsRequested {}
                    | Step::RunTimes { .. }
                    | Step::ExtendRunTimes { .. }
            )
        })
    }

    /// True if all jobs arrive with the windows that are listed.
    fn keeps_windows(&self) -> bool {
        self.0.iter().all(|(_, step)| keeps_windows(step))
    }

    /// Step that makes all windows exactly as long as the requested time, if no step behind it changes them.
    fn strict(&self) -> Option<&Path> {
        let (path, last) = self.0.iter().rev().find(|(_, step)| !keeps_windows(step))?;
        let strict = matches!(last, Step::Reservations { lead: Some(_), flexibility: None, .. });
        strict.then_some(path)
    }

    fn reserves(&self) -> bool {
        self.0.iter().any(|(_, step)| matches!(step, Step::Reservations { .. }))
    }

    /// True if users accept intervals beside a window.
    fn accepts_others(&self) -> bool {
        self.0.iter().any(|(_, step)| matches!(step, Step::Reservations { accepts: Some(_), .. }))
    }
}

impl Check<'_> {
    pub(super) fn impossible_jobs(&mut self, names: &Names) {
        let (scenario, directory) = (self.scenario, self.directory);
        let mut takers = Takers::of(scenario, names, directory);
        for user in &scenario.users {
            for (place, way) in sources(scenario, directory, user.workload.as_str()) {
                let Some(taker) = takers.taker(user, &way) else { continue };
                let path = Path::root().key("workload").index(place);
                let workload = &scenario.workloads[place];
                if way.keeps_widths() {
                    self.too_wide(&path, workload, &taker);
                    self.too_narrow(&path, workload, &taker);
                }
                let Some(windows) = &taker.windows else { continue };
                if way.keeps_windows() {
                    self.never_in_window(&path, workload, &taker, windows);
                }
                if let Some(step) = way.strict().filter(|_| windows.speed < 1.0) {
                    self.too_slow(step, workload, &taker, windows);
                }
            }
        }
    }

    /// Listed jobs that arrive before submissions stop, with their paths.
    pub(super) fn listed<'b>(
        &self,
        path: &'b Path,
        workload: &'b Workload,
    ) -> impl Iterator<Item = (Path, &'b InlineJob)> + use<'b> {
        let until = self.scenario.scenario.until;
        let jobs = workload.jobs.iter().flatten().enumerate();
        jobs.filter(move |(_, job)| until.is_none_or(|until| job.submit < until))
            .map(|(index, job)| (path.key("jobs").index(index), job))
    }

    fn too_wide(&mut self, path: &Path, workload: &Workload, taker: &Taker<'_>) {
        let wide = |(_, job): &(Path, &InlineJob)| u64::from(job.processors) > taker.most;
        let wide: Vec<(Path, &InlineJob)> = self.listed(path, workload).filter(wide).collect();
        let Some((at, job)) = wide.first() else { return };
        let Taker { name, kind, most, how, .. } = taker;
        let message = format!(
            "a job of workload \"{}\" needs {} processors, and {kind} \"{name}\" can give it {most}{how}: \
             it will be rejected{}",
            workload.name,
            job.processors,
            others(wide.len()),
        );
        let help = format!("write {most} at most, or submit it to an actor with more");
        self.doubt(&at.key("processors"), message, "too wide", help);
    }

    /// Warns of jobs with fewer processors than their parts need.
    fn too_narrow(&mut self, path: &Path, workload: &Workload, taker: &Taker<'_>) {
        let narrow = |(_, job): &(Path, &InlineJob)| u64::from(job.processors) < taker.least;
        let narrow: Vec<(Path, &InlineJob)> = self.listed(path, workload).filter(narrow).collect();
        let Some((at, job)) = narrow.first() else { return };
        let Taker { name, kind, least, .. } = taker;
        let message = format!(
            "a job of workload \"{}\" needs {}, and the parts into which {kind} \"{name}\" divides it take {least}: it \
             will be rejected{}",
            workload.name,
            processors(job.processors),
            others(narrow.len()),
        );
        let help = format!("write {least} at least, or lower `parts` or `part-min`");
        self.doubt(&at.key("processors"), message, "too narrow", help);
    }

    fn never_in_window(
        &mut self,
        path: &Path,
        workload: &Workload,
        taker: &Taker<'_>,
        windows: &Windows,
    ) {
        let never = |(_, job): &(Path, &InlineJob)| {
            u64::from(job.processors) <= taker.most && !windows.has_room(job)
        };
        let never: Vec<(Path, &InlineJob)> = self.listed(path, workload).filter(never).collect();
        let Some((at, job)) = never.first() else { return };
        let (Some(asked), Some(deadline)) = (job.requested, job.deadline) else { return };
        let from = earliest(job);
        let lasts = TimeSpan(asked.0.at_speed(windows.speed));
        let short = from.0 + lasts.0 > deadline.0;
        let why = if short {
            format!("is shorter than the {lasts} that it asks for")
        } else {
            "is closed for maintenance".to_owned()
        };
        let message = format!(
            "the window of a job of workload \"{}\" at {} \"{}\", from {from} to {deadline}, {why}: it will \
             be rejected{}",
            workload.name,
            taker.kind,
            taker.name,
            others(never.len()),
        );
        let help = match windows.earliest_end(job) {
            Some(end) => format!("write {end} at least"),
            None => "remove the maintenance, or the job".to_owned(),
        };
        self.doubt(&at.key("deadline"), message, "never", help);
    }

    /// Warns of windows that are exactly long enough on a reference processor, at a slower provider.
    fn too_slow(&mut self, step: &Path, workload: &Workload, taker: &Taker<'_>, it: &Windows) {
        let message = format!(
            "the windows of workload \"{}\" are as long as the requested times, and {} \"{}\", of speed {}, \
             takes longer: it will grant none",
            workload.name, taker.kind, taker.name, it.speed,
        );
        let help = "add `flexibility`, or submit to a provider of speed 1".to_owned();
        self.doubt(&step.key("lead"), message, "too short", help);
    }
}

impl Windows {
    fn has_room(&self, job: &InlineJob) -> bool {
        let (Some(asked), Some(deadline)) = (job.requested, job.deadline) else { return true };
        let lasts = asked.0.at_speed(self.speed);
        let latest = Time::ZERO + (deadline.0 - lasts);
        let from = Time::ZERO + earliest(job).0;
        from <= latest && self.room.earliest_fit_by(job.processors, lasts, from, latest).is_some()
    }

    /// Earliest time at which the job can end.
    fn earliest_end(&self, job: &InlineJob) -> Option<TimeSpan> {
        let lasts = job.requested?.0.at_speed(self.speed);
        let from = Time::ZERO + earliest(job).0;
        let start = self.room.earliest_fit(job.processors, lasts, from)?;
        Some(TimeSpan(start + lasts - Time::ZERO))
    }
}

fn earliest(job: &InlineJob) -> TimeSpan {
    job.ready.unwrap_or(job.submit).max(job.submit)
}

fn processors(count: u32) -> String {
    if count == 1 { "1 processor".to_owned() } else { format!("{count} processors") }
}

/// The end of a message about the first of so many jobs.
pub(super) fn others(count: usize) -> String {
    match count {
        1 => String::new(),
        2 => ", and so will another one".to_owned(),
        _ => format!(", and so will {} others", count - 1),
    }
}

/// Places of the workloads merged into one, itself included, each with the steps that follow.
fn sources<'a>(
    scenario: &'a Scenario,
    directory: &Directory<'a>,
    name: &str,
) -> Vec<(usize, Way<'a>)> {
    let mut sources = Vec::new();
    let mut open = vec![(name.to_owned(), Vec::new())];
    // Mergers have been checked to have no circle, so this ends.
    while let Some((name, behind)) = open.pop() {
        let Some(place) = directory.workload_place(&name) else { continue };
        let workload = &scenario.workloads[place];
        let path = Path::root().key("workload").index(place).key("step");
        let steps = workload.steps.iter().enumerate().map(|(at, step)| (path.index(at), step));
        let steps: Vec<(Path, &Step)> = steps.chain(behind).collect();
        for part in workload.merge.iter().flatten() {
            open.push((part.to_string(), steps.clone()));
        }
        sources.push((place, Way(steps)));
    }
    sources
}

/// Receivers of jobs, looked up once for all users.
struct Takers<'a> {
    scenario: &'a Scenario,
    names: &'a Names,
    directory: &'a Directory<'a>,
    /// Maintenance of each provider, by its name, that has no `notice` and so is known from the beginning.
    closed: BTreeMap<String, Vec<&'a Maintenance>>,
    /// Widths of jobs of each metascheduler examined so far, by its place.
    widths: BTreeMap<usize, Option<Widths>>,
}

/// Numbers of processors that a job of a metascheduler may have.
#[derive(Clone, Copy)]
struct Widths {
    least: u64,
    most: u64,
    /// Addition to `most` in messages.
    how: &'static str,
}

impl<'a> Takers<'a> {
    fn of(scenario: &'a Scenario, names: &'a Names, directory: &'a Directory<'a>) -> Takers<'a> {
        let mut closed: BTreeMap<String, Vec<&Maintenance>> = BTreeMap::new();
        for maintenance in scenario.maintenance.iter().filter(|it| it.notice.is_none()) {
            for copy in names.copies_meant(&maintenance.of) {
                closed.entry(copy).or_default().push(maintenance);
            }
        }
        Takers { scenario, names, directory, closed, widths: BTreeMap::new() }
    }

    fn taker<'u>(&mut self, user: &'u User, way: &Way<'_>) -> Option<Taker<'u>> {
        let name = user.submits_to.as_str();
        if let Some(&place) = self.names.providers.get(name) {
            let provider = &self.scenario.providers[place];
            let windows = keeps_to_windows(provider, way).then(|| self.windows(name, provider));
            let most = u64::from(provider.processors);
            return Some(Taker { name, kind: "provider", least: 0, most, how: "", windows });
        }
        let place = self.directory.metascheduler_place(name)?;
        let metascheduler = &self.scenario.metaschedulers[place];
        let (scenario, names) = (self.scenario, self.names);
        let widths = self.widths.entry(place);
        let widths = *widths.or_insert_with(|| widths_of(scenario, metascheduler, names));
        let Widths { least, most, how } = widths?;
        Some(Taker { name, kind: "metascheduler", least, most, how, windows: None })
    }

    fn windows(&self, copy: &str, provider: &Provider) -> Windows {
        let mut room = Profile::new(provider.processors);
        for maintenance in self.closed.get(copy).into_iter().flatten() {
            let closed = maintenance.processors.unwrap_or(provider.processors);
            for (from, until) in maintenance.windows() {
                room.add(Time::ZERO + from, Time::ZERO + until, closed);
            }
        }
        Windows { room, speed: provider.speed }
    }
}

/// True if a provider grants windows as requested, and users accept no other interval.
fn keeps_to_windows(provider: &Provider, way: &Way<'_>) -> bool {
    let offers = provider.policy.reserving().is_some_and(|it| it.threshold.is_some());
    way.reserves() && !(offers && way.accepts_others())
}

/// Numbers of processors that a job of a metascheduler may have. `None` for bags, whose tasks may follow each
/// other, and for mapped applications.
fn widths_of(scenario: &Scenario, metascheduler: &Metascheduler, names: &Names) -> Option<Widths> {
    let any = |most: u64, how: &'static str| Some(Widths { least: 0, most, how });
    let copies = names.copies_meant(&metascheduler.providers);
    let places = copies.iter().filter_map(|copy| names.providers.get(copy));
    let sizes: Vec<(u64, &Provider)> = places
        .map(|&place| &scenario.providers[place])
        .map(|it| (u64::from(it.processors), it))
        .collect();
    match metascheduler.role() {
        // Mapped applications have processes, and no width.
        Role::Composes(_) | Role::Maps(_) => None,
        Role::Places(_) | Role::Moves(_) => {
            any(sizes.iter().map(|it| it.0).max()?, " at one provider")
        }
        Role::Spreads(coallocation) if coallocation.protocol.is_none() => {
            let published = |(size, provider): &(u64, &Provider)| {
                let share =
                    provider.publishes.map_or(1_000_000, |share| u64::from(share.millionths()));
                size * share / 1_000_000
            };
            let mut published: Vec<u64> = sizes.iter().map(published).collect();
            // Largest first: the widest job takes the `parts` providers that publish most.
            published.sort_unstable_by(|a, b| b.cmp(a));
            let (count, place) = match coallocation.parts {
                None => (published.len(), " at all of its providers together"),
                Some(parts) => (parts as usize, " at as many of its providers as `parts` says"),
            };
            let least =
                u64::from(coallocation.parts.unwrap_or(0)) * u64::from(coallocation.part_min);
            Some(Widths { least, most: published.iter().take(count).sum(), how: place })
        }
        // Each provider is asked for an equal part, and some for one processor more.
        Role::Spreads(_) => {
            let (least, count) = (sizes.iter().map(|it| it.0).min()?, sizes.len() as u64);
            let all: u64 = sizes.iter().map(|it| it.0).sum();
            any(all.min(least * count + count - 1), " in equal parts")
        }
    }
}
