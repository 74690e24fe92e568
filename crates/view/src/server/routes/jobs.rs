//! Jobs.

use actix_web::{HttpRequest, Responder, web};
use serde_json::json;

use super::super::query::Query;
use super::super::{Site, reply};
use super::{number, view};
use crate::Refusal;
use crate::jobs::JobsQuery;

/// The table of jobs.
pub(super) async fn jobs(site: web::Data<Site>, request: HttpRequest) -> impl Responder {
    let asked = (|| {
        let query = Query::of(&request)?;
        let jobs = JobsQuery {
            filter: query.text("filter")?.unwrap_or_default(),
            sort: query.text("sort")?,
            first: query.number("first")?.unwrap_or(0),
            count: query.number("count")?.unwrap_or(100),
            known_to: query.text("as")?,
        };
        Ok((view(&site, &request)?, jobs))
    })();
    reply::json(move || {
        let (view, jobs) = asked?;
        view.jobs(&jobs)
    })
    .await
}

/// A job.
pub(super) async fn job(site: web::Data<Site>, request: HttpRequest) -> impl Responder {
    let asked = (|| Ok::<_, Refusal>((view(&site, &request)?, number::<u32>(&request, "job")?)))();
    reply::json(move || {
        let (view, job) = asked?;
        view.job(job)
    })
    .await
}

/// Things with a text in their name.
pub(super) async fn find(site: web::Data<Site>, request: HttpRequest) -> impl Responder {
    let asked = (|| Ok((view(&site, &request)?, Query::of(&request)?.text("text")?)))();
    reply::json(move || {
        let (view, text) = asked?;
        let matches = text.map_or_else(|| Ok(Vec::new()), |text| view.find(&text))?;
        Ok(json!({ "matches": matches }))
    })
    .await
}
