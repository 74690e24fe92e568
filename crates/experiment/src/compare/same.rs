//! Jobs that are the same in two runs: workload, number, submission, processors, request, and run
//! time as far as the tables have it.

use std::collections::BTreeMap;

use std::rc::Rc;

use haggle_model::AttemptOutcome;
use haggle_results::reader::{AttemptRow, CellValue, Rows};
use haggle_results::{ResultsError, RunReader, Table};

/// The compared fields of a job. Large runs have many jobs, so the struct is small.
pub(super) struct Job {
    pub(super) job: i64,
    pub(super) job_id: i64,
    pub(super) workload: Rc<str>,
    pub(super) submit: f64,
    pub(super) processors: i64,
    pub(super) requested_time: f64,
    pub(super) shape: Rc<str>,
    pub(super) start: Option<f64>,
    pub(super) left: f64,
    pub(super) outcome: Rc<str>,
    pub(super) provider: Option<Rc<str>>,
    pub(super) attempts: i64,
}

impl Job {
    const COLUMNS: [&str; 12] = [
        "job",
        "job_id",
        "workload_name",
        "submission_time",
        "requested_number_of_resources",
        "requested_time",
        "shape",
        "starting_time",
        "left_time",
        "outcome",
        "provider",
        "attempts",
    ];

    /// All jobs of a run.
    ///
    /// # Errors
    /// If the table is missing or damaged.
    pub(super) fn all(run: &RunReader) -> Result<Vec<Job>, ResultsError> {
        let mut names: BTreeMap<String, Rc<str>> = BTreeMap::new();
        let mut name = |text: &str| match names.get(text) {
            Some(known) => Rc::clone(known),
            None => Rc::clone(names.entry(text.to_owned()).or_insert_with(|| text.into())),
        };
        let mut jobs = Vec::new();
        run.in_batches(Table::Jobs, &Job::COLUMNS, &Rows::all(), |data| {
            for row in 0..data.rows() {
                let real = |name| match data.cell(row, name) {
                    CellValue::Real(value) => Some(value),
                    _ => None,
                };
                let whole = |name| match data.cell(row, name) {
                    CellValue::Integer(value) => value,
                    _ => 0,
                };
                let mut text = |column| match data.cell(row, column) {
                    CellValue::Text(text) => Some(name(text)),
                    _ => None,
                };
                jobs.push(Job {
                    job: whole("job"),
                    job_id: whole("job_id"),
                    workload: text("workload_name").unwrap_or_default(),
                    submit: real("submission_time").unwrap_or_default(),
                    processors: whole("requested_number_of_resources"),
                    requested_time: real("requested_time").unwrap_or_default(),
                    shape: text("shape").unwrap_or_default(),
                    start: real("starting_time"),
                    left: real("left_time").unwrap_or_default(),
                    outcome: text("outcome").unwrap_or_default(),
                    provider: text("provider"),
                    attempts: whole("attempts"),
                });
            }
            Ok(())
        })?;
        Ok(jobs)
    }

    fn request(&self) -> Request<'_> {
        Request {
            submit: Some(self.submit),
            processors: Some(self.processors),
            requested_time: Some(self.requested_time),
            shape: Some(&self.shape),
        }
    }
}

/// The request of a user. Jobs with other requests are others, even if they have one number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Request<'a> {
    /// Submission, s.
    pub submit: Option<f64>,
    /// Processors.
    pub processors: Option<i64>,
    /// Limit, s.
    pub requested_time: Option<f64>,
    /// Shape.
    pub shape: Option<&'a str>,
}

/// The jobs of two runs, side by side.
pub(super) struct Pairs<'a> {
    /// Jobs that are the same in both.
    pub(super) same: Vec<(&'a Job, &'a Job)>,
    /// Different jobs with one number.
    pub(super) other: Vec<&'a Job>,
    pub(super) only_in_a: Vec<&'a Job>,
    pub(super) only_in_b: Vec<&'a Job>,
}

/// Pairs the jobs of two runs by workload and number in it. Several users may submit one workload: jobs with one number
/// are paired in the order of their numbers in the runs.
pub(super) fn pairs<'a>(
    (run_a, a): (&RunReader, &'a [Job]),
    (run_b, b): (&RunReader, &'a [Job]),
) -> Result<Pairs<'a>, ResultsError> {
    let (times_a, times_b) = (RunTimes::of(run_a)?, RunTimes::of(run_b)?);
    let (in_a, in_b) = (by_number(a), by_number(b));
    // Before the loop, which consumes `in_a`.
    let only_in_b = in_b.iter().filter(|(key, _)| !in_a.contains_key(*key));
    let only_in_b = only_in_b.map(|(_, job)| *job).collect();
    let mut pairs = Pairs { same: Vec::new(), other: Vec::new(), only_in_a: Vec::new(), only_in_b };
    for (key, a) in in_a {
        match in_b.get(&key) {
            None => pairs.only_in_a.push(a),
            Some(b) if a.request() == b.request() && times_a.may_agree(a.job, &times_b, b.job) => {
                pairs.same.push((a, b));
            }
            Some(_) => pairs.other.push(a),
        }
    }
    Ok(pairs)
}

