//! The model's parameters, with the values of the authors' program.

use rand_distr::Gamma;

use super::super::error::WorkloadError;

/// Parameters of the model. The default is 1,000 jobs of one class for 128 processors.
#[derive(Clone, Debug, PartialEq)]
pub struct LublinParameters {
    /// Number of jobs.
    pub jobs: u64,
    /// One class of jobs, or batch and interactive ones.
    pub types: JobTypes,
    /// Hour of the day at which the workload starts, 0 to 23.
    pub start_hour: u32,
    /// Largest natural logarithm of a run time in seconds; 12 = two days.
    pub run_time_exponent_max: f64,
    /// Largest natural logarithm of a gap in seconds of the mean rate; 13 = five days.
    pub gap_exponent_max: f64,
    /// Jobs above this size get the next smaller power of two; `None` = no limit, as in the authors'
    /// program. It matters only where `size_high` is not whole.
    pub processors_max: Option<u32>,
    /// Offered load to reach by stretching all arrival times; `None` = the load of the model.
    pub load: Option<LoadTarget>,
}

/// An offered load: run time x processors over machine x time from first to last submission.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LoadTarget {
    /// Offered load; 1 = the capacity of the machine.
    pub load: f64,
    /// Processors of the machine.
    pub processors: u32,
}

/// Number of classes of jobs: one or two.
#[derive(Clone, Debug, PartialEq)]
pub enum JobTypes {
    /// One class.
    One(ClassParameters),
    /// Two classes that arrive side by side.
    BatchAndInteractive {
        /// Queue 1.
        batch: ClassParameters,
        /// Queue 0.
        interactive: ClassParameters,
    },
}

/// The parameters of a class of jobs; sizes are in log base 2.
#[derive(Clone, Debug, PartialEq)]
pub struct ClassParameters {
    /// Share of jobs on one processor.
    pub serial: f64,
    /// Share of all jobs whose size is rounded to a power of two.
    pub power_of_two: f64,
    /// `uLow`: smallest parallel size.
    pub size_low: f64,
    /// `uMed`: where the two uniform stages meet.
    pub size_medium: f64,
    /// `uHi`: largest size, that of the machine.
    pub size_high: f64,
    /// `uProb`: weight of the lower stage.
    pub size_low_probability: f64,
    /// `a1`, `b1`: ln of the run time in seconds, the shorter jobs.
    pub run_time_first: GammaParameters,
    /// `a2`, `b2`: the longer ones.
    pub run_time_second: GammaParameters,
    /// `pa`: change of the weight of the shorter jobs with the size.
    pub mixing_slope: f64,
    /// `pb`: that weight at size 0.
    pub mixing_intercept: f64,
    /// `aarr`, `barr`: ln of the gap in seconds in rush hours.
    pub gap: GammaParameters,
    /// `anum`, `bnum`: the daily cycle, in half hours from the quietest one on.
    pub cycle: GammaParameters,
    /// `arar`: factor of the gap's shape from rush hours to all hours.
    pub rush_factor: f64,
}

/// A gamma law; its mean is shape x scale.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GammaParameters {
    /// Shape.
    pub shape: f64,
    /// Scale.
    pub scale: f64,
}

impl Default for LublinParameters {
    fn default() -> LublinParameters {
        LublinParameters {
            jobs: 1_000,
            types: JobTypes::One(ClassParameters::one_class()),
            start_hour: 0,
            run_time_exponent_max: 12.0,
            gap_exponent_max: 13.0,
            processors_max: None,
            load: None,
        }
    }
}

impl LublinParameters {
    /// The same for a machine of `processors`. In each class, `uHi` is its log2 and `uMed` is 2.5
    /// below, as the authors advise; no job is larger.
    pub fn sized(mut self, processors: u32) -> LublinParameters {
        let high = f64::from(processors.max(1)).log2();
        let resize = |class: &mut ClassParameters| {
            class.size_high = high;
            // A small machine must keep uLow <= uMed <= uHi.
            class.size_low = class.size_low.min(high);
            class.size_medium = (high - 2.5).max(class.size_low);
        };
        match &mut self.types {
            JobTypes::One(class) => resize(class),
            JobTypes::BatchAndInteractive { batch, interactive } => {
                resize(batch);
                resize(interactive);
            }
        }
        self.processors_max = Some(processors.max(1));
        self
    }

    pub(super) fn check(&self) -> Result<(), WorkloadError> {
        if self.start_hour > 23 {
            return Err(wrong("start_hour", self.start_hour, "0 to 23"));
        }
        // e^25 s are 2,300 years, e^18 s two years; larger values are mistakes.
        within("run_time_exponent_max", self.run_time_exponent_max, 0.0, 25.0)?;
        within("gap_exponent_max", self.gap_exponent_max, 0.0, 18.0)?;
        if self.processors_max == Some(0) {
            return Err(wrong("processors_max", 0, "at least 1"));
        }
        if let Some(target) = self.load {
            if target.processors == 0 {
                return Err(wrong("load.processors", 0, "at least 1"));
            }
            within("load.load", target.load, 1e-6, 1e6)?;
        }
        let limit = self.run_time_exponent_max;
        match &self.types {
            JobTypes::One(class) => class.check(limit),
            JobTypes::BatchAndInteractive { batch, interactive } => {
                batch.check(limit)?;
                interactive.check(limit)
            }
        }
    }
}

impl ClassParameters {
    /// Batch jobs.
    pub const fn batch() -> ClassParameters {
        ClassParameters {
            serial: 0.2927,
            power_of_two: 0.6686,
            size_low: 1.2,
            size_medium: 5.0,
            size_high: 7.0,
            size_low_probability: 0.875,
            run_time_first: gamma(6.57, 0.823),
            run_time_second: gamma(639.1, 0.0156),
            mixing_slope: -0.003,
            mixing_intercept: 0.6986,
            gap: gamma(6.0415, 0.8531),
            cycle: gamma(6.1271, 5.2740),
            rush_factor: 1.0519,
        }
    }

