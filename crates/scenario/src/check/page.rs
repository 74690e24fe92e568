//! The page docs/exclusions.md, made from the tables of rules.

use std::fmt::Write;

use super::exclusions;
use super::faults::{Fault, Over, TALKS};

const HEAD: &str = "\
# Features that exclude each other

<!-- Made from crates/scenario/src/check/exclusions.rs and faults.rs. To renew it: UPDATE_MANUAL=1 cargo test -p haggle-scenario exclusions -->

`haggle validate` refuses a scenario that has both features of a row, and names the place and a way out. Features exclude
each other only if they meet at the same actors or jobs. The mark … stands for a name or a number of the scenario.
[crossing.md](crossing.md) counts the features that have met in runs.

| feature | not together with | reason |
|---|---|---|
";

const FAULTS: &str = "
## Faults of the network

Jobs of a metascheduler survive a fault over any transport, over a reliable transport only, or over none. A scenario in
which they do not survive it is refused.

";

/// The whole page.
pub fn exclusions_page() -> String {
    let mut page = HEAD.to_owned();
    for row in exclusions::all() {
        let _ = writeln!(page, "| {} |", row.map(|text| text.replace('|', "\\|")).join(" | "));
    }
    page.push_str(FAULTS);
    let faults = Fault::ALL.map(|fault| format!("`{}`", fault.key()));
    let _ = writeln!(
        page,
        "| feature | {} |\n|---{}|",
        faults.join(" | "),
        "|---".repeat(faults.len())
    );
    for talk in TALKS {
        let over = Fault::ALL.map(|fault| match talk.over(fault) {
            Over::Any => "any",
            Over::Reliable => "reliable",
            Over::None => "none",
        });
        let _ = writeln!(page, "| {} | {} |", talk.name, over.join(" | "));
    }
    page
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    #[test]
    fn the_page_of_exclusions_agrees_with_the_tables() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/exclusions.md");
        if std::env::var_os("UPDATE_MANUAL").is_some() {
            std::fs::write(&path, super::exclusions_page()).expect("docs/ can be written");
        }
        let written = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(
            written == super::exclusions_page(),
            "docs/exclusions.md is stale: run UPDATE_MANUAL=1 cargo test -p haggle-scenario exclusions"
        );
    }
}
