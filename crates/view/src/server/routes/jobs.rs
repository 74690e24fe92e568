//! Jobs.

use actix_web::{HttpRequest, Responder, web};
use serde_json::json;

use super::super::query::Query;
use super::super::{Site, reply};
use super::{Asked, number};
use crate::Refusal;
use crate::jobs::JobsQuery;
use crate::view::FOUND_MAX;

/// The table of jobs.
pub(super) async fn jobs(site: web::Data<Site>, request: HttpRequest) -> impl Responder {
    let asked = (|| {
        let query = Query::of(&request)?;
        let jobs = JobsQuery {
            filter: query.text("filter")?.unwrap_or_default(),
            sort: query.text("sort")?,
            first: query.number("first")?.unwrap_or(0),
            count: query.number("count")?.unwrap_or(100),
        };
        Ok((Asked::of(&site, &request, &query)?, jobs))
    })();
    reply::json(move || {
        let (asked, jobs) = asked?;
        asked.view()?.jobs(&jobs)
    })
    .await
}

/// A job.
pub(super) async fn job(site: web::Data<Site>, request: HttpRequest) -> impl Responder {
    let asked = (|| {
        let asked = Asked::of(&site, &request, &Query::of(&request)?)?;
        Ok::<_, Refusal>((asked, number::<u32>(&request, "job")?))
    })();
    reply::json(move || {
        let (asked, job) = asked?;
        asked.view()?.job(job)
    })
    .await
}

/// Things with a text in their name.
pub(super) async fn find(site: web::Data<Site>, request: HttpRequest) -> impl Responder {
    let asked = (|| {
        let query = Query::of(&request)?;
        Ok((Asked::of(&site, &request, &query)?, query.text("text")?))
    })();
    reply::json(move || {
        let (asked, text) = asked?;
        let view = asked.view()?;
        let mut matches = text.map_or_else(|| Ok(Vec::new()), |text| view.find(&text, None))?;
        let has_more = matches.len() > FOUND_MAX;
        matches.truncate(FOUND_MAX);
        Ok(json!({ "matches": matches, "more": has_more }))
    })
    .await
}
