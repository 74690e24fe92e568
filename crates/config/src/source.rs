//! The text of a scenario and its origin.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use crate::{Lines, document};

/// The text of a scenario and the path of its file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// The path as given. Paths inside the scenario are relative to its folder.
    pub path: PathBuf,
    /// The text, shared with the problems that point into it.
    pub text: Arc<str>,
    /// The scenario that this one extends.
    pub base: Option<Arc<Source>>,
}

/// Maximum length of a chain of scenarios that extend each other. A longer chain is a cycle.
const LONGEST_CHAIN: usize = 16;

/// Maximum size of a file in bytes; a device may have no end.
const LONGEST: u64 = 256 << 20;

/// Reason why a scenario file could not be read.
#[derive(Debug, thiserror::Error)]
#[error("cannot read `{}`: {error}", path.display())]
pub struct ReadError {
    /// The file.
    pub path: PathBuf,
    /// Error of the system.
    #[source]
    pub error: io::Error,
}

/// Paths and values as lines of a table of TOML. A value that is no TOML is a text.
pub fn setting_lines(settings: &[(String, String)]) -> String {
    let lines = settings.iter().map(|(path, value)| {
        let read = format!("value = {value}").parse::<toml::Table>();
        // A value that contains a line feed could add keys of its own.
        let is_value = read.is_ok_and(|table| table.len() == 1) && !value.contains('\n');
        let value = if is_value { value.clone() } else { string(value) };
        format!("{} = {value}\n", string(path))
    });
    lines.collect()
}

fn string(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

impl Source {
    /// A text in place of the file at `path`, which extends no other scenario.
    pub fn new(path: impl Into<PathBuf>, text: impl Into<Arc<str>>) -> Source {
        Source { path: path.into(), text: text.into(), base: None }
    }

    /// Reads the file at `path`, and the scenarios that it extends.
    ///
    /// # Errors
    /// If one of them cannot be read, or they extend each other in a cycle.
    pub fn read(path: &Path) -> Result<Source, ReadError> {
        Source::read_with(path, &|path| {
            let mut text = String::new();
            // One byte above the limit shows that the text is longer.
            File::open(path)?.take(LONGEST + 1).read_to_string(&mut text)?;
            match text.len() as u64 > LONGEST {
                true => Err(io::Error::other("it is longer than 256 MiB: it is no scenario")),
                false => Ok(text),
            }
        })
    }

    /// Like [`Source::read`], with another function that reads files.
    ///
    /// # Errors
    /// See [`Source::read`].
    pub fn read_with(
        path: &Path,
        read: &dyn Fn(&Path) -> io::Result<String>,
    ) -> Result<Source, ReadError> {
        let mut chain: Vec<Source> = Vec::new();
        let mut next = Some(path.to_owned());
        while let Some(path) = next {
            // Several paths may lead to one file, so the length of the chain is bounded as well.
            if let Some(last) = chain.last()
                && (chain.len() == LONGEST_CHAIN || chain.iter().any(|it| it.path == path))
            {
                let (by, line) = (last.path.display(), last.line_of_extends());
                let error = format!("it extends itself: remove `extends` in line {line} of `{by}`");
                return Err(ReadError { path, error: io::Error::other(error) });
            }
            let named = |error: io::Error| match chain.last() {
                Some(Source { path: by, .. }) => {
                    io::Error::new(error.kind(), format!("{error}; `{}` extends it", by.display()))
                }
                None => error,
            };
            let source = match read(&path) {
                Ok(text) => Source::new(path, text),
                Err(error) => return Err(ReadError { error: named(error), path }),
            };
            next = source.extends().map(|name| source.folder().join(name));
            chain.push(source);
        }
        let mut last = chain.pop().expect("at least the file itself");
        while let Some(source) = chain.pop() {
            last = Source { base: Some(Arc::new(last)), ..source };
        }
        Ok(last)
    }

    /// A scenario that extends this one and sets some of its values. A setting is a path, as on a
    /// sweep's axis, and the text of a value. A text that is not TOML becomes a string, so that `easy`
    /// needs no quotes.
    ///
    /// Mistakes in a path or a value are shown in the text of the new scenario.
    pub fn with(self, settings: &[(String, String)]) -> Source {
        if settings.is_empty() {
            return self;
        }
        let tables = format!("[set]\n{}", setting_lines(settings));
        self.extended("--set", &tables)
    }

    /// A source that extends this one by `tables`; problems in them are reported in a file called `label`.
    pub fn extended(self, label: &str, tables: &str) -> Source {
        let file = self.path.file_name().unwrap_or_default().to_string_lossy();
        let text = format!(
            "[scenario]\nextends = {}\nname = {}\n\n{tables}",
            string(&file),
            string(&self.name()),
        );
        let path = self.folder().join(label);
        Source { path, text: text.into(), base: Some(Arc::new(self)) }
    }

    /// The line, from 1, with the name of the file that this one extends.
    fn line_of_extends(&self) -> usize {
        let at = document::Path::root().key("scenario").key("extends");
        let start = document::parse(&self.text).map_or(0, |root| root.place(&at).start);
        Lines::of(&self.text).line(start)
    }

    /// Name of the scenario.
    fn name(&self) -> String {
        let table: Option<toml::Table> = self.text.parse().ok();
        let name = table.as_ref().and_then(|table| table.get("scenario")?.get("name")?.as_str());
        name.map_or_else(|| self.stem(), str::to_owned)
    }

    /// The file in the same folder that this scenario extends. Mistakes in the text are reported later,
    /// by the check.
    fn extends(&self) -> Option<String> {
        let table: toml::Table = self.text.parse().ok()?;
        let name = table.get("scenario")?.get("extends")?.as_str()?.to_owned();
        let mut components = Path::new(&name).components();
        // Only a name without folders is that of a file in the same folder.
        let is_name =
            matches!((components.next(), components.next()), (Some(Component::Normal(_)), None));
        is_name.then_some(name)
    }

    /// The folder from which the scenario's relative paths start.
    pub fn folder(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new(""))
    }

    /// The file's name without its ending, which is the default name of the scenario.
    pub fn stem(&self) -> String {
        self.path
            .file_stem()
            .map_or_else(|| "scenario".into(), |stem| stem.to_string_lossy().into())
    }
}
