//! Failures end to end: properties of all laws, recorded failures, and input that no record would hold.

#[path = "failures/garbage.rs"]
mod garbage;
#[path = "failures/laws.rs"]
mod laws;
#[path = "failures/properties.rs"]
mod properties;
#[path = "failures/real_logs.rs"]
mod real_logs;
