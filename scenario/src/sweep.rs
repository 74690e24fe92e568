//! From a file to runs: a scenario is read, varied along the axes of its sweep
//! and repeated with consecutive seeds.

use std::collections::BTreeSet;
use std::path::PathBuf;

use haggle_results::folder_of_run;
use haggle_results::sweep::axis_column;
use haggle_scheduling::own::Rules;
use serde::Deserialize;

use super::check::{Check, Uses};
use super::file::{Axis, Figure, Name};
use super::inherit::inherit;
use super::problem::DRIFT;
use super::resolve::{fill_rules, resolve};
use super::schema::conform;
use super::{InvalidScenario, Logs, Problem, Scenario, Source, Warning, Warnings};
use haggle_config::document::{self, Node, Path};
use haggle_config::{Findings, Lines};

mod axis;
mod folder;
mod overridden;
mod reference;

use axis::{Place, text_of};

pub use reference::References;

/// A scenario file, read, checked and expanded: the variants of a sweep, or just one.
#[derive(Clone, Debug, PartialEq)]
pub struct Experiment {
    /// The scenario as written with every default, its sweep included.
    pub scenario: Scenario,
    /// The scenarios it expands into, the last axis varying fastest; one without a sweep.
    pub variants: Vec<Variant>,
    /// Runs of each variant.
    pub replications: u32,
    /// Figures over the axes of the sweep; those of single runs are in the variants.
    pub figures: Vec<Figure>,
    /// What it says that no variant reads.
    pub warnings: Warnings,
}

/// A resolved scenario without a sweep, and what makes it different from the others.
#[derive(Clone, Debug, PartialEq)]
pub struct Variant {
    /// Unique name: its folder inside the sweep's, or without axes what the scenario is called.
    pub label: String,
    /// The value on each axis, in the order of the axes.
    pub settings: Vec<Setting>,
    /// What is run.
    pub scenario: Scenario,
    /// What of it has no effect, in this variant as in all others.
    pub warnings: Vec<String>,
}

/// The value of a variant on an axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Setting {
    /// Name of the axis.
    pub axis: String,
    /// The value.
    pub value: toml::Value,
}

impl Setting {
    /// The value as a column of the results has it: strings without quotes.
    pub fn text(&self) -> String {
        text_of(&self.value)
    }

    /// What a column beside those of a table, or the name of a folder, calls the axis.
    pub fn column(&self) -> String {
        axis_column(&self.axis)
    }
}

impl Variant {
    /// Its folder inside the sweep's, `policy=easy/load=0.6`; empty without axes.
    pub fn folder(&self) -> &str {
        if self.settings.is_empty() { "" } else { &self.label }
    }
}

/// One run: a variant with a seed.
#[derive(Clone, Debug, PartialEq)]
pub struct Run<'e> {
    /// Number of the run, from 0.
    pub number: usize,
    /// What is run; its own seed is that of the first replication.
    pub variant: &'e Variant,
    /// Seed of this run.
    pub seed: u64,
}

impl Run<'_> {
    /// Folder of the run inside the experiment's: `policy=easy/load=0.6/seed=1`, which
    /// pandas, Polars and DuckDB read as columns.
    pub fn folder(&self) -> PathBuf {
        folder_of_run(self.variant.folder(), self.seed).into()
    }

    /// The scenario of exactly this run, its seed included.
    pub fn scenario(&self) -> Scenario {
        let mut scenario = self.variant.scenario.clone();
        scenario.scenario.seed = self.seed;
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
        if let Err(problem) = inherit(&mut root, &source, axis::settle) {
            return Err(InvalidScenario::new(source, vec![problem]));
        }
        let mut findings = axis::settle(&mut root);
        let scenario = match Scenario::deserialize(root.to_toml()) {
            Ok(scenario) => Scenario { own: own.clone(), ..scenario },
            Err(error) => {
                findings.problems.push(drift(&error));
                return Err(InvalidScenario::new(source, findings.problems));
            }
        };
        let places = axis::places(&scenario, &root, &mut findings);
        reference::check(&scenario, &root, &places, &mut findings);
        let overridden = overridden::check(&places, &root, &mut findings);
        let combinations = combinations(&scenario, &places, &mut findings);
        let lines = Lines::of(&source.text);
        let reading =
            Reading { source: &source, lines: &lines, logs, own, root: &root, places: &places };
        let (variants, mut warnings) = reading.variants(&combinations, &mut findings);
        warnings.extend(overridden);
        if !findings.problems.is_empty() {
            return Err(InvalidScenario::new(source, findings.problems));
        }
        let names = axis_names(&scenario);
        let (figures, _) = split_figures(resolve(scenario.clone(), &source).figures, &names);
        Ok(Experiment {
            replications: scenario.sweep.as_ref().map_or(1, |sweep| sweep.replications),
            scenario: resolve(scenario, &source),
            variants,
            figures,
            warnings: Warnings::new(source, warnings),
        })
    }

    /// The logs and records that a scenario names by a variable, `$NAME/…`, in any of its variants.
    /// The variants are not made for that: there may be thousands. What is wrong with the scenario
    /// is told when it is read.
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
        let seeds = move |variant| (0..replications).map(move |replication| (variant, replication));
        self.variants.iter().flat_map(seeds).enumerate().map(|(number, (variant, replication))| {
            Run { number, variant, seed: variant.scenario.scenario.seed + u64::from(replication) }
        })
    }
}

