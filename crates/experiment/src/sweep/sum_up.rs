//! Summary of a sweep: its tables and figures, from the existing runs, which are read one after the
//! other.

use std::fs::{self, Permissions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use haggle_results::sweep::{
    MESSAGE, OF_RUN, Points, SweepRow, SweepRun, csv_head, csv_row, text_cell,
};
use haggle_results::{ResultsError, Summary, SweepFolder};
use tempfile::NamedTempFile;

use super::failed::{Failed, Notes};
use super::runs_csv::RunsCsv;
use super::{SweepError, announce, write_whole};
use crate::ExperimentError;
use crate::figures::{SweepData, drawn_sweep, file_name};
use crate::leftovers;
use crate::run_metrics::{RunMetrics, groups};
use haggle_scenario::{Experiment, Run};

/// A sweep whose results are summed up.
#[derive(Debug)]
pub struct Swept {
    /// One row a run.
    pub runs_csv: PathBuf,
    /// One row a point and metric, with confidence intervals.
    pub aggregate_csv: PathBuf,
    /// The runs that failed, if there are any.
    pub failed_csv: Option<PathBuf>,
    /// The axes.
    pub axes: Vec<String>,
    /// Number of points with results.
    pub points: usize,
    /// The metrics reported for each point: the usual ones, and those of the figures over the axes.
    pub metrics: Vec<String>,
    /// Rows of `aggregate_csv` for the first [`POINTS_KEPT`] points, without the values of single
    /// runs.
    pub rows: Vec<SweepRow>,
    /// Runs without results, with the errors; those of `failed_csv`.
    pub failed: Vec<Failed>,
    /// The figures drawn over the axes.
    pub figures: Vec<PathBuf>,
    /// Figures over the axes or of runs that could not be drawn, each with the reason.
    pub figures_left_out: Vec<String>,
    /// Figures of single runs, if these were not requested.
    pub figures_of_runs: Vec<String>,
    /// Settings without effect in runs, with the number of these runs.
    pub warnings: Vec<String>,
}

/// Points whose rows are returned. There may be thousands, and all are in the table.
pub const POINTS_KEPT: usize = 24;

/// Sums up the runs in `output`: `runs.csv`, `aggregate.csv`, figures, and `failed.csv` if runs
/// have failed. Each file gets its name when it is complete, so that two commands at once leave the
/// same files as one. The memory holds one point, and the data of the figures.
///
/// # Errors
/// If a run neither exists nor has failed, or a file cannot be read, drawn or written.
pub fn sum_up(experiment: &Experiment, output: &Path) -> Result<Swept, SweepError> {
    let axes: Vec<String> = experiment
        .variants
        .first()
        .map(|variant| variant.settings.iter().map(|it| it.column()).collect())
        .unwrap_or_default();
    let mut swept = Swept {
        runs_csv: output.join("runs.csv"),
        aggregate_csv: output.join("aggregate.csv"),
        failed_csv: None,
        axes,
        points: 0,
        metrics: told(experiment),
        rows: Vec::new(),
        failed: Vec::new(),
        figures: Vec::new(),
        figures_left_out: Vec::new(),
        figures_of_runs: Vec::new(),
        warnings: Vec::new(),
    };
    let there = SweepFolder::open(output)?;
    let of_runs = RunMetrics::new(experiment, &there);
    let notes = Notes::of(output);
    let mut missing = 0;
    let mut warnings = Merged::default();
    let mut table = RunsCsv::create(output, &swept.axes)?;
    let mut aggregate = Aggregate::create(output, &swept.axes)?;
    let mut drawn = SweepData::new(experiment, &experiment.figures);
    for run in experiment.runs() {
        let Some(reader) = there.run(run.number, &run.folder())? else {
            match notes.get(&run)? {
                Some(failed) => swept.failed.push(failed),
                None => missing += 1,
            }
            continue;
        };
        let summary = reader.summary()?;
        let provenance = reader.provenance()?;
        warnings.add(&run, &summary, provenance.digest.overall);
        let point: Vec<String> = run.variant.settings.iter().map(|it| it.text()).collect();
        let mut metrics = of_runs.whole(&run, &reader, &summary)?;
        table.add(run.number, run.seed, &point, &metrics)?;
        // Metrics of groups are in `aggregate.csv` only.
        metrics.extend(groups(&reader, &summary)?);
        aggregate.add(SweepRun { point, metrics }, &mut swept)?;
        drawn.add(&run, &reader, &summary)?;
    }
    if missing > 0 {
        let runs = experiment.runs().count();
        // Before any file has its final name: an incomplete table must not look whole.
        return Err(SweepError::Missing { missing, runs });
    }
    aggregate.finish(&mut swept)?;
    table.finish(&swept.runs_csv)?;
    announce(experiment, output)?;
    swept.failed_csv = failures(experiment, output, &swept)?;
    // A metric without a row is not reported.
    let has = |metric: &String| swept.rows.iter().any(|row| row.metric == *metric);
    swept.metrics = std::mem::take(&mut swept.metrics).into_iter().filter(has).collect();
    drawn.finish();
    draw(experiment, &drawn, output, &mut swept)?;
    swept.warnings = warnings.texts();
    swept.warnings.extend(narrow(&swept));
    Ok(swept)
}

/// The metrics that are reported unless others are requested.
pub const USUAL: [&str; 3] = ["mean_waiting_time", "mean_bounded_slowdown", "utilisation"];

/// The metrics reported for the points of a sweep: the usual ones, and those of its figures.
fn told(experiment: &Experiment) -> Vec<String> {
    let mut metrics: Vec<String> = USUAL.map(str::to_owned).to_vec();
    let figures = experiment.figures.iter().filter_map(|figure| figure.metric.as_ref());
    for name in figures.map(|metric| metric.name().to_owned()) {
        if !metrics.contains(&name) {
            metrics.push(name);
        }
    }
    metrics
}

/// A warning about confidence intervals without meaning. All reported metrics vary by less than a
/// thousandth of their means, so the seed changes next to nothing.
fn narrow(swept: &Swept) -> Option<String> {
    let mut points: Vec<&[String]> = swept.rows.iter().map(|row| row.point.as_slice()).collect();
    // Rows of one point follow each other.
    points.dedup();
    let is_narrow = |point: &&&[String]| {
        let told = |row: &&SweepRow| row.point == **point && swept.metrics.contains(&row.metric);
        let halves = swept.rows.iter().filter(told).filter_map(|row| {
            let half = row.estimate.half_width?;
            Some((half, row.estimate.mean.abs()))
        });
        let halves = Vec::from_iter(halves);
        halves.iter().any(|&(half, _)| half > 0.0)
            && halves.iter().all(|&(half, mean)| half < mean / 1000.0 || half == 0.0)
    };
    let narrow = points.iter().filter(is_narrow).count();
    (narrow > 0).then(|| {
        format!(
            "the confidence intervals are below a thousandth of the means at {narrow} of {} \
             points: the replications are nearly copies of one run there, and the intervals do not \
             cover other workloads; the workload steps \
             `random-window`, `resample` and `shake` make others of a log",
            points.len()
        )
    })
}

/// A temporary file in `folder` without a final name.
pub(super) fn nameless(folder: &Path) -> Result<NamedTempFile, ResultsError> {
    // Permissions of an ordinary file: other users may read it if the user's mask allows it.
    let ordinary = Permissions::from_mode(0o666);
    let mut builder = tempfile::Builder::new();
    builder.prefix(".").suffix(PARTIAL).permissions(ordinary).rand_bytes(RANDOM);
    let trouble = |error| ResultsError::write(folder, error);
    loop {
        let file = builder.tempfile_in(folder).map_err(trouble)?;
        // Another command may clear a file between its creation and its lock; then a new one is made.
        if leftovers::hold(file.as_file(), file.path()).map_err(trouble)? {
            return Ok(file);
        }
    }
}

/// Suffix of the names of such files.
const PARTIAL: &str = ".partial";

/// Random letters and digits in these names.
const RANDOM: usize = 6;

/// Removes such files of killed commands.
pub(super) fn clear_nameless(folder: &Path) {
    leftovers::clear(folder, |name| {
        let middle = name.strip_prefix('.').and_then(|name| name.strip_suffix(PARTIAL));
        middle.is_some_and(|it| it.len() == RANDOM && it.bytes().all(|c| c.is_ascii_alphanumeric()))
    });
}

/// `aggregate.csv` as it is being written.
struct Aggregate {
    points: Points,
    file: BufWriter<NamedTempFile>,
}

impl Aggregate {
    fn create(folder: &Path, axes: &[String]) -> Result<Aggregate, ResultsError> {
        let mut file = BufWriter::new(nameless(folder)?);
        let written = file.write_all(csv_head(axes).as_bytes());
        written.map_err(|error| ResultsError::write(folder, error))?;
        Ok(Aggregate { points: Points::default(), file })
    }

    fn add(&mut self, run: SweepRun, swept: &mut Swept) -> Result<(), ResultsError> {
        let rows = self.points.add(run);
        self.write(rows, swept)
    }

    fn write(&mut self, rows: Vec<SweepRow>, swept: &mut Swept) -> Result<(), ResultsError> {
        if rows.is_empty() {
            return Ok(());
        }
        for row in &rows {
            let written = self.file.write_all(csv_row(row).as_bytes());
            written.map_err(|error| ResultsError::write(&swept.aggregate_csv, error))?;
        }
        swept.points += 1;
        if swept.points <= POINTS_KEPT {
            // A mean may have thousands of values.
            let without = |row| SweepRow { values: Vec::new(), ..row };
            swept.rows.extend(rows.into_iter().map(without));
        }
        Ok(())
    }

    fn finish(mut self, swept: &mut Swept) -> Result<(), ResultsError> {
        let rows = self.points.finish();
        self.write(rows, swept)?;
        persist(self.file, &swept.aggregate_csv)
    }
}

/// Flushes a file and gives it its name.
pub(super) fn persist(file: BufWriter<NamedTempFile>, path: &Path) -> Result<(), ResultsError> {
    let file = file.into_inner().map_err(io::IntoInnerError::into_error);
    let persisted = file.and_then(|file| file.persist(path).map_err(|error| error.error));
    persisted.map(drop).map_err(|error| ResultsError::write(path, error))
}

/// Writes the table of failed runs, or removes an old one if none failed.
fn failures(
    experiment: &Experiment,
    output: &Path,
    swept: &Swept,
) -> Result<Option<PathBuf>, ResultsError> {
    let path = output.join("failed.csv");
    if swept.failed.is_empty() {
        return match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(ResultsError::write(&path, error))
            }
            _ => Ok(None),
        };
    }
    let mut writer = csv::Writer::from_writer(Vec::new());
    let fixed = OF_RUN.map(str::to_owned).into_iter();
    let head: Vec<String> =
        fixed.chain(swept.axes.iter().cloned()).chain([MESSAGE.to_owned()]).collect();
    writer.write_record(&head).expect("writing to memory cannot fail");
    // Both lists are in the order of the runs.
    let mut failed = swept.failed.iter().peekable();
    for run in experiment.runs() {
        let Some(failed) = failed.next_if(|it| it.run == run.number) else { continue };
        let fixed = [run.number.to_string(), run.seed.to_string()].into_iter();
        let point = run.variant.settings.iter().map(|it| it.text());
        let row = fixed.chain(point).chain([failed.message.clone()]);
        let row: Vec<String> = row.map(|text| text_cell(&text).into_owned()).collect();
        writer.write_record(&row).expect("every row has a cell for each column");
    }
    let bytes = writer.into_inner().expect("flushing to memory cannot fail");
    write_whole(&path, &String::from_utf8(bytes).expect("made of strings"))?;
    Ok(Some(path))
}

