//! Numbers of a simulation that conditions can use.

use std::collections::BTreeMap;

use haggle_agents::glimpse::Census;
use haggle_model::{ActorId, JobId, Time};
use haggle_runtime::Simulation;
use haggle_script::{Condition, Mistake, Value};

use super::past::Past;

/// A number: its name, and its meaning.
pub(crate) struct Measure {
    pub(crate) name: &'static str,
    pub(crate) unit: &'static str,
    pub(crate) meaning: &'static str,
    value: fn(&Measures, &Past) -> Option<f64>,
}

/// All numbers that a condition can use.
pub(crate) const MEASURES: &[Measure] = &[
    Measure {
        name: "now",
        unit: "s",
        meaning: "time of the last message",
        value: |it, _| Some(it.now.as_secs_f64()),
    },
    Measure {
        name: "messages",
        unit: "",
        meaning: "messages delivered, timers included",
        value: |_, past| Some(past.number as f64),
    },
    Measure {
        name: "jobs",
        unit: "",
        meaning: "jobs that have arrived",
        value: |_, past| Some(past.arrived as f64),
    },
    Measure {
        name: "jobs_over",
        unit: "",
        meaning: "jobs that are over",
        value: |_, past| Some(past.over as f64),
    },
    Measure {
        name: "jobs_running",
        unit: "",
        meaning: "jobs of which a part or an attempt runs",
        value: |it, _| Some(it.running.len() as f64),
    },
    Measure {
        name: "jobs_waiting",
        unit: "",
        meaning: "jobs that have arrived, are not over and do not run",
        value: |it, past| {
            Some(past.arrived.saturating_sub(past.over).saturating_sub(it.running.len() as u64)
                as f64)
        },
    },
    Measure {
        name: "processors",
        unit: "",
        meaning: "processors and slots of all machines",
        value: |it, _| Some(it.processors as f64),
    },
    Measure {
        name: "busy_processors",
        unit: "",
        meaning: "processors and slots that are in use",
        value: |it, _| Some(it.busy as f64),
    },
    Measure {
        name: "failed_processors",
        unit: "",
        meaning: "processors and slots that are down",
        value: |it, _| Some(it.failed as f64),
    },
    Measure {
        name: "utilisation",
        unit: "",
        meaning: "busy_processors / processors",
        value: |it, _| (it.processors > 0).then(|| it.busy as f64 / it.processors as f64),
    },
    Measure {
        name: "mean_waiting_time",
        unit: "s",
        meaning: "mean waiting time of the jobs that have started and are over; missing before the first one",
        value: |_, past| {
            (past.waiting.1 > 0).then(|| past.waiting.0 as f64 / past.waiting.1 as f64 / 1e6)
        },
    },
];

/// The names of all numbers.
pub(crate) fn names() -> Vec<&'static str> {
    MEASURES.iter().map(|it| it.name).collect()
}

/// Reads a condition over these numbers.
///
/// # Errors
/// If it cannot be read, or comes to neither true nor false.
pub(crate) fn condition(text: &str) -> Result<Condition, Mistake> {
    let condition = Condition::read(text, &names())?;
    let (numbers, names) = (probes(text), condition.columns());
    // All values of the first name, with each value of the next one, and so on.
    let places = Vec::from_iter(names.iter().scan(1_usize, |place, name| {
        let here = *place;
        *place = here.saturating_mul(numbers.len());
        Some((*name, here))
    }));
    let all = names.iter().fold(1_usize, |all, _| all.saturating_mul(numbers.len()));
    // An odd distance, so that a part of a large number of combinations has all values of each name.
    for combination in (0..all).step_by((all / PROBES_MAX) | 1) {
        condition.holds(|name| {
            let place = places.iter().find(|it| it.0 == name).map_or(1, |it| it.1);
            Value::Real(numbers[combination / place % numbers.len()])
        })?;
    }
    Ok(condition)
}

/// Most combinations of numbers with which a condition is tried.
const PROBES_MAX: usize = 4_096;

/// Numbers that reach the sides and branches of a condition: small and large ones, and those that it contains, with
/// their neighbours.
fn probes(text: &str) -> Vec<f64> {
    let text = text.replace('_', "");
    let contained = text.split(|char: char| !(char.is_ascii_digit() || char == '.'));
    let contained = contained.filter_map(|it| it.parse().ok());
    let near = contained.flat_map(|it: f64| [it - 1.0, it, it + 1.0]);
    let mut numbers = Vec::from_iter([0.0, 1.0, 1e12].into_iter().chain(near));
    numbers.sort_by(f64::total_cmp);
    numbers.dedup();
    numbers
}

