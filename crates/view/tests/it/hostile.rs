//! Runs that somebody has changed: names, numbers and files that no run has. Each route answers with
//! text, and nothing panics.

use std::fs;
use std::path::Path;
use std::time::Duration;

use haggle_results::Table;
use haggle_results::columns::{Column, Kind};
use haggle_scenario::file::TableFormat;
use haggle_view::results::RunView;

use crate::client::Running;
use crate::runs::{carry_out, scenarios};

/// A run in CSV, which is easy to change.
fn run(name: &str, folder: &Path) {
    carry_out(&scenarios().join(format!("{name}.toml")), folder, |it| {
        it.results.format = TableFormat::Csv;
    });
}

/// Replaces the cells of a column by `value`, which gets the number of the row.
fn change(folder: &Path, table: &str, column: &str, value: impl Fn(usize) -> Option<String>) {
    let path = folder.join(format!("{table}.csv"));
    let mut reader = csv::ReaderBuilder::new().from_path(&path).expect("a table");
    let header = reader.headers().expect("a header").clone();
    let at = header.iter().position(|it| it == column).expect("a column");
    let rows = Vec::from_iter(reader.records().map(|it| it.expect("a row")));
    let mut writer = csv::Writer::from_path(&path).expect("it can be written");
    writer.write_record(&header).expect("it can be written");
    for (number, row) in rows.iter().enumerate() {
        let new = value(number);
        let cell = |(place, cell): (usize, &str)| match (&new, place == at) {
            (Some(new), true) => new.clone(),
            _ => cell.to_owned(),
        };
        let row = Vec::from_iter(row.iter().enumerate().map(cell));
        writer.write_record(&row).expect("it can be written");
    }
    writer.flush().expect("it can be written");
}

/// Every route that reads, with usual parameters.
const ROUTES: [&str; 22] = [
    "api/views",
    "api/views/0",
    "api/views/0/charts/0/bands",
    "api/views/0/charts/0/tile?from=0&to=1000000000000&columns=300&first_row=0&rows=512&lanes=200",
    "api/views/0/charts/0/tile?from=-inf&to=inf&columns=300&first_row=0&rows=512&lanes=200&beside=0",
    "api/views/0/charts/0/tile?from=0&to=99&columns=30&first_row=0&rows=512&lanes=20&as=north",
    "api/views/0/charts/0/at?time=1000000000&row=3",
    "api/views/0/charts/0/sum?from=0&to=1000000000000",
    "api/views/0/series?id=queue:all&id=busy:all&id=queue:0&id=busy:0&from=0&to=1000000000&columns=50",
    "api/views/0/jobs?count=50",
    "api/views/0/jobs?filter=waiting_time%20%3E%203600&sort=-waiting_time&count=50",
    "api/views/0/jobs?filter=north&sort=workload_name",
    "api/views/0/jobs?as=north",
    "api/views/0/jobs/3",
    "api/views/0/find?text=3",
    "api/views/0/find?text=%3Cb",
    "api/views/0/messages?count=100",
    "api/views/0/messages?job=3",
    "api/views/0/told?actor=north",
    "api/views/0/differences?with=0",
    "api/views/0/picture?kind=gantt&format=svg",
    "api/views/0/picture?kind=sequence&format=svg&job=3",
];

/// Asks every route; none may fail in the server. Returns the overview.
fn all_answer(server: &Running, name: &str) -> serde_json::Value {
    for route in ROUTES {
        let answer = server.get(route);
        let text = String::from_utf8_lossy(&answer.body);
        assert!(answer.status < 500, "{name}: {route}: {} {text}", answer.status);
        if !route.contains("/tile") && !route.contains("/picture") {
            // Of text, the page gets nothing that is hidden or endless.
            assert!(text.len() < 4 << 20, "{name}: {route}: {} bytes", text.len());
            assert!(!text.contains(['\u{202e}', '\u{1b}', '\u{9b}']), "{name}: {route}");
        }
    }
    server.json("api/views/0")
}

