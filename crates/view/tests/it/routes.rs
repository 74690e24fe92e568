//! Routes: rights, headers, wrong parameters, several clients.

use std::path::Path;
use std::thread;

use serde_json::Value;

use crate::client::Running;
use crate::runs::{carry_out, example, scenarios};

/// Runs of a small example with a grid, and of one with providers, made once a test.
fn runs(folder: &Path) -> Running {
    let (one, other) = (folder.join("one"), folder.join("other"));
    example("quickstart", &one);
    example("failing-grid", &other);
    Running::of(&[&one, &other])
}

fn with_host(host: &str, more: &str) -> String {
    format!("GET /{{token}}/api/views HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{more}\r\n")
}

#[test]
fn strangers_get_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = folder.path().join("run");
    example("quickstart", &run);
    let server = Running::of(&[&run]);
    let status = |request: &str| server.raw(request).status;
    for host in ["127.0.0.1:{port}", "localhost:{port}", "[::1]:{port}"] {
        assert_eq!(status(&with_host(host, "")), 200, "{host}");
    }
    // Names of other sites that lead to this machine, other ports, and no name.
    for host in ["evil.example:{port}", "127.0.0.1", "127.0.0.1:1", "127.0.0.1.evil.example:{port}"]
    {
        assert_eq!(status(&with_host(host, "")), 403, "{host}");
    }
    assert_eq!(status("GET /{token}/api/views HTTP/1.0\r\nConnection: close\r\n\r\n"), 403);
    let own = "Host: 127.0.0.1:{port}\r\nConnection: close\r\n";
    let paths = [
        "/",
        "/api/views",
        "/0123456789abcdef0123456789abcdef/api/views",
        "//{token}/api/views",
        "/{token}x/",
        "/{token}/api",
        "/{token}/../{token}/api/none",
        "/{token}/%2e%2e/Cargo.toml",
        "/{token}/..%2f..%2fCargo.toml",
    ];
    for path in paths {
        let answer = server.raw(&format!("GET {path} HTTP/1.1\r\n{own}\r\n"));
        assert_eq!(answer.status, 404, "{path}");
        assert!(answer.body.len() < 100, "{path}");
    }
    // A page of another site may send a request, and the browser names that site.
    let post = |origin: &str| {
        let head = format!("POST /{{token}}/api/views/0/steps HTTP/1.1\r\n{own}{origin}");
        status(&format!("{head}Content-Length: 0\r\n\r\n"))
    };
    assert_eq!(post("Origin: http://evil.example\r\n"), 403);
    assert_eq!(post("Origin: null\r\n"), 403);
    assert_eq!(post("Origin: https://127.0.0.1:{port}\r\n"), 403);
    assert_eq!(post("Origin: http://127.0.0.1:{port}\r\n"), 409);
    assert_eq!(post(""), 409);
}

#[test]
fn a_large_body_is_refused() {
    let server = Running::with(haggle_view::Views::new());
    let answer = server.raw(
        "POST /{token}/api/views/0/steps HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\
         Connection: close\r\nContent-Length: 4194305\r\n\r\n",
    );
    let text = String::from_utf8_lossy(&answer.body);
    assert_eq!(answer.status, 413, "{text}");
    assert!(text.contains("\"error\":\"the body of the request has more than 4194304 bytes\""));
    assert!(answer.head.contains("content-type: application/json"), "{}", answer.head);
}

#[test]
fn all_answers_have_the_headers() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = folder.path().join("run");
    example("quickstart", &run);
    let server = Running::of(&[&run]);
    for path in ["", "api/views", "api/views/7", "none", "api/views/0/jobs?sort=none"] {
        let head = server.get(path).head;
        for header in [
            "content-security-policy: default-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
            "x-content-type-options: nosniff",
            "referrer-policy: no-referrer",
            "cache-control: no-store",
        ] {
            assert!(head.contains(header), "{path}: {header} is not in {head}");
        }
        assert!(!head.contains("set-cookie"), "{path}");
    }
    let refused = server.raw("GET / HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n");
    assert!(refused.head.contains("content-security-policy"));
}

