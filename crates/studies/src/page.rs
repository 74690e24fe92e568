//! A page in Markdown with the results of claims: numbers of judgements by study, and for each claim
//! that did not hold, its result.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use super::judge::VERDICTS;
use super::{Catalogue, Figure, Finding, Study};

/// Claims that were tested together, in the format of `haggle reproduce --json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tested {
    /// Version of haggle.
    pub version: String,
    /// Day, as YYYY-MM-DD.
    pub date: String,
    /// The claims with their results.
    pub claims: Vec<Told>,
}

/// A claim with its result, in the format of `haggle reproduce --json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Told {
    /// Its name, unique in its study.
    pub id: String,
    /// The statement.
    pub statement: String,
    /// The expected result.
    pub expected: String,
    /// The result, or the reason why it cannot be tested.
    pub got: String,
    /// The word of its judgement.
    pub verdict: String,
    /// Precision of the claim.
    pub grade: String,
    /// The figures it is about.
    pub figures: Vec<String>,
    /// Remarks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Explanation of its result, shared with other claims.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

impl Told {
    /// The entry of a finding.
    pub fn of(Finding { claim, judgement }: &Finding<'_>) -> Told {
        Told {
            id: claim.id.clone(),
            statement: claim.statement.clone(),
            expected: claim.expected.clone(),
            got: judgement.text(),
            verdict: judgement.name().to_owned(),
            grade: claim.grade.name().to_owned(),
            figures: claim.figures.clone(),
            note: claim.note.clone(),
            why: claim.reason.as_ref().map(|reason| reason.text.clone()),
        }
    }

    /// True if the claim is about a figure of this study.
    fn is_of(&self, study: &Study) -> bool {
        self.figures.iter().any(|name| study.figures.iter().any(|figure| figure.name == *name))
    }
}

/// Writes the page.
///
/// # Errors
/// The first claim whose figures are not in the catalogue.
pub fn page(catalogue: &Catalogue, tested: &[Tested]) -> Result<String, String> {
    let all: Vec<&Told> = tested.iter().flat_map(|it| &it.claims).collect();
    let unknown = |told: &&&Told| !catalogue.studies.iter().any(|study| told.is_of(study));
    if let Some(told) = all.iter().find(unknown) {
        return Err(format!(
            "claim {} is about {}, of which there is no study here",
            told.id,
            told.figures.join(", ")
        ));
    }
    let mut page = String::from(
        "# Claims and results\n\n\
         Claims of publications about their figures, and expectations of haggle's own studies, tested in full. A missed claim is a result: the result here differs from the published one. Claims, expressions and \
         reasons stand in `scenarios/*/claims.toml` ([studies.md](studies.md)); `haggle reproduce FIGURE` repeats \
         any of them with all numbers.\n\n\
         <!-- Made by: haggle reproduce STUDY --json > STUDY.json for each study; haggle reproduce --page *.json -->\n\n",
    );
    let studies = || catalogue.studies.iter().map(|study| (study, told_of(study, &all)));
    let present = || studies().filter(|(_, told)| !told.is_empty());
    let used: Vec<&str> = VERDICTS.into_iter().filter(|it| number(&all, it) > 0).collect();
    let _ = writeln!(page, "| study | claims | {} | tested |", used.join(" | "));
    let _ = writeln!(page, "|---|--:|{}---|", "--:|".repeat(used.len()));
    let mut row = |name: &str, told: &[&Told], when: &str| {
        let counts = used.iter().map(|it| number(told, it).to_string());
        let counts = counts.collect::<Vec<_>>().join(" | ");
        let _ = writeln!(page, "| {name} | {} | {counts} | {when} |", told.len());
    };
    row("**all**", &all, "");
    for (study, told) in present() {
        row(&format!("[{0}](#{0})", study.name), &told, &when(study, tested));
    }
    let missing = studies().filter(|(study, told)| told.is_empty() && !study.claims.is_empty());
    let missing: Vec<&str> = missing.map(|(study, _)| study.name.as_str()).collect();
    if !missing.is_empty() {
        let _ = writeln!(page, "\nNot tested for this page: {}.", missing.join(", "));
    }
    page.push_str(
        "\n*held*: the result agrees with the claim; *missed*: it does not; *undecided*: the \
         difference is within the noise of the replications, or fewer were made than the study \
         requires; \
         *reported*: other data are used in place of the original ones; *untestable*: the known facts cannot decide it.\n",
    );
    for (study, told) in present() {
        page.push_str(&section(study, &told));
    }
    Ok(page)
}

/// Versions and days of a study's tests; several if its figures were not tested together.
fn when(study: &Study, tested: &[Tested]) -> String {
    let of_study = tested.iter().filter(|it| it.claims.iter().any(|told| told.is_of(study)));
    let when = of_study.map(|it| format!("{}, {}", it.version, it.date));
    when.collect::<BTreeSet<_>>().into_iter().collect::<Vec<_>>().join("; ")
}

