//! The figures that a scenario declares, drawn from a run's folder.

use std::path::Path;

use haggle_plots::load::{self, By};
use haggle_plots::{Figure, PlotError, Quantity, Size};
use haggle_results::RunReader;

use super::ExperimentError;
use crate::scenario::file::{self, FigureKind, ImageFormat};

/// Draws `figure` of `run` into `folder` and returns the file's name.
///
/// # Errors
/// If the results cannot be read, hold nothing to draw, or the file cannot be written.
pub fn draw(
    figure: &file::Figure,
    run: &RunReader,
    folder: &Path,
) -> Result<String, ExperimentError> {
    let name = figure.name.as_ref().map_or(figure.kind.name(), |name| name.as_str());
    let ending = match figure.format {
        ImageFormat::Png => "png",
        ImageFormat::Svg => "svg",
    };
    let file = format!("{name}.{ending}");
    prepare(figure, run)
        .and_then(|drawing| drawing.draw(&folder.join(&file), Size::default()))
        .map_err(|error| ExperimentError::Figure { figure: name.to_owned(), error })?;
    Ok(file)
}

fn prepare(figure: &file::Figure, run: &RunReader) -> Result<Figure, PlotError> {
    let title = figure.title.clone().unwrap_or_default();
    Ok(match figure.kind {
        FigureKind::Gantt => Figure::Gantt(load::gantt(run, &title)?),
        FigureKind::Utilisation | FigureKind::QueueLength => {
            Figure::Timeline(load::timeline(run, &title, None)?)
        }
        FigureKind::WaitingEcdf => {
            let by = By::Provider;
            Figure::Distribution(load::distribution(run, &title, Quantity::WaitingTime, by)?)
        }
        _ => {
            let by = By::Provider;
            Figure::Distribution(load::distribution(run, &title, Quantity::BoundedSlowdown, by)?)
        }
    })
}
