//! Remains of killed commands are removed by the next command; files in use by another command are
//! not.

use std::fs;

use crate::command::{Folder, VALID};

#[test]
fn half_written_tables_of_a_sweep_go() {
    let sweep = format!("{VALID}\n[sweep]\nreplications = 2\n");
    let folder = Folder::with(&[("sweep.toml", &sweep)]);
    fs::create_dir_all(folder.path().join("out/.sweep/failed")).expect("it can be made");
    let held = folder.path().join("out/.held12.partial");
    for name in ["out/.eNLx2Q.partial", "out/.sweep/failed/.abcdef.partial", "out/.held12.partial"]
    {
        fs::write(folder.path().join(name), "half").expect("it can be written");
    }
    let writer = fs::File::open(&held).expect("it is there");
    writer.try_lock().expect("nobody else has it");
    assert!(folder.haggle(&["sweep", "sweep.toml", "-o", "out"]).starts_with("exit code: 0\n"));
    let names = folder.names_in("out");
    assert!(!names.contains(&".eNLx2Q.partial".to_owned()), "{names:?}");
    assert!(names.contains(&".held12.partial".to_owned()), "{names:?}");
    assert_eq!(folder.names_in("out/.sweep/failed"), [""; 0]);
    drop(writer);
    assert!(
        folder
            .haggle(&["sweep", "sweep.toml", "-o", "out", "--merge"])
            .starts_with("exit code: 0\n")
    );
    assert!(!held.exists());
}

#[test]
fn folders_of_packs_that_were_being_made_go() {
    let axis = "[[sweep.axis]]\npath = \"provider.north.policy\"\nvalues = [\"fcfs\", \"easy\"]\n";
    let sweep = format!("{VALID}\n[sweep]\n{axis}");
    let folder = Folder::with(&[("sweep.toml", &sweep)]);
    let left = folder.path().join("tmp/haggle-scratch-AbCdEf");
    fs::create_dir_all(left.join("run")).expect("it can be made");
    fs::write(left.join(".lock"), "").expect("it can be written");
    fs::write(folder.path().join("tmp/own.txt"), "mine").expect("it can be written");
    let shown = folder
        .haggle_under("export TMPDIR=$PWD/tmp", &["sweep", "sweep.toml", "-o", "out", "--pack"]);
    assert!(shown.starts_with("exit code: 0\n"), "{shown}");
    assert_eq!(folder.names_in("tmp"), ["own.txt"]);
}

#[test]
fn half_written_logs_and_workflows_go() {
    let folder = Folder::with(&[("a.swf", "1 0 0 10 1 -1 -1 1 20 -1 1 1 1 1 1 1 -1 -1\n")]);
    for name in [".c.swf.4711.partial", ".w.json.12.partial", ".other.swf.4711.partial"] {
        fs::write(folder.path().join(name), "half").expect("it can be written");
    }
    for arguments in [
        &["workload", "convert", "a.swf", "c.swf"][..],
        &["workflow", "generate", "montage", "--tasks", "50", "-o", "w.json"],
    ] {
        let shown = folder.haggle(arguments);
        assert!(shown.starts_with("exit code: 0\n"), "{shown}");
    }
    assert_eq!(folder.names(), [".other.swf.4711.partial", "a.swf", "c.swf", "w.json"]);
}
