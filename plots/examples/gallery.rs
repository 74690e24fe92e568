//! Draws every kind of figure: `gallery RUN-FOLDER OUTPUT-FOLDER`.

use std::path::Path;

use haggle_plots::load::{By, Part, Tables};
use haggle_plots::{
    BarChart, BarSeries, Figure, Histogram, Limits, LineAxis, LineChart, LineSeries, PanelCharts,
    Panels, PlotError, Quantity, ScatterChart, ScatterPoint, Shows, SweepPoint, YScale,
    distribution, gantt, timeline,
};
use haggle_results::RunReader;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, run, output] = arguments.as_slice() else {
        return Err("usage: gallery RUN-FOLDER OUTPUT-FOLDER".into());
    };
    let run = RunReader::open(Path::new(run))?;
    std::fs::create_dir_all(output)?;
    for (name, figure) in figures(&Tables::new(&run))? {
        for ending in ["png", "svg"] {
            let path = Path::new(output).join(format!("{name}.{ending}"));
            let size = figure.size();
            figure.draw(&path, size)?;
        }
    }
    Ok(())
}

fn figures(run: &Tables) -> Result<Vec<(&'static str, Figure)>, PlotError> {
    let all = Part::default();
    let distribution =
        |title, quantity, by| distribution::distribution(run, title, &all, quantity, by);
    let waiting = distribution("Waiting times", Quantity::WaitingTime, By::Provider)?;
    let slowdown = distribution("Bounded slowdowns", Quantity::BoundedSlowdown, By::Class)?;
    let over_time = timeline::timeline(run, "A made-up run", &all, Shows::Both)?;
    Ok(vec![
        ("gantt", Figure::Gantt(gantt::gantt(run, "A made-up run", &all, By::Class)?)),
        ("timeline", Figure::Timeline(over_time)),
        ("waiting", Figure::Distribution(waiting)),
        ("slowdown", Figure::Distribution(slowdown)),
        ("lines", Figure::Lines(lines())),
        ("bars", Figure::Bars(bars())),
        ("histogram", Figure::Histogram(histogram())),
        ("bands", Figure::Lines(LineChart { band: true, ..lines() })),
        ("curves", Figure::Lines(curves())),
        ("scatter", Figure::Scatter(scatter())),
        ("panels", Figure::Panels(panels())),
    ])
}

fn lines() -> LineChart {
    let line = |name: &str, factor: f64| LineSeries {
        name: name.to_owned(),
        points: (1..=9)
            .map(|i| f64::from(i) / 10.0)
            .map(|load| SweepPoint {
                x: load,
                mean: factor * load / (1.0 - load),
                half_width: Some(factor * load * 0.4),
            })
            .collect(),
    };
    LineChart {
        title: "Waiting grows with the load".to_owned(),
        x_label: "load".to_owned(),
        x_axis: LineAxis::Numbers,
        x_log: false,
        y_scale: YScale::Linear,
        y_limits: Limits::NONE,
        differences: false,
        joins_names: false,
        band: false,
        y_label: "mean waiting time, s".to_owned(),
        legend_label: String::new(),
        series: vec![
            line("conservative", 700.0),
            line("EASY", 500.0),
            line("first come, first served", 1100.0),
        ],
    }
}

fn bars() -> BarChart {
    let series = |name: &str, values: [f64; 4]| BarSeries {
        name: name.to_owned(),
        values: values.map(|it| Some((it, Some(it * 0.12)))).to_vec(),
    };
    BarChart {
        stacked: false,
        title: "What a provider discloses and what it buys".to_owned(),
        x_label: "disclosed".to_owned(),
        y_label: "mean response time, h".to_owned(),
        legend_label: String::new(),
        differences: false,
        y_scale: YScale::Linear,
        y_limits: Limits::NONE,
        categories: ["offers only", "computing power", "rough load", "free time slots"]
            .map(str::to_owned)
            .to_vec(),
        series: vec![
            series("local", [3.1, 3.0, 2.6, 2.4]),
            series("external", [5.9, 5.2, 4.1, 3.3]),
        ],
    }
}

fn histogram() -> Histogram {
    let counts = [5200, 1210, 2904, 3120, 2650, 4100, 1800, 940, 12];
    let names = (0..).map(|power| (1_u32 << power).to_string());
    Histogram {
        title: "Widths of the jobs of a log".to_owned(),
        x_label: "processors".to_owned(),
        y_label: "jobs".to_owned(),
        bins: names.zip(counts).collect(),
    }
}

fn curves() -> LineChart {
    let curve = |name: &str, factor: f64| LineSeries {
        name: name.to_owned(),
        points: (0..500)
            .map(|rank| f64::from(rank) / 40.0)
            .map(|x| SweepPoint { x: x * 40.0, mean: factor * x.exp2(), half_width: None })
            .collect(),
    };
    LineChart {
        title: "Sorted requests, fragments and jobs that fit".to_owned(),
        x_label: "rank".to_owned(),
        y_label: "length".to_owned(),
        y_scale: YScale::LogTime,
        y_limits: Limits::NONE,
        series: vec![curve("requests", 30.0), curve("fragments", 4.0)],
        ..lines()
    }
}

fn scatter() -> ScatterChart {
    let point = |name: &str, x: f64, y: f64| ScatterPoint {
        name: name.to_owned(),
        x: (x, Some(x * 0.08)),
        y: (y, Some(y * 0.1)),
    };
    ScatterChart {
        x_log: false,
        title: "What disclosed items buy".to_owned(),
        x_label: "disclosed items".to_owned(),
        y_label: "delayed jobs, %".to_owned(),
        points: vec![
            point("offers only", 1200.0, 9.5),
            point("computing power", 1400.0, 7.1),
            point("rough load", 1900.0, 6.8),
            point("free time slots", 5200.0, 11.0),
        ],
    }
}

fn panels() -> Panels {
    let chart = |title: &str, factor: f64| BarChart {
        stacked: false,
        title: title.to_owned(),
        x_label: "deadlines".to_owned(),
        y_label: "delayed jobs, % (mean and standard deviation of 30 runs)".to_owned(),
        legend_label: String::new(),
        differences: false,
        y_scale: YScale::Linear,
        y_limits: Limits::NONE,
        categories: ["relaxed", "tight"].map(str::to_owned).to_vec(),
        series: ["offers only", "computing power", "rough load", "free time slots"]
            .iter()
            .zip([9.0, 7.0, 6.5, 11.0])
            .map(|(name, value)| BarSeries {
                name: (*name).to_owned(),
                values: [1.0, 2.2]
                    .map(|tight| value * tight * factor)
                    .map(|value| Some((value, Some(value * 0.1))))
                    .to_vec(),
            })
            .collect(),
    };
    let charts = vec![chart("local", 0.5), chart("external", 2.0), chart("global", 0.8)];
    let charts = PanelCharts::Bars(charts);
    Panels { title: "Delayed jobs".to_owned(), charts, own_scales: false }
}