#[test]
fn wrong_parameters_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let server = runs(folder.path());
    let tile = "api/views/0/charts/0/tile?from=0&to=100&columns=10&first_row=0&rows=4&lanes=4";
    assert_eq!(server.get(tile).status, 200);
    let wrong = [
        "api/views/9",
        "api/views/x",
        "api/views/-1",
        "api/views/99999999999999999999999",
        "api/views/0/charts/9/tile?from=0&to=100&columns=10&first_row=0&rows=4&lanes=4",
        "api/views/0/charts/0/tile",
        "api/views/0/charts/0/tile?from=0&to=100&columns=0&first_row=0&rows=4&lanes=4",
        "api/views/0/charts/0/tile?from=0&to=100&columns=10&first_row=0&rows=0&lanes=4",
        "api/views/0/charts/0/tile?from=0&to=100&columns=10&first_row=0&rows=4&lanes=0",
        "api/views/0/charts/0/tile?from=0&to=100&columns=99999&first_row=0&rows=4&lanes=4",
        "api/views/0/charts/0/tile?from=0&to=100&columns=16000&first_row=0&rows=16000&lanes=16000",
        "api/views/0/charts/0/tile?from=100&to=100&columns=10&first_row=0&rows=4&lanes=4",
        "api/views/0/charts/0/tile?from=NaN&to=100&columns=10&first_row=0&rows=4&lanes=4",
        "api/views/0/charts/0/tile?from=0&to=x&columns=10&first_row=0&rows=4&lanes=4",
        "api/views/0/charts/0/tile?from=0&to=100&columns=10&first_row=-1&rows=4&lanes=4",
        "api/views/0/charts/0/tile?from=0&to=100&columns=10&first_row=0&rows=4&lanes=4&beside=9",
        "api/views/0/charts/0/tile?from=0&to=100&columns=10&first_row=0&rows=4&lanes=4&as=nobody",
        "api/views/0/charts/0/tile?from=0&to=100&columns=10&first_row=0&rows=4&lanes=4&numbers=9",
        "api/views/0/charts/0/at",
        "api/views/0/charts/0/at?time=0",
        "api/views/0/charts/0/at?time=x&row=1",
        "api/views/0/charts/0/sum?from=0",
        "api/views/0/charts/9/sum?from=0&to=1",
        "api/views/0/charts/9/bands",
        "api/views/0/charts/0/bands?first=x",
        "api/views/0/series?id=busy:0&from=0&to=9&columns=0",
        "api/views/0/series?id=busy:9&from=0&to=9&columns=4",
        "api/views/0/series?id=none&from=0&to=9&columns=4",
        "api/views/0/jobs?sort=none",
        "api/views/0/jobs?first=-1",
        "api/views/0/jobs?count=x",
        "api/views/0/jobs?as=nobody",
        "api/views/0/jobs/99999999",
        "api/views/0/jobs/x",
        "api/views/0/messages?job=x",
        "api/views/0/told",
        "api/views/0/differences",
        "api/views/0/differences?with=9",
        "api/views/0/picture",
        "api/views/0/picture?kind=none",
        "api/views/0/picture?kind=gantt&format=gif",
        "api/views/0/picture?kind=gantt&width=10",
        "api/views/0/picture?kind=gantt&width=1&height=1",
        "api/views/0/picture?kind=job-timeline",
        "api/views/0/state",
        "api/views/0/actors/north",
    ];
    for path in wrong {
        let answer = server.get(path);
        let text = String::from_utf8_lossy(&answer.body).into_owned();
        assert!((400..500).contains(&answer.status), "{path}: {} {text}", answer.status);
        let body: serde_json::Value = serde_json::from_str(&text).expect(path);
        assert!(body["error"].as_str().is_some_and(|it| !it.is_empty()), "{path}: {text}");
    }
    // Extreme windows are windows.
    for path in [
        "api/views/0/charts/0/tile?from=-1e300&to=1e300&columns=10&first_row=0&rows=4294967295&lanes=4",
        "api/views/0/charts/0/tile?from=0&to=1&columns=16384&first_row=4294967295&rows=4294967295&lanes=1",
        "api/views/0/charts/0/sum?from=-inf&to=inf&first_row=4294967295&rows=4294967295",
        "api/views/0/series?id=busy:all&from=-inf&to=inf&columns=16384",
        "api/views/0/charts/0/at?time=inf&row=4294967295",
        "api/views/0/jobs?first=18446744073709551615&count=18446744073709551615",
        "api/views/0/jobs?filter=%ff%fe",
    ] {
        assert_eq!(server.get(path).status, 200, "{path}");
    }
    // A mistake in a filter belongs to the answer, because the user still types.
    let jobs = server.json("api/views/0/jobs?filter=waiting_time%20%3E");
    assert!(jobs["error"].is_string() && jobs["rows"].as_array().is_some_and(Vec::is_empty));
    let jobs = server.json("api/views/0/jobs?filter=%22x%22%20%2B%201");
    assert!(jobs["error"].is_string());
}

