//! Checks of each request before any route, and headers of each answer.

use actix_web::body::{BoxBody, MessageBody};
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, HOST, HeaderMap, HeaderName, HeaderValue, ORIGIN,
    REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
};
use actix_web::http::{Method, StatusCode};
use actix_web::middleware::Next;
use actix_web::{Error, web};

use super::{BODY_MAX, Site, page, reply};
use crate::Refusal;

/// Headers of all answers. The page is a single site without inline scripts and styles.
const HEADERS: [(HeaderName, &str); 4] = [
    (
        CONTENT_SECURITY_POLICY,
        "default-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
    ),
    (X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (REFERRER_POLICY, "no-referrer"),
    (CACHE_CONTROL, "no-store"),
];

/// The port of HTTP that addresses need not name.
const USUAL: u16 = 80;

/// Answers requests of strangers itself, and passes on the others.
pub(super) async fn check(
    site: web::Data<Site>,
    request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<ServiceResponse<BoxBody>, Error> {
    let refused = refused(&site, &request);
    let mut response = match refused {
        Some(refused) => request.into_response(refused),
        None => next.call(request).await?.map_into_boxed_body(),
    };
    if response.status() == StatusCode::PAYLOAD_TOO_LARGE {
        response = response.into_response(reply::refusal(&Refusal {
            status: 413,
            error: format!("the body of the request has more than {BODY_MAX} bytes"),
            help: Some("send less".to_owned()),
        }));
    }
    let headers = response.headers_mut();
    for (name, value) in HEADERS {
        headers.insert(name, HeaderValue::from_static(value));
    }
    Ok(response)
}

/// The answer to a request that has no right to another one.
fn refused(site: &Site, request: &ServiceRequest) -> Option<actix_web::HttpResponse> {
    // A name of another site that leads to this machine has its own name here.
    if !is_host(request.headers(), HOST, "", site.port) {
        let error = "the server answers on the loopback address alone";
        return Some(reply::refusal(&forbidden(error)));
    }
    let token = request.path().split('/').nth(1).unwrap_or_default();
    if !site.token.is(token) {
        return Some(page::not_found());
    }
    // A page of another site may send a POST without reading the answer.
    let has_origin = request.headers().contains_key(ORIGIN);
    let is_own = || is_host(request.headers(), ORIGIN, "http://", site.port);
    if request.method() != Method::GET && has_origin && !is_own() {
        return Some(reply::refusal(&forbidden("the request comes from another site")));
    }
    None
}

fn forbidden(error: &str) -> Refusal {
    Refusal { status: 403, error: error.to_owned(), help: None }
}

/// True if a header has a loopback name with this port, and is there once.
fn is_host(headers: &HeaderMap, name: HeaderName, prefix: &str, port: u16) -> bool {
    let mut values = headers.get_all(name);
    let (Some(value), None) = (values.next(), values.next()) else { return false };
    let Ok(value) = value.to_str() else { return false };
    let Some(value) = value.strip_prefix(prefix) else { return false };
    let names = ["127.0.0.1", "localhost", "[::1]"];
    // Browsers leave out the usual port.
    names.iter().any(|name| value == format!("{name}:{port}") || port == USUAL && value == *name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_port_may_be_left_out() {
        let is = |host: &str, port| {
            let mut headers = HeaderMap::new();
            headers.insert(HOST, HeaderValue::from_str(host).expect("a header"));
            is_host(&headers, HOST, "", port)
        };
        assert!(is("localhost", 80) && is("localhost:80", 80) && is("[::1]", 80));
        assert!(!is("localhost", 8080) && !is("localhost:8080", 80) && !is("evil.example", 80));
    }
}
