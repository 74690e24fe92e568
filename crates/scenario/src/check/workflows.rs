//! Workflows: their structure, and the estimates of their tasks.

use super::rule::{Refusal, Words, refuse};
use super::{Check, Logs};
use crate::file::{
    AmplitudeOf, Applications, TaskEstimates, TaskProgress, Underestimate, WorkflowShape, Workflows,
};
use crate::quantity::{Share, TimeSpan};
use crate::workload::{TASKS_MAX, WorkflowsError, read_workflow};
use haggle_config::document::Path;
use haggle_workflows::files;

/// Largest number of reports of a task.
const REPORTS_MAX: f64 = 10_000.0;

/// Largest number of applications of all workflows of a workload.
const APPLICATIONS_MAX: u64 = 1_000_000;

/// Facts about the structure of workflows: one of `width`, `shape` and `files`.
#[derive(Clone, Copy)]
struct Structure {
    width: bool,
    shape: bool,
    files: bool,
    /// The length or the number of tasks has a wrong value.
    unknown_work: bool,
    unknown_tasks: bool,
}

/// Keys of the three structures of workflows.
#[rustfmt::skip] // a table
const STRUCTURE: &[Refusal<Workflows, Structure>] = &[
    refuse("width-max", |it, is| it.width_max.is_some() && !is.width, WITH_WIDTH, "not used", "remove it"),
    refuse("work", |it, is| it.work.is_some() && !is.width, WITH_WIDTH, "not used", "remove it"),
    refuse("spread", |it, is| it.spread.is_some() && !is.width, WITH_WIDTH, "not used", "remove it"),
    refuse("ends", |it, is| it.ends.is_some() && !is.width, WITH_WIDTH, "not used", "remove it"),
    refuse("tasks", |it, is| it.tasks.is_some() && !is.shape, "`{key}` goes with `shape`, not with `{way}`", "not used", "remove it"),
    refuse("negative-values", |it, is| it.negative_values.is_some() && !is.files, "`{key}` goes with `files`, not with `{way}`", "not used",
        "remove it"),
    refuse("recorded-mips", |it, is| it.recorded_mips.is_some() && is.width, "`{key}` goes with `shape` or `files`, not with `{way}`",
        "not used", "remove it"),
    refuse("processors", |it, is| it.processors.is_some() && is.files, NOT_IN_FILES, "not used", "remove it"),
    refuse("processors-max", |it, is| it.processors_max.is_some() && is.files, NOT_IN_FILES, "not used", "remove it"),
    refuse("work", |it, is| is.width && it.work.is_none() && !is.unknown_work, "the length of a task is missing", "`work` is missing here",
        "add `work = \"1h\"`"),
    refuse("tasks", |it, is| is.shape && it.tasks.is_none() && !is.unknown_tasks, "the number of tasks of a workflow is missing",
        "`tasks` is missing here", "add `tasks = 50`"),
    refuse("work", |it, _| it.work == Some(TimeSpan::ZERO), "the run time of a task must be above zero", "no time",
        "write a length of time above zero, such as \"1h\""),
    refuse("width-max", |it, _| it.width.zip(it.width_max).is_some_and(|(least, most)| most < least),
        "`width-max` is less than `width`, {width}", "the two contradict each other", "the smaller one is `width`"),
];

const WITH_WIDTH: &str = "`{key}` goes with `width`, not with `{way}`";
const NOT_IN_FILES: &str = "`{key}` goes with `width` or `shape`, not with `{way}`";

#[rustfmt::skip] // a table
const WORKFLOWS: &[Refusal<Workflows>] = &[
    refuse("count", |it, ()| it.files.is_none() && it.tasks_most() > TASKS_MAX,
        "these workflows have up to {tasks} tasks together, which are held in memory", "too many",
        "lower `count`, or the tasks of each: {most} are the most"),
    refuse("hours", |it, ()| it.hours.as_ref().is_some_and(|hours| hours.iter().sum::<f64>() <= 0.0), "some hour must have workflows",
        "all are 0", "write a number above 0 for at least one hour"),
    refuse("processors-max", |it, ()| it.processors_max.is_some_and(|most| most < it.processors.unwrap_or(1)),
        "`processors-max` is less than `processors`, {processors}", "the two contradict each other", "the smaller one is `processors`"),
];

