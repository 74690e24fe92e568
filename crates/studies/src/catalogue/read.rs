//! Reads a study's files, and reports every mistake at its place.

use std::ops::Range;
use std::rc::Rc;

use serde::de::DeserializeOwned;
use toml::Spanned;

use super::file::{ClaimEntry, ClaimsFile, Draw, DrawKind, FigureEntry, FiguresFile, LiveEntry};
use super::{CatalogueError, Claim, Expression, Figure, Live, Origin, Reason, Study, Test};
use crate::{Data, Library};
use haggle_scenario::file::FigureKind;
use haggle_scenario::{InvalidScenario, Problem, Source, nearest};
use haggle_script::Language;

/// Reads a study, which may refer to the studies by code in `known`.
pub(super) fn study(
    library: &Library,
    name: &str,
    known: &[&str],
) -> Result<Study, CatalogueError> {
    let source = library.read(name, "figures.toml")?;
    let file: FiguresFile = parse(&source)?;
    let functions = file.functions.as_ref();
    let language = match functions {
        Some(functions) => {
            Language::new(Vec::<Rc<Data>>::new(), functions.get_ref()).map_err(|mistake| {
                invalid(expression(&source, functions).problem("functions", &mistake))
            })?
        }
        None => {
            Language::new(Vec::<Rc<Data>>::new(), "").map_err(|it| unplaced(&source, it.message))?
        }
    };
    let mut problems = Vec::new();
    let mut figures: Vec<Figure> = Vec::new();
    for (index, entry) in file.figures.iter().enumerate() {
        let mut before = file.figures[..index].iter().map(|figure| figure.name.get_ref());
        if before.any(|other| other == entry.name.get_ref()) {
            let message = format!("two figures are called \"{}\"", entry.name.get_ref());
            problems.push(problem(entry.name.span(), message, "taken", "rename one of them"));
        }
    }
    for entry in file.figures {
        let place = Place { library, study: name, known };
        if let Some(figure) = figure(entry, &place, &language, &mut problems) {
            figures.push(figure);
        }
    }
    let live = file.live.into_iter().map(|entry| live(entry, &figures, &mut problems)).collect();
    if !problems.is_empty() {
        return Err(invalid(Box::new(InvalidScenario::new(source, problems))));
    }
    // Claims name figures, so they are read only if all figures are right.
    let claims = match library.has(name, "claims.toml") {
        true => claims(&library.read(name, "claims.toml")?, &figures, &language)?,
        false => Vec::new(),
    };
    Ok(Study {
        name: name.to_owned(),
        functions: functions.map(|it| it.get_ref().clone()).unwrap_or_default(),
        quick: file.quick,
        live,
        figures,
        claims,
    })
}

fn live(entry: LiveEntry, figures: &[Figure], problems: &mut Vec<Problem>) -> Live {
    let LiveEntry { sweep, at, scale } = entry;
    let (place, sweep) = (sweep.span(), sweep.into_inner());
    let origin = Origin::Sweep(sweep.clone());
    if !figures.iter().any(|figure| figure.origins.contains(&origin)) {
        let message = format!("no figure has the sweep `{sweep}`");
        problems.push(problem(place, message, "not used", "name a sweep of a figure"));
    }
    let text = |value: toml::Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    Live { sweep, at: at.into_iter().map(|(axis, value)| (axis, text(value))).collect(), scale }
}

struct Place<'a> {
    library: &'a Library,
    study: &'a str,
    known: &'a [&'a str],
}

