//! Figures: the keys that each kind needs, and files that would overwrite each other.

use std::collections::BTreeSet;

use super::names::{Known, Names};
use super::{Check, list};
use crate::file::{AxisScale, Figure, FigureKey, FigureKind, Messages};
use crate::quantity::{AxisEnd, Name};
use crate::resolve::figure_names;
use haggle_config::document::Path;
use haggle_config::nearest;
use haggle_plots::JobName;

/// Groups that need no sweep.
const GROUPS: [&str; 4] = ["provider", "user", "class", "workload"];

/// Kinds of figures that use a key: `"bars" or "lines"`.
fn kinds_with(key: &str) -> String {
    let kinds = FigureKind::ALL.into_iter().filter(|kind| kind.uses(key));
    let kinds = Vec::from_iter(kinds.map(|kind| format!("\"{}\"", kind.name())));
    match kinds.split_last() {
        Some((last, others)) if !others.is_empty() => format!("{} or {last}", others.join(", ")),
        _ => kinds.concat(),
    }
}

impl Check<'_> {
    pub(super) fn check_figures(&mut self, names: &Names) {
        let resources = self.grid_names();
        let known: Known<'_> =
            names.provider_list().chain(resources.iter().map(String::as_str)).collect();
        let axes = self.scenario.sweep.iter().flat_map(|sweep| &sweep.axes);
        let axes: Vec<String> = axes.map(|axis| axis.title()).collect();
        let axes: Known<'_> = axes.iter().map(String::as_str).collect();
        let files = figure_names(&self.scenario.figures);
        for (index, figure) in self.scenario.figures.iter().enumerate() {
            let path = Path::root().key("figure").index(index);
            self.check_provider_list(
                &path.key("providers"),
                &figure.providers,
                &known,
                match self.scenario.owners_are() {
                    "site" => "resource or site",
                    words => words,
                },
            );
            self.check_world_of_figure(&path, figure);
            self.check_figure_keys(&path, figure);
            self.check_figure_axes(&path, figure, &axes);
            self.check_x_scale(&path, figure);
            self.doubt_marked_jobs(&path, figure);
            let messages = self.scenario.results.messages;
            if figure.kind.needs_messages() && messages != Messages::All {
                let kind = figure.kind.name();
                self.report(
                    &path.key("kind"),
                    format!("figure \"{kind}\" is drawn from messages, and they are not kept"),
                    "needs every message",
                    "set `messages = \"all\"` in [results]".to_owned(),
                );
            }
            if let (Some(from), Some(until)) = (figure.from, figure.until)
                && until <= from
            {
                self.report(
                    &path.key("until"),
                    format!("the figure ends at {until}, but starts at {from}"),
                    "not after `from`",
                    "swap `from` and `until`".to_owned(),
                );
            }
            if files[..index].contains(&files[index]) {
                self.report(
                    &path.key("name"),
                    format!("two figures are called \"{}\"", files[index].0),
                    "taken",
                    "give one of them another `name`".to_owned(),
                );
            }
        }
    }

    /// Warns of jobs of a workload that the scenario does not have: no run has such a job.
    fn doubt_marked_jobs(&mut self, path: &Path, figure: &Figure) {
        for (index, job) in figure.jobs.iter().enumerate() {
            let JobName::InWorkload(workload, _) = &job.0 else { continue };
            if self.directory.workload(workload).is_some() {
                continue;
            }
            let known: Vec<&str> =
                self.scenario.workloads.iter().map(|it| it.name.as_str()).collect();
            let help = match nearest(workload, known.iter().copied()) {
                Some(meant) => format!("did you mean \"{meant}\"?"),
                None => format!("the scenario has {}", list(&known)),
            };
            self.doubt(
                &path.key("jobs").index(index),
                format!("the figure is left out: no workload is called \"{workload}\""),
                "no such job",
                help,
            );
        }
    }

    /// The sites and resources of the grid, if a figure names any.
    fn grid_names(&self) -> Vec<String> {
        if self.scenario.figures.iter().all(|figure| figure.providers.is_empty()) {
            return Vec::new();
        }
        let sites = self.scenario.grid.iter().flat_map(|grid| &grid.sites);
        let clusters = self.scenario.plans.iter().flat_map(|plans| &plans.clusters);
        let clusters = clusters.map(|cluster| cluster.name.to_string());
        let sites = sites.flat_map(|site| site.resource_names().chain([site.name.to_string()]));
        sites.chain(clusters).collect()
    }

    /// Some figures fit only grids, whose jobs share resources, and others only providers, whose jobs do not.
    fn check_world_of_figure(&mut self, path: &Path, figure: &Figure) {
        let grid = self.scenario.grid.is_some();
        let kind = figure.kind.name();
        if let Some((shows, instead)) = figure.kind.unfit_for(self.scenario.shown()) {
            let (world, label, first) = match grid {
                true => ("jobs of a grid share theirs", "shows no grid", ""),
                false => ("the scenario has none", "needs a grid", "add [grid], or "),
            };
            self.report(
                &path.key("kind"),
                format!("figure \"{kind}\" {shows}, and {world}"),
                label,
                format!("{first}choose another kind, such as \"{instead}\""),
            );
        }
        let only_grid = grid && !self.scenario.shown().processors;
        if only_grid && figure.kind == FigureKind::QueueLength && !figure.providers.is_empty() {
            self.report(
                &path.key("providers"),
                "jobs of a grid wait at its scheduler, for any resource".to_owned(),
                "not used",
                "remove `providers`".to_owned(),
            );
        }
    }

    /// Reports unknown and repeated names in a list of providers or other places.
    pub(super) fn check_provider_list(
        &mut self,
        path: &Path,
        providers: &[Name],
        known: &Known<'_>,
        what: &str,
    ) {
        let mut seen = BTreeSet::new();
        for (index, provider) in providers.iter().enumerate() {
            if !known.contains(provider.as_str()) {
                self.unknown_name(&path.index(index), what, provider.as_str(), known);
            } else if !seen.insert(provider) {
                self.report(
                    &path.index(index),
                    format!("{what} \"{provider}\" is listed twice"),
                    "again",
                    "remove one of them".to_owned(),
                );
            }
        }
    }

    fn check_figure_keys(&mut self, path: &Path, figure: &Figure) {
        let kind = figure.kind.name();
        for FigureKey { name: key, given, needed, used } in figure.keys() {
            if needed && !given {
                let help = match key {
                    "x" => "add `x`: a sweep axis by its name",
                    "metrics" => "add `metrics`, a list of metrics that add up",
                    _ => "add `metric`, such as \"mean-bounded-slowdown\"",
                };
                let message = format!("figure \"{kind}\" has no `{key}`");
                self.report(
                    &path.key(key),
                    message,
                    &format!("`{key}` is missing here"),
                    help.to_owned(),
                );
            } else if given && !used {
                self.report(
                    &path.key(key),
                    format!("figure \"{kind}\" does not use `{key}`"),
                    "not used",
                    match key {
                        "from" | "until" | "providers" | "dates" | "y-range" => {
                            format!("remove `{key}`")
                        }
                        "metric" | "label" | "scale" | "x" | "group-by" | "against" => {
                            format!("remove `{key}`, or choose the kind \"bars\" or \"lines\"")
                        }
                        _ => {
                            format!("remove `{key}`, or choose the kind {}", kinds_with(key))
                        }
                    },
                );
            }
        }
        if let Some((key, why, help)) = figure.wrong_axes() {
            self.report(&path.key(key), why, "does not fit", help);
        }
    }

    /// A logarithmic axis needs numbers or times above 0.
    fn check_x_scale(&mut self, path: &Path, figure: &Figure) {
        let Some(x) = figure.x.as_ref().filter(|_| figure.x_scale == Some(AxisScale::Log)) else {
            return;
        };
        let mut axes = self.scenario.sweep.iter().flat_map(|sweep| &sweep.axes);
        let Some(axis) = axes.find(|axis| axis.title() == x.as_str()) else { return };
        let is_above = |value: &toml::Value| {
            let end = match value {
                toml::Value::String(text) => AxisEnd::read(text).map(AxisEnd::value),
                value => value.as_float().or(value.as_integer().map(|it| it as f64)),
            };
            end.is_some_and(|it| it > 0.0)
        };
        if !axis.variants.is_empty() || !axis.values.iter().all(is_above) {
            self.report(
                &path.key("x-scale"),
                format!("values of axis \"{x}\" have no logarithms"),
                "needs numbers or times above 0",
                "remove `x-scale`".to_owned(),
            );
        }
    }

    fn check_figure_axes(&mut self, path: &Path, figure: &Figure, axes: &Known<'_>) {
        if let Some(x) = &figure.x
            && !axes.contains(x.as_str())
        {
            self.unknown_name(&path.key("x"), "sweep axis", x.as_str(), axes);
        }
        if let (Some(group), Some(metric)) =
            (&figure.group_by, figure.measured().find(|metric| metric.is_whole()))
            && GROUPS.contains(&group.as_str())
            && !axes.contains(group.as_str())
        {
            let (metric, group) = (metric.name(), group.as_str());
            self.report(
                &path.key("group-by"),
                format!("\"{metric}\" belongs to the whole run, not to a {group}"),
                "no group has it",
                "remove `group-by`, or choose another `metric`".to_owned(),
            );
        }
        let is_axis = |name: &Name| axes.contains(name.as_str());
        let over_axis = [&figure.x, &figure.group_by].into_iter().flatten().any(is_axis);
        if figure.against.is_some() && !axes.is_empty() && !over_axis {
            self.report(
                &path.key("against"),
                "differences between runs of a sweep are drawn over one of its axes".to_owned(),
                "over which axis?",
                match figure.kind {
                    FigureKind::Bars => format!("add `group-by`, such as \"{}\"", axes.list()[0]),
                    _ => format!("add `x`, such as \"{}\"", axes.list()[0]),
                },
            );
        }
        let groups_by_axis =
            figure.group_by.as_ref().is_some_and(|group| axes.contains(group.as_str()));
        if let Some(metric) = &figure.metric
            && figure.kind.shows_spread()
            && figure.x.is_none()
            && !groups_by_axis
            && !metric.is_of_jobs()
        {
            self.report(
                &path.key("metric"),
                format!("\"{}\" has no value for each job", metric.name()),
                "one value a run",
                "add `x`, a sweep axis, or choose another `metric`, such as \"mean-waiting-time\""
                    .to_owned(),
            );
        }
        if let Some(group) = &figure.group_by {
            let axes = axes.list().iter().copied().filter(|_| figure.kind.measures());
            let jobs = (figure.kind == FigureKind::Gantt).then_some("job");
            let known: Known<'_> = GROUPS.into_iter().chain(jobs).chain(axes).collect();
            if !known.contains(group.as_str()) {
                self.unknown_name(
                    &path.key("group-by"),
                    "group or sweep axis",
                    group.as_str(),
                    &known,
                );
            }
        }
    }
}
