//! Helpers that the tests of several crates share. No crate depends on it outside its tests.

mod logs;

pub use logs::real_log;
