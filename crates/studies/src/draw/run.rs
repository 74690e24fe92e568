//! A chart of one run: the first replication of a point of a sweep.

use std::path::Path;
use std::rc::Rc;

use haggle_plots::load::Tables;
use haggle_results::RunReader;

use super::{DrawError, Drawn, meant, point};
use crate::catalogue::{Draw, Figure};
use crate::data::Data;
use haggle_experiment::figures;

/// Draws the figure's `plot` of a run.
pub(super) fn draw(
    figure: &Figure,
    how: &Draw,
    sources: &[Rc<Data>],
    image: &Path,
) -> Result<Drawn, DrawError> {
    let unfit = |problem: String| DrawError::Unfit { figure: figure.name.clone(), problem };
    let Some(plot) = &how.plot else { return Err(unfit("it has no `plot`".to_owned())) };
    let mut plot = plot.clone();
    plot.title = plot.title.or_else(|| how.title.clone()).or_else(|| Some(figure.about.clone()));
    let part = how.part();
    let data = meant(part.sweep.as_deref(), sources).map_err(unfit)?;
    let folder = data.folder_at(&point(&part)).map_err(|error| unfit(error.to_string()))?;
    let run = RunReader::open(folder)?;
    figures::draw(&plot, &Tables::new(&run), image)?;
    Ok(Drawn { image: Some(image.to_owned()), numbers: folder.to_owned(), table: Vec::new() })
}
