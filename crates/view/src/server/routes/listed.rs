//! Bars and marks of a window as a list.

use actix_web::{HttpRequest, Responder, web};

use super::super::query::Query;
use super::super::{Site, reply};
use super::{Asked, number};
use crate::scene::NO_JOB;

/// A page of the bars and marks of a window.
pub(super) async fn bars(site: web::Data<Site>, request: HttpRequest) -> impl Responder {
    let asked = (|| {
        let query = Query::of(&request)?;
        let rows = (query.number("first_row")?.unwrap_or(0), query.number("rows")?);
        let page = (query.number("first")?.unwrap_or(0), query.number("count")?.unwrap_or(100));
        let chart = number(&request, "chart")?;
        let place = (chart, query.window()?, rows, page);
        Ok((Asked::of(&site, &request, &query)?, place, query.number("numbers")?))
    })();
    reply::json(move || {
        let (asked, (chart, window, (first, rows), page), numbers) = asked?;
        let rows = (first, rows.unwrap_or(u32::MAX));
        let mut answer = asked.view()?.listed(chart, window, rows, page)?;
        if let Some(other) = numbers {
            let compared = asked.compared(other)?;
            for row in &mut answer.rows {
                row.job = row.job.map(|job| compared.job_there(job).unwrap_or(NO_JOB));
            }
        }
        Ok(answer)
    })
    .await
}