#[test]
fn jobs_are_filtered_sorted_and_paged() {
    let folder = tempfile::tempdir().expect("a folder");
    let server = runs(folder.path());
    let all = server.json("api/views/0/jobs?count=1000");
    let total = all["total"].as_u64().expect("a number");
    assert_eq!(all["matching"].as_u64(), Some(total));
    let place = |name: &str| {
        let columns = all["columns"].as_array().expect("columns");
        columns.iter().position(|it| it["name"] == name).expect("a column")
    };
    let (job, waiting) = (place("job"), place("waiting_time"));
    let long = server.json(
        "api/views/0/jobs?filter=waiting_time%20%3E%20100%20%26%26%20job%20%3E%202&sort=-waiting_time&count=1000",
    );
    let rows = long["rows"].as_array().expect("rows");
    let times = Vec::from_iter(rows.iter().map(|it| it[waiting].as_f64().expect("a time")));
    assert!(times.iter().all(|it| *it > 100.0) && times.is_sorted_by(|a, b| a >= b));
    let expected = all["rows"].as_array().expect("rows").iter();
    let expected = expected.filter(|it| {
        it[waiting].as_f64().is_some_and(|it| it > 100.0)
            && it[job].as_u64().is_some_and(|it| it > 2)
    });
    if total <= 1_000 {
        assert_eq!(rows.len(), expected.count());
    }
    let page = server.json(
        "api/views/0/jobs?filter=waiting_time%20%3E%20100%20%26%26%20job%20%3E%202&sort=-waiting_time&first=1&count=2",
    );
    assert_eq!(page["rows"].as_array().expect("rows")[..], rows[1..3]);
    // Missing values are last in both directions.
    for sort in ["deadline", "-deadline"] {
        let page = server.json(&format!("api/views/0/jobs?sort={sort}&count=1"));
        assert_eq!(page["matching"].as_u64(), Some(total));
    }
    // A word is searched in names.
    let found = server.json("api/views/0/jobs?filter=completed&count=1");
    assert!(found["matching"].as_u64().is_some_and(|it| it > 0 && it <= total));
}

#[test]
fn an_actor_sees_only_its_own() {
    let folder = tempfile::tempdir().expect("a folder");
    let server = runs(folder.path());
    let overview = server.json("api/views/0");
    let charts = overview["charts"].as_array().expect("charts");
    let (own, other) = (charts[0]["name"].as_str().expect("a name"), 1);
    let tile = |chart: usize, more: &str| {
        let until = overview["until"].as_i64().expect("a time");
        let path = format!(
            "api/views/0/charts/{chart}/tile?from=0&to={until}&columns=500&first_row=0&rows=1000&lanes=500{more}"
        );
        let body = server.get(&path).body;
        (u32::from_le_bytes(body[36..40].try_into().expect("four bytes")), body[48])
    };
    assert_eq!(tile(0, ""), tile(0, &format!("&as={own}")));
    assert!(tile(other, "") != (0, 0));
    assert_eq!(tile(other, &format!("&as={own}")), (0, 0));
    let jobs = |path: &str| server.json(path)["matching"].as_u64().expect("a number");
    let names = |path: &str| server.json(path)["colours"].as_array().expect("colours").len();
    assert!(names("api/views/0/legend") > names(&format!("api/views/0/legend?as={own}")));
    let (all, known) = (jobs("api/views/0/jobs"), jobs(&format!("api/views/0/jobs?as={own}")));
    assert!(0 < known && known < all, "{known} of {all}");
    // Of a job that ran elsewhere, it knows the description alone.
    let page = server.json(&format!("api/views/0/jobs?as={own}&count=1000"));
    let columns = page["columns"].as_array().expect("columns");
    let rows = page["rows"].as_array().expect("rows");
    let place = |name: &str| columns.iter().position(|it| it["name"] == name).expect(name);
    let (provider, start, job) = (place("provider"), place("starting_time"), place("job"));
    let (mine, others): (Vec<_>, Vec<_>) = rows.iter().partition(|row| row[provider] == *own);
    assert!(!mine.is_empty() && !others.is_empty());
    for row in others {
        let is_described = row[provider].is_null() && row[start].is_null() && row[job].is_u64();
        assert!(is_described, "{row}");
    }
    let there = charts[other]["name"].as_str().expect("a name");
    let filter = format!("filter=provider%20==%20%22{there}%22");
    assert!(jobs(&format!("api/views/0/jobs?{filter}")) > 0);
    assert_eq!(jobs(&format!("api/views/0/jobs?as={own}&{filter}")), 0);
    let messages = server.json(&format!("api/views/0/messages?as={own}&count=5000"));
    for row in messages["rows"].as_array().expect("rows") {
        assert!(row["sender"] == *own || row["receiver"] == *own, "{row}");
    }
}

