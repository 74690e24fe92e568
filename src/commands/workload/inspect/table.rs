//! The description of a log as text for people.

use std::fmt::Write;

use haggle_workloads::inspect::Distribution;

use super::Inspected;

/// The whole description.
pub(super) fn text(inspected: &Inspected) -> String {
    let mut text = String::new();
    for (name, value) in facts(inspected) {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{name:<15}{value}");
    }
    text.push('\n');
    text.push_str(&distributions(inspected));
    let _ = writeln!(text, "\n{}", inspected.cleaning);
    text
}

fn facts(inspected: &Inspected) -> Vec<(&'static str, String)> {
    let Inspected { log, header, statistics, .. } = inspected;
    let known = |name, value: Option<&str>| value.map(|value| (name, value.to_owned()));
    let mut facts = vec![("log", log.clone())];
    facts.extend(known("computer", header.computer()));
    facts.extend(known("installation", header.installation()));
    let size = statistics.machine_size;
    let size = size.map_or_else(
        || "unknown; give --processors to see loads".to_owned(),
        |size| size.to_string(),
    );
    facts.push(("processors", size));
    facts.push(("jobs", statistics.jobs.to_string()));
    facts.push(("users", statistics.users.to_string()));
    facts.push(("span", span(statistics.span_s)));
    if let (Some(actual), Some(requested)) =
        (statistics.offered_load, statistics.offered_load_requested)
    {
        facts.push((
            "offered load",
            format!("{} by run time, {} by requested time", number(actual), number(requested)),
        ));
    }
    facts.push((
        "sizes",
        format!(
            "{}% serial, {}% a power of two",
            number(100.0 * statistics.serial_share),
            number(100.0 * statistics.power_of_two_share)
        ),
    ));
    facts.push((
        "requests",
        format!(
            "{} exact, {} exceeded, {} missing",
            statistics.exact_requests, statistics.over_request, statistics.without_request
        ),
    ));
    facts
}

fn distributions(inspected: &Inspected) -> String {
    let statistics = &inspected.statistics;
    let rows = [
        ("run time, s", &statistics.run_time_s),
        ("requested time, s", &statistics.requested_time_s),
        ("processors", &statistics.processors),
        ("gap, s", &statistics.gap_s),
        ("accuracy, %", &statistics.accuracy_percent),
    ];
    let mut lines =
        vec![["", "values", "mean", "min", "median", "90%", "99%", "max"].map(str::to_owned)];
    lines.extend(rows.map(|(name, distribution)| row(name, distribution)));
    let mut text = String::new();
    for line in lines {
        let _ = write!(text, "{:<18}", line[0]);
        for cell in &line[1..] {
            let _ = write!(text, "{cell:>10}");
        }
        text.push('\n');
    }
    text
}

fn row(name: &str, distribution: &Distribution) -> [String; 8] {
    let Distribution { count, mean, min, median, p90, p99, max } = *distribution;
    // Moments of no values are zero, which would look like a measurement.
    let value = |value: f64| if count == 0 { "-".to_owned() } else { number(value) };
    [
        name.to_owned(),
        count.to_string(),
        value(mean),
        value(min),
        value(median),
        value(p90),
        value(p99),
        value(max),
    ]
}

/// A duration in the usual unit for its size.
fn span(seconds: f64) -> String {
    match seconds {
        _ if seconds < 120.0 => format!("{} s", number(seconds)),
        _ if seconds < 7_200.0 => format!("{} min", number(seconds / 60.0)),
        _ if seconds < 172_800.0 => format!("{} h", number(seconds / 3_600.0)),
        _ => format!("{} days", number(seconds / 86_400.0)),
    }
}

/// About three digits, and no decimals for whole numbers.
fn number(value: f64) -> String {
    let decimals = match value.abs() {
        // First, because a whole number needs no decimals, however small it is.
        _ if value.fract() == 0.0 => 0,
        size if size < 1.0 => 3,
        size if size < 10.0 => 2,
        size if size < 1_000.0 => 1,
        _ => 0,
    };
    format!("{value:.decimals$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_three_digits_or_so() {
        let texts = [0.0, 0.8521, 3.0, 3.456, 34.56, 345.67, 3456.7].map(number);
        assert_eq!(texts, ["0", "0.852", "3", "3.46", "34.6", "345.7", "3457"]);
    }

    #[test]
    fn spans_have_the_unit_people_use() {
        let texts = [90.0, 5_400.0, 36_000.0, 2_592_000.0].map(span);
        assert_eq!(texts, ["90 s", "90 min", "10 h", "30 days"]);
    }
}
