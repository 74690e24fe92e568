//! Answers: JSON, errors, and work on other threads.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use actix_web::web;
use serde::Serialize;

use crate::Refusal;

/// A refusal as JSON.
pub(super) fn refusal(refusal: &Refusal) -> HttpResponse {
    let status = StatusCode::from_u16(refusal.status).unwrap_or(StatusCode::BAD_REQUEST);
    HttpResponse::build(status).json(refusal)
}

/// Carries out `work`, which may read files, on a thread of its own, and answers with its result.
pub(super) async fn json<T: Serialize + Send + 'static>(
    work: impl FnOnce() -> Result<T, Refusal> + Send + 'static,
) -> HttpResponse {
    done(work, |value| HttpResponse::Ok().json(value)).await
}

/// Carries out `work` on a thread of its own, and answers with bytes of a type.
pub(super) async fn bytes(
    work: impl FnOnce() -> Result<(&'static str, Vec<u8>), Refusal> + Send + 'static,
) -> HttpResponse {
    done(work, |(media_type, bytes)| HttpResponse::Ok().content_type(media_type).body(bytes)).await
}

async fn done<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Refusal> + Send + 'static,
    answer: impl FnOnce(T) -> HttpResponse,
) -> HttpResponse {
    match web::block(work).await {
        Ok(Ok(value)) => answer(value),
        Ok(Err(refused)) => refusal(&refused),
        Err(_) => failed(),
    }
}

/// The answer to a request whose work has failed by a mistake in haggle.
pub(super) fn failed() -> HttpResponse {
    refusal(&Refusal {
        status: 500,
        error: "the request was not answered because of a mistake in haggle".to_owned(),
        help: Some("report it with the address of the request".to_owned()),
    })
}