/// Progress that tasks report.
#[rustfmt::skip] // a table
const PROGRESS: &[Refusal<TaskProgress>] = &[
    refuse("amplitude-max", |it, ()| it.amplitude_max < it.amplitude, "the largest amplitude is less than `amplitude`, {amplitude}",
        "the two contradict each other", "the smaller one is `amplitude`"),
    refuse("step", |it, ()| it.step > Share::ZERO && reports(it).round() > REPORTS_MAX, "a task would report {reports} times", "too often",
        "write at least \"0.01%\": 10000 reports of a task"),
    refuse("step", |it, ()| it.step == Share::ZERO, "a task must progress between two reports", "nothing",
        "write a share above zero, such as \"0.5%\""),
    refuse("amplitude-of", |it, ()| it.estimates == TaskEstimates::Under && it.amplitude_of != AmplitudeOf::default(),
        "no estimate is too large, and none swings", "not used", "remove it, or set `estimates` to another word"),
    // An amplitude that bounds estimates must be 1 or more.
    refuse("amplitude", |it, ()| bounds_estimates(it) && it.amplitude < 1.0,
        "the largest estimate is at least the length, and {amplitude} lengths are less", "less than 1",
        "write 1 or more, or set `amplitude-of = \"error\"`"),
    refuse("under", |it, ()| it.under != Underestimate::default() && !underestimates(it), "no task underestimates itself", "not used",
        "remove it, or set `estimates` to \"under\" or \"mixed\""),
];

/// Number of reports of a task.
fn reports(it: &TaskProgress) -> f64 {
    1.0 / it.step.fraction()
}

fn underestimates(it: &TaskProgress) -> bool {
    matches!(it.estimates, TaskEstimates::Under | TaskEstimates::Mixed)
}

fn bounds_estimates(it: &TaskProgress) -> bool {
    it.estimates != TaskEstimates::Under && it.amplitude_of == AmplitudeOf::Estimate
}

/// Shapes and numbers of tasks.
#[rustfmt::skip] // a table
const SHAPES: &[Refusal<(WorkflowShape, u32)>] = &[
    refuse("tasks", |(shape, tasks), ()| (*tasks as usize) < shape.tasks_min(), "a workflow of shape `{shape}` has at least {least} tasks",
        "too few", "write `tasks = {least}` or more"),
];

/// Workflows of applications; the fact is true if the number of tasks is known.
#[rustfmt::skip] // a table
const OF_APPLICATIONS: &[Refusal<Applications, bool>] = &[
    refuse("tasks", |it, _| it.tasks.is_some() && it.shape.is_none(), "`tasks` goes with `shape`", "not used",
        "remove it, or add a shape, such as `shape = \"layered\"`"),
    refuse("tasks", |it, &known| it.shape.is_some() && it.tasks.is_none() && known, "the number of applications of a workflow is missing",
        "`tasks` is missing here", "add `tasks = 10`"),
    refuse("jobs", |it, _| applications(it) > APPLICATIONS_MAX, "these workflows have up to {applications} applications together",
        "too many", "lower `jobs`, or the applications of each: 1000000 are the most"),
];

/// Shape and graph of workflows of applications.
#[rustfmt::skip] // a table
const SHAPE_OR_GRAPH: &[Refusal<Applications>] = &[
    refuse("graph", |it, ()| it.shape.is_some() && it.graph.is_some(), "workflows of applications have a `shape` or a `graph`",
        "both of them", "remove one of them"),
];

/// Largest number of applications of all workflows.
fn applications(it: &Applications) -> u64 {
    it.tasks_most().saturating_mul(u64::from(it.jobs))
}

