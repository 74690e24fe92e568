//! The Lublin-Feitelson model.

use haggle_workloads::WorkloadError;
use haggle_workloads::lublin::{self, ClassParameters, GammaParameters, LublinParameters};

use crate::file::{GammaLaw, JobTypes, Lublin, LublinClass};

impl Lublin {
    /// Parameters of the model: the published ones for a machine of this size, replaced where the scenario has its
    /// own.
    pub fn to_model(&self) -> LublinParameters {
        let types = match self.job_types {
            JobTypes::One => lublin::JobTypes::One(ClassParameters::one_class()),
            JobTypes::BatchAndInteractive => lublin::JobTypes::BatchAndInteractive {
                batch: ClassParameters::batch(),
                interactive: ClassParameters::interactive(),
            },
        };
        let published = LublinParameters { types, ..LublinParameters::default() };
        let mut parameters = published.sized(self.processors);
        match &mut parameters.types {
            lublin::JobTypes::One(class) => change(class, &self.one),
            lublin::JobTypes::BatchAndInteractive { batch, interactive } => {
                change(batch, &self.batch);
                change(interactive, &self.interactive);
            }
        }
        let load = |load| lublin::LoadTarget { load, processors: self.processors };
        LublinParameters {
            jobs: self.jobs,
            start_hour: self.start_hour,
            run_time_exponent_max: self
                .run_time_exponent_max
                .unwrap_or(parameters.run_time_exponent_max),
            gap_exponent_max: self.gap_exponent_max.unwrap_or(parameters.gap_exponent_max),
            load: self.load.map(load),
            ..parameters
        }
    }

    /// Problem that the model finds in the parameters, if any.
    pub(crate) fn problem(&self) -> Option<WorkloadError> {
        // Without jobs, the model only validates its parameters.
        let parameters = LublinParameters { jobs: 0, ..self.to_model() };
        lublin::generate(&parameters, 0, "").err()
    }
}

fn change(class: &mut ClassParameters, given: &Option<LublinClass>) {
    let Some(given) = given else {
        return;
    };
    let set = |value: &mut f64, given: Option<f64>| *value = given.unwrap_or(*value);
    let set_law = |law: &mut GammaParameters, given: Option<GammaLaw>| {
        if let Some(GammaLaw { shape, scale }) = given {
            *law = GammaParameters { shape, scale };
        }
    };
    set(&mut class.serial, given.serial);
    set(&mut class.power_of_two, given.power_of_two);
    set(&mut class.size_low, given.size_low);
    set(&mut class.size_medium, given.size_medium);
    set(&mut class.size_high, given.size_high);
    set(&mut class.size_low_probability, given.size_low_probability);
    set_law(&mut class.run_time_first, given.run_time_first);
    set_law(&mut class.run_time_second, given.run_time_second);
    set(&mut class.mixing_slope, given.mixing_slope);
    set(&mut class.mixing_intercept, given.mixing_intercept);
    set_law(&mut class.gap, given.gap);
    set_law(&mut class.cycle, given.cycle);
    set(&mut class.rush_factor, given.rush_factor);
}
