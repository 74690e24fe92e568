//! Promised completions: which are kept, as the metrics of a run count them.

use haggle_model::AttemptOutcome;

use crate::scene::TickKind;

/// State of a promised completion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Promise {
    /// The job, or the attempt, was over by then.
    Kept,
    /// It was over later, or is not over by then; or it was lost or given up.
    Broken,
    /// It is not over, and its time has not come.
    Open,
    /// It was withdrawn, refused, or went on elsewhere: nobody has broken the promise.
    Void,
}

impl Promise {
    /// The state of a promise of a job or an attempt, which has ended with an outcome or lasts at the time `end`. No
    /// outcome is that of a job that was refused.
    ///
    /// As in the metrics `promises_broken` and `shares_late`, a completion in time counts only if it is one.
    pub(crate) fn of(outcome: Option<AttemptOutcome>, promised: i64, end: Option<i64>) -> Promise {
        use AttemptOutcome::{
            Cancelled, Completed, Failed, GivenUp, Moved, Preempted, Stranded, Unfinished,
            WalltimeReached,
        };
        let is_late = end.is_some_and(|end| end > promised);
        match outcome {
            Some(Completed | WalltimeReached) if is_late => Promise::Broken,
            Some(Completed | WalltimeReached) => Promise::Kept,
            Some(Failed | Preempted | Stranded | GivenUp) => Promise::Broken,
            Some(Unfinished) if is_late => Promise::Broken,
            Some(Unfinished) => Promise::Open,
            Some(Cancelled | Moved) | None => Promise::Void,
        }
    }

    /// The outcome of a job or an attempt, by its word in tables.
    pub(crate) fn outcome(word: &str) -> Option<AttemptOutcome> {
        AttemptOutcome::ALL.into_iter().find(|it| it.name() == word)
    }

    /// Its word.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Promise::Kept => "kept",
            Promise::Broken => "broken",
            Promise::Open => "open",
            Promise::Void => "void",
        }
    }

    /// Its tick on a chart.
    pub(crate) fn tick(self) -> Option<TickKind> {
        match self {
            Promise::Kept => Some(TickKind::Kept),
            Promise::Broken => Some(TickKind::Broken),
            Promise::Open => Some(TickKind::Open),
            Promise::Void => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_completions_in_time_keep_promises() {
        for outcome in AttemptOutcome::ALL {
            let is_done =
                matches!(outcome, AttemptOutcome::Completed | AttemptOutcome::WalltimeReached);
            let early = Promise::of(Some(outcome), 10, Some(9));
            assert_eq!(early == Promise::Kept, is_done, "{outcome:?}");
            assert_ne!(Promise::of(Some(outcome), 10, Some(11)), Promise::Kept, "{outcome:?}");
        }
        let of = |outcome, end| Promise::of(Some(outcome), 10, end);
        assert_eq!(of(AttemptOutcome::Completed, Some(10)), Promise::Kept);
        assert_eq!(of(AttemptOutcome::Cancelled, Some(11)), Promise::Void);
        assert_eq!(of(AttemptOutcome::GivenUp, Some(9)), Promise::Broken);
        assert_eq!(of(AttemptOutcome::Unfinished, Some(11)), Promise::Broken);
        assert_eq!(of(AttemptOutcome::Unfinished, None), Promise::Open);
        assert_eq!(Promise::of(Promise::outcome("rejected"), 10, None), Promise::Void);
    }
}
