//! Steps of a simulation: how far it goes, and the reason why it stopped.

use haggle_model::{ActorId, Cast, JobId, Span, Time};
use haggle_script::{Condition, Mistake};
use serde::Deserialize;

use super::measures;
use crate::view::Refusal;

/// A step as a request has it; exactly one key is given.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub(crate) struct StepRequest {
    messages: Option<u64>,
    instants: Option<u64>,
    time: Option<i64>,
    span: Option<i64>,
    starts: Option<u32>,
    ends: Option<u32>,
    message: Option<MessageRequest>,
    condition: Option<String>,
    end: Option<bool>,
}

/// A message to wait for; a key that is not given admits anything.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct MessageRequest {
    sender: Option<String>,
    receiver: Option<String>,
    kind: Option<String>,
    job: Option<u32>,
}

/// How far a simulation goes.
pub(crate) enum Until {
    /// So many messages.
    Messages(u64),
    /// All messages of so many instants.
    Instants(u64),
    /// All messages up to a time.
    Time(Time),
    /// All messages of a span from now on.
    Span(Span),
    /// A job starts anywhere.
    Starts(JobId),
    /// A job is over.
    Ends(JobId),
    /// A message is delivered.
    Message(Pattern),
    /// A condition holds.
    Condition(String),
    /// The state of the base of a branch: so many messages, none of which is later than a time.
    State(u64, Time),
    /// The run is over.
    End,
}

/// A message to wait for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pattern {
    pub(crate) sender: Option<ActorId>,
    pub(crate) receiver: Option<ActorId>,
    pub(crate) kind: Option<String>,
    pub(crate) job: Option<JobId>,
}

const KEYS: &str =
    "give one of messages, instants, time, span, starts, ends, message, condition and end";

impl StepRequest {
    /// Reads a request.
    pub(crate) fn read(body: &[u8]) -> Result<StepRequest, Refusal> {
        serde_json::from_slice(body)
            .map_err(|error| Refusal::wrong(format!("the step cannot be read: {error}"), KEYS))
    }

    /// The step, with names as numbers.
    pub(crate) fn until(self, cast: &Cast) -> Result<Until, Refusal> {
        let StepRequest { messages, instants, time, span, starts, ends, message, condition, end } =
            self;
        let mut all: Vec<Until> = Vec::new();
        all.extend(messages.map(Until::Messages));
        all.extend(instants.map(Until::Instants));
        all.extend(time.map(|it| Until::Time(Time::ZERO + Span::from_micros(it))));
        all.extend(span.map(|it| Until::Span(Span::from_micros(it))));
        all.extend(starts.map(|it| Until::Starts(JobId(it))));
        all.extend(ends.map(|it| Until::Ends(JobId(it))));
        if let Some(message) = message {
            all.push(Until::Message(message.pattern(cast)?));
        }
        if let Some(text) = condition {
            // Read again by the thread of the simulation, because its engine stays on one thread.
            read_condition(&text).map_err(|mistake| {
                let names = measures::names().join(", ");
                let help =
                    format!("a condition such as `jobs_waiting > 10` is over the numbers {names}");
                Refusal::wrong(format!("condition: {}", mistake.message), &help)
            })?;
            all.push(Until::Condition(text));
        }
        all.extend(end.filter(|it| *it).map(|_| Until::End));
        let one = all.pop().filter(|_| all.is_empty());
        let until = one.ok_or_else(|| Refusal::wrong("a step has exactly one aim", KEYS))?;
        until.checked()
    }
}

impl Until {
    fn checked(self) -> Result<Until, Refusal> {
        let wrong = |error: &str| Err(Refusal::wrong(error, "give a number above zero"));
        match self {
            Until::Messages(0) | Until::Instants(0) => wrong("a step of nothing"),
            Until::Span(span) if span <= Span::ZERO => wrong("a step of no time"),
            Until::Time(time) if time < Time::ZERO => wrong("a time before the start of the run"),
            until => Ok(until),
        }
    }
}

impl MessageRequest {
    fn pattern(self, cast: &Cast) -> Result<Pattern, Refusal> {
        let MessageRequest { sender, receiver, kind, job } = self;
        let actor = |name: Option<String>| name.map(|name| actor(cast, &name)).transpose();
        let is_word = |kind: &str| {
            (1..=64).contains(&kind.len())
                && kind.bytes().all(|it| it.is_ascii_lowercase() || it == b'_')
        };
        if kind.as_deref().is_some_and(|kind| !is_word(kind)) {
            let help = "write a word of the table of messages, such as submit or load_answer";
            return Err(Refusal::wrong("that is no kind of message", help));
        }
        Ok(Pattern {
            sender: actor(sender)?,
            receiver: actor(receiver)?,
            kind,
            job: job.map(JobId),
        })
    }
}

/// The number of an actor.
pub(crate) fn actor(cast: &Cast, name: &str) -> Result<ActorId, Refusal> {
    let place = cast.actors.iter().position(|it| it.name == name);
    match place.and_then(|place| u32::try_from(place).ok()) {
        Some(number) => Ok(ActorId(number)),
        None => Err(Refusal::missing(format!("there is no actor `{name}`"))),
    }
}

/// Reads a condition over the numbers of a simulation.
pub(crate) fn read_condition(text: &str) -> Result<Condition, Mistake> {
    Condition::read(text, &measures::names())
}
