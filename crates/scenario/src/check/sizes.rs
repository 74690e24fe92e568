//! Counts the work that a few lines may cause, before anything is simulated. Work of hours or days is refused;
//! work that takes long is doubtful, but may be intended.

mod submitted;

use std::slice::from_ref;

use haggle_model::Span;

use super::names::Names;
use super::{Check, recurs_all_the_time};
use crate::file::{
    Applications, Metascheduler, Name, Paxos, PlanMethod, PlanSearch, Plans, Protocol, Provider,
};
use crate::quantity::TimeSpan;
use haggle_config::document::Path;
use submitted::Submitted;

/// Number of events that take minutes.
const LONG: f64 = 1e7;

/// Number of events that take hours or more.
const TOO_LONG: f64 = 1e9;

/// Number of messages for one job that is hardly intended.
const MESSAGES: f64 = 1e6;

/// Number of sets of machines for one plan that take about a minute to examine.
const SETS: f64 = 1e9;

impl Check<'_> {
    pub(super) fn check_sizes(&mut self, names: &Names) {
        self.check_number_of_failures(names);
        for (index, metascheduler) in self.scenario.metaschedulers.iter().enumerate() {
            let path = Path::root().key("metascheduler").index(index);
            self.check_number_of_repetitions(&path, metascheduler, names);
            self.check_number_of_messages(&path.key("coallocation"), metascheduler, names);
        }
        self.check_numbers_of_checkpoints(names);
        if let Some(plans) = &self.scenario.plans {
            self.check_number_of_sets(plans);
        }
    }

    /// Checks the number of failures until the horizon.
    fn check_number_of_failures(&mut self, names: &Names) {
        for (index, failures) in self.scenario.failures.iter().enumerate() {
            let Some(law) = &failures.law else { continue };
            let path = Path::root().key("failures").index(index);
            let model = law.to_model();
            let cycle = model.mean_up_secs() + model.mean_down_secs();
            let mean = Span::from_secs_f64(cycle);
            let at = path.key("law");
            self.check_recurring(&at, TimeSpan(mean));
            if recurs_all_the_time(TimeSpan(mean)) {
                continue;
            }
            let Some(horizon) = self.scenario.scenario.horizon else { continue };
            let (who, many) = match &failures.actors {
                Some(actors) => ("actors crash", actors.len() as u64),
                None => ("nodes fail", self.failing_nodes(failures, names)),
            };
            let count = many as f64 * horizon.0.as_secs_f64() / cycle;
            let message =
                format!("{who} about {} times until the horizon, {horizon}", about(count));
            let help = "lengthen `up` and `down`, or shorten `horizon` in [scenario]";
            self.check_count(&at, count, message, help);
        }
    }

    /// Checks the number of messages for one job of a metascheduler, and the number lost in a partition.
    fn check_number_of_messages(&mut self, path: &Path, it: &Metascheduler, names: &Names) {
        let Some((protocol, coallocation)) = it.transaction() else { return };
        let providers = names.copies_meant(&it.providers).len() as f64;
        for (key, period) in protocol.periods() {
            let at = path.key("protocol");
            self.check_recurring(&key.split('.').fold(at, |at, key| at.key(key)), period);
        }
        let acceptors = match protocol {
            Protocol::Paxos(Paxos { acceptors, .. }) => f64::from(*acceptors),
            _ => 1.0,
        };
        // The bound avoids a division by zero at a loss of 100%.
        let arrives = (1.0 - self.scenario.network.loss.fraction()).max(1e-6);
        let count = f64::from(coallocation.trials) * providers * acceptors / arrives;
        if count > MESSAGES {
            let loss = self.scenario.network.loss;
            let message = format!(
                "a job without room takes about {} messages: {} trials, {providers} providers, \
                 {acceptors} acceptors, {loss} of the messages lost",
                about(count),
                coallocation.trials
            );
            let help = "lower `trials`, `acceptors` or the `loss` of [network]".to_owned();
            self.doubt(&path.key("trials"), message, "many tries", help);
        }
    }

    /// The number of repetitions of messages of a metascheduler in a partition.
    fn check_number_of_repetitions(&mut self, path: &Path, it: &Metascheduler, names: &Names) {
        let Some((table, retry)) = it.retry_table().zip(it.retry()) else { return };
        let providers = names.copies_meant(&it.providers).len() as f64;
        let at = path.key(table).key("retry");
        self.check_recurring(&at, retry);
        if recurs_all_the_time(retry) {
            return;
        }
        let parted = self.longest_partition().unwrap_or(TimeSpan::ZERO);
        let count = providers * parted.0.as_secs_f64() / retry.0.as_secs_f64();
        let message =
            format!("about {} messages are lost in a partition of {parted}", about(count));
        self.check_count(&at, count, message, "set a longer `retry`");
    }

    /// Checks the number of checkpoints that listed jobs send to the storage of each provider: each causes events of the
    /// network.
    fn check_numbers_of_checkpoints(&mut self, names: &Names) {
        let scenario = self.scenario;
        let sends = |it: &Provider| {
            let store = scenario.store_of(it).filter(|_| scenario.link_sharing().is_some());
            store.is_some() && it.checkpoints.as_ref().is_some_and(|it| it.interval.is_some())
        };
        if !scenario.providers.iter().any(sends) {
            return;
        }
        let submitted = Submitted::of(scenario, self.directory, names);
        for (index, provider) in scenario.providers.iter().enumerate() {
            if sends(provider) {
                let path = Path::root().key("provider").index(index).key("checkpoints");
                let seconds = submitted.seconds_at(&names.copies_meant(from_ref(&provider.name)));
                self.check_number_of_checkpoints(&path, provider, seconds);
            }
        }
    }

    /// Checks this number for one provider, whose jobs may compute for `seconds`.
    fn check_number_of_checkpoints(&mut self, path: &Path, it: &Provider, seconds: f64) {
        let Some(interval) = it.checkpoints.as_ref().and_then(|it| it.interval) else { return };
        let store = self.scenario.store_of(it);
        let count = seconds / it.speed / interval.0.as_secs_f64();
        let message = format!(
            "about {} checkpoints go to \"{}\": listed jobs compute for {}, and write one every {interval}",
            about(count),
            store.map_or("", Name::as_str),
            TimeSpan(Span::from_secs_f64(seconds)),
        );
        self.check_count(&path.key("interval"), count, message, "lengthen `interval`");
    }

    /// Length of the longest partition; a partition without an end lasts until the horizon.
    fn longest_partition(&self) -> Option<TimeSpan> {
        let horizon = self.scenario.scenario.horizon;
        let partitions = self.scenario.network.partitions.iter();
        let lasts = partitions.filter_map(|it| {
            let until = match (it.until, horizon) {
                (Some(until), Some(horizon)) => until.0.min(horizon.0),
                (until, horizon) => until.or(horizon)?.0,
            };
            Some(TimeSpan((until - it.from.0).max(Span::ZERO)))
        });
        lasts.max()
    }

    /// Checks the number of sets of machines that are examined for one plan.
    fn check_number_of_sets(&mut self, plans: &Plans) {
        let applications = self.scenario.workloads.iter().filter_map(|it| it.applications.as_ref());
        let phases = applications.map(phases).max().unwrap_or(1) as f64;
        let machines = plans.clusters.iter().map(|it| it.machines).max().unwrap_or(1);
        let machines = f64::from(machines);
        let sets = match plans.search {
            PlanSearch::Scan => machines * machines,
            PlanSearch::Hulls | PlanSearch::Boxes => machines,
            PlanSearch::BoxesWithinBudget => 1.0,
        };
        let pairs = phases * phases / 2.0;
        let (intervals, key) = match plans.method {
            PlanMethod::None => (1.0, "search"),
            PlanMethod::Incremental => (2.0 * phases, "search"),
            PlanMethod::Division | PlanMethod::Optimum => (pairs, "method"),
            PlanMethod::Genetic => (pairs, "genetic"),
        };
        let genetic = &plans.genetic;
        let looked_up = match plans.method {
            PlanMethod::Genetic => {
                f64::from(genetic.generations) * f64::from(genetic.population) * phases
            }
            _ => 0.0,
        };
        let count = intervals * sets + looked_up;
        if count > SETS {
            let message = format!(
                "one plan examines about {} sets of machines and intervals: {machines} machines, \
                 {phases} phases, search \"{}\"",
                about(count),
                plans.search.name()
            );
            let help = match (looked_up > intervals * sets, plans.search) {
                (true, _) => "lower `generations` or `population`",
                (false, PlanSearch::Scan) => "set `search = \"hulls\"`, which finds the same sets",
                (false, _) => "set `search = \"boxes-within-budget\"`, or `merge` phases",
            };
            self.doubt(&Path::root().key("plans").key(key), message, "long", help.to_owned());
        }
    }

    /// Refuses a count that takes too long, and warns of a count that takes long.
    fn check_count(&mut self, path: &Path, count: f64, message: String, help: &str) {
        if count > TOO_LONG {
            self.report(path, message, "takes hours or days", help.to_owned());
        } else if count > LONG {
            self.doubt(path, message, "takes long", help.to_owned());
        }
    }
}

/// Number of phases that are planned for.
fn phases(it: &Applications) -> u32 {
    let given = it.phases.as_ref().map(|phases| phases.len() as u32);
    let measured = it.measured.as_ref().and_then(|rows| Some(rows.first()?.times.len() as u32));
    given.or(measured).or(it.count).unwrap_or(1_000) / it.merge.max(1)
}

/// A count rounded to two significant digits.
fn about(count: f64) -> String {
    let unit = 10_f64.powf((count.max(1.0).log10() - 1.0).floor().max(0.0));
    let digits = format!("{:.0}", (count / unit).round() * unit);
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::about;

    #[test]
    fn counts_have_two_digits() {
        let counts = [0.2, 7.0, 99.0, 1234.0, 43_200_000.0, 2.76e9];
        let texts = ["0", "7", "99", "1,200", "43,000,000", "2,800,000,000"];
        assert_eq!(counts.map(about), texts);
    }
}
