//! A run in numbers: `summary.json`.

use std::collections::BTreeMap;

use haggle_model::observation::DisclosedItem;
use haggle_model::{JobClass, JobOutcome, ProviderInfo, Time};
use serde::{Deserialize, Serialize};

use super::failures;
use super::grid::Came;
use super::{
    AsRecorded, BagSample, Bags, CoallocatedJobs, Cut, Deadlines, Distribution, Eavesdropping,
    Extent, FailureMetrics, FollowingJobs, GivenBack, GridSummary, Maintenance, Metrics, Moves,
    Networks, NodeUse, Plans, PreemptionMetrics, RecordedStarts, Reservations, Sample,
    Transactions, Workflows, bounded_slowdown,
};

const SECOND: f64 = haggle_model::time::MICROS_PER_SECOND as f64;

/// A run in numbers. The first fields are the keys of Batsim's `schedule.json`. Unlike there, means are
/// divided by the jobs over which they are taken: those that started.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Last end - first submission, s; missing if no job ran.
    pub makespan: Option<f64>,
    /// Largest slowdown.
    pub max_slowdown: Option<f64>,
    /// Largest turnaround time, s.
    pub max_turnaround_time: Option<f64>,
    /// Largest waiting time, s.
    pub max_waiting_time: Option<f64>,
    /// Mean bounded slowdown.
    pub mean_bounded_slowdown: Option<f64>,
    /// Mean slowdown.
    pub mean_slowdown: Option<f64>,
    /// Mean turnaround time, s.
    pub mean_turnaround_time: Option<f64>,
    /// Mean waiting time, s.
    pub mean_waiting_time: Option<f64>,
    /// Processors of all providers.
    pub nb_computing_machines: u64,
    /// Jobs.
    pub nb_jobs: u64,
    /// Jobs that were neither rejected nor left unfinished.
    pub nb_jobs_finished: u64,
    /// Jobs that were withdrawn, stopped at their limit or given up when processors failed.
    pub nb_jobs_killed: u64,
    /// Jobs that were refused.
    pub nb_jobs_rejected: u64,
    /// Jobs that ran to their end.
    pub nb_jobs_success: u64,
    /// nb_jobs_success / nb_jobs; missing if there was no job.
    pub success_rate: Option<f64>,
    /// Σ run time × processors over the whole run, processor-seconds; of a grid, the time in which its
    /// resources computed.
    pub time_computing: f64,
    /// nb_computing_machines × makespan - time_computing, processor-seconds; of a grid, the rest of the run.
    pub time_idle: f64,

    /// Σ run time × processors / (processors of providers and clusters × makespan); missing for a grid
    /// alone, whose jobs share resources.
    pub utilisation: Option<f64>,
    /// Share of processor time used between the ends of the cut; without a cut, the utilisation.
    pub utilisation_in_window: Option<f64>,
    /// T in the definition of the bounded slowdown, s.
    pub bounded_slowdown_threshold: f64,
    /// Jobs that were left out of counts and distributions.
    pub cut: Cut,
    /// Number of jobs that were left out.
    pub jobs_cut: u64,
    /// True if the run stopped at its horizon before all jobs had arrived. Later jobs are not counted at all.
    #[serde(default)]
    pub cut_off: bool,
    /// All jobs.
    pub all: Group,
    /// By class: local or external.
    pub classes: Vec<Group>,
    /// By the provider that ran them or queued them last.
    pub providers: Vec<Group>,
    /// By workload.
    pub workloads: Vec<Group>,
    /// Bags, and jobs that could be spread, by the number of their providers: `single-provider` and
    /// `multi-provider`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub spans: Vec<Group>,
    /// Bags by tasks x run time: `smallest-quarter`, `second-quarter`, `third-quarter`
    /// and `largest-quarter`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sizes: Vec<Group>,
    /// Number of disclosed items by sender, receiver and kind, as in the table `disclosures`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub disclosures: Vec<DisclosedCount>,
    /// Items disclosed about resources and plans. Items that only describe a job, or report its
    /// outcome, are excluded.
    #[serde(default)]
    pub items_disclosed: u64,
    /// Items disclosed by kind, summed over all actors.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub disclosed: BTreeMap<String, u64>,
    /// Metrics of a grid and its jobs. Missing in runs without a grid.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grid: Option<GridSummary>,
    /// Metrics of failures. Missing if no processor of a provider may fail; failures of grids are in `grid`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failures: Option<FailureMetrics>,
    /// Running jobs that were stopped for others. Missing if no provider may stop any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preemptions: Option<PreemptionMetrics>,
    /// Metrics of nodes. Missing if no provider places jobs on nodes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nodes: Option<NodeUse>,
    /// Metrics of maintenance. Missing if no window was announced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub maintenance: Option<Maintenance>,
    /// Reserved time that jobs returned because they ended before their plan. Missing if none did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub given_back: Option<GivenBack>,
    /// Estimates that an eavesdropper could make from providers' answers to calls for offers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub eavesdropping: Option<Eavesdropping>,
    /// Faults of messages. Missing if there were none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message_faults: Option<MessageFaults>,
    /// Costs and outcomes of transactions on parts of jobs. Missing if the scenario chooses no protocol.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transactions: Option<Transactions>,
    /// How often waiting jobs were examined and submitted again. Missing if they were not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub moves: Option<Moves>,
    /// Jobs that follow others. Missing if there were none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub following: Option<FollowingJobs>,
    /// Metrics of applications of phases. Missing if none began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plans: Option<Plans>,
    /// Metrics of workflows. Missing if no job of a provider was a task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workflows: Option<Workflows>,
    /// Networks that carried data, as in the scenario. Missing if no data go over a network.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<Networks>,
    /// Settings of the scenario without effect, and other remarks for the reader.
    #[serde(default)]
    pub warnings: Vec<String>,
}

