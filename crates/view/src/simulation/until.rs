//! Steps of a simulation: how far it goes, and the reason why it stopped.

use haggle_agents::Message;
use haggle_agents::glimpse::Stage;
use haggle_model::{ActorId, Cast, JobId, Span, Time};
use haggle_scenario::{either, nearest};
use serde::Deserialize;

use super::measures;
use super::past::Past;
use super::simulated::Simulated;
use super::stepper::{Moment, Phase};
use super::walk::words;
use crate::shown::shown;
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
    /// The state of the base of a branch: so many messages, none of which is later than a time, and the present time.
    State {
        /// Number of messages.
        number: u64,
        /// Time of the last one.
        last: Time,
        /// Present time.
        now: Time,
    },
    /// The run is over.
    End,
}

/// A message to wait for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pattern {
    pub(crate) sender: Option<ActorId>,
    pub(crate) receiver: Option<ActorId>,
    pub(crate) kind: Option<&'static str>,
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

    /// The step, with names as numbers, if it can be reached.
    pub(crate) fn until(self, view: &Simulated) -> Result<Until, Refusal> {
        let StepRequest { messages, instants, time, span, starts, ends, message, condition, end } =
            self;
        let mut all: Vec<Until> = Vec::new();
        all.extend(messages.map(Until::Messages));
        all.extend(instants.map(Until::Instants));
        all.extend(time.map(|it| Until::Time(Time::ZERO + Span::from_micros(it))));
        all.extend(span.map(|it| Until::Span(Span::from_micros(it))));
        for job in starts.iter().chain(&ends) {
            view.expects(JobId(*job))?;
        }
        all.extend(starts.map(|it| Until::Starts(JobId(it))));
        all.extend(ends.map(|it| Until::Ends(JobId(it))));
        if let Some(message) = message {
            all.push(Until::Message(message.pattern(view)?));
        }
        if let Some(text) = condition {
            // Read again by the thread of the simulation, because its engine stays on one thread.
            measures::condition(&text).map_err(|mistake| {
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
    /// Refuses an aim that lies behind the present state: such a step would end at once, or run to the end.
    pub(crate) fn ahead_of(&self, now: &Moment) -> Result<(), Refusal> {
        let late = |error: String, help: &str| Err(Refusal::conflict(error, help));
        match now.phase {
            Phase::Over => return late("the run is over".to_owned(), "go back first"),
            Phase::Failed => {
                return late("the run cannot continue".to_owned(), "go back before its error");
            }
            Phase::Paused | Phase::Running => {}
        }
        let over = |job: JobId| now.past.job(job)?.over;
        match self {
            Until::Starts(job) | Until::Ends(job) if let Some(over) = over(*job) => {
                let error = format!("job {} has been over since {}", job.0, words(over));
                late(error, "choose a job that is not over, or go back first")
            }
            Until::Starts(job) if let Some(start) = runs_since(&now.past, *job) => late(
                format!("job {} runs already, since {}", job.0, words(start)),
                "wait until it ends, choose another job, or go back first",
            ),
            Until::Time(time) if *time < now.now => late(
                format!("the time is {} already", words(now.now)),
                "choose a later time, or go back",
            ),
            _ => Ok(()),
        }
    }

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
    fn pattern(self, view: &Simulated) -> Result<Pattern, Refusal> {
        let MessageRequest { sender, receiver, kind, job } = self;
        let cast = &view.stepper.cast;
        let actor = |name: Option<String>| name.map(|name| actor(cast, &name)).transpose();
        if let Some(job) = job {
            view.expects(JobId(job))?;
        }
        Ok(Pattern {
            sender: actor(sender)?,
            receiver: actor(receiver)?,
            kind: kind.map(|word| kind_of(&word)).transpose()?,
            job: job.map(JobId),
        })
    }
}

/// The start of the earliest part of a job that runs anywhere.
fn runs_since(past: &Past, job: JobId) -> Option<Time> {
    let works = past.machines.values().flat_map(|machine| &machine.jobs);
    let running = works.filter(|work| work.job == job && work.stage == Stage::Running);
    running.filter_map(|work| work.start).min()
}

/// A kind of messages, by its word.
fn kind_of(word: &str) -> Result<&'static str, Refusal> {
    let kinds = Message::kinds();
    kinds.get(word).copied().ok_or_else(|| {
        let help = near(word, kinds.iter().copied());
        let help = help.unwrap_or("choose a kind from the list of the form".to_owned());
        Refusal::wrong(format!("no message is of the kind `{word}`"), &help)
    })
}

/// The number of an actor.
pub(crate) fn actor(cast: &Cast, name: &str) -> Result<ActorId, Refusal> {
    let place = cast.actors.iter().position(|it| it.name == name);
    match place.and_then(|place| u32::try_from(place).ok()) {
        Some(number) => Ok(ActorId(number)),
        None => {
            let help = near(name, cast.actors.iter().map(|it| &*it.name));
            Err(Refusal { help, ..Refusal::missing(format!("there is no actor `{name}`")) })
        }
    }
}

/// Most names that are suggested.
const NEAR_MAX: usize = 3;

/// The question for the names that are nearest to a mistyped one.
fn near<'w>(typed: &str, names: impl IntoIterator<Item = &'w str>) -> Option<String> {
    let mut names = Vec::from_iter(names);
    let mut found = Vec::new();
    while let Some(name) = nearest(typed, names.iter().copied()).filter(|_| found.len() < NEAR_MAX)
    {
        found.push(shown(name));
        names.retain(|it| *it != name);
    }
    let found = Vec::from_iter(found.iter().map(String::as_str));
    (!found.is_empty()).then(|| format!("did you mean {}?", either(&found)))
}
