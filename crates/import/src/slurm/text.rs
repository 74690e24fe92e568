//! The text of a scenario.

use std::fmt::Write;
use std::path::PathBuf;

use haggle_scenario::file::{
    Account, Failures, LogReading, Node, OnFailure, Policy, Priority, Qos, Queue, Rules, User,
};
use haggle_scenario::quantity::Name;
use serde::Serialize;

use super::nodes::NodeGroups;
use super::{Counts, jobs};
use crate::Remarks;

/// Name of the provider.
pub(super) const PROVIDER: &str = "site";

const WORKLOAD: &str = "jobs";

/// The parts of a scenario.
pub(super) struct Scenario<'a> {
    pub(super) name: &'a str,
    pub(super) policy: Policy,
    pub(super) log: PathBuf,
    pub(super) reading: LogReading,
    pub(super) groups: &'a NodeGroups,
    pub(super) queues: Vec<Queue>,
    pub(super) qualities: Vec<Qos>,
    pub(super) accounts: Vec<Account>,
    pub(super) priority: Option<Priority>,
    pub(super) down: Vec<Failures>,
}

/// The keys of a scenario that differ from their defaults, in the order of the text.
#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct Document {
    scenario: Header,
    workload: [WorkloadPart; 1],
    provider: [ProviderPart; 1],
    user: [User; 1],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    failures: Vec<Failures>,
}

#[derive(Serialize)]
struct Header {
    description: String,
}

#[derive(Serialize)]
struct WorkloadPart {
    name: &'static str,
    log: String,
    rules: Rules,
    reading: LogReading,
}

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct ProviderPart {
    name: &'static str,
    policy: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    on_failure: Option<OnFailure>,
    #[serde(skip_serializing_if = "Option::is_none")]
    priority: Option<Priority>,
    node: Vec<Node>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    queue: Vec<Queue>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    qos: Vec<Qos>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    account: Vec<Account>,
}

impl Scenario<'_> {
    pub(super) fn write(self, counts: &Counts, remarks: &Remarks) -> String {
        let mut text = format!(
            "# {} as a scenario, made by `haggle import slurm`: {} jobs on {} nodes with {} processors.\n#\n\
             #   haggle run FILE -o results/site\n\
             #   haggle compare results/site --recorded   # waiting times beside those of the log\n",
            self.name.escape_default(),
            counts.jobs,
            counts.nodes,
            counts.processors,
        );
        if !remarks.is_empty() {
            text.push_str("#\n# Differences from the site:\n#\n");
            for line in remarks.lines() {
                // A name from the dump must not end the comment.
                let line = line.replace(|it: char| it.is_control(), " ");
                let _ = writeln!(text, "# - {line}");
            }
        }
        text.push('\n');
        let document = Document {
            scenario: Header { description: format!("Jobs, nodes and rules of {}", self.name) },
            workload: [WorkloadPart {
                name: WORKLOAD,
                log: self.log.to_string_lossy().into_owned(),
                rules: jobs::rules(),
                reading: self.reading,
            }],
            provider: [ProviderPart {
                name: PROVIDER,
                policy: self.policy.name().to_owned(),
                on_failure: (!self.down.is_empty()).then_some(OnFailure::Drain),
                priority: self.priority,
                node: self.groups.groups.iter().map(|it| it.node.clone()).collect(),
                queue: self.queues,
                qos: self.qualities,
                account: self.accounts,
            }],
            user: [User::named(Name::like("users"), Name::like(WORKLOAD), Name::like(PROVIDER))],
            failures: self.down,
        };
        text.push_str(&toml::to_string(&document).expect("tables with string keys"));
        text
    }
}
