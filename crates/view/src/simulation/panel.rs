//! The panel of an actor: what it knows, with names, and what it was told by whom.

use haggle_agents::Glimpse;
use haggle_agents::glimpse::{Fact, FactKind, Promise, Work};
use haggle_model::{ActorId, Cast, Time};
use serde::Serialize;
use serde_json::{Value, json};

use super::simulated::{Simulated, kind_name, told};
use super::walk::name;
use crate::Refusal;
use crate::clock::{clamped, micros};
use crate::shown::shown;

/// Most rows of a table.
const ROWS_MAX: usize = 5_000;

/// The knowledge of an actor.
pub(super) fn panel(view: &Simulated, actor: &str) -> Result<Value, Refusal> {
    let id = view.actor(actor)?;
    let glimpse = view.stepper.look(id)?;
    let moment = view.stepper.moment();
    let cast = &view.stepper.cast;
    let kind = cast.actors.get(id.index()).map_or("actor", |it| kind_name(it.kind));
    let has_left = glimpse.is_none();
    let glimpse = glimpse.unwrap_or_default();
    let names = Names { cast };
    Ok(json!({
        "name": shown(name(cast, id)),
        "kind": kind,
        // After the end of the run, actors have handled their last messages.
        "left": has_left,
        "machine": glimpse.machine,
        "jobs": names.jobs(&glimpse),
        "promises": glimpse.promises.iter().take(ROWS_MAX).map(|it| names.promise(it)).collect::<Vec<_>>(),
        "facts": glimpse.facts.iter().take(ROWS_MAX).map(|it| names.fact(it)).collect::<Vec<_>>(),
        "told": told(&moment.past, id, None),
    }))
}

struct Names<'a> {
    cast: &'a Cast,
}

impl Names<'_> {
    fn of(&self, actor: ActorId) -> String {
        shown(name(self.cast, actor))
    }

    fn jobs(&self, glimpse: &Glimpse) -> Vec<Value> {
        glimpse.jobs.iter().take(ROWS_MAX).map(|it| self.job(it)).collect()
    }

    fn job(&self, it: &Work) -> Value {
        json!({
            "job": it.job.0,
            "stage": word(it.stage),
            "processors": it.processors,
            "from": self.of(it.from),
            "at": it.at.iter().map(|it| self.of(*it)).collect::<Vec<_>>(),
            "since": time(it.since),
            "start": time(it.start),
            "end": time(it.end),
            "promised_end": time(it.promised_end),
        })
    }

    fn promise(&self, it: &Promise) -> Value {
        json!({
            "kind": word(it.kind),
            "job": it.job.map(|it| it.0),
            "with": it.with.map(|it| self.of(it)),
            "processors": it.processors,
            "start": time(it.start),
            "end": time(it.end),
            "until": time(it.until),
        })
    }

    fn fact(&self, it: &Fact) -> Value {
        json!({
            "about": it.about.map(|it| self.of(it)),
            "job": it.job.map(|it| it.0),
            "kind": word(it.kind),
            "value": value(it),
            "at": time(it.at),
        })
    }
}

/// A time with its unit, as those of messages.
fn time(time: Option<Time>) -> Option<Value> {
    time.map(|it| json!({ "time": clamped(it.as_micros()) }))
}

/// The number of a fact with its unit.
fn value(fact: &Fact) -> Value {
    let (number, micros) = (fact.value, micros(fact.value).unwrap_or(0));
    match fact.kind {
        FactKind::EstimatedStart | FactKind::EstimatedCompletion => json!({ "time": micros }),
        FactKind::Load => json!({ "span": micros }),
        FactKind::Refuses | FactKind::Awaited | FactKind::Up => {
            json!(if number == 0.0 { "no" } else { "yes" })
        }
        FactKind::CheckpointSize
        | FactKind::UsedRoom
        | FactKind::Capacity
        | FactKind::AwaitedRoom
        | FactKind::Moved => json!(format!("{number} bytes")),
        FactKind::Speed => json!(format!("{number} MIPS")),
        FactKind::Processors
        | FactKind::FreeProcessors
        | FactKind::UsedSlots
        | FactKind::AvailablePart
        | FactKind::WaitingJobs
        | FactKind::Changes => json!(number),
    }
}

/// The word of a kind.
fn word(kind: impl Serialize) -> Value {
    match serde_json::to_value(kind) {
        Ok(Value::String(word)) => json!(word.replace('-', " ")),
        _ => Value::Null,
    }
}
