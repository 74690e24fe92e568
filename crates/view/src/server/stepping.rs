//! Routes of simulations that are stepped.

use std::sync::Arc;
use std::time::Duration;

use actix_web::http::StatusCode;
use actix_web::{HttpRequest, HttpResponse, Responder, error, rt, web};
use haggle_model::ActorId;
use serde::Deserialize;
use serde_json::{Value, json};

use super::query::Query;
use super::routes::Asked;
use super::{Site, reply, routes};
use crate::clock::clamped;
use crate::shown::shown;
use crate::simulation::{Aim, BranchRequest, Moment, Simulated, StepRequest};
use crate::{Refusal, View};

/// Time for which an answer waits for another state.
const PATIENCE: Duration = Duration::from_secs(25);

/// Most simulations of a server; each has a thread and a world.
const SIMULATIONS_MAX: usize = 32;

/// Adds the routes.
pub(super) fn add(config: &mut web::ServiceConfig) {
    for (path, route) in [
        ("/api/views/{view}/state", web::get().to(state)),
        ("/api/views/{view}/last", web::get().to(last)),
        ("/api/views/{view}/actors/{actor}", web::get().to(actor)),
        ("/api/views/{view}/steps", web::post().to(step)),
        ("/api/views/{view}/stop", web::post().to(stop)),
        ("/api/views/{view}/back", web::post().to(back)),
        ("/api/views/{view}/branches", web::post().to(branch)),
    ] {
        config.route(path, route);
    }
}

/// The simulation of a view.
fn simulation(view: &dyn View) -> Result<&Simulated, Refusal> {
    view.simulation().ok_or_else(|| {
        Refusal::conflict(
            "the view is a finished run, which cannot be stepped",
            "open its scenario: `haggle view SCENARIO`",
        )
    })
}

/// An answer with a status of its own.
fn answer(status: StatusCode, done: Result<Value, Refusal>) -> HttpResponse {
    match done {
        Ok(value) => HttpResponse::build(status).json(value),
        Err(refused) => reply::refusal(&refused),
    }
}

/// The answer of a request that was served on a thread of its own.
fn done_by(
    done: Result<Result<Value, Refusal>, error::BlockingError>,
    status: StatusCode,
) -> HttpResponse {
    done.map_or_else(|_| reply::failed(), |done| answer(status, done))
}

/// The version of the state from which a request starts, if it names one.
fn version(request: &HttpRequest) -> Result<Option<u64>, Refusal> {
    Query::of(request)?.number::<u64>("version")
}

/// Refuses a request that starts from an older state than the present one.
fn is_at(now: &Moment, asked: Option<u64>) -> Result<(), Refusal> {
    match asked.is_none_or(|asked| asked == now.version) {
        true => Ok(()),
        false => {
            Err(Refusal::conflict("the simulation has gone on since", "look at its present state"))
        }
    }
}

/// The last message, as far as an actor knows it.
async fn last(site: web::Data<Site>, request: HttpRequest) -> impl Responder {
    let asked = Query::of(&request).and_then(|query| Asked::of(&site, &request, &query));
    reply::json(move || {
        let view = asked?.view()?;
        simulation(&*view)?.last(view.seen_by())
    })
    .await
}

/// The state, at once if its version is another one than `after`.
async fn state(site: web::Data<Site>, request: HttpRequest) -> impl Responder {
    let asked = (|| {
        let view = view(&site, &request)?;
        let query = Query::of(&request)?;
        let simulation = simulation(&*view)?;
        let actor = query.text("as")?.map(|it| simulation.actor(&it)).transpose()?;
        let versions = simulation.stepper.versions();
        Ok((view, versions, query.number::<u64>("after")?, actor))
    })();
    let (view, mut versions, after, actor) = match asked {
        Ok(asked) => asked,
        Err(refused) => return reply::refusal(&refused),
    };
    if let Some(after) = after {
        // The thread of the simulation may end, which a later request tells.
        let other = versions.wait_for(|version| *version != after);
        let _ = rt::time::timeout(PATIENCE, other).await;
    }
    reply::json(move || Ok(told(&simulation(&*view)?.stepper.moment(), actor))).await
}

/// The view of the path. A user who steps a simulation sees all of it.
fn view(site: &Site, request: &HttpRequest) -> Result<Arc<dyn View>, Refusal> {
    site.views.get(routes::number(request, "view")?)
}

/// The state. A page that shows the view of an actor is told the number of the actor's own messages. It is told nothing of
/// jobs, of the next message, or of events that ended the step.
fn told(moment: &Moment, actor: Option<ActorId>) -> Value {
    let is_seen = actor.is_some();
    let error = moment.error.as_deref().map(|it| match is_seen {
        true => "the run failed: view as everyone to see the reason".to_owned(),
        false => shown(it),
    });
    json!({
        "version": moment.version,
        "now": clamped(moment.now.as_micros()),
        "next": moment.next.filter(|_| !is_seen).map(|it| clamped(it.as_micros())),
        "messages": actor.map_or(moment.number, |it| moment.past.messages_of(it)),
        "jobs_over": (!is_seen).then_some(moment.past.over),
        "jobs": (!is_seen).then_some(moment.past.arrived),
        "state": moment.phase,
        "stopped_by": moment.stopped_by.as_deref().filter(|_| !is_seen).map(shown),
        "error": error,
        "earliest": 0,
    })
}

