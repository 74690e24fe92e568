//! Comparison of two views.

use actix_web::{HttpRequest, Responder, web};

use super::super::query::Query;
use super::super::{Site, reply};
use super::Asked;
use crate::Refusal;

/// Differences between the jobs of two views.
pub(super) async fn differences(site: web::Data<Site>, request: HttpRequest) -> impl Responder {
    let asked = (|| {
        let query = Query::of(&request)?;
        let page = (query.number("first")?.unwrap_or(0), query.number("count")?.unwrap_or(100));
        let other = query.needed::<usize>("with")?;
        Ok::<_, Refusal>((Asked::of(&site, &request, &query)?, other, page))
    })();
    reply::json(move || {
        let (asked, other, (first, count)) = asked?;
        Ok(asked.compared(other)?.page(first, count))
    })
    .await
}
