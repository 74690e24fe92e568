//! `[workload.lublin]`: parameters of the Lublin-Feitelson model.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters of the Lublin-Feitelson model; missing ones have the published values.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Lublin {
    /// Number of jobs to generate.
    #[schemars(range(min = 1, max = 100_000_000))]
    pub jobs: u64,
    /// Processors of the machine, the largest size of a job.
    #[schemars(range(min = 2, max = 100_000_000))]
    pub processors: u32,
    /// Number of classes of jobs.
    #[serde(default)]
    pub job_types: JobTypes,
    /// Offered load on such a machine, reached by stretching arrivals; without it, that of the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 100))]
    pub load: Option<f64>,
    /// Hour of the day at which the workload starts.
    #[serde(default)]
    #[schemars(range(min = 0, max = 23))]
    pub start_hour: u32,
    /// Largest natural logarithm of a run time in seconds; 12, two days, if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 25))]
    pub run_time_exponent_max: Option<f64>,
    /// Largest natural logarithm of a gap in seconds of the mean rate; 13, five days, if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 18))]
    pub gap_exponent_max: Option<f64>,
    /// Parameters of the one class of jobs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub one: Option<LublinClass>,
    /// Parameters of batch jobs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batch: Option<LublinClass>,
    /// Parameters of interactive jobs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interactive: Option<LublinClass>,
}

impl Lublin {
    /// The model with this number of jobs on a machine with this number of processors; all other parameters are the
    /// published ones.
    pub fn of(jobs: u64, processors: u32) -> Lublin {
        Lublin {
            jobs,
            processors,
            job_types: JobTypes::default(),
            load: None,
            start_hour: 0,
            run_time_exponent_max: None,
            gap_exponent_max: None,
            one: None,
            batch: None,
            interactive: None,
        }
    }
}

/// Number of classes of jobs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum JobTypes {
    /// One class for all jobs.
    #[default]
    One,
    /// Two classes, with sizes, run times and arrivals of their own.
    BatchAndInteractive,
}

/// Parameters of a class of jobs of the model; sizes are logarithms to base 2.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct LublinClass {
    /// Share of jobs on one processor, from 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1))]
    pub serial: Option<f64>,
    /// Share of all jobs whose size is rounded to a power of two, from 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1))]
    pub power_of_two: Option<f64>,
    /// The authors' uLow: smallest parallel size.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 30))]
    pub size_low: Option<f64>,
    /// The authors' uMed: upper end of small sizes; 2.5 below the machine's if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 30))]
    pub size_medium: Option<f64>,
    /// The authors' uHi: largest size; that of the machine if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 30))]
    pub size_high: Option<f64>,
    /// The authors' uProb: share of parallel jobs that are small, from 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1))]
    pub size_low_probability: Option<f64>,
    /// The authors' a1, b1: logarithm of the run time of the shorter jobs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run_time_first: Option<GammaLaw>,
    /// The authors' a2, b2: logarithm of the run time of the longer jobs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run_time_second: Option<GammaLaw>,
    /// The authors' pa: change of the weight of the shorter jobs with the size.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mixing_slope: Option<f64>,
    /// The authors' pb: that weight at size 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mixing_intercept: Option<f64>,
    /// The authors' aarr, barr: logarithm of the gap between arrivals in rush hours.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gap: Option<GammaLaw>,
    /// The authors' anum, bnum: the daily cycle in half hours.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cycle: Option<GammaLaw>,
    /// The authors' arar: factor from rush hours to all hours.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub rush_factor: Option<f64>,
}

/// A gamma law; its mean is shape x scale.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct GammaLaw {
    /// Shape.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub shape: f64,
    /// Scale.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub scale: f64,
}
