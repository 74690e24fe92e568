//! Workflows whose tasks report their progress (Chtepen 2011, chapters 5 and 6).
//!
//! ```text
//!  graphs ─▶ Ledger ─── which tasks are ready, which sets run ───┐
//!  reports of tasks ─▶ Predictor ─── how much of each is left ───┤
//!  View ─── resources, and their jobs ───────────────────────────┴─▶ BalancedRound ─▶ place
//!                                                                    moves            dispatches
//! ```
//!
//! [`balance`] and [`placing`] know neither graphs nor reports, and the ledger ([`haggle_workflows::ledger`]) knows
//! no resources; [`scheduler`] combines them in a round. [`statics`] decides before a workflow starts, and
//! receives no reports of its progress.

pub mod balance;
pub mod curve;
pub mod placing;
pub mod prediction;
pub mod ready;
pub mod scheduler;
pub mod statics;

pub use balance::{Balance, BalancedRound};
pub use prediction::{Average, CurveFit, Extrapolation, Predictor};
pub use scheduler::{BalanceRules, Estimate, Prediction, WorkflowPolicy, WorkflowScheduler};
pub use statics::{Outages, StaticPolicy, StaticScheduler};