impl Check<'_> {
    pub(super) fn check_workflows(&mut self, path: &Path, it: &Workflows) {
        self.check_structure(path, it);
        let words: Words<'_> = &[
            ("tasks", &it.tasks_most()),
            ("most", &TASKS_MAX),
            ("processors", &it.processors.unwrap_or(1)),
        ];
        self.refuse(WORKFLOWS, path, (it, &()), words);
        if let Some(progress) = it.progress {
            let reports = format!("{:.0}", reports(&progress));
            let words: Words<'_> = &[("amplitude", &progress.amplitude), ("reports", &reports)];
            self.refuse(PROGRESS, &path.key("progress"), (&progress, &()), words);
        }
    }

    /// Workflows are made in one of three ways, each with keys of its own.
    fn check_structure(&mut self, at: &Path, it: &Workflows) {
        let ways = [
            ("width", it.width.is_some()),
            ("shape", it.shape.is_some()),
            ("files", it.files.is_some()),
        ];
        let before = self.problems.len();
        self.one_of(at, "workflow", ways, "workflows");
        if self.problems.len() > before {
            return;
        }
        // A wrong value has been reported already.
        let Some((way, _)) = ways.into_iter().find(|(_, given)| *given) else { return };
        let structure = Structure {
            width: way == "width",
            shape: way == "shape",
            files: way == "files",
            unknown_work: self.is_replaced(&at.key("work")),
            unknown_tasks: self.is_replaced(&at.key("tasks")),
        };
        let words: Words<'_> = &[("way", &way), ("width", &it.width.unwrap_or_default())];
        self.refuse(STRUCTURE, at, (it, &structure), words);
        self.check_tasks_of_shape(at, it.shape.zip(it.tasks));
        let mut negative_values = 0;
        for (index, file) in it.files.iter().flatten().enumerate() {
            let at = at.key("files").index(index);
            negative_values += self.check_workflow_file(&at, file, it.file_rules());
        }
        if self.logs == Logs::MustExist {
            let (key, read) = (at.key("negative-values"), negative_values > 0);
            let why = "no file has a negative size or run time";
            self.uses(&key, read, "the workflows", why, "remove it");
        }
    }

    /// Workflows of applications have a shape or a graph.
    pub(super) fn check_workflows_of_applications(&mut self, at: &Path, it: &Applications) {
        if self.refuse_first(SHAPE_OR_GRAPH, at, (it, &()), &[]) {
            return;
        }
        self.check_tasks_of_shape(at, it.shape.zip(it.tasks));
        let known = !self.is_replaced(&at.key("tasks"));
        let words: Words<'_> = &[("applications", &applications(it))];
        self.refuse(OF_APPLICATIONS, at, (it, &known), words);
        for (place, application) in it.graph.iter().flatten().enumerate() {
            let at = at.key("graph").index(place).key("needs");
            self.check_needs(&at, place, &application.needs);
        }
    }

    /// The applications that an application needs are before it in the list, and named once.
    fn check_needs(&mut self, at: &Path, place: usize, needs: &[u32]) {
        for (index, &needed) in needs.iter().enumerate() {
            let at = at.index(index);
            if needed as usize >= place {
                let help =
                    "list an application behind all that it needs; the first one has the number 0";
                let message = format!(
                    "application {place} needs application {needed}, which is not before it"
                );
                self.report(&at, message, "not before it", help);
            } else if needs[..index].contains(&needed) {
                let message = format!("application {place} needs application {needed} already");
                self.report(&at, message, "again", "remove it");
            }
        }
    }

    fn check_tasks_of_shape(&mut self, at: &Path, shape: Option<(WorkflowShape, u32)>) {
        if let Some(it) = shape {
            let words: Words<'_> = &[("shape", &it.0), ("least", &it.0.tasks_min())];
            self.refuse(SHAPES, at, (&it, &()), words);
        }
    }

    /// Checks that a file exists and is a workflow. Returns the number of negative values that count as 0.
    fn check_workflow_file(&mut self, at: &Path, file: &str, rules: files::Rules) -> usize {
        let before = self.problems.len();
        self.check_file(at, "workflow", file);
        if self.logs == Logs::Ignore || self.problems.len() > before {
            return 0;
        }
        match read_workflow(file, self.source.folder(), rules) {
            Err(error @ WorkflowsError::File(_)) => {
                let help = "`haggle workflow inspect` reads the same files; docs/workflows.md describes them";
                self.report(at, error.to_string(), "no workflow", help);
                0
            }
            Err(_) => 0,
            Ok(described) => {
                let help = "docs/workflows.md describes how files are read";
                for note in described.notes {
                    self.doubt(at, note, "read in this way", help.to_owned());
                }
                described.negative_values
            }
        }
    }
}
