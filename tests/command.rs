//! Runs the command in a folder of its own and shows all that came of it.

use std::fs;
use std::path::Path;

use assert_cmd::Command;
use tempfile::TempDir;

/// A folder with files, in which the command is run.
pub(crate) struct Folder(TempDir);

impl Folder {
    /// A folder with these files.
    pub(crate) fn with(files: &[(&str, &str)]) -> Folder {
        let folder = TempDir::new().expect("a temporary folder can be made");
        for (name, text) in files {
            fs::write(folder.path().join(name), text).expect("a file can be written there");
        }
        Folder(folder)
    }

    /// The folder's path.
    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    /// The text of a file there.
    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path().join(name)).expect("the file is there")
    }

    /// The names of all files there, hidden ones too, in order.
    pub(crate) fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.path()).expect("the folder is there");
        let name = |entry: std::io::Result<fs::DirEntry>| {
            entry.expect("an entry can be read").file_name().to_string_lossy().into_owned()
        };
        let mut names: Vec<String> = entries.map(name).collect();
        names.sort();
        names
    }

    /// Exit code, standard output and standard error of `haggle` with these arguments.
    pub(crate) fn haggle(&self, arguments: &[&str]) -> String {
        self.haggle_reading("", arguments)
    }

    /// The same with `input` on standard input.
    pub(crate) fn haggle_reading(&self, input: &str, arguments: &[&str]) -> String {
        let output = Command::cargo_bin("haggle")
            .expect("cargo builds the command for its tests")
            .current_dir(self.path())
            .env_remove("HAGGLE_TRACES")
            .args(arguments)
            .write_stdin(input)
            .output()
            .expect("the command can be started");
        format!(
            "exit code: {}\n----- stdout -----\n{}----- stderr -----\n{}",
            output.status.code().map_or_else(|| "none".into(), |code| code.to_string()),
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr),
        )
    }
}

/// A small scenario without mistakes.
pub(crate) const VALID: &str = r#"
[[workload]]
name = "jobs"
jobs = [{ submit = "0s", processors = 4, requested = "100s", run = "80s" }]

[[provider]]
name = "north"
processors = 8

[[user]]
name = "users"
workload = "jobs"
submits-to = "north"
"#;
