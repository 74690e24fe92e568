//! Bars and marks of a window as a list.

use actix_web::{HttpRequest, Responder, web};

use super::super::query::Query;
use super::super::{Site, reply};
use super::{Asked, number};

/// A page of the bars and marks of a window.
pub(super) async fn bars(site: web::Data<Site>, request: HttpRequest) -> impl Responder {
    let asked = (|| {
        let query = Query::of(&request)?;
        let rows = (query.number("first_row")?.unwrap_or(0), query.number("rows")?);
        let page = (query.number("first")?.unwrap_or(0), query.number("count")?.unwrap_or(100));
        let chart = number(&request, "chart")?;
        Ok((Asked::of(&site, &request, &query)?, chart, query.window()?, rows, page))
    })();
    reply::json(move || {
        let (asked, chart, window, (first, rows), page) = asked?;
        asked.view()?.listed(chart, window, (first, rows.unwrap_or(u32::MAX)), page)
    })
    .await
}
