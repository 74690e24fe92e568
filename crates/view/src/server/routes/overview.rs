//! Views and their overviews.

use actix_web::{HttpRequest, Responder, web};
use serde::Serialize;

use super::super::query::Query;
use super::super::{Site, reply};
use super::Asked;
use crate::Kind;
use crate::shown::shown;

#[derive(Serialize)]
struct List {
    haggle: &'static str,
    views: Vec<Entry>,
}

#[derive(Serialize)]
struct Entry {
    id: usize,
    kind: Kind,
    name: String,
    path: String,
    base: Option<usize>,
    branch_at: Option<i64>,
}

/// The list of views.
pub(super) async fn views(site: web::Data<Site>) -> impl Responder {
    reply::json(move || {
        let entry = |(id, view): (usize, &std::sync::Arc<dyn crate::View>)| {
            let it = view.identity();
            Entry {
                id,
                kind: it.kind,
                name: shown(&it.name),
                path: shown(&it.path.display().to_string()),
                base: it.base,
                branch_at: it.branch_at,
            }
        };
        let views = site.views.all().iter().enumerate().map(entry).collect();
        Ok(List { haggle: env!("CARGO_PKG_VERSION"), views })
    })
    .await
}

/// The overview of a view.
pub(super) async fn overview(site: web::Data<Site>, request: HttpRequest) -> impl Responder {
    let asked = Query::of(&request).and_then(|query| Asked::of(&site, &request, &query));
    reply::json(move || {
        let asked = asked?;
        let mut overview = asked.view()?.overview()?;
        overview.id = asked.id;
        Ok(overview)
    })
    .await
}

/// The looks that occur in a view.
pub(super) async fn legend(site: web::Data<Site>, request: HttpRequest) -> impl Responder {
    let asked = Query::of(&request).and_then(|query| Asked::of(&site, &request, &query));
    reply::json(move || asked?.view()?.legend()).await
}
