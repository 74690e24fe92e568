//! `haggle plot`: figures of a run, of a sweep, or of several runs in one.

use std::fs;
use std::path::{Path, PathBuf};

use crate::command::own_rules;
use crate::experiment::figures::{
    SweepData, declared, draw, draw_compared, draw_sweep, file_name, runs_of_variants,
};
use crate::scenario::file::{
    AxisScale, BarLabels, Figure, FigureKind, ImageFormat, LegendPlace, Metric, Shown,
};
use crate::scenario::quantity::{AxisRange, Instant, JobRef, Name, PictureSize, TimeSpan};
use crate::scenario::vocabulary::parser;
use crate::scenario::{Experiment, Logs, Source, nearest};
use haggle_plots::load::Tables;
use haggle_results::RunReader;

use super::compare::axis_value;
use super::{Error, complete, has_results, open_run, print};
use crate::exit::Exit;

/// Draw figures of a run or of a sweep, or compare several runs in one figure
///
/// Without --kind, draws the figures that the scenario declares. Prints the path of each file that was written. `haggle
/// list kinds` lists all kinds.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  haggle plot runs/quickstart --force
  haggle plot runs/quickstart --kind gantt --provider west --until 12h -o west.png
  haggle plot runs/quickstart --kind sequence --job 3
  haggle plot runs/first runs/second --kind waiting-ecdf -o compared.pdf
  haggle plot runs/first runs/second --kind gantt --until 12h -o schedules.pdf
  haggle plot sweeps/monday --kind lines --against policy=easy -o paired.svg
  haggle plot runs/first --kind waiting-ecdf --y-range 80%..100% -o tail.png
  haggle plot runs/first --kind waiting-ecdf --complement -o tail-log.png
  haggle plot runs/of-log --kind waiting-ecdf --recorded -o beside-log.png
  haggle plot runs/of-log --kind waiting-ecdf --group-by queue -o by-queue.png
  haggle plot runs/first --kind gantt --size 88x60mm --title '' -o column.pdf")]
