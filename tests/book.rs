//! The pages of docs/ are a book: each is in its table of contents, and each link leads to a page
//! or heading in it.

use std::path::{Path, PathBuf};
use std::{env, fs};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).to_owned()
}

/// The pages of the book by their names in docs/, in order.
pub(crate) fn pages() -> Vec<String> {
    let inner = in_folder("docs/internals").into_iter().map(|name| format!("internals/{name}"));
    let mut names: Vec<String> = in_folder("docs").into_iter().chain(inner).collect();
    names.sort();
    names
}

/// The pages directly in a folder.
fn in_folder(folder: &str) -> Vec<String> {
    let names = fs::read_dir(root().join(folder)).expect("the folder is there");
    let names = names.map(|entry| entry.expect("an entry can be read").file_name());
    let names = names.map(|name| name.to_string_lossy().into_owned());
    names.filter(|name| name.ends_with(".md")).collect()
}

/// Targets of a page's links, except those outside of the project.
fn links(text: &str) -> Vec<&str> {
    let mut code = false;
    let prose = text.lines().filter(|line| {
        code ^= line.starts_with("```");
        !code
    });
    let targets = prose.flat_map(|line| line.split("](").skip(1));
    let targets = targets.filter_map(|rest| rest.split(')').next());
    targets.filter(|target| !target.contains("://")).collect()
}

/// The anchors of a page's headings, as GitHub and mdbook name them.
fn anchors(text: &str) -> Vec<String> {
    let headings = text.lines().filter_map(|line| line.strip_prefix('#'));
    let anchor = |heading: &str| {
        let words = heading.trim_start_matches('#').trim().to_lowercase().replace(' ', "-");
        words.chars().filter(|&it| it.is_alphanumeric() || it == '-' || it == '_').collect()
    };
    headings.map(anchor).collect()
}

/// True if a path leads into docs/, also through links.
fn is_in_docs(path: &Path) -> bool {
    let path = path.canonicalize().expect("it is there");
    path.starts_with(root().join("docs").canonicalize().expect("the folder is there"))
}

/// Files of the code that a page about the code names in full must exist.
#[test]
fn every_file_of_the_code_is_there() {
    let inner =
        in_folder("docs/internals").into_iter().map(|name| format!("docs/internals/{name}"));
    let pages = ["ARCHITECTURE.md", "CONTRIBUTING.md"].map(str::to_owned).into_iter().chain(inner);
    let mut found = 0;
    for page in pages {
        let text = fs::read_to_string(root().join(&page)).expect("it is there");
        for name in text.split('`').skip(1).step_by(2).filter(|span| is_path(span)) {
            assert!(root().join(name).exists(), "{page}: {name} is not there");
            found += 1;
        }
    }
    assert!(found > 100, "{found} files");
}

/// True if a span of code is a path from the top folder.
fn is_path(span: &str) -> bool {
    let begins = span.starts_with(|first: char| first.is_ascii_lowercase());
    begins && span.contains('/') && span.ends_with(".rs") && !span.contains([' ', '*'])
}

#[test]
fn every_page_is_in_the_table_of_contents() {
    let summary = fs::read_to_string(root().join("docs/SUMMARY.md")).expect("it is there");
    let mut listed: Vec<String> = links(&summary).into_iter().map(str::to_owned).collect();
    listed.push("SUMMARY.md".to_owned());
    listed.sort();
    assert_eq!(listed, pages());
}

#[test]
fn every_link_leads_somewhere() {
    let docs = pages().into_iter().map(|name| format!("docs/{name}"));
    let others = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"];
    let others = others.map(str::to_owned);
    let mut found = 0;
    for page in docs.chain(others) {
        let text = fs::read_to_string(root().join(&page)).expect("it is there");
        let folder = root().join(&page).parent().expect("it lies in one").to_owned();
        for link in links(&text) {
            let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
            let target = if file.is_empty() { root().join(&page) } else { folder.join(file) };
            assert!(target.exists(), "{page}: {link} is not there");
            // A page of the book must not link to pages outside of the book.
            let leaves = page.starts_with("docs/") && !is_in_docs(&target);
            assert!(!leaves, "{page}: {link} leads out of the book");
            if !anchor.is_empty() {
                let text = fs::read_to_string(&target).expect("it is a page");
                let there = anchors(&text).iter().any(|known| known == anchor);
                assert!(there, "{page}: {link}: no heading there has this anchor");
            }
            found += 1;
        }
    }
    assert!(found > 100, "{found} links");
}
