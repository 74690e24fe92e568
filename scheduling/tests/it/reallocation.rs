//! Reallocation of moldable jobs: examples by hand, and whole runs against the obvious version.

mod examples;
mod obvious;
mod properties;
mod queues;
mod world;
