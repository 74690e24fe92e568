//! Scenarios of sites, made of the records of their schedulers.
//!
//! ```text
//!   folder of a dump ──▶ records ──▶ groups of nodes, queues, accounts, limits ──▶ text of a scenario
//!                           │                          │
//!                           │                          ▼
//!                           └─────────────▶ remarks: facts without a place in the scenario
//! ```
//!
//! [`slurm::import`] reads the dump that `docs/slurm-dump.sh` takes of a Slurm site.

mod dump;
mod error;
mod remarks;
pub mod slurm;

pub use error::ImportError;
pub use remarks::Remarks;
