//! From a file to runs: a scenario is read, varied along the axes of its sweep, and repeated with consecutive
//! seeds.

use std::collections::BTreeSet;
use std::path::PathBuf;

use crate::Rules;
use haggle_results::folder_of_run;
use haggle_results::sweep::axis_column;
use serde::Deserialize;

use super::check::{Check, Uses};
use super::file::{Axis, Figure, Name, seed_after};
use super::inherit::inherit;
use super::problem::DRIFT;
use super::resolve::{fill_rules, resolve, resolve_sweep};
use super::schema::conform;
use super::{InvalidScenario, Logs, Problem, Scenario, Source, Warning, Warnings};
use haggle_config::document::{self, Node, Path};
use haggle_config::{Findings, Lines};

mod axis;
mod folder;
mod later;
mod overridden;
mod reference;

use axis::{Place, text_of};

pub use reference::References;

/// A scenario file, read, checked and expanded into the variants of its sweep; one variant without a sweep.
#[derive(Clone, Debug, PartialEq)]
pub struct Experiment {
    /// Scenario as written, with every default and its sweep.
    pub scenario: Scenario,
    /// Variants of the scenario, with the last axis varying fastest; one without a sweep.
    pub variants: Vec<Variant>,
    /// Runs of each variant.
    pub replications: u32,
    /// Figures over the axes of the sweep. Figures of single runs are in the variants.
    pub figures: Vec<Figure>,
    /// Warnings about values that no variant reads, and about doubtful ones.
    pub warnings: Warnings,
}

/// A resolved scenario without a sweep, and its values on the axes.
#[derive(Clone, Debug, PartialEq)]
pub struct Variant {
    /// Unique name: its folder inside that of the sweep, or the name of the scenario if there are no axes.
    pub label: String,
    /// Value on each axis, in the order of the axes.
    pub settings: Vec<Setting>,
    /// Scenario that is run.
    pub scenario: Scenario,
    /// Messages of warnings that hold for this variant.
    pub warnings: Vec<String>,
}

/// Value of a variant on an axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Setting {
    /// Name of the axis.
    pub axis: String,
    /// The value.
    pub value: toml::Value,
}

impl Setting {
    /// Value as in a column of the results: strings without quotes.
    pub fn text(&self) -> String {
        text_of(&self.value)
    }

    /// Name of the axis as a column beside those of a table, or in the name of a folder.
    pub fn column(&self) -> String {
        axis_column(&self.axis)
    }
}

impl Variant {
    /// Folder of the variant inside that of the sweep, `policy=easy/load=0.6`; empty without axes.
    pub fn folder(&self) -> &str {
        if self.settings.is_empty() { "" } else { &self.label }
    }
}

/// One run: a variant with a seed.
#[derive(Clone, Debug, PartialEq)]
pub struct Run<'e> {
    /// Number of the run, from 0.
    pub number: usize,
    /// Variant that is run. The seed in its scenario is that of the first replication.
    pub variant: &'e Variant,
    /// Seed of this run.
    pub seed: u64,
}

impl Run<'_> {
    /// Folder of the run inside that of the experiment: `policy=easy/load=0.6/seed=1`. Pandas, Polars and DuckDB
    /// read its parts as columns.
    pub fn folder(&self) -> PathBuf {
        folder_of_run(self.variant.folder(), self.seed).into()
    }

    /// Scenario of this run, with its seed.
    pub fn scenario(&self) -> Scenario {
        let mut scenario = self.variant.scenario.clone();
        scenario.reseed(self.seed);
        scenario
    }
}

impl Experiment {
    /// Reads, checks and expands a scenario that names no rules of one's own.
    ///
    /// # Errors
    /// All problems together, each with its place in the text.
    pub fn read(source: Source, logs: Logs) -> Result<Experiment, InvalidScenario> {
        Experiment::read_with(source, logs, &Rules::new())
    }