/// The knowledge of an actor.
async fn actor(site: web::Data<Site>, request: HttpRequest) -> impl Responder {
    let asked = Query::of(&request).and_then(|query| Asked::of(&site, &request, &query));
    let name = request.match_info().query("actor").to_owned();
    reply::json(move || asked?.view()?.panel(&name)).await
}

/// Begins a step.
async fn step(site: web::Data<Site>, request: HttpRequest, body: web::Bytes) -> impl Responder {
    let (view, asked) = (view(&site, &request), version(&request));
    // Jobs that have not arrived may be looked up in files.
    let done = web::block(move || {
        let view = view?;
        let simulation = simulation(&*view)?;
        let until = StepRequest::read(&body)?.until(simulation)?;
        let version = simulation.stepper.go(|now| {
            is_at(now, asked?)?;
            until.ahead_of(now)?;
            Ok(Aim::Forward(until))
        })?;
        Ok(json!({ "version": version }))
    });
    done_by(done.await, StatusCode::ACCEPTED)
}

/// Ends a step.
async fn stop(site: web::Data<Site>, request: HttpRequest) -> impl Responder {
    let done = (|| {
        let view = view(&site, &request)?;
        let simulation = simulation(&*view)?;
        simulation.stepper.stop();
        Ok(json!({ "version": simulation.stepper.moment().version }))
    })();
    answer(StatusCode::OK, done)
}

/// How far a simulation goes back; exactly one key is given.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct BackRequest {
    messages: Option<u64>,
    instants: Option<u64>,
    time: Option<i64>,
    to: Option<u64>,
}

/// Goes back.
async fn back(site: web::Data<Site>, request: HttpRequest, body: web::Bytes) -> impl Responder {
    let done = (|| {
        let view = view(&site, &request)?;
        let stepper = &simulation(&*view)?.stepper;
        let asked = version(&request)?;
        let version = stepper.go(|now| {
            is_at(now, asked)?;
            back_to(now, &body)
        })?;
        Ok(json!({ "version": version }))
    })();
    answer(StatusCode::ACCEPTED, done)
}

fn back_to(moment: &Moment, body: &[u8]) -> Result<Aim, Refusal> {
    const KEYS: &str = "give one of messages, instants, time and to";
    let asked: BackRequest = serde_json::from_slice(body)
        .map_err(|error| Refusal::wrong(format!("the way back cannot be read: {error}"), KEYS))?;
    match asked {
        BackRequest { messages: Some(count), instants: None, time: None, to: None } => {
            Ok(Aim::Back(moment.number.saturating_sub(count)))
        }
        BackRequest { messages: None, instants: Some(count), time: None, to: None } => {
            let before = moment.past.before_instants(count);
            let forgotten = || Refusal::wrong("these instants are no longer known", "give a time");
            Ok(Aim::Back(before.ok_or_else(forgotten)?))
        }
        BackRequest { messages: None, instants: None, time: Some(time), to: None } => {
            let time = haggle_model::Time::from_micros(time);
            if time > moment.now {
                let error = "the time is later than the present";
                return Err(Refusal::wrong(error, "give an earlier time, or step to it"));
            }
            Ok(Aim::BackTo(time))
        }
        BackRequest { messages: None, instants: None, time: None, to: Some(number) } => {
            if number > moment.number {
                let error = format!("only {} messages have been delivered", moment.number);
                return Err(Refusal::wrong(error, "give a smaller number, or step to it"));
            }
            Ok(Aim::Back(number))
        }
        _ => Err(Refusal::wrong("a way back has exactly one aim", KEYS)),
    }
}

/// Adds a branch as a view.
async fn branch(site: web::Data<Site>, request: HttpRequest, body: web::Bytes) -> impl Responder {
    let id = routes::number::<usize>(&request, "view");
    // The world of a branch is built from files, on a thread of its own.
    let done = web::block(move || {
        let id = id?;
        let simulations = site.views.all().iter().filter(|it| it.simulation().is_some()).count();
        if simulations >= SIMULATIONS_MAX {
            return Err(Refusal::conflict(
                format!("there are {SIMULATIONS_MAX} simulations already"),
                "open the scenario in another viewer",
            ));
        }
        let view = site.views.get(id)?;
        let branch = simulation(&*view)?.branch(id, BranchRequest::read(&body)?)?;
        let version = branch.stepper.moment().version;
        Ok(json!({ "id": site.views.add(Arc::new(branch)), "version": version }))
    });
    done_by(done.await, StatusCode::CREATED)
}
