//! `haggle list`: the words of scenarios with their meanings, and the published figures that can be
//! drawn again. Without an argument, the lists themselves.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::rc::Rc;

use crate::scenario::file;
use crate::scenario::vocabulary::{self, Word};
use crate::studies::catalogue::{Minutes, Origin};
use crate::studies::logs::{self, Log};
use crate::studies::{Catalogue, Figure, Study, study};
use clap::ValueEnum;
use haggle_model::Disclosure;
use haggle_results::metrics::named::{NAMED, Named, Unit};
use haggle_scheduling::own::Kind;
use serde::de::DeserializeOwned;
use serde_json::json;

use super::reproduce::library;
use super::table::{count, lines, row};
use super::{Error, example, print};
use crate::command::own_rules;
use crate::exit::Exit;

/// List the words a scenario can use, or the published figures that `reproduce` draws
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  haggle list
  haggle list examples
  haggle list policies
  haggle list figures")]
pub(crate) struct Args {
    /// List to print; without it, the names of all lists
    what: Option<What>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Folder of studies for `figures`, instead of the built-in ones
    #[arg(long, value_name = "DIR")]
    scenarios: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum What {
    /// Scenarios that are part of the program, for `haggle run --example NAME`
    Examples,
    /// Policies of a provider, by which jobs start (`policy`)
    Policies,
    /// Orders in which a provider considers jobs (`policy.order`)
    Orders,
    /// Moves of reservations when a job ends early (`policy.compression`)
    Compressions,
    /// Facts that a provider discloses about itself (`disclosure`)
    Disclosures,
    /// Rules by which a metascheduler chooses a provider (`placement`)
    Placements,
    /// Rules by which a metascheduler composes bags of tasks from offers (`composition`)
    Compositions,
    /// Protocols by which a metascheduler and providers agree on the parts of a job (`coallocation.protocol`)
    Protocols,
    /// Treatments of waiting moldable jobs by a metascheduler (`reallocation.algorithm`)
    Reallocations,
    /// Orders of these jobs (`reallocation.heuristic`)
    Heuristics,
    /// Task that moves first at a provider of bags when a job or task ends early (`policy.rescheduling.rule`)
    Reschedulings,
    /// Treatments of jobs whose processors fail (`on-failure`)
    OnFailure,
    /// Rules by which the scheduler of a grid sends jobs to resources (`grid.policy`)
    GridPolicies,
    /// Algorithms of static schedules of workflows (`grid.policy.algorithm`)
    StaticSchedules,
    /// Methods by which clusters plan applications of phases (`plans.method`)
    PlanMethods,
    /// Rules for the times of checkpoints (`grid.checkpoints.rule`)
    Checkpoints,
    /// Models that generate the jobs of a workload (`model`)
    Models,
    /// Transformations of the jobs of a workload (`[[workload.step]]`)
    Steps,
    /// Laws of random numbers (`law`)
    Laws,
    /// Sets of rules for logs (`preset`)
    Presets,
    /// Metrics (`metric`)
    Metrics,
    /// Kinds of figures (`[[figure]]`)
    Kinds,
    /// Published figures that `haggle reproduce` draws again, with their time on two cores and the logs they need
    Figures,
}

impl What {
    /// The type of the scenario format that has the words; examples and published figures have
    /// none.
    fn definition(self) -> Option<&'static str> {
        let definition = match self {
            What::Policies => "Policy",
            What::Orders => "Order",
            What::Compressions => "Compression",
            What::Disclosures => "Disclosure",
            What::Placements => "Placement",
            What::Compositions => "Composition",
            What::Protocols => "Protocol",
            What::Reallocations => "ReallocationAlgorithm",
            What::Heuristics => "ReallocationHeuristic",
            What::Reschedulings => "ReschedulingRule",
            What::OnFailure => "OnFailure",
            What::GridPolicies => "GridPolicy",
            What::StaticSchedules => "StaticAlgorithm",
            What::PlanMethods => "PlanMethod",
            What::Checkpoints => "CheckpointRule",
            What::Models => "Model",
            What::Steps => "Step",
            What::Laws => "Law",
            What::Presets => "Preset",
            What::Kinds => "FigureKind",
            What::Metrics | What::Examples | What::Figures => return None,
        };
        Some(definition)
    }