#[test]
fn names_are_text() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("run");
    run("quickstart", &path);
    let names = [
        "<script>alert(1)</script>".to_owned(),
        "\"><img src=x onerror=alert(1)>".to_owned(),
        "\u{202e}evil\u{1b}[31m\u{9b}0m\u{0}".to_owned(),
        "x".repeat(1 << 20),
        String::new(),
        "../../etc/passwd".to_owned(),
        "a,b\n\"c\"".to_owned(),
    ];
    let name = |row: usize| Some(names[row % names.len()].clone());
    change(&path, "resources", "provider", name);
    change(&path, "resources", "scheduler", name);
    // Few rows, because some names are long.
    let some = |row: usize| if row < 14 { name(row) } else { None };
    change(&path, "jobs", "workload_name", some);
    change(&path, "jobs", "outcome", some);
    change(&path, "messages", "sender", some);
    change(&path, "disclosures", "item", some);
    let server = Running::of(&[&path]);
    let overview = all_answer(&server, "names");
    assert_eq!(overview["charts"][0]["name"], "<script>alert(1)</script>");
    assert_eq!(overview["charts"][2]["name"], "\\u202eevil\\u001b[31m\\u009b0m\\u0000");
    let picture = server.get("api/views/0/picture?kind=gantt&format=svg");
    let text = String::from_utf8_lossy(&picture.body).into_owned();
    assert!(picture.status == 409 && text.contains("more than 1000 bytes"), "{text}");
    // Bars of providers that are not there are told.
    let problems = overview["problems"].to_string();
    assert!(problems.contains("their provider is not in `resources`"), "{problems}");
    let head = server.get("api/views/0").head;
    assert!(head.contains("content-type: application/json"), "{head}");
}

#[test]
fn numbers_may_be_anything() {
    let cells = ["NaN", "inf", "-inf", "-1e300", "1e300", "-5", "", "9223372036854775807"];
    let whole = ["-1", "9223372036854775807", "-9223372036854775808", "", "4294967296", "0"];
    for name in ["quickstart", "failing-grid"] {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("run");
        run(name, &path);
        for (table, column) in [
            ("placements", "starting_time"),
            ("placements", "finish_time"),
            ("attempts", "queued_time"),
            ("attempts", "finish_time"),
            ("jobs", "submission_time"),
            ("jobs", "left_time"),
            ("jobs", "promised_finish_time"),
            ("jobs", "waiting_time"),
            ("resources", "utilisation"),
        ] {
            change(&path, table, column, |row| {
                (row % 3 == 0).then(|| cells[row / 3 % cells.len()].to_owned())
            });
        }
        for (table, column) in [
            ("placements", "first_resource"),
            ("placements", "last_resource"),
            ("placements", "job"),
            ("attempts", "attempt"),
            ("jobs", "user_id"),
            ("jobs", "providers_used"),
        ] {
            change(&path, table, column, |row| {
                (row % 4 == 0).then(|| whole[row / 4 % whole.len()].to_owned())
            });
        }
        all_answer(&Running::of(&[&path]), name);
        for (table, column) in
            [("resources", "processors"), ("resources", "first_resource"), ("jobs", "job")]
        {
            change(&path, table, column, |row| Some(whole[row % whole.len()].to_owned()));
        }
        all_answer(&Running::of(&[&path]), name);
    }
}

