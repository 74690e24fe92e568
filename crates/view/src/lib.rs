//! The viewer: schedules of runs in a browser.
//!
//! ```text
//! RunReader ──> results ──┐
//!                         ├──> View ──> Views ──> server ──> page (TypeScript, in page/)
//! Scenario ──> simulation ┘      └─ Scene: charts, tiles with level of detail
//! ```
//!
//! [`scene`] has no I/O and no HTTP. [`server`] knows views only by the trait [`View`]. [`seen`] is a view as one of its
//! actors sees it.
//! docs/internals/viewer.md describes the parts and the HTTP interface.

pub mod compare;
pub mod jobs;
pub mod legend;
pub mod results;
pub mod scene;
pub mod seen;
pub mod series;
pub mod server;
pub mod simulation;
pub mod view;
pub mod views;

mod clock;
mod promise;
pub mod shown;

pub use view::{Kind, Refusal, View};
pub use views::Views;
