//! `reading` of a workload: how its log is read.
//!
//! The same type is read from scenarios and from the command line.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{LogFormat, LoggedDemand};
use crate::quantity::TimeZone;
#[cfg(feature = "clap")]
use crate::vocabulary::parser;

/// How a log is read that is not in Standard Workload Format, or does not state all about itself.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
#[cfg_attr(feature = "clap", command(next_help_heading = "Format of the log"))]
pub struct LogReading {
    /// Format of the log; without it, by its content.
    #[serde(skip_serializing_if = "Option::is_none")]
    // Commands have a `--format` of what they write.
    #[cfg_attr(feature = "clap", arg(id = "log_format", long = "log-format", value_name = "FORMAT", value_parser = parser::<LogFormat>()))]
    pub format: Option<LogFormat>,
    /// Time zone of the local times in the log; without it, UTC.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "ZONE"))]
    pub time_zone: Option<TimeZone>,
    /// Names of the columns of a log without a line of names.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "NAMES", value_delimiter = ','))]
    pub columns: Vec<String>,
    /// Path of a file that maps the columns of a table of jobs, from the scenario's folder.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "FILE"))]
    pub mapping: Option<String>,
    /// Resources beside processors for which jobs ask as their records say, on providers with nodes. Logs of sacct have
    /// them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "clap", arg(skip))]
    pub demands: Vec<LoggedDemand>,
    /// Names of the log whose numbers are stated; without it, names have numbers in the order in which the log has them.
    #[serde(skip_serializing_if = "LogNames::is_empty")]
    #[cfg_attr(feature = "clap", arg(skip))]
    pub names: LogNames,
}

/// Names of a log whose numbers are stated: the first name of each list has the number 1. Names that are not listed have
/// the numbers behind them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct LogNames {
    /// Of users.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub users: Vec<String>,
    /// Of groups, or of accounts in a log without groups.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<String>,
    /// Of queues, or of qualities of service in a log of sacct.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub queues: Vec<String>,
    /// Of partitions.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub partitions: Vec<String>,
}

impl LogNames {
    fn is_empty(&self) -> bool {
        *self == LogNames::default()
    }

    /// The lists, each with its key.
    pub fn lists(&self) -> [(&'static str, &[String]); 4] {
        let LogNames { users, groups, queues, partitions } = self;
        [("users", users), ("groups", groups), ("queues", queues), ("partitions", partitions)]
    }
}

impl LogReading {
    /// True if all keys are missing.
    pub fn is_empty(&self) -> bool {
        *self == LogReading::default()
    }
}
