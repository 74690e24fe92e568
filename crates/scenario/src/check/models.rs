//! Models that generate jobs: each with its own parameters, in range and complete.

use super::Check;
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
            self.check_workflows(path, workload, workflows);
        }
    }

    /// Applications must have exactly one source: a published application, phases of their own, or measured times.
    fn check_applications(&mut self, path: &Path, it: &Applications) {
        let ways = [it.like.is_some(), it.phases.is_some(), it.measured.is_some()];
        let given = ways.iter().filter(|given| **given).count();
        if given != 1 {
            self.report(
                path,
                "applications are `like` a published one, of given `phases` or `measured`"
                    .to_owned(),
                if given == 0 { "none of them" } else { "more than one of them" },
                "write one of them, such as `like = \"md\"`".to_owned(),
            );
            return;
        }
        for (key, given) in [
            ("seed", it.seed.is_some()),
            ("count", it.count.is_some()),
            ("size", it.size.is_some()),
        ] {
            if given && it.like.is_none() {
                self.report(
                    &path.key(key),
                    format!("`{key}` goes with `like`: the phases are given here"),
                    "not used",
                    "remove it".to_owned(),
                );
            }
        }
        if let Some(problem) = it.problem().filter(|_| !self.has_replaced(path)) {
            self.report(path, problem, "no application", None);
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
        let classes = [
            ("one", lublin.one.is_some(), JobTypes::One),
            ("batch", lublin.batch.is_some(), JobTypes::BatchAndInteractive),
            ("interactive", lublin.interactive.is_some(), JobTypes::BatchAndInteractive),
        ];
        for (key, given, types) in classes {
            if given && types != lublin.job_types {
                let (is, other) = match lublin.job_types {
                    JobTypes::One => ("one", "batch-and-interactive"),
                    JobTypes::BatchAndInteractive => ("batch-and-interactive", "one"),
                };
                self.report(
                    &path.key(key),
                    format!("`job-types` is \"{is}\", which has no class `{key}`"),
                    "not used",
                    format!("remove it, or set `job-types = \"{other}\"`"),
                );
            }
        }
        if let Some(problem) = lublin.problem() {
            self.report(
                path,
                problem.to_string().replace('_', "-"),
                "out of range",
                "sizes are logarithms (base 2) and grow from `size-low` over `size-medium` to \
                 `size-high`"
                    .to_owned(),
            );
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
            self.report(
                &path.key(&key),
                format!("independent-jobs: {key} {problem}"),
                "out of range",
                "docs/workloads.md has the range of each parameter".to_owned(),
            );
        }
    }

    fn check_synthetic_month(&mut self, path: &Path, month: &SyntheticMonth) {
        if self.has_replaced(path) {
            return;
        }
        if let Some((key, problem)) = month.problem() {
            let help = format!("write a site from 0 to {}", month.sites.len().saturating_sub(1));
            self.report(
                &path.key(key),
                format!("synthetic-month: {key} {problem}"),
                "out of range",
                (key == "site").then_some(help),
            );
        }
    }

    /// Reports missing bounds of the arrivals, and bounds that go with another way to draw them.
    fn check_bounds(&mut self, path: &Path, jobs: &IndependentJobs) {
        // A bound that was given but wrong has been reported already.
        let given = |key, given| given || self.is_replaced(&path.key(key));
        let bounded = given("jobs", jobs.jobs.is_some());
        let (length, days) =
            (given("length", jobs.length.is_some()), given("days", jobs.days.is_some()));
        if jobs.between.is_some() {
            if !bounded && !length {
                self.missing(path, "jobs", "between", "`jobs = 1000` or `length = \"7d\"`");
            }
            if days {
                self.not_used(path, "days", "`hours` or `per-day`", "between", "length");
            }
        } else if jobs.hours.is_some() || jobs.per_day.is_some() {
            let way = if jobs.hours.is_some() { "hours" } else { "per-day" };
            if !bounded && jobs.hours.is_some() {
                self.missing(path, "jobs", way, "`jobs = 1000`");
            }
            if !days {
                self.missing(path, "days", way, "`days = 7`");
            }
            if length {
                self.not_used(path, "length", "`between`", way, "days");
            }
        }
    }

    /// Reports a bound that goes with `others`, and not with the given `way`.
    fn not_used(&mut self, path: &Path, key: &str, others: &str, way: &str, instead: &str) {
        self.report(
            &path.key(key),
            format!("`{key}` goes with {others}, not with `{way}`"),
            "not used",
            format!("remove it, or write `{instead}`"),
        );
    }

    /// Reports that no key bounds the arrivals by `way`.
    fn missing(&mut self, path: &Path, key: &str, way: &str, example: &str) {
        self.report(
            &path.key(key),
            format!("the end of arrivals by `{way}` is missing"),
            &format!("`{key}` is missing here"),
            format!("add {example}"),
        );
    }
}
