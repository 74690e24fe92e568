//! Routes of all views.

mod charts;
mod compared;
mod jobs;
mod listed;
mod overview;
mod said;

use std::sync::Arc;

use actix_web::{HttpRequest, web};

use super::query::Query;
use super::{Site, page};
use crate::compare::Comparison;
use crate::seen::Seen;
use crate::{Refusal, View};

/// Adds the routes, and the files of the page.
pub(super) fn add(config: &mut web::ServiceConfig) {
    for (path, add) in [
        ("/api/views", web::get().to(overview::views)),
        ("/api/views/{view}", web::get().to(overview::overview)),
        ("/api/views/{view}/charts/{chart}/bands", web::get().to(charts::bands)),
        ("/api/views/{view}/charts/{chart}/tile", web::get().to(charts::tile)),
        ("/api/views/{view}/charts/{chart}/bars", web::get().to(listed::bars)),
        ("/api/views/{view}/charts/{chart}/at", web::get().to(charts::at)),
        ("/api/views/{view}/charts/{chart}/sum", web::get().to(charts::sum)),
        ("/api/views/{view}/legend", web::get().to(overview::legend)),
        ("/api/views/{view}/series", web::get().to(charts::series)),
        ("/api/views/{view}/jobs", web::get().to(jobs::jobs)),
        ("/api/views/{view}/jobs/{job}", web::get().to(jobs::job)),
        ("/api/views/{view}/find", web::get().to(jobs::find)),
        ("/api/views/{view}/messages", web::get().to(said::messages)),
        ("/api/views/{view}/told", web::get().to(said::told)),
        ("/api/views/{view}/differences", web::get().to(compared::differences)),
        ("/api/views/{view}/picture", web::get().to(charts::picture)),
    ] {
        config.route(path, add);
    }
    config.route("/{file:[^/]*}", web::get().to(page::file));
}

/// A number in the path.
pub(super) fn number<T: std::str::FromStr>(
    request: &HttpRequest,
    name: &str,
) -> Result<T, Refusal> {
    let text = request.match_info().query(name);
    text.parse().map_err(|_| Refusal::missing(format!("`{text}` is no number of a {name}")))
}

/// The view of a path, and the actor of the parameter `as` that sees it.
pub(super) struct Asked {
    site: web::Data<Site>,
    pub(super) id: usize,
    actor: Option<String>,
}

impl Asked {
    pub(super) fn of(
        site: &web::Data<Site>,
        request: &HttpRequest,
        query: &Query,
    ) -> Result<Asked, Refusal> {
        let (id, actor) = (number(request, "view")?, query.text("as")?);
        Ok(Asked { site: site.clone(), id, actor })
    }

    /// The view as the actor sees it. Its knowledge may be in tables, so this is called on a thread that may read.
    pub(super) fn view(&self) -> Result<Arc<dyn View>, Refusal> {
        self.other(self.id)
    }

    /// Another view as the actor sees it.
    pub(super) fn other(&self, id: usize) -> Result<Arc<dyn View>, Refusal> {
        let view = self.site.views.get(id)?;
        match &self.actor {
            Some(actor) => Ok(Arc::new(Seen::by(view, actor.clone())?)),
            None => Ok(view),
        }
    }

    /// The comparison with another view, as the actor sees both.
    pub(super) fn compared(&self, other: usize) -> Result<Arc<Comparison>, Refusal> {
        let views = (&*self.view()?, &*self.other(other)?);
        let key = (self.id, other, self.actor.clone());
        self.site.comparisons.of(key, views)
    }
}
