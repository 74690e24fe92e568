//! `haggle sweep --slurm` with substitutes for the commands of Slurm: the requests, and the use of
//! the answers.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::cli_sweep::{finished, scenario};
use crate::command::Folder;

/// A folder with substitutes for Slurm's commands; `told` records their arguments.
/// `tests/slurm/check.sh` carries out tasks with a real Slurm.
fn with_slurm(scenario: &str) -> Folder {
    let folder = Folder::with(&[("sweep.toml", scenario), ("queue", "")]);
    fs::create_dir(folder.path().join("bin")).expect("it can be made");
    let script = |name: &str, text: &str| {
        let path = folder.path().join("bin").join(name);
        fs::write(&path, format!("#!/bin/sh\n{text}\n")).expect("it can be written");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("it is ours");
    };
    script(
        "scontrol",
        "case $2 in config) echo 'MaxArraySize = 4'; echo 'MaxJobCount = 8' ;; *) echo NodeHostName=$HOSTS ;; esac",
    );
    script("sbatch", "echo sbatch \"$@\" >>told; wc -l <told");
    script("squeue", "cat queue");
    script("scancel", "echo scancel \"$@\" >>told");
    folder
}

/// `haggle` on a site that seems to have Slurm, with these nodes.
fn on_site(folder: &Folder, hosts: &str, arguments: &[&str]) -> String {
    folder.haggle_under(&format!("export PATH=$PWD/bin:$PATH HOSTS={hosts}"), arguments)
}

