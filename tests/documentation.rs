//! Every command and every scenario in README, docs and `--help` is carried out unchanged, in a
//! fresh folder.
//!
//! A block ```` ```console ```` holds only commands; a comment after one may be `exit code N`. A
//! block ```` ```text output ```` has lines that the last command printed, in their order; `...`
//! stands for omitted lines. The files that a block of Python reads must exist.
//!
//! A block ```` ```toml ```` is a whole scenario, or begins with the name of its file. Scenarios of
//! docs/studies.md are tested in `reproduce_studies`; scenarios of docs/own-rules.md are run by the
//! commands after them. A block ```` ```text FILE ```` is that file. A block of Rust is part of
//! `examples/own_rules.rs`.
#![cfg(unix)]

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;
use std::{env, fs, thread};

use serde_json::Value;

use crate::book;
use crate::cli_own_rules::PROGRAM;
use crate::command::{Folder, interrupt, stdout_of};

/// Commands that take long: they are started, and soon interrupted.
const LONG: [&str; 5] = [
    "haggle reproduce all",
    "haggle reproduce chtepen-4.9",
    "haggle verify --histories --deviations 2",
    "haggle verify --random --cases",
    "haggle verify --random --minutes",
];

/// The page of the manual that needs logs.
const TASKS: &str = "docs/tasks.md";

#[test]
fn what_readme_shows_works() {
    let (commands, _) = page(&prepared(), "README.md");
    assert_eq!(commands, 5);
}

#[test]
fn what_the_page_of_tasks_shows_works() {
    let folder = prepared();
    log(&folder, "CTC-SP2-1996-3.1-cln.swf.gz");
    log(&folder, "log.swf.gz");
    let (commands, scenarios) = page(&folder, TASKS);
    assert!(commands > 30 && scenarios > 3, "{commands} commands, {scenarios} scenarios");
}

#[test]
fn what_the_manual_shows_works() {
    for name in book::pages().iter().map(|name| format!("docs/{name}")) {
        if name != TASKS {
            let folder = prepared();
            record(&folder, "event_trace.tab");
            page(&folder, &name);
        }
    }
}

/// The examples of a command need the files of those before them, and the files prepared here.
#[test]
fn what_help_shows_works() {
    let folder = prepared();
    log(&folder, "CTC-SP2-1996-3.1-cln.swf.gz");
    log(&folder, "log.swf");
    log(&folder, "log.swf.gz");
    log(&folder, "ctc.swf.gz");
    record(&folder, "event_trace.tab");
    fs::write(folder.path().join("outages.csv"), "node,start,end\nn1,10,20\n")
        .expect("it can be written");
    let sacct = "JobID|Submit|Start|End|State|AllocCPUS\n\
                 5|2024-07-01T10:00:00|2024-07-01T10:00:30|2024-07-01T11:00:30|COMPLETED|16\n";
    fs::write(folder.path().join("jobs.txt"), sacct).expect("it can be written");
    for (place, seed) in [("runs/first", "1"), ("runs/second", "2")] {
        carry_out(
            &folder,
            &format!("haggle run scenarios/quickstart.toml --seed {seed} -o {place}"),
        );
    }
    carry_out(&folder, "haggle run scenarios/workflows.toml -o runs/pipeline");
    carry_out(&folder, "haggle run scenarios/calibrate.toml -o runs/of-log");
    for place in ["sweeps/monday", "sweeps/tuesday"] {
        carry_out(&folder, &format!("haggle sweep scenarios/sweep.toml -o {place}"));
    }
    for place in [".local/share/bash-completion/completions", ".zfunc", ".config/fish/completions"]
    {
        fs::create_dir_all(folder.path().join(place)).expect("it can be made");
    }
    let mut examples = 0;
    for command in commands(&folder, &[]) {
        let help = help(&folder, &command);
        let shown = help.lines().skip_while(|line| !line.starts_with("Example")).skip(1);
        for line in shown.take_while(|line| line.starts_with("  ")).map(str::trim) {
            // A comment line continues the example above it.
            if !line.starts_with('#') {
                carry_out(&folder, line);
                examples += 1;
            }
        }
    }
    assert!(examples > 40, "{examples} examples");
}

