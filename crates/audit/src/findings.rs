//! Findings of an audit.

use std::collections::BTreeMap;

/// Cases of one rule that are listed; the rest is counted.
const CASES_TOLD: usize = 3;

/// A rule that tables break.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{rule}: {cases}")]
pub struct Disagreement {
    /// The rule.
    pub rule: &'static str,
    /// Cases that break it.
    pub cases: String,
}

impl Disagreement {
    /// Every other rule needs this one.
    pub(super) const READABLE: &'static str = "every table can be read";

    /// A table cannot be read.
    pub(super) fn unreadable(error: &dyn std::error::Error) -> Disagreement {
        Disagreement { rule: Disagreement::READABLE, cases: error.to_string() }
    }
}

/// Collects broken rules.
pub(super) struct Findings {
    rules: BTreeMap<&'static str, (u64, Vec<String>)>,
    /// Largest difference between sums of processor-seconds: tables hold instants as floats.
    slack: f64,
}

impl Findings {
    /// No findings yet. `parts` has the end (microseconds) and the width of each part of the run.
    pub(super) fn new(parts: impl Iterator<Item = (i64, i64)>) -> Findings {
        let slack: f64 = parts.map(|(end, width)| blur(end) as f64 * width as f64 * 1e-6).sum();
        Findings { rules: BTreeMap::new(), slack }
    }

    /// Records a case of `rule` unless it `holds`.
    pub(super) fn expect(
        &mut self,
        holds: bool,
        rule: &'static str,
        case: impl FnOnce() -> String,
    ) {
        if holds {
            return;
        }
        let (count, cases) = self.rules.entry(rule).or_default();
        *count += 1;
        if cases.len() < CASES_TOLD {
            cases.push(case());
        }
    }

    /// Checks that two numbers are equal.
    pub(super) fn equal<T: PartialEq + std::fmt::Display>(
        &mut self,
        rule: &'static str,
        place: impl std::fmt::Display,
        found: T,
        expected: T,
    ) {
        let holds = found == expected;
        self.expect(holds, rule, || format!("{place}: {found} and {expected}"));
    }

    /// Checks that two floats are equal up to the rounding of the terms they sum up.
    pub(super) fn close(
        &mut self,
        rule: &'static str,
        place: impl std::fmt::Display,
        found: Option<f64>,
        expected: Option<f64>,
    ) {
        let holds = match (found, expected) {
            (Some(found), Some(expected)) => {
                // The relative bound is for sums, the slack for instants of long runs.
                is_close(found, expected) || (found - expected).abs() <= self.slack
            }
            (found, expected) => found.is_none() && expected.is_none(),
        };
        self.expect(holds, rule, || format!("{place}: {found:?} and {expected:?}"));
    }

    pub(super) fn into_result(self) -> Result<(), Vec<Disagreement>> {
        let told = |(rule, (count, cases)): (&'static str, (u64, Vec<String>))| {
            let more = count - cases.len() as u64;
            let rest = if more > 0 { format!("; and {more} more") } else { String::new() };
            Disagreement { rule, cases: format!("{}{rest}", cases.join("; ")) }
        };
        let all: Vec<Disagreement> = self.rules.into_iter().map(told).collect();
        if all.is_empty() { Ok(()) } else { Err(all) }
    }
}

/// True if two spans in microseconds are equal, up to the precision of instants until `latest`.
pub(super) fn is_same(a: i64, b: i64, latest: i64) -> bool {
    a.abs_diff(b) <= blur(latest)
}

/// Largest difference between equal spans, in microseconds. Tables hold seconds as floats, which
/// are exact to the microsecond for the first 71 years. After that, each instant and each span may
/// be off by half of the last place.
fn blur(latest: i64) -> u64 {
    let place = latest.unsigned_abs() >> (f64::MANTISSA_DIGITS - 2);
    if place == 0 { 0 } else { 2 * (place + 1) }
}

fn is_close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * a.abs().max(b.abs()) + 1e-6
}
