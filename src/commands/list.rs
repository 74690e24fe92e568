//! `haggle list`: the words a scenario can use, with what they mean.

use clap::ValueEnum;
use haggle::scenario::vocabulary::{self, Word};
use serde_json::json;

use super::{Error, print};
use crate::exit::Exit;

/// List the words a scenario can use, with what they mean
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:
  haggle list policies")]
pub(crate) struct Args {
    /// What to list
    what: What,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum What {
    /// How a provider decides which job starts when (`policy`)
    Policies,
    /// In which order a provider considers jobs (`order`)
    Orders,
    /// How reservations move when a job ends early (`compression`)
    Compressions,
    /// What a provider tells about itself (`disclosure`)
    Disclosures,
    /// How a metascheduler chooses a provider (`placement`)
    Placements,
    /// What is done to the jobs of a workload (`[[workload.step]]`)
    Steps,
    /// From which laws steps draw (`law`)
    Laws,
    /// Sets of rules for logs (`preset`)
    Presets,
    /// What can be measured (`metric`)
    Metrics,
    /// What can be drawn (`[[figure]]`)
    Figures,
}

impl What {
    /// The type of the scenario format that has the words.
    fn definition(self) -> &'static str {
        match self {
            What::Policies => "Policy",
            What::Orders => "Order",
            What::Compressions => "Compression",
            What::Disclosures => "Disclosure",
            What::Placements => "Placement",
            What::Steps => "Step",
            What::Laws => "Law",
            What::Presets => "Preset",
            What::Metrics => "Metric",
            What::Figures => "FigureKind",
        }
    }
}

/// Prints the words.
pub(crate) fn run(args: &Args) -> Result<Exit, Error> {
    let words = vocabulary::words(args.what.definition());
    print(&if args.json { as_json(&words) } else { as_text(&words) })?;
    Ok(Exit::Success)
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
