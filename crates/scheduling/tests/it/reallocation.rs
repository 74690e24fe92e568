//! Reallocation of moldable jobs: worked examples, and whole runs against the obvious version.

mod examples;
mod obvious;
mod properties;
mod queues;
mod world;