/// Faults of messages, in transit or at their receivers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MessageFaults {
    /// Messages that were lost by chance; one that is sent again may be lost again.
    pub lost: u64,
    /// Messages that were lost because of a partition between the actors.
    pub parted: u64,
    /// Messages that were lost because their receiver was down.
    #[serde(default)]
    pub missed: u64,
    /// Messages that were doubled.
    pub doubled: u64,
    /// How often messages that were lost were sent again.
    #[serde(default)]
    pub resent: u64,
    /// Messages that arrived but that their receivers did not expect.
    #[serde(default)]
    pub refused: u64,
}

/// Number of items of one kind that one actor disclosed to another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DisclosedCount {
    /// Actor that the items are about.
    pub sender: String,
    /// Actor that received them.
    pub receiver: String,
    /// The kind of information.
    pub item: String,
    /// Number of items.
    pub count: u64,
}

/// Some of a run's jobs in numbers. There is one group for each place where jobs run, which may be a
/// hundred thousand. Rare parts are therefore boxed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Group {
    /// Common property of the jobs.
    pub name: String,
    /// Processors of the provider, or of all providers for other groups.
    pub processors: u64,
    /// Numbers of jobs by outcome.
    pub outcomes: Outcomes,
    /// Σ run time × processors, processor-seconds. Cut jobs do not count.
    pub processor_seconds: f64,
    /// Σ requested time × processors of the same jobs, processor-seconds; a job without a limit counts
    /// with its run time.
    #[serde(default)]
    pub requested_processor_seconds: f64,
    /// Σ run time × processors / (processors × makespan of the run), cut jobs included. Classes and
    /// workloads have their share of the whole utilisation, so that shares add up.
    pub utilisation: Option<f64>,
    /// The same over the time of the summary's `utilisation_in_window`.
    pub utilisation_in_window: Option<f64>,
    /// Start - submission, s.
    pub waiting_time: Option<Distribution>,
    /// End - submission, s.
    pub turnaround_time: Option<Distribution>,
    /// Turnaround / run time.
    pub slowdown: Option<Distribution>,
    /// max(1, turnaround / max(run time, T)).
    pub bounded_slowdown: Option<Distribution>,
    /// Mean turnaround weighted by run time × processors, s.
    pub average_weighted_response_time: Option<f64>,
    /// Jobs with a deadline.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadlines: Option<Box<Deadlines>>,
    /// Jobs that were granted a reservation in advance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reservations: Option<Box<Reservations>>,
    /// Jobs that were bags.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bags: Option<Box<Bags>>,
    /// Jobs that could be spread over providers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub coallocated: Option<Box<CoallocatedJobs>>,
    /// Jobs at providers that start them as recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recorded: Option<Box<RecordedStarts>>,
    /// Jobs whose log has their waiting times and run times.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub as_recorded: Option<Box<AsRecorded>>,
}