    /// Interactive jobs.
    pub const fn interactive() -> ClassParameters {
        ClassParameters {
            serial: 0.1541,
            power_of_two: 0.625,
            size_low: 1.0,
            size_medium: 3.0,
            size_high: 5.5,
            size_low_probability: 0.705,
            run_time_first: gamma(3.8351, 0.6605),
            run_time_second: gamma(7.073, 0.6856),
            mixing_slope: -0.0118,
            mixing_intercept: 0.9156,
            gap: gamma(6.5510, 0.6621),
            cycle: gamma(8.9186, 3.6680),
            rush_factor: 0.9797,
        }
    }

    /// All jobs as one class.
    pub const fn one_class() -> ClassParameters {
        ClassParameters {
            serial: 0.244,
            power_of_two: 0.576,
            size_low: 0.8,
            size_medium: 4.5,
            size_high: 7.0,
            size_low_probability: 0.86,
            run_time_first: gamma(4.2, 0.94),
            run_time_second: gamma(312.0, 0.03),
            mixing_slope: -0.0054,
            mixing_intercept: 0.78,
            gap: gamma(10.2303, 0.4871),
            cycle: gamma(8.1737, 3.9631),
            rush_factor: 1.0225,
        }
    }

    fn check(&self, exponent_max: f64) -> Result<(), WorkloadError> {
        within("serial", self.serial, 0.0, 1.0)?;
        within("power_of_two", self.power_of_two, 0.0, 1.0 - self.serial)?;
        // Each size bounds the next smaller one, so the largest is checked first. 2^30 processors fit 32
        // bits.
        within("size_high", self.size_high, 0.0, 30.0)?;
        within("size_medium", self.size_medium, 0.0, self.size_high)?;
        within("size_low", self.size_low, 0.0, self.size_medium)?;
        within("size_low_probability", self.size_low_probability, 0.0, 1.0)?;
        within("mixing_slope", self.mixing_slope, -1e6, 1e6)?;
        within("mixing_intercept", self.mixing_intercept, -1e6, 1e6)?;
        within("rush_factor", self.rush_factor, 1e-6, 1e6)?;
        self.run_time_first.check_cut("run_time_first", exponent_max)?;
        self.run_time_second.check_cut("run_time_second", exponent_max)
    }
}

const fn gamma(shape: f64, scale: f64) -> GammaParameters {
    GammaParameters { shape, scale }
}

impl GammaParameters {
    /// The law, if the parameters are valid.
    pub(super) fn law(self, name: &str) -> Result<Gamma<f64>, WorkloadError> {
        let GammaParameters { shape, scale } = self;
        let usable = |value: f64| value > 0.0 && value.is_finite();
        Gamma::new(shape, scale)
            .ok()
            .filter(|_| usable(shape) && usable(scale))
            .ok_or_else(|| wrong(name, format!("{shape}, {scale}"), "two numbers above 0"))
    }

    /// Share of the law below `value`.
    pub(super) fn cumulated(self, value: f64) -> f64 {
        if value <= 0.0 {
            return 0.0;
        }
        // Out of range only if the parameters are, and invalid parameters were refused before.
        statrs::function::gamma::checked_gamma_lr(self.shape, value / self.scale).unwrap_or(0.0)
    }

    /// Draws above the cut are repeated, so enough of the law must lie below it.
    pub(super) fn check_cut(self, name: &str, cut: f64) -> Result<(), WorkloadError> {
        self.law(name)?;
        // With less weight, a draw would take more than a thousand attempts on average.
        if self.cumulated(cut) < 0.001 {
            let value = format!("{}, {}", self.shape, self.scale);
            return Err(wrong(name, value, "a law with a thousandth of its weight below the cut"));
        }
        Ok(())
    }
}

fn within(name: &str, value: f64, min: f64, max: f64) -> Result<(), WorkloadError> {
    // NaN lies in no range.
    if (min..=max).contains(&value) {
        return Ok(());
    }
    let expected = match name {
        "power_of_two" => "0 to 1 - serial",
        "size_low" => "0 to size_medium",
        "size_medium" => "0 to size_high",
        "size_high" => "0 to 30",
        "serial" | "size_low_probability" => "0 to 1",
        _ => "a number of moderate size",
    };
    Err(wrong(name, value, expected))
}

pub(super) fn wrong(name: &str, value: impl ToString, expected: &'static str) -> WorkloadError {
    WorkloadError::Lublin { parameter: name.to_owned(), value: value.to_string(), expected }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(change: impl Fn(&mut LublinParameters, &mut ClassParameters)) -> String {
        let mut class = ClassParameters::one_class();
        let mut parameters = LublinParameters::default();
        change(&mut parameters, &mut class);
        parameters.types = JobTypes::One(class);
        parameters.check().expect_err("out of range").to_string()
    }

    #[test]
    fn parameters_out_of_range_are_refused_by_name() {
        assert_eq!(
            refusal(|_, class| class.serial = 1.5),
            "lublin-feitelson: serial is 1.5, expected 0 to 1"
        );
        assert_eq!(
            refusal(|_, class| class.size_low = 6.0),
            "lublin-feitelson: size_low is 6, expected 0 to size_medium"
        );
        assert!(refusal(|_, class| class.run_time_second.scale = 5.0).contains("below the cut"));
        assert!(refusal(|_, class| class.run_time_first.shape = f64::NAN).contains("above 0"));
        assert!(refusal(|parameters, _| parameters.start_hour = 24).contains("0 to 23"));
    }
}
