//! Every column, every word of a column and every number of the summary occurs in some run, and each number of a run is
//! one that its column can have.
//!
//! The columns come from the format and the words from the manual, so a new one is tested as soon
//! as it exists. The runs are those of `every_key/`, of the scenarios of the repository that need
//! no logs, and of `every_column/`, which has the cases that those leave out.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::LazyLock;

use haggle_results::columns::{Column, Kind, Missing};
use haggle_results::reader::Rows;
use haggle_results::{RunReader, Table};
use serde_json::Value;

use crate::command::Folder;
use crate::scenarios_in_the_repository::needs_logs;

/// The only column that is always empty: Batsim has it, and does not use it either.
const EMPTY: &str = "jobs.metadata";

/// Words that no run here has, with the reasons.
const UNTOLD: [(&str, &str, &str); 2] = [
    ("disclosures.item", "queue", "no composition asks for it, as `haggle list disclosures` says"),
    (
        "message_faults.fault",
        "refused",
        "where messages cost no jobs, all are expected: crates/runtime/tests/it/any_message.rs",
    ),
];

/// Numbers of the summary that are zero in all runs here, since these words do not occur.
const ZERO: [&str; 1] = ["message_faults.refused"];

/// Contents of all runs together.
#[derive(Default)]
struct Had {
    /// The columns that were filled, as `table.column`.
    filled: BTreeSet<String>,
    /// The words in each column of words.
    words: BTreeMap<String, BTreeSet<String>>,
    /// The numbers of the summary over the whole run; `true` if a run had one above zero.
    numbers: BTreeMap<String, bool>,
}

static HAD: LazyLock<Had> = LazyLock::new(|| {
    let folder = Folder::with(&[]);
    let mut had = Had::default();
    for from in ["tests/every_key", "tests/every_column", "scenarios"] {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(from);
        let copied = Command::new("cp").arg("-r").arg(&source).arg(folder.path()).status();
        assert!(copied.is_ok_and(|status| status.success()), "{from} can be copied");
        let copy = folder.path().join(source.file_name().expect("it has a name"));
        for entry in fs::read_dir(copy).expect("the folder is there") {
            let path = entry.expect("an entry can be read").path();
            if path.extension().is_some_and(|ending| ending == "toml") && is_one_run(&path) {
                let path = path.to_str().expect("the paths of the repository are UTF-8");
                let out = format!("{path}.out");
                let run = ["run", path, "-o", &out, "--check", "--no-figures", "--quiet"];
                let shown = folder.haggle(&run);
                assert!(shown.starts_with("exit code: 0\n"), "{path}: {shown}");
                had.take(&RunReader::open(Path::new(&out)).expect("a run"));
            }
        }
    }
    had
});

fn is_one_run(scenario: &Path) -> bool {
    let text = fs::read_to_string(scenario).expect("it can be read");
    !text.contains("[sweep]") && !text.contains("[[branch]]") && !needs_logs(scenario)
}

impl Had {
    fn take(&mut self, run: &RunReader) {
        for table in Table::ALL.into_iter().filter(|table| run.has(*table)) {
            let all = run.in_batches(table, &names_of(table), &Rows::all(), |batch| {
                batch.refuse_impossible(table)
            });
            all.expect("each number is possible");
            for column in table.columns() {
                let name = name(table, column);
                let data = run.columns(table, &[column.name]).expect("the table is whole");
                let unknown = |number: f64| {
                    number == 0.0 || number == -1.0 && matches!(column.missing, Missing::Number(_))
                };
                let has_number = |number: Option<f64>| number.is_some_and(|it| !unknown(it));
                let filled = match column.kind {
                    Kind::Word | Kind::Text => {
                        let column = data.text(column.name).expect("a column of texts");
                        let told = (0..data.rows()).filter_map(|row| column.at(row));
                        let words = self.words.entry(name.clone()).or_default();
                        told.for_each(|word| {
                            words.insert(word.to_owned());
                        });
                        !words.is_empty()
                    }
                    Kind::Integer => {
                        let numbers = data.integer(column.name).expect("a column of integers");
                        numbers.iter().any(|it| has_number(it.map(|it| it as f64)))
                    }
                    Kind::Seconds | Kind::Real => {
                        let numbers = data.real(column.name).expect("a column of numbers");
                        numbers.iter().any(|it| has_number(*it))
                    }
                };
                if filled {
                    self.filled.insert(name);
                }
            }
        }
        let summary = run.summary_value().expect("a summary");
        self.count("", &summary);
    }

    /// Counts the numbers in `value`, named `name`. Lists are skipped: groups have the same numbers
    /// as the whole.
    fn count(&mut self, name: &str, value: &Value) {
        match value {
            Value::Object(values) => {
                for (key, value) in values {
                    let dot = if name.is_empty() { "" } else { "." };
                    self.count(&format!("{name}{dot}{key}"), value);
                }
            }
            Value::Number(number) => {
                *self.numbers.entry(name.to_owned()).or_default() |= number.as_f64() != Some(0.0);
            }
            _ => {}
        }
    }
}

fn names_of(table: Table) -> Vec<&'static str> {
    table.columns().iter().map(|it| it.name).collect()
}

fn name(table: Table, column: &Column) -> String {
    format!("{}.{}", table.name(), column.name)
}

fn columns() -> impl Iterator<Item = (String, &'static Column)> {
    let named = |table: Table| table.columns().iter().map(move |it| (name(table, it), it));
    Table::ALL.into_iter().flat_map(named)
}

/// The words that the manual lists for a column: texts in backticks that are no column or table.
fn listed(column: &Column) -> BTreeSet<&'static str> {
    // Own words explain those of Batsim, and ends of transfers have names.
    if column.kind != Kind::Word || ["final_state", "from", "to"].contains(&column.name) {
        return BTreeSet::new();
    }
    let is_other = |word: &str| {
        Table::ALL.iter().any(|it| it.name() == word && column.name != "cause")
            || word.contains(['.', '='])
    };
    column.formula.split('`').skip(1).step_by(2).filter(|word| !is_other(word)).collect()
}

#[test]
fn every_column_is_filled_by_some_run() {
    let empty: Vec<String> =
        columns().map(|it| it.0).filter(|name| !HAD.filled.contains(name)).collect();
    assert_eq!(empty, [EMPTY]);
}

#[test]
fn every_word_is_told_by_some_run_and_listed() {
    let none = BTreeSet::new();
    let (mut untold, mut lists) = (BTreeSet::new(), 0);
    for (name, column) in columns() {
        let (listed, told) = (listed(column), HAD.words.get(&name).unwrap_or(&none));
        if listed.len() > 1 {
            lists += 1;
            let unlisted = told.iter().find(|word| !listed.contains(word.as_str()));
            assert_eq!(unlisted, None, "{name} lists {listed:?}");
        }
        let missing = listed.into_iter().filter(|word| !told.contains(*word));
        untold.extend(missing.map(|word| (name.clone(), word)));
    }
    assert!(lists > 12, "{lists} columns list their words");
    assert_eq!(untold, UNTOLD.map(|(name, word, _)| (name.to_owned(), word)).into());
}

#[test]
fn every_number_of_the_summary_is_counted_in_some_run() {
    let zero: Vec<&str> =
        HAD.numbers.iter().filter(|it| !it.1).map(|(name, _)| name.as_str()).collect();
    let mut expected = ZERO;
    expected.sort_unstable();
    assert_eq!(zero, expected);
    assert!(HAD.numbers.len() > 200, "{} numbers", HAD.numbers.len());
}