fn figure(
    entry: FigureEntry,
    place: &Place<'_>,
    language: &Language,
    problems: &mut Vec<Problem>,
) -> Option<Figure> {
    let name = entry.name.get_ref().clone();
    let count = problems.len();
    let fit = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    if name.is_empty() || name == "all" || !name.chars().all(fit) {
        let message = format!("\"{name}\" cannot be the name of a figure");
        let help = "use letters, digits, dots and dashes, and not the word \"all\"";
        problems.push(problem(entry.name.span(), message, "here", help));
    }
    let mut origins = Vec::new();
    for sweep in &entry.sweeps {
        let file = sweep.get_ref();
        if !place.library.has(place.study, file) {
            let message = format!("the study has no scenario `{file}`");
            let help = "name a file of the same folder, with its ending .toml";
            problems.push(problem(sweep.span(), message, "not there", help));
        }
        origins.push(Origin::Sweep(file.clone()));
    }
    if let Some(study) = &entry.study {
        if !place.known.contains(&study.get_ref().as_str()) {
            let message = format!("there is no study \"{}\"", study.get_ref());
            let help = match nearest(study.get_ref(), place.known.iter().copied()) {
                Some(near) => format!("did you mean \"{near}\"?"),
                None => format!("there is {}", list(place.known)),
            };
            problems.push(problem(study.span(), message, "not there", &help));
        }
        origins.push(Origin::Study(study.get_ref().clone()));
    }
    if origins.is_empty() {
        let message = format!("figure \"{name}\" has no data");
        problems.push(problem(
            entry.name.span(),
            message,
            "this one",
            "give it `sweeps` or a `study`",
        ));
    }
    let mut suffixes: Vec<&str> = Vec::new();
    for draw in &entry.draws {
        let suffix = draw.suffix.as_deref().unwrap_or_default();
        if suffixes.contains(&suffix) || !suffix.chars().all(fit) {
            let message = format!("figure \"{name}\" draws two things under one name");
            let help = "give each but one a `suffix` of letters, digits, dots and dashes";
            problems.push(problem(entry.name.span(), message, "this one", help));
        }
        suffixes.push(suffix);
        if let Some((message, help)) = misfit(draw) {
            let message = format!("figure \"{name}\" {message}");
            problems.push(problem(entry.name.span(), message, "this one", help));
        }
        for text in draw.expressions() {
            if let Err(mistake) = language.read_value(text) {
                let (line, column) = (mistake.line, mistake.column);
                let message =
                    format!("figure \"{name}\": {} in `{}`", mistake.message, text.trim());
                let label = format!("its value, line {line}, column {column}");
                problems.push(problem(entry.name.span(), message, &label, "put it right there"));
            }
        }
    }
    let FigureEntry { about, minutes, draws, .. } = entry;
    // Only mistakes of its own keep a figure out.
    (problems.len() == count).then_some(Figure { name, about, origins, minutes, draws })
}

/// Contradictory settings of a drawing, with a correction.
fn misfit(draw: &Draw) -> Option<(&'static str, &'static str)> {
    match (draw.kind, &draw.plot) {
        _ if draw.whiskers.is_some() && draw.kind != DrawKind::Box => {
            Some(("has `whiskers` and no boxes with them", "set `kind = \"box\"`"))
        }
        _ if draw.reference.is_some() && !draw.shows_spread() => Some((
            "has a `reference` that is not drawn",
            "set `kind = \"box\"` or \"letter-values\"",
        )),
        (DrawKind::Run, None) => Some((
            "draws a run and does not say how",
            "give it `plot`, such as `plot = { kind = \"gantt\" }`",
        )),
        (DrawKind::Run, Some(plot)) if plot.kind == FigureKind::Lines => {
            Some(("draws a run as lines, which need a sweep", "set `kind = \"lines\"` instead"))
        }
        (DrawKind::Run, _) | (_, None) => None,
        (_, Some(_)) => Some(("has a `plot` that is not used", "set `kind = \"run\"`")),
    }
}