#[test]
fn a_job_has_its_story_and_neighbours() {
    let folder = tempfile::tempdir().expect("a folder");
    let server = runs(folder.path());
    for view in 0..2 {
        let jobs = server.json(&format!("api/views/{view}/jobs?count=3&sort=job"));
        let columns = jobs["columns"].as_array().expect("columns");
        let at = columns.iter().position(|it| it["name"] == "job").expect("a column");
        let number = jobs["rows"][1][at].as_u64().expect("a number");
        let job = server.json(&format!("api/views/{view}/jobs/{number}"));
        assert_eq!(job["job"].as_u64(), Some(number));
        assert!(job["story"]["title"].as_str().is_some_and(|it| it.starts_with("job ")), "{job}");
        assert!(job["story"]["lines"].as_array().is_some_and(|it| it.len() > 2), "{job}");
        assert!(job["attempts"].as_array().is_some_and(|it| !it.is_empty()), "{job}");
        let bar = &job["bars"][0];
        let middle =
            (bar["start"].as_i64().expect("a time") + bar["end"].as_i64().expect("a time")) / 2;
        let found = server.json(&format!(
            "api/views/{view}/charts/{}/at?time={middle}&row={}",
            bar["chart"], bar["row"]
        ));
        assert_eq!(found["job"].as_u64(), Some(number));
        let found = server.json(&format!("api/views/{view}/find?text={number}"));
        assert_eq!(found["matches"][0]["id"].as_u64(), Some(number));
        assert_eq!(found["more"], false);
        let next = job["next_of_user"].as_u64().expect("a later job");
        let next = server.json(&format!("api/views/{view}/jobs/{next}"));
        assert_eq!(next["previous_of_user"].as_u64(), Some(number));
    }
}

/// A job number that each of many workloads has is found in some of them, and the rest is told.
#[test]
fn a_search_tells_that_there_are_more() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = folder.path().join("run");
    carry_out(&scenarios().join("quickstart.toml"), &run, |it| {
        it.results.format = haggle_scenario::file::TableFormat::Csv;
    });
    let path = run.join("jobs.csv");
    let text = std::fs::read_to_string(&path).expect("a table");
    let header = text.lines().next().expect("a header");
    let at = header.split(',').position(|it| it == "job_id").expect("a column");
    let same = |line: &str| {
        let cell = |(place, cell)| if place == at { "7" } else { cell };
        Vec::from_iter(line.split(',').enumerate().map(cell)).join(",")
    };
    let rows = Vec::from_iter(text.lines().skip(1).map(same));
    std::fs::write(&path, format!("{header}\n{}\n", rows.join("\n"))).expect("it is written");
    let server = Running::of(&[&run]);
    let found = server.json("api/views/0/find?text=7");
    assert_eq!(
        (found["matches"].as_array().map(Vec::len), &found["more"]),
        (Some(20), &true.into())
    );
    // The job with this number in the run is the first one.
    assert_eq!(
        (&found["matches"][0]["kind"], &found["matches"][0]["id"]),
        (&"job".into(), &7.into())
    );
}

