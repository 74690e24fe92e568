//! Jobs that request advance reservations, and the flexibility of their users.

use super::super::error::WorkloadError;
use super::super::{JobStream, StreamItem};
use super::draws::Draws;
use super::{percent_of, step_error};
use haggle_model::law::{Law, Sampler};
use haggle_model::reservation::{Remedy, Reservation};
use haggle_model::{Job, Span, Time};

/// Makes jobs request reservations in advance, from ready time to deadline (Netto 2009, section 3.4.1).
///
/// The draws of a job come from three streams, so a changed law shifts no other draw. Workloads of
/// different flexibility therefore have the same flexible jobs.
#[derive(Clone, Debug, PartialEq)]
pub struct Reservations {
    /// Makes the window an interval of exactly the requested time: deadline = submission + requested
    /// time x max(1, this factor), ready time = deadline - requested time. `None` leaves ready times
    /// and deadlines as they are. Jobs without a request keep theirs.
    pub lead: Option<Law>,
    /// Probability that a job is flexible, 0 to 1.
    pub flexible: f64,
    /// Extension of the deadline of a flexible job, in percent of its requested time, rounded up to whole seconds.
    pub flexibility: Option<Law>,
    /// Largest distance from the window at which the user of a flexible job accepts an interval
    /// instead, in percent of its requested time.
    pub accepts: Option<u32>,
    /// Fewest and most processors on which a moldable job may run, in percent of those that it requests.
    pub sizes: (u32, u32),
    /// Remedy that users request if the place of a reservation is lost.
    pub remedy: Remedy,
}

impl Default for Reservations {
    fn default() -> Reservations {
        let Reservation { accepts, sizes, remedy } = Reservation::default();
        Reservations { lead: None, flexible: 0.0, flexibility: None, accepts, sizes, remedy }
    }
}

impl Reservations {
    pub(super) fn apply(
        &self,
        jobs: JobStream,
        draws: &Draws,
        occurrence: usize,
    ) -> Result<JobStream, WorkloadError> {
        if !(0.0..=1.0).contains(&self.flexible) {
            let problem = format!("{} of the jobs are flexible, expected 0 to 1", self.flexible);
            return Err(step_error("reservations", problem));
        }
        let streams = |what: &str| draws.for_jobs(&format!("reservations {occurrence} {what}"));
        let mut leads = streams("lead");
        let mut coins = streams("flexible");
        let mut lengths = streams("flexibility");
        let coin = sampler(&Law::Uniform { low: 0.0, high: 1.0 })?;
        let lead = self.lead.as_ref().map(sampler).transpose()?;
        let flexibility = self.flexibility.as_ref().map(sampler).transpose()?;
        let &Reservations { flexible, accepts, sizes, remedy, .. } = self;
        Ok(Box::new(jobs.map(move |job: StreamItem| {
            let mut job = job?;
            if let (Some(law), Some(time)) = (&lead, job.requested_time) {
                let deadline = after(job.submit, time.scaled(law.sample(leads.of(&job)).max(1.0)));
                (job.ready, job.deadline) = (Some(deadline - time), Some(deadline));
            }
            let is_flexible = coin.sample(coins.of(&job)) < flexible;
            if let (Some(law), true) = (&flexibility, is_flexible) {
                let percent = law.sample(lengths.of(&job));
                job.deadline = later(&job, percent);
            }
            let accepts = accepts.filter(|_| is_flexible);
            job.reservation = Some(Reservation { accepts, sizes, remedy });
            Ok(job)
        })))
    }
}

/// The deadline of a job, extended by `percent` of its requested time. A job without a request keeps
/// its deadline.
fn later(job: &Job, percent: f64) -> Option<Time> {
    // A deadline never moves to an earlier time.
    let more = job.requested_time.map_or(Span::ZERO, |it| percent_of(it, percent.max(0.0)));
    Some(after(job.deadline?, more))
}

