//! Workflows as their users meet them: examples by hand, and laws that hold for all.

mod files;
mod garbage;
mod graph;
mod obvious;
mod real_logs;
mod schedules;
mod shapes;
mod strategies;
