//! Resources: nature tells their owners of failures and repairs.

use haggle_model::ProcessorSet;
use serde::{Deserialize, Serialize};

/// Nature to the owner of processors.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum ResourceMessage {
    /// Processors of yours fail now.
    Failed {
        /// The owner's own numbers.
        processors: ProcessorSet,
    },
    /// Processors of yours are back.
    Restored {
        /// The owner's own numbers.
        processors: ProcessorSet,
    },
}

impl ResourceMessage {
    /// The word used in the table of messages.
    pub fn kind(&self) -> &'static str {
        match self {
            ResourceMessage::Failed { .. } => "failed",
            ResourceMessage::Restored { .. } => "restored",
        }
    }
}
