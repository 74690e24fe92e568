//! `[workload.rules]`: how the lines of a log become jobs.
//!
//! The same type is read from scenarios and from the command line, so that a
//! rule has one name and one list of words.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    Cancelled, Malformed, MissingRequest, MissingRunTime, MissingSubmit, Origin, OverRequest,
    PartialExecution, ProcessorsFrom, SubmitOrder, TooWide, ZeroRunTime,
};
#[cfg(feature = "clap")]
use crate::vocabulary::parser;

/// Rules for gaps and contradictions of a log: a preset, and the differences from it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
#[cfg_attr(feature = "clap", command(next_help_heading = "Rules for the log"))]
pub struct Rules {
    /// The preset from which the other keys differ; "careful" if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "clap", arg(long = "rules", value_name = "SET", value_parser = parser::<Preset>()))]
    pub preset: Option<Preset>,
    /// Job lines to read; without it, all.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    #[cfg_attr(feature = "clap", arg(long, value_name = "NUMBER"))]
    pub lines: Option<u64>,
    /// Treatment of lines that are not records.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "RULE", value_parser = parser::<Malformed>()))]
    pub malformed: Option<Malformed>,
    /// Treatment of jobs without a submit time.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "RULE", value_parser = parser::<MissingSubmit>()))]
    pub missing_submit: Option<MissingSubmit>,
    /// Treatment of lines about a part of a job that was stopped and restarted (status 2 to 4).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "RULE", value_parser = parser::<PartialExecution>()))]
    pub partial: Option<PartialExecution>,
    /// Treatment of jobs cancelled before they started (status 5, no run time).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "RULE", value_parser = parser::<Cancelled>()))]
    pub cancelled: Option<Cancelled>,
    /// Field with the number of processors that a job needs.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "FIELD", value_parser = parser::<ProcessorsFrom>()))]
    pub processors_from: Option<ProcessorsFrom>,
    /// Processors of the machine; without it, as the log's header says.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 100_000_000))]
    #[cfg_attr(feature = "clap", arg(long = "processors", value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..=100_000_000)))]
    pub machine_size: Option<u32>,
    /// Treatment of jobs that need more processors than the machine has.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "RULE", value_parser = parser::<TooWide>()))]
    pub too_wide: Option<TooWide>,
    /// Treatment of jobs whose run time is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "RULE", value_parser = parser::<MissingRunTime>()))]
    pub missing_run_time: Option<MissingRunTime>,
    /// Treatment of jobs that ran for 0 s.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "RULE", value_parser = parser::<ZeroRunTime>()))]
    pub zero_run_time: Option<ZeroRunTime>,
    /// Substitute for a missing requested time.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "RULE", value_parser = parser::<MissingRequest>()))]
    pub missing_requested_time: Option<MissingRequest>,
    /// Treatment of jobs that ran longer than requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "RULE", value_parser = parser::<OverRequest>()))]
    pub over_requested_time: Option<OverRequest>,
    /// Treatment of a log that is not in order of submission.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "RULE", value_parser = parser::<SubmitOrder>()))]
    pub order: Option<SubmitOrder>,
    /// Position of time zero.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "WHERE", value_parser = parser::<Origin>()))]
    pub origin: Option<Origin>,
}

impl Rules {
    /// True if all keys are missing, the preset too.
    pub fn is_empty(&self) -> bool {
        *self == Rules::default()
    }

    /// The name of the preset, and the differences from it as scenarios write them.
    pub fn in_words(&self) -> String {
        let preset = self.preset.unwrap_or_default();
        let table = |rules: &Rules| -> toml::Table {
            toml::to_string(rules).unwrap_or_default().parse().unwrap_or_default()
        };
        // The size of the machine is no way to read a line.
        let filled = table(&Rules { machine_size: None, ..self.filled() });
        let base = table(&preset.rules());
        let differs = |(key, value): &(&String, &toml::Value)| base.get(*key) != Some(value);
        let others = filled.iter().filter(differs).map(|(key, value)| format!("{key} = {value}"));
        let others: Vec<String> = others.collect();
        let name = toml::Value::try_from(preset);
        let name = name.ok().and_then(|name| name.as_str().map(str::to_owned)).unwrap_or_default();
        if others.is_empty() { name } else { format!("{name}, but {}", others.join(", ")) }
    }

    /// The rules with the values of the preset in place of missing keys. Only `lines` and `machine-size` may stay open:
    /// their default is the log itself.
    pub fn filled(&self) -> Rules {
        let preset = self.preset.unwrap_or_default();
        let base = preset.rules();
        Rules {
            preset: Some(preset),
            lines: self.lines,
            malformed: self.malformed.or(base.malformed),
            missing_submit: self.missing_submit.or(base.missing_submit),
            partial: self.partial.or(base.partial),
            cancelled: self.cancelled.or(base.cancelled),
            processors_from: self.processors_from.or(base.processors_from),
            machine_size: self.machine_size,
            too_wide: self.too_wide.or(base.too_wide),
            missing_run_time: self.missing_run_time.or(base.missing_run_time),
            zero_run_time: self.zero_run_time.or(base.zero_run_time),
            missing_requested_time: self.missing_requested_time.or(base.missing_requested_time),
            over_requested_time: self.over_requested_time.or(base.over_requested_time),
            order: self.order.or(base.order),
            origin: self.origin.or(base.origin),
        }
    }
}

/// A set of rules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Preset {
    /// For everyday use: jobs that never ran and parts of restarted ones are left out. A run time of 0 s is 1 s, a
    /// missing request is the run time, and runs are cut to the request.
    #[default]
    Careful,
    /// For comparison with published figures: allocated processors, no job without a run time or a
    /// request, runs cut to the request.
    Canonical,
}

impl Preset {
    /// All rules of the preset.
    fn rules(self) -> Rules {
        let careful = Rules {
            preset: Some(Preset::Careful),
            lines: None,
            malformed: Some(Malformed::Refuse),
            missing_submit: Some(MissingSubmit::Drop),
            partial: Some(PartialExecution::Drop),
            cancelled: Some(Cancelled::Drop),
            processors_from: Some(ProcessorsFrom::RequestedThenAllocated),
            machine_size: None,
            too_wide: Some(TooWide::Keep),
            missing_run_time: Some(MissingRunTime::Drop),
            zero_run_time: Some(ZeroRunTime::OneSecond),
            missing_requested_time: Some(MissingRequest::UseRunTime),
            over_requested_time: Some(OverRequest::Cut),
            order: Some(SubmitOrder::Require),
            origin: Some(Origin::FirstJob),
        };
        match self {
            Preset::Careful => careful,
            Preset::Canonical => Rules {
                preset: Some(Preset::Canonical),
                partial: Some(PartialExecution::Keep),
                cancelled: Some(Cancelled::Keep),
                processors_from: Some(ProcessorsFrom::AllocatedThenRequested),
                zero_run_time: Some(ZeroRunTime::Drop),
                missing_requested_time: Some(MissingRequest::Drop),
                ..careful
            },
        }
    }
}
