//! Workflows: their shape, their estimates, and the actors that take their tasks.

use std::collections::BTreeSet;

use super::{Check, Logs};
use crate::file::{
    AmplitudeOf, Applications, Role, TaskEstimates, TaskProgress, Underestimate, User,
    WorkflowShape, Workflows, Workload,
};
use crate::quantity::{Name, Share, TimeSpan};
use crate::workload::{TASKS_MAX, WorkflowsError, read_workflow};
use haggle_config::document::Path;
use haggle_workflows::files;

/// Largest number of reports of a task.
const REPORTS_MAX: f64 = 10_000.0;

/// Largest number of applications of all workflows of a workload.
const APPLICATIONS_MAX: u64 = 1_000_000;

impl Check<'_> {
    pub(super) fn check_workflows(&mut self, path: &Path, workload: &Workload, it: &Workflows) {
        let at = path.key("workflows");
        if !workload.steps.is_empty() && workload.is_workflows() {
            self.report(
                &path.key("step"),
                "a step would part tasks from their workflows".to_owned(),
                "not for workflows",
                "remove the steps".to_owned(),
            );
        }
        self.check_structure(&at, it);
        self.check_number_of_tasks(&at, it);
        let own_data = it.shape.is_some() || it.files.is_some();
        let data = workload.data.unwrap_or_default();
        for (key, bytes) in [("input", data.input), ("output", data.output)] {
            if own_data && bytes.0 > 0 && workload.is_workflows() {
                self.report(
                    &path.key("data").key(key),
                    format!("the workflow of a task gives its {key}"),
                    "not used",
                    "remove it; `checkpoint` is for tasks of which no size is known".to_owned(),
                );
            }
        }
        if it.hours.as_ref().is_some_and(|hours| hours.iter().sum::<f64>() <= 0.0) {
            self.report(
                &at.key("hours"),
                "some hour must have workflows".to_owned(),
                "all are 0",
                "write a number above 0 for at least one hour".to_owned(),
            );
        }
        let on_grid = self.directory.runs_on_grid(workload);
        self.check_processors(&at, it, on_grid);
        let Some(progress) = it.progress else { return };
        let at = at.key("progress");
        if !self.scenario.providers.is_empty() && !on_grid {
            self.report(
                &at,
                "tasks at providers do not report their progress".to_owned(),
                "not used",
                "remove it; only the scheduler of a grid uses it".to_owned(),
            );
        }
        if progress.amplitude_max < progress.amplitude {
            self.report(
                &at.key("amplitude-max"),
                format!("the largest amplitude is less than `amplitude`, {}", progress.amplitude),
                "the two contradict each other",
                "the smaller one is `amplitude`".to_owned(),
            );
        }
        let reports = 1.0 / progress.step.fraction();
        if progress.step > Share::ZERO && reports.round() > REPORTS_MAX {
            self.report(
                &at.key("step"),
                format!("a task would report {reports:.0} times"),
                "too often",
                format!(
                    "write at least \"{}%\": {REPORTS_MAX} reports of a task",
                    100.0 / REPORTS_MAX
                ),
            );
        }
        self.check_amplitude_of(&at, &progress);
        if progress.step == Share::ZERO {
            self.report(
                &at.key("step"),
                "a task must progress between two reports".to_owned(),
                "nothing",
                "write a share above zero, such as \"0.5%\"".to_owned(),
            );
        }
        let under = matches!(progress.estimates, TaskEstimates::Under | TaskEstimates::Mixed);
        if progress.under != Underestimate::default() && !under {
            self.report(
                &at.key("under"),
                "no task underestimates itself".to_owned(),
                "not used",
                "remove it, or set `estimates` to \"under\" or \"mixed\"".to_owned(),
            );
        }
    }

    /// Checks `amplitude-of`, which matters only if estimates are too large or swing. An amplitude that bounds
    /// estimates must be 1 or more.
    fn check_amplitude_of(&mut self, at: &Path, progress: &TaskProgress) {
        if progress.estimates == TaskEstimates::Under {
            if progress.amplitude_of != AmplitudeOf::default() {
                self.report(
                    &at.key("amplitude-of"),
                    "no estimate is too large, and none swings".to_owned(),
                    "not used",
                    "remove it, or set `estimates` to another word".to_owned(),
                );
            }
        } else if progress.amplitude_of == AmplitudeOf::Estimate && progress.amplitude < 1.0 {
            self.report(
                &at.key("amplitude"),
                format!(
                    "the largest estimate is at least the length, and {} lengths are less",
                    progress.amplitude
                ),
                "less than 1",
                "write 1 or more, or set `amplitude-of = \"error\"`".to_owned(),
            );
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
        for (key, given, goes_with) in [
            ("width-max", it.width_max.is_some(), &["width"][..]),
            ("work", it.work.is_some(), &["width"]),
            ("spread", it.spread.is_some(), &["width"]),
            ("ends", it.ends.is_some(), &["width"]),
            ("tasks", it.tasks.is_some(), &["shape"]),
            ("negative-values", it.negative_values.is_some(), &["files"]),
            ("recorded-mips", it.recorded_mips.is_some(), &["shape", "files"]),
            ("processors", it.processors.is_some(), &["width", "shape"]),
            ("processors-max", it.processors_max.is_some(), &["width", "shape"]),
        ] {
            if given && !goes_with.contains(&way) {
                self.report(
                    &at.key(key),
                    format!("`{key}` goes with `{}`, not with `{way}`", goes_with.join("` or `")),
                    "not used",
                    "remove it".to_owned(),
                );
            }
        }
        let missing = |given: bool, key: &str| !given && !self.is_replaced(&at.key(key));
        let (no_work, no_tasks) =
            (missing(it.work.is_some(), "work"), missing(it.tasks.is_some(), "tasks"));
        if way == "width" && no_work {
            self.lacks(at, "work", "the length of a task", "work = \"1h\"");
        }
        if it.work == Some(TimeSpan::ZERO) {
            self.report(
                &at.key("work"),
                "the run time of a task must be above zero".to_owned(),
                "no time",
                "write a length of time above zero, such as \"1h\"".to_owned(),
            );
        }
        if let (Some(least), Some(most)) = (it.width, it.width_max)
            && most < least
        {
            self.report(
                &at.key("width-max"),
                format!("`width-max` is less than `width`, {least}"),
                "the two contradict each other",
                "the smaller one is `width`".to_owned(),
            );
        }
        if way == "shape" && no_tasks {
            self.lacks(at, "tasks", "the number of tasks of a workflow", "tasks = 50");
        }
        if let (Some(shape), Some(tasks)) = (it.shape, it.tasks) {
            self.check_tasks_of_shape(at, shape, tasks);
        }
        let mut negative_values = 0;
        for (index, file) in it.files.iter().flatten().enumerate() {
            let at = at.key("files").index(index);
            negative_values += self.check_workflow_file(&at, file, it.file_rules());
        }
        if self.logs == Logs::MustExist {
            let why = "no file has a negative size or run time";
            self.uses(
                &at.key("negative-values"),
                negative_values > 0,
                "the workflows",
                why,
                "remove it",
            );
        }
    }

    /// Refuses numbers of processors on a grid, where a task has one slot, and a maximum below the minimum.
    fn check_processors(&mut self, at: &Path, it: &Workflows, on_grid: bool) {
        let keys = [("processors", it.processors), ("processors-max", it.processors_max)];
        for (key, _) in keys.iter().filter(|(_, given)| given.is_some()) {
            if on_grid {
                self.report(
                    &at.key(key),
                    "a task on a grid always has one slot".to_owned(),
                    "not used",
                    "remove it, or submit to providers".to_owned(),
                );
            }
        }
        if let Some(most) = it.processors_max
            && most < it.processors.unwrap_or(1)
        {
            let least = it.processors.unwrap_or(1);
            self.report(
                &at.key("processors-max"),
                format!("`processors-max` is less than `processors`, {least}"),
                "the two contradict each other",
                "the smaller one is `processors`".to_owned(),
            );
        }
    }

    /// Workflows of applications have a shape or a graph.
    pub(super) fn check_workflows_of_applications(&mut self, at: &Path, it: &Applications) {
        if it.shape.is_some() && it.graph.is_some() {
            self.report(
                &at.key("graph"),
                "workflows of applications have a `shape` or a `graph`".to_owned(),
                "both of them",
                "remove one of them".to_owned(),
            );
            return;
        }
        if let (Some(shape), Some(tasks)) = (it.shape, it.tasks) {
            self.check_tasks_of_shape(at, shape, tasks);
        } else if it.tasks.is_some() {
            self.report(
                &at.key("tasks"),
                "`tasks` goes with `shape`".to_owned(),
                "not used",
                "remove it, or add a shape, such as `shape = \"layered\"`".to_owned(),
            );
        } else if it.shape.is_some() && !self.is_replaced(&at.key("tasks")) {
            self.lacks(at, "tasks", "the number of applications of a workflow", "tasks = 10");
        }
        for (place, application) in it.graph.iter().flatten().enumerate() {
            let at = at.key("graph").index(place).key("needs");
            self.check_needs(&at, place, &application.needs);
        }
        let tasks = it.tasks_most().saturating_mul(u64::from(it.jobs));
        if tasks > APPLICATIONS_MAX {
            self.report(
                &at.key("jobs"),
                format!("these workflows have up to {tasks} applications together"),
                "too many",
                format!(
                    "lower `jobs`, or the applications of each: {APPLICATIONS_MAX} are the most"
                ),
            );
        }
    }

    /// The applications that an application needs are before it in the list, and named once.
    fn check_needs(&mut self, at: &Path, place: usize, needs: &[u32]) {
        for (index, &needed) in needs.iter().enumerate() {
            if needed as usize >= place {
                self.report(
                    &at.index(index),
                    format!(
                        "application {place} needs application {needed}, which is not before it"
                    ),
                    "not before it",
                    "list an application behind all that it needs; the first one has the number 0"
                        .to_owned(),
                );
            } else if needs[..index].contains(&needed) {
                self.report(
                    &at.index(index),
                    format!("application {place} needs application {needed} already"),
                    "again",
                    "remove it".to_owned(),
                );
            }
        }
    }

    fn check_tasks_of_shape(&mut self, at: &Path, shape: WorkflowShape, tasks: u32) {
        if (tasks as usize) < shape.tasks_min() {
            self.report(
                &at.key("tasks"),
                format!("a workflow of shape `{shape}` has at least {} tasks", shape.tasks_min()),
                "too few",
                format!("write `tasks = {}` or more", shape.tasks_min()),
            );
        }
    }

    fn lacks(&mut self, at: &Path, key: &str, what: &str, example: &str) {
        self.report(
            &at.key(key),
            format!("{what} is missing"),
            &format!("`{key}` is missing here"),
            format!("add `{example}`"),
        );
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
                self.report(
                    at,
                    error.to_string(),
                    "no workflow",
                    "`haggle workflow inspect` reads the same files; docs/workflows.md describes \
                     them"
                        .to_owned(),
                );
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

    /// Limits the number of tasks, because all are held in memory.
    fn check_number_of_tasks(&mut self, at: &Path, it: &Workflows) {
        let tasks = it.tasks_most();
        if it.files.is_none() && tasks > TASKS_MAX {
            self.report(
                &at.key("count"),
                format!(
                    "these workflows have up to {tasks} tasks together, which are held in memory"
                ),
                "too many",
                format!("lower `count`, or the tasks of each: {TASKS_MAX} are the most"),
            );
        }
    }

    /// Tasks wait for one another at the scheduler of a grid, or at users who submit them to providers one by one.
    /// The targets of users must support that.
    pub(super) fn check_tasks(&mut self) {
        let scenario = self.scenario;
        let mut submitted = BTreeSet::new();
        for (index, user) in scenario.users.iter().enumerate() {
            let parts: Vec<&Workload> =
                self.directory.workflows_of(user).map(|(it, _)| it).collect();
            if parts.is_empty() {
                continue;
            }
            let path = Path::root().key("user").index(index);
            if let Some(help) = self.refuses_tasks(user) {
                self.report(
                    &path.key("submits-to"),
                    format!("\"{}\" takes no tasks of workflows", user.submits_to),
                    "does not take them",
                    help.to_owned(),
                );
            }
            for part in parts {
                if !submitted.insert(part.name.as_str()) {
                    self.submitted_again(&path.key("workload"), &part.name);
                }
            }
            let mut sources = self.directory.sources(user.workload.as_str()).into_iter();
            let parts_tasks = |it: &Workload| {
                let merges = it.merge.is_some() && !it.steps.is_empty();
                let mut merged =
                    merges.then(|| self.directory.sources(it.name.as_str())).into_iter().flatten();
                merged.any(|place| scenario.workloads[place].is_workflows())
            };
            if sources.any(|place| parts_tasks(&scenario.workloads[place])) {
                self.report(
                    &path.key("workload"),
                    "a step behind a merger would part tasks from their workflows".to_owned(),
                    "not for workflows",
                    "remove the steps".to_owned(),
                );
            }
        }
    }

    pub(super) fn submitted_again(&mut self, at: &Path, workload: &Name) {
        self.report(
            at,
            format!("the workflows of \"{workload}\" are submitted twice"),
            "again",
            "give this user a workload of its own, with another name".to_owned(),
        );
    }

    /// Help that names other targets, if the target of this user takes no tasks.
    fn refuses_tasks(&self, user: &User) -> Option<&'static str> {
        if let Some(grid) = self.directory.grid_of(user) {
            return grid.policy.takes_sessions().then_some(
                "submit to a grid whose jobs can wait, such as one with `policy = \"workflow\"`",
            );
        }
        if self.scenario.submits_to_plans(user) {
            return Some("submit to a grid or to providers");
        }
        let name = user.submits_to.as_str();
        // A metascheduler that composes has been reported: it takes no rigid jobs at all.
        match self.directory.metascheduler(name)?.role() {
            Role::Places(_) if self.directory.may_use_grid(name) => {
                Some("submit to the grid itself, or to a metascheduler that uses providers only")
            }
            Role::Places(_) | Role::Composes(_) => None,
            Role::Spreads(_) | Role::Moves(_) | Role::Maps(_) => {
                Some("submit to a provider, or to a metascheduler with `placement`")
            }
        }
    }
}