#[test]
fn two_clients_get_the_same_at_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let server = runs(folder.path());
    let tile = "api/views/0/charts/0/tile?from=0&to=1000000000000&columns=500&first_row=0&rows=64&lanes=64&beside=1";
    let expected = server.get(tile).body;
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                for _ in 0..20 {
                    assert_eq!(server.get(tile).body, expected);
                    assert_eq!(server.get("api/views/1/jobs?filter=1&sort=-job").status, 200);
                }
            });
        }
    });
}

#[test]
fn pictures_are_those_of_the_plots() {
    let folder = tempfile::tempdir().expect("a folder");
    let server = runs(folder.path());
    for view in 0..2 {
        let overview = server.json(&format!("api/views/{view}"));
        let kinds = overview["pictures"].as_array().expect("kinds").clone();
        assert!(!kinds.is_empty());
        for kind in kinds {
            let kind = kind.as_str().expect("a word");
            let answer = server.get(&format!("api/views/{view}/picture?kind={kind}&format=svg"));
            let text = String::from_utf8_lossy(&answer.body);
            assert!(answer.status == 200 && text.starts_with("<svg"), "{kind}: {text}");
        }
    }
    let png =
        server.get("api/views/0/picture?kind=gantt&width=800&height=600&from=0&to=3600000000");
    assert!(
        png.status == 200 && png.head.contains("image/png") && png.body.starts_with(b"\x89PNG")
    );
}

/// Jobs of a second view have the numbers of the first one, or none.
#[test]
fn jobs_of_a_second_view_have_the_numbers_of_the_first() {
    let folder = tempfile::tempdir().expect("a folder");
    let (one, other) = (folder.path().join("one"), folder.path().join("other"));
    example("quickstart", &one);
    carry_out(&scenarios().join("quickstart.toml"), &other, |it| {
        // Without the jobs of a workload, the others have other numbers in the run.
        it.workloads.remove(1);
        it.users.remove(1);
    });
    let server = Running::of(&[&one, &other]);
    let names = |view: usize| {
        let page =
            |first: usize| server.json(&format!("api/views/{view}/jobs?count=1000&first={first}"));
        let head = page(0);
        let columns = head["columns"].as_array().expect("columns");
        let at = |name: &str| columns.iter().position(|it| it["name"] == name).expect(name);
        let (job, number, workload) = (at("job"), at("job_id"), at("workload_name"));
        let total = head["total"].as_u64().expect("a number") as usize;
        let pages = (0..total).step_by(1_000).map(page);
        let rows = pages.flat_map(|it| it["rows"].as_array().expect("rows").clone());
        let name = |it: Value| (it[job].as_u64(), format!("{} {}", it[workload], it[number]));
        rows.map(name).collect::<std::collections::BTreeMap<_, _>>()
    };
    let (first, second) = (names(0), names(1));
    let differs = |job: &u64| first.get(&Some(*job)) != second.get(&Some(*job));
    let (mut same, mut moved) = (0, 0);
    for time in (0..2_000).map(|it| it * 300_000_000_u64) {
        let path = format!("api/views/1/charts/0/at?time={time}&row=0");
        let Some(there) = server.json(&path)["job"].as_u64() else { continue };
        let here = server.json(&format!("{path}&numbers=0"))["job"].as_u64();
        if let Some(here) = here {
            assert_eq!(first[&Some(here)], second[&Some(there)]);
            same += 1;
            moved += usize::from(differs(&there));
        }
    }
    assert!(same > 10 && moved > 10, "{same} {moved}");
    // Bars of tiles, too.
    let tile =
        "api/views/1/charts/0/tile?from=0&to=600000000000&columns=4000&first_row=0&rows=8&lanes=8";
    let jobs = |path: &str| {
        let body = server.get(path).body;
        let word = |at: usize| u32::from_le_bytes(body[at..at + 4].try_into().expect("a word"));
        let count = word(36) as usize;
        Vec::from_iter((0..count).map(|it| u64::from(word(64 + 4 * (4 * count + it)))))
    };
    let (own, numbered) = (jobs(tile), jobs(&format!("{tile}&numbers=0")));
    assert!(!own.is_empty());
    for (there, here) in own.iter().zip(&numbered) {
        match first.get(&Some(*here)) {
            Some(name) => assert_eq!(name, &second[&Some(*there)]),
            None => assert_eq!(*here, u64::from(u32::MAX - 1)),
        }
    }
}
