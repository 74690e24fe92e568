//! Workflows of applications: a directed graph, run level by level (Sanjay and Vadhiyar 2011,
//! section 8, of which no experiment is published).
//!
//! A level contains the applications with equally long longest paths to them. It begins when the level before it is over. Its applications
//! run side by side and compete for machines. When some of them are between two intervals, each proposes
//! its next interval as if all free machines were its own. The critical application, with the longest
//! remaining time, gets the machines that it proposed. The applications that proposed some of the same
//! machines propose again, and so on ([`Grants`]).
//!
//! The publication takes the levels of a breadth-first search. If such levels keep every application
//! behind those that it needs, all paths to an application have the same length, and both kinds of levels
//! are equal. Otherwise an application would run before one that it needs.

mod grants;

pub use grants::{Grants, Step};
