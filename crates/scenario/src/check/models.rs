//! Models that generate jobs: each with its own parameters, in range and complete.

use super::Check;
use super::rule::{Refusal, refuse};
use crate::file::{
    Applications, IndependentJobs, JobTypes, Lublin, Model, SyntheticMonth, Workload,
};
use haggle_config::document::Path;

/// Words of a model for messages.
struct Words {
    model: Model,
    /// Name of the model in a scenario.
    name: &'static str,
    /// Key of its parameters.
    key: &'static str,
    /// Smallest example of its parameters.
    example: &'static str,
}

const MODELS: [Words; 6] = [
    Words {
        model: Model::LublinFeitelson,
        name: "lublin-feitelson",
        key: "lublin",
        example: "lublin = { jobs = 1000, processors = 128 }",
    },
    Words {
        model: Model::IndependentJobs,
        name: "independent-jobs",
        key: "independent-jobs",
        example: "independent-jobs = { jobs = 1000, between = { law = \"exponential\", mean = \"10min\" }, run = \
                  { law = \"constant\", value = \"1h\" } }",
    },
    Words {
        model: Model::SyntheticMonth,
        name: "synthetic-month",
        key: "synthetic-month",
        example: "synthetic-month = { days = 30, load = 0.8, sites = [{ jobs = 1000, processors = 128 }] }",
    },
    Words {
        model: Model::Applications,
        name: "applications",
        key: "applications",
        example: "applications = { like = \"md\" }",
    },
    Words {
        model: Model::Iterative,
        name: "iterative",
        key: "iterative",
        example: "iterative = { cores = 4, processes = [8], iterations = 100, machine = [{ name = \"north\", \
                  throughputs = [2.5] }] }",
    },
    Words {
        model: Model::Workflows,
        name: "workflows",
        key: "workflows",
        example: "workflows = { count = 40, width = 5, work = \"1h\" }",
    },
];

/// Sources of applications; the fact is the number of those that are given.
#[rustfmt::skip] // a table
const WAYS: &[Refusal<Applications, usize>] = &[
    refuse("", |_, &given| given == 0, "applications are `like` a published one, of given `phases` or `measured`", "none of them",
        "write one of them, such as `like = \"md\"`"),
    refuse("", |_, &given| given > 1, "applications are `like` a published one, of given `phases` or `measured`", "more than one of them",
        "write one of them, such as `like = \"md\"`"),
];

/// Keys that go with `like`.
#[rustfmt::skip] // a table
const LIKE: &[Refusal<Applications>] = &[
    refuse("seed", |it, ()| it.like.is_none() && it.seed.is_some(), WITH_LIKE, "not used", "remove it"),
    refuse("count", |it, ()| it.like.is_none() && it.count.is_some(), WITH_LIKE, "not used", "remove it"),
    refuse("size", |it, ()| it.like.is_none() && it.size.is_some(), WITH_LIKE, "not used", "remove it"),
];

const WITH_LIKE: &str = "`{key}` goes with `like`: the phases are given here";

/// Classes of jobs of the Lublin-Feitelson model.
#[rustfmt::skip] // a table
const CLASSES: &[Refusal<Lublin>] = &[
    refuse("one", |it, ()| it.one.is_some() && it.job_types != JobTypes::One,
        "`job-types` is \"batch-and-interactive\", which has no class `one`", "not used", "remove it, or set `job-types = \"one\"`"),
    refuse("batch", |it, ()| it.batch.is_some() && it.job_types == JobTypes::One, "`job-types` is \"one\", which has no class `batch`",
        "not used", "remove it, or set `job-types = \"batch-and-interactive\"`"),
    refuse("interactive", |it, ()| it.interactive.is_some() && it.job_types == JobTypes::One,
        "`job-types` is \"one\", which has no class `interactive`", "not used",
        "remove it, or set `job-types = \"batch-and-interactive\"`"),
];

/// Keys that independent jobs have, also with a wrong value.
#[derive(Clone, Copy)]
struct Arrivals {
    between: bool,
    /// Arrivals follow hours or days.
    daily: bool,
    hours: bool,
    jobs: bool,
    length: bool,
    days: bool,
}

/// Bounds of the arrivals, and bounds that go with another way to draw them.
#[rustfmt::skip] // a table
const BOUNDS: &[Refusal<Arrivals>] = &[
    refuse("jobs", |it, ()| it.between && !it.jobs && !it.length, "the end of arrivals by `{way}` is missing", "`jobs` is missing here",
        "add `jobs = 1000` or `length = \"7d\"`"),
    refuse("days", |it, ()| it.between && it.days, "`days` goes with `hours` or `per-day`, not with `between`", "not used",
        "remove it, or write `length`"),
    refuse("jobs", |it, ()| !it.between && it.hours && !it.jobs, "the end of arrivals by `{way}` is missing", "`jobs` is missing here",
        "add `jobs = 1000`"),
    refuse("days", |it, ()| !it.between && it.daily && !it.days, "the end of arrivals by `{way}` is missing", "`days` is missing here",
        "add `days = 7`"),
    refuse("length", |it, ()| !it.between && it.daily && it.length, "`length` goes with `between`, not with `{way}`", "not used",
        "remove it, or write `days`"),
];

