//! Settings of actors that change while a run goes on.
//!
//! The world sends each actor whose settings change a [`RunMessage::Changed`](crate::RunMessage::Changed) with the
//! actor that the changed scenario describes, before its first message. The receiver takes over the settings that may
//! change, and keeps its state: jobs, plans, agreements and facts about others. A metascheduler that is placing a job
//! completes that placement by its old rules.

use serde::{Deserialize, Serialize};

use crate::AnyActor;

/// New settings of an actor.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Settings {
    /// The actor as the changed scenario describes it, before its first message.
    pub actor: AnyActor,
    /// True if its random streams are replaced, too.
    pub reseeded: bool,
}

/// Settings are equal if they are for the same kind of actor; for tests that compare messages.
impl PartialEq for Settings {
    fn eq(&self, other: &Settings) -> bool {
        let kinds = (&self.actor, &other.actor);
        std::mem::discriminant(kinds.0) == std::mem::discriminant(kinds.1)
            && self.reseeded == other.reseeded
    }
}
