//! `haggle failures inspect`: the properties of a record of failures, as a table, as JSON and
//! drawn.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::scenario::file::RecordFormat;
use crate::scenario::vocabulary::parser;
use chrono::DateTime;
use haggle_model::Time;
use haggle_plots::{Figure, Limits, LineAxis, LineChart, LineSeries, Size, SweepPoint, YScale};
use haggle_workloads::failures::recorded::Recording;
use haggle_workloads::swf::Malformed;
use serde_json::json;

use super::weeks::{Week, weeks};
use crate::commands::table::{count, duration, lines, number, row};
use crate::commands::{Error, figure, print, say_waiting};
use crate::exit::Exit;
use crate::report::say;

/// Sites that the table shows; JSON has them all.
const SITES_SHOWN: usize = 20;

/// Describe a record of failures: nodes, span, availability, MTBF and MTTR
///
/// A node counts as up while it is observed and no outage of it is recorded. MTBF is the time for which nodes were up
/// over the number of outages, MTTR the mean length of an outage. Use it to choose `sites`, `from` and `length` of
/// `[failures.recorded]`: a week in which few nodes are observed has few failures.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  haggle failures inspect event_trace.tab
  haggle failures inspect event_trace.tab --json | jq .weeks
  haggle failures inspect event_trace.tab --figure weeks.png --force
  haggle failures inspect outages.csv  # columns node, start and end")]
pub(crate) struct Args {
    /// Record, plain, .gz or .zst; `-` is standard input
    #[arg(value_name = "RECORD")]
    record: PathBuf,
    /// Format of the record; without it, recognised by the first line
    #[arg(long, value_name = "FORMAT", value_parser = parser::<RecordFormat>())]
    format: Option<RecordFormat>,
    /// Leave out lines that are not records and count them
    #[arg(long)]
    lenient: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Draw availability week by week into this file, .png, .svg or .pdf
    #[arg(long, value_name = "FILE")]
    figure: Option<PathBuf>,
    /// Overwrite a figure that exists
    #[arg(long)]
    force: bool,
}

/// Prints the description.
pub(crate) fn run(args: &Args) -> Result<Exit, Error> {
    // Before the record is read, which may take long.
    if let Some(figure) = &args.figure {
        figure::check(figure, args.force)?;
    }
    say_waiting(&args.record);
    let malformed = if args.lenient { Malformed::Skip } else { Malformed::Refuse };
    let recording = Recording::open(&args.record, args.format, malformed)?;
    let inspected = Inspected::of(&recording);
    print(&if args.json { inspected.as_json() } else { inspected.as_text() })?;
    if let Some(figure) = &args.figure {
        figure::draw(&inspected.figure(), Size::default(), figure, args.force)?;
        say(&format!("drew {}\n", figure.display()));
    }
    Ok(Exit::Success)
}

/// A record that was read to its end.
struct Inspected<'r> {
    recording: &'r Recording,
    weeks: Vec<Week>,
    whole: Nodes,
    sites: BTreeMap<&'r str, Nodes>,
}

/// Sums over some nodes; times in seconds of a node.
#[derive(Clone, Copy, Debug, Default)]
struct Nodes {
    count: usize,
    observed: f64,
    down: f64,
    outages: usize,
}

impl Nodes {
    fn availability(self) -> Option<f64> {
        (self.observed > 0.0).then(|| 1.0 - self.down / self.observed)
    }

    fn mtbf(self) -> Option<f64> {
        // Without an outage, the record gives no estimate.
        (self.outages > 0).then(|| (self.observed - self.down) / self.outages as f64)
    }

    fn mttr(self) -> Option<f64> {
        (self.outages > 0).then(|| self.down / self.outages as f64)
    }
}

