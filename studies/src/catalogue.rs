//! Every figure and claim of a library, read and checked before anything is run.

mod file;
mod read;

use std::rc::Rc;

use super::Library;
use super::study::Compute;
use haggle_scenario::{InvalidScenario, ReadError, Source};

pub use file::{Dimension, Draw, DrawKind, Grade, Minutes, Part, Quick, Spread, XScale, YScale};

/// All studies of a library.
#[derive(Clone, Debug)]
pub struct Catalogue {
    /// In order of their names.
    pub studies: Vec<Rc<Study>>,
}

/// The figures and claims of one publication.
#[derive(Clone, Debug)]
pub struct Study {
    /// The name of its folder.
    pub name: String,
    /// Functions that its expressions share.
    pub functions: String,
    /// What a quick reproduction leaves out.
    pub quick: Quick,
    /// Its figures, in the order of the file.
    pub figures: Vec<Figure>,
    /// Its claims, in the order of the file.
    pub claims: Vec<Claim>,
}

/// A published figure or table.
#[derive(Clone, Debug)]
pub struct Figure {
    /// Its name, unique in the library.
    pub name: String,
    /// What it shows, in a line.
    pub about: String,
    /// Where its data come from.
    pub origins: Vec<Origin>,
    /// How long it takes, as measured.
    pub minutes: Option<Minutes>,
    /// How it is drawn.
    pub draws: Vec<Draw>,
}

/// Where data come from.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    /// The sweep of a scenario file of the study's folder.
    Sweep(String),
    /// A study by code.
    Study(String),
}

impl Origin {
    /// What expressions call it: the file without its ending, or the study.
    pub fn name(&self) -> &str {
        match self {
            Origin::Sweep(file) => file.strip_suffix(".toml").unwrap_or(file),
            Origin::Study(name) => name,
        }
    }
}

/// Something that was said about figures.
#[derive(Clone, Debug)]
pub struct Claim {
    /// Its name, unique in the study.
    pub id: String,
    /// The figures it is about.
    pub figures: Vec<String>,
    /// What was said.
    pub statement: String,
    /// What should come out, in words or numbers.
    pub expected: String,
    /// How sharp it is.
    pub grade: Grade,
    /// What decides it.
    pub test: Test,
    /// What stands for data that it is about and that are not at hand: its numbers decide nothing then.
    pub substitutes: Option<String>,
    /// What is worth knowing about it.
    pub note: Option<String>,
    /// Why it comes out as it does, where that is one reason for several claims.
    pub reason: Option<Reason>,
}

/// Why several claims come out as they do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    /// What it is called in the study.
    pub name: String,
    /// The reason.
    pub text: String,
}

/// What decides a claim.
#[derive(Clone, Debug)]
pub enum Test {
    /// An expression.
    Check(Expression),
    /// Nothing can, for this reason.
    Untestable(String),
}

/// An expression and where it stands.
#[derive(Clone, Debug)]
pub struct Expression {
    /// The expression.
    pub text: String,
    /// The file that it stands in.
    pub source: Source,
    /// The byte of the file at which it begins.
    pub start: usize,
}

/// Why a catalogue cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum CatalogueError {
    /// A file cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// A file has mistakes.
    #[error("{0}")]
    Invalid(Box<InvalidScenario>),
    /// Two studies have a figure of one name.
    #[error("figure \"{figure}\" is in two studies: \"{first}\" and \"{second}\"")]
    Twice {
        /// The figure.
        figure: String,
        /// A study that has it.
        first: String,
        /// Another one.
        second: String,
    },
}

impl Catalogue {
    /// Reads all figures and claims of a library that may name `studies` by code.
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

    /// Where the data of some figures come from, each once.
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
    /// The mistake at a place of the expression as one of its file.
    pub fn problem(&self, what: &str, mistake: &haggle_script::Mistake) -> Box<InvalidScenario> {
        let lines = self.text.split_inclusive('\n').take(mistake.line.saturating_sub(1));
        let line_start: usize = lines.map(str::len).sum();
        let line = self.text.get(line_start..).unwrap_or_default();
        let before = line.chars().take(mistake.column.saturating_sub(1)).map(char::len_utf8);
        let at = self.start + line_start + before.sum::<usize>();
        // The word that stands there, or one character.
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
