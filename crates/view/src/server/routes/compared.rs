//! Comparison of two views.

use actix_web::{HttpRequest, Responder, web};

use super::super::query::Query;
use super::super::{Site, reply};
use super::number;
use crate::Refusal;

/// Differences between the jobs of two views.
pub(super) async fn differences(site: web::Data<Site>, request: HttpRequest) -> impl Responder {
    let asked = (|| {
        let other = Query::of(&request)?.needed::<usize>("with")?;
        Ok::<_, Refusal>((number::<usize>(&request, "view")?, other))
    })();
    reply::json(move || {
        let (view, other) = asked?;
        Ok(site.comparisons.of(&site.views, view, other)?.differences.clone())
    })
    .await
}
