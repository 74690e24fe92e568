//! Figures: the keys that each kind needs, and files that would overwrite each other.

use std::collections::BTreeSet;

use super::exclusions::{FIGURES, Shows};
use super::names::{Known, Names};
use super::rule::{Refusal, Words, item, refuse};
use super::{Check, list};
use crate::file::{AxisScale, Figure, FigureKey, FigureKind, Messages};
use crate::quantity::{AxisEnd, Instant, Name, TimeSpan};
use crate::resolve::figure_names;
use haggle_config::document::Path;
use haggle_config::nearest;
use haggle_model::Time;
use haggle_plots::JobName;

/// Groups that need no sweep.
const GROUPS: [&str; 4] = ["provider", "user", "class", "workload"];

/// Facts about the rest of the scenario of a figure.
struct Beside {
    /// All messages are kept.
    keeps_all: bool,
    /// A figure before has the same name.
    taken: bool,
}

#[rustfmt::skip] // a table
const FIGURE: &[Refusal<Figure, Beside>] = &[
    refuse("kind", |it, at| it.kind.needs_messages() && !at.keeps_all, "figure \"{kind}\" is drawn from messages, and they are not kept",
        "needs every message", "set `messages = \"all\"` in [results]"),
    refuse("until", |it, _| it.ends_before_it_starts(),
        "the figure ends at {until}, but starts at {from}", "not after `from`", "swap `from` and `until`"),
    refuse("name", |_, at| at.taken, "two figures are called \"{file}\"", "taken", "give one of them another `name`"),
];

/// Facts about a figure and the axes of the sweep.
struct OverAxes {
    /// It shows a metric of the whole run.
    measures_whole: bool,
    /// There is an axis.
    any: bool,
    /// Its `x` is an axis.
    x: bool,
    /// Its groups are values of an axis.
    group: bool,
}

#[rustfmt::skip] // a table
const AXES: &[Refusal<Figure, OverAxes>] = &[
    refuse("group-by", |it, over| over.measures_whole && groups(it) && !over.group,
        "\"{whole}\" belongs to the whole run, not to a {group}", "no group has it", "remove `group-by`, or choose another `metric`"),
    refuse("against", |it, over| against_nothing(it, over) && it.kind == FigureKind::Bars,
        "differences between runs of a sweep are drawn over one of its axes", "over which axis?", "add `group-by`, such as \"{axis}\""),
    refuse("against", |it, over| against_nothing(it, over) && it.kind != FigureKind::Bars,
        "differences between runs of a sweep are drawn over one of its axes", "over which axis?", "add `x`, such as \"{axis}\""),
    refuse("metric", |it, over| spreads_one_value(it) && it.x.is_none() && !over.group, "\"{metric}\" has no value for each job",
        "one value a run", "add `x`, a sweep axis, or choose another `metric`, such as \"mean-waiting-time\""),
];

/// True if a figure has a group for each actor, class or workload.
fn groups(it: &Figure) -> bool {
    it.group_by.as_ref().is_some_and(|group| GROUPS.contains(&group.as_str()))
}

/// True if a figure compares runs of a sweep, but not over an axis.
fn against_nothing(it: &Figure, over: &OverAxes) -> bool {
    it.against.is_some() && over.any && !over.x && !over.group
}

