//! `haggle sweep --summaries-only` and `--pack`, which keep many runs in few files.

use std::fs;

use crate::cli_sweep::{FIRST_RUN, ONE_LOG_DAMAGED, WHOLE_LOG, differing, results, scenario};
use crate::command::{Folder, stderr_of};

#[test]
fn summaries_alone_give_the_same_sums() {
    let folder = Folder::with(&[("sweep.toml", &scenario(100))]);
    folder.haggle(&["sweep", "sweep.toml", "-o", "whole"]);
    let small = ["sweep", "sweep.toml", "-o", "out", "--summaries-only"];
    let shown = folder.haggle(&small);
    assert!(shown.starts_with("exit code: 0\n"), "{shown}");
    for table in ["runs.csv", "aggregate.csv", "policy=fcfs/seed=1/summary.json"] {
        assert_eq!(folder.read(&format!("out/{table}")), folder.read(&format!("whole/{table}")));
    }
    insta::assert_snapshot!(folder.names_in(FIRST_RUN).join("\n"), @r#"
    provenance.json
    scenario.toml
    summary.json
    timing.json
    "#);
    // The digests of the removed tables show that the runs are the same.
    let shown = folder.haggle(&["compare", "out", "whole"]);
    assert!(shown.contains("9 runs in both: 9 identical, 0 different"), "{shown}");
    let shown = folder.haggle(&small);
    assert_eq!(stderr_of(&shown), "9 of 9 runs are done already\n");
    insta::assert_snapshot!(folder.haggle(&small[..4]), @r#"
    exit code: 4
    ----- stdout -----
    ----- stderr -----
    error: `out/policy=fcfs/seed=1` has no tables: only its summary was kept

    hint: name another folder with -o, or remove this one; `haggle sweep` does such runs again with --force
    "#);
    insta::assert_snapshot!(folder.haggle(&["verify", FIRST_RUN]), @r#"
    exit code: 2
    ----- stdout -----
    ----- stderr -----
    error: `out/policy=fcfs/seed=1` has no tables: only its summary was kept

    hint: verify its scenario
    "#);
    insta::assert_snapshot!(folder.haggle(&["explain", FIRST_RUN, "1"]), @"
    exit code: 3
    ----- stdout -----
    ----- stderr -----
    error: `out/policy=fcfs/seed=1` has neither jobs.parquet nor jobs.csv
    ");
    let shown = folder.haggle(&[&small[..4], &["--force"]].concat());
    assert!(stderr_of(&shown).contains("9 runs that were there are done again"), "{shown}");
    assert_eq!(differing(&results(&folder, "out"), &results(&folder, "whole")), [""; 0]);
}

#[test]
fn packs_are_read_as_folders_are() {
    let figure = "[[figure]]\nkind = \"lines\"\nmetric = \"messages\"\nx = \"policy\"\n";
    let reference = "[sweep]\nreference = { policy = \"fcfs\" }";
    let text = format!("{}\n{figure}", scenario(300).replace("[sweep]", reference));
    let folder = Folder::with(&[("sweep.toml", &text)]);
    folder.haggle(&["sweep", "sweep.toml", "-o", "whole"]);
    let pack = ["sweep", "sweep.toml", "-o", "packed", "--pack", "4"];
    let shown = folder.haggle(&pack);
    assert!(shown.starts_with("exit code: 0\n"), "{shown}");
    let names = folder.names_in("packed");
    insta::assert_snapshot!(names.join("\n"), @r#"
    aggregate.csv
    lines.png
    pack=0
    pack=4
    pack=8
    runs.csv
    scenario.toml
    "#);
    insta::assert_snapshot!(folder.names_in("packed/pack=4").join("\n"), @r#"
    attempts.parquet
    disclosures.parquet
    failures.parquet
    jobs.parquet
    messages.parquet
    offers.parquet
    pack.json
    placements.parquet
    resources.parquet
    runs.parquet
    timing.json
    "#);
    for file in ["runs.csv", "aggregate.csv", "lines.png"] {
        let bytes = |place: &str| fs::read(folder.path().join(place).join(file)).expect("a file");
        assert!(bytes("packed") == bytes("whole"), "{file}");
    }
    let shown = folder.haggle(&pack);
    assert_eq!(stderr_of(&shown), "9 of 9 runs are done already\n");
    let shown = folder.haggle(&["compare", "packed", "whole"]);
    assert!(shown.contains("9 runs in both: 9 identical, 0 different"), "{shown}");
    let within = |place: &str| folder.haggle(&["compare", place, "--against", "policy=fcfs"]);
    assert_eq!(within("packed").replace("packed", "whole"), within("whole"));
    // A packed run is named as if it had a folder.
    let run = "policy=easy/seed=3";
    for command in ["show RUN", "explain RUN 7", "verify RUN", "compare RUN RUN", "show --json RUN"]
    {
        let of = |place: &str| {
            let words = command.replace("RUN", &format!("{place}/{run}"));
            folder.haggle(&words.split(' ').collect::<Vec<_>>()).replace(place, "SWEEP")
        };
        assert!(of("packed").starts_with("exit code: 0\n"), "{}", of("packed"));
        assert_eq!(of("packed"), of("whole"), "{command}");
    }
    for place in ["packed", "whole"] {
        let image = format!("{place}.png");
        let run = format!("{place}/{run}");
        let shown = folder.haggle(&["plot", &run, "--kind", "gantt", "--title", "", "-o", &image]);
        assert!(shown.starts_with("exit code: 0\n"), "{shown}");
    }
    let image = |name: &str| fs::read(folder.path().join(name)).expect("it was drawn");
    assert!(image("packed.png") == image("whole.png"));
    let shown = folder.haggle(&["plot", &format!("packed/{run}"), "--kind", "gantt"]);
    assert!(stderr_of(&shown).contains("is in a pack, and has no folder to draw into"), "{shown}");
}

#[test]
fn packs_are_whole_or_made_again() {
    let folder = Folder::with(&[("sweep.toml", &scenario(100))]);
    let whole = |place: &str| folder.haggle(&["sweep", "sweep.toml", "-o", place, "--pack", "4"]);
    whole("whole");
    let part = |part: &str| {
        folder.haggle(&["sweep", "sweep.toml", "-o", "out", "--pack", "4", "--part", part])
    };
    insta::assert_snapshot!(part("2/2"), @r#"
    exit code: 0
    ----- stdout -----
    part 2/2: 4 runs of 9
    ----- stderr -----
    "#);
    assert!(part("1/2").starts_with("exit code: 0\n"));
    assert!(whole("out").starts_with("exit code: 0\n"));
    let of_packs = |place: &str| results(&folder, place);
    assert_eq!(differing(&of_packs("out"), &of_packs("whole")), [""; 0]);
    let table = folder.path().join("out/pack=4/jobs.parquet");
    let bytes = fs::read(&table).expect("it is there");
    fs::write(&table, &bytes[..bytes.len() / 2]).expect("it can be written");
    insta::assert_snapshot!(whole("out"), @r#"
    exit code: 3
    ----- stdout -----
    ----- stderr -----
    error: `out/pack=4/jobs.parquet` is damaged: it is missing, or its size is another one than was written

    hint: remove `out/pack=4`, and the same command makes the runs of this pack again
    "#);
    let again = ["sweep", "sweep.toml", "-o", "out", "--pack", "4", "--force"];
    let forced = folder.haggle(&again);
    assert!(forced.starts_with("exit code: 0\n"), "{forced}");
    // The count is four runs of the pack, not one pack.
    assert!(stderr_of(&forced).contains("4 runs that were there are done again"), "{forced}");
    assert_eq!(differing(&of_packs("out"), &of_packs("whole")), [""; 0]);
    let other = folder.haggle(&["sweep", "sweep.toml", "-o", "out", "--pack", "3"]);
    assert!(stderr_of(&other).contains("has packs of another size (pack=4)"), "{other}");
    let csv = ["sweep", "sweep.toml", "-o", "csv", "--pack", "--set", "results.format=csv"];
    assert!(stderr_of(&folder.haggle(&csv)).contains("packed tables are Parquet"));
    // A failed run is left out of its pack; after a repair, the pack is made again.
    fs::write(folder.path().join("sweep.toml"), ONE_LOG_DAMAGED).expect("it can be written");
    fs::write(folder.path().join("whole.swf"), WHOLE_LOG).expect("it can be written");
    fs::write(folder.path().join("damaged.swf"), "1 2 3\n").expect("it can be written");
    assert!(whole("logs").starts_with("exit code: 3\n"));
    assert_eq!(folder.read("logs/failed.csv").lines().count(), 3);
    fs::write(folder.path().join("damaged.swf"), WHOLE_LOG).expect("it can be written");
    assert!(whole("logs").starts_with("exit code: 0\n"));
    assert_eq!(folder.read("logs/runs.csv").lines().count(), 5);
    // The path of its log is relative to the folder that the run would have.
    let run = |place: &str| format!("{place}/log=whole.swf/seed=2");
    folder.haggle(&["sweep", "sweep.toml", "-o", "plain/below"]);
    let shown = folder.haggle(&["compare", &run("logs"), &run("plain/below")]);
    assert!(shown.starts_with("exit code: 0\n"), "{shown}");
    assert!(shown.contains("the scenarios are the same"), "{shown}");
}

/// A sweep without axes has folders for seeds alone.
fn replications() -> String {
    let text = scenario(20);
    let (before, _) = text.split_once("[[sweep.axis]]").expect("it has axes");
    before.to_owned()
}

#[test]
fn replications_alone_are_read_out_of_their_pack() {
    let folder = Folder::with(&[("sweep.toml", &replications())]);
    let whole = ["sweep", "sweep.toml", "-o", "whole"];
    assert!(folder.haggle(&whole).starts_with("exit code: 0\n"));
    let packed = ["sweep", "sweep.toml", "-o", "out", "--pack"];
    assert!(folder.haggle(&packed).starts_with("exit code: 0\n"));
    let again = folder.haggle(&packed);
    assert!(stderr_of(&again).contains("runs are done already"), "{again}");
    for command in ["show", "jobs"] {
        let of = |place: &str| folder.haggle(&[command, &format!("{place}/seed=2")]);
        let (told, wanted) = (of("out"), of("whole"));
        assert!(told.starts_with("exit code: 0\n"), "{told}");
        assert_eq!(told.replace("out/", "whole/"), wanted);
    }
}

/// A damaged pack causes an error with the file, the run and a remedy.
#[test]
fn damage_in_a_pack_is_told_with_its_place_and_its_remedy() {
    let folder = Folder::with(&[("sweep.toml", &replications())]);
    let sweep = ["sweep", "sweep.toml", "-o", "out", "--pack"];
    assert!(folder.haggle(&sweep).starts_with("exit code: 0\n"));
    // The bytes before the footer of a file of tables.
    let change = |name: &str| {
        let path = folder.path().join("out/pack=0").join(name);
        let whole = fs::read(&path).expect("it is there");
        let mut bytes = whole.clone();
        let half = bytes.len() / 2;
        bytes[4..half].iter_mut().for_each(|byte| *byte ^= 0xff);
        fs::write(&path, &bytes).expect("it can be written");
        move || fs::write(path, whole).expect("it can be written")
    };
    let mend = change("runs.parquet");
    for command in [&sweep[..], &["show", "out/seed=2"], &["explain", "out/seed=2", "1"]] {
        let shown = folder.haggle(command);
        let said = stderr_of(&shown);
        assert!(shown.starts_with("exit code: 3\n"), "{shown}");
        assert!(said.contains("`out/pack=0/runs.parquet` is damaged: "), "{said}");
        assert!(said.contains("hint: remove `out/pack=0`"), "{said}");
    }
    mend();
    let mend = change("jobs.parquet");
    let shown = folder.haggle(&["jobs", "out/seed=2"]);
    let said = stderr_of(&shown);
    assert!(said.contains("`out/pack=0/jobs.parquet` is damaged: run 1 (`seed=2`): "), "{said}");
    assert!(said.contains("hint: remove `out/pack=0`"), "{said}");
    mend();
}

#[cfg(unix)]
#[test]
fn a_limit_of_open_files_is_named_with_a_remedy() {
    let folder = Folder::with(&[("sweep.toml", &scenario(20))]);
    let sweep = ["sweep", "sweep.toml", "-o", "out", "--pack", "--jobs", "1"];
    let shown = folder.haggle_under("ulimit -n 14", &sweep);
    assert!(shown.starts_with("exit code: 4\n"), "{shown}");
    let said = "as many files are open as the limit allows (`ulimit -n`); raise it";
    assert!(stderr_of(&shown).contains(said), "{shown}");
    let shown = folder.haggle_under("ulimit -n 64", &sweep);
    assert!(shown.starts_with("exit code: 0\n"), "{shown}");
}
