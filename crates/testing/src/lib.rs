//! Helpers that the tests of several crates share. No crate depends on it outside its tests.

mod logs;
mod times;

pub use logs::real_log;
pub use times::{at, at_micros, micros, secs};