/// README uses cargo before a command `haggle` exists, and the gate runs the same commands.
#[test]
fn what_readme_builds_with_is_what_the_gate_runs() {
    let gate = fs::read_to_string(root().join(".ci/run")).expect("the gate is there");
    let readme = fs::read_to_string(root().join("README.md")).expect("the page is there");
    let mut found = 0;
    for line in readme.lines().filter(|line| line.starts_with("cargo ")) {
        let words: Vec<&str> = line.split(' ').collect();
        let begins = if words[1] == "run" { "cargo run --release" } else { "cargo test" };
        assert!(line.starts_with(begins), "{line}");
        assert!(gate.contains(&format!("grep -m1 '^{begins}' README.md")), "{line}");
        found += 1;
    }
    assert_eq!(found, 2);
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// A fresh folder with only the scenarios that README mentions.
fn prepared() -> Folder {
    let folder = Folder::with(&[]);
    let (from, to) = (root().join("scenarios"), folder.path());
    let copied = Command::new("cp").arg("-r").arg(from).arg(to).status();
    assert!(copied.is_ok_and(|status| status.success()), "scenarios can be copied");
    folder
}

/// A small log under the name of a real one; it covers some months.
fn log(folder: &Folder, name: &str) {
    carry_out(
        folder,
        &format!("haggle workload generate --jobs 1500 --processors 64 --load 0.05 {name}"),
    );
}

/// A record of a node that was down for an hour of a week.
fn record(folder: &Folder, name: &str) {
    let event = |number: u32, kind: u32, from: u32, until: u32| {
        format!("{number}\t0\t1\t1\tG1/site/c/n\t{kind}\t{from}\t{until}\t0\n")
    };
    let text = [event(0, 1, 0, 7_200), event(1, 0, 7_200, 10_800), event(2, 1, 10_800, 604_800)];
    fs::write(folder.path().join(name), text.concat()).expect("it can be written");
}

/// Carries out the commands and scenarios of a page in order; returns their numbers.
fn page(folder: &Folder, name: &str) -> (usize, usize) {
    let text = fs::read_to_string(root().join(name)).expect("the page is there");
    let (mut commands, mut scenarios) = (0, 0);
    let mut printed = String::new();
    for block in text.split("\n```").skip(1).step_by(2) {
        let (kind, block) = block.split_once('\n').unwrap_or((block, ""));
        match kind {
            "console" => {
                for line in block.lines() {
                    printed = carry_out(folder, line);
                    commands += 1;
                }
            }
            "text output" => prints(name, block, &printed),
            "toml" if is_file(block) => {
                let file = block.lines().next().unwrap_or_default().trim_start_matches("# ");
                fs::write(folder.path().join(file), block).expect("it can be written");
            }
            "toml" => {
                let file = format!("shown-{scenarios}.toml");
                fs::write(folder.path().join(&file), block).expect("it can be written");
                carry_out(folder, &format!("haggle run {file} --check"));
                scenarios += 1;
            }
            "python" | "sql" | "r" => reads(folder, block),
            "rust" => assert!(
                include_str!("../examples/own_rules.rs").contains(block),
                "{name}: examples/own_rules.rs does not have\n{block}"
            ),
            "text" => {}
            _ if kind.starts_with("text ") => {
                let file = kind.trim_start_matches("text ");
                fs::write(folder.path().join(file), block).expect("it can be written");
            }
            other => panic!("{name}: what is a block of {other}?"),
        }
    }
    (commands, scenarios)
}

/// Checks that a command printed the lines of a block in their order; `...` stands for other lines.
fn prints(name: &str, block: &str, printed: &str) {
    let mut rest = printed.lines();
    let mut skips = true;
    for line in block.lines() {
        let found = match (line, skips) {
            ("...", _) => true,
            (_, true) => rest.any(|printed| printed == line),
            (_, false) => rest.next() == Some(line),
        };
        assert!(
            found,
            "{name}: the command before this block does not print\n{line}\nbut\n{printed}"
        );
        skips = line == "...";
    }
}

/// The files that a block of Python, SQL or R reads must exist; its interpreter may be missing.
fn reads(folder: &Folder, block: &str) {
    for file in block.split(['"', '\'']).filter(|text| text.starts_with("runs/")) {
        let file = file.split("/**").next().unwrap_or(file);
        assert!(folder.path().join(file).exists(), "{file} is read, and is not there");
    }
}

/// True if a block begins with the name of the file that it is.
fn is_file(block: &str) -> bool {
    let first = block.lines().next().unwrap_or_default();
    first.starts_with("# ") && first.ends_with(".toml")
}

/// Every command and subcommand, as words.
fn commands(folder: &Folder, of: &[&str]) -> Vec<Vec<String>> {
    let words = || of.iter().map(|&word| word.to_owned());
    let help = help(folder, &words().collect::<Vec<_>>());
    let mut found = vec![words().collect()];
    let listed = help.lines().skip_while(|&line| line != "Commands:").skip(1);
    for line in listed.take_while(|line| line.starts_with("  ")) {
        let word = line.split_whitespace().next().expect("a word");
        if word != "help" {
            found.extend(commands(folder, &[of, &[word]].concat()));
        }
    }
    found
}

fn help(folder: &Folder, command: &[String]) -> String {
    let mut arguments: Vec<&str> = command.iter().map(String::as_str).collect();
    arguments.push("--help");
    let shown = folder.haggle(&arguments);
    assert!(shown.starts_with("exit code: 0\n"), "{shown}");
    stdout_of(&shown).to_owned()
}

/// Carries out a line, which must end with its exit code. Returns its output, unless the command is
/// only started.
fn carry_out(folder: &Folder, line: &str) -> String {
    let (command, comment) = line.split_once(" # ").unwrap_or((line, ""));
    let command = command.trim_end().replacen("cargo run --release -- ", "haggle ", 1);
    if command.starts_with("cargo ") {
        return String::new();
    }
    // The viewer answers until it is ended: here it ends when it has read all tables.
    let command = match command.strip_prefix("haggle view ") {
        Some(rest) => {
            let has = |option: &str| rest.split(' ').any(|it| it == option);
            let open = if has("--no-open") { "" } else { " --no-open" };
            let until = if has("--for") { "" } else { " --for 0s" };
            format!("{command}{open}{until}")
        }
        None => command,
    };
    if LONG.iter().any(|long| command.starts_with(long)) {
        begin(folder, &command);
        return String::new();
    }
    if let Some((command, path)) = command.split_once(" | jq ") {
        look(folder, command, path.trim_matches('\''));
        return String::new();
    }
    let codes = match comment.split_once("exit code ") {
        Some((_, code)) => &code[..1],
        // A missed claim is a result, so both exit codes are accepted.
        None if command.starts_with("haggle reproduce") => "01",
        None => "0",
    };
    let output = shell(folder, &command).output().expect("there is a shell");
    let code = output.status.code().map_or_else(|| "none".to_owned(), |code| code.to_string());
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(codes.contains(&code), "`{line}` ends with {code}: {errors}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Carries out a command whose output goes to jq, which may be missing here, and finds the value
/// itself.
fn look(folder: &Folder, command: &str, path: &str) {
    let output = shell(folder, command).output().expect("there is a shell");
    let printed = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    let object = serde_json::from_str(&printed);
    let object = object.unwrap_or_else(|error| panic!("`{command}`: {error}: {printed}{errors}"));
    assert!(holds(&object, path), "`{command}` prints nothing at {path}: {printed}");
}

/// Starts a command that takes long, and interrupts it soon.
fn begin(folder: &Folder, command: &str) {
    let mut child = shell(folder, &format!("exec {command}")).spawn().expect("there is a shell");
    for _ in 0..60 {
        if child.try_wait().is_ok_and(|ended| ended.is_some()) {
            break;
        }
        thread::sleep(Duration::from_millis(50));
    }
    interrupt(&child);
    let output = child.wait_with_output().expect("it ends");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(
        matches!(output.status.code(), Some(0 | 1 | 130)),
        "`{command}` ends with {}: {errors}",
        output.status
    );
}

fn shell(folder: &Folder, command: &str) -> Command {
    let haggle = PathBuf::from(assert_cmd::cargo::cargo_bin!("haggle"));
    let mut path = haggle.parent().expect("it lies in a folder").as_os_str().to_owned();
    path.push(":");
    if command.starts_with("own_rules ") {
        path.push(PROGRAM.parent().expect("it lies in a folder"));
        path.push(":");
    }
    path.push(env::var_os("PATH").unwrap_or_default());
    let mut shell = Command::new("sh");
    shell.args(["-c", command]).current_dir(folder.path());
    shell.env("PATH", path).env("HOME", folder.path()).env_remove("HAGGLE_TRACES");
    shell.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    shell
}

/// True if a value exists at a path such as `.a.b` or `.[].b`.
fn holds(value: &Value, path: &str) -> bool {
    let path = path.trim_start_matches('.');
    let (word, rest) = path.split_once('.').unwrap_or((path, ""));
    match value {
        value if word.is_empty() => !value.is_null(),
        Value::Array(values) if word == "[]" => {
            !values.is_empty() && values.iter().all(|value| holds(value, rest))
        }
        value => holds(&value[word], rest),
    }
}
