//! Actors without a world: messages go in by hand, and effects are read from the outbox.

mod provider;