/// True if a condition holds. If a number that it names is missing, it does not hold.
///
/// # Errors
/// If it comes to neither true nor false.
pub(crate) fn holds(
    condition: &Condition,
    value: impl Fn(&str) -> Value<'static>,
) -> Result<bool, Mistake> {
    // Asked first, because a comparison such as `!=` with a missing number is true.
    let is_missing = condition.columns().iter().any(|name| value(name) == Value::Missing);
    if is_missing { Ok(false) } else { condition.holds(&value) }
}

/// Sums over all machines, which follow each message.
#[derive(Clone, Debug, Default)]
pub(crate) struct Measures {
    now: Time,
    machines: BTreeMap<ActorId, Census>,
    /// The jobs that run, with the number of machines where they do.
    running: BTreeMap<JobId, u32>,
    processors: u64,
    busy: u64,
    failed: u64,
}

impl Measures {
    /// The numbers of a simulation between two messages.
    pub(crate) fn of(simulation: &Simulation<'_>, actors: u32) -> Measures {
        let mut measures = Measures { now: simulation.now(), ..Measures::default() };
        (0..actors).for_each(|actor| measures.look(simulation, ActorId(actor)));
        measures
    }

    /// Takes account of a message to an actor.
    pub(crate) fn follow(&mut self, simulation: &Simulation<'_>, to: ActorId) {
        self.now = simulation.now();
        self.look(simulation, to);
    }

    fn look(&mut self, simulation: &Simulation<'_>, actor: ActorId) {
        let after = simulation.census(actor);
        let before = match &after {
            Some(after) => self.machines.insert(actor, after.clone()),
            None => self.machines.remove(&actor),
        };
        for job in after.iter().flat_map(|it| &it.running) {
            *self.running.entry(*job).or_default() += 1;
        }
        for job in before.iter().flat_map(|it| &it.running) {
            if let Some(places) = self.running.get_mut(job) {
                *places -= 1;
                if *places == 0 {
                    self.running.remove(job);
                }
            }
        }
        let machine = |census: &Option<Census>| census.as_ref().map(|it| it.machine);
        if let Some(it) = machine(&after) {
            self.processors += u64::from(it.processors);
            self.busy += u64::from(it.in_use());
            self.failed += u64::from(it.failed);
        }
        if let Some(it) = machine(&before) {
            self.processors -= u64::from(it.processors);
            self.busy -= u64::from(it.in_use());
            self.failed -= u64::from(it.failed);
        }
    }

    /// A number, by its name.
    pub(crate) fn value(&self, past: &Past, name: &str) -> Value<'static> {
        let known = MEASURES.iter().find(|it| it.name == name);
        known.and_then(|it| (it.value)(self, past)).map_or(Value::Missing, Value::Real)
    }

    /// All numbers, in the order of [`MEASURES`].
    pub(crate) fn all(&self, past: &Past) -> Vec<Option<f64>> {
        MEASURES.iter().map(|it| (it.value)(self, past)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_condition_is_tried_with_the_numbers_that_it_contains() {
        for text in [
            "jobs == 7 && now",
            "jobs == 7 && jobs_over == 3 && utilisation < 0.25 && now",
            "jobs != 1_000 || messages",
            "if now > 3 && now < 5 { 3 } else { true }",
            "switch jobs { 12.0 => 5, _ => false }",
            "jobs < 50 || jobs_over < 40 || jobs_running < 30 || jobs_waiting < 20 || now < 10 || messages",
        ] {
            assert!(condition(text).is_err(), "{text}");
        }
        for text in [
            "jobs == 7 && now > 3",
            "if now > 3 { jobs > 2 } else { true }",
            "!(utilisation < 0.5)",
        ] {
            assert!(condition(text).is_ok(), "{text}");
        }
    }

    #[test]
    fn a_condition_with_a_missing_number_does_not_hold() {
        for text in ["mean_waiting_time > 5", "mean_waiting_time != 5", "!(mean_waiting_time > 0)"]
        {
            let condition = condition(text).expect("it is one");
            assert!(!holds(&condition, |_| Value::Missing).expect("no mistake"), "{text}");
        }
        let condition = condition("mean_waiting_time != 5").expect("it is one");
        assert!(holds(&condition, |_| Value::Real(4.0)).expect("no mistake"));
    }
}