#[test]
fn a_sweep_is_submitted_once_and_then_resumed() {
    let folder = with_slurm(&scenario(30));
    let slurm = |more: &[&str]| {
        let sweep = ["sweep", "sweep.toml", "-o", "out", "--slurm"];
        on_site(&folder, "localhost", &[&sweep[..], more].concat())
    };
    insta::assert_snapshot!(slurm(&["--chunk", "1"]), @r#"
    exit code: 2
    ----- stdout -----
    ----- stderr -----
    error: the runs would be 9 tasks, and the site takes 7 jobs of yours at once

    hint: give tasks more time with --time, or more runs with --chunk
    "#);
    insta::assert_snapshot!(slurm(&["--chunk", "2", "--time", "90s", "--", "--mem=1G"]), @r#"
    exit code: 0
    ----- stdout -----
    9 runs in 5 tasks: job 1, 2; summed up by job 3
    haggle sweep status out  # its progress
    ----- stderr -----
    "#);
    let told = folder.read("told").replace(&folder.path().display().to_string(), "PLACE");
    insta::assert_snapshot!(told, @r#"
    sbatch --parsable --array=0-3 --job-name=haggle-sweep --output=PLACE/out/.sweep/slurm/log/%A_%a --requeue --open-mode=append --time=1:30 --mem=1G PLACE/out/.sweep/slurm/1-0.sh
    sbatch --parsable --array=0-0 --job-name=haggle-sweep --output=PLACE/out/.sweep/slurm/log/%A_%a --requeue --open-mode=append --time=1:30 --mem=1G PLACE/out/.sweep/slurm/1-4.sh
    sbatch --parsable --dependency=afterany:1:2 --job-name=haggle-sweep-sum --output=PLACE/out/.sweep/slurm/log/%j --requeue --open-mode=append --time=1:30 --mem=1G PLACE/out/.sweep/slurm/1-sum.sh
    "#);
    let note = folder.read("out/.sweep/slurm/1.json");
    assert!(
        note.contains("\"0-1\",\n    \"2-3\",\n    \"4-5\",\n    \"6-7\",\n    \"8\""),
        "{note}"
    );
    fs::write(folder.path().join("queue"), "1_0|RUNNING\n1_1|PENDING\n1_2|TIMEOUT\n3|PENDING\n")
        .expect("it can be written");
    let first =
        on_site(&folder, "localhost", &["sweep", "sweep.toml", "-o", "out", "--part", "1/9"]);
    assert!(first.starts_with("exit code: 0\n"), "{first}");
    let status = on_site(&folder, "localhost", &["sweep", "status", "out"]);
    let status: Vec<&str> = status.lines().filter(|line| !line.starts_with("about ")).collect();
    insta::assert_snapshot!(status.join("\n"), @r#"
    exit code: 0
    ----- stdout -----
    9 runs
      done            1
      failed          0
      running         1  in 1 task
      pending         2
      left            5  no task will do them (tasks that ended: TIMEOUT 1, forgotten 2)
    summed up by job 3: it waits
    --slurm --resume submits missing and failed runs
    ----- stderr -----
    "#);
    insta::assert_snapshot!(slurm(&["--resume"]), @r#"
    exit code: 2
    ----- stdout -----
    ----- stderr -----
    error: jobs of this sweep wait or run: 1, 3

    hint: `haggle sweep status out` reports its progress; `haggle sweep cancel` ends them
    "#);
    insta::assert_snapshot!(on_site(&folder, "localhost", &["sweep", "cancel", "out"]), @r#"
    exit code: 0
    ----- stdout -----
    2 jobs cancelled; finished runs are kept
    ----- stderr -----
    "#);
    assert_eq!(folder.read("told").lines().last(), Some("scancel 1 3"));
    fs::write(folder.path().join("queue"), "").expect("it can be written");
    insta::assert_snapshot!(slurm(&[]), @r#"
    exit code: 2
    ----- stdout -----
    ----- stderr -----
    error: this sweep was submitted before

    hint: `haggle sweep status out` reports its progress; --resume submits missing and failed runs
    "#);
    let shown = slurm(&["--resume"]);
    insta::assert_snapshot!(shown, @r#"
    exit code: 0
    ----- stdout -----
    8 runs in 1 task: job 5; summed up by job 6
    haggle sweep status out  # its progress
    ----- stderr -----
    "#);
}

#[test]
fn what_cannot_go_to_a_cluster_is_said_before_anything_is_submitted() {
    let folder = with_slurm(&scenario(30));
    let sweep = ["sweep", "sweep.toml", "-o", "/dev/shm/haggle-not-shared", "--slurm"];
    let shown = on_site(&folder, "n1", &sweep);
    assert!(!std::path::Path::new("/dev/shm/haggle-not-shared").exists());
    assert!(shown.contains("is on `/dev/shm` (tmpfs), which other nodes cannot access"), "{shown}");
    let none = folder.haggle(&["sweep", "sweep.toml", "-o", "out", "--slurm"]);
    if !none.starts_with("exit code: 0") {
        assert!(none.contains("scontrol"), "{none}");
    }
    let task = ["sweep", "sweep.toml", "-o", "out", "--task", "1/0"];
    let shown = folder.haggle_under("export SLURM_ARRAY_TASK_ID=0", &task);
    assert!(shown.contains("has no such task on this node"), "{shown}");
    assert!(folder.haggle(&task).contains("this is no task of a job array"));
    assert!(!folder.path().join("told").exists());
}

/// A node carries out the submitted sweep, or nothing.
#[test]
fn a_task_carries_out_its_chunk_of_what_was_submitted() {
    let folder = with_slurm(&scenario(30));
    let sweep = ["sweep", "sweep.toml", "-o", "out", "--slurm", "--chunk", "5"];
    assert!(on_site(&folder, "localhost", &sweep).starts_with("exit code: 0\n"));
    let task = |number: u32| {
        let task = ["sweep", "sweep.toml", "-o", "out", "--task", "1/0"];
        folder.haggle_under(&format!("export SLURM_ARRAY_TASK_ID={number}"), &task)
    };
    assert_eq!(task(1), "exit code: 0\n----- stdout -----\n----- stderr -----\n");
    assert_eq!(finished(&folder), 4);
    fs::write(folder.path().join("sweep.toml"), scenario(31)).expect("it can be written");
    assert!(task(0).contains("the scenario has changed since the sweep was submitted"));
    fs::write(folder.path().join("sweep.toml"), scenario(30)).expect("it can be written");
    let note = folder.path().join("out/.sweep/slurm/1.json");
    let text = fs::read_to_string(&note).expect("it is there");
    fs::write(&note, text.replacen("\"program\": \"", "\"program\": \"0", 1)).expect("writable");
    assert!(task(0).contains("on this node is not the program that submitted"));
    assert_eq!(finished(&folder), 4);
}

#[test]
fn damaged_notes_of_slurm_are_named() {
    let folder = with_slurm(&scenario(30));
    assert!(
        folder
            .haggle(&["sweep", "sweep.toml", "-o", "out", "--part", "1/9"])
            .starts_with("exit code: 0\n")
    );
    fs::create_dir_all(folder.path().join("out/.sweep/slurm")).expect("it can be made");
    let note = folder.path().join("out/.sweep/slurm/1.json");
    for chunk in ["0-18446744073709551615", "0-4294967295", "x", "5-2", "-1"] {
        let text = format!(
            r#"{{"program":"","scenario":"","chunks":["{chunk}"],"arrays":[{{"job":"1","first":0,"tasks":1}}],"merge":"2"}}"#
        );
        fs::write(&note, text).expect("it can be written");
        let shown = on_site(&folder, "localhost", &["sweep", "status", "out"]);
        assert!(shown.starts_with("exit code: 3\n"), "{chunk}: {shown}");
        assert!(shown.contains("out/.sweep/slurm/1.json` is damaged: "), "{chunk}: {shown}");
    }
}

#[test]
fn names_of_folders_are_no_patterns_and_no_words_of_a_shell() {
    let folder = with_slurm(&scenario(30));
    let name = "100%j it's";
    let sweep = ["sweep", "sweep.toml", "-o", name, "--slurm", "--chunk", "3"];
    let shown = on_site(&folder, "localhost", &sweep);
    assert!(shown.contains("\nhaggle sweep status '100%j it'\\''s'  # its progress\n"), "{shown}");
    let told = folder.read("told");
    assert!(told.contains("/100%%j it's/.sweep/slurm/log/%A_%a "), "{told}");
    assert!(told.contains("/100%%j it's/.sweep/slurm/log/%j "), "{told}");
    let sweep = ["sweep", "sweep.toml", "-o", "back\\slash", "--slurm", "--chunk", "3"];
    let shown = on_site(&folder, "localhost", &sweep);
    assert!(shown.starts_with("exit code: 4\n") && shown.contains("has a backslash"), "{shown}");
}