/// Numbers of jobs by outcome.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outcomes {
    /// All of them.
    pub jobs: u64,
    /// Ran to their end.
    pub completed: u64,
    /// Stopped when their requested time was over.
    pub walltime_reached: u64,
    /// Withdrawn while they waited.
    pub cancelled: u64,
    /// Given up because their processors failed.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub failed: u64,
    /// Running when the run stopped.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub running: u64,
    /// Waiting, or in transit, when the run stopped.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub waiting: u64,
    /// Refused.
    pub rejected: u64,
    /// Refused, by reason.
    pub refusals: BTreeMap<String, u64>,
    /// Jobs whose completion was promised.
    pub promises: u64,
    /// Completed jobs that ended later than promised.
    pub promises_broken: u64,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// The parts of a run that its groups are measured against.
struct Frame<'a> {
    metrics: &'a Metrics,
    /// Time between the first submission and the last end, s.
    makespan: Option<f64>,
    /// Processor-seconds of all jobs.
    work: f64,
    /// Interval over which `utilisation_in_window` is taken.
    window: (i64, i64),
    /// The jobs that are left in.
    kept: Vec<&'a Sample>,
    /// Processors and resources of all places.
    all_machines: u64,
    /// Processors of providers and clusters. Jobs on a grid share its resources, so those have no processors that
    /// could be counted.
    machines: u64,
}

