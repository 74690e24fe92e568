//! Agreements.
mod coordinator;
mod participant;
mod wire;

pub use coordinator::{
    Coordinator, CoordinatorOutput, CoordinatorRecord, CoordinatorState, CoordinatorTimer,
    Progress, Rules, Vote,
};
pub use participant::{
    Hold, Participant, ParticipantOutput, ParticipantRecord, ParticipantState, Task,
};
pub use wire::{
    AgreementId, Answer, InDoubt, Instruction, Output, Payload, Subject, ToCoordinator,
    ToParticipant,
};
