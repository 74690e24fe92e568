//! Parameters of requests.

use std::str::FromStr;

use actix_web::HttpRequest;

use crate::Refusal;
use crate::clock::LAST;
use crate::scene::TileQuery;

/// Most columns and lanes of a tile, and most cells.
const SIZE_MAX: u32 = 16_384;
const CELLS_MAX: u64 = 8 << 20;

/// Largest text of a parameter, bytes.
const TEXT_MAX: usize = 10_000;

/// The parameters of a request, in their order.
pub(super) struct Query(Vec<(String, String)>);

impl Query {
    /// # Errors
    /// If they cannot be decoded.
    pub(super) fn of(request: &HttpRequest) -> Result<Query, Refusal> {
        let pairs =
            actix_web::web::Query::<Vec<(String, String)>>::from_query(request.query_string());
        match pairs {
            Ok(pairs) => Ok(Query(pairs.into_inner())),
            Err(_) => Err(Refusal::wrong(
                "the parameters cannot be decoded",
                "write them as name=value with & between them, in UTF-8",
            )),
        }
    }

    /// All texts of a parameter.
    pub(super) fn all(&self, name: &str) -> Vec<String> {
        let same = self.0.iter().filter(|it| it.0 == name);
        same.map(|it| it.1.clone()).collect()
    }

    /// The text of a parameter; empty counts as missing.
    pub(super) fn text(&self, name: &str) -> Result<Option<String>, Refusal> {
        let found = self.0.iter().find(|it| it.0 == name && !it.1.is_empty());
        match found {
            Some((_, text)) if text.len() > TEXT_MAX => Err(Refusal::wrong(
                format!("the parameter `{name}` has more than {TEXT_MAX} bytes"),
                "shorten it",
            )),
            found => Ok(found.map(|it| it.1.clone())),
        }
    }

    /// A number, if it is there.
    pub(super) fn number<T: FromStr>(&self, name: &str) -> Result<Option<T>, Refusal> {
        let Some(text) = self.text(name)? else { return Ok(None) };
        let wrong = || {
            let error = format!("`{text}` is no number for the parameter `{name}`");
            Refusal::wrong(error, "write a whole number within its range")
        };
        text.parse().map(Some).map_err(|_| wrong())
    }

    /// A number that must be there.
    pub(super) fn needed<T: FromStr>(&self, name: &str) -> Result<T, Refusal> {
        let missing = || {
            let error = format!("the parameter `{name}` is missing");
            Refusal::wrong(error, "add it to the address")
        };
        self.number(name)?.ok_or_else(missing)
    }

    /// A time, if it is there. The page may send parts of a microsecond.
    pub(super) fn time(&self, name: &str) -> Result<Option<i64>, Refusal> {
        let time: Option<f64> = self.number(name)?;
        match time {
            Some(time) if time.is_nan() => Err(Refusal::wrong(
                format!("the parameter `{name}` is no time"),
                "write whole microseconds",
            )),
            time => Ok(time.map(|it| (it.round() as i64).clamp(-LAST, LAST))),
        }
    }

    /// A window of time that must be there.
    pub(super) fn window(&self) -> Result<(i64, i64), Refusal> {
        let both = self.time("from")?.zip(self.time("to")?);
        let (from, to) = both.ok_or_else(|| {
            Refusal::wrong("the parameters `from` and `to` are needed", "add both")
        })?;
        match from < to {
            true => Ok((from, to)),
            false => Err(Refusal::wrong("`to` must be later than `from`", "exchange them")),
        }
    }

    /// A tile.
    pub(super) fn tile(&self) -> Result<TileQuery<'static>, Refusal> {
        let (from, to) = self.window()?;
        let query = TileQuery {
            from,
            to,
            columns: self.needed("columns")?,
            first_row: self.needed("first_row")?,
            rows: self.needed("rows")?,
            lanes: self.needed("lanes")?,
            compared: None,
        };
        let sizes = [query.columns, query.lanes];
        let cells = u64::from(query.columns) * u64::from(query.drawn_lanes());
        let is_sound = query.rows > 0
            && sizes.iter().all(|it| (1..=SIZE_MAX).contains(it))
            && cells <= CELLS_MAX;
        match is_sound {
            true => Ok(query),
            false => Err(Refusal::wrong(
                format!(
                    "`rows`, `columns` and `lanes` must be at least 1, columns and lanes at most \
                     {SIZE_MAX}, and columns x lanes at most {CELLS_MAX}"
                ),
                "ask for parts of the window",
            )),
        }
    }
}
