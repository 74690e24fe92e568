//! `haggle schema`: the format of scenarios for editors.

use super::{Error, print};
use crate::exit::Exit;

/// Print the JSON schema of scenario files
///
/// Editors with a TOML language server complete and check scenarios with it.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:
  haggle schema > scenario.schema.json
  # then, as the first line of a scenario: #:schema ./scenario.schema.json")]
pub(crate) struct Args {}

/// Prints the schema.
pub(crate) fn run(_: &Args) -> Result<Exit, Error> {
    print(crate::scenario::SCHEMA_TEXT)?;
    Ok(Exit::Success)
}
