//! Behaviour of results as its users meet it: a file for each.

mod damaged;
mod folders;
mod grids;
mod made_up;
mod picked_rows;
mod round_trip;
mod summaries;
