//! The command `haggle`.
fn main() {}
