//! Pages and comments are in plain English: no sentence begins with a clause in place of a noun of the
//! field, and none is longer than readers can follow. The first pages are short.
//!
//! Blocks of code and headings are left out, and so are questions. Every paragraph, every item of a
//! list and every cell of a table is a text of its own. A sentence ends at a full stop, a question
//! mark or an exclamation mark before a capital letter or a link. A span of code is one word.

use std::fs;
use std::path::{Path, PathBuf};

use crate::book;

/// Most words of a sentence.
const WORDS_MAX: usize = 30;

/// Words that begin a clause in place of a subject.
const CLAUSES: [&str; 7] = ["what", "who", "whoever", "whatever", "whose", "whether", "nobody"];

/// Words that make such a clause of `those`.
const AFTER_THOSE: [&str; 4] = ["who", "that", "which", "whose"];

/// The page of claims quotes publications.
const QUOTES: &str = "claims.md";

/// Pages whose cells are definitions, which may be longer than a sentence.
const DEFINITIONS: [&str; 1] = ["docs/results.md"];

#[test]
fn pages_are_in_plain_english() {
    let docs = book::pages().into_iter().filter(|name| name != QUOTES);
    let docs = docs.map(|name| format!("docs/{name}"));
    let others = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"];
    let pages = others.map(str::to_owned).into_iter().chain(docs);
    let faults: Vec<String> = pages.flat_map(|page| faults_of(&page)).collect();
    let count = faults.len();
    assert!(faults.is_empty(), "{count} sentences to rewrite:\n{}", faults.join("\n"));
}

/// Comments of the product follow the same rules. A table in a comment is left out.
#[test]
fn comments_are_in_plain_english() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let crates = fs::read_dir(root.join("crates")).expect("the folder is there");
    let crates = crates.map(|entry| entry.expect("an entry can be read").path());
    let crates = crates.chain(["agents", "plots", ""].map(|folder| root.join(folder)));
    let mut files = Vec::new();
    crates.for_each(|folder| sources(&folder.join("src"), &mut files));
    files.sort();
    assert!(files.len() > 500, "{} files", files.len());
    let mut found = Vec::new();
    for file in files {
        let text = fs::read_to_string(&file).expect("the file can be read");
        let name = file.strip_prefix(root).unwrap_or(&file).display();
        let faults = faults(&comments(&text)).into_iter();
        found.extend(faults.map(|(line, fault)| format!("{name}:{line}: {fault}")));
    }
    let count = found.len();
    assert!(found.is_empty(), "{count} sentences to rewrite:\n{}", found.join("\n"));
}

/// All Rust files below a folder.
fn sources(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("the folder is there") {
        let path = entry.expect("an entry can be read").path();
        if path.is_dir() {
            sources(&path, files);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            files.push(path);
        }
    }
}

/// The comments of a file in their lines; all other lines are empty.
fn comments(text: &str) -> String {
    let comment = |line: &str| {
        let text = line.trim_start().strip_prefix("//")?.trim_start_matches(['/', '!']);
        (!text.trim_start().starts_with('|')).then(|| text.to_owned())
    };
    let lines = text.lines().map(|line| comment(line).unwrap_or_default());
    lines.collect::<Vec<String>>().join("\n")
}

/// Pages that a newcomer reads first, and the most bytes that each may have.
const SHORT: [(&str, u64); 3] =
    [("README.md", 10_000), ("ARCHITECTURE.md", 15_000), ("CONTRIBUTING.md", 6_000)];

#[test]
fn first_pages_are_short() {
    for (page, bytes_max) in SHORT {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(page);
        let bytes = fs::metadata(path).expect("the page is there").len();
        let remedy = "move details to docs/";
        assert!(bytes <= bytes_max, "{page} has {bytes} bytes, more than {bytes_max}: {remedy}");
    }
}

/// The rules by examples, so that they cannot pass everything.
#[test]
fn sentences_are_judged() {
    let long = format!("It{}.", " waits".repeat(WORDS_MAX));
    let refused = [
        "What waits is moved.",
        "- Whoever asks gets an answer.",
        "A job ends. **Those who** wait go on.",
        "| cell | nobody asks |",
        &long,
    ];
    for text in refused {
        assert_eq!(faults(text).len(), 1, "{text}");
    }
    let accepted = [
        "## What is simulated",
        "What is simulated?",
        "Those jobs wait.",
        "Figure 3 of Netto et al. 2009 shows what waits.",
        "`a b c d e f g h i j k l m n o p q r s t u v w x y z a b c d e` is one word.",
        "```text\nWhat waits is moved.\n```",
    ];
    for text in accepted {
        assert!(faults(text).is_empty(), "{text}");
    }
}

