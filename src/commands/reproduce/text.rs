//! Output of a reproduction for people.

use crate::studies::draw::Drawn;
use crate::studies::judge::VERDICTS;
use crate::studies::{Figure, Finding, Judgement};
use textwrap::{Options, fill};

use crate::commands::table::{count, lines};

const WIDTH: usize = 100;

/// Explanation of missed claims, for readers who meet one for the first time.
pub(super) const MISSED: &str = "
A missed claim is a result and no error: the result here differs from the published one. Reasons
are workloads that a publication describes in part, and choices it does not state.
`expected` and `came out` have the numbers, `note` explains the difference as far as known, and
docs/studies.md describes how claims are decided. The exit code is 1, so that scripts see it.
";

/// The figure's name and description.
pub(super) fn heading(figure: &Figure) -> String {
    format!("{}: {}\n", figure.name, figure.about)
}

/// The files that were written, and the table where there is one.
pub(super) fn drawn(drawn: &Drawn, brief: bool) -> String {
    let mut text = String::new();
    if let Some(image) = &drawn.image {
        text.push_str(&format!("  figure   {}\n", image.display()));
    }
    text.push_str(&format!("  numbers  {}\n", drawn.numbers.display()));
    if !brief && !drawn.table.is_empty() {
        text.push_str(&format!("\n{}", lines(&drawn.table, &[0])));
    }
    text
}

/// Parts that a quick reproduction left out.
pub(super) fn quick(name: &str, cuts: Option<&str>) -> String {
    format!("  quick    {name}: {}\n", cuts.unwrap_or("nothing left out"))
}

/// Each claim with its finding; in `brief`, only the claim.
pub(super) fn findings(findings: &[Finding<'_>], brief: bool) -> String {
    let width = |words: &dyn Fn(&Finding<'_>) -> usize| findings.iter().map(words).max();
    let ids = width(&|it| it.claim.id.chars().count()).unwrap_or(0);
    let verdicts = width(&|it| it.judgement.name().len()).unwrap_or(0);
    let mut text = String::new();
    for Finding { claim, judgement } in findings {
        let verdict = judgement.name();
        let first = format!("  {verdict:verdicts$}  {:ids$}  ", claim.id);
        let indent = " ".repeat(first.chars().count());
        if !brief {
            text.push('\n');
        }
        text.push_str(&wrapped(&first, &indent, &claim.statement));
        if brief {
            continue;
        }
        let expected = format!("{} ({})", claim.expected, claim.grade.name());
        // Results of several comparisons get a line each.
        let got = judgement.text().replace("; ", ";\n");
        let why = claim.reason.as_ref().map(|it| format!("{}: see the end", it.name));
        let label = match judgement {
            Judgement::Held(_)
            | Judgement::Missed(_)
            | Judgement::Undecided(_)
            | Judgement::Reported(_) => "came out",
            Judgement::Untestable(_) | Judgement::Failed(_) => "because",
        };
        for (label, what) in [
            ("expected", Some(&expected)),
            (label, Some(&got)),
            ("data", claim.substitutes.as_ref()),
            ("note", claim.note.as_ref()),
            ("why", why.as_ref()),
        ] {
            if let Some(what) = what {
                text.push_str(&wrapped(
                    &format!("{indent}{label:<8}  "),
                    &format!("{indent}{:10}", ""),
                    what,
                ));
            }
        }
    }
    text.push('\n');
    text
}

/// The reasons that several claims share, each once.
pub(super) fn reasons(findings: &[Finding<'_>]) -> String {
    let mut told: Vec<&str> = Vec::new();
    let mut text = String::new();
    for reason in findings.iter().filter_map(|it| it.claim.reason.as_ref()) {
        if !told.contains(&reason.name.as_str()) {
            told.push(&reason.name);
            text.push_str(&wrapped(&format!("why {}: ", reason.name), "  ", &reason.text));
            text.push('\n');
        }
    }
    text
}

fn wrapped(first: &str, indent: &str, text: &str) -> String {
    let options = Options::new(WIDTH).initial_indent(first).subsequent_indent(indent);
    fill(text, options) + "\n"
}

/// Number of claims with each verdict.
pub(super) fn counts(findings: &[Finding<'_>]) -> String {
    let mut parts = Vec::new();
    for name in VERDICTS {
        let number = findings.iter().filter(|it| it.judgement.name() == name).count();
        if number > 0 {
            parts.push(format!("{number} {name}"));
        }
    }
    let end = if parts.is_empty() { String::new() } else { format!(": {}", parts.join(", ")) };
    format!("{}{end}\n", count(findings.len(), "claim"))
}