fn sampler(law: &Law) -> Result<Sampler, WorkloadError> {
    law.sampler().map_err(|problem| WorkloadError::StepLaw { step: "reservations", problem })
}

/// Limits sums of extreme draws to the range of time.
fn after(time: Time, span: Span) -> Time {
    let micros = time.as_micros().saturating_add(span.as_micros());
    Time::from_micros(micros).min(Time::FOREVER)
}

#[cfg(test)]
mod tests {
    use super::super::Step;
    use super::super::testing::{after, refusal, submitted_at};
    use super::*;

    fn reserved(step: Reservations) -> Vec<Job> {
        let mut jobs = submitted_at(&[100; 400]);
        jobs[1].requested_time = None;
        after(&[Step::Reservations(step)], jobs)
    }

    fn window(job: &Job) -> [Option<Time>; 2] {
        [job.ready, job.deadline]
    }

    /// Case M6: submitted at 100 s, takes 60 s.
    #[test]
    fn windows_follow_from_what_is_drawn() {
        let lead = |times| Some(Law::Constant(times));
        let seconds = |times: [i64; 2]| times.map(|it| Some(Time::from_secs(it)));
        let strict = Reservations { lead: lead(5.0), ..Reservations::default() };
        let jobs = reserved(strict.clone());
        assert_eq!(window(&jobs[0]), seconds([340, 400]));
        assert_eq!(window(&jobs[1]), [None, None], "nobody knows how long it takes");
        assert!(jobs.iter().all(|job| job.reservation == Some(Reservation::default())));
        let at_once = reserved(Reservations { lead: lead(0.0), ..Reservations::default() });
        assert_eq!(window(&at_once[0]), seconds([100, 160]));
        for (percent, deadline) in [(25.0, 415), (24.0, 415), (-9.0, 400)] {
            let flexibility = Some(Law::Constant(percent));
            let jobs = reserved(Reservations { flexible: 1.0, flexibility, ..strict.clone() });
            assert_eq!(window(&jobs[0]), seconds([340, deadline]));
        }
    }

    #[test]
    fn a_flexible_job_without_a_request_keeps_its_deadline() {
        let mut jobs = submitted_at(&[100]);
        jobs[0].requested_time = None;
        jobs[0].deadline = Some(Time::from_secs(900));
        let flexibility = Some(Law::Constant(50.0));
        let step = Reservations { flexible: 1.0, flexibility, ..Reservations::default() };
        let jobs = after(&[Step::Reservations(step)], jobs);
        assert_eq!(window(&jobs[0]), [None, Some(Time::from_secs(900))]);
    }

    /// The flexible jobs are the same for any flexibility.
    #[test]
    fn the_same_jobs_are_flexible_whatever_that_means() {
        let flexible = |step: Reservations| -> Vec<bool> {
            let deadline = Some(Time::from_secs(160));
            let is_free = |job: &Job| {
                job.deadline != deadline || job.reservation.is_some_and(|it| it.accepts.is_some())
            };
            reserved(step).iter().map(is_free).collect()
        };
        let half = Reservations {
            lead: Some(Law::Constant(1.0)),
            flexible: 0.5,
            ..Reservations::default()
        };
        let accepts = flexible(Reservations { accepts: Some(50), ..half.clone() });
        let flexibility = Some(Law::Constant(100.0));
        let longer = flexible(Reservations { flexibility, ..half });
        let differ = accepts.iter().zip(&longer).filter(|(a, b)| a != b).count();
        assert_eq!(differ, usize::from(accepts[1] != longer[1]), "but for one without a request");
        let count = accepts.iter().filter(|it| **it).count();
        assert!((150..250).contains(&count), "{count} of 400");
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let step = Reservations { flexible: 1.5, ..Reservations::default() };
        let told = refusal(Step::Reservations(step));
        assert!(told.contains("1.5 of the jobs are flexible"), "{told}");
    }
}