/// The faults of a page, each with its place.
fn faults_of(page: &str) -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(page);
    let text = fs::read_to_string(path).expect("the page is there");
    let text = if page == "CHANGELOG.md" { newest(&text) } else { &text };
    let is_long = |fault: &str| fault.starts_with("has ");
    let faults = faults(text).into_iter();
    let faults = faults.filter(|(_, it)| !DEFINITIONS.contains(&page) || !is_long(it));
    faults.map(|(line, fault)| format!("{page}:{line}: {fault}")).collect()
}

/// A changelog as far as its newest version; older ones stay as they are.
fn newest(text: &str) -> &str {
    let ends = text.match_indices("\n## ").nth(2).map_or(text.len(), |(at, _)| at);
    &text[..ends]
}

/// The sentences of a page that break a rule, with their lines and the rule.
fn faults(page: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for (line, text) in texts(page) {
        for sentence in sentences(&text) {
            found.extend(fault(&sentence).map(|rule| (line, format!("{rule}: {sentence}"))));
        }
    }
    found
}

/// The rule that a sentence breaks.
fn fault(sentence: &str) -> Option<String> {
    if sentence.trim_end_matches(CLOSING).ends_with('?') {
        return None;
    }
    let words = sentence.split(' ').filter(|word| word.contains(char::is_alphanumeric));
    let mut begins = words.clone().map(|word| {
        let word = word.trim_matches(|letter: char| !letter.is_alphanumeric());
        word.to_lowercase()
    });
    let first = begins.next().unwrap_or_default();
    let those = first == "those" && begins.next().is_some_and(|it| AFTER_THOSE.contains(&&*it));
    if those || CLAUSES.contains(&&*first) {
        return Some(format!("begins with `{first}`, not with a noun"));
    }
    let count = words.count();
    (count > WORDS_MAX).then(|| format!("has {count} words, more than {WORDS_MAX}"))
}

/// Marks that may stand behind the end of a sentence.
const CLOSING: [char; 4] = [')', '"', '\'', '*'];

/// Marks that may stand before its first word.
const OPENING: [char; 4] = ['(', '"', '\'', '*'];

/// The sentences of a text, with spans of code as one word.
fn sentences(text: &str) -> Vec<String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let mut found = vec![String::new()];
    for (number, word) in words.iter().enumerate() {
        let sentence = found.last_mut().expect("there is one");
        if !sentence.is_empty() {
            sentence.push(' ');
        }
        sentence.push_str(word);
        let ends = word.trim_end_matches(CLOSING).ends_with(['.', '!', '?']);
        let next = words.get(number + 1).map(|next| next.trim_start_matches(OPENING));
        let begins = |next: &str| next.starts_with(|it: char| it.is_uppercase() || it == '[');
        if ends && next.is_some_and(begins) {
            found.push(String::new());
        }
    }
    found
}

/// The paragraphs, items and cells of a page, with their lines.
fn texts(page: &str) -> Vec<(usize, String)> {
    let mut found: Vec<(usize, String)> = Vec::new();
    let (mut code, mut goes_on) = (false, false);
    for (number, line) in page.lines().enumerate() {
        let line = line.trim();
        let fence = line.starts_with("```");
        code ^= fence;
        if fence || code || line.is_empty() || line.starts_with('#') {
            goes_on = false;
        } else if let Some(row) = line.strip_prefix('|') {
            found.extend(row.split('|').map(|cell| (number + 1, cell.to_owned())));
            goes_on = false;
        } else if let (Some((_, text)), true) = (found.last_mut(), goes_on && item(line).is_none())
        {
            text.push(' ');
            text.push_str(line);
        } else {
            found.push((number + 1, item(line).unwrap_or(line).to_owned()));
            goes_on = true;
        }
    }
    found.into_iter().map(|(line, text)| (line, without_code(&text))).collect()
}

/// The text of an item of a list.
fn item(line: &str) -> Option<&str> {
    let numbered = line.trim_start_matches(|it: char| it.is_ascii_digit());
    let numbered = (numbered.len() < line.len()).then(|| numbered.strip_prefix(". ")).flatten();
    line.strip_prefix("- ").or(numbered)
}

/// A text with `Code` in place of each span of code.
fn without_code(text: &str) -> String {
    let parts = text.split('`').enumerate();
    parts.map(|(number, part)| if number % 2 == 0 { part } else { "Code" }).collect()
}
