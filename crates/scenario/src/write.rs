//! A scenario as text again, with every default.

use std::io;
use std::path::{Component, Path, PathBuf, absolute};

use super::Scenario;

impl Scenario {
    /// Rules by which each log is read: name of the workload, and rules in words.
    pub fn log_rules(&self) -> impl Iterator<Item = (String, String)> {
        let logs = self.workloads.iter().filter(|workload| workload.log.is_some());
        logs.map(|workload| (workload.name.to_string(), workload.rules.in_words()))
    }

    /// The scenario as TOML; reading the text gives the same scenario.
    pub fn to_toml(&self) -> String {
        let mut written = self.clone();
        // Nodes give the processors of their provider, so that a change of the nodes in this text needs no other one.
        for it in written.providers.iter_mut().filter(|it| !it.nodes.is_empty()) {
            it.processors = 0;
        }
        toml::to_string_pretty(&written)
            .expect("tables with string keys and numbers that TOML can hold")
    }

    /// Rewrites the relative paths of a scenario in `from` so that they are valid in `to`. Paths that begin with a
    /// variable stay, so that the text is the same on every machine.
    pub fn relocate(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        let logs = self.workloads.iter_mut().flat_map(|workload| {
            let files = workload.workflows.as_mut().and_then(|it| it.files.as_mut());
            workload.log.as_mut().into_iter().chain(files.into_iter().flatten())
        });
        let of_changes = self.changes.iter_mut().flat_map(|it| &mut it.failures);
        let recorded = self.failures.iter_mut().chain(of_changes);
        let recorded = recorded.filter_map(|it| it.recorded.as_mut());
        let loads = self.plans.iter_mut().filter_map(|plans| plans.loads.as_mut());
        let states = self.providers.iter_mut().filter_map(|it| it.initial_file.as_mut());
        let recorded = recorded.map(|recorded| &mut recorded.log);
        for log in logs.chain(states).chain(recorded).chain(loads) {
            relocated(log, from, to)?;
        }
        for (path, value) in self.changes.iter_mut().flat_map(|change| &mut change.set) {
            let key = path.rsplit('.').next().unwrap_or_default();
            relocate_below(key, value, from, to)?;
        }
        Ok(())
    }
}

/// Rewrites the paths in the value of a key, and of the keys below it.
fn relocate_below(key: &str, value: &mut toml::Value, from: &Path, to: &Path) -> io::Result<()> {
    match value {
        toml::Value::String(text) if ["log", "files", "loads"].contains(&key) => {
            relocated(text, from, to)
        }
        toml::Value::Array(items) => {
            items.iter_mut().try_for_each(|item| relocate_below(key, item, from, to))
        }
        toml::Value::Table(table) => {
            table.iter_mut().try_for_each(|(key, value)| relocate_below(key, value, from, to))
        }
        _ => Ok(()),
    }
}

fn relocated(log: &mut String, from: &Path, to: &Path) -> io::Result<()> {
    if !log.starts_with('$') && !Path::new(log).is_absolute() {
        let target = relative(&absolute(from.join(&*log))?, &absolute(to)?);
        *log = target.to_string_lossy().into_owned();
    }
    Ok(())
}

/// Path from the folder `base` to `target`, both absolute.
pub fn relative(target: &Path, base: &Path) -> PathBuf {
    let (target, base) = (normal(target), normal(base));
    let shared = target.iter().zip(&base).take_while(|(a, b)| a == b).count();
    let up = base[shared..].iter().map(|_| Component::ParentDir);
    up.chain(target[shared..].iter().copied()).collect()
}

/// Components of an absolute path, with `..` resolved by name.
fn normal(path: &Path) -> Vec<Component<'_>> {
    let mut normal = Vec::new();
    for component in path.components() {
        match component {
            Component::ParentDir => drop(normal.pop()),
            Component::CurDir => {}
            other => normal.push(other),
        }
    }
    normal
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relative_paths_lead_from_folder_to_file() {
        let way = |target: &str, base: &str| relative(Path::new(target), Path::new(base));
        assert_eq!(way("/a/s/../logs/x.swf", "/a/out/run"), Path::new("../../logs/x.swf"));
        assert_eq!(way("/a/x.swf", "/a"), Path::new("x.swf"));
    }
}
