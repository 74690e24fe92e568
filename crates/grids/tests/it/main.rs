//! The schedulers of grids, against obvious versions and published cases.

mod grid_checkpoint;
mod grid_decisions;
mod grid_scale;
mod grid_sessions;
mod grid_time_shared;
mod grid_worlds;
mod obvious_grid;