#[test]
fn missing_and_damaged_tables_are_problems() {
    let folder = tempfile::tempdir().expect("a folder");
    let whole = folder.path().join("whole");
    run("quickstart", &whole);
    let tables = Vec::from_iter(fs::read_dir(&whole).expect("a folder").flatten());
    let names = tables.iter().map(|it| it.file_name().to_string_lossy().into_owned());
    let names = names.filter(|it| it.ends_with(".csv") || it.ends_with(".json"));
    for name in names {
        for damage in ["missing", "empty", "text", "header"] {
            let path = folder.path().join(format!("{damage}-{name}"));
            let copied = std::process::Command::new("cp").arg("-r").arg(&whole).arg(&path).status();
            assert!(copied.is_ok_and(|it| it.success()), "a folder can be copied");
            let file = path.join(&name);
            match damage {
                "missing" => fs::remove_file(&file),
                "empty" => fs::write(&file, ""),
                "text" => {
                    let text = fs::read_to_string(&file).expect("a file");
                    let head = text.lines().next().unwrap_or_default();
                    fs::write(&file, format!("{head}\n<b>\u{202e}</b>,x,y\n"))
                }
                _ => fs::write(&file, "wrong,columns\n1,2\n"),
            }
            .expect("it can be changed");
            let server = Running::of(&[&path]);
            let overview = all_answer(&server, &format!("{damage} {name}"));
            // The times that a run took are not read.
            if name != "timing.json" {
                let stem = name.split('.').next().unwrap_or_default();
                assert!(tells(&overview, &[stem]), "{damage} {name}: {}", overview["problems"]);
            }
            fs::remove_dir_all(&path).expect("it can be removed");
        }
    }
    // A folder with nothing, and none.
    let empty = folder.path().join("empty");
    fs::create_dir(&empty).expect("it can be made");
    all_answer(&Running::of(&[&empty]), "empty");
    all_answer(&Running::of(&[&folder.path().join("none")]), "none");
}

/// True if a problem of the overview has all of these words.
fn tells(overview: &serde_json::Value, words: &[&str]) -> bool {
    let problems = overview["problems"].as_array().expect("problems");
    let has = |it: &serde_json::Value| {
        it.as_str().is_some_and(|it| words.iter().all(|word| it.contains(word)))
    };
    problems.iter().any(has)
}

#[test]
fn damaged_cells_and_tables_of_failures_are_problems() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("run");
    run("failing-sites", &path);
    let none = Running::of(&[&path]).json("api/views/0")["problems"].clone();
    assert!(!none.to_string().contains(".csv"), "{none}");
    change(&path, "placements", "finish_time", |row| (row < 3).then(|| "-1".to_owned()));
    change(&path, "attempts", "outcome", |row| (row == 5).then(|| "vanished".to_owned()));
    fs::remove_file(path.join("outages.csv")).expect("it can be removed");
    let overview = all_answer(&Running::of(&[&path]), "cells");
    assert!(
        tells(
            &overview,
            &["`placements`", "3 rows have their `finish_time` before `starting_time`"]
        ),
        "{overview}"
    );
    assert!(tells(&overview, &["attempts", "vanished"]), "{overview}");
    assert!(tells(&overview, &["outages"]), "{overview}");
}

