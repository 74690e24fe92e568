//! The networks that carried data: the key `network` of `summary.json`. They often decide a result, and mostly by
//! defaults that no scenario mentions.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The networks of a run, as its scenario has them. Bandwidths are in bit/s.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Networks {
    /// Bandwidth between providers, metaschedulers and storages without a link of their own; missing where they send no
    /// data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bandwidth: Option<f64>,
    /// Bandwidth of a resource of a grid within its site, or of every transfer where each has its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grid_bandwidth: Option<f64>,
    /// Bandwidth between two sites of a grid; missing where each transfer has its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grid_wan_bandwidth: Option<f64>,
    /// How old what the scheduler of a grid knows of its resources may be, s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grid_information_delay: Option<f64>,
    /// Those of the values above that are defaults, by their keys in the scenario.
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

    /// The network of providers, in words.
    pub(super) fn of_providers(&self) -> Option<String> {
        let mark = self.mark(&[Self::BANDWIDTH]);
        Some(format!("network: {}{mark}", Rate(self.bandwidth?)))
    }

    /// The network of a grid, in words.
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

    /// What a grid's scheduler knows, in words.
    pub(super) fn information(&self) -> Option<String> {
        let mark = self.mark(&[Self::GRID_INFORMATION_DELAY]);
        let delay = self.grid_information_delay.filter(|&delay| delay > 0.0)?;
        Some(format!("the scheduler knows resources as they were up to {delay} s ago{mark}"))
    }

    /// Says which of these values are defaults.
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
