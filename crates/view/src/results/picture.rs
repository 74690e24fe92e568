//! Pictures, drawn from the tables by the same code as `haggle plot`.

use haggle_experiment::ExperimentError;
use haggle_experiment::figures::picture_of;
use haggle_model::{Span, Time};
use haggle_plots::load::Tables;
use haggle_results::{ResourceRow, RunReader, Table};
use haggle_scenario::file::{Figure, FigureKind, ImageFormat, Shown};
use haggle_scenario::quantity::{Instant, Name, PictureSize, TimeSpan};

use super::{Data, jobs};
use crate::Refusal;
use crate::jobs::Column;
use crate::view::{Picture, PictureQuery};

/// Most jobs of a run that is drawn: figures hold all rows of their tables.
const JOBS_MAX: usize = 200_000;

/// Longest name of a run that is drawn, bytes: each row of a figure has its names.
const NAME_MAX: usize = 1_000;

/// Kinds that can be drawn of a run.
pub(super) fn kinds(run: &RunReader) -> Vec<&'static str> {
    let tables = Tables::new(run);
    let Ok(shown) = Shown::of(&tables) else { return Vec::new() };
    let has_accounts =
        tables.about().is_ok_and(|it| it.sites.values().any(|it| !it.accounts.is_empty()));
    let can = |kind: &FigureKind| {
        kind.unfit_for(shown).is_none()
            && !kind.measures()
            && (!kind.needs_messages() || run.has(Table::Messages))
            && (!kind.needs_transactions() || run.has(Table::Transactions))
            && (*kind != FigureKind::WorkflowTimeline || run.has(Table::Workflows))
            && (*kind != FigureKind::NodeUtilisation || run.has(Table::Nodes))
            && (*kind != FigureKind::UsageShares || has_accounts)
    };
    FigureKind::ALL.into_iter().filter(can).map(FigureKind::name).collect()
}

/// A picture.
pub(super) fn draw(data: &Data, query: &PictureQuery) -> Result<Picture, Refusal> {
    let run = data.run()?;
    let figure = figure(query)?;
    // Without the table of jobs, the drawing names the problem.
    if jobs::column(data, "job").is_ok_and(|it| it.len() > JOBS_MAX) {
        return Err(Refusal::conflict(
            format!("the run has more than {JOBS_MAX} jobs"),
            "draw it by `haggle plot`, which may use more memory",
        ));
    }
    if has_long_names(data, run) {
        return Err(Refusal::conflict(
            format!("a name in the tables of the run has more than {NAME_MAX} bytes"),
            "draw it by `haggle plot`, which may use more memory",
        ));
    }
    let bytes = picture_of(&figure, &Tables::new(run)).map_err(|error| match error {
        ExperimentError::Figure { error, .. } => refused(&error.to_string()),
        error => refused(&error.to_string()),
    })?;
    let media_type = match figure.format {
        ImageFormat::Png => "image/png",
        ImageFormat::Svg => "image/svg+xml",
        ImageFormat::Pdf => "application/pdf",
    };
    Ok(Picture { media_type, bytes })
}

/// True if the rows of figures would repeat a very long name.
fn has_long_names(data: &Data, run: &RunReader) -> bool {
    let is_long = |name: &str| name.len() > NAME_MAX;
    let of_jobs = |name| match jobs::column(data, name).as_deref() {
        Ok(Column::Text { texts, .. }) => texts.iter().any(|it| is_long(it)),
        _ => false,
    };
    let of_resource = |it: &ResourceRow| {
        is_long(&it.provider) || is_long(&it.scheduler) || it.site.as_deref().is_some_and(is_long)
    };
    ["workload_name", "provider", "outcome", "shape", "class"].into_iter().any(of_jobs)
        || run.resources().is_ok_and(|all| all.iter().any(of_resource))
}

fn refused(error: &str) -> Refusal {
    Refusal::conflict(error, "choose another kind of figure, or another part of the run")
}

/// The figure of a request.
fn figure(query: &PictureQuery) -> Result<Figure, Refusal> {
    let wrong = |what: &str, help: &str| Refusal::wrong(what, help);
    let kind = FigureKind::ALL.into_iter().find(|it| it.name() == query.kind);
    let kind = kind.ok_or_else(|| {
        wrong(
            &format!("there is no kind of figure `{}`", query.kind),
            "`haggle list kinds` lists them",
        )
    })?;
    let format = [ImageFormat::Png, ImageFormat::Svg, ImageFormat::Pdf];
    let format = format.into_iter().find(|it| it.name() == query.format);
    let format = format.ok_or_else(|| {
        wrong(&format!("there is no format `{}`", query.format), "use png, svg or pdf")
    })?;
    let size = match (query.width, query.height) {
        (Some(width), Some(height)) => Some(PictureSize::Pixels(width, height)),
        (None, None) => None,
        _ => return Err(wrong("`width` and `height` belong together", "give both or none")),
    };
    let provider = query.provider.as_ref().filter(|_| kind.uses("providers"));
    let provider = provider.map(|it| it.parse::<Name>()).transpose();
    let provider = provider.map_err(|_| {
        wrong("the provider has a name that figures cannot use", "draw all providers")
    })?;
    let from = query.from.filter(|_| kind.uses("from"));
    let from = from.map(|it| Instant(Time::from_micros(it)));
    let until = query.to.filter(|_| kind.uses("until"));
    let until = until.map(|it| TimeSpan(Span::from_micros(it.max(0))));
    Ok(Figure {
        format,
        size,
        providers: provider.into_iter().collect(),
        job: query.job.filter(|_| kind.uses("job") || kind.uses("jobs")),
        from,
        until,
        ..Figure::of_kind(kind)
    })
}
