//! Charts, series and pictures.

use std::collections::HashSet;

use actix_web::{HttpRequest, Responder, web};
use serde_json::json;

use super::super::query::Query;
use super::super::{Site, reply};
use super::{number, view};
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
        Ok((view(&site, &request)?, number(&request, "chart")?, first, count))
    })();
    reply::json(move || {
        let (view, chart, first, count) = asked?;
        view.bands(chart, first, count)
    })
    .await
}

/// A window of a chart.
pub(super) async fn tile(site: web::Data<Site>, request: HttpRequest) -> impl Responder {
    let asked = (|| {
        let query = Query::of(&request)?;
        let (beside, actor) = (query.number::<usize>("beside")?, query.text("as")?);
        let place = (number::<usize>(&request, "view")?, number::<usize>(&request, "chart")?);
        Ok::<_, Refusal>((place, query.tile()?, beside, actor))
    })();
    reply::bytes(move || {
        let ((id, chart), tile, beside, actor) = asked?;
        let view = site.views.get(id)?;
        // Before the data, so that a later change has a later number.
        let version = view.version();
        let compared = beside.map(|it| site.comparisons.of(&site.views, id, it)).transpose()?;
        let known = actor.map(|actor| view.known_to(&actor)).transpose()?;
        // An actor knows nothing of the rows of another one.
        let nothing = HashSet::new();
        let is_hidden = known.is_some_and(|it| !it.charts.contains(&chart));
        let query = TileQuery {
            compared: compared.as_ref().map(|it| it.codes.as_slice()),
            only: is_hidden.then_some(&nothing),
            ..tile
        };
        Ok(("application/octet-stream", view.tile(chart, &query)?.encode(version)))
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
        Ok((view(&site, &request)?, number(&request, "chart")?, time, query.needed("row")?))
    })();
    reply::json(move || {
        let (view, chart, time, row) = asked?;
        Ok(json!({ "job": view.at(chart, time, row)? }))
    })
    .await
}

/// Sums over a window.
pub(super) async fn sum(site: web::Data<Site>, request: HttpRequest) -> impl Responder {
    let asked = (|| {
        let query = Query::of(&request)?;
        let rows = (query.number("first_row")?.unwrap_or(0), query.number("rows")?);
        Ok((view(&site, &request)?, number(&request, "chart")?, query.window()?, rows))
    })();
    reply::json(move || {
        let (view, chart, window, (first, rows)) = asked?;
        view.sum(chart, window, (first, rows.unwrap_or(u32::MAX)))
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
        Ok((view(&site, &request)?, series))
    })();
    reply::json(move || {
        let (view, series) = asked?;
        view.series(&series)
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
        Ok((view(&site, &request)?, picture))
    })();
    reply::bytes(move || {
        let (view, picture) = asked?;
        let picture = view.picture(&picture)?;
        Ok((picture.media_type, picture.bytes))
    })
    .await
}
