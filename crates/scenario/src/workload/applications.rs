//! The model of applications of many phases.

use std::sync::Arc;

use haggle_model::phased::{Measured, Phase, Speedup, Term};
use haggle_model::{Job, Phased, ProviderId, Span, Time};
use haggle_planning::Application;

use crate::file;
use crate::quantity::{Name, TimeSpan};

impl file::Applications {
    /// Phases or measured times of each application. `clusters` are numbered by their place. A description that a
    /// check would refuse (not like a published one, without phases, not measured) gives no phases.
    pub fn phased(&self, clusters: &[Name]) -> Phased {
        if let Some(rows) = &self.measured {
            return Phased::Measured(self.measured(rows, clusters));
        }
        let (phases, size) = match (self.like, &self.phases) {
            (Some(like), _) => {
                let count = self.count.map_or(like.phases(), |count| count as usize);
                (like.draw_phases(self.seed.unwrap_or(1), count), self.size.unwrap_or(1.0))
            }
            (None, phases) => (phases.iter().flatten().map(phase).collect(), 1.0),
        };
        Phased::Modelled { phases, size, merged: self.merge }
    }

    /// Measured times; `merge` consecutive phases count as one.
    fn measured(&self, rows: &[file::MeasuredTimes], clusters: &[Name]) -> Vec<Measured> {
        let merged = |times: &[TimeSpan]| times.iter().map(|time| time.0).sum();
        let row = |it: &file::MeasuredTimes| {
            let place = clusters.iter().position(|name| *name == it.cluster)?;
            let times = it.times.chunks(self.merge.max(1) as usize).map(merged).collect();
            Some(Measured { cluster: ProviderId(place as u32), machines: it.machines, times })
        };
        rows.iter().filter_map(row).collect()
    }

    /// Problem of an application with modelled phases, if any.
    pub(crate) fn problem(&self) -> Option<String> {
        let Phased::Modelled { phases, size, .. } = self.phased(&[]) else { return None };
        Application::new(&phases, size).err().map(|error| error.to_string())
    }

    /// Applications, in the order of submission.
    pub fn to_jobs(&self, clusters: &[Name]) -> Vec<Job> {
        let phases = Arc::new(self.phased(clusters));
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
