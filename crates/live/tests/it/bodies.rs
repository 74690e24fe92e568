//! Bodies on record: the bytes of each kind never change, and no other bytes do harm.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use haggle_agents::Message;
use haggle_agents::protocol::{
    DispatchMessage, NumberedMessage, PlanningMessage, SubmissionMessage,
};
use haggle_live::wire::{KINDS, Kind, Limits, Unread, Unsendable, decode, encode};
use haggle_model::iterative::Behaviour;
use haggle_model::job::HiddenRunTime;
use haggle_model::{ActorId, Job, JobId, Span, Time};
use haggle_planning::Interval;
use proptest::prelude::*;
use proptest::sample::Index;

use crate::samples::{proposal, run_interval, samples, submit};

/// A body on record.
struct Body<'a> {
    number: u16,
    word: &'a str,
    bytes: Vec<u8>,
    /// The message as JSON.
    text: &'a str,
}

/// Number, word, bytes and message of each body, a line each.
const RECORD: &str = include_str!("../golden/bodies.tsv");

fn bodies() -> Vec<Body<'static>> {
    let body = |line: &'static str| {
        let cells: Vec<&str> = line.split('\t').collect();
        let &[number, word, hex, text] = cells.as_slice() else { panic!("four cells: {line}") };
        let number = u16::from_str_radix(number, 16).expect("a number");
        let byte = |at| u8::from_str_radix(&hex[at..at + 2], 16).expect("two digits");
        let bytes = (0..hex.len()).step_by(2).map(byte).collect();
        Body { number, word, bytes, text }
    };
    RECORD.lines().map(body).collect()
}

fn text(message: &Message) -> String {
    serde_json::to_string(message).expect("keys are words and numbers")
}

#[test]
fn numbers_and_words_are_used_once() {
    assert!(KINDS.is_sorted_by_key(|kind| kind.number), "a look-up needs the order");
    let numbers: BTreeSet<u16> = KINDS.iter().map(|kind| kind.number).collect();
    let words: BTreeSet<&str> = KINDS.iter().map(|kind| kind.word).collect();
    assert_eq!([numbers.len(), words.len()], [KINDS.len(); 2]);
    for kind in KINDS {
        assert!((0x0101..0x8000).contains(&kind.number), "{kind:?}");
        assert_eq!(Kind::numbered(kind.number), Some(kind));
        assert_eq!(kind.routes.is_empty(), kind.word == "item", "{kind:?}");
    }
    assert_eq!(Kind::numbered(0x0001), None, "no message of an actor");
}

/// To add lines: `UPDATE_WIRE=1 cargo test -p haggle-live samples_are_on_record`, or `-p haggle-runtime wire_bodies` for
/// messages of the runs there. A line on record never changes: a new body is a new kind.
#[test]
fn samples_are_on_record() {
    let record: BTreeSet<&str> = RECORD.lines().collect();
    let mut all = record.clone();
    let lines: Vec<String> = samples()
        .into_iter()
        .map(|sample| {
            let word = sample.kind();
            let (number, bytes) = encode(sample).expect("it travels");
            let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            let arrived = decode(number, &bytes, &Limits::default()).expect("it is one");
            format!("{number:04X}\t{word}\t{hex}\t{}", text(&arrived))
        })
        .collect();
    all.extend(lines.iter().map(String::as_str));
    if std::env::var_os("UPDATE_WIRE").is_some() {
        let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden/bodies.tsv");
        let all: Vec<&str> = all.into_iter().collect();
        std::fs::write(path, all.join("\n") + "\n").expect("it can be written");
    } else {
        let missing: Vec<&&str> = all.difference(&record).collect();
        assert!(missing.is_empty(), "tests/golden/bodies.tsv lacks {missing:#?}");
    }
}

#[test]
fn bytes_on_record_keep_their_meaning() {
    let mut seen = BTreeSet::new();
    for Body { number, word, bytes, text: on_record } in bodies() {
        let message = decode(number, &bytes, &Limits::default());
        let message: Message =
            message.unwrap_or_else(|error| panic!("{number:04X} {word}: {error}"));
        assert_eq!(message.kind(), word, "{number:04X}");
        assert_eq!(text(&message), on_record, "{number:04X} {word}");
        let kind = Kind::of(&message).expect("it travels").number;
        assert_eq!(kind, number, "{word}");
        assert_eq!(encode(message), Ok((number, bytes)), "{word}");
        seen.insert(number);
    }
    let unseen: Vec<&Kind> = KINDS.iter().filter(|kind| !seen.contains(&kind.number)).collect();
    assert!(unseen.is_empty(), "no bytes on record: {unseen:?}");
}