/// Jobs by workload, number in it, and place among those with this number. Pairs come in this order whatever the order
/// of the tables.
fn by_number(jobs: &[Job]) -> BTreeMap<(&str, i64, usize), &Job> {
    let names = Vec::from_iter(jobs.iter().map(|it| ((&*it.workload, it.job_id), it.job)));
    let placed = jobs.iter().zip(&names).zip(places(&names));
    placed
        .map(|((job, &((workload, number), _)), place)| ((workload, number, place), job))
        .collect()
}

/// The place of each job among those with its workload and number in it, which come first here. The order is that of
/// their numbers in the run, which come second. One workload may have several users.
pub(super) fn places<K: Ord, N: Ord>(jobs: &[(K, N)]) -> Vec<usize> {
    let mut order = Vec::from_iter(0..jobs.len());
    order.sort_unstable_by(|&a, &b| jobs[a].cmp(&jobs[b]));
    let mut places = vec![0; jobs.len()];
    for pair in order.windows(2) {
        if jobs[pair[0]].0 == jobs[pair[1]].0 {
            places[pair[1]] = places[pair[0]] + 1;
        }
    }
    places
}

/// Bounds of a run time on the reference processor, s.
#[derive(Clone, Copy, Debug)]
struct RunTime {
    low: f64,
    high: f64,
}

impl RunTime {
    const UNKNOWN: RunTime = RunTime { low: 0.0, high: f64::INFINITY };

    /// Run time of a job that took `seconds` at a provider of this speed. Each attempt may have
    /// been rounded up to a microsecond.
    fn rounded(seconds: f64, speed: f64, attempts: i64) -> RunTime {
        let microseconds = (attempts + 1) as f64 * 1e-6;
        RunTime { low: (seconds - microseconds) * speed, high: (seconds + microseconds) * speed }
    }

    fn may_be(self, other: RunTime) -> bool {
        self.low <= other.high && other.low <= self.high
    }
}

/// Run times of rigid jobs that ended by themselves, by the number of the job. They are the computing of all attempts, or
/// the work that a job on a grid had done. All others are unknown.
#[derive(Clone, Debug, Default)]
pub struct RunTimes(BTreeMap<i64, RunTime>);

impl RunTimes {
    /// The run times of the jobs of a run.
    ///
    /// # Errors
    /// If a table is missing or damaged.
    pub fn of(run: &RunReader) -> Result<RunTimes, ResultsError> {
        const COLUMNS: [&str; 5] = ["job", "provider", "attempts", "outcome", "shape"];
        let resources = run.resources()?.into_iter();
        let speeds: BTreeMap<String, f64> = resources.map(|it| (it.provider, it.speed)).collect();
        let mut computed: BTreeMap<i64, f64> = BTreeMap::new();
        let mut times: BTreeMap<i64, RunTime> = BTreeMap::new();
        AttemptRow::each(run, &Rows::all(), |it| {
            let done = it.work_at_end.filter(|_| it.outcome == AttemptOutcome::Completed);
            if let Some(done) = done {
                // Work of a grid is exact: 1 MI is 1 s on the reference processor.
                times.insert(it.job, RunTime { low: done, high: done });
            } else if let (None, Some(start), Some(end)) = (it.slot(), it.start, it.end) {
                // Of a lost attempt only the saved computing is not done again.
                let seconds = match it.saved.filter(|_| it.is_lost()) {
                    Some(saved) => saved,
                    None => end - start - it.checkpointing,
                };
                *computed.entry(it.job).or_default() += seconds;
            }
        })?;
        // A job that was stopped or lost has computed less than its run time.
        let ended = Rows::all()
            .with("outcome", ["completed".to_owned()])
            .with("shape", ["rigid".to_owned()]);
        run.in_batches(Table::Jobs, &COLUMNS, &ended, |data| {
            let (attempts, providers) = (data.integer("attempts")?, data.text("provider")?);
            for (row, job) in data.integer("job")?.iter().enumerate() {
                let Some(job) = *job else { continue };
                let speed = providers.at(row).and_then(|it| speeds.get(it));
                if let (Some(&seconds), Some(&speed)) = (computed.get(&job), speed) {
                    let attempts = attempts[row].unwrap_or_default();
                    times.insert(job, RunTime::rounded(seconds, speed, attempts));
                }
            }
            Ok(())
        })?;
        Ok(RunTimes(times))
    }

    /// True if a job here and one of another run may have the same run time. An unknown run time may be any other one.
    pub fn may_agree(&self, job: i64, there: &RunTimes, other: i64) -> bool {
        self.at(job).may_be(there.at(other))
    }

    fn at(&self, job: i64) -> RunTime {
        self.0.get(&job).copied().unwrap_or(RunTime::UNKNOWN)
    }
}
