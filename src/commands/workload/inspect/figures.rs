//! The histograms of a log, one file each, so that a page can show only those that it needs.

use std::path::{Path, PathBuf};

use haggle_plots::{Figure, Histogram, ImageFormat, Size};
use haggle_workloads::inspect::Log2Histogram;

use super::Inspected;
use crate::commands::{Error, figure};

/// The words that distinguish the files, in the order of drawing.
const WORDS: [&str; 7] =
    ["run-time", "requested-time", "processors", "accuracy", "hour", "weekday", "week"];

const WEEKDAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];

/// Checks that figures can be drawn into files named like `path`, before the log is read.
pub(super) fn check(path: &Path, force: bool) -> Result<(), Error> {
    ImageFormat::of(path)?;
    WORDS.into_iter().try_for_each(|word| figure::check(&named(path, word), force))
}

/// Draws the histograms with data, and returns their files.
pub(super) fn draw(inspected: &Inspected, path: &Path, force: bool) -> Result<Vec<PathBuf>, Error> {
    let mut drawn = Vec::new();
    for (word, histogram) in WORDS.into_iter().zip(histograms(inspected)) {
        let Some(histogram) = histogram.filter(|it| it.bins.iter().any(|(_, jobs)| *jobs > 0))
        else {
            continue;
        };
        let path = named(path, word);
        figure::draw(&Figure::Histogram(histogram), Size::default(), &path, force)?;
        drawn.push(path);
    }
    Ok(drawn)
}

/// Histograms in the order of [`WORDS`]; `None` if the log lacks the data.
fn histograms(inspected: &Inspected) -> [Option<Histogram>; 7] {
    let statistics = &inspected.statistics;
    let by = |what: &str, x_label: &str, bins: Vec<(String, u64)>| Histogram {
        title: format!("{}: jobs by {what}", name(&inspected.log)),
        x_label: x_label.to_owned(),
        y_label: "jobs".to_owned(),
        bins,
    };
    let doubling = |what: &str, unit: &str, histogram: &Log2Histogram| {
        let label = format!("{what}{unit}, from this number to below its double");
        // Empty bins at the start say nothing; those in between are gaps and stay.
        let bins = histogram.bins.iter().skip_while(|bin| bin.jobs == 0);
        let bins = bins.map(|bin| (bin.from.to_string(), bin.jobs));
        by(what, &label, bins.collect())
    };
    let hours = statistics.jobs_per_hour.iter().zip(0..);
    let hours = hours.map(|(&jobs, hour)| (format!("{hour}"), jobs)).collect();
    let tenths = statistics.accuracy_histogram.iter().zip(0..);
    let tenths = tenths.map(|(&jobs, tenth)| (format!("{}", tenth * 10), jobs)).collect();
    let weekdays = statistics.jobs_per_weekday.map(|jobs| {
        let days = WEEKDAYS.into_iter().zip(jobs).map(|(day, jobs)| (day.to_owned(), jobs));
        by("day of the week", "day of the week, local time", days.collect())
    });
    let clock = if weekdays.is_some() { "local time" } else { "from the start of the log" };
    [
        Some(doubling("run time", ", s", &statistics.run_time_histogram)),
        Some(doubling("requested time", ", s", &statistics.requested_time_histogram)),
        Some(doubling("processors", "", &statistics.processors_histogram)),
        Some(by(
            "accuracy of the request",
            "run time in % of the requested time, from this number up to the next",
            tenths,
        )),
        Some(by("hour of the day", &format!("hour of the day, {clock}"), hours)),
        weekdays,
        Some(by("week", "week from the start of the log", weeks(inspected))),
    ]
}

/// Every week up to the last one. Weeks without jobs are included, so that gaps are visible.
fn weeks(inspected: &Inspected) -> Vec<(String, u64)> {
    /// More bars than pixels are useless.
    const MOST: i64 = 1_500;
    let weeks = &inspected.statistics.jobs_per_week;
    let (Some(first), Some(last)) = (weeks.first(), weeks.last()) else {
        return Vec::new();
    };
    let count = (last.week - first.week + 1).min(MOST);
    let mut bins: Vec<(String, u64)> =
        (0..count).map(|week| ((first.week + week + 1).to_string(), 0)).collect();
    for week in weeks {
        let at = usize::try_from(week.week - first.week).ok();
        // Weeks behind the last bar are left out.
        if let Some(bin) = at.and_then(|at| bins.get_mut(at)) {
            bin.1 = week.jobs;
        }
    }
    bins
}

/// The log without its folder.
fn name(log: &str) -> String {
    let path = Path::new(log);
    path.file_name().map_or_else(|| log.to_owned(), |name| name.to_string_lossy().into_owned())
}

fn ending(path: &Path) -> Option<&str> {
    path.extension().and_then(|ending| ending.to_str())
}

/// `figures/ctc.png` with a word: `figures/ctc-week.png`.
fn named(path: &Path, word: &str) -> PathBuf {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let ending = ending(path).unwrap_or_default();
    path.with_file_name(format!("{stem}-{word}.{ending}"))
}
