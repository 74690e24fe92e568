//! The rules for logs.

use haggle_workloads::rules;

use crate::file::Rules;

impl Rules {
    /// The rules, with presets applied.
    pub fn to_model(&self) -> rules::Rules {
        let written = self.filled();
        rules::Rules {
            lines: written.lines,
            malformed: written.malformed.unwrap_or_default(),
            missing_submit: written.missing_submit.unwrap_or_default(),
            partial: written.partial.unwrap_or_default(),
            cancelled: written.cancelled.unwrap_or_default(),
            processors: written.processors_from.unwrap_or_default(),
            machine_size: written.machine_size,
            too_wide: written.too_wide.unwrap_or_default(),
            missing_run_time: written.missing_run_time.unwrap_or_default(),
            zero_run_time: written.zero_run_time.unwrap_or_default(),
            missing_request: written.missing_requested_time.unwrap_or_default(),
            overrun: written.over_requested_time.unwrap_or_default(),
            order: written.order.unwrap_or_default(),
            origin: written.origin.unwrap_or_default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::{Preset, ZeroRunTime};

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
            rules::Rules { zero_run_time: ZeroRunTime::Keep, ..rules::Rules::canonical() };
        assert_eq!(written.to_model(), expected);
    }
}