#[test]
fn a_body_with_a_byte_more_or_less_is_refused() {
    let mut shorter = 0;
    for Body { number, word, bytes, .. } in bodies() {
        let read = |bytes: &[u8]| decode(number, bytes, &Limits::default());
        assert_eq!(read(&[&bytes[..], &[0]].concat()), Err(Unread::Malformed(number)), "{word}");
        for length in 0..bytes.len() {
            assert_eq!(read(&bytes[..length]), Err(Unread::Malformed(number)), "{word}");
            shorter += 1;
        }
    }
    assert!(shorter > 1_000);
}

#[test]
fn unknown_kinds_are_not_supported() {
    let known: BTreeSet<u16> = KINDS.iter().map(|kind| kind.number).collect();
    for kind in (0..=u16::MAX).filter(|kind| !known.contains(kind)) {
        assert_eq!(decode(kind, &[], &Limits::default()), Err(Unread::Unsupported(kind)));
    }
}

/// A numbered message in a numbered message, again and again: reading stops at the first.
#[test]
fn numbered_messages_do_not_nest() {
    let mut body = vec![0, 0x81, 0x0A, 0];
    for _ in 0..50_000 {
        // Number 0, kind 0x0E01, and the body before.
        let length = body.len();
        let mut outer = vec![0, 0x81, 0x1C];
        let mut rest = length;
        while rest >= 0x80 {
            outer.push((rest & 0x7F) as u8 | 0x80);
            rest >>= 7;
        }
        outer.push(rest as u8);
        outer.extend(&body);
        body = outer;
        if body.len() > 20_000 {
            break;
        }
    }
    assert_eq!(decode(0x0E01, &body, &Limits::default()), Err(Unread::Malformed(0x0E01)));
}

/// A sequence that claims more elements than there are bytes.
#[test]
fn a_claimed_length_takes_no_memory() {
    let claim = [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F];
    let mut refused = 0;
    for Body { number, bytes, .. } in bodies() {
        for at in 0..bytes.len() {
            let changed = [&bytes[..at], &claim, &bytes[at + 1..]].concat();
            refused += u32::from(decode(number, &changed, &Limits::default()).is_err());
        }
    }
    assert!(refused > 1_000);
}

/// The runs have no proposals, and no job with all that can be hidden.
#[test]
fn a_description_hides_what_only_a_machine_knows() {
    let (number, one) = encode(proposal(100)).expect("it travels");
    assert_eq!(encode(proposal(9_999_999)), Ok((number, one.clone())));
    let arrived = decode(number, &one, &Limits::default());
    let Ok(Message::Planning(PlanningMessage::Propose(order))) = arrived else {
        panic!("a proposal")
    };
    assert_eq!(order.job.run_time, HiddenRunTime::UNKNOWN);
    assert_eq!(order.job.origin.logged, None);
    assert_eq!(order.job.task.as_ref().and_then(|task| task.progress), None);
    let behaviour = order.job.iterative.as_ref().map(|it| it.behaviour);
    assert_eq!(behaviour, Some(Behaviour::UNKNOWN));
    // The rest of a job cannot be handed over.
    let run = PlanningMessage::RunInterval(order).into();
    assert_eq!(encode(run), Err(Unsendable::NoProgram));
}

#[test]
fn a_job_that_is_handed_over_has_its_program() {
    let Message::Submission(SubmissionMessage::Submit(sent)) = submit(100) else {
        panic!("a submission")
    };
    let (number, body) = encode(submit(100)).expect("it travels");
    let arrived = decode(number, &body, &Limits::default());
    let Ok(Message::Submission(SubmissionMessage::Submit(came))) = arrived else {
        panic!("a submission")
    };
    let mut job = (*sent.job).clone();
    // The log is the only part that stays behind.
    job.origin.logged = None;
    assert_eq!(*came.job, job);
    assert_ne!(encode(submit(101)).expect("it travels").1, body);
}

