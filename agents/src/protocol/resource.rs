//! Resources: nature notifies their owners of failures and repairs.
//!
//! ```text
//!   nature                         owner
//!       │ ── Failed ──────────────────▶ │
//!       │ ── Restored ────────────────▶ │  unless they fail for ever
//! ```
//!
//! All failures and repairs of an instant are delivered before any job starts.

use haggle_model::ProcessorSet;
use serde::{Deserialize, Serialize};

use super::Phase;
use super::said::{protocol, said};

protocol! {
    /// Nature to the owner of processors.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    pub enum ResourceMessage {
        /// Processors of yours fail now.
        Failed {
            /// The owner's own numbers.
            processors: ProcessorSet,
        } => said("failed").during(Phase::Resource),
        /// Processors of yours are back.
        Restored {
            /// The owner's own numbers.
            processors: ProcessorSet,
        } => said("restored").during(Phase::Resource),
    }
}
