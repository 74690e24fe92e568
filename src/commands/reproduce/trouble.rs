//! Errors of a reproduction as errors of the command.

use std::collections::BTreeMap;

use crate::experiment::sweep::SweepError;
use crate::studies::Study;
use crate::studies::catalogue::CatalogueError;
use crate::studies::draw::DrawError;
use crate::studies::live::LiveError;
use crate::studies::logs::Log;
use crate::studies::obtain::ObtainError;
use haggle_plots::PlotError;
use haggle_script::Mistake;

use crate::commands::Error;

/// True if an error ends the whole command, not only one figure.
pub(super) fn ends_all(error: &Error) -> bool {
    matches!(error, Error::Sweep(SweepError::Interrupted))
}

/// An error in functions of a study that were valid when they were first read.
pub(super) fn functions(study: &Study, mistake: &Mistake) -> Error {
    Error::Catalogue {
        message: format!("functions of study \"{}\": {}", study.name, mistake.message),
        hint: "correct them in its figures.toml".to_owned(),
    }
}

/// Missing logs, and the figures that need them.
#[derive(Default)]
pub(super) struct MissingLogs {
    /// The names of the figures.
    pub(super) figures: Vec<String>,
    /// Each log with its problem.
    pub(super) logs: BTreeMap<Log, String>,
}

impl From<MissingLogs> for Error {
    fn from(missing: MissingLogs) -> Error {
        let mut message = format!("{} cannot be drawn without logs", missing.figures.join(", "));
        let mut archives: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for (log, why) in &missing.logs {
            // By archive, because a user gets the logs of one from one place.
            let names = archives.entry(log.archive()).or_default();
            names.push(format!("    {}: {why}\n", log.name()));
        }
        message.push_str(", which belong to other owners and are no part of haggle:\n");
        for (archive, names) in archives {
            message.push_str(&format!("\n  {archive}\n{}", names.concat()));
        }
        let hint = "put them into a folder under these names and name it, as in \
                    HAGGLE_TRACES=~/traces;\n      \
                    `haggle list figures` says which figures need no logs: haggle-sessions is one";
        Error::Catalogue { message: message.trim_end().to_owned(), hint: hint.to_owned() }
    }
}

impl From<CatalogueError> for Error {
    fn from(error: CatalogueError) -> Error {
        match error {
            CatalogueError::Read(error) => error.into(),
            CatalogueError::Invalid(error) => Error::InvalidScenario(error),
            CatalogueError::Twice { .. } => Error::Catalogue {
                message: error.to_string(),
                hint: "rename one of them in its study's figures.toml".to_owned(),
            },
        }
    }
}

impl From<ObtainError> for Error {
    fn from(error: ObtainError) -> Error {
        let hint = match error {
            ObtainError::Read(error) => return error.into(),
            ObtainError::Invalid(error) => return Error::InvalidScenario(error),
            ObtainError::Sweep(error) => return error.into(),
            ObtainError::Results(error) => return error.into(),
            ObtainError::Live(LiveError::Sweep(error)) => return error.into(),
            ObtainError::Live(LiveError::Unable { .. }) => "build haggle with its feature `live`",
            ObtainError::Live(LiveError::None { .. }) => {
                "let `where` have values of the sweep's axes"
            }
            ObtainError::Live(LiveError::Failed { .. }) => "the next call begins it anew",
            ObtainError::NothingLeft { .. } => "let it keep a value that the sweep has",
            ObtainError::Study { .. } => "the missing files must be there first",
        };
        Error::Catalogue { message: error.to_string(), hint: hint.to_owned() }
    }
}

impl From<DrawError> for Error {
    fn from(error: DrawError) -> Error {
        let hint = match error {
            DrawError::Results(error) => return error.into(),
            DrawError::Run(error) => return Error::Experiment(*error),
            DrawError::Unfit { .. } => "correct it in the study's figures.toml",
            DrawError::Plot(PlotError::NoData { .. }) => {
                "its metric has no value at any point that is drawn"
            }
            DrawError::Plot(error) => return error.into(),
        };
        Error::Catalogue { message: error.to_string(), hint: hint.to_owned() }
    }
}
