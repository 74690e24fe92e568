//! Networks that carried data: the key `network` of `summary.json`. They often decide a result, and
//! their values mostly are defaults that a scenario does not mention.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Networks of a run, as in its scenario. Bandwidths are in bit/s.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Networks {
    /// Bandwidth between providers, metaschedulers and storages without a link of their own. Missing if
    /// they send no data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bandwidth: Option<f64>,
    /// Bandwidth of a grid's resource within its site, or of every transfer if transfers do not share links.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grid_bandwidth: Option<f64>,
    /// Bandwidth between two sites of a grid. Missing if transfers do not share links.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grid_wan_bandwidth: Option<f64>,
    /// Maximum age of a grid scheduler's information about its resources, s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grid_information_delay: Option<f64>,
    /// Values above that are defaults, by their keys in the scenario.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub defaults: Vec<String>,
}

impl Networks {
    /// The key of `bandwidth`.
    pub const BANDWIDTH: &str = "network.bandwidth";
    /// The key of `grid_bandwidth`.
    pub const GRID_BANDWIDTH: &str = "grid.network.bandwidth";
    /// The key of `grid_wan_bandwidth`.
    pub const GRID_WAN_BANDWIDTH: &str = "grid.network.wan-bandwidth";
    /// The key of `grid_information_delay`.
    pub const GRID_INFORMATION_DELAY: &str = "grid.information.delay";

    /// Describes the network of providers.
    pub(super) fn of_providers(&self) -> Option<String> {
        let mark = self.mark(&[Self::BANDWIDTH]);
        Some(format!("network: {}{mark}", Rate(self.bandwidth?)))
    }

    /// Describes the network of a grid.
    pub(super) fn of_grid(&self) -> Option<String> {
        let inside = Rate(self.grid_bandwidth?);
        Some(match self.grid_wan_bandwidth {
            Some(outside) => {
                let mark = self.mark(&[Self::GRID_BANDWIDTH, Self::GRID_WAN_BANDWIDTH]);
                format!("network: {inside} in sites, {} between them{mark}", Rate(outside))
            }
            None => format!("network: {inside}{}", self.mark(&[Self::GRID_BANDWIDTH])),
        })
    }

    /// Describes the information of a grid's scheduler.
    pub(super) fn information(&self) -> Option<String> {
        let mark = self.mark(&[Self::GRID_INFORMATION_DELAY]);
        let delay = self.grid_information_delay.filter(|&delay| delay > 0.0)?;
        Some(format!("the scheduler knows resources as they were up to {delay} s ago{mark}"))
    }

    /// Describes which of these values are defaults.
    fn mark(&self, keys: &[&str]) -> String {
        let is_default = |key: &&&str| self.defaults.iter().any(|it| it == **key);
        let defaults = Vec::from_iter(keys.iter().filter(is_default));
        match defaults.len() {
            0 => String::new(),
            1 if keys.len() > 1 => format!(" (default `{}`)", defaults[0]),
            1 => " (default)".to_owned(),
            _ => " (defaults)".to_owned(),
        }
    }
}

/// A rate in the largest unit of which it is a whole number.
struct Rate(f64);

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let units = [("Gbit/s", 1e9), ("Mbit/s", 1e6), ("kbit/s", 1e3)];
        let whole = units.iter().find(|(_, size)| self.0 >= *size && self.0 % size == 0.0);
        let &(unit, size) = whole.unwrap_or(&("bit/s", 1.0));
        write!(f, "{} {unit}", self.0 / size)
    }
}