impl Axis {
    /// The axis's name, or the last key of its path.
    pub fn title(&self) -> String {
        let path = self.path.as_deref().unwrap_or("axis");
        let last = || path.rsplit('.').next().unwrap_or_default().to_owned();
        self.name.as_ref().map_or_else(last, ToString::to_string)
    }
}

fn axis_names(scenario: &Scenario) -> Vec<String> {
    scenario.sweep.iter().flat_map(|sweep| &sweep.axes).map(Axis::title).collect()
}

/// Which value of each axis a variant takes. Where there would be too many variants,
/// as many as show every value once, so that every value is checked.
fn combinations(scenario: &Scenario, places: &[Place], findings: &mut Findings) -> Vec<Vec<usize>> {
    let Some(sweep) = &scenario.sweep else {
        return vec![Vec::new()];
    };
    let count =
        places.iter().fold(1_u64, |count, place| count.saturating_mul(place.values.len() as u64));
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
            |turn: usize| places.iter().map(|place| turn.min(place.values.len() - 1)).collect();
        return (0..longest).map(each).collect();
    }
    let mut combinations = vec![Vec::new()];
    for place in places {
        let with = |chosen: &Vec<usize>| -> Vec<Vec<usize>> {
            (0..place.values.len()).map(|index| [chosen.as_slice(), &[index]].concat()).collect()
        };
        combinations = combinations.iter().flat_map(with).collect();
    }
    combinations
}

/// A document that is about to become variants.
struct Reading<'a> {
    source: &'a Source,
    lines: &'a Lines<'a>,
    logs: Logs,
    own: &'a Rules,
    root: &'a Node,
    places: &'a [Place],
}

impl Reading<'_> {
    /// The variants, and what none of them reads.
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
            // Without axes it is what has been checked already.
            let own = if self.places.is_empty() { Findings::default() } else { conform(&mut root) };
            let replaced: Vec<Path> =
                findings.replaced.iter().chain(&own.replaced).cloned().collect();
            problems.extend(own.problems);
            let scenario = match Scenario::deserialize(root.to_toml()) {
                Ok(scenario) => Scenario { own: self.own.clone(), ..scenario },
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
                problems: Vec::new(),
                unset: BTreeSet::new(),
                uses: Uses::default(),
            };
            let (found, mut uses) = check.run();
            problems.extend(found);
            // Variants share most of their mistakes.
            let place = |it: &Problem| (it.span.start, it.span.end, it.message.clone());
            let is_new = |problem: &Problem| known.insert(place(problem));
            findings.problems.extend(problems.drain(..).filter(is_new));
            read.append(&mut uses.read);
            unread.push((uses.unread, uses.doubts));
            variants.push(self.variant(resolve(scenario, source), combination));
        }
        // What stops a variant from being read at all has not been looked at yet.
        findings.problems.append(&mut problems);
        let mut warnings = Vec::new();
        for (variant, (unread, doubts)) in variants.iter_mut().zip(unread) {
            let unread = unread.into_iter().filter(|(written, _)| !read.contains(written));
            let (of_sweep, of_run): (Vec<_>, Vec<_>) =
                unread.partition(|((key, ..), _)| key == REPLICATIONS);
            let of_run = of_run.into_iter().map(|(_, warning)| warning).chain(doubts);
            let found: Vec<Warning> = of_run.collect();
            // A run is the same, however often it is repeated: its summary says nothing of that.
            variant.warnings = messages(found.iter());
            warnings.extend(found.into_iter().chain(of_sweep.into_iter().map(|it| it.1)));
        }
        (variants, warnings)
    }

    fn variant(&self, mut scenario: Scenario, combination: &[usize]) -> Variant {
        let names = axis_names(&scenario);
        scenario.sweep = None;
        fill_rules(&mut scenario);
        scenario.figures = split_figures(scenario.figures, &names).1;
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

/// The key of a sweep that says how often each run is repeated.
const REPLICATIONS: &str = "replications";

/// What warnings say without their places, each once.
fn messages<'w>(warnings: impl Iterator<Item = &'w Warning>) -> Vec<String> {
    let mut messages: Vec<String> = Vec::new();
    for warning in warnings {
        if !messages.contains(&warning.message) {
            messages.push(warning.message.clone());
        }
    }
    messages
}

/// Figures over the axes of a sweep, and figures of single runs. An axis may have the name of what the
/// jobs of one run are grouped by.
fn split_figures(figures: Vec<Figure>, axes: &[String]) -> (Vec<Figure>, Vec<Figure>) {
    figures.into_iter().partition(|figure| {
        let used = [&figure.x, &figure.group_by];
        let names_axis = |name: &Name| axes.iter().any(|axis| axis == name.as_str());
        let over_axis = used.into_iter().flatten().any(names_axis);
        figure.kind.measures() && (over_axis || figure.against.is_some())
    })
}

/// Serde refused what the schema let pass: our mistake, not the author's.
fn drift(error: &toml::de::Error) -> Problem {
    Problem {
        message: format!("the scenario cannot be read: {}", error.message()),
        span: 0..0,
        label: "somewhere in this file".into(),
        help: Some(format!("{DRIFT}: its schema lets this pass; please report it")),
    }
}
