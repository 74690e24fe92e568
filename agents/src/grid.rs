//! The actors of a grid of time-shared resources that fail (Chtepen 2011, chapter 2).
//!
//! ```text
//!         Submit                 Dispatch, Cancel, Checkpointing, Move
//!  user ─────────▶ dispatcher ──────────────────────────────────────▶ resource
//!                   ▲  ▲  ▲    ◀── Refused, Computed, Delivered ──────   │ │ │
//!            Report │  │  └── CheckpointAvailable ── checkpoint server ◀─┘ │ │
//!       information ┘  └─────── Traffic ──── data network ◀── Transfer ─────┘ │
//!           service ◀──────────────── Status ─────────────────────────────────┘
//! ```
//!
//! The dispatcher decides in rounds, from the state that the information service reports. Messages
//! between these actors take no time. Data take time, and so may rounds
//! ([`Rounds`](haggle_grids::Rounds)).

pub mod checkpoints;
pub mod dispatcher;
pub mod information;
pub mod plan;
pub mod resource;
pub mod storage;
pub mod surplus;

pub use checkpoints::CheckpointServer;
pub use dispatcher::{Dispatcher, DispatcherConfig, Known, Overflow};
pub use information::{Delay, InformationService};
pub use plan::{GridActors, GridPlan, PlannedResource};
pub use resource::{BackgroundLoad, Checkpoints, GridResource, Home, JobData, ResourceRules};
pub use storage::{Storage, StorageLimits};
