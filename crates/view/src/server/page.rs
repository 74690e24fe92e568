//! The built page, which is a part of the program.

use actix_web::http::header::CONTENT_TYPE;
use actix_web::{HttpRequest, HttpResponse, Responder};
use rust_embed::RustEmbed;

/// Files of the page.
#[derive(RustEmbed)]
#[folder = "bundle"]
struct Bundle;

/// A file of the page; without a name, its first one.
pub(super) async fn file(request: HttpRequest) -> impl Responder {
    let name = request.match_info().query("file");
    let name = if name.is_empty() { "index.html" } else { name };
    match Bundle::get(name) {
        Some(file) => HttpResponse::Ok()
            .insert_header((CONTENT_TYPE, media_type(name)))
            .body(file.data.into_owned()),
        None => not_found(),
    }
}

/// Answer to a path that is none.
pub(super) async fn nothing() -> impl Responder {
    not_found()
}

/// Answer without details.
pub(super) fn not_found() -> HttpResponse {
    HttpResponse::NotFound().insert_header((CONTENT_TYPE, "text/plain")).body("not found\n")
}

fn media_type(name: &str) -> &'static str {
    match name.rsplit_once('.').map(|it| it.1) {
        Some("html") => "text/html; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("json") => "application/json",
        Some("svg") => "image/svg+xml",
        Some("png") => "image/png",
        Some("woff2") => "font/woff2",
        _ => "text/plain; charset=utf-8",
    }
}