pub(crate) struct Args {
    /// Folders of results: one run, one sweep, or several runs
    #[arg(required = true, value_name = "DIR")]
    folders: Vec<PathBuf>,
    /// Kind of figure, instead of the scenario's figures; can be given several times
    #[arg(short, long = "kind", value_name = "KIND", value_parser = parser::<FigureKind>())]
    kinds: Vec<FigureKind>,
    /// Draw only this provider, or resource of a grid; can be given several times
    #[arg(short, long = "provider", value_name = "NAME")]
    providers: Vec<Name>,
    /// Job drawn by job-timeline and sequence, or any task of the workflow drawn by workflow-timeline; in a gantt, a
    /// marked job, may be given several times. A number in the run, or WORKLOAD!NUMBER
    #[arg(long = "job", value_name = "JOB")]
    jobs: Vec<JobRef>,
    /// Text on the bars of a gantt
    #[arg(long, value_name = "WHAT", value_parser = parser::<BarLabels>())]
    labels: Option<BarLabels>,
    /// Start of the time that is drawn, such as 12h; without it, the start of the run. A negative time such as -1h shows jobs
    /// of a start state before time zero
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    from: Option<Instant>,
    /// End of the time that is drawn, such as 2d
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, value_parser = end)]
    until: Option<TimeSpan>,
    /// Show dates on the axis of time of gantt, utilisation, node-utilisation, usage-shares and queue-length, by the
    /// header of the log
    #[arg(long)]
    dates: bool,
    /// Metric of bars and lines
    #[arg(long, value_name = "METRIC", value_parser = complete::metrics(str::parse::<Metric>),
        hide_possible_values = true)]
    metric: Option<Metric>,
    /// Metrics of the parts of stacked-bars, from the lowest part up; they add up
    #[arg(long, value_name = "METRIC,METRIC", value_delimiter = ',')]
    metrics: Vec<Metric>,
    /// Label of the y axis, in place of the name of the metric; with --scale, it includes the unit
    #[arg(long, value_name = "TEXT")]
    label: Option<String>,
    /// Factor of the values as tables have them, in place of the automatic unit; --label must then include the unit
    #[arg(long, value_name = "NUMBER")]
    scale: Option<f64>,
    /// Draw one bar, line or curve, or in a gantt one colour, for each: provider, user, class, workload
    /// or a sweep axis; in a gantt also job. A box, an ECDF and a gantt of one run also have queue and account, and
    /// usage-shares has account and user
    #[arg(long, value_name = "WHAT")]
    group_by: Option<Name>,
    /// Sweep axis on the x axis of lines and bars; without it, the first
    #[arg(long, value_name = "AXIS")]
    x: Option<Name>,
    /// Scale of the x axis of lines
    #[arg(long, value_name = "SCALE", value_parser = parser::<AxisScale>())]
    x_scale: Option<AxisScale>,
    /// Scale of the y axis of lines and bars
    #[arg(long, value_name = "SCALE", value_parser = parser::<AxisScale>())]
    y_scale: Option<AxisScale>,
    /// Range of the x axis of an ECDF, such as 1min..1d
    #[arg(long, value_name = "LOW..HIGH", allow_hyphen_values = true)]
    x_range: Option<AxisRange>,
    /// Range of the y axis of ECDFs, bars, lines and boxes, such as 88%..100%, 1h..8h or 0..5; values outside are not
    /// drawn
    #[arg(long, value_name = "LOW..HIGH", allow_hyphen_values = true)]
    y_range: Option<AxisRange>,
    /// Show the share of jobs above each value, 1 - F, on a logarithmic axis, which makes tails of an ECDF readable
    #[arg(long)]
    complement: bool,
    /// Draw a further curve in an ECDF of waiting times or bounded slowdowns: the same jobs, as recorded in their log
    #[arg(long)]
    recorded: bool,
    /// Draw differences of the runs of a sweep to those with this value of an axis, seed by seed, such as policy=easy;
    /// can be given for several axes
    #[arg(long, value_name = "AXIS=VALUE", value_parser = axis_value)]
    against: Vec<(String, String)>,
    /// Width and height, such as 88x60mm for a column of a paper, or 1200x800px
    #[arg(long, value_name = "SIZE")]
    size: Option<PictureSize>,
    /// Title above the figure; "" leaves it out
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
    /// Place of the legend; without it, beside the plot, or above it where it would take much of the width
    #[arg(long, value_name = "PLACE", value_parser = parser::<LegendPlace>())]
    legend: Option<LegendPlace>,
    /// Draw no legend
    #[arg(long, conflicts_with = "legend")]
    no_legend: bool,
    /// Image format; for a file named by -o, its ending gives the format
    #[arg(long, value_name = "FORMAT", value_parser = parser::<ImageFormat>())]
    format: Option<ImageFormat>,
    /// File (.png, .svg or .pdf) for one figure, folder for several; without it, DIR
    #[arg(short, long, value_name = "FILE|FOLDER")]
    output: Option<PathBuf>,
    /// Overwrite existing files
    #[arg(long)]
    force: bool,
}

/// Draws the figures.
pub(crate) fn run(args: &Args) -> Result<Exit, Error> {
    match args.folders.as_slice() {
        [folder] if is_sweep(folder) => of_sweep(args, folder),
        [folder] => of_run(args, folder),
        folders => of_runs(args, folders),
    }?;
    Ok(Exit::Success)
}

/// A sweep's folder has a scenario of its own, but neither a provenance nor results of a run.
pub(crate) fn is_sweep(folder: &Path) -> bool {
    folder.join("scenario.toml").exists()
        && !folder.join("provenance.json").exists()
        && !has_results(folder)
}

fn of_run(args: &Args, folder: &Path) -> Result<(), Error> {
    let run = open_run(folder)?;
    if run.is_packed() && args.output.is_none() {
        return Err(Error::Unfit {
            message: format!("`{}` is in a pack, and has no folder to draw into", folder.display()),
            hint: "name a file or a folder with -o".to_owned(),
        });
    }
    let tables = Tables::new(&run);
    if !args.providers.is_empty() {
        let known: Vec<&str> = tables.resources()?.iter().map(|it| it.provider.as_str()).collect();
        let what = if Shown::of(&tables)?.processors { "provider" } else { "resource" };
        check_providers(args, &known, what)?;
    }
    refuse_against(args)?;
    if args.x.is_some() {
        return Err(Error::Unfit {
            message: "--x names an axis of a sweep, and this is one run".to_owned(),
            hint: "remove it, or name the folder of a sweep".to_owned(),
        });
    }
    let figures = figures(args, &declared(&run)?)?;
    let paths = paths(args, &figures, folder)?;
    for (figure, path) in figures.iter().zip(&paths) {
        draw(figure, &tables, path)?;
        print(&format!("{}\n", path.display()))?;
    }
    Ok(())
}

