//! The command `haggle` with custom rules, to which scenarios refer by name:
//!
//! ```text
//! cargo run --example own_rules -- run examples/own_rules.toml
//! ```

use std::process::ExitCode;

use haggle::Rules;
use haggle::model::Span;
use haggle::scheduling::Request;
use haggle::scheduling::placement::{Answer, OwnPlacement, Question};

/// Smallest area first: processors × requested time.
fn area(request: &Request, span: Span) -> i64 {
    i64::from(request.processors).saturating_mul(span.as_micros())
}

/// The provider with the least work left; nobody who has work for more than a minute.
fn light(answer: &Answer) -> Option<i64> {
    match answer {
        Answer::Load(load) if *load <= Span::from_secs(60) => Some(load.as_micros()),
        _ => None,
    }
}

/// All rules, each with its version.
pub(crate) fn rules() -> Rules {
    let light = OwnPlacement { question: Question::LoadOfAll, merit: light };
    Rules::new().order("smallest-area", 1, area).placement("light", 1, light)
}

fn main() -> ExitCode {
    haggle::command::main_with(rules())
}
