//! Charts, series and pictures.

use actix_web::{HttpRequest, Responder, web};
use serde_json::json;

use super::super::query::Query;
use super::super::{Site, reply};
use super::{Asked, number};
use crate::Refusal;
use crate::scene::TileQuery;
use crate::view::{PictureQuery, SeriesQuery};

/// Most columns of a series, and most series of a request.
const COLUMNS_MAX: u32 = 16_384;
const SERIES_MAX: usize = 64;

/// Bands of a chart.
pub(super) async fn bands(site: web::Data<Site>, request: HttpRequest) -> impl Responder {
    let asked = (|| {
        let query = Query::of(&request)?;
        let first = query.number("first")?.unwrap_or(0);
        let count = query.number("count")?.unwrap_or(1_000);
        let asked = Asked::of(&site, &request, &query)?;
        Ok((asked, number(&request, "chart")?, first, count))
    })();
    reply::json(move || {
        let (asked, chart, first, count) = asked?;
        asked.view()?.bands(chart, first, count)
    })
    .await
}

/// A window of a chart.
pub(super) async fn tile(site: web::Data<Site>, request: HttpRequest) -> impl Responder {
    let asked = (|| {
        let query = Query::of(&request)?;
        let asked = Asked::of(&site, &request, &query)?;
        let (chart, beside) = (number::<usize>(&request, "chart")?, query.number("beside")?);
        Ok::<_, Refusal>((asked, chart, query.tile()?, beside, query.number("numbers")?))
    })();
    reply::bytes(move || {
        let (asked, chart, tile, beside, numbers) = asked?;
        let view = asked.view()?;
        // Before the data, so that a later change has a later number.
        let version = view.version();
        let compared = beside.map(|it| asked.compared(it)).transpose()?;
        let query = TileQuery { compared: compared.as_ref().map(|it| it.codes.as_slice()), ..tile };
        let mut tile = view.tile(chart, &query)?;
        if let Some(other) = numbers {
            let compared = asked.compared(other)?;
            tile.renumber(|job| compared.job_there(job));
        }
        Ok(("application/octet-stream", tile.encode(version)))
    })
    .await
}

/// The job at a place.
pub(super) async fn at(site: web::Data<Site>, request: HttpRequest) -> impl Responder {
    let asked = (|| {
        let query = Query::of(&request)?;
        let time = query.time("time")?;
        let time =
            time.ok_or_else(|| Refusal::wrong("the parameter `time` is missing", "add it"))?;
        let asked = Asked::of(&site, &request, &query)?;
        let place = (number(&request, "chart")?, time, query.needed("row")?);
        Ok((asked, place, query.number("numbers")?))
    })();
    reply::json(move || {
        let (asked, (chart, time, row), numbers) = asked?;
        let job = asked.view()?.at(chart, time, row)?;
        let compared = numbers.map(|other| asked.compared(other)).transpose()?;
        // A job that the other view does not have is no job there.
        let job = match compared {
            Some(compared) => job.and_then(|job| compared.job_there(job)),
            None => job,
        };
        Ok(json!({ "job": job }))
    })
    .await
}

/// Sums over a window.
pub(super) async fn sum(site: web::Data<Site>, request: HttpRequest) -> impl Responder {
    let asked = (|| {
        let query = Query::of(&request)?;
        let rows = (query.number("first_row")?.unwrap_or(0), query.number("rows")?);
        let asked = Asked::of(&site, &request, &query)?;
        Ok((asked, number(&request, "chart")?, query.window()?, rows))
    })();
    reply::json(move || {
        let (asked, chart, window, (first, rows)) = asked?;
        asked.view()?.sum(chart, window, (first, rows.unwrap_or(u32::MAX)))
    })
    .await
}

/// Series of a window.
pub(super) async fn series(site: web::Data<Site>, request: HttpRequest) -> impl Responder {
    let asked = (|| {
        let query = Query::of(&request)?;
        let (from, to) = query.window()?;
        let series =
            SeriesQuery { ids: query.all("id"), from, to, columns: query.needed("columns")? };
        if !(1..=COLUMNS_MAX).contains(&series.columns) || series.ids.len() > SERIES_MAX {
            return Err(Refusal::wrong(
                format!(
                    "`columns` must be 1 to {COLUMNS_MAX}, and there may be {SERIES_MAX} series"
                ),
                "ask for less at once",
            ));
        }
        Ok((Asked::of(&site, &request, &query)?, series))
    })();
    reply::json(move || {
        let (asked, series) = asked?;
        asked.view()?.series(&series)
    })
    .await
}

/// A picture.
pub(super) async fn picture(site: web::Data<Site>, request: HttpRequest) -> impl Responder {
    let asked = (|| {
        let query = Query::of(&request)?;
        let kind = query.text("kind")?;
        let kind =
            kind.ok_or_else(|| Refusal::wrong("the parameter `kind` is missing", "add it"))?;
        let picture = PictureQuery {
            kind,
            format: query.text("format")?.unwrap_or_else(|| "png".to_owned()),
            from: query.time("from")?,
            to: query.time("to")?,
            provider: query.text("provider")?,
            job: query.number("job")?,
            width: query.number("width")?,
            height: query.number("height")?,
        };
        Ok((Asked::of(&site, &request, &query)?, picture))
    })();
    reply::bytes(move || {
        let (asked, picture) = asked?;
        let picture = asked.view()?.picture(&picture)?;
        Ok((picture.media_type, picture.bytes))
    })
    .await
}
