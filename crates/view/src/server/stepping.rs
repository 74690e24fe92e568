//! Routes of simulations that are stepped.

use actix_web::web;
use actix_web::{HttpResponse, Responder};

use super::reply;
use crate::Refusal;

/// Adds the routes.
pub(super) fn add(config: &mut web::ServiceConfig) {
    for (path, is_read) in [
        ("/api/views/{view}/state", true),
        ("/api/views/{view}/actors/{actor}", true),
        ("/api/views/{view}/steps", false),
        ("/api/views/{view}/stop", false),
        ("/api/views/{view}/back", false),
        ("/api/views/{view}/branches", false),
    ] {
        let route = if is_read { web::get() } else { web::post() };
        config.route(path, route.to(no_simulation));
    }
}

/// Answer of a view that is no simulation.
async fn no_simulation() -> impl Responder {
    let refused = Refusal::conflict(
        "the view is a finished run, which cannot be stepped",
        "open its scenario: `haggle view SCENARIO`",
    );
    let answer: HttpResponse = reply::refusal(&refused);
    answer
}
