//! Changes of a run while it goes on: the differences between the worlds of a scenario before and after each of them.
//!
//! The world of a later scenario is built as that of any scenario. Actors that differ from those of the world before
//! are sent to the run as new settings. Jobs and failures are read anew from the instant on if their tables, or the
//! seed, have changed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use haggle_agents::AnyActor;
use haggle_model::{ActorId, Job, Time};
use haggle_results::sha256;
use haggle_runtime::{Arrivals, Change, Outages};
use haggle_scenario::file::SubmittedJobs;
use haggle_scenario::listed_jobs;
use haggle_scenario::quantity::Name;
use haggle_scenario::{Scenario, file};
use haggle_workloads::{SharedReport, Source, WallClock, WatchedStep, Workload};

use super::cast::SUBMITTED;
use super::workload::WorkloadError;
use super::world::{Stage, StageError};

/// Facts about the worlds after the changes of a run.
#[derive(Default)]
pub(super) struct Changes {
    /// The changes.
    pub(super) all: Vec<Change>,
    /// Inputs of all later scenarios: names in the scenario, and paths.
    pub(super) inputs: Vec<(String, PathBuf)>,
    /// Facts about the workloads that are read last, if a change replaces those of the start.
    pub(super) read: Option<Read>,
    /// Settings without effect that building the later worlds showed.
    pub(super) warnings: Vec<String>,
}

/// Facts about workloads that are complete after a run.
pub(super) struct Read {
    pub(super) reports: Vec<(String, SharedReport)>,
    pub(super) steps: Vec<WatchedStep>,
    pub(super) clocks: Vec<Option<WallClock>>,
}

impl Changes {
    /// The changes of `scenario`, whose run begins with these actors. Relative paths start from `folder`.
    pub(super) fn of(
        scenario: &Scenario,
        folder: &Path,
        actors: &[AnyActor],
    ) -> Result<Changes, StageError> {
        let mut all = Changes::default();
        if scenario.changes.is_empty() {
            return Ok(all);
        }
        let (mut before, mut actors) = (scenario, prints(actors));
        let mut submitted = Submitted::default();
        for change in &scenario.changes {
            let later = change.scenario.as_deref().expect("scenarios are read with their changes");
            submitted.add(&change.submit);
            let step = Step { before, later, at: Time::ZERO + change.at.0, folder };
            let (found, fresh) = step.later(&actors, (change, &submitted))?;
            all.add(found);
            (before, actors) = (later, fresh);
        }
        Ok(all)
    }

    fn add(&mut self, later: Later) {
        let Later { change, inputs, read, warnings } = later;
        self.read = read.or(self.read.take());
        self.inputs.extend(inputs);
        self.warnings.extend(warnings);
        self.all.push(change);
    }
}

/// A change, and facts about the later world.
struct Later {
    change: Change,
    inputs: Vec<(String, PathBuf)>,
    read: Option<Read>,
    warnings: Vec<String>,
}

/// The step from one scenario to the next.
struct Step<'s> {
    before: &'s Scenario,
    later: &'s Scenario,
    at: Time,
    folder: &'s Path,
}