/// A column, and values that it cannot have.
type Values = (&'static str, &'static [&'static str]);

/// Each impossible value in the first rows of a table is a problem of the table, with the number of rows.
#[test]
fn impossible_values_are_problems() {
    const LARGE: &str = "9223372036854775807";
    let folder = tempfile::tempdir().expect("a folder");
    let cases: [(&str, &str, &[Values]); 6] = [
        (
            "failing-sites",
            "placements",
            &[
                ("first_resource", &["-1", "99999999999", LARGE, "-9223372036854775808"]),
                ("last_resource", &["-1", "99999999999", LARGE]),
                ("starting_time", &["-1e308", "nan", "inf"]),
                ("finish_time", &["1e308", "nan", "inf", "-inf"]),
                ("job", &["-1", "4294967296", "4294967295", "123456789", LARGE]),
                ("attempt", &["-1", "0"]),
                ("provider", &["nowhere"]),
            ],
        ),
        (
            "failing-sites",
            "resources",
            &[("processors", &["-1", LARGE]), ("last_resource", &["-1"])],
        ),
        (
            "failing-sites",
            "outages",
            &[
                ("first_resource", &["-1", LARGE]),
                ("last_resource", &["99999999999", "-9223372036854775808"]),
                ("failure_time", &["1e308", "nan", "-inf"]),
                ("restoration_time", &["1e308", "nan", "-inf"]),
                ("provider", &["nowhere"]),
            ],
        ),
        (
            "failing-sites",
            "jobs",
            &[
                ("job", &["-1", LARGE]),
                ("waiting_time", &["nan", "inf"]),
                ("execution_time", &["-inf"]),
            ],
        ),
        (
            "failing-grid",
            "attempts",
            &[
                ("queued_time", &["1e308", "nan", "-inf"]),
                ("slot_left_time", &["1e308", "nan"]),
                ("attempt", &["-7"]),
                ("job", &["-1", "123456789"]),
                ("provider", &["nowhere"]),
                ("finish_time", &["inf"]),
            ],
        ),
        ("maintenance", "maintenance", &[("first_resource", &["-1"]), ("finish_time", &["1e308"])]),
    ];
    for (example, table, columns) in cases {
        let whole = folder.path().join(example);
        if !whole.exists() {
            run(example, &whole);
        }
        let file = format!("{table}.csv");
        let before = fs::read_to_string(whole.join(&file)).expect("a table");
        let clean = Running::of(&[&whole]).json("api/views/0");
        assert!(!tells(&clean, &[" rows "]), "{example}: {}", clean["problems"]);
        for &(column, values) in columns {
            for value in values {
                change(&whole, table, column, |row| (row < 2).then(|| (*value).to_owned()));
                let server = Running::of(&[&whole]);
                let overview = match *value == values[0] {
                    true => all_answer(&server, &format!("{column} {value}")),
                    false => server.json("api/views/0"),
                };
                let named = format!("`{table}`: 2 rows ");
                let problems = &overview["problems"];
                assert!(tells(&overview, &[&named]), "{table} {column} {value}: {problems}");
                fs::write(whole.join(&file), &before).expect("it can be written");
            }
        }
    }
}

/// Columns that may have a value that others cannot have, with the reason.
type Legal = &'static [(&'static [(&'static str, &'static str)], &'static str)];

/// Columns that may be -1.
const NEGATIVE: Legal = &[
    (
        &[
            ("jobs", "submission_time"),
            ("jobs", "starting_time"),
            ("jobs", "queued_time"),
            ("jobs", "recorded_start"),
            ("jobs", "ready_time"),
            ("jobs", "deadline"),
            ("attempts", "submission_time"),
            ("attempts", "starting_time"),
            ("attempts", "queued_time"),
            ("placements", "starting_time"),
            ("messages", "time"),
            ("message_faults", "time"),
        ],
        "jobs of a start state came or started before the run",
    ),
    (&[("jobs", "requested_time")], "no limit"),
    (&[("jobs", "consumed_energy")], "energy is not simulated"),
    (&[("jobs", "priority_key")], "a user may give any key"),
    (
        &[("jobs", "job_id"), ("attempts", "job_id"), ("jobs", "preceding_job")],
        "the numbers of a log may be any",
    ),
    (
        &[
            ("jobs", "user_id"),
            ("jobs", "group_id"),
            ("jobs", "executable_id"),
            ("jobs", "queue_id"),
            ("jobs", "partition_id"),
        ],
        "a log does not say it",
    ),
    (&[("resources", "last_resource")], "the first provider has no processors"),
];

/// Columns that may have the greatest integer.
const LARGE: Legal = &[
    (
        &[
            ("jobs", "job_id"),
            ("attempts", "job_id"),
            ("jobs", "preceding_job"),
            ("jobs", "priority_key"),
            ("jobs", "user_id"),
            ("jobs", "group_id"),
            ("jobs", "executable_id"),
            ("jobs", "queue_id"),
            ("jobs", "partition_id"),
        ],
        "the numbers of a log may be any",
    ),
    (&[("inputs", "bytes"), ("transfers", "bytes"), ("workflows", "data")], "bytes"),
    (&[("jobs", "requested_memory"), ("nodes", "memory")], "bytes of memory"),
    (
        &[
            ("message_counts", "count"),
            ("transactions", "messages"),
            ("transactions", "agreement"),
            ("holds", "agreement"),
            ("transfers", "transfers"),
        ],
        "counts of messages have 64 bits",
    ),
];

/// Columns of integers that cannot be 0, with the reason.
const FROM_ONE: Legal = &[
    (
        &[
            ("attempts", "attempt"),
            ("placements", "attempt"),
            ("bookings", "number"),
            ("transactions", "number"),
            ("intervals", "interval"),
            ("intervals", "first_phase"),
            ("intervals", "last_phase"),
            ("checkpoints", "attempt"),
            ("checkpoints", "checkpoint"),
            ("maintenance", "window"),
        ],
        "numbers from 1",
    ),
    (
        &[
            ("jobs", "requested_number_of_resources"),
            ("attempts", "requested_number_of_resources"),
            ("reservations", "processors"),
            ("displacements", "processors"),
            ("moves", "processors_before"),
            ("moves", "processors"),
            ("bookings", "processors"),
            ("holds", "processors"),
            ("intervals", "processors"),
            ("nodes", "processors"),
        ],
        "a job and a node have processors",
    ),
    (
        &[
            ("offers", "tasks"),
            ("offers", "bag_tasks"),
            ("workflows", "tasks"),
            ("transactions", "parts"),
            ("message_counts", "count"),
            ("transfers", "transfers"),
        ],
        "a row is about at least one",
    ),
];

fn is_in(list: Legal, table: Table, column: &Column) -> bool {
    list.iter().flat_map(|it| it.0).any(|it| *it == (table.name(), column.name))
}

/// A table in which each number is 1, except those of one column in each row.
fn one_in_each_row(table: Table, odd: &[(&Column, &str)]) -> String {
    let names = Vec::from_iter(table.columns().iter().map(|it| it.name));
    let row = |(column, value): &(&Column, &str)| {
        let cell = |it: &Column| match it.kind {
            _ if it.name == column.name => (*value).to_owned(),
            Kind::Word => "completed".to_owned(),
            _ => "1".to_owned(),
        };
        format!("{}\n", Vec::from_iter(table.columns().iter().map(cell)).join(","))
    };
    format!("{}\n{}", names.join(","), String::from_iter(odd.iter().map(row)))
}

/// Problems of a run of which all tables have been read.
fn problems_of(path: &Path) -> Vec<String> {
    let view = RunView::new(path, "run".to_owned());
    while !view.is_read() {
        std::thread::sleep(Duration::from_millis(1));
    }
    view.problems()
}

#[test]
fn each_column_of_numbers_has_only_those_of_runs() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("run");
    run("quickstart", &path);
    for table in Table::ALL {
        let file = path.join(format!("{}.csv", table.name()));
        let before = fs::read(&file).ok();
        let numbers =
            table.columns().iter().filter(|it| !matches!(it.kind, Kind::Word | Kind::Text));
        for value in ["0", "-1", "large"] {
            let written = |it: &Column| match (value, it.kind) {
                ("large", Kind::Integer) => "9223372036854775807",
                ("large", _) => "1e308",
                (value, _) => value,
            };
            let odd = Vec::from_iter(numbers.clone().map(|it| (it, written(it))));
            fs::write(&file, one_in_each_row(table, &odd)).expect("it can be written");
            let problems = problems_of(&path);
            for (column, written) in odd {
                let is_legal = match value {
                    "0" => !is_in(FROM_ONE, table, column),
                    "-1" => is_in(NEGATIVE, table, column),
                    _ => is_in(LARGE, table, column),
                };
                let (table, column) = (table.name(), column.name);
                let named =
                    format!("`{table}`: 1 rows have a number in `{column}` that no run has");
                let is_named = problems.iter().any(|it| it.starts_with(&named));
                assert_eq!(is_named, !is_legal, "{table} {column} {written}: {problems:#?}");
            }
        }
        match before {
            Some(before) => fs::write(&file, before).expect("it can be written"),
            None => fs::remove_file(&file).expect("it can be removed"),
        }
    }
    assert_eq!(problems_of(&path), [""; 0]);
}

#[test]
fn a_run_that_was_deleted_is_refused_by_each_route() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("run");
    run("quickstart", &path);
    let server = Running::of(&[&path]);
    assert!(server.json("api/views/0/messages?count=5")["total"].as_u64() > Some(0));
    fs::remove_dir_all(&path).expect("it can be removed");
    for route in ["jobs?count=5", "messages?count=5", "told?actor=broker"] {
        let answer = server.get(&format!("api/views/0/{route}"));
        let text = String::from_utf8_lossy(&answer.body);
        assert_eq!(answer.status, 409, "{route}: {text}");
        assert!(text.contains("run the scenario again, or view another run"), "{route}: {text}");
    }
}
