//! The model of iterative applications.

use std::sync::Arc;

use haggle_model::iterative::Behaviour;
use haggle_model::{Iterative, Job, Span, Time};

use crate::file;

impl file::IterativeApplications {
    /// Description of each application.
    pub fn iterative(&self) -> Iterative {
        let machines = self.machines.iter();
        Iterative {
            processes: self.processes.clone(),
            iterations: self.iterations,
            communication: self.communication,
            merge: self.merge.0,
            transfer: self.transfer.0,
            throughputs: machines.map(|it| (it.name.to_string(), it.throughputs.clone())).collect(),
            behaviour: Behaviour::new(self.start_up.0, self.slowness),
        }
    }

    /// Applications, in the order of submission.
    pub fn to_jobs(&self) -> Vec<Job> {
        let application = Arc::new(self.iterative());
        let mut submit = Time::ZERO;
        (0..self.jobs)
            .map(|number| {
                let job = Job::new(number, submit, self.cores, Span::ZERO);
                submit += self.between.0;
                Job { iterative: Some(Arc::clone(&application)), requested_time: None, ..job }
            })
            .collect()
    }
}