impl<'a> Frame<'a> {
    fn of(metrics: &'a Metrics) -> Frame<'a> {
        let span = run_span(&metrics.jobs);
        let sum = |places: &[ProviderInfo]| -> u64 {
            places.iter().map(|it| u64::from(it.processors)).sum()
        };
        let Window { submissions, kept } =
            window(metrics.options.cut, &metrics.submissions(), span);
        let given = metrics.options.window;
        let given = given.map(|(from, until)| (from.as_micros(), until.as_micros()));
        Frame {
            metrics,
            makespan: span.map(|(first, last)| (last - first) as f64 / SECOND),
            // Each pass over the jobs has to fetch them from memory, so this sum is kept.
            // Work before time zero belongs to no run.
            work: busy(metrics.jobs.iter(), 0, i64::MAX),
            window: given.unwrap_or(submissions),
            kept: kept.iter().map(|&place| &metrics.jobs[place]).collect(),
            all_machines: sum(&metrics.cast.providers),
            machines: sum(&metrics.cast.providers[..metrics.whole]),
        }
    }

    /// Share of processors that were busy for so many processor-seconds of the run.
    fn used(&self, busy: f64, processors: u64) -> Option<f64> {
        ratio(busy, processors as f64 * self.makespan.unwrap_or(0.0))
    }

    /// The same in the window.
    fn used_in_window(&self, busy: f64, processors: u64) -> Option<f64> {
        let (first, last) = self.window;
        ratio(busy, processors as f64 * (last.saturating_sub(first) as f64 / SECOND))
    }

    /// All jobs that are left in, as one group.
    fn all(&self) -> Group {
        let (first, last) = self.window;
        let in_window = busy(self.metrics.jobs.iter(), first, last);
        let jobs = self.kept.iter().copied();
        Group {
            // Jobs that warm-up and cool-down leave out have used processors as well, so the work is that of
            // all.
            utilisation: self.used(self.work, self.machines),
            utilisation_in_window: self.used_in_window(in_window, self.machines),
            ..describe(self.metrics, "all", self.all_machines, jobs)
        }
    }

    /// The groups by class, provider, workload, number of providers and size, of which `all` is the whole.
    fn groups(&self, all: &Group) -> [Vec<Group>; 5] {
        let cast = &self.metrics.cast;
        let quarters = quarters(&self.kept);
        let classes = [JobClass::Local, JobClass::External];
        let providers = cast.providers.iter();
        let providers = providers.map(|it| (it.name.as_str(), u64::from(it.processors)));
        let whole =
            |names: &[&'static str]| names.iter().map(|&name| (name, self.all_machines)).collect();
        let workloads = cast.workloads.iter().map(|name| (name.as_str(), self.all_machines));
        let groupings = [
            Grouping {
                named: whole(&classes.map(JobClass::name)),
                of: Of::Jobs,
                group_of: &|job| classes.iter().position(|&class| class == job.class),
            },
            Grouping {
                named: providers.collect(),
                of: Of::Providers,
                group_of: &|job| job.provider.get().map(|it| it as usize),
            },
            Grouping {
                named: workloads.collect(),
                of: Of::Workloads,
                group_of: &|job| Some(usize::from(job.workload)),
            },
            Grouping {
                named: whole(&["single-provider", "multi-provider"]),
                of: Of::Jobs,
                group_of: &|job| {
                    let bag = job.bag().filter(|bag| bag.providers > 0)?;
                    Some(usize::from(bag.providers > 1))
                },
            },
            Grouping {
                named: whole(&QUARTERS),
                of: Of::Jobs,
                group_of: &|job| {
                    let bag = job.bag().filter(|bag| bag.is_bag())?;
                    // Microseconds times tasks may exceed an `i64`.
                    let size = bag.run_time as i128 * i128::from(job.processors);
                    Some(quarters.iter().filter(|&&quarter| size > quarter).count())
                },
            },
        ];
        let tallies = tally(&groupings, &self.metrics.jobs, &self.kept, self.window);
        let mut described =
            groupings.iter().zip(&tallies).map(|(grouping, it)| self.described(grouping, it, all));
        std::array::from_fn(|_| described.next().unwrap_or_default())
    }

    /// The groups of one grouping.
    fn described(&self, grouping: &Grouping<'_>, tallies: &[Tally], all: &Group) -> Vec<Group> {
        let mut members = members(grouping, tallies, &self.kept);
        let describe = |(group, (&(name, processors), tally)): (usize, (&(&str, u64), &Tally))| {
            let described = if tally.jobs == self.kept.len() {
                // Most runs have one workload or one provider. Such a group equals `all`, and sorting
                // again is avoided.
                Group { name: name.to_owned(), processors, ..all.clone() }
            } else {
                let members = std::mem::take(&mut members[group]);
                describe(self.metrics, name, processors, members.into_iter())
            };
            let capacity = match grouping.of {
                // Jobs that run only on a grid hold no whole processors.
                Of::Workloads if self.metrics.cast.on_grid.contains(&(group as u16)) => 0,
                Of::Jobs | Of::Workloads => self.machines,
                Of::Providers if group < self.metrics.whole => processors,
                Of::Providers => 0,
            };
            let [work, in_window] =
                [tally.work, tally.work_in_window].map(|work| work as f64 / SECOND);
            Group {
                utilisation: self.used(work, capacity),
                utilisation_in_window: self.used_in_window(in_window, capacity),
                ..described
            }
        };
        grouping.named.iter().zip(tallies).enumerate().map(describe).collect()
    }

    /// Processor-seconds in which all places computed, and those in which they could have.
    fn computing(&self) -> (f64, f64) {
        let capacity = self.machines as f64 * self.makespan.unwrap_or(0.0);
        let of_grid = self.metrics.grid.as_ref().map(|grid| grid.busy());
        of_grid.map_or((self.work, capacity), |(busy, whole)| {
            (self.work + busy as f64 / SECOND, capacity + whole as f64 / SECOND)
        })
    }
}

/// Names of the groups of bags by size.
const QUARTERS: [&str; 4] =
    ["smallest-quarter", "second-quarter", "third-quarter", "largest-quarter"];

/// Disclosed items: by sender, receiver and item; by item; and the number of those about an owner.
fn disclosed(metrics: &Metrics) -> (Vec<DisclosedCount>, BTreeMap<String, u64>, u64) {
    let name = |actor: haggle_model::ActorId| metrics.cast.actors[actor.index()].name.clone();
    let mut by_item: BTreeMap<String, u64> = BTreeMap::new();
    let mut of_owners = 0;
    let count = |((from, to, item), count): ((_, _, DisclosedItem), u64)| {
        *by_item.entry(item.name().to_owned()).or_default() += count;
        if item.is_of_owner() {
            of_owners += count;
        }
        let (sender, receiver) = (name(from), name(to));
        DisclosedCount { sender, receiver, item: item.name().to_owned(), count }
    };
    let counts = metrics.disclosed.sorted().into_iter().map(count).collect();
    (counts, by_item, of_owners)
}

pub(super) fn summarise(metrics: &Metrics) -> Summary {
    let frame = Frame::of(metrics);
    let all = frame.all();
    let [classes, providers, workloads, spans, sizes] = frame.groups(&all);
    let with_jobs = |mut groups: Vec<Group>| {
        groups.retain(|group| group.outcomes.jobs > 0);
        groups
    };
    let (disclosures, disclosed, items_disclosed) = disclosed(metrics);
    let (computing, capacity) = frame.computing();
    let counts = &all.outcomes;
    Summary {
        makespan: frame.makespan,
        max_slowdown: all.slowdown.map(|it| it.max),
        max_turnaround_time: all.turnaround_time.map(|it| it.max),
        max_waiting_time: all.waiting_time.map(|it| it.max),
        mean_bounded_slowdown: all.bounded_slowdown.map(|it| it.mean),
        mean_slowdown: all.slowdown.map(|it| it.mean),
        mean_turnaround_time: all.turnaround_time.map(|it| it.mean),
        mean_waiting_time: all.waiting_time.map(|it| it.mean),
        nb_computing_machines: frame.all_machines,
        nb_jobs: counts.jobs,
        nb_jobs_finished: counts.jobs - counts.rejected - counts.running - counts.waiting,
        nb_jobs_killed: counts.cancelled + counts.walltime_reached + counts.failed,
        nb_jobs_rejected: counts.rejected,
        nb_jobs_success: counts.completed,
        success_rate: (counts.jobs > 0).then(|| counts.completed as f64 / counts.jobs as f64),
        time_computing: computing,
        time_idle: capacity - computing,
        utilisation: all.utilisation,
        utilisation_in_window: all.utilisation_in_window,
        bounded_slowdown_threshold: metrics.options.bounded_slowdown_threshold.as_secs_f64(),
        cut: metrics.options.cut,
        jobs_cut: (metrics.jobs.len() - frame.kept.len()) as u64,
        classes: with_jobs(classes),
        providers,
        workloads,
        spans: with_jobs(spans),
        sizes: with_jobs(sizes),
        disclosures,
        items_disclosed,
        disclosed,
        grid: grid(metrics, frame.makespan),
        failures: failures::sum_up(metrics),
        preemptions: failures::preemptions(metrics),
        plans: metrics.plans.sum_up(),
        nodes: metrics.nodes.sum_up(&metrics.cast, frame.makespan),
        maintenance: metrics.maintenance.sum_up(ended(metrics)),
        given_back: GivenBack::of(metrics, frame.window),
        eavesdropping: metrics.eavesdropper.sum_up(),
        message_faults: metrics.message_faults,
        transactions: metrics.transactions.as_ref().map(|log| log.summarise()),
        moves: metrics.moves.moves,
        following: metrics.following,
        workflows: metrics.flows.sum_up(metrics.fastest[0]),
        network: None,
        warnings: Vec::new(),
        cut_off: false,
        all: all.clone(),
    }
}

/// Time at which the run was over. It may be earlier than the last event: timers of jobs that have left
/// can fire later.
fn ended(metrics: &Metrics) -> Time {
    let left = || metrics.jobs.iter().map(|job| Time::from_micros(job.end)).max();
    metrics.options.horizon.or_else(left).unwrap_or(metrics.failures.end())
}

fn grid(metrics: &Metrics, makespan: Option<f64>) -> Option<GridSummary> {
    // A job that the grid refused is known by its workload only. Jobs of a metascheduler are not among
    // these: it tries other places for them.
    let mine = || {
        metrics
            .jobs
            .iter()
            .filter(|job| job.on_grid || metrics.cast.on_grid.contains(&job.workload))
    };
    let count =
        |is: &dyn Fn(JobOutcome) -> bool| mine().filter(|job| is(job.outcome)).count() as u64;
    let came = Came {
        jobs: count(&|_| true),
        rejected: count(&|outcome| matches!(outcome, JobOutcome::Rejected(_))),
        withdrawn: count(&|outcome| outcome == JobOutcome::Cancelled),
    };
    let name = |resource: usize| metrics.cast.providers[resource].name.clone();
    metrics.grid.as_ref().map(|grid| grid.sum_up((came, makespan), name, metrics.fastest[1]))
}

/// Property by which jobs are grouped.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Of {
    Jobs,
    Workloads,
    Providers,
}

/// One way to put jobs into groups.
struct Grouping<'a> {
    /// The name of each group, and the processors it could use.
    named: Vec<(&'a str, u64)>,
    of: Of,
    /// The place of a job's group in the list.
    group_of: &'a dyn Fn(&Sample) -> Option<usize>,
}

/// Sums of a group that need no second pass over its jobs.
#[derive(Clone, Copy, Default)]
struct Tally {
    /// Number of its jobs that are left in.
    jobs: usize,
    /// Processor-microseconds of all its jobs in the whole run.
    work: i128,
    /// The same in the window.
    work_in_window: i128,
}

/// Adds up all groups of all groupings in one pass. Jobs are many, and each pass has to fetch them from
/// memory.
fn tally(
    groupings: &[Grouping<'_>],
    jobs: &[Sample],
    kept: &[&Sample],
    (first, last): (i64, i64),
) -> Vec<Vec<Tally>> {
    let empty = |grouping: &Grouping<'_>| vec![Tally::default(); grouping.named.len()];
    let mut tallies: Vec<Vec<Tally>> = groupings.iter().map(empty).collect();
    for job in jobs {
        let mut work = None;
        for (grouping, tallies) in groupings.iter().zip(&mut tallies) {
            if let (Some(bag), Of::Providers) = (job.bag(), grouping.of) {
                // The work of a bag counts at each provider that ran a part of it.
                for &(provider, start, end, processors) in &bag.runs {
                    let tally = &mut tallies[provider as usize];
                    tally.work += area(start, end, processors, i64::MIN, i64::MAX);
                    tally.work_in_window += area(start, end, processors, first, last);
                }
            } else if let Some(group) = (grouping.group_of)(job) {
                // Computed once for all groupings that need it.
                let (whole, part) = *work.get_or_insert_with(|| {
                    (job_work(job, i64::MIN, i64::MAX), job_work(job, first, last))
                });
                tallies[group].work += whole;
                tallies[group].work_in_window += part;
            }
        }
    }
    for job in kept {
        for (grouping, tallies) in groupings.iter().zip(&mut tallies) {
            if let Some(group) = (grouping.group_of)(job) {
                tallies[group].jobs += 1;
            }
        }
    }
    tallies
}

/// The jobs of each group that is neither empty nor complete, in one pass for any number of groups.
fn members<'a>(
    grouping: &Grouping<'_>,
    tallies: &[Tally],
    kept: &[&'a Sample],
) -> Vec<Vec<&'a Sample>> {
    let is_part = |tally: &Tally| tally.jobs > 0 && tally.jobs < kept.len();
    let room = |tally: &Tally| Vec::with_capacity(if is_part(tally) { tally.jobs } else { 0 });
    let mut members: Vec<Vec<&Sample>> = tallies.iter().map(room).collect();
    if !tallies.iter().any(is_part) {
        return members;
    }
    for job in kept {
        if let Some(group) = (grouping.group_of)(job) {
            members[group].push(job);
        }
    }
    members
}

/// The sizes, tasks x run time, up to which bags belong to the first three quarters.
fn quarters(jobs: &[&Sample]) -> [i128; 3] {
    let size = |job: &&Sample| {
        let bag = job.bag().filter(|bag| bag.is_bag())?;
        Some(i128::from(bag.run_time) * i128::from(job.processors))
    };
    let mut sizes: Vec<i128> = jobs.iter().filter_map(size).collect();
    sizes.sort_unstable();
    let upper = |quarter: usize| {
        // Rounded up, so that a single bag is in the smallest quarter.
        let rank = (sizes.len() * quarter).div_ceil(4);
        rank.checked_sub(1).map_or(0, |rank| sizes[rank])
    };
    [upper(1), upper(2), upper(3)]
}

/// First submission of any job, or time zero if it was before, and last end of the jobs that ran; `None` if none ran.
fn run_span(jobs: &[Sample]) -> Option<(i64, i64)> {
    let first = jobs.iter().map(|job| job.submit.max(0)).min()?;
    let last = jobs.iter().filter_map(|job| job.ran()).map(|(_, end)| end).max()?;
    Some((first, last))
}

struct Window {
    /// Interval over which `utilisation_in_window` is taken.
    submissions: (i64, i64),
    /// Places of the jobs that are left in.
    kept: Vec<usize>,
}

/// The jobs that are left in. A job is its submission, and true if it belongs to the start state.
fn window(cut: Cut, jobs: &[(i64, bool)], span: Option<(i64, i64)>) -> Window {
    let submit = |i: usize| jobs[i].0;
    // Jobs of a start state were submitted before the warm-up.
    let mut order: Vec<usize> = (0..jobs.len()).filter(|&i| !jobs[i].1).collect();
    // The sort is stable: jobs of one submission keep the order of their ends.
    order.sort_by_cached_key(|&i| submit(i));
    let (Some(&first), Some(&last)) = (order.first(), order.last()) else {
        return Window { submissions: span.unwrap_or((0, 0)), kept: order };
    };
    let mut from = 0;
    let mut to = order.len();
    let (mut begin, mut end) = span.unwrap_or((submit(first), submit(last)));
    match cut.warm_up {
        Extent::Nothing => {}
        Extent::Seconds(seconds) => {
            begin = submit(first).saturating_add((seconds * SECOND) as i64);
            from = order.partition_point(|&i| submit(i) < begin);
        }
        Extent::Share(share) => {
            // Rounded down, so that no more than this share is left out.
            from = ((share * order.len() as f64) as usize).min(order.len());
            begin = order.get(from).map_or(end, |&i| submit(i));
        }
    }
    match cut.cool_down {
        Extent::Nothing => {}
        Extent::Seconds(seconds) => {
            end = submit(last).saturating_sub((seconds * SECOND) as i64);
            to = order.partition_point(|&i| submit(i) <= end);
        }
        Extent::Share(share) => {
            to -= ((share * order.len() as f64) as usize).min(order.len());
            end = to.checked_sub(1).map_or(begin, |i| submit(order[i]));
        }
    }
    // Warm-up and cool-down may overlap and leave no job.
    let kept = order.get(from..to).unwrap_or(&[]).to_vec();
    Window { submissions: (begin, end.max(begin)), kept }
}

/// For each job, true if it is left in.
pub(super) fn counted(cut: Cut, jobs: &[(i64, bool)]) -> Vec<bool> {
    if cut == Cut::default() {
        return jobs.iter().map(|(_, initial)| !initial).collect();
    }
    let mut counted = vec![false; jobs.len()];
    window(cut, jobs, None).kept.into_iter().for_each(|it| counted[it] = true);
    counted
}

/// Processor-seconds used between two instants.
fn busy<'a>(jobs: impl Iterator<Item = &'a Sample>, from: i64, to: i64) -> f64 {
    // Sums of integers do not depend on the order of the jobs.
    jobs.map(|job| job_work(job, from, to)).sum::<i128>() as f64 / SECOND
}