impl Check<'_> {
    pub(super) fn check_model(&mut self, path: &Path, workload: &Workload) {
        for words in MODELS {
            let given = match words.model {
                Model::LublinFeitelson => workload.lublin.is_some(),
                Model::IndependentJobs => workload.independent_jobs.is_some(),
                Model::SyntheticMonth => workload.synthetic_month.is_some(),
                Model::Applications => workload.applications.is_some(),
                Model::Iterative => workload.iterative.is_some(),
                Model::Workflows => workload.workflows.is_some(),
            };
            self.check_parameters_of(path, workload, &words, given);
        }
        if let Some(lublin) = &workload.lublin {
            self.check_lublin(&path.key("lublin"), lublin);
        }
        if let Some(jobs) = &workload.independent_jobs {
            self.check_independent_jobs(&path.key("independent-jobs"), jobs);
        }
        if let Some(month) = &workload.synthetic_month {
            self.check_synthetic_month(&path.key("synthetic-month"), month);
        }
        if let Some(applications) = &workload.applications {
            self.check_applications(&path.key("applications"), applications);
        }
        if let Some(iterative) = &workload.iterative {
            self.check_iterative(&path.key("iterative"), iterative);
        }
        if let Some(workflows) = &workload.workflows {
            self.check_workflows(&path.key("workflows"), workflows);
        }
    }

    /// Applications must have exactly one source: a published application, phases of their own, or measured times.
    fn check_applications(&mut self, path: &Path, it: &Applications) {
        let ways = [it.like.is_some(), it.phases.is_some(), it.measured.is_some()];
        let given = ways.iter().filter(|given| **given).count();
        if self.refuse_first(WAYS, path, (it, &given), &[]) {
            return;
        }
        self.refuse(LIKE, path, (it, &()), &[]);
        if let Some(problem) = it.problem().filter(|_| !self.has_replaced(path)) {
            self.report_problem(path, problem, "no application", None);
        }
        self.check_workflows_of_applications(path, it);
    }

    /// Reports parameters that are missing or belong to another model.
    fn check_parameters_of(
        &mut self,
        path: &Path,
        workload: &Workload,
        words: &Words,
        given: bool,
    ) {
        let Words { model, name, key, example } = words;
        if workload.model == Some(*model) {
            if !given {
                self.report(
                    &path.key(key),
                    format!("workload \"{}\" has no parameters for its model", workload.name),
                    &format!("`{key}` is missing here"),
                    format!("add `{example}`"),
                );
            }
        } else if given && !self.is_replaced(&path.key("model")) {
            let but = if workload.model.is_some() { "its model is another" } else { "no model" };
            self.report(
                &path.key(key),
                format!("workload \"{}\" has parameters for a model, but {but}", workload.name),
                "not used",
                format!("write `model = \"{name}\"`, or remove `{key}`"),
            );
        }
    }

    fn check_lublin(&mut self, path: &Path, lublin: &Lublin) {
        self.refuse(CLASSES, path, (lublin, &()), &[]);
        if let Some(problem) = lublin.problem() {
            let help = "sizes are logarithms (base 2) and grow from `size-low` over `size-medium` to `size-high`";
            self.report(path, problem.to_string().replace('_', "-"), "out of range", help);
        }
    }

    fn check_independent_jobs(&mut self, path: &Path, jobs: &IndependentJobs) {
        let before = self.problems.len();
        let ways = [
            ("between", jobs.between.is_some()),
            ("hours", jobs.hours.is_some()),
            ("per-day", jobs.per_day.is_some()),
        ];
        self.one_of(path, "model", ways, "workloads");
        if self.problems.len() == before {
            self.check_bounds(path, jobs);
        }
        self.weights(&path.key("between"), jobs.between.as_ref().and_then(|law| law.weights()));
        for (key, law) in
            [("per-day", &jobs.per_day), ("batch", &jobs.batch), ("processors", &jobs.processors)]
        {
            self.weights(&path.key(key), law.as_ref().and_then(|law| law.weights()));
        }
        self.weights(&path.key("run"), jobs.run.weights());
        // The model validates its parameters as a whole, so none of them may be a stand-in.
        if self.problems.len() == before
            && !self.has_replaced(path)
            && let Some((key, problem)) = jobs.problem()
        {
            let message = format!("independent-jobs: {key} {problem}");
            let help = "docs/workloads.md has the range of each parameter";
            self.report(&path.key(&key), message, "out of range", help);
        }
    }

    fn check_synthetic_month(&mut self, path: &Path, month: &SyntheticMonth) {
        if self.has_replaced(path) {
            return;
        }
        if let Some((key, problem)) = month.problem() {
            let help = format!("write a site from 0 to {}", month.sites.len().saturating_sub(1));
            let message = format!("synthetic-month: {key} {problem}");
            let help = (key == "site").then_some(help);
            self.report_problem(&path.key(key), message, "out of range", help);
        }
    }

    /// Reports missing bounds of the arrivals, and bounds that go with another way to draw them.
    fn check_bounds(&mut self, path: &Path, jobs: &IndependentJobs) {
        // A bound that was given but wrong has been reported already.
        let given = |key, given| given || self.is_replaced(&path.key(key));
        let arrivals = Arrivals {
            between: jobs.between.is_some(),
            daily: jobs.hours.is_some() || jobs.per_day.is_some(),
            hours: jobs.hours.is_some(),
            jobs: given("jobs", jobs.jobs.is_some()),
            length: given("length", jobs.length.is_some()),
            days: given("days", jobs.days.is_some()),
        };
        let way = match arrivals {
            Arrivals { between: true, .. } => "between",
            Arrivals { hours: true, .. } => "hours",
            _ => "per-day",
        };
        self.refuse(BOUNDS, path, (&arrivals, &()), &[("way", &way)]);
    }
}
