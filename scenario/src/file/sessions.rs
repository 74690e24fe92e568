//! `[grid.sessions]`: what sessions may ask for, under policies that go by it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::quantity::{Share, TimeSpan};

/// Limits to the share of a resource that a session may ask for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct SessionLimits {
    /// Largest share that is accepted with policy "with-limit".
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<Share>,
    /// L0 of policy "with-dynamic-limit": sessions that ask for this share or less are light.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub light: Option<Share>,
    /// B*: share of light sessions that may be blocked, by Erlang's B formula; 5% if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blocking: Option<Share>,
    /// Mean time between light sessions, as it is thought to be until 30 of them have ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub between: Option<TimeSpan>,
    /// Mean time for which a light session lasts, likewise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub holding: Option<TimeSpan>,
    /// Mean share that a light session asks for, likewise; `light` if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub share: Option<Share>,
}

impl SessionLimits {
    /// B*, given or not.
    pub fn blocking(&self) -> Share {
        self.blocking.unwrap_or_else(|| "5%".parse().expect("a share"))
    }
}
