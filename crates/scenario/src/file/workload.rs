//! `[[workload]]`: where jobs come from and what is done to them first.

use haggle_model::{MemoryWish, Wishes};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    Applications, Data, FollowOn, IndependentJobs, IterativeApplications, LogReading, Lublin,
    Rules, Step, SyntheticMonth, Workflows,
};
use crate::quantity::{Bytes, Name, Share, TimeSpan};

/// A stream of jobs from exactly one source: a log, a model, a list or other workloads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Workload {
    /// Name of the workload, unique among workloads; the draws for its jobs depend on it.
    pub name: Name,
    /// Path of a log, such as one in Standard Workload Format (.swf, .swf.gz, .swf.zst), from the scenario's
    /// folder; `$VARIABLE` stands for an environment variable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log: Option<String>,
    /// Model that generates the jobs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<Model>,
    /// The jobs themselves, in any order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jobs: Option<Vec<InlineJob>>,
    /// Workloads whose jobs are merged by submission time, each after its own steps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub merge: Option<Vec<Name>>,
    /// Parameters of the model "lublin-feitelson".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lublin: Option<Lublin>,
    /// Data of each job in a grid.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Data>,
    /// The share of a resource that each job reserves as a session. A job that runs for a time R
    /// on a reference processor lasts R / (share x mips) then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub share: Option<Share>,
    /// Parameters of the model "independent-jobs".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub independent_jobs: Option<IndependentJobs>,
    /// Parameters of the model "synthetic-month".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub synthetic_month: Option<SyntheticMonth>,
    /// Parameters of the model "applications".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub applications: Option<Applications>,
    /// Parameters of the model "iterative".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub iterative: Option<IterativeApplications>,
    /// Parameters of the model "workflows".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workflows: Option<Workflows>,
    /// How the log is read.
    #[serde(default, skip_serializing_if = "LogReading::is_empty")]
    pub reading: LogReading,
    /// Rules for gaps and contradictions of a log.
    #[serde(default, skip_serializing_if = "Rules::is_empty")]
    pub rules: Rules,
    /// Transformations of the jobs, in this order.
    #[serde(rename = "step", default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<Step>,
}

impl Workload {
    /// A workload without a source yet.
    pub fn named(name: Name) -> Workload {
        Workload {
            name,
            log: None,
            model: None,
            jobs: None,
            merge: None,
            lublin: None,
            data: None,
            share: None,
            independent_jobs: None,
            synthetic_month: None,
            applications: None,
            iterative: None,
            workflows: None,
            reading: LogReading::default(),
            rules: Rules::default(),
            steps: Vec::new(),
        }
    }
}

/// A model that generates jobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Model {
    /// Lublin and Feitelson 2003: sizes, run times and arrivals of rigid jobs.
    LublinFeitelson,
    /// Arrivals, run times and sizes drawn independently from given laws.
    IndependentJobs,
    /// Caniou, Charrier and Desprez 2010, as far as it is known: a site's jobs in a month whose log is not available.
    SyntheticMonth,
    /// Sanjay and Vadhiyar 2011: applications of many phases, for `[plans]`.
    Applications,
    /// Netto 2009, chapter 5: iterative applications, for a metascheduler with `mapping`.
    Iterative,
    /// Workflows: tasks that need each other's data (Chtepen 2011, chapters 5 and 6; shapes; files).
    Workflows,
}

/// A job written into the scenario.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct InlineJob {
    /// Submission of the job.
    pub submit: TimeSpan,
    /// Processors that the job needs, all at once.
    #[schemars(range(min = 1, max = 100_000_000))]
    pub processors: u32,
    /// Real run time of the job on a reference processor.
    pub run: TimeSpan,
    /// Requested time, the user's estimate and limit; without it, there is no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requested: Option<TimeSpan>,
    /// Earliest start the user allows, from time zero: the job is submitted then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ready: Option<TimeSpan>,
    /// Latest completion the user wishes, from time zero.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<TimeSpan>,
    /// Priority key: smaller goes first where a provider orders by key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<i64>,
    /// Number of the user, for steps that examine users, and for accounts and limits of providers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<i32>,
    /// Number of the group, for accounts and queues of providers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<i32>,
    /// Number of the queue, for queues of providers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue: Option<i32>,
    /// Number of the partition, for queues of providers that go by it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partition: Option<i32>,
    /// Number of the application, for steps that examine applications, and programs of real machines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub application: Option<i32>,
    /// Memory of the whole job, in equal parts for its processors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<Bytes>,
    /// Memory for each of its processors, in place of `memory`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_per_processor: Option<Bytes>,
    /// Memory on each of its `nodes`, in place of `memory`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_per_node: Option<Bytes>,
    /// Accelerators of the whole job.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub gpus: Option<u32>,
    /// Nodes that the job needs, with an equal part of it on each; without it, any number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub nodes: Option<u32>,
    /// True if the job shares its nodes with no other job.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub exclusive: bool,
    /// Jobs that must have ended before the user submits this one, by their places in the list, from 1. They are submitted
    /// earlier, or at the same time and stand before it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub after: Option<Vec<u32>>,
    /// Ends of the jobs in `after` that count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on: Option<FollowOn>,
    /// Time from the last of these ends to the submission; 0s if not given. The job is not submitted before `submit`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub think: Option<TimeSpan>,
}

impl InlineJob {
    /// Its wishes beside processors, if it has any. Of several amounts of memory, one counts: a check refuses them.
    pub fn wishes(&self) -> Option<Wishes> {
        let per_processor = self.memory_per_processor.map(|it| MemoryWish::Processor(it.0));
        let per_node = self.memory_per_node.map(|it| MemoryWish::Node(it.0));
        let of_job = self.memory.map(|it| MemoryWish::Job(it.0));
        let wishes = Wishes {
            nodes: self.nodes,
            gpus: self.gpus.unwrap_or(0),
            memory: of_job.or(per_processor).or(per_node),
            exclusive: self.exclusive,
        };
        (wishes != Wishes::default()).then_some(wishes)
    }

    /// A job without further wishes of its user.
    pub fn new(submit: TimeSpan, processors: u32, run: TimeSpan) -> InlineJob {
        InlineJob {
            submit,
            processors,
            run,
            requested: None,
            ready: None,
            deadline: None,
            key: None,
            user: None,
            group: None,
            queue: None,
            partition: None,
            application: None,
            memory: None,
            memory_per_processor: None,
            memory_per_node: None,
            gpus: None,
            nodes: None,
            exclusive: false,
            after: None,
            on: None,
            think: None,
        }
    }
}
