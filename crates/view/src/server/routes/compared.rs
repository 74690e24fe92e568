//! Comparison of two views.

use actix_web::{HttpRequest, Responder, web};

use super::super::query::Query;
use super::super::{Site, reply};
use super::view;
use crate::Refusal;
use crate::compare::compared;

/// Differences between the jobs of two views.
pub(super) async fn differences(site: web::Data<Site>, request: HttpRequest) -> impl Responder {
    let asked = (|| {
        let other = site.views.get(Query::of(&request)?.needed("with")?)?;
        Ok::<_, Refusal>((view(&site, &request)?, other))
    })();
    reply::json(move || {
        let (view, other) = asked?;
        Ok(compared(&*view, &*other)?.differences)
    })
    .await
}
