//! States of jobs in the accounting of Slurm.

use super::NoteKind;

/// The state of a job, as far as a log of jobs distinguishes it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in super::super) enum State {
    #[default]
    Unknown,
    Completed,
    Failed,
    /// It ended for a reason that the status of a log does not state.
    Ended(&'static str),
    Cancelled,
    /// It runs, or is about to begin or to end.
    Runs,
    /// It waits.
    Waits,
}

impl State {
    /// The state by its word, such as `COMPLETED` or `CANCELLED by 1000`. `None` if there is no such state.
    pub(super) fn read(text: &[u8]) -> Option<State> {
        // Words of a fixed width are cut: `CANCELLED+`.
        let end = text.iter().position(|byte| b" +,".contains(byte)).unwrap_or(text.len());
        Some(match &text[..end] {
            b"" => State::Unknown,
            b"COMPLETED" => State::Completed,
            b"FAILED" => State::Failed,
            b"CANCELLED" | b"REVOKED" => State::Cancelled,
            b"TIMEOUT" => State::Ended("state TIMEOUT: status 0"),
            b"NODE_FAIL" => State::Ended("state NODE_FAIL: status 0"),
            b"BOOT_FAIL" => State::Ended("state BOOT_FAIL: status 0"),
            b"LAUNCH_FAILED" => State::Ended("state LAUNCH_FAILED: status 0"),
            b"DEADLINE" => State::Ended("state DEADLINE: status 0"),
            b"OUT_OF_MEMORY" => State::Ended("state OUT_OF_MEMORY: status 0"),
            b"PREEMPTED" => State::Ended("state PREEMPTED: status 0"),
            b"REQUEUED" => State::Ended("state REQUEUED: status 0"),
            b"SPECIAL_EXIT" => State::Ended("state SPECIAL_EXIT: status 0"),
            b"RECONFIG_FAIL" => State::Ended("state RECONFIG_FAIL: status 0"),
            b"RUNNING" | b"COMPLETING" | b"SUSPENDED" | b"STOPPED" | b"CONFIGURING"
            | b"RESIZING" | b"SIGNALING" | b"STAGE_OUT" | b"POWER_UP_NODE" | b"EXPEDITING" => {
                State::Runs
            }
            b"PENDING" | b"REQUEUE_FED" | b"REQUEUE_HOLD" | b"RESV_DEL_HOLD" => State::Waits,
            _ => return None,
        })
    }

    /// The status of a log: 1 completed, 0 failed, 5 cancelled, -1 unknown.
    pub(super) fn status(self, note: &mut impl FnMut(NoteKind, &'static str)) -> i32 {
        match self {
            State::Completed => 1,
            State::Failed => 0,
            State::Cancelled => 5,
            State::Ended(fact) => {
                note(NoteKind::Changed, fact);
                0
            }
            State::Waits => {
                note(NoteKind::Changed, "job that had not started: run time unknown");
                -1
            }
            State::Unknown | State::Runs => -1,
        }
    }
}