/// Processor-microseconds without the work that failures undid.
#[derive(Default)]
pub(super) struct WorkDone {
    /// Work of jobs that ended by themselves.
    pub(super) useful: i128,
    /// Work that was running, or had been saved, when the run stopped.
    pub(super) unfinished: i128,
    /// Reading and writing of checkpoints.
    pub(super) checkpoints: i128,
}

pub(super) fn work_done(jobs: &[Sample]) -> WorkDone {
    let mut work = WorkDone::default();
    for job in jobs {
        let overhead = job.checkpoints().map_or(0, |it| it.overhead);
        let checkpoints = i128::from(overhead) * i128::from(job.processors);
        let done = job_work(job, i64::MIN, i64::MAX) - checkpoints;
        let unfinished = match (job.bag(), job.outcome) {
            (Some(bag), JobOutcome::Unfinished) => bag.unfinished,
            (None, JobOutcome::Unfinished) => done,
            _ => 0,
        };
        work.useful += done - unfinished;
        work.unfinished += unfinished;
        work.checkpoints += checkpoints;
    }
    work
}

/// Processor-microseconds that a job used between two instants, without the work that failures undid.
fn job_work(job: &Sample, from: i64, to: i64) -> i128 {
    if let Some(bag) = job.bag() {
        let runs = bag.runs.iter();
        return runs.map(|&(_, start, end, tasks)| area(start, end, tasks, from, to)).sum();
    }
    let attempts = job.saved().chain(job.ran());
    attempts.map(|(start, end)| area(start, end, job.processors, from, to)).sum()
}