    /// Reads, checks and expands a scenario that may name these rules of one's own.
    ///
    /// # Errors
    /// All problems together, each with its place in the text.
    pub fn read_with(
        source: Source,
        logs: Logs,
        own: &Rules,
    ) -> Result<Experiment, InvalidScenario> {
        Experiment::read_all(source, logs, own).map_err(InvalidScenario::with_help)
    }

    fn read_all(source: Source, logs: Logs, own: &Rules) -> Result<Experiment, InvalidScenario> {
        let mut root = match document::parse(&source.text) {
            Ok(root) => root,
            Err(problems) => return Err(InvalidScenario::new(source, problems)),
        };
        // Before `settle`, because the settings of this file hold for inherited values, too.
        if let Err(problem) = inherit(&mut root, &source, axis::settle) {
            return Err(InvalidScenario::new(source, vec![problem]));
        }
        let mut findings = axis::settle(&mut root);
        let scenario = match Scenario::deserialize(root.to_toml()) {
            Ok(scenario) => Scenario { own: own.clone(), ..scenario.count_processors() },
            Err(error) => {
                findings.problems.push(drift(&error));
                return Err(InvalidScenario::new(source, findings.problems));
            }
        };
        let mut places = axis::places(&scenario, &root, &mut findings);
        places.extend(axis::branches(&scenario, &root, &mut findings));
        reference::check(&scenario, &root, &places, &mut findings);
        let overridden = overridden::check(&places, &root, &mut findings);
        let combinations = combinations(&scenario, &places, &mut findings);
        let lines = Lines::of(&source.text);
        let reading =
            Reading { source: &source, lines: &lines, logs, own, root: &root, places: &places };
        let (variants, mut warnings) = reading.variants(&combinations, &mut findings);
        warnings.extend(overridden);
        // Only now, so that all problems are told together.
        if !findings.problems.is_empty() {
            return Err(InvalidScenario::new(source, findings.problems));
        }
        let names = scenario.axis_names();
        // Resolved first, so that figures without a name have one.
        let (figures, _) = split_figures(resolve(scenario.clone(), &source).figures, &names);
        Ok(Experiment {
            replications: scenario.sweep.as_ref().map_or(1, |sweep| sweep.replications),
            scenario: resolve_sweep(scenario, &source),
            variants,
            figures,
            warnings: Warnings::new(source, warnings),
        })
    }

    /// Logs and records that a scenario names by a variable, `$NAME/…`, in any of its variants. Variants are not
    /// built for that: there may be thousands. Problems of the scenario are not reported here, but when it is
    /// read.
    pub fn logs(source: &Source) -> BTreeSet<String> {
        let mut logs = BTreeSet::new();
        if let Ok(mut root) = document::parse(&source.text)
            && inherit(&mut root, source, axis::settle).is_ok()
        {
            axis::settle(&mut root);
            root.texts(&mut |text| {
                if text.starts_with('$') {
                    logs.insert(text.to_owned());
                }
            });
        }
        logs
    }

    /// All runs, in order of their numbers: variants in order, then seeds.
    pub fn runs(&self) -> impl Iterator<Item = Run<'_>> {
        let replications = self.replications;
        // All variants have the same consecutive seeds, so that points differ only in the varied quantities.
        let seeds = move |variant| (0..replications).map(move |replication| (variant, replication));
        self.variants.iter().flat_map(seeds).enumerate().map(|(number, (variant, replication))| {
            Run {
                number,
                variant,
                seed: seed_after(variant.scenario.scenario.seed, replication.into()),
            }
        })
    }
}

impl Axis {
    /// Name of the axis, or the last key of its path.
    pub fn title(&self) -> String {
        let path = self.path.as_deref().unwrap_or("axis");
        let last = || path.rsplit('.').next().unwrap_or_default().to_owned();
        self.name.as_ref().map_or_else(last, ToString::to_string)
    }
}

impl Scenario {
    /// Names of the axes of its sweep; the last one is that of the branches, if there are any.
    pub fn axis_names(&self) -> Vec<String> {
        let axes = self.sweep.iter().flat_map(|sweep| &sweep.axes).map(Axis::title);
        let branch = (!self.branches.is_empty()).then(|| axis::BRANCH.to_owned());
        axes.chain(branch).collect()
    }
}

