//! All figures and claims of a library, read and checked before anything is run.

mod file;
mod read;

use std::collections::BTreeMap;
use std::rc::Rc;

use super::Library;
use super::study::Compute;
use haggle_scenario::{InvalidScenario, ReadError, Source};

pub use file::{
    Dimension, Draw, DrawKind, Grade, Minutes, Part, Quick, Scale, Spread, XScale, YScale,
};

/// All studies of a library.
#[derive(Clone, Debug)]
pub struct Catalogue {
    /// The studies, in order of their names.
    pub studies: Vec<Rc<Study>>,
}

/// The figures and claims of one publication.
#[derive(Clone, Debug)]
pub struct Study {
    /// The name of its folder.
    pub name: String,
    /// Functions that its expressions share.
    pub functions: String,
    /// Reductions for a quick reproduction.
    pub quick: Quick,
    /// Its runs that are live.
    pub live: Vec<Live>,
    /// Its figures, in the order of the file.
    pub figures: Vec<Figure>,
    /// Its claims, in the order of the file.
    pub claims: Vec<Claim>,
}

/// Runs of a sweep that are live: their actors are nodes, whose messages take real time.
#[derive(Clone, Debug, PartialEq)]
pub struct Live {
    /// File of the sweep.
    pub sweep: String,
    /// Values of axes of these runs, as texts.
    pub at: BTreeMap<String, String>,
    /// Seconds of a run in a second of real time.
    pub scale: Scale,
}

/// A published figure or table.
#[derive(Clone, Debug)]
pub struct Figure {
    /// Its name, unique in the library.
    pub name: String,
    /// Its content in one line.
    pub about: String,
    /// Origins of its data.
    pub origins: Vec<Origin>,
    /// Measured run time.
    pub minutes: Option<Minutes>,
    /// Drawings of the figure.
    pub draws: Vec<Draw>,
}

/// Origin of data.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    /// The sweep of a scenario file of the study's folder.
    Sweep(String),
    /// A study by code.
    Study(String),
}

impl Origin {
    /// Its name in expressions: the file without its ending, or the study.
    pub fn name(&self) -> &str {
        match self {
            Origin::Sweep(file) => file.strip_suffix(".toml").unwrap_or(file),
            Origin::Study(name) => name,
        }
    }
}

/// A published statement about figures.
#[derive(Clone, Debug)]
pub struct Claim {
    /// Its name, unique in the study.
    pub id: String,
    /// The figures it is about.
    pub figures: Vec<String>,
    /// The statement.
    pub statement: String,
    /// The expected result, in words or numbers.
    pub expected: String,
    /// Precision of the claim.
    pub grade: Grade,
    /// The test that decides it.
    pub test: Test,
    /// Replacement for missing original data. If present, the numbers are reported but decide nothing.
    pub substitutes: Option<String>,
    /// Remarks.
    pub note: Option<String>,
    /// Explanation of its result, if it is shared with other claims.
    pub reason: Option<Reason>,
}

/// Explanation of the results of several claims.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    /// Its name in the study.
    pub name: String,
    /// The reason.
    pub text: String,
}

/// Test of a claim.
#[derive(Clone, Debug)]
pub enum Test {
    /// An expression.
    Check(Expression),
    /// No test is possible, for this reason.
    Untestable(String),
}

/// An expression and its place in a file.
#[derive(Clone, Debug)]
pub struct Expression {
    /// The expression.
    pub text: String,
    /// Its file.
    pub source: Source,
    /// Its first byte in the file.
    pub start: usize,
}

/// Reason why a catalogue cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum CatalogueError {
    /// A file cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// A file has mistakes.
    #[error("{0}")]
    Invalid(Box<InvalidScenario>),
    /// Two studies have a figure with the same name.
    #[error("figure \"{figure}\" is in two studies: \"{first}\" and \"{second}\"")]
    Twice {
        /// The figure.
        figure: String,
        /// The first study that has it.
        first: String,
        /// The other study.
        second: String,
    },
}

impl Catalogue {
    /// Reads all figures and claims of a library. They may refer to `studies` by code.
    ///
    /// # Errors
    /// If one file cannot be read, or has mistakes.
    pub fn read(library: &Library, studies: &[&dyn Compute]) -> Result<Catalogue, CatalogueError> {
        let known: Vec<&str> = studies.iter().map(|study| study.name()).collect();
        let mut catalogue = Catalogue { studies: Vec::new() };
        for name in library.studies()? {
            let study = read::study(library, &name, &known)?;
            for figure in &study.figures {
                if let Some((other, _)) = catalogue.figure(&figure.name) {
                    return Err(CatalogueError::Twice {
                        figure: figure.name.clone(),
                        first: other.name.clone(),
                        second: name,
                    });
                }
            }
            catalogue.studies.push(Rc::new(study));
        }
        Ok(catalogue)
    }

    /// All figures with their studies.
    pub fn figures(&self) -> impl Iterator<Item = (&Rc<Study>, &Figure)> {
        self.studies.iter().flat_map(|study| study.figures.iter().map(move |it| (study, it)))
    }

    /// The figure of this name.
    pub fn figure(&self, name: &str) -> Option<(&Rc<Study>, &Figure)> {
        self.figures().find(|(_, figure)| figure.name == name)
    }
}

impl Study {
    /// The claims about a figure.
    pub fn claims_about<'a>(&'a self, figure: &'a str) -> impl Iterator<Item = &'a Claim> {
        self.claims.iter().filter(move |claim| claim.figures.iter().any(|name| name == figure))
    }

    /// Origins of the data of some figures, each once.
    pub fn origins<'a>(&'a self, figures: impl IntoIterator<Item = &'a str>) -> Vec<Origin> {
        let mut origins: Vec<Origin> = Vec::new();
        for name in figures {
            let figure = self.figures.iter().find(|figure| figure.name == name);
            for origin in figure.iter().flat_map(|figure| &figure.origins) {
                if !origins.contains(origin) {
                    origins.push(origin.clone());
                }
            }
        }
        origins
    }
}

impl Expression {
    /// Converts a mistake at a position in the expression to a problem in its file.
    pub fn problem(&self, what: &str, mistake: &haggle_script::Mistake) -> Box<InvalidScenario> {
        let lines = self.text.split_inclusive('\n').take(mistake.line.saturating_sub(1));
        let line_start: usize = lines.map(str::len).sum();
        let line = self.text.get(line_start..).unwrap_or_default();
        // Columns are counted in characters, and places in a file in bytes.
        let before = line.chars().take(mistake.column.saturating_sub(1)).map(char::len_utf8);
        let at = self.start + line_start + before.sum::<usize>();
        // The word at this position, or one character.
        let rest = self.source.text.get(at..).unwrap_or_default();
        let word = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        let problem = haggle_scenario::Problem {
            message: format!("{what}: {}", mistake.message),
            span: at..at + word.max(1),
            label: "here".to_owned(),
            help: None,
        };
        Box::new(InvalidScenario::new(self.source.clone(), vec![problem]))
    }
}