    /// Kind of own rules that extend these words.
    fn rules(self) -> Option<Kind> {
        match self {
            What::Orders => Some(Kind::Order),
            What::Placements => Some(Kind::Placement),
            What::GridPolicies => Some(Kind::GridPolicy),
            What::Compositions => Some(Kind::Composition),
            What::Checkpoints => Some(Kind::GridCheckpoints),
            _ => None,
        }
    }

    /// The argument that lists it, and its meaning.
    fn word(&self) -> Word {
        let value = self.to_possible_value().expect("none is hidden");
        let meaning = value.get_help().map(ToString::to_string).unwrap_or_default();
        Word { word: value.get_name().to_owned(), meaning }
    }
}

/// Prints the words.
pub(crate) fn run(args: &Args) -> Result<Exit, Error> {
    let words = match args.what {
        Some(What::Examples) => Some(example::words()),
        Some(What::Metrics) => Some(metrics()),
        Some(what) => what.definition().map(|it| words(what, it)),
        None => Some(What::value_variants().iter().map(What::word).collect()),
    };
    let text = match words {
        Some(words) if args.json => as_json(&words),
        Some(words) if matches!(args.what, Some(What::Disclosures)) => disclosures(&words),
        Some(words) => as_text(&words),
        None => figures(args)?,
    };
    print(&text)?;
    Ok(Exit::Success)
}

/// The words of a type of the scenario format, and the own rules of this kind.
fn words(what: What, definition: &str) -> Vec<Word> {
    let mut words = vocabulary::words(definition);
    let of_kind = own_rules().all().filter(|rule| Some(rule.0) == what.rules());
    words.extend(of_kind.map(|(_, name, version)| Word {
        word: format!("{{ own = \"{name}\" }}"),
        meaning: format!("A rule of this program's own, version {version}"),
    }));
    words
}

/// The metrics that have a name of their own.
fn metrics() -> Vec<Word> {
    let word = |it: &Named| {
        let unit = match it.unit {
            Unit::Seconds => ", s",
            Unit::Percent => ", %",
            Unit::Share | Unit::Number => "",
        };
        Word { word: it.name.to_owned(), meaning: format!("{}{unit}: {}", it.title, it.meaning) }
    };
    NAMED.iter().map(word).collect()
}

/// The published figures of all studies.
fn figures(args: &Args) -> Result<String, Error> {
    let library = library(args.scenarios.as_deref());
    let catalogue = Catalogue::read(&library, study::ALL)?;
    // Figures of a study share scenarios, so each scenario is read once.
    let mut known: BTreeMap<(String, Vec<Origin>), Vec<Log>> = BTreeMap::new();
    let mut logs = |study: &Study, figure: &Figure| {
        let key = (study.name.clone(), figure.origins.clone());
        let read = || logs::needed(&library, study::ALL, study, &figure.origins);
        known.entry(key).or_insert_with(read).clone()
    };
    if args.json {
        let object = |(study, figure): (&Rc<Study>, &Figure)| {
            let minutes = figure.minutes.map(|it| json!({ "full": it.full, "quick": it.quick }));
            let (name, about) = (&figure.name, &figure.about);
            let logs = logs(study, figure);
            let logs: Vec<&str> = logs.iter().map(Log::name).collect();
            json!({
                "name": name,
                "study": study.name,
                "about": about,
                "minutes": minutes,
                "logs": logs,
            })
        };
        let figures: Vec<_> = catalogue.figures().map(object).collect();
        return Ok(format!("{:#}\n", serde_json::Value::Array(figures)));
    }
    let row = |(study, figure): (&Rc<Study>, &Figure)| {
        let logs = match logs(study, figure).len() {
            0 => "no logs".to_owned(),
            some => count(some, "log"),
        };
        vec![figure.name.clone(), time(figure.minutes), logs, figure.about.clone()]
    };
    let rows: Vec<Vec<String>> = catalogue.figures().map(row).collect();
    Ok(lines(&rows, &[0, 1, 2, 3]))
}