/// Indices of the values of each variant on the axes. If a sweep has too many runs, only as many combinations as
/// are needed to check every value once.
fn combinations(scenario: &Scenario, places: &[Place], findings: &mut Findings) -> Vec<Vec<usize>> {
    // Branches make a sweep of a scenario without one.
    let sweep = scenario.sweep.clone().unwrap_or_default();
    let count =
        places.iter().fold(1_u64, |count, place| count.saturating_mul(place.values.len() as u64));
    // Saturating, because a few long axes exceed any number.
    let runs = count.saturating_mul(sweep.replications.into());
    if runs > sweep.max_runs.into() {
        findings.problems.push(Problem {
            message: format!("the sweep has {runs} runs, more than {}", sweep.max_runs),
            span: axis::sweep_place(places),
            label: format!("{count} variants x {} replications", sweep.replications),
            help: Some(format!("vary less, or set `max-runs = {runs}`")),
        });
        let longest = places.iter().map(|place| place.values.len()).max().unwrap_or(1);
        let each =
            // A shorter axis stays at its last value.
            |turn: usize| places.iter().map(|place| turn.min(place.values.len() - 1)).collect();
        return (0..longest).map(each).collect();
    }
    // One empty combination, so that a sweep without axes has a variant.
    let mut combinations = vec![Vec::new()];
    for place in places {
        let with = |chosen: &Vec<usize>| -> Vec<Vec<usize>> {
            (0..place.values.len()).map(|index| [chosen.as_slice(), &[index]].concat()).collect()
        };
        combinations = combinations.iter().flat_map(with).collect();
    }
    combinations
}

/// A document from which variants are made.
struct Reading<'a> {
    source: &'a Source,
    lines: &'a Lines<'a>,
    logs: Logs,
    own: &'a Rules,
    root: &'a Node,
    places: &'a [Place],
}

