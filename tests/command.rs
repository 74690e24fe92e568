//! Runs the command in a folder of its own and shows its whole output.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Child, Output, Stdio};
use std::{fs, process};

use assert_cmd::Command;
use serde_json::Value;
use tempfile::TempDir;

/// A folder with files, in which the command is run.
pub(crate) struct Folder(TempDir);

impl Folder {
    /// A folder with these files.
    pub(crate) fn with(files: &[(&str, &str)]) -> Folder {
        let folder = TempDir::new().expect("a temporary folder can be made");
        for (name, text) in files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().expect("a folder")).expect("a folder can be made");
            fs::write(path, text).expect("a file can be written there");
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

    /// The object in a JSON file there.
    pub(crate) fn json(&self, name: &str) -> Value {
        serde_json::from_str(&self.read(name)).expect("the file is JSON")
    }

    /// The summary of a run whose results are in a folder there.
    pub(crate) fn summary(&self, run: &str) -> Value {
        self.json(&format!("{run}/summary.json"))
    }

    /// The names of all files there, hidden ones too, in order.
    pub(crate) fn names(&self) -> Vec<String> {
        self.names_in("")
    }

    /// The names of all files in a folder there.
    pub(crate) fn names_in(&self, folder: &str) -> Vec<String> {
        let entries = fs::read_dir(self.path().join(folder)).expect("the folder is there");
        let name = |entry: std::io::Result<fs::DirEntry>| {
            entry.expect("an entry can be read").file_name().to_string_lossy().into_owned()
        };
        let mut names: Vec<String> = entries.map(name).collect();
        names.sort();
        names
    }

    /// Every file below a folder there: its path from that folder, and its bytes.
    pub(crate) fn tree(&self, folder: &str) -> BTreeMap<String, Vec<u8>> {
        let root = self.path().join(folder);
        let mut files = BTreeMap::new();
        let mut open = vec![root.clone()];
        while let Some(folder) = open.pop() {
            for entry in fs::read_dir(&folder).expect("the folder is there") {
                let path = entry.expect("an entry can be read").path();
                if path.is_dir() {
                    open.push(path);
                } else {
                    let name = path.strip_prefix(&root).expect("it lies below");
                    let bytes = fs::read(&path).expect("it can be read");
                    files.insert(name.to_string_lossy().into_owned(), bytes);
                }
            }
        }
        files
    }

    /// Starts `haggle` with these arguments and does not wait for it.
    pub(crate) fn start(&self, arguments: &[&str]) -> Child {
        process::Command::new(assert_cmd::cargo::cargo_bin!("haggle"))
            .current_dir(self.path())
            .env_remove("HAGGLE_TRACES")
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the command can be started")
    }

    /// Exit code, standard output and standard error of `haggle` with these arguments.
    pub(crate) fn haggle(&self, arguments: &[&str]) -> String {
        self.haggle_reading("", arguments)
    }

    /// The same in a shell that sets limits first.
    pub(crate) fn haggle_under(&self, limits: &str, arguments: &[&str]) -> String {
        let output = process::Command::new("bash")
            .current_dir(self.path())
            .env_remove("HAGGLE_TRACES")
            .args(["-c", &format!("{limits}; exec \"$0\" \"$@\"")])
            .arg(assert_cmd::cargo::cargo_bin!("haggle"))
            .args(arguments)
            .output()
            .expect("the shell can be started");
        shown(&output)
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
        shown(&output)
    }
}

/// Output of a command after it has ended.
pub(crate) fn ended(child: Child) -> String {
    shown(&child.wait_with_output().expect("it ends"))
}

/// Presses Ctrl-C for a command that was started.
#[cfg(unix)]
pub(crate) fn interrupt(child: &Child) {
    signal(child, "INT");
}

/// Sends a signal to a command that was started.
#[cfg(unix)]
pub(crate) fn signal(child: &Child, name: &str) {
    let signal = format!("-{name}");
    let sent = process::Command::new("kill").args([&signal, &child.id().to_string()]).status();
    assert!(sent.is_ok_and(|status| status.success()), "the signal can be sent");
}

/// Standard output of a shown command.
pub(crate) fn stdout_of(shown: &str) -> &str {
    let stdout = shown.split("----- stdout -----\n").nth(1).unwrap_or_default();
    stdout.split("----- stderr -----\n").next().unwrap_or_default()
}

/// JSON on standard output of a shown command.
pub(crate) fn json_of(shown: &str) -> Value {
    serde_json::from_str(stdout_of(shown)).unwrap_or_else(|error| panic!("{error}: {shown}"))
}

/// Standard error of a shown command.
pub(crate) fn stderr_of(shown: &str) -> &str {
    shown.split("----- stderr -----\n").nth(1).unwrap_or_default()
}

pub(crate) fn shown(output: &Output) -> String {
    format!(
        "exit code: {}\n----- stdout -----\n{}----- stderr -----\n{}",
        output.status.code().map_or_else(|| "none".into(), |code| code.to_string()),
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    )
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

/// A shown text with long messages in one line.
pub(crate) fn unwrapped(shown: &str) -> String {
    shown.replace("\n  │ ", " ")
}

/// The output of a command that succeeds, with long messages in one line.
pub(crate) fn succeeds(folder: &Folder, arguments: &[&str]) -> String {
    let shown = folder.haggle(arguments);
    assert!(shown.starts_with("exit code: 0"), "{arguments:?}: {shown}");
    unwrapped(&shown)
}

/// The output of a command that is refused because of its arguments or files, with long messages in one line.
pub(crate) fn refused(folder: &Folder, arguments: &[&str]) -> String {
    let shown = folder.haggle(arguments);
    let code = shown.chars().nth("exit code: ".len());
    assert!(code.is_some_and(|code| "23".contains(code)), "{arguments:?}: {shown}");
    unwrapped(&shown)
}
