//! Paths of logs: relative to the scenario, or through an environment variable.

use std::env;
use std::path::{Path, PathBuf};

/// Error in the path of a log.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LogPathError {
    /// The path names a variable that is not set.
    #[error("environment variable `{0}` is not set")]
    Unset(String),
    /// A `$` without a name after it.
    #[error("`$` must be followed by the name of an environment variable")]
    NoName,
}

/// Path of a log as written in a scenario in `folder`. `$NAME` and `${NAME}` stand for environment variables. A
/// relative path that begins with a variable starts from the working folder, not from `folder`, as in a shell.
pub fn log_path(written: &str, folder: &Path) -> Result<PathBuf, LogPathError> {
    let expanded = expand(written, |name| env::var(name).ok())?;
    if written.starts_with('$') { Ok(expanded.into()) } else { Ok(folder.join(expanded)) }
}

fn expand(
    written: &str,
    variable: impl Fn(&str) -> Option<String>,
) -> Result<String, LogPathError> {
    let mut expanded = String::new();
    let mut rest = written;
    while let Some(dollar) = rest.find('$') {
        expanded.push_str(&rest[..dollar]);
        rest = &rest[dollar + 1..];
        let (name, after) = match rest.strip_prefix('{') {
            Some(braced) => braced.split_once('}').ok_or(LogPathError::NoName)?,
            None => {
                let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
                rest.split_at(end.unwrap_or(rest.len()))
            }
        };
        let valid = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if !valid {
            return Err(LogPathError::NoName);
        }
        expanded.push_str(&variable(name).ok_or_else(|| LogPathError::Unset(name.into()))?);
        rest = after;
    }
    expanded.push_str(rest);
    Ok(expanded)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_replaced() {
        let home = |name: &str| (name == "TRACES").then(|| "/t".to_owned());
        assert_eq!(expand("$TRACES/a.swf", home).as_deref(), Ok("/t/a.swf"));
        assert_eq!(expand("x${TRACES}y", home).as_deref(), Ok("x/ty"));
        assert_eq!(expand("plain", home).as_deref(), Ok("plain"));
        assert_eq!(expand("$OTHER/a", home), Err(LogPathError::Unset("OTHER".into())));
        assert_eq!(expand("a$", home), Err(LogPathError::NoName));
        assert_eq!(expand("${TRACES", home), Err(LogPathError::NoName));
        assert_eq!(expand("${A=B}", home), Err(LogPathError::NoName));
    }
}
