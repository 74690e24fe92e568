//! Workflows as their users meet them: examples by hand, and laws that hold for all.

mod graph;
