//! The HTTP server: token, headers, routes, embedded page.
//!
//! It binds the loopback address alone. Every address has a random token.

mod comparisons;
mod guard;
mod page;
mod query;
mod reply;
mod routes;
mod stepping;
mod token;

use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::sync::Arc;
use std::time::Duration;

use actix_web::middleware::from_fn;
use actix_web::{App, HttpServer, rt, web};

use crate::Views;
use comparisons::Comparisons;

pub use token::Token;

/// Largest body of a request, bytes.
const BODY_MAX: usize = 4 << 20;

/// Threads for requests, and threads that read and compute.
const THREADS: (usize, usize) = (2, 16);

/// Interval in which the end is looked for.
const PATIENCE: Duration = Duration::from_millis(50);

/// State of the server that all requests share.
struct Site {
    views: Arc<Views>,
    comparisons: Comparisons,
    token: Token,
    port: u16,
}

/// A server that is bound to its port and does not answer yet.
pub struct Server {
    listener: TcpListener,
    site: Arc<Site>,
}

impl Server {
    /// Binds a port of the loopback address; 0 chooses a free one.
    ///
    /// # Errors
    /// If the port is taken, or the system gives no random token.
    pub fn bind(views: Arc<Views>, port: u16) -> io::Result<Server> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        let port = listener.local_addr()?.port();
        let site = Arc::new(Site {
            views,
            comparisons: Comparisons::default(),
            token: Token::random()?,
            port,
        });
        Ok(Server { listener, site })
    }

    /// The address of the page.
    pub fn address(&self) -> String {
        format!("http://127.0.0.1:{}/{}/", self.site.port, self.site.token.text())
    }

    /// Answers requests until `ended` is true.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn serve(self, ended: impl Fn() -> bool + 'static) -> io::Result<()> {
        let Server { listener, site } = self;
        rt::System::new().block_on(async move {
            let server = HttpServer::new(move || {
                App::new()
                    .app_data(web::Data::from(Arc::clone(&site)))
                    .app_data(web::PayloadConfig::new(BODY_MAX))
                    .wrap(from_fn(guard::check))
                    .service(web::scope("/{token}").configure(routes::add).configure(stepping::add))
                    .default_service(web::to(page::nothing))
            });
            let server = server
                .workers(THREADS.0)
                .worker_max_blocking_threads(THREADS.1)
                .disable_signals()
                .shutdown_timeout(1)
                .listen(listener)?
                .run();
            let handle = server.handle();
            rt::spawn(async move {
                while !ended() {
                    rt::time::sleep(PATIENCE).await;
                }
                handle.stop(false).await;
            });
            server.await
        })
    }
}