fn number(told: &[&Told], verdict: &str) -> usize {
    told.iter().filter(|it| it.verdict == verdict).count()
}

/// The claims of a study, in the order of the catalogue's figures.
fn told_of<'t>(study: &Study, all: &[&'t Told]) -> Vec<&'t Told> {
    let mut told: Vec<&Told> = all.iter().copied().filter(|it| it.is_of(study)).collect();
    told.sort_by_key(|it| first_figure(study, it));
    told
}

/// Place of the first figure of the study that a claim is about.
fn first_figure(study: &Study, told: &Told) -> usize {
    let is_about = |figure: &Figure| told.figures.contains(&figure.name);
    study.figures.iter().position(is_about).unwrap_or(study.figures.len())
}

fn section(study: &Study, told: &[&Told]) -> String {
    let mut text = format!("\n## {}\n", study.name);
    let mut reasons: Vec<&str> = Vec::new();
    for (place, figure) in study.figures.iter().enumerate() {
        // A claim about several figures stands once, below the first of them.
        let mine = told.iter().filter(|it| first_figure(study, it) == place);
        let mine: Vec<&Told> = mine.copied().collect();
        if mine.is_empty() {
            continue;
        }
        let _ = write!(text, "\n### {}\n\n{}.\n\n", figure.name, plain(&figure.about));
        text.push_str("| claim | | what was said | expected |\n|---|---|---|---|\n");
        for it in &mine {
            let verdict = match it.verdict.as_str() {
                "missed" | "failed" => format!("**{}**", it.verdict),
                verdict => verdict.to_owned(),
            };
            let (said, expected) = (plain(&it.statement), plain(&it.expected));
            let _ =
                writeln!(text, "| {} | {verdict} | {said} | {expected} ({}) |", it.id, it.grade);
        }
        for it in mine.iter().filter(|it| it.verdict != "held") {
            text.push_str(&account(study, it, &mut reasons));
        }
    }
    if !reasons.is_empty() {
        text.push_str("\nReasons that several claims share:\n\n");
        for (place, reason) in (1..).zip(reasons) {
            let _ = writeln!(text, "{place}. {}", plain(reason));
        }
    }
    text
}

/// Result of a claim that did not hold, with remarks and explanation.
fn account<'t>(study: &Study, told: &'t Told, reasons: &mut Vec<&'t str>) -> String {
    let label = match told.verdict.as_str() {
        "untestable" => "Because",
        _ => "Came out",
    };
    let first = &study.figures[first_figure(study, told)].name;
    let others = told.figures.iter().filter(|name| *name != first).map(String::as_str);
    let others = others.collect::<Vec<_>>().join(", ");
    let others = if others.is_empty() { others } else { format!(" (also about {others})") };
    let (verdict, got) = (&told.verdict, plain(&brief(&told.got)));
    let mut text = format!("\n**{}**{others}, {verdict}. {label}: {got}.", told.id);
    if let Some(note) = &told.note {
        let _ = write!(text, " *Note*: {}", plain(note));
    }
    if let Some(why) = &told.why {
        // Reasons are numbered in the order of their first mention. A shared one is printed once.
        let place = reasons.iter().position(|it| it == why).unwrap_or_else(|| {
            reasons.push(why);
            reasons.len() - 1
        });
        let _ = write!(text, " *Why*: reason {} below.", place + 1);
    }
    text + "\n"
}

/// The result, shortened if it has too many numbers.
fn brief(got: &str) -> String {
    const MOST: usize = 600;
    let got = got.trim_end_matches('.');
    match got.char_indices().nth(MOST) {
        None => got.to_owned(),
        Some((end, _)) => {
            // Cut between two numbers, not inside one.
            let end = got[..end].rfind("; ").unwrap_or(end);
            format!("{}; and more, which haggle reproduce tells", &got[..end])
        }
    }
}

/// A text in one line, with all Markdown escaped.
fn plain(text: &str) -> String {
    let mut plain = String::new();
    for c in text.split_whitespace().collect::<Vec<_>>().join(" ").chars() {
        if "|<*_[`\\".contains(c) {
            plain.push('\\');
        }
        plain.push(c);
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_came_out_is_cut_between_two_numbers() {
        let got = (0..200).map(|i| format!("{i}: 0.5 ± 0.1")).collect::<Vec<_>>().join("; ");
        let brief = brief(&got);
        assert!(
            brief.len() < 700 && got.starts_with(brief.split("; and more").next().expect("a part"))
        );
        assert!(brief.contains("± 0.1; and more"), "{brief}");
        assert_eq!(super::brief("nobody was asked."), "nobody was asked");
    }

    #[test]
    fn no_text_is_markdown() {
        assert_eq!(plain("a < b | c_1\n* [d]"), "a \\< b \\| c\\_1 \\* \\[d]");
    }
}
