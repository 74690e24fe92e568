//! The plan of a machine.

pub(crate) mod openings;
pub(crate) mod waiting;
