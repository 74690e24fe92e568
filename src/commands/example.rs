//! Scenarios that are part of the program, so that a first run needs no file: those of `scenarios/`
//! that read neither logs nor other files.

use std::path::{Path, PathBuf};

use super::complete;
pub(crate) use crate::experiment::branches::setting;
use crate::interrupt::while_waiting;
use crate::scenario::Source;
use crate::scenario::vocabulary::Word;
use clap::builder::PossibleValuesParser;

use super::{Error, read_scenario};

/// The name of each example and its text.
macro_rules! examples {
    ($($name:literal),+ $(,)?) => {
        [$(($name, include_str!(concat!("../../scenarios/", $name, ".toml")))),+]
    };
}

/// All examples, easiest first.
const EXAMPLES: [(&str, &str); 16] = examples![
    "quickstart",
    "sweep",
    "bargaining",
    "failing-sites",
    "failing-grid",
    "shared-storage",
    "maintenance",
    "reservations",
    "coallocation",
    "moldable",
    "workflows-on-providers",
    "iterative",
    "plans",
    "plans-workflows",
    "side-by-side",
    "one-world",
];

/// A scenario, and the values changed in it.
#[derive(Debug, clap::Args)]
pub(crate) struct Given {
    #[command(flatten)]
    origin: Origin,
    /// Set a value, such as provider.north.policy=easy, provider.*.processors=64 or scenario.seed=7;
    /// may be given several times
    #[arg(long = "set", value_name = "PATH=VALUE", value_parser = complete::settings(setting),
        hide_possible_values = true)]
    settings: Vec<(String, String)>,
}

/// Source of a scenario: a file, or the program itself.
#[derive(Debug, clap::Args)]
#[group(multiple = false)]
struct Origin {
    /// Scenario file (TOML); `-` is standard input
    #[arg(value_name = "SCENARIO")]
    scenario: Option<PathBuf>,
    /// A scenario that is part of the program, instead of a file; `haggle list examples`
    #[arg(long, value_name = "NAME", value_parser = names(), hide_possible_values = true)]
    example: Option<String>,
}

impl Given {
    /// Reads the scenario.
    pub(crate) fn read(&self) -> Result<Source, Error> {
        let paths: Vec<&String> = self.settings.iter().map(|(path, _)| path).collect();
        // The order of arguments should not decide which of two values holds.
        let again = paths.iter().enumerate().find(|(at, path)| paths[..*at].contains(path));
        if let Some((_, path)) = again {
            return Err(Error::Unfit {
                message: format!("--set {path} is given twice"),
                hint: "remove one of the two".to_owned(),
            });
        }
        let source = match (&self.origin.scenario, &self.origin.example) {
            (Some(path), _) => while_waiting(|| read_scenario(path))?,
            (None, Some(name)) => Source::new(format!("{name}.toml"), text(name)),
            (None, None) => {
                return Err(Error::Unfit {
                    message: "no scenario is given".to_owned(),
                    hint: "name a file, or an example by --example".to_owned(),
                });
            }
        };
        Ok(source.with(&self.settings))
    }
}

impl Given {
    /// True if a file or an example is named.
    pub(crate) fn is_given(&self) -> bool {
        self.origin.scenario.is_some() || self.origin.example.is_some()
    }

    /// The file, or the name of the example.
    pub(crate) fn origin(&self) -> Result<&Path, &str> {
        match (&self.origin.scenario, &self.origin.example) {
            (Some(path), _) => Ok(path),
            (None, name) => Err(name.as_deref().unwrap_or_default()),
        }
    }

    /// The same as arguments.
    pub(crate) fn arguments(&self) -> Vec<String> {
        let path = self.origin.scenario.iter().map(|path| path.display().to_string());
        let example = self.origin.example.iter();
        let example = example.flat_map(|name| ["--example".to_owned(), name.clone()]);
        let settings = self.settings.iter();
        let settings =
            settings.flat_map(|(path, value)| ["--set".to_owned(), format!("{path}={value}")]);
        path.chain(example).chain(settings).collect()
    }
}

/// Values of `--example`; for an unknown name, the nearest one is suggested.
pub(crate) fn names() -> PossibleValuesParser {
    PossibleValuesParser::new(EXAMPLES.map(|(name, _)| name))
}

/// True if an example has this name.
pub(crate) fn is_one(name: &str) -> bool {
    EXAMPLES.iter().any(|example| example.0 == name)
}

/// The text of an example whose name has been checked.
pub(crate) fn text(name: &str) -> &'static str {
    let found = EXAMPLES.iter().find(|example| example.0 == name);
    found.expect("only their names are taken").1
}

/// The examples, each with its description.
pub(crate) fn words() -> Vec<Word> {
    let word = |&(name, text): &(&str, &str)| {
        let table: toml::Table = text.parse().expect("a test runs each of them");
        let about = table["scenario"]["description"].as_str().expect("so does this");
        let sweep = if table.contains_key("sweep") { " (`haggle sweep`)" } else { "" };
        Word { word: name.to_owned(), meaning: format!("{about}{sweep}") }
    };
    EXAMPLES.iter().map(word).collect()
}
