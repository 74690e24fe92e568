//! The schedulers as a provider uses them, against obvious versions and published cases.

mod checkpoints;
mod composition;
mod composition_properties;
mod coordinated;
mod coordination;
mod edf;
mod edf_history;
mod failures;
mod grid_checkpoint;
mod grid_decisions;
mod grid_scale;
mod grid_sessions;
mod grid_time_shared;
mod grid_worlds;
mod obvious;
mod obvious_edf;
mod obvious_grid;
mod obvious_reservations;
mod one_by_one;
mod profile;
mod published;
mod reallocation;
mod replay;
mod reservations;
mod schedulers;
mod system;