/// Draws the figures of the scenario over its axes.
fn draw(
    experiment: &Experiment,
    data: &SweepData,
    output: &Path,
    swept: &mut Swept,
) -> Result<(), SweepError> {
    for figure in &experiment.figures {
        let path = output.join(file_name(figure));
        match drawn_sweep(figure, data) {
            Ok(bytes) => {
                // Another command may draw the same figure at the same time.
                let mut file = BufWriter::new(nameless(output)?);
                let written = file.write_all(&bytes);
                written.map_err(|error| ResultsError::write(&path, error))?;
                persist(file, &path)?;
                swept.figures.push(path);
            }
            Err(ExperimentError::Figure { error, .. }) if error.is_absence() => {
                swept.figures_left_out.push(format!("{}: {error}", file_name(figure)));
            }
            Err(error) => return Err(SweepError::Figure(Box::new(error))),
        }
    }
    Ok(())
}

/// Settings without effect in the runs of a sweep.
#[derive(Default)]
struct Merged {
    runs: usize,
    /// Each text with the number of runs that have it.
    texts: Vec<(String, usize)>,
    /// The variant whose runs are being added, the digest of its first run, and the number of runs
    /// with this digest.
    point: Option<(String, String, usize)>,
    /// Variants so far, and (in `equal`) those whose runs are equal.
    points: usize,
    equal: usize,
}