impl Step<'_> {
    /// The change, and the digests of the later actors. `actors` are the digests of those before.
    fn later(
        &self,
        actors: &[String],
        (change, submitted): (&file::Change, &Submitted),
    ) -> Result<(Later, Vec<String>), StageError> {
        let &Step { before, later, at, folder } = self;
        let Stage { world, reports, inputs, steps, clocks, warnings, .. } =
            Stage::set(&without_start_jobs(later), folder)?;
        let fresh = prints(&world.actors);
        let reseeded = before.scenario.seed != later.scenario.seed;
        let differs = |place: usize| actors.get(place) != Some(&fresh[place]);
        let changed = (0..).map(ActorId).zip(world.actors);
        let changed = changed.filter(|(id, it)| differs(id.index()) && takes_settings(it));
        let changed = Vec::from_iter(changed);
        let replaces = reseeded || !change.submit.is_empty() || self.reads_other_jobs();
        let read = replaces.then_some(Read { reports, steps, clocks });
        let arrivals = if replaces {
            // Jobs of start states precede those of users.
            let of_users = world.arrivals.iter().skip(later.start_state_owners().count());
            let users = later.users.iter().map(|user| &user.name).zip(of_users);
            let users = Vec::from_iter(users.map(|(name, (user, _))| (name, *user)));
            let more = submitted.arrivals(later, &users)?;
            let all = world.arrivals.into_iter().chain(more);
            Some(all.map(|(user, jobs)| (user, from(at, jobs))).collect())
        } else {
            None
        };
        let outages = world.outages.filter(|_| reseeded || self.fails_otherwise());
        let warnings = if outages.is_some() { warnings } else { Vec::new() };
        let change = Change {
            at,
            actors: changed,
            reseeded,
            horizon: world.horizon,
            network: world.network,
            arrivals,
            outages: outages.map(|it| Outages {
                due: Box::new(it.due.skip_while(move |(_, outage)| outage.fail < at)),
                ..it
            }),
        };
        Ok((Later { change, inputs, read, warnings }, fresh))
    }

    /// True if the jobs from the instant on are read from other tables.
    fn reads_other_jobs(&self) -> bool {
        let Step { before, later, .. } = self;
        let mut users = before.users.iter().zip(&later.users);
        before.workloads != later.workloads
            || before.scenario.until != later.scenario.until
            || users.any(|(was, is)| was.workload != is.workload)
    }

    /// True if the failures from the instant on are read from other tables.
    fn fails_otherwise(&self) -> bool {
        let Step { before, later, .. } = self;
        before.failures != later.failures || before.scenario.horizon != later.scenario.horizon
    }
}

/// The scenario with empty start states of providers: their jobs belong to time zero and its settings.
fn without_start_jobs(later: &Scenario) -> Scenario {
    let mut later = later.clone();
    for provider in later.providers.iter_mut().filter(|it| it.has_start_state()) {
        provider.initial = Some(Vec::new());
        provider.initial_file = None;
    }
    later
}

/// The jobs that changes have submitted so far, by user. They are numbered in order of the changes.
#[derive(Default)]
struct Submitted {
    jobs: BTreeMap<Name, Vec<Job>>,
    count: i64,
}

impl Submitted {
    fn add(&mut self, submitted: &[SubmittedJobs]) {
        for SubmittedJobs { user, jobs } in submitted {
            let own = self.jobs.entry(user.clone()).or_default();
            own.extend(listed_jobs(jobs, self.count + 1));
            self.count += jobs.len() as i64;
        }
    }

    /// The jobs of each user, as a workload behind those of the scenario.
    fn arrivals(
        &self,
        scenario: &Scenario,
        users: &[(&Name, ActorId)],
    ) -> Result<Vec<(ActorId, Arrivals)>, WorkloadError> {
        let index = scenario.workloads.len() + scenario.start_state_owners().count();
        let index = u16::try_from(index).unwrap_or(u16::MAX);
        let mut all: Vec<(ActorId, Arrivals)> = Vec::new();
        for (name, user) in users {
            let Some(mut jobs) = self.jobs.get(*name).cloned() else { continue };
            // Equal times keep the order of the file.
            jobs.sort_by_key(|job| job.submit);
            let workload = Workload {
                name: SUBMITTED.to_owned(),
                index,
                seed: scenario.scenario.seed,
                source: Source::Jobs(jobs),
                steps: Vec::new(),
            };
            let open = workload.open().map_err(|error| WorkloadError::Open {
                workload: SUBMITTED.to_owned(),
                error: Box::new(error),
            })?;
            all.push((*user, Box::new(open.jobs.map(|job| job.map_err(Into::into)))));
        }
        Ok(all)
    }
}

/// The jobs that are submitted at an instant or later.
fn from(at: Time, jobs: Arrivals) -> Arrivals {
    // An error is passed on, so that it ends the run.
    Box::new(jobs.skip_while(move |job| job.as_ref().is_ok_and(|job| job.submit < at)))
}

/// Digests of actors before their first messages.
pub(super) fn prints(actors: &[AnyActor]) -> Vec<String> {
    let print = |actor| sha256(&postcard::to_stdvec(actor).expect("actors can be written"));
    actors.iter().map(print).collect()
}

/// True if an actor takes over new settings while a run goes on. The others keep those of the start.
fn takes_settings(actor: &AnyActor) -> bool {
    matches!(
        actor,
        AnyActor::User(_)
            | AnyActor::Provider(_)
            | AnyActor::Metascheduler(_)
            | AnyActor::Negotiator(_)
            | AnyActor::Coallocator(_)
            | AnyActor::Transactor(_)
            | AnyActor::Reallocator(_)
            | AnyActor::Nature(_)
    )
}
