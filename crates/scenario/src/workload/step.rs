//! Steps of workloads.

use haggle_model::law;
use haggle_workloads::WorkloadError;
use haggle_workloads::steps::{
    self, Bounds, Demands, Draws, Estimates, FillWindow, Filter, MemoryRule, ScaleGaps, Split,
    Window,
};

use super::instant;
use crate::file::{Step, TimeOf};
use crate::quantity::EstimateRule;

impl Step {
    /// The step, in the terms of the model. A check refuses a step with two of several keys, or none. Here,
    /// one of the keys then counts, or the step changes as little as it can.
    pub fn to_model(&self) -> steps::Step {
        match self {
            Step::Window { from, until, start } => steps::Step::Window(Window {
                from: instant(*from),
                length: until.map(|until| until.0 - from.0),
                start: *start,
            }),
            Step::RandomWindow { length, from, until, every } => {
                steps::Step::RandomWindow(steps::RandomWindow {
                    length: length.0,
                    from: instant(*from),
                    until: until.map(instant),
                    every: every.0,
                })
            }
            Step::Filter {
                processors_min,
                processors_max,
                run_min,
                run_max,
                requested_min,
                requested_max,
                users,
                groups,
                queues,
                partitions,
            } => steps::Step::Filter(Filter {
                processors: Bounds { min: *processors_min, max: *processors_max },
                run_time: Bounds { min: run_min.map(|it| it.0), max: run_max.map(|it| it.0) },
                requested_time: Bounds {
                    min: requested_min.map(|it| it.0),
                    max: requested_max.map(|it| it.0),
                },
                users: users.clone().unwrap_or_default(),
                groups: groups.clone().unwrap_or_default(),
                queues: queues.clone().unwrap_or_default(),
                partitions: partitions.clone().unwrap_or_default(),
            }),
            Step::First { jobs } => steps::Step::First(*jobs),
            Step::ScaleGaps { factor } => steps::Step::ScaleGaps(ScaleGaps { factor: *factor }),
            Step::FillWindow { from, length, load } => steps::Step::FillWindow(FillWindow {
                from: instant(*from),
                length: length.0,
                load: *load,
            }),
            Step::Estimates { over: Some(percent), .. } => {
                steps::Step::Estimates(Estimates::Overestimate { percent: *percent })
            }
            Step::Estimates { rule, factor, of, .. } => {
                steps::Step::Estimates(match (rule, factor) {
                    (Some(rule), _) => rule.to_model(),
                    (None, Some(factor)) => Estimates::Multiplied {
                        base: of.unwrap_or(TimeOf::RunTime),
                        factor: factor.to_model(),
                    },
                    (None, None) => Estimates::Trace,
                })
            }
            Step::Deadlines { one_of: Some(slacks), stream, of, .. } => {
                steps::Step::Deadlines(steps::Deadlines::Listed {
                    base: *of,
                    slacks: slacks.iter().map(|slack| slack.0).collect(),
                    stream: stream.unwrap_or(0),
                })
            }
            Step::Deadlines { factor, least, slack, of, .. } => {
                let base = *of;
                steps::Step::Deadlines(match slack {
                    Some(slack) => steps::Deadlines::Slack { base, slack: slack.to_model() },
                    None => steps::Deadlines::Stretched {
                        base,
                        factor: factor.as_ref().map_or(law::Law::Constant(1.0), |it| it.to_model()),
                        least: least.unwrap_or(1.0),
                    },
                })
            }
            Step::ReadyTimes { delay, lead } => steps::Step::ReadyTimes(match lead {
                Some(lead) => steps::ReadyTimes::BeforeDeadline { lead: lead.to_model() },
                None => steps::ReadyTimes::AfterSubmission {
                    delay: delay.as_ref().map_or(law::Law::Constant(0.0), |it| it.to_model()),
                },
            }),
            Step::Reservations {
                lead,
                flexible,
                flexibility,
                accepts,
                narrowest,
                widest,
                on_failure,
            } => steps::Step::Reservations(steps::Reservations {
                lead: lead.as_ref().map(|law| law.to_model()),
                flexible: flexible.fraction(),
                flexibility: flexibility.as_ref().map(|law| law.to_model()),
                accepts: *accepts,
                sizes: (*narrowest, *widest),
                remedy: *on_failure,
            }),
            Step::Key { by, order } => steps::Step::Key(steps::Key { field: *by, order: *order }),
            Step::Split { part, count, parts, by, pool } => steps::Step::Split(Split {
                pool: pool.to_string(),
                parts: *parts,
                part: *part,
                count: *count,
                by: *by,
            }),
            Step::Shake { most, by } => steps::Step::Shake(steps::Shake { most: most.0, by: *by }),
            Step::Resample { weeks, long_term } => {
                steps::Step::Resample(steps::Resample { weeks: *weeks, long_term: *long_term })
            }
            Step::Slice { skip, jobs } => {
                steps::Step::Slice(steps::Slice { skip: *skip, jobs: *jobs })
            }
            Step::Spread { length } => steps::Step::Spread(steps::Spread { length: length.0 }),
            Step::FitLoad { length, processors, load, tolerance, overshoot } => {
                steps::Step::FitLoad(steps::FitLoad {
                    length: length.0,
                    processors: *processors,
                    load: *load,
                    tolerance: *tolerance,
                    overshoot: *overshoot,
                })
            }
            Step::RunTimesAsRequested {} => steps::Step::RunTimes(steps::RunTimes::Requested),
            Step::RunTimes { percent } => {
                steps::Step::RunTimes(steps::RunTimes::Part(percent.to_model()))
            }
            Step::ExtendRunTimes { by } => {
                // The model counts in percent.
                steps::Step::RunTimes(steps::RunTimes::Longer(100.0 * by.fraction()))
            }
            Step::Bags {} => steps::Step::Bags,
            Step::Demand { memory_per_processor, memory_from, gpus, exclusive } => {
                let alike = memory_per_processor.map(|it| MemoryRule::Alike(it.0));
                steps::Step::Demand(Demands {
                    memory: alike.or(memory_from.map(MemoryRule::Logged)),
                    gpus: gpus.unwrap_or(0),
                    exclusive: *exclusive,
                })
            }
            Step::Dependencies { from, on, gap } => {
                steps::Step::Dependencies(steps::Dependencies {
                    from: *from,
                    on: *on,
                    gap: gap.map_or(steps::Dependencies::GAP, |gap| gap.0),
                })
            }
            Step::ScaleTimes { factor } => {
                steps::Step::ScaleTimes(steps::ScaleTimes { factor: *factor })
            }
            Step::Moldable { parallel, limit, capped, rounding } => {
                let speedups = match parallel {
                    Some(parallel) => {
                        let limit = limit.unwrap_or(u32::MAX);
                        steps::Speedups::Alike { parallel: *parallel, limit }
                    }
                    None => steps::Speedups::Kinds,
                };
                steps::Step::Molding(steps::Molding {
                    speedups,
                    capped: *capped,
                    rounding: *rounding,
                })
            }
        }
    }
}

impl EstimateRule {
    /// Model of the estimates.
    pub fn to_model(self) -> Estimates {
        let multiplied = |factor| Estimates::Multiplied { base: TimeOf::RunTime, factor };
        match self {
            EstimateRule::Trace => Estimates::Trace,
            EstimateRule::Exact => Estimates::Exact,
            EstimateRule::NoLimit => Estimates::NoLimit,
            EstimateRule::Factor(factor) => multiplied(law::Law::Constant(factor)),
            EstimateRule::Over(percent) => Estimates::Overestimate { percent },
            EstimateRule::Uniform(high) => multiplied(law::Law::Uniform { low: 1.0, high }),
            EstimateRule::RaisedPrecision(points) => Estimates::RaisedPrecision { points },
        }
    }
}

/// Problem that the model finds in a step, if any: mostly in its laws.
pub(crate) fn step_problem(step: &Step) -> Option<WorkloadError> {
    // Without jobs, a step only validates its parameters.
    let nothing = Box::new(std::iter::empty());
    step.to_model().apply(nothing, &Draws::new(0, ""), 0).err()
}
