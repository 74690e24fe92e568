//! The format of scenario files: one type for each table, and no other description.
//!
//! These are the types of the file, not of the engine. They keep the text as written (strings with units, names of
//! others) and become engine types when a run is put together. Only words without further data are types of the
//! engine. Doc comments of both are the texts of the schema and of error messages, so their first line is written
//! for the author of a scenario.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

mod applications;
mod change;
mod checkpoints;
mod coallocation;
mod failures;
mod figure;
mod grid;
mod grid_policy;
mod header;
mod independent_jobs;
mod initial;
mod iterative;
mod law;
mod log_reading;
mod lublin;
mod maintenance;
mod mapping;
mod metascheduler;
mod network;
mod node;
mod plans;
mod policy;
mod protocol;
mod provider;
mod reservations;
mod results;
mod rules;
mod site;
mod step;
mod sweep;
mod synthetic_month;
mod user;
mod workflows;
mod workload;

pub use crate::quantity::Name;
// Words that are types of the engine.
pub use haggle_grids::workflows::{Estimate, Outages};
pub use haggle_grids::{CancelMode, LoadUnit, Preference};
pub use haggle_model::iterative::Communication;
pub use haggle_model::moldable::Rounding;
pub use haggle_model::network::LinkSharing;
pub use haggle_model::reservation::Remedy;
pub use haggle_model::{Disclosure, EventsOrder, FollowOn};
pub use haggle_planning::synthetic::ApplicationKind;
pub use haggle_planning::{PlanLinks, PlanSearch};
pub use haggle_results::Messages;
pub use haggle_scheduling::checkpoints::MeanFailure;
pub use haggle_scheduling::coallocation::{AsksFor, FillRule, RemapRule, RequestOrder};
pub use haggle_scheduling::composition::WeightRule;
pub use haggle_scheduling::reallocation::{ReallocationHeuristic, Tuning};
pub use haggle_scheduling::reservations::{AfterAnchor, Criterion};
pub use haggle_scheduling::{
    Compression, Late, Overlap, Overrun, Passes, Placing, ReschedulingRule,
};
pub use haggle_workflows::files::NegativeValues;
pub use haggle_workflows::schedule::StaticAlgorithm;
pub use haggle_workflows::shapes::WorkflowShape;
pub use haggle_workloads::failures::FailureStart;
pub use haggle_workloads::failures::recorded::RecordFormat;
pub use haggle_workloads::logs::{LogFormat, LoggedDemand};
pub use haggle_workloads::rules::{
    Cancelled, Malformed, MissingRequest, MissingRunTime, MissingSubmit, Origin, OverRequest,
    PartialExecution, ProcessorsFrom, SubmitOrder, TooWide, ZeroRunTime,
};
pub use haggle_workloads::steps::{
    DependenciesFrom, KeyField, KeyOrder, LoggedMemory, Overshoot, SplitBy, TimeOf, WindowStart,
};

pub use applications::{ApplicationInGraph, ApplicationPhase, Applications, MeasuredTimes};
pub use change::{Branch, Change, SubmittedJobs};
pub use checkpoints::{CheckpointRule, Checkpoints};
pub use coallocation::{
    BackOff, Coallocation, CoallocationPolicy, ExponentialWait, FixedWait, Remapping,
};
pub use failures::{Correlation, FailureLaw, Failures, Recorded};
pub use figure::{
    AxisScale, BarLabels, Figure, FigureKey, FigureKind, ImageFormat, LegendPlace, Metric, Shown,
    Whiskers,
};
pub use grid::{
    Data, DataNetwork, Grid, Information, InformationMode, Load, NetworkModel, OutputFate,
    Overflow, Prediction, Sharing, Site, Storage,
};
pub use grid_policy::{
    BalancedWorkflow, GridPolicy, LightSessions, MaxReplicas, Replicas, Replicating,
    SwitchedReplicas,
};
pub use header::{Header, SEED_MAX, seed_after};
pub use independent_jobs::IndependentJobs;
pub use initial::{GridInitialJob, InitialJob, InitialUse};
pub use iterative::{IterativeApplications, IterativeMachine};
pub use law::{Law, TimeLaw};
pub use log_reading::{LogNames, LogReading};
pub use lublin::{GammaLaw, JobTypes, Lublin, LublinClass};
pub use maintenance::Maintenance;
pub use mapping::Mapping;
pub use metascheduler::{
    Composition, Metascheduler, Negotiation, Placement, Reallocation, ReallocationAlgorithm,
    Resizes, Role, SpreadRule,
};
pub use network::{Link, Network, Partition, Transport};
pub use node::Node;
pub use plans::{PlanCluster, PlanGenetic, PlanMethod, Plans};
pub use policy::{BagsPolicy, EdfPolicy, Policy};
pub use protocol::{
    Claiming, InDoubt, Inquire, OnePhase, OrderRule, Ordered, Paxos, Polling, Probing, Protocol,
    StartNegotiation, TwoPhase,
};
pub use provider::{
    Estimates, EstimatesFrom, Offers, OnFailure, Order, Provider, Rescheduling, Told,
};
pub use reservations::Reservations;
pub use results::{Results, TableFormat};
pub use rules::{Preset, Rules};
pub use site::{
    Account, AccountUser, FairShareRule, Favours, Limits, OnPreemption, Priority, PriorityWeights,
    Qos, Queue, UserLimits,
};
pub use step::{SCALE_MAX, Step};
pub use sweep::{Axis, AxisVariant, Sweep};
pub use synthetic_month::{MonthSite, SyntheticMonth};
pub use user::User;
pub use workflows::{AmplitudeOf, TaskEstimates, TaskProgress, Underestimate, Workflows};
pub use workload::{InlineJob, Model, Workload};