#[test]
fn numbers_out_of_bounds_are_refused() {
    let check = |message: Message, limits: Limits| {
        let (number, body) = encode(message).expect("it travels");
        decode(number, &body, &limits).map(|_| ()).map_err(|error| error.to_string())
    };
    let all = Limits::default();
    assert_eq!(check(submit(100), all), Ok(()));
    let refused = |message, limits| check(message, limits).expect_err("it is out of bounds");
    assert_eq!(refused(submit(100), Limits { jobs: 3, ..all }), "JobId is 3, not within 0 to 2");
    assert_eq!(
        refused(submit(100), Limits { actors: 6, ..all }),
        "ActorId is 6, not within 0 to 5"
    );
    let few = Limits { processors: 8, ..all };
    assert_eq!(refused(submit(100), few), "Job.processors is 8, not within 1 to 7");
    assert_eq!(
        refused(submit(-1), all),
        "the body is not one of kind 0x0101",
        "a negative run time is no program"
    );
    let changed = |change: &dyn Fn(&mut Job)| {
        let Message::Submission(SubmissionMessage::Submit(mut it)) = submit(100) else { panic!() };
        change(Arc::make_mut(&mut it.job));
        Message::from(SubmissionMessage::Submit(it))
    };
    assert_eq!(
        refused(changed(&|job| job.processors = 0), all),
        "Job.processors is 0, not within 1 to 16777215"
    );
    let negative = changed(&|job| job.requested_time = Some(Span::from_secs(-1)));
    assert!(refused(negative, all).starts_with("Span is -1000000, not within 0 to"));
    let late = changed(&|job| job.submit = Time::from_micros(i64::MAX));
    assert!(refused(late, all).starts_with("Time is 9223372036854775807, not within"));
    let nan = changed(&|job| {
        let application = job.iterative.as_mut().expect("it has one");
        let rates = &mut Arc::make_mut(application).throughputs;
        rates.insert("x".to_owned(), vec![f64::NAN]);
    });
    assert!(refused(nan, all).contains("is NaN, not within"));
    let name = changed(&|job| {
        let application = job.iterative.as_mut().expect("it has one");
        let rates = &mut Arc::make_mut(application).throughputs;
        rates.insert("x".repeat(257), vec![1.0]);
    });
    assert!(refused(name, all).contains("is 257, not within 0 to 256"));
    assert_eq!(check(run_interval(Interval::new(2, 3)), all), Ok(()));
    assert_eq!(
        refused(run_interval(Interval::new(2, 4)), all),
        "an application of 3 phases has no phase 4"
    );
    let message = Box::new(run_interval(Interval::new(2, 4)));
    assert_eq!(
        refused(NumberedMessage::Item { number: 0, message }.into(), all),
        "an application of 3 phases has no phase 4"
    );
    assert!(refused(run_interval(Interval::new(0, 3)), all).starts_with("Interval.first is 0"));
    assert!(refused(run_interval(Interval::new(3, 2)), all).starts_with("Interval.last is 2"));
    let withdraw = SubmissionMessage::Withdraw { job: JobId(u32::MAX) };
    assert!(refused(withdraw.into(), all).starts_with("JobId is 4294967295"));
    let leave = DispatchMessage::Leave { job: JobId(0), to: Some(ActorId(u32::MAX)) };
    assert!(refused(leave.into(), all).starts_with("ActorId is 4294967295"));
}

/// Reading any body gives an error, or a message that is written and read as the same.
fn harmless(kind: u16, body: &[u8]) {
    if let Ok(message) = decode(kind, body, &Limits::default()) {
        let (number, written) = encode(message.clone()).expect("what was read can be written");
        assert_eq!(number, kind);
        let again = decode(kind, &written, &Limits::default()).expect("and read again");
        assert_eq!(text(&again), text(&message));
    }
}

proptest! {
    // Each case tries all bodies.
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn random_bodies_do_no_harm(body: Vec<u8>) {
        for kind in KINDS {
            harmless(kind.number, &body);
        }
    }

    #[test]
    fn changed_bodies_do_no_harm(changes: [(Index, u8); 3], cut: Index) {
        for Body { number, bytes, .. } in bodies() {
            let mut changed = bytes.clone();
            if changed.is_empty() {
                continue;
            }
            for (at, to) in &changes {
                let at = at.index(changed.len());
                changed[at] = *to;
                harmless(number, &changed);
            }
            changed.truncate(cut.index(changed.len()));
            harmless(number, &changed);
        }
    }
}

/// The table of kinds in docs/internals/wire.md. To renew it: `UPDATE_WIRE=1 cargo test -p haggle-live the_page`.
#[test]
fn the_page_has_all_kinds() {
    let mut words: BTreeMap<u16, Vec<&str>> = BTreeMap::new();
    for Body { number, word, .. } in bodies() {
        words.entry(number).or_default().push(word);
    }
    let mut table = String::from(
        "| number | kind | durable | from and to | words in tables |\n|---|---|---|---|---|\n",
    );
    for kind in KINDS {
        let routes: Vec<String> = kind
            .routes
            .iter()
            .map(|(from, to)| format!("{} → {}", from.name(), to.name()))
            .collect();
        let routes =
            if routes.is_empty() { "as its contents".to_owned() } else { routes.join(", ") };
        let words = words[&kind.number].join(" ");
        table += &format!(
            "| 0x{:04X} | `{}` | {} | {routes} | `{words}` |\n",
            kind.number,
            kind.word,
            if kind.durable { "yes" } else { "no" },
        );
    }
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/internals/wire.md");
    let page = std::fs::read_to_string(&path).expect("the page is there");
    let (before, rest) = page.split_once("<!-- kinds -->\n").expect("the table begins");
    let (_, after) = rest.split_once("<!-- end of kinds -->\n").expect("the table ends");
    let renewed = format!("{before}<!-- kinds -->\n{table}<!-- end of kinds -->\n{after}");
    if std::env::var_os("UPDATE_WIRE").is_some() {
        std::fs::write(&path, renewed).expect("it can be written");
    } else {
        assert!(
            page == renewed,
            "docs/internals/wire.md is stale: run UPDATE_WIRE=1 cargo test -p haggle-live the_page"
        );
    }
}
