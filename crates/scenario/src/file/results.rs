//! `[results]`: what is recorded and how it is measured.

use haggle_model::Span;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Messages;
use crate::quantity::{TimeOrShare, TimeSpan};

/// Tables that are recorded, and how metrics are measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Results {
    /// Time from the first submission, or share of the jobs: these first jobs run but are not measured.
    pub warm_up: TimeOrShare,
    /// Time up to the last submission, or share of the jobs: these last jobs run but are not measured.
    pub cool_down: TimeOrShare,
    /// Shortest run time that bounded slowdown divides by.
    pub bounded_slowdown_threshold: TimeSpan,
    /// Utilisation in the window is taken from time zero to this; without it, over the time between warm-up and
    /// cool-down.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<TimeSpan>,
    /// File format of the tables.
    pub format: TableFormat,
    /// Detail in which messages between actors are recorded.
    pub messages: Messages,
    /// True if each checkpoint gets a row, on a grid, or of rigid jobs that share links on the way to a `store`.
    /// Without it, only checkpoints from which another attempt could have started have rows.
    #[serde(skip_serializing_if = "is_true")]
    pub checkpoints: bool,
}

fn is_true(value: &bool) -> bool {
    *value
}

impl Default for Results {
    fn default() -> Results {
        Results {
            warm_up: TimeOrShare::ZERO,
            cool_down: TimeOrShare::ZERO,
            bounded_slowdown_threshold: TimeSpan(Span::from_secs(10)),
            window: None,
            format: TableFormat::default(),
            messages: Messages::default(),
            checkpoints: true,
        }
    }
}

/// File format of the tables.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TableFormat {
    /// Parquet: typed and compressed; pandas, Polars, DuckDB and R read it.
    #[default]
    Parquet,
    /// Comma-separated text.
    Csv,
    /// Each table in both formats.
    Both,
}
