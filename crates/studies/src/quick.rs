//! Reduces replications and values of axes for a quick reproduction. All reductions are reported.

use super::catalogue::Quick;
use super::data::same;
use haggle_scenario::Experiment;

/// Reductions of a sweep.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cuts {
    /// Remaining replications and all replications; missing if none were left out.
    pub replications: Option<(u32, u32)>,
    /// Axes of which values were left out.
    pub axes: Vec<CutAxis>,
}

/// An axis of which values were left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CutAxis {
    /// Its name.
    pub name: String,
    /// Number of remaining values.
    pub left: usize,
    /// Values that were left out.
    pub cut: Vec<String>,
}

impl Cuts {
    /// Describes the reductions; `None` if there are none.
    pub fn text(&self) -> Option<String> {
        let replications =
            self.replications.map(|(left, of)| format!("{left} of {of} replications"));
        let axis = |axis: &CutAxis| {
            let CutAxis { name, left, cut } = axis;
            format!("{left} of {} values of {name}", left + cut.len())
        };
        let parts: Vec<String> =
            replications.into_iter().chain(self.axes.iter().map(axis)).collect();
        (!parts.is_empty()).then(|| parts.join(", "))
    }
}

/// Reduces an experiment.
///
/// # Errors
/// The axis that would have no value left.
pub fn cut(experiment: &mut Experiment, quick: &Quick) -> Result<Cuts, String> {
    let mut cuts = Cuts::default();
    let all = experiment.replications;
    if let Some(left) = quick.replications.filter(|&left| left < all) {
        cuts.replications = Some((left, all));
        experiment.replications = left;
    }
    let sweep = experiment.scenario.sweep.iter_mut();
    for sweep in sweep {
        sweep.replications = experiment.replications;
        for axis in &mut sweep.axes {
            let name = axis.title();
            let Some(kept) = quick.axes.get(&name) else { continue };
            let kept: Vec<String> = kept.iter().map(text).collect();
            let stays = |value: &str| kept.iter().any(|kept| same(kept, value));
            // An axis has either values or variants, which are selected by name.
            let values = axis.values.iter().map(text);
            let all = values.chain(axis.variants.iter().map(|it| it.name.to_string()));
            let (left, cut): (Vec<String>, Vec<String>) = all.partition(|value| stays(value));
            axis.values.retain(|value| stays(&text(value)));
            axis.variants.retain(|variant| stays(&variant.name.to_string()));
            if left.is_empty() {
                return Err(name);
            }
            if !cut.is_empty() {
                cuts.axes.push(CutAxis { name, left: left.len(), cut });
            }
        }
    }
    // Variants were made of all values when the experiment was read, so they are cut here as well.
    experiment.variants.retain(|variant| {
        variant.settings.iter().all(|setting| {
            let mut axes = cuts.axes.iter().filter(|axis| axis.name == setting.axis);
            axes.all(|axis| !axis.cut.contains(&setting.text()))
        })
    });
    Ok(cuts)
}

/// A value as text, as in settings.
fn text(value: &toml::Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