/// Puts the names of tables beside the tables in a schema: a word alone stands for the table with this name and no
/// other key. Checking replaces the word by that table.
fn words_alone(schema: &mut schemars::Schema) {
    // A table without a tag among the choices turns "one of" into "any of", but the choices still exclude each
    // other.
    if let Some(choices) = schema.remove("anyOf") {
        schema.insert("oneOf".to_owned(), choices);
    }
    let Some(choices) = schema.get_mut("oneOf").and_then(|it| it.as_array_mut()) else { return };
    let word = |table: &serde_json::Value| {
        let word = table["properties"]["name"]["const"].as_str()?;
        let (about, all) = (&table["description"], table["required"].as_array()?.len() == 1);
        let word = serde_json::json!({ "type": "string", "const": word, "description": about });
        all.then_some(word)
    };
    let words: Vec<_> = choices.iter().filter_map(word).collect();
    choices.splice(0..0, words);
}

/// A scenario of haggle: processors and their owners, jobs and their users, tables and figures.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Scenario {
    /// Name of the scenario, its seed, and the end of arrivals.
    #[serde(default)]
    pub scenario: Header,
    /// Sources of jobs.
    #[serde(rename = "workload", default)]
    pub workloads: Vec<Workload>,
    /// Owners of processors.
    #[serde(rename = "provider", default)]
    pub providers: Vec<Provider>,
    /// Actors that place jobs on providers.
    #[serde(rename = "metascheduler", default, skip_serializing_if = "Vec::is_empty")]
    pub metaschedulers: Vec<Metascheduler>,
    /// Time-shared resources that may fail, and one scheduler for them; alone, or beside providers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grid: Option<Grid>,
    /// Clusters shared with others, over which applications of many phases are rescheduled; alone, or beside providers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plans: Option<Plans>,
    /// Actors that submit jobs, and the actors that receive these.
    #[serde(rename = "user", default)]
    pub users: Vec<User>,
    /// Failures and repairs of processors.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failures: Vec<Failures>,
    /// Windows, known in advance, in which processors are closed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub maintenance: Vec<Maintenance>,
    /// Latency of messages between actors.
    #[serde(default)]
    pub network: Network,
    /// Tables that are recorded, and how metrics are measured.
    #[serde(default)]
    pub results: Results,
    /// Figures drawn from the results.
    #[serde(rename = "figure", default, skip_serializing_if = "Vec::is_empty")]
    pub figures: Vec<Figure>,
    /// Single values to change in the scenario that is extended: paths as in a sweep, each with its value.
    #[serde(default, skip_serializing)]
    #[schemars(with = "std::collections::BTreeMap<String, serde_json::Value>")]
    pub set: toml::Table,
    /// Settings that change while the run goes on, in order of their instants.
    #[serde(rename = "change", default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<Change>,
    /// Other futures, each from an instant on, beside the run without them.
    #[serde(rename = "branch", default, skip_serializing_if = "Vec::is_empty")]
    pub branches: Vec<Branch>,
    /// Quantities that vary from run to run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sweep: Option<Sweep>,
    /// Rules of the program's own that the scenario can name. Not a key of the file: the program supplies them.
    #[serde(skip)]
    pub own: crate::Rules,
}
