//! Every message of a run that travels survives its body on the wire, and a body has a run time only if its message
//! hands a job over for running.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use haggle_agents::Message;
use haggle_live::wire::{Kind, Limits, Unsendable, decode, encode, may_send};
use haggle_model::{ActorId, ActorKind, Time};
use haggle_runtime::{Driver, OutsideError, Sink, World, run};
use serde_json::{Value, json};

use crate::any_message::live_worlds;
use crate::setup::kind;

/// Messages about a job that do not hand it over. There is one more, `interval_proposed`, which these runs lack.
const DESCRIBES: [&str; 4] = ["plan_request", "times_request", "tx_watch", "tx_query"];

fn printed(message: &Message) -> String {
    format!("{message:?}")
}

/// A text without run times.
fn without_run_times(printed: &str) -> String {
    let mut parts = printed.split("HiddenRunTime(");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        text += part.split_once(')').map_or(part, |(_, rest)| rest);
    }
    text
}

/// The message with another run time of each job, also in the fields of its log. `None` if it has no job, or numbers
/// that are too large for this way of changing it.
fn with_run_time(message: &Message, micros: i64) -> Option<Message> {
    fn change(value: &mut Value, micros: i64) -> bool {
        let mut changed = false;
        match value {
            Value::Object(fields) => {
                for (key, value) in fields {
                    match key.as_str() {
                        "run_time" | "program" if value.is_number() => {
                            *value = micros.into();
                            changed = true;
                        }
                        "behaviour" => {
                            *value = json!({ "start_up": micros, "slowness": micros as f64 });
                            changed = true;
                        }
                        "logged" => {
                            *value = json!({
                                "wait": micros, "run_time": micros, "allocated_processors": -1,
                                "average_cpu_time": micros, "status": -1, "requested_memory": -1,
                                "used_memory": -1, "preceding_job": -1, "think_time": 0,
                            });
                            changed = true;
                        }
                        _ => changed |= change(value, micros),
                    }
                }
            }
            Value::Array(values) => {
                for value in values {
                    changed |= change(value, micros);
                }
            }
            _ => {}
        }
        changed
    }
    let mut value = serde_json::to_value(message).ok()?;
    if !change(&mut value, micros) {
        return None;
    }
    serde_json::from_value(value).ok()
}

/// Checks every message of a run that is sent from one actor to another.
#[derive(Default)]
struct Travels {
    kinds: Vec<ActorKind>,
    /// The first body of each kind and word.
    bodies: BTreeMap<(u16, &'static str), (Vec<u8>, Message)>,
    /// Words of messages that stay.
    stays: BTreeSet<&'static str>,
    /// Words of messages whose job had another run time, and true if the body had it, too.
    changed: BTreeMap<&'static str, bool>,
    problems: BTreeSet<String>,
}

impl Travels {
    fn travels(&mut self, from: ActorId, to: ActorId, message: &Message) {
        let word = message.kind();
        let parties = (self.kinds[from.index()], self.kinds[to.index()]);
        let Some(kind) = Kind::of(message) else {
            assert_eq!(encode(message.clone()), Err(Unsendable::OneMachine));
            self.stays.insert(word);
            return;
        };
        if !may_send(message, parties.0, parties.1) {
            self.problems.insert(format!("{word} from {parties:?}"));
        }
        let (number, body) =
            encode(message.clone()).unwrap_or_else(|error| panic!("{word}: {error}"));
        assert_eq!(number, kind.number);
        let arrived = decode(number, &body, &Limits::default());
        let arrived = match arrived {
            Ok(arrived) => arrived,
            Err(error) => {
                self.problems.insert(format!("{word}: {error}"));
                return;
            }
        };
        if DESCRIBES.contains(&word) {
            let (sent, came) = (printed(message), printed(&arrived));
            assert_eq!(without_run_times(&sent), without_run_times(&came));
            let hidden = came.matches("HiddenRunTime(").count();
            assert!(hidden > 0, "{came}");
            assert_eq!(
                came.matches("HiddenRunTime(9223372036854.775807").count(),
                hidden,
                "{came}"
            );
        } else {
            assert_eq!(*message, arrived, "{word}");
        }
        if self.changed.get(word).is_none_or(|_| body.len() % 7 == 0) {
            let of =
                |micros| with_run_time(message, micros).map(|it| encode(it).expect("it travels"));
            if let (Some(one), Some(other)) = (of(1_234_567), of(7_654_321)) {
                self.changed.insert(word, one != other);
            }
        }
        self.bodies.entry((number, word)).or_insert((body, arrived));
    }
}

impl Sink for Travels {
    fn delivered(
        &mut self,
        _: Time,
        from: ActorId,
        to: ActorId,
        message: &Message,
    ) -> Result<(), OutsideError> {
        if from != to && !matches!(message, Message::Run(_)) {
            self.travels(from, to, message);
        }
        Ok(())
    }
}

fn all_of(worlds: impl Iterator<Item = World>) -> Travels {
    let mut travels = Travels::default();
    for world in worlds {
        travels.kinds = world.actors.iter().map(kind).collect();
        run(world, Driver::Sequential, &mut travels, &AtomicBool::new(false)).expect("it runs");
    }
    travels
}

/// To add the words that are missing in the file: `UPDATE_WIRE=1 cargo test -p haggle-runtime wire_bodies`. A line on
/// record never changes.
#[test]
fn messages_survive_the_wire() {
    let travels = all_of(live_worlds().iter().map(|(_, world)| world()));
    assert_eq!(travels.problems, BTreeSet::new());
    assert!(travels.bodies.len() >= 100, "{}", travels.bodies.len());
    let stays: Vec<&str> = travels.stays.into_iter().collect();
    assert!(stays.contains(&"failed") && stays.contains(&"transfer"), "{stays:?}");
    // The bodies of these do not depend on a run time, and those of all others with one do.
    let silent = travels.changed.iter().filter(|(_, differs)| !**differs).map(|(word, _)| *word);
    assert_eq!(silent.collect::<BTreeSet<_>>(), BTreeSet::from(DESCRIBES));
    assert!(travels.changed.len() >= 20, "{:?}", travels.changed);

    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../live/tests/golden/bodies.tsv");
    let known = std::fs::read_to_string(&file).unwrap_or_default();
    let known_words: BTreeSet<(&str, &str)> = known
        .lines()
        .filter_map(|line| {
            let mut cells = line.split('\t');
            Some((cells.next()?, cells.next()?))
        })
        .collect();
    let mut missing = String::new();
    for ((number, word), (body, message)) in &travels.bodies {
        let number = format!("{number:04X}");
        if !known_words.contains(&(number.as_str(), *word)) {
            let hex: String = body.iter().map(|byte| format!("{byte:02x}")).collect();
            let text = serde_json::to_string(message).expect("keys are words and numbers");
            writeln!(missing, "{number}\t{word}\t{hex}\t{text}").expect("memory takes it");
        }
    }
    if std::env::var_os("UPDATE_WIRE").is_some() {
        let mut lines: Vec<&str> = known.lines().chain(missing.lines()).collect();
        lines.sort_unstable();
        std::fs::write(&file, lines.join("\n") + "\n").expect("the folder is there");
    } else {
        assert_eq!(missing, "", "crates/live/tests/golden/bodies.tsv lacks these words");
    }
}
