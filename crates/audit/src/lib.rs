//! Checks that the tables of a run agree with each other and with the summary.
//!
//! The checks during a run cannot detect errors of the writer. So [`audit`] reads a folder back, as
//! its users will, and compares its files:
//!
//! | file | what must hold |
//! |---|---|
//! | `jobs` | each job once, in order of `left_time` (bags where their end was known, jobs of grids where their last attempt was cancelled). Submitted <= queued <= started <= left; `waiting_time` and the other spans agree with the times |
//! | `attempts` | their number is that in `jobs`, without parts given up. Attempts of a rigid job do not overlap. The wait of a rigid job is its start less its submission and less saved work |
//! | `placements` | an attempt holds its processors for its whole time. No processor is held twice at a time. The sum is `busy_time` and the lost processor time |
//! | `told` | `disclosures` and `messages` agree on sender, receiver and item; `offers` and the summary's counts of them agree |
//! | `reservations` | a reservation that started did so in the granted window. Any other has a row in `displacements` with a cause that is in the tables. Sums are those of the summary |
//! | `bookings` | parts of a place add up to the job and are booked for one time, no move is to a later start, a job on several providers runs as booked last, and bookings at one time fit the provider |
//! | `transactions` | tries of a job follow each other and end with the first agreement, whose parts are those that run and add up to the job. Costs are those of the summary |
//! | `holds` | parts of a try are held for one start and leases end at their stated times. An ended hold keeps nothing. Parts without an agreement are given back, and their cost, orphans and partial tries are those of `transactions`. Parts that ran were held, and no provider holds more than it has |
//! | `failures` | each outage has its failure and its return, and their lost work adds up to the summary's lost work |
//! | `maintenance` | nothing runs on closed processors, no processor is closed twice. No scheduler learns of a window while it is down. Counts and times are those of the summary |
//! | `nodes` | no node gives more processors, memory or accelerators than it has. A job has the nodes and the processors that it asks for |
//! | `grid` | attempts on a grid, their checkpoints and transfers add up to the slot time, the work and the bytes of the summary |
//! | `inputs` | at providers no task starts before its parents are done and its inputs are there. Each transfer takes its latency and its bytes by the bandwidth, or longer where it shares links, of which none carries more than it can. Bytes are those of `workflows` and of the summary |
//! | `workflows` | counts and times agree with the jobs and attempts of the tasks, no makespan is below its bound, and the summary has their means |
//! | `figures` | the areas under `utilisation` and `queue-length` are those of the tables, and no provider holds more processors than it has |
//! | `summary` | counts, means and sums are those of the tables |
//!
//! Times are compared as whole microseconds, sums of floats up to the rounding of their terms.

mod attempts;
mod bookings;
mod failures;
mod figures;
mod findings;
mod grid;
mod holds;
mod inputs;
mod jobs;
mod maintenance;
mod moves;
mod nodes;
mod placements;
mod planned;
mod reservations;
mod rows;
mod summary;
mod told;
mod transactions;
mod transfers;
mod workflows;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use haggle_results::about::{DataNetworkInfo, RunsOnGrid};
use haggle_results::{ResultsError, RunReader, Summary};

pub use findings::Disagreement;
use findings::Findings;
use rows::{Job, Micros, Rows, micros};

/// The files of a run's folder that are checked.
struct Books {
    rows: Rows,
    summary: Summary,
    /// The resources of a grid.
    resources: BTreeSet<String>,
    /// Workloads whose jobs run only there, and (in `maybe_on_grid`) those whose jobs may.
    on_grid: BTreeSet<String>,
    maybe_on_grid: BTreeSet<String>,
    /// Jobs that had an attempt there.
    had_slots: BTreeSet<i64>,
    /// True if messages take no time and there is no horizon, so that none is in transit at the
    /// end.
    instant: bool,
    /// True if the run has no horizon, so that all agreements are settled at its end.
    settles: bool,
    /// Network by which data of tasks, and checkpoints, move between providers.
    data_network: Option<DataNetworkInfo>,
    /// Largest difference between the starts of a group, for metaschedulers that negotiate.
    tolerances: BTreeMap<String, Micros>,
}

impl Books {
    /// True if jobs share this place: a resource of a grid.
    fn is_shared(&self, place: &str) -> bool {
        self.resources.contains(place)
    }

    /// True if a grid certainly had a job.
    fn is_on_grid(&self, job: &Job) -> bool {
        self.had_slots.contains(&job.job) || self.on_grid.contains(&job.workload)
    }

    /// True if a job may have waited in the queue of a grid, or been submitted nowhere: no table
    /// decides between them.
    fn may_wait_on_grid(&self, job: &Job) -> bool {
        let nowhere = job.provider.is_none() && job.outcome != "rejected";
        nowhere && !self.is_on_grid(job) && self.maybe_on_grid.contains(&job.workload)
    }
}

/// Checks that the tables in `folder` agree with each other and with `summary.json`.
///
/// # Errors
/// The broken rules with a few cases each, or the table that cannot be read.
pub fn audit(folder: &Path) -> Result<(), Vec<Disagreement>> {
    let books = read(folder).map_err(|error| vec![Disagreement::unreadable(&error)])?;
    // The precision of sums depends on the latest ends and on the widths.
    let parts = books.rows.attempts.iter();
    let mut findings = Findings::new(parts.map(|it| (it.finished.unwrap_or(0), it.width)));
    jobs::check(&books, &mut findings);
    attempts::check(&books, &mut findings);
    placements::check(&books, &mut findings);
    told::check(&books, &mut findings);
    reservations::check(&books, &mut findings);
    moves::check(&books, &mut findings);
    bookings::check(&books, &mut findings);
    transactions::check(&books, &mut findings);
    holds::check(&books, &mut findings);
    failures::check(&books, &mut findings);
    maintenance::check(&books, &mut findings);
    nodes::check(&books, &mut findings);
    grid::check(&books, &mut findings);
    inputs::check(&books, &mut findings);
    transfers::check(&books, &mut findings);
    workflows::check(&books, &mut findings);
    figures::check(folder, &books, &mut findings);
    summary::check(&books, &mut findings);
    findings.into_result()
}

fn read(folder: &Path) -> Result<Books, ResultsError> {
    let run = RunReader::open(folder)?;
    let about = run.about()?;
    let mut rows = Rows::read(&run)?;
    // Checkpoints of a grid may have more rows than all else, so they are read only for storages.
    if about.data_network.as_ref().is_some_and(|it| !it.stores.is_empty()) {
        rows.checkpoints = run.checkpoints()?;
    }
    let names = |wanted: fn(RunsOnGrid) -> bool| {
        let workloads = about.workloads.iter().filter(|it| wanted(it.on_grid));
        workloads.map(|it| it.name.clone()).collect()
    };
    let shared = rows.resources.iter().filter(|it| it.is_shared);
    let tolerances = about.tolerances.iter().map(|(name, it)| (name.clone(), micros(*it)));
    Ok(Books {
        had_slots: rows.on_grid().map(|(it, _)| it.job).collect(),
        summary: run.summary()?,
        resources: shared.map(|it| it.provider.clone()).collect(),
        on_grid: names(|it| it == RunsOnGrid::Always),
        maybe_on_grid: names(|it| it != RunsOnGrid::Never),
        instant: about.instant_messages && about.horizon.is_none(),
        settles: about.horizon.is_none(),
        tolerances: tolerances.collect(),
        data_network: about.data_network,
        rows,
    })
}
