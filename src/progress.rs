//! Progress of long work: on a terminal only, and on standard error.

use std::fmt::Write;
use std::time::Duration;

use crate::experiment::Watch;
use haggle_model::Time;
use indicatif::{
    HumanCount, HumanDuration, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle,
};

/// Place where progress is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Show {
    /// On a terminal.
    Progress,
    /// Never.
    Nothing,
}

impl Show {
    /// Nothing if `quiet`.
    pub(crate) fn unless(quiet: bool) -> Show {
        if quiet { Show::Nothing } else { Show::Progress }
    }

    fn target(self) -> ProgressDrawTarget {
        match self {
            // The target hides itself if standard error is no terminal.
            Show::Progress => ProgressDrawTarget::stderr_with_hz(5),
            Show::Nothing => ProgressDrawTarget::hidden(),
        }
    }
}

/// Shows the progress of one run: finished jobs, whose total is unknown, and messages, since jobs
/// may take long.
pub(crate) struct OneRun(ProgressBar);

impl OneRun {
    pub(crate) fn new(show: Show) -> OneRun {
        let bar = ProgressBar::with_draw_target(None, show.target());
        let template = "{spinner} {elapsed} {human_pos} jobs over, {msg}";
        bar.set_style(style(template));
        bar.enable_steady_tick(Duration::from_millis(200));
        OneRun(bar)
    }

    /// Shows the progress of a live run: jobs that are over, and the rest in words.
    #[cfg(feature = "live")]
    pub(crate) fn live(&self, over: u64, rest: String) {
        self.0.set_position(over);
        self.0.set_message(rest);
    }
}

impl Watch for OneRun {
    fn progress(&self, jobs: u64, messages: u64, now: Time) {
        self.0.set_position(jobs);
        let (days, messages) = (now.as_secs_f64() / 86_400.0, HumanCount(messages));
        self.0.set_message(format!("{messages} messages, simulated {days:.1} days"));
    }
}

impl Drop for OneRun {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

/// A bar over the runs of a sweep, with the time left estimated from the finished ones.
pub(crate) fn many_runs(show: Show, runs: u64, done: u64) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(runs), show.target());
    let template = "{bar:30} {pos}/{len} runs, {elapsed} gone{left}";
    let key = move |state: &ProgressState, text: &mut dyn Write| {
        // An error of the bar must not end the command.
        let _ = text.write_str(&left(state.pos(), done, state.eta()));
    };
    bar.set_style(style(template).with_key("left", key));
    bar.set_position(done);
    // The jump to the runs that were done before must not count as speed.
    bar.reset_eta();
    // Drawn at once, because the first run may take long.
    bar.tick();
    bar
}

/// The time left, if a run has ended since the beginning; runs that were `done` before give no
/// estimate.
fn left(position: u64, done: u64, eta: Duration) -> String {
    match position > done {
        true => format!(", about {:#} left", HumanDuration(eta)),
        false => String::new(),
    }
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).expect("the template is ours and sound")
}

/// A bar over cases: their number is known, or a time bounds them.
pub(crate) fn cases(show: Show, count: Option<u64>) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(count, show.target());
    bar.set_style(style("{spinner} {elapsed} {human_pos} cases: {msg}"));
    bar
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_left_is_told_once_it_is_known() {
        assert_eq!(left(0, 0, Duration::ZERO), "");
        assert_eq!(left(40, 40, Duration::ZERO), "");
        assert_eq!(left(41, 40, Duration::from_secs(30)), ", about 30s left");
    }
}
