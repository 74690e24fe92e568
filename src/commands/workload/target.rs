//! The log to write: its file and its format.

use std::path::{Path, PathBuf};

/// Destination of a log.
#[derive(Debug, clap::Args)]
pub(super) struct Target {
    /// Log to write, packed if it ends in .gz or .zst; `-` is standard output
    #[arg(value_name = "OUT")]
    pub(super) out: PathBuf,
    /// Format of OUT; without it, by its ending: .json is batsim-5, .csv is batsim-jobs, all others are swf
    #[arg(long, value_name = "FORMAT")]
    to: Option<Format>,
    /// Overwrite OUT if it exists
    #[arg(long)]
    pub(super) force: bool,
}

/// Format in which a log is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Format {
    /// Standard Workload Format
    Swf,
    /// Workload of Batsim 4 as JSON: each run time is a delay
    #[value(name = "batsim-4")]
    Batsim4,
    /// Workload of Batsim 5 as JSON: each run time is a delay
    #[value(name = "batsim-5")]
    Batsim5,
    /// Table of jobs as Batsim writes it after a run, of jobs whose starts are known
    BatsimJobs,
}

impl Target {
    /// The format of the log.
    pub(super) fn format(&self) -> Format {
        self.to.unwrap_or_else(|| by_ending(&self.out))
    }
}

fn by_ending(out: &Path) -> Format {
    let ending =
        |path: &Path| path.extension().and_then(|ending| ending.to_str()).map(str::to_owned);
    let is_packed = ending(out).is_some_and(|ending| ["gz", "zst"].contains(&ending.as_str()));
    let plain = if is_packed { out.with_extension("") } else { out.to_owned() };
    match ending(&plain).as_deref() {
        Some("json") => Format::Batsim5,
        Some("csv") => Format::BatsimJobs,
        _ => Format::Swf,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ending_before_that_of_the_packing_names_the_format() {
        for (out, format) in [
            ("a.swf", Format::Swf),
            ("a.json", Format::Batsim5),
            ("a.json.gz", Format::Batsim5),
            ("b.c/a.csv.zst", Format::BatsimJobs),
            ("a.json.txt", Format::Swf),
            ("a.gz", Format::Swf),
            ("json", Format::Swf),
            ("-", Format::Swf),
        ] {
            assert_eq!(by_ending(Path::new(out)), format, "{out}");
        }
    }
}
