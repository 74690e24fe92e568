//! Planners as their callers see them: examples by hand, and laws that hold for all of them.

mod grids;
mod iterative;
mod models;
mod multi;
mod obvious;
mod optimiser;
mod planners;
mod plans;
mod search;
mod workflows;