/// Time that a figure takes.
fn time(minutes: Option<Minutes>) -> String {
    let text = |minutes: f64| match minutes {
        few if few < 1.0 => format!("{:.0} s", few * 60.0),
        some if some < 120.0 => format!("{some:.0} min"),
        many => format!("{:.1} h", many / 60.0),
    };
    match minutes {
        None => "not measured".to_owned(),
        Some(Minutes { full, quick: None }) => text(full),
        Some(Minutes { full, quick: Some(quick) }) => {
            format!("{}, quick {}", text(full), text(quick))
        }
    }
}

/// The levels, each with the policies that need exactly this level.
fn disclosures(words: &[Word]) -> String {
    let own = own_rules();
    let placement =
        |word: &str| Some(file::Role::Places(&read::<file::Placement>(word)?).needs(own));
    let composition =
        |word: &str| Some(file::Role::Composes(&read::<file::Composition>(word)?).needs(own));
    let mut rows = vec![row(["level", "disclosed facts", "needed by"])];
    for level in words {
        let level_of = read::<Disclosure>(&level.word);
        // Equal, not at least: the last line says that each level includes those above it.
        let asks = |needs: Option<Disclosure>| needs == level_of;
        let mut askers: Vec<String> = Vec::new();
        for (kind, definition, needs) in [
            ("placement", "Placement", &placement as &dyn Fn(&str) -> _),
            ("composition", "Composition", &composition),
        ] {
            let words = vocabulary::words(definition).into_iter().map(|word| word.word);
            let words: Vec<String> = words.filter(|word| asks(needs(word))).collect();
            if !words.is_empty() {
                askers.push(format!("{kind} {}", words.join(", ")));
            }
        }
        // Policies that spread jobs over providers need published free times, or a protocol.
        let spreads = |protocol| {
            let spreads = file::Coallocation { protocol, ..file::Coallocation::default() };
            asks(Some(file::Role::Spreads(&spreads).needs(own)))
        };
        if spreads(None) {
            askers.push("coallocation without a protocol".to_owned());
        }
        let maps = |asks_for| {
            let mapping = file::Mapping { asks_for, ..file::Mapping::default() };
            asks(Some(file::Role::Maps(&mapping).needs(own)))
        };
        let words = vocabulary::words("AsksFor").into_iter().map(|word| word.word);
        let words: Vec<String> = words.filter(|word| read(word).is_some_and(maps)).collect();
        if !words.is_empty() {
            askers.push(format!("mapping {}", words.join(", ")));
        }
        let words = vocabulary::words("Protocol").into_iter().map(|word| word.word);
        let words: Vec<String> = words
            .filter(|word| read(word).is_some_and(|protocol| spreads(Some(protocol))))
            .collect();
        if !words.is_empty() {
            askers.push(format!("protocol {}", words.join(", ")));
        }
        let askers = if askers.is_empty() { "none".to_owned() } else { askers.join("; ") };
        rows.push(row([&level.word, &level.meaning, &askers]));
    }
    format!("{}\nEach level includes the levels above it.\n", lines(&rows, &[0, 1, 2]))
}

/// Value of a word of scenarios: the word, or a table with only this name.
fn read<T: DeserializeOwned>(word: &str) -> Option<T> {
    let word = toml::Value::String(word.to_owned());
    let table = toml::Table::from_iter([("name".to_owned(), word.clone())]);
    // Words with parameters are tables; what needs further keys gives `None`.
    word.try_into().or_else(|_| table.try_into()).ok()
}

fn as_text(words: &[Word]) -> String {
    let width = words.iter().map(|word| word.word.len()).max().unwrap_or(0);
    words.iter().map(|word| format!("{:width$}  {}\n", word.word, word.meaning)).collect()
}

fn as_json(words: &[Word]) -> String {
    let words: Vec<_> =
        words.iter().map(|word| json!({ "word": word.word, "meaning": word.meaning })).collect();
    format!("{:#}\n", serde_json::Value::Array(words))
}
