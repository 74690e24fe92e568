//! docs/protocols.md equals the docs of the actors' protocols.

use std::env;
use std::fs;
use std::path::Path;

const BEGINNING: &str = "# Messages between actors

All messages, protocol by protocol. An actor cannot read the state of another actor: all its knowledge arrives in messages.
This page is made from the headers of `agents/src/protocol/*.rs`; to renew it:
`UPDATE_PROTOCOLS=1 cargo test -p haggle --test main protocols_page`.

| protocol | between | about |
|---|---|---|
";

/// The header of a file, without the marks of comments and links.
fn header(file: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("agents/src").join(file);
    let text = fs::read_to_string(path).expect("it can be read");
    let lines = text.lines().map_while(|line| line.strip_prefix("//!"));
    let lines = lines.map(|line| line.strip_prefix(' ').unwrap_or(line));
    without_links(&lines.collect::<Vec<_>>().join("\n"))
}

/// A page cannot link to [`X`](crate::X), so only `X` stays.
fn without_links(text: &str) -> String {
    let mut parts = text.split("[`");
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (name, rest) = part.split_once("`]").expect("a link ends");
        let rest = match rest.strip_prefix('(') {
            Some(rest) => rest.split_once(')').expect("its target does, too").1,
            None => rest,
        };
        plain.push_str(&format!("`{name}`{rest}"));
    }
    plain
}

/// The expected page: the table of all protocols, then each of them.
fn expected() -> String {
    let all = header("protocol.rs");
    let rows: Vec<&str> = all.lines().filter(|line| line.starts_with("| `")).collect();
    assert!(rows.len() > 10, "every protocol has a row: {rows:?}");
    let mut page = format!("{BEGINNING}{}\n", rows.join("\n"));
    for row in rows {
        let name = row.split('`').nth(1).expect("a name");
        page.push_str(&format!("\n## {name}\n\n{}\n", header(&format!("protocol/{name}.rs"))));
    }
    page
}

#[test]
fn the_page_says_what_the_protocols_say() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/protocols.md");
    let expected = expected();
    if env::var_os("UPDATE_PROTOCOLS").is_some() {
        fs::write(&path, &expected).expect("the page can be written");
    }
    let page = fs::read_to_string(&path).unwrap_or_default();
    assert!(page == expected, "renew docs/protocols.md as it says");
}
