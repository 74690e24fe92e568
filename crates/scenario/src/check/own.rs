//! Rules of one's own: the program must have all that the scenario names.

use super::{Check, Logs, list};
use haggle_config::nearest;

impl Check<'_> {
    pub(super) fn check_own(&mut self) {
        if self.logs == Logs::Ignore {
            return;
        }
        let scenario = self.scenario;
        for (kind, name, path) in scenario.names_own() {
            let of_kind = scenario.own.all().filter(|rule| rule.0 == kind);
            let known: Vec<&str> = of_kind.map(|(_, name, _)| name).collect();
            if known.contains(&name.as_str()) {
                continue;
            }
            let help = match nearest(name.as_str(), known.iter().copied()) {
                Some(meant) => {
                    format!("did you mean \"{meant}\"? this program has {}", list(&known))
                }
                None if !known.is_empty() => format!("this program has {}", list(&known)),
                None if scenario.own.is_empty() => {
                    "this program has no rules from outside, as haggle's own \
                     command: build a program with yours (docs/own-rules.md)"
                        .to_owned()
                }
                None => format!(
                    "this program has no {kind} from outside: add yours to its rules (docs/own-rules.md)"
                ),
            };
            let message = format!("no {kind} of one's own is called \"{name}\"");
            self.report(&path.key("own"), message, "no such rule", help);
        }
    }
}