fn claims(
    source: &Source,
    figures: &[Figure],
    language: &Language,
) -> Result<Vec<Claim>, CatalogueError> {
    let file: ClaimsFile = parse(source)?;
    let mut problems = Vec::new();
    let mut claims: Vec<Claim> = Vec::new();
    for entry in file.claims {
        let (id, place) = (entry.id.get_ref().clone(), entry.id.span());
        if claims.iter().any(|claim| claim.id == id) {
            let message = format!("two claims are called \"{id}\"");
            problems.push(problem(place.clone(), message, "taken", "rename one of them"));
        }
        if entry.figures.is_empty() {
            let message = format!("claim {id} is about no figure");
            problems.push(problem(place.clone(), message, "this one", "name one in `figures`"));
        }
        for figure in &entry.figures {
            let names = || figures.iter().map(|figure| figure.name.as_str());
            if !names().any(|name| name == figure.get_ref()) {
                let message = format!("the study has no figure \"{}\"", figure.get_ref());
                let help = match nearest(figure.get_ref(), names()) {
                    Some(near) => format!("did you mean \"{near}\"?"),
                    None => format!("there is {}", list(&names().collect::<Vec<_>>())),
                };
                problems.push(problem(figure.span(), message, "not there", &help));
            }
        }
        let reason = entry.reason.as_ref().and_then(|name| {
            let known = file.reasons.get_key_value(name.get_ref().as_str());
            if known.is_none() {
                let message = format!("the study has no reason \"{}\"", name.get_ref());
                let names = || file.reasons.keys().map(|it| it.get_ref().as_str());
                let help = match nearest(name.get_ref(), names()) {
                    Some(near) => format!("did you mean \"{near}\"?"),
                    None => "state it in `[reasons]`, above the claims".to_owned(),
                };
                problems.push(problem(name.span(), message, "not there", &help));
            }
            let (name, text) = known?;
            Some(Reason { name: name.get_ref().clone(), text: text.clone() })
        });
        if let Some(test) = test(&entry, source, language, &mut problems) {
            let ClaimEntry { figures, statement, expected, grade, substitutes, note, .. } = entry;
            let figures = figures.into_iter().map(Spanned::into_inner).collect();
            claims.push(Claim {
                id,
                figures,
                statement,
                expected,
                grade,
                test,
                substitutes,
                note,
                reason,
            });
        }
    }
    for name in file.reasons.keys() {
        let is_this =
            |claim: &Claim| claim.reason.as_ref().is_some_and(|it| it.name == *name.get_ref());
        // Claims with mistakes are not among these, so their reasons would seem unused.
        if problems.is_empty() && !claims.iter().any(is_this) {
            let message = format!("no claim has the reason \"{}\"", name.get_ref());
            problems.push(problem(
                name.span(),
                message,
                "not used",
                "name it in a claim, or remove it",
            ));
        }
    }
    match problems.is_empty() {
        true => Ok(claims),
        false => Err(invalid(Box::new(InvalidScenario::new(source.clone(), problems)))),
    }
}

fn test(
    entry: &ClaimEntry,
    source: &Source,
    language: &Language,
    problems: &mut Vec<Problem>,
) -> Option<Test> {
    let id = entry.id.get_ref();
    match (&entry.check, &entry.untestable) {
        (Some(check), None) => {
            let expression = expression(source, check);
            if let Err(mistake) = language.read_check(&expression.text) {
                problems.extend(expression.problem(&format!("claim {id}"), &mistake).problems);
            }
            Some(Test::Check(expression))
        }
        (None, Some(reason)) => Some(Test::Untestable(reason.clone())),
        (check, _) => {
            let message = match check {
                None => format!("claim {id} has no check"),
                Some(_) => format!("claim {id} has a check and is untestable"),
            };
            let help = "give it either a `check` or the reason why it is `untestable`";
            problems.push(problem(entry.id.span(), message, "this one", help));
            None
        }
    }
}

/// A text of a file as an expression with its place.
fn expression(source: &Source, text: &Spanned<String>) -> Expression {
    let span = text.span();
    let written = source.text.get(span.clone()).unwrap_or_default();
    // Three quotes come first, because they begin with one.
    let quotes = ["'''", "\"\"\"", "'", "\""].into_iter().find(|it| written.starts_with(it));
    let quotes = quotes.map_or(0, str::len);
    // TOML drops a newline right after three quotes.
    let newline = match written.get(quotes..) {
        Some(rest) if quotes == 3 && rest.starts_with("\r\n") => 2,
        Some(rest) if quotes == 3 && rest.starts_with('\n') => 1,
        _ => 0,
    };
    let start = span.start + quotes + newline;
    Expression { text: text.get_ref().clone(), source: source.clone(), start }
}

fn parse<T: DeserializeOwned>(source: &Source) -> Result<T, CatalogueError> {
    toml::from_str(&source.text).map_err(|error: toml::de::Error| {
        let problem = Problem {
            message: error.message().to_owned(),
            span: error.span().unwrap_or(0..0),
            label: "here".to_owned(),
            help: None,
        };
        invalid(Box::new(InvalidScenario::new(source.clone(), vec![problem])))
    })
}

fn problem(span: Range<usize>, message: String, label: &str, help: &str) -> Problem {
    Problem { message, span, label: label.to_owned(), help: Some(help.to_owned()) }
}

fn unplaced(source: &Source, message: String) -> CatalogueError {
    let problem = Problem { message, span: 0..0, label: "here".to_owned(), help: None };
    invalid(Box::new(InvalidScenario::new(source.clone(), vec![problem])))
}

fn invalid(error: Box<InvalidScenario>) -> CatalogueError {
    CatalogueError::Invalid(error)
}

fn list(names: &[&str]) -> String {
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}