/// True if a figure shows the spread of a metric with one value a run.
fn spreads_one_value(it: &Figure) -> bool {
    it.kind.shows_spread() && it.metric.as_ref().is_some_and(|metric| !metric.is_of_jobs())
}

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
        let axes = self.scenario.axis_names();
        let axes: Known<'_> = axes.iter().map(String::as_str).collect();
        let files = figure_names(&self.scenario.figures);
        for (index, figure) in self.scenario.figures.iter().enumerate() {
            let path = item("figure", index);
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
            self.doubt_sites(&path, figure);
            let keeps_all = self.scenario.results.messages == Messages::All;
            let facts = Beside { keeps_all, taken: files[..index].contains(&files[index]) };
            let from = figure.from.unwrap_or(Instant(Time::ZERO));
            let until = figure.until.unwrap_or(TimeSpan::ZERO);
            let words: Words<'_> = &[
                ("kind", &figure.kind.name()),
                ("from", &from),
                ("until", &until),
                ("file", &files[index].0),
            ];
            self.refuse(FIGURE, &path, (figure, &facts), words);
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

    /// Warns of figures of accounts and nodes if no provider has any.
    fn doubt_sites(&mut self, path: &Path, figure: &Figure) {
        let providers = &self.scenario.providers;
        let accounts = providers.iter().any(|it| !it.accounts.is_empty());
        let nodes = providers.iter().any(|it| !it.nodes.is_empty());
        let by_account = figure.group_by.as_ref().is_some_and(|it| it.as_str() == "account");
        let (key, lacks, add) = match figure.kind {
            FigureKind::UsageShares if !accounts => ("kind", "accounts", "account"),
            FigureKind::NodeUtilisation if !nodes => ("kind", "nodes", "node"),
            _ if by_account && !accounts => ("group-by", "accounts", "account"),
            _ => return,
        };
        self.doubt(
            &path.key(key),
            format!("the figure is left out: no provider has {lacks}"),
            "nothing to draw",
            format!("add `[[provider.{add}]]`, or remove the figure"),
        );
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
        let shown = self.scenario.shown();
        let unfit = figure.kind.unfit_for(shown);
        let facts = Shows { unfit: unfit.is_some(), grid, only_grid: grid && !shown.processors };
        let (shows, instead) = unfit.unwrap_or_default();
        let kind = figure.kind.name();
        let words: Words<'_> = &[("kind", &kind), ("shows", &shows), ("instead", &instead)];
        self.refuse(FIGURES, path, (figure, &facts), words);
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
                let message = format!("{what} \"{provider}\" is listed twice");
                self.report(&path.index(index), message, "again", "remove one of them");
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
                self.report(&path.key(key), message, &format!("`{key}` is missing here"), help);
            } else if given && !used {
                let instead = match key {
                    "from" | "until" | "providers" | "dates" | "y-range" => String::new(),
                    "metric" | "label" | "scale" | "x" | "group-by" | "against" => {
                        ", or choose the kind \"bars\" or \"lines\"".to_owned()
                    }
                    _ => format!(", or choose the kind {}", kinds_with(key)),
                };
                let message = format!("figure \"{kind}\" does not use `{key}`");
                self.report(
                    &path.key(key),
                    message,
                    "not used",
                    format!("remove `{key}`{instead}"),
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
            let message = format!("values of axis \"{x}\" have no logarithms");
            let label = "needs numbers or times above 0";
            self.report(&path.key("x-scale"), message, label, "remove `x-scale`");
        }
    }

    fn check_figure_axes(&mut self, path: &Path, figure: &Figure, axes: &Known<'_>) {
        if let Some(x) = figure.x.as_ref().filter(|x| !axes.contains(x.as_str())) {
            self.unknown_name(&path.key("x"), "sweep axis", x.as_str(), axes);
        }
        let is_axis = |name: &&Name| axes.contains(name.as_str());
        let whole = figure.measured().find(|metric| metric.is_whole());
        let (group, x) = (figure.group_by.as_ref(), figure.x.as_ref());
        let facts = OverAxes {
            measures_whole: whole.is_some(),
            any: !axes.is_empty(),
            x: x.is_some_and(|it| is_axis(&it)),
            group: group.is_some_and(|it| is_axis(&it)),
        };
        let whole = whole.map_or("", |metric| metric.name());
        let words: Words<'_> = &[
            ("whole", &whole),
            ("metric", &figure.metric.as_ref().map_or("", |it| it.name())),
            ("group", &group.map_or("", Name::as_str)),
            ("axis", &axes.list().first().copied().unwrap_or_default()),
        ];
        self.refuse(AXES, path, (figure, &facts), words);
        let Some(group) = group else { return };
        let axes = axes.list().iter().copied().filter(|_| figure.kind.measures());
        let groups = figure.kind.groups(figure.x.is_some()).iter().copied();
        let known: Known<'_> = groups.chain(axes).collect();
        if !known.contains(group.as_str()) {
            let at = path.key("group-by");
            self.unknown_name(&at, "group or sweep axis", group.as_str(), &known);
        }
    }
}
