//! The model of applications of many phases.

use std::sync::Arc;

use haggle_model::phased::{Phase, Speedup, Term};
use haggle_model::{Job, Phased, Span, Time};
use haggle_planning::Application;
use haggle_planning::synthetic::Synthetic;

use crate::scenario::file;

impl file::Applications {
    /// What is known of each application. One that is like none and has no phases, which a check would
    /// have refused, has none.
    pub fn phased(&self) -> Phased {
        let (phases, size) = match (self.like, &self.phases) {
            (Some(kind), _) => {
                let like = match kind {
                    file::ApplicationKind::Md => Synthetic::Md,
                    file::ApplicationKind::Changa => Synthetic::Changa,
                    file::ApplicationKind::Athena => Synthetic::Athena,
                    file::ApplicationKind::Lammps => Synthetic::Lammps,
                    file::ApplicationKind::Mpb => Synthetic::Mpb,
                };
                let count = self.count.map_or(like.phases(), |count| count as usize);
                (like.draw_phases(self.seed.unwrap_or(1), count), self.size.unwrap_or(1.0))
            }
            (None, phases) => (phases.iter().flatten().map(phase).collect(), 1.0),
        };
        Phased::Modelled { phases, size, merged: self.merge }
    }

    /// Why there is no such application, if there is none.
    pub(crate) fn problem(&self) -> Option<String> {
        let Phased::Modelled { phases, size, .. } = self.phased() else { return None };
        Application::new(&phases, size).err().map(|error| error.to_string())
    }

    /// The applications, in the order in which they are submitted.
    pub fn to_jobs(&self) -> Vec<Job> {
        let phases = Arc::new(self.phased());
        let mut submit = Time::ZERO;
        (0..self.jobs)
            .map(|number| {
                let job = Job::new(number, submit, 1, Span::ZERO);
                submit += self.between.0;
                Job { phases: Some(Arc::clone(&phases)), requested_time: None, ..job }
            })
            .collect()
    }
}

fn phase(it: &file::ApplicationPhase) -> Phase {
    let term = |span: Span, exponent| Term {
        coefficient: span.as_secs_f64(),
        size: 1.0,
        load: 1.0,
        speedup: Speedup::Power(exponent),
    };
    Phase {
        computation: term(it.computing.0, it.speedup),
        communication: term(it.communicating.0, it.spread),
    }
}
