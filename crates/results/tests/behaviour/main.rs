//! Behaviour of results from the view of users, one file for each topic.

mod damaged;
mod folders;
mod grids;
mod holds;
mod made_up;
mod picked_rows;
mod round_trip;
mod summaries;