fn of_sweep(args: &Args, folder: &Path) -> Result<(), Error> {
    let source = Source::read(&folder.join("scenario.toml"))?;
    let experiment = Experiment::read_with(source, Logs::Ignore, own_rules())?;
    if args.kinds.is_empty() && experiment.figures.is_empty() && shows_single_runs(&experiment) {
        return Err(Error::Unfit {
            message: "the scenario's figures show one run each".to_owned(),
            hint: "name the folder of a run, or a kind of figure, such as --kind lines".to_owned(),
        });
    }
    let mut figures = figures(args, &experiment.figures)?;
    let axes: Vec<&str> = experiment
        .variants
        .first()
        .map(|variant| variant.settings.iter().map(|setting| setting.axis.as_str()).collect())
        .unwrap_or_default();
    let is_axis = |name: &Name| axes.contains(&name.as_str());
    for figure in figures.iter_mut().filter(|figure| figure.kind.measures()) {
        // Bars that are grouped by an axis have it on the x axis already.
        let given =
            figure.kind == FigureKind::Bars && figure.group_by.as_ref().is_some_and(is_axis);
        if !given {
            figure.x = figure.x.take().or_else(|| axes.first()?.parse().ok());
        }
    }
    let sweep = SweepData::read(&experiment, folder, &figures)?;
    let paths = paths(args, &figures, folder)?;
    let compares = figures.iter().any(|figure| figure.kind.compares());
    // Opened only for figures that compare runs: a sweep may have thousands.
    let variants = compares.then(|| runs_of_variants(&experiment, folder)).transpose()?;
    for (figure, path) in figures.iter().zip(&paths) {
        match variants.as_ref().filter(|_| figure.kind.compares()) {
            Some((runs, about)) => draw_compared(figure, runs, Some(about), path)?,
            None => draw_sweep(figure, &sweep, path)?,
        }
        print(&format!("{}\n", path.display()))?;
    }
    Ok(())
}

fn shows_single_runs(experiment: &Experiment) -> bool {
    experiment.variants.iter().any(|variant| !variant.scenario.figures.is_empty())
}

/// Runs of different sweeps have no variants.
fn refuse_against(args: &Args) -> Result<(), Error> {
    if args.against.is_empty() {
        return Ok(());
    }
    Err(Error::Unfit {
        message: "--against compares the variants of a sweep with one of them".to_owned(),
        hint: "name the folder of a sweep".to_owned(),
    })
}

/// Several runs in one figure.
fn of_runs(args: &Args, folders: &[PathBuf]) -> Result<(), Error> {
    refuse_against(args)?;
    if args.kinds.is_empty() {
        return Err(Error::Unfit {
            message: "several runs can be drawn only into figures that compare them".to_owned(),
            hint: format!("add --kind {}", FigureKind::comparing()),
        });
    }
    let mut runs: Vec<(String, RunReader)> = Vec::new();
    let last = |folder: &Path| folder.file_name().map(|name| name.to_string_lossy().into_owned());
    for folder in folders {
        // The last part of a path is enough, if no other run has it.
        let name = last(folder).filter(|name| {
            folders.iter().filter(|other| last(other).as_ref() == Some(name)).count() == 1
        });
        let name = name.unwrap_or_else(|| folder.display().to_string());
        runs.push((name, open_run(folder)?));
    }
    let mut known: Vec<String> = Vec::new();
    for (_, run) in &runs {
        known.extend(run.resources()?.into_iter().map(|resource| resource.provider));
    }
    check_providers(args, &known.iter().map(String::as_str).collect::<Vec<_>>(), "provider")?;
    let figures = figures(args, &[])?;
    let paths = paths(args, &figures, Path::new(""))?;
    for (figure, path) in figures.iter().zip(&paths) {
        draw_compared(figure, &runs, None, path)?;
        print(&format!("{}\n", path.display()))?;
    }
    Ok(())
}