impl Reading<'_> {
    /// Variants, and warnings about values that none of them reads.
    fn variants(
        &self,
        combinations: &[Vec<usize>],
        findings: &mut Findings,
    ) -> (Vec<Variant>, Vec<Warning>) {
        let mut variants = Vec::new();
        let mut problems = Vec::new();
        let mut known = BTreeSet::new();
        let mut read = BTreeSet::new();
        let mut unread = Vec::new();
        let frame = axis::frame(self.root);
        for combination in combinations {
            let mut root = frame.clone();
            Place::set(self.places, combination, &mut root);
            // Without axes, the document has been checked already.
            let own = if self.places.is_empty() { Findings::default() } else { conform(&mut root) };
            let replaced: Vec<Path> =
                findings.replaced.iter().chain(&own.replaced).cloned().collect();
            problems.extend(own.problems);
            let scenario = match Scenario::deserialize(root.to_toml()) {
                Ok(scenario) => Scenario { own: self.own.clone(), ..scenario.count_processors() },
                Err(error) => {
                    problems.push(drift(&error));
                    continue;
                }
            };
            let Reading { source, lines, logs, .. } = *self;
            let directory = scenario.directory();
            let check = Check {
                scenario: &scenario,
                directory: &directory,
                source,
                lines,
                root: &root,
                replaced: &replaced,
                logs,
                is_start: true,
                added_failures: 0,
                problems: Vec::new(),
                unset: BTreeSet::new(),
                uses: Uses::default(),
            };
            let (found, mut uses) = check.run();
            // Later scenarios would only repeat the problems of an earlier one.
            let later = if found.is_empty() && findings.problems.is_empty() {
                self.later(&root, &scenario, &mut problems, &mut uses.doubts)
            } else {
                Vec::new()
            };
            problems.extend(found);
            // Variants share most of their mistakes, so each is reported once.
            let place = |it: &Problem| (it.span.start, it.span.end, it.message.clone());
            let is_new = |problem: &Problem| known.insert(place(problem));
            findings.problems.extend(problems.drain(..).filter(is_new));
            read.append(&mut uses.read);
            unread.push((uses.unread, uses.doubts));
            let mut variant = self.variant(resolve(scenario, source), combination);
            for (change, later) in variant.scenario.changes.iter_mut().zip(later) {
                change.scenario = Some(Box::new(self.single(resolve(later, source))));
            }
            variants.push(variant);
        }
        // Problems of variants that could not be read have not been reported yet.
        findings.problems.append(&mut problems);
        let mut warnings = Vec::new();
        for (variant, (unread, doubts)) in variants.iter_mut().zip(unread) {
            // A value that another variant reads has an effect and gives no warning.
            let unread = unread.into_iter().filter(|(written, _)| !read.contains(written));
            let (of_sweep, of_run): (Vec<_>, Vec<_>) =
                unread.partition(|((key, ..), _)| key == REPLICATIONS);
            let of_run = of_run.into_iter().map(|(_, warning)| warning).chain(doubts);
            let found: Vec<Warning> = of_run.collect();
            // Replications do not change a run, so its summary has no warning about them.
            variant.warnings = messages(found.iter());
            warnings.extend(found.into_iter().chain(of_sweep.into_iter().map(|it| it.1)));
        }
        (variants, warnings)
    }

    /// A resolved scenario without its sweep, its branches and the figures over them.
    fn single(&self, mut scenario: Scenario) -> Scenario {
        let names = scenario.axis_names();
        // After `axis_names`, which reads both.
        scenario.sweep = None;
        scenario.branches.clear();
        // Only here, because the sweep may vary the preset of the rules.
        fill_rules(&mut scenario);
        scenario.figures = split_figures(scenario.figures, &names).1;
        scenario
    }

    fn variant(&self, scenario: Scenario, combination: &[usize]) -> Variant {
        let scenario = self.single(scenario);
        let settings: Vec<Setting> = self
            .places
            .iter()
            .zip(combination)
            .map(|(place, &index)| Setting {
                axis: place.axis.clone(),
                value: place.values[index].to_toml(),
            })
            .collect();
        let folders: Vec<String> = settings
            .iter()
            .zip(combination)
            .map(|(setting, &place)| folder::of_value(&setting.axis, &setting.text(), place))
            .collect();
        let name = scenario.scenario.name.as_ref().map_or("scenario", |name| name.as_str());
        let label = if folders.is_empty() { name.to_owned() } else { folders.join("/") };
        Variant { label, settings, scenario, warnings: Vec::new() }
    }
}

/// Key of a sweep with the number of replications.
const REPLICATIONS: &str = "replications";

/// Messages of warnings, without their places, each once.
fn messages<'w>(warnings: impl Iterator<Item = &'w Warning>) -> Vec<String> {
    let mut messages: Vec<String> = Vec::new();
    for warning in warnings {
        if !messages.contains(&warning.message) {
            messages.push(warning.message.clone());
        }
    }
    messages
}

/// Figures over the axes of a sweep, and figures of single runs. An axis may have the same name as a group of jobs
/// of one run.
fn split_figures(figures: Vec<Figure>, axes: &[String]) -> (Vec<Figure>, Vec<Figure>) {
    figures.into_iter().partition(|figure| {
        let used = [&figure.x, &figure.group_by];
        let names_axis = |name: &Name| axes.iter().any(|axis| axis == name.as_str());
        let over_axis = used.into_iter().flatten().any(names_axis);
        figure.kind.measures() && (over_axis || figure.against.is_some())
    })
}

/// Problem for a document that fits the schema, but not serde: an error of the program, not of the author.
fn drift(error: &toml::de::Error) -> Problem {
    Problem {
        message: format!("the scenario cannot be read: {}", error.message()),
        span: 0..0,
        label: "somewhere in this file".into(),
        help: Some(format!("{DRIFT}: its schema lets this pass; please report it")),
    }
}
