//! The actors and the messages they exchange.
//!
//! An actor is a plain struct with private state. It receives one message and the time, and puts
//! its effects into an [`Outbox`]: messages to others, wake-ups for itself, observations for the
//! record. It has no clock, lock, thread, file or global generator. So it behaves the same under
//! every driver (the sequential clock, actix, a socket).
//!
//! ```text
//!            JobDue                Submit                    Submit
//!  workload ───────▶ user ─────────────────▶ metascheduler ─────────▶ provider
//!                     │                        │  EstimateRequest ──▶   │
//!                     │                        │  ◀── Estimate          │
//!                     └── Submit (local job) ──┼───────────────────────▶│
//!                     ◀── Accepted, Refused, Started, Finished ─────────┘
//! ```

pub mod acceptor;
pub mod actor;
pub mod coallocator;
pub mod data_network;
pub mod desk;
pub mod glimpse;
pub mod grid;
pub mod metascheduler;
pub mod nature;
pub mod negotiator;
mod numbered;
mod overhead;
pub mod planning;
pub mod protocol;
pub mod provider;
pub mod reallocator;
mod seats;
pub mod settings;
pub mod transaction;
pub mod transactor;
pub mod user;

pub use acceptor::Acceptor;
pub use actor::{Actor, AnyActor, Effect, OtherActor, Outbox};
pub use coallocator::{Coallocator, CoallocatorConfig};
pub use data_network::{DataNetwork, Routes, Traffic};
pub use desk::Desk;
pub use glimpse::Glimpse;
pub use metascheduler::{DataPaths, DataWays, Metascheduler, MetaschedulerConfig};
pub use nature::Nature;
pub use negotiator::{Negotiator, NegotiatorConfig};
pub use protocol::{Message, Phase, RunMessage, Submission, Timer};
pub use provider::{
    Bargaining, CheckpointStore, Estimates, Maintenance, OnFailure, Provider, ProviderConfig,
    RealWork, ReservingConfig,
};
pub use reallocator::{Reallocator, ReallocatorConfig};
pub use seats::Seats;
pub use settings::Settings;
pub use transaction::Transaction;
pub use transactor::{Transactor, TransactorConfig};
pub use user::{User, UserConfig};