impl Merged {
    fn add(&mut self, run: &Run<'_>, summary: &Summary, digest: String) {
        self.runs += 1;
        // Warnings that are known before the run have been reported already.
        let known = &run.variant.warnings;
        for text in summary.warnings.iter().filter(|text| !known.contains(text)) {
            match self.texts.iter_mut().find(|(other, _)| other == text) {
                Some((_, runs)) => *runs += 1,
                None => self.texts.push((text.clone(), 1)),
            }
        }
        let label = &run.variant.label;
        match self.point.as_mut().filter(|(other, ..)| other == label) {
            Some((_, first, runs)) if *first == digest => *runs += 1,
            // Two runs of the point differ, which the empty digest notes.
            Some((_, first, _)) => first.clear(),
            None => {
                self.close();
                self.point = Some((label.clone(), digest, 1));
            }
        }
    }

    fn close(&mut self) {
        if let Some((_, first, runs)) = self.point.take() {
            self.points += 1;
            // One run alone is no copy of another.
            self.equal += usize::from(!first.is_empty() && runs > 1);
        }
    }

    fn texts(mut self) -> Vec<String> {
        self.close();
        let all = self.runs;
        let text = |(text, runs): (String, usize)| match all {
            1 => text,
            _ => format!("{text} (in {runs} of {all} runs)"),
        };
        let equal = match (self.equal, self.points) {
            (0, _) => None,
            (equal, all) => Some(format!(
                "the replications are copies of one run at {equal} of {all} points: the seed has \
                 no effect there, so no confidence interval is given; the workload steps \
                 `random-window`, `resample` and `shake` make others of a log"
            )),
        };
        self.texts.into_iter().map(text).chain(equal).collect()
    }
}