fn area(start: i64, end: i64, processors: u32, from: i64, to: i64) -> i128 {
    // The ends of the range may be the smallest and the largest number.
    let span = end.min(to).saturating_sub(start.max(from)).max(0);
    i128::from(span) * i128::from(processors)
}

pub(super) fn ratio(part: f64, whole: f64) -> Option<f64> {
    (whole > 0.0).then(|| part / whole)
}

fn describe<'a>(
    metrics: &Metrics,
    name: &str,
    processors: u64,
    jobs: impl Iterator<Item = &'a Sample> + Clone,
) -> Group {
    let threshold = metrics.options.bounded_slowdown_threshold.as_micros();
    let mut outcomes = Outcomes::default();
    let mut waiting = Vec::new();
    let mut turnaround = Vec::new();
    let mut slowdown = Vec::new();
    let mut bounded = Vec::new();
    let (mut weight, mut weighted, mut requested) = (0_i128, 0.0, 0_i128);
    for job in jobs.clone() {
        outcomes.count(job);
        let (Some(waited), Some(run), true) = (job.waiting_time(), job.run_time(), job.is_done())
        else {
            continue;
        };
        let total = job.end - job.submit;
        waiting.push(waited as f64 / SECOND);
        turnaround.push(total as f64 / SECOND);
        if run > 0 {
            slowdown.push(total as f64 / run as f64);
        }
        bounded.push(bounded_slowdown(total, run, threshold));
        let area = i128::from(run) * i128::from(job.processors);
        weight += area;
        requested += i128::from(job.requested) * i128::from(job.processors);
        weighted += area as f64 * (total as f64 / SECOND);
    }
    let bags: Vec<&BagSample> =
        jobs.clone().filter(|job| job.is_done()).filter_map(Sample::bag).collect();
    let coallocated = Vec::from_iter(bags.iter().filter_map(|bag| bag.coallocated.flatten()));
    Group {
        name: name.to_owned(),
        processors,
        outcomes,
        processor_seconds: weight as f64 / SECOND,
        requested_processor_seconds: requested as f64 / SECOND,
        utilisation: None,
        utilisation_in_window: None,
        reservations: Reservations::of(jobs.clone()).map(Box::new),
        recorded: RecordedStarts::of(jobs.clone()).map(Box::new),
        as_recorded: AsRecorded::of(jobs.clone(), processors, threshold).map(Box::new),
        deadlines: Deadlines::of(jobs).map(Box::new),
        bags: Bags::of(&bags).map(Box::new),
        coallocated: CoallocatedJobs::of(&coallocated).map(Box::new),
        waiting_time: Distribution::of(waiting),
        turnaround_time: Distribution::of(turnaround),
        slowdown: Distribution::of(slowdown),
        bounded_slowdown: Distribution::of(bounded),
        average_weighted_response_time: ratio(weighted, weight as f64),
    }
}

impl Outcomes {
    fn count(&mut self, job: &Sample) {
        self.jobs += 1;
        match job.outcome {
            JobOutcome::Completed => self.completed += 1,
            JobOutcome::WalltimeReached => self.walltime_reached += 1,
            JobOutcome::Cancelled => self.cancelled += 1,
            JobOutcome::Failed => self.failed += 1,
            JobOutcome::Unfinished if job.start.get().is_some() => self.running += 1,
            JobOutcome::Unfinished => self.waiting += 1,
            JobOutcome::Rejected(refusal) => {
                self.rejected += 1;
                *self.refusals.entry(refusal.name().to_owned()).or_default() += 1;
            }
        }
        if let Some(promised) = job.promised_end.get() {
            self.promises += 1;
            let broken = job.outcome == JobOutcome::Completed && job.end > promised;
            self.promises_broken += u64::from(broken);
        }
    }
}
