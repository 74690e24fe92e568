//! A period of a workload.

use super::super::error::WorkloadError;
use super::super::{JobStream, StreamItem};
use super::step_error;
use haggle_model::{Span, Time};

/// Keeps submissions from `from` on, and before `from + length`.
///
/// Reading stops at the first submission after the window, so the cleaning report covers only the lines up to it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Window {
    /// Start of the window.
    pub from: Time,
    /// Length of the window; `None` = to the end.
    pub length: Option<Span>,
    /// Choice of time zero.
    pub start: WindowStart,
}

haggle_model::words! {
    /// Instant that becomes time zero after a window was cut.
    #[derive(Default)]
    pub enum WindowStart {
        /// The beginning of the window: windows of several logs stay synchronous.
        #[default]
        WindowIsZero = "window-is-zero",
        /// The first job in the window.
        FirstJobIsZero = "first-job-is-zero",
        /// The old one: all times stay as they are.
        Keep = "keep",
    }
}

impl Window {
    pub(super) fn apply(&self, jobs: JobStream) -> Result<JobStream, WorkloadError> {
        if self.length.is_some_and(|length| length <= Span::ZERO) {
            return Err(step_error("window", "length is not above 0"));
        }
        let from = self.from;
        let end = end_of(from, self.length);
        let mut zero = match self.start {
            WindowStart::WindowIsZero => Some(from),
            WindowStart::FirstJobIsZero => None,
            WindowStart::Keep => Some(Time::ZERO),
        };
        let cut = jobs
            // Errors are neither skipped nor taken for the end of the window.
            .skip_while(move |job| job.as_ref().is_ok_and(|job| job.submit < from))
            .take_while(move |job| job.as_ref().map_or(true, |job| job.submit < end))
            .map(move |job: StreamItem| {
                let mut job = job?;
                let shift = *zero.get_or_insert(job.submit) - Time::ZERO;
                let submit = job.submit - shift;
                job.move_to(submit);
                Ok(job)
            });
        Ok(Box::new(cut))
    }
}

pub(super) fn end_of(from: Time, length: Option<Span>) -> Time {
    let end = length.map(|length| from.as_micros().saturating_add(length.as_micros()));
    end.map_or(Time::FOREVER, Time::from_micros)
}

#[cfg(test)]
mod tests {
    use super::super::Step;
    use super::super::testing::{after, refusal, submissions, submitted_at};
    use super::*;

    fn check(from: i64, length: Option<i64>, start: WindowStart, expected: &[i64]) {
        let window =
            Window { from: Time::from_secs(from), length: length.map(Span::from_secs), start };
        let jobs = submitted_at(&[0, 10, 20, 30, 40]);
        assert_eq!(submissions(&after(&[Step::Window(window)], jobs)), expected);
    }

    #[test]
    fn a_window_has_its_beginning_and_not_its_end() {
        check(10, Some(20), WindowStart::Keep, &[10, 20]);
        check(15, None, WindowStart::Keep, &[20, 30, 40]);
        check(50, None, WindowStart::Keep, &[]);
    }

    #[test]
    fn time_zero_is_the_window_or_its_first_job() {
        check(15, Some(20), WindowStart::WindowIsZero, &[5, 15]);
        check(15, Some(20), WindowStart::FirstJobIsZero, &[0, 10]);
    }

    #[test]
    fn deadlines_move_along() {
        let mut jobs = submitted_at(&[10]);
        jobs[0].deadline = Some(Time::from_secs(100));
        jobs[0].ready = Some(Time::from_secs(12));
        let window = Window { from: Time::from_secs(10), ..Window::default() };
        let jobs = after(&[Step::Window(window)], jobs);
        assert_eq!(jobs[0].deadline, Some(Time::from_secs(90)));
        assert_eq!(jobs[0].ready, Some(Time::from_secs(2)));
    }

    #[test]
    fn an_empty_window_is_refused() {
        let length = Some(Span::ZERO);
        let window = Window { length, ..Window::default() };
        assert_eq!(refusal(Step::Window(window)), "step window: length is not above 0");
    }
}
