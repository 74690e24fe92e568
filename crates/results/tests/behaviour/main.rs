//! Behaviour of results from the view of users, one file for each topic.

mod damaged;
mod folders;
mod grids;
mod made_up;
mod picked_rows;
mod round_trip;
mod summaries;