fn check_providers(args: &Args, known: &[&str], what: &str) -> Result<(), Error> {
    let Some(unknown) = args.providers.iter().find(|name| !known.contains(&name.as_str())) else {
        return Ok(());
    };
    let hint = match nearest(unknown.as_str(), known.iter().copied()) {
        Some(near) => format!("did you mean \"{near}\"?"),
        None => format!("there is {}", known.join(", ")),
    };
    Err(Error::Unfit { message: format!("there is no {what} \"{unknown}\""), hint })
}

/// The figures to draw: the declared or the requested ones, changed by the options.
fn figures(args: &Args, declared: &[Figure]) -> Result<Vec<Figure>, Error> {
    let mut figures: Vec<Figure> = args.kinds.iter().map(|&kind| Figure::of_kind(kind)).collect();
    if figures.is_empty() {
        figures = declared.to_vec();
    }
    if figures.is_empty() {
        return Err(Error::Unfit {
            message: "the scenario declares no figures to draw here".to_owned(),
            hint: "name a kind, such as --kind gantt; `haggle list kinds` lists all kinds"
                .to_owned(),
        });
    }
    for figure in &mut figures {
        // Options win over the scenario; what no option names stays.
        if !args.providers.is_empty() {
            figure.providers = args.providers.clone();
        }
        if !args.jobs.is_empty() {
            figure.jobs = args.jobs.clone();
        }
        figure.labels = args.labels.or(figure.labels);
        figure.from = args.from.or(figure.from);
        figure.until = args.until.or(figure.until);
        // A flag without a value cannot turn off what the scenario turns on.
        figure.dates |= args.dates;
        figure.metric = args.metric.clone().or(figure.metric.take());
        if !args.metrics.is_empty() {
            figure.metrics = args.metrics.clone();
        }
        figure.label = args.label.clone().or(figure.label.take());
        figure.scale = args.scale.or(figure.scale);
        let legend = if args.no_legend { Some(LegendPlace::None) } else { args.legend };
        figure.legend = legend.or(figure.legend);
        figure.group_by = args.group_by.clone().or(figure.group_by.take());
        figure.x = args.x.clone().or(figure.x.take());
        figure.x_scale = args.x_scale.or(figure.x_scale);
        figure.y_scale = args.y_scale.or(figure.y_scale);
        figure.x_range = args.x_range.or(figure.x_range);
        figure.y_range = args.y_range.or(figure.y_range);
        figure.complement |= args.complement;
        figure.recorded |= args.recorded;
        if !args.against.is_empty() {
            let value = |(axis, value): &(String, String)| (axis.clone(), value.clone().into());
            figure.against = Some(args.against.iter().map(value).collect());
        }
        figure.size = args.size.or(figure.size);
        figure.title = args.title.clone().or(figure.title.take());
        figure.format = args.format.unwrap_or(figure.format);
        // Only now, because one of the two may be the scenario's.
        if let (Some(from), Some(until)) = (figure.from, figure.until)
            && figure.ends_before_it_starts()
        {
            return Err(Error::Unfit {
                message: format!("the figure ends at {until}, but starts at {from}"),
                hint: "swap --from and --until".to_owned(),
            });
        }
    }
    check_used(args, &figures)?;
    Ok(figures)
}

/// The end of the time that is drawn.
fn end(text: &str) -> Result<TimeSpan, String> {
    if text.strip_prefix('-').is_some_and(|it| it.parse::<TimeSpan>().is_ok()) {
        return Err(
            "a figure cannot end before the start of the run: write a time after it, such as 2d"
                .to_owned(),
        );
    }
    text.parse::<TimeSpan>().map_err(|error| error.to_string())
}

