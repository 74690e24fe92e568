//! Messages and disclosures.

use actix_web::{HttpRequest, Responder, web};

use super::super::query::Query;
use super::super::{Site, reply};
use super::Asked;
use crate::Refusal;
use crate::view::MessagesQuery;

/// Messages.
pub(super) async fn messages(site: web::Data<Site>, request: HttpRequest) -> impl Responder {
    let asked = (|| {
        let query = Query::of(&request)?;
        let messages = MessagesQuery {
            job: query.number("job")?,
            from: query.time("from")?,
            to: query.time("to")?,
            actor: query.text("actor")?,
            known_to: None,
            first: query.number("first")?.unwrap_or(0),
            count: query.number("count")?.unwrap_or(200),
        };
        Ok((Asked::of(&site, &request, &query)?, messages))
    })();
    reply::json(move || {
        let (asked, messages) = asked?;
        asked.view()?.messages(&messages)
    })
    .await
}

/// Items that were told to an actor.
pub(super) async fn told(site: web::Data<Site>, request: HttpRequest) -> impl Responder {
    let asked = (|| {
        let query = Query::of(&request)?;
        let actor = query.text("actor")?;
        let actor =
            actor.ok_or_else(|| Refusal::wrong("the parameter `actor` is missing", "add it"))?;
        Ok((Asked::of(&site, &request, &query)?, actor, query.time("until")?))
    })();
    reply::json(move || {
        let (asked, actor, until) = asked?;
        asked.view()?.told(&actor, until)
    })
    .await
}
