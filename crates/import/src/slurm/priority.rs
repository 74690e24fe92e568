//! Priorities of jobs.

use haggle_model::Span;
use haggle_scenario::file::{FairShareRule, Favours, Priority, PriorityWeights, Qos, Queue};
use haggle_scenario::quantity::TimeSpan;
use haggle_workloads::logs::slurm::values;

use super::{ImportError, Record, Site};
use crate::Remarks;

/// Largest weight.
const WEIGHT_MAX: u64 = 1_000_000_000;

/// Weights of factors that no scenario has.
const OTHERS: [&str; 2] = ["PriorityWeightAssoc", "PriorityWeightTRES"];

/// The priorities; `None` if jobs are in the order of submission, or if no factor has a weight with an effect.
pub(super) fn priority(
    site: &Site,
    qualities: &[Qos],
    queues: &[Queue],
    remarks: &mut Remarks,
) -> Result<Option<Priority>, ImportError> {
    let config = &site.config;
    if config.get("PriorityType") != Some("priority/multifactor") {
        return Ok(None);
    }
    let mut weight = |name: &str| -> Result<u32, ImportError> {
        let weight = config.number(name)?.unwrap_or(0);
        if weight > WEIGHT_MAX {
            remarks.add(format!("weights above {WEIGHT_MAX} are {WEIGHT_MAX}"), name);
        }
        Ok(weight.min(WEIGHT_MAX) as u32)
    };
    let mut weights = PriorityWeights {
        age: weight("PriorityWeightAge")?,
        fair_share: weight("PriorityWeightFairShare")?,
        size: weight("PriorityWeightJobSize")?,
        queue: weight("PriorityWeightPartition")?,
        qos: weight("PriorityWeightQOS")?,
    };
    for name in OTHERS.into_iter().filter(|it| config.get(it).is_some_and(|it| it != "0")) {
        remarks.add("weights without a factor here are left out", name);
    }
    // A weight of a factor that is 0 for all jobs.
    if queues.iter().all(|it| it.priority == 0) {
        weights.queue = 0;
    }
    if qualities.iter().all(|it| it.priority == 0) {
        weights.qos = 0;
    }
    if weights == PriorityWeights::default() {
        return Ok(None);
    }
    let flags = config.get("PriorityFlags").unwrap_or_default().to_ascii_uppercase();
    let has = |flag: &str| flags.split(',').any(|it| it.trim() == flag);
    for flag in flags.split(',').map(str::trim).filter(|it| !it.is_empty()) {
        if !["SMALL_RELATIVE_TO_TIME", "FAIR_TREE", "NO_FAIR_TREE"].contains(&flag) {
            remarks.add("PriorityFlags are left out", &flag.escape_default().to_string());
        }
    }
    if config.get("PriorityUsageResetPeriod").is_some() {
        remarks.add("PriorityUsageResetPeriod is left out", "");
    }
    let classic = has("NO_FAIR_TREE");
    let dampening = config.get("FairShareDampeningFactor").and_then(|it| it.parse::<f64>().ok());
    let small = config.get("PriorityFavorSmall").is_some_and(|it| it.eq_ignore_ascii_case("yes"));
    let favours = match (small, has("SMALL_RELATIVE_TO_TIME")) {
        (false, false) => Favours::Large,
        (true, false) => Favours::Small,
        (false, true) => Favours::LargeAndShort,
        (true, true) => Favours::SmallAndLong,
    };
    let is_read = |weight: u32, span: TimeSpan, default: i64| match weight {
        0 => TimeSpan(Span::from_secs(default)),
        _ => span,
    };
    let (max_age, half_life) =
        (time(config, "PriorityMaxAge", A_WEEK)?, time(config, "PriorityDecayHalfLife", A_WEEK)?);
    let period = time(config, "PriorityCalcPeriod", 300)?;
    Ok(Some(Priority {
        max_age: is_read(weights.age, max_age, A_WEEK),
        favours: if weights.size > 0 { favours } else { Favours::default() },
        fair_share: if classic && weights.fair_share > 0 {
            FairShareRule::Classic
        } else {
            FairShareRule::FairTree
        },
        dampening: dampening.filter(|&it| classic && it > 0.0 && (it - 1.0).abs() > f64::EPSILON),
        half_life: is_read(weights.fair_share, half_life, A_WEEK),
        calculation_period: TimeSpan(period.0.max(Span::from_secs(1))),
        weights,
    }))
}

/// Seconds of a week.
const A_WEEK: i64 = 7 * 24 * 3_600;

fn time(config: &Record, name: &str, default: i64) -> Result<TimeSpan, ImportError> {
    let span = config.read(name, "a time such as 7-00:00:00", values::limit)?.flatten();
    Ok(TimeSpan(span.unwrap_or(Span::from_secs(default))))
}
