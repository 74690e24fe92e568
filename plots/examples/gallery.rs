//! Draws every kind of figure: `gallery RUN-FOLDER OUTPUT-FOLDER`.

use std::path::Path;

use haggle_plots::load::{self, By, Part, Tables};
use haggle_plots::{
    BarChart, BarSeries, Figure, Histogram, LineAxis, LineChart, LineSeries, PlotError, Quantity,
    Shows, Size, SweepPoint,
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
            figure.draw(&path, Size::default())?;
        }
    }
    Ok(())
}

fn figures(run: &Tables) -> Result<Vec<(&'static str, Figure)>, PlotError> {
    let all = Part::default();
    let distribution = |title, quantity, by| load::distribution(run, title, &all, quantity, by);
    let waiting = distribution("Waiting times", Quantity::WaitingTime, By::Provider)?;
    let slowdown = distribution("Bounded slowdowns", Quantity::BoundedSlowdown, By::Class)?;
    let timeline = load::timeline(run, "A made-up run", &all, Shows::Both)?;
    Ok(vec![
        ("gantt", Figure::Gantt(load::gantt(run, "A made-up run", &all)?)),
        ("timeline", Figure::Timeline(timeline)),
        ("waiting", Figure::Distribution(waiting)),
        ("slowdown", Figure::Distribution(slowdown)),
        ("lines", Figure::Lines(lines())),
        ("bars", Figure::Bars(bars())),
        ("histogram", Figure::Histogram(histogram())),
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
        y_label: "mean waiting time, s".to_owned(),
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
        title: "What a provider discloses and what it buys".to_owned(),
        x_label: "disclosed".to_owned(),
        y_label: "mean response time, h".to_owned(),
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
