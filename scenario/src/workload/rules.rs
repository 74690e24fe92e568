//! The rules for logs.

use haggle_model::workload::{rules, swf};

use crate::file::{
    Cancelled, Malformed, MissingRequest, MissingRunTime, MissingSubmit, Origin, OverRequest,
    PartialExecution, ProcessorsFrom, Rules, SubmitOrder, TooWide, ZeroRunTime,
};

/// Matches each word of a rule to the variant of the same rule in the model;
/// what is left open is what the model leaves it at.
macro_rules! word {
    ($written:expr, $from:ident => $into:path { $($word:ident => $variant:ident),+ $(,)? }) => {{
        use $into as Into;
        match $written {
            None => Into::default(),
            $(Some($from::$word) => Into::$variant,)+
        }
    }};
}

impl Rules {
    /// The rules, presets taken into account.
    pub fn to_model(&self) -> rules::Rules {
        let written = self.filled();
        rules::Rules {
            lines: written.lines,
            malformed: word!(written.malformed, Malformed => swf::Malformed {
                Refuse => Refuse,
                Skip => Skip,
            }),
            missing_submit: word!(written.missing_submit, MissingSubmit => rules::MissingSubmit {
                Drop => Drop,
                AsPrevious => AsPrevious,
            }),
            partial: word!(written.partial, PartialExecution => rules::PartialExecution {
                Drop => Drop,
                Keep => Keep,
            }),
            cancelled: word!(written.cancelled, Cancelled => rules::Cancelled {
                Drop => Drop,
                Keep => Keep,
            }),
            processors: word!(written.processors_from, ProcessorsFrom => rules::ProcessorsFrom {
                RequestedThenAllocated => RequestedThenAllocated,
                AllocatedThenRequested => AllocatedThenRequested,
                Requested => Requested,
                Allocated => Allocated,
            }),
            machine_size: written.machine_size,
            too_wide: word!(written.too_wide, TooWide => rules::TooWide {
                Keep => Keep,
                Drop => Drop,
                Clamp => Clamp,
            }),
            missing_run_time: word!(written.missing_run_time, MissingRunTime => rules::NoRunTime {
                Drop => Drop,
                OneSecond => OneSecond,
                Zero => Zero,
            }),
            zero_run_time: word!(written.zero_run_time, ZeroRunTime => rules::ZeroRunTime {
                OneSecond => OneSecond,
                Drop => Drop,
                Keep => Keep,
            }),
            missing_request: word!(
                written.missing_requested_time,
                MissingRequest => rules::MissingRequest {
                    UseRunTime => UseRunTime,
                    Drop => Drop,
                    NoLimit => NoLimit,
                }
            ),
            overrun: word!(written.over_requested_time, OverRequest => rules::Overrun {
                Cut => Cut,
                Keep => Keep,
                RaiseRequest => RaiseRequest,
            }),
            order: word!(written.order, SubmitOrder => rules::SubmitOrder {
                Require => Require,
                Sort => Sort,
            }),
            origin: word!(written.origin, Origin => rules::Origin {
                FirstJob => FirstJob,
                Log => Log,
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::Preset;

    #[test]
    fn presets_are_those_of_the_model() {
        let preset = |preset| Rules { preset: Some(preset), ..Rules::default() }.to_model();
        assert_eq!(preset(Preset::Careful), rules::Rules::default());
        assert_eq!(preset(Preset::Canonical), rules::Rules::canonical());
        assert_eq!(Rules::default().to_model(), rules::Rules::default());
    }

    #[test]
    fn a_rule_that_is_given_overrides_the_preset() {
        let written = Rules {
            preset: Some(Preset::Canonical),
            zero_run_time: Some(ZeroRunTime::Keep),
            ..Rules::default()
        };
        let expected =
            rules::Rules { zero_run_time: rules::ZeroRunTime::Keep, ..rules::Rules::canonical() };
        assert_eq!(written.to_model(), expected);
    }
}