/// Each option must affect at least one figure, and fit every figure that uses it.
fn check_used(args: &Args, figures: &[Figure]) -> Result<(), Error> {
    let given = [
        ("metric", args.metric.is_some()),
        ("metrics", !args.metrics.is_empty()),
        ("label", args.label.is_some()),
        ("scale", args.scale.is_some()),
        ("legend", args.legend.is_some() || args.no_legend),
        ("labels", args.labels.is_some()),
        ("x", args.x.is_some()),
        ("x-scale", args.x_scale.is_some()),
        ("y-scale", args.y_scale.is_some()),
        ("x-range", args.x_range.is_some()),
        ("y-range", args.y_range.is_some()),
        ("complement", args.complement),
        ("recorded", args.recorded),
        ("job", !args.jobs.is_empty()),
        ("group-by", args.group_by.is_some()),
        ("providers", !args.providers.is_empty()),
        ("dates", args.dates),
        ("against", !args.against.is_empty()),
        ("from", args.from.is_some()),
        ("until", args.until.is_some()),
    ];
    for (key, _) in given.into_iter().filter(|(_, given)| *given) {
        let uses = |figure: &Figure| {
            // A gantt has its list of jobs in another key.
            let is_it = |name: &str| name == key || (key == "job" && name == "jobs");
            figure.keys().iter().any(|it| is_it(it.name) && it.used)
        };
        if !figures.iter().any(uses) {
            let mut kinds: Vec<String> =
                figures.iter().map(|figure| format!("\"{}\"", figure.kind.name())).collect();
            kinds.dedup();
            // The option names one provider each time, so its name is singular.
            let option = if key == "providers" { "provider" } else { key };
            let fitting = FigureKind::ALL.into_iter().filter(|&kind| uses(&Figure::of_kind(kind)));
            let fitting: Vec<&str> = fitting.map(FigureKind::name).collect();
            return Err(Error::Unfit {
                message: format!("{} does not use --{option}", kinds.join(", ")),
                hint: format!("remove it, or draw another --kind: {}", fitting.join(", ")),
            });
        }
    }
    if args.jobs.len() > 1 && !figures.iter().any(|figure| figure.kind.uses("jobs")) {
        return Err(Error::Unfit {
            message: format!("a figure shows one job, and {} are named", args.jobs.len()),
            hint: "name one, or mark several in a --kind gantt".to_owned(),
        });
    }
    if let Some(figure) = figures.iter().find(|it| it.kind.uses("metrics") && it.metrics.is_empty())
    {
        return Err(Error::Unfit {
            message: format!("\"{}\" needs metrics that add up", figure.kind.name()),
            hint: "add --metrics, such as --metrics useful-work,lost-work".to_owned(),
        });
    }
    match figures.iter().find_map(Figure::wrong_axes) {
        Some((_, message, hint)) => Err(Error::Unfit { message, hint }),
        None => Ok(()),
    }
}

/// True if a name has the extension of an image or page format that is not supported. Other
/// extensions may belong to the name of a folder.
fn is_other_image(path: &Path) -> bool {
    const OTHERS: [&str; 9] = ["eps", "ps", "jpg", "jpeg", "gif", "webp", "bmp", "tif", "tiff"];
    let ending = path.extension().map(|ending| ending.to_string_lossy().to_lowercase());
    ending.is_some_and(|ending| OTHERS.contains(&ending.as_str()))
}

/// File of each figure. If one of them exists, nothing is drawn.
fn paths(args: &Args, figures: &[Figure], folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let is_image = |path: &Path| haggle_plots::ImageFormat::of(path).is_ok();
    let paths: Vec<PathBuf> = match &args.output {
        Some(file) if is_image(file) => {
            if figures.len() > 1 {
                return Err(Error::Unfit {
                    message: format!(
                        "{} figures do not fit into one file, `{}`",
                        figures.len(),
                        file.display()
                    ),
                    hint: "name a folder with -o, or choose one figure with --kind".to_owned(),
                });
            }
            vec![file.clone()]
        }
        Some(file) if is_other_image(file) && !file.is_dir() => {
            return Err(Error::Unfit {
                message: format!(
                    "`{}` cannot be drawn: figures are .png, .svg or .pdf",
                    file.display()
                ),
                hint: "draw a .svg, which other programs convert to other formats".to_owned(),
            });
        }
        output => {
            let folder = output.as_deref().unwrap_or(folder);
            // The folder of a run exists; only a named one may be missing.
            if output.is_some() {
                let written = fs::create_dir_all(folder);
                written.map_err(|error| Error::Write { path: folder.to_owned(), error })?;
            }
            figures.iter().map(|figure| folder.join(file_name(figure))).collect()
        }
    };
    match paths.iter().find(|path| path.exists()) {
        Some(path) if !args.force => Err(Error::Exists(path.clone())),
        _ => Ok(paths),
    }
}