impl<'r> Inspected<'r> {
    fn of(recording: &'r Recording) -> Inspected<'r> {
        let (mut whole, mut sites) = (Nodes::default(), BTreeMap::<&str, Nodes>::new());
        for node in &recording.nodes {
            for nodes in [&mut whole, sites.entry(node.site.as_str()).or_default()] {
                nodes.count += 1;
                nodes.observed += (node.until - node.from).as_secs_f64();
                nodes.down += node.down().as_secs_f64();
                nodes.outages += node.outages.as_slice().len();
            }
        }
        Inspected { recording, weeks: weeks(recording), whole, sites }
    }

    fn as_text(&self) -> String {
        let Inspected { recording, weeks, whole, sites } = self;
        let (from, until) = (recording.from(), recording.until());
        let maybe = |value: Option<f64>, text: fn(f64) -> String| {
            value.map_or_else(|| "-".to_owned(), text)
        };
        // Weeks in which no node was observed have no availability.
        let worst = weeks.iter().filter_map(Week::availability).reduce(f64::min);
        let most = weeks.iter().map(Week::nodes).fold(0.0, f64::max);
        let mut facts = vec![
            ("record", recording.file.to_string()),
            ("nodes", whole.count.to_string()),
            (
                "span",
                format!(
                    "{} to {}, {}",
                    date(from),
                    date(until),
                    duration((until - from).as_secs_f64())
                ),
            ),
            (
                "observed",
                match recording.format {
                    RecordFormat::Fta => format!("{} nodes in the fullest week", number(most)),
                    RecordFormat::Lanl | RecordFormat::Csv => {
                        "not recorded: all nodes count as up from first to last".to_owned()
                    }
                },
            ),
            ("outages", whole.outages.to_string()),
            ("availability", maybe(whole.availability(), percent)),
            ("in the worst week", maybe(worst, percent)),
            ("MTBF of a node", maybe(whole.mtbf(), about)),
            ("MTTR", maybe(whole.mttr(), about)),
        ];
        let skipped = recording.skipped.count;
        if skipped > 0 {
            facts.push(("left out", count(skipped as usize, "malformed line")));
        }
        let mut text: String =
            facts.iter().map(|(name, value)| format!("{name:<19}{value}\n")).collect();
        let header = ["site", "nodes", "outages", "availability", "MTBF, h", "MTTR, h"];
        let mut rows = vec![row(header)];
        let hours = |seconds: f64| number(seconds / 3600.0);
        let mut in_order: Vec<_> = sites.iter().collect();
        // Systems are numbers in some records, which must be sorted as such.
        in_order.sort_by_key(|(site, _)| site.parse().unwrap_or(u64::MAX));
        for (site, nodes) in in_order.into_iter().take(SITES_SHOWN) {
            rows.push(vec![
                // A record without sites has all nodes at one without a name.
                if site.is_empty() { "(not said)".to_owned() } else { (*site).to_owned() },
                nodes.count.to_string(),
                nodes.outages.to_string(),
                maybe(nodes.availability(), percent),
                maybe(nodes.mtbf(), hours),
                maybe(nodes.mttr(), hours),
            ]);
        }
        text.push_str(&format!("\nSites:\n{}", lines(&rows, &[0])));
        if sites.len() > SITES_SHOWN {
            let rest = count(sites.len() - SITES_SHOWN, "more site");
            text.push_str(&format!("  and {rest}; --json has them all\n"));
        }
        text
    }

    fn as_json(&self) -> String {
        let Inspected { recording, weeks, whole, sites, .. } = self;
        let seconds = |time: Time| (time - Time::ZERO).as_secs_f64();
        let nodes = |nodes: &Nodes| {
            json!({
                "nodes": nodes.count,
                "outages": nodes.outages,
                "availability": nodes.availability(),
                "mtbf_s": nodes.mtbf(),
                "mttr_s": nodes.mttr(),
            })
        };
        let week = |week: &Week| {
            json!({
                "nodes": week.nodes(),
                "outages": week.outages,
                "availability": week.availability(),
                "days": week.length_days(),
            })
        };
        let json = json!({
            "record": &*recording.file,
            "from_unix_s": seconds(recording.from()),
            "until_unix_s": seconds(recording.until()),
            "skipped_lines": recording.skipped.count,
            "all": nodes(whole),
            "sites": sites.iter().map(|(name, it)| (*name, nodes(it))).collect::<BTreeMap<_, _>>(),
            "weeks": weeks.iter().map(week).collect::<Vec<_>>(),
        });
        format!("{json:#}\n")
    }

    fn figure(&self) -> Figure {
        let most = self.weeks.iter().map(Week::nodes).fold(0.0, f64::max);
        let line = |name: &str, value: &dyn Fn(&Week) -> Option<f64>| {
            let points = self.weeks.iter().zip(1..).filter_map(|(week, number)| {
                let (x, mean) = (f64::from(number), 100.0 * value(week)?);
                Some(SweepPoint { x, mean, half_width: None })
            });
            LineSeries { name: name.to_owned(), points: points.collect() }
        };
        let file = Path::new(&*self.recording.file);
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        Figure::Lines(LineChart {
            title: format!("{name}: availability by week"),
            x_label: format!("week from {} on", date(self.recording.from())),
            y_label: "share of nodes, %".to_owned(),
            legend_label: String::new(),
            x_axis: LineAxis::Numbers,
            x_log: false,
            y_scale: YScale::Linear,
            y_limits: Limits::NONE,
            differences: false,
            joins_names: false,
            band: false,
            series: vec![
                line("up, of those observed", &Week::availability),
                line("observed, of the most in any week", &|week| Some(week.nodes() / most)),
            ],
        })
    }
}

/// A day in UTC.
fn date(time: Time) -> String {
    let days = DateTime::from_timestamp_micros((time - Time::ZERO).as_micros());
    days.map_or_else(|| "?".to_owned(), |it| it.format("%Y-%m-%d").to_string())
}

/// A mean time; fractions of a second have no meaning.
fn about(seconds: f64) -> String {
    duration(seconds.round())
}

fn percent(part: f64) -> String {
    format!("{:.2} %", 100.0 * part)
}
