//! A server on a thread, and a client of a few lines that sends what a browser never would.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use haggle_view::results::RunView;
use haggle_view::server::Server;
use haggle_view::{View, Views};
use serde_json::Value;

/// A server that ends with this value.
pub(crate) struct Running {
    address: String,
    end: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

/// An answer.
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

#[expect(clippy::disallowed_methods, reason = "a test must not wait for ever")]
impl Running {
    /// Serves views of these folders, whose tables have been read.
    pub(crate) fn of(folders: &[&Path]) -> Running {
        let views = Views::new();
        for folder in folders {
            let view = RunView::new(folder, "run".to_owned());
            view.start();
            let since = Instant::now();
            while !view.is_read() {
                assert!(since.elapsed() < Duration::from_secs(60), "the tables are read");
                thread::sleep(Duration::from_millis(5));
            }
            views.add(Arc::new(view) as Arc<dyn View>);
        }
        Running::with(views)
    }

    /// Serves these views.
    pub(crate) fn with(views: Views) -> Running {
        let server = Server::bind(Arc::new(views), 0).expect("a port is free");
        let address = server.address();
        let end = Arc::new(AtomicBool::new(false));
        let ended = Arc::clone(&end);
        let thread = thread::spawn(move || {
            server.serve(move || ended.load(Ordering::Relaxed)).expect("it serves");
        });
        Running { address, end, thread: Some(thread) }
    }

    /// The port, and the path with the token.
    pub(crate) fn place(&self) -> (&str, &str) {
        let rest = self.address.strip_prefix("http://127.0.0.1:").expect("a loopback address");
        let (port, path) = rest.split_once('/').expect("a path");
        (port, path.trim_end_matches('/'))
    }

    /// The answer to the lines of a request; `{port}` and `{token}` are filled in.
    pub(crate) fn raw(&self, request: &str) -> Answer {
        let (port, token) = self.place();
        let request = request.replace("{port}", port).replace("{token}", token);
        let mut stream = TcpStream::connect(format!("127.0.0.1:{port}")).expect("it listens");
        stream.set_read_timeout(Some(Duration::from_secs(60))).expect("it can be set");
        stream.write_all(request.as_bytes()).expect("it can be sent");
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).expect("it is answered");
        let end = bytes.windows(4).position(|it| it == b"\r\n\r\n").expect("a head");
        let head = String::from_utf8_lossy(&bytes[..end]).to_lowercase();
        let status = head.split(' ').nth(1).and_then(|it| it.parse().ok()).expect("a status");
        let body = bytes[end + 4..].to_vec();
        Answer { status, head, body }
    }

    /// The answer to a path below the token.
    pub(crate) fn get(&self, path: &str) -> Answer {
        self.raw(&format!(
            "GET /{{token}}/{path} HTTP/1.1\r\nHost: 127.0.0.1:{{port}}\r\nConnection: close\r\n\r\n"
        ))
    }

    /// The answer to a path below the token, to which a body is sent.
    pub(crate) fn post(&self, path: &str, body: &str) -> Answer {
        let length = body.len();
        self.raw(&format!(
            "POST /{{token}}/{path} HTTP/1.1\r\nHost: 127.0.0.1:{{port}}\r\nConnection: close\r\n\
             Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
        ))
    }

    /// The JSON of a path that must exist.
    pub(crate) fn json(&self, path: &str) -> Value {
        let answer = self.get(path);
        let text = String::from_utf8_lossy(&answer.body).into_owned();
        assert_eq!(answer.status, 200, "{path}: {text}");
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{path}: {error}: {text}"))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.end.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let ended = thread.join();
            assert!(ended.is_ok() || thread::panicking(), "the server ends without a panic");
        }
    }
}
